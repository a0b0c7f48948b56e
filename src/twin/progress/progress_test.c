/*
 * What must go on: each rule is broken by a bug that is planted, or by a world that is told by
 * hand, and holds where nothing is wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "myriad/twin.h"
#include "progress/progress.h"

#define HARD MYR_SOURCE_DIR "/examples/twin/hard-storm.yaml"

/* How often a rule was broken in a run of the hard storm. */
static uint64_t broken(enum myr_planted planted, uint64_t seed, const char *rule)
{
    struct myr_arena arena;
    struct myr_scenario scenario;
    struct myr_twin_result result;
    struct myr_err err = {};
    struct myr_twin_options options = {.seed = seed, .planted = planted};
    uint64_t count = 0;
    myr_arena_init(&arena);
    if (myr_scenario_read(&scenario, &arena, HARD, &err) < 0 ||
        myr_twin_run(&scenario, &options, &result, &err) < 0) {
        fail_msg("%s", err.message);
    }
    for (uint32_t i = 0; i < result.broken_count; i++) {
        count += strcmp(result.broken[i].rule, rule) == 0 ? result.broken[i].count : 0;
    }
    myr_twin_result_done(&result);
    myr_scenario_done(&scenario);
    myr_arena_done(&arena);
    return count;
}

static void found(enum myr_planted planted, const char *rule)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        if (broken(planted, seed, rule) > 0) {
            return;
        }
    }
    fail_msg("planted %d broke no '%s'", (int)planted, rule);
}

static void a_claim_from_before_a_drain_is_found(void **state)
{
    (void)state;
    found(MYR_PLANTED_CLAIM_ON_DRAINED, "drained");
}

static void a_journal_that_skips_a_weight_is_found(void **state)
{
    (void)state;
    found(MYR_PLANTED_LOST_WEIGHT, "journal");
}

static void a_start_in_place_beside_older_ranks_is_found(void **state)
{
    (void)state;
    found(MYR_PLANTED_BESIDE_ITSELF, "two-lives");
}

/* ---- the watcher itself, told by hand ---- */

/* Four nodes of eight GPUs; each test says what else its scenario has. */
struct told {
    struct myr_arena arena;
    struct myr_scenario scenario;
    struct check *check;
    struct progress *progress;
    int64_t now_ms;
};

static void effect(struct told *t, struct myr_effect e)
{
    check_effect(t->check, &e);
    progress_effect(t->progress, &e);
}

static void begin(struct told *t, enum myr_event_kind kind, uint32_t node, uint32_t job)
{
    struct myr_event event = {.kind = (uint8_t)kind, .node = node, .job = job};
    check_time(t->check, t->now_ms);
    progress_begin(t->progress, &event, t->now_ms);
}

static void end(struct told *t)
{
    progress_end(t->progress);
    check_event_done(t->check);
}

static void node_is(struct told *t, uint32_t node, enum myr_node_state state)
{
    begin(t, MYR_EVENT_TICK, 0, 0);
    effect(t, (struct myr_effect){.kind = MYR_EFFECT_NODE, .node = node, .state = (uint8_t)state});
    end(t);
}

static void job_is(struct told *t, uint32_t job, uint32_t epoch, enum myr_control_job_state state)
{
    begin(t, MYR_EVENT_TICK, 0, 0);
    effect(t, (struct myr_effect){.kind = MYR_EFFECT_JOB,
                                  .node = MYR_NONE,
                                  .job = job,
                                  .epoch = epoch,
                                  .state = (uint8_t)state});
    end(t);
}

