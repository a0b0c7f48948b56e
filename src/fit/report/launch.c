#include "myriad/fit/launch.h"

const char *myr_trainer_name(enum myr_trainer trainer)
{
    static const char *const names[] = {"megatron-lm", "deepspeed", "torchtitan"};
    return names[trainer];
}

/* What the arguments cannot say comes last, behind one '#'. */
static void put_note(struct myr_buf *notes, const char *text)
{
    myr_buf_printf(notes, "%s %s", notes->len ? ";" : " #", text);
}

static void no_schedule(struct myr_buf *notes, const struct myr_layout *l)
{
    myr_buf_printf(notes, "%s this trainer has no schedule '%s'", notes->len ? ";" : " #",
                   myr_schedule_name(l->schedule));
}

static void end_notes(struct myr_buf *buf, struct myr_buf *notes)
{
    myr_buf_put(buf, notes->data, notes->len);
    myr_buf_done(notes);
}

/* ---- Megatron-LM ---- */

static void megatron_precision(struct myr_buf *buf, enum myr_precision precision)
{
    switch (precision) {
    case MYR_PRECISION_FP8:
        myr_buf_put_lit(buf, " --bf16 --fp8-format hybrid");
        break;
    case MYR_PRECISION_MXFP8:
        myr_buf_put_lit(buf, " --bf16 --fp8-format e4m3 --fp8-recipe mxfp8");
        break;
    case MYR_PRECISION_NVFP4:
        myr_buf_put_lit(buf, " --bf16 --fp4-format e2m1");
        break;
    case MYR_PRECISION_FP16:
        myr_buf_put_lit(buf, " --fp16");
        break;
    case MYR_PRECISION_BF16:
        myr_buf_put_lit(buf, " --bf16");
        break;
    case MYR_PRECISION_FP32:
        break;
    }
}

static void put_times(struct myr_buf *buf, char what, uint32_t count)
{
    if (count > 1) {
        myr_buf_printf(buf, "%c*%u", what, count);
    } else if (count == 1) {
        myr_buf_putc(buf, what);
    }
}

/* Chunk by chunk: E embedding, t a layer, m a prediction module, L loss; runs as '(t*4|)*12'. */
static void megatron_cut(struct myr_buf *buf, const struct myr_layout *l,
                         const struct myr_model *model)
{
    uint32_t last = l->pp * l->vp - 1;
    myr_buf_put_lit(buf, " --pipeline-model-parallel-layout 'E");
    put_times(buf, 't', myr_layout_chunk_layers(l, model, 0).count);
    myr_buf_putc(buf, '|');
    for (uint32_t c = 1; c < last;) {
        uint32_t layers = myr_layout_chunk_layers(l, model, c).count, run = 1;
        while (c + run < last && myr_layout_chunk_layers(l, model, c + run).count == layers) {
            run++;
        }
        if (run > 1) {
            myr_buf_putc(buf, '(');
        }
        put_times(buf, 't', layers);
        myr_buf_putc(buf, '|');
        if (run > 1) {
            myr_buf_printf(buf, ")*%u,", run);
        }
        c += run;
    }
    put_times(buf, 't', myr_layout_chunk_layers(l, model, last).count);
    put_times(buf, 'm', model->mtp_count);
    myr_buf_put_lit(buf, "L'");
}

static void megatron_stages(struct myr_buf *buf, const struct myr_layout *l,
                            const struct myr_model *model, struct myr_buf *notes)
{
    bool fixed = l->first_layers > 0 || l->last_layers > 0;
    if (l->pp == 1) {
        return;
    }
    if (l->schedule == MYR_SCHEDULE_ZERO_BUBBLE || l->schedule == MYR_SCHEDULE_DUALPIPE) {
        no_schedule(notes, l);
    }
    if (!fixed && model->layer_count % (l->pp * l->vp) != 0) {
        megatron_cut(buf, l, model);
        return;
    }
    if (l->vp > 1 && !fixed) {
        myr_buf_printf(buf, " --num-layers-per-virtual-pipeline-stage %u",
                       model->layer_count / (l->pp * l->vp));
    } else if (l->vp > 1) {
        myr_buf_printf(buf, " --num-virtual-stages-per-pipeline-rank %u", l->vp);
    }
    if (l->first_layers > 0) {
        myr_buf_printf(buf, " --decoder-first-pipeline-num-layers %u", l->first_layers);
    }
    if (l->last_layers > 0) {
        myr_buf_printf(buf, " --decoder-last-pipeline-num-layers %u", l->last_layers);
    }
}

