/*
 * balance: load-balance policies behind one call.
 *
 * Given flows, a policy says which channels each uses. From that come the load of every channel
 * (1.0 is line rate) and max-min fair rates. One interface for all policies: the simulator, fit and
 * the scheduler name a policy and never care which.
 *
 *   ecmp-crc, ecmp-xor   hash of the five-tuple at each switch, seeded; 'polarised' uses one seed
 *                        for all switches, as badly set up fabrics do
 *   port                 uplink by ingress port
 *   static               per destination (d-mod-k), as OpenSM's ftree
 *   flowlet              each flow as eight independent pieces, hashed apart
 *   spray                evenly over all shortest paths
 *   adaptive             each switch takes its least loaded candidate, flow by flow
 *   planned              globally, conflict-free where possible (colour.h)
 */
#pragma once

#include "myriad/fabric/bound.h"
#include "myriad/fabric/flows.h"
#include "myriad/fabric/path.h"

enum myr_policy {
    MYR_POLICY_ECMP_CRC,
    MYR_POLICY_ECMP_XOR,
    MYR_POLICY_PORT,
    MYR_POLICY_STATIC,
    MYR_POLICY_FLOWLET,
    MYR_POLICY_SPRAY,
    MYR_POLICY_ADAPTIVE,
    MYR_POLICY_PLANNED,
    MYR_POLICY_COUNT,
};

extern const char *const myr_policy_names[MYR_POLICY_COUNT];

struct myr_balance_options {
    enum myr_policy policy;
    uint64_t seed;
    bool polarised;
};

/* Loads are in 1/MYR_LOAD_ONE of the channel's line rate. */
#define MYR_LOAD_ONE (UINT64_C(1) << 24)

/* Which channels each flow uses. Pieces of flowlets are separate routes with a smaller weight. */
struct myr_routes {
    MYR_VEC(uint32_t) start; /* by route; one more at the end */
    MYR_VEC(uint32_t) channels;
    MYR_VEC(uint32_t) flow;   /* of each route */
    MYR_VEC(uint32_t) weight; /* in 1/MYR_SHARE_ONE of a host port's line rate */
    uint32_t unroutable;      /* flows without a path */
    bool sprayed;             /* no routes: loads were spread directly ... */
    MYR_VEC(uint64_t) limit;  /* ... and this is the highest that each flow met; UINT64_MAX: lost */
};

void myr_routes_done(struct myr_routes *routes);

/* 'ret_load' has 2 * link_count entries, zeroed by the caller; host channels are loaded too. */
MYR_MUST_USE int myr_balance(const struct myr_graph *graph,
                             const struct myr_balance_options *options,
                             const struct myr_flow *flows, size_t count, struct myr_routes *ret,
                             uint64_t *ret_load, struct myr_err *err);

/* The hash families, as switches compute them. */
struct myr_tuple {
    uint32_t from, to;
    uint16_t source, destination;
    uint8_t protocol;
};

uint32_t myr_hash_crc(const struct myr_tuple *tuple, uint32_t seed);
uint32_t myr_hash_xor(const struct myr_tuple *tuple, uint32_t seed);
struct myr_tuple myr_flow_tuple(const struct myr_flow *flow);

/*
 * Max-min fair rates of the routes, in 1/MYR_LOAD_ONE of a host port's line rate: progressive
 * filling, exact up to one unit. 'ret_rate' has one entry a route.
 */
void myr_max_min(const struct myr_graph *graph, const struct myr_routes *routes,
                 uint64_t *ret_rate);

struct myr_balance_report {
    double max_load, mean_load; /* over the channels between switches that carry anything */
    double share_of_ideal;      /* of the sum of fair rates when only host ports limit, none dead */
    double bound;               /* lower bound of max_load for any paths (bound.h) */
    double throughput_bound;    /* upper bound of share_of_ideal, likewise */
    uint32_t loaded, unroutable;
};

MYR_MUST_USE int myr_balance_report(const struct myr_graph *graph,
                                    const struct myr_balance_options *options,
                                    const struct myr_flow *flows, size_t count,
                                    struct myr_balance_report *ret, struct myr_err *err);
