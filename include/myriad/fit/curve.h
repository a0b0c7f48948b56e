/*
 * curve: how far more GPUs carry, from 8 to the number asked for.
 *
 * Effective compute = peak x GPUs x efficiency; efficiency = MFU of the best point (one machine at
 * its best) x linearity (the cluster at its best) x availability (what interruptions leave, with
 * failures of Llama 3's table, recovery by practice and checkpoints at their best interval).
 */
#pragma once

#include "myriad/fit/campaign.h"
#include "myriad/fit/case.h"
#include "myriad/fit/parts.h"

#define MYR_SCALE_POINTS_MAX 32

struct myr_scale_point {
    uint32_t gpus, batch;
    double batch_share; /* in proportion to the GPUs, of which 'batch' is the rounding */
    struct myr_layout layout;
    struct myr_fit_cost cost;
    struct myr_fit_parts parts;
    double linearity;         /* throughput a GPU against the best point: few may lack memory */
    double peak_flops;        /* of one GPU */
    double availability[2];   /* share of the time that trains, by practice */
    double single_efficiency; /* MFU of the best point */
    double efficiency;        /* of all, with best practice */
    double effective_flops;   /* of all */
};

struct myr_scale_curve {
    struct myr_scale_point points[MYR_SCALE_POINTS_MAX];
    uint32_t count;
    uint32_t missing_gpus; /* the most GPUs that no layout was found for; 0: none */
};

/*
 * The batch in proportion to the GPUs (weak), and fixed (strong). Where the proportion is no whole
 * number it is rounded to three binary digits: the nearest number alone may be a prime, which no
 * layout divides, and would be read as bad scaling.
 */
struct myr_scale_curves {
    struct myr_scale_curve weak, strong;
    struct myr_fit_timers timers; /* of the number asked for */
};

/* MYR_EINFEASIBLE, in words, when not even the number asked for has a layout. */
MYR_MUST_USE int myr_scale_trace(const struct myr_case *it, const struct myr_recovery *recovery,
                                 struct myr_arena *arena, struct myr_scale_curves *ret,
                                 struct myr_err *err);
