/*
 * sums: the loads of sprayed flows in a regular Clos.
 *
 * Without dead links every uplink of a switch carries the same, and so does every link down to it:
 * the loads are sums over leaves and pods. Dead links between spines and cores change that for
 * flows between pods that they belong to. What such a pair of pods exchanges is one sum too; at the
 * spines that lost a link it is followed, once for the pair. Flows of leaves that lost an uplink,
 * and pairs of pods that lost all links of one position, are in no sum.
 */
#pragma once

#include "policy/policy.h"

/* Fractions of sprayed flows are kept finer than loads: they are divided again at every hop. */
#define SPRAY_FINE (UINT64_C(1) << 20)

struct sums {
    const struct myr_graph *graph;
    uint32_t pods;             /* of one fabric */
    uint32_t *width;           /* by position of a spine: links from each leaf */
    uint64_t *leaf[2];         /* shares that leave and enter each leaf, up and down */
    uint64_t *pod[2];          /* the same for pods */
    uint64_t *spine[2];        /* and for spines of pods of which another one lost links; fine */
    uint64_t *leaf_highest[2]; /* load of the fullest link of each */
    uint64_t *spine_highest[2];
    uint64_t *pod_highest[2];
    uint8_t *dead_leaf, *dead_spine, *dead_pod; /* that dead links belong to */
    uint64_t *pair;         /* by pod and pod of the same fabric: shares; NULL: none is dead */
    uint64_t *pair_highest; /* the fullest link between them; UINT64_MAX: not asked yet */
    uint8_t *pair_kind;     /* enum sums_kind, once it was asked */
};

/* How a flow's way is known; 0 is none of these. */
enum sums_kind { SUMS_WHOLE = 1, SUMS_PAIR, SUMS_NOT };

/* Whether the fabric has the shape for sums. */
bool sums_fit(const struct myr_graph *graph);
void sums_init(struct sums *sums, const struct myr_graph *graph);
void sums_done(struct sums *sums);

bool sums_alive(const struct myr_graph *graph, const struct myr_flow *flow);
/* Where a flow enters and leaves the fabric; false when it has no way through it. */
bool sums_ends(const struct myr_graph *graph, const struct myr_flow *flow,
               const struct myr_rung *ret[2]);
enum sums_kind sums_kind(struct sums *sums, const struct myr_rung *ends[2]);

/* The loads of all flows that are in sums. */
void sums_add(struct sums *sums, const struct myr_flow *flows, size_t count, uint64_t *load);
/* The fullest link on the ways of each of them, when all loads are there. */
void sums_limit(struct sums *sums, const struct myr_flow *flows, size_t count, const uint64_t *load,
                uint64_t *ret);

/* What a part in SPRAY_FINE takes of a channel. */
uint64_t sums_fine_load(const struct myr_graph *graph, uint32_t channel, uint64_t part);
/* A flow's own two links. */
void sums_load_hosts(const struct myr_graph *graph, const struct myr_flow *flow, uint64_t *load);
