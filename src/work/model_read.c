/* model_read: a model file of our own, by tables; a config.json is handed to model_hf.c. */
#include "model_read.h"

#include "keys.h"
#include "model_details.h"
#include "myriad/text/kind.h"

/* The rows of docs/work.md, "Model files". */
#define NUMBER(key, member, min, max)                            \
    {                                                            \
        key, offsetof(struct myr_model, member), min, max, false \
    }
#define NEEDED(key, member, min, max)                           \
    {                                                           \
        key, offsetof(struct myr_model, member), min, max, true \
    }
#define FLAG(key, member)                       \
    {                                           \
        key, offsetof(struct myr_model, member) \
    }

/* Keys of the file itself; maps inside it have tables of their own. */
static const struct key_number top_numbers[] = {
    NEEDED("layers", layer_count, 1, MYR_MODEL_LAYERS_MAX),
    NEEDED("hidden", hidden, 1, MYR_MODEL_HIDDEN_MAX),
    NEEDED("heads", head_count, 1, MYR_MODEL_HEADS_MAX),
    NUMBER("kv_heads", kv_head_count, 1, MYR_MODEL_HEADS_MAX),
    NUMBER("head_dim", head_dim, 1, MYR_MODEL_DIM_MAX),
    NUMBER("ffn", ffn_hidden, 1, MYR_MODEL_FFN_MAX),
    NEEDED("vocab", vocab, 1, MYR_MODEL_VOCAB_MAX),
    NEEDED("sequence", seq_tokens, 1, MYR_MODEL_SEQ_MAX),
    NUMBER("max_positions", position_max, 1, MYR_MODEL_SEQ_MAX),
    NUMBER("mtp", mtp_count, 0, MYR_MODEL_MTP_MAX),
    NUMBER("norms_per_layer", norms_per_layer, 0, MYR_MODEL_NORMS_MAX),
    NUMBER("activation_weights", activation_weights, 0, MYR_MODEL_DIM_MAX),
};

static const struct key_flag top_flags[] = {
    FLAG("causal", causal),
    FLAG("gated", gated),
    FLAG("tied", tied),
    FLAG("embedding_norm", embedding_norm),
    FLAG("qk_norm", qk_norm),
    FLAG("attention_sink", attention_sink),
    FLAG("dropout", dropout),
    FLAG("qk_norm_wide", qk_norm_wide),
    FLAG("query_gate", query_gate),
};

/* q_rank 0: queries are not compressed. */
static const struct key_number mla_numbers[] = {
    NUMBER("q_rank", mla.q_rank, 0, MYR_MODEL_DIM_MAX),
    NEEDED("kv_rank", mla.kv_rank, 1, MYR_MODEL_DIM_MAX),
    NEEDED("nope_dim", mla.nope_dim, 1, MYR_MODEL_DIM_MAX),
    NEEDED("rope_dim", mla.rope_dim, 0, MYR_MODEL_DIM_MAX),
    NEEDED("v_dim", mla.v_dim, 1, MYR_MODEL_DIM_MAX),
};

static const struct key_number moe_numbers[] = {
    NEEDED("experts", moe.expert_count, 1, MYR_MODEL_EXPERTS_MAX),
    NEEDED("top_k", moe.experts_per_token, 1, MYR_MODEL_EXPERTS_MAX),
    NEEDED("ffn", moe.expert_hidden, 1, MYR_MODEL_FFN_MAX),
    NUMBER("shared", moe.shared_count, 0, MYR_MODEL_EXPERTS_MAX),
    NUMBER("shared_ffn", moe.shared_hidden, 1, MYR_MODEL_FFN_MAX),
    NUMBER("first_dense", moe.first_dense, 0, MYR_MODEL_LAYERS_MAX),
    NUMBER("interval", moe.interval, 1, MYR_MODEL_LAYERS_MAX),
};

static const struct key_flag moe_flags[] = {
    FLAG("router_bias", moe.router_bias),
    FLAG("score_bias", moe.score_bias),
    FLAG("shared_gate", moe.shared_gate),
};

