/* Specs of trees_test.c. */
#pragma once

static const char *const halls[] = {
    "servers: 24\nserver: h100-8gpu\nnetworks: {compute: {switch: mqm9790-ns2f}}\n",
    "servers: 9\nserver: b300-8gpu\nnetworks: {compute: , oob: }\nprices: cn-2024-05\nroom: {rows: "
    "3, columns: 4, rack_kw: 35, managed: true}\n",
    "servers: 2\nserver: gb200-nvl72\nnetworks: {compute: }\nroom: {rows: 3, columns: 4, rack_kw: "
    "140}\n",
};

static const char *const facilities[] = {
    "cooling: air",
    "cooling: cold-plate",
    "cooling: immersion",
    "cooling: air, bill: true",
    "cooling: cold-plate, bill: true, energy: {exchange: 3}",
    "overheads: {fans: 0.1, pumps: 0.02, chiller: 0.2, ups: 0.05, transformer: 0.01, lighting: "
    "0.03}",
    "overheads: {fans: 0}",
    "it_kw: 777",
    "per_gpu: {}",
    "per_gpu: {gpu_w: 900, host_w: 400, other_share: 0.2}",
    "load: 0.7",
    "energy: {tariff_per_kwh: 0.6, currency: CNY, grid_kg_per_kwh: 0.3, green_share: 0.4, years: "
    "3}",
    "cooling: cold-plate, liquid: {share: 0.9, delta_k: 8, coolant: glycol-25, pipe_m: 40, "
    "head_kpa: "
    "150}",
    "cooling: cold-plate, liquid: {share: 1}, air: {delta_k: 15, rack_kw_max: 20}",
    "cooling: air, air: {delta_k: 10, rack_kw_max: 8}",
    "cooling: cold-plate, cdu: {kw: 60, derate: 0.9, spares: 2, per: row}",
    "cooling: cold-plate, cdu: {kw: 60, derate: 0.9, spares: 2, per: room}",
    "cooling: cold-plate, cdu: {kw: 2000, spares: 0}",
    "ups: {kind: none}",
    "ups: {kind: n, module_kw: 50, minutes: 5}",
    "ups: {kind: n+1, module_kw: 100}",
    "ups: {kind: 2n, module_kw: 60}",
    "ups: {kind: 2n, module_kw: 60, modules: 3}",
    "ups: {kind: n+1, module_kw: 300, modules: 2}",
    "supply: {kind: hvdc, volts: 800, continuous: 0.9}",
    "supply: {kind: ac, volts: 415, power_factor: 0.9}",
    "supply: {breaker_a: 16, busway_a: 100}",
    "supply: {breaker_a: 250, busway_a: 1000}",
    "pool: {kw: 30}",
    "pool: {kw: 500}",
    "floor: {kg_per_m2: 500, rack_kg: 200}",
    "floor: {kg_per_m2: 5000}",
    "step: {idle_share: 0.1, limit_share: 0.3}",
    "step: {idle_share: 0.9, limit_share: 0.9}",
    "heat_reuse: 0.5",
    "module: {racks: 4, kw: 100}",
    "module: {racks: 2, kw: 1000}",
    "price_per_kw: {air: 100, cold-plate: 200, immersion: 300}",
    "pue_max: 1.05, power_kw_max: 50",
    "pue_max: 2, power_kw_max: 5000",
};

static const char *const stores[] = {
    "capacity_tb: 700",
    "capacity_pb: 3, binary: true",
    "capacity_pb: 1, copies: 3",
    "capacity_tb: 1500, erasure: {data: 8, parity: 2}",
    "capacity_tb: 100, erasure: {data: 16, parity: 4}",
    "rate: good",
    "rate: better, copies: 1",
    "rate: best, copies: 3",
    "capacity_tb: 900, servers: 2",
    "rate: best, servers: 3",
    "capacity_tb: 100, servers: 9",
    "read_gbytes_per_s: 300",
    "write_gbytes_per_s: 300, copies: 2",
    "read_gbytes_per_s: 100, write_gbytes_per_s: 90, erasure: {data: 4, parity: 2}",
    "capacity_tb: 10, iops: 90M",
    "capacity_tb: 10, metadata_ops: 5M",
    "capacity_tb: 10, files: 10G, file_kb: 64",
    "capacity_tb: 10, files: 100M",
    "capacity_tb: 100, checkpoint: {model: llama3-405b, window_s: 30, keep: 2}",
    "capacity_tb: 100, checkpoint: {model: llama3-70b, window_s: 300, keep: 5}",
    "capacity_tb: 900, availability_percent: 99.9999",
    "capacity_tb: 900, availability_percent: 99.9999999999",
    "capacity_tb: 900, availability_percent: 99, mtbf_hours: 1000, copies: 1",
    "capacity_tb: 900, servers: 3, iops: 900M, metadata_ops: 90M, files: 1000G, file_kb: 4",
    ("capacity_tb: 500, tiers: [{kind: hybrid, capacity_pb: 5, copies: 2}, {kind: object, "
     "capacity_pb: 20, erasure: {data: 10, parity: 4}}]"),
    "capacity_tb: 500, tiers: [{kind: object, capacity_pb: 0.1, copies: 1}]",
};

