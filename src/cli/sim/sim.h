/* What the sub-verbs of 'sim' share. */
#pragma once

#include "cli.h"
#include "myriad/sim.h"

extern const struct myr_command cli_sim_contention_command, cli_sim_resume_command,
    cli_sim_sweep_command, cli_sim_compare_command;

/* A module's report of its progress, on the terminal; 'context' is a struct myr_progress. */
void cli_sim_progress(void *context, uint64_t done, uint64_t total);
/* The same of points, which take about as long as each other. */
void cli_sim_points(void *context, uint64_t done, uint64_t total);
/* The answer of a whole run, by whatever way it came to its end. */
void cli_sim_put(struct cli *cli, const struct myr_sim_question *question,
                 const struct myr_sim_answer *sim);
