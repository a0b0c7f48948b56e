#include <stdlib.h>

#include "engine/internal.h"
#include "myriad/sim/state.h"

/*
 * The event loop: everything that happens at one moment is taken together. What moves the bytes is
 * behind the seam (transport.h).
 */

static struct sim_event unpack_event(uint64_t value)
{
    MYR_ASSERT(value >> 62 <= SIM_EVENT_REROUTE);
    return (struct sim_event){.kind = (uint8_t)(value >> 62), .a = (uint32_t)value};
}

/* An event of the task so much later; a run that goes on after the end of time ends with it. */
void sim_wake_after(struct myr_sim *sim, uint32_t id, __int128 wait)
{
    struct sim_event event = {SIM_EVENT_TASK, id};
    MYR_ASSERT(wait >= 0);
    if (wait >= SIM_TIME_MAX - sim->now) {
        sim->late_task = id;
        return;
    }
    sim_push_event(sim, sim->now + (myr_ps)wait, event);
}

/* All that it waited for is done: its time of computing begins, or its way to the other end. */
static void start_task(struct myr_sim *sim, uint32_t id)
{
    struct sim_task *task = &sim->tasks.items[id];
    MYR_ASSERT(id < sim->tasks.count);
    MYR_ASSERT(task->state == SIM_WAITING);
    MYR_ASSERT(task->waits_for == 0);
    MYR_ASSERT(task->slot == MYR_NONE);
    task->start = sim->now;
    task->state = SIM_LATENCY;
    if (task->kind == SIM_TRANSFER) {
        sim->transport->start(sim, id);
    } else {
        sim_wake_after(sim, id, task->duration);
    }
}

/* The constant is 2^64 divided by the golden ratio: it spreads small numbers. */
static uint64_t mix_hash(uint64_t hash, uint64_t value)
{
    return myr_hash_u64(hash ^ myr_hash_u64(value + UINT64_C(0x9E3779B97F4A7C15)));
}

/* Whoever waits for it may start at this very moment. */
void sim_end_task(struct myr_sim *sim, uint32_t id)
{
    struct sim_task *task = &sim->tasks.items[id];
    MYR_ASSERT(task->state != SIM_WAITING);
    MYR_ASSERT(task->state != SIM_DONE);
    MYR_ASSERT(sim->result.blocked > 0);
    MYR_ASSERT(sim->now >= task->start);
    MYR_ASSERT(task->slot == MYR_NONE);
    MYR_ASSERT(task->waits_for == 0); /* it is off its channels */
    task->state = SIM_DONE;
    task->end = sim->now;
    sim->result.blocked--;
    /* Each task mixes its own number in, so the order of equal times does not matter. */
    sim->result.hash += mix_hash((uint64_t)task->end, id);
    for (uint32_t e = sim->edge_start[id]; e < sim->edge_start[id + 1]; e++) {
        struct sim_edge edge = sim->edges.items[e];
        struct sim_task *next = &sim->tasks.items[edge.task];
        MYR_ASSERT(edge.before == id);
        MYR_ASSERT((edge.moves ? next->moves_after : next->waits_for) > 0);
        if (edge.moves) {
            next->moves_after--;
            if (next->moves_after == 0 && next->state == SIM_READY) {
                /* As an event of this moment: what ends now has left its channels by then. */
                sim_push_event(sim, sim->now, (struct sim_event){SIM_EVENT_TASK, edge.task});
            }
        } else if (--next->waits_for == 0) {
            start_task(sim, edge.task);
        }
    }
}

/* Its latency is over, its computing, or the bytes that its own follow have gone. */
static void task_event(struct myr_sim *sim, uint32_t id)
{
    struct sim_task *task = &sim->tasks.items[id];
    MYR_ASSERT(task->state == SIM_LATENCY || task->state == SIM_READY);
    MYR_ASSERT(task->slot == MYR_NONE);
    MYR_ASSERT(task->waits_for == 0);
    if (task->kind == SIM_TRANSFER) {
        sim->transport->wake(sim, id);
    } else if (task->moves_after) {
        task->state = SIM_READY;
    } else {
        sim_end_task(sim, id);
    }
}

/* A fault changes capacities at once; paths follow when the routing has noticed. */
static int take_event(struct myr_sim *sim, struct sim_event event, struct myr_err *err)
{
    const struct myr_sim_fault *fault;
    MYR_ASSERT(event.a < (event.kind == SIM_EVENT_TASK ? sim->tasks.count : sim->faults.count));
    switch (event.kind) {
    /* Numbers of faults and tasks share the event's field: its kind says which list it is of. */
    case SIM_EVENT_FAULT:
        fault = &sim->faults.items[event.a];
        sim->transport->fault(sim, fault);
        if (fault->kind != MYR_FAULT_DEGRADE) {
            struct sim_event later = {SIM_EVENT_REROUTE, event.a};
            sim_push_event(sim, sim->now + fault->reroute, later);
        }
        return MYR_OK;
    case SIM_EVENT_REROUTE:
        return sim->transport->reroute(sim, &sim->faults.items[event.a], err);
    default:
        task_event(sim, event.a);
        return MYR_OK;
    }
}

/* Faults first: of equal times they come before tasks. */
static void start_all(struct myr_sim *sim)
{
    MYR_ASSERT(sim->slots.count == sim->free_slots.count);
    MYR_ASSERT(sim->result.transfers == 0);
    sim->result.blocked = (uint32_t)sim->tasks.count;
    for (uint32_t i = 0; i < sim->faults.count; i++) {
        struct sim_event event = {SIM_EVENT_FAULT, i};
        sim_push_event(sim, sim->faults.items[i].at, event);
    }
    MYR_ASSERT(sim->events.count == sim->faults.count);
    for (uint32_t t = 0; t < sim->tasks.count; t++) {
        if (sim->tasks.items[t].waits_for == 0 && sim->tasks.items[t].state == SIM_WAITING) {
            start_task(sim, t);
        }
    }
}

