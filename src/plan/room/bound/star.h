/*
 * star: a bound from many small problems that can be solved. Private to the bound.
 *
 * The cables are cut up into paths, each part of a cable in one path at most. A path is no shorter
 * than the way between its ends; so the cables together are no shorter than the ways between the
 * ends of all paths. The paths are chosen such that each switch is the centre of a star: from it
 * lead paths of one weight to all things of a kind (servers, leaves, other switches).
 *
 * A star alone has a simple least: its things stand in racks around the centre, and what a rack
 * takes is limited. Let each kind have a price: what is gained for each of its things that stands
 * somewhere. Then every rack takes by itself what is worth most there, less the ways to the centre,
 * and for any prices whatever
 *
 *   sum over kinds of price x count  -  sum over racks of the most that the rack can gain
 *
 * is no more than the ways of the star (Lagrange). How cables are cut up and the prices are
 * variables; the sum over all stars is concave in all of them together, so the best are found by
 * a search that cannot be caught halfway. Whatever the search finds is a bound: the value is
 * computed in the end with the centre of each star in the rack that suits it best.
 */
#pragma once

#include "room/bound/bound.h"

enum {
    STAR_KINDS = 9,  /* around one centre */
    STAR_TERMS = 4,  /* variables that make up a weight */
    STAR_STARS = 4,  /* kinds of centres */
    STAR_VARS = 40,  /* of the search */
    STAR_LIMITS = 8, /* sums of variables that are limited */
    STAR_TAKES = 64, /* servers in a rack, less one */
};

struct star_kind {
    double count; /* things of the kind, around each centre */
    bool server;  /* it takes the place of a server, not that of a switch */
    double fixed, by[STAR_TERMS];
    uint32_t var[STAR_TERMS], terms; /* weight of a path: fixed + sum of by x variable */
    uint32_t price_var;
    double price_scale; /* price: that many mm x variable */
};

/* A kind of centre with what stands around it; all its centres are alike. */
struct star {
    uint32_t centres; /* switches that are the centre of such a star */
    uint32_t kind_count;
    struct star_kind kinds[STAR_KINDS];
};

struct star_limit { /* variables whose sum is no more than 'most' */
    uint32_t count, var[STAR_TERMS + 4];
    double most;
};

/* What a rack takes: seats[a] switches beside a servers, at the most in any rack. */
struct star_rack {
    uint32_t servers; /* that fit into it */
    double seats[STAR_TAKES];
};

struct ring {         /* racks at the same distance of a centre */
    double mm, racks; /* how far, and how many */
};

struct sky {
    const struct bound *b;
    struct star_rack rack; /* the most that any rack takes */
    uint32_t rows, columns;
    double pitch_mm;         /* between rows */
    const double *column_mm; /* by column */
    const double *rows_mm;   /* by row and row: the way between racks of different columns */
    /* Columns apart: which of the different distances, by column and column; and those. */
    const uint32_t *apart_of;
    uint32_t apart_count;
    const double *apart_mm;
    uint32_t star_count, var_count, limit_count;
    struct star stars[STAR_STARS];
    struct star_limit limits[STAR_LIMITS];
    uint32_t ring_count;
    struct ring *rings; /* around the middle of the room; the first one is the centre's own rack */
};

/* star.c */

/* The room: distances, and what racks take. False where it is not one hall of rows and columns. */
bool star_room(struct sky *sky, const struct load *need);
/* The sum over all stars, each with its centre in the middle; adds its gradient. */
double star_sum(const struct sky *sky, const double *x, double *ret_gradient);
/* The same with centres in the cheapest seats of the room: a bound for any x within limits. */
double star_least_mm(const struct sky *sky, const double *x);

/* search.c: the best x, from a first one within the limits; at least 'x' itself. */
void star_search(const struct sky *sky, double *x);
