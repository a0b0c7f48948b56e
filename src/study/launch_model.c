/*
 * The model's own arguments in Megatron-LM's words. Whatever the model has and the trainer has no
 * argument for becomes a note: the run would train another model without a word.
 */
#include "launch_list.h"

/* Latent attention has dimensions of its own in place of heads' widths. */
static void attention_args(const struct myr_model *model, struct myr_launch *l)
{
    launch_number(l, "--num-attention-heads", model->head_count);
    if (myr_model_is_mla(model)) {
        const struct myr_mla *mla = &model->mla;
        /* Queries may be projected at once, without a rank of their own. */
        launch_switch(l, "--multi-latent-attention");
        if (mla->q_rank > 0) {
            launch_number(l, "--q-lora-rank", mla->q_rank);
        }
        launch_number(l, "--kv-lora-rank", mla->kv_rank);
        launch_number(l, "--qk-head-dim", mla->nope_dim);
        launch_number(l, "--qk-pos-emb-head-dim", mla->rope_dim);
        launch_number(l, "--v-head-dim", mla->v_dim);
        launch_switch(l, "--qk-layernorm"); /* of the latents */
        launch_put(l, MYR_LAUNCH_TEXT, "--rope-type", "rope");
        launch_switch(l, "--no-rope-fusion"); /* there is one for a stretched rotation only */
        return;
    }
    /* Said in any case: heads need not divide the hidden size. */
    launch_number(l, "--kv-channels", model->head_dim);
    if (model->kv_head_count != model->head_count) {
        launch_switch(l, "--group-query-attention");
        launch_number(l, "--num-query-groups", model->kv_head_count);
    }
    if (model->qk_norm && model->qk_norm_wide) {
        launch_note(l, "norms of queries and keys over all heads at once are not this trainer's: "
                       "its own are for each head");
    }
    if (model->qk_norm) {
        launch_switch(l, "--qk-layernorm");
    }
}

/* Attention of other kinds: windows, sinks, linear layers, an indexer. */
static void other_attention_args(const struct myr_model *model, struct myr_launch *l)
{
    const struct myr_delta *delta = &model->delta;
    const struct myr_indexer *index = &model->indexer;
    /* A learned value in the sum of the softmax. */
    if (model->attention_sink) {
        launch_put(l, MYR_LAUNCH_TEXT, "--softmax-type", "learnable");
    }
    /* Back to so many tokens, none ahead. */
    if (model->window_tokens > 0) {
        launch_put(l, MYR_LAUNCH_TEXT, "--window-size", "%u,0", model->window_tokens);
        if (model->full_every > 0) {
            launch_number(l, "--window-attn-skip-freq", model->full_every);
        }
    }
    if (model->query_gate) {
        launch_switch(l, "--attention-output-gate");
    }
    /* Linear layers, with full attention in every n-th. */
    if (delta->value_heads > 0) {
        launch_put(l, MYR_LAUNCH_TEXT, "--experimental-attention-variant", "gated_delta_net");
        if (model->full_every > 0) {
            launch_number(l, "--linear-attention-freq", model->full_every);
        }
        launch_number(l, "--linear-num-key-heads", delta->key_heads);
        launch_number(l, "--linear-key-head-dim", delta->key_dim);
        launch_number(l, "--linear-num-value-heads", delta->value_heads);
        launch_number(l, "--linear-value-head-dim", delta->value_dim);
        launch_number(l, "--linear-conv-kernel-dim", delta->taps);
    }
    /* Chooses the tokens that attention looks at. */
    if (index->head_count > 0) {
        launch_put(l, MYR_LAUNCH_TEXT, "--experimental-attention-variant", "dsa");
        launch_number(l, "--dsa-indexer-n-heads", index->head_count);
        launch_number(l, "--dsa-indexer-head-dim", index->head_dim);
        launch_number(l, "--dsa-indexer-topk", index->kept_tokens);
    }
}

