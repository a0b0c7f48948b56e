/*
 * room: racks for what was planned. Private to the planner.
 *
 * A rack's number is its place in the order of filling: building by building, column by column, in
 * a column from the highest row to the lowest. What a rack still carries is counted down as things
 * are put into it, so that no limit can be passed.
 */
#pragma once

#include "plan_internal.h"

#define ROOM_NONE         UINT32_MAX
#define ROOM_STEPS        25      /* lengths of cables that are sold */
#define ROOM_ROWS_DEFAULT 20      /* of a room that does not say */
#define ROOM_PIECES_MAX   1000000 /* in racks beside the devices; a design has a record for each */

/* What one thing needs, and what a rack has left. */
struct load {
    int64_t watts, units, grams;
};

struct hall {                                  /* one building */
    uint32_t rows, columns, first_rack, racks; /* racks = rows * columns */
    uint32_t centre;                           /* rack in the middle */
};

struct stand {                  /* one rack */
    uint32_t hall, row, column; /* from 0 */
    int64_t x_mm, y_mm;         /* from the corner of column A and row 1 */
    struct load left;           /* what it still carries */
    int64_t watts_max;          /* as in mixed pairs it may differ from the room's */
    uint32_t servers;           /* in it */
    uint32_t extra;             /* servers more that its changed power allows; filled last */
    bool mixed;                 /* its power was dealt out anew with a neighbour */
};

/* Servers that hang on the same first switches, with those switches and their share of a pod's. */
struct block {
    uint32_t first_server, servers; /* consecutive */
    uint32_t first_seat, seats;     /* positions in room.seats */
    uint32_t first_rack, last_rack; /* between which it stands */
    uint32_t pod;                   /* blocks of a pod have the same */
};

#define ROOM_STARTS 3 /* from which the annealing begins, at the most */

struct start {       /* a way to fill the room */
    int64_t ways;    /* mm of all cables, by which starts are compared */
    double flatness; /* how much the upper switches keep to the centre's row */
    uint32_t lost;   /* places for servers that a rack loses to switches */
    bool banded, gathered;
};

struct cut { /* kinds of cables, which say how many links share one */
    uint16_t host[MYR_NET_COUNT][PLAN_HOSTS_MAX], layer[MYR_NET_COUNT][MYR_LAYER_COUNT];
    uint32_t host_optic[MYR_NET_COUNT];
    size_t kinds, findings; /* that the plan had then */
};

struct cut_way {   /* of a layer */
    uint32_t step; /* the longest for which its cables are cut so */
    bool now;
};

#define ROOM_SHORT_MAX 16

struct short_layer { /* whose cables would be fewer if none were longer than this */
    uint32_t net, layer, length_mm;
};

/* A room while it is filled. Racks, servers and devices are arrays by number; where a thing stands
 * is said once for each, and what racks have left follows from it. */
struct room {
    struct plan *plan;
    struct myr_arena *arena;
    const struct myr_spec_room *spec;
    struct load rack, server; /* limits of a rack; needs of a GPU server */
    struct load
        groups[MYR_GROUPS_MAX]; /* needs of a server of each kind; server: the most of all */
    uint32_t per_rack;          /* servers that an empty rack holds */
    uint32_t hall_count;
    struct hall halls[MYR_ROOM_BUILDINGS_MAX];
    uint32_t rack_count, columns, rows; /* columns, rows: of the largest hall */
    struct stand *racks;

    uint32_t block_count;
    struct block *blocks;
    uint32_t seat_count;
    uint32_t *seats; /* switches of the blocks, by block */
    uint32_t top_count;
    uint32_t *tops; /* switches above all blocks: 2-tier spines, cores */

