/* Runs as files: written, read, replayed; and what is told of files that are wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "myriad/twin.h"

#define STORM MYR_SOURCE_DIR "/examples/twin/crash-storm.yaml"

static const char quiet[] = "cluster: {nodes: 4}\n"
                            "hours: 2\n"
                            "jobs:\n"
                            "  - {count: 3, gpus: 8, hours: 0.2, arrive_h: [0, 0.1]}\n";

static struct myr_scenario parse(struct myr_arena *arena, const char *text)
{
    struct myr_scenario scenario;
    struct myr_err err = {};
    if (myr_scenario_parse(&scenario, arena, "test.yaml", myr_str_from(text), &err) < 0) {
        fail_msg("%s", err.message);
    }
    return scenario;
}

/* A run, unlike a search, goes on behind what broke; and so must its replay. */
static void a_broken_run_that_went_on_replays_to_the_same_hash(void **state)
{
    (void)state;
    struct myr_arena arena;
    struct myr_scenario scenario;
    struct myr_twin_result first, second;
    struct myr_twin_case it;
    struct myr_err err = {};
    struct myr_twin_options options = {.seed = 1, .planted = MYR_PLANTED_DOUBLE_GRANT};
    struct myr_buf text = {};
    myr_arena_init(&arena);
    assert_int_equal(myr_scenario_read(&scenario, &arena, STORM, &err), MYR_OK);
    for (;; options.seed++) {
        assert_int_equal(myr_twin_run(&scenario, &options, &first, &err), MYR_OK);
        if (first.violations > 1) {
            break;
        }
        myr_twin_result_done(&first);
        assert_true(options.seed < 20);
    }
    assert_false(first.stopped);
    myr_twin_case_write(&scenario, &first, &text);
    struct myr_str words = {text.data, text.len};
    assert_int_equal(myr_twin_case_parse(&it, &arena, "case", words, &err), MYR_OK);
    assert_int_equal(myr_twin_replay(&it, NULL, NULL, &second, &err), MYR_OK);
    assert_true(second.hash == first.hash && second.violations == first.violations);
    myr_twin_result_done(&first);
    myr_twin_result_done(&second);
    myr_twin_case_done(&it);
    myr_buf_done(&text);
    myr_scenario_done(&scenario);
    myr_arena_done(&arena);
}

static void a_run_that_ends_while_the_controller_is_down_still_has_a_state(void **state)
{
    (void)state;
    struct myr_arena arena;
    struct myr_err err = {};
    struct myr_twin_result result;
    struct myr_control *control = NULL;
    struct myr_buf snapshot = {};
    myr_arena_init(&arena);
    struct myr_scenario scenario = parse(&arena, quiet);
    scenario.crashes.every_events = 40;
    scenario.crashes.length_ms = scenario.length_ms; /* it never comes back */
    struct myr_twin_options options = {.seed = 1, .snapshot = &snapshot};
    assert_int_equal(myr_twin_run(&scenario, &options, &result, &err), MYR_OK);
    assert_int_equal(result.crashes, 1);
    struct myr_str bytes = {snapshot.data, snapshot.len};
    assert_int_equal(myr_control_load(bytes, &control, &err), MYR_OK);
    assert_int_equal(myr_control_nodes(control), 4);
    assert_true(myr_control_jobs(control) > 0);
    myr_control_free(control);
    myr_buf_done(&snapshot);
    myr_twin_result_done(&result);
    myr_scenario_done(&scenario);
    myr_arena_done(&arena);
}

/* Of few values the 99th of a hundred is the greatest, and never the one before. */
static void the_99th_percentile_of_few_values_is_the_greatest(void **state)
{
    (void)state;
    struct myr_arena arena;
    struct myr_err err = {};
    myr_arena_init(&arena);
    for (uint32_t count = 1; count <= 120; count += 7) {
        struct myr_scenario scenario = parse(&arena, quiet);
        struct myr_twin_result result;
        struct myr_twin_options options = {.seed = count};
        scenario.groups[0].count = scenario.job_count = count;
        assert_int_equal(myr_twin_run(&scenario, &options, &result, &err), MYR_OK);
        const double *waits = result.wait_h.items;
        size_t within = 0, below = 0;
        assert_int_equal(result.wait_h.count, count);
        for (uint32_t i = 0; i < count; i++) { /* the least that 99 % do not exceed */
            within += waits[i] <= result.wait_p99_h;
            below += waits[i] < result.wait_p99_h;
        }
        assert_true(within * 100 >= (size_t)count * 99 && below * 100 < (size_t)count * 99);
        assert_true(count > 99 || result.wait_p99_h == waits[count - 1]);
        myr_twin_result_done(&result);
        myr_scenario_done(&scenario);
    }
    myr_arena_done(&arena);
}

static void a_name_with_quotes_and_backslashes_is_written_as_it_was_read(void **state)
{
    (void)state;
    struct myr_arena arena;
    struct myr_err err = {};
    struct myr_twin_case it;
    struct myr_twin_result result = {.seed = 1};
    struct myr_buf text = {};
    char yaml[512];
    myr_arena_init(&arena);
    snprintf(yaml, sizeof(yaml), "name: 'a \"b\" \\c'\n%s", quiet);
    struct myr_scenario scenario = parse(&arena, yaml);
    assert_string_equal(scenario.name, "a \"b\" \\c");
    myr_twin_case_write(&scenario, &result, &text);
    struct myr_str words = {text.data, text.len};
    assert_int_equal(myr_twin_case_parse(&it, &arena, "case", words, &err), MYR_OK);
    assert_string_equal(it.scenario.name, scenario.name);
    myr_twin_case_done(&it);
    myr_scenario_done(&scenario);
    myr_buf_done(&text);
    myr_arena_done(&arena);
}

static void what_is_wrong_in_a_case_is_told_with_its_place_in_the_file(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"seed: 1\nhash: 0123456789abcdef\nscenario: |\n  cluster: {nodes: 4}\n  jobs: 7\n",
         "case:5:9:"},
        {"scenario: |\n    cluster: {nodes: 4, leafs: 1}\n    jobs: []\nseed: 1\nhash: "
         "0123456789abcdef\n",
         "case:2:25:"},
        {"seed: 1\nhash: 0123456789abcdef\nscenario: 7\n", "case:"},
        {"seed: 1\nhash: 0123456789abcdef\nscenario: |\n", "case:"},
        {"seed: 1\nhash: 0123456789abcdef\nscenario: |\n  - 1\n", "case:"},
        {"seed: 1\nhash: 12\nscenario: x\n", "case:2:7:"},
        {"seed: 1\nhash: 0123456789abcdef\ngoes_on: 3\nscenario: x\n", "case:3:10:"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_arena arena;
        struct myr_twin_case it;
        struct myr_err err = {};
        myr_arena_init(&arena);
        struct myr_str text = myr_str_from(cases[i].text);
        assert_true(myr_twin_case_parse(&it, &arena, "case", text, &err) < 0);
        if (strncmp(err.message, cases[i].says, strlen(cases[i].says)) != 0) {
            fail_msg("'%s' does not begin with '%s'", err.message, cases[i].says);
        }
        myr_arena_done(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_broken_run_that_went_on_replays_to_the_same_hash),
        cmocka_unit_test(a_run_that_ends_while_the_controller_is_down_still_has_a_state),
        cmocka_unit_test(the_99th_percentile_of_few_values_is_the_greatest),
        cmocka_unit_test(a_name_with_quotes_and_backslashes_is_written_as_it_was_read),
        cmocka_unit_test(what_is_wrong_in_a_case_is_told_with_its_place_in_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
