#include <stdio.h>

#include "plan_internal.h"

/*
 * Optics and cables by what fits what. For each layer: copper or another cable with fixed ends if
 * one is long enough, else multimode, else single mode; the first transceivers of the catalogue
 * whose form, speed, wavelength and connector agree; the shortest stock length that reaches. Pins
 * override the choice part by part, and are then checked by the same rules: what breaks one is a
 * finding.
 */

static const char *const medium_names[] = {"copper", "multimode", "single-mode"};

/* One end of a link: a switch cage or a NIC cage. */
struct end {
    const char *form, *top, *id;
    uint32_t cage_gbps;
    uint32_t connector_gbps; /* what one connector must carry */
    uint32_t connectors;     /* wanted on the module; 0: any */
    bool nic;
};

struct layer_need {
    struct end a, b;
    uint32_t gbps;
    uint32_t legs;    /* of the cable: 2 with a splitter */
    uint32_t pins[3]; /* optic a, optic b, cable */
    double length_m;
    bool fixed_only; /* access networks: ends are part of the cable */
};

struct layer_choice {
    uint32_t optic_a, optic_b, cable;
};

static bool text_eq(const char *a, const char *b)
{
    return a && b && myr_str_eq_nocase(myr_str_from(a), myr_str_from(b));
}

/* 'fits' lists the beginnings of the names of hosts that a module is specified for. */
static bool host_listed(const char *fits, const char *id)
{
    if (!fits) {
        return true;
    }
    for (const char *word = fits; *word;) {
        size_t len = strcspn(word, " ");
        if (len > 0 && strncmp(word, id, len) == 0) {
            return true;
        }
        word += len + strspn(word + len, " ");
    }
    return false;
}

static bool speed_ok(const struct myr_part_transceiver *optic, uint32_t gbps)
{
    bool ok = optic->port_gbps == gbps;
    for (uint32_t i = 0; i < optic->also.count; i++) {
        ok = ok || optic->also.items[i] == gbps;
    }
    return ok;
}

static bool optic_fits(const struct myr_part_transceiver *optic, const struct end *end)
{
    return text_eq(optic->form, end->form) && speed_ok(optic, end->connector_gbps) &&
           (end->nic || optic->cage_gbps == end->cage_gbps) &&
           (!end->connectors || optic->connectors == end->connectors) &&
           (!end->top || !optic->top || text_eq(optic->top, end->top)) &&
           (!end->nic || host_listed(optic->fits, end->id));
}

static bool optics_match(const struct myr_part_transceiver *a, const struct myr_part_transceiver *b)
{
    bool lanes = !a->lane_gbps || !b->lane_gbps || a->lane_gbps == b->lane_gbps;
    return a->medium == b->medium && a->wavelength_nm == b->wavelength_nm && lanes &&
           text_eq(a->connector, b->connector);
}

/* The shortest fibre of the right kind that reaches; MYR_PART_NONE when there is none. */
static uint32_t find_fibre(const struct plan *plan, const struct myr_part_transceiver *optic,
                           uint32_t legs, double length_m)
{
    uint32_t best = MYR_PART_NONE;
    for (uint32_t i = 0; i < plan->catalog->parts.count; i++) {
        const struct myr_part *part = part_at(plan, i);
        if (part->kind == MYR_PART_CABLE && !part->cable.fixed_ends &&
            part->cable.medium == optic->medium && part->cable.legs == legs &&
            text_eq(part->cable.connector, optic->connector) && part->cable.length_m >= length_m &&
            (best == MYR_PART_NONE || part->cable.length_m < part_at(plan, best)->cable.length_m)) {
            best = i;
        }
    }
    return best;
}

