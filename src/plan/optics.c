#include "parts/choose.h"

/*
 * Modules and cables for the layers of every network: what lies at the two ends of a layer's links
 * is said here, what fits it is chosen by choose.c. Lengths are those of the spec; who knows the
 * racks asks for another length of the same layer (plan_cabletype_for).
 */

/* 0, the empty string, where there is no part. */
static uint32_t part_string(struct plan *plan, uint32_t part)
{
    return part == MYR_PART_NONE ? 0 : plan_string(plan, part_at(plan, part)->id);
}

/*
 * What plugs into a port of this speed, where the catalogue's fixed-port switches do not say. The
 * usual form of ports of that speed.
 */
static const char *form_of_speed(uint32_t gbps)
{
    return gbps <= 1     ? "rj45"
           : gbps <= 10  ? "sfp+"
           : gbps <= 25  ? "sfp28"
           : gbps <= 100 ? "qsfp28"
                         : "qsfp112";
}

static struct fit_socket fixed_port(const struct plan *plan, uint32_t part, bool uplink)
{
    const struct myr_part_ethernet *eth = &part_at(plan, part)->eth;
    uint32_t gbps = uplink ? eth->uplink_gbps : eth->access_gbps;
    const char *form = uplink ? eth->uplink_form : eth->access_form;
    return (struct fit_socket){.id = part_at(plan, part)->id,
                               .form = form ? form : form_of_speed(gbps),
                               .technology = MYR_TECH_ETHERNET,
                               .cage_gbps = gbps,
                               .ports = 1,
                               .legs = 1};
}

/* 0: the spec does not say. */
static double length_or(double given, double otherwise)
{
    return given > 0 ? given : otherwise;
}

/*
 * Cards of several kinds share the cages of a leaf: one kind of module must serve them all. Only
 * where a cage has more than one port: else each card has a cage of its own.
 */
static bool shares_cages(const struct net_plan *net, uint32_t ports)
{
    bool several = false;
    for (uint32_t i = 1; i < net->host_class_count; i++) {
        several = several || net->hosts[i].nic_part != net->hosts[0].nic_part;
    }
    return several && ports > 1;
}

/*
 * Lengths that the spec does not give are assumed: 10 m to an access switch, 2 m within a rack,
 * else 50 m.
 */
static struct link_need host_need(const struct plan *plan, const struct net_plan *net,
                                  uint32_t class_index)
{
    const struct host_class *hosts = &net->hosts[class_index];
    const struct myr_spec_net *spec = net->spec;
    bool access = net->out.topology == MYR_TOPOLOGY_ACCESS;
    double default_m = access ? 10 : net->out.topology == MYR_TOPOLOGY_MIDDLE_OF_RACK ? 2 : 50;
    struct link_need need = {
        .link = {.gbps = net->out.host_gbps,
                 .bundle = 1,
                 .length_m = length_or(spec->host_length_m, default_m)},
        .pins = {spec->pins[MYR_PIN_NIC_OPTIC], spec->pins[MYR_PIN_SWITCH_OPTIC],
                 spec->pins[MYR_PIN_HOST_CABLE]},
        .fixed_only = access,
        .same_b = MYR_PART_NONE,
    };
    need.link.a = fits_socket(part_at(plan, hosts->nic_part), hosts->per_cage, 1);
    if (access) {
        need.link.b = fixed_port(plan, net->access_part, false);
        return need;
    }
    uint32_t ports = myr_switch_ports_per_cage(net->leaf_sw, net->out.host_gbps);
    need.link.b = fits_socket(part_at(plan, net->leaf_part), ports, net->splitter_legs);
    /* A cable with ends would fill the cage that other cards have their ports in. */
    need.no_fixed = shares_cages(net, ports);
    /* The first kind of hosts has chosen the leaf's module; all others must join it. */
    if (need.no_fixed && class_index > 0) {
        need.same_b = net->host_optic;
    }
    return need;
}

/* Links that run side by side between two cages. */
static uint32_t layer_bundle(const struct net_plan *net, enum myr_layer layer, uint32_t ports)
{
    const struct myr_network *out = &net->out;
    switch (layer) {
    case MYR_LAYER_CORE:
        return net->core_pair_links ? net->core_pair_links : 1;
    case MYR_LAYER_LOCAL:
        return out->topology == MYR_TOPOLOGY_TORUS ? net->pair_links : 1;
    case MYR_LAYER_GLOBAL: {
        /*
         * Only where the global ports of a switch fill whole cages do the links of a pair share
         * them.
         */
        uint32_t each = out->topology == MYR_TOPOLOGY_DRAGONFLY ? out->leaf_up : out->spine_up;
        return each % ports || !net->global_pair_links ? 1 : net->global_pair_links;
    }
    default:
        return net->pair_links && out->topology != MYR_TOPOLOGY_DRAGONFLY_PLUS ? net->pair_links
                                                                               : 1;
    }
}

