#include "physical_internal.h"

/*
 * What fits what: one module in one cage, one fixed end in one cage, two ends and what is between.
 * Every rule holds what the design plugs in against what the parts state; a rule about something
 * that a part does not state is silent. Each finding says all that it compared, so that a reader
 * can check it against the data sheets.
 */

static const char *const medium_names[] = {"copper", "multimode", "single-mode"};
static const char *const technology_names[] = {"InfiniBand", "Ethernet", "any"};

/* " flat", behind a form; nothing where there is no such difference. */
static const char *top_word(const char *top)
{
    return !top                           ? ""
           : physical_same(top, "flat")   ? " flat"
           : physical_same(top, "finned") ? " finned"
                                          : " odd";
}

/*
 * A cage whose form the catalogue does not state takes anything: what is not known is not judged.
 * The same goes for lanes, their speed and the top below.
 */
static bool form_fits(const struct socket *socket, const char *form)
{
    return !socket->form || physical_same(socket->form, form) ||
           physical_listed(socket->takes, form);
}

/* A module of the cage's own form has all its lanes; a smaller form uses some of them. */
static bool lanes_fit(const struct socket *socket, const char *form, uint32_t lanes)
{
    if (!socket->lanes || !lanes) {
        return true;
    }
    return physical_same(socket->form, form) ? lanes == socket->lanes : lanes <= socket->lanes;
}

static bool lane_speed_fits(const struct socket *socket, uint32_t gbps)
{
    return !socket->lane_gbps || !gbps || physical_has(socket->lane_also, socket->lane_gbps, gbps);
}

/* A module of another form that the cage takes has a top of its own, which is not compared. */
static bool top_fits(const struct socket *socket, const char *form, const char *top)
{
    return !socket->top || !top || !physical_same(socket->form, form) ||
           physical_same(socket->top, top);
}

/*
 * 'fits' of a module lists the beginnings of the ids of the cards that it is specified for. A
 * module without such a list goes into any card.
 */
static bool host_listed(const char *fits, const char *id)
{
    for (const char *at = fits; at && *at;) {
        size_t len = strcspn(at, " ");
        if (len && strncmp(at, id, len) == 0) {
            return true;
        }
        at += len + strspn(at + len, " ");
    }
    return !fits;
}

/* The first rule that a module breaks in a cage. 'gbps' is what one connector carries. */
static enum physical_rule module_rule(const struct socket *socket, const struct myr_part *part,
                                      uint32_t gbps)
{
    const struct myr_part_transceiver *module = &part->optic;
    uint32_t lane = module->cage_lane_gbps ? module->cage_lane_gbps : module->lane_gbps;
    return !form_fits(socket, module->form)                              ? PHYSICAL_MODULE_FORM
           : socket->card && !host_listed(module->fits, socket->box->id) ? PHYSICAL_MODULE_HOST
           : !top_fits(socket, module->form, module->top)                ? PHYSICAL_MODULE_TOP
           : !lanes_fit(socket, module->form, module->lanes)             ? PHYSICAL_MODULE_LANES
           : !lane_speed_fits(socket, lane)                        ? PHYSICAL_MODULE_LANE_SPEED
           : !physical_has(&module->also, module->port_gbps, gbps) ? PHYSICAL_MODULE_SPEED
                                                                   : PHYSICAL_OK;
}

/* Behind the head of a splitter one connector carries the links of all its legs. */
static void judge_module(struct physical *physical, const struct joint *joint, uint32_t end)
{
    const struct lay *lay = &physical->lays[joint->lay];
    const struct socket *socket = &physical->sockets[joint->socket[end]];
    const struct myr_part *part = lay->module[end];
    uint32_t legs = lay->cable ? lay->cable->cable.legs : 1;
    bool head = legs > 1 && (lay->type->head_b != 0) == (end == 1);
    uint32_t gbps = lay->type->gbps * (head ? legs : 1);
    if (!part || !socket->box) {
        return;
    }
    enum physical_rule rule = module_rule(socket, part, gbps);
    const struct myr_part_transceiver *module = &part->optic;
    if (rule != PHYSICAL_OK) {
        physical_report(
            physical, rule, lay->where, joint->links,
            "%s (%s%s, %u lanes of %u Gb/s, %u Gb/s a connector) in a cage of %s (%s%s, %u lanes "
            "of %u Gb/s) at %u Gb/s",
            part->order, module->form, top_word(module->top), module->lanes,
            module->cage_lane_gbps ? module->cage_lane_gbps : module->lane_gbps, module->port_gbps,
            socket->box->id, socket->form ? socket->form : "", top_word(socket->top), socket->lanes,
            socket->lane_gbps, gbps);
    }
}

/*
 * Two modules and the fibre between them: the first rule that they break. Rates of light must agree
 * lane by lane; what one end does not state is not compared.
 */
