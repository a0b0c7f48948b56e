#include <stdlib.h>

#include "engine/internal.h"

/*
 * What a loaded state must be, so that the run that follows needs to trust nothing: every number
 * names something that is there, every sum is that of its parts. Each function says whether its
 * part of the state is right.
 */

/* Without a sum that could overflow: the numbers are from outside. */
static bool in_range(uint64_t first, uint64_t count, uint64_t total)
{
    return first <= total && count <= total - first;
}

/* A slot without a task is free; nothing else in it means anything. */
static bool live(const struct myr_sim *sim, uint32_t slot)
{
    return sim->slots.items[slot].task != MYR_NONE;
}

/* No channel twice: a transfer is held by one hop, and the others are other channels. */
static bool uses_apart(const struct myr_sim *sim)
{
    MYR_CLEANUP(myr_free_at)
    uint32_t *seen = myr_xcalloc(sim->channel_count + UINT64_C(1), sizeof(*seen));
    for (uint32_t i = 0; i < sim->patterns.count; i++) {
        const struct sim_pattern *pattern = &sim->patterns.items[i];
        for (uint32_t u = 0; u < pattern->use_count; u++) {
            uint32_t *last = &seen[sim->uses.items[pattern->first_use + u].channel];
            if (*last == i + 1) {
                return false;
            }
            *last = i + 1;
        }
    }
    return true;
}

/* Uses and paths may have been changed by faults, so they are loaded, not compared. */
static bool patterns_right(const struct myr_sim *sim)
{
    for (size_t i = 0; i < sim->uses.count; i++) {
        struct sim_use use = sim->uses.items[i];
        if (use.channel >= sim->channel_count || use.weight == 0) {
            return false;
        }
    }
    for (size_t i = 0; i < sim->patterns.count; i++) {
        const struct sim_pattern *pattern = &sim->patterns.items[i];
        if (!in_range(pattern->first_use, pattern->use_count, sim->uses.count) ||
            !in_range(pattern->first_message, pattern->message_count, sim->messages.count) ||
            pattern->batch > sim->batch_count || pattern->latency < 0 ||
            pattern->latency > SIM_TIME_MAX) {
            return false;
        }
    }
    for (size_t i = 0; i < sim->path_channels.count; i++) {
        if (sim->path_channels.items[i] >= sim->channel_count) {
            return false;
        }
    }
    for (size_t i = 0; i < sim->paths.count; i++) {
        const struct sim_path *path = &sim->paths.items[i];
        if (path->pattern >= sim->patterns.count ||
            path->message >= sim->patterns.items[path->pattern].message_count ||
            !in_range(path->first, path->count, sim->path_channels.count)) {
            return false;
        }
    }
    return uses_apart(sim);
}

/* What each waits for, counted again; one event for each that computes or whose latency passes. */
static bool waits_right(const struct myr_sim *sim, const uint32_t *events)
{
    size_t count = sim->tasks.count;
    uint32_t undone = 0;
    MYR_CLEANUP(myr_free_at) uint32_t *waits = myr_xcalloc(count, sizeof(*waits));
    MYR_CLEANUP(myr_free_at) uint32_t *moves = myr_xcalloc(count, sizeof(*moves));
    for (size_t i = 0; i < sim->edges.count; i++) {
        struct sim_edge edge = sim->edges.items[i];
        if (sim->tasks.items[edge.before].state != SIM_DONE) {
            (edge.moves ? moves : waits)[edge.task]++;
        }
    }
    for (uint32_t t = 0; t < count; t++) {
        const struct sim_task *task = &sim->tasks.items[t];
        /* A task waits exactly as long as something before it is not done. */
        bool waiting = task->state == SIM_WAITING, ready = task->state == SIM_READY;
        undone += task->state != SIM_DONE;
        if (task->waits_for != waits[t] || task->moves_after != moves[t] ||
            waiting != (waits[t] > 0) || (ready && moves[t] == 0) ||
            events[t] != (task->state == SIM_LATENCY)) {
            return false;
        }
    }
    return undone == sim->result.blocked;
}

