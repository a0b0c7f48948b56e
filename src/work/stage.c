#include "stage.h"

/* 0 but with 'full': selective recomputation is inside of layers. */
uint32_t myr_work_again(const struct myr_layout *layout, struct myr_span span)
{
    if (layout->recompute != MYR_RECOMPUTE_FULL) {
        return 0;
    }
    /* A chunk may have fewer layers than the count: then all of it is made again. */
    uint32_t most = layout->recompute_layers ? layout->recompute_layers : span.count;
    return most < span.count ? most : span.count;
}

/* What is on a stage, counted once for messages, memory and parameters. */
struct stage myr_work_stage(const struct myr_layout *layout, const struct myr_model *model,
                            uint32_t stage)
{
    /* Sums over the stage's chunks, which need not be neighbours. */
    struct stage result = {};
    uint32_t last_chunk = layout->pp * layout->vp - 1;
    for (uint32_t i = 0; i < myr_layout_stage_chunk_count(layout); i++) {
        uint32_t chunk = myr_layout_stage_chunk(layout, stage, i);
        struct myr_span span = myr_layout_chunk_layers(layout, model, chunk);
        uint32_t moe = myr_model_moe_layers(model, span.first, span.count);
        result.moe_layers += moe;
        result.dense_layers += span.count - moe;
        uint32_t again = myr_work_again(layout, span);
        uint32_t moe_again = myr_model_moe_layers(model, span.first, again);
        result.moe_again += moe_again;
        result.dense_again += again - moe_again;
        result.has_first |= chunk == 0;
        result.has_last |= chunk == last_chunk;
    }
    if (result.has_last) {
        result.mtp_count = model->mtp_count;
        /* A count of layers names those of the decoder. */
        bool all = layout->recompute == MYR_RECOMPUTE_FULL && layout->recompute_layers == 0;
        result.mtp_again = all ? model->mtp_count : 0;
        result.has_copy = !result.has_first && (model->tied || model->mtp_count > 0);
    }
    return result;
}

struct weights_share myr_work_share(const struct myr_layout *layout)
{
    return (struct weights_share){layout->tp, layout->ep, myr_layout_etp(layout)};
}

/* On one stage a tied table is there once; on two each end has its copy. */
struct weights myr_work_stage_ends(const struct myr_layout *layout, const struct myr_model *model,
                                   const struct stage *stage)
{
    uint32_t tp = layout->tp;
    struct weights sum = {};
    if (stage->has_first) {
        sum = weights_add(sum, myr_work_embedding(model, tp));
    }
    if (stage->has_copy) {
        sum = weights_add(sum, myr_work_head(model, tp)); /* as large as the table */
    }
    if (stage->has_last) {
        sum.replicated += myr_work_norm(model);
        if (!model->tied) {
            sum = weights_add(sum, myr_work_head(model, tp));
        }
    }
    return sum;
}

struct myr_rank_params myr_rank_params(const struct myr_layout *layout,
                                       const struct myr_model *model, uint32_t stage)
{
    struct stage parts = myr_work_stage(layout, model, stage);
    /* Ends, then layers by kind: all layers of one kind are alike. */
    struct weights_share share = myr_work_share(layout);
    struct weights sum = myr_work_stage_ends(layout, model, &parts);
    if (parts.dense_layers > 0) {
        struct weights one = myr_work_layer(model, false, share);
        sum = weights_add(sum, weights_times(one, parts.dense_layers));
    }
    if (parts.moe_layers > 0) {
        struct weights one = myr_work_layer(model, true, share);
        sum = weights_add(sum, weights_times(one, parts.moe_layers));
    }
    if (parts.mtp_count > 0) {
        sum = weights_add(sum, weights_times(myr_work_mtp(model, share), parts.mtp_count));
    }
    return (struct myr_rank_params){sum.sharded, sum.replicated, sum.expert};
}

struct myr_rank_params myr_layer_params(const struct myr_layout *layout,
                                        const struct myr_model *model, bool moe)
{
    /* One layer of a kind, without ends. */
    struct weights one = myr_work_layer(model, moe, myr_work_share(layout));
    return (struct myr_rank_params){one.sharded, one.replicated, one.expert};
}

uint64_t myr_work_tokens(const struct myr_layout *layout, const struct myr_model *model)
{
    return (uint64_t)layout->micro_batch * (myr_layout_seq(layout, model) / layout->cp);
}

uint64_t myr_work_tokens_between(const struct myr_layout *layout, const struct myr_model *model)
{
    uint64_t tokens = myr_work_tokens(layout, model);
    return layout->sequence_parallel ? tokens / layout->tp : tokens;
}

/*
 * Bytes of a weight, a gradient and the optimiser's state; of an activation; then on the way:
 * gathered weights, scattered gradients, dispatched tokens. 12 is a master copy and two moments in
 * fp32.
 */
struct myr_numerics myr_numerics_of(enum myr_precision precision)
{
    switch (precision) {
    case MYR_PRECISION_FP16:
        return (struct myr_numerics){2, 2, 12, 2, 2, 2, 2};
    case MYR_PRECISION_FP8:
    case MYR_PRECISION_MXFP8:
    case MYR_PRECISION_NVFP4:
        /* Products in 8 or 4 bits; weights, gradients and what is kept stay as with bf16. */
        return (struct myr_numerics){2, 4, 12, 2, 2, 4, 1};
    case MYR_PRECISION_FP32:
        return (struct myr_numerics){4, 4, 8, 4, 4, 4, 4};
    case MYR_PRECISION_BF16:
        break;
    }
    return (struct myr_numerics){2, 4, 12, 2, 2, 4, 2};
}

/* From the precision, then how weights are kept, then the layout's own width of gradients. */
struct myr_numerics myr_layout_numerics(const struct myr_layout *layout)
{
    struct myr_numerics numerics = myr_numerics_of(layout->precision);
    /* Without a master copy the optimiser holds two moments: 2 bytes each in bf16, else 4. */
    switch (layout->weights) {
    case MYR_WEIGHTS_BF16:
        numerics.weight_bytes = numerics.gradient_bytes = numerics.reduce_bytes = 2;
        numerics.optimiser_bytes = 4;
        break;
    case MYR_WEIGHTS_FP32:
    case MYR_WEIGHTS_CAST:
        numerics.weight_bytes = numerics.gradient_bytes = numerics.reduce_bytes = 4;
        numerics.optimiser_bytes = 8;
        break;
    case MYR_WEIGHTS_MASTER:
        break;
    }
    if (layout->gradient_bytes > 0) {
        numerics.gradient_bytes = layout->gradient_bytes;
        numerics.reduce_bytes = layout->gradient_bytes;
    }
    return numerics;
}
