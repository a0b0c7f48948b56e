#!/usr/bin/env python3
"""What the client's verbs ask a server, and what they print of its answers, word by word.

    tests/server/said.py MYRIAD             compares with tests/kept/client.txt
    tests/server/said.py MYRIAD --rewrite   writes it anew; read the diff

A server of this file gives the same answers every time, so that whole tables can be kept, which the
answers of a real one cannot: they have times, states and addresses. tests/server/client.py asks a
real one. Every answer is looked at as table, wide and CSV; its JSON must fit the schema.
"""
import difflib
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "answers"))
import schema as schemas  # noqa: E402

KEPT = ROOT / "tests" / "kept" / "client.txt"
LIMIT_S = 240
TIME_MS = 1767225600000  # 2026-01-01 00:00:00Z


def job(number, name, state, **more):
    row = {"id": number, "name": name, "tenant": "research", "user": "ada", "state": state,
           "gpus": 16, "nodes": 2, "priority": -3, "epoch": 4, "failures": 5, "step": 600,
           "saved_step": 500, "submitted_ms": TIME_MS, "started_ms": TIME_MS + 61000,
           "ended_ms": 0, "reason": ""}
    return {**row, **more}


def node(number, name, state, **more):
    row = {"id": number, "name": name, "state": state, "silent": False, "gpus": 8, "busy": 3,
           "leaf": 1, "boot": 12, "kind": "H100", "jobs": [7, 70]}
    return {**row, **more}


def node_whole(number, name, state, **more):
    row = {**node(number, name, state), "address": "10.1.2.3:5555", "reason": "", "revoked": False,
           "heard_s": 1.5, "inventory": {"cpus": 96, "memory_bytes": 5 << 30, "gpus": 8,
                                         "gpu_kind": "H100", "serial": "S1"}}
    return {**row, **more}


def job_whole(number, name, state, **more):
    row = {**job(number, name, state), "node_names": ["gpu-01", "gpu-02"], "node_gpus": [255, 255],
           "ranks": [{"node": "gpu-01", "first": 0, "gpus": 8, "up": True}], "events": [],
           "file": "name: x\ncommand: 'true'\n"}
    return {**row, **more}


RUNNING = job(7, "train", "running")
SHORT = job(70000, "a-job-of-a-long-name", "recovering", user="b", tenant="t", gpus=1, nodes=1,
            step=0, failures=0, priority=1000, epoch=0, reason="node gpu-02 fell silent")
QUEUE = [{"id": 8, "name": "next", "tenant": "research", "gpus": 64, "priority": -2,
          "waited_s": 12.5, "reason": "64 GPUs, and 5 are free"},
         {"id": 90000, "name": "long-name-of-a-job", "tenant": "t", "gpus": 8192, "priority": 100,
          "waited_s": 100000.0, "reason": "its turn"}]
CLUSTER = {"name": "lab", "world": "agents", "version": "1", "time_ms": TIME_MS + 3600000,
           "seq": 41, "nodes": 8, "gpus": 64, "gpus_per_node": 8, "nodes_per_leaf": 4,
           "gpus_busy": 16, "gpus_free": 24, "read_only": False,
           "node_states": {"unknown": 0, "joining": 0, "checking": 0, "healthy": 5, "suspect": 0,
                           "draining": 0, "drained": 0, "repair": 3},
           "job_states": {"queued": 1, "placing": 0, "starting": 0, "running": 2, "saving": 0,
                          "recovering": 0, "finishing": 0, "done": 0, "failed": 0,
                          "cancelled": 0}}
EVENTS = [f"id: {number}\nevent: {kind}\ndata: "
          f"{data if isinstance(data, str) else json.dumps(data)}\n\n"
          for number, kind, data in [
              *[(number, "job", {"seq": number, "time_ms": TIME_MS + number * 1000, "id": number,
                                 "name": f"j{number}", "state": "running"})
                for number in range(33, 36)],
              (36, "doorbell", {"seq": 36}),
              (37, "node", {"seq": 37, "time_ms": TIME_MS, "name": "gpu-01", "state": "repair"}),
              (38, "lost", {"seq": 38}),
              (38, "note", "no JSON {"),
              (39, "note", {"seq": 39, "time_ms": 0, "text": "the clock was set"}),
              (40, "job", {"seq": 40, "time_ms": TIME_MS, "id": 7, "name": "train",
                           "state": "done"})]]