/* A description need not tell the activation function: what is taken then is said. */
static void ffn_args(const struct myr_model *model, struct myr_launch *l)
{
    enum myr_activation act = model->details.activation;
    /* Where every layer has experts the plain width is never used, but asked for. */
    launch_number(l, "--ffn-hidden-size",
                  model->ffn_hidden ? model->ffn_hidden : model->moe.expert_hidden);
    if (model->gated && (act == MYR_ACTIVATION_SILU || act == MYR_ACTIVATION_UNKNOWN)) {
        launch_switch(l, "--swiglu");
    } else if (model->gated) {
        launch_switch(l, "--swiglu");
        launch_note(l, "the model's gate is not SiLU, which this trainer has no argument for: set "
                       "activation_func in its configuration");
    } else if (act == MYR_ACTIVATION_RELU2) {
        launch_switch(l, "--squared-relu");
    } else if (act == MYR_ACTIVATION_RELU || act == MYR_ACTIVATION_OTHER) {
        launch_note(l, "the model's activation function is none that this trainer has an argument "
                       "for: GELU as it stands");
    }
    if (act == MYR_ACTIVATION_UNKNOWN) {
        launch_note(l,
                    "the description of the model does not say its activation function: %s is "
                    "taken",
                    model->gated ? "SiLU" : "GELU");
    }
}

/* All, none, or queries, keys and values alone: other mixtures are notes. */
static void bias_args(const struct myr_model *model, struct myr_launch *l)
{
    bool all = model->qkv_bias && model->out_bias && model->ffn_bias;
    if (all) {
        return; /* as it comes */
    }
    launch_switch(l, "--disable-bias-linear");
    if (model->qkv_bias) {
        launch_switch(l, "--add-qkv-bias");
    }
    if (model->out_bias || model->ffn_bias) {
        launch_note(l, "biases of %s alone are not this trainer's",
                    model->out_bias ? "attention's output" : "feed-forward layers");
    }
}

/* Two kinds of norms, two in a layer: all else is a note. */
static void norm_args(const struct myr_model *model, struct myr_launch *l)
{
    launch_put(l, MYR_LAUNCH_TEXT, "--normalization",
               model->norm == MYR_NORM_RMS ? "RMSNorm" : "LayerNorm");
    if (model->details.norm_epsilon > 0) {
        launch_put(l, MYR_LAUNCH_NUMBER, "--norm-epsilon", "%s",
                   launch_double(l, model->details.norm_epsilon));
    }
    if (model->norm == MYR_NORM_BARE) {
        launch_note(l, "norms without weights are not this trainer's");
    }
    if (model->norms_per_layer != 2) {
        launch_note(l, "%u norms a layer: this trainer's layers have two", model->norms_per_layer);
    }
    if (model->embedding_norm) {
        launch_note(l, "the norm behind the embedding is not this trainer's");
    }
}

/* The table, or the rotation, must reach the whole sequence. */
static void position_args(const struct myr_model *model, const struct myr_layout *layout,
                          struct myr_launch *l)
{
    const struct myr_model_details *details = &model->details;
    uint32_t most = myr_layout_seq(layout, model);
    most = model->position_max > most ? model->position_max : most;
    launch_number(l, "--max-position-embeddings", most);
    switch (model->positions) {
    case MYR_POSITIONS_LEARNED:
        launch_put(l, MYR_LAUNCH_TEXT, "--position-embedding-type", "learned_absolute");
        return;
    case MYR_POSITIONS_NONE:
        launch_put(l, MYR_LAUNCH_TEXT, "--position-embedding-type", "none");
        launch_note(l, "the model has no table of positions; where it has slopes (ALiBi) this "
                       "trainer has not");
        return;
    case MYR_POSITIONS_ROTARY:
        break;
    }
    launch_put(l, MYR_LAUNCH_TEXT, "--position-embedding-type", "rope");
    if (details->rotary_base > 0) {
        launch_number(l, "--rotary-base", (uint64_t)details->rotary_base);
    } else {
        launch_note(l, "the description of the model does not say the base of its rotation: "
                       "10000 is taken");
    }
    /* Only a part of each head is turned. */
    if (details->rotary_share > 0 && details->rotary_share < 1) {
        launch_put(l, MYR_LAUNCH_NUMBER, "--rotary-percent", "%s",
                   launch_double(l, details->rotary_share));
    }
    if (details->scaled_rotation) {
        launch_note(l, "the model's rotation is stretched for longer sequences, which is left to "
                       "the training that needs it");
    }
}

