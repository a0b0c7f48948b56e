#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "fabric_args.h"
#include "path_draw.h"

static struct {
    uint32_t format, policy;
    uint64_t seed;
    bool polarised;
    const char *svg;
    struct fabric_args args;
} options = {.args = {.axis = "all"}, .policy = MYR_POLICY_PLANNED};

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

/* --- what is used */

static double as_load(uint64_t load)
{
    return (double)load / (double)MYR_LOAD_ONE;
}

static void count_uses(struct path_use *use)
{
    const struct myr_design *design = use->graph->design;
    const struct myr_routes *routes = &use->routes;
    use->flows = myr_xcalloc((size_t)design->link_count * 2 + 1, sizeof(uint32_t));
    use->highest = myr_xcalloc((size_t)design->device_count + 1, sizeof(uint64_t));
    use->links = myr_xcalloc((size_t)design->device_count + 1, sizeof(uint32_t));
    for (size_t r = 0; r < routes->flow.count; r++) {
        /* Pieces of a flow lie behind each other; each counts where it goes. */
        for (uint32_t i = routes->start.items[r]; i < routes->start.items[r + 1]; i++) {
            use->flows[routes->channels.items[i]]++;
        }
    }
    for (uint32_t link = 0; link < design->link_count; link++) {
        uint64_t up = use->load[link * 2], down = use->load[link * 2 + 1];
        uint64_t more = up > down ? up : down;
        uint32_t ports[] = {design->link_a[link], design->link_b[link]};
        for (uint32_t k = 0; k < 2 && more; k++) {
            uint32_t device = design->port_device[ports[k]];
            use->links[device]++;
            use->highest[device] = more > use->highest[device] ? more : use->highest[device];
        }
    }
}

