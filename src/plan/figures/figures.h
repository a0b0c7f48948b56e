/*
 * figures: the numbers of a plan that have a rule each. Private to the planner.
 *
 * One table says for every figure its path in the answer, its unit and its rule; whoever computes
 * one adds the value and what went into it. So the tree for programs, the explanation and the
 * document cannot drift apart.
 */
#pragma once

#include "figures/rows.h"
#include "plan_internal.h"

/* Positions are for this program alone; files have paths. */
enum figure_id {
#define X(id, path, unit, digits, title, rule) FIG_##id,
    FIGURES(X)
#undef X
        FIG_COUNT,
};

/* How many figures stand in the block of one compared kind of cooling. */
enum { FIG_COMPARED = FIG_WITH_PLATE_PUE - FIG_WITH_AIR_PUE };

/* Adds one; 'inputs' is what went into it. The same figure twice is a bug. */
MYR_PRINTF(5, 6)
void plan_figure(struct plan *plan, enum figure_id id, double value, enum myr_basis basis,
                 const char *inputs, ...);
void plan_figure_word(struct plan *plan, enum figure_id id, const char *word, enum myr_basis basis);
/* The value of one that was added, put right by a later step. */
MYR_PRINTF(4, 5)
void plan_figure_again(struct plan *plan, enum figure_id id, double value, const char *inputs, ...);
/* One that was added, and turned out to be none. */
void plan_figure_drop(struct plan *plan, enum figure_id id);
/* By which rule it comes about. */
const char *plan_figure_rule(enum figure_id id);
/* What people call the figure of a path; NULL where there is none of that path. */
const char *plan_figure_title(const char *path);
/* Rule and unit of the figure of a path; NULL where there is none of that path. */
const char *plan_figure_rule_at(const char *path, const char **ret_unit);
/*
 * A unit for people: money of this path in its currency. What is paid over the years is in the
 * bill's, what energy costs in the tariff's. Other units are as they are.
 */
const char *plan_figure_unit(const struct myr_design *design, struct myr_arena *arena,
                             const char *path, const char *unit);
/* Of a figure that was added; 0 for others; and the word of one, "" for others. */
double plan_figure_value(const struct plan *plan, enum figure_id id);
const char *plan_figure_said(const struct plan *plan, enum figure_id id);

/* spares.c: behind the last line of the bill. */
void plan_spares(struct plan *plan);

/* The objects of the answer between two figures, both included: 'power', 'cooling', ... */
void plan_figures_tree(const struct myr_design *design, struct myr_answer *answer,
                       enum figure_id first, enum figure_id last, uint32_t skip);
/* One of them under another name; null in designs of older programs. */
void plan_figure_put(const struct myr_design *design, struct myr_answer *answer, const char *key,
                     enum figure_id id);
/* Why a plan has no cost of the years: what is not known of the bill, or of its currency. */
const char *plan_years_missing(const struct plan *plan, struct myr_arena *arena);
/* Why a figure of that path is not in the design. */
const char *plan_figure_missing(const struct myr_design *design, struct myr_arena *arena,
                                const char *path);
/* Its value; 0 where there is none. */
double plan_figure_of(const struct myr_design *design, enum figure_id id);
/* The word of one that is a word; "" where there is none. */
const char *plan_figure_text(const struct myr_design *design, enum figure_id id);
/* The list 'figures': all of them, with rule, inputs and basis. */
const struct myr_value *plan_figures_list(const struct myr_design *design,
                                          struct myr_answer *answer);
