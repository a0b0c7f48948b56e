#include <stdlib.h>

#include "search.h"

enum {
    TRIES_TINY = 20000, /* of all starts together: bounds the time of a decision */
    TRIES_SMALL = 2500,
    TRIES_LARGE = 600, /* in large clusters, where decisions are many and nodes alike */
    MEMBER_MAX = 24,
    KICKS = 32,
};

/* Groups that a cell is in: (family, first cell). */
struct membership {
    uint32_t count;
    struct {
        const struct myr_traffic_family *family;
        uint32_t first;
    } groups[MEMBER_MAX];
};

struct swaps {
    struct search *q;
    uint32_t slots; /* cells, then nodes that could stand in for one */
    uint32_t *node; /* by slot */
    struct membership of[SEARCH_SWAP_CELLS];
    uint32_t leaves, pods; /* that the cells touch */
    double base, groups;   /* the two parts of the cost */
    uint32_t tries, tries_max;
};

static void find_groups(struct swaps *w)
{
    const struct myr_job_traffic *t = w->q->traffic;
    for (uint32_t f = 0; t && f < t->family_count; f++) {
        const struct myr_traffic_family *family = &t->families[f];
        for (uint32_t g = 0; g < family->group_count; g++) {
            for (uint32_t m = 0; m < family->group_size; m++) {
                struct membership *of = &w->of[family->firsts[g] + family->offsets[m]];
                if (of->count < MEMBER_MAX) {
                    of->groups[of->count].family = family;
                    of->groups[of->count++].first = family->firsts[g];
                }
            }
        }
    }
}

/* Some free nodes of a leaf: those with the least against them. */
static void find_spares_of(struct swaps *w, uint32_t leaf, uint32_t each)
{
    struct search *q = w->q;
    const struct myr_placer *p = q->p;
    uint32_t first = leaf * p->shape.group_nodes, end = index_group_end(p, leaf);
    uint32_t begin = w->slots;
    for (uint32_t node = first; node < end && q->s->leaf_free[leaf] > q->s->take[leaf]; node++) {
        bool chosen = !search_may_use(q, node);
        for (uint32_t i = 0; i < q->nodes && !chosen; i++) {
            chosen = w->node[i] == node;
        }
        uint32_t at = w->slots;
        while (!chosen && at > begin && p->node_penalty[w->node[at - 1]] > p->node_penalty[node]) {
            if (at < begin + each) {
                w->node[at] = w->node[at - 1];
            }
            at--;
        }
        if (!chosen && at < begin + each) {
            w->node[at] = node;
            w->slots += w->slots < begin + each;
        }
    }
}

static void find_spares(struct swaps *w)
{
    const struct myr_placer *p = w->q->p;
    uint32_t each = p->groups <= 24 ? 4 : 2;
    w->slots = w->q->nodes;
    for (uint32_t leaf = 0; leaf < p->groups && w->slots + each <= SEARCH_SLOTS_MAX; leaf++) {
        uint32_t pod = leaf * p->shape.group_nodes / p->shape.pod_nodes;
        if (p->groups <= SEARCH_FEW_LEAVES || w->q->s->pod_take[pod] > 0) {
            find_spares_of(w, leaf, each);
        }
    }
}

static double penalty_of(const struct myr_placer *p, uint32_t node)
{
    return 0.001 * ((double)p->node_penalty[node] + p->group_penalty[p->group_of[node]]);
}

/* A node joins the gang, or leaves it: room lost for other gangs, and penalties. */
static void count_node(struct swaps *w, uint32_t node, bool joins)
{
    const struct myr_placer *p = w->q->p;
    uint32_t leaf = p->group_of[node], pod = p->pod_of[node];
    uint32_t *take = &w->q->s->take[leaf], *pod_take = &w->q->s->pod_take[pod];
    uint32_t before = joins ? *take : *take - 1, pod_before = joins ? *pod_take : *pod_take - 1;
    double change = penalty_of(p, node);
    if (w->q->gpus == p->shape.gpus_per_node) {
        /* f² - (f - 1)² */
        change +=
            MYR_FRAGMENT_LEAF * (2.0 * (p->by_group.count[leaf] - before) - 1) /
                p->shape.group_nodes +
            MYR_FRAGMENT_POD * (2.0 * (p->by_pod.count[pod] - pod_before) - 1) / p->shape.pod_nodes;
    }
    w->base += (joins ? change : -change) * w->q->unit_bytes;
    w->leaves += before ? 0 : joins ? 1U : UINT32_MAX;
    w->pods += pod_before ? 0 : joins ? 1U : UINT32_MAX;
    *take = joins ? before + 1 : before;
    *pod_take = joins ? pod_before + 1 : pod_before;
}

static void exchange(struct swaps *w, uint32_t i, uint32_t j)
{
    uint32_t node = w->node[i];
    if (j >= w->q->nodes) {
        count_node(w, node, false);
        count_node(w, w->node[j], true);
    }
    w->node[i] = w->node[j];
    w->node[j] = node;
}

