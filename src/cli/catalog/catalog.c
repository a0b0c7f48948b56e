/* catalog: the parts that a spec can name. */
#include "cli.h"

struct options {
    const char *kind;
    struct myr_option_list catalogs;
};

static const struct options defaults;

static const struct myr_option rows[] = {
    CLI_TEXT("kind", "KIND", struct options, kind,
             "only parts of this kind, such as switch, server, transceiver"),
    CLI_LIST("catalog", "FILE", struct options, catalogs,
             "own parts and prices, added to the built-in ones"),
};

static const struct myr_command command = {
    .name = "catalog",
    .operands = "[WORD]",
    .summary = "list the parts that a spec can name",
    .details = "Lists parts whose name, order number or title contains WORD.",
    .example = "myriad catalog --kind switch",
    CLI_OPTIONS(rows, defaults),
    .operand_max = 1,
};

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

static bool wanted(const struct options *options, const struct myr_part *part, const char *word)
{
    if (options->kind && !contains(myr_part_kind_name(part->kind), options->kind)) {
        return false;
    }
    return !word || contains(part->id, word) || contains(part->order, word) ||
           contains(part->title, word);
}

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

static int run(struct cli *cli, struct myr_err *err)
{
    static const struct myr_answer_column columns[] = {
        {"id", "NAME", 0, 0},
        {"kind", "KIND", 0, 0},
        {"order", "ORDER NUMBER", 0, 0},
        {"title", "TITLE", 0, 0},
        {"watts", "WATTS", MYR_COLUMN_NUMBER, 1},
        {"source", "SOURCE", MYR_COLUMN_WIDE, 0},
    };
    const struct options *options = cli->options;
    struct myr_answer *answer = &cli->answer;
    MYR_CLEANUP(myr_catalog_done) struct myr_catalog catalog = {0};
    int rc = cli_catalog(&catalog, &cli->arena, &options->catalogs, err);
    if (rc < 0) {
        return rc;
    }
    const char *word = cli->operands.count ? cli->operands.items[0] : NULL;
    struct myr_value *parts = myr_answer_list(answer, "parts");
    for (size_t i = 0; i < catalog.parts.count; i++) {
        if (wanted(options, &catalog.parts.items[i], word)) {
            put_part(answer, &catalog.parts.items[i]);
        }
    }
    myr_answer_end(answer);
    myr_answer_table(answer, parts, columns, MYR_ARRAY_COUNT(columns));
    myr_answer_rows(answer, parts);
    return MYR_OK;
}

const struct cli_verb cli_catalog_verb = {&command, run, .group = CLI_DESIGN_GROUP};
