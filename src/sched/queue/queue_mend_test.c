#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "queue/queue_confirm_test.h"

/* Places of gangs that have lost nodes, step by step: four nodes of eight GPUs, two a group. */

static struct myr_queue *confirming(enum myr_queue_preset preset)
{
    struct myr_queue_policy policy = myr_queue_policy_preset(preset);
    policy.confirm = true;
    policy.mend_s = 600;
    return queue_with(&four, &policy, plain, 2);
}

/* The node is lost, and nothing of the job runs anywhere any more. */
static void lose(struct myr_queue *queue, int64_t now_s, uint32_t id, uint32_t node)
{
    struct myr_job_view view;
    assert_int_equal(myr_queue_view(queue, id, &view), MYR_OK);
    assert_int_equal(myr_queue_lost(queue, now_s, &node, 1), MYR_OK);
    (void)decide(queue, now_s, NULL);
    assert_int_equal(myr_queue_stopped(queue, now_s, id, view.epoch, MYR_NONE), MYR_OK);
    (void)decide(queue, now_s, NULL);
}

static void a_place_is_kept_until_its_node_is_back(void **state)
{
    (void)state;
    for (uint32_t preset = 0; preset < 4; preset++) {
        struct myr_queue *queue = confirming((enum myr_queue_preset)preset);
        uint32_t gang = running(queue, 0, (struct myr_queue_job){.gpus = 32});
        uint32_t small = submit(queue, 10, (struct myr_queue_job){.gpus = 8});
        lose(queue, 100, gang, 2);
        expect(queue, gang, MYR_JOB_CLAIMS);
        (void)decide(queue, 699, NULL);
        expect(queue, gang, MYR_JOB_CLAIMS);
        expect(queue, small, MYR_JOB_WAITS);
        assert_int_equal(myr_queue_wake_s(queue), 700);
        assert_int_equal(myr_queue_back(queue, 699, 2), MYR_OK);
        (void)decide(queue, 699, NULL);
        expect(queue, gang, MYR_JOB_STARTING);
        assert_int_equal(myr_queue_gang(queue, gang)->shares[2].node, 2);
        expect(queue, small, MYR_JOB_WAITS);
        myr_queue_free(queue);
    }
}

static void a_place_that_is_given_up_takes_guests_and_gets_rid_of_them(void **state)
{
    (void)state;
    static const enum myr_queue_preset presets[] = {MYR_QUEUE_FIRST_FIT, MYR_QUEUE_FAIR,
                                                    MYR_QUEUE_PREEMPT};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(presets); i++) {
        struct myr_queue *queue = confirming(presets[i]);
        uint32_t gang = running(queue, 0, (struct myr_queue_job){.gpus = 32}), count;
        uint32_t small = submit(queue, 10, (struct myr_queue_job){.gpus = 8});
        uint32_t fixed = submit(queue, 10, (struct myr_queue_job){.gpus = 8, .fixed = true});
        lose(queue, 100, gang, 2);
        (void)decide(queue, 700, NULL);
        expect(queue, gang, MYR_JOB_WAITS);
        expect(queue, small, MYR_JOB_STARTING);
        expect(queue, fixed, MYR_JOB_WAITS); /* it could not be stopped again */
        assert_int_equal(myr_queue_started(queue, 701, small, 1), MYR_OK);
        assert_int_equal(myr_queue_back(queue, 5000, 2), MYR_OK);
        const struct myr_decision *d = decide(queue, 5000, &count);
        assert_int_equal(count, 1);
        assert_true(d[0].kind == MYR_DECIDE_STOP && d[0].job == small && d[0].by == gang);
        assert_int_equal(d[0].reason, MYR_STOP_OWNER);
        assert_int_equal(myr_queue_stopped(queue, 5001, small, 1, MYR_NONE), MYR_OK);
        (void)decide(queue, 5001, NULL);
        expect(queue, gang, MYR_JOB_STARTING);
        expect(queue, small, MYR_JOB_WAITS);
        myr_queue_free(queue);
    }
}

