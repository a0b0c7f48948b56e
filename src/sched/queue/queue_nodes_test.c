#include "queue/queue_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "myriad/sched/events.h"
#include "myriad/sched/spares.h"

static void services_lend_what_they_do_not_need_and_get_it_back(void **state)
{
    (void)state;
    struct myr_queue_policy policy = policy_of(false);
    struct myr_queue *queue = queue_with(&four, &policy, plain, 2);
    struct myr_service spec = {
        .tenant = 0, .gpus = 8, .replicas_min = 1, .replicas_max = 4, .priority = 10};
    struct myr_err err = {};
    uint32_t service, count;
    assert_int_equal(myr_queue_serve(queue, 0, &spec, &service, &err), MYR_OK);
    decide(queue, 0, NULL);
    assert_int_equal(myr_queue_serving(queue, service), 1);
    uint32_t training = submit(queue, 10, (struct myr_queue_job){.tenant = 1, .gpus = 24});
    decide(queue, 10, NULL);
    assert_true(runs(queue, training));
    assert_int_equal(myr_queue_scale(queue, 20, service, 3), MYR_OK);
    decide(queue, 20, NULL);
    assert_int_equal(myr_queue_serving(queue, service), 3);
    assert_false(runs(queue, training));
    assert_int_equal(myr_queue_scale(queue, 30, service, 0), MYR_OK); /* never below the least */
    const struct myr_decision *d = decide(queue, 30, &count);
    assert_int_equal(d[0].reason, MYR_STOP_SERVICE);
    assert_int_equal(myr_queue_serving(queue, service), 1);
    assert_true(runs(queue, training));
    spec.replicas_max = 5;
    assert_true(myr_queue_serve(queue, 40, &spec, &service, &err) < 0);
    myr_queue_free(queue);
}

static void a_replica_that_ends_is_replaced_until_the_service_is_over(void **state)
{
    (void)state;
    struct myr_queue_policy policy = policy_of(false);
    struct myr_queue *queue = queue_with(&four, &policy, plain, 2);
    struct myr_service spec = {.gpus = 8, .replicas_min = 2, .replicas_max = 4, .priority = 10};
    struct myr_err err = {};
    uint32_t service, count;
    assert_int_equal(myr_queue_serve(queue, 0, &spec, &service, &err), MYR_OK);
    const struct myr_decision *d = decide(queue, 0, &count);
    assert_int_equal(count, 2);
    finish(queue, 10, d[0].job);
    d = decide(queue, 10, &count);
    assert_true(count == 1 && d[0].kind == MYR_DECIDE_START);
    assert_int_equal(myr_queue_serving(queue, service), 2);
    assert_int_equal(myr_queue_unserve(queue, 20, service), MYR_OK);
    d = decide(queue, 20, &count);
    assert_true(count == 2 && d[0].reason == MYR_STOP_SERVICE && d[1].reason == MYR_STOP_SERVICE);
    assert_int_equal(myr_queue_serving(queue, service), 0);
    assert_int_equal(myr_queue_waiting(queue), 0);
    myr_queue_free(queue);
}

static void a_spare_takes_the_place_of_a_lost_node(void **state)
{
    (void)state;
    struct myr_queue_policy policy = policy_of(false);
    struct myr_queue *queue = queue_with(&four, &policy, plain, 2);
    myr_queue_keep_spares(queue, 1);
    uint32_t too_large = submit(queue, 0, (struct myr_queue_job){.gpus = 32});
    uint32_t gang = submit(queue, 0, (struct myr_queue_job){.tenant = 1, .gpus = 24});
    decide(queue, 0, NULL);
    assert_true(runs(queue, gang) && !runs(queue, too_large));
    uint32_t lost = myr_queue_gang(queue, gang)->shares[0].node, count;
    set_node(queue, 100, lost, false);
    const struct myr_decision *d = decide(queue, 100, &count);
    assert_int_equal(count, 1);
    assert_int_equal(d[0].kind, MYR_DECIDE_REPLACE);
    assert_int_equal(d[0].node, lost);
    assert_true(runs(queue, gang));
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(myr_queue_gang(queue, gang)->shares[i].node != lost);
    }
    /* No spare is left: the next failure stops it. */
    set_node(queue, 200, myr_queue_gang(queue, gang)->shares[1].node, false);
    d = decide(queue, 200, &count);
    assert_int_equal(d[0].kind, MYR_DECIDE_STOP);
    assert_int_equal(d[0].reason, MYR_STOP_NODE);
    myr_queue_free(queue);
}

static void maintenance_empties_its_nodes_in_time(void **state)
{
    (void)state;
    struct myr_queue_policy policy = policy_of(false);
    struct myr_queue *queue = queue_with(&four, &policy, plain, 2);
    struct myr_window window = {
        .first = 0, .count = 2, .start_s = 10000, .end_s = 20000, .drain_s = 5000};
    struct myr_err err = {};
    uint32_t count;
    assert_int_equal(myr_queue_maintain(queue, &window, &err), MYR_OK);
    uint32_t before = submit(queue, 0, (struct myr_queue_job){.gpus = 32});
    decide(queue, 0, NULL);
    assert_true(runs(queue, before));
    assert_int_equal(myr_queue_wake_s(queue), 5000);
    const struct myr_decision *d = decide(queue, 10000, &count);
    assert_int_equal(count, 1);
    assert_int_equal(d[0].reason, MYR_STOP_MAINTENANCE);
    uint32_t other = submit(queue, 10001, (struct myr_queue_job){.gpus = 16});
    decide(queue, 10001, NULL);
    assert_true(runs(queue, other) && myr_queue_gang(queue, other)->shares[0].node >= 2);
    finish(queue, 11000, other);
    decide(queue, 20000, NULL);
    assert_true(runs(queue, before));
    window.count = 5;
    assert_true(myr_queue_maintain(queue, &window, &err) < 0);
    myr_queue_free(queue);
}

