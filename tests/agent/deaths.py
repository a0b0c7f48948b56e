"""What survives whose death: agents, launchers and ranks are killed wherever it hurts."""
import os
import random
import shutil
import signal
import time
from pathlib import Path

import harness
from harness import Agent, alive, processes_with, until


def test_the_agent_is_killed_anywhere():
    """Whenever it is killed: no rank dies of it, none runs twice, and the exit code arrives."""
    rng = random.Random(harness.SEED)
    agent = Agent()
    for job in range(1, 13):
        delay = rng.choice([0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3])
        again = rng.choice([0, 0.01, 0.1, 0.6])
        agent.start()
        agent.order(job, 1, f"echo $$ >> pids.{job}; sleep 0.4; exit 7", gpus=1 << job % 8)
        time.sleep(delay)
        agent.kill()
        time.sleep(again)
        agent.start()
        agent.order(job, 1, f"echo $$ >> pids.{job}; sleep 0.4; exit 7", gpus=1 << job % 8)
        ended = agent.controller.expect("exit", job)
        assert ended["code"] == 7, (ended, delay, again)
        pids = (agent.work / f"pids.{job}").read_text().split()
        assert len(pids) == 1, f"job {job} ran {len(pids)} times ({delay}, {again})"
        agent.controller.quiet("exit", 0.1, job)
        agent.kill()
    agent.start()
    agent.done()


def test_a_stop_outlives_the_agent():
    """Killed at once after a stop was sent: the ranks go, and nothing starts again."""
    rng = random.Random(harness.SEED + 1)
    agent = Agent()
    for job in range(1, 7):
        agent.start()
        agent.order(job, 1, "sleep 1000")
        agent.controller.expect("started", job)
        ranks = agent.ranks(job, 1)
        agent.controller.send("stop", epoch=1, job=job, grace_s=1)
        time.sleep(rng.choice([0, 0.002, 0.01, 0.05]))
        agent.kill()
        agent.start()
        agent.controller.send("stop", epoch=1, job=job, grace_s=1)
        agent.controller.expect("stopped", job)
        assert not any(map(alive, ranks))
        agent.order(job, 1, "touch ran.$MYRIAD_JOB; sleep 1000")
        agent.controller.expect("stopped", job)
        assert not (agent.work / f"ran.{job}").exists()
        agent.kill()
    agent.start()
    agent.done()


def test_killed_inside_of_writing():
    """At each of many points between the writes of agent and launcher, from a seed."""
    rng = random.Random(harness.SEED + 3)
    points = [("agent", n) for n in rng.sample(range(1, 60), 12)]
    points += [("shim", n) for n in rng.sample(range(1, 40), 12)]
    for job, (role, number) in enumerate(points, 1):
        agent = Agent()
        agent.env = {"MYRIAD_AGENT_DIE": f"{role}:{number}"}
        script = f"echo $$ >> pids.{job}; sleep 0.2; exit 7"
        try:
            agent.start()
            agent.order(job, 1, script, gpus=1)
            if role == "agent":
                agent.controller.expect("exit", job)
            else:  # killed at the same point again and again, for a while
                agent.controller.quiet("nothing", 0.6)
        except (AssertionError, OSError):
            assert agent.process.wait(harness.PATIENCE_S) == -signal.SIGKILL  # that is why
        agent.env = {}
        agent.kill()
        agent.start()
        agent.order(job, 1, script, gpus=1)
        until(lambda: agent.read(job, 1, "exit"), role, number)
        ended = [m for m in agent.controller.heard if m.kind == "exit"] or [
            agent.controller.expect("exit stopped", job)]
        ran = agent.work / f"pids.{job}"
        count = len(ran.read_text().split()) if ran.exists() else 0
        assert count <= 1, (role, number, count)
        assert role == "shim" or ended[0]["code"] == 7, (role, number, ended)
        assert ended[0].get("code") == 7 or count == 0 or role == "shim", (role, number, ended)
        agent.controller.send("stop", epoch=1, job=job)
        agent.controller.expect("stopped", job)
        agent.done()


def test_killed_inside_of_a_stop():
    """A stop that was answered holds for ever, one that was not is carried out when it is asked
    for again; at no point does anything start after it."""
    rng = random.Random(harness.SEED + 4)
    for job, number in enumerate(rng.sample(range(15, 70), 10), harness.OWN_JOBS):
        agent = Agent()
        agent.env = {"MYRIAD_AGENT_DIE": f"agent:{number}"}
        answered = False
        try:
            agent.start()
            agent.order(job, 1, "sleep 1000", gpus=1)
            agent.controller.expect("started", job)
            agent.controller.send("stop", epoch=1, job=job)
            agent.controller.expect("stopped", job)
            answered = True
        except (AssertionError, OSError):
            assert agent.process.wait(harness.PATIENCE_S) == -signal.SIGKILL
        agent.env = {}
        agent.kill()
        agent.start()
        if not answered:
            agent.controller.send("stop", epoch=1, job=job)
            agent.controller.expect("stopped", job)
        agent.order(job, 1, "touch ran; sleep 1000", gpus=1)
        agent.controller.expect("stopped", job)
        assert not (agent.work / "ran").exists(), number
        assert not processes_with(f"MYRIAD_INCARNATION={job}-1-"), number
        agent.done()


