/*
 * visit: what the files of the search share. Private.
 *
 *   branch.c  counts, bounds families of groups, opens them best first
 *   group.c   bounds on all layouts of a group
 *   open.c    what is left of a family, priced
 *   floor.c   bounds on time       memory.c  bounds on memory       shards.c  orders and shards
 *   quick.c   the same at once     choice.c  numbered choices of what is recomputed
 *   briefs.c  what they read of layers
 */
#pragma once

#include "search/space.h"

/* Bounds add in another order than full sums do; this covers the difference. */
#define FIT_BOUND_SLACK (1 - 1e-9)
#define FIT_PIPES_KEPT  8 /* numbers of recomputed layers whose pipelines are remembered */

/*
 * How a group recomputes. Counts run from none over some layers of each chunk to all. Where a
 * recipe has more to it with nothing made again (graphs, covered all-to-alls), that is a chain of
 * its own, and with several chunks a stage, or one stage, another: counts then begin with one.
 */
enum fit_chain {
    FIT_CHAIN_COUNTS,
    FIT_CHAIN_SELECTIVE,
    FIT_CHAIN_KEPT,
    FIT_CHAIN_SPREAD,
    FIT_CHAIN_COUNT
};

/* One micro-batch of a layer or of an end of the pipeline: what bounds read of a block. */
struct fit_brief {
    double forward_s, weight_s; /* one pass; weights' gradients */
    double alone_s;             /* both passes */
    double recompute_s;         /* both, recomputed */
    double recompute_more_s;    /* of that, what making it again adds */
};

/* The blocks of one width, micro-batch, chain and order, as bounds see them. */
struct fit_briefs {
    struct fit_brief layers[FIT_KIND_COUNT], first, last;
    double least_s;      /* of any layer, left alone */
    double output_share; /* of the output that is forward */
};

/* What bounds need of the blocks of one width, micro-batch and chain. */
struct fit_times {
    double all;         /* every layer, the embedding and the output */
    double last;        /* what the last stage has beside layers */
    double share;       /* of layers that is forward, at most */
    double least_share; /* of anything */
    double layer;       /* the quickest layer */
    double embedding_s, embedding_forward_s;
};

/* What layers keep, for bounds on memory. */
struct fit_activations {
    double dense, moe, recomputed; /* bytes of one layer and micro-batch */
    double recompute_working;      /* while a layer is recomputed */
    double output;                 /* of the last stage: logits and loss */
};

/* Layers do not depend on the depth: one of these serves the groups of many families. */
struct fit_priced_layers {
    struct fit_near cp_near, ep_near; /* where their groups lie */
    struct fit_briefs briefs;
    struct fit_times times; /* of the usual order only, and so is what follows */
    struct fit_activations kept;
    bool kept_known;                /* 'kept' is filled when first asked for */
    struct fit_priced_layers *next; /* the same elsewhere */
};

/* A micro-batch and a way to recompute, of one family. */
struct fit_group {
    double floor_s;                   /* no layout of it takes less */
    struct fit_priced_layers *priced; /* in the usual order */
    uint32_t micro_batch;
    uint8_t chain; /* enum fit_chain */
    bool dual;     /* DualPipe: its blocks hide more */
};

/* A width and a depth: where ranks stand and what replicas exchange is the same for its groups. */
struct fit_family {
    double floor_s; /* the least of its groups' */
    struct myr_layout *width;
    uint32_t depth;        /* index in the space */
    uint32_t first, count; /* groups */
    bool refined;          /* their bounds know of memory and exchanges */
};

/* Exchanges of one order, ZeRO stage and shard, where the stamp is that of the visit. */
struct fit_priced_exchanges {
    uint64_t stamp;
    struct fit_exchanges of;
};

/* The family with the lowest bound on top. */
struct fit_heap {
    struct fit_family *of;
    uint32_t count, max; /* allocated */
};

