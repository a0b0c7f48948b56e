/*
 * jobfile: what a user submits: YAML or JSON.
 *
 *     name: llama-7b
 *     gpus: 64
 *     command: torchrun-less, one process a GPU: python train.py
 *     retries: 20
 *     time_limit: 12h
 *
 * The same file drives every engine. Ranks get what torchrun would give them (RANK, WORLD_SIZE,
 * LOCAL_RANK, MASTER_ADDR, ...). The text itself goes to the agents; the server reads what it needs
 * to queue the job, and refuses what nobody would read.
 */
#pragma once

#include "myriad/control/event.h"
#include "myriad/text.h"

#define MYR_JOBFILE_BYTES_MAX (48U << 10) /* it travels in one message */
#define MYR_JOB_NAME_MAX      80
#define MYR_JOB_ARRAY_MAX     10000

struct myr_jobfile {
    char name[MYR_JOB_NAME_MAX + 1], tenant[64];
    uint32_t gpus, gpus_min; /* 0: all of them, or it waits */
    int32_t priority;
    enum myr_restart restart;
    bool service;             /* runs until it is cancelled */
    bool hold;                /* it does not start before somebody releases it */
    struct myr_job_wish wish; /* where its ranks are to lie */
    uint32_t retries, lease_s;
    int64_t time_limit_s;              /* 0: none */
    uint32_t array_first, array_count; /* count 0: no array */
    uint32_t after[16], after_count;
    double twin_hours, twin_step_s; /* of a simulated run */
};

/* 'file' names it in messages; 'gpus_per_node' turns nodes into GPUs. */
MYR_MUST_USE int myr_jobfile_read(const char *file, struct myr_str text, uint32_t gpus_per_node,
                                  struct myr_jobfile *ret, struct myr_err *err);

/* Where it runs: on Myriad's agents, or by somebody else's scheduler. */
enum myr_job_world { MYR_JOB_AGENTS, MYR_JOB_SLURM, MYR_JOB_KUBERNETES, MYR_JOB_WORLDS };
extern const char *const myr_job_world_names[MYR_JOB_WORLDS]; /* for people */

#define MYR_JOBFILE_KEYS 27
extern const char *const myr_jobfile_keys[MYR_JOBFILE_KEYS];

/*
 * Keys that the file has and that nobody heeds there, into ret[]; their number. All others are
 * heeded, or refused where it is submitted. A file that cannot be read has none.
 */
uint32_t myr_jobfile_unheeded(struct myr_str text, enum myr_job_world world,
                              const char *ret[MYR_JOBFILE_KEYS]);
