/*
 * plan grow: from the cluster that stands to a larger one. Both are specs or designs; the larger
 * one is planned so that what stands keeps its ids and names (myr_grow).
 */
#include "myriad/plan/grow.h"
#include "plan/plan.h"

struct options {
    const char *out;
    uint64_t crews, cables_a_day, devices_a_day;
    struct myr_option_list catalogs;
};

static const struct options defaults = {.cables_a_day = CLI_CABLES_A_DAY,
                                        .devices_a_day = CLI_DEVICES_A_DAY};

static const struct myr_option rows[] = {
    CLI_OUTPUT_FOLDER("out", "DIR", struct options, out,
                      "also write the grown design's files, buy.csv and moves.csv"),
    CLI_CREW_ROWS(struct options),
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

/* What was written can be looked at; else the way to write it is named. */
static void show_next(struct cli *cli, const struct options *options)
{
    struct myr_answer *answer = &cli->answer;
    myr_answer_text(answer, "folder", options->out);
    if (options->out) {
        myr_answer_next(answer, NULL, "myriad design %s/design.myr",
                        myr_answer_word(answer, options->out));
    } else {
        myr_answer_next(answer, NULL, "%s --out out/grown", cli_again(cli, cli->command, NULL));
    }
}

static int run(struct cli *cli, struct myr_err *err)
{
    const struct options *options = cli->options;
    const char *small = cli->operands.items[0], *large = cli->operands.items[1];
    MYR_CLEANUP(myr_catalog_done) struct myr_catalog catalog = {};
    MYR_CLEANUP(myr_design_close) struct myr_design installed = {}, planned = {};
    struct myr_growth growth;
    MYR_TRY(cli_catalog(&catalog, &cli->arena, &options->catalogs, err));
    MYR_CLEANUP(cli_plan_steps_end) struct cli_plan_steps steps;
    const struct myr_plan_listener listener = cli_plan_steps_begin(&steps, 2 * MYR_PLAN_STEPS);
    MYR_TRY(myr_grow_read(&cli->arena, &catalog, small, NULL, &listener, &installed, err));
    MYR_TRY(myr_grow_read_larger(&cli->arena, &catalog, &installed, large, NULL, &listener,
                                 &planned, err));
    listener.hear(listener.context, "comparing");
    MYR_TRY(myr_grow(&cli->arena, &catalog, &installed, &planned,
                     (struct myr_grow_names){small, large}, &growth, err));
    struct myr_grow_crews crews = {(uint32_t)options->crews, (uint32_t)options->cables_a_day,
                                   (uint32_t)options->devices_a_day};
    /* Nothing is written before this: options that contradict each other leave no files behind. */
    if (options->out) {
        MYR_TRY(myr_grow_write(&growth, options->out, crews, err));
    }
    myr_grow_answer(&growth, &cli->answer);
    cli_put_inputs(cli, (struct myr_named_files[]){installed.named_files, planned.named_files}, 2);
    show_next(cli, options);
    return MYR_OK;
}

const struct cli_verb cli_plan_grow_verb = {&cli_plan_grow_command, run, .group = NULL};
