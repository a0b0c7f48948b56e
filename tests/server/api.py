#!/usr/bin/env python3
"""What the server answers to every call of its interface, word by word.

    tests/server/api.py MYRIAD             compares with tests/kept/api.txt
    tests/server/api.py MYRIAD --rewrite   writes it anew; read the diff

A real server with four nodes that never come: what it says of nodes, jobs, tokens and tenants is
the same every time, but for moments, secrets and counters, which are replaced by their names.
Behind it the server is started again: what it tells then must be what it told before. The list of
calls is the server's own, so that a new one without a question here is a fault.
"""
import difflib
import http.client
import json
import os
import re
import sys
import tempfile
from pathlib import Path

from lab import ROOT, Lab, init, token_file

KEPT = ROOT / "tests" / "kept" / "api.txt"
INTERFACE = json.loads((ROOT / "docs" / "openapi.json").read_text())
WHOLE = ("name: train\ntenant: research\nnodes: 2\npriority: 7\nretries: 3\n"
         "command: 'true'\nenv:\n  A: b\n")
SMALL = "name: small\ngpus: 3\ncommand: 'true'\n"
ARRAY = "name: many\ngpus: 1\narray: 1-3\ncommand: 'true'\n"

# Who asks, method and path, and what is sent. Job numbers count from 0.
CALLS = [
    ("", "GET /healthz"), ("", "GET /openapi.json"), ("", "GET /nowhere"), ("", "GET /assets/none"),
    ("", "PUT /v1/jobs"), ("", "GET /v1/nodes"), ("wrong", "GET /v1/nodes"),
    ("ulla", "POST /v1/jobs", SMALL), ("ulla", "POST /v1/jobs", WHOLE, "key-of-one"),
    ("ulla", "POST /v1/jobs", WHOLE, "key-of-one"), ("ulla", "POST /v1/jobs", SMALL, "key-of-one"),
    ("olga", "POST /v1/jobs", ARRAY), ("vera", "POST /v1/jobs", SMALL),
    ("nina", "POST /v1/jobs", SMALL), ("ulla", "POST /v1/jobs", "name: [1\n"),
    ("ulla", "POST /v1/jobs", ""), ("ulla", "POST /v1/jobs", SMALL.replace("3", "33")),
    ("vera", "GET /v1/jobs"), ("vera", "GET /v1/jobs?limit=2"),
    ("vera", "GET /v1/jobs?limit=2&before=3"), ("vera", "GET /v1/jobs?limit=5&before=5"),
    ("vera", "GET /v1/jobs?state=queued&limit=1"), ("vera", "GET /v1/jobs?state=quued"),
    ("vera", "GET /v1/jobs?limit=x"), ("vera", "GET /v1/jobs?limit=0"),
    ("vera", "GET /v1/jobs/0"), ("vera", "GET /v1/jobs/1"), ("vera", "GET /v1/jobs/3"),
    ("vera", "GET /v1/jobs/5"), ("vera", "GET /v1/jobs/-1"), ("vera", "GET /v1/jobs/4294967295"),
    ("vera", "GET /v1/jobs/0/explain"), ("vera", "GET /v1/jobs/1/explain"),
    ("vera", "GET /v1/jobs/0/logs"), ("vera", "GET /v1/jobs/0/logs?rank=2"),
    ("vera", "GET /v1/jobs/0/logs?rank=3"), ("vera", "GET /v1/jobs/0/logs?rank=x"),
    ("vera", "GET /v1/jobs/0/logs?offset=x"), ("vera", "GET /v1/jobs/0/logs?epoch=1"),
    ("vera", "GET /v1/queue"), ("vera", "GET /v1/cluster"), ("vera", "GET /v1/usage"),
    ("ulla", "POST /v1/jobs/1/hold"), ("ulla", "POST /v1/jobs/2/hold"),
    ("vera", "POST /v1/jobs/1/hold"), ("olga", "POST /v1/jobs/1/hold"),
    ("ulla", "POST /v1/jobs/1/release"), ("ulla", "POST /v1/jobs/1/top"),
    ("olga", "POST /v1/jobs/2/top"),
    ("ulla", "POST /v1/jobs/2/cancel"), ("vera", "POST /v1/jobs/1/cancel"),
    ("ulla", "POST /v1/jobs/1/cancel"), ("ulla", "POST /v1/jobs/1/cancel"),
    ("olga", "POST /v1/jobs/0/cancel"), ("olga", "POST /v1/jobs/0/hold"),
    ("vera", "GET /v1/jobs"), ("vera", "GET /v1/jobs?all=1"),
    ("vera", "GET /v1/jobs?state=cancelled"), ("vera", "GET /v1/queue"),
    ("vera", "GET /v1/nodes"), ("vera", "GET /v1/nodes?state=unknown"),
    ("vera", "GET /v1/nodes?state=healthy"), ("vera", "GET /v1/nodes?state=helthy"),
    ("vera", "GET /v1/nodes/gpu-01"), ("vera", "GET /v1/nodes/gpu-05"),
    ("vera", "POST /v1/nodes/gpu-01/drain"), ("olga", "POST /v1/nodes/gpu-01/drain"),
    ("olga", "POST /v1/nodes/gpu-02/drain", '{"reason":"a fan"}'),
    ("olga", "POST /v1/nodes/gpu-[03-04]/drain", '{"reason":"both"}'),
    ("olga", "POST /v1/nodes/gpu-[03-05]/drain"), ("olga", "POST /v1/nodes/gpu-02/drain", "{"),
    ("olga", "POST /v1/nodes/gpu-03/resume"), ("olga", "POST /v1/nodes/gpu-02/revoke"),
    ("admin", "POST /v1/nodes/gpu-02/revoke"), ("vera", "GET /v1/nodes"),
    ("vera", "GET /v1/nodes/gpu-02"), ("vera", "GET /v1/nodes/gpu-04"),
    ("vera", "GET /v1/cluster"), ("vera", "GET /v1/frame"), ("vera", "GET /v1/state"),
    ("olga", "POST /v1/inject", '{"node":"gpu-01","fault":"crash"}'),
    ("olga", "POST /v1/inject", '{"node":"gpu-09","fault":"crash"}'),
    ("olga", "POST /v1/inject", '{"node":"gpu-01"}'), ("olga", "POST /v1/enrol", "{}"),
    ("admin", "POST /v1/enrol", "{}"), ("admin", "POST /v1/enrol", '{"node":"gpu-01"}'),
    ("admin", "POST /v1/enrol", '{"node":"gpu-09"}'),
    ("admin", "POST /v1/enrol", '{"relay":"rack-1"}'),
    ("admin", "POST /v1/enrol", '{"relay":"gpu-01"}'),
    ("admin", "POST /v1/enrol", '{"relay":"rack-1","node":"gpu-01"}'),
    ("vera", "GET /v1/relays"), ("admin", "POST /v1/relays/rack-1/revoke"),
    ("admin", "POST /v1/tokens", '{"user":"x","role":"boss"}'),
    ("admin", "POST /v1/tokens", '{"user":"x"}'), ("admin", "POST /v1/tokens", '{"role":"user"}'),
    ("admin", "POST /v1/tokens", '{"user":"x","role":"user","unix_user":"root"}'),
    ("admin", "POST /v1/tokens", '{"user":"x","role":"user","unix_user":"x"}'),
    ("olga", "GET /v1/tokens"), ("admin", "GET /v1/tokens"),
    ("admin", "POST /v1/tokens/0123/revoke"), ("admin", "POST /v1/tokens/NINA/revoke"),
    ("admin", "POST /v1/tokens/ADMIN/revoke"), ("nina", "GET /v1/queue"),
    ("admin", "POST /v1/tenants/research", '{"weight":3}'),
    ("admin", "POST /v1/tenants/new", '{"weight":1000000}'),
    ("admin", "POST /v1/tenants/new", '{"weight":0}'),
    ("admin", "POST /v1/tenants/new", '{"weight":1000001}'), ("admin", "POST /v1/tenants/new"),
    ("olga", "POST /v1/tenants/new", '{"weight":2}'), ("vera", "GET /v1/usage"),
    ("vera", "GET /metrics"), ("", "POST /v1/login", '{"token":"wrong"}'),
    ("", "POST /v1/login", "{}"), ("", "POST /v1/login", '{"token":"TOKEN"}'),
    ("cookie", "GET /v1/queue"), ("cookie", "GET /v1/tokens"), ("cookie", "POST /v1/jobs", SMALL),
    ("cookie", "POST /v1/logout"), ("cookie", "GET /v1/queue"),
    ("admin", "POST /v1/design", "x"),
]
ELSEWHERE = {"GET /", "GET /v1/events", "POST /v1/backup"}  # page.py, client.py, folder.py
AGAIN = ["/v1/jobs?all=1", *[f"/v1/jobs/{number}" for number in range(5)], "/v1/jobs/2/explain",
         "/v1/queue", "/v1/nodes", "/v1/nodes/gpu-01", "/v1/nodes/gpu-02", "/v1/nodes/gpu-03",
         "/v1/usage", "/v1/tokens", "/v1/relays", "/v1/frame"]
