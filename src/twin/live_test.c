/* A live world under a control core that is driven by hand, in virtual time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "myriad/twin.h"

static const char shape[] = "cluster: {nodes: 16, leaf_nodes: 4}\n"
                            "practice: best\n"
                            "fence_fails_ppm: 0\n"
                            "jobs: []\n";

enum { MINUTE_MS = 60000, HOUR_MS = 60 * MINUTE_MS };

struct bench {
    struct myr_arena arena;
    struct myr_scenario scenario;
    struct myr_live *live;
    struct myr_control *control;
    int64_t now_ms;
};

static void give(struct bench *b, int64_t at_ms, const struct myr_event *event)
{
    struct myr_err err = {};
    uint32_t count;
    if (myr_control_step(b->control, at_ms, event, &err) < 0) {
        fail_msg("%s", err.message);
    }
    const struct myr_effect *effects = myr_control_effects(b->control, &count);
    for (uint32_t i = 0; i < count; i++) {
        myr_live_effect(b->live, &effects[i]);
    }
}

static void on_event(void *context, int64_t at_ms, const struct myr_event *event)
{
    struct bench *b = context;
    b->now_ms = at_ms > b->now_ms ? at_ms : b->now_ms;
    give(b, b->now_ms, event);
}

/* What a server's loop does, without waiting. */
static void pass(struct bench *b, int64_t ms)
{
    int64_t until_ms = b->now_ms + ms;
    for (;;) {
        int64_t wake_ms = myr_control_wake_ms(b->control), next_ms = myr_live_next_ms(b->live);
        int64_t at_ms = wake_ms < next_ms ? wake_ms : next_ms;
        if (at_ms > until_ms) {
            break;
        }
        b->now_ms = at_ms > b->now_ms ? at_ms : b->now_ms;
        myr_live_advance(b->live, b->now_ms, on_event, b);
        if (wake_ms <= b->now_ms) {
            give(b, b->now_ms, &(struct myr_event){.kind = MYR_EVENT_TICK});
        }
    }
    b->now_ms = until_ms;
    myr_live_advance(b->live, until_ms, on_event, b);
}

static void open_world(struct bench *b, uint64_t seed)
{
    struct myr_err err = {};
    if (myr_live_create(&b->scenario, seed, b->now_ms, &b->live, &err) < 0) {
        fail_msg("%s", err.message);
    }
}

static struct bench *begin(const char *text, uint64_t seed)
{
    struct bench *b = calloc(1, sizeof(*b));
    struct myr_err err = {};
    myr_arena_init(&b->arena);
    b->now_ms = INT64_C(1800000000000); /* a date, as a server has it */
    if (myr_scenario_parse(&b->scenario, &b->arena, "test.yaml", myr_str_from(text), &err) < 0 ||
        myr_control_create(&b->scenario.shape, &b->scenario.policy, 1, &b->control, &err) < 0) {
        fail_msg("%s", err.message);
    }
    open_world(b, seed);
    return b;
}

static void end(struct bench *b)
{
    const char *first;
    if (myr_live_violations(b->live, &first) > 0) {
        fail_msg("%s", first);
    }
    assert_null(first);
    assert_int_equal(myr_control_refusals(b->control), 0);
    myr_live_free(b->live);
    myr_control_free(b->control);
    myr_scenario_done(&b->scenario);
    myr_arena_done(&b->arena);
    free(b);
}

static struct myr_job_spec spec_of(uint64_t token, uint32_t gpus, enum myr_restart restart)
{
    return (struct myr_job_spec){
        .token = token, .gpus = gpus, .restart = (uint8_t)restart, .retries = 100, .lease_s = 600};
}

static const struct myr_live_run twenty_minutes = {20 * MINUTE_MS, 2000, 5 * MINUTE_MS, 3000};

static uint32_t submit(struct bench *b, uint64_t token, uint32_t gpus, enum myr_restart restart)
{
    struct myr_event event = {.kind = MYR_EVENT_SUBMIT, .spec = spec_of(token, gpus, restart)};
    assert_int_equal(myr_live_submit(b->live, &event.spec, &twenty_minutes, NULL), MYR_OK);
    give(b, b->now_ms, &event);
    return myr_control_find(b->control, token);
}

static enum myr_control_job_state state_of(const struct bench *b, uint32_t job)
{
    return myr_control_job(b->control, job).state;
}

