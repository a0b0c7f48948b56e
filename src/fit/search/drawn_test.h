/* drawn_test: small models and questions, drawn, that a search can be held against on. */
#pragma once

#include "test_world.h"

static inline struct myr_model small_model(struct myr_rng *rng)
{
    static const uint32_t heads[] = {4, 8, 12, 16};
    struct myr_model model = {
        .name = "random",
        .layer_count = 2 + (uint32_t)myr_rng_below(rng, 6),
        .head_count = heads[myr_rng_below(rng, 4)],
        .head_dim = 64,
        .causal = true,
        .vocab = 32000,
        .seq_tokens = 1024U << myr_rng_below(rng, 3),
        .gated = myr_rng_below(rng, 2) == 0,
        .norms_per_layer = 2,
    };
    model.hidden = model.head_count * model.head_dim;
    model.kv_head_count = model.head_count / 4;
    model.ffn_hidden = model.hidden * 4;
    model.moe.interval = 1;
    if (myr_rng_below(rng, 3) == 0) {
        model.moe.expert_count = 8;
        model.moe.experts_per_token = 2;
        model.moe.expert_hidden = model.hidden;
        if (myr_rng_below(rng, 2)) {
            model.moe.first_dense = 1;
            model.moe.interval = 1 + (uint32_t)myr_rng_below(rng, 2); /* and a dense one before */
        } else {
            model.ffn_hidden = 0;
        }
        model.mtp_count = (uint32_t)myr_rng_below(rng, 2);
    }
    if (myr_rng_below(rng, 4) == 0) {
        model.window_tokens = 256;
        model.full_every = 2;
    }
    return model;
}

static inline struct myr_fit_query small_query(struct myr_rng *rng, const struct myr_model *model,
                                               bool larger)
{
    static const uint32_t few[] = {1, 2, 3, 4, 6, 8, 8, 12},
                          more[] = {4, 8, 12, 16, 16, 24, 32, 20};
    const uint32_t *gpus = larger ? more : few;
    static const int schedules[] = {MYR_FIT_SCHEDULE_STACK, MYR_FIT_SCHEDULE_ANY,
                                    MYR_SCHEDULE_DUALPIPE, MYR_SCHEDULE_1F1B};
    struct myr_fit_query query = myr_fit_query_default();
    query.it.model = model;
    query.it.device = &profiles.devices[myr_rng_below(rng, profiles.device_count)];
    query.it.stack = &profiles.stacks[myr_rng_below(rng, profiles.stack_count)];
    query.it.constants = profiles.constants;
    query.it.domain_gpus = myr_rng_below(rng, 2) ? 2 : 0;
    query.gpus = gpus[myr_rng_below(rng, MYR_ARRAY_COUNT(few))];
    query.batch = query.gpus * (1U << myr_rng_below(rng, 3));
    query.seq_tokens = model->seq_tokens;
    query.top = 1 + (uint32_t)myr_rng_below(rng, 4);
    query.tp = myr_rng_below(rng, 4) ? 0 : 1;
    query.zero = myr_rng_below(rng, 4) ? -1 : (int)myr_rng_below(rng, 4);
    query.recompute = myr_rng_below(rng, 4) ? -1 : (int)myr_rng_below(rng, 3);
    query.schedule = schedules[myr_rng_below(rng, MYR_ARRAY_COUNT(schedules))];
    query.any_precision = myr_rng_below(rng, 16) == 0;
    /* Whatever releases can be told: none of it, some, or all. */
    struct myr_stack *able = MYR_ARENA_ONE(&arena, struct myr_stack);
    *able = *query.it.stack;
    able->reorders = myr_rng_below(rng, 4) > 0;
    able->cuts = myr_rng_below(rng, 4) > 0;
    able->shards = myr_rng_below(rng, 4) > 0;
    able->zero[0] = myr_rng_below(rng, 3) ? 0xf : 1U << myr_rng_below(rng, 4);
    able->zero[1] = myr_rng_below(rng, 3) ? 0xf : 1U + (uint32_t)myr_rng_below(rng, 15);
    query.it.stack = able;
    /* Recipes that ask for what layouts forbid, and leave aside what does not pay. */
    struct myr_recipe *recipes = MYR_ARENA_NEW(&arena, struct myr_recipe, MYR_PRECISION_COUNT);
    for (int p = 0; p < MYR_PRECISION_COUNT; p++) {
        recipes[p] = able->recipe;
        recipes[p].of[MYR_CAPABILITY_EXPERT_OVERLAP] = (uint8_t)myr_rng_below(rng, 2);
        recipes[p].of[MYR_CAPABILITY_DISPATCHER] = (uint8_t)myr_rng_below(rng, 3);
        recipes[p].of[MYR_CAPABILITY_GRAPHS] = (uint8_t)myr_rng_below(rng, 5);
        recipes[p].of[MYR_CAPABILITY_GROUPED] = (uint8_t)myr_rng_below(rng, 3);
        recipes[p].of[MYR_CAPABILITY_TOKEN_DROP] = (uint8_t)myr_rng_below(rng, 2);
    }
    query.it.recipes = myr_rng_below(rng, 3) ? recipes : NULL;
    query.it.open = (uint32_t)myr_rng_below(rng, 2) << MYR_CAPABILITY_EXPERT_OVERLAP |
                    (uint32_t)myr_rng_below(rng, 2) << MYR_CAPABILITY_DISPATCHER;
    query.recompute_layers = query.recompute == MYR_RECOMPUTE_FULL && myr_rng_below(rng, 2)
                                 ? 1 + (uint32_t)myr_rng_below(rng, 3)
                                 : 0;
    query.etp =
        myr_rng_below(rng, 8) || !model->moe.expert_count ? 0 : 1 + (uint32_t)myr_rng_below(rng, 2);
    query.shard = myr_rng_below(rng, 16) ? 0 : 1 + (uint32_t)myr_rng_below(rng, 6);
    query.vp = myr_rng_below(rng, 16) ? 0 : 1 + (uint32_t)myr_rng_below(rng, 24);
    return query;
}

/* Little memory, so that it decides: about what the model needs on all of its GPUs. */
static inline struct myr_device small_device(struct myr_rng *rng, const struct myr_fit_query *query)
{
    struct myr_device device = *query->it.device;
    double params = (double)myr_model_params(query->it.model).total;
    double share = 0.3 + (double)myr_rng_below(rng, 40) / 10;
    device.memory_bytes = 2.2e9 + params * 16 / query->gpus * share;
    return device;
}

/* Leaves and pods, some with less above them than below. */
static inline struct myr_fit_topology small_topology(struct myr_rng *rng)
{
    struct myr_fit_topology topology = {.measured = myr_rng_below(rng, 2) == 0};
    uint32_t gpus = 2;
    double slow = 1;
    for (int i = 0; i < MYR_FIT_LEVELS; i++) {
        slow += (double)myr_rng_below(rng, 30) / 10;
        topology.levels[i].gpus = gpus;
        for (int p = 0; p < MYR_CONTENTION_PATTERNS; p++) {
            topology.levels[i].slow[p] = slow;
        }
        gpus *= 1 + (uint32_t)myr_rng_below(rng, 3);
    }
    return topology;
}
