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

/* Lists of ZeRO stages and of schedules, as bits; without a list what is usual. */
MYR_MUST_USE int fit_stages_read(const struct myr_doc *map, const char *key, uint32_t otherwise,
                                 uint32_t *ret, struct myr_err *err);
MYR_MUST_USE int fit_schedules_read(const struct myr_doc *map, uint32_t *ret, struct myr_err *err);
