#include <stdlib.h>

#include "read/hpcc_graph.h"

/*
 * Hosts on two leaves (dual-ToR). In a fluid network whose hosts send half of every message over
 * each of their links, and whose halves stay on their side, the sides share no link: even where
 * both lead to the same spines, these only pass on what came from a side's leaves. So one side is
 * enough to know both, and spines that the sides share count on each.
 */

struct fold {
    struct topology *topology;
    uint32_t *first, *second; /* by host: its wires, 1 + index; 0: none */
    uint32_t *partner;        /* by leaf: 1 + the other leaf of its hosts */
    uint64_t *ups;            /* by leaf: links to switches, and their rates */
    myr_ps *delays;           /* by leaf: of these, in all */
    bool *gone;               /* by node: on the other side */
};

static bool is_host(const struct fold *it, uint32_t node)
{
    return it->topology->level[node] == LEVEL_HOST;
}

/* At the place of the wire, about one of its ends. */
static int refuse(const struct fold *it, const struct wire *wire, const char *what, uint32_t node,
                  struct myr_err *err)
{
    return scan_error_at(err, it->topology->scan, wire->place, "node %u: %s", node, what);
}

/* The end of a host's wire that is its leaf. */
static uint32_t leaf_of(const struct fold *it, const struct wire *wire)
{
    return is_host(it, wire->a) ? wire->b : wire->a;
}

/* Who has two; false when there is nothing to fold, or what is there is no matter of two. */
static bool list_hosts(struct fold *it)
{
    const struct topology *topology = it->topology;
    uint32_t hosts = 0, twice = 0, more = 0;
    for (uint32_t i = 0; i < topology->wires; i++) {
        const struct wire *wire = &topology->list[i];
        uint32_t host = is_host(it, wire->a) ? wire->a : wire->b;
        if (is_host(it, wire->a) == is_host(it, wire->b)) {
            continue; /* between switches; hosts that are joined are refused later */
        }
        uint32_t *place = it->first[host] ? &it->second[host] : &it->first[host];
        /* A third link: then it is no matter of two leaves. */
        more += *place != 0;
        *place = i + 1;
    }
    for (uint32_t node = 0; node < topology->nodes; node++) {
        hosts += is_host(it, node);
        twice += is_host(it, node) && it->second[node];
    }
    return hosts > 0 && hosts == twice && more == 0;
}

/* The leaf with the lower number is the first side's. */
static int pair_leaves(struct fold *it, struct myr_err *err)
{
    const struct topology *topology = it->topology;
    for (uint32_t host = 0; host < topology->nodes; host++) {
        if (!is_host(it, host)) {
            continue;
        }
        const struct wire *a = &topology->list[it->first[host] - 1];
        const struct wire *b = &topology->list[it->second[host] - 1];
        uint32_t left = leaf_of(it, a), right = leaf_of(it, b);
        if (left == right) {
            return refuse(it, b, "both links of the host lead to one leaf", host, err);
        }
        if (a->gbps != b->gbps || a->delay != b->delay) {
            return refuse(it, b, "the host's links have two rates or delays", host, err);
        }
        bool fits = (it->partner[left] == 0 || it->partner[left] == right + 1) &&
                    (it->partner[right] == 0 || it->partner[right] == left + 1);
        if (!fits) {
            return refuse(it, b, "hosts that share one leaf must share the other", host, err);
        }
        it->partner[left] = right + 1;
        it->partner[right] = left + 1;
        it->gone[left > right ? left : right] = true;
    }
    return MYR_OK;
}

/* A spine that has leaves has them on one side, or on both; true where some are on the second. */
static bool drop_spines(struct fold *it)
{
    const struct topology *topology = it->topology;
    bool *near = MYR_ARENA_NEW(topology->scratch, bool, topology->nodes);
    bool *other = MYR_ARENA_NEW(topology->scratch, bool, topology->nodes);
    for (uint32_t i = 0; i < topology->wires; i++) {
        const struct wire *wire = &topology->list[i];
        for (uint32_t turn = 0; turn < 2; turn++) {
            uint32_t leaf = turn ? wire->b : wire->a, above = turn ? wire->a : wire->b;
            if (it->partner[leaf] && !is_host(it, above)) {
                /* The count above, the sum of the rates below: one comparison for both. */
                it->ups[leaf] += (UINT64_C(1) << 40) + wire->gbps;
                it->delays[leaf] += wire->delay;
                *(it->gone[leaf] ? &other[above] : &near[above]) = true;
            }
        }
    }
    bool any = false;
    for (uint32_t node = 0; node < topology->nodes; node++) {
        any = any || (other[node] && !near[node]);
        it->gone[node] = it->gone[node] || (other[node] && !near[node]);
    }
    return any;
}

