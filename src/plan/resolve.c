#include <stdio.h>

#include "fits.h"
#include "parts/cards.h"

/*
 * Fills in what the spec leaves open. Whatever is decided here can be read off the printed design;
 * docs/spec.md lists the defaults.
 */

/* Each is named in docs/spec.md; a spec that means another part says so. */
static const char *const default_server = "h100-8gpu";
static const char *const default_storage = "flash-22x15-cx7";
static const char *const default_access[MYR_NET_COUNT] = {NULL, NULL, "eth-access-25g",
                                                          "eth-access-1g"};
static const char *const default_aggregation[MYR_NET_COUNT] = {NULL, NULL, "eth-core-100g",
                                                               "eth-agg-10g"};

/* The catalogue may be the user's own: a default part can be missing. */
static int find_default(const struct plan *plan, const char *name, uint32_t *ret,
                        struct myr_err *err)
{
    *ret = myr_catalog_find(plan->catalog, myr_str_from(name));
    if (*ret == MYR_PART_NONE) {
        return myr_err_set(err, MYR_ENOENT, "the catalogue lacks '%s', which is needed by default",
                           name);
    }
    return MYR_OK;
}

/* Whether the cards of all hosts can be cabled to the switch. */
static bool all_join(struct plan *plan, const struct net_plan *net, uint32_t sw)
{
    bool join = true;
    for (uint32_t i = 0; join && i < net->host_class_count; i++) {
        join = plan_card_joins(plan, net, net->hosts[i].nic_part, sw);
    }
    return join;
}

/* The first switch of the catalogue that speaks the NIC's technology and can be cabled to it. */
static int default_switch(struct plan *plan, const struct net_plan *net,
                          enum myr_technology technology, uint32_t *ret, struct myr_err *err)
{
    /* The first that speaks and has the speed, should none be cabled: its finding says what is
     * missing. */
    uint32_t first = MYR_PART_NONE;
    for (uint32_t i = 0; i < plan->catalog->parts.count; i++) {
        const struct myr_part *part = part_at(plan, i);
        if (part->kind != MYR_PART_SWITCH || myr_switch_radix(&part->sw, net->out.host_gbps) == 0 ||
            !fits_technology(technology, part->sw.technology)) {
            continue;
        }
        first = first == MYR_PART_NONE ? i : first;
        if (all_join(plan, net, i)) {
            *ret = i;
            return MYR_OK;
        }
    }
    if (first != MYR_PART_NONE) {
        *ret = first; /* what is missing becomes a finding */
        return MYR_OK;
    }
    return myr_doc_error(err, net->node, MYR_ENOENT,
                         "no switch in the catalogue takes %u Gb/s; give 'switch'",
                         net->out.host_gbps);
}

/* Names the speeds that there are, so that the spec can be put right at once. */
static int check_speed(const struct net_plan *net, const struct myr_part *part, uint32_t gbps,
                       struct myr_err *err)
{
    if (myr_switch_radix(&part->sw, gbps) > 0) {
        return MYR_OK;
    }
    char speeds[128];
    /* Cut off where a switch has more speeds than fit: it is only a message. */
    int at = snprintf(speeds, sizeof(speeds), "%u", part->sw.port_gbps);
    for (uint32_t i = 0; i < part->sw.splits.count && at > 0 && (size_t)at < sizeof(speeds); i++) {
        at += snprintf(speeds + at, sizeof(speeds) - (size_t)at, ", %u", part->sw.splits.items[i]);
    }
    return myr_doc_error(err, net->node, MYR_EINVAL,
                         "switch '%s' has no ports of %u Gb/s; it offers %s", part->id, gbps,
                         speeds);
}

/* The first switch that could stand above this leaf: its technology, its uplink speed. */
static uint32_t right_upper(const struct plan *plan, const struct net_plan *net)
{
    for (uint32_t i = 0; i < plan->catalog->parts.count; i++) {
        const struct myr_part *part = part_at(plan, i);
        if (part->kind == MYR_PART_SWITCH && part->sw.technology == net->leaf_sw->technology &&
            fits_straight_radix(&part->sw, net->out.fabric_gbps) > 0) {
            return i;
        }
    }
    return net->leaf_part;
}

