#!/usr/bin/env python3
"""seed_table: 8 GB reduce-scatter on a RoCE rail fabric, hashed and planned, beside published.

    bench/run seed_table                     figures, and build/seed_table/ with the table and plot
    bench/seed_table.py MYRIAD FOLDER        the same without the stopwatch

Assumed, and the same for every point:
- 256 servers (2,048 cards) of 8 GPUs and 8 NICs of 400G on two tiers of SN5600-class switches,
  rail-aligned: a leaf has 64 ports down and 64 up at 400G and serves one rail of 64 servers.
- A job's servers are drawn from all 256. How its host list was ordered is not published, so each
  run takes another part of it out of order, from none (ring neighbours mostly under one leaf) to
  all.
- NCCL's ring in 8 channels, each server entered and left by NICs of one rail; one queue pair a
  connection, so one flow a NIC and direction, and all flows in lockstep with the slowest.
- CRC hash with a seed for each switch; run k of 20 draws servers and hash seeds from seed k.
- Two numbers fitted to the published *optimised* series: 92 % of line rate is payload at best, and
  1.8 us of software for each of the N - 1 messages.
- Stock congestion control loses more than that, and how much differs between runs: up to 10 % on
  every link, up to 40 % on a link that flows share. Packet simulators bracket the second: of what
  max-min leaves a hashed permutation, HPCC loses 2 %, RoCE with pause frames alone 7 to 22 %, DCQCN
  half. Both bounds were chosen with the stock series in sight, once for all its points; other
  fabrics (leaves of 32, 192 servers) keep the result.
"Hashing alone" leaves those losses out and takes every host list at random; the two numbers of the
optimised series are in it as in every column, so every simulated column is called fitted. Each of
the six optimised points was also predicted from the two numbers fitted to the other five
(left_out() below).
"""
import csv
import json
import subprocess
import sys
from pathlib import Path

LONG = True
ROOT = Path(__file__).resolve().parent.parent
SEEDS = 20
SPEC = """name: roce-rail
servers: 256
server: h100-8gpu
networks: {compute: {switch: sn5600, nic_gbps: 400, leaf_down: 64, leaf_up: 64}}
"""
PAYLOAD = 0.92
FITTED = ["--efficiency", f"{PAYLOAD * 1000:.0f}", "--message-overhead", "1800ns"]
NO_SOFTWARE = ["--message-overhead", "0ns"]
LOSS_ALWAYS = 0.10
LOSS_SHARED = 0.40


def published():
    with open(ROOT / "tests/data/reduce_scatter_roce.csv", newline="", encoding="utf-8") as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def simulate(program, design, servers, lb, seed, extra=(), place="random"):
    words = (f"reducescatter:ring,8GB,ranks={servers * 8},place={place},seed={seed},"
             "schedule=collapsed")
    command = [program, "sim", "--design", design, "--lb", lb, "--seed", seed, *FITTED, *extra,
               "--workload", words, "-o", "json"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=True)
    result = json.loads(done.stdout)
    return result["collective"]["busbw_gbytes_per_s"], result["link_load"]["max"]


def formula(servers, payload, message_us):
    """Bus bandwidth of a ring of 8 channels that nothing disturbs, in GB/s."""
    ranks = servers * 8
    moved = 8.0 * (ranks - 1) / ranks
    return moved / (moved / (400 * payload) + (ranks - 1) * message_us * 1e-6)


def left_out(servers):
    """The optimised point of so many servers, from the two numbers that suit the others best."""
    others = [(int(point["servers"]), point["optimised_gbytes_per_s"]) for point in published()
              if int(point["servers"]) != servers]
    grid = ((part / 500, us / 20) for part in range(425, 500) for us in range(120))
    best = min(grid, key=lambda two: sum((formula(count, *two) / value - 1)**2
                                         for count, value in others))
    return formula(servers, *best)


def spread(run, step):
    """The runs' draws of what is not published, evenly spread from 0 to 1 at any count of runs."""
    return (0.5 + run * step) % 1


def stock(program, design, servers, run):
    # Steps of the plane's most even additive sequence, so that the two draws fill the square.
    disorder, loss = spread(run, 0.7548776662), spread(run, 0.5698402910)
    payload = PAYLOAD * (1 - LOSS_ALWAYS * loss)
    extra = ["--efficiency", f"{payload * 1000:.0f}", "--sharing-loss", f"{LOSS_SHARED * 1000:.0f}"]
    return simulate(program, design, servers, "ecmp", run, extra,
                    f"sorted,disorder={disorder * 100:.0f}")[0]


def stock_runs(program, design, servers, runs=SEEDS):
    return [stock(program, design, servers, run) for run in range(runs)]


def percentile(values, part):
    values = sorted(values)
    place = (len(values) - 1) * part
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)


