/*
 * ranks: who is who in a layout. Coordinates of a rank, the groups of an axis, the pipeline.
 *
 * Nothing is materialised: a question costs a few divisions, so 100,000 ranks need no tables.
 * The layout must have passed myr_layout_check().
 */
#pragma once

#include "myriad/work/layout.h"

/* (tp, cp, dp, pp) decides the rank; (etp, ep, edp, pp) is the same rank among the experts. */
struct myr_coords {
    uint32_t tp, cp, dp, pp;
    uint32_t etp, ep, edp;
};

struct myr_coords myr_layout_coords(const struct myr_layout *layout, uint32_t rank);
/* Uses tp, cp, dp and pp. */
uint32_t myr_layout_rank(const struct myr_layout *layout, const struct myr_coords *coords);

/*
 * The groups of an axis: sets of ranks that differ in that axis only, and communicate. Groups are
 * numbered by their lowest member (MIRROR: with pp slowest); members are in the axis' own order, so
 * that neighbours in a ring are members m and m + 1. Every rank is in exactly one group of each
 * axis, but for EMBEDDING, where only the outer stages are. MIRROR needs an even pp.
 */
#define MYR_GROUP_DIGITS_MAX 6

struct myr_digit {
    uint32_t size;
    uint32_t stride; /* in ranks */
};

struct myr_groups {
    uint32_t group_count;
    uint32_t group_size;
    uint32_t inner_count, outer_count;
    struct myr_digit inner[MYR_GROUP_DIGITS_MAX]; /* inside a group, fastest first */
    struct myr_digit outer[MYR_GROUP_DIGITS_MAX]; /* from group to group */
    struct myr_digit stage;                       /* MIRROR and EMBEDDING: where the pipeline is */
    bool mirror;
};

void myr_groups_init(struct myr_groups *groups, const struct myr_layout *layout,
                     enum myr_axis axis);
uint32_t myr_groups_member(const struct myr_groups *groups, uint32_t group, uint32_t member);

struct myr_group_place {
    uint32_t group;
    uint32_t member;
};

/* False when the rank is in no group of this axis. */
bool myr_groups_place(const struct myr_groups *groups, uint32_t rank, struct myr_group_place *ret);

/*
 * The pipeline. Layers are dealt to the pp * vp chunks in order. Where they do not divide, the
 * outer chunks get one less, the last before the first (the output matrix weighs more than the
 * embedding), then the ones next to them: 126 layers on 16 stages are 7, 14 times 8, 7. The first
 * and the last chunk may be left without any layer: 126 layers on 16 x 8 chunks.
 */
struct myr_span {
    uint32_t first;
    uint32_t count;
};

struct myr_span myr_layout_chunk_layers(const struct myr_layout *layout,
                                        const struct myr_model *model, uint32_t chunk);

/* Chunks on a stage: vp, or two with DualPipe. Each sees 'passes' micro-batches in a step. */
uint32_t myr_layout_stage_chunk_count(const struct myr_layout *layout);
uint32_t myr_layout_stage_chunk(const struct myr_layout *layout, uint32_t stage, uint32_t index);
uint32_t myr_layout_passes(const struct myr_layout *layout);

/*
 * Micro-batches whose activations of the index-th chunk a stage keeps at the worst moment:
 *   1F1B, zero-bubble  min(m, pp - stage)
 *   interleaved        of the first min(m*vp, 2*(pp-stage-1) + (vp-1)*pp + 1) forward passes, which
 *                      go round in runs of pp, those of this chunk (Korthikanti et al., 4.2.3)
 *   DualPipe           (pp+1) in both chunks together (DeepSeek-V3, table 2)
 */
uint32_t myr_layout_in_flight(const struct myr_layout *layout, uint32_t stage, uint32_t index);
/* Summed over the chunks of the stage. */
uint32_t myr_layout_in_flight_all(const struct myr_layout *layout, uint32_t stage);
