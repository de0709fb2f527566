"""The smallest project there is: MCP on standard input and output with nothing but Python's own library."""

import json
import sys

WHO = {
    "name": "who_are_you",
    "description": "Says who answers.",
    "inputSchema": {"type": "object"},
    "annotations": {"readOnlyHint": True},
}


def answer(method, params):
    if method == "initialize":
        server = {"name": "one-tool", "version": "1.0.0"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": server}
    if method == "tools/list":
        return {"tools": [WHO]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": sys.argv[1]}]}
    return {} if method == "ping" else None


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message or "method" not in message:
        continue
    result = answer(message["method"], message.get("params", {}))
    told = {"jsonrpc": "2.0", "id": message["id"]}
    if result is None:
        told["error"] = {"code": -32601, "message": "Method not found"}
    else:
        told["result"] = result
    print(json.dumps(told), flush=True)
