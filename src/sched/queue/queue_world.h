/*
 * queue_world: what a random test of a queue with confirmed phases knows of the world beside it.
 * Its user says with fail_if() what happens when a promise is broken.
 */
#pragma once

#include "myriad/sched/events.h"
#include "myriad/sched/snapshot.h"

enum {
    JOBS_MAX = 64,
    NODES_MAX = 12,
    RANKS_MAX = 512,
    TENANTS = 4,
    QUEUES = 3, /* the queue, a copy, one that was read */
};

/* Ranks of one incarnation on one node. */
struct ranks {
    uint32_t job, epoch, node;
    uint64_t gpus;
    bool told; /* to stop */
};

struct world {
    uint64_t seed;
    struct myr_rng rng;
    struct myr_place_shape shape;
    struct myr_tenant tenants[TENANTS];
    uint32_t tenant_count;
    struct myr_queue *queues[QUEUES];
    int64_t now_s;
    struct ranks ranks[RANKS_MAX];
    uint32_t rank_count, windows;
    bool down[NODES_MAX], drained[NODES_MAX];
    bool strict[JOBS_MAX * 2];
    struct myr_request asked[JOBS_MAX * 2]; /* nodes 0: nothing but a number of GPUs */
    uint64_t excluded[JOBS_MAX * 2];
    bool kinds;                     /* odd nodes have another kind of GPUs */
    uint32_t started[JOBS_MAX * 2]; /* epoch that was started and not stopped since; 0: none */
    uint32_t checks;
};

static inline uint32_t below(struct world *w, uint32_t bound)
{
    return (uint32_t)myr_rng_below(&w->rng, bound);
}

/* The same call for every queue; all answer the same. */
#define EVERY(w, call)                                                                     \
    ({                                                                                     \
        int first_ = 0;                                                                    \
        for (uint32_t i_ = 0; i_ < QUEUES; i_++) {                                         \
            struct myr_queue *q = (w)->queues[i_];                                         \
            int rc_ = (call);                                                              \
            fail_if(w, i_ &&rc_ != first_, "copies answer differently: " #call, MYR_NONE); \
            first_ = rc_;                                                                  \
        }                                                                                  \
        first_;                                                                            \
    })

/* A wrong event: an error, and nothing has changed beside a copy that did not hear it. */
#define WRONG(w, call)                                                                          \
    do {                                                                                        \
        struct myr_queue *q = (w)->queues[0];                                                   \
        int rc_ = (call);                                                                       \
        fail_if(w, rc_ >= 0, "taken, but it is wrong: " #call, MYR_NONE);                       \
        fail_if(w, !myr_queue_equal(q, (w)->queues[1]), "changed something: " #call, MYR_NONE); \
    } while (0)
