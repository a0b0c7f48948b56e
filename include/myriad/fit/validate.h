/* validate: the model's error on measured runs. Shares and errors in percent. */
#pragma once

#include "myriad/fit/runs.h"

struct myr_family {
    const char *name;
    uint32_t count;
    double median;
};

struct myr_validation_row {
    double predicted_s;   /* 0 where the run is refused */
    double low_s, high_s; /* nine of ten are between */
    bool compared;        /* predicted and measured: */
    double error;         /* without its sign */
    double signed_error;  /* above 0: told too slow */
    double peak_bytes;    /* of memory, predicted; 0 where the run is refused */
    double peak_error;    /* signed, where the row has a peak */
};

struct myr_validation {
    struct myr_validation_row *rows; /* one for each run */
    double median, mean, p90, coverage, interval_coverage;
    uint32_t timed; /* runs with a time */
    struct myr_family *families;
    uint32_t family_count; /* those with five rows or more */
};

void myr_runs_validate(const struct myr_runs *runs, const struct myr_profiles *profiles,
                       struct myr_arena *arena, struct myr_validation *ret);
