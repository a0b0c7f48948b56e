#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "control_fixture.h"

static void expect_job(const struct fixture *f, uint32_t job, enum myr_control_job_state state)
{
    assert_string_equal(myr_control_job_state_name(myr_control_job(f->control, job).state),
                        myr_control_job_state_name(state));
}

/* All nodes of a gang of the first nodes say that they have started, or stopped. */
static void all_say(struct fixture *f, enum myr_event_kind kind, uint32_t job, uint32_t nodes)
{
    uint32_t epoch = myr_control_job(f->control, job).epoch;
    for (uint32_t n = 0; n < nodes; n++) {
        say(f, kind, n, job, epoch, 0);
    }
}

static void a_gang_runs_when_every_node_has_started(void **state)
{
    (void)state;
    struct fixture f = fixture_of(4);
    uint32_t job = submit(&f, 32, MYR_RESTART_STRICT);
    assert_int_equal(count_effects(&f, MYR_EFFECT_START), 4);
    for (uint32_t n = 0; n < 4; n++) {
        expect_job(&f, job, MYR_CONTROL_STARTING);
        say(&f, MYR_EVENT_STARTED, n, job, 1, 0);
    }
    expect_job(&f, job, MYR_CONTROL_RUNNING);
    for (uint32_t n = 0; n < 4; n++) {
        say(&f, MYR_EVENT_EXIT, n, job, 1, 0);
    }
    expect_job(&f, job, MYR_CONTROL_DONE);
    assert_int_equal(myr_control_free_gpus(f.control), 32);
    myr_control_free(f.control);
}

static void a_gang_that_is_not_up_in_time_is_taken_back_whole(void **state)
{
    (void)state;
    struct fixture f = fixture_of(4);
    uint32_t job = submit(&f, 32, MYR_RESTART_STRICT);
    for (uint32_t n = 0; n < 3; n++) {
        say(&f, MYR_EVENT_STARTED, n, job, 1, 0);
    }
    wait_ms(&f, 1800000);
    expect_job(&f, job, MYR_CONTROL_RECOVERING);
    say(&f, MYR_EVENT_STARTED, 3, job, 1, 0); /* too late */
    expect_job(&f, job, MYR_CONTROL_RECOVERING);
    all_say(&f, MYR_EVENT_STOPPED, job, 4);
    assert_true(myr_control_job(f.control, job).state == MYR_CONTROL_QUEUED ||
                myr_control_job(f.control, job).epoch == 2);
    myr_control_free(f.control);
}

/* Node 1 of a running gang of two falls silent for good. */
static uint32_t lose_a_node(struct fixture *f, enum myr_restart restart)
{
    uint32_t job = submit(f, 16, restart);
    assert_int_equal(count_effects(f, MYR_EFFECT_START), 2);
    all_say(f, MYR_EVENT_STARTED, job, 2);
    expect_job(f, job, MYR_CONTROL_RUNNING);
    tell(f, (struct myr_event){.kind = MYR_EVENT_SILENT, .node = 1});
    assert_int_equal(myr_control_node(f->control, 1).state, MYR_NODE_SUSPECT);
    wait_ms(f, 31000);
    say(f, MYR_EVENT_STOPPED, 0, job, 1, 0);
    return job;
}

static void a_strict_job_waits_until_the_lost_node_is_fenced(void **state)
{
    (void)state;
    struct fixture f = fixture_of(5);
    uint32_t job = lose_a_node(&f, MYR_RESTART_STRICT);
    assert_int_equal(myr_control_job(f.control, job).epoch, 1);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_FENCED, .node = 1, .boot = 1, .code = 1});
    assert_int_equal(myr_control_job(f.control, job).epoch, 1); /* it did not work */
    tell(&f, (struct myr_event){.kind = MYR_EVENT_FENCED, .node = 1, .boot = 1});
    assert_int_equal(myr_control_job(f.control, job).epoch, 2);
    expect_job(&f, job, MYR_CONTROL_STARTING);
    assert_int_equal(myr_control_node(f.control, 1).state, MYR_NODE_REPAIR);
    myr_control_free(f.control);
}

