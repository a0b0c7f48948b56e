/* plan: from a spec to a design, its files and its price. */
#include "myriad/plan.h"

#include "cli.h"

struct options {
    const char *out;
    bool explain;
    struct myr_option_list catalogs;
};

static const struct options defaults;

static const struct myr_option rows[] = {
    CLI_PATH("out", "DIR", struct options, out,
             "also write design.myr, design.json, bom.csv, cables.csv, labels.csv, topology.svg"),
    CLI_FLAG("explain", struct options, explain, "print the rule and the inputs behind every line"),
    CLI_LIST("catalog", "FILE", struct options, catalogs,
             "own parts and prices, added to the built-in ones"),
};

static const struct myr_command command = {
    .name = "plan",
    .operands = "SPEC",
    .summary = "turn a spec into a cabled, priced design",
    .details = "Reads a spec (docs/spec.md), sizes every network, cables every port, chooses "
               "optics, counts and prices the parts. Findings name what breaks a rule of good "
               "practice; the spec may accept them by name. Exit code 1 when a finding of "
               "severity error is not accepted.",
    .example = "myriad plan examples/h100-64.yaml --out out/h100-64",
    CLI_OPTIONS(rows, defaults),
    .operand_min = 1,
    .operand_max = 1,
};

static void put_files(struct myr_answer *answer, const struct myr_design *design,
                      const char *folder)
{
    if (!folder) {
        myr_answer_null(answer, "files");
        return;
    }
    myr_answer_list(answer, "files");
    for (uint32_t i = 0; myr_plan_file_name(design, i); i++) {
        myr_answer_text(
            answer, NULL,
            myr_arena_printf(answer->arena, "%s/%s", folder, myr_plan_file_name(design, i)));
    }
    myr_answer_end(answer);
}

static void show(struct cli *cli, const struct options *options, const struct myr_design *design)
{
    struct myr_answer *answer = &cli->answer;
    const struct myr_value *bom = myr_plan_answer(design, answer);
    put_files(answer, design, options->out);
    myr_answer_rows(answer, bom);
    if (options->explain) {
        myr_plan_explain(design, answer);
    } else {
        myr_plan_page(design, answer, bom);
    }
    if (options->out) {
        myr_answer_heading(answer, "Files in %s", options->out);
        myr_answer_para(answer,
                        "design.myr, for every later stage; design.json, bom.csv, cables.csv, "
                        "labels.csv%s; topology.svg%s, for a browser",
                        design->room ? ", racks.csv" : "", design->room ? ", racks.svg" : "");
        myr_answer_next(answer, "myriad export p2p %s/design.myr --out %s/p2p.csv",
                        myr_answer_word(answer, options->out),
                        myr_answer_word(answer, options->out));
    } else {
        myr_answer_next(
            answer, "%s --out %s", cli_again(cli, cli->command, "explain"),
            myr_answer_word(answer, myr_arena_printf(&cli->arena, "out/%s",
                                                     myr_design_str(design, design->head->name))));
    }
}

static int run(struct cli *cli, struct myr_err *err)
{
    const struct options *options = cli->options;
    MYR_CLEANUP(myr_catalog_done) struct myr_catalog catalog = {0};
    struct myr_design design = {0};
    MYR_TRY(cli_catalog(&catalog, &cli->arena, &options->catalogs, err));
    MYR_TRY(myr_plan_file(&cli->arena, &catalog, cli->operands.items[0], &design, err));
    if (options->out) {
        MYR_TRY(myr_plan_write(&design, options->out, err));
    }
    show(cli, options, &design);
    cli->no = myr_plan_open_errors(&design) > 0;
    return MYR_OK;
}

const struct cli_verb cli_plan_verb = {&command, run, .group = CLI_DESIGN_GROUP};
