/*
 * plan audit: somebody else's list, claims and layout against the rules. The cluster is planned as
 * the spec asks, and the list held against that plan; what cannot be judged is told apart from what
 * is wrong.
 */
#include "myriad/plan/audit.h"
#include "myriad/plan.h"
#include "myriad/text/xlsx.h"
#include "plan/plan.h"

struct options {
    const char *spec, *claims, *layout;
    struct myr_option_list catalogs;
};

static const struct options defaults;

static const struct myr_option rows[] = {
    CLI_PATH("spec", "FILE", struct options, spec, "what is wanted: the spec of the cluster"),
    CLI_PATH("claims", "FILE", struct options, claims,
             "what the document says of it: path and value, watts, pairs of optics"),
    CLI_PATH("layout", "FILE", struct options, layout,
             "what stands in which rack: rack,item,count"),
    CLI_LIST("catalog", "FILE", struct options, catalogs,
             "own parts and prices, added to the built-in ones"),
};

const struct myr_command cli_plan_audit_command = {
    .name = "plan audit",
    .operands = "BOM",
    .summary = "name the rules that somebody's bill of materials breaks",
    .details =
        "Reads a bill of materials (CSV, or the first sheet of an .xlsx, with the columns part "
        "and quantity; system, name, unit_price and total help), plans the cluster that the spec "
        "asks for, and names "
        "every rule that the list, the claims or the layout breaks, with where and by how "
        "much (docs/audit.md). The spec's pins of modules, cables and quantities do not "
        "count. CSV output has the findings. Exit status 1: there are findings.",
    .example = "myriad plan audit bom.csv --spec cluster.yaml --claims claims.yaml",
    CLI_OPTIONS(rows, defaults),
    .operand_min = 1,
    .operand_max = 1,
};

/* Some findings are about names and not about numbers. */
static void put_value(struct myr_answer *answer, const char *key, double value, const char *text)
{
    if (text) {
        myr_answer_text(answer, key, text);
    } else {
        myr_answer_double(answer, key, value, 3);
    }
}

/* Expected and found are texts where the rule is about names. */
static const struct myr_value *put_findings(struct myr_answer *answer,
                                            const struct myr_audit *audit)
{
    const struct myr_value *list = myr_answer_list(answer, "findings");
    for (size_t i = 0; i < audit->findings.count; i++) {
        const struct myr_audit_finding *finding = &audit->findings.items[i];
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "rule", finding->rule);
        myr_answer_text(answer, "where", finding->where);
        myr_answer_text(answer, "message", finding->message);
        put_value(answer, "expected", finding->expected, finding->expected_text);
        put_value(answer, "found", finding->found, finding->found_text);
        myr_answer_double(answer, "difference", finding->found - finding->expected, 3);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    return list;
}

/* How much was read is said first: a list of which nothing was read has no findings either. */
static void show(struct cli *cli, const struct myr_audit *audit)
{
    static const struct myr_answer_column columns[] = {MYR_COLUMN("rule", "RULE", 0),
                                                       MYR_COLUMN("where", "WHERE", 0),
                                                       MYR_COLUMN("message", "WHAT", 0)};
    static const struct myr_answer_column doubts[] = {MYR_COLUMN("where", "WHERE", 0),
                                                      MYR_COLUMN("reason", "WHY NOT", 0)};
    struct myr_answer *answer = &cli->answer;
    myr_answer_u64(answer, "lines", audit->lines);
    myr_answer_u64(answer, "claims", audit->claims);
    myr_answer_u64(answer, "racks", audit->racks);
    const struct myr_value *list = put_findings(answer, audit);
    const struct myr_value *open = myr_answer_list(answer, "not_judged");
    for (size_t i = 0; i < audit->doubts.count; i++) {
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "where", audit->doubts.items[i].where);
        myr_answer_text(answer, "reason", audit->doubts.items[i].reason);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    myr_answer_rows(answer, list);
    myr_answer_header(answer, "rule where message expected found difference");
    myr_answer_fact(answer, "read", "%s, %s, %s", MYR_COUNT(audit->lines, "line"),
                    MYR_COUNT(audit->claims, "claim"), MYR_COUNT(audit->racks, "rack"));
    myr_answer_fact(answer, "findings", "%s", MYR_GROUPED(audit->findings.count));
    if (audit->findings.count) {
        myr_answer_table(answer, list, columns, MYR_ARRAY_COUNT(columns));
    }
    if (audit->doubts.count) {
        myr_answer_heading(answer, "Not judged");
        myr_answer_table(answer, open, doubts, MYR_ARRAY_COUNT(doubts));
    }
}

