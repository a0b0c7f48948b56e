#include <stdlib.h>

#include "read/hpcc_graph.h"

/* A Clos is found by walking up from the hosts, tier by tier. */

/* A host in the order of the fabric: pod and leaf by their first hosts. */
struct seat {
    uint32_t pod, leaf, host;
};

/* What a graph must be, behind what is wrong with this one. */
static int no_clos(const struct topology *topology, struct scan_place place, const char *why,
                   uint32_t node, struct myr_err *err)
{
    int rc = scan_error_at(err, topology->scan, place, "node %u: %s", node, why);
    myr_err_hint(err,
                 "supported is a Clos of one to three tiers: hosts with one link each on equal "
                 "leaves, every leaf of a pod on every spine of it, spines of different pods on "
                 "the same cores or on none in common");
    return rc;
}

/* A level is what hangs on the one below and has no level yet. Ends are turned: a is the lower. */
static int find_levels(struct topology *topology, struct myr_err *err)
{
    /* One pass over all wires for each tier. */
    for (uint32_t level = LEVEL_HOST; level < LEVEL_CORE; level++) {
        for (uint32_t i = 0; i < topology->wires; i++) {
            const struct wire *wire = &topology->list[i];
            for (uint32_t turn = 0; turn < 2; turn++) {
                uint32_t low = turn ? wire->b : wire->a, high = turn ? wire->a : wire->b;
                if (topology->level[low] == level && topology->level[high] == LEVEL_NONE) {
                    topology->level[high] = (uint8_t)(level + 1);
                }
            }
        }
    }
    for (uint32_t i = 0; i < topology->wires; i++) {
        struct wire *wire = &topology->list[i];
        uint8_t a = topology->level[wire->a], b = topology->level[wire->b];
        if (a == LEVEL_NONE || b == LEVEL_NONE) {
            return no_clos(topology, wire->place, "is more than three switches away from hosts",
                           a == LEVEL_NONE ? wire->a : wire->b, err);
        }
        if (a + 1 != b && b + 1 != a) {
            return no_clos(topology, wire->place, "is joined to a node of its own tier", wire->a,
                           err);
        }
        if (a > b) {
            uint32_t other = wire->a;
            wire->a = wire->b;
            wire->b = other;
        }
        topology->up[wire->a]++;
        topology->down[wire->b]++;
    }
    return MYR_OK;
}

/* Wires of one lower node lie side by side, bundles to one upper node too. */
static int by_ends(const void *a, const void *b)
{
    const struct wire *left = a, *right = b;
    if (left->a != right->a) {
        return left->a < right->a ? -1 : 1;
    }
    return left->b < right->b ? -1 : left->b > right->b;
}

/* All nodes of a level have the same numbers of links; 0 of a level that is not there. */
static int alike(const struct topology *topology, enum level level, const uint32_t *links,
                 uint32_t *ret_count, uint32_t *ret_links, struct myr_err *err)
{
    struct scan_place top = {1, 1};
    *ret_count = *ret_links = 0;
    for (uint32_t node = 0; node < topology->nodes; node++) {
        if (topology->level[node] != level) {
            continue;
        }
        if (*ret_count && links[node] != *ret_links) {
            return no_clos(topology, top, "has another number of links than its tier", node, err);
        }
        *ret_links = links[node];
        (*ret_count)++;
    }
    return MYR_OK;
}

/* Links of one tier have one rate and one delay. */
static int measure(const struct topology *topology, struct myr_clos_shape *ret, struct myr_err *err)
{
    bool seen[LEVEL_CORE] = {false};
    uint32_t gbps[LEVEL_CORE] = {};
    for (uint32_t i = 0; i < topology->wires; i++) {
        const struct wire *wire = &topology->list[i];
        uint8_t tier = topology->level[wire->a];
        if (seen[tier] && (gbps[tier] != wire->gbps || ret->delay_ps[tier] != wire->delay)) {
            return no_clos(topology, wire->place,
                           "this link has another rate or delay than its tier", wire->a, err);
        }
        seen[tier] = true;
        gbps[tier] = wire->gbps;
        ret->delay_ps[tier] = wire->delay;
    }
    ret->host_gbps = gbps[LEVEL_HOST];
    /* Without spines there is no such link: the hosts' speed stands for it. */
    ret->fabric_gbps = gbps[LEVEL_LEAF] ? gbps[LEVEL_LEAF] : gbps[LEVEL_HOST];
    ret->core_gbps = gbps[LEVEL_SPINE];
    return MYR_OK;
}

/* Where each host hangs. Every host has one link, as alike() saw to. */
static void find_leaves(struct topology *topology)
{
    for (uint32_t i = 0; i < topology->wires; i++) {
        const struct wire *wire = &topology->list[i];
        if (topology->level[wire->a] == LEVEL_HOST) {
            topology->above[wire->a] = wire->b;
        }
    }
}

