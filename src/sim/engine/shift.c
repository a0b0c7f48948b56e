#include "engine/rates.h"

/* What a change of a level reaches: by ties (ties.c), and wide transfers one by one. */

/*
 * A solve in a full fabric waits for little else than these: the memory is asked for ahead. Blocks
 * of up to eight hops begin at a multiple of eight. Inlined always: gcc drops calls of a function
 * that does nothing else.
 */
static inline __attribute__((always_inline)) void prefetch_way(const struct myr_sim *sim,
                                                               struct sim_entry entry)
{
    const struct sim_hop *block = &sim->hops.items[entry.hop & ~UINT32_C(7)];
    __builtin_prefetch(&sim->ways.items[entry.slot]);
    __builtin_prefetch(block);
    __builtin_prefetch(block + 4);
}

/* Those that have risen above what they had reserved: of a channel that has no more, exactly. */
static void take_more(struct myr_sim *sim, uint32_t holder, uint64_t level)
{
    MYR_SLOW_ASSERT(holder < sim->channel_count && level != SIM_RATE_NONE);
    for (size_t i = 0; i < sim->short_of.count; i++) {
        struct sim_entry entry = sim->short_of.items[i];
        uint32_t id = sim->hops.items[entry.hop].channel;
        struct sim_fill *fill = &sim->fills[id];
        MYR_SLOW_ASSERT(id != holder);
        MYR_SLOW_ASSERT(sim->ways.items[entry.slot].holder == holder);
        if (sim_reserves(fill)) {
            if (sim_reserve_more(sim, entry.hop, level)) {
                sim_bond_reserved(sim, holder, sim->hops.items[entry.hop].reserved);
                sim_look_at(sim, id); /* others may rise over it just now */
                continue;
            }
            sim_count_room(sim, id);
        }
        if (sim_too_fast(fill, level)) {
            myr_vec_push(&sim->held_back, entry.slot);
        }
    }
    sim->short_of.count = 0;
}

/* The room of one of the others. Whether those that have risen to the level are too fast there. */
static bool shift_room(struct myr_sim *sim, uint32_t id, __int128 less, uint64_t risen_to)
{
    MYR_SLOW_ASSERT(id < sim->channel_count);
    struct sim_fill *fill = &sim->fills[id];
    bool over = false;
    MYR_SLOW_ASSERT(!sim_reserves(fill)); /* those that reserve hear of it by find_short() */
    sim_touch(sim, id);
    fill->room -= less;
    if (risen_to) {
        fill->fastest = fill->fastest > risen_to ? fill->fastest : risen_to;
        over = sim_too_fast(fill, risen_to);
    }
    sim_look_at(sim, id);
    return over;
}

/* Whether a change of this channel's level goes by ties for this transfer that it holds. */
static bool is_tied(const struct sim_way *way)
{
    return !(way->holder & SIM_LOOSE) && !sim_wide(way);
}

/* By ties: all that the channel holds, but for wide ones. */
static void shift_ties(struct myr_sim *sim, uint32_t id, __int128 by, uint64_t risen_to)
{
    enum { AHEAD = 4 };
    const struct sim_bond *bond = &sim->bonds[id];
    if (bond->tie_count == 0) {
        return;
    }
    MYR_SLOW_ASSERT(bond->first_tie + bond->tie_count <= sim->ties.count);
    const struct sim_tie *ties = &sim->ties.items[bond->first_tie];
    for (uint32_t t = 0; t < bond->tie_count; t++) {
        if (t + AHEAD < bond->tie_count) {
            __builtin_prefetch(&sim->fills[ties[t + AHEAD].channel], 1);
        }
        MYR_SLOW_ASSERT(ties[t].channel != id && ties[t].weight > 0);
        if (shift_room(sim, ties[t].channel, by * ties[t].weight, risen_to)) {
            myr_vec_push(&sim->overfull, ties[t].channel);
        }
    }
}

/* A walk: the list holds only what this one shift has overfilled. */
static bool is_overfull(const struct myr_sim *sim, uint32_t id)
{
    for (size_t i = 0; i < sim->overfull.count; i++) {
        if (sim->overfull.items[i] == id) {
            return true;
        }
    }
    return false;
}

