#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_come_blocks_and_skipping_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
