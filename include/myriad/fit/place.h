/*
 * place: where the ranks of a job lie in a fabric, level by level.
 *
 * Ranks fill a fabric in order, so a block of a level (a scale-up domain, the nodes of a leaf, a
 * pod) is a run of ranks. A group of ranks that does not end inside a block sends over the links
 * that leave it; so do all other groups of its axis, which is what the links are shared by. What
 * leaves a block is slowed by what is missing there (oversubscription) and by flows that meet on
 * a link, which the table of 'myriad sim contention' knows for a design.
 */
#pragma once

#include "myriad/sim/contention.h"

#define MYR_FIT_LEVELS 3 /* scale-up domain, leaf, pod */

extern const char *const myr_fit_level_names[MYR_FIT_LEVELS];

/* What leaves a block of this level. */
struct myr_fit_level {
    uint32_t gpus;           /* of a block; 0: as many as there are */
    double oversubscription; /* NIC bandwidth of the block over that of the links that leave it */
    /* Line rate over the rate of a flow when every GPU of the block sends over those links. */
    double slow[MYR_CONTENTION_PATTERNS];
};

struct myr_fit_topology {
    struct myr_fit_level levels[MYR_FIT_LEVELS];
    bool measured; /* slowdowns come from a contention table, else from oversubscription alone */
    uint32_t gpus, domain_gpus;
    double nic_gbps; /* of one GPU on the compute network */
};

/*
 * The levels of a design for a job of so many GPUs. 'table' (or NULL) is what 'myriad sim
 * contention' found on the same design; without it flows are taken to spread evenly.
 */
MYR_MUST_USE int myr_fit_topology_init(struct myr_fit_topology *topology, struct myr_arena *arena,
                                       const struct myr_design *design,
                                       const struct myr_contention *table, uint32_t gpus,
                                       struct myr_err *err);

/* MYR_EINVAL for a table of another fabric: its levels would mean other links. */
MYR_MUST_USE int myr_fit_contention_check(const struct myr_contention *table,
                                          const struct myr_design *design, struct myr_err *err);

/* Which nodes of a design a job has, in the order of its ranks. */
struct myr_fit_placement {
    const uint32_t *nodes;
    uint32_t node_count;
    uint32_t gpus_per_node; /* that the job has of each; 0: all */
};

/*
 * The levels that 'all' (of the same design) has for a job on these nodes. A placement is compact
 * where it touches no more blocks of a level (domains, leaves, pods) than nodes that fill them one
 * after the other: it has the blocks of 'all', for whoever places also orders the ranks well. With
 * more of them a block is as small as the nodes that the job has in one on the average.
 */
MYR_MUST_USE int myr_fit_topology_placed(const struct myr_fit_topology *all,
                                         struct myr_arena *arena, const struct myr_design *design,
                                         const struct myr_fit_placement *placement,
                                         struct myr_fit_topology *ret, struct myr_err *err);
