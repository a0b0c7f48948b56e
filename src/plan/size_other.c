#include "fits.h"

/*
 * Fabrics without tiers (dragonfly, dragonfly+, torus) and access networks. Each checks first
 * whether a switch has the ports and cages for its shape, then fills in counts, links and rules as
 * size_clos.c does for tiers; docs/planning.md has the formulas.
 */

/* Ports of a switch: towards hosts, and in up to two groups towards switches. */
struct port_need {
    const struct myr_part_switch *sw;
    uint64_t hosts, peers, far;
};

/* Each group of ports begins at a cage of its own: a cage has one speed and one kind of module. */
static int need_ports(const struct net_plan *net, const struct port_need *need, const char *what,
                      struct myr_err *err)
{
    uint32_t host_cage = myr_switch_ports_per_cage(net->leaf_sw, net->out.host_gbps);
    uint32_t cage = fits_straight_ports(need->sw, net->out.fabric_gbps);
    uint64_t ports = need->hosts + need->peers + need->far;
    /* Each sort of ports in cages of its own. */
    uint64_t cages = 0;
    if (need->hosts) {
        cages += (need->hosts + host_cage - 1) / host_cage;
    }
    if (cage) {
        cages += (need->peers + cage - 1) / cage + (need->far + cage - 1) / cage;
    }
    /* A leaf's ports are counted at the hosts' speed, those of switches without hosts straight. */
    uint32_t radix = need->hosts ? myr_switch_radix(need->sw, net->out.host_gbps)
                                 : fits_straight_radix(need->sw, net->out.fabric_gbps);
    if (ports > radix) {
        return myr_doc_error(err, net->node, MYR_EINVAL,
                             "a switch of this %s needs %llu ports, it has %u", what,
                             (unsigned long long)ports, radix);
    }
    /* Ports alone may fit: then it is the cages that are too few, and the message says so. */
    if (cages > need->sw->cages) {
        return myr_doc_error(err, net->node, MYR_EINVAL,
                             "the %llu ports of a switch of this %s need %llu cages, it has %u",
                             (unsigned long long)ports, what, (unsigned long long)cages,
                             need->sw->cages);
    }
    return MYR_OK;
}

/* Before arrays of that length are made. */
static int check_links(const struct net_plan *net, struct myr_err *err)
{
    if (net->link_total > PLAN_LINKS_MAX) {
        return myr_doc_error(err, net->node, MYR_ERANGE,
                             "%llu links are more than one design may have (%u)",
                             (unsigned long long)net->link_total, PLAN_LINKS_MAX);
    }
    return MYR_OK;
}

/* Halving the groups cuts every pair that lands on different sides. */
static uint64_t global_bisection(const struct net_plan *net)
{
    uint64_t groups = net->out.groups;
    if (groups == 1) {
        return (uint64_t)net->endpoints * net->out.host_gbps / 2;
    }
    return (groups / 2) * (groups - groups / 2) * net->global_pair_links * net->out.fabric_gbps;
}

/* Cages of a dragonfly's switch with p = h hosts, 2h - 1 peers and h global ports. */
static uint64_t balanced_cages(const struct net_plan *net, uint32_t h)
{
    uint32_t host_cage = myr_switch_ports_per_cage(net->leaf_sw, net->out.host_gbps);
    uint32_t cage = fits_straight_ports(net->leaf_sw, net->out.fabric_gbps);
    return (uint64_t)ceil_div(h, host_cage) + ceil_div(2 * h - 1, cage) + ceil_div(h, cage);
}

