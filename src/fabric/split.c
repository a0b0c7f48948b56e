#include "split.h"

#include <stdlib.h>

#define NOBODY UINT32_MAX

/* Passes over all pairs of colours; see deal_odd(). */
enum { RESPLIT_PASSES = 64 };

struct splitter {
    const struct split_shape *shape;
    const struct split_edge *edges;
    uint32_t *colour;        /* by edge: the answer */
    uint32_t *partner[2];    /* by edge */
    uint32_t *waiting;       /* by node and kind: an edge that has no partner yet */
    uint32_t *outer_waiting; /* by outer set: the same */
    uint32_t *scratch;       /* a list of edges */
    bool *second;            /* by edge: which half */
    int32_t *tally;          /* by side and node */
    bool flip;               /* paths begin with either half in turn */
};

static void join(struct splitter *splitter, uint32_t side, uint32_t a, uint32_t b)
{
    splitter->partner[side][a] = b;
    splitter->partner[side][b] = a;
}

/* The edge waiting at a place becomes the partner, or this one waits there. */
static void meet(struct splitter *splitter, uint32_t side, uint32_t *place, uint32_t edge)
{
    if (*place == NOBODY) {
        *place = edge;
        return;
    }
    join(splitter, side, *place, edge);
    *place = NOBODY;
}

/* Two places a node: edges inside the outer set and edges that leave it. */
static void pair_side(struct splitter *splitter, uint32_t side, const uint32_t *list,
                      uint32_t count)
{
    uint32_t nodes = splitter->shape->nodes;
    uint32_t *waiting = splitter->waiting;
    memset(waiting, 0xFF, (size_t)nodes * 2 * sizeof(*waiting));
    memset(splitter->outer_waiting, 0xFF, (size_t)splitter->shape->outers * sizeof(*waiting));
    for (uint32_t i = 0; i < count; i++) {
        const struct split_edge *edge = &splitter->edges[list[i]];
        /* Pairs of one kind first, so that both kinds come out even by themselves. */
        bool leaves = edge->outer[side] != SPLIT_NO_OUTER;
        splitter->partner[side][list[i]] = NOBODY;
        meet(splitter, side, &waiting[edge->node[side] * 2 + leaves], list[i]);
    }
    /*
     * At most one of each kind is left over. Where both are, the node is even; where one is that
     * leaves its set, another of the set is its partner, so that the set is even as well.
     */
    for (uint32_t node = 0; node < nodes; node++) {
        uint32_t stays = waiting[node * 2], leaves = waiting[node * 2 + 1];
        if (stays != NOBODY && leaves != NOBODY) {
            join(splitter, side, stays, leaves);
        } else if (leaves != NOBODY) {
            uint32_t outer = splitter->edges[leaves].outer[side];
            meet(splitter, side, &splitter->outer_waiting[outer], leaves);
        }
    }
}

/* Follows partners from an edge on, starting on 'side', and colours by turns. */
static void follow(struct splitter *splitter, uint32_t edge, uint32_t side, bool second,
                   uint8_t *done)
{
    while (edge != NOBODY && !done[edge]) {
        done[edge] = 1;
        splitter->second[edge] = second;
        edge = splitter->partner[side][edge];
        side = !side;
        second = !second;
    }
}

/* Marks the second half of the edges listed. */
static void halve(struct splitter *splitter, const uint32_t *list, uint32_t count, uint8_t *done)
{
    pair_side(splitter, 0, list, count);
    pair_side(splitter, 1, list, count);
    for (uint32_t i = 0; i < count; i++) {
        /* Marks are by edge, and the list is a part of all. */
        done[list[i]] = 0;
    }
    /*
     * Paths first, from an end that has no partner: a walk from the middle would colour half of it
     * twice.
     */
    for (uint32_t i = 0; i < count; i++) {
        uint32_t edge = list[i];
        bool lone[2] = {splitter->partner[0][edge] == NOBODY, splitter->partner[1][edge] == NOBODY};
        if (!done[edge] && (lone[0] || lone[1])) {
            follow(splitter, edge, lone[0] ? 1 : 0, splitter->flip, done);
            splitter->flip = !splitter->flip;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        follow(splitter, list[i], 0, false, done); /* what is left are cycles */
    }
}

/* First half to the front, order kept in both; returns its size. */
static uint32_t part(struct splitter *splitter, uint32_t *list, uint32_t count)
{
    uint32_t front = 0, back = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (splitter->second[list[i]]) {
            splitter->scratch[back++] = list[i];
        } else {
            list[front++] = list[i];
        }
    }
    memcpy(list + front, splitter->scratch, back * sizeof(*list));
    return front;
}

/* Whether some node has two more edges of one of the two colours than of the other. */
static bool uneven(struct splitter *splitter, const uint32_t *list, uint32_t count, uint32_t first)
{
    uint32_t nodes = splitter->shape->nodes;
    bool found = false;
    /* Tallies are zero before and after: only nodes of these edges are touched. */
    for (uint32_t i = 0; i < count; i++) {
        const struct split_edge *edge = &splitter->edges[list[i]];
        int32_t step = splitter->colour[list[i]] == first ? 1 : -1;
        splitter->tally[edge->node[0]] += step;
        splitter->tally[nodes + edge->node[1]] += step;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct split_edge *edge = &splitter->edges[list[i]];
        int32_t *tallies[] = {&splitter->tally[edge->node[0]],
                              &splitter->tally[nodes + edge->node[1]]};
        for (uint32_t side = 0; side < 2; side++) {
            found = found || *tallies[side] > 1 || *tallies[side] < -1;
            *tallies[side] = 0;
        }
    }
    return found;
}

