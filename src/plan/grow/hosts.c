#include "grow/grow_internal.h"

/*
 * The cables of hosts. Rails say on which leaf a node's NIC ends; without rails hosts are alike,
 * and an installed one stays on its leaf; in a dense fill, whose uplinks go by hosts, as long as
 * the larger design has so many hosts there. New hosts take what is left, each with all its ports
 * on one leaf where there is room.
 */

enum { LEGS_MAX = 16 };

/* One cable to be: the host ports behind it, and the switch it goes to. */
struct unit {
    uint32_t port[LEGS_MAX];
    uint32_t count, ours; /* ports; of these, those that an installed cable already holds */
    uint32_t leaf, from;
    uint16_t type, class;
    bool kept;
};

struct free_net {
    struct grow *grow;
    enum myr_net_id net;
    uint32_t first, count, classes; /* switches that hosts hang on, kinds of them */
    bool access;
    uint32_t *want, *used, *room; /* cables by switch: planned, so far, at most */
    bool *served;                 /* by port of the grown design */
    MYR_VEC(struct unit) units;
};

/* Planes and homes keep apart: a NIC's second port goes to a switch of the second plane or home. */
static uint32_t leaf_class(const struct free_net *net, uint32_t leaf)
{
    return net->access ? leaf % net->classes : leaf / (net->count / net->classes);
}

static uint32_t port_class(const struct free_net *net, uint32_t port)
{
    const struct myr_design *plan = net->grow->plan;
    const struct myr_port_group *group = myr_design_port_group(plan, port);
    return (port - plan->first_port[plan->port_device[port]] - group->first) % net->classes;
}

static uint16_t planned_type(const struct grow *grow, uint32_t port)
{
    const struct myr_design *plan = grow->plan;
    uint32_t link = plan->port_link[port];
    return link == MYR_NONE ? UINT16_MAX : plan->cable_type[plan->link_cable[link]];
}

static bool is_host_cable(const struct myr_design *design, uint32_t cable, enum myr_net_id net)
{
    const struct myr_cabletype *type = grow_type(design, cable);
    return type->net == net && type->layer == MYR_LAYER_HOST;
}

static bool measure(struct free_net *net, struct myr_arena *scratch)
{
    const struct myr_design *plan = net->grow->plan;
    const struct myr_network *out = &plan->networks[net->net];
    net->access = out->access > 0;
    net->first = net->access ? out->first_access : out->first_leaf;
    net->count = net->access ? out->access : out->leaf;
    net->classes = net->access ? out->host_ports / out->nodes_on_it : out->planes;
    net->want = MYR_ARENA_NEW(scratch, uint32_t, net->count);
    net->used = MYR_ARENA_NEW(scratch, uint32_t, net->count);
    net->room = MYR_ARENA_NEW(scratch, uint32_t, net->count);
    net->served = MYR_ARENA_NEW(scratch, bool, plan->port_count);
    for (uint32_t i = 0; i < net->count; i++) {
        const struct myr_port_group *group =
            &plan->devtypes[plan->device_type[net->first + i]].groups[0];
        net->room[i] = group->count / group->per_connector;
    }
    for (uint32_t c = 0; c < plan->cable_count; c++) {
        if (!is_host_cable(plan, c, net->net)) {
            continue;
        }
        uint32_t leaf = plan->port_device[plan->link_b[plan->first_link[c]]];
        if (leaf - net->first >= net->count || grow_type(plan, c)->legs > LEGS_MAX) {
            return false;
        }
        for (uint32_t l = plan->first_link[c]; l < plan->first_link[c + 1]; l++) {
            if (plan->port_device[plan->link_b[l]] != leaf) {
                return false; /* a cable to two planes */
            }
        }
        net->want[leaf - net->first]++;
    }
    for (uint32_t i = 0; i < net->count; i++) {
        /* Only where uplinks go by hosts does a switch have a share of them. */
        bool share = out->fill == MYR_FILL_DENSE && net->want[i] < net->room[i];
        net->want[i] = share ? net->want[i] : net->room[i];
    }
    return net->classes > 0 && net->count % net->classes == 0;
}

/* An installed cable as a unit: kept where its switch has so many hosts, else to be moved. */
static bool take_installed(struct free_net *net, uint32_t cable)
{
    struct grow *grow = net->grow;
    const struct myr_design *old = grow->old;
    struct unit unit = {.from = cable, .leaf = MYR_NONE, .kept = true};
    for (uint32_t l = old->first_link[cable]; l < old->first_link[cable + 1]; l++) {
        uint32_t port = grow_port(grow, old->link_a[l]);
        uint32_t leaf = grow->to[old->port_device[old->link_b[l]]] - net->first;
        if (port == MYR_NONE || leaf >= net->count || unit.count == LEGS_MAX ||
            (unit.count && leaf != unit.leaf)) {
            return false;
        }
        unit.kept &= grow_port(grow, old->link_b[l]) != MYR_NONE;
        unit.leaf = leaf;
        unit.type = planned_type(grow, port);
        unit.class = (uint16_t)port_class(net, port);
        unit.port[unit.count++] = port;
        net->served[port] = true;
    }
    if (unit.type == UINT16_MAX || !grow_same_cable(grow, cable, unit.type)) {
        for (uint32_t i = 0; i < unit.count; i++) {
            net->served[unit.port[i]] = false; /* another cable is planned for it */
        }
        return true;
    }
    unit.ours = unit.count;
    if (unit.kept && net->used[unit.leaf] < net->want[unit.leaf]) {
        net->used[unit.leaf]++;
    } else {
        unit.kept = false;
        unit.leaf = MYR_NONE;
    }
    myr_vec_push(&net->units, unit);
    return true;
}

