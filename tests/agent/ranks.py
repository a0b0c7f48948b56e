"""Ranks: how they are started, watched and ended, and what is told of them."""
import os
import resource
import random
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import harness
import wire
from harness import Agent, alive, processes_with, until

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable


def test_ranks_start_and_end():
    agent = Agent().start()
    # Ranks that end at once may be told of by their end alone.
    agent.order(1, 1, 'echo "rank $RANK of $WORLD_SIZE on $CUDA_VISIBLE_DEVICES"; '
                'until [ -e go ]; do sleep 0.1; done', gpus=0b1010)
    assert agent.controller.expect("started", 1)["code"] == 0
    (agent.work / "go").touch()
    ended = agent.controller.expect("exit", 1)
    assert (ended["code"], ended["signal"], ended.epoch) == (0, 0, 1), ended
    assert agent.fetch(1, 0) == b"rank 0 of 2 on 1,3\n"
    assert agent.fetch(1, 1) == b"rank 1 of 2 on 1,3\n"
    agent.order(2, 1, 'if [ "$RANK" = 5 ]; then until [ -e fail ]; do sleep 0.1; done; '
                'echo fine; echo "ValueError: bad"; exit 3; fi; '
                'sleep 1000', first_rank=4)
    agent.controller.expect("started", 2)
    (agent.work / "fail").touch()
    ended = agent.controller.expect("exit", 2)
    assert (ended["rank"], ended["code"], ended["signal"]) == (5, 3, 0), ended
    assert ended["line"] == b"ValueError: bad", ended
    agent.done()


def test_gpus_of_others_cannot_be_opened():
    """Device files of GPUs without a driver: what may be opened says that there is no device, what
    the group refuses says that it may not. The minor numbers are not in the order of the bus."""
    minors = [3, 2, 0, 1]
    with tempfile.TemporaryDirectory(prefix="myriad-gpus-") as folder:
        os.chmod(folder, 0o755)
        nodes = []
        for i, minor in enumerate(minors):
            gpu = Path(folder) / "proc" / f"0000:{i}a:00.0"
            gpu.mkdir(parents=True)
            (gpu / "information").write_text(f"Model: \t\t none\nDevice Minor: \t {minor}\n")
            nodes.append(f"{folder}/nvidia{minor}")
        try:
            for minor in minors:
                os.mknod(f"{folder}/nvidia{minor}", 0o666 | stat.S_IFCHR, os.makedev(195, minor))
                os.chmod(f"{folder}/nvidia{minor}", 0o666)
        except PermissionError:
            return print("  no device files can be made here: the rest is skipped")
        agent = Agent(env={"MYRIAD_AGENT_NVIDIA_PROC": f"{folder}/proc"}).start()
        look = "; ".join(f"(: <{node}) 2>&1" for node in nodes)
        agent.order(1, 1, f"if [ $RANK = 0 ]; then unset CUDA_VISIBLE_DEVICES; {look}; fi; "
                    "until [ -e go ]; do sleep 0.1; done", gpus=0b0110)
        agent.controller.expect("started", 1)
        log = (agent.state / "run" / "1.1" / "shim.log").read_text()
        (agent.work / "go").touch()
        agent.controller.expect("exit", 1)
        said = agent.fetch(1, 0).decode().splitlines()
        assert len(said) == 4, said
        if "closed by" in log:
            assert "2 GPUs of others are closed by cgroup version" in log, log
            refused = ["Operation not permitted" in line for line in said]
            assert refused == [True, False, False, True], (log, said)
        else:
            assert "no cgroup can close them" in log, log
            print("  no control group can be made here: the rest is skipped")
        agent.done()


