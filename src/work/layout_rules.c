/* Which layouts can run; layout_check.c says it in words. */
#include "myriad/work/layout.h"

#include "grid.h"

/* Rules of the layout alone. */

/* Sizes start at 1; where 0 stands for "not given" another test is used. */
static bool in_range(uint32_t value, uint32_t max)
{
    return value >= 1 && value <= max;
}

/* Every size that anything is later divided by, and products that must fit 32 bits. */
static bool sizes_ok(const struct myr_layout *l)
{
    const uint32_t axes[] = {l->tp, l->cp, l->dp, l->pp, l->ep, myr_layout_etp(l)};
    uint64_t product = 1;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(axes); i++) {
        if (!in_range(axes[i], MYR_LAYOUT_GPUS_MAX)) {
            return false;
        }
        /*
         * tp, cp, dp and pp multiply to the GPUs; the experts' axes see the same ranks once more.
         */
        if (i < 4) {
            product *= axes[i];
            if (product > MYR_LAYOUT_GPUS_MAX) {
                return false;
            }
        }
    }
    bool widths = l->gradient_bytes == 0 || l->gradient_bytes == 2 || l->gradient_bytes == 4;
    return widths && in_range(l->vp, MYR_LAYOUT_VP_MAX) && l->zero <= 3 &&
           in_range(l->micro_batch, MYR_LAYOUT_BATCH_MAX) &&
           in_range(l->global_batch, MYR_LAYOUT_BATCH_MAX) && l->seq_tokens <= MYR_MODEL_SEQ_MAX &&
           l->first_layers <= MYR_MODEL_LAYERS_MAX && l->last_layers <= MYR_MODEL_LAYERS_MAX &&
           l->recompute_layers <= MYR_MODEL_LAYERS_MAX;
}

/* Each of the five axes once. */
static bool order_ok(const struct myr_layout *layout)
{
    /* Five names, five bits: a name twice leaves a bit out. */
    unsigned seen = 0;
    for (size_t i = 0; i < MYR_LAYOUT_ORDER_COUNT; i++) {
        if (layout->order[i] > MYR_AXIS_WORLD) {
            return false;
        }
        seen |= 1U << layout->order[i];
    }
    return seen == (1U << MYR_AXIS_TP | 1U << MYR_AXIS_CP | 1U << MYR_AXIS_DP | 1U << MYR_AXIS_PP |
                    1U << MYR_AXIS_EP);
}

/* A shard must be a run of whole digits of the grid, for dense weights and for experts. */
static bool shard_ok(const struct myr_layout *layout)
{
    if (layout->shard == 0) {
        return true;
    }
    uint32_t ranks = layout->dp * layout->cp;
    if (layout->zero == 0 || ranks % layout->shard != 0) {
        return false;
    }
    /*
     * Expert weights are kept in as many copies as dense ones, so their ranks must divide by that
     * too.
     */
    uint32_t replicas = ranks / layout->shard;
    return myr_layout_edp(layout) % replicas == 0 && myr_work_grid_shards_align(layout);
}

/* The order matters: later rules divide by sizes that earlier ones found to be at least 1. */
static enum myr_layout_rule broken_alone(const struct myr_layout *layout, uint64_t gpus)
{
    if (!sizes_ok(layout)) {
        return MYR_LAYOUT_SIZES;
    }
    if (!order_ok(layout)) {
        return MYR_LAYOUT_ORDER;
    }
    if (gpus != 0 && myr_layout_gpus(layout) != gpus) {
        return MYR_LAYOUT_GPUS;
    }
    uint32_t ranks = layout->tp * layout->cp * layout->dp;
    if (ranks % ((uint64_t)myr_layout_etp(layout) * layout->ep) != 0) {
        return MYR_LAYOUT_EXPERT_GRID;
    }
    if (!myr_work_grid_stages_align(layout)) {
        return MYR_LAYOUT_EXPERT_ORDER;
    }
    return shard_ok(layout) ? MYR_LAYOUT_OK : MYR_LAYOUT_SHARD;
}

