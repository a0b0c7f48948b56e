#!/usr/bin/env python3
"""Printed launch scripts start every rank over a real sshd, with a stub for the trainer.

    tests/fit/ssh.py MYRIAD

Two hosts are two addresses of the loopback interface with an sshd each. The stub that takes
torchrun's place has the trainers' own rules of arguments (tools/launch/check.py, with
tests/data/trainer-arguments.json): what the trainer would refuse, it refuses. It meets the others
at the master's address and counts three steps. Exit status 77 where there is no sshd.
"""
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FACTS = ROOT / "tests" / "data" / "trainer-arguments.json"
SSHD = os.environ.get("MYRIAD_SSHD") or shutil.which("sshd", path="/usr/sbin:/sbin:/usr/local/sbin")
HOSTS = ("127.0.0.1", "127.0.0.2")

STUB = """#!{python}
import json, os, socket, sys
from pathlib import Path
sys.dont_write_bytecode = True
sys.path.insert(0, {tools!r})
import check
folder, words = Path({folder!r}), sys.argv[1:]
own = {{}}
while words[0] in ("--nnodes", "--nproc-per-node", "--node-rank", "--master-addr", "--master-port"):
    own.update([(words.pop(0), words.pop(0))])
nodes, rank, each = (int(own[n]) for n in ("--nnodes", "--node-rank", "--nproc-per-node"))
files = {{}}
for word in words:
    if word.endswith(("/deepspeed.json", "/run.toml", "/recipe.py")):
        files = {{p.name: p.read_text() for p in Path(word).parent.iterdir()}}
answer = json.loads((folder / "answer.json").read_text())
record = {{"answer": answer, "program": words, "files": files}}
try:
    check.check_facts(record, json.loads(Path({facts!r}).read_text()))
    assert nodes * each == answer["gpus"] and rank < nodes, own
except (AssertionError, KeyError, ValueError) as wrong:
    print("stub trainer: error:", repr(wrong), file=sys.stderr)
    sys.exit(2)
at = (own["--master-addr"], int(own["--master-port"]))
if rank == 0:
    with socket.create_server(at) as server:
        server.settimeout(60)
        others = [server.accept()[0] for _ in range(nodes - 1)]
        for step in range(3):
            for other in others:
                other.sendall(b"s")
                assert other.recv(1) == b"d"
            print("iteration", step + 1, flush=True)
else:
    for attempt in range(600):
        try:
            meet = socket.create_connection(at, timeout=60)
            break
        except OSError:
            import time
            time.sleep(0.1)
    for step in range(3):
        assert meet.recv(1) == b"s"
        meet.sendall(b"d")
(folder / f"done-{{rank}}").write_text(os.environ.get("SSH_CONNECTION", ""))
"""


def free_port(host):
    with socket.socket() as probe:
        probe.bind((host, 0))
        return probe.getsockname()[1]


class Hosts:
    """An sshd on each address, and an ssh that finds them."""

    def __init__(self, folder):
        self.folder, self.daemons = folder, []
        self.stubs = folder / "stubs"
        self.stubs.mkdir()
        for name in ("key", "host"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name],
                           check=True)
        shutil.copy(folder / "key.pub", folder / "allowed")
        config = []
        os.makedirs("/run/sshd", exist_ok=True)
        for host in HOSTS:
            port = free_port(host)
            conf = folder / f"sshd-{host}"
            conf.write_text(f"ListenAddress {host}\nPort {port}\nHostKey {folder}/host\n"
                            f"AuthorizedKeysFile {folder}/allowed\nStrictModes no\nUsePAM no\n"
                            f"PidFile {conf}.pid\nPasswordAuthentication no\n"
                            f"SetEnv PATH={self.stubs}:/usr/bin:/bin\n")
            self.daemons.append(subprocess.Popen([SSHD, "-D", "-e", "-f", conf],
                                                 stderr=subprocess.DEVNULL))
            config.append(f"Host {host}\n  Port {port}\n")
            wait_for(host, port)
        (folder / "config").write_text("".join(config) + f"Host *\n  IdentityFile {folder}/key\n"
                                       "  IdentitiesOnly yes\n  StrictHostKeyChecking no\n"
                                       "  UserKnownHostsFile /dev/null\n  LogLevel ERROR\n")
        self.stub("ssh", f"#!/bin/sh\nexec {shutil.which('ssh')} -F {folder}/config \"$@\"\n")

    def stub(self, name, text):
        path = self.stubs / name
        path.write_text(text)
        path.chmod(0o755)

    def end(self):
        for daemon in self.daemons:
            daemon.terminate()
            daemon.wait()