/* full_every is one field for windows and linear layers, which exclude each other. */
static const struct key_number window_numbers[] = {
    NEEDED("tokens", window_tokens, 1, MYR_MODEL_SEQ_MAX),
    NUMBER("full_every", full_every, 0, MYR_MODEL_LAYERS_MAX),
};

static const struct key_number indexer_numbers[] = {
    NEEDED("heads", indexer.head_count, 1, MYR_MODEL_HEADS_MAX),
    NEEDED("dim", indexer.head_dim, 1, MYR_MODEL_DIM_MAX),
    NEEDED("tokens", indexer.kept_tokens, 1, MYR_MODEL_SEQ_MAX),
};

static const struct key_number delta_numbers[] = {
    NEEDED("key_heads", delta.key_heads, 1, MYR_MODEL_HEADS_MAX),
    NEEDED("key_dim", delta.key_dim, 1, MYR_MODEL_DIM_MAX),
    NEEDED("value_heads", delta.value_heads, 1, MYR_MODEL_HEADS_MAX),
    NEEDED("value_dim", delta.value_dim, 1, MYR_MODEL_DIM_MAX),
    NUMBER("taps", delta.taps, 0, MYR_MODEL_DIM_MAX),
    NUMBER("full_every", full_every, 0, MYR_MODEL_LAYERS_MAX),
};

static const char *const other_keys[] = {"name", "source", "mla",     "moe",       "window", "bias",
                                         "norm", "delta",  "indexer", "positions", "details"};

/* 'other_keys' are maps and words, read below. */
static const struct key_table top_table = {
    "the model",
    top_numbers,
    MYR_ARRAY_COUNT(top_numbers),
    top_flags,
    MYR_ARRAY_COUNT(top_flags),
    other_keys,
    MYR_ARRAY_COUNT(other_keys),
};
static const struct key_table mla_table = {
    "mla", mla_numbers, MYR_ARRAY_COUNT(mla_numbers), NULL, 0, NULL, 0,
};
static const struct key_table moe_table = {
    "moe", moe_numbers, MYR_ARRAY_COUNT(moe_numbers), moe_flags, MYR_ARRAY_COUNT(moe_flags),
    NULL,  0,
};
static const struct key_table window_table = {
    "window", window_numbers, MYR_ARRAY_COUNT(window_numbers), NULL, 0, NULL, 0,
};
static const struct key_table indexer_table = {
    "indexer", indexer_numbers, MYR_ARRAY_COUNT(indexer_numbers), NULL, 0, NULL, 0,
};
static const struct key_table delta_table = {
    "delta", delta_numbers, MYR_ARRAY_COUNT(delta_numbers), NULL, 0, NULL, 0,
};

/* All tables write into the same struct: their rows have offsets from its start. */
static int read_parts(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    const struct {
        const char *key;
        const struct key_table *table;
    } parts[] = {{"mla", &mla_table},
                 {"moe", &moe_table},
                 {"window", &window_table},
                 {"indexer", &indexer_table},
                 {"delta", &delta_table}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(parts); i++) {
        const struct myr_doc *map = myr_doc_get(doc, parts[i].key);
        MYR_TRY(map ? myr_work_read_map(map, parts[i].table, model, err) : MYR_OK);
    }
    if (model->moe.shared_hidden == 0 && model->moe.shared_count > 0) {
        model->moe.shared_hidden = model->moe.expert_hidden;
    }
    return MYR_OK;
}

/* Words in the order of their enums. */
static int read_choices(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    static const char *const norms[] = {"rms", "layer", "bare"};
    static const char *const positions[] = {"rotary", "learned", "none"};
    const struct myr_doc *norm = myr_doc_get(doc, "norm");
    const struct myr_doc *position = myr_doc_get(doc, "positions");
    uint32_t index;
    if (norm) {
        MYR_TRY(myr_doc_choice(norm, "norm", norms, MYR_ARRAY_COUNT(norms), &index, err));
        model->norm = (enum myr_norm)index;
    }
    if (position) {
        MYR_TRY(myr_doc_choice(position, "positions", positions, MYR_ARRAY_COUNT(positions), &index,
                               err));
        model->positions = (enum myr_positions)index;
    }
    return MYR_OK;
}