/* The job gets these nodes and is started there. */
static void place(struct told *t, uint32_t job, uint32_t epoch, uint32_t first, uint32_t count)
{
    begin(t, MYR_EVENT_TICK, 0, 0);
    struct myr_effect says = {.kind = MYR_EFFECT_JOB, .node = MYR_NONE, .job = job, .epoch = epoch};
    says.state = MYR_CONTROL_PLACING;
    effect(t, says);
    for (uint32_t n = first; n < first + count; n++) {
        effect(t,
               (struct myr_effect){
                   .kind = MYR_EFFECT_GRANT, .node = n, .job = job, .epoch = epoch, .gpus = 255});
    }
    says.state = MYR_CONTROL_STARTING;
    effect(t, says);
    for (uint32_t n = first; n < first + count; n++) {
        effect(t, (struct myr_effect){.kind = MYR_EFFECT_START,
                                      .node = n,
                                      .job = job,
                                      .epoch = epoch,
                                      .first_rank = 8 * (n - first),
                                      .world = 8 * count,
                                      .gpus = 255});
    }
    end(t);
}

static void leave(struct told *t, uint32_t job, uint32_t first, uint32_t count)
{
    begin(t, MYR_EVENT_TICK, 0, 0);
    for (uint32_t n = first; n < first + count; n++) {
        effect(t,
               (struct myr_effect){.kind = MYR_EFFECT_RELEASE, .node = n, .job = job, .gpus = 255});
    }
    end(t);
}

static void submit(struct told *t, uint32_t id, uint32_t gpus, int32_t priority)
{
    struct myr_job_spec spec = {.token = id + 1, .gpus = gpus, .priority = priority};
    check_job(t->check, id, gpus, true);
    progress_job(t->progress, id, &spec);
}

static void wait_min(struct told *t, int64_t minutes)
{
    for (int64_t i = 0; i < minutes; i++) {
        t->now_ms += 60000;
        check_time(t->check, t->now_ms);
        progress_look(t->progress, t->now_ms, true);
    }
}

static void tell_of(struct told *t, const char *more)
{
    struct myr_err err = {};
    struct myr_buf text = {};
    *t = (struct told){};
    myr_arena_init(&t->arena);
    myr_buf_printf(&text, "cluster: {nodes: 4, leaf_nodes: 4}\njobs: []\n%s", more);
    if (myr_scenario_parse(&t->scenario, &t->arena, "test", (struct myr_str){text.data, text.len},
                           &err) < 0) {
        fail_msg("%s", err.message);
    }
    myr_buf_done(&text);
    t->check = check_create(4, 8);
    t->progress = progress_create(t->check, &t->scenario);
    for (uint32_t n = 0; n < 4; n++) {
        node_is(t, n, MYR_NODE_HEALTHY);
    }
    progress_look(t->progress, 0, true);
}

/* How often the rule was broken, and no other of progress; the books are closed. */
static uint64_t heard(struct told *t, enum rule rule)
{
    const struct check_report *report = check_report(t->check);
    uint64_t count = report->by_rule[rule];
    for (uint32_t r = RULE_IDLE; r < RULE_COUNT; r++) {
        if (r != (uint32_t)rule && report->by_rule[r] > 0) {
            fail_msg("%s: %s", rule_names[r], report->first);
        }
    }
    progress_free(t->progress);
    check_free(t->check);
    myr_scenario_done(&t->scenario);
    myr_arena_done(&t->arena);
    return count;
}

static void who_waits_beside_room_is_heard(void **state)
{
    (void)state;
    struct told t;
    for (int with = 0; with < 4; with++) {
        tell_of(&t, with == 3 ? "spares: 2\n" : "");
        submit(&t, 0, 16, 0);
        if (with == 1) { /* a larger one waits too, and does not fit */
            node_is(&t, 3, MYR_NODE_REPAIR);
            submit(&t, 1, 32, 0);
        } else if (with == 2) { /* there is no room */
            submit(&t, 1, 24, 0);
            place(&t, 1, 1, 0, 3);
        } else if (with == 3) { /* two are spares, and one is used */
            submit(&t, 1, 8, 0);
            place(&t, 1, 1, 0, 1);
        }
        wait_min(&t, 17);
        assert_int_equal(heard(&t, RULE_IDLE), with == 0);
    }
}

