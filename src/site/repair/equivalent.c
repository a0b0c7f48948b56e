#include "repair/equivalent.h"

#include <stdlib.h>

/*
 * From ports to classes and back. Cables that are right in some reading are settled; the rest falls
 * into components, each of which is searched whole (search.c) or bettered (local.c); what comes out
 * is put back to ports.
 */

struct eq_edges {
    struct eq_edge *items;
    size_t count;
    size_t capacity;
};

struct equivalent {
    const struct repair_graph *graph;
    struct myr_arena *arena;
    uint32_t *plan; /* the result */
    struct eq_edges red, blue;
    uint32_t *class_of; /* by vertex: number of its class; MYR_NONE: not met yet */
    uint32_t class_count;
    uint32_t *parent;    /* union of classes that edges join */
    uint32_t *displaced; /* by vertex with a settled cable: the port whose label it took */
    uint32_t *red_end;   /* by vertex with a cable that is left: which end of the component */
    uint32_t gap;        /* moves that might still be saved */
};

/* The vertex that stands for the class. */
static uint32_t class_vertex(const struct repair_graph *graph, uint32_t vertex)
{
    const struct myr_design *design = graph->design;
    if (vertex >= design->port_count) {
        return vertex;
    }
    const struct myr_port_group *group = myr_design_port_group(design, vertex);
    return group->role == MYR_PORT_NIC
               ? vertex
               : design->first_port[design->port_device[vertex]] + group->first;
}

/* Classes are numbered as they are met: only those that have wrong cables get a number. */
static uint32_t class_number(struct equivalent *eq, uint32_t vertex)
{
    uint32_t standing = class_vertex(eq->graph, vertex);
    if (eq->class_of[standing] == MYR_NONE) {
        eq->class_of[standing] = eq->class_count++;
    }
    return eq->class_of[standing];
}

/* Ends in the order of their classes, so that edges between the same two are equal. */
static void add_edge(struct equivalent *eq, struct eq_edges *edges, uint32_t a, uint32_t b)
{
    struct eq_edge edge = {class_number(eq, a), class_number(eq, b), a, b};
    if (edge.class_a > edge.class_b) {
        edge = (struct eq_edge){edge.class_b, edge.class_a, b, a};
    }
    edges->items = myr_vec_fit(edges->items, &edges->capacity, edges->count + 1, sizeof(edge));
    edges->items[edges->count++] = edge;
}

static bool is_unseen(const struct repair_graph *graph, uint32_t vertex)
{
    return vertex < graph->design->port_count && graph->state[vertex] == MYR_STATE_UNSEEN;
}

/*
 * Each wrong cable once, at its lower end. A planned cable between two ports that nobody looked at,
 * or found, is settled: nothing speaks against it.
 */
static void collect_edges(struct equivalent *eq)
{
    const struct repair_graph *graph = eq->graph;
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        uint32_t plan = graph->plan[v], found = graph->found[v];
        bool settled = plan == found || (plan != MYR_NONE && found == MYR_NONE &&
                                         graph->found[plan] == MYR_NONE && is_unseen(graph, v));
        eq->plan[v] = settled ? plan : MYR_NONE;
        if (settled) {
            continue;
        }
        /* What is in a port that nobody looked at may change the number either way. */
        eq->gap += found == MYR_NONE && is_unseen(graph, v);
        if (plan != MYR_NONE && v < plan) {
            add_edge(eq, &eq->blue, v, plan);
        }
        if (found != MYR_NONE && v < found) {
            add_edge(eq, &eq->red, v, found);
        }
    }
}

/* By classes, then by port: no two are equal, so that the order is one. */
static int compare_edges(const void *left, const void *right)
{
    const struct eq_edge *a = left, *b = right;
    if (a->class_a != b->class_a) {
        return a->class_a < b->class_a ? -1 : 1;
    }
    if (a->class_b != b->class_b) {
        return a->class_b < b->class_b ? -1 : 1;
    }
    return a->port_a < b->port_a ? -1 : a->port_a > b->port_a;
}

