#include <stdio.h>

#include "built.h"

static struct {
    uint32_t from, net;
    bool by_wiring;
    const char *out, *binding;
} options = {.from = MYR_IMPORT_AUTO};

const struct myr_command *cli_bind_command(void)
{
    static const struct myr_option rows[] = {
        {.name = "from",
         .type = MYR_OPTION_CHOICE,
         .value = "FORMAT",
         .help = "what the files are; auto looks at how they begin",
         .target = &options.from,
         .choices = myr_import_names,
         .choice_count = MYR_IMPORT_FORMAT_COUNT},
        {.name = "out",
         .type = MYR_OPTION_PATH,
         .value = "FILE",
         .help = "where the binding goes (else: print it)",
         .target = &options.out},
        {.name = "binding",
         .type = MYR_OPTION_PATH,
         .value = "FILE",
         .help = "a binding to add to; what it says is kept",
         .target = &options.binding},
        {.name = "net",
         .type = MYR_OPTION_CHOICE,
         .value = "NETWORK",
         .help = "the network that the files are about",
         .target = &options.net,
         .choices = cli_built_nets,
         .choice_count = CLI_BUILT_NETS},
        {.name = "by-wiring",
         .type = MYR_OPTION_FLAG,
         .help = "bind devices that have each other's cables as what their cables say",
         .target = &options.by_wiring},
    };
    static const struct myr_command command = {
        .name = "bind",
        .operands = "DESIGN FILE...",
        .summary = "note which real device stands in which place of the design",
        .details = "Makes a binding.yaml from discovery: GUIDs, MAC addresses, host names, "
                   "management addresses and the ports' own names. Devices are told by name, else "
                   "by their cables. The exit status is 1 when something could not be bound.",
        .example = "myriad bind design.myr --from ibnetdiscover fabric.txt --out binding.yaml",
        .options = rows,
        .option_count = MYR_ARRAY_COUNT(rows),
        .operand_min = 2,
        .operand_max = MYR_OPERANDS_MAX,
    };
    return &command;
}

static int write_out(const struct myr_binding *binding, struct myr_err *err)
{
    struct myr_buf buf = {0};
    int r = MYR_OK;
    myr_binding_write(binding, &buf);
    if (options.out) {
        r = myr_file_write(options.out, &buf, err);
    } else if (cli_print(&buf) != CLI_DONE) {
        r = myr_err_set(err, MYR_EIO, "cannot write to standard output");
    }
    myr_buf_done(&buf);
    return r;
}

static int report(const struct myr_binding *binding, const struct myr_discovery *found)
{
    fprintf(stderr, "%u places bound, %zu in all\n", found->bound, (size_t)binding->rows.count);
    if (found->unknown) {
        fprintf(stderr, "%u found devices are unknown: no name and no cable tells what they are\n",
                found->unknown);
    }
    if (found->contradicted) {
        fprintf(stderr, "%u devices left out: they have the cables of another device\n",
                found->contradicted);
        fprintf(stderr, "hint: myriad verify shows them; --by-wiring binds what the cables say\n");
    }
    if (found->conflicts) {
        const struct myr_bound *old = &binding->rows.items[found->conflict_row];
        struct myr_buf name = {0};
        myr_design_name(binding->design, old->device, &name);
        fprintf(stderr, "%u places are bound otherwise already and were left; the first is %s\n",
                found->conflicts, name.data);
        myr_buf_done(&name);
    }
    return found->unknown + found->contradicted + found->conflicts ? CLI_NO : CLI_DONE;
}

int cli_bind(const struct myr_operands *operands)
{
    struct cli_built built;
    struct cli_built_question question = {
        .from = options.from, .net = options.net, .binding = options.binding};
    struct myr_discovery found = {0};
    struct myr_err err = {0};
    int r = cli_built_open(&built, operands, &question, &err);
    if (r == MYR_OK) {
        myr_binding_discover(&built.binding, &built.verify, options.by_wiring, &found);
        r = write_out(&built.binding, &err);
    }
    int code = r < 0 ? cli_error(&err) : report(&built.binding, &found);
    cli_built_close(&built);
    return code;
}
