"""What the tests of `myriad verify` share: designs, cables as they were built, and the truth.

A Wiring holds the planned cables of one network and those that are there. Faults are planted in it,
it is written as a point-to-point list, and what verify must say follows from it by plain set
arithmetic: none of the program's own methods are used.
"""
import csv
import io
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_S = 600
STATES = ("right", "wrong", "missing", "unseen", "extra", "degraded", "unread")


def call(*command, codes=(0,)):
    """Runs a command; its standard output."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=TIMEOUT_S, check=False)
    if done.returncode not in codes:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def plan(myriad, folder, spec):
    """The design of an example, or of a spec's text; returns the path of its file."""
    source = ROOT / "examples" / f"{spec}.yaml"
    if not source.exists():
        source = Path(folder) / "spec.yaml"
        source.write_text(spec)
    out = Path(folder) / (source.stem if source.stem != "spec" else "small")
    call(myriad, "plan", source, "--out", out, codes=(0, 1))
    return out / "design.myr"


class Wiring:
    """Ports are (device, port) as a point-to-point list names them."""

    HEADER = ["A-Node Name", "A-Type", "A-Port", "Z-Node Name", "Z-Type", "Z-Port"]

    def __init__(self, myriad, design, net="compute"):
        self.myriad, self.design, self.net = myriad, design, net
        rows = csv.reader(io.StringIO(call(myriad, "export", "p2p", design, "--net", net)))
        assert next(rows) == self.HEADER
        self.plan = {}
        self.planned = []
        for a_device, _, a_port, z_device, _, z_port in rows:
            self.planned.append(((a_device, a_port), (z_device, z_port)))
        for a, z in self.planned:
            self.plan[a], self.plan[z] = z, a
        self.cables = [list(cable) for cable in self.planned]
        self.unknown = set()  # ports that nobody looked at

    # --- faults; a cable is its number in the list

    def swap(self, one, other):
        """Exchanges the plugs at the far ends of two cables."""
        a, b = self.cables[one], self.cables[other]
        a[1], b[1] = b[1], a[1]

    def permute(self, targets):
        """Moves plugs: {port: port it goes to}, all at once."""
        for cable in self.cables:
            if cable:
                cable[:] = [targets.get(end, end) for end in cable]

    def cut(self, number):
        self.cables[number] = None

    def hide(self, number):
        """Nobody looked at either end of the cable."""
        self.unknown.update(self.cables[number])
        self.cables[number] = None

    def number_at(self, port):
        return next(i for i, cable in enumerate(self.cables) if cable and port in cable)

    # --- the truth

    def found(self):
        found = {}
        for cable in self.cables:
            if cable:
                assert cable[0] not in found and cable[1] not in found, "a port with two cables"
                found[cable[0]], found[cable[1]] = cable[1], cable[0]
        return found

    def seen_devices(self, found):
        """Devices that a list mentions."""
        return {device for device, _ in found} | {device for device, _ in self.unknown}

    def states(self):
        """{port: state} of all ports that are planned or have a cable."""
        found = self.found()
        seen = self.seen_devices(found)

        def known(port):
            return port in found or (port[0] in seen and port not in self.unknown)

        states = {}
        for port in self.plan.keys() | found.keys():
            peer, there = self.plan.get(port), found.get(port)
            if there:
                states[port] = "right" if there == peer else "wrong" if peer else "extra"
            else:
                states[port] = "missing" if known(port) and known(peer) else "unseen"
        return states

    def hear(self, states, told, alone=False):
        """Where only the switch told, a host that is heard on other cables has none there."""
        found = self.found()
        heard = {a[0] for a, z in found.items() if {a[0], z[0]} & told}
        for a, z in self.planned:
            host, switch = (a[0], z[0]) if a[0].startswith("node-") else (z[0], a[0])
            if states[a] == "unseen" and host.startswith("node-") and switch in told \
                    and (alone or host in heard) and not {a, z} & self.unknown:
                states[a] = states[z] = "missing"
        return states

    def moves(self, states=None):
        """(moves, adds, removes) by components of the difference, found with a union of sets."""
        found, states = self.found(), states or self.states()
        parent = {}

        def root(port):
            parent.setdefault(port, port)
            while parent[port] != port:
                parent[port] = parent[parent[port]]
                port = parent[port]
            return port

        wrong = {frozenset((a, z)) for a, z in found.items() if self.plan.get(a) != z}
        lacking = {frozenset((a, z)) for a, z in self.plan.items()
                   if found.get(a) != z and {states[a], states[z]} & {"wrong", "missing"}}
        for a, z in map(tuple, wrong | lacking):
            parent[root(a)] = root(z)
        parts = {}
        for edges, slot in ((wrong, 0), (lacking, 1)):
            for edge in edges:
                parts.setdefault(root(next(iter(edge))), ([], []))[slot].append(edge)
        moves = adds = removes = 0
        for red, blue in parts.values():
            ends = [port for edge in red + blue for port in edge]
            single = [port for port in set(ends) if ends.count(port) == 1]
            empty = [port for port in single if port not in found]
            if not single:
                moves += len(red) - 1
            elif len(empty) == 2:
                moves += len(red)
                adds += all(states[port] == "missing" for port in empty)
            elif len(empty) == 1:
                moves += len(red)
            else:
                moves += len(red) - 1
                removes += 1
        return moves, adds, removes

    # --- files and results

    def write_p2p(self, path, marks=True):
        """The cables that are there; ports that nobody looked at have '?' as their neighbour."""
        with open(path, "w", newline="", encoding="utf-8") as file:
            file.write(",".join(self.HEADER) + "\n")
            for cable in filter(None, self.cables):
                (a_device, a_port), (z_device, z_port) = cable
                file.write(f"{a_device},,{a_port},{z_device},,{z_port}\n")
            for device, port in sorted(self.unknown) if marks else ():
                file.write(f"{device},,{port},?,,\n")
        return path

    def verify(self, *files, codes=(0, 1), options=()):
        text = call(self.myriad, "verify", self.design, *files, "--net", self.net, "-o", "json",
                    *options, codes=codes)
        return json.loads(text)

    def listed_states(self, *files, options=()):
        """{port: state} of the ports that verify lists: all but the right ones."""
        text = call(self.myriad, "verify", self.design, *files, "--net", self.net, "-o", "csv",
                    "--list", "ports", *options, codes=(0, 1))
        rows = csv.DictReader(io.StringIO(text))
        return {(row["device"].replace("/", "-", 1), row["port"]): row["state"] for row in rows}


