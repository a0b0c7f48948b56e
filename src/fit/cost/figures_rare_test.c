/*
 * What steps cost that few people run, held against what they cost when somebody last looked
 * (tests/kept): every field of a layout drawn apart from the others, recipes of all kinds, models
 * with windows, prediction modules, dense layers among experts. Layer by layer and pass by pass,
 * for a whole step hides what one operator gains and another loses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "cost/combine.h"
#include "kept.h"
#include "myriad/fit/parts.h"
#include "test_world.h"

enum { CASES = 96, TRIES = 60000 };

static const char *const names[] = {"gpt-oss-20b", "deepseek-v2", "deepseek-v3",     "kimi-k2",
                                    "bloom-176b",  "grok-1",      "llama4-maverick", "gpt3-13b",
                                    "qwen3-8b",    "mpt-7b",      "nemotron4-15b",   "llama3-70b"};

static uint32_t below(struct myr_rng *rng, uint32_t count)
{
    return (uint32_t)myr_rng_below(rng, count);
}

static uint32_t power(struct myr_rng *rng, uint32_t most)
{
    return 1U << below(rng, most);
}

static void draw_habits(struct myr_rng *rng, struct myr_layout *l)
{
    l->flash_attention = below(rng, 3) > 0;
    l->fused_loss = below(rng, 2) > 0;
    l->low_kept = below(rng, 2) > 0;
    l->gradient_bytes = 2 * below(rng, 3);
    l->recompute = (enum myr_recompute)below(rng, 3);
    l->recompute_layers = l->recompute == MYR_RECOMPUTE_FULL ? below(rng, 3) : 0;
    l->recompute_parts = below(rng, 2) ? 0 : below(rng, 1U << MYR_AGAIN_COUNT);
    l->offload_layers = below(rng, 3) ? 0 : 1 + below(rng, 6);
    l->precision = (enum myr_precision)below(rng, MYR_PRECISION_COUNT);
    l->kernels = (enum myr_operators)(below(rng, 2) ? MYR_KERNELS_FUSED : below(rng, 3));
    l->weights = (enum myr_weights)below(rng, 4);
}

static struct myr_layout draw_layout(struct myr_rng *rng, const struct myr_model *model)
{
    struct myr_layout l = myr_layout_default();
    bool moe = model->moe.expert_count > 0;
    l.tp = power(rng, 4);
    l.pp = 1 + below(rng, 8);
    l.cp = below(rng, 2) ? 1 : power(rng, 3);
    l.dp = power(rng, 6);
    l.ep = moe ? power(rng, 5) : 1;
    l.etp = moe ? below(rng, 2) : 0;
    l.schedule = (enum myr_schedule)below(rng, 4);
    l.vp = l.schedule == MYR_SCHEDULE_INTERLEAVED ? 2 + below(rng, 3) : 1;
    l.zero = below(rng, 4);
    l.shard = below(rng, 2) ? 0 : power(rng, 4) * l.cp;
    l.micro_batch = 1 + below(rng, 3);
    l.global_batch = l.dp * l.micro_batch * l.pp * power(rng, 3);
    l.seq_tokens = below(rng, 2) ? 0 : 1024U << below(rng, 5);
    l.sequence_parallel = l.tp > 1 && below(rng, 3) > 0;
    if (l.pp > 1 && l.vp == 1 && below(rng, 2)) {
        l.first_layers = 1 + below(rng, 8);
        l.last_layers = below(rng, 8);
    }
    l.output_counts = l.pp > 1 && below(rng, 4) == 0;
    for (uint32_t i = 0; i < 2; i++) { /* some other order of ranks */
        uint32_t a = below(rng, MYR_LAYOUT_ORDER_COUNT), b = below(rng, MYR_LAYOUT_ORDER_COUNT);
        enum myr_axis swap = l.order[a];
        l.order[a] = l.order[b];
        l.order[b] = swap;
    }
    draw_habits(rng, &l);
    return l;
}