/* One search over one space; memory of the arena lives as long as the answer's. */
struct fit_search {
    struct myr_arena *arena;
    const struct myr_fit_query *query;
    const struct fit_space *space;
    struct myr_fit_answer *answer;
    double layers[FIT_KIND_COUNT];  /* of the whole model */
    uint32_t kinds[FIT_KIND_COUNT]; /* those that it has */
    uint32_t kind_count;
    uint32_t *hints;          /* by depth: the cut that looked best in the group before */
    struct fit_group *groups; /* those of a family together */
    uint32_t group_count, group_max;
    struct fit_heap families, cut;          /* the second: those whose cuts have been looked at */
    struct fit_priced_exchanges *exchanges; /* by zero, shard and order */
    uint64_t stamp;                         /* of the family that is looked into */
    double limit_bytes;                     /* that a rank may fill */
    bool uniform;                           /* all layers have experts, or none has */
};

/* One group of a family being looked into. */
struct fit_visit {
    struct fit_search *s;
    const struct fit_group *group;
    const struct fit_depth *depth;
    const struct fit_briefs *briefs[FIT_ORDERS_MAX]; /* NULL: not yet */
    double micro_batches;                            /* of a replica in a step */
    uint32_t schedules;                              /* that its cuts may have, a bit for each */
    struct myr_layout layout;                        /* in the usual order */
    struct fit_blocks blocks[FIT_ORDERS_MAX][2];     /* by order; second: every layer recomputed */
    bool priced[FIT_ORDERS_MAX];                     /* 'blocks' of the order are there */
    /* The first order in which layers take as long, and the first with the same exchanges. */
    uint32_t layers_like[FIT_ORDERS_MAX], exchanges_like[FIT_ORDERS_MAX];
    enum myr_axis orders[FIT_ORDERS_MAX][MYR_LAYOUT_ORDER_COUNT];
    uint32_t order_count;              /* the usual order is the first */
    uint32_t shards[FIT_DIVISORS_MAX]; /* 0: all replicas */
    uint32_t shard_count;
    bool shard_fits[FIT_DIVISORS_MAX][2]; /* in an order, and in one with cp before dp */
    struct fit_activations kept;
    double limit_s; /* what a layout of this family must beat to be kept */
    double straggler, least_hop_s[2], limit_bytes; /* the second: with interleaving, a chunk */
    struct fit_places places[FIT_ORDERS_MAX];
    bool cp_first[FIT_ORDERS_MAX];
    /* By interleaving, zero, shard and order; the first below 0: unknown. */
    double update_floor_s[2][4][FIT_DIVISORS_MAX][FIT_ORDERS_MAX];
    double shard_update_s[2][4][FIT_DIVISORS_MAX]; /* the least of its orders */
    double zero_update_s[2][4];                    /* and of its shards; below 0: unknown */
    /* What they grow by at least when all parameters double: a shape's rise of it is added. */
    double shard_rise_s[2][4][FIT_DIVISORS_MAX], zero_rise_s[2][4];
    struct fit_pipe widest;          /* passes that hide as much as any could */
    struct myr_rank_params layer[2]; /* of a dense layer and of one with experts */
    double layer_bytes[4][2];        /* of their state, by ZeRO stage */
    double early_bytes[4][2];        /* of the first stages, at least, by ZeRO stage */
    struct myr_rank_params lightest; /* no stage has fewer parameters */
    bool quick;          /* only the plainest layouts, to have something to compare with */
    double least_more_s; /* that a layer takes when it is recomputed */
    bool rising;         /* a layer recomputed costs no less than one left alone */
};

