/*
 * What steps cost, held against what they cost when somebody last looked (tests/kept): every part
 * of the time and of the memory, of layouts of all kinds, far from what was measured too; the
 * winners of small searches; goodput and its best intervals. Rules say what must hold of any cost
 * (monotone_test.c); this says that a figure changes only on purpose.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "kept.h"
#include "myriad/fit/campaign.h"
#include "test_world.h"

enum { CASES = 160, TRIES = 40000 };

static const char *const names[] = {"llama3-8b",    "llama3-405b",   "gpt3-175b",  "nemotron4-15b",
                                    "mixtral-8x7b", "qwen3-30b-a3b", "deepseek-v3"};

static uint32_t power_of_two(struct myr_rng *rng, uint32_t most)
{
    return 1U << myr_rng_below(rng, most);
}

static struct myr_layout draw_layout(struct myr_rng *rng, const struct myr_model *model)
{
    static const uint8_t precisions[] = {MYR_PRECISION_BF16, MYR_PRECISION_BF16, MYR_PRECISION_FP8,
                                         MYR_PRECISION_MXFP8, MYR_PRECISION_NVFP4};
    struct myr_layout l = myr_layout_default();
    bool moe = model->moe.expert_count > 0;
    l.tp = power_of_two(rng, 4);
    l.pp = power_of_two(rng, 5);
    l.cp = myr_rng_below(rng, 4) ? 1 : power_of_two(rng, 3);
    l.dp = power_of_two(rng, 9);
    l.ep = moe ? power_of_two(rng, 7) : 1;
    l.etp = moe && myr_rng_below(rng, 2) ? 1 : 0;
    l.vp = l.pp > 1 && myr_rng_below(rng, 3) == 0 ? power_of_two(rng, 4) : 1;
    l.schedule = l.vp > 1 ? MYR_SCHEDULE_INTERLEAVED : MYR_SCHEDULE_1F1B;
    l.zero = myr_rng_below(rng, 4);
    l.micro_batch = power_of_two(rng, 4);
    l.global_batch = l.dp * l.micro_batch * l.pp * power_of_two(rng, 4);
    l.sequence_parallel = l.tp > 1;
    l.recompute = (enum myr_recompute)myr_rng_below(rng, 3);
    l.precision = (enum myr_precision)precisions[myr_rng_below(rng, MYR_ARRAY_COUNT(precisions))];
    return l;
}

static void put_price(struct myr_buf *text, const struct myr_fit_case *it, struct myr_layout l)
{
    struct myr_fit_cost cost;
    struct myr_fit_memory memory;
    myr_fit_habits(it, &l);
    myr_fit_cost_of(it, &l, &cost);
    myr_fit_memory_of(it, &l, &memory);
    myr_buf_printf(
        text, "%s %s %s %s tp%u pp%u vp%u dp%u cp%u ep%u z%u b%u/%u %s:", it->model->name,
        it->device->name, it->stack->name, myr_precision_name(l.precision), l.tp, l.pp, l.vp, l.dp,
        l.cp, l.ep, l.zero, l.micro_batch, l.global_batch, myr_recompute_name(l.recompute));
    for (int t = 0; t < MYR_FIT_TERM_COUNT; t++) {
        myr_buf_printf(text, " %.6g", cost.terms_s[t]);
    }
    myr_buf_printf(text, " = %.6g s, mfu %.6g, %.6g tokens;", cost.step_s, cost.mfu,
                   cost.tokens_per_s_per_gpu);
    myr_buf_printf(text, " stage %u: %.8g + %.8g of %.8g, %.6g %.6g %.6g %d\n", memory.stage,
                   (double)memory.state.total_bytes, memory.reserve_bytes, memory.limit_bytes,
                   memory.peak_bytes, memory.peak_low_bytes, memory.peak_high_bytes, memory.fits);
}

static void costs_are_those_that_were_kept(void **state)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_model models[MYR_ARRAY_COUNT(names)];
    struct myr_rng rng;
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        assert_int_equal(myr_model_find(&arena, names[i], &models[i], NULL), MYR_OK);
    }
    myr_rng_init(&rng, 20261116, 1);
    uint32_t found = 0;
    for (uint32_t i = 0; i < TRIES && found < CASES; i++) {
        const struct myr_model *model = &models[myr_rng_below(&rng, MYR_ARRAY_COUNT(models))];
        struct myr_recipe recipes[MYR_PRECISION_COUNT];
        struct myr_fit_case it = {
            .model = model,
            .device = &profiles.devices[myr_rng_below(&rng, profiles.device_count)],
            .stack = &profiles.stacks[myr_rng_below(&rng, profiles.stack_count)],
            .constants = profiles.constants,
            .recipes = recipes,
        };
        struct myr_layout layout = draw_layout(&rng, model);
        (void)myr_profiles_recipes(&profiles, it.stack, it.device, model, NULL, recipes);
        if (myr_layout_broken(&layout, model, 0) == MYR_LAYOUT_OK) {
            put_price(&text, &it, layout);
            found++;
        }
    }
    assert_int_equal(found, CASES);
    assert_kept("fit-costs.txt", &text);
}

static void put_search(struct myr_buf *text, const char *name, const char *device, uint32_t gpus)
{
    struct myr_fit_query query = myr_fit_query_default();
    struct myr_model model;
    struct myr_err err = {};
    bool exact;
    struct myr_fit_answer *answer = MYR_ARENA_ONE(&arena, struct myr_fit_answer);
    assert_int_equal(myr_model_find(&arena, name, &model, NULL), MYR_OK);
    assert_int_equal(myr_profiles_device(&profiles, myr_str_from(device), &query.it.device, NULL),
                     MYR_OK);
    assert_int_equal(
        myr_profiles_stack(&profiles, MYR_STR("NeMo 25.05"), &query.it.stack, &exact, NULL),
        MYR_OK);
    query.it.model = &model;
    query.it.constants = profiles.constants;
    query.gpus = gpus;
    query.batch = 4 * gpus;
    query.top = 4;
    int rc = myr_fit_search(&query, &arena, answer, &err);
    myr_buf_printf(text, "%s on %u %s: %s\n", name, gpus, device, rc < 0 ? err.message : "");
    for (uint32_t i = 0; rc == MYR_OK && i < answer->top_count; i++) {
        const struct myr_layout *l = &answer->top[i].layout;
        myr_buf_printf(text, "  %.6g s: tp%u pp%u vp%u dp%u cp%u ep%u etp%u z%u/%u b%u %s %u %d\n",
                       answer->top[i].step_s, l->tp, l->pp, l->vp, l->dp, l->cp, l->ep, l->etp,
                       l->zero, l->shard, l->micro_batch, myr_recompute_name(l->recompute),
                       l->recompute_layers, (int)l->schedule);
    }
}

static void winners_of_searches_are_those_that_were_kept(void **state)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    (void)state;
    put_search(&text, "llama3-8b", "h100", 8);
    put_search(&text, "llama3-8b", "a100-80", 16);
    put_search(&text, "llama3-70b", "b200", 8);
    put_search(&text, "qwen3-30b-a3b", "h100", 16);
    put_search(&text, "mixtral-8x7b", "h200", 16);
    put_search(&text, "llama3-405b", "h100", 8);
    assert_kept("fit-winners.txt", &text);
}

static void put_renewal(struct myr_buf *text, const struct myr_renewal *renewal)
{
    struct myr_goodput kept = myr_goodput_of(renewal);
    struct myr_scatter scatter = myr_goodput_scatter(renewal);
    double low, high;
    myr_goodput_range(renewal, 50, &low, &high);
    myr_buf_printf(text, "  each %.6g, %u: %.8g = 1 - %.6g - %.6g - %.6g, %.6g a day, %.6g s;",
                   renewal->interval, renewal->per_period, kept.goodput, kept.stalled,
                   kept.recovering, kept.repeated, kept.failures_per_day, kept.mean_time_between_s);
    myr_buf_printf(text, " %.6g %.6g %.6g, %.6g to %.6g\n", scatter.mean, scatter.variance,
                   scatter.third, low, high);
}

static void goodput_is_that_which_was_kept(void **state)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    (void)state;
    for (uint32_t i = 0; i < 8; i++) {
        double gpus = 64 << i % 4 * 3;
        struct myr_renewal renewal = {
            .quick = {i % 2 ? 3e-9 * gpus : 0, 60 + 10 * i, i % 2 ? 0.5 : 0},
            .durable = {1e-9 * gpus, 600 + 100 * i, 2 + i},
            .interval = 300 + 50 * i,
            .per_period = i % 2 ? 1 + i : 1};
        struct myr_limits limits = {.interval_least = 100 * (i % 3), .period_most = 40000};
        struct myr_renewal best = myr_goodput_optimum(&renewal);
        struct myr_renewal within = myr_goodput_optimum_within(&renewal, &limits);
        double out;
        uint32_t spares = myr_spares_needed(1e-9 * gpus, 86400 * (1 + i % 4), 1e-3, &out);
        myr_buf_printf(&text, "%.6g GPUs: %u spares, short %.6g; 90 %% with a recovery of %.6g\n",
                       gpus, spares, out, myr_goodput_recovery_for(&renewal, &limits, 0.9));
        put_renewal(&text, &renewal);
        put_renewal(&text, &best);
        put_renewal(&text, &within);
    }
    assert_kept("fit-goodput.txt", &text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_are_those_that_were_kept),
        cmocka_unit_test(winners_of_searches_are_those_that_were_kept),
        cmocka_unit_test(goodput_is_that_which_was_kept),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
