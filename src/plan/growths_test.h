/* Parts and specs of growths_test.c. */
#pragma once

#define TINY_SWITCH(ports, cages)                                                            \
    "  tiny" ports ":\n    order: TINY" ports "\n    title: a switch of few ports\n"         \
    "    technology: infiniband\n    cages: " cages "\n    form: osfp\n    cage_gbps: 800\n" \
    "    port_gbps: 400\n    splits: [200]\n    breakout: splitter\n    uplink_gbps: 400\n"  \
    "    watts: 100\n    rack_units: 1\n    weight_kg: 5\n"

#define TINY                                                                                     \
    "switches:\n" TINY_SWITCH("4", "2") TINY_SWITCH("6", "3") TINY_SWITCH("8", "4")              \
        TINY_SWITCH("12", "6") TINY_SWITCH("16", "8") TINY_SWITCH(                               \
            "24",                                                                                \
            "12") "ethernet:\n"                                                                  \
                  "  tiny-access:\n    order: TINY-ACCESS\n    title: an access switch\n    "    \
                  "access_ports: 4\n"                                                            \
                  "    access_gbps: 25\n    uplink_ports: 3\n    uplink_gbps: 100\n    watts: "  \
                  "10\n"                                                                         \
                  "    rack_units: 1\n    weight_kg: 5\n  tiny-above:\n    order: TINY-ABOVE\n"  \
                  "    title: what stands above it\n    access_ports: 6\n    access_gbps: 100\n" \
                  "    watts: 10\n    rack_units: 1\n    weight_kg: 5\n"

#define PRICED            "supplied: [servers]\nprices: cn-2024-05\n"
#define OF(servers, keys) "servers: " servers "\nnetworks: {compute: {" keys "}}\n"
#define ETHER             "switch: sn5600, nic_gbps: 400"
#define TORUS                                                               \
    "topology: torus, switch: sn5600, nic_gbps: 400, hosts_per_switch: 8, " \
    "dims: "
#define DRAGON                                                                                  \
    "topology: dragonfly, switch: sn5600, nic_gbps: 400, group_switches: 4, hosts_per_switch: " \
    "16, "                                                                                      \
    "global_ports: "

static const struct {
    const char *small, *large;
} pairs[] = {
    {OF("64", "switch: mqm9790-ns2f") PRICED, OF("128", "switch: mqm9790-ns2f") PRICED},
    {OF("64", "switch: mqm9790-ns2f") PRICED, OF("64", "switch: mqm9790-ns2f") PRICED},
    {"servers: 20\nnetworks: {compute: {switch: mqm9790-ns2f, fabric_manager_ports: 2}, storage: "
     "{switch: mqm9790-ns2f, fill: dense}, service: , oob: }\nstorage: {capacity_tb: 700}\n"
     "room: {rows: 4, columns: 8, rack_kw: 44, managed: true}\n" PRICED,
     "servers: 44\nnetworks: {compute: {switch: mqm9790-ns2f, fabric_manager_ports: 3}, storage: "
     "{switch: mqm9790-ns2f, fill: dense}, service: , oob: }\nstorage: {capacity_tb: 1700}\n"
     "room: {rows: 6, columns: 10, rack_kw: 44, managed: true}\n" PRICED},
    {"servers: 30\nserver: h100-8gpu\nnetworks: {compute: {switch: mqm9790-ns2f}, oob: {topology: "
     "access, homes: 1, access_switch: tiny-access, aggregation_switch: tiny-above}}\n",
     "servers: 90\nserver: h100-8gpu\nnetworks: {compute: {switch: mqm9790-ns2f}, oob: {topology: "
     "access, homes: 1, access_switch: tiny-access, aggregation_switch: tiny-above}}\n"},
    {OF("128", "switch: mqm9790-ns2f"), OF("64", "switch: mqm9790-ns2f")},
    {OF("64", "switch: mqm9790-ns2f") "server: h100-8gpu\n",
     OF("128", "switch: mqm9790-ns2f") "server: h100-8gpu-2x200\n"},
    {OF("64", "switch: mqm9790-ns2f"), OF("128", "switch: mqm9790-ns2f, topology: clos")},
    {OF("64", ETHER), OF("128", "switch: eth-25t6, nic_gbps: 400")},
    {OF("64", ETHER), OF("128", "switch: sn5600, nic_gbps: 200")},
    {OF("64", "switch: sn5600, nic_gbps: 200, planes: 1"),
     OF("128", "switch: sn5600, nic_gbps: 200, planes: 2")},
    {OF("64", "switch: mqm9790-ns2f"), OF("128", "switch: mqm9790-ns2f, rails: 4")},
    {OF("64", ETHER ", uplink_gbps: 400"), OF("128", ETHER ", uplink_gbps: 800")},
    {"servers: 64\nnetworks: {compute: , oob: }\n", OF("128", "")},
    {OF("64", "switch: mqm9790-ns2f, fabric_manager_ports: 4"), OF("128", "switch: mqm9790-ns2f")},
    {OF("64", "") "storage: {capacity_tb: 900}\n", OF("128", "") "storage: {capacity_tb: 100}\n"},
    {"servers: 64\nnetworks: {compute: , service: {extra_nodes: 9}}\n",
     "servers: 65\nnetworks: {compute: , service: {extra_nodes: 8}}\n"},
    {OF("8", TORUS "[4, 4]"), OF("16", TORUS "[3, 8]")},
    {OF("8", TORUS "[4, 4]"), OF("16", TORUS "[8, 4]")},
    {OF("8", TORUS "[3, 4, 2]"), OF("16", TORUS "[2, 5, 4]")},
    {OF("8", DRAGON "2"), OF("16", DRAGON "3")},
    {OF("8", DRAGON "2"), OF("16", DRAGON "2")},
    {OF("64", "switch: mqm9790-ns2f"), OF("65", "switch: mqm9790-ns2f, oversubscription: 15")},
    {"servers: 30\nnetworks: {compute: , service: {access_switch: eth-access-25g}}\n",
     "servers: 60\nnetworks: {compute: , service: {access_switch: tiny-access}}\n"},
};

