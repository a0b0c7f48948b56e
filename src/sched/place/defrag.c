#include "myriad/sched/defrag.h"

#include <stdlib.h>

#include "myriad/text/amount.h"
#include "place/index.h"

/*
 * Whole nodes are made free by moving shares of jobs to other nodes. Units that could hold the gang
 * are sorted by a bound on what has to move; the most promising ones are planned on a copy of the
 * masks, and the plan that moves the fewest GPUs wins.
 */

/* Units planned in full; the bound sorts the others away. */
enum { SCOPES_TRIED = 8 };

/* One share of one job on a node. */
struct tenancy {
    uint32_t job;
    uint64_t gpus;
};

/* A plan being made, on copies of what the placer knows. */
struct defrag {
    const struct myr_placer *p;
    const struct myr_request *request;
    const struct myr_running *jobs;
    uint32_t job_count;
    uint32_t *first;           /* by node: into 'tenancies' */
    struct tenancy *tenancies; /* by node */
    uint64_t *free_mask;       /* as the plan leaves it */
    uint8_t *fixed;            /* by node: may not be emptied, or took something in */
    uint8_t *emptied;          /* by node */
    /* Nodes that may take something in, as lists by free GPUs. */
    uint32_t *next, *previous;             /* by node */
    uint32_t head[MYR_SCHED_GPUS_MAX + 1]; /* by free GPUs: a node, or MYR_NONE */
    uint8_t *restarted;                    /* by job */
};

/* Counting sort by node: with the counts two later, 'first' ends up at each node's beginning. */
static void index_tenancies(struct defrag *d)
{
    uint32_t nodes = d->p->shape.nodes;
    uint64_t total = 0;
    for (uint32_t job = 0; job < d->job_count; job++) {
        total += d->jobs[job].gang->count;
    }
    d->first = myr_xcalloc((size_t)nodes + 2, sizeof(uint32_t));
    d->tenancies = myr_xcalloc(total + 1, sizeof(*d->tenancies));
    for (uint32_t job = 0; job < d->job_count; job++) {
        for (uint32_t i = 0; i < d->jobs[job].gang->count; i++) {
            MYR_ASSERT(d->jobs[job].gang->shares[i].node < nodes);
            d->first[d->jobs[job].gang->shares[i].node + 2]++;
        }
    }
    for (uint32_t node = 0; node < nodes; node++) {
        /* Sums: where each node's tenancies begin. */
        d->first[node + 2] += d->first[node + 1];
    }
    for (uint32_t job = 0; job < d->job_count; job++) {
        for (uint32_t i = 0; i < d->jobs[job].gang->count; i++) {
            struct myr_share share = d->jobs[job].gang->shares[i];
            MYR_ASSERT(d->first[share.node + 1] < total);
            MYR_ASSERT(share.gpus != 0);
            d->tenancies[d->first[share.node + 1]++] = (struct tenancy){job, share.gpus};
        }
    }
}

/* Nodes that the gang may not use are no help to it, free or not. */
static bool is_excluded(const struct defrag *d, uint32_t node)
{
    const struct myr_request *r = d->request;
    return (r->exclude && (r->exclude[node / 64] >> node % 64 & 1)) ||
           (r->kind_given && d->p->kind[node] != r->kind);
}

static uint32_t busy_on(const struct defrag *d, uint32_t node)
{
    MYR_SLOW_ASSERT(node < d->p->shape.nodes);
    return d->p->shape.gpus_per_node - index_free_on(d->p, node);
}

/* Whether a node could be emptied: usable, and all that runs there is known and may move. */
static bool is_movable(const struct defrag *d, uint32_t node)
{
    MYR_SLOW_ASSERT(node < d->p->shape.nodes);
    /* GPUs that no known job has are somebody's all the same, and cannot be moved. */
    uint64_t known = d->p->free_mask[node];
    if (d->p->closed[node] || is_excluded(d, node)) {
        return false;
    }
    for (uint32_t i = d->first[node]; i < d->first[node + 1]; i++) {
        MYR_SLOW_ASSERT(d->tenancies[i].job < d->job_count);
        if (d->jobs[d->tenancies[i].job].pinned) {
            return false;
        }
        known |= d->tenancies[i].gpus;
    }
    return known == d->p->whole;
}

