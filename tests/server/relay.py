#!/usr/bin/env python3
"""Agents behind a relay are as agents are: they run jobs, outlive kills, and speak for themselves.

    tests/server/relay.py MYRIAD AGENT PAPERS

A server, a relay, three nodes behind it and one beside it, all real processes. Killed are the
relay, an agent behind it and the server; stopped (which looks like a cut cable) are an agent and
the relay. A job runs on all four nodes meanwhile, and its processes are the same at the end. Then
those who would speak for others through the relay.
"""
import argparse
import json
import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from cluster import Cluster, Failed, wait_for  # noqa: E402
from foe import Lab, Speaker, need  # noqa: E402
import wire  # noqa: E402  foe has put its folder into the path
sys.path.insert(0, str(HERE.parent / "answers"))
import schema as schemas  # noqa: E402

NODES = ["n0", "n1", "n2", "n3"]


class Manager:
    """A service manager, as systemd is one: what each process tells it, by its number."""

    def __init__(self, folder):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.socket.bind(str(folder / "manager"))
        os.environ["NOTIFY_SOCKET"] = str(folder / "manager")
        self.told = {}
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while True:
            text, more, _, _ = self.socket.recvmsg(100, 100)
            pid = int.from_bytes(more[0][2][:4], sys.byteorder)
            self.told.setdefault(pid, []).append(text.decode().strip())

    def is_told(self, process, *words):
        wait_for(f"the manager is told {words} by {process.args[:2]}",
                 lambda: set(words) <= set(self.told.get(process.pid, [])))


