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

int sim_prepare(struct myr_sim *sim, struct myr_err *err)
{
    MYR_ASSERT(!sim->edge_start);
    MYR_TRY(sim_route_deferred(sim, err));
    MYR_ASSERT(sim->routed_patterns == sim->patterns.count);
    list_edges(sim);
    return MYR_OK;
}
