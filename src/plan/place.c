#include "fits.h"

/*
 * Devices and their ports. Order: nodes, storage servers, management nodes, fabric managers, then
 * the switches network by network, tier by tier, plane by plane; within a plane by rail (rail-only)
 * and place; power strips and cooling units of a managed room last. Paths by arithmetic and
 * myr_design_find() rest on this order.
 */

/* A type of its own for every use: two tiers of one switch may have other groups of ports. Without
 * a part it is the empty string. */
static uint16_t add_type(struct plan *plan, uint32_t part)
{
    struct myr_devtype type = {
        .part = part == MYR_PART_NONE ? 0 : plan_string(plan, part_at(plan, part)->id)};
    MYR_ASSERT(plan->devtypes.count < UINT16_MAX);
    myr_vec_push(&plan->devtypes, type);
    return (uint16_t)(plan->devtypes.count - 1);
}

/* Groups follow each other in ports and cages. Each begins at a cage of its own, since ports of
 * different speeds share none; an empty one is left out. */
static void add_group(struct plan *plan, uint16_t type_id, struct myr_port_group group)
{
    struct myr_devtype *type = &plan->devtypes.items[type_id];
    if (group.count == 0) {
        return;
    }
    MYR_ASSERT(type->group_count < MYR_PORT_GROUPS_MAX);
    MYR_ASSERT(group.per_cage > 0);
    group.first = type->port_count;
    group.first_cage = (uint16_t)type->cages;
    group.per_connector = group.per_connector ? group.per_connector : 1;
    type->port_count += group.count;
    type->cages += ceil_div(group.count, group.per_cage);
    type->groups[type->group_count++] = group;
}

/* Towards hosts a port may be divided by splitters, between switches never. */
static uint16_t host_per_cage(const struct net_plan *net)
{
    return (uint16_t)myr_switch_ports_per_cage(net->leaf_sw, net->out.host_gbps);
}

static uint16_t straight_per_cage(const struct myr_part_switch *sw, uint32_t gbps)
{
    return (uint16_t)fits_straight_ports(sw, gbps);
}

/*
 * Which cards the last group of a host type is made of. GPU and management nodes carry those of the
 * server, unless the spec names a number of ports; other hosts as many as their ports need.
 */
static void add_card(struct plan *plan, uint16_t type, const struct net_plan *net,
                     const struct host_class *hosts)
{
    const struct myr_part *part = part_at(plan, hosts->nic_part);
    uint32_t ports = hosts->nic_ports * net->out.planes;
    /* Cards that come with the server are as many as it has, whatever is cabled of them. */
    bool asked = net->spec->nic_ports || net->spec->homes ||
                 (hosts->kind != MYR_DEVICE_NODE && hosts->kind != MYR_DEVICE_MANAGEMENT);
    uint32_t own = plan->groups[hosts->group].server->server.nics[net->id].count;
    struct myr_card card = {
        .devtype = type,
        .group = plan->devtypes.items[type].group_count - 1,
        .part = plan_string(plan, part->id),
        .count = asked || !own ? ceil_div(ports, part->nic.cages * part->nic.cage_ports) : own,
        .asked = asked,
    };
    myr_vec_push(&plan->cards, card);
}

/* Ports of all planes are one group: those of one NIC are neighbours in it. */
static void add_nic_group(struct plan *plan, uint16_t type, const struct net_plan *net,
                          const struct host_class *hosts)
{
    add_group(plan, type,
              (struct myr_port_group){.count = hosts->nic_ports * net->out.planes,
                                      .gbps = net->out.host_gbps,
                                      .per_cage = (uint16_t)hosts->per_cage,
                                      .role = MYR_PORT_NIC,
                                      .net = (uint8_t)net->id});
    add_card(plan, type, net, hosts);
}

