/* What the steps of growth share; they run in the order of this file. */
#pragma once

#include "myriad/plan/grow.h"

struct grow_link {
    uint32_t a, b;           /* devices of the grown design */
    uint32_t port_a, port_b; /* its ports; MYR_NONE: any of the role */
    uint32_t from;           /* the installed link; MYR_NONE: new */
};

struct grow_cable {
    uint32_t first, count; /* links */
    uint32_t from;         /* the installed cable; MYR_NONE: new */
    uint32_t planned;      /* the planned cable whose ends it has; MYR_NONE: they were chosen */
    uint16_t type;         /* of the planned design */
    bool kept;             /* both ends stay where they are */
};

struct grow {
    struct myr_arena *arena;
    const struct myr_catalog *catalog;
    const struct myr_design *old, *plan;
    struct myr_grow_names names;
    struct myr_growth *out;    /* being filled */
    uint32_t *to, *from;       /* as in struct myr_growth: of installed devices, of planned ones */
    struct grow_link *links;   /* in the order of cables */
    struct grow_cable *cables; /* in the order in which they were laid */
    uint32_t link_count, cable_count;
    bool *port_taken; /* by port of the grown design */
    bool *old_placed; /* by installed cable: it has its place */
    /* Installed cables whose loss is not proved; of pods that are cut anew, what may stay at most.
     */
    uint32_t loose_keep;
    bool recut[MYR_NET_COUNT]; /* pods were cut anew */
    uint64_t keep_most[MYR_NET_COUNT];
};

static inline const struct myr_cabletype *grow_type(const struct myr_design *design, uint32_t cable)
{
    return &design->cabletypes[design->cable_type[cable]];
}

/* In a room every cable was measured between its ends, which are then no more to be chosen. */
static inline bool grow_in_room(const struct grow *grow)
{
    return grow->plan->room_count > 0;
}

/* 1. whether the two are a growth at all */
MYR_MUST_USE int grow_check(const struct grow *grow, struct myr_err *err);

/* 2. which place each installed box takes */
MYR_MUST_USE int grow_match(struct grow *grow, struct myr_err *err);

void grow_pair(struct grow *grow, uint32_t old, uint32_t now);
/* Whether a planned group goes on with an installed one: its name, its servers, its networks. */
bool grow_same_group(const struct grow *grow, const struct myr_server_group *old,
                     const struct myr_server_group *now);
/* Spines and cores of one fabric whose pods are cut anew. */
void grow_recut(struct grow *grow, enum myr_net_id id, uint32_t fabric);

/* The heaviest assignment: ret[row] is its column; weight is rows * cols, rows <= cols. */
void grow_assign(const uint32_t *weight, uint32_t rows, uint32_t cols, uint32_t *ret);
#define GROW_ASSIGN_MAX 400000000ULL /* rows^2 * columns, beyond which the heaviest come first */

/* 3. the cables of the grown design, and which of them lie already */
void grow_lay_hosts(struct grow *grow, enum myr_net_id net);
void grow_lay_fixed(struct grow *grow, enum myr_net_id net); /* hosts on rails */
void grow_lay_switches(struct grow *grow, enum myr_net_id net);

/* The dense fills: which switch above each uplink of 'count' planned cables goes to. */
void grow_spread(struct grow *grow, struct grow_link *links, uint32_t count);
/* The links between groups of a dragonfly. */
void grow_global(struct grow *grow, enum myr_net_id net, struct grow_link *links, uint32_t count);

/* The port of the grown design that is this installed one; MYR_NONE: none of the same kind. */
uint32_t grow_port(const struct grow *grow, uint32_t old_port);
/* The same if its box were at that place. */
uint32_t grow_port_at(const struct grow *grow, uint32_t old_port, uint32_t device);
/* Whether an installed cable may serve as a planned one. */
bool grow_same_cable(const struct grow *grow, uint32_t old_cable, uint16_t type);
struct grow_cable *grow_push(struct grow *grow, uint16_t type, uint32_t from);
void grow_push_link(struct grow *grow, struct grow_link link);

/* Ports that one cable fills at its upper end: those behind a connector, or under its head. */
uint32_t grow_head(const struct myr_cabletype *type, const struct myr_port_group *group);
/* The first of the ports that a cable at this one fills; ret_count: how many of them there are. */
uint32_t grow_head_at(const struct grow *grow, uint16_t type, uint32_t port, uint32_t *ret_count);
/* Another port under the same head that is free; MYR_NONE: none. */
uint32_t grow_loose_leg(const struct grow *grow, uint16_t type, uint32_t port);
/* Legs of a splitter that stays and hang loose: their ports are nobody else's. */
void grow_reserve(struct grow *grow, const struct grow_cable *cable);

/* 4. ports, and the design's arrays */
MYR_MUST_USE int grow_build(struct grow *grow, struct myr_err *err);

/* 5. ids and names */
void grow_name(struct grow *grow);

/* 6. what moves, what is bought, what could be bought ahead */
void grow_count(struct grow *grow);
/* The planned bill with modules and cables as many as the grown design needs. */
void grow_bill(struct grow *grow);
void grow_buy(struct grow *grow);
