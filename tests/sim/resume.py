#!/usr/bin/env python3
"""A run that is saved and resumed is the run that was not: tests/sim/resume.py MYRIAD"""
import os
import random
import struct
import sys
import tempfile
import zlib
from pathlib import Path

from lib import TREE, Checks, call, sim

EVERY = int(os.environ.get("MYRIAD_EVERY", "1"))  # make test asks one in so many
CASES = 24 // EVERY


def words(rng, folder):
    """A question of any kind."""
    loads = ["permutation:{s}", "incast:16:1,{s}", "alltoall:{s},ranks=24",
             "alltoall:{s},ranks=24,window=3", "allreduce:ring,{s},ranks=16,schedule=full",
             "allreduce:tree,{s},ranks=32", "allreduce:hier,{s}", "broadcast:ring,{s},chunks=4",
             "step:llama3-8b,tp=1,pp=8,micro_batch=1,global_batch=64"]
    size = rng.choice(["64KB", "1MB", "5MB"])
    count = rng.choice([1, 1, 2, 3])
    got = ["--topology", TREE, "--lb", rng.choice(["ecmp", "spray", "planned", "flowlet",
                                                   "adaptive"]),
           "--seed", rng.randrange(100)]
    for _ in range(count):
        got += ["--job", rng.choice(loads).format(s=size)]
    if rng.random() < 0.4:
        got += ["--fault", rng.choice(["link/200:down@15us,reroute=20us", "link/3:degrade=0.3@9us",
                                       "link/180:flap@10us,down=5us,period=20us,count=3"])]
    for option in (["--slow", "node/00003:0.5"], ["--pause", 400], ["--sharing-loss", 150],
                   ["--queue-pairs", 3], ["--message-overhead", "2us"], ["--efficiency", 930],
                   ["--paths", folder / "p"], ["--series", folder / "s", "--series-step", "7us"]):
        if rng.random() < 0.2:
            got += option
    return got


def equal(check, program, folder):
    rng = random.Random(5)
    for case in range(CASES):
        asked = words(rng, folder)
        files = {name: folder / name for name in ("p", "s", "first", "second", "state")}
        done = call(program, *asked, "-o", "json")
        if done.returncode:  # a fault that cuts somebody off is an answer too, but no run
            continue
        whole = sim(program, *asked, "--fct", files["first"])
        kept = {name: files[name].read_bytes() for name in ("p", "s") if files[name].exists()}
        for part in (0.0, rng.random(), rng.random()):
            at = f"{whole['sim_time_us'] * part:.3f}us"
            saving = call(program, *asked, "--save", files["state"], "--at", at, "-o", "json")
            check.true(f"{case}: saving at {at}: {saving.stderr}", saving.returncode == 0)
            extra = []
            for option, name in (("--paths", "p"), ("--series", "s")):
                if option in asked:
                    files[name].unlink()
                    extra += [option, files[name]]
            rest = sim(program, "resume", files["state"], "--fct", files["second"], *extra)
            for key in whole:
                if key not in ("question", "schema"):
                    check.true(f"{case}: {asked} at {at}: {key}", rest[key] == whole[key])
            check.true(f"{case}: {asked} at {at}: every flow",
                       files["first"].read_bytes() == files["second"].read_bytes())
            for option, name in (("--paths", "p"), ("--series", "s")):
                if option in asked:
                    check.true(f"{case}: {option}", files[name].read_bytes() == kept[name])


def refused(check, program, folder):
    state, flows = folder / "state", folder / "flows.csv"
    asked = ["--topology", TREE, "--workload", "permutation:1MB", "--flows", flows]
    sim(program, *asked, "--save", state, "--at", "30us")
    good = state.read_bytes()

    def expect(what, text, *call_words):
        done = call(program, *call_words)
        check.true(f"{what}: {done.returncode} {done.stderr}",
                   done.returncode == 2 and text in done.stderr and not done.stdout
                   and done.stderr.count("\n") <= 2)

    def signed(data):
        """With a checksum that is right, as a forger would."""
        return data[:40] + struct.pack("<I", zlib.crc32(data[48:])) + data[44:]

    rng = random.Random(9)
    for what, data, text in (
            ("empty", b"", "1:1: the file is empty"), ("text", b"hello\n" * 20, "no saved run"),
            ("cut", good[:len(good) // 2], "length"), ("longer", good + b"x", "length"),
            ("a bit", good[:999] + bytes([good[999] ^ 4]) + good[1000:], "checksum"),
            ("version", good[:8] + b"\x07" + good[9:], "version 7")):
        (folder / "bad").write_bytes(data)
        expect(what, text, "resume", folder / "bad")
    for _ in range(60 // EVERY):
        data = bytearray(good)
        for _ in range(rng.randint(1, 3)):
            data[rng.randrange(48, len(data))] ^= 1 << rng.randrange(8)
        (folder / "bad").write_bytes(signed(bytes(data)))
        done = call(program, "resume", folder / "bad")
        check.true(f"forged: {done.returncode} {done.stderr}", done.returncode in (0, 2)
                   and done.stderr.count("\n") <= 2)
    expect("no file", "resume", "resume", folder / "none")
    expect("--save alone", "go together", *asked, "--save", state)
    expect("--at alone", "go together", *asked, "--at", "1us")
    expect("no time", "a time such as", *asked, "--save", state, "--at", "soon")
    expect("standard output", "a file is expected", *asked, "--save", "-", "--at", "1us")
    expect("too late", "nothing is saved", *asked, "--save", folder / "late", "--at", "1s")
    check.true("nothing written", not (folder / "late").exists())
    expect("standard input", "read once", "--topology", TREE, "--workload", "file:-", "--save",
           state, "--at", "1us")
    expect("no paths kept", "without --paths", "resume", state, "--paths", folder / "x")
    expect("no series kept", "without --series", "resume", state, "--series", folder / "x")
    # A file that the run reads has changed.
    sim(program, "--topology", TREE, "--workload", f"file:{flows}", "--save", state, "--at", "30us")
    sim(program, "resume", state)
    flows.write_text(flows.read_text().replace("1000000", "1000001", 1))
    expect("changed", "another question", "resume", state)


def main():
    check = Checks()
    with tempfile.TemporaryDirectory(prefix="myriad-resume-") as folder:
        equal(check, sys.argv[1], Path(folder))
        refused(check, sys.argv[1], Path(folder))
    check.end()


if __name__ == "__main__":
    main()
