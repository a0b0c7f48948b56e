/*
 * case: a question about one training job, as a value.
 *
 * Everything that shapes a step stands in it: the model, the device and the trainer's release, the
 * fabric below them, the batch, and the layout or those axes of it that are fixed. 'fit', 'goodput'
 * and 'sched place' ask here, so that the same layout takes the same time whoever asks:
 *
 *     myr_case_init()    names looked up, files read, everything held against everything else
 *     myr_case_answer()  the best layouts, or the one that was given
 *     myr_case_price()   time and memory of one layout, ranks where a placement puts them
 *
 * A layout travels in a file (YAML, docs/fit.md), which holds all of struct myr_layout: what a
 * layout leaves to defaults, such as the width of gradients, decides its step too.
 *
 * A case points into itself (its query names its model, its topology): it must not be moved. What
 * it was made from lives in the arena of myr_case_init(); the design is mapped until
 * myr_case_done(), which takes a zeroed or half-made case too.
 */
#pragma once

#include "myriad/fit/interval.h"
#include "myriad/fit/search.h"

#define MYR_CASE_SOFTWARE "NeMo 25.05" /* for GPUs of several kinds, where none is named */

/* Names and numbers as people give them. NULL, 0 and, where 0 means something, -1: not given. */
struct myr_case_question {
    const char *model;    /* a built-in name, the beginning of one, or a file */
    const char *device;   /* of a profile, in place of that of the design */
    const char *software; /* a release; else MYR_CASE_SOFTWARE */
    const char *recipe;   /* capabilities that are stated: "cuda_graphs=full,..." */
    const char *profile;  /* a file with constants of the user's own */
    const char *design;   /* a file; 'contention.json' beside it is used where there is one */
    const struct myr_design *planned;        /* in place of a file; outlives the case */
    const struct myr_contention *contention; /* of 'planned', or NULL */
    const char *layout;                      /* a file: then nothing of the layout is open */
    /* What is in these files, where somebody has read them before; or NULL. */
    const struct myr_model *model_read;
    const struct myr_doc *profile_doc, *layout_doc;
    uint64_t gpus;  /* else those of the layout, or all of the design */
    uint64_t batch; /* sequences; else the layout's */
    uint64_t seq;   /* tokens; else the layout's, or the model's */
    uint64_t tp, pp, vp, dp, cp, ep, etp, micro_batch, shard, recompute_layers, offload_layers;
    uint64_t nic_gbps, link_gbytes, memory_gib; /* in place of the device's; 0: as it has them */
    int zero, recompute, precision, sequence_parallel;
    int schedule;       /* enum myr_schedule, MYR_FIT_SCHEDULE_STACK, MYR_FIT_SCHEDULE_ANY */
    bool any_precision; /* all that the device is faster with */
    bool pooled;        /* GPUs of several kinds: neither device nor number is needed */
    uint32_t top;       /* layouts wanted; 0: one */
    bool exhaustive;
    myr_fit_progress *progress; /* of 'exhaustive', or NULL */
    void *progress_context;
};

struct myr_case_question myr_case_question_default(void);

struct myr_case {
    struct myr_profiles profiles;
    struct myr_model model;
    struct myr_design design; /* where there is one */
    struct myr_fit_topology topology;
    struct myr_layout layout; /* where it was given */
    struct myr_fit_query query;
    struct myr_stated stated; /* what the question says of the recipe */
    struct myr_recipe recipes[MYR_PRECISION_COUNT];
    bool has_design, has_layout;
    const char *design_gpu; /* the design's, where 'device' names other GPUs than those; or NULL */
    const char *contention; /* the file that says what flows lose where they meet; NULL: none */
    bool stack_exact;       /* the release is known */
    const char *release;    /* as asked for, where another one stands for it; or NULL */
    bool has_seq;           /* the length of sequences was asked for */
};

/* MYR_EINVAL and its neighbours for bad input, with 'file:line:column' where there is a file. */
MYR_MUST_USE int myr_case_init(struct myr_case *ret, struct myr_arena *arena,
                               const struct myr_case_question *question, struct myr_err *err);
void myr_case_done(struct myr_case *it);

/* The axes that a question fixes, and the precision; all else of the query stays as it is. */
void myr_case_axes(const struct myr_case_question *question, struct myr_fit_query *query);

/*
 * The best layouts, the best first; with a given layout that one alone. Errors as of
 * myr_fit_search().
 */
MYR_MUST_USE int myr_case_answer(const struct myr_case *it, struct myr_arena *arena,
                                 struct myr_fit_answer *ret, struct myr_err *err);

/* How far the step of a layout may be off, and what measured run that rests on. */
struct myr_fit_spread myr_case_spread(const struct myr_case *it, const struct myr_layout *layout,
                                      const struct myr_fit_cost *cost);

struct myr_case_price {
    struct myr_fit_cost cost;
    double low_s, high_s; /* the step is between them, nine times of ten */
    struct myr_fit_spread spread;
    struct myr_fit_memory memory;
    struct myr_fit_topology topology; /* as the placement leaves it; zero without a design */
};

/*
 * Time and memory of a layout. 'placement' names the nodes in the order of ranks; NULL: ranks fill
 * the fabric from its first node on, as the search takes them to. A layout that does not fit has a
 * price all the same: 'memory.fits' says so. Only a bad placement is an error.
 */
MYR_MUST_USE int myr_case_price(const struct myr_case *it, const struct myr_layout *layout,
                                const struct myr_fit_placement *placement, struct myr_arena *arena,
                                struct myr_case_price *ret, struct myr_err *err);

/*
 * The layout on at most 'nodes_most' nodes, with fewer replicas: the most that the batch, the
 * experts and the model allow. Returns the nodes, 0 when not even one replica works. 'model' may
 * be NULL, then its rules are not asked.
 */
uint32_t myr_layout_shrink(const struct myr_layout *layout, const struct myr_model *model,
                           uint32_t gpus_per_node, uint32_t nodes_most, struct myr_layout *ret);

/* The layout as a file. 'title' is a line for people, such as the model and the GPUs; or NULL. */
void myr_layout_file_write(const struct myr_layout *layout, const char *title, struct myr_buf *buf);
