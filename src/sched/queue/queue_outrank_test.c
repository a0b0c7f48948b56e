/*
 * Whoever counts more goes first, also where nodes are held: on clusters and jobs that are drawn,
 * no job starts while one of a higher priority that is no larger waits. The test knows priorities,
 * sizes and states alone; what the one could have had the other fits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "queue/queue_fixture.h"

enum { WORLDS = 200, STEPS = 400, STEP_S = 60, JOBS_MAX = 4 * STEPS };

struct drawn {
    uint32_t gpus;
    int32_t priority;
    int64_t end_s; /* 0: it has not begun */
};

struct world {
    struct myr_queue *queue;
    struct myr_place_shape shape;
    struct myr_rng rng;
    struct drawn jobs[JOBS_MAX];
    uint32_t count;
    int64_t now_s;
};

static void come(struct world *w)
{
    uint32_t total = w->shape.nodes * w->shape.gpus_per_node;
    uint32_t some = myr_rng_below(&w->rng, 8);
    uint32_t gpus = some == 0   ? 8 * (1 + myr_rng_below(&w->rng, w->shape.nodes))
                    : some == 1 ? 1 + myr_rng_below(&w->rng, total)
                                : 1 + myr_rng_below(&w->rng, 8);
    int32_t priority = myr_rng_below(&w->rng, 3) == 0 ? 5 : 0;
    uint32_t id =
        submit(w->queue, w->now_s,
               (struct myr_queue_job){
                   .tenant = myr_rng_below(&w->rng, 2), .gpus = gpus, .priority = priority});
    MYR_ASSERT(id == w->count && id < JOBS_MAX);
    w->jobs[w->count++] = (struct drawn){gpus, priority, 0};
}

/* Among those that waited when it was decided; one that has nodes or is over waits for none. */
static void look_at_start(const struct world *w, uint32_t id, uint64_t seed)
{
    for (uint32_t other = 0; other < w->count; other++) {
        if (w->jobs[other].priority > w->jobs[id].priority &&
            w->jobs[other].gpus <= w->jobs[id].gpus &&
            myr_queue_state(w->queue, other) == MYR_JOB_WAITS) {
            fail_msg("seed %llu, %lld s: job %u (%u GPUs) starts, %u (%u GPUs) counts more",
                     (unsigned long long)seed, (long long)w->now_s, id, w->jobs[id].gpus, other,
                     w->jobs[other].gpus);
        }
    }
}

static void step(struct world *w, uint64_t seed)
{
    uint32_t count;
    w->now_s += STEP_S;
    for (uint32_t id = 0; id < w->count; id++) {
        if (w->jobs[id].end_s > 0 && w->jobs[id].end_s <= w->now_s && runs(w->queue, id)) {
            finish(w->queue, w->now_s, id);
        }
    }
    for (uint32_t i = myr_rng_below(&w->rng, 4); i > 0; i--) {
        come(w);
    }
    const struct myr_decision *decisions = decide(w->queue, w->now_s, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (decisions[i].kind == MYR_DECIDE_START) {
            uint32_t id = decisions[i].job;
            look_at_start(w, id, seed);
            w->jobs[id].end_s = w->now_s + 60 + myr_rng_below(&w->rng, 7200);
        }
    }
}

static void who_counts_more_goes_first(void **state)
{
    (void)state;
    static struct world w;
    for (uint64_t seed = 1; seed <= WORLDS; seed++) {
        struct myr_queue_policy policy = myr_queue_policy_preset(MYR_QUEUE_FAIR);
        w = (struct world){};
        myr_rng_init(&w.rng, seed, 0);
        policy.patience_s = 600 + myr_rng_below(&w.rng, 1800);
        policy.hold_s = policy.patience_s / 2;
        policy.locality_s = 0;
        uint32_t group = 1 + myr_rng_below(&w.rng, 4);
        w.shape = (struct myr_place_shape){group * (1 + myr_rng_below(&w.rng, 5)), 8, group, 0};
        w.queue = queue_with(&w.shape, &policy, plain, 2);
        for (uint32_t i = 0; i < STEPS; i++) {
            step(&w, seed);
        }
        myr_queue_free(w.queue);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(who_counts_more_goes_first)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
