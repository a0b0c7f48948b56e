#include "fits.h"

/*
 * Every question goes through the same few comparisons: form, top, technology, speed, connectors,
 * lanes. Tops, lanes and their speeds that the catalogue leaves open do not stand in the way.
 * src/physical asks the same once more in code of its own.
 */

const char *const fit_rule_names[FIT_RULE_COUNT] = {
    [FIT_OK] = "ok",
    [FIT_OPTIC_FORM] = "optic-form",
    [FIT_OPTIC_TOP] = "optic-top",
    [FIT_OPTIC_HOST] = "optic-host",
    [FIT_OPTIC_TECHNOLOGY] = "optic-technology",
    [FIT_OPTIC_LANES] = "optic-lanes",
    [FIT_OPTIC_LANE_SPEED] = "optic-lane-speed",
    [FIT_OPTIC_SPEED] = "optic-speed",
    [FIT_OPTIC_CONNECTORS] = "optic-connectors",
    [FIT_OPTIC_MODE] = "optic-mode",
    [FIT_OPTIC_REACH] = "optic-reach",
    [FIT_CABLE_LEGS] = "cable-legs",
    [FIT_CABLE_SHORT] = "cable-short",
    [FIT_CABLE_FORM] = "cable-form",
    [FIT_CABLE_SPEED] = "cable-speed",
    [FIT_CABLE_TOP] = "cable-top",
    [FIT_CABLE_TECHNOLOGY] = "cable-technology",
    [FIT_CABLE_LANES] = "cable-lanes",
    [FIT_CABLE_CAGE] = "cable-cage",
};

bool fits_text(const char *a, const char *b)
{
    return a && b && myr_str_eq_nocase(myr_str_from(a), myr_str_from(b));
}

/* Whether a list of words has this one, or (beginning) one that it begins with. */
static bool listed(const char *words, const char *word, bool beginning)
{
    for (const char *at = words; at && *at;) {
        struct myr_str one = {at, strcspn(at, " ")};
        struct myr_str whole = myr_str_from(word);
        whole.len = beginning && whole.len > one.len ? one.len : whole.len;
        if (one.len > 0 && myr_str_eq_nocase(one, whole)) {
            return true;
        }
        at += one.len + strspn(at + one.len, " ");
    }
    return false;
}

/* 'fits' lists the beginnings of the names of hosts; without a list any card will do. */
bool fits_host(const struct myr_part *part, const char *id)
{
    return !part->optic.fits || listed(part->optic.fits, id, true);
}

/* 'own' is the speed as it comes, 'also' are lower ones. */
static bool has_speed(uint32_t own, const struct myr_speeds *also, uint32_t gbps)
{
    bool has = own == gbps;
    for (uint32_t i = 0; i < also->count; i++) {
        has = has || also->items[i] == gbps;
    }
    return has;
}

bool fits_speed(const struct myr_part_nic *nic, uint32_t gbps)
{
    return has_speed(nic->port_gbps, &nic->also, gbps);
}

/* What speaks both fits either. */
bool fits_technology(uint32_t a, uint32_t b)
{
    return a == MYR_TECH_ANY || b == MYR_TECH_ANY || a == b;
}

/* 0 when the switch has no ports of that speed. */
uint32_t fits_straight_ports(const struct myr_part_switch *sw, uint32_t gbps)
{
    uint32_t ports = myr_switch_ports_per_cage(sw, gbps);
    bool divided = sw->breakout == MYR_BREAKOUT_SPLITTER && gbps < sw->port_gbps;
    return ports && divided ? sw->cage_gbps / sw->port_gbps : ports;
}

uint32_t fits_straight_radix(const struct myr_part_switch *sw, uint32_t gbps)
{
    uint32_t ports = sw->cages * fits_straight_ports(sw, gbps);
    return sw->ports_max && ports > sw->ports_max ? sw->ports_max : ports;
}

/* Whether a plug of this form goes into the cage; 'ret_same': it is the cage's own form. */
static bool takes_form(const struct fit_socket *socket, const char *form, bool *ret_same)
{
    *ret_same = fits_text(form, socket->form);
    return *ret_same || (form && listed(socket->takes, form, false));
}

/* What the catalogue does not state, 0 or NULL, fits; so do lanes and tops below. */
static bool lane_speed_fits(const struct fit_socket *socket, uint32_t lane_gbps)
{
    static const struct myr_speeds none = {};
    return !socket->lane_gbps || !lane_gbps ||
           has_speed(socket->lane_gbps, socket->lane_also ? socket->lane_also : &none, lane_gbps);
}