static enum physical_rule pair_rule(const struct lay *lay)
{
    const struct myr_part_transceiver *a = &lay->module[0]->optic, *b = &lay->module[1]->optic;
    const struct myr_part_cable *fibre = &lay->cable->cable;
    bool lane = !a->lane_gbps || !b->lane_gbps || a->lane_gbps == b->lane_gbps;
    bool grid = (!a->grid && !b->grid) || physical_same(a->grid, b->grid);
    /* Lanes of light that one link takes, rounded up. */
    uint32_t lanes = a->lane_gbps ? (lay->type->gbps + a->lane_gbps - 1) / a->lane_gbps : 0;
    /*
     * With a grid several wavelengths share a fibre, so lanes and pairs are not the same and
     * FIBRE_LANES is left out.
     */
    return a->medium != b->medium || a->medium != fibre->medium ? PHYSICAL_MODE
           : a->wavelength_nm != b->wavelength_nm || !grid      ? PHYSICAL_WAVELENGTH
           : !physical_same(a->connector, b->connector) ||
                   !physical_same(a->connector, fibre->connector)
               ? PHYSICAL_CONNECTOR
           : !lane                                                          ? PHYSICAL_LANE_SPEED
           : fibre->lanes && !a->grid && lanes * fibre->legs > fibre->lanes ? PHYSICAL_FIBRE_LANES
                                                                            : PHYSICAL_OK;
}

/* Agreement and reach are told apart: each needs another part to mend it. */
static void judge_pair(struct physical *physical, const struct joint *joint)
{
    const struct lay *lay = &physical->lays[joint->lay];
    const struct myr_part *a = lay->module[0], *b = lay->module[1], *fibre = lay->cable;
    enum physical_rule rule = pair_rule(lay);
    if (rule != PHYSICAL_OK) {
        physical_report(
            physical, rule, lay->where, joint->links,
            "%s (%s %u nm %s, lanes of %u Gb/s) to %s (%s %u nm %s, lanes of %u Gb/s) "
            "over %s (%s %s, %u pairs, %u legs) at %u Gb/s",
            a->order, medium_names[a->optic.medium], a->optic.wavelength_nm, a->optic.connector,
            a->optic.lane_gbps, b->order, medium_names[b->optic.medium], b->optic.wavelength_nm,
            b->optic.connector, b->optic.lane_gbps, fibre->order, medium_names[fibre->cable.medium],
            fibre->cable.connector, fibre->cable.lanes, fibre->cable.legs, lay->type->gbps);
    }
    double reach = a->optic.reach_m < b->optic.reach_m ? a->optic.reach_m : b->optic.reach_m;
    /* Half a millimetre for the rounding of metres that are no binary fractions. */
    if (lay->type->length_mm > reach * 1000 + 0.5) {
        physical_report(physical, PHYSICAL_REACH, lay->where, joint->links,
                        "%s and %s reach %g m, the cable is %g m long", a->order, b->order, reach,
                        lay->type->length_mm / 1000.0);
    }
}

/*
 * One end of a cable with fixed ends: the head is side A of the part. A leg has its share of the
 * lanes of the head.
 */
static void judge_end(struct physical *physical, const struct joint *joint, uint32_t end)
{
    const struct lay *lay = &physical->lays[joint->lay];
    const struct socket *socket = &physical->sockets[joint->socket[end]];
    const struct myr_part_cable *cable = &lay->cable->cable;
    if (!socket->box) {
        return;
    }
    /* Without legs the upper end (b) counts as the head: it is side A of the part. */
    bool head = cable->legs > 1 ? (lay->type->head_b != 0) == (end == 1) : end == 1;
    const char *form = head || !cable->form_b ? cable->connector : cable->form_b;
    const char *top = head || !cable->top_b ? cable->top : cable->top_b;
    uint32_t lanes = head ? cable->lanes : cable->lanes / cable->legs;
    bool own = physical_same(socket->form, form);
    /* A leg may have fewer lanes than its cage: 200G legs on two of four lanes. */
    bool lanes_ok =
        !socket->lanes || !lanes || (head && own ? lanes == socket->lanes : lanes <= socket->lanes);
    enum physical_rule rule = !form_fits(socket, form)       ? PHYSICAL_END_FORM
                              : !top_fits(socket, form, top) ? PHYSICAL_END_TOP
                              : !lanes_ok || !lane_speed_fits(socket, cable->lane_gbps)
                                  ? PHYSICAL_END_LANES
                                  : PHYSICAL_OK;
    if (rule != PHYSICAL_OK) {
        physical_report(physical, rule, lay->where, joint->links,
                        "%s ends in %s%s with %u lanes of %u Gb/s, the cage of %s is %s%s with "
                        "%u lanes of %u Gb/s",
                        lay->cable->order, form, top_word(top), lanes, cable->lane_gbps,
                        socket->box->id, socket->form ? socket->form : "", top_word(socket->top),
                        socket->lanes, socket->lane_gbps);
    }
}

/*
 * Boxes first: if they differ, no module or cable could be right, and saying so would only add
 * noise.
 */
