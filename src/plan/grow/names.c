#include "grow/grow_internal.h"

/*
 * Ids and names. What is installed keeps both; new things get the next ids behind all that were
 * ever given, and the name of their place, or the next free one when that is taken.
 * docs/decisions/0010 says why a position and an id are two things: all code computes with
 * positions in the regular order, while labels, journals and people keep what they know.
 */

/* Of one kind of thing; MYR_NONE until it has one. 'next' is above all ids that were ever given. */
struct ids {
    uint32_t *id;
    uint32_t count, next;
};

/* 'old' is NULL in a design whose ids are its positions. */
static struct ids ids_begin(struct grow *grow, const uint32_t *old, uint32_t old_count,
                            uint32_t count)
{
    struct ids ids = {MYR_ARENA_NEW(grow->arena, uint32_t, count), count, 0};
    for (uint32_t i = 0; i < old_count; i++) {
        uint32_t id = old ? old[i] : i;
        ids.next = id >= ids.next ? id + 1 : ids.next;
    }
    for (uint32_t i = 0; i < count; i++) {
        ids.id[i] = MYR_NONE;
    }
    return ids;
}

/* What is new gets its id in the order of the arrays. */
static uint32_t *ids_end(struct ids *ids)
{
    for (uint32_t i = 0; i < ids->count; i++) {
        ids->id[i] = ids->id[i] == MYR_NONE ? ids->next++ : ids->id[i];
    }
    return ids->id;
}

/*
 * A hole in a box stays the same hole, whatever role it plays now. MYR_NONE where the cage is
 * divided otherwise now: its ports are others then.
 */
static uint32_t same_hole(const struct grow *grow, uint32_t old_port)
{
    const struct myr_design *old = grow->old, *plan = grow->plan;
    uint32_t was = old->port_device[old_port], device = grow->to[was];
    const struct myr_port_group *group = myr_design_port_group(old, old_port);
    const struct myr_devtype *type = &plan->devtypes[plan->device_type[device]];
    uint32_t index = old_port - old->first_port[was] - group->first;
    for (uint32_t i = 0; i < type->group_count; i++) {
        const struct myr_port_group *now = &type->groups[i];
        bool nic = group->role == MYR_PORT_NIC;
        if ((now->role == MYR_PORT_NIC) != nic || (nic && now->net != group->net) ||
            now->per_cage != group->per_cage) {
            continue;
        }
        /* By cage, counted from the first of the box: groups may begin elsewhere now. */
        int64_t at = index;
        at += nic ? 0 : ((int64_t)group->first_cage - now->first_cage) * now->per_cage;
        if (at >= 0 && at < now->count) {
            return plan->first_port[device] + now->first + (uint32_t)at;
        }
    }
    return MYR_NONE;
}

/*
 * Ports by their holes, links and cables by what they were. GPU nodes come first in the arrays and
 * keep their order, so a node's id is its position in every design.
 */
static void give_ids(struct grow *grow)
{
    const struct myr_design *old = grow->old;
    struct myr_design *out = &grow->out->grown;
    struct ids devices = ids_begin(grow, old->device_id, old->device_count, out->device_count);
    struct ids ports = ids_begin(grow, old->port_id, old->port_count, out->port_count);
    struct ids links = ids_begin(grow, old->link_id, old->link_count, out->link_count);
    struct ids cables = ids_begin(grow, old->cable_id, old->cable_count, out->cable_count);
    for (uint32_t i = 0; i < old->device_count; i++) {
        devices.id[grow->to[i]] = myr_design_device_id(old, i);
    }
    for (uint32_t i = 0; i < old->port_count; i++) {
        uint32_t port = same_hole(grow, i);
        if (port != MYR_NONE) {
            ports.id[port] = old->port_id ? old->port_id[i] : i;
        }
    }
    for (uint32_t i = 0; i < grow->link_count; i++) {
        if (grow->links[i].from != MYR_NONE) {
            links.id[i] = myr_design_link_id(old, grow->links[i].from);
        }
    }
    for (uint32_t i = 0; i < grow->cable_count; i++) {
        if (grow->cables[i].from != MYR_NONE) {
            cables.id[i] = myr_design_cable_id(old, grow->cables[i].from);
        }
    }
    out->device_id = ids_end(&devices);
    out->port_id = ids_end(&ports);
    out->link_id = ids_end(&links);
    out->cable_id = ids_end(&cables);
}

/* Places have no hidden padding, so their bytes may be hashed. */
static uint64_t name_key(const struct myr_place *place)
{
    return myr_hash_bytes(place, sizeof(*place));
}

/* Counts on until a name is free. */
static void name_new(struct myr_u64map *taken, struct myr_place *place)
{
    while (!myr_u64map_add(taken, name_key(place), 0)) {
        /* A leaf's last number is its rail and says something; its group's only that it is one. */
        if (place->style == MYR_NAME_POD_GROUP) {
            place->unit++;
        } else {
            place->ordinal++;
        }
    }
}

/* For sorting: a name with the device that bears it. */
struct named {
    struct myr_place place;
    uint32_t device;
};

static int by_name(const void *left, const void *right)
{
    const struct named *a = left, *b = right;
    return myr_place_compare(&a->place, &b->place);
}

/* Within each kind and network, as myr_design_find() searches them. */
static void sort_names(struct grow *grow, struct named *scratch)
{
    struct myr_design *out = &grow->out->grown;
    for (uint32_t first = 0, end; first < out->device_count; first = end) {
        const struct myr_place *place = &out->place[first];
        for (end = first; end < out->device_count && out->place[end].kind == place->kind &&
                          out->place[end].net == place->net;
             end++) {
            scratch[end - first] = (struct named){out->named[end], end};
        }
        qsort(scratch, end - first, sizeof(*scratch), by_name);
        for (uint32_t i = first; i < end; i++) {
            out->by_name[i] = scratch[i - first].device;
        }
    }
}

/* Installed names first: they are taken before any new one is made. */
static void give_names(struct grow *grow)
{
    const struct myr_design *old = grow->old;
    struct myr_design *out = &grow->out->grown;
    MYR_CLEANUP(myr_u64map_done) struct myr_u64map taken = {};
    MYR_CLEANUP(myr_arena_done) struct myr_arena scratch;
    myr_arena_init(&scratch);
    out->named = MYR_ARENA_NEW(grow->arena, struct myr_place, out->device_count);
    out->by_name = MYR_ARENA_NEW(grow->arena, uint32_t, out->device_count);
    for (uint32_t i = 0; i < old->device_count; i++) {
        struct myr_place *name = &out->named[grow->to[i]];
        *name = old->named ? old->named[i] : old->place[i];
        (void)myr_u64map_add(&taken, name_key(name), 0);
    }
    for (uint32_t i = 0; i < out->device_count; i++) {
        if (grow->from[i] == MYR_NONE) {
            out->named[i] = out->place[i];
            name_new(&taken, &out->named[i]);
        }
    }
    sort_names(grow, MYR_ARENA_NEW(&scratch, struct named, out->device_count));
}

void grow_name(struct grow *grow)
{
    give_ids(grow);
    give_names(grow);
}