/* A task that moves and its slot name each other; no other task has a slot. */
static bool tasks_right(const struct myr_sim *sim)
{
    for (uint32_t t = 0; t < sim->tasks.count; t++) {
        const struct sim_task *task = &sim->tasks.items[t];
        bool moving = task->state == SIM_MOVING;
        /* Nothing has happened in the future, and nothing ended before it began. */
        if (task->state > SIM_DONE || task->start < 0 || task->end < 0 || task->start > sim->now ||
            task->end > sim->now || (task->state == SIM_DONE && task->end < task->start) ||
            (task->bottleneck != MYR_NONE && task->bottleneck >= sim->channel_count)) {
            return false;
        }
        if (task->kind == SIM_TRANSFER ? task->pattern >= sim->patterns.count : moving) {
            return false;
        }
        if (moving ? task->slot >= sim->slots.count || sim->slots.items[task->slot].task != t
                   : task->slot != MYR_NONE) {
            return false;
        }
    }
    return true;
}

/*
 * Later than now, of something that is there, and in the order of a heap with four children a
 * place.
 */
static bool events_right(const struct myr_sim *sim)
{
    const struct myr_heap *heap = &sim->events;
    MYR_CLEANUP(myr_free_at)
    uint32_t *events = myr_xcalloc(sim->tasks.count, sizeof(*events));
    for (uint32_t i = 0; i < heap->count; i++) {
        const struct myr_heap_item *item = &heap->items[i],
                                   *above = &heap->items[i ? (i - 1) / 4 : 0];
        uint64_t kind = item->value >> 62, id = item->value & ~(UINT64_C(3) << 62);
        size_t known = kind == SIM_EVENT_TASK ? sim->tasks.count : sim->faults.count;
        if (item->key <= sim->now || item->key >= SIM_TIME_MAX || kind > SIM_EVENT_REROUTE ||
            id >= known || item->order >= heap->next_order || above->key > item->key ||
            (above->key == item->key && above->order > item->order)) {
            return false;
        }
        if (kind == SIM_EVENT_TASK) {
            events[id]++;
        }
    }
    return waits_right(sim, events);
}

/* Marks a block; false when one of its places has been marked before. */
static bool mark_block(uint8_t *marks, size_t total, uint32_t first, uint32_t class)
{
    if (class >= SIM_CLASSES - 1 || !in_range(first, UINT64_C(1) << class, total)) {
        return false;
    }
    for (uint32_t i = 0; i < UINT32_C(1) << class; i++) {
        /* Two blocks overlap: writing to one would change the other. */
        if (marks[first + i]++) {
            return false;
        }
    }
    return true;
}

/* Together with the blocks in use: no place may be in two of them. */
static bool mark_free(uint8_t *marks, size_t total, const struct sim_free *free)
{
    for (uint32_t class = 0; class < SIM_CLASSES; class ++) {
        for (size_t i = 0; i < free->blocks[class].count; i++) {
            if (!mark_block(marks, total, free->blocks[class].items[i], class)) {
                return false;
            }
        }
    }
    return true;
}

/* What is left of it is no more than it had. */
static bool rest_right(const struct myr_sim *sim, uint32_t id)
{
    const struct sim_slot *slot = &sim->slots.items[id];
    sim_moved all = (sim_moved)sim->tasks.items[slot->task].bits * SIM_MOVED_PER_BIT;
    return slot->counted <= all && sim_left(sim, id) <= slot->counted &&
           slot->pace <= UINT64_MAX / 2;
}

/*
 * Its hops are those of its pattern, and one of them is over the channel that holds it. The limit
 * of 120 bits keeps sums with a clock from overflowing.
 */
