/*
 * How well a line serves a need. Lower is better, -1 is not at all. Grades decide who serves whom
 * when there are several ways, and only after that what is wrong is looked for: so a wrong part is
 * named as such where it was meant, and not the right one as missing.
 */
#include "audit/audit.h"

/* A line that names no network may serve any. */
static bool same_net(const struct audit_line *line, uint32_t net)
{
    return line->says.net >= MYR_NET_COUNT || line->says.net == net;
}

/*
 * Whether another line of the same network takes this module's light. Host links: a module for the
 * other end. Between switches both ends have this one, so a straight fibre of its mode is enough.
 */
static bool has_partner(const struct audit *audit, const struct audit_line *line,
                        const struct audit_need *need)
{
    const struct myr_part *module = audit_part(audit, line->part);
    for (size_t i = 0; i < audit->lines.count; i++) {
        const struct audit_line *other = &audit->lines.items[i];
        if (other->part == MYR_PART_NONE || !same_net(other, need->net)) {
            continue;
        }
        const struct myr_part *part = audit_part(audit, other->part);
        if (need->layer == MYR_LAYER_HOST && part->kind == MYR_PART_TRANSCEIVER) {
            if (other->ends[need->net] != need->end && fits_light(module, part)) {
                return true;
            }
        }
        if (need->layer != MYR_LAYER_HOST && part->kind == MYR_PART_CABLE &&
            !part->cable.fixed_ends && part->cable.legs == 1 &&
            part->cable.medium == module->optic.medium) {
            return true;
        }
    }
    return false;
}

/* The part decides which end it is for; the words of the line only where it fits both. */
static int grade_module(const struct audit *audit, const struct audit_line *line,
                        const struct audit_need *need)
{
    if (line->part == MYR_PART_NONE) {
        return AUDIT_GRADE_WRONG;
    }
    enum audit_end end = (enum audit_end)line->ends[need->net];
    if (end == AUDIT_END_ANY) {
        end = line->says.end;
    }
    if (end != AUDIT_END_ANY && end != need->end) {
        return -1;
    }
    return !has_partner(audit, line, need) ? 2 : line->part == need->part ? 0 : 1;
}

/*
 * A cable that is too short still serves, as the worst grade: the run then has a finding about its
 * length, not one about a missing cable as well.
 */
static int grade_cable(const struct audit *audit, const struct audit_line *line,
                       const struct audit_need *need)
{
    if (line->part == MYR_PART_NONE) {
        return AUDIT_GRADE_WRONG;
    }
    const struct myr_part_cable *cable = &audit_part(audit, line->part)->cable;
    if (cable->fixed_ends != need->fixed || (!need->fixed && cable->legs != need->legs)) {
        return -1;
    }
    const struct myr_part_cable *planned =
        need->fixed && need->part != MYR_PART_NONE ? &audit_part(audit, need->part)->cable : NULL;
    /* Other ends or another speed than planned: that is a cable for another place. */
    if (planned && (!fits_text(planned->connector, cable->connector) ||
                    (planned->gbps && cable->gbps && cable->gbps != planned->gbps))) {
        return -1;
    }
    /* One that carries less than a single link is for another layer. */
    if (need->fixed && cable->gbps && cable->gbps < need->gbps) {
        return -1;
    }
    /* An unknown length is taken to be enough. */
    bool reaches = line->length_m == 0 || line->length_m >= need->length_m;
    return !reaches ? AUDIT_GRADE_WRONG : line->part == need->part ? 0 : 1;
}

/*
 * By part, then by role, then by what is called a switch of no tier. A "core switch" of an access
 * network is its aggregation.
 */
static int grade_ethernet(const struct audit_line *line, const struct audit_need *need)
{
    if (need->part != MYR_PART_NONE && line->part == need->part) {
        return 0;
    }
    if (line->role == need->role) {
        return 1;
    }
    if (line->role == AUDIT_ETHERNET) {
        return 2;
    }
    bool core = line->says.tier == AUDIT_TIER_CORE && need->role == AUDIT_AGGREGATION;
    return line->role == AUDIT_SWITCH && line->part == MYR_PART_NONE &&
                   (line->says.tier == AUDIT_TIER_ANY || core)
               ? 2
               : -1;
}

/* A line known by its words alone is taken last. */
static int grade_part(const struct audit_line *line, const struct audit_need *need)
{
    return line->part == need->part && need->part != MYR_PART_NONE ? 0
           : line->part != MYR_PART_NONE                           ? 1
                                                                   : 2;
}

/* Grades: 0 the planned part, 1 another that does, 2 one that may do, 3 counted but wrong. */
int audit_grade_bom(const struct audit *audit, const struct audit_line *line,
                    const struct audit_need *need)
{
    if (need->net < MYR_NET_COUNT && !same_net(line, need->net)) {
        return -1;
    }
    switch (need->role) {
    case AUDIT_MODULE:
        return line->role == AUDIT_MODULE ? grade_module(audit, line, need) : -1;
    case AUDIT_CABLE:
        return line->role == AUDIT_CABLE ? grade_cable(audit, line, need) : -1;
    case AUDIT_ACCESS:
    case AUDIT_AGGREGATION:
        return grade_ethernet(line, need);
    case AUDIT_OTHER:
        return line->part == need->part ? 0 : -1;
    default:
        return line->role == need->role ? grade_part(line, need) : -1;
    }
}

/*
 * In a rack the tier of a switch is asked for, in a bill it is not: one line there has all tiers of
 * a part.
 */
int audit_grade_layout(const struct audit *audit, const struct audit_line *line,
                       const struct audit_need *need)
{
    (void)audit;
    bool net = line->says.net >= MYR_NET_COUNT || line->says.net == need->net;
    bool ethernet = need->role == AUDIT_ACCESS || need->role == AUDIT_AGGREGATION;
    if (ethernet) {
        return net ? grade_ethernet(line, need) : -1;
    }
    if (need->role == AUDIT_OTHER) {
        return line->part == need->part ? 0 : -1;
    }
    if (line->role != need->role) {
        return -1;
    }
    if (need->role == AUDIT_SWITCH) {
        bool tier = line->says.tier == AUDIT_TIER_ANY || line->says.tier == need->tier;
        bool part = line->part == MYR_PART_NONE || line->part == need->part;
        return !net || !tier ? -1 : part ? 0 : 1;
    }
    return grade_part(line, need);
}
