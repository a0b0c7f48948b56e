/* How far a plan is, on a terminal: one line for all verbs that plan. */
#include "myriad/plan.h"

#include "plan/plan.h"

/* A step that takes long is told of again while it goes on. */
static void show_step(void *context, const char *step)
{
    struct cli_plan_steps *steps = context;
    steps->done += strcmp(steps->progress.what, step) != 0;
    steps->progress.what = step;
    cli_progress_step(&steps->progress, steps->done);
}

struct myr_plan_listener cli_plan_steps_begin(struct cli_plan_steps *steps, uint64_t total)
{
    steps->done = 0;
    cli_progress(&steps->progress, "planning", total);
    return (struct myr_plan_listener){show_step, steps};
}

void cli_plan_steps_end(struct cli_plan_steps *steps)
{
    myr_progress_done(&steps->progress);
}
