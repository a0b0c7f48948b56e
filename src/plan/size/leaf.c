#include "size/clos.h"

/*
 * One leaf: how many of its ports face hosts and how many go up. A spec gives a ratio, either
 * number or both; what it leaves open is as much as the cages allow.
 */

/* A cage has one speed: down and up ports never share one, so each side is rounded up by itself. */
static bool cages_suffice(const struct myr_part_switch *sw, uint32_t down, uint32_t down_gbps,
                          uint32_t up, uint32_t up_gbps)
{
    uint32_t down_per_cage = myr_switch_ports_per_cage(sw, down_gbps);
    uint32_t up_per_cage = fits_straight_ports(sw, up_gbps);
    return (!sw->ports_max || down + up <= sw->ports_max) &&
           ceil_div(down, down_per_cage) + ceil_div(up, up_per_cage) <= sw->cages;
}

/* Names what the spec gave: its leaf_down or leaf_up, or else the ratio. */
static int cannot_split(const struct net_plan *net, struct myr_err *err)
{
    const struct myr_part_switch *sw = net->leaf_sw;
    const struct myr_spec_net *spec = net->spec;
    const char *what = spec->leaf_down ? "leaf_down"
                       : spec->leaf_up ? "leaf_up"
                                       : "oversubscription";
    double value = spec->leaf_down ? spec->leaf_down
                   : spec->leaf_up ? spec->leaf_up
                                   : net->oversubscription[0];
    return myr_doc_error(err, net->node, MYR_EINVAL,
                         "%s %g cannot be cabled on this switch: %u cages of %u Gb/s, hosts at %u, "
                         "uplinks at %u Gb/s",
                         what, value, sw->cages, sw->cage_gbps, net->out.host_gbps,
                         net->out.fabric_gbps);
}

/* Uplinks that so many host ports ask for. Ratios are decimals of the spec: 0.999999 rounds up. */
static uint32_t uplinks_for(const struct net_plan *net, uint32_t down, double ratio)
{
    return (uint32_t)((double)down * net->out.host_gbps / (ratio * net->out.fabric_gbps) +
                      0.999999);
}

/*
 * What a leaf takes of the ports that its cages allow. It takes whole nodes (of its rail), as
 * labels and rail groups suppose. Without rails hosts are counted by ports; in the middle of a rack
 * whole nodes stay together. Evenly spread hosts come in whole connectors.
 */
static uint32_t whole_nodes(const struct net_plan *net, uint32_t down)
{
    const struct myr_spec_net *spec = net->spec;
    down = down / net->ports_per_rail * net->ports_per_rail;
    if (net->out.topology != MYR_TOPOLOGY_RAIL && net->out.topology != MYR_TOPOLOGY_RAIL_ONLY) {
        down = net->out.topology == MYR_TOPOLOGY_MIDDLE_OF_RACK
                   ? down / net->nic_ports * net->nic_ports
               : spec->leaf_down ? spec->leaf_down
                                 : down;
    }
    if (spreads_hosts(net) || (net->several_cards && !spec->leaf_down)) {
        down = down / net->splitter_legs * net->splitter_legs;
    }
    return down;
}

bool plan_leaf_takes(const struct net_plan *net, struct leaf_split *split)
{
    split->down = whole_nodes(net, split->down);
    return split->down > 0 && (split->up > 0 || net->out.tiers == 1) &&
           cages_suffice(net->leaf_sw, split->down, net->out.host_gbps, split->up,
                         net->out.fabric_gbps);
}

/* As many uplinks as the ratio leaves of the switch, then fewer until the cages suffice. */
static struct leaf_split fullest_leaf(const struct net_plan *net, double ratio)
{
    const struct myr_part_switch *sw = net->leaf_sw;
    uint32_t host = net->out.host_gbps, fabric = net->out.fabric_gbps;
    double total = (double)sw->cages * sw->cage_gbps;
    uint32_t given = net->spec->leaf_up;
    /* One above the quotient: hosts are rounded down, which may leave room for it. */
    uint32_t most = given ? given : (uint32_t)(total / (1 + ratio) / fabric + 1e-9) + 1;
    for (uint32_t up = most; up > 0; up--) {
        /* 1e-9 rounds down, but not past a whole. */
        uint32_t down = (uint32_t)((double)up * fabric * ratio / host + 1e-9);
        if (down > 0 && cages_suffice(sw, down, host, up, fabric)) {
            return (struct leaf_split){down, up};
        }
        /* A number that the spec gives is not changed. */
        if (given) {
            break;
        }
    }
    return (struct leaf_split){};
}

int plan_split_leaf(const struct net_plan *net, double ratio, struct leaf_split *ret,
                    struct myr_err *err)
{
    const struct myr_spec_net *spec = net->spec;
    MYR_ASSERT(ratio > 0 && net->out.host_gbps > 0 && net->out.fabric_gbps > 0);
    MYR_ASSERT(net->ports_per_rail > 0);
    struct leaf_split split = {spec->leaf_down, spec->leaf_up};
    if (net->out.tiers == 1) {
        split.down = split.down ? split.down : myr_switch_radix(net->leaf_sw, net->out.host_gbps);
        split.up = 0;
    } else if (split.down) {
        split.up = split.up ? split.up : uplinks_for(net, split.down, ratio);
    } else {
        split = fullest_leaf(net, ratio);
    }
    bool takes = plan_leaf_takes(net, &split);
    /* Below 1:1 a port down stands for several up, so what was rounded off 'down' left many over.
     */
    if (takes && ratio < 1 && net->out.tiers > 1 && !spec->leaf_up &&
        uplinks_for(net, split.down, ratio) < split.up) {
        split.up = uplinks_for(net, split.down, ratio);
    }
    if (!takes) {
        return cannot_split(net, err);
    }
    MYR_TRY(plan_whole_splitters(net, split.down, err));
    MYR_ASSERT(net->out.tiers == 1 ? split.up == 0 : split.up > 0);
    *ret = split;
    return MYR_OK;
}
