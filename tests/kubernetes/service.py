#!/usr/bin/env python3
"""The scheduler of pods against an API server of the test's own, which errs on demand.

    tests/kubernetes/service.py MYRIAD

Every request is held against what it should be, field by field, and what the scheduler counts
against what was asked of the server. A real Kubernetes: tests/kubernetes/run.py.
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

import fake

LIMIT_S = 240  # for anything to come true, on a very busy machine
TIME = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z")


def wait(what, test):
    until = time.monotonic() + LIMIT_S
    while not test():
        assert time.monotonic() < until, f"waited in vain for: {what}"
        time.sleep(0.02)


def kubeconfig(folder, port, token=fake.TOKEN):
    path = os.path.join(folder, "config")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "c",
                   "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
                   "clusters": [{"name": "k", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
                   "users": [{"name": "u", "user": {"token": token}}]}, file)
    return path


class Scheduler:
    all = []

    def __init__(self, myriad, api, *words, token=fake.TOKEN):
        self.folder = tempfile.TemporaryDirectory(prefix="myriad-kube-")
        path = kubeconfig(self.folder.name, api.port, token)
        self.child = subprocess.Popen(
            [myriad, "kubernetes", "schedule", "--kubeconfig", path, "--lost-after", "0",
             "--identity", "me", "-o", "json", *words], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.all.append(self.child)
        self.lines = []
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.child.stderr:
            self.lines.append(line.rstrip("\n"))

    def said(self, pattern):
        return [line for line in list(self.lines) if re.search(pattern, line)]

    def line(self, pattern):
        wait(f"a line with {pattern} in {self.lines}",
             lambda: self.said(pattern) or self.child.poll() is not None)
        assert self.said(pattern), (pattern, self.lines)

    def end(self):
        self.child.send_signal(signal.SIGTERM)
        out = self.child.stdout.read()
        assert self.child.wait(LIMIT_S) == 0, self.lines
        self.reader.join(LIMIT_S)
        self.child.stdout.close()
        self.child.stderr.close()
        self.folder.cleanup()
        return json.loads(out)["scheduled"][0]


def bound(api, gang, size):
    def whole():
        places = api.nodes_of(gang)
        return len(places) == size and all(places.values())
    wait(f"{gang} to be bound: {api.nodes_of(gang)}", whole)
    return api.nodes_of(gang)


def counts(api, report):
    """What the scheduler says that it asked is what was asked."""
    asked = {"lists": len([1 for row in api.asked("GET", r"/v1/(nodes|pods)$")
                           if "watch" not in row["words"]]),
             "watches": len([1 for row in api.asked("GET", r"/v1/(nodes|pods)$")
                             if "watch" in row["words"]]),
             "bindings": len(api.asked("POST", "/binding")),
             "deletions": len(api.asked("DELETE", "")), "events": len(api.asked("POST", "/events")),
             "leases": len(api.asked("GET|POST|PUT", "/leases")) or
             len([1 for row in api.requests if "/leases" in row["path"]]),
             "requests": len(api.requests)}
    assert {key: report[key] for key in asked} == asked, (report, asked)


def times_gone(body, *keys):
    """The body without its times, which are such."""
    kept = json.loads(json.dumps(body))
    for key in keys:
        assert TIME.fullmatch(kept.pop(key)), body
    return kept


def a_gang_is_bound(api, myriad):
    """Rank 0 first, with the plan of all, then the others; each request as it should be."""
    for i in range(7):
        api.add_node(f"n{i}")
    api.add_node("n7", ready="False")
    api.gang("train", 4)
    api.gang("other", 2, scheduler="default-scheduler")
    scheduler = Scheduler(myriad, api, "--lease-seconds", "60")
    places = bound(api, "train", 4)
    assert places == {f"train-{i}": f"n{i}" for i in range(4)}, places
    assert not any(api.nodes_of("other").values())
    wait("events", lambda: len(api.events) == 5)
    rows = [row for row in api.requests if "/pods/" in row["path"]]
    assert all(row["method"] == "POST" for row in rows) and len(rows) == 4, rows
    assert rows[0]["path"].endswith("/train-0/binding"), rows[0]
    plans = [row["body"]["metadata"]["annotations"].pop("myriad/plan", None) for row in rows]
    assert plans[0] and plans[1:] == [None] * 3, plans
    placement = api.kinds["pods"]["train-0"]["metadata"]["annotations"]["myriad/placement"]
    for i, row in enumerate(sorted(rows, key=lambda row: row["path"])):
        uid = api.kinds["pods"][f"train-{i}"]["metadata"]["uid"]
        assert row["path"] == f"/api/v1/namespaces/default/pods/train-{i}/binding", row
        assert row["headers"]["Content-Type"] == "application/json"
        assert row["headers"]["Host"] == f"127.0.0.1:{api.port}"
        assert row["headers"]["Accept"] == "application/json"
        assert row["headers"]["User-Agent"] == "myriad"
        assert row["body"] == {
            "apiVersion": "v1", "kind": "Binding",
            "metadata": {"name": f"train-{i}", "namespace": "default", "uid": uid, "annotations": {
                "myriad/rank": str(i), "myriad/world-size": "4", "myriad/master-addr": "10.0.0.0",
                "myriad/node": f"n{i}", "myriad/placement": placement}},
            "target": {"apiVersion": "v1", "kind": "Node", "name": f"n{i}"}}, row["body"]
    check_events(api)
    for row in api.asked("GET", r"/v1/(nodes|pods)$"):
        assert row["words"].get("limit") == "500" if "watch" not in row["words"] else \
            row["words"]["allowWatchBookmarks"] == "true" and \
            row["words"]["timeoutSeconds"] == "290" and \
            row["words"]["resourceVersion"].isdigit(), row
    assert [row["words"].get("continue") for row in api.asked("GET", "/v1/nodes$")
            if "watch" not in row["words"]] == [None, "at 3 & more", "at 6 & more"]
    check_leases(api, scheduler)
    report = scheduler.end()
    counts(api, report)
    assert api.leases["myriad"]["spec"]["holderIdentity"] == "", api.leases  # given back
    assert report["gangs_bound"] == 1 and report["pods_bound"] == 4, report
    assert (report["nodes"], report["nodes_usable"], report["pods"]) == (8, 7, 6), report
    assert report["gangs_waiting"] == report["gangs_remade"] == report["troubles"] == 0, report
    assert 0 < report["work_p50_ms"] <= report["work_p99_ms"] <= report["work_max_ms"], report
    assert abs(report["requests_per_s"] * report["seconds"] - report["requests"]) < 1, report


def check_events(api):
    said = {}
    for body in api.events:
        name = body["metadata"].pop("name")
        assert re.fullmatch(r"train(-\d)?\.[0-9a-f]+", name), name
        assert name not in said
        said[name] = times_gone(body, "firstTimestamp", "lastTimestamp")
    assert len(said) == 5, said
    for body in said.values():
        about = body["involvedObject"]
        is_pod = about["kind"] == "Pod"
        i = about["name"][-1]
        uid = api.kinds["pods"][about["name"]]["metadata"]["uid"] if is_pod else "job-train"
        text = f"Successfully assigned default/train-{i} to n{i} as rank {i} of 4" if is_pod else \
            "4 pods bound at once: rank 0 on n0, rank 3 on n3"
        assert body == {
            "apiVersion": "v1", "kind": "Event", "metadata": {"namespace": "default"},
            "involvedObject": {"apiVersion": "v1" if is_pod else "batch/v1", "kind": about["kind"],
                               "namespace": "default", "name": about["name"], "uid": uid},
            "reason": "Scheduled" if is_pod else "GangBound", "message": text, "type": "Normal",
            "source": {"component": "myriad"}, "count": 1}, body


def check_leases(api, scheduler):
    rows = [row for row in api.requests if "/leases" in row["path"]]
    top = "/apis/coordination.k8s.io/v1/namespaces/myriad/leases"
    assert [(row["method"], row["path"]) for row in rows[:2]] == \
        [("GET", top + "/myriad"), ("POST", top)], rows
    spec = times_gone(rows[1]["body"]["spec"], "acquireTime", "renewTime")
    assert spec == {"holderIdentity": "me", "leaseDurationSeconds": 60, "leaseTransitions": 0}, spec
    assert rows[1]["body"]["kind"] == "Lease"
    assert rows[1]["body"]["apiVersion"] == "coordination.k8s.io/v1"
    assert rows[1]["body"]["metadata"]["name"] == "myriad"
    assert rows[1]["body"]["metadata"]["namespace"] == "myriad"
    assert scheduler.said("info holds the lease myriad/myriad: binds from here on")
    assert scheduler.said(r"Kubernetes 1\.29\+$")


def words_in_protobuf_are_followed(api, myriad):
    """Pods are followed in protobuf where it is spoken, and in JSON after a word that is none."""
    api.protobuf = True
    for i in range(8):
        api.add_node(f"n{i}")
    scheduler = Scheduler(myriad, api)

    def watches(kind):
        return [row["headers"]["Accept"] for row in api.asked("GET", f"/v1/{kind}$")
                if "watch" in row["words"]]
    wait("both watches", lambda: api.followers["nodes"] and api.followers["pods"])
    assert watches("pods") == ["application/vnd.kubernetes.protobuf, application/json"]
    assert watches("nodes") == ["application/json"]
    api.gang("train", 4)  # in words alone: they come behind the list
    assert bound(api, "train", 4) == {f"train-{i}": f"n{i}" for i in range(4)}
    scheduler.line("bound default/train/job-train: 4 pods")
    lists = len(api.asked("GET", "/v1/pods$"))
    api.tell("pods", b"\0\0\0\7\n\5ADDED")
    wait("a watch in JSON", lambda: watches("pods")[1:])
    assert watches("pods")[1:] == ["application/json"]
    assert len(api.asked("GET", "/v1/pods$")) > lists + 1  # what the word said is in a list
    api.gang("more", 4)
    bound(api, "more", 4)
    scheduler.line("bound default/more/job-more: 4 pods")
    report = scheduler.end()
    assert report["gangs_bound"] == 2 and report["troubles"] == 0, report
    counts(api, report)


def who_finds_no_room_is_told_why(api, myriad):
    """Every pod and the Job hear it; with a node more the gang is bound."""
    for i in range(3):
        api.add_node(f"n{i}")
    api.gang("wide", 4)
    scheduler = Scheduler(myriad, api, "--alone")
    scheduler.line(r"waits default/wide\S*: 4 pods need a place at once")
    wait("events", lambda: len(api.events) >= 5)
    told = sorted((body["reason"], body["type"], body["involvedObject"]["name"])
                  for body in api.events[:5])
    assert told == [("FailedScheduling", "Warning", f"wide-{i}") for i in range(4)] + \
        [("GangWaits", "Warning", "wide")], told
    assert all("4 pods need a place at once" in body["message"] for body in api.events[:5])
    api.add_node("n3")
    bound(api, "wide", 4)
    scheduler.line("bound default/wide")
    report = scheduler.end()
    assert not [row for row in api.requests if "/leases" in row["path"]]
    assert report["leases"] == 0 and report["gangs_bound"] == 1, report


def what_goes_wrong_is_asked_again(api, myriad):
    """An error of the server, answers that are lost, a pod that has changed: bound in the end."""
    for i in range(4):
        api.add_node(f"n{i}")
    api.faults = [["POST", "odd-1/binding", (500, "etcd is away")],
                  ["POST", "odd-0/binding", "drop"], ["POST", "odd-1/binding", "drop"],
                  ["POST", "late-0/binding", (409, "the object has been modified")],
                  ["POST", "/events", (403, "events is forbidden")]]
    api.gang("odd", 2)
    scheduler = Scheduler(myriad, api, "--alone", "--timeout", "60")
    places = bound(api, "odd", 2)
    scheduler.line("bound default/odd")
    assert scheduler.said(r"warning http://127\.0\.0\.1:\d+: POST \S+/odd-1: status 500: etcd is")
    assert len(api.asked("POST", "odd-1/binding")) == 3, api.requests
    # The binding came true and its answer was lost: asked again, refused, looked at, ours.
    assert len(api.asked("POST", "odd-0/binding")) == 2, api.requests
    assert len(api.asked("GET", "odd-0$")) == 1
    assert places == {"odd-0": "n0", "odd-1": "n1"}, places
    api.gang("late", 2)
    assert bound(api, "late", 2) == {"late-0": "n2", "late-1": "n3"}
    scheduler.line("late.*has changed meanwhile, decided again")
    scheduler.line("bound default/late")
    scheduler.line(r"forbidden: events is forbidden \(hint: kubectl apply -f packaging")
    report = scheduler.end()
    assert report["gangs_bound"] == 2 and report["troubles"] >= 2, report


def watches_that_end_are_begun_again(api, myriad):
    """An ended watch goes on at its version; one that has expired is listed anew."""
    for i in range(4):
        api.add_node(f"n{i}")
    scheduler = Scheduler(myriad, api, "--alone")
    wait("watches", lambda: all(api.followers.values()))
    time.sleep(1.1)  # a watch that ends at once is trouble; this one has lived
    api.end_watches()
    wait("others", lambda: len(api.asked("GET", "/v1/pods$")) == 3)
    assert len([1 for row in api.asked("GET", "/v1/pods$") if "watch" in row["words"]]) == 2
    wait("watches", lambda: all(api.followers.values()))
    api.gang("a", 2)
    bound(api, "a", 2)
    scheduler.line("bound default/a")
    time.sleep(1.1)
    last = max(int(pod["metadata"]["resourceVersion"]) for pod in api.kinds["pods"].values())
    api.end_watches()

    def third():
        rows = [row for row in api.asked("GET", "/v1/pods$") if "watch" in row["words"]]
        return len(rows) == 3 and rows[2]["words"]["resourceVersion"]
    wait("a third", third)
    assert third() == str(last), (third(), last)  # it goes on where it has heard up to
    wait("watches", lambda: all(api.followers.values()))
    gone = json.dumps({"type": "ERROR", "object": {"kind": "Status", "code": 410,
                                                   "message": "too old resource version"}})
    time.sleep(1.1)
    api.tell("pods", gone.encode() + b"\n")
    wait("a list", lambda: len([1 for row in api.asked("GET", "/v1/pods$")
                                if "watch" not in row["words"]]) >= 2)
    api.gang("b", 2)
    bound(api, "b", 2)
    scheduler.line("bound default/b")
    wait("events", lambda: len(api.events) == 6)
    report = scheduler.end()
    assert report["expired"] == 1 and report["troubles"] == 0, (report, scheduler.lines)
    counts(api, report)


def a_lost_node_makes_the_gang_anew(api, myriad):
    """Its pods are deleted, and only those; the Job's new ones are bound elsewhere."""
    for i in range(5):
        api.add_node(f"n{i}")
    api.gang("long", 3)
    api.gang("safe", 1)
    scheduler = Scheduler(myriad, api, "--alone")
    before = bound(api, "long", 3)
    bound(api, "safe", 1)
    scheduler.line("bound default/long")
    uids = {name: pod["metadata"]["uid"] for name, pod in api.kinds["pods"].items()}
    api.add_node(before["long-1"], ready="False")
    wait("deletions", lambda: len(api.asked("DELETE", "")) == 3)
    for row in api.asked("DELETE", ""):
        name = row["path"].rsplit("/", 1)[1]
        assert row["body"] == {"apiVersion": "v1", "kind": "DeleteOptions",
                               "preconditions": {"uid": uids[name]}}, row
    after = bound(api, "long", 3)
    assert before["long-1"] not in after.values(), after
    scheduler.line("warning remade default/long")
    wait("an event", lambda: [1 for body in api.events if body["reason"] == "GangRemade"])
    body = [body for body in api.events if body["reason"] == "GangRemade"][0]
    assert before["long-1"] in body["message"] and body["type"] == "Warning", body
    assert body["involvedObject"]["name"] == "long", body
    scheduler.line("bound default/long.*")
    wait("the second", lambda: len(scheduler.said("bound default/long")) == 2)
    report = scheduler.end()
    assert report["gangs_remade"] == 1 and report["deletions"] == 3, report
    assert report["gangs_bound"] == 3, report


