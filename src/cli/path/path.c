/*
 * path: every device and link that a job's flows use. Flows are put on paths by one policy; what
 * they meet is listed from the hosts upwards.
 */
#include "route/fabric.h"

/* All axes of a layout by default: a job is asked about as a whole. */
struct options {
    const char *svg;
    struct cli_fabric fabric;
    struct cli_balance balance;
};

static const struct options defaults = {.fabric = {.axis = "all"},
                                        .balance = {.policy = MYR_POLICY_PLANNED}};

static const struct myr_option rows[] = {
    CLI_FABRIC_ROWS(struct options),
    CLI_FLOW_ROWS(struct options),
    CLI_BALANCE_ROWS(struct options),
    CLI_OUTPUT("svg", "FILE", struct options, svg, "also draw the devices and links used"),
};

static const struct myr_command command = {
    .name = "path",
    .operands = "DESIGN",
    .summary = "every device and link that a job's flows use, with its load",
    .details = "Lists the servers, GPUs, NICs, switches and links on the paths of the flows. "
               "Loads are fractions of a link's line rate, one direction: 'up' is away from "
               "the hosts. -o csv lists the links only.",
    .example = "myriad path out/h100-10k/design.myr --nodes 0-63 --layout tp=8,pp=4 "
               "--svg job.svg",
    CLI_OPTIONS(rows, defaults),
    .operand_max = 1,
};

/* GPUs beside a NIC port: "0", or "0-3" where several share it; other hosts have none. */
static const char *gpus_of(struct myr_arena *arena, const struct myr_use_nic *nic)
{
    if (nic->first_gpu == MYR_NONE) {
        return NULL;
    }
    return nic->first_gpu == nic->last_gpu
               ? myr_arena_printf(arena, "%u", nic->first_gpu)
               : myr_arena_printf(arena, "%u-%u", nic->first_gpu, nic->last_gpu);
}

/* A port's name is "device:port"; the device has a column of its own. */
static struct myr_value *put_nics(struct cli *cli, const struct myr_use *use)
{
    MYR_ASSERT(use->graph); /* set by whoever found the use */
    const struct myr_design *design = use->graph->design;
    struct myr_answer *answer = &cli->answer;
    struct myr_use_nics nics = myr_use_nics(use, &cli->arena);
    struct myr_value *list = myr_answer_list(answer, "nics");
    for (size_t i = 0; i < nics.count; i++) {
        const struct myr_use_nic *nic = &nics.items[i];
        const char *port = strchr(myr_name_port(&cli->arena, design, nic->port), ':');
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "node", myr_name_device(&cli->arena, design, nic->device));
        myr_answer_text(answer, "gpus", gpus_of(&cli->arena, nic));
        myr_answer_text(answer, "nic", port + 1);
        myr_answer_text(answer, "switch", myr_name_device(&cli->arena, design, nic->peer));
        myr_answer_double(answer, "send_load", cli_fabric_load(nic->send), 3);
        myr_answer_double(answer, "receive_load", cli_fabric_load(nic->receive), 3);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    return list;
}

/* Those that no flow meets are left out: the list is of what the job uses. */
static struct myr_value *put_switches(struct cli *cli, const struct myr_use *use)
{
    const struct myr_graph *graph = use->graph;
    const struct myr_design *design = graph->design;
    struct myr_answer *answer = &cli->answer;
    struct myr_value *list = myr_answer_list(answer, "switches");
    for (uint32_t i = 0; i < graph->switch_count; i++) {
        uint32_t device = graph->first_switch + i;
        if (use->links[device] == 0) {
            continue;
        }
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "device", myr_name_device(&cli->arena, design, device));
        myr_answer_text(answer, "kind",
                        myr_device_kind_name((enum myr_device_kind)design->place[device].kind));
        myr_answer_u64(answer, "links", use->links[device]);
        myr_answer_double(answer, "max_load", cli_fabric_load(use->highest[device]), 3);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    return list;
}

/* One direction of a link. */
static void put_way(struct myr_answer *answer, const struct myr_use *use, uint32_t channel,
                    const char *flows_key, const char *load_key)
{
    if (use->routes.sprayed) {
        myr_answer_null(answer, flows_key); /* every flow is everywhere */
    } else {
        myr_answer_u64(answer, flows_key, use->flows[channel]);
    }
    myr_answer_double(answer, load_key, cli_fabric_load(use->load[channel]), 3);
}

/* A link has two channels: the even one is up, away from the hosts, the odd one down. */
static struct myr_value *put_links(struct cli *cli, const struct myr_use *use)
{
    const struct myr_design *design = use->graph->design;
    struct myr_answer *answer = &cli->answer;
    struct myr_value *list = myr_answer_list(answer, "links");
    for (uint32_t link = 0; link < design->link_count; link++) {
        if (!myr_use_link(use, link)) {
            continue;
        }
        const struct myr_cabletype *type =
            &design->cabletypes[design->cable_type[design->link_cable[link]]];
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "link", myr_name_link(&cli->arena, design, link));
        myr_answer_text(answer, "layer", myr_layer_names[type->layer]);
        myr_answer_text(answer, "a", myr_name_port(&cli->arena, design, design->link_a[link]));
        myr_answer_text(answer, "b", myr_name_port(&cli->arena, design, design->link_b[link]));
        myr_answer_u64(answer, "gbps", type->gbps);
        put_way(answer, use, link * 2, "flows_up", "load_up");
        put_way(answer, use, link * 2 + 1, "flows_down", "load_down");
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    return list;
}

