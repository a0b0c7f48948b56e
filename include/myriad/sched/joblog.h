/*
 * joblog: traces of jobs.
 */
#pragma once

#include "myriad/base.h"

struct myr_job_row {
    int64_t submit_s, duration_s;
    uint32_t gpus, tenant;
    int32_t priority;
    uint32_t line; /* of the file */
};

struct myr_joblog {
    MYR_VEC(struct myr_job_row) jobs; /* by submit time; equal times in the order of the file */
    uint32_t tenants;
};

/* CSV with a header naming submit_s, duration_s, num_gpus and vc (any order, others ignored). */
MYR_MUST_USE int myr_joblog_read(struct myr_joblog *trace, const char *path, struct myr_err *err);
MYR_MUST_USE int myr_joblog_parse(struct myr_joblog *trace, const char *file, struct myr_str text,
                                  struct myr_err *err);
/* Stable. */
void myr_joblog_sort(struct myr_joblog *trace);
void myr_joblog_done(struct myr_joblog *trace);
