#include "engine/internal.h"

/*
 * When a transfer will end. Events cannot be taken back: each carries the
 * version of its task, and one whose task has moved on is ignored when it is taken.
 */

void sim_push_event(struct myr_sim *sim, myr_ps at, struct sim_event event)
{
    uint64_t version = event.version & SIM_VERSION_MASK;
    MYR_ASSERT(event.kind <= SIM_EVENT_REROUTE); /* two bits */
    myr_heap_push(&sim->events, at, (uint64_t)event.kind << 62 | version << 32 | event.a);
}

void sim_push_finish(struct myr_sim *sim, uint32_t id)
{
    struct sim_task *task = &sim->tasks.items[id];
    MYR_ASSERT(task->state == SIM_MOVING && task->updated == sim->now);
    task->version++;
    if (task->pace == 0) {
        return; /* it stands still until something changes */
    }
    /* Rounded up: at the event nothing is left, and it is not taken twice. */
    unsigned __int128 wait =
        ((unsigned __int128)task->bits_left * MYR_PS_PER_S + task->pace - 1) / task->pace;
    struct sim_event event = {SIM_EVENT_TASK, id, task->version};
    sim_push_event(sim, sim->now + (myr_ps)wait, event);
}
