#include "size/clos.h"

/*
 * The tiers above leaves whose ports are split, in one unit.
 *
 * Regular form: at every tier the number of switches above is the smallest divisor of a switch's
 * uplinks that offers enough ports, so that every pair has the same number of links. Dense form:
 * just enough switches, and multiplicities that differ by one.
 */

uint32_t plan_smallest_divisor(uint32_t number, uint32_t at_least)
{
    for (uint32_t divisor = at_least ? at_least : 1; divisor <= number; divisor++) {
        if (number % divisor == 0) {
            return divisor;
        }
    }
    return 0;
}

/* Of one unit; what a group is differs: with rails nodes on the same leaves, else nodes of a leaf.
 */
void plan_count_leaves(struct net_plan *net, const struct leaf_split *split)
{
    uint32_t down = split->down;
    net->out.leaf_down = split->down;
    net->out.leaf_up = split->up;
    if (has_rail_groups(net)) {
        /* A fabric manager takes the slot of a node: nodes and managers fill whole groups. */
        net->out.group_nodes = down / net->ports_per_rail;
        net->out.groups = ceil_div(net->slots, net->out.group_nodes);
        net->unit_leaves = net->out.groups * net->out.rails;
    } else if (net->out.topology == MYR_TOPOLOGY_RAIL_ONLY) {
        net->out.units = net->out.rails;
        net->unit_leaves = ceil_div((uint64_t)net->slots * net->ports_per_rail, down);
        net->out.group_nodes = down / net->ports_per_rail;
    } else {
        net->unit_leaves = ceil_div(net->slots, down);
        net->out.group_nodes = down / net->nic_ports;
    }
    MYR_ASSERT(net->unit_leaves > 0 && net->out.units > 0);
    net->unit_endpoints = net->endpoints / net->out.units;
}

/* False where a spine has fewer ports than there are leaves: every leaf needs a link to each. */
static bool size_two_tiers(struct net_plan *net)
{
    uint32_t radix = fits_straight_radix(net->spine_sw, net->out.fabric_gbps);
    uint32_t up = net->out.leaf_up;
    if (net->unit_leaves > radix) {
        return false;
    }
    net->unit_pods = 1;
    net->out.pod_leaves = net->unit_leaves;
    net->unit_spines = 1;
    if (net->out.fill == MYR_FILL_DENSE) {
        /* Leaves get at least one uplink to each spine, so more spines may mean more uplinks. */
        while (net->unit_spines < ceil_div(plan_unit_uplinks(net), radix)) {
            net->unit_spines++;
        }
        net->pair_links = 0;
    } else {
        net->unit_spines =
            plan_smallest_divisor(up, ceil_div((uint64_t)net->unit_leaves * up, radix));
        net->pair_links = net->unit_spines ? up / net->unit_spines : 0;
    }
    net->out.pod_spines = net->unit_spines;
    net->out.spine_down = radix;
    return net->unit_spines > 0 && net->unit_spines <= up;
}

/* Ports of a spine towards leaves and cores: each side in cages of its own. */
static bool spine_holds(const struct net_plan *net, uint32_t down, uint32_t up)
{
    uint32_t gbps = net->out.fabric_gbps;
    uint32_t per_cage = fits_straight_ports(net->spine_sw, gbps);
    return (uint64_t)down + up <= fits_straight_radix(net->spine_sw, gbps) &&
           (uint64_t)ceil_div(down, per_cage) + ceil_div(up, per_cage) <= net->spine_sw->cages;
}

/*
 * Spines of a pod of 'leaves', and their uplinks; false when the radix does not allow it. As few
 * spines as possible: fewer switches, and the more links between a pair the less a dead one hurts.
 */
static bool size_pod(struct net_plan *net, uint32_t leaves)
{
    uint32_t up = net->out.leaf_up;
    for (uint32_t spines = 1; spines <= up; spines++) {
        if (up % spines) {
            continue;
        }
        uint64_t used = (uint64_t)leaves * (up / spines);
        /* Uplinks by the second oversubscription, rounded up. */
        uint64_t above = (uint64_t)((double)used / net->oversubscription[1] + 0.999999);
        if (above > 0 && used <= UINT32_MAX && above <= UINT32_MAX &&
            spine_holds(net, (uint32_t)used, (uint32_t)above)) {
            net->out.pod_leaves = leaves;
            net->out.pod_spines = spines;
            net->out.spine_down = (uint32_t)used;
            net->out.spine_up = (uint32_t)above;
            net->pair_links = up / spines;
            return true;
        }
    }
    return false;
}

/*
 * The ratio of spines is a limit like that of leaves (size/ratio.c): their uplinks are walked down
 * from 1:1 to what was asked for, and the walk goes on only to what needs no more cores and no more
 * cables; those of copper may have several links.
 */
