#include "myriad/fabric/bound.h"

#include <stdlib.h>

#include "myriad/base/maxflow.h"
#include "myriad/fabric/balance.h"

/*
 * Cuts: every switch sending and receiving, then every pod sending and receiving, then every leaf
 * for what leaves its pod: links to spines that have nothing left above do not serve that.
 */
struct cuts {
    const struct myr_graph *graph;
    uint32_t switches, pods; /* pods: 0 where they are no cuts */
    uint32_t count;          /* in all, one direction */
    uint32_t *links;         /* alive, by switch, then by pod, then by leaf */
    bool tiered;             /* pods are cuts of their own */
    uint32_t unit_pods;      /* of one fabric */
};

struct crossing {
    uint32_t from, to;         /* switches, from 0 */
    uint32_t from_pod, to_pod; /* MYR_NONE: no pod is left */
    bool valid;                /* both ports are alive, and there is a path */
};

/* Links of a spine to cores that are alive. */
static uint32_t links_above(const struct myr_graph *graph, uint32_t spine)
{
    uint32_t at = spine - graph->first_switch, links = 0;
    for (uint32_t b = graph->bundle_start[at]; b < graph->bundle_start[at + 1]; b++) {
        bool up = graph->bundles[b].neighbour >= graph->net->first_core;
        links += up ? graph->bundles[b].alive : 0;
    }
    return links;
}

/*
 * The cuts of fabrics with cores: all links of a pod upwards, and a leaf's links to spines that
 * lead out of the pod. Without dead links every spine does.
 */
static void cut_tiers(struct cuts *cuts)
{
    const struct myr_graph *graph = cuts->graph;
    const struct myr_network *net = graph->net;
    for (uint32_t i = 0; i < net->spine; i++) {
        struct myr_spot spot = myr_graph_spine_spot(graph, net->first_spine + i);
        cuts->links[cuts->switches + spot.unit * cuts->unit_pods + spot.pod] +=
            links_above(graph, net->first_spine + i);
    }
    for (uint32_t i = 0; i < net->leaf; i++) {
        for (uint32_t b = graph->bundle_start[i]; b < graph->bundle_start[i + 1]; b++) {
            const struct myr_bundle *bundle = &graph->bundles[b];
            bool serves = graph->dead_count == 0 || links_above(graph, bundle->neighbour) > 0;
            cuts->links[cuts->switches + cuts->pods + i] += serves ? bundle->alive : 0;
        }
    }
}

/*
 * Links of one direction; the other one has as many. Fabrics without cores have no cuts but their
 * switches.
 */
static void cuts_init(struct cuts *cuts, const struct myr_graph *graph)
{
    const struct myr_network *net = graph->net;
    *cuts = (struct cuts){.graph = graph, .switches = graph->switch_count};
    cuts->tiered = graph->clos && net->core;
    cuts->unit_pods = net->pods ? net->pods : 1;
    uint32_t fabrics = graph->clos ? net->leaf / graph->unit_leaves : 1;
    cuts->pods = cuts->tiered ? fabrics * cuts->unit_pods : 0;
    cuts->count = cuts->switches + cuts->pods + (cuts->tiered ? net->leaf : 0);
    cuts->links = myr_xcalloc((size_t)cuts->count, sizeof(uint32_t));
    /* Every switch is a cut: all that comes from its hosts must leave by its links. */
    for (uint32_t i = 0; i < cuts->switches; i++) {
        for (uint32_t b = graph->bundle_start[i]; b < graph->bundle_start[i + 1]; b++) {
            cuts->links[i] += graph->bundles[b].alive;
        }
    }
    if (cuts->tiered) {
        cut_tiers(cuts);
    }
}

