#!/usr/bin/env python3
"""Everything wrong that can be said to a server, said to a real one.

    tests/server/hostile.py MYRIAD AGENT PAPERS

One agent runs a job from the first line to the last: none of it may notice. After each attempt the
service answers, and the attempt stands in its audit or its log; at the end no secret stands in
anything that it wrote, and the job is still in its first incarnation.
"""
import argparse
import http.client
import json
import pathlib
import random
import resource
import shutil
import socket
import ssl
import stat
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "agent"))
import wire  # noqa: E402
from cluster import LIMIT_S, Cluster, Failed, wait_for  # noqa: E402
from foe import ROLES, Lab, Slow, Speaker, need  # noqa: E402

checks = []


def check(function):
    checks.append(function)
    return function


@check
def every_route_takes_its_role_and_no_lower_one(lab):
    _, text = lab.ask("GET", "/openapi.json")
    count = 0
    for path, calls in json.loads(text)["paths"].items():
        for method, call in calls.items():
            at = path.replace("{id}", "4000000").replace("{name}", "nobody-has-this-name")
            for role in ROLES:
                status, text = lab.ask(method.upper(), at, lab.tokens.get(role),
                                       body=b"" if method == "post" else None)
                count += 1
                where = f"{role}: {method} {path}: {status}"
                if ROLES.index(role) >= ROLES.index(call["x-role"]):
                    need(status not in (401, 403, 500), where, text)
                else:
                    need(status == (401 if role == "none" else 403), where, text)
                    need(json.loads(text)["error"], where)
    need(count >= 100, "only", count, "pairs of route and role")
    lab.told("the-viewer is viewer; this takes a role of", "a token is needed")


@check
def tokens_that_are_none(lab):
    good = lab.tokens["admin"]
    for bad in ("x", good[:-1], good + "0", good.upper() + "!", " " + good, "\x7f", "A" * 4000):
        status, _ = lab.ask("GET", "/v1/nodes", bad)
        need(status == 401, "token", bad[:10], status)
    for header in ("Basic " + good, "bearer" + good, "Bearer", good, "Bearer \t"):
        status, _ = lab.ask("GET", "/v1/nodes", headers={"Authorization": header})
        need(status == 401, "header", header[:6], status)
    lab.told('"what":"GET /v1/nodes"', "a token is needed")
    # Guessing gets slow, and those who have a token at the same address are not slowed down.
    source = lab.address()
    answers = [lab.ask("GET", "/v1/nodes", f"guess-{i}", source=source)[0] for i in range(60)]
    need(answers.count(401) <= 40 and answers[-1] == 429, "guesses:", answers)
    need(lab.ask("GET", "/v1/nodes", good, source=source)[0] == 200, "the good token was refused")
    need(lab.ask("GET", "/healthz", source=source)[0] == 200, "health was refused to a guesser")
    # A guess comes back each second, in which a busy machine may ask nothing: until there is none.
    body = json.dumps({"token": "guess"}).encode()
    answers = [lab.ask("POST", "/v1/login", body=body, source=source)[0] for _ in range(40)]
    need(429 in answers and answers.count(401) < 20, "login may be guessed:", answers)
    lab.told("more requests refused")


@check
def a_cookie_reads_and_does_nothing_else(lab):
    line = http.client.HTTPConnection(lab.host, lab.port, timeout=LIMIT_S)
    line.request("POST", "/v1/login", body=json.dumps({"token": lab.tokens["admin"]}))
    answer = line.getresponse()
    answer.read()
    cookie = answer.headers["Set-Cookie"]
    need(answer.status == 200 and "HttpOnly" in cookie and "SameSite=Strict" in cookie, cookie)
    value = cookie.split(";")[0]
    lab.secrets.append(value.split("=")[1])
    line.close()
    headers = {"Cookie": value}
    need(lab.ask("GET", "/v1/nodes", headers=headers)[0] == 200, "the cookie reads nothing")
    for path, body in (("/v1/tokens", b'{"user":"x","role":"admin"}'), ("/v1/backup", b""),
                       ("/v1/jobs", b"gpus: 1\ncommand: id\n"), ("/v1/nodes/n00/drain", b"{}"),
                       ("/v1/nodes/n00/revoke", b"")):
        status, _ = lab.ask("POST", path, body=body, headers=headers)
        need(status == 401, path, "by cookie:", status)
    need(lab.ask("POST", "/v1/logout", body=b"", headers=headers)[0] == 200, "no logout")
    need(lab.ask("GET", "/v1/nodes", headers=headers)[0] == 401, "the cookie outlives its logout")
    lab.told('"what":"POST /v1/backup"')