/* Cables have fixed ends, so there are no modules to pin. */
static struct link_need access_uplink_need(const struct plan *plan, const struct net_plan *net,
                                           bool core)
{
    const struct myr_spec_net *spec = net->spec;
    struct link_need need = {
        .link = {.gbps = core ? net->core_gbps : net->out.fabric_gbps,
                 .bundle = 1,
                 .length_m = core ? length_or(spec->core_length_m, 50)
                                  : length_or(spec->fabric_length_m, 20)},
        .pins = {MYR_PART_NONE, MYR_PART_NONE, net->spec->pins[MYR_PIN_FABRIC_CABLE]},
        .fixed_only = true,
        .same_b = MYR_PART_NONE,
    };
    /* An aggregation switch without uplink ports goes up through its access ports. */
    bool own_uplinks = part_at(plan, net->aggregation_part)->eth.uplink_ports > 0;
    need.link.a =
        fixed_port(plan, core ? net->aggregation_part : net->access_part, !core || own_uplinks);
    need.link.b = fixed_port(plan, core ? net->core_part : net->aggregation_part, false);
    return need;
}

/*
 * Which switches lie at the two ends follows from layer and topology: dragonfly and torus have one
 * kind, dragonfly+ joins its groups from spine to spine.
 */
static struct link_need fabric_need(const struct plan *plan, const struct net_plan *net,
                                    enum myr_layer layer)
{
    const struct myr_spec_net *spec = net->spec;
    bool plus = net->out.topology == MYR_TOPOLOGY_DRAGONFLY_PLUS;
    /* Lengths of the spec are those of three kinds: hosts, fabric, and all that is above it. */
    bool high = layer == MYR_LAYER_CORE || layer == MYR_LAYER_GLOBAL;
    uint32_t lower = layer == MYR_LAYER_CORE || (layer == MYR_LAYER_GLOBAL && plus)
                         ? net->spine_part
                         : net->leaf_part;
    uint32_t upper = layer == MYR_LAYER_CORE ? net->core_part
                     : layer == MYR_LAYER_FABRIC || (layer == MYR_LAYER_GLOBAL && plus)
                         ? net->spine_part
                         : net->leaf_part;
    uint32_t gbps = net->out.fabric_gbps;
    uint32_t ports_a = fits_straight_ports(&part_at(plan, lower)->sw, gbps);
    uint32_t ports_b = fits_straight_ports(&part_at(plan, upper)->sw, gbps);
    struct link_need need = {
        .link = {.gbps = gbps,
                 .bundle = layer_bundle(net, layer, ports_a),
                 .length_m = high ? length_or(spec->core_length_m, 100)
                                  : length_or(spec->fabric_length_m, 50)},
        .pins = {spec->pins[MYR_PIN_FABRIC_OPTIC], spec->pins[MYR_PIN_FABRIC_OPTIC],
                 spec->pins[MYR_PIN_FABRIC_CABLE]},
        .same_b = MYR_PART_NONE,
    };
    need.link.a = fits_socket(part_at(plan, lower), ports_a, 1);
    need.link.b = fits_socket(part_at(plan, upper), ports_b, 1);
    return need;
}

static struct link_need layer_need(const struct plan *plan, const struct net_plan *net,
                                   enum myr_layer layer, uint32_t host_class)
{
    if (layer == MYR_LAYER_HOST) {
        return host_need(plan, net, host_class);
    }
    return net->out.topology == MYR_TOPOLOGY_ACCESS
               ? access_uplink_need(plan, net, layer == MYR_LAYER_CORE)
               : fabric_need(plan, net, layer);
}

/*
 * Asked while parts are chosen, before there are hosts of that card: a copy of the network with
 * that switch is tried.
 */
bool plan_card_joins(struct plan *plan, const struct net_plan *net, uint32_t card, uint32_t sw)
{
    const struct myr_part *nic = part_at(plan, card);
    /* Splitters and slots follow from the switch, so they are worked out for this one. */
    struct net_plan trial = *net;
    struct fit_parts parts;
    trial.leaf_part = sw;
    trial.leaf_sw = &part_at(plan, sw)->sw;
    plan_host_slots(&trial);
    if (!fits_speed(&nic->nic, net->out.host_gbps) ||
        !fits_technology(nic->nic.technology, trial.leaf_sw->technology)) {
        return false;
    }
    /* Side by side with the nodes: in one cage both have the same module. */
    struct link_need need = host_need(plan, &trial, 0);
    bool nodes = plan_choose_parts(plan, NULL, &need, &parts);
    if (card == net->hosts[0].nic_part) {
        return nodes;
    }
    need.no_fixed = need.no_fixed || need.link.b.ports > 1;
    need.link.a = fits_socket(nic, nic->nic.cage_ports, 1);
    /* Only where a cage is shared must the modules be the same. */
    need.same_b = nodes && need.link.b.ports > 1 ? parts.optic_b : MYR_PART_NONE;
    return plan_choose_parts(plan, NULL, &need, &parts);
}

