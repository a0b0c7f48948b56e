#include "myriad/study/compare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
    struct myr_arena arena;
    struct myr_catalog catalog;
    struct myr_err err;
    struct myr_design_comparison *found;
};

#define EXAMPLES MYR_SOURCE_DIR "/examples/compare/"

static const char *const pair[] = {EXAMPLES "infiniband-1k.yaml", EXAMPLES "roce-1k.yaml"};

static int compare(struct fixture *f, const struct myr_compare_question *question)
{
    *f = (struct fixture){};
    myr_arena_init(&f->arena);
    assert_int_equal(myr_catalog_init(&f->catalog, &f->arena, &f->err), MYR_OK);
    f->found = MYR_ARENA_ONE(&f->arena, struct myr_design_comparison);
    return myr_compare_designs(f->found, &f->arena, &f->catalog, question, &f->err);
}

static void release(struct fixture *f)
{
    myr_design_comparison_done(f->found);
    myr_catalog_done(&f->catalog);
    myr_arena_done(&f->arena);
}

static struct myr_compare_question question_of(const char *const *files, uint32_t count)
{
    return (struct myr_compare_question){
        .files = files, .count = count, .in_use = 0.9, .of = myr_case_question_default()};
}

static const struct myr_compare_row *row_of(const struct fixture *f, const char *key)
{
    for (uint32_t i = 0; i < f->found->row_count; i++) {
        if (strcmp(f->found->rows[i].key, key) == 0) {
            return &f->found->rows[i];
        }
    }
    return NULL;
}

static bool noted(const struct fixture *f, const char *words)
{
    for (uint32_t i = 0; i < f->found->note_count; i++) {
        if (strstr(f->found->notes[i], words)) {
            return true;
        }
    }
    return false;
}

static void the_same_design_twice_is_equal_in_everything(void **state)
{
    (void)state;
    const char *const same[] = {pair[0], pair[0]};
    struct fixture f;
    struct myr_compare_question question = question_of(same, 2);
    if (compare(&f, &question) < 0) {
        fail_msg("%s", f.err.message);
    }
    for (uint32_t i = 0; i < f.found->row_count; i++) {
        const struct myr_compare_row *row = &f.found->rows[i];
        assert_int_equal(row->best, MYR_NONE);
        assert_true(row->equal == (row->better != MYR_COMPARE_NEITHER));
        assert_null(row->why);
    }
    assert_null(row_of(&f, "step_s")); /* no model was named */
    release(&f);
}

static void each_figure_has_a_rule_a_basis_and_a_value(void **state)
{
    (void)state;
    struct fixture f;
    struct myr_compare_question question = question_of(pair, 2);
    question.of.model = "llama3-8b";
    question.of.batch = 1024;
    if (compare(&f, &question) < 0) {
        fail_msg("%s", f.err.message);
    }
    for (uint32_t i = 0; i < f.found->row_count; i++) {
        for (uint32_t k = 0; k < 2; k++) {
            const struct myr_compare_cell *cell = &f.found->rows[i].cells[k];
            assert_true(cell->known);
            assert_true(cell->rule[0] != '\0' && cell->basis[0] != '\0');
        }
    }
    /* 1.5 twin modules, a NIC module, two fibres and 3/64 of a switch a GPU. */
    assert_int_equal((int64_t)row_of(&f, "capex_per_gpu")->cells[0].value > 0, 1);
    assert_int_equal((int64_t)row_of(&f, "switches")->cells[0].value, 48);
    assert_int_equal((int64_t)row_of(&f, "switches")->best, 1);
    double rate = row_of(&f, "tokens_per_s")->cells[0].value;
    double each = row_of(&f, "tokens_per_s_per_gpu")->cells[0].value;
    assert_true(rate > 1023.9 * each && rate < 1024.1 * each);
    double step = row_of(&f, "step_s")->cells[0].value;
    double tokens = 1024.0 * 8192;
    assert_true(rate * step > 0.999 * tokens && rate * step < 1.001 * tokens);
    assert_true(noted(&f, "a spreads flows by adaptive"));
    assert_true(noted(&f, "b spreads flows by ecmp"));
    release(&f);
}

static void what_is_given_is_not_called_assumed(void **state)
{
    (void)state;
    static const char *const policies[] = {"spray", "static"}, *const parts[] = {"1000"};
    struct fixture f;
    struct myr_compare_question question = question_of(pair, 2);
    question.policies = (struct myr_sim_words){policies, 2};
    question.efficiencies = (struct myr_sim_words){parts, 1};
    if (compare(&f, &question) < 0) {
        fail_msg("%s", f.err.message);
    }
    assert_int_equal(f.found->sides[0].policy, MYR_POLICY_SPRAY);
    assert_int_equal(f.found->sides[1].policy, MYR_POLICY_STATIC);
    assert_int_equal(f.found->sides[1].efficiency_permille, 1000);
    assert_false(noted(&f, "spreads flows"));
    assert_false(noted(&f, "headers"));
    release(&f);
}

