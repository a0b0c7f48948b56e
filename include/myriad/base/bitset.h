/*
 * bitset: a fixed-size set of small integers, walked in ascending order.
 *
 * 100,000 members take 12.5 kB, so walking or copying a whole set costs less than the bookkeeping
 * of a sparse one. The words belong to the arena given to init.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "myriad/base/mem.h"

#define MYR_BITSET_NONE UINT32_MAX

struct myr_bitset {
    uint64_t *words;
    uint32_t size; /* valid members are 0 to size - 1 */
};

void myr_bitset_init(struct myr_bitset *set, struct myr_arena *arena, uint32_t size);
/* The first member at or after 'from', or MYR_BITSET_NONE. */
uint32_t myr_bitset_next(const struct myr_bitset *set, uint32_t from);

static inline void myr_bitset_add(struct myr_bitset *set, uint32_t member)
{
    MYR_ASSERT(member < set->size);
    set->words[member / 64] |= UINT64_C(1) << (member % 64);
}

static inline void myr_bitset_remove(struct myr_bitset *set, uint32_t member)
{
    MYR_ASSERT(member < set->size);
    set->words[member / 64] &= ~(UINT64_C(1) << (member % 64));
}

static inline bool myr_bitset_has(const struct myr_bitset *set, uint32_t member)
{
    MYR_ASSERT(member < set->size);
    return set->words[member / 64] >> (member % 64) & 1;
}

#define myr_bitset_foreach(member, set)                                          \
    for (uint32_t member = myr_bitset_next((set), 0); member != MYR_BITSET_NONE; \
         member = myr_bitset_next((set), member + 1))