/* The first of its kind on the network; NULL where there is none. */
static struct host_class *class_of(struct net_plan *net, enum myr_device_kind kind)
{
    for (uint32_t i = 0; net->present && i < net->host_class_count; i++) {
        if (net->hosts[i].kind == kind) {
            return &net->hosts[i];
        }
    }
    return NULL;
}

/*
 * Networks may ask for different numbers of extra nodes: the first of these hang on all of them,
 * the last on one only, and have cards for that one only. Ports are in the order of these numbers,
 * so that a network's ports begin at the same place on all of them.
 */
static void management_types(struct plan *plan)
{
    struct net_plan *order[MYR_NET_COUNT];
    uint32_t count = 0, part = myr_catalog_find(plan->catalog, MYR_STR("mgmt-node"));
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        struct net_plan *net = &plan->nets[id];
        if (!class_of(net, MYR_DEVICE_MANAGEMENT)) {
            continue;
        }
        /* In descending order of nodes, the lower network first among equals. */
        uint32_t at = count++;
        for (; at > 0 && order[at - 1]->spec->extra_nodes < net->spec->extra_nodes; at--) {
            order[at] = order[at - 1];
        }
        order[at] = net;
    }
    /* Nodes on all networks first, then those on one network less, and so on. */
    for (uint32_t nets = count; nets > 0; nets--) {
        uint32_t more = nets < count ? order[nets]->spec->extra_nodes : 0;
        uint32_t here = order[nets - 1]->spec->extra_nodes - more;
        if (here == 0) {
            continue;
        }
        uint16_t type = add_type(plan, part);
        for (uint32_t i = 0; i < nets; i++) {
            struct host_class *hosts = class_of(order[i], MYR_DEVICE_MANAGEMENT);
            hosts->port_base = plan->devtypes.items[type].port_count;
            add_nic_group(plan, type, order[i], hosts);
        }
        plan->management_types[plan->management_type_count++] =
            (struct type_run){.type = type, .count = here};
    }
}

/* The host types get one group of ports for each network they hang on. */
static void host_types(struct plan *plan)
{
    for (uint32_t i = 0; i < plan->group_count; i++) {
        plan->groups[i].type = add_type(plan, plan->groups[i].server_part);
    }
    plan->storage_type = add_type(plan, plan->storage_part);
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        struct net_plan *net = &plan->nets[id];
        for (uint32_t i = 0; net->present && i < net->host_class_count; i++) {
            struct host_class *hosts = &net->hosts[i];
            bool node = hosts->kind == MYR_DEVICE_NODE;
            if (node || hosts->kind == MYR_DEVICE_STORAGE) {
                uint16_t type = node ? plan->groups[hosts->group].type : plan->storage_type;
                hosts->port_base = plan->devtypes.items[type].port_count;
                add_nic_group(plan, type, net, hosts);
            }
        }
    }
}

/* Management ports of a switch: beside its cages, not in them. */
static void add_management(struct plan *plan, const struct net_plan *net, uint16_t type,
                           enum myr_device_kind kind)
{
    struct net_plan *oob = &plan->nets[MYR_NET_OOB];
    for (uint32_t i = 0; oob->present && i < oob->host_class_count; i++) {
        struct host_class *hosts = &oob->hosts[i];
        if (hosts->managed && hosts->kind == kind && hosts->of_net == net->id) {
            /* The port is in the box, not in a cage: their number stays as it was. */
            uint32_t cages = plan->devtypes.items[type].cages;
            hosts->port_base = plan->devtypes.items[type].port_count;
            add_nic_group(plan, type, oob, hosts);
            plan->devtypes.items[type].cages = cages;
        }
    }
}

