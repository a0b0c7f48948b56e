/*
 * optimise: the cheapest, or otherwise best, design that a spec's constraints allow.
 *
 * The spec lists values for what it leaves open; the space is their product. Every point of it is
 * sized, cabled and priced by the planner itself, so that nothing is estimated: what remains open
 * is only which points to compare, and all are. The best three are then planned in full, in the
 * room if there is one, and held against the parts; one that fails there is struck out.
 */
#pragma once

#include "myriad/plan.h"

enum myr_point_state {
    MYR_POINT_REFUSED,  /* cannot be built */
    MYR_POINT_FAULTY,   /* a finding of severity error that is not accepted */
    MYR_POINT_UNPRICED, /* money decides, and a part of the compute network has no price */
    MYR_POINT_LIMITED,  /* breaks a constraint */
    MYR_POINT_GOOD,
    MYR_POINT_STATE_COUNT,
};

/* Pieces of a part whose price is assumed, and how far that may be off for each. */
struct myr_assumed_line {
    uint32_t part;
    double pieces, down_cents, up_cents;
};

/* Whole numbers, so that the same is best everywhere: cents, watts, thousandths of Gb/s, counts. */
struct myr_plan_point {
    uint32_t at[MYR_CHOICE_COUNT]; /* position in each list of choices */
    enum myr_point_state state;
    uint32_t broken; /* bits of the constraints that it breaks */
    int64_t metric[MYR_METRIC_COUNT];
    bool known[MYR_METRIC_COUNT];
    uint32_t leaf, spine, core; /* switches of the compute network */
    int64_t plant_cents;        /* of the cooling plant, in both sums: where its kind is a choice */
    struct myr_assumed_line *assumed; /* where money decides */
    uint32_t assumed_count;
    const char *why; /* of a point that is not good */
};

/* What loosening one constraint would win. */
struct myr_relaxed {
    uint32_t metric; /* which constraint */
    uint32_t point;  /* what would then be allowed */
    int64_t more;    /* by how much the limit has to move */
    int64_t saves;   /* of the objective */
    bool binds;      /* false: nothing better lies beyond it */
};

struct myr_optimum {
    const struct myr_spec *spec;
    struct myr_plan_point *points;
    uint32_t count;
    uint32_t by_state[MYR_POINT_STATE_COUNT];
    uint32_t *best; /* positions, the best first */
    uint32_t best_count;
    uint32_t *front;
    uint32_t front_count;
    uint32_t planned, struck; /* of the best: planned in full; struck out by that */
    bool exact;
    int64_t limits[MYR_METRIC_COUNT]; /* in the units of the metrics; INT64_MAX: none */
    struct myr_design design;         /* of the best one, planned in full */
};

#define MYR_OPTIMISE_POINTS_MAX 100000

/* Everything lives in 'arena'. Where no point is good, best_count is 0. */
MYR_MUST_USE int myr_optimise(struct myr_arena *arena, const struct myr_catalog *catalog,
                              const struct myr_spec *spec, struct myr_optimum *ret,
                              struct myr_err *err);

/*
 * Where money is the objective: the first point that might be cheaper than the best with assumed
 * prices elsewhere within their range. What nobody has quoted decides nothing. MYR_NONE: there is
 * none, and the best has won.
 */
uint32_t myr_optimise_undecided(const struct myr_optimum *optimum);
/* The parts, at most 'room', whose assumed prices decide between the best and such a point. */
uint32_t myr_optimise_doubted(const struct myr_optimum *optimum, uint32_t other, uint32_t *ret,
                              uint32_t room);

/* What the tightest constraint of a point keeps from it; false: there is none. */
bool myr_optimise_relax(const struct myr_optimum *optimum, uint32_t point, uint32_t metric,
                        struct myr_relaxed *ret);

/* The answer for programs and the page beside it. */
void myr_optimise_answer(const struct myr_optimum *optimum, const struct myr_catalog *catalog,
                         struct myr_answer *answer);
