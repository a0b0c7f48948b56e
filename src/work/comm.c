/*
 * comm: the rows of docs/work.md, "Messages of a step". One function adds what one axis moves;
 * add() drops what nobody sends and joins equal rows, so each rule may be written as if its axis
 * were in use.
 */
#include "myriad/work/comm.h"

#include "stage.h"

/* What every rule below needs, computed once. */
struct step {
    const struct myr_layout *layout;
    const struct myr_model *model;
    struct myr_numerics n;
    struct stage parts; /* layers and ends of the stage */
    uint32_t stage;
    uint64_t passes;            /* micro-batches through each chunk */
    uint64_t layer_passes;      /* layers of all kinds, prediction modules included, times passes */
    uint64_t moe_passes;        /* MoE layers times passes */
    uint64_t layer_again;       /* of those, computed again */
    uint64_t moe_again;         /* and of the MoE ones */
    uint64_t between_tokens;    /* of a micro-batch, between tensor-parallel parts */
    uint64_t tensor_bytes;      /* T: all tokens of the rank's sequence part */
    struct myr_comm_list *list; /* the caller's */
};

/* What does not change between the messages of one purpose; a group of one sends nothing. */
struct operation {
    enum myr_comm_kind kind;
    enum myr_axis axis;
    uint32_t group_size;
};

/*
 * A row for 'count' equal operations of 'bytes' each. Groups of one, empty messages and counts of 0
 * leave no row.
 */
static void add(const struct step *step, struct operation op, enum myr_collective collective,
                enum myr_phase phase, uint64_t bytes, uint64_t count)
{
    if (op.group_size < 2 || bytes == 0 || count == 0) {
        return;
    }
    struct myr_comm_list *list = step->list;
    for (uint32_t i = 0; i < list->count; i++) {
        struct myr_comm *row = &list->rows[i];
        if (row->kind == op.kind && row->axis == op.axis && row->collective == collective &&
            row->phase == phase && row->bytes == bytes) {
            row->count += count;
            return;
        }
    }
    MYR_ASSERT(list->count < MYR_COMM_ROWS_MAX);
    list->rows[list->count++] = (struct myr_comm){.kind = op.kind,
                                                  .axis = op.axis,
                                                  .collective = collective,
                                                  .phase = phase,
                                                  .group_size = op.group_size,
                                                  .bytes = bytes,
                                                  .count = count};
}

/* One block whose input is spread over the tensor group and whose output is summed over it. */
static void add_block(const struct step *step, struct operation op, uint64_t bytes, uint64_t count,
                      uint64_t again)
{
    /*
     * 'count' passes of the block in the step, 'again' of them repeated forward in the backward
     * phase.
     */
    uint64_t backward = count + again;
    if (!step->layout->sequence_parallel) {
        add(step, op, MYR_ALL_REDUCE, MYR_PHASE_FORWARD, bytes, count);
        add(step, op, MYR_ALL_REDUCE, MYR_PHASE_BACKWARD, bytes, backward);
        return;
    }
    add(step, op, MYR_ALL_GATHER, MYR_PHASE_FORWARD, bytes, count);
    add(step, op, MYR_REDUCE_SCATTER, MYR_PHASE_FORWARD, bytes, count);
    /* Gather the output's gradient; gather the input anew, for the weight's gradient. */
    add(step, op, MYR_ALL_GATHER, MYR_PHASE_BACKWARD, bytes, backward + count);
    add(step, op, MYR_REDUCE_SCATTER, MYR_PHASE_BACKWARD, bytes, backward);
}

/*
 * Attention in every layer, an FFN in dense ones; layers with experts have one only as shared
 * experts.
 */
static void add_tensor_layers(const struct step *step)
{
    const struct myr_layout *layout = step->layout;
    const struct myr_moe *moe = &step->model->moe;
    uint32_t etp = myr_layout_etp(layout);
    struct operation attention = {MYR_COMM_TP_ATTENTION, MYR_AXIS_TP, layout->tp};
    struct operation ffn = {MYR_COMM_TP_FFN, MYR_AXIS_TP, layout->tp};
    struct operation expert = {MYR_COMM_TP_EXPERT, MYR_AXIS_ETP, etp};
    uint64_t blocks = step->layer_passes - step->moe_passes;
    uint64_t again = step->layer_again - step->moe_again;
    if (moe->shared_count > 0) {
        blocks += step->moe_passes;
        again += step->moe_again;
    }
    /* Routed experts have a group and a size of their own, below. */
    add_block(step, attention, step->tensor_bytes, step->layer_passes, step->layer_again);
    add_block(step, ffn, step->tensor_bytes, blocks, again);
    if (step->moe_passes > 0) {
        /* With ep every token arrives once for each of its experts; without, it just stays. */
        uint64_t copies = layout->ep > 1 ? moe->experts_per_token : 1;
        uint64_t gathered = layout->sequence_parallel ? etp : 1;
        myr_u128 bytes = (myr_u128)step->between_tokens * gathered * copies * step->model->hidden *
                         step->n.activation_bytes;
        add_block(step, expert, clamp_u64(bytes), step->moe_passes, step->moe_again);
    }
}

