#include "myriad/sched/explain.h"

#include <stdlib.h>

#include "myriad/text/amount.h"
#include "place/index.h"

/*
 * Why a gang does not fit, and what would help. Every advice is tried: the change is made in a copy
 * of the placer, and it is told only if the gang is placed there. Changes are sorted by what they
 * disturb, in nodes.
 */

static const char *const change_names[] = {
#define CHANGE_NAME(name, text) text,
    MYR_CHANGES(CHANGE_NAME)
#undef CHANGE_NAME
};

static const char *const level_names[MYR_LEVEL_COUNT] = {"domain", "leaf", "pod", "core"};

const char *myr_change_name(enum myr_change_kind kind)
{
    return change_names[kind];
}

const char *myr_level_name(enum myr_level level)
{
    return level_names[level];
}

/* By what the request leaves out, and by kind. */
static bool is_suitable(const struct myr_placer *p, const struct myr_request *r, uint32_t node)
{
    return !(r->exclude && (r->exclude[node / 64] >> node % 64 & 1)) &&
           !(r->kind_given && p->kind[node] != r->kind);
}

/* How many nodes are in which condition, and the freest leaf and pod. */
static void count(const struct myr_placer *p, const struct myr_request *r, struct myr_reasons *why)
{
    uint32_t gpus = r->gpus_per_node ? r->gpus_per_node : p->shape.gpus_per_node;
    uint32_t leaf = 0, pod = 0;
    for (uint32_t node = 0; node < p->shape.nodes; node++) {
        /* Counts begin anew at the edge of each unit. */
        leaf = node % p->shape.group_nodes ? leaf : 0;
        pod = node % p->shape.pod_nodes ? pod : 0;
        /*
         * The first reason counts: each node is in one class, and the
         * classes add up to all nodes.
         */
        if (!is_suitable(p, r, node)) {
            why->nodes_unsuitable++;
        } else if (p->closed[node]) {
            why->nodes_closed++;
        } else if (index_free_on(p, node) >= gpus) {
            why->nodes_free++;
            leaf++;
            pod++;
        } else if (p->free_mask[node]) {
            why->nodes_partly++;
        } else {
            why->nodes_busy++;
        }
        if (leaf > why->leaf_most) {
            why->leaf_most = leaf;
            why->leaf_best = p->group_of[node];
        }
        if (pod > why->pod_most) {
            why->pod_most = pod;
            why->pod_best = p->pod_of[node];
        }
    }
}

/* Sorted as they come; those of one size stay in the order in which they were tried. */
static void add(struct myr_reasons *why, struct myr_change change)
{
    uint32_t at = why->change_count++;
    MYR_ASSERT(at < MYR_CHANGE_COUNT);
    while (at > 0 && why->changes[at - 1].size > change.size) {
        why->changes[at] = why->changes[at - 1];
        at--;
    }
    why->changes[at] = change;
}

/* Places the gang in a copy with something changed; the copy is freed. */
static bool fits_in(struct myr_placer *copy, const struct myr_request *r, uint32_t *ret_leaves)
{
    struct myr_placement placement = {.gang.shares =
                                          myr_xcalloc(r->nodes, sizeof(struct myr_share))};
    bool fits = myr_place_gang(copy, r, &placement);
    *ret_leaves = fits ? placement.cost.leaves : 0;
    free(placement.gang.shares);
    myr_placer_free(copy);
    return fits;
}

/* It costs nothing in the cluster: its size is what the change itself says, mostly 0. */
static void try_loose(const struct myr_placer *p, const struct myr_request *loose,
                      struct myr_change change, struct myr_reasons *why)
{
    if (fits_in(placer_copy(p), loose, &change.leaves)) {
        add(why, change);
    }
}

/* Whether it fits if one constraint is not there. */
static void try_dropping(const struct myr_placer *p, const struct myr_request *r,
                         struct myr_reasons *why)
{
    /* One constraint at a time: what helps only together is not told. */
    struct myr_request loose = *r;
    if (r->limited) {
        loose.limited = false;
        try_loose(p, &loose, (struct myr_change){.kind = MYR_CHANGE_DROP_LIMIT, .level = r->within},
                  why);
    }
    loose = *r;
    if (myr_request_spreads(r)) {
        loose.leaf_max = 0;
        memset(loose.zone_max, 0, sizeof(loose.zone_max));
        try_loose(p, &loose, (struct myr_change){.kind = MYR_CHANGE_DROP_SPREAD}, why);
    }
    loose = *r;
    if (r->kind_given) {
        loose.kind_given = false;
        try_loose(p, &loose, (struct myr_change){.kind = MYR_CHANGE_DROP_KIND}, why);
    }
    loose = *r;
    if (r->exclude) {
        loose.exclude = NULL;
        try_loose(p, &loose, (struct myr_change){.kind = MYR_CHANGE_DROP_EXCLUDE}, why);
    }
}

