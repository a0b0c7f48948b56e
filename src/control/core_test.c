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

static void expect_queue(const struct fixture *f, uint32_t job, enum myr_job_state state)
{
    struct myr_job_view view;
    int rc = myr_queue_view(myr_control_queue(f->control), job, &view);
    assert_int_equal(rc, state == MYR_JOB_DONE ? MYR_ENOENT : MYR_OK); /* over is forgotten */
    assert_true(rc < 0 || view.state == state);
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
    wait_ms(&f, 1000);
    expect_job(&f, job, MYR_CONTROL_QUEUED); /* its place is kept while node 3 is tested */
    expect_queue(&f, job, MYR_JOB_CLAIMS);
    uint32_t other = submit(&f, 8, MYR_RESTART_STRICT);
    expect_job(&f, other, MYR_CONTROL_QUEUED);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_TESTED, .node = 3, .boot = 1, .epoch = 2});
    expect_job(&f, job, MYR_CONTROL_STARTING);
    assert_int_equal(myr_control_job(f.control, job).epoch, 2);
    expect_job(&f, other, MYR_CONTROL_QUEUED);
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
    uint32_t refused = 0;
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
        uint64_t before = myr_control_hash(f.control);
        if (myr_control_step(f.control, f.now_ms, &event, NULL) < 0) {
            refused++;
            assert_true(myr_control_hash(f.control) == before);
        }
    }
    assert_in_range(refused, 1000, 19000); /* of both kinds there were many */
    assert_int_equal(myr_control_refusals(f.control), 0);
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
        wait_ms(&f, 1000 * MYR_AGAIN_S_MAX);
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
            wait_ms(&f, 1000 * MYR_AGAIN_S_MAX);
        }
        assert_int_equal(myr_control_job(f.control, job).state, MYR_CONTROL_FAILED);
        for (uint32_t n = 0; n < 2; n++) {
            assert_int_equal(myr_control_node(f.control, n).state, MYR_NODE_HEALTHY);
        }
    }
    myr_control_free(f.control);
}

static int step(struct fixture *f, int64_t now_ms, struct myr_event event, struct myr_err *err)
{
    return myr_control_step(f->control, now_ms, &event, err);
}

/* At the limit it is taken, one beyond it is refused, and then nothing has changed. */
static void events_are_taken_up_to_their_limits(void **state)
{
    (void)state;
    struct fixture f = fixture_of(4);
    (void)submit(&f, 8, MYR_RESTART_STRICT);
    for (uint32_t kind = 0; kind < MYR_EVENT_KINDS + 2; kind++) {
        bool of_node = (kind >= MYR_EVENT_JOIN && kind <= MYR_EVENT_FENCED) ||
                       kind == MYR_EVENT_DRAIN || kind == MYR_EVENT_UNDRAIN ||
                       kind == MYR_EVENT_MAINTAIN || kind == MYR_EVENT_HOLD;
        bool of_job = (kind >= MYR_EVENT_STARTED && kind <= MYR_EVENT_STEP) ||
                      kind == MYR_EVENT_CANCEL || kind == MYR_EVENT_HOLD_JOB ||
                      kind == MYR_EVENT_PRIORITY;
        struct myr_control *copy = myr_control_fork(f.control), *kept = f.control;
        uint64_t hash = myr_control_hash(copy);
        f.control = copy;
        int64_t weight = kind == MYR_EVENT_WEIGHT; /* 0 would be none */
        struct myr_event event = {.kind = (uint8_t)kind, .node = 4, .value = weight};
        int rc = kind >= MYR_EVENT_KINDS ? MYR_EINVAL : of_node ? MYR_ERANGE : MYR_OK;
        assert_int_equal(step(&f, f.now_ms, event, NULL), rc);
        assert_true((myr_control_hash(copy) == hash) == (rc < 0));
        hash = myr_control_hash(copy);
        event = (struct myr_event){.kind = (uint8_t)kind, .node = 3, .job = 1, .value = weight};
        rc = kind >= MYR_EVENT_KINDS ? MYR_EINVAL : of_job ? MYR_ERANGE : MYR_OK;
        assert_int_equal(step(&f, f.now_ms, event, NULL), rc);
        assert_true((myr_control_hash(copy) == hash) == (rc < 0));
        myr_control_free(copy);
        f.control = kept;
    }
    struct myr_event symptom = {.kind = MYR_EVENT_SYMPTOM, .code = MYR_SYMPTOMS};
    assert_int_equal(step(&f, f.now_ms, symptom, NULL), MYR_ERANGE);
    symptom.code--;
    assert_int_equal(step(&f, f.now_ms, symptom, NULL), MYR_OK);
    struct myr_event hold = {.kind = MYR_EVENT_HOLD, .code = MYR_HOLDS};
    assert_int_equal(step(&f, f.now_ms, hold, NULL), MYR_ERANGE);
    const struct myr_event weights[] = {
        {.kind = MYR_EVENT_WEIGHT, .count = UINT32_MAX, .value = 1},
        {.kind = MYR_EVENT_WEIGHT, .value = 0},
        {.kind = MYR_EVENT_WEIGHT, .value = 1000001},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(weights); i++) {
        assert_int_equal(step(&f, f.now_ms, weights[i], NULL), MYR_ERANGE);
    }
    const struct myr_event tick = {.kind = MYR_EVENT_TICK};
    const int64_t last_ms = INT64_C(366) * 86400 * 1000 * 1000; /* a thousand years */
    assert_int_equal(step(&f, -1, tick, NULL), MYR_ERANGE);
    assert_int_equal(step(&f, last_ms + 1, tick, NULL), MYR_ERANGE);
    assert_int_equal(myr_control_now_ms(f.control), 0);
    assert_int_equal(step(&f, last_ms, tick, NULL), MYR_OK);
    assert_int_equal(myr_control_now_ms(f.control), last_ms);
    myr_control_free(f.control);
}

