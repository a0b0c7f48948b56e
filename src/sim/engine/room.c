#include "engine/internal.h"

/*
 * The room of channels that hold nobody.
 *
 * In a full fabric four of five channels of a transfer are not full: they decide no rate, and yet
 * each change of a rate would have to be taken off their room. So transfers reserve more of such a
 * channel than they move over it; as long as a rate stays below what is reserved nobody looks at
 * the channel, and its room is what nobody has reserved: a lower bound. Once that does not suffice,
 * or the channel is about to hold somebody, its room is counted exactly, from the rates.
 */

enum { SPARE_BITS = 8 }; /* with less than this part of its capacity free a room stays exact */
enum { MORE_BITS = 5 };  /* who needs more reserves this part above it */

/*
 * From reserving to exact: ties are made, for now a change of a holder's level reaches this
 * channel.
 */
void sim_count_room(struct myr_sim *sim, uint32_t id)
{
    const struct sim_channel *channel = &sim->channels[id];
    struct sim_fill *fill = &sim->fills[id];
    MYR_ASSERT(sim_reserves(fill));
    MYR_ASSERT(channel->held == 0);
    MYR_SLOW_ASSERT(id < sim->channel_count && fill->held_weight == 0);
    sim_touch(sim, id);
    fill->room = channel->counted_capacity;
    fill->fastest = 0;
    for (uint32_t e = 0; e < channel->entry_count; e++) {
        struct sim_entry entry = sim->entries.items[channel->first_entry + e];
        struct sim_hop *hop = &sim->hops.items[entry.hop];
        const struct sim_way *way = &sim->ways.items[entry.slot];
        hop->reserved = 0;
        if (way->holder & SIM_LOOSE) { /* MYR_NONE has the bit of it */
            continue;
        }
        if (!sim_wide(way)) {
            sim_tie(sim, way->holder, *hop);
        }
        uint64_t rate = sim->fills[way->holder].level;
        fill->room -= (__int128)((sim_moved)rate * hop->weight);
        fill->fastest = rate > fill->fastest ? rate : fill->fastest;
    }
    MYR_SLOW_ASSERT(!sim_reserves(fill)); /* no rate is SIM_RATE_NONE */
}

/*
 * From exact to reserving, where enough is free: a channel that is nearly full would be back at
 * once.
 */
void sim_reserve(struct myr_sim *sim, uint32_t id)
{
    const struct sim_channel *channel = &sim->channels[id];
    struct sim_fill *fill = &sim->fills[id];
    MYR_ASSERT(!sim_reserves(fill));
    MYR_ASSERT(channel->held == 0);
    MYR_ASSERT(fill->loose_weight == 0);
    MYR_SLOW_ASSERT(fill->held_weight == 0);
    __int128 used = channel->counted_capacity - fill->room;
    if (fill->room < channel->counted_capacity >> SPARE_BITS) {
        return;
    }
    /* Half of what is free goes to those who are there, by their rates; in 65,536ths of these. */
    __int128 part = used > 0 ? (fill->room << 15) / used : 0, most = 1 << 13;
    uint64_t factor = (uint64_t)(part < most ? part : most);
    for (uint32_t e = 0; e < channel->entry_count; e++) {
        struct sim_entry entry = sim->entries.items[channel->first_entry + e];
        struct sim_hop *hop = &sim->hops.items[entry.hop];
        const struct sim_way *way = &sim->ways.items[entry.slot];
        MYR_SLOW_ASSERT(!(way->holder & SIM_LOOSE));
        MYR_SLOW_ASSERT(hop->reserved == 0);
        uint64_t rate = sim->fills[way->holder].level;
        uint64_t more = (rate >> 16) * factor;
        hop->reserved = rate + more;
        if (!sim_wide(way)) {
            sim_untie(sim, way->holder, *hop);
            sim_bond_reserved(sim, way->holder, hop->reserved);
        }
        fill->room -= (__int128)((sim_moved)more * hop->weight);
    }
    fill->fastest = SIM_RATE_NONE;
    MYR_ASSERT(fill->room >= 0);
}

/*
 * Somewhat more than is needed, so that the next small rise finds it reserved; else just what is
 * needed. False: not even that is free, and the room has to be counted.
 */
bool sim_reserve_more(struct myr_sim *sim, uint32_t hop_id, uint64_t rate)
{
    struct sim_hop *hop = &sim->hops.items[hop_id];
    struct sim_fill *fill = &sim->fills[hop->channel];
    MYR_ASSERT(sim_reserves(fill));
    MYR_ASSERT(rate >= hop->reserved);
    uint64_t wanted = rate + (rate >> MORE_BITS);
    if (fill->room < (__int128)((sim_moved)(wanted - hop->reserved) * hop->weight)) {
        wanted = rate;
    }
    __int128 more = (__int128)((sim_moved)(wanted - hop->reserved) * hop->weight);
    if (fill->room < more) {
        return false;
    }
    fill->room -= more;
    hop->reserved = wanted;
    MYR_ASSERT(fill->room >= 0);
    MYR_ASSERT(hop->reserved >= rate);
    return true;
}
