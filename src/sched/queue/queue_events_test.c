#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "myriad/sched/events.h"
#include "queue/queue_confirm_test.h"

static struct myr_queue *confirming(bool preempt)
{
    struct myr_queue_policy policy = policy_of(preempt);
    policy.confirm = true;
    policy.keep_s = 3600;
    policy.avoid_s = 600;
    policy.run_min_s = 0;
    policy.restart_s = 0;
    return queue_with(&four, &policy, plain, 2);
}

static uint32_t free_gpus(const struct myr_queue *queue)
{
    return myr_placer_free_gpus(myr_queue_placer(queue));
}

static void a_stop_gives_its_gpus_to_who_claimed_them(void **state)
{
    (void)state;
    struct myr_queue *queue = confirming(true);
    uint32_t low = running(queue, 0, (struct myr_queue_job){.gpus = 32, .priority = -1});
    uint32_t high = submit(queue, 10, (struct myr_queue_job){.gpus = 16, .priority = 1});
    uint32_t other = submit(queue, 10, (struct myr_queue_job){.gpus = 8});
    uint32_t count;
    const struct myr_decision *decisions = decide(queue, 10, &count);
    assert_int_equal(count, 1);
    assert_int_equal(decisions[0].kind, MYR_DECIDE_STOP);
    assert_int_equal(decisions[0].job, low);
    assert_int_equal(decisions[0].epoch, 1);
    expect(queue, high, MYR_JOB_CLAIMS);
    expect(queue, low, MYR_JOB_STOPPING);
    assert_int_equal(free_gpus(queue), 0);
    /* Node by node; nobody starts before its nodes are free. */
    for (uint32_t node = 0; node < 4; node++) {
        assert_int_equal(myr_queue_stopped(queue, 20, low, 1, node), MYR_OK);
        assert_int_equal(myr_queue_stopped(queue, 20, low, 1, node), MYR_ESTALE);
    }
    (void)decide(queue, 20, NULL);
    expect(queue, high, MYR_JOB_STARTING);
    expect(queue, other, MYR_JOB_STARTING);
    expect(queue, low, MYR_JOB_WAITS);
    myr_queue_free(queue);
}

static void a_cancelled_claim_leaves_nothing_behind(void **state)
{
    (void)state;
    struct myr_queue *queue = confirming(true);
    uint32_t low = running(queue, 0, (struct myr_queue_job){.gpus = 32, .priority = -1});
    uint32_t high = submit(queue, 10, (struct myr_queue_job){.gpus = 32, .priority = 1});
    (void)decide(queue, 10, NULL);
    assert_int_equal(myr_queue_stopped(queue, 11, low, 1, 2), MYR_OK);
    assert_int_equal(free_gpus(queue), 0);
    assert_int_equal(myr_queue_cancel(queue, 12, high), MYR_OK);
    expect(queue, high, MYR_JOB_DONE);
    assert_int_equal(free_gpus(queue), 8);
    assert_int_equal(myr_queue_stopped(queue, 13, low, 1, MYR_NONE), MYR_OK);
    assert_int_equal(free_gpus(queue), 32);
    (void)decide(queue, 13, NULL);
    expect(queue, low, MYR_JOB_STARTING);
    struct myr_job_view view;
    assert_int_equal(myr_queue_view(queue, low, &view), MYR_OK);
    assert_int_equal(view.epoch, 2);
    myr_queue_free(queue);
}

static void a_failed_start_is_mended_and_the_good_node_stays(void **state)
{
    (void)state;
    struct myr_queue *queue = confirming(false);
    uint32_t id = submit(queue, 0, (struct myr_queue_job){.gpus = 16});
    (void)decide(queue, 0, NULL);
    uint32_t node = myr_queue_gang(queue, id)->shares[0].node, other = 3;
    uint32_t kept = myr_queue_gang(queue, id)->shares[1].node;
    assert_int_equal(myr_queue_mend(queue, 5, id, 1, &other, 1), MYR_ESTALE); /* not of its gang */
    assert_int_equal(myr_queue_mend(queue, 5, id, 1, &node, 1), MYR_OK);
    expect(queue, id, MYR_JOB_CLAIMS);
    assert_int_equal(myr_queue_started(queue, 6, id, 1), MYR_ESTALE);
    assert_int_equal(myr_queue_stopped(queue, 7, id, 1, node), MYR_OK);
    expect(queue, id, MYR_JOB_CLAIMS);
    assert_int_equal(myr_queue_stopped(queue, 8, id, 1, MYR_NONE), MYR_OK);
    (void)decide(queue, 8, NULL);
    expect(queue, id, MYR_JOB_STARTING);
    assert_true(myr_queue_closed(queue, node)); /* it is avoided for a while */
    assert_int_not_equal(myr_queue_gang(queue, id)->shares[0].node, node);
    assert_int_equal(myr_queue_gang(queue, id)->shares[1].node, kept);
    (void)decide(queue, 700, NULL);
    assert_false(myr_queue_closed(queue, node));
    myr_queue_free(queue);
}

