#include "plan_internal.h"

/*
 * Links and cables. Host links go leaf by leaf, port by port, so that the NICs behind one splitter
 * are neighbours; with twin NIC cages they go NIC by NIC instead, so that the legs of one cage
 * are. Uplinks go in ascending order of the switch above, and a leaf takes the same port numbers
 * on every spine: that is what makes labels readable.
 */

struct layer_wiring {
    struct plan *plan;
    const struct net_plan *net;
    uint16_t type;
    uint32_t legs;     /* links a cable may hold */
    uint64_t last_key; /* links with one key may share a cable */
};

/* Links may share a cable when they leave one connector, or one cage, of one device. */
static uint64_t cable_key(uint32_t device, uint32_t position)
{
    return (uint64_t)device << 32 | position;
}

/* By its index in the device; a wrong one would be the port of a neighbour. */
static uint32_t port_of(const struct myr_design *design, uint32_t device, uint32_t index)
{
    MYR_ASSERT(index < design->first_port[device + 1] - design->first_port[device]);
    return design->first_port[device] + index;
}

/* Joins two ports; opens a new cable when the key changes or the cable is full. */
static void join(struct layer_wiring *wiring, uint32_t port_a, uint32_t port_b, uint64_t key)
{
    struct plan *plan = wiring->plan;
    struct myr_design *design = &plan->design;
    uint32_t link = plan->next_link++;
    /* Sizing has counted every link; a port joined twice would be a wrong formula. */
    MYR_ASSERT(link < design->link_count);
    MYR_ASSERT(design->port_link[port_a] == MYR_NONE);
    MYR_ASSERT(design->port_link[port_b] == MYR_NONE);
    MYR_ASSERT(port_a != port_b && port_a < design->port_count && port_b < design->port_count);
    design->link_a[link] = port_a;
    design->link_b[link] = port_b;
    design->port_link[port_a] = design->port_link[port_b] = link;
    /* A cable takes links of one key only, and no more than it has legs. */
    if (wiring->legs == 1 || key != wiring->last_key || plan->cable_links == wiring->legs) {
        design->first_link[plan->next_cable] = link;
        design->cable_type[plan->next_cable] = wiring->type;
        plan->next_cable++;
        plan->cable_links = 0;
        wiring->last_key = key;
    }
    design->link_cable[link] = plan->next_cable - 1;
    plan->cable_links++;
    MYR_ASSERT(plan->next_cable > 0 && plan->cable_links <= wiring->legs);
}

/* A new kind of cable begins: its links share none with those before. */
static void take_kind(struct layer_wiring *wiring, uint32_t head, uint16_t otherwise)
{
    const uint16_t *near = wiring->plan->near_kind;
    uint16_t type = near && near[head] != MYR_CABLETYPE_NONE ? near[head] : otherwise;
    if (type != wiring->type) {
        wiring->type = type;
        wiring->legs = wiring->plan->cabletypes.items[type].legs;
        wiring->last_key = UINT64_MAX;
    }
}

/* Cables never go on from one layer into the next: the key begins as none has it. */
static struct layer_wiring start_layer(struct plan *plan, const struct net_plan *net,
                                       enum myr_layer layer)
{
    uint16_t type = plan_layer_cabletype(plan, net, layer);
    plan->cable_links = 0;
    return (struct layer_wiring){.plan = plan,
                                 .net = net,
                                 .type = type,
                                 .legs = plan->cabletypes.items[type].legs,
                                 .last_key = UINT64_MAX};
}

/* A dense fill deals connectors out evenly, the first leaves having one more; else each leaf is
 * full before the next. */
static uint32_t first_endpoint(const struct net_plan *net, uint32_t leaf)
{
    bool spread = net->out.fill == MYR_FILL_DENSE && net->out.tiers >= 2 &&
                  net->out.topology == MYR_TOPOLOGY_CLOS;
    if (!spread) {
        return leaf * net->out.leaf_down;
    }
    uint32_t connectors = ceil_div(net->slots, net->splitter_legs);
    uint32_t extra = connectors % net->unit_leaves;
    uint32_t before = leaf * (connectors / net->unit_leaves) + (leaf < extra ? leaf : extra);
    return before * net->splitter_legs;
}

