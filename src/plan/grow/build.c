#include "grow/grow_internal.h"

/*
 * The grown design's arrays: devices and ports in the order of the planned one, cables as they were
 * laid. Ends that are still open take the first free port of their role, whole connectors first.
 */

/* Deals out free ports, group by group. */
struct hand {
    struct grow *grow;
    uint16_t *next; /* by device and port group: the first port that may be free */
};

/* NULL: the device has no such ports. */
static const struct myr_port_group *group_of(const struct grow *grow, uint32_t device,
                                             enum myr_port_role role, uint32_t net,
                                             uint32_t *ret_index)
{
    const struct myr_devtype *type = &grow->plan->devtypes[grow->plan->device_type[device]];
    for (uint32_t i = 0; i < type->group_count; i++) {
        if (type->groups[i].role == role && type->groups[i].net == net) {
            *ret_index = i;
            return &type->groups[i];
        }
    }
    return NULL;
}

/* 'count' free ports behind each other, from a multiple of 'step'; MYR_NONE: there are none. */
static uint32_t find_run(const struct hand *hand, uint32_t device,
                         const struct myr_port_group *group, uint32_t start, uint32_t step,
                         uint32_t count)
{
    uint32_t first = hand->grow->plan->first_port[device] + group->first;
    for (uint32_t at = start / step * step; at + count <= group->count; at += step) {
        bool taken = false;
        for (uint32_t i = 0; i < step && at + i < group->count; i++) {
            taken |= hand->grow->port_taken[first + at + i];
        }
        if (!taken) {
            return first + at;
        }
    }
    return MYR_NONE;
}

/*
 * Ports for all open ends of a cable at one device; false: it has none left for them. A cable with
 * a head wants its ports side by side in one connector or cage. Others take them so where they can,
 * and single ones where not.
 */
static bool give(struct hand *hand, uint32_t device, enum myr_port_role role,
                 const struct myr_cabletype *type, uint32_t **ends, uint32_t count)
{
    struct grow *grow = hand->grow;
    uint32_t index;
    const struct myr_port_group *group = group_of(grow, device, role, type->net, &index);
    /* An aggregation switch whose ports are alike goes up through the last of them. */
    uint16_t above = (uint16_t)grow->plan->networks[type->net].spine_down;
    bool alike = !group && role == MYR_PORT_UP;
    group = alike ? group_of(grow, device, MYR_PORT_DOWN, type->net, &index) : group;
    if (!group) {
        return false;
    }
    uint16_t *next = alike ? &above : &hand->next[(size_t)device * MYR_PORT_GROUPS_MAX + index];
    uint32_t first = grow->plan->first_port[device] + group->first;
    /* What is taken stays taken, so the search never goes back. */
    while (*next < group->count && grow->port_taken[first + *next]) {
        (*next)++;
    }
    uint32_t head = grow_head(type, group);
    /*
     * A head wants its whole place; cables of several links without one like to lie side by side.
     */
    uint32_t step = head > 1 ? head : count > 1 ? type->legs : 1;
    uint32_t run = step > 1 ? find_run(hand, device, group, *next, step, count) : MYR_NONE;
    if (run == MYR_NONE && head > group->per_connector) {
        return false; /* no cage is empty, and a head is not shared out over two */
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t port = run == MYR_NONE ? find_run(hand, device, group, *next, 1, 1) : run + i;
        /* What was installed before there were cores may lie among the last ports, and stays. */
        port = alike && port == MYR_NONE ? find_run(hand, device, group, 0, 1, 1) : port;
        if (port == MYR_NONE) {
            return false;
        }
        MYR_ASSERT(!grow->port_taken[port]);
        grow->port_taken[port] = true;
        *ends[i] = port;
    }
    /* The rest of a splitter's connector is nobody else's. */
    for (uint32_t i = count; run != MYR_NONE && i < step && run + i < first + group->count; i++) {
        grow->port_taken[run + i] = head > 1 || grow->port_taken[run + i];
    }
    return true;
}

/* Of switches: the ports of hosts are never open. */
static enum myr_port_role role_of(const struct myr_cabletype *type, bool upper)
{
    switch ((enum myr_layer)type->layer) {
    case MYR_LAYER_LOCAL:
        return MYR_PORT_LOCAL;
    case MYR_LAYER_GLOBAL:
        return MYR_PORT_GLOBAL;
    default:
        return upper ? MYR_PORT_DOWN : MYR_PORT_UP;
    }
}

