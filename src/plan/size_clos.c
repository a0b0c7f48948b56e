#include "fits.h"

/*
 * Clos fabrics of one to three tiers, with or without rails.
 *
 * A unit is one independent fabric: a plane, or one rail of a plane in rail-only. All units of a
 * network are equal, so one is sized and multiplied.
 *
 * Regular form: at every tier the number of switches above is the smallest divisor of a switch's
 * uplinks that offers enough ports, so that every pair has the same number of links. Dense form:
 * just enough switches, and multiplicities that differ by one.
 */

/* 0: none. Uplinks are a few hundred at most, so trying them all costs nothing. */
static uint32_t smallest_divisor(uint32_t number, uint32_t at_least)
{
    for (uint32_t divisor = at_least ? at_least : 1; divisor <= number; divisor++) {
        if (number % divisor == 0) {
            return divisor;
        }
    }
    return 0;
}

static bool has_rail_groups(const struct net_plan *net)
{
    return net->out.topology == MYR_TOPOLOGY_RAIL;
}

/* Dense without rails: hosts are spread evenly over the leaves, in whole connectors. */
static bool spreads_hosts(const struct net_plan *net)
{
    return net->out.topology == MYR_TOPOLOGY_CLOS && net->out.fill == MYR_FILL_DENSE;
}

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

/* Down and up ports of a leaf: as many as its cages allow at the wanted ratio. */
static int split_leaf(struct net_plan *net, struct myr_err *err)
{
    const struct myr_part_switch *sw = net->leaf_sw;
    const struct myr_spec_net *spec = net->spec;
    uint32_t host = net->out.host_gbps, fabric = net->out.fabric_gbps;
    double ratio = net->oversubscription[0];
    uint32_t down = spec->leaf_down, up = spec->leaf_up;
    MYR_ASSERT(ratio > 0 && host > 0 && fabric > 0 && net->ports_per_rail > 0);
    /* Ratios are decimals of the spec: 0.999999 rounds up and 1e-9 down, but not past a whole. */
    if (net->out.tiers == 1) {
        down = down ? down : myr_switch_radix(sw, host);
        up = 0;
    } else if (down) {
        up = up ? up : (uint32_t)((double)down * host / (ratio * fabric) + 0.999999);
    } else {
        double total = (double)sw->cages * sw->cage_gbps;
        up = up ? up : (uint32_t)(total / (1 + ratio) / fabric + 1e-9);
        for (; up > 0; up--) {
            down = (uint32_t)((double)up * fabric * ratio / host + 1e-9);
            if (down > 0 && cages_suffice(sw, down, host, up, fabric)) {
                break;
            }
            if (spec->leaf_up) {
                up = 0;
                break;
            }
        }
    }
    /* A leaf takes whole nodes (of its rail), as labels and rail groups suppose. */
    down = down / net->ports_per_rail * net->ports_per_rail;
    if (net->out.topology != MYR_TOPOLOGY_RAIL && net->out.topology != MYR_TOPOLOGY_RAIL_ONLY) {
        down = net->out.topology == MYR_TOPOLOGY_MIDDLE_OF_RACK
                   ? down / net->nic_ports * net->nic_ports
               : spec->leaf_down ? spec->leaf_down
                                 : down;
    }
    if (spreads_hosts(net)) {
        down = down / net->splitter_legs * net->splitter_legs;
    }
    if (down == 0 || (up == 0 && net->out.tiers > 1) ||
        !cages_suffice(sw, down, host, up, fabric)) {
        return cannot_split(net, err);
    }
    MYR_ASSERT(net->out.tiers == 1 ? up == 0 : up > 0);
    net->out.leaf_down = down;
    net->out.leaf_up = up;
    return MYR_OK;
}

/* Cables of two kinds never share a connector: hosts with another card begin at a new one. */
static uint32_t class_start(uint32_t end, bool other_card, uint32_t legs)
{
    return other_card ? ceil_div(end, legs) * legs : end;
}

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
        bool other = i > 0 && hosts->nic_part != net->hosts[i - 1].nic_part;
        hosts->start = class_start(end, other, net->splitter_legs);
        end = hosts->start + hosts->count * (railed ? 1 : hosts->nic_ports);
    }
    bool other = net->managers && net->manager_nic != net->hosts[0].nic_part;
    net->managers_start = class_start(end, other, net->splitter_legs);
    net->slots =
        net->managers_start + (railed ? ceil_div(net->managers, net->nic_ports) : net->managers);
}

