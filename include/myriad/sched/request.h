/*
 * request: a gang asks for nodes, and gets them all or nothing, with the order of its ranks.
 *
 * The cost of a placement, in bytes:
 *
 *   Σ over groups of bytes x level          0 inside a scale-up domain, 1 under one set of leaves,
 *                                           2 inside a pod, 3 across the core: the highest level
 *                                           that the group's members need to reach each other
 *   + u x (0.05 F(leaves) + 0.02 F(pods))   fragmentation: F = Σ (f² - f'²) / C over the units
 *                                           touched, f free nodes before, f' after, of C: what is
 *                                           lost of the room for gangs
 *   + u x Σ penalties of nodes and leaves   links that flap or are loaded, power that is short
 *
 * with u what one node sends to others in a step. Without a layout every node sends one byte to the
 * next and gets one from the last (a ring along the topology).
 *
 * Share k of the result runs ranks k*g to k*g + g - 1 (g GPUs a node): the order of shares is the
 * rank order. The search tries the scopes from near to far (domain, leaf, pod, core) with blocks of
 * each axis kept whole where they fit, and gangs of up to 128 nodes are then improved by swaps.
 */
#pragma once

#include "myriad/sched/place.h"
#include "myriad/sched/traffic.h"

enum myr_level { MYR_LEVEL_DOMAIN, MYR_LEVEL_LEAF, MYR_LEVEL_POD, MYR_LEVEL_CORE, MYR_LEVEL_COUNT };

#define MYR_FRAGMENT_LEAF 0.05
#define MYR_FRAGMENT_POD  0.02

/* Zeroed means: no constraint, whole nodes. */
struct myr_request {
    uint32_t nodes;
    uint32_t gpus_per_node;                /* 0: whole nodes */
    const struct myr_job_traffic *traffic; /* of exactly so many nodes; or NULL */
    bool limited;                          /* 'within' holds */
    enum myr_level within;                 /* no farther apart than this */
    /* Spread, for what fails together; 0: any number. */
    uint32_t leaf_max;                 /* nodes under one set of leaves */
    uint32_t zone_max[MYR_ZONE_COUNT]; /* nodes in one rack, in one row; needs the placer's zone */
    const uint64_t *exclude;           /* bit by node, or NULL */
    bool kind_given;
    uint8_t kind;
};

static inline bool myr_request_spreads(const struct myr_request *request)
{
    return request->leaf_max || request->zone_max[MYR_ZONE_RACK] || request->zone_max[MYR_ZONE_ROW];
}

struct myr_place_cost {
    double total;
    double bytes_by_level[MYR_LEVEL_COUNT];
    double groups; /* Σ bytes x level */
    double fragmentation, penalty;
    uint32_t leaves, pods;
    enum myr_level level; /* that the gang as a whole needs */
};

struct myr_placement {
    struct myr_gang gang; /* shares in rank order; room for 'nodes' of them */
    struct myr_place_cost cost;
};

/* False, and nothing is taken, when it does not fit. */
bool myr_place_gang(struct myr_placer *placer, const struct myr_request *request,
                    struct myr_placement *ret);

/* The most nodes, at most request->nodes, that would fit now: for elastic gangs. */
uint32_t myr_request_size(struct myr_placer *placer, const struct myr_request *request);

/* What a placement would cost; its nodes must be free. */
void myr_place_cost_of(struct myr_placer *placer, const struct myr_request *request,
                       const struct myr_gang *gang, struct myr_place_cost *ret);
/* The cost on an empty cluster of the same shape: no placement is better. */
double myr_place_cost_best(const struct myr_placer *placer, const struct myr_request *request);
