#include <stdlib.h>

#include "kill.h"
#include "myriad/base/maxflow.h"

/*
 * What is left of a fabric with dead links: how much two halves share, the pair of switches that
 * has least, what each rail has, who is cut off. All of it is counted anew from the graph, so that
 * the same functions serve before and after a failure; the blast radius is the difference of the
 * two.
 */

enum { PAIR_SWITCHES_MAX = 512 }; /* one maximum flow for each: beyond, a bound must do */

/* --- bisection */

static int descending(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left > right ? -1 : left < right;
}

/* Half of what all have, less what the worse half of them has lost. */
static uint64_t half_left(uint64_t planned, uint64_t *lost, uint32_t count)
{
    /* Doubled, since the middle one counts half. */
    uint64_t twice = 0;
    qsort(lost, count, sizeof(*lost), descending);
    for (uint32_t i = 0; i < count / 2; i++) {
        twice += 2 * lost[i];
    }
    twice += count % 2 ? lost[count / 2] : 0; /* the one in the middle counts half */
    return twice < planned ? (planned - twice) / 2 : 0;
}

/*
 * What two halves share, by the capacity of whole tiers: quick enough to ask for after every single
 * failure. The plan's own figure is a maximum flow and may be lower; so the undamaged fabric is
 * measured here in the same way, and the two are compared.
 */
struct halves {
    uint64_t left, full;
};

/* The narrowest tier decides. */
static void lower_to(uint64_t *value, uint64_t limit)
{
    *value = limit < *value ? limit : *value;
}

/*
 * Leaves are halved so that one half has lost most, and so are pods. With one tier nothing is
 * between hosts but their own links.
 */
static void clos_bisection(const struct myr_graph *graph, struct halves *ret)
{
    const struct myr_network *net = graph->net;
    uint32_t fabrics = net->leaf / graph->unit_leaves, unit_pods = net->pods ? net->pods : 1;
    MYR_CLEANUP(myr_free_at)
    uint64_t *lost = myr_xcalloc((size_t)net->leaf + (size_t)fabrics * unit_pods, sizeof(*lost));
    uint64_t planned = 0;
    for (uint32_t i = 0; i < net->leaf && net->tiers > 1; i++) {
        uint32_t leaf = net->first_leaf + i, up = myr_graph_uplink_count(graph, leaf);
        planned += (uint64_t)up * net->fabric_gbps;
        lost[i] = (uint64_t)(up - alive_up(graph, leaf)) * net->fabric_gbps;
    }
    if (net->tiers > 1) {
        lower_to(&ret->left, half_left(planned, lost, net->leaf));
        lower_to(&ret->full, planned / 2);
    }
    /* The same array, now by pod. */
    if (net->core) {
        planned = 0;
        memset(lost, 0, (size_t)fabrics * unit_pods * sizeof(*lost));
        for (uint32_t i = 0; i < net->spine; i++) {
            uint32_t spine = net->first_spine + i, up = myr_graph_uplink_count(graph, spine);
            struct myr_spot spot = myr_graph_spine_spot(graph, spine);
            planned += (uint64_t)up * net->fabric_gbps;
            lost[spot.unit * unit_pods + spot.pod] +=
                (uint64_t)(up - alive_up(graph, spine)) * net->fabric_gbps;
        }
        lower_to(&ret->left, half_left(planned, lost, fabrics * unit_pods));
        lower_to(&ret->full, planned / 2);
    }
}

/* Links that cross from the switches of one half to those of the other, by a number each has. */
static struct halves links_across(const struct myr_graph *graph, const uint32_t *number,
                                  uint32_t start, uint32_t half, uint32_t all)
{
    struct halves links = {0, 0};
    for (uint32_t i = 0; i < graph->switch_count; i++) {
        /* Numbers lie on a ring, and 'start' turns the half around it. */
        bool here = (number[i] + all - start) % all < half;
        for (uint32_t b = graph->bundle_start[i]; here && b < graph->bundle_start[i + 1]; b++) {
            uint32_t other = graph->bundles[b].neighbour - graph->first_switch;
            bool there = (number[other] + all - start) % all >= half;
            links.left += there ? graph->bundles[b].alive : 0;
            links.full += there ? graph->bundles[b].count : 0;
        }
    }
    links.left *= graph->net->fabric_gbps;
    links.full *= graph->net->fabric_gbps;
    return links;
}