/* Traffic of a layout is for one size: without it the nodes alone count. */
static void try_fewer(const struct myr_placer *p, const struct myr_request *r,
                      struct myr_reasons *why)
{
    struct myr_request fewer = *r;
    fewer.nodes = why->most;
    fewer.traffic = NULL; /* of another size */
    if (why->most > 0) {
        uint32_t missing = r->nodes - why->most;
        try_loose(
            p, &fewer,
            (struct myr_change){.kind = MYR_CHANGE_FEWER_NODES, .nodes = missing, .size = missing},
            why);
    }
}

static bool in_unit(const struct myr_placer *p, const struct myr_change *c, uint32_t node)
{
    return c->level == MYR_LEVEL_LEAF  ? p->group_of[node] == c->unit
           : c->level == MYR_LEVEL_POD ? p->pod_of[node] == c->unit
                                       : c->level == MYR_LEVEL_CORE;
}

/* Frees the least busy open nodes of the unit, as many as are missing. */
static void free_nodes(struct myr_placer *copy, const struct myr_request *r,
                       const struct myr_change *c)
{
    uint32_t gpus = r->gpus_per_node ? r->gpus_per_node : copy->shape.gpus_per_node,
             left = c->nodes;
    for (uint32_t k = gpus; k-- > 0 && left > 0;) {
        for (uint32_t node = 0; node < copy->shape.nodes && left > 0; node++) {
            if (!copy->closed[node] && index_free_on(copy, node) == k && in_unit(copy, c, node) &&
                is_suitable(copy, r, node)) {
                index_set_mask(copy, node, copy->whole);
                left--;
            }
        }
    }
}

/* In the unit that lacks least. */
static void try_freeing(const struct myr_placer *p, const struct myr_request *r,
                        struct myr_reasons *why)
{
    enum myr_level level = r->limited ? r->within : MYR_LEVEL_CORE;
    /* Half a node more in size than as many nodes fewer: those can be had now. */
    struct myr_change change = {.kind = MYR_CHANGE_FREE_NODES,
                                .nodes = r->nodes - why->most,
                                .level = level,
                                .unit = level == MYR_LEVEL_LEAF  ? why->leaf_best
                                        : level == MYR_LEVEL_POD ? why->pod_best
                                                                 : 0,
                                .size = r->nodes - why->most + 0.5};
    struct myr_placer *copy = placer_copy(p);
    free_nodes(copy, r, &change);
    if (fits_in(copy, r, &change.leaves)) {
        add(why, change);
    }
}

/* Opens nodes that are down or held and would do, one by one, until the gang fits. */
static void try_reopening(const struct myr_placer *p, const struct myr_request *r,
                          struct myr_reasons *why)
{
    uint32_t gpus = r->gpus_per_node ? r->gpus_per_node : p->shape.gpus_per_node;
    struct myr_change change = {.kind = MYR_CHANGE_REOPEN_NODES};
    struct myr_placer *copy = placer_copy(p);
    /* No more than are needed: with each one it is asked again how many would fit. */
    for (uint32_t node = 0; node < p->shape.nodes && myr_request_size(copy, r) < r->nodes; node++) {
        /* A node that is full would not help, open or not. */
        if (copy->closed[node] && index_free_on(copy, node) >= gpus && is_suitable(copy, r, node)) {
            myr_placer_set_node(copy, node, true);
            myr_placer_hold(copy, node, false);
            change.nodes++;
        }
    }
    /* After as many nodes fewer and before as many freed. */
    change.size = change.nodes + 0.25;
    if (fits_in(copy, r, &change.leaves) && change.nodes > 0) {
        add(why, change);
    }
}