def test_running_ranks_are_adopted():
    agent = Agent().start()
    agent.order(1, 1, "sleep 1000")
    agent.controller.expect("started", 1)
    ranks = agent.ranks(1, 1)
    for number in (signal.SIGKILL, signal.SIGTERM):
        agent.kill(number)
        assert all(map(alive, ranks))
        agent.start()
        assert agent.controller.expect("started", 1)["code"] == 0
    agent.controller.hang_up()  # the controller goes and comes
    agent.controller.welcome()
    assert agent.controller.expect("started", 1)["code"] == 0
    assert all(map(alive, ranks)) and agent.ranks(1, 1) == ranks
    agent.controller.send("stop", epoch=1, job=1, grace_s=5)
    agent.controller.expect("stopped", 1)
    agent.done()


def test_reports_are_told_until_committed():
    agent = Agent().start()
    agent.controller.acks = False
    agent.order(1, 1, "exit 4")
    assert agent.controller.expect("exit", 1)["code"] == 4
    agent.controller.hang_up()
    agent.controller.welcome()
    assert agent.controller.expect("exit", 1)["code"] == 4
    agent.kill()
    agent.start()
    ended = agent.controller.expect("exit", 1)
    assert ended["code"] == 4
    agent.controller.send("ack", sequence=ended.sequence)
    until(lambda: agent.read(1, 1, "acked"), "acked")
    agent.kill()
    agent.start()
    agent.controller.quiet("exit", 0.5)
    assert agent.fetch(1, 0) == b""  # its output is still there, and empty
    agent.done()


def test_a_rank_is_killed():
    agent = Agent().start()
    agent.order(1, 1, "exec sleep 1000", first_rank=6)
    agent.controller.expect("started", 1)
    ranks = agent.ranks(1, 1)
    os.kill(ranks[1], signal.SIGKILL)
    ended = agent.controller.expect("exit", 1)
    assert (ended["rank"], ended["signal"], ended["code"]) == (7, 9, 137), ended
    assert not any(map(alive, ranks))
    agent.done()


def test_a_launcher_is_killed():
    """Its ranks go with it, and those that hid in a session of their own too."""
    agent = Agent().start()
    agent.order(1, 1, "setsid sh -c 'sleep 1000 & exec sleep 1001' & sleep 1002 & wait")
    agent.controller.expect("started", 1)
    tag = next(line[4:] for line in agent.read(1, 1, "order").splitlines()
               if line.startswith("tag "))
    until(lambda: len(processes_with(tag)) >= 8, "all are up")
    os.kill(agent.shim(1, 1), signal.SIGKILL)
    ended = agent.controller.expect("exit", 1)
    assert ended["code"] != 0 and b"launcher" in ended["line"], ended
    assert not processes_with(tag)
    agent.done()


def test_launchers_are_killed_anywhere():
    """Whenever it happens: the end is told once, the command ran at most once, nothing is left."""
    rng = random.Random(harness.SEED + 2)
    agent = Agent().start()
    for job in range(harness.OWN_JOBS, harness.OWN_JOBS + 12):
        agent.order(job, 1, f"echo $$ >> pids.{job}; (setsid sleep 1000 &) ; sleep 1", gpus=1)
        shim = agent.shim(job, 1)
        time.sleep(rng.choice([0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.2]))
        os.kill(shim, signal.SIGKILL)
        ended = agent.controller.expect("exit", job)
        ran = (agent.work / f"pids.{job}")
        count = len(ran.read_text().split()) if ran.exists() else 0
        assert count <= 1 and (ended["code"] != 0 or count == 1), (ended, count)
        assert not processes_with(f"MYRIAD_INCARNATION={job}-1-"), ended
    agent.done()


def test_who_hides_is_found_by_its_group():
    """Without an environment and in a session of its own: only the control group knows it."""
    agent = Agent().start()
    unique = f"98765{os.getpid()}.5"  # no other number that somebody sleeps for holds it
    agent.order(1, 1, f"env -i setsid sleep {unique} & sleep 1000", gpus=1)
    agent.controller.expect("started", 1)
    hidden = until(lambda: processes_with(unique) and [
        pid for pid in processes_with(unique)
        if Path(f"/proc/{pid}/comm").read_text() == "sleep\n"], "it hides")
    in_group = "/myriad-1-1-" in Path(f"/proc/{hidden[0]}/cgroup").read_text()
    os.kill(agent.shim(1, 1), signal.SIGKILL)
    assert agent.controller.expect("exit", 1)["code"] != 0
    if in_group:
        until(lambda: not alive(hidden[0]), "it is gone")
    else:
        print("  no control group can be made here: the rest is skipped")
        os.kill(hidden[0], signal.SIGKILL)
    agent.done()


def test_the_state_folder_is_removed():
    """Nobody could ever stop these ranks again: their launcher ends them, and itself."""
    agent = Agent().start()
    agent.order(1, 1, "sleep 1000")
    agent.controller.expect("started", 1)
    ranks, shim = agent.ranks(1, 1), agent.shim(1, 1)
    agent.kill()
    shutil.rmtree(agent.state)
    until(lambda: not any(map(alive, [*ranks, shim])), "all are gone")
    agent.start()
    agent.done()


def test_agent_and_launcher_are_killed():
    agent = Agent().start()
    agent.order(1, 1, "sleep 1000")
    agent.controller.expect("started", 1)
    ranks, shim = agent.ranks(1, 1), agent.shim(1, 1)
    agent.kill()
    os.kill(shim, signal.SIGKILL)
    agent.start()
    assert agent.controller.expect("exit", 1)["code"] != 0
    assert not any(map(alive, ranks))
    agent.done()