/* The node is silent: its ranks may still write somewhere. */
static void a_strict_job_waits_for_the_fence(void **state)
{
    (void)state;
    struct myr_queue *queue = confirming(false);
    uint32_t id = running(queue, 0, (struct myr_queue_job){.gpus = 16}), count;
    uint32_t lost = myr_queue_gang(queue, id)->shares[0].node;
    uint32_t kept = myr_queue_gang(queue, id)->shares[1].node;
    assert_int_equal(myr_queue_lost(queue, 100, &lost, 1), MYR_OK);
    assert_int_equal(myr_queue_lost(queue, 100, &lost, 1), MYR_ESTALE);
    const struct myr_decision *decisions = decide(queue, 100, &count);
    assert_int_equal(count, 2);
    assert_int_equal(decisions[0].kind, MYR_DECIDE_STOP);
    assert_int_equal(decisions[1].kind, MYR_DECIDE_REPLACE);
    assert_int_equal(decisions[1].node, lost);
    expect(queue, id, MYR_JOB_CLAIMS);
    assert_int_equal(free_gpus(queue), 8); /* the node that stays is its own */
    assert_int_equal(myr_queue_stopped(queue, 110, id, 1, kept), MYR_OK);
    (void)decide(queue, 110, NULL);
    expect(queue, id, MYR_JOB_CLAIMS);
    assert_int_equal(myr_queue_fenced(queue, 120, lost), MYR_OK);
    (void)decide(queue, 120, NULL);
    expect(queue, id, MYR_JOB_STARTING);
    assert_int_equal(myr_queue_gang(queue, id)->shares[1].node, kept);
    assert_int_not_equal(myr_queue_gang(queue, id)->shares[0].node, lost);
    assert_int_equal(myr_queue_back(queue, 130, lost), MYR_OK);
    assert_int_equal(free_gpus(queue), 16);
    myr_queue_free(queue);
}

static void a_job_with_epochs_starts_again_at_once(void **state)
{
    (void)state;
    struct myr_queue *queue = confirming(false);
    uint32_t id = running(queue, 0, (struct myr_queue_job){.gpus = 16, .restart_epoch = true});
    uint32_t lost = myr_queue_gang(queue, id)->shares[1].node;
    assert_int_equal(myr_queue_lost(queue, 100, &lost, 1), MYR_OK);
    (void)decide(queue, 100, NULL);
    expect(queue, id, MYR_JOB_STARTING);
    assert_int_equal(myr_queue_started(queue, 101, id, 1), MYR_ESTALE);
    assert_int_equal(myr_queue_started(queue, 101, id, 2), MYR_OK);
    /* What may still run there keeps its GPUs, even when the node is back. */
    assert_int_equal(myr_queue_back(queue, 102, lost), MYR_OK);
    assert_int_equal(free_gpus(queue), 8);
    assert_int_equal(myr_queue_exited(queue, 103, id, 2, MYR_EXIT_OK), MYR_OK);
    expect(queue, id, MYR_JOB_DONE);
    assert_int_equal(free_gpus(queue), 24);
    assert_int_equal(myr_queue_stopped(queue, 104, id, 1, lost), MYR_OK);
    assert_int_equal(free_gpus(queue), 32);
    myr_queue_free(queue);
}

