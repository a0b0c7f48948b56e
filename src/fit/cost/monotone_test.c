/*
 * More work never takes less: what must hold of any step, whatever the constants are. Random
 * models, devices, releases and layouts, far from what was measured too; every rule is asked of
 * each.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "test_world.h"

enum { CASES = 1500 };
#define SLACK 1e-9 /* sums of many terms in another order */

static const char *const names[] = {
    "llama3-8b",     "llama3-70b",      "llama3-405b", "gpt3-175b",
    "gpt3-1.3b",     "nemotron4-15b",   "qwen3-8b",    "mixtral-8x7b",
    "qwen3-30b-a3b", "qwen3-235b-a22b", "deepseek-v3", "gpt-oss-120b",
    "kimi-k2",       "llama4-maverick", "grok-1",      "mpt-7b"};
static struct myr_model models[MYR_ARRAY_COUNT(names)];

static int setup(void **state)
{
    MYR_TRY(open_world(state));
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        MYR_TRY(myr_model_find(&arena, names[i], &models[i], NULL));
        /* Tables of learned positions do not end where a question does. */
        (void)myr_model_stretch(&models[i], 1U << 20);
    }
    return 0;
}

struct drawn {
    struct myr_model model;
    struct myr_fit_case it;
    struct myr_recipe recipes[MYR_PRECISION_COUNT];
    struct myr_layout layout;
    struct myr_fit_cost cost;
    struct myr_fit_memory memory;
    uint64_t number;
};

static uint32_t power_of_two(struct myr_rng *rng, uint32_t most)
{
    return 1U << myr_rng_below(rng, most);
}

static void price(const struct myr_fit_case *it, struct myr_layout layout,
                  struct myr_fit_cost *cost, struct myr_fit_memory *memory)
{
    myr_fit_habits(it, &layout);
    myr_fit_cost_of(it, &layout, cost);
    myr_fit_memory_of(it, &layout, memory);
}

/* False where the layout breaks a rule: most do, a few in a hundred tries hold. */
static bool draw(struct myr_rng *rng, struct drawn *d)
{
    static const uint8_t precisions[] = {MYR_PRECISION_BF16, MYR_PRECISION_BF16, MYR_PRECISION_FP8,
                                         MYR_PRECISION_MXFP8, MYR_PRECISION_NVFP4};
    struct myr_layout *l = &d->layout;
    d->model = models[myr_rng_below(rng, MYR_ARRAY_COUNT(models))];
    d->it = (struct myr_fit_case){
        .model = &d->model,
        .device = &profiles.devices[myr_rng_below(rng, profiles.device_count)],
        .stack = &profiles.stacks[myr_rng_below(rng, profiles.stack_count)],
        .constants = profiles.constants,
        .recipes = d->recipes,
    };
    (void)myr_profiles_recipes(&profiles, d->it.stack, d->it.device, &d->model, NULL, d->recipes);
    *l = myr_layout_default();
    l->tp = power_of_two(rng, 4);
    l->pp = power_of_two(rng, 5);
    l->cp = myr_rng_below(rng, 4) ? 1 : power_of_two(rng, 3);
    l->dp = power_of_two(rng, 9);
    l->ep = d->model.moe.expert_count ? power_of_two(rng, 7) : 1;
    l->etp = d->model.moe.expert_count && myr_rng_below(rng, 2) ? 1 : 0;
    l->vp = l->pp > 1 && myr_rng_below(rng, 3) == 0 ? power_of_two(rng, 4) : 1;
    l->schedule = l->vp > 1 ? MYR_SCHEDULE_INTERLEAVED : MYR_SCHEDULE_1F1B;
    l->zero = (uint32_t)myr_rng_below(rng, 4);
    l->micro_batch = power_of_two(rng, 4);
    l->global_batch = l->dp * l->micro_batch * (l->pp > 1 ? l->pp : 1) * power_of_two(rng, 4);
    l->seq_tokens = 1024U << myr_rng_below(rng, 6);
    l->sequence_parallel = l->tp > 1;
    l->recompute = (enum myr_recompute)myr_rng_below(rng, 3);
    l->precision = (enum myr_precision)precisions[myr_rng_below(rng, MYR_ARRAY_COUNT(precisions))];
    if (myr_layout_broken(l, &d->model, 0) != MYR_LAYOUT_OK) {
        return false;
    }
    price(&d->it, *l, &d->cost, &d->memory);
    return true;
}