@check
def a_job_of_somebody_else(lab):
    other = lab.give("/v1/tokens", {"user": "mallory", "role": "user", "unix_user": "nobody"})
    status, text = lab.ask("POST", f"/v1/jobs/{lab.job}/cancel", other, b"")
    need(status == 403, status, text)
    bare = lab.give("/v1/tokens", {"user": "bare", "role": "user"})
    status, text = lab.ask("POST", "/v1/jobs", bare, b"gpus: 1\ncommand: id\n")
    need(status == 403 and b"names no Unix user" in text, status, text)
    status, text = lab.ask("POST", "/v1/tokens", lab.tokens["admin"],
                           b'{"user":"r","role":"user","unix_user":"root"}')
    need(status == 403, status, text)
    lab.told('"who":"mallory"', "an operator may cancel it too", "never run as root")


@check
def certificates_that_are_worth_nothing(lab):
    other = pathlib.Path(tempfile.mkdtemp(dir=lab.folder))
    subprocess.run([lab.papers, "ca", other], check=True)
    for what, folder in (("expired", lab.sign("n01", days=0)),
                         ("of another authority", lab.sign("n01", authority=other))):
        if what == "expired":
            time.sleep(1.1)
        try:
            with Speaker(lab, folder) as speaker:
                speaker.hello("n01")
                speaker.dropped()
        except (ssl.SSLError, ConnectionError):
            pass  # which is as good
        lab.told("TLS is not agreed: certificate has expired" if what == "expired"
                 else "TLS is not agreed: ")
    # Of this authority, but not the one that was given to the node.
    with Speaker(lab, lab.sign("n01")) as speaker:
        speaker.hello("n01")
        speaker.refused("revoked or replaced")
    with Speaker(lab, lab.sign("stranger")) as speaker:
        speaker.hello("stranger")
        speaker.refused("'stranger' is no node")
    lab.told("is no node of this cluster", "revoked or replaced")
    folder = lab.enrol("n01")
    with Speaker(lab, folder) as speaker:
        speaker.hello("n02")
        speaker.refused("'n02' has the certificate of 'n01'")
    with Speaker(lab, folder) as speaker:
        speaker.hello("n01")
        need(speaker.hear("welcome"), "a good certificate is refused")
        # Renewal is for its own name alone.
        csr = pathlib.Path(tempfile.mkdtemp(dir=lab.folder))
        subprocess.run([lab.papers, "csr", "n02", csr], check=True)
        speaker.say("enrol", csr=(csr / "csr.pem").read_bytes())
        speaker.refused("n02")
    with Speaker(lab, folder) as speaker:  # one that speaks when it is revoked is cut off
        speaker.hello("n01")
        need(speaker.hear("welcome"), "a good certificate is refused")
        lab.cluster.post("/v1/nodes/n01/revoke", {})
        speaker.refused("was revoked")
    with Speaker(lab, folder) as speaker:
        speaker.hello("n01")
        speaker.refused("revoked or replaced")
    lab.told("has the certificate of", "revoked or replaced")