/* A cut with a schedule, being priced. */
struct fit_cut {
    const struct fit_shape *shape;
    uint32_t first, last;          /* choices */
    uint32_t zero_first[4];        /* by ZeRO stage: the first that may fit, past the last: none */
    double zero_pipe_s[4];         /* the cut's bound with that one, nothing exchanged */
    double state[FIT_SHAPE_KINDS]; /* bytes, by kind of stage */
    double flights[FIT_SHAPE_KINDS], held[FIT_SHAPE_KINDS]; /* the second times layers */
    struct myr_rank_params params[FIT_SHAPE_KINDS];
    bool params_known; /* 'params' are filled */
    struct fit_pipe pipes[FIT_ORDERS_MAX][FIT_PIPES_KEPT];
    uint32_t pipe_choice[FIT_ORDERS_MAX][FIT_PIPES_KEPT]; /* plus one; 0: none yet */
    /* Bounds of the last choices asked for; choices plus one, 0: none yet. */
    uint32_t floor_choice[FIT_ORDERS_MAX][FIT_PIPES_KEPT], played_choice[FIT_PIPES_KEPT];
    struct fit_played played[FIT_PIPES_KEPT];
    double floor_s[FIT_ORDERS_MAX][FIT_PIPES_KEPT]; /* by order and slot */
    double kind_s[FIT_PIPES_KEPT][FIT_SHAPE_KINDS]; /* both passes of each kind of stage */
    uint32_t kept_choice[FIT_PIPES_KEPT];
    double kept_bytes[FIT_PIPES_KEPT][FIT_SHAPE_KINDS]; /* what layers keep */
    struct myr_rank_params lightest;                    /* of all ranks, with DualPipe */
    bool lightest_known;
    /* For the last range of choices asked for: stages that may be the slowest, and their passes. */
    uint32_t slowest_choice, passes_low[FIT_ORDERS_MAX], passes_high[FIT_ORDERS_MAX];
    bool may_be_slowest[FIT_SHAPE_KINDS];
    struct myr_rank_params slowest_params; /* the fewest of any of them */
    double passes_s[FIT_ORDERS_MAX][2];    /* forward and backward */
};

