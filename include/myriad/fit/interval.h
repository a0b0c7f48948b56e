/*
 * interval: how far a prediction may be off, by how far it lies from what was measured.
 *
 * The profile names what stands behind its constants: device, release, precision, GPUs, tokens and
 * experts of every measured run. A question's interval is that of the measured run which tells
 * most about it: a width of its own (dense or with experts), and for each axis on which the two
 * lie apart so much more, as independent reasons. What an axis adds counts for the part of the step
 * that it changes: tokens for attention, experts for what they compute and send. The fitting tool
 * measures every number on rows that a fit did not see.
 */
#pragma once

#include "myriad/fit/cost.h"

/* Why an interval is wider than a measured run's own; bits for myr_fit_spread(). */
enum { MYR_UNKNOWN_RELEASE = 1, MYR_UNKNOWN_AXES = 2 };

/* How far a question lies from one measured run, each axis in its unit. */
struct myr_fit_distance {
    double axes[MYR_INTERVAL_COUNT]; /* those from MYR_INTERVAL_FIRST_AXIS on; 0 before them */
};

/* What of a step an axis changes, from 0 to 1. */
struct myr_fit_shares {
    double axes[MYR_INTERVAL_COUNT];
};

struct myr_fit_shares myr_fit_shares_of(const struct myr_fit_cost *cost);
struct myr_measured myr_measured_of(const struct myr_profiles *profiles,
                                    const struct myr_fit_case *it, const struct myr_layout *layout);
struct myr_fit_distance myr_fit_distance_of(const struct myr_profiles *profiles,
                                            const struct myr_measured *question,
                                            const struct myr_measured *run);
/* Of the logarithm of the error, nine times of ten. */
double myr_fit_width(const double intervals[MYR_INTERVAL_COUNT], bool experts,
                     const struct myr_fit_distance *distance, const struct myr_fit_shares *shares);

struct myr_fit_spread {
    double share;                 /* the step is between 1/(1+s) and 1+s of what is said */
    struct myr_measured nearest;  /* the measured run that it rests on */
    struct myr_fit_distance away; /* and how far off that lies */
    enum myr_interval most;       /* the axis that adds most; MYR_INTERVAL_COUNT: none does */
};

/* 'cost' is the layout's; 'unknown' are MYR_UNKNOWN_* bits. */
struct myr_fit_spread myr_fit_spread(const struct myr_profiles *profiles,
                                     const struct myr_fit_case *it, const struct myr_layout *layout,
                                     const struct myr_fit_cost *cost, uint32_t unknown);
/* In words, "nearest measured: h100, bf16, 512 GPUs, 8,192 tokens; gpus 8 doublings off". */
void myr_fit_spread_words(const struct myr_profiles *profiles, const struct myr_fit_spread *spread,
                          struct myr_buf *buf);
