/* Intervals: wide where nobody has measured, and narrow beside a measured run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "test_world.h"

struct asked {
    const char *model, *device, *software, *precision;
    uint32_t gpus, tp, pp, cp, ep, dp, tokens;
};

static struct myr_fit_spread spread_of(const struct asked *a)
{
    static const char *const names[] = {"bf16", "fp16", "fp8", "mxfp8", "nvfp4", "fp32"};
    struct myr_model *model = MYR_ARENA_ONE(&arena, struct myr_model);
    struct myr_fit_case it = {.model = model, .constants = profiles.constants};
    struct myr_layout layout = myr_layout_default();
    struct myr_fit_cost cost;
    bool exact;
    assert_int_equal(myr_model_find(&arena, a->model, model, NULL), MYR_OK);
    assert_int_equal(myr_profiles_device(&profiles, myr_str_from(a->device), &it.device, NULL),
                     MYR_OK);
    assert_int_equal(
        myr_profiles_stack(&profiles, myr_str_from(a->software), &it.stack, &exact, NULL), MYR_OK);
    layout.tp = a->tp;
    layout.pp = a->pp;
    layout.cp = a->cp;
    layout.ep = a->ep;
    layout.dp = a->gpus / (a->tp * a->pp * a->cp);
    layout.sequence_parallel = a->tp > 1;
    layout.seq_tokens = a->tokens;
    layout.global_batch = layout.dp * a->pp;
    (void)myr_model_stretch(model, a->tokens);
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        layout.precision =
            strcmp(names[i], a->precision) == 0 ? (enum myr_precision)i : layout.precision;
    }
    myr_fit_habits(&it, &layout);
    assert_int_equal(myr_layout_broken(&layout, model, 0), MYR_LAYOUT_OK);
    myr_fit_cost_of(&it, &layout, &cost);
    return myr_fit_spread(&profiles, &it, &layout, &cost, exact ? 0 : MYR_UNKNOWN_RELEASE);
}

/* A constant width would tell the same of all of these. */
static void what_lies_far_from_measured_runs_is_told_wider(void **state)
{
    static const struct asked near = {.model = "llama3-8b",
                                      .device = "h100",
                                      .software = "NeMo 25.02",
                                      .precision = "bf16",
                                      .gpus = 16,
                                      .tp = 1,
                                      .pp = 1,
                                      .cp = 1,
                                      .ep = 1,
                                      .tokens = 8192};
    double base = spread_of(&near).share;
    (void)state;
    struct asked far = near;
    far.gpus = 131072;
    far.tp = 8;
    struct myr_fit_spread many = spread_of(&far);
    assert_true(many.share > 1.25 * base);
    assert_int_equal(many.most, MYR_INTERVAL_GPUS);
    far = near;
    far.tokens = 1U << 20;
    far.cp = 8;
    struct myr_fit_spread longer = spread_of(&far);
    assert_true(longer.share > 1.25 * base);
    assert_int_equal(longer.most, MYR_INTERVAL_TOKENS);
    far = near;
    far.device = "mi300x";
    assert_true(spread_of(&far).share > 1.25 * base);
    far = near;
    far.software = "NeMo 24.12";
    assert_true(spread_of(&far).share > base);
    far = near;
    far.precision = "fp32";
    assert_true(spread_of(&far).share > base);
    assert_true(base > 0.02 && base < 0.15);
}

/* The same place as a measured run has the width of its kind, and no more. */
static void beside_a_measured_run_nothing_is_added(void **state)
{
    struct myr_fit_cost cost = {.step_s = 1};
    (void)state;
    cost.terms_s[MYR_FIT_ATTENTION] = 0.25;
    struct myr_fit_shares shares = myr_fit_shares_of(&cost);
    assert_true(profiles.measured_count > 200);
    for (uint32_t i = 0; i < profiles.measured_count; i++) {
        const struct myr_measured *run = &profiles.measured[i];
        struct myr_fit_distance none = myr_fit_distance_of(&profiles, run, run);
        double width = myr_fit_width(profiles.intervals, run->experts > 0, &none, &shares);
        double own = profiles.intervals[run->experts ? MYR_INTERVAL_EXPERTS : MYR_INTERVAL_DENSE];
        assert_true(width > own * 0.999999 && width < own * 1.000001);
    }
}