@check
def a_token_enrols_once_and_for_its_node(lab):
    folder = pathlib.Path(tempfile.mkdtemp(dir=lab.folder))
    subprocess.run([lab.papers, "csr", "n02", folder], check=True)
    csr = (folder / "csr.pem").read_bytes()
    secret = lab.give("/v1/enrol", {"node": "n02"}).split("@")[0]
    for turn in range(2):
        with Speaker(lab) as speaker:
            speaker.hello("n02")
            speaker.say("enrol", token=secret, csr=csr)
            if turn == 0:
                need(speaker.hear("cert"), "no certificate for a good token")
            else:
                speaker.refused("spent")
    # For another name, for one that is no node, with garbage for a request: each costs its token.
    for node, name, request in (("n03", "n02", csr), ("", "stranger", None), ("n03", "n03", b"x"),
                                ("n03", "n03", b"\0" * 500)):
        if request is None:
            subprocess.run([lab.papers, "csr", name, folder], check=True)
            request = (folder / "csr.pem").read_bytes()
        secret = lab.give("/v1/enrol", {"node": node} if node else {}).split("@")[0]
        for word in ("", "spent"):
            with Speaker(lab) as speaker:
                speaker.hello(name)
                speaker.say("enrol", token=secret, csr=request)
                speaker.refused(word)
    need(lab.ask("POST", "/v1/enrol", lab.tokens["admin"], b'{"node":"stranger"}')[0] == 404,
         "a token for what is no node")
    lab.told("the token is spent, or was never given", "'stranger' is no node")


@check
def messages_out_of_order(lab):
    papers = lab.enrol("n02")
    with Speaker(lab, papers) as speaker:
        speaker.say("beat", time_ns=1)
        speaker.refused("'beat' before hello")
    with Speaker(lab, papers) as speaker:
        speaker.hello("n02")
        speaker.hello("n02")
        speaker.refused("hello twice")
    for kind in ("start", "stop", "welcome", "lease", "cert", "refused", "fetch", "ack"):
        with Speaker(lab, papers) as speaker:
            speaker.hello("n02")
            speaker.say(kind)
            speaker.refused("is no message of an agent")
    with Speaker(lab) as speaker:
        speaker.hello("n02")
        speaker.say("exit", job=lab.job, code=1)
        speaker.refused("without a certificate")
    with Speaker(lab, papers) as speaker:
        speaker.say("hello", name="n02", version_min=250, boot=1)
        speaker.refused("version 250")
    lab.told("before hello", "hello twice", "'start' is no message", "without a certificate",
             "version 250")


@check
def a_node_speaks_for_no_other(lab):
    with Speaker(lab, lab.enrol("n02")) as speaker:
        speaker.hello("n02")
        for job in (lab.job, lab.job + 2 ** 32, 2 ** 64 - 1, 4000000):
            for epoch in (0, 1, 2, 2 ** 32 - 1):
                speaker.say("exit", epoch=epoch, job=job, rank=0, code=9, line="<b>mine</b>")
                speaker.say("started", epoch=epoch, job=job, code=1, text="not mine")
                speaker.say("stopped", epoch=epoch, job=job)
                speaker.say("step", epoch=epoch, job=job, step=2 ** 64 - 1, saved_step=2 ** 63)
                speaker.say("tested", job=job, code=3)
                speaker.say("output", job=job, offset=2 ** 63, size=5, data=b"\xff\0")
        speaker.say("symptom", id="\x1b[2J<script>", text=b"\xff\xfe\nFAKE error line\r\n")
        speaker.say("inventory", host="\x07" * 3000, gpu_kind=b"\xff" * 3000, serial="<i>",
                    gpus=2 ** 32 - 1, memory_bytes=2 ** 64 - 1, details="{" * 5000)
        speaker.say("beat", time_ns=-2 ** 63)
        lab.told("symptom of n02: \\u001b[2J<script>")
    job = lab.cluster.job(lab.job)
    need(job["state"] == "running" and job["epoch"] == 1 and "mine" not in job["reason"], job)
    lines = (lab.folder / "server.log").read_bytes().splitlines()
    need(not any(line.startswith(b"FAKE") for line in lines), "a peer writes lines of the log")