static void a_second_loss_is_mended_as_the_first(void **state)
{
    (void)state;
    struct myr_queue *queue = confirming(MYR_QUEUE_FAIR);
    myr_queue_keep_spares(queue, 2);
    (void)decide(queue, 0, NULL);
    uint32_t gang = running(queue, 0, (struct myr_queue_job){.gpus = 16});
    uint32_t first = myr_queue_gang(queue, gang)->shares[0].node;
    uint32_t second = myr_queue_gang(queue, gang)->shares[1].node;
    assert_int_equal(myr_queue_lost(queue, 10, &first, 1), MYR_OK);
    (void)decide(queue, 10, NULL);
    assert_int_equal(myr_queue_lost(queue, 11, &second, 1), MYR_OK);
    (void)decide(queue, 11, NULL);
    expect(queue, gang, MYR_JOB_CLAIMS);
    assert_int_equal(myr_queue_stopped(queue, 12, gang, 1, MYR_NONE), MYR_OK);
    (void)decide(queue, 12, NULL);
    expect(queue, gang, MYR_JOB_STARTING);
    for (uint32_t i = 0; i < 2; i++) { /* which were both spares */
        uint32_t node = myr_queue_gang(queue, gang)->shares[i].node;
        assert_true(node != first && node != second && !myr_queue_closed(queue, node));
    }
    myr_queue_free(queue);
}

/* A claim from before a drain never starts on the drained node. */
static void a_claim_is_mended_when_its_node_is_drained(void **state)
{
    (void)state;
    struct myr_queue *queue = confirming(MYR_QUEUE_PREEMPT);
    uint32_t low = running(queue, 0, (struct myr_queue_job){.gpus = 24, .priority = -1});
    uint32_t high = submit(queue, 10, (struct myr_queue_job){.gpus = 24, .priority = 1});
    (void)decide(queue, 10, NULL);
    expect(queue, high, MYR_JOB_CLAIMS);
    assert_int_equal(myr_queue_drain(queue, 11, 0, true), MYR_OK);
    (void)decide(queue, 11, NULL);
    assert_int_equal(myr_queue_stopped(queue, 12, low, 1, MYR_NONE), MYR_OK);
    (void)decide(queue, 12, NULL);
    expect(queue, high, MYR_JOB_STARTING);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_not_equal(myr_queue_gang(queue, high)->shares[i].node, 0);
    }
    myr_queue_free(queue);
}

/* Spares are for those whom nothing else can serve. */
static void spares_serve_who_finds_no_room_without_them(void **state)
{
    (void)state;
    struct myr_queue *queue = confirming(MYR_QUEUE_FAIR);
    myr_queue_keep_spares(queue, 1);
    (void)decide(queue, 0, NULL);
    uint32_t half = running(queue, 0, (struct myr_queue_job){.gpus = 16});
    uint32_t other = submit(queue, 1, (struct myr_queue_job){.gpus = 16});
    uint32_t whole = submit(queue, 1, (struct myr_queue_job){.gpus = 32});
    (void)decide(queue, 1, NULL);
    expect(queue, other, MYR_JOB_WAITS); /* there is room for it when 'half' is over */
    assert_int_equal(myr_queue_cancel(queue, 2, other), MYR_OK);
    assert_int_equal(myr_queue_exited(queue, 3, half, 1, MYR_EXIT_OK), MYR_OK);
    (void)decide(queue, 3, NULL);
    expect(queue, whole, MYR_JOB_STARTING);
    myr_queue_free(queue);
}

static void a_job_that_runs_with_less_goes_on_without_its_lost_node(void **state)
{
    (void)state;
    for (uint32_t least = 16; least <= 32; least += 8) {
        struct myr_queue *queue = confirming(MYR_QUEUE_FAIR);
        uint32_t gang = running(queue, 0, (struct myr_queue_job){.gpus = 32, .gpus_min = least});
        lose(queue, 100, gang, 1);
        expect(queue, gang, least <= 24 ? MYR_JOB_STARTING : MYR_JOB_CLAIMS);
        const struct myr_gang *now = myr_queue_gang(queue, gang);
        assert_int_equal(now->count, least <= 24 ? 3 : 0);
        for (uint32_t i = 0; i < now->count; i++) {
            assert_int_not_equal(now->shares[i].node, 1);
        }
        myr_queue_free(queue);
    }
}

