/*
 * Megatron-LM: the axes, and the capabilities that the prediction counted on. Each capability of
 * the recipe becomes the arguments that switch it on; where this trainer does not allow it beside
 * the others, a note says so in their place. The order of calls matters: later ones ask for
 * arguments that earlier ones have put.
 */
#include "launch_list.h"

static bool is_fp8(const struct myr_layout *l)
{
    return l->precision == MYR_PRECISION_FP8 || l->precision == MYR_PRECISION_MXFP8;
}

/* Its FP8 and FP4 are on top of bf16. Without a recipe the trainer's own scales stay. */
static void precision_args(const struct myr_launch_case *of, struct myr_launch *l)
{
    const struct myr_layout *layout = of->layout;
    uint32_t scales = launch_recipe(of, MYR_CAPABILITY_SCALES, MYR_SCALES_DELAYED);
    if (layout->precision == MYR_PRECISION_FP32) {
        return;
    }
    launch_switch(l, layout->precision == MYR_PRECISION_FP16 ? "--fp16" : "--bf16");
    /* The narrow formats are beside bf16, not in its place. */
    if (layout->precision == MYR_PRECISION_NVFP4) {
        launch_put(l, MYR_LAUNCH_TEXT, "--fp4-format", "e2m1");
    } else if (layout->precision == MYR_PRECISION_MXFP8) {
        launch_put(l, MYR_LAUNCH_TEXT, "--fp8-format", "e4m3");
        launch_put(l, MYR_LAUNCH_TEXT, "--fp8-recipe", "mxfp8");
    } else if (layout->precision == MYR_PRECISION_FP8) {
        bool blocks = scales == MYR_SCALES_BLOCKS;
        launch_put(l, MYR_LAUNCH_TEXT, "--fp8-format", blocks ? "e4m3" : "hybrid");
        if (scales == MYR_SCALES_ROWS) {
            launch_note(l, "this trainer has no scales by rows: by tensor in their place");
        }
        if (of->recipe) {
            launch_put(l, MYR_LAUNCH_TEXT, "--fp8-recipe", "%s",
                       blocks                         ? "blockwise"
                       : scales == MYR_SCALES_DELAYED ? "delayed"
                                                      : "tensorwise");
        }
    }
}

/* "t*4", "t", or nothing. */
static void put_times(struct myr_buf *buf, char what, uint32_t count)
{
    if (count > 1) {
        myr_buf_printf(buf, "%c*%u", what, count);
    } else if (count == 1) {
        myr_buf_putc(buf, what);
    }
}

/* Chunk by chunk: E embedding, t a layer, m a prediction module, L loss; runs as '(t*4|)*12'. */
static void put_cut(struct myr_launch *l, const struct myr_layout *layout,
                    const struct myr_model *model)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    uint32_t last = layout->pp * layout->vp - 1;
    myr_buf_putc(&buf, 'E');
    put_times(&buf, 't', myr_layout_chunk_layers(layout, model, 0).count);
    myr_buf_putc(&buf, '|');
    /* Chunks that are alike in a row are written once. */
    for (uint32_t c = 1; c < last;) {
        uint32_t layers = myr_layout_chunk_layers(layout, model, c).count, run = 1;
        while (c + run < last && myr_layout_chunk_layers(layout, model, c + run).count == layers) {
            run++;
        }
        if (run > 1) {
            myr_buf_putc(&buf, '(');
        }
        put_times(&buf, 't', layers);
        myr_buf_putc(&buf, '|');
        if (run > 1) {
            myr_buf_printf(&buf, ")*%u,", run);
        }
        c += run;
    }
    /* The last chunk has the prediction modules and the loss. */
    put_times(&buf, 't', myr_layout_chunk_layers(layout, model, last).count);
    put_times(&buf, 'm', model->mtp_count);
    myr_buf_putc(&buf, 'L');
    launch_put(l, MYR_LAUNCH_TEXT, "--pipeline-model-parallel-layout", "%s", buf.data);
}

