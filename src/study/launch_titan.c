/*
 * torchtitan: the items of its file, section by section. Names are those of its configuration, a
 * dot between section and key. Where its way differs from the layout (shards that hold context
 * ranks, two chunks a stage) the nearest is written and the difference noted.
 */
#include "launch_list.h"

/* As torch.distributed names them. */
static const char *schedule_name(const struct myr_layout *layout)
{
    switch (layout->schedule) {
    case MYR_SCHEDULE_INTERLEAVED:
        return "Interleaved1F1B";
    case MYR_SCHEDULE_ZERO_BUBBLE:
        return "InterleavedZeroBubble";
    case MYR_SCHEDULE_DUALPIPE:
        return "DualPipeV";
    case MYR_SCHEDULE_1F1B:
        break;
    }
    return "1F1B";
}

/*
 * Layers of a chunk, and how many fewer the outer stages have. Its schedules other than 1F1B need
 * two chunks a stage at least.
 */
static void stage_items(const struct myr_launch_case *of, struct myr_launch *l)
{
    const struct myr_layout *layout = of->layout;
    const struct myr_model *model = of->model;
    bool plain = layout->schedule == MYR_SCHEDULE_1F1B;
    bool fixed = layout->first_layers || layout->last_layers;
    uint32_t chunks = layout->pp * (plain ? 1 : layout->vp > 1 ? layout->vp : 2);
    uint32_t layers = model->layer_count;
    uint32_t first = myr_layout_chunk_layers(layout, model, 0).count;
    uint32_t last = myr_layout_chunk_layers(layout, model, layout->pp * layout->vp - 1).count;
    /* A stage in the middle has the most; with two stages the larger of both. */
    uint32_t most = layout->pp > 2 ? myr_layout_chunk_layers(layout, model, 1).count
                                   : (first > last ? first : last);
    launch_put(l, MYR_LAUNCH_TEXT, "parallelism.pipeline_parallel_schedule", "%s",
               schedule_name(layout));
    launch_number(l, "parallelism.pipeline_parallel_microbatch_size", layout->micro_batch);
    if (!plain && layout->vp == 1) {
        launch_note(l, "%s",
                    layout->schedule == MYR_SCHEDULE_DUALPIPE
                        ? "its DualPipe is the one with two chunks in a V, weights once"
                        : "its zero-bubble has two chunks a stage");
    }
    /* Only fewer layers in the outer stages can be said by number; all else needs a list. */
    bool even = !fixed && layers % chunks == 0;
    bool split = fixed && plain && first <= most && last <= most;
    if (!even && !split) {
        launch_note(l, "list the layers of each stage in parallelism.module_fqns_per_model_part");
        return;
    }
    launch_number(l, "parallelism.pipeline_parallel_layers_per_stage",
                  even ? layers / chunks : most);
    launch_number(l, "parallelism.pipeline_parallel_first_stage_less_layers",
                  even ? 0 : most - first);
    launch_number(l, "parallelism.pipeline_parallel_last_stage_less_layers",
                  even ? 0 : most - last);
}

/* Layers are converted one kind at a time; grouped products of experts apart. */
static void precision_items(const struct myr_launch_case *of, struct myr_launch *l)
{
    const struct myr_layout *layout = of->layout;
    bool experts = of->model->moe.expert_count > 0;
    bool rows = launch_recipe(of, MYR_CAPABILITY_SCALES, MYR_SCALES_CURRENT) == MYR_SCALES_ROWS;
    /* NULL: nothing is converted. */
    const char *format = NULL;
    switch (layout->precision) {
    case MYR_PRECISION_FP8:
        format = "float8";
        break;
    case MYR_PRECISION_MXFP8:
        format = "mx";
        break;
    case MYR_PRECISION_FP32:
        launch_put(l, MYR_LAUNCH_TEXT, "training.mixed_precision_param", "float32");
        break;
    case MYR_PRECISION_NVFP4:
    case MYR_PRECISION_FP16:
        launch_note(l, "this trainer has no %s", myr_precision_name(layout->precision));
        break;
    case MYR_PRECISION_BF16:
        break;
    }
    /* bf16 needs no conversion. */
    if (!format) {
        return;
    }
    if (experts) {
        launch_put(l, MYR_LAUNCH_WORDS, "model.converters",
                   "quantize.linear.%s quantize.grouped_mm.%s", format, format);
        launch_put(l, MYR_LAUNCH_WORDS,
                   layout->precision == MYR_PRECISION_FP8 ? "quantize.grouped_mm.float8.fqns"
                                                          : "quantize.grouped_mm.mx.fqns",
                   "experts");
    } else {
        launch_put(l, MYR_LAUNCH_WORDS, "model.converters", "quantize.linear.%s", format);
    }
    if (of->recipe && layout->precision == MYR_PRECISION_FP8 && rows) {
        launch_put(l, MYR_LAUNCH_TEXT, "quantize.linear.float8.recipe_name", "rowwise");
    } else if (of->recipe && layout->precision == MYR_PRECISION_FP8) {
        /* Scales by tensor allow to gather weights in float8, scales by rows do not. */
        launch_put(l, MYR_LAUNCH_BOOL, "quantize.linear.float8.enable_fsdp_float8_all_gather",
                   "true");
        launch_put(l, MYR_LAUNCH_BOOL,
                   "quantize.linear.float8.precompute_float8_dynamic_scale_for_fsdp", "true");
    }
}

