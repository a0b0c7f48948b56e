/*
 * trainlog: what a Megatron-LM or NeMo log says of a run, read as it comes.
 *
 * Understood, with whatever a launcher puts in front of a line:
 *
 *   iterations  "iteration 14/ 1192 | ... elapsed time per iteration (ms): 10800.4 | ...", also
 *               where a terminal broke them; NeMo's "iteration 9/99 | ... train_step_timing in s"
 *   timers      "forward-compute ....: (2717.14, 3328.97)" (least, most over the ranks), one
 *               number, "rank 3: 2717.14" below a name, "time (ms) | name: number | ..."
 *   arguments   "tensor_model_parallel_size ....... 8"
 *
 * Everything else is passed over. Text may be fed in any pieces. Where the batch grows during the
 * run, only what was measured with the last size counts.
 */
#pragma once

#include "myriad/fit/search.h"

#define MYR_LOG_TIMERS_MAX  96
#define MYR_LOG_NAME_MAX    64
#define MYR_LOG_LINE_MAX    8192
#define MYR_LOG_SAMPLES_MAX (1U << 20)
#define MYR_LOG_BYTES_MAX   (UINT64_C(16) << 30) /* of a file; it is read piece by piece */
#define MYR_LOG_ONE_LINE_MAX \
    (UINT64_C(64) << 20) /* without an end it is no text; lines are cut at MYR_LOG_LINE_MAX */

struct myr_samples {
    MYR_VEC(double) values;
};

struct myr_log_timer {
    char name[MYR_LOG_NAME_MAX];
    struct myr_samples least, most; /* seconds, over the ranks, of each report */
};

/* name in the log, field */
#define MYR_LOG_ARGUMENTS(X)                                        \
    X(TP, "tensor_model_parallel_size")                             \
    X(PP, "pipeline_model_parallel_size")                           \
    X(VP, "virtual_pipeline_model_parallel_size")                   \
    X(CP, "context_parallel_size")                                  \
    X(EP, "expert_model_parallel_size")                             \
    X(DP, "data_parallel_size")                                     \
    X(WORLD, "world_size")                                          \
    X(MICRO_BATCH, "micro_batch_size")                              \
    X(BATCH, "global_batch_size")                                   \
    X(SEQ, "seq_length")                                            \
    X(LAYERS, "num_layers")                                         \
    X(HIDDEN, "hidden_size")                                        \
    X(FFN, "ffn_hidden_size")                                       \
    X(HEADS, "num_attention_heads")                                 \
    X(GROUPS, "num_query_groups")                                   \
    X(GROUPED, "group_query_attention")                             \
    X(HEAD_DIM, "kv_channels")                                      \
    X(VOCAB, "padded_vocab_size")                                   \
    X(GATED, "swiglu")                                              \
    X(UNTIED, "untie_embeddings_and_output_weights")                \
    X(EXPERTS, "num_experts")                                       \
    X(TOPK, "moe_router_topk")                                      \
    X(EXPERT_FFN, "moe_ffn_hidden_size")                            \
    X(SEQUENCE_PARALLEL, "sequence_parallel")                       \
    X(DISTRIBUTED_OPTIMISER, "use_distributed_optimizer")           \
    X(RECOMPUTE, "recompute_granularity") /* 1 selective, 2 full */ \
    X(FP8, "fp8")                                                   \
    X(FP8_RECIPE, "fp8_recipe") /* 1 mxfp8 */                       \
    X(FP4, "fp4")                                                   \
    X(FP16, "fp16")                                                 \
    X(FSDP, "use_megatron_fsdp")                                    \
    X(STRATEGY, "data_parallel_sharding_strategy") /* ZeRO stage */ \
    X(MLA, "multi_latent_attention")                                \
    X(Q_RANK, "q_lora_rank")                                        \
    X(KV_RANK, "kv_lora_rank")                                      \
    X(NOPE_DIM, "qk_head_dim")                                      \
    X(ROPE_DIM, "qk_pos_emb_head_dim")                              \
    X(V_DIM, "v_head_dim")                                          \
    X(SHARED_FFN, "moe_shared_expert_intermediate_size")            \
    X(MOE_INTERVAL, "moe_layer_freq")                               \
    X(MTP, "mtp_num_layers")

enum myr_log_argument {
#define MYR_LOG_ENUM(name, text) MYR_LOG_##name,
    MYR_LOG_ARGUMENTS(MYR_LOG_ENUM)
#undef MYR_LOG_ENUM
        MYR_LOG_ARGUMENT_COUNT
};

struct myr_trainlog {
    struct myr_samples elapsed_s, tflops;
    double batch;         /* sequences, of the last iteration that says so; 0: unknown */
    uint32_t first_dense; /* where 'moe_layer_freq' is a list: zeros at its start */
    bool odd_experts;     /* it has another pattern than that */
    uint64_t lines;       /* read so far */
    uint64_t truncated;   /* of them, longer than any real one: cut */
    struct myr_log_timer timers[MYR_LOG_TIMERS_MAX];
    uint32_t timer_count;
    double arguments[MYR_LOG_ARGUMENT_COUNT];
    bool given[MYR_LOG_ARGUMENT_COUNT];
    /* Where the reader is. */
    struct myr_buf line, pending; /* an unfinished line; an iteration that may go on */
    uint32_t pending_lines;
    bool skipping; /* the rest of a line that is too long */
    bool traced;   /* a profiler's trace, which is no log */
    char by_rank[MYR_LOG_NAME_MAX];
    double rank_least, rank_most;
    uint32_t rank_count;
};

void myr_trainlog_init(struct myr_trainlog *log);
void myr_trainlog_done(struct myr_trainlog *log);
void myr_trainlog_feed(struct myr_trainlog *log, struct myr_str text);
/* After the last piece. MYR_EINVAL when no iteration was found; 'file' is for the message. */
MYR_MUST_USE int myr_trainlog_finish(struct myr_trainlog *log, const char *file,
                                     struct myr_err *err);
/* Feeds a file ("-": standard input) in pieces and finishes. */
MYR_MUST_USE int myr_trainlog_read(struct myr_trainlog *log, const char *path, struct myr_err *err);

/* Median without the first two (kernels load, caches fill) where there are six or more. */
double myr_samples_typical(const struct myr_samples *samples);
/* NULL when the log has no such timer. */
const struct myr_log_timer *myr_trainlog_timer(const struct myr_trainlog *log, const char *name);
/* Between least and most over the ranks, seconds; 0 when there is none. */
double myr_trainlog_seconds(const struct myr_trainlog *log, const char *name);

/* Fixes the axes of a question by the log's arguments, where the question leaves them open. */
void myr_trainlog_query(const struct myr_trainlog *log, struct myr_fit_query *query);
/* The model by the log's arguments; MYR_ENOENT when they do not say enough. */
MYR_MUST_USE int myr_trainlog_model(const struct myr_trainlog *log, struct myr_model *ret,
                                    struct myr_err *err);
