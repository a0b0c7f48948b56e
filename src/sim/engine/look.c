#include "engine/rates.h"

/* The channels that a solve looks at: the lowest key first, of equal ones the lowest number. */

/* The number decides between equals, so that every machine settles in the same order. */
static bool heap_before(struct sim_fill_place a, struct sim_fill_place b)
{
    MYR_SLOW_ASSERT(a.channel != b.channel);
    return a.key < b.key || (a.key == b.key && a.channel < b.channel);
}

/* Its key has changed: it is taken from the channel. */
static void heap_up(struct myr_sim *sim, uint32_t place)
{
    MYR_SLOW_ASSERT(place < sim->fill_heap.count);
    struct sim_fill_place item = sim_fills_item(sim, sim->fill_heap.items[place].channel);
    while (place && heap_before(item, sim->fill_heap.items[(place - 1) / 4])) {
        sim_fills_put(sim, place, sim->fill_heap.items[(place - 1) / 4]);
        place = (place - 1) / 4;
    }
    sim_fills_put(sim, place, item);
    MYR_SLOW_ASSERT(sim->fills[item.channel].place < sim->fill_heap.count);
}

/* Four children a place: the heap is shallower, and what is compared lies side by side. */
void sim_fills_down(struct myr_sim *sim, uint32_t place)
{
    MYR_SLOW_ASSERT(place < sim->fill_heap.count);
    struct sim_fill_place item = sim_fills_item(sim, sim->fill_heap.items[place].channel);
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
        sim_fills_put(sim, place, items[best]);
        place = best;
    }
    sim_fills_put(sim, place, item);
}

/* From the last one with children upwards: cheaper than putting each in by itself. */
void sim_fills_order(struct myr_sim *sim)
{
    for (uint32_t i = (uint32_t)sim->fill_heap.count / 4 + 1; i-- > 0;) {
        if (i < sim->fill_heap.count) {
            sim_fills_down(sim, i);
        }
    }
    MYR_SLOW_ASSERT(sim_looks_right(sim));
}

/* The last item goes to the front and down again. */
void sim_fills_pop(struct myr_sim *sim)
{
    MYR_SLOW_ASSERT(sim->fill_heap.count > 0);
    MYR_SLOW_ASSERT(sim->fills[sim->fill_heap.items[0].channel].place == 0);
    struct sim_fill_place last = sim->fill_heap.items[--sim->fill_heap.count];
    sim->fills[sim->fill_heap.items[0].channel].place = MYR_NONE;
    if (sim->fill_heap.count) {
        sim_fills_put(sim, 0, last);
        sim_fills_down(sim, 0);
    }
}

/* A key is set lower than the level by this part of it. */
enum { MARGIN_BITS = 8 };

/* A channel without anybody, or one that is settled, has nothing to be looked at for. */
void sim_look_at(struct myr_sim *sim, uint32_t id)
{
    MYR_SLOW_ASSERT(id < sim->channel_count);
    struct sim_fill *fill = &sim->fills[id];
    if (fill->place == MYR_NONE) {
        if (fill->held_weight + fill->loose_weight == 0) {
            return;
        }
        if (sim_is_settled(fill)) {
            return;
        }
        fill->key = sim_key_at(sim, fill, sim_level_of(fill));
        fill->place = (uint32_t)sim->fill_heap.count;
        myr_vec_push(&sim->fill_heap, sim_fills_item(sim, id));
        heap_up(sim, fill->place);
        return;
    }
    MYR_SLOW_ASSERT(sim->fill_heap.items[fill->place].channel == id);
    /*
     * It waits for a rise beyond the short cut: then it has to be looked at when its old level is
     * reached.
     */
    if (fill->held_weight && fill->key > sim_short_rise(sim, fill->level)) {
        fill->key = fill->level;
        heap_up(sim, fill->place);
    }
    /* Without dividing: whether the level is below the key. */
    uint64_t weight = fill->held_weight + fill->loose_weight;
    if (fill->room < (__int128)((sim_moved)fill->key * weight)) {
        /* A little lower than it is: what takes away more in a moment changes nothing then. */
        uint64_t level = sim_level_of(fill);
        fill->key = level - (level >> MARGIN_BITS);
        heap_up(sim, fill->place);
    }
}