static void headers_leave_what_their_bytes_say(void **state)
{
    (void)state;
    struct fixture f;
    struct myr_compare_question question = question_of(pair, 2);
    if (compare(&f, &question) < 0) {
        fail_msg("%s", f.err.message);
    }
    assert_int_equal(f.found->sides[0].efficiency_permille, 993); /* 4096 / 4122 */
    assert_int_equal(f.found->sides[1].efficiency_permille, 980); /* 4096 / 4178 */
    assert_int_equal(f.found->sides[0].technology, MYR_TECH_INFINIBAND);
    assert_int_equal(f.found->sides[1].technology, MYR_TECH_ETHERNET);
    release(&f);
}

static void bad_questions_are_refused_before_anything_is_planned(void **state)
{
    (void)state;
    static const char *const wrong[] = {"fastest"}, *const much[] = {"1001"};
    struct fixture f;
    struct myr_compare_question question = question_of(pair, 1);
    assert_int_equal(compare(&f, &question), MYR_EINVAL);
    assert_string_equal(f.err.message, "two to 8 designs are compared, 1 is given");
    assert_string_equal(f.err.hint, "myriad compare infiniband.yaml roce.yaml");
    release(&f);
    question = question_of(pair, 9); /* not one of them is looked at */
    assert_int_equal(compare(&f, &question), MYR_EINVAL);
    assert_string_equal(f.err.message, "two to 8 designs are compared, 9 are given");
    release(&f);
    question = question_of(pair, 2);
    question.policies = (struct myr_sim_words){wrong, 1};
    assert_int_equal(compare(&f, &question), MYR_EINVAL);
    assert_non_null(strstr(f.err.message, "fastest"));
    release(&f);
    question = question_of(pair, 2);
    question.efficiencies = (struct myr_sim_words){much, 1};
    assert_int_equal(compare(&f, &question), MYR_EINVAL);
    release(&f);
    question = question_of(pair, 2);
    question.group = "train";
    assert_int_equal(compare(&f, &question), MYR_EINVAL);
    release(&f);
    question = question_of(pair, 2);
    question.of.batch = 8;
    assert_int_equal(compare(&f, &question), MYR_EINVAL);
    assert_string_equal(f.err.message, "--batch does nothing without --model");
    release(&f);
    question.of.batch = 0;
    question.of.layout = "layout.yaml";
    assert_int_equal(compare(&f, &question), MYR_EINVAL);
    assert_string_equal(f.err.message, "--layout does nothing without --model");
    release(&f);
}

/* What only training looks at is refused where nothing is trained: never ignored. */
static void options_of_training_need_a_model(void **state)
{
    (void)state;
#define ALONE(name, change)                                                            \
    {                                                                                  \
        struct fixture f;                                                              \
        struct myr_compare_question question = question_of(pair, 2);                   \
        question.of.change;                                                            \
        assert_int_equal(compare(&f, &question), MYR_EINVAL);                          \
        assert_string_equal(f.err.message, "--" name " does nothing without --model"); \
        release(&f);                                                                   \
    }
    ALONE("seq", seq = 1)
    ALONE("gpus", gpus = 1)
    ALONE("device", device = "h100")
    ALONE("software", software = "megatron")
    ALONE("recipe", recipe = "tp_overlap=1")
    ALONE("profile", profile = "own.yaml")
    ALONE("tp", tp = 1)
    ALONE("pp", pp = 1)
    ALONE("vp", vp = 1)
    ALONE("dp", dp = 1)
    ALONE("cp", cp = 1)
    ALONE("ep", ep = 1)
    ALONE("mbs", micro_batch = 1)
    ALONE("zero", zero = 0)
    ALONE("recompute", recompute = 0)
    ALONE("precision", precision = 0)
    ALONE("precision", any_precision = true)
    ALONE("schedule", schedule = MYR_FIT_SCHEDULE_ANY)
#undef ALONE
}

/* A pipe holds it once, as standard input does. */
static void a_layout_is_read_once_for_all_sides(void **state)
{
    static const char *const twice[] = {MYR_SOURCE_DIR "/examples/h100-64.yaml",
                                        MYR_SOURCE_DIR "/examples/h100-64.yaml"};
    static const char text[] = "schema: myriad.layout\nversion: 1\nlayout: {tp: 8, dp: 2, "
                               "micro_batch: 1, global_batch: 32, zero: 1}\n";
    struct myr_compare_question question = question_of(twice, 2);
    struct fixture f;
    char path[32];
    int ends[2];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, sizeof(text) - 1), sizeof(text) - 1);
    assert_int_equal(close(ends[1]), 0);
    snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
    question.of.model = "llama3-8b";
    question.of.layout = path;
    if (compare(&f, &question) < 0) {
        fail_msg("%s", f.err.message);
    }
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(f.found->sides[i].trained);
        assert_int_equal(f.found->sides[i].layout.tp, 8);
        assert_int_equal(f.found->sides[i].layout.dp, 2);
    }
    release(&f);
    assert_int_equal(close(ends[0]), 0);
}

