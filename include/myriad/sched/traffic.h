/*
 * traffic: what the nodes of a gang send each other in one step.
 *
 * A cell is what one node runs: 'gpus_per_cell' consecutive ranks of the layout, so the axes that
 * its order puts first (tensor parallelism) stay inside a node. Groups of ranks become groups of
 * cells; groups with the same cells are one family and their bytes are summed. A pipeline is a
 * family of pairs, stage by stage. Groups that a node's edge cuts through (6 ranks on nodes of 4
 * GPUs that a rack joins) count as one with their neighbours, over the least run of whole nodes.
 * Bytes are those that members send at least (work/comm.h), as the mean over stages; the gradient
 * norm, tied embeddings and mirrored copies are left out.
 *
 * Without a model the bytes of a rank stand to each other as 64 (tensor), 16 (context), 8 (expert),
 * 4 (data) and 1 (pipeline): an order that holds for most dense models.
 */
#pragma once

#include "myriad/work.h"

#define MYR_TRAFFIC_FAMILIES_MAX 10
#define MYR_TRAFFIC_DIGITS_MAX   6

/* How the cells of a group differ, in the digits of their numbers. */
enum myr_members {
    MYR_MEMBERS_LISTED,     /* only 'offsets' tells */
    MYR_MEMBERS_ALL,        /* every value of the family's digits */
    MYR_MEMBERS_NEIGHBOURS, /* two neighbouring values of its one digit */
    MYR_MEMBERS_ENDS,       /* the least and the greatest value of its one digit */
};

struct myr_traffic_family {
    enum myr_axis axis;
    enum myr_members members;
    uint32_t digit_bits; /* bit by digit of the cell's number; 0 when members are listed */
    double bytes;        /* of one group in one step */
    uint32_t group_size, group_count;
    uint32_t *offsets; /* of the members from the first cell */
    uint32_t *firsts;  /* first cell of each group */
};

struct myr_job_traffic {
    uint32_t cells, gpus_per_cell;
    uint32_t family_count;
    struct myr_traffic_family families[MYR_TRAFFIC_FAMILIES_MAX];
    double inside_bytes;  /* never leave a node */
    double between_bytes; /* sum over all groups of all families */
    /* The cell's number in mixed radix, fastest first, fine enough for every family. */
    uint32_t digit_count;
    uint32_t digits[MYR_TRAFFIC_DIGITS_MAX];
};

/* 'model' may be NULL. The layout must have passed myr_layout_check() when there is one. */
MYR_MUST_USE int myr_job_traffic_of(const struct myr_layout *layout, const struct myr_model *model,
                                    uint32_t gpus_per_node, struct myr_arena *arena,
                                    struct myr_job_traffic *ret, struct myr_err *err);
