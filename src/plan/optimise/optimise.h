/* optimise: what the steps of the search share. Private to the planner. */
#pragma once

#include "myriad/plan/optimise.h"
#include "plan_internal.h"

/* The spec of a point: the given one with its choices made. */
struct myr_spec optimise_spec(const struct myr_spec *spec, const struct myr_plan_point *point);

/* Sizes, cables and prices one point, without its cooling; then all kinds of cooling of it. */
void optimise_measure(struct myr_arena *keep, const struct myr_catalog *catalog,
                      const struct myr_optimum *optimum, struct myr_plan_point *points,
                      uint32_t count);

/* The racks of a point that was planned in full. */
void optimise_racks(const struct myr_design *design, struct myr_plan_point *point);

/* Which constraints the point breaks. */
uint32_t optimise_broken(const struct myr_optimum *optimum, const struct myr_plan_point *point);

/* True where a is better in the objective, or as good and named first. */
bool optimise_better(const struct myr_optimum *optimum, uint32_t a, uint32_t b);
int64_t optimise_value(const struct myr_plan_point *point, uint32_t metric);
