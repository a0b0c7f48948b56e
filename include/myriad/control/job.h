/*
 * job: what is asked for, as the core is told of it. Fields are only ever added behind the others:
 * journals and snapshots hold these bytes.
 */
#pragma once

#include "myriad/base.h"

/* When a job may be started again beside ranks that nobody has heard of. */
enum myr_restart { MYR_RESTART_STRICT, MYR_RESTART_EPOCH, MYR_RESTARTS };

#define MYR_JOB_RETRIES_MAX 1000000U
#define MYR_LEASE_S_MAX     (7 * 86400U)

/*
 * How a job wants to lie; zeroed: anywhere, in any order. The axes of its parallel layout are told
 * as numbers (work/layout.h), since they are all that the order of its ranks depends on.
 */
struct myr_job_wish {
    uint32_t tp, cp, dp, pp, ep, etp; /* tp 0: it has no layout */
    uint8_t order[5];                 /* enum myr_axis, the fastest first */
    uint8_t within;                   /* no farther apart than enum myr_level, and 1; 0: any */
    uint8_t kind;                     /* of its nodes, and 1; 0: any */
    uint8_t unused;                   /* 0 */
    uint32_t leaf_max;                /* nodes of it under one set of leaves; 0: any number */
    uint32_t unused2;                 /* 0 */
};

struct myr_job_spec {
    uint64_t token; /* the submitter's own number: the same one again is the same job */
    uint32_t tenant, gpus;
    int32_t priority;  /* a person may change it */
    uint8_t restart;   /* enum myr_restart */
    uint8_t fixed;     /* never preempted */
    uint8_t service;   /* runs until it is cancelled: whatever ends by itself is started again */
    uint8_t held;      /* by a person, from the start or since: it does not start */
    uint32_t retries;  /* failures after which it is given up */
    uint32_t lease_s;  /* agents end ranks that make no progress so long without a controller */
    int64_t limit_s;   /* how long it says it works; the queue plans with it, nobody enforces it */
    uint32_t after;    /* waits until that job is done: its id and 1; 0: for none */
    uint32_t gpus_min; /* it also starts with fewer GPUs, not below this; 0: with all of them */
    struct myr_job_wish wish;
    uint32_t date_min; /* it starts at this minute of the clock, since 1970; 0: when it can */
    uint32_t unused;   /* 0 */
};
