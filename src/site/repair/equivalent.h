/*
 * repair_equivalent: the plan's labels put so that the fewest cables are wrong.
 *
 * Ports of one kind on one switch do the same work: which of its uplinks a leaf uses for a spine,
 * and which port of the spine, changes nothing. So ports fall into classes (a port group of a
 * switch; every NIC port for itself), and what counts is how many cables run between which
 * classes. Equal spines of a pod and equal cores of a group are then free to stand for each other,
 * because their cables run between the same classes.
 *
 * Found cables that some planned cable of the same two classes can stand for are right. What is
 * left is a graph of found ('red') and planned ('blue') edges between classes. It has to be taken
 * apart into as many alternating closed trails as possible: each saves a move. That is hard in
 * general: components of up to EQ_EXACT_EDGES cables are searched whole. Larger ones start from the
 * labels as they are and are bettered step by step; the bound says how much may be missing.
 */
#pragma once

#include "repair/repair.h"

enum { EQ_EXACT_EDGES = 12 }; /* of each colour */

struct eq_edge {
    uint32_t class_a, class_b; /* class_a is not above class_b */
    uint32_t port_a, port_b;
};

/* Where a blue edge ends: at a red edge's end (edge * 2 + side), or in an empty port. */
#define EQ_EMPTY UINT32_MAX

/* What one component consists of; classes and edges are numbered from 0 within it. */
struct eq_part {
    uint32_t red_count, blue_count, class_count;
    const struct eq_edge *red, *blue;
    const uint32_t *slots; /* by end of a blue edge: where it ends now */
};

struct eq_solution {
    uint32_t *slots;    /* by end of a blue edge */
    int32_t gain;       /* closed trails less paths between empty ports */
    int32_t gain_bound; /* no solution has more */
};

/* All solutions are looked at. False when it would take too long; then nothing is set. */
bool eq_search(const struct eq_part *part, struct myr_arena *arena, struct eq_solution *ret);
/* Makes what is there better while that is easy. */
void eq_improve(const struct eq_part *part, struct myr_arena *arena, struct eq_solution *ret);

/*
 * Fills 'ret_plan' (by vertex) with the plan as it may be read, and tells how many moves less than
 * those of that plan might be possible: 0 when it is the best one. Ports that nobody looked at are
 * taken as empty; each that is met adds to the gap.
 */
void repair_equivalent_plan(const struct repair_graph *graph, struct myr_arena *arena,
                            uint32_t *ret_plan, uint32_t *ret_gap);

/* The class of an edge's end. */
static inline uint32_t eq_class(const struct eq_edge *edges, uint32_t end)
{
    return end & 1 ? edges[end / 2].class_b : edges[end / 2].class_a;
}
