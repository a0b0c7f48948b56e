/* --fault and --slow: what goes wrong, and when. */
#pragma once

#include "cli.h"
#include "myriad/sim.h"

/*
 * "WHAT:down@TIME[,reroute=...]", "WHAT:up@TIME", "WHAT:degrade=0.5@TIME" or
 * "WHAT:flap@TIME,down=TIME,period=TIME,count=N"; WHAT is link/ID or a device. 'reroute' is how
 * long until paths avoid it: a time, or local, remote, convergence.
 */
MYR_MUST_USE int sim_fault_add(struct myr_sim *sim, const struct myr_graph *graph, const char *text,
                               struct myr_err *err);
/* "node/ID:0.8" */
MYR_MUST_USE int sim_slow_add(struct myr_sim *sim, const struct myr_graph *graph, const char *text,
                              struct myr_err *err);
