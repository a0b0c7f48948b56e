/*
 * Hugging Face config.json. A family is a row: which key goes into which field, what its code
 * fixes without a key (biases, norms), and a function for what no table can say.
 */
#include "keys.h"
#include "model_read.h"

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
    ROW_OR_ZERO("num_nextn_predict_layers", mtp_count, MYR_MODEL_MTP_MAX),
};

static const struct key_number gpt2_rows[] = {
    ROW("n_layer", layer_count, MYR_MODEL_LAYERS_MAX, REQUIRED),
    ROW("n_embd", hidden, MYR_MODEL_HIDDEN_MAX, REQUIRED),
    ROW("n_head", head_count, MYR_MODEL_HEADS_MAX, REQUIRED),
    ROW("n_inner", ffn_hidden, MYR_MODEL_FFN_MAX, OPTIONAL),
    ROW("n_positions", position_max, MYR_MODEL_SEQ_MAX, REQUIRED),
    ROW("vocab_size", vocab, MYR_MODEL_VOCAB_MAX, REQUIRED),
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

struct family {
    const char *type;
    const struct key_number *rows;
    size_t row_count;
    int (*finish)(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err);
    struct myr_model fixed; /* what the family's code has without a key, and its defaults */
};

#define ROWS(table)    table, MYR_ARRAY_COUNT(table)
#define DECODER(norms) .causal = true, .norms_per_layer = (norms), .moe.interval = 1
#define USUAL          DECODER(2), .gated = true
#define OLD_GPT \
    DECODER(2), .norm = MYR_NORM_LAYER, .qkv_bias = true, .out_bias = true, .ffn_bias = true

static const struct family families[] = {
    {"deepseek_v2", ROWS(deepseek_rows), finish_deepseek, {USUAL}},
    {"deepseek_v3", ROWS(deepseek_rows), finish_deepseek, {USUAL, .moe.score_bias = true}},
    {"gpt2",
     ROWS(gpt2_rows),
     finish_gpt2,
     {OLD_GPT, .tied = true, .positions = MYR_POSITIONS_LEARNED, .dropout = true}},
    {"gpt_neox", ROWS(llama_rows), finish_neox, {OLD_GPT}},
    {"gpt_oss",
     ROWS(mixtral_rows),
     finish_gpt_oss,
     {USUAL, .qkv_bias = true, .out_bias = true, .ffn_bias = true, .attention_sink = true,
      .moe.router_bias = true}},
    {"grok-1", ROWS(grok_rows), finish_mistral, {DECODER(4), .gated = true, .tied = true}},
    {"kimi_k2", ROWS(deepseek_rows), finish_deepseek, {USUAL, .moe.score_bias = true}},
    {"llama", ROWS(llama_rows), finish_llama, {USUAL}},
    {"mistral", ROWS(llama_rows), finish_mistral, {USUAL}},
    {"mixtral", ROWS(mixtral_rows), finish_mistral, {USUAL}},
    {"nemotron", ROWS(llama_rows), finish_llama, {DECODER(2), .norm = MYR_NORM_LAYER}},
    {"qwen2", ROWS(llama_rows), finish_qwen2, {USUAL, .qkv_bias = true}},
    {"qwen2_moe", ROWS(qwen_moe_rows), finish_qwen2_moe, {USUAL, .qkv_bias = true}},
    {"qwen3", ROWS(llama_rows), finish_qwen3, {USUAL, .qk_norm = true}},
    {"qwen3_moe", ROWS(qwen_moe_rows), finish_qwen3_moe, {USUAL, .qk_norm = true}},
};

uint32_t myr_model_hf_count(void)
{
    return MYR_ARRAY_COUNT(families);
}

const char *myr_model_hf_name(uint32_t index)
{
    MYR_ASSERT(index < MYR_ARRAY_COUNT(families));
    return families[index].type;
}

static int find_family(const struct myr_doc *doc, const struct family **ret, struct myr_err *err)
{
    const struct myr_doc *node = myr_doc_get(doc, "model_type");
    struct myr_str type;
    int rc = myr_doc_text(node, "model_type", &type, err);
    if (rc != MYR_OK) {
        return rc;
    }
    struct myr_buf known = {0};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(families); i++) {
        if (myr_str_eq(type, myr_str_from(families[i].type))) {
            *ret = &families[i];
            myr_buf_done(&known);
            return MYR_OK;
        }
        myr_buf_printf(&known, "%s%s", i ? ", " : "", families[i].type);
    }
    rc = myr_doc_error(err, node, MYR_EINVAL, "'model_type' is '%.*s', known are %s",
                       (int)(type.len < 40 ? type.len : 40), type.data, known.data);
    myr_err_hint(err, "describe the model by its numbers instead: docs/work.md, \"Model files\"");
    myr_buf_done(&known);
    return rc;
}

int myr_work_model_from_hf(struct myr_arena *arena, const struct myr_doc *doc,
                           struct myr_model *ret, struct myr_err *err)
{
    const struct family *family = NULL;
    int rc = find_family(doc, &family, err);
    if (rc != MYR_OK) {
        return rc;
    }
    struct myr_model model = family->fixed;
    const char *what = myr_arena_printf(arena, "a config of type '%s'", family->type);
    rc = myr_work_read_numbers(doc, what, KEYS_FOREIGN, family->rows, family->row_count, &model,
                               err);
    rc = rc == MYR_OK ? read_flag(doc, "tie_word_embeddings", &model.tied, err) : rc;
    rc = rc == MYR_OK ? family->finish(doc, &model, err) : rc;
    if (rc != MYR_OK) {
        return rc;
    }
    if (model.seq_tokens == 0) {
        return myr_doc_error(err, doc, MYR_EINVAL, "'max_position_embeddings' is missing in %s",
                             what);
    }
    model.name = doc->file;
    model.source = myr_arena_printf(arena, "config.json of type %s", family->type);
    rc = myr_work_model_finish(doc, &model, err);
    if (rc == MYR_OK) {
        *ret = model;
    }
    return rc;
}
