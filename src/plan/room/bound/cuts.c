#include <math.h>
#include <stdlib.h>

#include "room/bound/bound.h"

/*
 * A bound for every cut of the cables. Which links share a cable hangs on how long the longest of
 * a layer is, so another placement may have other cables. Each network has the least over all ways
 * to cut its layers, but for those that no placement allows: a layer of copper that reaches so far
 * needs all ends of a switch's cables within its reach, and the racks there take only so much.
 *
 * A layer that is so short holds its ends together, too. Its cables may then count several times if
 * its reach is taken off for what is too much: so the ways of servers to leaves are seen to lead to
 * the spines as well, beside which the leaves stand, and that speaks against most such cuts.
 */

enum {
    RACKS_TRIED = 4096, /* larger rooms count as possible */
    NEAR_TRIED = 128,
    SHORT_MM = 10000, /* beyond this a layer holds nothing together */
    TIMES = 4,        /* different weights that a short layer is tried with */
};

struct way { /* to cut a layer */
    uint32_t step;
    bool now;        /* as it is cut */
    double reach_mm; /* between two racks, at the most */
};

struct layer_ways {
    uint32_t count;
    struct way ways[ROOM_STEPS];
};

/* ---- what stands within reach ---- */

/* How far two racks are apart at the most whose cable has this length; less than 0: none has. */
static double reach_of(const struct bound *b, uint32_t layer, double length_mm)
{
    const struct myr_spec_room *spec = &b->plan->spec->room;
    if (layer == MYR_LAYER_HOST && b->net->topology == MYR_TOPOLOGY_MIDDLE_OF_RACK) {
        return length_mm; /* these need not come out of their rack */
    }
    double most = (length_mm - spec->slack_m * 1000) / (1 + spec->slack_percent / 100) -
                  2 * spec->drop_m * 1000;
    return bound_rack_way_mm(b, most + 1); /* a millimetre for what was rounded */
}

static bool is_switch(uint32_t kind)
{
    return kind == MYR_DEVICE_LEAF || kind == MYR_DEVICE_SPINE || kind == MYR_DEVICE_CORE;
}

/* Different things that a switch has cables of the layer to, below it: servers, or switches. */
static uint32_t things_below(const struct bound *b, uint32_t device, uint32_t layer, bool *seen,
                             uint32_t *ret)
{
    const struct myr_design *design = b->design;
    uint32_t count = 0, nodes = b->plan->server->server.nodes, first = design->head->first_node;
    for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
        uint32_t link = design->port_link[p], of;
        if (link == MYR_NONE || design->link_b[link] != p || !bound_of_net(b, link, &of) ||
            of != layer) {
            continue;
        }
        uint32_t other = design->port_device[design->link_a[link]];
        bool node = design->place[other].kind == MYR_DEVICE_NODE;
        if (layer == MYR_LAYER_HOST && !node) {
            continue;
        }
        /* All nodes of a server stand together: it counts once, as its first node. */
        other = node ? first + (other - first) / nodes * nodes : other;
        if (!seen[other]) {
            seen[other] = true;
            ret[count++] = other;
        }
    }
    /* Left as it was found: the array is used for every switch. */
    for (uint32_t i = 0; i < count; i++) {
        seen[ret[i]] = false;
    }
    return count;
}

struct sides { /* switches of which each has cables to each of the other side */
    uint32_t lower, upper;
    double reach_mm;
    struct load need; /* of any of them, at the least */
};

/*
 * Whether both sides find seats, the lower ones within reach of all upper ones. Let the farthest
 * two of the upper side stand in racks x and y: all of it stands no farther from either than they
 * are apart, and the lower side within reach of both.
 */
static bool fits_around(const struct bound *b, const struct sides *sides, const uint32_t *near,
                        uint32_t count, const uint32_t *seats)
{
    uint32_t x = near[0];
    for (uint32_t k = 0; k < count; k++) {
        /* The diameter of the upper side, were y its other end. */
        double apart = bound_way_mm(b, x, near[k]);
        uint64_t upper = 0, lower = 0, both = 0;
        for (uint32_t i = 0; i < count; i++) {
            double from_x = bound_way_mm(b, x, near[i]), from_y = bound_way_mm(b, near[k], near[i]);
            bool up = from_x <= apart && from_y <= apart;
            bool low = from_x <= sides->reach_mm && from_y <= sides->reach_mm;
            upper += up ? seats[near[i]] : 0;
            lower += low ? seats[near[i]] : 0;
            both += up || low ? seats[near[i]] : 0;
        }
        if (upper >= sides->upper && lower >= sides->lower && both >= sides->upper + sides->lower) {
            return true;
        }
    }
    return false;
}