/* Classes of hosts follow each other: GPU nodes, storage, management, fabric managers. */
static bool host_of_node(const struct net_plan *net, uint32_t node, uint32_t nic,
                         uint32_t *ret_device, uint32_t *ret_port)
{
    for (uint32_t i = 0; i < net->host_class_count; i++) {
        const struct host_class *hosts = &net->hosts[i];
        if (node < hosts->start) {
            return false; /* the place between two kinds of hosts */
        }
        uint32_t index = node - hosts->start;
        if (hosts->kind == MYR_DEVICE_FABRIC_MANAGER) {
            /* Managers have one port: as many share a node's place as a node has ports. */
            uint32_t manager = index * net->nic_ports + nic;
            *ret_device = hosts->first_device + manager;
            *ret_port = 0;
            return manager < hosts->count;
        }
        if (index < hosts->count) {
            *ret_device = hosts->first_device + index;
            /* The ports of a NIC in all planes are neighbours. */
            *ret_port = hosts->port_base + nic * net->out.planes;
            return true;
        }
    }
    return false;
}

/* The same where hosts may have different numbers of ports, so only ports can be counted through.
 */
static bool host_of_endpoint(const struct net_plan *net, uint32_t endpoint, uint32_t *ret_device,
                             uint32_t *ret_port)
{
    for (uint32_t i = 0; i < net->host_class_count; i++) {
        const struct host_class *hosts = &net->hosts[i];
        if (endpoint < hosts->start) {
            return false;
        }
        uint32_t index = endpoint - hosts->start;
        if (index < hosts->count * hosts->nic_ports) {
            *ret_device = hosts->first_device + index / hosts->nic_ports;
            *ret_port = hosts->port_base + index % hosts->nic_ports * net->out.planes;
            return true;
        }
    }
    return false;
}

/* With rails a leaf has rail 'leaf % rails' of the nodes of its group; rail-only has a unit for
 * each rail; else endpoints are counted through, leaf by leaf. */
bool plan_endpoint(const struct plan *plan, const struct net_plan *net, uint32_t unit,
                   uint32_t leaf, uint32_t port, uint32_t *ret_device, uint32_t *ret_nic_port)
{
    (void)plan;
    const struct myr_network *out = &net->out;
    uint32_t per_rail = net->ports_per_rail;
    if (out->topology == MYR_TOPOLOGY_RAIL) {
        uint32_t node = leaf / out->rails * out->group_nodes + port / per_rail;
        /* Ports of a rail on one leaf are as many NICs apart as there are rails. */
        uint32_t nic = port % per_rail * out->rails + leaf % out->rails;
        return port / per_rail < out->group_nodes &&
               host_of_node(net, node, nic, ret_device, ret_nic_port);
    }
    uint32_t endpoint = first_endpoint(net, leaf) + port;
    if (out->topology == MYR_TOPOLOGY_RAIL_ONLY) {
        return host_of_node(net, endpoint / per_rail, endpoint % per_rail * out->rails + unit,
                            ret_device, ret_nic_port);
    }
    /* A leaf with fewer hosts than ports must not take those of the next. */
    bool within = leaf + 1 == net->unit_leaves || endpoint < first_endpoint(net, leaf + 1);
    return within && host_of_endpoint(net, endpoint, ret_device, ret_nic_port);
}

/* By the order of place.c: plane, unit, leaf. */
static uint32_t leaf_device(const struct net_plan *net, uint32_t plane, uint32_t unit,
                            uint32_t leaf)
{
    return net->out.first_leaf + (plane * net->out.units + unit) * net->unit_leaves + leaf;
}

/*
 * A new cable type begins where the kind of host changes. Links share a cable by the connector or
 * cage of the switch that its head is in; with twin cages of cards by the card's.
 */
static void join_host(struct layer_wiring *wiring, uint32_t device, uint32_t nic_port,
                      uint32_t leaf_id, uint32_t port, uint32_t card_port)
{
    const struct myr_design *design = &wiring->plan->design;
    take_kind(wiring, port_of(design, leaf_id, port),
              plan_host_cabletype(wiring->plan, wiring->net, device));
    uint64_t key = card_port == MYR_NONE ? cable_key(leaf_id, port / wiring->legs) : card_port;
    join(wiring, port_of(design, device, nic_port), port_of(design, leaf_id, port), key);
}

/* All hosts of one leaf of one plane; free ports are passed over. */
static void wire_leaf(struct layer_wiring *wiring, uint32_t plane, uint32_t unit, uint32_t leaf)
{
    const struct net_plan *net = wiring->net;
    uint32_t leaf_id = leaf_device(net, plane, unit, leaf);
    for (uint32_t port = 0; port < net->out.leaf_down; port++) {
        uint32_t device, nic_port;
        if (plan_endpoint(wiring->plan, net, unit, leaf, port, &device, &nic_port)) {
            join_host(wiring, device, nic_port + plane, leaf_id, port, MYR_NONE);
        }
    }
}