/* As compare_edges(), but edges between the same two classes are equal. */
static int compare_classes(const struct eq_edge *a, const struct eq_edge *b)
{
    if (a->class_a != b->class_a) {
        return a->class_a < b->class_a ? -1 : 1;
    }
    return a->class_b < b->class_b ? -1 : a->class_b > b->class_b;
}

static void sort_edges(struct eq_edges *edges)
{
    if (edges->count > 1) {
        qsort(edges->items, edges->count, sizeof(*edges->items), compare_edges);
    }
}

/*
 * A found and a planned cable of the same two classes settle each other. No other use of them is
 * better: taken out of longer trails, what is left of these still closes.
 */
static void settle_common(struct equivalent *eq)
{
    size_t red = 0, blue = 0, red_kept = 0, blue_kept = 0;
    sort_edges(&eq->red);
    sort_edges(&eq->blue);
    while (red < eq->red.count && blue < eq->blue.count) {
        const struct eq_edge *r = &eq->red.items[red], *b = &eq->blue.items[blue];
        /* Both lists are sorted: one walk over them. */
        int order = compare_classes(r, b);
        if (order == 0) {
            eq->plan[r->port_a] = r->port_b;
            eq->plan[r->port_b] = r->port_a;
            eq->displaced[r->port_a] = b->port_a;
            eq->displaced[r->port_b] = b->port_b;
            red++;
            blue++;
        } else if (order < 0) {
            eq->red.items[red_kept++] = eq->red.items[red++];
        } else {
            eq->blue.items[blue_kept++] = eq->blue.items[blue++];
        }
    }
    /* What is left of the longer list. */
    while (red < eq->red.count) {
        eq->red.items[red_kept++] = eq->red.items[red++];
    }
    while (blue < eq->blue.count) {
        eq->blue.items[blue_kept++] = eq->blue.items[blue++];
    }
    eq->red.count = red_kept;
    eq->blue.count = blue_kept;
}

/* Halves the way to the root as it goes. */
static uint32_t root_of(uint32_t *parent, uint32_t number)
{
    while (parent[number] != number) {
        parent[number] = parent[parent[number]];
        number = parent[number];
    }
    return number;
}

/* Components are independent of each other: each is solved by itself. */
static void join_classes(struct equivalent *eq)
{
    eq->parent = MYR_ARENA_NEW(eq->arena, uint32_t, eq->class_count);
    for (uint32_t c = 0; c < eq->class_count; c++) {
        eq->parent[c] = c;
    }
    const struct eq_edges *lists[] = {&eq->red, &eq->blue};
    for (uint32_t l = 0; l < 2; l++) {
        for (size_t i = 0; i < lists[l]->count; i++) {
            uint32_t a = root_of(eq->parent, lists[l]->items[i].class_a);
            uint32_t b = root_of(eq->parent, lists[l]->items[i].class_b);
            eq->parent[a > b ? a : b] = a > b ? b : a;
        }
    }
}

/* Edges of one component in a row, and in one order however they came. */
static int compare_roots(const void *left, const void *right, void *context)
{
    uint32_t *parent = context;
    const struct eq_edge *a = left, *b = right;
    uint32_t root_a = root_of(parent, a->class_a), root_b = root_of(parent, b->class_a);
    if (root_a != root_b) {
        return root_a < root_b ? -1 : 1;
    }
    return compare_edges(a, b);
}

/*
 * The port in which a planned cable ends as the labels are. Where a settled cable sits in that
 * port, the label that it took has left its own port: that one, or the next so.
 */
static uint32_t home_port(const struct equivalent *eq, uint32_t port)
{
    while (eq->plan[port] != MYR_NONE && eq->plan[port] == eq->graph->found[port]) {
        port = eq->displaced[port];
    }
    return port;
}

