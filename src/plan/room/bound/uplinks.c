#include <stdlib.h>

#include "room/bound/bound.h"

/*
 * Cables between leaves and spines. A leaf with fewer hosts than uplinks has some that no chain
 * from a server uses; what these are is left over for all leaves of a block, to all spines alike.
 *
 * Let B leaves and P spines stand somewhere. Sums of ways over ordered pairs: X among the leaves,
 * Y among the spines, Z from leaves to spines. Ways along trays are sums of absolute differences,
 * for which 2 Z / BP >= X / B^2 + Y / P^2 (the energy distance of two sets is not negative). And
 * n = B + P switches do not fit one rack: around each of them the n nearest seats lie no nearer
 * than N, so X + Y + 2 Z >= n N. Whatever X and Y are, Z is then no less than k n N / (2 + 2 k)
 * with k = B / P or P / B, whichever is smaller.
 */

/* The most switches of that need that any rack takes when nothing else stands in it. */
static uint32_t seats_most(const struct bound *b, const struct load *need)
{
    uint32_t most = 1;
    for (uint32_t i = 0; i < b->design->rack_count; i++) {
        struct load load = bound_rack_load(b, i);
        uint32_t here = room_fits(&load, need);
        most = here > most ? here : most;
    }
    return most;
}

/* As if every rack were the most roomy one: more seats only make the bound smaller. */
struct bound bound_with_seats(const struct bound *b, const struct load *need)
{
    struct bound seats = *b;
    seats.places = seats_most(b, need);
    seats.wider_count = 0;
    return seats;
}

/* Ways of all pairs of leaves and spines, each with one cable; 0 where one rack takes them all. */
static double pairs_mm(const struct bound *b, uint32_t leaves, uint32_t spines,
                       const struct load *need)
{
    struct bound seats = bound_with_seats(b, need);
    uint32_t count = leaves + spines;
    if (seats.places >= count) {
        return 0;
    }
    double k = leaves < spines ? (double)leaves / spines : (double)spines / leaves;
    return k * count * bound_least_around(&seats, count) / (2 + 2 * k);
}

/* Leaves with the same uplinks to the same spines, as many of each left over. */
struct sheaf {
    uint32_t leaf, leaves, spines;
    double least; /* cables of a pair */
    struct load need;
};

/* Counts the cables of a leaf to each spine; false where it has none. */
static bool look_at_leaf(const struct bound *b, uint32_t leaf, double *to, struct sheaf *ret)
{
    const struct myr_design *design = b->design;
    uint32_t layer;
    *ret = (struct sheaf){.leaf = leaf, .leaves = 1, .need = bound_device_load(b, leaf)};
    /* 'to' is only cleared where this leaf has spines: it is as long as all devices. */
    for (uint32_t pass = 0; pass < 3; pass++) { /* to zero, count, look */
        for (uint32_t p = design->first_port[leaf]; p < design->first_port[leaf + 1]; p++) {
            uint32_t link = design->port_link[p];
            if (link == MYR_NONE || design->link_a[link] != p || !bound_of_net(b, link, &layer) ||
                layer != MYR_LAYER_FABRIC) {
                continue;
            }
            uint32_t spine = design->port_device[design->link_b[link]];
            if (pass < 2) {
                to[spine] = pass ? to[spine] + bound_link_weight(b, link) : 0;
            } else if (to[spine] > 0) {
                /* Each spine once, though several cables lead to it. */
                ret->least = ret->spines && ret->least < to[spine] ? ret->least : to[spine];
                ret->spines++;
                ret->need = bound_least_load(ret->need, bound_device_load(b, spine));
                to[spine] = 0;
            }
        }
    }
    return ret->spines > 0;
}

/* The first spine says which they are: those of a unit or pod are reached by all of its leaves. */
static uint32_t first_spine(const struct bound *b, uint32_t leaf)
{
    const struct myr_design *design = b->design;
    uint32_t first = MYR_NONE, layer;
    for (uint32_t p = design->first_port[leaf]; p < design->first_port[leaf + 1]; p++) {
        uint32_t link = design->port_link[p];
        if (link != MYR_NONE && design->link_a[link] == p && bound_of_net(b, link, &layer) &&
            layer == MYR_LAYER_FABRIC) {
            uint32_t spine = design->port_device[design->link_b[link]];
            first = spine < first ? spine : first;
        }
    }
    return first;
}

/* As many cables as the thinnest pair has, for every pair. */
static double sheaf_mm(struct bound *b, const struct sheaf *sheaf)
{
    return sheaf->leaves ? sheaf->least * pairs_mm(b, sheaf->leaves, sheaf->spines, &sheaf->need)
                         : 0;
}

/* By the corner of a building ways are no sums of differences any more. */
static bool one_hall(const struct bound *b)
{
    return b->plan->spec->room.building_count == 1 && b->net->leaf > 0 && b->net->spine > 0;
}