def test_start_again_and_after_a_stop():
    agent = Agent().start()
    agent.order(1, 2, "sleep 1000")
    agent.controller.expect("started", 1)
    ranks = agent.ranks(1, 2)
    agent.order(1, 2, "sleep 1000")
    assert agent.controller.expect("started", 1)["code"] == 0
    assert agent.ranks(1, 2) == ranks and all(map(alive, ranks))
    agent.order(1, 1, "sleep 1000")  # older: it never starts
    agent.controller.send("stop", epoch=2, job=1, grace_s=5)
    stopped = agent.controller.expect("stopped", 1, 2)
    assert stopped["code"] == 0 and not any(map(alive, ranks))
    agent.order(1, 2, "sleep 1000")
    agent.controller.expect("stopped", 1, 2)
    agent.order(1, 1, "sleep 1000")
    agent.controller.expect("stopped", 1, 1)
    agent.controller.send("stop", epoch=9, job=77, grace_s=0)  # unknown, and remembered
    agent.controller.expect("stopped", 77, 9)
    agent.kill()
    agent.start()
    agent.order(77, 9, "sleep 1000")
    agent.controller.expect("stopped", 77, 9)
    agent.order(1, 2, "sleep 1000")
    agent.controller.expect("stopped", 1, 2)
    agent.controller.quiet("started", 0.5)
    agent.done()


def test_memory_may_be_locked():
    """Cards that read memory by themselves need it, whatever the agent was started with."""
    soft, hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    least = min(65536, hard) if hard != resource.RLIM_INFINITY else 65536
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (least, hard))  # the agent's, as its parent's
    try:
        agent = Agent().start()
    finally:
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (soft, hard))
    agent.order(1, 1, "ulimit -H -l; ulimit -S -l", gpus=0b1)
    assert agent.controller.expect("exit", 1)["code"] == 0
    raised = subprocess.run(["sh", "-c", "ulimit -l unlimited; ulimit -H -l"], check=False,
                            capture_output=True).stdout.strip()
    most = raised or str(hard // 1024).encode()
    assert agent.fetch(1, 0).split() == [most, most], agent.fetch(1, 0)
    agent.done()


def test_the_contract_of_the_environment():
    """Two agents, one gang of four ranks that meet and add up."""
    agents = [Agent().start(), Agent().start(name="n1")]
    port = harness.free_ports()
    for i, agent in enumerate(agents):
        shutil.copy(HERE / "allreduce.py", agent.work)
        agent.order(3, 1, f"env > env.$RANK; exec {PYTHON} {agent.work}/allreduce.py",
                    first_rank=2 * i, world=4, node_rank=i, node_count=2, gpus=0b1100,
                    master=f"127.0.0.1 {port}",
                    spec=f"checkpoint: /ck/t3\nenv:\n  COLOUR: red\n  RANK: 99\n")
    for i, agent in enumerate(agents):
        agent.controller.expect("started", 3)
        ended = agent.controller.expect("exit", 3)
        assert ended["code"] == 0, (ended, agent.fetch(3, 2 * i), agent.fetch(3, 2 * i + 1))
        for local in range(2):
            rank = 2 * i + local
            assert f"rank {rank}: 10\n".encode() in agent.fetch(3, rank)
            env = dict(line.split("=", 1) for line in
                       (agent.work / f"env.{rank}").read_text().splitlines())
            want = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "RANK": rank, "WORLD_SIZE": 4,
                    "LOCAL_RANK": local, "LOCAL_WORLD_SIZE": 2, "NODE_RANK": i, "GROUP_RANK": i,
                    "GROUP_WORLD_SIZE": 2, "ROLE_RANK": rank, "ROLE_WORLD_SIZE": 4,
                    "TORCHELASTIC_RESTART_COUNT": 0, "TORCHELASTIC_RUN_ID": 3,
                    "CUDA_VISIBLE_DEVICES": "2,3", "MYRIAD_JOB": 3, "MYRIAD_EPOCH": 1,
                    "MYRIAD_CHECKPOINT_DIR": "/ck/t3", "COLOUR": "red", "USER": agent.user}
            for key, value in want.items():
                assert env.get(key) == str(value), (key, value, env.get(key))
            assert "MYRIAD_AGENT_PLAIN" not in env  # the agent's own stay its own
        agent.done()


def test_ranks_that_do_not_die_are_told():
    """What a launcher says of them reaches the controller, and no STOPPED before they are gone."""
    agent = Agent().start()
    agent.order(1, 1, "sleep 1000", gpus=1)
    agent.controller.expect("started", 1)
    whole = agent.run_folder(1, 1) / "stuck.new"  # nobody is to read half of it
    whole.write_text("count 2\nwaiting 2\n")
    whole.rename(agent.run_folder(1, 1) / "stuck")
    told = agent.controller.expect("symptom")
    assert told["id"] == b"rank-unkillable" and told["count"] == 2, told
    agent.controller.quiet("symptom stopped", 1.5)
    agent.controller.send("stop", epoch=1, job=1)
    agent.controller.expect("stopped", 1)
    agent.done()