/* Halves of the groups, or of the longest dimension of a torus, from every start. */
static void direct_bisection(const struct myr_graph *graph, struct halves *ret)
{
    const struct myr_network *net = graph->net;
    MYR_CLEANUP(myr_free_at) uint32_t *number = myr_xcalloc(graph->switch_count, sizeof(*number));
    /* Switches of a torus are numbered with the last dimension running fastest. */
    uint32_t all = net->groups, stride = 1, longest = 0, longest_stride = 1;
    for (uint32_t i = net->dim_count; i-- > 0;) {
        if (net->dims[i] > longest) {
            longest = net->dims[i];
            longest_stride = stride;
        }
        stride *= net->dims[i];
    }
    if (net->topology == MYR_TOPOLOGY_TORUS) {
        MYR_ASSERT(longest > 0 && longest_stride > 0);
        all = longest;
    }
    for (uint32_t i = 0; i < graph->switch_count; i++) {
        number[i] = net->topology == MYR_TOPOLOGY_TORUS
                        ? i / longest_stride % longest
                        : graph->design->place[graph->first_switch + i].pod;
    }
    /* The worst way to halve the ring of numbers. */
    for (uint32_t start = 0; start < all; start++) {
        struct halves across = links_across(graph, number, start, all / 2, all);
        if (all > 1) { /* a single group is not halved */
            lower_to(&ret->left, across.left);
            lower_to(&ret->full, across.full);
        }
    }
}

/* --- the worst pair of a Clos */

/*
 * Spine positions are ways of their own, in parallel; in each the links up, across and down are in
 * series. So the most that shortest paths carry is a sum of minima.
 */
struct pair_search {
    const struct myr_graph *graph;
    uint32_t positions;       /* spines of a pod */
    uint32_t *up;             /* leaf * positions + position: links alive */
    uint32_t *across;         /* by position, between the pods of the pair at hand */
    struct myr_degraded *ret; /* worst_a and worst_b are kept here */
    uint64_t worst;           /* links */
};

/* A pair without a bundle has no links to lose. */
static uint32_t bundle_alive(const struct myr_graph *graph, uint32_t from, uint32_t to)
{
    const struct myr_bundle *bundle = myr_graph_bundle(graph, from, to);
    return bundle ? bundle->alive : 0;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Links between the spines of one position in two pods, core by core. */
static uint32_t core_links(const struct myr_graph *graph, struct myr_spot a, uint32_t other_pod)
{
    struct myr_spot b = {a.unit, other_pod, a.index};
    uint32_t near = myr_graph_spine(graph, a), far = myr_graph_spine(graph, b), links = 0;
    uint32_t at = near - graph->first_switch;
    for (uint32_t i = graph->bundle_start[at]; i < graph->bundle_start[at + 1]; i++) {
        const struct myr_bundle *up = &graph->bundles[i];
        if (up->neighbour >= graph->net->first_core && up->alive) {
            links += least(up->alive, bundle_alive(graph, up->neighbour, far));
        }
    }
    return links;
}

/* Once for all pairs: links of each leaf to each position. */
static void fill_up_links(const struct pair_search *search)
{
    const struct myr_graph *graph = search->graph;
    for (uint32_t i = 0; i < graph->net->leaf; i++) {
        struct myr_spot spot = myr_graph_leaf_spot(graph, graph->net->first_leaf + i);
        for (uint32_t s = 0; s < search->positions; s++) {
            struct myr_spot spine = {spot.unit, spot.pod, s};
            search->up[i * search->positions + s] =
                bundle_alive(graph, graph->net->first_leaf + i, myr_graph_spine(graph, spine));
        }
    }
}

/* Only a pair that is worse replaces the one found: among equals the first is named. */
static void try_pair(struct pair_search *search, uint32_t a, uint32_t b, bool same_pod)
{
    uint64_t links = 0;
    for (uint32_t s = 0; s < search->positions; s++) {
        uint32_t ends =
            least(search->up[a * search->positions + s], search->up[b * search->positions + s]);
        links += same_pod ? ends : least(ends, search->across[s]);
    }
    if (links < search->worst) {
        search->worst = links;
        search->ret->worst_a = search->graph->net->first_leaf + a;
        search->ret->worst_b = search->graph->net->first_leaf + b;
    }
}

static bool same_links(const struct pair_search *search, uint32_t a, uint32_t b)
{
    size_t bytes = search->positions * sizeof(*search->up);
    return memcmp(&search->up[a * search->positions], &search->up[b * search->positions], bytes) ==
           0;
}

/* A switch without a living host is nobody's end. */
static bool has_hosts(const struct myr_graph *graph, uint32_t device)
{
    const struct myr_design *design = graph->design;
    for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
        uint32_t link = design->port_link[p];
        if (link != MYR_NONE && is_host_link(graph, link) && !myr_graph_link_dead(graph, link)) {
            return true;
        }
    }
    return false;
}