/* Those that go over a channel that is too full now, once each. */
static void note_overfull(struct myr_sim *sim, uint32_t id)
{
    const struct sim_channel *channel = &sim->channels[id];
    for (uint32_t e = 0; sim->overfull.count && e < channel->held; e++) {
        uint32_t slot = sim->entries.items[channel->first_entry + e].slot;
        struct sim_way way = sim->ways.items[slot];
        bool back = false;
        for (uint32_t i = 0; is_tied(&way) && !back && i < way.hop_count; i++) {
            back = is_overfull(sim, sim->hops.items[way.first_hop + i].channel);
        }
        if (back) {
            MYR_SLOW_ASSERT(sim->ways.items[slot].holder == id);
            myr_vec_push(&sim->held_back, slot);
        }
    }
    sim->overfull.count = 0;
}

/* Who of those that it holds needs more than is reserved somewhere; the least of the others. */
static void find_short(struct myr_sim *sim, uint32_t id, uint64_t level)
{
    enum { AHEAD = 8 };
    const struct sim_channel *channel = &sim->channels[id];
    const struct sim_entry *entries = &sim->entries.items[channel->first_entry];
    uint64_t least = SIM_RATE_NONE;
    for (uint32_t e = 0; e < channel->held; e++) {
        struct sim_way way = sim->ways.items[entries[e].slot];
        if (e + AHEAD < channel->held) {
            prefetch_way(sim, entries[e + AHEAD]);
        }
        if (!is_tied(&way)) {
            continue;
        }
        for (uint32_t i = way.first_hop; i < way.first_hop + way.hop_count; i++) {
            struct sim_hop hop = sim->hops.items[i];
            if (hop.reserved && level <= hop.reserved) {
                least = hop.reserved < least ? hop.reserved : least;
            } else if (hop.channel != id && sim_reserves(&sim->fills[hop.channel])) {
                MYR_SLOW_ASSERT(way.holder == id && i != way.held_hop);
                myr_vec_push(&sim->short_of, ((struct sim_entry){entries[e].slot, i}));
            }
        }
    }
    sim->bonds[id].least_reserved = least;
}

/* Wide ones, one by one. */
static void shift_wide(struct myr_sim *sim, uint32_t id, __int128 by, uint64_t level)
{
    MYR_ASSERT(sim->bonds[id].wide <= sim->channels[id].held);
    const struct sim_channel *channel = &sim->channels[id];
    for (uint32_t e = 0; e < channel->held; e++) {
        uint32_t slot = sim->entries.items[channel->first_entry + e].slot;
        struct sim_way way = sim->ways.items[slot];
        bool back = false;
        if ((way.holder & SIM_LOOSE) || !sim_wide(&way)) {
            continue;
        }
        for (uint32_t i = way.first_hop; i < way.first_hop + way.hop_count; i++) {
            struct sim_hop hop = sim->hops.items[i];
            if ((hop.reserved && level <= hop.reserved) || i == way.held_hop) {
                continue;
            }
            if (!sim_reserves(&sim->fills[hop.channel])) {
                back |= shift_room(sim, hop.channel, by * hop.weight, by > 0 ? level : 0);
            } else if (level > hop.reserved) { /* when all are at the new level */
                myr_vec_push(&sim->short_of, ((struct sim_entry){slot, i}));
            }
        }
        if (back) {
            myr_vec_push(&sim->held_back, slot);
        }
    }
}

/*
 * In this order: the rooms are at the new level before anybody asks for more of what is reserved.
 */
void sim_shift(struct myr_sim *sim, uint32_t id, uint64_t old, uint64_t level)
{
    __int128 by = (__int128)level - (__int128)old;
    MYR_SLOW_ASSERT(by != 0);
    MYR_SLOW_ASSERT(old != SIM_RATE_NONE);
    MYR_SLOW_ASSERT(level != SIM_RATE_NONE);
    MYR_SLOW_ASSERT(sim->overfull.count == 0);
    MYR_SLOW_ASSERT(sim->short_of.count == 0);
    if (sim->bonds[id].wide) {
        shift_wide(sim, id, by, level);
    }
    if (level > sim->bonds[id].least_reserved) {
        find_short(sim, id, level);
    }
    shift_ties(sim, id, by, by > 0 ? level : 0);
    note_overfull(sim, id);
    take_more(sim, id, level);
    MYR_SLOW_ASSERT(sim->overfull.count == 0);
    MYR_SLOW_ASSERT(sim->short_of.count == 0);
}