# What differs from run to run: moments, spans, secrets, counters.
VARIES = {"submitted_ms", "ended_ms", "time_ms", "at_ms", "waited_s", "heard_s", "version", "seq"}
COUNTERS = ("events_total", "commits_total", "requests_total", "seconds")


class Asker:
    def __init__(self, lab):
        self.lab, self.tokens = lab, {"": "", "wrong": "0123456789"}
        self.tokens["admin"] = Path(lab.folder, "admin.token").read_text().strip()
        for name, role, *user in (("vera", "viewer"), ("ulla", "user", "nobody"),
                                  ("olga", "operator", "nobody"), ("nina", "user")):
            more = ["--unix-user", *user] if user else []
            self.tokens[name] = Path(token_file(lab, name, role, *more)).read_text().strip()
        listed = lab.json("token", "list")["tokens"]
        self.ids = {row["user"]: row["id"] for row in listed}
        self.cookie = ""

    def ask(self, who, method, path, body=None, key=None):
        url = Path(self.lab.folder, "server.url").read_text().strip("/\n").split("//")[1]
        connection = http.client.HTTPConnection(url, timeout=60)
        headers = {"Authorization": "Bearer " + self.tokens[who]} if self.tokens.get(who) else {}
        headers.update({"Idempotency-Key": key} if key else {})
        headers.update({"Cookie": self.cookie} if who == "cookie" else {})
        for name in ("nina", "admin"):
            path = path.replace(name.upper(), self.ids[name])
        body = body.replace("TOKEN", self.tokens["olga"]) if body else body
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        data = answer.read()
        cookie = answer.getheader("Set-Cookie")
        self.cookie = cookie.split(";")[0] if cookie else self.cookie
        connection.close()
        return answer, data

    def cover(self, text):
        for name, number in self.ids.items():
            text = text.replace(number, f"ID-OF-{name}")
        text = re.sub(r"[0-9a-f]{32,}@[0-9a-f]{64}", "SECRET@FINGERPRINT", text)
        text = re.sub(r'"id": "[0-9a-f]{12}"', '"id": "ID"', text)
        return re.sub(r"[0-9a-f]{32,}", "SECRET", text)