/* Leaves in the order of their ids, so that links are in that order too. */
static void wire_hosts_by_leaf(struct plan *plan, const struct net_plan *net)
{
    struct layer_wiring wiring = start_layer(plan, net, MYR_LAYER_HOST);
    for (uint32_t plane = 0; plane < net->out.planes; plane++) {
        for (uint32_t unit = 0; unit < net->out.units; unit++) {
            for (uint32_t leaf = 0; leaf < net->unit_leaves; leaf++) {
                wire_leaf(&wiring, plane, unit, leaf);
            }
        }
    }
}

/* Twin cages: all planes of a NIC before the next NIC. Every plane has the same leaf and port. */
static void wire_hosts_by_nic(struct plan *plan, const struct net_plan *net)
{
    struct layer_wiring wiring = start_layer(plan, net, MYR_LAYER_HOST);
    for (uint32_t unit = 0; unit < net->out.units; unit++) {
        for (uint32_t leaf = 0; leaf < net->unit_leaves; leaf++) {
            for (uint32_t port = 0; port < net->out.leaf_down; port++) {
                uint32_t device, nic_port;
                if (!plan_endpoint(plan, net, unit, leaf, port, &device, &nic_port)) {
                    continue;
                }
                /* The card's first port is the key: all planes of it share one cable. */
                for (uint32_t plane = 0; plane < net->out.planes; plane++) {
                    join_host(&wiring, device, nic_port + plane,
                              leaf_device(net, plane, unit, leaf), port,
                              port_of(&plan->design, device, nic_port));
                }
            }
        }
    }
}

/* Uplink 'up' of a leaf: which spine of the pod, and which of its ports. */
static void spine_of(const struct net_plan *net, uint32_t leaf_in_pod, uint32_t uplink,
                     uint64_t running, uint32_t *ret_spine, uint32_t *ret_port)
{
    /* Regular: each spine has a block of ports for each leaf. Dense: uplinks are dealt round all
     * spines, leaf after leaf. */
    if (net->pair_links) {
        *ret_spine = uplink / net->pair_links;
        *ret_port = leaf_in_pod * net->pair_links + uplink % net->pair_links;
    } else {
        *ret_spine = (uint32_t)(running % net->unit_spines);
        *ret_port = (uint32_t)(running / net->unit_spines);
    }
}

/* Leaves in their order, each with its uplinks in ascending order of the spines. */
static void wire_leaf_spine(struct plan *plan, const struct net_plan *net)
{
    const struct myr_network *out = &net->out;
    const struct myr_design *design = &plan->design;
    struct layer_wiring wiring = start_layer(plan, net, MYR_LAYER_FABRIC);
    for (uint32_t fabric = 0; fabric < out->planes * out->units; fabric++) {
        uint64_t running = 0;
        for (uint32_t leaf = 0; leaf < net->unit_leaves; leaf++) {
            uint32_t leaf_id = out->first_leaf + fabric * net->unit_leaves + leaf;
            uint32_t pod = leaf / out->pod_leaves;
            uint32_t uplinks = plan_leaf_uplinks(net, leaf);
            /* 'running' goes on from leaf to leaf: a dense fill is dealt out over all of them. */
            for (uint32_t up = 0; up < uplinks; up++, running++) {
                uint32_t spine, port;
                spine_of(net, leaf % out->pod_leaves, up, running, &spine, &port);
                uint32_t spine_id =
                    out->first_spine + fabric * net->unit_spines + pod * out->pod_spines + spine;
                take_kind(&wiring, port_of(design, leaf_id, out->leaf_down + up),
                          net->layer_cabletype[MYR_LAYER_FABRIC]);
                join(&wiring, port_of(design, leaf_id, out->leaf_down + up),
                     port_of(design, spine_id, port), cable_key(leaf_id, up / wiring.legs));
            }
        }
    }
}

