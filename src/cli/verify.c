#include "built.h"

static const char *const list_choices[] = {"summary", "steps", "ports", "patterns"};

static struct {
    uint32_t from, format, net, list;
    bool equivalent, partial;
    uint64_t errors_max;
    const char *binding;
    struct myr_option_list speeds;
} options = {.from = MYR_IMPORT_AUTO, .format = MYR_FORMAT_TABLE};

static const struct myr_option option_rows[] = {
    {.name = "from",
     .type = MYR_OPTION_CHOICE,
     .value = "FORMAT",
     .help = "what the files are; auto looks at how they begin",
     .target = &options.from,
     .choices = myr_import_names,
     .choice_count = MYR_IMPORT_FORMAT_COUNT},
    CLI_OUTPUT_OPTION(options.format),
    {.name = "net",
     .type = MYR_OPTION_CHOICE,
     .value = "NETWORK",
     .help = "the network that is judged",
     .target = &options.net,
     .choices = cli_built_nets,
     .choice_count = CLI_BUILT_NETS},
    {.name = "list",
     .type = MYR_OPTION_CHOICE,
     .value = "WHAT",
     .help = "one list alone: repair steps, ports that are not right, or patterns",
     .target = &options.list,
     .choices = list_choices,
     .choice_count = MYR_ARRAY_COUNT(list_choices)},
    {.name = "equivalent",
     .type = MYR_OPTION_FLAG,
     .help = "parallel links, equal spines and equal cores may stand for each other",
     .target = &options.equivalent},
    {.name = "partial",
     .type = MYR_OPTION_FLAG,
     .help = "the files tell about some cables only: what they do not list is unseen",
     .target = &options.partial},
    {.name = "binding",
     .type = MYR_OPTION_PATH,
     .value = "FILE",
     .help = "binding.yaml: which GUID, host or address is which device",
     .target = &options.binding},
    {.name = "speed-map",
     .type = MYR_OPTION_LIST,
     .value = "SPEED=GBPS",
     .help = "what a link of four lanes stands for, such as HDR=400 with ibsim",
     .target = &options.speeds},
    {.name = "errors-max",
     .type = MYR_OPTION_U64,
     .value = "COUNT",
     .help = "symbol errors that a link may have before it is degraded",
     .target = &options.errors_max},
};

const struct myr_command *cli_verify_command(void)
{
    static const struct myr_command command = {
        .name = "verify",
        .operands = "DESIGN FILE...",
        .summary = "compare the built fabric with the design and list the fewest repairs",
        .details =
            "Reads what ibnetdiscover, LLDP, NetBox or a point-to-point list say about the built "
            "fabric and gives every planned port a state: right, wrong, missing, unseen, extra or "
            "degraded. The repair is the shortest possible one, in walking order. -o csv prints "
            "the steps. The exit status is 1 when a port is wrong, missing, extra or degraded.",
        .example = "myriad verify design.myr --from ibnetdiscover fabric.txt",
        .options = option_rows,
        .option_count = MYR_ARRAY_COUNT(option_rows),
        .operand_min = 2,
        .operand_max = MYR_OPERANDS_MAX,
    };
    return &command;
}

static void print_result(const struct myr_verify *verify, struct myr_buf *buf)
{
    enum myr_format format = (enum myr_format)options.format;
    bool for_programs = format == MYR_FORMAT_CSV || format == MYR_FORMAT_YAML;
    if (options.list || for_programs) {
        uint32_t list = options.list ? options.list - 1 : MYR_VERIFY_STEPS;
        myr_verify_write_list(verify, (enum myr_verify_list)list, format, buf);
    } else if (format == MYR_FORMAT_JSON) {
        myr_verify_write_json(verify, buf);
    } else {
        myr_verify_write_summary(verify, buf);
    }
}

int cli_verify(const struct myr_operands *operands)
{
    struct cli_built built;
    struct cli_built_question question = {
        .from = options.from,
        .net = options.net,
        .binding = options.binding,
        .speeds = &options.speeds,
        .partial = options.partial,
        .judge = {.equivalent = options.equivalent, .errors_max = options.errors_max}};
    struct myr_err err = {0};
    struct myr_buf buf = {0};
    int code = CLI_DONE;
    if (cli_built_open(&built, operands, &question, &err) < 0) {
        code = cli_error(&err);
    } else {
        print_result(&built.verify, &buf);
        code = cli_print(&buf);
        code = code == CLI_DONE && !myr_verify_clean(&built.verify) ? CLI_NO : code;
    }
    myr_buf_done(&buf);
    cli_built_close(&built);
    return code;
}
