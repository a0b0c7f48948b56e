#!/usr/bin/env python3
"""Bad words on the command line: one clear line, exit code 2, nothing on standard output.

    tests/sim/bad_words.py MYRIAD
"""
import sys

from lib import TREE, Checks, call

GOOD = "permutation:1MB"
# What is wrong, and a part of the complaint.
WORKLOADS = {
    "": "'--workload' needs a value",
    "permutatoin:1MB": "unknown workload 'permutatoin'",
    "permutation": "a size such as 1MB",
    "permutation:": "empty word",
    "permutation:0": "a size such as 1MB",
    "permutation:-5": "a size such as 1MB",
    "permutation:1XB": "'1XB'",
    "permutation:9999999TB": "a size such as 1MB",
    "permutation:1MB,seed=x": "'seed' must be a whole number",
    "permutation:1MB,sead=1": "'sead=1' is not understood",
    "permutation:1MB,seed=1,seed=2": "'seed' is given twice",
    "permutation:1MB,,seed=1": "empty word",
    "permutation:1MB,ranks=129": "'ranks' must be a whole number from 2 to 128",
    "permutation:1MB,first=128": "'first' must be a whole number from 0 to 127",
    "permutation:1MB,place=middle": "'place' is block, random or sorted",
    "permutation:1MB,place=random,disorder=50": "'disorder' goes with place=sorted",
    "permutation:1MB,place=sorted,disorder=101": "'disorder'",
    "incast:128:1,1MB": "K from 1 to 127",
    "incast:0:1,1MB": "K from 1 to 127",
    "incast:4:2,1MB": "K from 1 to 127",
    "incast:4:1": "a size such as 1MB",
    "allreduce:rign,1GB": "'rign'",
    "allreduce:pairwise,1GB": "pairwise is for all-to-all",
    "allreduce:halving,1GB,ranks=6": "power of two",
    "allreduce:ring,1GB,ranks=1": "'ranks' must be",
    "alltoall:ring,1GB": "cannot run as 'ring'",
    "allreduce:ring,1GB,chunks=4": "'chunks' is for hier",
    "allreduce:halving,1GB,chunks=2": "'chunks' is for hier",
    "allgather:tree,1GB,chunks=2": "'chunks' is for hier",
    "alltoall:1GB,chunks=2": "'chunks' is for hier",
    "allreduce:hier,1GB,chunks=0": "'chunks' must be a whole number from 1 to 1024",
    "allreduce:1GB,window=2": "'window' is for alltoall",
    "alltoall:1GB,window=2,schedule=collapsed": "only in the full schedule",
    "alltoall:1GB,schedule=halb": "auto, full or collapsed is expected",
    "step": "step:MODEL",
    "step:nosuchmodel,tp=8": "nosuchmodel",
    "step:llama3-405b,tp=0": "tp",
    "step:llama3-405b,tp=8,tflops=-1": "'tflops' must be a number above 0",
    "step:llama3-405b,tp=8,tflops=1e-9": "goes on after 53 days",
    "checkpoint:1TB": "no storage servers",
    "permutation:" + ",".join(["1MB"] * 30): "more than 24 parts",
}
TOPOLOGIES = {
    "": "'--topology' needs a value",
    "torus:k=8": "fat-tree:k=8",
    "fat-tree:k=7": "'k=7' is not understood",
    "fat-tree:k=0": "'k=0' is not understood",
    "fat-tree:k=8,gbps=0": "'gbps=0' is not understood",
    "fat-tree:k=8,delay=1parsec": "'delay=1parsec' is not understood",
    "fat-tree:k=8,tiers=9": "'tiers=9' is not understood",
    "fat-tree:what": "'what' is not understood",
}
FAULTS = {
    "": "'--fault' needs a value",
    "link/5": "down@1ms",
    "link/99999999:down@1ms": "no link or device",
    "spine/none:down@1ms": "no link or device",
    "link/5:down": "down@1ms",
    "link/5:down@": "down@1ms",
    "link/5:down@soon": "down@1ms",
    "link/5:broken@1ms": "'broken@1ms' is not understood",
    "link/5:degrade=2@1ms": "'degrade=2@1ms' is not understood",
    "link/5:degrade=0@1ms": "'degrade=0@1ms' is not understood",
    "link/5:down@1ms,reroute=never": "'reroute' is local, remote, convergence",
    "link/5:down@1ms,reruote=1ms": "'reruote=1ms' is not understood",
    "link/5:down@1ms,count=3": "'count=3' is not understood",
    "link/5:flap@1ms,down=2ms,period=1ms": "'period' must be longer",
    "link/5:flap@1ms,count=0": "'count' must be a whole number",
    "link/5:down@8000000s": "after 53 days of simulated time",
    "link/5:up@4000000s,reroute=8000000s": "after 53 days of simulated time",
    "link/5:flap@4611600s,period=460s,count=10000": "after 53 days of simulated time",
}
SLOW = {
    "node/99999:0.5": "is no node",
    "node/00003": "a speed above 0",
    "node/00003:0": "a speed above 0",
    "node/00003:1.5": "a speed above 0",
    "link/5:0.5": "is no node",
}
OTHERS = [
    (["--topology", TREE], "give --workload"),
    (["--workload", GOOD], "give --design FILE or --topology"),
    (["--workload", GOOD, "--topology", TREE, "--design", "x.myr"], "one fabric is asked"),
    (["--workload", GOOD, "--design", "no-such-file.myr"], "no-such-file.myr"),
    (["--workload", GOOD, "--topology", TREE, "--lb", "magic"], "magic"),
    (["--workload", GOOD, "--topology", TREE, "--net", "storage"], "storage"),
    (["--workload", GOOD, "--topology", TREE, "--queue-pairs", "0"], "queue-pairs"),
    (["--workload", GOOD, "--topology", TREE, "--efficiency", "2000"], "efficiency"),
    (["--workload", GOOD, "--topology", TREE, "--message-overhead", "2"], "a time such as 2us"),
    (["--workload", GOOD, "--topology", TREE, "--seed", "minus"], "seed"),
    (["--topology", TREE, "--job", GOOD, "--job", "nonsense:1MB"], "unknown workload 'nonsense'"),
]


def cases():
    for words, part in WORKLOADS.items():
        yield ["--topology", TREE, "--workload", words], part
    for words, part in TOPOLOGIES.items():
        yield ["--topology", words, "--workload", GOOD], part
    for words, part in FAULTS.items():
        yield ["--topology", TREE, "--workload", GOOD, "--fault", words], part
    for words, part in SLOW.items():
        yield ["--topology", TREE, "--workload", GOOD, "--slow", words], part
    yield from OTHERS


def main():
    program, check = sys.argv[1], Checks()
    for words, part in cases():
        done = call(program, *words)
        lines = done.stderr.splitlines()
        name = " ".join(words)
        check.equal(f"{name}: exit code", done.returncode, 2)
        check.true(f"{name}: nothing on standard output", done.stdout == "")
        check.true(f"{name}: one line and at most a hint: {lines}",
                   1 <= len(lines) <= 2 and lines[0].startswith("myriad: ")
                   and all(line.startswith("hint: ") for line in lines[1:]))
        check.true(f"{name}: says '{part}': {lines}", bool(lines) and part in lines[0])
    check.end()


if __name__ == "__main__":
    main()