/* Even cuts by number; those that do not divide by a written layout; fixed ends by theirs. */
static void stage_args(const struct myr_launch_case *of, struct myr_launch *l)
{
    const struct myr_layout *layout = of->layout;
    const struct myr_model *model = of->model;
    /* The first or the last stage has a number of layers of its own. */
    bool fixed = layout->first_layers > 0 || layout->last_layers > 0;
    if (layout->pp == 1) {
        return;
    }
    /* It runs another schedule then, and not as predicted. */
    if (layout->schedule == MYR_SCHEDULE_ZERO_BUBBLE || layout->schedule == MYR_SCHEDULE_DUALPIPE) {
        launch_note(l, "this trainer has no schedule '%s'", myr_schedule_name(layout->schedule));
    }
    bool uneven = model->layer_count % (layout->pp * layout->vp) != 0;
    if (!fixed && (uneven || layout->output_counts)) {
        put_cut(l, layout, model);
        return;
    }
    if (layout->vp > 1 && !fixed) {
        launch_number(l, "--num-layers-per-virtual-pipeline-stage",
                      model->layer_count / (layout->pp * layout->vp));
    } else if (layout->vp > 1) {
        /* With fixed ends chunks differ: their number is told, not their layers. */
        launch_number(l, "--num-virtual-stages-per-pipeline-rank", layout->vp);
    }
    if (layout->first_layers > 0) {
        launch_number(l, "--decoder-first-pipeline-num-layers", layout->first_layers);
    }
    if (layout->last_layers > 0) {
        launch_number(l, "--decoder-last-pipeline-num-layers", layout->last_layers);
    }
}

/* Ranks of a shard below all of dp * cp are optimiser instances to this trainer. */
static void state_args(const struct myr_launch_case *of, struct myr_launch *l)
{
    /* By ZeRO stage. */
    static const char *const strategies[] = {"no_shard", "optim", "optim_grads",
                                             "optim_grads_params"};
    const struct myr_layout *layout = of->layout;
    /* Without a stack nothing is known against it. */
    bool overlap = !of->stack || of->stack->overlap_data;
    if (layout->zero >= 1) {
        launch_switch(l, "--use-distributed-optimizer");
    }
    if (overlap && (layout->zero >= 1 || of->stack)) {
        launch_switch(l, "--overlap-grad-reduce");
    }
    if (overlap && layout->zero >= 1) {
        launch_switch(l, "--overlap-param-gather");
    }
    /* Gradients or weights are sharded by its FSDP alone, which needs its own checkpoints. */
    if (layout->zero >= 2) {
        launch_switch(l, "--use-megatron-fsdp");
        launch_put(l, MYR_LAUNCH_TEXT, "--data-parallel-sharding-strategy", "%s",
                   strategies[layout->zero]);
        launch_put(l, MYR_LAUNCH_TEXT, "--ckpt-format", "fsdp_dtensor");
    }
    if (layout->zero > 0 && layout->shard > 0) {
        launch_number(l, "--num-distributed-optimizer-instances",
                      layout->dp * layout->cp / layout->shard);
    }
}

/* Kernels of several streams start in the order of the queue: transfers must not wait behind. */
static void connection_variable(const struct myr_launch_case *of, struct myr_launch *l)
{
    const struct myr_layout *layout = of->layout;
    bool blackwell = of->device && of->device->generation == MYR_GENERATION_BLACKWELL;
    if (layout->zero >= 2) {
        launch_note(l, "with CUDA_DEVICE_MAX_CONNECTIONS unset");
    } else if (launch_has(l, "--overlap-moe-expert-parallel-comm")) {
        launch_variable(l, "CUDA_DEVICE_MAX_CONNECTIONS", "32");
    } else if ((layout->tp > 1 || layout->cp > 1) && !blackwell) {
        launch_variable(l, "CUDA_DEVICE_MAX_CONNECTIONS", "1");
    }
}

/*
 * Its other order has replicas slowest, and the ranks of an expert group before the stages. It
 * asks for as many replicas of experts as of attention then, of models without experts too.
 */
