#include "policy/sums.h"

#include <stdlib.h>

/*
 * The loads of a regular Clos as sums: what leaves and enters each leaf and each pod, divided
 * evenly over their uplinks. Dead links between spines and cores make pairs of pods that differ;
 * these are followed link by link, once a pair. Loads first, then limits, for a flow is held up by
 * the fullest link when all of them are loaded.
 */

uint64_t sums_fine_load(const struct myr_graph *graph, uint32_t channel, uint64_t part)
{
    /* The product of the three does not fit into 64 bits. */
    unsigned __int128 load = (unsigned __int128)MYR_LOAD_ONE * part * graph->net->host_gbps;
    uint64_t rate = SPRAY_FINE * MYR_SHARE_ONE * myr_channel_gbps(graph->design, channel);
    return (uint64_t)(load / rate);
}

/* Whether a flow has its two host links; a flow to itself uses none. */
bool sums_alive(const struct myr_graph *graph, const struct myr_flow *flow)
{
    const uint32_t *links = graph->design->port_link;
    uint32_t up = links[flow->from_port], down = links[flow->to_port];
    return flow->from_port != flow->to_port && up != MYR_NONE && down != MYR_NONE &&
           !myr_graph_link_dead(graph, up) && !myr_graph_link_dead(graph, down);
}

void sums_load_hosts(const struct myr_graph *graph, const struct myr_flow *flow, uint64_t *load)
{
    /* Hosts are at end a of their links: even channels lead up, odd ones down. */
    uint32_t up = graph->design->port_link[flow->from_port] * 2;
    uint32_t down = graph->design->port_link[flow->to_port] * 2 + 1;
    load[up] += policy_load_part(graph, up, flow->share);
    load[down] += policy_load_part(graph, down, flow->share);
}

/* Leaves of another plane or rail have no way to each other through the fabric. */
bool sums_ends(const struct myr_graph *graph, const struct myr_flow *flow,
               const struct myr_rung *ret[2])
{
    if (!sums_alive(graph, flow)) {
        return false;
    }
    ret[0] = &graph->rungs[myr_graph_host_switch(graph, flow->from_port) - graph->first_switch];
    ret[1] = &graph->rungs[myr_graph_host_switch(graph, flow->to_port) - graph->first_switch];
    return ret[0]->unit == ret[1]->unit;
}

/* Uplink k of every leaf must lead to the same position, and as many to each. */
static bool alike(const struct myr_graph *graph)
{
    const struct myr_network *net = graph->net;
    const struct myr_rung *first = graph->rungs;
    for (uint32_t i = 0; i < net->leaf; i++) {
        const struct myr_rung *rung = &graph->rungs[i];
        /* The first leaf is what all are compared with. */
        if (rung->up_count != first->up_count) {
            return false;
        }
        for (uint32_t k = 0; k < rung->up_count; k++) {
            const struct myr_rung *a =
                &graph->rungs[graph->peers[rung->up + k] - graph->first_switch];
            const struct myr_rung *b =
                &graph->rungs[graph->peers[first->up + k] - graph->first_switch];
            if (a->index != b->index) {
                return false;
            }
        }
    }
    /* Spines must have as many uplinks each, for a pod's sum is divided evenly over all of them. */
    for (uint32_t i = 0; i < net->spine; i++) {
        if (graph->rungs[net->leaf + i].up_count != graph->rungs[net->leaf].up_count) {
            return false;
        }
    }
    return first->up_count > 0;
}

bool sums_fit(const struct myr_graph *graph)
{
    return graph->regular && graph->net->spine && alike(graph);
}

/* Pods are numbered across all fabrics, those of one in a row. */
static uint32_t pod_of(const struct sums *sums, const struct myr_rung *rung)
{
    return rung->unit * sums->pods + rung->pod;
}

static uint32_t all_pods(const struct sums *sums)
{
    return sums->graph->net->leaf / sums->graph->unit_leaves * sums->pods;
}