/* Spine i of each pod goes to core group i; within the group as leaves to spines. */
static void wire_spine_core(struct plan *plan, const struct net_plan *net)
{
    const struct myr_network *out = &net->out;
    const struct myr_design *design = &plan->design;
    struct layer_wiring wiring = start_layer(plan, net, MYR_LAYER_CORE);
    /* The ports that go up begin at a cage of their own, which need not be the next port. */
    uint32_t first_up = plan->devtypes.items[net->spine_type].groups[1].first;
    for (uint32_t fabric = 0; fabric < out->planes * out->units; fabric++) {
        for (uint32_t index = 0; index < net->unit_spines; index++) {
            uint32_t pod = index / out->pod_spines, group = index % out->pod_spines;
            uint32_t spine_id = out->first_spine + fabric * net->unit_spines + index;
            for (uint32_t up = 0; up < out->spine_up; up++) {
                uint32_t core, port;
                /* Regular: a block of ports for each pod. Dense: dealt round the cores of the
                 * group. */
                if (net->core_pair_links) {
                    core = up / net->core_pair_links;
                    port = pod * net->core_pair_links + up % net->core_pair_links;
                } else {
                    /* Pods begin one behind the other, so that all cores are loaded alike. */
                    uint64_t running = (uint64_t)pod * out->spine_up + up;
                    core = (uint32_t)(running % out->group_cores);
                    port = (uint32_t)(running / out->group_cores);
                }
                uint32_t core_id =
                    out->first_core + fabric * net->unit_cores + group * out->group_cores + core;
                take_kind(&wiring, port_of(design, spine_id, first_up + up),
                          net->layer_cabletype[MYR_LAYER_CORE]);
                join(&wiring, port_of(design, spine_id, first_up + up),
                     port_of(design, core_id, port), cable_key(spine_id, up / wiring.legs));
            }
        }
    }
}

/* Global port of 'group' towards 'other', copy 'copy': ports are dealt out in order of the peers.
 */
static uint32_t global_index(const struct net_plan *net, uint32_t group, uint32_t other,
                             uint32_t copy)
{
    return (other < group ? other : other - 1) * net->global_pair_links + copy;
}

/* Global ports of a group are counted through its switches, 'ports_each' on one. */
static void wire_global(struct plan *plan, const struct net_plan *net, uint32_t first_switch,
                        uint32_t ports_each, uint32_t first_port)
{
    const struct myr_network *out = &net->out;
    const struct myr_design *design = &plan->design;
    struct layer_wiring wiring = start_layer(plan, net, MYR_LAYER_GLOBAL);
    /* Each pair once; either side counts its ports by the order of its peers. */
    for (uint32_t a = 0; a < out->groups; a++) {
        for (uint32_t b = a + 1; b < out->groups; b++) {
            for (uint32_t copy = 0; copy < net->global_pair_links; copy++) {
                uint32_t at_a = global_index(net, a, b, copy);
                uint32_t at_b = global_index(net, b, a, copy);
                uint32_t switch_a = first_switch + a * out->group_switches + at_a / ports_each;
                uint32_t switch_b = first_switch + b * out->group_switches + at_b / ports_each;
                join(&wiring, port_of(design, switch_a, first_port + at_a % ports_each),
                     port_of(design, switch_b, first_port + at_b % ports_each), 0);
            }
        }
    }
}

/* In a group every switch has a port to each other one, itself left out. */
static void wire_dragonfly(struct plan *plan, const struct net_plan *net)
{
    const struct myr_network *out = &net->out;
    const struct myr_design *design = &plan->design;
    struct layer_wiring wiring = start_layer(plan, net, MYR_LAYER_LOCAL);
    for (uint32_t group = 0; group < out->groups; group++) {
        uint32_t first = out->first_leaf + group * out->group_switches;
        for (uint32_t a = 0; a < out->group_switches; a++) {
            for (uint32_t b = a + 1; b < out->group_switches; b++) {
                /* A switch leaves out itself: ports behind its own number move down by one. */
                join(&wiring, port_of(design, first + a, out->hosts_per_switch + b - 1),
                     port_of(design, first + b, out->hosts_per_switch + a), 0);
            }
        }
    }
    wire_global(plan, net, out->first_leaf, out->leaf_up,
                out->hosts_per_switch + out->group_switches - 1);
}

/* One link between each leaf and each spine of a group. */
static void wire_dragonfly_plus(struct plan *plan, const struct net_plan *net)
{
    const struct myr_network *out = &net->out;
    const struct myr_design *design = &plan->design;
    struct layer_wiring wiring = start_layer(plan, net, MYR_LAYER_FABRIC);
    for (uint32_t leaf = 0; leaf < out->leaf; leaf++) {
        uint32_t group = leaf / out->group_switches;
        for (uint32_t s = 0; s < out->group_switches; s++) {
            uint32_t spine = out->first_spine + group * out->group_switches + s;
            /* Leaf l of a group has port l on each of its spines. */
            join(&wiring, port_of(design, out->first_leaf + leaf, out->leaf_down + s),
                 port_of(design, spine, leaf % out->group_switches), 0);
        }
    }
    wire_global(plan, net, out->first_spine, out->spine_up, out->spine_down);
}