/* Cables that stay where they are may leave none of a kind that wants several ports together. */
static int no_port(const struct grow *grow, uint32_t device, const struct myr_cabletype *type,
                   struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf name = {};
    myr_design_name(grow->plan, device, &name);
    return myr_err_set(err, MYR_EINFEASIBLE,
                       "%.80s: cannot grow from %.80s: beside the cables that stay %.60s has no "
                       "free place for another of its %s network (%s)",
                       grow->names.planned, grow->names.installed, name.data,
                       myr_net_names[type->net], myr_layer_names[type->layer]);
}

/* The open ends of a cable on one side, device by device. */
static int plug_side(struct hand *hand, const struct grow_cable *cable, bool upper,
                     struct myr_err *err)
{
    struct grow *grow = hand->grow;
    const struct myr_cabletype *type = &grow->plan->cabletypes[cable->type];
    /* Each device of the side once: its open ends are closed at the first of them. */
    for (uint32_t l = cable->first; l < cable->first + cable->count; l++) {
        uint32_t *ends[UINT8_MAX + 1];
        uint32_t device = upper ? grow->links[l].b : grow->links[l].a, count = 0;
        for (uint32_t k = l; k < cable->first + cable->count; k++) {
            struct grow_link *link = &grow->links[k];
            uint32_t *end = upper ? &link->port_b : &link->port_a;
            if (*end == MYR_NONE && (upper ? link->b : link->a) == device) {
                MYR_ASSERT(count <= UINT8_MAX);
                ends[count++] = end;
            }
        }
        if (count && !give(hand, device, role_of(type, upper), type, ends, count)) {
            return no_port(grow, device, type, err);
        }
    }
    return MYR_OK;
}

/*
 * Cables and links in the order in which they were laid; lengths are those of the planned cables.
 */
static void emit(struct grow *grow)
{
    struct myr_design *out = &grow->out->grown;
    const struct myr_design *plan = grow->plan;
    uint32_t links = grow->link_count;
    out->link_count = links;
    out->cable_count = grow->cable_count;
    out->port_link = MYR_ARENA_NEW(grow->arena, uint32_t, plan->port_count);
    out->link_a = MYR_ARENA_NEW(grow->arena, uint32_t, links);
    out->link_b = MYR_ARENA_NEW(grow->arena, uint32_t, links);
    out->link_cable = MYR_ARENA_NEW(grow->arena, uint32_t, links);
    out->first_link = MYR_ARENA_NEW(grow->arena, uint32_t, (size_t)grow->cable_count + 1);
    out->cable_type = MYR_ARENA_NEW(grow->arena, uint16_t, grow->cable_count);
    out->cable_mm = plan->cable_mm ? MYR_ARENA_NEW(grow->arena, uint32_t, grow->cable_count) : NULL;
    for (uint32_t port = 0; port < plan->port_count; port++) {
        out->port_link[port] = MYR_NONE;
    }
    for (uint32_t c = 0; c < grow->cable_count; c++) {
        const struct grow_cable *cable = &grow->cables[c];
        out->first_link[c] = cable->first;
        out->cable_type[c] = cable->type;
        if (plan->cable_mm) {
            MYR_ASSERT(cable->planned != MYR_NONE);
            out->cable_mm[c] = plan->cable_mm[cable->planned];
        }
        for (uint32_t l = cable->first; l < cable->first + cable->count; l++) {
            const struct grow_link *link = &grow->links[l];
            out->link_a[l] = link->port_a;
            out->link_b[l] = link->port_b;
            out->link_cable[l] = c;
            MYR_ASSERT(out->port_link[link->port_a] == MYR_NONE);
            MYR_ASSERT(out->port_link[link->port_b] == MYR_NONE);
            out->port_link[link->port_a] = out->port_link[link->port_b] = l;
        }
    }
    out->first_link[grow->cable_count] = links;
}

/*
 * Cables by layer: where hosts were spread anew there may be one more or less. The planner's counts
 * are those of its own cabling.
 */
