/*
 * export: a design in the formats of other tools. Formats are rows of the library's table; each
 * gives its files one by one, which are written, printed, or put into the answer.
 */
#include "cli.h"
#include "myriad/site.h"

/* In the order of enum myr_net_id, with "all" behind them. */
static const char *const nets[] = {"compute", "storage", "service", "oob", "all"};

struct options {
    const char *out, *binding, *tenants;
    uint32_t net;
    bool list, vrf;
    struct myr_option_list catalogs;
};

static const struct options defaults;

static const struct myr_option rows[] = {
    {CLI_ROW("out", MYR_OPTION_PATH, "PATH", struct options, out,
             "folder, or the file's name where the format is one file (else: print it)"),
     .writes = true, .folder = true, .prints = true},
    CLI_CHOICE("net", "NETWORK", struct options, net, nets,
               "which network of the design; all: cable lists only"),
    CLI_FLAG("list", struct options, list, "show the formats, their files and who reads them"),
    CLI_PATH("binding", "FILE", struct options, binding, "binding.yaml: real GUIDs and host names"),
    CLI_PATH("tenants", "FILE", struct options, tenants,
             "CSV list with the columns tenant and nodes: partitions, filters of SONiC, VRFs"),
    {CLI_ROW("vrf", MYR_OPTION_FLAG, NULL, struct options, vrf,
             "SONiC: tenants as VRFs over EVPN instead of filters"),
     .needs = "tenants"},
    CLI_LIST("catalog", "FILE", struct options, catalogs, "own parts, added to the built-in ones"),
};

/* The list is of formats: nothing is exported. */
static const struct myr_option_rule rules[] = {
    {"out net binding tenants vrf catalog", .against = "list"},
};

/* The formats, for completion of the first operand. */
static void put_names(struct myr_buf *buf)
{
    for (uint32_t i = 0; i < myr_exporter_count; i++) {
        myr_buf_printf(buf, "%s%s", i ? " " : "", myr_exporters[i].name);
    }
}

static const struct myr_command command = {
    .name = "export",
    .operands = "FORMAT DESIGN",
    .summary = "write a design in the formats of other tools",
    .details = "Writes one network of a design.myr for subnet managers, simulators, schedulers "
               "and cable databases. --list names the formats; docs/export.md describes them. "
               "Without --out a format of one file is printed; -o json, yaml and csv hold the "
               "files and their texts.",
    .example = "myriad export opensm out/h100-64/design.myr --out out/h100-64/opensm",
    CLI_OPTIONS(rows, defaults),
    CLI_RULES(rules),
    .operand_max = 2,
    .words = put_names,
};

/* 'files' is null: nothing was written, and the answer has the same keys as one about files. */
static void list_formats(struct myr_answer *answer)
{
    static const struct myr_answer_column columns[] = {
        MYR_COLUMN("format", "FORMAT", 0), MYR_COLUMN("title", "WHAT", 0),
        MYR_COLUMN("files", "FILES", 0), MYR_COLUMN("read_by", "READ BY", 0)};
    const struct myr_value *formats = myr_answer_list(answer, "formats");
    for (uint32_t i = 0; i < myr_exporter_count; i++) {
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "format", myr_exporters[i].name);
        myr_answer_text(answer, "title", myr_exporters[i].title);
        myr_answer_text(answer, "files", myr_exporters[i].files);
        myr_answer_text(answer, "read_by", myr_exporters[i].read_by);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    myr_answer_null(answer, "files");
    myr_answer_table(answer, formats, columns, MYR_ARRAY_COUNT(columns));
    myr_answer_rows(answer, formats);
}

/* Files as they come: into the answer, or the only one as the document. */
struct output {
    struct cli *cli;
    const char *folder; /* where they were written; NULL: nowhere */
};

/*
 * Called for each file. For people who named no folder the one file is what is printed; programs
 * get names and texts, or names alone where the texts lie in files.
 */