/* When the next thing happens, or this moment if nothing does before it. */
static myr_ps next_time(struct myr_sim *sim, myr_ps until)
{
    myr_ps next = sim->events.count ? sim->events.items[0].key : SIM_TIME_MAX;
    myr_ps end = sim->transport->next(sim, next < until ? next : until);
    MYR_ASSERT(end >= sim->now);
    MYR_ASSERT(next >= sim->now);
    return end < next ? end : next;
}

/* Everything that happens now; what ends may start what begins at once. */
static int take_moment(struct myr_sim *sim, struct myr_err *err)
{
    struct myr_heap_item item;
    /* Ends before starts: who begins at this moment finds the channels free. */
    sim->transport->ends(sim);
    while (sim->events.count && sim->events.items[0].key == sim->now) {
        myr_heap_pop(&sim->events, &item);
        MYR_TRY(take_event(sim, unpack_event(item.value), err));
        sim->result.events++;
    }
    /* All of this moment is taken: what begins at once was an event of it. */
    MYR_ASSERT(sim->events.count == 0 || sim->events.items[0].key > sim->now);
    return MYR_OK;
}

/* The intervals that end before the next thing happens. */
static int sample_until(struct myr_sim *sim, myr_ps next, struct myr_err *err)
{
    enum { TICKS_MAX = 100000, SAMPLES_MAX = 50000000 };
    myr_ps step = sim->options.series_ps;
    while (step && (myr_ps)(sim->ticks + 1) * step <= next) {
        if (sim->ticks == TICKS_MAX || sim->samples.count > SAMPLES_MAX) {
            return myr_err_set(err, MYR_ERANGE,
                               "the time series has more than %d intervals or %d rows; give a "
                               "longer interval",
                               TICKS_MAX, SAMPLES_MAX);
        }
        MYR_ASSERT((myr_ps)(sim->ticks + 1) * step > sim->now);
        /* The clock goes to the end of the interval, which is not after the next event. */
        sim->now = (myr_ps)(sim->ticks + 1) * step;
        sim->transport->moved(sim);
        sim->transport->sample(sim);
    }
    return MYR_OK;
}

/* Up to this moment; 'blocked' tells whether anything is left. */
static int run_all(struct myr_sim *sim, myr_ps until, myr_sim_progress *progress, void *context,
                   struct myr_err *err)
{
    uint64_t shown = sim->result.events;
    while (sim->result.blocked) { /* faults after the last task change nothing */
        myr_ps next = next_time(sim, until);
        if (sim->late_task != MYR_NONE) {
            return sim_too_late(sim, err);
        }
        if (next == SIM_TIME_MAX) {
            return sim->transport->stuck(sim, err);
        }
        MYR_ASSERT(next >= sim->now);
        MYR_ASSERT(sim->result.blocked <= sim->tasks.count);
        /*
         * The clock stays at the last event: a run that goes on does so as if it had not stopped.
         */
        if (next > until) {
            return MYR_OK;
        }
        MYR_TRY(sample_until(sim, next, err));
        sim->now = next;
        sim->transport->moved(sim);
        MYR_TRY(take_moment(sim, err));
        sim->transport->settle(sim);
        /* Asking the clock costs more than an event: the caller is told now and then. */
        if (progress && sim->result.events - shown >= 256) {
            shown = sim->result.events;
            progress(context, sim->tasks.count - sim->result.blocked, sim->tasks.count);
        }
    }
    return MYR_OK;
}

/* Once: what was stopped and goes on, and what was loaded, has begun already. */
static int begin(struct myr_sim *sim, struct myr_err *err)
{
    if (sim->edge_start) {
        return MYR_OK; /* stopped before, or loaded */
    }
    MYR_ASSERT(sim->now == 0);
    MYR_ASSERT(sim->events.count == 0);
    MYR_TRY(sim_prepare(sim, err));
    sim_bounds(sim);
    MYR_TRY(sim->transport->begin(sim, err));
    start_all(sim);
    MYR_ASSERT(sim->result.blocked ==
               sim->tasks.count); /* nothing is over before the first moment */
    return MYR_OK;
}

/* Everything up to this moment has happened, the moment itself included. */
int myr_sim_run_until(struct myr_sim *sim, myr_ps at, bool *ret_over, struct myr_err *err)
{
    MYR_TRY(begin(sim, err));
    MYR_TRY(run_all(sim, at, NULL, NULL, err));
    *ret_over = sim->result.blocked == 0;
    return MYR_OK;
}

int myr_sim_run(struct myr_sim *sim, myr_sim_progress *progress, void *context,
                struct myr_sim_result *ret, struct myr_err *err)
{
    MYR_TRY(begin(sim, err));
    int rc = run_all(sim, SIM_TIME_MAX, progress, context, err);
    sim->result.end = sim->now;
    if (sim->options.series_ps) {
        sim->transport->sample(sim); /* what is left of the last interval */
    }
    *ret = sim->result;
    /* A state is input: what would be a bug of the engine elsewhere is a wrong file here. */
    if (rc >= 0 && sim->resumed && !(sim_conserved(sim) && sim_above_bounds(sim))) {
        return myr_err_set(err, MYR_ECORRUPT,
                           "the state that was loaded is wrong: the run ends before it can");
    }
    MYR_ASSERT(rc < 0 || sim->transport->finish(sim));
    MYR_ASSERT(rc < 0 || sim_above_bounds(sim));
    return rc;
}
