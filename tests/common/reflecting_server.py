"""An HTTP server that says all it was told, in whatever form: python3 reflecting_server.py PORT"""
import base64
import html
import json
import socketserver
import sys
import threading
import time
import urllib.parse

PORT = int(sys.argv[1])
LOG = threading.Lock()


def read_request(stream):
    head = b""
    while b"\r\n\r\n" not in head:
        more = stream.recv(65536)
        if not more:
            return None, {}, b""
        head += more
    head, body = head.split(b"\r\n\r\n", 1)
    lines = head.decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    while len(body) < int(headers.get("content-length", 0)):
        body += stream.recv(65536)
    return lines[0], headers, body


class Handler(socketserver.BaseRequestHandler):
    def handle(self):
        try:
            line, headers, body = read_request(self.request)
            if line is not None:
                self.meet(line, headers, body)
        except OSError:
            pass

    def answer(self, status, kind, body, reflected, pieces=False):
        head = (
            f"HTTP/1.1 {status} {reflected}\r\nContent-Type: {kind}\r\nX-Reflected: {reflected}\r\n"
            f"X-Encoded: {base64.b64encode(reflected.encode()).decode()}\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        self.request.sendall(head.encode())
        size = 7 if pieces else max(len(body), 1)
        for at in range(0, len(body), size):
            self.request.sendall(body[at : at + size])
            if pieces and at < 4000:
                time.sleep(0.0005)

    def meet(self, line, headers, body):
        words = [line.split()[1], headers.get("authorization", ""), headers.get("cookie", "")]
        words += [headers.get("x-api-key", "")]
        reflected = " ".join(words)
        forms = [
            reflected,
            urllib.parse.quote(reflected),
            urllib.parse.quote_plus(reflected),
            html.escape(reflected),
            *(base64.b64encode(b"x" * n + reflected.encode()).decode() for n in range(3)),
            *(base64.urlsafe_b64encode(word.encode()).decode() for word in words),
        ]
        with LOG:
            for part in (reflected[: len(reflected) // 2], reflected[len(reflected) // 2 :] + "\n"):
                sys.stderr.write(part)
                sys.stderr.flush()
        if not line.startswith("POST"):
            return self.answer(405, "text/html", "\n".join(forms).encode(), reflected, pieces=True)
        try:
            message = json.loads(body)
        except ValueError:
            message = None
        if not isinstance(message, dict) or "method" not in message:
            return self.answer(400, "text/plain", ("x" * 180 + reflected).encode(), reflected)
        if "id" not in message:
            return self.answer(202, "text/plain", b"", reflected)
        method, reply = message["method"], {"jsonrpc": "2.0", "id": message["id"]}
        if method == "initialize":
            reply["result"] = {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"resources": {"subscribe": True}},
                "serverInfo": {"name": "reflecting", "version": reflected},
            }
        elif method == "ping":
            reply["result"] = {}
        elif method == "resources/list":
            # What is wrong of it is shown: every text, and each cut somewhere else.
            texts = [form for form in forms] + ["y" * n + reflected for n in range(60, 120, 3)]
            reply["result"] = {"resources": [{"uri": text, "name": 7, "title": text} for text in texts]}
        elif method == "resources/templates/list":
            reply["result"] = {"resourceTemplates": reflected}
        elif method == "resources/read":
            # An excerpt is cut behind 1024 bytes, and before as many: a secret lies across either.
            reply["error"] = {"code": "none", "message": "z" * 900 + reflected * 40 + "z" * 900}
        else:
            return self.answer(500, "text/plain", ("x" * 150 + reflected).encode(), reflected)
        text = json.dumps(reply)
        if method in ("resources/list", "resources/templates/list"):
            event = f"id: {urllib.parse.quote(reflected)}\ndata: {text}\n\n: {reflected}\n\n"
            return self.answer(200, "text/event-stream", event.encode(), reflected, pieces=True)
        if method == "resources/read":
            text = text.replace("/", "\\/")
        self.answer(200, "application/json", text.encode(), reflected)


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64


Server(("127.0.0.1", PORT), Handler).serve_forever()
