/* dates: months that a name states, and the release of a line that ran then. */
#pragma once

#include "myriad/fit/profile.h"

/*
 * The last release number in a name: "26.04.01" is 26.0401, "0.12" comes after "0.8" and "2023-06"
 * lies in 2023. Each part after the first counts two digits.
 */
double fit_release_order(struct myr_str version);
/* The first year named, from 2000 to 2099; 0 when there is none. */
uint32_t fit_word_year(struct myr_str text);
/* The first month named, as 202506 or 2025-06, in that first form; 0 when there is none. */
uint32_t fit_word_month(struct myr_str text);

/* Of the stack's line, the last release that was there in that month; where none was, the first. */
const struct myr_stack *fit_stack_then(const struct myr_profiles *profiles,
                                       const struct myr_stack *stack, uint32_t month);
/* The same of a month that the name states; a year alone may have been its first one. */
const struct myr_stack *fit_stack_dated(const struct myr_profiles *profiles,
                                        const struct myr_stack *stack, struct myr_str name);