/* One technology along every link. */
static int check_upper(const struct plan *plan, const struct net_plan *net, uint32_t part,
                       const char *key, struct myr_err *err)
{
    static const char *const names[] = {"InfiniBand", "Ethernet", "any"};
    const struct myr_part *upper = part_at(plan, part);
    if (fits_technology(upper->sw.technology, net->leaf_sw->technology)) {
        return MYR_OK;
    }
    int rc = myr_doc_error(err, net->node, MYR_EINVAL,
                           "'%s' is '%s' (%s), which cannot be cabled to the leaf '%s' (%s)", key,
                           upper->id, names[upper->sw.technology],
                           part_at(plan, net->leaf_part)->id, names[net->leaf_sw->technology]);
    myr_err_hint(err, "%s: %s is the nearest that can", key,
                 part_at(plan, right_upper(plan, net))->id);
    return rc;
}

/* The leaf decides: what stands above is the same part unless the spec says otherwise. */
static int resolve_switches(struct plan *plan, struct net_plan *net, enum myr_technology technology,
                            struct myr_err *err)
{
    const struct myr_spec_net *spec = net->spec;
    net->leaf_part = spec->switch_part;
    if (net->leaf_part == MYR_PART_NONE) {
        MYR_TRY(default_switch(plan, net, technology, &net->leaf_part, err));
    }
    const struct myr_part *leaf = part_at(plan, net->leaf_part);
    net->spine_part = spec->spine_switch == MYR_PART_NONE ? net->leaf_part : spec->spine_switch;
    net->core_part = spec->core_switch == MYR_PART_NONE ? net->spine_part : spec->core_switch;
    net->leaf_sw = &leaf->sw;
    net->spine_sw = &part_at(plan, net->spine_part)->sw;
    net->core_sw = &part_at(plan, net->core_part)->sw;
    /* What a splitter divides for hosts stays whole between switches. */
    bool divided =
        leaf->sw.breakout == MYR_BREAKOUT_SPLITTER && net->out.host_gbps < leaf->sw.port_gbps;
    /* The spec's word, the part's own uplinks, the whole port, else the hosts' speed. */
    net->out.fabric_gbps = spec->uplink_gbps      ? spec->uplink_gbps
                           : leaf->sw.uplink_gbps ? leaf->sw.uplink_gbps
                           : divided              ? leaf->sw.port_gbps
                                                  : net->out.host_gbps;
    if (technology != MYR_TECH_ANY && leaf->sw.technology != technology) {
        return myr_doc_error(err, net->node, MYR_EINVAL,
                             "switch '%s' and the servers' NICs speak different technologies",
                             leaf->id);
    }
    /* All tiers are checked, also those that may not be built: a wrong part in the spec is wrong in
     * any case. */
    MYR_TRY(check_upper(plan, net, net->spine_part, "spine_switch", err));
    MYR_TRY(check_upper(plan, net, net->core_part, "core_switch", err));
    MYR_TRY(check_speed(net, leaf, net->out.host_gbps, err));
    MYR_TRY(check_speed(net, leaf, net->out.fabric_gbps, err));
    MYR_TRY(check_speed(net, part_at(plan, net->spine_part), net->out.fabric_gbps, err));
    return check_speed(net, part_at(plan, net->core_part), net->out.fabric_gbps, err);
}

/* Appends a kind of hosts; none of them is nothing. Endpoints are counted in one plane. */
static void add_group_hosts(const struct plan *plan, struct net_plan *net,
                            enum myr_device_kind kind, uint32_t group, uint32_t count,
                            uint32_t nic_part, uint32_t nic_ports)
{
    if (count == 0) {
        return;
    }
    MYR_ASSERT(net->host_class_count < PLAN_HOSTS_MAX);
    /* Checked before: every kind of hosts has a card here. */
    MYR_ASSERT(nic_ports > 0 && nic_part != MYR_PART_NONE);
    net->hosts[net->host_class_count++] =
        (struct host_class){.kind = kind,
                            .group = group,
                            .count = count,
                            .nic_part = nic_part,
                            .nic_ports = nic_ports,
                            .per_cage = part_at(plan, nic_part)->nic.cage_ports};
    net->nodes += count;
    net->endpoints += count * nic_ports;
}

