/*
 * rng: random streams that are a pure function of (seed, stream, position).
 *
 * Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011). A stream
 * can be skipped or split without touching the others, so adding a consumer in one subsystem never
 * changes what another one draws. Integers only: the same on every machine.
 */
#pragma once

#include <stdint.h>

struct myr_rng {
    uint64_t seed;
    uint64_t stream;
    uint64_t position; /* blocks drawn so far */
    uint32_t block[4];
    uint32_t left; /* words of 'block' not handed out yet */
};

void myr_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t ret[4]);

void myr_rng_init(struct myr_rng *rng, uint64_t seed, uint64_t stream);
uint32_t myr_rng_u32(struct myr_rng *rng);
uint64_t myr_rng_u64(struct myr_rng *rng);
/* Uniform in 0 to bound - 1, without bias. 'bound' > 0. */
uint32_t myr_rng_below(struct myr_rng *rng, uint32_t bound);
/* Fisher-Yates. */
void myr_rng_shuffle(struct myr_rng *rng, uint32_t *items, uint32_t count);
