#include "myriad/site/cost.h"

#include <stdlib.h>

/*
 * What miscabling costs. The fabric as found is not regular, so flows are spread over the shortest
 * ways of the graph that is really there, for the plan and for what was found by the same rule.
 * Then each piece of the repair is done alone and looked at, and at last all of them one after the
 * other in the order of what they win.
 */

/* Looks at the whole fabric that are worth their time: a count, so that answers are the same. */
#define WORK_MAX UINT64_C(4000000000)
enum { LOOKS_MIN = 8 };

/* A fabric by who is plugged into whom; found again for every look. */
struct wiring {
    const struct myr_graph *graph;
    const struct myr_flow *flows;
    size_t flow_count;
    uint32_t *peer; /* by vertex: design ports, then foreign ends */
    /* Switches' links to other switches, by switch: first[s] .. first[s + 1] - 1. */
    uint32_t *first, *port, *next;
    double *load;               /* by port: what leaves by it */
    double *fraction, *highest; /* by switch */
    uint32_t *hops, *queue;     /* to the target at hand; switches by distance */
    uint32_t *order, *start;    /* flows by the switch where they end; their number */
};

/* MYR_NONE for hosts, ends outside of the design, and no end at all. */
static uint32_t switch_of(const struct wiring *wiring, uint32_t vertex)
{
    const struct myr_design *design = wiring->graph->design;
    if (vertex == MYR_NONE || vertex >= design->port_count) {
        return MYR_NONE;
    }
    uint32_t at = design->port_device[vertex] - wiring->graph->first_switch;
    return at < wiring->graph->switch_count ? at : MYR_NONE;
}

/* Two ports of different speeds run at the lower one. */
static double link_gbps(const struct wiring *wiring, uint32_t port)
{
    const struct myr_design *design = wiring->graph->design;
    uint32_t a = myr_design_port_group(design, port)->gbps;
    uint32_t b = myr_design_port_group(design, wiring->peer[port])->gbps;
    return a < b ? a : b;
}

/* Cables between switches, both directions; hosts are only where flows begin and end. */
static void find_links(struct wiring *wiring)
{
    const struct myr_graph *graph = wiring->graph;
    const struct myr_design *design = graph->design;
    uint32_t count = 0;
    for (uint32_t s = 0; s < graph->switch_count; s++) {
        uint32_t device = graph->first_switch + s;
        wiring->first[s] = count;
        for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
            uint32_t other = switch_of(wiring, wiring->peer[p]);
            /* A cable from a switch back to itself leads nowhere. */
            if (other != MYR_NONE && other != s) {
                wiring->port[count] = p;
                wiring->next[count++] = other;
            }
        }
    }
    wiring->first[graph->switch_count] = count;
    MYR_ASSERT(count <= design->port_count);
}

/* By the switch where they end as cables are now; flows to nowhere are in no list. */
static void sort_flows(struct wiring *wiring)
{
    uint32_t switches = wiring->graph->switch_count;
    memset(wiring->start, 0, ((size_t)switches + 2) * sizeof(uint32_t));
    /* Counted two places ahead, then filled one place ahead of where each list begins. */
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < wiring->flow_count; i++) {
            uint32_t to = switch_of(wiring, wiring->peer[wiring->flows[i].to_port]);
            if (to != MYR_NONE && pass == 0) {
                wiring->start[to + 2]++;
            } else if (to != MYR_NONE) {
                wiring->order[wiring->start[to + 1]++] = (uint32_t)i;
            }
        }
        for (uint32_t s = 2; pass == 0 && s < switches + 2; s++) {
            wiring->start[s] += wiring->start[s - 1];
        }
    }
    /* Each list ends where the next begins; the last one at the number of all. */
    MYR_ASSERT(wiring->start[0] == 0 && wiring->start[switches] == wiring->start[switches + 1]);
    MYR_ASSERT(wiring->start[switches] <= wiring->flow_count);
}