static void a_strict_job_waits_for_the_lease_where_nothing_can_be_fenced(void **state)
{
    (void)state;
    struct fixture f = fixture_of(5);
    uint32_t job = lose_a_node(&f, MYR_RESTART_STRICT);
    wait_ms(&f, 590000);
    assert_int_equal(myr_control_job(f.control, job).epoch, 1);
    wait_ms(&f, 300000);
    assert_int_equal(myr_control_job(f.control, job).epoch, 2);
    myr_control_free(f.control);
}

static void a_lost_node_of_an_epoch_job_is_fenced_for_its_repair(void **state)
{
    (void)state;
    struct fixture f = fixture_of(5);
    uint32_t job = lose_a_node(&f, MYR_RESTART_EPOCH);
    assert_int_equal(myr_control_job(f.control, job).epoch, 2); /* without waiting for it */
    assert_int_equal(myr_control_node(f.control, 1).state, MYR_NODE_DRAINING);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_FENCED, .node = 1, .boot = 1});
    assert_int_equal(myr_control_node(f.control, 1).state, MYR_NODE_REPAIR);
    assert_int_equal(count_effects(&f, MYR_EFFECT_REPAIR), 1);
    myr_control_free(f.control);
}

static void a_lost_node_beyond_the_limit_is_fenced_when_a_person_allows_it(void **state)
{
    (void)state;
    struct fixture f = fixture_of(5); /* one of which may be drained */
    uint32_t job = submit(&f, 16, MYR_RESTART_EPOCH);
    all_say(&f, MYR_EVENT_STARTED, job, 2);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_SILENT, .node = 0});
    tell(&f, (struct myr_event){.kind = MYR_EVENT_SILENT, .node = 1});
    wait_ms(&f, 31000);
    uint32_t kept = myr_control_node(f.control, 0).state == MYR_NODE_SUSPECT ? 0 : 1;
    assert_int_equal(myr_control_node(f.control, kept).state, MYR_NODE_SUSPECT);
    assert_int_equal(myr_control_node(f.control, 1 - kept).state, MYR_NODE_DRAINING);
    assert_true(myr_control_node(f.control, kept).ranks > 0);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_APPROVE, .value = 1});
    assert_int_equal(count_effects(&f, MYR_EFFECT_FENCE), 1);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_FENCED, .node = kept, .boot = 1});
    assert_int_equal(myr_control_node(f.control, kept).state, MYR_NODE_REPAIR);
    myr_control_free(f.control);
}

/* The node is lost while the job is being stopped: it waits for its ranks no longer. */
static void an_epoch_job_that_is_being_stopped_does_not_wait_for_a_lost_node(void **state)
{
    (void)state;
    for (uint32_t cancel = 0; cancel < 2; cancel++) {
        struct fixture f = fixture_of(1);
        uint32_t job = submit(&f, 8, MYR_RESTART_EPOCH);
        if (cancel) {
            tell(&f, (struct myr_event){.kind = MYR_EVENT_CANCEL, .job = job});
            expect_job(&f, job, MYR_CONTROL_SAVING);
        } else { /* the start window passes */
            wait_ms(&f, 1900000);
            expect_job(&f, job, MYR_CONTROL_RECOVERING);
        }
        tell(&f, (struct myr_event){.kind = MYR_EVENT_SILENT, .node = 0});
        wait_ms(&f, 29000);
        assert_true(myr_control_job(f.control, job).nodes > 0);
        wait_ms(&f, 2000);
        expect_job(&f, job, cancel ? MYR_CONTROL_CANCELLED : MYR_CONTROL_QUEUED);
        tell(&f, (struct myr_event){.kind = MYR_EVENT_FENCED, .node = 0, .boot = 1});
        assert_int_equal(myr_control_node(f.control, 0).state, MYR_NODE_REPAIR);
        assert_int_equal(myr_control_refusals(f.control), 0);
        myr_control_free(f.control);
    }
}

