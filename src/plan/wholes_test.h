/* Specs of wholes_test.c. */
#pragma once

#include "parts_test.h"

#define COMPUTE(words) "networks: {compute: {" words "}}\n"
#define PINNED(words)                                                                              \
    COMPUTE("switch: mqm9790-ns2f, tiers: 2, leaf_down: 4, leaf_up: 4, length_m: 45, pin: {" words \
            "}")
#define SERVICE(words) "networks: {compute: , service: {" words "}}\n"
#define OOB(words)     "networks: {compute: , oob: {" words "}}\n"
#define STORE(words)   "networks: {compute: , storage: {" words "}}\n"
#define GROUPS \
    "groups: [{name: first, servers: 3, server: h100-8gpu}, {name: other, servers: 2, server: "

static const char *const wholes[] = {
    /* One switch holds all hosts, unless a key asks for more. */
    "servers: 8\n" COMPUTE("switch: mqm9790-ns2f"),
    "servers: 9\n" COMPUTE("switch: mqm9790-ns2f"),
    "servers: 7\n" COMPUTE("switch: mqm9790-ns2f, extra_nodes: 1"),
    "servers: 7\n" COMPUTE("switch: mqm9790-ns2f, extra_nodes: 2"),
    "servers: 4\nserver: b300-8gpu\n" COMPUTE("switch: sn5600, planes: 2"),
    "servers: 4\n" COMPUTE("switch: mqm9790-ns2f, topology: rail"),
    "servers: 4\n" COMPUTE("switch: mqm9790-ns2f, tiers: 2"),
    "servers: 4\n" COMPUTE("switch: mqm9790-ns2f, rails: 4"),
    "servers: 4\n" COMPUTE("switch: mqm9790-ns2f, islands: 1"),
    "servers: 4\n" COMPUTE("switch: mqm9790-ns2f, pod_leaves: 8"),
    "servers: 4\n" COMPUTE("switch: mqm9790-ns2f, leaf_down: 16"),
    "servers: 4\n" COMPUTE("switch: mqm9790-ns2f, leaf_up: 16"),
    "servers: 4\n" COMPUTE("switch: mqm9790-ns2f, group_switches: 2"),
    "servers: 4\n" COMPUTE("switch: mqm9790-ns2f, oversubscription: 2"),
    "servers: 4\n" COMPUTE("switch: mqm9790-ns2f, spine_switch: mqm9700-ns2f"),
    "servers: 4\n" COMPUTE("switch: mqm9790-ns2f, core_switch: mqm9700-ns2f"),
    "servers: 4\nserver: bare\n" COMPUTE("topology: clos, switch: mqm9790-ns2f"),

    /* Three tiers of small switches: pods, islands, cores of another kind. */
    "servers: 6\nserver: bare\n" COMPUTE("switch: eight, topology: rail, tiers: 3"),
    "servers: 7\nserver: bare\n" COMPUTE("switch: eight, topology: clos, fill: dense"),
    "servers: 9\nserver: bare\n" COMPUTE("switch: eight, topology: clos, fill: dense, "
                                         "oversubscription: [1, 3]"),
    "servers: 11\nserver: bare\n" COMPUTE("switch: eight, topology: clos, core_switch: twelve"),
    "servers: 11\nserver: bare\n" COMPUTE("switch: twelve, topology: clos, spine_switch: eight, "
                                          "tiers: 3"),
    "servers: 12\nserver: bare\n" COMPUTE("switch: eight, topology: clos, core_switch: capped, "
                                          "pod_leaves: 4, oversubscription: [1, 3]"),
    "servers: 12\nserver: bare\n" COMPUTE("switch: capped, topology: clos, tiers: 3, fill: dense, "
                                          "oversubscription: [1.2, 1.4]"),
    "servers: 10\nserver: bare\n" COMPUTE("switch: capped, topology: rail-only"),
    "servers: 30\nserver: bare\n" COMPUTE("switch: eight, topology: rail-only"),
    "servers: 5\nserver: bare\n" COMPUTE("switch: eight, topology: clos, islands: 2"),
    "servers: 5\nserver: bare\n" COMPUTE("switch: eight, topology: clos, islands: 2, fill: dense"),
    "servers: 8\nserver: bare\n" COMPUTE("switch: twelve, topology: rail, islands: 2, "
                                         "oversubscription: [1, 2]"),
    "servers: 8\nserver: bare\n" COMPUTE("switch: twelve, topology: rail, pod_leaves: 3"),
    "servers: 3\nserver: bare\n" COMPUTE("switch: eight, topology: clos, pod_leaves: 6"),
    "servers: 40\nserver: bare\n" COMPUTE("switch: eight, topology: clos"),
    "servers: 40\nserver: bare\n" COMPUTE("switch: eight, topology: clos, tiers: 2"),
    "servers: 40\nserver: bare\n" COMPUTE("switch: eight, topology: clos, tiers: 1"),
    "servers: 40\nserver: bare\n" COMPUTE("switch: eight, topology: clos, islands: 10"),
    "servers: 40\nserver: bare\n" COMPUTE("switch: eight, topology: clos, pod_leaves: 4"),
    "servers: 4\nserver: bare\n" COMPUTE("switch: eight, topology: clos, leaf_down: 9"),
    "servers: 4\nserver: bare\n" COMPUTE("switch: eight, topology: clos, leaf_up: 8"),
    "servers: 4\nserver: bare\n" COMPUTE("switch: eight, topology: clos, oversubscription: 100"),
    "servers: 6\nserver: bare\n" COMPUTE("switch: eight, topology: middle-of-rack, nic_gbps: 200"),
    "servers: 6\nserver: bare\n" COMPUTE("switch: eight, topology: clos, nic_gbps: 200, fill: "
                                         "dense, oversubscription: 1.5"),
    "servers: 9\nserver: bare\n" COMPUTE("switch: eight, topology: clos, nic_gbps: 200, fill: "
                                         "dense, extra_nodes: 1, fabric_manager_ports: 3"),
    "servers: 5\nserver: bare\n" COMPUTE(
        "switch: eight, topology: clos, tiers: 2, uplink_gbps: 200"),

    /* Keys of tiers that are not built. */
    "servers: 4\n" COMPUTE("switch: mqm9790-ns2f, topology: clos, tiers: 1, spine_switch: "
                           "mqm9700-ns2f"),
    "servers: 4\n" COMPUTE("switch: mqm9790-ns2f, topology: clos, spine_switch: mqm9700-ns2f, "
                           "core_switch: mqm9700-ns2f, leaf_up: 4, oversubscription: [2, 2]"),
    "servers: 12\n" COMPUTE("switch: mqm9790-ns2f, tiers: 2, islands: 2"),
    "servers: 12\n" COMPUTE("switch: mqm9790-ns2f, tiers: 2, pod_leaves: 8"),
    "servers: 12\n" COMPUTE("switch: mqm9790-ns2f, tiers: 2, core_switch: mqm9700-ns2f"),
    "servers: 12\n" COMPUTE("switch: mqm9790-ns2f, oversubscription: [1, 1]"),

    /* Groups of switches, rings. */
    "servers: 9\nserver: bare\n" COMPUTE("switch: eight, topology: dragonfly, nic_gbps: 400"),
    "servers: 9\nserver: bare\n" COMPUTE("switch: eight, topology: dragonfly, nic_gbps: 200"),
    "servers: 9\nserver: bare\n" COMPUTE("switch: twelve, topology: dragonfly, global_ports: 2"),
    "servers: 1\nserver: bare\n" COMPUTE(
        "switch: twelve, topology: dragonfly, hosts_per_switch: 4, "
        "group_switches: 1, global_ports: 1"),
    "servers: 6\nserver: bare\n" COMPUTE("switch: eight, topology: dragonfly, hosts_per_switch: 3, "
                                         "group_switches: 3, global_ports: 3"),
    "servers: 6\nserver: bare\n" COMPUTE("switch: eight, topology: dragonfly, hosts_per_switch: 4, "
                                         "group_switches: 5, global_ports: 1"),
    "servers: 30\nserver: bare\n" COMPUTE(
        "switch: eight, topology: dragonfly, hosts_per_switch: 1, "
        "group_switches: 2, global_ports: 2"),
    "servers: 30\nserver: bare\n" COMPUTE("switch: eight, topology: dragonfly+"),
    "servers: 6\nserver: bare\n" COMPUTE("switch: eight, topology: dragonfly+, group_switches: 3"),
    "servers: 2\nserver: bare\n" COMPUTE("switch: eight, topology: dragonfly+, group_switches: 1, "
                                         "hosts_per_switch: 7"),
    "servers: 2\nserver: bare\n" COMPUTE("switch: eight, topology: dragonfly+, group_switches: 4"),
    "servers: 9\nserver: bare\n" COMPUTE("switch: eight, spine_switch: twelve, topology: "
                                         "dragonfly+, group_switches: 4, global_ports: 8"),
    "servers: 9\nserver: bare\n" COMPUTE("switch: eight, spine_switch: twelve, topology: "
                                         "dragonfly+, group_switches: 4, global_ports: 9"),
    "servers: 9\nserver: h100-8gpu-2x200\n" COMPUTE(
        "switch: sn5600, topology: dragonfly, planes: 2"),
    "servers: 4\nserver: bare\n" COMPUTE("switch: eight, topology: torus, dims: [2, 3]"),
    "servers: 4\nserver: bare\n" COMPUTE("switch: eight, topology: torus, dims: [4, 2], trunk: 2"),
    "servers: 4\nserver: bare\n" COMPUTE("switch: eight, topology: torus, dims: [4, 2], "
                                         "hosts_per_switch: 1"),
    "servers: 4\nserver: bare\n" COMPUTE("switch: twelve, topology: torus, dims: [2, 2, 3], "
                                         "hosts_per_switch: 3, uplink_gbps: 400"),
    "servers: 4\nserver: bare\n" COMPUTE("switch: eight, topology: torus"),
    "servers: 8\nserver: bare\n" COMPUTE("switch: eight, topology: torus, dims: [3, 3], nic_gbps: "
                                         "200, uplink_gbps: 200"),

    /* What parts can do, and what the spec asks of them. */
    "servers: 4\n" COMPUTE("fabric: roce"),
    "servers: 4\n" COMPUTE("fabric: infiniband"),
    "servers: 4\nserver: ascend-910b-8npu\n" COMPUTE("fabric: infiniband"),
    "servers: 4\n" COMPUTE("fabric: infiniband, switch: sn5600"),
    "servers: 4\n" SERVICE("fabric: infiniband"),
    "servers: 4\n" SERVICE("fabric: ethernet"),
    "servers: 4\n" COMPUTE("switch: mqm9790-ns2f, spine_switch: sn5600"),
    "servers: 4\n" COMPUTE("switch: sn5600, core_switch: q3400"),
    "servers: 4\n" COMPUTE("switch: sn5600, spine_switch: eth-12t8-64x200"),
    "servers: 4\n" COMPUTE("switch: sn5600, uplink_gbps: 300"),
    "servers: 4\n" COMPUTE("switch: mqm9790-ns2f, nic_gbps: 50"),
    "servers: 4\n" COMPUTE("nic_gbps: 7"),
    "servers: 4\nserver: ascend-910b-8npu\n" COMPUTE("switch: qm8790"),
    "servers: 4\nserver: bare\n" OOB(""),
    "servers: 4\nserver: bare\n" OOB("pin: {nic: bmc-1g}"),
    "servers: 4\n" COMPUTE("topology: twin-planar"),
    "servers: 4\n" COMPUTE("planes: 2"),
    "servers: 4\n" COMPUTE("nic_ports: 4"),
    "servers: 4\nserver: dgx-h100\n" COMPUTE("nic_ports: 5"),
    "servers: 4\nserver: dgx-h100\n" COMPUTE("nic_ports: 4, fabric_manager_ports: 2"),
    "servers: 4\nserver: h100-8gpu-2x200\n" COMPUTE("topology: dual-tor, fabric_manager_ports: 2"),
    "servers: 4\nserver: b300-8gpu-4x200\n" COMPUTE("switch: eth-102t4, fabric_manager_ports: 1"),
    "servers: 4\n" COMPUTE("topology: clos, rails: 2"),
    "servers: 4\n" COMPUTE("topology: rail, rails: 3"),
    "servers: 4\nserver: pair\n" COMPUTE("topology: rail, nic_ports: 1"),
    "servers: 4\nserver: pair\n" COMPUTE("topology: rail-only"),

    /* Storage servers bring cards of their own. */
    "servers: 4\nstorage: {capacity_tb: 100}\n" STORE(""),
    "servers: 4\nstorage: {capacity_tb: 100}\n" STORE("topology: rail"),
    "servers: 4\nserver: pair\nstorage: {capacity_tb: 100}\n" STORE("topology: rail"),
    "servers: 4\nserver: pair\nstorage: {capacity_tb: 100, server: fast}\n" STORE(""),
    "servers: 4\nserver: pair\nstorage: {capacity_tb: 100, server: fast}\n" STORE("nic_gbps: 200"),
    "servers: 4\nserver: pair\nstorage: {capacity_tb: 100, server: slow}\n" STORE(""),
    "servers: 4\nserver: a100-8gpu\nstorage: {capacity_tb: 100, server: flash-22x15}\n" STORE(
        "switch: qm8790, extra_nodes: 3"),
    "servers: 4\nserver: pair\nstorage: {capacity_tb: 60, copies: 1}\n" STORE(
        "switch: eight, topology: torus, dims: [2, 2]"),
    "servers: 4\nserver: pair\nstorage: {capacity_tb: 60, copies: 1}\n" STORE(
        "switch: eight, topology: dragonfly, hosts_per_switch: 3"),
    "servers: 4\nserver: pair\nstorage: {capacity_tb: 60, copies: 1}\n" STORE(
        "switch: sn5600, topology: clos, leaf_down: 5, nic_gbps: 200"),
    "servers: 4\nserver: h100-8gpu-2x200\nstorage: {capacity_tb: 60}\n" STORE("planes: 2"),
    "servers: 2\nstorage: {capacity_tb: 60}\nnetworks: {compute: , service: , oob: }\n",
    "servers: 2\nstorage: {capacity_tb: 60}\n",

    /* Access networks of two tiers. */
    "servers: 4\n" SERVICE("homes: 1"),
    "servers: 4\n" SERVICE("homes: 3"),
    "servers: 4\n" SERVICE("homes: 1, nic_ports: 1"),
    "servers: 4\n" SERVICE("tiers: 1"),
    "servers: 4\n" SERVICE("fabric_manager_ports: 2"),
    "servers: 4\n" SERVICE("nic_gbps: 10"),
    "servers: 4\n" SERVICE("nic_gbps: 100"),
    "servers: 4\n" SERVICE("nic_gbps: 3"),
    "servers: 4\n" SERVICE("access_switch: eth-access-1g, aggregation_switch: eth-agg-10g"),
    "servers: 4\n" SERVICE("access_switch: eth-access-1g"),
    "servers: 4\n" SERVICE("access_switch: odd-up"),
    "servers: 4\n" SERVICE("access_switch: no-up"),
    "servers: 4\n" SERVICE("access_switch: wide-up"),
    "servers: 20\n" SERVICE("access_switch: small-25g, aggregation_switch: small-agg"),
    "servers: 20\n" SERVICE("access_switch: small-25g, aggregation_switch: small-agg, aggregation: "
                            "3"),
    "servers: 20\n" SERVICE("access_switch: small-25g, aggregation_switch: alike, aggregation: 5"),
    "servers: 24\n" SERVICE("access_switch: small-25g, aggregation_switch: alike, aggregation: 6"),
    "servers: 60\n" OOB("access_switch: one-up"),
    "servers: 60\n" OOB("access_switch: one-up, aggregation: 1"),
    "servers: 300\nserver: single\n" OOB("extra_nodes: 4"),
    "servers: 5\nserver: single\n" SERVICE(""),
    "servers: 5\nserver: single\n" SERVICE("access_switch: eth-access-1g, aggregation_switch: "
                                           "eth-agg-10g"),

    /* And of three. */
    "servers: 20\n" SERVICE("access_switch: small-25g, aggregation_switch: small-agg, tiers: 3"),
    "servers: 20\n" SERVICE("access_switch: small-25g, aggregation_switch: alike, tiers: 3"),
    "servers: 50\n" SERVICE("access_switch: small-25g, aggregation_switch: small-agg, tiers: 3"),
    "servers: 90\n" SERVICE("access_switch: small-25g, aggregation_switch: alike, tiers: 3, "
                            "extra_nodes: 2"),
    "servers: 400\n" SERVICE("access_switch: small-25g, aggregation_switch: alike, tiers: 3"),
    "servers: 400\n" SERVICE("access_switch: small-25g, aggregation_switch: small-agg, tiers: 3"),
    "servers: 60\n" OOB("tiers: 3"),
    "servers: 4\n" SERVICE("access_switch: no-up, tiers: 3"),
    "servers: 20\nnetworks: {compute: {topology: access, access_switch: small-25g, "
    "aggregation_switch: alike, tiers: 3, pin: {nic: eth-2x25g}}, oob: }\n",

    /* Switches, managers, strips: all that is managed. */
    "servers: 5\nserver: pair\nnetworks: {compute: {switch: capped, topology: clos, tiers: 3, "
    "fabric_manager_ports: 2}, storage: {switch: eight, topology: dragonfly, fabric_manager_ports: "
    "1}, service: {access_switch: small-25g, aggregation_switch: small-agg, tiers: 3}, oob: "
    "{extra_nodes: 3}}\n",
    "servers: 5\nserver: pair\nnetworks: {compute: {extra_nodes: 2}, storage: {extra_nodes: 5}, "
    "service: {extra_nodes: 2}, oob: {extra_nodes: 7}}\n",
    "servers: 5\nserver: pair\nnetworks: {compute: {extra_nodes: 4}, service: {extra_nodes: 4}, "
    "oob: "
    "{access_switch: small-25g, pin: {nic: eth-2x25g}}}\nroom: {rows: 4, columns: 3, managed: "
    "true}\nfacility: {cooling: cold-plate}\n",

    /* Servers of several kinds. */
    GROUPS "h200-8gpu}]\nnetworks: {compute: {tiers: 2}, storage: , service: , oob: }\n",
    GROUPS "bare}]\nnetworks: {compute: {topology: clos}}\n",
    GROUPS "bare}]\nnetworks: {compute: {topology: rail}}\n",
    GROUPS "bare, networks: [oob]}]\nnetworks: {compute: , oob: }\n",
    GROUPS "bare, networks: [compute]}]\nnetworks: {compute: {topology: clos}, oob: }\n",
    GROUPS "single}]\nnetworks: {compute: , service: {access_switch: eth-access-1g, "
           "aggregation_switch: eth-agg-10g}}\n",
    GROUPS "single}]\nnetworks: {compute: , service: {nic_ports: 1, access_switch: eth-access-1g, "
           "aggregation_switch: eth-agg-10g}}\n",
    GROUPS
    "pair}]\nnetworks: {compute: {topology: clos, switch: mqm9790-ns2f}, storage: , service: "
    ", oob: }\n",
    GROUPS "pair}]\nnetworks: {compute: {topology: clos, switch: mqm9790-ns2f, nic_ports: 2}}\n",
    GROUPS "pair}]\nnetworks: {compute: {topology: clos, pin: {nic: cx7-400g-osfp}}}\n",
    GROUPS "pair}]\nnetworks: {compute: {topology: clos}}\nroom: {rows: 4, columns: 4}\n",
    GROUPS "h200-8gpu}]\nnetworks: {compute: }\nroom: {rows: 4, columns: 4, server_kw: 9}\n",
    GROUPS
    "h100-8gpu, networks: [compute]}, {name: third, servers: 4, server: a100-8gpu, networks: "
    "[service]}]\nnetworks: {compute: {topology: rail}, service: }\n",
    GROUPS "a100-8gpu}]\nnetworks: {compute: {topology: clos, switch: sn5600, nic_gbps: 200}}\n",

    /* The bill. */
    "servers: 4\nprices: cn-2024-05\nsupplied: [servers, management_nodes, ethernet_cabling, "
    "fabric_managers]\nnetworks: {compute: {switch: mqm9790-ns2f, extra_nodes: 1, "
    "fabric_manager_ports: 2}, service: }\n",
    "servers: 4\nprices: cn-2024-05\nsupplied: [ethernet_cabling]\nnetworks: {compute: {switch: "
    "mqm9790-ns2f, extra_nodes: 1, fabric_manager_ports: 2}, service: }\n",
    "servers: 65\nprices: cn-2024-05\n" COMPUTE(
        "switch: mqm9790-ns2f, items: [{part: iw-support, quantity: 2}, {part: iw-venus, per: "
        "gpu}, "
        "{part: firewall, per: switch, quantity: 0.5, name: wall}]"),
    "servers: 3\nnetworks: {compute: , service: }\nprices: {parts: {h100-8gpu: 1234.56, firewall: "
    "0.01, bastion: 100}}\nitems: [{part: firewall, per: node, quantity: 1.5}, {part: bastion, "
    "per: "
    "nic_port, system: service, quantity: 0.1}, {part: log-audit, per: server}, {part: bastion, "
    "per: "
    "switch, system: service}, {part: ufm-licence, quantity: 3, system: security}]\n",
    "servers: 3\nprices: {book: cn-2024-05, parts: {mqm9790-ns2f: 5}}\n" COMPUTE(
        "switch: mqm9790-ns2f, tiers: 2, pin: {quantities: {mqm9790-ns2f: 9, mma4z00-ns: 1, "
        "mma4z00-ns400: 0, firewall: 3, bastion: 0}}"),
    "servers: 3\nprices: {book: cn-2024-05}\n" COMPUTE(
        "switch: mqm9790-ns2f, pin: {quantities: {mqm9790-ns2f: 1000}}"),
    "servers: 1000\nprices: {parts: {h100-8gpu: 1000000000000, firewall: 1000000000000}}\nitems: "
    "[{part: firewall, quantity: 1000000}]\n",
    "servers: 3\nserver: b300-8gpu-xdr\n" COMPUTE("switch: q3200, tiers: 2"),
    "servers: 3\nserver: b300-8gpu-xdr\n" COMPUTE("switch: q3450-ld, tiers: 2"),
    "servers: 6\nserver: bare\n" COMPUTE(
        "switch: capped, spine_switch: twelve, core_switch: capped, "
        "topology: clos, tiers: 3"),
    "servers: 3\naccept: [single-switch, unpriced, nothing]\n" COMPUTE(""),

    /* Advice. */
    "servers: 20\nserver: bare\n" COMPUTE("switch: capped, topology: clos, tiers: 3"),
    "servers: 20\nserver: bare\n" COMPUTE("switch: capped, topology: clos, tiers: 2"),
    "servers: 48\n" COMPUTE("switch: mqm9790-ns2f, islands: 2, oversubscription: [1, 7]"),
    "servers: 48\n" COMPUTE("switch: mqm9790-ns2f, islands: 2, oversubscription: [1, 3]"),
    "servers: 48\n" COMPUTE("switch: mqm9790-ns2f, topology: clos, islands: 2"),

    /* Pins that break one rule each, and free parts beside them. */
    "servers: 2\n" PINNED("switch_optic: few-lanes"),
    "servers: 2\n" PINNED("switch_optic: slow-lanes"),
    "servers: 2\n" PINNED("switch_optic: near"),
    "servers: 2\n" PINNED("switch_optic: near, nic_optic: mma4z00-ns400, host_cable: mfp7e10-n050"),
    "servers: 2\n" PINNED("nic_optic: picky"),
    "servers: 2\n" PINNED("host_cable: eth-fibre"),
    "servers: 2\n" PINNED(
        "switch_optic: mma4z00-ns, nic_optic: mma4z00-ns400, host_cable: eth-fibre"),
    "servers: 2\n" PINNED(
        "switch_optic: mma4z00-ns, nic_optic: mma4z00-ns400, host_cable: split-dac"),
    "servers: 2\n" PINNED("switch_optic: mma4z00-ns, host_cable: split-dac"),
    "servers: 2\n" PINNED("nic_optic: mma4z00-ns400, host_cable: split-dac"),
    "servers: 2\n" PINNED("host_cable: split-dac"),
    "servers: 2\n" PINNED("host_cable: twin-dac"),
    "servers: 2\n" PINNED("fabric_cable: twin-dac"),
    "servers: 2\n" PINNED("fabric_cable: split-dac"),
    "servers: 2\n" PINNED("fabric_optic: near, fabric_cable: mfp7e10-n050"),
    "servers: 1\nserver: bare\n" COMPUTE(
        "switch: mqm9790-ns2f, leaf_down: 4, leaf_up: 3, tiers: 2, "
        "topology: clos, pin: {fabric_cable: twin-dac}"),
    "servers: 2\nserver: ascend-910b-8npu\n" COMPUTE("switch: eth-12t8-64x200, tiers: 2, pin: "
                                                     "{switch_optic: mma4z00-ns}"),

    /* Kinds of hosts with other cards share a switch in whole splitters. */
    "servers: 3\nstorage: {servers: 3, server: flash-22x15}\n" STORE(
        "switch: mqm9790-ns2f, nic_ports: 1, nic_gbps: 200, extra_nodes: 1, fabric_manager_ports: "
        "1"),
    "servers: 3\nstorage: {servers: 3, server: flash-22x15}\n" STORE(
        "switch: mqm9790-ns2f, nic_ports: 1, nic_gbps: 200, topology: clos, leaf_down: 5, leaf_up: "
        "4"),
    "servers: 5\nstorage: {servers: 3, server: flash-22x15}\n" STORE(
        "switch: mqm9790-ns2f, nic_ports: 1, nic_gbps: 200, topology: torus, dims: [2, 2]"),
    GROUPS "lone}]\nnetworks: {compute: , service: }\n",
    GROUPS "lone}]\nnetworks: {compute: , service: {nic_ports: 1}}\n",
    "groups: [{name: only, servers: 2, server: h100-8gpu, networks: [compute]}]\nnetworks: "
    "{compute: "
    ", storage: , oob: }\nstorage: {servers: 2}\n",

    /* More than a design may have. */
    "servers: 1000000\nserver: b300-8gpu-4x200\n" COMPUTE("switch: eth-102t4"),
    "servers: 600000\nserver: gb200-nvl72\n" COMPUTE(""),

    "servers: 5\nserver: bare\nprices: own-book\nitems: [{part: firewall, quantity: 2}, {part: "
    "bastion}]\n" COMPUTE("switch: eight, topology: clos"),
    "servers: 5\nserver: bare\nprices: {book: own-book, parts: {eight: 3, bare: 0}}\n" COMPUTE(
        "switch: eight, topology: clos"),
    "servers: 2\nserver: bare\nprices: own-book\nfacility: {energy: {currency: EUR}}\n" COMPUTE(
        "switch: eight, topology: clos"),

    /* Insides of a node. */
    "servers: 1\nserver: old\nnetworks: {compute: {topology: clos}, oob: }\n",
    "servers: 1\nserver: many\n" COMPUTE("topology: clos, switch: mqm9790-ns2f"),
    "servers: 1\nserver: duo\n" COMPUTE("topology: clos"),
    "servers: 1\nserver: gb200-nvl72\nnetworks: {compute: , storage: , service: , oob: }\n",
    "servers: 1\nserver: generic-1gpu\n" COMPUTE(""),
    "servers: 1\nserver: dgx-h100\nnetworks: {compute: , storage: , service: , oob: }\n",

    /* Lengths. */
    "servers: 12\n" COMPUTE(
        "switch: mqm9790-ns2f, tiers: 3, length_m: {host_leaf: 3, leaf_spine: 31, "
        "spine_core: 120}"),
    "servers: 12\n" COMPUTE("switch: mqm9790-ns2f, tiers: 3, length_m: 5000"),
    "servers: 12\n" SERVICE("tiers: 3, length_m: {host_leaf: 2, leaf_spine: 7, spine_core: 9}"),
    "servers: 6\nserver: bare\n" COMPUTE(
        "switch: eight, topology: dragonfly, length_m: {host_leaf: "
        "2, leaf_spine: 5, spine_core: 60}"),
};