/* Ranks of a shard below all of dp * cp are optimiser instances to this trainer. */
static void megatron_state(struct myr_buf *buf, const struct myr_layout *l, struct myr_buf *notes)
{
    static const char *const strategies[] = {"no_shard", "optim", "optim_grads",
                                             "optim_grads_params"};
    if (l->zero >= 1) {
        myr_buf_put_lit(buf, " --use-distributed-optimizer --overlap-grad-reduce"
                             " --overlap-param-gather");
    }
    if (l->zero >= 2) {
        myr_buf_printf(buf,
                       " --use-megatron-fsdp --data-parallel-sharding-strategy %s"
                       " --ckpt-format fsdp_dtensor",
                       strategies[l->zero]);
        put_note(notes, "with CUDA_DEVICE_MAX_CONNECTIONS unset");
    } else if (l->tp > 1 || l->cp > 1) {
        put_note(notes, "with CUDA_DEVICE_MAX_CONNECTIONS=1 (GPUs before Blackwell)");
    }
    if (l->zero > 0 && l->shard > 0) {
        myr_buf_printf(buf, " --num-distributed-optimizer-instances %u", l->dp * l->cp / l->shard);
    }
}

/* The order of ranks that trainers have by themselves: tp fastest, pipeline stages slowest. */
static bool usual_order(const struct myr_layout *l)
{
    static const enum myr_axis usual[] = {MYR_AXIS_TP, MYR_AXIS_CP, MYR_AXIS_EP, MYR_AXIS_DP,
                                          MYR_AXIS_PP};
    return memcmp(l->order, usual, sizeof(usual)) == 0;
}

static void note_order(struct myr_buf *notes)
{
    put_note(notes, "ranks in the order of the layout block, by the launcher's host file");
}

/*
 * Its other order has replicas slowest, and the ranks of an expert group before the stages. It
 * asks for as many replicas of experts as of attention then, of models without experts too.
 */
static void megatron_order(struct myr_buf *buf, const struct myr_layout *l, struct myr_buf *notes)
{
    static const enum myr_axis other[] = {MYR_AXIS_TP, MYR_AXIS_CP, MYR_AXIS_EP, MYR_AXIS_PP,
                                          MYR_AXIS_DP};
    static const enum myr_axis alike[] = {MYR_AXIS_TP, MYR_AXIS_CP, MYR_AXIS_PP, MYR_AXIS_EP,
                                          MYR_AXIS_DP};
    if (usual_order(l)) {
        return;
    }
    bool ordered = memcmp(l->order, other, sizeof(other)) == 0 ||
                   (l->ep == 1 && memcmp(l->order, alike, sizeof(alike)) == 0);
    if (ordered && (l->pp == 1 || myr_layout_edp(l) == l->dp)) {
        myr_buf_put_lit(buf, " --use-tp-pp-dp-mapping");
        return;
    }
    note_order(notes);
}

static void megatron_recompute(struct myr_buf *buf, const struct myr_layout *l)
{
    if (l->recompute == MYR_RECOMPUTE_FULL) {
        myr_buf_printf(buf,
                       " --recompute-granularity full --recompute-method %s"
                       " --recompute-num-layers %u",
                       l->recompute_layers ? "block" : "uniform",
                       l->recompute_layers ? l->recompute_layers : 1);
    } else if (l->recompute == MYR_RECOMPUTE_SELECTIVE) {
        myr_buf_put_lit(buf, " --recompute-granularity selective");
    }
}

/* Left to itself it sums them in fp32, its FSDP in what the weights are in. */
static void megatron_gradients(struct myr_buf *buf, const struct myr_layout *l)
{
    bool half = l->precision == MYR_PRECISION_FP16, full = l->precision == MYR_PRECISION_FP32;
    if (half || full) {
        return;
    }
    if (l->gradient_bytes == 2) {
        myr_buf_put_lit(buf, " --grad-reduce-in-bf16");
    } else if (l->zero >= 2) {
        myr_buf_put_lit(buf, " --megatron-fsdp-main-grads-dtype fp32");
    }
}