static void an_epoch_job_goes_on_at_once_and_stale_ranks_are_stopped(void **state)
{
    (void)state;
    struct fixture f = fixture_of(5);
    uint32_t job = lose_a_node(&f, MYR_RESTART_EPOCH);
    assert_int_equal(myr_control_job(f.control, job).epoch, 2);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_BACK, .node = 1, .boot = 1});
    assert_true(count_effects(&f, MYR_EFFECT_STOP) >= 1);
    assert_int_equal(myr_control_node(f.control, 1).ranks, 1);
    say(&f, MYR_EVENT_STOPPED, 1, job, 1, 0);
    assert_int_equal(myr_control_node(f.control, 1).ranks, 0);
    myr_control_free(f.control);
}

static void a_step_of_the_clock_loses_no_node(void **state)
{
    (void)state;
    struct fixture f = fixture_of(4);
    uint32_t job = submit(&f, 32, MYR_RESTART_STRICT);
    all_say(&f, MYR_EVENT_STARTED, job, 4);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_SILENT, .node = 2});
    f.now_ms += 3600000; /* an hour in one step, though a tick was due in 30 s */
    say(&f, MYR_EVENT_STEP, 0, job, 1, 0);
    f.now_ms -= 7200000;
    f.now_ms = f.now_ms < 0 ? 0 : f.now_ms;
    tell(&f, (struct myr_event){.kind = MYR_EVENT_BACK, .node = 2, .boot = 1});
    expect_job(&f, job, MYR_CONTROL_RUNNING);
    assert_int_equal(myr_control_node(f.control, 2).state, MYR_NODE_HEALTHY);
    assert_int_equal(myr_control_node(f.control, 2).ranks, 1);
    myr_control_free(f.control);
}

static void after_a_takeover_nobody_is_lost_before_the_window_is_over(void **state)
{
    (void)state;
    struct fixture f = fixture_of(4);
    uint32_t job = submit(&f, 32, MYR_RESTART_STRICT);
    all_say(&f, MYR_EVENT_STARTED, job, 4);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_TAKEOVER});
    tell(&f, (struct myr_event){.kind = MYR_EVENT_SILENT, .node = 3});
    wait_ms(&f, 100000); /* longer than a silence may be, shorter than the window */
    expect_job(&f, job, MYR_CONTROL_RUNNING);
    wait_ms(&f, 30000);
    assert_true(myr_control_job(f.control, job).state == MYR_CONTROL_RECOVERING);
    myr_control_free(f.control);
}

static void what_a_node_said_before_its_restart_counts_for_nothing(void **state)
{
    (void)state;
    struct fixture f = fixture_of(2);
    uint32_t job = submit(&f, 8, MYR_RESTART_STRICT);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_JOIN, .node = 0, .boot = 2});
    tell(&f, (struct myr_event){
                 .kind = MYR_EVENT_STARTED, .node = 0, .job = job, .epoch = 1, .boot = 1});
    assert_true(myr_control_job(f.control, job).state != MYR_CONTROL_RUNNING);
    myr_control_free(f.control);
}

static void a_drained_node_stays_drained_through_a_restart(void **state)
{
    (void)state;
    struct fixture f = fixture_of(2);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_DRAIN, .node = 1});
    assert_int_equal(myr_control_node(f.control, 1).state, MYR_NODE_DRAINED);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_JOIN, .node = 1, .boot = 2});
    say(&f, MYR_EVENT_TESTED, 1, MYR_NONE, 2, 0);
    assert_int_equal(myr_control_node(f.control, 1).state, MYR_NODE_DRAINED);
    uint32_t job = submit(&f, 16, MYR_RESTART_STRICT);
    expect_job(&f, job, MYR_CONTROL_QUEUED);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_UNDRAIN, .node = 1});
    expect_job(&f, job, MYR_CONTROL_STARTING);
    myr_control_free(f.control);
}

