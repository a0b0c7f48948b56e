/* plan grow: from the cluster that stands to a larger one. */
#include "myriad/plan/grow.h"
#include "cli.h"

struct options {
    const char *out;
    struct myr_option_list catalogs;
};

static const struct options defaults;

static const struct myr_option rows[] = {
    CLI_PATH("out", "DIR", struct options, out, "also write the grown design and its lists"),
    CLI_LIST("catalog", "FILE", struct options, catalogs,
             "own parts and prices, added to the built-in ones"),
};

const struct myr_command cli_plan_grow_command = {
    .name = "plan grow",
    .operands = "INSTALLED LARGER",
    .summary = "what to buy and which cables move when a cluster grows",
    .details = "Lays the larger design over the installed one: every installed device, port and "
               "cable keeps its id and its name, and the fewest installed cables move. Each of "
               "the two is a spec or a design.myr. Says what to buy, what moves, and what it "
               "would cost to buy the upper switches first.",
    .example = "myriad plan grow examples/h100-64.yaml examples/h100-128.yaml --out out/grown",
    CLI_OPTIONS(rows, defaults),
    .operand_min = 2,
    .operand_max = 2,
};

static int run(struct cli *cli, struct myr_err *err)
{
    const struct options *options = cli->options;
    const char *small = cli->operands.items[0], *large = cli->operands.items[1];
    MYR_CLEANUP(myr_catalog_done) struct myr_catalog catalog = {0};
    MYR_CLEANUP(myr_design_close) struct myr_design installed = {0}, planned = {0};
    struct myr_growth growth;
    MYR_TRY(cli_catalog(&catalog, &cli->arena, &options->catalogs, err));
    MYR_TRY(myr_grow_read(&cli->arena, &catalog, small, &installed, err));
    MYR_TRY(myr_grow_read(&cli->arena, &catalog, large, &planned, err));
    MYR_TRY(myr_grow(&cli->arena, &installed, &planned, (struct myr_grow_names){small, large},
                     &growth, err));
    if (options->out) {
        MYR_TRY(myr_plan_write(&growth.grown, options->out, err));
    }
    myr_grow_answer(&growth, &cli->answer);
    return MYR_OK;
}

const struct cli_verb cli_plan_grow_verb = {&cli_plan_grow_command, run, .group = NULL};
