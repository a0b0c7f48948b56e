/*
 * pairs: a lower bound on the ways of all cables of a room, from the room and the cables alone. A
 * program of the tests; it shares no code with the planner.
 *
 * Things (servers, switches) that hang alike are a class, and so are pairs of things (graph.c).
 * Count for any placement the things of a class in a rack, x(r), and the pairs of a class with one
 * in rack r and the other in q, Y(r, q). Whatever the placement, these numbers are 0 or more, and
 *
 *   things   the sum of x is the number of things; what stands in a rack is no more than it carries
 *   ends     the sum over q of Y(r, q) is x(r) times the partners that a thing has
 *   seats    what the partners of the things in r take in q is, for each of these things, no more
 *            than q carries, less the thing itself where q is r
 *   lines    for a line across the room and three things a, b and c: if a is before it and c
 *            behind, then a is before it and b behind, or b before it and c behind. So the share of
 *            pairs (a, c) that are cut is no more than those of (a, b) and (b, c) together, for any
 *            classes of pairs in which every pair (a, c) has such a b
 *
 * The least of the sum of ways x Y under these is a linear programme (that of Adams and Johnson
 * for the quadratic assignment problem, with lines). programme.c walks towards its solution
 * (Halpern's iteration of the primal-dual hybrid gradient method); worth.c makes of any prices
 * whatever a bound that holds, so it does not matter how near they are.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KINDS_MOST = 12, FACETS_MOST = 12, FAMILIES = 2 };

/* What the file says. */
struct room {
    uint32_t kinds, facets, racks, things, edges;
    double need[FACETS_MOST][KINDS_MOST]; /* of a thing, by facet and kind */
    double most[FACETS_MOST];             /* what a rack carries */
    double *many;                         /* racks that count as one, by rack */
    uint32_t *at[FAMILIES];               /* position of a rack: lines lie between positions */
    uint32_t places[FAMILIES];
    double *way;    /* by rack and rack */
    uint32_t *kind; /* by thing */
    double *weight; /* cables, by thing and thing */
    uint64_t *mark; /* what tells things from each other at first, by thing */
};

struct class
{
    double count;
    uint32_t kind;
};

/* A class of pairs; that of the pairs turned round is the same one. */
struct orbit {
    uint32_t one, other;           /* classes of its ends */
    double partners, partners_too; /* of one thing at the first end; at the other end */
    double pairs, weight;
    bool even; /* every pair turned round is in it, too */
};

struct end { /* an orbit, or the same one turned round */
    uint32_t orbit;
    bool turned;
};

struct triple {
    struct end whole, first, second;
};

struct graph {
    uint32_t classes, orbits, triples;
    struct class *class;
    struct orbit *orbit;
    struct triple *triple;
};

/* Prices, whatever they are; see worth.c. */
struct prices {
    double *end, *end_too; /* by orbit and rack: of one end and the other */
    double *seat;          /* by class, facet, rack and rack; not below 0 */
    double *line;          /* by family, direction, line and triple; not below 0 */
    double *whole;         /* by class: of a thing */
    double *rack;          /* by facet and rack; not below 0 */
};

void *must(size_t count, size_t size);
void graph_make(const struct room *room, struct graph *ret);
void graph_free(struct graph *graph);
/* Which price of a line. */
size_t line_index(const struct room *room, const struct graph *graph, uint32_t family,
                  uint32_t turned, uint32_t line);
/* The bound; prices are raised where they have to be. */
double worth_m(const struct room *room, const struct graph *graph, struct prices *prices);
/* The best bound that so many rounds find, or that reaches 'enough'. */
double programme_m(const struct room *room, const struct graph *graph, uint32_t rounds,
                   double enough);
