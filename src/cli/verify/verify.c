/* verify: the built fabric against the design, and the fewest repairs. */
#include "verify/verify.h"

enum { LIST_SUMMARY }; /* the others are enum myr_verify_list, from 1 */
static const char *const lists[] = {"summary", "steps", "ports", "patterns", "unread"};

struct options {
    uint32_t list;
    struct cli_verify built;
};

static const struct options defaults = {.built = {.from = MYR_IMPORT_AUTO}};

static const struct myr_option rows[] = {
    CLI_CHOICE(
        "list", "WHAT", struct options, list, lists,
        "one list alone: repair steps, ports that are not right, patterns, or names not read"),
    CLI_VERIFY_ROWS(struct options, built),
};

static const struct myr_command *const subcommands[] = {&cli_verify_orders_command};

static const struct myr_command command = {
    .name = "verify",
    .operands = "DESIGN FILE...",
    .summary = "compare the built fabric with the design; the fewest repairs",
    .details =
        "Reads what ibnetdiscover, LLDP, NetBox or a point-to-point list say about the built "
        "fabric and gives every planned port a state: right, wrong, missing, unseen, extra or "
        "degraded, or unread where a name cannot be placed. The repair is the shortest possible "
        "one, in walking order. -o csv prints the steps, or the list that --list names. The exit "
        "status is 1 unless all of the plan was seen, read and right; --partial forgives what "
        "was not seen or read.",
    .example = "myriad verify design.myr --from ibnetdiscover fabric.txt",
    CLI_OPTIONS(rows, defaults),
    .operand_min = 2,
    .operand_max = MYR_OPERANDS_MAX,
    .subcommands = subcommands,
    .subcommand_count = MYR_ARRAY_COUNT(subcommands),
};

/* Every list is in the tree but the ports, of which there may be a hundred thousand. */
static void show(struct cli *cli, const struct options *options, const struct myr_built *built)
{
    struct myr_answer *answer = &cli->answer;
    struct myr_verify_lists found;
    /* The summary has steps as its rows: they are what is to be done. */
    bool summary = options->list == LIST_SUMMARY;
    enum myr_verify_list list =
        summary ? MYR_VERIFY_STEPS : (enum myr_verify_list)(options->list - 1);
    myr_verify_answer(&built->verify, list == MYR_VERIFY_PORTS, answer, &found);
    myr_built_put(built, answer);
    myr_answer_rows(answer, found.lists[list]);
    /* Also for CSV, whose header comes from it where the list is empty. */
    if (!summary || cli->common.format == MYR_FORMAT_CSV) {
        myr_verify_page_list(&found, list, answer);
        return;
    }
    myr_verify_page(&built->verify, answer);
    myr_built_say(built, answer);
    if (built->verify.repair.step_count) {
        myr_answer_next(answer, "for sheets to print", "%s --out orders",
                        cli_again(cli, &cli_verify_orders_command, "list"));
    }
}

static int run(struct cli *cli, struct myr_err *err)
{
    const struct options *options = cli->options;
    MYR_CLEANUP(myr_built_close) struct myr_built built;
    MYR_TRY(cli_verify_open(cli, &options->built, &built, err));
    show(cli, options, &built);
    cli->no = !myr_verify_clean(&built.verify);
    return MYR_OK;
}

const struct cli_verb cli_verify_verb = {&command, run, .group = CLI_BUILD_GROUP};
