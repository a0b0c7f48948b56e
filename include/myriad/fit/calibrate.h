/*
 * calibrate: the shipped constants drawn towards a user's own measurements.
 *
 * A few runs cannot fix seventy constants. Those that move the runs' times most, and differently
 * from each other, are chosen; they are fitted by a robust loss, and leaving the shipped value
 * costs. Each run is also predicted by constants fitted without it: only that error says whether
 * the change is worth anything. A kernel sweep (kernels.h) fixes the rates of products and of
 * memory in the same way.
 */
#pragma once

#include "myriad/fit/kernels.h"
#include "myriad/fit/runs.h"

#define MYR_CALIBRATE_FREE_MAX 12

struct myr_errors {
    double median, mean, p90; /* percent, absolute */
    uint32_t count;
};

struct myr_calibration_row {
    double before_s, after_s, left_out_s; /* predicted; left_out_s 0 where there is none */
};

struct myr_calibration {
    double constants[MYR_FIT_CONSTANTS_MAX];
    double interval_near, interval_far;
    uint32_t free[MYR_CALIBRATE_FREE_MAX]; /* indices of the constants that were fitted */
    uint32_t free_count;
    struct myr_errors before, after, left_out; /* of the runs */
    struct myr_errors kernels_before, kernels_after;
    struct myr_calibration_row *rows; /* one for each run */
    bool worth_it;                    /* the left-out error is below the error before */
};

/*
 * 'runs' or 'kernels' may be NULL, not both. 'free_max' bounds the number of constants fitted, 0:
 * as many as the measurements carry. The runs' own constants are those of 'profiles' again after.
 * MYR_EINVAL when nothing was measured.
 */
MYR_MUST_USE int myr_calibrate(const struct myr_profiles *profiles, struct myr_runs *runs,
                               const struct myr_kernels *kernels, uint32_t free_max,
                               struct myr_arena *arena, struct myr_calibration *ret,
                               struct myr_err *err);

/* The profile as a file that myr_profiles_load() reads; only what differs from the shipped one. */
void myr_calibration_write(const struct myr_calibration *calibration,
                           const struct myr_profiles *profiles, struct myr_buf *buf);
/* Replaces constants and intervals by those of a user's profile. */
MYR_MUST_USE int myr_profiles_load(struct myr_profiles *profiles, struct myr_arena *arena,
                                   const char *path, struct myr_err *err);
/* The same in two steps, for whoever asks several questions with one file. */
MYR_MUST_USE int myr_profiles_open(struct myr_arena *arena, const char *path,
                                   const struct myr_doc **ret, struct myr_err *err);
MYR_MUST_USE int myr_profiles_take(struct myr_profiles *profiles, struct myr_arena *arena,
                                   const struct myr_doc *doc, struct myr_err *err);
MYR_MUST_USE int myr_profiles_parse(struct myr_profiles *profiles, const struct myr_doc *doc,
                                    struct myr_err *err);

/* What a user's measurements are read from; NULL: not given. */
struct myr_calibration_files {
    const char *runs, *kernels, *profile;
    uint32_t constants_most; /* 0: as many as the measurements carry */
};

struct myr_calibration_job {
    struct myr_profiles profiles;
    struct myr_runs runs;
    struct myr_kernels kernels;
    bool has_runs, has_kernels;
    struct myr_calibration result;
};

/* Reads and calibrates. */
MYR_MUST_USE int myr_calibrate_files(struct myr_calibration_job *ret, struct myr_arena *arena,
                                     const struct myr_calibration_files *files,
                                     struct myr_err *err);