/*
 * Leaves of a pod that matter: of those with the same links left, two stand for all of them. Most
 * leaves have all their links, so that few are left over.
 */
static uint32_t pod_choice(const struct pair_search *search, uint32_t first, uint32_t end,
                           uint32_t *ret)
{
    uint32_t count = 0;
    for (uint32_t leaf = first; leaf < end; leaf++) {
        uint32_t alike = has_hosts(search->graph, search->graph->net->first_leaf + leaf) ? 0 : 2;
        for (uint32_t i = 0; i < count; i++) {
            alike += same_links(search, ret[i], leaf);
        }
        if (alike < 2) {
            ret[count++] = leaf;
        }
    }
    return count;
}

struct pod_leaves {
    uint32_t *list;
    uint32_t count; /* of those that matter */
    struct myr_spot spot;
};

/* Links across belong to the pair of pods, and are found once for all of its leaves. */
static void try_pods(struct pair_search *search, const struct pod_leaves *a,
                     const struct pod_leaves *b)
{
    bool same = a == b;
    for (uint32_t s = 0; s < search->positions && !same; s++) {
        struct myr_spot spine = {a->spot.unit, a->spot.pod, s};
        search->across[s] = core_links(search->graph, spine, b->spot.pod);
    }
    for (uint32_t i = 0; i < a->count; i++) {
        for (uint32_t k = same ? i + 1 : 0; k < b->count; k++) {
            try_pair(search, a->list[i], b->list[k], same);
        }
    }
}

static void pair_search_done(struct pair_search *search)
{
    free(search->across);
    free(search->up);
}

/* 'lists' is one array for all pods: each begins where its leaves do. */
static void clos_worst_pair(const struct myr_graph *graph, struct myr_degraded *ret)
{
    const struct myr_network *net = graph->net;
    uint32_t fabrics = net->leaf / graph->unit_leaves, unit_pods = net->pods ? net->pods : 1;
    MYR_CLEANUP(pair_search_done)
    struct pair_search search = {
        .graph = graph, .positions = net->pod_spines, .ret = ret, .worst = UINT64_MAX};
    search.up = myr_xcalloc((size_t)net->leaf * search.positions, sizeof(uint32_t));
    search.across = myr_xcalloc(search.positions, sizeof(uint32_t));
    MYR_CLEANUP(myr_free_at) uint32_t *lists = myr_xcalloc(net->leaf, sizeof(*lists));
    MYR_CLEANUP(myr_free_at)
    struct pod_leaves *pods = myr_xcalloc((size_t)fabrics * unit_pods, sizeof(*pods));
    /* First who matters in each pod, then pairs of pods. */
    fill_up_links(&search);
    for (uint32_t i = 0; i < fabrics * unit_pods; i++) {
        uint32_t unit = i / unit_pods, pod = i % unit_pods;
        uint32_t first = unit * graph->unit_leaves + pod * net->pod_leaves;
        uint32_t end = least(first + net->pod_leaves, (unit + 1) * graph->unit_leaves);
        pods[i] = (struct pod_leaves){.list = lists + first, .spot = {unit, pod, 0}};
        pods[i].count = pod_choice(&search, first, end, pods[i].list);
    }
    for (uint32_t i = 0; i < fabrics * unit_pods; i++) {
        /* Pairs of one fabric only: leaves of different rails or planes never meet. */
        for (uint32_t k = i; k < (i / unit_pods + 1) * unit_pods; k++) {
            try_pods(&search, &pods[i], &pods[k]);
        }
    }
    ret->worst_pair_gbps = search.worst == UINT64_MAX ? 0 : search.worst * net->fabric_gbps;
}

/* --- the worst pair of other fabrics */

/*
 * Links carry both ways, so the least cut between any two switches is also the least between the
 * first one and some other: one maximum flow for each.
 */
