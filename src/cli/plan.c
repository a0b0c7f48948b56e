#include "myriad/plan.h"

#include <stdio.h>
#include <unistd.h>

#include "cli.h"

static struct {
    uint32_t format;
    const char *out;
    bool explain;
    struct myr_option_list catalogs;
} options = {.format = MYR_FORMAT_TABLE};

const struct myr_command *cli_plan_command(void)
{
    static const struct myr_option rows[] = {
        CLI_OUTPUT_OPTION(options.format),
        {.name = "out",
         .type = MYR_OPTION_PATH,
         .value = "DIR",
         .help = "also write design.myr, design.json, bom.csv, cables.csv, labels.csv, "
                 "topology.svg",
         .target = &options.out},
        {.name = "explain",
         .type = MYR_OPTION_FLAG,
         .help = "print the rule and the inputs behind every line",
         .target = &options.explain},
        {.name = "catalog",
         .type = MYR_OPTION_LIST,
         .value = "FILE",
         .help = "own parts and prices, added to the built-in ones",
         .target = &options.catalogs},
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
        .options = rows,
        .option_count = MYR_ARRAY_COUNT(rows),
        .operand_min = 1,
        .operand_max = 1,
    };
    return &command;
}

static void print_result(const struct myr_design *design, struct myr_buf *buf)
{
    if (options.explain && options.format <= MYR_FORMAT_WIDE) {
        myr_plan_explain(design, buf);
        return;
    }
    switch ((enum myr_format)options.format) {
    case MYR_FORMAT_JSON:
        myr_plan_json(design, buf);
        break;
    case MYR_FORMAT_YAML:
        myr_plan_yaml(design, buf);
        break;
    case MYR_FORMAT_CSV:
        myr_plan_bom(design, MYR_FORMAT_CSV, buf);
        break;
    case MYR_FORMAT_WIDE:
        myr_plan_bom(design, MYR_FORMAT_WIDE, buf);
        break;
    case MYR_FORMAT_TABLE:
        myr_plan_summary(design, buf);
        break;
    }
}

/* Findings go to stderr when people read the result; programs find them in the JSON. */
static int finish(const struct myr_design *design)
{
    struct myr_buf buf = {0};
    print_result(design, &buf);
    int code = cli_print(&buf);
    myr_buf_clear(&buf);
    if (options.format <= MYR_FORMAT_WIDE) {
        myr_plan_findings(design, &buf);
        if (options.out) {
            myr_buf_printf(&buf,
                           "files in %s: design.myr design.json bom.csv cables.csv labels.csv "
                           "topology.svg\n",
                           options.out);
        }
        if (buf.len) {
            fflush(stdout);
            fputs(buf.data, stderr);
        }
    }
    myr_buf_done(&buf);
    if (code != CLI_DONE) {
        return code;
    }
    return myr_plan_open_errors(design) ? CLI_NO : CLI_DONE;
}

static int plan(struct myr_arena *arena, const char *path, struct myr_catalog *catalog,
                struct myr_spec *spec, struct myr_design *design, struct myr_err *err)
{
    static const struct myr_doc_want want = {
        MYR_KIND_BIT(YAML) | MYR_KIND_BIT(JSON) | MYR_KIND_BIT(SPEC), "a spec"};
    const struct myr_doc *doc;
    int r = cli_catalog(catalog, arena, &options.catalogs, err);
    r = r < 0 ? r : myr_doc_read_file_of(arena, path, &want, &doc, err);
    r = r < 0 ? r : myr_spec_read(arena, catalog, doc, spec, err);
    r = r < 0 ? r : myr_plan(arena, catalog, spec, design, err);
    if (r == MYR_OK && options.out) {
        r = myr_plan_write(design, options.out, err);
    }
    return r;
}

int cli_plan(const struct myr_operands *operands)
{
    struct myr_arena arena;
    struct myr_catalog catalog = {0};
    struct myr_spec spec = {0};
    struct myr_design design = {0};
    struct myr_err err = {0};
    myr_arena_init(&arena);
    int r = plan(&arena, operands->items[0], &catalog, &spec, &design, &err);
    int code = r < 0 ? cli_error(&err) : finish(&design);
    myr_spec_done(&spec);
    myr_catalog_done(&catalog);
    myr_arena_done(&arena);
    return code;
}
