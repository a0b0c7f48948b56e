#include "myriad/sched/explain.h"

#include <stdlib.h>

#include "place/index.h"

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
        leaf = node % p->shape.group_nodes ? leaf : 0;
        pod = node % p->shape.pod_nodes ? pod : 0;
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

/* Whether it would fit if one constraint were not there. */
static void try_dropping(struct myr_placer *p, const struct myr_request *r, struct myr_reasons *why)
{
    struct myr_request loose = *r;
    if (r->limited) {
        loose.limited = false;
        if (myr_request_size(p, &loose) >= r->nodes) {
            add(why, (struct myr_change){.kind = MYR_CHANGE_DROP_LIMIT, .level = r->within});
        }
    }
    loose = *r;
    if (myr_request_spreads(r)) {
        loose.leaf_max = 0;
        memset(loose.zone_max, 0, sizeof(loose.zone_max));
        if (myr_request_size(p, &loose) >= r->nodes) {
            add(why, (struct myr_change){.kind = MYR_CHANGE_DROP_SPREAD});
        }
    }
    loose = *r;
    if (r->kind_given) {
        loose.kind_given = false;
        if (myr_request_size(p, &loose) >= r->nodes) {
            add(why, (struct myr_change){.kind = MYR_CHANGE_DROP_KIND});
        }
    }
    loose = *r;
    if (r->exclude) {
        loose.exclude = NULL;
        if (myr_request_size(p, &loose) >= r->nodes) {
            add(why, (struct myr_change){.kind = MYR_CHANGE_DROP_EXCLUDE});
        }
    }
}

static void try_freeing(const struct myr_placer *p, const struct myr_request *r,
                        struct myr_reasons *why)
{
    uint32_t missing = r->nodes - why->most;
    enum myr_level level = r->limited ? r->within : MYR_LEVEL_CORE;
    uint32_t size = level == MYR_LEVEL_LEAF  ? p->shape.group_nodes
                    : level == MYR_LEVEL_POD ? p->shape.pod_nodes
                                             : p->shape.nodes - why->nodes_unsuitable;
    size = level == MYR_LEVEL_DOMAIN ? p->domain_nodes : size;
    if (why->most > 0) {
        add(why,
            (struct myr_change){.kind = MYR_CHANGE_FEWER_NODES, .nodes = missing, .size = missing});
    }
    if (r->nodes > size || myr_request_spreads(r)) {
        return; /* no number of free nodes would do */
    }
    add(why, (struct myr_change){.kind = MYR_CHANGE_FREE_NODES,
                                 .nodes = missing,
                                 .level = level,
                                 .unit = level == MYR_LEVEL_LEAF  ? why->leaf_best
                                         : level == MYR_LEVEL_POD ? why->pod_best
                                                                  : 0,
                                 .size = missing + 0.5});
    if (level == MYR_LEVEL_CORE && why->nodes_closed >= missing) {
        add(why, (struct myr_change){
                     .kind = MYR_CHANGE_REOPEN_NODES, .nodes = missing, .size = missing + 0.25});
    }
}

void myr_explain(struct myr_placer *p, const struct myr_request *r, const struct myr_running *jobs,
                 uint32_t job_count, struct myr_reasons *ret)
{
    *ret = (struct myr_reasons){.wanted = r->nodes};
    count(p, r, ret);
    ret->most = myr_request_size(p, r);
    ret->fits = ret->most >= r->nodes;
    if (ret->fits) {
        return;
    }
    try_dropping(p, r, ret);
    try_freeing(p, r, ret);
    struct myr_defrag_plan plan = {0};
    bool whole = !r->gpus_per_node || r->gpus_per_node == p->shape.gpus_per_node;
    if (job_count && whole && !myr_request_spreads(r) &&
        myr_defrag(p, r, jobs, job_count, &plan, NULL) == MYR_OK && plan.moves.count) {
        add(ret, (struct myr_change){.kind = MYR_CHANGE_DEFRAGMENT,
                                     .level = plan.within,
                                     .unit = plan.unit,
                                     .migrations = plan.moves.count,
                                     .gpus_moved = plan.gpus_moved,
                                     .gpu_hours = plan.gpu_seconds_lost / 3600,
                                     .size = (double)plan.gpus_moved / p->shape.gpus_per_node});
    }
    myr_defrag_done(&plan);
}

static void write_change(const struct myr_change *c, struct myr_buf *buf)
{
    switch (c->kind) {
    case MYR_CHANGE_DROP_LIMIT:
        myr_buf_printf(buf, "it would start now if it might reach beyond one %s\n",
                       level_names[c->level]);
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
        myr_buf_printf(buf, "it would start now with %u nodes fewer\n", c->nodes);
        break;
    case MYR_CHANGE_FREE_NODES:
        if (c->level < MYR_LEVEL_CORE) {
            myr_buf_printf(buf, "it would start once %u more nodes of %s %u are free\n", c->nodes,
                           level_names[c->level], c->unit);
        } else {
            myr_buf_printf(buf, "it would start once %u more nodes are free\n", c->nodes);
        }
        break;
    case MYR_CHANGE_REOPEN_NODES:
        myr_buf_printf(buf, "it would start once %u of the nodes that are down or held are back\n",
                       c->nodes);
        break;
    case MYR_CHANGE_DEFRAGMENT:
        myr_buf_printf(buf,
                       "it would start after %llu migrations (%llu GPUs move, %.1f GPU hours "
                       "lost)\n",
                       (unsigned long long)c->migrations, (unsigned long long)c->gpus_moved,
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
        myr_buf_printf(buf, "no %s had %u free nodes: the most was %u, in number %u\n", unit,
                       r->nodes, most, which);
    } else if (myr_request_spreads(r)) {
        myr_buf_printf(buf, "a %s had %u free nodes (number %u), but the gang is to be spread\n",
                       unit, most, which);
    } else {
        myr_buf_printf(buf,
                       "a %s had %u free nodes (number %u), but heavy groups would have been cut "
                       "or more room lost there\n",
                       unit, most, which);
    }
}

static void write_placed(const struct myr_placer *p, const struct myr_request *r,
                         const struct myr_reasons *why, const struct myr_place_cost *cost,
                         struct myr_buf *buf)
{
    double all = 0;
    for (int level = 0; level < MYR_LEVEL_COUNT; level++) {
        all += cost->bytes_by_level[level];
    }
    myr_buf_printf(buf, "nodes %u, sets of leaves %u, pods %u; the farthest two meet at the %s\n",
                   r->nodes, cost->leaves, cost->pods, level_names[cost->level]);
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
    myr_buf_printf(buf, "%u nodes wanted, %u would fit now\n", why->wanted, why->most);
    myr_buf_printf(buf,
                   "of %u nodes: %u free, %u partly busy, %u busy, %u down or held, %u not "
                   "suitable\n",
                   p->shape.nodes, why->nodes_free, why->nodes_partly, why->nodes_busy,
                   why->nodes_closed, why->nodes_unsuitable);
    if (r->limited && r->within <= MYR_LEVEL_LEAF) {
        myr_buf_printf(buf, "the freest set of leaves has %u, leaf %u\n", why->leaf_most,
                       why->leaf_best);
    } else if (r->limited && r->within == MYR_LEVEL_POD) {
        myr_buf_printf(buf, "the freest pod has %u, pod %u\n", why->pod_most, why->pod_best);
    }
    for (uint32_t i = 0; i < why->change_count; i++) {
        write_change(&why->changes[i], buf);
    }
}
