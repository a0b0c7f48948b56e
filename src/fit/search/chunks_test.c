/* More chunks a stage than are searched unasked, as published runs have: asked for, they are found.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "search/drawn_test.h"

/* Deep and thin, so that layers divide by many chunks and memory is no matter. */
static void deepen(struct myr_model *model, struct myr_fit_query *query, struct myr_rng *rng)
{
    uint32_t pp = 2U << myr_rng_below(rng, 2);
    query->vp = 17 + myr_rng_below(rng, 48);
    query->pp = myr_rng_below(rng, 2) ? pp : 0;
    query->gpus = pp * (1U << myr_rng_below(rng, 2));
    query->batch = query->gpus * 2;
    query->zero = -1;
    query->recompute = 0;
    query->schedule = MYR_FIT_SCHEDULE_STACK;
    model->layer_count = pp * query->vp * (1 + myr_rng_below(rng, 2));
    model->mtp_count = 0;
}

static void layers_that_divide_by_many_chunks_are_found_as_one_by_one(void **state)
{
    struct myr_rng rng;
    uint32_t found = 0;
    (void)state;
    myr_rng_init(&rng, 24, 0);
    for (int i = 0; i < 40; i++) {
        struct myr_model model = small_model(&rng);
        struct myr_fit_query query = small_query(&rng, &model, false);
        struct myr_fit_answer answer = {}, other = {};
        struct myr_err err = {};
        deepen(&model, &query, &rng);
        int rc = myr_fit_search(&query, &arena, &answer, &err);
        struct myr_fit_query slow = query;
        slow.exhaustive = true;
        assert_int_equal(myr_fit_search(&slow, &arena, &other, &err), rc);
        assert_int_equal(answer.top_count, other.top_count);
        for (uint32_t t = 0; rc == MYR_OK && t < answer.top_count; t++) {
            assert_int_equal(answer.top[t].layout.vp, query.vp);
            assert_true(answer.top[t].step_s == other.top[t].step_s);
        }
        found += rc == MYR_OK && answer.top_count > 0;
    }
    if (found < 20) {
        fail_msg("%u of 40 have a layout", found);
    }
}

/* On models of so many layers too, whatever else is open, and one by one as well. */
static void more_chunks_than_are_priced_are_refused_by_name(void **state)
{
    struct myr_rng rng;
    (void)state;
    myr_rng_init(&rng, 65, 0);
    for (uint32_t i = 0; i < 40; i++) {
        struct myr_model model = small_model(&rng);
        struct myr_fit_query query = small_query(&rng, &model, false);
        struct myr_fit_answer answer = {};
        struct myr_err err = {};
        deepen(&model, &query, &rng);
        query.vp = 65 + myr_rng_below(&rng, 65);
        query.exhaustive = i % 2;
        model.layer_count = 4 * query.vp;
        assert_int_equal(myr_fit_search(&query, &arena, &answer, &err), MYR_EINVAL);
        if (!strstr(err.message, "up to 64 chunks")) {
            fail_msg("vp %u: %s", query.vp, err.message);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_that_divide_by_many_chunks_are_found_as_one_by_one),
        cmocka_unit_test(more_chunks_than_are_priced_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
