/* Specs whose pages and reports are kept. */
#pragma once

static const char *const pages[] = {
    "servers: 24\nserver: h100-8gpu\nprices: cn-2024-05\nnetworks: {compute: {switch: "
    "mqm9790-ns2f}, storage: , service: , oob: }\nstorage: {capacity_tb: 700, rate: good}\nitems: "
    "[{part: firewall, quantity: 2, system: security}]\nroom: {rows: 4, columns: 6, rack_kw: 44, "
    "power: [{name: a, kw: 300, rows: 1-4}, {name: b, kw: 300, rows: 1-4}]}\n",
    "servers: 40\nserver: b300-8gpu\nnetworks: {compute: {switch: sn5600, topology: "
    "twin-planar}}\nfacility: {cooling: cold-plate, energy: {years: 4}}\n",
    "groups: [{name: train, servers: 30, server: h100-8gpu}, {name: serve, servers: 6, server: "
    "h200-8gpu}]\nnetworks: {compute: {switch: mqm9790-ns2f, tiers: 3}, oob: }\n",
    "servers: 4\nnetworks: {compute: {topology: torus, switch: sn5600, nic_gbps: 400, "
    "hosts_per_switch: 4, dims: [3, 3]}}\naccept: [optic-mode]\n",
    "servers: 12\nserver: h100-8gpu\nnetworks: {compute: {topology: dragonfly, switch: sn5600, "
    "nic_gbps: 400, group_switches: 4, hosts_per_switch: 8, global_ports: 4}, service: }\n",
    "servers: 2\nserver: gb200-nvl72\nnetworks: {compute: , service: }\n",
    "servers: 8\nnetworks: {compute: {switch: mqm9790-ns2f, pin: {switch_optic: mms4x00-ns}}}\n",
};
