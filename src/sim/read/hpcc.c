#include <stdlib.h>

#include "read/text.h"

/*
 * HPCC's flow list: how many, then a line for each, "source destination priority port bytes
 * start_s". What follows the last of them is commentary in the files that come with it.
 */

enum { PRIORITY_MAX = 255, PORT_MAX = 65535 };

static int read_flow(struct scan *scan, struct myr_trace *trace, struct myr_err *err)
{
    struct myr_trace_op op = {.kind = MYR_TRACE_MESSAGE, .line = scan->line};
    uint32_t ignored, id;
    int r = scan_u32(scan, "the source", 0, MYR_TRACE_RANKS_MAX - 1, &op.from, err);
    r = r < 0 ? r : scan_u32(scan, "the destination", 0, MYR_TRACE_RANKS_MAX - 1, &op.to, err);
    if (r == MYR_OK && op.from == op.to) {
        r = scan_error(err, scan, "host %u sends to itself", op.from);
    }
    r = r < 0 ? r : scan_u32(scan, "the priority group", 0, PRIORITY_MAX, &ignored, err);
    r = r < 0 ? r : scan_u32(scan, "the port", 0, PORT_MAX, &ignored, err);
    r = r < 0 ? r : scan_number(scan, "the bytes", 1, MYR_TRACE_BYTES_MAX, &op.bytes, err);
    r = r < 0 ? r : scan_time(scan, "the start", 0, &op.start, err);
    r = r < 0 ? r : scan_end(scan, err);
    r = r < 0 ? r : trace_add(trace, scan, op, &id, err);
    if (r == MYR_OK) {
        uint32_t most = op.from > op.to ? op.from : op.to;
        trace->ranks = most >= trace->ranks ? most + 1 : trace->ranks;
    }
    return r;
}

int read_hpcc_flows(struct scan *scan, struct myr_trace *ret, struct myr_err *err)
{
    uint32_t count = 0;
    if (!scan_line(scan)) {
        return scan_error(err, scan, "the file is empty; the number of flows is expected");
    }
    int r = scan_u32(scan, "the number of flows", 0, MYR_TRACE_OPS_MAX, &count, err);
    r = r < 0 ? r : scan_end(scan, err);
    for (uint32_t i = 0; r == MYR_OK && i < count; i++) {
        if (!scan_line(scan)) {
            return scan_error(err, scan, "the file ends after %u of %u flows", i, count);
        }
        r = read_flow(scan, ret, err);
    }
    return r;
}

/*
 * HPCC's topology: "nodes switches links", the ids of the switches, then a line for each link, "a b
 * rate delay error". Any graph can be said that way; what is taken is a Clos whose parts are alike,
 * found by walking up from the hosts.
 */

enum level { LEVEL_HOST, LEVEL_LEAF, LEVEL_SPINE, LEVEL_CORE, LEVEL_NONE };

struct wire {
    uint32_t a, b; /* after the levels are known: a is the lower */
    uint32_t gbps;
    myr_ps delay;
    struct scan_place place;
};

/* A host in the order of the fabric: pod and leaf by their first hosts. */
struct seat {
    uint32_t pod, leaf, host;
};

struct topology {
    struct scan *scan;
    uint32_t nodes, switches, wires;
    uint8_t *level;    /* by node */
    uint32_t *up;      /* by node: links to the level above */
    uint32_t *down;    /* and below */
    uint32_t *above;   /* a host's leaf; a leaf's first spine; a spine's first core */
    bool *first_leaf;  /* by node: the first of its pod */
    struct wire *list; /* sorted by ends, once the levels are known */
};

/* "100Gbps" in whole Gb/s. */
static int read_rate(struct scan *scan, uint32_t *ret, struct myr_err *err)
{
    static const struct {
        const char *unit;
        int32_t digits; /* to kb/s */
    } units[] = {{"Gbps", 6}, {"Mbps", 3}, {"Tbps", 9}, {"Gb/s", 6}, {"Mb/s", 3}};
    char shown[SCAN_SHOWN];
    uint64_t kbps;
    int r = scan_need(scan, "the rate", err);
    if (r < 0) {
        return r;
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(units); i++) {
        size_t len = strlen(units[i].unit);
        struct myr_str word = scan->word;
        if (word.len > len && memcmp(word.data + word.len - len, units[i].unit, len) == 0 &&
            scan_decimal((struct myr_str){word.data, word.len - len}, units[i].digits,
                         UINT64_C(100000000000), &kbps) &&
            kbps > 0 && kbps % 1000000 == 0) {
            *ret = (uint32_t)(kbps / 1000000);
            return MYR_OK;
        }
    }
    return scan_error(err, scan, "the rate must be whole gigabits up to 100000Gbps, not '%s'",
                      scan_shown(scan, shown));
}