/* Balanced by default (Kim et al. 2008): a = 2p = 2h, so a switch has 4h - 1 ports. */
static void dragonfly_shape(struct net_plan *net, uint32_t radix, uint32_t *ret_h)
{
    const struct myr_spec_net *spec = net->spec;
    /* The largest h whose 4h - 1 ports the switch has. */
    uint32_t h = spec->global_ports ? spec->global_ports : (radix + 1) / 4;
    /* Ports fit, cages may not: each group of ports begins a cage. */
    while (!spec->global_ports && h > 1 && balanced_cages(net, h) > net->leaf_sw->cages) {
        h--;
    }
    net->out.group_switches = spec->group_switches ? spec->group_switches : 2 * h;
    net->out.hosts_per_switch = spec->hosts_per_switch ? spec->hosts_per_switch : h;
    *ret_h = h;
}

/* Every pair of groups has the same number of links; what does not divide stays free. */
static int size_groups(struct net_plan *net, uint32_t hosts_per_group, uint32_t global_per_group,
                       struct myr_err *err)
{
    uint32_t groups = ceil_div(net->slots, hosts_per_group);
    /* A group reaches each other group by at least one port. */
    if (groups - 1 > global_per_group) {
        return myr_doc_error(err, net->node, MYR_EINVAL,
                             "%u groups are needed, a group's %u global ports reach %u others",
                             groups, global_per_group, global_per_group);
    }
    net->out.groups = groups;
    net->global_pair_links = groups > 1 ? global_per_group / (groups - 1) : 0;
    return MYR_OK;
}

/* Groups in which each switch has a port to each other, and global ports between groups. */
static int size_dragonfly_plain(struct plan *plan, struct net_plan *net, struct myr_err *err)
{
    struct myr_network *out = &net->out;
    uint32_t radix = fits_straight_radix(net->leaf_sw, out->fabric_gbps), h;
    dragonfly_shape(net, radix, &h);
    uint32_t p = out->hosts_per_switch, a = out->group_switches;
    /* Hosts, all other switches of the group, and global ports. */
    MYR_TRY(need_ports(net, &(struct port_need){net->leaf_sw, p, a - 1, h}, "dragonfly", err));
    MYR_TRY(plan_whole_splitters(net, p, err));
    MYR_TRY(size_groups(net, a * p, a * h, err));
    uint64_t groups = out->groups;
    out->leaf = (uint32_t)groups * a;
    out->leaf_down = p;
    out->leaf_up = h;
    out->tiers = 1;
    /* Local, global, local; inside one group every switch is a neighbour. */
    out->diameter_hops = groups > 1 ? 3 : a > 1;
    net->link_total = net->endpoints + groups * a * (a - 1) / 2 +
                      groups * (groups - 1) / 2 * net->global_pair_links;
    out->bisection_gbps = global_bisection(net);
    net->rule[MYR_DEVICE_LEAF] = "groups * switches of a group; groups = ceil(host ports / "
                                 "(switches of a group * hosts of a switch))";
    net->inputs[MYR_DEVICE_LEAF] =
        myr_arena_printf(plan->arena, "ceil(%u / (%u * %u)) = %u groups * %u, h = %u",
                         net->endpoints, a, p, out->groups, a, h);
    return MYR_OK;
}

