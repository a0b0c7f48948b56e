/*
 * search: one decision for one gang. select.c chooses nodes, candidates.c says which orders of
 * ranks are worth a try, assign.c lays cells along the nodes, order.c prices the result,
 * local_search.c trades places; request.c drives them. All memory is the placer's scratch, claimed
 * when the first gang comes.
 */
#pragma once

#include <string.h>

#include "myriad/sched/request.h"
#include "place/index.h"

#define SEARCH_SWAP_CELLS  128 /* gangs up to this size are improved by swaps */
#define SEARCH_SMALL_CELLS 64  /* and up to this look everywhere */
#define SEARCH_TINY_CELLS  16  /* and up to this also from disturbed placements */
#define SEARCH_FEW_LEAVES  64  /* in clusters up to this leaves of other pods are looked at too */
#define SEARCH_SLOTS_MAX   240 /* fewer than 256: units of slots are numbered by bytes */
#define SEARCH_COUNTS_MAX \
    ((size_t)(SEARCH_SWAP_CELLS / 3 + 1) * MYR_TRAFFIC_FAMILIES_MAX * 3 * SEARCH_SLOTS_MAX)
#define SEARCH_STARTS    4 /* placements that swaps start from */
#define SEARCH_TRIED_MAX 64
/* Candidates that are priced: all of them for tiny gangs, for others the most promising. */
#define SEARCH_CANDIDATES_MAX   64
#define SEARCH_CANDIDATES_SMALL 24
#define SEARCH_CANDIDATES_LARGE 16
/*
 * Costs are integers, in parts of what one node sends in a step: sums do not depend on the order of
 * their terms, equal placements cost the same to the last bit, and every machine decides alike.
 * One node's bytes are about this many parts, a multiple of what rooms and penalties are divided by
 * (set_weights()); three levels of a million nodes with the greatest penalties stay below 2^62.
 */
#define SEARCH_COST_PARTS (INT64_C(1) << 30)

/* Levels that a group may be broken at. */
enum unit { UNIT_DOMAIN, UNIT_LEAF, UNIT_POD, UNIT_COUNT };

/* Nodes side by side in s->nodes. */
struct piece {
    uint32_t first, count;
};

/* Whole blocks of cells that lie together, before they are numbered. */
struct batch {
    uint32_t at, pieces; /* in 'laid' */
    uint32_t units;      /* blocks */
    uint32_t topmost;    /* first node: batches are numbered along the topology */
    bool across;         /* over several leaves */
};

/* Which digit of a cell's number runs fastest, and so on. */
struct digit_order {
    uint8_t digits[MYR_TRAFFIC_DIGITS_MAX];
};

/* An order, and how much of it stays whole: blocks of so many cells; 1 is one after the other. */
struct candidate {
    struct digit_order order;
    uint32_t block;   /* cells */
    int64_t estimate; /* of the cost; only to compare */
};

struct swaps;

struct search_scratch {
    uint64_t *words;                /* bit by node: may be used */
    uint32_t *leaf_free, *pod_free; /* nodes that the request may use */
    uint32_t *leaf_all, *pod_all;   /* the same, while the two above count whole blocks alone */
    uint32_t *take, *pod_take;      /* by leaf, by pod: nodes chosen */
    uint32_t *touched;              /* leaves with take > 0 */
    uint32_t *sorted, *start;       /* counting sort of leaves or pods */
    uint32_t *nodes;                /* chosen, along the topology */
    uint32_t *best_nodes;           /* those of the best placement */
    uint32_t *along[UNIT_COUNT], *unit[UNIT_COUNT]; /* of s->nodes; by position as assigned */
    uint32_t *assigned;                             /* position to place in s->nodes */
    uint32_t *sequence;                             /* position to cell */
    uint32_t *offsets, *firsts, *other;             /* of assign.c */
    uint32_t *cells, *best, *swapped;               /* cell to node */
    uint32_t *zone_used;                /* by unit of racks, then of rows; also scratch of others */
    struct swaps *swaps;                /* of local_search.c; made when first used */
    uint64_t *chosen;                   /* of local_search.c: bit by node */
    uint8_t *counts;                    /* of local_search.c: members by group, level and unit */
    struct piece *pieces, *left, *laid; /* all; not yet in blocks; in blocks */
    struct batch *batches;
    struct candidate candidates[SEARCH_CANDIDATES_MAX]; /* most promising first */
    /* The cheapest so far of a small gang, cheapest first. */
    uint32_t starts[SEARCH_STARTS][SEARCH_SWAP_CELLS];
    int64_t start_cost[SEARCH_STARTS]; /* beside each of them */
};

