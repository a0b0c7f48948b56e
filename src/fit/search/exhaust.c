/*
 * exhaust: every layout of a space, one by one. Nothing is skipped and nothing is bounded; what
 * layouts share that differ in ZeRO and shards alone, their pipeline, is worked out once for them.
 */
#include "cost/combine.h"
#include "search/space.h"

/* What every level of the walk hands on. */
struct walk {
    const struct fit_space *space;
    struct myr_fit_answer *answer;
};

/* Layouts of one order: all that does not depend on ZeRO and shards. */
struct shared {
    struct fit_pipe pipe;
    struct fit_places places;
    double straggler; /* share of the step */
};

/* As anybody else would price it: this search shares no bound with the other one. */
static void price_shared(const struct myr_fit_case *it, const struct myr_layout *layout,
                         struct shared *ret)
{
    struct fit_blocks blocks;
    fit_blocks_of(it, layout, &blocks);
    fit_pipe_of(it, layout, &blocks, &ret->pipe);
    ret->places = fit_places_of(it, layout);
    ret->straggler = fit_straggler_share(it, layout);
}

/* Memory is the dearer question, so it is asked last. */
static void price(const struct walk *walk, const struct myr_layout *layout,
                  const struct shared *shared)
{
    const struct myr_fit_query *q = walk->space->query;
    struct fit_exchanges exchanges = {};
    struct myr_fit_cost cost;
    struct myr_fit_memory memory;
    walk->answer->evaluated++;
    walk->answer->costed++;
    fit_exchanges_of(&q->it, layout, &shared->places, NULL, &exchanges);
    fit_close_with(&q->it, layout, &shared->pipe, &exchanges, shared->straggler, &cost);
    MYR_ASSERT(layout->zero > 0 || layout->shard == 0);
    if (fit_best_wants(walk->answer, q->top, layout, cost.step_s)) {
        myr_fit_memory_of(&q->it, layout, &memory);
        if (q->tight ? memory.fits : memory.sure) {
            fit_best_add(walk->answer, q->top, layout, cost.step_s);
        }
    }
}

static bool legal(const struct walk *walk, const struct myr_layout *layout)
{
    const struct myr_fit_query *q = walk->space->query;
    return myr_layout_broken(layout, q->it.model, q->gpus) == MYR_LAYOUT_OK;
}

/* Which shards are legal is the same for all ZeRO stages that have any. */
static void walk_zero(const struct walk *walk, struct myr_layout layout,
                      const struct shared *shared)
{
    /* Shards are ZeRO's: without it there is nothing to cut. */
    uint32_t shard = layout.shard;
    for (uint32_t zero = shard && !walk->space->base.shard ? 1 : 0; zero <= 3; zero++) {
        layout.zero = zero;
        layout.shard = zero ? shard : 0;
        if (fit_zero_allowed(walk->space->query, zero, layout.pp)) {
            price(walk, &layout, shared);
        }
    }
}

/* Every order of ranks, and in it all shards that divide the replicas. */
static void walk_state(const struct walk *walk, struct myr_layout layout)
{
    enum myr_axis orders[FIT_ORDERS_MAX][MYR_LAYOUT_ORDER_COUNT];
    uint32_t order_count = fit_orders(walk->space, &layout, orders);
    if (walk->space->base.shard % layout.cp != 0) {
        return; /* shards hold whole context groups */
    }
    for (uint32_t o = 0; o < order_count; o++) {
        struct shared shared;
        memcpy(layout.order, orders[o], sizeof(layout.order));
        layout.shard = walk->space->base.shard;
        if (!legal(walk, &layout)) {
            continue;
        }
        price_shared(&walk->space->query->it, &layout, &shared);
        walk_zero(walk, layout, &shared);
        /* A shard of all replicas is written as 0 and has been priced. */
        for (uint32_t d = 2; d < layout.dp && fit_shards(walk->space); d++) {
            layout.shard = d * layout.cp;
            if (layout.dp % d == 0 && legal(walk, &layout)) {
                walk_zero(walk, layout, &shared);
            }
        }
    }
}

/* None, selective, all, and every number of layers between. */
static void walk_recompute(const struct walk *walk, struct myr_layout layout, uint32_t chunk_most)
{
    const struct fit_space *space = walk->space;
    for (int r = MYR_RECOMPUTE_NONE; r <= MYR_RECOMPUTE_FULL; r++) {
        layout.recompute = (enum myr_recompute)r;
        layout.recompute_layers = 0;
        if (fit_recompute_allowed(space, layout.recompute, FIT_RECOMPUTE_ALL, chunk_most)) {
            walk_state(walk, layout);
        }
        for (uint32_t n = 1; r == MYR_RECOMPUTE_FULL && n < chunk_most; n++) {
            layout.recompute_layers = n;
            if (fit_recompute_allowed(space, layout.recompute, n, chunk_most)) {
                walk_state(walk, layout);
            }
        }
    }
}

/* One cut with every schedule and micro-batch; the rules say which combinations are none. */
static void walk_shape(const struct walk *walk, struct myr_layout layout,
                       const struct fit_shape *shape)
{
    const struct myr_fit_query *q = walk->space->query;
    /* Replicas are what the other axes leave of the GPUs. */
    uint64_t ranks = (uint64_t)layout.tp * layout.cp * shape->pp;
    layout.pp = shape->pp;
    layout.vp = shape->vp;
    layout.first_layers = shape->first_layers;
    layout.last_layers = shape->last_layers;
    layout.output_counts = shape->output_counts;
    if (q->gpus % ranks != 0) {
        return;
    }
    layout.dp = (uint32_t)(q->gpus / ranks);
    for (int schedule = 0; schedule <= MYR_SCHEDULE_DUALPIPE; schedule++) {
        layout.schedule = (enum myr_schedule)schedule;
        if (!fit_schedule_allowed(q, layout.schedule, layout.pp) ||
            !fit_allowed(q->dp, layout.dp)) {
            continue;
        }
        uint32_t asked = q->micro_batch;
        for (uint32_t b = asked ? asked : 1; b <= (asked ? asked : FIT_MICRO_MAX); b++) {
            layout.micro_batch = b;
            walk_recompute(walk, layout, shape->chunk_most);
        }
    }
}

/* Cuts of all widths; shapes that leave no whole replica are counted too, and are quickly done. */
static uint64_t count_cuts(const struct fit_space *space)
{
    struct myr_layout layout;
    bool started = false;
    uint64_t widths = 0;
    while (fit_width_next(space, &layout, &started)) {
        widths++;
    }
    return widths * space->shape_count;
}

void fit_exhaust(const struct fit_space *space, struct myr_fit_answer *answer)
{
    const struct myr_fit_query *q = space->query;
    struct walk walk = {space, answer};
    struct myr_layout layout;
    bool started = false;
    uint64_t done = 0, total = q->progress ? count_cuts(space) : 0;
    while (fit_width_next(space, &layout, &started)) {
        for (uint32_t i = 0; i < space->shape_count; i++) {
            walk_shape(&walk, layout, &space->shapes[i]);
            if (q->progress) {
                q->progress(q->progress_context, ++done, total);
            }
        }
    }
}
