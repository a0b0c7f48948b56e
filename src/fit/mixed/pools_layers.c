/*
 * pools_layers: pools that follow each other along one pipeline.
 *
 * A question is a width, a number of replicas and a micro-batch; its bound takes every stage at the
 * full speed of its pool and no time to fill. Questions are asked in the order of their bounds
 * until one is not below the best answer. Each is an integer programme (partition_layers.c) over
 * what a stage costs with some layers, which this file knows: time from blocks, memory of the stage
 * with the least recomputation that fits, the exchange among replicas.
 */
#include <stdlib.h>

#include "mixed/line.h"
#include "mixed/mix.h"
#include "mixed/partition.h"

/* A width, a number of replicas and a micro-batch. */
struct question {
    double bound_s;           /* no answer to it is faster */
    size_t number;            /* equal bounds keep their order */
    struct myr_layout layout; /* pp is that of all pools */
};

/* Then only the number of layers of a stage counts, and tables are far smaller. */
static bool is_alike(const struct myr_model *model)
{
    double counts[FIT_KIND_COUNT] = {};
    uint32_t kinds = 0;
    fit_count_layers(model, (struct myr_span){0, model->layer_count}, counts);
    for (int k = 0; k < FIT_KIND_COUNT; k++) {
        kinds += counts[k] > 0;
    }
    return kinds == 1;
}

/* What is beside layers keeps a stage busy half in each pass. */
static struct fit_stage_price price_of(const void *context, uint32_t stage, uint32_t first_layer,
                                       uint32_t layers)
{
    const struct fit_line_up *line = context;
    struct fit_stage_choice choice = fit_line_choose(line, stage, first_layer, layers);
    double each = line->beside_s[stage] / 2;
    return (struct fit_stage_price){choice.forward_s + each, choice.backward_s + each, choice.fits};
}

/* Gradients, weights and the optimiser. */
static double update_of(const void *context, uint32_t stage, uint32_t first_layer, uint32_t layers)
{
    const struct fit_line_up *line = context;
    const struct fit_pool_costs *b = &line->costs[line->pool_of[stage]];
    struct fit_stage_choice choice = fit_line_choose(line, stage, first_layer, layers);
    struct fit_pipe pipe = {.forward_s = choice.forward_s,
                            .backward_s = choice.backward_s,
                            .micro_batches = myr_layout_micro_batches(&b->layout),
                            .params = choice.params};
    struct myr_fit_cost cost;
    /* All terms of a pipe are 0, so the step is the exchange and the update alone. */
    fit_close_with(&b->it, &b->layout, &pipe, &b->exchanges, 0, &cost);
    return cost.step_s;
}

/* Stages in a row */

/* A case whose NICs are the slower ones of two pools. */
static struct myr_fit_case narrower(const struct fit_pool_costs *a, const struct fit_pool_costs *b)
{
    bool first = a->it.device->nic_gbps <= b->it.device->nic_gbps;
    return first ? a->it : b->it;
}

/* What a stage sees of a transfer to or from a neighbour, which may stand in another pool. */
static double hop_between(const struct fit_line_up *line, uint32_t stage, uint32_t other)
{
    const struct fit_pool_costs *a = &line->costs[line->pool_of[stage]];
    const struct fit_pool_costs *b = &line->costs[line->pool_of[other]];
    struct myr_fit_case slower = narrower(a, b);
    struct fit_near near = a->near;
    for (int i = 0; i < MYR_FIT_LEVELS; i++) {
        near.at[i] = near.at[i] < b->near.at[i] ? near.at[i] : b->near.at[i];
    }
    return fit_hop_s(&slower, &a->layout, near);
}

/* A pool has as many stages as its GPUs hold slices of all replicas. */
static uint32_t stages_of(const struct fit_line_up *line, uint32_t pool,
                          const struct myr_layout *layout)
{
    return line->x->pools[pool].gpus / (layout->tp * layout->cp * layout->dp);
}