/* Numbers the classes of a component from 0. */
static uint32_t number_classes(struct eq_edge *red, uint32_t red_count, struct eq_edge *blue,
                               uint32_t blue_count)
{
    MYR_CLEANUP(myr_u64map_done) struct myr_u64map local = {};
    uint32_t classes = 0;
    for (uint32_t i = 0; i < red_count + blue_count; i++) {
        struct eq_edge *edge = i < red_count ? &red[i] : &blue[i - red_count];
        uint32_t *ends[] = {&edge->class_a, &edge->class_b};
        for (uint32_t side = 0; side < 2; side++) {
            if (myr_u64map_add(&local, *ends[side], classes)) {
                classes++;
            }
            /* Numbers are changed in place: the edges are the component's own. */
            *ends[side] = *myr_u64map_find(&local, *ends[side]);
        }
    }
    return classes;
}

/*
 * Which port each end of a planned cable gets. Ends that stay in empty ports keep their own; others
 * take the ports of their class that are left.
 */
static void choose_ports(struct equivalent *eq, const struct eq_part *part, const uint32_t *slots,
                         const uint32_t *homes, uint32_t *ret_ports)
{
    uint32_t ends = 2 * part->blue_count;
    uint32_t *first = MYR_ARENA_NEW(eq->arena, uint32_t, (size_t)part->class_count + 1);
    uint32_t *next = MYR_ARENA_NEW(eq->arena, uint32_t, (size_t)ends + 1);
    /* Homes that their own cable leaves, in lists by class: downwards, so that lists go upwards. */
    for (uint32_t end = ends; end-- > 0;) {
        if (slots[end] != EQ_EMPTY && eq->graph->found[homes[end]] == MYR_NONE) {
            uint32_t class = eq_class(part->blue, end);
            next[end] = first[class];
            first[class] = end + 1;
        }
    }
    for (uint32_t end = 0; end < ends; end++) {
        if (slots[end] != EQ_EMPTY) {
            /* The port of the found cable that it takes over. */
            const struct eq_edge *red = &part->red[slots[end] / 2];
            ret_ports[end] = slots[end] & 1 ? red->port_b : red->port_a;
        } else if (eq->graph->found[homes[end]] == MYR_NONE) {
            ret_ports[end] = homes[end];
        } else {
            uint32_t class = eq_class(part->blue, end);
            uint32_t left = first[class];
            /* As many ends leave empty ports of a class as come to them. */
            MYR_ASSERT(left > 0);
            first[class] = next[left - 1];
            ret_ports[end] = homes[left - 1];
        }
    }
}

/* The plan as it may be read, for this component. */
static void apply(struct equivalent *eq, const struct eq_part *part, const uint32_t *slots,
                  const uint32_t *homes)
{
    uint32_t *ports = MYR_ARENA_NEW(eq->arena, uint32_t, 2 * (size_t)part->blue_count);
    choose_ports(eq, part, slots, homes, ports);
    for (uint32_t b = 0; b < part->blue_count; b++) {
        uint32_t at = ports[2 * b], to = ports[2 * b + 1];
        MYR_ASSERT(eq->plan[at] == MYR_NONE && eq->plan[to] == MYR_NONE);
        eq->plan[at] = to;
        eq->plan[to] = at;
    }
}

