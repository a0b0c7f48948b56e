#include "myriad/fabric/colour.h"

#include <stdlib.h>

/*
 * Two bipartite edge colourings, one above the other. Nodes of the lower one are leaves, colours
 * their uplinks; nodes of the upper one are spines (one graph for each spine position, joined by
 * pods), colours their uplinks. A colour beyond the number of uplinks is the same uplink in
 * another round.
 */

enum { COLOURS_MAX = 8192, PAIR_TRIES = 64 };

#define FREE   UINT32_MAX
#define DEAD   (UINT32_MAX - 1)
#define ABSENT UINT32_MAX

/* One side of a level: which edge holds which colour at a node, and which colours are free. */
struct side {
    uint32_t *edge; /* node * colours + colour */
    uint64_t *free; /* node * words */
    uint32_t *load; /* node * base + uplink: edges over it, shared ones included */
};

struct level {
    uint32_t nodes, base, colours, words;
    struct side out, in;
    /* By edge (flow): */
    MYR_VEC(uint32_t) from;
    MYR_VEC(uint32_t) to;
    MYR_VEC(uint32_t) colour;  /* ABSENT: not in this level */
    MYR_VEC(bool) shared;      /* it found no free colour: 'colour' is an uplink only */
    MYR_VEC(uint32_t) touched; /* edges recoloured since the list was last cleared */
};

struct myr_colouring {
    const struct myr_graph *graph;
    struct level leaf, spine;
    MYR_VEC(struct myr_flow) flows;
    uint32_t moved;
};

static uint32_t word_count(uint32_t colours)
{
    return (colours + 63) / 64;
}

static void set_free(const struct level *level, struct side *side, uint32_t node, uint32_t colour,
                     bool free_now)
{
    uint64_t *word = &side->free[(size_t)node * level->words + colour / 64];
    uint64_t bit = UINT64_C(1) << colour % 64;
    *word = free_now ? *word | bit : *word & ~bit;
}

static uint32_t *slot(const struct level *level, const struct side *side, uint32_t node,
                      uint32_t colour)
{
    return &side->edge[(size_t)node * level->colours + colour];
}

static void side_init(const struct level *level, struct side *side)
{
    side->edge = myr_xrealloc(NULL, (size_t)level->nodes * level->colours + 1, sizeof(uint32_t));
    memset(side->edge, 0xFF, (size_t)level->nodes * level->colours * sizeof(uint32_t));
    side->free = myr_xcalloc((size_t)level->nodes * level->words, sizeof(uint64_t));
    side->load = myr_xcalloc((size_t)level->nodes * level->base, sizeof(uint32_t));
    for (uint32_t node = 0; node < level->nodes; node++) {
        for (uint32_t colour = 0; colour < level->colours; colour++) {
            set_free(level, side, node, colour, true);
        }
    }
}

static void side_done(struct side *side)
{
    free(side->edge);
    free(side->free);
    free(side->load);
    *side = (struct side){0};
}

static void level_init(struct level *level, uint32_t nodes, uint32_t base)
{
    *level = (struct level){.nodes = nodes, .base = base, .colours = base};
    level->words = word_count(level->colours);
    side_init(level, &level->out);
    side_init(level, &level->in);
}

static void level_done(struct level *level)
{
    side_done(&level->out);
    side_done(&level->in);
    myr_vec_done(&level->from);
    myr_vec_done(&level->to);
    myr_vec_done(&level->colour);
    myr_vec_done(&level->shared);
    myr_vec_done(&level->touched);
}

