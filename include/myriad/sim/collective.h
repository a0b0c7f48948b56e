/*
 * collective: algorithms as rounds.
 *
 * A schedule is a list of rounds; in a round every pair of ranks given moves the same number of
 * bytes, in lockstep. What repeats over the same pairs is one round (a ring does the same 2(N-1)
 * times, each time with another piece): 'hops' says how often. Fluid and packet engines, and cost
 * models, all read this one description. Bytes are those
 * of NCCL's convention: for all-reduce, reduce-scatter and all-gather the whole buffer, for
 * all-to-all what one rank sends, its own part included.
 */
#pragma once

#include <stdint.h>

#include "myriad/base.h"
#include "myriad/work.h"

enum myr_algorithm {
    MYR_ALGORITHM_RING,
    MYR_ALGORITHM_TREE,       /* double binary tree, pipelined */
    MYR_ALGORITHM_HALVING,    /* recursive halving and doubling; ranks a power of two */
    MYR_ALGORITHM_PAIRWISE,   /* all-to-all: N-1 shifts */
    MYR_ALGORITHM_HIER,       /* scale-up first, then rings of equal local ranks, then scale-up */
    MYR_ALGORITHM_IN_NETWORK, /* switches reduce: every rank sends and gets the buffer once */
    MYR_ALGORITHM_AUTO,       /* the cheapest of those that fit */
    MYR_ALGORITHM_COUNT,
};

/* Pairwise all-to-all has N*(N-1) pairs: no more ranks than this. */
#define MYR_PAIRWISE_RANKS_MAX 4096

extern const char *const myr_algorithm_names[MYR_ALGORITHM_COUNT];

struct myr_pair {
    uint32_t from, to; /* ranks of the group */
};

struct myr_round {
    uint32_t first_pair, pair_count;
    uint64_t bytes; /* one pair, all repetitions */
    uint32_t hops;  /* times that a message's latency is waited for */
    bool cyclic;    /* rings: repetitions wait for the rank before, not for all */
};

struct myr_schedule_plan {
    MYR_VEC(struct myr_pair) pairs;
    MYR_VEC(struct myr_round) rounds;
};

void myr_schedule_plan_done(struct myr_schedule_plan *plan);

/*
 * 'local' consecutive ranks share a node (1: none do). Rings then run as 'local' channels, each
 * leaving and entering every node by another NIC, rail by rail.
 */
MYR_MUST_USE int myr_collective_plan(enum myr_collective collective, enum myr_algorithm algorithm,
                                     uint32_t ranks, uint32_t local, uint64_t bytes,
                                     struct myr_schedule_plan *ret, struct myr_err *err);

/* NCCL's bus bandwidth: what one rank's link carries, whatever the algorithm. */
double myr_collective_bus_factor(enum myr_collective collective, uint32_t ranks);