/* A unit that may hold the gang: its nodes are 'first' to 'end' - 1. */
struct scope {
    uint32_t unit, first, end;
    uint32_t free_nodes; /* without moving anything */
    uint64_t least;      /* GPUs that have to move, at least; UINT64_MAX: cannot be freed */
};

/* The bound from counts alone: the least busy nodes that could be emptied. */
static void bound_scope(const struct defrag *d, struct scope *scope)
{
    MYR_ASSERT(scope->first < scope->end && scope->end <= d->p->shape.nodes);
    uint32_t by_busy[MYR_SCHED_GPUS_MAX + 1] = {};
    scope->free_nodes = 0;
    for (uint32_t node = scope->first; node < scope->end; node++) {
        if (index_is_free(d->p, node) && !is_excluded(d, node)) {
            scope->free_nodes++;
        } else if (is_movable(d, node)) {
            MYR_SLOW_ASSERT(busy_on(d, node) > 0);
            by_busy[busy_on(d, node)]++;
        }
    }
    /* What is free already is not counted as to be moved. */
    uint32_t need =
        d->request->nodes > scope->free_nodes ? d->request->nodes - scope->free_nodes : 0;
    scope->least = 0;
    for (uint32_t busy = 1; busy <= d->p->shape.gpus_per_node && need > 0; busy++) {
        uint32_t count = by_busy[busy] < need ? by_busy[busy] : need;
        scope->least += (uint64_t)count * busy;
        need -= count;
    }
    /* Not enough nodes that could be emptied at all. */
    scope->least = need ? UINT64_MAX : scope->least;
}

/* By its free GPUs as they are now: before they change it has to be unlisted. */
static void list_node(struct defrag *d, uint32_t node)
{
    MYR_SLOW_ASSERT(!d->p->closed[node]);
    uint32_t count = (uint32_t)__builtin_popcountll(d->free_mask[node]);
    MYR_ASSERT(d->head[count] != node);
    d->next[node] = d->head[count];
    d->previous[node] = MYR_NONE;
    if (d->head[count] != MYR_NONE) {
        d->previous[d->head[count]] = node;
    }
    d->head[count] = node;
}

static void unlist_node(struct defrag *d, uint32_t node)
{
    uint32_t count = (uint32_t)__builtin_popcountll(d->free_mask[node]);
    MYR_ASSERT(node ==
               (d->previous[node] == MYR_NONE ? d->head[count] : d->next[d->previous[node]]));
    if (d->next[node] != MYR_NONE) {
        d->previous[d->next[node]] = d->previous[node];
    }
    if (d->previous[node] != MYR_NONE) {
        d->next[d->previous[node]] = d->next[node];
    } else {
        d->head[count] = d->next[node];
    }
}

/* Everything as it is now; the gang's own free nodes take nothing in. */
static void reset(struct defrag *d, const struct scope *scope)
{
    uint32_t nodes = d->p->shape.nodes;
    memcpy(d->free_mask, d->p->free_mask, nodes * sizeof(uint64_t));
    memset(d->fixed, 0, nodes);
    memset(d->emptied, 0, nodes);
    memset(d->restarted, 0, d->job_count);
    for (uint32_t k = 0; k <= MYR_SCHED_GPUS_MAX; k++) {
        d->head[k] = MYR_NONE;
    }
    /* From the last one on, so that the lowest number stands first in its list. */
    for (uint32_t node = nodes; node-- > 0;) {
        /* What the gang counts on must not be filled up again. */
        bool own = node >= scope->first && node < scope->end && index_is_free(d->p, node);
        /* Nodes of others may take something in even where the gang must not use them. */
        if (!own && !d->p->closed[node] && d->free_mask[node]) {
            list_node(d, node);
        }
    }
}

