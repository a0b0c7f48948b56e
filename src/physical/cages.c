#include "physical_internal.h"

/*
 * Every cage and every cable, passed over once: what is plugged into a cage agrees, every connector
 * takes one cable, all legs of a splitter leave one connector. Modules and cables are counted on
 * the way, for the bill of materials.
 */

/* What was met in one cage. */
struct cage {
    uint32_t lay, end;  /* of the first link */
    uint32_t plugs;     /* cables that end here */
    uint32_t connector; /* of the last port that was looked at */
    uint64_t plug;      /* the same */
    uint32_t cable;     /* the same */
    /*
     * any: a port carries a link; bare: no cable is chosen for what was met so far. straight,
     * split, fixed: kinds of plugs that were met. The others are what is wrong: two kinds of
     * modules, two cables in one connector, one splitter in two.
     */
    bool any, bare, straight, split, fixed, modules_differ, shared, torn;
};

/* A plug is one end of one cable: a head for all links of its cable, else one for each link. */
static uint64_t plug_of(const struct lay *lay, uint32_t end, uint32_t cable, uint32_t link)
{
    uint32_t legs = lay->cable->cable.legs;
    bool fixed = lay->cable->cable.fixed_ends;
    /*
     * With legs the undivided end; without, a fixed cable of several links is one plug at both
     * ends.
     */
    bool head = legs > 1 ? (lay->type->head_b != 0) == (end == 1) : fixed;
    return head ? (uint64_t)cable : (uint64_t)1 << 32 | link;
}

/* Whether the undivided end of a splitter of fibre is plugged here. */
static bool is_split(const struct lay *lay, uint32_t end)
{
    return !lay->cable->cable.fixed_ends && lay->cable->cable.legs > 1 &&
           (lay->type->head_b != 0) == (end == 1);
}

/*
 * Each plug is compared with the one before it alone: the links of one cable end at neighbouring
 * ports of a cage.
 */
static void look_at_port(const struct physical *physical, uint32_t port, uint32_t connector,
                         struct cage *cage)
{
    const struct myr_design *design = physical->design;
    uint32_t link = design->port_link[port];
    uint32_t cable = design->link_cable[link], index = design->cable_type[cable];
    const struct lay *lay = &physical->lays[index];
    /* 0 is the end nearer to the hosts, as in lay->module. */
    uint32_t end = design->link_a[link] == port ? 0 : 1;
    if (!lay->cable) { /* nothing is plugged: that no cable was chosen is said of the joint */
        if (!cage->any) {
            *cage = (struct cage){.lay = index, .end = end, .any = true, .bare = true};
        }
        return;
    }
    uint64_t plug = plug_of(lay, end, cable, link);
    bool fixed = lay->cable->cable.fixed_ends;
    bool split = is_split(lay, end);
    bool first = !cage->any || cage->bare;
    if (first) {
        cage->lay = index;
        cage->end = end;
    } else {
        cage->modules_differ = cage->modules_differ ||
                               lay->module[end] != physical->lays[cage->lay].module[cage->end] ||
                               fixed != cage->fixed;
        bool same_plug = plug == cage->plug, same_connector = connector == cage->connector;
        bool torn = physical->torn[cable] || physical->torn[cage->cable]; /* said already */
        cage->shared = cage->shared || (same_connector && !same_plug && !fixed && !torn);
        cage->torn = cage->torn || (same_plug && !same_connector && !fixed);
    }
    cage->plugs += (first || plug != cage->plug) && !physical->torn[cable];
    cage->straight = cage->straight || (!fixed && !split);
    cage->split = cage->split || split;
    cage->fixed = cage->fixed || fixed;
    cage->plug = plug;
    cage->cable = cable;
    cage->connector = connector;
    cage->any = true;
    cage->bare = false;
}

/*
 * The first four exclude each other, the most basic first: one mistake in a cage would else be told
 * several times.
 */
static void judge_cage(struct physical *physical, const struct socket *socket,
                       const struct cage *cage)
{
    const struct lay *lay = &physical->lays[cage->lay];
    const struct myr_part *module = lay->module[cage->end];
    const char *box = socket->box ? socket->box->id : "?";
    if (cage->modules_differ) {
        physical_report(physical, PHYSICAL_CAGE_MODULES, lay->where, 1,
                        "two kinds of module, or a module and a fixed end, in one cage of %s", box);
    } else if (cage->straight && cage->split) {
        physical_report(physical, PHYSICAL_CAGE_MIXED, lay->where, 1,
                        "a straight fibre and a splitter in one cage of %s", box);
    } else if (cage->fixed && cage->plugs > 1) {
        physical_report(physical, PHYSICAL_CAGE_CABLES, lay->where, 1,
                        "%u fixed ends in one cage of %s", cage->plugs, box);
    } else if (module && cage->plugs > module->optic.connectors) {
        physical_report(physical, PHYSICAL_CONNECTORS, lay->where, 1,
                        "%u cables in %s, which has %u connector%s", cage->plugs, module->order,
                        module->optic.connectors, module->optic.connectors == 1 ? "" : "s");
    }
    if (cage->shared) {
        physical_report(physical, PHYSICAL_CONNECTOR_SHARED, lay->where, 1,
                        "two cables in one connector of %s", box);
    }
    if (cage->torn) {
        physical_report(physical, PHYSICAL_HEAD, lay->where, 1,
                        "one splitter in two connectors of %s", box);
    }
}

/*
 * Returns the linked ports among those of the group. The last cage of a group may have fewer ports
 * than the others.
 */