static inline bool fit_same_near(const struct fit_near *a, const struct fit_near *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

static inline double fit_layer_s(const struct fit_layer *layer)
{
    return layer->forward.total + layer->backward.total;
}

static inline double fit_mtp_layer_s(const struct fit_blocks *blocks,
                                     const struct fit_layer *layers)
{
    return fit_layer_s(&layers[blocks->used[FIT_MOE_FULL] ? FIT_MOE_FULL : FIT_DENSE_FULL]);
}

/* shards.c */

/* Can the ranks of dp and cp be cut so that d * cp of them make a shard? */
bool fit_shard_aligned(const struct myr_layout *l, uint32_t d, bool cp_first);
/* Do the experts' ranks of a stage lie in the same block of ranks as all others of it? */
bool fit_stages_aligned(const struct myr_layout *l);
bool fit_is_cp_first(const enum myr_axis order[MYR_LAYOUT_ORDER_COUNT]);
/* Choices of order, ZeRO stage and shard. */
uint64_t fit_shard_count(const struct fit_search *s, const struct myr_layout *layout);

/* memory.c */

struct fit_activations fit_activations_of(const struct fit_search *s, struct myr_layout layout,
                                          enum fit_chain chain);
/* The least choice that the bounds on memory let pass; past the last one when none does. */
uint32_t fit_least_choice(const struct fit_visit *v, struct fit_cut *cut, uint32_t from);

/* floor.c */

/* Is the chain searched, and has it this schedule? */
bool fit_chain_open(const struct fit_search *s, enum fit_chain chain);
bool fit_chain_runs(enum fit_chain chain, enum myr_schedule schedule, uint32_t pp);
/* The layout whose blocks hold both a layer left alone and, where counts run, one recomputed. */
void fit_set_chain(const struct fit_search *s, enum fit_chain chain, struct myr_layout *layout);
/* Transfers between stages when stages lie as near as any order puts them: next to tp. */
double fit_least_hop_s(const struct fit_search *s, const struct myr_layout *layout);
/* Layers of a kind of stage that a choice makes again: the first of each chunk. */
void fit_count_recomputed(const struct fit_visit *v, const struct fit_shape *shape,
                          const struct fit_stage_kind *kind, uint32_t choice,
                          double counts[FIT_KIND_COUNT]);
/* A step in the first order up to what replicas exchange, with the least transfers between stages,
 * of a cut that is being priced. */
double fit_cut_floor_s(const struct fit_visit *v, struct fit_cut *cut, uint32_t choice);
/* The same, played with those transfers where the quick bound does not pass the limit. */
double fit_cut_played_s(struct fit_visit *v, struct fit_cut *cut, uint32_t choice, double limit);
/* The blocks of an order; 'all': as if every layer were recomputed. */
const struct fit_blocks *fit_blocks_for(struct fit_visit *v, uint32_t order, bool all);
/* What replicas of a layout exchange; the same for all cuts of the group. */
const struct fit_exchanges *fit_exchanges_for(struct fit_visit *v, const struct myr_layout *layout,
                                              uint32_t shard_at, uint32_t order);
/* What replicas exchange at least with one ZeRO stage, whichever the order and the shard. */
double fit_zero_update_s(struct fit_visit *v, bool interleaved, uint32_t zero);
/*
 * A step of the cut with one (zero, shard), in the best of the orders: 'pipe_s' or what layers take
 * in that order, and at least what replicas of the lightest stage exchange.
 */
double fit_shard_floor_s(struct fit_visit *v, struct fit_cut *cut, const struct myr_layout *layout,
                         uint32_t shard_at, uint32_t choice, double pipe_s);
/* The same with this cut's own stages, for choices low to high; above the limit not so exact. */
double fit_choices_floor_s(struct fit_visit *v, struct fit_cut *cut,
                           const struct myr_layout *layout, uint32_t shard_at, uint32_t low,
                           uint32_t high, double pipe_s, double limit);

/* briefs.c */

/* What bounds read of a layout's blocks. */
void fit_briefs_of(const struct fit_search *s, struct myr_layout layout, enum fit_chain chain,
                   struct fit_briefs *ret);

/* quick.c */

/* A step of the shape in the first order up to what replicas exchange, with the least transfers
 * between stages: from three of its stages, at once. */
double fit_shape_quick_s(const struct fit_visit *v, const struct fit_shape *shape, uint32_t choice);

/* choice.c */

/* Choices of a shape are numbered: 0 none, r the first r layers of each chunk, last all of them. */
void fit_set_choice(const struct fit_visit *v, const struct fit_shape *shape, uint32_t choice,
                    struct myr_layout *layout);

/* Parameters of a stage with so many layers, so many of them with experts, at least. */
struct myr_rank_params fit_params_least(const struct fit_visit *v, double layers, double moe);
/* branch.c */

/* The answer is the caller's, and so is the space, which 's' is given before it is filled. */
void fit_search_init(struct fit_search *s, const struct myr_fit_query *query,
                     struct myr_arena *arena, struct myr_fit_answer *answer);
void fit_search_done(struct fit_search *s);
/* All families of the space with their first bounds, and how many layouts it has. */
void fit_fill_families(struct fit_search *s);

/* open.c */

/* Gives groups better bounds and drops those that pass the limit. 'cuts': by their cuts, of which
 * the best-looking is priced. */
void fit_refine_family(struct fit_search *s, struct fit_family *family, bool cuts);
/* Prices what no bound excludes. */
void fit_open_family(struct fit_search *s, const struct fit_family *family);

/* group.c */

/* Puts a group where it belongs: they ascend. */
void fit_add_group(struct fit_group *groups, uint32_t *count, struct fit_group group);

void fit_times_of(const struct fit_search *s, const struct fit_briefs *briefs,
                  struct fit_times *ret);
/* No layout of a group takes less: layers dealt evenly, the least bubble of its schedules. */
double fit_group_floor_s(const struct fit_search *s, struct myr_layout layout,
                         const struct fit_depth *depth, const struct fit_times *times,
                         enum fit_chain chain, bool dual);
/* The same with what memory makes a group do again and what its replicas exchange at least; above
 * the limit not so exact. */
double fit_refined_floor_s(struct fit_visit *v, double limit);

/* Does a schedule with several chunks a stage exist for this depth and micro-batch? */
bool fit_interleaves(const struct fit_search *s, const struct myr_layout *layout,
                     const struct fit_depth *depth);
