#!/usr/bin/env python3
"""What a run writes for other programs, and reads back: tests/sim/files.py MYRIAD"""
import csv
import json
import sys
import tempfile
from pathlib import Path

from lib import TREE, Checks, call, sim


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def again(check, program, folder):
    """The flows of a run as a workload: the same tasks end at the same times."""
    flows, first, second = (folder / name for name in ("flows.csv", "first.csv", "second.csv"))
    for lb, workload in (("ecmp", "permutation:1MB"), ("spray", "allreduce:halving,1MB,ranks=16"),
                         ("ecmp", "alltoall:1MB,ranks=12,window=3")):
        words = ("--topology", TREE, "--lb", lb)
        one = sim(program, *words, "--workload", workload, "--flows", flows, "--fct", first)
        two = sim(program, *words, "--workload", f"file:{flows}", "--fct", second)
        check.equal(f"{workload} again", two["sim_time_us"], one["sim_time_us"])
        ends = [sorted((row["from"], row["to"], row["end_us"]) for row in rows(path))
                for path in (first, second)]
        check.true("every flow ends as before", ends[0] == ends[1])


def paths(check, program, folder):
    """Every path leads from its sender to its receiver, link by link, under every policy."""
    out = folder / "paths.csv"
    for lb in ("ecmp", "adaptive", "flowlet", "planned", "spray", "rail"):
        done = call(program, "--topology", TREE, "--lb", lb, "--workload", "permutation:1MB",
                    "--paths", out, "-o", "json")
        if done.returncode:
            check.true(f"{lb}: {done.stderr}", "expected" in done.stderr)
            continue
        found = {}
        for row in rows(out):
            key = row["from"], row["to"]
            found.setdefault(key, []).append((int(row["permille"]), row["path"].split()))
        check.true(f"{lb}: all flows", len(found) == 128)
        for (source, to), ways in found.items():
            total = sum(part for part, _ in ways)
            check.true(f"{lb}: {source} to {to}: parts of {total}", 990 <= total <= 1000)
            check.true("its own NICs", all(way[0] == f"link/{int(source):08}>" and
                                           way[-1] == f"link/{int(to):08}<" for _, way in ways))
            check.true("up and down again", all(2 <= len(way) <= 6 and len(way) % 2 == 0
                                                for _, way in ways))


def given(check, program, folder):
    """Paths of a file in place of the policy's: every flow ends as under the policy itself."""
    out, first, second = (folder / name for name in ("given.csv", "one.csv", "two.csv"))
    for lb, workload in (("planned", "permutation:1MB"), ("spray", "alltoall:1MB,ranks=20"),
                         ("ecmp", "allreduce:halving,1MB,ranks=32"),
                         ("flowlet", "permutation:1MB"),
                         ("ecmp", "allreduce:ring,1MB,ranks=8,schedule=collapsed")):
        words = ("--topology", TREE, "--workload", workload)
        sim(program, *words, "--lb", lb, "--paths", out, "--fct", first)
        sim(program, *words, "--lb", "ecmp", "--routes", out, "--fct", second)
        ends = [[(row["from"], row["to"], row["end_us"]) for row in rows(path)]
                for path in (first, second)]
        check.true(f"{workload} by the paths of {lb}", ends[0] == ends[1])
    head = "phase,from,to,permille,latency_us,path\n"
    for text, words in (
            ("", "1:1: the file is empty"), ("a,b\n", "1:1: the columns"), (head, "no path in it"),
            (head + "0,1,2,1000,2.0\n", "2:1: 5 fields"),
            (head + "x,1,2,1000,2.0,link/1>\n", "2:1: 'phase'"),
            (head + "0,1,999,1000,2.0,link/1>\n", "2:5: 'to'"),
            (head + "0,1,2,1001,2.0,link/1>\n", "2:7: 'permille'"),
            (head + "0,1,2,0,2.0,link/1>\n", "2:7: a path has"),
            (head + "0,1,2,1000,2.0,\n", "2:16: a path has"),
            (head + "0,1,2,1000,soon,link/1>\n", "2:12: 'latency_us'"),
            (head + "0,1,2,1000,2.0,link/1\n", "2:16: 'link/1' is no link"),
            (head + "0,1,2,1000,2.0,link/999999>\n", "is no link"),
            (head + "0,1,2,1000,2.0,pool/9999/up\n", "is no link"),
            (head + "0,1,2,1000,2.0,gpu/1/down\n", "is no link"),
            (head + "0,1,2,1000,2.0,link/1> link/2>\n", "does not begin where"),
            (head + "0,1,2,1000,2.0,link/2> link/1<\n", "2:16: 'link/2>' does not begin at the"),
            (head + "0,1,2,1000,2.0,link/1> link/3<\n", "2:16: the path ends at node/00003, not"),
            (head + "0,1,2,1000,2.0,link/1>\n", "2:16: the path ends at leaf"),
            (head + "0,1,2,1000,2.0,pool/0/up\n", "'pool/0/up' does not begin at the sender"),
            (head + "0,1,2,1000,2.0,link/1> pool/0/up\n", "the path ends at a pool of links"),
            (head + "0,1,2,1000,2.0,gpu/1/out gpu/2/in\n", "'gpu/2/in' does not begin where"),
            (head + "0,1,1,1000,2.0,gpu/1/out\n", "the path ends at the domain of GPU 1, not"),
            (head + "0,1,2,1000,2.0,link/1> link/2<\n", "no path is given from GPU")):
        out.write_text(text)
        done = call(program, "--topology", TREE, "--workload", "permutation:1MB", "--routes", out)
        check.true(f"{text!r}: {done.stderr}", done.returncode == 2 and not done.stdout
                   and words in done.stderr and done.stderr.count("\n") <= 2)
    done = call(program, "--topology", TREE, "--workload", "permutation:1MB", "--routes", out,
                "--fault", "link/3:down@1us")
    check.true("no faults beside it", done.returncode == 2 and "avoid no fault" in done.stderr)


