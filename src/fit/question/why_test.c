/* 'fit why' and --recipe: what is said is taken, what is not understood is refused by name. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include <stdio.h>
#include <unistd.h>

#include "test_world.h"

static struct myr_case it;

static void ask_of(const char *recipe, uint64_t seq)
{
    struct myr_case_question q = myr_case_question_default();
    struct myr_err err = {};
    q.model = "qwen3-30b-a3b";
    q.device = "h100";
    q.gpus = 16;
    q.batch = 64;
    q.recipe = recipe;
    q.seq = seq;
    if (myr_case_init(&it, &arena, &q, &err) < 0) {
        fail_msg("%s", err.message);
    }
}

static void ask(const char *recipe)
{
    ask_of(recipe, 0);
}

static void terms_tell_the_whole_difference(void **state)
{
    static const char *const texts[2] = {"ep=16,micro_batch=1", "ep=8,pp=2,micro_batch=2"};
    struct myr_fit_why why;
    struct myr_err err = {};
    double sum = 0, most = 0;
    (void)state;
    ask(NULL);
    assert_int_equal(myr_fit_why_of(&it, texts, &arena, &why, &err), MYR_OK);
    for (int i = 0; i < MYR_FIT_TERM_COUNT; i++) {
        double apart = why.prices[1].cost.terms_s[i] - why.prices[0].cost.terms_s[i];
        sum += apart;
        most = fabs(apart) > most ? fabs(apart) : most;
    }
    double steps = why.prices[1].cost.step_s - why.prices[0].cost.step_s;
    assert_true(fabs(sum - steps) < 1e-9 * why.prices[0].cost.step_s);
    double largest =
        why.prices[1].cost.terms_s[why.largest] - why.prices[0].cost.terms_s[why.largest];
    assert_true(fabs(largest) == most);
    assert_int_equal(why.layouts[1].pp, 2);
    assert_int_equal(why.layouts[1].global_batch, 64);
    myr_case_done(&it);
}

static void nothing_differs_where_both_are_the_same(void **state)
{
    static const char *const texts[2] = {"ep=16,micro_batch=1", "micro_batch=1,ep=16"};
    struct myr_fit_why why;
    struct myr_err err = {};
    (void)state;
    ask(NULL);
    assert_int_equal(myr_fit_why_of(&it, texts, &arena, &why, &err), MYR_OK);
    assert_int_equal(why.largest, MYR_FIT_TERM_COUNT);
    myr_case_done(&it);
}

static void words_that_are_no_layout_are_refused(void **state)
{
    static const char *const bad[] = {"tp=3,ep=16", "tp=zwei", "width=8", "ep=16,micro_batch=0"};
    (void)state;
    ask(NULL);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        const char *const texts[2] = {"ep=16", bad[i]};
        struct myr_fit_why why;
        struct myr_err err = {};
        assert_true(myr_fit_why_of(&it, texts, &arena, &why, &err) < 0);
        assert_true(err.message[0] && !strchr(err.message, '\n'));
    }
    myr_case_done(&it);
}

/* What words leave open is the question's; what breaks a rule is named with its words. */
static void words_take_the_rest_from_the_question(void **state)
{
    static const char *const good[2] = {"ep=16,micro_batch=1", "ep=8,precision=fp8"};
    static const char *const bad[2] = {"ep=16", "ep=16,micro_batch=3"};
    struct myr_fit_why why = {};
    struct myr_err err = {};
    (void)state;
    ask(NULL);
    assert_int_equal(myr_fit_why_of(&it, good, &arena, &why, &err), MYR_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(why.layouts[i].global_batch, 64);
        assert_int_equal(why.layouts[i].seq_tokens, it.query.seq_tokens);
        assert_int_equal(why.layouts[i].gradient_bytes, 2); /* as trainers of this line do */
        assert_true(why.prices[i].cost.step_s > 0);
    }
    assert_int_equal(why.layouts[0].precision, MYR_PRECISION_BF16);
    assert_int_equal(why.layouts[1].precision, MYR_PRECISION_FP8);
    struct myr_fit_why untouched = why;
    assert_true(myr_fit_why_of(&it, bad, &arena, &why, &err) < 0);
    assert_int_equal(strncmp(err.message, bad[1], strlen(bad[1])), 0);
    assert_non_null(strstr(err.message, "layout rule"));
    assert_memory_equal(&why, &untouched, sizeof(why));
    myr_case_done(&it);
}