static void order_args(const struct myr_launch_case *of, struct myr_launch *l)
{
    /* 'alike' is the same for models whose experts are not spread. */
    static const enum myr_axis other[] = {MYR_AXIS_TP, MYR_AXIS_CP, MYR_AXIS_EP, MYR_AXIS_PP,
                                          MYR_AXIS_DP};
    static const enum myr_axis alike[] = {MYR_AXIS_TP, MYR_AXIS_CP, MYR_AXIS_PP, MYR_AXIS_EP,
                                          MYR_AXIS_DP};
    const struct myr_layout *layout = of->layout;
    if (launch_usual_order(layout)) {
        return;
    }
    bool ordered = memcmp(layout->order, other, sizeof(other)) == 0 ||
                   (layout->ep == 1 && memcmp(layout->order, alike, sizeof(alike)) == 0);
    if (ordered && (layout->pp == 1 || myr_layout_edp(layout) == layout->dp)) {
        launch_switch(l, "--use-tp-pp-dp-mapping");
        return;
    }
    launch_note_order(l);
}

/* Parts of every layer, by this trainer's names; those that it has not are notes. */
static void part_args(const struct myr_launch_case *of, struct myr_launch *l)
{
    static const struct {
        uint32_t bit;
        const char *name;
    } parts[] = {{MYR_AGAIN(CORE_ATTENTION), "core_attn"},
                 {MYR_AGAIN(FFN), "mlp"},
                 {MYR_AGAIN(EXPERT_ACTIVATION), "moe_act"},
                 {MYR_AGAIN(LATENT_UP), "mla_up_proj"},
                 {MYR_AGAIN(NORM), "layernorm"}};
    const struct myr_layout *layout = of->layout;
    uint32_t bits = layout->recompute_parts;
    bool grouped = launch_has(l, "--moe-grouped-gemm");
    MYR_CLEANUP(myr_buf_done) struct myr_buf words = {};
    /* Selective without a list means the core of attention. */
    bits |= layout->recompute == MYR_RECOMPUTE_SELECTIVE ? MYR_AGAIN(CORE_ATTENTION) : 0;
    /* Parts that this model or these kernels do not have are left out. */
    bits &= myr_model_is_mla(of->model) ? ~0U : ~MYR_AGAIN(LATENT_UP);
    bits &= grouped ? ~0U : ~MYR_AGAIN(EXPERT_ACTIVATION);
    if (bits & MYR_AGAIN(ACTIVATION)) {
        launch_note(l, "this trainer cannot make the activation function alone again");
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(parts); i++) {
        if (bits & parts[i].bit) {
            myr_buf_printf(&words, "%s%s", words.len ? " " : "", parts[i].name);
        }
    }
    if (words.len == 0) {
        return;
    }
    launch_put(l, MYR_LAUNCH_TEXT, "--recompute-granularity", "selective");
    launch_put(l, MYR_LAUNCH_WORDS, "--recompute-modules", "%s", words.data);
}

/* Whole layers or parts of them: this trainer does one or the other. */
static void recompute_args(const struct myr_launch_case *of, struct myr_launch *l)
{
    const struct myr_layout *layout = of->layout;
    if (layout->recompute != MYR_RECOMPUTE_FULL) {
        part_args(of, l);
        return;
    }
    launch_put(l, MYR_LAUNCH_TEXT, "--recompute-granularity", "full");
    /* The first layers of each chunk, or all of them one by one. */
    launch_put(l, MYR_LAUNCH_TEXT, "--recompute-method",
               layout->recompute_layers ? "block" : "uniform");
    launch_number(l, "--recompute-num-layers",
                  layout->recompute_layers ? layout->recompute_layers : 1);
    if (layout->recompute_layers && layout->recompute_parts) {
        launch_note(l, "parts of the other layers are counted as made again too: this trainer does "
                       "one or the other");
    }
}

/* What it cannot offload is said, since memory was predicted with it. */
static void offload_args(const struct myr_launch_case *of, struct myr_launch *l)
{
    const struct myr_layout *layout = of->layout;
    if (layout->offload_layers == 0) {
        return;
    }
    if (layout->pp > 1 || launch_has(l, "--recompute-granularity") ||
        layout->offload_layers >= of->model->layer_count) {
        launch_note(l,
                    "activations of %u layers are counted as waiting in the host's memory: this "
                    "trainer does that with one stage, without recomputation and not for all "
                    "layers",
                    layout->offload_layers);
        return;
    }
    launch_number(l, "--cpu-offloading-num-layers", layout->offload_layers);
}

