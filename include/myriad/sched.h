/*
 * sched: whole gangs on the nearest GPUs.
 *
 *   place    free-GPU index over the levels of a cluster; gang placement, all or nothing
 *   traffic  what the nodes of a gang send each other in a step
 *   request  gangs with constraints and layouts: cost, nodes, rank order
 *   defrag   which jobs to move so that a gang fits
 *   explain  why these nodes, why none, and the least that would help
 *   state    what runs where, from a table
 *   tenant   who owns which cells of the cluster
 *   tenant_tree  tenants by name, from a file or the command line
 *   policy   in which order, for whom nodes are held, who may be stopped
 *   queue    who runs next, who has to make room: events in, decisions out
 *   events   what a controller tells the queue: confirmed starts and stops, nodes, users' wishes
 *   snapshot the state of a queue as a value: copy, store, compare
 *   why      what a waiting job lacks
 *   trial    which single change would start it, found by trying
 *   spares   how many nodes to keep warm
 *   joblog   traces of jobs
 *   replay   a trace through the queue in virtual time
 *   cluster  the cluster that a question is about
 *   node_list  nodes as people write them
 *   place_answer, replay_answer  whole questions and their answers, as values
 *   replay_report  what a replay found, drawn
 *
 * A pure library: time and events come in, decisions go out. Include this header; the parts under
 * sched/ are its chapters.
 */
#pragma once

#include "myriad/sched/cluster.h"
#include "myriad/sched/defrag.h"
#include "myriad/sched/events.h"
#include "myriad/sched/explain.h"
#include "myriad/sched/joblog.h"
#include "myriad/sched/node_list.h"
#include "myriad/sched/place.h"
#include "myriad/sched/place_answer.h"
#include "myriad/sched/policy.h"
#include "myriad/sched/queue.h"
#include "myriad/sched/rehearse.h"
#include "myriad/sched/replay.h"
#include "myriad/sched/replay_answer.h"
#include "myriad/sched/replay_report.h"
#include "myriad/sched/request.h"
#include "myriad/sched/snapshot.h"
#include "myriad/sched/spares.h"
#include "myriad/sched/state.h"
#include "myriad/sched/tenant.h"
#include "myriad/sched/tenant_tree.h"
#include "myriad/sched/traffic.h"
#include "myriad/sched/trial.h"
#include "myriad/sched/why.h"