/* Whose pages and pictures are told. */
static const char *const shown[] = {
    "servers: 3\nserver: many\nnetworks: {compute: {topology: rail-only, switch: mqm9790-ns2f}}\n",
    "groups: [{name: a, servers: 3, server: h100-8gpu}, {name: b, servers: 2, server: a100-8gpu, "
    "networks: [service]}]\nnetworks: {compute: {topology: rail-only}, service: }\n",
    "servers: 2\n" PINNED("switch_optic: mms4x00-ns, nic_optic: mma1z00-ns400, host_cable: "
                          "mfp7e10-n005, fabric_optic: mms4x00-ns, fabric_cable: mfp7e10-n005, "
                          "quantities: {mqm9790-ns2f: 1}") "accept: [optic-mode]\n",
    "servers: 2\n" PINNED("switch_optic: mms4x00-ns, nic_optic: mma4z00-ns400, host_cable: "
                          "mfp7e10-n050") "accept: [optic-mode, unpriced]\n",
    "servers: 2\nprices: cn-2024-05\nsupplied: [servers]\nnetworks: {compute: {switch: "
    "mqm9790-ns2f, topology: clos}}\n",
    "servers: 1000\nserver: b300-8gpu\nnetworks: {compute: {switch: sn5600}}\n",
    "servers: 5\nserver: pair\nnetworks: {compute: {switch: eight, topology: torus, dims: [2, "
    "5]}}\n",
    "servers: 9\nserver: bare\nnetworks: {compute: {switch: eight, topology: dragonfly}}\n",
    "servers: 3\nserver: duo\nnetworks: {compute: {switch: eight, topology: clos}}\n",
    "servers: 5\nserver: bare\nprices: own-book\nnetworks: {compute: {switch: eight, topology: "
    "clos}}\nitems: [{part: firewall, quantity: 2}, {part: bastion}]\n",
    "servers: 9\nserver: pair\nnetworks: {compute: {switch: eight, topology: torus, dims: [5, 5, "
    "5], "
    "hosts_per_switch: 1}, storage: {switch: eight, topology: torus, dims: [6, 2, 6], "
    "hosts_per_switch: 1}}\n",
    "servers: 24\nprices: cn-2024-05\nnetworks: {compute: {switch: mqm9790-ns2f, fill: dense, "
    "tiers: "
    "2, oversubscription: 1.5}, service: , oob: }\nroom: {rows: 5, columns: 8, rack_kw: 24, "
    "managed: "
    "true, power: [{name: a, kw: 400, rows: 1-5}, {name: b, kw: 400, rows: 1-5}], buildings: "
    "[{name: "
    "x, rows: 5, columns: 4}, {name: y, rows: 5, columns: 4}], distance_m: 30}\nfacility: "
    "{cooling: "
    "cold-plate}\n",
    "servers: 9\nserver: pair\nnetworks: {compute: {switch: eight, topology: clos, tiers: 3}, "
    "storage: {switch: eight, topology: dragonfly, hosts_per_switch: 2}}\n",
    "servers: 4\nserver: b300-8gpu-4x200\nnetworks: {compute: {switch: eth-102t4, planes: 4, "
    "topology: rail}}\n",
    "servers: 30\nserver: bare\nnetworks: {compute: {switch: eight, topology: clos}}\n",
    "servers: 20\nnetworks: {compute: , service: {access_switch: small-25g, aggregation_switch: "
    "alike, tiers: 3}}\n",
};