static void recount(struct grow *grow)
{
    struct myr_design *out = &grow->out->grown;
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        memset(out->networks[id].cables, 0, sizeof(out->networks[id].cables));
        out->networks[id].copper_cables = out->networks[id].fibres = 0;
    }
    for (uint32_t c = 0; c < out->cable_count; c++) {
        const struct myr_cabletype *type = grow_type(out, c);
        struct myr_network *net = &out->networks[type->net];
        uint32_t links = out->first_link[c + 1] - out->first_link[c];
        bool fixed = type->part && !type->optic_a; /* as a plan counts them */
        uint32_t counted = fixed ? links : 1;
        net->cables[type->layer] += counted;
        net->copper_cables += type->medium == MYR_MEDIUM_COPPER && type->part ? counted : 0;
        net->fibres += fixed || type->head_b ? 1 : links;
    }
}

/*
 * Links that a row has to each column, the rows being pods or leaves of one fabric. What two rows
 * can exchange over a column is the lesser of their links to it. UINT64_MAX with one row.
 */
static uint64_t worst_pair(const uint32_t *links, uint32_t rows, uint32_t cols)
{
    uint64_t worst = UINT64_MAX;
    for (uint32_t a = 0; a < rows; a++) {
        for (uint32_t b = a + 1; b < rows; b++) {
            uint64_t shared = 0;
            for (uint32_t c = 0; c < cols; c++) {
                uint32_t mine = links[(size_t)a * cols + c], theirs = links[(size_t)b * cols + c];
                shared += mine < theirs ? mine : theirs;
            }
            worst = shared < worst ? shared : worst;
        }
    }
    return worst;
}

/* The worst pair of a dense fill, counted: its pattern is no longer the planner's. */
static void measure_pairs(struct grow *grow, uint32_t id)
{
    struct myr_design *out = &grow->out->grown;
    struct myr_network *net = &out->networks[id];
    if (net->fill != MYR_FILL_DENSE || net->tiers < 2 || !net->spine) {
        return;
    }
    /*
     * With three tiers rows are pods (all spines of one) and columns cores, with two leaves and
     * spines.
     */
    uint32_t fabrics = net->planes * net->units;
    bool top = net->tiers == 3;
    uint32_t lower = (top ? net->spine : net->leaf) / fabrics, in_row = top ? net->pod_spines : 1;
    uint32_t first_row = top ? net->first_spine : net->first_leaf, rows = lower / in_row;
    uint32_t first_col = top ? net->first_core : net->first_spine;
    uint32_t cols = (top ? net->core : net->spine) / fabrics;
    if (rows < 2) {
        return;
    }
    MYR_CLEANUP(myr_arena_done) struct myr_arena scratch;
    myr_arena_init(&scratch);
    uint32_t *links = MYR_ARENA_NEW(&scratch, uint32_t, (size_t)rows * cols);
    for (uint32_t l = 0; l < out->link_count; l++) {
        /* Unsigned: what lies before the first one becomes too large, and is passed over. */
        uint32_t a = out->port_device[out->link_a[l]] - first_row;
        uint32_t b = out->port_device[out->link_b[l]] - first_col;
        if (a < lower && b < cols) { /* one fabric: the others are alike */
            links[(size_t)(a / in_row) * cols + b]++;
        }
    }
    net->worst_pair_gbps = worst_pair(links, rows, cols) * net->fabric_gbps;
}

/* Cable by cable, the lower end first. */
int grow_build(struct grow *grow, struct myr_err *err)
{
    struct myr_design *out = &grow->out->grown;
    /* Shares all arrays that do not change; the mapping stays with the plan, which outlives it. */
    *out = *grow->plan;
    out->mapping = NULL;
    out->mapping_bytes = 0;
    out->networks = MYR_ARENA_NEW(grow->arena, struct myr_network, MYR_NET_COUNT);
    memcpy(out->networks, grow->plan->networks, MYR_NET_COUNT * sizeof(*out->networks));
    struct hand hand = {.grow = grow,
                        .next =
                            MYR_ARENA_NEW(grow->arena, uint16_t,
                                          (size_t)grow->plan->device_count * MYR_PORT_GROUPS_MAX)};
    for (uint32_t c = 0; c < grow->cable_count; c++) {
        MYR_TRY(plug_side(&hand, &grow->cables[c], false, err));
        MYR_TRY(plug_side(&hand, &grow->cables[c], true, err));
    }
    emit(grow);
    recount(grow);
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        measure_pairs(grow, id);
    }
    return MYR_OK;
}
