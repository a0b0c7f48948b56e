#include "figures/figures.h"

/*
 * Boxes that are not hosts and still want a port of the out-of-band network: the switches of all
 * other networks, the fabric managers, and in a managed room the power strips of its racks and the
 * cooling units. Its own switches are managed over their own ports.
 */

/* One where the part does not say: a switch that nobody can reach is not built. */
static uint32_t ports_of(const struct myr_part *part)
{
    uint32_t ports = part->kind == MYR_PART_SWITCH     ? part->sw.mgmt_ports
                     : part->kind == MYR_PART_ETHERNET ? part->eth.mgmt_ports
                                                       : 1;
    return ports == MYR_PART_NONE ? 1 : ports;
}

/* A kind of boxes behind the hosts; those without a management port are left out. Their first
 * device is set when they are placed. */
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

/* One port each, in the order of the racks. */
static void add_units(struct net_plan *oob, enum myr_device_kind kind, uint32_t count)
{
    if (count == 0) {
        return;
    }
    MYR_ASSERT(oob->host_class_count < PLAN_HOSTS_MAX);
    oob->hosts[oob->host_class_count++] = (struct host_class){.kind = kind,
                                                              .managed = true,
                                                              .of_net = MYR_NET_COUNT,
                                                              .count = count,
                                                              .nic_part = oob->hosts[0].nic_part,
                                                              .nic_ports = 1,
                                                              .per_cage = 1,
                                                              .start = oob->managed};
    oob->managed += count;
}

/* Appends them behind the hosts: all other networks are sized by now, which is why out of band
 * comes last. */
void plan_managed(struct plan *plan, struct net_plan *oob)
{
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        const struct net_plan *net = &plan->nets[id];
        const struct myr_network *out = &net->out;
        if (!net->present || net == oob) {
            continue;
        }
        bool routers =
            out->topology == MYR_TOPOLOGY_DRAGONFLY || out->topology == MYR_TOPOLOGY_TORUS;
        /* The order in which they hang on the access switches; place.c finds them by kind and
         * network. */
        add_switches(plan, oob, net, routers ? MYR_DEVICE_ROUTER : MYR_DEVICE_LEAF, net->leaf_part,
                     out->leaf);
        add_switches(plan, oob, net, MYR_DEVICE_SPINE, net->spine_part, out->spine);
        add_switches(plan, oob, net, MYR_DEVICE_CORE, net->core_part, out->core);
        add_switches(plan, oob, net, MYR_DEVICE_ACCESS, net->access_part, out->access);
        add_switches(plan, oob, net, MYR_DEVICE_AGGREGATION, net->aggregation_part,
                     out->aggregation);
        add_switches(plan, oob, net, MYR_DEVICE_FABRIC_MANAGER, net->manager_nic, net->managers);
    }
    add_units(oob, MYR_DEVICE_PDU, plan->pdus);
    add_units(oob, MYR_DEVICE_CDU, plan->cdus);
}

/* A strip for each feed of a rack in use; two where the room names no feeds. */
static uint32_t strips_of(const struct plan *plan)
{
    const struct myr_design *design = &plan->design;
    uint32_t count = 0;
    for (uint32_t i = 0; i < design->rack_count; i++) {
        count += design->rack_more[i].units ? plan_rack_feeds(plan, i) : 0;
    }
    return count;
}

/* Strips of one rack. */
uint32_t plan_rack_feeds(const struct plan *plan, uint32_t rack)
{
    const struct myr_design *design = &plan->design;
    if (plan->spec->room.power.count == 0) {
        return 2;
    }
    return (design->racks[rack].power_feed != MYR_NONE) +
           (design->rack_more[rack].power_b != MYR_NONE);
}

/* What the finished plan needs, and whether it was made with just that. */
bool plan_units_right(const struct plan *plan, uint32_t *ret_pdus, uint32_t *ret_cdus)
{
    *ret_pdus = *ret_cdus = 0;
    if (plan->design.room && plan->spec->room.managed && plan->nets[MYR_NET_OOB].present) {
        *ret_pdus = strips_of(plan);
        *ret_cdus = (uint32_t)plan_figure_value(plan, FIG_CDUS);
    }
    return *ret_pdus == plan->pdus && *ret_cdus == plan->cdus;
}