/* The place of a pair of pods of one fabric in a table of all such. */
static size_t pair_of(const struct sums *sums, const struct myr_rung *ends[2])
{
    return (size_t)pod_of(sums, ends[0]) * sums->pods + ends[1]->pod;
}

/* Leaves that lost an uplink, and pods whose spines did. */
static void note_dead(struct sums *sums)
{
    const struct myr_graph *graph = sums->graph;
    const struct myr_network *net = graph->net;
    for (uint32_t i = 0; i < net->leaf + net->spine && graph->dead_count; i++) {
        const struct myr_rung *rung = &graph->rungs[i];
        for (uint32_t k = 0; k < rung->up_count; k++) {
            if (!myr_graph_link_dead(graph, graph->channels[rung->up + k] / 2)) {
                continue;
            }
            /* Links of leaves and of spines are told apart by whose uplinks they are. */
            if (i < net->leaf) {
                sums->dead_leaf[i] = 1;
            } else {
                sums->dead_spine[i - net->leaf] = 1;
                sums->dead_pod[pod_of(sums, rung)] = 1;
            }
        }
    }
}

void sums_init(struct sums *sums, const struct myr_graph *graph)
{
    const struct myr_network *net = graph->net;
    const struct myr_rung *first = graph->rungs;
    *sums = (struct sums){.graph = graph, .pods = net->pods ? net->pods : 1};
    size_t pods = all_pods(sums), spines = (size_t)net->spine + 1;
    for (uint32_t side = 0; side < 2; side++) {
        sums->leaf[side] = myr_xcalloc((size_t)net->leaf, sizeof(uint64_t));
        sums->leaf_highest[side] = myr_xcalloc((size_t)net->leaf, sizeof(uint64_t));
        sums->pod[side] = myr_xcalloc(pods, sizeof(uint64_t));
        sums->pod_highest[side] = myr_xcalloc(pods, sizeof(uint64_t));
        sums->spine[side] = myr_xcalloc(spines, sizeof(uint64_t));
        sums->spine_highest[side] = myr_xcalloc(spines, sizeof(uint64_t));
    }
    sums->dead_leaf = myr_xcalloc((size_t)net->leaf, 1);
    sums->dead_pod = myr_xcalloc(pods, 1);
    sums->dead_spine = myr_xcalloc(spines, 1);
    /* The first leaf stands for all: sums_fit() made sure that they are alike. */
    sums->width = myr_xcalloc((size_t)net->pod_spines + 1, sizeof(uint32_t));
    for (uint32_t k = 0; k < first->up_count; k++) {
        sums->width[graph->rungs[graph->peers[first->up + k] - graph->first_switch].index]++;
    }
    note_dead(sums);
    /* Only then pairs of pods may differ; in a whole fabric the sums of pods do. */
    if (graph->dead_count && net->core) {
        sums->pair = myr_xcalloc(pods * sums->pods, sizeof(uint64_t));
        sums->pair_highest = myr_xcalloc(pods * sums->pods, sizeof(uint64_t));
        sums->pair_kind = myr_xcalloc(pods * sums->pods, 1);
        memset(sums->pair_highest, 0xFF, pods * sums->pods * sizeof(uint64_t));
    }
}

void sums_done(struct sums *sums)
{
    for (uint32_t side = 0; side < 2; side++) {
        free(sums->leaf[side]);
        free(sums->pod[side]);
        free(sums->spine[side]);
        free(sums->leaf_highest[side]);
        free(sums->spine_highest[side]);
        free(sums->pod_highest[side]);
    }
    free(sums->dead_leaf);
    free(sums->dead_spine);
    free(sums->dead_pod);
    free(sums->width);
    free(sums->pair);
    free(sums->pair_highest);
    free(sums->pair_kind);
}

/* --- pairs of pods */

/* The spine of a position in a pod, counted from the first spine. */
static uint32_t spine_at(const struct sums *sums, const struct myr_rung *leaf, uint32_t position)
{
    struct myr_spot spot = {leaf->unit, leaf->pod, position};
    return myr_graph_spine(sums->graph, spot) - sums->graph->net->first_spine;
}