/*
 * What is exchanged is told of the slowest stage: where another becomes the slowest, one with fewer
 * weights, that part of the step may fall. The rest of it may not.
 */
static double settled_s(const struct drawn *d, const struct myr_fit_cost *cost)
{
    bool one = d->layout.pp == 1;
    return one ? cost->step_s
               : cost->step_s - cost->terms_s[MYR_FIT_STRAGGLER] - cost->terms_s[MYR_FIT_DATA] -
                     cost->terms_s[MYR_FIT_OPTIMISER];
}

static void expect(const struct drawn *d, const char *rule, double least, double value)
{
    if (value < least * (1 - SLACK)) {
        const struct myr_layout *l = &d->layout;
        fail_msg("case %llu, %s: %.9g, expected %.9g at least; %s on %s with %s, %s, tp %u pp %u "
                 "vp %u cp %u ep %u dp %u zero %u mbs %u batch %u tokens %u recompute %s",
                 (unsigned long long)d->number, rule, value, least, d->model.name,
                 d->it.device->name, d->it.stack->name, myr_precision_name(l->precision), l->tp,
                 l->pp, l->vp, l->cp, l->ep, l->dp, l->zero, l->micro_batch, l->global_batch,
                 l->seq_tokens, myr_recompute_name(l->recompute));
    }
}

/* Another layout of the same case: no less of a step, and no less memory. */
static void expect_more(const struct drawn *d, const char *rule, struct myr_layout other)
{
    struct myr_fit_cost cost;
    struct myr_fit_memory memory;
    if (myr_layout_broken(&other, &d->model, 0) != MYR_LAYOUT_OK) {
        return;
    }
    price(&d->it, other, &cost, &memory);
    expect(d, rule, settled_s(d, &d->cost), settled_s(d, &cost));
    expect(d, rule, d->memory.total_bytes, memory.total_bytes);
}

static void more_of_the_batch(const struct drawn *d)
{
    struct myr_fit_cost cost;
    struct myr_fit_memory memory;
    struct myr_layout other = d->layout;
    other.seq_tokens *= 2;
    expect_more(d, "twice the tokens of a sequence", other);
    other = d->layout;
    other.global_batch *= 2;
    expect_more(d, "twice the micro-batches", other);
    /* What a step has once is shared by more: a batch is never dearer than its halves. */
    if (myr_layout_broken(&other, &d->model, 0) == MYR_LAYOUT_OK) {
        price(&d->it, other, &cost, &memory);
        expect(d, "halves of a batch", settled_s(d, &cost), 2 * settled_s(d, &d->cost));
    }
    other.micro_batch *= 2;
    expect_more(d, "twice the sequences of a micro-batch", other);
}

static void a_larger_model(const struct drawn *d)
{
    struct drawn larger = *d;
    const struct myr_layout *l = &d->layout;
    larger.it.model = &larger.model;
    larger.it.recipes = larger.recipes;
    larger.model.layer_count += l->pp * l->vp;
    if (myr_layout_broken(l, &larger.model, 0) == MYR_LAYOUT_OK) {
        price(&larger.it, *l, &larger.cost, &larger.memory);
        expect(d, "a layer more for each chunk", settled_s(d, &d->cost),
               settled_s(d, &larger.cost));
        expect(d, "a layer more, memory", d->memory.total_bytes, larger.memory.total_bytes);
    }
    larger.model = d->model;
    larger.model.vocab *= 2;
    if (myr_layout_broken(l, &larger.model, 0) == MYR_LAYOUT_OK) {
        price(&larger.it, *l, &larger.cost, &larger.memory);
        expect(d, "twice the vocabulary", settled_s(d, &d->cost), settled_s(d, &larger.cost));
        expect(d, "twice the vocabulary, memory", d->memory.total_bytes, larger.memory.total_bytes);
    }
}

