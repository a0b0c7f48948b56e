/* Hugging Face config.json: finds the family, reads its keys. */
#include "model_hf.h"

#include "model_details.h"
#include "model_hf_finish.h"
#include "model_read.h"

static bool starts(struct myr_str text, const char *start)
{
    size_t n = strlen(start);
    return text.len >= n && memcmp(text.data, start, n) == 0;
}

/* What layers of some families do that nothing here prices; NULL: not one of them. */
static const char *unpriced(struct myr_str type)
{
    static const struct {
        const char *start, *what;
    } families[] = {
        {"mamba", "state space layers"},
        {"falcon_mamba", "state space layers"},
        {"falcon_h1", "state space layers beside attention"},
        {"jamba", "state space layers beside attention"},
        {"bamba", "state space layers beside attention"},
        {"zamba", "state space layers beside attention"},
        {"nemotron_h", "state space layers beside attention"},
        {"granitemoehybrid", "state space layers beside attention"},
        {"recurrent_gemma", "recurrent layers beside attention"},
        {"rwkv", "recurrent layers"},
        {"kimi_linear", "layers of linear attention"},
        {"qwen3_5", "layers of linear attention"},
        {"longcat_flash", "two attentions a layer, and experts that do nothing"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(families); i++) {
        if (starts(type, families[i].start)) {
            return families[i].what;
        }
    }
    return NULL;
}

/* The type must be one of the list to the letter: a near name may have other layers. */
static int find_family(const struct myr_doc *doc, const struct hf_family **ret, struct myr_err *err)
{
    const struct myr_doc *node = myr_doc_get(doc, "model_type");
    struct myr_str type;
    MYR_TRY(myr_doc_text(node, "model_type", &type, err));
    for (size_t i = 0; i < myr_work_hf_family_count; i++) {
        if (myr_str_eq(type, myr_str_from(myr_work_hf_families[i].type))) {
            *ret = &myr_work_hf_families[i];
            return MYR_OK;
        }
    }
    const char *what = unpriced(type);
    if (what) {
        return myr_doc_error(err, node, MYR_EINVAL, "'model_type' is '%.*s': %s are not priced",
                             (int)(type.len < 40 ? type.len : 40), type.data, what);
    }
    int rc =
        myr_doc_error(err, node, MYR_EINVAL, "'model_type' is '%.*s', none of the %zu known ones",
                      (int)(type.len < 40 ? type.len : 40), type.data, myr_work_hf_family_count);
    myr_err_hint(err, "docs/work.md lists them; where the layers are like those of one, give its "
                      "model_type in a copy, else describe the model by its numbers (\"Model "
                      "files\" there)");
    return rc;
}

/* Models that see and hear keep their language part in a map of its own, with its own type. */
static const struct myr_doc *language_part(const struct myr_doc *doc)
{
    static const char *const keys[] = {"text_config", "llm_config", "language_config"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(keys); i++) {
        const struct myr_doc *text = myr_work_key(doc, KEYS_FOREIGN, keys[i]);
        if (text && text->kind == MYR_DOC_MAP && myr_doc_get(text, "model_type")) {
            return text;
        }
    }
    return doc;
}

/* Where a field may have several names, no single key is required: here the field is. */
static int check_shape(const struct myr_doc *doc, const struct myr_model *model, const char *what,
                       struct myr_err *err)
{
    const struct {
        const char *name;
        uint32_t value;
    } needed[] = {{"the number of layers", model->layer_count},
                  {"the hidden size", model->hidden},
                  {"the number of attention heads", model->head_count},
                  {"the size of the vocabulary", model->vocab},
                  {"'max_position_embeddings'", model->seq_tokens}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(needed); i++) {
        if (needed[i].value == 0) {
            return myr_doc_error(err, doc, MYR_EINVAL, "%s is missing in %s", needed[i].name, what);
        }
    }
    return MYR_OK;
}

/* A key that says something: not null, not false, not 0, not an empty list. */
static const struct myr_doc *said(const struct myr_doc *doc, const char *key)
{
    const struct myr_doc *node = myr_work_key(doc, KEYS_FOREIGN, key);
    bool empty =
        node && ((node->kind == MYR_DOC_SCALAR && (myr_str_eq(node->text, MYR_STR("0")) ||
                                                   myr_str_eq(node->text, MYR_STR("false")))) ||
                 (node->kind == MYR_DOC_LIST && node->count == 0));
    return empty ? NULL : node;
}

/* Every kind of layer has a name; those that are no softmax attention have other weights. */
static int check_layer_types(const struct myr_doc *doc, const struct myr_model *model,
                             struct myr_err *err)
{
    static const char *const usual[] = {"full_attention", "sliding_attention", "chunked_attention"};
    static const char *const delta[] = {"full_attention", "linear_attention"};
    static const char *const index[] = {"full_attention", "deepseek_sparse_attention"};
    const char *const *known = model->delta.value_heads    ? delta
                               : model->indexer.head_count ? index
                                                           : usual;
    /* Both special lists have two words. */
    size_t known_count = known == usual ? MYR_ARRAY_COUNT(usual) : MYR_ARRAY_COUNT(delta);
    const struct myr_doc *types = said(doc, "layer_types");
    for (uint32_t i = 0; types && types->kind == MYR_DOC_LIST && i < types->count; i++) {
        const struct myr_doc *kind = types->items[i];
        bool found = false;
        for (size_t k = 0; k < known_count && kind->kind == MYR_DOC_SCALAR; k++) {
            found = found || myr_str_eq(kind->text, myr_str_from(known[k]));
        }
        if (!found) {
            return myr_doc_error(err, kind, MYR_EINVAL,
                                 "layer %u is no full, sliding or chunked attention; other kinds "
                                 "of layers are not understood",
                                 i);
        }
    }
    return MYR_OK;
}

/*
 * A key that the family's own code does not know, but that speaks of other layers than those just
 * counted: better no number than a wrong one. Expert counts of 1 are a dense model's.
 */
static int check_unread(const struct myr_doc *doc, const struct hf_family *family,
                        const struct myr_model *model, const char *what, struct myr_err *err)
{
    /*
     * Keys of kinds of layers, by what they would mean; a family that has the kind may have its
     * keys.
     */
    static const char *const experts[] = {"num_local_experts", "num_experts", "n_routed_experts",
                                          "num_routed_experts", "moe_num_experts"};
    static const char *const others[] = {
        "is_encoder_decoder",
        "hybrid_override_pattern",
        "layers_block_type",
        "attn_layer_period",
        "linear_attn_config",
        "mamba_d_state",
        "mamba_num_heads",
        "ssm_state_size",
        "ssm_cfg",
        NULL,
    };
    static const char *const linear[] = {"attn_type_list", "full_attention_interval",
                                         "linear_num_key_heads", "linear_num_value_heads", NULL};
    static const char *const indexed[] = {"index_topk", "index_n_heads", NULL};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(experts) && model->moe.expert_count == 0; i++) {
        const struct myr_doc *node = said(doc, experts[i]);
        if (node && !(node->kind == MYR_DOC_SCALAR && myr_str_eq(node->text, MYR_STR("1")))) {
            return myr_doc_error(err, node, MYR_EINVAL, "%s has no experts, but here is '%s'", what,
                                 experts[i]);
        }
    }
    if (!myr_model_is_mla(model) && said(doc, "kv_lora_rank")) {
        return myr_doc_error(err, said(doc, "kv_lora_rank"), MYR_EINVAL,
                             "%s has no latent attention, but here is 'kv_lora_rank'", what);
    }
    bool listed = family->finish == hf_finish_minimax; /* has read its list */
    const char *const *const lists[] = {others, model->delta.value_heads ? others : linear,
                                        model->indexer.head_count ? others : indexed};
    for (size_t k = 0; k < MYR_ARRAY_COUNT(lists); k++) {
        for (const char *const *key = lists[k]; *key; key++) {
            if (said(doc, *key) && !(listed && strcmp(*key, "attn_type_list") == 0)) {
                return myr_doc_error(err, said(doc, *key), MYR_EINVAL,
                                     "'%s' speaks of layers that %s has not, and that are not "
                                     "understood",
                                     *key, what);
            }
        }
    }
    return check_layer_types(doc, model, err);
}

