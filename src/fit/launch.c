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

static void megatron(struct myr_buf *buf, const struct myr_layout *l, const struct myr_model *model)
{
    myr_buf_printf(buf,
                   "--tensor-model-parallel-size %u --pipeline-model-parallel-size %u "
                   "--context-parallel-size %u --micro-batch-size %u --global-batch-size %u "
                   "--seq-length %u",
                   l->tp, l->pp, l->cp, l->micro_batch, l->global_batch, myr_layout_seq(l, model));
    if (l->vp > 1) {
        myr_buf_printf(buf, " --num-layers-per-virtual-pipeline-stage %u",
                       model->layer_count / (l->pp * l->vp));
    }
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
    if (l->zero == 1) {
        myr_buf_put_lit(buf, " --use-distributed-optimizer --overlap-grad-reduce"
                             " --overlap-param-gather");
    } else if (l->zero >= 2) {
        myr_buf_printf(buf, " --use-torch-fsdp2 # ZeRO-%u", l->zero);
    }
    if (l->recompute == MYR_RECOMPUTE_FULL) {
        myr_buf_put_lit(buf, " --recompute-granularity full --recompute-method uniform"
                             " --recompute-num-layers 1");
    } else if (l->recompute == MYR_RECOMPUTE_SELECTIVE) {
        myr_buf_put_lit(buf, " --recompute-granularity selective");
    }
    put_precision(buf, l->precision);
}

static void deepspeed(struct myr_buf *buf, const struct myr_layout *l)
{
    myr_buf_printf(buf,
                   "{\"train_batch_size\": %u, \"train_micro_batch_size_per_gpu\": %u, "
                   "\"gradient_accumulation_steps\": %u, \"zero_optimization\": {\"stage\": %u",
                   l->global_batch, l->micro_batch, myr_layout_micro_batches(l), l->zero);
    if (l->shard) {
        myr_buf_printf(buf, ", \"zero_hpz_partition_size\": %u", l->shard);
    }
    myr_buf_printf(buf, ", \"overlap_comm\": true}, \"bf16\": {\"enabled\": %s}}",
                   l->precision == MYR_PRECISION_FP16 ? "false" : "true");
    if (l->tp > 1 || l->pp > 1 || l->cp > 1) {
        myr_buf_printf(buf, " # with Megatron-DeepSpeed: tp %u, pp %u, cp %u", l->tp, l->pp, l->cp);
    }
}

static void torchtitan(struct myr_buf *buf, const struct myr_layout *l,
                       const struct myr_model *model)
{
    uint32_t shard = l->shard ? l->shard / l->cp : l->dp;
    bool sharded = l->zero >= 2;
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
    if (model->moe.expert_count) {
        myr_buf_printf(buf, " --parallelism.expert_parallel_degree %u", l->ep);
    }
    if (l->pp > 1) {
        myr_buf_printf(buf, " --parallelism.pipeline_parallel_schedule %s",
                       l->vp > 1 ? "Interleaved1F1B" : "1F1B");
    }
    myr_buf_printf(buf, " --activation_checkpoint.mode %s", myr_recompute_name(l->recompute));
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
