#include "room/room.h"

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

enum { F_KINDS_MAX = 64 };

struct bound {
    const struct plan *plan;
    const struct myr_design *design;
    const struct myr_network *net;
    uint32_t places;              /* for servers, in every rack */
    uint32_t wider_count, *wider; /* racks with more of them, once for each */
    double *host, *up, *gpu;      /* by device: cables down to hosts, up, down to GPU servers */
    double *flow;                 /* by device: chains that arrive from below */
    double *weight;               /* by device: least of a server's chains that end here */
    uint32_t *servers;            /* by device: servers that have such chains */
    double *sum;                  /* by device: chains of the servers in hand */
    uint32_t *touched, touched_count;
    struct load one; /* what a server needs, at the least */
    uint32_t kinds;
    uint32_t kind_k[F_KINDS_MAX];
    double kind_mm[F_KINDS_MAX];
};

/* ---- the k nearest places ---- */

static const struct myr_rack_more *more_of(const struct bound *b, uint32_t rack)
{
    return &b->design->rack_more[rack];
}

/* Sum of 1..n. */
static double triangle(double n)
{
    return n * (n + 1) / 2;
}

/*
 * Racks of one column no farther than 'reach' from a point 'base' away and level with row 'at':
 * their number and the sum of their distances.
 */
static double column_within(double base, double reach, double pitch, int64_t at, int64_t rows,
                            double *ret_sum)
{
    double over = reach - base;
    if (over < 0) {
        return 0;
    }
    double most = over / pitch;
    int64_t steps = most > 1e9 ? 1000000000 : (int64_t)most;
    int64_t up = rows - 1 - at < steps ? rows - 1 - at : steps;
    int64_t down = at < steps ? at : steps;
    double count = (double)(up + down + 1);
    *ret_sum += count * base + (triangle((double)up) + triangle((double)down)) * pitch;
    return count;
}

/* Straight along rows and columns; from one building to another by their corners. */
static double way_mm(const struct bound *b, uint32_t from, uint32_t to)
{
    const struct myr_rack_more *here = more_of(b, from), *there = more_of(b, to);
    if (here->building == there->building) {
        return (double)llabs((int64_t)here->x_mm - (int64_t)there->x_mm) +
               (double)llabs((int64_t)here->y_mm - (int64_t)there->y_mm);
    }
    return 1000.0 * b->plan->spec->room.buildings[here->building].distance_m[there->building] +
           here->x_mm + here->y_mm + there->x_mm + there->y_mm;
}

/* Number of places within reach of a rack, and the sum of their distances. */
static double within(const struct bound *b, uint32_t from, double reach, double *ret_sum)
{
    const struct myr_spec_room *spec = &b->plan->spec->room;
    const struct myr_design *design = b->design;
    const struct myr_rack_more *here = more_of(b, from);
    double count = 0, pitch = spec->row_pitch_m * 1000;
    for (uint32_t rack = 0; rack < design->rack_count;) {
        const struct myr_rack_more *more = more_of(b, rack);
        int64_t rows = (int64_t)design->racks[rack].row + 1; /* the highest row comes first */
        double base;
        int64_t at = design->racks[from].row;
        if (more->building == here->building) {
            base = (double)llabs((int64_t)more->x_mm - (int64_t)here->x_mm);
        } else {
            base = (double)here->x_mm + here->y_mm + more->x_mm +
                   1000.0 * spec->buildings[here->building].distance_m[more->building];
            at = 0;
        }
        count += b->places * column_within(base, reach, pitch, at, rows, ret_sum);
        rack += (uint32_t)rows;
    }
    *ret_sum *= b->places;
    for (uint32_t i = 0; i < b->wider_count; i++) {
        double way = way_mm(b, from, b->wider[i]);
        if (way <= reach) {
            *ret_sum += way;
            count++;
        }
    }
    return count;
}

/* No more than the sum of the ways to the k nearest places: what is within reach, less the farthest
 * ones at the full reach. */
static double nearest_in(const struct bound *b, uint32_t from, double reach_mm, uint32_t k,
                         double *ret_count)
{
    double sum = 0;
    *ret_count = within(b, from, reach_mm, &sum);
    return sum - (*ret_count - k) * reach_mm;
}