/*
 * The ends of the model: table and output matrix are cut along the vocabulary, so a look-up gives a
 * part of a sum, and an output needs whole tokens. Prediction modules look up and put out too.
 */
static void add_vocabulary(const struct step *step)
{
    bool cut = step->layout->sequence_parallel;
    struct operation op = {MYR_COMM_TP_VOCAB, MYR_AXIS_TP, step->layout->tp};
    struct operation loss = {MYR_COMM_TP_LOSS, MYR_AXIS_TP, step->layout->tp};
    uint64_t bytes = step->tensor_bytes;
    uint64_t lookups = (step->parts.has_first ? 1 : 0) + step->parts.mtp_count;
    uint64_t outputs = step->parts.has_last ? 1 + step->parts.mtp_count : 0;
    lookups *= step->passes;
    outputs *= step->passes;
    if (cut) {
        add(step, op, MYR_REDUCE_SCATTER, MYR_PHASE_FORWARD, bytes, lookups);
        add(step, op, MYR_ALL_GATHER, MYR_PHASE_BACKWARD, bytes, lookups);
        add(step, op, MYR_ALL_GATHER, MYR_PHASE_FORWARD, bytes, outputs);
        add(step, op, MYR_ALL_GATHER, MYR_PHASE_BACKWARD, bytes, outputs);
        add(step, op, MYR_REDUCE_SCATTER, MYR_PHASE_BACKWARD, bytes, outputs);
    } else {
        add(step, op, MYR_ALL_REDUCE, MYR_PHASE_FORWARD, bytes, lookups);
        add(step, op, MYR_ALL_REDUCE, MYR_PHASE_BACKWARD, bytes, outputs);
    }
    /* Largest logit, sum of exponentials, the wanted token's logit: one fp32 a token each. */
    uint64_t tokens = myr_work_tokens(step->layout, step->model);
    add(step, loss, MYR_ALL_REDUCE, MYR_PHASE_FORWARD, 4 * tokens, 3 * outputs);
}

/*
 * A ring: keys and values of each rank's part visit the cp - 1 others. Backward they go round
 * again, and their gradients with them: twice the bytes.
 */
static void add_context(const struct step *step)
{
    const struct myr_layout *layout = step->layout;
    struct operation op = {MYR_COMM_CP_KV, MYR_AXIS_CP, layout->cp};
    uint64_t width = (uint64_t)myr_work_kv_heads(step->model, layout->tp) *
                     (myr_model_qk_dim(step->model) + myr_model_v_dim(step->model));
    myr_u128 bytes =
        (myr_u128)myr_work_tokens(layout, step->model) * width * step->n.activation_bytes;
    uint64_t hops = step->layer_passes * (layout->cp - 1);
    uint64_t again = step->layer_again * (layout->cp - 1);
    /* Flash attention rebuilds scores inside its backward kernel, from what is there anyway. */
    if (layout->recompute == MYR_RECOMPUTE_SELECTIVE && !layout->flash_attention) {
        again = hops;
    }
    add(step, op, MYR_SEND_RECEIVE, MYR_PHASE_FORWARD, clamp_u64(bytes), hops);
    add(step, op, MYR_SEND_RECEIVE, MYR_PHASE_BACKWARD, clamp_u64(bytes), again);
    add(step, op, MYR_SEND_RECEIVE, MYR_PHASE_BACKWARD, clamp_u64(2 * bytes), hops);
}

/*
 * What this stage hands on: activations of all chunks but the last, gradients of all but the first.
 * Recomputation repeats nothing here: the input of a chunk is kept.
 */