static void failures_are_counted_and_dependants_told(void **state)
{
    (void)state;
    struct myr_queue *queue = confirming(false);
    uint32_t id = running(queue, 0, (struct myr_queue_job){.gpus = 8, .attempts_max = 2});
    uint32_t well = submit(
        queue, 0, (struct myr_queue_job){.gpus = 8, .after_kind = MYR_AFTER_OK, .after = id});
    uint32_t any = submit(
        queue, 0, (struct myr_queue_job){.gpus = 8, .after_kind = MYR_AFTER_ANY, .after = id});
    (void)decide(queue, 0, NULL);
    expect(queue, any, MYR_JOB_BLOCKED);
    for (uint32_t epoch = 1; epoch <= 2; epoch++) {
        assert_int_equal(myr_queue_exited(queue, 10 * epoch, id, epoch, MYR_EXIT_FAILED), MYR_OK);
        expect(queue, id, MYR_JOB_STOPPING);
        assert_int_equal(myr_queue_stopped(queue, 10 * epoch, id, epoch, MYR_NONE), MYR_OK);
        (void)decide(queue, 10 * epoch, NULL);
    }
    struct myr_job_view view;
    assert_int_equal(myr_queue_view(queue, id, &view), MYR_OK);
    assert_int_equal(view.result, MYR_RESULT_FAILED);
    expect(queue, well, MYR_JOB_DONE);
    expect(queue, any, MYR_JOB_STARTING);
    (void)decide(queue, 20 + 3600, NULL); /* forgotten after the stated time */
    assert_int_equal(myr_queue_view(queue, id, &view), MYR_ENOENT);
    myr_queue_free(queue);
}

static void an_array_keeps_to_its_limit(void **state)
{
    (void)state;
    struct myr_queue *queue = confirming(false);
    uint32_t first;
    struct myr_queue_job job = {.gpus = 8};
    assert_int_equal(myr_queue_submit_array(queue, 0, &job, 5, 2, &first, NULL), MYR_OK);
    (void)decide(queue, 0, NULL);
    expect(queue, first + 1, MYR_JOB_STARTING);
    expect(queue, first + 2, MYR_JOB_BLOCKED);
    assert_int_equal(myr_queue_cancel(queue, 1, first + 2), MYR_OK); /* before its turn */
    assert_int_equal(myr_queue_exited(queue, 2, first, 1, MYR_EXIT_OK), MYR_OK);
    (void)decide(queue, 2, NULL);
    expect(queue, first + 3, MYR_JOB_STARTING);
    expect(queue, first + 4, MYR_JOB_BLOCKED);
    myr_queue_free(queue);
}

static void users_hold_release_resize_and_rank(void **state)
{
    (void)state;
    struct myr_queue *queue = confirming(false);
    uint32_t id = submit(queue, 0, (struct myr_queue_job){.gpus = 32});
    assert_int_equal(myr_queue_hold(queue, 0, id, true), MYR_OK);
    assert_int_equal(myr_queue_hold(queue, 0, id, true), MYR_ESTALE);
    (void)decide(queue, 10, NULL);
    expect(queue, id, MYR_JOB_HELD);
    assert_int_equal(myr_queue_hold(queue, 100, id, false), MYR_OK);
    assert_int_equal(myr_queue_waited_s(queue, 100, id), 0);
    assert_int_equal(myr_queue_reprioritise(queue, 100, id, 101), MYR_ERANGE);
    assert_int_equal(myr_queue_reprioritise(queue, 100, id, 7), MYR_OK);
    (void)decide(queue, 100, NULL);
    expect(queue, id, MYR_JOB_STARTING);
    assert_int_equal(myr_queue_resize(queue, 110, id, 16), MYR_OK);
    expect(queue, id, MYR_JOB_STOPPING);
    assert_int_equal(myr_queue_stopped(queue, 120, id, 1, MYR_NONE), MYR_OK);
    (void)decide(queue, 120, NULL);
    assert_int_equal(myr_queue_gang(queue, id)->count, 2);
    assert_int_equal(free_gpus(queue), 16);
    myr_queue_free(queue);
}

static void fewer_gpus_are_better_than_none(void **state)
{
    (void)state;
    struct myr_queue *queue = confirming(false);
    (void)running(queue, 0, (struct myr_queue_job){.gpus = 8});
    uint32_t id = submit(queue, 1, (struct myr_queue_job){.gpus = 32, .gpus_min = 16});
    (void)decide(queue, 1, NULL);
    expect(queue, id, MYR_JOB_STARTING);
    assert_int_equal(myr_queue_gang(queue, id)->count, 3);
    myr_queue_free(queue);
}

