"""The bisection of small plans once more, from the cable list alone.

Every host port and every switch is a vertex, every cable its links' capacity; the halves are those
that docs/planning.md describes; the flow is found by plain augmenting paths. Nothing here knows of
classes of switches or of the planner's arrays.
"""
import collections
import csv
import json
import re
import subprocess
import tempfile
from pathlib import Path

PORTS_MAX = 1200
NODES = ("node", "store", "mgmt")


def max_flow(capacity, source, sink):
    """Shortest augmenting paths; capacity[a][b], which is used up."""
    total = 0
    while True:
        came, queue = {source: None}, collections.deque([source])
        while queue and sink not in came:
            at = queue.popleft()
            for to, left in capacity[at].items():
                if left > 0 and to not in came:
                    came[to] = at
                    queue.append(to)
        if sink not in came:
            return total
        least, at = None, sink
        while came[at] is not None:
            left = capacity[came[at]][at]
            least = left if least is None else min(least, left)
            at = came[at]
        at = sink
        while came[at] is not None:
            capacity[came[at]][at] -= least
            capacity[at][came[at]] += least
            at = came[at]
        total += least


class Network:
    """Links of one network."""

    def __init__(self, rows, order):
        self.order = order
        self.hosts = []  # (port, device, switch, gbps)
        self.joints = []  # (switch, switch, gbps)
        for row in rows:
            gbps = int(row["gbps"])
            if row["layer"] == "host_leaf":
                port = (row["a_device"], row["a_port"])
                self.hosts.append((port, row["a_device"], row["b_device"], gbps))
            else:
                self.joints.append((row["a_device"], row["b_device"], gbps))

    def flow(self, first_half):
        """From the ports in the set to the other ports that 'first_half' knows."""
        capacity = collections.defaultdict(lambda: collections.defaultdict(int))
        for a, b, gbps in self.joints:
            capacity[a][b] += gbps
            capacity[b][a] += gbps
        for port, _, switch, gbps in self.hosts:
            side = first_half.get(port)
            if side is True:
                capacity["source"][port] += gbps
                capacity[port][switch] += gbps
                capacity[switch][port] += 0
                capacity[port]["source"] += 0
            elif side is False:
                capacity[switch][port] += gbps
                capacity[port]["sink"] += gbps
                capacity[port][switch] += 0
                capacity["sink"][port] += 0
        return max_flow(capacity, "source", "sink")

    def fabrics(self):
        """Sets of switches that cables join."""
        near = collections.defaultdict(set)
        for a, b, _ in self.joints:
            near[a].add(b)
            near[b].add(a)
        left = {row[2] for row in self.hosts} | set(near)
        while left:
            start = left.pop()
            found, queue = {start}, [start]
            while queue:
                for to in near[queue.pop()]:
                    if to not in found:
                        found.add(to)
                        queue.append(to)
            left -= found
            yield found

    def by_ports(self, key):
        """Halved in the order of a key of the switch, in each fabric by itself."""
        half = {}
        for fabric in self.fabrics():
            ports = [row for row in self.hosts if row[2] in fabric]
            ports.sort(key=lambda row: (key(row[2]), self.order[row[2]]))
            for number, row in enumerate(ports):
                half[row[0]] = number < len(ports) // 2
        return self.flow(half)

    def by_nodes(self):
        nodes = sorted({row[1] for row in self.hosts if row[1].split("/")[0] in NODES},
                       key=lambda name: self.order[name])
        if len(nodes) < 2:
            return None
        first = set(nodes[:len(nodes) // 2])
        return self.flow({row[0]: row[1] in first for row in self.hosts if row[1] in set(nodes)})


def numbers(name):
    return [int(x) for x in re.findall(r"\d+", name.split("/")[1])]


def worst_halves(network, topology):
    """(ports, nodes) in Gb/s."""
    keys = [lambda name: 0]
    if topology == "rail":
        keys.append(lambda name: numbers(name)[-1])
    if topology == "torus":
        sides = max(len(numbers(row[2])) for row in network.hosts)
        keys += [lambda name, side=side: numbers(name)[side] for side in range(sides)]
    ports = min(network.by_ports(key) for key in keys)
    nodes = network.by_nodes()
    return ports, ports if nodes is None else nodes


def differences(myriad, path, plan):
    """None when the plan's figures are right, or what is wrong."""
    with tempfile.TemporaryDirectory(prefix="myriad-flows-") as folder:
        out = Path(folder) / "out"
        subprocess.run([myriad, "plan", path, "--out", out], check=True, capture_output=True)
        rows = list(csv.DictReader((out / "cables.csv").open()))
        devices = json.loads((out / "design.json").read_text())["devices"]
    order = {device["name"]: device["id"] for device in devices}
    for name, stated in plan["networks"].items():
        if stated is None or stated["host_ports"] > PORTS_MAX:
            continue
        network = Network([row for row in rows if row["network"] == name], order)
        ports, nodes = worst_halves(network, stated["topology"])
        said = (stated["bisection_ports_gbps"], stated["bisection_nodes_gbps"])
        if (ports, nodes) != said or stated["bisection_gbps"] != min(said):
            return f"{name}: the plan says {said}, the cables carry {(ports, nodes)}"
    return None
