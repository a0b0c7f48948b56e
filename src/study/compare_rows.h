/* What the files of compare share. Private to the study. */
#pragma once

#include "myriad/model/spec_load.h"
#include "myriad/study/compare.h"

/* Everything that the question says in words, held against what there is. */
MYR_MUST_USE int compare_check(const struct myr_compare_question *question, struct myr_err *err);

/* One design planned or opened, with its way of spreading flows; 'prices' are those of all. */
MYR_MUST_USE int compare_open(struct myr_compare_side *side, struct myr_arena *arena,
                              const struct myr_catalog *catalog,
                              const struct myr_compare_question *question,
                              struct myr_price_file *prices, uint32_t index, struct myr_err *err);

/* The same of a design that is there: what trains on it, and how its switches spread flows. */
MYR_MUST_USE int compare_look(struct myr_compare_side *side, const struct myr_catalog *catalog,
                              const struct myr_compare_question *question, uint32_t index,
                              struct myr_err *err);

/* The rows and notes of designs that have been measured. */
MYR_MUST_USE int compare_fill(struct myr_design_comparison *comparison, struct myr_arena *arena,
                              struct myr_err *err);

/* The winner of each row, or why it has none; when every cell says whether it is known. */
void compare_judge(struct myr_design_comparison *all, struct myr_arena *arena);

/* "a" to "h". */
const char *compare_letter(uint32_t index);

/* A value as people read it: no more digits than the row has. */
const char *compare_number(struct myr_arena *arena, const struct myr_compare_row *row,
                           uint32_t index);
