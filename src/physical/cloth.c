#include "cloth.h"

/*
 * A network's switches as a graph in rows: start[i] .. start[i + 1] are the edges of switch i.
 * Links are counted, put, then parallel ones merged, each in one pass over the design.
 */

/* Relies on the order of enum myr_device_kind: leaf, spine, core, router, access, aggregation. */
static bool is_switch(const struct myr_place *place, uint32_t net)
{
    return place->net == net && place->kind >= MYR_DEVICE_LEAF &&
           place->kind <= MYR_DEVICE_AGGREGATION;
}

static const struct myr_cabletype *type_of(const struct myr_design *design, uint32_t link)
{
    return &design->cabletypes[design->cable_type[design->link_cable[link]]];
}

/* The port must be one of this network's switches. */
static uint32_t switch_at(const struct cloth *cloth, uint32_t port)
{
    return cloth->design->port_device[port] - cloth->first_device;
}

/*
 * All links between switches, each from both ends, behind the other links of its switch. Two
 * passes: how many each switch has, then the edges themselves.
 */
static void put_links(struct cloth *cloth, struct myr_arena *arena, uint32_t net)
{
    const struct myr_design *design = cloth->design;
    uint32_t hosts = 0;
    for (uint32_t link = 0; link < design->link_count; link++) {
        const struct myr_cabletype *type = type_of(design, link);
        if (type->net == net && type->layer == MYR_LAYER_HOST) {
            hosts++;
        } else if (type->net == net) {
            cloth->start[switch_at(cloth, design->link_a[link]) + 1]++;
            cloth->start[switch_at(cloth, design->link_b[link]) + 1]++;
        }
    }
    for (uint32_t i = 0; i < cloth->switches; i++) {
        cloth->start[i + 1] += cloth->start[i];
    }
    cloth->edges = MYR_ARENA_NEW(arena, struct cloth_edge, cloth->start[cloth->switches]);
    cloth->hosts = MYR_ARENA_NEW(arena, struct cloth_host, hosts);
    uint32_t *next = MYR_ARENA_NEW(arena, uint32_t, cloth->switches);
    memcpy(next, cloth->start, cloth->switches * sizeof(*next));
    for (uint32_t link = 0; link < design->link_count; link++) {
        const struct myr_cabletype *type = type_of(design, link);
        uint32_t a = design->link_a[link], b = design->link_b[link];
        if (type->net == net && type->layer == MYR_LAYER_HOST) {
            uint32_t at = switch_at(cloth, b);
            cloth->hosts[cloth->host_count++] =
                (struct cloth_host){design->port_device[a], at, type->gbps};
            cloth->ports[at]++;
            cloth->port_gbps[at] += type->gbps;
        } else if (type->net == net) {
            uint32_t from = switch_at(cloth, a), to = switch_at(cloth, b);
            cloth->edges[next[from]++] = (struct cloth_edge){to, type->gbps};
            cloth->edges[next[to]++] = (struct cloth_edge){from, type->gbps};
        }
    }
}

/*
 * Parallel links become one edge; the edges move together. 'seen' is never cleared: a place up to
 * 'first' was left by a switch before this one, which is what makes the pass linear.
 */
static void merge_links(struct cloth *cloth, struct myr_arena *arena)
{
    uint32_t *seen =
        MYR_ARENA_NEW(arena, uint32_t, cloth->switches); /* place of the edge, plus 1 */
    uint32_t kept = 0, begin = 0;
    for (uint32_t i = 0; i < cloth->switches; i++) {
        uint32_t end = cloth->start[i + 1], first = kept;
        for (uint32_t e = begin; e < end; e++) {
            struct cloth_edge edge = cloth->edges[e];
            uint32_t *at = &seen[edge.to];
            if (*at > first) {
                cloth->edges[*at - 1].gbps += edge.gbps;
            } else {
                cloth->edges[kept++] = edge;
                *at = kept;
            }
        }
        begin = end;
        cloth->start[i] = first;
    }
    cloth->start[cloth->switches] = kept;
}

/*
 * Which switches reach each other at all, by search from each that was not met yet. Planes and the
 * rails of rail-only come out as fabrics of their own.
 */
static void find_fabrics(struct cloth *cloth, struct myr_arena *arena)
{
    uint32_t *queue = MYR_ARENA_NEW(arena, uint32_t, cloth->switches);
    /* MYR_NONE in every entry: not reached yet. */
    memset(cloth->fabric, 0xFF, cloth->switches * sizeof(*cloth->fabric));
    for (uint32_t i = 0; i < cloth->switches; i++) {
        if (cloth->fabric[i] != MYR_NONE) {
            continue;
        }
        uint32_t head = 0, tail = 0;
        cloth->fabric[i] = cloth->fabrics;
        queue[tail++] = i;
        while (head < tail) {
            uint32_t at = queue[head++];
            for (uint32_t e = cloth->start[at]; e < cloth->start[at + 1]; e++) {
                uint32_t to = cloth->edges[e].to;
                if (cloth->fabric[to] == MYR_NONE) {
                    cloth->fabric[to] = cloth->fabrics;
                    queue[tail++] = to;
                }
            }
        }
        cloth->fabrics++;
    }
}

/* The switches of a network are neighbours in the arrays, so first and last one bound them. */
void cloth_init(struct cloth *cloth, struct myr_arena *arena, const struct myr_design *design,
                uint32_t net)
{
    *cloth = (struct cloth){.design = design, .first_device = MYR_NONE};
    for (uint32_t device = 0; device < design->device_count; device++) {
        if (is_switch(&design->place[device], net)) {
            cloth->first_device = cloth->first_device == MYR_NONE ? device : cloth->first_device;
            cloth->switches = device - cloth->first_device + 1;
        }
    }
    cloth->start = MYR_ARENA_NEW(arena, uint32_t, (size_t)cloth->switches + 1);
    cloth->ports = MYR_ARENA_NEW(arena, uint32_t, cloth->switches);
    cloth->port_gbps = MYR_ARENA_NEW(arena, uint64_t, cloth->switches);
    cloth->fabric = MYR_ARENA_NEW(arena, uint32_t, cloth->switches);
    put_links(cloth, arena, net);
    merge_links(cloth, arena);
    find_fabrics(cloth, arena);
}
