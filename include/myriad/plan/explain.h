/*
 * explain: how a number of a plan came about.
 *
 * A number is named by its path in the plan's answer: "networks.compute.switches.leaf",
 * "power.facility_kw", "bom.3.quantity"; those of a report besides are below "report", "next" and
 * "racks". The explanation is the rule and what went into it, each of
 * which has a path or a value of its own, so that one can go on asking.
 */
#pragma once

#include "myriad/plan.h"

struct myr_explained {
    const char *path;
    const struct myr_value *value;
    const char *unit, *basis, *rule, *inputs; /* "" where there is none; rule never is */
    const char *why; /* of a figure that this plan has not, whose value is null; else NULL */
};

struct myr_growth; /* plan/grow.h */

/*
 * Fills 'answer' with all that can be asked for: the plan's answer (myr_plan_answer), what its
 * report sums up ('report') and, unless 'next' is NULL, the phase after it ('next').
 */
void myr_plan_explain_tree(const struct myr_design *design, const struct myr_growth *next,
                           struct myr_answer *answer);

struct myr_plan_targets; /* plan/report.h */

/* Targets of acceptance beside them, below 'acceptance'. */
void myr_plan_explain_targets(const struct myr_plan_targets *targets, struct myr_answer *answer);

/*
 * The number of that path, or all below it; with "" every number of the tree. The list is in the
 * tree's order and lives in the answer's arena. MYR_ENOENT: there is no such number.
 */
MYR_MUST_USE int myr_plan_explain_path(const struct myr_design *design, struct myr_answer *answer,
                                       const char *path, struct myr_explained **ret,
                                       uint32_t *ret_count, struct myr_err *err);