static bool slot_right(const struct myr_sim *sim, uint32_t id)
{
    const struct sim_slot *slot = &sim->slots.items[id];
    const struct sim_way *way = &sim->ways.items[id];
    uint32_t holder = way->holder;
    if (slot->task >= sim->tasks.count || sim->tasks.items[slot->task].slot != id ||
        sim->tasks.items[slot->task].state != SIM_MOVING || holder >= sim->channel_count ||
        way->hop_count == 0 || way->first_hop % 8 != 0 ||
        !in_range(way->first_hop, way->hop_count, sim->hops.count) ||
        way->held_hop < way->first_hop || way->held_hop >= way->first_hop + way->hop_count ||
        sim->hops.items[way->held_hop].channel != holder || slot->target >> 120 ||
        slot->counted >> 120 || slot->updated > sim->now || slot->updated < 0) {
        return false;
    }
    const struct sim_task *task = &sim->tasks.items[slot->task];
    const struct sim_pattern *pattern = &sim->patterns.items[task->pattern];
    if (pattern->use_count != way->hop_count) {
        return false;
    }
    for (uint32_t i = 0; i < way->hop_count; i++) {
        struct sim_hop hop = sim->hops.items[way->first_hop + i];
        struct sim_use use = sim->uses.items[pattern->first_use + i];
        if (hop.channel != use.channel || hop.weight != use.weight ||
            sim->hop_places.items[way->first_hop + i] >= sim->channels[hop.channel].entry_count) {
            return false;
        }
    }
    return true;
}

/*
 * Blocks of hops are of eight at least and begin at multiples of it (flight.c); the next one begins
 * where the pool ends.
 */
static bool hops_aligned(const struct myr_sim *sim)
{
    for (uint32_t class = 0; class < SIM_CLASSES; class ++) {
        for (size_t i = 0; i < sim->free_hops.blocks[class].count; i++) {
            if (class < sim_hop_class(1) || sim->free_hops.blocks[class].items[i] % 8 != 0) {
                return false;
            }
        }
    }
    return sim->hops.count % 8 == 0;
}

/* Each is in use or free, and each block of hops is of one of them. */
static bool slots_right(const struct myr_sim *sim)
{
    size_t unused = 0;
    MYR_CLEANUP(myr_free_at) uint8_t *marks = myr_xcalloc(sim->hops.count, 1);
    MYR_CLEANUP(myr_free_at) uint8_t *free_marks = myr_xcalloc(sim->slots.count, 1);
    if (sim->ways.count != sim->slots.count || sim->hop_places.count != sim->hops.count ||
        !hops_aligned(sim)) {
        return false;
    }
    for (size_t i = 0; i < sim->free_slots.count; i++) {
        uint32_t slot = sim->free_slots.items[i];
        /* Free once, and of nobody. */
        if (slot >= sim->slots.count || live(sim, slot) || free_marks[slot]++) {
            return false;
        }
    }
    for (uint32_t i = 0; i < sim->slots.count; i++) {
        const struct sim_way *way = &sim->ways.items[i];
        if (!live(sim, i)) {
            unused++;
        } else if (!slot_right(sim, i) || !mark_block(marks, sim->hops.count, way->first_hop,
                                                      sim_hop_class(way->hop_count))) {
            return false;
        }
    }
    return unused == sim->free_slots.count && mark_free(marks, sim->hops.count, &sim->free_hops);
}

/* One in the list of a channel; held ones are a heap by what is left. */
static bool entry_right(const struct myr_sim *sim, uint32_t id, uint32_t place)
{
    const struct sim_channel *channel = &sim->channels[id];
    const struct sim_entry *items = &sim->entries.items[channel->first_entry];
    struct sim_entry entry = items[place];
    if (entry.slot >= sim->slots.count || !live(sim, entry.slot)) {
        return false;
    }
    const struct sim_slot *slot = &sim->slots.items[entry.slot];
    const struct sim_way *way = &sim->ways.items[entry.slot];
    if (entry.hop < way->first_hop || entry.hop >= way->first_hop + way->hop_count ||
        sim->hops.items[entry.hop].channel != id || sim->hop_places.items[entry.hop] != place) {
        return false;
    }
    bool held = place < channel->held;
    /* The front part of the list is those that the channel holds, no more and no fewer. */
    if (held != (way->holder == id && way->held_hop == entry.hop)) {
        return false;
    }
    if (!held || place == 0 || sim_paused(sim)) {
        return true;
    }
    uint32_t above = items[(place - 1) / 2].slot;
    sim_moved least = sim->slots.items[above].target;
    return least < slot->target || (least == slot->target && above < entry.slot);
}