static uint32_t find_fixed(const struct plan *plan, const struct layer_need *need)
{
    uint32_t best = MYR_PART_NONE;
    for (uint32_t i = 0; i < plan->catalog->parts.count; i++) {
        const struct myr_part *part = part_at(plan, i);
        const struct myr_part_cable *cable = &part->cable;
        if (part->kind != MYR_PART_CABLE || !cable->fixed_ends ||
            cable->length_m < need->length_m ||
            (cable->gbps && cable->gbps != need->gbps * cable->legs) ||
            (!need->a.nic && cable->legs > 1)) {
            continue; /* a divided cable joins a switch to hosts, not to a switch */
        }
        /* Side A of the part is its undivided end: the switch. */
        const char *far = cable->form_b ? cable->form_b : cable->connector;
        bool fits = text_eq(cable->connector, need->b.form) && text_eq(far, need->a.form);
        const struct myr_part *old = best == MYR_PART_NONE ? NULL : part_at(plan, best);
        if (fits &&
            (!old || cable->length_m < old->cable.length_m ||
             (cable->length_m == old->cable.length_m && cable->medium < old->cable.medium))) {
            best = i;
        }
    }
    return best;
}

/* The first pair of modules of this medium, with a fibre between them. */
static bool choose_optical(const struct plan *plan, const struct layer_need *need,
                           enum myr_medium medium, struct layer_choice *ret)
{
    for (uint32_t b = 0; b < plan->catalog->parts.count; b++) {
        const struct myr_part *optic_b = part_at(plan, b);
        if (optic_b->kind != MYR_PART_TRANSCEIVER || optic_b->optic.medium != medium ||
            optic_b->optic.reach_m < need->length_m || !optic_fits(&optic_b->optic, &need->b)) {
            continue;
        }
        uint32_t cable = find_fibre(plan, &optic_b->optic, need->legs, need->length_m);
        if (cable == MYR_PART_NONE) {
            continue;
        }
        for (uint32_t a = 0; a < plan->catalog->parts.count; a++) {
            const struct myr_part *optic_a = part_at(plan, a);
            if (optic_a->kind == MYR_PART_TRANSCEIVER && optic_fits(&optic_a->optic, &need->a) &&
                optic_a->optic.reach_m >= need->length_m &&
                optics_match(&optic_a->optic, &optic_b->optic)) {
                *ret = (struct layer_choice){a, b, cable};
                return true;
            }
        }
    }
    return false;
}

static bool choose(const struct plan *plan, const struct layer_need *need, struct layer_choice *ret)
{
    uint32_t fixed = find_fixed(plan, need);
    bool copper = fixed != MYR_PART_NONE && part_at(plan, fixed)->cable.medium == MYR_MEDIUM_COPPER;
    if (fixed != MYR_PART_NONE && (copper || need->fixed_only)) {
        *ret = (struct layer_choice){MYR_PART_NONE, MYR_PART_NONE, fixed};
        return true;
    }
    if (choose_optical(plan, need, MYR_MEDIUM_MULTI, ret) ||
        choose_optical(plan, need, MYR_MEDIUM_SINGLE, ret)) {
        return true;
    }
    if (fixed != MYR_PART_NONE) {
        *ret = (struct layer_choice){MYR_PART_NONE, MYR_PART_NONE, fixed};
        return true;
    }
    return false;
}

static void check_end(struct plan *plan, const char *where, const struct myr_part *optic,
                      const struct end *end)
{
    if (!text_eq(optic->optic.form, end->form)) {
        plan_finding(plan, MYR_SEVERITY_ERROR, "optic-form", where,
                     "take a module of the cage's form", "%s is %s, the cage of %s is %s",
                     optic->order, optic->optic.form, end->id, end->form);
    } else if (end->nic && !host_listed(optic->optic.fits, end->id)) {
        plan_finding(plan, MYR_SEVERITY_ERROR, "optic-host", where,
                     "take a module that is specified for this NIC",
                     "%s is specified for %s, not for %s", optic->order, optic->optic.fits,
                     end->id);
    } else if (!speed_ok(&optic->optic, end->connector_gbps)) {
        plan_finding(plan, MYR_SEVERITY_ERROR, "optic-speed", where, "take a module of that speed",
                     "%s carries %u Gb/s through a connector, %u are needed", optic->order,
                     optic->optic.port_gbps, end->connector_gbps);
    }
}

