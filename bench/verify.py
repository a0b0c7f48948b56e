"""verify: a built fabric of 100,352 GPUs against its design."""
import json
import random
import re

SEED = 20240613


def run(bench):
    out = bench.folder / "100k"
    design, p2p = out / "design.myr", out / "p2p.csv"
    plan = [bench.program, "plan", "examples/h100-100k.yaml", "--out", out]
    if not (bench.try_once("100k/plan", plan) and
            bench.try_once("100k/p2p", [bench.program, "export", "p2p", design, "--out", p2p])):
        return
    cables = read_cables(p2p)
    bench.time("100k/clean", [bench.program, "verify", design, p2p], goal=2.0)
    faulty = out / "faulty.csv"
    write_faulty(cables, faulty)
    # The answer is no: exit code 1 is what is measured.
    verify = f"'{bench.program}' verify '{design}' '{faulty}'"
    command = ["sh", "-c", f"{verify} > /dev/null; [ $? -eq 1 ]"]
    took = bench.time("100k/faults", command, goal=2.0)
    if took:
        bench.figure("100k/faults-memory", took.rss / 2**20, "MiB")
    time_infiniband(bench, out)
    lldp = out / "lldp.json"
    write_lldp(cables, lldp)
    size = lldp.stat().st_size
    took = bench.time("100k/lldp", [bench.program, "verify", design, lldp])
    if took:
        bench.figure("100k/lldp-size", size / 1e6, "MB")
        # Goals are upper limits: 200 MB/s is 5 ns a byte.
        bench.figure("100k/lldp-byte", took.cpu / size * 1e9, "ns", goal=5.0)


def time_infiniband(bench, out):
    """As many GPUs behind InfiniBand switches; then with names that the design does not know."""
    design, topo, spec = out / "ib" / "design.myr", out / "fabric.topo", out / "ib.yaml"
    spec.write_text("name: ib\nservers: 12544\naccept: [no-optics]\n"
                    "networks: {compute: {switch: q3400}}\n")
    if not (bench.try_once("100k/ib-plan",
                           [bench.program, "plan", spec, "--out", design.parent]) and
            bench.try_once("100k/topo", [bench.program, "export", "ibnetdiscover", design,
                                         "--out", topo])):
        return
    bench.time("100k/ibnetdiscover", [bench.program, "verify", design, topo], goal=2.0)
    named = out / "named.topo"
    text = topo.read_text().replace("024d59520", "b83fd2030")
    named.write_text(re.sub(r"node-([0-9]+)-nic([0-9])", r"gpu\1 mlx5_\2", text))
    bench.time("100k/ibnetdiscover-hosts", [bench.program, "verify", design, named], goal=2.0)


def read_cables(path):
    rows = path.read_text().splitlines()[1:]
    return [(row.split(",")[0::3][:2], row.split(",")[2::3][:2]) for row in rows]


def write_faulty(cables, path):
    """5,000 swaps, 500 cuts, 200 ports that nobody looked at."""
    rng = random.Random(SEED)
    far = [(devices[1], ports[1]) for devices, ports in cables]
    for _ in range(5000):
        one, other = rng.sample(range(len(far)), 2)
        far[one], far[other] = far[other], far[one]
    gone = set(rng.sample(range(len(far)), 600))
    hidden = set(sorted(gone)[::6])
    with open(path, "w", encoding="utf-8") as file:
        file.write("A-Node Name,A-Type,A-Port,Z-Node Name,Z-Type,Z-Port\n")
        for number, ((devices, ports), (device, port)) in enumerate(zip(cables, far)):
            if number not in gone:
                file.write(f"{devices[0]},,{ports[0]},{device},,{port}\n")
            elif number in hidden:
                file.write(f"{devices[0]},,{ports[0]},?,,\n{device},,{port},?,,\n")


def interface(port):
    cage, _, half = port.partition("/")
    return f"swp{cage}s{int(half) - 1}" if half else port


def write_lldp(cables, path):
    """One text of all devices, as lldpcli prints it."""
    heard = {}
    for devices, ports in cables:
        for near in (0, 1):
            far = 1 - near
            heard.setdefault(devices[near], []).append((ports[near], devices[far], ports[far]))
    with open(path, "w", encoding="utf-8") as file:
        file.write("{")
        for number, (device, rows) in enumerate(heard.items()):
            records = [{interface(port): record(far, interface(far_port))}
                       for port, far, far_port in rows]
            text = json.dumps({"lldp": {"interface": records}}, indent=2)
            file.write(f"{',' if number else ''}\n\"{device}\": {text}")
        file.write("}\n")


def record(device, port):
    return {"via": "LLDP", "rid": "1", "age": "0 day, 00:00:03",
            "chassis": {device: {"id": {"type": "mac", "value": "3e:9c:2b:3d:21:25"},
                                 "descr": "Debian GNU/Linux 12 (bookworm) Linux 6.1.0 x86_64",
                                 "mgmt-ip": "10.0.0.1", "mgmt-iface": "2",
                                 "capability": [{"type": "Bridge", "enabled": True},
                                                {"type": "Router", "enabled": False}]}},
            "port": {"id": {"type": "ifname", "value": port}, "descr": port, "ttl": "120"}}