/* Room enough for a rough look first. Where looking closely would take too long, it may be. */
static bool sides_fit(const struct bound *b, const struct sides *sides)
{
    uint32_t racks = b->design->rack_count;
    uint32_t *seats = MYR_ARENA_NEW(b->plan->arena, uint32_t, racks);
    uint32_t *near = MYR_ARENA_NEW(b->plan->arena, uint32_t, racks);
    struct bound with_seats = bound_with_seats(b, &sides->need);
    if (bound_most_within(&with_seats, sides->reach_mm) < sides->lower + 1) {
        return false;
    }
    /* Not tried is not ruled out. */
    if (racks > RACKS_TRIED) {
        return true;
    }
    for (uint32_t i = 0; i < racks; i++) {
        struct load load = bound_rack_load(b, i);
        seats[i] = room_fits(&load, &sides->need);
    }
    for (uint32_t x = 0; x < racks; x++) {
        uint32_t count = 1;
        near[0] = x;
        for (uint32_t i = 0; i < racks; i++) {
            /* Two ends with a common neighbour stand no farther apart than twice the reach. */
            if (i != x && bound_way_mm(b, x, i) <= 2 * sides->reach_mm) {
                near[count++] = i;
            }
        }
        if (count > NEAR_TRIED || fits_around(b, sides, near, count, seats)) {
            return true;
        }
    }
    return false;
}

struct below { /* scratch, by device */
    bool *seen;
    uint32_t *lower, *other;
};

/* Switches from 'first' on, one after the other, that have the same below them. */
static uint32_t alike_from(const struct bound *b, uint32_t first, uint32_t layer,
                           const struct below *below, struct sides *ret)
{
    const struct myr_design *design = b->design;
    uint32_t at = first;
    ret->lower = things_below(b, first, layer, below->seen, below->lower);
    ret->need = bound_device_load(b, first);
    for (uint32_t i = 0; i < ret->lower; i++) {
        ret->need = bound_least_load(ret->need, bound_device_load(b, below->lower[i]));
    }
    do {
        ret->need = bound_least_load(ret->need, bound_device_load(b, at));
        ret->upper++;
        at++;
    } while (at < design->device_count && is_switch(design->place[at].kind) &&
             things_below(b, at, layer, below->seen, below->other) == ret->lower &&
             memcmp(below->other, below->lower, sizeof(*below->other) * ret->lower) == 0);
    return at;
}

/* Whether there may be a placement in which no cable of the layer reaches farther. */
static bool may_be(const struct bound *b, uint32_t layer, double reach_mm)
{
    const struct myr_design *design = b->design;
    uint32_t devices = design->device_count, most = 0;
    struct below below = {MYR_ARENA_NEW(b->plan->arena, bool, devices),
                          MYR_ARENA_NEW(b->plan->arena, uint32_t, devices),
                          MYR_ARENA_NEW(b->plan->arena, uint32_t, devices)};
    /* Shorter than drops and slack: no cable can be. */
    if (reach_mm < 0) {
        return false;
    }
    struct sides last = {};
    for (uint32_t i = 0; i < design->device_count;) {
        if (!is_switch(design->place[i].kind)) {
            i++;
        } else if (layer == MYR_LAYER_HOST) {
            uint32_t count = things_below(b, i++, layer, below.seen, below.lower);
            most = count > most ? count : most;
        } else {
            struct sides sides = {.reach_mm = reach_mm};
            i = alike_from(b, i, layer, &below, &sides);
            /* What is no larger than what fitted fits as well. */
            bool same = sides.lower == last.lower && sides.upper <= last.upper;
            if (sides.lower && !same && !sides_fit(b, &sides)) {
                return false;
            }
            last = sides.lower && !same ? sides : last;
        }
    }
    return most <= bound_most_within(b, reach_mm);
}

/* ---- what several short layers hold together ---- */

/* How far from a device others stand at the most: over links of layers whose reach is known. */
static void spread_from(const struct bound *b, uint32_t device, const double *reach_mm, double *ret)
{
    const struct myr_design *design = b->design;
    for (uint32_t i = 0; i < design->device_count; i++) {
        ret[i] = INFINITY;
    }
    ret[device] = 0;
    bool nearer = true;
    while (nearer) {
        nearer = false;
        for (uint32_t link = 0; link < design->link_count; link++) {
            uint32_t layer;
            if (!bound_of_net(b, link, &layer) || reach_mm[layer] > SHORT_MM) {
                continue;
            }
            uint32_t one = design->port_device[design->link_a[link]];
            uint32_t other = design->port_device[design->link_b[link]];
            /* The shortest over any number of links: repeated until nothing gets nearer. */
            double mm = (ret[one] < ret[other] ? ret[one] : ret[other]) + reach_mm[layer];
            nearer = nearer || mm < ret[one] || mm < ret[other];
            ret[one] = mm < ret[one] ? mm : ret[one];
            ret[other] = mm < ret[other] ? mm : ret[other];
        }
    }
}

