"""A real Kubernetes on loopback: etcd, API server, controller manager, stock scheduler, nodes.

The programs are those of scripts/kubernetes. Everything that is started is stopped by its process
id. Nodes are hollow kubelets, which run pods as fakes, or objects alone, made by POST.
"""
import base64
import http.client
import json
import os
import re
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "tests/server"))
from ports import free_ports  # noqa: E402

LIMIT_S = 240  # for anything to come true, on a very busy machine
MYRIAD = "system:serviceaccount:myriad:myriad"


def programs():
    """The folder of the programs, or None."""
    found = subprocess.run([ROOT / "scripts/kubernetes", "--where"], capture_output=True, text=True,
                           check=False)
    return Path(found.stdout.strip()) if found.returncode == 0 else None


def wait(what, test, limit_s=LIMIT_S, step_s=0.1):
    """Until test() is true; what it gave."""
    until = time.monotonic() + limit_s
    while True:
        got = test()
        if got:
            return got
        assert time.monotonic() < until, f"waited {limit_s} s in vain for: {what}"
        time.sleep(step_s)


class Refused(Exception):
    def __init__(self, status, body):
        super().__init__(f"{status}: {body[:300]}")
        self.status, self.body = status, body


class Kubernetes:
    def __init__(self, top, binaries, rbac=True):
        self.top, self.bin, self.rbac = Path(top), Path(binaries), rbac
        self.children = []
        self.local = threading.local()
        self.ports = {name: free_ports() for name in
                      ("etcd", "peer", "api", "controllers", "scheduler")}
        self.url = f"https://127.0.0.1:{self.ports['api']}"
        self._papers()
        self.context = ssl.create_default_context(cafile=str(self.top / "ca.crt"))

    # --- processes

    def start(self, name, words, log=None):
        out = open(self.top / f"{log or name}.log", "ab")
        child = subprocess.Popen([str(word) for word in words], cwd=self.top,
                                 stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        out.close()
        child.name = name
        self.children.append(child)
        return child

    def stop(self, child, how=signal.SIGKILL):
        if child.poll() is None:
            child.send_signal(signal.SIGCONT)
            child.send_signal(how)
        child.wait(timeout=60)
        if child in self.children:
            self.children.remove(child)

    def close(self):
        for child in reversed(list(self.children)):
            self.stop(child)

    # --- papers

    def openssl(self, *words):
        subprocess.run(["openssl", *[str(word) for word in words]], cwd=self.top, check=True,
                       capture_output=True)

    def certificate(self, name, subject, extension, days=30):
        """A certificate of the lab's authority, with its key."""
        self.openssl("genrsa", "-out", f"{name}.key", "2048")
        self.openssl("req", "-new", "-key", f"{name}.key", "-subj", subject, "-out", f"{name}.csr")
        (self.top / f"{name}.ext").write_text(extension)
        self.openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key",
                     "-CAcreateserial", "-days", days, "-extfile", f"{name}.ext", "-out",
                     f"{name}.crt")

    def _papers(self):
        self.openssl("genrsa", "-out", "sa.key", "2048")
        self.openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out",
                     "ca.crt", "-days", "30", "-subj", "/CN=lab")
        self.serving()
        self.certificate("person", "/O=system:masters/CN=person", "extendedKeyUsage=clientAuth\n")
        (self.top / "tokens.csv").write_text(
            'secret,admin,1,system:masters\n'
            f'scheduler-token,{MYRIAD},2,"system:serviceaccounts,system:authenticated"\n'
            'nobody-token,nobody,3\n')
        self.admin = self.kubeconfig("admin", token="secret")
        self.scheduler = self.kubeconfig("myriad", token="scheduler-token")

    def serving(self, days=30):
        self.certificate("server", "/CN=kubernetes",
                         "subjectAltName=IP:127.0.0.1,DNS:localhost\nextendedKeyUsage=serverAuth\n",
                         days)

    def kubeconfig(self, name, token=None, certificate=None, url=None):
        def inline(path):
            return base64.b64encode((self.top / path).read_bytes()).decode()
        user = {"token": token} if token else {
            "client-certificate-data": inline(f"{certificate}.crt"),
            "client-key-data": inline(f"{certificate}.key")}
        config = {"apiVersion": "v1", "kind": "Config", "current-context": "lab",
                  "clusters": [{"name": "lab", "cluster": {"server": url or self.url,
                                "certificate-authority": "ca.crt"}}],
                  "users": [{"name": "user", "user": user}],
                  "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "user"}}]}
        path = self.top / f"{name}.kubeconfig"
        path.write_text(json.dumps(config))
        return path

    # --- the control plane

    def start_etcd(self):
        client, peer = (f"http://127.0.0.1:{self.ports[name]}" for name in ("etcd", "peer"))
        self.etcd = self.start("etcd", [
            "etcd", "--name", "e", "--data-dir", "etcd", "--listen-client-urls", client,
            "--advertise-client-urls", client, "--listen-peer-urls", peer,
            "--initial-advertise-peer-urls", peer, "--initial-cluster", f"e={peer}",
            "--unsafe-no-fsync"])

    def start_api(self, *more):
        self.api = self.start("kube-apiserver", [
            self.bin / "kube-apiserver", "--etcd-servers", f"http://127.0.0.1:{self.ports['etcd']}",
            "--tls-cert-file", "server.crt", "--tls-private-key-file", "server.key",
            "--client-ca-file", "ca.crt", "--secure-port", self.ports["api"],
            "--bind-address", "127.0.0.1", "--token-auth-file", "tokens.csv",
            "--authorization-mode", "RBAC" if self.rbac else "AlwaysAllow",
            "--service-account-issuer", "https://k", "--service-account-key-file", "sa.key",
            "--service-account-signing-key-file", "sa.key",
            "--service-cluster-ip-range", "10.99.0.0/24",
            "--disable-admission-plugins", "ServiceAccount",
            "--max-requests-inflight", "2000", "--max-mutating-requests-inflight", "1000", *more])

    def ready(self):
        def healthy():
            assert self.api.poll() is None, (self.top / "kube-apiserver.log").read_text()[-2000:]
            try:
                return self.get("/readyz", raw=True) == "ok"
            except (OSError, http.client.HTTPException, Refused):
                return False
        wait("the API server", healthy)

    def start_controllers(self, *more):
        self.controller_words = more
        self.controllers = self.start("kube-controller-manager", [
            self.bin / "kube-controller-manager", "--kubeconfig", self.admin,
            "--service-account-private-key-file", "sa.key", "--secure-port",
            self.ports["controllers"], "--bind-address", "127.0.0.1", "--port", "0",
            "--leader-elect=false", "--kube-api-qps", "500", "--kube-api-burst", "1000",
            *more])

    def start_scheduler(self):
        self.stock = self.start("kube-scheduler", [
            self.bin / "kube-scheduler", "--kubeconfig", self.admin, "--secure-port",
            self.ports["scheduler"], "--bind-address", "127.0.0.1", "--port", "0",
            "--leader-elect=false"])

    def start_hollow(self, name):
        port, read_only = free_ports(), free_ports()
        return self.start(f"hollow-{name}", [
            self.bin / "kubemark", "--morph=kubelet", f"--name={name}", "--kubeconfig", self.admin,
            f"--kubelet-port={port}", f"--kubelet-read-only-port={read_only}", "--v=0"],
            log="hollow")

    def begin(self, controllers=(), scheduler=True):
        self.start_etcd()
        self.start_api()
        self.ready()
        self.apply((ROOT / "packaging/kubernetes/rbac.yaml"))
        self.start_controllers(*controllers)
        if scheduler:
            self.start_scheduler()

    # --- requests

    def ask(self, method, path, body=None, kind="application/json", token="secret", raw=False):
        """Over a connection of this thread's own, kept."""
        headers = {"Authorization": f"Bearer {token}", "Content-Type": kind}
        data = None if body is None else json.dumps(body)
        for attempt in range(3):
            line = getattr(self.local, "line", None)
            if line is None:
                line = self.local.line = http.client.HTTPSConnection(
                    "127.0.0.1", self.ports["api"], context=self.context, timeout=60)
            try:
                line.request(method, path, data, headers)
                answer = line.getresponse()
                text = answer.read().decode()
                break
            except (OSError, http.client.HTTPException):
                line.close()
                self.local.line = None
                if attempt == 2:
                    raise
        if answer.status >= 300:
            raise Refused(answer.status, text)
        return text if raw else json.loads(text)

    def get(self, path, **more):
        return self.ask("GET", path, **more)

    def post(self, path, body, **more):
        return self.ask("POST", path, body, **more)

    def kubectl(self, *words, text=None, code=0):
        result = subprocess.run([self.bin / "kubectl", "--kubeconfig", self.admin, *words],
                                capture_output=True, text=True, input=text, cwd=self.top,
                                timeout=LIMIT_S, check=False)
        assert result.returncode == code, f"kubectl {words}: {result.stderr}"
        return result.stdout

    def apply(self, path):
        return self.kubectl("apply", "-f", str(path))

    # --- nodes by POST

    def make_node(self, name, gpus=8, labels=None, taints=None, cpu="64", memory="1024Gi"):
        amounts = {"cpu": cpu, "memory": memory, "pods": "110", "nvidia.com/gpu": str(gpus)}
        number = int(re.sub(r"\D", "", name) or 0)
        self.post("/api/v1/nodes", {
            "metadata": {"name": name,
                         "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
            "spec": {"taints": taints or []},
            "status": {"capacity": amounts, "allocatable": amounts,
                       "addresses": [{"type": "InternalIP",
                                      "address": f"10.{number // 65536}.{number // 256 % 256}."
                                                 f"{number % 256}"}],
                       "conditions": [self.condition("True")]}})

    @staticmethod
    def condition(status):
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        return {"type": "Ready", "status": status, "reason": "Lab", "lastHeartbeatTime": now,
                "lastTransitionTime": now}

    def set_ready(self, name, status):
        self.ask("PATCH", f"/api/v1/nodes/{name}/status",
                 {"status": {"conditions": [self.condition(status)]}},
                 kind="application/strategic-merge-patch+json")

    def make_nodes(self, names, **more):
        names = list(names)
        each = [names[i::8] for i in range(8)]
        failures = []

        def work(part):
            try:
                for name in part:
                    self.make_node(name, **more)
            except Exception as failure:  # told below
                failures.append(failure)
        threads = [threading.Thread(target=work, args=(part,)) for part in each]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures, failures[0]

    # --- jobs and pods

    def job(self, name, pods, gpus=8, scheduler="myriad", gang=True, priority=None, **spec):
        annotations = {"myriad/gang": name, "myriad/gang-size": str(pods)} if gang else {}
        if priority is not None:
            annotations["myriad/priority"] = str(priority)
        body = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
                "spec": {"parallelism": pods, "completions": pods, "backoffLimit": 20, "template": {
                    "metadata": {"annotations": annotations},
                    "spec": {"schedulerName": scheduler, "restartPolicy": "Never",
                             "hostNetwork": True,
                             "containers": [{"name": "c", "image": "x", "resources": {
                                 "limits": {"nvidia.com/gpu": str(gpus)}}}], **spec}}}}
        return self.post("/apis/batch/v1/namespaces/default/jobs", body)

    def pod(self, name, annotations, gpus=8):
        """One of nobody's."""
        return self.post("/api/v1/namespaces/default/pods", {
            "metadata": {"name": name, "annotations": annotations},
            "spec": {"schedulerName": "myriad", "hostNetwork": True, "containers": [
                {"name": "c", "image": "x",
                 "resources": {"limits": {"nvidia.com/gpu": str(gpus)}}}]}})

    def pods(self, job=None, space="default"):
        query = f"?labelSelector=job-name%3D{job}" if job else ""
        return self.get(f"/api/v1/namespaces/{space}/pods{query}")["items"]

    def live(self, job):
        return [pod for pod in self.pods(job) if "deletionTimestamp" not in pod["metadata"]
                and pod["status"].get("phase") not in ("Failed", "Succeeded")]

    def delete_job(self, name):
        self.ask("DELETE", f"/apis/batch/v1/namespaces/default/jobs/{name}",
                 {"propagationPolicy": "Background"})
        wait(f"the end of {name}", lambda: not self.pods(name) or self._force(name))

    def _force(self, name):
        """Nodes without a kubelet never say that a pod has ended."""
        for pod in self.pods(name):
            try:
                self.ask("DELETE", f"/api/v1/namespaces/default/pods/{pod['metadata']['name']}",
                         {"gracePeriodSeconds": 0})
            except Refused as refused:
                assert refused.status == 404, refused
        return False

    def events(self, kind, name):
        return [event for event in self.get("/api/v1/namespaces/default/events")["items"]
                if event["involvedObject"]["kind"] == kind
                and event["involvedObject"]["name"] == name]


class Scheduler:
    """`myriad kubernetes schedule`, its lines, and its report."""

    def __init__(self, lab, myriad, *words, kubeconfig=None, name="myriad"):
        self.lab = lab
        self.err = lab.top / f"{name}-{time.monotonic_ns()}.err"
        self.out = self.err.with_suffix(".out")
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith(("MYRIAD_", "KUBE"))}
        with open(self.err, "w") as err, open(self.out, "w") as out:
            self.child = subprocess.Popen(
                [myriad, "kubernetes", "schedule", "--kubeconfig",
                 str(kubeconfig or lab.scheduler), "-o", "json", *words], stdin=subprocess.DEVNULL,
                stdout=out, stderr=err, cwd=lab.top, env=environment)
        self.child.name = name
        lab.children.append(self.child)

    def lines(self):
        return self.err.read_text().splitlines()

    def line(self, pattern, limit_s=LIMIT_S):
        """Waits for a line; the lines that match."""
        return wait(f"a line {pattern!r} in {self.err.name}: {self.lines()[-5:]}", lambda: [
            line for line in self.lines() if re.search(pattern, line)], limit_s)

    def end(self):
        """SIGTERM, and its report."""
        self.lab.stop(self.child, signal.SIGTERM)
        assert self.child.returncode == 0, (self.child.returncode, self.lines()[-5:])
        return json.loads(self.out.read_text())["scheduled"][0]

    def kill(self):
        self.lab.stop(self.child, signal.SIGKILL)


