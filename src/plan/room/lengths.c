#include "room/room.h"

/*
 * How long each cable is, and what it therefore has to be. Lengths that are sold come in steps; a
 * cable is as long as the next step, and its modules must reach that far.
 *
 * Kinds are chosen in two rounds. The longest cable of a layer decides for the layer, also how many
 * links go in one cable: where that changes, the cables are cut anew. Then cables that share cages
 * (and so must have the same modules) may have cheaper ones when all of them are short; and each
 * gets the shortest piece that reaches. Cables that the spec pins stay as they are.
 */

static const double stock_m[] = {0.5, 1,  1.5, 2,   3,   5,   7,   10,  15,   20,   30,   40,
                                 50,  70, 100, 150, 200, 300, 500, 700, 1000, 1500, 2000, 10000};

enum { STOCK_COUNT = MYR_ARRAY_COUNT(stock_m) };

static uint32_t stock_of(int64_t length_mm)
{
    uint32_t step = 0;
    while (step + 1 < STOCK_COUNT && stock_m[step] * 1000 < (double)length_mm) {
        step++;
    }
    return step;
}

/* By link: a cable with several legs is as long as the longest of them needs. */
static void measure(struct room *room, uint32_t *link_mm)
{
    const struct myr_design *design = &room->plan->design;
    for (uint32_t i = 0; i < design->link_count; i++) {
        int64_t route = room_route_mm(room, i);
        link_mm[i] = (uint32_t)(route < UINT32_MAX ? route : UINT32_MAX);
    }
}

static uint32_t *measure_cables(struct room *room, const uint32_t *link_mm)
{
    const struct myr_design *design = &room->plan->design;
    uint32_t *ret = MYR_ARENA_NEW(room->arena, uint32_t, design->cable_count);
    for (uint32_t cable = 0; cable < design->cable_count; cable++) {
        for (uint32_t i = design->first_link[cable]; i < design->first_link[cable + 1]; i++) {
            ret[cable] = link_mm[i] > ret[cable] ? link_mm[i] : ret[cable];
        }
        room->out.cable_mm += ret[cable];
        room->out.longest_mm =
            ret[cable] > room->out.longest_mm ? ret[cable] : room->out.longest_mm;
    }
    return ret;
}

/* ---- a kind for each layer ---- */

static uint16_t ask(struct room *room, struct net_plan *net, enum myr_layer layer,
                    uint32_t host_class, uint32_t step, uint16_t like)
{
    struct cable_ask question = {layer, host_class, stock_m[step], like};
    return plan_cabletype_for(room->plan, net, &question);
}

static uint32_t part_named(const struct plan *plan, uint32_t string)
{
    return string ? myr_catalog_find(plan->catalog, myr_str_from(plan->strings.data + string))
                  : MYR_PART_NONE;
}

/* Whether the links in a cable are others than before. */
static bool layer_kinds(struct room *room, struct net_plan *net, const uint32_t *longest)
{
    struct plan *plan = room->plan;
    bool changed = false;
    for (uint32_t i = 0; longest[MYR_LAYER_HOST] && i < net->host_class_count; i++) {
        uint16_t old = net->host_cabletype[i];
        uint16_t new = ask(room, net, MYR_LAYER_HOST, i, stock_of(longest[MYR_LAYER_HOST]),
                           MYR_CABLETYPE_NONE);
        changed = changed || plan->cabletypes.items[old].legs != plan->cabletypes.items[new].legs;
        net->host_cabletype[i] = new;
        if (i == 0) { /* cards of other kinds share its cages */
            net->host_optic = part_named(plan, plan->cabletypes.items[new].optic_b);
        }
    }
    for (uint32_t layer = MYR_LAYER_HOST + 1; layer < MYR_LAYER_COUNT; layer++) {
        if (longest[layer]) {
            uint16_t old = net->layer_cabletype[layer];
            uint16_t new = ask(room, net, (enum myr_layer)layer, 0, stock_of(longest[layer]),
                               MYR_CABLETYPE_NONE);
            changed =
                changed || plan->cabletypes.items[old].legs != plan->cabletypes.items[new].legs;
            net->layer_cabletype[layer] = new;
        }
    }
    return changed;
}

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
static void cut_again(struct plan *plan)
{
    struct myr_design *design = &plan->design;
    for (uint32_t i = 0; i < design->port_count; i++) {
        design->port_link[i] = MYR_NONE;
    }
    plan->next_link = plan->next_cable = plan->cable_links = 0;
    plan_wire(plan);
}