/* Stages pool by pool in the order at hand, and what each sees of its neighbours. */
static void line_up(struct fit_line_up *line, const struct myr_layout *layout)
{
    const struct fit_mixer *x = line->x;
    uint32_t at = 0;
    for (uint32_t i = 0; i < x->count; i++) {
        uint32_t pool = line->order[i], group = 0;
        /* Stages of one kind of GPU are one group wherever they stand. */
        while (x->cases[x->who[group]].device != x->cases[pool].device) {
            group++;
        }
        struct fit_pool_costs *b = &line->costs[pool];
        uint32_t stages = stages_of(line, pool, layout);
        b->near = fit_near_most(b->near, stages); /* a domain ends where its pool does */
        for (uint32_t s = 0; s < stages; s++, at++) {
            line->pool_of[at] = pool;
            line->group[at] = group;
        }
    }
    MYR_ASSERT(at == layout->pp);
    double micro = x->query->it.constants[FIT_LAUNCH_MICRO] * 1e-3;
    for (uint32_t s = 0; s < at; s++) {
        double before = s > 0 ? hop_between(line, s, s - 1) : 0;
        double behind = s + 1 < at ? hop_between(line, s, s + 1) : 0;
        line->hop_s[s] = fit_max(before, behind);
        line->beside_s[s] = micro + line->hop_s[s];
    }
}

/* The answer by pool: its first stage, its fullest rank, its busiest stage. */
static void put_parts(const struct fit_line_up *line, const struct myr_layout *layout,
                      const uint32_t *layers, struct myr_fit_mixed *mixed)
{
    double m = myr_layout_micro_batches(layout);
    uint32_t first = 0;
    for (uint32_t s = 0; s < layout->pp; s++) {
        struct fit_stage_choice choice = fit_line_choose(line, s, first, layers[s]);
        uint32_t pool = line->pool_of[s];
        const struct fit_pool_costs *b = &line->costs[pool];
        struct myr_fit_part *part = &mixed->parts[pool];
        if (!part->used) {
            *part = (struct myr_fit_part){
                .used = true, .layout = b->layout, .batch = layout->global_batch, .first_stage = s};
        }
        /* Without waiting: what a pool's slowest stage works in a step. */
        double busy = m * (choice.forward_s + choice.backward_s + line->beside_s[s]);
        part->stages++;
        part->step_s = fit_max(part->step_s, busy);
        part->memory_bytes =
            fit_max(part->memory_bytes, choice.bytes + b->limit_bytes - b->usable_bytes);
        mixed->stages[s] = (struct myr_fit_stage){
            layers[s], choice.mode ? MYR_RECOMPUTE_SELECTIVE : MYR_RECOMPUTE_NONE, 0};
        if (choice.recomputed > 0) {
            mixed->stages[s].recompute = MYR_RECOMPUTE_FULL;
            mixed->stages[s].recompute_layers =
                choice.recomputed < layers[s] ? choice.recomputed : layers[s];
        }
        if (s > 0 && pool != line->pool_of[s - 1]) {
            mixed->exchange_s = fit_max(mixed->exchange_s, m * line->hop_s[s]);
        }
        first += layers[s];
    }
    MYR_ASSERT(first == line->x->query->it.model->layer_count);
}

/* All ranks wait for each other, so the pool with the largest share sets it. */
static double straggler_of(const struct fit_line_up *line, const struct myr_layout *layout)
{
    const struct fit_mixer *x = line->x;
    double share = 0;
    for (uint32_t i = 0; i < x->count; i++) {
        struct myr_layout own = *layout;
        own.precision = x->precisions[x->who[i]];
        share = fit_max(share, fit_straggler_share(&x->cases[x->who[i]], &own));
    }
    return share;
}

