/*
 * reduce: from a run that breaks an invariant to a small case that breaks the same one.
 */
#pragma once

#include "myriad/twin/search.h"

/*
 * The scenario, which breaks a rule at result->broken.seed, is changed into the small case, and
 * result->broken into that case's run.
 */
void twin_reduce(struct myr_scenario *scenario, const struct myr_search_options *options,
                 struct myr_search_result *result);
