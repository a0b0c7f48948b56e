/* What the two kinds of topologies share: parts and a spec, written here, through the planner. */
#pragma once

#include "myriad/sim/topology.h"

/* 'parts' and 'spec' are YAML; 'name' is for messages. */
MYR_MUST_USE int sim_built(struct myr_sim_topology *topology, const char *name,
                           const struct myr_buf *parts, const struct myr_buf *spec,
                           struct myr_err *err);

/* "file:PATH[,format=NAME]"; the topology is as myr_sim_topology_make() begins with. */
MYR_MUST_USE int sim_built_file(struct myr_sim_topology *topology, const char *words,
                                struct myr_err *err);
