#include "search.h"

enum { TRIES_MAX = 6000, MEMBER_MAX = 24 };

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
};

static void find_groups(struct swaps *w)
{
    const struct myr_traffic *t = w->q->traffic;
    for (uint32_t f = 0; f < t->family_count; f++) {
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

/* One node of every leaf that has some left, nearest pods first is not needed: few leaves. */
static void find_spares(struct swaps *w)
{
    struct search *q = w->q;
    const struct myr_placer *p = q->p;
    for (uint32_t leaf = 0; leaf < p->groups && w->slots < SEARCH_SLOTS_MAX; leaf++) {
        uint32_t first = leaf * p->shape.group_nodes, end = index_group_end(p, leaf), found = 0;
        if (q->s->leaf_free[leaf] <= q->s->take[leaf]) {
            continue;
        }
        for (uint32_t node = first; node < end && found < 2 && w->slots < SEARCH_SLOTS_MAX;
             node++) {
            bool chosen = false;
            for (uint32_t i = 0; i < q->nodes && !chosen; i++) {
                chosen = w->node[i] == node;
            }
            if (!chosen && (q->s->words[node / 64] >> node % 64 & 1)) {
                w->node[w->slots++] = node;
                found++;
            }
        }
    }
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

/* Fragmentation and penalties when one node is given back and another taken. */
static double exchange_cost(const struct swaps *w, uint32_t out, uint32_t in)
{
    const struct myr_placer *p = w->q->p;
    const uint32_t *take = w->q->s->take;
    uint32_t a = p->group_of[out], b = p->group_of[in];
    double sum = 0.001 * ((double)p->node_penalty[in] + p->group_penalty[b] -
                          (double)p->node_penalty[out] - p->group_penalty[a]);
    if (a != b && w->q->gpus == p->shape.gpus_per_node) {
        double fa = p->by_group.count[a] - take[a], fb = p->by_group.count[b] - take[b];
        /* f² - f'²: a has one more left, b one less. */
        sum += MYR_FRAGMENT_LEAF * ((2 * fb - 1) - (2 * fa + 1)) / p->shape.group_nodes;
        uint32_t pa = p->pod_of[out], pb = p->pod_of[in];
        if (pa != pb) {
            double ga = p->by_pod.count[pa], gb = p->by_pod.count[pb];
            for (uint32_t i = 0; i < w->q->nodes; i++) {
                ga -= p->pod_of[w->node[i]] == pa;
                gb -= p->pod_of[w->node[i]] == pb;
            }
            sum += MYR_FRAGMENT_POD * ((2 * gb - 1) - (2 * ga + 1)) / p->shape.pod_nodes;
        }
    }
    return sum * w->q->unit_bytes;
}

static void exchange(struct swaps *w, uint32_t i, uint32_t j)
{
    uint32_t node = w->node[i];
    w->node[i] = w->node[j];
    w->node[j] = node;
}

static bool try_swap(struct swaps *w, uint32_t i, uint32_t j)
{
    struct search *q = w->q;
    const struct myr_placer *p = q->p;
    bool spare = j >= q->nodes;
    if (p->domain_of[w->node[i]] == p->domain_of[w->node[j]] ||
        (p->domain_nodes == 1 && p->group_of[w->node[i]] == p->group_of[w->node[j]] &&
         (!spare || !p->penalised))) {
        return false;
    }
    w->tries++;
    double before = groups_of(w, i) + (spare ? 0 : groups_of(w, j));
    double other = spare ? exchange_cost(w, w->node[i], w->node[j]) : 0;
    exchange(w, i, j);
    double after = groups_of(w, i) + (spare ? 0 : groups_of(w, j)) + other;
    if (after < before * (1 - 1e-12) - 1e-9) {
        q->best_cost += after - before;
        if (spare) {
            q->s->take[p->group_of[w->node[i]]]++;
            q->s->take[p->group_of[w->node[j]]]--;
        }
        return true;
    }
    exchange(w, i, j);
    return false;
}

void improve_by_swaps(struct search *q)
{
    struct swaps w = {.q = q, .slots = q->nodes, .node = q->s->swapped};
    if (!q->traffic || q->nodes > SEARCH_SWAP_CELLS || q->nodes < 2) {
        return;
    }
    memcpy(w.node, q->s->best, q->nodes * sizeof(uint32_t));
    select_clear(q);
    for (uint32_t i = 0; i < q->nodes; i++) {
        q->s->take[q->p->group_of[w.node[i]]]++;
    }
    find_groups(&w);
    find_spares(&w);
    bool better = true;
    while (better && w.tries < TRIES_MAX) {
        better = false;
        for (uint32_t i = 0; i < q->nodes && w.tries < TRIES_MAX; i++) {
            for (uint32_t j = i + 1; j < w.slots; j++) {
                better = try_swap(&w, i, j) || better;
            }
        }
    }
    for (uint32_t i = 0; i < q->nodes; i++) {
        q->s->take[q->p->group_of[w.node[i]]] = 0;
        q->s->best[i] = w.node[i];
    }
}
