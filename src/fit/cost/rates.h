/* rates: what a device and a release make of their peaks, for the price of a layer. Private. */
#pragma once

#include "cost/block.h"

/* One question; the numbers that every operator needs are looked up once. */
struct fit_work {
    const struct myr_fit_case *it;
    const struct myr_model *model;
    const struct myr_layout *layout;
    const double *c; /* the fitted constants */
    const struct myr_recipe *recipe;
    double kernel;           /* the release's factor */
    double flops, low_flops; /* a second, large products: bf16, and the run's precision */
    double flash_flops;      /* of fused attention, forward */
    double bytes_per_s;      /* of memory, as reached */
    double depth;            /* half-rate inner dimension, for each FLOP/s */
    double passes;           /* factor on memory-bound traffic */
    double best;             /* at most so much above that, whatever the kernel */
    double cast_bytes;       /* of one cast element; 0: nothing is cast */
    double tokens;           /* b * s / cp */
    struct fit_places places;
    double whole_tokens; /* those outside tensor-parallel parts */
};

/* Of products, attention and memory; 'it', 'layout', 'c', 'recipe' and 'kernel' are there. */
void fit_work_rates(struct fit_work *w);