static void put_question(struct myr_buf *text, const struct myr_fit_case *it,
                         const struct myr_layout *l)
{
    char word[64];
    myr_buf_printf(text, "%s, %s, %s, domain %u, nic %g, recipe", it->model->name, it->device->name,
                   it->stack->name, it->domain_gpus, it->nic_gbps);
    for (int i = 0; i < MYR_CAPABILITY_COUNT; i++) {
        uint32_t value = myr_fit_recipe(it, l->precision)->of[i];
        myr_buf_printf(text, " %s", myr_capability_word((enum myr_capability)i, value, word));
    }
    myr_buf_printf(text, "\n tp%u pp%u vp%u dp%u cp%u ep%u etp%u z%u/%u b%u of %u x %u, %s, %s, %s",
                   l->tp, l->pp, l->vp, l->dp, l->cp, l->ep, l->etp, l->zero, l->shard,
                   l->micro_batch, l->global_batch, l->seq_tokens, myr_schedule_name(l->schedule),
                   myr_precision_name(l->precision), myr_recompute_name(l->recompute));
    myr_buf_printf(text, " %u %x, out %u, %u to %u layers, order %d%d%d%d%d, grad %u, kernels %d,",
                   l->recompute_layers, l->recompute_parts, l->offload_layers, l->first_layers,
                   l->last_layers, (int)l->order[0], (int)l->order[1], (int)l->order[2],
                   (int)l->order[3], (int)l->order[4], l->gradient_bytes, (int)l->kernels);
    myr_buf_printf(text, " weights %d, %d%d%d%d%d\n", (int)l->weights, l->sequence_parallel,
                   l->flash_attention, l->fused_loss, l->low_kept, l->output_counts);
}

static void put_terms(struct myr_buf *text, const double *terms)
{
    for (int t = 0; t < MYR_FIT_TERM_COUNT; t++) {
        if (terms[t] > 0) {
            myr_buf_printf(text, " %s %.6g", myr_fit_term_name((enum myr_fit_term)t), terms[t]);
        }
    }
}

static void put_layer(struct myr_buf *text, const char *name, const struct fit_layer *layer)
{
    myr_buf_printf(text, " %s:", name);
    put_terms(text, layer->forward.terms);
    myr_buf_puts(text, " |");
    put_terms(text, layer->backward.terms);
    myr_buf_printf(text, " | %.6g + %.6g, %.6g can wait\n", layer->forward.total,
                   layer->backward.total, layer->weight_s);
}

static void put_blocks(struct myr_buf *text, const struct myr_fit_case *it,
                       const struct myr_layout *l)
{
    static const char *const kinds[] = {"dense", "dense-window", "moe", "moe-window"};
    struct fit_blocks blocks;
    fit_blocks_of(it, l, &blocks);
    for (int k = 0; k < FIT_KIND_COUNT; k++) {
        if (blocks.used[k]) {
            put_layer(text, kinds[k], &blocks.layers[k]);
            if (l->recompute == MYR_RECOMPUTE_FULL && l->recompute_layers > 0) {
                myr_buf_printf(text, "  again %.6g + %.6g\n", blocks.recomputed[k].forward.total,
                               blocks.recomputed[k].backward.total);
            }
        }
    }
    put_layer(text, "embedding", &blocks.embedding);
    put_layer(text, "output", &blocks.output);
}

/* How sure it is, and which measured run that rests on. */
static void put_spread(struct myr_buf *text, const struct myr_fit_case *it,
                       const struct myr_layout *l, const struct myr_fit_cost *cost)
{
    static const uint32_t unknown[] = {0, MYR_UNKNOWN_RELEASE, MYR_UNKNOWN_AXES};
    myr_buf_puts(text, "\n within");
    for (size_t i = 0; i < MYR_ARRAY_COUNT(unknown); i++) {
        struct myr_fit_spread spread = myr_fit_spread(&profiles, it, l, cost, unknown[i]);
        myr_buf_printf(text, " %.6g", spread.share);
        if (unknown[i] == 0) {
            myr_buf_puts(text, " (");
            myr_fit_spread_words(&profiles, &spread, text);
            myr_buf_putc(text, ')');
        }
    }
}