@check
def bytes_that_are_no_messages(lab):
    papers = lab.enrol("n02")
    good = wire.Sender().encode("hello", wire.NO_NODE, 0, {"name": "n02", "version_min": 1})
    wrong = bytearray(good)
    wrong[-1] ^= 1
    for data in (b"\0" * 100, b"GET / HTTP/1.1\r\n\r\n" * 9, bytes(range(256)) * 8, bytes(wrong),
                 wire.HEAD.pack(wire.MAGIC, 1, 1, 2 << 20, 0, 0, 0, 0) + b"x" * (2 << 20),
                 wire.frame(1, b"\xff" * 200), wire.frame(2, b"\xff" * 200),
                 good + wire.frame(200, b"?"), good + wire.frame(0, b"")):
        with Speaker(lab, papers) as speaker:
            speaker.send(data)
            if not data.startswith(good):
                speaker.dropped()
    lab.told("dropped: ")
    for data in (b"\x16\x03\x01", b"no TLS at all\n", b"\x80" * 5000):
        agents = ("127.0.0.1", lab.cluster.agents_port)
        with socket.create_connection(agents, timeout=LIMIT_S) as line:
            line.sendall(data)
    lab.told("TLS")
    with Speaker(lab, papers) as speaker:  # half a frame, and away
        speaker.send(good[:20])
    # Nobody is kept out by a peer that stops in the middle of a frame.
    with Speaker(lab, papers) as half, Speaker(lab, papers) as whole:
        half.send(good + good[:9])
        whole.hello("n02")
        need(whole.hear("welcome"), "one that stands still keeps its node out")


@check
def messages_of_chance(lab):
    """Well-formed ones, with anything in every field, in any order."""
    rng, papers = random.Random(1), lab.enrol("n02")
    kinds = "inventory beat step exit symptom started stopped tested output enrol".split()
    for _ in range(6):
        with Speaker(lab, papers) as speaker:
            speaker.hello("n02", boot=rng.getrandbits(64))
            for _ in range(200):
                kind, values = rng.choice(kinds), {}
                for name, what in wire.FIELDS[kind]:
                    values[name] = rng.randbytes(rng.choice((0, 1, 40, 3000))) \
                        if what == wire.TEXT else rng.choice(
                            (0, 1, lab.job, 2 ** 31 - 1, rng.getrandbits(32 if what == wire.U32
                                                                         else 63)))
                speaker.say(kind, epoch=rng.choice((0, 1, 2, 2 ** 32 - 1)), **values)
            speaker.say("start")
            speaker.hear("refused")
        lab.alive()
    job = lab.cluster.job(lab.job)
    need(job["state"] == "running" and job["epoch"] == 1, job)
    lab.told("refused")


@check
def a_flood_of_messages(lab):
    with Speaker(lab, lab.enrol("n02")) as speaker:
        speaker.hello("n02")
        need(speaker.hear("welcome"), "refused")
        beat = b"".join(speaker.sender.encode("beat", 0, 0, {"time_ns": i}) for i in range(6000))
        for _ in range(5):
            speaker.send(beat)
        speaker.dropped()
    lab.told("dropped: too many messages")


@check
def requests_that_are_too_large_or_none(lab):
    user = lab.tokens["user"]
    try:
        status, text = lab.ask("POST", "/v1/jobs", user, b"x" * (2 << 20))
        need(status in (400, 413), status, text)
    except (BrokenPipeError, ConnectionResetError):
        pass
    status, text = lab.ask("POST", "/v1/jobs", user, b"#" * (100 << 10))
    need(status == 400 and b"at most" in text, status, text)
    lab.told("more than 1048576 bytes")
    for head in (b"X: " + b"y" * (200 << 10), b"".join(b"X%d: y\r\n" % i for i in range(9000)),
                 b"Cookie: " + b"a=b; " * 12000):
        got = lab.raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + head + b"\r\n\r\n",
                      half=True)
        need(got == b"" or b" 431 " in got.split(b"\r\n")[0] or b" 4" in got[:13], got[:100])
    post = b"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\n"
    for text in (b"\0\0\0\0\r\n\r\n", b"GET\r\n\r\n", b"GET /" + b"a" * 102400 + b" HTTP/1.1\r\n",
                 b"GET / HTTP/9.9\r\n\r\n", post + b"Content-Length: -1\r\n\r\n",
                 post + b"Content-Length: 99999999999999999999\r\n\r\n",
                 post + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
                 b"\x16\x03\x01\x02\x00\x01\x00" * 50, b"GET /healthz HTTP/1.1\r\nHost: x"):
        got = lab.raw(text, half=True)
        need(not got.startswith(b"HTTP/1.1 200"), text[:50], "is answered:", got[:100])
        lab.alive()
    lab.told("http: ")


