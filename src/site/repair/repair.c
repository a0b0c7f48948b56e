#include "repair/repair.h"

#include <stdlib.h>

#include "repair/heads.h"

const char *const myr_repair_op_names[MYR_REPAIR_OP_COUNT] = {"swap", "move", "add", "remove"};

/*
 * The difference of plan and found cables. Each port has at most one planned and one found cable,
 * so the two together fall into cycles and paths that alternate between them. A cycle of n planned
 * cables is put right by n - 1 exchanges of two plugs and not by fewer; a path by moving each of
 * its cables once. So the steps are the fewest, and each component is done by itself.
 */

/* One exchange of heads does what so many exchanges of legs do, at the most. */
enum { LEGS_OF_A_HEAD = 8 };

struct component {
    bool head;           /* of a splitter: done before all others */
    uint64_t walk_key;   /* order of walking */
    uint32_t first_port; /* where its first step is done: ties in the order of walking */
    uint32_t first_step, step_count;
};

struct repairer {
    const struct repair_graph *graph;
    struct myr_repair *repair;
    uint8_t *visited;             /* by vertex */
    MYR_VEC(uint32_t) chain;      /* the component at hand, edge by edge */
    MYR_VEC(uint32_t) next, prev; /* ring of the planned edges of a cycle */
    MYR_VEC(struct myr_repair_step) steps;
    MYR_VEC(struct component) components;
};

static void repairer_done(struct repairer *r)
{
    myr_vec_done(&r->chain);
    myr_vec_done(&r->next);
    myr_vec_done(&r->prev);
    myr_vec_done(&r->steps);
    myr_vec_done(&r->components);
}

/* Ends outside of the design are never missed. */
static enum myr_port_state state_of(const struct repair_graph *graph, uint32_t vertex)
{
    return vertex < graph->design->port_count ? (enum myr_port_state)graph->state[vertex]
                                              : MYR_STATE_IDLE;
}

static uint32_t device_of(const struct repair_graph *graph, uint32_t vertex)
{
    return vertex < graph->design->port_count ? graph->design->port_device[vertex] : MYR_NONE;
}

/* How far apart two plugs are, for those who carry them; legs come last. */
static uint32_t distance(const struct repair_graph *graph, uint32_t a, uint32_t b)
{
    enum { ELSEWHERE = 3, SHARED_PLUG = 4 };
    uint32_t device_a = device_of(graph, a), device_b = device_of(graph, b);
    if (repair_is_leg(graph->design, a) || repair_is_leg(graph->design, b)) {
        return SHARED_PLUG; /* legs are moved at their hosts */
    }
    return device_a == MYR_NONE || device_b == MYR_NONE
               ? ELSEWHERE
               : repair_distance(graph->design, device_a, device_b);
}

static void reverse_chain(struct repairer *r)
{
    for (size_t i = 0, j = r->chain.count; i + 1 < j; i++) {
        j--;
        uint32_t kept = r->chain.items[i];
        r->chain.items[i] = r->chain.items[j];
        r->chain.items[j] = kept;
    }
}

/* Appends the walk from the last vertex; true when it came back to the first one. */
static bool follow(struct repairer *r, bool by_plan)
{
    uint32_t first = r->chain.items[0], at = r->chain.items[r->chain.count - 1];
    for (;;) {
        at = by_plan ? r->graph->plan[at] : r->graph->found[at];
        if (at == MYR_NONE) {
            return false;
        }
        if (at == first) {
            return true;
        }
        MYR_ASSERT(r->chain.count < r->graph->vertex_count);
        myr_vec_push(&r->chain, at);
        by_plan = !by_plan;
    }
}

/* The component of a vertex. A cycle begins with a planned edge, a path at one of its ends. */
static bool collect(struct repairer *r, uint32_t start)
{
    r->chain.count = 0;
    myr_vec_push(&r->chain, start);
    bool cycle = follow(r, true);
    if (!cycle) {
        /* A path: from the end that was reached, through the start, to the other end. */
        reverse_chain(r);
        uint32_t end = r->chain.items[0];
        bool again = follow(r, false);
        MYR_ASSERT(!again && r->chain.items[0] == end);
    }
    for (size_t i = 0; i < r->chain.count; i++) {
        MYR_ASSERT(!r->visited[r->chain.items[i]]); /* components share no vertex */
        r->visited[r->chain.items[i]] = 1;
    }
    return cycle;
}

/* Counts by what has to be bought and carried: exchanges and moves need no cable. */
static void add_step(struct repairer *r, struct myr_repair_step step)
{
    switch ((enum myr_repair_op)step.op) {
    case MYR_REPAIR_ADD:
        r->repair->adds++;
        break;
    case MYR_REPAIR_REMOVE:
        r->repair->removes++;
        break;
    default:
        r->repair->moves++;
        break;
    }
    myr_vec_push(&r->steps, step);
}

/*
 * Planned edge i of a cycle joins p = chain[2i] and q = chain[2i + 1]; the found cable at q leads
 * to the p of the next edge. Exchanging the plugs at this q and the one before, or at this p and
 * the next one, makes the planned cable and leaves a cycle that is one shorter: the nearer pair is
 * taken, and near pairs before far ones, so that most exchanges happen at one device.
 */
