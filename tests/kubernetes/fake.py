"""An API server of Kubernetes as far as a scheduler sees it: nodes, pods, bindings, leases, events.

It is strict where real ones are (versions, uids, a binding once), keeps every request, and does on
demand what real ones do now and then: answers late or not at all, ends watches, forgets versions,
refuses. Lists come in pages of three. No code of the program is used.
"""
import json
import queue
import re
import socket
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PAGE = 3
TOKEN = "a-token-of-the-test"


def nobody():
    """A port on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def node(name, ready="True", leaf=None, gpus=8):
    return {"metadata": {"name": name, "uid": f"u-{name}", "labels":
                         {"myriad/leaf": leaf} if leaf else {}},
            "spec": {},
            "status": {"allocatable": {"cpu": "64", "memory": "1Ti", "pods": "110",
                                       "nvidia.com/gpu": str(gpus)},
                       "addresses": [{"type": "InternalIP", "address": f"10.0.0.{name[1:]}"}],
                       "conditions": [{"type": "Ready", "status": ready}]}}


def number(value):
    """As protobuf has it: seven bits a byte, the lowest first."""
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7f | 0x80])
        value >>= 7
    return out + bytes([value])


def field(at, value):
    if isinstance(value, int):
        return number(at << 3) + number(value)
    data = value.encode() if isinstance(value, str) else value
    return number(at << 3 | 2) + number(len(data)) + data


def pairs(at, given):
    return b"".join(field(at, field(1, key) + field(2, value)) for key, value in given.items())


def pod_word(how, pod):
    """A word of a watch as servers write it that speak protobuf, of what pods here have."""
    meta, spec = pod["metadata"], pod["spec"]
    made = (field(1, meta["name"]) + field(3, meta["namespace"]) + field(5, meta["uid"])
            + field(6, meta["resourceVersion"]) + field(7, 0)
            + field(8, field(1, 1794819598) + field(2, 0)) + pairs(12, meta["annotations"]))
    for owner in meta.get("ownerReferences", []):
        made += field(13, field(1, owner["kind"]) + field(3, owner["name"]) + field(4, owner["uid"])
                      + field(5, owner["apiVersion"]) + field(6, int(owner["controller"])))
    asks = b""
    for container in spec["containers"]:
        amounts = {key: field(1, value) for key, value in
                   container["resources"]["requests"].items()}
        asks += field(2, field(1, "c") + field(8, pairs(2, amounts)))
    asks += field(10, spec.get("nodeName", "")) + field(11, int(spec["hostNetwork"])) \
        + field(19, spec["schedulerName"])
    thing = field(1, made) + field(2, asks) + field(3, field(1, pod["status"]["phase"]))
    raw = b"k8s\0" + field(1, field(1, "v1") + field(2, "Pod")) + field(2, thing) \
        + field(3, "") + field(4, "")
    word = field(1, how) + field(2, field(1, raw))
    return len(word).to_bytes(4, "big") + word


class Api:
    """The objects, and who follows them."""

    def __init__(self):
        self.lock = threading.RLock()
        self.version = 100
        self.kinds = {"nodes": {}, "pods": {}}
        self.followers = {"nodes": [], "pods": []}
        self.leases, self.events, self.requests = {}, [], []
        self.faults = []  # [method, pattern, what], the first that fits is used up
        self.release = {"major": "1", "minor": "29+", "gitVersion": "v1.29.3"}
        self.makes_again = True  # as the controller of Jobs does
        self.protobuf = False  # words of pods for those who take them so
        self.made = 0
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            api = server

            def log_message(self, *_):
                pass

            def do_any(self):
                answer(self)
            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_any

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.end_watches()
        self.server.shutdown()
        self.server.server_close()

    def put(self, kind, key, thing, how=None):
        with self.lock:
            self.version += 1
            how = how or ("MODIFIED" if key in self.kinds[kind] else "ADDED")
            thing["metadata"]["resourceVersion"] = str(self.version)
            if how == "DELETED":
                self.kinds[kind].pop(key, None)
            else:
                self.kinds[kind][key] = thing
            for follower in self.followers[kind]:
                follower.put(follower.write(how, thing))

    def tell(self, kind, line):
        with self.lock:
            for follower in self.followers[kind]:
                follower.put(line)

    def end_watches(self):
        self.tell("nodes", None)
        self.tell("pods", None)

    def add_node(self, *words, **more):
        self.put("nodes", words[0], node(*words, **more))

    def add_pod(self, gang, size, at, scheduler="myriad", gpus=8, owner=True):
        self.made += 1
        name = f"{gang}-{at}"
        meta = {"name": name, "namespace": "default", "uid": f"uid-{name}-{self.made}",
                "creationTimestamp": "2026-11-16T08:59:58Z",
                "annotations": {"myriad/gang": gang, "myriad/gang-size": str(size)}}
        if owner:
            meta["ownerReferences"] = [{"kind": "Job", "apiVersion": "batch/v1", "name": gang,
                                        "uid": f"job-{gang}", "controller": True}]
        self.put("pods", name, {
            "metadata": meta, "status": {"phase": "Pending"},
            "spec": {"schedulerName": scheduler, "hostNetwork": True, "containers": [
                {"resources": {"requests": {"nvidia.com/gpu": str(gpus), "cpu": "500m"}}}]}})

    def gang(self, name, size, **more):
        for at in range(size):
            self.add_pod(name, size, at, **more)

    def nodes_of(self, gang):
        """Where the pods of a gang are, by name; an empty text where one is not bound."""
        with self.lock:
            return {name: pod["spec"].get("nodeName", "")
                    for name, pod in self.kinds["pods"].items() if name.startswith(gang + "-")}

    def asked(self, method, pattern):
        with self.lock:
            return [row for row in self.requests
                    if row["method"] == method and re.search(pattern, row["path"])]


def reply(handler, status, thing):
    body = json.dumps(thing).encode()
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def refuse(handler, status, text=""):
    reply(handler, status, {"kind": "Status", "status": "Failure", "message": text, "code": status})


def answer(handler):
    api = handler.api
    length = int(handler.headers.get("Content-Length") or 0)
    body = json.loads(handler.rfile.read(length)) if length else None
    where = urllib.parse.urlsplit(handler.path)
    words = dict(urllib.parse.parse_qsl(where.query))
    fault = None
    with api.lock:
        api.requests.append({"method": handler.command, "path": where.path, "words": words,
                             "body": body, "headers": dict(handler.headers)})
        for row in api.faults:
            if row[0] == handler.command and re.search(row[1], handler.path):
                fault = row[2]
                api.faults.remove(row)
                break
    if isinstance(fault, tuple):
        refuse(handler, *fault)
        return
    if fault == "garbage":
        handler.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")
        handler.close_connection = True
        return
    if fault == "drop":  # done, and nobody hears of it
        handler.wfile.write = lambda data: len(data)
        handler.close_connection = True
    if handler.headers.get("Authorization") != f"Bearer {TOKEN}":
        refuse(handler, 401, "Unauthorized")
    elif where.path == "/version":
        reply(handler, 200, api.release)
    elif where.path in ("/api/v1/nodes", "/api/v1/pods"):
        kind = where.path.rsplit("/", 1)[1]
        (follow if words.get("watch") == "1" else listed)(handler, api, kind, words)
    elif where.path.endswith("/jobs"):
        body["metadata"].update(uid="made-1", namespace=where.path.split("/")[5])
        reply(handler, 201, body)
    elif "/leases" in where.path:
        lease(handler, api, where.path, body)
    elif where.path.endswith("/events"):
        with api.lock:
            api.events.append(body)
        reply(handler, 201, body)
    else:
        pod(handler, api, where.path, body)
    if fault == "drop":
        handler.connection.close()


def listed(handler, api, kind, words):
    with api.lock:
        names = sorted(api.kinds[kind])
        first = int(words.get("continue", "at 0").split()[1])
        rest = len(names) - first - PAGE
        meta = {"resourceVersion": str(api.version)}
        if rest > 0:
            meta["continue"] = f"at {first + PAGE} & more"
        reply(handler, 200, {"kind": "List", "metadata": meta, "items":
                             [api.kinds[kind][name] for name in names[first:first + PAGE]]})


def line_of(how, thing):
    return json.dumps({"type": how, "object": thing}).encode() + b"\n"


def follow(handler, api, kind, words):
    mine = queue.Queue()
    protobuf = api.protobuf and "protobuf" in handler.headers["Accept"]
    mine.write = pod_word if protobuf else line_of
    with api.lock:
        api.followers[kind].append(mine)
        since = int(words["resourceVersion"])
        for thing in api.kinds[kind].values():
            if int(thing["metadata"]["resourceVersion"]) > since:
                mine.put(mine.write("MODIFIED", thing))
    handler.send_response(200)
    if protobuf:
        handler.send_header("Content-Type", "application/vnd.kubernetes.protobuf;stream=watch")
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    try:
        while True:
            line = mine.get()
            parts = [line[:7], line[7:]] if line else [b""]  # a line comes in pieces
            for part in parts:
                handler.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
            handler.wfile.flush()
            if not line:
                break
    except OSError:
        pass
    with api.lock:
        api.followers[kind].remove(mine)


def lease(handler, api, path, body):
    with api.lock:
        name = path.rsplit("/", 1)[1] if handler.command != "POST" else body["metadata"]["name"]
        old = api.leases.get(name)
        if handler.command == "GET":
            if old:
                reply(handler, 200, old)
            else:
                refuse(handler, 404, "no such lease")
            return
        given = body["metadata"].get("resourceVersion")
        if (old and given != old["metadata"]["resourceVersion"]) or (not old and given):
            refuse(handler, 409, "the object has been modified")
            return
        api.version += 1
        body["metadata"]["resourceVersion"] = str(api.version)
        api.leases[name] = body
        reply(handler, 201 if handler.command == "POST" else 200, body)


def pod(handler, api, path, body):
    found = re.fullmatch(r"/api/v1/namespaces/default/pods/([^/]+)(/binding)?", path)
    with api.lock:
        thing = api.kinds["pods"].get(found[1]) if found else None
        if not thing:
            refuse(handler, 404, "no such pod")
        elif handler.command == "GET":
            reply(handler, 200, thing)
        elif handler.command == "POST":
            bind(handler, api, found[1], thing, body)
        elif body["preconditions"]["uid"] != thing["metadata"]["uid"]:
            refuse(handler, 409, "another pod")
        else:
            api.put("pods", found[1], thing, "DELETED")
            reply(handler, 200, thing)
            if api.makes_again:
                notes = thing["metadata"]["annotations"]
                gang, at = found[1].rsplit("-", 1)
                api.add_pod(gang, int(notes["myriad/gang-size"]), int(at))


def bind(handler, api, name, thing, body):
    if thing["spec"].get("nodeName") or body["metadata"]["uid"] != thing["metadata"]["uid"]:
        refuse(handler, 409, "pod is already assigned")
        return
    thing["spec"]["nodeName"] = body["target"]["name"]
    thing["metadata"]["annotations"].update(body["metadata"].get("annotations", {}))
    api.put("pods", name, thing)
    reply(handler, 201, {"kind": "Status", "status": "Success"})