/* Leaves without uplinks to spare add nothing; sheaves follow each other in the order of leaves. */
double bound_uplinks_mm(struct bound *b)
{
    if (!one_hall(b)) {
        return 0;
    }
    double *to = MYR_ARENA_NEW(b->plan->arena, double, b->design->device_count);
    struct sheaf all = {};
    double sum = 0;
    uint32_t end = b->net->first_leaf + b->net->leaf;
    for (uint32_t leaf = b->net->first_leaf; leaf < end; leaf++) {
        struct sheaf one;
        /* Share of the uplinks that no host of the leaf can fill: these are in no chain. */
        double left = b->up[leaf] > b->host[leaf] ? 1 - b->host[leaf] / b->up[leaf] : 0;
        if (left <= 0 || !look_at_leaf(b, leaf, to, &one)) {
            continue;
        }
        one.least *= left;
        /* Leaves that follow each other on the same spines make one sheaf, with the least of all.
         */
        if (all.leaves && all.spines == one.spines &&
            first_spine(b, all.leaf) == first_spine(b, leaf)) {
            all.leaves++;
            all.least = one.least < all.least ? one.least : all.least;
            all.need = bound_least_load(all.need, one.need);
        } else {
            sum += sheaf_mm(b, &all);
            all = one;
        }
    }
    return sum + sheaf_mm(b, &all);
}

/* Cables that every server has to the leaf at the least; 0 where one has none. */
static double each_server(const struct bound *b, uint32_t leaf, double *counts, uint32_t servers)
{
    const struct myr_design *design = b->design;
    uint32_t nodes = b->plan->server->server.nodes;
    double least = -1;
    memset(counts, 0, sizeof(*counts) * servers);
    for (uint32_t p = design->first_port[leaf]; p < design->first_port[leaf + 1]; p++) {
        uint32_t link = design->port_link[p];
        uint32_t device = link == MYR_NONE || design->link_b[link] != p
                              ? MYR_NONE
                              : design->port_device[design->link_a[link]];
        if (device != MYR_NONE && design->place[device].kind == MYR_DEVICE_NODE) {
            counts[(device - design->head->first_node) / nodes] += bound_link_weight(b, link);
        }
    }
    /* One server without a cable makes it 0: the leaf is then not shared by all. */
    for (uint32_t i = 0; i < servers; i++) {
        least = least < 0 || counts[i] < least ? counts[i] : least;
    }
    return least > 0 ? least : 0;
}

/*
 * One block alone: every server has cables to every leaf, and every leaf to every spine. Then the
 * leaves are switches that all servers share, with seats of their own, and all uplinks are pairs.
 */
double bound_one_block_mm(struct bound *b)
{
    uint32_t servers = b->plan->spec->servers, count = b->net->leaf;
    if (!one_hall(b) || b->net->spine == 0 || servers < 2 ||
        servers > (uint64_t)b->places * b->design->rack_count) {
        return 0;
    }
    double *counts = MYR_ARENA_NEW(b->plan->arena, double, servers);
    double *weights = MYR_ARENA_NEW(b->plan->arena, double, count);
    double *to = MYR_ARENA_NEW(b->plan->arena, double, b->design->device_count);
    struct sheaf all = {};
    for (uint32_t i = 0; i < count; i++) {
        struct sheaf one;
        uint32_t leaf = b->net->first_leaf + i;
        weights[i] = each_server(b, leaf, counts, servers);
        if (weights[i] <= 0 || !look_at_leaf(b, leaf, to, &one) ||
            /* One leaf that hangs otherwise, and the rule does not hold. */
            (i > 0 &&
             (one.spines != all.spines || first_spine(b, leaf) != first_spine(b, all.leaf)))) {
            return 0;
        }
        one.leaves = i + 1;
        one.least = i > 0 && all.least < one.least ? all.least : one.least;
        if (i > 0) {
            one.need = bound_least_load(one.need, all.need);
        }
        all = one;
    }
    return bound_seats_mm(b, servers, weights, count, &all.need) + sheaf_mm(b, &all);
}

/*
 * Power strips: no more than two in a rack, so a switch on which n of them hang has ways to n / 2
 * racks at the least.
 */
double bound_strips_mm(struct bound *b)
{
    const struct myr_design *design = b->design;
    struct bound strips = *b;
    double sum = 0;
    /* The last count and what came out for it. */
    uint32_t known = 0;
    double known_mm = 0;
    /* As if both feeds of every rack had a strip. */
    strips.places = 2;
    strips.wider_count = 0;
    for (uint32_t i = 0; i < b->net->access; i++) {
        uint32_t device = b->net->first_access + i, count = 0;
        for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
            uint32_t peer = myr_design_peer(design, p);
            count +=
                peer != MYR_NONE && design->place[design->port_device[peer]].kind == MYR_DEVICE_PDU;
        }
        /* Two strips may hang in the switch's own rack. */
        if (count < 3) {
            continue;
        }
        /* Most switches have as many: computed once. */
        if (count != known) {
            known = count;
            known_mm = bound_least_around(&strips, count);
        }
        sum += known_mm;
    }
    return sum;
}
