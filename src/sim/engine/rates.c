#include "engine/rates.h"

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

/* It rises on all its channels: what it took of those that do not hold it is free again. */
static void loosen(struct myr_sim *sim, uint32_t slot)
{
    struct sim_way *way = &sim->ways.items[slot];
    uint32_t holder = way->holder;
    MYR_ASSERT(!(holder & SIM_LOOSE));
    MYR_SLOW_ASSERT(sim->hops.items[way->held_hop].channel == holder);
    MYR_SLOW_ASSERT(holder < sim->channel_count && !sim_reserves(&sim->fills[holder]));
    uint64_t rate = sim->fills[holder].level;
    way->holder |= SIM_LOOSE;
    sim->loose_slots++;
    MYR_ASSERT(!sim_wide(way) || sim->bonds[holder].wide > 0);
    sim->bonds[holder].wide -= sim_wide(way);
    for (uint32_t i = way->first_hop; i < way->first_hop + way->hop_count; i++) {
        struct sim_hop hop = sim->hops.items[i];
        struct sim_fill *fill = &sim->fills[hop.channel];
        sim_touch(sim, hop.channel);
        fill->loose_weight += hop.weight;
        if (hop.channel == holder) {
            MYR_SLOW_ASSERT(fill->held_weight >= hop.weight);
            fill->held_weight -= hop.weight;
        } else {
            uint64_t taken = sim_reserves(fill) ? hop.reserved : rate;
            if (!sim_wide(way) && !sim_reserves(fill)) {
                sim_untie(sim, holder, hop);
            }
            sim->hops.items[i].reserved = 0;
            fill->room += (__int128)((sim_moved)taken * hop.weight);
        }
        sim_look_at(sim, hop.channel);
    }
}

