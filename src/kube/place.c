/*
 * place: a gang's pods on nodes.
 *
 * A node has as many places as pods of this kind would fit on it if it were empty; what others use
 * takes places away. Both are remembered by kind of pod and node until the node or its use changes:
 * most of a large cluster is as it was at the last question.
 */
#include <stdlib.h>

#include "kube.h"

/* Places of a node stand in the placer as its GPUs: it has a bit for each of so many. */
enum { PLACES_MAX = MYR_SCHED_GPUS_MAX };

/* What a node does not name it has none of. */
static int64_t has(const struct kube_node *node, uint32_t resource)
{
    for (uint32_t i = 0; i < node->has.count; i++) {
        if (node->has.items[i].resource == resource) {
            return node->has.items[i].milli;
        }
    }
    return 0;
}

/* Pods that fit beside 'use' (NULL: if it were empty); *ret_short: what there is too little of. */
static uint32_t room(const struct kube_node *node, const struct kube_use *use,
                     const struct kube_needs *needs, uint32_t *ret_short)
{
    int64_t most = PLACES_MAX;
    for (uint32_t i = 0; i < needs->amounts.count; i++) {
        const struct kube_amount *asked = &needs->amounts.items[i];
        MYR_ASSERT(asked->resource < KUBE_RESOURCES && asked->milli > 0);
        int64_t left = has(node, asked->resource) - (use ? use->used[asked->resource] : 0);
        int64_t fits = left > 0 ? left / asked->milli : 0;
        if (fits == 0 && most > 0) {
            *ret_short = asked->resource;
        }
        most = fits < most ? fits : most;
    }
    /* A port of the host is there once: two such pods cannot share a node. */
    return (uint32_t)(needs->port_count && most > 1 ? 1 : most);
}

/* Beyond what is listed no port is known to be free. */
static bool port_taken(const struct kube_use *use, const struct kube_needs *needs)
{
    MYR_ASSERT(needs->port_count <= MYR_ARRAY_COUNT(needs->ports));
    if (needs->port_count && use->port_count > MYR_ARRAY_COUNT(use->ports)) {
        return true;
    }
    for (uint32_t i = 0; i < needs->port_count; i++) {
        for (uint32_t k = 0; k < use->port_count; k++) {
            if (use->ports[k] == needs->ports[i]) {
                return true;
            }
        }
    }
    return false;
}

/* kube_use_ready() was called before. */
bool kube_fits(const struct myr_kube_cluster *c, const struct kube_needs *needs, uint32_t node)
{
    uint32_t lacks;
    MYR_ASSERT(node < c->nodes.count && c->use_count == c->nodes.count);
    return c->nodes.items[node] && kube_may(needs, c->nodes.items[node]) == KUBE_FITS &&
           !port_taken(&c->use[node], needs) &&
           room(c->nodes.items[node], &c->use[node], needs, &lacks) > 0;
}

bool kube_could(const struct kube_needs *needs, const struct kube_node *node)
{
    uint32_t lacks;
    return kube_may(needs, node) == KUBE_FITS && room(node, NULL, needs, &lacks) > 0;
}

/* What is remembered of pods with these needs; in place of those asked for longest ago. */
static struct kube_spot *spots_of(struct myr_kube_cluster *c, const struct kube_needs *needs)
{
    struct kube_kind *kind = &c->kinds[0];
    for (uint32_t i = 0; i < KUBE_KINDS && kind->digest != needs->digest; i++) {
        struct kube_kind *other = &c->kinds[i];
        kind = other->digest == needs->digest || other->used < kind->used ? other : kind;
    }
    if (kind->digest != needs->digest || kind->count != c->nodes.count) {
        free(kind->spots);
        kind->digest = needs->digest;
        kind->count = (uint32_t)c->nodes.count;
        kind->spots = myr_xcalloc(kind->count, sizeof(*kind->spots));
    }
    MYR_ASSERT(kind->used <= c->asked && kind->count == c->nodes.count);
    kind->used = ++c->asked;
    return kind->spots;
}

/*
 * Both counts, and the one reason that is told. 'empty' counts for a node that is full too: whether
 * a gang would ever fit is asked of it.
 */
