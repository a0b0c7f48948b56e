/*
 * explain: why a gang got these nodes, why it got none, and the least that would start it.
 */
#pragma once

#include "myriad/sched/defrag.h"

#define MYR_CHANGES(X)              \
    X(DROP_LIMIT, "drop-limit")     \
    X(DROP_SPREAD, "drop-spread")   \
    X(DROP_KIND, "drop-kind")       \
    X(DROP_EXCLUDE, "drop-exclude") \
    X(FEWER_NODES, "fewer-nodes")   \
    X(FREE_NODES, "free-nodes")     \
    X(REOPEN_NODES, "reopen-nodes") \
    X(DEFRAGMENT, "defragment")

enum myr_change_kind {
#define MYR_CHANGE_ENUM(name, text) MYR_CHANGE_##name,
    MYR_CHANGES(MYR_CHANGE_ENUM)
#undef MYR_CHANGE_ENUM
        MYR_CHANGE_COUNT
};

const char *myr_change_name(enum myr_change_kind kind);
const char *myr_level_name(enum myr_level level);

/* GPUs of one node that go to another. */
struct myr_change_move {
    uint32_t from, to, gpus;
};

enum { MYR_CHANGE_MOVES_MAX = 16 };

/* One thing that is enough, alone: it was made in a copy, and the gang was placed there. */
struct myr_change {
    enum myr_change_kind kind;
    uint32_t nodes;       /* fewer, free, reopen: how many */
    uint32_t leaves;      /* drop limit: that the gang then lies under */
    enum myr_level level; /* free, defragment: of the unit; CORE: anywhere */
    uint32_t unit;
    uint64_t migrations, gpus_moved; /* defragment */
    double gpu_hours;
    double size; /* in nodes that are disturbed: changes are sorted by it */
};

struct myr_reasons {
    bool fits;
    uint32_t wanted, most; /* nodes that would fit now, with all constraints */
    /* Where the nodes are: they sum to the cluster. */
    uint32_t nodes_free, nodes_partly, nodes_busy, nodes_closed, nodes_unsuitable;
    uint32_t leaf_most, pod_most; /* free suitable nodes of the freest ones */
    uint32_t leaf_best, pod_best; /* which these are */
    uint32_t change_count;
    struct myr_change changes[MYR_CHANGE_COUNT];
    /* Defragment: the moves, as far as there is room for them. */
    struct myr_change_move moves[MYR_CHANGE_MOVES_MAX];
};

/* Jobs may be NULL with a count of 0: then nothing is said about moving them. */
void myr_explain(struct myr_placer *placer, const struct myr_request *request,
                 const struct myr_running *jobs, uint32_t job_count, struct myr_reasons *ret);

/* The same in sentences, one a line; 'cost' is the placement's, or NULL when there is none. */
void myr_explain_write(const struct myr_placer *placer, const struct myr_request *request,
                       const struct myr_reasons *why, const struct myr_place_cost *cost,
                       struct myr_buf *buf);