static void megatron(struct myr_buf *buf, const struct myr_layout *l, const struct myr_model *model)
{
    struct myr_buf notes = {0};
    bool experts = model->moe.expert_count > 0;
    myr_buf_printf(buf,
                   "--tensor-model-parallel-size %u --pipeline-model-parallel-size %u "
                   "--context-parallel-size %u --micro-batch-size %u --global-batch-size %u "
                   "--seq-length %u",
                   l->tp, l->pp, l->cp, l->micro_batch, l->global_batch, myr_layout_seq(l, model));
    megatron_stages(buf, l, model, &notes);
    if (experts) {
        /* As counted: one product for all experts, and tokens sent only where they go. */
        myr_buf_printf(buf,
                       " --expert-model-parallel-size %u --expert-tensor-parallel-size %u"
                       " --moe-grouped-gemm --moe-token-dispatcher-type alltoall",
                       l->ep, myr_layout_etp(l));
    }
    if (l->sequence_parallel && l->tp > 1) {
        myr_buf_put_lit(buf, " --sequence-parallel");
    } else if (experts && l->tp > 1) {
        put_note(&notes, "this trainer runs experts with tensor parallelism only with"
                         " --sequence-parallel");
    }
    /* Left to itself it takes whichever fused kernel it finds. */
    myr_buf_printf(buf, " --attention-backend %s", l->flash_attention ? "auto" : "unfused");
    megatron_state(buf, l, &notes);
    megatron_recompute(buf, l);
    megatron_order(buf, l, &notes);
    megatron_precision(buf, l->precision);
    megatron_gradients(buf, l);
    end_notes(buf, &notes);
}

/* ---- DeepSpeed ---- */

/* Axes that the library itself does not have: Megatron-DeepSpeed's arguments. */
static void deepspeed_model(struct myr_buf *notes, const struct myr_layout *l,
                            const struct myr_model *model)
{
    bool experts = model->moe.expert_count > 0 && l->ep > 1;
    bool sequence = l->sequence_parallel && l->tp > 1 && l->cp == 1; /* one of the two only */
    if (l->cp > 1 && (l->tp > 1 || l->pp > 1)) {
        put_note(notes, "it has context parallelism only without tensor and pipeline parallelism");
    }
    if (l->tp > 1 || l->pp > 1 || l->cp > 1 || experts || l->recompute != MYR_RECOMPUTE_NONE) {
        put_note(notes, "with Megatron-DeepSpeed:");
        /* One stage is a pipeline to it as well, unless told otherwise, and has no ZeRO-2 then. */
        myr_buf_printf(notes,
                       " --tensor-model-parallel-size %u --pipeline-model-parallel-size %u "
                       "--ds-sequence-parallel-size %u%s%s",
                       l->tp, l->pp, l->cp, l->pp == 1 ? " --no-pipeline-parallel" : "",
                       sequence ? " --sequence-parallel" : "");
        if (experts) {
            myr_buf_printf(notes, " --moe-expert-parallel-size %u", l->ep);
        }
        if (l->recompute == MYR_RECOMPUTE_FULL) {
            myr_buf_put_lit(notes, " --checkpoint-activations");
        } else if (l->recompute == MYR_RECOMPUTE_SELECTIVE) {
            myr_buf_put_lit(notes, " --recompute-granularity selective");
        }
    }
}