/* Layers with experts: all; every n-th; or a list such as ([0]*3+[1]*58). */
static void moe_layers_arg(const struct myr_model *model, struct myr_launch *l)
{
    const struct myr_moe *moe = &model->moe;
    uint32_t layers = model->layer_count, count = myr_model_moe_layers(model, 0, layers);
    /* The trainer's own default: experts in every layer. */
    if (count == layers) {
        return;
    }
    /* Plain layers first, then experts in all of them. */
    if (moe->interval == 1) {
        launch_put(l, MYR_LAUNCH_TEXT, "--moe-layer-freq", "([0]*%u+[1]*%u)", moe->first_dense,
                   count);
        return;
    }
    /* A pattern that repeats is written once. */
    if (layers % moe->interval == 0 && moe->first_dense == moe->interval - 1) {
        launch_put(l, MYR_LAUNCH_TEXT, "--moe-layer-freq", "([0]*%u+[1])*%u", moe->first_dense,
                   layers / moe->interval);
        return;
    }
    /* No pattern: one number for every layer. */
    MYR_CLEANUP(myr_buf_done) struct myr_buf list = {};
    for (uint32_t i = 0; i < layers; i++) {
        myr_buf_printf(&list, "%s%u", i ? "," : "", myr_model_layer_is_moe(model, i) ? 1 : 0);
    }
    launch_put(l, MYR_LAUNCH_TEXT, "--moe-layer-freq", "[%s]", list.data);
}

/* How tokens find their experts, as far as the model's description says. */
static void router_args(const struct myr_model *model, struct myr_launch *l)
{
    const struct myr_model_details *details = &model->details;
    const struct myr_moe *moe = &model->moe;
    launch_number(l, "--moe-router-topk", moe->experts_per_token);
    /* A bias of scores is only there with sigmoid in this trainer. */
    if (details->sigmoid_scores || moe->score_bias) {
        launch_put(l, MYR_LAUNCH_TEXT, "--moe-router-score-function", "sigmoid");
    }
    if (moe->experts_per_token == 1 && !details->sigmoid_scores && !moe->score_bias) {
        launch_switch(l, "--moe-router-pre-softmax"); /* behind it one expert's score is always 1 */
    }
    if (moe->score_bias) {
        launch_switch(l, "--moe-router-enable-expert-bias");
    }
    if (details->routed_scale > 0 && details->routed_scale != 1) {
        launch_put(l, MYR_LAUNCH_NUMBER, "--moe-router-topk-scaling-factor", "%s",
                   launch_double(l, details->routed_scale));
    }
    if (details->expert_groups > 1 && details->groups_per_token > 0) {
        launch_number(l, "--moe-router-num-groups", details->expert_groups);
        launch_number(l, "--moe-router-group-topk", details->groups_per_token);
    }
    /* Balance is the user's to choose; this is a common beginning. */
    launch_put(l, MYR_LAUNCH_TEXT, "--moe-router-load-balancing-type", "aux_loss");
    launch_put(l, MYR_LAUNCH_NUMBER, "--moe-aux-loss-coeff", "0.001");
    if (moe->router_bias) {
        launch_note(l, "the router's bias is not this trainer's");
    }
}

/* Nothing for a dense model. */
static void moe_args(const struct myr_model *model, struct myr_launch *l)
{
    const struct myr_moe *moe = &model->moe;
    if (moe->expert_count == 0) {
        return;
    }
    launch_number(l, "--num-experts", moe->expert_count);
    launch_number(l, "--moe-ffn-hidden-size", moe->expert_hidden);
    moe_layers_arg(model, l);
    /* One block as wide as all shared experts together. */
    if (moe->shared_count > 0) {
        launch_number(l, "--moe-shared-expert-intermediate-size",
                      (uint64_t)moe->shared_count * moe->shared_hidden);
        if (moe->shared_gate) {
            launch_switch(l, "--moe-shared-expert-gate");
        }
    }
    router_args(model, l);
}

/* Arguments that say what the model is; what they cannot say becomes notes. */
void launch_megatron_model(const struct myr_launch_case *of, struct myr_launch *l)
{
    const struct myr_model *model = of->model;
    launch_number(l, "--num-layers", model->layer_count);
    launch_number(l, "--hidden-size", model->hidden);
    attention_args(model, l);
    other_attention_args(model, l);
    ffn_args(model, l);
    norm_args(model, l);
    bias_args(model, l);
    position_args(model, of->layout, l);
    moe_args(model, l);
    if (model->mtp_count > 0) {
        launch_number(l, "--mtp-num-layers", model->mtp_count);
    }
    if (!model->tied) {
        launch_switch(l, "--untie-embeddings-and-output-weights");
    }
    if (model->head_bias) {
        launch_note(l, "the output matrix's bias is not this trainer's");
    }
    if (!model->causal) {
        launch_note(l, "attention over the whole sequence, both ways, is not this trainer's");
    }
    /* The trainer drops a tenth by itself unless told not to. */
    if (!model->dropout) {
        launch_number(l, "--attention-dropout", 0);
        launch_number(l, "--hidden-dropout", 0);
    }
}