@check
def paths_that_lead_elsewhere(lab):
    (lab.folder / "outside").write_text("outside")
    for path in ("/assets/../../../../etc/passwd", "/assets/..%2f..%2f..%2fetc%2fpasswd",
                 "/assets/%2e%2e/%2e%2e/index.html", "/assets/..\\..\\x", "/assets//etc/passwd",
                 "/assets/%00", "/assets/index.html%00.js", "/assets/" + "../" * 60 + "etc/passwd",
                 "/assets/admin.token", "/..", "/v1/../admin.token", "/%2e%2e/admin.token",
                 "/v1/nodes/..%2f..", "/v1/jobs/-1", "/v1/jobs/4294967295", "/v1/jobs/1e3",
                 "/v1/jobs/99999999999999999999999", "/v1/nodes/%3Cscript%3E", "/v1/nodes/%ff%fe",
                 "/v1/nodes/a%0d%0aSet-Cookie:%20x=y", "/v1/jobs/0/logs?rank=-1",
                 "/v1/jobs/0/logs?rank=4294967296", "/v1/jobs/0/logs?offset=x"):
        got = lab.raw(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
                      f"{lab.tokens['viewer']}\r\nConnection: close\r\n\r\n".encode(), half=True)
        status = int(got.split()[1]) if got else 400
        need(status in (400, 404), path, got[:200])
        need(b"root:" not in got and lab.cluster.token.encode() not in got, path, got)
        need(b"\nSet-Cookie" not in got, path, "puts a header:", got)
    lab.told("refused")  # one by one, or as a count in a second in which much was said already