def rows(program, design):
    for point in published():
        servers = int(point["servers"])
        hashed = [simulate(program, design, servers, "ecmp", seed)[0] for seed in range(SEEDS)]
        runs = stock_runs(program, design, servers)
        planned = [simulate(program, design, servers, "planned", seed) for seed in range(SEEDS)]
        # What paths alone allow: the software's time does not count against a link.
        paths = [simulate(program, design, servers, "planned", seed, NO_SOFTWARE)[1]
                 for seed in range(SEEDS)]
        low, middle, high = (percentile(runs, part) for part in (0.1, 0.5, 0.9))
        yield {"servers": servers, "published": point["stock_gbytes_per_s"],
               "optimised": point["optimised_gbytes_per_s"], "low": low, "middle": middle,
               "high": high, "hashed": [percentile(hashed, part) for part in (0.1, 0.5, 0.9)],
               "planned": min(bandwidth for bandwidth, _ in planned),
               "load": min(paths) / PAYLOAD,
               "inside": low <= point["stock_gbytes_per_s"] <= high}


def markdown(table):
    lines = ["| servers | published stock | simulated stock (fitted): 10 % / median / 90 % | "
             "inside | "
             "hashing alone (fitted): 10 % / median / 90 % | published optimised | "
             "planned (fitted), worst seed | predicted when left out | "
             "fullest link, no software time |",
             "|---|---|---|---|---|---|---|---|---|"]
    for row in table:
        hashed = " / ".join(f"{value:.1f}" for value in row["hashed"])
        lines.append(
            f"| {row['servers']} | {row['published']:g} | {row['low']:.1f} / {row['middle']:.1f} / "
            f"{row['high']:.1f} | {'yes' if row['inside'] else 'no'} | {hashed} | "
            f"{row['optimised']:g} | {row['planned']:.1f} | {left_out(row['servers']):.1f} | "
            f"{row['load'] * 100:.1f} % |")
    return "\n".join(lines) + "\n"


def polyline(points, css):
    return f'<polyline class="{css}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'


def plot(table):
    """Bus bandwidth over servers; servers by even steps, as they double roughly."""
    xs = [80 + 110 * i for i in range(len(table))]
    up = lambda value: 340 - value * 0.75
    pick = lambda key: [(x, up(row[key])) for x, row in zip(xs, table)]
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 400" role="img">',
             "<title>8 GB reduce-scatter: bus bandwidth over servers</title>",
             "<style>text{font:12px sans-serif;fill:#333}.axis{stroke:#999}.band{fill:#e07b3926}"
             ".stock{fill:none;stroke:#e07b39;stroke-width:2}.planned{fill:none;stroke:#2a7de1;"
             "stroke-width:2}.dot{fill:#e07b39}.ring{fill:#2a7de1}"
             "@media(prefers-color-scheme:dark){text{fill:#ddd}}</style>"]
    for value in range(0, 401, 100):
        parts.append(f'<line class="axis" x1="60" x2="680" y1="{up(value)}" y2="{up(value)}"/>'
                     f'<text x="52" y="{up(value) + 4}" text-anchor="end">{value}</text>')
    outline = pick("high") + pick("low")[::-1]
    parts.append(f'<polygon class="band" points="'
                 f'{" ".join(f"{x:.1f},{y:.1f}" for x, y in outline)}"/>')
    parts += [polyline(pick("middle"), "stock"), polyline(pick("planned"), "planned")]
    parts += [f'<circle class="dot" cx="{x}" cy="{y:.1f}" r="5"/>' for x, y in pick("published")]
    parts += [f'<circle class="ring" cx="{x}" cy="{y:.1f}" r="5"/>' for x, y in pick("optimised")]
    parts += [f'<text x="{x}" y="362" text-anchor="middle">{row["servers"]}</text>'
              for x, row in zip(xs, table)]
    parts.append('<text x="370" y="385" text-anchor="middle">servers; GB/s; dots published, lines '
                 "simulated, fitted: blue planned, orange stock (median, 10-90 % band)"
                 "</text></svg>")
    return "\n".join(parts) + "\n"


def plan(program, folder, spec=SPEC):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "spec.yaml").write_text(spec, encoding="utf-8")
    subprocess.run([program, "plan", folder / "spec.yaml", "--out", folder / "design"],
                   capture_output=True, check=True)
    return folder / "design/design.myr"


def make(program, folder):
    table = list(rows(program, plan(program, folder)))
    (folder / "seed_table.md").write_text(markdown(table), encoding="utf-8")
    (folder / "seed_table.svg").write_text(plot(table), encoding="utf-8")
    return table


def run(bench):
    table = make(bench.program, ROOT / "build/seed_table")
    for row in table:
        bench.figure(f"{row['servers']}/stock", row["middle"], "GB/s")
        bench.figure(f"{row['servers']}/planned", row["planned"], "GB/s")


if __name__ == "__main__":
    make(Path(sys.argv[1]).resolve(), Path(sys.argv[2]))
    print((Path(sys.argv[2]) / "seed_table.md").read_text(encoding="utf-8"), end="")