static void share_cores(const struct plan *plan, struct net_plan *net, uint32_t radix)
{
    uint32_t least = net->out.spine_up,
             most = net->out.spine_down > least ? net->out.spine_down : least;
    uint32_t best_cables = 0;
    bool best_copper = false;
    net->out.group_cores = 0;
    for (uint32_t up = most; up >= least; up--) {
        uint32_t cores = plan_smallest_divisor(up, ceil_div((uint64_t)net->unit_pods * up, radix));
        if (!cores || !spine_holds(net, net->out.spine_down, up) ||
            (net->out.group_cores && cores > net->out.group_cores)) {
            continue;
        }
        bool copper;
        net->core_pair_links = up / cores;
        uint32_t cables = ceil_div(up, plan_layer_links(plan, net, MYR_LAYER_CORE, &copper));
        if (!net->out.group_cores || (cables <= best_cables && copper >= best_copper)) {
            net->out.group_cores = cores;
            net->out.spine_up = up;
            best_cables = cables;
            best_copper = copper;
        }
    }
    net->core_pair_links = net->out.group_cores ? net->out.spine_up / net->out.group_cores : 0;
}

/* Cores of a group, and with them all counts of a unit. Every pod needs a link to each core of a
 * group, so the core's radix limits the pods. */
static bool size_cores(const struct plan *plan, struct net_plan *net)
{
    uint32_t radix = fits_straight_radix(net->core_sw, net->out.fabric_gbps);
    uint32_t up = net->out.spine_up;
    net->unit_pods = ceil_div(net->unit_leaves, net->out.pod_leaves);
    uint32_t least = ceil_div((uint64_t)net->unit_pods * up, radix);
    if (net->unit_pods > radix) {
        return false;
    }
    if (net->out.fill == MYR_FILL_DENSE) {
        net->out.group_cores = least;
        net->core_pair_links = 0;
    } else {
        share_cores(plan, net, radix);
        up = net->out.spine_up;
    }
    /* More cores than uplinks: a spine could not reach them all. */
    if (net->out.group_cores == 0 || net->out.group_cores > up) {
        return false;
    }
    /* Spine i of every pod reaches the cores of group i and no others: that makes paths unique. */
    net->unit_spines = net->unit_pods * net->out.pod_spines;
    net->unit_cores = net->out.pod_spines * net->out.group_cores;
    MYR_ASSERT(net->unit_pods * net->out.pod_leaves >= net->unit_leaves);
    net->out.core_down = radix;
    return true;
}

/* Leaves by which pods grow. */
uint32_t plan_pod_step(const struct net_plan *net)
{
    if (has_rail_groups(net)) {
        return net->out.rails;
    }
    return net->unit_leaves < net->nic_ports ? 1 : net->nic_ports; /* few leaves: any pod will do */
}

/*
 * Pods of whole steps that are as alike as they can be: so many leaves each that 'wanted' of them
 * hold all. A number of steps cannot be cut into any number of pods: 9 make 3 or 5 of them, not 4.
 */
uint32_t plan_pods_for(const struct net_plan *net, uint32_t wanted)
{
    uint32_t steps = ceil_div(net->unit_leaves, plan_pod_step(net));
    return ceil_div(steps, ceil_div(steps, wanted));
}

/* 'islands' is a number of pods, and no upper bound: it is built, or refused. */
bool plan_cuts_into_islands(const struct net_plan *net)
{
    uint32_t islands = net->spec->islands, leaves = net->spec->pod_leaves;
    uint32_t pods = leaves ? ceil_div(net->unit_leaves, leaves) : plan_pods_for(net, islands);
    return pods == islands;
}

/*
 * The smallest pod that works. Its leaves are a multiple of the rails (without rails: of a node's
 * ports, so that a pod is never smaller than what one rail group would be), and in the first pass
 * divide the uplinks, as the regular form wants.
 */
static bool size_three_tiers(const struct plan *plan, struct net_plan *net)
{
    uint32_t step = plan_pod_step(net);
    MYR_ASSERT(step > 0);
    /* No number of pods would help: too_big() says what is expected. */
    if (net->spec->pod_leaves % step || (net->spec->islands && !plan_cuts_into_islands(net))) {
        return false;
    }
    if (net->spec->pod_leaves || net->spec->islands) {
        uint32_t leaves =
            net->spec->pod_leaves
                ? net->spec->pod_leaves
                : ceil_div(ceil_div(net->unit_leaves, step), net->spec->islands) * step;
        /* What the spec gives is taken or refused, never changed. */
        return size_pod(net, leaves) && size_cores(plan, net);
    }
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t leaves = step; leaves <= net->unit_leaves; leaves += step) {
            MYR_ASSERT(leaves > 0);
            if (pass == 0 && (leaves > net->out.leaf_up || net->out.leaf_up % leaves)) {
                continue;
            }
            if (size_pod(net, leaves) && size_cores(plan, net)) {
                return true;
            }
        }
    }
    return false;
}

bool plan_tiers_above(const struct plan *plan, struct net_plan *net, const struct leaf_split *split,
                      const struct tier_range *range)
{
    for (uint32_t tiers = range->first > 2 ? range->first : 2; tiers <= range->last; tiers++) {
        net->out.tiers = tiers;
        net->unit_spines = net->unit_cores = 0;
        plan_count_leaves(net, split);
        if (tiers == 2 ? size_two_tiers(net) : size_three_tiers(plan, net)) {
            return true;
        }
    }
    return false;
}
