/*
 * sim: the network in virtual time, as fluid: flows have rates, not packets.
 *
 *   engine      transfers over paths, max-min fair rates, tasks with dependencies, faults
 *   collective  algorithms as rounds of messages: one description for every user of them
 *   workload    permutations, incasts, collectives, training steps as tasks
 *   contention  slowdown of patterns by level and load, as a table beside the design
 *   read        other simulators' files
 *   report      a page, a heat map, a table of flows
 *
 * Time is an integer number of picoseconds; the same input gives the same completion times on any
 * machine. Include this header; the parts under sim/ are its chapters.
 */
#pragma once

#include "myriad/sim/collective.h"
#include "myriad/sim/contention.h"
#include "myriad/sim/engine.h"
#include "myriad/sim/read.h"
#include "myriad/sim/report.h"
#include "myriad/sim/workload.h"
