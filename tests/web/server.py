"""What the page's test talks to: the made-up server or a real one, through a proxy that can be cut
as a cable can."""
import http.client
import json
import pathlib
import select
import socket
import subprocess
import threading
from urllib.parse import urlsplit

HERE = pathlib.Path(__file__).resolve().parent
LIMIT_S = 240


class Stub:
    """The made-up server, as a process of its own."""

    token = "letmein"

    def __init__(self, page, *options):
        self.process = subprocess.Popen(["node", HERE / "stub.mjs", "--page", page, *options],
                                        stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            raise SystemExit("tests/web/stub.mjs did not start")

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=LIMIT_S)
        self.process.stdout.close()


class Proxy:
    """Passes connections on to the server; cut, it ends them all and takes no new one."""

    def __init__(self, url):
        self.aim(url)
        self.lock, self.open, self.listener = threading.Lock(), set(), None
        self.port = 0
        self.mend()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def aim(self, url):
        """Where new connections go."""
        parts = urlsplit(url)
        self.target = (parts.hostname, parts.port or 80)

    def mend(self):
        listener = socket.create_server(("127.0.0.1", self.port), reuse_port=False)
        self.port = listener.getsockname()[1]
        self.listener = listener
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def cut(self):
        # Closing alone would leave the thread in accept(), and the port open with it.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        with self.lock:
            for end in self.open:
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def _accept(self, listener):
        while True:
            try:
                near, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._carry, args=(near,), daemon=True).start()

    def _carry(self, near):
        try:
            far = socket.create_connection(self.target, timeout=LIMIT_S)
        except OSError:
            near.close()
            return
        far.settimeout(None)
        with self.lock:
            self.open |= {near, far}
        other = {near: far, far: near}
        try:
            while True:
                for end in select.select([near, far], [], [])[0]:
                    data = end.recv(1 << 16)
                    if not data:
                        return
                    other[end].sendall(data)
        except OSError:
            pass
        finally:
            with self.lock:
                self.open -= {near, far}
            near.close()
            far.close()


class Api:
    """The server as a program asks it, past the page and past the proxy."""

    def __init__(self, url, token):
        self.place, self.token = urlsplit(url).netloc, token

    def _open(self, path):
        connection = http.client.HTTPConnection(self.place, timeout=LIMIT_S)
        connection.request("GET", path, headers={"Authorization": f"Bearer {self.token}"})
        return connection, connection.getresponse()

    def get(self, path):
        connection, answer = self._open(path)
        try:
            if answer.status != 200:
                raise SystemExit(f"GET {path}: {answer.status}")
            return json.loads(answer.read())
        finally:
            connection.close()

    def events(self, after, until):
        """(seq, kind, data) of the events behind 'after', up to the first at or past 'until'."""
        connection, answer = self._open(f"/v1/events?after={after}")
        found, fields = [], {}
        try:
            while not found or found[-1][0] < until:
                line = answer.readline().decode().rstrip("\r\n")
                if line:
                    name, _, value = line.partition(":")
                    fields[name] = value.strip()
                elif "data" in fields:
                    found.append((int(fields["id"]), fields["event"], json.loads(fields["data"])))
                    fields = {}
            return found
        finally:
            connection.close()
