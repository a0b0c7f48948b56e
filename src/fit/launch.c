#include "myriad/fit/launch.h"

const char *myr_trainer_name(enum myr_trainer trainer)
{
    static const char *const names[] = {"megatron-lm", "deepspeed", "torchtitan"};
    return names[trainer];
}

static void put_precision(struct myr_buf *buf, enum myr_precision precision)
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

/* What the arguments cannot say comes last, behind one '#'. */
static void put_note(struct myr_buf *notes, const char *text)
{
    myr_buf_printf(notes, "%s %s", notes->len ? ";" : " #", text);
}

static void megatron_stages(struct myr_buf *buf, const struct myr_layout *l,
                            const struct myr_model *model, struct myr_buf *notes)
{
    if (l->vp > 1) {
        bool even = model->layer_count % (l->pp * l->vp) == 0 && l->first_layers == 0;
        if (even) {
            myr_buf_printf(buf, " --num-layers-per-virtual-pipeline-stage %u",
                           model->layer_count / (l->pp * l->vp));
        } else {
            myr_buf_printf(buf, " --num-virtual-stages-per-pipeline-rank %u", l->vp);
        }
    }
    if (l->first_layers > 0) {
        myr_buf_printf(buf,
                       " --decoder-first-pipeline-num-layers %u"
                       " --decoder-last-pipeline-num-layers %u",
                       l->first_layers, l->last_layers);
    } else if (l->pp > 1 && model->layer_count % (l->pp * l->vp) != 0) {
        put_note(notes, "layers do not divide among the stages: name them with"
                        " --pipeline-model-parallel-layout");
    }
    if (l->schedule == MYR_SCHEDULE_ZERO_BUBBLE || l->schedule == MYR_SCHEDULE_DUALPIPE) {
        myr_buf_printf(notes, "%s this trainer has no schedule '%s'", notes->len ? ";" : " #",
                       myr_schedule_name(l->schedule));
    }
}

/* Ranks of a shard below all of dp * cp are optimiser instances to this trainer. */
static void megatron_state(struct myr_buf *buf, const struct myr_layout *l)
{
    static const char *const strategies[] = {"no_shard", "optim", "optim_grads",
                                             "optim_grads_params"};
    if (l->zero == 1) {
        myr_buf_put_lit(buf, " --use-distributed-optimizer --overlap-grad-reduce"
                             " --overlap-param-gather");
    } else if (l->zero >= 2) {
        myr_buf_printf(buf, " --use-megatron-fsdp --data-parallel-sharding-strategy %s",
                       strategies[l->zero]);
    }
    if (l->zero > 0 && l->shard > 0) {
        myr_buf_printf(buf, " --num-distributed-optimizer-instances %u", l->dp * l->cp / l->shard);
    }
}

static void megatron_order(struct myr_buf *buf, const struct myr_layout *l, struct myr_buf *notes)
{
    static const enum myr_axis usual[] = {MYR_AXIS_TP, MYR_AXIS_CP, MYR_AXIS_EP, MYR_AXIS_DP,
                                          MYR_AXIS_PP};
    static const enum myr_axis other[] = {MYR_AXIS_TP, MYR_AXIS_CP, MYR_AXIS_PP, MYR_AXIS_EP,
                                          MYR_AXIS_DP};
    if (memcmp(l->order, usual, sizeof(usual)) == 0) {
        return;
    }
    if (memcmp(l->order, other, sizeof(other)) == 0) {
        myr_buf_put_lit(buf, " --use-tp-pp-dp-mapping");
        return;
    }
    put_note(notes, "ranks in the order of the layout block, by the launcher's host file");
}

static void megatron(struct myr_buf *buf, const struct myr_layout *l, const struct myr_model *model)
{
    struct myr_buf notes = {0};
    myr_buf_printf(buf,
                   "--tensor-model-parallel-size %u --pipeline-model-parallel-size %u "
                   "--context-parallel-size %u --micro-batch-size %u --global-batch-size %u "
                   "--seq-length %u",
                   l->tp, l->pp, l->cp, l->micro_batch, l->global_batch, myr_layout_seq(l, model));
    megatron_stages(buf, l, model, &notes);
    if (model->moe.expert_count) {
        myr_buf_printf(buf, " --expert-model-parallel-size %u --expert-tensor-parallel-size %u",
                       l->ep, myr_layout_etp(l));
    }
    if (l->sequence_parallel) {
        myr_buf_put_lit(buf, " --sequence-parallel");
    }
    if (l->flash_attention) {
        myr_buf_put_lit(buf, " --use-flash-attn");
    }
    megatron_state(buf, l);
    if (l->recompute == MYR_RECOMPUTE_FULL) {
        myr_buf_printf(buf,
                       " --recompute-granularity full --recompute-method %s"
                       " --recompute-num-layers %u",
                       l->recompute_layers ? "block" : "uniform",
                       l->recompute_layers ? l->recompute_layers : 1);
    } else if (l->recompute == MYR_RECOMPUTE_SELECTIVE) {
        myr_buf_put_lit(buf, " --recompute-granularity selective");
    }
    megatron_order(buf, l, &notes);
    put_precision(buf, l->precision);
    myr_buf_put(buf, notes.data, notes.len);
    myr_buf_done(&notes);
}