static void deepspeed(struct myr_buf *buf, const struct myr_layout *l,
                      const struct myr_model *model)
{
    bool fp16 = l->precision == MYR_PRECISION_FP16, fp32 = l->precision == MYR_PRECISION_FP32;
    uint32_t copies = l->shard ? l->dp * l->cp / l->shard : 1;
    struct myr_buf notes = {0};
    myr_buf_printf(buf,
                   "{\"train_batch_size\": %u, \"train_micro_batch_size_per_gpu\": %u, "
                   "\"gradient_accumulation_steps\": %u, \"zero_optimization\": {\"stage\": %u",
                   l->global_batch, l->micro_batch, myr_layout_micro_batches(l), l->zero);
    if (copies > 1 && l->zero == 3) {
        myr_buf_printf(buf, ", \"mics_shard_size\": %u", l->shard);
    }
    myr_buf_printf(buf, ", \"overlap_comm\": true}, \"%s\": {\"enabled\": %s}}",
                   fp16 ? "fp16" : "bf16", fp32 ? "false" : "true");
    if (copies > 1 && l->zero > 0 && l->zero < 3) {
        put_note(&notes, "shards smaller than all replicas need ZeRO-3 (MiCS)");
    }
    if (l->pp > 1 && l->zero >= 2) {
        put_note(&notes, "its pipelines run with ZeRO-0 and 1 only");
    }
    if (l->pp > 1 && l->schedule != MYR_SCHEDULE_1F1B) {
        no_schedule(&notes, l);
    }
    if (l->precision == MYR_PRECISION_FP8 || l->precision == MYR_PRECISION_MXFP8 ||
        l->precision == MYR_PRECISION_NVFP4) {
        myr_buf_printf(&notes, "%s %s is up to the model's layers", notes.len ? ";" : " #",
                       myr_precision_name(l->precision));
    }
    if (!usual_order(l)) {
        note_order(&notes);
    }
    deepspeed_model(&notes, l, model);
    end_notes(buf, &notes);
}

/* ---- torchtitan ---- */