/* Rules of the layout with a model. */

/* What is cut must divide; the vocabulary alone is padded. */
static enum myr_layout_rule broken_widths(const struct myr_layout *layout,
                                          const struct myr_model *model)
{
    const struct myr_moe *moe = &model->moe;
    uint32_t tp = layout->tp;
    uint32_t etp = myr_layout_etp(layout);
    if (model->head_count % tp != 0) {
        return MYR_LAYOUT_HEADS;
    }
    /* More tensor ranks than key/value heads: each head is repeated on as many ranks, all alike. */
    if (model->kv_head_count % tp != 0 && tp % model->kv_head_count != 0) {
        return MYR_LAYOUT_KV_HEADS;
    }
    if (model->ffn_hidden % tp != 0 || (moe->shared_count > 0 && moe->shared_hidden % tp != 0)) {
        return MYR_LAYOUT_FFN;
    }
    if (moe->expert_count == 0) {
        return layout->ep == 1 && etp == tp ? MYR_LAYOUT_OK : MYR_LAYOUT_NO_EXPERTS;
    }
    if (moe->expert_count % layout->ep != 0) {
        return MYR_LAYOUT_EXPERTS;
    }
    if (moe->expert_hidden % etp != 0) {
        return MYR_LAYOUT_EXPERT_FFN;
    }
    /* All ranks of a tensor group would send the same tokens to the experts. */
    if (tp > 1 && !layout->sequence_parallel && (layout->ep > 1 || etp != tp)) {
        return MYR_LAYOUT_EXPERT_TOKENS;
    }
    return MYR_LAYOUT_OK;
}

/* 'first_layers' and 'last_layers' leave layers that divide among the stages between. */
static bool stage_layers_ok(const struct myr_layout *layout, const struct myr_model *model)
{
    uint32_t fixed_stages = (layout->first_layers > 0) + (layout->last_layers > 0);
    if (layout->output_counts) { /* the last chunk has to hold what counts */
        uint32_t ends = 1 + model->mtp_count, all = layout->pp * layout->vp;
        return fixed_stages == 0 && layout->pp > 1 && (model->layer_count + ends) / all >= ends;
    }
    if (fixed_stages == 0) {
        return true;
    }
    uint32_t fixed_layers = layout->first_layers + layout->last_layers;
    if (layout->pp < 2 || fixed_layers > model->layer_count ||
        layout->first_layers % layout->vp != 0 || layout->last_layers % layout->vp != 0) {
        return false;
    }
    uint32_t rest = model->layer_count - fixed_layers;
    uint32_t chunks = (layout->pp - fixed_stages) * layout->vp;
    return chunks == 0 ? rest == 0 : rest % chunks == 0;
}

/* Only interleaving has chunks to take turns with. DualPipe pairs stage p with pp - 1 - p. */
static bool schedule_ok(const struct myr_layout *layout)
{
    switch (layout->schedule) {
    case MYR_SCHEDULE_INTERLEAVED:
        return layout->vp > 1 && layout->pp > 1;
    case MYR_SCHEDULE_DUALPIPE:
        return layout->vp == 1 && layout->pp % 2 == 0;
    case MYR_SCHEDULE_1F1B:
    case MYR_SCHEDULE_ZERO_BUBBLE:
        break;
    }
    return layout->vp == 1;
}

/*
 * Interleaving goes in groups of pp micro-batches; DualPipe feeds half of them from each end, at
 * least pp from each.
 */
static bool micro_batches_ok(const struct myr_layout *layout)
{
    uint32_t count = myr_layout_micro_batches(layout);
    switch (layout->schedule) {
    case MYR_SCHEDULE_INTERLEAVED:
        return count % layout->pp == 0;
    case MYR_SCHEDULE_DUALPIPE:
        return count % 2 == 0 && count >= 2 * layout->pp;
    case MYR_SCHEDULE_1F1B:
    case MYR_SCHEDULE_ZERO_BUBBLE:
        break;
    }
    return true;
}

