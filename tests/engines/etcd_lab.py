"""Three members of etcd on loopback, started and ended by pid; with TLS where there are papers."""
import pathlib
import signal
import ssl
import subprocess
import sys
import urllib.request
import json

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import slurm_lab  # noqa: E402,F401  (the way to what tests/server has)
from cluster import LIMIT_S, Failed, wait_for  # noqa: E402
from ports import free_ports  # noqa: E402


class Papers:
    """An authority of its own in a folder, and what it has signed: NAME.crt, NAME.key."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out",
                     "ca.crt", "-days", "30", "-subj", f"/CN={self.folder.name}")

    def openssl(self, *words):
        subprocess.run(["openssl", *map(str, words)], cwd=self.folder, check=True,
                       capture_output=True)

    def sign(self, name, days=30, key=None):
        """Good for a server and for a client of it: a member asks itself. A friend has no common
        name, beside which a member that has users takes no password. 'key': of somebody else."""
        (self.folder / "ext").write_text("subjectAltName=IP:127.0.0.1\n"
                                         "extendedKeyUsage=serverAuth,clientAuth\n")
        (self.folder / f"{name}.key").unlink(missing_ok=True)
        if key:
            (self.folder / f"{name}.key").symlink_to(key)
        else:
            self.openssl("genrsa", "-out", f"{name}.key", "2048")
        self.openssl("req", "-new", "-key", f"{name}.key", "-out", f"{name}.csr", "-subj",
                     f"/{'O' if name == 'friend' else 'CN'}={name}")
        self.openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key",
                     "-CAcreateserial", "-days", days, "-extfile", "ext", "-out", f"{name}.crt")

    def path(self, name):
        return self.folder / name


class Etcd:
    def __init__(self, folder, members=3, more=(), papers=None):
        self.folder = pathlib.Path(folder)
        self.more = [str(word) for word in more]
        self.context = None
        if papers:  # of which "member" is theirs, and "friend" that of this test
            self.more += ["--cert-file", papers.path("member.crt"), "--key-file",
                          papers.path("member.key"), "--client-cert-auth", "--trusted-ca-file",
                          papers.path("ca.crt")]
            self.context = ssl.create_default_context(cafile=papers.path("ca.crt"))
            self.context.load_cert_chain(papers.path("friend.crt"), papers.path("friend.key"))
        first = free_ports(2 * members)
        scheme = "https" if papers else "http"
        self.clients = [f"{scheme}://127.0.0.1:{first + 2 * i}" for i in range(members)]
        self.peers = [f"http://127.0.0.1:{first + 2 * i + 1}" for i in range(members)]
        self.processes = [None] * members
        self.joined = [False] * members

    def __enter__(self):
        try:
            for i in range(len(self.clients)):
                self.start(i)
            wait_for("etcd has a leader", self.leader_or_none)
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self, i):
        at = self.folder / f"etcd{i}"
        at.mkdir(parents=True, exist_ok=True)
        cluster = ",".join(f"m{k}={url}" for k, url in enumerate(self.peers))
        with open(self.folder / f"etcd{i}.log", "ab") as log:
            self.processes[i] = subprocess.Popen(
                ["etcd", "--name", f"m{i}", "--data-dir", at / "data",
                 "--listen-client-urls", self.clients[i],
                 "--advertise-client-urls", self.clients[i],
                 "--listen-peer-urls", self.peers[i],
                 "--initial-advertise-peer-urls", self.peers[i], "--initial-cluster", cluster,
                 "--initial-cluster-state", "existing" if self.joined[i] else "new",
                 "--logger=zap", *self.more],
                stdout=log, stderr=log)
        self.joined[i] = True

    def kill(self, i):
        self.processes[i].send_signal(signal.SIGKILL)
        self.processes[i].wait(LIMIT_S)

    def stop(self):
        for process in self.processes:
            if process and process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
                process.wait(LIMIT_S)

    def call(self, i, path, body, token=None, limit_s=LIMIT_S):
        request = urllib.request.Request(self.clients[i] + "/v3/" + path,
                                         data=json.dumps(body).encode(),
                                         headers={"Authorization": token} if token else {})
        with urllib.request.urlopen(request, timeout=limit_s, context=self.context) as answer:
            return json.loads(answer.read())

    def status(self, i):
        try:
            return self.call(i, "maintenance/status", {}, limit_s=5)
        except (OSError, ValueError):
            return {}

    def leader_or_none(self):
        """The number of the member that leads, counted from 1."""
        for i in range(len(self.clients)):
            status = self.status(i)
            if status.get("leader") and status["leader"] == status["header"]["member_id"]:
                return i + 1
        return None

    def leader(self):
        return wait_for("etcd has a leader", self.leader_or_none) - 1

    def size(self, i=0):
        return int(self.status(i).get("dbSize", 0))


def members_of(etcd):
    return ",".join(etcd.clients)


__all__ = ["Etcd", "Failed", "Papers", "members_of", "wait_for"]