/* Loads are of links between switches, as 'route' tells them. */
static void put_summary(struct cli *cli, const struct myr_fabric_case *fabric,
                        const struct myr_use *use)
{
    const struct options *options = cli->options;
    const struct myr_balance_report *report = &use->report;
    struct myr_answer *answer = &cli->answer;
    myr_answer_text(answer, "policy", myr_policy_names[options->balance.policy]);
    myr_answer_text(answer, "traffic", fabric->traffic);
    myr_answer_u64(answer, "flows", use->flow_count);
    myr_answer_u64(answer, "unroutable", report->unroutable);
    myr_answer_double(answer, "max_link_load", report->max_load, 6);
    myr_answer_double(answer, "mean_link_load", report->mean_load, 6);
    myr_answer_double(answer, "share_of_ideal", report->share_of_ideal, 6);
    myr_answer_double(answer, "bound", report->bound, 6);
}

/* A job inside of one leaf has no link between switches: no load of them is told then. */
static void show_summary(struct cli *cli, const struct myr_fabric_case *fabric,
                         const struct myr_use *use)
{
    const struct options *options = cli->options;
    const struct myr_balance_report *report = &use->report;
    struct myr_answer *answer = &cli->answer;
    myr_answer_fact(answer, "policy", "%s", myr_policy_names[options->balance.policy]);
    myr_answer_fact(answer, "flows", "%s, %s of them without a path: %s",
                    MYR_GROUPED(use->flow_count), MYR_GROUPED(report->unroutable), fabric->traffic);
    if (report->loaded) {
        myr_answer_fact(answer, "link load",
                        "between switches: maximum %.3f (at least %.3f), mean %.3f",
                        report->max_load, report->bound, report->mean_load);
    } else {
        myr_answer_fact(answer, "link load", "no link between switches is used");
    }
    myr_answer_fact(answer, "throughput", "%.3f of the ideal", report->share_of_ideal);
}

static void put_tables(struct cli *cli, const struct myr_use *use)
{
    static const struct myr_answer_column nics[] = {
        MYR_COLUMN("node", "SERVER", 0),
        MYR_COLUMN("gpus", "GPUS", 0),
        MYR_COLUMN("nic", "NIC", 0),
        MYR_COLUMN("switch", "SWITCH", 0),
        {"send_load", "SEND", MYR_COLUMN_NUMBER, 3},
        {"receive_load", "RECEIVE", MYR_COLUMN_NUMBER, 3},
    };
    static const struct myr_answer_column switches[] = {
        MYR_COLUMN("device", "SWITCH", 0),
        MYR_COLUMN("kind", "KIND", 0),
        MYR_COLUMN("links", "LINKS USED", MYR_COLUMN_NUMBER),
        {"max_load", "MAX LOAD", MYR_COLUMN_NUMBER, 3},
    };
    static const struct myr_answer_column links[] = {
        MYR_COLUMN("link", "LINK", 0),
        MYR_COLUMN("layer", "LAYER", MYR_COLUMN_WIDE),
        MYR_COLUMN("a", "FROM", 0),
        MYR_COLUMN("b", "TO", 0),
        MYR_COLUMN("gbps", "Gb/s", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE),
        MYR_COLUMN("flows_up", "FLOWS UP", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE),
        {"load_up", "LOAD UP", MYR_COLUMN_NUMBER, 3},
        MYR_COLUMN("flows_down", "FLOWS DOWN", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE),
        {"load_down", "DOWN", MYR_COLUMN_NUMBER, 3},
    };
    struct myr_answer *answer = &cli->answer;
    const struct myr_value *nic_list = put_nics(cli, use);
    const struct myr_value *switch_list = put_switches(cli, use);
    const struct myr_value *link_list = put_links(cli, use);
    myr_answer_fact(answer, "uses", "%s, %s, %s", MYR_COUNT(nic_list->count, "NIC"),
                    MYR_COUNT(switch_list->count, "switch"), MYR_COUNT(link_list->count, "link"));
    /* A job of 64 nodes has 1,500 rows: whoever wants them all asks for them. */
    myr_answer_more(answer, "each NIC, switch and link with its load");
    myr_answer_table(answer, nic_list, nics, MYR_ARRAY_COUNT(nics));
    myr_answer_table(answer, switch_list, switches, MYR_ARRAY_COUNT(switches));
    myr_answer_table(answer, link_list, links, MYR_ARRAY_COUNT(links));
    myr_answer_rows(answer, link_list);
}

static int write_drawing(const char *path, const struct myr_use *use, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf svg = {};
    myr_use_draw(use, &svg);
    return myr_file_write(path, &svg, err);
}

/* The drawing is written before the answer, so that a failure prints nothing. */
static int find(struct cli *cli, struct myr_fabric_case *fabric, struct myr_use *ret,
                struct myr_err *err)
{
    const struct options *options = cli->options;
    struct myr_balance_options balance = cli_fabric_balance(&options->balance);
    MYR_TRY(cli_fabric_open(cli, &options->fabric, true, fabric, err));
    MYR_TRY(myr_use_find(ret, &cli->arena, &fabric->graph, &balance, fabric->flows.items.items,
                         fabric->flows.items.count, err));
    return options->svg ? write_drawing(options->svg, ret, err) : MYR_OK;
}

static int run(struct cli *cli, struct myr_err *err)
{
    MYR_CLEANUP(myr_fabric_close) struct myr_fabric_case fabric = {};
    MYR_CLEANUP(myr_use_done) struct myr_use use = {};
    const struct options *options = cli->options;
    MYR_TRY(find(cli, &fabric, &use, err));
    put_summary(cli, &fabric, &use);
    show_summary(cli, &fabric, &use);
    put_tables(cli, &use);
    if (!options->svg) {
        myr_answer_next(&cli->answer, "for a drawing", "%s --svg job.svg",
                        cli_again(cli, cli->command, NULL));
    }
    return MYR_OK;
}

const struct cli_verb cli_path_verb = {&command, run, .group = CLI_PROVE_GROUP};
