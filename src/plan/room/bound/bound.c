#include "room/bound/bound.h"

#include <stdlib.h>

/*
 * What no placement can go below. Nothing here knows how things were placed: it reads the links,
 * the racks and what a rack carries.
 *
 * A cable from a server to a leaf and one from that leaf to a spine are together at least as long
 * as the way from the server to the spine, wherever the leaf stands. So the cables of a fabric are
 * cut into chains from a server to the highest switch that there are cables for, each cable in one
 * chain at most (a leaf with fewer uplinks than hosts ends some chains itself). All servers below a
 * switch have a chain to it with at least some common weight w. These k servers fill racks around
 * it: their ways sum up to no less than the k nearest places for servers around the best position
 * of the whole room, F(k). The bound is the sum of w F(k) over all switches; the two drops and
 * the fixed slack come on top for every cable.
 *
 * Switches that all servers have chains to cannot share one position: a rack takes some of them
 * beside its servers, and more only in the place of servers, which then stand farther away than all
 * others. So each rack r offers so many seats for F(k) around r, and so many more for F(k) and the
 * distance of the k-th place for every server that they put out; the m cheapest seats of the room
 * are the least that m such switches cost.
 */

/* ---- chains ---- */

/* What each switch has of cables down and up, in weights: a link of a cable with n legs counts 1/n.
 */
static void count_cables(struct bound *b)
{
    const struct myr_design *design = b->design;
    for (uint32_t i = 0; i < design->device_count; i++) {
        b->host[i] = b->up[i] = b->gpu[i] = b->flow[i] = b->weight[i] = b->sum[i] = 0;
        b->servers[i] = 0;
    }
    for (uint32_t link = 0; link < design->link_count; link++) {
        uint32_t layer;
        if (!bound_of_net(b, link, &layer)) {
            continue;
        }
        uint32_t lower = design->port_device[design->link_a[link]];
        uint32_t upper = design->port_device[design->link_b[link]];
        double weight = bound_link_weight(b, link);
        /* Hosts that are no GPU servers fill uplinks as well, but begin no chains. */
        if (layer == MYR_LAYER_HOST) {
            b->host[upper] += weight;
            b->gpu[upper] += design->place[lower].kind == MYR_DEVICE_NODE ? weight : 0;
        } else if (layer == MYR_LAYER_FABRIC || layer == MYR_LAYER_CORE) {
            b->up[lower] += weight;
        }
    }
}

/* The share of what arrives at a switch that goes on upwards. */
static double going_on(const struct bound *b, uint32_t device, double arriving)
{
    return arriving > 0 && b->up[device] > 0
               ? (b->up[device] < arriving ? b->up[device] / arriving : 1)
               : 0;
}

/* What arrives at the second tier, from all leaves. */
static void count_flows(struct bound *b)
{
    const struct myr_design *design = b->design;
    for (uint32_t link = 0; link < design->link_count; link++) {
        uint32_t layer;
        if (bound_of_net(b, link, &layer) && layer == MYR_LAYER_FABRIC) {
            uint32_t lower = design->port_device[design->link_a[link]];
            double on = going_on(b, lower, b->host[lower]);
            if (on > 0) {
                b->flow[design->port_device[design->link_b[link]]] +=
                    bound_link_weight(b, link) / b->up[lower] * on * b->host[lower];
            }
        }
    }
}

/* Notes switches at which chains of the server in hand end, each once. */
static void end_chain(struct bound *b, uint32_t device, double weight)
{
    if (weight <= 0) {
        return;
    }
    if (b->sum[device] == 0) {
        b->touched[b->touched_count++] = device;
    }
    b->sum[device] += weight;
}

/* Sends 'weight' from a switch upwards, in proportion to its cables; what cannot go on ends. */
static void climb(struct bound *b, uint32_t device, double weight, double arriving)
{
    const struct myr_design *design = b->design;
    double on = going_on(b, device, arriving);
    end_chain(b, device, weight * (1 - on));
    if (on == 0) {
        return;
    }
    /* For each cable upwards. */
    double share = weight * on / b->up[device];
    for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
        uint32_t link = design->port_link[p], layer;
        if (link == MYR_NONE || design->link_a[link] != p || !bound_of_net(b, link, &layer) ||
            (layer != MYR_LAYER_FABRIC && layer != MYR_LAYER_CORE)) {
            continue;
        }
        uint32_t above = design->port_device[design->link_b[link]];
        double part = share * bound_link_weight(b, link);
        /* Three tiers: the chain goes on to the cores as far as the spine has cables for it. */
        if (layer == MYR_LAYER_FABRIC && b->up[above] > 0) {
            double further = going_on(b, above, b->flow[above]);
            end_chain(b, above, part * (1 - further));
            double each = part * further / b->up[above];
            for (uint32_t q = design->first_port[above]; q < design->first_port[above + 1]; q++) {
                uint32_t next = design->port_link[q];
                if (next != MYR_NONE && design->link_a[next] == q) {
                    end_chain(b, design->port_device[design->link_b[next]],
                              each * bound_link_weight(b, next));
                }
            }
        } else {
            end_chain(b, above, part);
        }
    }
}

