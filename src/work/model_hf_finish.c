/* What no table of keys can say about a family: flags, windows, and layers that differ. */
#include "model_hf_finish.h"

/* Qwen writes a window into every config and switches it on by a flag. */
static int read_qwen_window(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    bool used = false;
    int rc = hf_flag(doc, "use_sliding_window", &used, err);
    if (rc != MYR_OK || !used) {
        return rc;
    }
    if (!myr_work_key(doc, KEYS_FOREIGN, "layer_types")) {
        return myr_doc_error(err, myr_doc_get(doc, "use_sliding_window"), MYR_EINVAL,
                             "'use_sliding_window' without 'layer_types' does not say which layers "
                             "have the window");
    }
    return hf_window(doc, model, err);
}

/* One key for the biases of all four projections of attention, one for those of the FFN. */
int hf_finish_llama(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    MYR_TRY(hf_flag(doc, "attention_bias", &model->qkv_bias, err));
    model->out_bias = model->qkv_bias;
    return hf_flag(doc, "mlp_bias", &model->ffn_bias, err);
}

/* Also Mixtral and Grok-1, whose layers all have experts. */
int hf_finish_mistral(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    return hf_window(doc, model, err);
}

int hf_finish_qwen2(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    return read_qwen_window(doc, model, err);
}

/* As Qwen2, but biases have a flag. */
int hf_finish_qwen3(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    MYR_TRY(hf_flag(doc, "attention_bias", &model->qkv_bias, err));
    model->out_bias = model->qkv_bias;
    return read_qwen_window(doc, model, err);
}

/* As Qwen2, with a gate of the shared expert, which Qwen3's experts do not have. */
int hf_finish_qwen2_moe(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    MYR_TRY(hf_sparse_layers(doc, model, err));
    model->moe.shared_gate = model->moe.shared_count > 0;
    return hf_finish_qwen2(doc, model, err);
}

int hf_finish_qwen3_moe(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    MYR_TRY(hf_sparse_layers(doc, model, err));
    return hf_finish_qwen3(doc, model, err);
}

/* Shared experts are as wide as routed ones. */
int hf_finish_deepseek(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    MYR_TRY(hf_flag(doc, "attention_bias", &model->qkv_bias, err));
    model->out_bias = model->qkv_bias;
    struct myr_moe *moe = &model->moe;
    /* A dense model of the type: keys of experts that are there all the same mean nothing. */
    if (moe->expert_count == 0) {
        *moe = (struct myr_moe){.interval = 1};
        return MYR_OK;
    }
    moe->shared_hidden = moe->shared_count > 0 ? moe->expert_hidden : 0;
    /* The layer's own number, not its distance from the first, must divide by the interval. */
    moe->first_dense = (moe->first_dense + moe->interval - 1) / moe->interval * moe->interval;
    return hf_dense_layers(doc, model, err);
}

/* The second version has a flag for biases that its experts do not follow. */
int hf_finish_deepseek_v2(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    MYR_TRY(hf_no_bias(doc, "mlp_bias", err));
    return hf_finish_deepseek(doc, model, err);
}

/* Without 'n_inner' the FFN is four times as wide as the model. */
int hf_finish_gpt2(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    (void)doc;
    (void)err;
    model->seq_tokens = model->position_max;
    if (model->ffn_hidden == 0) {
        model->ffn_hidden = 4 * model->hidden;
    }
    return MYR_OK;
}

/* Also others whose attention has one flag for its biases and whose FFN has none. */
int hf_finish_neox(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    int rc = hf_flag(doc, "attention_bias", &model->qkv_bias, err);
    model->out_bias = model->qkv_bias;
    return rc;
}

/* Every second layer has the window. */
int hf_finish_gpt_oss(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    model->full_every = 2; /* unless 'layer_types' says otherwise */
    MYR_TRY(hf_finish_neox(doc, model, err));
    return hf_window(doc, model, err);
}

/* Families that need nothing but that default of the width. */
int hf_finish_plain(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    (void)doc;
    (void)err;
    if (model->ffn_hidden == 0) {
        model->ffn_hidden = 4 * model->hidden;
    }
    return MYR_OK;
}

/* One flag for the biases of all four projections of attention. */
int hf_finish_bias(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    int rc = hf_flag(doc, "bias", &model->qkv_bias, err);
    model->out_bias = model->qkv_bias;
    return rc;
}