class Checks:
    """Collects what is not as it should be, and ends the test."""

    def __init__(self):
        self.failed = []
        self.count = 0

    def same(self, what, found, expected):
        self.count += 1
        if found != expected:
            self.failed.append(f"{what}: {found}, expected {expected}")

    def true(self, what, condition):
        self.count += 1
        if not condition:
            self.failed.append(what)

    def verdict(self, wiring, what, *files, options=()):
        """Everything that the truth tells about a wiring."""
        result = wiring.verify(*files, options=options)
        truth = wiring.states()
        counts = {state: 0 for state in STATES}
        for state in truth.values():
            counts[state] += 1
        self.same(f"{what}: ports", result["ports"], counts)
        listed = wiring.listed_states(*files, options=options)
        expected = {port: state for port, state in truth.items() if state != "right"}
        wrong = {port for port in listed.keys() | expected.keys()
                 if listed.get(port) != expected.get(port)}
        self.same(f"{what}: ports with another state", sorted(wrong)[:5], [])
        repair, moves = result["repair"], wiring.moves(truth)
        self.same(f"{what}: moves, adds, removes",
                  (repair["moves"], repair["adds"], repair["removes"]), moves)
        self.same(f"{what}: bound", repair["lower_bound"], repair["moves"])
        self.same(f"{what}: exact", repair["exact"], True)
        self.same(f"{what}: steps", len(repair["steps"]), sum(moves))
        return result

    def end(self):
        for line in self.failed:
            print(line)
        print(f"{self.count} checks, {len(self.failed)} failed")
        sys.exit(1 if self.failed or not self.count else 0)