/* Visits the links of one position between two pods where some are dead; sums up their channels. */
struct crossing {
    struct sums *sums;
    uint64_t amount;      /* to spread, in SPRAY_FINE; 0: only look */
    uint64_t *load;       /* to add to */
    const uint64_t *seen; /* to look at */
    uint64_t highest;     /* of the channels that are in use */
};

/* Adds to the load, or looks at it, in one and the same walk. */
static void use_channel(struct crossing *c, uint32_t channel, uint64_t part)
{
    if (c->load) {
        c->load[channel] += sums_fine_load(c->sums->graph, channel, part);
    } else {
        c->highest = c->seen[channel] > c->highest ? c->seen[channel] : c->highest;
    }
}

/* Channels of a bundle that are alive. */
static uint32_t living(const struct myr_graph *graph, const struct myr_bundle *bundle,
                       uint32_t ret[MYR_CANDIDATES_MAX])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < bundle->count && count < MYR_CANDIDATES_MAX; i++) {
        uint32_t channel = graph->channels[bundle->first + i];
        if (!myr_graph_link_dead(graph, myr_channel_link(channel))) {
            ret[count++] = channel;
        }
    }
    return count;
}

/* From a spine over every core that has a link to both, to the spine of the same position. */
static void cross(struct crossing *c, uint32_t near, uint32_t far, uint32_t to_leaf)
{
    const struct myr_graph *graph = c->sums->graph;
    uint32_t up[MYR_CANDIDATES_MAX], down[MYR_CANDIDATES_MAX];
    uint32_t ways = myr_path_candidates(graph, graph->net->first_spine + near, to_leaf, up);
    for (uint32_t k = 0; k < ways; k++) {
        uint32_t core = myr_channel_to_device(graph->design, up[k]);
        const struct myr_bundle *bundle =
            myr_graph_bundle(graph, core, graph->net->first_spine + far);
        uint32_t links = bundle ? living(graph, bundle, down) : 0;
        /* Up evenly over all that lead on, down evenly over what is left there. */
        use_channel(c, up[k], c->amount / ways);
        for (uint32_t i = 0; i < links; i++) {
            use_channel(c, down[i], c->amount / ways / links);
        }
    }
}

/* Whether all positions still join the two pods: then leaves see no difference. */
static bool all_join(const struct sums *sums, const struct myr_rung *ends[2])
{
    const struct myr_graph *graph = sums->graph;
    uint32_t to_leaf = (uint32_t)(ends[1] - graph->rungs) + graph->first_switch;
    uint32_t up[MYR_CANDIDATES_MAX];
    for (uint32_t s = 0; s < graph->net->pod_spines; s++) {
        uint32_t near = spine_at(sums, ends[0], s), far = spine_at(sums, ends[1], s);
        if (sums->width[s] && (sums->dead_spine[near] || sums->dead_spine[far]) &&
            myr_path_candidates(graph, graph->net->first_spine + near, to_leaf, up) == 0) {
            return false;
        }
    }
    return true;
}

/* Cheap tests come first: the answer for a pair of pods is kept, since many flows ask for it. */
enum sums_kind sums_kind(struct sums *sums, const struct myr_rung *ends[2])
{
    const struct myr_rung *rungs = sums->graph->rungs;
    if (ends[0] == ends[1]) {
        return SUMS_WHOLE;
    }
    if (sums->dead_leaf[ends[0] - rungs] || sums->dead_leaf[ends[1] - rungs]) {
        return SUMS_NOT;
    }
    bool dead = sums->dead_pod[pod_of(sums, ends[0])] || sums->dead_pod[pod_of(sums, ends[1])];
    /* Inside a pod only uplinks of leaves count, and those are alive. */
    if (ends[0]->pod == ends[1]->pod || !dead) {
        return SUMS_WHOLE;
    }
    uint8_t *kind = &sums->pair_kind[pair_of(sums, ends)];
    if (*kind == 0) {
        *kind = all_join(sums, ends) ? SUMS_PAIR : SUMS_NOT;
    }
    return (enum sums_kind) * kind;
}

