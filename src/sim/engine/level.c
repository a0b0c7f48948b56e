#include "engine/internal.h"

/* What is true of a channel and of a transfer at this moment; what a solve has to look at. */

/* Without a graph there is no way to say which link feeds which. */
bool sim_paused(const struct myr_sim *sim)
{
    return sim->options.pause_permille && sim->graph;
}

/* The reading is exact: whole units of 1e-15 bit. */
void sim_set_clock(struct myr_sim *sim, uint32_t id)
{
    MYR_SLOW_ASSERT(id < sim->channel_count);
    struct sim_channel *channel = &sim->channels[id];
    uint64_t level = sim->fills[id].level;
    MYR_SLOW_ASSERT(channel->updated <= sim->now);
    /* Nobody is held: nothing moves by this clock, and its reading may stay. */
    if (level != SIM_RATE_NONE) {
        channel->clock += (sim_moved)level * (uint64_t)(sim->now - channel->updated);
    }
    channel->updated = sim->now;
}

/* The room follows the capacity: both are kept as differences. */
void sim_recapacity(struct myr_sim *sim, uint32_t id)
{
    struct sim_fill *fill = &sim->fills[id];
    __int128 capacity = (__int128)sim_capacity(sim, id) * SIM_RATE_PER_BPS * 1000;
    MYR_ASSERT(fill->mark == sim->solve_mark);
    MYR_SLOW_ASSERT(capacity >= 0);
    fill->room += capacity - sim->channels[id].counted_capacity;
    sim->channels[id].counted_capacity = capacity;
}

/*
 * One that is loose keeps its old rate until it is held again; before its first solve it has none.
 */
uint64_t sim_rate(const struct myr_sim *sim, uint32_t slot)
{
    uint32_t holder = sim->ways.items[slot].holder;
    MYR_SLOW_ASSERT(slot < sim->ways.count);
    MYR_SLOW_ASSERT(holder == MYR_NONE || (holder & ~SIM_LOOSE) < sim->channel_count);
    MYR_SLOW_ASSERT(sim->slots.items[slot].task != MYR_NONE);
    return holder == MYR_NONE ? 0 : sim->fills[holder & ~SIM_LOOSE].level;
}

sim_moved sim_left(const struct myr_sim *sim, uint32_t slot)
{
    MYR_SLOW_ASSERT(slot < sim->slots.count);
    const struct sim_slot *own = &sim->slots.items[slot];
    uint32_t holder = sim->ways.items[slot].holder;
    if (holder == MYR_NONE || sim_paused(sim)) {
        return own->target;
    }
    const struct sim_channel *channel = &sim->channels[holder & ~SIM_LOOSE];
    sim_moved clock = channel->clock;
    if (channel->updated != sim->now) { /* since then the level has been what it is */
        uint64_t level = sim->fills[holder & ~SIM_LOOSE].level;
        MYR_SLOW_ASSERT(channel->updated < sim->now);
        MYR_SLOW_ASSERT(level != SIM_RATE_NONE);
        clock += (sim_moved)level * (uint64_t)(sim->now - channel->updated);
    }
    /* A transfer that has arrived may have moved a little too far, by the rounding of its end. */
    return own->target > clock ? own->target - clock : 0;
}
