#include "size/clos.h"

/*
 * The places of hosts on the leaves: how many each leaf takes, where each kind of hosts begins, and
 * how many uplinks a leaf has for them.
 */

/* Cables of two kinds never share a connector: hosts with another card begin at a new one. */
static uint32_t class_start(uint32_t end, bool other_card, uint32_t legs)
{
    return other_card ? ceil_div(end, legs) * legs : end;
}

/* A splitter's legs end in cards of one kind. */
int plan_whole_splitters(const struct net_plan *net, uint32_t down, struct myr_err *err)
{
    if (net->several_cards && down % net->splitter_legs) {
        return myr_doc_error(err, net->node, MYR_EINVAL,
                             "%u hosts on a switch: with several kinds of cards they come in whole "
                             "splitters, a multiple of %u",
                             down, net->splitter_legs);
    }
    return MYR_OK;
}

/* Hosts of one kind stand together. With rails places are nodes, for every rail has the same; else
 * they are ports. */
void plan_host_slots(struct net_plan *net)
{
    const struct myr_part_switch *sw = net->leaf_sw;
    bool divided = sw->breakout == MYR_BREAKOUT_SPLITTER && net->out.host_gbps < sw->port_gbps;
    bool railed = has_rail_groups(net) || net->out.topology == MYR_TOPOLOGY_RAIL_ONLY;
    net->splitter_legs = divided ? sw->port_gbps / net->out.host_gbps : 1;
    /* Behind splitters cables are counted by the splitter, not by the cage of the card. */
    net->twin = net->twin && !divided;
    uint32_t end = 0;
    for (uint32_t i = 0; i < net->host_class_count; i++) {
        struct host_class *hosts = &net->hosts[i];
        /* Only a change of card breaks a connector: kinds with one card may share it. */
        bool other = i > 0 && hosts->nic_part != net->hosts[i - 1].nic_part;
        hosts->start = class_start(end, other, net->splitter_legs);
        end = hosts->start + hosts->count * (railed ? 1 : hosts->nic_ports);
    }
    bool other = net->managers && net->manager_nic != net->hosts[0].nic_part;
    net->several_cards = other;
    for (uint32_t i = 1; i < net->host_class_count; i++) {
        net->several_cards = net->several_cards || net->hosts[i].nic_part != net->hosts[0].nic_part;
    }
    net->managers_start = class_start(end, other, net->splitter_legs);
    /* With rails managers share the places of nodes, as many in one as a node has ports. */
    net->slots =
        net->managers_start + (railed ? ceil_div(net->managers, net->nic_ports) : net->managers);
}

/* Connectors on the leaves: what a splitter hangs on counts once. */
uint32_t plan_leaf_hosts(const struct net_plan *net, uint32_t leaf)
{
    if (!spreads_hosts(net)) {
        return net->out.leaf_down; /* filled in order; the last ones may stay free */
    }
    /* The first leaves have one connector more where they do not divide evenly. */
    uint32_t connectors = ceil_div(net->slots, net->splitter_legs);
    uint32_t share = connectors / net->unit_leaves + (leaf < connectors % net->unit_leaves);
    return share * net->splitter_legs;
}

/* Only a dense fill of two tiers saves uplinks: as many as the leaf's own hosts need. */
uint32_t plan_leaf_uplinks(const struct net_plan *net, uint32_t leaf)
{
    if (!spreads_hosts(net) || net->out.tiers != 2) {
        return net->out.leaf_up;
    }
    /* A ratio that is a limit may end at a leaf of a lower one, and then at the fabric of that. */
    uint64_t full = (uint64_t)plan_leaf_hosts(net, leaf) * net->out.leaf_up;
    double down_gbps = (double)plan_leaf_hosts(net, leaf) * net->out.host_gbps;
    double asked = down_gbps / net->oversubscription[0] / net->out.fabric_gbps;
    uint32_t needed = plan_ratio_is_limit(net) ? ceil_div(full, net->out.leaf_down)
                                               : (uint32_t)(asked + 0.999999);
    needed = needed < net->unit_spines ? net->unit_spines : needed; /* reach every spine */
    return needed > net->out.leaf_up ? net->out.leaf_up : needed;
}

/* Of all leaves of a unit: the first have one connector more, so that there are two kinds. */
uint64_t plan_unit_uplinks(const struct net_plan *net)
{
    uint32_t leaves = net->unit_leaves;
    uint32_t more = spreads_hosts(net) ? ceil_div(net->slots, net->splitter_legs) % leaves : 0;
    return (uint64_t)more * plan_leaf_uplinks(net, 0) +
           (uint64_t)(leaves - more) * plan_leaf_uplinks(net, leaves - 1);
}