/* Once the switches of a network stand, their management ports can be found. */
static void find_managed(struct plan *plan, struct net_plan *net)
{
    struct net_plan *oob = &plan->nets[MYR_NET_OOB];
    for (uint32_t i = 0; oob->present && i < oob->host_class_count; i++) {
        struct host_class *hosts = &oob->hosts[i];
        if (hosts->managed && hosts->of_net == net->id) {
            hosts->first_device = hosts->kind == MYR_DEVICE_SPINE    ? net->out.first_spine
                                  : hosts->kind == MYR_DEVICE_CORE   ? net->out.first_core
                                  : hosts->kind == MYR_DEVICE_ACCESS ? net->out.first_access
                                  : hosts->kind == MYR_DEVICE_FABRIC_MANAGER
                                      ? class_of(net, hosts->kind)->first_device
                                  : hosts->kind == MYR_DEVICE_AGGREGATION
                                      ? net->out.first_aggregation
                                      : net->out.first_leaf;
        }
    }
}

/* Dragonfly and torus: one kind of switch, with hosts, peers and, but for a torus, global ports. */
static void router_type(struct plan *plan, struct net_plan *net)
{
    const struct myr_network *out = &net->out;
    bool torus = out->topology == MYR_TOPOLOGY_TORUS;
    net->leaf_type = add_type(plan, net->leaf_part);
    struct myr_port_group group = {.count = out->hosts_per_switch,
                                   .gbps = out->host_gbps,
                                   .per_cage = host_per_cage(net),
                                   .per_connector = (uint16_t)net->splitter_legs,
                                   .role = MYR_PORT_DOWN,
                                   .net = (uint8_t)net->id};
    /* Hosts first, then peers, then global ports: wire.c reckons with that order. */
    add_group(plan, net->leaf_type, group);
    group.gbps = out->fabric_gbps;
    group.per_cage = straight_per_cage(net->leaf_sw, out->fabric_gbps);
    group.per_connector = 1;
    group.count = torus ? out->leaf_up : out->group_switches - 1;
    group.role = MYR_PORT_LOCAL;
    add_group(plan, net->leaf_type, group);
    group.count = torus ? 0 : out->leaf_up;
    group.role = MYR_PORT_GLOBAL;
    add_group(plan, net->leaf_type, group);
    add_management(plan, net, net->leaf_type, MYR_DEVICE_ROUTER);
}

/* Leaf, spine and core of a fabric of tiers. The upper types are there even if none is used. */
static void tier_types(struct plan *plan, struct net_plan *net)
{
    const struct myr_network *out = &net->out;
    bool plus = out->topology == MYR_TOPOLOGY_DRAGONFLY_PLUS;
    struct myr_port_group down = {.count = out->leaf_down,
                                  .gbps = out->host_gbps,
                                  .per_cage = host_per_cage(net),
                                  .per_connector = (uint16_t)net->splitter_legs,
                                  .role = MYR_PORT_DOWN,
                                  .net = (uint8_t)net->id};
    struct myr_port_group up = {.count = out->leaf_up,
                                .gbps = out->fabric_gbps,
                                .per_cage = straight_per_cage(net->leaf_sw, out->fabric_gbps),
                                .role = MYR_PORT_UP,
                                .net = (uint8_t)net->id};
    net->leaf_type = add_type(plan, net->leaf_part);
    add_group(plan, net->leaf_type, down);
    add_group(plan, net->leaf_type, up);
    add_management(plan, net, net->leaf_type, MYR_DEVICE_LEAF);

    /* What a spine does not need upwards goes down. */
    uint32_t radix = fits_straight_radix(net->spine_sw, out->fabric_gbps);
    net->spine_type = add_type(plan, net->spine_part);
    down.per_connector = 1;
    down.gbps = out->fabric_gbps;
    down.per_cage = up.per_cage = straight_per_cage(net->spine_sw, out->fabric_gbps);
    down.count = plus ? out->spine_down : radix - out->spine_up;
    if (!plus) {
        /* Groups start at a cage: with an odd number of uplinks a port of their last is lost. */
        uint32_t cages = net->spine_sw->cages - ceil_div(out->spine_up, down.per_cage);
        uint32_t most = cages * down.per_cage;
        down.count = down.count < most ? down.count : most;
    }
    up.count = out->spine_up;
    up.role = plus ? MYR_PORT_GLOBAL : MYR_PORT_UP;
    add_group(plan, net->spine_type, down);
    add_group(plan, net->spine_type, up);
    add_management(plan, net, net->spine_type, MYR_DEVICE_SPINE);

    net->core_type = add_type(plan, net->core_part);
    down.count = fits_straight_radix(net->core_sw, out->fabric_gbps);
    down.per_cage = straight_per_cage(net->core_sw, out->fabric_gbps);
    add_group(plan, net->core_type, down);
    add_management(plan, net, net->core_type, MYR_DEVICE_CORE);
}

