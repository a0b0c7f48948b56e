/*
 * mix: what the files of the search over pools share. Private.
 *
 *   pools.c         which pools take part, and whether it is worth it
 *   pools_batch.c   whole replicas on each pool          partition_batch.c         parts of a batch
 *   pools_layers.c  pools along one pipeline             partition_layers.c  parts of a model
 */
#pragma once

#include "myriad/fit/pools.h"
#include "search/space.h"

/* Some pools that do one job together. */
struct fit_mixer {
    const struct myr_fit_query *query;
    const struct myr_fit_pool *pools;                 /* all of them */
    struct myr_fit_case cases[MYR_FIT_POOLS_MAX];     /* each pool as a machine of its own */
    enum myr_precision precisions[MYR_FIT_POOLS_MAX]; /* each pool's own */
    uint32_t who[MYR_FIT_POOLS_MAX], count;           /* those that take part */
    struct myr_fit_query common;                      /* GPUs that divide each of those pools */
    struct fit_space space;                           /* of the former */
    struct myr_arena *arena;
};

/* Both keep what is there if they find nothing faster. */
void fit_mix_batch(const struct fit_mixer *x, struct myr_fit_mixed *best);
void fit_mix_layers(const struct fit_mixer *x, struct myr_fit_mixed *best);

/* As the search asks it of one pool. */
static inline bool fit_mix_room(const struct fit_mixer *x, struct myr_fit_memory memory)
{
    return x->query->tight ? memory.fits : memory.sure;
}
