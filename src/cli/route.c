#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "fabric_args.h"
#include "myriad/site.h"
#include "route_apply.h"
#include "route_repair.h"

static const char *const policy_choices[] = {"all",     "ecmp",  "ecmp-xor", "port",   "static",
                                             "flowlet", "spray", "adaptive", "planned"};

static struct {
    uint32_t format, policy;
    uint64_t seed;
    bool polarised;
    struct fabric_args args;
    struct route_apply apply;
    struct repair_args repair;
} options = {.args = {.question = {.axis = "dp"}}};

static const struct myr_option option_rows[] = {
    CLI_OUTPUT_OPTION(options.format),
    {.name = "policy",
     .type = MYR_OPTION_CHOICE,
     .value = "POLICY",
     .help = "load-balance policy; all of them side by side when absent",
     .target = &options.policy,
     .choices = policy_choices,
     .choice_count = MYR_ARRAY_COUNT(policy_choices)},
    FABRIC_ARGS_ROWS(options.args),
    {.name = "seed",
     .type = MYR_OPTION_U64,
     .value = "N",
     .help = "of the hashes",
     .target = &options.seed},
    {.name = "polarised",
     .type = MYR_OPTION_FLAG,
     .help = "every switch hashes with the same seed",
     .target = &options.polarised},
    {.name = "tables",
     .type = MYR_OPTION_PATH,
     .value = "FILE",
     .help = "paths from a subnet's own tables instead, as dump_lfts prints them",
     .target = &options.apply.tables},
    {.name = "for",
     .type = MYR_OPTION_CHOICE,
     .value = "TARGET",
     .help = "apply: opensm (tables for -R file) or roce (a UDP source port each)",
     .target = &options.apply.target,
     .choices = myr_apply_target_names,
     .choice_count = MYR_APPLY_TARGET_COUNT},
    {.name = "out",
     .type = MYR_OPTION_PATH,
     .value = "FILE",
     .help = "apply: the file to write",
     .target = &options.apply.question.out},
    {.name = "hash",
     .type = MYR_OPTION_CHOICE,
     .value = "HASH",
     .help = "apply roce: how the switches hash",
     .target = &options.apply.hash,
     .choices = myr_switch_hash_names,
     .choice_count = MYR_SWITCH_HASH_COUNT},
    {.name = "seeds",
     .type = MYR_OPTION_PATH,
     .value = "FILE",
     .help = "apply roce: CSV of device,seed; --seed for the others",
     .target = &options.apply.question.seeds},
    {.name = "order",
     .type = MYR_OPTION_PATH,
     .value = "FILE",
     .help = "apply roce: CSV of device,port: the order of next hops; by port when absent",
     .target = &options.apply.question.order},
    {.name = "binding",
     .type = MYR_OPTION_PATH,
     .value = "FILE",
     .help = "GUIDs of the real devices, for tables",
     .target = &options.apply.question.binding},
    {.name = "failover",
     .type = MYR_OPTION_FLAG,
     .help = "what happens when a link or a device dies",
     .target = &options.repair.failover},
    {.name = "link",
     .type = MYR_OPTION_TEXT,
     .value = "LINK",
     .help = "failover of this link only",
     .target = &options.repair.link},
    {.name = "device",
     .type = MYR_OPTION_TEXT,
     .value = "DEVICE",
     .help = "failover of this device only",
     .target = &options.repair.device},
    {.name = "all",
     .type = MYR_OPTION_FLAG,
     .help = "failover of every link and switch, not one of each kind",
     .target = &options.repair.all},
    {.name = "degraded",
     .type = MYR_OPTION_FLAG,
     .help = "bandwidth that is left without what --dead names",
     .target = &options.repair.degraded},
    {.name = "blast",
     .type = MYR_OPTION_TEXT,
     .value = "LIST",
     .help = "what these devices or domains take along when they die",
     .target = &options.repair.blast},
};

static const char details[] =
    "Puts flows on paths and reports the maximum and mean load of the links between switches (1 is "
    "line rate), the share of the ideal throughput that max-min fair rates reach, and what no "
    "routing can beat: a lower bound of the maximum load, an upper bound of the share.\n\n"
    "--failover says what happens when a link or a device dies: of every kind one, or the --link "
    "or --device named, or with --all (or -o csv) every one. --degraded says what is left of the "
    "fabric without what --dead names. --blast names devices or domains (pod/3, rail-group/7, "
    "scale-up/12) and counts what they take along. Flows are optional there.\n\n"
    "'route apply' plans the flows' paths and writes what makes a fabric take them: forwarding "
    "tables for OpenSM's file routing, or a source port for each RoCE connection that steers the "
    "switches' hashes.";

const struct myr_command *cli_route_command(void)
{
    static const struct myr_command command = {
        .name = "route",
        .operands = "[apply] DESIGN",
        .summary = "load of every link under a load-balance policy, and failover",
        .details = details,
        .example = "myriad route out/h100-10k/design.myr --layout tp=8,pp=8 --axis dp",
        .options = option_rows,
        .option_count = MYR_ARRAY_COUNT(option_rows),
        .operand_min = 0,
        .operand_max = 2,
    };
    return &command;
}

