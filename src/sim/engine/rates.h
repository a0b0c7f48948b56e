/* Between the parts of a solve: its order (rates.c, look.c) and what a change reaches (shift.c). */
#pragma once

#include "engine/internal.h"

enum { RISE_BITS = 5 }; /* a rise by less than this part of the level takes a short cut */

/* Its level if all who are loose over it stayed there; SIM_RATE_NONE when nobody would. */
static inline uint64_t sim_level_of(const struct sim_fill *fill)
{
    uint64_t weight = fill->held_weight + fill->loose_weight;
    if (weight == 0) {
        return SIM_RATE_NONE;
    }
    if (fill->room <= 0) {
        return 0;
    }
    /* Dividing 128 bits is a call; most rooms fit into 64. */
    sim_moved room = (sim_moved)fill->room;
    if (room >> 64) {
        sim_moved level = room / weight;
        return level < SIM_LEVEL_MAX ? (uint64_t)level : SIM_LEVEL_MAX;
    }
    return (uint64_t)room / weight;
}

/* Up to here it rises with all that it holds, as if nothing else would hold them then. */
static inline uint64_t sim_short_rise(const struct myr_sim *sim, uint64_t level)
{
    return sim->strict ? level : level + (level >> RISE_BITS);
}

/* When it is next looked at, if that is its level. */
static inline uint64_t sim_key_at(const struct myr_sim *sim, const struct sim_fill *fill,
                                  uint64_t level)
{
    bool rises = fill->held_weight && level > sim_short_rise(sim, fill->level);
    return rises ? fill->level : level;
}

/* Whether those that it holds have all its room, as nearly as anybody can tell. */
static inline bool sim_is_settled(const struct sim_fill *fill)
{
    if (fill->loose_weight || fill->held_weight == 0) {
        return false;
    }
    __int128 excess = fill->room - (__int128)((sim_moved)fill->level * fill->held_weight);
    __int128 most = (__int128)((sim_moved)sim_tolerance(fill->level) * fill->held_weight);
    return excess <= most && excess >= -most;
}

/* Whether one that moves at this rate is faster than the channel, as it looks now, allows. */
static inline bool sim_too_fast(const struct sim_fill *fill, uint64_t rate)
{
    if (fill->held_weight && fill->place == MYR_NONE) {
        /* Full, and when it is above, its own level can only change later. */
        return fill->level + sim_tolerance(fill->level) < rate;
    }
    uint64_t weight = fill->held_weight + fill->loose_weight;
    return fill->room < (__int128)((sim_moved)rate * weight);
}

/* look.c: the heap of channels to look at. */
static inline struct sim_fill_place sim_fills_item(const struct myr_sim *sim, uint32_t id)
{
    return (struct sim_fill_place){sim->fills[id].key, id};
}

static inline void sim_fills_put(struct myr_sim *sim, uint32_t place, struct sim_fill_place item)
{
    sim->fill_heap.items[place] = item;
    sim->fills[item.channel].place = place;
}

/* The key of the one at this place has grown; the lowest leaves; what was put in anyhow. */
void sim_fills_down(struct myr_sim *sim, uint32_t place);
void sim_fills_pop(struct myr_sim *sim);
void sim_fills_order(struct myr_sim *sim);
/*
 * The channel 'id' into the heap, or further up in it where its key has fallen. What has grown is
 * seen later.
 */
void sim_look_at(struct myr_sim *sim, uint32_t id);

/*
 * shift.c: from 'old' to 'level', for those that channel 'id' holds and that are not loose: others
 * have less room. Who would be faster than another of its channels allows is in held_back.
 */
void sim_shift(struct myr_sim *sim, uint32_t id, uint64_t old, uint64_t level);
