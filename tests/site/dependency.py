"""Whether buffers can wait for each other in a circle: read from files alone, nothing of the
program is used.

Nodes are (switch, egress port, lane). An edge leads from one to the next that some packet asks for
while it holds the first.
"""
import json
import re

ROW = re.compile(r"0x[0-9a-f]+ (\d+)\s.*portguid 0x([0-9a-f]+)")


def netlist(text):
    """{(device GUID, port): (device GUID, port)} and the GUIDs of switches, of ibnetdiscover."""
    links, switches, here = {}, set(), None
    for line in text.split("\n"):
        head = re.match(r'(Ca|Switch)\s+\d+ "[SH]-([0-9a-f]+)"', line)
        port = re.match(r'\[(\d+)\]\S*\s+"[SH]-([0-9a-f]+)"\[(\d+)\]', line)
        if head:
            here = int(head.group(2), 16)
            if head.group(1) == "Switch":
                switches.add(here)
        elif port:
            links[here, int(port.group(1))] = (int(port.group(2), 16), int(port.group(3)))
    return links, switches


def tables(text):
    """{switch: {port GUID: egress}} of a file for OpenSM, of dump_lfts or of OpenSM's own dump."""
    found, here = {}, None
    for line in text.split("\n"):
        # Nearly all lines are rows.
        if row := ROW.match(line):
            here[int(row.group(2), 16)] = int(row.group(1))
        elif head := re.match(r"Unicast lids .* guid 0x([0-9a-f]+)", line):
            here = found.setdefault(int(head.group(1), 16), {})
    return found


class Fabric:
    def __init__(self, links, switches, dead=()):
        """'dead': ends of links that are gone."""
        gone = set(dead) | {links[end] for end in dead if end in links}
        self.links = {end: peer for end, peer in links.items() if end not in gone}
        self.switches = switches
        # A host port's GUID is the one after its device's.
        self.hosts = {end[0] + 1: peer for end, peer in self.links.items()
                      if end[0] not in switches and peer[0] in switches}
        self.edges = {}
        self.known = {}  # target -> switch -> (buffer, whether it arrives, where it leads)

    def walk(self, start, target, egress, lane=None):
        """Follows one destination's entries and adds the edges; true when it arrives.

        Without lanes, what lies behind a switch is the same whoever comes there, and is followed
        once; so 'egress' must not change between walks.
        """
        known = {} if lane else self.known.setdefault(target, {})
        (switch, came_by), before, trail, arrives = start, None, [], False
        while True:
            place = (switch, came_by)
            if before is not None and switch == target:
                arrives = True
                break
            seen = known.get(place if lane else switch)
            node, arrives, peer = seen or self.hop(place, target, egress, lane)
            if node is not None and before is not None:
                self.edges.setdefault(before, set()).add(node)
            if seen or node is None:
                known[place if lane else switch] = (node, arrives, peer)
                break
            # Until more is known: who comes here again on the same walk goes round in a circle.
            known[place if lane else switch] = (node, False, peer)
            trail.append((place if lane else switch, node, peer))
            before, (switch, came_by) = node, peer
        for place, node, peer in trail:
            known[place] = (node, arrives, peer)
        return arrives

    def hop(self, place, target, egress, lane):
        """(buffer, False, where it leads), or (None, whether it has arrived, None)."""
        switch, came_by = place
        port = egress(switch, target)
        if port is None or port == 0:
            return None, port == 0 and switch == target, None
        peer = self.links.get((switch, port))
        if peer is None:
            return None, False, None
        if peer[0] not in self.switches:
            return None, peer[0] + 1 == target, None
        return (switch, port, lane(switch, came_by, port) if lane else 0), False, peer

    def cycle(self):
        """Some circle of nodes, or None: nodes without a predecessor are taken away in turn."""
        before = {}
        for node, others in self.edges.items():
            before.setdefault(node, 0)
            for other in others:
                before[other] = before.get(other, 0) + 1
        ready = [node for node, count in before.items() if count == 0]
        left = len(before)
        while ready:
            node = ready.pop()
            left -= 1
            for other in self.edges.get(node, ()):
                before[other] -= 1
                if before[other] == 0:
                    ready.append(other)
        return left or None


def switch_links(failover):
    """{link name: (device, port, device, port)} of the links between switches, as the answer of
    'route failover --all' names them."""
    found = {}
    for row in json.loads(failover)["rows"]:
        if row["between"] and row["kind"] != "host_leaf":
            a, b = row["between"].split(" ")
            found[row["what"]] = (*a.rsplit(":", 1), *b.rsplit(":", 1))
    return found


class Names:
    """From the program's names to a netlist's: devices, and one end of each link."""

    def __init__(self, ends, text):
        self.devices = {name: int(guid, 16) for guid, name in
                        re.findall(r'^Switch\s+\d+ "S-([0-9a-f]+)"\s+# "([^"]+)"', text, re.M)}
        self.all, self.switches = netlist(text)
        # The k-th link between two switches here is the k-th there: both count ports upwards.
        there, counts = {}, {}
        for (a, port), (b, _) in sorted(self.all.items()):
            there.setdefault((a, b), []).append((a, port))
        self.links = {}
        for link in sorted(ends, key=lambda name: int(name.split("/")[1])):
            a, _, b, _ = ends[link]
            pair = (self.devices[a.replace("/", "-")], self.devices[b.replace("/", "-")])
            self.links[link] = there[pair][counts.get(pair, 0)]
            counts[pair] = counts.get(pair, 0) + 1

    def ends(self, dead):
        """Ends of what a list of links and devices takes away."""
        gone = set()
        for word in dead:
            if word.startswith("link/"):
                gone.add(self.links[word])
            else:
                device = self.devices[word.replace("/", "-")]
                gone |= {end for end in self.all if end[0] == device}
        return gone
