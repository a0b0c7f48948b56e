/* design: what is in a design file, or one device with its cabling. */
#include "cli.h"
#include "myriad/plan.h"

struct options {
    const char *device;
};

static const struct options defaults;

static const struct myr_option rows[] = {
    CLI_TEXT("device", "NAME", struct options, device,
             "show the ports of one device and what they are cabled to"),
};

static const struct myr_command *const subcommands[] = {&cli_design_apply_command};

static const struct myr_command command = {
    .name = "design",
    .operands = "DESIGN",
    .summary = "check a design file and show what is in it",
    .details = "Maps a design.myr, checks all of it and prints the plan again, or one device "
               "with its cabling.",
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
    MYR_CLEANUP(myr_design_close) struct myr_design design = {0};
    MYR_TRY(myr_design_open(&design, path, err));
    const struct myr_value *rows_of = myr_plan_answer(&design, answer);
    if (options->device) {
        MYR_TRY(myr_plan_device(&design, options->device, answer, &rows_of, err));
    } else {
        myr_answer_null(answer, "device");
        myr_plan_page(&design, answer, rows_of);
        myr_answer_next(answer, "myriad design %s --device node/00000",
                        myr_answer_word(answer, path));
    }
    myr_answer_rows(answer, rows_of);
    return MYR_OK;
}

const struct cli_verb cli_design_verb = {&command, run, .group = CLI_DESIGN_GROUP};
