#!/usr/bin/env python3
"""Every topology at two or more sizes against its closed form (docs/planning.md)."""
import math
import sys

from validate import plan

FAILED = []
COUNT = 0


def check(what, found, expected):
    global COUNT
    COUNT += 1
    if found != expected:
        FAILED.append(f"{what}: {found}, expected {expected}")


def compute(myriad, servers, server, net, name="case"):
    result = plan(myriad, f"name: {name}\nservers: {servers}\nserver: {server}\n"
                          f"networks:\n  compute: {{{net}}}\n")
    errors = [f for f in result["findings"] if f["severity"] == "error"]
    check(f"{name}: error findings", errors, [])
    return result["networks"]["compute"]


def tiers(myriad, name, servers, server, net, leaf, spine, core, links, hops, bisection):
    got = compute(myriad, servers, server, net, name)
    switches = got["switches"]
    check(f"{name}: switches", (switches["leaf"], switches["spine"], switches["core"]),
          (leaf, spine, core))
    check(f"{name}: links", got["links"]["total"], links)
    check(f"{name}: diameter", got["diameter_hops"], hops)
    check(f"{name}: bisection", got["bisection_gbps"], bisection)
    return got


def smallest_divisor(number, least):
    return next(d for d in range(max(1, least), number + 1) if number % d == 0)


