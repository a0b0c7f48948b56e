#include <stdio.h>

#include "cli.h"
#include "myriad/site.h"

static struct {
    uint32_t format;
    const char *out, *binding;
    uint32_t net;
    bool list;
    struct myr_option_list catalogs;
} options = {.format = MYR_FORMAT_TABLE};

const struct myr_command *cli_export_command(void)
{
    static const char *networks[MYR_NET_COUNT + 1] = {[MYR_NET_COUNT] = "all"};
    for (uint32_t i = 0; i < MYR_NET_COUNT; i++) {
        networks[i] = myr_net_names[i];
    }
    static const struct myr_option rows[] = {
        {.name = "out",
         .type = MYR_OPTION_PATH,
         .value = "PATH",
         .help = "folder, or the file's name where the format is one file (else: print it)",
         .target = &options.out},
        {.name = "net",
         .type = MYR_OPTION_CHOICE,
         .value = "NETWORK",
         .help = "which network of the design; all: cable lists only",
         .target = &options.net,
         .choices = networks,
         .choice_count = MYR_NET_COUNT + 1},
        {.name = "list",
         .type = MYR_OPTION_FLAG,
         .help = "show the formats, their files and who reads them",
         .target = &options.list},
        {.name = "output",
         .letter = 'o',
         .type = MYR_OPTION_CHOICE,
         .value = "FORMAT",
         .help = "how to print the list",
         .target = &options.format,
         .choices = myr_format_names,
         .choice_count = MYR_FORMAT_COUNT},
        {.name = "binding",
         .type = MYR_OPTION_PATH,
         .value = "FILE",
         .help = "binding.yaml: real GUIDs and host names",
         .target = &options.binding},
        {.name = "catalog",
         .type = MYR_OPTION_LIST,
         .value = "FILE",
         .help = "own parts, added to the built-in ones",
         .target = &options.catalogs},
    };
    static const struct myr_command command = {
        .name = "export",
        .operands = "FORMAT DESIGN",
        .summary = "write a design in the formats of other tools",
        .details = "Writes one network of a design.myr for subnet managers, simulators, schedulers "
                   "and cable databases. --list names the formats; docs/export.md describes them.",
        .example = "myriad export opensm out/h100-64/design.myr --out out/h100-64/opensm",
        .options = rows,
        .option_count = MYR_ARRAY_COUNT(rows),
        .operand_min = 0,
        .operand_max = 2,
    };
    return &command;
}

static int list_formats(void)
{
    static const struct myr_column columns[] = {{"format", "FORMAT", 0},
                                                {"title", "WHAT", 0},
                                                {"files", "FILES", 0},
                                                {"read_by", "READ BY", 0}};
    struct myr_arena arena;
    struct myr_table table;
    struct myr_buf buf = {0};
    myr_arena_init(&arena);
    myr_table_init(&table, &arena, columns, MYR_ARRAY_COUNT(columns));
    for (uint32_t i = 0; i < myr_exporter_count; i++) {
        myr_table_text(&table, myr_exporters[i].name);
        myr_table_text(&table, myr_exporters[i].title);
        myr_table_text(&table, myr_exporters[i].files);
        myr_table_text(&table, myr_exporters[i].read_by);
    }
    myr_table_write(&table, (enum myr_format)options.format, &buf);
    int code = cli_print(&buf);
    myr_buf_done(&buf);
    myr_table_done(&table);
    myr_arena_done(&arena);
    return code;
}

static int print_file(void *context, const char *name, const struct myr_buf *text,
                      struct myr_err *err)
{
    (void)name, (void)err;
    *(int *)context = cli_print(text);
    return MYR_OK;
}

static int export(struct myr_arena *arena, const char *format, const char *path,
                  const struct myr_export_sink *print, struct myr_err *err)
{
    const struct myr_exporter *exporter;
    struct myr_catalog catalog = {0};
    struct myr_design design = {0};
    struct myr_binding binding = {0};
    int r = myr_exporter_find(format, &exporter, err);
    r = r < 0 ? r : cli_catalog(&catalog, arena, &options.catalogs, err);
    r = r < 0 ? r : myr_design_open(&design, path, err);
    if (r == MYR_OK && options.binding) {
        myr_binding_init(&binding, arena, &design);
        r = myr_binding_read(&binding, options.binding, err);
    }
    if (r == MYR_OK) {
        struct myr_export job = {&design, (enum myr_net_id)options.net, &catalog,
                                 options.binding ? &binding : NULL};
        if (options.out) {
            r = myr_export_write(exporter, &job, options.out, err);
        } else if (exporter->file) {
            r = myr_export_run(exporter, &job, print, err);
        } else {
            r = myr_err_set(err, MYR_EINVAL, "format '%s' is several files: name a folder", format);
            myr_err_hint(err, "myriad export %s DESIGN --out DIR", format);
        }
    }
    myr_binding_done(&binding);
    myr_design_close(&design);
    myr_catalog_done(&catalog);
    return r;
}

int cli_export(const struct myr_operands *operands)
{
    struct myr_arena arena;
    struct myr_err err = {0};
    int code = CLI_DONE;
    if (options.list) {
        return list_formats();
    }
    if (operands->count != 2) {
        (void)myr_err_set(&err, MYR_EINVAL, "export needs a format and a design");
        myr_err_hint(&err, "myriad export --list, or: myriad export slurm design.myr");
        return cli_error(&err);
    }
    myr_arena_init(&arena);
    struct myr_export_sink print = {&code, print_file};
    int r = export(&arena, operands->items[0], operands->items[1], &print, &err);
    myr_arena_done(&arena);
    return r < 0 ? cli_error(&err) : code;
}
