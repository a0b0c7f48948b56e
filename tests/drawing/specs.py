"""Clusters to draw: every topology, small and large, plain and odd."""
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def one(servers, compute, server="h100-8gpu", more="", name="cluster"):
    return (f"name: {name}\nservers: {servers}\nserver: {server}\n"
            f"networks:\n  compute: {{{compute}}}\n{more}")


IB = "switch: mqm9790-ns2f"
OTHERS = "  storage: {extra_nodes: 4}\n  service: {extra_nodes: 4}\n  oob: {extra_nodes: 4}\n"

# Name: (spec, texts that the drawing must have).
SPECS = {
    "h100-64": ((ROOT / "examples/h100-64.yaml").read_text(), [
        "64", "512", "45", "1,572", "102.4 Tb/s", "8 spines", "16 leaves", "32 down · 32 up",
        "4 links a pair", "512 × 400G", "32 servers, 0–31", "32 servers, 32–63",
        "12–13 links a pair", "Service network", "Out-of-band network", "access to aggr.",
        "8 GPUs", "4 switches", "scale-up 3", "2:1"]),
    "h100-10k": ((ROOT / "examples/h100-10k.yaml").read_text(), [
        "10,240", "256 cores", "320 spines", "320 leaves", "8 groups of 32", "× 38", "more pods",
        "pods 2–39", "pod 0: 32 nodes", "10,240 × 400G", "1 link a pair", "4 links a pair", "1:1",
        "4 hops"]),
    "h100-100k": ((ROOT / "examples/h100-100k.yaml").read_text(), [
        "100,352", "1,568 leaves", "16 groups of 64", "+9 groups", "× 96", "not priced"]),
    "nvl72-9k": ((ROOT / "examples/nvl72-9k.yaml").read_text(), [
        "servers of 18 nodes", "9,216", "2,304 nodes", "32 nodes, 0–31",
        "scale-up switches: 72 GPUs of 18 nodes"]),
    "twin-planar": (one(512, "topology: twin-planar, switch: sn5600", "b300-8gpu"), [
        "2 planes", "plane 0", "plane 1", "128 leaves, 64 a plane", "16 × 400G each"]),
    "planes-4": (one(64, "planes: 4, nic_gbps: 200, switch: eth-102t4", "b300-8gpu-4x200"), [
        "4 planes", "plane 1", "planes 2–3"]),
    "planes-one-switch": (one(4, "topology: clos, planes: 2, nic_gbps: 200, switch: sn5600",
                              "h100-8gpu-2x200"), ["plane 1"]),
    "rail-only": (one(256, f"topology: rail-only, {IB}"), [
        "rail 0", "rail 7", "8 a rail · 32 down", "4 a rail · 64 down", "8 links a pair"]),
    "rail-only-1": (one(16, f"topology: rail-only, {IB}"), ["rail 7", "8 leaves"]),
    "rail-only-3": (one(2048, f"topology: rail-only, tiers: 3, {IB}"), ["rail 7", "Core"]),
    "middle-of-rack": (one(128, f"topology: middle-of-rack, {IB}"), [
        "Hosts, in the same rack", "32 leaves", "of them copper"]),
    "middle-of-rack-3": (one(1024, f"topology: middle-of-rack, tiers: 3, {IB}"), ["Core"]),
    "islands": (one(2048, "topology: islands, switch: sn5600, nic_gbps: 400, "
                          "oversubscription: [1, 7], islands: 8"), [
        "islands", "6.4:1", "× 6", "10 links a pair"]),
    "two-pods": (one(256, f"tiers: 3, islands: 2, {IB}"), ["pod 0: 128 nodes", "pod 1: 128 nodes"]),
    "three-pods": (one(90, f"tiers: 3, islands: 3, {IB}"), ["more pod", "pod 2"]),
    "uneven-pods": (one(280, f"tiers: 3, pod_leaves: 16, {IB}"), ["last pod:"]),
    "one-pod": (one(16, f"tiers: 3, {IB}"), ["Core"]),
    "one-rail": (one(300, "topology: rail, rails: 1, switch: sn5600, nic_gbps: 400"), ["Leaf"]),
    "clos-3": (one(700, f"topology: clos, tiers: 3, {IB}"), ["Core"]),
    "clos-dense": (one(96, f"topology: clos, fill: dense, oversubscription: 2, {IB}"), [
        "20 leaves", "7 spines", "dense fill", "1.86:1"]),
    "clos-wide": (one(500, "topology: clos, switch: sn5600, nic_gbps: 400"), ["63 leaves"]),
    "one-switch": (one(8, f"topology: clos, {IB}", more="  oob: {}\n"), [
        "1 leaf", "One switch takes all hosts."]),
    "one-storage-switch": (one(30, IB, more=OTHERS), ["34 nodes"]),
    "one-server": (one(1, f"topology: clos, {IB}", more=OTHERS), ["1 leaf"]),
    "dragonfly": (one(72, f"topology: dragonfly, {IB}, group_switches: 4, hosts_per_switch: 2, "
                          "global_ports: 2", "generic-1gpu"), [
        "9 groups", "1 link a pair of groups", "g8", "group 0: 2 global ports a switch"]),
    "dragonfly-big": (one(4096, f"topology: dragonfly, {IB}"), [
        "64 groups", "8 links a pair of groups", "+49"]),
    "dragonfly-1": (one(4, f"topology: dragonfly, {IB}"), ["1 group"]),
    "dragonfly+": (one(1024, f"topology: dragonfly+, {IB}"), [
        "8 groups", "32 leaves, as many spines", "146 links a pair of groups"]),
    "torus-3": (one(64, f"topology: torus, dims: [4, 4, 4], {IB}"), [
        "64 switches", "dimension 2: 4 long", "192 × 400G", "8 ports of 400G"]),
    "torus-2": (one(512, f"topology: torus, dims: [32, 16], trunk: 4, {IB}"), [
        "dimension 0: 32 long", "4 links a pair", "24 hops"]),
    "torus-tiny": (one(4, f"topology: torus, dims: [2, 2], {IB}", "generic-1gpu"), ["4 switches"]),
    "torus-long": (one(480, f"topology: torus, dims: [2, 3, 80], {IB}"), ["dimension 2: 80 long"]),
    "all-networks": (one(300, IB, more=OTHERS), ["Storage network", "Hosts"]),
    "one-home": (one(300, IB, more="  service: {homes: 1}\n"), ["Service network"]),
    "long-name": (one(16, IB, name="万卡" * 60), []),
    "odd-name": (one(16, IB, name="'a <b> & \"c\"'"), ['a <b> & "c"']),
}


def plan(myriad, name, folder):
    """Plans a spec into the folder; returns the bytes of the drawing."""
    spec = pathlib.Path(folder) / "spec.yaml"
    spec.write_text(SPECS[name][0], encoding="utf-8")
    done = subprocess.run([myriad, "plan", str(spec), "--out", str(folder)], capture_output=True,
                          timeout=600, check=False)
    if done.returncode not in (0, 1):  # 1: a finding of severity error; the drawing is there
        raise SystemExit(f"{name}: exit {done.returncode}: {done.stderr.decode()}")
    return (pathlib.Path(folder) / "topology.svg").read_bytes()