/* The best dealing of one order of pools, one order of ranks and one ZeRO stage. */
static void cut_layers(struct fit_line_up *line, const struct myr_layout *layout, bool alike,
                       struct myr_fit_mixed *best)
{
    /* Stragglers stretch everything, so the search below works without them. */
    double slower = 1 + straggler_of(line, layout);
    uint32_t layers[MYR_FIT_STAGES_MAX];
    struct fit_partitioned given;
    MYR_CLEANUP(myr_arena_done) struct myr_arena own;
    struct fit_partition partition = {.stages = layout->pp,
                                      .layers = line->x->query->it.model->layer_count,
                                      .micro_batches = myr_layout_micro_batches(layout),
                                      .alike = alike,
                                      .price_of = price_of,
                                      .update_of = update_of,
                                      .context = line,
                                      .group = line->group,
                                      .limit_s = best->found ? best->step_s / slower : 1e30};
    myr_arena_init(&own);
    line_up(line, layout);
    bool found = fit_partition_layers(&partition, &own, layers, &given);
    /* Kept over the new answer, which begins from nothing. */
    uint64_t asked = best->asked + 1;
    double floor_s = best->floor_s;
    if (!given.proven) {
        floor_s = fit_min(floor_s, given.floor_s * slower);
    }
    if (found) {
        *best = (struct myr_fit_mixed){.found = true, .step_s = given.step_s * slower};
        best->stage_count = layout->pp;
        best->order_count = line->x->count;
        memcpy(best->order, line->order, sizeof(best->order));
        put_parts(line, layout, layers, best);
    }
    best->asked = asked;
    best->floor_s = floor_s;
}

/* Questions */

/* The next order of pools along the pipeline, in the order of dictionaries. */
static bool next_order(uint32_t *order, uint32_t count)
{
    uint32_t at = count - 1, other = count - 1;
    while (at > 0 && order[at - 1] > order[at]) {
        at--;
    }
    if (at == 0) {
        return false;
    }
    while (order[other] < order[at - 1]) {
        other--;
    }
    uint32_t swap = order[at - 1];
    order[at - 1] = order[other];
    order[other] = swap;
    for (uint32_t low = at, high = count - 1; low < high; low++, high--) {
        swap = order[low];
        order[low] = order[high];
        order[high] = swap;
    }
    return true;
}

/* Twins that change places give the same pipeline: the first one stands first. */
static bool repeats(const struct fit_mixer *x, const uint32_t *order)
{
    for (uint32_t i = 0; i < x->count; i++) {
        for (uint32_t j = i + 1; j < x->count; j++) {
            const struct myr_fit_pool *a = &x->pools[order[i]], *b = &x->pools[order[j]];
            if (order[i] > order[j] && a->device == b->device && a->gpus == b->gpus) {
                return true;
            }
        }
    }
    return false;
}

/*
 * All orders of ranks, ZeRO stages and orders of pools; tables live in an arena of their own, for
 * there may be many questions.
 */
static void ask(struct fit_line_up *line, const struct question *question, bool alike,
                struct myr_fit_mixed *best)
{
    const struct fit_mixer *x = line->x;
    const struct myr_layout *layout = &question->layout;
    enum myr_axis orders[FIT_ORDERS_MAX][MYR_LAYOUT_ORDER_COUNT];
    uint32_t order_count = fit_orders(&x->space, layout, orders);
    MYR_CLEANUP(myr_arena_done) struct myr_arena own;
    myr_arena_init(&own);
    line->arena = &own;
    for (uint32_t i = 0; i < x->count; i++) {
        /*
         * Times of layers do not depend on the order of ranks along the pipeline: once for a
         * question.
         */
        fit_line_price_layers(line, x->who[i], layout);
    }
    for (uint32_t i = 0; i < order_count; i++) {
        if (orders[i][MYR_LAYOUT_ORDER_COUNT - 1] != MYR_AXIS_PP) {
            continue; /* a stage is in one pool: stages lie furthest apart */
        }
        for (uint32_t zero = 0; zero <= 3; zero++) {
            if (!fit_zero_allowed(x->query, zero, layout->pp)) {
                continue;
            }
            for (uint32_t k = 0; k < x->count; k++) {
                line->order[k] = x->who[k];
            }
            do {
                for (uint32_t k = 0; k < x->count; k++) {
                    fit_line_price_exchange(&line->costs[x->who[k]], zero, orders[i]);
                }
                if (!repeats(x, line->order)) {
                    cut_layers(line, layout, alike, best);
                }
            } while (next_order(line->order, x->count));
        }
    }
    line->arena = NULL;
}

