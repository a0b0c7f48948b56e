#include "parts/choose.h"

#include <stdarg.h>
#include <stdio.h>

/*
 * Optics and cables by what fits what (fits.c). For each layer: copper if one is long enough, else
 * multimode, else single mode, else an active cable with fixed ends; the first transceivers of the
 * catalogue that fit both cages and each other; the shortest stock length that reaches. What is
 * pinned limits the choice; pins that allow none are taken as they are, and each rule that they
 * break is a finding.
 */

static const char *const medium_names[] = {"copper", "multimode", "single-mode"};

/* A pin allows itself alone; without one anything may be taken. */
static bool allowed(uint32_t pin, uint32_t part)
{
    return pin == MYR_PART_NONE || pin == part;
}

/* The shortest fibre that fits between two modules; MYR_PART_NONE when there is none. */
static uint32_t find_fibre(const struct plan *plan, const struct link_need *need,
                           const struct myr_part *a, const struct myr_part *b)
{
    uint32_t best = MYR_PART_NONE;
    for (uint32_t i = 0; i < plan->catalog->parts.count; i++) {
        const struct myr_part *part = part_at(plan, i);
        if (part->kind == MYR_PART_CABLE && allowed(need->pins.cable, i) &&
            fits_fibre(part, a, b, &need->link) == FIT_OK &&
            (best == MYR_PART_NONE || part->cable.length_m < part_at(plan, best)->cable.length_m)) {
            best = i;
        }
    }
    return best;
}

uint32_t plan_choose_fixed(const struct plan *plan, const struct link_need *need)
{
    uint32_t best = MYR_PART_NONE;
    /* A module at either end, pinned or of other hosts, leaves no room for a cable's own ends. */
    if (need->no_fixed || need->pins.optic_a != MYR_PART_NONE ||
        need->pins.optic_b != MYR_PART_NONE) {
        return best;
    }
    for (uint32_t i = 0; i < plan->catalog->parts.count; i++) {
        const struct myr_part *part = part_at(plan, i);
        if (part->kind != MYR_PART_CABLE || !part->cable.fixed_ends ||
            !allowed(need->pins.cable, i) || fits_fixed(part, &need->link) != FIT_OK) {
            continue;
        }
        /* A shorter cable first; of equal length the plainer medium, which is listed first in its
         * enum. */
        const struct myr_part *old = best == MYR_PART_NONE ? NULL : part_at(plan, best);
        if (!old || part->cable.length_m < old->cable.length_m ||
            (part->cable.length_m == old->cable.length_m &&
             part->cable.medium < old->cable.medium)) {
            best = i;
        }
    }
    return best;
}

/* Whether a module of this medium may be at one end. */
static bool may_be_at(const struct plan *plan, const struct link_need *need, uint32_t part,
                      enum myr_medium medium, bool side_b)
{
    const struct myr_part *optic = part_at(plan, part);
    return optic->kind == MYR_PART_TRANSCEIVER && optic->optic.medium == medium &&
           optic->optic.reach_m >= need->link.length_m &&
           allowed(side_b ? need->pins.optic_b : need->pins.optic_a, part) &&
           /* Hosts that share a switch's cages share the module in them. */
           (!side_b || allowed(need->same_b, part)) &&
           fits_module(optic, side_b ? &need->link.b : &need->link.a, need->link.gbps) == FIT_OK;
}

