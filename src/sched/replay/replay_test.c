#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "myriad/sched/replay.h"

static struct myr_replay_result play(const char *text, enum myr_order order)
{
    struct myr_joblog trace;
    struct myr_err err = {0};
    struct myr_replay_result result;
    assert_int_equal(myr_joblog_parse(&trace, "t.csv", myr_str_from(text), &err), MYR_OK);
    struct myr_replay_options options = myr_replay_default(&(struct myr_place_shape){2, 8, 2, 2});
    options.policy.order = order;
    assert_int_equal(myr_replay(&trace, &options, &result, &err), MYR_OK);
    myr_replay_result_done(&result);
    myr_joblog_done(&trace);
    return result;
}

static void first_come_blocks_and_skipping_does_not(void **state)
{
    (void)state;
    /* One node busy for an hour; a gang of two waits for it, a small job could run beside. */
    const char *text = "submit_s,duration_s,num_gpus,vc\n0,3600,8,a\n10,60,16,a\n20,60,4,b\n";
    struct myr_replay_result fifo = play(text, MYR_ORDER_FIFO);
    struct myr_replay_result skip = play(text, MYR_ORDER_SKIP);
    assert_true(fifo.wait_max_h > 1.0); /* behind the gang */
    assert_true(skip.wait_mean_h < fifo.wait_mean_h);
    assert_int_equal(skip.jobs, 3);
    assert_int_equal(skip.multinode_jobs, 1);
}

/* One node; a job of ten minutes comes while one of four hours runs. */
static void preempt_at(int64_t second_s, struct myr_replay_result *ret)
{
    char text[128];
    struct myr_joblog trace;
    struct myr_err err = {0};
    snprintf(text, sizeof(text), "submit_s,duration_s,num_gpus\n0,14400,8\n%lld,600,8\n",
             (long long)second_s);
    assert_int_equal(myr_joblog_parse(&trace, "t.csv", myr_str_from(text), &err), MYR_OK);
    struct myr_replay_options options = myr_replay_default(&(struct myr_place_shape){1, 8, 1, 1});
    options.policy.preempt = true;
    options.policy.loss_permille = 100;
    assert_int_equal(myr_replay(&trace, &options, ret, &err), MYR_OK);
    myr_joblog_done(&trace);
}

static void preemption_costs_the_restart_and_the_work_since_the_checkpoint(void **state)
{
    (void)state;
    struct myr_replay_result result;
    preempt_at(7200, &result); /* just when the fourth checkpoint is written */
    assert_int_equal(result.preemptions, 1);
    assert_int_equal(result.job_rows.items[0].wait_s, 600 + 120);
    assert_int_equal(result.job_rows.items[0].end_s, 14400 + 600 + 120);
    assert_int_equal(result.job_rows.items[1].wait_s, 0);
    assert_true(result.lost_gpu_hours_percent > 0.79 && result.lost_gpu_hours_percent < 0.81);
    myr_replay_result_done(&result);
    preempt_at(7500, &result); /* five minutes later: they are done again */
    assert_int_equal(result.preemptions, 1);
    assert_int_equal(result.job_rows.items[0].wait_s, 600 + 120);
    assert_int_equal(result.job_rows.items[0].end_s, 14400 + 600 + 120 + 300);
    assert_true(result.lost_gpu_hours_percent > 2.79 && result.lost_gpu_hours_percent < 2.81);
    myr_replay_result_done(&result);
}

static void a_job_larger_than_the_cluster_is_told_by_its_line(void **state)
{
    (void)state;
    struct myr_joblog trace;
    struct myr_err err = {0};
    struct myr_replay_result result;
    const char *text = "submit_s,duration_s,num_gpus\n9,1,1\n5,1,17\n";
    assert_int_equal(myr_joblog_parse(&trace, "t.csv", myr_str_from(text), &err), MYR_OK);
    struct myr_replay_options options = myr_replay_default(&(struct myr_place_shape){2, 8, 2, 2});
    assert_true(myr_replay(&trace, &options, &result, &err) < 0);
    assert_string_equal(err.message, "t.csv:3:1: the job needs 17 GPUs, the cluster has 16");
    myr_joblog_done(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_come_blocks_and_skipping_does_not),
        cmocka_unit_test(preemption_costs_the_restart_and_the_work_since_the_checkpoint),
        cmocka_unit_test(a_job_larger_than_the_cluster_is_told_by_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