/* One micro-batch in layers of each kind on a pool; 0 where there are none. */
struct layer_times {
    double both_s[FIT_KIND_COUNT], all_s; /* both passes; of all layers */
    double forward_share;                 /* the largest of any kind */
};

static void time_layers(const struct fit_mixer *x, uint32_t pool, const struct myr_layout *layout,
                        struct layer_times *ret)
{
    struct myr_layout own = *layout;
    struct fit_blocks blocks;
    double counts[FIT_KIND_COUNT] = {};
    own.precision = x->precisions[pool];
    own.recompute = MYR_RECOMPUTE_NONE;
    fit_blocks_of(&x->cases[pool], &own, &blocks);
    fit_count_layers(x->query->it.model, (struct myr_span){0, x->query->it.model->layer_count},
                     counts);
    *ret = (struct layer_times){};
    for (int k = 0; k < FIT_KIND_COUNT; k++) {
        if (counts[k] > 0) {
            double forward = blocks.layers[k].forward.total;
            ret->both_s[k] = forward + blocks.layers[k].backward.total;
            ret->all_s += counts[k] * ret->both_s[k];
            ret->forward_share = fit_max(ret->forward_share, forward / ret->both_s[k]);
        }
    }
}

/* How fast pools are with the layers of this model, against the first of them. */
struct speeds {
    double work_s;                    /* all layers on the first pool */
    double least_s;                   /* and on the fastest */
    double slower[MYR_FIT_POOLS_MAX]; /* seconds for one of the first pool's, at least */
    double forward_share;             /* the largest of any pool */
};

static void speeds_of(const struct fit_mixer *x, const struct myr_layout *layout,
                      struct speeds *ret)
{
    struct layer_times first, times;
    time_layers(x, x->who[0], layout, &first);
    *ret = (struct speeds){.work_s = first.all_s, .least_s = 1e30};
    for (uint32_t i = 0; i < x->count; i++) {
        time_layers(x, x->who[i], layout, &times);
        ret->slower[i] = 1e30;
        ret->forward_share = fit_max(ret->forward_share, times.forward_share);
        for (int k = 0; k < FIT_KIND_COUNT; k++) {
            if (first.both_s[k] > 0) {
                /* The kind of layer in which a pool does best: a bound must not be unkind. */
                ret->slower[i] = fit_min(ret->slower[i], times.both_s[k] / first.both_s[k]);
            }
        }
        ret->least_s = fit_min(ret->least_s, ret->slower[i] * first.all_s);
    }
}

/*
 * Some stage takes at least what all take when they share the layers in proportion to their speed.
 * Its bound (partition_layers.c) with what is hidden at most, and the sum with all on the fastest
 * pool.
 */
static double bound_s(const struct fit_line_up *line, const struct myr_layout *layout,
                      const struct speeds *speeds)
{
    const struct fit_mixer *x = line->x;
    double micro = x->query->it.constants[FIT_LAUNCH_MICRO] * 1e-3, speed = 0;
    double m = myr_layout_micro_batches(layout), stages = layout->pp;
    for (uint32_t i = 0; i < x->count; i++) {
        speed += stages_of(line, x->who[i], layout) / speeds->slower[i];
    }
    double slowest = speeds->work_s / speed;
    double hidden = fit_min(m - 1, stages - 1) * speeds->forward_share;
    double pipe = fit_max(m * (slowest + micro),
                          speeds->least_s + stages * micro + (m - 1 - hidden) * slowest);
    return pipe * (1 + straggler_of(line, layout)) * (1 - 1e-9);
}

/* A growing list; sorted by bound before it is worked off. */
struct questions {
    struct question *items;
    size_t count, max;
};

/* Grows by doubling; questions_done() frees it. */
static void add_question(struct questions *all, const struct question *one)
{
    if (all->count == all->max) {
        all->max = all->max ? 2 * all->max : 256;
        all->items = myr_xrealloc(all->items, all->max, sizeof(*all->items));
    }
    all->items[all->count++] = *one;
}