@check
def names_and_bodies_with_anything_in_them(lab):
    user, admin = lab.tokens["user"], lab.tokens["admin"]
    for body in (b"\xff\xfe\xfd", b"gpus: 1\ncommand: \xff\xfe", b"gpus: 1\0\ncommand: id", b"\0",
                 b'{"gpus":1,"command":"id","name":"a\\u0000b"}',
                 b'{"gpus":1,"command":"id","name":"a\\nb"}',
                 b'{"gpus":1,"command":"id","tenant":"a\\u001b[2J"}',
                 b'{"gpus":1,"command":"id\\u0000; evil"}',
                 b'{"gpus":1,"command":"id","env":{"A":"b\\u0000"}}',
                 b'{"gpus":1,"command":"id","env":{"A\\u0000B":"c"}}',
                 b'{"gpus":1,"command":["id","a\\u0000b"]}',
                 b'{"gpus":1,"gpus":2,"command":"id"}', b"gpus: 1\ngpus: 2\ncommand: id",
                 b"[" * 100000, b'{"a":' * 20000, b"- " * 20000, b"{" * 40000,
                 b"a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\ngpus: 1\ncommand: id",
                 b"", b"{}", b"[]", b"null", b"gpus: 1", b"command: id", b"gpus: 0\ncommand: id",
                 b"gpus: -1\ncommand: id", b"gpus: 1.5\ncommand: id", b"gpus: 1e99\ncommand: id",
                 b"gpus: 99999999999\ncommand: id", b"gpus: 17000\ncommand: id",
                 b"gpus: 1\nnodes: 1\ncommand: id", b"gpus: 1\ncommand: ''",
                 b"gpus: 1\ncommand: []",
                 b"gpus: 1\ncommand: [[id]]", b"gpus: 1\ncommand: {a: b}",
                 b"gpus: 1\ncommand: id\nbogus: 1", b"gpus: 1\ncommand: id\nenv: [a]",
                 b"gpus: 1\ncommand: id\nenv: {'a=b': c}", b"gpus: 1\ncommand: id\nretries: -1",
                 b"gpus: 1\ncommand: id\ntime_limit: 0", b"gpus: 1\ncommand: id\ntime_limit: soon",
                 b"gpus: 1\ncommand: id\npriority: 1001", b"gpus: 1\ncommand: id\nlease_s: 0",
                 b"gpus: 1\ncommand: id\nrestart: never",
                 b"gpus: 1\ncommand: id\ntwin: {hours: -1}",
                 b"gpus: 1\ncommand: id\nname: " + b"x" * 100,
                 b"gpus: 1\ncommand: id\ntenant: " + b"x" * 64,
                 b"gpus: 1\ncommand: id\nprogress: {pattern: [1]}"):
        status, text = lab.ask("POST", "/v1/jobs", user, body, source=lab.address())
        need(status == 400, body[:60], status, text)
        need(json.loads(text)["error"].count("\n") == 0, text)
    for body in (b'{"user":"a\\u0000","role":"admin"}', b'{"user":"a","role":"admin\\u0000"}',
                 b'{"user":"a","role":"root"}', b'{"user":["a"],"role":"user"}', b"[1]", b"\xff",
                 b'{"user":"' + b"x" * 64 + b'","role":"user"}', b'{"user":"","role":"user"}',
                 b'{"user":"a","user":"b","role":"user"}', b"[" * 100000):
        status, text = lab.ask("POST", "/v1/tokens", admin, body)
        need(status == 400, body[:60], status, text)
    for path in ("/v1/login", "/v1/enrol", "/v1/inject"):
        for body in (b"\xff", b"[" * 100000, b'{"token":{},"node":{},"fault":[]}', b"null", b'"x"'):
            status, text = lab.ask("POST", path, admin, body)
            need(status in (400, 401), path, body[:40], status, text)
    # Markup is text like any other: it comes back as it was.
    mark = "<img src=x onerror=alert(1)>'\"&\u202e"
    body = json.dumps({"gpus": 1, "command": "true", "name": "<b>&\"'", "tenant": "<i>t</i>"})
    status, text = lab.ask("POST", "/v1/jobs", user, body.encode())
    need(status == 200, status, text)
    job = lab.cluster.job(json.loads(text)["id"])
    need(job["name"] == "<b>&\"'" and job["tenant"] == "<i>t</i>", job)
    status, _ = lab.ask("POST", "/v1/nodes/n03/drain", lab.tokens["operator"],
                        json.dumps({"reason": mark[:-1]}).encode())
    need(status == 200 and lab.cluster.get("/v1/nodes/n03")["reason"].endswith(mark[:-1]),
         "reason")
    need(lab.ask("POST", "/v1/nodes/n03/drain", lab.tokens["operator"],
                 b'{"reason":"a\\u0000b\\n"}')[0] == 400, "a control character in a reason")
    lab.told('"what":"POST /v1/jobs"', '"what":"POST /v1/tokens"', "control character")


@check
def an_odd_number_of_gpus_harms_nobody(lab):
    """The queue may refuse what the file's reader takes: that leaves nothing behind."""
    for gpus in (9, 12, 15, 20, 24):
        status, text = lab.ask("POST", "/v1/jobs", lab.tokens["user"],
                               f"gpus: {gpus}\ncommand: 'true'\n".encode())
        need(status in (200, 400), gpus, status, text)
        lab.alive()
        if status == 200:
            number = json.loads(text)["id"]
            need(lab.ask("POST", f"/v1/jobs/{number}/cancel", lab.tokens["admin"], b"")[0] == 200,
                 "cancel")


@check
def two_thousand_requests_at_once(lab):
    source, answers = lab.address(), {}
    request = (f"GET /v1/cluster HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
               f"{lab.tokens['viewer']}\r\n\r\n").encode()
    lines = [socket.create_connection((lab.host, lab.port), timeout=60, source_address=(source, 0))
             for _ in range(200)]
    for line in lines:
        line.sendall(request * 10)
    lab.alive()
    for line in lines:
        got = b""
        while got.count(b"HTTP/1.1 ") < 10 or not got.endswith(b"\n"):
            piece = line.recv(1 << 16)
            if not piece:
                break
            got += piece
        for part in got.split(b"HTTP/1.1 ")[1:]:
            answers[part[:3]] = answers.get(part[:3], 0) + 1
        line.close()
    need(set(answers) == {b"200", b"429"} and sum(answers.values()) == 2000, answers)
    lab.told("more requests refused")
    # More connections than one address may have: the others still get theirs.
    lines = []
    try:
        for _ in range(900):
            lines.append(socket.create_connection((lab.host, lab.port), timeout=60,
                                                  source_address=(source, 0)))
        lab.alive()
    finally:
        for line in lines:
            line.close()


