#include "plan_internal.h"

/*
 * Proves the finished design. Nothing here uses the builder's formulas: degrees, multiplicities,
 * rails, reachability and diameter are counted again from ports and links, and compared with what
 * the closed forms promised. A difference is a finding of severity error.
 */

/* Room for one walk after the other over the whole design. */
struct walk {
    uint32_t *distance; /* by device, in switch hops; MYR_NONE: not reached */
    uint32_t *queue;
};

/* Everything that passes traffic on: no host, manager or power strip. */
static bool is_switch(const struct myr_design *design, uint32_t device)
{
    uint8_t kind = design->place[device].kind;
    return kind != MYR_DEVICE_NODE && kind != MYR_DEVICE_STORAGE && kind != MYR_DEVICE_MANAGEMENT &&
           kind != MYR_DEVICE_FABRIC_MANAGER && kind < MYR_DEVICE_PDU;
}

static uint32_t peer_device(const struct myr_design *design, uint32_t port)
{
    uint32_t peer = myr_design_peer(design, port);
    return peer == MYR_NONE ? MYR_NONE : design->port_device[peer];
}

/*
 * Breadth first over switches; returns how many were reached. Stays in one network: a switch also
 * has a management port, which leads into another one. Distances of earlier walks stay, so every
 * fabric is walked once.
 */
static uint32_t walk_from(const struct myr_design *design, struct walk *walk, uint32_t start)
{
    uint32_t head = 0, tail = 0;
    walk->distance[start] = 0;
    walk->queue[tail++] = start;
    while (head < tail) {
        uint32_t device = walk->queue[head++];
        MYR_ASSERT(tail <= design->device_count && walk->distance[device] != MYR_NONE);
        for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
            uint32_t other = peer_device(design, p);
            if (other != MYR_NONE && is_switch(design, other) &&
                walk->distance[other] == MYR_NONE &&
                design->place[other].net == design->place[device].net) {
                walk->distance[other] = walk->distance[device] + 1;
                walk->queue[tail++] = other;
            }
        }
    }
    return tail;
}

/* A bug of the planner, which its user must see: no assert, for the design may serve him still. */
static void structure(struct plan *plan, const struct net_plan *net, const char *what,
                      uint64_t found, uint64_t promised)
{
    if (found != promised) {
        plan_finding(plan, MYR_SEVERITY_ERROR, "structure", myr_net_names[net->id],
                     "report this: the builder and the checker disagree",
                     "%s: counted %llu, planned %llu", what, (unsigned long long)found,
                     (unsigned long long)promised);
    }
}

/* Routers count as leaves; only access networks have access switches instead. */
static uint32_t host_switches(const struct net_plan *net)
{
    return net->out.leaf ? net->out.leaf : net->out.access;
}

/*
 * Every fabric is in one piece, and no two of its host switches are farther than promised. From one
 * switch of each fabric only: they are alike, and from all of them the work would grow with the
 * square of the fabric.
 */
static void check_distances(struct plan *plan, struct net_plan *net)
{
    const struct myr_design *design = &plan->design;
    const struct myr_network *out = &net->out;
    uint32_t first = out->leaf ? out->first_leaf : out->first_access;
    uint32_t count = host_switches(net);
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    myr_arena_init(&arena);
    struct walk walk = {MYR_ARENA_NEW(&arena, uint32_t, design->device_count),
                        MYR_ARENA_NEW(&arena, uint32_t, design->device_count)};
    uint32_t pieces = 0, farthest = 0;
    for (uint32_t i = 0; i < design->device_count; i++) {
        walk.distance[i] = MYR_NONE;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (walk.distance[first + i] != MYR_NONE) {
            continue;
        }
        uint32_t reached = walk_from(design, &walk, first + i);
        pieces++;
        for (uint32_t k = 0; k < reached; k++) {
            uint32_t device = walk.queue[k];
            bool holds_hosts = device >= first && device < first + count;
            if (holds_hosts && walk.distance[device] > farthest) {
                farthest = walk.distance[device];
            }
        }
    }
    uint32_t fabrics = out->leaf ? out->planes * out->units : 1;
    /* An access network is one piece: its windows overlap all around. */
    structure(plan, net, "separate fabrics", pieces, fabrics);
    if (out->access) {
        net->out.diameter_hops = farthest; /* counted, not promised: windows make chains */
    } else if (farthest > out->diameter_hops) {
        structure(plan, net, "diameter in hops", farthest, out->diameter_hops);
    }
}

/* How many links the joined pairs have: at least, at most, and unevenly at one switch. */
struct multiplicity {
    uint32_t least, most;
    uint32_t spread; /* most at one switch: leaves with more hosts may have more uplinks */
};

/* Links between neighbours on two tiers: equal everywhere in a regular fabric. */
static struct multiplicity count_pairs(const struct plan *plan, uint32_t first, uint32_t count,
                                       enum myr_port_role role, uint32_t *scratch)
{
    const struct myr_design *design = &plan->design;
    struct multiplicity found = {MYR_NONE, 0, 0};
    for (uint32_t device = first; device < first + count; device++) {
        uint32_t begin = design->first_port[device], end = design->first_port[device + 1];
        uint32_t least = MYR_NONE, most = 0;
        /* Counted in the first pass, read and cleared in the second: scratch is zero again. */
        for (uint32_t pass = 0; pass < 2; pass++) {
            for (uint32_t p = begin; p < end; p++) {
                uint32_t other = peer_device(design, p);
                if (other == MYR_NONE || myr_design_port_group(design, p)->role != role) {
                    continue;
                }
                if (pass == 0) {
                    scratch[other]++;
                } else if (scratch[other]) {
                    uint32_t links = scratch[other];
                    least = links < least ? links : least;
                    most = links > most ? links : most;
                    scratch[other] = 0;
                }
            }
        }
        found.least = least < found.least ? least : found.least;
        found.most = most > found.most ? most : found.most;
        /* A switch without such links has no pairs, and so no spread. */
        found.spread = most && most - least > found.spread ? most - least : found.spread;
    }
    return found;
}