static void count_leaves(struct net_plan *net)
{
    uint32_t down = net->out.leaf_down;
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

/* Connectors on the leaves: what a splitter hangs on counts once. */
uint32_t plan_leaf_hosts(const struct net_plan *net, uint32_t leaf)
{
    if (!spreads_hosts(net)) {
        return net->out.leaf_down; /* filled in order; the last ones may stay free */
    }
    uint32_t connectors = ceil_div(net->slots, net->splitter_legs);
    uint32_t share = connectors / net->unit_leaves + (leaf < connectors % net->unit_leaves);
    return share * net->splitter_legs;
}

uint32_t plan_leaf_uplinks(const struct net_plan *net, uint32_t leaf)
{
    if (!spreads_hosts(net) || net->out.tiers != 2) {
        return net->out.leaf_up;
    }
    double down_gbps = (double)plan_leaf_hosts(net, leaf) * net->out.host_gbps;
    uint32_t needed =
        (uint32_t)(down_gbps / net->oversubscription[0] / net->out.fabric_gbps + 0.999999);
    needed = needed < net->unit_spines ? net->unit_spines : needed; /* reach every spine */
    return needed > net->out.leaf_up ? net->out.leaf_up : needed;
}

static uint64_t unit_uplinks(const struct net_plan *net)
{
    uint64_t total = 0;
    for (uint32_t leaf = 0; leaf < net->unit_leaves; leaf++) {
        total += plan_leaf_uplinks(net, leaf);
    }
    return total;
}

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
        while (net->unit_spines < ceil_div(unit_uplinks(net), radix)) {
            net->unit_spines++;
        }
        net->pair_links = 0;
    } else {
        net->unit_spines = smallest_divisor(up, ceil_div((uint64_t)net->unit_leaves * up, radix));
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

static bool size_cores(struct net_plan *net)
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
        net->out.group_cores = smallest_divisor(up, least);
        net->core_pair_links = net->out.group_cores ? up / net->out.group_cores : 0;
    }
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

static uint32_t pod_step(const struct net_plan *net)
{
    if (has_rail_groups(net)) {
        return net->out.rails;
    }
    return net->unit_leaves < net->nic_ports ? 1 : net->nic_ports; /* few leaves: any pod will do */
}

/*
 * The smallest pod that works. Its leaves are a multiple of the rails (without rails: of a node's
 * ports, so that a pod is never smaller than what one rail group would be), and in the first pass
 * divide the uplinks, as the regular form wants.
 */
static bool size_three_tiers(struct net_plan *net)
{
    uint32_t step = pod_step(net);
    MYR_ASSERT(step > 0);
    if (net->spec->pod_leaves % step) {
        return false;
    }
    if (net->spec->pod_leaves || net->spec->islands) {
        uint32_t leaves =
            net->spec->pod_leaves
                ? net->spec->pod_leaves
                : ceil_div(ceil_div(net->unit_leaves, step), net->spec->islands) * step;
        return size_pod(net, leaves) && size_cores(net);
    }
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t leaves = step; leaves <= net->unit_leaves; leaves += step) {
            MYR_ASSERT(leaves > 0);
            if (pass == 0 && (leaves > net->out.leaf_up || net->out.leaf_up % leaves)) {
                continue;
            }
            if (size_pod(net, leaves) && size_cores(net)) {
                return true;
            }
        }
    }
    return false;
}

static bool size_one_tier(struct net_plan *net)
{
    net->unit_pods = 1;
    net->out.pod_leaves = 1;
    return net->unit_leaves == 1;
}

static bool size_tiers(struct net_plan *net, uint32_t tiers, struct myr_err *err, int *ret_error)
{
    net->out.tiers = tiers;
    net->unit_spines = net->unit_cores = 0;
    *ret_error = split_leaf(net, err);
    if (*ret_error < 0) {
        return false;
    }
    count_leaves(net);
    return tiers == 1   ? size_one_tier(net)
           : tiers == 2 ? size_two_tiers(net)
                        : size_three_tiers(net);
}

static int too_big(const struct plan *plan, const struct net_plan *net, struct myr_err *err)
{
    uint32_t radix = myr_switch_radix(net->leaf_sw, net->out.host_gbps);
    char grouped[32];
    if (net->spec->pod_leaves % pod_step(net)) {
        return myr_doc_error(err, net->node, MYR_EINVAL,
                             "'pod_leaves' is %u, a multiple of %u is expected",
                             net->spec->pod_leaves, pod_step(net));
    }
    int rc = myr_doc_error(
        err, net->node, MYR_EINVAL,
        "%s host ports in one fabric%s cannot be built with %s%u tier%s of '%s' (%u ports of %u "
        "Gb/s) at oversubscription %g",
        myr_u64_grouped(net->unit_endpoints, grouped),
        net->spec->pod_leaves ? " of such pods"
        : net->spec->islands  ? " of such islands"
                              : "",
        net->spec->tiers ? "" : "up to ", net->spec->tiers ? net->spec->tiers : MYR_SPEC_TIERS_MAX,
        net->spec->tiers == 1 ? "" : "s", part_at(plan, net->leaf_part)->id, radix,
        net->out.host_gbps, net->oversubscription[0]);
    myr_err_hint(err, "a switch with more ports, planes: 2, topology: rail-only, or a larger "
                      "oversubscription makes room");
    return rc;
}