static void judge_technology(struct physical *physical, const struct joint *joint)
{
    const struct lay *lay = &physical->lays[joint->lay];
    const struct socket *a = &physical->sockets[joint->socket[0]];
    const struct socket *b = &physical->sockets[joint->socket[1]];
    if (a->technology != MYR_TECH_ANY && b->technology != MYR_TECH_ANY &&
        a->technology != b->technology) {
        physical_report(physical, PHYSICAL_TECHNOLOGY, lay->where, joint->links,
                        "%s speaks %s, %s speaks %s", a->box->id, technology_names[a->technology],
                        b->box->id, technology_names[b->technology]);
        return;
    }
    /* The switch at b decides where both are known: they are the same then. */
    uint32_t spoken = b->technology != MYR_TECH_ANY ? b->technology : a->technology;
    for (uint32_t end = 0; end < 3; end++) {
        const struct myr_part *part = end < 2 ? lay->module[end] : lay->cable;
        uint32_t speaks = !part     ? MYR_TECH_ANY
                          : end < 2 ? part->optic.technology
                                    : part->cable.technology;
        if (spoken != MYR_TECH_ANY && speaks != MYR_TECH_ANY && speaks != spoken) {
            physical_report(physical,
                            end < 2 ? PHYSICAL_MODULE_TECHNOLOGY : PHYSICAL_CABLE_TECHNOLOGY,
                            lay->where, joint->links, "%s speaks %s only, the link is %s",
                            part->order, technology_names[speaks], technology_names[spoken]);
        }
    }
}

static void judge_speed(struct physical *physical, const struct joint *joint)
{
    const struct lay *lay = &physical->lays[joint->lay];
    for (uint32_t end = 0; end < 2; end++) {
        const struct socket *socket = &physical->sockets[joint->socket[end]];
        if (socket->group->gbps != lay->type->gbps) {
            physical_report(physical, PHYSICAL_LINK_SPEED, lay->where, joint->links,
                            "a link of %u Gb/s on ports of %u Gb/s", lay->type->gbps,
                            socket->group->gbps);
        }
    }
}

/* Length and legs of every cable; ends, or the modules at both ends, by its kind. */
static void judge_cable(struct physical *physical, const struct joint *joint)
{
    const struct lay *lay = &physical->lays[joint->lay];
    const struct myr_part_cable *cable = &lay->cable->cable;
    if (lay->type->length_mm > cable->length_m * 1000 + 0.5) {
        physical_report(physical, PHYSICAL_LENGTH, lay->where, joint->links,
                        "the run is %g m, %s is %g m long", lay->type->length_mm / 1000.0,
                        lay->cable->order, cable->length_m);
    }
    if (cable->legs > 1 && lay->type->legs != cable->legs) {
        physical_report(physical, PHYSICAL_LEGS, lay->where, joint->links,
                        "%s has %u legs, the design lays it with %u", lay->cable->order,
                        cable->legs, lay->type->legs);
    }
    bool missing = !lay->module[0] || !lay->module[1];
    if (cable->fixed_ends) {
        if (lay->module[0] || lay->module[1]) {
            physical_report(physical, PHYSICAL_MODULE_SURPLUS, lay->where, joint->links,
                            "%s has fixed ends, a module is planned besides", lay->cable->order);
        }
        judge_end(physical, joint, 0);
        judge_end(physical, joint, 1);
        /* What a fixed end carries when all its links are in use. */
        uint64_t carried = (uint64_t)lay->type->gbps * lay->type->legs;
        if (cable->gbps && carried > cable->gbps) {
            physical_report(physical, PHYSICAL_CABLE_SPEED, lay->where, joint->links,
                            "%llu Gb/s on %s, which carries %u Gb/s", (unsigned long long)carried,
                            lay->cable->order, cable->gbps);
        }
    } else if (missing) {
        physical_report(physical, PHYSICAL_NO_MODULE, lay->where, joint->links,
                        "%s is fibre, and there is no module at %s end", lay->cable->order,
                        lay->module[0]   ? "the upper"
                        : lay->module[1] ? "the lower"
                                         : "either");
    } else {
        judge_pair(physical, joint);
    }
}

/* Technology and speed belong to the boxes, so they are judged also where no cable is chosen. */
void physical_judge(struct physical *physical, const struct joint *joint)
{
    const struct lay *lay = &physical->lays[joint->lay];
    judge_technology(physical, joint);
    judge_speed(physical, joint);
    if (lay->type->part == 0) {
        physical_report(physical, PHYSICAL_NO_CABLE, lay->where, joint->links,
                        "no cable is chosen for links of %u Gb/s", lay->type->gbps);
        return;
    }
    if (!lay->cable) {
        return; /* not in the catalogue, which was said */
    }
    judge_cable(physical, joint);
    if (!lay->cable->cable.fixed_ends) {
        judge_module(physical, joint, 0);
        judge_module(physical, joint, 1);
    }
}
