/*
 * job: the job file, YAML or JSON, and its one reader.
 *
 *     name: llama-7b
 *     gpus: 64
 *     command: torchrun-less, one process a GPU: python train.py
 *     retries: 20
 *     time_limit: 12h
 *
 * The same file drives every engine: the server reads it to queue the job, agents to launch ranks,
 * Slurm's script and Kubernetes' Job are made of it. What it may say stands in job/job.rec; whoever
 * runs it takes what this reader took, so that no node refuses what was queued. A new key is a line
 * there and its use.
 */
#pragma once

#include "myriad/record.h"
#include "myriad/work/layout.h"

#define MYR_JOBFILE_BYTES_MAX (48U << 10) /* it travels in one message */
#define MYR_JOB_NAME_MAX      80
#define MYR_JOB_ARRAY_MAX     10000
#define MYR_JOB_WORDS_MAX     4096U /* of the command; and variables */

/* Where it runs: on Myriad's agents, or by somebody else's scheduler. */
enum myr_job_world { MYR_JOB_AGENTS, MYR_JOB_SLURM, MYR_JOB_KUBERNETES, MYR_JOB_WORLDS };
extern const char *const myr_job_world_names[MYR_JOB_WORLDS]; /* for people */

/* Facts of a row: nobody heeds the key there, which is told; it is refused there. */
#define MYR_JOB_DEAF(world)    (1U << MYR_JOB_##world)
#define MYR_JOB_REFUSED(world) (1U << (MYR_JOB_##world + MYR_JOB_WORLDS))

/* A text is for a shell: argv is "/bin/sh", "-c" and the text. */
struct myr_job_command {
    const char *const *argv; /* NULL at the end */
    uint32_t count;
    bool shell;
};

struct myr_job_env {
    const char *const *words; /* "NAME=value", NULL at the end */
    uint32_t count;
};

struct myr_job_array {
    uint32_t first, count; /* count 0: no array */
};

struct myr_job_progress {
#define MYR_FIELDS "myriad/job/progress.rec"
#include "myriad/record/members.def"
};

struct myr_job_twin {
#define MYR_FIELDS "myriad/job/twin.rec"
#include "myriad/record/members.def"
};

enum myr_job_within { MYR_JOB_WITHIN_LEAF, MYR_JOB_WITHIN_POD, MYR_JOB_ANYWHERE };

struct myr_jobfile {
#define MYR_FIELDS "myriad/job/job.rec"
#include "myriad/record/members.def"
    const struct myr_doc *top; /* what it was read of */
    struct myr_layout order;   /* of 'layout', where 'ordered' */
    bool ordered;
};

extern const struct myr_record myr_job_record;
extern const char *const myr_job_restarts[2], *const myr_job_withins[2];

struct myr_jobfile_how {
    const char *file;       /* for messages */
    uint32_t gpus_per_node; /* 0: whoever asks runs a part of it, and its size was checked before */
    bool lenient;           /* keys that are not known are a newer server's */
};

/* Of a file that a server has taken before. */
#define MYR_JOBFILE_TAKEN(name) (&(const struct myr_jobfile_how){.file = (name), .lenient = true})

/* Texts and lists of 'ret' lie in the arena, which must outlive it; 'text' need not. */
MYR_MUST_USE int myr_jobfile_read(struct myr_arena *arena, const struct myr_jobfile_how *how,
                                  struct myr_str text, struct myr_jobfile *ret,
                                  struct myr_err *err);
/* The tree alone: JSON where it begins as an object does, else YAML. */
MYR_MUST_USE int myr_jobfile_tree(struct myr_arena *arena, const char *file, struct myr_str text,
                                  const struct myr_doc **ret, struct myr_err *err);

/* The file itself says so, and it is no default. */
bool myr_jobfile_says(const struct myr_jobfile *job, const char *key);
/*
 * Keys that the file has and that nobody heeds there, into ret[]; their number. All others are
 * heeded, or refused where it is submitted.
 */
uint32_t myr_jobfile_unheeded(const struct myr_jobfile *job, enum myr_job_world world,
                              const char *ret[MYR_RECORD_ROWS_MAX]);
/* Keys that would have to do something there and cannot. */
MYR_MUST_USE int myr_jobfile_refuse(const struct myr_jobfile *job, enum myr_job_world world,
                                    struct myr_err *err);
