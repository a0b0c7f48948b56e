#include "engine/internal.h"

/*
 * Transfers under way. Each has a block of hops, one a channel that it uses, and each channel a
 * block of entries, one a transfer. The two name each other, so that a transfer is taken off all
 * its channels without a search. The entries of those that a channel holds come first, as a heap:
 * all of them move at one rate, so the one with the least left ends first, whatever the rate.
 */

/* A block that is used again is not cleared: the caller writes all of the hops that it needs. */
static uint32_t take_hops(struct myr_sim *sim, uint32_t count)
{
    uint32_t grow, class = sim_hop_class(count);
    uint32_t first = sim_take_block(&sim->free_hops, class, sim->hops.count, &grow);
    myr_vec_reserve(&sim->hops, sim->hops.count + grow);
    myr_vec_reserve(&sim->hop_places, sim->hop_places.count + grow);
    if (grow) { /* all of them are saved, also those that a transfer does not need */
        memset(&sim->hops.items[first], 0, grow * sizeof(*sim->hops.items));
        memset(&sim->hop_places.items[first], 0, grow * sizeof(*sim->hop_places.items));
    }
    sim->hops.count += grow;
    sim->hop_places.count += grow;
    MYR_ASSERT(first % 8 == 0);
    MYR_ASSERT(sim->hop_places.count == sim->hops.count);
    MYR_ASSERT(sim->hops.count - first >= UINT64_C(1) << class);
    return first;
}

/* As take_hops(); the caller copies what it had. */
static uint32_t take_entries(struct myr_sim *sim, uint32_t class)
{
    uint32_t grow, first = sim_take_block(&sim->free_entries, class, sim->entries.count, &grow);
    myr_vec_reserve(&sim->entries, sim->entries.count + grow);
    if (grow) { /* as the hops: what nobody needs is saved too, and is no garbage */
        memset(&sim->entries.items[first], 0, grow * sizeof(*sim->entries.items));
    }
    sim->entries.count += grow;
    MYR_ASSERT(sim->entries.count - first >= UINT64_C(1) << class);
    return first;
}

/* Slots and ways are two halves of one row: what a solve looks at is apart from the rest. */
static uint32_t take_slot(struct myr_sim *sim)
{
    MYR_ASSERT(sim->ways.count == sim->slots.count);
    if (sim->free_slots.count) {
        uint32_t slot = sim->free_slots.items[--sim->free_slots.count];
        MYR_ASSERT(slot < sim->slots.count);
        MYR_ASSERT(sim->slots.items[slot].task == MYR_NONE);
        return slot;
    }
    myr_vec_push(&sim->slots, (struct sim_slot){});
    myr_vec_push(&sim->ways, (struct sim_way){.holder = MYR_NONE});
    return (uint32_t)sim->slots.count - 1;
}

/* The entry's hop is told its new place: the two always name each other. */
static void put_entry(struct myr_sim *sim, const struct sim_channel *channel, uint32_t place,
                      struct sim_entry entry)
{
    MYR_SLOW_ASSERT(&sim->channels[sim->hops.items[entry.hop].channel] == channel);
    MYR_SLOW_ASSERT(place < UINT32_C(1) << channel->entry_class);
    MYR_SLOW_ASSERT(entry.hop < sim->hops.count);
    sim->entries.items[channel->first_entry + place] = entry;
    sim->hop_places.items[entry.hop] = place;
}

/* Behind all others. A full block is left for one of twice the size. */
static void add_entry(struct myr_sim *sim, uint32_t id, struct sim_entry entry)
{
    struct sim_channel *channel = &sim->channels[id];
    /* A channel keeps its block when its last transfer leaves. */
    MYR_SLOW_ASSERT(id < sim->channel_count && sim->hops.items[entry.hop].channel == id);
    bool none = channel->entry_count == 0 && channel->first_entry == MYR_NONE;
    if (none || channel->entry_count == UINT32_C(1) << channel->entry_class) {
        uint32_t class = none ? 0 : channel->entry_class + 1;
        uint32_t first = take_entries(sim, class);
        if (!none) {
            struct sim_entry *items = sim->entries.items;
            memcpy(&items[first], &items[channel->first_entry],
                   channel->entry_count * sizeof(*items));
            myr_vec_push(&sim->free_entries.blocks[channel->entry_class], channel->first_entry);
        }
        channel->first_entry = first;
        channel->entry_class = class;
    }
    put_entry(sim, channel, channel->entry_count++, entry);
    MYR_ASSERT(channel->entry_count <= UINT32_C(1) << channel->entry_class);
    MYR_ASSERT(channel->held < channel->entry_count); /* the new one is held by nobody yet */
}

/* By what is left, then by slot: equal ends have one order on every machine. */
static bool before(const struct myr_sim *sim, struct sim_entry a, struct sim_entry b)
{
    MYR_SLOW_ASSERT(a.slot != b.slot);
    const struct sim_slot *left = &sim->slots.items[a.slot], *right = &sim->slots.items[b.slot];
    return left->target < right->target || (left->target == right->target && a.slot < b.slot);
}