static void add_pipeline(const struct step *step)
{
    const struct myr_layout *layout = step->layout;
    struct operation forward = {MYR_COMM_PP_ACTIVATION, MYR_AXIS_PP, layout->pp};
    struct operation backward = {MYR_COMM_PP_GRADIENT, MYR_AXIS_PP, layout->pp};
    uint64_t bytes =
        clamp_u64((myr_u128)step->between_tokens * step->model->hidden * step->n.activation_bytes);
    uint32_t last_chunk = layout->pp * layout->vp - 1;
    for (uint32_t i = 0; i < myr_layout_stage_chunk_count(layout); i++) {
        uint32_t chunk = myr_layout_stage_chunk(layout, step->stage, i);
        add(step, forward, MYR_SEND_RECEIVE, MYR_PHASE_FORWARD, bytes,
            chunk < last_chunk ? step->passes : 0);
        add(step, backward, MYR_SEND_RECEIVE, MYR_PHASE_BACKWARD, bytes,
            chunk > 0 ? step->passes : 0);
    }
}

/*
 * Each token goes to K experts and comes back. Only what goes out forward may be in low precision
 * (dispatch_bytes); gradients, and what comes back, are as wide as activations.
 */
static void add_experts(const struct step *step)
{
    const struct myr_layout *layout = step->layout;
    struct operation dispatch = {MYR_COMM_EP_DISPATCH, MYR_AXIS_EP, layout->ep};
    struct operation combine = {MYR_COMM_EP_COMBINE, MYR_AXIS_EP, layout->ep};
    myr_u128 elements =
        (myr_u128)step->between_tokens * step->model->moe.experts_per_token * step->model->hidden;
    uint64_t out = clamp_u64(elements * step->n.dispatch_bytes);
    uint64_t back = clamp_u64(elements * step->n.activation_bytes);
    uint64_t count = step->moe_passes;
    uint64_t again = step->moe_again;
    add(step, dispatch, MYR_ALL_TO_ALL, MYR_PHASE_FORWARD, out, count);
    add(step, combine, MYR_ALL_TO_ALL, MYR_PHASE_FORWARD, back, count);
    add(step, dispatch, MYR_ALL_TO_ALL, MYR_PHASE_BACKWARD, out, again);
    add(step, dispatch, MYR_ALL_TO_ALL, MYR_PHASE_BACKWARD, back, count);
    add(step, combine, MYR_ALL_TO_ALL, MYR_PHASE_BACKWARD, back, again + count);
}

/* One class of weights: dense or expert. */
struct weight_class {
    enum myr_comm_kind gradient, param, replica;
    enum myr_axis whole_axis, shard_axis, replica_axis; /* of ZeRO-0; of a shard; of its copies */
    uint32_t ranks;                                     /* that hold the same weights */
    uint32_t shard;                                     /* of them that ZeRO cuts over */
};

/* ZeRO-3 works layer by layer: 'count' pieces of 'params' weights, every micro-batch. */
static void add_gathered(const struct step *step, const struct weight_class *class, uint64_t params,
                         uint64_t count)
{
    struct operation gather = {class->param, class->shard_axis, class->shard};
    struct operation reduce = {class->gradient, class->shard_axis, class->shard};
    uint64_t times = count * step->passes;
    add(step, gather, MYR_ALL_GATHER, MYR_PHASE_FORWARD, params * step->n.gather_bytes, times);
    add(step, gather, MYR_ALL_GATHER, MYR_PHASE_BACKWARD, params * step->n.gather_bytes, times);
    add(step, reduce, MYR_REDUCE_SCATTER, MYR_PHASE_BACKWARD, params * step->n.reduce_bytes, times);
}

/* All weights of a class at once (ZeRO-0 to 2), and what replicas exchange. */
static void add_whole(const struct step *step, const struct weight_class *class, uint64_t params)
{
    uint32_t zero = step->layout->zero;
    uint64_t gradients = params * step->n.reduce_bytes;
    struct operation all = {class->gradient, class->whole_axis, class->ranks};
    struct operation reduce = {class->gradient, class->shard_axis, class->shard};
    struct operation gather = {class->param, class->shard_axis, class->shard};
    struct operation replica = {class->replica, class->replica_axis, class->ranks / class->shard};
    if (zero == 0) {
        add(step, all, MYR_ALL_REDUCE, MYR_PHASE_BACKWARD, gradients, 1);
        return;
    }
    /*
     * No rank keeps a whole gradient with ZeRO-2, so every micro-batch's is scattered
     * (docs/decisions, 0006).
     */
    if (zero <= 2) {
        add(step, reduce, MYR_REDUCE_SCATTER, MYR_PHASE_BACKWARD, gradients,
            zero == 2 ? step->passes : 1);
        add(step, gather, MYR_ALL_GATHER, MYR_PHASE_OPTIMISER, params * step->n.gather_bytes, 1);
    }
    /*
     * HSDP: each piece is then summed over its copies. A group of one without it, also with ZeRO-3.
     */
    add(step, replica, MYR_ALL_REDUCE, MYR_PHASE_BACKWARD, divide_up(gradients, class->shard), 1);
}

