#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "myriad/twin.h"

static const char small[] = "cluster: {nodes: 16, leaf_nodes: 4}\n"
                            "hours: 6\n"
                            "practice: best\n"
                            "spares: 1\n"
                            "faults: {rate: 900}\n"
                            "check_every: 200\n"
                            "jobs:\n"
                            "  - {count: 40, gpus: {1: 3, 8: 3, 16: 1}, hours: [0.1, 0.3, 1],\n"
                            "     arrive_h: [0, 2]}\n";

static struct myr_scenario parse(struct myr_arena *arena, const char *text)
{
    struct myr_scenario scenario;
    struct myr_err err = {};
    if (myr_scenario_parse(&scenario, arena, "test.yaml", myr_str_from(text), &err) < 0) {
        fail_msg("%s", err.message);
    }
    return scenario;
}

static struct myr_twin_result run(const struct myr_scenario *scenario, uint64_t seed)
{
    struct myr_twin_result result;
    struct myr_twin_options options = {.seed = seed};
    struct myr_err err = {};
    if (myr_twin_run(scenario, &options, &result, &err) < 0) {
        fail_msg("%s", err.message);
    }
    return result;
}

static void the_same_seed_gives_the_same_run(void **state)
{
    (void)state;
    struct myr_arena arena;
    myr_arena_init(&arena);
    struct myr_scenario scenario = parse(&arena, small);
    struct myr_twin_result a = run(&scenario, 3), b = run(&scenario, 3), c = run(&scenario, 4);
    assert_true(a.hash == b.hash && a.hash != c.hash);
    assert_int_equal(a.events, b.events);
    assert_true(a.faults > 0 && a.compares > 0);
    assert_int_equal(a.violations + c.violations, 0);
    myr_twin_result_done(&a);
    myr_twin_result_done(&b);
    myr_twin_result_done(&c);
    myr_scenario_done(&scenario);
    myr_arena_done(&arena);
}

/* However often the controller dies, in whatever part of an event, the same jobs are done. */
static void a_crash_at_every_100th_event_loses_nothing(void **state)
{
    (void)state;
    struct myr_arena arena;
    myr_arena_init(&arena);
    struct myr_scenario scenario = parse(&arena, small);
    scenario.length_ms = 24 * 3600000; /* time enough for all of them */
    for (uint64_t seed = 1; seed <= 3; seed++) {
        scenario.crashes.every_events = 0;
        struct myr_twin_result quiet = run(&scenario, seed);
        scenario.crashes.every_events = 100;
        scenario.crashes.length_ms = 5000;
        struct myr_twin_result crashed = run(&scenario, seed);
        assert_int_equal(quiet.violations + crashed.violations, 0);
        assert_true(crashed.crashes > 10);
        assert_int_equal(quiet.done, 40);
        assert_int_equal(crashed.done, 40);
        assert_true(quiet.jobs_hash == crashed.jobs_hash);
        myr_twin_result_done(&quiet);
        myr_twin_result_done(&crashed);
    }
    myr_scenario_done(&scenario);
    myr_arena_done(&arena);
}

static void a_scenario_is_written_as_it_was_read(void **state)
{
    (void)state;
    struct myr_arena arena;
    myr_arena_init(&arena);
    struct myr_scenario scenario = parse(&arena, small);
    struct myr_buf once = {}, again = {};
    myr_scenario_write(&scenario, &once);
    struct myr_scenario second = parse(&arena, once.data);
    myr_scenario_write(&second, &again);
    assert_string_equal(once.data, again.data);
    struct myr_twin_result a = run(&scenario, 1), b = run(&second, 1);
    assert_true(a.hash == b.hash);
    myr_twin_result_done(&a);
    myr_twin_result_done(&b);
    myr_buf_done(&once);
    myr_buf_done(&again);
    myr_scenario_done(&scenario);
    myr_scenario_done(&second);
    myr_arena_done(&arena);
}

