/* What passing time earns and costs a queue, to the unit, and where its clock leaps by ages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "queue/queue_fixture.h"
#include "queue/state.h"

static const int64_t day_s = 86400;

/* 16 of 32 GPUs run; the two other nodes are held for a gang that does not come. */
static struct myr_queue *half_busy(bool preempt)
{
    struct myr_queue_policy policy = policy_of(preempt);
    struct myr_queue *q = queue_with(&four, &policy, plain, 1);
    uint32_t id = submit(q, 0, (struct myr_queue_job){.gpus = 16});
    decide(q, 0, NULL);
    assert_true(runs(q, id));
    return q;
}

static void hold_two(struct myr_queue *q)
{
    struct hold hold = {.job = 0};
    myr_vec_push(&hold.nodes, 2);
    myr_vec_push(&hold.nodes, 3);
    queue_set_held(q, &hold, true);
    myr_vec_push(&q->holds, hold);
}

static void time_earns_idle_and_lost_gpu_time(void **state)
{
    (void)state;
    struct myr_queue *q = half_busy(true);
    const int64_t first = 32 * 8000 * 6 * day_s / 5; /* a fifth is there from the start */
    assert_int_equal(q->drain_left, first);
    assert_int_equal(queue_advance(q, 100), MYR_OK);
    assert_int_equal(q->drain_left, first + 32LL * 8000 * 100); /* millionths of all GPUs */
    assert_int_equal(q->loss_left, 16LL * 6 * 100);             /* thousandths of those that work */
    assert_int_equal(q->drained_gpu_s, 0);
    assert_int_equal(queue_advance(q, 100), MYR_OK);
    assert_int_equal(q->drain_left, first + 32LL * 8000 * 100); /* no time has passed */
    assert_int_equal(queue_advance(q, 99), MYR_EINVAL);
    assert_int_equal(q->now_s, 100);
    hold_two(q);
    assert_int_equal(queue_advance(q, 150), MYR_OK);
    assert_int_equal(q->drained_gpu_s, 16 * 50);
    assert_int_equal(q->drain_left, first + 32LL * 8000 * 150 - 16LL * 50 * 1000000);
    assert_int_equal(q->loss_left, 16LL * 6 * 150);
    myr_queue_free(q);
}

static void what_is_saved_has_a_limit(void **state)
{
    (void)state;
    struct myr_queue *q = half_busy(false);
    const int64_t most = 32 * 8000 * 6 * day_s;
    const int64_t until_s = 6 * day_s / 5 * 4; /* a fifth is there from the start */
    assert_int_equal(queue_advance(q, until_s - 1), MYR_OK);
    assert_int_equal(q->drain_left, most - 32LL * 8000);
    assert_int_equal(queue_advance(q, until_s), MYR_OK);
    assert_int_equal(q->drain_left, most);
    assert_int_equal(queue_advance(q, 60 * day_s), MYR_OK);
    assert_int_equal(q->drain_left, most);
    hold_two(q); /* what is spent at once is taken from all that was saved */
    assert_int_equal(queue_advance(q, 60 * day_s + 10), MYR_OK);
    assert_int_equal(q->drain_left, most - 16LL * 10 * 1000000);
    assert_int_equal(q->loss_left, 0); /* nothing is lost where nobody is stopped */
    myr_queue_free(q);
}

static void a_clock_that_leaps_ends_at_what_can_be_counted(void **state)
{
    (void)state;
    const int64_t most = INT64_C(1) << 60;
    struct myr_queue *q = half_busy(true);
    hold_two(q);
    for (int i = 1; i <= 2; i++) {
        assert_int_equal(queue_advance(q, i * (INT64_C(1) << 59)), MYR_OK);
        assert_true(q->drained_gpu_s == most);
        assert_true(q->drain_left == -most);
        assert_true(q->loss_left == most);
    }
    myr_queue_free(q);
}

/* The minute that has begun, also before 0; the first event counts as an end of a large gang. */
static void the_first_event_begins_a_minute(void **state)
{
    (void)state;
    static const struct {
        int64_t time_s;
        int32_t minute;
    } cases[] = {{0, 0},
                 {59, 0},
                 {60, 1},
                 {61, 1},
                 {-1, -1},
                 {-59, -1},
                 {-60, -1},
                 {-61, -2},
                 {119, 1},
                 {120, 2},
                 {INT64_C(60) * INT32_MAX - 1, INT32_MAX - 1},
                 {INT64_C(60) * INT32_MAX, INT32_MAX},
                 {INT64_C(1) << 59, INT32_MAX},
                 {-(INT64_C(1) << 59), INT32_MIN},
                 {INT64_C(60) * INT32_MIN, INT32_MIN},
                 {INT64_C(60) * INT32_MIN + 60, INT32_MIN + 1}};
    struct myr_queue_policy policy = policy_of(false);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_queue *q = queue_with(&four, &policy, plain, 1);
        assert_int_equal(queue_advance(q, cases[i].time_s), MYR_OK);
        assert_int_equal(q->big_last_min, cases[i].minute);
        assert_int_equal(queue_advance(q, cases[i].time_s + 600), MYR_OK);
        assert_int_equal(q->big_last_min, cases[i].minute);
        myr_queue_free(q);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_earns_idle_and_lost_gpu_time),
        cmocka_unit_test(what_is_saved_has_a_limit),
        cmocka_unit_test(a_clock_that_leaps_ends_at_what_can_be_counted),
        cmocka_unit_test(the_first_event_begins_a_minute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
