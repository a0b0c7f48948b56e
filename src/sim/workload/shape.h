/* What the full schedule and the collapsed form of a collective have in common. */
#pragma once

#include "myriad/model.h"
#include "myriad/sim/collective.h"

/* Bytes * times / of, rounded up. */
static inline uint64_t shape_part(uint64_t bytes, uint64_t times, uint64_t of)
{
    return (uint64_t)(((unsigned __int128)bytes * times + of - 1) / of);
}

/* Chunks differ by a byte at most, and add up to all of them. */
static inline uint64_t shape_chunk_bytes(uint64_t bytes, uint32_t chunk, uint32_t chunks)
{
    return (uint64_t)((unsigned __int128)bytes * (chunk + 1) / chunks -
                      (unsigned __int128)bytes * chunk / chunks);
}

/* Whether the algorithm can run this collective over these ranks. */
MYR_MUST_USE int shape_check(const struct myr_collective_shape *shape, struct myr_err *err);

/* Rings that run side by side, each over NICs of its own. */
uint32_t shape_channels(const struct myr_collective_shape *shape);
/* Steps of a ring, in pieces of S/N: all-reduce goes round twice. */
uint32_t shape_ring_steps(enum myr_collective collective, uint32_t ranks);
/* The rank at a place of a channel's ring. */
uint32_t shape_ring_rank(const struct myr_collective_shape *shape, uint32_t channel,
                         uint32_t position);

/* Levels of a binary tree over so many ranks. */
uint32_t shape_depth(uint32_t ranks);
/* In-order binary tree over 0..n-1: the parent of i, or n for the root. */
uint32_t shape_tree_parent(uint32_t i, uint32_t ranks);

/*
 * Exchanges of log2 N steps: halving and doubling, between pairs; the trees of an all-gather or a
 * reduce-scatter, round the list. In a step every rank sends to one and gets from one.
 */
bool shape_exchanges(const struct myr_collective_shape *shape);
uint32_t shape_exchange_steps(const struct myr_collective_shape *shape);
struct shape_exchange {
    uint32_t distance;
    uint64_t bytes;
};
struct shape_exchange shape_exchange_at(const struct myr_collective_shape *shape, uint32_t step);
uint32_t shape_exchange_to(const struct myr_collective_shape *shape, uint32_t rank,
                           uint32_t distance);
uint32_t shape_exchange_from(const struct myr_collective_shape *shape, uint32_t rank,
                             uint32_t distance);

/* Between scale-up domains, over the rail of each local rank: so many sends of so many bytes. */
struct shape_rail {
    uint32_t steps, hops; /* hops: latencies of each; through a switch that reduces, two */
    uint64_t bytes;
};
struct shape_rail shape_rail_of(const struct myr_collective_shape *shape, uint64_t bytes);

/* The phases of hier and in-network, in their order. */
enum shape_phase { SHAPE_SCATTER, SHAPE_RAIL, SHAPE_GATHER };
struct shape_phases {
    enum shape_phase items[3];
    uint32_t count, chunks;
};
struct shape_phases shape_phases_of(const struct myr_collective_shape *shape);
