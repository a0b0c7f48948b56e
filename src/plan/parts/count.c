#include "parts/count.h"

/*
 * Modules are counted by cages with at least one link, cables one by one: what a crew plugs and
 * pulls. The design's arrays are all that is read, so that a grown design counts like a planned
 * one.
 */

/* Rows are found one by one: a network has few different parts. String 0 is the empty one: links
 * without a part, of which a finding tells. */
static void tally_add(struct tally *tally, const struct tally_row *more)
{
    if (more->part == 0 || more->count == 0) {
        return;
    }
    for (uint32_t i = 0; i < tally->count; i++) {
        struct tally_row *row = &tally->rows[i];
        if (row->part == more->part && row->at_nic == more->at_nic) {
            row->count += more->count;
            row->links += more->links;
            return;
        }
    }
    MYR_ASSERT(tally->count < TALLY_MAX);
    tally->rows[tally->count++] = *more;
}

/* One module for each cage: the first port that carries a link stands for all of its cage. */
static void count_group(const struct counted *what, const struct myr_port_group *group,
                        uint32_t first, struct tally *ret)
{
    const struct myr_design *design = what->design;
    MYR_ASSERT(group->per_cage > 0);
    for (uint32_t i = 0; i < group->count; i++) {
        uint32_t link = design->port_link[first + i];
        if (link == MYR_NONE) {
            continue;
        }
        const struct myr_cabletype *cable =
            &what->cabletypes[design->cable_type[design->link_cable[link]]];
        /* A cable's kind has a module for either end: that of the end which this port is. */
        bool at_a = design->link_a[link] == first + i;
        struct tally_row one = {.part = at_a ? cable->optic_a : cable->optic_b,
                                .at_nic = group->role == MYR_PORT_NIC,
                                .count = 1};
        tally_add(ret, &one);
        i = i / group->per_cage * group->per_cage + group->per_cage - 1; /* next cage */
    }
}

/* By what is in the design's ports, so that a cage without links costs no module. */
void count_modules(const struct counted *what, uint32_t net, struct tally *ret)
{
    const struct myr_design *design = what->design;
    ret->count = 0;
    for (uint32_t device = 0; device < design->device_count; device++) {
        const struct myr_devtype *type = &what->devtypes[design->device_type[device]];
        for (uint32_t g = 0; g < type->group_count; g++) {
            if (type->groups[g].net == net) {
                count_group(what, &type->groups[g],
                            design->first_port[device] + type->groups[g].first, ret);
            }
        }
    }
}

/* First by kind of cable, then by part: several kinds may be the same part. */
void count_cables(const struct counted *what, uint32_t net, struct tally *ret)
{
    const struct myr_design *design = what->design;
    MYR_CLEANUP(myr_arena_done) struct myr_arena scratch;
    myr_arena_init(&scratch);
    struct tally_row *rows = MYR_ARENA_NEW(&scratch, struct tally_row, what->cabletype_count);
    for (uint32_t cable = 0; cable < design->cable_count; cable++) {
        struct tally_row *row = &rows[design->cable_type[cable]];
        row->count++;
        row->links += design->first_link[cable + 1] - design->first_link[cable];
    }
    ret->count = 0;
    for (uint32_t i = 0; i < what->cabletype_count; i++) {
        if (what->cabletypes[i].net == net) {
            rows[i].part = what->cabletypes[i].part;
            tally_add(ret, &rows[i]);
        }
    }
}
