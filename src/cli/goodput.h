/* goodput: what 'myriad goodput' was asked for, shared by its files. */
#pragma once

#include "cli.h"
#include "myriad/fit.h"

struct cli_goodput_options {
    uint32_t format;
    uint64_t gpus, gpus_per_node;
    const char *rate, *recovery, *stall, *interval, *target;
    /* A whole training run, where 'model' is given. */
    const char *model, *device, *software, *design, *tokens, *report, *profile;
    uint64_t batch, seq;
    const char *spare_risk, *pue, *kwh, *years, *gpu_hour;
};

/* Failures per 1,000 node-days: what was asked for, or the two published ones. */
struct cli_rates {
    double values[2];
    const char *names[2];
    uint32_t count;
};

MYR_MUST_USE int cli_goodput_rates(const struct cli_goodput_options *options,
                                   const struct myr_recovery *recovery, struct cli_rates *ret,
                                   struct myr_err *err);
/* An optional number above zero. */
MYR_MUST_USE int cli_goodput_number(const char *text, const char *name, double otherwise,
                                    double *ret, struct myr_err *err);

/* Days, spares, energy and money of a training run, with the layout chosen for it. */
int cli_goodput_run(const struct cli_goodput_options *options);
