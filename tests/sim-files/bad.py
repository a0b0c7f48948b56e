#!/usr/bin/env python3
"""Files that cannot be right: each is refused in one clear line.

    tests/sim-files/bad.py MYRIAD [NAME...]

Every case must end with exit code 2, nothing on standard output, and one line on standard error,
"myriad: FILE:LINE:COLUMN: what" (a line "hint: ..." may follow). Complaints about a file as a whole
have no line and column.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

MYRIAD = str(Path(sys.argv[1]).resolve())
WORDS = ["--topology", "fat-tree:k=4,gbps=100,delay=1us"]

HEAD = ("HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 1 pp: 1 all_gpus: 8 checkpoints: 0 "
        "checkpoint_initiates: 0\n")
LAYER = "a -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 8 1\n"
STAR = "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n"
TOPO = ("Nodes 16\nTiers 3\nPodsize 4\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 2\nRadix_Up 2\n"
        "Downlink_Latency_ns 1000\nTier 1\nDownlink_speed_Gbps 100\nRadix_Down 2\nRadix_Up 2\n"
        "Downlink_Latency_ns 1000\nTier 2\nDownlink_speed_Gbps 100\nRadix_Down 4\n"
        "Downlink_Latency_ns 1000\n")
LINK = " 100Gbps 1us 0\n"

# Name of the file, text, how the complaint begins behind "FILE:", what it must say.
SPEC = "name: a\nservers: 4\nserver: h100-8gpu\nnetworks: {compute: {switch: mqm9790}}\n"
KINDS = "a GOAL, HPCC, htsim, SimAI or Chakra file is expected"
WORKLOADS = {
    "kind-spec": ("a.txt", SPEC, "1:1", "looks like a spec; " + KINDS),
    "kind-csv": ("a.txt", "job,nodes,start\n1,4,0\n", "1:1",
                 "looks like a CSV list with the header 'job,nodes,start'; " + KINDS),
    "kind-json": ("a.txt", '{"ranks": 4}\n', "1:1",
                  "looks like JSON with the key 'ranks'; " + KINDS),
    "kind-svg": ("a.goal", '<svg xmlns="http://www.w3.org/2000/svg"></svg>\n', "1:1", KINDS),
    "goal-empty": ("a.goal", "", "1:1", "'num_ranks' is missing"),
    "goal-no-ranks": ("a.goal", "rank 0 {\n}\n", "1:1", "must come before"),
    "goal-zero-ranks": ("a.goal", "num_ranks 0\n", "1:11", "there must be a rank"),
    "goal-ranks-huge": ("a.goal", "num_ranks 1000001\n", "1:11", "larger than 1000000"),
    "goal-rank-range": ("a.goal", "num_ranks 2\nrank 2 {\n}\n", "2:6", "larger than 1"),
    "goal-rank-twice": ("a.goal", "num_ranks 2\nrank 1 {\n}\nrank 1 {\n}\n", "4:6",
                        "rank 1 is there already"),
    "goal-open": ("a.goal", "num_ranks 1\nrank 0 {\ncalc 5\n", "4:1", "the file ends"),
    "goal-comment-open": ("a.goal", "num_ranks 1\n/* rank", "2:1", "comment never ends"),
    "goal-operation": ("a.goal", "num_ranks 1\nrank 0 {\na: sleep 5\n}\n", "3:4",
                       "'send', 'recv' or 'calc' is expected, not 'sleep'"),
    "goal-label": ("a.goal", "num_ranks 1\nrank 0 {\na: calc 5\nb requires a\n}\n", "4:1",
                   "no label 'b'"),
    "goal-label-twice": ("a.goal", "num_ranks 1\nrank 0 {\na: calc 5\na: calc 6\n}\n", "4:1",
                         "label 'a' is there already"),
    "goal-bytes": ("a.goal", "num_ranks 2\nrank 0 {\nsend 10 to 1\n}\n", "3:9", "'b' behind"),
    "goal-to": ("a.goal", "num_ranks 2\nrank 0 {\nsend 10b from 1\n}\n", "3:10", "'to'"),
    "goal-peer": ("a.goal", "num_ranks 2\nrank 0 {\nsend 10b to 7\n}\n", "3:13", "larger than 1"),
    "goal-lone-send": ("a.goal", "num_ranks 2\nrank 0 {\nsend 10b to 1 tag 4\n}\n", "3:1",
                       "no receive on rank 1"),
    "goal-lone-receive": ("a.goal", "num_ranks 2\nrank 0 {\nx: recv 10b from 1\n}\n", "3:4",
                          "no send on rank 1"),
    "goal-short-receive": ("a.goal", "num_ranks 2\nrank 0 {\nsend 10b to 1\n}\nrank 1 {\n"
                           "recv 9b from 0\n}\n", "6:1", "9 bytes meets the send of 10"),
    "goal-any": ("a.goal", "num_ranks 2\nrank 0 {\nrecv 10b from -1\n}\n", "3:15", "any rank"),
    "goal-circle": ("a.goal", "num_ranks 1\nrank 0 {\na: calc 5\nb: calc 5\na requires b\n"
                    "b requires a\n}\n", "3:1", "never start"),
    "goal-too-many": ("a.goal", "num_ranks 99\nrank 0 {\n}\n", None, "has 99 ranks, the fabric"),
    "hpcc-empty": ("flow.txt", "", "1:1", "the file is empty"),
    "hpcc-count": ("flow.txt", "2\n0 1 3 100 5 0\n", "3:1", "after 1 of 2 flows"),
    "hpcc-words": ("flow.txt", "1\n0 1 3 100\n", "2:10", "the bytes is expected"),
    "hpcc-self": ("flow.txt", "1\n1 1 3 100 5 0\n", "2:3", "sends to itself"),
    "hpcc-negative": ("flow.txt", "1\n0 -1 3 100 5 0\n", "2:3", "the destination must be"),
    "hpcc-start": ("flow.txt", "1\n0 1 3 100 5 soon\n", "2:13", "the start must be a time"),
    "hpcc-surplus": ("flow.txt", "1\n0 1 3 100 5 0 7\n", "2:15", "too much"),
    "hpcc-host": ("flow.txt", "1\n0 16 3 100 5 0\n", None, "has 17 ranks"),
    "htsim-nodes": ("a.cm", "0->1 start 0 size 5\n", "1:1", "'Nodes' must come"),
    "htsim-arrow": ("a.cm", "Nodes 2\n0>1 start 0 size 5\n", "2:1", "FROM->TO"),
    "htsim-node": ("a.cm", "Nodes 2\n0->2 start 0 size 5\n", "2:1", "nodes from 0 to 1"),
    "htsim-size": ("a.cm", "Nodes 2\n0->1 start 0\n", "2:1", "no size"),
    "htsim-endless": ("a.cm", "Nodes 2\n0->1 start 0 size 0\n", "2:1", "without end"),
    "htsim-endless-trigger": ("a.cm", "Nodes 2\n0->1 start 0 size 0 send_done_trigger 1\n", "2:1",
                              "never fires"),
    "htsim-start": ("a.cm", "Nodes 2\n0->1 size 5\n", "2:1", "a start or a trigger"),
    "htsim-both": ("a.cm", "Nodes 2\n0->1 size 5 start 0 trigger 1\n", "2:1", "not both"),
    "htsim-word": ("a.cm", "Nodes 2\n0->1 size 5 begin 0\n", "2:13", "'begin' is not understood"),
    "htsim-id-twice": ("a.cm", "Nodes 2\n0->1 id 1 start 0 size 5\n1->0 id 1 start 0 size 5\n",
                       "3:9", "id 1 is there already"),
    "htsim-count": ("a.cm", "Nodes 2\nConnections 2\n0->1 start 0 size 5\n", "4:1",
                    "2 connections promised, 1"),
    "htsim-unsaid": ("a.cm", "Nodes 2\n0->1 start 0 size 5 send_done_trigger 3\n", "2:40",
                     "trigger 3 is named"),
    "htsim-never": ("a.cm", "Nodes 2\n0->1 trigger 3 size 5\ntrigger id 3 oneshot\n", "2:22",
                    "never starts"),
    "htsim-loose": ("a.cm", "Nodes 3\n0->1 start 0 size 5 send_done_trigger 3\n"
                    "1->2 start 0 size 5 send_done_trigger 3\n2->0 trigger 3 size 5\n"
                    "trigger id 3 oneshot\n", "5:1", "which ends first"),
    "htsim-failures": ("a.cm", "Nodes 2\nFailures 1\n", "2:10", "none is supported"),
    "simai-policy": ("w.txt", "MICRO\n1\n" + LAYER, "1:1", "'MICRO' is not supported"),
    "simai-gpus": ("w.txt", HEAD.replace("all_gpus: 8 ", "") + "1\n" + LAYER, "1:1",
                   "'all_gpus:' is missing"),
    "simai-uneven": ("w.txt", HEAD.replace("8 ", "9 ") + "1\n" + LAYER, "1:1", "must be tensor"),
    "simai-key": ("w.txt", HEAD.replace("ep:", "expert:") + "1\n" + LAYER, "1:48", "'expert:'"),
    "simai-recompute": ("w.txt", HEAD.replace("initiates: 0", "initiates: 2") + "1\n" + LAYER,
                        "1:109", "none is supported"),
    "simai-count": ("w.txt", HEAD + "2\n" + LAYER, "4:1", "after 1 of 2 layers"),
    "simai-more": ("w.txt", HEAD + "1\n" + LAYER + LAYER, "4:1", "more are there"),
    "simai-type": ("w.txt", HEAD + "1\na -1 1 GOSSIP 0 1 NONE 0 1 NONE 0 1\n", "3:8",
                   "'GOSSIP' is not supported"),
    "simai-depends": ("w.txt", HEAD + "1\na 0 1 NONE 0 1 NONE 0 1 NONE 0 1\n", "3:3",
                      "-1 is expected"),
    "simai-short": ("w.txt", HEAD + "1\na -1 1 NONE 0\n", "3:14", "the line ends"),
}
TOPOLOGIES = {
    "topo-two-latencies": ("t.topo", TOPO + "Switch_Latency_ns 5\n", "19:1",
                           "all tiers must have one Switch_Latency_ns"),
    "kind-topology": ("t.topo", SPEC, "1:1",
                      "looks like a spec; an htsim, HPCC or SimAI topology is expected"),
    "topo-empty": ("a.topo", "", "1:1", "'Nodes' is missing"),
    "topo-tiers": ("a.topo", TOPO.replace("Tiers 3", "Tiers 4"), "2:7", "from 2 to 3"),
    "topo-tier-twice": ("a.topo", TOPO.replace("Tier 1", "Tier 0"), "9:6", "tier 0 is there"),
    "topo-tier-missing": ("a.topo", TOPO[:TOPO.index("Tier 2")], "14:1", "'Tier 2' is missing"),
    "topo-word": ("a.topo", TOPO.replace("Radix_Up", "Radix_Side", 1), "7:1", "'Radix_Side'"),
    "topo-speed": ("a.topo", TOPO.replace("Downlink_speed_Gbps 100\n", "", 1), "17:1",
                   "no Downlink_speed_Gbps"),
    "topo-pods": ("a.topo", TOPO.replace("Nodes 16", "Nodes 18"), "18:1", "whole pods"),
    "topo-radix": ("a.topo", TOPO.replace("Radix_Down 4", "Radix_Down 3"), "18:1", "every core"),
    "topo-order": ("a.topo", "Radix_Up 4\n" + TOPO, "1:1", "before the first tier"),
    "graph-empty": ("t.txt", "", "1:1", "the file is empty"),
    "graph-switch": ("t.txt", STAR.replace("2\n0", "9\n0"), "2:1", "the id of a switch"),
    "graph-links": ("t.txt", STAR[:STAR.index("1 2 100")], "4:1", "after 1 of 2 links"),
    "graph-rate": ("t.txt", STAR.replace("100Gbps", "fast", 1), "3:5", "the rate must be"),
    "graph-delay": ("t.txt", STAR.replace("1us", "1h", 1), "3:13", "the delay must be"),
    "graph-lossy": ("t.txt", STAR.replace("1us 0", "1us 0.5", 1), "3:17", "lose packets"),
    "graph-loop": ("t.txt", STAR.replace("0 2 100", "0 0 100"), "3:3", "joined to itself"),
    "graph-promise": ("t.txt", "200000 5 2000000\n", "1:17", "too short"),
    "graph-ring": ("t.txt", "6 3 6\n3 4 5\n" + "".join(
        f"{a} {b}{LINK}" for a, b in ((0, 3), (1, 4), (2, 5), (3, 4), (4, 5), (5, 3))), "6:1",
        "its own tier"),
    "graph-uneven": ("t.txt", "6 3 5\n3 4 5\n" + "".join(
        f"{a} {b}{LINK}" for a, b in ((0, 3), (1, 3), (2, 4), (3, 5), (4, 5))), "1:1",
        "another number of links"),
    "graph-apart": ("t.txt", "4 2 2\n2 3\n0 2 1Gbps 1us 0\n1 3 1Gbps 1us 0\n", "1:1",
                    "nothing above them"),
    "graph-pods": ("t.txt", "13 8 12\n5 6 7 8 9 10 11 12\n" + "".join(
        f"{a} {b}{LINK}" for a, b in ((0, 5), (1, 6), (2, 7), (3, 8), (4, 9), (5, 10), (6, 10),
                                      (7, 11), (8, 11), (9, 11), (10, 12), (11, 12))),
                   "1:1", "another number"),
}
WHOLE = {
    "no-file": (["--workload", "file:none.goal", *WORDS], "none.goal"),
    "no-path": (["--workload", "file:", *WORDS], "file:PATH"),
    "endless-size": (["--workload", "file:bad.py,endless=long", *WORDS], "'endless' must be"),
    "endless-none": (["--workload", "file:bad.py,endless=0", *WORDS], "'endless' must be"),
    "format": (["--workload", "file:bad.py,format=yaml", *WORDS], ""),
    "topology-no-file": (["--topology", "file:none.topo", "--workload", "alltoall:1KB"], "none"),
}


def check(name, arguments, folder, begins, says):
    result = subprocess.run([MYRIAD, "sim", *arguments], capture_output=True, text=True,
                            timeout=600, cwd=folder, stdin=subprocess.DEVNULL,
                            check=False)
    lines = result.stderr.splitlines()
    wrong = []
    if result.returncode != 2:
        wrong.append(f"exit {result.returncode}")
    if result.stdout:
        wrong.append("something on standard output")
    if not 1 <= len(lines) <= 2 or (len(lines) == 2 and not lines[1].startswith("hint: ")):
        wrong.append(f"{len(lines)} lines")
    first = lines[0] if lines else ""
    if not first.startswith(begins):
        wrong.append(f"does not begin with {begins!r}")
    if says not in first:
        wrong.append(f"does not say {says!r}")
    if re.search(r"[^\x20-\x7e]", first):
        wrong.append("unprintable")
    if wrong:
        print(f"{name}: {', '.join(wrong)}\n    {first}")
    return not wrong


def main():
    names, count, failed = sys.argv[2:], 0, 0
    cases = []
    for table, option in ((WORKLOADS, "--workload"), (TOPOLOGIES, "--topology")):
        other = WORDS if option == "--workload" else ["--workload", "permutation:1KB"]
        for name, (file, text, place, says) in table.items():
            begins = f"myriad: {file}:{place}: " if place else f"myriad: {file}: "
            cases.append((name, [option, f"file:{file}", *other], file, text, begins, says))
    for name, (arguments, says) in WHOLE.items():
        cases.append((name, arguments, "bad.py", "", "myriad: ", says))
    for name, arguments, file, text, begins, says in cases:
        if names and name not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / file).write_text(text)
            count += 1
            failed += not check(name, arguments, folder, begins, says)
    print(f"{count} cases, {failed} failed")
    return 1 if failed or count == 0 else 0


sys.exit(main())
