/*
 * vary: other worlds than the one that was given: less trouble or more, of kinds that it has, other
 * policies, sizes and patience.
 */
#pragma once

#include "myriad/twin/scenario.h"

/* Each kind of trouble is left out, as given, or several times as frequent. */
void vary_trouble(struct myr_scenario *s, const struct myr_scenario *given, struct myr_rng *rng);
/* Beside that what people choose: the policy, spares, limits and times of the controller. */
void vary_choices(struct myr_scenario *s, struct myr_rng *rng);