/* The link rules, for what the user pinned: mode, wavelength, connector, legs, length, reach. */
static void check_pinned(struct plan *plan, const char *where, const struct layer_need *need,
                         const struct layer_choice *choice)
{
    if (choice->optic_a == MYR_PART_NONE || choice->optic_b == MYR_PART_NONE) {
        return;
    }
    const struct myr_part *a = part_at(plan, choice->optic_a);
    const struct myr_part *b = part_at(plan, choice->optic_b);
    const struct myr_part *cable = part_at(plan, choice->cable);
    check_end(plan, where, a, &need->a);
    check_end(plan, where, b, &need->b);
    if (!optics_match(&a->optic, &b->optic) || a->optic.medium != cable->cable.medium) {
        plan_finding(plan, MYR_SEVERITY_ERROR, "optic-mode", where,
                     "use one mode, wavelength and connector at both ends and in the fibre",
                     "%s (%s, %u nm) cannot link with %s (%s, %u nm) over %s (%s)", b->order,
                     medium_names[b->optic.medium], b->optic.wavelength_nm, a->order,
                     medium_names[a->optic.medium], a->optic.wavelength_nm, cable->order,
                     medium_names[cable->cable.medium]);
    }
    if (cable->cable.legs != need->legs) {
        plan_finding(plan, MYR_SEVERITY_ERROR, "cable-legs", where, "take a cable with that many",
                     "%s has %u legs, %u are needed", cable->order, cable->cable.legs, need->legs);
    }
    if (cable->cable.length_m < need->length_m) {
        plan_finding(plan, MYR_SEVERITY_ERROR, "cable-short", where,
                     "take a longer cable or give the true length_m",
                     "%s is %g m long, %g m are needed", cable->order, cable->cable.length_m,
                     need->length_m);
    }
    double reach = a->optic.reach_m < b->optic.reach_m ? a->optic.reach_m : b->optic.reach_m;
    if (reach < need->length_m) {
        plan_finding(plan, MYR_SEVERITY_ERROR, "optic-reach", where,
                     "take modules with a longer reach", "the modules reach %g m, %g m are needed",
                     reach, need->length_m);
    }
}

static void apply_pins(struct plan *plan, const char *where, const struct layer_need *need,
                       bool found, struct layer_choice *choice)
{
    bool pinned = false;
    uint32_t *chosen[] = {&choice->optic_a, &choice->optic_b, &choice->cable};
    for (uint32_t i = 0; i < 3; i++) {
        if (need->pins[i] != MYR_PART_NONE) {
            *chosen[i] = need->pins[i];
            pinned = true;
        }
    }
    if (pinned && choice->cable != MYR_PART_NONE) {
        check_pinned(plan, where, need, choice);
    } else if (!found) {
        plan_finding(plan, MYR_SEVERITY_ERROR, "no-optics", where,
                     "add fitting parts to the catalogue, or pin them",
                     "nothing in the catalogue joins %s (%s) to %s (%s) at %u Gb/s over %g m",
                     need->a.id, need->a.form, need->b.id, need->b.form, need->gbps,
                     need->length_m);
    }
}

static uint32_t part_string(struct plan *plan, uint32_t part)
{
    return part == MYR_PART_NONE ? 0 : plan_string(plan, part_at(plan, part)->id);
}

