/* What several families write alike: flags, windows, and which layers have experts. */
#include "model_hf_finish.h"

/* Absent or null leaves the flag as the family has it. */
int hf_flag(const struct myr_doc *doc, const char *key, bool *value, struct myr_err *err)
{
    const struct myr_doc *node = myr_work_key(doc, KEYS_FOREIGN, key);
    return node ? myr_doc_bool(node, key, value, err) : MYR_OK;
}

/* Every other word is a layer that does not see all; which words are known is checked elsewhere. */
static bool is_full(const struct myr_doc *kind)
{
    return kind->kind == MYR_DOC_SCALAR && myr_str_eq(kind->text, MYR_STR("full_attention"));
}

/* 'layer_types' lists every layer; our description knows "every n-th layer sees all". */
static int read_layer_types(const struct myr_doc *types, struct myr_model *model,
                            struct myr_err *err)
{
    MYR_TRY(myr_doc_expect(types, MYR_DOC_LIST, "layer_types", err));
    if (types->count != model->layer_count) {
        return myr_doc_error(err, types, MYR_EINVAL, "'layer_types' names %u layers of %u",
                             types->count, model->layer_count);
    }
    uint32_t first_full = 0;
    while (first_full < types->count && !is_full(types->items[first_full])) {
        first_full++;
    }
    /* The first full layer gives the rule; the loop below holds all layers against it. */
    model->full_every = first_full < types->count ? first_full + 1 : 0;
    /* All layers are full: the window in the file is never used. */
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

/* The list of layers counts only where there is a window. */
int hf_window(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    static const struct key_number rows[] = {
        ROW_OR_ZERO("sliding_window", window_tokens, MYR_MODEL_SEQ_MAX),
    };
    /* A window without a list of layers is every layer's, or as the family fixed it. */
    int rc = myr_work_read_numbers(doc, "the config", KEYS_FOREIGN, rows, 1, model, err);
    const struct myr_doc *types = myr_work_key(doc, KEYS_FOREIGN, "layer_types");
    if (rc != MYR_OK || model->window_tokens == 0 || !types) {
        return rc;
    }
    return read_layer_types(types, model, err);
}

/*
 * Qwen's step between layers with experts; the width of a shared expert says whether there is one.
 */
int hf_sparse_layers(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
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

static bool is_word(const struct myr_doc *node, const char *word)
{
    return node->kind == MYR_DOC_SCALAR && myr_str_eq(node->text, myr_str_from(word));
}

/* 'mlp_layer_types' says layer by layer what the counts say too; another order is not known. */
int hf_dense_layers(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    const struct myr_doc *kinds = myr_work_key(doc, KEYS_FOREIGN, "mlp_layer_types");
    if (!kinds) {
        return MYR_OK;
    }
    MYR_TRY(myr_doc_expect(kinds, MYR_DOC_LIST, "mlp_layer_types", err));
    if (kinds->count != model->layer_count) {
        return myr_doc_error(err, kinds, MYR_EINVAL, "'mlp_layer_types' names %u layers of %u",
                             kinds->count, model->layer_count);
    }
    uint32_t dense = 0;
    while (dense < kinds->count && is_word(kinds->items[dense], "dense")) {
        dense++;
    }
    model->moe.first_dense = dense;
    for (uint32_t i = dense; i < kinds->count; i++) {
        if (!is_word(kinds->items[i], "sparse") || model->moe.interval != 1) {
            return myr_doc_error(err, kinds->items[i], MYR_EINVAL,
                                 "layer %u of 'mlp_layer_types' breaks the rule 'first all dense, "
                                 "then all sparse'; other orders are not understood",
                                 i);
        }
    }
    return MYR_OK;
}

/* Biases of plain FFNs beside experts without them: one flag for both would lie. */
int hf_no_bias(const struct myr_doc *doc, const char *key, struct myr_err *err)
{
    bool bias = false;
    MYR_TRY(hf_flag(doc, key, &bias, err));
    return bias ? myr_doc_error(err, myr_doc_get(doc, key), MYR_EINVAL,
                                "'%s': biases beside experts without them are not understood", key)
                : MYR_OK;
}
