/*
 * A state whose orders agents and racks obey: at once, and in the order in which they were asked or
 * in one that is drawn.
 */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "holds.h"
#include "myriad/control.h"

struct world {
    struct myr_rng rng;
    struct myr_control *control;
    int64_t now_ms;
    MYR_VEC(struct myr_effect) orders;
    bool starts;  /* agents answer orders to start, too */
    bool in_turn; /* the first that was asked answers first */
};

static inline uint32_t below(struct world *w, uint32_t bound)
{
    return myr_rng_below(&w->rng, bound);
}

static inline void tell(struct world *w, struct myr_event event)
{
    uint32_t count;
    assert_int_equal(myr_control_step(w->control, w->now_ms, &event, NULL), MYR_OK);
    const struct myr_effect *effects = myr_control_effects(w->control, &count);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t kind = effects[i].kind;
        if (kind == MYR_EFFECT_STOP || kind == MYR_EFFECT_FENCE ||
            (kind == MYR_EFFECT_START && w->starts)) {
            myr_vec_push(&w->orders, effects[i]);
        }
    }
}

static inline struct myr_effect take_order(struct world *w)
{
    uint32_t at = w->in_turn ? 0 : below(w, (uint32_t)w->orders.count);
    struct myr_effect order = w->orders.items[at];
    w->orders.count--;
    memmove(&w->orders.items[at], &w->orders.items[at + 1],
            (w->orders.count - at) * sizeof(w->orders.items[0]));
    return order;
}

/* One after the other. */
static inline void obey(struct world *w)
{
    while (w->orders.count > 0) {
        struct myr_effect o = take_order(w);
        enum myr_event_kind kind = o.kind == MYR_EFFECT_STOP    ? MYR_EVENT_STOPPED
                                   : o.kind == MYR_EFFECT_START ? MYR_EVENT_STARTED
                                                                : MYR_EVENT_FENCED;
        if (kind == MYR_EVENT_FENCED || !myr_control_node(w->control, o.node).silent) {
            tell(w, (struct myr_event){.kind = (uint8_t)kind,
                                       .node = o.node,
                                       .job = o.job,
                                       .epoch = o.epoch,
                                       .boot = o.boot});
        }
    }
}

static inline void pass(struct world *w, int64_t ms)
{
    int64_t end_ms = w->now_ms + ms;
    while (w->now_ms < end_ms) {
        int64_t wake_ms = myr_control_wake_ms(w->control);
        w->now_ms = wake_ms <= w->now_ms ? w->now_ms + 1 : wake_ms < end_ms ? wake_ms : end_ms;
        tell(w, (struct myr_event){.kind = MYR_EVENT_TICK});
        obey(w);
    }
}

/* Whose ranks all end, if it is one that runs. */
static inline void end_some(struct world *w)
{
    uint32_t jobs = myr_control_jobs(w->control), id = jobs ? below(w, jobs) : 0;
    if (jobs == 0 || myr_control_job(w->control, id).state != MYR_CONTROL_RUNNING) {
        return;
    }
    uint32_t nodes = myr_control_job(w->control, id).nodes;
    struct myr_control_rank *ranks = myr_xcalloc(nodes, sizeof(*ranks));
    (void)myr_control_job_ranks(w->control, id, ranks, nodes);
    for (uint32_t i = 0; i < nodes; i++) {
        tell(w, (struct myr_event){.kind = MYR_EVENT_EXIT,
                                   .node = ranks[i].node,
                                   .job = id,
                                   .epoch = ranks[i].epoch,
                                   .boot = 1});
    }
    obey(w);
    free(ranks);
}