/* All numbers of replicas of a width and micro-batch. */
static void add_replicas(const struct fit_line_up *line, struct myr_layout layout,
                         struct questions *all)
{
    const struct fit_mixer *x = line->x;
    const struct myr_fit_query *q = x->query;
    uint32_t most = x->common.gpus / (layout.tp * layout.cp);
    struct speeds speeds = {};
    for (uint32_t i = 0; i < x->space.divisor_count; i++) {
        uint32_t dp = x->space.divisors[i], pp = 0;
        if (dp > most || most % dp != 0 || q->batch % (dp * layout.micro_batch) != 0 ||
            !fit_allowed(q->dp, dp)) {
            continue;
        }
        /* With one stage first: rules that the number of stages has no part in. */
        layout.dp = dp;
        layout.pp = 1;
        layout.global_batch = q->batch;
        if (myr_layout_broken(&layout, q->it.model, 0) != MYR_LAYOUT_OK) {
            continue;
        }
        for (uint32_t k = 0; k < x->count; k++) {
            pp += stages_of(line, x->who[k], &layout);
        }
        if (pp > q->it.model->layer_count || pp > MYR_FIT_STAGES_MAX || !fit_allowed(q->pp, pp)) {
            continue;
        }
        layout.pp = pp;
        if (speeds.work_s <= 0) {
            speeds_of(x, &layout, &speeds);
        }
        struct question one = {bound_s(line, &layout, &speeds), all->count, layout};
        add_question(all, &one);
    }
}

/* For qsort(), which keeps no order by itself: the number decides between equals. */
static int by_bound(const void *a, const void *b)
{
    const struct question *left = a, *right = b;
    if (left->bound_s < right->bound_s || left->bound_s > right->bound_s) {
        return left->bound_s < right->bound_s ? -1 : 1;
    }
    return left->number < right->number ? -1 : 1;
}

static void questions_done(struct questions *all)
{
    free(all->items);
}

/* Lists all questions with their bounds, then asks them lowest first until none can win. */
void fit_mix_layers(const struct fit_mixer *x, struct myr_fit_mixed *best)
{
    const struct myr_model *model = x->query->it.model;
    int recompute = x->query->recompute;
    struct fit_line_up line = {.x = x};
    MYR_CLEANUP(questions_done) struct questions all = {};
    struct myr_layout width;
    bool started = false;
    if (!fit_schedule_allowed(x->query, MYR_SCHEDULE_1F1B, 2) || !fit_allowed(x->query->vp, 1)) {
        return;
    }
    line.costs = MYR_ARENA_NEW(x->arena, struct fit_pool_costs, MYR_FIT_POOLS_MAX);
    line.moe = MYR_ARENA_NEW(x->arena, uint32_t, model->layer_count + (size_t)1);
    for (uint32_t i = 0; i < model->layer_count; i++) {
        line.moe[i + 1] = line.moe[i] + myr_model_layer_is_moe(model, i);
    }
    /* Which recomputation the question allows: numbers of layers, all of them, or selective. */
    line.counts = recompute < 0;
    line.all = recompute == MYR_RECOMPUTE_FULL;
    line.selective = recompute == MYR_RECOMPUTE_SELECTIVE || (recompute < 0 && !x->space.flash);
    while (fit_width_next(&x->space, &width, &started)) {
        struct myr_layout layout = width;
        layout.vp = 1;
        layout.schedule = MYR_SCHEDULE_1F1B;
        uint32_t fixed = x->query->micro_batch;
        for (uint32_t b = fixed ? fixed : 1; b <= (fixed ? fixed : FIT_MICRO_MAX); b++) {
            layout.micro_batch = b;
            add_replicas(&line, layout, &all);
        }
    }
    if (all.count > 0) {
        qsort(all.items, all.count, sizeof(*all.items), by_bound);
    }
    /* Each question that is not decided lowers it. */
    best->floor_s = best->found ? best->floor_s : 1e30;
    for (size_t i = 0; i < all.count; i++) {
        if (best->found && all.items[i].bound_s >= best->step_s) {
            break;
        }
        ask(&line, &all.items[i], is_alike(model), best);
    }
    if (best->found) {
        best->floor_s = fit_min(best->floor_s, best->step_s);
    }
}
