#include <stdio.h>

#include "report/report.h"

/* The networks in words, as one would explain them to a customer, and as a table. */

static const char *ratio_of(const struct report *report, const struct myr_network *net)
{
    char ratio[64] = "1:1";
    int at = 0;
    for (uint32_t i = 0; i + 1 < net->tiers && at < (int)sizeof(ratio) - 16; i++) {
        at += snprintf(ratio + at, sizeof(ratio) - (size_t)at, "%s%g:1", i ? " / " : "",
                       net->oversubscription_milli[i] / 1000.0);
    }
    return myr_arena_printf(report->arena, "%s", ratio);
}

static const char *switch_part(const struct report *report, enum myr_net_id id)
{
    const struct myr_design *design = report->design;
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

static void put_network(const struct report *report, enum myr_net_id id)
{
    const struct myr_network *net = &report->design->networks[id];
    const char *part = switch_part(report, id);
    const char *name = myr_lang_say(report->about->lang, myr_net_names[id]);
    uint32_t ports = net->nodes_on_it ? net->host_ports / net->nodes_on_it : 0;
    report_subheading(report, "%s network", name);
    if (ports && ports * net->nodes_on_it == net->host_ports) {
        report_para(report, "Each of %s nodes has %u ports of %u Gb/s on it.",
                    report_number(report, net->nodes_on_it), ports, net->host_gbps);
    } else {
        report_para(report, "%s nodes have %s ports of %u Gb/s on it.",
                    report_number(report, net->nodes_on_it), report_number(report, net->host_ports),
                    net->host_gbps);
    }
    if (net->access) {
        report_para(report, "%u access switches (%s) and %u aggregation switches, ratio %s.",
                    net->access, part ? part : "-", net->aggregation, ratio_of(report, net));
    } else if (net->spine == 0) {
        report_para(report, "%u switches (%s), topology %s.", net->leaf, part ? part : "-",
                    myr_topology_name((enum myr_topology)net->topology));
    } else if (net->core == 0) {
        report_para(report, "%u leaf and %u spine switches (%s), topology %s, ratio %s.", net->leaf,
                    net->spine, part ? part : "-",
                    myr_topology_name((enum myr_topology)net->topology), ratio_of(report, net));
    } else {
        report_para(report, "%u leaf, %u spine and %u core switches (%s), topology %s, ratio %s.",
                    net->leaf, net->spine, net->core, part ? part : "-",
                    myr_topology_name((enum myr_topology)net->topology), ratio_of(report, net));
    }
    if (net->bisection_gbps) {
        report_para(report,
                    "Between the halves of the cluster it carries %s Gb/s in the worst case.",
                    report_number(report, net->bisection_gbps));
    }
}

static void put_storage(const struct report *report)
{
    const struct myr_design_head *head = report->design->head;
    if (!head->storage_servers) {
        return;
    }
    report_subheading(report, "Storage");
    report_para(report, "%u storage servers: %.2f TB raw, %.2f TB usable.", head->storage_servers,
                myr_plan_raw_tb(head), myr_plan_usable_tb(head));
}

static void put_servers(const struct report *report)
{
    const struct myr_design *design = report->design;
    const struct myr_design_head *head = design->head;
    report_subheading(report, "Servers");
    if (design->group_count == 0) {
        report_para(report, "%s servers (%s) with %u GPUs each: %s GPUs.",
                    report_number(report, head->servers), myr_design_str(design, head->server_part),
                    head->servers ? head->gpus / head->servers : 0,
                    report_number(report, head->gpus));
    }
    for (uint32_t i = 0; i < design->group_count; i++) {
        const struct myr_server_group *group = &design->groups[i];
        report_para(report, "Group %s: %u servers (%s), %u x %s a node.",
                    myr_design_str(design, group->name), group->servers,
                    myr_design_str(design, group->server_part), group->gpus_per_node,
                    myr_design_str(design, group->gpu_part));
    }
    if (head->scale_up_gpus > 1) {
        report_para(report, "%u GPUs share one scale-up domain, at %s Gb/s a GPU.",
                    head->scale_up_gpus, report_number(report, head->scale_up_gbps));
    }
}

static void put_table(const struct report *report)
{
    static const char *const heads[] = {"network", "topology", ">tiers",         ">leaf",
                                        ">spine",  ">core",    ">ports",         ">cables",
                                        ">fibres", "ratio",    ">bisection Gb/s"};
    report_table(report, heads, MYR_ARRAY_COUNT(heads));
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        const struct myr_network *net = &report->design->networks[id];
        uint64_t cables = 0;
        if (!net->topology) {
            continue;
        }
        for (uint32_t layer = 0; layer < MYR_LAYER_COUNT; layer++) {
            cables += net->cables[layer];
        }
        myr_page_row_begin(report->buf);
        report_cell(report, myr_net_names[id]);
        report_cell(report, myr_topology_name((enum myr_topology)net->topology));
        report_count(report, net->tiers);
        report_count(report, net->access ? net->access : net->leaf);
        report_count(report, net->access ? net->aggregation : net->spine);
        report_count(report, net->core);
        report_count(report, net->host_ports);
        report_count(report, cables);
        report_count(report, net->fibres);
        myr_page_cell(report->buf, ratio_of(report, net));
        report_count(report, net->bisection_gbps);
        myr_page_row_end(report->buf);
    }
    myr_page_table_end(report->buf);
}

void report_networks(const struct report *report)
{
    report_heading(report, "What is built");
    put_servers(report);
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        if (report->design->networks[id].topology) {
            put_network(report, (enum myr_net_id)id);
        }
    }
    put_storage(report);
    put_table(report);
}
