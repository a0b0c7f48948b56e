/*
 * The families: which key goes into which field, what the family's code fixes without a key
 * (biases, norms), and a function for what no table can say.
 */
#include "model_hf.h"

#define REQUIRED true
#define OPTIONAL false
#define ROW(key, member, max, required)                           \
    {                                                             \
        key, offsetof(struct myr_model, member), 1, max, required \
    }
/* A count that some configs write as 0. */
#define ROW_OR_ZERO(key, member, max)                             \
    {                                                             \
        key, offsetof(struct myr_model, member), 0, max, OPTIONAL \
    }

#define SHAPE_ROWS                                                                \
    ROW("num_hidden_layers", layer_count, MYR_MODEL_LAYERS_MAX, REQUIRED),        \
        ROW("hidden_size", hidden, MYR_MODEL_HIDDEN_MAX, REQUIRED),               \
        ROW("num_attention_heads", head_count, MYR_MODEL_HEADS_MAX, REQUIRED),    \
        ROW("num_key_value_heads", kv_head_count, MYR_MODEL_HEADS_MAX, OPTIONAL), \
        ROW("head_dim", head_dim, MYR_MODEL_DIM_MAX, OPTIONAL),                   \
        ROW("vocab_size", vocab, MYR_MODEL_VOCAB_MAX, REQUIRED),                  \
        ROW("max_position_embeddings", seq_tokens, MYR_MODEL_SEQ_MAX, OPTIONAL)

