/*
 * DeepSpeed: its configuration, and Megatron-DeepSpeed's arguments for what it has not itself. The
 * library shards and accumulates; tensor, pipeline and sequence parallelism come from the program
 * around it. What neither of them does is told in notes.
 */
#include "launch_list.h"

#define CONFIG_NUMBER(l, name, value) \
    launch_config(l, MYR_LAUNCH_NUMBER, name, "%u", (unsigned)(value))
#define CONFIG_BOOL(l, name, value) \
    launch_config(l, MYR_LAUNCH_BOOL, name, (value) ? "true" : "false")

/* The library's own file. What it cannot do is a note, so that nobody takes the prediction for it.
 */
static void config_items(const struct myr_launch_case *of, struct myr_launch *l)
{
    const struct myr_layout *layout = of->layout;
    bool fp16 = layout->precision == MYR_PRECISION_FP16;
    /* Neither of both is enabled then. */
    bool fp32 = layout->precision == MYR_PRECISION_FP32;
    /* Shards smaller than all replicas: as many copies of the state. */
    uint32_t copies = layout->shard ? layout->dp * layout->cp / layout->shard : 1;
    CONFIG_NUMBER(l, "train_batch_size", layout->global_batch);
    CONFIG_NUMBER(l, "train_micro_batch_size_per_gpu", layout->micro_batch);
    CONFIG_NUMBER(l, "gradient_accumulation_steps", myr_layout_micro_batches(layout));
    CONFIG_NUMBER(l, "zero_optimization.stage", layout->zero);
    if (copies > 1 && layout->zero == 3) {
        CONFIG_NUMBER(l, "zero_optimization.mics_shard_size", layout->shard);
    }
    /* Where no release is known nothing speaks against it. */
    CONFIG_BOOL(l, "zero_optimization.overlap_comm", !of->stack || of->stack->overlap_data);
    CONFIG_BOOL(l, fp16 ? "fp16.enabled" : "bf16.enabled", !fp32);
    if (copies > 1 && layout->zero > 0 && layout->zero < 3) {
        launch_note(l, "shards smaller than all replicas need ZeRO-3 (MiCS)");
    }
    if (layout->pp > 1 && layout->zero >= 2) {
        launch_note(l, "its pipelines run with ZeRO-0 and 1 only");
    }
    if (layout->pp > 1 && layout->schedule != MYR_SCHEDULE_1F1B) {
        launch_note(l, "this trainer has no schedule '%s'", myr_schedule_name(layout->schedule));
    }
}

/* Axes that the library itself does not have. */
static void axis_items(const struct myr_launch_case *of, struct myr_launch *l)
{
    const struct myr_layout *layout = of->layout;
    bool experts = of->model->moe.expert_count > 0 && layout->ep > 1;
    /* One of the two ways to cut a sequence only. */
    bool sequence = layout->sequence_parallel && layout->tp > 1 && layout->cp == 1;
    if (layout->cp > 1 && (layout->tp > 1 || layout->pp > 1)) {
        launch_note(l, "it has context parallelism only without tensor and pipeline parallelism");
    }
    launch_number(l, "--tensor-model-parallel-size", layout->tp);
    launch_number(l, "--pipeline-model-parallel-size", layout->pp);
    launch_number(l, "--ds-sequence-parallel-size", layout->cp);
    if (layout->pp == 1) { /* a pipeline to it as well, unless told otherwise: no ZeRO-2 then */
        launch_switch(l, "--no-pipeline-parallel");
    }
    if (sequence) {
        launch_switch(l, "--sequence-parallel");
    }
    if (experts) {
        launch_number(l, "--moe-expert-parallel-size", layout->ep);
    }
    /* It knows whole layers or the core of attention, nothing between. */
    if (layout->recompute == MYR_RECOMPUTE_FULL) {
        launch_switch(l, "--checkpoint-activations");
        if (layout->recompute_layers > 0) {
            launch_note(l, "it makes all layers again, not the first ones of each chunk");
        }
    } else if (layout->recompute == MYR_RECOMPUTE_SELECTIVE) {
        launch_put(l, MYR_LAUNCH_TEXT, "--recompute-granularity", "selective");
    }
}

