/* What `myriad sim` prints. */
#pragma once

#include "myriad/text.h"
#include "sim_load.h"

struct sim_job {
    struct sim_load load;
    myr_ps end, alone; /* alone: 0 when it was the only one */
};

struct sim_run {
    const struct myr_design *design;
    struct myr_graph graph;
    struct myr_sim *sim;
    struct sim_job jobs[MYR_OPTION_LIST_MAX + 1];
    uint32_t job_count;
    uint64_t *rates; /* bits per second of single flows, all at once; NULL: none */
    uint32_t rate_count;
    struct myr_sim_result result;
    struct myr_progress progress;
    double wall_s;
};

void sim_print_json(const struct sim_run *run, struct myr_buf *buf);
void sim_print_table(const struct sim_run *run, struct myr_buf *buf);
