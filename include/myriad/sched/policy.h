/*
 * policy: how the queue orders jobs, for whom it holds nodes, whom it may stop.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum myr_order { MYR_ORDER_FIFO, MYR_ORDER_SKIP, MYR_ORDER_FAIR };

enum { MYR_QUEUE_LEVELS = 8 };

struct myr_queue_policy {
    enum myr_order order;
    uint32_t drain_ppm;     /* of the GPU time may stand idle on nodes held, in millionths */
    uint32_t holds_max;     /* gangs for which nodes are held at the same time */
    uint32_t loss_permille; /* of the GPU time may be lost to preemption by level */
    int64_t patience_s;     /* any job that has waited so long has nodes held for it; 0: never */
    int64_t hold_s;         /* so has a gang of half the cluster or more after this; 0: never */
    int64_t drain_s;        /* ... if they are likely to be free within this time */
    int64_t drain_save_s;   /* and what was not used of it is saved up for so long */
    int64_t locality_s;     /* a gang waits so long for the fewest groups; then it takes any */
    int64_t spread_s;     /* nodes are held in few groups so long; then wherever they drain first */
    int64_t checkpoint_s; /* running jobs save so often; 0: never */
    int64_t restart_s;    /* from a decision to preempt to work again, beside what was lost */
    int64_t level_s;      /* work done in the highest level; each next one is four times as long */
    int64_t run_min_s;    /* a job is left alone so long after each start */
    /* Nor is one stopped for its own priority that has waited so long; it is of the first level. */
    int64_t yield_s;
    int64_t stop_after_s; /* a job waits so long before it stops others of its priority */
    int64_t grace_s;      /* a gang with nodes held so long stops what is left on them */
    int64_t keep_s;       /* what is over (jobs, arrays, windows) is forgotten after this */
    int64_t avoid_s;      /* so long nothing is placed on a node where a start failed */
    bool plain;           /* remainders of gangs lie anywhere, as in textbooks */
    bool preempt;
    bool confirm;   /* starts and stops take effect when they are confirmed (events.h) */
    uint8_t unused; /* no gaps: policies are compared byte by byte */
    /*
     * So long a gang keeps its nodes while others of it are bad and nothing replaces them. It costs
     * at most that time of its GPUs each time, and only where nothing is free and no spare is left.
     */
    uint32_t mend_s;
};

/*
 * The built-in policies. The first two are textbook baselines: 'fifo' stops at the first job that
 * does not fit, 'first-fit' goes on to the end; neither looks at tenants or holds anything.
 */
enum myr_queue_preset { MYR_QUEUE_FIFO, MYR_QUEUE_FIRST_FIT, MYR_QUEUE_FAIR, MYR_QUEUE_PREEMPT };

struct myr_queue_policy myr_queue_policy_preset(enum myr_queue_preset preset);
/* The same as MYR_QUEUE_FAIR. */
struct myr_queue_policy myr_queue_policy_default(void);
