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
    uint32_t unused_counts[2]; /* of older programs' states, as the other gaps */
    uint32_t loss_permille;    /* of the GPU time may be lost to preemption by level */
    /*
     * Who waits has nodes held, on which nothing new starts. A gang after as long as they are
     * likely to take to be free, 'hold_s' at least; a job of one node after 'patience_s'. Less of
     * them costs the others: nodes stand idle while they drain. More adds to the longest wait. With
     * 'preempt' a gang waits no longer than 'patience_s' for it. 0: never.
     */
    int64_t patience_s;
    int64_t hold_s;
    int64_t unused_times[2];
    int64_t locality_s; /* a gang waits so long for the fewest groups; then it takes any */
    int64_t unused_spread;
    int64_t checkpoint_s; /* running jobs save so often; 0: never */
    int64_t restart_s;    /* from a decision to preempt to work again, beside what was lost */
    int64_t level_s;      /* work done in the highest level; each next one is four times as long */
    int64_t run_min_s;    /* a job is left alone so long after each start */
    /*
     * Nor is one stopped for its own priority that has waited so long; it is of the first level.
     * And a gang that has waited so long stops others whatever that costs.
     */
    int64_t yield_s;
    int64_t stop_after_s; /* a job waits so long before it stops others of its priority */
    int64_t unused_grace;
    int64_t keep_s;  /* what is over (jobs, arrays, windows) is forgotten after this */
    int64_t avoid_s; /* so long nothing is placed on a node where a start failed */
    bool plain;      /* remainders of gangs lie anywhere, as in textbooks */
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
