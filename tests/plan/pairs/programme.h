/*
 * programme: the linear programme of pairs.h, as things that are counted, prices of conditions, and
 * the products between them. Private to the walk.
 *
 * Counts are measured in what an even spread over the room would have, so that all are about 1;
 * conditions are scaled such that their rows have a length of about 1. A room that is its own
 * mirror image has a solution that is so, too, and every step of the walk keeps it: numbers by rack
 * and rack are kept for one rack of each orbit of the mirrors only (a lead), and any other rack.
 */
#pragma once

#include "pairs.h"

enum { ENDS, SEATS, LINES, WHOLES, RACKS, PRICES, MIRRORS_MOST = 4 };

struct side { /* numbers of one sort: where they are, and where they were at the last beginning */
    float *now, *anchor;
    size_t count;
    double scale; /* length of a row; of things, square of that of a column */
    bool free;    /* may be below 0 */
};

struct programme {
    const struct room *room;
    const struct graph *graph;
    size_t racks, leads, square; /* square: leads x racks */
    uint32_t mirrors, *image[MIRRORS_MOST];
    uint32_t *lead;          /* racks that lead */
    uint32_t *lead_of, *via; /* by rack: its lead's number, and the mirror that leads there */
    float *same;             /* by lead: mirrors that leave it where it is */
    struct side things, pairs, price[PRICES];
    float *seat_cost, *turned_cost; /* by class, kind, lead and rack */
    float *taken, *turned_taken;
    float *cut, *toll; /* by orbit, direction, family and line: pairs cut; what such a pair pays */
    float *sum;        /* by orbit, end and rack */
    float *gradient, *bar;         /* by lead and rack */
    float *thing_bar, *thing_pull; /* by class and rack */
    float *way;                    /* by lead and rack */
    float *strip[FAMILIES];        /* by place and rack */
    double unit, weigh, step;
};

struct walk { /* how a step is made: with what memory of the anchor, or as a plain product */
    double step, keep;
    bool product;
    double moved; /* square of the way */
};

/* matrix.c */

void programme_make(struct programme *p, const struct room *room, const struct graph *graph);
void programme_free(struct programme *p);
/* What is kept for a lead, of any rack. */
size_t programme_at(const struct programme *p, size_t r, size_t q);
/* From prices to what things and pairs pay: all but the pairs; those of an orbit, into gradient. */
void programme_pull(struct programme *p);
void programme_pull_orbit(const struct programme *p, uint32_t orbit, double unit);
/* From what is in bar to the sums that conditions are made of; then the prices move. */
void programme_push_orbit(const struct programme *p, uint32_t orbit);
void programme_move_prices(struct programme *p, struct walk *walk);