def test_a_rank_ignores_the_request_to_end():
    agent = Agent().start()
    agent.order(1, 1, "trap '' TERM; echo deaf; while :; do sleep 1; done")
    agent.controller.expect("started", 1)
    until(lambda: agent.fetch(1, 0) and agent.fetch(1, 1), "both are deaf")
    ranks = agent.ranks(1, 1)
    agent.controller.send("stop", epoch=1, job=1, grace_s=1)
    agent.controller.expect("stopped", 1)
    assert not any(map(alive, ranks))
    agent.order(2, 1, "trap 'echo saved; exit 0' TERM; echo ready; while :; do sleep 0.1; done")
    agent.controller.expect("started", 2)
    until(lambda: agent.fetch(2, 0) and agent.fetch(2, 1), "both are ready")
    agent.controller.send("stop", epoch=1, job=2, grace_s=50)  # who ends at once is not waited for
    agent.controller.expect("stopped", 2)
    assert agent.fetch(2, 0).endswith(b"saved\n"), agent.fetch(2, 0)
    agent.done()


def test_no_orphan_is_left():
    """Grandchildren in sessions of their own, whose parents are gone, end with their job."""
    agent = Agent().start()
    script = "setsid sh -c '(trap \"\" TERM HUP; sleep 1000 & sleep 1001) & exit 0'; sleep 1002"
    agent.order(1, 1, script)
    agent.controller.expect("started", 1)
    tag = next(line[4:] for line in agent.read(1, 1, "order").splitlines()
               if line.startswith("tag "))
    until(lambda: len(processes_with(tag)) >= 8, "all are up")
    agent.controller.send("stop", epoch=1, job=1, grace_s=1)
    agent.controller.expect("stopped", 1)
    assert not processes_with(tag)
    job = harness.OWN_JOBS
    # And when ranks end by themselves. Who ends at once is told to have ended, which says more than
    # that it has started.
    agent.order(job, 1, "setsid sleep 1003 & exit 0")
    assert agent.controller.expect("exit", job)["code"] == 0
    assert not processes_with(f"MYRIAD_INCARNATION={job}-1-")
    agent.done()


def test_a_newer_epoch_takes_the_place():
    agent = Agent().start()
    agent.order(1, 1, "sleep 1000")
    agent.controller.expect("started", 1, 1)
    old = agent.ranks(1, 1)
    agent.order(1, 2, "sleep 1000")
    agent.controller.expect("stopped", 1, 1)
    agent.controller.expect("started", 1, 2)
    assert not any(map(alive, old)) and all(map(alive, agent.ranks(1, 2)))
    agent.order(2, 1, "sleep 1000", gpus=0b10)  # in use
    refused = agent.controller.expect("started", 2)
    assert refused["code"] != 0 and b"in use" in refused["text"], refused
    agent.order(3, 1, "sleep 1000", gpus=1 << 8)  # not there
    refused = agent.controller.expect("started", 3)
    assert refused["code"] != 0 and b"not here" in refused["text"], refused
    agent.controller.send("stop", epoch=2, job=1)
    agent.controller.expect("stopped", 1, 2)
    agent.done()