static void what_is_made_again(const struct drawn *d)
{
    struct myr_layout none = d->layout, full = d->layout;
    struct myr_fit_cost cheap, dear;
    struct myr_fit_memory wide, slim;
    none.recompute = MYR_RECOMPUTE_NONE;
    none.recompute_layers = 0;
    full.recompute = MYR_RECOMPUTE_FULL;
    full.recompute_layers = 0;
    price(&d->it, none, &cheap, &wide);
    price(&d->it, full, &dear, &slim);
    expect(d, "everything made again", cheap.step_s, dear.step_s);
    /* The layer that is made again lies beside its gradients: a little, where little is kept. */
    expect(d, "everything made again, memory", 0.99 * slim.total_bytes, wide.total_bytes);
}

/* As many samples on twice the GPUs: no more than twice as fast, for nothing becomes cheaper. */
static void more_gpus(const struct drawn *d)
{
    struct myr_layout other = d->layout;
    struct myr_fit_cost cost;
    struct myr_fit_memory memory;
    other.dp *= 2;
    other.global_batch *= 2;
    if (myr_layout_broken(&other, &d->model, 0) == MYR_LAYOUT_OK) {
        price(&d->it, other, &cost, &memory);
        /* State cut over more ranks is updated in less time: that much may be won. */
        double won = d->cost.terms_s[MYR_FIT_OPTIMISER] - cost.terms_s[MYR_FIT_OPTIMISER];
        expect(d, "weak scaling", d->cost.step_s - 1.1 * fmax(won, 0), cost.step_s);
        expect(d, "weak scaling, memory", memory.total_bytes, d->memory.total_bytes);
    }
}

/* A better machine is no slower. */
static void a_faster_device(const struct drawn *d)
{
    for (int what = 0; what < 5; what++) {
        struct myr_device device = *d->it.device;
        struct myr_fit_case it = d->it;
        struct myr_fit_cost cost;
        struct myr_fit_memory memory;
        device.bf16_flops *= what == 0 ? 1.3 : 1;
        device.fp8_flops *= what == 0 ? 1.3 : 1;
        device.fp4_flops *= what == 0 ? 1.3 : 1;
        device.memory_bytes_per_s *= what == 1 ? 1.3 : 1;
        device.domain_bytes_per_s *= what == 2 ? 1.3 : 1;
        device.nic_gbps *= what == 3 ? 1.3 : 1;
        device.power_w *= what == 4 ? 1.3 : 1;
        it.device = &device;
        price(&it, d->layout, &cost, &memory);
        static const char *const rules[] = {"a higher peak", "faster memory", "faster links",
                                            "faster NICs", "more power"};
        expect(d, rules[what], settled_s(d, &cost), settled_s(d, &d->cost));
    }
}

/* Products of one kernel at its best rate: no step of them is nearer to the peak. */
static void a_share_of_the_peak_that_kernels_reach(const struct drawn *d)
{
    double least =
        3 * (double)myr_model_flops(&d->model, d->layout.seq_tokens).forward *
        d->layout.global_batch /
        ((double)myr_layout_gpus(&d->layout) * myr_device_peak(d->it.device, d->layout.precision));
    expect(d, "the share of the peak", least, 0.85 * d->cost.step_s);
    for (int i = 0; i < MYR_FIT_TERM_COUNT; i++) {
        expect(d, myr_fit_term_name((enum myr_fit_term)i), 0, d->cost.terms_s[i] + 1e-12);
    }
}

static void more_work_never_takes_less(void **state)
{
    struct myr_rng rng;
    struct drawn d;
    uint32_t held = 0;
    (void)state;
    myr_rng_init(&rng, 20, 11);
    for (d.number = 1; held < CASES; d.number++) {
        assert_true(d.number < 400 * CASES);
        if (!draw(&rng, &d)) {
            continue;
        }
        held++;
        more_of_the_batch(&d);
        a_larger_model(&d);
        what_is_made_again(&d);
        more_gpus(&d);
        a_faster_device(&d);
        a_share_of_the_peak_that_kernels_reach(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(more_work_never_takes_less)};
    return cmocka_run_group_tests(tests, setup, close_world);
}
