/*
 * compare: designs side by side, from the bill to the cost of a trained token. Planning, simulation
 * and fitting are the library's (myr_compare_designs); here files and the answer are made of it.
 */
#include "myriad/study/compare.h"

#include "case/case.h"
#include "myriad/plan/language.h"

static const char *const languages[] = {"en", "zh"};

/* Policies and efficiencies are one for all designs, or one for each in their order. */
struct options {
    struct cli_case of;
    const char *workload, *prices, *group, *in_use, *report, *picture;
    struct myr_option_list policies, efficiencies, catalogs;
    uint64_t seed;
    uint32_t lang;
};

static const struct options defaults = {.of = CLI_CASE_DEFAULTS};

static const struct myr_option rows[] = {
    CLI_CASE_MODEL_ROW(struct options, of),
    CLI_CASE_DEVICE_ROWS(struct options, of),
    CLI_COUNT("gpus", struct options, of.gpus, 1, 1 << 24,
              "of the job; all of the design when absent"),
    CLI_CASE_BATCH_ROWS(struct options, of),
    CLI_CASE_LAYOUT_ROW(struct options, of),
    CLI_CASE_AXIS_ROWS(struct options, of),
    CLI_CASE_SCHEDULE_ROW(struct options, of),
    CLI_TEXT("workload", "WORDS", struct options, workload,
             "what is simulated on each, as of 'myriad sim'; allreduce:auto,1GB when absent"),
    CLI_LIST("lb", "POLICY", struct options, policies,
             "load-balance policy, of all designs or one for each; adaptive on InfiniBand and "
             "ecmp on Ethernet when absent"),
    CLI_LIST("efficiency", "PERMILLE", struct options, efficiencies,
             "of line rate that headers leave, likewise; by packets of 4,096 bytes when absent"),
    CLI_COUNT("seed", struct options, seed, 0, 0, "of hashes"),
    CLI_TEXT("group", "NAME", struct options, group,
             "the servers that train, where a design has several kinds; the first when absent"),
    {CLI_ROW("in-use", MYR_OPTION_TEXT, "SHARE", struct options, in_use,
             "of the years, in which steps run; 0.9 when absent"),
     .needs = "model"},
    CLI_PATH("prices", "FILE", struct options, prices,
             "a price list (CSV: part,price,currency,date), in place of the specs'"),
    CLI_LIST("catalog", "FILE", struct options, catalogs,
             "own parts and prices, added to the built-in ones"),
    CLI_OUTPUT("report", "FILE.html", struct options, report, "also write a page to hand over"),
    CLI_OUTPUT("picture", "FILE.svg", struct options, picture,
               "also draw the figures side by side"),
    {CLI_ROW("lang", MYR_OPTION_CHOICE, "WORD", struct options, lang, "of page and picture"),
     .choices = languages, .choice_count = MYR_ARRAY_COUNT(languages), .needs = "report picture"},
};

static const struct myr_command command = {
    .name = "compare",
    .operands = "PLAN PLAN...",
    .summary = "designs side by side: price, power, simulated traffic, training, cost of a token",
    .details = "Each PLAN is a spec, which is planned, or a design.myr. The same workload runs on "
               "each in the simulator, and with --model and --batch the same model is fitted to "
               "each. Says which design is best in what, what is assumed, and by which rule every "
               "figure came about (-o wide, or --report).",
    .example = "myriad compare infiniband.yaml roce.yaml --model llama3-70b --batch 1024",
    CLI_OPTIONS(rows, defaults),
    .operand_min = 2,
    .operand_max = MYR_COMPARE_MAX,
    .young = true,
};

/* The usual share where 'text' is NULL. */
static int read_share(const char *text, double *ret, struct myr_err *err)
{
    double value = MYR_COMPARE_IN_USE;
    if (text && (!myr_str_to_double(myr_str_from(text), &value) || !(value > 0) || !(value <= 1))) {
        return myr_err_set(err, MYR_EINVAL,
                           "--in-use is '%.40s', a number above 0 and at most 1 is expected", text);
    }
    *ret = value;
    return MYR_OK;
}

/* Steps are few and long: which one it is says more than a share of them. */
static void tell(void *context, uint64_t done, uint64_t total)
{
    struct myr_progress *progress = context;
    progress->total = total;
    cli_progress_step(progress, done);
}

/*
 * Page and picture, together, in the language asked for; NULL is English, which needs no words
 * looked up.
 */
static int write_files(struct cli *cli, const struct options *options,
                       const struct myr_design_comparison *found, struct myr_err *err)
{
    MYR_CLEANUP(myr_lang_done) struct myr_lang lang = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf page = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf picture = {};
    MYR_CLEANUP(myr_file_set_abandon) struct myr_file_set set = {};
    bool other;
    MYR_TRY(myr_report_language(&cli->arena, languages[options->lang], &lang, &other, err));
    MYR_TRY(myr_file_set_begin(&set, NULL, err));
    if (options->report) {
        myr_design_comparison_html(found, other ? &lang : NULL, &page);
        MYR_TRY(myr_file_set_add(&set, options->report, &page, err));
    }
    if (options->picture) {
        myr_design_comparison_svg(found, other ? &lang : NULL, &picture);
        MYR_TRY(myr_file_set_add(&set, options->picture, &picture, err));
    }
    return myr_file_set_commit(&set, err);
}

/* It lies in the arena; what it has opened does not. */
static void close_designs(struct myr_design_comparison **found)
{
    myr_design_comparison_done(*found);
}

static void put_inputs(struct cli *cli, const struct myr_design_comparison *found)
{
    struct myr_named_files inputs[MYR_COMPARE_MAX];
    for (uint32_t i = 0; i < found->count; i++) {
        inputs[i] = found->sides[i].design.named_files;
    }
    cli_put_inputs(cli, inputs, found->count);
}

static int run(struct cli *cli, struct myr_err *err)
{
    MYR_CLEANUP(myr_progress_done) struct myr_progress progress;
    MYR_CLEANUP(myr_catalog_done) struct myr_catalog catalog = {};
    const struct options *options = cli->options;
    struct myr_compare_question question = {
        .files = cli->operands.items,
        .count = (uint32_t)cli->operands.count,
        .prices = options->prices,
        .group = options->group,
        .workload = options->workload,
        .policies = {options->policies.items, options->policies.count},
        .efficiencies = {options->efficiencies.items, options->efficiencies.count},
        .seed = options->seed,
        .of = cli_case_question(&options->of),
        .progress = tell,
        .progress_context = &progress,
    };
    /* Closed in any case: what was opened before an error is in it, too. */
    MYR_CLEANUP(close_designs)
    struct myr_design_comparison *found = MYR_ARENA_ONE(&cli->arena, struct myr_design_comparison);
    cli_progress(&progress, "comparing", 0);
    MYR_TRY(read_share(options->in_use, &question.in_use, err));
    MYR_TRY(cli_catalog(&catalog, &cli->arena, &options->catalogs, err));
    MYR_TRY(myr_compare_designs(found, &cli->arena, &catalog, &question, err));
    MYR_TRY(write_files(cli, options, found, err));
    myr_design_comparison_answer(found, &cli->answer);
    put_inputs(cli, found);
    return MYR_OK;
}

const struct cli_verb cli_compare_verb = {&command, run, .group = CLI_PROVE_GROUP};