/* More rounds of the same uplinks; what is coloured stays as it is. */
static void side_grow(const struct level *old, const struct level *grown, struct side *side)
{
    struct side fresh;
    side_init(grown, &fresh);
    memcpy(fresh.load, side->load, (size_t)old->nodes * old->base * sizeof(uint32_t));
    for (uint32_t node = 0; node < old->nodes; node++) {
        for (uint32_t colour = 0; colour < grown->colours; colour++) {
            /* A dead uplink is dead in every round. */
            uint32_t held =
                *slot(old, side, node, colour < old->colours ? colour : colour % old->base);
            if (colour >= old->colours && held != DEAD) {
                continue;
            }
            *slot(grown, &fresh, node, colour) = held;
            set_free(grown, &fresh, node, colour, held == FREE);
        }
    }
    side_done(side);
    *side = fresh;
}

static void level_grow(struct level *level, uint32_t degree)
{
    uint32_t rounds = (degree + level->base - 1) / level->base;
    uint32_t wanted = rounds * level->base;
    if (wanted <= level->colours || wanted > COLOURS_MAX) {
        return;
    }
    struct level grown = *level;
    grown.colours = wanted;
    grown.words = word_count(wanted);
    side_grow(level, &grown, &level->out);
    side_grow(level, &grown, &level->in);
    level->colours = grown.colours;
    level->words = grown.words;
}

static void hold(struct level *level, uint32_t edge, uint32_t colour)
{
    uint32_t from = level->from.items[edge], to = level->to.items[edge];
    level->colour.items[edge] = colour;
    level->shared.items[edge] = false;
    *slot(level, &level->out, from, colour) = edge;
    *slot(level, &level->in, to, colour) = edge;
    set_free(level, &level->out, from, colour, false);
    set_free(level, &level->in, to, colour, false);
    level->out.load[(size_t)from * level->base + colour % level->base]++;
    level->in.load[(size_t)to * level->base + colour % level->base]++;
}

static void release(struct level *level, uint32_t edge)
{
    uint32_t from = level->from.items[edge], to = level->to.items[edge];
    uint32_t colour = level->colour.items[edge];
    if (colour == ABSENT) {
        return;
    }
    level->out.load[(size_t)from * level->base + colour % level->base]--;
    level->in.load[(size_t)to * level->base + colour % level->base]--;
    level->colour.items[edge] = ABSENT;
    if (level->shared.items[edge]) {
        level->shared.items[edge] = false;
        return;
    }
    *slot(level, &level->out, from, colour) = FREE;
    *slot(level, &level->in, to, colour) = FREE;
    set_free(level, &level->out, from, colour, true);
    set_free(level, &level->in, to, colour, true);
}

/* The next free colour at a node from 'start' on; ABSENT when there is none. */
static uint32_t next_free(const struct level *level, const struct side *side, uint32_t node,
                          uint32_t start)
{
    const uint64_t *words = &side->free[(size_t)node * level->words];
    for (uint32_t w = start / 64; w < level->words; w++) {
        uint64_t bits = words[w];
        if (w == start / 64) {
            bits &= UINT64_MAX << start % 64;
        }
        if (bits) {
            return w * 64 + (uint32_t)__builtin_ctzll(bits);
        }
    }
    return ABSENT;
}

static uint32_t common_colour(const struct level *level, uint32_t from, uint32_t to)
{
    const uint64_t *out = &level->out.free[(size_t)from * level->words];
    const uint64_t *in = &level->in.free[(size_t)to * level->words];
    for (uint32_t w = 0; w < level->words; w++) {
        if (out[w] & in[w]) {
            return w * 64 + (uint32_t)__builtin_ctzll(out[w] & in[w]);
        }
    }
    return ABSENT;
}

/*
 * 'a' is free where the new edge leaves, 'b' where it arrives. From the arriving node follow the
 * edges coloured a, b, a, ...: exchanging the two colours along this path frees a there. The path
 * cannot come back to the leaving node (that would need an edge coloured a at it), so it ends. A
 * dead colour on the way forbids the exchange.
 */