def one_of_two_holds_the_lease(api, myriad):
    """Nothing is bound while another one renews; when it is silent the lease is taken."""
    api.add_node("n0")
    api.gang("one", 1)
    api.leases["myriad"] = {"kind": "Lease", "metadata": {"name": "myriad", "resourceVersion": "7"},
                            "spec": {"holderIdentity": "somebody", "leaseDurationSeconds": 3,
                                     "leaseTransitions": 4,
                                     "renewTime": "2026-11-16T08:59:58.000000Z"}}
    begun = time.monotonic()
    scheduler = Scheduler(myriad, api, "--lease-seconds", "3")
    bound(api, "one", 1)
    assert time.monotonic() - begun >= 3
    puts = api.asked("PUT", "/leases/myriad")
    assert puts[0]["body"]["spec"]["leaseTransitions"] == 5, puts[0]
    assert puts[0]["body"]["spec"]["holderIdentity"] == "me"
    wait("a renewal", lambda: len(api.asked("PUT", "/leases/myriad")) >= 2)
    assert api.asked("PUT", "/leases/myriad")[1]["body"]["spec"]["leaseTransitions"] == 5
    # Somebody takes it by force: renewals are refused from then on.
    with api.lock:
        api.version += 1
        api.leases["myriad"]["metadata"]["resourceVersion"] = str(api.version)
        api.leases["myriad"]["spec"]["holderIdentity"] = "somebody"
    scheduler.line("the lease could not be renewed")
    scheduler.end()
    assert api.leases["myriad"]["spec"]["holderIdentity"] == "somebody"


