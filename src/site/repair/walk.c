#include "repair/repair.h"

/* Where things stand, as far as the design knows: in racks, or else in the order of its parts. */

/* As large numbers come later on the way; within one place by kind. */
struct spot {
    uint32_t pod, unit, kind;
};

/* Places of nodes follow from their group; switches have theirs. */
static struct spot spot_of(const struct myr_design *design, uint32_t device)
{
    enum { BEHIND_ALL = 0xFFFFF }; /* spines after the groups of their pod, cores after all pods */
    const struct myr_place *place = &design->place[device];
    const struct myr_network *net =
        &design->networks[place->net < MYR_NET_COUNT ? place->net : MYR_NET_COMPUTE];
    struct spot spot = {place->pod, place->unit, place->kind};
    /* Rail groups of a pod; 1 where there are no rails. */
    uint32_t groups =
        net->rails && net->pod_leaves >= net->rails ? net->pod_leaves / net->rails : 1;
    switch ((enum myr_device_kind)place->kind) {
    case MYR_DEVICE_NODE: {
        uint32_t group = net->group_nodes ? place->ordinal / net->group_nodes : 0;
        spot.pod = group / groups;
        spot.unit = group % groups;
        break;
    }
    case MYR_DEVICE_SPINE:
        spot.unit = BEHIND_ALL;
        break;
    case MYR_DEVICE_CORE:
        spot.unit = place->pod;
        spot.pod = BEHIND_ALL;
        break;
    default:
        break;
    }
    return spot;
}

/* Racks where they are known, else the order of the design. */
uint32_t repair_distance(const struct myr_design *design, uint32_t device_a, uint32_t device_b)
{
    if (device_a == device_b) {
        return 0;
    }
    uint32_t rack_a = design->device_rack[device_a], rack_b = design->device_rack[device_b];
    if (rack_a != MYR_NONE && rack_a == rack_b) {
        return 1;
    }
    struct spot a = spot_of(design, device_a), b = spot_of(design, device_b);
    if (a.pod != b.pod) {
        return 3;
    }
    return a.unit == b.unit ? 1 : 2;
}

/*
 * Racks come first, in their own order; what has none is behind all racks, by pod, group and kind.
 */
uint64_t repair_walk_key(const struct myr_design *design, uint32_t device)
{
    uint32_t rack = design->device_rack[device];
    if (rack != MYR_NONE) {
        return rack;
    }
    struct spot spot = spot_of(design, device);
    return UINT64_C(1) << 63 | (uint64_t)(spot.pod & 0xFFFFF) << 40 |
           (uint64_t)(spot.unit & 0xFFFFF) << 20 | spot.kind;
}

uint32_t repair_pod(const struct myr_design *design, uint32_t device)
{
    return spot_of(design, device).pod;
}
