/* sched: place a gang, replay or rehearse a trace of jobs. */
#include "sched/sched.h"

static const struct myr_command *const subcommands[] = {
    &sched_place_command,
    &sched_replay_command,
    &sched_rehearse_command,
};

static const struct myr_command command = {
    .name = "sched",
    .operands = "",
    .summary = "place a gang, replay or rehearse a trace of jobs",
    .details = "The scheduler decides from what runs now: it never knows how long a job will run.",
    .example = "myriad sched place --design out/design.myr --nodes 64 --tp 8 --pp 8",
    .subcommands = subcommands,
    .subcommand_count = MYR_ARRAY_COUNT(subcommands),
};

const struct cli_verb cli_sched_verb = {&command, NULL, .group = CLI_RUN_GROUP};
