/* move: for trial.c. */
#pragma once

#include "myriad/sched/trial.h"
#include "queue/state.h"

/* Moves of running jobs after which this one has room; false: none, or more than are told. */
bool trial_of_moves(const struct myr_queue *q, uint32_t id, struct myr_trial *ret);
