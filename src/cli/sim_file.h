/* file:PATH[,format=NAME][,endless=SIZE] for --workload and --topology: other simulators' files. */
#pragma once

#include "sim_load.h"
#include "sim_topology.h"

MYR_MUST_USE int sim_file_load(struct myr_sim *sim, const struct myr_graph *graph,
                               const struct sim_hosts *hosts, const char *text,
                               struct sim_load *ret, struct myr_err *err);
/* 'topology' is as sim_topology_make() leaves it. */
MYR_MUST_USE int sim_file_topology(struct sim_topology *topology, const char *text,
                                   struct myr_err *err);
