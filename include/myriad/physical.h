/*
 * physical: whether a finished design can be plugged together, and what its cables carry.
 *
 * The planner chooses parts by rules of its own. Here the finished design is held against the parts
 * once more, by rules that were written apart: this module knows the model (design and catalogue)
 * and nothing of the planner, so a mistake there is not repeated here. What the catalogue does not
 * state about a part is not judged.
 *
 * Work is done by kinds: every joint (cable type, and the ports at its two ends) is judged once,
 * cages and cables are passed over once. Findings of one kind at one place are one, with a count.
 */
#pragma once

#include "myriad/base.h"
#include "myriad/model.h"

struct myr_physical_finding {
    const char *rule;  /* "physical-module-top" */
    const char *also;  /* rules by which the planner says the same, separated by blanks; or NULL */
    const char *where; /* network and layer, or network and kind of device */
    const char *message;
    const char *remedy;
    uint64_t places; /* how often */
};

struct myr_physical {
    MYR_VEC(struct myr_physical_finding) findings;
};

/* Texts live in 'arena'. The result is empty when everything fits. */
void myr_physical_check(struct myr_arena *arena, const struct myr_catalog *catalog,
                        const struct myr_design *design, struct myr_physical *ret);
void myr_physical_done(struct myr_physical *physical);

/* By maximum flow over the cables of a network; docs/planning.md says which halves. */
void myr_physical_bisection(const struct myr_design *design, uint32_t net,
                            struct myr_bisection *ret);

/* One row a rule, for manuals and tests; name NULL at the end. */
struct myr_physical_rule {
    const char *name, *also, *remedy;
};
extern const struct myr_physical_rule myr_physical_rules[];