static uint64_t lowest(uint64_t mask, uint32_t gpus)
{
    MYR_SLOW_ASSERT(gpus <= (uint32_t)__builtin_popcountll(mask));
    uint64_t taken = 0;
    for (uint32_t i = 0; i < gpus; i++) {
        uint64_t bit = mask & (0 - mask);
        taken |= bit;
        mask ^= bit;
    }
    return taken;
}

/* The fullest node that has room for so many GPUs. */
static uint32_t find_room(const struct defrag *d, uint32_t gpus)
{
    MYR_ASSERT(gpus > 0);
    for (uint32_t k = gpus; k <= d->p->shape.gpus_per_node; k++) {
        if (d->head[k] != MYR_NONE) {
            return d->head[k];
        }
    }
    return MYR_NONE;
}

/* 'back': undoes it. */
static void take_in(struct defrag *d, uint32_t node, uint64_t gpus, bool back)
{
    MYR_ASSERT(gpus != 0);
    MYR_ASSERT((d->free_mask[node] & gpus) == (back ? 0 : gpus));
    unlist_node(d, node);
    d->free_mask[node] = back ? d->free_mask[node] | gpus : d->free_mask[node] & ~gpus;
    list_node(d, node);
}

/* Finds room for everything on a node; false, and nothing is changed, when there is not enough. */
static bool empty_node(struct defrag *d, uint32_t node, struct myr_defrag_plan *plan)
{
    size_t before = plan->moves.count;
    MYR_ASSERT(!d->fixed[node]);
    MYR_ASSERT(!d->emptied[node]);
    /* It must not take in what it gives away. */
    bool listed = d->free_mask[node] != 0;
    if (listed) {
        unlist_node(d, node);
    }
    bool found = true;
    for (uint32_t i = d->first[node]; i < d->first[node + 1] && found; i++) {
        uint64_t gpus = d->tenancies[i].gpus;
        /* A share moves as a whole: ranks of one node stay together. */
        uint32_t count = (uint32_t)__builtin_popcountll(gpus), to = find_room(d, count);
        found = to != MYR_NONE;
        if (found) {
            uint64_t place = lowest(d->free_mask[to], count);
            MYR_ASSERT(to != node);
            MYR_ASSERT(!d->emptied[to]); /* what was made free stays so */
            struct myr_migration move = {d->tenancies[i].job, {node, gpus}, {to, place}};
            myr_vec_push(&plan->moves, move);
            take_in(d, to, place, false);
        }
    }
    /* Newest first, so that the masks go back as they came. */
    while (!found && plan->moves.count > before) {
        struct myr_share to = plan->moves.items[--plan->moves.count].to;
        take_in(d, to.node, to.gpus, true);
    }
    if (!found && listed) {
        list_node(d, node);
    }
    /* Who took something in is not emptied any more: shares would move twice. */
    for (size_t i = before; i < plan->moves.count; i++) {
        MYR_ASSERT(plan->moves.items[i].from.node == node);
        d->fixed[plan->moves.items[i].to.node] = 1;
    }
    MYR_ASSERT(found || plan->moves.count == before);
    d->emptied[node] = found;
    return found;
}

/* Least busy first; among equals the one whose jobs are cheapest to restart. */
struct candidate {
    uint32_t node, busy;
    uint64_t restart; /* GPU seconds */
};

/* By node last, so that no two are equal. */
static int by_cost(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->busy != y->busy) {
        return x->busy < y->busy ? -1 : 1;
    }
    if (x->restart != y->restart) {
        return x->restart < y->restart ? -1 : 1;
    }
    return x->node < y->node ? -1 : 1;
}

/* A job that loses one share restarts whole. */
static uint64_t restart_cost(const struct defrag *d, uint32_t job)
{
    MYR_ASSERT(job < d->job_count);
    const struct myr_gang *gang = d->jobs[job].gang;
    uint64_t gpus = 0;
    for (uint32_t i = 0; i < gang->count; i++) {
        gpus += (uint64_t)__builtin_popcountll(gang->shares[i].gpus);
    }
    return gpus * d->jobs[job].restart_s;
}