/* Towards the front of the heap of held entries. */
static void held_up(struct myr_sim *sim, const struct sim_channel *channel, uint32_t place)
{
    struct sim_entry *items = &sim->entries.items[channel->first_entry];
    struct sim_entry moved = items[place];
    MYR_SLOW_ASSERT(place < channel->held);
    while (place && before(sim, moved, items[(place - 1) / 2])) {
        put_entry(sim, channel, place, items[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put_entry(sim, channel, place, moved);
    MYR_SLOW_ASSERT(sim->hop_places.items[moved.hop] < channel->held);
}

/* Towards the end of the heap of held entries. */
static void held_down(struct myr_sim *sim, const struct sim_channel *channel, uint32_t place)
{
    struct sim_entry *items = &sim->entries.items[channel->first_entry];
    struct sim_entry moved = items[place];
    MYR_SLOW_ASSERT(place < channel->held);
    for (uint32_t child; (child = place * 2 + 1) < channel->held; place = child) {
        if (child + 1 < channel->held && before(sim, items[child + 1], items[child])) {
            child++;
        }
        if (!before(sim, items[child], moved)) {
            break;
        }
        put_entry(sim, channel, place, items[child]);
    }
    put_entry(sim, channel, place, moved);
    MYR_SLOW_ASSERT(sim->hop_places.items[moved.hop] < channel->held);
}

/* The entry of this hop leaves the held ones and becomes the first of the others. */
static void let_go(struct myr_sim *sim, uint32_t id, uint32_t hop)
{
    struct sim_channel *channel = &sim->channels[id];
    struct sim_entry *items = &sim->entries.items[channel->first_entry];
    uint32_t place = sim->hop_places.items[hop], last = channel->held - 1;
    MYR_ASSERT(channel->held > 0);
    MYR_ASSERT(place < channel->held);
    struct sim_entry gone = items[place], moved = items[last];
    MYR_SLOW_ASSERT(gone.hop == hop);
    channel->held--;
    sim_change(sim, id);
    put_entry(sim, channel, last, gone);
    if (place != last) {
        put_entry(sim, channel, place, moved);
        held_up(sim, channel, place);
        held_down(sim, channel, sim->hop_places.items[moved.hop]);
    }
    MYR_SLOW_ASSERT(sim->hop_places.items[hop] == channel->held); /* the first of the others */
}

/*
 * Behind the held ones, then up to its place: the entry trades places with the first that is not
 * held.
 */
void sim_hold(struct myr_sim *sim, uint32_t slot, uint32_t hop)
{
    struct sim_way *way = &sim->ways.items[slot];
    uint32_t old = way->holder, id = sim->hops.items[hop].channel;
    struct sim_channel *channel = &sim->channels[id];
    MYR_SLOW_ASSERT(hop - way->first_hop < way->hop_count);
    MYR_SLOW_ASSERT((old & SIM_LOOSE));
    if (old != MYR_NONE && (old & ~SIM_LOOSE) == id) {
        way->holder = id;
        return; /* by its clock already */
    }
    /* What is left is read by the old holder's clock, before it lets go. */
    sim_moved left = sim_left(sim, slot);
    if (old != MYR_NONE) {
        let_go(sim, old & ~SIM_LOOSE, way->held_hop);
    }
    /*
     * The target is a reading of the new holder's clock; with pauses each transfer counts for
     * itself.
     */
    MYR_SLOW_ASSERT(sim->slots.items[slot].task != MYR_NONE);
    sim_set_clock(sim, id);
    sim->slots.items[slot].target = sim_paused(sim) ? left : channel->clock + left;
    way->held_hop = hop;
    way->holder = id;
    struct sim_entry *items = &sim->entries.items[channel->first_entry];
    uint32_t place = sim->hop_places.items[hop];
    struct sim_entry entry = items[place];
    put_entry(sim, channel, place, items[channel->held]);
    put_entry(sim, channel, channel->held, entry);
    channel->held++;
    MYR_ASSERT(entry.slot == slot);
    MYR_ASSERT(channel->held <= channel->entry_count);
    sim_change(sim, id);
    held_up(sim, channel, channel->held - 1);
    MYR_SLOW_ASSERT(sim->hop_places.items[hop] < channel->held);
}

uint32_t sim_first_held(const struct myr_sim *sim, uint32_t channel)
{
    MYR_SLOW_ASSERT(channel < sim->channel_count);
    MYR_ASSERT(sim->channels[channel].held > 0);
    return sim->entries.items[sim->channels[channel].first_entry].slot;
}

/*
 * A transfer begins to move: it wants its channels, but none holds it yet; the next solve decides.
 */
uint32_t sim_attach(struct myr_sim *sim, uint32_t id, sim_moved left)
{
    struct sim_task *task = &sim->tasks.items[id];
    const struct sim_pattern *pattern = &sim->patterns.items[task->pattern];
    MYR_ASSERT(task->state == SIM_MOVING);
    MYR_ASSERT(pattern->use_count > 0);
    MYR_ASSERT(task->slot == MYR_NONE); /* a task is under way once */
    MYR_SLOW_ASSERT(left <= (sim_moved)task->bits * SIM_MOVED_PER_BIT);
    uint32_t slot = take_slot(sim), first = take_hops(sim, pattern->use_count);
    sim->slots.items[slot] =
        (struct sim_slot){.target = left, .counted = left, .task = id, .updated = sim->now};
    sim->ways.items[slot] = (struct sim_way){
        .holder = MYR_NONE, .first_hop = first, .hop_count = pattern->use_count, .held_hop = first};
    task->slot = slot;
    for (uint32_t i = 0; i < pattern->use_count; i++) {
        struct sim_use use = sim->uses.items[pattern->first_use + i];
        if (i + SIM_AHEAD < pattern->use_count) {
            sim_prefetch(sim, sim->uses.items[pattern->first_use + i + SIM_AHEAD].channel);
        }
        sim_touch(sim, use.channel);
        sim->hops.items[first + i] = (struct sim_hop){use.channel, use.weight, 0};
        add_entry(sim, use.channel, (struct sim_entry){slot, first + i});
        sim->channels[use.channel].wanted += use.weight;
        if (sim->options.sharing_loss_permille) {
            sim_recapacity(sim, use.channel);
        }
        sim->fills[use.channel].loose_weight += use.weight;
    }
    sim->loose_slots++; /* MYR_NONE has the bit of it */
    MYR_ASSERT(sim->loose_slots <= sim->slots.count - sim->free_slots.count);
    return slot;
}

/*
 * Gives back all that the transfer had: to its holder the weight, to the others what it took of
 * them.
 */
void sim_detach(struct myr_sim *sim, uint32_t slot)
{
    struct sim_slot *own = &sim->slots.items[slot];
    struct sim_way *way = &sim->ways.items[slot];
    uint32_t holder = way->holder;
    MYR_ASSERT(holder == MYR_NONE || !(holder & SIM_LOOSE));
    MYR_ASSERT(own->task != MYR_NONE);
    MYR_ASSERT(sim->tasks.items[own->task].slot == slot);
    uint64_t rate = holder == MYR_NONE ? 0 : sim->fills[holder].level;
    for (uint32_t i = way->first_hop; i < way->first_hop + way->hop_count; i++) {
        struct sim_hop hop = sim->hops.items[i];
        struct sim_channel *channel = &sim->channels[hop.channel];
        if (i + SIM_AHEAD < way->first_hop + way->hop_count) {
            sim_prefetch(sim, sim->hops.items[i + SIM_AHEAD].channel);
        }
        sim_touch(sim, hop.channel);
        if (hop.channel == holder) {
            let_go(sim, holder, i);
            MYR_ASSERT(i == way->held_hop);
            MYR_ASSERT(sim->fills[holder].held_weight >= hop.weight);
            sim->fills[holder].held_weight -= hop.weight;
        } else if (holder == MYR_NONE) {
            MYR_ASSERT(sim->fills[hop.channel].loose_weight >= hop.weight);
            sim->fills[hop.channel].loose_weight -= hop.weight;
        } else {
            uint64_t taken = sim_reserves(&sim->fills[hop.channel]) ? hop.reserved : rate;
            sim->fills[hop.channel].room += (__int128)((sim_moved)taken * hop.weight);
            /* Only channels that count their room exactly have ties. */
            if (!sim_wide(way) && !sim_reserves(&sim->fills[hop.channel])) {
                sim_untie(sim, holder, hop);
            }
        }
        /* The last entry fills the gap: the order behind the held ones means nothing. */
        uint32_t place = sim->hop_places.items[i], last = --channel->entry_count;
        if (place != last) {
            put_entry(sim, channel, place, sim->entries.items[channel->first_entry + last]);
        }
        MYR_ASSERT(channel->wanted >= hop.weight);
        channel->wanted -= hop.weight;
        if (sim->options.sharing_loss_permille) {
            sim_recapacity(sim, hop.channel);
        }
    }
    MYR_ASSERT(holder != MYR_NONE || sim->loose_slots > 0);
    sim->loose_slots -= holder == MYR_NONE;
    if (holder != MYR_NONE && sim_wide(way)) {
        MYR_ASSERT(sim->bonds[holder].wide > 0);
        sim->bonds[holder].wide--;
    }
    myr_vec_push(&sim->free_hops.blocks[sim_hop_class(way->hop_count)], way->first_hop);
    sim->tasks.items[own->task].bottleneck = holder;
    sim->tasks.items[own->task].slot = MYR_NONE;
    way->holder = MYR_NONE;
    own->task = MYR_NONE;
    myr_vec_push(&sim->free_slots, slot);
    MYR_ASSERT(sim->free_slots.count <= sim->slots.count);
    MYR_ASSERT(sim->ways.count == sim->slots.count);
}