/* Bandwidth between two pods (or leaves) over one group of switches above, worst pair. */
static uint64_t worst_pair(uint32_t pods, uint32_t up, uint32_t above)
{
    uint64_t worst = up;
    uint64_t round = above > 1 ? above : 1;
    for (uint32_t other = 1; other < pods; other++) {
        /* Pod j starts at (j * up) mod above: only the distance between two starts matters. */
        uint32_t shift = (uint32_t)(other * (uint64_t)up % round);
        uint64_t shared = 0;
        for (uint32_t i = 0; i < above; i++) {
            uint32_t mine = up / above + (i < up % above);
            uint32_t place = (i + above - shift) % above;
            uint32_t theirs = up / above + (place < up % above);
            shared += mine < theirs ? mine : theirs;
        }
        worst = shared < worst ? shared : worst;
        if (other > 2 * above) {
            break; /* the shifts repeat */
        }
    }
    return worst;
}

static void state_pairs(struct plan *plan, struct net_plan *net)
{
    uint32_t gbps = net->out.fabric_gbps;
    if (net->out.tiers == 3) {
        uint64_t full = (uint64_t)net->out.spine_up * net->out.pod_spines * gbps;
        net->out.full_pair_gbps = full;
        net->out.worst_pair_gbps = full;
        if (net->out.fill == MYR_FILL_DENSE && net->unit_pods > 1) {
            net->out.worst_pair_gbps =
                worst_pair(net->unit_pods, net->out.spine_up, net->out.group_cores) *
                net->out.pod_spines * gbps;
        }
    } else if (net->out.tiers == 2) {
        uint64_t full = (uint64_t)plan_leaf_uplinks(net, 0) * gbps;
        net->out.full_pair_gbps = net->out.worst_pair_gbps = full;
        if (net->out.fill == MYR_FILL_DENSE && net->unit_leaves > 1) {
            uint32_t up = plan_leaf_uplinks(net, net->unit_leaves - 1);
            net->out.worst_pair_gbps = worst_pair(net->unit_leaves, up, net->unit_spines) * gbps;
        }
    }
    if (net->out.worst_pair_gbps < net->out.full_pair_gbps) {
        plan_finding(plan, MYR_SEVERITY_INFO, "uneven-fill", myr_net_names[net->id],
                     "fill: regular gives every pair the same",
                     "dense fill: the worst pair of %s has %llu Gb/s, an even fill would give %llu",
                     net->out.tiers == 3 ? "pods" : "leaves",
                     (unsigned long long)net->out.worst_pair_gbps,
                     (unsigned long long)net->out.full_pair_gbps);
    }
}

/* The least capacity over the cuts that halve the hosts: at the hosts, above leaves, above spines.
 */
static void state_bisection(struct net_plan *net)
{
    uint64_t units = (uint64_t)net->out.units * net->out.planes;
    uint64_t hosts = (uint64_t)net->endpoints * net->out.planes * net->out.host_gbps;
    uint64_t least = hosts;
    if (net->out.tiers >= 2) {
        uint64_t leaves = unit_uplinks(net) * units * net->out.fabric_gbps;
        least = leaves < least ? leaves : least;
    }
    if (net->out.tiers == 3) {
        uint64_t spines =
            (uint64_t)net->unit_spines * net->out.spine_up * units * net->out.fabric_gbps;
        least = spines < least ? spines : least;
    }
    net->out.bisection_gbps = least / 2;
}

static void state_ratios(struct net_plan *net)
{
    const struct myr_network *out = &net->out;
    if (out->tiers >= 2) {
        uint64_t down = (uint64_t)plan_leaf_hosts(net, 0) * out->host_gbps * 1000;
        uint64_t up = (uint64_t)plan_leaf_uplinks(net, 0) * out->fabric_gbps;
        net->out.oversubscription_milli[0] = (uint32_t)((down + up / 2) / up);
    }
    if (out->tiers == 3) {
        net->out.oversubscription_milli[1] =
            (uint32_t)(((uint64_t)out->spine_down * 1000 + out->spine_up / 2) / out->spine_up);
    }
}