/* Jobs may be moved only where somebody said which run. */
static void try_moving(const struct myr_placer *p, const struct myr_request *r,
                       const struct myr_running *jobs, uint32_t job_count, struct myr_reasons *why)
{
    struct myr_defrag_plan plan = {};
    /* A plan without moves changes nothing. */
    if (myr_defrag(p, r, jobs, job_count, &plan, NULL) < 0 || plan.moves.count == 0) {
        myr_defrag_done(&plan);
        return;
    }
    struct myr_change change = {.kind = MYR_CHANGE_DEFRAGMENT,
                                .level = plan.within,
                                .unit = plan.unit,
                                .migrations = plan.moves.count,
                                .gpus_moved = plan.gpus_moved,
                                .gpu_hours = plan.gpu_seconds_lost / 3600,
                                .size = (double)plan.gpus_moved / p->shape.gpus_per_node};
    struct myr_placer *copy = placer_copy(p);
    for (size_t i = 0; i < plan.moves.count; i++) {
        const struct myr_share *from = &plan.moves.items[i].from, *to = &plan.moves.items[i].to;
        /* Moves are made on masks alone: the copy has no jobs. */
        index_set_mask(copy, from->node, copy->free_mask[from->node] | from->gpus);
        index_set_mask(copy, to->node, copy->free_mask[to->node] & ~to->gpus);
        /* A long plan is told in part. */
        if (i < MYR_CHANGE_MOVES_MAX) {
            why->moves[i] = (struct myr_change_move){from->node, to->node,
                                                     (uint32_t)__builtin_popcountll(from->gpus)};
        }
    }
    if (fits_in(copy, r, &change.leaves)) {
        add(why, change);
    }
    myr_defrag_done(&plan);
}

void myr_explain(struct myr_placer *p, const struct myr_request *r, const struct myr_running *jobs,
                 uint32_t job_count, struct myr_reasons *ret)
{
    *ret = (struct myr_reasons){.wanted = r->nodes};
    count(p, r, ret);
    /* How many nodes would fit now is the measure of all that follows. */
    ret->most = myr_request_size(p, r);
    ret->fits = ret->most >= r->nodes;
    if (ret->fits) {
        return;
    }
    try_dropping(p, r, ret);
    try_fewer(p, r, ret);
    try_freeing(p, r, ret);
    try_reopening(p, r, ret);
    /* The plan frees whole nodes and does not know how a gang is spread. */
    bool whole = !r->gpus_per_node || r->gpus_per_node == p->shape.gpus_per_node;
    if (job_count && whole && !myr_request_spreads(r)) {
        try_moving(p, r, jobs, job_count, ret);
    }
}

/* A long plan is told in part. */
static void write_moves(const struct myr_reasons *why, const struct myr_change *c,
                        struct myr_buf *buf)
{
    for (uint32_t i = 0; i < c->migrations && i < MYR_CHANGE_MOVES_MAX; i++) {
        myr_buf_printf(buf, "move %s from node %u to node %u\n",
                       MYR_COUNT(why->moves[i].gpus, "GPU"), why->moves[i].from, why->moves[i].to);
    }
    if (c->migrations > MYR_CHANGE_MOVES_MAX) {
        myr_buf_printf(buf, "and %s more\n",
                       MYR_COUNT(c->migrations - MYR_CHANGE_MOVES_MAX, "move"));
    }
}

/* A sentence for each kind; sizes that it names come from the change. */
static void write_change(const struct myr_change *c, struct myr_buf *buf)
{
    switch (c->kind) {
    case MYR_CHANGE_DROP_LIMIT:
        myr_buf_printf(buf, "it would start now if it might reach beyond one %s: under %s\n",
                       level_names[c->level], MYR_COUNT(c->leaves, "leaf"));
        break;
    case MYR_CHANGE_DROP_SPREAD:
        myr_buf_puts(buf, "it would start now if it need not be spread\n");
        break;
    case MYR_CHANGE_DROP_EXCLUDE:
        myr_buf_puts(buf, "it would start now on the excluded nodes as well\n");
        break;
    case MYR_CHANGE_DROP_KIND:
        myr_buf_puts(buf, "it would start now if other GPUs would do\n");
        break;
    case MYR_CHANGE_FEWER_NODES:
        myr_buf_printf(buf, "it would start now with %s fewer\n", MYR_COUNT(c->nodes, "node"));
        break;
    case MYR_CHANGE_FREE_NODES:
        if (c->level < MYR_LEVEL_CORE) {
            myr_buf_printf(buf, "it would start once %s of %s %u %s free\n",
                           MYR_COUNT(c->nodes, "more node"), level_names[c->level], c->unit,
                           c->nodes == 1 ? "is" : "are");
        } else {
            myr_buf_printf(buf, "it would start once %s %s free\n",
                           MYR_COUNT(c->nodes, "more node"), c->nodes == 1 ? "is" : "are");
        }
        break;
    case MYR_CHANGE_REOPEN_NODES:
        myr_buf_printf(buf, "it would start once %u of the nodes that are down or held %s back\n",
                       c->nodes, c->nodes == 1 ? "is" : "are");
        break;
    case MYR_CHANGE_DEFRAGMENT:
        myr_buf_printf(buf, "it would start after %s (of %s, %.1f GPU hours lost)\n",
                       MYR_COUNT(c->migrations, "migration"), MYR_COUNT(c->gpus_moved, "GPU"),
                       c->gpu_hours);
        break;
    case MYR_CHANGE_COUNT:
        break;
    }
}

