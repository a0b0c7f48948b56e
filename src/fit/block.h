/*
 * block: what one layer, the embedding and the output cost for one micro-batch on one rank.
 *
 * A block depends on (tp, cp, ep, etp, micro-batch, recompute, precision, sequence parallelism)
 * and not on the number of stages, replicas or micro-batches: the search computes it once for
 * thousands of layouts.
 */
#pragma once

#include "constants.h"
#include "myriad/fit/cost.h"

/* Seconds of one pass, by term; the sum over 'terms' is the time seen. */
struct fit_pass {
    double terms[MYR_FIT_TERM_COUNT];
    double total;
};

struct fit_layer {
    struct fit_pass forward, backward; /* what is computed again stands in 'backward' */
};

enum fit_kind { FIT_DENSE_FULL, FIT_DENSE_WINDOW, FIT_MOE_FULL, FIT_MOE_WINDOW, FIT_KIND_COUNT };

struct fit_blocks {
    struct fit_layer layers[FIT_KIND_COUNT];
    struct fit_layer again[FIT_KIND_COUNT]; /* made again, where only some layers are */
    struct fit_layer output, embedding, mtp;
    bool used[FIT_KIND_COUNT];
};

void fit_blocks_of(const struct myr_fit_case *it, const struct myr_layout *layout,
                   struct fit_blocks *ret);

/* What single kernels reach, for comparison with a measured sweep. */
struct fit_rates {
    double flops; /* a second, large products */
    double bytes_per_s;
    double depth; /* inner dimension of half the rate */
};

struct fit_rates fit_rates_of(const struct myr_fit_case *it, enum myr_precision precision);
/* Seconds of one product. */
double fit_product_s(const struct myr_fit_case *it, enum myr_precision precision, double m,
                     double n, double k);

/* Distance in ranks of neighbours on each axis, and how many of a group share a domain. */
struct fit_places {
    uint32_t tp_near, cp_near, dp_near, pp_near, ep_near, edp_near;
};

struct fit_places fit_places_of(const struct myr_fit_case *it, const struct myr_layout *layout);

/* Seconds of one collective; 'near_count' of its members share a scale-up domain. */
double fit_collective_s(const struct myr_fit_case *it, enum myr_collective collective,
                        uint32_t members, uint32_t near_count, double bytes);

/* log2 by halving and squaring: the same bits everywhere, which libm's is not. */
double fit_log2(double x);

static inline double fit_max(double a, double b)
{
    return a > b ? a : b;
}

static inline double fit_min(double a, double b)
{
    return a < b ? a : b;
}
