#include "grow/grow_internal.h"

/*
 * The cables of hosts. Rails say on which leaf a node's NIC ends; without rails hosts are alike,
 * and an installed one stays on its leaf; in a dense fill, whose uplinks go by hosts, as long as
 * the larger design has so many hosts there. New hosts take what is left, each with all its ports
 * on one leaf where there is room. A cable whose head fills a cage wants that whole, so places are
 * counted port by port.
 */

/* A cable of more legs makes the network one of planned places (fixed.c). */
enum { LEGS_MAX = 16, ANY_CLASS = UINT16_MAX };

/* One cable to be: the host ports behind it, and the switch it goes to. */
struct unit {
    uint32_t port[LEGS_MAX];
    uint32_t count, ours; /* ports; of these, those that an installed cable already holds */
    uint32_t leaf, from;  /* from net->first on, MYR_NONE: no place yet; installed cable */
    uint32_t most, at;    /* ports that its place has; the first of them, MYR_NONE: any */
    uint16_t type, class;
    bool kept; /* both ends stay */
};

struct free_net {
    struct grow *grow;
    enum myr_net_id net;
    uint32_t first, count, classes; /* switches that hosts hang on, kinds of them */
    bool access;
    uint32_t *want, *used, *room; /* by switch: cables at most and so far; ports that are free */
    bool *served, *busy;          /* by port of the grown design: has a cable, is under a head */
    MYR_VEC(struct unit) units;
};

/*
 * Planes and homes keep apart: a NIC's second port goes to a switch of the second plane or home.
 * With planes the leaves of one plane are neighbours; access switches take turns between homes.
 */
static uint32_t leaf_class(const struct free_net *net, uint32_t leaf)
{
    return net->access ? leaf % net->classes : leaf / (net->count / net->classes);
}

static bool is_switch(const struct myr_design *design, uint32_t device)
{
    uint32_t kind = design->place[device].kind;
    return kind != MYR_DEVICE_NODE && kind != MYR_DEVICE_STORAGE && kind != MYR_DEVICE_MANAGEMENT &&
           kind != MYR_DEVICE_FABRIC_MANAGER && kind < MYR_DEVICE_PDU;
}

/* The n-th port of a card goes to the n-th plane or home. */
static uint16_t port_class(const struct free_net *net, uint32_t port)
{
    const struct myr_design *plan = net->grow->plan;
    const struct myr_port_group *group = myr_design_port_group(plan, port);
    uint32_t device = plan->port_device[port];
    if (net->access && (is_switch(plan, device) || group->count < net->classes)) {
        return ANY_CLASS; /* one management port has no second home */
    }
    return (uint16_t)((port - plan->first_port[device] - group->first) % net->classes);
}

/*
 * Homes of a host on access switches. The most that any host has; management ports of switches do
 * not count.
 */
static uint32_t homes_of(const struct myr_design *plan, enum myr_net_id net)
{
    uint32_t most = 1;
    for (uint32_t d = 0; d < plan->device_count; d++) {
        uint32_t homes = 0;
        for (uint32_t p = plan->first_port[d]; !is_switch(plan, d) && p < plan->first_port[d + 1];
             p++) {
            bool used = plan->port_link[p] != MYR_NONE;
            homes += used && myr_design_port_group(plan, p)->net == net;
        }
        most = homes > most ? homes : most;
    }
    return most;
}

/* UINT16_MAX: nothing is planned for this port. */
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

/*
 * False where hosts cannot be placed freely: cables of too many legs, legs to two switches, or
 * classes of unequal size. The planned places are then taken as they are.
 */
static bool measure(struct free_net *net, struct myr_arena *scratch)
{
    const struct myr_design *plan = net->grow->plan;
    const struct myr_network *out = &plan->networks[net->net];
    net->access = out->access > 0;
    net->first = net->access ? out->first_access : out->first_leaf;
    net->count = net->access ? out->access : out->leaf;
    net->classes = net->access ? homes_of(plan, net->net) : out->planes;
    net->want = MYR_ARENA_NEW(scratch, uint32_t, net->count);
    net->used = MYR_ARENA_NEW(scratch, uint32_t, net->count);
    net->room = MYR_ARENA_NEW(scratch, uint32_t, net->count);
    net->served = MYR_ARENA_NEW(scratch, bool, plan->port_count);
    net->busy = MYR_ARENA_NEW(scratch, bool, plan->port_count);
    /* The first group of a leaf's ports are those towards hosts. */
    for (uint32_t i = 0; i < net->count; i++) {
        const struct myr_port_group *group =
            &plan->devtypes[plan->device_type[net->first + i]].groups[0];
        net->room[i] = group->count;
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
        net->want[i] = out->fill == MYR_FILL_DENSE ? net->want[i] : UINT32_MAX;
    }
    return net->classes > 0 && net->count % net->classes == 0;
}