static uint16_t add_cabletype(struct plan *plan, const struct net_plan *net, enum myr_layer layer,
                              const struct layer_need *need, uint32_t unit_legs, bool head_b)
{
    struct layer_choice choice = {MYR_PART_NONE, MYR_PART_NONE, MYR_PART_NONE};
    const char *where =
        myr_arena_printf(plan->arena, "%s %s", myr_net_names[net->id], myr_layer_names[layer]);
    bool found = choose(plan, need, &choice);
    apply_pins(plan, where, need, found, &choice);
    const struct myr_part *cable =
        choice.cable == MYR_PART_NONE ? NULL : part_at(plan, choice.cable);
    struct myr_cabletype type = {
        .part = part_string(plan, choice.cable),
        .optic_a = part_string(plan, choice.optic_a),
        .optic_b = part_string(plan, choice.optic_b),
        .gbps = need->gbps,
        .length_mm = (uint32_t)((cable ? cable->cable.length_m : need->length_m) * 1000 + 0.5),
        .net = (uint8_t)net->id,
        .layer = (uint8_t)layer,
        .medium = (uint8_t)(cable ? cable->cable.medium : MYR_MEDIUM_MULTI),
        .legs = (uint8_t)unit_legs,
        .head_b = head_b,
    };
    MYR_ASSERT(plan->cabletypes.count < UINT16_MAX);
    myr_vec_push(&plan->cabletypes, type);
    return (uint16_t)(plan->cabletypes.count - 1);
}

static struct end switch_end(const struct plan *plan, uint32_t part, uint32_t connector_gbps)
{
    const struct myr_part *sw = part_at(plan, part);
    return (struct end){.form = sw->sw.form,
                        .id = sw->id,
                        .cage_gbps = sw->sw.cage_gbps,
                        .connector_gbps = connector_gbps};
}

static double length_or(double given, double otherwise)
{
    return given > 0 ? given : otherwise;
}

static void host_optics(struct plan *plan, struct net_plan *net, uint32_t class_index)
{
    const struct myr_part *nic = part_at(plan, net->hosts[class_index].nic_part);
    bool splitter = net->splitter_legs > 1;
    double default_m = net->out.topology == MYR_TOPOLOGY_MIDDLE_OF_RACK ? 2 : 50;
    struct layer_need need = {
        .gbps = net->out.host_gbps,
        .legs = net->splitter_legs,
        .pins = {net->spec->pins[MYR_PIN_NIC_OPTIC], net->spec->pins[MYR_PIN_SWITCH_OPTIC],
                 net->spec->pins[MYR_PIN_HOST_CABLE]},
        .length_m = length_or(net->spec->host_length_m, default_m),
    };
    need.a = (struct end){.form = nic->nic.form,
                          .top = nic->nic.top,
                          .id = nic->id,
                          .cage_gbps = nic->nic.port_gbps * nic->nic.cage_ports,
                          .connector_gbps = net->out.host_gbps,
                          .connectors = net->twin ? net->out.planes : 0,
                          .nic = true};
    need.b =
        switch_end(plan, net->leaf_part, splitter ? net->leaf_sw->port_gbps : net->out.host_gbps);
    uint32_t legs = net->twin ? net->out.planes : net->splitter_legs;
    net->host_cabletype[class_index] =
        add_cabletype(plan, net, MYR_LAYER_HOST, &need, legs, splitter);
}

static void fabric_optics(struct plan *plan, struct net_plan *net, enum myr_layer layer,
                          uint32_t lower, uint32_t upper, double length_m)
{
    struct layer_need need = {
        .gbps = net->out.fabric_gbps,
        .legs = 1,
        .pins = {net->spec->pins[MYR_PIN_FABRIC_OPTIC], net->spec->pins[MYR_PIN_FABRIC_OPTIC],
                 net->spec->pins[MYR_PIN_FABRIC_CABLE]},
        .length_m = length_m,
    };
    need.a = switch_end(plan, lower, net->out.fabric_gbps);
    need.b = switch_end(plan, upper, net->out.fabric_gbps);
    /* Twin planes are ordered and counted in whole cages: two ports, one cable. */
    uint32_t legs = net->twin ? myr_switch_ports_per_cage(net->leaf_sw, net->out.fabric_gbps) : 1;
    net->layer_cabletype[layer] = add_cabletype(plan, net, layer, &need, legs, false);
}