/* Held by this channel from now on, at its level; it keeps a place in the others' room. */
static void settle_loose(struct myr_sim *sim, uint32_t slot, uint32_t at_hop)
{
    struct sim_way way = sim->ways.items[slot];
    uint32_t id = sim->hops.items[at_hop].channel;
    uint64_t level = sim->fills[id].level;
    bool wide = sim_wide(&way);
    MYR_SLOW_ASSERT((way.holder & SIM_LOOSE));
    MYR_SLOW_ASSERT(sim->loose_slots > 0);
    MYR_SLOW_ASSERT(!sim_reserves(&sim->fills[id]));
    MYR_SLOW_ASSERT(level != SIM_RATE_NONE);
    sim_hold(sim, slot, at_hop);
    sim->loose_slots--;
    sim->bonds[id].wide += wide;
    for (uint32_t i = way.first_hop; i < way.first_hop + way.hop_count; i++) {
        struct sim_hop hop = sim->hops.items[i];
        struct sim_fill *fill = &sim->fills[hop.channel];
        if (i + SIM_AHEAD < way.first_hop + way.hop_count) {
            __builtin_prefetch(&sim->fills[sim->hops.items[i + SIM_AHEAD].channel], 1);
        }
        MYR_SLOW_ASSERT(fill->loose_weight >= hop.weight);
        fill->loose_weight -= hop.weight;
        if (i == at_hop) {
            fill->held_weight += hop.weight;
        } else if (sim_reserves(fill)) {
            if (sim_reserve_more(sim, i, level)) {
                sim_bond_reserved(sim, id, sim->hops.items[i].reserved);
                sim_look_at(sim, hop.channel);
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
                sim_look_at(sim, hop.channel);
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
    MYR_SLOW_ASSERT(level != SIM_RATE_NONE && !sim_reserves(&sim->fills[id]));
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

/* All that are loose on the channel are held by it from now on. */
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
    MYR_SLOW_ASSERT(sim->fills[id].loose_weight == 0);
}

/*
 * The channel is the first of the heap and leaves it: its level is final, unless a short cut
 * changes it.
 */
static void settle(struct myr_sim *sim, uint32_t id, uint64_t level)
{
    struct sim_fill *fill = &sim->fills[id];
    uint64_t old = fill->level;
    MYR_SLOW_ASSERT(fill->place == 0);
    MYR_SLOW_ASSERT(level != SIM_RATE_NONE);
    sim_fills_pop(sim);
    /* Most likely the next: its list is asked for in two steps, before and after this one. */
    uint32_t next = sim->fill_heap.count ? sim->fill_heap.items[0].channel : id;
    __builtin_prefetch(&sim->channels[next].first_entry);
    MYR_SLOW_ASSERT(fill->place == MYR_NONE && !sim_reserves(fill));
    if (level != old) {
        sim_set_clock(sim, id);
        fill->level = level;
        sim_change(sim, id);
        if (fill->held_weight) {
            sim_shift(sim, id, old, level);
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
    MYR_SLOW_ASSERT(sim->fill_heap.count > 0);
    uint32_t kept = 0, count = (uint32_t)sim->fill_heap.count;
    if (sim->loose_slots || count < 32) {
        sim_fills_pop(sim);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct sim_fill_place item = sim->fill_heap.items[i];
        if (sim->fills[item.channel].held_weight) {
            sim_fills_put(sim, kept++, item);
        } else {
            sim->fills[item.channel].place = MYR_NONE;
        }
    }
    MYR_ASSERT(kept <= count);
    sim->fill_heap.count = kept;
    sim_fills_order(sim);
}

/* The list does not change here: who is loose keeps its entry until another channel holds it. */
static void loosen_all(struct myr_sim *sim, uint32_t id)
{
    MYR_SLOW_ASSERT(sim->channels[id].held > 0 && sim->fills[id].held_weight > 0);
    const struct sim_channel *channel = &sim->channels[id];
    for (uint32_t e = 0; e < channel->held; e++) {
        uint32_t slot = sim->entries.items[channel->first_entry + e].slot;
        if (!(sim->ways.items[slot].holder & SIM_LOOSE)) {
            loosen(sim, slot);
        }
    }
    MYR_SLOW_ASSERT(sim->fills[id].held_weight == 0);
    MYR_SLOW_ASSERT(sim->fills[id].loose_weight > 0);
}

/* The channel with the lowest key: put back higher up, or settled. */
static void take_lowest(struct myr_sim *sim)
{
    MYR_SLOW_ASSERT(sim->fill_heap.count > 0);
    uint32_t id = sim->fill_heap.items[0].channel;
    struct sim_fill *fill = &sim->fills[id];
    uint64_t level = sim_level_of(fill), key = sim_key_at(sim, fill, level);
    MYR_SLOW_ASSERT(fill->place == 0);
    MYR_SLOW_ASSERT(fill->mark == sim->solve_mark);
    if (level == SIM_RATE_NONE) {
        drop_idle(sim);
        return;
    }
    if (key <= fill->key && sim_reserves(fill)) {
        sim_count_room(sim, id); /* it may be about to hold somebody */
        level = sim_level_of(fill);
        key = sim_key_at(sim, fill, level);
    }
    if (key > fill->key) {
        fill->key = key;
        sim_fills_down(sim, 0);
        return;
    }
    if (fill->held_weight) {
        uint64_t slack = sim_tolerance(fill->level);
        if (level <= fill->level + slack && fill->level <= level + slack) {
            level = fill->level;
        }
        if (level > sim_short_rise(sim, fill->level)) {
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
    MYR_SLOW_ASSERT(id < sim->channel_count);
    const struct sim_fill *fill = &sim->fills[id];
    const struct sim_channel *channel = &sim->channels[id];
    if (fill->room < 0 && sim_reserves(fill)) {
        sim_count_room(sim, id);
    }
    if (fill->room < 0 && fill->held_weight == 0 && fill->loose_weight == 0 && channel->wanted) {
        __int128 share = channel->counted_capacity / (__int128)channel->wanted;
        take_over(sim, id, share < (__int128)SIM_LEVEL_MAX ? (uint64_t)share : SIM_LEVEL_MAX);
    }
}

/* Whether one that holds nobody carries more than it can: what it let pass rose meanwhile. */
static bool is_over(const struct myr_sim *sim, uint32_t id)
{
    MYR_SLOW_ASSERT(id < sim->channel_count);
    const struct sim_fill *fill = &sim->fills[id];
    const struct sim_channel *channel = &sim->channels[id];
    return fill->room < 0 && fill->held_weight == 0 && fill->loose_weight == 0 && channel->wanted &&
           fill->room < -(__int128)channel->wanted * 1000;
}

/* Touched channels lie all over memory; the next ones are asked for while this one is worked on. */
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
    MYR_ASSERT(sim->fill_heap.count == 0 && sim->held_back.count == 0);
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
                if (sim_is_settled(fill)) {
                    continue;
                }
                fill->key = sim_key_at(sim, fill, sim_level_of(fill));
                fill->place = (uint32_t)sim->fill_heap.count;
                myr_vec_push(&sim->fill_heap, sim_fills_item(sim, id));
            }
        }
        sim_fills_order(sim);
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
    MYR_SLOW_ASSERT(sim_within_capacity(sim));
    MYR_SLOW_ASSERT(sim_ties_right(sim));
}

/* After the rates: channels that hold nobody go over to reserving, and ends are timed anew. */
void sim_solve(struct myr_sim *sim)
{
    solve_rates(sim);
    for (size_t i = 0; i < sim->touched.count; i++) {
        uint32_t id = sim->touched.items[i];
        prefetch_touched(sim, i);
        MYR_SLOW_ASSERT(sim->fills[id].place == MYR_NONE);
        MYR_SLOW_ASSERT(sim->fills[id].loose_weight == 0);
        if (sim->fills[id].held_weight == 0) {
            sim->fills[id].level = SIM_RATE_NONE;
            if (!sim_reserves(&sim->fills[id])) {
                sim_reserve(sim, id);
            }
        }
    }
    for (size_t i = 0; i < sim->changed.count; i++) {
        uint32_t id = sim->changed.items[i];
        MYR_SLOW_ASSERT(sim_held_right(sim, id));
        sim->result.solved += sim->channels[id].held;
        if (!sim_paused(sim)) {
            sim_finish_update(sim, id);
        }
    }
    if (sim_paused(sim)) {
        sim_pause(sim);
    }
    MYR_ASSERT(sim->fill_heap.count == 0);
    MYR_ASSERT(sim->held_back.count == 0);
    MYR_ASSERT(sim->short_of.count == 0);
    MYR_ASSERT(sim->overfull.count == 0);
    MYR_SLOW_ASSERT(sim_ends_right(sim));
    sim->touched.count = sim->changed.count = 0;
    sim->solve_mark++;
}

/*
 * Attached, solved, read and detached: the engine is then as before, without a moment having
 * passed.
 */
void myr_sim_fair_rates(struct myr_sim *sim, uint32_t first, uint32_t count, uint64_t *ret_bps)
{
    MYR_ASSERT(first + count <= sim->tasks.count);
    MYR_ASSERT(sim->now == 0);
    MYR_ASSERT(!sim->edge_start);
    MYR_ASSERT(sim->slots.count == sim->free_slots.count);
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
    MYR_ASSERT(sim->slots.count == sim->free_slots.count);
    MYR_SLOW_ASSERT(sim_at_rest(sim));
    sim->result.solved = 0;
}