def who_is_not_let_in_says_so_once(api, myriad):
    """Credentials that are refused, a server that is too old: one line each, and asked again."""
    scheduler = Scheduler(myriad, api, "--alone", token="wrong")
    scheduler.line(r"warning http://\S+: the credentials of \S+ are not accepted \(401")
    wait("another", lambda: len(api.asked("GET", "/version")) >= 2)
    assert len(scheduler.said("not accepted")) == 1, scheduler.lines
    assert scheduler.end()["troubles"] == 1
    api.release = {"major": "1", "minor": "15"}
    scheduler = Scheduler(myriad, api, "--alone")
    scheduler.line(r"speaks Kubernetes 1\.15; Kubernetes 1\.16 or later")
    api.release["minor"] = "16"
    scheduler.line(r"info http://\S+: well again")
    wait("a watch", lambda: api.followers["pods"])
    assert scheduler.end()["lists"] == 2
    with tempfile.TemporaryDirectory(prefix="myriad-kube-") as folder:
        done = subprocess.run(
            [myriad, "kubernetes", "schedule", "--kubeconfig", kubeconfig(folder, fake.nobody()),
             "--alone", "--stop-after", "1"], capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL, timeout=LIMIT_S)
    assert done.returncode == 0, done
    assert re.fullmatch(
        r"bound     0 gangs, 0 pods; 0 gangs made again\n"
        r"requests  1, [01]\.\d\d a second; 0\.00 a second at idle, without the lease\n"
        r"own work  0\.000 ms a gang \(p50\), 0\.000 ms \(p99\): measured\n", done.stdout), done
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z warning "
                        r"http://127\.0\.0\.1:\d+: connection refused\n", done.stderr), done


