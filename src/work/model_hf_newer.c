/* Families with experts or attention of their own kind, and the lists that say which layers. */
#include "model_hf_finish.h"

/* Numbers are words here too: YAML and JSON write them alike. */
static bool is_word(const struct myr_doc *node, const char *word)
{
    return node->kind == MYR_DOC_SCALAR && myr_str_eq(node->text, myr_str_from(word));
}

/* A number, or a list with one for each layer, which must all be the same. */
static int read_alike(const struct myr_doc *doc, const char *key, uint32_t min, uint32_t max,
                      uint32_t *ret, struct myr_err *err)
{
    const struct myr_doc *node = myr_work_key(doc, KEYS_FOREIGN, key);
    uint64_t value;
    if (!node) {
        return MYR_OK;
    }
    if (node->kind != MYR_DOC_LIST) {
        MYR_TRY(myr_doc_u64(node, key, min, max, &value, err));
        *ret = (uint32_t)value;
        return MYR_OK;
    }
    for (uint32_t i = 0; i < node->count; i++) {
        MYR_TRY(myr_doc_u64(node->items[i], key, min, max, &value, err));
        if (i > 0 && value != *ret) {
            return myr_doc_error(err, node->items[i], MYR_EINVAL,
                                 "'%s' differs between layers; such models are not understood",
                                 key);
        }
        *ret = (uint32_t)value;
    }
    return MYR_OK;
}

/* xIELU has two learned numbers in every layer. */
int hf_finish_apertus(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    const struct myr_doc *act = myr_work_key(doc, KEYS_FOREIGN, "hidden_act");
    model->activation_weights = !act || is_word(act, "xielu") ? 2 : 0;
    MYR_TRY(hf_flag(doc, "attention_bias", &model->qkv_bias, err));
    model->out_bias = model->qkv_bias;
    return MYR_OK;
}

/* Shared experts are as wide as routed ones where no key says otherwise. */
static void share_experts(struct myr_model *model)
{
    struct myr_moe *moe = &model->moe;
    moe->shared_hidden = moe->shared_count > 0 ? moe->expert_hidden : 0;
}

/* The two biases of attention have a flag each. */
int hf_finish_bailing(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    MYR_TRY(hf_flag(doc, "use_bias", &model->out_bias, err));
    MYR_TRY(hf_flag(doc, "use_qkv_bias", &model->qkv_bias, err));
    share_experts(model);
    return MYR_OK;
}

int hf_finish_bailing_v2(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    MYR_TRY(hf_finish_bailing(doc, model, err));
    return hf_flag(doc, "use_qk_norm", &model->qk_norm, err);
}

/* Layer i has experts when (i + 1) divides by the interval, from the start on, to the end. */
int hf_finish_ernie_moe(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    struct myr_moe *moe = &model->moe;
    const struct myr_doc *end = myr_work_key(doc, KEYS_FOREIGN, "moe_layer_end_index");
    uint64_t last = 0;
    bool open = !end || is_word(end, "-1");
    MYR_TRY(open ? MYR_OK
                 : myr_doc_u64(end, "moe_layer_end_index", 0, MYR_MODEL_LAYERS_MAX, &last, err));
    /* The first layer from the start on whose number plus 1 divides by the step. */
    uint32_t step = moe->interval;
    moe->first_dense = (moe->first_dense + step) / step * step - 1;
    /* The last such layer, counted from 1. */
    uint32_t final_moe = model->layer_count / step * step;
    if (!open && last + 1 < final_moe) {
        return myr_doc_error(err, end, MYR_EINVAL,
                             "dense layers behind those with experts are not understood");
    }
    MYR_TRY(read_alike(doc, "moe_num_experts", 1, MYR_MODEL_EXPERTS_MAX, &moe->expert_count, err));
    MYR_TRY(
        read_alike(doc, "moe_intermediate_size", 1, MYR_MODEL_FFN_MAX, &moe->expert_hidden, err));
    share_experts(model);
    return hf_no_bias(doc, "use_bias", err);
}

int hf_finish_granitemoe(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    MYR_TRY(hf_flag(doc, "attention_bias", &model->qkv_bias, err));
    model->out_bias = model->qkv_bias;
    return MYR_OK;
}

/* A shared expert is there when it has a width. */
int hf_finish_granitemoe_shared(const struct myr_doc *doc, struct myr_model *model,
                                struct myr_err *err)
{
    model->moe.shared_count = model->moe.shared_hidden > 0 ? 1 : 0;
    return hf_finish_granitemoe(doc, model, err);
}

/* Either name of the head's width. */
int hf_finish_hunyuan(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    MYR_TRY(read_alike(doc, "attention_head_dim", 1, MYR_MODEL_DIM_MAX, &model->head_dim, err));
    MYR_TRY(read_alike(doc, "head_dim", 1, MYR_MODEL_DIM_MAX, &model->head_dim, err));
    MYR_TRY(hf_flag(doc, "attention_bias", &model->qkv_bias, err));
    model->out_bias = model->qkv_bias;
    const struct myr_doc *shared = myr_work_key(doc, KEYS_FOREIGN, "use_cla");
    bool cross = false;
    MYR_TRY(hf_flag(doc, "use_cla", &cross, err));
    return cross ? myr_doc_error(err, shared, MYR_EINVAL,
                                 "layers that share keys and values ('use_cla') are not understood")
                 : MYR_OK;
}