static void look_at(const struct myr_kube_cluster *c, const struct kube_needs *needs, uint32_t id,
                    struct kube_spot *ret)
{
    const struct kube_node *node = c->nodes.items[id];
    const struct kube_use *use = &c->use[id];
    enum kube_misfit misfit = kube_may(needs, node);
    *ret = (struct kube_spot){.stamp = c->stamp_of[id], .lacks = MYR_NONE};
    if (misfit == KUBE_FITS) {
        ret->empty = (uint8_t)room(node, NULL, needs, &ret->lacks);
        ret->places = (uint8_t)room(node, use, needs, &ret->lacks);
        MYR_ASSERT(ret->places <= ret->empty); /* what runs there takes places and gives none */
        misfit = ret->places == 0 ? KUBE_SHORT : KUBE_FITS;
    }
    if (misfit == KUBE_FITS && port_taken(use, needs)) {
        misfit = KUBE_PORT_TAKEN;
        ret->places = 0;
    }
    ret->misfit = (uint8_t)misfit;
}

/* Places of every node, 0 where it may not go; the most that any has when it is empty. */
static uint32_t count_places(struct myr_kube_cluster *c, const struct kube_needs *needs,
                             const uint64_t *closed, uint8_t *places, struct kube_tally *tally)
{
    uint32_t most = 0;
    MYR_ASSERT(c->use_count == c->nodes.count); /* kube_use_ready() was called */
    struct kube_spot *spots = spots_of(c, needs);
    *tally = (struct kube_tally){};
    for (uint32_t id = 0; id < c->nodes.count; id++) {
        struct kube_spot *spot = &spots[id];
        if (!c->nodes.items[id]) {
            continue;
        }
        if (spot->stamp != c->stamp_of[id]) {
            look_at(c, needs, id, spot);
        }
        tally->nodes++;
        tally->empty += spot->empty;
        most = spot->empty > most ? spot->empty : most;
        /* Kept for others, but room all the same if nothing ran: 'empty' has it already. */
        if (spot->misfit == KUBE_FITS && closed && closed[id / 64] >> id % 64 & 1) {
            tally->kept++;
            continue;
        }
        places[id] = spot->places;
        tally->places += spot->places;
        tally->counts[spot->misfit]++;
        if (spot->misfit == KUBE_SHORT && spot->lacks < KUBE_RESOURCES) {
            tally->short_of[spot->lacks]++;
        }
    }
    return most;
}

/* The house's placer: whole nodes, as few leaves as can be. */
static bool place_well(const struct myr_kube_cluster *c, const uint8_t *places, uint32_t most,
                       uint32_t count, uint32_t *ret)
{
    /*
     * Every node has 'most' places here; those that it has not, or that are used, are taken at
     * first. Which of its places they are does not matter.
     */
    struct myr_place_shape shape = c->shape;
    MYR_ASSERT(most > 0 && most <= PLACES_MAX && !c->order_stale);
    shape.gpus_per_node = most;
    struct myr_placer *placer = myr_placer_create(&shape);
    const uint64_t all = most == 64 ? UINT64_MAX : (1ULL << most) - 1;
    for (uint32_t at = 0; at < shape.nodes; at++) {
        uint32_t id = c->node_at[at], have = id == MYR_NONE ? 0 : places[id];
        if (have == 0) {
            myr_placer_set_node(placer, at, false);
        } else if (have < most) {
            myr_place_take(placer, at, all & ~((1ULL << have) - 1));
        }
    }
    struct myr_gang gang = {};
    uint32_t filled = 0;
    bool placed = false;
    /* The placer is asked only for what an empty cluster of this shape could hold. */
    if (count <= (uint64_t)shape.nodes * most) {
        gang.shares = myr_xcalloc(myr_place_nodes(placer, count) + 1, sizeof(*gang.shares));
        placed = myr_place(placer, count, &gang);
    }
    for (uint32_t i = 0; placed && i < gang.count; i++) {
        uint32_t pods = (uint32_t)__builtin_popcountll(gang.shares[i].gpus);
        uint32_t id = c->node_at[gang.shares[i].node];
        MYR_ASSERT(id != MYR_NONE && pods <= places[id]); /* no more than it has */
        for (uint32_t k = 0; k < pods; k++) {
            ret[filled++] = id;
        }
    }
    MYR_ASSERT(!placed || filled == count);
    free(gang.shares);
    myr_placer_free(placer);
    return placed;
}

/* A leaf by its first place, with the places that are free under it. */
struct leaf {
    uint32_t first, places;
};

static int compare_leaves(const void *left, const void *right)
{
    const struct leaf *a = left, *b = right;
    return a->places != b->places ? (a->places > b->places ? -1 : 1)
                                  : (a->first > b->first) - (a->first < b->first);
}