/* The node of some rank of the job. */
static uint32_t node_of(const struct bench *b, uint32_t job)
{
    for (uint32_t i = 0; i < myr_control_ranks(b->control); i++) {
        struct myr_control_rank rank = myr_control_rank(b->control, i);
        if (rank.used && rank.up && rank.job == job) {
            return rank.node;
        }
    }
    fail_msg("job %u has no rank", job);
    return 0;
}

static void all_nodes_join_and_jobs_run_to_their_end(void **state)
{
    (void)state;
    struct bench *b = begin(shape, 1);
    pass(b, 10 * MINUTE_MS);
    for (uint32_t n = 0; n < 16; n++) {
        assert_int_equal(myr_control_node(b->control, n).state, MYR_NODE_HEALTHY);
        assert_true(myr_live_node(b->live, n).up);
    }
    for (uint64_t token = 1; token <= 12; token++) {
        (void)submit(b, token, token % 3 ? 16 : 4,
                     token % 2 ? MYR_RESTART_EPOCH : MYR_RESTART_STRICT);
    }
    pass(b, 3 * HOUR_MS);
    for (uint32_t job = 0; job < 12; job++) {
        assert_int_equal(state_of(b, job), MYR_CONTROL_DONE);
    }
    end(b);
}

/* Between two advances the caller's time goes on: what it decides then is not done before. */
static void an_order_leaves_when_it_is_decided(void **state)
{
    (void)state;
    struct bench *b = begin(shape, 1);
    pass(b, 10 * MINUTE_MS);
    assert_int_equal(myr_live_next_ms(b->live), INT64_MAX); /* all nodes are there */
    b->now_ms += HOUR_MS;
    myr_live_pass(b->live, b->now_ms);
    uint32_t job = submit(b, 7, 16, MYR_RESTART_STRICT);
    int64_t next_ms = myr_live_next_ms(b->live);
    assert_in_range(next_ms, b->now_ms, b->now_ms + 1000);
    /* Neither what is about to happen is passed over, nor does time go back. */
    myr_live_pass(b->live, b->now_ms + HOUR_MS);
    myr_live_pass(b->live, b->now_ms - HOUR_MS);
    assert_int_equal(myr_live_next_ms(b->live), next_ms);
    int64_t from_ms = b->now_ms;
    while (state_of(b, job) != MYR_CONTROL_DONE) {
        pass(b, 1000);
    }
    assert_true(b->now_ms - from_ms >= twenty_minutes.work_ms);
    end(b);
}

static void an_injected_fault_is_healed(void **state)
{
    (void)state;
    const char *fault;
    for (uint32_t i = 0; (fault = myr_live_fault(i, NULL)); i++) {
        struct bench *b = begin(shape, i);
        pass(b, 10 * MINUTE_MS);
        uint32_t strict = submit(b, 7, 32, MYR_RESTART_STRICT);
        uint32_t other = submit(b, 8, 32, MYR_RESTART_EPOCH);
        pass(b, 10 * MINUTE_MS);
        assert_int_equal(state_of(b, strict), MYR_CONTROL_RUNNING);
        assert_int_equal(state_of(b, other), MYR_CONTROL_RUNNING);
        uint32_t nodes[] = {node_of(b, strict), node_of(b, other)};
        for (size_t k = 0; k < 2; k++) {
            assert_int_equal(myr_live_inject(b->live, nodes[k], fault, NULL), MYR_OK);
        }
        bool dies = strcmp(fault, "node-dies") == 0;
        assert_true(!dies || !myr_live_node(b->live, nodes[0]).up);
        pass(b, 3 * HOUR_MS);
        assert_int_equal(state_of(b, strict), MYR_CONTROL_DONE);
        assert_int_equal(state_of(b, other), MYR_CONTROL_DONE);
        assert_true(myr_control_job(b->control, strict).epoch > 1);
        pass(b, 30 * 24 * (int64_t)HOUR_MS); /* parts take their time */
        for (uint32_t n = 0; n < 16; n++) {
            assert_int_equal(myr_control_node(b->control, n).state, MYR_NODE_HEALTHY);
            assert_false(myr_live_node(b->live, n).broken);
        }
        end(b);
    }
}

