#include "engine/internal.h"

/*
 * Head-of-line blocking by pause frames (PFC), as a correction of fair rates.
 *
 * On a lossless link a full egress queue of a switch pauses the links that feed it, these fill the
 * queues before them, and so on back to the senders' NICs. A pause stops everything on such a link,
 * also what goes elsewhere, and who is stopped holds up what is behind it in turn. How long depends
 * on queues that a fluid does not have; the two ends are known. With ideal congestion control the
 * slow transfers are slow at their source, nobody is paused, and the rates are the fair ones.
 * Without any, what shares a link with a transfer that is held up behind it goes no faster than
 * that one. The option says where between these two ends the fabric is.
 *
 * Victims move slower than their fair rate, and what they leave is not given to others: that is
 * what a pause does. So fair rates stay the basis, and only the pace is changed. Paces are those of
 * transfers, not of channels: each has its own progress here, and all are looked at every time.
 */

/* Before anything changes at this moment: all have moved at their paces until now. */
void sim_pause_advance(struct myr_sim *sim)
{
    MYR_ASSERT(sim_paused(sim));
    for (uint32_t i = 0; i < sim->slots.count; i++) {
        struct sim_slot *own = &sim->slots.items[i];
        if (own->task == MYR_NONE) {
            continue;
        }
        MYR_ASSERT(own->updated <= sim->now);
        sim_moved moved = (sim_moved)own->pace * (uint64_t)(sim->now - own->updated);
        own->target -= moved < own->target ? moved : own->target;
        own->updated = sim->now;
    }
}

/* What stands still (pace 0) ends only after something else has changed. */
myr_ps sim_pause_next(const struct myr_sim *sim)
{
    MYR_ASSERT(sim_paused(sim));
    myr_ps next = SIM_TIME_MAX;
    for (uint32_t i = 0; i < sim->slots.count; i++) {
        const struct sim_slot *own = &sim->slots.items[i];
        if (own->task == MYR_NONE || own->pace == 0) {
            continue;
        }
        myr_ps wait = sim_time_to_move(own->target, own->pace);
        if (wait < next - sim->now) {
            next = sim->now + wait;
        }
    }
    MYR_ASSERT(next >= sim->now);
    return next;
}

/* A shared egress: its queue is full, whatever comes for it has to wait. */
static bool fills_up(const struct myr_sim *sim, uint32_t channel)
{
    MYR_SLOW_ASSERT(channel < sim->channel_count);
    return channel < sim->link_channels && sim->channels[channel].wanted > 1000;
}

/* The device that the channel leads into. */
static uint32_t device_behind(const struct myr_sim *sim, uint32_t channel)
{
    MYR_SLOW_ASSERT(channel < sim->link_channels);
    return myr_channel_to_device(sim->graph->design, channel);
}

/* Lowers what the channel lets through; whether that is news. */
static bool back_up(struct myr_sim *sim, uint32_t channel, uint64_t pace)
{
    MYR_ASSERT(sim->backed_up);
    if (channel >= sim->link_channels || sim->backed_up[channel] <= pace) {
        return false;
    }
    sim->backed_up[channel] = pace;
    return true;
}

/*
 * The channels on which this transfer stands in the way of others. With an ordered path: all before
 * the last one on which it is slowed down. Of many flows in lockstep: those that lead into the
 * switch at whose egress it is held.
 */
static bool spread(struct myr_sim *sim, uint32_t slot)
{
    const struct sim_slot *own = &sim->slots.items[slot];
    const struct sim_way *way = &sim->ways.items[slot];
    uint32_t holder = way->holder;
    MYR_ASSERT(holder < sim->channel_count); /* after a solve everybody is held */
    MYR_ASSERT(own->task < sim->tasks.count);
    const struct sim_task *task = &sim->tasks.items[own->task];
    bool ordered = sim->patterns.items[task->pattern].message_count == 1, news = false;
    uint32_t last = fills_up(sim, holder) ? way->held_hop - way->first_hop : 0;
    for (uint32_t i = 0; i < way->hop_count; i++) {
        uint32_t channel = sim->hops.items[way->first_hop + i].channel;
        bool here =
            channel < sim->link_channels && sim->backed_up[channel] < sim->fills[holder].level;
        last = here && i > last ? i : last;
    }
    for (uint32_t i = 0; i < way->hop_count; i++) {
        uint32_t channel = sim->hops.items[way->first_hop + i].channel;
        bool feeds = channel < sim->link_channels && holder < sim->link_channels &&
                     channel != holder && fills_up(sim, holder) &&
                     device_behind(sim, myr_channel_back(holder)) == device_behind(sim, channel);
        if (ordered ? i < last : feeds) {
            news = back_up(sim, channel, own->pace) || news;
        }
    }
    MYR_ASSERT(last < way->hop_count);
    return news;
}

/* The fair rate less the given part of its lead over the slowest that is backed up on its way. */
static void set_pace(struct myr_sim *sim, uint32_t slot)
{
    struct sim_slot *own = &sim->slots.items[slot];
    const struct sim_way *way = &sim->ways.items[slot];
    uint64_t rate = sim_rate(sim, slot), slowest = rate;
    for (uint32_t i = way->first_hop; i < way->first_hop + way->hop_count; i++) {
        uint32_t channel = sim->hops.items[i].channel;
        uint64_t most = channel < sim->link_channels ? sim->backed_up[channel] : SIM_RATE_NONE;
        slowest = most < slowest ? most : slowest;
    }
    MYR_ASSERT(slowest <= rate);
    MYR_ASSERT(sim->options.pause_permille <= 1000);
    unsigned __int128 lost =
        (unsigned __int128)(rate - slowest) * sim->options.pause_permille / 1000;
    MYR_ASSERT(own->pace >= rate - (uint64_t)lost); /* from round to round paces only fall */
    own->pace = rate - (uint64_t)lost;
    MYR_ASSERT(own->pace >= slowest);
}

/*
 * Paces begin at the fair rates and fall from round to round, until nobody holds up anybody more.
 */
void sim_pause(struct myr_sim *sim)
{
    MYR_ASSERT(sim_paused(sim));
    MYR_ASSERT(sim->loose_slots == 0);
    if (!sim->backed_up) {
        sim->backed_up = myr_xcalloc(sim->link_channels, sizeof(uint64_t));
    }
    /* SIM_RATE_NONE everywhere: nothing is backed up yet. */
    memset(sim->backed_up, 0xFF, sim->link_channels * sizeof(uint64_t));
    for (uint32_t slot = 0; slot < sim->slots.count; slot++) {
        if (sim->slots.items[slot].task != MYR_NONE) {
            sim->slots.items[slot].pace = sim_rate(sim, slot);
        }
    }
    /* Paces only fall, and each is one of the rates or a mean of two: this ends; 64 is plenty. */
    bool news = true;
    for (uint32_t round = 0; news && round < 64; round++) {
        news = false;
        for (uint32_t slot = 0; slot < sim->slots.count; slot++) {
            if (sim->slots.items[slot].task != MYR_NONE) {
                news = spread(sim, slot) || news;
            }
        }
        for (uint32_t slot = 0; news && slot < sim->slots.count; slot++) {
            if (sim->slots.items[slot].task != MYR_NONE) {
                set_pace(sim, slot);
            }
        }
    }
}
