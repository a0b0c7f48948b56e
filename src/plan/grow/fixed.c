#include "grow/grow_internal.h"

/*
 * Hosts on rails: the planned design says on which leaf each NIC of a node ends. Other hosts
 * (storage, management, fabric managers) stand behind the nodes and are alike among themselves: an
 * installed one takes a place on its own leaf, if there is one.
 */

struct standing {
    struct grow *grow;
    enum myr_net_id net;
    uint32_t *as; /* by host: the planned host whose place it takes */
    uint32_t *by; /* by planned host: who takes its place */
};

/* The first port of the device that has a cable on this network. */
static uint32_t first_of(const struct myr_design *design, uint32_t device, enum myr_net_id net)
{
    for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
        uint32_t link = design->port_link[p];
        if (link != MYR_NONE && grow_type(design, design->link_cable[link])->net == net) {
            return p;
        }
    }
    return MYR_NONE;
}

/* MYR_NONE: the device is not on this network. */
static uint32_t leaf_of(const struct myr_design *design, uint32_t device, enum myr_net_id net)
{
    uint32_t port = first_of(design, device, net);
    return port == MYR_NONE ? MYR_NONE : design->port_device[myr_design_peer(design, port)];
}

static void take_place(struct standing *all, uint32_t device, uint32_t place)
{
    all->as[device] = place;
    all->by[place] = device;
}

/*
 * Three passes: installed ones whose own place is on their leaf, installed ones with any place
 * there, then all others wherever a place of their kind is left.
 */
static void stand_kind(struct standing *all, uint32_t first, uint32_t count)
{
    const struct grow *grow = all->grow;
    const struct myr_design *plan = grow->plan;
    for (uint32_t pass = 0; pass < 3; pass++) {
        for (uint32_t d = first; d < first + count; d++) {
            uint32_t old = grow->from[d];
            if (all->as[d] != MYR_NONE || (pass < 2 && old == MYR_NONE)) {
                continue;
            }
            uint32_t was = old == MYR_NONE ? MYR_NONE : leaf_of(grow->old, old, all->net);
            uint32_t leaf = was == MYR_NONE ? MYR_NONE : grow->to[was];
            /* The place of the same number; in later passes any of the kind. */
            uint32_t low = pass == 1 ? first : d, high = pass == 1 ? first + count : d + 1;
            low = pass == 2 ? first : low;
            high = pass == 2 ? first + count : high;
            for (uint32_t place = low; place < high; place++) {
                bool alike = plan->device_type[place] == plan->device_type[d];
                bool fits = pass == 2 || leaf_of(plan, place, all->net) == leaf;
                if (all->by[place] == MYR_NONE && alike && fits) {
                    take_place(all, d, place);
                    break;
                }
            }
        }
    }
}

static bool is_host(const struct myr_place *place)
{
    return place->kind == MYR_DEVICE_NODE || place->kind == MYR_DEVICE_STORAGE ||
           place->kind == MYR_DEVICE_MANAGEMENT || place->kind == MYR_DEVICE_FABRIC_MANAGER;
}

/* Nodes stand in their own places: rails tell where their NICs end. */
static void stand(struct standing *all, struct myr_arena *scratch)
{
    const struct myr_design *plan = all->grow->plan;
    const struct myr_design_head *head = plan->head;
    all->as = MYR_ARENA_NEW(scratch, uint32_t, plan->device_count);
    all->by = MYR_ARENA_NEW(scratch, uint32_t, plan->device_count);
    for (uint32_t i = 0; i < plan->device_count; i++) {
        all->as[i] = all->by[i] = MYR_NONE;
    }
    for (uint32_t i = 0; i < head->nodes; i++) {
        take_place(all, head->first_node + i, head->first_node + i);
    }
    for (uint32_t i = 0; i < plan->device_count; i++) {
        /* Switches, by their management ports; in a room all stand where it says. */
        if (!is_host(&plan->place[i]) || (grow_in_room(all->grow) && all->as[i] == MYR_NONE)) {
            take_place(all, i, i);
        }
    }
    stand_kind(all, head->first_storage, head->storage_servers);
    stand_kind(all, head->first_management, head->management_nodes);
    stand_kind(all, head->first_fabric_manager, head->fabric_managers);
}

/*
 * The installed port that is this one; MYR_NONE: it is new, or had no such NIC. Cards may have
 * changed their place among the groups, so it is looked for by network.
 */
static uint32_t old_port_of(const struct grow *grow, uint32_t port)
{
    const struct myr_design *plan = grow->plan, *old = grow->old;
    uint32_t device = plan->port_device[port], was = grow->from[device];
    const struct myr_port_group *group = myr_design_port_group(plan, port);
    uint32_t index = port - plan->first_port[device] - group->first;
    const struct myr_devtype *type = was == MYR_NONE ? NULL : &old->devtypes[old->device_type[was]];
    for (uint32_t i = 0; type && i < type->group_count; i++) {
        if (type->groups[i].role == MYR_PORT_NIC && type->groups[i].net == group->net &&
            index < type->groups[i].count) {
            return old->first_port[was] + type->groups[i].first + index;
        }
    }
    return MYR_NONE;
}

