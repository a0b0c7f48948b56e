/*
 * acceptance: what a design is held to when it is handed over, where the planner alone cannot say.
 *
 * Collectives come from the simulator, on the first 2, 8, 32, ... nodes and on all of them; the
 * step of a model from the trainer's model on that fabric; the stops of a window from published
 * rates of failure. Each says what it rests on, by which rule it came about and how far it reaches:
 * none of it was measured on the cluster that is offered.
 */
#pragma once

#include "myriad/fit.h"
#include "myriad/plan/report.h"

struct myr_acceptance_question {
    const struct myr_design *design; /* outlives the targets */
    const char *model;               /* a built-in name or a file; NULL: no training */
    uint64_t batch;                  /* sequences; with a model */
    uint64_t seed;                   /* of hashes */
};

/* In 'arena'. What cannot be said of this design has no target, and 'ret->lacking' says why. */
MYR_MUST_USE int myr_acceptance_targets(struct myr_arena *arena, const struct myr_catalog *catalog,
                                        const struct myr_acceptance_question *question,
                                        struct myr_plan_targets *ret, struct myr_err *err);