struct search {
    struct myr_placer *p;
    const struct myr_request *request;
    const struct myr_job_traffic *traffic; /* NULL: ring along the topology */
    struct search_scratch *s;
    uint32_t nodes, gpus; /* GPUs a node */
    double unit_bytes;    /* what a node sends */
    int64_t unit_cost;    /* the same as a cost */
    /* By family: what one group costs for each level that it is broken at. */
    int64_t weight[MYR_TRAFFIC_FAMILIES_MAX];
    int64_t leaf_room, pod_room; /* what a part of the room lost there costs */
    uint32_t touched_count;      /* leaves in s->touched */
    int64_t base_cost;           /* of the chosen nodes, whatever runs where */
    int64_t best_cost;           /* of s->best; negative: none yet */
    uint32_t start_count;        /* placements in s->starts */
    bool improved;               /* s->best has other nodes than s->best_nodes */
    bool settled;                /* as near as can be: nothing to improve */
    uint32_t candidate_count;
    uint64_t tried[SEARCH_TRIED_MAX]; /* choices of nodes that were assigned straight, as hashes */
    uint32_t tried_count;
    bool have_nodes; /* s->nodes are those of the choice; else only s->take tells */
    /* 0, or what is taken of a scale-up domain is whole blocks of so many nodes. */
    uint32_t domain_block;
    /* Of assign.c: pieces of s->nodes, levels they are split over, whether s->assigned holds. */
    uint32_t piece_count;
    bool split[UNIT_COUNT], assigned;
    uint32_t sorted_run; /* aligned runs of so many positions follow the topology */
};

/* Whether the request may use the node. */
static inline bool search_may_use(const struct search *q, uint32_t node)
{
    return (q->s->words[node / 64] >> node % 64 & 1) != 0;
}

/* What thousandths of a penalty cost. */
static inline int64_t search_penalty(const struct search *q, uint64_t milli)
{
    return (int64_t)milli * (q->unit_cost / 1000);
}

/* Large gangs look at variants of what costs no more than this. */
static inline int64_t search_near(int64_t cost)
{
    return cost + cost / 20 * 3;
}

/* scratch.c; index.h has the other half. */
struct search_scratch *scratch_create(const struct myr_placer *p);

/* select.c: fills s->take and s->touched for 'nodes' nodes, in blocks of 'block' where possible. */
void select_clear(struct search *q);
uint32_t select_leaf(struct search *q);
void select_pod(struct search *q, uint32_t pod, uint32_t nodes, uint32_t block);
/* The same over leaves first to end - 1, wherever their pods end. */
void select_range(struct search *q, uint32_t first, uint32_t end, uint32_t nodes, uint32_t block);
/* As few pods as possible; whole blocks in leaves or pods first, then what is left of them. */
enum align { ALIGN_NONE, ALIGN_POD, ALIGN_LEAF };
void select_pods(struct search *q, uint32_t block, enum align align);
/*
 * From here on each leaf has as many nodes as whole blocks lie in its scale-up domains, and gives
 * just those; false, and nothing is changed, when all leaves together have too few of them.
 */
bool select_align(struct search *q, uint32_t block);
void select_align_end(struct search *q);
/* The chosen leaves along the topology, then their nodes into s->nodes. */
void select_sort(struct search *q);
void select_nodes(struct search *q);
/* Tells choices apart. */
uint64_t select_hash(const struct search *q);
int64_t select_estimate(const struct search *q, uint32_t block);

/* order.c */
enum myr_level order_level(const struct myr_placer *p, uint32_t a, uint32_t b);
/*
 * Prices the order along what was assigned, and takes it over into s->best when it is cheaper. The
 * cost, or for large gangs some cost that is not near the best.
 */
int64_t order_consider(struct search *q, const struct digit_order *order);
/* The same for s->cells of a gang without a layout. */
void order_consider_ring(struct search *q);
/* Fragmentation and penalties of s->nodes. */
int64_t order_base_cost(const struct search *q);
/* The same for the chosen leaves, when no node has penalties: fragmentation. */
int64_t order_room_cost(const struct search *q);
void order_cost(struct search *q, const uint32_t *cells, struct myr_place_cost *ret);

/* assign.c: s->nodes are laid along positions, and orders of the digits priced over them. */
void assign_straight(struct search *q);
/* Blocks stay whole where they can; returns whether 'columns' makes a difference. */
bool assign_blocks(struct search *q, uint32_t block, bool columns);
/* Σ weight x level; may stop early once it reaches 'limit' (negative: no limit). */
int64_t assign_price(const struct search *q, const struct digit_order *order, int64_t limit);
/* Groups of a family that are broken at a level. */
uint32_t assign_broken(const struct search *q, const struct digit_order *order, uint32_t family,
                       enum unit level);
/* s->sequence: the cell at every position. */
void assign_numbers(const struct search *q, const struct digit_order *order);
void assign_cells(const struct search *q, const struct digit_order *order, uint32_t *cells);

/* candidates.c: from how the free nodes lie, the most promising orders into s->candidates. */
void candidates_find(struct search *q);

/* local_search.c: better ones from s->starts into s->best. */
void local_search(struct search *q);
