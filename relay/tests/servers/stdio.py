"""An MCP server that does what a test asks of it, over standard input and output. Only for tests.

Called with an era: `sessions`, `stateless`, `silent` (never answers server/discover), `shy` (ends on server/discover),
`crash` (ends at once), `bom` (as sessions, behind a byte order mark). What a tool does is in its name; where it answers
what it was asked, it answers the very text of the params.
"""
import fcntl, os, re, signal, subprocess, sys, termios, threading

era = sys.argv[1]
write_lock = threading.Lock()
heard = []
asked = {}


def put(text):
    with write_lock:
        sys.stdout.buffer.write(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)
        sys.stdout.buffer.flush()


def taken():
    """Waits until the other end has read all of it."""
    waiting = bytearray(4)
    while True:
        fcntl.ioctl(sys.stdout, termios.FIONREAD, waiting)
        if not any(waiting):
            return
        os.sched_yield()


def result(id, text):
    put('{"jsonrpc":"2.0","id":%s,"result":%s}\n' % (id, text))


def error(id, code, message):
    put('{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"%s","data":{"n":9007199254740993}}}\n' % (id, code, message))


def text(words):
    return '{"content":[{"type":"text","text":"%s"}]}' % words


def call(id, name, params):
    token = re.search(r'"progressToken":\s*("[^"]*"|\d+)', params)
    if name == "echo":
        result(id, params)
    elif name == "hang":
        pass
    elif name == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    elif name == "fail":
        error(id, -32002, "no such thing")
    elif name == "twice":
        result(id, text("first")); result(id, text("second")); result(987654, text("to nobody")); result('"x"', "{}")
    elif name == "rubbish":
        put("hello\n\n{\"half\n"); put(b"\xff\xfe{}\n"); put('{"id":1,"id":2,"result":{}}\n[7]\n')
        result(id, text("after rubbish"))
    elif name == "half":
        whole = '{"jsonrpc":"2.0","id":%s,"result":%s}\r\n' % (id, text("in halves"))
        put(whole[:20]); taken(); put(whole[20:])
    elif name == "batch":
        put('[{"method":"notifications/message","params":{"data":"in a batch"}},{"id":%s,"result":%s}]\n' % (id, text("batch")))
    elif name == "flood":
        for n in range(5000):
            put('{"method":"notifications/message","params":{"data":%d}}\n' % n)
        result(id, text("flooded"))
    elif name == "progress":
        put('{"method":"notifications/progress","params":{"progressToken":%s,"progress":0.50}}\n' % token.group(1))
        put('{"method":"notifications/progress","params":{"progressToken":123456,"progress":1}}\n')
        result(id, text("done"))
        put('{"method":"notifications/progress","params":{"progressToken":%s,"progress":1}}\n' % token.group(1))
    elif name == "spoof":
        put('{"method":"toolgate/server","params":{"state":"down"}}\n{"method":"toolgate/closed"}\n')
        put('{"method":"notifications/tools/list_changed"}\n')
        result(id, text("spoofed"))
    elif name == "ask":
        asked['"s\\u0031"'] = id
        put('{"jsonrpc":"2.0","id":"s\\u0031","method":"sampling/createMessage","params":{"n":9007199254740993}}\n')
    elif name == "give_up":
        asked['"s2"'] = id
        put('{"jsonrpc":"2.0","id":"s2","method":"roots/list"}\n')
        put('{"method":"notifications/cancelled","params":{"requestId":"s2"}}\n')
    elif name == "ping":
        asked['"p"'] = id
        put('{"jsonrpc":"2.0","id":"p","method":"ping"}\n')
    elif name == "heard":
        result(id, "[%s]" % ",".join(heard))
    elif name == "long":
        result(id, '{"content":[],"x":"' + "y" * int(re.search(r'"length":(\d+)', params).group(1)) + '"}')
    elif name == "breed":
        quiet = dict(stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        children = [subprocess.Popen(["sleep", "600"], start_new_session=s, **quiet).pid for s in (True, False)]
        result(id, '{"pids":[%d,%d,%d]}' % (os.getpid(), *children))
    elif name == "environment":
        result(id, '{"value":"%s"}' % os.environ.get(re.search(r'"variable":"(\w+)"', params).group(1), "-"))
    else:
        error(id, -32602, "unknown tool")


def take(line):
    # The relay writes its own envelope, so this is all there is to parse.
    whole = re.match(r'\{"jsonrpc":"2.0",(?:"id":("[^"]*"|\d+),)?(?:"method":"([^"]*)",)?"(params|result|error)":(.*)\}\s*$', line, re.S)
    id, method, kind, body = whole.groups()
    if kind != "params":
        waiting = asked.pop(id, None)
        if waiting:
            result(waiting, '{"%s":%s}' % (kind, body))
        return
    if id is None:
        heard.append(line.strip())
        return
    if method == "server/discover":
        if era == "stateless":
            result(id, '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"scripted","version":"9"}}}')
        elif era == "shy":
            sys.exit(3)
        elif era != "silent":
            error(id, -32601, "method not found")
    elif era == "stateless" and '"io.modelcontextprotocol/protocolVersion":"2026-07-28"' not in body:
        error(id, -32602, "no protocol version")
    elif method == "subscriptions/listen" and era == "stateless":
        put('{"method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}\n' % id)
    elif method == "initialize" and era != "stateless":
        result(id, '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"scripted","version":"9"}}')
    elif method == "tools/call":
        call(id, re.search(r'"name"\s*:\s*"(\w+)"', body).group(1), body)
    elif method == "tools/list":
        result(id, '{"tools":[]}')
    else:
        error(id, -32601, "method not found")


if era == "crash":
    sys.exit(7)
print("a word on standard error", file=sys.stderr, flush=True)
if era == "bom":
    put(b"\xef\xbb\xbf")
while True:
    line = sys.stdin.buffer.readline()
    if not line:
        break
    take(line.decode("utf-8", "surrogatepass"))
