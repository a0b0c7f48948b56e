#!/usr/bin/env python3
"""The advice of a plan, taken: what it promises is what the changed spec gives, and where there is
none nothing would be won.

    tests/plan/advice.py MYRIAD [SEED [COUNT]]
"""
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

FAILED = []
LIMIT_S = 600


def plan(myriad, path, servers, net):
    words = ", ".join(f"{key}: {value}" for key, value in net.items())
    path.write_text(f"servers: {servers}\nnetworks: {{compute: {{{words}}}}}\n")
    done = subprocess.run([myriad, "plan", str(path), "-o", "json"], capture_output=True,
                          text=True, timeout=LIMIT_S, check=False)
    return json.loads(done.stdout) if done.returncode in (0, 1) else None


def advice(answer, rule):
    found = [f["message"] for f in answer["findings"] if f["rule"] == rule]
    return found[0] if found else None


def total(answer):
    return answer["networks"]["compute"]["switches"]["total"]


def check(what, held):
    if not held:
        FAILED.append(what)


def taken(myriad, path, servers, net, answer):
    """Each piece of advice against the plan that follows it."""
    built = answer["networks"]["compute"]
    about = f"{servers} servers, {net}"
    said = advice(answer, "advice-fill")
    regular = built["fill"] == "regular" and built["tiers"] >= 2
    dense = plan(myriad, path, servers, {**net, "fill": "dense"}) if regular else None
    if said:
        match = re.fullmatch(r"'fill: dense' needs (\d+) (\w+) switches instead of (\d+)", said)
        check(f"{about}: {said}", match and dense
              and dense["networks"]["compute"]["switches"][match[2]] == int(match[1])
              and built["switches"][match[2]] == int(match[3]) > int(match[1]))
    elif dense:
        check(f"{about}: dense saves {total(answer) - total(dense)} and nothing is said",
              total(dense) >= total(answer))
    said = advice(answer, "advice-tiers")
    shape = {k: v for k, v in net.items() if k not in ("islands", "pod_leaves")}
    two = plan(myriad, path, servers, {**shape, "tiers": 2}) if built["tiers"] == 3 else None
    if said:
        match = re.fullmatch(r"'tiers: 2' carries all hosts with (\d+) switches instead of (\d+)",
                             said)
        check(f"{about}: {said}", match and two and total(two) == int(match[1])
              and total(answer) == int(match[2]) > int(match[1]))
    elif two:
        check(f"{about}: two tiers need {total(two)} and nothing is said",
              total(two) >= total(answer))
    island(myriad, path, servers, net, answer)


def island(myriad, path, servers, net, answer):
    """An island of that size can be built, one that is larger cannot."""
    said = advice(answer, "advice-island")
    if not said:
        check(f"{net}: islands without a word", "islands" not in net
              or answer["networks"]["compute"]["tiers"] != 3)
        return
    match = re.search(r"is (\d+) leaves at [\d.]+:1 above it, (?:(\d+) in steps of (\d+); )?"
                      r"(\d+) are used", said)
    most, steps = int(match[1]), int(match[3] or 8)
    check(f"{net}: {said}",
          int(match[4]) == answer["networks"]["compute"]["shape"]["pod_leaves"] <= most)
    shape = {k: v for k, v in net.items() if k != "islands"}
    servers = most * 64  # so many that a pod of any of these sizes is filled
    fits = int(match[2] or most)
    check(f"{said}: whole steps", fits % steps == 0 and most - steps < fits <= most)
    for leaves, good in ((fits, True), (fits + steps, False)):
        tried = plan(myriad, path, servers, {**shape, "pod_leaves": leaves}) if leaves else None
        check(f"{shape}: {said}; {leaves} leaves {'cannot' if good else 'can'} be built",
              (tried is not None) == good or not leaves)


def main():
    myriad = sys.argv[1]
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    seen = {"advice-fill": 0, "advice-tiers": 0, "advice-island": 0}
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name) / "spec.yaml"
        for number in range(count):
            rng = random.Random(seed * 7919 + number)
            net = {"switch": rng.choice(["mqm9790-ns2f", "sn5600", "qm8790"])}
            if net["switch"] == "qm8790":
                net["nic_gbps"] = 200
            net["topology"] = rng.choice(["rail", "rail", "clos"])
            if rng.random() < 0.5:
                net["tiers"] = 3
                if rng.random() < 0.6:
                    net["islands"] = rng.choice([2, 4, 8])
                    net["oversubscription"] = f"[1, {rng.choice([1, 2, 3, 4, 7])}]"
            servers = rng.choice([32, 48, 80, 96, 100, 160, 200, 320, 640])
            answer = plan(myriad, path, servers, net)
            if answer:
                for rule in seen:
                    seen[rule] += advice(answer, rule) is not None
                taken(myriad, path, servers, net, answer)
    check(f"too little was said: {seen}", min(seen.values()) > 0)
    for what in FAILED[:20]:
        print("FAILED", what)
    print(f"{count} specs, {seen}, {len(FAILED)} failed")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
