/*
 * The figures that everything else is reckoned from: parameters, work, memory and messages of known
 * models under layouts of all kinds, held against those of the last time that somebody looked
 * (tests/kept/work-figures.txt). Other tests say why a figure is right; this one says that it
 * moved.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kept.h"
#include "work_test.h"

enum { LAYOUTS = 5, LEGAL_TRIES = 20000 };

static const char *const models[] = {"llama3-8b",   "megatron-22b", "deepseek-v3", "qwen3-30b-a3b",
                                     "gpt-oss-20b", "bloom-176b",   "mpt-7b",      "mixtral-8x7b"};

typedef unsigned long long wide;

static void put_model(const char *name, const struct myr_model *model, struct myr_buf *text)
{
    struct myr_params params = myr_model_params(model);
    myr_buf_printf(text, "model %s: %llu parameters, %llu active\n", name, (wide)params.total,
                   (wide)params.active);
    static const uint32_t lengths[] = {1, 1000, 8192};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(lengths); i++) {
        struct myr_flops flops = myr_model_flops(model, lengths[i]);
        myr_buf_printf(text, "  %u tokens:", lengths[i]);
        for (int recompute = 0; recompute < 3; recompute++) {
            myr_u128 train = myr_flops_train(&flops, (enum myr_recompute)recompute);
            myr_buf_printf(text, " %llu", (wide)(train / 1000));
        }
        myr_buf_printf(text, " k flops; pairs %llu, %llu\n",
                       (wide)myr_model_pairs(model, true, lengths[i]),
                       (wide)myr_model_pairs(model, false, lengths[i]));
    }
}

/* What the layouts of the other tests leave as it is. */
static void vary(struct myr_rng *rng, struct myr_layout *layout)
{
    static const uint32_t gradients[] = {0, 2, 4};
    layout->precision = (enum myr_precision)myr_rng_below(rng, MYR_PRECISION_FP32 + 1);
    layout->kernels = (enum myr_operators)myr_rng_below(rng, 3);
    layout->weights = (enum myr_weights)myr_rng_below(rng, 4);
    layout->fused_loss = myr_rng_below(rng, 2);
    layout->low_kept = myr_rng_below(rng, 2);
    layout->gradient_bytes = test_pick(rng, gradients, 3);
    layout->recompute_parts = myr_rng_below(rng, 1U << MYR_AGAIN_COUNT);
    layout->offload_layers = myr_rng_below(rng, 3) ? 0 : 1;
    layout->seq_tokens = myr_rng_below(rng, 2) ? 1536 : 0;
}

static struct myr_layout draw(struct myr_rng *rng, const struct myr_model *model)
{
    for (int i = 0; i < LEGAL_TRIES; i++) {
        struct myr_layout layout = test_random_layout(rng, model->moe.expert_count > 0);
        vary(rng, &layout);
        if (myr_layout_broken(&layout, model, 0) == MYR_LAYOUT_OK) {
            return layout;
        }
    }
    fail_msg("no legal layout was drawn");
    return myr_layout_default();
}

static void put_stage(const struct myr_layout *layout, const struct myr_model *model,
                      uint32_t stage, struct myr_buf *text)
{
    struct myr_state state = myr_state_of(layout, model, stage);
    struct myr_rank_params params = myr_rank_params(layout, model, stage);
    struct myr_comm_list list;
    myr_buf_printf(text, "  stage %u: cut %llu, repeated %llu, experts %llu\n", stage,
                   (wide)params.sharded, (wide)params.replicated, (wide)params.expert);
    myr_buf_printf(text, "    weights %llu, gradients %llu, optimiser %llu, activations %llu,\n",
                   (wide)state.weight_bytes, (wide)state.gradient_bytes,
                   (wide)state.optimiser_bytes, (wide)state.activation_bytes);
    myr_buf_printf(text, "    output %llu, working %llu, all %llu, checkpoint %llu\n",
                   (wide)state.output_bytes, (wide)state.working_bytes, (wide)state.total_bytes,
                   (wide)state.checkpoint_bytes);
    myr_comm_of(layout, model, stage, &list);
    for (uint32_t i = 0; i < list.count; i++) {
        const struct myr_comm *row = &list.rows[i];
        myr_buf_printf(text, "    %s %s %s %s of %u: %llu x %llu, %llu sent\n",
                       myr_comm_kind_name(row->kind), myr_axis_name(row->axis),
                       myr_collective_name(row->collective), myr_phase_name(row->phase),
                       row->group_size, (wide)row->bytes, (wide)row->count,
                       (wide)myr_comm_wire_bytes(row));
    }
}

