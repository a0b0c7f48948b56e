#include "engine/internal.h"

/*
 * Max-min rates, kept up to date from the lowest upwards.
 *
 * Rates are max-min fair exactly when every transfer is held by a full channel on which nobody is
 * faster. The rate of those that a channel holds is its level; it depends on lower levels only:
 * level = (capacity - what those take that are held elsewhere) / weight of those held here. So a
 * change is followed upwards, in the order of levels, and no channel is settled twice. Channels are
 * looked at by a key that is no more than their new level:
 *
 * - one whose level would rise is looked at when the old level is reached. Those that it holds
 *   become loose: they rise with the water, on all their channels, until one of these is full.
 * - one whose level falls first takes over those that are faster than the new level and held
 *   elsewhere; then it is settled, and all that were held or loose on it get its level.
 *
 * A small rise takes a short cut: the channel rises with all that it holds, and who is too fast for
 * another of its channels then is loosened afterwards; such a channel may be settled again.
 *
 * A channel that nothing has changed is never looked at, one that holds nobody only when what was
 * reserved of it does not suffice (room.c), and transfers whose holder's level changes are not
 * written to: their progress is told by the holder's clock.
 */

enum { MARGIN_BITS = 8 };
enum { RISE_BITS = 5 }; /* a rise by less than this part of the level takes a short cut */

/* Its level if all who are loose over it stayed there; SIM_RATE_NONE when nobody would. */
static uint64_t level_of(const struct sim_fill *fill)
{
    uint64_t weight = fill->held_weight + fill->loose_weight;
    if (weight == 0) {
        return SIM_RATE_NONE;
    }
    if (fill->room <= 0) {
        return 0;
    }
    sim_moved room = (sim_moved)fill->room;
    return room >> 64 ? (uint64_t)(room / weight) : (uint64_t)room / weight;
}

/* Up to here it rises with all that it holds, as if nothing else would hold them then. */
static uint64_t short_rise(const struct myr_sim *sim, uint64_t level)
{
    return sim->strict ? level : level + (level >> RISE_BITS);
}

/* When it is next looked at, if that is its level. */
static uint64_t key_at(const struct myr_sim *sim, const struct sim_fill *fill, uint64_t level)
{
    bool rises = fill->held_weight && level > short_rise(sim, fill->level);
    return rises ? fill->level : level;
}

/* The heap of channels to look at: the lowest key first, of equal ones the lowest number. */

static bool heap_before(struct sim_fill_place a, struct sim_fill_place b)
{
    return a.key < b.key || (a.key == b.key && a.channel < b.channel);
}

static void heap_put(struct myr_sim *sim, uint32_t place, struct sim_fill_place item)
{
    sim->fill_heap.items[place] = item;
    sim->fills[item.channel].place = place;
}

static struct sim_fill_place heap_item(const struct myr_sim *sim, uint32_t id)
{
    return (struct sim_fill_place){sim->fills[id].key, id};
}

/* Its key has changed: it is taken from the channel. */
static void heap_up(struct myr_sim *sim, uint32_t place)
{
    struct sim_fill_place item = heap_item(sim, sim->fill_heap.items[place].channel);
    while (place && heap_before(item, sim->fill_heap.items[(place - 1) / 4])) {
        heap_put(sim, place, sim->fill_heap.items[(place - 1) / 4]);
        place = (place - 1) / 4;
    }
    heap_put(sim, place, item);
}

static void heap_down(struct myr_sim *sim, uint32_t place)
{
    struct sim_fill_place item = heap_item(sim, sim->fill_heap.items[place].channel);
    uint32_t count = (uint32_t)sim->fill_heap.count;
    const struct sim_fill_place *items = sim->fill_heap.items;
    for (uint32_t first; (first = place * 4 + 1) < count;) {
        uint32_t best = first, end = first + 4 < count ? first + 4 : count;
        for (uint32_t c = first + 1; c < end; c++) {
            best = heap_before(items[c], items[best]) ? c : best;
        }
        if (!heap_before(items[best], item)) {
            break;
        }
        heap_put(sim, place, items[best]);
        place = best;
    }
    heap_put(sim, place, item);
}

static void heap_order(struct myr_sim *sim)
{
    for (uint32_t i = (uint32_t)sim->fill_heap.count / 4 + 1; i-- > 0;) {
        if (i < sim->fill_heap.count) {
            heap_down(sim, i);
        }
    }
}

