/* What passing time earns and costs a queue, to the unit, and where its clock leaps by ages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "queue/queue_fixture.h"
#include "queue/state.h"

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

static void time_earns_lost_gpu_time_and_counts_idle(void **state)
{
    (void)state;
    struct myr_queue *q = half_busy(true);
    assert_int_equal(queue_advance(q, 100), MYR_OK);
    assert_int_equal(q->loss_left, 16LL * 8 * 100); /* thousandths of those that work */
    assert_int_equal(q->drained_gpu_s, 0);
    assert_int_equal(queue_advance(q, 100), MYR_OK);
    assert_int_equal(q->loss_left, 16LL * 8 * 100); /* no time has passed */
    assert_int_equal(queue_advance(q, 99), MYR_EINVAL);
    assert_int_equal(q->now_s, 100);
    hold_two(q);
    assert_int_equal(queue_advance(q, 150), MYR_OK);
    assert_int_equal(q->drained_gpu_s, 16 * 50);
    assert_int_equal(q->loss_left, 16LL * 8 * 150);
    myr_queue_free(q);
}

static void nothing_is_lost_where_nobody_is_stopped(void **state)
{
    (void)state;
    struct myr_queue *q = half_busy(false);
    assert_int_equal(queue_advance(q, 100), MYR_OK);
    assert_int_equal(q->loss_left, 0);
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
        assert_true(q->loss_left == most);
    }
    myr_queue_free(q);
}

/* The mean of what started lately: a step of waits is followed in a few hundred starts. */
static void the_usual_wait_follows_those_that_start(void **state)
{
    (void)state;
    struct myr_queue *q = half_busy(false);
    const int64_t patience_s = q->policy.patience_s;
    assert_int_equal(q->usual_wait, 0);
    assert_int_equal(queue_hold_s(q, 8, 0), patience_s);
    for (uint32_t i = 0; i < 4096; i++) {
        queue_note_wait(q, 10 * patience_s);
    }
    assert_in_range(queue_hold_s(q, 8, 0), 20 * patience_s - 60, 20 * patience_s);
    assert_in_range(queue_hold_s(q, 16, 0), 20 * patience_s - 60, 20 * patience_s);
    q->policy.preempt = true; /* where others can be stopped it is bounded by itself */
    assert_int_equal(queue_hold_s(q, 8, 0), patience_s);
    assert_int_equal(queue_hold_s(q, 16, 50 * patience_s), q->policy.hold_s);
    q->policy.preempt = false;
    for (uint32_t i = 0; i < 4096; i++) {
        queue_note_wait(q, 0);
    }
    assert_int_equal(queue_hold_s(q, 8, 0), patience_s);
    for (uint32_t i = 0; i < 4096; i++) {
        queue_note_wait(q, INT64_MAX); /* a clock that has leapt */
    }
    assert_true(queue_hold_s(q, 8, 0) > 0 && queue_hold_s(q, 8, 0) <= INT64_C(1) << 42);
    myr_queue_free(q);
}

/* A gang waits as long as its nodes take to be free; a job of one node does not ask. */
static void a_gang_waits_as_long_as_its_nodes_drain(void **state)
{
    (void)state;
    struct myr_queue *q = half_busy(false);
    const int64_t patience_s = q->policy.patience_s, hold_s = q->policy.hold_s;
    struct node_ages ages;
    assert_int_equal(queue_hold_s(q, 16, 0), hold_s);
    assert_int_equal(queue_hold_s(q, 16, hold_s + 1), hold_s + 1);
    assert_int_equal(queue_hold_s(q, 16, 9 * patience_s), 9 * patience_s);
    assert_int_equal(queue_hold_s(q, 16, INT64_MAX), hold_s); /* nobody knows */
    assert_int_equal(queue_hold_s(q, 8, 9 * patience_s), patience_s);
    /* Two nodes have been busy for so long, two are free. */
    assert_int_equal(queue_advance(q, 100000), MYR_OK);
    queue_count_ages(q, &ages);
    assert_in_range(queue_drain_s(&ages, 1), 0, 4);
    assert_in_range(queue_drain_s(&ages, 2), 0, 4);
    assert_in_range(queue_drain_s(&ages, 3), 80000, 100060); /* four steps to an octave */
    assert_in_range(queue_drain_s(&ages, 4), 80000, 100060);
    assert_int_equal(queue_drain_s(&ages, 5), INT64_MAX);
    queue_close_node(q, 3, CLOSED_DOWN, true);
    queue_count_ages(q, &ages);
    assert_int_equal(queue_drain_s(&ages, 4), INT64_MAX);
    q->policy.patience_s = 0;
    assert_int_equal(queue_hold_s(q, 16, 0), INT64_MAX);
    myr_queue_free(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_earns_lost_gpu_time_and_counts_idle),
        cmocka_unit_test(nothing_is_lost_where_nobody_is_stopped),
        cmocka_unit_test(a_clock_that_leaps_ends_at_what_can_be_counted),
        cmocka_unit_test(the_usual_wait_follows_those_that_start),
        cmocka_unit_test(a_gang_waits_as_long_as_its_nodes_drain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
