#include "design_servers.h"

enum { NODE_GPUS_MAX = 1024 };

/* Whether nodes, which stand where they should, all have NICs on the compute network. */
static bool on_compute(const struct myr_design *design, const struct myr_server_group *group)
{
    for (uint32_t i = 0; i < group->nodes; i++) {
        uint32_t device = design->head->first_node + group->first_node + i;
        const struct myr_devtype *type = &design->devtypes[design->device_type[device]];
        bool found = false;
        for (uint32_t g = 0; g < type->group_count && !found; g++) {
            const struct myr_port_group *ports = &type->groups[g];
            found = ports->role == MYR_PORT_NIC && ports->net == MYR_NET_COMPUTE && ports->count;
        }
        if (!found) {
            return false;
        }
    }
    return true;
}

/* What is counted of servers follows from what one of them has; in 64 bits no product wraps. */
static bool counts_ok(const struct myr_server_group *group)
{
    return group->servers > 0 && group->nodes_per_server > 0 && group->gpus_per_node > 0 &&
           group->gpus_per_node <= NODE_GPUS_MAX &&
           (uint64_t)group->servers * group->nodes_per_server == group->nodes;
}

/* 'nodes' are in the groups before this one: they follow each other without a gap. */
static const char *group_wrong(const struct myr_design *design,
                               const struct myr_server_group *group, uint64_t nodes)
{
    bool compute = design->networks[MYR_NET_COMPUTE].topology != MYR_TOPOLOGY_DEFAULT &&
                   group->networks & 1U << MYR_NET_COMPUTE;
    if (group->first_node != nodes || group->nodes > design->head->nodes - nodes) {
        return "a server group has nodes outside, or of another";
    }
    if (!counts_ok(group)) {
        return "the servers and nodes of a group do not agree";
    }
    return compute && !on_compute(design, group)
               ? "a server group has nodes without a port on its network"
               : NULL;
}

/* Rates are shares of the speed of a host: what routes counts by it, and cables have it too. */
static const char *speed_wrong(const struct myr_design *design, uint32_t *ret_at)
{
    for (uint32_t i = 0; i < MYR_NET_COUNT; i++) {
        if (design->networks[i].topology && design->networks[i].host_gbps == 0) {
            *ret_at = i;
            return "a network has hosts without a speed";
        }
    }
    for (uint32_t i = 0; i < design->cabletype_count; i++) {
        const struct myr_cabletype *type = &design->cabletypes[i];
        const struct myr_network *net = &design->networks[type->net];
        if (net->topology && type->layer == MYR_LAYER_HOST && type->gbps != net->host_gbps) {
            *ret_at = i;
            return "a cable type has another speed than the hosts of its network";
        }
    }
    return NULL;
}

const char *design_servers_wrong(const struct myr_design *design, uint32_t *ret_at)
{
    const struct myr_design_head *head = design->head;
    /* A design without groups has one of all servers, on all networks. */
    const struct myr_server_group all = {.servers = head->servers,
                                         .nodes = head->nodes,
                                         .nodes_per_server = head->nodes_per_server,
                                         .gpus_per_node = head->gpus_per_node,
                                         .networks = UINT32_MAX};
    const struct myr_server_group *groups = design->group_count ? design->groups : &all;
    uint64_t servers = 0, nodes = 0, gpus = 0;
    for (uint32_t i = 0; i < (design->group_count ? design->group_count : 1); i++) {
        const char *wrong = group_wrong(design, &groups[i], nodes);
        if (wrong) {
            *ret_at = i;
            return wrong;
        }
        servers += groups[i].servers;
        nodes += groups[i].nodes;
        gpus += (uint64_t)groups[i].nodes * groups[i].gpus_per_node;
    }
    *ret_at = 0;
    /* Of several kinds the head speaks of the first. */
    bool first = head->gpus_per_node == groups->gpus_per_node &&
                 head->nodes_per_server == groups->nodes_per_server;
    return first && servers == head->servers && nodes == head->nodes && gpus == head->gpus
               ? speed_wrong(design, ret_at)
               : "servers, nodes and GPUs do not add up";
}
