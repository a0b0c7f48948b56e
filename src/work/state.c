#include "myriad/work/state.h"

#include "stage.h"

/* Bytes a token that one part of a layer keeps on a rank. */
struct kept {
    uint64_t whole; /* for each token between the tensor-parallel parts */
    uint64_t cut;   /* for each token of the rank's sequence part */
};

/*
 * Bytes of what is kept. Products in low precision keep their input as they took it; attention
 * keeps its output beside that, and activation functions what they are given, unless the trainer
 * stores that in low precision too.
 */
struct widths {
    uint64_t plain;    /* between products */
    uint64_t input;    /* of a product */
    uint64_t attended; /* output of attention, which is a product's input */
    uint64_t widened;  /* what an activation function is given */
};

static struct widths widths_of(const struct myr_layout *layout)
{
    uint64_t a = myr_layout_numerics(layout).activation_bytes;
    bool low = layout->precision == MYR_PRECISION_FP8 || layout->precision == MYR_PRECISION_MXFP8 ||
               layout->precision == MYR_PRECISION_NVFP4;
    if (!low) {
        return (struct widths){a, a, a, a};
    }
    return layout->low_kept ? (struct widths){a, 1, 1, 1} : (struct widths){a, 1, a + 1, a};
}

/* Input of both parts of a layer, unless it comes from its norm again. */
static uint64_t input_bytes(const struct myr_layout *layout, const struct myr_model *model)
{
    bool again = layout->recompute_parts & MYR_AGAIN(NORM);
    return again ? 0 : widths_of(layout).input * model->hidden;
}

/*
 * What backward needs of each operation, after Korthikanti et al., "Reducing activation
 * recomputation in large transformer models" (2022), section 4, in general form: inputs of
 * matrices and norms, dropout masks of one byte, scores unless flash attention makes them again.
 */
static struct kept attention_kept(const struct myr_layout *layout, const struct myr_model *model)
{
    struct widths w = widths_of(layout);
    uint64_t heads = model->head_count / layout->tp;
    uint64_t qk = myr_model_qk_dim(model);
    uint64_t v = myr_model_v_dim(model);
    uint64_t kv_heads = myr_work_kv_heads(model, layout->tp);
    struct kept kept = {.whole = input_bytes(layout, model)};
    kept.whole += model->dropout ? model->hidden : 0;
    if (myr_model_is_mla(model)) {
        const struct myr_mla *mla = &model->mla;
        kept.whole +=
            w.plain * (2 * (uint64_t)mla->q_rank + 2 * (uint64_t)mla->kv_rank + mla->rope_dim);
    }
    kept.cut = w.plain * (heads * qk + kv_heads * (qk + v)) + w.attended * heads * v;
    if (myr_model_is_mla(model) && layout->recompute_parts & MYR_AGAIN(LATENT_UP)) {
        kept.cut = w.attended * heads * v; /* queries, keys and values come from the latents */
    }
    if (layout->flash_attention) {
        kept.cut += 4 * heads; /* logarithm of the sum of exponentials, fp32 */
    } else if (layout->recompute == MYR_RECOMPUTE_NONE) {
        uint64_t score_bytes = w.plain + (model->dropout ? 1 + w.plain : 0);
        kept.cut += score_bytes * heads * myr_layout_seq(layout, model);
    }
    return kept;
}

/* Bytes of one column of an FFN: what its activation function takes, and what it gives. */
static uint64_t column_bytes(const struct myr_layout *layout, const struct myr_model *model,
                             bool again)
{
    struct widths w = widths_of(layout);
    return (model->gated ? 2 : 1) * w.widened + (again ? 0 : w.input);
}

/* Input, what the activation function is given, and the mask of dropout. */
static struct kept ffn_kept(const struct myr_layout *layout, const struct myr_model *model)
{
    bool again = layout->recompute_parts & MYR_AGAIN(FFN);
    uint64_t column = column_bytes(layout, model, layout->recompute_parts & MYR_AGAIN(ACTIVATION));
    return (struct kept){
        .whole = input_bytes(layout, model) + (model->dropout ? model->hidden : 0),
        .cut = again ? 0 : column * (model->ffn_hidden / layout->tp),
    };
}

