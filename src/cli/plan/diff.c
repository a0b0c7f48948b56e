/*
 * plan diff: what changes from one proposal to another. Each is a spec, which is planned, or a
 * design.myr; the difference is the library's (myr_difference_of).
 */
#include "myriad/plan/language.h"
#include "myriad/study/difference.h"
#include "plan/plan.h"

struct options {
    const char *report, *prices;
    uint32_t lang;
    struct myr_option_list catalogs;
};

static const struct options defaults = {};
static const char *const languages[] = {"en", "zh"};

static const struct myr_option rows[] = {
    CLI_OUTPUT("report", "FILE.html", struct options, report, "also write a page to hand over"),
    {CLI_ROW("lang", MYR_OPTION_CHOICE, "WORD", struct options, lang, "of the page"),
     .choices = languages, .choice_count = MYR_ARRAY_COUNT(languages), .needs = "report"},
    CLI_PATH("prices", "FILE", struct options, prices,
             "a price list (CSV: part,price,currency,date), in place of the specs'"),
    CLI_LIST("catalog", "FILE", struct options, catalogs,
             "own parts and prices, added to the built-in ones"),
};

const struct myr_command cli_plan_diff_command = {
    .name = "plan diff",
    .operands = "A B",
    .summary = "what changes from one proposal to another: counts, power, money, bills",
    .details = "Each of the two is a spec or a design.myr. Says what a customer asks for first, "
               "every line of both bills, findings that only one has and, with -o wide, every "
               "other number that differs. Money is subtracted only in one currency and where no "
               "main line lacks a price. CSV output has the figures. Nothing is simulated: that is "
               "'myriad compare'.",
    .example = "myriad plan diff examples/h100-64.yaml examples/h100-128.yaml --report diff.html",
    CLI_OPTIONS(rows, defaults),
    .operand_min = 2,
    .operand_max = 2,
    .young = true,
};

static int write_page(struct cli *cli, const struct options *options,
                      const struct myr_difference *difference, struct myr_err *err)
{
    MYR_CLEANUP(myr_lang_done) struct myr_lang lang = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf page = {};
    bool other;
    myr_answer_text(&cli->answer, "report", options->report);
    if (!options->report) {
        return MYR_OK;
    }
    MYR_TRY(myr_report_language(&cli->arena, languages[options->lang], &lang, &other, err));
    myr_difference_html(difference, other ? &lang : NULL, &page);
    return myr_file_write(options->report, &page, err);
}

static int run(struct cli *cli, struct myr_err *err)
{
    const struct options *options = cli->options;
    MYR_CLEANUP(myr_catalog_done) struct myr_catalog catalog = {};
    MYR_CLEANUP(myr_design_close) struct myr_design first = {}, second = {};
    struct myr_difference difference;
    struct myr_price_file prices = {.path = options->prices};
    const char *const files[] = {cli->operands.items[0], cli->operands.items[1]};
    MYR_TRY(cli_catalog(&catalog, &cli->arena, &options->catalogs, err));
    MYR_TRY(myr_grow_read(&cli->arena, &catalog, files[0], &prices, NULL, &first, err));
    MYR_TRY(myr_grow_read(&cli->arena, &catalog, files[1], &prices, NULL, &second, err));
    MYR_TRY(myr_difference_of(&cli->arena, (const struct myr_design *const[]){&first, &second},
                              files, &difference, err));
    myr_difference_answer(&difference, &cli->answer);
    MYR_TRY(write_page(cli, options, &difference, err));
    cli_put_inputs(cli, (struct myr_named_files[]){first.named_files, second.named_files}, 2);
    return MYR_OK;
}

const struct cli_verb cli_plan_diff_verb = {&cli_plan_diff_command, run, .group = NULL};
