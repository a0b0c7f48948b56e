/*
 * pools: one job on GPUs of different kinds.
 *
 * Two ways to share the work, each by an exact integer method:
 *
 *   batch    every pool trains whole replicas; the batch is dealt so that all end together. All
 *            pools cut the model in the same way, so that ranks that hold the same weights
 *            correspond; micro-batch and recomputation are each pool's own. Gradients are then
 *            averaged from pool to pool, over the slower NICs and not hidden.
 *   layers   pools follow each other along the pipeline; stages of a faster pool get more layers.
 *
 * And the third: not to mix. It is the answer whenever one pool alone is as fast.
 */
#pragma once

#include "myriad/fit/search.h"

#define MYR_FIT_POOLS_MAX  4
#define MYR_FIT_STAGES_MAX 256

struct myr_fit_pool {
    const struct myr_device *device;
    uint32_t gpus;
};

enum myr_fit_mix { MYR_FIT_MIX_NONE, MYR_FIT_MIX_BATCH, MYR_FIT_MIX_LAYERS };

/* A pool's part of a mixed job. */
struct myr_fit_part {
    struct myr_layout layout; /* 'global_batch' is the part's */
    uint32_t batch;           /* sequences of each step */
    uint32_t first_stage, stages;
    double step_s; /* its own, before the pools meet */
};

struct myr_fit_mixed {
    bool found;
    double step_s, exchange_s; /* the latter: from pool to pool, contained in the former */
    struct myr_fit_part parts[MYR_FIT_POOLS_MAX];
    uint32_t stage_layers[MYR_FIT_STAGES_MAX]; /* of all stages, with 'layers' */
    uint32_t stage_count;
    uint32_t order[MYR_FIT_POOLS_MAX]; /* pools along the pipeline */
};

struct myr_fit_pools {
    bool alone_found[MYR_FIT_POOLS_MAX];
    struct myr_fit_found alone[MYR_FIT_POOLS_MAX]; /* each pool with the whole batch */
    uint32_t fastest;                              /* of those */
    struct myr_fit_mixed batch, layers;
    enum myr_fit_mix verdict;
    double step_s;     /* of the verdict */
    double gain;       /* throughput against the fastest pool alone, less 1; 0 without mixing */
    double efficiency; /* throughput against the sum of all pools alone */
};

/* 'query->it.device' and 'gpus' are not looked at. MYR_EINFEASIBLE when nothing works at all. */
MYR_MUST_USE int myr_fit_pools_search(const struct myr_fit_query *query,
                                      const struct myr_fit_pool *pools, uint32_t pool_count,
                                      struct myr_arena *arena, struct myr_fit_pools *ret,
                                      struct myr_err *err);