/* A plug of the cage's own form has as many lanes as it, an older one may have fewer. */
static bool lanes_fit(const struct fit_socket *socket, uint32_t lanes, bool exact)
{
    return !socket->lanes || !lanes || (exact ? lanes == socket->lanes : lanes <= socket->lanes);
}

static bool top_fits(const struct fit_socket *socket, const char *top)
{
    return !socket->top || !top || fits_text(socket->top, top);
}

struct fit_socket fits_socket(const struct myr_part *part, uint32_t ports, uint32_t legs)
{
    const struct myr_part_switch *sw = &part->sw;
    const struct myr_part_nic *nic = &part->nic;
    bool is_nic = part->kind == MYR_PART_NIC;
    return (struct fit_socket){
        .id = part->id,
        .form = is_nic ? nic->form : sw->form,
        .takes = is_nic ? nic->takes : sw->takes,
        .top = is_nic ? nic->top : sw->top,
        .technology = is_nic ? nic->technology : sw->technology,
        .cage_gbps = is_nic ? nic->port_gbps * nic->cage_ports : sw->cage_gbps,
        .lanes = is_nic ? nic->lanes : sw->lanes,
        .lane_gbps = is_nic ? nic->lane_gbps : sw->lane_gbps,
        .lane_also = is_nic ? &nic->lane_also : &sw->lane_also,
        .ports = ports,
        .legs = legs,
        .nic = is_nic,
    };
}

/* In a cage; where its sender has another speed than its light, that one counts. */
static uint32_t lane_of(const struct myr_part_transceiver *optic)
{
    return optic->cage_lane_gbps ? optic->cage_lane_gbps : optic->lane_gbps;
}

bool fits_cage(const struct myr_part *part, const struct fit_socket *socket)
{
    bool same;
    return takes_form(socket, part->optic.form, &same) && top_fits(socket, part->optic.top) &&
           lane_speed_fits(socket, lane_of(&part->optic));
}

/* The first rule that is broken; later ones may be broken as well. */
enum fit_rule fits_module(const struct myr_part *part, const struct fit_socket *socket,
                          uint32_t gbps)
{
    const struct myr_part_transceiver *optic = &part->optic;
    bool same;
    if (!takes_form(socket, optic->form, &same)) {
        return FIT_OPTIC_FORM;
    }
    if (!top_fits(socket, optic->top)) {
        return FIT_OPTIC_TOP;
    }
    if (!fits_technology(optic->technology, socket->technology)) {
        return FIT_OPTIC_TECHNOLOGY;
    }
    if (socket->nic && !fits_host(part, socket->id)) {
        return FIT_OPTIC_HOST;
    }
    /* One connector carries the links of all legs behind it. */
    if (!has_speed(optic->port_gbps, &optic->also, gbps * socket->legs)) {
        return FIT_OPTIC_SPEED;
    }
    /* Neither more nor fewer connectors than the cables of a full cage. */
    if (optic->connectors * socket->legs != socket->ports) {
        return FIT_OPTIC_CONNECTORS;
    }
    bool known = socket->lanes && optic->lanes;
    /*
     * Where lanes are not known on both sides the speed of the cage stands for them. A card's cage
     * may hold a module for less than it could do.
     */
    bool filled = known || socket->nic || optic->cage_gbps == socket->cage_gbps;
    if (!lane_speed_fits(socket, lane_of(optic))) {
        return FIT_OPTIC_LANE_SPEED;
    }
    return filled && lanes_fit(socket, optic->lanes, same) ? FIT_OK : FIT_OPTIC_LANES;
}

/* Wavelength, lanes of light, grid and connector are one question. */
bool fits_light(const struct myr_part *part_a, const struct myr_part *part_b)
{
    const struct myr_part_transceiver *a = &part_a->optic, *b = &part_b->optic;
    bool lanes = !a->lane_gbps || !b->lane_gbps || a->lane_gbps == b->lane_gbps;
    bool grid = a->grid ? fits_text(a->grid, b->grid) : !b->grid;
    return a->medium == b->medium && a->wavelength_nm == b->wavelength_nm && lanes && grid &&
           fits_text(a->connector, b->connector);
}

/* Whether the two can speak over the length. */
enum fit_rule fits_modules(const struct myr_part *a, const struct myr_part *b, double length_m)
{
    return !fits_light(a, b)                                            ? FIT_OPTIC_MODE
           : a->optic.reach_m < length_m || b->optic.reach_m < length_m ? FIT_OPTIC_REACH
                                                                        : FIT_OK;
}

