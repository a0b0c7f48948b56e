"""simgrid: the same flows over the same paths in SimGrid (Debian's libsimgrid-dev).

Each case is run by us with --flows, --paths and --fct; SimGrid gets the links, the routes and the
order from these files. Compared: the end of every flow, and the CPU time of both whole commands:
ours plans the fabric and routes, SimGrid's reads the links and the routes that we found.
"""
import csv
import math
import random
import resource
import subprocess

LONG = True
GBPS = 100
DELAY_US = 1
# What one case wants of us: the largest difference of a flow, relative.
CLOSE = 1e-6


def run(bench):
    driver = build(bench)
    if not driver:
        return
    for name, k, words in cases(bench):
        compare(bench, driver, name, k, words)
    growth(bench)


def build(bench):
    driver = bench.folder / "simgrid"
    made = subprocess.run(["g++", "-O2", "-std=c++17", "-o", driver,
                           bench.root / "bench/simgrid.cpp", "-lsimgrid"],
                          capture_output=True, text=True, check=False)
    if made.returncode:
        lines = made.stderr.strip().splitlines() or ["g++ failed"]
        bench.fail("simgrid", f"cannot build the driver (apt install libsimgrid-dev): {lines[0]}")
        return None
    return driver


def flow_file(path, rows):
    """HPCC's flow list: source, destination, bytes, start in seconds."""
    lines = [f"{a} {b} 3 100 {size} {start:.12f}" for a, b, size, start in rows]
    path.write_text("\n".join([str(len(lines)), *lines]) + "\n", encoding="utf-8")
    return f"file:{path},format=hpcc"


def pair(rng, hosts):
    source, to = rng.randrange(hosts), rng.randrange(hosts - 1)
    return source, to + (to >= source)


def mixed(path, hosts, flows, seed=1):
    """All at once, sizes over three decades: every link is full until the end."""
    rng = random.Random(seed)
    return flow_file(path, [(*pair(rng, hosts), int(rng.lognormvariate(12, 1.5)) + 1, 0)
                            for _ in range(flows)])


def poisson(path, hosts, flows, load, seed=2):
    """Arrivals that fill that part of all NICs on average; exponential sizes of 1 MB."""
    rng, now, rows = random.Random(seed), 0.0, []
    rate = load * hosts * GBPS * 1e9 / 8e6
    for _ in range(flows):
        now += rng.expovariate(rate)
        rows.append((*pair(rng, hosts), int(rng.expovariate(1e-6)) + 1, now))
    return flow_file(path, rows)


def permutations(path, hosts, count, seed=6):
    """One after the other, far enough apart: what starts both programs weighs little."""
    rng, rows = random.Random(seed), []
    for i in range(count):
        order = list(range(hosts))
        while any(a == b for a, b in enumerate(order)):
            rng.shuffle(order)
        rows += [(a, b, 10**6, i * 1e-3) for a, b in enumerate(order)]
    return flow_file(path, rows)


def cases(bench):
    folder = bench.folder
    yield "permutation-1024", 16, [permutations(folder / "perm.txt", 1024, 20)]
    yield "poisson30-1024", 16, [poisson(folder / "p30.txt", 1024, 20000, 0.3)]
    yield "poisson90-1024", 16, [poisson(folder / "p90.txt", 1024, 20000, 0.9)]
    yield "two-jobs-1024", 16, ["permutation:5MB,seed=3", "permutation:2MB,seed=4"]
    yield "mixed-128-5k", 8, [mixed(folder / "m5.txt", 128, 5000)]
    yield "mixed-1024-10k", 16, [mixed(folder / "m10.txt", 1024, 10000)]
    yield "all-pairs-128", 8, [flow_file(folder / "pairs.txt", [
        (a, b, 10000 + (a * 131 + b * 17) % 1000, 0) for a in range(128) for b in range(128)
        if a != b])]
    yield "alltoall-128", 8, ["alltoall:1.28MB"]
    yield "ring-128", 8, ["allreduce:ring,12.8MB,schedule=full"]
    yield "ring-beside-128", 8, ["allreduce:ring,12.8MB,schedule=full", "permutation:5MB"]


