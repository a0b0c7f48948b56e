/*
 * bench: the time of placement decisions on a full, churned cluster.
 *
 * Times are CPU time of the thread: on a shared machine wall time measures the neighbours. The
 * churn is that of docs/sched.md: jobs of 1 to 1,024 nodes (scaled to the cluster) fill 95 %, then
 * eight random ones leave and eight of the same sizes come, again and again. Or it is played from a
 * file of events, so that another scheduler can be given the same jobs:
 *
 *     place,JOB,NODES
 *     release,JOB
 *     measure            from here on decisions are timed
 *
 * Everything but the times follows from the seed.
 */
#pragma once

#include "myriad/sched/cluster.h"

enum { MYR_BENCH_NODES_MIN = 12, MYR_BENCH_JOBS_MAX = 1000000 };

struct myr_bench_question {
    struct myr_cluster_question cluster; /* not given: 12,500 nodes, 32 a leaf, 16 leaves a pod */
    const char *events;                  /* a file, or "-"; NULL: churn of its own */
    uint64_t seed;
    /* Called between measurements; NULL: never. */
    void (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
};

enum myr_bench_kind {
    MYR_BENCH_GANG,      /* without a layout, during churn */
    MYR_BENCH_LAYOUT,    /* with rank order, churn before every decision */
    MYR_BENCH_SCATTERED, /* the same where only single nodes are free */
    MYR_BENCH_LARGE,     /* nearly all of an empty cluster */
    MYR_BENCH_CHANGE,    /* a node leaves or comes back */
    MYR_BENCH_DEFRAG,    /* a plan to free nodes by moving jobs */
    MYR_BENCH_ALL,       /* all gangs during churn */
};

const char *myr_bench_kind_name(enum myr_bench_kind kind);

struct myr_bench_row {
    enum myr_bench_kind kind;
    const char *layout; /* NULL: none */
    uint32_t gang_nodes;
    uint64_t decisions, placed;
    double p50_us, p99_us, max_us;
};

struct myr_bench_answer {
    struct myr_cluster cluster;
    double fill_percent; /* mean over the decisions that were timed */
    double decisions_per_s;
    struct myr_bench_row *rows; /* in the arena; the first one sums up the gangs */
    uint32_t row_count;
    bool has_defrag;
    uint64_t defrag_gpus_moved, defrag_gpus_least;
};

MYR_MUST_USE int myr_bench_ask(const struct myr_bench_question *question, struct myr_arena *arena,
                               struct myr_bench_answer *ret, struct myr_err *err);

/* One line of an events file. */
enum myr_bench_event_kind { MYR_EVENT_PLACE, MYR_EVENT_RELEASE, MYR_EVENT_MEASURE };

struct myr_bench_event {
    enum myr_bench_event_kind kind;
    uint32_t job, nodes;
};

/* What may stand in an events file, and is checked: jobs start before they end, and once. */
struct myr_bench_events {
    MYR_VEC(struct myr_bench_event) items;
};

MYR_MUST_USE int myr_bench_events_parse(struct myr_bench_events *events, const char *file,
                                        struct myr_str text, uint32_t nodes, struct myr_err *err);
void myr_bench_events_done(struct myr_bench_events *events);
