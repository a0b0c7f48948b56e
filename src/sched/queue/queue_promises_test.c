#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "queue/queue_fixture.h"

#include "myriad/sched/why.h"

/*
 * What the queue promises whoever else asks for GPUs: a flood takes nobody's share or priority,
 * half a cluster is found in time, free nodes are used wherever they lie, wrong inputs are errors.
 */
enum { FLOOD = 2000, FLOOD_S = 4 * 3600, HOURS = 60 };

static const struct myr_place_shape sixteen = {16, 8, 4, 16};

struct flood {
    struct myr_queue *queue;
    int64_t end_s[FLOOD + HOURS]; /* by job, while it runs */
    int64_t left_s[FLOOD + HOURS];
    uint32_t count;
};

static void carry_out(struct flood *f, int64_t now_s)
{
    uint32_t count;
    const struct myr_decision *d = decide(f->queue, now_s, &count);
    for (uint32_t i = 0; i < count; i++) {
        f->end_s[d[i].job] =
            d[i].kind == MYR_DECIDE_START ? now_s + f->left_s[d[i].job] : INT64_MAX;
    }
}

/* Lets time pass up to 'until', event by event. */
static void pass(struct flood *f, int64_t until_s)
{
    for (;;) {
        int64_t next_s = myr_queue_wake_s(f->queue);
        for (uint32_t i = 0; i < f->count; i++) {
            next_s = f->end_s[i] < next_s ? f->end_s[i] : next_s;
        }
        if (next_s > until_s) {
            return;
        }
        for (uint32_t i = 0; i < f->count; i++) {
            if (f->end_s[i] == next_s) {
                finish(f->queue, next_s, i);
                f->end_s[i] = INT64_MAX;
            }
        }
        carry_out(f, next_s);
    }
}

/* The longest that a job of the other tenant waits, or more than an hour. */
static int64_t longest_beside_a_flood(bool preempt, uint32_t weight, int32_t priority)
{
    struct myr_tenant tenants[] = {{.parent = MYR_NONE, .weight = 1},
                                   {.parent = MYR_NONE, .weight = weight}};
    struct myr_queue_policy policy =
        myr_queue_policy_preset(preempt ? MYR_QUEUE_PREEMPT : MYR_QUEUE_FAIR);
    struct flood *f = calloc(1, sizeof(*f));
    f->queue = queue_with(&sixteen, &policy, tenants, 2);
    for (uint32_t i = 0; i < FLOOD; i++) {
        f->left_s[i] = FLOOD_S - 60 * (i % 16); /* so that one ends every minute, not all at once */
        f->end_s[i] = INT64_MAX;
        f->count++;
        (void)submit(f->queue, 0, (struct myr_queue_job){.gpus = 8});
    }
    carry_out(f, 0);
    int64_t longest_s = 0;
    for (uint32_t hour = 30; hour < HOURS; hour++) {
        int64_t now_s = (int64_t)hour * 3600 + 17;
        pass(f, now_s);
        uint32_t id = f->count++;
        f->left_s[id] = 3600;
        f->end_s[id] = INT64_MAX;
        assert_int_equal(
            submit(f->queue, now_s,
                   (struct myr_queue_job){.tenant = 1, .gpus = 8, .priority = priority}),
            id);
        int64_t first_end_s = INT64_MAX;
        for (uint32_t i = 0; i < id; i++) {
            first_end_s = f->end_s[i] < first_end_s ? f->end_s[i] : first_end_s;
        }
        carry_out(f, now_s);
        pass(f, preempt ? now_s + 600 : first_end_s);
        if (myr_queue_state(f->queue, id) == MYR_JOB_WAITS) {
            longest_s = INT64_MAX; /* others were before it */
            break;
        }
        int64_t waited_s = f->end_s[id] - 3600 - now_s;
        longest_s = waited_s > longest_s ? waited_s : longest_s;
    }
    myr_queue_free(f->queue);
    free(f);
    return longest_s;
}

static void a_flood_takes_neither_share_nor_priority_of_others(void **state)
{
    (void)state;
    /* With the first GPUs that come free; where jobs may be stopped, within ten minutes. */
    assert_true(longest_beside_a_flood(false, 100, 0) < INT64_MAX);
    assert_true(longest_beside_a_flood(false, 1, 100) < INT64_MAX);
    assert_true(longest_beside_a_flood(true, 100, 0) <= 600);
    assert_int_equal(longest_beside_a_flood(true, 1, 100), 0);
}

