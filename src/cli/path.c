#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "fabric_args.h"

static struct {
    uint32_t format, policy;
    uint64_t seed;
    bool polarised;
    const char *svg;
    struct fabric_args args;
} options = {.args = {.question = {.axis = "all"}}, .policy = MYR_POLICY_PLANNED};

static const struct myr_option option_rows[] = {
    CLI_OUTPUT_OPTION(options.format),
    {.name = "policy",
     .type = MYR_OPTION_CHOICE,
     .value = "POLICY",
     .help = "load-balance policy",
     .target = &options.policy,
     .choices = myr_policy_names,
     .choice_count = MYR_POLICY_COUNT},
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
    {.name = "svg",
     .type = MYR_OPTION_PATH,
     .value = "FILE",
     .help = "draw the devices and links used",
     .target = &options.svg},
};

const struct myr_command *cli_path_command(void)
{
    static const struct myr_command command = {
        .name = "path",
        .operands = "DESIGN",
        .summary = "every device and link that a job's flows use, with its load",
        .details = "Lists the servers, GPUs, NICs, switches and links on the paths of the flows. "
                   "Loads are fractions of a link's line rate, one direction: 'up' is away from "
                   "the hosts. -o csv lists the links only.",
        .example = "myriad path out/h100-10k/design.myr --nodes 0-63 --layout tp=8,pp=4 "
                   "--svg job.svg",
        .options = option_rows,
        .option_count = MYR_ARRAY_COUNT(option_rows),
        .operand_min = 0,
        .operand_max = 1,
    };
    return &command;
}

static double as_load(uint64_t load)
{
    return (double)load / (double)MYR_LOAD_ONE;
}

/* --- tables */

static const struct myr_column nic_columns[] = {
    {"node", "SERVER", 0},
    {"gpus", "GPUS", 0},
    {"nic", "NIC", 0},
    {"switch", "SWITCH", 0},
    {"send_load", "SEND", MYR_COLUMN_NUMBER},
    {"receive_load", "RECEIVE", MYR_COLUMN_NUMBER},
};

static const struct myr_column switch_columns[] = {
    {"device", "SWITCH", 0},
    {"kind", "KIND", 0},
    {"links", "LINKS USED", MYR_COLUMN_NUMBER},
    {"max_load", "MAX LOAD", MYR_COLUMN_NUMBER},
};

static const struct myr_column link_columns[] = {
    {"link", "LINK", 0},
    {"layer", "LAYER", 0},
    {"a", "FROM", 0},
    {"b", "TO", 0},
    {"gbps", "GB/S", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE},
    {"flows_up", "FLOWS UP", MYR_COLUMN_NUMBER},
    {"load_up", "LOAD UP", MYR_COLUMN_NUMBER},
    {"flows_down", "FLOWS DOWN", MYR_COLUMN_NUMBER},
    {"load_down", "LOAD DOWN", MYR_COLUMN_NUMBER},
};

/* GPUs beside a NIC port: "0", or "0-3" where several share it; other hosts have none. */
static const char *gpus_of(struct myr_arena *arena, const struct myr_use_nic *nic)
{
    return nic->first_gpu == MYR_NONE ? NULL
           : nic->first_gpu == nic->last_gpu
               ? myr_arena_printf(arena, "%u", nic->first_gpu)
               : myr_arena_printf(arena, "%u-%u", nic->first_gpu, nic->last_gpu);
}

static void fill_nics(struct myr_fabric_case *input, const struct myr_use *use,
                      struct myr_table *table)
{
    struct myr_arena *arena = &input->arena;
    struct myr_use_nics nics = myr_use_nics(use, arena);
    for (size_t i = 0; i < nics.count; i++) {
        const struct myr_use_nic *nic = &nics.items[i];
        const char *port = strchr(myr_name_port(arena, &input->design, nic->port), ':');
        myr_table_text(table, myr_name_device(arena, &input->design, nic->device));
        myr_table_text(table, gpus_of(arena, nic));
        myr_table_text(table, port + 1);
        myr_table_text(table, myr_name_device(arena, &input->design, nic->peer));
        myr_table_double(table, as_load(nic->send), 3);
        myr_table_double(table, as_load(nic->receive), 3);
    }
}

static void fill_switches(struct myr_fabric_case *input, const struct myr_use *use,
                          struct myr_table *table)
{
    const struct myr_graph *graph = &input->graph;
    for (uint32_t i = 0; i < graph->switch_count; i++) {
        uint32_t device = graph->first_switch + i;
        if (use->links[device]) {
            enum myr_device_kind kind = (enum myr_device_kind)input->design.place[device].kind;
            myr_table_text(table, myr_name_device(&input->arena, &input->design, device));
            myr_table_text(table, myr_device_kind_name(kind));
            myr_table_u64(table, use->links[device]);
            myr_table_double(table, as_load(use->highest[device]), 3);
        }
    }
}

