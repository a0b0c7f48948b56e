/* What people ask for: jobs that wait for others, cancels, nodes brought back; and gangs that are
 * not whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "control_fixture.h"

static uint32_t submit_after(struct fixture *f, uint32_t after)
{
    uint64_t token = myr_control_jobs(f->control) + 500;
    tell(f, (struct myr_event){
                .kind = MYR_EVENT_SUBMIT,
                .spec = {.token = token, .gpus = 8, .lease_s = 600, .after = after + 1}});
    return myr_control_find(f->control, token);
}

/* A chain: each starts when the one before is done, and none when it failed. */
static void jobs_wait_for_others(void **state)
{
    (void)state;
    struct fixture f = fixture_of(4);
    uint32_t first = submit(&f, 8, MYR_RESTART_STRICT);
    uint32_t second = submit_after(&f, first), third = submit_after(&f, second);
    assert_int_equal(submit_after(&f, 77), MYR_NONE); /* for nobody */
    wait_ms(&f, 2000);
    assert_int_equal(myr_control_job(f.control, second).state, MYR_CONTROL_QUEUED);
    struct myr_control_rank rank;
    assert_int_equal(myr_control_job_ranks(f.control, first, &rank, 1), 1);
    say(&f, MYR_EVENT_STARTED, rank.node, first, 1, 0);
    say(&f, MYR_EVENT_EXIT, rank.node, first, 1, 0);
    wait_ms(&f, 2000);
    assert_int_equal(myr_control_job(f.control, first).state, MYR_CONTROL_DONE);
    assert_int_equal(myr_control_job(f.control, second).state, MYR_CONTROL_STARTING);
    assert_int_equal(myr_control_job(f.control, third).state, MYR_CONTROL_QUEUED);
    /* One that is done already holds nobody up. */
    uint32_t late = submit_after(&f, first);
    wait_ms(&f, 2000);
    assert_int_equal(myr_control_job(f.control, late).state, MYR_CONTROL_STARTING);
    uint32_t fourth = submit_after(&f, third);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_CANCEL, .job = second});
    assert_int_equal(myr_control_job_ranks(f.control, second, &rank, 1), 1);
    say(&f, MYR_EVENT_STOPPED, rank.node, second, 1, 0);
    wait_ms(&f, 2000);
    assert_int_equal(myr_control_job(f.control, second).state, MYR_CONTROL_CANCELLED);
    assert_int_equal(myr_control_job(f.control, third).state, MYR_CONTROL_CANCELLED);
    assert_int_equal(myr_control_job(f.control, fourth).state, MYR_CONTROL_CANCELLED);
    assert_int_equal(submit_after(&f, third), MYR_NONE); /* which will never be done */
    assert_int_equal(myr_control_refusals(f.control), 0);
    /* It all survives being saved. */
    struct myr_buf bytes = {};
    struct myr_control *again = NULL;
    struct myr_err err = {};
    myr_control_save(f.control, &bytes);
    assert_int_equal(myr_control_load((struct myr_str){bytes.data, bytes.len}, &again, &err), 0);
    assert_int_equal(myr_control_job(again, fourth).spec.after, third + 1);
    myr_control_free(again);
    myr_buf_done(&bytes);
    myr_control_free(f.control);
}

/* One node was quick and is done, the other has not started: the job is not done. */
static void a_gang_that_was_never_whole_is_not_done(void **state)
{
    (void)state;
    struct fixture f = fixture_of(2);
    uint32_t job = submit(&f, 16, MYR_RESTART_STRICT);
    struct myr_control_rank ranks[2];
    assert_int_equal(myr_control_job_ranks(f.control, job, ranks, 2), 2);
    say(&f, MYR_EVENT_STARTED, ranks[0].node, job, 1, 0);
    say(&f, MYR_EVENT_EXIT, ranks[0].node, job, 1, 0);
    assert_int_equal(myr_control_job(f.control, job).state, MYR_CONTROL_STARTING);
    wait_ms(&f, myr_control_policy_default().retry_ms + 1000);
    assert_int_equal(myr_control_job(f.control, job).state, MYR_CONTROL_STARTING);
    say(&f, MYR_EVENT_STARTED, ranks[1].node, job, 1, MYR_START_NODE);
    wait_ms(&f, 1000);
    assert_true(myr_control_job(f.control, job).state < MYR_CONTROL_DONE);
    myr_control_free(f.control);
    /* The last one comes after all, and it ends well. */
    f = fixture_of(2);
    job = submit(&f, 16, MYR_RESTART_STRICT);
    assert_int_equal(myr_control_job_ranks(f.control, job, ranks, 2), 2);
    say(&f, MYR_EVENT_STARTED, ranks[0].node, job, 1, 0);
    say(&f, MYR_EVENT_EXIT, ranks[0].node, job, 1, 0);
    say(&f, MYR_EVENT_STARTED, ranks[1].node, job, 1, 0);
    assert_int_equal(myr_control_job(f.control, job).state, MYR_CONTROL_FINISHING);
    say(&f, MYR_EVENT_EXIT, ranks[1].node, job, 1, 0);
    assert_int_equal(myr_control_job(f.control, job).state, MYR_CONTROL_DONE);
    assert_int_equal(myr_control_refusals(f.control), 0);
    myr_control_free(f.control);
}