static void a_saved_case_replays_to_the_same_hash(void **state)
{
    (void)state;
    struct myr_arena arena;
    myr_arena_init(&arena);
    struct myr_scenario scenario = parse(&arena, small);
    struct myr_twin_result first = run(&scenario, 8), second;
    struct myr_twin_case it;
    struct myr_buf text = {};
    myr_twin_case_write(&scenario, &first, &text);
    struct myr_str words = {text.data, text.len};
    assert_int_equal(myr_twin_case_parse(&it, &arena, "case", words, NULL), MYR_OK);
    assert_int_equal(myr_twin_replay(&it, NULL, NULL, &second, NULL), MYR_OK);
    assert_true(second.hash == it.hash);
    myr_twin_result_done(&first);
    myr_twin_result_done(&second);
    myr_twin_case_done(&it);
    myr_buf_done(&text);
    myr_scenario_done(&scenario);
    myr_arena_done(&arena);
}

static void what_is_left_out_leaves_the_rest_as_it_was(void **state)
{
    (void)state;
    struct myr_arena arena;
    myr_arena_init(&arena);
    char text[1024];
    snprintf(text, sizeof(text), "%sleave_out:\n  faults: [0, 2]\n  jobs: [39]\n", small);
    struct myr_scenario all = parse(&arena, small), some = parse(&arena, text);
    struct myr_twin_result a = run(&all, 1), b = run(&some, 1);
    assert_int_equal(a.submitted, 40);
    assert_int_equal(b.submitted, 39);
    assert_int_equal(a.drawn[MYR_SCENARIO_FAULTS], b.drawn[MYR_SCENARIO_FAULTS]);
    assert_true(b.faults < a.faults);
    myr_twin_result_done(&a);
    myr_twin_result_done(&b);
    myr_scenario_done(&all);
    myr_scenario_done(&some);
    myr_arena_done(&arena);
}

static void bad_scenarios_get_one_line_with_their_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"jobs: []\n", "'cluster' with 'nodes'"},
        {"cluster: {nodes: 4}\n", "jobs"},
        {"cluster: {nodes: 4, leafs: 2}\njobs: []\n", "leaf_nodes"},
        {"cluster: {nodes: many}\njobs: []\n", "test.yaml:1:"},
        {"cluster: {nodes: 4}\njobs:\n  - {gpus: 64, hours: 1}\n", "test.yaml:3:"},
        {"cluster: {nodes: 4}\njobs:\n  - {gpus: 8}\n", "hours"},
        {"cluster: {nodes: 4}\njobs:\n  - {gpus: 8, hours: [3, 2, 1]}\n", "rising"},
        {"cluster: {nodes: 4}\njobs: []\nfaults: {rate: often}\n", "rate"},
        {"cluster: {nodes: 4}\njobs: []\nmaintenance:\n  - {first: 3, count: 2}\n", "nodes 3 to 4"},
        {"cluster: {nodes: 4}\njobs: 7\n", "jobs"},
        {"cluster: {nodes: 4}\njobs: []\nfaults: {rate: 0}\n", "test.yaml:3:16: 'rate' is '0'"},
        {"cluster: {nodes: 4}\njobs: []\nfaults: {rate: 2e6}\n", "from 1e-06 to 1e+06"},
        {"cluster: {nodes: 4}\njobs: []\ndays: 1\nhours: 2\n", "test.yaml:3:7: 'days' and 'hours'"},
        {"cluster: {nodes: 4}\njobs: []\nspares: 4\n", "test.yaml:3:9: 'spares' is 4, below"},
        {"- 1\n", "test.yaml:1:"},
        {"", "test.yaml"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_arena arena;
        myr_arena_init(&arena);
        struct myr_scenario scenario;
        struct myr_err err = {};
        int rc =
            myr_scenario_parse(&scenario, &arena, "test.yaml", myr_str_from(cases[i].text), &err);
        assert_true(rc < 0);
        if (!strstr(err.message, cases[i].says)) {
            fail_msg("'%s' is not in '%s'", cases[i].says, err.message);
        }
        myr_arena_done(&arena);
    }
}