/* The first pair of modules of this medium, with a fibre between them. */
static bool choose_optical(const struct plan *plan, const struct link_need *need,
                           enum myr_medium medium, struct fit_parts *ret)
{
    /* The upper end first: 'same_b' may leave it no choice. */
    for (uint32_t b = 0; b < plan->catalog->parts.count; b++) {
        if (!may_be_at(plan, need, b, medium, true)) {
            continue;
        }
        const struct myr_part *optic_b = part_at(plan, b);
        for (uint32_t a = 0; a < plan->catalog->parts.count; a++) {
            /* The first pair of the catalogue wins: its order is the order of preference. */
            if (!may_be_at(plan, need, a, medium, false) ||
                fits_modules(part_at(plan, a), optic_b, need->link.length_m) != FIT_OK) {
                continue;
            }
            uint32_t cable = find_fibre(plan, need, part_at(plan, a), optic_b);
            if (cable != MYR_PART_NONE) {
                *ret = (struct fit_parts){a, b, cable};
                return true;
            }
        }
    }
    return false;
}

/* Copper wins even where fibre would do: it needs no modules. An active cable comes last. */
static bool choose(const struct plan *plan, const struct link_need *need, struct fit_parts *ret)
{
    uint32_t fixed = plan_choose_fixed(plan, need);
    bool copper = fixed != MYR_PART_NONE && part_at(plan, fixed)->cable.medium == MYR_MEDIUM_COPPER;
    if (fixed != MYR_PART_NONE && (copper || need->fixed_only)) {
        *ret = (struct fit_parts){MYR_PART_NONE, MYR_PART_NONE, fixed};
        return true;
    }
    /* Multimode modules cost and draw less than single-mode ones. */
    if (choose_optical(plan, need, MYR_MEDIUM_MULTI, ret) ||
        choose_optical(plan, need, MYR_MEDIUM_SINGLE, ret)) {
        return true;
    }
    if (fixed != MYR_PART_NONE) {
        *ret = (struct fit_parts){MYR_PART_NONE, MYR_PART_NONE, fixed};
        return true;
    }
    return false;
}

/* A finding with the rule's own name and remedy. */
MYR_PRINTF(4, 5)
static void broken(struct plan *plan, const char *where, enum fit_rule rule, const char *fmt, ...)
{
    /* A remedy for every rule: a finding must say what to do about it. */
    static const char *const remedies[FIT_RULE_COUNT] = {
        [FIT_OPTIC_FORM] = "take a module of the cage's form",
        [FIT_OPTIC_TOP] = "take finned modules in air-cooled switches, flat ones in cards",
        [FIT_OPTIC_HOST] = "take a module that is specified for this NIC",
        [FIT_OPTIC_LANES] = "take a module whose lanes the cage has",
        [FIT_OPTIC_SPEED] = "take a module of that speed",
        [FIT_OPTIC_CONNECTORS] = "take a module with a connector for each cable",
        [FIT_OPTIC_MODE] = "use one mode, wavelength and connector at both ends and in the fibre",
        [FIT_OPTIC_REACH] = "take modules with a longer reach",
        [FIT_CABLE_LEGS] = "take a cable with that many",
        [FIT_CABLE_SHORT] = "take a longer cable or give the true length_m",
        [FIT_CABLE_FORM] = "take a cable whose ends go into these cages, or fibre with modules",
        [FIT_CABLE_SPEED] = "take a cable of that speed",
        [FIT_OPTIC_TECHNOLOGY] = "take a module that is made for what the box speaks",
        [FIT_OPTIC_LANE_SPEED] = "take a module whose lanes the cage has",
        [FIT_CABLE_TOP] = "take finned ends in air-cooled switches, flat ones in cards",
        [FIT_CABLE_TECHNOLOGY] = "take a cable that is made for what the boxes speak",
        [FIT_CABLE_LANES] = "take a cable whose lanes the cages have",
        [FIT_CABLE_CAGE] =
            "take one cable for each link, with modules that have a connector for it",
    };
    char message[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof(message), fmt, args);
    va_end(args);
    plan_finding(plan, MYR_SEVERITY_ERROR, fit_rule_names[rule], where, remedies[rule], "%s",
                 message);
}

