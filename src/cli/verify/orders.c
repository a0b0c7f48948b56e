/*
 * verify orders: the repair as work for people, and what was mended since the last run. Orders and
 * the state that the next run is compared with are written as one set of files.
 */
#include <unistd.h>

#include "cli.h"
#include "myriad/base/file_set.h"
#include "myriad/site.h"
#include "verify/verify.h"

struct options {
    struct cli_verify built;
    const char *out, *state;
    uint64_t crews;
    struct myr_option_list colours;
};

static const struct options defaults = {.built = {.from = MYR_IMPORT_AUTO}, .crews = 1};

static const struct myr_option rows[] = {
    CLI_OUTPUT_FOLDER("out", "DIR", struct options, out,
                      "folder for orders.csv, orders.html, both in Chinese too, and state.csv"),
    CLI_COUNT("crews", struct options, crews, 1, 1000, "people or pairs who work at once"),
    CLI_PATH("state", "FILE", struct options, state,
             "what the run before left, instead of state.csv in the folder"),
    CLI_LIST("colour", "LAYER=COLOUR", struct options, colours,
             "what cables of a layer look like, such as host=blue; else by their kind"),
    CLI_VERIFY_ROWS(struct options, built),
};

const struct myr_command cli_verify_orders_command = {
    .name = "verify orders",
    .operands = "DESIGN FILE...",
    .summary = "work orders for the repair, and what was mended since",
    .details =
        "Writes each step of the repair as an order for people: rack and unit of both ends, "
        "number, flag, length and colour of the cable, what else is in the cage, in walking order "
        "for each crew. Lists are CSV, sheets to print are HTML with a code to scan, both also in "
        "Chinese. What was found is kept in state.csv: the next run says what was mended, what "
        "came new, and what nobody sees any more. The exit status is that of verify.",
    .example = "myriad verify orders design.myr fabric.txt --out orders --crews 2",
    CLI_OPTIONS(rows, defaults),
    .operand_min = 2,
    .operand_max = MYR_OPERANDS_MAX,
};

static int write_files(const struct myr_orders *orders, const struct options *options,
                       struct myr_err *err)
{
    struct myr_file_set set MYR_CLEANUP(myr_file_set_abandon) = {};
    static const struct {
        const char *name;
        void (*put)(const struct myr_orders *, enum myr_language, struct myr_buf *);
        enum myr_language language;
    } files[] = {{"orders.csv", myr_orders_csv, MYR_ENGLISH},
                 {"orders.zh.csv", myr_orders_csv, MYR_CHINESE},
                 {"orders.html", myr_orders_html, MYR_ENGLISH},
                 {"orders.zh.html", myr_orders_html, MYR_CHINESE}};
    MYR_TRY(myr_file_set_begin(&set, options->out, err));
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(files); i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
        files[i].put(orders, files[i].language, &text);
        MYR_TRY(myr_file_set_add(&set, files[i].name, &text, err));
    }
    /* Last: a run that could not be written did not happen. */
    MYR_CLEANUP(myr_buf_done) struct myr_buf state = {};
    myr_orders_state(orders, &state);
    MYR_TRY(myr_file_set_add(&set, "state.csv", &state, err));
    return myr_file_set_commit(&set, err);
}

/* The file that was named must be there; the one in the folder only after a first run. */
static int read_state(struct cli *cli, struct myr_orders *orders, const struct options *options,
                      struct myr_err *err)
{
    if (options->state) {
        return myr_orders_since(orders, options->state, err);
    }
    if (!options->out) {
        return MYR_OK;
    }
    const char *path = myr_arena_printf(&cli->arena, "%s/state.csv", options->out);
    return access(path, F_OK) == 0 ? myr_orders_since(orders, path, err) : MYR_OK;
}

static int run(struct cli *cli, struct myr_err *err)
{
    const struct options *options = cli->options;
    struct myr_orders_question question = {.crews = (uint32_t)options->crews,
                                           .colours = options->colours.items,
                                           .colour_count = options->colours.count};
    struct myr_orders orders;
    MYR_CLEANUP(myr_built_close) struct myr_built built;
    MYR_TRY(cli_verify_open(cli, &options->built, &built, err));
    /* Of the same repair that verify tells. */
    MYR_TRY(myr_orders_make(&orders, &cli->arena, &built.verify, &built.catalog, &question, err));
    /* Before it is written anew: what the last run found is in the same file. */
    MYR_TRY(read_state(cli, &orders, options, err));
    if (options->out) {
        MYR_TRY(write_files(&orders, options, err));
    }
    myr_orders_answer(&orders, &cli->answer);
    myr_built_put(&built, &cli->answer);
    myr_built_say(&built, &cli->answer);
    if (!options->out) {
        myr_answer_next(&cli->answer, "for sheets to print", "%s --out orders",
                        cli_again(cli, cli->command, "out"));
    }
    cli->no = !myr_verify_clean(&built.verify);
    return MYR_OK;
}

const struct cli_verb cli_verify_orders_verb = {.row = &cli_verify_orders_command, .run = run};