/* Ranks that ended before anybody said that they were up: the others do not wait for them. */
static void quick_ranks_hold_nobody_up(void **state)
{
    (void)state;
    struct fixture f = fixture_of(2);
    uint32_t job = submit(&f, 16, MYR_RESTART_STRICT);
    struct myr_control_rank ranks[2];
    assert_int_equal(myr_control_job_ranks(f.control, job, ranks, 2), 2);
    say(&f, MYR_EVENT_STARTED, ranks[0].node, job, 1, 0);
    assert_int_equal(myr_control_job(f.control, job).state, MYR_CONTROL_STARTING);
    say(&f, MYR_EVENT_EXIT, ranks[1].node, job, 1, 0);
    assert_int_equal(myr_control_job(f.control, job).state, MYR_CONTROL_FINISHING);
    wait_ms(&f, myr_control_policy_default().start_window_ms + 1000);
    assert_int_equal(myr_control_job(f.control, job).state, MYR_CONTROL_FINISHING);
    assert_int_equal(myr_control_job(f.control, job).epoch, 1);
    say(&f, MYR_EVENT_EXIT, ranks[0].node, job, 1, 0);
    assert_int_equal(myr_control_job(f.control, job).state, MYR_CONTROL_DONE);
    assert_int_equal(myr_control_refusals(f.control), 0);
    myr_control_free(f.control);
}

/* A node that was given away comes back by a person's word and a good test. */
static void a_person_brings_a_node_back(void **state)
{
    (void)state;
    struct fixture f = fixture_of(30);
    tell(&f, (struct myr_event){
                 .kind = MYR_EVENT_SYMPTOM, .node = 3, .boot = 1, .code = MYR_SYMPTOM_FAILED});
    assert_int_equal(myr_control_node(f.control, 3).state, MYR_NODE_REPAIR);
    assert_int_equal(myr_control_free_gpus(f.control), 29 * 8);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_UNDRAIN, .node = 3});
    assert_int_equal(count_effects(&f, MYR_EFFECT_TEST), 1);
    assert_int_equal(myr_control_node(f.control, 3).state, MYR_NODE_CHECKING);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_TESTED, .node = 3, .boot = 1, .epoch = 2});
    assert_int_equal(myr_control_node(f.control, 3).state, MYR_NODE_HEALTHY);
    assert_int_equal(myr_control_free_gpus(f.control), 30 * 8);
    assert_int_equal(myr_control_refusals(f.control), 0);
    myr_control_free(f.control);
}

/* Who is cancelled is given time to save. */
static void cancelled_ranks_have_a_grace(void **state)
{
    (void)state;
    struct fixture f = fixture_of(2);
    uint32_t job = submit(&f, 8, MYR_RESTART_STRICT), count;
    tell(&f, (struct myr_event){.kind = MYR_EVENT_CANCEL, .job = job});
    const struct myr_effect *effects = myr_control_effects(f.control, &count);
    bool seen = false;
    for (uint32_t i = 0; i < count; i++) {
        if (effects[i].kind == MYR_EFFECT_STOP) {
            assert_int_equal(effects[i].grace_s, myr_control_policy_default().grace_s);
            seen = true;
        }
    }
    assert_true(seen);
    myr_control_free(f.control);
}

static uint32_t grace_of_the_stop(const struct fixture *f)
{
    uint32_t count;
    const struct myr_effect *effects = myr_control_effects(f->control, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (effects[i].kind == MYR_EFFECT_STOP) {
            return effects[i].grace_s;
        }
    }
    return UINT32_MAX;
}

/* A node that will fail is emptied while it still works: its job saves, moves, and has not failed.
 */