/* Tokens' shares weigh what experts make inside, so that their sum needs nothing kept. */
static struct kept moe_kept(const struct myr_layout *layout, const struct myr_model *model)
{
    const struct myr_moe *moe = &model->moe;
    struct widths w = widths_of(layout);
    uint64_t etp = myr_layout_etp(layout);
    uint64_t k = moe->experts_per_token;
    /* Under sequence parallelism etp ranks' tokens are gathered for each cut expert. */
    uint64_t arrived = layout->sequence_parallel ? etp : 1;
    uint64_t column =
        column_bytes(layout, model, layout->recompute_parts & MYR_AGAIN(EXPERT_ACTIVATION));
    uint64_t routed = k * (w.input * model->hidden + column * (moe->expert_hidden / etp));
    uint64_t shared = column_bytes(layout, model, false);
    return (struct kept){
        .whole = input_bytes(layout, model) + 4 * (uint64_t)moe->expert_count + arrived * routed,
        .cut = shared * moe->shared_count * (moe->shared_hidden / layout->tp),
    };
}

/*
 * What PyTorch's own operators keep of a layer with experts or without, for each token: counted
 * operator by operator, and measured within a few percent (docs/fit.md). In units of bytes:
 *
 *   eager     a norm written out in Python keeps its input in fp32, the normalised input and what
 *             it hands on (8 h); attention queries, keys, values (repeated to all heads) and its
 *             output; a gated FFN the gate, its activation, the other half and their product
 *   compiled  a norm its input and output (4 h); attention the same; the FFN three of its four
 *   autocast  residuals are fp32, and every product takes a bf16 copy of its input of its own
 *   selective every second product and attention's output: what torchtitan's policy saves
 */
static struct kept torch_kept(const struct myr_layout *layout, const struct myr_model *model,
                              bool moe)
{
    uint64_t h = model->hidden, heads = model->head_count / layout->tp;
    uint64_t q = heads * myr_model_qk_dim(model), v = heads * myr_model_v_dim(model);
    uint64_t kv = (uint64_t)myr_work_kv_heads(model, layout->tp) * myr_model_v_dim(model);
    uint64_t f = moe ? 0 : model->ffn_hidden / layout->tp;
    uint64_t halves = model->gated ? 2 : 1;
    bool eager = layout->kernels == MYR_KERNELS_EAGER;
    bool autocast = layout->weights == MYR_WEIGHTS_FP32;
    if (layout->recompute == MYR_RECOMPUTE_SELECTIVE) {
        return (struct kept){.whole = 4 * h, .cut = 2 * q + 2 * kv + 2 * v + 2 * f};
    }
    uint64_t norm = eager ? (autocast ? 13 : 8) : autocast ? 6 : 4;
    return (struct kept){
        .whole = norm * h * model->norms_per_layer + h,
        .cut = 2 * (2 * q + 2 * v) + (eager ? 4 : 3) * f * halves,
    };
}

/* Everything a layer keeps when nothing is computed again ('full' rebuilds it layer by layer). */
static uint64_t whole_layer_bytes(const struct myr_layout *layout, const struct myr_model *model,
                                  bool moe)
{
    uint64_t a = myr_layout_numerics(layout).activation_bytes;
    if (layout->kernels != MYR_KERNELS_FUSED) {
        struct kept torch = torch_kept(layout, model, moe);
        struct kept experts = moe ? moe_kept(layout, model) : (struct kept){0, 0};
        return clamp_u64((myr_u128)(torch.whole + experts.whole) *
                             myr_work_tokens_between(layout, model) +
                         (myr_u128)(torch.cut + experts.cut) * myr_work_tokens(layout, model));
    }
    struct kept attention = attention_kept(layout, model);
    struct kept ffn = moe ? moe_kept(layout, model) : ffn_kept(layout, model);
    uint64_t norms = a * model->hidden * model->norms_per_layer;
    myr_u128 whole =
        (myr_u128)(attention.whole + ffn.whole + norms) * myr_work_tokens_between(layout, model);
    return clamp_u64(whole + (myr_u128)(attention.cut + ffn.cut) * myr_work_tokens(layout, model));
}

/* With 'full' only the layer's input is kept; the rest is made again from it. */
uint64_t myr_layer_activation_bytes(const struct myr_layout *layout, const struct myr_model *model,
                                    bool moe)
{
    if (layout->recompute == MYR_RECOMPUTE_FULL) {
        uint64_t a = myr_layout_numerics(layout).activation_bytes;
        return clamp_u64((myr_u128)(a * model->hidden) * myr_work_tokens_between(layout, model));
    }
    return whole_layer_bytes(layout, model, moe);
}

/* Bytes that layers of both kinds keep: those left alone, and those that are made again. */
struct layer_bytes {
    myr_u128 dense, moe, dense_again, moe_again;
};

/*
 * Where only some layers are recomputed the others keep what a layout without recomputation does.
 */
