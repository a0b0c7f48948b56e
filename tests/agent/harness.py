"""A controller of one agent, for tests: it says what it is told to and remembers what it hears."""
import collections
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import wire

sys.path.append(str(Path(__file__).resolve().parent.parent / "server"))
from ports import free_ports  # noqa: E402

PATIENCE_S = 240  # for what must happen; a machine may be busy
SEED = int(os.environ.get("SEED", "1"))
OPTIONS = None  # run.py's


def until(what, *words):
    """Waits until it is true; what it was."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        value = what()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"not within {PATIENCE_S} s: {' '.join(map(str, words))}")


def alive(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (OSError, IndexError):
        return False
    return state not in "ZX"


# Numbers of jobs that no other test on this machine uses at the same time.
OWN_JOBS = 1000 * os.getpid()


def processes_with(word):
    """Whose environment or command line holds the word."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                text = (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if word.encode() in text and alive(int(entry.name)):
                found.append(int(entry.name))
    return found


class Controller:
    def __init__(self, context=None):
        self.context = context
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.peer, self.waiting, self.heard = None, collections.deque(), []
        self.acks = True
        self.boot = 1

    def close(self):
        self.hang_up()
        self.listener.close()

    def hang_up(self):
        if self.peer:
            self.peer.close()
        self.peer = None

    def accept(self, gone=lambda: False):
        """The agent's next connection, up to its hello."""
        self.hang_up()
        self.listener.settimeout(0.2)
        end = time.monotonic() + PATIENCE_S
        while not self.peer:
            try:
                self.peer = self.listener.accept()[0]
            except (TimeoutError, socket.timeout):
                assert not gone() and time.monotonic() < end, "no agent comes"
        self.peer.settimeout(PATIENCE_S)
        if self.context:
            self.peer = self.context.wrap_socket(self.peer, server_side=True)
        self.sender, self.receiver = wire.Sender(), wire.Receiver()
        self.waiting.clear()
        hello = self.expect("hello")
        self.send("hello", name="controller", version_min=1)
        return hello

    def welcome(self, pretend=1, beat_ms=200, gone=lambda: False):
        hello = self.accept(gone)
        self.send("welcome", node=7, boot=self.boot, beat_ms=beat_ms, pretend=pretend)
        return hello

    def send(self, kind, /, epoch=0, **values):
        self.peer.sendall(self.sender.encode(kind, 7, epoch, values))

    def pump(self, seconds):
        """Takes in what comes within this time; False when the connection has ended."""
        self.peer.settimeout(max(seconds, 0.001))
        try:
            data = self.peer.recv(1 << 16)
        except (TimeoutError, socket.timeout):
            return True
        except OSError:
            data = b""
        if not data:
            return False
        self.receiver.feed(data)
        while message := self.receiver.next():
            self.heard.append(message)
            self.waiting.append(message)
            if self.acks and message.kind in ("started", "stopped", "exit", "tested"):
                self.send("ack", sequence=message.sequence)
        return True

    def find(self, kinds, job=None, epoch=None):
        for message in list(self.waiting):
            if (message.kind in kinds.split() and (job is None or message.get("job") == job) and
                    (epoch is None or message.epoch == epoch)):
                self.waiting.remove(message)
                return message
        return None

    def expect(self, kinds, job=None, epoch=None):
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            if message := self.find(kinds, job, epoch):
                return message
            assert self.pump(0.2), f"connection lost, waiting for {kinds}; heard {self.waiting}"
        raise AssertionError(f"no {kinds} of job {job} within {PATIENCE_S} s; {self.waiting}")

    def quiet(self, kinds, seconds, job=None):
        """Nothing of this kind comes for so long."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            assert self.pump(0.05), "connection lost"
            message = self.find(kinds, job)
            assert not message, message


class Agent:
    """An agent process, its state folder and its controller."""
    open = []  # that were not ended yet

    def __init__(self, controller=None, pretend="gpus: 8\n", args=(), env=None):
        self.folder = Path(tempfile.mkdtemp(prefix="myr-agent-"))
        self.state = self.folder / "state"
        self.controller = controller or Controller()
        self.args, self.env, self.process = list(args), env or {}, None
        self.args += ["--sockets", str(self.folder / "s")]
        if pretend:
            (self.folder / "pretend.yaml").write_text(pretend)
            self.args += ["--pretend", str(self.folder / "pretend.yaml")]
        # Ranks run as somebody else where the agent is root, and must reach what is theirs.
        self.user = "nobody" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
        self.work = self.folder / "work"
        self.work.mkdir()
        self.work.chmod(0o777)
        self.folder.chmod(0o755)
        self.log = (self.folder / "agent.log").open("ab")
        Agent.open.append(self)

    def start(self, welcome=True, plain=True, name="n0"):
        env = {key: value for key, value in os.environ.items() if not key.startswith("MYRIAD")}
        env.update({"MYRIAD_AGENT_PLAIN": "1"} if plain else {}, **self.env)
        command = [OPTIONS.program, "--server", f"127.0.0.1:{self.controller.port}", "--name", name,
                   "--state", str(self.state), *self.args]
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=self.log)
        if welcome:
            self.controller.welcome(gone=lambda: self.process.poll() is not None)
            self.controller.expect("inventory")
        return self

    def kill(self, number=signal.SIGKILL):
        if self.process:
            self.process.send_signal(number)
            self.process.wait()
            self.process = None

    def order(self, job, epoch, command, gpus=0b11, lease_s=0, spec="", **values):
        first = values.pop("first_rank", 0)
        count = bin(gpus).count("1")
        values.setdefault("world", first + count)
        values.setdefault("node_count", 1)
        values.setdefault("master", "127.0.0.1 29511")
        values.setdefault("user", self.user)
        text = f"name: t{job}\ncommand: {json.dumps(command)}\ndirectory: {self.work}\n{spec}"
        self.controller.send("start", epoch=epoch, job=job, first_rank=first, gpus=gpus,
                             spec=text, lease_s=lease_s, **values)

    def run_folder(self, job, epoch):
        return self.state / "run" / f"{job}.{epoch}"

    def shim(self, job, epoch):
        text = until(lambda: self.read(job, epoch, "shim"), "shim of", job)
        return int(text.split()[1])

    def read(self, job, epoch, name):
        try:
            return (self.run_folder(job, epoch) / name).read_text()
        except OSError:
            return ""

    def ranks(self, job, epoch):
        text = until(lambda: self.read(job, epoch, "ranks"), "ranks of", job)
        return [int(line.split()[2]) for line in text.splitlines()]

    def fetch(self, job, rank, epoch=0):
        """All that the rank has written, piece by piece."""
        data, offset = b"", 0
        while True:
            self.controller.send("fetch", epoch=epoch, job=job, rank=rank, offset=offset,
                                 bytes=1 << 16)
            out = self.controller.expect("output", job)
            data += out["data"]
            offset = out["offset"] + len(out["data"])
            if offset >= out["size"]:
                return data

    def done(self):
        """Nothing of it is left, or the test has failed."""
        Agent.open.remove(self)
        self.kill(signal.SIGTERM)
        # A launcher ends a moment after it has told how its ranks did.
        end = time.monotonic() + PATIENCE_S
        while (left := processes_with(str(self.folder))) and time.monotonic() < end:
            time.sleep(0.05)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        self.controller.close()
        self.log.close()
        text = (self.folder / "agent.log").read_text()
        shutil.rmtree(self.folder, ignore_errors=True)
        assert "assert" not in text.lower() and "Sanitizer" not in text, text
        assert not left, f"left behind: {left}"
        return text
