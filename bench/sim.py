"""sim: the fluid simulator: big collectives, a whole training step, cost by number of flows."""
import math

STEP = "step:llama3-405b,tp=8,pp=16,micro_batch=1,global_batch=3136,tflops=400"


def run(bench):
    ring = [bench.program, "sim", "--topology", "fat-tree:k=42,gbps=400,delay=1us", "--workload",
            "allreduce:ring,1GB,ranks=16384", "--lb", "ecmp"]
    bench.time("16k/ring-1gb", ring, 1.0)
    large_step(bench)
    curve(bench)


def large_step(bench):
    """100,352 GPUs, tensor, pipeline and data parallel, 405 billion parameters."""
    out = bench.folder / "100k"
    if not bench.try_once("100k/step", [bench.program, "plan", "examples/h100-100k.yaml", "--out",
                                        out]):
        return
    design = out / "design.myr"
    took = bench.time("100k/step", [bench.program, "sim", "--design", design, "--workload", STEP,
                                    "--lb", "planned"], 10.0, rounds=2)
    if took:
        bench.figure("100k/step-memory", took.rss / 2**30, "GiB", goal=8.0)
    bench.time("100k/contention", [bench.program, "sim", "contention", "--design", design, "--lb",
                                   "ecmp", "--out", out / "contention.json"], 10.0, rounds=1)


def curve(bench):
    """Permutations of k^3/4 hosts: CPU time by number of flows, its exponent, and a drawing."""
    points = []
    for k in (16, 20, 24, 32, 40, 48, 64):
        hosts = k**3 // 4
        command = [bench.program, "sim", "--topology", f"fat-tree:k={k}", "--workload",
                   "permutation:1MB", "--lb", "ecmp"]
        took = bench.time(f"permutation/{hosts}", command)
        if took:
            bench.figure(f"permutation/{hosts}/cpu-per-flow", took.cpu / hosts * 1e6, "us")
            points.append((hosts, took.cpu))
    if len(points) > 2:
        bench.figure("permutation/exponent", exponent(points), "of flows")
        out = bench.root / "build/sim_curve.svg"
        out.write_text(plot(points), encoding="utf-8")


def exponent(points):
    """Slope of log time over log flows, by least squares: 1 is linear."""
    xs, ys = zip(*((math.log(flows), math.log(cpu)) for flows, cpu in points))
    middle_x, middle_y = sum(xs) / len(xs), sum(ys) / len(ys)
    return (sum((x - middle_x) * (y - middle_y) for x, y in zip(xs, ys))
            / sum((x - middle_x)**2 for x in xs))


def plot(points):
    """Both axes in powers of ten; the dashed line is what linear growth from the first would be."""
    across = lambda flows: 70 + 200 * math.log10(flows / 500)
    up = lambda seconds: 320 - 100 * math.log10(seconds / 0.001)
    first_flows, first_cpu = points[0]
    last_flows = points[-1][0]
    line = " ".join(f"{across(flows):.1f},{up(cpu):.1f}" for flows, cpu in points)
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 560 370" role="img">',
             "<title>CPU time of a hashed permutation over its flows</title>",
             "<style>text{font:12px sans-serif;fill:#333}line{stroke:#999}.ideal{stroke:#333;"
             "stroke-dasharray:4}polyline{fill:none;stroke:#2a7de1;stroke-width:2}"
             "circle{fill:#2a7de1}@media(prefers-color-scheme:dark){text{fill:#ddd}"
             ".ideal{stroke:#ddd}}</style>"]
    for seconds in (0.001, 0.01, 0.1, 1):
        parts.append(f'<line x1="70" x2="520" y1="{up(seconds)}" y2="{up(seconds)}"/>'
                     f'<text x="62" y="{up(seconds) + 4}" text-anchor="end">{seconds:g} s</text>')
    for flows in (1000, 10000, 100000):
        parts.append(f'<text x="{across(flows):.1f}" y="338" text-anchor="middle">{flows:,}</text>')
    parts.append(f'<line class="ideal" x1="{across(first_flows):.1f}" y1="{up(first_cpu):.1f}" '
                 f'x2="{across(last_flows):.1f}" '
                 f'y2="{up(first_cpu * last_flows / first_flows):.1f}"/>'
                 f'<polyline points="{line}"/>')
    parts += [f'<circle cx="{across(flows):.1f}" cy="{up(cpu):.1f}" r="4"/>'
              for flows, cpu in points]
    parts.append('<text x="295" y="360" text-anchor="middle">flows; dashed: linear</text></svg>')
    return "\n".join(parts) + "\n"
