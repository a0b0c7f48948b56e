#include "room/room.h"

/*
 * How long each cable is, and what it therefore has to be. Lengths that are sold come in steps; a
 * cable is as long as the next step, and its modules must reach that far.
 */

static const double stock_m[] = {0.5, 1,  1.5, 2,   3,   5,   7,   10,  15,   20,   30,   40,
                                 50,  70, 100, 150, 200, 300, 500, 700, 1000, 1500, 2000, 10000};

enum { STOCK_COUNT = MYR_ARRAY_COUNT(stock_m) };

static uint32_t stock_of(int64_t length_mm)
{
    uint32_t step = 0;
    while (step + 1 < STOCK_COUNT && stock_m[step] * 1000 < (double)length_mm) {
        step++;
    }
    return step;
}

/* A cable with several legs is as long as the longest of them needs. */
static void measure(struct room *room)
{
    struct myr_design *design = &room->plan->design;
    design->cable_mm = MYR_ARENA_NEW(room->arena, uint32_t, (size_t)design->cable_count + 1);
    for (uint32_t cable = 0; cable < design->cable_count; cable++) {
        int64_t longest = 0;
        for (uint32_t i = design->first_link[cable]; i < design->first_link[cable + 1]; i++) {
            int64_t route = room_route_mm(room, design->port_device[design->link_a[i]],
                                          design->port_device[design->link_b[i]]);
            longest = route > longest ? route : longest;
        }
        design->cable_mm[cable] = (uint32_t)(longest < UINT32_MAX ? longest : UINT32_MAX);
        room->out.cable_mm += (uint64_t)longest;
        if (design->cable_mm[cable] > room->out.longest_mm) {
            room->out.longest_mm = design->cable_mm[cable];
        }
    }
}

/* The class of hosts whose cables are of this type; 0 where it joins switches. */
static uint32_t class_of(const struct net_plan *net, uint16_t type)
{
    for (uint32_t i = 0; i < net->host_class_count; i++) {
        if (net->host_cabletype[i] == type) {
            return i;
        }
    }
    return 0;
}

static void choose_cables(struct room *room)
{
    struct plan *plan = room->plan;
    struct myr_design *design = &plan->design;
    size_t kinds = plan->cabletypes.count;
    uint16_t *known = MYR_ARENA_NEW(room->arena, uint16_t, kinds * STOCK_COUNT);
    for (size_t i = 0; i < kinds * STOCK_COUNT; i++) {
        known[i] = UINT16_MAX;
    }
    for (uint32_t cable = 0; cable < design->cable_count; cable++) {
        uint16_t type = design->cable_type[cable];
        uint32_t step = stock_of(design->cable_mm[cable]);
        uint16_t *chosen = &known[(size_t)type * STOCK_COUNT + step];
        if (*chosen == UINT16_MAX) {
            struct net_plan *net = &plan->nets[plan->cabletypes.items[type].net];
            *chosen =
                plan_cabletype_for(plan, net, (enum myr_layer)plan->cabletypes.items[type].layer,
                                   class_of(net, type), stock_m[step]);
        }
        design->cable_type[cable] = *chosen;
        if (plan->cabletypes.items[*chosen].medium != MYR_MEDIUM_COPPER) {
            room->out.fibre_mm += design->cable_mm[cable];
        }
    }
}

int room_lengths(struct room *room, struct myr_err *err)
{
    (void)err;
    measure(room);
    choose_cables(room);
    return MYR_OK;
}
