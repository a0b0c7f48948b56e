/* What is recommended fits: devices of drawn sizes about what the fastest layout takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>
#include <stdio.h>

#include "search/drawn_test.h"

static struct myr_fit_memory memory_of(const struct myr_fit_query *query,
                                       const struct myr_fit_answer *answer, uint32_t at)
{
    struct myr_fit_memory memory;
    struct myr_fit_case it = query->it;
    myr_fit_memory_of(&it, &answer->top[at].layout, &memory);
    return memory;
}

/* All of a list are sure to fit, or none is: then nothing at all would have been. */
static void assert_list(const struct myr_fit_query *query, const struct myr_fit_answer *answer,
                        uint32_t counts[2])
{
    bool sure = memory_of(query, answer, 0).sure;
    counts[sure]++;
    for (uint32_t i = 0; i < answer->top_count; i++) {
        struct myr_fit_memory memory = memory_of(query, answer, i);
        assert_true(memory.fits && memory.sure == sure);
        assert_true(sure == (memory.probability >= 0.95));
        assert_true(!sure || memory.peak_high_bytes <= query->it.device->memory_bytes);
    }
    if (!sure) {
        /* As much room as 8 % less tensors leave, and the search would have found it. */
        struct myr_fit_query all = *query;
        struct myr_fit_answer other = {};
        all.exhaustive = true;
        assert_int_equal(myr_fit_search(&all, &arena, &other, NULL), MYR_OK);
        assert_false(memory_of(&all, &other, 0).sure);
    }
}

static void what_is_recommended_is_sure_to_fit_where_anything_is(void **state)
{
    struct myr_rng rng;
    uint32_t counts[2] = {0, 0};
    (void)state;
    myr_rng_init(&rng, 95, 0);
    for (int i = 0; i < 300; i++) {
        struct myr_model model = small_model(&rng);
        struct myr_fit_query query = small_query(&rng, &model, false);
        struct myr_fit_answer answer = {};
        struct myr_device device = *query.it.device;
        struct myr_err err = {};
        if (myr_fit_search(&query, &arena, &answer, &err) < 0 || answer.top_count == 0) {
            continue;
        }
        /* Between half of what the fastest one takes and somewhat more than it takes. */
        double need = memory_of(&query, &answer, 0).peak_bytes + 2e9;
        device.memory_bytes = need * (0.5 + (double)myr_rng_below(&rng, 700) / 1000);
        query.it.device = &device;
        answer = (struct myr_fit_answer){};
        if (myr_fit_search(&query, &arena, &answer, &err) == MYR_OK && answer.top_count > 0) {
            assert_list(&query, &answer, counts);
        }
    }
    if (counts[0] < 5 || counts[1] < 100) {
        fail_msg("%u lists fit as counted, %u for sure", counts[0], counts[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_recommended_is_sure_to_fit_where_anything_is),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
