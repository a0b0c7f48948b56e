/* recipe: capabilities read from the program's own data and from users' files. Private. */
#pragma once

#include <stdio.h>

#include "myriad/fit/profile.h"

/* The capabilities that a map names. */
MYR_MUST_USE int fit_recipe_read(const struct myr_doc *map, struct myr_stated *ret,
                                 struct myr_err *err);
MYR_MUST_USE int fit_rule_read(const struct myr_profiles *profiles, struct myr_arena *arena,
                               const struct myr_doc *map, struct myr_recipe_rule *ret,
                               struct myr_err *err);
