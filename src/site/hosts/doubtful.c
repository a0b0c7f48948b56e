#include "hosts/naming.h"

/*
 * Whose cables a switch has, before anything is known of hosts: by cables between switches alone.
 */

/* The device that the cable at a port of a switch belongs to, by its other end at a switch. */
static uint32_t home_of(const struct identify *identify, uint32_t own, uint32_t far)
{
    const struct myr_design *design = identify->design;
    uint32_t planned = myr_design_peer(design, far);
    bool hosts = myr_design_port_group(design, own)->role == MYR_PORT_NIC ||
                 myr_design_port_group(design, far)->role == MYR_PORT_NIC;
    return hosts || planned == MYR_NONE ? MYR_NONE : design->port_device[planned];
}

/* Counts cables between switches only: those of hosts are what is in question. */
uint8_t *naming_doubtful(const struct identify *identify)
{
    const struct myr_design *design = identify->design;
    const struct myr_cabling *cabling = identify->cabling;
    size_t devices = (size_t)design->device_count + 1;
    uint8_t *doubtful = MYR_ARENA_NEW(identify->arena, uint8_t, devices);
    uint32_t *cables = MYR_ARENA_NEW(identify->arena, uint32_t, devices);
    uint32_t *away = MYR_ARENA_NEW(identify->arena, uint32_t, devices);
    for (size_t i = 0; i < cabling->links.count; i++) {
        uint32_t a = identify_port(identify, cabling->links.items[i].a);
        uint32_t b = identify_port(identify, cabling->links.items[i].b);
        if (a == MYR_NONE || b == MYR_NONE) {
            continue;
        }
        const uint32_t ends[] = {a, b};
        for (uint32_t side = 0; side < 2; side++) {
            uint32_t device = design->port_device[ends[side]];
            uint32_t home = home_of(identify, ends[side], ends[!side]);
            cables[device] += home != MYR_NONE;
            away[device] += home != MYR_NONE && home != device;
        }
    }
    for (uint32_t d = 0; d < design->device_count; d++) {
        doubtful[d] = away[d] * 2 > cables[d];
    }
    return doubtful;
}
