/* How much is solved for an answer: a bound that got weaker costs time, and changes no answer. */
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
        {"h100", "a100-80", {8, 8}, 64, 349, 336},
        {"h100", "a100-40", {8, 16}, 96, 681, 608},
        {"h800", "ascend-910b", {16, 8}, 48, 852, 248},
        {"h200", "h200", {8, 8}, 32, 5, 68},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct myr_fit_query query = question(rows[i].batch);
        struct myr_fit_pool both[] = {pool(rows[i].first, rows[i].gpus[0]),
                                      pool(rows[i].second, rows[i].gpus[1])};
        query.cp = 1;
        struct myr_fit_pools *answer = MYR_ARENA_NEW(&arena, struct myr_fit_pools, 1);
        assert_int_equal(myr_fit_pools_search(&query, both, 2, &arena, answer, NULL), MYR_OK);
        assert_int_equal(answer->batch.asked, rows[i].batch_asked);
        assert_int_equal(answer->layers.asked, rows[i].layers_asked);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_more_partitions_are_solved_than_before)};
    return cmocka_run_group_tests(tests, setup, close_world);
}