/* Names the first rule that a pinned module breaks in this cage; nothing where it fits. */
static void check_module(struct plan *plan, const char *where, const struct myr_part *part,
                         const struct fit_socket *socket, uint32_t gbps)
{
    const struct myr_part_transceiver *optic = &part->optic;
    enum fit_rule rule = fits_module(part, socket, gbps);
    switch (rule) {
    case FIT_OPTIC_FORM:
        broken(plan, where, rule, "%s is %s, the cage of %s is %s", part->order, optic->form,
               socket->id, socket->form);
        break;
    case FIT_OPTIC_TOP:
        broken(plan, where, rule, "%s has a %s top, the cage of %s takes a %s one", part->order,
               optic->top, socket->id, socket->top);
        break;
    case FIT_OPTIC_HOST:
        broken(plan, where, rule, "%s is specified for %s, not for %s", part->order, optic->fits,
               socket->id);
        break;
    case FIT_OPTIC_LANES:
    case FIT_OPTIC_LANE_SPEED:
        broken(plan, where, rule,
               "%s has lanes of %u Gb/s, %u together; a cage of %s has %u of %u Gb/s", part->order,
               optic->lane_gbps, optic->cage_gbps, socket->id, socket->lanes, socket->lane_gbps);
        break;
    case FIT_OPTIC_SPEED:
        broken(plan, where, rule, "%s carries %u Gb/s through a connector, %u are needed",
               part->order, optic->port_gbps, gbps * socket->legs);
        break;
    case FIT_OPTIC_CONNECTORS:
        broken(plan, where, rule, "%s has %u connector%s, %u cables leave a cage of %s",
               part->order, optic->connectors, optic->connectors == 1 ? "" : "s",
               ceil_div(socket->ports, socket->legs), socket->id);
        break;
    case FIT_OPTIC_TECHNOLOGY:
        broken(plan, where, rule, "%s is not made for what %s speaks", part->order, socket->id);
        break;
    default:
        break;
    }
}

/* The same rules for a cable with fixed ends. */
static void check_fixed(struct plan *plan, const char *where, const struct myr_part *cable,
                        const struct fit_link *link)
{
    enum fit_rule rule = fits_fixed(cable, link);
    uint32_t links = fits_fixed_links(&cable->cable, link->gbps);
    switch (rule) {
    case FIT_CABLE_FORM:
        broken(plan, where, rule, "the ends of %s are %s and %s, the cages are %s (%s) and %s (%s)",
               cable->order, cable->cable.connector,
               cable->cable.form_b ? cable->cable.form_b : cable->cable.connector, link->b.form,
               link->b.id, link->a.form, link->a.id);
        break;
    case FIT_CABLE_SPEED:
        broken(plan, where, rule, "%s carries %u Gb/s, %u x %u are needed", cable->order,
               cable->cable.gbps, links, link->gbps);
        break;
    case FIT_CABLE_LEGS:
        broken(plan, where, rule, "%s has %u legs, the %u links of a cage of %s are needed",
               cable->order, cable->cable.legs, link->b.ports, link->b.id);
        break;
    case FIT_CABLE_CAGE:
        broken(plan, where, rule,
               "%s fills a cage at both ends and carries %u link%s; a cage of %s has %u, one of "
               "%s has %u, and %u run side by side",
               cable->order, links, links == 1 ? "" : "s", link->a.id, link->a.ports, link->b.id,
               link->b.ports, link->bundle);
        break;
    case FIT_CABLE_SHORT:
        broken(plan, where, rule, "%s is %g m long, %g m are needed", cable->order,
               cable->cable.length_m, link->length_m);
        break;
    case FIT_CABLE_TOP:
    case FIT_CABLE_LANES:
    case FIT_CABLE_TECHNOLOGY:
        broken(plan, where, rule, "the ends of %s do not go into the cages of %s and %s",
               cable->order, link->b.id, link->a.id);
        break;
    default:
        break;
    }
}

