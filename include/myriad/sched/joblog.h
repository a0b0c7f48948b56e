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
 *              (gres/gpu=N)
 *   tenant     vc tenant account user queue partition group virtual_cluster: the first there is
 *   priority   priority, -100 to 100
 *
 * Times are seconds (also with a fraction) or ISO time stamps in UTC; lengths are seconds or
 * Slurm's [days-]hours:minutes:seconds. Rows without GPUs are left out, so are sacct's rows of job
 * steps (JobID with a dot), jobs that never started and such that still run (no end). Times count
 * from the first submission.
 */
#pragma once

#include "myriad/base.h"

enum { MYR_JOB_GPUS_MAX = 1 << 24 };

/* 24 bytes: traces have tens of millions of rows. */
struct myr_job_row {
    int64_t submit_s;
    uint64_t duration_s : 36, gpus : 28;
    uint32_t line; /* of the file */
    uint32_t tenant : 24;
    int32_t priority : 8;
};

struct myr_joblog {
    MYR_VEC(struct myr_job_row) jobs; /* by submit time; equal times in the order of the file */
    uint32_t tenants;
    uint64_t left_out; /* rows that hold no job for us */
    const char *file;  /* for messages; the caller's */
    struct myr_arena arena;
    const char **tenant_names; /* in the arena */
};

/*
 * A file, or "-" for standard input. It is read piece by piece: memory is taken for the rows alone,
 * never for the text.
 */
MYR_MUST_USE int myr_joblog_read(struct myr_joblog *trace, const char *path, struct myr_err *err);
/* The same for whoever wants to know how far it is: 'tell' is called now and then with the rows. */
struct myr_joblog_listener {
    void (*tell)(void *context, uint64_t rows);
    void *context;
};
MYR_MUST_USE int myr_joblog_read_telling(struct myr_joblog *trace, const char *path,
                                         const struct myr_joblog_listener *listener,
                                         struct myr_err *err);
MYR_MUST_USE int myr_joblog_parse(struct myr_joblog *trace, const char *file, struct myr_str text,
                                  struct myr_err *err);
/* By submit time, stable. */
void myr_joblog_sort(struct myr_joblog *trace);
void myr_joblog_done(struct myr_joblog *trace);