/* What the two pods exchange, position by position: a sum where no link is dead. */
static void spread_pair(struct sums *sums, const struct myr_rung *ends[2], uint64_t share,
                        uint64_t *load)
{
    const struct myr_graph *graph = sums->graph;
    uint32_t to_leaf = (uint32_t)(ends[1] - graph->rungs) + graph->first_switch;
    for (uint32_t s = 0; s < graph->net->pod_spines; s++) {
        uint32_t near = spine_at(sums, ends[0], s), far = spine_at(sums, ends[1], s);
        /* A position gets as much of the pair's sum as leaves have uplinks to it. */
        uint64_t amount = share * SPRAY_FINE / graph->rungs->up_count * sums->width[s];
        /* Both whole: even over all cores, as sums are. */
        if (!sums->dead_spine[near] && !sums->dead_spine[far]) {
            sums->spine[0][near] += amount;
            sums->spine[1][far] += amount;
        } else if (amount) {
            struct crossing crossing = {.sums = sums, .amount = amount};
            crossing.load = load; /* what is written */
            cross(&crossing, near, far, to_leaf);
        }
    }
}

/* Valid once all loads are there; asked for by every flow of the pair, and found once. */
static uint64_t pair_highest(struct sums *sums, const struct myr_rung *ends[2],
                             const uint64_t *load)
{
    const struct myr_graph *graph = sums->graph;
    uint64_t *known = &sums->pair_highest[pair_of(sums, ends)];
    uint32_t to_leaf = (uint32_t)(ends[1] - graph->rungs) + graph->first_switch;
    if (*known != UINT64_MAX) {
        return *known;
    }
    struct crossing crossing = {.sums = sums, .seen = load};
    for (uint32_t s = 0; s < graph->net->pod_spines; s++) {
        uint32_t near = spine_at(sums, ends[0], s), far = spine_at(sums, ends[1], s);
        uint64_t up = sums->spine_highest[0][near], down = sums->spine_highest[1][far];
        /* A position without links from leaves carries nothing. */
        if (sums->width[s] == 0) {
            continue;
        }
        if (sums->dead_spine[near] || sums->dead_spine[far]) {
            cross(&crossing, near, far, to_leaf);
            continue;
        }
        crossing.highest = up > crossing.highest ? up : crossing.highest;
        crossing.highest = down > crossing.highest ? down : crossing.highest;
    }
    *known = crossing.highest;
    return *known;
}

/* --- all of it */

/* The same on every uplink, and back down; 'total' by direction. */
static void load_uplinks(const struct myr_graph *graph, const struct myr_rung *rung,
                         const uint64_t total[2], uint64_t *load, uint64_t ret_highest[2])
{
    for (uint32_t k = 0; k < rung->up_count; k++) {
        uint32_t up = graph->channels[rung->up + k];
        for (uint32_t side = 0; side < 2; side++) {
            uint32_t channel = side ? myr_channel_back(up) : up;
            load[channel] += sums_fine_load(graph, channel, total[side] / rung->up_count);
            ret_highest[side] =
                load[channel] > ret_highest[side] ? load[channel] : ret_highest[side];
        }
    }
}

