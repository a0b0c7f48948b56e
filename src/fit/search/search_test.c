#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "rounds.h"
#include "search/drawn_test.h"

static bool same_answers(const struct myr_fit_answer *a, const struct myr_fit_answer *b)
{
    bool same = a->evaluated == b->evaluated && a->top_count == b->top_count;
    for (uint32_t i = 0; same && i < a->top_count; i++) {
        struct myr_buf one = {}, other = {};
        myr_layout_write(&one, &a->top[i].layout);
        myr_layout_write(&other, &b->top[i].layout);
        same = a->top[i].step_s == b->top[i].step_s && one.len == other.len &&
               memcmp(one.data, other.data, one.len) == 0;
        myr_buf_done(&one);
        myr_buf_done(&other);
    }
    return same;
}

/* Whoever prices a layout alone gets what both searches say of it. */
static bool priced_alike(const struct myr_fit_query *query, const struct myr_fit_answer *answer)
{
    for (uint32_t i = 0; i < answer->top_count; i++) {
        const struct myr_layout *layout = &answer->top[i].layout;
        struct myr_fit_cost cost;
        struct myr_fit_memory memory;
        myr_fit_cost_of(&query->it, layout, &cost);
        myr_fit_memory_of(&query->it, layout, &memory);
        if (cost.step_s != answer->top[i].step_s || !memory.fits ||
            myr_layout_broken(layout, query->it.model, query->gpus) != MYR_LAYOUT_OK) {
            return false;
        }
    }
    return true;
}

/* Returns how many had an answer. */
static uint32_t compare(uint64_t first, uint64_t last, bool larger)
{
    uint32_t solved = 0;
    for (uint64_t seed = first; seed <= last; seed++) {
        struct myr_rng rng;
        struct myr_fit_answer quick, slow;
        struct myr_arena own;
        myr_arena_init(&own);
        myr_rng_init(&rng, seed, 0);
        struct myr_model model = small_model(&rng);
        assert_int_equal(myr_model_check(&model, NULL), MYR_OK);
        struct myr_fit_query query = small_query(&rng, &model, larger);
        struct myr_device device = small_device(&rng, &query);
        struct myr_fit_topology topology = small_topology(&rng);
        query.it.topology = myr_rng_below(&rng, 3) ? NULL : &topology;
        query.it.device = myr_rng_below(&rng, 2) ? &device : query.it.device;
        int rc = myr_fit_search(&query, &own, &quick, NULL);
        query.exhaustive = true;
        int expected = myr_fit_search(&query, &own, &slow, NULL);
        if (rc != expected || !same_answers(&quick, &slow) || !priced_alike(&query, &slow)) {
            fail_msg("seed %llu: %d and %d, %llu and %llu layouts, %.9g and %.9g s",
                     (unsigned long long)seed, rc, expected, (unsigned long long)quick.evaluated,
                     (unsigned long long)slow.evaluated, quick.top[0].step_s, slow.top[0].step_s);
        }
        solved += rc == MYR_OK;
        myr_arena_done(&own);
    }
    return solved;
}

static void the_search_finds_what_visiting_every_layout_finds(void **state)
{
    (void)state;
    /* So many of them have an answer; of the few that are drawn under the sanitizers, half. */
    assert_true(compare(1, TEST_ROUNDS(500), false) > (TEST_ROUNDS(8) == 8 ? 300 : 31));
    /* An embedding that is backward for the most part, while transfers are not. */
    assert_true(compare(3780, 3790, false) >= 5);
}

/* Around a case in which two stages of one rank share a table. */
static void the_search_finds_the_same_on_more_gpus(void **state)
{
    (void)state;
    assert_true(compare(3000, 3000 + TEST_ROUNDS(29), true) > TEST_ROUNDS(15));
}

static void a_model_too_large_says_what_broke_and_what_would_hold_it(void **state)
{
    (void)state;
    struct myr_model model;
    struct myr_fit_answer answer;
    struct myr_err err = {};
    struct myr_fit_query query = myr_fit_query_default();
    assert_int_equal(myr_model_find(&arena, "llama3-405b", &model, NULL), MYR_OK);
    query.it.model = &model;
    query.it.constants = profiles.constants;
    query.it.stack = &profiles.stacks[0];
    assert_int_equal(myr_profiles_device(&profiles, MYR_STR("h100"), &query.it.device, NULL),
                     MYR_OK);
    query.gpus = 8;
    query.batch = 8;
    query.seq_tokens = 8192;
    assert_int_equal(myr_fit_search(&query, &arena, &answer, &err), MYR_EINFEASIBLE);
    assert_non_null(strstr(err.message, "does not fit"));
    assert_non_null(strstr(err.hint, "GPUs"));
}

/* How far it was when it was last heard of. */
struct heard {
    uint64_t done, total, calls;
};

static void hear(void *context, uint64_t done, uint64_t total)
{
    struct heard *heard = context;
    assert_int_equal(done, heard->done + 1);
    assert_true(heard->calls == 0 || total == heard->total);
    *heard = (struct heard){done, total, heard->calls + 1};
}

static void who_visits_every_layout_says_how_far_it_is(void **state)
{
    (void)state;
    struct myr_model model;
    struct myr_fit_answer answer, silent;
    struct heard heard = {};
    struct myr_fit_query query = myr_fit_query_default();
    assert_int_equal(myr_model_find(&arena, "llama3-8b", &model, NULL), MYR_OK);
    query.it.model = &model;
    query.it.constants = profiles.constants;
    query.it.stack = &profiles.stacks[0];
    assert_int_equal(myr_profiles_device(&profiles, MYR_STR("h100"), &query.it.device, NULL),
                     MYR_OK);
    query.gpus = query.batch = 8;
    query.seq_tokens = 8192;
    query.exhaustive = true;
    assert_int_equal(myr_fit_search(&query, &arena, &silent, NULL), MYR_OK);
    query.progress = hear;
    query.progress_context = &heard;
    assert_int_equal(myr_fit_search(&query, &arena, &answer, NULL), MYR_OK);
    assert_true(heard.calls > 10);
    assert_int_equal(heard.done, heard.total);
    assert_true(answer.top[0].step_s == silent.top[0].step_s);
    assert_int_equal(answer.evaluated, silent.evaluated);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_search_finds_what_visiting_every_layout_finds),
        cmocka_unit_test(the_search_finds_the_same_on_more_gpus),
        cmocka_unit_test(a_model_too_large_says_what_broke_and_what_would_hold_it),
        cmocka_unit_test(who_visits_every_layout_says_how_far_it_is),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