static void heap_pop(struct myr_sim *sim)
{
    struct sim_fill_place last = sim->fill_heap.items[--sim->fill_heap.count];
    sim->fills[sim->fill_heap.items[0].channel].place = MYR_NONE;
    if (sim->fill_heap.count) {
        heap_put(sim, 0, last);
        heap_down(sim, 0);
    }
}

/* Whether those that it holds have all its room, as nearly as anybody can tell. */
static bool is_settled(const struct sim_fill *fill)
{
    if (fill->loose_weight || fill->held_weight == 0) {
        return false;
    }
    __int128 excess = fill->room - (__int128)((sim_moved)fill->level * fill->held_weight);
    __int128 most = (__int128)((sim_moved)sim_tolerance(fill->level) * fill->held_weight);
    return excess <= most && excess >= -most;
}

/* Into the heap, or further up in it where its key has fallen. What has grown is seen later. */
static void look_at(struct myr_sim *sim, uint32_t id)
{
    struct sim_fill *fill = &sim->fills[id];
    if (fill->place == MYR_NONE) {
        if (fill->held_weight + fill->loose_weight == 0) {
            return;
        }
        if (is_settled(fill)) {
            return;
        }
        fill->key = key_at(sim, fill, level_of(fill));
        fill->place = (uint32_t)sim->fill_heap.count;
        myr_vec_push(&sim->fill_heap, heap_item(sim, id));
        heap_up(sim, fill->place);
        return;
    }
    if (fill->held_weight && fill->key > short_rise(sim, fill->level)) {
        fill->key = fill->level;
        heap_up(sim, fill->place);
    }
    /* Without dividing: whether the level is below the key. */
    uint64_t weight = fill->held_weight + fill->loose_weight;
    if (fill->room < (__int128)((sim_moved)fill->key * weight)) {
        /* A little lower than it is: what takes away more in a moment changes nothing then. */
        uint64_t level = level_of(fill);
        fill->key = level - (level >> MARGIN_BITS);
        heap_up(sim, fill->place);
    }
}

/* Whether one that moves at this rate is faster than the channel, as it looks now, allows. */
static bool too_fast(const struct sim_fill *fill, uint64_t rate)
{
    if (fill->held_weight && fill->place == MYR_NONE) {
        /* Full, and when it is above, its own level can only change later. */
        return fill->level + sim_tolerance(fill->level) < rate;
    }
    uint64_t weight = fill->held_weight + fill->loose_weight;
    return fill->room < (__int128)((sim_moved)rate * weight);
}

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
    for (size_t i = 0; i < sim->short_of.count; i++) {
        struct sim_entry entry = sim->short_of.items[i];
        uint32_t id = sim->hops.items[entry.hop].channel;
        struct sim_fill *fill = &sim->fills[id];
        if (sim_reserves(fill)) {
            if (sim_reserve_more(sim, entry.hop, level)) {
                sim_bond_reserved(sim, holder, sim->hops.items[entry.hop].reserved);
                look_at(sim, id); /* others may rise over it just now */
                continue;
            }
            sim_count_room(sim, id);
        }
        if (too_fast(fill, level)) {
            myr_vec_push(&sim->held_back, entry.slot);
        }
    }
    sim->short_of.count = 0;
}

/* The room of one of the others. Whether those that have risen to the level are too fast there. */
static bool shift_room(struct myr_sim *sim, uint32_t id, __int128 less, uint64_t risen_to)
{
    struct sim_fill *fill = &sim->fills[id];
    bool over = false;
    sim_touch(sim, id);
    fill->room -= less;
    if (risen_to) {
        fill->fastest = fill->fastest > risen_to ? fill->fastest : risen_to;
        over = too_fast(fill, risen_to);
    }
    look_at(sim, id);
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
    const struct sim_tie *ties = &sim->ties.items[bond->first_tie];
    for (uint32_t t = 0; t < bond->tie_count; t++) {
        if (t + AHEAD < bond->tie_count) {
            __builtin_prefetch(&sim->fills[ties[t + AHEAD].channel], 1);
        }
        if (shift_room(sim, ties[t].channel, by * ties[t].weight, risen_to)) {
            myr_vec_push(&sim->overfull, ties[t].channel);
        }
    }
}

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
                myr_vec_push(&sim->short_of, ((struct sim_entry){entries[e].slot, i}));
            }
        }
    }
    sim->bonds[id].least_reserved = least;
}

