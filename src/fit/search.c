/*
 * search: the best layouts of a space, by branch and bound.
 *
 * A group is a width, a depth and a micro-batch; thousands of layouts share its arithmetic. Every
 * group gets a bound from below (its layers dealt evenly, nothing exchanged among replicas) and
 * groups are opened best first until the bound passes the worst layout that is still wanted.
 * Inside a group every cut gets a bound of its own; of the numbers of recomputed layers only the
 * least that fits in memory can be best. What is left is priced exactly as anybody else would.
 */
#include "myriad/fit/search.h"

#include <stdlib.h>

#include "space.h"

/* The scalar bound adds in another order than the full sum; this covers the difference. */
#define BOUND_SLACK (1 - 1e-9)

#define PIPES_KEPT 8 /* numbers of recomputed layers whose pipelines are remembered */

/* How a group recomputes. Counts run from none over some layers of each chunk to all. */
enum chain { CHAIN_COUNTS, CHAIN_SELECTIVE, CHAIN_COUNT };

/* What bounds need of the blocks of one width, micro-batch and chain. */
struct times {
    bool ready;
    double all;  /* every layer, the embedding and the output */
    double last; /* what the last stage has beside layers */
};

struct group {
    double floor_s;
    struct myr_layout *width;
    uint32_t depth;
    uint16_t micro_batch;
    uint8_t chain;
    bool dual;
};

struct search {
    const struct myr_fit_query *query;
    const struct fit_space *space;
    struct myr_fit_answer *answer;
    double layers[FIT_KIND_COUNT]; /* of the whole model */
    struct group *groups;          /* a heap, the lowest bound on top */
    uint32_t group_count, group_max;
    double limit_bytes; /* that a rank may fill */
    bool uniform;       /* layers keep the same, and chunks of a stage have as many */
};

static double layer_s(const struct fit_layer *layer)
{
    return layer->forward.total + layer->backward.total;
}

static double mtp_layer_s(const struct fit_blocks *blocks, const struct fit_layer *layers)
{
    return layer_s(&layers[blocks->used[FIT_MOE_FULL] ? FIT_MOE_FULL : FIT_DENSE_FULL]);
}

/* The layout whose blocks hold both a layer left alone and, where counts run, one made again. */
static void set_chain(const struct search *s, enum chain chain, struct myr_layout *layout)
{
    bool all = s->query->recompute == MYR_RECOMPUTE_FULL;
    layout->recompute = chain == CHAIN_SELECTIVE ? MYR_RECOMPUTE_SELECTIVE : MYR_RECOMPUTE_FULL;
    layout->recompute_layers = chain == CHAIN_COUNTS && !all ? 1 : 0;
    if (s->query->recompute == MYR_RECOMPUTE_NONE) {
        layout->recompute = MYR_RECOMPUTE_NONE;
        layout->recompute_layers = 0;
    }
}

static void price_times(const struct search *s, struct myr_layout layout, enum chain chain,
                        struct times *ret)
{
    const struct myr_model *model = s->query->it.model;
    struct fit_blocks blocks;
    set_chain(s, chain, &layout);
    if (layout.recompute_layers > 0) { /* bounds need what is left alone only */
        layout.recompute = MYR_RECOMPUTE_NONE;
        layout.recompute_layers = 0;
    }
    fit_blocks_of(&s->query->it, &layout, &blocks);
    ret->ready = true;
    ret->last = layer_s(&blocks.output) * (1 + model->mtp_count) +
                (model->mtp_count ? model->mtp_count * mtp_layer_s(&blocks, blocks.layers) : 0);
    ret->all = ret->last + layer_s(&blocks.embedding);
    for (int k = 0; k < FIT_KIND_COUNT; k++) {
        ret->all += s->layers[k] > 0 ? s->layers[k] * layer_s(&blocks.layers[k]) : 0;
    }
}

/* Transfers between stages when stages lie as near as any order puts them: next to tp. */
static double least_hop_s(const struct search *s, const struct myr_layout *layout)
{
    const struct myr_fit_case *it = &s->query->it;
    return layout->pp == 1 ? 0 : fit_hop_s(it, layout, fit_near_of(it, layout->pp, layout->tp));
}

static bool interleaves(const struct search *s, const struct myr_layout *layout,
                        const struct fit_depth *depth)
{
    return depth->interleaved_choices > 0 && myr_layout_micro_batches(layout) % depth->pp == 0 &&
           fit_schedule_allowed(s->query, MYR_SCHEDULE_INTERLEAVED, depth->pp);
}

/* No layout of the group takes less: layers dealt evenly, the least bubble of its schedules. */
static double group_floor_s(const struct search *s, struct myr_layout layout,
                            const struct fit_depth *depth, const struct times *times, bool dual)
{
    double m = myr_layout_micro_batches(&layout), pp = depth->pp, floor_s = 1e30;
    double micro = s->query->it.constants[FIT_LAUNCH_MICRO] * 1e-3;
    double sum = times->all + pp * micro;
    double worst = fit_max(sum / pp, times->last + micro);
    for (int schedule = 0; schedule <= MYR_SCHEDULE_DUALPIPE; schedule++) {
        bool spread = schedule == MYR_SCHEDULE_INTERLEAVED;
        layout.schedule = (enum myr_schedule)schedule;
        if (!fit_schedule_allowed(s->query, layout.schedule, depth->pp) ||
            dual != (schedule == MYR_SCHEDULE_DUALPIPE) ||
            (spread && !interleaves(s, &layout, depth)) || (!spread && depth->plain_count == 0)) {
            continue;
        }
        layout.vp = spread ? 2 : 1;
        double hop = least_hop_s(s, &layout);
        layout.vp = spread ? depth->vp_most : 1;
        floor_s = fit_min(floor_s, fit_pipe_floor_s(&layout, m, worst, sum, hop));
    }
    return floor_s * BOUND_SLACK;
}