static uint32_t look_at_group(struct physical *physical, const struct socket *socket,
                              uint32_t first)
{
    const struct myr_port_group *group = socket->group;
    const uint32_t *port_link = physical->design->port_link + first;
    uint32_t linked = 0;
    for (uint32_t from = 0; from < group->count; from += group->per_cage) {
        uint32_t to = from + group->per_cage < group->count ? from + group->per_cage : group->count;
        struct cage cage = {};
        for (uint32_t i = from; i < to; i++) {
            if (port_link[i] != MYR_NONE) {
                look_at_port(physical, first + i, (i - from) / group->per_connector, &cage);
                linked++;
            }
        }
        /*
         * A cage in which any port carries a link holds one module, however many of its ports are
         * used. Bare cages count too: which module they get is not decided, and bom.c leaves such a
         * network out.
         */
        if (cage.any) {
            physical->lays[cage.lay].modules[cage.end]++;
            /* Most cages are plain: the rules are only looked at where one might be broken. */
            if (cage.modules_differ || (cage.straight && cage.split) || cage.plugs > 1 ||
                cage.shared || cage.torn) {
                judge_cage(physical, socket, &cage);
            }
        }
    }
    return linked;
}

/*
 * Ports of cards must all lead somewhere; those of a switch may stay free, but only so many can be
 * used as its chip addresses.
 */
static void look_at_device(struct physical *physical, uint32_t device)
{
    const struct myr_design *design = physical->design;
    uint32_t type = design->device_type[device], linked = 0;
    const struct socket *first = &physical->sockets[(size_t)type * MYR_PORT_GROUPS_MAX];
    for (uint32_t g = 0; g < design->devtypes[type].group_count; g++) {
        const struct socket *socket = first + g;
        uint32_t here =
            look_at_group(physical, socket, design->first_port[device] + socket->group->first);
        linked += socket->group->role == MYR_PORT_NIC ? 0 : here;
        /* A management node may be on other networks only. */
        bool absent = here == 0 && socket->kind == MYR_DEVICE_MANAGEMENT;
        if (socket->group->role == MYR_PORT_NIC && here < socket->group->count && !absent) {
            physical_report(physical, PHYSICAL_PORT_UNLINKED, physical_place(physical, socket),
                            socket->group->count - here, "a port of a card leads nowhere");
        }
    }
    const struct myr_part *box = design->devtypes[type].group_count ? first->box : NULL;
    if (box && box->kind == MYR_PART_SWITCH && box->sw.ports_max && linked > box->sw.ports_max) {
        physical_report(physical, PHYSICAL_PORTS_MAX, physical_place(physical, first), 1,
                        "%u ports, the chip of %s addresses %u", linked, box->id,
                        box->sw.ports_max);
    }
}

/* Cage of a port, numbered over the whole design by its first port. */
static uint32_t cage_start(const struct myr_design *design, uint32_t port)
{
    uint32_t device = design->port_device[port], index = port - design->first_port[device];
    const struct myr_devtype *type = &design->devtypes[design->device_type[device]];
    uint32_t g = 0;
    while (g + 1 < type->group_count && index >= type->groups[g + 1].first) {
        g++;
    }
    const struct myr_port_group *group = &type->groups[g];
    return port - (index - group->first) % group->per_cage;
}

/*
 * A cable of several links: its head is one plug; each leg of a fixed one fills a cage. Torn cables
 * are marked, so that their cages stay silent.
 */
static void judge_bundle(struct physical *physical, uint32_t cable, const struct lay *lay)
{
    const struct myr_design *design = physical->design;
    const struct myr_part_cable *part = &lay->cable->cable;
    uint32_t first = design->first_link[cable], end = design->first_link[cable + 1];
    if (part->legs == 1 && !part->fixed_ends) {
        return; /* straight fibres that are counted together */
    }
    const uint32_t *heads = lay->type->head_b ? design->link_b : design->link_a;
    const uint32_t *legs = lay->type->head_b ? design->link_a : design->link_b;
    for (uint32_t link = first + 1; link < end; link++) {
        bool one_head = cage_start(design, heads[link]) == cage_start(design, heads[first]);
        bool one_leg = cage_start(design, legs[link]) == cage_start(design, legs[link - 1]);
        if (!one_head || (part->legs == 1 && !one_leg) ||
            (part->legs > 1 && part->fixed_ends && one_leg)) {
            physical_report(physical, PHYSICAL_HEAD, lay->where, 1,
                            one_head ? "the legs of %s do not end as they divide"
                                     : "the links of one %s leave two cages",
                            lay->cable->order);
            physical->torn[cable] = true;
            return;
        }
    }
    if (part->legs > 1 && end - first > part->legs) {
        physical_report(physical, PHYSICAL_LEGS, lay->where, 1, "%u links in one %s of %u legs",
                        end - first, lay->cable->order, part->legs);
    }
}

/* Cables first: a torn one is told once, by its cable, and its cages are then silent about it. */
void physical_cages(struct physical *physical)
{
    const struct myr_design *design = physical->design;
    physical->torn = MYR_ARENA_NEW(physical->arena, bool, design->cable_count);
    for (uint32_t cable = 0; cable < design->cable_count; cable++) {
        struct lay *lay = &physical->lays[design->cable_type[cable]];
        uint32_t links = design->first_link[cable + 1] - design->first_link[cable];
        lay->cables++;
        lay->links += links;
        if (lay->cable) {
            bool whole = lay->cable->cable.fixed_ends || lay->cable->cable.legs > 1;
            lay->pieces += whole ? 1 : links;
            if (links > 1) {
                judge_bundle(physical, cable, lay);
            }
        }
    }
    for (uint32_t device = 0; device < design->device_count; device++) {
        look_at_device(physical, device);
    }
}