/* "1000ns", "0.001ms" in picoseconds; a bare number is seconds. */
static int read_delay(struct scan *scan, myr_ps *ret, struct myr_err *err)
{
    static const struct {
        const char *unit;
        int32_t digits; /* to ps */
    } units[] = {{"ns", 3}, {"us", 6}, {"ms", 9}, {"ps", 0}, {"s", 12}, {"", 12}};
    char shown[SCAN_SHOWN];
    uint64_t ps;
    int r = scan_need(scan, "the delay", err);
    if (r < 0) {
        return r;
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(units); i++) {
        size_t len = strlen(units[i].unit);
        struct myr_str word = scan->word;
        if (word.len > len && memcmp(word.data + word.len - len, units[i].unit, len) == 0 &&
            scan_decimal((struct myr_str){word.data, word.len - len}, units[i].digits,
                         (uint64_t)MYR_PS_PER_S, &ps)) {
            *ret = (myr_ps)ps;
            return MYR_OK;
        }
    }
    return scan_error(err, scan, "the delay must be a time up to 1s, such as 1000ns, not '%s'",
                      scan_shown(scan, shown));
}

static int read_switches(struct topology *topology, struct myr_err *err)
{
    struct scan *scan = topology->scan;
    uint32_t id;
    int r = MYR_OK;
    if (topology->switches && !scan_line(scan)) {
        return scan_error(err, scan, "the file ends where the ids of the switches are expected");
    }
    for (uint32_t i = 0; r == MYR_OK && i < topology->switches; i++) {
        r = scan_u32(scan, "the id of a switch", 0, topology->nodes - 1, &id, err);
        if (r == MYR_OK && topology->level[id] != LEVEL_HOST) {
            r = scan_error(err, scan, "switch %u is there already", id);
        }
        if (r == MYR_OK) {
            topology->level[id] = LEVEL_NONE;
        }
    }
    return r < 0 ? r : scan_end(scan, err);
}

static int read_wires(struct topology *topology, struct myr_err *err)
{
    struct scan *scan = topology->scan;
    int r = MYR_OK;
    for (uint32_t i = 0; r == MYR_OK && i < topology->wires; i++) {
        struct wire *wire = &topology->list[i];
        if (!scan_line(scan)) {
            return scan_error(err, scan, "the file ends after %u of %u links", i, topology->wires);
        }
        r = scan_u32(scan, "an end of the link", 0, topology->nodes - 1, &wire->a, err);
        wire->place = scan_here(scan);
        r = r < 0 ? r : scan_u32(scan, "an end of the link", 0, topology->nodes - 1, &wire->b, err);
        if (r == MYR_OK && wire->a == wire->b) {
            r = scan_error(err, scan, "node %u is joined to itself", wire->a);
        }
        r = r < 0 ? r : read_rate(scan, &wire->gbps, err);
        r = r < 0 ? r : read_delay(scan, &wire->delay, err);
        r = r < 0 ? r : scan_need(scan, "the error rate", err);
        double rate;
        if (r == MYR_OK && (!myr_str_to_double(scan->word, &rate) || rate < 0 || rate > 0)) {
            r = scan_error(err, scan,
                           "links that lose packets are not supported: the error rate "
                           "must be 0");
        }
        r = r < 0 ? r : scan_end(scan, err);
    }
    return r;
}

/* What a graph must be, behind what is wrong with this one. */
static int no_clos(const struct topology *topology, struct scan_place place, const char *why,
                   uint32_t node, struct myr_err *err)
{
    int r = scan_error_at(err, topology->scan, place, "node %u: %s", node, why);
    myr_err_hint(err,
                 "supported is a Clos of one to three tiers: hosts with one link each on equal "
                 "leaves, every leaf of a pod on every spine of it, spines of different pods on "
                 "the same cores or on none in common");
    return r;
}

