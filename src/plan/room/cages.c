#include "room/room.h"

/*
 * Cages that are near. A layer is cut for the longest of its cables (cut.c), and one that goes to
 * the next row makes all of it fibre: a leaf in the middle of its rack then had no copper, because
 * one server of the hall stood in another rack. So where copper carries several links of a cage and
 * fibre one each, every cage is looked at by itself: if all its links are within the reach of
 * copper, they share such a cable.
 */

struct near {
    uint16_t kind;     /* of copper, as long as copper of the layer may be */
    uint32_t reach_mm; /* 0: there is none */
    uint32_t legs;
};

/* Copper for a layer of fibre, the longest that there is. */
static struct near copper_for(struct room *room, struct net_plan *net, enum myr_layer layer,
                              uint32_t host_class)
{
    const struct plan *plan = room->plan;
    uint16_t now =
        layer == MYR_LAYER_HOST ? net->host_cabletype[host_class] : net->layer_cabletype[layer];
    struct myr_cabletype type = plan->cabletypes.items[now];
    uint32_t pin = layer == MYR_LAYER_HOST ? MYR_PIN_HOST_CABLE : MYR_PIN_FABRIC_CABLE;
    struct near near = {.kind = MYR_CABLETYPE_NONE};
    if (!type.part || type.medium == MYR_MEDIUM_COPPER || net->spec->pins[pin] != MYR_PART_NONE) {
        return near;
    }
    for (uint32_t step = 0; step < ROOM_STEPS; step++) {
        uint16_t kind = room_ask_kind(room, net, layer, host_class, step, MYR_CABLETYPE_NONE);
        const struct myr_cabletype *found = &plan->cabletypes.items[kind];
        if (found->medium != MYR_MEDIUM_COPPER || !found->part) {
            break;
        }
        /* With as many links to a cable nothing is cut anew: lengths.c chooses. */
        if (found->legs != type.legs) {
            near = (struct near){kind, (uint32_t)room_step_mm(step), found->legs};
        }
    }
    return near;
}

/* The links of a cage on 'legs' ports from 'first' on; false: one of them is no short link of this
 * kind, or there is none. */
static bool is_near(const struct room *room, uint32_t first, uint32_t end, uint16_t type,
                    const struct near *near)
{
    const struct myr_design *design = &room->plan->design;
    bool any = false;
    for (uint32_t port = first; port < end; port++) {
        uint32_t link = design->port_link[port];
        if (link == MYR_NONE) {
            continue;
        }
        if (design->cable_type[design->link_cable[link]] != type ||
            room_link_mm(room, link) > near->reach_mm) {
            return false;
        }
        any = true;
    }
    return any;
}

/* All cages of some ports of a switch; ports of one side begin at a cage. */
static bool mark_cages(struct room *room, uint32_t first, uint32_t ports, uint16_t type,
                       const struct near *near)
{
    bool any = false;
    for (uint32_t at = 0; at < ports; at += near->legs) {
        uint32_t from = first + at,
                 end = first + (at + near->legs < ports ? at + near->legs : ports);
        if (is_near(room, from, end, type, near)) {
            for (uint32_t port = from; port < end; port++) {
                room->plan->near_kind[port] = near->kind;
            }
            any = true;
        }
    }
    return any;
}

/* Below the leaves, by kind of hosts. Twin cages are cut by the card, not by the switch. */
static bool mark_hosts(struct room *room, struct net_plan *net)
{
    const struct myr_design *design = &room->plan->design;
    bool any = false;
    for (uint32_t i = 0; !net->twin && i < net->host_class_count; i++) {
        struct near near = copper_for(room, net, MYR_LAYER_HOST, i);
        room->near_host[net->id][i] = near.kind;
        for (uint32_t leaf = 0; near.reach_mm && leaf < net->out.leaf; leaf++) {
            uint32_t first = design->first_port[net->out.first_leaf + leaf];
            any = mark_cages(room, first, net->out.leaf_down, net->host_cabletype[i], &near) || any;
        }
    }
    return any;
}

/* What goes up from the switches of a tier. */
static bool mark_uplinks(struct room *room, struct net_plan *net, enum myr_layer layer)
{
    const struct plan *plan = room->plan;
    const struct myr_network *out = &net->out;
    bool core = layer == MYR_LAYER_CORE;
    struct near near = copper_for(room, net, layer, 0);
    uint32_t first = core ? out->first_spine : out->first_leaf;
    uint32_t count = core ? out->spine : out->leaf;
    uint32_t up = core ? plan->devtypes.items[net->spine_type].groups[1].first : out->leaf_down;
    bool any = false;
    for (uint32_t i = 0; near.reach_mm && i < count; i++) {
        uint32_t port = plan->design.first_port[first + i] + up;
        any = mark_cages(room, port, core ? out->spine_up : out->leaf_up,
                         net->layer_cabletype[layer], &near) ||
              any;
    }
    return any;
}

/* Fabrics of leaves and spines: elsewhere a cable never carries links of several pairs. */
static bool has_tiers(const struct net_plan *net)
{
    enum myr_topology topology = net->out.topology;
    return net->present && topology != MYR_TOPOLOGY_ACCESS && topology != MYR_TOPOLOGY_TORUS &&
           topology != MYR_TOPOLOGY_DRAGONFLY && topology != MYR_TOPOLOGY_DRAGONFLY_PLUS;
}

void room_cut_cages(struct room *room)
{
    struct plan *plan = room->plan;
    bool any = false;
    plan->near_kind = MYR_ARENA_NEW(room->arena, uint16_t, plan->design.port_count);
    memset(plan->near_kind, 0xff, sizeof(*plan->near_kind) * plan->design.port_count);
    memset(room->near_host, 0xff, sizeof(room->near_host));
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        struct net_plan *net = &plan->nets[id];
        if (!has_tiers(net)) {
            continue;
        }
        any = mark_hosts(room, net) || any;
        any = (net->out.tiers >= 2 && mark_uplinks(room, net, MYR_LAYER_FABRIC)) || any;
        any = (net->out.tiers == 3 && mark_uplinks(room, net, MYR_LAYER_CORE)) || any;
    }
    if (any) {
        room_wire_again(room);
    }
}
