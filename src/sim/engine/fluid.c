#include <stdlib.h>

#include "engine/internal.h"

/*
 * The fluid behind the seam (transport.h): transfers have rates. A latency is waited for first, in
 * the clock of the run; then all bytes move at the rate that is fair, solved whenever somebody
 * comes or goes.
 */

/* The pattern's latency passes, then its bytes may move. */
static void start(struct myr_sim *sim, uint32_t id)
{
    const struct sim_task *task = &sim->tasks.items[id];
    __int128 wait = (__int128)sim->patterns.items[task->pattern].latency * task->latency_rounds;
    sim_wake_after(sim, id, wait);
}

/* Counted before it is detached: afterwards nothing tells which channels it went over. */
static void end_transfer(struct myr_sim *sim, uint32_t slot)
{
    MYR_ASSERT(slot < sim->slots.count);
    uint32_t id = sim->slots.items[slot].task;
    struct sim_task *task = &sim->tasks.items[id];
    MYR_ASSERT(task->state == SIM_MOVING);
    MYR_ASSERT(task->slot == slot);
    sim_touch_holder(sim, slot);
    sim->slots.items[slot].target = 0; /* but for a part of a picosecond it has all arrived */
    sim_count_bytes(sim, slot);
    sim_detach(sim, slot);
    MYR_ASSERT(task->slot == MYR_NONE);
    MYR_ASSERT(task->bottleneck < sim->channel_count);
    sim->result.transfers++;
    sim->result.flows += sim->patterns.items[task->pattern].message_count;
    sim_end_task(sim, id);
}

/* The latency is over. What has no bytes, or stays on one GPU, is over with it. */
static void wake(struct myr_sim *sim, uint32_t id)
{
    struct sim_task *task = &sim->tasks.items[id];
    if (task->moves_after) {
        task->state = SIM_READY;
        return;
    }
    if (task->bits == 0 || sim->patterns.items[task->pattern].use_count == 0) {
        sim_end_task(sim, id);
        return;
    }
    task->state = SIM_MOVING;
    sim_attach(sim, id, (sim_moved)task->bits * SIM_MOVED_PER_BIT);
    MYR_ASSERT(sim->slots.items[task->slot].task == id); /* the two name each other */
}

/* All those of the channel that have arrived by now. */
static void finish_channel(struct myr_sim *sim, uint32_t id)
{
    MYR_ASSERT(sim->finish_place[id] == 0);
    MYR_ASSERT(sim->finish_at[id] <= sim->now);
    sim_finish_drop(sim, id);
    sim_touch(sim, id);
    sim_change(sim, id); /* it goes back into the heap */
    while (sim->channels[id].held && sim_arrived(sim, sim_first_held(sim, id))) {
        end_transfer(sim, sim_first_held(sim, id));
        sim->result.events++;
    }
    MYR_ASSERT(sim->finish_place[id] == MYR_NONE); /* until the next solve */
}

/* All are looked at: with pauses no channel's clock can tell who arrives first. */
static void finish_paused(struct myr_sim *sim)
{
    for (uint32_t slot = 0; slot < sim->slots.count; slot++) {
        const struct sim_slot *own = &sim->slots.items[slot];
        if (own->task != MYR_NONE && own->target <= SIM_PS_PART_OF(own->pace)) {
            end_transfer(sim, slot);
            sim->result.events++;
        }
    }
}

/* Nobody moves before it is asked how far: 'limit' is no concern of rates. */
static myr_ps next(struct myr_sim *sim, myr_ps limit)
{
    MYR_ASSERT(limit >= sim->now);
    return sim_paused(sim) ? sim_pause_next(sim) : sim_finish_next(sim);
}

/* What was counted since the last moment is the past's: paces of victims may change now. */
static void moved(struct myr_sim *sim)
{
    if (sim_paused(sim)) {
        sim_pause_advance(sim);
    }
}

static void ends(struct myr_sim *sim)
{
    if (sim_paused(sim)) {
        finish_paused(sim);
    }
    while (sim_finish_next(sim) <= sim->now) {
        finish_channel(sim, sim->finish.items[0]);
    }
}

/* What was changed before the run, slow nodes, is settled at time 0. */
static int begin(struct myr_sim *sim, struct myr_err *err)
{
    (void)err;
    sim_solve(sim);
    return MYR_OK;
}

static void settle(struct myr_sim *sim)
{
    if (sim->touched.count) {
        sim_solve(sim);
    }
    MYR_ASSERT(sim->touched.count == 0);
    MYR_ASSERT(sim->changed.count == 0);
}

/* Tells a run that is too long from one in which nothing can progress. */
static bool anybody_moves(const struct myr_sim *sim)
{
    for (uint32_t slot = 0; slot < sim->slots.count; slot++) {
        if (sim->slots.items[slot].task != MYR_NONE && sim_rate(sim, slot) > 0) {
            return true;
        }
    }
    return false;
}

/* What every channel has carried since the last interval; the one at hand ends now. */
static void take_sample(struct myr_sim *sim)
{
    if (!sim->sampled) {
        sim->sampled = myr_xcalloc(sim->channel_count, sizeof(*sim->sampled));
    }
    for (uint32_t slot = 0; slot < sim->slots.count; slot++) {
        if (sim->slots.items[slot].task != MYR_NONE) {
            sim_count_bytes(sim, slot);
        }
    }
    /* Only channels that carried something have a row. */
    for (uint32_t c = 0; c < sim->channel_count; c++) {
        MYR_SLOW_ASSERT(sim->sampled[c] <= sim->channels[c].bytes);
        uint64_t bytes = sim->channels[c].bytes - sim->sampled[c];
        if (bytes) {
            struct sim_sample sample = {sim->ticks, c, bytes};
            myr_vec_push(&sim->samples, sample);
            sim->sampled[c] = sim->channels[c].bytes;
        }
    }
    sim->ticks++;
}

/* Tells a run that is too long from one in which nothing can progress. */
static int stuck(struct myr_sim *sim, struct myr_err *err)
{
    return anybody_moves(sim) ? sim_too_late(sim, err) : sim_stalled(sim, err);
}

static bool finish(struct myr_sim *sim)
{
    MYR_SLOW_ASSERT(sim_conserved(sim));
    return sim_at_rest(sim);
}

/* All that it has is the engine's. */
static void done(struct myr_sim *sim)
{
    MYR_ASSERT(!sim->packets);
}

const struct sim_transport sim_fluid = {
    .begin = begin,
    .start = start,
    .wake = wake,
    .next = next,
    .moved = moved,
    .ends = ends,
    .settle = settle,
    .sample = take_sample,
    .stuck = stuck,
    .fault = sim_fluid_fault,
    .reroute = sim_fluid_reroute,
    .finish = finish,
    .done = done,
};
