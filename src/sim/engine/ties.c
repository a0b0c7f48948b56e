#include "engine/internal.h"

/*
 * Which rooms move with a level.
 *
 * In a full fabric a level changes a hundred times before anybody who has it goes elsewhere, and
 * each time the rooms of the other full channels of all these transfers change by it. So a channel
 * keeps, beside whom it holds, with which channels these tie it, and by what weight: a change is a
 * walk through one short list, whatever the number of transfers, and channels that many of them
 * share are written once. Channels that reserve (room.c) are not in it: of these one number is
 * kept, the least that is reserved; below it none of them has to be looked at.
 *
 * Ties follow from the rest of the state, so they are not saved; in the order of channels, so that
 * they are the same however they came about. Wide transfers, as of spray and of collapsed
 * collectives, share nothing with each other and would be long lists: they have no ties.
 */

/* NULL where there are none: then there may be no block either. */
static struct sim_tie *ties_of(const struct myr_sim *sim, uint32_t holder)
{
    MYR_SLOW_ASSERT(holder < sim->channel_count);
    const struct sim_bond *bond = &sim->bonds[holder];
    MYR_SLOW_ASSERT(bond->tie_count == 0 || bond->first_tie < sim->ties.count);
    return bond->tie_count ? &sim->ties.items[bond->first_tie] : NULL;
}

/* Where the channel is in the list, or where it belongs. */
static uint32_t place_of(const struct sim_tie *ties, uint32_t count, uint32_t channel)
{
    uint32_t first = 0;
    while (count) {
        uint32_t half = count / 2;
        bool right = ties[first + half].channel < channel;
        first = right ? first + half + 1 : first;
        count = right ? count - half - 1 : half;
    }
    MYR_SLOW_ASSERT(first == 0 || ties[first - 1].channel < channel);
    return first;
}

/* For one more tie: a full block is left for one of twice the size. */
static void make_room(struct myr_sim *sim, struct sim_bond *bond)
{
    bool none = bond->first_tie == MYR_NONE;
    if (!none && bond->tie_count < UINT32_C(1) << bond->tie_class) {
        return;
    }
    enum { LEAST = 2 }; /* four ties are a line of the cache */
    uint32_t grow, class = none ? LEAST : bond->tie_class + 1;
    uint32_t first = sim_take_block(&sim->free_ties, class, sim->ties.count, &grow);
    myr_vec_reserve(&sim->ties, sim->ties.count + grow);
    sim->ties.count += grow;
    if (!none) {
        memcpy(&sim->ties.items[first], &sim->ties.items[bond->first_tie],
               bond->tie_count * sizeof(*sim->ties.items));
        myr_vec_push(&sim->free_ties.blocks[bond->tie_class], bond->first_tie);
    }
    bond->first_tie = first;
    bond->tie_class = class;
    MYR_ASSERT(bond->tie_count < UINT32_C(1) << class);
    MYR_ASSERT(first < sim->ties.count);
}

/* Kept in the order of channels; several transfers over one channel are one tie. */
void sim_tie(struct myr_sim *sim, uint32_t holder, struct sim_hop hop)
{
    struct sim_bond *bond = &sim->bonds[holder];
    MYR_ASSERT(holder != hop.channel);
    MYR_ASSERT(!sim_reserves(&sim->fills[hop.channel]));
    if (hop.weight == 0) { /* it moves nothing there */
        return;
    }
    uint32_t place = place_of(ties_of(sim, holder), bond->tie_count, hop.channel);
    if (place < bond->tie_count && ties_of(sim, holder)[place].channel == hop.channel) {
        ties_of(sim, holder)[place].weight += hop.weight;
        return;
    }
    make_room(sim, bond);
    MYR_SLOW_ASSERT(place <= bond->tie_count);
    struct sim_tie *ties = &sim->ties.items[bond->first_tie];
    memmove(&ties[place + 1], &ties[place], (bond->tie_count - place) * sizeof(*ties));
    ties[place] = (struct sim_tie){.channel = hop.channel, .weight = hop.weight};
    bond->tie_count++;
    MYR_SLOW_ASSERT(place == 0 || ties[place - 1].channel < hop.channel);
    MYR_SLOW_ASSERT(place + 1 == bond->tie_count || hop.channel < ties[place + 1].channel);
}

