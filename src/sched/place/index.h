/*
 * index: the state behind a placer, shared by the files of this module.
 *
 * Nodes are numbered along the topology, so a domain, a leaf and a pod are each a run of numbers.
 * Every level keeps how many whole nodes are free in each of its units; leaves and pods also lie in
 * buckets by that number. One change of one node touches one word of the bitset and one counter a
 * level.
 */
#pragma once

#include "flat/flat.h"
#include "myriad/sched/place.h"

/* Units (leaves, pods) by how many whole nodes are free in them. */
struct buckets {
    uint32_t units, most;      /* counts run from 0 to most */
    uint32_t *count;           /* by unit: free nodes */
    uint32_t *first;           /* by count: a unit, or MYR_NONE */
    uint32_t *next, *previous; /* by unit: others with as many free nodes */
    uint64_t *occupied;        /* bit by count */
};

/* A partition of the nodes that need not follow the topology: racks, power rows. */
struct zone {
    uint32_t units;    /* 0: the zone is not known */
    uint32_t *unit_of; /* by node */
    uint32_t *free;    /* by unit: whole nodes */
};

enum { PLACER_SHUT = 1, PLACER_HELD = 2 }; /* why a node is closed */

struct search_scratch;

struct myr_placer {
    struct myr_place_shape shape;
    uint32_t groups, pods, domains;
    uint32_t domain_nodes;                   /* nodes of one scale-up domain */
    uint64_t whole;                          /* mask of a free node */
    uint64_t *free_mask;                     /* by node */
    uint64_t *free_words;                    /* bit by node: whole, usable and not held */
    uint8_t *closed;                         /* by node: not usable, or held */
    uint8_t *kind;                           /* by node */
    uint32_t *group_of, *pod_of, *domain_of; /* by node */
    uint32_t *domain_free;                   /* by domain: whole free nodes */
    uint32_t free_gpus, free_nodes;          /* on nodes that are open */
    bool plain;                              /* remainders of gangs lie anywhere */
    struct buckets by_group, by_pod;
    struct zone zones[MYR_ZONE_COUNT];
    /* Thousandths of what a node sends in a step; see request.h. */
    uint32_t *node_penalty, *group_penalty;
    uint32_t penalised; /* how many of both are not zero */
    /* Nodes with k free GPUs, 0 < k < all, as lists. */
    uint32_t partial_first[MYR_SCHED_GPUS_MAX + 1];
    uint32_t *partial_next, *partial_previous;
    uint64_t partial_occupied[2];   /* bit by k: a list is not empty */
    uint64_t version;               /* counts changes of what is free */
    struct search_scratch *scratch; /* of search/; made when first used */
};

extern const struct flat_type placer_flat; /* place/index_flat.c */
/* One to try things with; freed by myr_placer_free(). */
struct myr_placer *placer_copy(const struct myr_placer *p);
/* Whether one that was read can be worked with; place/index_sound.c. */
bool placer_is_sound(const struct myr_placer *p);

/* A unit with the least count that is at least 'wanted'; MYR_NONE when none has it. */
uint32_t bucket_best(const struct buckets *b, uint32_t wanted);
/* A unit with the greatest count; MYR_NONE when all are empty. */
uint32_t bucket_fullest(const struct buckets *b);

/* The free GPUs of a node change. */
void index_set_mask(struct myr_placer *p, uint32_t node, uint64_t mask);
/* Whole free nodes are taken, given along the topology: one change a leaf and a pod. */
void index_take_whole(struct myr_placer *p, const uint32_t *nodes, uint32_t count);
void scratch_free(struct search_scratch *scratch); /* search/scratch.c */

static inline uint32_t index_free_on(const struct myr_placer *p, uint32_t node)
{
    return (uint32_t)__builtin_popcountll(p->free_mask[node]);
}

static inline bool index_is_free(const struct myr_placer *p, uint32_t node)
{
    return p->free_words[node / 64] >> node % 64 & 1;
}

/* Nodes of a leaf are first to end - 1. */
static inline uint32_t index_group_end(const struct myr_placer *p, uint32_t group)
{
    uint64_t end = ((uint64_t)group + 1) * p->shape.group_nodes;
    return end < p->shape.nodes ? (uint32_t)end : p->shape.nodes;
}
