#include "room/anneal.h"

/*
 * A cable with several legs is as long as the longest of them, where the annealing counts their
 * mean. So things that are alike, and leaves of one block, change places once more where that makes
 * the longest legs shorter: servers that share a cable come to stand at the same distance of its
 * leaf, leaves of two planes that share the cables of a rail in one rack.
 */

enum { PASSES_MAX = 8 };

#define WORK_MAX 40000000U /* ways that are looked up; then it is enough */

struct legs {
    const struct crowd *crowd;
    const struct myr_design *design;
    uint32_t *racks; /* by thing */
    uint32_t work;
};

/* What moves has its place in 'racks', what is fixed in the crowd, all else in the room. */
static uint32_t rack_of(const struct legs *l, uint32_t port)
{
    uint32_t device = l->design->port_device[port], thing = l->crowd->thing_of[device];
    return thing == CROWD_END          ? l->crowd->room->device_rack[device]
           : thing < l->crowd->movable ? l->racks[thing]
                                       : l->crowd->things[thing].rack;
}

/* The longest leg of a cable; 0 where an end has no place. */
static int64_t longest_mm(struct legs *l, uint32_t cable)
{
    const struct myr_design *design = l->design;
    int64_t longest = 0;
    for (uint32_t i = design->first_link[cable]; i < design->first_link[cable + 1]; i++) {
        uint32_t a = rack_of(l, design->link_a[i]), b = rack_of(l, design->link_b[i]);
        int64_t way = a == MYR_NONE || b == MYR_NONE ? 0 : crowd_way(l->crowd, a, b);
        longest = way > longest ? way : longest;
    }
    l->work += design->first_link[cable + 1] - design->first_link[cable];
    return longest;
}

/* All cables of a thing. */
static int64_t thing_mm(struct legs *l, uint32_t thing)
{
    const struct thing *one = &l->crowd->things[thing];
    const struct myr_design *design = l->design;
    int64_t sum = 0;
    for (uint32_t p = design->first_port[one->device];
         p < design->first_port[one->device + one->devices]; p++) {
        uint32_t link = design->port_link[p];
        sum += link == MYR_NONE ? 0 : longest_mm(l, design->link_cable[link]);
    }
    return sum;
}

static void swap(struct legs *l, uint32_t one, uint32_t other)
{
    uint32_t rack = l->racks[one];
    l->racks[one] = l->racks[other];
    l->racks[other] = rack;
}

/* Alike, or leaves of one block: either may change places without asking the limits of racks. */
static bool may_change(const struct crowd *crowd, uint32_t one, uint32_t other)
{
    const struct thing *x = &crowd->things[one], *y = &crowd->things[other];
    return crowd_alike(crowd, one, other) ||
           (x->leaf && y->leaf && x->block == y->block && crowd_same_need(x, y));
}

/* A cable that both have legs of counts twice, before and after: they are at the same end of it,
 * so that it stays as it is. */
static bool change_places(struct legs *l, uint32_t one)
{
    /* Kept while it is right: half of the work is spared. */
    int64_t own = thing_mm(l, one);
    bool better = false;
    /* Each pair once a pass. */
    for (uint32_t other = one + 1; other < l->crowd->movable && l->work < WORK_MAX; other++) {
        if (l->racks[one] == l->racks[other] || !may_change(l->crowd, one, other)) {
            continue;
        }
        int64_t before = own + thing_mm(l, other);
        swap(l, one, other);
        int64_t now = thing_mm(l, one);
        if (now + thing_mm(l, other) < before) {
            own = now;
            better = true;
        } else {
            swap(l, one, other);
        }
    }
    return better;
}

/* Until nothing changes, or enough has been looked at: large rooms end early. */
void crowd_join_legs(const struct crowd *crowd, uint32_t *racks)
{
    struct legs l = {.crowd = crowd, .design = &crowd->room->plan->design};
    l.racks = racks;
    bool better = true;
    for (uint32_t pass = 0; better && pass < PASSES_MAX && l.work < WORK_MAX; pass++) {
        better = false;
        for (uint32_t i = 0; i < crowd->movable; i++) {
            better = change_places(&l, i) || better;
        }
    }
}