/* Wide ones, one by one. */
static void shift_wide(struct myr_sim *sim, uint32_t id, __int128 by, uint64_t level)
{
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
 * From 'old' to 'level', for those that it holds and that are not loose: others have less room.
 * Who would be faster than another of its channels allows is noted.
 */
static void shift(struct myr_sim *sim, uint32_t id, uint64_t old, uint64_t level)
{
    __int128 by = (__int128)level - (__int128)old;
    if (sim->bonds[id].wide) {
        shift_wide(sim, id, by, level);
    }
    if (level > sim->bonds[id].least_reserved) {
        find_short(sim, id, level);
    }
    shift_ties(sim, id, by, by > 0 ? level : 0);
    note_overfull(sim, id);
    take_more(sim, id, level);
}

/* It rises on all its channels: what it took of those that do not hold it is free again. */
static void loosen(struct myr_sim *sim, uint32_t slot)
{
    struct sim_way *way = &sim->ways.items[slot];
    uint32_t holder = way->holder;
    MYR_ASSERT(!(holder & SIM_LOOSE));
    uint64_t rate = sim->fills[holder].level;
    way->holder |= SIM_LOOSE;
    sim->loose_slots++;
    sim->bonds[holder].wide -= sim_wide(way);
    for (uint32_t i = way->first_hop; i < way->first_hop + way->hop_count; i++) {
        struct sim_hop hop = sim->hops.items[i];
        struct sim_fill *fill = &sim->fills[hop.channel];
        sim_touch(sim, hop.channel);
        fill->loose_weight += hop.weight;
        if (hop.channel == holder) {
            fill->held_weight -= hop.weight;
        } else {
            uint64_t taken = sim_reserves(fill) ? hop.reserved : rate;
            if (!sim_wide(way) && !sim_reserves(fill)) {
                sim_untie(sim, holder, hop);
            }
            sim->hops.items[i].reserved = 0;
            fill->room += (__int128)((sim_moved)taken * hop.weight);
        }
        look_at(sim, hop.channel);
    }
}

/* Held by this channel from now on, at its level; it keeps a place in the others' room. */
static void settle_loose(struct myr_sim *sim, uint32_t slot, uint32_t at_hop)
{
    struct sim_way way = sim->ways.items[slot];
    uint32_t id = sim->hops.items[at_hop].channel;
    uint64_t level = sim->fills[id].level;
    bool wide = sim_wide(&way);
    sim_hold(sim, slot, at_hop);
    sim->loose_slots--;
    sim->bonds[id].wide += wide;
    for (uint32_t i = way.first_hop; i < way.first_hop + way.hop_count; i++) {
        struct sim_hop hop = sim->hops.items[i];
        struct sim_fill *fill = &sim->fills[hop.channel];
        if (i + SIM_AHEAD < way.first_hop + way.hop_count) {
            __builtin_prefetch(&sim->fills[sim->hops.items[i + SIM_AHEAD].channel], 1);
        }
        fill->loose_weight -= hop.weight;
        if (i == at_hop) {
            fill->held_weight += hop.weight;
        } else if (sim_reserves(fill)) {
            if (sim_reserve_more(sim, i, level)) {
                sim_bond_reserved(sim, id, sim->hops.items[i].reserved);
                look_at(sim, hop.channel);
            } else {
                sim_count_room(sim, hop.channel);
            }
        } else {
            if (!wide) {
                sim_tie(sim, id, hop);
            }
            fill->room -= (__int128)level * hop.weight;
            fill->fastest = fill->fastest > level ? fill->fastest : level;
            if (fill->held_weight) { /* its level may have to change */
                look_at(sim, hop.channel);
            }
        }
    }
}

/* Those held elsewhere and faster than this become loose; whether there were any. */
static bool take_over(struct myr_sim *sim, uint32_t id, uint64_t level)
{
    const struct sim_channel *channel = &sim->channels[id];
    uint64_t most = level + sim_tolerance(level), fastest = 0;
    bool any = false;
    if (sim->fills[id].fastest <= most) {
        return false;
    }
    for (uint32_t i = channel->held; i < channel->entry_count; i++) {
        uint32_t slot = sim->entries.items[channel->first_entry + i].slot;
        uint32_t holder = sim->ways.items[slot].holder;
        if (holder & SIM_LOOSE) {
            continue; /* told when it is held again */
        }
        if (sim->fills[holder].level > most) {
            loosen(sim, slot);
            any = true;
        } else if (sim->fills[holder].level > fastest) {
            fastest = sim->fills[holder].level;
        }
    }
    sim->fills[id].fastest = fastest;
    return any;
}

static void settle_all_loose(struct myr_sim *sim, uint32_t id)
{
    const struct sim_channel *channel = &sim->channels[id];
    /* Whoever is taken in goes to the front part, in exchange for one that was seen before. */
    for (uint32_t i = 0; i < channel->entry_count && sim->fills[id].loose_weight; i++) {
        struct sim_entry entry = sim->entries.items[channel->first_entry + i];
        if (sim->ways.items[entry.slot].holder & SIM_LOOSE) {
            settle_loose(sim, entry.slot, entry.hop);
        }
    }
}

static void settle(struct myr_sim *sim, uint32_t id, uint64_t level)
{
    struct sim_fill *fill = &sim->fills[id];
    uint64_t old = fill->level;
    heap_pop(sim);
    /* Most likely the next: its list is asked for in two steps, before and after this one. */
    uint32_t next = sim->fill_heap.count ? sim->fill_heap.items[0].channel : id;
    __builtin_prefetch(&sim->channels[next].first_entry);
    if (level != old) {
        sim_set_clock(sim, id);
        fill->level = level;
        sim_change(sim, id);
        if (fill->held_weight) {
            shift(sim, id, old, level);
        }
    }
    if (sim->channels[next].held) {
        __builtin_prefetch(&sim->entries.items[sim->channels[next].first_entry]);
    }
    settle_all_loose(sim, id);
    /* Held elsewhere in a moment, at what they are allowed there; this one is looked at again. */
    for (; sim->held_back.count; sim->held_back.count--) {
        uint32_t slot = sim->held_back.items[sim->held_back.count - 1];
        if (!(sim->ways.items[slot].holder & SIM_LOOSE)) { /* by two channels */
            loosen(sim, slot);
        }
    }
}

/*
 * The lowest channel has nobody left: whoever was loose on it is held elsewhere now. When nobody is
 * loose any more, as after a transfer that uses half of the fabric alone, that holds for most.
 */
static void drop_idle(struct myr_sim *sim)
{
    uint32_t kept = 0, count = (uint32_t)sim->fill_heap.count;
    if (sim->loose_slots || count < 32) {
        heap_pop(sim);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct sim_fill_place item = sim->fill_heap.items[i];
        if (sim->fills[item.channel].held_weight) {
            heap_put(sim, kept++, item);
        } else {
            sim->fills[item.channel].place = MYR_NONE;
        }
    }
    sim->fill_heap.count = kept;
    heap_order(sim);
}

static void loosen_all(struct myr_sim *sim, uint32_t id)
{
    const struct sim_channel *channel = &sim->channels[id];
    for (uint32_t e = 0; e < channel->held; e++) {
        uint32_t slot = sim->entries.items[channel->first_entry + e].slot;
        if (!(sim->ways.items[slot].holder & SIM_LOOSE)) {
            loosen(sim, slot);
        }
    }
}

/* The channel with the lowest key: put back higher up, or settled. */
static void take_lowest(struct myr_sim *sim)
{
    uint32_t id = sim->fill_heap.items[0].channel;
    struct sim_fill *fill = &sim->fills[id];
    uint64_t level = level_of(fill), key = key_at(sim, fill, level);
    if (level == SIM_RATE_NONE) {
        drop_idle(sim);
        return;
    }
    if (key <= fill->key && sim_reserves(fill)) {
        sim_count_room(sim, id); /* it may be about to hold somebody */
        level = level_of(fill);
        key = key_at(sim, fill, level);
    }
    if (key > fill->key) {
        fill->key = key;
        heap_down(sim, 0);
        return;
    }
    if (fill->held_weight) {
        uint64_t slack = sim_tolerance(fill->level);
        if (level <= fill->level + slack && fill->level <= level + slack) {
            level = fill->level;
        }
        if (level > short_rise(sim, fill->level)) {
            loosen_all(sim, id);
            return;
        }
    }
    /* Also when it rises, or stays: whom a short cut let pass here a moment ago may be faster. */
    if (take_over(sim, id, level)) {
        return; /* its level is higher now */
    }
    settle(sim, id, level);
}

/* A channel that held nobody and has less capacity than before: whoever is too fast is solved. */
static void relieve(struct myr_sim *sim, uint32_t id)
{
    const struct sim_fill *fill = &sim->fills[id];
    const struct sim_channel *channel = &sim->channels[id];
    if (fill->room < 0 && sim_reserves(fill)) {
        sim_count_room(sim, id);
    }
    if (fill->room < 0 && fill->held_weight == 0 && fill->loose_weight == 0 && channel->wanted) {
        __int128 share = channel->counted_capacity / (__int128)channel->wanted;
        take_over(sim, id, (uint64_t)share);
    }
}

/* Whether one that holds nobody carries more than it can: what it let pass rose meanwhile. */
static bool is_over(const struct myr_sim *sim, uint32_t id)
{
    const struct sim_fill *fill = &sim->fills[id];
    const struct sim_channel *channel = &sim->channels[id];
    return fill->room < 0 && fill->held_weight == 0 && fill->loose_weight == 0 && channel->wanted &&
           fill->room < -(__int128)channel->wanted * 1000;
}

static inline __attribute__((always_inline)) void prefetch_touched(const struct myr_sim *sim,
                                                                   size_t i)
{
    if (i + SIM_AHEAD < sim->touched.count) {
        __builtin_prefetch(&sim->fills[sim->touched.items[i + SIM_AHEAD]], 1);
    }
}

/* Rates of whatever has been touched, and of what that reaches. */
static void solve_rates(struct myr_sim *sim)
{
    enum { SHORT_CUTS = 64 };
    uint64_t taken = 0;
    bool over;
    do {
        for (size_t i = 0; i < sim->touched.count; i++) {
            prefetch_touched(sim, i);
            relieve(sim, sim->touched.items[i]); /* may touch more */
        }
        for (size_t i = 0; i < sim->touched.count; i++) {
            uint32_t id = sim->touched.items[i];
            struct sim_fill *fill = &sim->fills[id];
            prefetch_touched(sim, i);
            if (fill->place == MYR_NONE && fill->held_weight + fill->loose_weight) {
                if (is_settled(fill)) {
                    continue;
                }
                fill->key = key_at(sim, fill, level_of(fill));
                fill->place = (uint32_t)sim->fill_heap.count;
                myr_vec_push(&sim->fill_heap, heap_item(sim, id));
            }
        }
        heap_order(sim);
        bool any = sim->fill_heap.count > 0;
        for (; sim->fill_heap.count; taken++) {
            /* Short cuts may make work for each other; without them every level is met once. */
            sim->strict = taken > SHORT_CUTS * (uint64_t)sim->touched.count;
            take_lowest(sim);
        }
        over = false;
        for (size_t i = 0; any && !over && i < sim->touched.count; i++) {
            prefetch_touched(sim, i);
            over = is_over(sim, sim->touched.items[i]);
        }
    } while (over);
    MYR_ASSERT(sim->loose_slots == 0); /* every transfer uses a channel, and is held by one */
    MYR_SLOW_ASSERT(sim_within_capacity(sim) && sim_ties_right(sim));
}

void sim_solve(struct myr_sim *sim)
{
    solve_rates(sim);
    for (size_t i = 0; i < sim->touched.count; i++) {
        uint32_t id = sim->touched.items[i];
        prefetch_touched(sim, i);
        if (sim->fills[id].held_weight == 0) {
            sim->fills[id].level = SIM_RATE_NONE;
            if (!sim_reserves(&sim->fills[id])) {
                sim_reserve(sim, id);
            }
        }
    }
    for (size_t i = 0; i < sim->changed.count; i++) {
        uint32_t id = sim->changed.items[i];
        sim->result.solved += sim->channels[id].held;
        if (!sim_paused(sim)) {
            sim_finish_update(sim, id);
        }
    }
    if (sim_paused(sim)) {
        sim_pause(sim);
    }
    sim->touched.count = sim->changed.count = 0;
    sim->solve_mark++;
}

void myr_sim_fair_rates(struct myr_sim *sim, uint32_t first, uint32_t count, uint64_t *ret_bps)
{
    MYR_ASSERT(first + count <= sim->tasks.count && sim->now == 0);
    for (uint32_t i = 0; i < count; i++) {
        struct sim_task *task = &sim->tasks.items[first + i];
        MYR_ASSERT(task->state == SIM_WAITING);
        if (task->kind == SIM_TRANSFER && sim->patterns.items[task->pattern].use_count) {
            task->state = SIM_MOVING;
            sim_attach(sim, first + i, (sim_moved)task->bits * SIM_MOVED_PER_BIT);
        }
    }
    sim_solve(sim);
    for (uint32_t i = 0; i < count; i++) {
        struct sim_task *task = &sim->tasks.items[first + i];
        bool moved = task->state == SIM_MOVING;
        ret_bps[i] = moved ? sim_rate(sim, task->slot) / SIM_RATE_PER_BPS : 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct sim_task *task = &sim->tasks.items[first + i];
        if (task->state == SIM_MOVING) {
            sim_detach(sim, task->slot);
        }
        task->state = SIM_WAITING;
        task->bottleneck = MYR_NONE;
    }
    sim_solve(sim);
    sim->result.solved = 0;
}
