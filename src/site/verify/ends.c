#include "verify/ends.h"

/* Counted, then filled: ends of one device are in a row, in the order of links. */
void found_ends_fill(struct found_ends *ends, const struct myr_cabling *cabling,
                     struct myr_arena *arena)
{
    uint32_t devices = (uint32_t)cabling->devices.count;
    uint32_t count = 2 * (uint32_t)cabling->links.count;
    uint32_t *fill = MYR_ARENA_NEW(arena, uint32_t, (size_t)devices + 1);
    *ends = (struct found_ends){.cabling = cabling,
                                .first = MYR_ARENA_NEW(arena, uint32_t, (size_t)devices + 2),
                                .ends = MYR_ARENA_NEW(arena, uint32_t, count)};
    for (uint32_t end = 0; end < count; end++) {
        ends->first[found_end(ends, end).device + 1]++;
    }
    for (uint32_t d = 0; d < devices; d++) {
        ends->first[d + 1] += ends->first[d];
        fill[d] = ends->first[d];
    }
    for (uint32_t end = 0; end < count; end++) {
        ends->ends[fill[found_end(ends, end).device]++] = end;
    }
}
