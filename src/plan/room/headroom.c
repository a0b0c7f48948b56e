#include "room/room.h"

/*
 * Lossless Ethernet keeps room in the switch for what is still on its way when it says stop: more,
 * the longer the cable. The figures are those of the published buffer tables of Spectrum-4 boxes,
 * whose lengths are 5, 40 and 300 m: a cable counts as the next of them.
 *
 *   xoff = M + k (P + 2 L v / 8 c + phy + 64 q + tile), rounded up to 1 KiB
 *   size = xoff + xon, with eight lanes (800G) also P and twice the xon
 */

enum {
    LOSSLESS_MTU = 1024,
    PORT_MTU = 9216,
    PHY_BYTES = 800,
    CELLS = 3,        /* of 192 bytes for a packet of 64 */
    TILE_BYTES = 15,  /* for each Gb/s */
    PIPELINE = 19456, /* xon */
    KIB = 1024,
};

/* Times of 64 bytes until the other side stops, by speed. */
static double pause_quanta(uint32_t gbps)
{
    return gbps >= 400 ? 905 : gbps >= 200 ? 453 : 394;
}

/* Longer cables than the table has are taken as they are. */
uint64_t room_headroom_bytes(uint32_t gbps, double length_m)
{
    static const double table_m[] = {5, 40, 300};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(table_m); i++) {
        if (length_m <= table_m[i]) {
            length_m = table_m[i];
            break;
        }
    }
    /* There and back, at 1.98e8 m/s in the fibre. */
    double on_wire = 2 * length_m * gbps * 1e9 / 8 / 1.98e8;
    double xoff = LOSSLESS_MTU + CELLS * (PORT_MTU + on_wire + PHY_BYTES + 64 * pause_quanta(gbps) +
                                          (double)TILE_BYTES * gbps);
    uint64_t rounded = ((uint64_t)xoff + KIB) / KIB * KIB;
    bool eight_lanes = gbps >= 800;
    return rounded + (uint64_t)PIPELINE * (eight_lanes ? 2 : 1) + (eight_lanes ? PORT_MTU : 0);
}

/* Over all ports in use; each lossless class keeps its own. */
static uint64_t device_bytes(const struct room *room, uint32_t device, uint32_t *ret_ports)
{
    const struct myr_design *design = &room->plan->design;
    uint64_t bytes = 0;
    *ret_ports = 0;
    for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
        uint32_t link = design->port_link[p];
        if (link != MYR_NONE) {
            uint32_t cable = design->link_cable[link];
            const struct myr_cabletype *type =
                &room->plan->cabletypes.items[design->cable_type[cable]];
            bytes += room_headroom_bytes(type->gbps, type->length_mm / 1000.0);
            ++*ret_ports;
        }
    }
    return bytes * room->spec->lossless_classes;
}

/* The worst switch of a tier is named. Parts that state no buffer, and InfiniBand, are left out. */
static void check_tier(struct room *room, uint32_t part, uint32_t first, uint32_t count)
{
    struct plan *plan = room->plan;
    if (count == 0 || part == MYR_PART_NONE) {
        return;
    }
    const struct myr_part *sw = part_at(plan, part);
    uint64_t most = 0;
    uint32_t worst = first, ports = 0;
    /* InfiniBand has credits instead of pauses. */
    if (sw->kind != MYR_PART_SWITCH || sw->sw.technology != MYR_TECH_ETHERNET ||
        sw->sw.buffer_mb <= 0) {
        return;
    }
    for (uint32_t i = first; i < first + count; i++) {
        uint32_t used;
        uint64_t bytes = device_bytes(room, i, &used);
        if (bytes > most) {
            most = bytes;
            worst = i;
            ports = used;
        }
    }
    if ((double)most > sw->sw.buffer_mb * 1e6) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
        myr_design_name(&plan->design, worst, &name);
        plan_finding(plan, MYR_SEVERITY_WARNING, "pfc-headroom", name.data,
                     "shorten its cables, use fewer lossless classes, or a box with more buffer",
                     "%u ports in %u lossless class%s keep %.1f MB free for what is on its way, %s "
                     "has a buffer of %g MB",
                     ports, room->spec->lossless_classes,
                     room->spec->lossless_classes == 1 ? "" : "es", (double)most / 1e6, sw->order,
                     sw->sw.buffer_mb);
    }
}

/* Compute and storage, tier by tier. */
void room_headroom(struct room *room)
{
    /* Networks that carry RDMA; access networks do not. */
    static const uint32_t nets[] = {MYR_NET_COMPUTE, MYR_NET_STORAGE};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(nets); i++) {
        const struct net_plan *net = &room->plan->nets[nets[i]];
        if (net->present && net->out.topology != MYR_TOPOLOGY_ACCESS) {
            check_tier(room, net->leaf_part, net->out.first_leaf, net->out.leaf);
            check_tier(room, net->spine_part, net->out.first_spine, net->out.spine);
            check_tier(room, net->core_part, net->out.first_core, net->out.core);
        }
    }
}