/* Hosts that are no GPU servers: their group means nothing. */
static void add_hosts(const struct plan *plan, struct net_plan *net, enum myr_device_kind kind,
                      uint32_t count, uint32_t nic_part, uint32_t nic_ports)
{
    add_group_hosts(plan, net, kind, 0, count, nic_part, nic_ports);
}

/* The word 'fabric' against what the parts can do. */
static int check_fabric(const struct plan *plan, const struct net_plan *net, uint32_t nic_part,
                        struct myr_err *err)
{
    const struct myr_spec_net *spec = net->spec;
    if (spec->fabric == MYR_FABRIC_ANY) {
        return MYR_OK;
    }
    uint32_t asked = card_asked_technology(plan, spec);
    const struct myr_part *nic = part_at(plan, nic_part);
    if (net->out.topology == MYR_TOPOLOGY_ACCESS && asked == MYR_TECH_INFINIBAND) {
        return myr_doc_error(err, net->node, MYR_EINVAL,
                             "'fabric' is 'infiniband', but topology 'access' is Ethernet");
    }
    /* Cards that speak both are never wrong. */
    if (nic->nic.technology != MYR_TECH_ANY && nic->nic.technology != asked) {
        return myr_doc_error(err, net->node, MYR_EINVAL,
                             "'fabric' is '%s', but the NIC '%s' does not speak it; give pin: "
                             "{nic: ...} or another server",
                             myr_fabric_names[spec->fabric], nic->id);
    }
    if (spec->switch_part != MYR_PART_NONE &&
        part_at(plan, spec->switch_part)->sw.technology != asked) {
        return myr_doc_error(err, net->node, MYR_EINVAL,
                             "'fabric' is '%s', but the switch '%s' does not speak it",
                             myr_fabric_names[spec->fabric], part_at(plan, spec->switch_part)->id);
    }
    return MYR_OK;
}

/* The group that decides what a network is like: the first that hangs on it. */
static const struct plan_group *first_on(const struct plan *plan, const struct net_plan *net)
{
    for (uint32_t i = 0; i < plan->group_count; i++) {
        if (plan->groups[i].networks & 1U << net->id) {
            return &plan->groups[i];
        }
    }
    return &plan->groups[0];
}

/*
 * The spec's word decides how many ports of a node are cabled. Those that stay free are paid for
 * all the same, and cards beyond the server's own are in nobody's price: both are said.
 */
static void state_ports(struct plan *plan, const struct net_plan *net,
                        const struct myr_part *server, uint32_t card, uint32_t cabled)
{
    const struct myr_server_nics *nics = &server->server.nics[net->id];
    const struct myr_part_nic *nic = &part_at(plan, card)->nic;
    uint32_t own = nics->count * nic->cages * nic->cage_ports;
    /* Of cards that only the pin tells of nobody knows how many there are. */
    if (!nics->nic || cabled == own) {
        return;
    }
    if (cabled < own) {
        plan_finding(plan, MYR_SEVERITY_INFO, "nics-unused", myr_net_names[net->id],
                     "leave 'nic_ports' out to use them all",
                     "'nic_ports' cables %u of the %u ports of a node", cabled, own);
    } else if (net->spec->nic_ports) {
        plan_finding(plan, MYR_SEVERITY_WARNING, "nics-added", myr_net_names[net->id],
                     "order the cards that are missing, or leave 'nic_ports' out",
                     "'nic_ports' cables %u ports of a node, the %s of '%s' %s %u; more cards are "
                     "not in the bill",
                     cabled, MYR_COUNT(nics->count, "NIC"), server->id,
                     nics->count == 1 ? "has" : "have", own);
    }
}

/* Card, speed, planes and ports of a node, from the first group on the network. Access networks
 * take the server's card as it is: it need not suit a fabric. */