/* Tokens count for what attention is of the step, each further doubling more. */
static void an_axis_counts_for_its_part_of_the_step(void **state)
{
    struct myr_fit_cost cost = {.step_s = 1};
    struct myr_fit_distance away = {};
    double before = 0;
    (void)state;
    for (int tenth = 0; tenth <= 10; tenth++) {
        cost.terms_s[MYR_FIT_ATTENTION] = tenth / 10.0;
        struct myr_fit_shares shares = myr_fit_shares_of(&cost);
        away.axes[MYR_INTERVAL_TOKENS] = 7;
        double width = myr_fit_width(profiles.intervals, false, &away, &shares);
        assert_true(tenth == 0 ? width < profiles.intervals[MYR_INTERVAL_DENSE] * 1.000001
                               : width > before);
        before = width;
    }
    for (int axis = MYR_INTERVAL_FIRST_AXIS; axis < MYR_INTERVAL_COUNT; axis++) {
        struct myr_fit_shares all;
        struct myr_fit_distance one = {};
        for (int i = 0; i < MYR_INTERVAL_COUNT; i++) {
            all.axes[i] = 1;
        }
        before = 0;
        for (int d = 0; d < 5; d++) {
            one.axes[axis] = d;
            double width = myr_fit_width(profiles.intervals, true, &one, &all);
            assert_true(width > before);
            before = width;
        }
    }
}

static void words_name_the_run_and_what_is_farthest(void **state)
{
    static const struct asked far = {.model = "llama3-8b",
                                     .device = "h100",
                                     .software = "NeMo 25.02",
                                     .precision = "bf16",
                                     .gpus = 131072,
                                     .tp = 8,
                                     .pp = 1,
                                     .cp = 1,
                                     .ep = 1,
                                     .tokens = 8192};
    MYR_CLEANUP(myr_buf_done) struct myr_buf words = {};
    struct myr_fit_spread spread = spread_of(&far);
    (void)state;
    myr_fit_spread_words(&profiles, &spread, &words);
    assert_non_null(strstr(words.data, "GPUs, "));
    assert_non_null(strstr(words.data, "doublings of gpus away"));
}

static void words_are_those_of_the_axis_that_adds_most(void **state)
{
    static const struct {
        enum myr_interval most;
        uint32_t gpus, experts;
        const char *behind;
    } rows[] = {
        {MYR_INTERVAL_COUNT, 1, 0, "1 GPU, 8,192 tokens"},
        {MYR_INTERVAL_COUNT, 2, 8, "2 GPUs, 8,192 tokens, 8 experts"},
        {MYR_INTERVAL_GPUS, 2, 0, "2 GPUs, 8,192 tokens; 2.5 doublings of gpus away"},
        {MYR_INTERVAL_TOKENS, 2, 0, "2 GPUs, 8,192 tokens; 2.5 doublings of tokens away"},
        {MYR_INTERVAL_EXPERT_COUNT, 2, 1, ", 1 expert; 2.5 doublings of experts away"},
        {MYR_INTERVAL_DEVICE, 2, 0, "; another device"},
        {MYR_INTERVAL_PRECISION, 2, 0, "; another precision"},
        {MYR_INTERVAL_LINE, 2, 0, "; another trainer"},
        {MYR_INTERVAL_RELEASE, 2, 0, "; another release"},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf words = {};
        struct myr_fit_spread spread = {.most = rows[i].most};
        spread.nearest.gpus = rows[i].gpus;
        spread.nearest.tokens = 8192;
        spread.nearest.experts = rows[i].experts;
        for (int k = 0; k < MYR_INTERVAL_COUNT; k++) {
            spread.away.axes[k] = k == (int)rows[i].most ? 2.5 : 7;
        }
        myr_fit_spread_words(&profiles, &spread, &words);
        size_t len = strlen(rows[i].behind);
        if (words.len < len || strcmp(words.data + words.len - len, rows[i].behind) != 0) {
            fail_msg("'%s' does not end in '%s'", words.data, rows[i].behind);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_lies_far_from_measured_runs_is_told_wider),
        cmocka_unit_test(beside_a_measured_run_nothing_is_added),
        cmocka_unit_test(an_axis_counts_for_its_part_of_the_step),
        cmocka_unit_test(words_name_the_run_and_what_is_farthest),
        cmocka_unit_test(words_are_those_of_the_axis_that_adds_most),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