/* Sorted by a total order, so the plan is the same on every machine. */
static uint32_t list_candidates(const struct defrag *d, const struct scope *scope,
                                struct candidate *ret)
{
    uint32_t count = 0;
    for (uint32_t node = scope->first; node < scope->end; node++) {
        if (index_is_free(d->p, node) || !is_movable(d, node)) {
            continue;
        }
        struct candidate it = {.node = node, .busy = busy_on(d, node)};
        for (uint32_t i = d->first[node]; i < d->first[node + 1]; i++) {
            /* A job on several of the nodes counts for each: it only orders equals. */
            it.restart += restart_cost(d, d->tenancies[i].job);
        }
        MYR_ASSERT(it.busy > 0 && it.busy <= d->p->shape.gpus_per_node);
        ret[count++] = it;
    }
    qsort(ret, count, sizeof(*ret), by_cost);
    return count;
}

/* The plan for one unit, and what it costs; false: the jobs do not fit elsewhere. */
static bool plan_scope(struct defrag *d, const struct scope *scope, struct candidate *candidates,
                       struct myr_defrag_plan *plan)
{
    /* Below 0 it cannot be: where nothing is missing there is no plan to make. */
    MYR_ASSERT(d->request->nodes > scope->free_nodes);
    MYR_ASSERT(scope->least != UINT64_MAX);
    uint32_t need = d->request->nodes - scope->free_nodes;
    uint32_t count = list_candidates(d, scope, candidates);
    plan->moves.count = 0;
    reset(d, scope);
    for (uint32_t i = 0; i < count && need > 0; i++) {
        if (!d->fixed[candidates[i].node]) {
            MYR_ASSERT(i == 0 || candidates[i - 1].busy <= candidates[i].busy);
            need -= empty_node(d, candidates[i].node, plan);
        }
    }
    plan->gpus_moved = 0;
    plan->jobs_restarted = 0;
    plan->gpu_seconds_lost = 0;
    for (size_t i = 0; i < plan->moves.count; i++) {
        uint32_t job = plan->moves.items[i].job;
        plan->gpus_moved += (uint64_t)__builtin_popcountll(plan->moves.items[i].from.gpus);
        /* However many of its shares move, it restarts once. */
        if (!d->restarted[job]) {
            d->restarted[job] = 1;
            plan->jobs_restarted++;
            plan->gpu_seconds_lost += (double)restart_cost(d, job);
        }
    }
    MYR_ASSERT(need > 0 || plan->gpus_moved >= scope->least);
    plan->unit = scope->unit;
    plan->gpus_least = scope->least;
    plan->nodes_free = scope->free_nodes;
    return need == 0;
}

static int by_least(const void *a, const void *b)
{
    const struct scope *x = a, *y = b;
    return x->least != y->least ? (x->least < y->least ? -1 : 1) : (x->unit < y->unit ? -1 : 1);
}

/* Every unit of the level that the gang must stay in, most promising first. */
static uint32_t list_scopes(const struct defrag *d, struct scope *ret)
{
    const struct myr_request *r = d->request;
    uint32_t nodes = d->p->shape.nodes, per = nodes, count = 0;
    if (r->limited && r->within == MYR_LEVEL_POD) {
        per = d->p->shape.pod_nodes;
    } else if (r->limited && r->within < MYR_LEVEL_POD) {
        per = r->within == MYR_LEVEL_LEAF ? d->p->shape.group_nodes : d->p->domain_nodes;
    }
    /* Units are runs of node numbers; the last one may be smaller. */
    for (uint32_t first = 0; first < nodes; first += per) {
        struct scope *scope = &ret[count];
        *scope = (struct scope){count, first, first + per < nodes ? first + per : nodes, 0, 0};
        MYR_ASSERT(count < nodes);
        bound_scope(d, scope);
        count++;
    }
    MYR_ASSERT(count > 0);
    MYR_ASSERT(count <= nodes);
    qsort(ret, count, sizeof(*ret), by_least);
    return count;
}

