/*
 * model: a decoder-only transformer as plain numbers, and what follows from them exactly.
 *
 * The description holds what changes a parameter count, a FLOP count or a message size; what only
 * a trainer must be told (activation function, rotary base) is apart, in 'details'. One struct
 * covers dense and expert models, grouped and latent attention; a field that does not apply is 0 or
 * false. Whoever fills it by hand calls myr_model_check() before anything else; what is counted
 * then cannot overflow.
 *
 * Strings of a model read by the readers lie in the reader's arena.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "myriad/base.h"
#include "myriad/text/doc.h"
#include "myriad/work/attention.h"
#include "myriad/work/details.h"

#define MYR_MODEL_LAYERS_MAX  4096U
#define MYR_MODEL_HIDDEN_MAX  (1U << 18)
#define MYR_MODEL_HEADS_MAX   (1U << 12)
#define MYR_MODEL_DIM_MAX     (1U << 14) /* one head, one low-rank projection */
#define MYR_MODEL_FFN_MAX     (1U << 21)
#define MYR_MODEL_EXPERTS_MAX (1U << 14)
#define MYR_MODEL_VOCAB_MAX   (1U << 26)
#define MYR_MODEL_SEQ_MAX     (1U << 24)
#define MYR_MODEL_MTP_MAX     16U
#define MYR_MODEL_NORMS_MAX   8U
#define MYR_MODEL_PARAMS_MAX  UINT64_C(1000000000000000)

enum myr_norm {
    MYR_NORM_RMS,   /* one vector of h */
    MYR_NORM_LAYER, /* weight and bias: two vectors */
    MYR_NORM_BARE   /* no weights */
};

enum myr_positions { MYR_POSITIONS_ROTARY, MYR_POSITIONS_LEARNED, MYR_POSITIONS_NONE };

/* Mixture of experts. Layer i is one when i >= first_dense and (i - first_dense) % interval == 0.
 */
struct myr_moe {
    uint32_t expert_count; /* E; 0: the model is dense */
    uint32_t experts_per_token;
    uint32_t expert_hidden;
    uint32_t shared_count;  /* experts that see every token */
    uint32_t shared_hidden; /* width of each of them */
    uint32_t first_dense;   /* leading layers with a plain FFN */
    uint32_t interval;      /* at least 1 */
    bool router_bias;       /* the router's linear layer has a bias: E */
    bool score_bias;        /* load-balancing bias of the scores (DeepSeek-V3): E */
    bool shared_gate;       /* the shared expert's output is gated (Qwen2-MoE): h */
};

struct myr_model {
    const char *name;
    const char *source; /* where the numbers come from; may be NULL */

    uint32_t layer_count;
    uint32_t hidden;
    uint32_t head_count;
    uint32_t kv_head_count; /* = head_count with latent attention */
    uint32_t head_dim;      /* unused with latent attention */
    struct myr_mla mla;
    struct myr_indexer indexer;
    struct myr_delta delta;
    bool query_gate; /* the projection of the queries yields a gate of the same width too */
    bool causal;
    uint32_t window_tokens; /* 0: attention sees the whole sequence */
    uint32_t full_every;    /* with a window or delta: every n-th layer sees all; 0: none does */

    uint32_t ffn_hidden;         /* of the layers that are not MoE; 0 when all are */
    bool gated;                  /* three matrices instead of two, experts included */
    uint32_t activation_weights; /* learned numbers of a plain FFN's activation function */
    struct myr_moe moe;

    uint32_t vocab;
    bool tied;             /* the output matrix is the embedding table */
    uint32_t seq_tokens;   /* default training sequence */
    uint32_t mtp_count;    /* multi-token-prediction modules */
    uint32_t position_max; /* rows of a learned position table */
    enum myr_positions positions;

    enum myr_norm norm;
    uint32_t norms_per_layer; /* usually 2 */
    bool embedding_norm;
    bool qk_norm;        /* one weight vector of d each for queries and keys */
    bool qk_norm_wide;   /* with qk_norm: over all heads at once, a*d and k*d weights */
    bool attention_sink; /* one learned logit a head */
    bool qkv_bias;
    bool out_bias;  /* of the attention's output projection */
    bool ffn_bias;  /* experts included */
    bool head_bias; /* of the output matrix */
    bool dropout;   /* trained with dropout: its masks are kept for the backward pass */
    struct myr_model_details details;
};

/* Every field in range, and all of them consistent. The message names the field. */
MYR_MUST_USE int myr_model_check(const struct myr_model *model, struct myr_err *err);

/*
 * Who trains on longer sequences than the model was published with gives it a longer table of
 * learned positions. True when the model had to change.
 */
bool myr_model_stretch(struct myr_model *model, uint32_t seq_tokens);

static inline bool myr_model_is_mla(const struct myr_model *model)
{
    return model->mla.kv_rank > 0;
}

/* Width of one query (and key) head, and of one value head. */
uint32_t myr_model_qk_dim(const struct myr_model *model);
uint32_t myr_model_v_dim(const struct myr_model *model);

bool myr_model_layer_is_moe(const struct myr_model *model, uint32_t layer);
bool myr_model_layer_is_full(const struct myr_model *model, uint32_t layer); /* no window */
/* MoE layers among 'first' to 'first' + 'count' - 1, in O(1). */
uint32_t myr_model_moe_layers(const struct myr_model *model, uint32_t first, uint32_t count);
/* Layers that are linear attention. */
uint32_t myr_model_delta_layers(const struct myr_model *model);

/*
 * Readers. A file is our own description (docs/work.md lists the keys) or, when it has a key
 * 'model_type', a Hugging Face config.json. Complaints say file:line:column.
 */
MYR_MUST_USE int myr_model_read(struct myr_arena *arena, const char *path, struct myr_model *ret,
                                struct myr_err *err);
MYR_MUST_USE int myr_model_parse(struct myr_arena *arena, const struct myr_doc *doc,
                                 struct myr_model *ret, struct myr_err *err);

/*
 * What a user typed: a built-in name ("llama3-8b"), else a path, else the first words of one
 * built-in name ("qwen3-235b" of "qwen3-235b-a22b").
 */
MYR_MUST_USE int myr_model_find(struct myr_arena *arena, const char *name, struct myr_model *ret,
                                struct myr_err *err);

/* The built-in names, in alphabetical order. */
uint32_t myr_model_builtin_count(void);
struct myr_str myr_model_builtin_name(uint32_t index);
/* Has a built-in one layers of the same shape? Their number does not matter. */
bool myr_model_is_like(const struct myr_model *model, uint32_t index);
/* The index of a name, whatever its case; -1: there is none. */
int myr_model_builtin_index(struct myr_str name);