static void choose_layers(struct room *room, const uint32_t *link_mm)
{
    struct plan *plan = room->plan;
    const struct myr_design *design = &plan->design;
    uint32_t longest[MYR_NET_COUNT][MYR_LAYER_COUNT] = {};
    bool changed = false;
    for (uint32_t i = 0; i < design->link_count; i++) {
        const struct myr_cabletype *type =
            &plan->cabletypes.items[design->cable_type[design->link_cable[i]]];
        uint32_t *most = &longest[type->net][type->layer];
        *most = link_mm[i] > *most ? link_mm[i] : *most;
    }
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        if (plan->nets[id].present) {
            changed = layer_kinds(room, &plan->nets[id], longest[id]) || changed;
        }
    }
    if (changed) {
        cut_again(plan);
    } else {
        set_kinds(room);
    }
}

void room_cut_cables(struct room *room)
{
    uint32_t *link_mm = MYR_ARENA_NEW(room->arena, uint32_t, room->plan->design.link_count);
    measure(room, link_mm);
    choose_layers(room, link_mm);
}

void room_keep_cut(const struct room *room, struct cut *ret)
{
    for (uint32_t i = 0; i < MYR_NET_COUNT; i++) {
        const struct net_plan *net = &room->plan->nets[i];
        memcpy(ret->host[i], net->host_cabletype, sizeof(ret->host[i]));
        memcpy(ret->layer[i], net->layer_cabletype, sizeof(ret->layer[i]));
        ret->host_optic[i] = net->host_optic;
    }
}

void room_cut_as(struct room *room, const struct cut *cut)
{
    for (uint32_t i = 0; i < MYR_NET_COUNT; i++) {
        struct net_plan *net = &room->plan->nets[i];
        memcpy(net->host_cabletype, cut->host[i], sizeof(cut->host[i]));
        memcpy(net->layer_cabletype, cut->layer[i], sizeof(cut->layer[i]));
        net->host_optic = cut->host_optic[i];
    }
    cut_again(room->plan);
}

/* ---- cables that share cages ---- */