def timeline(check, program, folder):
    out = folder / "trace.json"
    got = sim(program, "--topology", TREE, "--job", "alltoall:1MB,ranks=8",
              "--job", "permutation:1MB,first=8,ranks=8", "--trace", out)
    events = json.loads(out.read_text())["traceEvents"]
    check.equal("an event a flow", len(events), got["flows"])
    check.equal("the last ends with the run", max(one["ts"] + one["dur"] for one in events),
                got["sim_time_us"], 1e-6)
    check.true("a process a job", {one["pid"] for one in events} == {1, 2})


def series(check, program, folder):
    """All bytes of every link turn up in the intervals, and none is fuller than it can be."""
    out = folder / "series.csv"
    for extra in ([], ["--pause", 500]):
        sim(program, "--topology", TREE, "--lb", "ecmp", "--workload", "incast:8:1,1MB",
            "--series", out, "--series-step", "7us", *extra)
        found = rows(out)
        into = [row for row in found if row["channel"] == "link/00000000<"]
        total = sum(float(row["gbps"]) * 7e-6 * 1e9 / 8 for row in into)
        check.equal("8 MB into the receiver", total, 8e6, 100)
        check.true("no link is more than full", all(float(row["load"]) < 1.001 for row in found))
        check.true("in order", [float(row["time_us"]) for row in into]
                   == sorted(float(row["time_us"]) for row in into))
    done = call(program, "--topology", TREE, "--workload", "permutation:1MB", "--series", out)
    check.true("an interval is needed", done.returncode == 2 and "go together" in done.stderr)


def bad(check, program, folder):
    """One line, with the place, and exit status 2."""
    head = "id,after,from,to,bytes,compute_us,hops\n"
    for text, place, words in (
            ("id,after,from\n0,,1\n", "1:1", "columns"),
            (head + "0,,1,2,1000,,1,9\n", "2:1", "8 fields"),
            (head + "x,,1,2,1000,,1\n", "2:1", "'id' must be a number"),
            (head + "0,,1,2,-5,,1\n", "2:8", "'bytes' must be a number"),
            (head + "0,,1,2000000,5,,1\n", "2:6", "'to' must be a number"),
            (head + "0,7,1,2,5,,1\n", "2:3", "no row has the id 7"),
            (head + "0,1,1,2,5,,1\n1,0,2,3,5,,1\n", "2:1", "can never start"),
            (head + "0,a b,1,2,5,,1\n", "2:3", "'after' must be ids"),
            (head + "0,,,,,1e99,\n", "2:7", "'compute_us' must be a time"),
            (head + "0,,1,2,5,,0\n", "2:11", "'hops' must be a number"),
            (head + "0,,storage-1,2,5,,1\n", "2:4", "'from' must be a number")):
        path = folder / "bad.csv"
        path.write_text(text)
        done = call(program, "--topology", TREE, "--workload", f"file:{path},format=flows")
        check.true(f"{text!r}: {done.stderr}", done.returncode == 2 and not done.stdout
                   and done.stderr.startswith(f"myriad: {path}:{place}: ")
                   and words in done.stderr and done.stderr.count("\n") <= 2)


def main():
    program, check = sys.argv[1], Checks()
    with tempfile.TemporaryDirectory() as folder:
        for test in (again, paths, given, timeline, series, bad):
            test(check, program, Path(folder))
    check.end()


if __name__ == "__main__":
    main()