/* Left to itself it sums them in fp32, its FSDP in what the weights are in. */
static void gradient_args(const struct myr_launch_case *of, struct myr_launch *l)
{
    const struct myr_layout *layout = of->layout;
    if (layout->precision == MYR_PRECISION_FP16 || layout->precision == MYR_PRECISION_FP32) {
        return;
    }
    if (layout->gradient_bytes == 2) {
        launch_switch(l, "--grad-reduce-in-bf16");
    } else if (layout->zero >= 2) {
        launch_put(l, MYR_LAUNCH_TEXT, "--megatron-fsdp-main-grads-dtype", "fp32");
    }
}

/* ---- capabilities ---- */

/* Where nothing is sent no flexible backend is needed. */
static void dispatcher_args(const struct myr_launch_case *of, struct myr_launch *l)
{
    uint32_t way = launch_recipe(of, MYR_CAPABILITY_DISPATCHER, MYR_DISPATCH_ALL_TO_ALL);
    bool alone = of->layout->ep * myr_layout_etp(of->layout) == 1; /* nothing is sent */
    /* Both send a token once to a scale-up domain and spread it there. */
    bool flex = (way == MYR_DISPATCH_DEEPEP || way == MYR_DISPATCH_HYBRIDEP) && !alone;
    launch_put(l, MYR_LAUNCH_TEXT, "--moe-token-dispatcher-type", "%s",
               flex                                   ? "flex"
               : way == MYR_DISPATCH_GATHER && !alone ? "allgather"
                                                      : "alltoall");
    if (flex) {
        launch_put(l, MYR_LAUNCH_TEXT, "--moe-flex-dispatcher-backend",
                   way == MYR_DISPATCH_DEEPEP ? "deepep" : "hybridep");
        /* The flexible backends take scores in fp32. */
        launch_put(l, MYR_LAUNCH_TEXT, "--moe-router-dtype", "fp32");
    }
}

/* Padded to capacity every expert has the same number of tokens: shapes are fixed. */
static void drop_args(const struct myr_launch_case *of, struct myr_launch *l)
{
    if (!launch_recipe(of, MYR_CAPABILITY_TOKEN_DROP, 0)) {
        return;
    }
    launch_number(l, "--moe-expert-capacity-factor", 1);
    uint32_t way = launch_recipe(of, MYR_CAPABILITY_DISPATCHER, MYR_DISPATCH_ALL_TO_ALL);
    if (way == MYR_DISPATCH_DEEPEP && launch_has(l, "--moe-flex-dispatcher-backend")) {
        launch_note(l, "experts are counted with padded, equal shares of tokens: this trainer does "
                       "not pad with DeepEP");
        return;
    }
    launch_switch(l, "--moe-pad-expert-input-to-capacity");
}

/* Fused products interleave the halves of a gate by 32, as their kernel wants them. */
static void grouped_args(const struct myr_launch_case *of, struct myr_launch *l)
{
    uint32_t how = launch_recipe(of, MYR_CAPABILITY_GROUPED, MYR_GROUPED_KERNEL);
    if (how == MYR_GROUPED_LOOP) {
        return;
    }
    launch_switch(l, "--moe-grouped-gemm");
    if (of->recipe && !launch_recipe(of, MYR_CAPABILITY_TOKEN_DROP, 0)) {
        launch_switch(l, "--moe-permute-fusion");
    }
    if (how != MYR_GROUPED_FUSED) {
        return;
    }
    launch_switch(l, "--use-transformer-engine-op-fuser");
    if (of->model->gated) {
        launch_number(l, "--moe-mlp-glu-interleave-size", 32);
    }
}

/* All-to-alls behind another micro-batch; what this trainer asks for beside it. */
static void expert_overlap_args(const struct myr_launch_case *of, struct myr_launch *l)
{
    const struct myr_layout *layout = of->layout;
    uint32_t way = launch_recipe(of, MYR_CAPABILITY_DISPATCHER, MYR_DISPATCH_ALL_TO_ALL);
    if (!launch_recipe(of, MYR_CAPABILITY_EXPERT_OVERLAP, 0) || layout->ep == 1) {
        return;
    }
    if ((layout->pp > 1 && layout->vp == 1) || layout->recompute == MYR_RECOMPUTE_FULL ||
        way == MYR_DISPATCH_GATHER || layout->precision == MYR_PRECISION_FP32 ||
        of->model->mtp_count > 1) {
        launch_note(l, "all-to-alls are counted as hidden behind another micro-batch: this trainer "
                       "does that with interleaved stages or one, without recomputing whole "
                       "layers, in bf16 or fp16, with at most one prediction module");
        return;
    }
    launch_switch(l, "--overlap-moe-expert-parallel-comm");
    launch_switch(l, "--delay-wgrad-compute");
}