static const char *file_of(const char *name, const char *block)
{
    const char *path = myr_arena_printf(&arena, "/tmp/myr-why-%d-%s.yaml", (int)getpid(), name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fprintf(file, "layout: {tp: 1, ep: 16, dp: 16%s}\n", block) > 0);
    assert_int_equal(fclose(file), 0);
    return path;
}

/* Two steps with other work in them are no comparison of layouts. */
static void files_and_words_are_compared_on_one_batch_and_length(void **state)
{
    (void)state;
    const struct {
        const char *a, *b;
        uint64_t seq;
        const char *refused; /* NULL: compared */
    } cases[] = {
        {"", "ep=8", 0, NULL},
        {", global_batch: 64", "ep=8", 0, NULL},
        {", global_batch: 64", "ep=8,global_batch=64", 0, NULL},
        {", global_batch: 128", "ep=8", 0, ":1:47: global_batch is 128, and 64 is asked for"},
        {", global_batch: 64", "ep=8,global_batch=32", 0, "both layouts have that of --batch"},
        {"", "ep=8,sequence=512", 0, "both layouts have that of --seq"},
        {", sequence: 2048", "ep=8", 0, "has sequences of 2,048 tokens, ep=8 of 4,096 tokens"},
        {", sequence: 2048", "ep=8", 2048, NULL},
        {", sequence: 2048", "ep=8", 4096, "sequence is 2048, and 4096 is asked for"},
        {"", "ep=8", 2048, NULL},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        const char *texts[2] = {file_of("a", cases[i].a), cases[i].b};
        struct myr_fit_why why;
        struct myr_err err = {};
        ask_of(NULL, cases[i].seq);
        int rc = myr_fit_why_of(&it, texts, &arena, &why, &err);
        if (cases[i].refused ? !strstr(err.message, cases[i].refused) : rc != MYR_OK) {
            fail_msg("case %zu: '%s'", i, err.message);
        }
        if (!cases[i].refused) {
            assert_int_equal(why.layouts[0].global_batch, 64);
            assert_int_equal(myr_layout_seq(&why.layouts[0], &it.model),
                             cases[i].seq ? cases[i].seq : 4096);
            assert_int_equal(myr_layout_seq(&why.layouts[1], &it.model),
                             cases[i].seq ? cases[i].seq : 4096);
        }
        myr_case_done(&it);
        assert_int_equal(remove(texts[0]), 0);
    }
}

/* One graph of the whole iteration leaves the host one launch for each micro-batch. */
static void a_stated_recipe_counts(void **state)
{
    static const char *const texts[2] = {"ep=16,micro_batch=1", "ep=16,micro_batch=1"};
    struct myr_fit_why none, full;
    struct myr_err err = {};
    (void)state;
    ask("cuda_graphs=none");
    assert_int_equal(myr_fit_why_of(&it, texts, &arena, &none, &err), MYR_OK);
    myr_case_done(&it);
    ask("cuda_graphs=full,token_drop=1,moe_a2a_overlap=1");
    assert_int_equal(myr_fit_why_of(&it, texts, &arena, &full, &err), MYR_OK);
    myr_case_done(&it);
    assert_true(none.prices[0].cost.terms_s[MYR_FIT_LAUNCH] > 0);
    assert_true(full.prices[0].cost.terms_s[MYR_FIT_LAUNCH] <
                none.prices[0].cost.terms_s[MYR_FIT_LAUNCH] / 4);
    assert_true(full.prices[0].cost.step_s < none.prices[0].cost.step_s);
    static const char *const bad[] = {"cuda_graphs=some", "graphs=full", "cuda_graphs", "=full"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        struct myr_stated stated = {};
        assert_true(myr_recipe_words("--recipe", bad[i], &stated, &err) < 0);
        assert_non_null(strstr(err.message, "--recipe"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_tell_the_whole_difference),
        cmocka_unit_test(nothing_differs_where_both_are_the_same),
        cmocka_unit_test(words_that_are_no_layout_are_refused),
        cmocka_unit_test(words_take_the_rest_from_the_question),
        cmocka_unit_test(a_stated_recipe_counts),
        cmocka_unit_test(files_and_words_are_compared_on_one_batch_and_length),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