static void explain(struct plan *plan, struct net_plan *net)
{
    const struct myr_network *out = &net->out;
    struct myr_arena *arena = plan->arena;
    const char *times =
        out->planes * out->units > 1
            ? myr_arena_printf(arena, " * %u planes * %u units", out->planes, out->units)
            : "";
    if (has_rail_groups(net)) {
        net->rule[MYR_DEVICE_LEAF] = "rails * ceil(nodes / nodes of a rail group)";
        net->inputs[MYR_DEVICE_LEAF] =
            myr_arena_printf(arena, "%u rails * ceil(%u / %u)%s = %u", out->rails, net->slots,
                             out->group_nodes, times, out->leaf);
    } else {
        net->rule[MYR_DEVICE_LEAF] = "ceil(host ports / down ports of a leaf)";
        net->inputs[MYR_DEVICE_LEAF] = myr_arena_printf(
            arena, "ceil(%u / %u)%s = %u", net->unit_endpoints, out->leaf_down, times, out->leaf);
    }
    uint32_t spine_radix = fits_straight_radix(net->spine_sw, out->fabric_gbps);
    if (out->tiers == 2) {
        bool dense = out->fill == MYR_FILL_DENSE;
        net->rule[MYR_DEVICE_SPINE] =
            dense ? "ceil(leaf uplinks / ports of a spine)"
                  : "smallest divisor of a leaf's uplinks >= ceil(leaf uplinks / ports of a spine)";
        net->inputs[MYR_DEVICE_SPINE] =
            myr_arena_printf(arena, "uplinks of a leaf=%u, ceil(%llu / %u)%s = %u", out->leaf_up,
                             (unsigned long long)unit_uplinks(net), spine_radix, times, out->spine);
    } else if (out->tiers == 3) {
        net->rule[MYR_DEVICE_SPINE] =
            "pods * smallest divisor of a leaf's uplinks whose spines can carry the pod";
        net->inputs[MYR_DEVICE_SPINE] =
            myr_arena_printf(arena, "%u pods of %u leaves * %u spines%s = %u", net->unit_pods,
                             out->pod_leaves, out->pod_spines, times, out->spine);
        net->rule[MYR_DEVICE_CORE] =
            out->fill == MYR_FILL_DENSE
                ? "core groups * ceil(pods * spine uplinks / ports of a core)"
                : "core groups * smallest divisor of a spine's uplinks >= ceil(pods * uplinks / "
                  "ports of a core)";
        net->inputs[MYR_DEVICE_CORE] = myr_arena_printf(
            arena, "%u groups * %u (ceil(%u * %u / %u) = %u)%s = %u", out->core_groups,
            out->group_cores, net->unit_pods, out->spine_up, out->core_down,
            ceil_div((uint64_t)net->unit_pods * out->spine_up, out->core_down), times, out->core);
    }
}

static void finish(struct plan *plan, struct net_plan *net)
{
    struct myr_network *out = &net->out;
    uint32_t fabrics = out->units * out->planes;
    out->leaf = net->unit_leaves * fabrics;
    out->spine = net->unit_spines * fabrics;
    out->core = net->unit_cores * fabrics;
    out->pods = net->unit_pods;
    out->core_groups = out->tiers == 3 ? out->pod_spines : 0;
    out->diameter_hops = (out->tiers - 1) * 2;
    state_pairs(plan, net);
    state_bisection(net);
    state_ratios(net);
    explain(plan, net);
    uint64_t links = (uint64_t)net->endpoints * out->planes + unit_uplinks(net) * fabrics;
    if (out->tiers == 3) {
        links += (uint64_t)out->spine * out->spine_up;
    }
    net->link_total = links;
    if (out->tiers == 3 && net->unit_leaves % out->pod_leaves) {
        plan_finding(plan, MYR_SEVERITY_INFO, "partial-pod", myr_net_names[net->id],
                     "a number of servers that fills whole pods is even",
                     "the last pod has %u of %u leaves, and all its %u spines",
                     net->unit_leaves % out->pod_leaves, out->pod_leaves, out->pod_spines);
    }
}

int plan_size_clos(struct plan *plan, struct net_plan *net, struct myr_err *err)
{
    const struct myr_spec_net *spec = net->spec;
    bool may_be_one = net->out.topology != MYR_TOPOLOGY_RAIL;
    uint32_t first = spec->tiers                         ? spec->tiers
                     : spec->islands || spec->pod_leaves ? 3
                     : may_be_one                        ? 1
                                                         : 2;
    uint32_t last = spec->tiers ? spec->tiers : MYR_SPEC_TIERS_MAX;
    plan_host_slots(net);
    for (uint32_t tiers = first; tiers <= last; tiers++) {
        int rc;
        if (size_tiers(net, tiers, err, &rc)) {
            finish(plan, net);
            return net->link_total > PLAN_LINKS_MAX
                       ? myr_doc_error(err, net->node, MYR_ERANGE,
                                       "%llu links are more than one design may have (%u)",
                                       (unsigned long long)net->link_total, PLAN_LINKS_MAX)
                       : MYR_OK;
        }
        if (rc < 0) {
            return rc;
        }
    }
    return too_big(plan, net, err);
}
