#include <stdlib.h>

#include "engine/internal.h"

/* Faults of the fluid: capacities change at once, paths when the routing has noticed. */

/* Both ways, as a part of what the link has without faults; zero stops whoever uses it. */
static void change_link(struct myr_sim *sim, uint32_t link, uint32_t permille)
{
    MYR_ASSERT(link * 2 + 1 < sim->link_channels);
    MYR_ASSERT(permille <= 1000);
    for (uint32_t way = 0; way < 2; way++) {
        struct sim_channel *channel = &sim->channels[link * 2 + way];
        sim_set_capacity(sim, link * 2 + way, channel->full_capacity / 1000 * permille);
    }
}

/*
 * Changes, or marks in the graph, the fault's link or every link of its device. In two steps,
 * because traffic on a dead link stands still until the routing notices, 'reroute' later.
 */
static void each_link(struct myr_sim *sim, const struct myr_sim_fault *fault, bool mark_graph)
{
    const struct myr_design *design = sim->graph->design;
    uint32_t permille = fault->kind == MYR_FAULT_DOWN      ? 0
                        : fault->kind == MYR_FAULT_DEGRADE ? fault->capacity_permille
                                                           : 1000;
    uint32_t first = 0, end = 1;
    MYR_ASSERT((fault->link == MYR_NONE) != (fault->device == MYR_NONE));
    if (fault->link == MYR_NONE) {
        first = design->first_port[fault->device];
        end = design->first_port[fault->device + 1];
    }
    for (uint32_t p = first; p < end; p++) {
        uint32_t link = fault->link == MYR_NONE ? design->port_link[p] : fault->link;
        if (link == MYR_NONE) {
            continue;
        }
        if (mark_graph) {
            myr_graph_set_link(sim->graph, link, fault->kind == MYR_FAULT_DOWN);
        } else {
            change_link(sim, link, permille);
        }
        sim_refresh_pools(sim, link);
    }
}

/* Whether any of its paths goes over a link that is known to be dead. */
static bool pattern_hit(const struct myr_sim *sim, const struct sim_pattern *pattern)
{
    MYR_ASSERT(pattern->first_use + pattern->use_count <= sim->uses.count);
    for (uint32_t u = 0; u < pattern->use_count; u++) {
        uint32_t channel = sim->uses.items[pattern->first_use + u].channel;
        if (channel < sim->link_channels && myr_graph_link_dead(sim->graph, channel / 2)) {
            return true;
        }
    }
    return false;
}

/* One byte a pattern: whether it must be routed again. Planned paths are planned as a whole. */
static uint8_t *patterns_to_move(const struct myr_sim *sim, const struct myr_sim_fault *fault)
{
    /* A link that comes back may be better for anybody: then all are routed again. */
    bool whole = sim->options.balance.policy == MYR_POLICY_PLANNED;
    uint8_t *move = myr_xcalloc(sim->patterns.count, 1);
    MYR_CLEANUP(myr_free_at) uint8_t *batch = myr_xcalloc(sim->batch_count + 1, 1);
    for (uint32_t id = 0; id < sim->patterns.count; id++) {
        const struct sim_pattern *pattern = &sim->patterns.items[id];
        MYR_ASSERT(pattern->batch <= sim->batch_count);
        if (pattern->network_flows && (fault->kind == MYR_FAULT_UP || pattern_hit(sim, pattern))) {
            move[id] = 1;
            batch[pattern->batch] = 1;
        }
    }
    for (uint32_t id = 0; whole && id < sim->patterns.count; id++) {
        const struct sim_pattern *pattern = &sim->patterns.items[id];
        move[id] = pattern->network_flows && batch[pattern->batch];
    }
    return move;
}

/* A transfer that is taken off its channels, until its pattern has been routed again. */
struct waiting {
    uint32_t task;
    sim_moved left;
};

struct waiting_list {
    struct waiting *items;
    size_t count, capacity;
};

/* Takes the moving transfers of the marked patterns off their channels. */
static void take_off(struct myr_sim *sim, const uint8_t *move, struct waiting_list *waiting)
{
    for (uint32_t t = 0; t < sim->tasks.count; t++) {
        const struct sim_task *task = &sim->tasks.items[t];
        if (task->kind == SIM_TRANSFER && task->state == SIM_MOVING && move[task->pattern]) {
            uint32_t slot = task->slot;
            MYR_ASSERT(slot < sim->slots.count);
            MYR_ASSERT(sim->slots.items[slot].task == t);
            /* In this order: what moved up to now moved over the old channels. */
            sim_touch_holder(sim, slot);
            MYR_ASSERT(sim->touched.count > 0 || sim->ways.items[slot].holder == MYR_NONE);
            struct waiting one = {t, sim_left(sim, slot)};
            sim_count_bytes(sim, slot);
            sim_detach(sim, slot);
            myr_vec_push(waiting, one);
        }
    }
    MYR_ASSERT(waiting->count <= sim->free_slots.count); /* each has given its slot back */
}

/* Together if that works; else one by one, and who has no way left keeps the dead one and waits. */
static int route_batch(struct myr_sim *sim, const uint32_t *ids, uint32_t count,
                       struct myr_err *err)
{
    MYR_ASSERT(count > 0);
    int rc = sim_route_patterns(sim, ids, count, err);
    if (rc != MYR_ESTALLED) {
        return rc;
    }
    for (uint32_t i = 0; i < count; i++) {
        rc = sim_route_patterns(sim, &ids[i], 1, err);
        if (rc < 0 && rc != MYR_ESTALLED) {
            return rc;
        }
    }
    return MYR_OK;
}

/* Batch by batch, as they were routed first: what runs at the same time is balanced together. */
static int route_marked(struct myr_sim *sim, const uint8_t *move, struct myr_err *err)
{
    MYR_CLEANUP(myr_vec_free_at) MYR_VEC(uint32_t) ids = {};
    for (uint32_t batch = 0; batch < sim->batch_count; batch++) {
        ids.count = 0;
        for (uint32_t id = 0; id < sim->patterns.count; id++) {
            if (move[id] && sim->patterns.items[id].batch == batch) {
                myr_vec_push(&ids, id);
            }
        }
        if (ids.count) {
            MYR_TRY(route_batch(sim, ids.items, (uint32_t)ids.count, err));
        }
    }
    return MYR_OK;
}

/* The routing has noticed: what is hit changes its way, with what is left of it. */
int sim_fluid_reroute(struct myr_sim *sim, const struct myr_sim_fault *fault, struct myr_err *err)
{
    each_link(sim, fault, true);
    if (sim->options.balance.policy == MYR_POLICY_SPRAY && sim->graph->regular) {
        return MYR_OK; /* the pools have done it */
    }
    MYR_CLEANUP(myr_free_at) uint8_t *move = patterns_to_move(sim, fault);
    MYR_CLEANUP(myr_vec_free_at) struct waiting_list waiting = {};
    take_off(sim, move, &waiting);
    MYR_TRY(route_marked(sim, move, err));
    for (size_t i = 0; i < waiting.count; i++) {
        sim_attach(sim, waiting.items[i].task, waiting.items[i].left);
    }
    return MYR_OK;
}

/* Whoever moves over a dead link stands still until then. */
void sim_fluid_fault(struct myr_sim *sim, const struct myr_sim_fault *fault)
{
    each_link(sim, fault, false);
}