/* What is asked for is kept to: the most retries and the longest lease, and no more. */
static void jobs_are_taken_up_to_their_limits(void **state)
{
    (void)state;
    struct fixture f = fixture_of(2);
    const struct myr_job_spec most = {.token = 1,
                                      .gpus = 16,
                                      .restart = MYR_RESTARTS - 1,
                                      .retries = MYR_JOB_RETRIES_MAX,
                                      .lease_s = MYR_LEASE_S_MAX};
    struct myr_job_spec wrong[] = {most, most, most, most, most, most};
    wrong[0].gpus++;
    wrong[1].restart++;
    wrong[2].retries++;
    wrong[3].lease_s++;
    wrong[4].limit_s = -1;
    wrong[5].tenant = 1;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(wrong); i++) {
        tell(&f, (struct myr_event){.kind = MYR_EVENT_SUBMIT, .spec = wrong[i]});
        assert_int_equal(myr_control_jobs(f.control), 0);
        assert_int_equal(myr_control_find(f.control, 1), MYR_NONE);
        assert_int_equal(count_effects(&f, MYR_EFFECT_ACCEPT), 1);
    }
    tell(&f, (struct myr_event){.kind = MYR_EVENT_SUBMIT, .spec = most});
    assert_int_equal(myr_control_find(f.control, 1), 0);
    struct myr_control_job job = myr_control_job(f.control, 0);
    assert_memory_equal(&job.spec, &most, sizeof(most));
    assert_int_equal(job.nodes, 2);
    assert_int_equal(job.nodes_open, 2);
    myr_control_free(f.control);
}

