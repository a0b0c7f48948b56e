/*
 * model_details: our own map 'details' and its counterparts in config.json. None of it changes a
 * count or a time: only a launch asks for it.
 */
#include "model_details.h"

#include "keys.h"

#define NUMBERS_MAX 1e12 /* beyond any base, scale or share that is in use */

/* A number that is no count; NUMBERS_MAX bounds what a file may say. */
struct detail_double {
    const char *key;
    size_t offset;
};

#define DETAIL(key, member)                             \
    {                                                   \
        key, offsetof(struct myr_model_details, member) \
    }

/* A number that is absent stays 0: not said. */
static int read_doubles(const struct myr_doc *map, enum key_style style,
                        const struct detail_double *rows, size_t count,
                        struct myr_model_details *ret, struct myr_err *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct myr_doc *node = myr_work_key(map, style, rows[i].key);
        double *value = (double *)((char *)ret + rows[i].offset);
        MYR_TRY(node ? myr_doc_double(node, rows[i].key, 0, NUMBERS_MAX, value, err) : MYR_OK);
    }
    return MYR_OK;
}

/* Experts in groups of which a token may visit a few only. */
static const struct key_number group_rows[] = {
    {"expert_groups", offsetof(struct myr_model_details, expert_groups), 1, MYR_MODEL_EXPERTS_MAX,
     false},
    {"groups_per_token", offsetof(struct myr_model_details, groups_per_token), 1,
     MYR_MODEL_EXPERTS_MAX, false},
};

static const struct key_flag flag_rows[] = {
    {"sigmoid_scores", offsetof(struct myr_model_details, sigmoid_scores)},
    {"scaled_rotation", offsetof(struct myr_model_details, scaled_rotation)},
};

/* In the order of enum myr_activation: the place is the value. */
static const char *const our_activations[] = {"unknown", "silu",  "gelu", "gelu-tanh",
                                              "relu",    "relu2", "other"};

/* All of it is optional; without the map nothing changes. */
int myr_work_read_details(const struct myr_doc *doc, struct myr_model_details *ret,
                          struct myr_err *err)
{
    static const struct detail_double rows[] = {
        DETAIL("rotary_base", rotary_base),
        DETAIL("rotary_share", rotary_share),
        DETAIL("norm_epsilon", norm_epsilon),
        DETAIL("routed_scale", routed_scale),
    };
    /* Numbers that are no counts are read below, so the table lists them here. */
    static const char *const others[] = {"activation", "rotary_base", "rotary_share",
                                         "norm_epsilon", "routed_scale"};
    static const struct key_table table = {
        "details",
        group_rows,
        MYR_ARRAY_COUNT(group_rows),
        flag_rows,
        MYR_ARRAY_COUNT(flag_rows),
        others,
        MYR_ARRAY_COUNT(others),
    };
    const struct myr_doc *map = myr_doc_get(doc, "details");
    if (!map) {
        return MYR_OK;
    }
    MYR_TRY(myr_work_read_map(map, &table, ret, err));
    MYR_TRY(read_doubles(map, KEYS_OURS, rows, MYR_ARRAY_COUNT(rows), ret, err));
    const struct myr_doc *activation = myr_doc_get(map, "activation");
    uint32_t index = 0;
    MYR_TRY(activation ? myr_doc_choice(activation, "activation", our_activations,
                                        MYR_ARRAY_COUNT(our_activations), &index, err)
                       : MYR_OK);
    ret->activation = (enum myr_activation)index;
    return MYR_OK;
}

/*
 * The first of the keys that is there decides. A word that is not known is "other", not an error:
 * no count or time depends on it.
 */