static void direct_worst_pair(const struct myr_graph *graph, uint32_t targets,
                              struct myr_degraded *ret)
{
    uint64_t worst = UINT64_MAX;
    uint32_t first = 0;
    /* The first switch that is anybody's end. */
    while (first < targets && !has_hosts(graph, graph->first_switch + first)) {
        first++;
    }
    for (uint32_t other = first + 1; other < targets; other++) {
        struct myr_maxflow net;
        if (!has_hosts(graph, graph->first_switch + other)) {
            continue;
        }
        /* A flow uses its network up: each pair gets a new one. */
        myr_maxflow_init(&net, graph->switch_count);
        for (uint32_t i = 0; i < graph->switch_count; i++) {
            for (uint32_t b = graph->bundle_start[i]; b < graph->bundle_start[i + 1]; b++) {
                myr_maxflow_arc(&net, i, graph->bundles[b].neighbour - graph->first_switch,
                                graph->bundles[b].alive);
            }
        }
        uint64_t links = myr_maxflow_run(&net, first, other);
        myr_maxflow_done(&net);
        if (links < worst) {
            worst = links;
            ret->worst_a = graph->first_switch + first;
            ret->worst_b = graph->first_switch + other;
        }
    }
    ret->worst_pair_gbps = worst == UINT64_MAX ? 0 : worst * graph->net->fabric_gbps;
}

/*
 * A bound, not a pair: no pair can have more than the switch with the fewest links has. The other
 * switch named is any.
 */
static void fewest_links(const struct myr_graph *graph, uint32_t targets, struct myr_degraded *ret)
{
    uint64_t worst = UINT64_MAX;
    for (uint32_t i = 0; i < targets; i++) {
        uint64_t links = alive_links(graph, graph->first_switch + i);
        if (links < worst) {
            worst = links;
            ret->worst_a = graph->first_switch + i;
            ret->worst_b = graph->first_switch + (i == 0);
        }
    }
    ret->worst_exact = false;
    ret->worst_pair_gbps = worst * graph->net->fabric_gbps;
}

/* MYR_NONE for both where there are no two switches with hosts. */
static void find_worst_pair(const struct myr_graph *graph, struct myr_degraded *ret)
{
    /* Switches that hosts hang on come first in every network. */
    uint32_t targets = graph->net->leaf ? graph->net->leaf : graph->net->access;
    ret->worst_a = ret->worst_b = MYR_NONE;
    ret->worst_exact = true;
    if (targets < 2) {
        return;
    }
    if (graph->clos) {
        /* With one tier no two leaves are joined. */
        if (graph->net->tiers > 1) {
            clos_worst_pair(graph, ret);
        }
    } else if (graph->switch_count <= PAIR_SWITCHES_MAX) {
        direct_worst_pair(graph, targets, ret);
    } else {
        fewest_links(graph, targets, ret);
    }
}

/* --- rails and hosts */

/* Other fabrics count as one rail. */
static uint32_t rail_of(const struct myr_graph *graph, uint32_t leaf)
{
    const struct myr_place *place = &graph->design->place[leaf];
    switch (graph->net->topology) {
    case MYR_TOPOLOGY_RAIL:
        return place->ordinal;
    case MYR_TOPOLOGY_RAIL_ONLY:
        return place->unit;
    default:
        return 0;
    }
}

uint32_t myr_degraded_rail_count(const struct myr_graph *graph)
{
    bool railed =
        graph->net->topology == MYR_TOPOLOGY_RAIL || graph->net->topology == MYR_TOPOLOGY_RAIL_ONLY;
    return railed && graph->net->rails ? graph->net->rails : 1;
}

struct myr_rail_bandwidth myr_degraded_rail(const struct myr_graph *graph, uint32_t rail)
{
    const struct myr_design *design = graph->design;
    struct myr_rail_bandwidth result = {};
    /* With one tier a rail's links are those to its hosts, else those between its switches. */
    bool hosts = graph->clos && graph->net->tiers == 1;
    for (uint32_t i = 0; i < graph->net->leaf; i++) {
        uint32_t leaf = graph->net->first_leaf + i;
        if (rail_of(graph, leaf) != rail) {
            continue;
        }
        for (uint32_t p = design->first_port[leaf]; p < design->first_port[leaf + 1]; p++) {
            uint32_t link = design->port_link[p];
            if (link != MYR_NONE && is_host_link(graph, link) == hosts) {
                uint64_t gbps = myr_channel_gbps(design, link * 2);
                result.full_gbps += gbps;
                result.gbps += myr_graph_link_dead(graph, link) ? 0 : gbps;
            }
        }
    }
    return result;
}

/* The rail with the least left; among equals the first. */
static void put_rails(const struct myr_graph *graph, struct myr_degraded *ret)
{
    uint32_t rails = myr_degraded_rail_count(graph);
    for (uint32_t rail = 0; rail < rails; rail++) {
        uint64_t gbps = myr_degraded_rail(graph, rail).gbps;
        if (rail == 0 || gbps < ret->rail_gbps_least) {
            ret->rail_gbps_least = gbps;
            ret->rail_least = rail;
        }
    }
}