static int by_mm(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Whether all switches that must stand so near to one of them find seats there. */
static bool held_fit(const struct bound *b, uint32_t device, const double *reach_mm)
{
    const struct myr_design *design = b->design;
    double *mm = MYR_ARENA_NEW(b->plan->arena, double, design->device_count);
    struct load need = bound_device_load(b, device);
    uint32_t count = 0;
    spread_from(b, device, reach_mm, mm);
    for (uint32_t i = 0; i < design->device_count; i++) {
        if (is_switch(design->place[i].kind) && mm[i] < INFINITY) {
            need = bound_least_load(need, bound_device_load(b, i));
            mm[count++] = mm[i];
        }
    }
    /* All switches count as small as the smallest of them. */
    struct bound seats = bound_with_seats(b, &need);
    qsort(mm, count, sizeof(*mm), by_mm);
    for (uint32_t i = 0; i < count; i++) {
        bool last = i + 1 == count || mm[i + 1] > mm[i];
        /* Within each distance there must be seats for all that are held so near. */
        if (last && bound_most_within(&seats, mm[i]) < i + 1) {
            return false;
        }
    }
    return true;
}

/* ---- the least of all ways ---- */

/* Ways to cut a layer that some placement might allow; the one that there is always stays. */
static void find_ways(struct bound *b, struct room *room, uint32_t id, uint32_t layer,
                      struct layer_ways *ret)
{
    const struct myr_spec_room *spec = room->spec;
    bool inside = layer == MYR_LAYER_HOST && b->net->topology == MYR_TOPOLOGY_MIDDLE_OF_RACK;
    /* No cable is shorter than its drops and slack. */
    double least = 2 * spec->drop_m * (1 + spec->slack_percent / 100) + spec->slack_m;
    struct cut_way ways[ROOM_STEPS];
    uint32_t count =
        room_cut_ways(room, id, layer, inside ? 0 : room_step((int64_t)(least * 1000) - 1), ways);
    /* Whether the cut that there is was among the ways. */
    bool known = false;
    ret->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct way way = {.step = ways[i].step,
                          .now = ways[i].now,
                          .reach_mm = reach_of(b, layer, room_step_mm(ways[i].step))};
        known = known || way.now;
        if (way.now || may_be(b, layer, way.reach_mm)) {
            ret->ways[ret->count++] = way;
        }
    }
    if (!known) { /* pinned to what no length asks for: it stays so */
        ret->count = 1;
        ret->ways[0] = (struct way){ROOM_STEPS - 1, true, room_step_mm(ROOM_STEPS - 1)};
    }
}

/* Whether the layers have another cut to look at; 'at' is which way each is cut. */
static bool next_cut(const struct layer_ways *layers, uint32_t *at)
{
    for (uint32_t i = 0; i < MYR_LAYER_COUNT; i++) {
        if (++at[i] < layers[i].count) {
            return true;
        }
        at[i] = 0;
    }
    return false;
}

/*
 * The network as it is cut now. A layer whose cables are no longer than its reach may count several
 * times, if the reach of all that is too much is taken off again: ways of other layers, which lead
 * to its ends, are then seen to lead to all that is held together there.
 */
static double cut_mm(struct bound *b, const struct net_plan *net, const double *reach_mm)
{
    const struct myr_design *design = b->design;
    double cables[MYR_LAYER_COUNT] = {}, best = 0;
    for (uint32_t i = 0; i < design->cable_count; i++) {
        uint32_t layer;
        if (bound_of_net(b, design->first_link[i], &layer)) {
            cables[layer]++;
        }
    }
    static const double times[TIMES] = {1, 1.5, 2, 16};
    uint32_t at[MYR_LAYER_COUNT] = {};
    struct layer_ways tried[MYR_LAYER_COUNT] = {};
    /* Layers between switches alone are tried. */
    for (uint32_t i = MYR_LAYER_HOST + 1; i < MYR_LAYER_COUNT; i++) {
        tried[i].count = reach_mm[i] <= SHORT_MM ? TIMES : 0;
    }
    do {
        double off = 0;
        for (uint32_t i = 0; i < MYR_LAYER_COUNT; i++) {
            b->times[i] = times[at[i]];
            off += at[i] ? (b->times[i] - 1) * cables[i] * reach_mm[i] : 0;
        }
        double mm = bound_ways_mm(b, net) - off;
        best = mm > best ? mm : best;
    } while (next_cut(tried, at));
    /* The bound is used again for other cuts. */
    for (uint32_t i = 0; i < MYR_LAYER_COUNT; i++) {
        b->times[i] = 1;
    }
    return bound_net_mm(b, best);
}

