/*
 * catalog: the parts that a spec can name. Kinds and their counts where nothing was asked for, else
 * the parts that match; none is a "no".
 */
#include "cli.h"

struct options {
    const char *kind;
    struct myr_option_list catalogs;
};

static const struct options defaults;

/* The first word of each kind is enough to name it. */
static void put_kinds(struct myr_buf *buf)
{
    for (uint32_t kind = 0; kind < MYR_PART_KIND_COUNT; kind++) {
        struct myr_str name = myr_str_from(myr_part_kind_name((enum myr_part_kind)kind));
        const char *blank = memchr(name.data, ' ', name.len);
        myr_buf_puts(buf, kind ? " " : "");
        myr_buf_put(buf, name.data, blank ? (size_t)(blank - name.data) : name.len);
    }
}

static const struct myr_option rows[] = {
    CLI_NAME("kind", "KIND", struct options, kind, put_kinds,
             "only parts of this kind, such as switch, server, transceiver"),
    CLI_LIST("catalog", "FILE", struct options, catalogs,
             "own parts and prices, added to the built-in ones"),
};

static const struct myr_command command = {
    .name = "catalog",
    .operands = "[WORD]",
    .summary = "list the parts that a spec can name",
    .details =
        "Without a word or kind: the kinds of parts. Else the parts of that kind whose name, "
        "order number or title contains WORD. -o json, yaml and csv list all parts that "
        "were asked for.",
    .example = "myriad catalog --kind switch",
    CLI_OPTIONS(rows, defaults),
    .operand_max = 1,
};

static void put_part(struct myr_answer *answer, const struct myr_part *part)
{
    myr_answer_object(answer, NULL);
    myr_answer_text(answer, "id", part->id);
    myr_answer_text(answer, "kind", myr_part_kind_name(part->kind));
    myr_answer_text(answer, "order", part->order);
    myr_answer_text(answer, "title", part->title);
    myr_answer_double(answer, "watts", part->watts, 1);
    myr_answer_text(answer, "source", part->source);
    myr_answer_end(answer);
}

/* Of the whole catalogue, whatever was asked for. */
static const struct myr_value *put_counts(struct myr_answer *answer,
                                          const struct myr_catalog *catalog)
{
    uint32_t counts[MYR_PART_KIND_COUNT] = {};
    for (size_t i = 0; i < catalog->parts.count; i++) {
        counts[catalog->parts.items[i].kind]++;
    }
    const struct myr_value *kinds = myr_answer_list(answer, "kinds");
    for (uint32_t kind = 0; kind < MYR_PART_KIND_COUNT; kind++) {
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "kind", myr_part_kind_name((enum myr_part_kind)kind));
        myr_answer_u64(answer, "parts", counts[kind]);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    return kinds;
}

/* 'kinds' NULL: something was asked for, and the parts are the answer. */
static void show(struct cli *cli, const struct myr_value *kinds, const struct myr_value *parts)
{
    struct myr_answer *answer = &cli->answer;
    static const struct myr_answer_column kind_columns[] = {
        MYR_COLUMN("kind", "KIND", 0), MYR_COLUMN("parts", "PARTS", MYR_COLUMN_NUMBER)};
    static const struct myr_answer_column part_columns[] = {
        MYR_COLUMN("id", "NAME", 0),
        MYR_COLUMN("kind", "KIND", 0),
        MYR_COLUMN("order", "ORDER NUMBER", MYR_COLUMN_WIDE),
        MYR_COLUMN("title", "TITLE", 0),
        {"watts", "WATTS", MYR_COLUMN_NUMBER, 1},
        MYR_COLUMN("source", "SOURCE", MYR_COLUMN_WIDE),
    };
    if (kinds) {
        myr_answer_table(answer, kinds, kind_columns, MYR_ARRAY_COUNT(kind_columns));
        myr_answer_next(answer, NULL, "%s --kind switch", cli_again(cli, cli->command, NULL));
        return; /* hundreds of parts are a list for programs */
    }
    myr_answer_table(answer, parts, part_columns, MYR_ARRAY_COUNT(part_columns));
}

static int run(struct cli *cli, struct myr_err *err)
{
    const struct options *options = cli->options;
    struct myr_answer *answer = &cli->answer;
    const char *word = cli->operands.count ? cli->operands.items[0] : NULL;
    /* A bit for each kind. */
    uint32_t wanted = UINT32_MAX;
    MYR_CLEANUP(myr_catalog_done) struct myr_catalog catalog = {};
    MYR_TRY(options->kind ? myr_part_kinds(options->kind, &wanted, err) : MYR_OK);
    MYR_TRY(cli_catalog(&catalog, &cli->arena, &options->catalogs, err));
    const struct myr_value *kinds = put_counts(answer, &catalog);
    const struct myr_value *parts = myr_answer_list(answer, "parts");
    for (size_t i = 0; i < catalog.parts.count; i++) {
        const struct myr_part *part = &catalog.parts.items[i];
        if ((wanted >> part->kind & 1) && (!word || myr_part_matches(part, word))) {
            put_part(answer, part);
        }
    }
    myr_answer_end(answer);
    /* A word that nothing matches is a "no". */
    cli->no = parts->count == 0;
    if (!cli->no || cli->common.format == MYR_FORMAT_CSV) { /* whose header comes from it */
        show(cli, word || options->kind ? NULL : kinds, parts);
    }
    if (cli->no) {
        myr_answer_para(answer, "No part%s%s has '%s' in its name, order number or title.",
                        options->kind ? " of the kind " : "", options->kind ? options->kind : "",
                        word ? word : "");
        myr_answer_next(answer, "for the kinds of parts", "%s",
                        cli_again_on(cli, cli->command, &(struct myr_operands){}, "kind"));
    }
    myr_answer_rows(answer, parts);
    return MYR_OK;
}

const struct cli_verb cli_catalog_verb = {&command, run, .group = CLI_DESIGN_GROUP};