static void only_jobs_that_end_in_time_start_before_maintenance(void **state)
{
    (void)state;
    struct myr_queue_policy policy = policy_of(false);
    struct myr_queue *queue = queue_with(&four, &policy, plain, 2);
    struct myr_window window = {
        .first = 0, .count = 4, .start_s = 10000, .end_s = 20000, .drain_s = 5000};
    struct myr_err err = {};
    assert_int_equal(myr_queue_maintain(queue, &window, &err), MYR_OK);
    decide(queue, 5000, NULL);
    uint32_t open = submit(queue, 6000, (struct myr_queue_job){.gpus = 1});
    uint32_t long_one = submit(queue, 6000, (struct myr_queue_job){.gpus = 1, .limit_s = 5000});
    uint32_t short_one = submit(queue, 6000, (struct myr_queue_job){.gpus = 1, .limit_s = 3000});
    decide(queue, 6000, NULL);
    assert_true(runs(queue, short_one));
    assert_false(runs(queue, open) || runs(queue, long_one));
    myr_queue_free(queue);
}

/* Two windows close the same nodes; when the earlier one is cancelled only the later one counts. */
static void a_cancelled_window_ends_no_time_to_run(void **state)
{
    (void)state;
    struct myr_queue_policy policy = policy_of(false);
    struct myr_queue *queue = queue_with(&four, &policy, plain, 2);
    struct myr_window early = {.count = 4, .start_s = 7000, .end_s = 9000, .drain_s = 2000};
    struct myr_window late = {.count = 4, .start_s = 10000, .end_s = 20000, .drain_s = 5000};
    struct myr_err err = {};
    assert_int_equal(myr_queue_maintain(queue, &early, &err), MYR_OK);
    assert_int_equal(myr_queue_maintain(queue, &late, &err), MYR_OK);
    decide(queue, 5000, NULL);
    uint32_t id = submit(queue, 6000, (struct myr_queue_job){.gpus = 1, .limit_s = 3000});
    uint32_t long_one = submit(queue, 6000, (struct myr_queue_job){.gpus = 1, .limit_s = 5000});
    decide(queue, 6000, NULL);
    assert_false(runs(queue, id) || runs(queue, long_one));
    assert_int_equal(myr_queue_cancel_window(queue, 6100, 0), MYR_OK);
    decide(queue, 6100, NULL);
    assert_true(runs(queue, id));
    assert_false(runs(queue, long_one));
    myr_queue_free(queue);
}

static void spares_follow_the_failures_that_are_away_at_once(void **state)
{
    (void)state;
    /* Poisson with mean 2: P(<= 5) = 0.9834, P(<= 6) = 0.9955. */
    assert_int_equal(myr_poisson_quantile(2, 990), 6);
    assert_int_equal(myr_poisson_quantile(2, 983), 5);
    assert_int_equal(myr_poisson_quantile(0, 999), 0);
    assert_int_equal(myr_poisson_quantile(0.01, 990), 0);
    /* Near the normal law: mean 1000, 99 % at 1000 + 2.326 x 31.6. */
    uint32_t far = myr_poisson_quantile(1000, 990);
    assert_true(far >= 1073 && far <= 1076);
    /* 12,500 nodes, 6.5 failures in 1,000 node-days, a day of repair: 81 are away on average. */
    struct myr_failure_rate rate = {6.5, 24};
    uint32_t spares = myr_spares_for(12500, &rate, 990);
    assert_true(spares >= 101 && spares <= 105);
    assert_int_equal(myr_spares_for(0, &rate, 990), 0);
}

static void a_job_that_was_stopped_is_looked_at_again_when_it_becomes_overdue(void **state)
{
    (void)state;
    struct myr_place_shape one = {1, 8, 1, 1};
    struct myr_queue_policy policy = policy_of(false);
    struct myr_queue *queue = queue_with(&one, &policy, plain, 2);
    uint32_t job = submit(queue, 0, (struct myr_queue_job){.gpus = 8});
    decide(queue, 0, NULL);
    assert_true(runs(queue, job));
    assert_true(myr_queue_wake_s(queue) == INT64_MAX); /* nobody waits */
    set_node(queue, 100, 0, false);
    decide(queue, 100, NULL);
    assert_false(runs(queue, job));
    assert_int_equal(myr_queue_wake_s(queue), 100 + policy.patience_s);
    myr_queue_free(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(services_lend_what_they_do_not_need_and_get_it_back),
        cmocka_unit_test(a_replica_that_ends_is_replaced_until_the_service_is_over),
        cmocka_unit_test(a_spare_takes_the_place_of_a_lost_node),
        cmocka_unit_test(maintenance_empties_its_nodes_in_time),
        cmocka_unit_test(only_jobs_that_end_in_time_start_before_maintenance),
        cmocka_unit_test(a_cancelled_window_ends_no_time_to_run),
        cmocka_unit_test(spares_follow_the_failures_that_are_away_at_once),
        cmocka_unit_test(a_job_that_was_stopped_is_looked_at_again_when_it_becomes_overdue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
