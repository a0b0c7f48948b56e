/*
 * twin: a simulated world behind the same seam as the real one.
 *
 *   scenario  what the world is like, as YAML
 *   run       a scenario played in virtual time
 *   case      a run saved, to be replayed exactly
 *   search    many seeds until an invariant breaks, and the smallest case that still does
 *   report    a page with plots
 *   live      the same nodes and faults under a controller of the caller's own
 *
 * Include this header; the parts under twin/ are its chapters.
 */
#pragma once

#include "myriad/twin/case.h"
#include "myriad/twin/live.h"
#include "myriad/twin/report.h"
#include "myriad/twin/run.h"
#include "myriad/twin/scenario.h"
#include "myriad/twin/search.h"