/* Ports of access switches are one to a cage. An aggregation switch either has uplinks of its own,
 * or gives some of its ports, which are all alike. */
static void access_types(struct plan *plan, struct net_plan *net)
{
    const struct myr_network *out = &net->out;
    struct myr_port_group group = {.count = out->leaf_down,
                                   .gbps = out->host_gbps,
                                   .per_cage = 1,
                                   .role = MYR_PORT_DOWN,
                                   .net = (uint8_t)net->id};
    net->access_type = add_type(plan, net->access_part);
    add_group(plan, net->access_type, group);
    group.count = out->leaf_up;
    group.gbps = out->fabric_gbps;
    group.role = MYR_PORT_UP;
    add_group(plan, net->access_type, group);
    add_management(plan, net, net->access_type, MYR_DEVICE_ACCESS);
    net->aggregation_type = add_type(plan, net->aggregation_part);
    group.count = out->spine_down;
    group.role = MYR_PORT_DOWN;
    /* Without uplinks of its own all ports are one group, and the upper ones of it go up. */
    bool alike = part_at(plan, net->aggregation_part)->eth.uplink_ports == 0;
    group.count += alike ? out->spine_up : 0; /* all its ports are alike; some of them go up */
    add_group(plan, net->aggregation_type, group);
    if (out->core) {
        group.count = alike ? 0 : out->spine_up;
        group.gbps = net->core_gbps;
        group.role = MYR_PORT_UP;
        add_group(plan, net->aggregation_type, group);
        net->core_type = add_type(plan, net->core_part);
        group.count = out->core_down;
        group.role = MYR_PORT_DOWN;
        add_group(plan, net->core_type, group);
        add_management(plan, net, net->core_type, MYR_DEVICE_CORE);
    }
    add_management(plan, net, net->aggregation_type, MYR_DEVICE_AGGREGATION);
}

/* Once for each network, before its switches are put. */
static void net_types(struct plan *plan, struct net_plan *net)
{
    switch (net->out.topology) {
    case MYR_TOPOLOGY_ACCESS:
        access_types(plan, net);
        break;
    case MYR_TOPOLOGY_DRAGONFLY:
    case MYR_TOPOLOGY_TORUS:
        router_type(plan, net);
        break;
    default:
        tier_types(plan, net);
        break;
    }
}

/* Before anything is placed, so that all arrays have their final length. */
static uint64_t count_devices(const struct plan *plan)
{
    uint64_t total =
        (uint64_t)plan->nodes + plan->storage_servers + plan->management_nodes + plan->managers;
    total += plan->nets[MYR_NET_OOB].present ? (uint64_t)plan->pdus + plan->cdus : 0;
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        const struct myr_network *out = &plan->nets[id].out;
        total += (uint64_t)out->leaf + out->spine + out->core + out->access + out->aggregation;
    }
    return total;
}

/* Appends a device; its ports follow from its type. */
static void put_device(struct plan *plan, struct myr_place place, uint16_t type)
{
    struct myr_design *design = &plan->design;
    uint32_t device = design->device_count++;
    design->place[device] = place;
    design->device_type[device] = type;
    design->device_rack[device] = MYR_NONE;
    design->first_port[device + 1] =
        design->first_port[device] + plan->devtypes.items[type].port_count;
}