/* What is kept as running sums, added up from the entries. */
static bool sums_right(const struct myr_sim *sim, uint32_t id)
{
    const struct sim_channel *channel = &sim->channels[id];
    const struct sim_fill *fill = &sim->fills[id];
    uint64_t wanted = 0, held = 0;
    __int128 room = (__int128)sim_capacity(sim, id) * SIM_RATE_PER_BPS * 1000;
    if (channel->counted_capacity != room) {
        return false;
    }
    for (uint32_t e = 0; e < channel->entry_count; e++) {
        struct sim_entry entry = sim->entries.items[channel->first_entry + e];
        uint32_t weight = sim->hops.items[entry.hop].weight;
        wanted += weight;
        if (e < channel->held) {
            held += weight;
            if (sim->hops.items[entry.hop].reserved) {
                return false;
            }
        } else {
            /* Above either of these the solver would not see that it is too fast. */
            uint64_t rate = sim_rate(sim, entry.slot), most = fill->fastest;
            uint64_t reserved = sim->hops.items[entry.hop].reserved;
            if (sim_reserves(fill) ? rate > reserved : rate > most || reserved) {
                return false;
            }
            room -= (__int128)((sim_moved)(sim_reserves(fill) ? reserved : rate) * weight);
        }
    }
    return wanted == channel->wanted && held == fill->held_weight && room == fill->room;
}

/* Rates are fair: what holds somebody is full, and nobody is faster. */
static bool level_right(const struct myr_sim *sim, uint32_t id)
{
    const struct sim_channel *channel = &sim->channels[id];
    const struct sim_fill *fill = &sim->fills[id];
    if (channel->held == 0) {
        return fill->room >= -(__int128)channel->wanted * 1000;
    }
    /* Wider than the solver's own tolerance. */
    uint64_t slack = (fill->level >> 24) + 2;
    __int128 excess = fill->room - (__int128)((sim_moved)fill->level * fill->held_weight);
    __int128 most = (__int128)((sim_moved)slack * fill->held_weight);
    for (uint32_t e = channel->held; e < channel->entry_count; e++) {
        uint32_t slot = sim->entries.items[channel->first_entry + e].slot;
        if (sim_rate(sim, slot) > fill->level + slack) {
            return false;
        }
    }
    return excess <= most && (excess >= -most || fill->level == 0);
}

/* Single figures: within what their sums can hold, and as they are between two solves. */
static bool channel_right(const struct myr_sim *sim, uint32_t id)
{
    const struct sim_channel *channel = &sim->channels[id];
    const struct sim_fill *fill = &sim->fills[id];
    if (channel->held > channel->entry_count || channel->updated < 0 ||
        channel->updated > sim->now || channel->capacity > SIM_CAPACITY_MAX ||
        channel->full_capacity > SIM_CAPACITY_MAX || channel->clock >> 118) {
        return false;
    }
    /* What a solve uses is empty between solves; marks are of solves before the next. */
    if (fill->loose_weight || fill->place != MYR_NONE || fill->mark >= sim->solve_mark ||
        channel->changed >= sim->solve_mark) {
        return false;
    }
    if (sim_reserves(fill) && (channel->held || fill->room < 0)) {
        return false;
    }
    return channel->held ? fill->level >> 63 == 0 : fill->level == SIM_RATE_NONE;
}