/* Hops of every switch to the target; the queue then has them by distance. Returns their number. */
static uint32_t find_hops(struct wiring *wiring, uint32_t to)
{
    uint32_t head = 0, tail = 0;
    memset(wiring->hops, 0xFF, wiring->graph->switch_count * sizeof(uint32_t));
    /* MYR_NONE, all ones, is where the target is not to be reached from. */
    wiring->hops[to] = 0;
    wiring->queue[tail++] = to;
    while (head < tail) {
        uint32_t at = wiring->queue[head++];
        for (uint32_t i = wiring->first[at]; i < wiring->first[at + 1]; i++) {
            if (wiring->hops[wiring->next[i]] == MYR_NONE) {
                wiring->hops[wiring->next[i]] = wiring->hops[at] + 1;
                wiring->queue[tail++] = wiring->next[i];
            }
        }
    }
    MYR_ASSERT(tail <= wiring->graph->switch_count); /* none is there twice */
    return tail;
}

static bool nearer(const struct wiring *wiring, uint32_t at, uint32_t link)
{
    return wiring->hops[wiring->next[link]] + 1 == wiring->hops[at];
}

/* Evenly over all shortest ways, as a spraying fabric does. */
static void pass_on(struct wiring *wiring, uint32_t at)
{
    uint32_t ways = 0;
    for (uint32_t i = wiring->first[at]; i < wiring->first[at + 1]; i++) {
        ways += nearer(wiring, at, i);
    }
    MYR_ASSERT(ways > 0); /* else the target would not be reached from here */
    for (uint32_t i = wiring->first[at]; i < wiring->first[at + 1]; i++) {
        if (nearer(wiring, at, i)) {
            double part = wiring->fraction[at] / ways;
            /* In parts of the slower of the two ports. */
            wiring->load[wiring->port[i]] +=
                part * wiring->graph->net->host_gbps / link_gbps(wiring, wiring->port[i]);
            wiring->fraction[wiring->next[i]] += part;
        }
    }
}

/* Where a flow starts, and whether it gets to the target from there. */
static uint32_t start_of(const struct wiring *wiring, uint32_t flow)
{
    uint32_t from = switch_of(wiring, wiring->peer[wiring->flows[flow].from_port]);
    return from == MYR_NONE || wiring->hops[from] == MYR_NONE ? MYR_NONE : from;
}

/* All flows to one switch at once: spreading is linear. */
static void load_to(struct wiring *wiring, uint32_t to)
{
    uint32_t count = find_hops(wiring, to);
    memset(wiring->fraction, 0, wiring->graph->switch_count * sizeof(double));
    for (uint32_t i = wiring->start[to]; i < wiring->start[to + 1]; i++) {
        uint32_t from = start_of(wiring, wiring->order[i]);
        if (from != MYR_NONE) {
            wiring->fraction[from] += (double)wiring->flows[wiring->order[i]].share / MYR_SHARE_ONE;
        }
    }
    /* The farthest first: all that comes to a switch is there when it is passed on. */
    while (count-- > 1) {
        if (wiring->fraction[wiring->queue[count]] > 0) {
            pass_on(wiring, wiring->queue[count]);
        }
    }
}

/* The fullest link on all ways from each switch; then what the flows get. */
static void rate_to(struct wiring *wiring, uint32_t to, struct myr_cost_state *ret)
{
    uint32_t count = find_hops(wiring, to);
    /* From the nearest on: what is nearer is known when it is asked for. */
    wiring->highest[to] = 0;
    for (uint32_t k = 1; k < count; k++) {
        uint32_t at = wiring->queue[k];
        double most = 0;
        for (uint32_t i = wiring->first[at]; i < wiring->first[at + 1]; i++) {
            if (nearer(wiring, at, i)) {
                double load = wiring->load[wiring->port[i]];
                double rest = wiring->highest[wiring->next[i]];
                most = load > most ? load : most;
                most = rest > most ? rest : most;
            }
        }
        wiring->highest[at] = most;
    }
    for (uint32_t i = wiring->start[to]; i < wiring->start[to + 1]; i++) {
        const struct myr_flow *flow = &wiring->flows[wiring->order[i]];
        uint32_t from = start_of(wiring, wiring->order[i]);
        if (from != MYR_NONE) {
            double most = wiring->highest[from] > 1 ? wiring->highest[from] : 1;
            ret->gbps += (double)flow->share / MYR_SHARE_ONE * wiring->graph->net->host_gbps / most;
            MYR_ASSERT(ret->lost > 0 && most >= 1);
            ret->lost--;
        }
    }
}

