#include <stdlib.h>

#include "search.h"

enum { TRIES_MAX = 4000, MEMBER_MAX = 24, KICKED_CELLS = 16, KICKS = 32 };

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
    uint32_t tries;
    double cost;
};

static void find_groups(struct swaps *w)
{
    const struct myr_traffic *t = w->q->traffic;
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

/* Some free nodes of every leaf: those with the least against them come first. */
static void find_spares(struct swaps *w)
{
    struct search *q = w->q;
    const struct myr_placer *p = q->p;
    uint32_t each = p->groups <= 24 ? 4 : 2;
    w->slots = q->nodes;
    for (uint32_t leaf = 0; leaf < p->groups && w->slots + each <= SEARCH_SLOTS_MAX; leaf++) {
        uint32_t first = leaf * p->shape.group_nodes, end = index_group_end(p, leaf);
        uint32_t begin = w->slots;
        for (uint32_t node = first; node < end && q->s->leaf_free[leaf] > q->s->take[leaf];
             node++) {
            bool chosen = !(q->s->words[node / 64] >> node % 64 & 1);
            for (uint32_t i = 0; i < q->nodes && !chosen; i++) {
                chosen = w->node[i] == node;
            }
            uint32_t at = w->slots;
            while (!chosen && at > begin &&
                   p->node_penalty[w->node[at - 1]] > p->node_penalty[node]) {
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
}

static int by_node(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* The whole cost of what the cells have now. */
static double whole_cost(const struct swaps *w)
{
    struct search *q = w->q;
    struct myr_place_cost cost;
    memcpy(q->s->nodes, w->node, q->nodes * sizeof(uint32_t));
    qsort(q->s->nodes, q->nodes, sizeof(uint32_t), by_node);
    order_cost(q, q->traffic ? w->node : q->s->nodes, &cost);
    return cost.total;
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

static void exchange(struct swaps *w, uint32_t i, uint32_t j)
{
    uint32_t node = w->node[i];
    w->node[i] = w->node[j];
    w->node[j] = node;
}

static bool is_better(const struct swaps *w, double cost)
{
    return cost < w->cost * (1 - 1e-12) - 1e-12;
}

/* Two cells trade places, or a cell moves to a spare node. */
static bool try_swap(struct swaps *w, uint32_t i, uint32_t j)
{
    struct search *q = w->q;
    const struct myr_placer *p = q->p;
    bool spare = j >= q->nodes;
    if ((p->group_of[w->node[i]] == p->group_of[w->node[j]] && p->domain_nodes == 1 &&
         !(spare && p->penalised)) ||
        (!q->traffic && !spare)) {
        return false;
    }
    w->tries++;
    if (spare) {
        exchange(w, i, j);
        double cost = whole_cost(w);
        if (is_better(w, cost)) {
            w->cost = cost;
            return true;
        }
        exchange(w, i, j);
        return false;
    }
    double before = groups_of(w, i) + groups_of(w, j);
    exchange(w, i, j);
    double after = groups_of(w, i) + groups_of(w, j);
    /* A group of both is in both sums twice: trading places inside it changes nothing. */
    if (is_better(w, w->cost + after - before)) {
        w->cost += after - before;
        return true;
    }
    exchange(w, i, j);
    return false;
}

/* Two whole groups of a family trade places. */
static bool try_groups(struct swaps *w, const struct myr_traffic_family *f, uint32_t a, uint32_t b)
{
    uint32_t nodes[SEARCH_SLOTS_MAX];
    for (uint32_t m = 0; m < f->group_size; m++) {
        for (uint32_t k = 0; k < f->group_size; k++) {
            if (f->firsts[a] + f->offsets[m] == f->firsts[b] + f->offsets[k]) {
                return false; /* they share a cell */
            }
        }
    }
    w->tries++;
    memcpy(nodes, w->node, w->slots * sizeof(uint32_t));
    for (uint32_t m = 0; m < f->group_size; m++) {
        exchange(w, f->firsts[a] + f->offsets[m], f->firsts[b] + f->offsets[m]);
    }
    double cost = whole_cost(w);
    if (is_better(w, cost)) {
        w->cost = cost;
        return true;
    }
    memcpy(w->node, nodes, w->slots * sizeof(uint32_t));
    return false;
}

/* A group gathers under one leaf: on its spare nodes, and in the places of others' cells there. */
static bool try_gather(struct swaps *w, const uint32_t *members, uint32_t count, uint32_t leaf)
{
    const struct myr_placer *p = w->q->p;
    uint32_t nodes[SEARCH_SLOTS_MAX];
    uint64_t member[2] = {0};
    memcpy(nodes, w->node, w->slots * sizeof(uint32_t));
    for (uint32_t m = 0; m < count; m++) {
        member[members[m] / 64] |= UINT64_C(1) << members[m] % 64;
    }
    uint32_t from = w->slots;
    for (uint32_t m = 0; m < count; m++) {
        if (p->group_of[w->node[members[m]]] == leaf) {
            continue;
        }
        /* Spares are at the end: they come first. */
        bool found = false;
        while (!found && from > 0) {
            from--;
            bool own = from < 128 && from < w->q->nodes && (member[from / 64] >> from % 64 & 1);
            found = !own && p->group_of[w->node[from]] == leaf;
        }
        if (!found) {
            memcpy(w->node, nodes, w->slots * sizeof(uint32_t));
            return false;
        }
        exchange(w, members[m], from);
    }
    w->tries++;
    double cost = whole_cost(w);
    if (is_better(w, cost)) {
        w->cost = cost;
        return true;
    }
    memcpy(w->node, nodes, w->slots * sizeof(uint32_t));
    return false;
}

static bool move_groups(struct swaps *w)
{
    const struct myr_traffic *t = w->q->traffic;
    uint32_t members[SEARCH_SWAP_CELLS];
    bool better = false;
    for (uint32_t f = 0; f < t->family_count; f++) {
        const struct myr_traffic_family *family = &t->families[f];
        for (uint32_t g = 0; g < family->group_count && w->tries < TRIES_MAX; g++) {
            for (uint32_t m = 0; m < family->group_size; m++) {
                members[m] = family->firsts[g] + family->offsets[m];
            }
            uint64_t seen[8] = {0};
            for (uint32_t i = 0; i < w->slots; i++) {
                uint32_t leaf = w->q->p->group_of[w->node[i]];
                bool known = leaf < 512 && (seen[leaf / 64] >> leaf % 64 & 1);
                if (!known && leaf < 512) {
                    seen[leaf / 64] |= UINT64_C(1) << leaf % 64;
                    better = try_gather(w, members, family->group_size, leaf) || better;
                }
            }
            for (uint32_t h = g + 1; h < family->group_count && family->group_size > 1; h++) {
                better = try_groups(w, family, g, h) || better;
            }
        }
    }
    return better;
}

/* All cells of one leaf move to another. */
static bool move_leaves(struct swaps *w)
{
    const struct myr_placer *p = w->q->p;
    uint32_t members[SEARCH_SWAP_CELLS];
    bool better = false;
    for (uint32_t i = 0; i < w->q->nodes; i++) {
        uint32_t count = 0, leaf = p->group_of[w->node[i]];
        for (uint32_t k = 0; k < w->q->nodes; k++) {
            members[count] = k;
            count += p->group_of[w->node[k]] == leaf;
        }
        for (uint32_t j = w->q->nodes; j < w->slots && w->tries < TRIES_MAX; j++) {
            better = try_gather(w, members, count, p->group_of[w->node[j]]) || better;
        }
    }
    return better;
}

static void improve_one(struct swaps *w, const uint32_t *from)
{
    struct search *q = w->q;
    memcpy(w->node, from, q->nodes * sizeof(uint32_t));
    for (uint32_t i = 0; i < q->nodes; i++) {
        q->s->take[q->p->group_of[w->node[i]]]++;
    }
    find_spares(w);
    for (uint32_t i = 0; i < q->nodes; i++) {
        q->s->take[q->p->group_of[from[i]]] = 0;
    }
    w->cost = whole_cost(w);
    w->tries = 0;
    bool better = true;
    while (better && w->tries < TRIES_MAX) {
        better = false;
        for (uint32_t i = 0; i < q->nodes && w->tries < TRIES_MAX; i++) {
            for (uint32_t j = i + 1; j < w->slots; j++) {
                better = try_swap(w, i, j) || better;
            }
        }
        better = (q->traffic && move_groups(w)) || better;
        better = move_leaves(w) || better;
    }
    if (w->cost < q->best_cost) {
        q->best_cost = w->cost;
        memcpy(q->s->best, w->node, q->nodes * sizeof(uint32_t));
        if (!q->traffic) {
            qsort(q->s->best, q->nodes, sizeof(uint32_t), by_node);
        }
    }
}

/* A few random trades, then downhill again: tiny gangs are worth a second look. */
static void kick(struct swaps *w, const uint32_t *from, struct myr_rng *rng)
{
    struct search *q = w->q;
    uint32_t cells[SEARCH_SLOTS_MAX];
    memcpy(w->node, from, q->nodes * sizeof(uint32_t));
    for (uint32_t i = 0; i < q->nodes; i++) {
        q->s->take[q->p->group_of[w->node[i]]]++;
    }
    find_spares(w);
    for (uint32_t i = 0; i < q->nodes; i++) {
        q->s->take[q->p->group_of[from[i]]] = 0;
    }
    for (uint32_t i = 2 + myr_rng_below(rng, 5); i > 0; i--) {
        exchange(w, myr_rng_below(rng, q->nodes), myr_rng_below(rng, w->slots));
    }
    memcpy(cells, w->node, q->nodes * sizeof(uint32_t));
    improve_one(w, cells);
}

void improve_by_swaps(struct search *q)
{
    struct swaps w = {.q = q, .node = q->s->swapped};
    if (q->nodes > SEARCH_SWAP_CELLS) {
        return;
    }
    select_clear(q);
    find_groups(&w);
    for (uint32_t i = 0; i < q->start_count; i++) {
        improve_one(&w, q->s->starts[i]);
    }
    struct myr_rng rng;
    myr_rng_init(&rng, q->nodes, 0);
    for (uint32_t i = 0; i < KICKS && q->nodes <= KICKED_CELLS; i++) {
        kick(&w, i % 3 ? q->s->best : q->s->starts[i % q->start_count], &rng);
    }
}
