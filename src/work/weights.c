/*
 * weights: one function for each part of a model. A part's share on a rank is rounded up where it
 * does not divide; layouts that pass their check divide everything but the vocabulary and, where
 * heads are repeated, the key/value heads.
 */
#include "weights.h"

/* Rounded up: a vocabulary that does not divide is padded by every trainer. */
static uint64_t share_of(uint64_t whole, uint32_t parts)
{
    MYR_ASSERT(parts > 0);
    return (whole + parts - 1) / parts;
}

uint32_t myr_work_kv_heads(const struct myr_model *model, uint32_t tp)
{
    return (uint32_t)share_of(model->kv_head_count, tp);
}

uint64_t myr_work_norm(const struct myr_model *model)
{
    switch (model->norm) {
    case MYR_NORM_RMS:
        return model->hidden;
    case MYR_NORM_LAYER:
        return 2 * (uint64_t)model->hidden;
    case MYR_NORM_BARE:
        break;
    }
    return 0;
}

/* Queries, keys, values and output of multi-head, grouped or multi-query attention. */
static struct weights grouped_attention(const struct myr_model *model, uint32_t tp)
{
    uint64_t h = model->hidden;
    uint64_t q = share_of(model->head_count, tp) * model->head_dim;
    uint64_t kv = (uint64_t)myr_work_kv_heads(model, tp) * model->head_dim;
    /* A gate has a number for each of a query's; the output matrix sees queries' width alone. */
    uint64_t q_out = model->query_gate ? 2 * q : q;
    struct weights w = {.sharded = h * q_out + 2 * h * kv + q * h};
    if (model->qkv_bias) {
        w.sharded += q_out + 2 * kv;
    }
    if (model->out_bias) {
        w.replicated += h; /* added once, after the reduction */
    }
    /* A wide norm spans all heads and is cut with them; a narrow one is the same for every head. */
    if (model->qk_norm && model->qk_norm_wide) {
        w.sharded += q + kv;
    } else if (model->qk_norm) {
        w.replicated += 2 * (uint64_t)model->head_dim;
    }
    if (model->attention_sink) {
        w.sharded += share_of(model->head_count, tp);
    }
    return w;
}

/* The narrow down-projections and their norms are repeated on every rank; the wide ones are cut. */
static struct weights latent_attention(const struct myr_model *model, uint32_t tp)
{
    const struct myr_mla *mla = &model->mla;
    uint64_t h = model->hidden;
    uint64_t heads = share_of(model->head_count, tp);
    uint64_t qk = heads * (mla->nope_dim + mla->rope_dim);
    struct weights w = {};
    if (mla->q_rank > 0) {
        w.replicated += h * mla->q_rank + mla->q_rank;
        w.sharded += mla->q_rank * qk;
    } else {
        w.sharded += h * qk;
    }
    w.replicated += h * (mla->kv_rank + mla->rope_dim) + mla->kv_rank;
    w.sharded += mla->kv_rank * heads * (mla->nope_dim + mla->v_dim);
    w.sharded += heads * mla->v_dim * h;
    if (model->qkv_bias) { /* those of the down-projections; the others have none */
        w.replicated += mla->q_rank + mla->kv_rank + mla->rope_dim;
    }
    if (model->out_bias) {
        w.replicated += h;
    }
    return w;
}

/* Queries from the latent, one key a token with a norm of weight and bias, a weight a head. */
static struct weights indexer(const struct myr_model *model)
{
    const struct myr_indexer *it = &model->indexer;
    uint64_t h = model->hidden, from = model->mla.q_rank ? model->mla.q_rank : h;
    if (it->head_count == 0) {
        return (struct weights){};
    }
    return (struct weights){.replicated = from * it->head_count * it->head_dim + h * it->head_dim +
                                          2 * (uint64_t)it->head_dim + h * it->head_count};
}

/*
 * Queries, keys, values and a gate of the values; two numbers a head and token (step and decay);
 * the convolution over queries, keys and values; a bias and a rate a head; the output's norm.
 */
static struct weights delta_attention(const struct myr_model *model, uint32_t tp)
{
    const struct myr_delta *it = &model->delta;
    uint64_t h = model->hidden, heads = share_of(it->value_heads, tp);
    uint64_t key = share_of(it->key_heads, tp) * it->key_dim, value = heads * it->value_dim;
    return (struct weights){.sharded = h * (2 * key + 2 * value + 2 * heads) +
                                       (2 * key + value) * it->taps + 2 * heads + value * h,
                            .replicated = it->value_dim};
}

/* Attention of the layers that see all; an indexer is small and repeated on every rank. */
static struct weights full_attention(const struct myr_model *model, uint32_t tp)
{
    struct weights w =
        myr_model_is_mla(model) ? latent_attention(model, tp) : grouped_attention(model, tp);
    return weights_add(w, indexer(model));
}

/* Where layers differ, the mean of them: stages hold about as many of each kind. */
struct weights myr_work_attention(const struct myr_model *model, uint32_t tp)
{
    struct weights full = full_attention(model, tp);
    uint64_t all = model->layer_count, linear = myr_model_delta_layers(model);
    if (linear == 0) {
        return full;
    }
    struct weights other = delta_attention(model, tp);
    return (struct weights){
        .sharded = (linear * other.sharded + (all - linear) * full.sharded) / all,
        .replicated = (linear * other.replicated + (all - linear) * full.replicated) / all,
    };
}