/* All chains of one server; servers that hang alike are done at once. */
static void add_servers(struct bound *b, uint32_t server, uint32_t count)
{
    const struct myr_design *design = b->design;
    uint32_t nodes = b->plan->server->server.nodes;
    uint32_t first = design->head->first_node + server * nodes;
    b->touched_count = 0;
    for (uint32_t p = design->first_port[first]; p < design->first_port[first + nodes]; p++) {
        uint32_t link = design->port_link[p], layer;
        if (link != MYR_NONE && bound_of_net(b, link, &layer)) {
            uint32_t leaf = design->port_device[design->link_b[link]];
            climb(b, leaf, bound_link_weight(b, link), b->host[leaf]);
        }
    }
    for (uint32_t i = 0; i < b->touched_count; i++) {
        uint32_t device = b->touched[i];
        /* The least of all servers is what all of them have in common. */
        if (b->servers[device] == 0 || b->sum[device] < b->weight[device]) {
            b->weight[device] = b->sum[device];
        }
        b->servers[device] += count;
        b->sum[device] = 0;
    }
}

/* Whether two servers hang on the same switches by the same cables. */
static bool alike(const struct bound *b, uint32_t one, uint32_t other)
{
    const struct myr_design *design = b->design;
    uint32_t nodes = b->plan->server->server.nodes;
    uint32_t p = design->first_port[design->head->first_node + one * nodes];
    uint32_t end = design->first_port[design->head->first_node + (one + 1) * nodes];
    uint32_t q = design->first_port[design->head->first_node + other * nodes];
    uint32_t other_end = design->first_port[design->head->first_node + (other + 1) * nodes];
    if (end - p != other_end - q) {
        return false; /* servers of two kinds */
    }
    for (; p < end; p++, q++) {
        uint32_t x = design->port_link[p], y = design->port_link[q];
        if ((x == MYR_NONE) != (y == MYR_NONE)) {
            return false;
        }
        if (x != MYR_NONE &&
            (design->port_device[design->link_b[x]] != design->port_device[design->link_b[y]] ||
             bound_link_weight(b, x) != bound_link_weight(b, y))) {
            return false;
        }
    }
    return true;
}

/* ---- one network ---- */

/* The best of all bounds that there are for this network: each of them is one by itself. */
double bound_ways_mm(struct bound *b, const struct net_plan *net)
{
    b->net = &net->out;
    uint32_t topology = net->out.topology;
    /* Without tiers there are no chains; drops and slack are bound enough. */
    if (topology == MYR_TOPOLOGY_DRAGONFLY || topology == MYR_TOPOLOGY_DRAGONFLY_PLUS ||
        topology == MYR_TOPOLOGY_TORUS) {
        return 0;
    }
    count_cables(b);
    count_flows(b);
    uint32_t servers = b->plan->spec->servers;
    for (uint32_t s = 0; s < servers;) {
        uint32_t end = s + 1;
        while (end < servers && alike(b, s, end)) {
            end++;
        }
        add_servers(b, s, end - s);
        s = end;
    }
    /* Those that all servers have chains to share what seats there are. */
    double *weights = MYR_ARENA_NEW(b->plan->arena, double, b->design->device_count);
    /* The least need of all: seats must not be fewer than they could be. */
    struct load need = {INT64_MAX, INT64_MAX, INT64_MAX};
    double sum = 0;
    uint32_t shared = 0;
    for (uint32_t i = 0; i < b->design->device_count; i++) {
        if (b->weight[i] <= 0) {
            continue;
        }
        /* Switches that not all servers reach are taken one by one: each around its own servers. */
        if (b->servers[i] == servers && servers > 1) {
            struct load one = bound_device_load(b, i);
            need.watts = one.watts < need.watts ? one.watts : need.watts;
            need.units = one.units < need.units ? one.units : need.units;
            need.grams = one.grams < need.grams ? one.grams : need.grams;
            weights[shared++] = b->weight[i];
        } else {
            sum += b->weight[i] * bound_nearest_mm(b, b->servers[i]);
        }
    }
    if (shared && servers <= (uint64_t)b->places * b->design->rack_count + b->wider_count) {
        sum += bound_seats_mm(b, servers, weights, shared, &need);
    }
    /* Cables that no chain uses may be added; the other bounds use the same cables again. */
    sum += bound_uplinks_mm(b) + bound_strips_mm(b);
    double other = bound_one_block_mm(b), stars = bound_stars_mm(b);
    other = stars > other ? stars : other;
    return other > sum ? other : sum;
}

