"""The node itself: enrolment, options, inventory, and what it does with damaged files."""
import json
import os
import random
import ssl
import subprocess
import tempfile
from pathlib import Path

import harness
from harness import PATIENCE_S, Agent, Controller, until


def run_once(agent, *args, env=None):
    """An agent that is expected to end: its status and what it says."""
    command = [harness.OPTIONS.program, "--state", str(agent.state), *args]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
                          env={**os.environ, "MYRIAD_AGENT_PLAIN": "1", **(env or {})})
    return done.returncode, done.stderr


def test_bad_options():
    agent = Agent()
    for args, words in (([], "--server"), (["--server", "x"], "HOST:PORT"),
                        (["--server", "x:0"], "HOST:PORT"), (["--server", "::1:5"], "HOST:PORT"),
                        (["--nonsense"], "nonsense"),
                        (["--server", "h:1", "--token", "x"], "token"),
                        (["--server", "h:1"], "no certificate"),
                        (["--server", "127.0.0.1:1", "--pretend", "/no/such"], "/no/such")):
        status, said = run_once(agent, *args)
        assert status == 2 and words in said and said.count("\n") <= 2, (args, status, said)
    bad = agent.folder / "bad.yaml"
    bad.write_text("gpus: many\n")
    status, said = run_once(agent, "--server", "127.0.0.1:1", "--pretend", str(bad))
    assert status == 2 and "bad.yaml:1:7" in said, said
    # Made-up GPUs only where the server allows them.
    agent.start(welcome=False)
    agent.controller.welcome(pretend=0)
    assert agent.process.wait(PATIENCE_S) == 2
    agent.process = None
    # Two agents do not share a folder.
    agent.start()
    status, said = run_once(agent, "--server", f"127.0.0.1:{agent.controller.port}")
    assert status == 2 and "another agent" in said, said
    assert "does not allow" in agent.done()


def test_damaged_state():
    """Files that somebody has changed are named and left alone; the agent serves the others."""
    rng = random.Random(harness.SEED)
    agent = Agent().start()
    agent.controller.acks = False
    for job in range(1, 6):
        agent.order(job, 1, "exit 5", gpus=1)
        agent.controller.expect("exit", job)
    agent.kill()
    names = ["order", "exit", "ranks", "shim", "exit"]
    for job, name in enumerate(names, 1):
        path = agent.run_folder(job, 1) / name
        data = bytearray(path.read_bytes())
        if job == 5:
            data = data[:3]
        for _ in range(20 if job != 5 else 0):
            data[rng.randrange(len(data))] = rng.randrange(256)
        path.write_bytes(data)
    (agent.state / "stops").write_bytes((agent.state / "stops").read_bytes() + b"\xff\xff 9 1")
    (agent.state / "run" / "strange").mkdir()
    agent.start()
    heard = {agent.controller.expect("exit")["job"] for _ in range(3)}
    assert {3, 4} <= heard, heard
    agent.order(9, 1, "exit 5", gpus=1)
    assert agent.controller.expect("exit", 9)["code"] == 5
    agent.done()


class Authority:
    def __init__(self):
        self.held = tempfile.TemporaryDirectory(prefix="myr-ca-")  # as long as this one
        self.folder = self.held.name
        done = subprocess.run([harness.OPTIONS.certs, "make", self.folder], capture_output=True,
                              text=True,
                              check=True)
        self.fingerprint = done.stdout.strip()
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_3
        self.context.load_cert_chain(f"{self.folder}/server.pem", f"{self.folder}/server.key")
        self.context.load_verify_locations(f"{self.folder}/ca.pem")
        self.context.verify_mode = ssl.CERT_OPTIONAL

    def sign(self, csr, days=30):
        done = subprocess.run([harness.OPTIONS.certs, "sign", self.folder, str(days)], input=csr,
                              capture_output=True, check=True)
        return done.stdout

    def ca(self):
        return Path(self.folder, "ca.pem").read_bytes()


def enrolled(agent, authority, beat_ms=200):
    """The first connection, by the token; the agent then comes again with its certificate."""
    controller = agent.controller
    controller.accept()
    asked = controller.expect("enrol")
    assert asked["token"] == b"secret" and not controller.peer.getpeercert()
    controller.send("cert", certificate=authority.sign(asked["csr"]), ca=authority.ca())
    controller.welcome(beat_ms=beat_ms)
    subject = dict(pair[0] for pair in controller.peer.getpeercert()["subject"])
    assert subject["commonName"] == "n0", subject


def rss_kib(pid):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    return 0


