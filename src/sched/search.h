/*
 * search: one decision for one gang. select.c chooses nodes, order.c deals cells to them and
 * prices the result, improve.c swaps; request.c drives them. All memory is the placer's scratch,
 * claimed when the first gang comes.
 */
#pragma once

#include "index.h"
#include "myriad/sched/request.h"

#define SEARCH_SWAP_CELLS 64 /* gangs up to this size are improved by swaps */
#define SEARCH_TINY_CELLS 16 /* and up to this also from disturbed placements */
#define SEARCH_FEW_LEAVES 64 /* in clusters up to this leaves of other pods are looked at too */
#define SEARCH_SLOTS_MAX  160
#define SEARCH_STARTS     4 /* placements that swaps start from */

/* Whole blocks of cells that lie together, before they are numbered. */
struct batch {
    uint32_t at;      /* in 'laid' */
    uint32_t units;   /* blocks */
    uint32_t topmost; /* first node: batches are numbered along the topology */
    bool across;      /* over several leaves */
};

struct search_scratch {
    uint64_t *words; /* bit by node: may be used */
    uint32_t *leaf_free, *pod_free;
    uint32_t *take, *pod_take; /* by leaf, by pod: nodes chosen */
    uint32_t *touched;         /* leaves with take > 0 */
    uint32_t *sorted, *start;  /* counting sort of leaves or pods */
    uint32_t *nodes;           /* chosen, along the topology */
    uint32_t *laid, *rest, *sequence;
    uint32_t *cells, *best, *swapped; /* cell to node */
    uint32_t *zone_used;
    struct batch *batches;
    /* The cheapest so far of a small gang, cheapest first. */
    uint32_t starts[SEARCH_STARTS][SEARCH_SWAP_CELLS];
    double start_cost[SEARCH_STARTS];
};

struct search {
    struct myr_placer *p;
    const struct myr_request *request;
    const struct myr_job_traffic *traffic; /* NULL: ring along the topology */
    struct search_scratch *s;
    uint32_t nodes, gpus; /* GPUs a node */
    double unit_bytes;    /* what a node sends */
    uint32_t touched_count;
    double base_cost; /* of the chosen nodes, whatever runs where */
    double best_cost; /* of s->best; negative: none yet */
    uint32_t start_count;
    bool settled; /* as near as can be: nothing to improve */
};

/* Whether the request may use the node. */
static inline bool search_may_use(const struct search *q, uint32_t node)
{
    return (q->s->words[node / 64] >> node % 64 & 1) != 0;
}

/* select.c: fills s->take and s->touched for 'nodes' nodes, in blocks of 'block' where possible. */
void select_clear(struct search *q);
uint32_t select_leaf(struct search *q);
void select_pod(struct search *q, uint32_t pod, uint32_t nodes, uint32_t block);
/* The same over leaves first to end - 1, wherever their pods end. */
void select_range(struct search *q, uint32_t first, uint32_t end, uint32_t nodes, uint32_t block);
void select_pods(struct search *q, uint32_t block, bool aligned);
/* The chosen leaves' nodes into s->nodes, in topology order. */
void select_nodes(struct search *q);
double select_estimate(const struct search *q, uint32_t block);

/* order.c */
enum myr_level order_level(const struct myr_placer *p, uint32_t a, uint32_t b);
double order_group_level(const struct search *q, const struct myr_traffic_family *family,
                         uint32_t first, const uint32_t *cells);
/* Deals cells to s->nodes: blocks of the first 'depth' digits of 'digits' stay whole. */
void order_cells(struct search *q, const uint8_t *digits, uint32_t depth, bool columns);
/* Takes s->cells over into s->best when it is cheaper. */
void order_keep_best(struct search *q);
/* Σ bytes x level; may stop early once it reaches 'limit' (negative: no limit). */
double order_groups_cost(const struct search *q, const uint32_t *cells, double limit);
void order_other_cost(const struct search *q, struct myr_place_cost *ret);
void order_cost(const struct search *q, const uint32_t *cells, struct myr_place_cost *ret);

/* improve.c: better ones from s->starts into s->best. */
void improve_by_swaps(struct search *q);
