/*
 * study: questions whose answer takes the planner, the model of a training step and the scheduler
 * together.
 *
 *   launch  a predicted layout as a script that starts it: a trainer's arguments, the model's, and
 *           hosts in the order of ranks
 *
 * A module above plan, fit and sched, because none of these may know the others.
 */
#pragma once

#include "myriad/study/launch.h"
#include "myriad/study/launch_script.h"