/* What the prediction counts on and this pair of programs has no switch for. */
static void capability_notes(const struct myr_launch_case *of, struct myr_launch *l)
{
    static const struct {
        enum myr_capability capability;
        uint32_t least; /* of a value that counts */
        const char *what;
    } rows[] = {
        {MYR_CAPABILITY_DISPATCHER, MYR_DISPATCH_DEEPEP, "tokens sent once a scale-up domain"},
        {MYR_CAPABILITY_GRAPHS, MYR_GRAPHS_ROUTER, "CUDA graphs"},
        {MYR_CAPABILITY_GROUPED, MYR_GROUPED_KERNEL, "grouped products of experts"},
        {MYR_CAPABILITY_TENSOR_OVERLAP, 1, "transfers of tensor groups cut and hidden"},
        {MYR_CAPABILITY_EXPERT_OVERLAP, 1, "all-to-alls behind another micro-batch"},
    };
    const struct myr_layout *layout = of->layout;
    bool experts = of->model->moe.expert_count > 0;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        /* Graphs and tensor groups matter to any model, the rest to experts only. */
        bool dense = rows[i].capability == MYR_CAPABILITY_GRAPHS ||
                     rows[i].capability == MYR_CAPABILITY_TENSOR_OVERLAP;
        /* Counted in the recipe, but nothing to do in this layout. */
        bool idle = (rows[i].capability == MYR_CAPABILITY_TENSOR_OVERLAP && layout->tp == 1) ||
                    (rows[i].capability == MYR_CAPABILITY_EXPERT_OVERLAP && layout->ep == 1);
        if (of->recipe && (dense || experts) && !idle &&
            launch_recipe(of, rows[i].capability, 0) >= rows[i].least) {
            launch_note(l, "counted, and nothing here switches it on: %s", rows[i].what);
        }
    }
    /* Whole layers made again have these parts in them. */
    if (of->recipe && layout->recompute_parts && layout->recompute == MYR_RECOMPUTE_NONE) {
        launch_note(l, "counted, and nothing here switches it on: parts of layers made again");
    }
    if (layout->offload_layers) {
        launch_note(l, "counted, and nothing here switches it on: activations in the host's "
                       "memory");
    }
    if (layout->precision == MYR_PRECISION_FP8 || layout->precision == MYR_PRECISION_MXFP8 ||
        layout->precision == MYR_PRECISION_NVFP4) {
        launch_note(l, "%s is up to the model's layers", myr_precision_name(layout->precision));
    }
}

/* Experts in its own words; what its layers cannot be is a note. */
static void moe_items(const struct myr_launch_case *of, struct myr_launch *l)
{
    const struct myr_moe *moe = &of->model->moe;
    if (moe->expert_count == 0) {
        return;
    }
    launch_number(l, "--num-experts", moe->expert_count);
    launch_number(l, "--topk", moe->experts_per_token);
    launch_number(l, "--expert-interval", moe->interval);
    /* ZeRO shards the state of experts apart from the rest. */
    launch_switch(l, "--create-moe-param-group");
    if (moe->experts_per_token > 2) {
        launch_note(l, "its gate sends a token to one or two experts, or drops: check the release");
    }
    if (moe->first_dense > 0 || moe->shared_count > 0 ||
        (of->model->ffn_hidden && moe->expert_hidden != of->model->ffn_hidden)) {
        launch_note(l, "its layers with experts have no shared ones, begin with the first, and are "
                       "as wide as the others");
    }
}

