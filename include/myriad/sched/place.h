/*
 * place: which GPUs are free, and the best set of them for a gang.
 *
 * Three levels above the node: group (the nodes of one set of leaves), pod, whole cluster. The
 * index keeps, for every level, how many whole nodes are free, and buckets of groups and pods by
 * that number; taking or giving back a GPU updates a handful of words.
 *
 * A gang of whole nodes goes to the fullest place that holds it: the group with the fewest free
 * nodes that suffice, else the pod, with as few groups as possible, else as few pods as possible.
 * What fits on one node goes to the node with the fewest free GPUs that suffice, in the group with
 * the fewest whole free nodes, so that whole nodes, groups and pods stay free for gangs.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "myriad/base.h"
#include "myriad/model.h"

#define MYR_SCHED_GPUS_MAX 64 /* of a node */

struct myr_place_shape {
    uint32_t nodes, gpus_per_node;
    uint32_t group_nodes; /* nodes under one set of leaves */
    uint32_t pod_nodes;   /* a multiple of group_nodes; nodes when there are no pods */
};

/* The shape of a design's compute network. */
struct myr_place_shape myr_place_shape_of(const struct myr_design *design);

/* Partitions beside the topology; what fails or runs out of power together. */
enum myr_zone { MYR_ZONE_RACK, MYR_ZONE_ROW, MYR_ZONE_COUNT };

struct myr_placer;

struct myr_placer *myr_placer_create(const struct myr_place_shape *shape);
void myr_placer_free(struct myr_placer *placer);
/* A larger cluster in its place, with all that it knows; the old one is freed. */
struct myr_placer *myr_placer_grow(struct myr_placer *old, const struct myr_place_shape *shape);

/* GPUs of one node that a job holds. */
struct myr_share {
    uint32_t node;
    uint64_t gpus; /* mask */
};

struct myr_gang {
    uint32_t count;
    struct myr_share *shares; /* in topology order: neighbours stand together */
};

/*
 * Places 'gpus' GPUs: on one node when they fit there, else on whole nodes and the remainder on one
 * more. Returns false, and takes nothing, when they do not all fit. 'shares' has room for
 * myr_place_nodes() entries.
 */
bool myr_place(struct myr_placer *placer, uint32_t gpus, struct myr_gang *ret);
uint32_t myr_place_nodes(const struct myr_placer *placer, uint32_t gpus);
/* Whether it would fit now; O(1). */
bool myr_place_fits(const struct myr_placer *placer, uint32_t gpus);
/* Whether it would fit now into as few groups as its size allows. */
bool myr_place_fits_group(const struct myr_placer *placer, uint32_t gpus);
/* Takes exactly these GPUs of a node, which must be free; held nodes too. */
void myr_place_take(struct myr_placer *placer, uint32_t node, uint64_t gpus);
/*
 * The open nodes that are partly in use and have the fewest free GPUs that suffice, one after the
 * other: the first for MYR_NONE, then the one after each. MYR_NONE: there are no more.
 */
uint32_t myr_place_partly(const struct myr_placer *placer, uint32_t gpus, uint32_t after);
/* Whole free nodes in the group of a node. */
uint32_t myr_placer_free_beside(const struct myr_placer *placer, uint32_t node);
/* Gives the gang's GPUs back. */
void myr_release(struct myr_placer *placer, const struct myr_gang *gang);

/* A node leaves or joins; its running GPUs are not touched. */
void myr_placer_set_node(struct myr_placer *placer, uint32_t node, bool usable);
/* Held nodes are kept free for somebody: nothing is placed on them until they are let go. */
void myr_placer_hold(struct myr_placer *placer, uint32_t node, bool held);

/* The remainder of a gang goes to the fullest node that holds it, wherever that is: textbooks'. */
void myr_placer_set_plain(struct myr_placer *placer, bool plain);

/* Usable, and not held. */
bool myr_placer_is_open(const struct myr_placer *placer, uint32_t node);
/* GPUs of a node that nobody has, whether or not it is held or usable. */
uint64_t myr_placer_free_mask(const struct myr_placer *placer, uint32_t node);
/*
 * More of the cluster than its shape, each given once. Domain: nodes of one scale-up domain; 1 when
 * never called. Zone: the unit of every node. Kind: which GPUs a node has (all 0 at first).
 */
void myr_placer_set_domain(struct myr_placer *placer, uint32_t nodes);
void myr_placer_set_zone(struct myr_placer *placer, enum myr_zone zone, const uint32_t *unit_of);
void myr_placer_set_kind(struct myr_placer *placer, uint32_t node, uint8_t kind);
uint32_t myr_placer_zone_free(const struct myr_placer *placer, enum myr_zone zone, uint32_t unit);

/*
 * What speaks against a node or a leaf now: load and flaps of its links, power that its row has not
 * left. In thousandths of what one node sends in a step, at most MYR_PENALTY_MAX, which outweighs
 * everything else; request.h adds it to the cost.
 */
enum { MYR_PENALTY_MAX = 1 << 20 };
void myr_placer_set_penalty(struct myr_placer *placer, uint32_t node, uint32_t milli);
void myr_placer_set_leaf_penalty(struct myr_placer *placer, uint32_t leaf, uint32_t milli);

/* What is known of a node or leaf now; zeroed but for headroom means nothing is wrong. */
struct myr_condition {
    double link_load;      /* part of its links' rate in use, 0 to 1 */
    double flaps_per_day;  /* of its links, lately */
    double power_headroom; /* part of its row's power not in use, 0 to 1 */
};

/*
 * The penalty for it: load² + the smaller of 1 and flaps / 20 + half of what is lacking of a tenth
 * of headroom (none at 0.1, 0.5 at 0).
 */
uint32_t myr_condition_penalty(const struct myr_condition *condition);

uint32_t myr_placer_free_gpus(const struct myr_placer *placer);
uint32_t myr_placer_free_nodes(const struct myr_placer *placer);
/* Groups (leaves) that a gang touches. */
uint32_t myr_gang_groups(const struct myr_placer *placer, const struct myr_gang *gang);
