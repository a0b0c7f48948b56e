#include "room/room.h"

/*
 * Which links share a cable. The longest cable of a layer decides for the layer: short ones may be
 * of copper that carries several links, where fibre is one for each. So the ways to cut a layer
 * are what it may be of for each length that is sold, and the shorter placement may be one of which
 * fewer metres are ordered because its layers are short enough for fewer cables.
 */

/* Lengths in which cables are sold, twisted pair up to 90 m; the last is there so that any length
 * has one. */
static const double stock_m[ROOM_STEPS] = {0.5, 1,   1.5, 2,    3,    5,    7,    10,  15,
                                           20,  30,  40,  50,   70,   90,   100,  150, 200,
                                           300, 500, 700, 1000, 1500, 2000, 10000};

/* What is longer than all of them gets the last. */
uint32_t room_step(int64_t length_mm)
{
    uint32_t step = 0;
    while (step + 1 < ROOM_STEPS && stock_m[step] * 1000 < (double)length_mm) {
        step++;
    }
    return step;
}

double room_step_mm(uint32_t step)
{
    return stock_m[step] * 1000;
}

uint32_t room_link_mm(const struct room *room, uint32_t link)
{
    int64_t route = room_route_mm(room, link);
    return (uint32_t)(route < UINT32_MAX ? route : UINT32_MAX);
}

/* For the length that would be ordered, not for the route itself. */
uint16_t room_ask_kind(struct room *room, struct net_plan *net, enum myr_layer layer,
                       uint32_t host_class, uint32_t step, uint16_t like)
{
    struct cable_ask question = {layer, host_class, stock_m[step], like};
    return plan_cabletype_for(room->plan, net, &question);
}

/* ---- a kind for each layer ---- */

static uint32_t part_named(const struct plan *plan, uint32_t string)
{
    return string ? myr_catalog_find(plan->catalog, myr_str_from(plan->strings.data + string))
                  : MYR_PART_NONE;
}

/* With as many legs the same links share cables, and nothing has to be wired again. */
static bool same_legs(const struct plan *plan, uint16_t one, uint16_t other)
{
    return plan->cabletypes.items[one].legs == plan->cabletypes.items[other].legs;
}

/* Hosts have a kind for each class of them: cards differ. */
bool room_cut_layer(struct room *room, uint32_t id, uint32_t layer, uint32_t step)
{
    struct plan *plan = room->plan;
    struct net_plan *net = &plan->nets[id];
    /* True while no kind of hosts has other legs than before. */
    bool same = true;
    /* Between switches there is one kind for the layer. */
    if (layer != MYR_LAYER_HOST) {
        uint16_t old = net->layer_cabletype[layer];
        net->layer_cabletype[layer] =
            room_ask_kind(room, net, (enum myr_layer)layer, 0, step, MYR_CABLETYPE_NONE);
        return !same_legs(plan, old, net->layer_cabletype[layer]);
    }
    for (uint32_t i = 0; i < net->host_class_count; i++) {
        uint16_t old = net->host_cabletype[i];
        uint16_t new = room_ask_kind(room, net, MYR_LAYER_HOST, i, step, MYR_CABLETYPE_NONE);
        same = same && same_legs(plan, old, new);
        net->host_cabletype[i] = new;
        if (i == 0) { /* cards of other kinds share its cages */
            net->host_optic = part_named(plan, plan->cabletypes.items[new].optic_b);
        }
    }
    return !same;
}

/* No other links share cables: each cable becomes what its layer is now. */
static void set_kinds(struct room *room)
{
    struct plan *plan = room->plan;
    struct myr_design *design = &plan->design;
    for (uint32_t cable = 0; cable < design->cable_count; cable++) {
        const struct myr_cabletype *type = &plan->cabletypes.items[design->cable_type[cable]];
        const struct net_plan *net = &plan->nets[type->net];
        uint32_t host = design->port_device[design->link_a[design->first_link[cable]]];
        design->cable_type[cable] = type->layer == MYR_LAYER_HOST
                                        ? plan_host_cabletype(plan, net, host)
                                        : net->layer_cabletype[type->layer];
    }
}

/* Links stay as they are; which of them share a cable is decided again. */
void room_wire_again(struct room *room)
{
    struct plan *plan = room->plan;
    struct myr_design *design = &plan->design;
    for (uint32_t i = 0; i < design->port_count; i++) {
        design->port_link[i] = MYR_NONE;
    }
    plan->next_link = plan->next_cable = plan->cable_links = 0;
    plan_wire(plan);
}