/* Why a gang that one unit could hold is not in one; the freest has 'most' free nodes. */
static void write_not_nearer(const struct myr_request *r, const char *unit, uint32_t most,
                             uint32_t which, struct myr_buf *buf)
{
    if (most < r->nodes) {
        myr_buf_printf(buf, "no %s had %s: the most was %u, in number %u\n", unit,
                       MYR_COUNT(r->nodes, "free node"), most, which);
    } else if (myr_request_spreads(r)) {
        myr_buf_printf(buf, "a %s had %s (number %u), but the gang is to be spread\n", unit,
                       MYR_COUNT(most, "free node"), which);
    } else {
        myr_buf_printf(buf,
                       "a %s had %s (number %u), but heavy groups would have been cut or more "
                       "room lost there\n",
                       unit, MYR_COUNT(most, "free node"), which);
    }
}

/* How near the nodes lie, why not nearer, and how much of the bytes stays at each level. */
static void write_placed(const struct myr_placer *p, const struct myr_request *r,
                         const struct myr_reasons *why, const struct myr_place_cost *cost,
                         struct myr_buf *buf)
{
    /* Bytes between nodes alone: what stays inside them is the same for every placement. */
    double all = 0;
    for (int level = 0; level < MYR_LEVEL_COUNT; level++) {
        all += cost->bytes_by_level[level];
    }
    myr_buf_printf(buf, "nodes %s, sets of leaves %s, pods %s; the farthest two meet at the %s\n",
                   MYR_GROUPED(r->nodes), MYR_GROUPED(cost->leaves), MYR_GROUPED(cost->pods),
                   level_names[cost->level]);
    /* Only where one unit could have held it is there anything to explain. */
    if (cost->level >= MYR_LEVEL_POD && r->nodes <= p->shape.group_nodes) {
        write_not_nearer(r, "set of leaves", why->leaf_most, why->leaf_best, buf);
    }
    if (cost->level >= MYR_LEVEL_CORE && r->nodes <= p->shape.pod_nodes && p->pods > 1) {
        write_not_nearer(r, "pod", why->pod_most, why->pod_best, buf);
    }
    for (int level = 0; level < MYR_LEVEL_COUNT && all > 0; level++) {
        if (cost->bytes_by_level[level] > 0) {
            myr_buf_printf(buf, "%.1f %% of the bytes between nodes stay at level %d (%s)\n",
                           100 * cost->bytes_by_level[level] / all, level, level_names[level]);
        }
    }
}

void myr_explain_write(const struct myr_placer *p, const struct myr_request *r,
                       const struct myr_reasons *why, const struct myr_place_cost *cost,
                       struct myr_buf *buf)
{
    if (cost) {
        write_placed(p, r, why, cost, buf);
        return;
    }
    myr_buf_printf(buf, "%s wanted, %u would fit now\n", MYR_COUNT(why->wanted, "node"), why->most);
    myr_buf_printf(buf,
                   "of %s: %u free, %u partly busy, %u busy, %u down or held, %u not suitable\n",
                   MYR_COUNT(p->shape.nodes, "node"), why->nodes_free, why->nodes_partly,
                   why->nodes_busy, why->nodes_closed, why->nodes_unsuitable);
    if (r->limited && r->within <= MYR_LEVEL_LEAF) {
        myr_buf_printf(buf, "the freest set of leaves has %u, leaf %u\n", why->leaf_most,
                       why->leaf_best);
    } else if (r->limited && r->within == MYR_LEVEL_POD) {
        myr_buf_printf(buf, "the freest pod has %u, pod %u\n", why->pod_most, why->pod_best);
    }
    for (uint32_t i = 0; i < why->change_count; i++) {
        write_change(&why->changes[i], buf);
        if (why->changes[i].kind == MYR_CHANGE_DEFRAGMENT) {
            write_moves(why, &why->changes[i], buf);
        }
    }
}
