"""A real server in a folder of its own, and the command as its users type it."""
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LIMIT_S = 240


class Lab:
    """A folder with a server in it, and the words that reach it."""

    def __init__(self, myriad, top):
        self.myriad, self.top = myriad, top
        self.folder = os.path.join(top, "lab")
        self.server = None
        self.environment = {key: value for key, value in os.environ.items()
                            if not key.startswith("MYRIAD_")}
        self.environment.update(LC_ALL="C.UTF-8", COLUMNS="100")

    def run(self, *words, code=0, text=None, **more):
        """Runs the command; `code` is the exit status that is right."""
        environment = {**self.environment, **more}
        result = subprocess.run([self.myriad, *words], env=environment, cwd=self.top, text=True,
                                input=text, capture_output=True, timeout=LIMIT_S, check=False,
                                **({} if text is not None else {"stdin": None}))
        assert result.returncode == code, \
            f"{words}: exit status {result.returncode}, {code} is right: {result.stderr}"
        if code >= 2 or (code == 1 and not result.stdout):
            lines = result.stderr.splitlines()
            assert lines and lines[0].startswith("myriad: "), f"{words}: {result.stderr!r}"
            assert len(lines) <= 2 and (len(lines) == 1 or lines[1].startswith("hint: ")), lines
            assert not result.stdout, f"{words} fails and prints {result.stdout!r}"
        return result

    def ask(self, *words, **more):
        return self.run(*words, "--dir", self.folder, **more)

    def json(self, *words, **more):
        return json.loads(self.ask(*words, "-o", "json", **more).stdout)

    def serve(self, folder=None):
        folder = folder or self.folder
        self.server = subprocess.Popen([self.myriad, "serve", folder], env=self.environment,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True)
        line = self.server.stdout.readline()
        assert line.startswith("serving "), line
        return line.split()[1].rstrip("/")

    def stop(self):
        if self.server:
            self.server.send_signal(signal.SIGTERM)
            self.server.communicate(timeout=LIMIT_S)
            assert self.server.returncode == 0, self.server.returncode
            self.server = None


def init(lab, folder, *more):
    agents = [] if "--world" in more else ["--agents", "127.0.0.1:0"]
    lab.run("init", folder, "--nodes", "gpu-[01-04]", "--http", "127.0.0.1:0", *agents, "--user",
            "nobody", *more)


def token_file(lab, name, role, *more):
    token = lab.json("token", "new", "--user", name, "--role", role, *more)["tokens"][0]["token"]
    path = os.path.join(lab.top, f"{name}.token")
    Path(path).write_text(token + "\n")
    return path


def run_checks(checks):
    """Each check gets the same server; the names behind the program's choose some."""
    wanted = sys.argv[2:]
    failed = 0
    with tempfile.TemporaryDirectory(prefix="myriad-server-") as top:
        lab = Lab(os.path.abspath(sys.argv[1]), top)
        init(lab, lab.folder)
        lab.serve()
        try:
            for function in checks:
                if wanted and function.__name__ not in wanted:
                    continue
                try:
                    function(lab)
                    print(f"ok    {function.__name__}")
                except AssertionError as fault:
                    failed += 1
                    print(f"FAIL  {function.__name__}: {fault}")
        finally:
            lab.stop()
    print(f"{len(checks)} checks, {failed} failed")
    return 1 if failed else 0
