/*
 * contention: how much slower a pattern runs than on an empty fabric, as a table.
 *
 * For a design and a load-balance policy: the slowdown of rings, all-to-alls and permutations of
 * jobs that lie under one leaf, in one pod or anywhere, when one such job runs and when jobs like
 * it fill a quarter, half and all of the fabric. Computed once in seconds, stored beside the
 * design, looked up by whoever must guess many placements quickly.
 *
 * A slowdown is line rate of a GPU's NIC over the fair rate that its flow gets; 1 is undisturbed.
 * Jobs have MYR_CONTENTION_NODES nodes, fewer where a leaf holds fewer; nodes are drawn at random
 * inside the level. A ring and a whole all-to-all between nodes (all shifts at once, each to
 * another rail) move in lockstep: the slowest flow counts. Flows of a permutation are on their own:
 * the mean counts.
 */
#pragma once

#include "myriad/sim/engine.h"

#define MYR_CONTENTION_NODES 16

enum myr_contention_pattern {
    MYR_CONTENTION_RING,
    MYR_CONTENTION_ALL_TO_ALL,
    MYR_CONTENTION_PERMUTATION,
    MYR_CONTENTION_PATTERNS,
};

enum myr_contention_level {
    MYR_CONTENTION_LEAF, /* nodes on one leaf (of each rail) */
    MYR_CONTENTION_POD,
    MYR_CONTENTION_FABRIC,
    MYR_CONTENTION_LEVELS,
};

enum { MYR_CONTENTION_LOADS = 4 }; /* one job, a quarter, half, all */

extern const char *const myr_contention_pattern_names[MYR_CONTENTION_PATTERNS];
extern const char *const myr_contention_level_names[MYR_CONTENTION_LEVELS];

struct myr_contention_cell {
    double mean, worst; /* slowdown over jobs */
    uint32_t jobs;
};

struct myr_contention {
    enum myr_policy policy;
    uint64_t seed;
    uint32_t net, gpus, links; /* of the design: a table fits one fabric only */
    double loads[MYR_CONTENTION_LOADS];
    struct myr_contention_cell cells[MYR_CONTENTION_PATTERNS][MYR_CONTENTION_LEVELS]
                                    [MYR_CONTENTION_LOADS];
};

/* 'progress' (may be NULL) hears of every row of the table, a pattern on a level. */
MYR_MUST_USE int myr_contention_compute(struct myr_graph *graph,
                                        const struct myr_balance_options *balance,
                                        myr_sim_progress *progress, void *context,
                                        struct myr_contention *ret, struct myr_err *err);

/* As JSON. Reading checks everything; nothing is promised about a file that was edited. */
MYR_MUST_USE int myr_contention_write(const struct myr_contention *table, const char *path,
                                      struct myr_err *err);
MYR_MUST_USE int myr_contention_read(const char *path, struct myr_contention *ret,
                                     struct myr_err *err);

/* Where the table of a design lies: "DIR/contention.json" for "DIR/design.myr". In the arena. */
const char *myr_contention_path(struct myr_arena *arena, const char *design);

/* The same of a text; 'file' is for messages. */
MYR_MUST_USE int myr_contention_parse(const char *file, struct myr_str text,
                                      struct myr_contention *ret, struct myr_err *err);

/* Mean slowdown at a load of 0 to 1, straight between the loads computed. */
double myr_contention_lookup(const struct myr_contention *table,
                             enum myr_contention_pattern pattern, enum myr_contention_level level,
                             double load);