static void sift_up(struct group *groups, uint32_t at)
{
    struct group moved = groups[at];
    while (at > 0 && groups[(at - 1) / 2].floor_s > moved.floor_s) {
        groups[at] = groups[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    groups[at] = moved;
}

static struct group pop_group(struct search *s)
{
    struct group *groups = s->groups, top = groups[0];
    struct group moved = groups[--s->group_count];
    uint32_t at = 0, count = s->group_count;
    for (uint32_t child = 1; child < count; child = 2 * at + 1) {
        child += child + 1 < count && groups[child + 1].floor_s < groups[child].floor_s;
        if (groups[child].floor_s >= moved.floor_s) {
            break;
        }
        groups[at] = groups[child];
        at = child;
    }
    groups[at] = moved;
    return top;
}

static void push_group(struct search *s, struct group group)
{
    if (s->group_count == s->group_max) {
        s->group_max = s->group_max ? 2 * s->group_max : 4096;
        s->groups = myr_xrealloc(s->groups, s->group_max, sizeof(*s->groups));
    }
    s->groups[s->group_count] = group;
    sift_up(s->groups, s->group_count++);
}

/* Counting */

/* Can the ranks of dp (and cp) be cut so that d * cp of them make a shard? */
static bool shard_aligned(const struct myr_layout *l, uint32_t d, bool cp_first)
{
    uint32_t shard = d * l->cp;
    if (l->dp % d != 0 || myr_layout_edp(l) % (l->dp / d) != 0) {
        return false;
    }
    if (cp_first) {
        return true;
    }
    return shard <= l->dp ? l->dp % shard == 0 : shard % l->dp == 0 && l->cp % (shard / l->dp) == 0;
}

static uint64_t shard_choices(const struct fit_space *space, const struct myr_layout *l,
                              bool cp_first)
{
    uint64_t count = 1; /* all of them */
    for (uint32_t i = 1; i < space->divisor_count && space->divisors[i] < l->dp; i++) {
        count += shard_aligned(l, space->divisors[i], cp_first);
    }
    return count;
}

/* Do the experts' ranks of a stage lie in the same block of ranks as all others of it? */
static bool stages_aligned(const struct myr_layout *l)
{
    uint64_t dense = 1, expert = 1;
    if (l->pp == 1 || (l->ep == 1 && myr_layout_etp(l) == l->tp)) {
        return true;
    }
    for (int i = 0; l->order[i] != MYR_AXIS_PP; i++) {
        enum myr_axis axis = l->order[i];
        dense *= axis == MYR_AXIS_TP ? l->tp : axis == MYR_AXIS_CP ? l->cp : 1;
        dense *= axis == MYR_AXIS_DP ? l->dp : 1;
        expert *= axis == MYR_AXIS_TP ? myr_layout_etp(l) : axis == MYR_AXIS_EP ? l->ep : 1;
        expert *= axis == MYR_AXIS_DP ? myr_layout_edp(l) : 1;
    }
    return dense == expert;
}

static bool is_cp_first(const enum myr_axis order[MYR_LAYOUT_ORDER_COUNT])
{
    int i = 0;
    while (order[i] != MYR_AXIS_CP && order[i] != MYR_AXIS_DP) {
        i++;
    }
    return order[i] == MYR_AXIS_CP;
}

/* Choices of order, ZeRO stage and shard. */
static uint64_t tail_count(const struct search *s, const struct myr_layout *layout)
{
    enum myr_axis orders[FIT_ORDERS_MAX][MYR_LAYOUT_ORDER_COUNT];
    struct myr_layout l = *layout;
    uint64_t shards[2] = {0, 0}, shard_sum = 0, order_count = 0;
    uint32_t count = fit_orders(layout, orders);
    int zero = s->query->zero;
    for (uint32_t i = 0; i < count; i++) {
        memcpy(l.order, orders[i], sizeof(l.order));
        if (!stages_aligned(&l)) {
            continue;
        }
        bool cp_first = is_cp_first(l.order);
        if (shards[cp_first] == 0) {
            shards[cp_first] = shard_choices(s->space, &l, cp_first);
        }
        order_count++;
        shard_sum += shards[cp_first];
    }
    return zero < 0 ? order_count + 3 * shard_sum : zero == 0 ? order_count : shard_sum;
}

/* Layouts of one width, depth and micro-batch. */
static uint64_t group_layouts(const struct search *s, const struct myr_layout *layout,
                              const struct fit_depth *depth)
{
    uint64_t count = 0, m = myr_layout_micro_batches(layout);
    bool dual = depth->pp % 2 == 0 && m % 2 == 0 && m >= UINT64_C(2) * depth->pp;
    count +=
        fit_schedule_allowed(s->query, MYR_SCHEDULE_1F1B, depth->pp) ? depth->plain_choices : 0;
    count += fit_schedule_allowed(s->query, MYR_SCHEDULE_ZERO_BUBBLE, depth->pp)
                 ? depth->plain_choices
                 : 0;
    count += dual && fit_schedule_allowed(s->query, MYR_SCHEDULE_DUALPIPE, depth->pp)
                 ? depth->plain_choices
                 : 0;
    return count + (interleaves(s, layout, depth) ? depth->interleaved_choices : 0);
}

/* Memory: bounds from below, so that what they refuse need not be asked for exactly. */

struct kept {
    double dense, moe, dense_again, moe_again; /* bytes of one layer and micro-batch */
    double again_working;                      /* while a layer is made again */
    double output;
};

static struct kept kept_of(const struct search *s, struct myr_layout layout, enum chain chain)
{
    const struct myr_model *model = s->query->it.model;
    struct kept kept;
    bool has_moe = s->layers[FIT_MOE_FULL] + s->layers[FIT_MOE_WINDOW] > 0;
    bool has_dense = s->layers[FIT_DENSE_FULL] + s->layers[FIT_DENSE_WINDOW] > 0;
    layout.recompute = MYR_RECOMPUTE_SELECTIVE;
    double dense = (double)myr_layer_activation_bytes(&layout, model, false);
    double moe = has_moe ? (double)myr_layer_activation_bytes(&layout, model, true) : 0;
    kept.again_working = has_moe && has_dense ? fit_min(dense, moe) : has_moe ? moe : dense;
    layout.recompute = chain == CHAIN_SELECTIVE ? layout.recompute : MYR_RECOMPUTE_NONE;
    kept.dense = (double)myr_layer_activation_bytes(&layout, model, false);
    kept.moe = has_moe ? (double)myr_layer_activation_bytes(&layout, model, true) : 0;
    layout.recompute = MYR_RECOMPUTE_FULL;
    layout.recompute_layers = 0;
    kept.dense_again = (double)myr_layer_activation_bytes(&layout, model, false);
    kept.moe_again = kept.dense_again;
    kept.output = 0;
    return kept;
}

/* One group being looked into. */
struct visit {
    struct search *s;
    const struct group *group;
    const struct fit_depth *depth;
    struct myr_layout layout;                    /* in the usual order */
    struct fit_blocks blocks[FIT_ORDERS_MAX][2]; /* by order; second: every layer made again */
    bool priced[FIT_ORDERS_MAX];
    enum myr_axis orders[FIT_ORDERS_MAX][MYR_LAYOUT_ORDER_COUNT];
    uint32_t order_count;
    uint32_t shards[FIT_DIVISORS_MAX];
    uint32_t shard_count;
    struct kept kept;
    double straggler, least_hop_s[2], limit_bytes;
    struct fit_places places[FIT_ORDERS_MAX];
    bool cp_first[FIT_ORDERS_MAX];
    double tail_floor_s[2][4][FIT_DIVISORS_MAX]; /* by interleaving, zero, shard; < 0: unknown */
    struct myr_rank_params lightest;             /* no stage has fewer parameters */
    bool quick;  /* only the plainest layouts, to have something to compare with */
    bool rising; /* a layer made again costs no less than one left alone */
};

/* Choices of a shape are numbered: 0 none, r the first r layers of each chunk, last all of them. */
static void set_choice(const struct visit *v, const struct fit_shape *shape, uint32_t choice,
                       struct myr_layout *layout)
{
    if (v->group->chain == CHAIN_SELECTIVE) {
        layout->recompute = MYR_RECOMPUTE_SELECTIVE;
        layout->recompute_layers = 0;
        return;
    }
    layout->recompute = choice ? MYR_RECOMPUTE_FULL : MYR_RECOMPUTE_NONE;
    layout->recompute_layers = choice < shape->chunk_most ? choice : 0;
}

static uint32_t choice_first(const struct visit *v, const struct fit_shape *shape)
{
    bool all = v->s->query->recompute == MYR_RECOMPUTE_FULL;
    return v->group->chain == CHAIN_COUNTS && all ? shape->chunk_most : 0;
}

static uint32_t choice_last(const struct visit *v, const struct fit_shape *shape)
{
    bool none = v->s->query->recompute == MYR_RECOMPUTE_NONE;
    return v->group->chain == CHAIN_SELECTIVE || none ? 0 : shape->chunk_most;
}

static struct myr_span again_span(const struct visit *v, const struct fit_shape *shape,
                                  uint32_t chunk, uint32_t choice)
{
    struct myr_span span = myr_layout_chunk_layers(&v->layout, v->s->query->it.model, chunk);
    if (choice < shape->chunk_most && choice < span.count) {
        span.count = choice;
    }
    return span;
}

/* Layers of a kind of stage that a choice makes again. */
static void count_again(const struct visit *v, const struct fit_shape *shape,
                        const struct fit_stage_kind *kind, uint32_t choice,
                        double counts[FIT_KIND_COUNT])
{
    bool all = choice > 0 && choice == shape->chunk_most;
    memset(counts, 0, FIT_KIND_COUNT * sizeof(*counts));
    if (all) {
        memcpy(counts, kind->layers, sizeof(kind->layers));
        return;
    }
    for (uint32_t c = 0; choice > 0 && c < shape->vp; c++) {
        fit_count_layers(v->s->query->it.model,
                         again_span(v, shape, kind->stage + c * shape->pp, choice), counts);
    }
}

/* A step of the shape up to what replicas exchange, with the least transfers between stages. */
static double shape_floor_s(const struct visit *v, const struct fit_shape *shape, uint32_t choice)
{
    const struct myr_model *model = v->s->query->it.model;
    const struct fit_blocks *blocks = &v->blocks[0][0];
    double micro = v->s->query->it.constants[FIT_LAUNCH_MICRO] * 1e-3, worst = 0, sum = 0;
    bool all = choice > 0 && choice == shape->chunk_most;
    const struct fit_layer *mtp = all ? v->blocks[0][1].layers : blocks->layers;
    for (uint32_t i = 0; i < shape->kind_count; i++) {
        const struct fit_stage_kind *kind = &shape->kinds[i];
        double time = micro + (kind->first ? layer_s(&blocks->embedding) : 0);
        double again[FIT_KIND_COUNT];
        count_again(v, shape, kind, choice, again);
        if (kind->last) {
            time += layer_s(&blocks->output) * (1 + model->mtp_count);
            time += model->mtp_count ? model->mtp_count * mtp_layer_s(blocks, mtp) : 0;
        }
        for (int k = 0; k < FIT_KIND_COUNT; k++) {
            double made_again = again[k];
            time += made_again > 0 ? made_again * layer_s(&v->blocks[0][1].layers[k]) : 0;
            time += kind->layers[k] > made_again
                        ? (kind->layers[k] - made_again) * layer_s(&blocks->layers[k])
                        : 0;
        }
        worst = fit_max(worst, time);
        sum += kind->count * time;
    }
    double hop = v->least_hop_s[shape->vp > 1] * shape->vp;
    return fit_pipe_floor_s(&v->layout, myr_layout_micro_batches(&v->layout), worst, sum, hop) *
           BOUND_SLACK * (1 + v->straggler);
}

/* Micro-batches in flight on a stage, summed over its chunks. */
static double flights_of(const struct visit *v, const struct fit_stage_kind *kind)
{
    double flights = 0;
    for (uint32_t i = 0; i < myr_layout_stage_chunk_count(&v->layout); i++) {
        flights += myr_layout_in_flight(&v->layout, kind->stage, i);
    }
    return flights;
}

/* What the layers of a stage keep, chunk by chunk. */
static double kept_bytes(const struct visit *v, const struct fit_shape *shape,
                         const struct fit_stage_kind *kind, uint32_t choice)
{
    const struct myr_model *model = v->s->query->it.model;
    double bytes = choice ? v->kept.again_working : 0;
    for (uint32_t i = 0; i < myr_layout_stage_chunk_count(&v->layout); i++) {
        uint32_t chunk = myr_layout_stage_chunk(&v->layout, kind->stage, i);
        struct myr_span span = myr_layout_chunk_layers(&v->layout, model, chunk);
        struct myr_span again = again_span(v, shape, chunk, choice);
        again.count = choice ? again.count : 0;
        double moe = myr_model_moe_layers(model, span.first, span.count);
        double moe_again = myr_model_moe_layers(model, again.first, again.count);
        double dense = span.count - moe, dense_again = again.count - moe_again;
        bytes += myr_layout_in_flight(&v->layout, kind->stage, i) *
                 ((dense - dense_again) * v->kept.dense + (moe - moe_again) * v->kept.moe +
                  dense_again * v->kept.dense_again + moe_again * v->kept.moe_again);
    }
    return bytes + (kind->last ? v->kept.output : 0);
}

/* Weights, gradients and the optimiser's state of a stage, for each (zero, shard). */
static double state_bytes(const struct myr_layout *layout, const struct myr_rank_params *params)
{
    struct myr_numerics n = myr_layout_numerics(layout);
    double dense = (double)(params->sharded + params->replicated), expert = (double)params->expert;
    double cut = myr_layout_shard(layout), expert_cut = myr_layout_expert_shard(layout);
    uint32_t zero = layout->zero;
    return dense * (n.weight_bytes / (zero >= 3 ? cut : 1) +
                    n.gradient_bytes / (zero >= 2 ? cut : 1) + n.optimiser_bytes / cut) +
           expert *
               (n.weight_bytes / (zero >= 3 ? expert_cut : 1) +
                n.gradient_bytes / (zero >= 2 ? expert_cut : 1) + n.optimiser_bytes / expert_cut);
}

/* A cut with a schedule, being priced. */
struct cut {
    const struct fit_shape *shape;
    uint32_t first, last;          /* choices */
    double state[FIT_SHAPE_KINDS]; /* bytes, by kind of stage */
    double flights[FIT_SHAPE_KINDS];
    struct myr_rank_params params[FIT_SHAPE_KINDS];
    bool params_known;
    struct fit_pipe pipes[FIT_ORDERS_MAX][PIPES_KEPT];
    uint32_t pipe_choice[FIT_ORDERS_MAX][PIPES_KEPT]; /* plus one; 0: none yet */
    uint32_t floor_choice;
    double floor_s;
};

/* The same for the i-th kind of stage, in one step where all layers and chunks are alike. */
static double cut_kept_bytes(const struct visit *v, struct cut *cut, uint32_t i, uint32_t choice)
{
    const struct fit_stage_kind *kind = &cut->shape->kinds[i];
    const struct kept *kept = &v->kept;
    if (!v->s->uniform || v->group->dual) {
        return kept_bytes(v, cut->shape, kind, choice);
    }
    if (cut->flights[i] <= 0) {
        cut->flights[i] = flights_of(v, kind);
    }
    bool moe = v->s->layers[FIT_MOE_FULL] + v->s->layers[FIT_MOE_WINDOW] > 0;
    double layers = 0, alone = moe ? kept->moe : kept->dense;
    for (int k = 0; k < FIT_KIND_COUNT; k++) {
        layers += kind->layers[k];
    }
    double each = layers / cut->shape->vp, again = fit_min(choice, each);
    return cut->flights[i] * ((each - again) * alone + again * kept->dense_again) +
           (choice ? kept->again_working : 0) + (kind->last ? kept->output : 0);
}

static bool may_fit(const struct visit *v, struct cut *cut, uint32_t choice)
{
    for (uint32_t i = 0; i < cut->shape->kind_count; i++) {
        double bytes = cut_kept_bytes(v, cut, i, choice) + cut->state[i];
        if (bytes * (1 - 1e-9) > v->limit_bytes) {
            return false;
        }
    }
    return true;
}

/* The least choice that the bounds on memory let pass; past the last one when none does. */
static uint32_t least_choice(const struct visit *v, struct cut *cut, uint32_t from)
{
    uint32_t low = from, high = cut->last;
    if (low > high || may_fit(v, cut, low)) {
        return low;
    }
    /* Making one layer again needs room to work in; from there on more of it takes less. */
    low = low < 1 ? 1 : low;
    if (low > high || !may_fit(v, cut, high)) {
        return cut->last + 1;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (may_fit(v, cut, middle)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

static const struct fit_blocks *blocks_for(struct visit *v, uint32_t order, bool all)
{
    if (!v->priced[order]) {
        struct myr_layout layout = v->layout;
        memcpy(layout.order, v->orders[order], sizeof(layout.order));
        set_chain(v->s, v->group->chain, &layout);
        fit_blocks_of(&v->s->query->it, &layout, &v->blocks[order][0]);
        v->blocks[order][1] = v->blocks[order][0];
        if (layout.recompute_layers > 0) {
            memcpy(v->blocks[order][1].layers, v->blocks[order][0].again,
                   sizeof(v->blocks[order][1].layers));
        }
        v->priced[order] = true;
    }
    return &v->blocks[order][all];
}

static const struct fit_pipe *pipe_for(struct visit *v, struct cut *cut, uint32_t order,
                                       uint32_t choice, const struct myr_layout *layout)
{
    uint32_t slot = choice % PIPES_KEPT;
    if (cut->pipe_choice[order][slot] != choice + 1) {
        bool all = choice > 0 && choice == cut->shape->chunk_most;
        fit_pipe_of(&v->s->query->it, layout, blocks_for(v, order, all), &cut->pipes[order][slot]);
        cut->pipe_choice[order][slot] = choice + 1;
    }
    return &cut->pipes[order][slot];
}

static double cut_floor_s(const struct visit *v, struct cut *cut, uint32_t choice)
{
    if (cut->floor_choice != choice + 1) {
        cut->floor_choice = choice + 1;
        cut->floor_s = shape_floor_s(v, cut->shape, choice);
    }
    return cut->floor_s;
}

/* Prices a layout in every order. */
static void price_orders(struct visit *v, struct cut *cut, struct myr_layout layout,
                         uint32_t choice)
{
    struct search *s = v->s;
    const struct myr_fit_query *q = s->query;
    bool fits = false;
    for (uint32_t o = 0; o < v->order_count; o++) {
        struct myr_fit_cost cost;
        memcpy(layout.order, v->orders[o], sizeof(layout.order));
        if (layout.shard && !shard_aligned(&layout, layout.shard / layout.cp, v->cp_first[o])) {
            continue;
        }
        fit_close_at(&q->it, &layout, pipe_for(v, cut, o, choice, &layout), &v->places[o],
                     v->straggler, &cost);
        s->answer->costed++;
        if (!fit_keep_wants(s->answer, q->top, &layout, cost.step_s)) {
            continue;
        }
        if (!fits) {
            struct myr_fit_memory memory;
            myr_fit_memory_of(&q->it, &layout, &memory);
            if (!memory.fits) {
                return; /* in no order */
            }
            fits = true;
        }
        fit_keep(s->answer, q->top, &layout, cost.step_s);
    }
}

/*
 * What replicas exchange at least, and the optimiser: passes that hide as much as any stage's
 * could, parameters of the lightest stage, the best of the orders.
 */
static double tail_floor_s(struct visit *v, const struct myr_layout *cut, uint32_t shard_at)
{
    const struct myr_fit_query *q = v->s->query;
    bool spread = cut->vp > 1;
    double *known = &v->tail_floor_s[spread][cut->zero][shard_at];
    if (*known >= 0) {
        return *known;
    }
    struct myr_layout layout = *cut;
    layout.vp = spread ? v->depth->vp_most : 1;
    *known = 1e30;
    for (uint32_t o = 0; o < v->order_count; o++) {
        struct fit_pipe pipe = {.params = v->lightest};
        struct myr_fit_cost cost;
        const struct fit_blocks *blocks = blocks_for(v, o, true);
        const struct fit_layer *output = &blocks->output, *first = &blocks->embedding;
        double layers = v->depth->most_layers + q->it.model->mtp_count, forward = 0, backward = 0;
        for (int k = 0; k < FIT_KIND_COUNT; k++) {
            forward = blocks->used[k] ? fit_max(forward, blocks->layers[k].forward.total) : forward;
            backward =
                blocks->used[k] ? fit_max(backward, blocks->layers[k].backward.total) : backward;
        }
        double outputs = 1 + q->it.model->mtp_count;
        pipe.forward_s = layers * forward + first->forward.total + outputs * output->forward.total;
        pipe.backward_s =
            layers * backward + first->backward.total + outputs * output->backward.total;
        pipe.micro_batches = myr_layout_micro_batches(&layout);
        fit_close_at(&q->it, &layout, &pipe, &v->places[o], v->straggler, &cost);
        *known = fit_min(*known, cost.step_s * BOUND_SLACK);
    }
    return *known;
}

/* Passes that are no shorter than those of the slowest stage, whichever that is. */
static void longest_passes(struct visit *v, const struct cut *cut, uint32_t order, uint32_t choice,
                           struct fit_pipe *pipe)
{
    const struct fit_blocks *alone = blocks_for(v, order, false), *again = &v->blocks[order][1];
    double outputs = 1 + v->s->query->it.model->mtp_count, mtp = outputs - 1;
    enum fit_kind mtp_kind = alone->used[FIT_MOE_FULL] ? FIT_MOE_FULL : FIT_DENSE_FULL;
    pipe->forward_s = 0;
    pipe->backward_s = 0;
    for (uint32_t i = 0; i < cut->shape->kind_count; i++) {
        const struct fit_stage_kind *kind = &cut->shape->kinds[i];
        double counts[FIT_KIND_COUNT], forward = 0, backward = 0;
        count_again(v, cut->shape, kind, choice, counts);
        for (int k = 0; k < FIT_KIND_COUNT; k++) {
            if (kind->layers[k] > 0) {
                double rest = kind->layers[k] - counts[k];
                forward += kind->layers[k] * alone->layers[k].forward.total;
                backward += rest * alone->layers[k].backward.total +
                            counts[k] * again->layers[k].backward.total;
            }
        }
        forward += kind->first ? alone->embedding.forward.total : 0;
        backward += kind->first ? alone->embedding.backward.total : 0;
        if (kind->last) {
            forward += outputs * alone->output.forward.total;
            backward += outputs * alone->output.backward.total;
            forward += mtp > 0 ? mtp * alone->layers[mtp_kind].forward.total : 0;
            backward += mtp > 0 ? mtp * again->layers[mtp_kind].backward.total : 0;
        }
        pipe->forward_s = fit_max(pipe->forward_s, forward);
        pipe->backward_s = fit_max(pipe->backward_s, backward);
    }
}

/* The same floor as tail_floor_s(), with this cut's own stages and up to this choice. */
static double cut_tail_floor_s(struct visit *v, const struct cut *cut,
                               const struct myr_layout *layout, uint32_t choice)
{
    const struct myr_fit_query *q = v->s->query;
    struct myr_rank_params least = cut->params[0];
    double floor_s = 1e30;
    for (uint32_t i = 1; i < cut->shape->kind_count; i++) {
        const struct myr_rank_params *p = &cut->params[i];
        least.sharded = p->sharded < least.sharded ? p->sharded : least.sharded;
        least.replicated = p->replicated < least.replicated ? p->replicated : least.replicated;
        least.expert = p->expert < least.expert ? p->expert : least.expert;
    }
    if (cut->shape->kind_count == FIT_SHAPE_KINDS) {
        return 0; /* stages may have been left out */
    }
    for (uint32_t o = 0; o < v->order_count; o++) {
        struct fit_pipe pipe = {.params = least};
        struct myr_fit_cost cost;
        if (layout->shard && !shard_aligned(layout, layout->shard / layout->cp, v->cp_first[o])) {
            continue;
        }
        longest_passes(v, cut, o, choice, &pipe);
        pipe.micro_batches = myr_layout_micro_batches(layout);
        fit_close_at(&q->it, layout, &pipe, &v->places[o], v->straggler, &cost);
        floor_s = fit_min(floor_s, cost.step_s * BOUND_SLACK);
    }
    return floor_s;
}

/*
 * Choices from low to high. More recomputation makes the pipeline slower, and at the same time
 * longer passes hide more of the exchange: the first of the one and the last of the other are no
 * more than any of them takes together.
 */
static void visit_choices(struct visit *v, struct cut *cut, struct myr_layout layout, uint32_t low,
                          uint32_t high)
{
    struct search *s = v->s;
    double limit = fit_keep_limit(s->answer, s->query->top, &layout);
    if (low > high ||
        (v->rising && cut_floor_s(v, cut, low) + cut_tail_floor_s(v, cut, &layout, high) > limit)) {
        return;
    }
    if (low == high) {
        set_choice(v, cut->shape, low, &layout);
        price_orders(v, cut, layout, low);
        return;
    }
    uint32_t middle = low + (high - low) / 2;
    visit_choices(v, cut, layout, low, middle);
    visit_choices(v, cut, layout, middle + 1, high);
}

/* One (zero, shard) of a cut, from the least recomputation that may fit. */
static void visit_shard(struct visit *v, struct cut *cut, struct myr_layout layout,
                        uint32_t shard_at)
{
    struct search *s = v->s;
    if (v->rising && !v->quick &&
        cut_floor_s(v, cut, cut->first) + tail_floor_s(v, &layout, shard_at) >
            fit_keep_limit(s->answer, s->query->top, &layout)) {
        return;
    }
    for (uint32_t i = 0; i < cut->shape->kind_count; i++) {
        if (!cut->params_known) {
            cut->params[i] =
                myr_rank_params(&layout, s->query->it.model, cut->shape->kinds[i].stage);
        }
        cut->state[i] = state_bytes(&layout, &cut->params[i]);
    }
    cut->params_known = true;
    uint32_t least = least_choice(v, cut, cut->first);
    visit_choices(v, cut, layout, least, v->quick && least < cut->last ? least : cut->last);
}

static void visit_cut(struct visit *v, const struct fit_shape *shape)
{
    struct search *s = v->s;
    const struct myr_fit_query *q = s->query;
    struct cut cut; /* large, and mostly filled when needed */
    cut.shape = shape;
    cut.params_known = false;
    cut.floor_choice = 0;
    memset(cut.state, 0, sizeof(cut.state));
    memset(cut.flights, 0, sizeof(cut.flights));
    memset(cut.pipe_choice, 0, sizeof(cut.pipe_choice));
    v->layout.vp = shape->vp;
    v->layout.first_layers = shape->first_layers;
    v->layout.last_layers = shape->last_layers;
    cut.first = choice_first(v, shape);
    cut.last = choice_last(v, shape);
    double limit = fit_keep_limit(s->answer, q->top, &v->layout);
    if (cut_floor_s(v, &cut, cut.first) > limit && v->rising) {
        return;
    }
    /* Before anything is known of the state: what the layers keep may be too much already. */
    uint32_t least = least_choice(v, &cut, cut.first);
    if (least > cut.last || (v->rising && cut_floor_s(v, &cut, least) > limit)) {
        return;
    }
    cut.first = v->rising ? least : cut.first;
    for (uint32_t zero = 0; zero <= 3; zero++) {
        if (q->zero >= 0 && q->zero != (int)zero) {
            continue;
        }
        for (uint32_t i = 0; i < (zero ? v->shard_count : 1); i++) {
            struct myr_layout layout = v->layout;
            layout.zero = zero;
            layout.shard = v->shards[i];
            visit_shard(v, &cut, layout, i);
        }
    }
}

/* Opening a group */

static void list_tails(struct visit *v)
{
    const struct search *s = v->s;
    struct myr_layout l = v->layout;
    enum myr_axis orders[FIT_ORDERS_MAX][MYR_LAYOUT_ORDER_COUNT];
    uint32_t count = fit_orders(&l, orders);
    v->order_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        memcpy(l.order, orders[i], sizeof(l.order));
        if (stages_aligned(&l)) {
            v->cp_first[v->order_count] = is_cp_first(l.order);
            memcpy(v->orders[v->order_count], orders[i], sizeof(orders[i]));
            v->places[v->order_count++] = fit_places_of(&s->query->it, &l);
        }
    }
    v->shards[0] = 0;
    v->shard_count = 1;
    uint32_t edp = myr_layout_edp(&l);
    for (uint32_t k = 0; k < s->space->divisor_count && s->space->divisors[k] < l.dp; k++) {
        uint32_t d = s->space->divisors[k];
        if (d > 1 && l.dp % d == 0 && edp % (l.dp / d) == 0) {
            v->shards[v->shard_count++] = d * l.cp;
        }
    }
}

/* Parameters that every stage has at least, scaled from the first cut to the fewest layers. */
static struct myr_rank_params lightest_of(const struct visit *v)
{
    const struct search *s = v->s;
    const struct fit_shape *shape = &s->space->shapes[v->depth->first_shape];
    double sharded = 1e30, replicated = 1e30, expert = 1e30;
    struct myr_layout layout = v->layout;
    layout.vp = shape->vp;
    layout.first_layers = shape->first_layers;
    layout.last_layers = shape->last_layers;
    for (uint32_t i = 0; i < shape->kind_count; i++) {
        struct myr_rank_params p =
            myr_rank_params(&layout, s->query->it.model, shape->kinds[i].stage);
        const double *of = shape->kinds[i].layers;
        double moe = of[FIT_MOE_FULL] + of[FIT_MOE_WINDOW];
        double layers = of[FIT_DENSE_FULL] + of[FIT_DENSE_WINDOW] + moe;
        double share = layers > 0 ? fit_min(1, v->depth->least_layers / layers) : 0;
        double moe_share = moe > 0 ? fit_min(1, v->depth->least_moe / moe) : 0;
        sharded = fit_min(sharded, share * (double)p.sharded);
        replicated = fit_min(replicated, share * (double)p.replicated);
        expert = fit_min(expert, moe_share * (double)p.expert);
    }
    return (struct myr_rank_params){(uint64_t)sharded, (uint64_t)replicated, (uint64_t)expert};
}

static void open_group(struct search *s, const struct group *group, bool quick)
{
    const struct myr_fit_query *q = s->query;
    const struct fit_depth *depth = &s->space->depths[group->depth];
    struct visit v; /* large, and mostly filled when needed */
    v.s = s;
    v.group = group;
    v.depth = depth;
    v.layout = *group->width;
    memset(v.priced, 0, sizeof(v.priced));
    v.least_hop_s[1] = 0;
    v.layout.pp = depth->pp;
    v.layout.dp = q->gpus / (v.layout.tp * v.layout.cp * depth->pp);
    v.layout.micro_batch = group->micro_batch;
    v.layout.schedule = group->dual ? MYR_SCHEDULE_DUALPIPE : MYR_SCHEDULE_1F1B;
    if (group->floor_s > fit_keep_limit(s->answer, q->top, &v.layout)) {
        return;
    }
    list_tails(&v);
    v.quick = quick;
    if (quick) {
        v.shard_count = 1;
        v.order_count = 1;
    }
    v.straggler = fit_straggler_share(&q->it, &v.layout);
    v.limit_bytes = s->limit_bytes;
    v.kept = kept_of(s, v.layout, group->chain);
    v.kept.output = (double)myr_state_of(&v.layout, q->it.model, depth->pp - 1).output_bytes;
    const struct fit_blocks *alone = blocks_for(&v, 0, false), *again = blocks_for(&v, 0, true);
    v.rising = true;
    for (int k = 0; k < FIT_KIND_COUNT; k++) {
        v.rising = v.rising &&
                   (!alone->used[k] || layer_s(&again->layers[k]) >= layer_s(&alone->layers[k]));
    }
    v.least_hop_s[0] = least_hop_s(s, &v.layout);
    v.lightest = lightest_of(&v);
    for (int i = 0; i < 2; i++) {
        for (uint32_t j = 0; j < 4 * v.shard_count; j++) {
            v.tail_floor_s[i][j % 4][j / 4] = -1;
        }
    }
    for (uint32_t i = 0; i < depth->shape_count; i++) {
        const struct fit_shape *shape = &s->space->shapes[depth->first_shape + i];
        for (int schedule = 0; schedule <= MYR_SCHEDULE_DUALPIPE; schedule++) {
            bool spread = schedule == MYR_SCHEDULE_INTERLEAVED;
            v.layout.schedule = (enum myr_schedule)schedule;
            if (!fit_schedule_allowed(q, v.layout.schedule, depth->pp) ||
                spread != (shape->vp > 1) || group->dual != (schedule == MYR_SCHEDULE_DUALPIPE) ||
                (spread && !interleaves(s, &v.layout, depth))) {
                continue;
            }
            if (spread && v.least_hop_s[1] <= 0) {
                v.layout.vp = 2;
                v.least_hop_s[1] = least_hop_s(s, &v.layout) / 2;
            }
            if (!quick || shape->first_layers == 0) {
                visit_cut(&v, shape);
            }
        }
    }
}

/* Filling the heap */

static void add_groups(struct search *s, struct myr_layout *width, uint32_t at,
                       struct times times[FIT_MICRO_MAX + 1][CHAIN_COUNT][2])
{
    const struct myr_fit_query *q = s->query;
    const struct fit_depth *depth = &s->space->depths[at];
    struct myr_layout layout = *width;
    uint64_t ranks = (uint64_t)layout.tp * layout.cp * depth->pp;
    if (q->gpus % ranks != 0) {
        return;
    }
    layout.pp = depth->pp;
    layout.dp = (uint32_t)(q->gpus / ranks);
    if (!fit_allowed(q->dp, layout.dp) || q->batch % layout.dp != 0 ||
        ((uint64_t)layout.tp * layout.cp * layout.dp) % (myr_layout_etp(&layout) * layout.ep) !=
            0) {
        return;
    }
    uint64_t tails = tail_count(s, &layout);
    double straggler = fit_straggler_share(&q->it, &layout);
    uint32_t own = q->batch / layout.dp;
    for (uint32_t b = 1; b <= FIT_MICRO_MAX && b <= own; b++) {
        if (own % b != 0 || !fit_allowed(q->micro_batch, b)) {
            continue;
        }
        layout.micro_batch = b;
        s->answer->evaluated += group_layouts(s, &layout, depth) * tails;
        uint32_t m = own / b;
        for (int dual = 0; dual <= fit_schedule_allowed(q, MYR_SCHEDULE_DUALPIPE, depth->pp);
             dual++) {
            if (dual && (depth->pp % 2 != 0 || m % 2 != 0 || m < 2 * depth->pp)) {
                continue;
            }
            layout.schedule = dual ? MYR_SCHEDULE_DUALPIPE : MYR_SCHEDULE_1F1B;
            for (int chain = 0; chain < CHAIN_COUNT; chain++) {
                bool selective = chain == CHAIN_SELECTIVE;
                if (selective ? !fit_recompute_allowed(s->space, MYR_RECOMPUTE_SELECTIVE, 0)
                              : q->recompute == MYR_RECOMPUTE_SELECTIVE) {
                    continue;
                }
                struct times *t = &times[b][chain][dual];
                if (!t->ready) {
                    price_times(s, layout, (enum chain)chain, t);
                }
                double floor_s = group_floor_s(s, layout, depth, t, dual != 0) * (1 + straggler);
                if (floor_s < 1e29) {
                    push_group(s, (struct group){floor_s, width, at, (uint16_t)b, (uint8_t)chain,
                                                 dual != 0});
                }
            }
        }
    }
}

/* Bounds are worth little before good layouts are known: the best widths of each depth first. */
static void open_seeds(struct search *s)
{
    enum { SEEDS = 4 };
    for (uint32_t depth = 0; depth < s->space->depth_count; depth++) {
        const struct group *seeds[SEEDS] = {NULL};
        for (uint32_t i = 0; i < s->group_count; i++) {
            const struct group *group = &s->groups[i];
            if (group->depth != depth) {
                continue;
            }
            uint32_t at = 0; /* its own width's place, else the worst */
            while (at < SEEDS - 1 && seeds[at] && seeds[at]->width != group->width) {
                at++;
            }
            if (seeds[at] && seeds[at]->floor_s <= group->floor_s) {
                continue;
            }
            for (seeds[at] = group; at > 0 && seeds[at]->floor_s < seeds[at - 1]->floor_s; at--) {
                const struct group *worse = seeds[at - 1];
                seeds[at - 1] = seeds[at];
                seeds[at] = worse;
            }
        }
        for (uint32_t i = 0; i < SEEDS && seeds[i]; i++) {
            open_group(s, seeds[i], true);
        }
    }
}

static void search_space(struct search *s, struct myr_arena *arena)
{
    const struct myr_model *model = s->query->it.model;
    struct myr_layout layout;
    bool started = false;
    memset(s->layers, 0, sizeof(s->layers));
    fit_count_layers(model, (struct myr_span){0, model->layer_count}, s->layers);
    bool has_moe = s->layers[FIT_MOE_FULL] + s->layers[FIT_MOE_WINDOW] > 0;
    bool has_dense = s->layers[FIT_DENSE_FULL] + s->layers[FIT_DENSE_WINDOW] > 0;
    s->uniform = has_moe != has_dense && s->query->vp == 0;
    s->group_count = 0;
    struct myr_layout one = myr_layout_default();
    struct myr_fit_memory memory;
    myr_fit_memory_of(&s->query->it, &one, &memory);
    s->limit_bytes = memory.limit_bytes - memory.reserve_bytes;
    while (fit_width_next(s->space, &layout, &started)) {
        struct times times[FIT_MICRO_MAX + 1][CHAIN_COUNT][2] = {0};
        struct myr_layout *width = MYR_ARENA_NEW(arena, struct myr_layout, 1);
        *width = layout;
        for (uint32_t i = 0; i < s->space->depth_count; i++) {
            add_groups(s, width, i, times);
        }
    }
    open_seeds(s);
    const struct myr_fit_answer *answer = s->answer;
    uint32_t top = s->query->top;
    while (s->group_count > 0) {
        struct group group = pop_group(s);
        if (answer->top_count == top && group.floor_s > answer->top[top - 1].step_s) {
            break;
        }
        open_group(s, &group, false);
    }
}

uint32_t myr_fit_precisions(const struct myr_device *device, enum myr_precision list[4])
{
    uint32_t count = 0;
    list[count++] = MYR_PRECISION_BF16;
    if (device->fp8_flops > device->bf16_flops) {
        list[count++] = MYR_PRECISION_FP8;
    }
    if (device->generation == MYR_GENERATION_BLACKWELL) {
        list[count++] = MYR_PRECISION_MXFP8;
        list[count++] = MYR_PRECISION_NVFP4;
    }
    return count;
}

void fit_search_quietly(const struct myr_fit_query *query, struct myr_arena *arena,
                        struct myr_fit_answer *ret)
{
    enum myr_precision list[4] = {query->precision};
    uint32_t count = query->any_precision ? myr_fit_precisions(query->it.device, list) : 1;
    struct search s = {.query = query, .answer = ret};
    MYR_ASSERT(query->top >= 1 && query->top <= MYR_FIT_TOP_MAX);
    *ret = (struct myr_fit_answer){0};
    for (uint32_t i = 0; i < count; i++) {
        struct fit_space space;
        fit_space_init(&space, arena, query, list[i]);
        s.space = &space;
        if (query->exhaustive) {
            fit_exhaust(&space, ret);
        } else {
            search_space(&s, arena);
        }
    }
    free(s.groups);
}

int myr_fit_search(const struct myr_fit_query *query, struct myr_arena *arena,
                   struct myr_fit_answer *ret, struct myr_err *err)
{
    fit_search_quietly(query, arena, ret);
    return ret->top_count ? MYR_OK : fit_refuse(query, arena, ret, err);
}
