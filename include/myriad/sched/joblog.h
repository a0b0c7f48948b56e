/*
 * joblog: traces of jobs, as published or as a scheduler's accounting prints them.
 *
 * A table with one row a job: CSV (RFC 4180), or fields between '|' as `sacct -P` prints them; the
 * header says which. Columns are known by name, in any case, with blanks and dashes as underscores;
 * others are ignored:
 *
 *   submit     submit_s submit submit_time submitted time timestamp arrival_time ...
 *   length     duration_s duration run_time runtime elapsed elapsedraw ..., or start and end
 *   GPUs       num_gpus gpus gpu_num gpu_count ngpus ..., or Slurm's AllocTRES / ReqTRES
 * (gres/gpu=N) tenant     vc tenant account user queue partition group virtual_cluster (the first
 * there is) priority   priority, -100 to 100
 *
 * Times are seconds (also with a fraction) or ISO time stamps in UTC; lengths are seconds or
 * Slurm's [days-]hours:minutes:seconds. Rows without GPUs are left out, so are sacct's rows of job
 * steps (JobID with a dot), jobs that never started and such that still run (no end). Times count
 * from the first submission.
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
    uint64_t left_out; /* rows that hold no job for us */
    const char *file;  /* for messages; the caller's */
    struct myr_arena arena;
    const char **tenant_names; /* in the arena */
};

MYR_MUST_USE int myr_joblog_read(struct myr_joblog *trace, const char *path, struct myr_err *err);
MYR_MUST_USE int myr_joblog_parse(struct myr_joblog *trace, const char *file, struct myr_str text,
                                  struct myr_err *err);
/* By submit time, stable. */
void myr_joblog_sort(struct myr_joblog *trace);
void myr_joblog_done(struct myr_joblog *trace);