/* Bisection is told twice: as it is, and measured the same way with nothing dead. */
void myr_degraded_report(const struct myr_graph *graph, struct myr_degraded *ret)
{
    const struct myr_design *design = graph->design;
    const struct myr_network *net = graph->net;
    uint64_t hosts_gbps = 0, all_gbps = 0;
    *ret = (struct myr_degraded){};
    for (uint32_t link = 0; link < design->link_count; link++) {
        if (!myr_graph_has_link(graph, link)) {
            continue;
        }
        bool dead = myr_graph_link_dead(graph, link);
        ret->dead_links += dead;
        if (is_host_link(graph, link)) {
            /* Port b is the switch's. */
            bool cut = dead || switch_cut(graph, design->port_device[design->link_b[link]]);
            ret->hosts_cut += cut;
            hosts_gbps += cut ? 0 : myr_channel_gbps(design, link * 2);
            all_gbps += myr_channel_gbps(design, link * 2);
        }
    }
    /* Never more than half of what the hosts can send. */
    struct halves halves = {hosts_gbps / 2, all_gbps / 2};
    if (graph->clos) {
        clos_bisection(graph, &halves);
    } else if (net->leaf) {
        direct_bisection(graph, &halves);
    } else {
        /* Access networks have no halves to count: the plan's figure stands. */
        lower_to(&halves.left, net->bisection_gbps);
        lower_to(&halves.full, net->bisection_gbps);
    }
    ret->bisection_gbps = halves.left;
    ret->bisection_full_gbps = halves.full;
    find_worst_pair(graph, ret);
    put_rails(graph, ret);
}

/* --- blast radius */

/* Both count ports that reach somebody; 'had' is before the blow. */
struct node_ports {
    uint32_t alive, had;
};

/* Ports of each node on this network: those that reach somebody, before and after. */
static void count_ports(const struct myr_graph *graph, struct node_ports *nodes, bool after)
{
    const struct myr_design *design = graph->design;
    const struct myr_design_head *head = design->head;
    for (uint32_t link = 0; link < design->link_count; link++) {
        uint32_t node = design->port_device[design->link_a[link]] - head->first_node;
        if (!myr_graph_has_link(graph, link) || !is_host_link(graph, link) || node >= head->nodes ||
            myr_graph_link_dead(graph, link) ||
            switch_cut(graph, design->port_device[design->link_b[link]])) {
            continue;
        }
        nodes[node].alive += after;
        nodes[node].had += !after;
    }
}

/* Kills the devices for the time of the question. */
void myr_blast_radius(struct myr_graph *graph, const uint32_t *devices, uint32_t count,
                      const struct myr_routes *routes, struct myr_blast *ret)
{
    const struct myr_design_head *head = graph->design->head;
    MYR_CLEANUP(myr_free_at)
    struct node_ports *nodes = myr_xcalloc(head->nodes, sizeof(*nodes));
    MYR_CLEANUP(myr_free_at) bool *dead = myr_xcalloc(head->nodes, sizeof(*dead));
    struct kill_list killed = {};
    struct myr_degraded before;
    *ret = (struct myr_blast){.devices = count};
    myr_degraded_report(graph, &before);
    count_ports(graph, nodes, false);
    for (uint32_t i = 0; i < count; i++) {
        /* Unsigned: other devices become huge differences. A node named twice dies once. */
        uint32_t node = devices[i] - head->first_node;
        if (node < head->nodes) {
            ret->nodes_dead += !dead[node];
            dead[node] = true;
        }
        kill_device(&killed, graph, devices[i]);
    }
    /* While the links are dead: routes are judged by them. */
    ret->flows_affected = routes_hit(graph, routes);
    myr_degraded_report(graph, &ret->left);
    count_ports(graph, nodes, true);
    /* Those cut before do not count again. */
    ret->hosts_cut = ret->left.hosts_cut - before.hosts_cut;
    for (uint32_t node = 0; node < head->nodes; node++) {
        /* Nodes that died are not also cut or weakened. */
        bool lost = nodes[node].alive < nodes[node].had;
        ret->nodes_cut += lost && !dead[node] && nodes[node].alive == 0;
        ret->nodes_weakened += lost && !dead[node] && nodes[node].alive > 0;
    }
    ret->gpus_lost = (ret->nodes_dead + ret->nodes_cut) * head->gpus_per_node;
    kill_undo(&killed, graph);
}