/* Links in one cable, as it is counted. */
static uint32_t links_of_cable(const struct plan *plan, const struct net_plan *net,
                               const struct link_need *need, const struct fit_parts *parts)
{
    const struct myr_part *cable =
        parts->cable == MYR_PART_NONE ? NULL : part_at(plan, parts->cable);
    if (cable && cable->cable.fixed_ends) {
        return fits_fixed_links(&cable->cable, need->link.gbps);
    }
    /* Twin planes are ordered and counted in whole cages: two ports, one cable. */
    if (net->twin) {
        return need->link.a.ports;
    }
    return need->link.b.legs;
}

/* The type's position; one that is there already is used again. */
static uint16_t add_cabletype(struct plan *plan, const struct net_plan *net, enum myr_layer layer,
                              const struct link_need *need, const struct fit_parts *parts)
{
    const struct myr_part *cable =
        parts->cable == MYR_PART_NONE ? NULL : part_at(plan, parts->cable);
    struct myr_cabletype type = {
        .part = part_string(plan, parts->cable),
        .optic_a = part_string(plan, parts->optic_a),
        .optic_b = part_string(plan, parts->optic_b),
        .gbps = need->link.gbps,
        /*
         * As ordered; without a part the length that was asked for. Half a millimetre is for
         * rounding.
         */
        .length_mm = (uint32_t)((cable ? cable->cable.length_m : need->link.length_m) * 1000 + 0.5),
        .net = (uint8_t)net->id,
        .layer = (uint8_t)layer,
        .medium = (uint8_t)(cable ? cable->cable.medium : MYR_MEDIUM_MULTI),
        .legs = (uint8_t)links_of_cable(plan, net, need, parts),
        .head_b = need->link.b.legs > 1 || (cable && cable->cable.legs > 1),
    };
    /* Types are zeroed first and have no hidden padding, so bytes may be compared. */
    for (size_t i = 0; i < plan->cabletypes.count; i++) {
        if (memcmp(&plan->cabletypes.items[i], &type, sizeof(type)) == 0) {
            return (uint16_t)i;
        }
    }
    MYR_ASSERT(plan->cabletypes.count < UINT16_MAX);
    myr_vec_push(&plan->cabletypes, type);
    return (uint16_t)(plan->cabletypes.count - 1);
}

/* MYR_PART_NONE for the empty string. */
static uint32_t part_of(const struct plan *plan, uint32_t string)
{
    return string ? myr_catalog_find(plan->catalog, myr_str_from(plan->strings.data + string))
                  : MYR_PART_NONE;
}

uint16_t plan_cabletype_for(struct plan *plan, struct net_plan *net, const struct cable_ask *ask)
{
    struct link_need need = layer_need(plan, net, ask->layer, ask->host_class);
    struct fit_parts parts;
    need.link.length_m = ask->length_m;
    if (ask->like == MYR_CABLETYPE_NONE) {
        const char *where = myr_arena_printf(plan->arena, "%s %s", myr_net_names[net->id],
                                             myr_layer_names[ask->layer]);
        (void)plan_choose_parts(plan, where, &need, &parts);
        return add_cabletype(plan, net, ask->layer, &need, &parts);
    }
    struct myr_cabletype like = plan->cabletypes.items[ask->like];
    uint32_t old = part_of(plan, like.part);
    /*
     * Modules are kept by pinning them, and the kind of cable by allowing no other: only the length
     * is free.
     */
    need.pins =
        (struct fit_parts){part_of(plan, like.optic_a), part_of(plan, like.optic_b), MYR_PART_NONE};
    need.no_fixed = need.no_fixed || like.optic_a;
    need.fixed_only = need.fixed_only || !like.optic_a;
    /* Another number of links a cable would be another cabling, not another length. */
    if (old == MYR_PART_NONE || !plan_choose_parts(plan, NULL, &need, &parts) ||
        part_at(plan, parts.cable)->cable.fixed_ends != part_at(plan, old)->cable.fixed_ends ||
        links_of_cable(plan, net, &need, &parts) != like.legs) {
        return MYR_CABLETYPE_NONE;
    }
    return add_cabletype(plan, net, ask->layer, &need, &parts);
}

