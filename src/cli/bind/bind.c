/*
 * bind: which real device stands in which place of the design. Discovery is read as verify reads
 * it; what devices are called and how they are cabled says which is which.
 */
#include "cli.h"
#include "myriad/site.h"

/* In the order of enum myr_net_id, with "all" behind them. */
static const char *const nets[] = {"compute", "storage", "service", "oob", "all"};

struct options {
    uint32_t from, net;
    bool by_wiring;
    const char *out, *binding, *port_names, *hosts;
    struct myr_option_list hcas;
};

static const struct options defaults = {.from = MYR_IMPORT_AUTO};

static const struct myr_option rows[] = {
    {CLI_ROW("from", MYR_OPTION_CHOICE, "FORMAT", struct options, from,
             "what the files are; auto looks at how they begin"),
     .choices = myr_import_names, .choice_count = MYR_IMPORT_FORMAT_COUNT},
    {CLI_ROW("out", MYR_OPTION_PATH, "FILE", struct options, out,
             "where the binding goes (else: print it)"),
     .writes = true, .prints = true, .renews = "binding"},
    CLI_PATH("binding", "FILE", struct options, binding,
             "a binding to add to; what it says is kept"),
    CLI_TEXT("hosts", "RULE", struct options, hosts,
             "names of hosts by the nodes' numbers, such as gpu{n+1:3}; no FILE is needed"),
    CLI_CHOICE("net", "NETWORK", struct options, net, nets, "the network that the files are about"),
    CLI_LIST("hca-map", "NAME=PORT", struct options, hcas,
             "what hosts call a port of the design, such as mlx5_3=nic1; or a file with the "
             "columns port and hca-name"),
    CLI_PATH("port-names", "FILE", struct options, port_names,
             "your own rules of port names, as in catalog/port-names.csv"),
    CLI_FLAG("by-wiring", struct options, by_wiring,
             "bind devices that have each other's cables as what their cables say"),
};

static const struct myr_command command = {
    .name = "bind",
    .operands = "DESIGN [FILE...]",
    .summary = "note which real device stands in which place of the design",
    .details = "Makes a binding.yaml from discovery: GUIDs, MAC addresses, host names, "
               "management addresses and the ports' own names. Devices are told by name, else "
               "by their cables. Without --out the binding is printed; with -o json, yaml or csv "
               "its rows. --hosts names hosts by a rule, before any is there. The exit status is 1 "
               "when something could not be bound, or nothing was.",
    .example = "myriad bind design.myr --from ibnetdiscover fabric.txt --out binding.yaml",
    CLI_OPTIONS(rows, defaults),
    .operand_min = 1,
    .operand_max = MYR_OPERANDS_MAX,
};

static int run(struct cli *cli, struct myr_err *err)
{
    const struct options *options = cli->options;
    struct myr_built_question question = {.design = cli->operands.items[0],
                                          .files = cli->operands.items + 1,
                                          .file_count = cli->operands.count - 1,
                                          .from = (enum myr_import_format)options->from,
                                          .net = options->net,
                                          .binding = options->binding,
                                          .hca_map = options->hcas.items,
                                          .hca_count = options->hcas.count,
                                          .port_names = options->port_names};
    if (question.file_count == 0 && !options->hosts) {
        return myr_err_set(err, MYR_EINVAL, "give FILEs of what was found, or --hosts RULE");
    }
    MYR_CLEANUP(myr_built_close) struct myr_built built;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_discovery found = {};
    bool print = !options->out || myr_file_is_stdout(options->out);
    MYR_TRY(myr_built_open(&built, &question, err));
    uint32_t before = (uint32_t)built.binding.rows.count;
    if (options->hosts) {
        MYR_TRY(myr_binding_name_hosts(&built.binding, options->hosts, err));
    }
    uint32_t named = (uint32_t)built.binding.rows.count - before;
    myr_binding_discover(&built.binding, &built.verify, options->by_wiring, &found);
    found.bound += named;
    myr_binding_write(&built.binding, &text);
    if (!print) {
        MYR_TRY(myr_file_write(options->out, &text, err));
        myr_answer_next(&cli->answer, NULL, "%s --binding %s",
                        cli_again(cli, cli_verify_verb.row, "binding"),
                        myr_answer_word(&cli->answer, options->out));
    } else if (cli->common.format <= MYR_FORMAT_WIDE) {
        /* What could not be bound is said in the file itself, as a remark. */
        myr_discovery_remarks(&built.binding, &found, &cli->document);
        myr_built_remarks(&built, &cli->document);
        myr_buf_put(&cli->document, text.data, text.len);
    }
    myr_answer_rows(&cli->answer, myr_binding_answer(&built.binding, &found, &cli->answer));
    myr_built_put(&built, &cli->answer);
    myr_built_say(&built, &cli->answer);
    /* Written in any case: what could be bound is of use, and can be added to. */
    cli->no = found.unknown + found.by_cable_ports + found.contradicted + found.conflicts > 0 ||
              built.binding.rows.count == 0;
    return MYR_OK;
}

const struct cli_verb cli_bind_verb = {&command, run, .group = CLI_BUILD_GROUP};
