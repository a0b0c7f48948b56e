/* run_recipe: what a row of measured runs says of its recipe, by column and in its note. */
#pragma once

#include "myriad/fit/runs.h"

/* Fields of a row that speak of its recipe, as they stand there; empty where there is no column. */
struct fit_recipe_fields {
    struct myr_str of[MYR_CAPABILITY_COUNT]; /* trimmed; the column of each capability */
    struct myr_str note, offload;
};

/* What the row states of its recipe and of what it keeps on the host; NULL, or why not. */
const char *fit_run_recipe(struct myr_arena *arena, const struct fit_recipe_fields *fields,
                           struct myr_run *run);