static const char *titan_schedule(const struct myr_layout *l)
{
    switch (l->schedule) {
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
static void titan_stages(struct myr_buf *buf, const struct myr_layout *l,
                         const struct myr_model *model, struct myr_buf *notes)
{
    bool plain = l->schedule == MYR_SCHEDULE_1F1B, fixed = l->first_layers || l->last_layers;
    uint32_t chunks = l->pp * (plain ? 1 : l->vp > 1 ? l->vp : 2), layers = model->layer_count;
    uint32_t first = myr_layout_chunk_layers(l, model, 0).count;
    uint32_t last = myr_layout_chunk_layers(l, model, l->pp * l->vp - 1).count;
    uint32_t most =
        l->pp > 2 ? myr_layout_chunk_layers(l, model, 1).count : (first > last ? first : last);
    myr_buf_printf(buf,
                   " --parallelism.pipeline_parallel_schedule %s"
                   " --parallelism.pipeline_parallel_microbatch_size %u",
                   titan_schedule(l), l->micro_batch);
    if (!plain && l->vp == 1) {
        put_note(notes, l->schedule == MYR_SCHEDULE_DUALPIPE
                            ? "its DualPipe is the one with two chunks in a V, weights once"
                            : "its zero-bubble has two chunks a stage");
    }
    bool even = !fixed && layers % chunks == 0;
    bool split = fixed && plain && first <= most && last <= most;
    if (!even && !split) {
        put_note(notes, "list the layers of each stage in parallelism.module_fqns_per_model_part");
        return;
    }
    myr_buf_printf(buf,
                   " --parallelism.pipeline_parallel_layers_per_stage %u"
                   " --parallelism.pipeline_parallel_first_stage_less_layers %u"
                   " --parallelism.pipeline_parallel_last_stage_less_layers %u",
                   even ? layers / chunks : most, even ? 0 : most - first, even ? 0 : most - last);
}

static void titan_precision(struct myr_buf *buf, const struct myr_layout *l, bool experts,
                            struct myr_buf *notes)
{
    const char *format = NULL;
    switch (l->precision) {
    case MYR_PRECISION_FP8:
        format = "float8";
        break;
    case MYR_PRECISION_MXFP8:
        format = "mx";
        break;
    case MYR_PRECISION_FP32:
        myr_buf_put_lit(buf, " --training.mixed_precision_param float32");
        break;
    case MYR_PRECISION_NVFP4:
    case MYR_PRECISION_FP16:
        myr_buf_printf(notes, "%s this trainer has no %s", notes->len ? ";" : " #",
                       myr_precision_name(l->precision));
        break;
    case MYR_PRECISION_BF16:
        break;
    }
    if (format && experts) {
        myr_buf_printf(buf,
                       " --model.converters quantize.linear.%s,quantize.grouped_mm.%s"
                       " --quantize.grouped_mm.%s.fqns experts",
                       format, format, format);
    } else if (format) {
        myr_buf_printf(buf, " --model.converters quantize.linear.%s", format);
    }
}

static void titan_experts(struct myr_buf *buf, const struct myr_layout *l)
{
    myr_buf_printf(buf, " --parallelism.expert_parallel_degree %u", l->ep);
    if (l->ep > 1) {
        myr_buf_printf(buf, " --parallelism.expert_tensor_parallel_degree %u", myr_layout_etp(l));
    }
}

static void titan_recompute(struct myr_buf *buf, const struct myr_layout *l, struct myr_buf *notes)
{
    if (l->recompute == MYR_RECOMPUTE_FULL && l->recompute_layers > 0) {
        put_note(notes, "this trainer recomputes every n-th layer, not the first ones:"
                        " --activation_checkpoint.mode selective"
                        " --activation_checkpoint.selective_ac_option n");
        return;
    }
    myr_buf_printf(buf, " --activation_checkpoint.mode %s", myr_recompute_name(l->recompute));
    if (l->recompute == MYR_RECOMPUTE_SELECTIVE) {
        myr_buf_put_lit(buf, " --activation_checkpoint.selective_ac_option op");
    }
}

static void torchtitan(struct myr_buf *buf, const struct myr_layout *l,
                       const struct myr_model *model)
{
    struct myr_buf notes = {0};
    bool sharded = l->zero >= 1; /* FSDP shards the optimiser with the gradients */
    /* All context ranks of a replica are in its shard: no shard is smaller. */
    bool whole = l->shard % l->cp == 0;
    uint32_t shard = l->shard == 0 ? l->dp : whole ? l->shard / l->cp : 1;
    if (sharded && !whole) {
        put_note(&notes, "its shards hold whole groups of context ranks");
    }
    uint32_t inside = (sharded ? shard : 1) * l->cp * l->tp;
    if (l->ep > 1 && inside % (l->ep * myr_layout_etp(l)) != 0) {
        shard = l->dp;
        sharded = true;
        put_note(&notes, "its expert groups lie inside a shard, so all replicas are one");
    }
    /* A pipeline cuts the local batch into its micro-batches; without one they accumulate. */
    uint32_t local = l->pp > 1 ? l->global_batch / l->dp : l->micro_batch;
    myr_buf_printf(buf,
                   "--parallelism.tensor_parallel_degree %u --parallelism.pipeline_parallel_degree "
                   "%u --parallelism.context_parallel_degree %u "
                   "--parallelism.data_parallel_shard_degree %u "
                   "--parallelism.data_parallel_replicate_degree %u "
                   "--training.local_batch_size %u --training.global_batch_size %u "
                   "--training.seq_len %u",
                   l->tp, l->pp, l->cp, sharded ? shard : 1, sharded ? l->dp / shard : l->dp, local,
                   l->global_batch, myr_layout_seq(l, model));
    if (sharded) {
        myr_buf_printf(buf, " --parallelism.fsdp_reshard_after_forward %s",
                       l->zero == 3 ? "always" : "never");
    } else if (l->cp > 1) {
        put_note(&notes, "context ranks share one copy of the state in any case");
    }
    if (model->moe.expert_count) {
        titan_experts(buf, l);
    }
    if (l->pp > 1) {
        titan_stages(buf, l, model, &notes);
    }
    titan_recompute(buf, l, &notes);
    if (l->zero == 1) {
        put_note(&notes, "its nearest to ZeRO-1 is ZeRO-2");
    }
    if (l->tp > 1 && !l->sequence_parallel) {
        put_note(&notes, "its tensor parallelism cuts the sequence too");
    }
    if (l->gradient_bytes == 2) {
        put_note(&notes, "it sums gradients in fp32, which takes twice the room and time");
    }
    if (!usual_order(l)) {
        note_order(&notes);
    }
    titan_precision(buf, l, model->moe.expert_count > 0, &notes);
    end_notes(buf, &notes);
}

void myr_launch_write(struct myr_buf *buf, enum myr_trainer trainer,
                      const struct myr_layout *layout, const struct myr_model *model)
{
    switch (trainer) {
    case MYR_TRAINER_MEGATRON:
        megatron(buf, layout, model);
        break;
    case MYR_TRAINER_DEEPSPEED:
        deepspeed(buf, layout, model);
        break;
    case MYR_TRAINER_TORCHTITAN:
        torchtitan(buf, layout, model);
        break;
    }
}