/* A host port without a cable: on a leg that hangs loose, or on a new cable. */
static void take_new(struct free_net *net, uint32_t port, uint32_t *loose)
{
    const struct grow *grow = net->grow;
    uint16_t type = planned_type(grow, port), class = (uint16_t)port_class(net, port);
    uint32_t legs = grow->plan->cabletypes[type].legs;
    for (; legs > 1 && *loose < net->units.count; (*loose)++) {
        struct unit *unit = &net->units.items[*loose];
        if (unit->count < legs && unit->type == type && unit->class == class) {
            unit->port[unit->count++] = port;
            return;
        }
    }
    myr_vec_push(&net->units, (struct unit){.port = {port},
                                            .count = 1,
                                            .leaf = MYR_NONE,
                                            .from = MYR_NONE,
                                            .type = type,
                                            .class = class});
    *loose = (uint32_t)net->units.count - 1;
}

/* A switch of the class with places for 'count' more cables; 'limit' says how many it may have. */
static uint32_t find_leaf(const struct free_net *net, const uint32_t *limit, uint32_t class,
                          uint32_t count)
{
    for (uint32_t leaf = 0; leaf < net->count; leaf++) {
        if (leaf_class(net, leaf) == class && limit[leaf] >= net->used[leaf] + count) {
            return leaf;
        }
    }
    return MYR_NONE;
}

static uint32_t host_of(const struct free_net *net, const struct unit *unit)
{
    return net->grow->plan->port_device[unit->port[0]];
}

/* All units of a host together, or else one by one. */
static bool place_units(struct free_net *net)
{
    for (size_t i = 0; i < net->units.count;) {
        struct unit *unit = &net->units.items[i];
        size_t end = i + 1;
        if (unit->leaf != MYR_NONE) {
            i++;
            continue;
        }
        while (end < net->units.count && unit->from == MYR_NONE &&
               net->units.items[end].leaf == MYR_NONE &&
               host_of(net, &net->units.items[end]) == host_of(net, unit) &&
               net->units.items[end].class == unit->class) {
            end++;
        }
        uint32_t leaf = find_leaf(net, net->want, unit->class, (uint32_t)(end - i));
        end = leaf == MYR_NONE ? i + 1 : end;
        leaf = leaf == MYR_NONE ? find_leaf(net, net->want, unit->class, 1) : leaf;
        leaf = leaf == MYR_NONE ? find_leaf(net, net->room, unit->class, 1) : leaf;
        if (leaf == MYR_NONE) {
            return false;
        }
        for (; i < end; i++) {
            net->units.items[i].leaf = leaf;
            net->used[leaf]++;
        }
    }
    return true;
}

static void lay_unit(struct free_net *net, const struct unit *unit)
{
    struct grow *grow = net->grow;
    const struct myr_design *old = grow->old;
    struct grow_cable *cable = grow_push(grow, unit->type, unit->from);
    cable->kept = unit->kept;
    for (uint32_t i = 0; i < unit->count; i++) {
        struct grow_link link = {grow->plan->port_device[unit->port[i]], net->first + unit->leaf,
                                 unit->port[i], MYR_NONE, MYR_NONE};
        link.from = i < unit->ours ? old->first_link[unit->from] + i : MYR_NONE;
        if (unit->kept) {
            link.port_b = i < unit->ours ? grow_port(grow, old->link_b[link.from])
                                         : grow_loose_leg(grow, grow->links[cable->first].port_b);
        }
        grow_push_link(grow, link);
    }
    grow_reserve(grow, cable);
}

static int by_leaf(const void *left, const void *right)
{
    const struct unit *a = left, *b = right;
    if (a->leaf != b->leaf) {
        return a->leaf < b->leaf ? -1 : 1;
    }
    if (a->kept != b->kept) {
        return a->kept ? -1 : 1;
    }
    return a->port[0] < b->port[0] ? -1 : a->port[0] > b->port[0];
}

static bool lay_free(struct grow *grow, enum myr_net_id id)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena scratch;
    myr_arena_init(&scratch);
    struct free_net net = {.grow = grow, .net = id};
    const struct myr_design *plan = grow->plan;
    bool good = measure(&net, &scratch);
    for (uint32_t c = 0; good && c < grow->old->cable_count; c++) {
        good = !is_host_cable(grow->old, c, id) || take_installed(&net, c);
    }
    uint32_t loose = 0;
    for (uint32_t port = 0; good && port < plan->first_port[net.first]; port++) {
        uint32_t link = plan->port_link[port];
        if (link != MYR_NONE && !net.served[port] &&
            is_host_cable(plan, plan->link_cable[link], id)) {
            take_new(&net, port, &loose);
        }
    }
    good = good && place_units(&net);
    if (good) {
        qsort(net.units.items, net.units.count, sizeof(*net.units.items), by_leaf);
        for (size_t i = 0; i < net.units.count; i++) {
            lay_unit(&net, &net.units.items[i]);
        }
    }
    myr_vec_done(&net.units);
    return good;
}

void grow_lay_hosts(struct grow *grow, enum myr_net_id net)
{
    uint32_t topology = grow->plan->networks[net].topology;
    bool rails = topology == MYR_TOPOLOGY_RAIL || topology == MYR_TOPOLOGY_RAIL_ONLY;
    if (rails || !lay_free(grow, net)) {
        grow_lay_fixed(grow, net);
    }
}