static void figures_are_what_they_were(void **state)
{
    (void)state;
    struct myr_buf text = {};
    for (size_t m = 0; m < MYR_ARRAY_COUNT(models); m++) {
        struct myr_model model = test_model(models[m]);
        struct myr_rng rng;
        myr_rng_init(&rng, m, 11);
        put_model(models[m], &model, &text);
        for (int i = 0; i < LAYOUTS; i++) {
            struct myr_layout layout = draw(&rng, &model);
            struct myr_buf words = {};
            uint32_t fullest = 0;
            myr_layout_write(&words, &layout);
            for (size_t k = 0; k < words.len; k++) {
                words.data[k] = (char)(words.data[k] == '\n' ? ' ' : words.data[k]);
            }
            (void)myr_state_fullest(&layout, &model, &fullest);
            myr_buf_printf(&text, " layout %s\n  fullest %u\n", words.data, fullest);
            put_stage(&layout, &model, 0, &text);
            if (layout.pp > 1) {
                put_stage(&layout, &model, layout.pp - 1, &text);
            }
            myr_buf_done(&words);
        }
    }
    assert_kept("work-figures.txt", &text);
    myr_buf_done(&text);
}

/* Which rule a layout breaks first; all of them are met. */
static void rules_are_broken_where_they_were(void **state)
{
    (void)state;
    static const char *const some[] = {"llama3-8b", "deepseek-v3", "gpt-oss-20b", "gpt3-125m"};
    struct myr_buf text = {};
    for (size_t m = 0; m < MYR_ARRAY_COUNT(some); m++) {
        struct myr_model model = test_model(some[m]);
        struct myr_rng rng;
        myr_rng_init(&rng, m, 12);
        myr_buf_printf(&text, "%s", some[m]);
        for (int i = 0; i < 400; i++) {
            struct myr_layout layout = test_random_layout(&rng, model.moe.expert_count > 0);
            vary(&rng, &layout);
            uint32_t odd = myr_rng_below(&rng, 12);
            layout.zero += odd == 0 ? 4 : 0;
            layout.vp += odd == 1 ? 1 : 0;
            layout.first_layers = odd == 2 ? 1 + myr_rng_below(&rng, 8) : 0;
            layout.last_layers = odd == 3 ? 1 + myr_rng_below(&rng, 8) : 0;
            layout.output_counts = odd == 4;
            layout.order[0] = odd == 5 ? layout.order[1] : layout.order[0];
            layout.global_batch += odd == 6 ? 1 : 0;
            layout.seq_tokens = odd == 7 ? 1 + myr_rng_below(&rng, 3000000) : layout.seq_tokens;
            layout.gradient_bytes = odd == 8 ? 3 : layout.gradient_bytes;
            layout.recompute_layers += odd == 9 ? 100000 : 0;
            uint64_t gpus = odd == 10 ? 64 : 0;
            enum myr_layout_rule rule = myr_layout_broken(&layout, &model, gpus);
            struct myr_err err = {};
            int rc = myr_layout_check(&layout, &model, gpus, &err);
            assert_int_equal(rc == MYR_OK, rule == MYR_LAYOUT_OK);
            myr_buf_printf(&text, "%s%s", i % 8 ? " " : "\n  ", myr_layout_rule_name(rule));
            if (rule != MYR_LAYOUT_OK && i % 16 == 0) {
                myr_buf_printf(&text, "\n  %s\n ", err.message);
            }
        }
        myr_buf_putc(&text, '\n');
    }
    assert_kept("work-rules.txt", &text);
    myr_buf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_what_they_were),
        cmocka_unit_test(rules_are_broken_where_they_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