/* Whose pictures alone are told. */
static const char *const pictures[] = {
    COMPUTE("topology: torus, switch: eight, dims: [2, 2, 8], hosts_per_switch: 1"),
    COMPUTE("topology: torus, switch: eight, dims: [4, 4, 4], hosts_per_switch: 1"),
    COMPUTE("topology: torus, switch: eight, dims: [3, 2, 9], hosts_per_switch: 1"),
    COMPUTE("topology: torus, switch: eight, dims: [9, 3, 2], hosts_per_switch: 1"),
    COMPUTE("topology: torus, switch: eight, dims: [2, 9, 3], hosts_per_switch: 1"),
    COMPUTE("topology: torus, switch: eight, dims: [12, 12], hosts_per_switch: 1, trunk: 1"),
    COMPUTE("topology: torus, switch: eight, dims: [2, 20], hosts_per_switch: 1"),
    COMPUTE("topology: dragonfly, switch: eight, group_switches: 2, hosts_per_switch: 2, "
            "global_ports: 4"),
    COMPUTE("topology: dragonfly, switch: mqm9790-ns2f, fabric: infiniband, group_switches: 3, "
            "hosts_per_switch: 2, global_ports: 12"),
    COMPUTE("topology: dragonfly+, switch: eight, group_switches: 2, hosts_per_switch: 2, "
            "global_ports: 6"),
    COMPUTE("topology: clos, switch: eight, tiers: 3, pod_leaves: 4"),
    COMPUTE("topology: clos, switch: capped, tiers: 3, fill: dense"),
    COMPUTE("topology: clos, switch: eight, tiers: 2, leaf_down: 4, leaf_up: 2"),
    COMPUTE("topology: middle-of-rack, switch: eight, tiers: 3"),
    COMPUTE("topology: rail, switch: eight, tiers: 3"),
    COMPUTE("topology: rail, switch: mqm9790-ns2f, rails: 1"),
    COMPUTE("topology: rail-only, switch: eight"),
    COMPUTE("topology: clos, switch: mqm9790-ns2f, leaf_down: 1, leaf_up: 1, tiers: 2"),
    SERVICE("access_switch: small-25g, pin: {nic: eth-2x25g}"),
    SERVICE(
        "access_switch: small-25g, aggregation_switch: small-agg, tiers: 3, homes: 1, nic_ports: "
        "1, pin: {nic: eth-2x25g}"),
};
