/*
 * What 'route', its sub-verbs and 'path' share: option rows that name a design, what is dead in
 * it, and the flows to look at.
 */
#pragma once

#include "cli.h"
#include "myriad/fabric.h"

/*
 * Of 'flows', 'layout' and 'permutation' at most one is given; 'axis', 'nodes' and 'pattern' are of
 * a layout's flows.
 */
struct cli_fabric {
    const char *design, *flows, *layout, *axis, *nodes, *permutation, *dead;
    uint32_t net, pattern; /* enum myr_net_id, enum myr_traffic */
};

/* How flows are put on paths. */
struct cli_balance {
    uint32_t policy; /* enum myr_policy */
    uint64_t seed;
    bool polarised; /* every switch hashes with the same seed */
};

/* 'holder' has a struct cli_fabric as its field 'fabric' ... */
#define CLI_FABRIC_ROWS(holder)                                                \
    CLI_PATH("design", "FILE", holder, fabric.design,                          \
             "the design, where it is not given as an operand"),               \
        CLI_TEXT("dead", "LIST", holder, fabric.dead,                          \
                 "links and devices that are down: link/00000123,spine/p0-1"), \
        CLI_CHOICE("net", "NETWORK", holder, fabric.net, myr_net_names, "which network")

#define CLI_FLOW_ROWS(holder)                                                                     \
    CLI_PATH("flows", "FILE", holder, fabric.flows,                                               \
             "flows as CSV: from,to[,share[,source_port]]"),                                      \
        CLI_TEXT("layout", "AXES", holder, fabric.layout,                                         \
                 "flows of a parallel layout: tp=8,pp=8, or a layout file"),                      \
        CLI_TEXT("axis", "AXIS", holder, fabric.axis, "whose groups: tp, cp, dp, pp, ep or all"), \
        CLI_CHOICE("pattern", "PATTERN", holder, fabric.pattern, myr_traffic_names,               \
                   "what the members of a group send each other"),                                \
        CLI_TEXT("nodes", "LIST", holder, fabric.nodes,                                           \
                 "the layout's nodes in rank order: 0-31,node/00040; all when absent"),           \
        CLI_TEXT("permutation", "SEED", holder, fabric.permutation,                               \
                 "a random permutation of all GPUs instead")

/* ... and a struct cli_balance as its field 'balance'. */
#define CLI_BALANCE_ROWS(holder)                                             \
    CLI_CHOICE("policy", "POLICY", holder, balance.policy, myr_policy_names, \
               "load-balance policy"),                                       \
        CLI_COUNT("seed", holder, balance.seed, 0, 0, "of the hashes"),      \
        CLI_FLAG("polarised", holder, balance.polarised, "every switch hashes with the same seed")

/* Of verbs that can do without flows: what would be said of flows that nobody asked for. */
#define CLI_FLOW_RULES                                                     \
    {"axis pattern", .needs = "layout nodes"},                             \
    {                                                                      \
        "policy seed polarised", .needs = "flows layout nodes permutation" \
    }

/* The operand, or --design, and not both. Close 'ret' in any case. */
MYR_MUST_USE int cli_fabric_open(const struct cli *cli, const struct cli_fabric *fabric,
                                 bool need_flows, struct myr_fabric_case *ret, struct myr_err *err);

/* A load as a part of line rate. */
double cli_fabric_load(uint64_t load);

struct myr_balance_options cli_fabric_balance(const struct cli_balance *balance);

extern const struct myr_command cli_route_failover_command, cli_route_degraded_command,
    cli_route_blast_command, cli_route_tables_command, cli_route_apply_command,
    cli_route_found_command;
