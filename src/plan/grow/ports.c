#include "grow/grow_internal.h"

/*
 * What all steps use: which port and which cable is which, and the lists that they fill. A port is
 * the same one when it is the same hole of the same box and still plays its role: only then can a
 * cable stay in it.
 */

/* Each box has one place, each place one box. */
void grow_pair(struct grow *grow, uint32_t old, uint32_t now)
{
    MYR_ASSERT(grow->to[old] == MYR_NONE && grow->from[now] == MYR_NONE);
    grow->to[old] = now;
    grow->from[now] = old;
}

uint32_t grow_port(const struct grow *grow, uint32_t old_port)
{
    return grow_port_at(grow, old_port, grow->to[grow->old->port_device[old_port]]);
}

/*
 * Same role, speed and division of the cage: else a cable cannot simply stay in it. A port of a
 * host is found by its number on the card, one of a switch by its cage.
 */
uint32_t grow_port_at(const struct grow *grow, uint32_t old_port, uint32_t device)
{
    const struct myr_design *old = grow->old, *plan = grow->plan;
    uint32_t old_device = old->port_device[old_port];
    const struct myr_port_group *was = myr_design_port_group(old, old_port);
    const struct myr_devtype *type = &plan->devtypes[plan->device_type[device]];
    uint32_t index = old_port - old->first_port[old_device] - was->first;
    for (uint32_t i = 0; i < type->group_count; i++) {
        const struct myr_port_group *group = &type->groups[i];
        if (group->role != was->role || group->net != was->net || group->gbps != was->gbps ||
            group->per_cage != was->per_cage || group->per_connector != was->per_connector) {
            continue;
        }
        /* The same cage of the box, whatever the groups before it are now. */
        int64_t at = index;
        if (was->role != MYR_PORT_NIC) {
            at += ((int64_t)was->first_cage - group->first_cage) * group->per_cage;
        }
        if (at >= 0 && at < group->count) {
            return plan->first_port[device] + group->first + (uint32_t)at;
        }
    }
    return MYR_NONE;
}

/* In a room lengths may differ from phase to phase: a cable of another length is a new one. */
bool grow_same_cable(const struct grow *grow, uint32_t old_cable, uint16_t type)
{
    const struct myr_cabletype *was = grow_type(grow->old, old_cable);
    const struct myr_cabletype *now = &grow->plan->cabletypes[type];
    return was->net == now->net && was->layer == now->layer && was->gbps == now->gbps &&
           was->legs == now->legs && was->length_mm == now->length_mm &&
           strcmp(myr_design_str(grow->old, was->part), myr_design_str(grow->plan, now->part)) == 0;
}

/* The pointer holds: the array never moves. */
struct grow_cable *grow_push(struct grow *grow, uint16_t type, uint32_t from)
{
    MYR_ASSERT(grow->cable_count < grow->plan->link_count);
    struct grow_cable *cable = &grow->cables[grow->cable_count++];
    *cable = (struct grow_cable){
        .first = grow->link_count, .from = from, .planned = MYR_NONE, .type = type};
    if (from != MYR_NONE) {
        MYR_ASSERT(!grow->old_placed[from]);
        grow->old_placed[from] = true;
    }
    return cable;
}

/* To the cable that was pushed last. Ports that are known are taken at once. */
void grow_push_link(struct grow *grow, struct grow_link link)
{
    MYR_ASSERT(grow->link_count < grow->plan->link_count && grow->cable_count > 0);
    grow->links[grow->link_count++] = link;
    grow->cables[grow->cable_count - 1].count++;
    const uint32_t ports[] = {link.port_a, link.port_b};
    for (uint32_t i = 0; i < 2; i++) {
        if (ports[i] != MYR_NONE) {
            MYR_ASSERT(!grow->port_taken[ports[i]]);
            grow->port_taken[ports[i]] = true;
        }
    }
}

uint32_t grow_head(const struct myr_cabletype *type, const struct myr_port_group *group)
{
    /* A cable with fixed ends, or with one that is not divided, has its cage for itself. */
    bool whole = type->layer == MYR_LAYER_HOST && (type->head_b || !type->optic_b);
    uint32_t legs = whole ? type->legs : 1;
    return group->per_connector > legs ? group->per_connector : legs;
}

/* The last head of a group may be cut short. */
uint32_t grow_head_at(const struct grow *grow, uint16_t type, uint32_t port, uint32_t *ret_count)
{
    const struct myr_design *plan = grow->plan;
    const struct myr_port_group *group = myr_design_port_group(plan, port);
    uint32_t head = grow_head(&plan->cabletypes[type], group);
    uint32_t first = plan->first_port[plan->port_device[port]] + group->first;
    uint32_t at = (port - first) / head * head;
    *ret_count = group->count - at < head ? group->count - at : head;
    return first + at;
}

/* 'port' is one that the cable holds. */
uint32_t grow_loose_leg(const struct grow *grow, uint16_t type, uint32_t port)
{
    uint32_t count, first = grow_head_at(grow, type, port, &count);
    for (uint32_t i = first; i < first + count; i++) {
        if (!grow->port_taken[i]) {
            return i;
        }
    }
    return MYR_NONE;
}

void grow_reserve(struct grow *grow, const struct grow_cable *cable)
{
    uint32_t port = grow->links[cable->first].port_b;
    if (port == MYR_NONE || grow->plan->cabletypes[cable->type].legs == 1) {
        return;
    }
    for (uint32_t leg; (leg = grow_loose_leg(grow, cable->type, port)) != MYR_NONE;) {
        grow->port_taken[leg] = true;
    }
}
