/* What must hold of a model: ranges of single fields, and fields that belong together. */
#include "model_read.h"
#include "myriad/work/count.h"
#include "weights.h"

/* One field with the name that files give it, for the message. */
struct range {
    const char *name;
    uint32_t value;
    uint32_t min;
    uint32_t max;
};

/* The first that is out of range, by its name. */
static int check_ranges(const struct range *ranges, size_t count, struct myr_err *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct range *r = &ranges[i];
        if (r->value < r->min || r->value > r->max) {
            return myr_err_set(err, MYR_ERANGE, "'%s' is %u, from %u to %u is expected", r->name,
                               r->value, r->min, r->max);
        }
    }
    return MYR_OK;
}

/* What every model has. Fields that only some models have may be 0 here and are checked below. */
static int check_shape(const struct myr_model *model, struct myr_err *err)
{
    bool learned = model->positions == MYR_POSITIONS_LEARNED;
    const struct range ranges[] = {
        {"layers", model->layer_count, 1, MYR_MODEL_LAYERS_MAX},
        {"hidden", model->hidden, 1, MYR_MODEL_HIDDEN_MAX},
        {"heads", model->head_count, 1, MYR_MODEL_HEADS_MAX},
        {"kv_heads", model->kv_head_count, 1, MYR_MODEL_HEADS_MAX},
        {"head_dim", myr_model_qk_dim(model), 1, 2 * MYR_MODEL_DIM_MAX},
        {"ffn", model->ffn_hidden, 0, MYR_MODEL_FFN_MAX},
        {"vocab", model->vocab, 1, MYR_MODEL_VOCAB_MAX},
        {"sequence", model->seq_tokens, 1, MYR_MODEL_SEQ_MAX},
        {"max_positions", model->position_max, learned ? 1 : 0, MYR_MODEL_SEQ_MAX},
        {"norms_per_layer", model->norms_per_layer, 0, MYR_MODEL_NORMS_MAX},
        {"mtp", model->mtp_count, 0, MYR_MODEL_MTP_MAX},
        {"window", model->window_tokens, 0, MYR_MODEL_SEQ_MAX},
        {"full_every", model->full_every, 0, MYR_MODEL_LAYERS_MAX},
        {"activation_weights", model->activation_weights, 0, MYR_MODEL_DIM_MAX},
    };
    MYR_TRY(check_ranges(ranges, MYR_ARRAY_COUNT(ranges), err));
    if (model->head_count % model->kv_head_count != 0) {
        return myr_err_set(err, MYR_EINVAL, "%u heads cannot share %u key/value heads evenly",
                           model->head_count, model->kv_head_count);
    }
    if (model->window_tokens > 0 && !model->causal) {
        return myr_err_set(err, MYR_EINVAL, "a window needs causal attention");
    }
    return MYR_OK;
}

/* Keys and values of all heads come from one latent vector, so there is nothing to group. */
static int check_mla(const struct myr_model *model, struct myr_err *err)
{
    if (!myr_model_is_mla(model)) {
        return MYR_OK;
    }
    const struct myr_mla *mla = &model->mla;
    const struct range ranges[] = {
        /* 0: queries are not compressed. */
        {"mla.q_rank", mla->q_rank, 0, MYR_MODEL_DIM_MAX},
        {"mla.kv_rank", mla->kv_rank, 1, MYR_MODEL_DIM_MAX},
        {"mla.nope_dim", mla->nope_dim, 1, MYR_MODEL_DIM_MAX},
        {"mla.rope_dim", mla->rope_dim, 0, MYR_MODEL_DIM_MAX},
        {"mla.v_dim", mla->v_dim, 1, MYR_MODEL_DIM_MAX},
    };
    MYR_TRY(check_ranges(ranges, MYR_ARRAY_COUNT(ranges), err));
    if (model->kv_head_count != model->head_count) {
        return myr_err_set(err, MYR_EINVAL,
                           "latent attention has as many key/value heads as heads, %u, not %u",
                           model->head_count, model->kv_head_count);
    }
    return MYR_OK;
}