/* Dragonfly+ (Shpiner et al. 2017): a group is a full bipartite leaf-spine; spines go global. */
static int size_dragonfly_plus(struct plan *plan, struct net_plan *net, struct myr_err *err)
{
    struct myr_network *out = &net->out;
    uint32_t radix = fits_straight_radix(net->leaf_sw, out->fabric_gbps);
    /* As many spines as leaves in a group; half of the ports go either way. */
    uint32_t half = net->spec->group_switches ? net->spec->group_switches : radix / 2;
    uint32_t hosts = net->spec->hosts_per_switch ? net->spec->hosts_per_switch : half;
    uint32_t global = net->spec->global_ports ? net->spec->global_ports : half;
    if (fits_straight_radix(net->spine_sw, out->fabric_gbps) == 0) {
        return myr_doc_error(err, net->node, MYR_EINVAL,
                             "'%s' has no ports of %u Gb/s: a dragonfly+ has one speed",
                             part_at(plan, net->spine_part)->id, out->fabric_gbps);
    }
    /* A leaf has hosts and spines, a spine leaves and other groups. */
    MYR_TRY(need_ports(net, &(struct port_need){net->leaf_sw, hosts, half, 0}, "dragonfly+", err));
    MYR_TRY(plan_whole_splitters(net, hosts, err));
    MYR_TRY(
        need_ports(net, &(struct port_need){net->spine_sw, 0, half, global}, "dragonfly+", err));
    MYR_TRY(size_groups(net, half * hosts, half * global, err));
    uint64_t groups = out->groups;
    /* In the words of tiers, which place.c and wire.c share. */
    out->group_switches = half;
    out->hosts_per_switch = hosts;
    out->leaf = out->spine = (uint32_t)groups * half;
    out->leaf_down = hosts;
    out->leaf_up = half;
    out->spine_down = half;
    out->spine_up = global;
    out->tiers = 2;
    out->pod_leaves = out->pod_spines = half;
    /* As built, at a full leaf, in thousandths and rounded. */
    uint64_t down = (uint64_t)hosts * out->host_gbps * 1000, up = (uint64_t)half * out->fabric_gbps;
    out->oversubscription_milli[0] = (uint32_t)((down + up / 2) / up);
    out->diameter_hops = groups > 1 ? 3 : half > 1 ? 2 : 0;
    net->link_total =
        net->endpoints + groups * half * half + groups * (groups - 1) / 2 * net->global_pair_links;
    out->bisection_gbps = global_bisection(net);
    net->rule[MYR_DEVICE_LEAF] = "groups * leaves of a group; groups = ceil(host ports / (leaves * "
                                 "hosts of a leaf))";
    net->inputs[MYR_DEVICE_LEAF] =
        myr_arena_printf(plan->arena, "ceil(%u / (%u * %u)) = %u groups * %u", net->endpoints, half,
                         hosts, out->groups, half);
    net->rule[MYR_DEVICE_SPINE] = "as many spines as leaves in each group";
    net->inputs[MYR_DEVICE_SPINE] =
        myr_arena_printf(plan->arena, "%u groups * %u", out->groups, half);
    return MYR_OK;
}

/* Planes are for fabrics of tiers. */
static int one_plane_only(const struct net_plan *net, struct myr_err *err)
{
    if (net->out.planes > 1) {
        return myr_doc_error(err, net->node, MYR_EINVAL, "topology '%s' is built in one plane only",
                             myr_topology_name(net->out.topology));
    }
    return MYR_OK;
}

/* Both kinds, and what of their global ports stays free. */
int plan_size_dragonfly(struct plan *plan, struct net_plan *net, struct myr_err *err)
{
    plan_host_slots(net);
    /* What a splitter divides for hosts stays whole between switches. */
    net->out.fabric_gbps = net->splitter_legs > 1 ? net->leaf_sw->port_gbps : net->out.host_gbps;
    MYR_TRY(one_plane_only(net, err));
    MYR_TRY(net->out.topology == MYR_TOPOLOGY_DRAGONFLY ? size_dragonfly_plain(plan, net, err)
                                                        : size_dragonfly_plus(plan, net, err));
    /* No cut carries more than half of the hosts send. */
    uint64_t hosts = (uint64_t)net->endpoints * net->out.host_gbps / 2;
    net->out.bisection_gbps = net->out.bisection_gbps < hosts ? net->out.bisection_gbps : hosts;
    uint64_t global = net->out.topology == MYR_TOPOLOGY_DRAGONFLY
                          ? (uint64_t)net->out.group_switches * net->out.leaf_up
                          : (uint64_t)net->out.group_switches * net->out.spine_up;
    uint64_t used = (uint64_t)net->global_pair_links * (net->out.groups - 1);
    if (used < global) {
        plan_finding(plan, MYR_SEVERITY_INFO, "idle-global-ports", myr_net_names[net->id],
                     "a number of groups whose pairs share the ports evenly uses them all",
                     "%llu of a group's %llu global ports stay free: every pair of groups has %u "
                     "link%s",
                     (unsigned long long)(global - used), (unsigned long long)global,
                     net->global_pair_links, net->global_pair_links == 1 ? "" : "s");
    }
    return check_links(net, err);
}