/* A place is of all its nodes: a bad one that is well again is nobody else's room, for so long. */
static void who_waits_beside_the_place_of_a_broken_gang_is_not_heard(void **state)
{
    (void)state;
    struct told t;
    for (int with = 0; with < 3; with++) {
        tell_of(&t, "");
        submit(&t, 0, 16, 0);
        submit(&t, 1, 8, 0);
        submit(&t, 2, 16, 0);
        place(&t, 0, 1, 0, 2);
        place(&t, 1, 1, 3, 1);
        job_is(&t, 0, 1, MYR_CONTROL_RUNNING);
        node_is(&t, 1, MYR_NODE_SUSPECT);
        job_is(&t, 0, 1, with == 2 ? MYR_CONTROL_CANCELLED : MYR_CONTROL_RECOVERING);
        leave(&t, 0, 0, 2);
        node_is(&t, 1, MYR_NODE_HEALTHY);
        wait_min(&t, with == 1 ? 35 : 20);
        assert_int_equal(heard(&t, RULE_IDLE), with > 0);
    }
}

static void who_takes_the_place_of_a_broken_gang_is_heard(void **state)
{
    (void)state;
    struct told t;
    for (int with = 0; with < 4; with++) {
        tell_of(&t, "");
        submit(&t, 0, 24, 0);
        submit(&t, 1, 8, with == 1 ? 5 : 0);
        place(&t, 0, 1, 0, 3);
        job_is(&t, 0, 1, MYR_CONTROL_RUNNING);
        /* Stopped to make room it has no claim to its nodes. */
        job_is(&t, 0, 1, with == 2 ? MYR_CONTROL_SAVING : MYR_CONTROL_RECOVERING);
        leave(&t, 0, 0, 3);
        job_is(&t, 0, 1, MYR_CONTROL_QUEUED);
        wait_min(&t, with == 3 ? 14 : 3);
        place(&t, 1, 1, 1, 1);
        assert_int_equal(heard(&t, RULE_DISPLACED), with == 0);
    }
}

static void who_is_overtaken_for_long_is_heard(void **state)
{
    (void)state;
    struct told t;
    for (int with = 0; with < 2; with++) {
        tell_of(&t, "");
        submit(&t, 0, 16, 0);
        submit(&t, 1, 32, 0);
        submit(&t, 2, 16, 0);
        /* Of the two that run, one came before the one that waits, and one after. */
        place(&t, 2, 1, 0, 2);
        if (with == 1) {
            place(&t, 0, 1, 2, 2);
            submit(&t, 3, 8, 0);
        } else {
            job_is(&t, 0, 0, MYR_CONTROL_CANCELLED);
        }
        wait_min(&t, 24 * 60 + 30);
        assert_int_equal(heard(&t, RULE_OVERTAKEN), with == 0);
    }
}

static void who_passes_a_higher_priority_is_heard(void **state)
{
    (void)state;
    struct told t;
    for (int with = 0; with < 4; with++) {
        tell_of(&t, "");
        submit(&t, 0, 32, 0);
        place(&t, 0, 1, 0, 4);
        submit(&t, 1, with == 1 ? 24 : 8, 5);
        submit(&t, 2, 8, with == 2 ? 5 : 0);
        wait_min(&t, 20);
        leave(&t, 0, 0, 1);
        if (with == 3) { /* it had its turn between two looks, and pauses */
            place(&t, 1, 1, 0, 1);
            job_is(&t, 1, 1, MYR_CONTROL_RECOVERING);
            leave(&t, 1, 0, 1);
            job_is(&t, 1, 1, MYR_CONTROL_QUEUED);
        }
        place(&t, 2, 1, 0, 1);
        assert_int_equal(heard(&t, RULE_PRIORITY), with == 0);
    }
}