static void an_unknown_key_is_told_with_the_known_ones(void **state)
{
    (void)state;
    struct myr_arena arena;
    struct myr_scenario scenario;
    struct myr_err err = {};
    myr_arena_init(&arena);
    struct myr_str text = MYR_STR("cluster: {nodes: 4}\njobs: []\nzzzzzz: 1\n");
    assert_true(myr_scenario_parse(&scenario, &arena, "test.yaml", text, &err) < 0);
    assert_non_null(strstr(err.message, "test.yaml:3:1: unknown key 'zzzzzz'"));
    assert_non_null(strstr(err.hint, "known keys: "));
    assert_non_null(strstr(err.hint, "maintenance"));
    assert_non_null(strstr(err.hint, "leave_out"));
    myr_arena_done(&arena);
}

/* So many that less than a millisecond lies between two. */
static void faults_that_come_faster_than_time_is_counted_still_come(void **state)
{
    (void)state;
    struct myr_arena arena;
    struct myr_err err = {};
    myr_arena_init(&arena);
    struct myr_scenario scenario =
        parse(&arena, "cluster: {nodes: 100000}\nhours: 0.001\nfaults: {rate: 1e6}\njobs: []\n");
    struct myr_twin_result result;
    struct myr_twin_options options = {.seed = 1, .events_most = 1500};
    assert_int_equal(myr_twin_run(&scenario, &options, &result, &err), MYR_OK);
    assert_true(result.drawn[MYR_SCENARIO_FAULTS] > 0);
    myr_twin_result_done(&result);
    myr_scenario_done(&scenario);
    myr_arena_done(&arena);
}

/* The mean of such a wait is longer than any number of milliseconds. */
static void trouble_that_comes_once_in_an_age_never_comes(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    myr_arena_init(&arena);
    struct myr_scenario scenario = parse(&arena, "cluster: {nodes: 1}\nhours: 2\n"
                                                 "partitions: {per_day: 1e-300}\n"
                                                 "drains: {per_day: 1e-300}\n"
                                                 "clock: {per_day: 1e-30}\n"
                                                 "jobs:\n  - {gpus: 8, hours: 0.1}\n");
    /* As little as can be counted: one in ten to the twelfth hours. */
    scenario.class_count = 1;
    scenario.classes[0] = (struct myr_scenario_class){.key = "rate.nic", .per_1e12_node_h = 1};
    struct myr_twin_result result = run(&scenario, 1);
    assert_int_equal(result.faults + result.partitions + result.drains + result.clock_steps, 0);
    assert_int_equal(result.violations, 0);
    myr_twin_result_done(&result);
    myr_scenario_done(&scenario);
}

/* Half a day between two states is too long: a node that is cut off for good, and never fenced. */
static void a_job_that_is_stuck_for_half_a_day_is_told(void **state)
{
    (void)state;
    struct myr_arena arena;
    struct myr_err err = {};
    myr_arena_init(&arena);
    struct myr_scenario scenario =
        parse(&arena, "cluster: {nodes: 2}\nhours: 40\ncontrol: {fence_retry_s: 40}\n"
                      "fence_fails_ppm: 1000000\ncheck_every: 1\n"
                      "partitions: {per_day: 10, nodes: 1, minutes: 100000}\n"
                      "jobs:\n  - {gpus: 16, hours: 30, arrive_h: [0, 0], lease_s: 604800}\n");
    struct myr_twin_result result;
    struct myr_twin_options options = {.seed = 1, .stop_at_violation = true};
    assert_int_equal(myr_twin_run(&scenario, &options, &result, &err), MYR_OK);
    assert_string_equal(result.first_rule, "stuck");
    assert_string_equal(result.first_violation, "job 0 has been recovering for 43220 s");
    myr_twin_result_done(&result);
    myr_scenario_done(&scenario);
    myr_arena_done(&arena);
}

