/* Nodes that a scheduler below this one has for others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "control_fixture.h"

static void hold(struct fixture *f, uint32_t node, enum myr_hold code)
{
    tell(f, (struct myr_event){.kind = MYR_EVENT_HOLD, .node = node, .code = (uint8_t)code});
}

static struct myr_control_rank rank_of(const struct fixture *f, uint32_t job)
{
    struct myr_control_rank rank = {.node = MYR_NONE};
    assert_int_equal(myr_control_job_ranks(f->control, job, &rank, 1), 1);
    return rank;
}

/* What runs there runs on; nothing new comes; released, it is used again. */
static void a_held_node_gets_nothing_new(void **state)
{
    (void)state;
    struct fixture f = fixture_of(2);
    uint32_t job = submit(&f, 8, MYR_RESTART_STRICT);
    struct myr_control_rank rank = rank_of(&f, job);
    say(&f, MYR_EVENT_STARTED, rank.node, job, 1, 0);
    hold(&f, rank.node, MYR_HOLD_NEW);
    assert_int_equal(myr_control_node(f.control, rank.node).state, MYR_NODE_DRAINING);
    assert_int_equal(myr_control_job(f.control, job).state, MYR_CONTROL_RUNNING);
    say(&f, MYR_EVENT_EXIT, rank.node, job, 1, 0);
    assert_int_equal(myr_control_node(f.control, rank.node).state, MYR_NODE_DRAINED);
    uint32_t second = submit(&f, 8, MYR_RESTART_STRICT), third = submit(&f, 8, MYR_RESTART_STRICT);
    wait_ms(&f, 2000);
    assert_int_not_equal(rank_of(&f, second).node, rank.node);
    assert_int_equal(myr_control_job(f.control, third).state, MYR_CONTROL_QUEUED);
    hold(&f, rank.node, MYR_HOLD_NONE);
    wait_ms(&f, 2000);
    assert_int_equal(rank_of(&f, third).node, rank.node);
    assert_int_equal(myr_control_refusals(f.control), 0);
    myr_control_free(f.control);
}

/* A gang that finds its node taken gets another one, and no failure is counted. */
static void a_gang_that_is_crowded_out_moves(void **state)
{
    (void)state;
    struct fixture f = fixture_of(3);
    uint32_t job = submit(&f, 16, MYR_RESTART_STRICT);
    struct myr_control_rank ranks[2];
    assert_int_equal(myr_control_job_ranks(f.control, job, ranks, 2), 2);
    uint32_t taken = ranks[1].node;
    hold(&f, taken, MYR_HOLD_ALL);
    for (int i = 0; i < 2; i++) { /* nothing of it runs: whoever starts gangs says so */
        say(&f, MYR_EVENT_STOPPED, ranks[i].node, job, 1, 0);
    }
    wait_ms(&f, 2000);
    assert_int_equal(myr_control_job(f.control, job).state, MYR_CONTROL_STARTING);
    assert_int_equal(myr_control_job(f.control, job).epoch, 2);
    assert_int_equal(myr_control_job(f.control, job).failures, 0);
    assert_int_equal(myr_control_job_ranks(f.control, job, ranks, 2), 2);
    assert_true(ranks[0].node != taken && ranks[1].node != taken);
    assert_int_equal(myr_control_refusals(f.control), 0);
    myr_control_free(f.control);
}

/* A person's drain and a hold do not undo each other, and both outlast a snapshot. */
static void holds_and_drains_are_apart(void **state)
{
    (void)state;
    struct fixture f = fixture_of(2);
    struct myr_buf bytes = {};
    struct myr_control *again = NULL;
    struct myr_err err = {};
    hold(&f, 1, MYR_HOLD_NEW);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_DRAIN, .node = 1});
    hold(&f, 1, MYR_HOLD_NONE);
    assert_int_equal(myr_control_node(f.control, 1).state, MYR_NODE_DRAINED);
    hold(&f, 1, MYR_HOLD_ALL);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_UNDRAIN, .node = 1});
    assert_int_equal(myr_control_node(f.control, 1).state, MYR_NODE_DRAINED);
    myr_control_save(f.control, &bytes);
    assert_int_equal(myr_control_load((struct myr_str){bytes.data, bytes.len}, &again, &err), 0);
    assert_int_equal(myr_control_hash(again), myr_control_hash(f.control));
    myr_control_free(f.control);
    f.control = again;
    hold(&f, 1, MYR_HOLD_NONE);
    assert_int_equal(myr_control_node(f.control, 1).state, MYR_NODE_HEALTHY);
    assert_int_equal(myr_control_free_gpus(f.control), 16);
    myr_buf_done(&bytes);
    myr_control_free(f.control);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_held_node_gets_nothing_new),
        cmocka_unit_test(a_gang_that_is_crowded_out_moves),
        cmocka_unit_test(holds_and_drains_are_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