/* Half a unit is the next whole one, on the page as in the answer; the even one nowhere. */
static void page_and_answer_round_alike(void **state)
{
    struct myr_compare_question question = question_of(pair, 2);
    struct fixture f;
    (void)state;
    if (compare(&f, &question) < 0) {
        fail_msg("%s", f.err.message);
    }
    MYR_CLEANUP(myr_buf_done) struct myr_buf page = {}, tree = {};
    struct myr_answer answer;
    for (uint32_t r = 0; r < f.found->row_count; r++) {
        struct myr_compare_row *row = &f.found->rows[r];
        row->cells[0].value = strcmp(row->key, "energy_mwh") == 0 ? 16038.5 : row->cells[0].value;
    }
    myr_answer_init(&answer, &f.arena, "myriad.compare", 1);
    myr_design_comparison_answer(f.found, &answer);
    assert_int_equal(myr_answer_write(&answer,
                                      &(struct myr_answer_form){.format = MYR_FORMAT_TABLE}, &tree,
                                      &f.err),
                     MYR_OK);
    myr_design_comparison_html(f.found, NULL, &page);
    assert_non_null(strstr(tree.data, "16,039"));
    assert_non_null(strstr(page.data, "16,039"));
    release(&f);
}

/* A pipe with the text in it, as a path; the caller closes the end that is returned. */
static int piped(const char *text, char path[32])
{
    int ends[2];
    size_t len = strlen(text);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, len), len);
    assert_int_equal(close(ends[1]), 0);
    snprintf(path, 32, "/dev/fd/%d", ends[0]);
    return ends[0];
}

/* So are the model, the constants of the user's own and the prices. */
static void other_files_are_read_once_for_all_sides(void **state)
{
    static const char *const twice[] = {MYR_SOURCE_DIR "/examples/h100-64.yaml",
                                        MYR_SOURCE_DIR "/examples/h100-64.yaml"};
    static const char model[] = "name: own\nlayers: 4\nhidden: 512\nheads: 8\n"
                                "ffn: 2048\nvocab: 32000\nsequence: 1024\n";
    static const char prices[] = "part,price,currency\nmqm9790-ns2f,7,CNY\n";
    static const char profile[] = "constants: {gemm.hopper: 0.5}\n";
    struct myr_compare_question question = question_of(twice, 2);
    struct fixture f, shipped;
    char model_path[32], prices_path[32], profile_path[32];
    (void)state;
    int fds[] = {piped(model, model_path), piped(prices, prices_path),
                 piped(profile, profile_path)};
    question.of.model = model_path;
    question.of.profile = profile_path;
    question.of.batch = 64;
    question.prices = prices_path;
    if (compare(&f, &question) < 0) {
        fail_msg("%s", f.err.message);
    }
    for (uint32_t i = 0; i < 2; i++) {
        const struct myr_design *design = &f.found->sides[i].design;
        bool priced = false;
        for (uint32_t k = 0; k < design->bom_count; k++) {
            priced = priced ||
                     (strcmp(myr_design_str(design, design->bom[k].part), "MQM9790-NS2F") == 0 &&
                      design->bom[k].unit_cents == 700);
        }
        assert_true(priced);
        assert_true(f.found->sides[i].trained);
    }
    double steps[] = {f.found->sides[0].price.cost.step_s, f.found->sides[1].price.cost.step_s};
    release(&f);
    /* The profile's constant, which is slower than the shipped one, holds on both sides. */
    struct myr_compare_question plain = question_of(twice, 2);
    int again = piped(model, model_path);
    plain.of.model = model_path;
    plain.of.batch = 64;
    assert_int_equal(compare(&shipped, &plain), MYR_OK);
    assert_true(steps[0] == steps[1] && steps[0] > shipped.found->sides[0].price.cost.step_s);
    release(&shipped);
    assert_int_equal(close(again), 0);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(fds); i++) {
        assert_int_equal(close(fds[i]), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_design_twice_is_equal_in_everything),
        cmocka_unit_test(each_figure_has_a_rule_a_basis_and_a_value),
        cmocka_unit_test(what_is_given_is_not_called_assumed),
        cmocka_unit_test(headers_leave_what_their_bytes_say),
        cmocka_unit_test(bad_questions_are_refused_before_anything_is_planned),
        cmocka_unit_test(options_of_training_need_a_model),
        cmocka_unit_test(a_layout_is_read_once_for_all_sides),
        cmocka_unit_test(page_and_answer_round_alike),
        cmocka_unit_test(other_files_are_read_once_for_all_sides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