/* 'ret_within': a distance within which there are fewer than k places; may be NULL. */
static double around(const struct bound *b, uint32_t from, uint32_t k, double *reach,
                     double *ret_within)
{
    double count, high = *reach;
    double sum = nearest_in(b, from, high, k, &count);
    double low = count >= k ? 0 : high;
    while (count < k) {
        low = high;
        high = high * 1.25 + 500;
        sum = nearest_in(b, from, high, k, &count);
    }
    if (low == 0) {
        low = high * 0.8 - 500;
        while (low > 0) {
            nearest_in(b, from, low, k, &count);
            if (count < k) {
                break;
            }
            high = low;
            low = low * 0.8 - 500;
        }
        low = low > 0 ? low : 0;
    }
    while (high - low > 50) {
        double middle = (low + high) / 2;
        double here = nearest_in(b, from, middle, k, &count);
        if (count >= k) {
            high = middle;
            sum = here;
        } else {
            low = middle;
        }
    }
    sum = nearest_in(b, from, high, k, &count);
    *reach = high;
    if (ret_within) {
        *ret_within = low;
    }
    return sum > 0 ? sum : 0;
}

/* Any position might be the best: those that a neighbour's figure rules out are not looked at. */
static double least_around(const struct bound *b, uint32_t k)
{
    const struct myr_design *design = b->design;
    double reach = 1000, best = -1, last = 0;
    uint32_t last_rack = 0;
    uint32_t middle = design->rack_count / 2;
    for (uint32_t i = 0; i <= design->rack_count; i++) {
        uint32_t rack = i == 0 ? middle : i - 1;
        const struct myr_rack_more *more = more_of(b, rack), *old = more_of(b, last_rack);
        if (i > 1 && more->building == old->building) {
            double away = (double)llabs((int64_t)more->x_mm - (int64_t)old->x_mm) +
                          (double)llabs((int64_t)more->y_mm - (int64_t)old->y_mm);
            if (last - k * away >= best) {
                continue;
            }
        }
        last = around(b, rack, k, &reach, NULL);
        last_rack = rack;
        best = best < 0 || last < best ? last : best;
    }
    return best;
}

static double nearest_mm(struct bound *b, uint32_t k)
{
    for (uint32_t i = 0; i < b->kinds; i++) {
        if (b->kind_k[i] == k) {
            return b->kind_mm[i];
        }
    }
    if (k < 2 || b->kinds == F_KINDS_MAX ||
        k > (uint64_t)b->places * b->design->rack_count + b->wider_count) {
        return 0;
    }
    b->kind_k[b->kinds] = k;
    b->kind_mm[b->kinds] = least_around(b, k);
    return b->kind_mm[b->kinds++];
}

/* ---- seats ---- */

struct seat {
    double mm;
    uint32_t count;
};

static int by_cost(const void *a, const void *b)
{
    const struct seat *x = a, *y = b;
    return x->mm < y->mm ? -1 : x->mm > y->mm;
}

static int by_weight(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x > y ? -1 : x < y;
}

static struct load rack_load(const struct bound *b, uint32_t rack)
{
    return (struct load){b->design->racks[rack].watts_max, b->design->racks[rack].units,
                         (int64_t)more_of(b, rack)->kg_max * 1000};
}

/* Switches that a rack takes when 'kept' of its servers stay. */
static uint32_t seats_beside(const struct bound *b, uint32_t rack, uint32_t kept,
                             const struct load *need)
{
    struct load left = rack_load(b, rack);
    left.watts -= b->one.watts * kept;
    left.units -= b->one.units * kept;
    left.grams -= b->one.grams * kept;
    return left.watts < 0 || left.units < 0 || left.grams < 0 ? 0 : room_fits(&left, need);
}

/*
 * The least that 'count' switches cost which k servers each have chains to, the heaviest weights in
 * the cheapest seats. 'need' is what a switch needs at the least.
 */
