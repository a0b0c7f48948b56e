/*
 * space: the layouts that a search covers, as lists of values for each axis. Private.
 *
 * Both ways of searching take their values from here. The exhaustive one forms every combination
 * and asks myr_layout_broken(); the other counts combinations by arithmetic and visits few.
 */
#pragma once

#include "cost/combine.h"
#include "myriad/fit/search.h"

#define FIT_VP_MAX        16U /* searched, */
#define FIT_VP_ASKED      64U /* and where it is asked for */
#define FIT_CP_MAX        16U
#define FIT_TP_MAX        32U
#define FIT_MICRO_MAX     32U /* searched; any that is asked for */
#define FIT_SPLIT_MAX     4   /* layers a chunk by which outer stages differ from the others */
#define FIT_SHAPE_KINDS   8U  /* distinct stages of one pipeline that bounds look at */
#define FIT_ORDERS_MAX    2U
#define FIT_DIVISORS_MAX  256U
#define FIT_RECOMPUTE_ALL UINT32_MAX

/* One kind of stage: how many layers of each kind, and whether it opens or closes the pipeline. */
struct fit_stage_kind {
    double layers[FIT_KIND_COUNT];
    double count; /* stages of this kind */
    /* Micro-batches in flight, of all its chunks, and the same times layers, with enough of them.
     */
    double flights, held;
    uint32_t stage;      /* the first of its kind; it holds the most micro-batches */
    uint32_t last_stage; /* and the last */
    bool first, last;
    const struct myr_span *spans; /* of its chunks */
    uint32_t first_chunk;         /* layers of the first chunk of any stage of its kind, at least */
    struct myr_span mirror; /* of the stage as far from the end, which DualPipe pairs it with */
};

/* How layers fall on pp x vp chunks; the same for every width and batch. */
struct fit_shape {
    uint32_t pp, vp, first_layers, last_layers; /* as in a layout, */
    bool output_counts;                         /* and this */
    uint32_t chunk_most;                        /* layers of the largest chunk */
    uint32_t chunk_least;                       /* and of the smallest */
    uint32_t choice_count;                      /* of what is recomputed */
    double most_layers;                         /* of a stage, of those in 'kinds' */
    double first_of, last_of, least_of;         /* layers of the outer stages, and of any */
    double least_moe;                           /* of them with experts, of any stage */
    double rise; /* by what share its stages are fuller than the emptiest of all shapes */
    uint32_t first_at, last_at, most_at; /* their kinds, and that of a stage with the most */
    /* Layers of the first chunks before such a fullest stage and before the last, and stages. */
    double most_chunks, most_stages, last_chunks;
    uint32_t kind_count; /* FIT_SHAPE_KINDS: some may be left out */
    struct fit_stage_kind kinds[FIT_SHAPE_KINDS];
};

/* All shapes of one pp, those without interleaving first. */
struct fit_depth {
    uint32_t pp, first_shape, plain_count, shape_count; /* an index; counts */
    uint32_t vp_most;
    /* Of a stage's layers that its first chunk has at least, by vp; 0 where there are none. */
    double chunk_share[FIT_VP_ASKED + 1];
    double least_layers, most_layers; /* of any stage of any shape */
    double least_moe;                 /* layers with experts, likewise */
    struct {
        double layers, moe; /* that it has at least */
    } early[2];             /* the first and, from three stages on, the second stage */
    uint64_t plain_choices, interleaved_choices; /* shapes times their recomputation choices */
};

/* Made once for a question and a precision, and only read afterwards. */
struct fit_space {
    const struct myr_fit_query *query;
    struct fit_shape *shapes;
    uint32_t shape_count;
    struct fit_depth *depths;
    uint32_t depth_count;
    uint32_t divisors[FIT_DIVISORS_MAX]; /* of the GPUs, ascending */
    uint32_t divisor_count;
    uint32_t tp_max, cp_max;         /* largest that are searched */
    double (*below)[FIT_KIND_COUNT]; /* layers of each kind before a layer, up to all of them */
    bool alike;                      /* all layers are of one kind */
    bool flash;                      /* the release has fused attention */
    bool parted;                     /* with nothing made again the recipe has more to it */
    struct myr_layout base;          /* what all layouts share */
};

void fit_space_init(struct fit_space *space, struct myr_arena *arena,
                    const struct myr_fit_query *query, enum myr_precision precision);

/* Zero-bubble on one stage is 1F1B, and counted as that. */
bool fit_schedule_allowed(const struct myr_fit_query *query, enum myr_schedule schedule,
                          uint32_t pp);
/* Is this choice among those asked for? 'layers' as in struct myr_layout; ALL: every one. */
bool fit_recompute_allowed(const struct fit_space *space, enum myr_recompute recompute,
                           uint32_t layers, uint32_t chunk_most);
/* The widths that the query allows: tp, cp, sequence parallelism, ep, etp; false when at an end. */
bool fit_width_next(const struct fit_space *space, struct myr_layout *layout, bool *started);
/* Orders that differ for these sizes, of those that the trainer can be told. */
uint32_t fit_orders(const struct fit_space *space, const struct myr_layout *layout,
                    enum myr_axis orders[FIT_ORDERS_MAX][MYR_LAYOUT_ORDER_COUNT]);

/* With all layers of a chunk, and with a number of them: what is asked for of so large a chunk. */
static inline uint32_t fit_layers_again(const struct myr_fit_query *query, uint32_t chunk_most)
{
    uint32_t wanted = query->recompute_layers;
    return wanted && wanted < chunk_most ? wanted : chunk_most;
}

/* Are shards smaller than all replicas searched? Not where a stage is asked for by itself. */
static inline bool fit_shards(const struct fit_space *space)
{
    const struct myr_fit_query *q = space->query;
    return q->shard == 0 && q->zero < 0 && q->it.stack->shards;
}

/* A stage that is asked for, or one that the trainer has. */
static inline bool fit_zero_allowed(const struct myr_fit_query *query, uint32_t zero, uint32_t pp)
{
    return query->zero >= 0 ? query->zero == (int)zero : query->it.stack->zero[pp > 1] >> zero & 1;
}

static inline bool fit_allowed(uint32_t wanted, uint32_t value)
{
    return wanted == 0 || wanted == value;
}

/* Keeping the best: one layout of each grid (tp, cp, pp, ep, precision). */

/* What a layout of this grid must beat to be kept. */
double fit_best_limit(const struct myr_fit_answer *answer, uint32_t top,
                      const struct myr_layout *layout);
/* Ties go to the layout that fit_layout_before() puts first, whoever was met first. */
bool fit_best_wants(const struct myr_fit_answer *answer, uint32_t top,
                    const struct myr_layout *layout, double step_s);
void fit_best_add(struct myr_fit_answer *answer, uint32_t top, const struct myr_layout *layout,
                  double step_s);

/* The search, without a word about why nothing was found. */
void fit_search_quietly(const struct myr_fit_query *query, struct myr_arena *arena,
                        struct myr_fit_answer *ret);
void fit_exhaust(const struct fit_space *space, struct myr_fit_answer *answer);
/* Nothing was found: what came nearest, and what would work. */
int fit_refuse(const struct myr_fit_query *query, struct myr_arena *arena,
               struct myr_fit_answer *answer, struct myr_err *err);