/*
 * Everything is lost until it is rated. All loads come first: a flow is as fast as the fullest link
 * lets it be when all are there.
 */
static struct myr_cost_state look(struct wiring *wiring)
{
    struct myr_cost_state state = {.lost = (uint32_t)wiring->flow_count};
    find_links(wiring);
    sort_flows(wiring);
    memset(wiring->load, 0, wiring->graph->design->port_count * sizeof(double));
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t to = 0; to < wiring->graph->switch_count; to++) {
            if (wiring->start[to] == wiring->start[to + 1]) {
                continue;
            }
            if (pass == 0) {
                load_to(wiring, to);
            } else {
                rate_to(wiring, to, &state);
            }
        }
    }
    return state;
}

/* --- repair */

static void join(uint32_t *peer, uint32_t a, uint32_t b)
{
    if (a != MYR_NONE) {
        peer[a] = b;
    }
    if (b != MYR_NONE) {
        peer[b] = a;
    }
}

/* Steps say where plugs are when their turn comes; peers are changed on the way. */
static void do_step(uint32_t *peer, const struct myr_repair_step *step)
{
    uint32_t at = step->at, to = step->to;
    MYR_ASSERT(at != to);
    /* As it is when this step is done, not as it was found. */
    uint32_t far_at = peer[at], far_to = peer[to];
    switch ((enum myr_repair_op)step->op) {
    case MYR_REPAIR_SWAP:
        join(peer, to, far_at);
        join(peer, at, far_to);
        break;
    case MYR_REPAIR_MOVE:
        peer[at] = MYR_NONE;
        join(peer, to, far_at);
        break;
    case MYR_REPAIR_ADD:
        join(peer, at, to);
        break;
    case MYR_REPAIR_REMOVE:
        peer[at] = peer[to] = MYR_NONE;
        break;
    default:
        break;
    }
}

static void do_piece(uint32_t *peer, const struct myr_verify *verify,
                     const struct myr_cost_piece *piece)
{
    for (uint32_t i = 0; i < piece->moves; i++) {
        do_step(peer, &verify->repair.steps[piece->first_step + i]);
    }
}

/* Steps of one component stand together in the repair. */
static void list_pieces(struct myr_cost *cost, struct myr_arena *arena,
                        const struct myr_verify *verify)
{
    const struct myr_repair *repair = &verify->repair;
    cost->pieces = MYR_ARENA_NEW(arena, struct myr_cost_piece, repair->step_count);
    for (uint32_t i = 0; i < repair->step_count; i++) {
        if (i == 0 || repair->steps[i].component != repair->steps[i - 1].component) {
            cost->pieces[cost->piece_count++] =
                (struct myr_cost_piece){.component = repair->steps[i].component, .first_step = i};
        }
        MYR_ASSERT(cost->piece_count > 0 && cost->piece_count <= i + 1);
        cost->pieces[cost->piece_count - 1].moves++;
    }
}

/* What a move gives, more first; then fewer moves; then as the repair has them. */
static int compare_pieces(const void *left, const void *right)
{
    const struct myr_cost_piece *a = left, *b = right;
    /* Gains by move, compared crosswise: no division. */
    double x = a->gain_gbps * b->moves, y = b->gain_gbps * a->moves;
    if (a->known != b->known) {
        return a->known ? -1 : 1;
    }
    if (x != y) {
        return x > y ? -1 : 1;
    }
    if (a->moves != b->moves) {
        return a->moves < b->moves ? -1 : 1;
    }
    return a->first_step < b->first_step ? -1 : a->first_step > b->first_step;
}