/* A spine's total is its part of the pod's sum, and what pairs gave it by itself. */
static void load_sums(struct sums *sums, uint64_t *load)
{
    const struct myr_graph *graph = sums->graph;
    const struct myr_network *net = graph->net;
    for (uint32_t i = 0; i < net->leaf; i++) {
        uint64_t total[2] = {sums->leaf[0][i] * SPRAY_FINE, sums->leaf[1][i] * SPRAY_FINE};
        uint64_t highest[2] = {};
        load_uplinks(graph, &graph->rungs[i], total, load, highest);
        sums->leaf_highest[0][i] = highest[0];
        sums->leaf_highest[1][i] = highest[1];
    }
    for (uint32_t i = 0; i < net->spine && net->core; i++) {
        const struct myr_rung *rung = &graph->rungs[net->leaf + i];
        uint32_t pod = pod_of(sums, rung);
        uint64_t total[2], highest[2] = {};
        for (uint32_t side = 0; side < 2; side++) {
            /* The leaf's share times its links to this position. */
            total[side] = sums->pod[side][pod] * SPRAY_FINE / graph->rungs->up_count *
                              sums->width[rung->index] +
                          sums->spine[side][i];
        }
        /* A spine that lost links makes its pod's flows pairs, and pairs are followed there. */
        MYR_ASSERT(!sums->dead_spine[i] || (total[0] == 0 && total[1] == 0));
        load_uplinks(graph, rung, total, load, highest);
        for (uint32_t side = 0; side < 2; side++) {
            uint64_t *of_pod = &sums->pod_highest[side][pod];
            sums->spine_highest[side][i] = highest[side];
            *of_pod = highest[side] > *of_pod ? highest[side] : *of_pod;
        }
    }
}

/* Inside one switch a flow loads only its two host links. */
static void add_flow(struct sums *sums, const struct myr_rung *ends[2], enum sums_kind kind,
                     uint64_t share)
{
    bool crosses = ends[0]->pod != ends[1]->pod;
    if (crosses && kind == SUMS_PAIR) {
        sums->pair[pair_of(sums, ends)] += share;
    }
    for (uint32_t side = 0; side < 2 && ends[0] != ends[1]; side++) {
        sums->leaf[side][ends[side] - sums->graph->rungs] += share;
        if (crosses && kind == SUMS_WHOLE) {
            sums->pod[side][pod_of(sums, ends[side])] += share;
        }
    }
}

void sums_add(struct sums *sums, const struct myr_flow *flows, size_t count, uint64_t *load)
{
    const struct myr_rung *ends[2];
    for (size_t i = 0; i < count; i++) {
        enum sums_kind kind =
            sums_ends(sums->graph, &flows[i], ends) ? sums_kind(sums, ends) : SUMS_NOT;
        if (kind != SUMS_NOT) {
            add_flow(sums, ends, kind, flows[i].share);
            sums_load_hosts(sums->graph, &flows[i], load);
        }
    }
    /* A pair is spread where its first flow is met: any leaf of a pod stands for the others. */
    for (size_t i = 0; sums->pair && i < count; i++) {
        bool known = sums_ends(sums->graph, &flows[i], ends) && sums_kind(sums, ends) == SUMS_PAIR;
        uint64_t *share = known ? &sums->pair[pair_of(sums, ends)] : NULL;
        if (share && *share) {
            spread_pair(sums, ends, *share, load);
            *share = 0;
        }
    }
    load_sums(sums, load);
}

/* 0 inside one switch: only its own links can hold it up, and they are not asked. */
static uint64_t limit_of(struct sums *sums, const struct myr_rung *ends[2], enum sums_kind kind,
                         const uint64_t *load)
{
    bool crosses = ends[0]->pod != ends[1]->pod;
    uint64_t limit = crosses && kind == SUMS_PAIR ? pair_highest(sums, ends, load) : 0;
    for (uint32_t side = 0; side < 2 && ends[0] != ends[1]; side++) {
        uint64_t leaf = sums->leaf_highest[side][ends[side] - sums->graph->rungs];
        uint64_t pod =
            crosses && kind == SUMS_WHOLE ? sums->pod_highest[side][pod_of(sums, ends[side])] : 0;
        limit = leaf > limit ? leaf : limit;
        limit = pod > limit ? pod : limit;
    }
    return limit;
}

void sums_limit(struct sums *sums, const struct myr_flow *flows, size_t count, const uint64_t *load,
                uint64_t *ret)
{
    const struct myr_rung *ends[2];
    for (size_t i = 0; i < count; i++) {
        enum sums_kind kind =
            sums_ends(sums->graph, &flows[i], ends) ? sums_kind(sums, ends) : SUMS_NOT;
        if (kind != SUMS_NOT) {
            ret[i] = limit_of(sums, ends, kind, load);
        }
    }
}