/* A ring in each dimension, 'trunk' links between neighbours, hosts on every switch. */
int plan_size_torus(struct plan *plan, struct net_plan *net, struct myr_err *err)
{
    struct myr_network *out = &net->out;
    const struct myr_spec_net *spec = net->spec;
    plan_host_slots(net);
    out->fabric_gbps = spec->uplink_gbps        ? spec->uplink_gbps
                       : net->splitter_legs > 1 ? net->leaf_sw->port_gbps
                                                : out->host_gbps;
    MYR_TRY(one_plane_only(net, err));
    /* A torus has no default shape: who wants one knows its sides. */
    if (spec->dim_count == 0) {
        return myr_doc_error(err, net->node, MYR_EINVAL,
                             "topology 'torus' needs 'dims', such as dims: [8, 8, 4]");
    }
    uint64_t routers = 1;
    uint32_t trunk = spec->trunk ? spec->trunk : 1, longest = 0;
    out->dim_count = spec->dim_count;
    for (uint32_t i = 0; i < spec->dim_count; i++) {
        out->dims[i] = spec->dims[i];
        routers *= spec->dims[i];
        /* Rings: no switch is farther than half way round. */
        out->diameter_hops += spec->dims[i] / 2;
        longest = spec->dims[i] > longest ? spec->dims[i] : longest;
    }
    MYR_ASSERT(longest > 0);
    uint32_t hosts =
        spec->hosts_per_switch ? spec->hosts_per_switch : ceil_div(net->slots, routers);
    /* Hosts of several cards come in whole splitters: rounded up unless the spec sets the number.
     */
    if (net->several_cards && !spec->hosts_per_switch) {
        hosts = ceil_div(hosts, net->splitter_legs) * net->splitter_legs;
    }
    if ((uint64_t)hosts * routers < net->slots) {
        return myr_doc_error(err, net->node, MYR_EINVAL,
                             "%u host ports do not fit on %llu switches of %u hosts", net->slots,
                             (unsigned long long)routers, hosts);
    }
    /* Two neighbours in every dimension. */
    struct port_need ports = {net->leaf_sw, hosts, 2ULL * trunk * spec->dim_count, 0};
    MYR_TRY(need_ports(net, &ports, "torus", err));
    MYR_TRY(plan_whole_splitters(net, hosts, err));
    out->leaf = (uint32_t)routers;
    out->leaf_down = out->hosts_per_switch = hosts;
    out->leaf_up = 2 * trunk * spec->dim_count;
    out->tiers = 1;
    net->pair_links = trunk;
    net->link_total = net->endpoints + routers * spec->dim_count * trunk;
    /* The cut across the longest dimension is the smallest; it is crossed twice, by the wrap. */
    out->bisection_gbps = 2 * (routers / longest) * trunk * out->fabric_gbps;
    uint64_t host_half = (uint64_t)net->endpoints * out->host_gbps / 2;
    out->bisection_gbps = out->bisection_gbps < host_half ? out->bisection_gbps : host_half;
    net->rule[MYR_DEVICE_LEAF] = "product of the dimensions";
    net->inputs[MYR_DEVICE_LEAF] =
        myr_arena_printf(plan->arena, "%u dimensions, %llu switches, %u hosts on each",
                         spec->dim_count, (unsigned long long)routers, hosts);
    return check_links(net, err);
}

