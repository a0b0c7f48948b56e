#!/usr/bin/env python3
"""seed_table: 8 GB reduce-scatter on a RoCE rail fabric, hashed and planned, beside published.

    bench/run seed_table                     figures, and build/seed_table/ with the table and plot
    bench/seed_table.py MYRIAD FOLDER        the same without the stopwatch

Assumed, and the same for every point:
- 192 servers of 8 GPUs and 8 NICs of 400G on two tiers of SN5600-class switches, rail-aligned: a
  leaf has 64 ports down and 64 up at 400G and serves one rail of 64 servers.
- A job's servers are drawn from all 192 and ranked in the order of the draw, so that most ring
  neighbours lie under other leaves: hashing cannot hurt a job that stays under one.
- NCCL's ring in 8 channels, each server entered and left by NICs of one rail; one queue pair a
  connection, so one flow a NIC and direction, and all flows in lockstep with the slowest.
- CRC hash with a seed for each switch; run k of 20 draws servers and hash seeds from seed k.
- Two numbers fitted to the published *optimised* series only: 92 % of line rate is payload at best,
  and 1.8 us of software for each of the N - 1 messages. Nothing is fitted to the stock series.
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
servers: 192
server: h100-8gpu
networks: {compute: {switch: sn5600, nic_gbps: 400, leaf_down: 64, leaf_up: 64}}
"""
PAYLOAD = 0.92
FITTED = ["--efficiency", f"{PAYLOAD * 1000:.0f}", "--message-overhead", "1800ns"]
NO_SOFTWARE = ["--message-overhead", "0ns"]


def published():
    with open(ROOT / "tests/data/reduce_scatter_roce.csv", newline="", encoding="utf-8") as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def simulate(program, design, servers, lb, seed, extra=()):
    command = [program, "sim", "--design", design, "--lb", lb, "--seed", seed, *FITTED, *extra,
               "--workload", f"reducescatter:ring,8GB,ranks={servers * 8},place=random,seed={seed}",
               "-o", "json"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=True)
    result = json.loads(done.stdout)
    return result["collective"]["busbw_gbytes_per_s"], result["link_load"]["max"]


def percentile(values, part):
    values = sorted(values)
    place = (len(values) - 1) * part
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)


def rows(program, design, extra=()):
    for point in published():
        servers = int(point["servers"])
        stock = [simulate(program, design, servers, "ecmp", seed, extra)[0]
                 for seed in range(SEEDS)]
        planned = [simulate(program, design, servers, "planned", seed) for seed in range(SEEDS)]
        # What paths alone allow: the software's time does not count against a link.
        paths = [simulate(program, design, servers, "planned", seed, NO_SOFTWARE)[1]
                 for seed in range(SEEDS)]
        low, middle, high = (percentile(stock, part) for part in (0.1, 0.5, 0.9))
        yield {"servers": servers, "published": point["stock_gbytes_per_s"],
               "optimised": point["optimised_gbytes_per_s"], "low": low, "middle": middle,
               "high": high, "least": min(stock), "most": max(stock),
               "planned": min(bandwidth for bandwidth, _ in planned),
               "load": min(paths) / PAYLOAD,
               "inside": low <= point["stock_gbytes_per_s"] <= high}


def markdown(table):
    lines = ["| servers | published stock | hashed: 10 % / median / 90 % | all seeds | inside "
             "10-90 % | published optimised | planned, worst seed | "
             "fullest link, no software time |",
             "|---|---|---|---|---|---|---|---|"]
    for row in table:
        lines.append(
            f"| {row['servers']} | {row['published']:g} | {row['low']:.1f} / {row['middle']:.1f} / "
            f"{row['high']:.1f} | {row['least']:.1f} to {row['most']:.1f} | "
            f"{'yes' if row['inside'] else 'no'} | {row['optimised']:g} | {row['planned']:.1f} | "
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
                 "simulated: blue planned, orange hashed (median, 10-90 % band)</text></svg>")
    return "\n".join(parts) + "\n"


def make(program, folder):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "spec.yaml").write_text(SPEC, encoding="utf-8")
    subprocess.run([program, "plan", folder / "spec.yaml", "--out", folder / "design"],
                   capture_output=True, check=True)
    table = list(rows(program, folder / "design/design.myr"))
    (folder / "seed_table.md").write_text(markdown(table), encoding="utf-8")
    (folder / "seed_table.svg").write_text(plot(table), encoding="utf-8")
    return table


def run(bench):
    table = make(bench.program, ROOT / "build/seed_table")
    for row in table:
        bench.figure(f"{row['servers']}/hashed", row["middle"], "GB/s")
        bench.figure(f"{row['servers']}/planned", row["planned"], "GB/s")


if __name__ == "__main__":
    make(Path(sys.argv[1]).resolve(), Path(sys.argv[2]))
    print((Path(sys.argv[2]) / "seed_table.md").read_text(encoding="utf-8"), end="")