static void only_so_many_nodes_are_drained_without_a_person(void **state)
{
    (void)state;
    struct fixture f = fixture_of(20); /* a tenth: two */
    uint32_t told = 0;
    for (uint32_t n = 0; n < 5; n++) {
        tell(&f, (struct myr_event){
                     .kind = MYR_EVENT_SYMPTOM, .node = n, .boot = 1, .code = MYR_SYMPTOM_FAILED});
        told += count_effects(&f, MYR_EFFECT_NOTIFY);
    }
    assert_int_equal(told, 1);
    assert_int_equal(myr_control_node(f.control, 1).state, MYR_NODE_REPAIR);
    assert_int_equal(myr_control_node(f.control, 2).state, MYR_NODE_SUSPECT);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_APPROVE, .value = 1});
    assert_int_equal(myr_control_node(f.control, 2).state, MYR_NODE_REPAIR);
    assert_int_equal(myr_control_node(f.control, 3).state, MYR_NODE_SUSPECT);
    myr_control_free(f.control);
}

static void the_same_token_is_the_same_job(void **state)
{
    (void)state;
    struct fixture f = fixture_of(2);
    struct myr_event event = {.kind = MYR_EVENT_SUBMIT,
                              .spec = {.token = 7, .gpus = 8, .retries = 1, .lease_s = 600}};
    tell(&f, event);
    tell(&f, event);
    assert_int_equal(myr_control_jobs(f.control), 1);
    event.spec.token = 8;
    event.spec.gpus = 1000; /* more than there are */
    tell(&f, event);
    assert_int_equal(myr_control_jobs(f.control), 1);
    assert_int_equal(myr_control_find(f.control, 8), MYR_NONE);
    myr_control_free(f.control);
}

/* Events that make no sense are refused or ignored; nothing aborts. */
static void wrong_events_change_nothing(void **state)
{
    (void)state;
    struct fixture f = fixture_of(4);
    uint32_t job = submit(&f, 16, MYR_RESTART_STRICT);
    struct myr_rng rng;
    myr_rng_init(&rng, 5, 1);
    (void)job;
    for (uint32_t i = 0; i < 20000; i++) {
        struct myr_event event = {.kind = (uint8_t)myr_rng_below(&rng, MYR_EVENT_KINDS + 2),
                                  .code = (uint8_t)myr_rng_below(&rng, 6),
                                  .node = myr_rng_below(&rng, 6),
                                  .job = myr_rng_below(&rng, 12),
                                  .epoch = myr_rng_below(&rng, 5),
                                  .boot = myr_rng_below(&rng, 4),
                                  .count = myr_rng_below(&rng, 5),
                                  .value = (int64_t)myr_rng_u64(&rng) >> myr_rng_below(&rng, 63),
                                  .saved = myr_rng_below(&rng, 100000),
                                  .end_s = myr_rng_below(&rng, 1000000)};
        event.spec = (struct myr_job_spec){.token = myr_rng_below(&rng, 12),
                                           .gpus = myr_rng_below(&rng, 40),
                                           .restart = (uint8_t)myr_rng_below(&rng, 3),
                                           .tenant = myr_rng_below(&rng, 2),
                                           .retries = 3,
                                           .lease_s = 10};
        f.now_ms += myr_rng_below(&rng, 20000);
        (void)!myr_control_step(f.control, f.now_ms, &event, NULL);
    }
    myr_control_free(f.control);
}

/* A user's mistake: the job fails by itself, and the cluster keeps its nodes. */
static void a_job_that_cannot_start_costs_no_node(void **state)
{
    (void)state;
    struct fixture f = fixture_of(4);
    uint32_t job = submit(&f, 8, MYR_RESTART_STRICT);
    for (uint32_t round = 0; round < 40; round++) {
        struct myr_control_job view = myr_control_job(f.control, job);
        if (view.state >= MYR_CONTROL_DONE) {
            break;
        }
        struct myr_control_rank rank;
        if (view.state == MYR_CONTROL_STARTING &&
            myr_control_job_ranks(f.control, job, &rank, 1) == 1) {
            say(&f, MYR_EVENT_STARTED, rank.node, job, rank.epoch, MYR_START_OWN_FAULT);
        }
        wait_ms(&f, 1000);
    }
    struct myr_control_job view = myr_control_job(f.control, job);
    assert_int_equal(view.state, MYR_CONTROL_FAILED);
    assert_int_equal(view.failures, 11); /* ten retries were allowed */
    for (uint32_t n = 0; n < 4; n++) {
        assert_int_equal(myr_control_node(f.control, n).state, MYR_NODE_HEALTHY);
    }
    assert_int_equal(myr_control_refusals(f.control), 0);
    assert_int_equal(myr_control_free_gpus(f.control), 32);
    myr_control_free(f.control);
}

