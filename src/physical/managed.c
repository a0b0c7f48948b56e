#include "physical_internal.h"

/*
 * A room whose power strips are managed: every rack in which something stands has a strip on the
 * out-of-band network for each of its feeds. Without named feeds there are two, as racks have.
 * That the port of a strip has its cable is seen with all other ports.
 */

enum { FEEDS_UNNAMED = 2 };

void physical_managed(struct physical *physical)
{
    const struct myr_design *design = physical->design;
    if (!design->room || !design->room->managed || !design->networks[MYR_NET_OOB].topology) {
        return;
    }
    uint32_t *strips = MYR_ARENA_NEW(physical->arena, uint32_t, design->rack_count);
    for (uint32_t i = 0; i < design->device_count; i++) {
        if (design->place[i].kind == MYR_DEVICE_PDU && design->device_rack[i] != MYR_NONE) {
            strips[design->device_rack[i]]++;
        }
    }
    for (uint32_t i = 0; i < design->rack_count; i++) {
        const struct myr_rack_more *more = &design->rack_more[i];
        uint32_t feeds = (design->racks[i].power_feed != MYR_NONE) + (more->power_b != MYR_NONE);
        feeds = design->power_count ? feeds : FEEDS_UNNAMED;
        if (more->units > 0 && strips[i] < feeds) {
            physical_report(physical, PHYSICAL_UNMANAGED, "oob", feeds - strips[i],
                            "a rack in use has fewer power strips on the network than feeds");
        }
    }
}