/* '*ret' is written when everything is right. The model's name is its file's: a config has none. */
int myr_work_model_from_hf(struct myr_arena *arena, const struct myr_doc *config,
                           struct myr_model *ret, struct myr_err *err)
{
    const struct hf_family *family = NULL;
    const struct myr_doc *doc = language_part(config);
    MYR_TRY(find_family(doc, &family, err));
    MYR_ASSERT(family);
    /*
     * From the general to the special: what the family fixes, what its table reads, what its
     * function adds; then what must hold of any model.
     */
    struct myr_model model = family->fixed;
    const char *what = myr_arena_printf(arena, "a config of type '%s'", family->type);
    MYR_TRY(myr_work_read_numbers(doc, what, KEYS_FOREIGN, family->rows, family->row_count, &model,
                                  err));
    /* Prediction modules are written alike by whoever has them. */
    static const struct key_number mtp = {"num_nextn_predict_layers",
                                          offsetof(struct myr_model, mtp_count), 0,
                                          MYR_MODEL_MTP_MAX, false};
    MYR_TRY(myr_work_read_numbers(doc, what, KEYS_FOREIGN, &mtp, 1, &model, err));
    /* The flag of a model that also sees stands outside of its language part. */
    const struct myr_doc *tied = myr_work_key(doc, KEYS_FOREIGN, "tie_word_embeddings");
    tied = tied ? tied : myr_work_key(config, KEYS_FOREIGN, "tie_word_embeddings");
    MYR_TRY(tied ? myr_doc_bool(tied, "tie_word_embeddings", &model.tied, err) : MYR_OK);
    MYR_TRY(family->finish(doc, &model, err));
    MYR_TRY(myr_work_hf_details(doc, &model.details, err));
    MYR_TRY(check_shape(doc, &model, what, err));
    MYR_TRY(check_unread(doc, family, &model, what, err));
    model.name = doc->file;
    model.source = myr_arena_printf(arena, "config.json of type %s%s", family->type,
                                    doc == config ? "" : ", its language part");
    MYR_TRY(myr_work_model_finish(doc, &model, err));
    *ret = model;
    return MYR_OK;
}