/* Devices of no network: hosts, and boxes with nothing but a management port. */
static void put_plain(struct plan *plan, enum myr_device_kind kind, uint32_t count, uint16_t type,
                      uint32_t first_ordinal)
{
    for (uint32_t i = 0; i < count; i++) {
        struct myr_place place = {.kind = (uint8_t)kind,
                                  .net = MYR_NET_COUNT,
                                  .plane = MYR_PLANE_NONE,
                                  .style = MYR_NAME_PLAIN,
                                  .ordinal = first_ordinal + i};
        put_device(plan, place, type);
    }
}

/* Hosts of all networks, in the order on which paths by arithmetic rest. Each network then knows
 * where its kinds of hosts begin. */
static void put_hosts(struct plan *plan)
{
    struct myr_design_head *head = plan->design.head;
    head->first_node = plan->design.device_count;
    for (uint32_t i = 0; i < plan->group_count; i++) {
        const struct plan_group *group = &plan->groups[i];
        put_plain(plan, MYR_DEVICE_NODE, group->nodes, group->type, group->first);
    }
    head->first_storage = plan->design.device_count;
    put_plain(plan, MYR_DEVICE_STORAGE, plan->storage_servers, plan->storage_type, 0);
    head->first_management = plan->design.device_count;
    uint32_t management = 0;
    for (uint32_t i = 0; i < plan->management_type_count; i++) {
        const struct type_run *run = &plan->management_types[i];
        put_plain(plan, MYR_DEVICE_MANAGEMENT, run->count, run->type, management);
        management += run->count;
    }
    MYR_ASSERT(management == plan->management_nodes);
    /* Managers are numbered through all networks. */
    head->first_fabric_manager = plan->design.device_count;
    uint32_t ordinal = 0;
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        struct net_plan *net = &plan->nets[id];
        if (net->present && net->managers) {
            uint16_t type =
                add_type(plan, myr_catalog_find(plan->catalog, MYR_STR("ufm-appliance")));
            struct host_class hosts = {.kind = MYR_DEVICE_FABRIC_MANAGER,
                                       .first_device = plan->design.device_count,
                                       .count = net->managers,
                                       .nic_part = net->manager_nic,
                                       .nic_ports = 1,
                                       .start = net->managers_start,
                                       .per_cage = part_at(plan, net->manager_nic)->nic.cage_ports};
            MYR_ASSERT(net->host_class_count < PLAN_HOSTS_MAX);
            /* Managers are a kind of hosts behind all others, known only now that they have a
             * place. */
            net->hosts[net->host_class_count++] = hosts;
            add_nic_group(plan, type, net, &hosts);
            add_management(plan, net, type, MYR_DEVICE_FABRIC_MANAGER);
            put_plain(plan, MYR_DEVICE_FABRIC_MANAGER, net->managers, type, ordinal);
            ordinal += net->managers;
        }
        for (uint32_t i = 0; net->present && i < net->host_class_count; i++) {
            struct host_class *hosts = &net->hosts[i];
            uint32_t before = plan->groups[hosts->group].first;
            hosts->first_device = hosts->kind == MYR_DEVICE_NODE         ? head->first_node + before
                                  : hosts->kind == MYR_DEVICE_STORAGE    ? head->first_storage
                                  : hosts->kind == MYR_DEVICE_MANAGEMENT ? head->first_management
                                                                         : hosts->first_device;
        }
    }
}

/* Where a switch stands in its unit: its pod or core group, there its number; leaves of rails are
 * counted by group and rail. */