/* One key/value head for all, unless the config says no. */
int hf_finish_bigcode(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    bool multi_query = true;
    MYR_TRY(hf_flag(doc, "multi_query", &multi_query, err));
    model->kv_head_count = multi_query ? 1 : model->head_count;
    return hf_finish_gpt2(doc, model, err);
}

/* The number of groups counts only where the flag switches grouping on. */
int hf_finish_chatglm(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    bool grouped = false, linear_bias = false;
    MYR_TRY(hf_flag(doc, "multi_query_attention", &grouped, err));
    MYR_TRY(hf_flag(doc, "add_qkv_bias", &model->qkv_bias, err));
    MYR_TRY(hf_flag(doc, "add_bias_linear", &linear_bias, err));
    model->kv_head_count = grouped ? model->kv_head_count : model->head_count;
    model->qkv_bias = model->qkv_bias || linear_bias;
    model->out_bias = model->ffn_bias = linear_bias;
    return MYR_OK;
}

/* Layer i has experts when (i + 1) divides by the step; each such layer has a shared one. */
int hf_finish_llama4(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    model->moe.first_dense = model->moe.interval - 1;
    model->moe.shared_count = 1;
    model->moe.shared_hidden = model->moe.expert_hidden;
    return hf_finish_llama(doc, model, err);
}

/* Its norms of queries and keys span all heads. */
int hf_finish_cohere(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    MYR_TRY(hf_flag(doc, "use_qk_norm", &model->qk_norm, err));
    model->qk_norm_wide = model->qk_norm;
    return hf_finish_llama(doc, model, err);
}

/* As Cohere's, and a window. */
int hf_finish_cohere2(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    MYR_TRY(hf_finish_llama(doc, model, err));
    return hf_window(doc, model, err);
}

/* One flag for all biases. */
int hf_finish_ernie(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    bool bias = false;
    MYR_TRY(hf_flag(doc, "use_bias", &bias, err));
    model->qkv_bias = model->out_bias = model->ffn_bias = bias;
    return MYR_OK;
}

/* A map inside the config, or an error that says it is missing. */
static int need_map(const struct myr_doc *doc, const char *key, const struct myr_doc **ret,
                    struct myr_err *err)
{
    *ret = myr_work_key(doc, KEYS_FOREIGN, key);
    return *ret ? myr_doc_expect(*ret, MYR_DOC_MAP, key, err)
                : myr_doc_error(err, doc, MYR_EINVAL, "'%s' is missing", key);
}

/* All layers have experts; both maps must be there. */
int hf_finish_dbrx(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
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
    MYR_TRY(need_map(doc, "attn_config", &attention, err));
    MYR_TRY(need_map(doc, "ffn_config", &ffn, err));
    MYR_TRY(myr_work_read_numbers(attention, "attn_config", KEYS_FOREIGN, attention_rows, 1, model,
                                  err));
    return myr_work_read_numbers(ffn, "ffn_config", KEYS_FOREIGN, ffn_rows,
                                 MYR_ARRAY_COUNT(ffn_rows), model, err);
}

/* Attention and feed-forward side by side: the first ones share a norm, later ones have two. */
int hf_finish_falcon(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    static const char norms_key[] = "num_ln_in_parallel_attn";
    bool fresh = false, multi_query = true, parallel = true, bias = false;
    uint64_t norms = 2;
    MYR_TRY(hf_flag(doc, "new_decoder_architecture", &fresh, err));
    MYR_TRY(hf_flag(doc, "multi_query", &multi_query, err));
    MYR_TRY(hf_flag(doc, "parallel_attn", &parallel, err));
    MYR_TRY(hf_flag(doc, "bias", &bias, err));
    const struct myr_doc *node = myr_work_key(doc, KEYS_FOREIGN, norms_key);
    MYR_TRY(node ? myr_doc_u64(node, norms_key, 1, 2, &norms, err) : MYR_OK);
    /*
     * The first generation: one key/value head or all, and a single norm where both parts are
     * parallel.
     */
    if (!fresh) {
        model->kv_head_count = multi_query ? 1 : model->head_count;
        norms = parallel ? 1 : 2;
    }
    model->norms_per_layer = (uint32_t)norms;
    model->qkv_bias = model->out_bias = model->ffn_bias = bias;
    return hf_finish_plain(doc, model, err);
}

int hf_finish_gemma2(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    MYR_TRY(hf_finish_llama(doc, model, err));
    return hf_window(doc, model, err);
}