/* A ring along the topology: one edge a node; those that leave a leaf or a pod are dearer. */
static double ring_cost(const struct swaps *w)
{
    uint32_t pods = w->pods > 1 ? w->pods : 0, leaves = w->leaves > 1 ? w->leaves : 0;
    return w->q->nodes > 1 ? (double)w->q->nodes + leaves + pods : 0;
}

static double groups_of(const struct swaps *w, uint32_t cell)
{
    double sum = 0;
    for (uint32_t i = 0; i < w->of[cell].count; i++) {
        const struct myr_traffic_family *family = w->of[cell].groups[i].family;
        sum +=
            family->bytes * order_group_level(w->q, family, w->of[cell].groups[i].first, w->node);
    }
    return sum;
}

static double all_groups(const struct swaps *w)
{
    return w->q->traffic ? order_groups_cost(w->q, w->node, -1) : ring_cost(w);
}

/* Keeps what was just tried when it is cheaper. */
static bool accept(struct swaps *w, double base, double groups)
{
    double before = base + w->groups, after = w->base + groups;
    if (after < before * (1 - 1e-12) - 1e-12) {
        w->groups = groups;
        return true;
    }
    return false;
}

/* Two cells trade places, or a cell moves to a spare node. */
static bool try_swap(struct swaps *w, uint32_t i, uint32_t j)
{
    struct search *q = w->q;
    const struct myr_placer *p = q->p;
    bool spare = j >= q->nodes;
    bool alike = p->group_of[w->node[i]] == p->group_of[w->node[j]] && p->domain_nodes == 1;
    if ((alike && !(spare && p->penalised)) || (!q->traffic && !spare)) {
        return false;
    }
    w->tries++;
    double base = w->base, before = groups_of(w, i) + (spare ? 0 : groups_of(w, j));
    exchange(w, i, j);
    /* A group of both counts twice before and after: trading places inside it changes nothing. */
    double after = groups_of(w, i) + (spare ? 0 : groups_of(w, j));
    if (accept(w, base, q->traffic ? w->groups + after - before : ring_cost(w))) {
        return true;
    }
    exchange(w, i, j);
    return false;
}

/* Two whole groups of a family trade places. */
static bool try_groups(struct swaps *w, const struct myr_traffic_family *f, uint32_t a, uint32_t b)
{
    for (uint32_t m = 0; m < f->group_size; m++) {
        for (uint32_t k = 0; k < f->group_size; k++) {
            if (f->firsts[a] + f->offsets[m] == f->firsts[b] + f->offsets[k]) {
                return false; /* they share a cell */
            }
        }
    }
    w->tries++;
    for (uint32_t m = 0; m < f->group_size; m++) {
        exchange(w, f->firsts[a] + f->offsets[m], f->firsts[b] + f->offsets[m]);
    }
    if (accept(w, w->base, all_groups(w))) {
        return true;
    }
    for (uint32_t m = 0; m < f->group_size; m++) {
        exchange(w, f->firsts[a] + f->offsets[m], f->firsts[b] + f->offsets[m]);
    }
    return false;
}

/* Leaves or pods: which one a node is in, and how much room each has. */
struct units {
    const uint32_t *of, *room;
};

/* Cells gather in one unit: on its spare nodes, and in the places of other cells there. */
static bool try_gather(struct swaps *w, const uint32_t *members, uint32_t count,
                       const struct units *units, uint32_t unit)
{
    uint32_t with[SEARCH_SWAP_CELLS], done = 0, from = w->slots;
    uint64_t member = 0;
    double base = w->base;
    for (uint32_t m = 0; m < count; m++) {
        member |= UINT64_C(1) << members[m];
    }
    bool whole = true;
    for (uint32_t m = 0; m < count && whole; m++) {
        with[m] = MYR_NONE;
        if (units->of[w->node[members[m]]] == unit) {
            continue;
        }
        /* Spares are at the end: they come first. */
        while (from > 0 && with[m] == MYR_NONE) {
            from--;
            bool own = from < w->q->nodes && (member >> from & 1);
            with[m] = !own && units->of[w->node[from]] == unit ? from : MYR_NONE;
        }
        whole = with[m] != MYR_NONE;
        if (whole) {
            exchange(w, members[m], with[m]);
            done = m + 1;
        }
    }
    w->tries++;
    if (whole && done && accept(w, base, all_groups(w))) {
        return true;
    }
    for (uint32_t m = done; m-- > 0;) {
        if (with[m] != MYR_NONE) {
            exchange(w, members[m], with[m]);
        }
    }
    return false;
}

static bool gather_everywhere(struct swaps *w, const uint32_t *members, uint32_t count,
                              const struct units *units)
{
    bool better = false;
    uint32_t seen[SEARCH_SLOTS_MAX], seen_count = 0;
    for (uint32_t i = 0; i < w->slots; i++) {
        uint32_t unit = units->of[w->node[i]], k = 0;
        while (k < seen_count && seen[k] != unit) {
            k++;
        }
        /* A unit with too little room is no try. */
        if (k == seen_count) {
            seen[seen_count++] = unit;
            better = (units->room[unit] >= count && try_gather(w, members, count, units, unit)) ||
                     better;
        }
    }
    return better;
}