/* The port of whoever stands in for the planned host of this link. */
static uint32_t port_of(const struct standing *all, uint32_t link)
{
    const struct myr_design *plan = all->grow->plan;
    uint32_t host = plan->port_device[plan->link_a[link]];
    return plan->first_port[all->by[host]] + plan->link_a[link] - plan->first_port[host];
}

/* The installed link in that port of the host. */
static uint32_t old_link_of(const struct grow *grow, uint32_t port)
{
    uint32_t was = old_port_of(grow, port);
    return was == MYR_NONE ? MYR_NONE : grow->old->port_link[was];
}

/* The installed cable that this one is: all its legs are among the planned ones. */
static uint32_t installed_as(const struct standing *all, uint32_t cable)
{
    const struct grow *grow = all->grow;
    const struct myr_design *plan = grow->plan, *old = grow->old;
    uint32_t found = MYR_NONE, legs = 0;
    for (uint32_t l = plan->first_link[cable]; l < plan->first_link[cable + 1]; l++) {
        uint32_t link = old_link_of(grow, port_of(all, l));
        if (link == MYR_NONE) {
            continue;
        }
        if (found != MYR_NONE && old->link_cable[link] != found) {
            return MYR_NONE;
        }
        found = old->link_cable[link];
        legs++;
    }
    /* All legs of the installed cable, no other cable's, and a cable that may serve. */
    bool good = found != MYR_NONE && legs == old->first_link[found + 1] - old->first_link[found] &&
                !grow->old_placed[found] && grow_same_cable(grow, found, plan->cable_type[cable]);
    return good ? found : MYR_NONE;
}

/* False for a cable whose legs go to switches of different planes. */
static bool one_switch(const struct myr_design *plan, uint32_t cable)
{
    uint32_t first = plan->first_link[cable];
    for (uint32_t l = first; l < plan->first_link[cable + 1]; l++) {
        if (plan->port_device[plan->link_b[l]] != plan->port_device[plan->link_b[first]]) {
            return false;
        }
    }
    return true;
}

/*
 * Whether all installed legs end where they are planned to. Which port of the switch the plan has
 * there does not matter.
 */
static bool stays(const struct standing *all, uint32_t cable)
{
    const struct grow *grow = all->grow;
    const struct myr_design *plan = grow->plan;
    for (uint32_t l = plan->first_link[cable]; l < plan->first_link[cable + 1]; l++) {
        uint32_t link = old_link_of(grow, port_of(all, l));
        uint32_t port = link == MYR_NONE ? MYR_NONE : grow_port(grow, grow->old->link_b[link]);
        if (link != MYR_NONE &&
            (port == MYR_NONE || plan->port_device[port] != plan->port_device[plan->link_b[l]])) {
            return false;
        }
        /* All planned legs have to find a port under its head. */
        uint32_t room = 0, legs = plan->first_link[cable + 1] - plan->first_link[cable];
        if (link != MYR_NONE && grow_type(plan, cable)->legs > 1) {
            (void)grow_head_at(grow, plan->cable_type[cable], port, &room);
            if (room < legs && one_switch(plan, cable)) {
                return false;
            }
        }
    }
    return true;
}

/*
 * The planned cable with the hosts that stand in; from an installed one where all its legs match.
 */
static void lay_cable(const struct standing *all, uint32_t cable)
{
    struct grow *grow = all->grow;
    const struct myr_design *plan = grow->plan;
    struct grow_cable *laid = grow_push(grow, plan->cable_type[cable], installed_as(all, cable));
    laid->planned = cable;
    laid->kept = laid->from != MYR_NONE && stays(all, cable);
    uint32_t at_leaf = MYR_NONE;
    for (uint32_t pass = 0; pass < 2; pass++) { /* legs that lie before those that come */
        for (uint32_t l = plan->first_link[cable]; l < plan->first_link[cable + 1]; l++) {
            uint32_t port = port_of(all, l);
            uint32_t old = laid->from == MYR_NONE ? MYR_NONE : old_link_of(grow, port);
            if ((old == MYR_NONE) != (pass == 1)) {
                continue;
            }
            struct grow_link link = {plan->port_device[port], plan->port_device[plan->link_b[l]],
                                     port, MYR_NONE, old};
            if (laid->kept) {
                link.port_b = old != MYR_NONE ? grow_port(grow, grow->old->link_b[old])
                                              : grow_loose_leg(grow, laid->type, at_leaf);
                at_leaf = link.port_b != MYR_NONE ? link.port_b : at_leaf;
            }
            grow_push_link(grow, link);
        }
    }
    if (one_switch(plan, cable)) { /* else each switch has one leg, and no head to share */
        grow_reserve(grow, laid);
    }
}

void grow_lay_fixed(struct grow *grow, enum myr_net_id net)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena scratch;
    myr_arena_init(&scratch);
    struct standing all = {.grow = grow, .net = net};
    stand(&all, &scratch);
    for (uint32_t c = 0; c < grow->plan->cable_count; c++) {
        const struct myr_cabletype *type = grow_type(grow->plan, c);
        if (type->net == net && type->layer == MYR_LAYER_HOST) {
            lay_cable(&all, c);
        }
    }
}
