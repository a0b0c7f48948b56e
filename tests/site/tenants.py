"""What the tests of tenants share: a small RoCE design, its hosts' links, a count of checks."""
import csv
import ipaddress
import subprocess
import sys

SPEC = ("name: x\nservers: {}\nserver: h100-8gpu\nnetworks: {{compute: {{switch: sn5600, "
        "leaf_down: {}}}}}\n")
LEAST = 10000  # checks, or the test has looked at nothing
FAILED = []
COUNT = 0


def check(what, good):
    global COUNT
    COUNT += 1
    if not good and len(FAILED) < 9:
        FAILED.append(what)


def end():
    print("\n".join(FAILED) or f"{COUNT} checks")
    sys.exit(1 if FAILED or COUNT < LEAST else 0)


def run(*words, codes=(0,)):
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=300,
                          check=False)
    if done.returncode not in codes:
        sys.exit(f"{words}: {done.returncode} {done.stdout[-500:]} {done.stderr[-500:]}")
    return done


def plan(myriad, folder, servers, leaf_down):
    """The design's file; where the plan has findings the exit status is 1."""
    (folder / "x.yaml").write_text(SPEC.format(servers, leaf_down))
    run(myriad, "plan", folder / "x.yaml", "--out", folder / "d", codes=(0, 1))
    return folder / "d/design.myr"


def write_list(path, tenants):
    path.write_text("tenant,nodes\n" + "".join(
        f'{name},"{",".join(map(str, nodes))}"\n' for name, nodes in tenants.items()))
    return path


def tenant_of(tenants, node):
    return next((name for name, nodes in tenants.items() if node in nodes), None)


def read_hosts(folder):
    """Of every host link its node, both addresses, the leaf and the leaf's port; and {node: its
    own address}, as the export for FRR lists them."""
    with open(folder / "links.csv", encoding="utf-8") as file:
        rows = [(int(row["a_device"][5:]), ipaddress.ip_address(row["a_address"]),
                 ipaddress.ip_address(row["b_address"]), row["b_device"], row["b_interface"])
                for row in csv.DictReader(file) if row["a_device"].startswith("node-")]
    with open(folder / "devices.csv", encoding="utf-8") as file:
        loopbacks = {int(row["device"][5:]): ipaddress.ip_address(row["loopback"].split("/")[0])
                     for row in csv.DictReader(file) if row["device"].startswith("node-")}
    return rows, loopbacks


def sonic_port(interface):
    """swp17s1 of a cage of two: eight numbers a cage."""
    cage, _, at = interface[3:].partition("s")
    return f"Ethernet{(int(cage) - 1) * 8 + int(at or 0) * 4}"