static void fill_links(struct myr_fabric_case *input, const struct myr_use *use,
                       struct myr_table *table)
{
    const struct myr_design *design = &input->design;
    for (uint32_t link = 0; link < design->link_count; link++) {
        if (!myr_use_link(use, link)) {
            continue;
        }
        uint32_t type = design->cable_type[design->link_cable[link]];
        myr_table_text(table, myr_name_link(&input->arena, link));
        myr_table_text(table, myr_layer_names[design->cabletypes[type].layer]);
        myr_table_text(table, myr_name_port(&input->arena, design, design->link_a[link]));
        myr_table_text(table, myr_name_port(&input->arena, design, design->link_b[link]));
        myr_table_u64(table, design->cabletypes[type].gbps);
        for (uint32_t way = 0; way < 2; way++) {
            if (use->routes.sprayed) {
                myr_table_text(table, NULL); /* every flow is everywhere */
            } else {
                myr_table_u64(table, use->flows[link * 2 + way]);
            }
            myr_table_double(table, as_load(use->load[link * 2 + way]), 3);
        }
    }
}

struct listing {
    const char *key;
    const struct myr_column *columns;
    uint32_t column_count;
    void (*fill)(struct myr_fabric_case *, const struct myr_use *, struct myr_table *);
};

static const struct listing listings[] = {
    {"nics", nic_columns, MYR_ARRAY_COUNT(nic_columns), fill_nics},
    {"switches", switch_columns, MYR_ARRAY_COUNT(switch_columns), fill_switches},
    {"links", link_columns, MYR_ARRAY_COUNT(link_columns), fill_links},
};

static void put_listing(struct myr_fabric_case *input, const struct myr_use *use,
                        const struct listing *listing, enum myr_format format, struct myr_buf *buf)
{
    struct myr_table table;
    myr_table_init(&table, &input->arena, listing->columns, listing->column_count);
    listing->fill(input, use, &table);
    myr_table_write(&table, format, buf);
    myr_table_done(&table);
}

/* --- summary */

static void put_summary(const struct myr_use *use, const struct myr_balance_report *report,
                        struct myr_json *json)
{
    myr_json_text(json, "policy", myr_policy_names[options.policy]);
    myr_json_u64(json, "flows", use->flow_count);
    myr_json_u64(json, "unroutable", report->unroutable);
    myr_json_double(json, "max_link_load", report->max_load, 6);
    myr_json_double(json, "mean_link_load", report->mean_load, 6);
    myr_json_double(json, "share_of_ideal", report->share_of_ideal, 6);
    myr_json_double(json, "bound", report->bound, 6);
}

static void put_all_json(struct myr_fabric_case *input, const struct myr_use *use,
                         const struct myr_balance_report *report, struct myr_buf *buf)
{
    struct myr_json json;
    struct myr_buf list = {0};
    myr_json_init(&json, buf, MYR_JSON_PRETTY);
    myr_json_object(&json, NULL);
    put_summary(use, report, &json);
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(listings); i++) {
        myr_buf_clear(&list);
        put_listing(input, use, &listings[i], MYR_FORMAT_JSON, &list);
        while (list.len && list.data[list.len - 1] == '\n') {
            list.len--;
        }
        myr_json_raw(&json, listings[i].key, (struct myr_str){list.data, list.len});
    }
    myr_json_end(&json);
    myr_buf_putc(buf, '\n');
    myr_buf_done(&list);
}

static void put_all(struct myr_fabric_case *input, const struct myr_use *use,
                    const struct myr_balance_report *report, struct myr_buf *buf)
{
    enum myr_format format = (enum myr_format)options.format;
    if (format == MYR_FORMAT_JSON) {
        put_all_json(input, use, report, buf);
        return;
    }
    if (format == MYR_FORMAT_CSV || format == MYR_FORMAT_YAML) {
        put_listing(input, use, &listings[2], format, buf);
        return;
    }
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(listings); i++) {
        put_listing(input, use, &listings[i], format, buf);
        myr_buf_putc(buf, '\n');
    }
    myr_buf_printf(buf,
                   "%zu flows, policy %s: maximum load %.3f (at least %.3f), mean %.3f, "
                   "share of ideal %.3f, %u without a path\n",
                   use->flow_count, myr_policy_names[options.policy], report->max_load,
                   report->bound, report->mean_load, report->share_of_ideal, report->unroutable);
}

static int write_drawing(const struct myr_use *use, struct myr_err *err)
{
    struct myr_buf svg = {0};
    myr_use_draw(use, &svg);
    int r = myr_file_write(options.svg, &svg, err);
    myr_buf_done(&svg);
    return r;
}

static int show(struct myr_fabric_case *input, struct myr_buf *buf, struct myr_err *err)
{
    MYR_CLEANUP(myr_use_done) struct myr_use use = {0};
    struct myr_balance_options balance = {(enum myr_policy)options.policy, options.seed,
                                          options.polarised};
    int rc = myr_use_find(&use, &input->arena, &input->graph, &balance, input->flows.items.items,
                          input->flows.items.count, err);
    if (rc == MYR_OK && options.svg) {
        rc = write_drawing(&use, err);
    }
    if (rc == MYR_OK) {
        put_all(input, &use, &use.report, buf);
    }
    return rc;
}

int cli_path(const struct myr_operands *operands)
{
    struct myr_fabric_case input = {0};
    struct myr_err err = {0};
    struct myr_buf buf = {0};
    int r = fabric_args_design(&options.args, operands, 0, &err);
    r = r < 0 ? r : fabric_args_open(&options.args, true, &input, &err);
    r = r < 0 ? r : show(&input, &buf, &err);
    int code = r < 0 ? cli_error(&err) : cli_print(&buf);
    myr_buf_done(&buf);
    myr_fabric_close(&input);
    return code;
}