/* Two tiers: each access switch has its uplinks on neighbouring aggregation switches. */
static int size_aggregation(struct plan *plan, struct net_plan *net, struct myr_err *err)
{
    const struct myr_part_ethernet *access = &part_at(plan, net->access_part)->eth;
    const struct myr_part_ethernet *above = &part_at(plan, net->aggregation_part)->eth;
    struct myr_network *out = &net->out;
    /* Two out of band, four elsewhere: the least that is built. */
    uint32_t fixed = net->id == MYR_NET_OOB ? 2 : 4;
    if (access->uplink_ports == 0) {
        return myr_doc_error(err, net->node, MYR_EINVAL,
                             "'%s' has no uplinks: it cannot be an access switch",
                             part_at(plan, net->access_part)->id);
    }
    /* One access switch alone would not fit. */
    if (access->uplink_ports > above->access_ports) {
        return myr_doc_error(err, net->node, MYR_EINVAL,
                             "an access switch has more uplinks (%u) than its aggregation switch "
                             "has ports (%u)",
                             access->uplink_ports, above->access_ports);
    }
    /* Dealt out in windows of uplinks (wire.c): an aggregation switch takes whole windows. */
    uint32_t windows = above->access_ports / access->uplink_ports;
    uint32_t needed = ceil_div(out->access, windows);
    /* The spec's number, else what the ports need, but no fewer than are always built. */
    out->aggregation = net->spec->aggregation_count ? net->spec->aggregation_count
                       : needed > fixed             ? needed
                                                    : fixed;
    if (out->aggregation < needed) {
        return myr_doc_error(err, net->node, MYR_EINVAL,
                             "%u aggregation switches of %u ports cannot take the uplinks of %u "
                             "access switches; %u are needed",
                             out->aggregation, above->access_ports, out->access, needed);
    }
    /* With one uplink each, nothing would join the aggregation switches. */
    if (access->uplink_ports == 1 && out->access > 1 && out->aggregation > 1) {
        return myr_doc_error(err, net->node, MYR_EINVAL,
                             "access switches with one uplink cannot join %u aggregation switches; "
                             "give 'aggregation: 1' or switches with more uplinks",
                             out->aggregation);
    }
    /* More of them than an access switch reaches: two access switches need not share one. */
    if (out->aggregation > access->uplink_ports && out->access > 1) {
        plan_finding(plan, MYR_SEVERITY_WARNING, "aggregation-not-meshed", myr_net_names[net->id],
                     "tiers: 3 adds cores above, or use aggregation switches with more ports",
                     "%u aggregation switches, but an access switch reaches only %u of them",
                     out->aggregation, access->uplink_ports);
    }
    net->rule[MYR_DEVICE_AGGREGATION] =
        "at least the fixed number, and enough ports for all uplinks";
    net->inputs[MYR_DEVICE_AGGREGATION] =
        myr_arena_printf(plan->arena, "max(%u, ceil(%u / floor(%u / %u)))", fixed, out->access,
                         above->access_ports, access->uplink_ports);
    return MYR_OK;
}

/* The highest speed of the card that the port of an access switch can run at. */
static uint32_t access_speed(const struct myr_part_nic *nic, uint32_t port_gbps)
{
    uint32_t best = nic->port_gbps <= port_gbps ? nic->port_gbps : 0;
    for (uint32_t i = 0; i < nic->also.count; i++) {
        uint32_t gbps = nic->also.items[i];
        best = gbps <= port_gbps && gbps > best ? gbps : best;
    }
    return best;
}

/* Links of an access network: as fast as the spec asks, if card and port are. */
static int resolve_access_speed(const struct plan *plan, struct net_plan *net, struct myr_err *err)
{
    const struct myr_part *access = part_at(plan, net->access_part);
    const struct myr_part *card = part_at(plan, net->hosts[0].nic_part);
    uint32_t most = access_speed(&card->nic, access->eth.access_gbps);
    /* The card's fastest that the port can run at, unless the spec asks for less. */
    uint32_t wanted = net->spec->nic_gbps ? net->spec->nic_gbps : most;
    if (wanted == 0 || wanted > access->eth.access_gbps || !fits_speed(&card->nic, wanted)) {
        int rc = myr_doc_error(err, net->node, MYR_EINVAL,
                               "ports of '%s' have %u Gb/s and card '%s' has %u: a link of %u "
                               "cannot run",
                               access->id, access->eth.access_gbps, card->id, card->nic.port_gbps,
                               wanted ? wanted : access->eth.access_gbps);
        /* The speed that would do is known: it is told. */
        if (most) {
            myr_err_hint(err, "nic_gbps: %u can", most);
        }
        return rc;
    }
    net->out.host_gbps = wanted;
    return MYR_OK;
}

