/*
 * goodput: how much of the time a long training run really trains.
 *
 * Failures come as a Poisson process. Work is done in segments of 'interval' seconds, each followed
 * by a checkpoint that stalls training for 'stall' seconds. A failure throws the run back to the
 * last checkpoint that survives it, after a recovery that can itself be struck again.
 *
 * Two tiers: after each segment a quick copy (in memory), after every 'per_period' segments a
 * durable one. A failure of the lesser kind returns to the last quick copy, one of the greater kind
 * (the copies are gone) to the last durable one. The expected length of a period is the solution of
 * a linear recurrence over its segments: exact, no first-order approximation. With one tier it is
 * Daly's formula (2006, equation 20).
 *
 * No libm: the exponential is our own, so that the same input gives the same answer everywhere.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "myriad/base.h"

/* Seconds, and failures per second of the whole job. */
struct myr_tier {
    double rate;     /* failures that this tier heals */
    double recovery; /* from failure to training again */
    double stall;    /* of one checkpoint */
};

struct myr_renewal {
    struct myr_tier quick, durable; /* quick.rate 0: one tier */
    double interval;                /* work between two quick copies (one tier: durable ones) */
    uint32_t per_period;            /* quick copies in a durable period; 1 with one tier */
};

struct myr_goodput {
    double goodput;    /* share of the time that ends up as kept work */
    double stalled;    /* shares of the time: checkpoints, */
    double recovering; /* recovery, */
    double repeated;   /* work done again */
    double failures_per_day;
    double mean_time_between_s;
};

struct myr_goodput myr_goodput_of(const struct myr_renewal *renewal);

/* What bounds the choice of intervals; 0: nothing does. */
struct myr_limits {
    double interval;       /* given, not chosen: only the number of copies in a period is */
    double interval_least; /* a quick copy takes so long to be safe */
    double period_least;   /* a durable one so long to be written while training goes on */
    double period_most;    /* work of the whole run: it ends with a durable copy */
};

/* The interval (and number of quick copies in a period) with the highest goodput; rates above 0. */
struct myr_renewal myr_goodput_optimum(const struct myr_renewal *renewal);
struct myr_renewal myr_goodput_optimum_within(const struct myr_renewal *renewal,
                                              const struct myr_limits *limits);
/*
 * The longest recovery of the durable tier that still gives this goodput at its best interval;
 * below 0: none does.
 */
double myr_goodput_recovery_for(const struct myr_renewal *renewal, const struct myr_limits *limits,
                                double goodput);

/*
 * How the time of one period scatters: mean, variance and third central moment of what failures
 * add to its length. They add up over periods.
 */
struct myr_scatter {
    double mean, variance, third;
};

struct myr_scatter myr_goodput_scatter(const struct myr_renewal *renewal);
/*
 * Nine runs of ten of 'periods' periods take between *ret_low and *ret_high seconds beyond their
 * length without failures.
 */
void myr_goodput_range(const struct myr_renewal *renewal, double periods, double *ret_low,
                       double *ret_high);

/*
 * The share of the time kept when the process is played out for so many failures (at least 25), and
 * its standard error. A recovery of n times the mean between failures takes exp(n) attempts.
 */
double myr_goodput_play(const struct myr_renewal *renewal, uint64_t failures, uint64_t seed,
                        double *ret_error);

/* The data: rows of catalog/recovery.yaml. */
enum myr_scaling { MYR_SCALING_CONST, MYR_SCALING_POWER, MYR_SCALING_LOG2 };

struct myr_recovery_row {
    const char *key, *unit, *scales, *source, *when, *confidence;
    double low, typical, high;
    enum myr_scaling scaling;
    double power, at_gpus;
};

struct myr_recovery {
    MYR_VEC(struct myr_recovery_row) rows;
};

MYR_MUST_USE int myr_recovery_init(struct myr_recovery *recovery, struct myr_arena *arena,
                                   struct myr_err *err);
/* A user's own rows, in the same form; those of the same key take the place of the shipped ones. */
MYR_MUST_USE int myr_recovery_add(struct myr_recovery *recovery, struct myr_arena *arena,
                                  const char *name, struct myr_str text, struct myr_err *err);
void myr_recovery_done(struct myr_recovery *recovery);
/* NULL when there is no such row. */
const struct myr_recovery_row *myr_recovery_find(const struct myr_recovery *recovery,
                                                 const char *key);
/* The typical value at a number of GPUs (at least 1), by the row's scaling rule. */
double myr_recovery_value(const struct myr_recovery_row *row, double gpus);

enum myr_practice { MYR_PRACTICE_COMMON, MYR_PRACTICE_BEST };
/* How a failure shows itself, on which the time until it is noticed depends. */
enum myr_fault { MYR_FAULT_CRASH, MYR_FAULT_HANG, MYR_FAULT_NODE_LOST };

struct myr_recovery_part {
    const struct myr_recovery_row *row;
    double seconds; /* at the job's number of GPUs */
};

#define MYR_RECOVERY_PARTS_MAX 12

/* What lies between a failure and training again, one after the other, without lost work. */
MYR_MUST_USE int myr_recovery_parts(const struct myr_recovery *recovery, enum myr_practice practice,
                                    enum myr_fault fault, double gpus,
                                    struct myr_recovery_part *ret, uint32_t *ret_count,
                                    struct myr_err *err);
/* Their sum. */
MYR_MUST_USE int myr_recovery_seconds(const struct myr_recovery *recovery,
                                      enum myr_practice practice, enum myr_fault fault, double gpus,
                                      double *ret, struct myr_err *err);