/* The longest time for which so many nodes were healthy and the one job had no GPUs of its own. */
static int64_t longest_lack_ms(const struct myr_twin_result *r, uint32_t nodes, uint32_t need)
{
    int64_t longest_ms = 0, since_ms = -1;
    for (size_t i = 0; i < r->samples.count; i++) {
        const struct myr_twin_sample *s = &r->samples.items[i];
        bool lacks = nodes - s->nodes_out >= need && s->held_gpus == 0;
        since_ms = !lacks ? -1 : since_ms < 0 ? s->now_ms : since_ms;
        int64_t lack_ms = lacks ? s->now_ms - since_ms : 0;
        longest_ms = lack_ms > longest_ms ? lack_ms : longest_ms;
    }
    return longest_ms;
}

/* A job of nearly all of a cluster in which so much breaks that spares are used up again and again.
 */
static void a_large_job_is_never_without_nodes_that_are_there(void **state)
{
    (void)state;
    static const struct {
        uint32_t nodes, leaf, spares, need, rate;
        const char *times, *shows, *practice, *restart;
    } cases[] = {
        {132, 16, 4, 128, 30, "typical", "crash", "common", "strict"},
        {132, 16, 0, 131, 20, "drawn", "by-class", "best", "strict"},
        {132, 16, 4, 132, 10, "typical", "node-lost", "common", "epoch"},
        {40, 4, 8, 30, 60, "drawn", "node-lost", "common", "strict"},
        {17, 8, 1, 9, 200, "drawn", "by-class", "best", "epoch"},
    };
    uint64_t failures = 0;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        char text[700];
        struct myr_arena arena;
        myr_arena_init(&arena);
        snprintf(text, sizeof(text),
                 "cluster: {nodes: %u, gpus_per_node: 8, leaf_nodes: %u, pod_nodes: %u}\n"
                 "days: 10\npractice: %s\nspares: %u\ncontrol: {drain_permille: 1000}\n"
                 "faults: {rate: %u, times: %s, shows: %s}\n"
                 "jobs:\n  - {count: 1, gpus: %u, hours: 2000, arrive_h: [0, 0], retries: 100000, "
                 "restart: %s}\n",
                 cases[i].nodes, cases[i].leaf, cases[i].nodes, cases[i].practice, cases[i].spares,
                 cases[i].rate, cases[i].times, cases[i].shows, 8 * cases[i].need,
                 cases[i].restart);
        struct myr_scenario scenario = parse(&arena, text);
        for (uint64_t seed = 1; seed <= 8; seed++) {
            struct myr_twin_result r;
            struct myr_twin_options options = {.seed = seed, .samples = 10 * 24 * 60};
            assert_int_equal(myr_twin_run(&scenario, &options, &r, NULL), MYR_OK);
            int64_t lack_ms = longest_lack_ms(&r, cases[i].nodes, cases[i].need);
            if (lack_ms > 15 * 60000 || r.violations > 0) {
                fail_msg("case %zu, seed %llu: without nodes for %lld s; %llu rules broken", i,
                         (unsigned long long)seed, (long long)lack_ms / 1000,
                         (unsigned long long)r.violations);
            }
            failures += r.failures;
            myr_twin_result_done(&r);
        }
        myr_scenario_done(&scenario);
        myr_arena_done(&arena);
    }
    assert_true(failures > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_job_is_never_without_nodes_that_are_there),
        cmocka_unit_test(the_same_seed_gives_the_same_run),
        cmocka_unit_test(a_crash_at_every_100th_event_loses_nothing),
        cmocka_unit_test(a_scenario_is_written_as_it_was_read),
        cmocka_unit_test(a_saved_case_replays_to_the_same_hash),
        cmocka_unit_test(what_is_left_out_leaves_the_rest_as_it_was),
        cmocka_unit_test(bad_scenarios_get_one_line_with_their_place),
        cmocka_unit_test(an_unknown_key_is_told_with_the_known_ones),
        cmocka_unit_test(trouble_that_comes_once_in_an_age_never_comes),
        cmocka_unit_test(a_job_that_is_stuck_for_half_a_day_is_told),
        cmocka_unit_test(faults_that_come_faster_than_time_is_counted_still_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