/* 'ret' points into the two buffers, which the caller keeps until the audit is told. */
static int read_documents(struct cli *cli, const struct options *options, struct myr_buf *bom,
                          struct myr_buf *layout, struct myr_audit_document *ret,
                          struct myr_err *err)
{
    const char *file = cli->operands.items[0];
    MYR_TRY(myr_kind_read(file, MYR_DOC_BYTES_MAX, MYR_KINDS_CSV | MYR_KIND_BIT(ZIP),
                          "a bill of materials (CSV, or a workbook)", bom, err));
    if (myr_kind_of((struct myr_str){bom->data, bom->len}) == MYR_KIND_ZIP) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf book = *bom;
        *bom = (struct myr_buf){};
        MYR_TRY(myr_xlsx_csv(myr_file_name(file), (struct myr_str){book.data, book.len}, bom, err));
    }
    ret->bom = (struct myr_str){bom->data ? bom->data : "", bom->len};
    ret->bom_file = myr_file_name(file);
    if (options->layout) {
        MYR_TRY(myr_kind_read(options->layout, MYR_DOC_BYTES_MAX, MYR_KINDS_CSV,
                              "a layout (CSV: rack,item,count)", layout, err));
        ret->layout = (struct myr_str){layout->data ? layout->data : "", layout->len};
        ret->layout_file = myr_file_name(options->layout);
    }
    if (options->claims) {
        static const struct myr_doc_want want = {MYR_KINDS_DOC(SPEC) | MYR_KIND_BIT(CATALOG),
                                                 "claims (path: value)"};
        MYR_TRY(myr_doc_read_file_of(&cli->arena, options->claims, &want, &ret->claims, err));
    }
    return MYR_OK;
}

static int run(struct cli *cli, struct myr_err *err)
{
    const struct options *options = cli->options;
    MYR_CLEANUP(myr_catalog_done) struct myr_catalog catalog = {};
    MYR_CLEANUP(myr_spec_done) struct myr_spec spec = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf bom = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf layout = {};
    MYR_CLEANUP(myr_audit_done) struct myr_audit audit = {};
    struct myr_audit_document document = {};
    if (!options->spec) {
        (void)myr_err_set(err, MYR_EINVAL, "'plan audit' needs --spec: what the list is for");
        return MYR_EINVAL;
    }
    MYR_TRY(cli_catalog(&catalog, &cli->arena, &options->catalogs, err));
    MYR_TRY(myr_spec_load(&cli->arena, &catalog, options->spec, NULL, &spec, err));
    MYR_TRY(read_documents(cli, options, &bom, &layout, &document, err));
    MYR_CLEANUP(cli_plan_steps_end) struct cli_plan_steps steps;
    const struct myr_plan_listener listener = cli_plan_steps_begin(&steps, 2 * MYR_PLAN_STEPS);
    document.listener = &listener;
    MYR_TRY(myr_audit_run(&cli->arena, &catalog, &spec, &document, &audit, err));
    show(cli, &audit);
    struct myr_named_files inputs = myr_spec_named_files(&spec);
    cli_put_inputs(cli, &inputs, 1);
    cli->no = audit.findings.count > 0;
    return MYR_OK;
}

const struct cli_verb cli_plan_audit_verb = {&cli_plan_audit_command, run, .group = NULL};
