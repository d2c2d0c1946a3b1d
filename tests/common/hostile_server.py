"""Opens properly; then whatever is asked is met with too much of something."""
import json, sys, threading

mode = sys.argv[1]
out = sys.stdout.buffer


def write(*pieces):
    for piece in pieces:
        out.write(piece)
    out.flush()


def flood(stream, piece):
    while True:
        stream.write(piece)
        stream.flush()


for line in sys.stdin:
    try:
        message = json.loads(line)
    except ValueError:
        continue
    if not isinstance(message, dict) or "id" not in message:
        continue
    head = b'{"jsonrpc":"2.0","id":' + json.dumps(message["id"]).encode() + b',"result":'
    if message.get("method") == "initialize":
        result = {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"resources": {}},
            "serverInfo": {"name": "hostile", "version": "1"},
        }
        write(head, json.dumps(result).encode(), b"}\n")
    elif mode == "long-line":
        write(head, b'{"resources":[],"x":"', *[b"y" * 2**20] * 100, b'"}}\n')
    elif mode == "deep":
        write(head, b'{"resources":', b"[" * 100000, b"]" * 100000, b"}}\n")
    elif mode == "wide":
        write(head, b'{"resources":[', b"{}," * 300000, b"{}]}}\n")
    elif mode == "request-flood":
        flood(out, b"".join(b'{"jsonrpc":"2.0","id":%d,"method":"roots/list"}\n' % i for i in range(500)))
    elif mode == "unasked-ids":
        flood(out, b"".join(b'{"jsonrpc":"2.0","id":%d,"result":{}}\n' % (i + 10**6) for i in range(500)))
    elif mode == "stderr-flood":
        threading.Thread(target=flood, args=(sys.stderr.buffer, b"e" * 65536), daemon=True).start()
        write(head, b'{"resources":[]}}\n')