/* Whole layers, chosen operators, or none. */
static void recompute_items(const struct myr_launch_case *of, struct myr_launch *l)
{
    const struct myr_layout *layout = of->layout;
    if (layout->recompute == MYR_RECOMPUTE_FULL && layout->recompute_layers > 0) {
        launch_note(l, "this trainer recomputes every n-th layer, not the first ones:"
                       " activation_checkpoint.mode selective,"
                       " activation_checkpoint.selective_ac_option n");
        return;
    }
    launch_put(l, MYR_LAUNCH_TEXT, "activation_checkpoint.mode", "%s",
               myr_recompute_name(layout->recompute));
    if (layout->recompute == MYR_RECOMPUTE_SELECTIVE) {
        launch_put(l, MYR_LAUNCH_TEXT, "activation_checkpoint.selective_ac_option", "op");
    }
    if (layout->recompute_parts && of->recipe && of->stack && of->stack->era != MYR_ERA_TORCH) {
        launch_note(l, "parts of layers are counted as made again: this trainer chooses its own");
    }
}

/* How many ranks share a copy of the state, and copies; context ranks are always in one. */
static void replica_items(const struct myr_launch_case *of, struct myr_launch *l)
{
    const struct myr_layout *layout = of->layout;
    bool sharded = layout->zero >= 1; /* FSDP shards the optimiser with the gradients */
    /* All context ranks of a replica are in its shard: no shard is smaller. */
    bool whole = layout->shard % layout->cp == 0;
    uint32_t shard = layout->shard == 0 ? layout->dp : whole ? layout->shard / layout->cp : 1;
    if (sharded && !whole) {
        launch_note(l, "its shards hold whole groups of context ranks");
    }
    /* Ranks that hold one copy of the state. */
    uint32_t inside = (sharded ? shard : 1) * layout->cp * layout->tp;
    if (layout->ep > 1 && inside % (layout->ep * myr_layout_etp(layout)) != 0) {
        shard = layout->dp;
        sharded = true;
        launch_note(l, "its expert groups lie inside a shard, so all replicas are one");
    }
    launch_number(l, "parallelism.data_parallel_shard_degree", sharded ? shard : 1);
    launch_number(l, "parallelism.data_parallel_replicate_degree",
                  sharded ? layout->dp / shard : layout->dp);
    if (sharded) {
        /* Weights stay gathered unless ZeRO-3 shards them. */
        launch_put(l, MYR_LAUNCH_TEXT, "parallelism.fsdp_reshard_after_forward",
                   layout->zero == 3 ? "always" : "never");
    } else if (layout->cp > 1) {
        launch_note(l, "context ranks share one copy of the state in any case");
    }
}