static int compare_places(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* No whole nodes left, but places enough: the leaves with the most of them, in their order. */
static void place_anyhow(const struct myr_kube_cluster *c, const uint8_t *places, uint32_t count,
                         uint32_t *ret)
{
    uint32_t size = c->shape.group_nodes, leaves = c->shape.nodes / size, filled = 0;
    MYR_ASSERT(c->shape.nodes % size == 0); /* the last leaf is filled up too */
    MYR_CLEANUP(myr_free_at) struct leaf *order = myr_xcalloc(leaves, sizeof(*order));
    MYR_CLEANUP(myr_free_at) uint32_t *spots = myr_xcalloc(count, sizeof(*spots));
    for (uint32_t at = 0; at < c->shape.nodes; at++) {
        order[at / size].first = at - at % size;
        order[at / size].places += c->node_at[at] == MYR_NONE ? 0 : places[c->node_at[at]];
    }
    qsort(order, leaves, sizeof(*order), compare_leaves);
    for (uint32_t i = 0; i < leaves && filled < count; i++) {
        for (uint32_t at = order[i].first; at < order[i].first + size; at++) {
            uint32_t have = c->node_at[at] == MYR_NONE ? 0 : places[c->node_at[at]];
            for (uint32_t k = 0; k < have && filled < count; k++) {
                spots[filled++] = at;
            }
        }
    }
    MYR_ASSERT(filled == count);
    /* Ranks follow the fabric here too: in the order of the places, not of how free a leaf is. */
    qsort(spots, count, sizeof(*spots), compare_places);
    for (uint32_t i = 0; i < count; i++) {
        ret[i] = c->node_at[spots[i]];
    }
}

/* Enough places are a placement for certain: if not a good one, then any. */
bool kube_place(struct myr_kube_cluster *c, const struct kube_needs *needs, uint32_t count,
                const uint64_t *closed, uint32_t *ret, struct kube_tally *tally)
{
    MYR_CLEANUP(myr_free_at) uint8_t *places = myr_xcalloc(c->nodes.count, sizeof(*places));
    kube_order(c);
    MYR_ASSERT(!c->order_stale);
    uint32_t most = count_places(c, needs, closed, places, tally);
    MYR_ASSERT(tally->places <= tally->empty && tally->kept <= tally->nodes);
    if (tally->places < count || count == 0) {
        return false;
    }
    if (!place_well(c, places, most, count, ret)) {
        place_anyhow(c, places, count, ret);
    }
    for (uint32_t i = 0; i < count; i++) {
        MYR_ASSERT(ret[i] < c->nodes.count && c->nodes.items[ret[i]]);
        kube_use_add(c, ret[i], needs, 1);
    }
    return true;
}

static const char *const misfits[KUBE_MISFITS] = {
    [KUBE_NOT_READY] = "not ready",
    [KUBE_CORDONED] = "cordoned",
    [KUBE_TAINTED] = "tainted, and the pods do not tolerate it",
    [KUBE_NOT_SELECTED] = "not selected by the pods' nodeSelector or affinity",
    [KUBE_PORT_TAKEN] = "with a port of the host in use",
};

/* Why so many pods find no places. */
void kube_tally_put(const struct myr_kube_cluster *c, const struct kube_tally *tally,
                    uint32_t count, struct myr_buf *ret)
{
    MYR_ASSERT(tally->counts[KUBE_FITS] <= tally->nodes);
    myr_buf_printf(ret, "%u pods need a place at once, %u of %u nodes have %u", count,
                   tally->counts[KUBE_FITS], tally->nodes, tally->places);
    if (tally->empty < count) {
        myr_buf_printf(ret, " (%u if nothing ran)", tally->empty);
    }
    const char *mark = ": ";
    for (uint32_t i = 0; i < KUBE_RESOURCES; i++) {
        if (tally->short_of[i]) {
            struct myr_str name = c->resources.ids.keys[i];
            myr_buf_printf(ret, "%s%u short of %.*s", mark, tally->short_of[i], (int)name.len,
                           name.data);
            mark = ", ";
        }
    }
    for (uint32_t i = 0; i < KUBE_MISFITS; i++) {
        if (misfits[i] && tally->counts[i]) {
            myr_buf_printf(ret, "%s%u %s", mark, tally->counts[i], misfits[i]);
            mark = ", ";
        }
    }
    if (tally->kept) {
        myr_buf_printf(ret, "%s%u kept for a gang that has waited longer", mark, tally->kept);
    }
}
