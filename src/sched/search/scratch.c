#include <stdlib.h>

#include "search/search.h"

/*
 * Memory of a search, as large as the largest gang needs. It is claimed once for each placer: a
 * decision would otherwise spend its time on clearing and freeing it.
 */

static uint32_t *numbers(uint32_t count)
{
    return myr_xcalloc(count, sizeof(uint32_t));
}

struct search_scratch *scratch_create(const struct myr_placer *p)
{
    struct search_scratch *s = myr_xcalloc(1, sizeof(*s));
    /* Counts of free nodes run up to a pod's, which may be larger than the cluster. */
    uint32_t nodes = p->shape.nodes, most = p->shape.pod_nodes > nodes ? p->shape.pod_nodes : nodes;
    s->words = myr_xcalloc((size_t)nodes / 64 + 1, sizeof(uint64_t));
    s->leaf_free = numbers(p->groups);
    s->pod_free = numbers(p->pods);
    s->leaf_all = numbers(p->groups);
    s->pod_all = numbers(p->pods);
    s->take = numbers(p->groups);
    s->pod_take = numbers(p->pods);
    s->touched = numbers(p->groups);
    s->sorted = numbers(p->groups);
    s->start = numbers(most + 2);
    /* One more than nodes: gathering writes a place before it knows that it is wanted. */
    s->nodes = numbers(nodes + 1);
    s->best_nodes = numbers(nodes);
    for (uint32_t level = 0; level < UNIT_COUNT; level++) {
        s->along[level] = numbers(nodes);
        s->unit[level] = numbers(nodes);
    }
    s->assigned = numbers(nodes);
    s->offsets = numbers(nodes);
    s->firsts = numbers(nodes);
    s->other = numbers(nodes);
    s->pieces = myr_xcalloc(nodes, sizeof(struct piece));
    s->left = myr_xcalloc(nodes, sizeof(struct piece));
    /* Each level may split a piece, so there may be twice as many as nodes. */
    s->laid = myr_xcalloc((size_t)nodes * 2, sizeof(struct piece));
    s->sequence = numbers(nodes);
    s->cells = numbers(nodes);
    s->best = numbers(nodes);
    /* Small clusters have fewer nodes than slots. */
    s->swapped = numbers(nodes > SEARCH_SLOTS_MAX ? nodes : SEARCH_SLOTS_MAX);
    s->zone_used = numbers(nodes * MYR_ZONE_COUNT);
    s->chosen = myr_xcalloc((size_t)nodes / 64 + 1, sizeof(uint64_t));
    s->counts = myr_xcalloc(SEARCH_COUNTS_MAX, 1);
    s->batches = myr_xcalloc((size_t)nodes + 1, sizeof(*s->batches));
    return s;
}

void scratch_free(struct search_scratch *s)
{
    if (s) {
        free(s->words);
        free(s->leaf_free);
        free(s->pod_free);
        free(s->leaf_all);
        free(s->pod_all);
        free(s->take);
        free(s->pod_take);
        free(s->touched);
        free(s->sorted);
        free(s->start);
        free(s->nodes);
        free(s->best_nodes);
        for (uint32_t level = 0; level < UNIT_COUNT; level++) {
            free(s->along[level]);
            free(s->unit[level]);
        }
        free(s->assigned);
        free(s->offsets);
        free(s->firsts);
        free(s->other);
        free(s->pieces);
        free(s->left);
        free(s->laid);
        free(s->sequence);
        free(s->cells);
        free(s->best);
        free(s->swapped);
        free(s->zone_used);
        free(s->swaps);
        free(s->chosen);
        free(s->counts);
        free(s->batches);
        free(s);
    }
}
