#include "sim/sim.h"

void cli_sim_progress(void *context, uint64_t done, uint64_t total)
{
    struct myr_progress *progress = context;
    progress->total = total;
    cli_progress_step(progress, done);
}