static struct myr_place tier_place(const struct net_plan *net, enum myr_device_kind kind,
                                   uint32_t plane, uint32_t unit, uint32_t index)
{
    const struct myr_network *out = &net->out;
    struct myr_place place = {.kind = (uint8_t)kind,
                              .net = (uint8_t)net->id,
                              .plane = out->planes > 1 ? (uint8_t)plane : MYR_PLANE_NONE};
    bool plus = out->topology == MYR_TOPOLOGY_DRAGONFLY_PLUS;
    bool rail_only = out->topology == MYR_TOPOLOGY_RAIL_ONLY;
    /* Counted through the unit: the pod is the quotient, the place in it the rest. */
    uint32_t in_pod = kind == MYR_DEVICE_LEAF    ? out->pod_leaves
                      : kind == MYR_DEVICE_SPINE ? out->pod_spines
                                                 : out->group_cores;
    place.pod = index / in_pod;
    place.ordinal = index % in_pod;
    if (kind == MYR_DEVICE_LEAF && out->topology == MYR_TOPOLOGY_RAIL) {
        place.style = MYR_NAME_POD_GROUP;
        place.unit = place.ordinal / out->rails;
        place.ordinal = place.ordinal % out->rails;
    } else if (rail_only) {
        place.style = kind == MYR_DEVICE_CORE ? MYR_NAME_RAIL_GROUP : MYR_NAME_RAIL_POD;
        place.unit = unit;
    } else {
        place.style = plus || kind == MYR_DEVICE_CORE ? MYR_NAME_GROUP : MYR_NAME_POD;
    }
    return place;
}

/* Plane by plane, in a plane unit by unit. */
static void put_tier(struct plan *plan, struct net_plan *net, enum myr_device_kind kind,
                     uint32_t unit_count, uint16_t type)
{
    for (uint32_t plane = 0; plane < net->out.planes; plane++) {
        for (uint32_t unit = 0; unit < net->out.units; unit++) {
            for (uint32_t i = 0; i < unit_count; i++) {
                put_device(plan, tier_place(net, kind, plane, unit, i), type);
            }
        }
    }
}

/* Dragonfly: by group and place in it. Torus: by coordinates, the last one varying fastest. */
static void put_routers(struct plan *plan, struct net_plan *net)
{
    const struct myr_network *out = &net->out;
    for (uint32_t i = 0; i < out->leaf; i++) {
        struct myr_place place = {.kind = MYR_DEVICE_ROUTER,
                                  .net = (uint8_t)net->id,
                                  .plane = MYR_PLANE_NONE,
                                  .style = MYR_NAME_GROUP};
        if (out->topology == MYR_TOPOLOGY_TORUS) {
            /* A torus of two dimensions has one layer. */
            uint32_t depth = out->dim_count > 2 ? out->dims[2] : 1;
            place.style = MYR_NAME_COORDINATES;
            place.pod = i / depth / out->dims[1];
            place.unit = i / depth % out->dims[1];
            place.ordinal = i % depth;
        } else {
            place.pod = i / out->group_switches;
            place.ordinal = i % out->group_switches;
        }
        put_device(plan, place, net->leaf_type);
    }
}

/* Switches that are numbered through the whole network: those of access networks. */
static void put_net_row(struct plan *plan, const struct net_plan *net, enum myr_device_kind kind,
                        uint32_t count, uint16_t type)
{
    for (uint32_t i = 0; i < count; i++) {
        struct myr_place place = {.kind = (uint8_t)kind,
                                  .net = (uint8_t)net->id,
                                  .plane = MYR_PLANE_NONE,
                                  .style = MYR_NAME_NET,
                                  .ordinal = i};
        put_device(plan, place, type);
    }
}

