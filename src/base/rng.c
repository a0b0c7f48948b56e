/*
 * rng: Philox 4x32-10, a generator that is a function of seed, stream and position. Draws of one
 * stream do not depend on those of another.
 */
#include "myriad/base/rng.h"

#include "myriad/base/err.h"

enum { PHILOX_ROUNDS = 10 };

/* Multipliers and key increments are those of the paper; a test holds its published vectors. */
void myr_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t ret[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < PHILOX_ROUNDS; round++) {
        uint64_t p0 = UINT64_C(0xD2511F53) * c0;
        uint64_t p1 = UINT64_C(0xCD9E8D57) * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
    ret[0] = c0;
    ret[1] = c1;
    ret[2] = c2;
    ret[3] = c3;
}

void myr_rng_init(struct myr_rng *rng, uint64_t seed, uint64_t stream)
{
    *rng = (struct myr_rng){.seed = seed, .stream = stream};
}

uint32_t myr_rng_u32(struct myr_rng *rng)
{
    if (rng->left == 0) {
        /*
         * The position counts blocks of four; stream and position share the counter, so that
         * streams of one seed never meet.
         */
        const uint32_t counter[4] = {(uint32_t)rng->position, (uint32_t)(rng->position >> 32),
                                     (uint32_t)rng->stream, (uint32_t)(rng->stream >> 32)};
        const uint32_t key[2] = {(uint32_t)rng->seed, (uint32_t)(rng->seed >> 32)};
        myr_philox(counter, key, rng->block);
        rng->position++;
        rng->left = 4;
    }
    MYR_ASSERT(rng->left <= 4);
    /* From the back of the block. The order is part of what a seed means: results depend on it. */
    return rng->block[--rng->left];
}

uint64_t myr_rng_u64(struct myr_rng *rng)
{
    uint64_t high = myr_rng_u32(rng);
    return high << 32 | myr_rng_u32(rng);
}

/* The high half of a product, with no division in nearly all draws. */
uint32_t myr_rng_below(struct myr_rng *rng, uint32_t bound)
{
    MYR_ASSERT(bound > 0);
    /* Values under a threshold, which is less than the bound and takes a division, would make the
     * low results more likely; draw again. */
    for (;;) {
        uint64_t product = (uint64_t)myr_rng_u32(rng) * bound;
        if ((uint32_t)product >= bound || (uint32_t)product >= (0 - bound) % bound) {
            return (uint32_t)(product >> 32);
        }
    }
}

/* Fisher and Yates from the back: each order is as likely as any other. */
void myr_rng_shuffle(struct myr_rng *rng, uint32_t *items, uint32_t count)
{
    for (uint32_t i = count; i > 1; i--) {
        uint32_t other = myr_rng_below(rng, i);
        uint32_t kept = items[i - 1];
        items[i - 1] = items[other];
        items[other] = kept;
    }
}
