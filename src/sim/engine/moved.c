#include "engine/internal.h"

/* What transfers under way have moved, counted on the channels that they moved over. */

/* Counts what has moved since it was last counted, on the channels that it moved over. */
void sim_count_bytes(struct myr_sim *sim, uint32_t slot)
{
    struct sim_slot *own = &sim->slots.items[slot];
    sim_moved left = sim_left(sim, slot);
    MYR_ASSERT(left <= own->counted);
    uint64_t bits = (uint64_t)((own->counted - left) / SIM_MOVED_PER_BIT);
    bits -= left ? bits % 8 : 0; /* whole bytes; the rest is counted next time */
    struct sim_way way = sim->ways.items[slot];
    for (uint32_t i = way.first_hop; i < way.first_hop + way.hop_count; i++) {
        const struct sim_hop *hop = &sim->hops.items[i];
        if (i + SIM_AHEAD < way.first_hop + way.hop_count) {
            __builtin_prefetch(&sim->channels[hop[SIM_AHEAD].channel].bytes, 1);
        }
        sim->channels[hop->channel].bytes += /* bits to bytes, and the weight's thousandths */
            (uint64_t)((unsigned __int128)bits * hop->weight / 8000);
    }
    own->counted -= (sim_moved)bits * SIM_MOVED_PER_BIT;
    MYR_ASSERT(own->counted - left < 8 * SIM_MOVED_PER_BIT); /* less than a byte is left out */
}

/* Its holder's level rises when it goes: the next solve must look there. */
void sim_touch_holder(struct myr_sim *sim, uint32_t slot)
{
    uint32_t holder = sim->ways.items[slot].holder;
    MYR_ASSERT(holder == MYR_NONE || holder < sim->channel_count); /* loose: only in a solve */
    if (holder != MYR_NONE) {
        sim_touch(sim, holder);
    }
}
