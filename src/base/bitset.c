#include "myriad/base/bitset.h"

#include <string.h>

/* Not (size + 63) / 64: that overflows for the largest sets. */
static uint32_t word_count(const struct myr_bitset *set)
{
    return set->size / 64 + (set->size % 64 != 0);
}

void myr_bitset_init(struct myr_bitset *set, struct myr_arena *arena, uint32_t size)
{
    MYR_ASSERT(size < MYR_BITSET_NONE);
    set->size = size;
    set->words = MYR_ARENA_NEW(arena, uint64_t, word_count(set));
}

uint32_t myr_bitset_next(const struct myr_bitset *set, uint32_t from)
{
    if (from >= set->size) {
        return MYR_BITSET_NONE;
    }
    uint32_t word = from / 64;
    /* Bits below 'from' are masked away in the first word alone; every later word counts whole. */
    uint64_t bits = set->words[word] & (UINT64_MAX << (from % 64));
    while (bits == 0) {
        word++;
        if (word == word_count(set)) {
            return MYR_BITSET_NONE;
        }
        bits = set->words[word];
    }
    uint32_t found = word * 64 + (uint32_t)__builtin_ctzll(bits);
    MYR_ASSERT(found >= from && found < set->size); /* nothing sets a bit beyond the size */
    return found;
}