/* A level is what hangs on the one below and has no level yet. Ends are turned: a is the lower. */
static int find_levels(struct topology *topology, struct myr_err *err)
{
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
    uint32_t gbps[LEVEL_CORE] = {0};
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
    ret->fabric_gbps = gbps[LEVEL_LEAF] ? gbps[LEVEL_LEAF] : gbps[LEVEL_HOST];
    if (seen[LEVEL_SPINE] && gbps[LEVEL_SPINE] != gbps[LEVEL_LEAF]) {
        struct scan_place top = {1, 1};
        return scan_error_at(err, topology->scan, top,
                             "links of leaves (%uGbps) and of cores (%uGbps) must have one rate",
                             gbps[LEVEL_LEAF], gbps[LEVEL_SPINE]);
    }
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
    uint32_t *model = myr_xcalloc(topology->nodes, sizeof(*model)); /* by set: 1 + its first wire */
    uint32_t *taken = myr_xcalloc(topology->nodes, sizeof(*taken)); /* by node above: 1 + its set */
    int r = MYR_OK;
    *ret_sets = *ret_width = 0;
    for (uint32_t i = 0; r == MYR_OK && i < topology->wires; i += up) {
        const struct wire *wires = &topology->list[i];
        if (topology->level[wires->a] != level) {
            i -= up - 1;
            continue;
        }
        uint32_t set = wires->b, width = 1;
        topology->above[wires->a] = set;
        bool fresh = model[set] == 0;
        *ret_sets += fresh;
        model[set] = fresh ? i + 1 : model[set];
        for (uint32_t k = 0; r == MYR_OK && k < up; k++) {
            bool same = k > 0 && wires[k].b == wires[k - 1].b;
            width = same ? width + 1 : 1;
            bool ends = k + 1 == up || wires[k + 1].b != wires[k].b;
            *ret_width = *ret_width ? *ret_width : (ends ? width : 0);
            if ((fresh && !same && taken[wires[k].b]) || (ends && width != *ret_width) ||
                wires[k].b != topology->list[model[set] - 1 + k].b) {
                r = no_clos(topology, wires[k].place,
                            "its links upwards are not those of its neighbours", wires->a, err);
            }
            taken[wires[k].b] = set + 1;
        }
    }
    free(taken);
    free(model);
    return r;
}

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
    uint32_t *first = myr_xcalloc(topology->nodes, sizeof(*first)); /* of a leaf, a pod: 1 + host */
    struct seat *seats = myr_xcalloc(hosts, sizeof(*seats));
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
    free(first);
    return seats;
}

/* Numbers the hosts, and sees that every pod has as many leaves as the others. */
static int place_hosts(struct topology *topology, struct myr_clos_shape *shape, struct myr_err *err)
{
    uint32_t pod_hosts = shape->leaf_hosts * shape->pod_leaves;
    bool pods = shape->tiers > 1;
    MYR_ASSERT(pod_hosts > 0); /* hosts have links, and they lead to leaves */
    struct seat *seats = seat_hosts(topology, shape->hosts, pods);
    int r = MYR_OK;
    shape->gpu_of_node = myr_xcalloc(topology->nodes, sizeof(*shape->gpu_of_node));
    shape->node_count = topology->nodes;
    memset(shape->gpu_of_node, 0xff, topology->nodes * sizeof(*shape->gpu_of_node));
    for (uint32_t i = 0; r == MYR_OK && i < shape->hosts; i++) {
        uint32_t leaf = topology->above[seats[i].host];
        shape->gpu_of_node[seats[i].host] = i;
        topology->first_leaf[leaf] = topology->first_leaf[leaf] || i % pod_hosts == 0;
        if (i > 0 && (seats[i].pod == seats[i - 1].pod) != (i % pod_hosts != 0)) {
            struct scan_place top = {1, 1};
            r = no_clos(topology, top, "its pod has another number of leaves than others", leaf,
                        err);
        }
    }
    free(seats);
    return r;
}

/* The cores of a set meet each pod once: a set and a pod share no more than one spine. */
static int check_cores(const struct topology *topology, const struct myr_clos_shape *shape,
                       uint32_t sets, struct myr_err *err)
{
    struct myr_u64map met = {0};
    struct scan_place top = {1, 1};
    uint32_t last = MYR_NONE;
    int r = MYR_OK;
    if (sets != shape->pod_spines) {
        return scan_error_at(err, topology->scan, top,
                             "cores must join every pod: %u sets of them for %u spines of a pod",
                             sets, shape->pod_spines);
    }
    for (uint32_t i = 0; r == MYR_OK && i < topology->wires; i++) {
        uint32_t leaf = topology->list[i].a, spine = topology->list[i].b;
        /* The first leaf of a pod is enough: the others have the same spines. */
        bool first = topology->level[leaf] == LEVEL_LEAF && topology->first_leaf[leaf];
        if (!first || spine == last) {
            continue;
        }
        last = spine;
        uint64_t key = (uint64_t)topology->above[leaf] << 32 | topology->above[spine];
        if (!myr_u64map_add(&met, key, spine)) {
            r = no_clos(topology, top, "two spines of its pod lead to the same cores", spine, err);
        }
    }
    myr_u64map_done(&met);
    return r;
}

