/* tree: the numbers that can be asked for. Private to the planner. */
#pragma once

#include "myriad/plan/explain.h"

/* Objects that are too large to be there unasked: racks, devices. Adds what the path begins with.
 */
void explain_add(const struct myr_design *design, struct myr_answer *answer, const char *path);
/* What drawings count by themselves, into the open object. */
void explain_put_drawn(const struct myr_design *design, struct myr_answer *answer);
void explain_put_devices(const struct myr_design *design, struct myr_answer *answer);