/* Over links, not cables: a cable may be cut otherwise then. */
void room_longest(const struct room *room, uint32_t ret_mm[MYR_NET_COUNT][MYR_LAYER_COUNT])
{
    const struct plan *plan = room->plan;
    const struct myr_design *design = &plan->design;
    memset(ret_mm, 0, sizeof(*ret_mm) * MYR_NET_COUNT);
    for (uint32_t i = 0; i < design->link_count; i++) {
        const struct myr_cabletype *type =
            &plan->cabletypes.items[design->cable_type[design->link_cable[i]]];
        uint32_t *most = &ret_mm[type->net][type->layer], mm = room_link_mm(room, i);
        *most = mm > *most ? mm : *most;
    }
}

/* Layers without links have no length, and keep their kind. */
void room_cut_cables(struct room *room)
{
    uint32_t longest[MYR_NET_COUNT][MYR_LAYER_COUNT];
    bool changed = false;
    room_longest(room, longest);
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        for (uint32_t layer = 0; layer < MYR_LAYER_COUNT; layer++) {
            if (room->plan->nets[id].present && longest[id][layer]) {
                uint32_t step = room_step(longest[id][layer]);
                changed = room_cut_layer(room, id, layer, step) || changed;
            }
        }
    }
    /* Wiring costs more than setting kinds: only where legs differ. */
    if (changed) {
        room_wire_again(room);
    } else {
        set_kinds(room);
    }
}

/* ---- as they were ---- */

/* Kinds and findings that come later are only tried: their counts are kept as well. */
void room_keep_cut(const struct room *room, struct cut *ret)
{
    ret->kinds = room->plan->cabletypes.count;
    ret->findings = room->plan->findings.count;
    for (uint32_t i = 0; i < MYR_NET_COUNT; i++) {
        const struct net_plan *net = &room->plan->nets[i];
        memcpy(ret->host[i], net->host_cabletype, sizeof(ret->host[i]));
        memcpy(ret->layer[i], net->layer_cabletype, sizeof(ret->layer[i]));
        ret->host_optic[i] = net->host_optic;
    }
}

void room_kinds_as(struct room *room, const struct cut *cut)
{
    for (uint32_t i = 0; i < MYR_NET_COUNT; i++) {
        struct net_plan *net = &room->plan->nets[i];
        memcpy(net->host_cabletype, cut->host[i], sizeof(cut->host[i]));
        memcpy(net->layer_cabletype, cut->layer[i], sizeof(cut->layer[i]));
        net->host_optic = cut->host_optic[i];
    }
}

void room_cut_as(struct room *room, const struct cut *cut)
{
    room_kinds_as(room, cut);
    room_wire_again(room);
    /* What was only tried is neither a kind of this design nor found in it. */
    room->plan->cabletypes.count = cut->kinds;
    room->plan->findings.count = cut->findings;
}

/* ---- ways to cut ---- */

/* Links in a cable of each kind of hosts, or of the layer, as one number: for that length, and as
 * the kinds are now. */
static uint64_t links_at(struct room *room, const struct net_plan *net, uint32_t layer,
                         uint32_t step)
{
    uint32_t classes = layer == MYR_LAYER_HOST ? net->host_class_count : 1;
    uint64_t links = 0;
    for (uint32_t i = 0; i < classes; i++) {
        struct cable_ask question = {(enum myr_layer)layer, i, stock_m[step], MYR_CABLETYPE_NONE};
        /* Four bits for each kind of hosts: no cable has more legs. */
        links = links * 16 + plan_cable_links(room->plan, net, &question);
    }
    return links;
}

static uint64_t links_now(const struct room *room, const struct net_plan *net, uint32_t layer)
{
    const struct myr_cabletype *kinds = room->plan->cabletypes.items;
    uint64_t links = 0;
    if (layer != MYR_LAYER_HOST) {
        return kinds[net->layer_cabletype[layer]].legs;
    }
    for (uint32_t i = 0; i < net->host_class_count; i++) {
        links = links * 16 + kinds[net->host_cabletype[i]].legs;
    }
    return links;
}

/* One entry for each different cut; 'now' marks the one that there is. */
uint32_t room_cut_ways(struct room *room, uint32_t id, uint32_t layer, uint32_t least_step,
                       struct cut_way ret[ROOM_STEPS])
{
    const struct net_plan *net = &room->plan->nets[id];
    uint64_t known[ROOM_STEPS], now = links_now(room, net, layer);
    uint32_t count = 0;
    /* From the longest down: of lengths with the same cut the longest is kept, which allows most.
     */
    for (uint32_t step = ROOM_STEPS; step-- > least_step;) {
        uint64_t links = links_at(room, net, layer, step);
        uint32_t i = 0;
        while (i < count && known[i] != links) {
            i++;
        }
        if (i == count) {
            known[count] = links;
            ret[count++] = (struct cut_way){step, links == now};
        }
    }
    return count;
}
