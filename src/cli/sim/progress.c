/* progress: how far a simulation is, as the terminal shows it. */
#include "sim/sim.h"

/*
 * Most tasks of a run end late: until a twentieth of them has, how many are done says nothing about
 * how long the rest takes, and nothing is said about it.
 */
void cli_sim_progress(void *context, uint64_t done, uint64_t total)
{
    struct myr_progress *progress = context;
    progress->total = done >= total / 20 ? total : 0;
    cli_progress_step(progress, done);
}

void cli_sim_points(void *context, uint64_t done, uint64_t total)
{
    struct myr_progress *progress = context;
    progress->total = total;
    cli_progress_step(progress, done);
}
