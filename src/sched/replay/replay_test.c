#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "myriad/sched/replay.h"

static struct myr_replay_result play(const char *text, enum myr_order order)
{
    struct myr_joblog trace;
    struct myr_err err = {};
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
    struct myr_err err = {};
    snprintf(text, sizeof(text), "submit_s,duration_s,num_gpus\n0,14400,8\n%lld,600,8\n",
             (long long)second_s);
    assert_int_equal(myr_joblog_parse(&trace, "t.csv", myr_str_from(text), &err), MYR_OK);
    struct myr_replay_options options = myr_replay_default(&(struct myr_place_shape){1, 8, 1, 1});
    options.policy.preempt = true;
    options.policy.loss_permille = 100;
    options.policy.stop_after_s = 0;
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

static void the_longest_wait_of_a_stopped_job_is_told_apart_from_all_its_waits(void **state)
{
    (void)state;
    struct myr_replay_result result;
    preempt_at(7200, &result);
    struct myr_replay_wait wait = myr_replay_longest(&result, 0);
    assert_int_equal(wait.length_s, 600); /* the restart is no wait for GPUs */
    assert_int_equal(wait.end_s, 7800);
    myr_replay_result_done(&result);
}

static void jobs_that_were_not_stopped_waited_in_one_piece(void **state)
{
    (void)state;
    struct myr_joblog trace;
    struct myr_err err = {};
    struct myr_replay_result result;
    const char *text = "submit_s,duration_s,num_gpus\n10,50,16\n20,5,16\n";
    assert_int_equal(myr_joblog_parse(&trace, "t.csv", myr_str_from(text), &err), MYR_OK);
    struct myr_replay_options options = myr_replay_default(&(struct myr_place_shape){2, 8, 2, 2});
    assert_int_equal(myr_replay(&trace, &options, &result, &err), MYR_OK);
    struct myr_replay_wait wait = myr_replay_longest(&result, 1);
    assert_int_equal(wait.length_s, 40);
    assert_int_equal(wait.end_s, 50); /* from the first submission on */
    assert_int_equal(result.submitted[1].line, 3);
    myr_replay_result_done(&result);
    myr_joblog_done(&trace);
}

static void jitter_moves_submissions_and_leaves_the_trace_alone(void **state)
{
    (void)state;
    struct myr_joblog trace;
    struct myr_err err = {};
    struct myr_replay_result result;
    const char *text = "submit_s,duration_s,num_gpus\n0,5,1\n1,5,2\n2,5,4\n3,5,8\n";
    assert_int_equal(myr_joblog_parse(&trace, "t.csv", myr_str_from(text), &err), MYR_OK);
    struct myr_replay_options options = myr_replay_default(&(struct myr_place_shape){2, 8, 2, 2});
    options.jitter_s = 100;
    options.seed = 3;
    assert_int_equal(myr_replay(&trace, &options, &result, &err), MYR_OK);
    uint32_t lines = 0, moved = 0;
    for (uint32_t i = 0; i < 4; i++) {
        const struct myr_job_row *row = &result.submitted[i];
        assert_true(i == 0 || result.submitted[i - 1].submit_s <= row->submit_s);
        assert_int_equal(row->gpus, 1U << (row->line - 2));
        assert_true(row->submit_s >= (int64_t)row->line - 102 && row->submit_s <= row->line + 98);
        lines |= 1U << row->line;
        moved += row->submit_s != (int64_t)row->line - 2;
        assert_int_equal(trace.jobs.items[i].submit_s, i);
    }
    assert_int_equal(lines, 0x3c);
    assert_true(moved > 1);
    myr_replay_result_done(&result);
    myr_joblog_done(&trace);
}

static void a_job_larger_than_the_cluster_is_told_by_its_line(void **state)
{
    (void)state;
    struct myr_joblog trace;
    struct myr_err err = {};
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
        cmocka_unit_test(the_longest_wait_of_a_stopped_job_is_told_apart_from_all_its_waits),
        cmocka_unit_test(jobs_that_were_not_stopped_waited_in_one_piece),
        cmocka_unit_test(jitter_moves_submissions_and_leaves_the_trace_alone),
        cmocka_unit_test(a_job_larger_than_the_cluster_is_told_by_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