static double seats_mm(struct bound *b, uint32_t k, double *weights, uint32_t count,
                       const struct load *need)
{
    const struct myr_design *design = b->design;
    struct seat *seats =
        MYR_ARENA_NEW(b->plan->arena, struct seat, (size_t)design->rack_count * (b->places + 1));
    uint32_t seat_count = 0;
    double reach = 1000, within;
    for (uint32_t rack = 0; rack < design->rack_count; rack++) {
        double here = around(b, rack, k, &reach, &within);
        uint32_t taken = 0;
        for (uint32_t lost = 0; lost <= b->places && taken < count; lost++) {
            uint32_t all = seats_beside(b, rack, b->places - lost, need);
            if (all > taken) {
                seats[seat_count++] = (struct seat){here + lost * within, all - taken};
                taken = all;
            }
        }
    }
    qsort(seats, seat_count, sizeof(*seats), by_cost);
    qsort(weights, count, sizeof(*weights), by_weight);
    double sum = 0;
    uint32_t at = 0, used = 0;
    for (uint32_t i = 0; i < count && at < seat_count; i++) {
        sum += weights[i] * seats[at].mm;
        if (++used == seats[at].count) {
            at++;
            used = 0;
        }
    }
    return sum;
}

/* ---- chains ---- */

static double link_weight(const struct myr_design *design, uint32_t link)
{
    uint32_t cable = design->link_cable[link];
    return 1.0 / (design->first_link[cable + 1] - design->first_link[cable]);
}

static bool of_net(const struct bound *b, uint32_t link, uint32_t *ret_layer)
{
    const struct myr_cabletype *type =
        &b->plan->cabletypes.items[b->design->cable_type[b->design->link_cable[link]]];
    *ret_layer = type->layer;
    return &b->plan->nets[type->net].out == b->net;
}

static void count_cables(struct bound *b)
{
    const struct myr_design *design = b->design;
    for (uint32_t i = 0; i < design->device_count; i++) {
        b->host[i] = b->up[i] = b->gpu[i] = b->flow[i] = b->weight[i] = b->sum[i] = 0;
        b->servers[i] = 0;
    }
    for (uint32_t link = 0; link < design->link_count; link++) {
        uint32_t layer;
        if (!of_net(b, link, &layer)) {
            continue;
        }
        uint32_t lower = design->port_device[design->link_a[link]];
        uint32_t upper = design->port_device[design->link_b[link]];
        double weight = link_weight(design, link);
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
        if (of_net(b, link, &layer) && layer == MYR_LAYER_FABRIC) {
            uint32_t lower = design->port_device[design->link_a[link]];
            double on = going_on(b, lower, b->host[lower]);
            if (on > 0) {
                b->flow[design->port_device[design->link_b[link]]] +=
                    link_weight(design, link) / b->up[lower] * on * b->host[lower];
            }
        }
    }
}

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
    double share = weight * on / b->up[device];
    for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
        uint32_t link = design->port_link[p], layer;
        if (link == MYR_NONE || design->link_a[link] != p || !of_net(b, link, &layer) ||
            (layer != MYR_LAYER_FABRIC && layer != MYR_LAYER_CORE)) {
            continue;
        }
        uint32_t above = design->port_device[design->link_b[link]];
        double part = share * link_weight(design, link);
        if (layer == MYR_LAYER_FABRIC && b->up[above] > 0) {
            double further = going_on(b, above, b->flow[above]);
            end_chain(b, above, part * (1 - further));
            double each = part * further / b->up[above];
            for (uint32_t q = design->first_port[above]; q < design->first_port[above + 1]; q++) {
                uint32_t next = design->port_link[q];
                if (next != MYR_NONE && design->link_a[next] == q) {
                    end_chain(b, design->port_device[design->link_b[next]],
                              each * link_weight(design, next));
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
        if (link != MYR_NONE && of_net(b, link, &layer)) {
            uint32_t leaf = design->port_device[design->link_b[link]];
            climb(b, leaf, link_weight(design, link), b->host[leaf]);
        }
    }
    for (uint32_t i = 0; i < b->touched_count; i++) {
        uint32_t device = b->touched[i];
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
             link_weight(design, x) != link_weight(design, y))) {
            return false;
        }
    }
    return true;
}

/* ---- all networks ---- */

static struct load part_load(const struct plan *plan, uint32_t part)
{
    if (part == MYR_PART_NONE) {
        return (struct load){0, 1, 0};
    }
    const struct myr_part *what = part_at(plan, part);
    return (struct load){(int64_t)(what->watts + 0.5), (int64_t)(what->rack_units + 0.999),
                         (int64_t)(what->weight_kg * 1000 + 0.5)};
}