static bool exchange(struct level *level, uint32_t to, uint32_t a, uint32_t b)
{
    size_t first = level->touched.count;
    uint32_t node = to, wanted = a, other = b;
    bool arriving = true;
    for (;;) {
        uint32_t edge = *slot(level, arriving ? &level->in : &level->out, node, wanted);
        if (edge == DEAD) {
            level->touched.count = first;
            return false;
        }
        if (edge == FREE) {
            break;
        }
        myr_vec_push(&level->touched, edge);
        node = arriving ? level->from.items[edge] : level->to.items[edge];
        /* Its other end must be able to hold the other colour at all. */
        if (*slot(level, arriving ? &level->out : &level->in, node, other) == DEAD) {
            level->touched.count = first;
            return false;
        }
        arriving = !arriving;
        uint32_t kept = wanted;
        wanted = other;
        other = kept;
    }
    size_t count = level->touched.count - first;
    uint32_t *edges = &level->touched.items[first];
    for (size_t i = 0; i < count; i++) {
        uint32_t colour = level->colour.items[edges[i]];
        release(level, edges[i]);
        level->colour.items[edges[i]] = colour == a ? b : a; /* remembered for the second pass */
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t colour = level->colour.items[edges[i]];
        hold(level, edges[i], colour);
    }
    return true;
}

/* The uplink that both ends have and that is least loaded; ABSENT when they share none. */
static uint32_t least_loaded(const struct level *level, uint32_t from, uint32_t to)
{
    uint32_t best = ABSENT;
    uint64_t best_cost = UINT64_MAX;
    for (uint32_t k = 0; k < level->base; k++) {
        if (*slot(level, &level->out, from, k) == DEAD || *slot(level, &level->in, to, k) == DEAD) {
            continue;
        }
        uint64_t out = level->out.load[(size_t)from * level->base + k];
        uint64_t in = level->in.load[(size_t)to * level->base + k];
        uint64_t cost = (out > in ? out : in) * 65536 + out + in;
        if (cost < best_cost) {
            best_cost = cost;
            best = k;
        }
    }
    return best;
}

static void colour_edge(struct level *level, uint32_t edge)
{
    uint32_t from = level->from.items[edge], to = level->to.items[edge];
    uint32_t colour = common_colour(level, from, to);
    if (colour != ABSENT) {
        hold(level, edge, colour);
        return;
    }
    uint32_t tries = 0;
    for (uint32_t a = next_free(level, &level->out, from, 0); a != ABSENT && tries < PAIR_TRIES;
         a = next_free(level, &level->out, from, a + 1)) {
        for (uint32_t b = next_free(level, &level->in, to, 0); b != ABSENT && tries < PAIR_TRIES;
             b = next_free(level, &level->in, to, b + 1)) {
            tries++;
            if (*slot(level, &level->in, to, a) != DEAD && exchange(level, to, a, b)) {
                hold(level, edge, a);
                return;
            }
        }
    }
    colour = least_loaded(level, from, to);
    level->colour.items[edge] = colour;
    if (colour != ABSENT) {
        level->shared.items[edge] = true;
        level->out.load[(size_t)from * level->base + colour]++;
        level->in.load[(size_t)to * level->base + colour]++;
    }
}

struct ends {
    uint32_t from_leaf, to_leaf;
    struct myr_spot from, to;
    bool local, reachable;
};

static struct ends ends_of(const struct myr_colouring *colouring, uint32_t flow)
{
    const struct myr_graph *graph = colouring->graph;
    const struct myr_flow *f = &colouring->flows.items[flow];
    struct ends ends = {.from_leaf = myr_graph_host_switch(graph, f->from_port),
                        .to_leaf = myr_graph_host_switch(graph, f->to_port)};
    if (ends.from_leaf == MYR_NONE || ends.to_leaf == MYR_NONE) {
        return ends;
    }
    ends.from = myr_graph_leaf_spot(graph, ends.from_leaf);
    ends.to = myr_graph_leaf_spot(graph, ends.to_leaf);
    ends.reachable = ends.from.unit == ends.to.unit;
    ends.local = ends.from_leaf == ends.to_leaf;
    return ends;
}