def wait_for(host, port):
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex((host, port)) == 0:
                return
        import time
        time.sleep(0.05)
    raise SystemExit("no sshd answers")


def start(hosts, script, **more):
    """As its reader would: bash, with HOSTS said."""
    for old in hosts.folder.glob("done-*"):
        old.unlink()
    path = hosts.folder / "launch.sh"
    path.write_text(script)
    environment = {"PATH": f"{hosts.stubs}:/usr/bin:/bin", "HOME": str(hosts.folder),
                   "MASTER_PORT": str(free_port(HOSTS[0])), **more}
    return subprocess.run(["bash", path], env=environment, capture_output=True, text=True,
                          timeout=120, check=False)


def started(hosts):
    return {p.name: p.read_text().split(" ")[2] for p in hosts.folder.glob("done-*")}


# A wrong flag of each trainer: of the command, or of the file beside it.
WRONG = {"megatron-lm": (("--seq-length", "--sequence-len"), ("--eval-interval 1000 ", ""),
                         ("--micro-batch-size", "--micro-batch")),
         "deepspeed": (("--seq-length", "--sequence-len"), ("\"zero_optimization\"", "\"zero\"")),
         "torchtitan": (("seq_len", "sequence_len"), ("steps =", "stepz =")),
         "megatron-bridge": (("seq_length", "sequence_lengths"),)}


def every_trainer_starts(myriad, hosts, trainer, model):
    words = ["fit", "launch", "--model", model, "--device", "h100", "--gpus", "16", "--batch", "32",
             "--seq", "2048", "--trainer", trainer, "-o", "json"]
    answer = json.loads(subprocess.run([myriad, *words], capture_output=True, text=True,
                                       check=True).stdout)
    (hosts.folder / "answer.json").write_text(json.dumps(answer))
    both = {"done-0": HOSTS[0], "done-1": HOSTS[1]}
    done = start(hosts, answer["script"], HOSTS=" ".join(HOSTS))
    assert done.returncode == 0 and started(hosts) == both, (trainer, done.stderr, started(hosts))
    assert re.findall(r"iteration (\d)", done.stdout) == ["1", "2", "3"], done.stdout
    none = start(hosts, answer["script"])
    assert none.returncode != 0 and "2 hosts in the order of ranks" in none.stderr, none.stderr
    one = start(hosts, answer["script"], HOSTS=HOSTS[0])
    assert one.returncode == 2 and "2 hosts expected" in one.stderr, one.stderr
    refused = 0
    for right, wrong in WRONG[trainer]:
        if right in answer["script"]:
            bad = start(hosts, answer["script"].replace(right, wrong), HOSTS=" ".join(HOSTS))
            assert bad.returncode != 0 and not started(hosts), (trainer, wrong)
            assert "stub trainer: error" in bad.stderr, bad.stderr
            refused += 1
    assert refused == len(WRONG[trainer]), f"{trainer}: {refused} of {WRONG[trainer]}"


def main(myriad):
    if not SSHD:
        print("no sshd here (openssh-server)")
        return 77
    with tempfile.TemporaryDirectory() as name:
        hosts = Hosts(Path(name))
        hosts.stub("torchrun", STUB.format(python=sys.executable, folder=name, facts=str(FACTS),
                                           tools=str(ROOT / "tools" / "launch")))
        try:
            for trainer, model in (("megatron-lm", "llama3-8b"), ("megatron-lm", "qwen3-30b-a3b"),
                                   ("deepspeed", "gpt3-6.7b"), ("torchtitan", "llama3-8b"),
                                   ("megatron-bridge", "llama3-8b")):
                every_trainer_starts(myriad, hosts, trainer, model)
        finally:
            hosts.end()
    print("every trainer started over ssh")
    return 0


if __name__ == "__main__":
    sys.exit(main(str(Path(sys.argv[1]).resolve())))