static struct load device_load(const struct bound *b, uint32_t device)
{
    const struct plan *plan = b->plan;
    const struct myr_devtype *type = &plan->devtypes.items[b->design->device_type[device]];
    return part_load(
        plan, myr_catalog_find(plan->catalog, myr_str_from(plan->strings.data + type->part)));
}

static double net_mm(struct bound *b, const struct net_plan *net)
{
    b->net = &net->out;
    uint32_t topology = net->out.topology;
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
    double *weights = MYR_ARENA_NEW(b->plan->arena, double, (size_t)b->design->device_count + 1);
    struct load need = {INT64_MAX, INT64_MAX, INT64_MAX};
    double sum = 0;
    uint32_t shared = 0;
    for (uint32_t i = 0; i < b->design->device_count; i++) {
        if (b->weight[i] <= 0) {
            continue;
        }
        if (b->servers[i] == servers && servers > 1) {
            struct load one = device_load(b, i);
            need.watts = one.watts < need.watts ? one.watts : need.watts;
            need.units = one.units < need.units ? one.units : need.units;
            need.grams = one.grams < need.grams ? one.grams : need.grams;
            weights[shared++] = b->weight[i];
        } else {
            sum += b->weight[i] * nearest_mm(b, b->servers[i]);
        }
    }
    if (shared && servers <= (uint64_t)b->places * b->design->rack_count + b->wider_count) {
        sum += seats_mm(b, servers, weights, shared, &need);
    }
    return sum;
}

/* How many servers every rack takes, and which racks take more. */
static void count_places(struct bound *b, const struct load *server)
{
    uint32_t racks = b->design->rack_count, all = 0;
    b->places = UINT32_MAX;
    for (uint32_t i = 0; i < racks; i++) {
        struct load load = rack_load(b, i);
        uint32_t here = room_fits(&load, server);
        b->places = here < b->places ? here : b->places;
        all += here;
    }
    b->wider = MYR_ARENA_NEW(b->plan->arena, uint32_t, (size_t)all - b->places * racks + 1);
    for (uint32_t i = 0; i < racks; i++) {
        struct load load = rack_load(b, i);
        for (uint32_t k = b->places; k < room_fits(&load, server); k++) {
            b->wider[b->wider_count++] = i;
        }
    }
}

uint64_t room_bound_mm(const struct plan *plan)
{
    const struct myr_design *design = &plan->design;
    const struct myr_spec_room *spec = &plan->spec->room;
    uint32_t devices = design->device_count;
    struct bound *b = MYR_ARENA_NEW(plan->arena, struct bound, 1);
    b->plan = plan;
    b->design = design;
    double **numbers[] = {&b->host, &b->up, &b->gpu, &b->flow, &b->weight, &b->sum};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(numbers); i++) {
        *numbers[i] = MYR_ARENA_NEW(plan->arena, double, devices);
    }
    b->servers = MYR_ARENA_NEW(plan->arena, uint32_t, devices);
    b->touched = MYR_ARENA_NEW(plan->arena, uint32_t, devices);
    /* Servers of several kinds: none needs less than the least of all. */
    struct load server = part_load(plan, plan->groups[0].server_part);
    for (uint32_t i = 1; i < plan->group_count; i++) {
        struct load one = part_load(plan, plan->groups[i].server_part);
        server.watts = one.watts < server.watts ? one.watts : server.watts;
        server.units = one.units < server.units ? one.units : server.units;
        server.grams = one.grams < server.grams ? one.grams : server.grams;
    }
    server.watts = spec->server_kw > 0 ? (int64_t)(spec->server_kw * 1000 + 0.5) : server.watts;
    b->one = server;
    count_places(b, &server);
    double ways = 0, dropped = design->cable_count;
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        const struct net_plan *net = &plan->nets[id];
        if (net->present) {
            ways += net_mm(b, net);
            /* The one kind of cable that may stay in its rack. */
            bool inside = net->out.topology == MYR_TOPOLOGY_MIDDLE_OF_RACK;
            dropped -= inside ? net->out.cables[MYR_LAYER_HOST] : 0;
        }
    }
    double stretch = 1 + spec->slack_percent / 100;
    return (uint64_t)(stretch * (ways + dropped * 2 * spec->drop_m * 1000) +
                      (double)design->cable_count * spec->slack_m * 1000);
}