/* 'width' columns, gated or plain. The second matrix's bias is added once, after the reduction. */
static struct weights ffn(const struct myr_model *model, uint64_t width, uint32_t tp)
{
    uint64_t h = model->hidden;
    uint64_t f = share_of(width, tp);
    uint64_t up_count = model->gated ? 2 : 1;
    struct weights w = {.sharded = (up_count + 1) * h * f};
    if (model->ffn_bias) {
        w.sharded += up_count * f;
        w.replicated += h;
    }
    return w;
}

/* Nothing where all layers have experts. */
struct weights myr_work_dense_ffn(const struct myr_model *model, uint32_t tp)
{
    if (model->ffn_hidden == 0) {
        return (struct weights){};
    }
    struct weights w = ffn(model, model->ffn_hidden, tp);
    w.replicated += model->activation_weights;
    return w;
}

/* Shared experts are cut like an FFN, the router is on every rank, routed experts are dealt out. */
struct weights myr_work_moe(const struct myr_model *model, struct weights_share share)
{
    const struct myr_moe *moe = &model->moe;
    if (moe->expert_count == 0) {
        return (struct weights){};
    }
    /* Each is a number an expert. The score's bias counts although some keep it as a buffer. */
    uint64_t biases = (moe->router_bias ? 1 : 0) + (moe->score_bias ? 1 : 0);
    struct weights w = {};
    if (moe->shared_count > 0) {
        w = weights_times(ffn(model, moe->shared_hidden, share.tp), moe->shared_count);
    }
    w.replicated += (model->hidden + biases) * (uint64_t)moe->expert_count;
    w.replicated += moe->shared_gate ? model->hidden : 0;
    /*
     * Biases of an expert too are its own: nothing of it is with the tensor group's common weights.
     */
    w.expert = share_of(moe->expert_count, share.ep) *
               weights_sum(ffn(model, moe->expert_hidden, share.etp));
    return w;
}

struct weights myr_work_layer(const struct myr_model *model, bool moe, struct weights_share share)
{
    struct weights w =
        weights_add(myr_work_attention(model, share.tp),
                    moe ? myr_work_moe(model, share) : myr_work_dense_ffn(model, share.tp));
    w.replicated += model->norms_per_layer * myr_work_norm(model);
    return w;
}

/* The table is cut along the vocabulary; positions and norm are on every rank. */
struct weights myr_work_embedding(const struct myr_model *model, uint32_t tp)
{
    struct weights w = {.sharded = share_of(model->vocab, tp) * model->hidden};
    if (model->positions == MYR_POSITIONS_LEARNED) {
        w.replicated += (uint64_t)model->position_max * model->hidden;
    }
    if (model->embedding_norm) {
        w.replicated += myr_work_norm(model);
    }
    return w;
}

struct weights myr_work_head(const struct myr_model *model, uint32_t tp)
{
    uint64_t rows = share_of(model->vocab, tp);
    return (struct weights){.sharded = rows * model->hidden + (model->head_bias ? rows : 0)};
}

/* A module repeats the last layer's kind. */
bool myr_work_mtp_is_moe(const struct myr_model *model)
{
    return myr_model_layer_is_moe(model, model->layer_count - 1);
}

/*
 * A layer, the projection that joins the hidden state with the next token, and three norms. Its
 * embedding and output are the model's.
 */
struct weights myr_work_mtp(const struct myr_model *model, struct weights_share share)
{
    uint64_t h = model->hidden;
    struct weights w = myr_work_layer(model, myr_work_mtp_is_moe(model), share);
    /* It joins two vectors of the hidden width, each with a norm, and has a final norm. */
    w.sharded += 2 * h * share_of(h, share.tp);
    w.replicated += 3 * myr_work_norm(model);
    return w;
}

/* Public: whole-model counts. */

/* The same functions with every share equal to one: docs/work.md says what model cards count. */
struct myr_params myr_model_params(const struct myr_model *model)
{
    struct weights_share whole = WEIGHTS_WHOLE;
    struct myr_params p = {
        .attention = weights_sum(myr_work_attention(model, 1)),
        .ffn = weights_sum(myr_work_dense_ffn(model, 1)),
        .moe = weights_sum(myr_work_moe(model, whole)),
        .norms = model->norms_per_layer * myr_work_norm(model),
        .embedding = weights_sum(myr_work_embedding(model, 1)),
        /* A tied matrix is counted with the embedding; a bias of the output is its own. */
        .head = model->tied ? (model->head_bias ? model->vocab : 0)
                            : weights_sum(myr_work_head(model, 1)),
        .final_norm = myr_work_norm(model),
    };
    uint64_t moe_layers = myr_model_moe_layers(model, 0, model->layer_count);
    uint64_t dense_layers = model->layer_count - moe_layers;
    uint64_t idle = 0;
    if (model->moe.expert_count > 0) {
        p.expert = myr_work_moe(model, whole).expert / model->moe.expert_count;
        /* What a token does not visit in one layer. */
        idle = (model->moe.expert_count - model->moe.experts_per_token) * p.expert;
    }
    p.dense_layer = dense_layers ? p.attention + p.ffn + p.norms : 0;
    p.moe_layer = moe_layers ? p.attention + p.moe + p.norms : 0;
    /* Layer kinds one by one: their mean is rounded. */
    uint64_t linear = myr_model_delta_layers(model);
    uint64_t attention = linear * (linear ? weights_sum(delta_attention(model, 1)) : 0) +
                         (model->layer_count - linear) * weights_sum(full_attention(model, 1));
    p.total = p.embedding + attention + dense_layers * p.ffn + moe_layers * p.moe +
              model->layer_count * p.norms + p.final_norm + p.head;
    p.active = p.total - moe_layers * idle;
    p.mtp = model->mtp_count ? model->mtp_count * weights_sum(myr_work_mtp(model, whole)) : 0;
    return p;
}