/* Whole iterations: sizes are fixed by room for half as many tokens again, kept in pages. */
static void full_graph_args(const struct myr_launch_case *of, struct myr_launch *l)
{
    bool hybrid = launch_recipe(of, MYR_CAPABILITY_DISPATCHER, 0) == MYR_DISPATCH_HYBRIDEP &&
                  launch_has(l, "--moe-flex-dispatcher-backend");
    bool fused = launch_has(l, "--use-transformer-engine-op-fuser");
    bool fixed = launch_has(l, "--moe-pad-expert-input-to-capacity");
    /* A graph needs fixed shapes: dropped tokens have them, else room for more is kept. */
    if (of->model->moe.expert_count && !fixed && !(hybrid && fused)) {
        launch_note(l, "one graph an iteration is counted: with experts this trainer needs "
                       "HybridEP and fused experts, or dropped tokens, for it");
        return;
    }
    launch_put(l, MYR_LAUNCH_TEXT, "--cuda-graph-impl", "full_iteration");
    launch_switch(l, "--te-rng-tracker");
    launch_switch(l, "--no-check-for-nan-in-loss-and-grad");
    if (of->model->moe.expert_count && !fixed) {
        launch_put(l, MYR_LAUNCH_NUMBER, "--moe-expert-rank-capacity-factor", "1.5");
        launch_switch(l, "--moe-paged-stash");
        launch_put(l, MYR_LAUNCH_NUMBER, "--moe-paged-stash-buffer-size-factor-cuda", "1.2");
        launch_put(l, MYR_LAUNCH_NUMBER, "--moe-paged-stash-buffer-size-factor-cpu", "1.0");
    }
}

/* Graphs of parts, of layers or of all; what forbids them becomes a note. */
static void graph_args(const struct myr_launch_case *of, struct myr_launch *l)
{
    uint32_t graphs = launch_recipe(of, MYR_CAPABILITY_GRAPHS, MYR_GRAPHS_NONE);
    bool experts = of->model->moe.expert_count > 0;
    bool padded = launch_has(l, "--moe-pad-expert-input-to-capacity");
    /* Nothing is captured, or only a router that the model has not. */
    if (graphs == MYR_GRAPHS_NONE || (graphs == MYR_GRAPHS_ROUTER && !experts)) {
        return;
    }
    if (graphs == MYR_GRAPHS_FULL) {
        full_graph_args(of, l);
        return;
    }
    bool whole = graphs == MYR_GRAPHS_LAYER;
    if (of->layout->recompute == MYR_RECOMPUTE_FULL || of->layout->offload_layers ||
        (whole && experts && !padded)) {
        launch_note(l,
                    "CUDA graphs (%s) are counted: this trainer has them without recomputing "
                    "or offloading whole layers, of whole layers with experts only where "
                    "tokens are dropped",
                    whole ? "layers" : "parts of layers");
        return;
    }
    launch_put(l, MYR_LAUNCH_TEXT, "--cuda-graph-impl", "transformer_engine");
    launch_switch(l, "--te-rng-tracker");
    if (!whole) {
        /* Preparing can be captured unless tokens are dropped without padding. */
        bool plan = experts && !(launch_has(l, "--moe-expert-capacity-factor") && !padded);
        launch_put(l, MYR_LAUNCH_WORDS, "--cuda-graph-modules", "%s%s%s%s",
                   graphs == MYR_GRAPHS_PARTS ? "attn" : "",
                   graphs == MYR_GRAPHS_PARTS && experts ? " " : "", experts ? "moe_router" : "",
                   plan ? " moe_preprocess" : "");
    }
}