static int put_file(void *context, const char *name, const struct myr_buf *text,
                    struct myr_err *err)
{
    const struct output *output = context;
    struct cli *cli = output->cli;
    (void)err;
    if (!output->folder && cli->common.format <= MYR_FORMAT_WIDE) {
        myr_buf_put(&cli->document, text->data, text->len);
        return MYR_OK;
    }
    myr_answer_object(&cli->answer, NULL);
    myr_answer_text(&cli->answer, "name", name);
    myr_answer_u64(&cli->answer, "bytes", text->len);
    if (output->folder) {
        myr_answer_null(&cli->answer, "text");
    } else {
        myr_answer_str(&cli->answer, "text", (struct myr_str){text->data, text->len});
    }
    myr_answer_end(&cli->answer);
    return MYR_OK;
}

/*
 * A format of several files needs a folder, except for programs, which take them from the answer.
 */
static int write_files(struct cli *cli, const struct options *options,
                       const struct myr_exporter *exporter, const struct myr_export *job,
                       struct myr_err *err)
{
    static const struct myr_answer_column columns[] = {
        MYR_COLUMN("name", "FILE", 0), MYR_COLUMN("bytes", "BYTES", MYR_COLUMN_NUMBER)};
    bool print = !options->out || myr_file_is_stdout(options->out);
    struct output output = {cli, print ? NULL : options->out};
    struct myr_export_sink sink = {&output, put_file};
    if (print && !exporter->file && cli->common.format <= MYR_FORMAT_WIDE) {
        int rc = myr_err_set(err, MYR_EINVAL, "format '%s' is several files: name a folder",
                             exporter->name);
        myr_err_hint(err, "myriad export %s DESIGN --out DIR", exporter->name);
        return rc;
    }
    myr_answer_null(&cli->answer, "formats");
    const struct myr_value *files = myr_answer_list(&cli->answer, "files");
    int rc = print ? myr_export_run(exporter, job, &sink, err)
                   : myr_export_write(exporter, job, options->out, &sink, err);
    myr_answer_end(&cli->answer);
    if (rc < 0) {
        return rc;
    }
    myr_answer_para(&cli->answer, "%s, for %s, in %s", exporter->title, exporter->read_by,
                    print ? "this answer" : options->out);
    myr_answer_table(&cli->answer, files, columns, MYR_ARRAY_COUNT(columns));
    myr_answer_rows(&cli->answer, files);
    return MYR_OK;
}

static int run(struct cli *cli, struct myr_err *err)
{
    const struct options *options = cli->options;
    const struct myr_exporter *exporter;
    MYR_CLEANUP(myr_catalog_done) struct myr_catalog catalog = {};
    MYR_CLEANUP(myr_design_close) struct myr_design design = {};
    MYR_CLEANUP(myr_binding_done) struct myr_binding binding = {};
    /* The list needs no operands: it comes before they are counted. */
    if (options->list) {
        list_formats(&cli->answer);
        return MYR_OK;
    }
    if (cli->operands.count != 2) {
        int rc = myr_err_set(err, MYR_EINVAL, "export needs a format and a design");
        myr_err_hint(err, "myriad export --list, or: myriad export slurm design.myr");
        return rc;
    }
    MYR_TRY(myr_exporter_find(cli->operands.items[0], &exporter, err));
    MYR_TRY(myr_exporter_check(exporter,
                               (cli_typed(cli, "binding") ? MYR_EXPORT_BINDING : 0) |
                                   (cli_typed(cli, "tenants") ? MYR_EXPORT_TENANTS : 0) |
                                   (cli_typed(cli, "vrf") ? MYR_EXPORT_VRF : 0),
                               err));
    MYR_TRY(cli_catalog(&catalog, &cli->arena, &options->catalogs, err));
    MYR_TRY(myr_design_open(&design, cli->operands.items[1], err));
    struct myr_export job = {
        &design, (enum myr_net_id)options->net, &catalog, NULL, options->tenants, options->vrf};
    if (options->binding) {
        myr_binding_init(&binding, &cli->arena, &design);
        MYR_TRY(myr_binding_read(&binding, options->binding, err));
        job.binding = &binding;
    }
    return write_files(cli, options, exporter, &job, err);
}

const struct cli_verb cli_export_verb = {&command, run, .group = CLI_BUILD_GROUP};
