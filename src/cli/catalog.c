#include <stdio.h>

#include "cli.h"

static struct {
    uint32_t format;
    const char *kind;
    struct myr_option_list catalogs;
} options = {.format = MYR_FORMAT_TABLE};

const struct myr_command *cli_catalog_command(void)
{
    static const struct myr_option rows[] = {
        CLI_OUTPUT_OPTION(options.format),
        {.name = "kind",
         .type = MYR_OPTION_TEXT,
         .value = "KIND",
         .help = "only parts of this kind, such as switch, server, transceiver",
         .target = &options.kind},
        {.name = "catalog",
         .type = MYR_OPTION_LIST,
         .value = "FILE",
         .help = "own parts and prices, added to the built-in ones",
         .target = &options.catalogs},
    };
    static const struct myr_command command = {
        .name = "catalog",
        .operands = "[WORD]",
        .summary = "list the parts that a spec can name",
        .details = "Lists parts whose name, order number or title contains WORD.",
        .example = "myriad catalog --kind switch",
        .options = rows,
        .option_count = MYR_ARRAY_COUNT(rows),
        .operand_min = 0,
        .operand_max = 1,
    };
    return &command;
}

static bool contains(const char *text, const char *word)
{
    size_t len = strlen(word);
    for (size_t i = 0; text && i + len <= strlen(text); i++) {
        if (myr_str_eq_nocase((struct myr_str){text + i, len}, (struct myr_str){word, len})) {
            return true;
        }
    }
    return false;
}

static bool wanted(const struct myr_part *part, const char *word)
{
    if (options.kind && !contains(myr_part_kind_name(part->kind), options.kind)) {
        return false;
    }
    return !word || contains(part->id, word) || contains(part->order, word) ||
           contains(part->title, word);
}

static void list(const struct myr_catalog *catalog, const char *word, struct myr_buf *buf)
{
    static const struct myr_column columns[] = {
        {"id", "NAME", 0},
        {"kind", "KIND", 0},
        {"order", "ORDER NUMBER", 0},
        {"title", "TITLE", 0},
        {"watts", "WATTS", MYR_COLUMN_NUMBER},
        {"source", "SOURCE", MYR_COLUMN_WIDE},
    };
    struct myr_table table;
    myr_table_init(&table, catalog->arena, columns, MYR_ARRAY_COUNT(columns));
    for (size_t i = 0; i < catalog->parts.count; i++) {
        const struct myr_part *part = &catalog->parts.items[i];
        if (wanted(part, word)) {
            myr_table_text(&table, part->id);
            myr_table_text(&table, myr_part_kind_name(part->kind));
            myr_table_text(&table, part->order);
            myr_table_text(&table, part->title);
            myr_table_double(&table, part->watts, 1);
            myr_table_text(&table, part->source);
        }
    }
    myr_table_write(&table, (enum myr_format)options.format, buf);
    myr_table_done(&table);
}

int cli_catalog_run(const struct myr_operands *operands)
{
    struct myr_arena arena;
    struct myr_catalog catalog = {0};
    struct myr_buf buf = {0};
    struct myr_err err = {0};
    myr_arena_init(&arena);
    int r = cli_catalog(&catalog, &arena, &options.catalogs, &err);
    if (r == MYR_OK) {
        list(&catalog, operands->count ? operands->items[0] : NULL, &buf);
    }
    int code = r < 0 ? cli_error(&err) : cli_print(&buf);
    myr_buf_done(&buf);
    myr_catalog_done(&catalog);
    myr_arena_done(&arena);
    return code;
}