static void use_done(struct path_use *use)
{
    myr_routes_done(&use->routes);
    free(use->load);
    free(use->flows);
    free(use->highest);
    free(use->links);
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
static const char *gpus_of(struct fabric_input *input, uint32_t port)
{
    const struct myr_design_head *head = input->design.head;
    uint32_t node = input->design.port_device[port] - head->first_node;
    uint32_t first = MYR_NONE, last = 0, planes = input->graph.net->planes;
    for (uint32_t gpu = 0; node < head->nodes && gpu < head->gpus_per_node; gpu++) {
        uint32_t own = myr_flow_port(&input->graph, node * head->gpus_per_node + gpu);
        if (own != MYR_NONE && port >= own && port < own + planes) {
            first = first == MYR_NONE ? gpu : first;
            last = gpu;
        }
    }
    return first == MYR_NONE ? NULL
           : first == last   ? myr_arena_printf(&input->arena, "%u", first)
                             : myr_arena_printf(&input->arena, "%u-%u", first, last);
}

static const char *bare_port_name(struct fabric_input *input, uint32_t port)
{
    struct myr_buf buf = {0};
    myr_design_port_name(&input->design, port, &buf);
    const char *name = myr_arena_strndup(&input->arena, buf.data, buf.len);
    myr_buf_done(&buf);
    return name;
}

static bool is_used(const struct path_use *use, uint32_t link)
{
    return use->load[link * 2] || use->load[link * 2 + 1];
}

static bool is_host(const struct path_use *use, uint32_t device)
{
    return device - use->graph->first_switch >= use->graph->switch_count;
}

/* One row a NIC, host by host. */
static void fill_nics(struct fabric_input *input, const struct path_use *use,
                      struct myr_table *table)
{
    const struct myr_design *design = &input->design;
    for (uint32_t device = 0; device < design->device_count; device++) {
        for (uint32_t p = design->first_port[device];
             use->links[device] && is_host(use, device) && p < design->first_port[device + 1];
             p++) {
            uint32_t link = design->port_link[p];
            if (link == MYR_NONE || !is_used(use, link)) {
                continue;
            }
            uint32_t peer = design->port_device[myr_design_peer(design, p)];
            myr_table_text(table, fabric_device_name(&input->arena, design, device));
            myr_table_text(table, gpus_of(input, p));
            myr_table_text(table, bare_port_name(input, p));
            myr_table_text(table, fabric_device_name(&input->arena, design, peer));
            myr_table_double(table, as_load(use->load[link * 2]), 3);
            myr_table_double(table, as_load(use->load[link * 2 + 1]), 3);
        }
    }
}

static void fill_switches(struct fabric_input *input, const struct path_use *use,
                          struct myr_table *table)
{
    const struct myr_graph *graph = &input->graph;
    for (uint32_t i = 0; i < graph->switch_count; i++) {
        uint32_t device = graph->first_switch + i;
        if (use->links[device]) {
            enum myr_device_kind kind = (enum myr_device_kind)input->design.place[device].kind;
            myr_table_text(table, fabric_device_name(&input->arena, &input->design, device));
            myr_table_text(table, myr_device_kind_name(kind));
            myr_table_u64(table, use->links[device]);
            myr_table_double(table, as_load(use->highest[device]), 3);
        }
    }
}

static void fill_links(struct fabric_input *input, const struct path_use *use,
                       struct myr_table *table)
{
    const struct myr_design *design = &input->design;
    for (uint32_t link = 0; link < design->link_count; link++) {
        if (!is_used(use, link)) {
            continue;
        }
        uint32_t type = design->cable_type[design->link_cable[link]];
        myr_table_text(table, fabric_link_name(&input->arena, link));
        myr_table_text(table, myr_layer_names[design->cabletypes[type].layer]);
        myr_table_text(table, fabric_port_name(&input->arena, design, design->link_a[link]));
        myr_table_text(table, fabric_port_name(&input->arena, design, design->link_b[link]));
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
    void (*fill)(struct fabric_input *, const struct path_use *, struct myr_table *);
};

static const struct listing listings[] = {
    {"nics", nic_columns, MYR_ARRAY_COUNT(nic_columns), fill_nics},
    {"switches", switch_columns, MYR_ARRAY_COUNT(switch_columns), fill_switches},
    {"links", link_columns, MYR_ARRAY_COUNT(link_columns), fill_links},
};

static void put_listing(struct fabric_input *input, const struct path_use *use,
                        const struct listing *listing, enum myr_format format, struct myr_buf *buf)
{
    struct myr_table table;
    myr_table_init(&table, &input->arena, listing->columns, listing->column_count);
    listing->fill(input, use, &table);
    myr_table_write(&table, format, buf);
    myr_table_done(&table);
}

/* --- summary */

static void put_summary(const struct path_use *use, const struct myr_balance_report *report,
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

static void put_all_json(struct fabric_input *input, const struct path_use *use,
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

static void put_all(struct fabric_input *input, const struct path_use *use,
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

static int write_drawing(struct fabric_input *input, const struct path_use *use,
                         struct myr_err *err)
{
    struct myr_buf svg = {0};
    path_draw(input, use, &svg);
    int r = myr_file_write(options.svg, &svg, err);
    myr_buf_done(&svg);
    return r;
}

static int show(struct fabric_input *input, struct myr_buf *buf, struct myr_err *err)
{
    struct myr_balance_options balance = {(enum myr_policy)options.policy, options.seed,
                                          options.polarised};
    const struct myr_flow *flows = input->flows.items.items;
    struct path_use use = {.graph = &input->graph, .flow_count = input->flows.items.count};
    struct myr_balance_report report;
    use.load = myr_xcalloc((size_t)input->design.link_count * 2 + 1, sizeof(uint64_t));
    int r = myr_balance_report(&input->graph, &balance, flows, use.flow_count, &report, err);
    if (r == MYR_OK) {
        r = myr_balance(&input->graph, &balance, flows, use.flow_count, &use.routes, use.load, err);
    }
    if (r == MYR_OK) {
        count_uses(&use);
        r = options.svg ? write_drawing(input, &use, err) : MYR_OK;
    }
    if (r == MYR_OK) {
        put_all(input, &use, &report, buf);
    }
    use_done(&use);
    return r;
}

int cli_path(const struct myr_operands *operands)
{
    struct fabric_input input = {0};
    struct myr_err err = {0};
    struct myr_buf buf = {0};
    int r = fabric_args_design(&options.args, operands, 0, &err);
    r = r < 0 ? r : fabric_input_open(&input, &options.args, true, &err);
    r = r < 0 ? r : show(&input, &buf, &err);
    int code = r < 0 ? cli_error(&err) : cli_print(&buf);
    myr_buf_done(&buf);
    fabric_input_done(&input);
    return code;
}
