#include "cloth.h"
#include "myriad/base/maxflow.h"

/*
 * The largest flow over a cloth, on its quotient.
 *
 * Switches that look alike are taken together: a partition is equitable when all switches of a
 * class take in and give out the same and have the same capacity to every class. Then the largest
 * flow between classes, with the capacities of all their edges added, is the largest flow between
 * switches: a flow between classes, spread over the edges in proportion to their capacity, uses
 * every switch of a class alike, so it is one between switches; and adding up a flow between
 * switches gives one between classes. So the answer is exact, and a regular fabric of thousands of
 * switches becomes a handful of classes. Classes are found by refining until nothing changes, with
 * sums of hashes; that the result is equitable is then checked by itself, and should it not be,
 * every switch is a class.
 */

/* A partition of the switches. */
struct classes {
    uint32_t *of; /* class of a switch */
    uint32_t count;
    uint32_t *first, *member; /* switches of a class: member[first[c]] .. */
};

/*
 * Equal sums become equal numbers, in the order in which they are met. Returns how many. So numbers
 * do not hang on the values of hashes.
 */
static uint32_t number(const uint64_t *sums, uint32_t count, uint32_t *of)
{
    MYR_CLEANUP(myr_u64map_done) struct myr_u64map map = {};
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t *known = myr_u64map_find(&map, sums[i]);
        of[i] = known ? *known : map.count;
        if (!known) {
            myr_u64map_add(&map, sums[i], of[i]);
        }
    }
    return map.count;
}

/*
 * A round splits classes by what their switches have to each class, and never joins two. It ends
 * when a round splits nothing, or when every switch is alone.
 */
static void refine(const struct cloth *cloth, struct myr_arena *arena, const uint64_t *from,
                   const uint64_t *to, struct classes *classes)
{
    uint64_t *sums = MYR_ARENA_NEW(arena, uint64_t, cloth->switches);
    for (uint32_t i = 0; i < cloth->switches; i++) {
        /* At first switches differ by what they take in and give out alone. */
        sums[i] = myr_hash_u64(myr_hash_u64(from[i] + 1) + to[i]);
    }
    uint32_t before = 0;
    classes->of = MYR_ARENA_NEW(arena, uint32_t, cloth->switches);
    classes->count = number(sums, cloth->switches, classes->of);
    while (classes->count > before && classes->count < cloth->switches) {
        before = classes->count;
        for (uint32_t i = 0; i < cloth->switches; i++) {
            /*
             * The sum does not hang on the order of edges. It also tells two edges of 400 from one
             * of 800, which is finer than needed and does no harm; equal sums by chance are what
             * equitable() is for.
             */
            uint64_t sum = myr_hash_u64(classes->of[i] + 1);
            for (uint32_t e = cloth->start[i]; e < cloth->start[i + 1]; e++) {
                const struct cloth_edge *edge = &cloth->edges[e];
                sum += myr_hash_u64(classes->of[edge->to] + 1) * (edge->gbps * 2 + 1);
            }
            sums[i] = myr_hash_u64(sum);
        }
        classes->count = number(sums, cloth->switches, classes->of);
    }
}

/* Counting sort, so members of a class are in the order of switches. */
static void list_members(const struct cloth *cloth, struct myr_arena *arena,
                         struct classes *classes)
{
    classes->first = MYR_ARENA_NEW(arena, uint32_t, (size_t)classes->count + 1);
    classes->member = MYR_ARENA_NEW(arena, uint32_t, cloth->switches);
    for (uint32_t i = 0; i < cloth->switches; i++) {
        classes->first[classes->of[i] + 1]++;
    }
    for (uint32_t c = 0; c < classes->count; c++) {
        classes->first[c + 1] += classes->first[c];
    }
    uint32_t *next = MYR_ARENA_NEW(arena, uint32_t, classes->count);
    memcpy(next, classes->first, classes->count * sizeof(*next));
    for (uint32_t i = 0; i < cloth->switches; i++) {
        classes->member[next[classes->of[i]]++] = i;
    }
}

/*
 * Adds (or takes away) the switch's capacity to every class; false when one is then not zero.
 * 'sums' is all zero before and after the two calls on switches that are alike.
 */