static void a_job_saves_before_its_node_fails(void **state)
{
    (void)state;
    static const struct {
        enum myr_symptom symptom;
        enum myr_control_job_state during;
        uint32_t failures, grace_s;
    } cases[] = {
        {MYR_SYMPTOM_FAILING, MYR_CONTROL_SAVING, 0, 60},
        {MYR_SYMPTOM_FAILED, MYR_CONTROL_RECOVERING, 1, 0},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct fixture f = fixture_of(30);
        uint32_t job = submit(&f, 8, MYR_RESTART_STRICT);
        struct myr_control_rank rank;
        assert_int_equal(myr_control_job_ranks(f.control, job, &rank, 1), 1);
        uint32_t node = rank.node;
        say(&f, MYR_EVENT_STARTED, node, job, 1, 0);
        assert_int_equal(myr_control_job(f.control, job).state, MYR_CONTROL_RUNNING);
        say(&f, MYR_EVENT_SYMPTOM, node, 0, 0, (uint8_t)cases[i].symptom);
        assert_int_equal(grace_of_the_stop(&f), cases[i].grace_s);
        assert_int_equal(myr_control_job(f.control, job).state, cases[i].during);
        assert_int_equal(myr_control_job(f.control, job).failures, cases[i].failures);
        say(&f, MYR_EVENT_STOPPED, node, job, 1, 0);
        wait_ms(&f, 5000);
        assert_int_equal(myr_control_job(f.control, job).state, MYR_CONTROL_STARTING);
        assert_int_equal(myr_control_job_ranks(f.control, job, &rank, 1), 1);
        assert_int_not_equal(rank.node, node);
        assert_int_equal(myr_control_node(f.control, node).state, MYR_NODE_REPAIR);
        assert_int_equal(myr_control_refusals(f.control), 0);
        myr_control_free(f.control);
    }
}

static struct myr_control_job service_on(struct fixture *f, uint32_t *ret_job, uint32_t retries)
{
    tell(f,
         (struct myr_event){
             .kind = MYR_EVENT_SUBMIT,
             .spec = {.token = 77, .gpus = 8, .retries = retries, .lease_s = 600, .service = 1}});
    *ret_job = myr_control_find(f->control, 77);
    return myr_control_job(f->control, *ret_job);
}

static void start_again(struct fixture *f, uint32_t job)
{
    struct myr_control_rank rank;
    wait_ms(f, 2000);
    assert_int_equal(myr_control_job_ranks(f->control, job, &rank, 1), 1);
    say(f, MYR_EVENT_STARTED, rank.node, job, rank.epoch, 0);
    assert_int_equal(myr_control_job(f->control, job).state, MYR_CONTROL_RUNNING);
}

static void exit_well(struct fixture *f, uint32_t job)
{
    struct myr_control_rank rank;
    assert_int_equal(myr_control_job_ranks(f->control, job, &rank, 1), 1);
    say(f, MYR_EVENT_EXIT, rank.node, job, rank.epoch, 0);
}

/* It is never done and never hung; it is given up when it fails again and again, not over years. */
static void a_service_runs_until_it_is_cancelled(void **state)
{
    (void)state;
    struct fixture f = fixture_of(4);
    struct myr_control_policy policy = myr_control_policy_default();
    uint32_t job;
    assert_int_equal(service_on(&f, &job, 2).state, MYR_CONTROL_STARTING);
    start_again(&f, job);
    for (int i = 0; i < 6; i++) { /* thrice as often as would be the end, but long apart */
        wait_ms(&f, 2 * policy.first_step_ms);
        assert_int_equal(myr_control_job(f.control, job).state, MYR_CONTROL_RUNNING);
        exit_well(&f, job);
        assert_int_equal(myr_control_job(f.control, job).failures, 1);
        start_again(&f, job);
    }
    exit_well(&f, job); /* the second in a row, and then the third */
    start_again(&f, job);
    exit_well(&f, job);
    wait_ms(&f, 2000);
    assert_int_equal(myr_control_job(f.control, job).state, MYR_CONTROL_FAILED);
    assert_int_equal(myr_control_free_gpus(f.control), 4 * 8);
    assert_int_equal(myr_control_refusals(f.control), 0);
    myr_control_free(f.control);
}

/* Nodes that nobody has heard of. */
static struct fixture unheard_of(uint32_t nodes)
{
    struct fixture f = {};
    struct myr_place_shape shape = {nodes, 8, 4, nodes};
    struct myr_control_policy policy = myr_control_policy_default();
    assert_int_equal(myr_control_create(&shape, &policy, 1, &f.control, NULL), MYR_OK);
    return f;
}

