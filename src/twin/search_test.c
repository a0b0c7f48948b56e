/* Faults that are built in on purpose must be found, and each case made small. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kept.h"
#include "myriad/twin.h"
#include "rounds.h"

static struct myr_buf story; /* of all that were found, for tests/kept/twin-found.txt */

#define STORM MYR_SOURCE_DIR "/examples/twin/crash-storm.yaml"

static void find(enum myr_planted planted, const char *const *rules, uint64_t seed, uint64_t seeds)
{
    struct myr_arena arena;
    struct myr_scenario scenario;
    struct myr_search_result result;
    struct myr_err err = {};
    struct myr_search_options options = {
        .first_seed = seed, .seeds = seeds, .tries_most = 300, .planted = planted};
    myr_arena_init(&arena);
    if (myr_scenario_read(&scenario, &arena, STORM, &err) < 0 ||
        myr_twin_search(&scenario, &options, &result, &err) < 0) {
        fail_msg("%s", err.message);
    }
    assert_true(result.found);
    bool known = false;
    for (; *rules; rules++) {
        known = known || strcmp(*rules, result.broken.first_rule) == 0;
    }
    if (!known) {
        fail_msg("broke %s: %s", result.broken.first_rule, result.broken.first_violation);
    }
    myr_buf_printf(&story,
                   "== planted %d: seed %llu, %u tries, %llu events of %llu, %u jobs left\n",
                   (int)planted, (unsigned long long)result.found_seed, result.tries,
                   (unsigned long long)result.broken.events,
                   (unsigned long long)result.events_before, result.jobs_left);
    myr_buf_printf(&story, "%s: %s\n", result.broken.first_rule, result.broken.first_violation);
    myr_scenario_write(&scenario, &story);
    /* Small enough to be read by somebody, whatever it was before. */
    assert_in_range(result.jobs_left, 1, 4);
    assert_in_range(result.broken.events, 1, 400);
    assert_true(result.found_seed >= seed && result.found_seed < seed + seeds);
    /* The small case breaks again, in the same way, from its file alone. */
    struct myr_buf text = {};
    struct myr_twin_case it;
    struct myr_twin_result again;
    myr_twin_case_write(&scenario, &result.broken, &text);
    struct myr_str words = {text.data, text.len};
    assert_int_equal(myr_twin_case_parse(&it, &arena, "case", words, &err), MYR_OK);
    assert_int_equal(myr_twin_replay(&it, NULL, NULL, &again, &err), MYR_OK);
    assert_true(again.hash == result.broken.hash);
    assert_string_equal(again.first_violation, result.broken.first_violation);
    myr_twin_result_done(&again);
    myr_twin_case_done(&it);
    myr_buf_done(&text);
    myr_search_result_done(&result);
    myr_scenario_done(&scenario);
    myr_arena_done(&arena);
}

#define RULES(...) ((const char *const[]){__VA_ARGS__, NULL})

static void a_gpu_given_twice_is_found(void **state)
{
    (void)state;
    find(MYR_PLANTED_DOUBLE_GRANT, RULES("given-twice", "two-lives"), 1, 20);
}

static void a_job_lost_in_a_crash_is_found(void **state)
{
    (void)state;
    /* Ranks of a job that was forgotten run on: its GPUs may be given away before it is missed. */
    find(MYR_PLANTED_LOST_JOB, RULES("lost-job", "given-twice"), 1, 20);
}

static void a_leaked_reservation_is_found(void **state)
{
    (void)state;
    find(MYR_PLANTED_LEAK, RULES("leak"), 1, 20);
}

static void two_lives_of_a_strict_job_are_found(void **state)
{
    (void)state;
    find(MYR_PLANTED_DOUBLE_RUN, RULES("two-lives", "given-twice", "drained"), 1, 20);
}

static void a_forgotten_drain_is_found(void **state)
{
    (void)state;
    find(MYR_PLANTED_FORGOTTEN_DRAIN, RULES("drained"), 1, 20);
}

static void a_start_confirmed_after_it_was_taken_back_is_found(void **state)
{
    (void)state;
    find(MYR_PLANTED_LATE_START, RULES("late-start"), 1, 60);
}

/* The cases as they were made small: each run of the search comes to the same. */
static void the_cases_are_those_of_before(void **state)
{
    (void)state;
    assert_kept("twin-found.txt", &story);
    myr_buf_done(&story);
}

static void a_sound_controller_holds_every_invariant(void **state)
{
    (void)state;
    struct myr_arena arena;
    struct myr_scenario scenario;
    struct myr_search_result result;
    struct myr_err err = {};
    struct myr_search_options options = {.first_seed = 1, .seeds = TEST_ROUNDS(25)};
    myr_arena_init(&arena);
    if (myr_scenario_read(&scenario, &arena, STORM, &err) < 0 ||
        myr_twin_search(&scenario, &options, &result, &err) < 0) {
        fail_msg("%s", err.message);
    }
    if (result.found) {
        fail_msg("seed %llu: %s", (unsigned long long)result.broken.seed,
                 result.broken.first_violation);
    }
    assert_int_equal(result.seeds, TEST_ROUNDS(25));
    myr_search_result_done(&result);
    myr_scenario_done(&scenario);
    myr_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gpu_given_twice_is_found),
        cmocka_unit_test(a_job_lost_in_a_crash_is_found),
        cmocka_unit_test(a_leaked_reservation_is_found),
        cmocka_unit_test(two_lives_of_a_strict_job_are_found),
        cmocka_unit_test(a_forgotten_drain_is_found),
        cmocka_unit_test(a_start_confirmed_after_it_was_taken_back_is_found),
        cmocka_unit_test(the_cases_are_those_of_before), /* behind all that look for one */
        cmocka_unit_test(a_sound_controller_holds_every_invariant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