static void repairs_beyond_the_limit_are_heard(void **state)
{
    (void)state;
    struct told t;
    for (int with = 0; with < 3; with++) {
        tell_of(&t, "control: {drain_permille: 250}\n");
        if (with == 1) { /* a person allows one more */
            struct myr_event event = {.kind = MYR_EVENT_APPROVE, .value = 1};
            node_is(&t, 3, MYR_NODE_DRAINING);
            progress_begin(t.progress, &event, 0);
            end(&t);
        }
        for (uint32_t n = 0; n < 2; n++) {
            node_is(&t, n, MYR_NODE_DRAINED);
            begin(&t, MYR_EVENT_TICK, 0, 0);
            effect(&t, (struct myr_effect){.kind = MYR_EFFECT_REPAIR, .node = n, .job = MYR_NONE});
            end(&t);
            if (with == 2) { /* the first is back before the second goes */
                begin(&t, MYR_EVENT_JOIN, n, 0);
                end(&t);
            }
        }
        assert_int_equal(heard(&t, RULE_DRAIN_LIMIT), with == 0);
    }
}

static void retries_without_a_pause_are_heard(void **state)
{
    (void)state;
    struct told t;
    static const int64_t pauses_ms[] = {100, 1000};
    for (int with = 0; with < 2; with++) {
        tell_of(&t, "");
        submit(&t, 0, 32, 0);
        for (uint32_t epoch = 1; epoch <= 3; epoch++) {
            place(&t, 0, epoch, 0, 4);
            for (uint32_t n = 0; n < 4; n++) { /* all of them say so: it counts once */
                struct myr_event event = {.kind = MYR_EVENT_STARTED,
                                          .code = MYR_START_OWN_FAULT,
                                          .node = n,
                                          .epoch = epoch};
                progress_begin(t.progress, &event, ++t.now_ms);
                end(&t);
            }
            leave(&t, 0, 0, 4);
            t.now_ms += pauses_ms[with] << (epoch - 1);
        }
        assert_int_equal(heard(&t, RULE_RETRY), with == 0 ? 2 : 0);
    }
}

static void starts_in_windows_are_heard(void **state)
{
    (void)state;
    struct told t;
    for (int with = 0; with < 4; with++) {
        tell_of(&t, "maintenance:\n  - {first: 0, count: 2, at_h: 5, hours: 2, drain_h: 1}\n");
        struct myr_job_spec spec = {.token = 1, .gpus = 8, .limit_s = with == 1 ? 600 : 0};
        check_job(t.check, 0, 8, true);
        progress_job(t.progress, 0, &spec);
        /* Half an hour before it begins; beside it; and before anybody has to leave. */
        t.now_ms = with == 3 ? 3 * 3600000 : 9 * 1800000;
        place(&t, 0, 1, with == 2 ? 2 : 0, 1);
        assert_int_equal(heard(&t, RULE_WINDOW), with == 0);
    }
}

static void a_sound_node_that_stays_out_in_peace_is_heard(void **state)
{
    (void)state;
    struct told t;
    for (int with = 0; with < 3; with++) {
        tell_of(&t, "");
        node_is(&t, 2, MYR_NODE_REPAIR);
        progress_calm(t.progress, true);
        for (int i = 0; i < 130; i++) {
            wait_min(&t, 1);
            if (with == 1 && i == 100) {
                node_is(&t, 2, MYR_NODE_HEALTHY);
            }
            progress_node(t.progress, 2, with != 2);
        }
        assert_int_equal(heard(&t, RULE_UNMENDED), with == 0);
    }
}

static void who_does_not_end_in_peace_is_heard(void **state)
{
    (void)state;
    struct told t;
    for (int with = 0; with < 2; with++) {
        tell_of(&t, "");
        submit(&t, 0, 32, 0);
        place(&t, 0, 1, 0, 4);
        progress_last(t.progress, UINT64_C(32) * 600000);
        wait_min(&t, 300);
        if (with == 1) {
            job_is(&t, 0, 1, MYR_CONTROL_CANCELLED);
        }
        wait_min(&t, 100);
        assert_int_equal(heard(&t, RULE_ENDLESS), with == 0);
    }
}