/* What the light itself does not tell: it is the same in both modules and the fibre. */
static const char *beyond_light(const struct plan *plan, const struct myr_part *b,
                                const struct myr_part *a, const struct myr_part_cable *fibre)
{
    /* A part need not state a connector. */
    const char *const ends[] = {b->optic.connector ? b->optic.connector : "none",
                                a->optic.connector ? a->optic.connector : "none",
                                fibre->connector ? fibre->connector : "none"};
    /* Then the message has shown it already. */
    if (a->optic.medium != b->optic.medium || fibre->medium != a->optic.medium ||
        a->optic.wavelength_nm != b->optic.wavelength_nm) {
        return "";
    }
    return strcmp(ends[0], ends[1]) != 0 || strcmp(ends[0], ends[2]) != 0
               ? myr_arena_printf(plan->arena, ": connectors %s, %s and %s", ends[0], ends[1],
                                  ends[2])
               : ": lanes differ";
}

/* All that is wrong between two modules and the fibre. */
static void check_fibre(struct plan *plan, const char *where, const struct fit_link *link,
                        const struct fit_parts *parts)
{
    const struct myr_part *a = part_at(plan, parts->optic_a), *b = part_at(plan, parts->optic_b);
    const struct myr_part *cable = part_at(plan, parts->cable);
    /* Both are asked: a pair of modules may link over no fibre, or this fibre take neither. */
    enum fit_rule pair = fits_modules(a, b, link->length_m);
    enum fit_rule fibre = fits_fibre(cable, a, b, link);
    if (pair == FIT_OPTIC_MODE || fibre == FIT_OPTIC_MODE) {
        broken(plan, where, FIT_OPTIC_MODE,
               "%s (%s, %u nm) cannot link with %s (%s, %u nm) over %s (%s)%s", b->order,
               medium_names[b->optic.medium], b->optic.wavelength_nm, a->order,
               medium_names[a->optic.medium], a->optic.wavelength_nm, cable->order,
               medium_names[cable->cable.medium], beyond_light(plan, b, a, &cable->cable));
    }
    if (fibre == FIT_CABLE_TECHNOLOGY) {
        broken(plan, where, fibre, "%s is not made for what %s speaks", cable->order, link->b.id);
    }
    /* Without modules nothing below applies. */
    if (fibre == FIT_CABLE_FORM) {
        broken(plan, where, fibre, "%s has ends of its own and takes no modules", cable->order);
        return;
    }
    /* Legs, length and reach are told apart: a fibre may be wrong in all of them. */
    if (cable->cable.legs != link->b.legs) {
        broken(plan, where, FIT_CABLE_LEGS, "%s has %u legs, %u are needed", cable->order,
               cable->cable.legs, link->b.legs);
    }
    if (cable->cable.length_m < link->length_m) {
        broken(plan, where, FIT_CABLE_SHORT, "%s is %g m long, %g m are needed", cable->order,
               cable->cable.length_m, link->length_m);
    }
    /* The weaker of the two modules decides how far both reach. */
    double reach = a->optic.reach_m < b->optic.reach_m ? a->optic.reach_m : b->optic.reach_m;
    if (reach < link->length_m) {
        broken(plan, where, FIT_OPTIC_REACH, "the modules reach %g m, %g m are needed", reach,
               link->length_m);
    }
}

