/* twin: a cluster that does not exist yet, run by the controller that will run it. */
#include "twin/twin.h"

static const struct myr_command *const subcommands[] = {
    &twin_run_command,
    &twin_replay_command,
    &twin_search_command,
};

static const struct myr_command command = {
    .name = "twin",
    .operands = "",
    .summary = "run a simulated cluster under the real controller, break it, look for bugs",
    .details = "Nodes, ranks, messages and faults are simulated in virtual time; what decides is "
               "the code that runs a real cluster. The same scenario and seed give the same run.",
    .example = "myriad twin run examples/twin/day-10k.yaml",
    .subcommands = subcommands,
    .subcommand_count = MYR_ARRAY_COUNT(subcommands),
};

const struct cli_verb cli_twin_verb = {&command, NULL, .group = CLI_RUN_GROUP};