#define GROUPS(text) \
    "groups:\n" text "networks: {compute: {fabric: roce, topology: rail}, service: {}, oob: {}}\n"
#define GROUP(name, servers, part) "  - {name: " name ", servers: " servers ", server: " part "}\n"
#define APART(name, servers, part) \
    "  - {name: " name ", servers: " servers ", server: " part ", networks: [service, oob]}\n"

static const char *const grouped[][3] = {
    {GROUPS(GROUP("a", "9", "h100-8gpu") GROUP("b", "5", "h200-8gpu")),
     GROUPS(GROUP("b", "12", "h200-8gpu") GROUP("a", "20", "h100-8gpu")),
     GROUPS(GROUP("a", "21", "h100-8gpu") GROUP("c", "3", "mi300x-8gpu")
                GROUP("b", "12", "h200-8gpu"))},
    {GROUPS(GROUP("a", "9", "h100-8gpu") APART("x", "5", "h100-8gpu")),
     GROUPS(GROUP("a", "9", "h100-8gpu") APART("x", "6", "h100-8gpu") APART("y", "2", "h100-8gpu")),
     GROUPS(GROUP("a", "40", "h100-8gpu") APART("y", "3", "h100-8gpu")
                APART("x", "6", "h100-8gpu"))},
    {"servers: 12\nserver: h100-8gpu\nnetworks: {compute: {fabric: roce, topology: rail}, service: "
     "{}, oob: {}}\n",
     GROUPS(GROUP("n", "4", "h200-8gpu") GROUP("o", "15", "h100-8gpu")), NULL},
    {"servers: 12\nserver: h100-8gpu\nnetworks: {compute: {fabric: roce, topology: rail}, service: "
     "{}, oob: {}}\n",
     GROUPS(GROUP("o", "11", "h100-8gpu") GROUP("n", "4", "h200-8gpu")), NULL},
    {"servers: 12\nserver: h100-8gpu\nnetworks: {compute: {fabric: roce, topology: rail}, service: "
     "{}, oob: {}}\n",
     GROUPS(GROUP("o", "13", "h200-8gpu")), NULL},
    {GROUPS(GROUP("a", "9", "h100-8gpu")),
     "servers: 12\nserver: h100-8gpu\nnetworks: {compute: {fabric: roce, topology: rail}, service: "
     "{}, oob: {}}\n",
     NULL},
    {GROUPS(GROUP("a", "9", "h100-8gpu") GROUP("b", "5", "h100-8gpu")),
     GROUPS(GROUP("a", "30", "h100-8gpu") GROUP("b", "4", "h100-8gpu")), NULL},
    {GROUPS(GROUP("a", "9", "h100-8gpu") GROUP("b", "5", "h100-8gpu")),
     GROUPS(GROUP("a", "30", "h100-8gpu") GROUP("c", "5", "h100-8gpu")), NULL},
    {GROUPS(GROUP("a", "9", "h100-8gpu") GROUP("b", "5", "h200-8gpu")),
     GROUPS(GROUP("a", "9", "h100-8gpu") APART("b", "5", "h200-8gpu")), NULL},
    {GROUPS(GROUP("a", "9", "h100-8gpu") APART("b", "5", "h200-8gpu")),
     GROUPS(GROUP("a", "9", "h100-8gpu") GROUP("b", "7", "h200-8gpu")), NULL},
    {GROUPS(GROUP("a", "9", "h100-8gpu") GROUP("b", "5", "h200-8gpu")),
     GROUPS(GROUP("a", "14", "h100-8gpu") GROUP("b", "5", "h200-8gpu")),
     GROUPS(GROUP("a", "13", "h100-8gpu") GROUP("b", "9", "h200-8gpu"))},
};
