/*
 * plan: from a spec to a design, its files and its price. A spec is read, or made of a number of
 * GPUs; planned by the library (myr_plan); and written with report, lists and labels, or with
 * sheets for crews.
 */
#include "myriad/plan.h"

#include "myriad/plan/report.h"
#include "plan/plan.h"

/* 'gpus', 'server' and 'fabric' stand in place of SPEC; the rest goes with either. */
struct options {
    const char *out, *server, *prices, *date, *revision, *labels, *next;
    uint32_t lang;
    uint64_t gpus;
    uint32_t fabric;
    bool explain;
    uint64_t crews, cables_a_day, devices_a_day;
    struct myr_option_list catalogs;
    struct cli_acceptance acceptance;
};

static const char *const languages[] = {"en", "zh"};

static const struct options defaults = {.cables_a_day = CLI_CABLES_A_DAY,
                                        .devices_a_day = CLI_DEVICES_A_DAY};

#define CLI_PLAN_FILES .needs = "out", .against = "crews"

static const struct myr_option rows[] = {
    CLI_OUTPUT_FOLDER("out", "DIR", struct options, out,
                      "also write design.myr, design.json, bom.csv, bom.xlsx, cables.csv, "
                      "labels.csv, topology.svg, report.html"),
    /* Of the files: without --out there are none, and crews get others. */
    {CLI_ROW("lang", MYR_OPTION_CHOICE, "WORD", struct options, lang,
             "what report.html and bom.xlsx are written in"),
     .choices = languages, .choice_count = MYR_ARRAY_COUNT(languages), CLI_PLAN_FILES},
    {CLI_ROW("date", MYR_OPTION_TEXT, "DATE", struct options, date,
             "the report's date, such as 2026-11-16"),
     CLI_PLAN_FILES},
    {CLI_ROW("revision", MYR_OPTION_TEXT, "TEXT", struct options, revision,
             "the report's revision"),
     CLI_PLAN_FILES},
    /*
     * Written out, as the macros know no 'young': a variable of the older form means nothing of
     * ours.
     */
    {CLI_ROW("next", MYR_OPTION_PATH, "SPEC", struct options, next,
             "the phase after this one: the report then says what it adds and moves"),
     .young = true, CLI_PLAN_FILES},
    {CLI_ROW("labels", MYR_OPTION_TEXT, "WHERE", struct options, labels,
             "also write labels.html, cable labels to print with codes to scan: of all, or of one "
             "network, rack or device"),
     .young = true, CLI_PLAN_FILES},
    CLI_ACCEPTANCE_ROWS(struct options, acceptance),
    CLI_FLAG("explain", struct options, explain, "print the rule and the inputs behind every line"),
    CLI_CREW_ROWS(struct options),
    CLI_LIST("catalog", "FILE", struct options, catalogs,
             "own parts and prices, added to the built-in ones"),
    CLI_PATH("prices", "FILE", struct options, prices,
             "a price list (CSV: part,price,currency,date), in place of the spec's"),
    {CLI_ROW("gpus", MYR_OPTION_U64, "N", struct options, gpus,
             "without SPEC: how many GPUs; what is assumed is said"),
     .min = 1, .max = CLI_PLAN_GPUS_MAX, .young = true},
    {CLI_ROW("server", MYR_OPTION_TEXT, "NAME", struct options, server,
             "with --gpus: what they are in: h100, h200, b200, gb200"),
     .young = true},
    CLI_CHOICE("fabric", "WORD", struct options, fabric, myr_fabric_names,
               "with --gpus: what the compute network speaks"),
};

static const struct myr_command *const subcommands[] = {
    &cli_plan_audit_command, &cli_plan_diff_command, &cli_plan_grow_command,
    &cli_plan_optimise_command};

static const struct myr_command command = {
    .name = "plan",
    .operands = "[SPEC]",
    .summary = "turn a spec into a cabled, priced design",
    .details = "Reads a spec (docs/spec.md), sizes every network, cables every port, chooses "
               "optics, counts and prices the parts. Findings name what breaks a rule of good "
               "practice; the spec may accept them by name. Exit code 1 when a finding of "
               "severity error is not accepted.",
    .example = "myriad plan examples/h100-64.yaml --out out/h100-64",
    CLI_OPTIONS(rows, defaults),
    .operand_max = 1,
    .subcommands = subcommands,
    .subcommand_count = MYR_ARRAY_COUNT(subcommands),
};

/* Null without --out: nothing was written. */
static void put_files(struct myr_answer *answer, const struct myr_design *design,
                      const struct options *options)
{
    const char *folder = options->out;
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
    if (options->labels) {
        myr_answer_text(answer, NULL,
                        myr_arena_printf(answer->arena, "%s/%s", folder, MYR_REPORT_LABELS));
    }
    myr_answer_end(answer);
}

