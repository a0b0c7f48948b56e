/*
 * churn: a cluster on which jobs come and go, with the time of each decision.
 *
 * bench.c says what is measured; this keeps the jobs, so that the cluster stays as full as it is
 * meant to be.
 */
#pragma once

#include "decisions.h"
#include "myriad/sched/request.h"

enum { SIZES_MAX = 64, CHURN_JOBS = 8 };

/* Times of one kind of decision. */
struct timing {
    enum myr_bench_kind kind;
    const char *layout; /* NULL: none */
    uint32_t nodes;
    uint32_t failed;     /* decisions that found no room */
    MYR_VEC(int64_t) ns; /* one for each decision */
};

struct churn_job {
    struct myr_gang gang;
    uint32_t nodes; /* 0: no job */
};

struct churn {
    struct myr_placer *placer;
    struct myr_place_shape shape;
    struct churn_job *jobs;
    uint32_t job_count, job_room;
    struct timing sizes[SIZES_MAX];
    uint32_t size_count;
    int64_t busy_ns;    /* placing and releasing while it is timed */
    uint64_t decisions; /* that were timed */
    double fill;        /* sum over the decisions that were timed */
};

/* CPU time of this thread. */
int64_t churn_cpu_ns(void);

void churn_init(struct churn *c, const struct myr_place_shape *shape);
void churn_done(struct churn *c);
/* The job with this number starts, where it fits, or ends. */
bool churn_place(struct churn *c, uint32_t nodes, bool timed, struct churn_job *ret);
void churn_release(struct churn *c, struct churn_job *job, bool timed);
/* 95 % of the cluster in the mix of docs/sched.md. */
void churn_fill(struct churn *c, struct myr_rng *rng);
/* Eight random jobs leave, eight of the same sizes come. */
void churn_once(struct churn *c, struct myr_rng *rng, bool timed);
/* As full as it was, or as a gang of so many nodes allows. */
void churn_refill(struct churn *c, uint32_t nodes);
/* Single nodes anywhere end and start, so that so many are free; none has a neighbour for long. */
void churn_scatter(struct churn *c, uint32_t nodes, struct myr_rng *rng);
void churn_empty(struct churn *c);