class Site:
    """The cluster, its relay, and the job that must not notice anything."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.relay, self.port = cluster.start_relay("r1")
        for node in NODES[:3]:
            cluster.start_agent(node, self.port)  # through the relay from the first token on
        cluster.start_agent(NODES[3])
        self.all_well("at the beginning")
        self.job = cluster.submit(
            "name: held\nnodes: 4\nlease_s: 600\n"
            "command: \"echo rank $RANK of $WORLD_SIZE; sleep 100000\"\n"
            f"env: {{FOLDER: '{cluster.folder}'}}\n")
        wait_for("it runs", lambda: cluster.job(self.job)["state"] == "running")
        self.ranks = wait_for("its ranks are there", self.whole)

    def whole(self):
        # A shell and what it waits for, each.
        found = sorted(self.cluster.ranks())
        return found if len(found) == 64 else None

    def states(self):
        return {node["name"]: node["state"] for node in self.cluster.get("/v1/nodes")["nodes"]}

    def all_well(self, when):
        wait_for(f"all nodes healthy {when}",
                 lambda: {self.states()[node] for node in NODES} == {"healthy"})

    def unharmed(self, when):
        self.all_well(when)
        job = self.cluster.job(self.job)
        need(job["state"] == "running" and job["epoch"] == 1, when, "the job has noticed:", job)
        need(sorted(self.cluster.ranks()) == self.ranks, when, "its processes have changed")
        print(f"{when}: unharmed", flush=True)

    def restart_relay(self):
        self.relay, _ = self.cluster.start_relay("r1", self.port)


def fetch_output(site):
    """Asked of the node through the relay, and answered the same way."""
    for rank in (0, 31):
        def written(rank=rank):
            status, answer = site.cluster.ask(f"/v1/jobs/{site.job}/logs?rank={rank}")
            return status == 200 and f"rank {rank} of 32" in answer["text"]
        wait_for(f"what rank {rank} wrote", written)


def connections(site):
    relays = site.cluster.get("/v1/relays")["relays"]
    need(len(relays) == 1 and relays[0]["name"] == "r1", relays)
    return relays[0]["agents"]


def kill_relay(site):
    site.relay.kill()
    site.relay.wait()
    time.sleep(1)
    site.restart_relay()
    wait_for("all are behind the relay again", lambda: connections(site) == 3)
    site.unharmed("the relay was killed")
    # Longer than a node may be silent: the core knows of it, and waits.
    site.relay.kill()
    site.relay.wait()
    wait_for("they are missed",
             lambda: [site.states()[node] for node in NODES] == ["suspect"] * 3 + ["healthy"])
    site.restart_relay()
    site.unharmed("the relay was away")


def kill_agent(site):
    site.cluster.end_agent("n1", signal.SIGKILL)
    site.cluster.start_agent("n1", site.port)
    site.unharmed("an agent was killed")
    site.cluster.end_agent("n1", signal.SIGKILL)
    wait_for("it is missed", lambda: site.states()["n1"] == "suspect")
    need(site.states()["n0"] == "healthy", "its neighbour is blamed")
    site.cluster.start_agent("n1", site.port)
    site.unharmed("an agent was away")


def cut_cables(site):
    """A process that stands still is as one whose cable is cut: its connection stays."""
    agent = site.cluster.agents["n2"]
    agent.send_signal(signal.SIGSTOP)
    wait_for("the relay calls it silent", lambda: site.states()["n2"] == "suspect")
    need(connections(site) == 3, "its connection has ended")
    agent.send_signal(signal.SIGCONT)
    site.unharmed("an agent was cut off")
    site.relay.send_signal(signal.SIGSTOP)
    wait_for("all behind it are silent",
             lambda: [site.states()[node] for node in NODES] == ["suspect"] * 3 + ["healthy"])
    site.relay.send_signal(signal.SIGCONT)
    site.unharmed("the relay was cut off")


def kill_server(site):
    logs = [site.cluster.folder / f"{node}.log" for node in NODES[:3]]
    before = [path.read_bytes() for path in logs]
    site.cluster.end_server(signal.SIGKILL)
    time.sleep(0.5)
    need(site.cluster.start_server(), "the server does not start again")
    wait_for("all are behind the relay again", lambda: connections(site) == 3)
    site.unharmed("the server was killed")
    need([path.read_bytes() for path in logs] == before, "agents behind the relay had to come anew")
    fetch_output(site)
    site.cluster.end_server()
    need(site.cluster.start_server(), "the server does not start again")
    wait_for("all are behind the relay again", lambda: connections(site) == 3)
    site.unharmed("the server was restarted")


class Outsider(Speaker):
    """Speaks to the relay's port instead of the server's."""

    def __init__(self, lab, port, papers=None):
        own, lab.cluster.agents_port = lab.cluster.agents_port, port
        try:
            super().__init__(lab, papers)
        finally:
            lab.cluster.agents_port = own


def speak_for_others(site, lab):
    """A certificate speaks for its own node, whatever is said behind the relay."""
    port, papers = site.port, lab.enrol("n4")
    with Outsider(lab, port, papers) as one:
        one.hello("n0")
        one.refused("n0", "certificate of 'n4'")
    with Outsider(lab, port, papers) as one:  # heads that name others change nothing
        one.hello("n4", boot=5)
        welcome = one.hear("welcome")
        need(welcome is not None and welcome["node"] == welcome.node == 4, "its welcome:", welcome)
        for other in (0, 1, 2, 65536, 131072, wire.NO_NODE):
            one.send(one.sender.encode("symptom", other, 0, {"id": "mark", "text": "of n4"}))
        lab.told("n4: mark of n4")
        need(set(site.states()[node] for node in NODES) == {"healthy"}, site.states())
        # What a relay says is not for agents to say.
        one.send(wire.frame(wire.SCHEMA, bytes([24]) + (1).to_bytes(2, "little") +
                            (1).to_bytes(2, "little") + b"\0") +
                 wire.frame(24, (7).to_bytes(4, "little"), 7, 0, 9))
        one.refused("'attach' is no message of an agent")
    with Outsider(lab, port) as one:  # without a certificate: to enrol, and nothing else
        one.hello("n0")
        one.say("beat")
        one.refused("without a certificate")
    with Outsider(lab, port, lab.sign("r1")) as one:  # a relay's name on another certificate
        one.hello("r1")
        one.refused("is no node")
    with Speaker(lab, lab.sign("r1")) as one:  # the same to the server itself
        one.hello("r1")
        one.refused("is no node")
    other = pathlib.Path(tempfile.mkdtemp(dir=lab.folder))
    subprocess.run([lab.papers, "ca", other], check=True)
    try:
        with Outsider(lab, port, lab.sign("n4", authority=other)) as one:
            one.hello("n4")
            one.dropped()
    except (OSError, ssl.SSLError):
        pass
    site.cluster.post("/v1/nodes/n4/revoke", {})
    with Outsider(lab, port, papers) as one:
        one.hello("n4")
        one.refused("revoked")
    site.unharmed("others were spoken for in vain")


def false_relay(site, lab):
    """A node's certificate makes nobody a relay: agents do not believe it."""
    papers = lab.enrol("n4")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(papers / "cert.pem", papers / "key.pem")
    with socket.create_server(("127.0.0.1", 0)) as door:
        heard = []

        def serve():
            line, _ = door.accept()
            try:
                with context.wrap_socket(line, server_side=True) as inner:
                    heard.append(inner.recv(4096))
            except (OSError, ssl.SSLError):
                heard.append(b"")

        thread = threading.Thread(target=serve)
        thread.start()
        state = lab.folder / "agents" / "fooled"
        shutil.copytree(lab.folder / "agents" / "n0", state,
                        ignore=lambda _, names: [n for n in names if not n.endswith(".pem")])
        log = lab.folder / "fooled.log"
        with open(log, "wb") as out:
            agent = subprocess.Popen([site.cluster.agent, "--server",
                                      f"127.0.0.1:{door.getsockname()[1]}", "--name", "n0",
                                      "--state", state, "--pretend",
                                      lab.folder / "pretend.yaml"], stdout=out, stderr=out)
        try:
            wait_for("it sees through", lambda: b"certificate" in log.read_bytes())
        finally:
            agent.kill()
            agent.wait()
            thread.join()
        need(not heard[0], "it spoke to a false relay:", heard)