/* Every layer has experts and one shared one, all as wide as 'intermediate_size'. */
int hf_finish_hunyuan_moe(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    struct myr_moe *moe = &model->moe;
    uint32_t width = moe->expert_hidden, shared = 1;
    MYR_TRY(read_alike(doc, "num_experts", 1, MYR_MODEL_EXPERTS_MAX, &moe->expert_count, err));
    MYR_TRY(read_alike(doc, "moe_topk", 1, MYR_MODEL_EXPERTS_MAX, &moe->experts_per_token, err));
    MYR_TRY(read_alike(doc, "moe_intermediate_size", 1, MYR_MODEL_FFN_MAX, &width, err));
    MYR_TRY(read_alike(doc, "num_shared_expert", 1, MYR_MODEL_EXPERTS_MAX, &shared, err));
    if (width != moe->expert_hidden || shared != 1) {
        return myr_doc_error(err, doc, MYR_EINVAL,
                             "experts of another width than 'intermediate_size', or more than one "
                             "shared one, are not understood");
    }
    moe->shared_count = 1;
    moe->shared_hidden = moe->expert_hidden;
    return hf_finish_hunyuan(doc, model, err);
}

/* Latent attention that sees what its indexer picks. */
int hf_finish_indexed(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    /*
     * Three ways to say that layers use another's choice of tokens; "full" and 1 say that none
     * does.
     */
    static const char *const shared[] = {"indexer_types", "index_topk_pattern", "index_topk_freq"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(shared); i++) {
        const struct myr_doc *node = myr_work_key(doc, KEYS_FOREIGN, shared[i]);
        bool all = node && node->kind == MYR_DOC_LIST;
        for (uint32_t k = 0; all && k < node->count; k++) {
            all = is_word(node->items[k], "full");
        }
        if (node && !all && !is_word(node, "1")) {
            return myr_doc_error(err, node, MYR_EINVAL,
                                 "layers that share an indexer ('%s') are not understood",
                                 shared[i]);
        }
    }
    return hf_finish_deepseek(doc, model, err);
}

/* All layers are softmax attention, whatever 'attn_type_list' could say. */
int hf_finish_minimax(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    static const struct key_number modules = {
        "num_mtp_modules", offsetof(struct myr_model, mtp_count), 0, MYR_MODEL_MTP_MAX, false};
    const struct myr_doc *kinds = myr_work_key(doc, KEYS_FOREIGN, "attn_type_list");
    for (uint32_t i = 0; kinds && kinds->kind == MYR_DOC_LIST && i < kinds->count; i++) {
        if (!is_word(kinds->items[i], "1")) {
            return myr_doc_error(err, kinds->items[i], MYR_EINVAL,
                                 "layer %u of 'attn_type_list' is no softmax attention; linear "
                                 "layers of this family are not understood",
                                 i);
        }
    }
    bool mtp = false;
    MYR_TRY(hf_flag(doc, "use_mtp", &mtp, err));
    return mtp ? myr_work_read_numbers(doc, "the config", KEYS_FOREIGN, &modules, 1, model, err)
               : MYR_OK;
}

/* The list of layers, or every 'full_attention_interval'-th: full attention; linear elsewhere. */
static int read_linear(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    static const struct key_number interval = {"full_attention_interval",
                                               offsetof(struct myr_model, full_every), 1,
                                               MYR_MODEL_LAYERS_MAX, false};
    const struct myr_doc *kinds = myr_work_key(doc, KEYS_FOREIGN, "layer_types");
    /* What the family has where the config says nothing. */
    model->full_every = 4;
    MYR_TRY(myr_work_read_numbers(doc, "the config", KEYS_FOREIGN, &interval, 1, model, err));
    if (!kinds) {
        return MYR_OK;
    }
    MYR_TRY(myr_doc_expect(kinds, MYR_DOC_LIST, "layer_types", err));
    if (kinds->count != model->layer_count) {
        return myr_doc_error(err, kinds, MYR_EINVAL, "'layer_types' names %u layers of %u",
                             kinds->count, model->layer_count);
    }
    /* The first full layer gives the rule; all layers are held against it. */
    uint32_t first = 0;
    while (first < kinds->count && !is_word(kinds->items[first], "full_attention")) {
        first++;
    }
    model->full_every = first < kinds->count ? first + 1 : 0;
    for (uint32_t i = 0; i < kinds->count; i++) {
        const char *expected =
            myr_model_layer_is_full(model, i) ? "full_attention" : "linear_attention";
        if (!is_word(kinds->items[i], expected)) {
            return myr_doc_error(err, kinds->items[i], MYR_EINVAL,
                                 "layer %u is not the '%s' that 'one layer in %u has full "
                                 "attention' makes it; other orders are not understood",
                                 i, expected, model->full_every);
        }
    }
    return MYR_OK;
}

int hf_finish_qwen3_next(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    MYR_TRY(hf_sparse_layers(doc, model, err));
    model->moe.shared_gate = model->moe.shared_count > 0;
    MYR_TRY(hf_flag(doc, "attention_bias", &model->qkv_bias, err));
    model->out_bias = model->qkv_bias;
    return read_linear(doc, model, err);
}