/*
 * Switches of a level that share one switch above share all of them, by bundles of one width; a
 * set of those above is named by its first. Wires are sorted, so that the list of a switch's own
 * can be held against the list of the first that has this set.
 */
static int check_bundles(struct topology *topology, enum level level, uint32_t up,
                         uint32_t *ret_sets, uint32_t *ret_width, struct myr_err *err)
{
    /* By set: 1 + its first wire; by node above: 1 + its set. */
    uint32_t *model = MYR_ARENA_NEW(topology->scratch, uint32_t, topology->nodes);
    uint32_t *taken = MYR_ARENA_NEW(topology->scratch, uint32_t, topology->nodes);
    int rc = MYR_OK;
    *ret_sets = *ret_width = 0;
    for (uint32_t i = 0; rc == MYR_OK && i < topology->wires; i += up) {
        const struct wire *wires = &topology->list[i];
        if (topology->level[wires->a] != level) {
            /* One wire on: 'up' at a time only where the wires of a switch of this level begin. */
            i -= up - 1;
            continue;
        }
        uint32_t set = wires->b, width = 1;
        topology->above[wires->a] = set;
        bool fresh = model[set] == 0;
        *ret_sets += fresh;
        model[set] = fresh ? i + 1 : model[set];
        for (uint32_t k = 0; rc == MYR_OK && k < up; k++) {
            bool same = k > 0 && wires[k].b == wires[k - 1].b;
            width = same ? width + 1 : 1;
            /* The last wire of a bundle: its width is known now. */
            bool ends = k + 1 == up || wires[k + 1].b != wires[k].b;
            *ret_width = *ret_width ? *ret_width : (ends ? width : 0);
            if ((fresh && !same && taken[wires[k].b]) || (ends && width != *ret_width) ||
                wires[k].b != topology->list[model[set] - 1 + k].b) {
                rc = no_clos(topology, wires[k].place,
                             "its links upwards are not those of its neighbours", wires->a, err);
            }
            taken[wires[k].b] = set + 1;
        }
    }
    return rc;
}

/* Pod, leaf, number: the order in which the planner numbers hosts. */
static int by_place(const void *a, const void *b)
{
    const struct seat *left = a, *right = b;
    if (left->pod != right->pod) {
        return left->pod < right->pod ? -1 : 1;
    }
    if (left->leaf != right->leaf) {
        return left->leaf < right->leaf ? -1 : 1;
    }
    return left->host < right->host ? -1 : left->host > right->host;
}

/*
 * Hosts by pod, leaf and number: the fabric has them in that order, whatever the file calls them.
 * Leaves and pods come in the order of their first hosts, so that a file in order stays in order.
 */
static struct seat *seat_hosts(const struct topology *topology, uint32_t hosts, bool pods)
{
    /* Of a leaf, of a pod: 1 + its first host. */
    uint32_t *first = MYR_ARENA_NEW(topology->scratch, uint32_t, topology->nodes);
    struct seat *seats = MYR_ARENA_NEW(topology->scratch, struct seat, hosts);
    uint32_t count = 0;
    for (uint32_t node = 0; node < topology->nodes; node++) {
        if (topology->level[node] != LEVEL_HOST) {
            continue;
        }
        uint32_t leaf = topology->above[node], pod = pods ? topology->above[leaf] : leaf;
        first[leaf] = first[leaf] ? first[leaf] : node + 1;
        first[pod] = first[pod] ? first[pod] : node + 1;
        seats[count++] = (struct seat){pods ? first[pod] : 0, first[leaf], node};
    }
    MYR_ASSERT(count == hosts);
    qsort(seats, count, sizeof(*seats), by_place);
    return seats;
}

/* Numbers the hosts, and sees that every pod has as many leaves as the others. */
static int place_hosts(struct topology *topology, struct myr_clos_shape *shape, struct myr_err *err)
{
    uint32_t pod_hosts = shape->leaf_hosts * shape->pod_leaves;
    bool pods = shape->tiers > 1;
    MYR_ASSERT(pod_hosts > 0); /* hosts have links, and they lead to leaves */
    struct seat *seats = seat_hosts(topology, shape->hosts, pods);
    int rc = MYR_OK;
    shape->gpu_of_node = myr_xcalloc(topology->nodes, sizeof(*shape->gpu_of_node));
    shape->node_count = topology->nodes;
    /* MYR_NONE everywhere: switches have no GPU. */
    memset(shape->gpu_of_node, 0xff, topology->nodes * sizeof(*shape->gpu_of_node));
    for (uint32_t i = 0; rc == MYR_OK && i < shape->hosts; i++) {
        uint32_t leaf = topology->above[seats[i].host];
        shape->gpu_of_node[seats[i].host] = i;
        topology->first_leaf[leaf] = topology->first_leaf[leaf] || i % pod_hosts == 0;
        if (i > 0 && (seats[i].pod == seats[i - 1].pod) != (i % pod_hosts != 0)) {
            struct scan_place top = {1, 1};
            rc = no_clos(topology, top, "its pod has another number of leaves than others", leaf,
                         err);
        }
    }
    return rc;
}

