#include "plan_internal.h"

/*
 * Boxes that are not hosts and still want a port of the out-of-band network: the switches of all
 * other networks and the fabric managers. Its own switches are managed over their own ports.
 */

/* One where the part does not say: a switch that nobody can reach is not built. */
static uint32_t ports_of(const struct myr_part *part)
{
    uint32_t ports = part->kind == MYR_PART_SWITCH     ? part->sw.mgmt_ports
                     : part->kind == MYR_PART_ETHERNET ? part->eth.mgmt_ports
                                                       : 1;
    return ports == MYR_PART_NONE ? 1 : ports;
}

static void add_switches(const struct plan *plan, struct net_plan *oob, const struct net_plan *net,
                         enum myr_device_kind kind, uint32_t part, uint32_t count)
{
    uint32_t ports = count ? ports_of(part_at(plan, part)) : 0;
    if (ports == 0) {
        return;
    }
    MYR_ASSERT(oob->host_class_count < PLAN_HOSTS_MAX);
    oob->hosts[oob->host_class_count++] = (struct host_class){.kind = kind,
                                                              .managed = true,
                                                              .of_net = net->id,
                                                              .count = count,
                                                              .nic_part = oob->hosts[0].nic_part,
                                                              .nic_ports = ports,
                                                              .per_cage = 1,
                                                              .start = oob->managed};
    oob->managed += count * ports;
}

void plan_managed_switches(struct plan *plan, struct net_plan *oob)
{
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        const struct net_plan *net = &plan->nets[id];
        const struct myr_network *out = &net->out;
        if (!net->present || net == oob) {
            continue;
        }
        bool routers =
            out->topology == MYR_TOPOLOGY_DRAGONFLY || out->topology == MYR_TOPOLOGY_TORUS;
        add_switches(plan, oob, net, routers ? MYR_DEVICE_ROUTER : MYR_DEVICE_LEAF, net->leaf_part,
                     out->leaf);
        add_switches(plan, oob, net, MYR_DEVICE_SPINE, net->spine_part, out->spine);
        add_switches(plan, oob, net, MYR_DEVICE_CORE, net->core_part, out->core);
        add_switches(plan, oob, net, MYR_DEVICE_ACCESS, net->access_part, out->access);
        add_switches(plan, oob, net, MYR_DEVICE_AGGREGATION, net->aggregation_part,
                     out->aggregation);
        add_switches(plan, oob, net, MYR_DEVICE_FABRIC_MANAGER, net->manager_nic, net->managers);
    }
}
