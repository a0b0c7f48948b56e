/*
 * layout: how a model's training is spread over GPUs, as plain values.
 *
 *   tp   tensor parallel          every layer's matrices cut, inside a server
 *   cp   context parallel         the sequence cut
 *   dp   data parallel            other samples
 *   pp   pipeline parallel        layers cut into pp * vp chunks; chunk c is on stage c % pp
 *   ep   expert parallel          experts dealt out
 *   etp  expert tensor parallel   each expert's matrices cut (0: as tp)
 *
 * gpus = tp * cp * dp * pp. The experts of one stage see its tp * cp * dp ranks as another grid,
 * etp * ep * edp, so ep adds no GPUs. A rank is the mixed-radix number of its coordinates; 'order'
 * names the axes from the fastest to the slowest. The default is Megatron's, tp-cp-ep-dp-pp:
 * neighbours in rank share a tensor group, stages lie furthest apart. In the grid of the experts
 * etp stands where tp does and edp where dp does.
 *
 * Ranks are numbers of the job, not of machines: which GPU runs a rank is the scheduler's choice.
 */
#pragma once

#include "myriad/work/count.h"
#include "myriad/work/habits.h"

#define MYR_LAYOUT_GPUS_MAX  (1U << 24)
#define MYR_LAYOUT_BATCH_MAX (1U << 24) /* sequences in one step */
#define MYR_LAYOUT_VP_MAX    1024U

/* Axes that groups can be asked for: the single ones, and those that a collective runs over. */
#define MYR_AXES(X)                                                                     \
    X(TP, "tp")                                                                         \
    X(CP, "cp")                                                                         \
    X(DP, "dp")                                                                         \
    X(PP, "pp")                                                                         \
    X(EP, "ep")                                                                         \
    X(ETP, "etp")                                                                       \
    X(EDP, "edp")                   /* ranks that hold the same experts */              \
    X(DP_CP, "dp-cp")               /* ranks that hold the same dense weights */        \
    X(TP_PP, "tp-pp")               /* one replica of the model, of one context part */ \
    X(SHARD, "shard")               /* ZeRO: ranks among which the state is cut ... */  \
    X(REPLICA, "replica")           /* ... and those that hold the same piece of it */  \
    X(EXPERT_SHARD, "expert-shard") /* the same two for expert weights */               \
    X(EXPERT_REPLICA, "expert-replica")                                                 \
    X(EMBEDDING, "embedding") /* first and last stage */                                \
    X(MIRROR, "mirror")       /* stages p and pp - 1 - p (DualPipe's two copies) */     \
    X(WORLD, "world")

enum myr_axis {
#define MYR_AXIS_ENUM(name, text) MYR_AXIS_##name,
    MYR_AXES(MYR_AXIS_ENUM)
#undef MYR_AXIS_ENUM
};

#define MYR_LAYOUT_ORDER_COUNT 5

enum myr_schedule {
    MYR_SCHEDULE_1F1B,
    MYR_SCHEDULE_INTERLEAVED, /* vp > 1 */
    MYR_SCHEDULE_ZERO_BUBBLE, /* ZB-H1: memory of 1F1B */
    MYR_SCHEDULE_DUALPIPE     /* both directions at once; every stage's weights twice */
};

enum myr_precision {
    MYR_PRECISION_BF16,
    MYR_PRECISION_FP16,
    MYR_PRECISION_FP8,
    MYR_PRECISION_MXFP8,
    MYR_PRECISION_NVFP4,
    MYR_PRECISION_FP32
};

struct myr_layout {
    uint32_t tp, pp, vp, dp, cp, ep;
    uint32_t etp;              /* 0: as tp */
    uint32_t zero;             /* stage 0 to 3; 1 is Megatron's distributed optimiser */
    uint32_t shard;            /* ranks that ZeRO cuts over (HSDP); 0: all of dp * cp */
    bool sequence_parallel;    /* activations between tensor-parallel parts are cut too */
    bool flash_attention;      /* the matrix of scores is never stored */
    bool fused_loss;           /* from logits to their gradient in one kernel, or one graph */
    bool low_kept;             /* what is kept for products in low precision is as low itself */
    bool output_counts;        /* output and prediction modules count as layers in the deal */
    uint32_t micro_batch;      /* sequences */
    uint32_t global_batch;     /* sequences */
    uint32_t seq_tokens;       /* 0: the model's */
    uint32_t gradient_bytes;   /* 2 or 4, kept and on the way; 0: as usual with the precision */
    uint32_t first_layers;     /* layers on the first and on the last stage; 0: by the rule of */
    uint32_t last_layers;      /* myr_layout_chunk_layers() */
    uint32_t recompute_layers; /* of each chunk, the first so many, with 'full'; 0: all */
    uint32_t recompute_parts;  /* MYR_AGAIN() bits: parts of every layer made again */
    uint32_t offload_layers;   /* of a stage, whose activations wait in the host's memory */
    enum myr_recompute recompute;
    enum myr_schedule schedule;
    enum myr_precision precision;
    enum myr_operators kernels;
    enum myr_weights weights;
    enum myr_axis order[MYR_LAYOUT_ORDER_COUNT]; /* tp, cp, ep, dp, pp; fastest first */
};

