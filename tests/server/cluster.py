"""A server and agents on loopback, as a site would run them; started and ended by pid."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

from ports import free_ports

LIMIT_S = 240  # for anything: a machine may be busy


class Failed(Exception):
    pass


def wait_for(what, ask, limit_s=LIMIT_S):
    """Until ask() gives something true; its value."""
    end = time.monotonic() + limit_s
    pause = 0.05
    while time.monotonic() < end:
        value = ask()
        if value:
            return value
        time.sleep(pause)
        pause = min(pause * 1.3, 0.5)
    raise Failed(f"waited {limit_s} s in vain: {what}")


class Cluster:
    def __init__(self, myriad, agent, folder, nodes, options=(), user="nobody",
                 home=None):
        self.myriad, self.agent = str(myriad), str(agent)
        self.folder = pathlib.Path(folder)
        self.nodes = list(nodes)
        self.server, self.url, self.agents_port = None, None, None
        self.agents, self.relays = {}, []
        self.environment = {}
        self.home = pathlib.Path(home or self.folder / "server")
        port = free_ports(2)  # the same after a restart: agents come back to where they were
        # Ranks of another user must reach what the tests give them.
        self.folder.mkdir(exist_ok=True)
        os.chmod(self.folder, 0o755)
        agents = ["--pretend", "--agents", f"127.0.0.1:{port + 1}"]
        subprocess.run([self.myriad, "init", self.home, "--nodes", ",".join(self.nodes),
                        "--user", user, "--http", f"127.0.0.1:{port}",
                        *([] if "--world" in options else agents), *options], check=True,
                       stdout=subprocess.DEVNULL)
        (self.folder / "pretend.yaml").write_text("gpus: 8\ngpu_kind: H100\n")
        self.token = (self.home / "admin.token").read_text().strip()

    def configure(self, **settings):
        """Lines of myriad.yaml, put in or replaced."""
        path = self.home / "myriad.yaml"
        lines = [line for line in path.read_text().splitlines()
                 if line.split(":")[0] not in settings]
        lines += [f"{key}: {value}" for key, value in settings.items()]
        path.write_text("\n".join(lines) + "\n")

    def start_server(self, **environment):
        self.log = open(self.folder / "server.log", "ab")
        self.server = subprocess.Popen([self.myriad, "serve", self.home], stdout=subprocess.PIPE,
                                       stderr=self.log, text=True,
                                       env={**os.environ, **self.environment, **environment})
        line = self.server.stdout.readline()
        if not line.startswith("serving "):
            return False  # it died before it was ready, which some tests want
        self.url = line.split()[1]
        second = self.server.stdout.readline()
        found = re.match(r"agents on port (\d+)", second)
        if found and self.agents_port is None:
            self.agents_port = int(found.group(1))
        return True

    def end_server(self, how=signal.SIGTERM):
        if self.server:
            self.server.send_signal(how)
            code = self.server.wait(LIMIT_S)
            self.server.stdout.close()
            self.log.close()
            self.server = None
            return code

    def ask(self, path, body=None, method=None, token=None, limit_s=LIMIT_S):
        """(status, JSON) of one call."""
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        request = urllib.request.Request(
            self.url.rstrip("/") + path, data=data,
            method=method or ("POST" if body is not None else "GET"),
            headers={"Authorization": "Bearer " + (token or self.token)})
        try:
            with urllib.request.urlopen(request, timeout=limit_s) as answer:
                text = answer.read()
                kind = answer.headers.get("Content-Type", "")
                return answer.status, json.loads(text) if "json" in kind else text
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or b"{}")

    def get(self, path):
        status, answer = self.ask(path)
        if status != 200:
            raise Failed(f"GET {path}: {status} {answer}")
        return answer

    def post(self, path, body):
        status, answer = self.ask(path, body)
        if status != 200:
            raise Failed(f"POST {path}: {status} {answer}")
        return answer

    def start_agent(self, node, port=None):
        """'port' is a relay's, where it comes through one."""
        state = self.folder / "agents" / node
        arguments = [self.agent, "--server", f"127.0.0.1:{port or self.agents_port}", "--name",
                     node, "--state", state, "--pretend", self.folder / "pretend.yaml"]
        if not (state / "node.pem").exists():
            state.mkdir(parents=True, exist_ok=True)
            secret = self.folder / f"{node}.token"
            secret.write_text(self.post("/v1/enrol", {"node": node})["token"])
            secret.chmod(0o600)
            arguments += ["--token-file", secret]
        log = open(self.folder / f"{node}.log", "ab")
        # In a group of its own: what ends it must not end its ranks.
        self.agents[node] = subprocess.Popen(arguments, stdout=log, stderr=log,
                                             start_new_session=True)
        log.close()

    def end_agent(self, node, how=signal.SIGTERM):
        agent = self.agents.pop(node, None)
        if agent:
            agent.send_signal(how)
            agent.wait(LIMIT_S)

    def start_relay(self, name, port=0, *more):
        """Its process and the port that it got."""
        folder = self.folder / name
        arguments = [self.myriad, "relay", folder, "--name", name, "--server",
                     f"127.0.0.1:{self.agents_port}", "--listen", f"127.0.0.1:{port}", *more]
        if not (folder / "node.pem").exists():
            secret = self.folder / f"{name}.token"
            secret.write_text(self.post("/v1/enrol", {"relay": name})["token"])
            secret.chmod(0o600)
            arguments += ["--token-file", secret]
        with open(self.folder / f"{name}.log", "ab") as log:
            relay = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=log, text=True)
        self.relays.append(relay)
        found = re.match(r"agents on port (\d+)", relay.stdout.readline())
        if not found:
            raise Failed("the relay does not start: " +
                         (self.folder / f"{name}.log").read_text()[-1000:])
        return relay, int(found.group(1))

    def healthy(self):
        return self.get("/v1/cluster")["node_states"]["healthy"]

    def start(self):
        if not self.start_server():
            raise Failed("the server did not start: " + self.tail())
        for node in self.nodes:
            self.start_agent(node)
        wait_for("all nodes healthy", lambda: self.healthy() == len(self.nodes))

    def submit(self, text):
        return self.post("/v1/jobs", text.encode())["id"]

    def job(self, number):
        return self.get(f"/v1/jobs/{number}")

    def tail(self):
        path = self.folder / "server.log"
        return path.read_text(errors="replace")[-2000:] if path.exists() else ""

    def ranks(self):
        """Pids of processes that were started as ranks of this cluster, by what they were given."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                environment = (entry / "environ").read_bytes()
            except OSError:
                continue
            if b"MYRIAD_JOB=" in environment and str(self.folder).encode() in environment:
                found.append(int(entry.name))
        return found

    def end(self):
        for node in list(self.agents):
            self.end_agent(node)
        for relay in self.relays:
            if relay.poll() is None:
                relay.send_signal(signal.SIGCONT)  # one that a test has stopped
                relay.kill()
                relay.wait(LIMIT_S)
            relay.stdout.close()
        self.end_server()
        # Ranks of this test, by its own folder in their environment. One that is killed is there
        # for a moment more, and may be starting another: until none is left, none may write into
        # a folder that is about to be removed.
        wait_for("the last rank to end", self.no_rank)

    def no_rank(self):
        left = self.ranks()
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        return not left

    def __enter__(self):
        return self

    def __exit__(self, *what):
        self.end()
        if what[0]:
            print(self.tail(), file=sys.stderr)