def a_job_file_becomes_a_job(api, myriad):
    """What is posted, what is said of it, and one line for each way in which it is refused."""
    with tempfile.TemporaryDirectory(prefix="myriad-kube-") as folder:
        config, job = kubeconfig(folder, api.port), os.path.join(folder, "job.yaml")
        with open(job, "w", encoding="utf-8") as file:
            file.write("name: train\ngpus: 16\nimage: busybox\ncommand: date\n")

        def submit(*words):
            done = subprocess.run([myriad, "submit", job, "--kubeconfig", config, "-o", "json",
                                   *words], capture_output=True, text=True, check=False,
                                  stdin=subprocess.DEVNULL, timeout=LIMIT_S)
            return done.returncode, done.stdout, done.stderr

        code, out, err = submit("--namespace", "team")
        assert code == 0, err
        row = api.asked("POST", "/jobs$")[0]
        assert row["path"] == "/apis/batch/v1/namespaces/team/jobs", row
        assert row["headers"]["Content-Type"] == "application/json"
        made = row["body"]
        name = made["metadata"]["name"]
        assert re.fullmatch(r"train-[0-9a-f]{8}", name), name
        assert (made["kind"], made["apiVersion"]) == ("Job", "batch/v1")
        assert made["spec"]["parallelism"] == made["spec"]["completions"] == 2, made["spec"]
        pod = made["spec"]["template"]
        assert pod["spec"]["schedulerName"] == "myriad", pod
        assert pod["metadata"]["annotations"]["myriad/gang-size"] == "2", pod
        limits = pod["spec"]["containers"][0]["resources"]["limits"]
        assert limits["nvidia.com/gpu"] in (8, "8"), limits
        answer = json.loads(out)
        assert answer["jobs"] == [] and answer["kubernetes"] == [
            {"id": name, "name": name, "namespace": "team", "uid": "made-1", "pods": 2,
             "state": "queued"}], answer
        assert submit()[0] == 0
        assert api.asked("POST", "/jobs$")[1]["path"].split("/")[5] == "default"
        for fault, said in (((401, ""), "are not accepted (401 Unauthorized)"),
                            ((403, "jobs is forbidden"), "forbidden: jobs is forbidden"),
                            ((404, ""), "does not serve batch/v1 (404)"),
                            ((404, "no such namespace"), "status 404: no such namespace"),
                            ((409, "it\nis there"), "status 409: it is there"),
                            ((429, "too many"), "status 429: too many"),
                            ((422, "bad"), "status 422: bad"), ((503, "away"), "status 503: away"),
                            ("garbage", "does not speak HTTP"),
                            ("drop", "closed without an answer")):
            api.faults = [["POST", "/jobs$", fault]]
            code, out, err = submit()
            assert code in (1, 2, 3) and out == "", (fault, code, out)
            line = err.splitlines()[0]
            assert said in line and f"http://127.0.0.1:{api.port}" in line, (fault, err)
        kubeconfig(folder, fake.nobody())
        code, out, err = submit()
        assert code == 3 and out == "" and len(err.splitlines()) <= 2, (code, err)


TESTS = (a_job_file_becomes_a_job, a_gang_is_bound, words_in_protobuf_are_followed,
         who_finds_no_room_is_told_why,
         what_goes_wrong_is_asked_again,
         watches_that_end_are_begun_again, a_lost_node_makes_the_gang_anew,
         one_of_two_holds_the_lease, who_is_not_let_in_says_so_once)


def main():
    myriad = os.path.abspath(sys.argv[1])
    unknown = set(sys.argv[2:]) - {test.__name__ for test in TESTS}
    assert not unknown, f"no such tests: {unknown}"
    for test in TESTS:
        if len(sys.argv) > 2 and test.__name__ not in sys.argv[2:]:
            continue
        api = fake.Api()
        try:
            test(api, myriad)
        finally:
            for child in Scheduler.all:
                if child.poll() is None:
                    child.kill()
            api.stop()
        print(f"{test.__name__}: ok", flush=True)


if __name__ == "__main__":
    main()