struct colour_list {
    MYR_VEC(uint32_t) edges; /* in the order given to split_edges() */
};

/* The order given is kept: the heaviest are paired first in the new split too. */
static uint32_t merge(const struct colour_list *a, const struct colour_list *b, uint32_t *ret)
{
    size_t i = 0, k = 0;
    uint32_t count = 0;
    while (i < a->edges.count || k < b->edges.count) {
        bool from_a =
            k == b->edges.count || (i < a->edges.count && a->edges.items[i] < b->edges.items[k]);
        ret[count++] = from_a ? a->edges.items[i++] : b->edges.items[k++];
    }
    return count;
}

/* Two colours put together and split anew, where that improves a node. */
static bool resplit(struct splitter *splitter, struct colour_list *lists, uint32_t first,
                    uint32_t a, uint32_t b, uint32_t *pair, uint8_t *done)
{
    uint32_t count = merge(&lists[a], &lists[b], pair);
    if (!uneven(splitter, pair, count, first + a)) {
        return false;
    }
    /* Better at the uneven node, and no worse at any other. */
    halve(splitter, pair, count, done);
    lists[a].edges.count = lists[b].edges.count = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t to = splitter->second[pair[i]] ? b : a;
        splitter->colour[pair[i]] = first + to;
        myr_vec_push(&lists[to].edges, pair[i]);
    }
    return true;
}

/*
 * Each new split of two colours lowers the sum of squares at the uneven nodes and raises it
 * nowhere, so this ends; the number of passes is limited only for the sake of certainty.
 */
static void deal_odd(struct splitter *splitter, const uint32_t *list, uint32_t count,
                     uint32_t first, uint32_t colours, uint8_t *done)
{
    MYR_CLEANUP(myr_free_at) uint32_t *pair = myr_xcalloc(count, sizeof(*pair));
    MYR_CLEANUP(myr_free_at) struct colour_list *lists = myr_xcalloc(colours, sizeof(*lists));
    for (uint32_t i = 0; i < count; i++) {
        /* Anyhow, but in turn: near to even already. */
        splitter->colour[list[i]] = first + i % colours;
        myr_vec_push(&lists[i % colours].edges, list[i]);
    }
    bool changed = true;
    for (uint32_t pass = 0; changed && pass < RESPLIT_PASSES; pass++) {
        changed = false;
        for (uint32_t a = 0; a < colours; a++) {
            for (uint32_t b = a + 1; b < colours; b++) {
                changed |= resplit(splitter, lists, first, a, b, pair, done);
            }
        }
    }
    for (uint32_t i = 0; i < colours; i++) {
        myr_vec_done(&lists[i].edges);
    }
}

/* Colours 'first' to 'first + colours - 1' for the edges listed; reorders the list. */
static void deal(struct splitter *splitter, uint32_t *list, uint32_t count, uint32_t first,
                 uint32_t colours, uint8_t *done)
{
    if (colours == 1) {
        for (uint32_t i = 0; i < count; i++) {
            splitter->colour[list[i]] = first;
        }
    } else if (colours % 2) {
        deal_odd(splitter, list, count, first, colours, done);
    } else {
        halve(splitter, list, count, done);
        uint32_t front = part(splitter, list, count);
        deal(splitter, list, front, first, colours / 2, done);
        deal(splitter, list + front, count - front, first + colours / 2, colours / 2, done);
    }
}

static void splitter_done(struct splitter *splitter)
{
    free(splitter->tally);
    free(splitter->second);
    free(splitter->scratch);
    free(splitter->outer_waiting);
    free(splitter->waiting);
    free(splitter->partner[0]);
    free(splitter->partner[1]);
}

void split_edges(const struct split_shape *shape, const struct split_edge *edges, uint32_t count,
                 uint32_t colours,
                 uint32_t *ret_colour) /* NOLINT(readability-non-const-parameter): written */
{
    MYR_ASSERT(colours > 0);
    size_t nodes = (size_t)shape->nodes + 1;
    MYR_CLEANUP(splitter_done)
    struct splitter splitter = {.shape = shape, .edges = edges, .colour = ret_colour};
    splitter.partner[0] = myr_xcalloc(count, sizeof(uint32_t));
    splitter.partner[1] = myr_xcalloc(count, sizeof(uint32_t));
    splitter.waiting = myr_xcalloc(nodes * 2, sizeof(uint32_t));
    splitter.outer_waiting = myr_xcalloc((size_t)shape->outers + 1, sizeof(uint32_t));
    splitter.scratch = myr_xcalloc(count, sizeof(uint32_t));
    splitter.second = myr_xcalloc(count, sizeof(bool));
    splitter.tally = myr_xcalloc(nodes * 2, sizeof(int32_t));
    MYR_CLEANUP(myr_free_at) uint8_t *done = myr_xcalloc(count, 1);
    MYR_CLEANUP(myr_free_at) uint32_t *list = myr_xcalloc(count, sizeof(*list));
    for (uint32_t i = 0; i < count; i++) {
        list[i] = i;
    }
    deal(&splitter, list, count, 0, colours, done);
}
