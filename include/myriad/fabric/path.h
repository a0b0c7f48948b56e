/*
 * path: which channels lead from one host port to another.
 *
 * Clos: up to the lowest common tier and down again; every shortest such path is usable (ECMP). At
 * each switch a chooser picks among the candidates. Dragonfly: minimal (local, global, local) or
 * non-minimal over another group (Valiant). Torus: dimension order, the shorter way round.
 *
 * Candidates whose rest of the way is dead are never offered: with dead links the sets shrink, and
 * when none is left there is no path.
 */
#pragma once

#include "myriad/fabric/graph.h"

#define MYR_PATH_MAX       128
#define MYR_CANDIDATES_MAX 1024

struct myr_path {
    uint32_t count;
    uint32_t channels[MYR_PATH_MAX]; /* from host to host */
};

/* Picks one of 'count' candidates at a switch. 'depth' is the hop, from 0. */
typedef uint32_t myr_choose_fn(void *context, uint32_t device, uint32_t count, uint32_t depth,
                               const uint32_t *candidates);

/* Egress channels of a switch towards a host switch, on shortest paths, without dead ends. */
uint32_t myr_path_candidates(const struct myr_graph *graph, uint32_t device, uint32_t to_leaf,
                             uint32_t ret[MYR_CANDIDATES_MAX]);

/* False when there is no path (another plane, another rail, or too much is dead). */
bool myr_path_find(const struct myr_graph *graph, uint32_t from_port, uint32_t to_port,
                   myr_choose_fn *choose, void *context, struct myr_path *ret);

/* Every candidate index is value % count: the quick form for whoever has made up a number. */
bool myr_path_by_value(const struct myr_graph *graph, uint32_t from_port, uint32_t to_port,
                       uint64_t value, struct myr_path *ret);

/*
 * The same, and after how many values this path comes again: at each multiple of the period.
 * UINT64_MAX: after more than anybody would try.
 */
bool myr_path_with_period(const struct myr_graph *graph, uint32_t from_port, uint32_t to_port,
                          uint64_t value, struct myr_path *ret, uint64_t *ret_period);

/* Dragonfly over another group on the way; 'via' is any group. As myr_path_by_value elsewhere. */
bool myr_path_valiant(const struct myr_graph *graph, uint32_t from_port, uint32_t to_port,
                      uint32_t via, uint64_t value, struct myr_path *ret);

/*
 * Per-destination routing as a fat-tree subnet manager makes it (d-mod-k): every destination has
 * its own way down, so that shifts of all hosts collide nowhere. The egress channel of a switch
 * for a destination host port, or MYR_NONE.
 */
uint32_t myr_path_static(const struct myr_graph *graph, uint32_t device, uint32_t to_port);
