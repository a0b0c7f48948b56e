/*
 * work_test: what the tests of this module share.
 */
#pragma once

#include "myriad/work.h"

static inline struct myr_model test_model(const char *name)
{
    struct myr_arena arena = {};
    struct myr_model model = {};
    int rc = myr_model_find(&arena, name, &model, NULL);
    MYR_ASSERT(rc == MYR_OK);
    myr_arena_done(&arena);
    model.name = NULL; /* lay in the arena */
    model.source = NULL;
    return model;
}

/* Divides by nearly everything, so that most random layouts are legal; dense without experts. */
static inline struct myr_model test_divisible_model(bool moe)
{
    struct myr_model model = {
        .layer_count = 48,
        .hidden = 192,
        .head_count = 48,
        .kv_head_count = 48,
        .head_dim = 4,
        .causal = true,
        .ffn_hidden = 288,
        .gated = true,
        .moe.interval = 1,
        .vocab = 960,
        .seq_tokens = 576,
        .norms_per_layer = 2,
    };
    if (moe) {
        model.moe = (struct myr_moe){.expert_count = 96,
                                     .experts_per_token = 4,
                                     .expert_hidden = 144,
                                     .shared_count = 1,
                                     .shared_hidden = 48,
                                     .first_dense = 3,
                                     .interval = 2};
        model.mtp_count = 1;
    }
    return model;
}

static inline uint32_t test_pick(struct myr_rng *rng, const uint32_t *choices, uint32_t count)
{
    return choices[myr_rng_below(rng, count)];
}

/* A random layout; legal or not. */
static inline struct myr_layout test_random_layout(struct myr_rng *rng, bool moe)
{
    static const uint32_t small[] = {1, 1, 2, 3, 4, 6, 8};
    static const uint32_t tiny[] = {1, 1, 2, 3, 4};
    struct myr_layout layout = myr_layout_default();
    layout.tp = test_pick(rng, tiny, 5);
    layout.cp = test_pick(rng, tiny, 5);
    layout.dp = test_pick(rng, small, 7);
    layout.pp = test_pick(rng, tiny, 5);
    layout.zero = myr_rng_below(rng, 4);
    layout.sequence_parallel = myr_rng_below(rng, 4) > 0;
    layout.recompute = (enum myr_recompute)myr_rng_below(rng, 3);
    layout.recompute_layers = (uint32_t)myr_rng_below(rng, 3);
    layout.flash_attention = myr_rng_below(rng, 2);
    layout.schedule = (enum myr_schedule)myr_rng_below(rng, 4);
    if (layout.schedule == MYR_SCHEDULE_INTERLEAVED) {
        layout.vp = 2 + myr_rng_below(rng, 3);
    }
    if (moe) {
        layout.ep = test_pick(rng, small, 7);
        layout.etp = myr_rng_below(rng, 2) ? test_pick(rng, tiny, 5) : 0;
    }
    if (layout.zero > 0 && myr_rng_below(rng, 2)) {
        layout.shard = 1 + myr_rng_below(rng, layout.dp * layout.cp);
    }
    uint32_t order[] = {0, 1, 2, 3, 4}; /* the axes TP, CP, DP, PP, EP */
    myr_rng_shuffle(rng, order, MYR_LAYOUT_ORDER_COUNT);
    for (uint32_t i = 0; i < MYR_LAYOUT_ORDER_COUNT; i++) {
        layout.order[i] = (enum myr_axis)order[i];
    }
    layout.micro_batch = 1 + myr_rng_below(rng, 2);
    layout.global_batch = layout.micro_batch * layout.dp * layout.pp * 2;
    return layout;
}

/* Random layouts until one is legal with the model. */
static inline struct myr_layout test_legal_layout(struct myr_rng *rng,
                                                  const struct myr_model *model)
{
    for (;;) {
        struct myr_layout layout = test_random_layout(rng, model->moe.expert_count > 0);
        if (myr_layout_broken(&layout, model, 0) == MYR_LAYOUT_OK) {
            return layout;
        }
    }
}