/* Spine position that the flow's leaf colour leads to. */
static uint32_t spine_index(const struct myr_colouring *colouring, const struct ends *ends,
                            uint32_t flow)
{
    const struct myr_graph *graph = colouring->graph;
    uint32_t k = colouring->leaf.colour.items[flow] % colouring->leaf.base;
    uint32_t up = myr_graph_uplink(graph, ends->from_leaf, k);
    return myr_graph_spine_spot(graph, myr_channel_to_device(graph->design, up)).index;
}

static uint32_t spine_node(const struct myr_colouring *colouring, uint32_t unit, uint32_t index,
                           uint32_t pod)
{
    uint32_t pods = colouring->graph->net->pods;
    return (unit * colouring->graph->net->pod_spines + index) * pods + pod;
}

/* Puts a flow between pods into the upper level, at the position its leaf colour asks for. */
static void place_spine(struct myr_colouring *colouring, uint32_t flow)
{
    struct level *level = &colouring->spine;
    struct ends ends = ends_of(colouring, flow);
    release(level, flow);
    if (level->nodes == 0 || !ends.reachable || ends.local || ends.from.pod == ends.to.pod ||
        colouring->leaf.colour.items[flow] == ABSENT) {
        return;
    }
    uint32_t index = spine_index(colouring, &ends, flow);
    level->from.items[flow] = spine_node(colouring, ends.from.unit, index, ends.from.pod);
    level->to.items[flow] = spine_node(colouring, ends.to.unit, index, ends.to.pod);
    colour_edge(level, flow);
}

/* Exchanges below may have moved flows to other spines: they follow above. */
static void follow_moves(struct myr_colouring *colouring)
{
    struct level *leaf = &colouring->leaf;
    for (size_t i = 0; i < leaf->touched.count; i++) {
        place_spine(colouring, leaf->touched.items[i]);
    }
    colouring->moved += (uint32_t)leaf->touched.count;
    leaf->touched.count = 0;
    colouring->spine.touched.count = 0;
}

static void place_leaf(struct myr_colouring *colouring, uint32_t flow)
{
    struct ends ends = ends_of(colouring, flow);
    if (!ends.reachable || ends.local) {
        return;
    }
    const struct myr_network *net = colouring->graph->net;
    colouring->leaf.from.items[flow] = ends.from_leaf - net->first_leaf;
    colouring->leaf.to.items[flow] = ends.to_leaf - net->first_leaf;
    colour_edge(&colouring->leaf, flow);
}

static void set_dead(struct level *level, uint32_t node, uint32_t uplink, bool dead)
{
    struct side *sides[] = {&level->out, &level->in};
    for (uint32_t s = 0; s < 2; s++) {
        for (uint32_t colour = uplink; colour < level->colours; colour += level->base) {
            uint32_t *held = slot(level, sides[s], node, colour);
            MYR_ASSERT(*held == FREE || *held == DEAD);
            *held = dead ? DEAD : FREE;
            set_free(level, sides[s], node, colour, !dead);
        }
    }
}

/* Where a link lies in the two levels; false for host links. */
static bool locate(const struct myr_colouring *colouring, uint32_t link, struct level **ret_level,
                   uint32_t *ret_node, uint32_t *ret_uplink)
{
    const struct myr_graph *graph = colouring->graph;
    const struct myr_network *net = graph->net;
    uint32_t lower = graph->design->port_device[graph->design->link_a[link]];
    bool is_leaf = lower - net->first_leaf < net->leaf;
    bool is_spine = net->core && lower - net->first_spine < net->spine;
    if (!is_leaf && !is_spine) {
        return false;
    }
    uint32_t count = myr_graph_uplink_count(graph, lower);
    for (uint32_t k = 0; k < count; k++) {
        if (myr_channel_link(myr_graph_uplink(graph, lower, k)) == link) {
            *ret_uplink = k;
        }
    }
    struct myr_colouring *mine = (struct myr_colouring *)colouring;
    if (is_leaf) {
        *ret_level = &mine->leaf;
        *ret_node = lower - net->first_leaf;
    } else {
        struct myr_spot spot = myr_graph_spine_spot(graph, lower);
        *ret_level = &mine->spine;
        *ret_node = spine_node(colouring, spot.unit, spot.index, spot.pod);
    }
    return true;
}