/* What the recipe counts on and this trainer does not do is said in a note for each. */
static void expert_items(const struct myr_launch_case *of, struct myr_launch *l)
{
    const struct myr_layout *layout = of->layout;
    uint32_t way = launch_recipe(of, MYR_CAPABILITY_DISPATCHER, MYR_DISPATCH_ALL_TO_ALL);
    uint32_t etp = myr_layout_etp(layout);
    launch_number(l, "parallelism.expert_parallel_degree", layout->ep);
    if (layout->ep > 1) {
        launch_number(l, "parallelism.expert_tensor_parallel_degree", etp);
    }
    /* Experts that are not divided further: only these go with DeepEP. */
    if (layout->ep > 1 && way == MYR_DISPATCH_DEEPEP && etp == 1) {
        launch_put(l, MYR_LAUNCH_TEXT, "parallelism.expert_parallel_comm_backend", "deepep");
    } else if (layout->ep > 1 && (way == MYR_DISPATCH_DEEPEP || way == MYR_DISPATCH_HYBRIDEP)) {
        launch_note(l, "tokens are counted as sent once a scale-up domain: this trainer does that "
                       "with DeepEP, without cutting experts");
    }
    if (etp != 1 && etp != layout->tp) {
        launch_note(l, "experts are cut by 1 or by all of tensor parallelism here, not by %u", etp);
    }
    if (of->recipe && layout->ep > 1 && launch_recipe(of, MYR_CAPABILITY_EXPERT_OVERLAP, 0) &&
        layout->schedule != MYR_SCHEDULE_DUALPIPE) {
        launch_note(l, "all-to-alls are counted as hidden: this trainer does that with DualPipeV");
    }
    if (of->recipe && launch_recipe(of, MYR_CAPABILITY_TOKEN_DROP, 0)) {
        launch_note(l, "dropped tokens are counted: this trainer drops none");
    }
}

/* Without a recipe nothing is switched on beyond the layout. */
static void capability_items(const struct myr_launch_case *of, struct myr_launch *l)
{
    const struct myr_layout *layout = of->layout;
    bool compiled = launch_recipe(of, MYR_CAPABILITY_COMPILE, 0);
    bool overlap = launch_recipe(of, MYR_CAPABILITY_TENSOR_OVERLAP, 0) && layout->tp > 1;
    if (!of->recipe) {
        return;
    }
    /* Compiled is the only way to what fused kernels are counted with. */
    bool fused = layout->kernels == MYR_KERNELS_FUSED;
    launch_put(l, MYR_LAUNCH_BOOL, "compile.enable",
               compiled || fused || overlap ? "true" : "false");
    /* Only a compiled model has it. */
    if (overlap) {
        launch_put(l, MYR_LAUNCH_BOOL, "parallelism.enable_async_tensor_parallel", "true");
    }
    if (launch_recipe(of, MYR_CAPABILITY_GRAPHS, MYR_GRAPHS_NONE) != MYR_GRAPHS_NONE) {
        launch_note(l, "CUDA graphs are counted: this trainer has no switch for them");
    }
    if (layout->offload_layers) {
        launch_note(l, "activations in the host's memory are counted: this trainer offloads "
                       "weights and optimiser only");
    }
    if (fused) {
        launch_note(l, "predicted for a training library's kernels: compiled PyTorch takes their "
                       "place here; --software torchtitan predicts it");
    }
}

/* Its items are keys of a TOML file; what it has no key for becomes notes. */
void launch_torchtitan(const struct myr_launch_case *of, struct myr_launch *l)
{
    const struct myr_layout *layout = of->layout;
    /* A pipeline cuts the local batch into its micro-batches; without one they accumulate. */
    uint32_t local = layout->pp > 1 ? layout->global_batch / layout->dp : layout->micro_batch;
    launch_number(l, "parallelism.tensor_parallel_degree", layout->tp);
    launch_number(l, "parallelism.pipeline_parallel_degree", layout->pp);
    launch_number(l, "parallelism.context_parallel_degree", layout->cp);
    replica_items(of, l);
    launch_number(l, "training.local_batch_size", local);
    launch_number(l, "training.global_batch_size", layout->global_batch);
    launch_number(l, "training.seq_len", myr_layout_seq(layout, of->model));
    if (of->model->moe.expert_count) {
        expert_items(of, l);
    }
    if (layout->pp > 1) {
        stage_items(of, l);
    }
    recompute_items(of, l);
    capability_items(of, l);
    /* What it does otherwise than predicted, in words. */
    if (layout->zero == 1) {
        launch_note(l, "its nearest to ZeRO-1 is ZeRO-2");
    }
    if (layout->tp > 1 && !layout->sequence_parallel) {
        launch_note(l, "its tensor parallelism cuts the sequence too");
    }
    if (layout->gradient_bytes == 2) {
        launch_note(l, "it sums gradients in fp32, which takes twice the room and time");
    }
    if (!launch_usual_order(layout)) {
        launch_note_order(l);
    }
    precision_items(of, l);
}