/* Ranks that end badly before the first step blame nobody; one job is one witness. */
static void one_bad_program_is_one_witness(void **state)
{
    (void)state;
    struct fixture f = fixture_of(2);
    for (int stepping = 0; stepping < 2; stepping++) {
        uint32_t job = submit(&f, 8, MYR_RESTART_STRICT);
        for (uint32_t round = 0; round < 60; round++) {
            struct myr_control_job view = myr_control_job(f.control, job);
            struct myr_control_rank rank;
            if (view.state >= MYR_CONTROL_DONE) {
                break;
            }
            if (myr_control_job_ranks(f.control, job, &rank, 1) == 1 &&
                view.state == MYR_CONTROL_STARTING) {
                say(&f, MYR_EVENT_STARTED, rank.node, job, rank.epoch, 0);
                if (stepping) {
                    tell(&f, (struct myr_event){.kind = MYR_EVENT_STEP,
                                                .node = rank.node,
                                                .boot = 1,
                                                .job = job,
                                                .epoch = rank.epoch,
                                                .value = 1 + round});
                }
                say(&f, MYR_EVENT_EXIT, rank.node, job, rank.epoch, 1);
            }
            for (uint32_t n = 0; n < 2; n++) { /* whoever is tested is sound */
                for (uint32_t test = 1; test < 40; test++) {
                    tell(&f, (struct myr_event){
                                 .kind = MYR_EVENT_TESTED, .node = n, .boot = 1, .epoch = test});
                }
            }
            wait_ms(&f, 1000);
        }
        assert_int_equal(myr_control_job(f.control, job).state, MYR_CONTROL_FAILED);
        for (uint32_t n = 0; n < 2; n++) {
            assert_int_equal(myr_control_node(f.control, n).state, MYR_NODE_HEALTHY);
        }
    }
    myr_control_free(f.control);
}

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
    struct myr_buf bytes = {0};
    struct myr_control *again = NULL;
    struct myr_err err = {0};
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gang_runs_when_every_node_has_started),
        cmocka_unit_test(a_gang_that_is_not_up_in_time_is_taken_back_whole),
        cmocka_unit_test(a_strict_job_waits_until_the_lost_node_is_fenced),
        cmocka_unit_test(a_strict_job_waits_for_the_lease_where_nothing_can_be_fenced),
        cmocka_unit_test(a_lost_node_of_an_epoch_job_is_fenced_for_its_repair),
        cmocka_unit_test(a_lost_node_beyond_the_limit_is_fenced_when_a_person_allows_it),
        cmocka_unit_test(an_epoch_job_that_is_being_stopped_does_not_wait_for_a_lost_node),
        cmocka_unit_test(an_epoch_job_goes_on_at_once_and_stale_ranks_are_stopped),
        cmocka_unit_test(a_step_of_the_clock_loses_no_node),
        cmocka_unit_test(after_a_takeover_nobody_is_lost_before_the_window_is_over),
        cmocka_unit_test(what_a_node_said_before_its_restart_counts_for_nothing),
        cmocka_unit_test(a_drained_node_stays_drained_through_a_restart),
        cmocka_unit_test(only_so_many_nodes_are_drained_without_a_person),
        cmocka_unit_test(the_same_token_is_the_same_job),
        cmocka_unit_test(wrong_events_change_nothing),
        cmocka_unit_test(a_job_that_cannot_start_costs_no_node),
        cmocka_unit_test(a_gang_that_was_never_whole_is_not_done),
        cmocka_unit_test(a_person_brings_a_node_back),
        cmocka_unit_test(cancelled_ranks_have_a_grace),
        cmocka_unit_test(jobs_wait_for_others),
        cmocka_unit_test(one_bad_program_is_one_witness),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