/* The queue hears of every start and end, and of a start that failed. */
static void the_queue_is_told_what_came_true(void **state)
{
    (void)state;
    struct fixture f = fixture_of(3);
    uint32_t job = submit(&f, 16, MYR_RESTART_STRICT);
    expect_queue(&f, job, MYR_JOB_STARTING);
    say(&f, MYR_EVENT_STARTED, 0, job, 1, 0);
    expect_queue(&f, job, MYR_JOB_STARTING);
    say(&f, MYR_EVENT_STARTED, 1, job, 1, MYR_START_NODE);
    expect_queue(&f, job, MYR_JOB_STARTING); /* its place is its own */
    say(&f, MYR_EVENT_STOPPED, 0, job, 1, 0);
    expect_job(&f, job, MYR_CONTROL_RECOVERING);
    wait_ms(&f, 1000);
    expect_job(&f, job, MYR_CONTROL_STARTING);
    expect_queue(&f, job, MYR_JOB_STARTING); /* on nodes 0 and 2 */
    say(&f, MYR_EVENT_STARTED, 0, job, 2, 0);
    say(&f, MYR_EVENT_STARTED, 2, job, 2, 0);
    expect_queue(&f, job, MYR_JOB_RUNS);
    uint32_t waits = submit(&f, 16, MYR_RESTART_STRICT);
    expect_queue(&f, waits, MYR_JOB_WAITS);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_CANCEL, .job = waits});
    expect_queue(&f, waits, MYR_JOB_DONE);
    say(&f, MYR_EVENT_EXIT, 0, job, 2, 0);
    expect_queue(&f, job, MYR_JOB_RUNS);
    say(&f, MYR_EVENT_EXIT, 2, job, 2, 0);
    expect_queue(&f, job, MYR_JOB_DONE);
    assert_int_equal(myr_control_refusals(f.control), 0);
    myr_control_free(f.control);
}

/* What others see of a node and its ranks while it is used, silent, drained and lost. */
static void views_say_what_is(void **state)
{
    (void)state;
    struct fixture f = fixture_of(4);
    uint32_t job = submit(&f, 12, MYR_RESTART_EPOCH);
    struct myr_control_rank ranks[3];
    assert_int_equal(myr_control_job_ranks(f.control, job, ranks, 1), 2);
    assert_int_equal(myr_control_job_ranks(f.control, job, ranks, 3), 2);
    assert_int_equal(ranks[0].first, 0);
    assert_int_equal(ranks[1].first, 8);
    assert_int_equal(ranks[0].gpus, 0xff);
    assert_int_equal(ranks[1].gpus, 0x0f);
    assert_true(ranks[0].used && !ranks[0].up && !ranks[0].old && !ranks[0].released);
    say(&f, MYR_EVENT_STARTED, 0, job, 1, 0);
    say(&f, MYR_EVENT_STARTED, 1, job, 1, 0);
    assert_int_equal(myr_control_node_ranks(f.control, 0, ranks, 0), 1);
    assert_int_equal(myr_control_node_ranks(f.control, 0, ranks, 3), 1);
    assert_true(ranks[0].up && ranks[0].job == job && ranks[0].node == 0 && ranks[0].epoch == 1);
    assert_int_equal(myr_control_free_gpus(f.control), 20);
    assert_true(myr_control_node(f.control, 3).usable);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_DRAIN, .node = 3});
    assert_false(myr_control_node(f.control, 3).usable);
    assert_int_equal(myr_control_free_gpus(f.control), 12);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_SILENT, .node = 0});
    assert_true(myr_control_node(f.control, 0).silent);
    assert_false(myr_control_node(f.control, 0).usable);
    wait_ms(&f, 30000);
    assert_int_equal(myr_control_job(f.control, job).epoch, 2);
    assert_int_equal(myr_control_job(f.control, job).nodes_open, 4);
    say(&f, MYR_EVENT_STOPPED, 1, job, 1, 0);
    assert_int_equal(myr_control_job(f.control, job).nodes_open, 3);
    assert_int_equal(myr_control_node_ranks(f.control, 0, ranks, 3), 1);
    assert_true(ranks[0].old && !ranks[0].up);
    uint32_t used = 0;
    for (uint32_t slot = 0; slot < myr_control_ranks(f.control); slot++) {
        used += myr_control_rank(f.control, slot).used;
    }
    assert_int_equal(used, 3);
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
        cmocka_unit_test(events_are_taken_up_to_their_limits),
        cmocka_unit_test(jobs_are_taken_up_to_their_limits),
        cmocka_unit_test(views_say_what_is),
        cmocka_unit_test(the_queue_is_told_what_came_true),
        cmocka_unit_test(wrong_events_change_nothing),
        cmocka_unit_test(a_job_that_cannot_start_costs_no_node),
        cmocka_unit_test(one_bad_program_is_one_witness),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