USAGE = {"currency": "CNY", "kw_per_gpu": 1.25, "price_kwh": 0.6, "tenants": [
    {"name": "research", "weight": 3, "gpu_hours": 1234.5678, "kwh": 1543.21, "cost": 925.926,
     "running_gpus": 16, "waiting_jobs": 1},
    {"name": "t", "weight": 1000000, "gpu_hours": 0.0, "kwh": 0.0, "cost": 0.0,
     "running_gpus": 4096, "waiting_jobs": 12000}]}
TOKENS = [{"id": "0f3a9c5e7b21", "user": "ada", "role": "operator", "unix_user": "ada"},
          {"id": "1f3a9c5e7b21", "user": "a-person-of-a-long-name", "role": "viewer",
           "unix_user": None}]


def logs(text, offset, following, end):
    return {"text": text, "offset": offset, "next": following, "end": end}


# What the server answers, by the beginning of the request; of a list one after the other.
ANSWERS = {
    "GET /v1/jobs": {"jobs": [RUNNING, SHORT], "next": None},
    "GET /v1/jobs?limit": {"jobs": [RUNNING], "next": 7},
    "GET /v1/jobs?all=1&limit": {"jobs": [SHORT], "next": 70000},
    "GET /v1/jobs/7": job_whole(7, "train", "running"),
    "GET /v1/jobs/8": job_whole(8, "next", "queued", reason="64 GPUs, and 5 are free",
                                started_ms=0, node_names=[], node_gpus=[], ranks=[], nodes=0),
    "GET /v1/jobs/9": job_whole(9, "ended", "failed", gpus=1, nodes=1, epoch=1, failures=1,
                                ended_ms=TIME_MS + 3600000, node_names=["gpu-01"]),
    "GET /v1/jobs/10": [job_whole(10, "w", "queued"), job_whole(10, "w", "done")],
    "GET /v1/jobs/11": job_whole(11, "w", "cancelled"),
    "GET /v1/jobs/12": job_whole(12, "w", "done"),
    "POST /v1/jobs/7/cancel": job_whole(7, "train", "cancelled", reason="cancelled by ada"),
    "GET /v1/jobs/7/explain": {"id": 7, "why": ["It runs.", "On 2 nodes, since a minute."]},
    "GET /v1/jobs/7/logs?rank=0&offset=0&": logs("one\ntwo\n", 0, 8, False),
    "GET /v1/jobs/7/logs?rank=0&offset=8": logs("", 8, 8, False),
    "GET /v1/jobs/7/logs?rank=3&offset=0": logs("five", 100, 104, True),
    "GET /v1/jobs/8/logs?rank=0&offset=0": [logs("one\n", 0, 4, False), logs("new\n", 0, 4, True)],
    "GET /v1/jobs/8/logs?rank=0&offset=4": logs("", 0, 0, False),
    "GET /v1/jobs/9/logs?rank=0&offset=0": logs("", 0, 0, True),
    "GET /v1/jobs/9/logs?rank=1&offset=0": logs("last\n", 0, 5, False),
    "GET /v1/jobs/9/logs?rank=1&offset=5": (503, {"error": "nobody has its output"}),
    "GET /v1/jobs/9/logs?rank=2&offset=0": (503, {"error": "nobody has its output"}),
    "GET /v1/nodes": {"nodes": [node(3, "gpu-01", "healthy"),
                                node(4, "a-node-of-a-long-name", "draining", silent=True, busy=0,
                                     kind="", jobs=[], leaf=100, boot=1)]},
    "GET /v1/nodes/gpu-01": node_whole(3, "gpu-01", "healthy"),
    "GET /v1/nodes/gpu-02": node_whole(4, "gpu-02", "repair", silent=True, revoked=True, kind="",
                                       address="", reason="ada: a fan",
                                       inventory={"cpus": 0, "memory_bytes": (2 << 30) - 1,
                                                  "gpus": 8, "gpu_kind": "", "serial": ""}),
    "GET /v1/nodes/n": node_whole(5, "n", "repair", kind="k", address="a", reason="r", inventory={
        "cpus": 1, "memory_bytes": 1 << 30, "gpus": 8, "gpu_kind": "k", "serial": "s"}),
    "GET /v1/jobs/13": job_whole(13, "w", "queued", reason="r", node_names=["n"]),
    "GET /v1/nodes/x%20y%2F%25%C3%A9": node_whole(5, "x y/%é", "unknown"),
    "POST /v1/nodes/gpu-01/drain": node_whole(3, "gpu-01", "draining", reason="ada: loud"),
    "POST /v1/nodes/gpu-%5B1-2%5D/drain": {"nodes": [node(3, "gpu-1", "drained"),
                                                     node(4, "gpu-2", "drained")]},
    "POST /v1/nodes/gpu-01/resume": node_whole(3, "gpu-01", "joining"),
    "POST /v1/nodes/gpu-01/revoke": node_whole(3, "gpu-01", "healthy", revoked=True),
    "GET /v1/queue": {"queue": QUEUE},
    "GET /v1/usage": USAGE,
    "GET /v1/cluster": CLUSTER,
    "GET /v1/events": "".join(EVENTS),
    "GET /v1/tokens": {"tokens": TOKENS},
    "POST /v1/tokens": {"token": "secret-1"},
    "POST /v1/tokens/0f3a/revoke": TOKENS[0],
    "POST /v1/enrol": {"token": "secret-2"},
    "POST /v1/inject": {"node": "gpu-01", "fault": "crash"},
    "POST /v1/tenants/research": {"name": "research", "weight": 3},
    "POST /v1/design": {"nodes_before": 9, "nodes": 24},
    "POST /v1/jobs": {"id": 12, "name": "w", "state": "queued", "count": 1, "unheeded": [],
                      "world": "agents"},
}
FAULTS = [(status, {"error": f"said with {status}", "hint": "a remedy"})
          for status in (400, 401, 403, 404, 409, 413, 418, 422, 429, 500, 503, 507)]


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self):
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length).decode()
        line = f"{self.command} {self.path}"
        more = [self.headers.get("Content-Type"), body] if body else []
        key = self.headers.get("Idempotency-Key")  # sixteen bytes that nobody guesses
        more += [f"once, by {len(bytes.fromhex(key))} bytes"] if key else []
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        self.server.asked.append(" | ".join([line, f"token {token}", *more]).replace("\n", "\\n"))
        answers = self.server.answers
        fits = [key for key in answers if line == key or line.startswith(key) and "?" in key] or \
            [key for key in answers if line.split("?")[0] == key]
        found = answers[max(fits, key=len)] if fits else (404, {"error": f"no {line}"})
        if isinstance(found, list):
            found = found.pop(0) if len(found) > 1 else found[0]
        status, said = found if isinstance(found, tuple) else (200, found)
        data = (said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = answer

    def log_message(self, *_):
        pass


FORMS = ("table", "wide", "csv", "json")
TABLE = ("table",)
FULL = {"jobs": [job(100 + i, f"run-{i}", "queued" if i % 5 == 0 else "running")
                 for i in range(20)], "next": None}
LONG = {"queue": [{**QUEUE[0], "id": 200 + i} for i in range(9)]}
UNHEEDED = {"id": 12, "name": "w", "state": "queued", "count": 1, "world": "slurm"}
JOB = "name: w\ncommand: 'true'\n"

SHORT_DONE = {**SHORT, "state": "done", "reason": ""}
ARRAY = {"jobs": [job(22, "other", "running"), job(21, "w[1]", "failed", reason="exit 1"),
                  job(20, "w[0]", "done")], "next": None}

# Words, and where it matters: other formats, other answers, standard input, variables.
CASES = [
    (["job", "list"], {}),
    (["job", "list", "--all"], {"forms": TABLE}),
    (["job", "list", "--state", "running"], {"forms": TABLE}),
    (["job", "list", "--limit", "1"], {}),
    (["job", "list", "--before", "71000", "--all"], {"forms": TABLE}),
    (["job", "show", "7"], {}),
    (["job", "show", "8"], {"forms": TABLE}),
    (["job", "show", "9"], {"forms": TABLE}),
    (["job", "cancel", "7"], {}),
    (["job", "explain", "7"], {}),
    (["job", "logs", "7"], {}),
    (["job", "logs", "7", "--rank", "3", "--epoch", "2"], {}),
    (["job", "logs", "7", "--rank", "3", "--follow"], {"forms": ("table", "csv")}),
    (["job", "logs", "8", "--follow"], {"forms": TABLE}),
    (["job", "logs", "9"], {}),
    (["job", "logs", "9", "--rank", "1", "--follow"], {"forms": TABLE}),
    (["job", "logs", "9", "--rank", "2", "--follow"], {"forms": TABLE}),
    (["node", "list"], {}),
    (["node", "list", "--state", "healthy"], {"forms": TABLE}),
    (["node", "show", "gpu-01"], {}),
    (["node", "show", "gpu-02"], {}),
    (["node", "show", "n"], {"forms": TABLE}),  # texts of one letter are texts
    (["job", "show", "13"], {"forms": TABLE}),
    (["node", "show", "x y/%é"], {"forms": TABLE}),
    (["node", "drain", "gpu-01"], {}),
    (["node", "drain", "gpu-01", "--reason", 'fan "3" is loud'], {"forms": TABLE}),
    (["node", "drain", "gpu-[1-2]"], {"forms": ("table", "wide", "csv")}),
    (["node", "resume", "gpu-01"], {}),
    (["node", "revoke", "gpu-01"], {}),
    (["queue"], {}),
    (["usage"], {}),
    (["top"], {}),
    (["top", "--once"], {"forms": TABLE, "answers": {
        "GET /v1/jobs": FULL, "GET /v1/queue": LONG,
        "GET /v1/cluster": {**CLUSTER, "read_only": True, "gpus_busy": 63, "gpus_free": 1}}}),
    (["top", "--once"], {"forms": ("table", "csv"), "answers": {
        "GET /v1/jobs": {"jobs": [], "next": None}, "GET /v1/queue": {"queue": []},
        "GET /v1/events": "", "GET /v1/cluster": {**CLUSTER, "gpus": 0, "gpus_busy": 0,
                                                  "gpus_free": 0, "node_states": {}}}}),
    (["token", "list"], {}),
    (["token", "new", "--user", "ada"], {}),
    (["token", "new", "--user", "ada", "--role", "viewer", "--unix-user", "a"], {"forms": TABLE}),
    (["token", "new", "--user", "ada", "--role", "operator"], {"forms": TABLE}),
    (["token", "new", "--user", "ada", "--role", "admin"], {"forms": TABLE}),
    (["token", "new"], {"forms": TABLE}),
    (["token", "revoke", "0f3a"], {}),
    (["enrol"], {}),
    (["enrol", "gpu-01"], {"forms": TABLE}),
    (["enrol", "--relay", "rack-7"], {"forms": TABLE}),
    (["enrol", "gpu-01", "--relay", "rack-7"], {"forms": TABLE}),
    (["inject", "gpu-01", "crash"], {}),
    (["tenant", "set", "research", "--weight", "3"], {}),
    (["tenant", "set", "research"], {"forms": TABLE}),
    (["design", "apply", "grown"], {}),
    (["design", "apply", "grown/design.myr", "--dry-run"], {"forms": TABLE}),
    (["design", "apply", "grown", "--nodes", "gpu-[01-24]"], {"forms": TABLE}),
    (["design", "apply", "grown"], {"forms": TABLE, "answers": {
        "POST /v1/design": (409, {"error": "1 nodes removed", "hint": "grow it"})}}),
    (["design", "apply", "nothing"], {"forms": TABLE}),
    (["submit", "-"], {"text": JOB}),
    (["submit", "-", "--wait"], {"text": JOB, "forms": TABLE}),
    (["submit", "-", "--wait"], {"text": JOB, "forms": TABLE, "answers": {
        "POST /v1/jobs": {**UNHEEDED, "id": 11, "unheeded": ["prolog"]}}}),
    (["submit", "-", "--wait"], {"text": JOB, "forms": TABLE, "answers": {
        "POST /v1/jobs": {**UNHEEDED, "id": 10}}}),
    (["submit", "-"], {"text": JOB, "forms": TABLE, "answers": {
        "POST /v1/jobs": {**UNHEEDED, "world": "agents", "unheeded": ["twin"]}}}),
    # An array: by numbers that need not follow each other, or, of an older server, that do.
    (["submit", "-", "--wait"], {"text": JOB, "answers": {
        "POST /v1/jobs": {**UNHEEDED, "id": 20, "count": 3, "ids": [20, 21, 70000]},
        "GET /v1/jobs?all=1&limit=2000&before=70001": {"jobs": [SHORT_DONE], "next": 30},
        "GET /v1/jobs?all=1&limit=10&before=30": ARRAY}}),
    (["submit", "-", "--wait"], {"text": JOB, "forms": TABLE, "answers": {
        "POST /v1/jobs": {**UNHEEDED, "id": 20, "count": 2},
        "GET /v1/jobs?all=1&limit=2&before=22": [
            {"jobs": ARRAY["jobs"][:1], "next": None}, (503, {"error": "away"}),
            {"jobs": [job(21, "w[1]", "running"), job(20, "w[0]", "done")], "next": 20},
            {"jobs": [job(21, "w[1]", "done"), job(20, "w[0]", "done")], "next": None}]}}),
    (["submit", "-"], {"text": JOB, "forms": TABLE, "answers": {
        "POST /v1/jobs": {**UNHEEDED, "id": 20, "count": 2},
        "GET /v1/jobs?all=1&limit=2&before=22": {
            "jobs": [job(21, "w[1]", "queued"), job(20, "w[0]", "running")], "next": None}}}),
    (["submit", "-"], {"text": JOB, "forms": TABLE, "answers": {
        "POST /v1/jobs": {**UNHEEDED, "id": 20, "count": 2},
        "GET /v1/jobs?all=1&limit=2&before=22": {"jobs": [], "next": 22}}}),
    (["submit", "-"], {"text": JOB, "forms": TABLE, "answers": {
        "POST /v1/jobs": {**UNHEEDED, "id": 20, "count": 2, "ids": [20, "x"]}}}),
    (["submit", "-"], {"text": JOB, "forms": ("table", "json"), "answers": {
        "POST /v1/jobs": {**UNHEEDED, "unheeded": ["prolog", "epilog", "env"]}}}),
    (["submit", "-"], {"text": JOB, "forms": TABLE, "answers": {
        "POST /v1/jobs": (400, {"error": "job:2:7: 'gpus' is no number"})}}),
    (["submit", "job.yaml"], {"forms": TABLE, "answers": {
        "POST /v1/jobs": (400, {"error": "job:2:7: 'gpus' is no number", "hint": "gpus: 8"})}}),
    (["submit", "job.yaml", "--layout", "layout.yaml"], {"forms": TABLE}),
    (["submit", "env.yaml", "--layout", "layout.yaml"], {"forms": TABLE}),
    (["submit", "job.json", "--layout", "layout.yaml"], {"forms": TABLE}),
    (["submit", "large.yaml", "--layout", "layout.yaml"], {"forms": TABLE}),
    (["submit", "nodes.yaml", "--layout", "layout.yaml"], {"forms": TABLE}),
    (["submit", "layout.yaml"], {"forms": TABLE}),
    (["submit", "spec.yaml"], {"forms": TABLE}),
    (["submit", "scenario.yaml"], {"forms": TABLE}),
    (["submit", "config.yaml"], {"forms": TABLE}),
    *[(["queue"], {"forms": TABLE, "answers": {"GET /v1/queue": fault}}) for fault in FAULTS],
    (["queue"], {"forms": TABLE, "answers": {"GET /v1/queue": (404, "no JSON")}}),
    (["queue"], {"forms": TABLE, "answers": {"GET /v1/queue": {"queue": [1]}}}),
    (["queue"], {"forms": TABLE, "answers": {"GET /v1/queue": {"queue": {}}}}),
]
LAYOUT = "schema: myriad.layout\nversion: 1\nlayout:\n  tp: 4\n  dp: 2\n  pp: 2\n"
FILES = {
    "job.yaml": JOB, "env.yaml": JOB + "env:\n  A: b\n  MYRIAD_LAYOUT: old\ngpus: 16\n",
    "job.json": '{"name": "w", "command": "true", "layout": "old"}\n',
    "large.yaml": JOB + "gpus: 8\n", "nodes.yaml": JOB + "nodes: 2\n",
    "layout.yaml": LAYOUT, "spec.yaml": "servers: 3\nserver: x\n",
    "scenario.yaml": "cluster: x\nhours: 3\n", "config.yaml": "cluster: x\nworld: y\nnodes: z\n",
    **{f"{name}.yaml": f"servers: {servers}\nserver: h100-8gpu\nnetworks: {{compute: {{switch: "
                       f"mqm9790-ns2f, leaf_down: 8, leaf_up: 8}}}}\n"
       for name, servers in (("nine", 9), ("more", 24))},
}


def run(myriad, server, words, more, form, folder):
    """One question: what was asked, what came out."""
    server.answers = {}  # new ones each time: lists are used up
    for key, value in {**ANSWERS, **more.get("answers", {})}.items():
        server.answers[key] = list(value) if isinstance(value, list) else value
    server.asked = []
    url = f"http://127.0.0.1:{server.server_address[1]}"
    environment = {key: value for key, value in os.environ.items()
                   if not key.startswith("MYRIAD_")}
    environment.update(LC_ALL="C.UTF-8", COLUMNS="500" if form == "wide" else "80")
    result = subprocess.run([myriad, *words, "--server", url + "/", "--token-file", "token", "-o",
                             form], cwd=folder, env=environment, text=True, check=False,
                            input=more.get("text", ""), capture_output=True, timeout=LIMIT_S)
    return result, [text.replace(url, "URL") for text in (result.stdout, result.stderr)]


def lines_of(myriad, server, folder):
    for words, more in CASES:
        asked = None
        yield "$ myriad " + " ".join(words)
        for form in more.get("forms", FORMS):
            result, (out, err) = run(myriad, server, words, more, form, folder)
            if form == "json":
                yield from misfits(out)
                continue
            yield from ["> " + line for line in server.asked if server.asked != asked]
            asked = server.asked
            yield f"-o {form}: {result.returncode}"
            yield from [("  " + line).rstrip() for line in out.splitlines()]
            yield from ["  ! " + line for line in err.splitlines()]
        yield ""


def misfits(out):
    document = json.loads(out)
    rules = json.loads((ROOT / "docs" / "schema" / (document["schema"] + ".json")).read_text())
    yield from (f"-o json does not fit {document['schema']}: {fault}"
                for fault in schemas.validate(document, rules))


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(prefix="myriad-said-") as folder:
        for name, text in {**FILES, "token": "word-of-ada\n"}.items():
            Path(folder, name).write_text(text)
        subprocess.run([os.path.abspath(sys.argv[1]), "plan", "grow", "nine.yaml", "more.yaml",
                        "--out", "grown"], cwd=folder, check=True, capture_output=True)
        found = list(lines_of(os.path.abspath(sys.argv[1]), server, folder))
    server.shutdown()
    if "--rewrite" in sys.argv:
        KEPT.write_text("\n".join(found) + "\n")
        return 0
    differ = list(difflib.unified_diff(KEPT.read_text().splitlines(), found, "kept", "now",
                                       lineterm=""))
    print("\n".join(differ[:60]))
    print(f"{len(CASES)} questions, {'differ' if differ else 'as kept'}")
    if differ:
        print("if the new output is right: tests/server/said.py MYRIAD --rewrite, read the diff")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