static void join(struct fixture *f, uint32_t node, uint32_t boot)
{
    tell(f, (struct myr_event){.kind = MYR_EVENT_JOIN, .node = node, .boot = boot});
    /* The first test of each boot. */
    tell(f,
         (struct myr_event){.kind = MYR_EVENT_TESTED, .node = node, .boot = boot, .epoch = boot});
}

static void expect_node(const struct fixture *f, uint32_t node, enum myr_node_state state)
{
    assert_string_equal(myr_node_state_name(myr_control_node(f->control, node).state),
                        myr_node_state_name(state));
    assert_int_equal(myr_control_node(f->control, node).usable, state == MYR_NODE_HEALTHY);
}

/* A person drains nodes before they are switched on: it is seen at once, and holds. */
static void a_drain_before_the_first_word_holds(void **state)
{
    (void)state;
    struct fixture f = unheard_of(3);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_DRAIN, .node = 0});
    expect_node(&f, 0, MYR_NODE_DRAINED);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_DRAIN, .node = 0}); /* again: it is so already */
    assert_int_equal(count_effects(&f, MYR_EFFECT_NODE), 0);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_DRAIN, .node = 2});
    tell(&f, (struct myr_event){.kind = MYR_EVENT_UNDRAIN, .node = 2});
    expect_node(&f, 2, MYR_NODE_UNKNOWN);
    join(&f, 0, 1);
    expect_node(&f, 0, MYR_NODE_DRAINED);
    join(&f, 0, 2); /* started anew */
    expect_node(&f, 0, MYR_NODE_DRAINED);
    uint32_t job = submit(&f, 8, MYR_RESTART_STRICT);
    assert_int_equal(myr_control_job(f.control, job).state, MYR_CONTROL_QUEUED);
    join(&f, 1, 1); /* the job goes there */
    struct myr_control_rank rank;
    assert_int_equal(myr_control_job_ranks(f.control, job, &rank, 1), 1);
    assert_int_equal(rank.node, 1);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_UNDRAIN, .node = 0});
    expect_node(&f, 0, MYR_NODE_HEALTHY);
    myr_control_free(f.control);
}

/* A scheduler below may hold it back as well; of its faults nobody can know. */
static void only_who_drains_makes_an_unheard_node_drained(void **state)
{
    (void)state;
    struct fixture f = unheard_of(2);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_HOLD, .node = 0, .code = MYR_HOLD_NEW});
    expect_node(&f, 0, MYR_NODE_DRAINED);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_HOLD, .node = 0, .code = MYR_HOLD_NONE});
    expect_node(&f, 0, MYR_NODE_UNKNOWN);
    say(&f, MYR_EVENT_SYMPTOM, 1, 0, 0, MYR_SYMPTOM_FAILED);
    expect_node(&f, 1, MYR_NODE_UNKNOWN);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_DRAIN, .node = 1});
    assert_int_equal(count_effects(&f, MYR_EFFECT_REPAIR), 0); /* nobody has it to give away */
    expect_node(&f, 1, MYR_NODE_DRAINED);
    join(&f, 1, 1);
    expect_node(&f, 1, MYR_NODE_DRAINED);
    myr_control_free(f.control);
}

static uint32_t submit_spec(struct fixture *f, struct myr_job_spec spec)
{
    spec.token = myr_control_jobs(f->control) + 900;
    spec.lease_s = 600;
    tell(f, (struct myr_event){.kind = MYR_EVENT_SUBMIT, .spec = spec});
    return myr_control_find(f->control, spec.token);
}

/* Held it waits however much is free; changed priorities decide who is next. */
static void jobs_are_held_and_put_first(void **state)
{
    (void)state;
    struct fixture f = fixture_of(1);
    uint32_t held = submit_spec(&f, (struct myr_job_spec){.gpus = 8, .held = 1});
    wait_ms(&f, 60000);
    assert_int_equal(myr_control_job(f.control, held).state, MYR_CONTROL_QUEUED);
    uint32_t first = submit(&f, 8, MYR_RESTART_STRICT), last = submit(&f, 8, MYR_RESTART_STRICT);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_HOLD_JOB, .job = held});
    tell(&f, (struct myr_event){.kind = MYR_EVENT_HOLD_JOB, .job = first, .code = 1});
    assert_int_equal(myr_control_job(f.control, first).state, MYR_CONTROL_STARTING); /* goes on */
    tell(&f, (struct myr_event){.kind = MYR_EVENT_PRIORITY, .job = last, .value = 7});
    assert_int_equal(myr_control_job(f.control, last).spec.priority, 7);
    say(&f, MYR_EVENT_STARTED, 0, first, 1, 0);
    say(&f, MYR_EVENT_EXIT, 0, first, 1, 1); /* it fails, and starts in place: it never waited */
    say(&f, MYR_EVENT_TESTED, 0, 0, 2, 0);
    wait_ms(&f, 60000);
    say(&f, MYR_EVENT_STARTED, 0, first, 2, 0);
    say(&f, MYR_EVENT_EXIT, 0, first, 2, 0);
    wait_ms(&f, 2000);
    assert_int_equal(myr_control_job(f.control, first).state, MYR_CONTROL_DONE);
    assert_int_equal(myr_control_job(f.control, last).state, MYR_CONTROL_STARTING);
    assert_int_equal(myr_control_job(f.control, held).state, MYR_CONTROL_QUEUED);
    struct myr_event wrong = {.kind = MYR_EVENT_PRIORITY, .job = last, .value = 101};
    assert_int_equal(myr_control_step(f.control, f.now_ms, &wrong, NULL), MYR_ERANGE);
    assert_int_equal(myr_control_refusals(f.control), 0);
    myr_control_free(f.control);
}