/* 'start' NULL: a spec was given, and nothing had to be assumed. */
static void show(struct cli *cli, const struct options *options, const struct myr_design *design,
                 const struct myr_design *larger, const struct myr_start_text *start)
{
    const struct myr_named_files inputs[] = {design->named_files, larger->named_files};
    struct myr_answer *answer = &cli->answer;
    const struct myr_value *bom = myr_plan_answer(design, answer);
    put_files(answer, design, options);
    const struct myr_value *assumed = cli_put_assumed(cli, start);
    myr_answer_rows(answer, bom);
    if (options->explain) {
        myr_plan_explain(design, answer);
    } else {
        myr_plan_page(design, answer, bom);
    }
    if (start) {
        cli_show_assumed(cli, assumed);
    }
    cli_put_inputs(cli, inputs, 2);
    if (options->out) {
        myr_answer_heading(answer, "Files in %s", options->out);
        myr_answer_para(answer,
                        "report.html, to be read; design.myr, for every later stage; design.json, "
                        "bom.csv, bom.xlsx, cables.csv, labels.csv%s; topology.svg%s%s, for a "
                        "browser",
                        design->room ? ", racks.csv" : "", design->room ? ", racks.svg" : "",
                        options->labels ? ", labels.html" : "");
        const struct myr_operands of = {
            .items = {"p2p", myr_arena_printf(&cli->arena, "%s/design.myr", options->out)},
            .count = 2};
        myr_answer_next(
            answer, NULL, "%s --out %s", cli_again_on(cli, cli_export_verb.row, &of, "out"),
            myr_answer_word(answer, myr_arena_printf(&cli->arena, "%s/p2p.csv", options->out)));
    } else {
        const char *name = myr_design_str(design, design->head->name);
        const char *folder =
            myr_arena_printf(&cli->arena, "out/%s", myr_answer_file(answer, name, "design"));
        myr_answer_next(answer, NULL, "%s --out %s", cli_again(cli, cli->command, "explain"),
                        myr_answer_word(answer, folder));
    }
}

/* The spec's file, or one that is made of a number of GPUs. */
static int read_spec(struct cli *cli, const struct options *options,
                     const struct myr_catalog *catalog, struct myr_price_file *prices,
                     struct myr_start_text *start, struct myr_spec *ret, struct myr_err *err)
{
    const char *file = cli->operands.count ? cli->operands.items[0] : NULL;
    const struct myr_doc *doc;
    /* What a spec says would not be changed by them, and whoever gives both expects that. */
    if (file && (options->gpus || options->server || options->fabric)) {
        return myr_err_set(err, MYR_EINVAL,
                           "give SPEC, or --gpus with --server and --fabric, not both");
    }
    if (file) {
        return myr_spec_load(&cli->arena, catalog, file, prices, ret, err);
    }
    if (!options->gpus) {
        int rc = myr_err_set(err, MYR_EINVAL, "'myriad plan' needs SPEC, or --gpus");
        myr_err_hint(err, "myriad plan --help");
        return rc;
    }
    MYR_TRY(myr_start_write(
        &cli->arena, catalog,
        &(struct myr_plan_start){options->gpus, options->server, options->fabric}, start, err));
    MYR_TRY(myr_doc_read_yaml(&cli->arena, "--gpus",
                              (struct myr_str){start->spec.data, start->spec.len}, &doc, err));
    MYR_TRY(myr_spec_read(&cli->arena, catalog, doc, ret, err));
    return myr_spec_read_price_list(&cli->arena, catalog, prices, ret, err);
}

/* NULL stays NULL. A report is handed on: folders of this machine mean nothing there. */
static const char *base_name(const char *file)
{
    const char *slash = file ? strrchr(file, '/') : NULL;
    return slash ? slash + 1 : file;
}

/* What 'explain plan' has to be given to find the report's numbers; a design has its prices. */
static const char *explain_options(struct cli *cli, const struct options *options, bool spec)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    const struct {
        const char *name, *value;
    } words[] = {{"next", options->next},
                 {"prices", options->next || spec ? options->prices : NULL}};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(words); i++) {
        if (words[i].value) {
            myr_buf_printf(&text, "%s--%s %s", text.len ? " " : "", words[i].name,
                           myr_answer_word(&cli->answer, base_name(words[i].value)));
        }
    }
    if (options->acceptance.wanted) {
        myr_buf_printf(&text, "%s--acceptance", text.len ? " " : "");
    }
    if (options->acceptance.model) {
        myr_buf_printf(&text, " --model %s --batch %llu",
                       myr_answer_word(&cli->answer, base_name(options->acceptance.model)),
                       (unsigned long long)options->acceptance.batch);
    }
    for (uint32_t i = 0; i < options->catalogs.count && (options->next || spec); i++) {
        myr_buf_printf(&text, "%s--catalog %s", text.len ? " " : "",
                       myr_answer_word(&cli->answer, base_name(options->catalogs.items[i])));
    }
    return text.len ? myr_arena_strndup(&cli->arena, text.data, text.len) : NULL;
}

