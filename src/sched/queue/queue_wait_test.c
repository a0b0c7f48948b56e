/*
 * Waiting is bounded, in work ahead of a job, for every size: random clusters under floods of small
 * jobs that never end, and jobs of any size among them; decisions that have happened when they are
 * made, and such that nodes confirm later.
 *
 * The bound, for jobs of equal priority whose tenant is not beyond its share: with H, the most that
 * a job had to wait before nodes were held for it while this one waited, the longest run L, and n
 * runs of jobs that came before and have not ended H after this one came,
 *
 *     wait <= H + (n + 2) (L + R)
 *
 * After H nothing new starts on the nodes that are held for the oldest job of its kind (gangs, or
 * jobs of one node), so it starts within L; then the next is the oldest. One that has nodes already
 * when this job becomes due, and one of the other kind, may go before it. R is what nodes take to
 * confirm, and with preemption a restart. The test knows submissions, starts and ends alone, and H.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "queue/queue_fixture.h"
#include "queue/state.h"

enum { CASES = 400, TARGETS = 6, BACKLOG = 24, JOBS_MAX = 1 << 16, RESTART_S = 20, LATE_S = 30 };

struct times {
    int64_t submit_s, start_s, length_s;
    uint32_t epoch;
    uint32_t run; /* the last of its runs, MYR_NONE: it has none */
    bool target;
};

struct run {
    uint32_t job;
    int64_t start_s, end_s;
};

struct flood {
    struct myr_queue *queue;
    struct myr_rng rng;
    struct myr_place_shape shape;
    struct times *jobs;
    uint32_t count, targets_left, tenants;
    int64_t now_s, longest_s, extra_s, held_after_s;
    bool confirm;
    MYR_VEC(struct run) runs;
    struct myr_heap ends; /* value: the run */
    struct myr_heap says; /* of nodes, where those confirm; value: job << 32 | epoch << 1 | start */
};

static void come(struct flood *f, uint32_t gpus, uint32_t tenant, bool target)
{
    MYR_ASSERT(f->count < JOBS_MAX);
    struct myr_queue_job spec = {.tenant = tenant, .gpus = gpus};
    uint32_t id = submit(f->queue, f->now_s, spec);
    int64_t length_s = 1 + myr_rng_below(&f->rng, (uint32_t)f->longest_s);
    f->jobs[id] = (struct times){f->now_s, -1, length_s, 0, MYR_NONE, target};
    f->count = id + 1;
    f->targets_left += target;
}

static void begin_run(struct flood *f, uint32_t id)
{
    struct times *job = &f->jobs[id];
    /* The test saves nothing: a job that was stopped does all of its work again. */
    int64_t end_s = f->now_s + job->length_s + (job->run == MYR_NONE ? 0 : RESTART_S);
    job->run = (uint32_t)f->runs.count;
    f->targets_left -= job->target && job->start_s < 0;
    job->start_s = job->start_s < 0 ? f->now_s : job->start_s;
    myr_heap_push(&f->ends, end_s, f->runs.count);
    struct run run = {id, f->now_s, INT64_MAX};
    myr_vec_push(&f->runs, run);
}

/* What nodes will say of a start or a stop, some time later. */
static void say_later(struct flood *f, uint32_t id, uint32_t epoch, bool start)
{
    if (f->confirm) {
        myr_heap_push(&f->says, f->now_s + myr_rng_below(&f->rng, LATE_S),
                      (uint64_t)id << 32 | (uint64_t)epoch << 1 | start);
    }
}

static void carry_out(struct flood *f)
{
    uint32_t count;
    const struct myr_decision *all = decide(f->queue, f->now_s, &count);
    for (uint32_t i = 0; i < count; i++) {
        bool start = all[i].kind == MYR_DECIDE_START;
        say_later(f, all[i].job, all[i].epoch, start);
        if (start) {
            f->jobs[all[i].job].epoch = all[i].epoch;
            begin_run(f, all[i].job);
        } else {
            f->runs.items[f->jobs[all[i].job].run].end_s = f->now_s;
        }
    }
}

