#include "physical_internal.h"

/*
 * Links of one cable type between the same kinds of ports have one joint: it is judged once. There
 * are as many joints as kinds of links, a handful even in the largest designs, so a list that is
 * searched is enough.
 */

/* Parts that are not found stay NULL, and are told here once for all their links. */
static void look_up_lay(struct physical *physical, uint32_t index)
{
    const struct myr_design *design = physical->design;
    struct lay *lay = &physical->lays[index];
    lay->type = &design->cabletypes[index];
    lay->where = myr_arena_printf(physical->arena, "%s %s", myr_net_names[lay->type->net],
                                  myr_layer_names[lay->type->layer]);
    const uint32_t strings[] = {lay->type->part, lay->type->optic_a, lay->type->optic_b};
    const struct myr_part **parts[] = {&lay->cable, &lay->module[0], &lay->module[1]};
    for (uint32_t i = 0; i < 3; i++) {
        /* Nothing is chosen there, which is no mistake of the name. */
        if (strings[i] == 0) {
            continue;
        }
        enum myr_part_kind kind = i == 0 ? MYR_PART_CABLE : MYR_PART_TRANSCEIVER;
        const struct myr_part *part = physical_part(physical, strings[i]);
        if (part && part->kind == kind) {
            *parts[i] = part;
        } else {
            physical_report(physical, PHYSICAL_UNKNOWN_PART, lay->where, 1,
                            "'%s' is no %s of the catalogue", myr_design_str(design, strings[i]),
                            myr_part_kind_name(kind));
        }
    }
}

/*
 * Position of the port's socket. Groups of a type lie behind each other, so the last one that
 * begins at or before the port is its own.
 */
static uint32_t socket_of(const struct myr_design *design, uint32_t port)
{
    uint32_t device = design->port_device[port], type = design->device_type[device];
    const struct myr_devtype *devtype = &design->devtypes[type];
    uint32_t index = port - design->first_port[device], g = 0;
    while (g + 1 < devtype->group_count && index >= devtype->groups[g + 1].first) {
        g++;
    }
    return type * MYR_PORT_GROUPS_MAX + g;
}

/*
 * Neighbouring links mostly have the same joint, so the search begins at the one that was found
 * last.
 */
static struct joint *joint_of(struct physical *physical, struct joint wanted, size_t *last)
{
    size_t count = physical->joints.count;
    for (size_t i = 0; i < count; i++) {
        struct joint *joint = &physical->joints.items[(*last + i) % count];
        if (joint->lay == wanted.lay && joint->socket[0] == wanted.socket[0] &&
            joint->socket[1] == wanted.socket[1]) {
            *last = (*last + i) % count;
            return joint;
        }
    }
    myr_vec_push(&physical->joints, wanted);
    *last = count;
    return &physical->joints.items[count];
}

/* Collected first, judged after: a joint then knows how many links it speaks for. */
void physical_joints(struct physical *physical)
{
    const struct myr_design *design = physical->design;
    physical->lays = MYR_ARENA_NEW(physical->arena, struct lay, design->cabletype_count);
    for (uint32_t i = 0; i < design->cabletype_count; i++) {
        look_up_lay(physical, i);
    }
    size_t last = 0;
    for (uint32_t link = 0; link < design->link_count; link++) {
        struct joint wanted = {
            .lay = design->cable_type[design->link_cable[link]],
            .socket = {socket_of(design, design->link_a[link]),
                       socket_of(design, design->link_b[link])},
        };
        joint_of(physical, wanted, &last)->links++;
    }
    for (size_t i = 0; i < physical->joints.count; i++) {
        physical_judge(physical, &physical->joints.items[i]);
    }
}