/* A job with fewer GPUs than it asks for tells its ranks so; one of a layout cannot shrink. */
static void sizes_and_wishes_reach_the_queue(void **state)
{
    (void)state;
    struct fixture f = fixture_of(8);
    struct myr_job_wish layout = {
        .tp = 8,
        .cp = 1,
        .dp = 4,
        .pp = 2,
        .ep = 1,
        .order = {MYR_AXIS_TP, MYR_AXIS_CP, MYR_AXIS_EP, MYR_AXIS_PP, MYR_AXIS_DP}};
    struct myr_control_rank ranks[8];
    uint32_t job = submit_spec(&f, (struct myr_job_spec){.gpus = 64, .wish = layout});
    assert_int_equal(myr_control_job_ranks(f.control, job, ranks, 8), 8);
    for (uint32_t i = 2; i < 8; i++) { /* ranks of one stage lie under one set of leaves */
        assert_int_equal(ranks[i].node / 4, ranks[i % 2].node / 4);
    }
    assert_int_not_equal(ranks[0].node / 4, ranks[1].node / 4);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_CANCEL, .job = job});
    for (uint32_t n = 0; n < 8; n++) {
        say(&f, MYR_EVENT_STOPPED, n, job, 1, 0);
    }
    layout.dp = 5; /* of other sizes than the job */
    assert_int_equal(submit_spec(&f, (struct myr_job_spec){.gpus = 64, .wish = layout}), MYR_NONE);
    uint32_t apart = submit_spec(
        &f, (struct myr_job_spec){.gpus = 16, .wish = (struct myr_job_wish){.leaf_max = 1}});
    assert_int_equal(myr_control_job_ranks(f.control, apart, ranks, 8), 2);
    assert_int_not_equal(ranks[0].node / 4, ranks[1].node / 4);
    uint32_t elastic = submit_spec(&f, (struct myr_job_spec){.gpus = 64, .gpus_min = 24});
    assert_int_equal(myr_control_job(f.control, elastic).gpus, 48);
    assert_int_equal(myr_control_job(f.control, elastic).spec.gpus, 64);
    uint32_t count, world = 0;
    const struct myr_effect *effects = myr_control_effects(f.control, &count);
    for (uint32_t i = 0; i < count; i++) {
        world = effects[i].kind == MYR_EFFECT_START ? effects[i].world : world;
    }
    assert_int_equal(world, 48);
    struct myr_buf bytes = {};
    struct myr_control *again = NULL;
    struct myr_err err = {};
    myr_control_save(f.control, &bytes);
    assert_int_equal(myr_control_load((struct myr_str){bytes.data, bytes.len}, &again, &err), 0);
    assert_int_equal(myr_control_job(again, elastic).gpus, 48);
    myr_control_free(again);
    myr_buf_done(&bytes);
    myr_control_free(f.control);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_are_held_and_put_first),
        cmocka_unit_test(sizes_and_wishes_reach_the_queue),
        cmocka_unit_test(jobs_wait_for_others),
        cmocka_unit_test(a_gang_that_was_never_whole_is_not_done),
        cmocka_unit_test(quick_ranks_hold_nobody_up),
        cmocka_unit_test(a_person_brings_a_node_back),
        cmocka_unit_test(cancelled_ranks_have_a_grace),
        cmocka_unit_test(a_job_saves_before_its_node_fails),
        cmocka_unit_test(a_service_runs_until_it_is_cancelled),
        cmocka_unit_test(a_drain_before_the_first_word_holds),
        cmocka_unit_test(only_who_drains_makes_an_unheard_node_drained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
