#include "size/clos.h"

/*
 * A third tier above access and aggregation, for networks of thousands of nodes. Access switches
 * stand in blocks: each has one uplink to every aggregation switch of its block. Aggregation switch
 * i of every block meets the cores of group i, as in a fabric of pods.
 */

/* The switch with the most ports of the speed in which the aggregation switch goes up. */
static uint32_t core_part(const struct plan *plan, const struct net_plan *net)
{
    const struct myr_part_ethernet *above = &part_at(plan, net->aggregation_part)->eth;
    uint32_t gbps = above->uplink_ports ? above->uplink_gbps : above->access_gbps;
    /* Another switch must have more ports than the aggregation switch itself. */
    uint32_t best = net->aggregation_part, ports = above->uplink_ports ? 0 : above->access_ports;
    for (uint32_t i = 0; i < plan->catalog->parts.count; i++) {
        const struct myr_part *part = part_at(plan, i);
        if (part->kind == MYR_PART_ETHERNET && part->eth.access_gbps == gbps &&
            part->eth.access_ports > ports) {
            best = i;
            ports = part->eth.access_ports;
        }
    }
    return best;
}

/* Blocks of 'down' access switches, 'up' uplinks: whether the cores can join them. */
static bool try_core(struct net_plan *net, uint32_t down, uint32_t up, uint32_t core_ports)
{
    struct myr_network *out = &net->out;
    uint32_t blocks = ceil_div(out->access, down);
    uint32_t cores = plan_smallest_divisor(up, ceil_div((uint64_t)blocks * up, core_ports));
    /* A core has room for all blocks, each with the same number of links to it. */
    if (cores == 0 || (uint64_t)blocks * (up / cores) > core_ports) {
        return false;
    }
    /* In the words of pods, which the wiring shares: a block is a pod, its aggregation switches are
     * spines. */
    out->pods = blocks;
    out->pod_leaves = down;
    out->pod_spines = out->leaf_up;
    out->core_groups = out->leaf_up;
    out->group_cores = cores;
    out->aggregation = blocks * out->leaf_up;
    out->core = out->leaf_up * cores;
    out->spine_down = down;
    out->spine_up = up;
    net->core_pair_links = up / cores;
    return true;
}

/* A switch with uplink ports of its own uses them; one whose ports are alike gives some of them up.
 */
static bool size_blocks(const struct plan *plan, struct net_plan *net)
{
    const struct myr_part_ethernet *above = &part_at(plan, net->aggregation_part)->eth;
    uint32_t core_ports = part_at(plan, net->core_part)->eth.access_ports;
    net->out.core_down = core_ports;
    if (above->uplink_ports) {
        return part_at(plan, net->core_part)->eth.access_gbps == above->uplink_gbps &&
               try_core(net, above->access_ports, above->uplink_ports, core_ports);
    }
    /* The most uplinks with which the cores can reach all blocks. */
    for (uint32_t up = above->access_ports / 2; up > 0; up--) {
        if (try_core(net, above->access_ports - up, up, core_ports)) {
            return true;
        }
    }
    return false;
}

/* The aggregation switches of a block are as many as an access switch has uplinks. */
int plan_size_access_core(struct plan *plan, struct net_plan *net, struct myr_err *err)
{
    const struct myr_part_ethernet *above = &part_at(plan, net->aggregation_part)->eth;
    struct myr_network *out = &net->out;
    net->core_part = core_part(plan, net);
    net->core_gbps = above->uplink_ports ? above->uplink_gbps : above->access_gbps;
    out->tiers = 3;
    if (out->leaf_up == 0 || !size_blocks(plan, net)) {
        return myr_doc_error(err, net->node, MYR_EINVAL,
                             "%u access switches cannot be joined by three tiers of '%s' and '%s'",
                             out->access, part_at(plan, net->aggregation_part)->id,
                             part_at(plan, net->core_part)->id);
    }
    /* In thousandths, as the design keeps ratios. */
    uint64_t down_gbps = (uint64_t)out->spine_down * out->fabric_gbps * 1000;
    out->oversubscription_milli[1] =
        (uint32_t)(down_gbps / ((uint64_t)out->spine_up * net->core_gbps));
    net->rule[MYR_DEVICE_AGGREGATION] = "blocks * uplinks of an access switch";
    net->inputs[MYR_DEVICE_AGGREGATION] =
        myr_arena_printf(plan->arena, "ceil(%u / %u) = %u blocks * %u", out->access,
                         out->spine_down, out->pods, out->leaf_up);
    net->rule[MYR_DEVICE_CORE] = "uplinks of an access switch * smallest divisor of an aggregation "
                                 "switch's uplinks >= ceil(blocks * uplinks / ports of a core)";
    net->inputs[MYR_DEVICE_CORE] =
        myr_arena_printf(plan->arena, "%u * %u (ceil(%u * %u / %u))", out->leaf_up,
                         out->group_cores, out->pods, out->spine_up, out->core_down);
    return MYR_OK;
}