/* What plugs into a port of this speed, where the catalogue's fixed-port switches do not say. */
static const char *form_of_speed(uint32_t gbps)
{
    return gbps <= 1     ? "rj45"
           : gbps <= 10  ? "sfp+"
           : gbps <= 25  ? "sfp28"
           : gbps <= 100 ? "qsfp28"
                         : "qsfp112";
}

static void access_optics(struct plan *plan, struct net_plan *net)
{
    struct layer_need need = {
        .gbps = net->out.host_gbps,
        .legs = 1,
        .pins = {MYR_PART_NONE, MYR_PART_NONE, net->spec->pins[MYR_PIN_HOST_CABLE]},
        .length_m = length_or(net->spec->host_length_m, 10),
        .fixed_only = true};
    need.a = need.b = (struct end){.form = form_of_speed(need.gbps),
                                   .id = part_at(plan, net->access_part)->id,
                                   .connector_gbps = need.gbps};
    uint16_t type = add_cabletype(plan, net, MYR_LAYER_HOST, &need, 1, false);
    for (uint32_t i = 0; i < net->host_class_count; i++) {
        net->host_cabletype[i] = type;
    }
    need.gbps = net->out.fabric_gbps;
    need.length_m = length_or(net->spec->fabric_length_m, 20);
    need.pins[2] = net->spec->pins[MYR_PIN_FABRIC_CABLE];
    need.a = need.b = (struct end){.form = form_of_speed(need.gbps),
                                   .id = part_at(plan, net->aggregation_part)->id,
                                   .connector_gbps = need.gbps};
    net->layer_cabletype[MYR_LAYER_FABRIC] =
        add_cabletype(plan, net, MYR_LAYER_FABRIC, &need, 1, false);
}

static void net_optics(struct plan *plan, struct net_plan *net)
{
    if (net->out.topology == MYR_TOPOLOGY_ACCESS) {
        access_optics(plan, net);
        return;
    }
    for (uint32_t i = 0; i < net->host_class_count; i++) {
        uint32_t same = 0;
        while (same < i && net->hosts[same].nic_part != net->hosts[i].nic_part) {
            same++;
        }
        if (same < i) {
            net->host_cabletype[i] = net->host_cabletype[same];
        } else {
            host_optics(plan, net, i);
        }
    }
    double fabric_m = length_or(net->spec->fabric_length_m, 50);
    double core_m = length_or(net->spec->core_length_m, 100);
    switch (net->out.topology) {
    case MYR_TOPOLOGY_DRAGONFLY:
        fabric_optics(plan, net, MYR_LAYER_LOCAL, net->leaf_part, net->leaf_part, fabric_m);
        fabric_optics(plan, net, MYR_LAYER_GLOBAL, net->leaf_part, net->leaf_part, core_m);
        break;
    case MYR_TOPOLOGY_DRAGONFLY_PLUS:
        fabric_optics(plan, net, MYR_LAYER_FABRIC, net->leaf_part, net->spine_part, fabric_m);
        fabric_optics(plan, net, MYR_LAYER_GLOBAL, net->spine_part, net->spine_part, core_m);
        break;
    case MYR_TOPOLOGY_TORUS:
        fabric_optics(plan, net, MYR_LAYER_LOCAL, net->leaf_part, net->leaf_part, fabric_m);
        break;
    default:
        if (net->out.tiers >= 2) {
            fabric_optics(plan, net, MYR_LAYER_FABRIC, net->leaf_part, net->spine_part, fabric_m);
        }
        if (net->out.tiers == 3) {
            fabric_optics(plan, net, MYR_LAYER_CORE, net->spine_part, net->core_part, core_m);
        }
        break;
    }
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

uint16_t plan_host_cabletype(const struct plan *plan, const struct net_plan *net, uint32_t device)
{
    (void)plan;
    for (uint32_t i = 0; i < net->host_class_count; i++) {
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