/* All rules that the parts break, those of the pins and of what was chosen beside them. */
static void check_pinned(struct plan *plan, const char *where, const struct link_need *need,
                         const struct fit_parts *parts)
{
    const struct fit_link *link = &need->link;
    /* Both modules, one, or none: what the cable must be follows from that. */
    if (parts->optic_a != MYR_PART_NONE) {
        check_module(plan, where, part_at(plan, parts->optic_a), &link->a, link->gbps);
    }
    if (parts->optic_b != MYR_PART_NONE) {
        check_module(plan, where, part_at(plan, parts->optic_b), &link->b, link->gbps);
    }
    if (parts->optic_a != MYR_PART_NONE && parts->optic_b != MYR_PART_NONE) {
        check_fibre(plan, where, link, parts);
    } else if (part_at(plan, parts->cable)->cable.fixed_ends) {
        /* One pinned module and a cable that has its own ends: the form is told, and the cable's
         * own rules. */
        if (parts->optic_a != MYR_PART_NONE || parts->optic_b != MYR_PART_NONE) {
            broken(plan, where, FIT_CABLE_FORM, "%s has ends of its own and takes no modules",
                   part_at(plan, parts->cable)->order);
        }
        check_fixed(plan, where, part_at(plan, parts->cable), link);
    } else {
        broken(plan, where, FIT_OPTIC_MODE, "%s needs a module at both ends",
               part_at(plan, parts->cable)->order);
    }
}

/* The links stay without parts: they are in the design, not in the bill. */
static void no_optics(struct plan *plan, const char *where, const struct fit_link *link)
{
    plan_finding(plan, MYR_SEVERITY_ERROR, "no-optics", where,
                 "add fitting parts to the catalogue, or pin them",
                 "nothing in the catalogue joins %s (%s) to %s (%s) at %u Gb/s over %g m",
                 link->a.id, link->a.form, link->b.id, link->b.form, link->gbps, link->length_m);
}

/* Whether the spec names any part of this link. */
static bool any_pinned(const struct fit_parts *pins)
{
    return pins->optic_a != MYR_PART_NONE || pins->optic_b != MYR_PART_NONE ||
           pins->cable != MYR_PART_NONE;
}

/* Pins that leave no choice that fits: taken as they are, beside what would be chosen without. */
static void take_pins(struct plan *plan, const char *where, const struct link_need *need,
                      struct fit_parts *ret)
{
    /* The same link without any pin. */
    struct link_need freely = *need;
    freely.pins = (struct fit_parts){MYR_PART_NONE, MYR_PART_NONE, MYR_PART_NONE};
    bool pins_optics = need->pins.optic_a != MYR_PART_NONE || need->pins.optic_b != MYR_PART_NONE;
    bool fixed_pin =
        need->pins.cable != MYR_PART_NONE && part_at(plan, need->pins.cable)->cable.fixed_ends;
    /* A pinned module or a pinned cable decides whether there are modules at all. */
    freely.no_fixed = pins_optics;
    /* Parts beside the pins come from a free choice, so that the bill has something for every end.
     */
    if (!choose(plan, &freely, ret)) {
        *ret = (struct fit_parts){MYR_PART_NONE, MYR_PART_NONE, MYR_PART_NONE};
    }
    /* A cable with its own ends leaves no place for modules. */
    if (fixed_pin) {
        ret->optic_a = ret->optic_b = MYR_PART_NONE;
    }
    /* Pins last, over whatever was chosen. */
    const uint32_t pins[] = {need->pins.optic_a, need->pins.optic_b, need->pins.cable};
    uint32_t *chosen[] = {&ret->optic_a, &ret->optic_b, &ret->cable};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(pins); i++) {
        *chosen[i] = pins[i] == MYR_PART_NONE ? *chosen[i] : pins[i];
    }
    if (ret->cable == MYR_PART_NONE) {
        no_optics(plan, where, &need->link);
    } else {
        check_pinned(plan, where, need, ret);
    }
}

/* Pins are only forced where the answer counts ('where'): a try says no instead. */
bool plan_choose_parts(struct plan *plan, const char *where, const struct link_need *need,
                       struct fit_parts *ret)
{
    if (choose(plan, need, ret)) {
        return true;
    }
    if (where && any_pinned(&need->pins)) {
        take_pins(plan, where, need, ret);
        return ret->cable != MYR_PART_NONE;
    }
    *ret = (struct fit_parts){MYR_PART_NONE, MYR_PART_NONE, MYR_PART_NONE};
    if (where) {
        no_optics(plan, where, &need->link);
    }
    return false;
}