    uint32_t *server_rack; /* ROOM_NONE: no place yet */
    uint32_t *device_rack; /* the design's */
    uint16_t *device_unit; /* from 1; 0 where it takes no unit */
    MYR_VEC(struct myr_rack_item) items;
    MYR_VEC(uint32_t) devices_of;   /* scratch */
    uint32_t lost_least, lost_most; /* places for servers that a rack may lose to switches */
    bool in_middle;                 /* leaves stand in the middle of a rack */
    bool in_racks;                  /* with all their servers, which one rack holds */
    bool banded;                    /* blocks are cut from bands of rows */
    bool gathered;                  /* all upper switches in one building */
    double flatness;                /* how much the upper switches keep to the centre's row */
    uint32_t reserve_every;         /* racks, of which one leaves a server's place open; or 0 */
    bool widens;                    /* the room gets as wide as it must be */
    uint32_t pairs;                 /* of racks whose power was dealt out anew */
    uint32_t missing;               /* servers without a place in the last attempt */
    uint32_t start_count;
    struct start starts[ROOM_STARTS]; /* the shortest first */
    /* How many times more the annealing counts the cables of a layer, for it to become short. */
    uint8_t pull[MYR_NET_COUNT][MYR_LAYER_COUNT];
    /* Copper for the cages of a kind of hosts, or of a layer, that are near; or none. */
    uint16_t near_host[MYR_NET_COUNT][PLAN_HOSTS_MAX];
    struct myr_room out; /* what the design will say of the room */
};

/* grid.c: positions and distances */
void room_grid(struct room *room, uint32_t columns);
/* Along the trays, from above one rack to above another. */
int64_t room_path_mm(const struct room *room, uint32_t a, uint32_t b);
/*
 * Path, drops and slack. Every cable goes up to the tray, also to a neighbour in its rack, but for
 * hosts below a leaf in the middle of their rack: the height between the two, and slack.
 */
int64_t room_route_mm(const struct room *room, uint32_t link);
/* How many of 'need' fit into what is left. */
uint32_t room_fits(const struct load *left, const struct load *need);
/* Counts 'count' things in, and one out again. What does not fit must not be taken. */
void room_take(struct stand *rack, const struct load *need, uint32_t count);
void room_give(struct stand *rack, const struct load *need);
/*
 * Errors that say what the racks lack: power, units or weight. 'block' is the first one without a
 * place; 'what' a thing that needs 'need'.
 */
int room_too_small(const struct room *room, uint32_t block, struct myr_err *err);
int room_no_place(const struct room *room, const char *what, const struct load *need,
                  struct myr_err *err);
/* What a device needs, by its part; one unit where nothing is known of it. */
struct load room_load(const struct room *room, uint32_t device);
/* What stands in racks without being a device, a kind at a time. Begins as {}; false: no more. */
struct room_pieces {
    struct plan_pieces of;
    struct load need; /* of each */
};
bool room_next_pieces(const struct room *room, struct room_pieces *at);
/* Id of the part that devices of this type are; "" where there is none. */
const char *room_part(const struct room *room, uint32_t type);
/* "A14", or "north/A14" where there are several buildings. */
const char *room_rack_name(const struct room *room, uint32_t rack);
/* The racks as records of the design, as far as they are filled. */
void room_put_racks(struct room *room);

/* Links in the cable of a link: its legs. */
static inline uint32_t room_legs(const struct myr_design *design, uint32_t link)
{
    uint32_t cable = design->link_cable[link];
    return design->first_link[cable + 1] - design->first_link[cable];
}

/* The kind of a server. */
uint32_t room_group(const struct room *room, uint32_t server);

/* blocks.c: who belongs to whom */
void room_blocks(struct room *room);

/* place.c: servers and the switches of their own network */

/* Ways to fill the room that differ, the shortest first; there may be none. */
void room_choose_starts(struct room *room);
/* One of them, or any that all find a place by. */
MYR_MUST_USE int room_place(struct room *room, uint32_t start, struct myr_err *err);

/* polish.c: changes places until no cable gets shorter by it, or so many ways were measured */
void room_polish(struct room *room, uint32_t work_max);

