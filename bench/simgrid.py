"""simgrid: the same flows over the same paths in SimGrid (Debian's libsimgrid-dev).

Each case is run by us with --flows, --paths and --fct; SimGrid gets the links, the routes and the
order from these files. Compared: the end of every flow, and the CPU time of both whole commands:
ours plans the fabric and routes, SimGrid's reads the links and the routes that we found. A case of
which SimGrid has not made an end after LIMIT_S of CPU is run again with half of its flows, and so
on: the output says of how many. All cases stand in a table at the end.
"""
import csv
import math
import random
import resource
import signal
import subprocess

LONG = True
GBPS = 100
DELAY_US = 1
# What one case wants of us: the largest difference of a flow, relative; a tenth of the CPU.
CLOSE = 1e-6
PART = 0.1
LIMIT_S = 300


def run(bench):
    driver = build(bench)
    if not driver:
        return
    rows = []
    for name, k, flows, make in cases(bench):
        whole, row = flows, compare(bench, driver, name, k, make(flows))
        while row is None and flows > whole / 8 and make(flows) != make(flows // 2):
            print(f"simgrid/{name}: SimGrid has not ended {flows} flows in {LIMIT_S} s of CPU; "
                  "half of them are next", flush=True)
            flows //= 2
            row = compare(bench, driver, name, k, make(flows))
        if row is None:
            bench.fail(name, f"SimGrid takes more than {LIMIT_S} s of CPU")
        elif row:
            cut = f" of {whole:,}" if flows < whole else ""
            rows.append((name, f"{row[0]:,}{cut}", *row[1:]))
    table(rows)
    growth(bench)


def table(rows):
    print("| case | flows | worst flow off by | ours, CPU s | SimGrid, CPU s | times |")
    print("|---|---|---|---|---|---|")
    for name, flows, worst, ours, theirs in rows:
        print(f"| {name} | {flows} | {worst:.1e} | {ours:.3g} | {theirs:.3g} | "
              f"{theirs / ours:.0f} |", flush=True)


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


def permutations(path, hosts, flows, seed=6):
    """One after the other, far enough apart: what starts both programs weighs little."""
    rng, rows = random.Random(seed), []
    for i in range(flows // hosts):
        order = list(range(hosts))
        while any(a == b for a, b in enumerate(order)):
            rng.shuffle(order)
        rows += [(a, b, 10**6, i * 1e-3) for a, b in enumerate(order)]
    return flow_file(path, rows)


def pairs(path, hosts, flows):
    """Every host to every other, sizes of 10,000 to 11,000 bytes; of fewer flows every so many."""
    rows = [(a, b, 10000 + (a * 131 + b * 17) % 1000, 0) for a in range(hosts)
            for b in range(hosts) if a != b]
    return flow_file(path, rows[::len(rows) // flows])


def cases(bench):
    """Name, ports of a switch, flows, and what makes the jobs of so many flows."""
    def path(flows):
        return bench.folder / f"flows{flows}.txt"

    ring = "allreduce:ring,12.8MB,schedule=full"
    yield "permutation-1024", 16, 20480, lambda n: [permutations(path(n), 1024, n)]
    yield "two-jobs-1024", 16, 2048, lambda n: ["permutation:5MB,seed=3", "permutation:2MB,seed=4"]
    yield "ring-128", 8, 32512, lambda n: [ring]
    yield "ring-beside-128", 8, 32640, lambda n: [ring, "permutation:5MB"]
    yield "mixed-128", 8, 5000, lambda n: [mixed(path(n), 128, n)]
    yield "poisson30-1024", 16, 20000, lambda n: [poisson(path(n), 1024, n, 0.3)]
    yield "alltoall-128", 8, 16256, lambda n: ["alltoall:1.28MB"]
    yield "mixed-1024", 16, 10000, lambda n: [mixed(path(n), 1024, n)]
    yield "poisson90-1024", 16, 10000, lambda n: [poisson(path(n), 1024, n, 0.9)]
    yield "all-pairs-128", 8, 16256, lambda n: [pairs(path(n), 128, n)]


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


def cpu_limit():
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S + 5))


def their_run(bench, driver):
    """CPU seconds of SimGrid and the end of each flow in us; None when it takes too long."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([driver, bench.folder / "input", bench.folder / "output"],
                          capture_output=True, text=True, check=False, preexec_fn=cpu_limit)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return None
    done.check_returncode()
    took = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return took, [float(line) * 1e6 for line in (bench.folder / "output").read_text().split()]


def compare(bench, driver, name, k, words):
    """Flows, the worst difference, CPU of both; () when it fails, None when it takes too long."""
    # Where bytes follow bytes of the same sender, SimGrid would wait for the latency between them:
    # with links of no length both mean the same.
    delay = 0 if name.startswith("ring") else DELAY_US
    command, extra, files = simulate(bench, name, k, words, delay)
    if not bench.try_once(name, [*command, *extra]):
        return ()
    ids = translate(files, bench.folder / "input")
    try:
        answer = their_run(bench, driver)
    except subprocess.CalledProcessError as fault:
        bench.fail(name, f"SimGrid: {fault}")
        return ()
    if answer is None:
        return None
    theirs_s, theirs = answer
    ours = {row["task"]: float(row["end_us"]) for row in read(files["fct"])}
    if len(ids) != len(theirs) or min(theirs) < 0:
        bench.fail(name, "SimGrid: not every flow has ended")
        return ()
    worst = max(abs(ours[one] - end) / max(end, 1e-9) for one, end in zip(ids, theirs))
    if len(words) > 1:
        # We would also run each job alone; SimGrid does not. The same tasks as one workload:
        command = [*command[:command.index("--job")], "--workload", f"file:{files['flows']}"]
    took = bench.time(f"{name}/cpu", command)
    bench.figure(f"{name}/worst-flow", worst, "relative", goal=CLOSE)
    bench.figure(f"{name}/simgrid-cpu", theirs_s, "s")
    if not took:
        return ()
    bench.figure(f"{name}/part", took.cpu / theirs_s, "of SimGrid's CPU", goal=PART)
    return len(ids), worst, took.cpu, theirs_s


def in_flight(path):
    """Flows under way, on average while new ones still start."""
    rows = read(path)
    last = max(float(row["start_us"]) for row in rows)
    return sum(float(row["end_us"]) - float(row["start_us"]) for row in rows) / max(last, 1e-9)


def growth(bench):
    """Exponents of our cost over flows: at constant flows in flight, and where those double too,
    in fabrics that double with them (ten flows a host), in one that is full from the start (40 to
    160 flows a host) and in one that fills up meanwhile (10 to 40).

    At 30 % load those in flight are soon as many as they stay; at 60 % that takes 40,000 flows.
    """
    def path(kind, flows):
        return bench.folder / f"{kind}{flows}.txt"

    kinds = {
        "constant": (1.2, [(16, n, lambda n: poisson(path("constant", n), 1024, n, 0.3))
                           for n in (10000, 20000, 40000)]),
        "wider": (1.8, [(k, 10 * k**3 // 4, lambda n: mixed(path("wider", n), n // 10, n))
                        for k in (16, 20, 26)]),
        "fuller": (1.8, [(8, n, lambda n: mixed(path("fuller", n), 128, n))
                         for n in (5000, 10000, 20000)]),
        "denser": (1.8, [(16, n, lambda n: mixed(path("denser", n), 1024, n))
                         for n in (10000, 20000, 40000)]),
    }
    for kind, (goal, steps) in kinds.items():
        points = []
        for k, flows, make in steps:
            command, extra, files = simulate(bench, kind, k, [make(flows)], DELAY_US)
            name = f"growth-{kind}/{flows}"
            most = 60 if name == "growth-denser/40000" else None
            took = bench.time(name, command, most, rounds=1)
            if took:
                points.append((math.log(flows), math.log(took.cpu)))
            if kind == "constant" and bench.try_once(name, command + extra):
                bench.figure(f"{name}/in-flight", in_flight(files["fct"]), "flows")
        (x0, y0), (x1, y1) = points[0], points[-1]
        bench.figure(f"growth-{kind}/exponent", (y1 - y0) / (x1 - x0), "of flows", goal=goal)
