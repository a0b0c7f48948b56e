/*
 * search: the layout with the shortest step among those that fit in memory.
 *
 * Axes: tp, cp, pp, vp, dp, ep, etp, sequence parallelism, how layers are cut, micro-batch, how
 * many layers are recomputed, schedule, ZeRO stage, ranks of a shard (HSDP), precision when asked
 * for, and the order in which axes take ranks (which level of the machine each lies on). Whole
 * sets of layouts are excluded by bounds on time and memory. The result is the optimum of the
 * model, not an estimate of it: 'exhaustive' visits every layout one by one and finds the same.
 */
#pragma once

#include "myriad/fit/cost.h"

#define MYR_FIT_TOP_MAX 64

/* Values of 'schedule' beside those of enum myr_schedule. */
#define MYR_FIT_SCHEDULE_STACK (-1) /* what the stack runs */
#define MYR_FIT_SCHEDULE_ANY   (-2)

/* Hears how far a search that visits every layout is; NULL where nobody listens. */
typedef void myr_fit_progress(void *context, uint64_t done, uint64_t total);

/* 0 (or -1 where 0 means something) leaves an axis open. */
struct myr_fit_query {
    struct myr_fit_case it;
    uint32_t gpus, batch, seq_tokens;
    enum myr_precision precision;
    bool any_precision; /* all that the device is faster with, instead of 'precision' */
    uint32_t tp, pp, vp, dp, cp, ep, etp, micro_batch, shard;
    int zero, recompute, schedule, sequence_parallel;
    uint32_t recompute_layers; /* with 'recompute' full: of each chunk; 0: all */
    uint32_t offload_layers;   /* of a stage, whose activations wait in the host's memory */
    /* What no axis is, such as the width of gradients; NULL: as the release has it. */
    const struct myr_layout *base;
    uint32_t top; /* how many to keep; at least 1 */
    bool tight;   /* what fits as counted is enough, sure or not; else only where nothing is sure */
    bool exhaustive;
    myr_fit_progress *progress; /* of 'exhaustive' alone: any other search ends within a second */
    void *progress_context;
};

struct myr_fit_found {
    struct myr_layout layout;
    double step_s;
};

struct myr_fit_answer {
    struct myr_fit_found top[MYR_FIT_TOP_MAX]; /* one of each grid (tp, cp, pp, ep) */
    uint32_t top_count;
    uint64_t evaluated; /* distinct layouts covered */
    uint64_t costed;    /* of those, priced one by one */
    /* Where nothing fits: the layout that comes nearest, and what it would need. */
    struct myr_layout nearest;
    double nearest_bytes;
    bool has_nearest;
};

struct myr_fit_query myr_fit_query_default(void);
/* What 'any_precision' searches on a device. */
uint32_t myr_fit_precisions(const struct myr_device *device, enum myr_precision list[4]);
/*
 * MYR_EINFEASIBLE when layouts exist and none fits in memory, MYR_EINVAL when what is asked for has
 * no layout at all; both with the reason and the nearest thing that would work.
 */
MYR_MUST_USE int myr_fit_search(const struct myr_fit_query *query, struct myr_arena *arena,
                                struct myr_fit_answer *ret, struct myr_err *err);