static void what_cannot_be_injected_is_told(void **state)
{
    (void)state;
    struct bench *b = begin(shape, 1);
    struct myr_err err = {};
    assert_int_equal(myr_live_inject(b->live, 3, "rank-crash", &err), MYR_ESTALE); /* not yet up */
    pass(b, MINUTE_MS);
    assert_int_equal(myr_live_inject(b->live, 3, "flood", &err), MYR_EINVAL);
    assert_non_null(strstr(err.message, "'flood'"));
    assert_non_null(strstr(err.message, "node-dies, node-reboots"));
    assert_int_equal(myr_live_inject(b->live, 16, "rank-crash", &err), MYR_ERANGE);
    struct myr_job_spec spec = spec_of(1, 8, MYR_RESTART_STRICT);
    struct myr_live_run run = twenty_minutes;
    run.step_ms = 0;
    assert_int_equal(myr_live_submit(b->live, &spec, &run, &err), MYR_ERANGE);
    assert_non_null(strstr(err.message, "a step: 0 ms"));
    /* Each time at its bounds: the least, the most, and one beyond. */
    const int64_t most_ms = INT64_C(10) * 366 * 86400000;
    const int64_t least_ms[] = {1, 1, 0, 0};
    for (uint32_t i = 0; i < 4; i++) {
        const int64_t at[] = {least_ms[i], most_ms, least_ms[i] - 1, most_ms + 1};
        for (uint32_t k = 0; k < 4; k++) {
            struct myr_live_run tried = twenty_minutes;
            int64_t *const times[] = {&tried.work_ms, &tried.step_ms, &tried.interval_ms,
                                      &tried.stall_ms};
            *times[i] = at[k];
            spec.token = 1000 + 4 * i + k;
            assert_int_equal(myr_live_submit(b->live, &spec, &tried, &err),
                             k < 2 ? MYR_OK : MYR_ERANGE);
        }
    }
    end(b);
}

/* The page lists them all, in the same words. */
static void every_fault_is_in_the_document(void **state)
{
    (void)state;
    struct myr_buf page = {};
    const char *fault, *does;
    uint32_t count = 0;
    assert_int_equal(myr_file_read(MYR_SOURCE_DIR "/docs/twin.md", 1 << 20, &page, NULL), MYR_OK);
    for (; (fault = myr_live_fault(count, &does)); count++) {
        char row[200];
        snprintf(row, sizeof(row), "| `%s` | %s |\n", fault, does);
        if (!strstr(page.data, row)) {
            fail_msg("docs/twin.md lacks %s", row);
        }
    }
    assert_int_equal(count, 7);
    myr_buf_done(&page);
}

/* The process dies, with the world; the state and what jobs are to do are on disk. */
static void a_new_world_goes_on_with_a_state(void **state)
{
    (void)state;
    struct bench *b = begin(shape, 5);
    pass(b, 10 * MINUTE_MS);
    uint32_t running = submit(b, 7, 32, MYR_RESTART_STRICT);
    pass(b, 12 * MINUTE_MS);
    uint32_t hit = submit(b, 8, 32, MYR_RESTART_STRICT);
    uint32_t fresh = submit(b, 9, 16, MYR_RESTART_EPOCH);
    pass(b, 3 * MINUTE_MS);
    assert_int_equal(myr_live_inject(b->live, node_of(b, hit), "node-dies", NULL), MYR_OK);
    pass(b, 10000);
    int64_t step = myr_control_job(b->control, running).step;
    assert_int_equal(state_of(b, running), MYR_CONTROL_RUNNING);
    assert_true(step > 0);
    struct myr_buf snapshot = {};
    myr_control_save(b->control, &snapshot);
    myr_live_free(b->live);
    myr_control_free(b->control);
    b->now_ms += 5 * MINUTE_MS;
    struct myr_str bytes = {snapshot.data, snapshot.len};
    assert_int_equal(myr_control_load(bytes, &b->control, NULL), MYR_OK);
    myr_buf_done(&snapshot);
    open_world(b, 6);
    for (uint64_t token = 7; token <= 8; token++) { /* nobody knows any more what the third does */
        struct myr_job_spec spec = spec_of(token, 32, MYR_RESTART_STRICT);
        assert_int_equal(myr_live_submit(b->live, &spec, &twenty_minutes, NULL), MYR_OK);
    }
    assert_int_equal(myr_live_adopt(b->live, b->control, NULL), MYR_OK);
    give(b, b->now_ms, &(struct myr_event){.kind = MYR_EVENT_TAKEOVER});
    pass(b, MINUTE_MS);
    assert_int_equal(state_of(b, running), MYR_CONTROL_RUNNING);
    assert_true(myr_control_job(b->control, running).step > step);
    pass(b, 3 * HOUR_MS);
    assert_int_equal(state_of(b, running), MYR_CONTROL_DONE);
    assert_int_equal(myr_control_job(b->control, running).epoch, 1); /* it never stopped */
    assert_int_equal(state_of(b, hit), MYR_CONTROL_DONE);
    assert_int_equal(state_of(b, fresh), MYR_CONTROL_DONE);
    end(b);
}

