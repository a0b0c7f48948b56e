#include "myriad/fabric/use.h"

/*
 * What a set of flows uses of a fabric: load and flows of each channel, and from these of each
 * device and NIC.
 */

/* What the routes say of each channel, and from that of each device. */
static void count_uses(struct myr_use *use)
{
    const struct myr_design *design = use->graph->design;
    const struct myr_routes *routes = &use->routes;
    for (size_t r = 0; r < routes->flow.count; r++) {
        for (uint32_t i = routes->start.items[r]; i < routes->start.items[r + 1]; i++) {
            MYR_ASSERT(routes->channels.items[i] / 2 < design->link_count);
            use->flows[routes->channels.items[i]]++;
        }
    }
    for (uint32_t link = 0; link < design->link_count; link++) {
        /* A link is as full as its fuller direction. */
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

/*
 * The report does its own balancing: the routes and loads kept here come from a second run of the
 * same.
 */
int myr_use_find(struct myr_use *ret, struct myr_arena *arena, const struct myr_graph *graph,
                 const struct myr_balance_options *balance, const struct myr_flow *flows,
                 size_t count, struct myr_err *err)
{
    const struct myr_design *design = graph->design;
    size_t channels = (size_t)design->link_count * 2 + 1, devices = design->device_count + 1;
    *ret = (struct myr_use){.graph = graph, .flow_count = count};
    ret->load = MYR_ARENA_NEW(arena, uint64_t, channels);
    ret->flows = MYR_ARENA_NEW(arena, uint32_t, channels);
    ret->highest = MYR_ARENA_NEW(arena, uint64_t, devices);
    ret->links = MYR_ARENA_NEW(arena, uint32_t, devices);
    MYR_TRY(myr_balance_report(graph, balance, flows, count, &ret->report, err));
    MYR_TRY(myr_balance(graph, balance, flows, count, &ret->routes, ret->load, err));
    count_uses(ret);
    return MYR_OK;
}

void myr_use_done(struct myr_use *use)
{
    myr_routes_done(&use->routes);
}

/* Several GPUs may share a port, and a NIC has a port in every plane. */
static void find_gpus(const struct myr_graph *graph, struct myr_use_nic *nic)
{
    const struct myr_design_head *head = graph->design->head;
    uint32_t node = nic->device - head->first_node;
    nic->first_gpu = nic->last_gpu = MYR_NONE;
    for (uint32_t gpu = 0; node < head->nodes && gpu < head->gpus_per_node; gpu++) {
        uint32_t own = myr_flow_port(graph, node * head->gpus_per_node + gpu);
        if (own != MYR_NONE && nic->port >= own && nic->port < own + graph->net->planes) {
            nic->first_gpu = nic->first_gpu == MYR_NONE ? gpu : nic->first_gpu;
            nic->last_gpu = gpu;
        }
    }
}

/* Unsigned: devices before the first switch become huge differences. */
static bool is_host(const struct myr_graph *graph, uint32_t device)
{
    return device - graph->first_switch >= graph->switch_count;
}

struct myr_use_nics myr_use_nics(const struct myr_use *use, struct myr_arena *arena)
{
    const struct myr_graph *graph = use->graph;
    const struct myr_design *design = graph->design;
    /* Every port in use has a link in use: a bound. */
    size_t most = 0, count = 0;
    for (uint32_t device = 0; device < design->device_count; device++) {
        most += is_host(graph, device) ? use->links[device] : 0;
    }
    /* In the order of devices and ports. */
    struct myr_use_nic *nics = MYR_ARENA_NEW(arena, struct myr_use_nic, most);
    for (uint32_t device = 0; device < design->device_count; device++) {
        if (use->links[device] == 0 || !is_host(graph, device)) {
            continue;
        }
        for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
            uint32_t link = design->port_link[p];
            /* Ports that carry nothing are not told. */
            if (link == MYR_NONE || !myr_use_link(use, link)) {
                continue;
            }
            MYR_ASSERT(count < most);
            struct myr_use_nic *nic = &nics[count++];
            *nic = (struct myr_use_nic){.device = device,
                                        .port = p,
                                        .peer = design->port_device[myr_design_peer(design, p)],
                                        .send = use->load[link * 2],
                                        .receive = use->load[link * 2 + 1]};
            find_gpus(graph, nic);
        }
    }
    return (struct myr_use_nics){nics, count};
}