/* Nodes confirm what they were told; a job may have been stopped before it was there. */
static void hear(struct flood *f)
{
    struct myr_heap_item item;
    while (f->says.count && f->says.items[0].key <= f->now_s && myr_heap_pop(&f->says, &item)) {
        uint32_t id = (uint32_t)(item.value >> 32), epoch = (uint32_t)item.value >> 1;
        if (item.value & 1) {
            int rc = myr_queue_started(f->queue, f->now_s, id, epoch);
            assert_true(rc == MYR_OK || rc == MYR_ESTALE);
        } else {
            assert_int_equal(myr_queue_stopped(f->queue, f->now_s, id, epoch, MYR_NONE), MYR_OK);
        }
    }
}

static void end_run(struct flood *f, uint32_t id)
{
    if (!f->confirm) {
        finish(f->queue, f->now_s, id);
        return;
    }
    /* It may end before all of its nodes have said that it runs. */
    int rc = myr_queue_started(f->queue, f->now_s, id, f->jobs[id].epoch);
    assert_true(rc == MYR_OK || rc == MYR_ESTALE);
    assert_int_equal(myr_queue_exited(f->queue, f->now_s, id, f->jobs[id].epoch, MYR_EXIT_OK),
                     MYR_OK);
}

static void end_jobs(struct flood *f)
{
    struct myr_heap_item item;
    while (f->ends.count && f->ends.items[0].key <= f->now_s && myr_heap_pop(&f->ends, &item)) {
        struct run *run = &f->runs.items[item.value];
        if (run->end_s == INT64_MAX) { /* else it was stopped */
            run->end_s = f->now_s;
            end_run(f, run->job);
        }
    }
}

/* Goes on until all targets have started, or for 'most_s'. */
/* The most that anybody has to wait now before nodes are held for it. */
static int64_t most_hold_s(const struct myr_queue *q)
{
    struct node_ages ages;
    queue_count_ages(q, &ages);
    int64_t drain_s = queue_drain_s(&ages, q->shape.nodes);
    int64_t gang_s = queue_hold_s(q, q->shape.nodes * q->shape.gpus_per_node, drain_s);
    int64_t small_s = queue_hold_s(q, 1, drain_s);
    return gang_s > small_s ? gang_s : small_s;
}

static void play(struct flood *f, int64_t most_s)
{
    uint32_t all = f->shape.nodes * f->shape.gpus_per_node, sent = 0;
    while (f->now_s < most_s && (sent < TARGETS || f->targets_left)) {
        int64_t next_s = f->now_s + 60, wake_s = myr_queue_wake_s(f->queue);
        next_s = f->ends.count && f->ends.items[0].key < next_s ? f->ends.items[0].key : next_s;
        next_s = wake_s < next_s ? wake_s : next_s;
        next_s = f->says.count && f->says.items[0].key < next_s ? f->says.items[0].key : next_s;
        f->now_s = next_s > f->now_s ? next_s : f->now_s + 1;
        hear(f);
        end_jobs(f);
        while (myr_queue_waiting(f->queue) < BACKLOG) { /* the flood: small, and never less */
            uint32_t small = 1 + myr_rng_below(&f->rng, f->shape.gpus_per_node);
            /* of the targets' own tenant where there is no other, else of others */
            uint32_t others = f->tenants > 1 ? f->tenants - TARGETS : 0;
            uint32_t tenant = others ? TARGETS + myr_rng_below(&f->rng, others) : 0;
            come(f, small, tenant, false);
        }
        if (sent < TARGETS && myr_rng_below(&f->rng, 40) == 0) {
            bool large = myr_rng_below(&f->rng, 2);
            come(f, large ? all - myr_rng_below(&f->rng, all / 2) : 1 + myr_rng_below(&f->rng, all),
                 f->tenants > 1 ? sent : 0, true);
            sent++;
        }
        carry_out(f);
        int64_t held_after_s = most_hold_s(f->queue);
        if (held_after_s < INT64_MAX && held_after_s > f->held_after_s) {
            f->held_after_s = held_after_s;
        }
    }
}

