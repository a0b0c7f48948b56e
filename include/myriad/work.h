/*
 * work: what runs on the cluster.
 *
 *   model   a transformer as plain numbers, from our files or a config.json
 *   count   its exact parameters and FLOPs
 *   layout  how it is spread over the GPUs, and what can be wrong with that
 *           (layout_file: as a file of its own, or in words)
 *   ranks   rank to coordinates and back, groups of an axis, pipeline stages
 *   comm    which bytes one training step moves, over which groups, in which phase
 *   state   what a rank holds: weights, gradients, optimiser state, activations, checkpoint
 *
 * The path planner takes its flows from here, the simulator its collectives, the strategy search
 * its costs and limits, the scheduler its groups. All of them ask the same question about
 * thousands of candidates, so everything after the readers is a pure function of plain values:
 * no allocation, no input or output, no state, and integers wherever the true result is one.
 *
 * Readers allocate from the arena given to them; structs are the caller's. Formulas stand in the
 * headers beside the numbers they give; docs/work.md derives them.
 *
 * Include this header; the parts under work/ are its chapters.
 */
#pragma once

#include "myriad/work/comm.h"
#include "myriad/work/count.h"
#include "myriad/work/layout.h"
#include "myriad/work/layout_file.h"
#include "myriad/work/model.h"
#include "myriad/work/ranks.h"
#include "myriad/work/state.h"