def check_gang(pods, size):
    """The whole gang is bound, each rank once, with the same plan; its nodes in rank order."""
    assert len(pods) == size, (len(pods), size)
    notes = [pod["metadata"]["annotations"] for pod in pods]
    ranks = sorted(int(note["myriad/rank"]) for note in notes)
    assert ranks == list(range(size)), ranks
    assert {note["myriad/world-size"] for note in notes} == {str(size)}
    assert len({note["myriad/placement"] for note in notes}) == 1
    assert len({note["myriad/master-addr"] for note in notes}) == 1
    for pod, note in zip(pods, notes):
        assert pod["spec"]["nodeName"] == note["myriad/node"], (pod["spec"], note)
    by_rank = sorted(pods, key=lambda pod: int(pod["metadata"]["annotations"]["myriad/rank"]))
    return [pod["spec"]["nodeName"] for pod in by_rank]


def bound(lab, job, size):
    """The gang's nodes in rank order, once all of it is bound."""
    def whole():
        pods = lab.live(job)
        return pods if len(pods) == size and all(pod["spec"].get("nodeName") for pod in pods) \
            else None
    return check_gang(wait(f"{job} bound whole", whole, step_s=0.2), size)


def natural(name):
    return [int(word) if word.isdigit() else word for word in re.split(r"(\d+)", name)]


def lab_folder():
    return tempfile.TemporaryDirectory(prefix="myriad-kubernetes-")


def say(text):
    print(text, flush=True)


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)