/* How many servers every rack takes, and which racks take more. */
static void count_places(struct bound *b, const struct load *server)
{
    /* 'places' is what every rack has; racks of changed power may have more. */
    uint32_t racks = b->design->rack_count, all = 0;
    b->places = UINT32_MAX;
    for (uint32_t i = 0; i < racks; i++) {
        struct load load = bound_rack_load(b, i);
        uint32_t here = room_fits(&load, server);
        b->places = here < b->places ? here : b->places;
        all += here;
    }
    b->wider = MYR_ARENA_NEW(b->plan->arena, uint32_t, (size_t)all - b->places * racks + 1);
    for (uint32_t i = 0; i < racks; i++) {
        struct load load = bound_rack_load(b, i);
        for (uint32_t k = b->places; k < room_fits(&load, server); k++) {
            b->wider[b->wider_count++] = i;
        }
    }
}

/* The highest row of a column comes first. */
static void find_halls(struct bound *b)
{
    const struct myr_design *design = b->design;
    for (uint32_t rack = 0; rack < design->rack_count;) {
        struct bound_hall *hall = &b->halls[design->rack_more[rack].building];
        hall->rows = design->racks[rack].row + 1;
        hall->first = hall->columns == 0 ? rack : hall->first;
        hall->columns++;
        rack += hall->rows;
    }
}

/* What is common to all networks: places for servers, and memory for each device. */
struct bound *bound_create(const struct plan *plan)
{
    const struct myr_design *design = &plan->design;
    const struct myr_spec_room *spec = &plan->spec->room;
    uint32_t devices = design->device_count;
    struct bound *b = MYR_ARENA_ONE(plan->arena, struct bound);
    b->plan = plan;
    b->design = design;
    double **numbers[] = {&b->host, &b->up, &b->gpu, &b->flow, &b->weight, &b->sum};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(numbers); i++) {
        *numbers[i] = MYR_ARENA_NEW(plan->arena, double, devices);
    }
    b->servers = MYR_ARENA_NEW(plan->arena, uint32_t, devices);
    b->touched = MYR_ARENA_NEW(plan->arena, uint32_t, devices);
    /* Servers of several kinds: none needs less than the least of all. */
    struct load server = bound_part_load(plan, plan->groups[0].server_part);
    for (uint32_t i = 1; i < plan->group_count; i++) {
        server = bound_least_load(server, bound_part_load(plan, plan->groups[i].server_part));
    }
    /* What the room says of its servers beats the part, as in the placement. */
    server.watts = spec->server_kw > 0 ? (int64_t)(spec->server_kw * 1000 + 0.5) : server.watts;
    b->one = server;
    for (uint32_t i = 0; i < MYR_LAYER_COUNT; i++) {
        b->times[i] = 1;
    }
    count_places(b, &server);
    find_halls(b);
    return b;
}

/* Ways are stretched by the percent of slack, drops as well; fixed slack comes for every cable. */
double bound_net_mm(const struct bound *b, double ways_mm)
{
    const struct myr_spec_room *spec = &b->plan->spec->room;
    const struct myr_design *design = b->design;
    double cables = 0, dropped = 0;
    /* The one kind of cable that may stay in its rack. */
    bool inside = b->net->topology == MYR_TOPOLOGY_MIDDLE_OF_RACK;
    for (uint32_t i = 0; i < design->cable_count; i++) {
        uint32_t layer;
        if (bound_of_net(b, design->first_link[i], &layer)) {
            cables++;
            dropped += !inside || layer != MYR_LAYER_HOST;
        }
    }
    double stretch = 1 + spec->slack_percent / 100;
    return stretch * (ways_mm + dropped * 2 * spec->drop_m * 1000) + cables * spec->slack_m * 1000;
}