/* Starts from the labels as they are: the ends of planned cables, and what is in these ports. */
static void solve_part(struct equivalent *eq, struct eq_edge *red, uint32_t red_count,
                       struct eq_edge *blue, uint32_t blue_count)
{
    uint32_t *slots = MYR_ARENA_NEW(eq->arena, uint32_t, 2 * (size_t)blue_count);
    uint32_t *homes = MYR_ARENA_NEW(eq->arena, uint32_t, 2 * (size_t)blue_count);
    uint32_t classes = number_classes(red, red_count, blue, blue_count);
    for (uint32_t end = 0; end < 2 * red_count; end++) {
        /* Which end of the component sits in each port. */
        eq->red_end[end & 1 ? red[end / 2].port_b : red[end / 2].port_a] = end;
    }
    for (uint32_t end = 0; end < 2 * blue_count; end++) {
        homes[end] = home_port(eq, end & 1 ? blue[end / 2].port_b : blue[end / 2].port_a);
        slots[end] = eq->graph->found[homes[end]] == MYR_NONE ? EQ_EMPTY : eq->red_end[homes[end]];
        MYR_ASSERT(slots[end] == EQ_EMPTY || slots[end] < 2 * red_count);
    }
    struct eq_part part = {red_count, blue_count, classes, red, blue, slots};
    struct eq_solution solution = {};
    /* A search that gives up is no loss: the other way always has an answer. */
    bool small = red_count <= EQ_EXACT_EDGES && blue_count <= EQ_EXACT_EDGES + 1;
    if (!small || !eq_search(&part, eq->arena, &solution)) {
        eq_improve(&part, eq->arena, &solution);
    }
    MYR_ASSERT(solution.gain <= solution.gain_bound);
    eq->gap += (uint32_t)(solution.gain_bound - solution.gain);
    apply(eq, &part, solution.slots, homes);
}

/* Both lists are sorted by component: each component is a piece of either. */
static void solve_parts(struct equivalent *eq)
{
    if (eq->red.count > 1) {
        qsort_r(eq->red.items, eq->red.count, sizeof(*eq->red.items), compare_roots, eq->parent);
    }
    if (eq->blue.count > 1) {
        qsort_r(eq->blue.items, eq->blue.count, sizeof(*eq->blue.items), compare_roots, eq->parent);
    }
    size_t red = 0, blue = 0;
    while (red < eq->red.count || blue < eq->blue.count) {
        uint32_t root_red =
            red < eq->red.count ? root_of(eq->parent, eq->red.items[red].class_a) : UINT32_MAX;
        uint32_t root_blue =
            blue < eq->blue.count ? root_of(eq->parent, eq->blue.items[blue].class_a) : UINT32_MAX;
        uint32_t root = root_red < root_blue ? root_red : root_blue;
        size_t red_end = red, blue_end = blue;
        while (red_end < eq->red.count &&
               root_of(eq->parent, eq->red.items[red_end].class_a) == root) {
            red_end++;
        }
        while (blue_end < eq->blue.count &&
               root_of(eq->parent, eq->blue.items[blue_end].class_a) == root) {
            blue_end++;
        }
        /* Either list may be empty, and then has no memory to point into. */
        struct eq_edge *red_items = eq->red.items ? eq->red.items + red : NULL;
        struct eq_edge *blue_items = eq->blue.items ? eq->blue.items + blue : NULL;
        solve_part(eq, red_items, (uint32_t)(red_end - red), blue_items,
                   (uint32_t)(blue_end - blue));
        red = red_end;
        blue = blue_end;
    }
}

static void equivalent_done(struct equivalent *eq)
{
    free(eq->red.items);
    free(eq->blue.items);
}

/* In this order: what is right goes first, and only the rest is searched. */
void repair_equivalent_plan(const struct repair_graph *graph, struct myr_arena *arena,
                            uint32_t *ret_plan, uint32_t *ret_gap)
{
    MYR_CLEANUP(equivalent_done) struct equivalent eq = {.graph = graph, .arena = arena};
    eq.plan = ret_plan;
    eq.class_of = MYR_ARENA_NEW(arena, uint32_t, graph->vertex_count);
    memset(eq.class_of, 0xFF, (size_t)graph->vertex_count * sizeof(uint32_t));
    eq.displaced = MYR_ARENA_NEW(arena, uint32_t, graph->vertex_count);
    eq.red_end = MYR_ARENA_NEW(arena, uint32_t, graph->vertex_count);
    collect_edges(&eq);
    settle_common(&eq);
    join_classes(&eq);
    solve_parts(&eq);
    *ret_gap = eq.gap;
}