def test_leases():
    """Ranks without steps end when the controller is away; those that make steps run on."""
    agent = Agent().start()
    stepping = (f"{PYTHON} -c 'import sys, time; sys.path.insert(0, sys.argv[1])\n"
                "from myriad_progress import progress\n"
                "for i in range(100000): progress(i, phase=\"train\"); time.sleep(0.1)' .")
    shutil.copy(ROOT / "python/myriad_progress.py", agent.work)
    lease_s = 6  # many times what a busy machine makes a process wait
    agent.order(1, 1, stepping, gpus=0b1, lease_s=lease_s)
    agent.order(2, 1, "sleep 1000", gpus=0b10, lease_s=lease_s)
    agent.order(3, 1, "sleep 1000", gpus=0b100, lease_s=600)
    for job in (1, 2, 3):
        agent.controller.expect("started", job)
    ranks = {job: agent.ranks(job, 1)[0] for job in (1, 2, 3)}
    for _ in range(12):  # heard every second, nobody ends
        agent.controller.send("lease")
        agent.controller.quiet("stopped exit", 0.7)
    agent.controller.hang_up()  # the connection is refused from here on
    agent.controller.listener.close()
    until(lambda: not alive(ranks[2]), "the lease of job 2 runs out")
    time.sleep(lease_s)
    assert alive(ranks[1]) and alive(ranks[3])
    agent.controller.listener = socket.create_server(("127.0.0.1", agent.controller.port))
    agent.controller.welcome()
    stopped = agent.controller.expect("stopped", 2, 1)
    assert b"lease" in stopped["text"], stopped
    assert agent.controller.expect("started", 1)["code"] == 0
    for job in (1, 3):
        agent.controller.send("stop", epoch=1, job=job)
        agent.controller.expect("stopped", job)
    agent.done()


def test_the_lease_of_a_node_that_sees_no_steps():
    """One rank tells of steps, on the first node; the other node hears of them there."""
    agents = [Agent().start(), Agent().start(name="n1")]
    port = harness.free_ports()
    for i, agent in enumerate(agents):
        shutil.copy(ROOT / "python/myriad_progress.py", agent.work)
        first = (f"[ $RANK = 0 ] || exec sleep 1000; {PYTHON} -c 'import sys, time, os\n"
                 "sys.path.insert(0, \".\")\nfrom myriad_progress import progress\n"
                 "while not os.path.exists(\"hang\"): progress(5); time.sleep(0.1)\n"
                 "time.sleep(1000)'")
        agent.order(1, 1, first, gpus=1, first_rank=i, world=2, node_rank=i, node_count=2,
                    master=f"127.0.0.1 {port}", lease_s=5)
        agent.controller.expect("started", 1)
    ranks = [agent.ranks(1, 1)[0] for agent in agents]
    for agent in agents:
        agent.controller.hang_up()
        agent.controller.listener.close()
    time.sleep(10)
    assert all(map(alive, ranks))
    (agents[0].work / "hang").touch()
    until(lambda: not any(map(alive, ranks)), "both leases run out")
    for agent in agents:
        agent.done()


def test_steps_are_told():
    agent = Agent().start()
    shutil.copy(ROOT / "python/myriad_progress.py", agent.work)
    agent.order(1, 1, f"{PYTHON} -c 'from myriad_progress import progress; progress(41); "
                "progress(42, saved=40, phase=\"save\")'", gpus=1, spec="env: {PYTHONPATH: .}\n")
    step = agent.controller.expect("step", 1)
    if step["step"] == 41:  # told before the next one came
        step = agent.controller.expect("step", 1)
    assert (step["step"], step["saved_step"], step.epoch) == (42, 40, 1), step
    assert agent.controller.expect("exit", 1)["code"] == 0
    line = " [2026-01-01] iteration      150/  500000 | consumed samples:      9600 |"
    agent.order(2, 1, f"echo '{line}'", gpus=1, first_rank=3, world=4)
    assert agent.controller.expect("step", 2)["step"] == 150
    agent.order(3, 1, "echo 'epoch 3 batch 77 loss 0.1'", gpus=1,
                spec="progress: {pattern: 'batch ([0-9]+)'}\n")
    assert agent.controller.expect("step", 3)["step"] == 77
    agent.order(4, 1, f"{PYTHON} -c 'from myriad_progress import progress; progress(9)'", gpus=1,
                first_rank=1, world=2, spec="env: {PYTHONPATH: .}\n")
    agent.controller.expect("exit", 4)
    assert not [m for m in agent.controller.heard if m.kind == "step" and m["job"] == 4]
    # The C file, and datagrams that are none.
    program = agent.work / "c"
    (agent.work / "c.c").write_text(
        '#include "myriad_progress.h"\nint main(void) { myriad_progress(7, 6, "eval"); }\n')
    if shutil.which("cc"):
        subprocess.run(["cc", "-I", ROOT / "packaging/progress", agent.work / "c.c", "-o", program],
                       check=True)
        program.chmod(0o755)
        bad = f"{PYTHON} -c 'import os, socket; s = socket.socket(socket.AF_UNIX, " \
              "socket.SOCK_DGRAM); p = os.environ[\"MYRIAD_PROGRESS\"]\n" \
              "for b in (b\"\", b\"step\", b\"step x\", b\"step 99 saved\", bytes(200), " \
              "b\"step 1 \" * 60): s.sendto(b, p)'"
        agent.order(5, 1, f"./c && {bad}", gpus=1)
        step = agent.controller.expect("step", 5)
        assert (step["step"], step["saved_step"]) == (7, 6), step
        assert agent.controller.expect("exit", 5)["code"] == 0, agent.fetch(5, 0)
    agent.done()