bool fits_end(const struct myr_part *fibre, const struct myr_part *module)
{
    return fibre->cable.medium == module->optic.medium &&
           fits_text(fibre->cable.connector, module->optic.connector);
}

/*
 * Fibre pairs that one connector of a module lights; several colours share one. One where the speed
 * of a lane is not stated.
 */
static uint32_t pairs_of(const struct myr_part_transceiver *optic)
{
    return optic->grid || !optic->lane_gbps ? 1 : optic->port_gbps / optic->lane_gbps;
}

/* Both modules fit each other already; here it is what lies between. */
enum fit_rule fits_fibre(const struct myr_part *part, const struct myr_part *a,
                         const struct myr_part *b, const struct fit_link *link)
{
    const struct myr_part_cable *cable = &part->cable;
    if (cable->fixed_ends) {
        return FIT_CABLE_FORM;
    }
    if (!fits_technology(cable->technology, link->b.technology)) {
        return FIT_CABLE_TECHNOLOGY;
    }
    /* A leg of a splitter takes its share of what the connector at its head lights. */
    bool too_few = cable->lanes && (cable->lanes < pairs_of(&a->optic) / link->b.legs ||
                                    cable->lanes < pairs_of(&b->optic));
    if (too_few || !fits_end(part, a) || !fits_end(part, b)) {
        return FIT_OPTIC_MODE;
    }
    if (cable->legs != link->b.legs) {
        return FIT_CABLE_LEGS;
    }
    return cable->length_m < link->length_m ? FIT_CABLE_SHORT : FIT_OK;
}

/*
 * By legs where it has some; else by speed, as a straight 800G cable between twin ports has two
 * links of 400G.
 */
uint32_t fits_fixed_links(const struct myr_part_cable *cable, uint32_t gbps)
{
    return cable->legs > 1 ? cable->legs : cable->gbps > gbps && gbps > 0 ? cable->gbps / gbps : 1;
}

/* Both ends go into their cages: form, top, lanes. */
static enum fit_rule ends_fit(const struct myr_part_cable *cable, const struct fit_link *link)
{
    /* Side A of the part is its undivided end: the switch. */
    const char *far = cable->form_b ? cable->form_b : cable->connector;
    const char *far_top = cable->top_b ? cable->top_b : cable->top;
    bool same_a, same_b;
    if (!cable->fixed_ends || !takes_form(&link->b, cable->connector, &same_b) ||
        !takes_form(&link->a, far, &same_a)) {
        return FIT_CABLE_FORM;
    }
    if (!top_fits(&link->b, cable->top) || !top_fits(&link->a, far_top)) {
        return FIT_CABLE_TOP;
    }
    if (!fits_technology(cable->technology, link->b.technology)) {
        return FIT_CABLE_TECHNOLOGY;
    }
    /* A leg may have fewer lanes than its cage. */
    bool straight = cable->legs == 1;
    return lanes_fit(&link->b, cable->lanes, same_b) &&
                   lanes_fit(&link->a, cable->lanes / cable->legs, same_a && straight) &&
                   lane_speed_fits(&link->a, cable->lane_gbps) &&
                   lane_speed_fits(&link->b, cable->lane_gbps)
               ? FIT_OK
               : FIT_CABLE_LANES;
}

/* Ends first: a cable of another form needs no further word. */
enum fit_rule fits_fixed(const struct myr_part *part, const struct fit_link *link)
{
    const struct myr_part_cable *cable = &part->cable;
    enum fit_rule ends = ends_fit(cable, link);
    if (ends != FIT_OK) {
        return ends;
    }
    uint32_t links = fits_fixed_links(cable, link->gbps);
    if (cable->gbps && cable->gbps != link->gbps * links) {
        return FIT_CABLE_SPEED;
    }
    /* The head fills its cage, so it must carry all links of it; each leg goes to a cage alone. */
    if (cable->legs > 1 && (!link->a.nic || link->a.ports != 1 || cable->legs != link->b.ports)) {
        return FIT_CABLE_LEGS;
    }
    if (cable->legs == 1 &&
        (link->a.ports != links || link->b.ports != links || link->bundle % links)) {
        return FIT_CABLE_CAGE;
    }
    return cable->length_m < link->length_m ? FIT_CABLE_SHORT : FIT_OK;
}