static void deepspeed(struct myr_buf *buf, const struct myr_layout *l)
{
    bool fp16 = l->precision == MYR_PRECISION_FP16, fp32 = l->precision == MYR_PRECISION_FP32;
    uint32_t copies = l->shard ? l->dp * l->cp / l->shard : 1;
    myr_buf_printf(buf,
                   "{\"train_batch_size\": %u, \"train_micro_batch_size_per_gpu\": %u, "
                   "\"gradient_accumulation_steps\": %u, \"zero_optimization\": {\"stage\": %u",
                   l->global_batch, l->micro_batch, myr_layout_micro_batches(l), l->zero);
    if (copies > 1 && l->zero == 3) {
        myr_buf_printf(buf, ", \"mics_shard_size\": %u", l->shard);
    }
    myr_buf_printf(buf, ", \"overlap_comm\": true}, \"%s\": {\"enabled\": %s}}",
                   fp16 ? "fp16" : "bf16", fp32 ? "false" : "true");
    struct myr_buf notes = {0};
    if (copies > 1 && l->zero < 3) {
        put_note(&notes, "shards smaller than all replicas need ZeRO-3 (MiCS)");
    }
    if (l->tp > 1 || l->pp > 1 || l->cp > 1) {
        put_note(&notes, "with Megatron-DeepSpeed:");
        myr_buf_printf(&notes,
                       " --tensor-model-parallel-size %u --pipeline-model-parallel-size %u "
                       "--ds-sequence-parallel-size %u",
                       l->tp, l->pp, l->cp);
    }
    if (l->recompute == MYR_RECOMPUTE_FULL) {
        put_note(&notes, "--checkpoint-activations");
    }
    myr_buf_put(buf, notes.data, notes.len);
    myr_buf_done(&notes);
}

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

static void torchtitan(struct myr_buf *buf, const struct myr_layout *l,
                       const struct myr_model *model)
{
    struct myr_buf notes = {0};
    uint32_t shard = l->shard ? l->shard / l->cp : l->dp;
    bool sharded = l->zero >= 1; /* FSDP shards the optimiser with the gradients */
    myr_buf_printf(buf,
                   "--parallelism.tensor_parallel_degree %u --parallelism.pipeline_parallel_degree "
                   "%u --parallelism.context_parallel_degree %u "
                   "--parallelism.data_parallel_shard_degree %u "
                   "--parallelism.data_parallel_replicate_degree %u "
                   "--training.local_batch_size %u --training.global_batch_size %u "
                   "--training.seq_len %u",
                   l->tp, l->pp, l->cp, sharded ? shard : 1,
                   sharded && shard ? l->dp / shard : l->dp, l->micro_batch, l->global_batch,
                   myr_layout_seq(l, model));
    if (sharded) {
        myr_buf_printf(buf, " --parallelism.fsdp_reshard_after_forward %s",
                       l->zero == 3 ? "always" : "never");
    }
    if (model->moe.expert_count) {
        myr_buf_printf(buf, " --parallelism.expert_parallel_degree %u", l->ep);
    }
    if (l->pp > 1) {
        myr_buf_printf(buf, " --parallelism.pipeline_parallel_schedule %s", titan_schedule(l));
    }
    if (l->recompute == MYR_RECOMPUTE_FULL && l->recompute_layers > 0) {
        put_note(&notes, "this trainer recomputes every n-th layer, not the first ones:"
                         " --activation_checkpoint.mode selective");
    } else {
        myr_buf_printf(buf, " --activation_checkpoint.mode %s", myr_recompute_name(l->recompute));
    }
    if (l->zero == 1) {
        put_note(&notes, "its nearest to ZeRO-1 is ZeRO-2");
    }
    if (l->precision == MYR_PRECISION_FP8 || l->precision == MYR_PRECISION_MXFP8) {
        myr_buf_printf(buf, " --model.converters %s",
                       l->precision == MYR_PRECISION_FP8 ? "float8" : "mx");
    }
    myr_buf_put(buf, notes.data, notes.len);
    myr_buf_done(&notes);
}

void myr_launch_write(struct myr_buf *buf, enum myr_trainer trainer,
                      const struct myr_layout *layout, const struct myr_model *model)
{
    switch (trainer) {
    case MYR_TRAINER_MEGATRON:
        megatron(buf, layout, model);
        break;
    case MYR_TRAINER_DEEPSPEED:
        deepspeed(buf, layout);
        break;
    case MYR_TRAINER_TORCHTITAN:
        torchtitan(buf, layout, model);
        break;
    }
}
