/*
 * What must go on: each rule is broken by a bug that is planted, or by a world that is told by
 * hand, and holds where nothing is wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "myriad/twin.h"

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
        printf("planted %d seed %llu: %s %llu\n", (int)planted, (unsigned long long)seed,
               result.broken[i].rule, (unsigned long long)result.broken[i].count);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_claim_from_before_a_drain_is_found),
        cmocka_unit_test(a_journal_that_skips_a_weight_is_found),
        cmocka_unit_test(a_start_in_place_beside_older_ranks_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
