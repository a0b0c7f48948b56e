/*
 * route tables: where flows go by the tables of a running subnet. Nothing is planned here: flows
 * follow the tables as they were dumped, so that the loads are those that the subnet has.
 */
#include "route/applied.h"

struct options {
    const char *dump, *binding;
    struct cli_fabric fabric;
};

static const struct options defaults = {.fabric = {.axis = "dp"}};

static const struct myr_option rows[] = {
    CLI_PATH("dump", "FILE", struct options, dump,
             "the subnet's tables, as dump_lfts prints them; - is standard input"),
    CLI_PATH("binding", "FILE", struct options, binding,
             "GUIDs of the real devices; made from the design when absent"),
    CLI_FABRIC_ROWS(struct options),
    CLI_FLOW_ROWS(struct options),
};

const struct myr_command cli_route_tables_command = {
    .name = "route tables",
    .operands = "DESIGN",
    .summary = "load of the links by the tables of a running subnet",
    .details = "Follows the flows through the forwarding tables that the subnet has, not those "
               "that were planned for it. -o csv lists the paths.",
    .example = "myriad route tables out/h100-10k/design.myr --dump found.lfts",
    CLI_OPTIONS(rows, defaults),
    .operand_max = 1,
};

static int run(struct cli *cli, struct myr_err *err)
{
    MYR_CLEANUP(myr_fabric_close) struct myr_fabric_case fabric = {};
    MYR_CLEANUP(myr_applied_done) struct myr_applied applied = {};
    const struct options *options = cli->options;
    /* The tables are the question: there is nothing to fall back on. */
    if (!options->dump) {
        int rc = myr_err_set(err, MYR_EINVAL, "give --dump FILE: the subnet's tables");
        myr_err_hint(err, "%s --dump found.lfts", cli_again(cli, cli->command, NULL));
        return rc;
    }
    MYR_TRY(cli_fabric_open(cli, &options->fabric, true, &fabric, err));
    MYR_TRY(myr_apply_tables(&fabric, options->dump, options->binding, &applied, err));
    cli_route_applied(cli, &fabric, &applied);
    return MYR_OK;
}

const struct cli_verb cli_route_tables_verb = {.row = &cli_route_tables_command, .run = run};