/* A state may say of steps what it likes: beyond the work there is nothing left to do. */
static void steps_beyond_all_work_are_all_of_it(void **state)
{
    (void)state;
    struct bench *b = begin(shape, 5);
    pass(b, 10 * MINUTE_MS);
    uint32_t job = submit(b, 7, 32, MYR_RESTART_STRICT);
    pass(b, 12 * MINUTE_MS);
    assert_int_equal(state_of(b, job), MYR_CONTROL_RUNNING);
    uint32_t node = node_of(b, job);
    give(b, b->now_ms,
         &(struct myr_event){.kind = MYR_EVENT_STEP,
                             .node = node,
                             .job = job,
                             .epoch = 1,
                             .boot = myr_control_node(b->control, node).boot,
                             .value = INT64_MAX,
                             .saved = INT64_MAX});
    assert_int_equal(myr_control_job(b->control, job).saved_step, INT64_MAX);
    myr_live_free(b->live);
    open_world(b, 6);
    struct myr_job_spec spec = spec_of(7, 32, MYR_RESTART_STRICT);
    assert_int_equal(myr_live_submit(b->live, &spec, &twenty_minutes, NULL), MYR_OK);
    assert_int_equal(myr_live_adopt(b->live, b->control, NULL), MYR_OK);
    pass(b, MINUTE_MS);
    assert_int_equal(state_of(b, job), MYR_CONTROL_DONE);
    end(b);
}

static void a_state_of_another_shape_is_refused(void **state)
{
    (void)state;
    struct bench *b = begin(shape, 1);
    struct myr_place_shape other = {8, 8, 4, 8};
    struct myr_control_policy policy = myr_control_policy_default();
    struct myr_control *control;
    struct myr_err err = {};
    assert_int_equal(myr_control_create(&other, &policy, 1, &control, NULL), MYR_OK);
    assert_int_equal(myr_live_adopt(b->live, control, &err), MYR_EINVAL);
    assert_non_null(strstr(err.message, "8 nodes with 8 GPUs, the world of 16"));
    myr_control_free(control);
    end(b);
}

static void ranks_print_what_they_do(void **state)
{
    (void)state;
    struct bench *b = begin(shape, 2);
    struct myr_buf text = {}, rest = {}, all = {};
    pass(b, 10 * MINUTE_MS);
    uint32_t job = submit(b, 7, 16, MYR_RESTART_STRICT);
    assert_int_equal(myr_live_log(b->live, 99, 3, &text), 3); /* of nobody: nothing */
    pass(b, 10 * MINUTE_MS);
    uint64_t next = myr_live_log(b->live, job, 0, &text);
    assert_int_equal(next, text.len);
    assert_non_null(strstr(text.data, "incarnation 1: world size 16, starts at step 0\n"));
    assert_non_null(strstr(text.data, "/600 | elapsed time per iteration 2000.0 ms | loss "));
    assert_null(strstr(text.data, "done"));
    assert_int_equal(myr_live_inject(b->live, node_of(b, job), "rank-crash", NULL), MYR_OK);
    pass(b, 2 * HOUR_MS);
    assert_int_equal(state_of(b, job), MYR_CONTROL_DONE);
    (void)myr_live_log(b->live, job, next, &rest);
    assert_non_null(strstr(rest.data, "saved checkpoint of step "));
    assert_non_null(strstr(rest.data, "a rank died\n"));
    assert_non_null(strstr(rest.data, "incarnation 2: world size 16, loaded checkpoint of step "));
    assert_non_null(strstr(rest.data, "training is done after 600 iterations\n"));
    (void)myr_live_log(b->live, job, 0, &all);
    assert_int_equal(all.len, text.len + rest.len);
    myr_buf_done(&text);
    myr_buf_done(&rest);
    myr_buf_done(&all);
    end(b);
}

static const char stormy[] = "cluster: {nodes: 16, leaf_nodes: 4}\n"
                             "practice: best\n"
                             "faults: {rate: 2000}\n"
                             "messages: {lost_ppm: 20000, twice_ppm: 20000, late_ppm: 20000}\n"
                             "partitions: {per_day: 24, nodes: 2, minutes: 8}\n"
                             "control: {drain_permille: 500}\n"
                             "jobs: []\n";