/* The ports under a head are nobody else's; false: one of them is taken. */
static bool occupy(struct free_net *net, uint32_t leaf, uint16_t type, uint32_t port)
{
    uint32_t count, first = grow_head_at(net->grow, type, port, &count);
    for (uint32_t i = first; i < first + count; i++) {
        if (net->busy[i]) {
            return false;
        }
    }
    memset(&net->busy[first], true, count);
    net->room[leaf] -= count;
    return true;
}

/* The first place of a switch for a cable of so many legs; of ret_count how many there are. */
static uint32_t find_place(const struct free_net *net, uint32_t leaf, const struct unit *unit,
                           uint32_t most, uint32_t *ret_count)
{
    const struct myr_design *plan = net->grow->plan;
    uint32_t device = net->first + leaf, found = MYR_NONE;
    const struct myr_port_group *group = &plan->devtypes[plan->device_type[device]].groups[0];
    uint32_t head = grow_head(&plan->cabletypes[unit->type], group);
    uint32_t first = plan->first_port[device] + group->first;
    *ret_count = 0;
    if (net->room[leaf] < unit->count) {
        return MYR_NONE;
    }
    for (uint32_t at = 0; at + unit->count <= group->count && *ret_count < most; at += head) {
        bool busy = false;
        for (uint32_t i = at; i < at + head && i < group->count; i++) {
            busy |= net->busy[first + i];
        }
        if (!busy) {
            found = found == MYR_NONE ? first + at : found;
            (*ret_count)++;
        }
    }
    return found;
}

/*
 * An installed cable as a unit: kept where its switch has so many hosts, else to be moved. False
 * where it cannot be one unit: then the whole network has the planned places.
 */
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
        uint32_t there = grow_port(grow, old->link_b[l]);
        uint16_t type = planned_type(grow, port);
        /* A port that plays another role now cannot hold it. */
        unit.kept &= there != MYR_NONE;
        unit.at = unit.count ? unit.at : there;
        unit.leaf = leaf;
        unit.type = unit.count && type != unit.type ? UINT16_MAX : type;
        unit.class = port_class(net, port);
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
    /*
     * In the order of installed cables: those that come first stay where a leaf will have fewer
     * hosts.
     */
    if (unit.kept && net->used[unit.leaf] < net->want[unit.leaf] &&
        occupy(net, unit.leaf, unit.type, unit.at)) {
        net->used[unit.leaf]++;
        (void)grow_head_at(grow, unit.type, unit.at, &unit.most);
    } else {
        unit.kept = false;
        unit.leaf = unit.at = MYR_NONE;
        unit.most = LEGS_MAX;
    }
    myr_vec_push(&net->units, unit);
    return true;
}

/*
 * A host port without a cable: on a leg that hangs loose, or on a new cable. 'loose' is the unit to
 * look at next: those before it are passed for good.
 */
static void take_new(struct free_net *net, uint32_t port, uint32_t *loose)
{
    const struct grow *grow = net->grow;
    uint16_t type = planned_type(grow, port), class = port_class(net, port);
    uint32_t legs = grow->plan->cabletypes[type].legs;
    for (; legs > 1 && *loose < net->units.count; (*loose)++) {
        struct unit *unit = &net->units.items[*loose];
        if (unit->count < legs && unit->count < unit->most && unit->type == type &&
            unit->class == class) {
            unit->port[unit->count++] = port;
            return;
        }
    }
    myr_vec_push(&net->units, (struct unit){.port = {port},
                                            .count = 1,
                                            .leaf = MYR_NONE,
                                            .from = MYR_NONE,
                                            .most = LEGS_MAX,
                                            .at = MYR_NONE,
                                            .type = type,
                                            .class = class});
    *loose = (uint32_t)net->units.count - 1;
}

/*
 * A switch of the class with places for 'count' such cables; 'limited': no more than its share. The
 * first that fits, so that new hosts fill leaves in order.
 */
static uint32_t find_leaf(const struct free_net *net, const struct unit *unit, uint32_t count,
                          bool limited)
{
    for (uint32_t leaf = 0; leaf < net->count; leaf++) {
        uint32_t places;
        /* In a dense fill only as many as the larger plan has on that leaf. */
        bool shared = limited && net->want[leaf] < net->used[leaf] + count;
        if ((unit->class == ANY_CLASS || leaf_class(net, leaf) == unit->class) && !shared &&
            find_place(net, leaf, unit, count, &places) != MYR_NONE && places >= count) {
            return leaf;
        }
    }
    return MYR_NONE;
}

static uint32_t host_of(const struct free_net *net, const struct unit *unit)
{
    return net->grow->plan->port_device[unit->port[0]];
}

