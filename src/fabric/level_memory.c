#include "level.h"

#include <stdlib.h>

/*
 * All uplinks are alive and no edges placed. A group has as many uplinks at every node: dead ones
 * only lower 'alive'.
 */
void level_init(struct level *level, uint32_t nodes, uint32_t base, const uint32_t *group_of)
{
    MYR_ASSERT(base > 0 && group_of[base - 1] < base);
    *level = (struct level){.nodes = nodes, .base = base, .groups = group_of[base - 1] + 1};
    size_t places = (size_t)nodes * level->groups, links = (size_t)nodes * base;
    level->group_start = myr_xcalloc((size_t)level->groups + 1, sizeof(uint32_t));
    for (uint32_t k = base; k > 0; k--) { /* downwards: the first uplink of a group stays */
        level->group_start[group_of[k - 1]] = k - 1;
    }
    level->group_start[level->groups] = base;
    level->alive = myr_xcalloc(places, sizeof(uint32_t));
    level->alive_total = myr_xcalloc(nodes, sizeof(uint32_t));
    /* Nothing is dead or barred at first. */
    level->dead = myr_xcalloc(links, sizeof(bool));
    level->barred = myr_xcalloc(places, sizeof(bool));
    for (uint32_t node = 0; node < nodes; node++) {
        level->alive_total[node] = base;
        for (uint32_t g = 0; g < level->groups; g++) {
            level->alive[(size_t)node * level->groups + g] =
                level->group_start[g + 1] - level->group_start[g];
        }
    }
    for (uint32_t side = 0; side < 2; side++) {
        struct level_half *half = &level->half[side];
        /* LEVEL_NONE is all ones: every list is empty. */
        half->first = myr_xrealloc(NULL, places, sizeof(uint32_t));
        memset(half->first, 0xFF, places * sizeof(uint32_t));
        half->count = myr_xcalloc(places, sizeof(uint32_t));
        half->weight = myr_xcalloc(links, sizeof(uint64_t));
        half->degree = myr_xcalloc(nodes, sizeof(uint32_t));
    }
}

/* A level that was never made is all zero, and is left so. */
void level_done(struct level *level)
{
    for (uint32_t side = 0; side < 2; side++) {
        free(level->half[side].first);
        free(level->half[side].count);
        free(level->half[side].weight);
        free(level->half[side].degree);
    }
    free(level->group_start);
    free(level->alive);
    free(level->alive_total);
    free(level->dead);
    free(level->barred);
    myr_vec_done(&level->edges);
    myr_vec_done(&level->touched);
    myr_vec_done(&level->trail);
    *level = (struct level){};
}