struct exchange {
    uint32_t at, to, far_at, far_to;
    uint32_t distance; /* between the two plugs */
};

static struct exchange exchange_at(const struct repairer *r, uint32_t edge)
{
    const uint32_t *v = r->chain.items;
    uint32_t before = r->prev.items[edge], after = r->next.items[edge];
    uint32_t p = v[2 * edge], q = v[2 * edge + 1];
    uint32_t q_before = v[2 * before + 1], p_after = v[2 * after];
    uint32_t by_q = distance(r->graph, q_before, q), by_p = distance(r->graph, p, p_after);
    struct exchange found = by_q <= by_p ? (struct exchange){q_before, q, p, p_after, by_q}
                                         : (struct exchange){p, p_after, q_before, q, by_p};
    if (found.at > found.to) { /* people look for the lower number first */
        found = (struct exchange){found.to, found.at, found.far_to, found.far_at, found.distance};
    }
    return found;
}

/* Near exchanges first: each shortens the ring and may bring others near. */
static void solve_cycle(struct repairer *r)
{
    enum { LEVELS = 5 };
    uint32_t edges = (uint32_t)r->chain.count / 2;
    MYR_ASSERT(r->chain.count % 2 == 0 && edges >= 2);
    myr_vec_reserve(&r->next, edges);
    myr_vec_reserve(&r->prev, edges);
    /* The ring of planned edges that are still wrong. */
    for (uint32_t i = 0; i < edges; i++) {
        r->next.items[i] = (i + 1) % edges;
        r->prev.items[i] = (i + edges - 1) % edges;
    }
    uint32_t left = edges, at = 0;
    /* Levels are distances: the same device, rack, row, further; at the end what has no choice. */
    for (uint32_t level = 0; level < LEVELS; level++) {
        uint32_t idle = 0; /* edges passed since the last exchange */
        while (left > 1 && idle < left) {
            struct exchange found = exchange_at(r, at);
            uint32_t before = r->prev.items[at], after = r->next.items[at];
            if (found.distance > level) {
                at = after;
                idle++;
                continue;
            }
            add_step(r, (struct myr_repair_step){.op = MYR_REPAIR_SWAP,
                                                 .at = found.at,
                                                 .to = found.to,
                                                 .far_at = found.far_at,
                                                 .far_to = found.far_to});
            /* The edge is made: the ring closes over it. */
            r->next.items[before] = after;
            r->prev.items[after] = before;
            left--;
            /* Its neighbour has got a new partner, which may be nearer. */
            at = before;
            idle = 0;
        }
    }
    MYR_ASSERT(left == 1);
}

static bool is_missing(const struct repairer *r, uint32_t vertex)
{
    return state_of(r->graph, vertex) == MYR_STATE_MISSING;
}

/* Each cable of the path moves one plug into the port that was freed before it. */
static void solve_path(struct repairer *r)
{
    const uint32_t *found = r->graph->found;
    size_t count = r->chain.count;
    uint32_t first = r->chain.items[0], last = r->chain.items[count - 1];
    bool empty_first = found[first] == MYR_NONE, empty_last = found[last] == MYR_NONE;
    /*
     * Begin at an empty port that is known to be empty, so that every move has a free port to go
     * to.
     */
    bool last_is_better = empty_last && (!empty_first || !is_missing(r, first));
    bool either = empty_first && empty_last && is_missing(r, first) == is_missing(r, last);
    if (either && repair_is_leg(r->graph->design, first)) {
        last_is_better = !repair_is_leg(r->graph->design, last); /* plugs are moved at the hosts */
    }
    if (last_is_better) {
        reverse_chain(r);
    }
    const uint32_t *v = r->chain.items;
    bool from_empty = empty_first || empty_last;
    /* Both ends have cables that the plan has no place for: one of them comes out first. */
    if (!from_empty) {
        add_step(
            r,
            (struct myr_repair_step){
                .op = MYR_REPAIR_REMOVE, .at = v[0], .to = v[1], .far_at = v[1], .far_to = v[0]});
    }
    for (size_t i = from_empty ? 1 : 2; i + 1 < count; i += 2) {
        /* Only the first port of the path can be one that nobody looked at. */
        enum myr_port_state state = state_of(r->graph, v[0]);
        bool unseen = i == 1 && (state == MYR_STATE_UNSEEN || state == MYR_STATE_UNREAD);
        if (found[v[i]] != v[i + 1]) {
            break; /* the planned edge that ends a path between empty ports */
        }
        add_step(r, (struct myr_repair_step){.op = MYR_REPAIR_MOVE,
                                             .at = v[i + 1],
                                             .to = v[i - 1],
                                             .far_at = v[i],
                                             .far_to = MYR_NONE,
                                             .unseen = unseen});
    }
    /* A new cable only where both ends are known to be empty. */
    if (empty_first && empty_last && is_missing(r, v[0]) && is_missing(r, v[count - 1])) {
        add_step(r, (struct myr_repair_step){.op = MYR_REPAIR_ADD,
                                             .at = v[count - 2],
                                             .to = v[count - 1],
                                             .far_at = MYR_NONE,
                                             .far_to = MYR_NONE});
    }
}

