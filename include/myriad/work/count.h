/*
 * count: what follows exactly from a model's numbers: parameters and FLOPs.
 *
 * Letters in the formulas: L layers, h hidden, a heads, k key/value heads, d head width, f FFN
 * width, V vocabulary, s sequence, E experts, K experts a token is sent to.
 *
 * Pure functions of a model that myr_model_check() has passed. Integers throughout: a formula
 * that is off by one weight should fail a test, not hide behind a tolerance.
 */
#pragma once

#include "myriad/work/model.h"

/* FLOPs of one long sequence through a large model do not fit 64 bits. */
__extension__ typedef unsigned __int128 myr_u128;

/*
 * Parameters. With n = h, 2h or 0 by kind of norm, and g = 3 (gated) or 2:
 *
 *   attention  grouped  h*a*d + 2*h*k*d + a*d*h
 *                       + bias: a*d + 2*k*d (qkv), h (out); + 2*d (qk_norm; wide:
 *                       a*d + k*d); + a (sink)
 *              latent   h*rq + rq + rq*a*(nope+rope)     (h*a*(nope+rope) where rq = 0)
 *                       + h*(rkv+rope) + rkv + rkv*a*(nope+v) + a*v*h
 *   ffn(f)     g*h*f  + bias: (g-1)*f + h
 *   moe        E*ffn(fe) + h*E + shared*ffn(fs) + E (router_bias) + E (score_bias) + h (gate)
 *   layer      attention + (ffn or moe) + norms_per_layer*n
 *   embedding  V*h + position_max*h (learned) + n (embedding_norm)
 *   head       V*h + V (head_bias), or 0 when tied
 *   total      embedding + sum of layers + n + head
 *   active     total - (E-K)*ffn(fe) for each MoE layer
 *   mtp        each: one layer (MoE where the model is one) + 2*h*h + 3*n; table and head shared
 *
 * 'total' is what model cards print: multi-token prediction modules are counted apart, and both
 * together are trained and checkpointed. Cards differ on whether 'active' contains the table that
 * is only looked up: active - embedding is the number that is multiplied.
 */
struct myr_params {
    uint64_t attention; /* one layer's */
    uint64_t ffn;       /* one dense layer's */
    uint64_t expert;    /* one expert */
    uint64_t moe;       /* one MoE layer's experts, router and shared experts */
    uint64_t norms;     /* one layer's */
    uint64_t dense_layer;
    uint64_t moe_layer;
    uint64_t embedding;
    uint64_t head;
    uint64_t final_norm;
    uint64_t total;
    uint64_t active;
    uint64_t mtp; /* all modules together */
};

struct myr_params myr_model_params(const struct myr_model *model);

/*
 * FLOPs of one sequence going forward; a multiply-add is two. Only matrix products count; norms,
 * activations and softmax are below 0.1 % and bound by memory, not by arithmetic.
 *
 *   projections  2*s * weights (one for each weight and token; biases and norms do not multiply)
 *   scores       2*pairs * a*(qk+v) a layer, for queries times keys and weights times values
 *   pairs        s*s, or s*(s+1)/2 when causal; with a window w < s, causal: w*(w+1)/2 + (s-w)*w
 *   logits       2*s*h*V, also when tied
 *
 * Many published figures count the full s*s square for causal models: set 'causal' to false to
 * compare with those. The backward pass costs twice the forward pass: each product has one for
 * either operand.
 */
struct myr_flops {
    myr_u128 attention; /* projections */
    myr_u128 scores;
    myr_u128 ffn;     /* dense layers and shared experts */
    myr_u128 experts; /* routed ones, K a token, and the router */
    myr_u128 logits;  /* of the model and of each prediction module */
    myr_u128 mtp;     /* layers and projections of the prediction modules */
    myr_u128 forward;
};

struct myr_flops myr_model_flops(const struct myr_model *model, uint32_t seq_tokens);
struct myr_flops myr_model_layer_flops(const struct myr_model *model, uint32_t layer,
                                       uint32_t seq_tokens);

/* Query-key pairs of one sequence in one layer. */
uint64_t myr_model_pairs(const struct myr_model *model, bool full, uint32_t seq_tokens);

enum myr_recompute {
    MYR_RECOMPUTE_NONE,
    MYR_RECOMPUTE_SELECTIVE, /* attention scores again (Korthikanti et al., section 5) */
    MYR_RECOMPUTE_FULL       /* every layer again, from its input */
};

/* Forward, backward (twice forward) and what is computed again: the hardware's FLOPs. */
myr_u128 myr_flops_train(const struct myr_flops *flops, enum myr_recompute recompute);