/* Causal context parallelism gives every rank an early and a late piece, for balance. */
static bool sequence_ok(const struct myr_layout *layout, uint32_t seq)
{
    MYR_ASSERT(layout->cp > 0 && layout->tp > 0);
    if (layout->cp > 1 && seq % (2 * layout->cp) != 0) {
        return false;
    }
    return !layout->sequence_parallel || seq / layout->cp % layout->tp == 0;
}

/*
 * The first rule that is broken, in the order of the enum; people get the words of layout_check.c.
 */
enum myr_layout_rule myr_layout_broken(const struct myr_layout *layout,
                                       const struct myr_model *model, uint64_t gpus)
{
    /* The rules below divide by sizes, which these have checked. */
    enum myr_layout_rule rule = broken_alone(layout, gpus);
    if (rule != MYR_LAYOUT_OK || !model) {
        return rule;
    }
    rule = broken_widths(layout, model);
    if (rule != MYR_LAYOUT_OK) {
        return rule;
    }
    /* What follows needs the numbers of layers and tokens. */
    uint32_t seq = myr_layout_seq(layout, model);
    /* The embedding and the output may stand for a layer each. */
    if ((uint64_t)layout->pp * layout->vp > model->layer_count + UINT64_C(2)) {
        return MYR_LAYOUT_LAYERS;
    }
    if (!stage_layers_ok(layout, model)) {
        return MYR_LAYOUT_STAGE_LAYERS;
    }
    if (!schedule_ok(layout)) {
        return MYR_LAYOUT_SCHEDULE;
    }
    if (layout->global_batch % ((uint64_t)layout->micro_batch * layout->dp) != 0) {
        return MYR_LAYOUT_BATCH;
    }
    if (!micro_batches_ok(layout)) {
        return MYR_LAYOUT_MICRO_BATCHES;
    }
    if (!sequence_ok(layout, seq)) {
        return MYR_LAYOUT_SEQUENCE;
    }
    bool too_long = model->positions == MYR_POSITIONS_LEARNED && seq > model->position_max;
    return too_long ? MYR_LAYOUT_POSITIONS : MYR_LAYOUT_OK;
}

const char *myr_layout_rule_name(enum myr_layout_rule rule)
{
    static const char *const names[] = {
#define RULE_NAME(name, text) text,
        MYR_LAYOUT_RULES(RULE_NAME)
#undef RULE_NAME
    };
    MYR_ASSERT((size_t)rule < MYR_ARRAY_COUNT(names));
    return names[rule];
}

/* NULL where a rule is about all of them. */
const char *myr_layout_rule_key(enum myr_layout_rule rule)
{
    static const struct {
        enum myr_layout_rule rule;
        const char *key;
    } keys[] = {
        {MYR_LAYOUT_ORDER, "order"},        {MYR_LAYOUT_GPUS, "dp"},
        {MYR_LAYOUT_EXPERT_GRID, "ep"},     {MYR_LAYOUT_EXPERT_ORDER, "order"},
        {MYR_LAYOUT_SHARD, "shard"},        {MYR_LAYOUT_HEADS, "tp"},
        {MYR_LAYOUT_KV_HEADS, "tp"},        {MYR_LAYOUT_FFN, "tp"},
        {MYR_LAYOUT_NO_EXPERTS, "ep"},      {MYR_LAYOUT_EXPERTS, "ep"},
        {MYR_LAYOUT_EXPERT_FFN, "etp"},     {MYR_LAYOUT_EXPERT_TOKENS, "sequence_parallel"},
        {MYR_LAYOUT_LAYERS, "pp"},          {MYR_LAYOUT_STAGE_LAYERS, "first_layers"},
        {MYR_LAYOUT_SCHEDULE, "schedule"},  {MYR_LAYOUT_BATCH, "global_batch"},
        {MYR_LAYOUT_MICRO_BATCHES, "pp"},   {MYR_LAYOUT_SEQUENCE, "sequence"},
        {MYR_LAYOUT_POSITIONS, "sequence"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(keys); i++) {
        if (keys[i].rule == rule) {
            return keys[i].key;
        }
    }
    return NULL;
}