static void mark_dead_links(struct myr_colouring *colouring)
{
    const struct myr_graph *graph = colouring->graph;
    if (graph->dead_count == 0) {
        return;
    }
    myr_bitset_foreach (link, &graph->dead) {
        struct level *level;
        uint32_t node, uplink = 0;
        if (locate(colouring, link, &level, &node, &uplink)) {
            set_dead(level, node, uplink, true);
        }
    }
}

struct myr_colouring *myr_colouring_create(const struct myr_graph *graph)
{
    const struct myr_network *net = graph->net;
    if (!graph->regular || net->tiers < 2 || net->leaf_up == 0) {
        return NULL;
    }
    struct myr_colouring *colouring = myr_xcalloc(1, sizeof(*colouring));
    colouring->graph = graph;
    level_init(&colouring->leaf, net->leaf, myr_graph_uplink_count(graph, net->first_leaf));
    if (net->tiers == 3) {
        uint32_t units = net->planes * (net->units ? net->units : 1);
        level_init(&colouring->spine, units * net->pod_spines * net->pods,
                   myr_graph_uplink_count(graph, net->first_spine));
    }
    mark_dead_links(colouring);
    return colouring;
}

void myr_colouring_free(struct myr_colouring *colouring)
{
    if (colouring) {
        level_done(&colouring->leaf);
        level_done(&colouring->spine);
        myr_vec_done(&colouring->flows);
        free(colouring);
    }
}

static void level_add_edge(struct level *level)
{
    myr_vec_push(&level->from, 0);
    myr_vec_push(&level->to, 0);
    myr_vec_push(&level->colour, ABSENT);
    myr_vec_push(&level->shared, false);
}

/* The largest number of flows that leave or reach one node, over all flows. */
static uint32_t leaf_degree(const struct myr_colouring *colouring)
{
    const struct myr_network *net = colouring->graph->net;
    uint32_t *degree = myr_xcalloc((size_t)net->leaf * 2, sizeof(*degree));
    uint32_t most = 0;
    for (uint32_t flow = 0; flow < colouring->flows.count; flow++) {
        struct ends ends = ends_of(colouring, flow);
        if (ends.reachable && !ends.local) {
            uint32_t out = ++degree[ends.from_leaf - net->first_leaf];
            uint32_t in = ++degree[net->leaf + ends.to_leaf - net->first_leaf];
            most = out > most ? out : most;
            most = in > most ? in : most;
        }
    }
    free(degree);
    return most;
}

static uint32_t spine_degree(const struct myr_colouring *colouring)
{
    const struct level *level = &colouring->spine;
    uint32_t *degree = myr_xcalloc((size_t)level->nodes * 2, sizeof(*degree));
    uint32_t most = 0;
    for (uint32_t flow = 0; flow < colouring->flows.count; flow++) {
        struct ends ends = ends_of(colouring, flow);
        if (!ends.reachable || ends.local || ends.from.pod == ends.to.pod ||
            colouring->leaf.colour.items[flow] == ABSENT) {
            continue;
        }
        uint32_t index = spine_index(colouring, &ends, flow);
        uint32_t from = spine_node(colouring, ends.from.unit, index, ends.from.pod);
        uint32_t to = spine_node(colouring, ends.to.unit, index, ends.to.pod);
        uint32_t out = ++degree[from], in = ++degree[level->nodes + to];
        most = out > most ? out : most;
        most = in > most ? in : most;
    }
    free(degree);
    return most;
}