/* The network with its layers cut in that way, all others as they are. */
static void cut_so(struct room *room, const struct cut *now, uint32_t id,
                   const struct layer_ways *layers, const uint32_t *at)
{
    room_kinds_as(room, now);
    for (uint32_t i = 0; i < MYR_LAYER_COUNT; i++) {
        if (layers[i].count && !layers[i].ways[at[i]].now) {
            (void)room_cut_layer(room, id, i, layers[i].ways[at[i]].step);
        }
    }
    room_wire_again(room);
}

/* Whether it is the cut that there is. */
static bool reaches(const struct layer_ways *layers, const uint32_t *at, double *ret_mm)
{
    bool now = true;
    for (uint32_t i = 0; i < MYR_LAYER_COUNT; i++) {
        const struct way *way = &layers[i].ways[at[i]];
        ret_mm[i] = layers[i].count ? way->reach_mm : INFINITY;
        now = now && (!layers[i].count || way->now);
    }
    return now;
}

/* One switch of each tier is asked. */
static bool all_fit(const struct bound *b, const double *reach_mm)
{
    const struct myr_network *net = b->net;
    return (!net->leaf || held_fit(b, net->first_leaf, reach_mm)) &&
           (!net->spine || held_fit(b, net->first_spine, reach_mm)) &&
           (!net->core || held_fit(b, net->first_core, reach_mm));
}

/* Every combination of cuts is looked at: there are few ways for each layer. In the end all is cut
 * as before. */
static double least_mm(struct bound *b, struct room *room, uint32_t id)
{
    struct net_plan *net = &room->plan->nets[id];
    struct layer_ways *layers = MYR_ARENA_NEW(room->arena, struct layer_ways, MYR_LAYER_COUNT);
    /* 'at' counts through all combinations, like the digits of a number. */
    uint32_t at[MYR_LAYER_COUNT] = {}, cuts = 1;
    double least = -1;
    struct cut cut;
    b->net = &net->out;
    room_keep_cut(room, &cut);
    for (uint32_t i = 0; i < MYR_LAYER_COUNT; i++) {
        if (bound_has_layer(b, i)) {
            find_ways(b, room, id, i, &layers[i]);
            cuts *= layers[i].count;
        }
    }
    do {
        /* With one cut there is nothing to wire again. */
        if (cuts > 1) {
            cut_so(room, &cut, id, layers, at);
        }
        double reach_mm[MYR_LAYER_COUNT];
        bool now = reaches(layers, at, reach_mm);
        /* What is built needs no proof that it can be. */
        if (now || all_fit(b, reach_mm)) {
            double mm = cut_mm(b, net, reach_mm);
            least = least < 0 || mm < least ? mm : least;
        }
    } while (next_cut(layers, at));
    if (cuts > 1) {
        room_cut_as(room, &cut);
    }
    return least;
}

/* Networks share racks but no cables, so the sum of their bounds is a bound. */
uint64_t room_bound_mm(struct room *room)
{
    struct bound *b = bound_create(room->plan);
    double sum = 0;
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        sum += room->plan->nets[id].present ? least_mm(b, room, id) : 0;
    }
    /* Rounded down: a bound must not be above what it bounds. */
    return (uint64_t)sum;
}

/* For the annealing, which pulls such layers together; nothing has to be proved of them. */
uint32_t room_short_layers(struct room *room, struct short_layer ret[ROOM_SHORT_MAX])
{
    struct layer_ways ways;
    uint32_t count = 0;
    /* The bound reads the design's racks, which are written only in the end otherwise. */
    room_put_racks(room);
    struct bound *b = bound_create(room->plan);
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        b->net = &room->plan->nets[id].out;
        for (uint32_t layer = 0; room->plan->nets[id].present && layer < MYR_LAYER_COUNT; layer++) {
            if (!bound_has_layer(b, layer)) {
                continue;
            }
            find_ways(b, room, id, layer, &ways);
            for (uint32_t i = 0; i < ways.count && count < ROOM_SHORT_MAX; i++) {
                if (!ways.ways[i].now && ways.ways[i].reach_mm <= SHORT_MM) {
                    ret[count++] =
                        (struct short_layer){id, layer, (uint32_t)room_step_mm(ways.ways[i].step)};
                }
            }
        }
    }
    return count;
}
