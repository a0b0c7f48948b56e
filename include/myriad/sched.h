/*
 * sched: whole gangs on the nearest GPUs.
 *
 *   place   free-GPU index over the levels of a cluster; gang placement, all or nothing
 *   replay  queues and policies in virtual time over a trace of jobs
 *
 * A pure library: time and events come in, decisions go out. Include this header; the parts under
 * sched/ are its chapters.
 */
#pragma once

#include "myriad/sched/place.h"
#include "myriad/sched/replay.h"