uint32_t myr_colouring_add(struct myr_colouring *colouring, const struct myr_flow *flows,
                           size_t count)
{
    uint32_t first = (uint32_t)colouring->flows.count;
    for (size_t i = 0; i < count; i++) {
        myr_vec_push(&colouring->flows, flows[i]);
        level_add_edge(&colouring->leaf);
        level_add_edge(&colouring->spine);
    }
    colouring->moved = 0;
    level_grow(&colouring->leaf, leaf_degree(colouring));
    for (size_t i = 0; i < count; i++) {
        place_leaf(colouring, first + (uint32_t)i);
    }
    if (colouring->spine.nodes) {
        level_grow(&colouring->spine, spine_degree(colouring));
        /* Old flows first: they are there already and should keep their cores. */
        follow_moves(colouring);
        for (size_t i = 0; i < count; i++) {
            if (colouring->spine.colour.items[first + i] == ABSENT) {
                place_spine(colouring, first + (uint32_t)i);
            }
        }
    }
    colouring->leaf.touched.count = colouring->spine.touched.count = 0;
    return first;
}

void myr_colouring_remove(struct myr_colouring *colouring, uint32_t flow)
{
    MYR_ASSERT(flow < colouring->flows.count);
    release(&colouring->leaf, flow);
    if (colouring->spine.nodes) {
        release(&colouring->spine, flow);
    }
    colouring->flows.items[flow].from_port = colouring->flows.items[flow].to_port;
}

/* Flows that go over an uplink of a node, in either direction. */
static void evict(struct level *level, uint32_t node, uint32_t uplink, uint32_t flow_count,
                  struct myr_bitset *ret)
{
    for (uint32_t flow = 0; flow < flow_count; flow++) {
        bool here = level->colour.items[flow] != ABSENT &&
                    level->colour.items[flow] % level->base == uplink &&
                    (level->from.items[flow] == node || level->to.items[flow] == node);
        if (here) {
            release(level, flow);
            myr_bitset_add(ret, flow);
        }
    }
}

void myr_colouring_link_changed(struct myr_colouring *colouring, uint32_t link)
{
    struct level *level;
    uint32_t node, uplink = 0;
    if (!locate(colouring, link, &level, &node, &uplink)) {
        return;
    }
    bool dead = myr_bitset_has(&colouring->graph->dead, link);
    struct myr_arena arena;
    struct myr_bitset moving;
    uint32_t flow_count = (uint32_t)colouring->flows.count;
    myr_arena_init(&arena);
    myr_bitset_init(&moving, &arena, flow_count ? flow_count : 1);
    colouring->moved = 0;
    if (dead) {
        evict(level, node, uplink, flow_count, &moving);
    } else {
        /* Shared flows of the node get their chance. */
        for (uint32_t flow = 0; flow < flow_count; flow++) {
            if (level->shared.items[flow] &&
                (level->from.items[flow] == node || level->to.items[flow] == node)) {
                release(level, flow);
                myr_bitset_add(&moving, flow);
            }
        }
    }
    set_dead(level, node, uplink, dead);
    myr_bitset_foreach (flow, &moving) {
        if (level == &colouring->leaf) {
            place_leaf(colouring, flow);
            follow_moves(colouring);
        }
        place_spine(colouring, flow);
        colouring->moved++;
    }
    colouring->leaf.touched.count = colouring->spine.touched.count = 0;
    myr_arena_done(&arena);
}