/* bias: [qkv, out, ffn, head] */
static int read_bias(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    static const char *const names[] = {"qkv", "out", "ffn", "head"};
    const struct myr_doc *list = myr_doc_get(doc, "bias");
    if (!list) {
        return MYR_OK;
    }
    MYR_TRY(myr_doc_expect(list, MYR_DOC_LIST, "bias", err));
    for (uint32_t i = 0; i < list->count; i++) {
        uint32_t which;
        MYR_TRY(myr_doc_choice(list->items[i], "bias", names, MYR_ARRAY_COUNT(names), &which, err));
        bool *const flags[] = {&model->qkv_bias, &model->out_bias, &model->ffn_bias,
                               &model->head_bias};
        *flags[which] = true;
    }
    return MYR_OK;
}

/* Into the arena: the document may go before the model does. */
static int read_text(struct myr_arena *arena, const struct myr_doc *doc, const char *key,
                     const char **ret, struct myr_err *err)
{
    const struct myr_doc *node = myr_doc_get(doc, key);
    struct myr_str text;
    if (!node) {
        return MYR_OK; /* what is not said stays as it is */
    }
    MYR_TRY(myr_doc_text(node, key, &text, err));
    *ret = myr_arena_strndup(arena, text.data, text.len);
    return MYR_OK;
}

/* Defaults that are not 0 stand here; docs/work.md lists them. */
static int model_from_ours(struct myr_arena *arena, const struct myr_doc *doc,
                           struct myr_model *ret, struct myr_err *err)
{
    struct myr_model model = {
        .name = doc->file, .causal = true, .norms_per_layer = 2, .moe.interval = 1};
    MYR_TRY(myr_work_read_map(doc, &top_table, &model, err));
    MYR_TRY(read_text(arena, doc, "name", &model.name, err));
    MYR_TRY(read_text(arena, doc, "source", &model.source, err));
    MYR_TRY(read_parts(doc, &model, err));
    MYR_TRY(read_choices(doc, &model, err));
    MYR_TRY(read_bias(doc, &model, err));
    MYR_TRY(myr_work_read_details(doc, &model.details, err));
    if (model.positions == MYR_POSITIONS_LEARNED && model.position_max == 0) {
        model.position_max = model.seq_tokens; /* a table as long as the sequence */
    }
    MYR_TRY(myr_work_model_finish(doc, &model, err));
    *ret = model;
    return MYR_OK;
}

/* Which kind of file it is its keys tell; the name does not matter. */
int myr_model_parse(struct myr_arena *arena, const struct myr_doc *doc, struct myr_model *ret,
                    struct myr_err *err)
{
    MYR_TRY(myr_doc_expect(doc, MYR_DOC_MAP, "the model", err));
    if (myr_doc_get(doc, "model_type")) {
        return myr_work_model_from_hf(arena, doc, ret, err);
    }
    /* A config.json that lost its type would be refused for its first key, which helps nobody. */
    if (myr_doc_get(doc, "architectures") || myr_doc_get(doc, "num_hidden_layers") ||
        myr_doc_get(doc, "text_config")) {
        int rc = myr_doc_error(err, doc, MYR_EINVAL, "'model_type' is missing in a config.json");
        myr_err_hint(err, "docs/work.md lists the types that are understood");
        return rc;
    }
    return model_from_ours(arena, doc, ret, err);
}

int myr_model_read(struct myr_arena *arena, const char *path, struct myr_model *ret,
                   struct myr_err *err)
{
    const struct myr_doc *doc;
    static const struct myr_doc_want want = {MYR_KINDS_DOC(MODEL),
                                             "a model, ours or a config.json,"};
    MYR_TRY(myr_doc_read_file_of(arena, path, &want, &doc, err));
    return myr_model_parse(arena, doc, ret, err);
}
