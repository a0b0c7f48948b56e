#include "plan_internal.h"

/*
 * What stands in racks without being a device of a network. A room has places for it, and without
 * a room the estimate of racks counts its units: both ask here, so that they mean the same.
 */

uint64_t plan_started_pieces(double quantity)
{
    uint64_t whole = (uint64_t)quantity;
    return whole + (quantity - (double)whole > quantity * 1e-15);
}

/* Servers of a tier of storage; those of the flash are devices. */
static bool tier_pieces(const struct plan *plan, uint32_t tier, struct plan_pieces *ret)
{
    ret->what = "a storage server";
    ret->count = plan->storage_servers ? plan_tier_servers(plan, tier, &ret->part) : 0;
    return ret->count > 0;
}

/* A box that the spec orders by the piece. What goes by GPU, port or server is no box. */
static bool item_pieces(const struct plan *plan, size_t index, struct plan_pieces *ret)
{
    const struct myr_spec_item *item = &plan->spec->items.items[index];
    ret->what = "an item";
    ret->part = item->part;
    ret->count = plan_started_pieces(item->quantity);
    return part_at(plan, item->part)->kind == MYR_PART_DEVICE && item->per == MYR_PER_PIECE &&
           ret->count > 0;
}

bool plan_next_pieces(const struct plan *plan, struct plan_pieces *at)
{
    while (at->next < MYR_TIER_COUNT + plan->spec->items.count) {
        size_t here = at->next++;
        bool found = here < MYR_TIER_COUNT ? tier_pieces(plan, (uint32_t)here, at)
                                           : item_pieces(plan, here - MYR_TIER_COUNT, at);
        /* What takes no units stands in no rack. */
        if (found && part_at(plan, at->part)->rack_units > 0) {
            return true;
        }
    }
    return false;
}
