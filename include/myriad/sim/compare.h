/*
 * compare: two results of the simulator, figure by figure.
 *
 * A result is the JSON answer of a run, the list of its flows (--fct) or the rows of a sweep; both
 * files are of one kind. Each becomes a list of figures with a name: of a job, of all flows, of a
 * flow, of a point. Figures of one name are compared; what only one of the two has is told.
 */
#pragma once

#include "myriad/base.h"

enum myr_result_group {
    MYR_RESULT_RUN,   /* of the whole run, or percentiles of all flows */
    MYR_RESULT_JOB,   /* of a job: a collective */
    MYR_RESULT_FLOW,  /* of a single flow: how long it took */
    MYR_RESULT_POINT, /* of a point of a sweep */
    MYR_RESULT_GROUPS,
};
extern const char *const myr_result_groups[MYR_RESULT_GROUPS];

enum myr_results_kind { MYR_RESULTS_ANSWER, MYR_RESULTS_FLOWS, MYR_RESULTS_SWEEP };
extern const char *const myr_results_kinds[3];

struct myr_result_figure {
    enum myr_result_group group;
    const char *of, *name; /* "allreduce:ring,1MB", "end_us" */
    double value;
};

struct myr_results {
    enum myr_results_kind kind;
    MYR_VEC(struct myr_result_figure) figures; /* texts in the arena that was given */
};

/* 'file' is for messages. Release in any case. */
MYR_MUST_USE int myr_results_parse(struct myr_results *ret, struct myr_arena *arena,
                                   const char *file, struct myr_str text, struct myr_err *err);
MYR_MUST_USE int myr_results_read(struct myr_results *ret, struct myr_arena *arena,
                                  const char *path, struct myr_err *err);
void myr_results_done(struct myr_results *results);

struct myr_result_pair {
    enum myr_result_group group;
    const char *of, *name;
    double a, b;
    bool only_a, only_b; /* the other is not there */
    double part;         /* (b - a) / a; 0 where both are 0, 1 where a alone is */
    bool beyond;
};

struct myr_results_difference {
    struct myr_result_pair *pairs; /* as the first file has them, then what only the second has */
    uint32_t count;
    uint32_t beyond, only_a, only_b;
    double worst; /* the largest part, whichever way */
};

/* Beyond: more than 'tolerance' of the first's value apart, or missing in one of the two. */
MYR_MUST_USE int myr_results_compare(struct myr_results_difference *ret, struct myr_arena *arena,
                                     const struct myr_results *a, const struct myr_results *b,
                                     double tolerance, struct myr_err *err);

/*
 * What is shown: the figures of the run and its jobs, which are few, and of flows and points those
 * beyond ('all': every one), the farthest apart first, at most so many. The number of them.
 */
uint32_t myr_results_listed(const struct myr_results_difference *found, struct myr_arena *arena,
                            bool all, uint64_t most, const struct myr_result_pair ***ret,
                            uint32_t *ret_left_out);