/* The bound of a target, by the definition above. */
static int64_t bound_s(const struct flood *f, uint32_t id, int64_t held_after_s)
{
    int64_t late_s = f->jobs[id].submit_s + held_after_s, ahead = 0;
    for (uint32_t i = 0; i < id; i++) {
        ahead += f->jobs[i].start_s < 0; /* it waits even now */
    }
    for (size_t i = 0; i < f->runs.count; i++) {
        ahead += f->runs.items[i].job < id && f->runs.items[i].end_s > late_s;
    }
    return held_after_s + (ahead + 2) * (f->longest_s + f->extra_s);
}

/* How many targets waited for longer than the bound. */
static uint32_t count_late(uint64_t seed, struct myr_queue_policy policy, int64_t patience_s)
{
    struct myr_tenant equal[TARGETS + 2]; /* every target's own, and those of the flood */
    for (uint32_t t = 0; t < MYR_ARRAY_COUNT(equal); t++) {
        equal[t] = (struct myr_tenant){.parent = MYR_NONE};
    }
    struct flood f = {.jobs = myr_xcalloc(JOBS_MAX, sizeof(*f.jobs)),
                      .longest_s = 900,
                      .confirm = policy.confirm,
                      .extra_s =
                          (policy.preempt ? RESTART_S : 0) + (policy.confirm ? 2 * LATE_S : 0)};
    myr_rng_init(&f.rng, seed, 0);
    uint32_t group = 1 + myr_rng_below(&f.rng, 4), per = 1U << myr_rng_below(&f.rng, 4);
    uint32_t nodes = 2 + myr_rng_below(&f.rng, 12);
    f.shape = (struct myr_place_shape){nodes, per, group, nodes};
    static const uint32_t tenants[] = {1, TARGETS + 1, TARGETS + 2};
    f.tenants = tenants[myr_rng_below(&f.rng, MYR_ARRAY_COUNT(tenants))];
    policy.restart_s = RESTART_S;
    f.queue = queue_with(&f.shape, &policy, equal, f.tenants);
    play(&f, 200 * patience_s);
    uint32_t late = 0;
    for (uint32_t i = 0; i < f.count; i++) {
        int64_t start_s = f.jobs[i].start_s < 0 ? f.now_s : f.jobs[i].start_s;
        late += f.jobs[i].target &&
                start_s - f.jobs[i].submit_s >
                    bound_s(&f, i, f.held_after_s > 0 ? f.held_after_s : patience_s);
    }
    myr_queue_free(f.queue);
    myr_heap_done(&f.ends);
    myr_heap_done(&f.says);
    myr_vec_done(&f.runs);
    free(f.jobs);
    return late;
}

static void no_size_waits_for_longer_than_the_work_ahead_of_it(void **state)
{
    (void)state;
    static const enum myr_queue_preset presets[] = {MYR_QUEUE_FAIR, MYR_QUEUE_PREEMPT};
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        struct myr_queue_policy policy = myr_queue_policy_preset(presets[seed % 2]);
        policy.patience_s = 600 * (1 + (int64_t)seed % 5);
        policy.hold_s = 300 * (1 + (int64_t)seed % 7);
        policy.confirm = seed % 3 == 0;
        uint32_t late = count_late(seed, policy, policy.patience_s);
        if (late) {
            fail_msg("seed %llu: %u jobs waited for longer than the bound",
                     (unsigned long long)seed, late);
        }
    }
}

/* The same floods, and nobody holds anything: the test above is able to fail. */
static void without_patience_large_jobs_starve(void **state)
{
    (void)state;
    uint32_t late = 0;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        late += count_late(seed, myr_queue_policy_preset(MYR_QUEUE_FIRST_FIT), 600);
    }
    assert_true(late > 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_size_waits_for_longer_than_the_work_ahead_of_it),
        cmocka_unit_test(without_patience_large_jobs_starve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
