/*
 * sim: the network in virtual time: as fluid, where flows have rates, or packet by packet.
 *
 *   engine      transfers over paths, max-min fair rates, tasks with dependencies, faults
 *   packets     the same with every packet over every link: congestion control, pauses
 *   collective  algorithms as rounds of messages: one description for every user of them
 *   workload    permutations, incasts, collectives, training steps as tasks
 *   contention  slowdown of patterns by level and load, as a table beside the design
 *   read        other simulators' files
 *   words       what people write: workloads, faults, slow nodes
 *   topology    a fabric from words or from another simulator's file
 *   state       a run that is stopped, kept and taken up again
 *   question    a simulation as a value, and its answer
 *   times       how long flows took, as a distribution
 *   report      a page, a heat map, a table of flows
 *   sweep       many simulations from one file
 *   compare     two results, figure by figure
 *
 * Time is an integer number of picoseconds; the same input gives the same completion times on any
 * machine. Include this header; the parts under sim/ are its chapters.
 */
#pragma once

#include "myriad/sim/collective.h"
#include "myriad/sim/compare.h"
#include "myriad/sim/contention.h"
#include "myriad/sim/engine.h"
#include "myriad/sim/packets.h"
#include "myriad/sim/question.h"
#include "myriad/sim/read.h"
#include "myriad/sim/report.h"
#include "myriad/sim/state.h"
#include "myriad/sim/sweep.h"
#include "myriad/sim/times.h"
#include "myriad/sim/topology.h"
#include "myriad/sim/words.h"
#include "myriad/sim/workload.h"
