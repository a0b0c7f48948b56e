/*
 * A small design for tests of this module: one rail group of nodes, one leaf a rail, spines above,
 * two ports in a cage. Built by hand, because the planner lies in another room.
 *
 * Include it after cmocka.
 */
#pragma once

#include "myriad/site.h"

struct small_shape {
    uint32_t nodes, rails, spines, pair_links;
};

enum { SMALL_GBPS = 400 };

static inline void small_types(struct myr_design *design, struct small_shape shape)
{
    design->devtype_count = 3;
    design->devtypes[0] = (struct myr_devtype){.group_count = 1,
                                               .port_count = shape.rails,
                                               .cages = shape.rails,
                                               .groups = {{.count = shape.rails,
                                                           .gbps = SMALL_GBPS,
                                                           .per_cage = 1,
                                                           .per_connector = 1,
                                                           .role = MYR_PORT_NIC}}};
    uint32_t up = shape.spines * shape.pair_links, down_cages = (shape.nodes + 1) / 2;
    design->devtypes[1] = (struct myr_devtype){.group_count = 2,
                                               .port_count = shape.nodes + up,
                                               .cages = down_cages + (up + 1) / 2,
                                               .groups = {{.count = shape.nodes,
                                                           .gbps = SMALL_GBPS,
                                                           .per_cage = 2,
                                                           .per_connector = 1,
                                                           .role = MYR_PORT_DOWN},
                                                          {.first = shape.nodes,
                                                           .count = up,
                                                           .gbps = SMALL_GBPS,
                                                           .per_cage = 2,
                                                           .per_connector = 1,
                                                           .first_cage = (uint16_t)down_cages,
                                                           .role = MYR_PORT_UP}}};
    uint32_t spine_ports = shape.rails * shape.pair_links + 2; /* two are spare */
    design->devtypes[2] = (struct myr_devtype){.group_count = 1,
                                               .port_count = spine_ports,
                                               .cages = (spine_ports + 1) / 2,
                                               .groups = {{.count = spine_ports,
                                                           .gbps = SMALL_GBPS,
                                                           .per_cage = 2,
                                                           .per_connector = 1,
                                                           .role = MYR_PORT_DOWN}}};
}

static inline void small_devices(struct myr_design *design, struct small_shape shape)
{
    const enum myr_device_kind kinds[] = {MYR_DEVICE_NODE, MYR_DEVICE_LEAF, MYR_DEVICE_SPINE};
    const uint8_t styles[] = {MYR_NAME_PLAIN, MYR_NAME_POD_GROUP, MYR_NAME_POD};
    const uint32_t counts[] = {shape.nodes, shape.rails, shape.spines};
    for (uint32_t t = 0; t < 3; t++) {
        for (uint32_t i = 0; i < counts[t]; i++) {
            uint32_t d = design->device_count++;
            design->place[d] = (struct myr_place){.ordinal = i,
                                                  .kind = (uint8_t)kinds[t],
                                                  .net = t ? MYR_NET_COMPUTE : MYR_NET_COUNT,
                                                  .plane = MYR_PLANE_NONE,
                                                  .style = styles[t]};
            design->device_type[d] = (uint16_t)t;
            design->device_rack[d] = MYR_NONE;
            design->first_port[d + 1] = design->first_port[d] + design->devtypes[t].port_count;
        }
    }
    design->port_count = design->first_port[design->device_count];
}

static inline void small_join(struct myr_design *design, uint32_t a, uint32_t b)
{
    uint32_t link = design->link_count++;
    design->link_a[link] = a;
    design->link_b[link] = b;
    design->link_cable[link] = design->cable_count++;
    design->port_link[a] = design->port_link[b] = link;
}

static inline void small_links(struct myr_design *design, struct small_shape shape)
{
    for (uint32_t leaf = 0; leaf < shape.rails; leaf++) {
        uint32_t leaf_port = design->first_port[shape.nodes + leaf];
        for (uint32_t node = 0; node < shape.nodes; node++) {
            small_join(design, design->first_port[node] + leaf, leaf_port + node);
        }
        for (uint32_t up = 0; up < shape.spines * shape.pair_links; up++) {
            uint32_t spine = shape.nodes + shape.rails + up / shape.pair_links;
            small_join(design, leaf_port + shape.nodes + up,
                       design->first_port[spine] + leaf * shape.pair_links + up % shape.pair_links);
        }
    }
}

static inline void small_design(struct myr_design *design, struct myr_arena *arena,
                                struct small_shape shape)
{
    uint32_t devices = shape.nodes + shape.rails + shape.spines;
    *design = (struct myr_design){};
    design->head = MYR_ARENA_ONE(arena, struct myr_design_head);
    design->networks = MYR_ARENA_NEW(arena, struct myr_network, MYR_NET_COUNT);
    design->place = MYR_ARENA_NEW(arena, struct myr_place, devices);
    design->device_type = MYR_ARENA_NEW(arena, uint16_t, devices);
    design->device_rack = MYR_ARENA_NEW(arena, uint32_t, devices);
    design->first_port = MYR_ARENA_NEW(arena, uint32_t, devices + 1);
    design->devtypes = MYR_ARENA_NEW(arena, struct myr_devtype, 3);
    design->cabletypes = MYR_ARENA_ONE(arena, struct myr_cabletype);
    design->cabletypes[0] = (struct myr_cabletype){.gbps = SMALL_GBPS, .legs = 1};
    design->cabletype_count = 1;
    static char strings[] = "\0small";
    design->strings = strings;
    design->string_bytes = sizeof(strings);
    design->head->name = 1;
    design->head->nodes = shape.nodes;
    small_types(design, shape);
    small_devices(design, shape);
    size_t ports = design->port_count;
    design->port_device = MYR_ARENA_NEW(arena, uint32_t, ports);
    design->port_link = MYR_ARENA_NEW(arena, uint32_t, ports);
    design->link_a = MYR_ARENA_NEW(arena, uint32_t, ports);
    design->link_b = MYR_ARENA_NEW(arena, uint32_t, ports);
    design->link_cable = MYR_ARENA_NEW(arena, uint32_t, ports);
    design->cable_type = MYR_ARENA_NEW(arena, uint16_t, ports);
    for (uint32_t d = 0; d < devices; d++) {
        for (uint32_t p = design->first_port[d]; p < design->first_port[d + 1]; p++) {
            design->port_device[p] = d;
            design->port_link[p] = MYR_NONE;
        }
    }
    small_links(design, shape);
    design->networks[MYR_NET_COMPUTE] =
        (struct myr_network){.topology = MYR_TOPOLOGY_RAIL,
                             .tiers = 2,
                             .planes = 1,
                             .rails = shape.rails,
                             .units = 1,
                             .leaf = shape.rails,
                             .spine = shape.spines,
                             .pods = 1,
                             .pod_leaves = shape.rails,
                             .pod_spines = shape.spines,
                             .group_nodes = shape.nodes,
                             .first_leaf = shape.nodes,
                             .first_spine = shape.nodes + shape.rails};
}
