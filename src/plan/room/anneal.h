/*
 * anneal: everything in the room as things that may change places, and what that costs. Private to
 * the room.
 *
 * Things that have the same cables to the same peers (the servers of a rail group, its leaves, the
 * spines) are a class. For each class and rack there is the sum of the ways that a thing of the
 * class would have there; so a draw costs a few reads, and only what is carried out costs a line
 * of the table for each class of peers.
 */
#pragma once

#include "room/room.h"

#define CROWD_END UINT32_MAX

struct thing {                 /* a server with all its nodes, or any other device */
    struct load need;          /* of all its devices together */
    uint32_t device, devices;  /* the first; a server has several nodes */
    uint32_t rack, kind_class; /* 'kind_class': which line of the table */
    uint32_t block;            /* ROOM_NONE: it may stand anywhere */
    uint32_t mate, shared; /* another that has legs of the same cables; half of these, in parts */
    bool leaf;             /* that has to stand with the servers of its block */
    bool fixed;            /* it stays; those come last */
};

struct peer {
    uint32_t thing, cables; /* a link of a cable with n legs counts as 1/n, in units of 1/parts */
};

struct class_peer { /* what each thing of the class has of cables to a thing */
    uint32_t kind_class, cables;
};

/* Things by number, servers first; racks by number. The table is kept right by crowd_enter(). */
struct crowd {
    struct room *room;
    uint32_t count, class_count, racks;
    uint32_t movable; /* things that may move: the first ones */
    uint32_t parts;   /* of a cable: its legs share it evenly */
    struct thing *things;
    uint32_t *thing_of;   /* by device; CROWD_END: none */
    uint32_t *first_peer; /* by thing, one more */
    struct peer *peers;
    uint32_t *first_class_peer; /* by thing, one more */
    struct class_peer *class_peers;
    uint32_t *between; /* cables of two things, by class and class; NULL: too many classes */
    int32_t *way;      /* rack by rack */
    int64_t *table;    /* class by rack */
    uint32_t *first_in, *rack_things; /* by rack */
    uint32_t *next_in, *before_in;    /* by thing */
    uint16_t *block_counts;           /* by block: of servers, then of leaves, by row and column */
    uint32_t lines;                   /* rows and columns of the largest hall */
};

/* False where the room is too large for tables: nothing is taken then. */
bool crowd_gather(struct crowd *crowd, struct room *room);
/* Out of its rack, and into one; a thing that has left counts at its old rack until it enters. */
void crowd_leave(struct crowd *crowd, uint32_t thing);
void crowd_enter(struct crowd *crowd, uint32_t thing, uint32_t rack);
/* Counts a thing of a block at another rack, without moving it. */
void crowd_count(struct crowd *crowd, uint32_t thing, uint32_t from, uint32_t to);
/* How far leaves of the thing's block stand out of its servers' rows and columns, in lines; those
 * right beside count nothing. */
uint32_t crowd_outside(const struct crowd *crowd, uint32_t thing);
/* Cables between two things. */
uint32_t crowd_cables(const struct crowd *crowd, uint32_t one, uint32_t other);
/* Writes where all things stand into the room; things of one class in the order of the racks. */
void crowd_settle(struct crowd *crowd, uint32_t *racks);
/* legs.c: things that are alike change places so that the legs of cables are of like length. */
void crowd_join_legs(const struct crowd *crowd, uint32_t *racks);

/* Whether either fits wherever the other stands. */
static inline bool crowd_same_need(const struct thing *x, const struct thing *y)
{
    return x->need.watts == y->need.watts && x->need.units == y->need.units &&
           x->need.grams == y->need.grams;
}

/* Whether two things can stand for each other. */
static inline bool crowd_alike(const struct crowd *crowd, uint32_t one, uint32_t other)
{
    const struct thing *x = &crowd->things[one], *y = &crowd->things[other];
    return x->kind_class == y->kind_class && x->block == y->block && crowd_same_need(x, y);
}

/* Along the trays, in mm. */
static inline int64_t crowd_way(const struct crowd *crowd, uint32_t from, uint32_t to)
{
    return crowd->way[(size_t)from * crowd->racks + to];
}

/* The ways of all cables of a thing, if it stood in 'rack'. */
static inline int64_t crowd_cost(const struct crowd *crowd, uint32_t thing, uint32_t rack)
{
    return crowd->table[(size_t)crowd->things[thing].kind_class * crowd->racks + rack];
}
