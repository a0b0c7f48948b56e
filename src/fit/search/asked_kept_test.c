/*
 * Searches of every kind, held against what they said when somebody last looked (tests/kept): the
 * winners, how many layouts were covered and how many of them had to be priced, and what is said
 * where none fits. search_test.c says that the winner is the best; this, that bounds exclude what
 * they did, and that an advice changes only on purpose.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "kept.h"
#include "mixed/answers_test.h"
#include "test_world.h"

enum { QUESTIONS = TEST_ROUNDS(140), MIXTURES = TEST_ROUNDS(24) };

static const char *const names[] = {"llama3-8b",     "llama3-70b",    "gpt3-13b",    "mixtral-8x7b",
                                    "qwen3-30b-a3b", "nemotron4-15b", "deepseek-v2", "gpt-oss-20b"};

/* Axes that are fixed; most are open. */
static void fix_axes(struct myr_rng *rng, struct myr_fit_query *query)
{
    uint32_t *const axes[] = {&query->tp, &query->pp, &query->vp,         &query->dp,
                              &query->cp, &query->ep, &query->micro_batch};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(axes); i++) {
        *axes[i] = myr_rng_below(rng, 7) ? 0 : 1U << myr_rng_below(rng, 4);
    }
    query->tp = myr_rng_below(rng, 30) ? query->tp : 3;
    query->zero = myr_rng_below(rng, 4) ? -1 : (int)myr_rng_below(rng, 4);
    query->recompute = myr_rng_below(rng, 3) ? -1 : (int)myr_rng_below(rng, 3);
    query->sequence_parallel = myr_rng_below(rng, 4) ? -1 : (int)myr_rng_below(rng, 2);
}

static struct myr_fit_query draw_query(struct myr_rng *rng, const struct myr_model *model)
{
    static const uint32_t gpus[] = {1, 2, 4, 8, 12, 16, 16, 24, 32, 64};
    static const int schedules[] = {MYR_FIT_SCHEDULE_STACK, MYR_FIT_SCHEDULE_STACK,
                                    MYR_FIT_SCHEDULE_ANY,   MYR_SCHEDULE_DUALPIPE,
                                    MYR_SCHEDULE_1F1B,      MYR_SCHEDULE_INTERLEAVED};
    struct myr_fit_query query = myr_fit_query_default();
    query.it.model = model;
    query.it.device = &profiles.devices[myr_rng_below(rng, profiles.device_count)];
    query.it.stack = &profiles.stacks[myr_rng_below(rng, profiles.stack_count)];
    query.it.constants = profiles.constants;
    query.it.domain_gpus = myr_rng_below(rng, 3) ? 0 : 4;
    query.it.nic_gbps = myr_rng_below(rng, 3) ? 0 : 100;
    query.gpus = gpus[myr_rng_below(rng, MYR_ARRAY_COUNT(gpus))];
    query.batch = query.gpus * (1U << myr_rng_below(rng, 4)) + (myr_rng_below(rng, 20) == 0);
    query.seq_tokens = myr_rng_below(rng, 3) ? 0 : 2048U << myr_rng_below(rng, 4);
    query.top = 1 + (uint32_t)myr_rng_below(rng, 3);
    query.schedule = schedules[myr_rng_below(rng, MYR_ARRAY_COUNT(schedules))];
    query.any_precision = myr_rng_below(rng, 12) == 0;
    fix_axes(rng, &query);
    return query;
}

static void ask(struct myr_buf *text, const struct myr_fit_query *query)
{
    struct myr_err err = {};
    struct myr_arena own;
    myr_arena_init(&own);
    struct myr_fit_answer *answer = MYR_ARENA_ONE(&own, struct myr_fit_answer);
    put_question(text, query);
    int rc = myr_fit_search(query, &own, answer, &err);
    if (rc < 0) {
        struct myr_fit_memory memory = {};
        myr_buf_printf(text, "  %d: %s\n  hint: %s\n", rc, err.message, err.hint);
        if (answer->has_nearest) {
            myr_fit_memory_of(&query->it, &answer->nearest, &memory);
        }
        assert_false(memory.fits); /* it was not found, so it is not there */
    } else {
        myr_buf_printf(text, "  %llu covered, %llu priced\n", (unsigned long long)answer->evaluated,
                       (unsigned long long)answer->costed);
    }
    for (uint32_t i = 0; rc == MYR_OK && i < answer->top_count; i++) {
        put_found(text, &answer->top[i]);
    }
    myr_arena_done(&own);
}

static void searches_say_what_was_kept(void **state)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_model models[MYR_ARRAY_COUNT(names)];
    struct myr_rng rng;
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        assert_int_equal(myr_model_find(&arena, names[i], &models[i], NULL), MYR_OK);
    }
    myr_rng_init(&rng, 20261117, 7);
    for (uint32_t i = 0; i < QUESTIONS; i++) {
        const struct myr_model *model = &models[myr_rng_below(&rng, MYR_ARRAY_COUNT(models))];
        struct myr_fit_query query = draw_query(&rng, model);
        struct myr_recipe recipes[MYR_PRECISION_COUNT];
        (void)myr_profiles_recipes(&profiles, query.it.stack, query.it.device, model, NULL,
                                   recipes);
        query.it.recipes = myr_rng_below(&rng, 2) ? recipes : NULL;
        ask(&text, &query);
    }
    assert_kept_rounds("fit-searches.txt", &text);
}

static void mixtures_say_what_was_kept(void **state)
{
    static const char *const few[] = {"llama3-8b", "gpt3-13b", "mixtral-8x7b", "gpt-oss-20b"};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_rng rng;
    (void)state;
    myr_rng_init(&rng, 20261117, 8);
    for (uint32_t i = 0; i < MIXTURES; i++) {
        struct myr_fit_pool pools[MYR_FIT_POOLS_MAX];
        struct myr_model model;
        uint32_t count = 2 + (uint32_t)(myr_rng_below(&rng, 5) == 0);
        assert_int_equal(myr_model_find(&arena, few[myr_rng_below(&rng, 4)], &model, NULL), MYR_OK);
        struct myr_fit_query query = draw_query(&rng, &model);
        for (uint32_t p = 0; p < count; p++) {
            pools[p].device = &profiles.devices[myr_rng_below(&rng, profiles.device_count)];
            pools[p].gpus = 4U << myr_rng_below(&rng, 2);
        }
        query.batch = 16U << myr_rng_below(&rng, 2);
        query.seq_tokens = 2048;
        put_mixture(&text, &query, pools, count);
    }
    assert_kept_rounds("fit-mixtures.txt", &text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(searches_say_what_was_kept),
        cmocka_unit_test(mixtures_say_what_was_kept),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
