/*
 * study: questions that need several modules at once.
 *
 *   compare.h        designs side by side: money, power, simulated traffic, training
 *   acceptance.h     what a design is held to when it is handed over
 *   difference.h     what changes from one proposal to another
 *   launch.h         a predicted layout in the words of the trainers that people run
 *   launch_script.h  the same as a whole script, hosts in the order of ranks
 *
 * Planner, simulator and trainer's model each know one thing; what somebody who has to choose asks
 * goes through all of them. Nothing is computed here that a module below could compute: a study
 * asks them, puts their numbers side by side and says by which rule each came about.
 */
#pragma once

#include "myriad/study/acceptance.h"
#include "myriad/study/compare.h"
#include "myriad/study/difference.h"
#include "myriad/study/launch.h"
#include "myriad/study/launch_script.h"
