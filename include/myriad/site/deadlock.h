/*
 * deadlock: whether the buffers of a lossless fabric can wait for each other in a circle.
 *
 * A packet holds a buffer at the end of one channel while it waits for the next one on its way.
 * Nodes of the graph are channels between switches; an edge leads from one to another when some
 * route takes them in turn. Without a cycle nothing waits for ever (Dally and Seitz, 1987). All
 * routes are taken to share one lane: file routing gives every path service level 0, and a RoCE
 * connection keeps its class.
 *
 * Edges are read from what is written or offered, hop by hop and switch by switch; how the paths
 * were chosen is not asked.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "myriad/base.h"
#include "myriad/site/tables.h"

struct myr_dependencies {
    const struct myr_graph *graph;
    uint32_t *first; /* by switch: of its rows, one a port; a row has 'words' words */
    uint32_t words;
    uint64_t *rows; /* what comes in by the port leaves by the ports of the row's bits */
};

struct myr_cycle {
    uint32_t count; /* 0: there is none */
    uint32_t *channels;
};

void myr_dependencies_init(struct myr_dependencies *ret, struct myr_arena *arena,
                           const struct myr_graph *graph);
/*
 * Adds what forwarding tables do: from every switch to hosts, as switches answer them, and from
 * switches with hosts to every switch, as hosts ask them.
 */
void myr_dependencies_tables(struct myr_dependencies *dependencies,
                             const struct myr_tables *tables);
/*
 * Adds what hashing switches may do: every candidate at every switch on the way from any switch
 * with hosts to any other, and the given routes, which may have gone around something dead. Links
 * between the same two switches are one here: whatever goes over one of them may go over all.
 */
void myr_dependencies_hashed(struct myr_dependencies *dependencies,
                             const struct myr_routes *routes);
/* Some cycle, in the order of its channels; they live in the arena. */
struct myr_cycle myr_dependencies_cycle(const struct myr_dependencies *dependencies,
                                        struct myr_arena *arena);
/* Edges in all. */
uint64_t myr_dependencies_count(const struct myr_dependencies *dependencies);

/* "leaf/p0-g0-r0:17/1, spine/p0-0:1/1, ...": the ports that a cycle leaves by, some of them. */
void myr_cycle_put(const struct myr_cycle *cycle, const struct myr_design *design,
                   struct myr_buf *buf);