def covered(value):
    """The tree with names in the place of what varies; null stays."""
    if isinstance(value, dict):
        return {key: key.upper() if key in VARIES and child is not None else covered(child)
                for key, child in value.items()}
    return [covered(child) for child in value] if isinstance(value, list) else value


def metrics(text):
    for line in text.splitlines():
        counts = any(word in line.split(" ")[0] for word in COUNTERS)
        yield re.sub(r" [0-9.]+$", " N", line) if counts else line


KINDS = {"string": str, "boolean": bool, "object": dict, "array": list, "null": type(None),
         "number": (int, float), "integer": int}


def misfits(node, value, at):
    """Where a value is not what the interface says of it."""
    if "$ref" in node:
        node = INTERFACE["components"]["schemas"][node["$ref"].split("/")[-1]]
    if "anyOf" in node:
        tries = [list(misfits(one, value, at)) for one in node["anyOf"]]
        yield from [] if [] in tries else tries[0]
        return
    kinds = node["type"] if isinstance(node["type"], list) else [node["type"]]
    whole = not isinstance(value, bool) or "boolean" in kinds
    if not whole or not any(isinstance(value, KINDS[kind]) for kind in kinds):
        yield f"{at} is {value!r}, {kinds} is said"
    elif isinstance(value, list):
        for number, child in enumerate(value):
            yield from misfits(node["items"], child, f"{at}[{number}]")
    elif isinstance(value, dict) and "properties" in node:
        yield from (f"{at}.{key} is missing" for key in node["required"] if key not in value)
        yield from (f"{at}.{key} is not said" for key in value if key not in node["properties"])
        for key in value.keys() & node["properties"].keys():
            yield from misfits(node["properties"][key], value[key], f"{at}.{key}")
    elif isinstance(value, (int, float)):
        if not node.get("minimum", value) <= value <= node.get("maximum", value):
            yield f"{at} is {value}, out of its bounds"