/* Each router wires its plus side of each ring, and finds the minus side of the next one free. */
static void wire_torus(struct plan *plan, const struct net_plan *net)
{
    const struct myr_network *out = &net->out;
    const struct myr_design *design = &plan->design;
    struct layer_wiring wiring = start_layer(plan, net, MYR_LAYER_LOCAL);
    for (uint32_t router = 0; router < out->leaf; router++) {
        /* The last dimension varies fastest, as the routers are numbered. */
        uint32_t stride = 1;
        for (uint32_t i = out->dim_count; i-- > 0;) {
            uint32_t size = out->dims[i];
            uint32_t at = router / stride % size;
            /* The neighbour in this dimension; the last one closes the ring. */
            uint32_t next = router - at * stride + (at + 1) % size * stride;
            for (uint32_t k = 0; k < net->pair_links; k++) {
                uint32_t plus = out->hosts_per_switch + 2 * i * net->pair_links + k;
                join(&wiring, port_of(design, out->first_leaf + router, plus),
                     port_of(design, out->first_leaf + next, plus + net->pair_links), 0);
            }
            stride *= size;
        }
    }
}

/* Euclid's algorithm. */
static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    while (b) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/*
 * An access switch reaches a window of neighbouring aggregation switches. Windows start at steps
 * that share no divisor with the number of aggregation switches: they load all of them evenly, and
 * being shorter than a window they overlap, so that the network is in one piece.
 */
static void wire_access_uplinks(struct plan *plan, const struct net_plan *net)
{
    const struct myr_network *out = &net->out;
    const struct myr_design *design = &plan->design;
    struct layer_wiring wiring = start_layer(plan, net, MYR_LAYER_FABRIC);
    /* A step shorter than a window makes neighbouring windows overlap. */
    uint32_t step =
        out->leaf_up > 1 && out->aggregation > out->leaf_up ? out->leaf_up - 1 : out->leaf_up;
    while (step > 1 && out->aggregation > out->leaf_up &&
           common_divisor(step, out->aggregation) > 1) {
        step--;
    }
    /* How many ports of each aggregation switch are taken: windows come round unevenly. */
    uint32_t *used = MYR_ARENA_NEW(plan->arena, uint32_t, out->aggregation);
    MYR_ASSERT(out->aggregation > 0 || out->access == 0 || out->leaf_up == 0);
    for (uint32_t i = 0; i < out->access; i++) {
        for (uint32_t up = 0; up < out->leaf_up; up++) {
            uint32_t above = (uint32_t)(((uint64_t)i * step + up) % out->aggregation);
            join(&wiring, port_of(design, out->first_access + i, out->leaf_down + up),
                 port_of(design, out->first_aggregation + above, used[above]++), 0);
        }
    }
}

/* Three tiers: uplink k of every access switch of a block on its aggregation switch k, and so on.
 */
static void wire_access_core(struct plan *plan, const struct net_plan *net)
{
    const struct myr_network *out = &net->out;
    const struct myr_design *design = &plan->design;
    struct layer_wiring wiring = start_layer(plan, net, MYR_LAYER_FABRIC);
    for (uint32_t i = 0; i < out->access; i++) {
        for (uint32_t up = 0; up < out->leaf_up; up++) {
            uint32_t above = out->first_aggregation + i / out->pod_leaves * out->leaf_up + up;
            join(&wiring, port_of(design, out->first_access + i, out->leaf_down + up),
                 port_of(design, above, i % out->pod_leaves), 0);
        }
    }
    /* Aggregation switch i of a block goes to core group i. */
    wiring = start_layer(plan, net, MYR_LAYER_CORE);
    MYR_ASSERT(out->leaf_up > 0); /* three tiers are refused without uplinks */
    for (uint32_t i = 0; i < out->aggregation; i++) {
        uint32_t block = i / out->leaf_up, group = i % out->leaf_up;
        for (uint32_t up = 0; up < out->spine_up; up++) {
            uint32_t core = out->first_core + group * out->group_cores + up / net->core_pair_links;
            uint32_t port = block * net->core_pair_links + up % net->core_pair_links;
            join(&wiring, port_of(design, out->first_aggregation + i, out->spine_down + up),
                 port_of(design, core, port), 0);
        }
    }
}