/* Not valid: the flow gets nothing on any path, and must not raise a bound. */
static struct crossing crossing_of(const struct cuts *cuts, const struct myr_flow *flow)
{
    const struct myr_graph *graph = cuts->graph;
    const uint32_t *port_link = graph->design->port_link;
    uint32_t a = myr_graph_host_switch(graph, flow->from_port);
    uint32_t b = myr_graph_host_switch(graph, flow->to_port);
    struct crossing crossing = {.from_pod = MYR_NONE, .to_pod = MYR_NONE};
    if (a == MYR_NONE || b == MYR_NONE || flow->from_port == flow->to_port ||
        myr_graph_link_dead(graph, port_link[flow->from_port]) ||
        myr_graph_link_dead(graph, port_link[flow->to_port])) {
        return crossing;
    }
    /* Both ends have living links into the fabric. */
    crossing.from = a - graph->first_switch;
    crossing.to = b - graph->first_switch;
    crossing.valid = true;
    if (graph->clos) {
        struct myr_spot from = myr_graph_leaf_spot(graph, a), to = myr_graph_leaf_spot(graph, b);
        crossing.valid = from.unit == to.unit;
        /* A pair may have lost its last way though both ends still have links. */
        if (crossing.valid && graph->dead_count && a != b) {
            uint32_t candidates[MYR_CANDIDATES_MAX];
            crossing.valid = myr_path_candidates(graph, a, b, candidates) > 0;
        }
        /* Only a flow between pods crosses their cuts. */
        if (cuts->tiered && from.pod != to.pod) {
            crossing.from_pod = from.unit * cuts->unit_pods + from.pod;
            crossing.to_pod = to.unit * cuts->unit_pods + to.pod;
        }
    }
    return crossing;
}

/* The cuts that a flow crosses, as numbers: out of a switch, into one, and so on of pods. */
static uint32_t crossed(const struct cuts *cuts, struct crossing crossing, uint32_t ret[6])
{
    uint32_t all = cuts->count, count = 0;
    if (!crossing.valid || crossing.from == crossing.to) {
        return 0;
    }
    ret[count++] = crossing.from;
    /* The receiving direction of a cut has the number behind all sending ones. */
    ret[count++] = all + crossing.to;
    if (crossing.from_pod != MYR_NONE) {
        ret[count++] = cuts->switches + crossing.from_pod;
        ret[count++] = all + cuts->switches + crossing.to_pod;
        ret[count++] = cuts->switches + cuts->pods + crossing.from;
        ret[count++] = all + cuts->switches + cuts->pods + crossing.to;
    }
    return count;
}

static int larger_first(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return left > right ? -1 : left < right;
}

/* Flows of these shares over so many links: the least that the fullest one carries. */
static uint64_t whole_flows_bound(uint32_t *shares, uint32_t count, uint32_t links)
{
    uint64_t most = 0;
    qsort(shares, count, sizeof(*shares), larger_first);
    for (uint64_t j = 0; j * links < count; j++) {
        uint64_t least = (j + 1) * shares[j * links];
        most = least > most ? least : most;
    }
    return most;
}

static void cuts_done(struct cuts *cuts)
{
    free(cuts->links);
}

/*
 * Shares are listed by cut: counted two places ahead and filled one place ahead of where each list
 * begins. The result is in parts of a fabric link's rate.
 */
double myr_load_bound(const struct myr_graph *graph, const struct myr_flow *flows, size_t count,
                      bool split)
{
    MYR_CLEANUP(cuts_done) struct cuts cuts;
    cuts_init(&cuts, graph);
    uint32_t all = cuts.count * 2, over[6];
    MYR_CLEANUP(myr_free_at) uint32_t *start = myr_xcalloc((size_t)all + 2, sizeof(*start));
    MYR_CLEANUP(myr_free_at)
    struct crossing *crossings = myr_xcalloc(count, sizeof(*crossings));
    for (size_t i = 0; i < count; i++) {
        crossings[i] = crossing_of(&cuts, &flows[i]);
        for (uint32_t k = crossed(&cuts, crossings[i], over); k > 0; k--) {
            start[over[k - 1] + 2]++;
        }
    }
    for (uint32_t i = 2; i < all + 2; i++) {
        start[i] += start[i - 1];
    }
    MYR_CLEANUP(myr_free_at)
    uint32_t *shares = myr_xcalloc(start[all + 1], sizeof(*shares));
    for (size_t i = 0; i < count; i++) {
        for (uint32_t k = crossed(&cuts, crossings[i], over); k > 0; k--) {
            shares[start[over[k - 1] + 1]++] = flows[i].share;
        }
    }
    /* The cut that needs most of its links is the bound of all. */
    double bound = 0;
    for (uint32_t cut = 0; cut < all; cut++) {
        uint32_t links = cuts.links[cut % cuts.count];
        uint32_t held = start[cut + 1] - start[cut];
        /* A cut without links is crossed by no flow that has a path. */
        if (held == 0 || links == 0) {
            continue;
        }
        uint64_t sum = 0;
        for (uint32_t i = 0; i < held; i++) {
            sum += shares[start[cut] + i];
        }
        double least = (double)sum / links;
        /* Whole flows cannot be divided among links: that bound may be higher than the mean. */
        if (!split) {
            double whole = (double)whole_flows_bound(&shares[start[cut]], held, links);
            least = whole > least ? whole : least;
        }
        bound = least > bound ? least : bound;
    }
    return bound / MYR_SHARE_ONE * graph->net->host_gbps / graph->net->fabric_gbps;
}