/* Uplinks end in ports of their own speed. */
static int check_uplinks(const struct plan *plan, const struct net_plan *net, struct myr_err *err)
{
    const struct myr_part *access = part_at(plan, net->access_part);
    const struct myr_part *above = part_at(plan, net->aggregation_part);
    if (access->eth.uplink_ports == 0 || access->eth.uplink_gbps == above->eth.access_gbps) {
        return MYR_OK;
    }
    int rc = myr_doc_error(err, net->node, MYR_EINVAL,
                           "uplinks of '%s' have %u Gb/s, ports of '%s' %u: they cannot be joined",
                           access->id, access->eth.uplink_gbps, above->id, above->eth.access_gbps);
    /* The hint names the first switch that would do. */
    for (uint32_t i = 0; i < plan->catalog->parts.count; i++) {
        const struct myr_part *part = part_at(plan, i);
        if (part->kind == MYR_PART_ETHERNET && part->eth.access_gbps == access->eth.uplink_gbps &&
            part->eth.access_ports >= access->eth.uplink_ports) {
            myr_err_hint(err, "aggregation_switch: %s can", part->id);
            break;
        }
    }
    return rc;
}

/* Two access switches for each started row of nodes when nodes have two homes, and so on. */
static int check_access(const struct net_plan *net, uint32_t homes, struct myr_err *err)
{
    if (net->managers) {
        return myr_doc_error(err, net->node, MYR_EINVAL,
                             "'fabric_manager_ports' is %u, but an access network has no fabric "
                             "manager",
                             net->managers);
    }
    /* A node reaches a switch by each port, no more. */
    if (homes > net->nic_ports) {
        return myr_doc_error(err, net->node, MYR_EINVAL,
                             "%u homes need as many ports, nodes have %u", homes, net->nic_ports);
    }
    if (net->spec->tiers == 1) {
        return myr_doc_error(err, net->node, MYR_EINVAL,
                             "'tiers' is 1, an access network has 2 or 3");
    }
    return one_plane_only(net, err);
}

/* Keys of fabrics: an access network has switches, links and ratios of its own parts. */
static void tell_unused(struct plan *plan, const struct net_plan *net)
{
    const struct myr_spec_net *spec = net->spec;
    const struct {
        const char *key, *remedy;
        bool given;
    } keys[] = {
        {"switch", "give 'access_switch'", spec->switch_part != MYR_PART_NONE},
        {"spine_switch", "give 'aggregation_switch'", spec->spine_switch != MYR_PART_NONE},
        {"core_switch", "give 'aggregation_switch'", spec->core_switch != MYR_PART_NONE},
        {"uplink_gbps", "give 'access_switch'", spec->uplink_gbps > 0},
        {"oversubscription", "give 'access_switch'", spec->oversubscription_count > 0},
        {"leaf_down", "give 'access_switch'", spec->leaf_down > 0},
        {"leaf_up", "give 'access_switch'", spec->leaf_up > 0},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(keys); i++) {
        if (keys[i].given) {
            plan_finding(plan, MYR_SEVERITY_WARNING, "key-unused", myr_net_names[net->id],
                         keys[i].remedy,
                         "'%s' is for fabrics; an access network has the ports and uplinks of its "
                         "access switch",
                         keys[i].key);
        }
    }
}

