#include <stdio.h>

#include "myriad/model/stretch.h"
#include "report/report.h"

/*
 * The networks in words, as one would explain them to a customer, and as a table. Sentences are
 * written as a whole for each shape of network: pieces that are put together cannot be translated.
 * Every number in them carries its path.
 */

/* "2:1 / 7:1", tier by tier. */
static const char *ratio_of(const struct report *report, enum myr_net_id id)
{
    const struct myr_network *net = &report->design->networks[id];
    MYR_CLEANUP(myr_buf_done) struct myr_buf ratio = {};
    for (uint32_t i = 0; i + 1 < net->tiers; i++) {
        const char *one =
            myr_arena_printf(report->arena, "%g:1", net->oversubscription_milli[i] / 1000.0);
        myr_buf_printf(
            &ratio, "%s%s", i ? " / " : "",
            report_value(report, one, "networks.%s.oversubscription.%u", myr_net_names[id], i));
    }
    return ratio.len ? myr_arena_strndup(report->arena, ratio.data, ratio.len) : "-";
}

/* The part of the lowest tier stands for the network; NULL where there is no switch. */
static const char *switch_part(const struct report *report, enum myr_net_id id)
{
    const struct myr_design *design = report->design;
    /* A network has one of both as its lowest tier. */
    static const enum myr_device_kind kinds[] = {MYR_DEVICE_LEAF, MYR_DEVICE_ACCESS};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(kinds); i++) {
        struct myr_device_range range = myr_design_range(design, kinds[i], id);
        if (range.count) {
            const struct myr_devtype *type = &design->devtypes[design->device_type[range.first]];
            return myr_design_str(design, type->part);
        }
    }
    return NULL;
}

/* A count of switches, or of something else below the network's name. */
static const char *of_net(const struct report *report, enum myr_net_id id, uint64_t number,
                          const char *path)
{
    return report_counted(report, number, "networks.%s.%s", myr_net_names[id], path);
}

/* "Each of" only where all nodes have the same number of ports. */
static void put_hosts(const struct report *report, enum myr_net_id id)
{
    const struct myr_network *net = &report->design->networks[id];
    /* Nodes of several kinds may have different numbers of ports: then only the sum is said. */
    uint32_t ports = net->nodes_on_it ? net->host_ports / net->nodes_on_it : 0;
    if (ports && ports * net->nodes_on_it == net->host_ports) {
        const char *nodes = of_net(report, id, net->nodes_on_it, "nodes");
        report_para(report, "Each of %s nodes has %s ports of %s Gb/s on it.", nodes,
                    report_counted(report, ports, "report.ports_per_node.%s", myr_net_names[id]),
                    of_net(report, id, net->host_gbps, "host_gbps"));
    } else {
        report_para(report, "%s nodes have %s ports of %s Gb/s on it.",
                    of_net(report, id, net->nodes_on_it, "nodes"),
                    of_net(report, id, net->host_ports, "host_ports"),
                    of_net(report, id, net->host_gbps, "host_gbps"));
    }
}

/* One sentence for each shape: tiers that are not there are not named. */
static void put_network(const struct report *report, enum myr_net_id id)
{
    const struct myr_network *net = &report->design->networks[id];
    const char *part = switch_part(report, id);
    const char *shape = myr_topology_name((enum myr_topology)net->topology);
    /* Counts are marked before it is known which sentence needs them: marks that are not used do no
     * harm. */
    const char *leaf = of_net(report, id, net->leaf, "switches.leaf");
    const char *spine = of_net(report, id, net->spine, "switches.spine");
    const char *core = of_net(report, id, net->core, "switches.core");
    const char *access = of_net(report, id, net->access, "switches.access");
    const char *aggregation = of_net(report, id, net->aggregation, "switches.aggregation");
    part = part ? part : "-";
    /* The most special shape first. */
    if (net->access && net->core) {
        report_para(report,
                    "%s access switches (%s), %s aggregation switches and %s core switches, ratio "
                    "%s.",
                    access, part, aggregation, core, ratio_of(report, id));
    } else if (net->access) {
        report_para(report, "%s access switches (%s) and %s aggregation switches, ratio %s.",
                    access, part, aggregation, ratio_of(report, id));
    } else if (net->spine == 0) {
        report_para(report, "%s switches (%s), topology %s.", leaf, part, shape);
    } else if (net->core == 0) {
        report_para(report, "%s leaf and %s spine switches (%s), topology %s, ratio %s.", leaf,
                    spine, part, shape, ratio_of(report, id));
    } else {
        report_para(report, "%s leaf, %s spine and %s core switches (%s), topology %s, ratio %s.",
                    leaf, spine, core, part, shape, ratio_of(report, id));
    }
    /* Nothing is said where there is nothing to halve. */
    if (net->bisection_gbps) {
        report_para(report,
                    "Between the halves of the cluster it carries %s Gb/s in the worst case.",
                    of_net(report, id, net->bisection_gbps, "bisection_gbps"));
    }
}

/* The storage system in two lines; its figures have a chapter of their own. */
static void put_storage(const struct report *report)
{
    const struct myr_design_head *head = report->design->head;
    if (!head->storage_servers) {
        return;
    }
    report_subheading(report, "Storage");
    /* Two digits, as the answer has them. */
    report_para(report, "%s storage servers: %s TB raw, %s TB usable.",
                report_counted(report, head->storage_servers, "storage.servers"),
                report_value(report, MYR_NUMBER(myr_plan_raw_tb(head), 2), "storage.raw_tb"),
                report_value(report, MYR_NUMBER(myr_plan_usable_tb(head), 2), "storage.usable_tb"));
}