static void a_cluster_grows_and_tenants_come(void **state)
{
    (void)state;
    struct myr_queue *queue = confirming(false);
    uint32_t id = running(queue, 0, (struct myr_queue_job){.gpus = 32});
    struct myr_place_shape six = {6, 8, 2, 6}, fewer = {3, 8, 2, 3};
    assert_int_equal(myr_queue_grow(queue, 1, &fewer, NULL), MYR_ERANGE);
    assert_int_equal(myr_queue_grow(queue, 1, &six, NULL), MYR_OK);
    static const struct myr_tenant three[] = {
        {.parent = MYR_NONE, .weight = 9}, {.parent = MYR_NONE}, {.parent = MYR_NONE}};
    assert_int_equal(myr_queue_set_tenants(queue, 1, three, 1, NULL), MYR_EINVAL);
    assert_int_equal(myr_queue_set_tenants(queue, 1, three, 3, NULL), MYR_OK);
    uint32_t next = submit(queue, 1, (struct myr_queue_job){.tenant = 2, .gpus = 16});
    (void)decide(queue, 1, NULL);
    expect(queue, next, MYR_JOB_STARTING);
    assert_int_equal(myr_queue_gang(queue, next)->shares[0].node, 4);
    expect(queue, id, MYR_JOB_RUNS);
    myr_queue_free(queue);
}

static void a_cancelled_window_opens_its_nodes(void **state)
{
    (void)state;
    struct myr_queue *queue = confirming(false);
    struct myr_window window = {.count = 4, .start_s = 100, .end_s = 1000, .drain_s = 50};
    assert_int_equal(myr_queue_maintain(queue, &window, NULL), MYR_OK);
    uint32_t id = submit(queue, 60, (struct myr_queue_job){.gpus = 8});
    (void)decide(queue, 60, NULL);
    expect(queue, id, MYR_JOB_WAITS);
    assert_int_equal(myr_queue_cancel_window(queue, 70, 1), MYR_ENOENT);
    assert_int_equal(myr_queue_cancel_window(queue, 70, 0), MYR_OK);
    (void)decide(queue, 70, NULL);
    expect(queue, id, MYR_JOB_STARTING);
    assert_int_equal(myr_queue_cancel_window(queue, 80, 0), MYR_ESTALE);
    myr_queue_free(queue);
}

static void a_drained_node_takes_nothing_new(void **state)
{
    (void)state;
    struct myr_queue *queue = confirming(false);
    for (uint32_t node = 0; node < 3; node++) {
        assert_int_equal(myr_queue_drain(queue, 0, node, true), MYR_OK);
        assert_int_equal(myr_queue_drain(queue, 0, node, true), MYR_ESTALE);
    }
    uint32_t id = submit(queue, 0, (struct myr_queue_job){.gpus = 16});
    (void)decide(queue, 0, NULL);
    expect(queue, id, MYR_JOB_WAITS);
    assert_int_equal(myr_queue_drain(queue, 1, 2, false), MYR_OK);
    (void)decide(queue, 1, NULL);
    expect(queue, id, MYR_JOB_STARTING);
    myr_queue_free(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stop_gives_its_gpus_to_who_claimed_them),
        cmocka_unit_test(a_cancelled_claim_leaves_nothing_behind),
        cmocka_unit_test(a_failed_start_is_mended_and_the_good_node_stays),
        cmocka_unit_test(a_strict_job_waits_for_the_fence),
        cmocka_unit_test(a_job_with_epochs_starts_again_at_once),
        cmocka_unit_test(failures_are_counted_and_dependants_told),
        cmocka_unit_test(an_array_keeps_to_its_limit),
        cmocka_unit_test(users_hold_release_resize_and_rank),
        cmocka_unit_test(fewer_gpus_are_better_than_none),
        cmocka_unit_test(a_cluster_grows_and_tenants_come),
        cmocka_unit_test(a_cancelled_window_opens_its_nodes),
        cmocka_unit_test(a_drained_node_takes_nothing_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
