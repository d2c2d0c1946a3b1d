"""An HTTP server that means no good: python3 hostile_http_server.py MODE PORT"""
import json
import socket
import socketserver
import struct
import sys
import time

MODE, PORT = sys.argv[1], int(sys.argv[2])
CHUNK = b"x" * 65536


def read_request(stream):
    head = b""
    while b"\r\n\r\n" not in head:
        more = stream.recv(65536)
        if not more:
            return None, b""
        head += more
    head, body = head.split(b"\r\n\r\n", 1)
    length = 0
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            length = int(value)
    while len(body) < length:
        body += stream.recv(65536)
    return head, body


def answer(stream, status, headers, body):
    head = f"HTTP/1.1 {status}\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers)
    stream.sendall(head.encode() + f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)


def open_body(stream, kind):
    stream.sendall(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nConnection: close\r\n\r\n".encode())


class Handler(socketserver.BaseRequestHandler):
    def handle(self):
        stream = self.request
        try:
            head, body = read_request(stream)
            if head is None:
                return
            self.meet(stream, head, body)
        except OSError:
            pass

    def meet(self, stream, head, body):
        if MODE.startswith("later-"):
            self.open_properly(stream, head, body)
        else:
            self.mistreat(stream, MODE)

    def open_properly(self, stream, head, body):
        if not head.startswith(b"POST"):
            return answer(stream, "405 Method Not Allowed", [], b"")
        # It checks what it is to check: what is mistreated is the request for the list.
        if b"1999-01-01" in head or b"http://evil.example" in head:
            return answer(stream, "403 Forbidden", [], b"")
        message = json.loads(body)
        reply = {"jsonrpc": "2.0", "id": message.get("id")}
        status = "200 OK"
        if message["method"] == "initialize":
            reply["result"] = {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"resources": {}},
                "serverInfo": {"name": "hostile", "version": "1"},
            }
        elif message["method"] == "ping":
            reply["result"] = {}
        elif "id" not in message:
            return answer(stream, "202 Accepted", [], b"")
        elif message["method"].startswith("resources/list"):
            return self.mistreat(stream, MODE.removeprefix("later-"))
        else:
            reply["error"] = {"code": -32601, "message": "Method not found"}
        answer(stream, status, [("Content-Type", "application/json")], json.dumps(reply).encode())

    def mistreat(self, stream, mode):
        if mode == "page":
            page = b"<!doctype html><title>It works!</title>\x1b[2J"
            answer(stream, "200 OK", [("Content-Type", "text/html")], page)
        elif mode == "json-page":
            answer(stream, "404 Not Found", [("Content-Type", "application/json")], b'{"detail":"Not Found"}')
        elif mode == "redirect":
            answer(stream, "302 Found", [("Location", "http://127.0.0.1:9/elsewhere")], b"")
        elif mode == "mute":
            time.sleep(3600)
        elif mode == "reset":
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif mode == "open-streams":
            open_body(stream, "text/event-stream")
            time.sleep(3600)
        elif mode == "json-flood":
            open_body(stream, "application/json")
            stream.sendall(b'{"jsonrpc":"2.0","id":1,"result":"')
            for _ in range(16384):
                stream.sendall(CHUNK)
        elif mode == "event-flood":
            open_body(stream, "text/event-stream")
            line = b"data: " + json.dumps({"jsonrpc": "2.0", "method": "notifications/flood"}).encode() + b"\n\n"
            for _ in range(16384):
                stream.sendall(line * 1000)
        elif mode == "endless-event":
            open_body(stream, "text/event-stream")
            stream.sendall(b"data: ")
            for _ in range(16384):
                stream.sendall(CHUNK)
        elif mode == "no-http":
            stream.sendall(b"SSH-2.0-OpenSSH_9.9\r\n" * 100)
        elif mode == "header-flood":
            stream.sendall(b"HTTP/1.1 200 OK\r\n")
            for number in range(10_000_000):
                stream.sendall(f"X-{number}: {'y' * 1000}\r\n".encode())
        elif mode == "trickle":
            open_body(stream, "application/json")
            while True:
                stream.sendall(b" ")
                time.sleep(0.2)


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


Server(("127.0.0.1", PORT), Handler).serve_forever()