/* In three rounds: sums need all entries to be right, and rests need all levels. */
static bool channels_right(const struct myr_sim *sim)
{
    MYR_CLEANUP(myr_free_at) uint8_t *marks = myr_xcalloc(sim->entries.count, 1);
    for (uint32_t id = 0; id < sim->channel_count; id++) {
        const struct sim_channel *channel = &sim->channels[id];
        if (!channel_right(sim, id)) {
            return false;
        }
        if (channel->first_entry == MYR_NONE) {
            if (channel->entry_count) {
                return false;
            }
        } else if (!mark_block(marks, sim->entries.count, channel->first_entry,
                               channel->entry_class) ||
                   channel->entry_count > UINT32_C(1) << channel->entry_class) {
            return false;
        }
        for (uint32_t e = 0; e < channel->entry_count; e++) {
            if (!entry_right(sim, id, e)) {
                return false;
            }
        }
    }
    /* When all levels are known to be numbers. */
    for (uint32_t id = 0; id < sim->channel_count; id++) {
        if (!sums_right(sim, id) || !level_right(sim, id)) {
            return false;
        }
    }
    for (uint32_t slot = 0; slot < sim->slots.count; slot++) {
        if (live(sim, slot) && !rest_right(sim, slot)) {
            return false;
        }
    }
    return mark_free(marks, sim->entries.count, &sim->free_entries);
}

/* Every channel that lets something through stands in the heap of ends, once. */
static bool finish_right(const struct myr_sim *sim)
{
    for (uint32_t i = 0; i < sim->finish.count; i++) {
        uint32_t id = sim->finish.items[i], above = sim->finish.items[i ? (i - 1) / 4 : 0];
        if (id >= sim->channel_count || sim->finish_place[id] != i ||
            sim->finish_at[id] < sim->now || sim->finish_at[id] > SIM_TIME_MAX ||
            sim->finish_at[above] > sim->finish_at[id] || sim->channels[id].held == 0) {
            return false;
        }
    }
    for (uint32_t id = 0; id < sim->channel_count; id++) {
        /* A channel at level 0 ends nobody, and with pauses the heap is not used. */
        bool ends = sim->channels[id].held && sim->fills[id].level > 0 && !sim_paused(sim);
        bool there = sim->finish_place[id] != MYR_NONE;
        if (ends != there || (there && sim->finish_place[id] >= sim->finish.count)) {
            return false;
        }
    }
    return true;
}

/* The interval at hand has begun and is not over: the clock does not go back to end another. */
static bool ticks_right(const struct myr_sim *sim)
{
    __int128 begun = (__int128)sim->ticks * sim->options.series_ps;
    bool timed = sim->options.series_ps > 0;
    return timed ? begun <= sim->now && sim->now < begun + sim->options.series_ps
                 : sim->ticks == 0 && sim->samples.count == 0;
}

/* The time series; and nobody has run out of time, for such a run is not saved. */
static bool lists_right(const struct myr_sim *sim)
{
    for (size_t i = 0; i < sim->samples.count; i++) {
        const struct sim_sample *sample = &sim->samples.items[i];
        if (sample->channel >= sim->channel_count || sample->tick >= sim->ticks) {
            return false;
        }
    }
    for (uint32_t c = 0; sim->sampled && c < sim->channel_count; c++) {
        /* What was sampled has been counted before. */
        if (sim->sampled[c] > sim->channels[c].bytes) {
            return false;
        }
    }
    return sim->late_task == MYR_NONE && ticks_right(sim);
}

/* The name of the part that is wrong, for the complaint. */
const char *sim_state_wrong(const struct myr_sim *sim)
{
    static const struct {
        const char *name;
        bool (*right)(const struct myr_sim *sim);
    } checks[] = {
        /* In this order: each may use what those before it have looked at. */
        {"paths", patterns_right}, {"tasks", tasks_right},       {"events", events_right},
        {"slots", slots_right},    {"channels", channels_right}, {"ends", finish_right},
        {"lists", lists_right},
    };
    MYR_ASSERT(sim->edge_start); /* edges are sorted, and of tasks that are there */
    for (size_t i = 0; i < MYR_ARRAY_COUNT(checks); i++) {
        if (!checks[i].right(sim)) {
            return checks[i].name;
        }
    }
    return NULL;
}