def rails(myriad):
    """Rail-optimised, two tiers: R/2 servers a group, divisor rule, 2N cables; 3 tiers: 5N/R."""
    radix, speed = 64, 400
    for servers in (32, 64, 96, 160, 256):
        leaf = 8 * math.ceil(servers / (radix // 2))
        spine = smallest_divisor(32, math.ceil(leaf * 32 / radix))
        tiers(myriad, f"rail-{servers}", servers, "h100-8gpu", "switch: mqm9790", leaf, spine, 0,
              servers * 8 + leaf * 32, 2, servers * 8 * speed // 2)
    for servers in (512, 1280, 2048, 8192):
        leaf = servers * 8 // 32
        pods = leaf // 8
        while pods > 64:
            pods //= 2
        core = leaf // pods * smallest_divisor(32, math.ceil(pods * 32 / 64))
        tiers(myriad, f"rail3-{servers}", servers, "h100-8gpu", "switch: mqm9790, tiers: 3", leaf,
              leaf, core, 3 * servers * 8, 4, servers * 8 * speed // 2)
    # Largest sizes: R^2/2 and R^3/4 hosts; leaf R^2/2, spine R^2/2, core R^2/4.
    tiers(myriad, "max-3-tier", 65536 // 8, "h100-8gpu", "switch: mqm9790", 2048, 2048, 1024,
          3 * 65536, 4, 65536 * 200)


def clos(myriad):
    for servers in (64, 256, 2048):
        ports = servers
        got = compute(myriad, servers, "generic-1gpu",
                      "topology: clos, switch: mqm9790, nic_gbps: 400", f"clos-{servers}")
        if servers <= 64:
            check("one tier", (got["tiers"], got["switches"]["leaf"]), (1, 1))
        else:
            leaf = ports // 32
            spine = smallest_divisor(32, math.ceil(leaf * 32 / 64))
            check(f"clos-{servers}", (got["switches"]["leaf"], got["switches"]["spine"]),
                  (leaf, spine))
            check(f"clos-{servers} links", got["links"]["total"], 2 * ports)
    # Three tiers at 1:1: spine = leaf, core = leaf/2 where pods fill the radix.
    tiers(myriad, "clos-3", 512, "h100-8gpu", "topology: clos, switch: mqm9790", 128, 128, 64,
          3 * 4096, 4, 4096 * 200)
    # Oversubscription 3:1 at the leaf: 48 down, 16 up.
    for servers in (48, 96):
        got = compute(myriad, servers, "h100-8gpu",
                      "topology: clos, switch: mqm9790, oversubscription: 3", f"over-{servers}")
        leaf = servers * 8 // 48
        check(f"over-{servers}", got["switches"]["leaf"], leaf)
        check(f"over-{servers} ratio", got["oversubscription"], [3])
        check(f"over-{servers} bisection", got["bisection_gbps"], leaf * 16 * 400 // 2)


def dense(myriad):
    got = compute(myriad, 12544, "h100-8gpu", "switch: sn5600, nic_gbps: 400, fill: dense", "dense")
    check("dense 100k", got["switches"]["total"], 3920)
    check("dense 100k pair stated", 0 < got["worst_pair_gbps"] < got["full_pair_gbps"], True)
    got = compute(myriad, 1280, "h100-8gpu", "switch: mqm9790, fill: dense", "dense-10k")
    check("dense 10k cores", got["switches"]["core"], 160)


def planes(myriad):
    for servers in (64, 512):
        got = compute(myriad, servers, "h100-8gpu-2x200",
                      "switch: sn5600, nic_gbps: 200, topology: dual-tor", f"dual-tor-{servers}")
        leaf = 8 * math.ceil(servers / 128)
        spine = smallest_divisor(128, math.ceil(leaf * 128 / 256))
        check(f"dual-tor-{servers}", (got["switches"]["leaf"], got["switches"]["spine"]),
              (2 * leaf, 2 * spine))
        check(f"dual-tor-{servers} host links", got["links"]["host_leaf"], servers * 16)
    for servers in (64, 256):
        got = compute(myriad, servers, "b300-8gpu", "switch: sn5600, topology: twin-planar",
                      f"twin-{servers}")
        check(f"twin-{servers} cables", got["cables"]["total"] * 2, got["links"]["total"])
    # Four planes of an 800G NIC on 102.4T: R = 512, two tiers to 131,072 hosts.
    got = compute(myriad, 1024, "b300-8gpu-4x200", "switch: eth-102t4, nic_gbps: 200, planes: 4",
                  "four-planes")
    check("four planes", (got["tiers"], got["switches"]["leaf"]), (2, 4 * 8 * 4))


def islands(myriad):
    """Full rate inside, 7:1 above: 56 down and 8 up on every spine of R = 64."""
    for count, servers in ((2, 448), (8, 1792)):
        # 224 servers an island: 56 leaves of 32 down; 32 spines of 56 down, 8 up.
        got = compute(myriad, servers, "h100-8gpu",
                      f"switch: mqm9790, oversubscription: [1, 7], islands: {count}",
                      f"islands-{count}")
        leaf = servers * 8 // 32
        spine = count * 32
        cores = 32 * smallest_divisor(8, math.ceil(count * 8 / 64))
        check(f"islands-{count}", (got["switches"]["leaf"], got["switches"]["spine"],
                                   got["switches"]["core"]), (leaf, spine, cores))
        check(f"islands-{count} ratio", got["oversubscription"], [1, 7])
        check(f"islands-{count} bisection", got["bisection_gbps"], spine * 8 * 400 // 2)
        check(f"islands-{count} pods", got["shape"]["pods"], count)


def rail_only(myriad):
    """Each rail a Clos of N/G endpoints: no link between rails."""
    for servers in (64, 128, 2048):
        got = compute(myriad, servers, "h100-8gpu", "switch: mqm9790, topology: rail-only",
                      f"rail-only-{servers}")
        if servers <= 64:
            check("rail-only one switch a rail", (got["tiers"], got["switches"]["leaf"]), (1, 8))
        else:
            leaf = math.ceil(servers / 32)
            spine = smallest_divisor(32, math.ceil(leaf * 32 / 64))
            check(f"rail-only-{servers}", (got["switches"]["leaf"], got["switches"]["spine"]),
                  (8 * leaf, 8 * spine))
        check(f"rail-only-{servers} bisection", got["bisection_gbps"], servers * 8 * 200)
    # 100k at R = 128 needs three tiers a rail; R = 256 with two planes needs two.
    got = compute(myriad, 12544, "h100-8gpu", "switch: sn5600, topology: rail-only, nic_gbps: 400",
                  "rail-only-100k")
    check("rail-only 100k tiers", got["tiers"], 3)
    got = compute(myriad, 12544, "h100-8gpu-2x200",
                  "switch: sn5600, topology: rail-only, nic_gbps: 200, planes: 2",
                  "rail-only-100k-2")
    check("rail-only 100k dual plane tiers", got["tiers"], 2)


def middle_of_rack(myriad):
    """Copper share = 1 / number of tiers at 1:1."""
    for servers, tier_count in ((128, 2), (512, 3)):
        got = compute(myriad, servers, "h100-8gpu",
                      f"switch: mqm9790, topology: middle-of-rack, tiers: {tier_count}",
                      f"mor-{servers}")
        check(f"mor-{servers} copper share", got["copper_cables"] * tier_count,
              got["cables"]["total"])
        check(f"mor-{servers} leaf", got["switches"]["leaf"], servers * 8 // 32)


def dragonfly(myriad):
    """a = 2p = 2h: N = 4h^4 + 2h^2, groups a h + 1, one link a pair of groups."""
    for h in (2, 3, 4):
        hosts = 4 * h ** 4 + 2 * h ** 2
        groups = 2 * h * h + 1
        got = compute(myriad, hosts, "generic-1gpu",
                      f"topology: dragonfly, switch: mqm9790, global_ports: {h}, "
                      f"group_switches: {2 * h}, hosts_per_switch: {h}", f"dragonfly-{h}")
        check(f"dragonfly-{h} switches", got["switches"]["leaf"], groups * 2 * h)
        check(f"dragonfly-{h} local", got["links"]["local"], groups * h * (2 * h - 1))
        check(f"dragonfly-{h} global", got["links"]["global"], groups * (groups - 1) // 2)
        check(f"dragonfly-{h} diameter", got["diameter_hops"], 3)
        cut = (groups // 2) * (groups - groups // 2) * 400
        check(f"dragonfly-{h} bisection", got["bisection_gbps"], min(cut, hosts * 200))
    # By radix: R = 4h - 1; 64 ports give h = 16, a = 32, p = 16.
    got = compute(myriad, 4096, "generic-1gpu", "topology: dragonfly, switch: mqm9790", "dragonfly")
    check("dragonfly by radix", (got["shape"]["group_switches"], got["shape"]["hosts_per_switch"]),
          (32, 16))
    for half in (2, 4):
        groups = half * half + 1
        hosts = half * half * groups
        got = compute(myriad, hosts, "generic-1gpu",
                      f"topology: dragonfly+, switch: mqm9790, group_switches: {half}",
                      f"dragonfly+-{half}")
        check(f"dragonfly+-{half} switches", got["switches"]["total"], 2 * half * groups)
        check(f"dragonfly+-{half} links", (got["links"]["leaf_spine"], got["links"]["global"]),
              (groups * half * half, groups * (groups - 1) // 2))
        check(f"dragonfly+-{half} diameter", got["diameter_hops"], 3)


def torus(myriad):
    """k-ary n-cube: nN links, diameter n floor(k/2), bisection 2 k^(n-1)."""
    for k, n in ((4, 2), (8, 2), (4, 3), (5, 3), (8, 3)):
        routers = k ** n
        got = compute(myriad, routers * 8, "generic-1gpu",
                      f"topology: torus, switch: mqm9790, dims: {[k] * n}", f"torus-{k}-{n}")
        check(f"torus-{k}-{n} switches", got["switches"]["leaf"], routers)
        check(f"torus-{k}-{n} links", got["links"]["local"], n * routers)
        check(f"torus-{k}-{n} diameter", got["diameter_hops"], n * (k // 2))
        if k % 2 == 0:
            check(f"torus-{k}-{n} bisection", got["bisection_gbps"],
                  min(2 * k ** (n - 1) * 400, routers * 8 * 200))
        else:
            # An odd side has no even cut: a halving crosses at least 2 (k^n - 1) / (k - 1) links.
            least = 2 * (k ** n - 1) // (k - 1) * 400
            check(f"torus-{k}-{n} bisection", least <= got["bisection_gbps"], True)


def uneven(myriad):
    """100 servers at 3:1: 8 leaves of 96 hosts and 32 uplinks, 8 of 4 hosts."""
    got = compute(myriad, 100, "h100-8gpu", "switch: sn5600, oversubscription: 3", "uneven")
    check("uneven bisection", (got["bisection_ports_gbps"], got["bisection_nodes_gbps"],
                               got["bisection_gbps"]), (57600, 160000, 57600))


def published_shapes(myriad):
    """Alibaba HPN 7.0: 2 x 200G to two planes, leaf 128 x 200G down, 60 x 400G up, 15 segments."""
    got = compute(myriad, 1920, "h100-8gpu-2x200",
                  "switch: sn5600, nic_gbps: 200, uplink_gbps: 400, planes: 2, leaf_down: 128, "
                  "leaf_up: 60, tiers: 3, islands: 1, oversubscription: [1, 15]", "hpn")
    check("hpn leaf", got["switches"]["leaf"], 240)
    check("hpn bisection", (got["bisection_ports_gbps"], got["bisection_nodes_gbps"],
                            got["bisection_gbps"]), (2880000, 2892800, 2880000))
    check("hpn agg", got["switches"]["spine"], 120)
    check("hpn cables", (got["links"]["host_leaf"], got["links"]["leaf_spine"],
                         got["links"]["spine_core"]), (30720, 14400, 960))
    # Meta 24k: 16 GPUs a ToR, 192 racks a pod, 8 pods, 1:7 on top.
    got = compute(myriad, 3072, "h100-8gpu",
                  "topology: clos, switch: sn5600, spine_switch: eth-modular-576x400, "
                  "nic_gbps: 400, leaf_down: 16, islands: 8, oversubscription: [1, 7]", "meta")
    check("meta leaf", got["switches"]["leaf"], 1536)
    check("meta pods", (got["shape"]["pods"], got["shape"]["pod_leaves"]), (8, 192))
    check("meta host cables", got["links"]["host_leaf"], 24576)


def scale_up(myriad):
    for server, domain in (("gb200-nvl72", 72), ("cloudmatrix-384", 384), ("h100-8gpu", 8)):
        result = plan(myriad, f"servers: 8\nserver: {server}\n")
        check(f"{server} domain", result["scale_up_gpus"], domain)
        check(f"{server} gpus", result["gpus"], 8 * domain)


def main():
    myriad = sys.argv[1]
    for case in (rails, clos, dense, planes, islands, rail_only, middle_of_rack, dragonfly, torus,
                 uneven, published_shapes, scale_up):
        case(myriad)
    for line in FAILED:
        print("FAIL", line)
    print(f"{COUNT} checks, {len(FAILED)} failed")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