/* A component that needs no step is counted, but not listed. */
static void solve_component(struct repairer *r, uint32_t start)
{
    struct component component = {.first_step = (uint32_t)r->steps.count};
    bool cycle = collect(r, start);
    if (cycle) {
        solve_cycle(r);
        MYR_ASSERT(r->steps.count - component.first_step == r->chain.count / 2 - 1);
    } else {
        solve_path(r);
    }
    r->repair->components++;
    component.step_count = (uint32_t)r->steps.count - component.first_step;
    if (component.step_count == 0) {
        return;
    }
    /* Where its first step is done decides when it is walked to. */
    const struct myr_repair_step *step = &r->steps.items[component.first_step];
    bool known = step->at < r->graph->design->port_count;
    component.first_port = known ? step->at : step->to;
    uint32_t device = device_of(r->graph, component.first_port);
    component.walk_key =
        device == MYR_NONE ? UINT64_MAX : repair_walk_key(r->graph->design, device);
    myr_vec_push(&r->components, component);
}

/* In the order in which somebody walks through the room; equal keys by port, never by address. */
static int compare_components(const void *left, const void *right)
{
    const struct component *a = left, *b = right;
    if (a->head != b->head) {
        return a->head ? -1 : 1;
    }
    if (a->walk_key != b->walk_key) {
        return a->walk_key < b->walk_key ? -1 : 1;
    }
    return a->first_port < b->first_port ? -1 : a->first_port > b->first_port;
}

/* Steps of a component stay in their order; components are numbered as they are walked. */
static void put_steps(struct repairer *r, struct myr_arena *arena)
{
    struct myr_repair *repair = r->repair;
    repair->steps = MYR_ARENA_NEW(arena, struct myr_repair_step, r->steps.count);
    if (r->components.count > 1) {
        qsort(r->components.items, r->components.count, sizeof(*r->components.items),
              compare_components);
    }
    for (uint32_t c = 0; c < r->components.count; c++) {
        const struct component *component = &r->components.items[c];
        for (uint32_t i = 0; i < component->step_count; i++) {
            struct myr_repair_step *step = &repair->steps[repair->step_count++];
            *step = r->steps.items[component->first_step + i];
            step->component = c;
        }
    }
    MYR_ASSERT(repair->step_count == r->steps.count);
    MYR_ASSERT(repair->moves + repair->adds + repair->removes == repair->step_count);
}

/* Whether the vertex belongs to the difference: unseen ports do so only as ends of a path. */
static bool differs(const struct repair_graph *graph, uint32_t vertex)
{
    uint32_t plan = graph->plan[vertex], found = graph->found[vertex];
    if (plan == found) {
        return false;
    }
    return found != MYR_NONE || state_of(graph, vertex) == MYR_STATE_MISSING;
}

/* Heads of splitters come before single plugs, each as a component of its own. */
static void put_heads(struct repairer *r, const struct head_steps *heads)
{
    for (size_t i = 0; i < heads->count; i++) {
        const struct head_step *head = &heads->items[i];
        struct component component = {
            .first_step = (uint32_t)r->steps.count, .step_count = 1, .first_port = head->at};
        add_step(r, (struct myr_repair_step){.op = head->move ? MYR_REPAIR_MOVE : MYR_REPAIR_SWAP,
                                             .at = head->at,
                                             .to = head->to,
                                             .far_at = head->far_at,
                                             .far_to = head->far_to,
                                             .legs = head->legs});
        /* They are done in their order, and before all others. */
        component.walk_key = i;
        component.head = true;
        myr_vec_push(&r->components, component);
        r->repair->components++;
    }
}

/* Heads are counted as moves too: each is one pair of hands at one plug. */
void repair_labelled(const struct repair_graph *graph, struct myr_arena *arena,
                     struct myr_repair *ret)
{
    uint32_t *found = MYR_ARENA_NEW(arena, uint32_t, graph->vertex_count);
    struct repair_graph after = *graph;
    struct head_steps heads = {.exact = true};
    /* What is found after heads have moved is what single plugs start from. */
    memcpy(found, graph->found, graph->vertex_count * sizeof(uint32_t));
    after.found = found;
    MYR_CLEANUP(repairer_done) struct repairer r = {.graph = &after, .repair = ret};
    *ret = (struct myr_repair){.exact = true};
    repair_heads(graph, arena, found, &heads);
    put_heads(&r, &heads);
    r.visited = MYR_ARENA_NEW(arena, uint8_t, graph->vertex_count);
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        if (!r.visited[v] && differs(&after, v)) {
            solve_component(&r, v);
        }
    }
    ret->exact = heads.exact;
    ret->lower_bound = heads.exact ? ret->moves : ret->moves / LEGS_OF_A_HEAD;
    free(heads.items);
    put_steps(&r, arena);
}
