#include "level.h"

#include <stdlib.h>

/*
 * Two edges of one leaving node exchange their groups. Where they arrive, one node then has one
 * more of the first group and one less of the second, the other node the reverse. A chain of edges
 * that turn between the two groups carries this difference from the one node to the other.
 */

struct search {
    uint32_t *came[2];       /* by side and node: the edge over which it was reached */
    MYR_VEC(uint32_t) queue; /* arriving nodes */
};

/* From an arriving node over edges of 'give' to leaving nodes, and on over edges of 'get'. */
static bool widen(const struct level *level, struct search *search, uint32_t node, uint32_t give,
                  uint32_t get, uint32_t goal, const bool *movable)
{
    for (uint32_t i = level->half[LEVEL_IN].first[level_spot(level, node, give)]; i != LEVEL_NONE;
         i = level->edges.items[i].next[LEVEL_IN]) {
        uint32_t from = level->edges.items[i].node[LEVEL_OUT];
        if (!movable[i] || search->came[LEVEL_OUT][from] != LEVEL_NONE) {
            continue;
        }
        /* Each node is reached once, by the shortest chain. */
        search->came[LEVEL_OUT][from] = i;
        for (uint32_t k = level->half[LEVEL_OUT].first[level_spot(level, from, get)];
             k != LEVEL_NONE; k = level->edges.items[k].next[LEVEL_OUT]) {
            uint32_t to = level->edges.items[k].node[LEVEL_IN];
            if (movable[k] && search->came[LEVEL_IN][to] == LEVEL_NONE) {
                search->came[LEVEL_IN][to] = k;
                myr_vec_push(&search->queue, to);
                if (to == goal) {
                    return true;
                }
            }
        }
    }
    return false;
}

/* Breadth first: the fewest edges that make up for a swap between the two arriving nodes. */
static bool find_way(const struct level *level, struct search *search, uint32_t start,
                     uint32_t goal, uint32_t give, uint32_t get, const bool *movable)
{
    myr_vec_push(&search->queue, start);
    for (size_t at = 0; at < search->queue.count; at++) {
        if (widen(level, search, search->queue.items[at], give, get, goal, movable)) {
            return true;
        }
    }
    return false;
}

static void search_done(struct search *search)
{
    myr_vec_done(&search->queue);
    free(search->came[LEVEL_OUT]);
    free(search->came[LEVEL_IN]);
}

/*
 * 'get' is what the first edge has and the second one gets, 'give' the reverse; the chain is walked
 * back from the goal, and every edge on it turns.
 */
bool level_swap(struct level *level, uint32_t a, uint32_t b, const bool *movable)
{
    const struct level_edge *first = &level->edges.items[a], *second = &level->edges.items[b];
    uint32_t get = first->group, give = second->group;
    uint32_t start = first->node[LEVEL_IN], goal = second->node[LEVEL_IN];
    MYR_CLEANUP(search_done) struct search search = {};
    MYR_ASSERT(first->node[LEVEL_OUT] == second->node[LEVEL_OUT] && get != give);
    for (uint32_t side = 0; side < 2; side++) {
        search.came[side] = myr_xrealloc(NULL, level->nodes, sizeof(uint32_t));
        memset(search.came[side], 0xFF, level->nodes * sizeof(uint32_t));
    }
    /* The two edges are spoken for: their node is not passed through. */
    search.came[LEVEL_OUT][first->node[LEVEL_OUT]] = a;
    bool found = start == goal || find_way(level, &search, start, goal, give, get, movable);
    if (found) {
        level->trail.count = 0;
        /* Two edges for each step of the chain: one gives, one gets. */
        for (uint32_t node = goal; node != start;) {
            uint32_t last = search.came[LEVEL_IN][node];
            MYR_ASSERT(last != LEVEL_NONE && level->edges.items[last].group == get);
            uint32_t before = search.came[LEVEL_OUT][level->edges.items[last].node[LEVEL_OUT]];
            level_turn(level, last, give);
            level_turn(level, before, get);
            node = level->edges.items[before].node[LEVEL_IN];
        }
        level_turn(level, a, give);
        level_turn(level, b, get);
        level_settle(level);
        MYR_ASSERT(first->group == give && second->group == get);
    }
    return found;
}
