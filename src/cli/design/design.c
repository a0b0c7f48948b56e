/*
 * design: what is in a design file, or one device with its cabling. A design carries its whole
 * plan: it is told from the file alone, without the spec.
 */
#include "cli.h"
#include "myriad/plan.h"

struct options {
    const char *device;
    bool check;
    struct myr_option_list catalogs;
};

static const struct options defaults;

static const struct myr_option rows[] = {
    CLI_TEXT("device", "NAME", struct options, device,
             "show the ports of one device and what they are cabled to"),
    CLI_FLAG("check", struct options, check,
             "hold cages, modules and cables against the parts once more"),
    {CLI_ROW("catalog", MYR_OPTION_LIST, "FILE", struct options, catalogs,
             "own parts, added to the built-in ones, for --check"),
     .needs = "check"},
};

static const struct myr_command *const subcommands[] = {&cli_design_apply_command};

static const struct myr_command command = {
    .name = "design",
    .operands = "DESIGN",
    .summary = "check a design file and show what is in it",
    .details =
        "Maps a design.myr, checks all of it and prints the plan again, or one device "
        "with its cabling. With --check every module, cable and card is held against its part by "
        "the rules of docs/spec.md; exit code 1 when something cannot be plugged together "
        "and the design does not accept it.",
    .example = "myriad design out/h100-64/design.myr --device leaf/p0-g1-r5",
    CLI_OPTIONS(rows, defaults),
    .operand_min = 1,
    .operand_max = 1,
    .subcommands = subcommands,
    .subcommand_count = MYR_ARRAY_COUNT(subcommands),
};

static int run(struct cli *cli, struct myr_err *err)
{
    const struct options *options = cli->options;
    const char *path = cli->operands.items[0];
    struct myr_answer *answer = &cli->answer;
    MYR_CLEANUP(myr_design_close) struct myr_design design = {};
    MYR_TRY(myr_design_open(&design, path, err));
    /* What CSV lists: the bill, unless a check or a device puts its own list in its place. */
    const struct myr_value *rows_of = myr_plan_answer(&design, answer);
    if (options->check) {
        MYR_CLEANUP(myr_catalog_done) struct myr_catalog catalog = {};
        MYR_TRY(cli_catalog(&catalog, &cli->arena, &options->catalogs, err));
        cli->no = myr_plan_physical(&design, &catalog, answer, &rows_of) > 0;
    } else {
        myr_answer_null(answer, "physical");
    }
    /* With --check alone the findings are the page: the plan is not shown again. */
    if (options->check && !options->device) {
        myr_answer_null(answer, "device");
    } else if (options->device) {
        MYR_TRY(myr_plan_device(&design, options->device, answer, &rows_of, err));
    } else {
        myr_answer_null(answer, "device");
        myr_plan_page(&design, answer, rows_of);
        myr_answer_next(answer, NULL, "%s --device node/00000", cli_again(cli, cli->command, NULL));
    }
    myr_answer_rows(answer, rows_of);
    return MYR_OK;
}

const struct cli_verb cli_design_verb = {&command, run, .group = CLI_DESIGN_GROUP};
