"""Agents with made-up GPUs beside a lab's server."""
import os
import pwd
import subprocess
import time
from pathlib import Path

from lab import LIMIT_S, Lab


class Nodes:
    """Agents with made-up GPUs; they end with their process groups."""

    def __init__(self, lab, agent, names=("n1", "n2"), gpus=2):
        self.lab, self.agents = lab, []
        port = lab.server.stdout.readline().split()[-1]
        pretend = os.path.join(lab.top, "pretend.yaml")
        Path(pretend).write_text(f"gpus: {gpus}\n")
        for name in names:
            token = os.path.join(lab.top, f"{name}.enrol")
            Path(token).write_text(lab.json("enrol", name)["tokens"][0]["token"])
            os.chmod(token, 0o600)
            sockets = os.path.join(lab.top, f"{name}.sockets")
            os.mkdir(sockets)
            self.agents.append(subprocess.Popen(
                [agent, "--server", f"127.0.0.1:{port}", "--name", name, "--state",
                 os.path.join(lab.top, f"{name}.state"), "--sockets", sockets, "--token-file",
                 token, "--pretend", pretend], stdout=-3, stderr=-3, env=lab.environment))
        begun = time.monotonic()
        while len(lab.json("node", "list", "--state", "healthy")["nodes"]) < len(names):
            assert time.monotonic() - begun < LIMIT_S, lab.ask("node", "list").stdout
            time.sleep(0.2)

    def stop(self):
        for agent in self.agents:
            agent.terminate()
        for agent in self.agents:
            agent.wait(LIMIT_S)


def with_agents(lab, folder, nodes, gpus, *options):
    """A server of its own, to be served; None where the program of the agent is not built."""
    agent = os.path.join(os.path.dirname(lab.myriad), "myriad-agent")
    if not os.path.exists(agent):
        print(f"      {agent} is not there: nothing of ranks is looked at")
        return None, None
    other = Lab(lab.myriad, lab.top)
    other.folder = os.path.join(lab.top, folder)
    user = "nobody" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
    os.chmod(lab.top, 0o755)
    lab.run("init", other.folder, "--nodes", nodes, "--gpus-per-node", str(gpus), "--http",
            "127.0.0.1:0", "--agents", "127.0.0.1:0", "--user", user, "--pretend", *options)
    return other, agent


def until(what, ask):
    """The first true answer."""
    begun = time.monotonic()
    while not (answer := ask()):
        assert time.monotonic() - begun < LIMIT_S, what
        time.sleep(0.1)
    return answer
