/* --workload and --job: words into tasks. */
#pragma once

#include "myriad/sim.h"
#include "sim_topology.h"

struct sim_load {
    const char *text;
    uint32_t first_task, task_count; /* all that it added */
    uint32_t first_flow, flow_count; /* single flows: their tasks are consecutive */
    bool collective;
    enum myr_collective kind;
    uint32_t ranks;
    uint64_t bytes;
    uint32_t end; /* last task, or MYR_NONE */
};

/* See the details of `myriad sim --help` for the grammar. */
MYR_MUST_USE int sim_load_parse(struct myr_sim *sim, const struct myr_graph *graph,
                                const struct sim_hosts *hosts, const char *text, uint64_t seed,
                                struct sim_load *ret, struct myr_err *err);

/* When the last of its tasks ended. After the run. */
myr_ps sim_load_end(const struct myr_sim *sim, const struct sim_load *load);