/* One GPU, one sequence, bf16, ZeRO-1, flash attention, Megatron's order. */
struct myr_layout myr_layout_default(void);

uint64_t myr_layout_gpus(const struct myr_layout *layout);
uint32_t myr_layout_etp(const struct myr_layout *layout);
uint32_t myr_layout_edp(const struct myr_layout *layout); /* tp*cp*dp / (etp*ep) */
uint32_t myr_layout_seq(const struct myr_layout *layout, const struct myr_model *model);
uint32_t myr_layout_micro_batches(const struct myr_layout *layout); /* a step, a dp rank */
/* Ranks that one dense, and one expert weight's optimiser state is cut over; 1 with ZeRO-0. */
uint32_t myr_layout_shard(const struct myr_layout *layout);
uint32_t myr_layout_expert_shard(const struct myr_layout *layout);

/* What can be wrong with a layout. Search counts rejections by rule; people get the message. */
#define MYR_LAYOUT_RULES(X)           \
    X(OK, "ok")                       \
    X(SIZES, "sizes")                 \
    X(ORDER, "order")                 \
    X(GPUS, "gpus")                   \
    X(EXPERT_GRID, "expert-grid")     \
    X(EXPERT_ORDER, "expert-order")   \
    X(SHARD, "shard")                 \
    X(HEADS, "heads")                 \
    X(KV_HEADS, "kv-heads")           \
    X(FFN, "ffn")                     \
    X(NO_EXPERTS, "no-experts")       \
    X(EXPERTS, "experts")             \
    X(EXPERT_FFN, "expert-ffn")       \
    X(EXPERT_TOKENS, "expert-tokens") \
    X(LAYERS, "layers")               \
    X(STAGE_LAYERS, "stage-layers")   \
    X(SCHEDULE, "schedule")           \
    X(BATCH, "batch")                 \
    X(MICRO_BATCHES, "micro-batches") \
    X(SEQUENCE, "sequence")           \
    X(POSITIONS, "positions")

enum myr_layout_rule {
#define MYR_LAYOUT_RULE_ENUM(name, text) MYR_LAYOUT_##name,
    MYR_LAYOUT_RULES(MYR_LAYOUT_RULE_ENUM)
#undef MYR_LAYOUT_RULE_ENUM
};

/*
 * The first rule that is broken. No allocation, no text: for the inner loop. gpus 0: any number;
 * model NULL: only what holds for every model.
 */
enum myr_layout_rule myr_layout_broken(const struct myr_layout *layout,
                                       const struct myr_model *model, uint64_t gpus);
const char *myr_layout_rule_name(enum myr_layout_rule rule);
/* The key of the layout block that a rule is about, or NULL. */
const char *myr_layout_rule_key(enum myr_layout_rule rule);

/* The same, in words: "layout rule 'heads': 12 heads cannot be cut into tp 8". */
MYR_MUST_USE int myr_layout_check(const struct myr_layout *layout, const struct myr_model *model,
                                  uint64_t gpus, struct myr_err *err);

/*
 * Reads a map such as {tp: 8, pp: 8, micro_batch: 1, global_batch: 2048}; docs/work.md lists the
 * keys. Without 'dp' it is what 'gpus' leave: gpus / (tp*cp*pp). The result is not checked against
 * a model. The writer gives a block that reads back as the same layout.
 */
MYR_MUST_USE int myr_layout_parse(const struct myr_doc *map, uint64_t gpus, struct myr_layout *ret,
                                  struct myr_err *err);
/* The same of words, "tp=8,pp=8,micro_batch=1"; 'name' is for messages. */
MYR_MUST_USE int myr_layout_words(const char *name, const char *text, uint64_t gpus,
                                  struct myr_layout *ret, struct myr_err *err);
void myr_layout_write(struct myr_buf *buf, const struct myr_layout *layout);

const char *myr_axis_name(enum myr_axis axis);
const char *myr_recompute_name(enum myr_recompute recompute);
const char *myr_schedule_name(enum myr_schedule schedule);
const char *myr_precision_name(enum myr_precision precision);