/* Nothing to hide without tensor parallelism. */
static void tensor_overlap_args(const struct myr_launch_case *of, struct myr_launch *l)
{
    const struct myr_layout *layout = of->layout;
    if (!launch_recipe(of, MYR_CAPABILITY_TENSOR_OVERLAP, 0) || layout->tp == 1) {
        return;
    }
    if (of->device && launch_is_ascend(of)) {
        launch_note(l, "transfers of tensor groups are counted as cut and hidden: MindSpeed does "
                       "that by --use-mc2, which this trainer has not");
    } else if (!layout->sequence_parallel) {
        launch_note(l, "transfers of tensor groups are counted as cut and hidden: this trainer "
                       "does that only with --sequence-parallel");
    } else {
        launch_switch(l, "--tp-comm-overlap");
    }
}

/* Grouped products first: later arguments ask whether they are on. */
static void expert_args(const struct myr_launch_case *of, struct myr_launch *l)
{
    const struct myr_layout *layout = of->layout;
    launch_number(l, "--expert-model-parallel-size", layout->ep);
    launch_number(l, "--expert-tensor-parallel-size", myr_layout_etp(layout));
    grouped_args(of, l);
    dispatcher_args(of, l);
    drop_args(of, l);
    expert_overlap_args(of, l);
    if (layout->tp > 1 && !layout->sequence_parallel) {
        launch_note(l, "this trainer runs experts with tensor parallelism only with"
                       " --sequence-parallel");
    }
}

static void device_notes(const struct myr_launch_case *of, struct myr_launch *l)
{
    if (of->device && launch_is_ascend(of)) {
        launch_note(l, "on Ascend these are MindSpeed-LLM's arguments too; what it calls "
                       "otherwise, its documents say");
    }
    if (of->layout->kernels != MYR_KERNELS_FUSED) {
        launch_note(l, "predicted for PyTorch's own operators: this trainer's kernels keep less "
                       "and are faster");
    }
}

/* Arguments that others depend on come first: each step asks launch_has() for what is there. */
void launch_megatron(const struct myr_launch_case *of, struct myr_launch *l)
{
    const struct myr_layout *layout = of->layout;
    launch_number(l, "--tensor-model-parallel-size", layout->tp);
    launch_number(l, "--pipeline-model-parallel-size", layout->pp);
    launch_number(l, "--context-parallel-size", layout->cp);
    if (layout->cp > 1 && of->model->indexer.head_count > 0) {
        /* What an indexer keeps of a sequence may lie on any rank: rings do not reach it. */
        launch_put(l, MYR_LAUNCH_TEXT, "--cp-comm-type", "all_gather");
    }
    launch_number(l, "--micro-batch-size", layout->micro_batch);
    launch_number(l, "--global-batch-size", layout->global_batch);
    launch_number(l, "--seq-length", myr_layout_seq(layout, of->model));
    stage_args(of, l);
    if (layout->sequence_parallel && layout->tp > 1) {
        launch_switch(l, "--sequence-parallel");
    }
    if (of->model->moe.expert_count > 0) {
        expert_args(of, l);
    }
    tensor_overlap_args(of, l);
    /* Left to itself it takes whichever fused kernel it finds. */
    launch_put(l, MYR_LAUNCH_TEXT, "--attention-backend",
               layout->flash_attention ? "auto" : "unfused");
    if (of->stack && of->stack->fused_loss) {
        /* The core's own, which keeps more: its other one Megatron-LM refuses, Bridge takes. */
        bool bridge = l->trainer == MYR_TRAINER_BRIDGE;
        launch_switch(l, "--cross-entropy-loss-fusion");
        launch_put(l, MYR_LAUNCH_TEXT, "--cross-entropy-fusion-impl", bridge ? "te" : "native");
        if (!bridge) {
            launch_note(l, "the loss is counted in place; this trainer's own keeps 4 bytes a logit "
                           "more");
        }
    }
    state_args(of, l);
    recompute_args(of, l);
    offload_args(of, l);
    graph_args(of, l);
    order_args(of, l);
    precision_args(of, l);
    gradient_args(of, l);
    connection_variable(of, l);
    device_notes(of, l);
    if (is_fp8(layout) && of->device && of->device->generation == MYR_GENERATION_AMPERE) {
        launch_note(l, "these GPUs have no FP8");
    }
    if (of->whole) {
        l->model_first = l->item_count;
        launch_megatron_model(of, l);
    }
}