static uint64_t storm(uint64_t seed)
{
    struct bench *b = begin(stormy, seed);
    pass(b, 10 * MINUTE_MS);
    for (uint64_t token = 1; token <= 30; token++) {
        (void)submit(b, token, (uint32_t)(1 + token * 7 % 24),
                     token % 2 ? MYR_RESTART_EPOCH : MYR_RESTART_STRICT);
        pass(b, 10 * MINUTE_MS);
    }
    pass(b, 48 * HOUR_MS);
    uint32_t done = 0;
    for (uint32_t job = 0; job < 30; job++) {
        done += state_of(b, job) == MYR_CONTROL_DONE;
    }
    assert_int_equal(done, 30);
    uint64_t hash = myr_control_hash(b->control);
    end(b);
    return hash;
}

static void faults_are_drawn_from_the_seed_and_jobs_survive_them(void **state)
{
    (void)state;
    uint64_t first = storm(1);
    assert_true(first == storm(1));
    assert_true(first != storm(2));
    (void)storm(3);
}

/* The process dies again and again, at any time; it writes what it decides before it acts. */
static void reopen(struct bench *b, uint64_t seed, uint64_t jobs)
{
    const char *first;
    struct myr_buf snapshot = {};
    if (myr_live_violations(b->live, &first) > 0) {
        fail_msg("%s", first);
    }
    myr_control_save(b->control, &snapshot);
    myr_live_free(b->live);
    myr_control_free(b->control);
    struct myr_str bytes = {snapshot.data, snapshot.len};
    assert_int_equal(myr_control_load(bytes, &b->control, NULL), MYR_OK);
    myr_buf_done(&snapshot);
    open_world(b, seed);
    for (uint64_t token = 1; token <= jobs; token++) {
        struct myr_job_spec spec =
            myr_control_job(b->control, myr_control_find(b->control, token)).spec;
        assert_int_equal(myr_live_submit(b->live, &spec, &twenty_minutes, NULL), MYR_OK);
    }
    assert_int_equal(myr_live_adopt(b->live, b->control, NULL), MYR_OK);
    give(b, b->now_ms, &(struct myr_event){.kind = MYR_EVENT_TAKEOVER});
}

static void worlds_that_die_at_any_time_break_nothing(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct bench *b = begin(stormy, seed);
        struct myr_rng rng;
        myr_rng_init(&rng, seed, 1);
        pass(b, 10 * MINUTE_MS);
        for (uint64_t token = 1; token <= 30; token++) {
            (void)submit(b, token, (uint32_t)(1 + token * 7 % 24),
                         token % 2 ? MYR_RESTART_EPOCH : MYR_RESTART_STRICT);
            pass(b, (int64_t)myr_rng_below(&rng, 20 * MINUTE_MS));
            reopen(b, seed + token * 100, token);
        }
        pass(b, 48 * HOUR_MS);
        for (uint32_t job = 0; job < 30; job++) {
            if (state_of(b, job) != MYR_CONTROL_DONE) {
                fail_msg("seed %d: job %u is %s", (int)seed, job,
                         myr_control_job_state_name(state_of(b, job)));
            }
        }
        end(b);
    }
}

static void a_controller_with_a_bug_is_found_out(void **state)
{
    (void)state;
    uint64_t violations = 0;
    for (uint64_t seed = 1; seed <= 5 && violations == 0; seed++) {
        struct bench *b = begin(stormy, seed);
        myr_control_plant(b->control, MYR_PLANTED_DOUBLE_RUN);
        pass(b, 10 * MINUTE_MS);
        for (uint64_t token = 1; token <= 30; token++) {
            (void)submit(b, token, 24, MYR_RESTART_STRICT);
            pass(b, 10 * MINUTE_MS);
        }
        violations = myr_live_violations(b->live, NULL);
        myr_live_free(b->live);
        myr_control_free(b->control);
        myr_scenario_done(&b->scenario);
        myr_arena_done(&b->arena);
        free(b);
    }
    assert_true(violations > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_nodes_join_and_jobs_run_to_their_end),
        cmocka_unit_test(an_injected_fault_is_healed),
        cmocka_unit_test(an_order_leaves_when_it_is_decided),
        cmocka_unit_test(what_cannot_be_injected_is_told),
        cmocka_unit_test(every_fault_is_in_the_document),
        cmocka_unit_test(a_new_world_goes_on_with_a_state),
        cmocka_unit_test(steps_beyond_all_work_are_all_of_it),
        cmocka_unit_test(a_state_of_another_shape_is_refused),
        cmocka_unit_test(ranks_print_what_they_do),
        cmocka_unit_test(faults_are_drawn_from_the_seed_and_jobs_survive_them),
        cmocka_unit_test(worlds_that_die_at_any_time_break_nothing),
        cmocka_unit_test(a_controller_with_a_bug_is_found_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