/* Cores that only spines of the second side lead to. */
static void drop_cores(struct fold *it)
{
    const struct topology *topology = it->topology;
    /* Led to by anything that stays. */
    bool *kept = MYR_ARENA_NEW(topology->scratch, bool, topology->nodes);
    for (uint32_t i = 0; i < topology->wires; i++) {
        const struct wire *wire = &topology->list[i];
        kept[wire->a] = kept[wire->a] || !it->gone[wire->b];
        kept[wire->b] = kept[wire->b] || !it->gone[wire->a];
    }
    for (uint32_t i = 0; i < topology->wires; i++) {
        const struct wire *wire = &topology->list[i];
        for (uint32_t turn = 0; turn < 2; turn++) {
            uint32_t node = turn ? wire->b : wire->a;
            bool core = !is_host(it, node) && !it->partner[node];
            it->gone[node] = it->gone[node] || (core && !kept[node]);
        }
    }
}

/* Both leaves of a pair lead up by as many links. */
static int check_mirror(const struct fold *it, struct myr_err *err)
{
    const struct topology *topology = it->topology;
    for (uint32_t i = 0; i < topology->wires; i++) {
        const struct wire *wire = &topology->list[i];
        uint32_t leaf = it->partner[wire->a] ? wire->a : wire->b;
        uint32_t other = it->partner[leaf] ? it->partner[leaf] - 1 : leaf;
        if (it->ups[leaf] != it->ups[other] || it->delays[leaf] != it->delays[other]) {
            return refuse(it, wire, "the two leaves of its hosts have different links upwards",
                          leaf, err);
        }
    }
    return MYR_OK;
}

/*
 * One plane where there is nothing to fold: the reader of shapes then says what is wrong with hosts
 * of two links.
 */
int hpcc_fold(struct topology *topology, uint32_t *ret_planes, struct myr_err *err)
{
    struct fold it = {.topology = topology,
                      .first = MYR_ARENA_NEW(topology->scratch, uint32_t, topology->nodes),
                      .second = MYR_ARENA_NEW(topology->scratch, uint32_t, topology->nodes),
                      .partner = MYR_ARENA_NEW(topology->scratch, uint32_t, topology->nodes),
                      .ups = MYR_ARENA_NEW(topology->scratch, uint64_t, topology->nodes),
                      .delays = MYR_ARENA_NEW(topology->scratch, myr_ps, topology->nodes),
                      .gone = MYR_ARENA_NEW(topology->scratch, bool, topology->nodes)};
    uint32_t kept = 0;
    *ret_planes = 1;
    if (!list_hosts(&it)) {
        return MYR_OK;
    }
    MYR_TRY(pair_leaves(&it, err));
    /* Spines that both sides share stay; only where each has its own must the halves be equal. */
    bool apart = drop_spines(&it);
    MYR_TRY(check_mirror(&it, err));
    drop_cores(&it);
    for (uint32_t i = 0; i < topology->wires; i++) {
        struct wire wire = topology->list[i];
        if (!it.gone[wire.a] && !it.gone[wire.b]) {
            topology->list[kept++] = wire;
        }
    }
    if (apart && topology->wires != 2 * kept) {
        struct scan_place top = {1, 1};
        return scan_error_at(err, topology->scan, top,
                             "hosts have links into two planes, of %u and %u links; two alike are "
                             "expected",
                             kept, topology->wires - kept);
    }
    /* Nodes keep their numbers: those of the other side are merely without wires. */
    topology->wires = kept;
    *ret_planes = 2;
    return MYR_OK;
}