/* All but routed experts: averaged over dp-cp, whether the tensor group cuts or repeats them. */
static uint64_t dense_of(struct weights w)
{
    return w.sharded + w.replicated;
}

/*
 * Gradients and weights over the ranks that hold the same ones: dense over dp-cp, experts over edp.
 */
static void add_data(const struct step *step, const struct myr_rank_params *params)
{
    const struct myr_layout *layout = step->layout;
    const struct myr_model *model = step->model;
    const struct weight_class dense = {
        MYR_COMM_DP_GRADIENT, MYR_COMM_DP_PARAM, MYR_COMM_DP_REPLICA,     MYR_AXIS_DP_CP,
        MYR_AXIS_SHARD,       MYR_AXIS_REPLICA,  layout->dp * layout->cp, myr_layout_shard(layout)};
    const struct weight_class expert = {MYR_COMM_EXPERT_GRADIENT, MYR_COMM_EXPERT_PARAM,
                                        MYR_COMM_EXPERT_REPLICA,  MYR_AXIS_EDP,
                                        MYR_AXIS_EXPERT_SHARD,    MYR_AXIS_EXPERT_REPLICA,
                                        myr_layout_edp(layout),   myr_layout_expert_shard(layout)};
    if (layout->zero == 3) {
        struct weights_share share = myr_work_share(layout);
        struct weights dense_layer = myr_work_layer(model, false, share);
        struct weights moe_layer = myr_work_layer(model, true, share);
        struct weights ends = myr_work_stage_ends(layout, model, &step->parts);
        struct weights mtp = myr_work_mtp(model, share);
        add_gathered(step, &dense, dense_of(dense_layer), step->parts.dense_layers);
        add_gathered(step, &dense, dense_of(moe_layer), step->parts.moe_layers);
        add_gathered(step, &dense, dense_of(mtp), step->parts.mtp_count);
        add_gathered(step, &dense, dense_of(ends), 1);
        add_gathered(step, &expert, moe_layer.expert,
                     step->parts.moe_layers + (mtp.expert > 0 ? step->parts.mtp_count : 0));
    }
    add_whole(step, &dense, params->sharded + params->replicated);
    add_whole(step, &expert, params->expert);
}

/* Once a step, after the last micro-batch. */
static void add_closing(const struct step *step, const struct myr_rank_params *params)
{
    const struct myr_layout *layout = step->layout;
    struct operation repeated = {MYR_COMM_TP_GRADIENT, MYR_AXIS_TP, layout->tp};
    struct operation table = {MYR_COMM_EMBEDDING, MYR_AXIS_EMBEDDING, 2};
    struct operation mirror = {MYR_COMM_MIRROR, MYR_AXIS_MIRROR, 2};
    bool sharded = layout->zero > 0;
    struct operation norm = {MYR_COMM_GRAD_NORM, sharded ? MYR_AXIS_WORLD : MYR_AXIS_TP_PP,
                             sharded ? (uint32_t)myr_layout_gpus(layout) : layout->tp * layout->pp};
    uint64_t each = step->n.reduce_bytes;
    /* Each tensor rank saw its own part of the sequence. */
    add(step, repeated, MYR_ALL_REDUCE, MYR_PHASE_BACKWARD, params->replicated * each,
        layout->sequence_parallel ? 1 : 0);
    /*
     * First and last stage have a copy of the table each, whose gradients are summed to stay equal.
     */
    bool shared = step->model->tied || step->model->mtp_count > 0;
    bool outer = step->parts.has_first != step->parts.has_last;
    add(step, table, MYR_ALL_REDUCE, MYR_PHASE_BACKWARD,
        weights_sum(myr_work_head(step->model, layout->tp)) * each, shared && outer ? 1 : 0);
    /*
     * Both directions train the same layers on two stages, which sum what is left after sharding.
     */
    if (layout->schedule == MYR_SCHEDULE_DUALPIPE) {
        uint64_t bytes =
            divide_up((myr_u128)(params->sharded + params->replicated) * each,
                      myr_layout_shard(layout)) +
            divide_up((myr_u128)params->expert * each, myr_layout_expert_shard(layout));
        add(step, mirror, MYR_ALL_REDUCE, MYR_PHASE_BACKWARD, bytes, 1);
    }
    /*
     * One fp32: the sum of squares. Sharded gradients need all ranks for it, whole ones one
     * replica.
     */
    add(step, norm, MYR_ALL_REDUCE, MYR_PHASE_OPTIMISER, 4, 1);
}