def simulate(bench, name, k, words, delay):
    """Our run; the command, and its files by name."""
    files = {what: bench.folder / f"{name}.{what}.csv" for what in ("flows", "paths", "fct")}
    command = [bench.program, "sim", "--topology", f"fat-tree:k={k},gbps={GBPS},delay={delay}us",
               "--lb", "ecmp"]
    for word in words:
        command += ["--job", word]
    extra = [part for what, path in files.items() for part in (f"--{what}", path)]
    return command, extra, files


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def translate(files, out):
    """Our files as the driver's input; the ids of the flows in its order."""
    links, routes, latency = {}, {}, {}
    for row in read(files["paths"]):
        path = [links.setdefault(link, len(links)) for link in row["path"].split()]
        routes[int(row["from"]), int(row["to"])] = path
        latency[row["from"], row["to"]] = float(row["latency_us"])
    rows = read(files["flows"])
    start = {row["id"]: float(row["compute_us"]) for row in rows if not row["from"]}
    flows = [row for row in rows if row["from"]]
    place = {row["id"]: i for i, row in enumerate(flows)}
    hosts = max(max(key) for key in routes) + 1
    # SimGrid gives a flow the less of a full link the longer its latency is, as TCP would; here
    # links have none, and flows start that much later. The order of a schedule has none (below).
    lines = [f"links {len(links)}"] + [f"{GBPS * 1e9 / 8} 0"] * len(links)
    lines += [f"hosts {hosts}", f"routes {len(routes)}"]
    lines += [f"{a} {b} {len(path)} {' '.join(map(str, path))}" for (a, b), path in routes.items()]
    lines.append(f"flows {len(flows)}")
    for row in flows:
        before = row["after"].split()
        late = max([start[one] for one in before if one in start], default=0) * 1e-6
        late += latency[row["from"], row["to"]] * 1e-6
        waits = [str(place[one]) for one in before if one in place]
        lines.append(f"{row['from']} {row['to']} {row['bytes']} {late:.15f} {len(waits)} "
                     + " ".join(waits))
    out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [row["id"] for row in flows]


def compare(bench, driver, name, k, words):
    # Where bytes follow bytes of the same sender, SimGrid would wait for the latency between them:
    # with links of no length both mean the same.
    delay = 0 if name.startswith("ring") else DELAY_US
    command, extra, files = simulate(bench, name, k, words, delay)
    if not bench.try_once(name, [*command, *extra]):
        return
    ids = translate(files, bench.folder / "input")
    try:
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run([driver, bench.folder / "input", bench.folder / "output"],
                       capture_output=True, text=True, timeout=3600, check=True)
        theirs_s = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as fault:
        bench.fail(name, f"SimGrid: {fault}")
        return
    theirs = [float(line) * 1e6 for line in (bench.folder / "output").read_text().split()]
    ours = {row["task"]: float(row["end_us"]) for row in read(files["fct"])}
    worst = max(abs(ours[one] - end) / max(end, 1e-9) for one, end in zip(ids, theirs))
    if len(words) > 1:
        # We would also run each job alone; SimGrid does not. The same tasks as one workload:
        command = [*command[:command.index("--job")], "--workload", f"file:{files['flows']}"]
    took = bench.time(f"{name}/cpu", command)
    bench.figure(f"{name}/worst-flow", worst, "relative", goal=CLOSE)
    bench.figure(f"{name}/simgrid-cpu", theirs_s, "s")
    if took:
        bench.figure(f"{name}/part", took.cpu / theirs_s, "of SimGrid's CPU", goal=0.1)


def in_flight(path):
    """Flows under way, on average while new ones still start."""
    rows = read(path)
    last = max(float(row["start_us"]) for row in rows)
    return sum(float(row["end_us"]) - float(row["start_us"]) for row in rows) / max(last, 1e-9)


def growth(bench):
    """Exponents of our cost: flows at constant flows in flight, and where those double too.

    At 30 % load those in flight are soon as many as they stay; at 60 % that takes 40,000 flows.
    """
    points = {"constant": [], "doubling": []}
    for flows in (10000, 20000, 40000):
        for kind in points:
            path = bench.folder / f"{kind}{flows}.txt"
            words = (poisson(path, 1024, flows, 0.3) if kind == "constant"
                     else mixed(path, 1024, flows))
            command, extra, files = simulate(bench, kind, 16, [words], DELAY_US)
            most = 60 if (kind, flows) == ("doubling", 40000) else None
            took = bench.time(f"growth-{kind}/{flows}", command, most, rounds=1)
            if took:
                points[kind].append((math.log(flows), math.log(took.cpu)))
            if kind == "constant" and bench.try_once(f"growth-{kind}/{flows}", command + extra):
                bench.figure(f"growth-{kind}/{flows}/in-flight", in_flight(files["fct"]), "flows")
    for kind, goal in (("constant", 1.2), ("doubling", 1.8)):
        (x0, y0), (x1, y1) = points[kind][0], points[kind][-1]
        bench.figure(f"growth-{kind}/exponent", (y1 - y0) / (x1 - x0), "of flows", goal=goal)