/* GLM's biases are those of queries, keys and values alone. */
int hf_finish_glm(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    return hf_flag(doc, "attention_bias", &model->qkv_bias, err);
}

/* Experts as DeepSeek's, attention as GLM's. */
int hf_finish_glm_moe(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    struct myr_moe *moe = &model->moe;
    moe->shared_hidden = moe->shared_count > 0 ? moe->expert_hidden : 0;
    /* The layer's own number, not its distance from the first, must divide by the interval. */
    moe->first_dense = (moe->first_dense + moe->interval - 1) / moe->interval * moe->interval;
    MYR_TRY(hf_flag(doc, "use_qk_norm", &model->qk_norm, err));
    return hf_finish_glm(doc, model, err);
}

/* As GLM's, but all four projections have the bias. */
int hf_finish_dots(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    MYR_TRY(hf_finish_glm_moe(doc, model, err));
    model->out_bias = model->qkv_bias;
    return MYR_OK;
}

/* Positions are learned unless ALiBi takes their place. */
int hf_finish_mpt(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    static const struct key_number rows[] = {
        ROW("kv_n_heads", kv_head_count, MYR_MODEL_HEADS_MAX, OPTIONAL),
    };
    bool unbiased = true, learned = true, alibi = false;
    const struct myr_doc *attention = myr_work_key(doc, KEYS_FOREIGN, "attn_config");
    MYR_TRY(hf_flag(doc, "no_bias", &unbiased, err));
    MYR_TRY(hf_flag(doc, "learned_pos_emb", &learned, err));
    if (attention) {
        MYR_TRY(myr_doc_expect(attention, MYR_DOC_MAP, "attn_config", err));
        MYR_TRY(hf_flag(attention, "alibi", &alibi, err));
        MYR_TRY(myr_work_read_numbers(attention, "attn_config", KEYS_FOREIGN, rows, 1, model, err));
    }
    /* Until here the field held the ratio of the widths (mpt_rows). */
    model->ffn_hidden = (model->ffn_hidden ? model->ffn_hidden : 4) * model->hidden;
    model->norm = unbiased ? MYR_NORM_RMS : MYR_NORM_LAYER; /* one vector, or two */
    model->qkv_bias = model->out_bias = model->ffn_bias = !unbiased;
    model->positions = learned && !alibi ? MYR_POSITIONS_LEARNED : MYR_POSITIONS_NONE;
    model->position_max = learned && !alibi ? model->seq_tokens : 0;
    return MYR_OK;
}

/* Embeddings narrower than the layers have no field here. */
int hf_finish_opt(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    uint64_t width = model->hidden;
    const struct myr_doc *node = myr_work_key(doc, KEYS_FOREIGN, "word_embed_proj_dim");
    MYR_TRY(node ? myr_doc_u64(node, "word_embed_proj_dim", 1, MYR_MODEL_HIDDEN_MAX, &width, err)
                 : MYR_OK);
    if (width != model->hidden) {
        return myr_doc_error(err, node, MYR_EINVAL,
                             "embeddings narrower than the layers are not understood");
    }
    model->position_max = model->seq_tokens + 2; /* its table begins at 2 */
    return MYR_OK;
}

/* The first Qwen's width is that of both gated halves together. */
int hf_finish_qwen(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    (void)doc;
    (void)err;
    model->ffn_hidden /= 2;
    return MYR_OK;
}

/* Biases of the output have a flag of their own. */
int hf_finish_seed(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    MYR_TRY(hf_flag(doc, "attention_bias", &model->qkv_bias, err));
    MYR_TRY(hf_flag(doc, "attention_out_bias", &model->out_bias, err));
    return hf_flag(doc, "mlp_bias", &model->ffn_bias, err);
}

int hf_finish_stablelm(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    return hf_flag(doc, "use_qkv_bias", &model->qkv_bias, err);
}

int hf_finish_starcoder2(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    bool bias = true;
    MYR_TRY(hf_flag(doc, "use_bias", &bias, err));
    model->qkv_bias = model->out_bias = model->ffn_bias = bias;
    return hf_window(doc, model, err);
}

int hf_finish_phimoe(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    MYR_TRY(hf_finish_neox(doc, model, err));
    MYR_TRY(hf_flag(doc, "lm_head_bias", &model->head_bias, err));
    return hf_window(doc, model, err);
}