/* The cores of a set meet each pod once: a set and a pod share no more than one spine. */
static int check_cores(const struct topology *topology, const struct myr_clos_shape *shape,
                       uint32_t sets, struct myr_err *err)
{
    MYR_CLEANUP(myr_u64map_done) struct myr_u64map met = {};
    struct scan_place top = {1, 1};
    uint32_t last = MYR_NONE;
    if (sets != shape->pod_spines) {
        return scan_error_at(err, topology->scan, top,
                             "cores must join every pod: %u sets of them for %u spines of a pod",
                             sets, shape->pod_spines);
    }
    for (uint32_t i = 0; i < topology->wires; i++) {
        uint32_t leaf = topology->list[i].a, spine = topology->list[i].b;
        /* The first leaf of a pod is enough: the others have the same spines. */
        bool first = topology->level[leaf] == LEVEL_LEAF && topology->first_leaf[leaf];
        if (!first || spine == last) {
            continue;
        }
        last = spine;
        uint64_t key = (uint64_t)topology->above[leaf] << 32 | topology->above[spine];
        if (!myr_u64map_add(&met, key, spine)) {
            return no_clos(topology, top, "two spines of its pod lead to the same cores", spine,
                           err);
        }
    }
    return MYR_OK;
}

/* How many there are of each tier, and how many links each of them has. */
static int count_tiers(struct topology *topology, struct myr_clos_shape *ret, uint32_t *ret_leaves,
                       uint32_t *ret_spines, struct myr_err *err)
{
    uint32_t links;
    const struct {
        enum level level;
        const uint32_t *links;
        uint32_t *count, *ret;
    } tiers[] = {
        {LEVEL_LEAF, topology->down, ret_leaves, &ret->leaf_hosts},
        {LEVEL_LEAF, topology->up, ret_leaves, &ret->leaf_up},
        {LEVEL_SPINE, topology->down, ret_spines, &links},
        {LEVEL_SPINE, topology->up, ret_spines, &ret->spine_up},
        {LEVEL_CORE, topology->down, &ret->cores, &links},
    };
    /* After the fold: what had two links has one by now. */
    MYR_TRY(alike(topology, LEVEL_HOST, topology->up, &ret->hosts, &links, err));
    if (ret->hosts == 0 || links != 1) {
        struct scan_place top = {1, 1};
        return scan_error_at(err, topology->scan, top,
                             "hosts with one link each, or with two on two leaves, are expected, "
                             "not with %u",
                             links);
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(tiers); i++) {
        MYR_TRY(alike(topology, tiers[i].level, tiers[i].links, tiers[i].count, tiers[i].ret, err));
    }
    return measure(topology, ret, err);
}

/* Pods are the leaves that share their spines. */
static int find_pods(struct topology *topology, struct myr_clos_shape *ret, uint32_t leaves,
                     uint32_t spines, struct myr_err *err)
{
    struct scan_place top = {1, 1};
    uint32_t width;
    ret->tiers = ret->cores ? 3 : spines ? 2 : 1;
    ret->pods = 1;
    ret->pod_leaves = leaves;
    if (spines == 0) {
        return leaves > 1 ? scan_error_at(err, topology->scan, top,
                                          "%u leaves have nothing above them", leaves)
                          : MYR_OK;
    }
    MYR_TRY(check_bundles(topology, LEVEL_LEAF, ret->leaf_up, &ret->pods, &width, err));
    MYR_ASSERT(ret->pods > 0);
    /* Whether it divides evenly is seen when the hosts are placed. */
    ret->pod_leaves = leaves / ret->pods;
    ret->pod_spines = spines / ret->pods;
    if (ret->pods > 1 && ret->cores == 0) {
        return scan_error_at(err, topology->scan, top, "%u pods have nothing above them",
                             ret->pods);
    }
    return MYR_OK;
}

/*
 * In this order: bundles need sorted wires, hosts need pods, and cores are checked by the first
 * leaves that placing the hosts has marked.
 */
int hpcc_find_shape(struct topology *topology, struct myr_clos_shape *ret, struct myr_err *err)
{
    uint32_t leaves = 0, spines = 0, sets = 0, width;
    MYR_TRY(find_levels(topology, err));
    MYR_TRY(count_tiers(topology, ret, &leaves, &spines, err));
    qsort(topology->list, topology->wires, sizeof(*topology->list), by_ends);
    find_leaves(topology);
    MYR_TRY(find_pods(topology, ret, leaves, spines, err));
    int rc = place_hosts(topology, ret, err);
    if (rc < 0 || ret->cores == 0) {
        return rc;
    }
    MYR_TRY(check_bundles(topology, LEVEL_SPINE, ret->spine_up, &sets, &width, err));
    return check_cores(topology, ret, sets, err);
}