/* Megatron-DeepSpeed's words for the model; they differ from Megatron-LM's in small ways. */
static void model_items(const struct myr_launch_case *of, struct myr_launch *l)
{
    const struct myr_model *model = of->model;
    const struct myr_model_details *details = &model->details;
    bool rotary = model->positions == MYR_POSITIONS_ROTARY;
    /* The layout may train on shorter sequences than the model is made for. */
    uint32_t seq = myr_layout_seq(of->layout, model);
    launch_number(l, "--num-layers", model->layer_count);
    launch_number(l, "--hidden-size", model->hidden);
    /* Where every layer has experts, theirs. */
    launch_number(l, "--ffn-hidden-size",
                  model->ffn_hidden ? model->ffn_hidden : model->moe.expert_hidden);
    launch_number(l, "--num-attention-heads", model->head_count);
    launch_number(l, "--num-key-value-heads", model->kv_head_count);
    if (!myr_model_is_mla(model)) {
        launch_number(l, "--kv-channels", model->head_dim);
    }
    launch_number(l, "--seq-length", seq);
    launch_number(l, "--max-position-embeddings",
                  model->position_max > seq ? model->position_max : seq);
    launch_put(l, MYR_LAUNCH_TEXT, "--normalization",
               model->norm == MYR_NORM_RMS ? "rmsnorm" : "layernorm");
    if (details->norm_epsilon > 0) {
        launch_put(l, MYR_LAUNCH_NUMBER, "--layernorm-epsilon", "%s",
                   launch_double(l, details->norm_epsilon));
    }
    /* Without a known base the program's own stays. */
    if (rotary) {
        launch_switch(l, "--use-rotary-position-embeddings");
        if (details->rotary_base > 0) {
            launch_number(l, "--rotary-position-embeddings-theta", (uint64_t)details->rotary_base);
        }
    }
    if (model->positions != MYR_POSITIONS_LEARNED) {
        launch_switch(l, "--no-position-embedding");
    }
    if (model->gated || details->activation == MYR_ACTIVATION_RELU2) {
        launch_switch(l, model->gated ? "--swiglu" : "--squared-relu");
    }
    /* It has biases everywhere or nowhere. */
    if (!(model->qkv_bias && model->out_bias && model->ffn_bias)) {
        launch_switch(l, "--disable-bias-linear");
    }
    if (!model->tied) {
        launch_switch(l, "--untie-embeddings-and-output-weights");
    }
    if (of->layout->flash_attention) {
        launch_switch(l, "--use-flash-attn-v2");
    }
    moe_items(of, l);
    if (!model->dropout) {
        launch_number(l, "--attention-dropout", 0);
        launch_number(l, "--hidden-dropout", 0);
    }
}

/* Such a model has to be written first. */
const char *launch_deepspeed_lacks(const struct myr_model *model)
{
    const struct myr_moe *moe = &model->moe;
    return myr_model_is_mla(model)        ? "latent attention"
           : model->delta.value_heads > 0 ? "linear attention"
           : model->qk_norm               ? "norms of queries and keys"
           : model->attention_sink        ? "attention sinks"
           : model->window_tokens > 0     ? "a window"
           : model->norms_per_layer != 2  ? "more or fewer than two norms a layer"
           : model->norm == MYR_NORM_BARE ? "norms without weights"
           : moe->first_dense > 0         ? "experts that begin behind the first layer"
           : moe->shared_count > 0        ? "shared experts"
           : moe->experts_per_token > 2   ? "more than two experts a token"
                                          : NULL;
}

/* Without 'whole' only what the layout asks for: the model's arguments are left to the user. */
void launch_deepspeed(const struct myr_launch_case *of, struct myr_launch *l)
{
    config_items(of, l);
    if (!launch_usual_order(of->layout)) {
        launch_note_order(l);
    }
    axis_items(of, l);
    capability_notes(of, l);
    /* For a line beside a layout the axes are enough. */
    if (!of->whole) {
        return;
    }
    l->model_first = l->item_count;
    model_items(of, l);
    const char *lacks = launch_deepspeed_lacks(of->model);
    lacks = lacks || of->model->mtp_count == 0 ? lacks : "prediction modules";
    if (lacks) {
        launch_note(l, "Megatron-DeepSpeed's layers have no %s", lacks);
    }
    /* The wrapper asks again for what the file has: both must agree. */
    if (of->layout->precision != MYR_PRECISION_FP32) {
        launch_switch(l, of->layout->precision == MYR_PRECISION_FP16 ? "--fp16" : "--bf16");
    }
    launch_number(l, "--micro-batch-size", of->layout->micro_batch);
    launch_number(l, "--global-batch-size", of->layout->global_batch);
    launch_number(l, "--zero-stage", of->layout->zero);
}
