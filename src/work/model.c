#include "myriad/work/model.h"

/* Only a learned table has an end. */
bool myr_model_stretch(struct myr_model *model, uint32_t seq_tokens)
{
    /* Rotary models take any length; a learned table has a row for each position. */
    bool short_table =
        model->positions == MYR_POSITIONS_LEARNED && seq_tokens > model->position_max;
    if (short_table) {
        model->position_max = seq_tokens;
    }
    return short_table;
}

/* With latent attention a query has a part with positions and one without. */
uint32_t myr_model_qk_dim(const struct myr_model *model)
{
    return myr_model_is_mla(model) ? model->mla.nope_dim + model->mla.rope_dim : model->head_dim;
}

uint32_t myr_model_v_dim(const struct myr_model *model)
{
    return myr_model_is_mla(model) ? model->mla.v_dim : model->head_dim;
}

bool myr_model_layer_is_moe(const struct myr_model *model, uint32_t layer)
{
    const struct myr_moe *moe = &model->moe;
    return moe->expert_count > 0 && layer >= moe->first_dense &&
           (layer - moe->first_dense) % moe->interval == 0;
}

/* The n-th layer of every n, counted from 1, is the full one. */
bool myr_model_layer_is_full(const struct myr_model *model, uint32_t layer)
{
    /* full_every 0 with a window or linear layers: no layer sees all. */
    if (model->window_tokens == 0 && model->delta.value_heads == 0) {
        return true;
    }
    return model->full_every > 0 && (layer + 1) % model->full_every == 0;
}

/* All but every n-th; full_every 0 means that none is full. */
uint32_t myr_model_delta_layers(const struct myr_model *model)
{
    if (model->delta.value_heads == 0) {
        return 0;
    }
    return model->layer_count - (model->full_every ? model->layer_count / model->full_every : 0);
}

/* MoE layers below 'layer'. */
static uint32_t moe_layers_below(const struct myr_model *model, uint32_t layer)
{
    const struct myr_moe *moe = &model->moe;
    if (moe->expert_count == 0 || layer <= moe->first_dense) {
        return 0;
    }
    return (layer - moe->first_dense + moe->interval - 1) / moe->interval;
}

/* By difference, so that bounds and cuts can ask it for any span. */
uint32_t myr_model_moe_layers(const struct myr_model *model, uint32_t first, uint32_t count)
{
    return moe_layers_below(model, first + count) - moe_layers_below(model, first);
}