static const struct key_number llama_rows[] = {
    SHAPE_ROWS,
    ROW("intermediate_size", ffn_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
};

static const struct key_number mixtral_rows[] = {
    SHAPE_ROWS,
    ROW("intermediate_size", moe.expert_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
    ROW("num_local_experts", moe.expert_count, MYR_MODEL_EXPERTS_MAX, REQUIRED),
    ROW("num_experts_per_tok", moe.experts_per_token, MYR_MODEL_EXPERTS_MAX, REQUIRED),
};

static const struct key_number grok_rows[] = {
    SHAPE_ROWS,
    ROW("intermediate_size", moe.expert_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
    ROW("num_experts", moe.expert_count, MYR_MODEL_EXPERTS_MAX, REQUIRED),
    ROW("num_experts_per_tok", moe.experts_per_token, MYR_MODEL_EXPERTS_MAX, REQUIRED),
};

static const struct key_number qwen_moe_rows[] = {
    SHAPE_ROWS,
    ROW("intermediate_size", ffn_hidden, MYR_MODEL_FFN_MAX, OPTIONAL),
    ROW("moe_intermediate_size", moe.expert_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
    ROW("shared_expert_intermediate_size", moe.shared_hidden, MYR_MODEL_FFN_MAX, OPTIONAL),
    ROW("num_experts", moe.expert_count, MYR_MODEL_EXPERTS_MAX, REQUIRED),
    ROW("num_experts_per_tok", moe.experts_per_token, MYR_MODEL_EXPERTS_MAX, REQUIRED),
    ROW("decoder_sparse_step", moe.interval, MYR_MODEL_LAYERS_MAX, OPTIONAL),
};

static const struct key_number deepseek_rows[] = {
    SHAPE_ROWS,
    ROW("intermediate_size", ffn_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
    ROW("q_lora_rank", mla.q_rank, MYR_MODEL_DIM_MAX, OPTIONAL),
    ROW("kv_lora_rank", mla.kv_rank, MYR_MODEL_DIM_MAX, REQUIRED),
    ROW("qk_nope_head_dim", mla.nope_dim, MYR_MODEL_DIM_MAX, REQUIRED),
    ROW("qk_rope_head_dim", mla.rope_dim, MYR_MODEL_DIM_MAX, REQUIRED),
    ROW("v_head_dim", mla.v_dim, MYR_MODEL_DIM_MAX, REQUIRED),
    ROW("n_routed_experts", moe.expert_count, MYR_MODEL_EXPERTS_MAX, OPTIONAL),
    ROW("num_experts_per_tok", moe.experts_per_token, MYR_MODEL_EXPERTS_MAX, OPTIONAL),
    ROW("moe_intermediate_size", moe.expert_hidden, MYR_MODEL_FFN_MAX, OPTIONAL),
    ROW("moe_layer_freq", moe.interval, MYR_MODEL_LAYERS_MAX, OPTIONAL),
    ROW_OR_ZERO("n_shared_experts", moe.shared_count, MYR_MODEL_EXPERTS_MAX),
    ROW_OR_ZERO("first_k_dense_replace", moe.first_dense, MYR_MODEL_LAYERS_MAX),
};

static const struct key_number gpt2_rows[] = {
    ROW("n_layer", layer_count, MYR_MODEL_LAYERS_MAX, REQUIRED),
    ROW("n_embd", hidden, MYR_MODEL_HIDDEN_MAX, REQUIRED),
    ROW("n_head", head_count, MYR_MODEL_HEADS_MAX, REQUIRED),
    ROW("n_inner", ffn_hidden, MYR_MODEL_FFN_MAX, OPTIONAL),
    ROW("n_positions", position_max, MYR_MODEL_SEQ_MAX, REQUIRED),
    ROW("vocab_size", vocab, MYR_MODEL_VOCAB_MAX, REQUIRED),
};

/* Configs that leave out what their class has by default. */
#define OPEN_SHAPE_ROWS                                                           \
    ROW("num_hidden_layers", layer_count, MYR_MODEL_LAYERS_MAX, REQUIRED),        \
        ROW("hidden_size", hidden, MYR_MODEL_HIDDEN_MAX, REQUIRED),               \
        ROW("num_attention_heads", head_count, MYR_MODEL_HEADS_MAX, OPTIONAL),    \
        ROW("num_key_value_heads", kv_head_count, MYR_MODEL_HEADS_MAX, OPTIONAL), \
        ROW("head_dim", head_dim, MYR_MODEL_DIM_MAX, OPTIONAL),                   \
        ROW("vocab_size", vocab, MYR_MODEL_VOCAB_MAX, OPTIONAL),                  \
        ROW("max_position_embeddings", seq_tokens, MYR_MODEL_SEQ_MAX, OPTIONAL)

static const struct key_number gemma3_rows[] = {
    OPEN_SHAPE_ROWS,
    ROW("intermediate_size", ffn_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
    ROW("sliding_window_pattern", full_every, MYR_MODEL_LAYERS_MAX, OPTIONAL),
};

/* Every n-th layer sees all, where no list of layers says it. */
static const struct key_number pattern_rows[] = {
    SHAPE_ROWS,
    ROW("intermediate_size", ffn_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
    ROW("sliding_window_pattern", full_every, MYR_MODEL_LAYERS_MAX, OPTIONAL),
};

static const struct key_number baichuan_rows[] = {
    SHAPE_ROWS,
    ROW("intermediate_size", ffn_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
    ROW("model_max_length", seq_tokens, MYR_MODEL_SEQ_MAX, OPTIONAL),
};

/* Either name of each: the class knows both. */
static const struct key_number bloom_rows[] = {
    ROW("n_layer", layer_count, MYR_MODEL_LAYERS_MAX, OPTIONAL),
    ROW("num_hidden_layers", layer_count, MYR_MODEL_LAYERS_MAX, OPTIONAL),
    ROW("n_embed", hidden, MYR_MODEL_HIDDEN_MAX, OPTIONAL),
    ROW("hidden_size", hidden, MYR_MODEL_HIDDEN_MAX, OPTIONAL),
    ROW("n_head", head_count, MYR_MODEL_HEADS_MAX, OPTIONAL),
    ROW("num_attention_heads", head_count, MYR_MODEL_HEADS_MAX, OPTIONAL),
    ROW("vocab_size", vocab, MYR_MODEL_VOCAB_MAX, REQUIRED),
    ROW("seq_length", seq_tokens, MYR_MODEL_SEQ_MAX, OPTIONAL),
};

static const struct key_number chatglm_rows[] = {
    ROW("num_layers", layer_count, MYR_MODEL_LAYERS_MAX, REQUIRED),
    ROW("hidden_size", hidden, MYR_MODEL_HIDDEN_MAX, REQUIRED),
    ROW("num_attention_heads", head_count, MYR_MODEL_HEADS_MAX, REQUIRED),
    ROW("multi_query_group_num", kv_head_count, MYR_MODEL_HEADS_MAX, OPTIONAL),
    ROW("kv_channels", head_dim, MYR_MODEL_DIM_MAX, OPTIONAL),
    ROW("ffn_hidden_size", ffn_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
    ROW("padded_vocab_size", vocab, MYR_MODEL_VOCAB_MAX, REQUIRED),
    ROW("seq_length", seq_tokens, MYR_MODEL_SEQ_MAX, OPTIONAL),
};

static const struct key_number dbrx_rows[] = {
    ROW("n_layers", layer_count, MYR_MODEL_LAYERS_MAX, REQUIRED),
    ROW("d_model", hidden, MYR_MODEL_HIDDEN_MAX, REQUIRED),
    ROW("n_heads", head_count, MYR_MODEL_HEADS_MAX, REQUIRED),
    ROW("vocab_size", vocab, MYR_MODEL_VOCAB_MAX, REQUIRED),
    ROW("max_seq_len", seq_tokens, MYR_MODEL_SEQ_MAX, OPTIONAL),
};

static const struct key_number exaone_rows[] = {
    ROW("num_layers", layer_count, MYR_MODEL_LAYERS_MAX, REQUIRED),
    ROW("hidden_size", hidden, MYR_MODEL_HIDDEN_MAX, REQUIRED),
    ROW("num_attention_heads", head_count, MYR_MODEL_HEADS_MAX, REQUIRED),
    ROW("num_key_value_heads", kv_head_count, MYR_MODEL_HEADS_MAX, OPTIONAL),
    ROW("head_dim", head_dim, MYR_MODEL_DIM_MAX, OPTIONAL),
    ROW("intermediate_size", ffn_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
    ROW("vocab_size", vocab, MYR_MODEL_VOCAB_MAX, REQUIRED),
    ROW("max_position_embeddings", seq_tokens, MYR_MODEL_SEQ_MAX, OPTIONAL),
};

static const struct key_number falcon_rows[] = {
    SHAPE_ROWS,
    ROW("num_kv_heads", kv_head_count, MYR_MODEL_HEADS_MAX, OPTIONAL),
    ROW("ffn_hidden_size", ffn_hidden, MYR_MODEL_FFN_MAX, OPTIONAL),
};

/* Experts as DeepSeek has them, attention as Llama: also DeepSeek's first. */
static const struct key_number glm_moe_rows[] = {
    SHAPE_ROWS,
    ROW("intermediate_size", ffn_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
    ROW("n_routed_experts", moe.expert_count, MYR_MODEL_EXPERTS_MAX, REQUIRED),
    ROW("num_experts_per_tok", moe.experts_per_token, MYR_MODEL_EXPERTS_MAX, REQUIRED),
    ROW("moe_intermediate_size", moe.expert_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
    ROW("moe_layer_freq", moe.interval, MYR_MODEL_LAYERS_MAX, OPTIONAL),
    ROW_OR_ZERO("n_shared_experts", moe.shared_count, MYR_MODEL_EXPERTS_MAX),
    ROW_OR_ZERO("first_k_dense_replace", moe.first_dense, MYR_MODEL_LAYERS_MAX),
};

static const struct key_number gptj_rows[] = {
    ROW("n_layer", layer_count, MYR_MODEL_LAYERS_MAX, REQUIRED),
    ROW("n_embd", hidden, MYR_MODEL_HIDDEN_MAX, REQUIRED),
    ROW("n_head", head_count, MYR_MODEL_HEADS_MAX, REQUIRED),
    ROW("n_inner", ffn_hidden, MYR_MODEL_FFN_MAX, OPTIONAL),
    ROW("n_positions", seq_tokens, MYR_MODEL_SEQ_MAX, REQUIRED),
    ROW("vocab_size", vocab, MYR_MODEL_VOCAB_MAX, REQUIRED),
};

static const struct key_number llama4_rows[] = {
    SHAPE_ROWS,
    ROW("intermediate_size", moe.expert_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
    ROW("intermediate_size_mlp", ffn_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
    ROW("num_local_experts", moe.expert_count, MYR_MODEL_EXPERTS_MAX, REQUIRED),
    ROW("num_experts_per_tok", moe.experts_per_token, MYR_MODEL_EXPERTS_MAX, REQUIRED),
    ROW("interleave_moe_layer_step", moe.interval, MYR_MODEL_LAYERS_MAX, OPTIONAL),
};

/* The ratio is read into the width, which finish_mpt() makes of it. */
static const struct key_number mpt_rows[] = {
    ROW("n_layers", layer_count, MYR_MODEL_LAYERS_MAX, REQUIRED),
    ROW("d_model", hidden, MYR_MODEL_HIDDEN_MAX, REQUIRED),
    ROW("n_heads", head_count, MYR_MODEL_HEADS_MAX, REQUIRED),
    ROW("expansion_ratio", ffn_hidden, MYR_MODEL_FFN_MAX / MYR_MODEL_HIDDEN_MAX, OPTIONAL),
    ROW("vocab_size", vocab, MYR_MODEL_VOCAB_MAX, REQUIRED),
    ROW("max_seq_len", seq_tokens, MYR_MODEL_SEQ_MAX, OPTIONAL),
};

static const struct key_number opt_rows[] = {
    SHAPE_ROWS,
    ROW("ffn_dim", ffn_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
};

static const struct key_number phi_rows[] = {
    SHAPE_ROWS,
    ROW("intermediate_size", ffn_hidden, MYR_MODEL_FFN_MAX, OPTIONAL),
};

static const struct key_number qwen_rows[] = {
    SHAPE_ROWS,
    ROW("intermediate_size", ffn_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
    ROW("seq_length", seq_tokens, MYR_MODEL_SEQ_MAX, OPTIONAL),
};

static int read_flag(const struct myr_doc *doc, const char *key, bool *value, struct myr_err *err)
{
    const struct myr_doc *node = myr_work_key(doc, KEYS_FOREIGN, key);
    return node ? myr_doc_bool(node, key, value, err) : MYR_OK;
}

static bool is_full(const struct myr_doc *kind)
{
    return kind->kind == MYR_DOC_SCALAR && myr_str_eq(kind->text, MYR_STR("full_attention"));
}

/* 'layer_types' lists every layer; our description knows "every n-th layer sees all". */
static int read_layer_types(const struct myr_doc *types, struct myr_model *model,
                            struct myr_err *err)
{
    int rc = myr_doc_expect(types, MYR_DOC_LIST, "layer_types", err);
    if (rc != MYR_OK) {
        return rc;
    }
    if (types->count != model->layer_count) {
        return myr_doc_error(err, types, MYR_EINVAL, "'layer_types' names %u layers of %u",
                             types->count, model->layer_count);
    }
    uint32_t first_full = 0;
    while (first_full < types->count && !is_full(types->items[first_full])) {
        first_full++;
    }
    model->full_every = first_full < types->count ? first_full + 1 : 0;
    if (model->full_every == 1) {
        model->window_tokens = 0;
    }
    for (uint32_t i = 0; i < types->count; i++) {
        if (myr_model_layer_is_full(model, i) != is_full(types->items[i])) {
            return myr_doc_error(err, types->items[i], MYR_EINVAL,
                                 "layer %u breaks the rule 'one layer in %u has full attention'; "
                                 "other patterns are not understood",
                                 i, model->full_every);
        }
    }
    return MYR_OK;
}

static int read_window(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    static const struct key_number rows[] = {
        ROW_OR_ZERO("sliding_window", window_tokens, MYR_MODEL_SEQ_MAX),
    };
    int rc = myr_work_read_numbers(doc, "the config", KEYS_FOREIGN, rows, 1, model, err);
    const struct myr_doc *types = myr_work_key(doc, KEYS_FOREIGN, "layer_types");
    if (rc != MYR_OK || model->window_tokens == 0 || !types) {
        return rc;
    }
    return read_layer_types(types, model, err);
}

/* Qwen writes a window into every config and switches it on by a flag. */
static int read_qwen_window(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    bool used = false;
    int rc = read_flag(doc, "use_sliding_window", &used, err);
    if (rc != MYR_OK || !used) {
        return rc;
    }
    if (!myr_work_key(doc, KEYS_FOREIGN, "layer_types")) {
        return myr_doc_error(err, myr_doc_get(doc, "use_sliding_window"), MYR_EINVAL,
                             "'use_sliding_window' without 'layer_types' does not say which layers "
                             "have the window");
    }
    return read_window(doc, model, err);
}

static int finish_llama(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    int rc = read_flag(doc, "attention_bias", &model->qkv_bias, err);
    model->out_bias = model->qkv_bias;
    return rc == MYR_OK ? read_flag(doc, "mlp_bias", &model->ffn_bias, err) : rc;
}

/* Also Mixtral and Grok-1, whose layers all have experts. */
static int finish_mistral(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    return read_window(doc, model, err);
}

static int finish_qwen2(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    return read_qwen_window(doc, model, err);
}

static int finish_qwen3(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    int rc = read_flag(doc, "attention_bias", &model->qkv_bias, err);
    model->out_bias = model->qkv_bias;
    return rc == MYR_OK ? read_qwen_window(doc, model, err) : rc;
}

static int check_sparse_layers(const struct myr_doc *doc, struct myr_model *model,
                               struct myr_err *err)
{
    const struct myr_doc *dense = myr_work_key(doc, KEYS_FOREIGN, "mlp_only_layers");
    if (dense && (dense->kind != MYR_DOC_LIST || dense->count > 0)) {
        return myr_doc_error(err, dense, MYR_EINVAL,
                             "'mlp_only_layers' is not empty; a free choice of dense layers is not "
                             "understood");
    }
    /* Layer i has experts when (i + 1) divides by the step. */
    model->moe.first_dense = model->moe.interval - 1;
    model->moe.shared_count = model->moe.shared_hidden > 0 ? 1 : 0;
    return MYR_OK;
}

static int finish_qwen2_moe(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    int rc = check_sparse_layers(doc, model, err);
    model->moe.shared_gate = model->moe.shared_count > 0;
    return rc == MYR_OK ? finish_qwen2(doc, model, err) : rc;
}

static int finish_qwen3_moe(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    int rc = check_sparse_layers(doc, model, err);
    return rc == MYR_OK ? finish_qwen3(doc, model, err) : rc;
}

static int finish_deepseek(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    bool bias = false;
    int rc = read_flag(doc, "attention_bias", &bias, err);
    if (rc == MYR_OK && bias) {
        rc = myr_doc_error(err, myr_doc_get(doc, "attention_bias"), MYR_EINVAL,
                           "biases in latent attention are not understood");
    }
    struct myr_moe *moe = &model->moe;
    if (moe->expert_count == 0) {
        *moe = (struct myr_moe){.interval = 1};
        return rc;
    }
    moe->shared_hidden = moe->shared_count > 0 ? moe->expert_hidden : 0;
    /* The layer's own number, not its distance from the first, must divide by the interval. */
    moe->first_dense = (moe->first_dense + moe->interval - 1) / moe->interval * moe->interval;
    return rc;
}

static int finish_gpt2(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    (void)doc;
    (void)err;
    model->seq_tokens = model->position_max;
    if (model->ffn_hidden == 0) {
        model->ffn_hidden = 4 * model->hidden;
    }
    return MYR_OK;
}

static int finish_neox(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    int rc = read_flag(doc, "attention_bias", &model->qkv_bias, err);
    model->out_bias = model->qkv_bias;
    return rc;
}

static int finish_gpt_oss(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    model->full_every = 2; /* unless 'layer_types' says otherwise */
    int rc = finish_neox(doc, model, err);
    return rc == MYR_OK ? read_window(doc, model, err) : rc;
}

static int finish_plain(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    (void)doc;
    (void)err;
    if (model->ffn_hidden == 0) {
        model->ffn_hidden = 4 * model->hidden;
    }
    return MYR_OK;
}

/* One flag for the biases of all four projections of attention. */
static int finish_bias(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    int rc = read_flag(doc, "bias", &model->qkv_bias, err);
    model->out_bias = model->qkv_bias;
    return rc;
}

static int finish_bigcode(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    bool multi_query = true;
    int rc = read_flag(doc, "multi_query", &multi_query, err);
    model->kv_head_count = multi_query ? 1 : model->head_count;
    return rc == MYR_OK ? finish_gpt2(doc, model, err) : rc;
}

static int finish_chatglm(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    bool grouped = false, linear_bias = false;
    int rc = read_flag(doc, "multi_query_attention", &grouped, err);
    rc = rc == MYR_OK ? read_flag(doc, "add_qkv_bias", &model->qkv_bias, err) : rc;
    rc = rc == MYR_OK ? read_flag(doc, "add_bias_linear", &linear_bias, err) : rc;
    model->kv_head_count = grouped ? model->kv_head_count : model->head_count;
    model->qkv_bias = model->qkv_bias || linear_bias;
    model->out_bias = model->ffn_bias = linear_bias;
    return rc;
}

/* Layer i has experts when (i + 1) divides by the step; each such layer has a shared one. */
static int finish_llama4(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    model->moe.first_dense = model->moe.interval - 1;
    model->moe.shared_count = 1;
    model->moe.shared_hidden = model->moe.expert_hidden;
    return finish_llama(doc, model, err);
}

static int finish_cohere(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    int rc = read_flag(doc, "use_qk_norm", &model->qk_norm, err);
    model->qk_norm_wide = model->qk_norm;
    return rc == MYR_OK ? finish_llama(doc, model, err) : rc;
}

/* As Cohere's, and a window. */
static int finish_cohere2(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    int rc = finish_llama(doc, model, err);
    return rc == MYR_OK ? read_window(doc, model, err) : rc;
}

static int finish_ernie(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    bool bias = false;
    int rc = read_flag(doc, "use_bias", &bias, err);
    model->qkv_bias = model->out_bias = model->ffn_bias = bias;
    return rc;
}

/* A map inside the config, or an error that says it is missing. */
static int need_map(const struct myr_doc *doc, const char *key, const struct myr_doc **ret,
                    struct myr_err *err)
{
    *ret = myr_work_key(doc, KEYS_FOREIGN, key);
    return *ret ? myr_doc_expect(*ret, MYR_DOC_MAP, key, err)
                : myr_doc_error(err, doc, MYR_EINVAL, "'%s' is missing", key);
}

static int finish_dbrx(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    static const struct key_number attention_rows[] = {
        ROW("kv_n_heads", kv_head_count, MYR_MODEL_HEADS_MAX, OPTIONAL),
    };
    static const struct key_number ffn_rows[] = {
        ROW("ffn_hidden_size", moe.expert_hidden, MYR_MODEL_FFN_MAX, REQUIRED),
        ROW("moe_num_experts", moe.expert_count, MYR_MODEL_EXPERTS_MAX, REQUIRED),
        ROW("moe_top_k", moe.experts_per_token, MYR_MODEL_EXPERTS_MAX, REQUIRED),
    };
    const struct myr_doc *attention, *ffn;
    int rc = need_map(doc, "attn_config", &attention, err);
    rc = rc == MYR_OK ? need_map(doc, "ffn_config", &ffn, err) : rc;
    rc = rc == MYR_OK ? myr_work_read_numbers(attention, "attn_config", KEYS_FOREIGN,
                                              attention_rows, 1, model, err)
                      : rc;
    return rc == MYR_OK ? myr_work_read_numbers(ffn, "ffn_config", KEYS_FOREIGN, ffn_rows,
                                                MYR_ARRAY_COUNT(ffn_rows), model, err)
                        : rc;
}

/* Attention and feed-forward side by side: the first ones share a norm, later ones have two. */
static int finish_falcon(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    static const char norms_key[] = "num_ln_in_parallel_attn";
    bool fresh = false, multi_query = true, parallel = true, bias = false;
    uint64_t norms = 2;
    int rc = read_flag(doc, "new_decoder_architecture", &fresh, err);
    rc = rc == MYR_OK ? read_flag(doc, "multi_query", &multi_query, err) : rc;
    rc = rc == MYR_OK ? read_flag(doc, "parallel_attn", &parallel, err) : rc;
    rc = rc == MYR_OK ? read_flag(doc, "bias", &bias, err) : rc;
    const struct myr_doc *node = myr_work_key(doc, KEYS_FOREIGN, norms_key);
    rc = rc == MYR_OK && node ? myr_doc_u64(node, norms_key, 1, 2, &norms, err) : rc;
    if (rc != MYR_OK) {
        return rc;
    }
    if (!fresh) {
        model->kv_head_count = multi_query ? 1 : model->head_count;
        norms = parallel ? 1 : 2;
    }
    model->norms_per_layer = (uint32_t)norms;
    model->qkv_bias = model->out_bias = model->ffn_bias = bias;
    return finish_plain(doc, model, err);
}

static int finish_gemma2(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    int rc = finish_llama(doc, model, err);
    return rc == MYR_OK ? read_window(doc, model, err) : rc;
}

/* GLM's biases are those of queries, keys and values alone. */
static int finish_glm(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    return read_flag(doc, "attention_bias", &model->qkv_bias, err);
}

static int finish_glm_moe(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    struct myr_moe *moe = &model->moe;
    moe->shared_hidden = moe->shared_count > 0 ? moe->expert_hidden : 0;
    /* The layer's own number, not its distance from the first, must divide by the interval. */
    moe->first_dense = (moe->first_dense + moe->interval - 1) / moe->interval * moe->interval;
    int rc = read_flag(doc, "use_qk_norm", &model->qk_norm, err);
    return rc == MYR_OK ? finish_glm(doc, model, err) : rc;
}

static int finish_mpt(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    static const struct key_number rows[] = {
        ROW("kv_n_heads", kv_head_count, MYR_MODEL_HEADS_MAX, OPTIONAL),
    };
    bool unbiased = true, learned = true, alibi = false;
    const struct myr_doc *attention = myr_work_key(doc, KEYS_FOREIGN, "attn_config");
    int rc = read_flag(doc, "no_bias", &unbiased, err);
    rc = rc == MYR_OK ? read_flag(doc, "learned_pos_emb", &learned, err) : rc;
    rc =
        rc == MYR_OK && attention ? myr_doc_expect(attention, MYR_DOC_MAP, "attn_config", err) : rc;
    if (rc == MYR_OK && attention) {
        rc = read_flag(attention, "alibi", &alibi, err);
        rc = rc == MYR_OK ? myr_work_read_numbers(attention, "attn_config", KEYS_FOREIGN, rows, 1,
                                                  model, err)
                          : rc;
    }
    model->ffn_hidden = (model->ffn_hidden ? model->ffn_hidden : 4) * model->hidden;
    model->norm = unbiased ? MYR_NORM_RMS : MYR_NORM_LAYER; /* one vector, or two */
    model->qkv_bias = model->out_bias = model->ffn_bias = !unbiased;
    model->positions = learned && !alibi ? MYR_POSITIONS_LEARNED : MYR_POSITIONS_NONE;
    model->position_max = learned && !alibi ? model->seq_tokens : 0;
    return rc;
}

static int finish_opt(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    uint64_t width = model->hidden;
    const struct myr_doc *node = myr_work_key(doc, KEYS_FOREIGN, "word_embed_proj_dim");
    int rc = node ? myr_doc_u64(node, "word_embed_proj_dim", 1, MYR_MODEL_HIDDEN_MAX, &width, err)
                  : MYR_OK;
    if (rc == MYR_OK && width != model->hidden) {
        return myr_doc_error(err, node, MYR_EINVAL,
                             "embeddings narrower than the layers are not understood");
    }
    model->position_max = model->seq_tokens + 2; /* its table begins at 2 */
    return rc;
}

/* The first Qwen's width is that of both gated halves together. */
static int finish_qwen(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    (void)doc;
    (void)err;
    model->ffn_hidden /= 2;
    return MYR_OK;
}

static int finish_seed(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    int rc = read_flag(doc, "attention_bias", &model->qkv_bias, err);
    rc = rc == MYR_OK ? read_flag(doc, "attention_out_bias", &model->out_bias, err) : rc;
    return rc == MYR_OK ? read_flag(doc, "mlp_bias", &model->ffn_bias, err) : rc;
}

static int finish_stablelm(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    return read_flag(doc, "use_qkv_bias", &model->qkv_bias, err);
}

static int finish_starcoder2(const struct myr_doc *doc, struct myr_model *model,
                             struct myr_err *err)
{
    bool bias = true;
    int rc = read_flag(doc, "use_bias", &bias, err);
    model->qkv_bias = model->out_bias = model->ffn_bias = bias;
    return rc == MYR_OK ? read_window(doc, model, err) : rc;
}

static int finish_phimoe(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    int rc = finish_neox(doc, model, err);
    rc = rc == MYR_OK ? read_flag(doc, "lm_head_bias", &model->head_bias, err) : rc;
    return rc == MYR_OK ? read_window(doc, model, err) : rc;
}

#define ROWS(table)    table, MYR_ARRAY_COUNT(table)
#define DECODER(norms) .causal = true, .norms_per_layer = (norms), .moe.interval = 1
#define USUAL          DECODER(2), .gated = true
#define BIASED         .qkv_bias = true, .out_bias = true, .ffn_bias = true
#define OLD_GPT        DECODER(2), .norm = MYR_NORM_LAYER, BIASED
/* Attention and feed-forward side by side, behind one norm. */
#define PARALLEL DECODER(1), .norm = MYR_NORM_LAYER, .ffn_bias = true, .head_bias = true
#define LEARNED  .tied = true, .positions = MYR_POSITIONS_LEARNED, .dropout = true

const struct hf_family myr_work_hf_families[] = {
    {"baichuan", ROWS(baichuan_rows), finish_mistral, {USUAL}},
    {"bloom",
     ROWS(bloom_rows),
     finish_plain,
     {OLD_GPT, .tied = true, .positions = MYR_POSITIONS_NONE, .embedding_norm = true,
      .seq_tokens = 2048}},
    {"chatglm", ROWS(chatglm_rows), finish_chatglm, {USUAL}},
    {"cohere", ROWS(llama_rows), finish_cohere, {DECODER(1), .gated = true, .tied = true}},
    {"cohere2",
     ROWS(pattern_rows),
     finish_cohere2,
     {DECODER(1), .gated = true, .tied = true, .full_every = 4}},
    {"dbrx", ROWS(dbrx_rows), finish_dbrx, {USUAL, .seq_tokens = 2048}},
    {"deepseek", ROWS(glm_moe_rows), finish_glm_moe, {USUAL}},
    {"deepseek_v2", ROWS(deepseek_rows), finish_deepseek, {USUAL}},
    {"deepseek_v3", ROWS(deepseek_rows), finish_deepseek, {USUAL, .moe.score_bias = true}},
    {"dots1", ROWS(glm_moe_rows), finish_glm_moe, {USUAL, .qk_norm = true, .moe.score_bias = true}},
    {"ernie4_5", ROWS(llama_rows), finish_ernie, {USUAL, .tied = true}},
    {"exaone", ROWS(exaone_rows), finish_mistral, {USUAL}},
    {"exaone4", ROWS(llama_rows), finish_gemma2, {USUAL, .qk_norm = true, .full_every = 4}},
    {"falcon",
     ROWS(falcon_rows),
     finish_falcon,
     {DECODER(1), .norm = MYR_NORM_LAYER, .tied = true, .seq_tokens = 2048}},
    {"gemma", ROWS(llama_rows), finish_llama, {USUAL, .tied = true, .head_dim = 256}},
    {"gemma2",
     ROWS(llama_rows),
     finish_gemma2,
     {DECODER(4), .gated = true, .tied = true, .head_dim = 256, .full_every = 2}},
    {"gemma3_text",
     ROWS(gemma3_rows),
     finish_gemma2,
     {DECODER(4), .gated = true, .tied = true, .qk_norm = true, .full_every = 6, .head_dim = 256,
      .head_count = 8, .kv_head_count = 4, .vocab = 262208, .seq_tokens = 131072}},
    {"glm", ROWS(llama_rows), finish_glm, {USUAL}},
    {"glm4", ROWS(llama_rows), finish_glm, {DECODER(4), .gated = true}},
    {"glm4_moe", ROWS(glm_moe_rows), finish_glm_moe, {USUAL, .moe.score_bias = true}},
    {"gpt2", ROWS(gpt2_rows), finish_gpt2, {OLD_GPT, LEARNED}},
    {"gpt_bigcode", ROWS(gpt2_rows), finish_bigcode, {OLD_GPT, LEARNED}},
    {"gpt_neox", ROWS(llama_rows), finish_neox, {OLD_GPT}},
    {"gpt_oss",
     ROWS(mixtral_rows),
     finish_gpt_oss,
     {USUAL, BIASED, .attention_sink = true, .moe.router_bias = true}},
    {"gptj", ROWS(gptj_rows), finish_plain, {PARALLEL}},
    {"granite", ROWS(llama_rows), finish_llama, {USUAL, .tied = true}},
    {"grok-1", ROWS(grok_rows), finish_mistral, {DECODER(4), .gated = true, .tied = true}},
    {"internlm", ROWS(llama_rows), finish_bias, {USUAL}},
    {"internlm2", ROWS(llama_rows), finish_bias, {USUAL}},
    {"kimi_k2", ROWS(deepseek_rows), finish_deepseek, {USUAL, .moe.score_bias = true}},
    {"llama", ROWS(llama_rows), finish_llama, {USUAL}},
    {"llama4_text", ROWS(llama4_rows), finish_llama4, {USUAL}},
    {"ministral3", ROWS(llama_rows), finish_mistral, {USUAL}},
    {"mistral", ROWS(llama_rows), finish_mistral, {USUAL}},
    {"mixtral", ROWS(mixtral_rows), finish_mistral, {USUAL}},
    {"mpt", ROWS(mpt_rows), finish_mpt, {DECODER(2), .tied = true, .seq_tokens = 2048}},
    {"nemotron", ROWS(llama_rows), finish_llama, {DECODER(2), .norm = MYR_NORM_LAYER}},
    {"olmo", ROWS(llama_rows), finish_llama, {USUAL, .norm = MYR_NORM_BARE}},
    {"olmo2", ROWS(llama_rows), finish_llama, {USUAL, .qk_norm = true, .qk_norm_wide = true}},
    {"olmo3",
     ROWS(llama_rows),
     finish_gemma2,
     {USUAL, .qk_norm = true, .qk_norm_wide = true, .full_every = 4}},
    {"olmoe", ROWS(grok_rows), finish_neox, {USUAL, .qk_norm = true, .qk_norm_wide = true}},
    {"opt", ROWS(opt_rows), finish_opt, {OLD_GPT, LEARNED}},
    {"phi", ROWS(phi_rows), finish_plain, {PARALLEL, .qkv_bias = true, .out_bias = true}},
    {"phi3", ROWS(llama_rows), finish_mistral, {USUAL}},
    {"phimoe", ROWS(mixtral_rows), finish_phimoe, {USUAL, .norm = MYR_NORM_LAYER}},
    {"qwen", ROWS(qwen_rows), finish_qwen, {USUAL, .qkv_bias = true}},
    {"qwen2", ROWS(llama_rows), finish_qwen2, {USUAL, .qkv_bias = true}},
    {"qwen2_5_vl", ROWS(llama_rows), finish_qwen2, {USUAL, .qkv_bias = true}},
    {"qwen2_5_vl_text", ROWS(llama_rows), finish_qwen2, {USUAL, .qkv_bias = true}},
    {"qwen2_moe", ROWS(qwen_moe_rows), finish_qwen2_moe, {USUAL, .qkv_bias = true}},
    {"qwen2_vl", ROWS(llama_rows), finish_qwen2, {USUAL, .qkv_bias = true}},
    {"qwen2_vl_text", ROWS(llama_rows), finish_qwen2, {USUAL, .qkv_bias = true}},
    {"qwen3", ROWS(llama_rows), finish_qwen3, {USUAL, .qk_norm = true}},
    {"qwen3_moe", ROWS(qwen_moe_rows), finish_qwen3_moe, {USUAL, .qk_norm = true}},
    {"qwen3_vl_moe_text", ROWS(qwen_moe_rows), finish_qwen3_moe, {USUAL, .qk_norm = true}},
    {"qwen3_vl_text", ROWS(llama_rows), finish_qwen3, {USUAL, .qk_norm = true}},
    {"seed_oss", ROWS(llama_rows), finish_seed, {USUAL, .qkv_bias = true}},
    {"smollm3", ROWS(llama_rows), finish_llama, {USUAL, .tied = true}},
    {"stablelm", ROWS(llama_rows), finish_stablelm, {USUAL, .norm = MYR_NORM_LAYER}},
    {"starcoder2",
     ROWS(llama_rows),
     finish_starcoder2,
     {DECODER(2), .norm = MYR_NORM_LAYER, .tied = true}},
};

const size_t myr_work_hf_family_count = MYR_ARRAY_COUNT(myr_work_hf_families);