/* The best plan of the scopes tried, in 'ret'; false when none works. */
static bool try_scopes(struct defrag *d, const struct scope *scopes, uint32_t count,
                       struct myr_defrag_plan *ret)
{
    struct candidate *candidates = myr_xcalloc(d->p->shape.nodes, sizeof(*candidates));
    bool found = false;
    for (uint32_t i = 0; i < count && i < SCOPES_TRIED; i++) {
        struct myr_defrag_plan plan = {};
        /* They are sorted by their bound: from here on none can be better. */
        if (scopes[i].least == UINT64_MAX || (found && scopes[i].least >= ret->gpus_moved)) {
            break;
        }
        MYR_ASSERT(i == 0 || scopes[i - 1].least <= scopes[i].least);
        bool works = plan_scope(d, &scopes[i], candidates, &plan);
        /* Of equal plans the first stays, whose bound was the least. */
        if (works && (!found || plan.gpus_moved < ret->gpus_moved)) {
            myr_defrag_done(ret);
            *ret = plan;
            found = true;
        } else {
            myr_defrag_done(&plan);
        }
    }
    free(candidates);
    return found;
}

int myr_defrag(const struct myr_placer *p, const struct myr_request *r,
               const struct myr_running *jobs, uint32_t job_count, struct myr_defrag_plan *ret,
               struct myr_err *err)
{
    uint32_t nodes = p->shape.nodes;
    struct defrag d = {.p = p, .request = r, .jobs = jobs, .job_count = job_count};
    *ret = (struct myr_defrag_plan){};
    index_tenancies(&d);
    d.free_mask = myr_xcalloc(nodes, sizeof(uint64_t));
    d.fixed = myr_xcalloc(nodes, 1);
    d.emptied = myr_xcalloc(nodes, 1);
    d.restarted = myr_xcalloc((size_t)job_count + 1, 1);
    d.next = myr_xcalloc(nodes, sizeof(uint32_t));
    d.previous = myr_xcalloc(nodes, sizeof(uint32_t));
    /* As many as there may be domains of one node. */
    struct scope *scopes = myr_xcalloc((size_t)nodes + 1, sizeof(*scopes));
    uint32_t count = list_scopes(&d, scopes);
    /* The best bound; 0 means that the gang fits as it is. */
    uint64_t least = scopes[0].least;
    bool works = least == 0 || try_scopes(&d, scopes, count, ret);
    ret->within = r->limited ? r->within : MYR_LEVEL_CORE;
    free(scopes);
    free(d.first);
    free(d.tenancies);
    free(d.free_mask);
    free(d.fixed);
    free(d.emptied);
    free(d.restarted);
    free(d.next);
    free(d.previous);
    if (works) {
        return MYR_OK;
    }
    return least == UINT64_MAX
               ? myr_err_set(err, MYR_EINFEASIBLE,
                             "no scope has %s that could be freed by moving jobs",
                             MYR_COUNT(r->nodes, "node"))
               : myr_err_set(
                     err, MYR_EINFEASIBLE,
                     "the free GPUs elsewhere do not hold the jobs that would have to move");
}

void myr_defrag_done(struct myr_defrag_plan *plan)
{
    myr_vec_done(&plan->moves);
}

void myr_defrag_apply(const struct myr_defrag_plan *plan, struct myr_placer *p,
                      const struct myr_running *jobs)
{
    for (size_t i = 0; i < plan->moves.count; i++) {
        const struct myr_migration *move = &plan->moves.items[i];
        MYR_ASSERT(move->from.node != move->to.node);
        struct myr_gang *gang = jobs[move->job].gang;
        struct myr_share from = move->from;
        struct myr_gang one = {1, &from};
        myr_release(p, &one);
        myr_place_take(p, move->to.node, move->to.gpus);
        bool found = false;
        for (uint32_t k = 0; k < gang->count && !found; k++) {
            /* The share keeps its place in the gang: ranks stay in order. */
            found = gang->shares[k].node == from.node && gang->shares[k].gpus == from.gpus;
            if (found) {
                gang->shares[k] = move->to;
            }
        }
        MYR_ASSERT(found);
    }
}