static bool add_edges(const struct cloth *cloth, const struct classes *classes, uint32_t at,
                      bool away, uint64_t *sums)
{
    for (uint32_t e = cloth->start[at]; e < cloth->start[at + 1]; e++) {
        uint64_t *sum = &sums[classes->of[cloth->edges[e].to]];
        *sum = away ? *sum - cloth->edges[e].gbps : *sum + cloth->edges[e].gbps;
    }
    bool zero = true;
    for (uint32_t e = cloth->start[at]; away && e < cloth->start[at + 1]; e++) {
        zero = zero && sums[classes->of[cloth->edges[e].to]] == 0;
    }
    return zero;
}

/* Every switch of a class is compared with the first one. */
static bool equitable(const struct cloth *cloth, struct myr_arena *arena, const uint64_t *from,
                      const uint64_t *to, const struct classes *classes)
{
    uint64_t *sums = MYR_ARENA_NEW(arena, uint64_t, classes->count);
    for (uint32_t i = 0; i < cloth->switches; i++) {
        uint32_t model = classes->member[classes->first[classes->of[i]]];
        if (model == i) {
            continue;
        }
        add_edges(cloth, classes, model, false, sums);
        bool same = add_edges(cloth, classes, i, true, sums);
        /* What is left over of the model's: a class that this switch does not reach. */
        for (uint32_t e = cloth->start[model]; e < cloth->start[model + 1]; e++) {
            same = same && sums[classes->of[cloth->edges[e].to]] == 0;
        }
        if (!same || from[i] != from[model] || to[i] != to[model]) {
            return false;
        }
    }
    return true;
}

/* Exact in any case, and as slow as the network is large. */
static void each_alone(const struct cloth *cloth, struct myr_arena *arena, struct classes *classes)
{
    classes->count = cloth->switches;
    for (uint32_t i = 0; i < cloth->switches; i++) {
        classes->of[i] = i;
    }
    list_members(cloth, arena, classes);
}

/*
 * The edges of one switch of each class stand for all: so many times their capacity. Edges inside a
 * class are left out: they lead to no other class.
 */
static void put_arcs(const struct cloth *cloth, struct myr_arena *arena,
                     const struct classes *classes, struct myr_maxflow *net)
{
    uint64_t *sums = MYR_ARENA_NEW(arena, uint64_t, classes->count);
    for (uint32_t c = 0; c < classes->count; c++) {
        uint32_t model = classes->member[classes->first[c]];
        uint64_t size = classes->first[c + 1] - classes->first[c];
        add_edges(cloth, classes, model, false, sums);
        for (uint32_t e = cloth->start[model]; e < cloth->start[model + 1]; e++) {
            uint32_t other = classes->of[cloth->edges[e].to];
            if (other != c && sums[other] > 0) {
                (void)myr_maxflow_arc(net, c, other, sums[other] * size);
            }
            sums[other] = 0;
        }
    }
}

/* 0 without switches. Source and sink are two more nodes behind the classes. */
uint64_t cloth_flow(const struct cloth *cloth, struct myr_arena *arena, const uint64_t *from,
                    const uint64_t *to)
{
    struct classes classes = {};
    if (cloth->switches == 0) {
        return 0;
    }
    refine(cloth, arena, from, to, &classes);
    list_members(cloth, arena, &classes);
    if (!equitable(cloth, arena, from, to, &classes)) {
        each_alone(cloth, arena, &classes);
    }
    MYR_CLEANUP(myr_maxflow_done) struct myr_maxflow net;
    uint32_t source = classes.count, sink = source + 1;
    myr_maxflow_init(&net, classes.count + 2);
    put_arcs(cloth, arena, &classes, &net);
    for (uint32_t c = 0; c < classes.count; c++) {
        uint32_t model = classes.member[classes.first[c]];
        uint64_t size = classes.first[c + 1] - classes.first[c];
        (void)myr_maxflow_arc(&net, source, c, from[model] * size);
        (void)myr_maxflow_arc(&net, c, sink, to[model] * size);
    }
    return myr_maxflow_run(&net, source, sink);
}