static struct layer_bytes layer_bytes(const struct myr_layout *layout,
                                      const struct myr_model *model)
{
    struct myr_layout alone = *layout;
    if (layout->recompute == MYR_RECOMPUTE_FULL && layout->recompute_layers > 0) {
        alone.recompute = MYR_RECOMPUTE_NONE;
    }
    return (struct layer_bytes){
        .dense = myr_layer_activation_bytes(&alone, model, false),
        .moe = myr_layer_activation_bytes(&alone, model, true),
        .dense_again = myr_layer_activation_bytes(layout, model, false),
        .moe_again = myr_layer_activation_bytes(layout, model, true),
    };
}

/* The first layers of a chunk are those that are made again. */
static myr_u128 span_bytes(const struct myr_layout *layout, const struct myr_model *model,
                           const struct layer_bytes *bytes, struct myr_span span)
{
    uint32_t again = myr_work_again(layout, span);
    uint32_t moe_again = myr_model_moe_layers(model, span.first, again);
    uint32_t moe = myr_model_moe_layers(model, span.first, span.count) - moe_again;
    MYR_ASSERT(again <= span.count && again + moe <= span.count);
    uint32_t dense = span.count - again - moe;
    return bytes->dense * dense + bytes->moe * moe + bytes->dense_again * (again - moe_again) +
           bytes->moe_again * moe_again;
}

/* Each chunk as often as micro-batches are in flight in it, less what waits on the host. */
static myr_u128 stage_activations(const struct myr_layout *layout, const struct myr_model *model,
                                  uint32_t stage)
{
    struct layer_bytes bytes = layer_bytes(layout, model);
    uint32_t last_chunk = layout->pp * layout->vp - 1, layers = 0;
    myr_u128 sum = 0;
    for (uint32_t i = 0; i < myr_layout_stage_chunk_count(layout); i++) {
        uint32_t chunk = myr_layout_stage_chunk(layout, stage, i);
        struct myr_span span = myr_layout_chunk_layers(layout, model, chunk);
        myr_u128 one = span_bytes(layout, model, &bytes, span);
        if (chunk == 0 && model->dropout) {
            one += (myr_u128)model->hidden * myr_work_tokens_between(layout, model);
        }
        if (chunk == last_chunk && model->mtp_count > 0) {
            one += (myr_work_mtp_is_moe(model) ? bytes.moe : bytes.dense) * model->mtp_count;
        }
        sum += one * myr_layout_in_flight(layout, stage, i);
        layers += span.count;
    }
    uint32_t away = layout->offload_layers < layers ? layout->offload_layers : layers;
    return layers ? sum / layers * (layers - away) : sum;
}

/*
 * What a loss needs for each logit. Operator by operator: three of fp32 (logits or their gradient,
 * logarithms, the gradient that comes out). Where the trainer asks the allocator for bf16 logits
 * first and says what it reserved, their block is counted too: nothing of fp32 fits in it. One
 * graph with the model: bf16 logits and gradient, or those alone. Megatron's own keeps exponents
 * in fp32; a fused kernel writes the gradient over the logits and works beside them.
 */
static uint64_t logit_bytes(const struct myr_layout *layout)
{
    bool cast = layout->weights == MYR_WEIGHTS_CAST;
    switch (layout->kernels) {
    case MYR_KERNELS_EAGER:
        return cast ? 14 : 12;
    case MYR_KERNELS_COMPILED:
        return !cast ? 2 : layout->fused_loss ? 4 : 14;
    case MYR_KERNELS_FUSED:
        break;
    }
    return layout->fused_loss ? 4 : 6;
}