def told(site):
    """What a program is told when the relay ends."""
    cluster = site.cluster
    relay = subprocess.Popen([cluster.myriad, "relay", cluster.folder / "r1", "--name", "r1",
                              "--server", f"127.0.0.1:{cluster.agents_port}", "--listen",
                              f"127.0.0.1:{site.port}", "-o", "json"], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True)
    cluster.relays.append(relay)
    wait_for("they are behind it", lambda: connections(site) == 3)
    relay.send_signal(signal.SIGTERM)
    need(relay.wait(60) == 0, "the relay ends with", relay.returncode)
    document = json.loads(relay.stdout.read())
    schema = HERE.parents[1] / "docs/schema/myriad.relay.json"
    faults = list(schemas.validate(document, json.loads(schema.read_text())))
    need(not faults, faults)
    row = document["relayed"][0]
    need(row["agents_most"] == 3 and row["frames_up"] > 0 and row["frames_down"] > 0, row)


def end_well(site):
    cluster = site.cluster
    folder = cluster.folder / "r1"
    result = subprocess.run([cluster.myriad, "doctor", folder, "-o", "json"], check=True,
                            capture_output=True, text=True)
    checks = {row["check"]: row["verdict"] for row in json.loads(result.stdout)["checks"]}
    need(checks["relay"] == checks["rights"] == checks["certificate"] == "ok", checks)
    second = subprocess.run([cluster.myriad, "relay", folder, "--name", "r1", "--server",
                             f"127.0.0.1:{cluster.agents_port}", "--listen", "127.0.0.1:0"],
                            capture_output=True, text=True, timeout=60, check=False)
    need(second.returncode == 2 and "another relay runs" in second.stderr, second)
    cluster.post(f"/v1/jobs/{site.job}/cancel", {})
    wait_for("it ends", lambda: cluster.job(site.job)["state"] == "cancelled")
    wait_for("nothing of it is left", lambda: not cluster.ranks())
    done = cluster.submit("name: short\nnodes: 3\ncommand: 'true'\n"
                          f"env: {{FOLDER: '{cluster.folder}'}}\n")
    wait_for("a job behind the relay ends", lambda: cluster.job(done)["state"] == "done")
    # One that ends while the server is away: its nodes say it when they are welcomed again.
    late = cluster.submit("name: late\nnodes: 3\n"
                          "command: until [ -e $FOLDER/go ]; do sleep 0.1; done\n"
                          f"env: {{FOLDER: '{cluster.folder}'}}\n")
    wait_for("it runs", lambda: cluster.job(late)["state"] == "running")
    cluster.end_server(signal.SIGKILL)
    pathlib.Path(cluster.folder, "go").touch()
    wait_for("its ranks have ended", lambda: not cluster.ranks())
    need(cluster.start_server(), "the server does not start again")
    wait_for("it is done", lambda: cluster.job(late)["state"] == "done")
    need(cluster.job(late)["epoch"] == 1, "it was started again:", cluster.job(late))
    # A relay that is told to end says goodbye; one whose certificate is revoked carries nobody.
    site.relay.send_signal(signal.SIGTERM)
    need(site.relay.wait(60) == 0, "the relay ends with", site.relay.returncode)
    site.manager.is_told(site.relay, "STOPPING=1")
    need(b"agents at most" in site.relay.stdout.read().encode(), "it does not say how it was")
    told(site)
    site.restart_relay()
    wait_for("they are back", lambda: connections(site) == 3)
    cluster.post("/v1/relays/r1/revoke", {})
    wait_for("it carries nobody",
             lambda: not cluster.get("/v1/relays")["relays"][0]["connected"])
    wait_for("they are missed", lambda: site.states()["n0"] == "suspect")
    need(site.relay.poll() is None, "the relay has given up")
    os.chmod(folder / "node.pem", 0o644)
    result = subprocess.run([cluster.myriad, "doctor", folder], check=False, capture_output=True,
                            text=True)
    need(result.returncode == 1 and "others may read node.pem" in result.stdout, result)