static uint32_t root_of(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static void join_cages(const struct plan *plan, uint32_t *parent)
{
    const struct myr_design *design = &plan->design;
    for (uint32_t device = 0; device < design->device_count; device++) {
        const struct myr_devtype *type = &plan->devtypes.items[design->device_type[device]];
        for (uint32_t g = 0; g < type->group_count; g++) {
            const struct myr_port_group *group = &type->groups[g];
            uint32_t first = design->first_port[device] + group->first, last = MYR_NONE;
            for (uint32_t i = 0; group->per_cage > 1 && i < group->count; i++) {
                uint32_t link = design->port_link[first + i];
                last = i % group->per_cage == 0 ? MYR_NONE : last;
                if (link != MYR_NONE && last != MYR_NONE) {
                    parent[root_of(parent, design->link_cable[link])] =
                        root_of(parent, design->link_cable[last]);
                }
                last = link != MYR_NONE ? link : last;
            }
        }
    }
}

/* Kinds that were asked for already: by layer's kind, step of the cage's longest, own step. */
struct known {
    uint16_t *by_cage, *by_length;
};

static bool is_pinned(const struct net_plan *net, uint32_t layer)
{
    return net->spec->pins[layer == MYR_LAYER_HOST ? MYR_PIN_HOST_CABLE : MYR_PIN_FABRIC_CABLE] !=
           MYR_PART_NONE;
}

/* Hosts with different cards share cages: one module was chosen for all of them. */
static bool is_settled(const struct net_plan *net, uint32_t layer)
{
    for (uint32_t i = 1; layer == MYR_LAYER_HOST && i < net->host_class_count; i++) {
        if (net->host_cabletype[i] != net->host_cabletype[0]) {
            return true;
        }
    }
    return false;
}

static uint32_t class_of(const struct net_plan *net, uint16_t type)
{
    for (uint32_t i = 0; i < net->host_class_count; i++) {
        if (net->host_cabletype[i] == type) {
            return i;
        }
    }
    return 0;
}

static uint16_t kind_for(struct room *room, struct known *known, uint16_t type, uint32_t cage_step,
                         uint32_t step)
{
    struct plan *plan = room->plan;
    enum myr_layer layer = (enum myr_layer)plan->cabletypes.items[type].layer;
    struct net_plan *net = &plan->nets[plan->cabletypes.items[type].net];
    if (is_pinned(net, layer)) {
        return type;
    }
    uint32_t host_class = layer == MYR_LAYER_HOST ? class_of(net, type) : 0;
    uint16_t *cage = &known->by_cage[(size_t)type * STOCK_COUNT + cage_step];
    if (*cage == MYR_CABLETYPE_NONE) {
        uint16_t found = is_settled(net, layer)
                             ? type
                             : ask(room, net, layer, host_class, cage_step, MYR_CABLETYPE_NONE);
        bool same = plan->cabletypes.items[found].legs == plan->cabletypes.items[type].legs &&
                    plan->cabletypes.items[found].part;
        *cage = same ? found : type;
    }
    uint16_t *own =
        &known->by_length[((size_t)type * STOCK_COUNT + cage_step) * STOCK_COUNT + step];
    if (*own == MYR_CABLETYPE_NONE) {
        uint16_t found = plan->cabletypes.items[*cage].part
                             ? ask(room, net, layer, host_class, step, *cage)
                             : MYR_CABLETYPE_NONE;
        *own = found == MYR_CABLETYPE_NONE ? *cage : found;
    }
    return *own;
}

static uint16_t *unknown(struct room *room, size_t count)
{
    uint16_t *ret = MYR_ARENA_NEW(room->arena, uint16_t, count);
    for (size_t i = 0; i < count; i++) {
        ret[i] = MYR_CABLETYPE_NONE;
    }
    return ret;
}

static void choose_cables(struct room *room)
{
    struct plan *plan = room->plan;
    struct myr_design *design = &plan->design;
    size_t kinds = plan->cabletypes.count;
    struct known known = {unknown(room, kinds * STOCK_COUNT),
                          unknown(room, kinds * STOCK_COUNT * STOCK_COUNT)};
    uint32_t *parent = MYR_ARENA_NEW(room->arena, uint32_t, design->cable_count);
    uint32_t *longest = MYR_ARENA_NEW(room->arena, uint32_t, design->cable_count);
    for (uint32_t i = 0; i < design->cable_count; i++) {
        parent[i] = i;
    }
    join_cages(plan, parent);
    for (uint32_t i = 0; i < design->cable_count; i++) {
        uint32_t *most = &longest[root_of(parent, i)];
        *most = design->cable_mm[i] > *most ? design->cable_mm[i] : *most;
    }
    for (uint32_t i = 0; i < design->cable_count; i++) {
        uint16_t kind =
            kind_for(room, &known, design->cable_type[i], stock_of(longest[root_of(parent, i)]),
                     stock_of(design->cable_mm[i]));
        design->cable_type[i] = kind;
        if (plan->cabletypes.items[kind].medium != MYR_MEDIUM_COPPER) {
            room->out.fibre_mm += design->cable_mm[i];
        }
    }
}

int room_lengths(struct room *room, struct myr_err *err)
{
    struct myr_design *design = &room->plan->design;
    uint32_t *link_mm = MYR_ARENA_NEW(room->arena, uint32_t, design->link_count);
    (void)err;
    measure(room, link_mm);
    choose_layers(room, link_mm);
    design->cable_mm = measure_cables(room, link_mm);
    choose_cables(room);
    return MYR_OK;
}