static void idle_nodes_in_many_leaves_start_a_gang_at_once(void **state)
{
    (void)state;
    static const struct myr_place_shape apart = {64, 8, 4, 64};
    static const enum myr_queue_preset presets[] = {MYR_QUEUE_FAIR, MYR_QUEUE_PREEMPT};
    for (uint32_t p = 0; p < MYR_ARRAY_COUNT(presets); p++) {
        struct myr_queue_policy policy = myr_queue_policy_preset(presets[p]);
        struct myr_queue *queue = queue_with(&apart, &policy, plain, 2);
        for (uint32_t i = 0; i < 64; i++) {
            (void)submit(queue, 0, (struct myr_queue_job){.gpus = 8});
        }
        decide(queue, 0, NULL);
        for (uint32_t i = 0; i < 64; i++) {
            if (myr_queue_gang(queue, i)->shares[0].node % 4 == 1) {
                finish(queue, 10, i);
            }
        }
        uint32_t gang = submit(queue, 10, (struct myr_queue_job){.gpus = 16});
        decide(queue, 10, NULL);
        assert_true(runs(queue, gang));
        myr_queue_free(queue);
    }
}

/* Short jobs keep a cluster full; the end of each lets the next one in. */
static int64_t half_a_cluster_among_short_jobs(enum myr_queue_preset preset, int64_t *ret_drained)
{
    enum { SHORT = 6000 };
    struct myr_queue_policy policy = myr_queue_policy_preset(preset);
    struct myr_queue *queue = queue_with(&sixteen, &policy, plain, 2);
    struct myr_rng rng;
    struct myr_heap ends = {};
    myr_rng_init(&rng, 3, 0);
    uint32_t gang = MYR_NONE, jobs = 0;
    int64_t now_s = 0, asked_s = 0;
    while (gang == MYR_NONE || !runs(queue, gang)) {
        for (uint32_t i = 0; i < 6 && jobs < SHORT; i++) {
            uint32_t gpus = 1U << myr_rng_below(&rng, 4);
            (void)submit(queue, now_s, (struct myr_queue_job){.tenant = 1, .gpus = gpus});
            jobs++;
        }
        if (gang == MYR_NONE && now_s > 24 * 3600) {
            gang = submit(queue, now_s, (struct myr_queue_job){.gpus = 64});
            asked_s = now_s;
        }
        uint32_t count;
        const struct myr_decision *d = decide(queue, now_s, &count);
        for (uint32_t i = 0; i < count; i++) {
            if (d[i].kind == MYR_DECIDE_START && d[i].job != gang) {
                myr_heap_push(&ends, now_s + 300 + myr_rng_below(&rng, 1500), d[i].job);
            }
        }
        now_s += 60;
        struct myr_heap_item item;
        while (ends.count && ends.items[0].key <= now_s && myr_heap_pop(&ends, &item)) {
            if (runs(queue, (uint32_t)item.value)) {
                finish(queue, now_s, (uint32_t)item.value);
            }
        }
        assert_true(now_s < 20 * 24 * 3600);
    }
    *ret_drained = myr_queue_drained_gpu_s(queue);
    myr_heap_done(&ends);
    myr_queue_free(queue);
    return now_s - asked_s;
}

static void half_a_cluster_is_found_in_time(void **state)
{
    (void)state;
    int64_t drained, all = INT64_C(128) * 24 * 3600;
    assert_true(half_a_cluster_among_short_jobs(MYR_QUEUE_FAIR, &drained) <= 3 * 3600);
    assert_true(drained > 0 && drained * 100 <= all); /* of the day before it came */
    assert_true(half_a_cluster_among_short_jobs(MYR_QUEUE_PREEMPT, &drained) <= 3600);
}