#define MONEY                                                                   \
    "servers: 64\nserver: h100-8gpu\nsupplied: [servers]\nprices: cn-2024-05\n" \
    "networks: {compute: {switch: mqm9790-ns2f}}\noptimise: "

static const char *const optima[] = {
    MONEY "{objective: capex, choices: {oversubscription: [1, 3, 2]}}\n",
    MONEY "{objective: cost_of_years, choices: {oversubscription: [1, 2], cooling: [air, "
          "cold-plate]}, constraints: {bandwidth_per_gpu_gbps_min: 300, power_kw_max: 1000}}\n",
    MONEY "{objective: power_kw, choices: {tiers: [2, 3], fill: [regular, dense]}, constraints: "
          "{capex_max: 20000000}}\n",
    MONEY "{objective: bandwidth_per_gpu_gbps, choices: {oversubscription: [3, 1, 2], topology: "
          "[rail, clos, rail-only]}, constraints: {capex_max: 24000000, blast_gpus_max: 400}}\n",
    MONEY "{objective: blast_gpus, choices: {topology: [rail, clos]}}\n",
    MONEY "{objective: moved_cables, grow_to: 128, choices: {fill: [regular, dense], "
          "oversubscription: [1, 2]}}\n",
    MONEY "{objective: capex, choices: {oversubscription: [1, 2]}, constraints: {capex_max: 1}}\n",
    "servers: 16\nsupplied: [servers]\nnetworks: {compute: {switch: mqm9790-ns2f}}\noptimise: "
    "{objective: capex, choices: {oversubscription: [1, 2]}}\n",
    "servers: 16\nnetworks: {compute: {}}\noptimise: {objective: power_kw, choices: {switch: "
    "[mqm9790-ns2f, sn5600, q3400], planes: [1, 2]}}\n",
    /* The best of them do not fit their room, or break a rule there: the next is taken. */
    "servers: 8\nsupplied: [servers]\nprices: cn-2024-05\nnetworks: {compute: {switch: "
    "mqm9790-ns2f, "
    "topology: rail}}\nroom: {rows: 9, columns: 1, rack_kw: 13}\noptimise: {objective: "
    "bandwidth_per_gpu_gbps, choices: {oversubscription: [1, 3, 7]}}\n",
    "servers: 4\nnetworks: {compute: {switch: mqm9790-ns2f, topology: rail, length_m: 2, pin: "
    "{host_cable: mfp7e10-n003}}}\nroom: {rows: 9, columns: 3}\noptimise: {objective: power_kw, "
    "choices: {oversubscription: [1, 2]}}\n",
    /* Some have a price, and some a number of cables that move. */
    "servers: 6\nsupplied: [servers]\nprices: {parts: {mqm9790-ns2f: 100, mma4z00-ns: 1, "
    "mma4z00-ns400: 1, mfp7e10-n050: 1}}\nnetworks: {compute: {topology: rail}}\noptimise: "
    "{objective: power_kw, grow_to: 9, choices: {switch: [mqm9790-ns2f, mqm9700-ns2f, sn5600], "
    "oversubscription: [1, 2]}, constraints: {racks_max: 9, hops_max: 3, moved_cables_max: 100}}\n",
    "servers: 6\nnetworks: {compute: {topology: rail, switch: mqm9790-ns2f}}\noptimise: "
    "{objective: "
    "racks, choices: {cooling: [air, cold-plate, immersion], tiers: [1, 2, 3]}, constraints: "
    "{hops_max: 2, bandwidth_per_gpu_gbps_min: 400}}\n",
    "servers: 6\nnetworks: {compute: {topology: rail, switch: mqm9790-ns2f}}\noptimise: "
    "{objective: "
    "hops, choices: {planes: [1, 2], fill: [dense, regular], topology: [clos, rail, dragonfly]}, "
    "constraints: {power_kw_max: 1}}\n",
};
