/*
 * pools: one job on GPUs of different kinds.
 *
 * Two ways to share the work, each the optimum of an integer programme:
 *
 *   batch    every pool trains whole replicas; the batch is shared so that all end together. All
 *            pools cut the model in the same way, so that ranks that hold the same weights
 *            correspond; micro-batch and recomputation are each pool's own. Replicas of all pools
 *            exchange gradients as one group, over the slower NICs; the optimiser's state is cut
 *            over all of them, or inside each pool, with copies from pool to pool.
 *   layers   pools follow each other along a 1F1B pipeline, in any order, each stage with as many
 *            layers as its speed and memory make best. Recomputation is each stage's own: as little
 *            as fits. Between pools the slower NIC counts.
 *
 * With more than two pools some may be left out. And the third way: not to mix. It is the answer
 * whenever one pool alone is as fast. Identical pools cost what the same layout costs on one.
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

/* A pool's part of a mixed job; all 0 where it takes none. */
struct myr_fit_part {
    bool used;
    struct myr_layout layout;     /* 'global_batch' is the part's; with layers pp is of all pools */
    uint32_t batch;               /* sequences of each step */
    uint32_t first_stage, stages; /* with layers */
    double step_s;                /* at work: until its batch is done, or its busiest stage */
    double memory_bytes;          /* its fullest rank, with what the device keeps back */
};

struct myr_fit_stage {
    uint32_t layers;
    enum myr_recompute recompute;
    uint32_t recompute_layers; /* of those, with 'full' */
};

struct myr_fit_mixed {
    bool found;
    double step_s;
    double exchange_s; /* waiting for other pools' data: hops between pools, or gradients */
    double floor_s;    /* no mixture of this kind takes less; below 'step_s': not proven optimal */
    double gap;        /* share by which the optimum may be below 'step_s' */
    uint64_t asked;    /* partitions solved */
    bool cut_inside;   /* with the batch: ZeRO cuts inside each pool, not over all of them */
    struct myr_fit_part parts[MYR_FIT_POOLS_MAX];
    struct myr_fit_stage stages[MYR_FIT_STAGES_MAX]; /* of all stages, with 'layers' */
    uint32_t stage_count;
    uint32_t order[MYR_FIT_POOLS_MAX]; /* pools along the pipeline, 'order_count' of them */
    uint32_t order_count;
};

struct myr_fit_pools {
    bool alone_found[MYR_FIT_POOLS_MAX];
    struct myr_fit_found alone[MYR_FIT_POOLS_MAX]; /* each pool with the whole batch */
    uint32_t fastest;                              /* of those */
    bool any_alone;
    struct myr_fit_mixed batch, layers;
    enum myr_fit_mix verdict;
    double step_s;     /* of the verdict */
    double gain;       /* throughput against the fastest pool alone, less 1; 0 without mixing */
    double efficiency; /* throughput against the sum of all pools that can work alone */
    /* What the best mixture adds to the fastest pool, over what the others do alone; may be < 0. */
    double worth;
    double jobs_gain; /* all pools as jobs of their own against the fastest alone, less 1 */
};

/* "h800:512": a device of the profiles and how many of it. */
MYR_MUST_USE int myr_fit_pool_parse(const struct myr_profiles *profiles, const char *text,
                                    struct myr_fit_pool *ret, struct myr_err *err);
const char *myr_fit_mix_name(enum myr_fit_mix mix);

/* 'query->it.device' and 'gpus' are not looked at. MYR_EINFEASIBLE when nothing works at all. */
MYR_MUST_USE int myr_fit_pools_search(const struct myr_fit_query *query,
                                      const struct myr_fit_pool *pools, uint32_t pool_count,
                                      struct myr_arena *arena, struct myr_fit_pools *ret,
                                      struct myr_err *err);