def test_enrolment_and_memory():
    if not harness.OPTIONS.certs:
        return print("  --certs is missing: skipped")
    authority = Authority()
    controller = Controller(authority.context)
    agent = Agent(controller)
    token = agent.folder / "token"
    token.write_text(f"secret@{authority.fingerprint}\n")
    agent.args += ["--token-file", str(token)]
    status, said = run_once(agent, "--server", f"127.0.0.1:{controller.port}", "--token-file",
                            str(token), env={"MYRIAD_AGENT_PLAIN": ""})
    assert status == 2 and "others may read" in said, said
    token.chmod(0o600)
    agent.start(welcome=False, plain=False)
    enrolled(agent, authority)
    controller.expect("inventory")
    pair = agent.state / "node.pem"
    assert pair.stat().st_mode & 0o777 == 0o600 and not (agent.state / "key.new").exists()
    assert agent.state.stat().st_mode & 0o777 == 0o700
    agent.order(1, 1, "sleep 1000")
    controller.expect("started", 1)
    for _ in range(40):
        controller.send("lease")
        controller.quiet("exit", 0.1)
    rss = rss_kib(agent.process.pid)
    print(f"  resident with TLS and two ranks: {rss} KiB; a launcher: "
          f"{rss_kib(agent.shim(1, 1))} KiB", flush=True)
    if not harness.OPTIONS.any_memory:
        assert rss <= 8 << 10, f"{rss} KiB are resident, 8 MiB are allowed"
    # A restart needs no token, and no certificate of another authority is believed.
    agent.kill()
    agent.args = agent.args[:-2]
    agent.start(plain=False)
    controller.expect("started", 1)
    controller.send("stop", epoch=1, job=1)
    controller.expect("stopped", 1)
    agent.kill()
    other = Authority()
    agent.controller.context = other.context
    agent.start(welcome=False, plain=False)
    try:
        agent.controller.accept()
        raise SystemExit("an agent has believed another authority")
    except (ssl.SSLError, OSError, AssertionError):
        pass
    agent.done()


def test_tokens():
    if not harness.OPTIONS.certs:
        return print("  --certs is missing: skipped")
    authority = Authority()
    controller = Controller(authority.context)
    agent = Agent(controller, args=["--token", f"secret@{'0' * 64}"])
    agent.start(welcome=False, plain=False)  # of another authority
    try:
        controller.accept()
        controller.expect("enrol")
        raise SystemExit("the token was sent to whoever listens")
    except (ssl.SSLError, OSError, AssertionError):
        pass
    assert agent.process.wait(PATIENCE_S) == 3
    agent.args[agent.args.index("--token") + 1] = f"secret@{authority.fingerprint}"
    agent.start(welcome=False, plain=False)
    shown = Path(f"/proc/{agent.process.pid}/cmdline")
    controller.accept()
    assert b"secret" not in shown.read_bytes()
    controller.expect("enrol")
    controller.send("refused", code=3, text="this token was used")
    assert agent.process.wait(PATIENCE_S) == 2
    agent.process = None
    text = agent.done()
    assert "this token was used" in text and "secret" not in text, text


def test_the_certificate_is_renewed():
    if not harness.OPTIONS.certs:
        return print("  --certs is missing: skipped")
    authority = Authority()
    controller = Controller(authority.context)
    agent = Agent(controller, args=["--token", f"secret@{authority.fingerprint}"])
    agent.start(welcome=False, plain=False)
    enrolled(agent, authority)
    controller.expect("inventory")
    agent.kill()
    # Its life was long once: a third of that is more than it has left.
    pair = agent.state / "node.pem"
    text = pair.read_text().split("\n", 1)
    pair.write_text("life_s 900000000\n" + text[1])
    agent.start(plain=False)
    asked = controller.expect("enrol")
    assert asked["token"] == b"" and controller.peer.getpeercert()
    controller.send("cert", certificate=authority.sign(asked["csr"]), ca=authority.ca())
    before = controller.peer.getpeercert()["serialNumber"]
    assert controller.welcome() and controller.peer.getpeercert()["serialNumber"] != before
    agent.done()


def older_libraries(ask, library, whole):
    """Each function of NVML missing in turn: some cannot be done without, others say null."""
    needed = ["nvmlInit_v2", "nvmlShutdown", "nvmlDeviceGetCount_v2",
              "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetName", "nvmlDeviceGetUUID"]
    missing = {"nvmlDeviceGetSerial": ("serial", None), "nvmlDeviceGetPciInfo_v3": ("pci", None),
               "nvmlDeviceGetMemoryInfo": ("memory_bytes", 0),
               "nvmlDeviceGetNvLinkState": ("nvlinks", [])}
    others = ["nvmlDeviceGetNvLinkErrorCounter", "nvmlSystemGetDriverVersion",
              "nvmlDeviceGetIndex", "nvmlEventSetCreate", "nvmlDeviceRegisterEvents",
              "nvmlEventSetWait_v2"]
    text = Path(library).read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        for name in [*needed, *missing, *others]:
            word = b"\0" + name.encode() + b"\0"
            assert text.count(word) >= 1, name
            older = Path(folder, name + ".so")
            older.write_bytes(text.replace(word, b"\0x" + word[2:]))
            found = ask(MYRIAD_AGENT_NVML=str(older))
            if name in needed:
                assert found["gpus"] == [], name
                assert found["nvml"] == "the NVML library is of another kind", (name, found)
            elif name in missing:
                key, value = missing[name]
                assert found["gpus"] == [{**gpu, key: value} for gpu in whole["gpus"]], name
            else:
                assert found["gpus"] == whole["gpus"] and found["nvml"] == "ok", name
        assert ask(MYRIAD_AGENT_NVML=f"{folder}/nvmlSystemGetDriverVersion.so")["driver"] is None


