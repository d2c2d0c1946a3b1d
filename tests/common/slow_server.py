"""Answers `initialize` at once and everything else after a long while. Says which processes it made."""
import json, subprocess, sys, time, os

folder, mark = sys.argv[1:3]


def tell(name, text):
    with open(os.path.join(folder, name), "a") as file:
        file.write(text + "\n")


# A helper that would outlive its parent, in a session of its own.
helper = [sys.executable, "-c", "import time; time.sleep(600)", mark]
subprocess.Popen(helper, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True)
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = {}
    if message["method"] == "initialize":
        result = {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"resources": {}},
            "serverInfo": {"name": "slow", "version": "1"},
        }
    else:
        tell("asked", str(os.getpid()))
        time.sleep(5)
        result = {"resources": []}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
