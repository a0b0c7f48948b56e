/* verify: the built fabric against the design, and the fewest repairs. */
#include "cli.h"
#include "myriad/site.h"

static const char *const nets[] = {"compute", "storage", "service", "oob", "all"};
enum { LIST_SUMMARY }; /* the others are enum myr_verify_list, from 1 */
static const char *const lists[] = {"summary", "steps", "ports", "patterns", "unread"};

struct options {
    uint32_t from, net, list;
    bool equivalent, partial;
    uint64_t errors_max;
    const char *binding, *port_names;
    struct myr_option_list speeds, hcas;
};

static const struct options defaults = {.from = MYR_IMPORT_AUTO};

static const struct myr_option rows[] = {
    {CLI_ROW("from", MYR_OPTION_CHOICE, "FORMAT", struct options, from,
             "what the files are; auto looks at how they begin"),
     .choices = myr_import_names, .choice_count = MYR_IMPORT_FORMAT_COUNT},
    CLI_CHOICE("net", "NETWORK", struct options, net, nets, "the network that is judged"),
    CLI_CHOICE(
        "list", "WHAT", struct options, list, lists,
        "one list alone: repair steps, ports that are not right, patterns, or names not read"),
    CLI_FLAG("equivalent", struct options, equivalent,
             "parallel links, equal spines and equal cores may stand for each other"),
    CLI_FLAG("partial", struct options, partial,
             "a fabric under construction: what the files do not list is unseen, and no fault"),
    CLI_PATH("binding", "FILE", struct options, binding,
             "binding.yaml: which GUID, host or address is which device"),
    CLI_LIST("speed-map", "SPEED=GBPS", struct options, speeds,
             "what a link of four lanes stands for, such as HDR=400 with ibsim"),
    CLI_LIST("hca-map", "NAME=PORT", struct options, hcas,
             "what hosts call a port of the design, such as mlx5_3=nic1; or a file with the "
             "columns port and hca-name"),
    CLI_PATH("port-names", "FILE", struct options, port_names,
             "your own rules of port names, as in catalog/port-names.csv"),
    CLI_COUNT("errors-max", struct options, errors_max, 0, 0,
              "symbol errors that a link may have before it is degraded"),
};

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
};

/* Every list is in the tree but the ports, of which there may be a hundred thousand. */
static void show(struct cli *cli, const struct options *options, const struct myr_built *built)
{
    struct myr_answer *answer = &cli->answer;
    struct myr_verify_lists found;
    bool summary = options->list == LIST_SUMMARY;
    enum myr_verify_list list =
        summary ? MYR_VERIFY_STEPS : (enum myr_verify_list)(options->list - 1);
    myr_verify_answer(&built->verify, list == MYR_VERIFY_PORTS, answer, &found);
    myr_answer_u64(answer, "truncated_files", built->truncated);
    myr_answer_rows(answer, found.lists[list]);
    /* Also for CSV, whose header comes from it where the list is empty. */
    if (!summary || cli->common.format == MYR_FORMAT_CSV) {
        myr_verify_page_list(&found, list, answer);
        return;
    }
    myr_verify_page(&built->verify, answer);
    if (built->truncated) {
        myr_answer_para(answer, "%u LLDP texts end early: what they do not list is unseen",
                        built->truncated);
    }
    if (built->verify.repair.step_count) {
        myr_answer_next(answer, "%s --list steps -o csv", cli_again(cli, cli->command, "list"));
    }
}

static int run(struct cli *cli, struct myr_err *err)
{
    const struct options *options = cli->options;
    struct myr_built_question question = {
        .design = cli->operands.items[0],
        .files = cli->operands.items + 1,
        .file_count = cli->operands.count - 1,
        .from = (enum myr_import_format)options->from,
        .net = options->net,
        .binding = options->binding,
        .speeds = options->speeds.items,
        .speed_count = options->speeds.count,
        .hca_map = options->hcas.items,
        .hca_count = options->hcas.count,
        .port_names = options->port_names,
        .partial = options->partial,
        .judge = {.equivalent = options->equivalent, .errors_max = options->errors_max}};
    MYR_CLEANUP(myr_built_close) struct myr_built built;
    MYR_TRY(myr_built_open(&built, &question, err));
    show(cli, options, &built);
    cli->no = !myr_verify_clean(&built.verify);
    return MYR_OK;
}

const struct cli_verb cli_verify_verb = {&command, run, .group = CLI_BUILD_GROUP};
