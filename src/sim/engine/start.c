#include <stdlib.h>

#include "engine/internal.h"

/* What a run needs before its first moment, and a state before it is loaded. */

/* Sorted by the task before, by counting: who ends finds those that wait for it side by side. */
static void list_edges(struct myr_sim *sim)
{
    size_t tasks = sim->tasks.count;
    uint32_t *start = myr_xcalloc(tasks + 2, sizeof(*start));
    MYR_CLEANUP(myr_free_at)
    struct sim_edge *sorted = myr_xcalloc(sim->edges.count, sizeof(*sorted));
    for (size_t i = 0; i < sim->edges.count; i++) {
        /*
         * Two places on: summed up, then counted on while sorting, each start ends where it
         * belongs.
         */
        MYR_ASSERT(sim->edges.items[i].before < tasks);
        MYR_ASSERT(sim->edges.items[i].task < tasks);
        MYR_ASSERT(sim->tasks.items[sim->edges.items[i].task].state == SIM_WAITING);
        start[sim->edges.items[i].before + 2]++;
        struct sim_task *task = &sim->tasks.items[sim->edges.items[i].task];
        *(sim->edges.items[i].moves ? &task->moves_after : &task->waits_for) += 1;
    }
    for (size_t i = 2; i < tasks + 2; i++) {
        start[i] += start[i - 1];
    }
    for (size_t i = 0; i < sim->edges.count; i++) {
        sorted[start[sim->edges.items[i].before + 1]++] = sim->edges.items[i];
    }
    if (sim->edges.count) {
        memcpy(sim->edges.items, sorted, sim->edges.count * sizeof(*sorted));
    }
    MYR_ASSERT(!sim->edge_start);
    MYR_ASSERT(start[tasks] == sim->edges.count);
    sim->edge_start = start;
}

/* Routes the unrouted patterns of one phase, or of all, as one batch. */
static int route_phase(struct myr_sim *sim, uint32_t phase, struct myr_err *err)
{
    MYR_CLEANUP(myr_vec_free_at) MYR_VEC(uint32_t) ids = {};
    for (uint32_t id = sim->routed_patterns; id < sim->patterns.count; id++) {
        if (phase == MYR_NONE || sim->patterns.items[id].phase == phase) {
            sim->patterns.items[id].batch = sim->batch_count;
            MYR_ASSERT(sim->patterns.items[id].use_count == 0); /* it is routed once */
            myr_vec_push(&ids, id);
        }
    }
    /* Counted even where it fails: a batch's number is never used twice. */
    uint32_t batch = sim->batch_count++;
    MYR_ASSERT(ids.count == 0 || sim->patterns.items[ids.items[0]].batch == batch);
    return sim_route_patterns(sim, ids.items, (uint32_t)ids.count, err);
}

/* All that were added since the last call are one batch. */
int myr_sim_route(struct myr_sim *sim, struct myr_err *err)
{
    MYR_ASSERT(sim->routed_patterns <= sim->patterns.count);
    if (sim->defer || sim->routed_patterns == sim->patterns.count) {
        return MYR_OK;
    }
    int rc = route_phase(sim, MYR_NONE, err);
    sim->routed_patterns = (uint32_t)sim->patterns.count;
    return rc;
}

/* Phase by phase: jobs that are in the same phase run at the same time, and know of each other. */
int sim_route_deferred(struct myr_sim *sim, struct myr_err *err)
{
    uint32_t last = 0;
    MYR_ASSERT(sim->routed_patterns <= sim->patterns.count);
    if (sim->routed_patterns == sim->patterns.count) {
        return MYR_OK;
    }
    for (uint32_t id = sim->routed_patterns; id < sim->patterns.count; id++) {
        uint32_t phase = sim->patterns.items[id].phase;
        last = phase > last ? phase : last;
    }
    /* Phases without patterns are batches too, of nothing. */
    for (uint32_t phase = 0; phase <= last; phase++) {
        MYR_TRY(route_phase(sim, phase, err));
    }
    sim->routed_patterns = (uint32_t)sim->patterns.count;
    return MYR_OK;
}

int sim_prepare(struct myr_sim *sim, struct myr_err *err)
{
    MYR_ASSERT(!sim->edge_start);
    MYR_TRY(sim_route_deferred(sim, err));
    MYR_ASSERT(sim->routed_patterns == sim->patterns.count);
    list_edges(sim);
    return MYR_OK;
}