static int resolve_nic(struct plan *plan, struct net_plan *net, uint32_t *ret_part,
                       struct myr_err *err)
{
    const struct myr_spec_net *spec = net->spec;
    const struct myr_part *server = first_on(plan, net)->server;
    const struct myr_server_nics *nics = &server->server.nics[net->id];
    /* The pin decides, then the server; without either nobody can know. */
    if (spec->pins[MYR_PIN_NIC] != MYR_PART_NONE) {
        *ret_part = spec->pins[MYR_PIN_NIC];
    } else if (nics->nic) {
        uint32_t own = myr_catalog_find(plan->catalog, myr_str_from(nics->nic));
        bool access = net->out.topology == MYR_TOPOLOGY_ACCESS;
        *ret_part = access ? own : card_or_variant(plan, net, own);
    } else {
        return myr_doc_error(err, net->node, MYR_EINVAL,
                             "server '%s' has no NIC for the %s network; give pin: {nic: ...}",
                             server->id, myr_net_names[net->id]);
    }
    const struct myr_part_nic *nic = &part_at(plan, *ret_part)->nic;
    net->out.host_gbps = spec->nic_gbps ? spec->nic_gbps : nic->port_gbps;
    net->out.planes = spec->planes ? spec->planes : 1;
    /* All that the server has for this network, over all planes. */
    uint32_t ports = (nics->count ? nics->count : 1) * nic->cages * nic->cage_ports;
    /* One cage for all planes of a NIC: cables are then counted by cages. */
    net->twin = net->out.planes > 1 && nic->cage_ports == net->out.planes;
    if (spec->twin_planar && !net->twin) {
        return myr_doc_error(err, net->node, MYR_EINVAL,
                             "twin-planar needs NICs with %u ports in one cage, '%s' has %u",
                             net->out.planes, part_at(plan, *ret_part)->id, nic->cage_ports);
    }
    MYR_TRY(card_check(plan, net, *ret_part, err));
    /* card_check() has seen to that. */
    MYR_ASSERT(ports >= net->out.planes && ports % net->out.planes == 0);
    net->nic_ports = spec->nic_ports ? spec->nic_ports : ports / net->out.planes;
    if (net->nic_ports * net->out.planes % nic->cards) {
        return myr_doc_error(err, net->node, MYR_EINVAL,
                             "'nic_ports' is %u, but '%s' is %u cards behind one cage",
                             net->nic_ports, part_at(plan, *ret_part)->id, nic->cards);
    }
    state_ports(plan, net, server, *ret_part, net->nic_ports * net->out.planes);
    return MYR_OK;
}

/* Topologies that need the same number of ports on every host are told so early. */
static int resolve_rails(struct plan *plan, struct net_plan *net, struct myr_err *err)
{
    bool railed =
        net->out.topology == MYR_TOPOLOGY_RAIL || net->out.topology == MYR_TOPOLOGY_RAIL_ONLY;
    uint32_t rails = net->spec->rails;
    /* One rail in name, so that formulas need no special case. */
    if (!railed) {
        if (rails > 1) {
            return myr_doc_error(err, net->node, MYR_EINVAL,
                                 "'rails' is %u, but topology '%s' has no rails", rails,
                                 myr_topology_name(net->out.topology));
        }
        net->out.rails = 1;
        net->ports_per_rail = net->nic_ports;
        return MYR_OK;
    }
    /* The spec's number, the server's own on compute, else a rail for each port. */
    if (!rails && net->id == MYR_NET_COMPUTE && plan->server->server.rails) {
        rails = plan->server->server.rails;
    }
    /* A default that does not divide the ports is no good; a number that the spec gives is refused
     * below. */
    if (!rails || (!net->spec->rails && net->nic_ports % rails)) {
        rails = net->nic_ports;
    }
    MYR_ASSERT(rails > 0);
    if (net->nic_ports % rails) {
        return myr_doc_error(err, net->node, MYR_EINVAL,
                             "%u NIC ports cannot be spread evenly over %u rails", net->nic_ports,
                             rails);
    }
    /* Rails reach every node alike, storage and management nodes too. */
    for (uint32_t i = 0; i < net->host_class_count; i++) {
        if (net->hosts[i].nic_ports != net->nic_ports) {
            return myr_doc_error(err, net->node, MYR_EINVAL,
                                 "topology '%s' needs the same number of ports on every node; use "
                                 "topology: clos",
                                 myr_topology_name(net->out.topology));
        }
    }
    net->out.rails = rails;
    net->ports_per_rail = net->nic_ports / rails;
    return MYR_OK;
}