/* Records where each tier begins: ids of switches follow from that and the order of placing. */
static void put_switches(struct plan *plan, struct net_plan *net)
{
    /* An empty tier has its first device where the next one begins. */
    struct myr_network *out = &net->out;
    out->first_leaf = plan->design.device_count;
    if (out->topology == MYR_TOPOLOGY_DRAGONFLY || out->topology == MYR_TOPOLOGY_TORUS) {
        put_routers(plan, net);
        net->unit_leaves = out->leaf;
    } else if (out->leaf) {
        net->unit_leaves = out->leaf / out->planes / out->units;
        net->unit_spines = out->spine / out->planes / out->units;
        put_tier(plan, net, MYR_DEVICE_LEAF, net->unit_leaves, net->leaf_type);
    }
    /* Tiers follow each other, though some may be empty. */
    out->first_spine = plan->design.device_count;
    put_tier(plan, net, MYR_DEVICE_SPINE, net->unit_spines, net->spine_type);
    out->first_core = plan->design.device_count;
    put_tier(plan, net, MYR_DEVICE_CORE, net->unit_cores, net->core_type);
    if (out->topology == MYR_TOPOLOGY_ACCESS) {
        put_net_row(plan, net, MYR_DEVICE_CORE, out->core, net->core_type);
    }
    out->first_access = plan->design.device_count;
    put_net_row(plan, net, MYR_DEVICE_ACCESS, out->access, net->access_type);
    out->first_aggregation = plan->design.device_count;
    put_net_row(plan, net, MYR_DEVICE_AGGREGATION, out->aggregation, net->aggregation_type);
}

/* What has nothing but a management port. */
static void put_units(struct plan *plan)
{
    struct net_plan *oob = &plan->nets[MYR_NET_OOB];
    for (uint32_t i = 0; oob->present && i < oob->host_class_count; i++) {
        struct host_class *hosts = &oob->hosts[i];
        if (hosts->managed && hosts->of_net == MYR_NET_COUNT) {
            bool strip = hosts->kind == MYR_DEVICE_PDU;
            uint16_t type =
                add_type(plan, myr_catalog_find(plan->catalog, strip ? MYR_STR("rack-pdu")
                                                                     : MYR_STR("cooling-cdu")));
            hosts->first_device = plan->design.device_count;
            add_nic_group(plan, type, oob, hosts);
            put_plain(plan, hosts->kind, hosts->count, type, 0);
        }
    }
}

/* All ports are free until they are wired. */
static void put_ports(struct plan *plan)
{
    struct myr_design *design = &plan->design;
    design->port_count = design->first_port[design->device_count];
    design->port_device = MYR_ARENA_NEW(plan->arena, uint32_t, design->port_count);
    design->port_link = MYR_ARENA_NEW(plan->arena, uint32_t, design->port_count);
    for (uint32_t device = 0; device < design->device_count; device++) {
        for (uint32_t p = design->first_port[device]; p < design->first_port[device + 1]; p++) {
            design->port_device[p] = device;
            design->port_link[p] = MYR_NONE;
        }
    }
}

/* Types of hosts come first, since all networks add ports to them before any host is put. */
int plan_place(struct plan *plan, struct myr_err *err)
{
    struct myr_design *design = &plan->design;
    /* Refused before memory is taken for it. */
    uint64_t devices = count_devices(plan);
    if (devices > PLAN_DEVICES_MAX) {
        return myr_doc_error(err, plan->spec->root, MYR_ERANGE,
                             "%llu devices are more than one design may have (%u)",
                             (unsigned long long)devices, PLAN_DEVICES_MAX);
    }
    design->head = MYR_ARENA_ONE(plan->arena, struct myr_design_head);
    design->place = MYR_ARENA_NEW(plan->arena, struct myr_place, devices);
    design->device_type = MYR_ARENA_NEW(plan->arena, uint16_t, devices);
    design->device_rack = MYR_ARENA_NEW(plan->arena, uint32_t, devices);
    design->first_port = MYR_ARENA_NEW(plan->arena, uint32_t, devices + 1);
    host_types(plan);
    management_types(plan);
    put_hosts(plan);
    /* Network by network: management ports of switches can be found as soon as these stand. */
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        if (plan->nets[id].present) {
            net_types(plan, &plan->nets[id]);
            put_switches(plan, &plan->nets[id]);
            find_managed(plan, &plan->nets[id]);
        }
    }
    put_units(plan);
    /* Sizing and placing have counted the same. */
    MYR_ASSERT(design->device_count == devices);
    put_ports(plan);
    return MYR_OK;
}
