/*
 * place_answer: a question about one gang on a design, and its answer, as values.
 *
 * The question holds names and numbers as people give them. myr_place_ask() reads the design, what
 * runs on it and the layout, finds the best nodes and the order of the ranks, prices the step by
 * the case that 'fit' prices it by (fit/case.h), and says why: where the gang lies, or what would
 * let it start. An elastic gang ('min_nodes') takes the most nodes that are free and that its
 * layout, batch and model allow.
 *
 * The layout comes from a file, or from its axes: with a model the rest of it is what 'fit' finds
 * best for those axes, without one it does not matter.
 */
#pragma once

#include "myriad/fit/case.h"
#include "myriad/sched/explain.h"
#include "myriad/sched/state.h"

/* NULL and 0: not given. */
struct myr_place_question {
    const char *design; /* a file */
    const char *state;  /* what runs where: a file, or "-" */
    uint64_t nodes, gpus_per_node, min_nodes;
    const char *layout; /* a file */
    uint64_t tp, pp, dp, cp, ep;
    const char *model, *device;
    const char *software, *recipe, *profile; /* the stack, as fit is asked for it */
    uint64_t batch, seq;
    bool limited; /* to 'within' */
    enum myr_level within;
    uint64_t hops; /* switches between two nodes: another way to say 'within' */
    uint64_t leaf_max, rack_max, row_max;
    const char *gpu_kind, *exclude;
    int64_t (*clock_ns)(void); /* to time the decision; NULL: it is not timed */
};

struct myr_place_answer {
    struct myr_design design;
    struct myr_place_shape shape;
    struct myr_placer *placer; /* the gang is in it */
    struct myr_sched_state state;
    struct myr_request request; /* as asked in the end: an elastic gang may have shrunk */
    uint32_t nodes_asked;
    bool has_layout, has_model;
    struct myr_layout layout;
    struct myr_job_traffic traffic;
    struct myr_case it; /* where there is a model */
    bool placed;
    struct myr_placement placement; /* in rank order */
    double best_groups_cost;        /* on an empty cluster of the same shape */
    double unit_bytes;              /* what the gang's nodes send each other in a step */
    /* Where there is a model: on these nodes, and with ranks along the fabric from its start. */
    struct myr_case_price price, best_price;
    struct myr_reasons why;
    const char **sentences; /* the same for people */
    uint32_t sentence_count;
    int64_t took_ns;
};

/*
 * MYR_OK whether or not the gang was placed. 'ret' must not be moved: its case points into itself.
 * On failure there is nothing to be done with it.
 */
MYR_MUST_USE int myr_place_ask(const struct myr_place_question *question, struct myr_arena *arena,
                               struct myr_place_answer *ret, struct myr_err *err);
void myr_place_answer_done(struct myr_place_answer *answer);

/* The leaves that a placed gang touches, its nodes coloured by pipeline stage, as SVG. */
void myr_place_draw(const struct myr_place_answer *answer, struct myr_buf *buf);