/* anneal.c: the same for everything that stands. Returns how many draws it made: 0 where the room
 * is too large for it. */
struct annealing {
    uint32_t number;     /* of its draws: others come out for each */
    uint32_t sixteenths; /* how loose things are in the beginning */
};
uint64_t room_anneal(struct room *room, const struct annealing *how);

/* starts.c: everything, from the best starts */
MYR_MUST_USE int room_place_all(struct room *room, struct myr_err *err);

/* rest.c: everything else, and units */
MYR_MUST_USE int room_rest(struct room *room, struct myr_err *err);
void room_units(struct room *room);

/* The rack in the middle of all that hangs on a device; the centre of the first hall when nothing
 * does that has a place yet. */
uint32_t room_middle_of(struct room *room, uint32_t device);
/* managed.c: management ports of what has its place, each to a switch that is near. Once: all other
 * placements keep these. */
bool room_deals_managed(const struct room *room);
void room_deal_managed(struct room *room);
/* Deals out anew what was dealt for another placement, and puts the switches anew; an error where
 * one of them fits nowhere. */
MYR_MUST_USE int room_deal_again(struct room *room, struct myr_err *err);

/* Keeps places open for access switches where servers fill racks to the last, or opens them. */
void room_reserve(struct room *room, bool open);

/* feeds.c: power and cooling chains */
MYR_MUST_USE int room_feeds(struct room *room, struct myr_err *err);
/* Power strips and cooling units with a management port: about where, for the switches that they
 * hang on; and where, once all racks are filled. */
void room_strips_about(struct room *room);
void room_strips(struct room *room);

/* cut.c: kinds of cables for the layers, and with them which links share a cable */

uint32_t room_step(int64_t length_mm); /* of the lengths that are sold, the least that reaches */
double room_step_mm(uint32_t step);
/* The route of a link where its ends stand now. */
uint32_t room_link_mm(const struct room *room, uint32_t link);
/* A kind of cable for that length; 'like' as struct cable_ask has it. */
uint16_t room_ask_kind(struct room *room, struct net_plan *net, enum myr_layer layer,
                       uint32_t host_class, uint32_t step, uint16_t like);
/* For where everything stands now. */
void room_cut_cables(struct room *room);
/* The longest link of each layer. */
void room_longest(const struct room *room, uint32_t ret_mm[MYR_NET_COUNT][MYR_LAYER_COUNT]);
/* Ways to cut a layer that differ in how many links share a cable, for lengths from a step on. */
uint32_t room_cut_ways(struct room *room, uint32_t id, uint32_t layer, uint32_t least_step,
                       struct cut_way ret[ROOM_STEPS]);
/* Kinds of one layer as for that length; true where others share a cable now, until when all has
 * to be wired again. */
bool room_cut_layer(struct room *room, uint32_t net, uint32_t layer, uint32_t step);
/* Links keep their ends; which of them share a cable follows from the kinds. */
void room_wire_again(struct room *room);
/* The kinds as they are; and as they were, to be wired again, or with the wires. */
void room_keep_cut(const struct room *room, struct cut *ret);
void room_kinds_as(struct room *room, const struct cut *cut);
void room_cut_as(struct room *room, const struct cut *cut);

/* cages.c: cages of a layer of fibre whose links are all short get copper of several links. */
void room_cut_cages(struct room *room);

/* lengths.c: cables of the right length, trays, headroom */
void room_lengths(struct room *room);
void room_trays(struct room *room);
void room_headroom(struct room *room);
/* What a port keeps free for what is on its way over a cable of this length. */
uint64_t room_headroom_bytes(uint32_t gbps, double length_m);

/* short.c */

/* Layers for which nothing speaks against a placement in which they are so short. */
uint32_t room_short_layers(struct room *room, struct short_layer ret[ROOM_SHORT_MAX]);
