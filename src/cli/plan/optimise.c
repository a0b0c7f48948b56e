/*
 * plan optimise: the best design that the constraints of a spec allow. Combinations are planned and
 * priced by the library (myr_optimise); that none meets the constraints is an answer.
 */
#include "myriad/plan/optimise.h"

#include "plan/plan.h"

struct options {
    const char *out, *prices;
    struct myr_option_list catalogs;
};

static const struct options defaults = {};

static const struct myr_option rows[] = {
    CLI_OUTPUT_FOLDER("out", "DIR", struct options, out, "also write the files of the best design"),
    CLI_LIST("catalog", "FILE", struct options, catalogs,
             "own parts and prices, added to the built-in ones"),
    CLI_PATH("prices", "FILE", struct options, prices,
             "a price list (CSV: part,price,currency,date), in place of the spec's"),
};

const struct myr_command cli_plan_optimise_command = {
    .name = "plan optimise",
    .operands = "SPEC",
    .summary = "the best design that a spec's choices and constraints allow",
    .details = "The spec lists what it leaves open under 'optimise' (docs/spec.md); every "
               "combination is sized, cabled and priced. Says which is best, which are beaten by "
               "no other, which constraint binds and what one more unit of it would save. Exit "
               "code 1 when no design meets the constraints.",
    .example = "myriad plan optimise examples/optimise-512.yaml",
    CLI_OPTIONS(rows, defaults),
    .operand_min = 1,
    .operand_max = 1,
    .young = true,
};

/* The best one is planned to the last file by the same question with a folder. */
static void hint_next(struct cli *cli, const struct options *options, const struct myr_spec *spec)
{
    struct myr_answer *answer = &cli->answer;
    if (options->out) {
        const char *file = myr_arena_printf(&cli->arena, "%s/design.myr", options->out);
        myr_answer_next(answer, NULL, "myriad design %s", myr_answer_word(answer, file));
        return;
    }
    const char *folder =
        myr_arena_printf(&cli->arena, "out/%s", myr_answer_file(answer, spec->name, "design"));
    myr_answer_next(answer, NULL, "%s --out %s", cli_again(cli, cli->command, "out"),
                    myr_answer_word(answer, folder));
}

static int run(struct cli *cli, struct myr_err *err)
{
    const struct options *options = cli->options;
    MYR_CLEANUP(myr_catalog_done) struct myr_catalog catalog = {};
    MYR_CLEANUP(myr_spec_done) struct myr_spec spec = {};
    struct myr_price_file prices = {.path = options->prices};
    struct myr_optimum optimum;
    MYR_TRY(cli_catalog(&catalog, &cli->arena, &options->catalogs, err));
    MYR_TRY(myr_spec_load(&cli->arena, &catalog, cli->operands.items[0], &prices, &spec, err));
    /* With nothing left open there is one design: that is 'myriad plan'. */
    if (!spec.optimise.node) {
        int rc = myr_doc_error(err, spec.root, MYR_EINVAL,
                               "the spec lacks 'optimise': what is left open, and what is wanted");
        myr_err_hint(err, "optimise: {objective: capex, choices: {tiers: [2, 3]}}");
        return rc;
    }
    MYR_TRY(myr_optimise(&cli->arena, &catalog, &spec, &optimum, err));
    /* Without a best design there are no files to write; assumed prices make none. */
    bool won = optimum.best_count && myr_optimise_undecided(&optimum) == MYR_NONE;
    if (options->out && won) {
        MYR_TRY(myr_plan_write(&optimum.design, NULL, options->out, err));
    }
    myr_optimise_answer(&optimum, &catalog, &cli->answer);
    struct myr_named_files inputs = myr_spec_named_files(&spec);
    cli_put_inputs(cli, &inputs, 1);
    if (won) {
        hint_next(cli, options, &spec);
    }
    cli->no = !won;
    return MYR_OK;
}

const struct cli_verb cli_plan_optimise_verb = {&cli_plan_optimise_command, run, .group = NULL};