static void put_json(struct myr_json *json, enum myr_policy policy,
                     const struct myr_balance_report *report, size_t flows)
{
    myr_json_object(json, NULL);
    myr_json_text(json, "policy", myr_policy_names[policy]);
    myr_json_u64(json, "flows", flows);
    myr_json_u64(json, "unroutable", report->unroutable);
    myr_json_double(json, "max_link_load", report->max_load, 6);
    myr_json_double(json, "mean_link_load", report->mean_load, 6);
    myr_json_double(json, "share_of_ideal", report->share_of_ideal, 6);
    myr_json_double(json, "bound", report->bound, 6);
    myr_json_double(json, "throughput_bound", report->throughput_bound, 6);
    myr_json_u64(json, "loaded_channels", report->loaded);
    myr_json_end(json);
}

static void put_row(struct myr_table *table, enum myr_policy policy,
                    const struct myr_balance_report *report)
{
    myr_table_text(table, myr_policy_names[policy]);
    myr_table_double(table, report->max_load, 3);
    myr_table_double(table, report->mean_load, 3);
    myr_table_double(table, report->share_of_ideal, 3);
    myr_table_double(table, report->bound, 3);
    myr_table_double(table, report->throughput_bound, 3);
    myr_table_u64(table, report->unroutable);
}

static int report_all(const struct myr_fabric_case *input, struct myr_buf *buf, struct myr_err *err)
{
    static const struct myr_column columns[] = {
        {"policy", "POLICY", 0},
        {"max_link_load", "MAX LOAD", MYR_COLUMN_NUMBER},
        {"mean_link_load", "MEAN LOAD", MYR_COLUMN_NUMBER},
        {"share_of_ideal", "SHARE OF IDEAL", MYR_COLUMN_NUMBER},
        {"bound", "LOAD BOUND", MYR_COLUMN_NUMBER},
        {"throughput_bound", "SHARE BOUND", MYR_COLUMN_NUMBER},
        {"unroutable", "UNROUTABLE", MYR_COLUMN_NUMBER},
    };
    struct myr_arena arena;
    struct myr_table table;
    struct myr_json json;
    bool as_json = options.format == MYR_FORMAT_JSON, list = options.policy == 0;
    int r = MYR_OK;
    myr_arena_init(&arena);
    myr_table_init(&table, &arena, columns, MYR_ARRAY_COUNT(columns));
    myr_json_init(&json, buf, MYR_JSON_PRETTY);
    if (as_json && list) {
        myr_json_list(&json, NULL);
    }
    for (uint32_t policy = 0; r == MYR_OK && policy < MYR_POLICY_COUNT; policy++) {
        if (!list && policy + 1 != options.policy) {
            continue;
        }
        struct myr_balance_options balance = {(enum myr_policy)policy, options.seed,
                                              options.polarised};
        struct myr_balance_report report;
        r = myr_balance_report(&input->graph, &balance, input->flows.items.items,
                               input->flows.items.count, &report, err);
        if (r == MYR_OK && as_json) {
            put_json(&json, (enum myr_policy)policy, &report, input->flows.items.count);
        } else if (r == MYR_OK) {
            put_row(&table, (enum myr_policy)policy, &report);
        }
    }
    if (as_json && list) {
        myr_json_end(&json);
    }
    if (as_json) {
        myr_buf_putc(buf, '\n');
    } else {
        myr_table_write(&table, (enum myr_format)options.format, buf);
    }
    myr_table_done(&table);
    myr_arena_done(&arena);
    return r;
}

/* "apply DESIGN" or "DESIGN"; --design in place of the latter. */
static int operands_of(const struct myr_operands *operands, bool *ret_apply, struct myr_err *err)
{
    *ret_apply = operands->count > 0 && strcmp(operands->items[0], "apply") == 0;
    if (!*ret_apply && operands->count == 2) {
        int r = myr_err_set(err, MYR_EINVAL, "surplus operand '%.60s'", operands->items[1]);
        myr_err_hint(err, "myriad route DESIGN, or: myriad route apply DESIGN");
        return r;
    }
    options.apply.question.seed = options.seed;
    options.apply.question.keep_static = options.policy == MYR_POLICY_STATIC + 1;
    return fabric_args_design(&options.args, operands, *ret_apply, err);
}

static int report(struct myr_fabric_case *input, bool apply, struct myr_buf *buf,
                  struct myr_err *err)
{
    enum myr_format format = (enum myr_format)options.format;
    if (apply) {
        return route_apply(input, &options.apply, format, buf, err);
    }
    if (options.apply.tables) {
        return route_tables(input, &options.apply, format, buf, err);
    }
    if (repair_wanted(&options.repair)) {
        uint32_t policy = options.policy ? options.policy - 1 : MYR_POLICY_PLANNED;
        struct myr_balance_options balance = {(enum myr_policy)policy, options.seed,
                                              options.polarised};
        return repair_report(input, &options.repair, &balance, format, buf, err);
    }
    return report_all(input, buf, err);
}

int cli_route(const struct myr_operands *operands)
{
    struct myr_fabric_case input = {0};
    struct myr_err err = {0};
    struct myr_buf buf = {0};
    bool apply = false;
    int r = operands_of(operands, &apply, &err);
    bool optional = repair_wanted(&options.repair) || (apply && options.apply.question.keep_static);
    r = r < 0 ? r : fabric_args_open(&options.args, !optional, &input, &err);
    r = r < 0 ? r : report(&input, apply, &buf, &err);
    int code = r < 0 ? cli_error(&err) : cli_print(&buf);
    myr_buf_done(&buf);
    myr_fabric_close(&input);
    return code;
}