/*
 * A regular fill has the same number everywhere, or a warning; a dense one differs by design and is
 * only told. docs/decisions/0005 says what either fill promises.
 */
static void check_multiplicity(struct plan *plan, const struct net_plan *net, uint32_t first,
                               uint32_t count, const char *between, uint32_t *scratch)
{
    if (count == 0) {
        return;
    }
    struct multiplicity found = count_pairs(plan, first, count, MYR_PORT_UP, scratch);
    if (found.most == 0 || found.least == found.most) {
        return;
    }
    bool expected = net->out.fill == MYR_FILL_DENSE;
    plan_finding(plan, expected ? MYR_SEVERITY_INFO : MYR_SEVERITY_WARNING, "uneven-links",
                 myr_net_names[net->id], "fill: regular makes every pair equal",
                 "%s: %u to %u links between a pair", between, found.least, found.most);
    /*
     * Leaves may differ among each other by their hosts, but the links of one leaf by one at most.
     */
    if (found.spread > 1 && expected) {
        structure(plan, net, "spread of a switch's links over its pairs", found.spread, 1);
    }
}

/* Rail k of every node of a group ends on that group's leaf k, and on no other. */
static void check_rails(struct plan *plan, const struct net_plan *net)
{
    const struct myr_design *design = &plan->design;
    const struct myr_network *out = &net->out;
    uint64_t wrong = 0;
    for (uint32_t leaf = 0; leaf < out->leaf; leaf++) {
        uint32_t device = out->first_leaf + leaf;
        /* In rail-only each rail is a fabric, which is the unit of a leaf's place. */
        uint32_t rail = out->topology == MYR_TOPOLOGY_RAIL_ONLY ? design->place[device].unit
                                                                : design->place[device].ordinal;
        for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
            uint32_t peer = myr_design_peer(design, p);
            if (peer == MYR_NONE ||
                design->place[design->port_device[peer]].kind != MYR_DEVICE_NODE) {
                continue;
            }
            const struct myr_port_group *group = myr_design_port_group(design, peer);
            uint32_t index = peer - design->first_port[design->port_device[peer]] - group->first;
            /*
             * The ports of one card for all planes lie side by side; more cards than rails begin
             * anew at rail 0.
             */
            wrong += index / out->planes % out->rails != rail;
        }
    }
    structure(plan, net, "NICs on a leaf of another rail", wrong, 0);
}

/* Cables and links by layer, counted from the arrays: these are the numbers that are printed. */
static void count_layers(struct plan *plan)
{
    const struct myr_design *design = &plan->design;
    for (uint32_t cable = 0; cable < design->cable_count; cable++) {
        const struct myr_cabletype *type = &plan->cabletypes.items[design->cable_type[cable]];
        struct myr_network *out = &plan->nets[type->net].out;
        uint32_t links = design->first_link[cable + 1] - design->first_link[cable];
        /*
         * As published tables have it: copper one for each link, twin cages and splitters once. No
         * module where a part is known means fixed ends; without any part it is not known, and
         * counts as fibre.
         */
        bool fixed = type->part && !type->optic_a;
        uint32_t counted = fixed ? links : 1;
        out->cables[type->layer] += counted;
        out->links[type->layer] += links;
        out->copper_cables += type->medium == MYR_MEDIUM_COPPER && type->part ? counted : 0;
        /* Straight fibres are pulled one by one also where they are counted together. */
        out->fibres += fixed || type->head_b ? 1 : links;
    }
}

/* Access networks have no tiers of equal pairs, and no rails. */
static void check_net(struct plan *plan, struct net_plan *net, uint32_t *scratch)
{
    const struct myr_network *out = &net->out;
    uint64_t links = 0;
    for (uint32_t layer = 0; layer < MYR_LAYER_COUNT; layer++) {
        /* Counted by count_layers() from the arrays. */
        links += out->links[layer];
    }
    /* net->link_total and the endpoints come from the closed forms of the sizing. */
    structure(plan, net, "links", links, net->link_total);
    structure(plan, net, "host links", out->links[MYR_LAYER_HOST],
              (uint64_t)net->endpoints * out->planes);
    check_distances(plan, net);
    if (out->topology == MYR_TOPOLOGY_ACCESS) {
        return;
    }
    check_multiplicity(plan, net, out->first_leaf, out->leaf, "leaf to spine", scratch);
    check_multiplicity(plan, net, out->first_spine, out->spine, "spine to core", scratch);
    if (out->topology == MYR_TOPOLOGY_RAIL || out->topology == MYR_TOPOLOGY_RAIL_ONLY) {
        check_rails(plan, net);
    }
}

/* Never fails: what is wrong becomes a finding, and the user sees both. */
int plan_check(struct plan *plan, struct myr_err *err)
{
    (void)err;
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena;
    myr_arena_init(&arena);
    uint32_t *scratch = MYR_ARENA_NEW(&arena, uint32_t, plan->design.device_count);
    count_layers(plan);
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        if (plan->nets[id].present) {
            check_net(plan, &plan->nets[id], scratch);
        }
    }
    return MYR_OK;
}
