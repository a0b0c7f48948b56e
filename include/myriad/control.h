/*
 * control: the state machine that runs a cluster: nodes, jobs, what failed and what to do about it.
 *
 *   job       what is asked for
 *   event     what it is told, and what it wants done
 *   core      the state machine itself
 *   explain   what is known of one job or node
 *   whatif    questions to a state: lose this leaf, add GPUs, submit this job
 *   journal   events and decisions as bytes; snapshot and journal give the state back
 *
 * Include this header; the parts under control/ are its chapters.
 */
#pragma once

#include "myriad/control/core.h"
#include "myriad/control/event.h"
#include "myriad/control/explain.h"
#include "myriad/control/job.h"
#include "myriad/control/journal.h"
#include "myriad/control/whatif.h"