/* Arcs with one capacity for all that goes between two nodes. */
struct arc_sums {
    struct myr_maxflow *net;
    struct myr_u64map arcs; /* both nodes, to the arc between them */
};

/* The network stays as small as the pairs of switches, however many flows there are. */
static void add_to_arc(struct arc_sums *sums, uint32_t from, uint32_t to, uint64_t amount)
{
    uint64_t key = (uint64_t)from << 32 | to;
    uint32_t *arc = myr_u64map_find(&sums->arcs, key);
    if (arc) {
        sums->net->arcs.items[*arc].left += amount;
    } else {
        myr_u64map_add(&sums->arcs, key, myr_maxflow_arc(sums->net, from, to, amount));
    }
}

/* Nodes: switches sending, switches receiving, and the two sides of each pod's way out and in. */
static void add_flow(struct arc_sums *sums, const struct cuts *cuts, struct crossing crossing,
                     uint64_t amount)
{
    uint32_t pods = cuts->switches * 2;
    uint32_t from = crossing.from, to = cuts->switches + crossing.to;
    if (crossing.from_pod == MYR_NONE) {
        add_to_arc(sums, from, to, amount);
        return;
    }
    uint32_t out = pods + crossing.from_pod, in = pods + 2 * cuts->pods + crossing.to_pod;
    add_to_arc(sums, from, out, amount);
    add_to_arc(sums, out + cuts->pods, in, amount);
    add_to_arc(sums, in + cuts->pods, to, amount);
}

/* What the links of each cut can carry. */
static void add_limits(struct myr_maxflow *net, const struct cuts *cuts, uint32_t source,
                       uint32_t sink)
{
    const struct myr_network *built = cuts->graph->net;
    /* Both in parts of a host port's rate. */
    uint64_t per_link = MYR_LOAD_ONE * built->fabric_gbps / built->host_gbps;
    for (uint32_t i = 0; i < cuts->switches; i++) {
        myr_maxflow_arc(net, source, i, cuts->links[i] * per_link);
        myr_maxflow_arc(net, cuts->switches + i, sink, cuts->links[i] * per_link);
    }
    for (uint32_t i = 0; i < cuts->pods; i++) {
        uint32_t out = cuts->switches * 2 + i, in = out + 2 * cuts->pods;
        myr_maxflow_arc(net, out, out + cuts->pods, cuts->links[cuts->switches + i] * per_link);
        myr_maxflow_arc(net, in, in + cuts->pods, cuts->links[cuts->switches + i] * per_link);
    }
}

static void arc_sums_done(struct arc_sums *sums)
{
    myr_u64map_done(&sums->arcs);
}

/* A maximum flow: what the cuts let through, and flows inside one switch, which cross none. */
double myr_throughput_bound(const struct myr_graph *graph, const struct myr_flow *flows,
                            size_t count, const uint64_t *most)
{
    MYR_CLEANUP(cuts_done) struct cuts cuts;
    MYR_CLEANUP(myr_maxflow_done) struct myr_maxflow net;
    cuts_init(&cuts, graph);
    /* Two nodes for each switch, four for each pod. */
    uint32_t source = cuts.switches * 2 + cuts.pods * 4, sink = source + 1;
    myr_maxflow_init(&net, sink + 1);
    MYR_CLEANUP(arc_sums_done) struct arc_sums sums = {.net = &net};
    uint64_t inside = 0;
    for (size_t i = 0; i < count; i++) {
        struct crossing crossing = crossing_of(&cuts, &flows[i]);
        if (crossing.valid && crossing.from == crossing.to) {
            inside += most[i];
        } else if (crossing.valid) {
            add_flow(&sums, &cuts, crossing, most[i]);
        }
    }
    add_limits(&net, &cuts, source, sink);
    /* Flows may be divided here at will: that is why this is a bound. */
    uint64_t across = myr_maxflow_run(&net, source, sink);
    return (double)(across + inside);
}
