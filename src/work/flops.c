/*
 * flops: products of one sequence's forward pass, by part; a multiply-add is two. Counts are of 128
 * bits, for a long sequence through a large model is beyond 64.
 */
#include "myriad/work/count.h"
#include "weights.h"

/* Far beyond any sequence; products of it still fit 128 bits. */
static uint64_t pairs_capped(myr_u128 pairs)
{
    return pairs < (UINT64_C(1) << 60) ? (uint64_t)pairs : UINT64_C(1) << 60;
}

/*
 * Attention that is not made of pairs is told as as many of them as cost the same products. The
 * delta rule reads, corrects and asks its state, key_dim x value_dim a head, for every token.
 */
static uint64_t delta_pairs(const struct myr_model *model, uint64_t s)
{
    const struct myr_delta *it = &model->delta;
    uint64_t width =
        (uint64_t)model->head_count * (myr_model_qk_dim(model) + myr_model_v_dim(model));
    return pairs_capped((myr_u128)s * 3 * it->value_heads * it->key_dim * it->value_dim / width);
}

/* An indexer scores all pairs with its own heads, attention sees those that it keeps. */
static uint64_t kept_pairs(const struct myr_model *model, uint64_t s)
{
    const struct myr_indexer *it = &model->indexer;
    uint64_t all = s * (s + 1) / 2, w = it->kept_tokens;
    uint64_t width =
        (uint64_t)model->head_count * (myr_model_qk_dim(model) + myr_model_v_dim(model));
    uint64_t kept = w < s ? w * (w + 1) / 2 + (s - w) * w : all;
    return pairs_capped(kept + (myr_u128)all * it->head_count * it->head_dim / width);
}

/*
 * Pairs of tokens that are attended in one head of one sequence; 'full' says whether the layer sees
 * all. A window of w costs w(w+1)/2 at the start and w for every token after.
 */
uint64_t myr_model_pairs(const struct myr_model *model, bool full, uint32_t seq_tokens)
{
    uint64_t s = seq_tokens;
    uint64_t w = model->window_tokens;
    if (model->delta.value_heads > 0 && !full) {
        return delta_pairs(model, s);
    }
    if (model->indexer.head_count > 0) {
        return kept_pairs(model, s);
    }
    if (!model->causal) {
        return s * s;
    }
    if (full || w == 0 || w >= s) {
        return s * (s + 1) / 2;
    }
    return w * (w + 1) / 2 + (s - w) * w;
}

/* Weights of the attention's projections that multiply: without norms, biases and sinks. */
static uint64_t attention_products(const struct myr_model *model, bool full)
{
    uint64_t h = model->hidden;
    uint64_t a = model->head_count;
    if (model->delta.value_heads > 0 && !full) {
        const struct myr_delta *it = &model->delta;
        uint64_t key = (uint64_t)it->key_heads * it->key_dim;
        uint64_t value = (uint64_t)it->value_heads * it->value_dim;
        return h * (2 * key + 3 * value + 2 * it->value_heads) + (2 * key + value) * it->taps;
    }
    if (!myr_model_is_mla(model)) {
        return 2 * h * model->head_dim * (a + model->kv_head_count) +
               (model->query_gate ? h * model->head_dim * a : 0);
    }
    const struct myr_mla *mla = &model->mla;
    const struct myr_indexer *index = &model->indexer;
    uint64_t qk = a * (mla->nope_dim + mla->rope_dim);
    uint64_t q = mla->q_rank ? (h + qk) * mla->q_rank : h * qk;
    q += (mla->q_rank ? mla->q_rank : h) * index->head_count * index->head_dim +
         h * (index->head_count ? index->head_dim + index->head_count : 0);
    return q + h * (mla->kv_rank + mla->rope_dim) +
           mla->kv_rank * a * (mla->nope_dim + mla->v_dim) + a * mla->v_dim * h;
}

/*
 * Forward products of one layer over a sequence. Norms, activation functions and softmax are left
 * out: they are memory traffic, not products.
 */
static struct myr_flops layer_flops(const struct myr_model *model, bool moe, bool full,
                                    uint32_t seq_tokens)
{
    const struct myr_moe *experts = &model->moe;
    uint64_t h = model->hidden;
    uint64_t matrices = model->gated ? 3 : 2;
    myr_u128 per_weight = 2 * (myr_u128)seq_tokens;
    struct myr_flops flops = {.attention = per_weight * attention_products(model, full)};
    uint64_t pair_width =
        (uint64_t)model->head_count * (myr_model_qk_dim(model) + myr_model_v_dim(model));
    flops.scores = 2 * (myr_u128)myr_model_pairs(model, full, seq_tokens) * pair_width;
    if (moe) {
        uint64_t routed = matrices * h * experts->expert_hidden * experts->experts_per_token;
        uint64_t shared = matrices * h * experts->shared_hidden * experts->shared_count;
        /* The router is a product with a column for each expert; its share goes with them. */
        flops.experts = per_weight * (routed + h * experts->expert_count);
        flops.ffn = per_weight * (shared + (experts->shared_gate ? h : 0));
    } else {
        flops.ffn = per_weight * (matrices * h * model->ffn_hidden);
    }
    flops.forward = flops.attention + flops.scores + flops.ffn + flops.experts;
    return flops;
}

struct myr_flops myr_model_layer_flops(const struct myr_model *model, uint32_t layer,
                                       uint32_t seq_tokens)
{
    MYR_ASSERT(layer < model->layer_count);
    return layer_flops(model, myr_model_layer_is_moe(model, layer),
                       myr_model_layer_is_full(model, layer), seq_tokens);
}

/* Layer by layer: kinds of layers may alternate, and there are a few thousand at most. */
struct myr_flops myr_model_flops(const struct myr_model *model, uint32_t seq_tokens)
{
    struct myr_flops sum = {};
    for (uint32_t layer = 0; layer < model->layer_count; layer++) {
        struct myr_flops one = myr_model_layer_flops(model, layer, seq_tokens);
        sum.attention += one.attention;
        sum.scores += one.scores;
        sum.ffn += one.ffn;
        sum.experts += one.experts;
    }
    uint64_t h = model->hidden;
    /* Every prediction module makes logits of its own through the same matrix. */
    sum.logits = 2 * (myr_u128)seq_tokens * h * model->vocab * (1 + model->mtp_count);
    if (model->mtp_count > 0) {
        myr_u128 module = layer_flops(model, myr_work_mtp_is_moe(model), true, seq_tokens).forward +
                          2 * (myr_u128)seq_tokens * (2 * h * h);
        sum.mtp = module * model->mtp_count;
    }
    sum.forward = sum.attention + sum.scores + sum.ffn + sum.experts + sum.logits + sum.mtp;
    return sum;
}

/* Backward is twice forward, for every product has two gradients. */
myr_u128 myr_flops_train(const struct myr_flops *flops, enum myr_recompute recompute)
{
    myr_u128 again = 0;
    switch (recompute) {
    case MYR_RECOMPUTE_NONE:
        break;
    case MYR_RECOMPUTE_SELECTIVE:
        again = flops->scores;
        break;
    case MYR_RECOMPUTE_FULL:
        /* Layers and modules are made again, the loss is not: its backward pass follows at once. */
        again = flops->forward - flops->logits;
        break;
    }
    return 3 * flops->forward + again;
}
