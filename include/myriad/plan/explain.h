/*
 * explain: how a number of a plan came about.
 *
 * A number is named by its path in the plan's answer: "networks.compute.switches.leaf",
 * "power.facility_kw", "bom.3.quantity". The explanation is the rule and what went into it, each of
 * which has a path or a value of its own, so that one can go on asking.
 */
#pragma once

#include "myriad/plan.h"

struct myr_explained {
    const char *path;
    const struct myr_value *value;
    const char *unit, *basis, *rule, *inputs; /* "" where there is none; rule never is */
};

/* 'answer' holds the plan's tree (myr_plan_answer). MYR_ENOENT: there is no such number. */
MYR_MUST_USE int myr_plan_explain_path(const struct myr_design *design, struct myr_answer *answer,
                                       const char *path, struct myr_explained *ret,
                                       struct myr_err *err);

/* Every number of the tree, in its order; the list lives in the answer's arena. */
struct myr_explained *myr_plan_explain_all(const struct myr_design *design,
                                           struct myr_answer *answer, uint32_t *ret_count);