/* Tiers that the spec does not name are 1:1. */
static void resolve_oversubscription(struct net_plan *net)
{
    for (uint32_t i = 0; i < MYR_SPEC_TIERS_MAX; i++) {
        net->oversubscription[i] =
            i < net->spec->oversubscription_count ? net->spec->oversubscription[i] : 1;
    }
}

/* The first group on a network decides its speed, which all cards have (parts/agree.c); the others
 * must be able to run at it. */
static int resolve_groups(struct plan *plan, struct net_plan *net, uint32_t nic_part,
                          struct myr_err *err)
{
    net->nic_ports = cards_homes(plan, net);
    for (uint32_t i = 0; i < plan->group_count; i++) {
        const struct plan_group *group = &plan->groups[i];
        uint32_t ports = net->nic_ports, part = nic_part;
        if (!(group->networks & 1U << net->id)) {
            continue;
        }
        /* A group with the first one's server has its card and ports, and so has every group if the
         * card is pinned. */
        if (group->server != first_on(plan, net)->server &&
            net->spec->pins[MYR_PIN_NIC] == MYR_PART_NONE) {
            const struct myr_server_nics *nics = &group->server->server.nics[net->id];
            uint32_t own =
                nics->nic ? myr_catalog_find(plan->catalog, myr_str_from(nics->nic)) : MYR_NONE;
            bool access = net->out.topology == MYR_TOPOLOGY_ACCESS;
            own = own == MYR_NONE || access ? own : card_or_variant(plan, net, own);
            /* A group without a fitting card is refused, not left out: the spec has put it on
             * this network. */
            if (own == MYR_NONE || !card_suits(plan, net->spec, &part_at(plan, own)->nic) ||
                !fits_speed(&part_at(plan, own)->nic, net->out.host_gbps)) {
                return myr_doc_error(err, net->node, MYR_EINVAL,
                                     "group '%.40s': '%s' has no NIC for the %s network at %u "
                                     "Gb/s; leave it out of the group's networks",
                                     group->name, group->server->id, myr_net_names[net->id],
                                     net->out.host_gbps);
            }
            const struct myr_part_nic *nic = &part_at(plan, own)->nic;
            part = own;
            /* Over all planes of its own card; at least one, also of a card that has fewer than
             * planes. */
            ports = net->spec->nic_ports
                        ? net->spec->nic_ports
                        : nics->count * nic->cages * nic->cage_ports / net->out.planes;
            ports = ports ? ports : 1;
            if (net->spec->nic_ports) {
                state_ports(plan, net, group->server, own, ports * net->out.planes);
            }
            if (net->out.topology == MYR_TOPOLOGY_ACCESS && ports < net->nic_ports) {
                return myr_doc_error(err, net->node, MYR_EINVAL,
                                     "group '%.40s': a node has %u ports on the %s network, the "
                                     "first group has %u; give nic_ports",
                                     group->name, ports, myr_net_names[net->id], net->nic_ports);
            }
            /* Access networks have homes: every node has as many ports as the first group. */
            ports = net->out.topology == MYR_TOPOLOGY_ACCESS ? net->nic_ports : ports;
        }
        add_group_hosts(plan, net, MYR_DEVICE_NODE, i, group->nodes, part, ports);
    }
    return MYR_OK;
}