/* Where switches are managed over it their ports are in the rule as well. */
static void explain_access(struct plan *plan, struct net_plan *net, uint32_t homes, uint32_t ports)
{
    net->rule[MYR_DEVICE_ACCESS] = "homes * ceil(nodes / ports of an access switch)";
    net->inputs[MYR_DEVICE_ACCESS] =
        myr_arena_printf(plan->arena, "%u * ceil(%u / %u)", homes, net->nodes, ports);
    /* Only out of band has boxes beside its nodes. */
    if (net->managed) {
        net->rule[MYR_DEVICE_ACCESS] =
            "homes * ceil((nodes + management ports of switches / homes) / ports of an access "
            "switch)";
        net->inputs[MYR_DEVICE_ACCESS] =
            myr_arena_printf(plan->arena, "%u * ceil((%u + %u / %u) / %u)", homes, net->nodes,
                             net->managed, homes, ports);
    }
}

/* Nodes stand in rows: a row is as many as an access switch has ports, and has a switch for each
 * home. */
int plan_size_access(struct plan *plan, struct net_plan *net, struct myr_err *err)
{
    const struct myr_part_ethernet *access = &part_at(plan, net->access_part)->eth;
    struct myr_network *out = &net->out;
    /* As many homes as the card has ports, unless the spec wants fewer. */
    uint32_t homes = net->spec->homes ? net->spec->homes : net->nic_ports;
    net->splitter_legs = 1;
    MYR_TRY(check_access(net, homes, err));
    tell_unused(plan, net);
    out->tiers = 2;
    MYR_TRY(resolve_access_speed(plan, net, err));
    MYR_TRY(check_uplinks(plan, net, err));
    out->fabric_gbps = access->uplink_gbps;
    out->group_nodes = access->access_ports;
    uint32_t nodes = 0;
    for (uint32_t i = 0; i < net->host_class_count; i++) {
        /* Each kind uses as many ports as there are homes, whatever its card has. */
        net->hosts[i].nic_ports = homes;
        net->hosts[i].start = nodes;
        nodes += net->hosts[i].count;
    }
    if (net->id == MYR_NET_OOB) {
        plan_managed(plan, net);
    }
    /* Management ports have one home; they fill the rows behind the nodes. */
    uint32_t slots = net->nodes + ceil_div(net->managed, homes);
    out->access = homes * ceil_div(slots, access->access_ports);
    out->leaf_down = access->access_ports;
    out->leaf_up = access->uplink_ports;
    out->spine_down = part_at(plan, net->aggregation_part)->eth.access_ports;
    MYR_TRY(net->spec->tiers == 3 ? plan_size_access_core(plan, net, err)
                                  : size_aggregation(plan, net, err));
    /* From here on a node has just its homes; places are by node, as wire.c counts them. */
    net->nic_ports = homes;
    net->endpoints = net->nodes * homes + net->managed;
    /* All uplinks are used, whatever the hosts need. */
    uint64_t uplinks = (uint64_t)out->access * access->uplink_ports;
    uint64_t leaf_up_gbps = (uint64_t)access->uplink_ports * access->uplink_gbps;
    out->planes = 1;
    out->host_ports = net->endpoints;
    net->link_total = net->endpoints + uplinks;
    if (out->tiers == 3) {
        net->link_total += (uint64_t)out->aggregation * out->spine_up;
    }
    /* Thousandths, at a full access switch. */
    if (leaf_up_gbps > 0) {
        uint64_t down = (uint64_t)access->access_ports * out->host_gbps * 1000;
        out->oversubscription_milli[0] = (uint32_t)(down / leaf_up_gbps);
    }
    /* Half of what hosts send, or of what leaves the access switches. */
    uint64_t hosts_gbps = (uint64_t)net->endpoints * out->host_gbps;
    uint64_t up_gbps = uplinks * access->uplink_gbps;
    out->bisection_gbps = (hosts_gbps < up_gbps ? hosts_gbps : up_gbps) / 2;
    explain_access(plan, net, homes, access->access_ports);
    return check_links(net, err);
}