def drained_first(site):
    """Drained before it ever came it is so when it comes, and until it is resumed."""
    cluster = site.cluster

    def node():
        return cluster.get("/v1/nodes/n5")
    need(node()["state"] == "drained" and node()["boot"] == 0, node())
    cluster.start_agent("n5")
    wait_for("n5 has come", lambda: node()["boot"] > 0)
    job = cluster.submit("name: waits\nnodes: 1\ncommand: 'true'\n")  # there is no other room
    for _ in range(20):
        need(node()["state"] == "drained", node())
        need(cluster.job(job)["state"] == "queued", cluster.job(job))
        time.sleep(0.1)
    need(node()["reason"].endswith("not there"), node())
    cluster.post("/v1/nodes/n5/resume", {})
    wait_for("its job is done", lambda: cluster.job(job)["state"] == "done")
    need(cluster.job(job)["node_names"] == ["n5"], cluster.job(job))
    cluster.end_agent("n5")
    print("a drain that came first holds", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("myriad", "agent", "papers"):
        parser.add_argument(name)
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="myriad-relay-"))
    manager = Manager(folder)
    with Cluster(options.myriad, options.agent, folder, NODES + ["n4", "n5"]) as cluster:
        need(cluster.start_server(), "the server does not start")
        cluster.post("/v1/nodes/n[4-5]/drain", {"reason": "not there"})
        site = Site(cluster)
        lab = Lab(cluster, options.papers, folder)
        for process in (cluster.server, site.relay):
            manager.is_told(process, "READY=1", "WATCHDOG=1")
        manager.is_told(cluster.agents["n0"], "READY=1")
        for step in (fetch_output, kill_relay, kill_agent, cut_cables, kill_server):
            step(site)
        speak_for_others(site, lab)
        false_relay(site, lab)
        drained_first(site)
        site.manager = manager
        end_well(site)
    shutil.rmtree(folder, ignore_errors=True)
    print("the relay carries them all")


if __name__ == "__main__":
    try:
        main()
    except Failed as problem:
        sys.exit(f"relay.py: {problem}")
