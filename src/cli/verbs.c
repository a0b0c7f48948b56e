/* verbs: all verbs in the order of the overview, sub-verbs behind their verb. */
#include "cli.h"

/* Of the older shape. */
#define OLD(name, heading)                       \
    static const struct cli_verb name##_verb = { \
        .command = cli_##name##_command, .run_old = cli_##name, .group = heading}
OLD(plan, CLI_DESIGN_GROUP);
OLD(design, CLI_DESIGN_GROUP);
OLD(fit, CLI_PROVE_GROUP);
OLD(goodput, CLI_PROVE_GROUP);
OLD(bench, CLI_PROVE_GROUP);
OLD(export, CLI_BUILD_GROUP);
OLD(verify, CLI_BUILD_GROUP);
OLD(bind, CLI_BUILD_GROUP);
OLD(sched, CLI_RUN_GROUP);

static const struct cli_verb *const verbs[] = {
    &plan_verb,
    &design_verb,
    &cli_catalog_verb,

    &cli_route_verb,
    &cli_route_failover_verb,
    &cli_route_degraded_verb,
    &cli_route_blast_verb,
    &cli_route_tables_verb,
    &cli_route_apply_verb,
    &cli_path_verb,
    &cli_sim_verb,
    &cli_sim_contention_verb,
    &fit_verb,
    &goodput_verb,
    &bench_verb,

    &export_verb,
    &verify_verb,
    &bind_verb,

    &sched_verb,

    &cli_commands_verb,
    &cli_completion_verb,
    &cli_man_verb,
};

const struct cli_verb *const *cli_verbs(uint32_t *ret_count)
{
    *ret_count = MYR_ARRAY_COUNT(verbs);
    return verbs;
}

const struct myr_command *cli_verb_command(const struct cli_verb *verb)
{
    return verb->row ? verb->row : verb->command();
}