def test_a_rank_that_writes_much():
    """Three seconds of 100 MB/s: the first MiB and the last eight are kept, under their true
    offsets. Each MiB begins with its number, and goes on with lines that count."""
    agent = Agent().start()
    size, lines = 1 << 20, 1 << 16
    (agent.work / "flood.py").write_text(
        "import sys\n"
        f"rest = b''.join(b'%015d\\n' % i for i in range(1, {lines}))\n"
        "for i in range(300):\n"
        "    sys.stdout.buffer.write(b'%015d\\n' % i + rest)\n"
        "print('the end')\n")
    began = time.monotonic()
    agent.order(1, 1, f"exec {PYTHON} flood.py", gpus=1)
    agent.controller.expect("started", 1)
    largest = 0
    while not agent.controller.find("exit", 1):
        for _ in range(3):  # files come and go under us
            try:
                largest = max(largest, sum(f.stat().st_size
                                           for f in agent.run_folder(1, 1).iterdir()))
                break
            except FileNotFoundError:
                pass
        agent.controller.send("lease")  # on a busy machine it outlasts an agent's patience
        assert agent.controller.pump(0.05)
    print(f"  300 MiB in {time.monotonic() - began:.1f} s, at most {largest >> 10} KiB kept")
    assert largest <= 14 << 20, largest

    def fetch(offset):
        agent.controller.send("fetch", job=1, rank=0, offset=offset, bytes=1 << 16)
        return agent.controller.expect("output", 1)

    def line_at(offset):
        return b"%015d\n" % (offset // 16 % lines or offset // size)

    out = fetch(0)
    end = 300 * size
    assert out["size"] == end + 8 and out["ended"] == 1, out["size"]
    for offset in (0, 16 * 1000, size - 16, end - 8 * size, end - 3 * size, end - 16):
        part = fetch(offset)
        assert part["offset"] == offset and part["data"][:16] == line_at(offset), offset
    assert fetch(end)["data"] == b"the end\n"
    part = fetch(3 * size)  # what lay there is gone: the next that is kept comes instead
    assert end - 13 * size <= part["offset"] <= end - 8 * size, part["offset"]
    assert part["data"][:16] == line_at(part["offset"])
    agent.controller.send("fetch", job=99, rank=0, offset=0, bytes=64)
    assert agent.controller.expect("output", 99)["size"] == 0
    agent.done()


def test_bad_orders():
    """Each is answered, none runs, and the agent goes on."""
    agent = Agent().start()
    send = agent.controller.send
    cases = {
        "": b"job file", "command: [": b"job file:", "{": b"job file:", "name: x": b"command",
        "command: ''": b"empty", "command: []": b"empty", "command: {a: b}": b"command",
        "command: a\nenv: {'A=B': c}": b"name of a variable",
        "command: a\nenv: [1]": b"env",
        "command: a\nprogress: {pattern: '('}": b"pattern",
        "command: a\nprogress: {pattern: 'step'}": b"group",
        "command: a\nimage: some/image": b"podman",
        "command: [/no/such/program]": b"/no/such/program",
        "command: 'true'\ndirectory: /no/such/folder": b"/no/such/folder",
        "command: 'true'\nprolog: 'echo the disk is full; exit 1'": b"the disk is full",
    }
    job = 0
    for text, words in cases.items():
        job += 1
        send("start", epoch=1, job=job, world=1, gpus=1, spec=text, user=agent.user,
             node_count=1, master="127.0.0.1 1234")
        said = agent.controller.expect("started", job)
        assert said["code"] != 0 and words in said["text"], (text, said)
    for values, words in (({"gpus": 0}, b"no sense"), ({"world": 0}, b"no sense"),
                          ({"user": "nobody-of-that-name"}, b"not known"),
                          ({"user": "x" * 5000}, b"no name")):
        job += 1
        send("start", epoch=1, job=job, **{**dict(world=1, gpus=1, spec="command: 'true'",
                                                  user=agent.user, node_count=1), **values})
        said = agent.controller.expect("started", job)
        assert said["code"] != 0 and words in said["text"], (values, said)
    for user in ("root", ""):
        if os.getuid() == 0:
            job += 1
            send("start", epoch=1, job=job, world=1, gpus=1, spec="command: 'true'", user=user)
            said = agent.controller.expect("started", job)
            assert said["code"] != 0 and b"root" in said["text"], said
    shutil.rmtree(agent.folder / "s")  # somebody tidies up: it is made anew
    agent.order(1000, 1, "id -un", gpus=1)
    assert agent.controller.expect("exit", 1000)["code"] == 0
    assert agent.fetch(1000, 0).decode().strip() == agent.user
    agent.done()


def test_prolog_and_epilog():
    agent = Agent().start()
    # Ranks that end at once may be told of by their end alone.
    agent.order(1, 1, "cat told; until [ -e go ]; do sleep 0.1; done", gpus=1,
                spec="prolog: echo before > told\nepilog: echo after > done; exit 3\n")
    agent.controller.expect("started", 1)
    (agent.work / "go").touch()
    assert agent.controller.expect("exit", 1)["code"] == 0
    assert agent.fetch(1, 0) == b"before\n" and (agent.work / "done").read_text() == "after\n"
    agent.order(2, 1, "sleep 1000", gpus=1, spec="prolog: sleep 1000\nepilog: touch end2\n")
    until(lambda: agent.read(2, 1, "launched"), "the prolog runs")
    agent.controller.send("stop", epoch=1, job=2)
    agent.controller.expect("stopped", 2)
    assert (agent.work / "end2").exists()
    agent.done()


def test_a_server_that_talks_nonsense():
    agent = Agent().start()
    rng = random.Random(harness.SEED)
    agent.order(1, 1, "sleep 1000")
    agent.controller.expect("started", 1)
    ranks = agent.ranks(1, 1)
    good = wire.Sender()
    start = good.encode("start", 7, 1, {"job": 5, "world": 1, "gpus": 4, "spec": "x" * 60000})
    for case in range(8):
        if case == 0:
            data = bytes(rng.randrange(256) for _ in range(5000))
        elif case == 1:
            data = start[:len(start) // 2]  # and then the end
        elif case == 2:
            data = b"GET / HTTP/1.1\r\n\r\n"
        elif case == 3:
            data = wire.frame(13, b"", node=7)  # before its schema
        elif case == 4:
            data = wire.frame(wire.SCHEMA, b"\xff" * 40)
        elif case == 5:
            data = wire.HEAD.pack(wire.MAGIC, 1, 4, 0xFFFFFFFF, 0, 0, 0, 0)
        else:
            data = bytearray(start)
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        agent.controller.peer.sendall(bytes(data))
        if case == 1:
            agent.controller.hang_up()
        agent.controller.welcome()
        agent.controller.expect("started", 1)
    agent.controller.accept()
    agent.controller.send("refused", code=2, text="not a node \x1b[2J\n here")
    agent.controller.welcome()
    assert agent.controller.expect("started", 1) and all(map(alive, ranks))
    agent.controller.send("stop", epoch=1, job=1)
    agent.controller.expect("stopped", 1)
    text = agent.done()
    assert "\x1b" not in text and "not a node ?[2J? here" in text, text


def test_tests_of_the_node():
    agent = Agent().start()
    agent.controller.send("test", epoch=1, id=5, name="check")
    assert agent.controller.expect("tested", 5)["code"] == 0
    (agent.folder / "pretend.yaml").write_text("gpus: 8\nbroken: true\n")
    agent.controller.send("test", epoch=1, id=6, name="check")
    assert agent.controller.expect("tested", 6)["code"] == 1
    agent.done()