/* Attention that is not of the usual kind. */
static int check_other(const struct myr_model *model, struct myr_err *err)
{
    const struct myr_indexer *index = &model->indexer;
    const struct myr_delta *delta = &model->delta;
    bool indexed = index->head_count > 0, linear = delta->value_heads > 0;
    const struct range ranges[] = {
        {"indexer.heads", index->head_count, 0, MYR_MODEL_HEADS_MAX},
        {"indexer.dim", index->head_dim, indexed ? 1 : 0, MYR_MODEL_DIM_MAX},
        {"indexer.tokens", index->kept_tokens, indexed ? 1 : 0, MYR_MODEL_SEQ_MAX},
        {"delta.key_heads", delta->key_heads, linear ? 1 : 0, MYR_MODEL_HEADS_MAX},
        {"delta.key_dim", delta->key_dim, linear ? 1 : 0, MYR_MODEL_DIM_MAX},
        {"delta.value_heads", delta->value_heads, 0, MYR_MODEL_HEADS_MAX},
        {"delta.value_dim", delta->value_dim, linear ? 1 : 0, MYR_MODEL_DIM_MAX},
        {"delta.taps", delta->taps, 0, MYR_MODEL_DIM_MAX},
    };
    MYR_TRY(check_ranges(ranges, MYR_ARRAY_COUNT(ranges), err));
    /* Their pairs are counted for tokens that see what came before (myr_model_pairs()). */
    if ((indexed || linear) && !model->causal) {
        return myr_err_set(err, MYR_EINVAL, "an indexer and linear layers need causal attention");
    }
    if (indexed && !myr_model_is_mla(model)) {
        return myr_err_set(err, MYR_EINVAL, "an indexer needs latent attention");
    }
    if ((int)indexed + linear + (model->window_tokens > 0) > 1) {
        return myr_err_set(err, MYR_EINVAL,
                           "a window, an indexer and linear layers exclude each "
                           "other");
    }
    return MYR_OK;
}

/* Without experts the plain FFN is all there is; with them it is needed where layers have none. */
static int check_moe(const struct myr_model *model, struct myr_err *err)
{
    const struct myr_moe *moe = &model->moe;
    if (moe->expert_count == 0) {
        return model->ffn_hidden > 0
                   ? MYR_OK
                   : myr_err_set(err, MYR_EINVAL, "'ffn' is 0 and there are no experts");
    }
    const struct range ranges[] = {
        {"moe.experts", moe->expert_count, 1, MYR_MODEL_EXPERTS_MAX},
        {"moe.top_k", moe->experts_per_token, 1, moe->expert_count},
        {"moe.ffn", moe->expert_hidden, 1, MYR_MODEL_FFN_MAX},
        {"moe.shared", moe->shared_count, 0, MYR_MODEL_EXPERTS_MAX},
        {"moe.shared_ffn", moe->shared_hidden, moe->shared_count ? 1 : 0, MYR_MODEL_FFN_MAX},
        {"moe.first_dense", moe->first_dense, 0, model->layer_count - 1},
        {"moe.interval", moe->interval, 1, MYR_MODEL_LAYERS_MAX},
    };
    MYR_TRY(check_ranges(ranges, MYR_ARRAY_COUNT(ranges), err));
    uint32_t moe_layers = myr_model_moe_layers(model, 0, model->layer_count);
    if (moe_layers < model->layer_count && model->ffn_hidden == 0) {
        return myr_err_set(err, MYR_EINVAL, "%u of %u layers have no experts, and 'ffn' is 0",
                           model->layer_count - moe_layers, model->layer_count);
    }
    return MYR_OK;
}

/* After this every count fits its type: others multiply without looking. */
int myr_model_check(const struct myr_model *model, struct myr_err *err)
{
    /* Shapes first: what follows takes them for granted. */
    int rc;
    if ((rc = check_shape(model, err)) < 0 || (rc = check_mla(model, err)) < 0 ||
        (rc = check_other(model, err)) < 0 || (rc = check_moe(model, err)) < 0) {
        return rc;
    }
    /* A single layer fits 64 bits by the limits above; the sum over layers need not. */
    struct weights_share whole = WEIGHTS_WHOLE;
    uint64_t dense = weights_sum(myr_work_layer(model, false, whole));
    uint64_t moe = weights_sum(myr_work_layer(model, true, whole));
    myr_u128 bound = (myr_u128)(dense > moe ? dense : moe) * model->layer_count +
                     2 * (myr_u128)weights_sum(myr_work_embedding(model, 1)) +
                     2 * (myr_u128)model->layer_count; /* a mean is rounded down */
    if (model->mtp_count > 0) {
        bound += (myr_u128)weights_sum(myr_work_mtp(model, whole)) * model->mtp_count;
    }
    if (bound > MYR_MODEL_PARAMS_MAX) {
        return myr_err_set(err, MYR_ERANGE, "the model has more than 10^15 parameters");
    }
    return MYR_OK;
}

/* What readers leave to follow: key/value heads and the width of a head. */
int myr_work_model_finish(const struct myr_doc *doc, struct myr_model *model, struct myr_err *err)
{
    /* No key/value heads given: as many as heads, which is plain multi-head attention. */
    if (model->kv_head_count == 0 || myr_model_is_mla(model)) {
        model->kv_head_count = model->head_count;
    }
    if (model->head_dim == 0 && !myr_model_is_mla(model)) {
        if (model->hidden % model->head_count != 0) {
            return myr_doc_error(err, doc, MYR_EINVAL,
                                 "the head width is not given, and %u hidden do not divide by %u "
                                 "heads",
                                 model->hidden, model->head_count);
        }
        model->head_dim = model->hidden / model->head_count;
    }
    /* The check knows no file: its words get the place of the document in front. */
    struct myr_err inner = {};
    int rc = myr_model_check(model, &inner);
    return rc == MYR_OK ? MYR_OK : myr_doc_error(err, doc, rc, "%s", inner.message);
}