/* A tie whose weight is gone leaves the list: no empty ones are walked over. */
void sim_untie(struct myr_sim *sim, uint32_t holder, struct sim_hop hop)
{
    struct sim_bond *bond = &sim->bonds[holder];
    struct sim_tie *ties = ties_of(sim, holder);
    MYR_SLOW_ASSERT(holder != hop.channel && !sim_reserves(&sim->fills[hop.channel]));
    if (hop.weight == 0) {
        return;
    }
    uint32_t place = place_of(ties, bond->tie_count, hop.channel);
    MYR_ASSERT(place < bond->tie_count);
    MYR_ASSERT(ties[place].channel == hop.channel);
    MYR_ASSERT(ties[place].weight >= hop.weight);
    ties[place].weight -= hop.weight;
    if (ties[place].weight == 0) {
        bond->tie_count--;
        memmove(&ties[place], &ties[place + 1], (bond->tie_count - place) * sizeof(*ties));
    }
}

/*
 * From the slots in their order; sim_tie() sorts, so the result is that of the run that was saved.
 */
void sim_ties_make(struct myr_sim *sim)
{
    MYR_ASSERT(sim->ways.count == sim->slots.count);
    for (uint32_t slot = 0; slot < sim->ways.count; slot++) {
        struct sim_way way = sim->ways.items[slot];
        if (sim->slots.items[slot].task == MYR_NONE) {
            continue; /* what its way says is of nobody, and was not looked at */
        }
        MYR_ASSERT(!(way.holder & SIM_LOOSE));
        if (sim_wide(&way)) {
            sim->bonds[way.holder].wide++;
            continue;
        }
        for (uint32_t i = way.first_hop; i < way.first_hop + way.hop_count; i++) {
            struct sim_hop hop = sim->hops.items[i];
            if (hop.channel == way.holder) {
                continue;
            }
            if (sim_reserves(&sim->fills[hop.channel])) {
                sim_bond_reserved(sim, way.holder, hop.reserved);
            } else {
                MYR_SLOW_ASSERT(hop.channel < sim->channel_count);
                sim_tie(sim, way.holder, hop);
            }
        }
    }
}

/* Compared by a sum over channels and weights: of what is tied, and of those that it holds. */
bool sim_bond_right(const struct myr_sim *sim, uint32_t id)
{
    const struct sim_bond *bond = &sim->bonds[id];
    const struct sim_channel *channel = &sim->channels[id];
    uint64_t tied = 0, held = 0;
    uint32_t wide = 0;
    for (uint32_t t = 0; t < bond->tie_count; t++) {
        struct sim_tie tie = ties_of(sim, id)[t];
        if (sim_reserves(&sim->fills[tie.channel]) || tie.weight == 0 ||
            (t && ties_of(sim, id)[t - 1].channel >= tie.channel)) {
            return false;
        }
        tied += tie.weight * (tie.channel + UINT64_C(1));
    }
    for (uint32_t e = 0; e < channel->held; e++) {
        struct sim_way way = sim->ways.items[sim->entries.items[channel->first_entry + e].slot];
        wide += sim_wide(&way);
        for (uint32_t i = 0; !sim_wide(&way) && i < way.hop_count; i++) {
            struct sim_hop hop = sim->hops.items[way.first_hop + i];
            if (hop.channel == id) {
                continue;
            }
            if (!sim_reserves(&sim->fills[hop.channel])) {
                held += hop.weight * (hop.channel + UINT64_C(1));
            } else if (hop.reserved < bond->least_reserved) {
                return false;
            }
        }
    }
    return tied == held && wide == bond->wide;
}
