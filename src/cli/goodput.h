/* goodput: what 'myriad goodput' was asked for, shared by its files. */
#pragma once

#include "cli.h"
#include "myriad/fit.h"

struct cli_goodput_options {
    uint32_t format, fault, show;
    uint64_t gpus, gpus_per_node, play;
    const char *rate, *recovery, *stall, *interval, *target, *data;
    /* A whole training run, where 'model' is given. */
    const char *model, *device, *software, *design, *tokens, *report, *profile;
    uint64_t batch, seq;
    const char *spare_risk, *pue, *kwh, *currency, *years, *gpu_hour;
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
/* An optional number; *ret stays as it is where none is given. */
MYR_MUST_USE int cli_goodput_number(const char *text, const char *name, double low, double high,
                                    double *ret, struct myr_err *err);
/* What the user says of recovery, stall and interval in place of the data. */
struct cli_times {
    bool has_recovery, has_stall;
    double recovery_s, stall_s, interval_s; /* interval 0: the best */
};
MYR_MUST_USE int cli_goodput_times(const struct cli_goodput_options *options, struct cli_times *ret,
                                   struct myr_err *err);
/* The shipped recovery data, then the user's. */
MYR_MUST_USE int cli_goodput_data(const struct cli_goodput_options *options,
                                  struct myr_arena *arena, struct myr_recovery *ret,
                                  struct myr_err *err);
/* Failures of each class; returns their sum per 1,000 node-days. */
double cli_goodput_classes(const struct myr_recovery *recovery,
                           const struct cli_goodput_options *asked,
                           struct myr_failure_class *classes, uint32_t *ret_count);

/* False: not asked for, or it would take for ever. */
bool cli_goodput_play(const struct cli_goodput_options *options, const struct myr_renewal *renewal,
                      double *ret, double *ret_error);
/* A cell that may be null. */
void cli_goodput_optional(struct myr_table *table, bool known, double value, int digits);

enum { CLI_SHOW_GOODPUT, CLI_SHOW_CLASSES, CLI_SHOW_PARTS, CLI_SHOW_DATA };
/* The data behind the answer, as a table. */
MYR_MUST_USE int cli_goodput_show(const struct cli_goodput_options *options,
                                  const struct myr_recovery *recovery,
                                  const struct cli_rates *rates, struct myr_buf *buf,
                                  struct myr_err *err);

/* Days, spares, energy and money of a training run, with the layout chosen for it. */
int cli_goodput_run(const struct cli_goodput_options *options);