/* By kind, keeping the order in which rows of one kind came. */
static void sort_rows(struct myr_comm_list *list)
{
    for (uint32_t i = 1; i < list->count; i++) {
        struct myr_comm row = list->rows[i];
        uint32_t at = i;
        while (at > 0 && list->rows[at - 1].kind > row.kind) {
            list->rows[at] = list->rows[at - 1];
            at--;
        }
        list->rows[at] = row;
    }
}

/*
 * Rows of the ranks of one stage, sorted by kind. Which ranks those are does not matter: all of a
 * stage send the same.
 */
void myr_comm_of(const struct myr_layout *layout, const struct myr_model *model, uint32_t stage,
                 struct myr_comm_list *ret)
{
    ret->count = 0;
    struct step step = {
        .layout = layout,
        .model = model,
        .n = myr_layout_numerics(layout),
        .parts = myr_work_stage(layout, model, stage),
        .stage = stage,
        .passes = myr_layout_passes(layout),
        .between_tokens = myr_work_tokens_between(layout, model),
        .list = ret,
    };
    /* A prediction module is a layer more, of the kind that the last layer is. */
    uint64_t moe_layers = step.parts.moe_layers;
    bool mtp_moe = step.parts.mtp_count > 0 && myr_work_mtp_is_moe(model);
    moe_layers += mtp_moe ? step.parts.mtp_count : 0;
    uint64_t layers =
        (uint64_t)step.parts.dense_layers + step.parts.moe_layers + step.parts.mtp_count;
    step.moe_passes = moe_layers * step.passes;
    step.layer_passes = layers * step.passes;
    step.moe_again = (step.parts.moe_again + (mtp_moe ? step.parts.mtp_again : 0)) * step.passes;
    step.layer_again =
        ((uint64_t)step.parts.dense_again + step.parts.moe_again + step.parts.mtp_again) *
        step.passes;
    step.tensor_bytes = clamp_u64((myr_u128)myr_work_tokens(layout, model) * model->hidden *
                                  step.n.activation_bytes);
    struct myr_rank_params params = myr_rank_params(layout, model, stage);
    add_tensor_layers(&step);
    add_vocabulary(&step);
    add_context(&step);
    add_pipeline(&step);
    add_experts(&step);
    add_data(&step, &params);
    add_closing(&step, &params);
    sort_rows(ret);
}

/* What one member sends when rings do the work: an all-reduce is a scatter and a gather. */
uint64_t myr_comm_wire_bytes(const struct myr_comm *row)
{
    uint64_t n = row->group_size;
    MYR_ASSERT(n > 1);
    switch (row->collective) {
    case MYR_ALL_REDUCE:
        return divide_up((myr_u128)row->bytes * 2 * (n - 1), n);
    case MYR_ALL_GATHER:
    case MYR_REDUCE_SCATTER:
    case MYR_ALL_TO_ALL:
        return divide_up((myr_u128)row->bytes * (n - 1), n);
    case MYR_SEND_RECEIVE:
    case MYR_BROADCAST:
        break;
    }
    return row->bytes;
}

/* From the list that makes the enum: no name can be missing. */
const char *myr_comm_kind_name(enum myr_comm_kind kind)
{
    static const char *const names[] = {
#define KIND_NAME(name, text) text,
        MYR_COMM_KINDS(KIND_NAME)
#undef KIND_NAME
    };
    MYR_ASSERT((size_t)kind < MYR_ARRAY_COUNT(names));
    return names[kind];
}

const char *myr_collective_name(enum myr_collective collective)
{
    static const char *const names[] = {"all-reduce", "all-gather",   "reduce-scatter",
                                        "all-to-all", "send-receive", "broadcast"};
    MYR_ASSERT((size_t)collective < MYR_ARRAY_COUNT(names));
    return names[collective];
}

const char *myr_phase_name(enum myr_phase phase)
{
    static const char *const names[] = {"forward", "backward", "optimiser"};
    MYR_ASSERT((size_t)phase < MYR_ARRAY_COUNT(names));
    return names[phase];
}