/* GPU nodes, storage, management: the order of endpoints on every network. Managers come later. */
static int resolve_hosts(struct plan *plan, struct net_plan *net, uint32_t nic_part,
                         struct myr_err *err)
{
    const struct myr_part *storage =
        plan->storage_servers ? part_at(plan, plan->storage_part) : NULL;
    MYR_TRY(resolve_groups(plan, net, nic_part, err));
    /* A host port brings at most a few links above it: an eighth of the links is room for them. */
    uint64_t ports = (uint64_t)net->endpoints * net->out.planes;
    if (ports > PLAN_LINKS_MAX / 8) {
        return myr_doc_error(err, net->node, MYR_ERANGE,
                             "%llu host ports are more than the %u that one design may have",
                             (unsigned long long)ports, PLAN_LINKS_MAX / 8);
    }
    /* On other networks storage servers have the nodes' card. */
    bool own = net->id == MYR_NET_STORAGE && storage && storage->storage.nic;
    uint32_t storage_nic = nic_part;
    if (own) {
        MYR_TRY(card_of_storage(plan, net, nic_part, &storage_nic, err));
    }
    /* Storage servers hang on every network but that of the GPUs. */
    if (net->id != MYR_NET_COMPUTE && storage) {
        add_hosts(plan, net, MYR_DEVICE_STORAGE, plan->storage_servers, storage_nic,
                  own && storage->storage.nic_ports ? storage->storage.nic_ports : net->nic_ports);
    }
    add_hosts(plan, net, MYR_DEVICE_MANAGEMENT, net->spec->extra_nodes, nic_part, net->nic_ports);
    /* Where groups name their networks, one may be left that nobody names. */
    if (net->nodes == 0) {
        int rc = myr_doc_error(err, net->node, MYR_EINVAL, "no node hangs on the %s network",
                               myr_net_names[net->id]);
        myr_err_hint(err, "leave it out, or name it in the 'networks' of a group");
        return rc;
    }
    net->managers = net->spec->fabric_manager_ports;
    net->manager_nic = nic_part;
    /* Managers are endpoints but no nodes. */
    net->endpoints += net->managers;
    plan->managers += net->managers;
    /* Networks share management nodes: there are as many as the largest number asks for. */
    if (net->spec->extra_nodes > plan->management_nodes) {
        plan->management_nodes = net->spec->extra_nodes;
    }
    return MYR_OK;
}

/* Networks that are no out-of-band one take the parts of the service network. */
static int resolve_access_parts(struct plan *plan, struct net_plan *net, struct myr_err *err)
{
    uint32_t fallback = net->id == MYR_NET_OOB ? MYR_NET_OOB : MYR_NET_SERVICE;
    net->access_part = net->spec->access_switch;
    net->aggregation_part = net->spec->aggregation_switch;
    if (net->access_part == MYR_PART_NONE) {
        MYR_TRY(find_default(plan, default_access[fallback], &net->access_part, err));
    }
    return net->aggregation_part == MYR_PART_NONE
               ? find_default(plan, default_aggregation[fallback], &net->aggregation_part, err)
               : MYR_OK;
}

/*
 * Rails are the default, but where nothing asks for them and one switch holds all hosts, rails
 * would only buy a switch for each and spines above.
 */
static void single_switch(struct plan *plan, struct net_plan *net)
{
    const struct myr_spec_net *spec = net->spec;
    /* Any of these keys asks for a fabric of leaves and spines. */
    bool open = !spec->topology && !spec->tiers && !spec->rails && !spec->islands &&
                !spec->pod_leaves && !spec->leaf_down && !spec->leaf_up && !spec->group_switches &&
                spec->spine_switch == MYR_PART_NONE && spec->core_switch == MYR_PART_NONE;
    /* Whole nodes only: a switch takes no half of one. */
    uint32_t radix = myr_switch_radix(net->leaf_sw, net->out.host_gbps);
    if (!open || net->out.topology != MYR_TOPOLOGY_RAIL ||
        net->endpoints > radix / net->nic_ports * net->nic_ports) {
        return;
    }
    net->out.topology = MYR_TOPOLOGY_CLOS;
    plan_finding(plan, MYR_SEVERITY_INFO, "single-switch", myr_net_names[net->id],
                 "topology: rail builds a leaf for each rail, and spines",
                 "all %u host ports%s are on one switch, which has %u", net->endpoints,
                 net->out.planes > 1 ? " of a plane" : "", radix);
}

/* Rails are the default for servers that are alike: nodes with other numbers of ports have none in
 * common. */