static enum myr_activation hf_activation(const struct myr_doc *doc)
{
    static const struct {
        const char *word;
        enum myr_activation activation;
    } words[] = {
        {"silu", MYR_ACTIVATION_SILU},           {"swish", MYR_ACTIVATION_SILU},
        {"gelu", MYR_ACTIVATION_GELU},           {"gelu_new", MYR_ACTIVATION_GELU_TANH},
        {"gelu_fast", MYR_ACTIVATION_GELU_TANH}, {"gelu_pytorch_tanh", MYR_ACTIVATION_GELU_TANH},
        {"relu", MYR_ACTIVATION_RELU},           {"relu2", MYR_ACTIVATION_RELU2},
    };
    static const char *const keys[] = {"hidden_act", "activation_function", "hidden_activation"};
    for (size_t k = 0; k < MYR_ARRAY_COUNT(keys); k++) {
        const struct myr_doc *node = myr_work_key(doc, KEYS_FOREIGN, keys[k]);
        if (!node || node->kind != MYR_DOC_SCALAR) {
            continue;
        }
        for (size_t i = 0; i < MYR_ARRAY_COUNT(words); i++) {
            if (myr_str_eq(node->text, myr_str_from(words[i].word))) {
                return words[i].activation;
            }
        }
        return MYR_ACTIVATION_OTHER;
    }
    return MYR_ACTIVATION_UNKNOWN;
}

/* The rotation: keys of the config itself, or of the map that newer files put them into. */
static int hf_rotation(const struct myr_doc *doc, struct myr_model_details *ret,
                       struct myr_err *err)
{
    static const struct detail_double rows[] = {
        DETAIL("rope_theta", rotary_base),
        DETAIL("rotary_emb_base", rotary_base),
        DETAIL("partial_rotary_factor", rotary_share),
        DETAIL("rotary_pct", rotary_share),
    };
    /* Read after the config's own keys: where both are there, the map's are the newer ones. */
    static const char *const maps[] = {"rope_parameters", "rope_scaling"};
    MYR_TRY(read_doubles(doc, KEYS_FOREIGN, rows, MYR_ARRAY_COUNT(rows), ret, err));
    for (size_t i = 0; i < MYR_ARRAY_COUNT(maps); i++) {
        const struct myr_doc *map = myr_work_key(doc, KEYS_FOREIGN, maps[i]);
        if (!map || map->kind != MYR_DOC_MAP) {
            continue; /* some families write a word here, or a map for each kind of layer */
        }
        MYR_TRY(read_doubles(map, KEYS_FOREIGN, rows, MYR_ARRAY_COUNT(rows), ret, err));
        ret->scaled_rotation = ret->scaled_rotation || myr_doc_get(map, "factor") != NULL;
    }
    return MYR_OK;
}

/* Several names of one thing: a family has one of them. */
int myr_work_hf_details(const struct myr_doc *doc, struct myr_model_details *ret,
                        struct myr_err *err)
{
    static const struct detail_double rows[] = {
        DETAIL("rms_norm_eps", norm_epsilon),
        DETAIL("layer_norm_eps", norm_epsilon),
        DETAIL("layer_norm_epsilon", norm_epsilon),
        DETAIL("routed_scaling_factor", routed_scale),
    };
    static const struct key_number groups[] = {
        {"n_group", offsetof(struct myr_model_details, expert_groups), 0, MYR_MODEL_EXPERTS_MAX,
         false},
        {"topk_group", offsetof(struct myr_model_details, groups_per_token), 0,
         MYR_MODEL_EXPERTS_MAX, false},
    };
    MYR_TRY(read_doubles(doc, KEYS_FOREIGN, rows, MYR_ARRAY_COUNT(rows), ret, err));
    MYR_TRY(hf_rotation(doc, ret, err));
    MYR_TRY(myr_work_read_numbers(doc, "the config", KEYS_FOREIGN, groups, MYR_ARRAY_COUNT(groups),
                                  ret, err));
    ret->activation = hf_activation(doc);
    const struct myr_doc *scores = myr_work_key(doc, KEYS_FOREIGN, "scoring_func");
    ret->sigmoid_scores = ret->sigmoid_scores || (scores && scores->kind == MYR_DOC_SCALAR &&
                                                  myr_str_eq(scores->text, MYR_STR("sigmoid")));
    return MYR_OK;
}
