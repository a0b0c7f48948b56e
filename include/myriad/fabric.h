/*
 * fabric: every path of a network, known and planned.
 *
 *   graph    switches, neighbours and channels of one network, with what is dead
 *   path     shortest paths by arithmetic; candidates at each hop; per-destination tables
 *   flows    who sends to whom: from files, from rings and groups of a layout
 *   balance  load-balance policies as one interface; load and fair rates
 *   colour   path planning: conflict-free by edge colouring, and what dead links leave
 *   repair   failover plan, degraded bandwidth, blast radius; repair_list: for a whole fabric
 *   use      what flows use, device by device and link by link, and a drawing of it
 *   words    what people write: lists of links, devices and nodes
 *   question a design, what is dead in it, and the flows to look at, as one value
 *
 * Simulator, fit and scheduler take their paths from here: there is one answer to "which links
 * does this flow use". Include this header; the parts under fabric/ are its chapters.
 */
#pragma once

#include "myriad/fabric/balance.h"
#include "myriad/fabric/colour.h"
#include "myriad/fabric/flows.h"
#include "myriad/fabric/graph.h"
#include "myriad/fabric/path.h"
#include "myriad/fabric/question.h"
#include "myriad/fabric/repair.h"
#include "myriad/fabric/repair_list.h"
#include "myriad/fabric/use.h"
#include "myriad/fabric/words.h"