static void unlike_nodes(struct plan *plan, struct net_plan *net)
{
    const struct myr_spec_net *spec = net->spec;
    bool open = !spec->topology && !spec->rails;
    uint32_t other = 0;
    for (uint32_t i = 0; i < net->host_class_count; i++) {
        other = net->hosts[i].nic_ports != net->nic_ports ? net->hosts[i].nic_ports : other;
    }
    if (open && other && net->out.topology == MYR_TOPOLOGY_RAIL) {
        net->out.topology = MYR_TOPOLOGY_CLOS;
        plan_finding(plan, MYR_SEVERITY_INFO, "unlike-nodes", myr_net_names[net->id],
                     "'nic_ports', or groups on networks of their own, would allow rails",
                     "nodes have %u and %u ports: there are no rails", net->nic_ports, other);
    }
}

/* Card first, as it decides speed and planes; hosts next, as storage may lower the speed; then
 * switches that suit both; rails last. */
static int resolve_net(struct plan *plan, struct net_plan *net, struct myr_err *err)
{
    /* Compute, storage, service, out of band. */
    static const enum myr_topology defaults[MYR_NET_COUNT] = {
        MYR_TOPOLOGY_RAIL, MYR_TOPOLOGY_CLOS, MYR_TOPOLOGY_ACCESS, MYR_TOPOLOGY_ACCESS};
    const struct myr_spec_net *spec = net->spec;
    net->present = true;
    net->out.topology = spec->topology ? spec->topology : defaults[net->id];
    net->out.fill = spec->fill                   ? spec->fill
                    : net->id == MYR_NET_STORAGE ? MYR_FILL_DENSE
                                                 : MYR_FILL_REGULAR;
    /* Sizing of rail-only makes more of them. */
    net->out.units = 1;
    resolve_oversubscription(net);
    uint32_t nic_part = MYR_PART_NONE;
    cards_agree(plan, net);
    spec = net->spec;
    MYR_TRY(resolve_nic(plan, net, &nic_part, err));
    MYR_ASSERT(net->nic_ports > 0); /* all that follows divides by it */
    MYR_TRY(check_fabric(plan, net, nic_part, err));
    MYR_TRY(resolve_hosts(plan, net, nic_part, err));
    if (net->out.topology == MYR_TOPOLOGY_ACCESS) {
        net->out.rails = 1;
        MYR_TRY(resolve_access_parts(plan, net, err));
    } else {
        /* A card may speak both; the word of the spec then decides. */
        enum myr_technology technology =
            (enum myr_technology)part_at(plan, nic_part)->nic.technology;
        if (spec->fabric != MYR_FABRIC_ANY) {
            technology = (enum myr_technology)card_asked_technology(plan, spec);
        }
        MYR_TRY(resolve_switches(plan, net, technology, err));
        MYR_TRY(card_check_speed(plan, net, nic_part, err));
        net->manager_nic = card_of_manager(plan, net, nic_part);
        single_switch(plan, net);
        unlike_nodes(plan, net);
        MYR_TRY(resolve_rails(plan, net, err));
    }
    /* Later steps divide by both. */
    MYR_ASSERT(net->out.planes > 0 && net->out.rails > 0);
    net->out.nodes_on_it = net->nodes;
    net->out.host_ports = net->endpoints * net->out.planes;
    return MYR_OK;
}

/* Storage servers are counted before the networks: they are hosts of them. */
int plan_resolve(struct plan *plan, struct myr_err *err)
{
    const struct myr_spec *spec = plan->spec;
    plan->server_part = spec->server_part;
    if (plan->server_part == MYR_PART_NONE) {
        MYR_TRY(find_default(plan, default_server, &plan->server_part, err));
    }
    plan->server = part_at(plan, plan->server_part);
    MYR_TRY(plan_groups(plan, err));
    /* Without storage in the spec there is no part, and no server. */
    plan->storage_part = spec->storage.server_part;
    if (spec->storage.node && plan->storage_part == MYR_PART_NONE) {
        MYR_TRY(find_default(plan, default_storage, &plan->storage_part, err));
    }
    MYR_TRY(plan_storage(plan, err));
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        struct net_plan *net = &plan->nets[id];
        *net = (struct net_plan){.id = (enum myr_net_id)id, .spec = &spec->nets[id]};
        net->node = spec->nets[id].node;
        net->out.planes = 1;
        if (net->node) {
            plan->at_net = (enum myr_net_id)id;
            MYR_TRY(resolve_net(plan, net, err));
        }
    }
    return MYR_OK;
}