static void wrong_events_are_errors_and_change_nothing(void **state)
{
    (void)state;
    struct myr_queue_policy policy = myr_queue_policy_default();
    struct myr_queue *queue = queue_with(&four, &policy, plain, 2);
    struct myr_err err = {};
    uint32_t id = submit(queue, 100, (struct myr_queue_job){.gpus = 8}), count = 1, other;
    decide(queue, 100, NULL);
    assert_int_equal(myr_queue_finish(queue, 100, 7), MYR_ENOENT);
    assert_int_equal(myr_queue_finish(queue, 99, id), MYR_EINVAL);
    assert_int_equal(myr_queue_node(queue, 100, 4, false), MYR_ERANGE);
    assert_int_equal(myr_queue_node(queue, 99, 0, false), MYR_EINVAL);
    assert_int_equal(myr_queue_scale(queue, 100, 0, 1), MYR_ENOENT);
    assert_int_equal(myr_queue_unserve(queue, 100, 0), MYR_ENOENT);
    assert_int_equal(myr_queue_serving(queue, 0), 0);
    assert_true(myr_queue_submit(queue, 99, &(struct myr_queue_job){.gpus = 1}, &other, &err) < 0);
    assert_non_null(strstr(err.message, "before the last one"));
    assert_null(myr_queue_decide(queue, 99, &count));
    assert_int_equal(count, 0);
    assert_true(runs(queue, id));
    /* To ask about a later moment does not make it one. */
    struct myr_why why;
    myr_queue_why(queue, 5000, id, &why);
    myr_queue_why(queue, 5000, 99, &why);
    assert_int_equal(why.kind, MYR_WHY_NOTHING);
    finish(queue, 200, id);
    finish(queue, 200, id);
    assert_int_equal(myr_queue_state(queue, id), MYR_JOB_DONE);
    myr_queue_free(queue);
}

/* Levels put long jobs behind short ones, but not for ever: so long of giving way is enough. */
static void who_has_given_way_for_long_goes_first(void **state)
{
    (void)state;
    const struct myr_place_shape one = {1, 8, 1, 1};
    struct myr_queue_policy policy = policy_of(true);
    policy.loss_permille = 1000; /* whatever it costs */
    struct myr_queue *q = queue_with(&one, &policy, plain, 2);
    struct myr_queue_job whole = {.gpus = 8};
    int64_t now_s = 0;
    uint32_t old = submit(q, now_s, whole);
    decide(q, now_s, NULL);
    now_s = 7200;
    uint32_t runner = submit(q, now_s, whole);
    decide(q, now_s, NULL);
    assert_true(runs(q, runner) && !runs(q, old));
    uint32_t passed = 0;
    for (; !runs(q, old) && passed < 100; passed++) {
        uint32_t next = submit(q, now_s + 60, whole);
        now_s += 1800;
        finish(q, now_s, runner);
        decide(q, now_s, NULL);
        assert_true(runs(q, next) || runs(q, old));
        runner = next;
    }
    assert_int_equal(now_s, 7200 + policy.yield_s);
    myr_queue_free(q);
}

/* Jobs of one size that all run for an hour: to stop one for another would help nobody. */
static void equals_are_not_stopped_for_each_other(void **state)
{
    (void)state;
    struct myr_queue_policy policy = policy_of(true);
    policy.loss_permille = 1000; /* whatever it costs */
    struct myr_queue *q = queue_with(&four, &policy, plain, 2);
    for (uint32_t alike = 0; alike < 2; alike++) {
        int64_t now_s = alike ? 1000000 : 0;
        for (uint32_t i = 0; i < 32 && alike; i++, now_s += 9000) {
            uint32_t id = submit(q, now_s, (struct myr_queue_job){.gpus = 8});
            decide(q, now_s, NULL);
            finish(q, now_s + 9000, id);
        }
        uint32_t old[4], next;
        for (uint32_t i = 0; i < 4; i++) {
            old[i] = submit(q, now_s, (struct myr_queue_job){.gpus = 8});
        }
        decide(q, now_s, NULL);
        next = submit(q, now_s + 7201, (struct myr_queue_job){.gpus = 8});
        decide(q, now_s + 7201, NULL);
        assert_int_equal(runs(q, next), !alike); /* unknown lengths: who has run least goes on */
        for (uint32_t i = 0; i < 4; i++) {
            finish(q, now_s + 9000, old[i]);
        }
        finish(q, now_s + 9000, next);
    }
    myr_queue_free(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_has_given_way_for_long_goes_first),
        cmocka_unit_test(equals_are_not_stopped_for_each_other),
        cmocka_unit_test(a_flood_takes_neither_share_nor_priority_of_others),
        cmocka_unit_test(idle_nodes_in_many_leaves_start_a_gang_at_once),
        cmocka_unit_test(half_a_cluster_is_found_in_time),
        cmocka_unit_test(wrong_events_are_errors_and_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