/* Only called where there is a place. */
static void settle(struct free_net *net, struct unit *unit, uint32_t leaf)
{
    const struct myr_design *plan = net->grow->plan;
    uint32_t places, at = find_place(net, leaf, unit, 1, &places);
    const struct myr_port_group *group = myr_design_port_group(plan, at);
    bool taken = occupy(net, leaf, unit->type, at);
    MYR_ASSERT(taken);
    unit->leaf = leaf;
    /* Only where it fills more than a connector does it matter which: others go around it. */
    bool large = grow_head(&plan->cabletypes[unit->type], group) > group->per_connector;
    unit->at = large ? at : MYR_NONE;
    net->used[leaf]++;
}

/* Units from i on that want to be together: those of one host, all alike. */
static size_t together(const struct free_net *net, size_t i)
{
    const struct unit *unit = &net->units.items[i];
    size_t end = i + 1;
    while (end < net->units.count && unit->from == MYR_NONE) {
        const struct unit *next = &net->units.items[end];
        if (next->leaf != MYR_NONE || next->class != unit->class || next->type != unit->type ||
            next->count != unit->count || host_of(net, next) != host_of(net, unit)) {
            break;
        }
        end++;
    }
    return end;
}

/* The last leg of a new cable gets one of its own: the last cage of a role may be half a one. */
static void split(struct free_net *net, size_t i)
{
    /* A copy first: the array may move when it grows. */
    struct unit rest = net->units.items[i];
    net->units.items[i].count--;
    rest.port[0] = rest.port[rest.count - 1];
    rest.count = 1;
    myr_vec_push(&net->units, rest);
}

/*
 * All units of a host together, or else one by one. The share of a leaf is kept where it can be;
 * where no leaf has one left, any free place will do.
 */
static bool place_from(struct free_net *net, size_t i, size_t *ret_next)
{
    size_t end = together(net, i);
    const struct unit unit = net->units.items[i];
    uint32_t leaf = find_leaf(net, &unit, (uint32_t)(end - i), true);
    end = leaf == MYR_NONE ? i + 1 : end;
    leaf = leaf == MYR_NONE ? find_leaf(net, &unit, 1, true) : leaf;
    leaf = leaf == MYR_NONE ? find_leaf(net, &unit, 1, false) : leaf;
    if (leaf == MYR_NONE) {
        if (unit.from != MYR_NONE || unit.count < 2) {
            return false;
        }
        split(net, i);
        end = i; /* once more */
    }
    for (size_t k = i; k < end; k++) {
        settle(net, &net->units.items[k], leaf);
    }
    *ret_next = end;
    return true;
}

/*
 * Those that may go anywhere come last, and leave the others their class. False: something has no
 * place at all.
 */
static bool place_units(struct free_net *net)
{
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < net->units.count;) {
            const struct unit *unit = &net->units.items[i];
            if (unit->leaf != MYR_NONE || (unit->class == ANY_CLASS) != (pass == 1)) {
                i++;
            } else if (!place_from(net, i, &i)) {
                return false;
            }
        }
    }
    return true;
}

/* Legs of an installed cable first, in its order: link.from counts on them. */
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
            link.port_b = i < unit->ours
                              ? grow_port(grow, old->link_b[link.from])
                              : grow_loose_leg(grow, unit->type, grow->links[cable->first].port_b);
        } else if (unit->at != MYR_NONE) {
            link.port_b = unit->at + i;
        }
        grow_push_link(grow, link);
    }
    grow_reserve(grow, cable);
}

/* Cables in a regular order: leaf by leaf, what stays first, then by host. */
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

/* False leaves everything as it was: nothing is laid before all units have places. */
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
    /*
     * Hosts, and boxes with a management port, come before the switches of the network that they
     * hang on.
     */
    for (uint32_t port = 0; good && port < plan->first_port[net.first]; port++) {
        uint32_t link = plan->port_link[port];
        if (link != MYR_NONE && !net.served[port] &&
            is_host_cable(plan, plan->link_cable[link], id)) {
            take_new(&net, port, &loose);
        }
    }
    good = good && place_units(&net);
    if (good && net.units.count > 1) {
        qsort(net.units.items, net.units.count, sizeof(*net.units.items), by_leaf);
    }
    if (good) {
        for (size_t i = 0; i < net.units.count; i++) {
            lay_unit(&net, &net.units.items[i]);
        }
    }
    myr_vec_done(&net.units);
    return good;
}

/* In a room cables were measured between the planned ends, which therefore stay. */
void grow_lay_hosts(struct grow *grow, enum myr_net_id net)
{
    uint32_t topology = grow->plan->networks[net].topology;
    bool rails = topology == MYR_TOPOLOGY_RAIL || topology == MYR_TOPOLOGY_RAIL_ONLY;
    if (rails || grow_in_room(grow) || !lay_free(grow, net)) {
        grow_lay_fixed(grow, net);
    }
}
