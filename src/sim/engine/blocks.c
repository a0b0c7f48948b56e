#include "engine/internal.h"

/* Pools of blocks whose sizes are powers of two: hops, entries and ties. */

/* The smallest power of two that holds 'count'; 0 and 1 both take one. */
uint32_t sim_class_of(uint32_t count)
{
    uint32_t class = 0;
    MYR_ASSERT(count <= UINT32_C(1) << (SIM_CLASSES - 1)); /* else no power of two holds it */
    while (UINT32_C(1) << class < count) {
        class ++;
    }
    return class;
}

/* At least eight: blocks begin at multiples of eight, and six hops are in two lines of cache. */
uint32_t sim_hop_class(uint32_t count)
{
    MYR_ASSERT(count > 0);
    return count > 8 ? sim_class_of(count) : 3;
}

/*
 * A block that was given back, or one at the end of the pool, which the caller then grows by
 * 'ret_grow'.
 */
uint32_t sim_take_block(struct sim_free *free, uint32_t class, size_t used, uint32_t *ret_grow)
{
    MYR_ASSERT(class < SIM_CLASSES);
    *ret_grow = 0;
    if (free->blocks[class].count) {
        uint32_t first = free->blocks[class].items[--free->blocks[class].count];
        MYR_ASSERT(first < used);
        MYR_ASSERT(used - first >= UINT64_C(1) << class);
        return first;
    }
    MYR_ASSERT(used + (UINT64_C(1) << class) < MYR_NONE);
    *ret_grow = UINT32_C(1) << class;
    return (uint32_t)used;
}