/* Other worlds are drawn from the seed, and reach places that the scenario itself does not. */
static void a_search_goes_towards_places_that_were_not_reached(void **state)
{
    (void)state;
    static const char text[] =
        "cluster: {nodes: 8, leaf_nodes: 4}\nhours: 4\npolicy: fair\nfaults: {rate: 500}\n"
        "jobs:\n  - {count: 20, gpus: {1: 1, 8: 1, 16: 1}, hours: [0.1, 0.5, 1]}\n";
    size_t reached[2] = {};
    for (int more = 0; more < 2; more++) {
        struct myr_arena arena;
        struct myr_scenario scenario;
        struct myr_search_result r;
        struct myr_search_options options = {.first_seed = 1, .seeds = 2, .worlds = more ? 10 : 0};
        myr_arena_init(&arena);
        assert_int_equal(myr_scenario_parse(&scenario, &arena, "test", myr_str_from(text), NULL),
                         MYR_OK);
        assert_int_equal(myr_twin_search(&scenario, &options, &r, NULL), MYR_OK);
        for (size_t i = 0; i < r.marks.count; i++) {
            reached[more] += r.marks.items[i].runs > 0;
            assert_true(!r.marks.items[i].in_worlds || more == 1);
        }
        assert_true(r.found || r.worlds == options.worlds);
        assert_in_range(reached[more], 1, r.marks.count);
        myr_search_result_done(&r);
        myr_scenario_done(&scenario);
        myr_arena_done(&arena);
    }
    assert_true(reached[1] > reached[0]);
}

/* ---- where gangs lie ---- */

static void lever(struct told *t, enum myr_event_kind kind, uint32_t job, uint8_t code)
{
    struct myr_event event = {.kind = (uint8_t)kind, .job = job, .code = code};
    progress_begin(t->progress, &event, t->now_ms);
    end(t);
}

static void a_held_job_that_starts_is_heard(void **state)
{
    (void)state;
    struct told t;
    for (int with = 0; with < 4; with++) {
        tell_of(&t, "");
        struct myr_job_spec spec = {.token = 1, .gpus = 8, .held = with == 0};
        spec.date_min = with == 3 ? 60 : 0;
        check_job(t.check, 0, 8, true);
        progress_job(t.progress, 0, &spec);
        if (with > 0) {
            lever(&t, MYR_EVENT_HOLD_JOB, 0, with < 3);
        }
        if (with == 2) {
            lever(&t, MYR_EVENT_HOLD_JOB, 0, 0);
        }
        place(&t, 0, 1, 0, 1);
        assert_int_equal(heard(&t, RULE_HELD), with < 2); /* let go, a date is no more either */
    }
    tell_of(&t, "");
    struct myr_job_spec spec = {.token = 1, .gpus = 8, .date_min = 60};
    check_job(t.check, 0, 8, true);
    progress_job(t.progress, 0, &spec);
    place(&t, 0, 1, 0, 1);
    assert_int_equal(heard(&t, RULE_HELD), 1);
}

static void start(struct told *t, struct myr_effect more)
{
    more.kind = MYR_EFFECT_START;
    more.gpus = 255;
    effect(t, more);
}

