/*
 * block: what one layer, the embedding and the output cost for one micro-batch on one rank.
 *
 * A block depends on (tp, cp, ep, etp, micro-batch, recompute, precision, sequence parallelism)
 * and not on the number of stages, replicas or micro-batches: the search computes it once for
 * thousands of layouts.
 */
#pragma once

#include <math.h>

#include "cost/constants.h"
#include "cost/numbers.h"
#include "myriad/fit/cost.h"

/* Seconds of one pass, by term; the sum over 'terms' is the time seen. */
struct fit_pass {
    double terms[MYR_FIT_TERM_COUNT];
    double total; /* of the terms */
};

/* Both passes of one layer or end of the model, one micro-batch on one rank. */
struct fit_layer {
    struct fit_pass forward, backward; /* what is computed again stands in 'backward' */
    double weight_s;                   /* of 'backward': gradients of weights, which can wait */
};

/* Layers differ in whether they have experts and whether attention sees all: four kinds at most. */
enum fit_kind { FIT_DENSE_FULL, FIT_DENSE_WINDOW, FIT_MOE_FULL, FIT_MOE_WINDOW, FIT_KIND_COUNT };

/* What a layout's stages are made of; a kind that the model has not is not priced ('used'). */
#define FIT_RECIPES_MAX 4

/* What a layout may take of a recipe; the first has all that it allows. */
uint32_t fit_recipes_of(const struct myr_fit_case *it, const struct myr_layout *layout,
                        struct myr_recipe ret[FIT_RECIPES_MAX]);

struct fit_blocks {
    struct myr_recipe recipe; /* of those that the layout may take the one whose pass is shortest */
    struct fit_layer layers[FIT_KIND_COUNT];     /* left alone */
    struct fit_layer recomputed[FIT_KIND_COUNT]; /* recomputed, where only some layers are */
    struct fit_layer output, embedding, mtp;
    bool used[FIT_KIND_COUNT]; /* kinds that the model has */
};

void fit_blocks_of(const struct myr_fit_case *it, const struct myr_layout *layout,
                   struct fit_blocks *ret);

/* What single kernels reach, for comparison with a measured sweep. */
struct fit_rates {
    double flops; /* a second, large products */
    double bytes_per_s;
};

struct fit_rates fit_rates_of(const struct myr_fit_case *it, enum myr_precision precision);
/* Seconds of one product, or of several of one shape in a grouped call. */
double fit_product_s(const struct myr_fit_case *it, enum myr_precision precision, double count,
                     double m, double n, double k);

/* Distance in ranks of neighbours on each axis, and how many of a group share a domain. */
struct fit_near {
    uint32_t at[MYR_FIT_LEVELS]; /* members of a group in one block of each level */
    uint32_t domains;            /* scale-up domains that an expert group touches; 0: not told */
};

/* One for each axis that something is sent along, in the layout's order of ranks. */
struct fit_places {
    struct fit_near tp_near, cp_near, dp_near, pp_near, ep_near, edp_near;
};

struct fit_places fit_places_of(const struct myr_fit_case *it, const struct myr_layout *layout);

/* Members of a group at this distance in ranks. */
struct fit_near fit_near_of(const struct myr_fit_case *it, uint32_t members, uint64_t stride);
/* Members all in one block; at most so many; of two axes together; one of each 'part'. */
struct fit_near fit_near_all(uint32_t members);
struct fit_near fit_near_most(struct fit_near near, uint32_t most);
struct fit_near fit_near_times(struct fit_near a, struct fit_near b);
struct fit_near fit_near_over(struct fit_near near, struct fit_near part);

/* Seconds that do not depend on the amount, and those for one more of it. */
struct fit_line {
    double fixed_s, each_s;
};

static inline double fit_line_s(struct fit_line line, double amount)
{
    return amount > 0 ? line.fixed_s + line.each_s * amount : 0;
}

/* Seconds of one collective among members that lie as 'near' says: a line over its bytes. */
struct fit_line fit_collective_line(const struct myr_fit_case *it, enum myr_collective collective,
                                    uint32_t members, struct fit_near near);
double fit_collective_s(const struct myr_fit_case *it, enum myr_collective collective,
                        uint32_t members, struct fit_near near, double bytes);

/* Tokens to the experts of a group and back to where they came from: 'bytes' of tokens once. */
double fit_dispatch_s(const struct myr_fit_case *it, const struct myr_layout *layout,
                      uint8_t dispatcher, struct fit_near near, double bytes);

/* What is gathered for a product in low precision is cast before it is sent; sums stay bf16. */
double fit_gathered_share(const struct myr_fit_case *it, enum myr_precision precision);

static inline double fit_max(double a, double b)
{
    return a > b ? a : b;
}

static inline double fit_min(double a, double b)
{
    return a < b ? a : b;
}

/* ceil() of what is not negative, without a call: the search asks it a million times. */
static inline double fit_ceil(double x)
{
    double down = (double)(int64_t)x;
    return down < x ? down + 1 : down;
}

/* Either bound applies in part: steps of a layer differ. Above both, near the larger. */
static inline double fit_soft_max(double a, double b)
{
    double a2 = a * a, b2 = b * b;
    return sqrt(sqrt(a2 * a2 + b2 * b2));
}