static int find_shape(struct topology *topology, struct myr_clos_shape *ret, struct myr_err *err)
{
    uint32_t leaves, spines, links, sets, width;
    struct scan_place top = {1, 1};
    int r = find_levels(topology, err);
    r = r < 0 ? r : alike(topology, LEVEL_HOST, topology->up, &ret->hosts, &links, err);
    if (r == MYR_OK && (ret->hosts == 0 || links != 1)) {
        return scan_error_at(err, topology->scan, top,
                             "hosts with one link each are expected, not with %u", links);
    }
    r = r < 0 ? r : alike(topology, LEVEL_LEAF, topology->down, &leaves, &ret->leaf_hosts, err);
    r = r < 0 ? r : alike(topology, LEVEL_LEAF, topology->up, &leaves, &ret->leaf_up, err);
    r = r < 0 ? r : alike(topology, LEVEL_SPINE, topology->down, &spines, &links, err);
    r = r < 0 ? r : alike(topology, LEVEL_SPINE, topology->up, &spines, &ret->spine_up, err);
    r = r < 0 ? r : alike(topology, LEVEL_CORE, topology->down, &ret->cores, &links, err);
    r = r < 0 ? r : measure(topology, ret, err);
    if (r < 0) {
        return r;
    }
    qsort(topology->list, topology->wires, sizeof(*topology->list), by_ends);
    find_leaves(topology);
    ret->tiers = ret->cores ? 3 : spines ? 2 : 1;
    ret->pods = 1;
    ret->pod_leaves = leaves;
    if (leaves > 1 && spines == 0) {
        return scan_error_at(err, topology->scan, top, "%u leaves have nothing above them", leaves);
    }
    if (spines) {
        r = check_bundles(topology, LEVEL_LEAF, ret->leaf_up, &sets, &width, err);
        ret->pods = r < 0 ? 1 : sets;
        MYR_ASSERT(ret->pods > 0);
        ret->pod_leaves = leaves / ret->pods;
        ret->pod_spines = spines / ret->pods;
        if (r == MYR_OK && ret->pods > 1 && ret->cores == 0) {
            return scan_error_at(err, topology->scan, top, "%u pods have nothing above them",
                                 ret->pods);
        }
    }
    r = r < 0 ? r : place_hosts(topology, ret, err);
    if (r == MYR_OK && ret->cores) {
        r = check_bundles(topology, LEVEL_SPINE, ret->spine_up, &sets, &width, err);
        r = r < 0 ? r : check_cores(topology, ret, sets, err);
    }
    return r;
}

int read_hpcc_topology(struct scan *scan, struct myr_clos_shape *ret, struct myr_err *err)
{
    struct topology topology = {.scan = scan};
    if (!scan_line(scan)) {
        return scan_error(err, scan, "the file is empty; 'nodes switches links' is expected");
    }
    int r = scan_u32(scan, "the number of nodes", 2, MYR_CLOS_HOSTS_MAX + MYR_CLOS_SWITCHES_MAX,
                     &topology.nodes, err);
    r = r < 0 ? r
              : scan_u32(scan, "the number of switches", 1, MYR_CLOS_SWITCHES_MAX,
                         &topology.switches, err);
    r = r < 0 ? r
              : scan_u32(scan, "the number of links", 1, MYR_CLOS_LINKS_MAX, &topology.wires, err);
    r = r < 0 ? r : scan_end(scan, err);
    /* Each link is a line of the file: a number that the file cannot hold is not allocated for. */
    if (r == MYR_OK && (topology.wires > scan->text.len || topology.nodes > scan->text.len)) {
        r = scan_error(err, scan, "the file is too short for %u nodes and %u links", topology.nodes,
                       topology.wires);
    }
    if (r < 0) {
        return r;
    }
    topology.level = myr_xcalloc(topology.nodes, sizeof(*topology.level));
    topology.up = myr_xcalloc(topology.nodes, sizeof(*topology.up));
    topology.down = myr_xcalloc(topology.nodes, sizeof(*topology.down));
    topology.above = myr_xcalloc(topology.nodes, sizeof(*topology.above));
    topology.first_leaf = myr_xcalloc(topology.nodes, sizeof(*topology.first_leaf));
    topology.list = myr_xcalloc(topology.wires, sizeof(*topology.list));
    r = read_switches(&topology, err);
    r = r < 0 ? r : read_wires(&topology, err);
    r = r < 0 ? r : find_shape(&topology, ret, err);
    free(topology.list);
    free(topology.first_leaf);
    free(topology.above);
    free(topology.down);
    free(topology.up);
    free(topology.level);
    return r;
}
