/*
 * joblog: traces of jobs, as published or as a scheduler's accounting prints them.
 *
 * A table with one row a job: CSV (RFC 4180), or fields between '|' as `sacct -P` prints them; the
 * header says which. Columns are known by name, in any case, with blanks and dashes as underscores;
 * others are ignored:
 *
 *   submit     submit_s submit submit_time submission_time submitted timestamp arrival_time ...
 *   length     duration_s duration run_time runtime elapsed elapsedraw ..., or start and end
 *   GPUs       num_gpus gpus gpu_num gpu_count ngpus ..., or Slurm's AllocTRES / ReqTRES
 *              (gres/gpu=N)
 *   tenant     vc tenant account user queue partition group virtual_cluster: the first there is
 *   priority   priority, -100 to 100
 *   id         jobid job_id id job ..., as the log names its jobs
 *   wait       wait_s wait_time queue_time planned ..., or start less submit: what was recorded
 *
 * Times are seconds (also with a fraction) or ISO time stamps in UTC; lengths are seconds or
 * Slurm's [days-]hours:minutes:seconds. Rows without GPUs are left out, so are sacct's rows of job
 * steps (JobID with a dot), jobs that never started and such that still run (no end). Times count
 * from the first submission. Of two columns with the same name none is known to be the right one:
 * that is an error.
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

/*
 * What the log says of its jobs beyond what a replay needs, by line, packed: a byte for the line, a
 * few for the wait, and the id. 'marks' has the place of every so many.
 */
struct myr_joblog_mark {
    uint64_t at;
    uint32_t line, before; /* the line before it */
};

struct myr_joblog_notes {
    MYR_VEC(uint8_t) bytes;
    MYR_VEC(struct myr_joblog_mark) marks;
    uint64_t count;
    uint32_t last_line;
    bool has_ids, has_waits; /* of any job */
};

struct myr_joblog_note {
    struct myr_str id; /* empty: it has none */
    int64_t waited_s;  /* -1: not recorded */
};

struct myr_joblog {
    MYR_VEC(struct myr_job_row) jobs; /* by submit time; equal times in the order of the file */
    uint32_t tenants;
    uint64_t left_out; /* rows that hold no job for us */
    const char *file;  /* for messages; the caller's */
    struct myr_arena arena;
    const char **tenant_names; /* in the arena */
    struct myr_joblog_notes notes;
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
/*
 * What the log says of the job on this line. The cursor, zeroed at first, makes it quick to ask for
 * one line after the other; NULL is allowed. False: there is no job there.
 */
struct myr_joblog_cursor {
    uint64_t at;
    uint32_t line;
};
bool myr_joblog_note(const struct myr_joblog *trace, struct myr_joblog_cursor *cursor,
                     uint32_t line, struct myr_joblog_note *ret);
/* The lines of the jobs with this id: how many, and the first 'most' of them. */
uint64_t myr_joblog_find(const struct myr_joblog *trace, struct myr_str id, uint32_t most,
                         uint32_t *ret_lines);
/* Takes out the jobs of more than so many GPUs: how many, and the line of the first. */
uint64_t myr_joblog_drop_larger(struct myr_joblog *trace, uint64_t gpus, uint32_t *ret_line);
/* By submit time, stable. */
void myr_joblog_sort(struct myr_joblog *trace);
void myr_joblog_done(struct myr_joblog *trace);
