/*
 * collective: algorithms as schedules.
 *
 * The full schedule is a list of sends, each with the sends that its rank has to have done or got
 * before: steps, chunks and channels of every rank, and no barrier that the algorithm does not
 * have. Fluid and packet engines, and whoever exports a schedule, read this one description.
 *
 * The collapsed form is a list of rounds; in a round every pair of ranks given moves the same
 * number of bytes, in lockstep. What repeats over the same pairs is one round (a ring does the same
 * 2(N-1) times, each time with another piece): 'hops' says how often. It is an optimisation for
 * large groups, and is tested against the full schedule.
 *
 * Bytes are those of NCCL's convention: for all-reduce, reduce-scatter and all-gather the whole
 * buffer, for all-to-all what one rank sends, its own part included.
 */
#pragma once

#include <stdint.h>

#include "myriad/base.h"
#include "myriad/work.h"

enum myr_algorithm {
    MYR_ALGORITHM_RING,       /* a broadcast: a chain */
    MYR_ALGORITHM_TREE,       /* double binary tree, pipelined; all-gather: a tree each rank */
    MYR_ALGORITHM_HALVING,    /* recursive halving and doubling; ranks a power of two */
    MYR_ALGORITHM_PAIRWISE,   /* all-to-all: every rank to every other */
    MYR_ALGORITHM_HIER,       /* scale-up first, then rings of equal local ranks, then scale-up */
    MYR_ALGORITHM_IN_NETWORK, /* as that, but switches reduce between the scale-up domains */
    MYR_ALGORITHM_AUTO,       /* the cheapest of those that fit */
    MYR_ALGORITHM_COUNT,
};

/* Pairwise all-to-all has N*(N-1) pairs: no more ranks than this. */
#define MYR_PAIRWISE_RANKS_MAX 4096

extern const char *const myr_algorithm_names[MYR_ALGORITHM_COUNT];

struct myr_collective_shape {
    enum myr_collective collective;
    enum myr_algorithm algorithm;
    uint32_t ranks;
    uint32_t local; /* consecutive ranks that share a scale-up domain; 0 or 1: none do */
    uint64_t bytes;
    uint32_t chunks; /* that go through the phases of hier, in-network, trees and chains; 0: one */
    uint32_t window; /* all-to-all: so many sends of a rank at a time; 0: all */
};

struct myr_pair {
    uint32_t from, to; /* ranks of the group */
};

struct myr_round {
    uint32_t first_pair, pair_count; /* rounds over the same pairs share them */
    uint64_t bytes;                  /* one pair, all repetitions */
    uint32_t hops;                   /* times that a message's latency is waited for */
    bool cyclic;                     /* rings: repetitions wait for the rank before, not for all */
    uint32_t after[2];               /* rounds that have to end before; MYR_NONE: none */
};

struct myr_schedule_plan {
    MYR_VEC(struct myr_pair) pairs;
    MYR_VEC(struct myr_round) rounds;
};

void myr_schedule_plan_done(struct myr_schedule_plan *plan);

/*
 * Rings with local ranks run as 'local' channels, each leaving and entering every domain by another
 * NIC, rail by rail.
 */
MYR_MUST_USE int myr_collective_plan(const struct myr_collective_shape *shape,
                                     struct myr_schedule_plan *ret, struct myr_err *err);

struct myr_send {
    uint32_t from, to;
    uint64_t bytes;
    uint32_t step; /* sends of one step are routed together */
    uint32_t hops; /* times that a message's latency is waited for: a switch that reduces has two */
    uint32_t channel, chunk;
    uint32_t first_after, after_count; /* in 'after': sends before it in the list */
    uint32_t follows; /* its bytes move after those of this one, or MYR_NONE; latencies overlap */
};

struct myr_sends {
    MYR_VEC(struct myr_send) items;
    MYR_VEC(uint32_t) after;
};

#define MYR_SENDS_MAX 4000000U /* of a full schedule */

void myr_sends_done(struct myr_sends *sends);

/* How many sends the full schedule has. */
uint64_t myr_collective_send_count(const struct myr_collective_shape *shape);
MYR_MUST_USE int myr_collective_sends(const struct myr_collective_shape *shape,
                                      struct myr_sends *ret, struct myr_err *err);

/* How the ranks lie in scale-up domains; any number of them in each. */
struct myr_collective_domains {
    uint32_t count, largest; /* domains that have ranks; ranks of the fullest */
    uint64_t pairs; /* ordered pairs of ranks that share a domain, a rank with itself too */
};

/*
 * What no algorithm can go below, in bytes: into all NICs of the ranks together, into one of them,
 * and into one GPU. What a receiver gets comes in by its own NIC, or from its domain.
 */
struct myr_collective_bound {
    double all_nics_bytes, nic_bytes, gpu_bytes;
};
struct myr_collective_bound myr_collective_least(const struct myr_collective_shape *shape,
                                                 const struct myr_collective_domains *domains);

/* NCCL's bus bandwidth: what one rank's link carries, whatever the algorithm. */
double myr_collective_bus_factor(enum myr_collective collective, uint32_t ranks);