/* Management ports of switches, one after the other in the rows behind the nodes. */
static void wire_managed(struct layer_wiring *wiring)
{
    const struct net_plan *net = wiring->net;
    MYR_ASSERT(net->nic_ports > 0); /* as many as a node has homes */
    const struct myr_network *out = &net->out;
    for (uint32_t i = 0; i < net->host_class_count; i++) {
        const struct host_class *hosts = &net->hosts[i];
        for (uint32_t k = 0; hosts->managed && k < hosts->count * hosts->nic_ports; k++) {
            uint32_t at = hosts->start + k;
            at = wiring->plan->managed_place ? wiring->plan->managed_place[at] : at;
            /* One home each: ports fill the switches of a row in turns. */
            uint32_t slot = net->nodes + at / net->nic_ports, home = at % net->nic_ports;
            uint32_t access = out->first_access + slot / out->leaf_down * net->nic_ports + home;
            join_host(wiring, hosts->first_device + k / hosts->nic_ports,
                      hosts->port_base + k % hosts->nic_ports, access, slot % out->leaf_down,
                      MYR_NONE);
        }
    }
}

/* Home h of a node is switch h of its row. */
static void wire_access(struct plan *plan, const struct net_plan *net)
{
    const struct myr_network *out = &net->out;
    struct layer_wiring wiring = start_layer(plan, net, MYR_LAYER_HOST);
    /* Row by row of nodes, home by home. */
    for (uint32_t node = 0; node < net->nodes; node++) {
        for (uint32_t home = 0; home < net->nic_ports; home++) {
            uint32_t device, nic_port;
            bool found = host_of_node(net, node, home, &device, &nic_port);
            MYR_ASSERT(found);
            uint32_t row = node / out->leaf_down;
            uint32_t access = out->first_access + row * net->nic_ports + home;
            join_host(&wiring, device, nic_port, access, node % out->leaf_down, MYR_NONE);
        }
    }
    wire_managed(&wiring);
    if (out->tiers == 3) {
        wire_access_core(plan, net);
    } else {
        wire_access_uplinks(plan, net);
    }
}

/* Hosts first, then layer by layer upwards: the order of ids. */
static void wire_net(struct plan *plan, const struct net_plan *net)
{
    if (net->out.topology == MYR_TOPOLOGY_ACCESS) {
        wire_access(plan, net);
        return;
    }
    if (net->twin) {
        wire_hosts_by_nic(plan, net);
    } else {
        wire_hosts_by_leaf(plan, net);
    }
    switch (net->out.topology) {
    case MYR_TOPOLOGY_DRAGONFLY:
        wire_dragonfly(plan, net);
        break;
    case MYR_TOPOLOGY_DRAGONFLY_PLUS:
        wire_dragonfly_plus(plan, net);
        break;
    case MYR_TOPOLOGY_TORUS:
        wire_torus(plan, net);
        break;
    default:
        if (net->out.tiers >= 2) {
            wire_leaf_spine(plan, net);
        }
        if (net->out.tiers == 3) {
            wire_spine_core(plan, net);
        }
        break;
    }
}

/* How many links there are is known from sizing; each is then laid exactly once. */
void plan_wire(struct plan *plan)
{
    struct myr_design *design = &plan->design;
    uint64_t links = 0;
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        links += plan->nets[id].present ? plan->nets[id].link_total : 0;
    }
    /* Each network was held against the limit by itself. */
    MYR_ASSERT(links <= (uint64_t)PLAN_LINKS_MAX * MYR_NET_COUNT);
    design->link_count = (uint32_t)links;
    design->link_a = MYR_ARENA_NEW(plan->arena, uint32_t, links);
    design->link_b = MYR_ARENA_NEW(plan->arena, uint32_t, links);
    design->link_cable = MYR_ARENA_NEW(plan->arena, uint32_t, links);
    design->first_link = MYR_ARENA_NEW(plan->arena, uint32_t, links + 1);
    /* There are no more cables than links. */
    design->cable_type = MYR_ARENA_NEW(plan->arena, uint16_t, links);
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        if (plan->nets[id].present) {
            wire_net(plan, &plan->nets[id]);
        }
    }
    MYR_ASSERT(plan->next_link == design->link_count);
    design->cable_count = plan->next_cable;
    design->first_link[design->cable_count] = design->link_count;
}