def hold_secrets(lab):
    cluster = lab.cluster
    secrets = [part.encode() for secret in lab.secrets for part in secret.split("@")[:1]]
    files = [lab.folder / "server.log", cluster.home / "audit.log", cluster.home / "state.db",
             *lab.folder.glob("n*.log")]
    files += [path for path in cluster.home.glob("state.db-*")]
    for path in files:
        data = path.read_bytes()
        need(not any(secret in data for secret in secrets), "a secret stands in", path)
    for pid in [cluster.server.pid] + [agent.pid for agent in cluster.agents.values()]:
        for name in ("cmdline", "environ"):
            data = pathlib.Path(f"/proc/{pid}/{name}").read_bytes()
            need(not any(secret in data for secret in secrets), f"a secret in {name} of {pid}")
    for path in (lab.folder / "server.log", cluster.home / "audit.log"):
        need(b"token=" not in path.read_bytes(), "a token in a URL")
    closed = [cluster.home / name for name in ("ca-key.pem", "server-key.pem", "admin.token",
                                               "state.db", "audit.log")]
    closed += list((lab.folder / "agents").rglob("node.pem"))
    need(len(closed) > 5, "no agent's key was found")
    for path in closed:
        mode = stat.S_IMODE(path.stat().st_mode)
        need(mode & 0o077 == 0, path, "has mode", oct(mode))
    need(stat.S_IMODE(cluster.home.stat().st_mode) == 0o700, "the server's folder is open")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("myriad")
    parser.add_argument("agent")
    parser.add_argument("papers")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 8192)), hard))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="myriad-hostile-"))
    with Cluster(options.myriad, options.agent, folder, ["n00", "n01", "n02", "n03"]) as cluster:
        need(cluster.start_server(), "the server does not start")
        cluster.start_agent("n00")
        wait_for("the node is healthy", lambda: cluster.healthy() == 1)
        lab = Lab(cluster, options.papers, folder)
        lab.job = cluster.submit("name: held\ngpus: 1\ncommand: [sleep, '1000']\n"
                                 f"env: {{FOLDER: '{folder}'}}\n")
        wait_for("it runs", lambda: cluster.job(lab.job)["state"] == "running")
        ranks, slow = sorted(cluster.ranks()), Slow(lab)
        need(len(ranks) == 1, "its processes:", ranks)
        try:
            for one in checks:
                if options.only in one.__name__:
                    begun = time.monotonic()
                    lab.written()
                    one(lab)
                    lab.alive()
                    print(f"{one.__name__}: {time.monotonic() - begun:.1f} s", flush=True)
            lab.written()
        finally:
            slow.stop = bool(sys.exc_info()[0])
            slow.finish() if not slow.stop else slow.thread.join()
        hold_secrets(lab)
        need(cluster.server.poll() is None, "the server has ended")
        job = cluster.job(lab.job)
        need(job["state"] == "running" and job["epoch"] == 1, "the job has noticed:", job)
        need(sorted(cluster.ranks()) == ranks, "its processes have changed")
        # And all that was said is read again.
        cluster.end_server()
        need(cluster.start_server(), "the server does not start again:", cluster.tail())
        wait_for("the node is back", lambda: cluster.get("/v1/nodes/n00")["state"] == "healthy")
        need(cluster.job(lab.job)["epoch"] == 1, "the job was started again")
    shutil.rmtree(folder, ignore_errors=True)
    print(f"{len(checks)} kinds of attempts, none of which did anything")


if __name__ == "__main__":
    try:
        main()
    except Failed as problem:
        sys.exit(f"hostile.py: {problem}")
