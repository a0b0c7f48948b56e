/* trainlog_model: the question and the model that a log's arguments describe. */
#include "myriad/fit/trainlog.h"

/* Only what is open; a size of 0 in a log is none. */
static void fix(const struct myr_trainlog *log, enum myr_log_argument at, uint32_t *ret)
{
    if (*ret == 0 && log->given[at] && log->arguments[at] >= 1) {
        *ret = (uint32_t)log->arguments[at];
    }
}

/* Fills what the question leaves open; the log of a growing batch knows its last size best. */
void myr_trainlog_query(const struct myr_trainlog *log, struct myr_fit_query *query)
{
    fix(log, MYR_LOG_WORLD, &query->gpus);
    fix(log, MYR_LOG_TP, &query->tp);
    fix(log, MYR_LOG_PP, &query->pp);
    fix(log, MYR_LOG_CP, &query->cp);
    fix(log, MYR_LOG_EP, &query->ep);
    fix(log, MYR_LOG_DP, &query->dp);
    fix(log, MYR_LOG_VP, &query->vp);
    fix(log, MYR_LOG_MICRO_BATCH, &query->micro_batch);
    fix(log, MYR_LOG_SEQ, &query->seq_tokens);
    if (log->batch >= 1 && query->batch == 0) {
        query->batch = (uint32_t)log->batch;
    }
    fix(log, MYR_LOG_BATCH, &query->batch);
    /* A size that is listed, and not as a pipeline in parts, is one part. */
    if (query->vp == 0 && log->given[MYR_LOG_VP]) {
        query->vp = 1;
    }
    /* FSDP names its strategy; the distributed optimiser is ZeRO-1. */
    if (query->zero < 0 && log->given[MYR_LOG_FSDP] && log->arguments[MYR_LOG_FSDP] > 0) {
        query->zero = log->given[MYR_LOG_STRATEGY] ? (int)log->arguments[MYR_LOG_STRATEGY] : 0;
    } else if (query->zero < 0 && log->given[MYR_LOG_DISTRIBUTED_OPTIMISER]) {
        query->zero = log->arguments[MYR_LOG_DISTRIBUTED_OPTIMISER] > 0 ? 1 : 0;
    }
    if (query->recompute < 0 && log->given[MYR_LOG_RECOMPUTE]) {
        query->recompute = (int)log->arguments[MYR_LOG_RECOMPUTE];
    }
    if (query->sequence_parallel < 0 && log->given[MYR_LOG_SEQUENCE_PARALLEL]) {
        query->sequence_parallel = log->arguments[MYR_LOG_SEQUENCE_PARALLEL] > 0;
    }
    if (log->given[MYR_LOG_FP4] && log->arguments[MYR_LOG_FP4] > 0) {
        query->precision = MYR_PRECISION_NVFP4;
    } else if (log->given[MYR_LOG_FP8] && log->arguments[MYR_LOG_FP8] > 0) {
        bool blocks = log->given[MYR_LOG_FP8_RECIPE] && log->arguments[MYR_LOG_FP8_RECIPE] > 0;
        query->precision = blocks ? MYR_PRECISION_MXFP8 : MYR_PRECISION_FP8;
    } else if (log->given[MYR_LOG_FP16] && log->arguments[MYR_LOG_FP16] > 0) {
        query->precision = MYR_PRECISION_FP16;
    }
}

/* Also for flags: one that is off or missing is 'otherwise'. */
static uint32_t argument(const struct myr_trainlog *log, enum myr_log_argument at,
                         uint32_t otherwise)
{
    return log->given[at] && log->arguments[at] >= 1 ? (uint32_t)log->arguments[at] : otherwise;
}

/* All shared experts of a layer are one width together in the log. */
static void model_experts(const struct myr_trainlog *log, uint32_t experts, struct myr_model *ret)
{
    uint32_t shared = argument(log, MYR_LOG_SHARED_FFN, 0);
    ret->moe.expert_count = experts;
    ret->moe.experts_per_token = argument(log, MYR_LOG_TOPK, 2);
    ret->moe.expert_hidden = argument(log, MYR_LOG_EXPERT_FFN, ret->ffn_hidden);
    ret->moe.shared_count = shared > 0;
    ret->moe.shared_hidden = shared;
    ret->moe.interval = argument(log, MYR_LOG_MOE_INTERVAL, 1);
    ret->moe.first_dense = log->first_dense;
    bool all = ret->moe.interval == 1 && log->first_dense == 0;
    ret->ffn_hidden = all ? 0 : ret->ffn_hidden;
}

/* A model by the trainer's arguments; what they do not print is the trainer's default. */
int myr_trainlog_model(const struct myr_trainlog *log, struct myr_model *ret, struct myr_err *err)
{
    uint32_t layers = argument(log, MYR_LOG_LAYERS, 0), hidden = argument(log, MYR_LOG_HIDDEN, 0);
    uint32_t heads = argument(log, MYR_LOG_HEADS, 0), experts = argument(log, MYR_LOG_EXPERTS, 0);
    bool grouped = argument(log, MYR_LOG_GROUPED, 0) > 0;
    if (experts > 1 && log->odd_experts) {
        int rc = myr_err_set(err, MYR_EINVAL,
                             "the log's 'moe_layer_freq' deals experts to layers "
                             "in no pattern that is understood: give --model");
        myr_err_hint(err, "a model file or a config.json");
        return rc;
    }
    /* Without these nothing of the shape is known; all else has the trainer's default. */
    if (!layers || !hidden || !heads) {
        int rc = myr_err_set(err, MYR_ENOENT, "the log does not print its arguments: give --model");
        myr_err_hint(err, "a built-in name, a model file or a config.json");
        return rc;
    }
    *ret = (struct myr_model){
        .name = "log",
        .layer_count = layers,
        .hidden = hidden,
        .head_count = heads,
        .kv_head_count = grouped ? argument(log, MYR_LOG_GROUPS, heads) : heads,
        .head_dim = argument(log, MYR_LOG_HEAD_DIM, hidden / heads),
        .causal = true,
        .ffn_hidden = argument(log, MYR_LOG_FFN, 4 * hidden),
        .gated = argument(log, MYR_LOG_GATED, 0) > 0,
        .tied = argument(log, MYR_LOG_UNTIED, 0) == 0,
        .vocab = argument(log, MYR_LOG_VOCAB, 51200),
        .seq_tokens = argument(log, MYR_LOG_SEQ, 2048),
        .norms_per_layer = 2,
    };
    ret->moe.interval = 1;
    ret->mtp_count = argument(log, MYR_LOG_MTP, 0);
    if (experts > 1) {
        model_experts(log, experts, ret);
    }
    if (argument(log, MYR_LOG_MLA, 0)) { /* defaults of the trainer */
        ret->kv_head_count = heads;
        ret->mla = (struct myr_mla){.q_rank = argument(log, MYR_LOG_Q_RANK, 0),
                                    .kv_rank = argument(log, MYR_LOG_KV_RANK, 32),
                                    .nope_dim = argument(log, MYR_LOG_NOPE_DIM, 128),
                                    .rope_dim = argument(log, MYR_LOG_ROPE_DIM, 64),
                                    .v_dim = argument(log, MYR_LOG_V_DIM, 128)};
    }
    int rc = myr_model_check(ret, err);
    return rc < 0 ? myr_err_wrap(err, "the log's arguments") : rc;
}