def said_wrong(method, path, status, data):
    """An answer that is not what docs/openapi.json says of it."""
    for pattern, calls in INTERFACE["paths"].items():
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", pattern), path.split("?")[0]) and \
                method.lower() in calls:
            answers = calls[method.lower()]["responses"]
            content = answers["200" if status == 200 else "default"]["content"]
            schema = content.get("application/json", {}).get("schema")
            yield from misfits(schema, json.loads(data), f"{method} {path}") if schema else []


def lines_of(asker, call, faults):
    who, (method, path), *more = call[0], call[1].split(" "), *call[2:]
    answer, data = asker.ask(who, method, path, *more)
    faults += said_wrong(method, path, answer.status, data)
    words = " ".join(json.dumps(word) for word in more)
    yield f"{who or 'nobody'}: {method} {path} {words}".rstrip()
    shown = {"Content-Type", "Cache-Control", "Set-Cookie"}
    heads = [f"{key}: {value}" for key, value in answer.getheaders() if key in shown]
    yield asker.cover(f"  {answer.status} {'; '.join(heads)}")
    kind = answer.getheader("Content-Type") or ""
    if path == "/v1/state":
        yield f"  {'a state' if len(data) > 1000 else data}"
    elif path == "/v1/frame":
        yield f"  {data.hex()}"
    elif path == "/openapi.json":
        told = json.loads(data)
        told["info"]["version"] = INTERFACE["info"]["version"]
        yield f"  {'docs/openapi.json' if told == INTERFACE else 'not what docs/openapi.json has'}"
    elif kind.startswith("application/json"):
        tree = covered(json.loads(data))
        yield from ("  " + line for line in
                    asker.cover(json.dumps(tree, ensure_ascii=False)).replace(
                        "}, ", "},\n    ").splitlines())
    elif path == "/metrics":
        yield from ("  " + line for line in metrics(data.decode()))
    else:
        yield f"  {len(data)} bytes"
    yield ""


def missing(asker):
    """Calls that the server has and nobody here asks for."""
    _, data = asker.ask("", "GET", "/openapi.json")
    for path, calls in json.loads(data)["paths"].items():
        pattern = re.compile(re.sub(r"\{\w+\}", "[^/]+", path) + r"(\?.*)?")
        for method in calls:
            asked = any(call[1].startswith(method.upper() + " ") and
                        pattern.fullmatch(call[1].split(" ")[1]) for call in CALLS)
            if not asked and f"{method.upper()} {path}" not in ELSEWHERE:
                yield f"nobody asks {method.upper()} {path}"


def told(asker):
    """Of what has happened a server keeps nothing in its store, and tokens have no order there.
    What was so many seconds ago is more when it is asked again."""
    answers = {path: re.sub(rb"\b\d+ s ago", b"N s ago", asker.ask("admin", "GET", path)[1])
               for path in AGAIN}
    trees = {path: covered(json.loads(data)) if data[:1] == b"{" else data
             for path, data in answers.items()}
    for path, tree in trees.items():
        if path.startswith("/v1/jobs/"):
            tree.pop("events", None)
        elif path == "/v1/tokens":
            tree["tokens"].sort(key=lambda row: row["id"])
    return trees


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    faults = []
    with tempfile.TemporaryDirectory(prefix="myriad-api-") as top:
        lab = Lab(os.path.abspath(sys.argv[1]), top)
        init(lab, lab.folder)
        lab.serve()
        try:
            asker = Asker(lab)
            found = [line for call in CALLS for line in lines_of(asker, call, faults)]
            faults += missing(asker)
            before = told(asker)
            lab.stop()
            lab.serve()
            after = told(asker)
            faults += [f"GET {path} before and behind a new start:\n{before[path]}\n{after[path]}"
                       for path in AGAIN if before[path] != after[path]]
        finally:
            lab.stop()
    if "--rewrite" in sys.argv:
        KEPT.write_text("\n".join(found))
    now = "\n".join(found).splitlines()
    faults += list(difflib.unified_diff(KEPT.read_text().splitlines(), now, "kept", "now",
                                        lineterm=""))[:60]
    print("\n".join(faults))
    print(f"{len(CALLS)} calls, {len(AGAIN)} of them again, {len(faults)} faults")
    if faults:
        print("if the new answers are right: tests/server/api.py MYRIAD --rewrite, read the diff")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