/* Whose report it is. The spec's bytes are read again: they are what the digest is of. */
static int write_all(struct cli *cli, const struct options *options,
                     const struct myr_design *design, const struct myr_start_text *start,
                     const struct myr_growth *next, const struct myr_plan_targets *targets,
                     const struct myr_plan_listener *listener, struct myr_err *err)
{
    MYR_CLEANUP(myr_lang_done) struct myr_lang lang = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    bool other;
    const char *file = cli->operands.count ? cli->operands.items[0] : NULL;
    struct myr_plan_about about = {.date = options->date,
                                   .revision = options->revision,
                                   .labels = options->labels,
                                   .listener = listener};
    MYR_TRY(myr_report_language(&cli->arena, languages[options->lang], &lang, &other, err));
    about.lang = other ? &lang : NULL;
    about.next = next;
    about.targets = targets;
    about.options = explain_options(cli, options, file && strcmp(file, "-") != 0);
    if (!file) {
        myr_report_digest((struct myr_str){start->spec.data, start->spec.len}, about.digest);
        /* Standard input and FIFOs cannot be read again: such a report has no digest. */
    } else if (strcmp(file, "-") != 0 && myr_file_same(file, file)) {
        MYR_TRY(myr_file_read(file, MYR_DOC_BYTES_MAX, &text, err));
        myr_report_digest((struct myr_str){text.data, text.len}, about.digest);
        about.spec = base_name(file);
    }
    return myr_plan_write(design, &about, options->out, err);
}

/* Before anything is planned. */
static int check_date(const char *date, struct myr_err *err)
{
    char shown[MYR_EXCERPT_MAX];
    return !date || myr_str_is_date(myr_str_from(date))
               ? MYR_OK
               : myr_err_set(err, MYR_EINVAL,
                             "--date is '%s', a day such as 2026-11-16 is expected",
                             myr_text_excerpt(myr_str_from(date), shown));
}

/* The larger cluster, laid over this one. */
static int plan_next(struct cli *cli, const struct options *options,
                     const struct myr_catalog *catalog, struct myr_price_file *prices,
                     const struct myr_design *design, const struct myr_plan_listener *listener,
                     struct myr_design *larger, struct myr_growth **ret, struct myr_err *err)
{
    const char *name = cli->operands.count ? cli->operands.items[0] : "--gpus";
    struct myr_growth *growth = MYR_ARENA_ONE(&cli->arena, struct myr_growth);
    *ret = NULL;
    if (!options->next) {
        return MYR_OK;
    }
    MYR_TRY(myr_grow_read_larger(&cli->arena, catalog, design, options->next, prices, listener,
                                 larger, err));
    MYR_TRY(myr_grow(&cli->arena, catalog, design, larger,
                     (struct myr_grow_names){name, options->next}, growth, err));
    *ret = growth;
    return MYR_OK;
}

static int run(struct cli *cli, struct myr_err *err)
{
    const struct options *options = cli->options;
    MYR_CLEANUP(myr_catalog_done) struct myr_catalog catalog = {};
    MYR_CLEANUP(myr_spec_done) struct myr_spec spec = {};
    MYR_CLEANUP(myr_start_done) struct myr_start_text start = {};
    MYR_CLEANUP(myr_design_close) struct myr_design larger = {};
    /* In the arena, with its memory; only a design that was mapped from a file is closed. */
    struct myr_design design = {};
    struct myr_growth *next;
    const struct myr_plan_targets *targets;
    struct myr_price_file prices = {.path = options->prices};
    MYR_TRY(check_date(options->date, err));
    MYR_TRY(cli_catalog(&catalog, &cli->arena, &options->catalogs, err));
    MYR_TRY(read_spec(cli, options, &catalog, &prices, &start, &spec, err));
    MYR_CLEANUP(cli_plan_steps_end) struct cli_plan_steps steps;
    /* A plan with strips to count is made again, and without a room there are fewer files. */
    const struct myr_plan_listener listener = cli_plan_steps_begin(
        &steps, (options->next ? 2 : 1) * MYR_PLAN_STEPS + (options->out ? MYR_PLAN_FILES_MAX : 0));
    MYR_TRY(myr_plan_heard(&cli->arena, &catalog, &spec, &listener, &design, err));
    if (!cli->operands.count) {
        myr_start_built(&design, &start);
    }
    MYR_TRY(plan_next(cli, options, &catalog, &prices, &design, &listener, &larger, &next, err));
    MYR_TRY(cli_acceptance_targets(cli, &catalog, &options->acceptance, &design, &targets, err));
    if (options->out && options->crews) {
        /* Crews install all of it: growth from nothing has every device and cable in it. */
        struct myr_growth growth;
        myr_grow_from_nothing(&cli->arena, &design, &growth);
        MYR_TRY(myr_grow_write(&growth, options->out,
                               (struct myr_grow_crews){(uint32_t)options->crews,
                                                       (uint32_t)options->cables_a_day,
                                                       (uint32_t)options->devices_a_day},
                               err));
    } else if (options->out) {
        MYR_TRY(write_all(cli, options, &design, &start, next, targets, &listener, err));
    }
    show(cli, options, &design, &larger, cli->operands.count ? NULL : &start);
    /* Files are written all the same. */
    cli->no = myr_plan_open_errors(&design) > 0;
    return MYR_OK;
}

const struct cli_verb cli_plan_verb = {&command, run, .group = CLI_DESIGN_GROUP};