static bool move_groups(struct swaps *w)
{
    const struct myr_job_traffic *t = w->q->traffic;
    const struct units leaves = {w->q->p->group_of, w->q->s->leaf_free};
    uint32_t members[SEARCH_SWAP_CELLS] = {0};
    bool better = false;
    for (uint32_t f = 0; f < t->family_count; f++) {
        const struct myr_traffic_family *family = &t->families[f];
        for (uint32_t g = 0; g < family->group_count && w->tries < w->tries_max; g++) {
            for (uint32_t m = 0; m < family->group_size; m++) {
                members[m] = family->firsts[g] + family->offsets[m];
            }
            better = gather_everywhere(w, members, family->group_size, &leaves) || better;
            for (uint32_t h = g + 1; h < family->group_count && family->group_size > 1; h++) {
                better = try_groups(w, family, g, h) || better;
            }
        }
    }
    return better;
}

/* All cells of one unit move to another. */
static bool move_units(struct swaps *w, const struct units *units)
{
    uint32_t members[SEARCH_SWAP_CELLS] = {0};
    bool better = false;
    for (uint32_t i = 0; i < w->q->nodes && w->tries < w->tries_max; i++) {
        uint32_t count = 0, unit = units->of[w->node[i]];
        for (uint32_t k = 0; k < w->q->nodes; k++) {
            members[count] = k;
            count += units->of[w->node[k]] == unit;
        }
        /* Once for each unit: its first cell. */
        better = (members[0] == i && gather_everywhere(w, members, count, units)) || better;
    }
    return better;
}

/* Takes up a placement, counted into take and pod_take. */
static void take_up(struct swaps *w, const uint32_t *from)
{
    memcpy(w->node, from, w->q->nodes * sizeof(uint32_t));
    w->base = 0;
    w->leaves = w->pods = 0;
    for (uint32_t i = 0; i < w->q->nodes; i++) {
        count_node(w, w->node[i], true);
    }
    find_spares(w);
    w->groups = all_groups(w);
}

static void set_down(struct swaps *w)
{
    for (uint32_t i = 0; i < w->q->nodes; i++) {
        w->q->s->take[w->q->p->group_of[w->node[i]]] = 0;
        w->q->s->pod_take[w->q->p->pod_of[w->node[i]]] = 0;
    }
}

static int by_node(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Downhill to where no move helps. */
static void descend(struct swaps *w)
{
    struct search *q = w->q;
    const struct units leaves = {q->p->group_of, q->s->leaf_free};
    const struct units pods = {q->p->pod_of, q->s->pod_free};
    bool better = true;
    while (better && w->tries < w->tries_max) {
        better = false;
        for (uint32_t i = 0; i < q->nodes && w->tries < w->tries_max; i++) {
            for (uint32_t j = i + 1; j < w->slots; j++) {
                better = try_swap(w, i, j) || better;
            }
        }
        better = (q->traffic && move_groups(w)) || better;
        better = move_units(w, &leaves) || better;
        better = move_units(w, &pods) || better;
    }
    if (w->base + w->groups < q->best_cost) {
        q->best_cost = w->base + w->groups;
        memcpy(q->s->best, w->node, q->nodes * sizeof(uint32_t));
        if (!q->traffic) {
            qsort(q->s->best, q->nodes, sizeof(uint32_t), by_node);
        }
    }
}

void improve_by_swaps(struct search *q)
{
    struct swaps w = {.q = q, .node = q->s->swapped};
    struct myr_rng rng;
    bool ring = !q->traffic && (q->p->domain_nodes > 1 || q->nodes > SEARCH_TINY_CELLS);
    uint32_t starts = q->start_count;
    if (q->nodes > SEARCH_SWAP_CELLS || q->nodes < 2 || ring || starts == 0) {
        return;
    }
    w.tries_max = q->p->groups > SEARCH_FEW_LEAVES ? TRIES_LARGE
                  : q->nodes <= SEARCH_TINY_CELLS  ? TRIES_TINY
                                                   : TRIES_SMALL;
    select_clear(q);
    find_groups(&w);
    for (uint32_t i = 0; i < starts; i++) {
        take_up(&w, q->s->starts[i]);
        descend(&w);
        set_down(&w);
    }
    /* A few random trades, then downhill again: tiny gangs are worth a second look. */
    myr_rng_init(&rng, q->nodes, 0);
    for (uint32_t i = 0; i < KICKS && q->nodes <= SEARCH_TINY_CELLS && w.tries < w.tries_max; i++) {
        take_up(&w, i % 3 ? q->s->best : q->s->starts[i % starts]);
        for (uint32_t k = 2 + myr_rng_below(&rng, 5); k > 0; k--) {
            uint32_t cell = myr_rng_below(&rng, q->nodes), slot = myr_rng_below(&rng, w.slots);
            exchange(&w, cell, slot);
        }
        w.groups = all_groups(&w);
        descend(&w);
        set_down(&w);
    }
}
