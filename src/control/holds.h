/*
 * holds: what is true of the state between any two events, whatever they were.
 *
 * The lists, the counts beside them and the flags say the same things twice, so that each question
 * is answered at once; here they are held against each other. A state that breaks one of these
 * would give a GPU to two jobs or let one wait for ever. Stops the program, as any assertion does.
 */
#pragma once

#include "myriad/control/core.h"

/* All of it; as long as the state is large. */
void control_assert(const struct myr_control *c);

/* The job and the node that an event names, in time for every event of a long test; true. */
bool control_assert_of(const struct myr_control *c, const struct myr_event *event);
