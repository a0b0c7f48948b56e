/*
 * bound: what no assignment of paths can beat.
 *
 * Both bounds look at cuts that every path must cross: a switch's links, and in three tiers the
 * links between a pod and the cores, and those of a leaf to spines that reach a core. They hold for
 * any routing, planned or not; how near a plan comes to them is printed beside it.
 */
#pragma once

#include "myriad/fabric/flows.h"

/*
 * The least that the highest load of a link between switches can be, 1.0 at line rate. Flows that
 * are not split must fit whole: m links and flows of sizes s1 >= s2 >= ... give at least
 * (j + 1) * s[j * m + 1] for every j, since m + 1 flows make two of them meet. Split flows give the
 * mean over the cut's links.
 */
double myr_load_bound(const struct myr_graph *graph, const struct myr_flow *flows, size_t count,
                      bool split);

/*
 * An upper bound of the sum of rates when flow i gets at most 'most[i]' (MYR_LOAD_ONE at a host
 * port's line rate): the maximum flow through the cuts, where what enters one may leave by any
 * other of the same pair of pods.
 */
double myr_throughput_bound(const struct myr_graph *graph, const struct myr_flow *flows,
                            size_t count, const uint64_t *most);