/* All memory of a look, made once and used for all of them. */
static void wiring_init(struct wiring *wiring, struct myr_arena *arena,
                        const struct myr_fabric_case *fabric, uint32_t vertices)
{
    const struct myr_design *design = &fabric->design;
    size_t switches = (size_t)fabric->graph.switch_count + 2;
    *wiring = (struct wiring){.graph = &fabric->graph,
                              .flows = fabric->flows.items.items,
                              .flow_count = fabric->flows.items.count};
    wiring->peer = MYR_ARENA_NEW(arena, uint32_t, vertices);
    wiring->first = MYR_ARENA_NEW(arena, uint32_t, switches);
    wiring->port = MYR_ARENA_NEW(arena, uint32_t, design->port_count);
    wiring->next = MYR_ARENA_NEW(arena, uint32_t, (size_t)design->port_count + 1);
    wiring->load = MYR_ARENA_NEW(arena, double, design->port_count);
    wiring->fraction = MYR_ARENA_NEW(arena, double, switches);
    wiring->highest = MYR_ARENA_NEW(arena, double, switches);
    wiring->hops = MYR_ARENA_NEW(arena, uint32_t, switches);
    wiring->queue = MYR_ARENA_NEW(arena, uint32_t, switches);
    wiring->order = MYR_ARENA_NEW(arena, uint32_t, wiring->flow_count);
    wiring->start = MYR_ARENA_NEW(arena, uint32_t, switches);
}

/* Pieces that can be looked at twice each, alone and in their order. */
static uint32_t looks_of(const struct wiring *wiring, uint32_t pieces)
{
    uint64_t links = (uint64_t)wiring->first[wiring->graph->switch_count] + 1, targets = 1;
    for (uint32_t s = 0; s < wiring->graph->switch_count; s++) {
        targets += wiring->start[s + 1] > wiring->start[s];
    }
    /* A look walks the links for every target in two passes, and each piece is looked at twice. */
    uint64_t looks = WORK_MAX / (links * targets * 4);
    looks = looks < LOOKS_MIN ? LOOKS_MIN : looks;
    MYR_ASSERT(looks >= LOOKS_MIN);
    return looks < pieces ? (uint32_t)looks : pieces;
}

static void set_peers(struct wiring *wiring, const uint32_t *peer, uint32_t vertices)
{
    memcpy(wiring->peer, peer, vertices * sizeof(uint32_t));
}

void myr_cost_find(struct myr_cost *ret, struct myr_arena *arena,
                   const struct myr_fabric_case *fabric, const struct myr_verify *verify,
                   myr_cost_told *told, void *context)
{
    uint32_t vertices = verify->vertex_count;
    struct wiring wiring;
    *ret = (struct myr_cost){};
    wiring_init(&wiring, arena, fabric, vertices);
    for (size_t i = 0; i < wiring.flow_count; i++) {
        ret->wanted_gbps +=
            (double)wiring.flows[i].share / MYR_SHARE_ONE * wiring.graph->net->host_gbps;
    }
    /* The plan by the same rule, so that the two can be compared. */
    set_peers(&wiring, verify->plan, vertices);
    ret->planned = look(&wiring);
    uint32_t *found = MYR_ARENA_NEW(arena, uint32_t, vertices);
    memcpy(found, verify->found, vertices * sizeof(uint32_t));
    /* Ports that nobody looked at are taken as planned, unless something else was found there. */
    for (uint32_t p = 0; p < wiring.graph->design->port_count; p++) {
        uint32_t peer = verify->plan[p];
        if (verify->state[p] == MYR_STATE_UNSEEN && found[p] == MYR_NONE && peer != MYR_NONE &&
            found[peer] == MYR_NONE) {
            join(found, p, peer);
        }
    }
    set_peers(&wiring, found, vertices);
    ret->found = look(&wiring);
    list_pieces(ret, arena, verify);
    /* Large fabrics: as many pieces as there is time for, the others stand last. */
    ret->known_count = looks_of(&wiring, ret->piece_count);
    for (uint32_t i = 0; i < ret->known_count; i++) {
        if (told) {
            told(context, i, 2 * ret->known_count);
        }
        set_peers(&wiring, found, vertices);
        do_piece(wiring.peer, verify, &ret->pieces[i]);
        ret->pieces[i].gain_gbps = look(&wiring).gbps - ret->found.gbps;
        ret->pieces[i].known = true;
    }
    /* By what each gives alone; then they are done in that order, one upon the other. */
    qsort(ret->pieces, ret->piece_count, sizeof(*ret->pieces), compare_pieces);
    set_peers(&wiring, found, vertices);
    for (uint32_t i = 0; i < ret->known_count; i++) {
        if (told) {
            told(context, ret->known_count + i, 2 * ret->known_count);
        }
        do_piece(wiring.peer, verify, &ret->pieces[i]);
        ret->pieces[i].after = look(&wiring);
    }
}
