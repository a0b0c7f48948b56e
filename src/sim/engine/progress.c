#include "engine/internal.h"

/*
 * When transfers end. Each channel stands once in a heap, with a time before which none of those
 * that it holds arrives: a change of rates moves channels, not transfers, and a small one moves
 * nothing. The time is somewhat too early, and made exact when the channel is the first.
 */

enum { EARLY_BITS = 6 }; /* too early by this part of what is left to wait */

void sim_push_event(struct myr_sim *sim, myr_ps at, struct sim_event event)
{
    MYR_ASSERT(event.kind <= SIM_EVENT_REROUTE);
    MYR_ASSERT(at >= sim->now);
    myr_heap_push(&sim->events, at, (uint64_t)event.kind << 62 | event.a);
}

/*
 * Rounded up, but for a part of a picosecond: levels are rounded down, and two transfers that end
 * at the same time should not end one picosecond apart because of it.
 */
myr_ps sim_time_to_move(sim_moved left, uint64_t rate)
{
    MYR_ASSERT(rate > 0);
    sim_moved part = SIM_PS_PART_OF(rate);
    left = left > part ? left - part : 0;
    sim_moved wait = (left + rate - 1) / rate;
    return wait < SIM_TIME_MAX ? (myr_ps)wait : SIM_TIME_MAX;
}

/* The same part of a picosecond as in sim_time_to_move(): who is due has arrived. */
bool sim_arrived(const struct myr_sim *sim, uint32_t slot)
{
    MYR_SLOW_ASSERT(sim->slots.items[slot].task != MYR_NONE);
    return sim_left(sim, slot) <= SIM_PS_PART_OF(sim_rate(sim, slot));
}

/* Of equal times the lower number first: the order of ends is the same everywhere. */
static bool sooner(const struct myr_sim *sim, uint32_t a, uint32_t b)
{
    MYR_SLOW_ASSERT(a < sim->channel_count && b < sim->channel_count);
    return sim->finish_at[a] < sim->finish_at[b] ||
           (sim->finish_at[a] == sim->finish_at[b] && a < b);
}

/* The channel is told its place, so that it can be moved without a search. */
static void put(struct myr_sim *sim, uint32_t place, uint32_t id)
{
    MYR_SLOW_ASSERT(place < sim->finish.count);
    MYR_SLOW_ASSERT(id < sim->channel_count);
    sim->finish.items[place] = id;
    sim->finish_place[id] = place;
}

/* Four children a place, as in the solver's heap. */
static void up(struct myr_sim *sim, uint32_t place)
{
    MYR_SLOW_ASSERT(place < sim->finish.count);
    uint32_t id = sim->finish.items[place];
    while (place && sooner(sim, id, sim->finish.items[(place - 1) / 4])) {
        put(sim, place, sim->finish.items[(place - 1) / 4]);
        place = (place - 1) / 4;
    }
    put(sim, place, id);
}

static void down(struct myr_sim *sim, uint32_t place)
{
    MYR_SLOW_ASSERT(place < sim->finish.count);
    uint32_t id = sim->finish.items[place], count = (uint32_t)sim->finish.count;
    for (uint32_t first; (first = place * 4 + 1) < count;) {
        uint32_t best = first, end = first + 4 < count ? first + 4 : count;
        for (uint32_t c = first + 1; c < end; c++) {
            best = sooner(sim, sim->finish.items[c], sim->finish.items[best]) ? c : best;
        }
        if (!sooner(sim, sim->finish.items[best], id)) {
            break;
        }
        put(sim, place, sim->finish.items[best]);
        place = best;
    }
    put(sim, place, id);
}

/* Nothing to do where it is not in the heap. */
void sim_finish_drop(struct myr_sim *sim, uint32_t id)
{
    MYR_SLOW_ASSERT(id < sim->channel_count);
    uint32_t place = sim->finish_place[id];
    if (place == MYR_NONE) {
        return;
    }
    MYR_ASSERT(place < sim->finish.count);
    MYR_ASSERT(sim->finish.items[place] == id);
    uint32_t last = sim->finish.items[--sim->finish.count];
    sim->finish_place[id] = MYR_NONE;
    if (last != id) {
        put(sim, place, last);
        up(sim, place);
        down(sim, sim->finish_place[last]);
    }
}

/* When the first of those that the channel holds arrives; it holds somebody, and they move. */
static myr_ps wait_of(const struct myr_sim *sim, uint32_t id)
{
    MYR_SLOW_ASSERT(sim->fills[id].level > 0 && sim->fills[id].level != SIM_RATE_NONE);
    return sim_time_to_move(sim_left(sim, sim_first_held(sim, id)), sim->fills[id].level);
}

/* Never beyond the end of time, also where the wait is longer than all of it. */
static myr_ps moment_after(const struct myr_sim *sim, myr_ps wait)
{
    MYR_SLOW_ASSERT(wait >= 0);
    MYR_SLOW_ASSERT(sim->now <= SIM_TIME_MAX);
    return wait < SIM_TIME_MAX - sim->now ? sim->now + wait : SIM_TIME_MAX;
}

/* Whether its time in the heap is still none too late; without dividing. */
static bool early_enough(const struct myr_sim *sim, uint32_t id)
{
    MYR_SLOW_ASSERT(sim->finish_place[id] < sim->finish.count);
    uint64_t level = sim->fills[id].level;
    sim_moved left = sim_left(sim, sim_first_held(sim, id)), part = SIM_PS_PART_OF(level);
    myr_ps wait = sim->finish_at[id] - sim->now;
    MYR_ASSERT(wait >= 0);
    return wait == 0 || (left > part && left - part > (sim_moved)level * (uint64_t)(wait - 1));
}

/*
 * A time that is still early enough stays: most changes of a level then move nothing in the heap.
 */
void sim_finish_update(struct myr_sim *sim, uint32_t id)
{
    const struct sim_channel *channel = &sim->channels[id];
    MYR_SLOW_ASSERT(channel->held == 0 || sim->fills[id].level != SIM_RATE_NONE);
    if (channel->held == 0 || sim->fills[id].level == 0) {
        sim_finish_drop(sim, id); /* those that it holds stand still until something changes */
        return;
    }
    if (sim->finish_place[id] == MYR_NONE) {
        sim->finish_place[id] = (uint32_t)sim->finish.count;
        myr_vec_push(&sim->finish, id);
    } else if (early_enough(sim, id)) {
        return;
    }
    myr_ps wait = wait_of(sim, id);
    sim->finish_at[id] = moment_after(sim, wait - (wait >> EARLY_BITS));
    MYR_ASSERT(sim->finish_at[id] >= sim->now);
    MYR_ASSERT(sim->finish.items[sim->finish_place[id]] == id);
    up(sim, sim->finish_place[id]);
    down(sim, sim->finish_place[id]);
}

/* Exact only for the first: one that proves to be later goes down, and the next is looked at. */
myr_ps sim_finish_next(struct myr_sim *sim)
{
    while (sim->finish.count) {
        uint32_t id = sim->finish.items[0];
        myr_ps at = moment_after(sim, wait_of(sim, id));
        if (at <= sim->finish_at[id]) {
            MYR_ASSERT(sim->finish_at[id] >= sim->now);
            return sim->finish_at[id];
        }
        MYR_ASSERT(at >= sim->now && at <= SIM_TIME_MAX);
        sim->finish_at[id] = at;
        down(sim, 0);
    }
    return SIM_TIME_MAX;
}