static void put_price(struct myr_buf *text, const struct myr_fit_case *it,
                      const struct myr_layout *l)
{
    struct myr_fit_cost cost;
    struct myr_fit_memory memory;
    struct myr_fit_parts parts;
    struct myr_fit_timers timers;
    myr_fit_cost_of(it, l, &cost);
    myr_fit_memory_of(it, l, &memory);
    myr_fit_parts_of(it, l, &parts);
    myr_fit_timers_of(it, l, &timers);
    myr_buf_puts(text, " step:");
    put_terms(text, cost.terms_s);
    myr_buf_printf(text, " = %.8g s, mfu %.6g, %.6g tokens\n", cost.step_s, cost.mfu,
                   cost.tokens_per_s_per_gpu);
    myr_buf_printf(text, " stage %u: %.8g + %.8g of %.8g, %.6g %.6g %.6g, most %s, fits %d\n",
                   memory.stage, (double)memory.state.total_bytes, memory.reserve_bytes,
                   memory.limit_bytes, memory.peak_bytes, memory.peak_low_bytes,
                   memory.peak_high_bytes, myr_fit_memory_term(&memory), memory.fits);
    myr_buf_printf(text, " parts %.6g %.6g %.6g - %.6g, %.6g - %.6g; timers", parts.compute_s,
                   parts.waiting_s, parts.communication_s, parts.hidden_communication_s, parts.io_s,
                   parts.hidden_io_s);
    for (int i = 0; i < MYR_FIT_TIMER_COUNT; i++) {
        myr_buf_printf(text, " %.4g", timers.least_s[i]);
        if (timers.most_s[i] > timers.least_s[i]) {
            myr_buf_printf(text, "-%.4g", timers.most_s[i]);
        }
    }
    put_spread(text, it, l, &cost);
    myr_buf_puts(text, "; reach");
    for (int axis = 0; axis < MYR_LAYOUT_ORDER_COUNT; axis++) {
        myr_buf_printf(text, " %u", myr_fit_reach(it, l, (enum myr_axis)axis));
    }
    myr_buf_putc(text, '\n');
}

static void rare_steps_cost_what_was_kept(void **state)
{
    static const uint8_t most[] = {4, 5, 3, 2, 2, 2, 6, 2};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_model models[MYR_ARRAY_COUNT(names)];
    struct myr_rng rng;
    uint32_t found = 0;
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        assert_int_equal(myr_model_find(&arena, names[i], &models[i], NULL), MYR_OK);
    }
    myr_rng_init(&rng, 20261117, 31);
    for (uint32_t i = 0; i < TRIES && found < CASES; i++) {
        const struct myr_model *model = &models[below(&rng, MYR_ARRAY_COUNT(models))];
        struct myr_recipe recipes[MYR_PRECISION_COUNT] = {};
        struct myr_fit_case it = {
            .model = model,
            .device = &profiles.devices[below(&rng, profiles.device_count)],
            .stack = &profiles.stacks[below(&rng, profiles.stack_count)],
            .constants = profiles.constants,
            .recipes = recipes,
            .domain_gpus = below(&rng, 2) ? 0 : power(&rng, 7),
            .nic_gbps = below(&rng, 2) ? 0 : 100 * power(&rng, 4),
        };
        struct myr_layout layout = draw_layout(&rng, model);
        for (uint32_t k = 0; k < MYR_ARRAY_COUNT(most); k++) {
            recipes[layout.precision].of[k] = (uint8_t)below(&rng, most[k]);
        }
        if (below(&rng, 3) == 0) {
            myr_fit_habits(&it, &layout);
        }
        if (myr_layout_broken(&layout, model, 0) == MYR_LAYOUT_OK &&
            myr_device_peak(it.device, layout.precision) > 0) {
            put_question(&text, &it, &layout);
            put_blocks(&text, &it, &layout);
            put_price(&text, &it, &layout);
            found++;
        }
    }
    assert_int_equal(found, CASES);
    assert_kept("fit-rare-costs.txt", &text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rare_steps_cost_what_was_kept)};
    return cmocka_run_group_tests(tests, open_world, close_world);
}