bool myr_colouring_path(const struct myr_colouring *colouring, uint32_t flow, struct myr_path *ret)
{
    const struct myr_graph *graph = colouring->graph;
    const struct myr_flow *f = &colouring->flows.items[flow];
    struct ends ends = ends_of(colouring, flow);
    uint32_t leaf_colour = colouring->leaf.colour.items[flow];
    uint32_t up_link = graph->design->port_link[f->from_port];
    uint32_t down_link = graph->design->port_link[f->to_port];
    if (!ends.reachable || f->from_port == f->to_port || myr_graph_link_dead(graph, up_link) ||
        myr_graph_link_dead(graph, down_link) || (!ends.local && leaf_colour == ABSENT)) {
        return false;
    }
    ret->count = 0;
    ret->channels[ret->count++] = up_link * 2;
    if (!ends.local) {
        uint32_t k = leaf_colour % colouring->leaf.base;
        uint32_t down = myr_channel_back(myr_graph_uplink(graph, ends.to_leaf, k));
        ret->channels[ret->count++] = myr_graph_uplink(graph, ends.from_leaf, k);
        if (ends.from.pod != ends.to.pod) {
            uint32_t index = spine_index(colouring, &ends, flow);
            uint32_t spine_colour = colouring->spine.colour.items[flow];
            if (spine_colour == ABSENT) {
                return false;
            }
            uint32_t s = spine_colour % colouring->spine.base;
            struct myr_spot near = {ends.from.unit, ends.from.pod, index};
            struct myr_spot far = {ends.to.unit, ends.to.pod, index};
            ret->channels[ret->count++] = myr_graph_uplink(graph, myr_graph_spine(graph, near), s);
            ret->channels[ret->count++] =
                myr_channel_back(myr_graph_uplink(graph, myr_graph_spine(graph, far), s));
        }
        ret->channels[ret->count++] = down;
    }
    ret->channels[ret->count++] = down_link * 2 + 1;
    return true;
}

/* Flows that cross each node of a level's side, and the uplinks that are left to it. */
static void node_totals(const struct level *level, const struct side *side, uint32_t node,
                        struct myr_colouring_stats *stats, uint32_t *ret_flows, uint32_t *ret_alive)
{
    for (uint32_t k = 0; k < level->base; k++) {
        uint32_t load = side->load[(size_t)node * level->base + k];
        *ret_flows += load;
        *ret_alive += *slot(level, side, node, k) != DEAD;
        stats->max_load = load > stats->max_load ? load : stats->max_load;
    }
}

/*
 * Highest load of one uplink, and the least that any assignment could have. 'joined' nodes in a
 * row, 'stride' apart, are one cut: a leaf stands for itself, but a pod may use any of its spines.
 */
static void level_stats(const struct level *level, uint32_t joined, uint32_t stride,
                        struct myr_colouring_stats *stats)
{
    const struct side *sides[] = {&level->out, &level->in};
    uint32_t cuts = level->nodes / (joined ? joined : 1);
    for (uint32_t s = 0; s < 2; s++) {
        for (uint32_t cut = 0; cut < cuts; cut++) {
            uint32_t flows = 0, alive = 0;
            uint32_t first = cut / stride * stride * joined + cut % stride;
            for (uint32_t i = 0; i < joined; i++) {
                node_totals(level, sides[s], first + i * stride, stats, &flows, &alive);
            }
            double least = alive ? (double)flows / alive : 0;
            stats->bound = least > stats->bound ? least : stats->bound;
        }
    }
}

struct myr_colouring_stats myr_colouring_stats(const struct myr_colouring *colouring)
{
    struct myr_colouring_stats stats = {.moved = colouring->moved};
    for (uint32_t flow = 0; flow < colouring->flows.count; flow++) {
        stats.flows +=
            colouring->flows.items[flow].from_port != colouring->flows.items[flow].to_port;
        stats.shared += colouring->leaf.shared.items[flow] ||
                        (colouring->spine.nodes && colouring->spine.shared.items[flow]);
    }
    level_stats(&colouring->leaf, 1, 1, &stats);
    if (colouring->spine.nodes) {
        level_stats(&colouring->spine, colouring->graph->net->pod_spines,
                    colouring->graph->net->pods, &stats);
    }
    /* Loads count flows, which are at line rate of a host port. */
    double ratio = (double)colouring->graph->net->host_gbps / colouring->graph->net->fabric_gbps;
    stats.max_load *= ratio;
    stats.bound *= ratio;
    return stats;
}
