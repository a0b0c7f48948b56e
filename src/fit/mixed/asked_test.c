/*
 * How much is solved for an answer: a bound that got weaker costs time, and changes no answer.
 * Asked with the constants' priors, which no fit moves: a count that rises is the search's doing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "mixed/pools_test.h"

static void no_more_partitions_are_solved_than_before(void **state)
{
    static const struct {
        const char *first, *second;
        uint32_t gpus[2], batch;
        uint64_t batch_asked, layers_asked;
    } rows[] = {
        {"h100", "a100-80", {8, 8}, 64, 179, 304},
        {"h100", "a100-40", {8, 16}, 96, 302, 616},
        {"h800", "ascend-910b", {16, 8}, 48, 1047, 232},
        {"h200", "h200", {8, 8}, 32, 4, 56},
    };
    double priors[MYR_FIT_CONSTANTS_MAX] = {};
    uint32_t differ = 0;
    (void)state;
    for (uint32_t i = 0; i < myr_fit_constant_count(); i++) {
        priors[i] = myr_fit_constant(i)->prior;
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct myr_fit_query query = question(rows[i].batch);
        query.it.constants = priors;
        struct myr_fit_pool both[] = {pool(rows[i].first, rows[i].gpus[0]),
                                      pool(rows[i].second, rows[i].gpus[1])};
        query.cp = 1;
        struct myr_fit_pools *answer = MYR_ARENA_ONE(&arena, struct myr_fit_pools);
        assert_int_equal(myr_fit_pools_search(&query, both, 2, &arena, answer, NULL), MYR_OK);
        if (answer->batch.asked != rows[i].batch_asked ||
            answer->layers.asked != rows[i].layers_asked) {
            print_error(
                "row %zu: %llu and %llu, were %llu and %llu\n", i,
                (unsigned long long)answer->batch.asked, (unsigned long long)answer->layers.asked,
                (unsigned long long)rows[i].batch_asked, (unsigned long long)rows[i].layers_asked);
            differ++;
        }
    }
    assert_int_equal(differ, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_more_partitions_are_solved_than_before)};
    return cmocka_run_group_tests(tests, setup, close_world);
}