/* The head has the domain of the first group: of others it may be said only where all are alike. */
static bool one_scale_up(const struct myr_design *design)
{
    for (uint32_t i = 0; i < design->group_count; i++) {
        if (design->groups[i].scale_up_gpus != design->head->scale_up_gpus ||
            design->groups[i].scale_up_gbps != design->head->scale_up_gbps) {
            return false;
        }
    }
    return design->head->scale_up_gpus > 1;
}

/* As the answer lists them: once for each stretch of a group's nodes. */
static void put_groups(const struct report *report)
{
    const struct myr_design *design = report->design;
    uint32_t row = 0;
    for (uint32_t i = 0; i < design->group_count; i++) {
        const struct myr_server_group *group = &design->groups[i];
        for (uint32_t at = 0; at < group->nodes; row++) {
            struct myr_node_stretch stretch =
                myr_design_node_stretch(design, group->first_node + at, group->nodes - at);
            report_para(
                report, "Group %s: %s servers (%s), %s x %s a node.",
                myr_design_str(design, group->name),
                report_counted(report, myr_stretch_servers(group, stretch), "groups.%u.servers",
                               row),
                myr_design_str(design, group->server_part),
                report_counted(report, group->gpus_per_node, "groups.%u.gpus_per_node", row),
                myr_design_str(design, group->gpu_part));
            at += stretch.count;
        }
    }
}

/* A cluster of one kind has no groups; one of several tells them one by one. */
static void put_servers(const struct report *report)
{
    const struct myr_design *design = report->design;
    const struct myr_design_head *head = design->head;
    report_subheading(report, "Servers");
    /* One sentence with all numbers where all servers are alike. */
    if (design->group_count == 0) {
        uint32_t each = head->servers ? head->gpus / head->servers : 0;
        report_para(report, "%s servers (%s) with %s GPUs each: %s GPUs.",
                    report_counted(report, head->servers, "servers"),
                    myr_design_str(design, head->server_part),
                    report_counted(report, each, "report.gpus_per_server"),
                    report_counted(report, head->gpus, "gpus"));
    }
    put_groups(report);
    if (one_scale_up(design)) {
        report_para(report, "%s GPUs share one scale-up domain, at %s Gb/s a GPU.",
                    report_counted(report, head->scale_up_gpus, "scale_up_gpus"),
                    report_counted(report, head->scale_up_gbps, "report.scale_up_gbps"));
    }
}

/* All networks side by side, behind the words about each. */
static void put_table(const struct report *report)
{
    static const char *const heads[] = {"network",    "topology", ">tiers", ">leaf",
                                        ">spine",     ">core",    ">ports", ">cables",
                                        ">of copper", ">to pull", "ratio",  ">bisection Gb/s"};
    report_table(report, heads, MYR_ARRAY_COUNT(heads));
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        const struct myr_network *net = &report->design->networks[id];
        uint64_t cables = 0;
        if (!net->topology) {
            continue;
        }
        /* Cables as tables count them; what is pulled and labelled is counted by the piece. */
        for (uint32_t layer = 0; layer < MYR_LAYER_COUNT; layer++) {
            cables += net->cables[layer];
        }
        const char *name = myr_net_names[id];
        myr_page_row_begin(report->buf);
        report_cell(report, name);
        report_cell(report, myr_topology_name((enum myr_topology)net->topology));
        report_count(report, net->tiers, "networks.%s.tiers", name);
        /* Access networks share the columns of the others, under their own paths. */
        report_count(report, net->access ? net->access : net->leaf, "networks.%s.switches.%s", name,
                     net->access ? "access" : "leaf");
        report_count(report, net->access ? net->aggregation : net->spine, "networks.%s.switches.%s",
                     name, net->access ? "aggregation" : "spine");
        report_count(report, net->core, "networks.%s.switches.core", name);
        report_count(report, net->host_ports, "networks.%s.host_ports", name);
        report_count(report, cables, "networks.%s.cables.total", name);
        report_count(report, net->copper_cables, "networks.%s.copper_cables", name);
        report_count(report, net->fibres, "networks.%s.fibres", name);
        /* Several numbers in one cell: each has its own path, so it is no cell of one number. */
        myr_buf_put_lit(report->buf, "<td>");
        report_put(report, ratio_of(report, (enum myr_net_id)id));
        myr_buf_put_lit(report->buf, "</td>");
        report_count(report, net->bisection_gbps, "networks.%s.bisection_gbps", name);
        myr_page_row_end(report->buf);
    }
    myr_page_table_end(report->buf);
}

/* Servers first, then each network that there is, then storage: the order of the spec. */
void report_networks(const struct report *report)
{
    report_heading(report, "What is built");
    put_servers(report);
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        if (report->design->networks[id].topology) {
            report_subheading(report, "%s network",
                              myr_lang_say(report->about->lang, myr_net_names[id]));
            put_hosts(report, (enum myr_net_id)id);
            put_network(report, (enum myr_net_id)id);
        }
    }
    put_storage(report);
    put_table(report);
}
