#include "room/room.h"

/*
 * How long each cable is, and what it therefore has to be. Lengths that are sold come in steps; a
 * cable is as long as the next step, and its modules must reach that far.
 *
 * The layers have their kinds already (cut.c). Cables that share cages (and so must have the same
 * modules) may have cheaper ones when all of them are short; and each gets the shortest piece that
 * reaches. Cables that the spec pins stay as they are.
 */

/* A cable with several legs is as long as the longest of them needs. */
static uint32_t *measure_cables(struct room *room)
{
    const struct myr_design *design = &room->plan->design;
    uint32_t *ret = MYR_ARENA_NEW(room->arena, uint32_t, design->cable_count);
    for (uint32_t cable = 0; cable < design->cable_count; cable++) {
        for (uint32_t i = design->first_link[cable]; i < design->first_link[cable + 1]; i++) {
            uint32_t mm = room_link_mm(room, i);
            ret[cable] = mm > ret[cable] ? mm : ret[cable];
        }
        room->out.cable_mm += ret[cable];
        room->out.longest_mm =
            ret[cable] > room->out.longest_mm ? ret[cable] : room->out.longest_mm;
    }
    return ret;
}

/* ---- cables that share cages ---- */

/* Union-find, with halved paths. */
static uint32_t root_of(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/* Cables with ports in one cage hang together: a cage has one module. */
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
                /* A new cage begins: nothing of the last one is joined to it. */
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

/* The kind of hosts that a kind of cable was chosen for; the first of those that share it. */
static uint32_t class_of(const struct room *room, const struct net_plan *net, uint16_t type)
{
    for (uint32_t i = 0; i < net->host_class_count; i++) {
        if (net->host_cabletype[i] == type || room->near_host[net->id][i] == type) {
            return i;
        }
    }
    return 0;
}

/* First what the cables that share cages may be, by the longest of them; then the shortest piece of
 * that kind that reaches. Both are asked once for each length. */
static uint16_t kind_for(struct room *room, struct known *known, uint16_t type, uint32_t cage_step,
                         uint32_t step)
{
    struct plan *plan = room->plan;
    enum myr_layer layer = (enum myr_layer)plan->cabletypes.items[type].layer;
    struct net_plan *net = &plan->nets[plan->cabletypes.items[type].net];
    if (is_pinned(net, layer)) {
        return type;
    }
    uint32_t host_class = layer == MYR_LAYER_HOST ? class_of(room, net, type) : 0;
    uint16_t *cage = &known->by_cage[(size_t)type * ROOM_STEPS + cage_step];
    if (*cage == MYR_CABLETYPE_NONE) {
        uint16_t found = is_settled(net, layer) ? type
                                                : room_ask_kind(room, net, layer, host_class,
                                                                cage_step, MYR_CABLETYPE_NONE);
        /* As many legs as before, or links would share other cables; and a part at all. */
        bool same = plan->cabletypes.items[found].legs == plan->cabletypes.items[type].legs &&
                    plan->cabletypes.items[found].part;
        *cage = same ? found : type;
    }
    uint16_t *own = &known->by_length[((size_t)type * ROOM_STEPS + cage_step) * ROOM_STEPS + step];
    if (*own == MYR_CABLETYPE_NONE) {
        /* Links without parts stay so. */
        uint16_t found = plan->cabletypes.items[*cage].part
                             ? room_ask_kind(room, net, layer, host_class, step, *cage)
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

/* Cables that hang together by cages first get the step of the longest of them, then each its own
 * length. */
static void choose_cables(struct room *room)
{
    struct plan *plan = room->plan;
    struct myr_design *design = &plan->design;
    /* Kinds that are added from here on are results, and are asked about no more. */
    size_t kinds = plan->cabletypes.count;
    struct known known = {unknown(room, kinds * ROOM_STEPS),
                          unknown(room, kinds * ROOM_STEPS * ROOM_STEPS)};
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
            kind_for(room, &known, design->cable_type[i], room_step(longest[root_of(parent, i)]),
                     room_step(design->cable_mm[i]));
        design->cable_type[i] = kind;
        if (plan->cabletypes.items[kind].medium != MYR_MEDIUM_COPPER) {
            room->out.fibre_mm += design->cable_mm[i];
        }
    }
}

/* Lengths first: everything else follows from them. */
void room_lengths(struct room *room)
{
    room->plan->design.cable_mm = measure_cables(room);
    choose_cables(room);
}