static void ranks_that_are_nobodys_or_twice_are_heard(void **state)
{
    (void)state;
    struct told t;
    for (int with = 0; with < 5; with++) {
        tell_of(&t, "");
        submit(&t, 0, 16, 0);
        place(&t, 0, 1, 0, 2);
        begin(&t, MYR_EVENT_TICK, 0, 0);
        if (with == 1) { /* said again */
            start(&t, (struct myr_effect){.node = 1, .epoch = 1, .first_rank = 8, .world = 16});
        } else if (with == 2) { /* other ranks */
            start(&t, (struct myr_effect){.node = 1, .epoch = 1, .world = 16});
        } else if (with == 3) { /* a node too many */
            start(&t, (struct myr_effect){.node = 2, .epoch = 1, .first_rank = 8, .world = 16});
        } else if (with == 4) { /* a smaller world, and nobody asked for that */
            start(&t, (struct myr_effect){.node = 0, .epoch = 2, .world = 8});
        }
        end(&t);
        assert_int_equal(heard(&t, RULE_RANKS), with >= 2);
    }
}

static void who_lies_otherwise_than_asked_is_heard(void **state)
{
    (void)state;
    struct told t;
    for (uint32_t most = 0; most < 4; most++) {
        tell_of(&t, "");
        struct myr_job_spec spec = {.token = 1, .gpus = 16, .wish = {.leaf_max = most}};
        check_job(t.check, 0, 16, true);
        progress_job(t.progress, 0, &spec);
        place(&t, 0, 1, 0, 2);
        assert_int_equal(heard(&t, RULE_WISH), most == 1);
    }
}

/* A part of a node that was empty, where one in use has room. */
static void who_opens_a_node_for_nothing_is_heard(void **state)
{
    (void)state;
    struct told t;
    for (int with = 0; with < 3; with++) {
        tell_of(&t, with == 2 ? "spares: 1\n" : "");
        submit(&t, 0, 4, 0);
        submit(&t, 1, with == 1 ? 5 : 4, 0);
        for (uint32_t job = 0; job < 2; job++) {
            uint64_t gpus = job == 1 && with == 1 ? 31 : 15;
            uint32_t world = (uint32_t)__builtin_popcountll(gpus);
            struct myr_effect e = {.node = job, .job = job, .epoch = 1, .world = world};
            e.gpus = gpus;
            begin(&t, MYR_EVENT_TICK, 0, 0);
            effect(&t, (struct myr_effect){
                           .kind = MYR_EFFECT_JOB, .job = job, .state = MYR_CONTROL_PLACING});
            e.kind = MYR_EFFECT_GRANT;
            effect(&t, e);
            effect(&t, (struct myr_effect){
                           .kind = MYR_EFFECT_JOB, .job = job, .state = MYR_CONTROL_STARTING});
            e.kind = MYR_EFFECT_START;
            effect(&t, e);
            end(&t);
        }
        assert_int_equal(heard(&t, RULE_SCATTERED), with == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_claim_from_before_a_drain_is_found),
        cmocka_unit_test(a_journal_that_skips_a_weight_is_found),
        cmocka_unit_test(a_start_in_place_beside_older_ranks_is_found),
        cmocka_unit_test(who_waits_beside_room_is_heard),
        cmocka_unit_test(who_takes_the_place_of_a_broken_gang_is_heard),
        cmocka_unit_test(who_is_overtaken_for_long_is_heard),
        cmocka_unit_test(who_waits_beside_the_place_of_a_broken_gang_is_not_heard),
        cmocka_unit_test(who_passes_a_higher_priority_is_heard),
        cmocka_unit_test(a_held_job_that_starts_is_heard),
        cmocka_unit_test(ranks_that_are_nobodys_or_twice_are_heard),
        cmocka_unit_test(who_lies_otherwise_than_asked_is_heard),
        cmocka_unit_test(who_opens_a_node_for_nothing_is_heard),
        cmocka_unit_test(repairs_beyond_the_limit_are_heard),
        cmocka_unit_test(retries_without_a_pause_are_heard),
        cmocka_unit_test(starts_in_windows_are_heard),
        cmocka_unit_test(a_sound_node_that_stays_out_in_peace_is_heard),
        cmocka_unit_test(who_does_not_end_in_peace_is_heard),
        cmocka_unit_test(a_search_goes_towards_places_that_were_not_reached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
