"""One who means harm: requests, connections and certificates of every wrong kind."""
import http.client
import json
import pathlib
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "agent"))
import wire  # noqa: E402
from cluster import LIMIT_S, Failed, wait_for  # noqa: E402

ROLES = ("none", "viewer", "user", "operator", "admin")
SLOW_CONNECTIONS = 200


def need(truth, *words):
    if not truth:
        raise Failed(" ".join(str(word)[:600] for word in words))


class Lab:
    def __init__(self, cluster, papers, folder):
        self.cluster, self.papers, self.folder = cluster, papers, folder
        self.secrets, self.tokens, self.addresses = [cluster.token], {}, 1
        self.host, port = cluster.url.split("/")[2].split(":")
        self.port = int(port)
        self.marks = {}
        for role in ROLES[1:]:
            self.tokens[role] = self.give("/v1/tokens", {"user": f"the-{role}", "role": role,
                                                         "unix_user": "nobody"})

    def give(self, path, body):
        token = self.cluster.post(path, body)["token"]
        self.secrets.append(token)
        return token

    def address(self):
        """One that nobody has used: limits go by address."""
        self.addresses += 1
        return f"127.0.{self.addresses // 250}.{self.addresses % 250 + 2}"

    def ask(self, method, path, token=None, body=None, headers=(), source=None):
        """(status, body) of one request; of a stream of events the status alone."""
        line = http.client.HTTPConnection(self.host, self.port, timeout=LIMIT_S,
                                          source_address=(source or self.address(), 0))
        words = dict(headers)
        if token:
            words["Authorization"] = "Bearer " + token
        try:
            line.request(method, path, body=body, headers=words)
            answer = line.getresponse()
            text = b"" if "event-stream" in answer.headers.get("Content-Type", "") \
                else answer.read()
            return answer.status, text
        finally:
            line.close()

    def raw(self, data, half=False):
        """What comes back for these bytes, up to the end."""
        with socket.create_connection((self.host, self.port), timeout=LIMIT_S,
                                      source_address=(self.address(), 0)) as line:
            got = b""
            try:
                line.settimeout(2 if half else LIMIT_S)  # one that waits for more has not answered
                line.sendall(data)
                if half:
                    line.shutdown(socket.SHUT_WR)
                while piece := line.recv(1 << 16):
                    got += piece
                    if not half and b"\r\n\r\n" in got:
                        break
            except OSError:
                pass  # cut off in the middle, or no more comes
            return got

    def written(self):
        """What has been logged and audited since the last look."""
        text = ""
        for path in (self.folder / "server.log", self.cluster.home / "audit.log"):
            data = path.read_bytes()
            text += data[self.marks.get(path, 0):].decode(errors="strict")
            self.marks[path] = len(data)
        return text

    def told(self, *words):
        text = ""

        def all_there():
            nonlocal text
            text += self.written()
            return all(word in text for word in words)
        try:
            wait_for("lines", all_there)
        except Failed:
            raise Failed(f"not told: {[w for w in words if w not in text]} in {text[-1500:]}") \
                from None

    def alive(self):
        status, text = self.ask("GET", "/healthz")
        need(status == 200 and json.loads(text)["ok"] is True, "healthz:", status, text)

    def sign(self, name, days=30, authority=None):
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        subprocess.run([self.papers, "sign", authority or self.cluster.home, str(days), name,
                        folder], check=True)
        return folder

    def enrol(self, node):
        """A certificate as an agent gets it: (folder)."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        subprocess.run([self.papers, "csr", node, folder], check=True)
        secret = self.give("/v1/enrol", {"node": node})
        with Speaker(self) as speaker:
            speaker.hello(node)
            speaker.say("enrol", token=secret.split("@")[0], csr=(folder / "csr.pem").read_bytes())
            cert = speaker.hear("cert")
        (folder / "cert.pem").write_bytes(cert["certificate"])
        return folder


class Speaker:
    """One that speaks to the agents' port, and says what it is told to."""

    def __init__(self, lab, papers=None):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.load_verify_locations(lab.cluster.home / "ca.pem")
        if papers:
            context.load_cert_chain(papers / "cert.pem", papers / "key.pem")
        plain = socket.create_connection(("127.0.0.1", lab.cluster.agents_port), timeout=LIMIT_S)
        self.line = context.wrap_socket(plain)
        self.sender, self.receiver = wire.Sender(), wire.Receiver()

    def say(self, kind, **values):
        self.send(self.sender.encode(kind, wire.NO_NODE, values.pop("epoch", 0), values))

    def send(self, data):
        try:
            self.line.sendall(data)
        except (OSError, ssl.SSLError):
            pass  # dropped meanwhile: what was told before is what counts

    def hello(self, name="", boot=77):
        self.say("hello", name=name, version_min=1, boot=boot)

    def hear(self, kind):
        """The next message of the kind; None when the connection ends before."""
        while True:
            message = self.receiver.next()
            if message is not None and message.kind == kind:
                return message
            if message is None:
                try:
                    data = self.line.recv(1 << 16)
                except (OSError, ssl.SSLError):
                    return None
                if not data:
                    return None
                self.receiver.feed(data)

    def refused(self, *words):
        message = self.hear("refused")
        need(message is not None, "not refused, expected", words)
        text = message["text"].decode()
        need(all(word in text for word in words), text, "is not about", words)
        need(self.hear("nothing") is None, "the connection goes on after a refusal")

    def dropped(self):
        need(self.hear("refused") is None and self.hear("welcome") is None, "it was not dropped")

    def __enter__(self):
        return self

    def __exit__(self, *what):
        self.line.close()


class Slow:
    """Connections that send a byte a second, from before the other checks to behind them."""

    def __init__(self, lab):
        self.lab, source = lab, lab.address()
        self.begun = time.monotonic()
        text = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: " + b"y" * 10000
        body = (b"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000\r\n\r\n" +
                b"#" * 9000)
        self.lines = []
        for i in range(SLOW_CONNECTIONS):
            line = socket.create_connection((lab.host, lab.port), timeout=60,
                                            source_address=(source, 0))
            self.lines.append([line, text if i % 2 else body, 0 if i % 2 else 57])
            if i % 2 == 0:
                line.sendall(body[:57])
        self.ended, self.stop = set(), False
        self.thread = threading.Thread(target=self.drip)
        self.thread.start()

    def drip(self):
        while not self.stop and len(self.ended) < len(self.lines):
            for i, (line, text, at) in enumerate(self.lines):
                if i not in self.ended:
                    try:
                        line.send(text[at:at + 1])
                        line.setblocking(False)
                        if line.recv(100) == b"":
                            self.ended.add(i)
                    except BlockingIOError:
                        pass
                    except OSError:
                        self.ended.add(i)
                    self.lines[i][2] += 1
            time.sleep(1)

    def finish(self):
        try:
            wait_for("slow ones dropped", lambda: len(self.ended) == len(self.lines))
            # In all of the log: on a busy machine they were dropped while others were looked at.
            wait_for("it is told", lambda: "brought no whole request" in
                     (self.lab.folder / "server.log").read_text(errors="replace"))
        finally:
            self.stop = True
            self.thread.join()
            for line, _, _ in self.lines:
                line.close()
