/* exhaust: every layout of a space, one by one. Nothing is shared, nothing is skipped. */
#include "space.h"

struct walk {
    const struct fit_space *space;
    struct myr_fit_answer *answer;
};

static void price(const struct walk *walk, const struct myr_layout *layout)
{
    const struct myr_fit_query *q = walk->space->query;
    struct myr_fit_cost cost;
    struct myr_fit_memory memory;
    if (myr_layout_broken(layout, q->it.model, q->gpus) != MYR_LAYOUT_OK) {
        return;
    }
    walk->answer->evaluated++;
    walk->answer->costed++;
    myr_fit_cost_of(&q->it, layout, &cost);
    if (fit_keep_wants(walk->answer, q->top, layout, cost.step_s)) {
        myr_fit_memory_of(&q->it, layout, &memory);
        if (memory.fits) {
            fit_keep(walk->answer, q->top, layout, cost.step_s);
        }
    }
}

static void walk_state(const struct walk *walk, struct myr_layout layout)
{
    enum myr_axis orders[FIT_ORDERS_MAX][MYR_LAYOUT_ORDER_COUNT];
    int wanted = walk->space->query->zero;
    uint32_t order_count = fit_orders(&layout, orders);
    for (uint32_t o = 0; o < order_count; o++) {
        memcpy(layout.order, orders[o], sizeof(layout.order));
        for (uint32_t zero = 0; zero <= 3; zero++) {
            if (wanted >= 0 && wanted != (int)zero) {
                continue;
            }
            layout.zero = zero;
            layout.shard = 0;
            price(walk, &layout);
            for (uint32_t d = 2; zero > 0 && d < layout.dp; d++) {
                layout.shard = d * layout.cp;
                if (layout.dp % d == 0) {
                    price(walk, &layout);
                }
            }
        }
    }
}

static void walk_recompute(const struct walk *walk, struct myr_layout layout, uint32_t chunk_most)
{
    const struct fit_space *space = walk->space;
    for (int r = MYR_RECOMPUTE_NONE; r <= MYR_RECOMPUTE_FULL; r++) {
        layout.recompute = (enum myr_recompute)r;
        layout.recompute_layers = 0;
        if (fit_recompute_allowed(space, layout.recompute, FIT_RECOMPUTE_ALL)) {
            walk_state(walk, layout);
        }
        for (uint32_t n = 1; r == MYR_RECOMPUTE_FULL && n < chunk_most; n++) {
            layout.recompute_layers = n;
            if (fit_recompute_allowed(space, layout.recompute, n)) {
                walk_state(walk, layout);
            }
        }
    }
}

static void walk_shape(const struct walk *walk, struct myr_layout layout,
                       const struct fit_shape *shape)
{
    const struct myr_fit_query *q = walk->space->query;
    uint64_t ranks = (uint64_t)layout.tp * layout.cp * shape->pp;
    layout.pp = shape->pp;
    layout.vp = shape->vp;
    layout.first_layers = shape->first_layers;
    layout.last_layers = shape->last_layers;
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
        for (uint32_t b = 1; b <= FIT_MICRO_MAX; b++) {
            layout.micro_batch = b;
            if (fit_allowed(q->micro_batch, b)) {
                walk_recompute(walk, layout, shape->chunk_most);
            }
        }
    }
}

void fit_exhaust(const struct fit_space *space, struct myr_fit_answer *answer)
{
    struct walk walk = {space, answer};
    struct myr_layout layout;
    bool started = false;
    while (fit_width_next(space, &layout, &started)) {
        for (uint32_t i = 0; i < space->shape_count; i++) {
            walk_shape(&walk, layout, &space->shapes[i]);
        }
    }
}