/* Who may stop others does not wait for repairs, and keeps its good nodes all the same. */
static void a_gang_of_higher_priority_makes_room_for_its_lost_node(void **state)
{
    (void)state;
    struct myr_queue *queue = confirming(MYR_QUEUE_PREEMPT);
    uint32_t gang = running(queue, 0, (struct myr_queue_job){.gpus = 24, .priority = 1});
    uint32_t low = running(queue, 0, (struct myr_queue_job){.gpus = 8});
    uint32_t lost = myr_queue_gang(queue, gang)->shares[0].node;
    uint32_t good = myr_queue_gang(queue, gang)->shares[1].node;
    lose(queue, 100, gang, lost);
    assert_int_equal(myr_queue_state(queue, low), MYR_JOB_STOPPING);
    assert_int_equal(myr_queue_stopped(queue, 101, low, 1, MYR_NONE), MYR_OK);
    (void)decide(queue, 101, NULL);
    expect(queue, gang, MYR_JOB_STARTING);
    expect(queue, low, MYR_JOB_WAITS);
    bool kept = false;
    for (uint32_t i = 0; i < 3; i++) {
        kept = kept || myr_queue_gang(queue, gang)->shares[i].node == good;
    }
    assert_true(kept);
    myr_queue_free(queue);
}

/*
 * A job that has waited for days searches for room once in hours. What came about meanwhile went to
 * whoever counted less and had just come.
 */
static void who_counts_more_is_served_before_who_finds_the_room(void **state)
{
    (void)state;
    for (uint32_t gpus = 8; gpus <= 16; gpus += 8) {
        struct myr_queue_policy policy = myr_queue_policy_preset(MYR_QUEUE_PREEMPT);
        policy.confirm = true;
        policy.mend_s = 1000000;
        policy.patience_s = 0; /* who has nodes held searches more often */
        struct myr_queue *queue = queue_with(&four, &policy, plain, 2);
        (void)running(queue, 0, (struct myr_queue_job){.gpus = 16, .priority = 9});
        uint32_t least = running(queue, 0, (struct myr_queue_job){.gpus = 16, .priority = -5});
        uint32_t node = myr_queue_gang(queue, least)->shares[0].node;
        lose(queue, 10, least, node);
        uint32_t high = submit(queue, 20, (struct myr_queue_job){.gpus = gpus, .priority = 5});
        for (int64_t now_s = 20; now_s <= 100000; now_s += 60) {
            (void)decide(queue, now_s, NULL);
        }
        /* Who mends is stopped by nobody; when it runs again the next search is an hour away. */
        assert_int_equal(myr_queue_back(queue, 100001, node), MYR_OK);
        (void)decide(queue, 100001, NULL);
        assert_int_equal(myr_queue_started(queue, 100002, least, 2), MYR_OK);
        (void)decide(queue, 100002, NULL);
        expect(queue, high, MYR_JOB_WAITS);
        uint32_t low = submit(queue, 100003, (struct myr_queue_job){.gpus = 16});
        (void)decide(queue, 100003, NULL);
        expect(queue, high, MYR_JOB_CLAIMS);
        expect(queue, low, MYR_JOB_WAITS);
        myr_queue_free(queue);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_place_is_kept_until_its_node_is_back),
        cmocka_unit_test(a_place_that_is_given_up_takes_guests_and_gets_rid_of_them),
        cmocka_unit_test(a_gang_of_higher_priority_makes_room_for_its_lost_node),
        cmocka_unit_test(a_second_loss_is_mended_as_the_first),
        cmocka_unit_test(a_claim_is_mended_when_its_node_is_drained),
        cmocka_unit_test(who_counts_more_is_served_before_who_finds_the_room),
        cmocka_unit_test(spares_serve_who_finds_no_room_without_them),
        cmocka_unit_test(a_job_that_runs_with_less_goes_on_without_its_lost_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