def test_inventory():
    def ask(**env):
        command = [harness.OPTIONS.program, "inventory", "-o", "json"]
        done = subprocess.run(command, capture_output=True, text=True,
                              check=True, env={**os.environ, **env})
        return json.loads(done.stdout)

    plain = ask(MYRIAD_AGENT_NVML="/no/such/library.so")
    assert plain["gpus"] == [] and plain["cpus"] >= 1 and plain["memory_bytes"] > 1 << 20
    assert plain["nvml"] == "no NVML library here" and plain["numa"]
    done = subprocess.run([harness.OPTIONS.program, "inventory", "-o", "nonsense"], check=False,
                          capture_output=True)
    assert done.returncode == 2
    if not harness.OPTIONS.nvml:
        return print("  --nvml is missing: the rest is skipped")
    found = ask(MYRIAD_AGENT_NVML=harness.OPTIONS.nvml)
    assert len(found["gpus"]) == 8 and found["driver"] == "999.1"
    assert [gpu["pci"] for gpu in found["gpus"]][7] == "00000000:17:00.0"
    links = [{"link": link, "up": True, "replay_errors": 0, "recovery_errors": 0,
              "crc_flit_errors": 0, "crc_data_errors": 0} for link in range(18)]
    for index, gpu in enumerate(found["gpus"]):
        uuid = f"GPU-00000000-0000-0000-0000-{index:012x}"
        pci = f"00000000:{index + 16:02x}:00.0"
        assert gpu == {"index": index, "name": "Pretended GPU", "uuid": uuid, "pci": pci,
                       "serial": f"serial-{index}", "memory_bytes": 80 << 30, "nvlinks": links}, gpu
    older_libraries(ask, harness.OPTIONS.nvml, found)
    with tempfile.NamedTemporaryFile("w") as faults:
        faults.write("gpus 7\nmute 3\ndown 2 17\nerrors 2 16 5\n")
        faults.flush()
        found = ask(MYRIAD_AGENT_NVML=harness.OPTIONS.nvml, MYRIAD_FAKE_NVML=faults.name)
    assert len(found["gpus"]) == 7
    assert found["gpus"][3] == {"index": 3, "name": None, "uuid": None, "serial": None, "pci": None,
                                "memory_bytes": 0, "nvlinks": None}, found["gpus"][3]
    assert not found["gpus"][2]["nvlinks"][17]["up"]
    assert found["gpus"][2]["nvlinks"][16] == {
        "link": 16, "up": True, "replay_errors": 5, "recovery_errors": 6, "crc_flit_errors": 7,
        "crc_data_errors": 8}, found["gpus"][2]["nvlinks"][16]
    # An agent without --pretend tells of these, and a test notices that one is gone.
    with tempfile.NamedTemporaryFile("w") as faults:
        agent = Agent(pretend=None, env={"MYRIAD_AGENT_NVML": harness.OPTIONS.nvml,
                                                  "MYRIAD_FAKE_NVML": faults.name})
        agent.start(welcome=False)
        agent.controller.welcome(pretend=0)
        told = agent.controller.expect("inventory")
        assert (told["gpus"], told["gpu_kind"]) == (8, b"Pretended GPU"), told
        assert len(json.loads(told["details"])["gpus"]) == 8
        agent.controller.send("test", epoch=1, id=1, name="check")
        assert agent.controller.expect("tested", 1)["code"] == 0
        # What the driver complains about is told, and waits while the controller is away.
        faults.write("xid 4 79\n")
        faults.flush()
        told = agent.controller.expect("symptom")
        assert (told["id"], told["gpu"], told["count"]) == (b"gpu-xid-79", 4, 1), told
        agent.controller.accept()  # not welcome yet
        faults.write("xid 5 48\nxid 5 48\n")
        faults.flush()
        until(lambda: "Xid 48" in (agent.folder / "agent.log").read_text(), "it was heard")
        agent.controller.welcome(pretend=0)
        told = agent.controller.expect("symptom")
        assert (told["id"], told["gpu"]) == (b"gpu-xid-48", 5), told
        faults.write("gpus 7\n")
        faults.flush()
        agent.controller.send("test", epoch=1, id=2, name="check")
        tested = agent.controller.expect("tested", 2)
        assert tested["code"] == 1 and b"7 GPUs of 8" in tested["text"], tested
        agent.done()