uint32_t plan_cable_links(struct plan *plan, const struct net_plan *net,
                          const struct cable_ask *ask)
{
    struct link_need need = layer_need(plan, net, ask->layer, ask->host_class);
    struct fit_parts parts;
    need.link.length_m = ask->length_m;
    (void)plan_choose_parts(plan, NULL, &need, &parts);
    return links_of_cable(plan, net, &need, &parts);
}

uint32_t plan_layer_links(const struct plan *plan, const struct net_plan *net, enum myr_layer layer,
                          bool *ret_copper)
{
    struct link_need need = fabric_need(plan, net, layer);
    struct fit_parts parts = {MYR_PART_NONE, MYR_PART_NONE, plan_choose_fixed(plan, &need)};
    *ret_copper = parts.cable != MYR_PART_NONE &&
                  part_at(plan, parts.cable)->cable.medium == MYR_MEDIUM_COPPER;
    parts.cable = *ret_copper ? parts.cable : MYR_PART_NONE;
    return links_of_cable(plan, net, &need, &parts);
}

/*
 * The kind of link that a layer gets for the length that the spec gives. Copper before fibre,
 * multimode before single mode (docs/planning.md, Optics and cables); what is pinned stays, and
 * what it breaks is a finding.
 */
static uint16_t layer_type(struct plan *plan, struct net_plan *net, enum myr_layer layer,
                           uint32_t host_class)
{
    struct link_need need = layer_need(plan, net, layer, host_class);
    struct fit_parts parts;
    const char *where =
        myr_arena_printf(plan->arena, "%s %s", myr_net_names[net->id], myr_layer_names[layer]);
    (void)plan_choose_parts(plan, where, &need, &parts);
    /* Remembered for the other kinds of hosts, whose links may share its cages. */
    if (layer == MYR_LAYER_HOST && host_class == 0) {
        net->host_optic = parts.optic_b;
    }
    return add_cabletype(plan, net, layer, &need, &parts);
}

/* Layers that the topology does not have keep type 0. */
static void fabric_layers(struct plan *plan, struct net_plan *net)
{
    bool used[MYR_LAYER_COUNT] = {false};
    switch (net->out.topology) {
    case MYR_TOPOLOGY_DRAGONFLY:
        used[MYR_LAYER_LOCAL] = used[MYR_LAYER_GLOBAL] = true;
        break;
    case MYR_TOPOLOGY_DRAGONFLY_PLUS:
        used[MYR_LAYER_FABRIC] = used[MYR_LAYER_GLOBAL] = true;
        break;
    case MYR_TOPOLOGY_TORUS:
        used[MYR_LAYER_LOCAL] = true;
        break;
    default:
        used[MYR_LAYER_FABRIC] = net->out.tiers >= 2;
        used[MYR_LAYER_CORE] = net->out.tiers == 3;
        break;
    }
    for (uint32_t layer = 0; layer < MYR_LAYER_COUNT; layer++) {
        if (used[layer]) {
            net->layer_cabletype[layer] = layer_type(plan, net, (enum myr_layer)layer, 0);
        }
    }
}

/* Kinds of hosts with the same card and cages have the same cables. */
static void net_optics(struct plan *plan, struct net_plan *net)
{
    for (uint32_t i = 0; i < net->host_class_count; i++) {
        uint32_t same = 0;
        /* The first kind with the same card and cages, if there is one. */
        while (same < i && (net->hosts[same].nic_part != net->hosts[i].nic_part ||
                            net->hosts[same].per_cage != net->hosts[i].per_cage)) {
            same++;
        }
        net->host_cabletype[i] =
            same < i ? net->host_cabletype[same] : layer_type(plan, net, MYR_LAYER_HOST, i);
    }
    fabric_layers(plan, net);
}

int plan_optics(struct plan *plan, struct myr_err *err)
{
    (void)err;
    for (uint32_t id = 0; id < MYR_NET_COUNT; id++) {
        if (plan->nets[id].present) {
            net_optics(plan, &plan->nets[id]);
        }
    }
    return MYR_OK;
}

/* The device must be a host of the network. */
uint16_t plan_host_cabletype(const struct plan *plan, const struct net_plan *net, uint32_t device)
{
    (void)plan;
    for (uint32_t i = 0; i < net->host_class_count; i++) {
        /*
         * Unsigned: a device before the class gives a huge difference, so one comparison is enough.
         */
        if (device - net->hosts[i].first_device < net->hosts[i].count) {
            return net->host_cabletype[i];
        }
    }
    MYR_ASSERT(false && "a host that is not on this network");
    return 0;
}

uint16_t plan_layer_cabletype(const struct plan *plan, const struct net_plan *net,
                              enum myr_layer layer)
{
    (void)plan;
    return layer == MYR_LAYER_HOST ? net->host_cabletype[0] : net->layer_cabletype[layer];
}