/* The loss follows its forward pass at once, so there is one micro-batch's worth of logits. */
static myr_u128 output_bytes(const struct myr_layout *layout, const struct myr_model *model)
{
    uint64_t a = myr_layout_numerics(layout).activation_bytes;
    uint64_t columns = ((uint64_t)model->vocab + layout->tp - 1) / layout->tp;
    uint64_t logit = logit_bytes(layout);
    myr_u128 one = (myr_u128)(2 * a * model->hidden) * myr_work_tokens_between(layout, model) +
                   (myr_u128)(logit * columns) * myr_work_tokens(layout, model);
    return one * (1 + model->mtp_count);
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* What exists only while a layer is being worked on. */
static myr_u128 working_bytes(const struct myr_layout *layout, const struct myr_model *model,
                              const struct stage *parts)
{
    struct weights_share share = myr_work_share(layout);
    uint64_t weight = myr_layout_numerics(layout).gather_bytes;
    uint64_t activations = 0;
    uint64_t weights = 0;
    bool mtp_moe = parts->mtp_count > 0 && myr_work_mtp_is_moe(model);
    if (parts->dense_layers > 0 || (parts->mtp_count > 0 && !mtp_moe)) {
        activations = whole_layer_bytes(layout, model, false);
        weights = weights_sum(myr_work_layer(model, false, share));
    }
    if (parts->moe_layers > 0 || mtp_moe) {
        activations = max_u64(activations, whole_layer_bytes(layout, model, true));
        weights = max_u64(weights, weights_sum(myr_work_layer(model, true, share)));
    }
    myr_u128 sum = layout->recompute == MYR_RECOMPUTE_FULL ? activations : 0;
    if (layout->zero == 3) {
        sum += 2 * (myr_u128)weights * weight; /* the one in use and the next */
    }
    return sum;
}

/* Copies are written once: by the tensor group together, by one of two stages. */
static uint64_t rank_checkpoint(const struct myr_layout *layout, const struct myr_model *model,
                                const struct stage *parts, const struct myr_rank_params *params)
{
    struct myr_numerics n = myr_layout_numerics(layout);
    uint64_t each = n.weight_bytes + n.optimiser_bytes;
    uint64_t sharded = params->sharded;
    if (parts->has_copy) {
        sharded -= weights_sum(myr_work_head(model, layout->tp));
    }
    uint64_t copies = layout->schedule == MYR_SCHEDULE_DUALPIPE ? 2 : 1;
    uint64_t replicas = (uint64_t)layout->dp * layout->cp * copies;
    return divide_up((myr_u128)sharded * each, replicas) +
           divide_up((myr_u128)params->replicated * each, replicas * layout->tp) +
           divide_up((myr_u128)params->expert * each, myr_layout_edp(layout) * copies);
}

/*
 * PyTorch frees gradients after each step, so that with one micro-batch in it there are two
 * moments to look at: the loss, with all activations and no gradients, and the end of the backward
 * pass, with gradients alone. The compiler's graph hands them out at its end, and adds up the
 * embedding's in fp32. Autocast keeps bf16 copies of the weights until then.
 */
static void torch_moment(const struct myr_layout *layout, const struct myr_model *model,
                         const struct myr_rank_params *params, const struct stage *parts,
                         struct myr_state *state)
{
    myr_u128 held = (myr_u128)params->sharded + params->replicated + params->expert;
    myr_u128 copies = layout->weights == MYR_WEIGHTS_FP32 ? 2 * held : 0;
    if (myr_layout_micro_batches(layout) > 1 || layout->pp > 1) {
        state->working_bytes = clamp_u64(state->working_bytes + copies);
        return;
    }
    bool wide = layout->kernels == MYR_KERNELS_COMPILED && layout->weights == MYR_WEIGHTS_BF16;
    uint64_t table = parts->has_first ? weights_sum(myr_work_head(model, layout->tp)) : 0;
    myr_u128 end = (myr_u128)state->gradient_bytes + (wide ? 4 * (myr_u128)table : 0);
    myr_u128 loss = (myr_u128)state->activation_bytes + state->output_bytes + copies;
    if (loss >= end) {
        state->gradient_bytes = 0;
        state->working_bytes = clamp_u64(state->working_bytes + copies);
    } else {
        state->activation_bytes = 0;
        state->output_bytes = 0;
        state->working_bytes = clamp_u64(state->working_bytes + end - state->gradient_bytes);
    }
}

/*
 * FSDP keeps the embedding and the output gathered, with their gradients, and one layer's products
 * while it is made again; tensor groups gather inputs and scatter outputs of whole sequences (an
 * input, what is to be scattered, and the gradients of both). With a pipeline weights stay gathered
 * for the step, and gradients add up whole until each layer's are scattered to their fp32 shares;
 * PyTorch's stages have a buffer for each micro-batch that comes in from either side, and keep what
 * they handed on until its gradient is there.
 */
static void fsdp_moment(const struct myr_layout *layout, const struct myr_model *model,
                        const struct myr_rank_params *params, struct myr_state *state)
{
    struct myr_layout whole = *layout;
    myr_u128 held = (myr_u128)params->sharded + params->replicated + params->expert;
    myr_u128 roots = 2 * (myr_u128)weights_sum(myr_work_head(model, layout->tp));
    myr_u128 sum = state->working_bytes;
    whole.recompute = MYR_RECOMPUTE_NONE;
    if (layout->zero == 3 && layout->pp > 1) {
        state->weight_bytes = clamp_u64(state->weight_bytes + 2 * held);
        state->gradient_bytes = clamp_u64(4 * held + divide_up(4 * held, myr_layout_shard(layout)));
        myr_u128 layer = weights_sum(myr_work_layer(model, false, myr_work_share(layout)));
        myr_u128 between = (myr_u128)(2 * model->hidden) * myr_work_tokens_between(layout, model);
        uint32_t batches = myr_layout_micro_batches(layout);
        uint32_t flights = batches < layout->pp ? batches : layout->pp;
        sum += 4 * layer + between * (2 * (uint64_t)batches + flights);
    } else if (layout->zero == 3) {
        sum += 4 * roots;
    }
    if (layout->recompute == MYR_RECOMPUTE_SELECTIVE) {
        sum += whole_layer_bytes(&whole, model, false);
    }
    if (layout->tp > 1) {
        sum += (myr_u128)(8 * model->hidden) * myr_work_tokens(layout, model);
    }
    state->working_bytes = clamp_u64(sum);
}

/* One rank of a stage: all of them hold as much, but for rounding. */
struct myr_state myr_state_of(const struct myr_layout *layout, const struct myr_model *model,
                              uint32_t stage)
{
    struct myr_numerics n = myr_layout_numerics(layout);
    struct stage parts = myr_work_stage(layout, model, stage);
    struct myr_rank_params params = myr_rank_params(layout, model, stage);
    myr_u128 dense = params.sharded + params.replicated;
    myr_u128 expert = params.expert;
    /* ZeRO-1 cuts the optimiser's state, 2 also gradients, 3 also weights. */
    uint64_t cut = myr_layout_shard(layout);
    uint64_t expert_cut = myr_layout_expert_shard(layout);
    uint64_t weight_cut = layout->zero >= 3 ? cut : 1;
    uint64_t gradient_cut = layout->zero >= 2 ? cut : 1;
    uint64_t expert_weight_cut = layout->zero >= 3 ? expert_cut : 1;
    uint64_t expert_gradient_cut = layout->zero >= 2 ? expert_cut : 1;
    struct myr_state state = {
        .weight_bytes = divide_up(dense * n.weight_bytes, weight_cut) +
                        divide_up(expert * n.weight_bytes, expert_weight_cut),
        .gradient_bytes = divide_up(dense * n.gradient_bytes, gradient_cut) +
                          divide_up(expert * n.gradient_bytes, expert_gradient_cut),
        .optimiser_bytes = divide_up(dense * n.optimiser_bytes, cut) +
                           divide_up(expert * n.optimiser_bytes, expert_cut),
        .activation_bytes = clamp_u64(stage_activations(layout, model, stage)),
        .output_bytes = parts.has_last ? clamp_u64(output_bytes(layout, model)) : 0,
        .working_bytes = clamp_u64(working_bytes(layout, model, &parts)),
        .checkpoint_bytes = rank_checkpoint(layout, model, &parts, &params),
    };
    /* First what FSDP adds, then which of PyTorch's moments is the fullest. */
    if (layout->kernels != MYR_KERNELS_FUSED && layout->weights == MYR_WEIGHTS_CAST) {
        fsdp_moment(layout, model, &params, &state);
    }
    if (layout->kernels != MYR_KERNELS_FUSED) {
        torch_moment(layout, model, &params, &parts, &state);
    }
    state.total_bytes =
        clamp_u64((myr_u128)state.weight_bytes + state.gradient_bytes + state.optimiser_bytes +
                  state.activation_bytes + state.output_bytes + state.working_bytes);
    return state;
}

/* The first of equals; which stage that is depends on layers, ends and micro-batches in flight. */
struct myr_state myr_state_fullest(const struct myr_layout *layout, const struct myr_model *model,
                                   uint32_t *ret_stage)
{
    struct myr_state fullest = myr_state_of(layout, model, 0);
    *ret_stage = 0;
    for (uint32_t stage = 1; stage < layout->pp; stage++) {
        struct myr_state state = myr_state_of(layout, model, stage);
        if (state.total_bytes > fullest.total_bytes) {
            fullest = state;
            *ret_stage = stage;
        }
    }
    return fullest;
}

/* Of the whole model: weights and the optimiser's state, gradients are not saved. */
uint64_t myr_checkpoint_bytes(const struct myr_model *model, enum myr_precision precision)
{
    struct myr_numerics n = myr_numerics_of(precision);
    struct myr_params params = myr_model_params(model);
    return (params.total + params.mtp) * (n.weight_bytes + n.optimiser_bytes);
}
