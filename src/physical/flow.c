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
 * switches becomes a handful of classes (classes.c). That these are equitable is checked by itself,
 * and should they not be, every switch is a class.
 */

/*
 * The edges of one switch of each class stand for all: so many times their capacity. Edges inside a
 * class are left out: they lead to no other class.
 */
static void put_arcs(const struct cloth *cloth, struct myr_arena *arena,
                     const struct cloth_classes *classes, struct myr_maxflow *net)
{
    uint64_t *sums = MYR_ARENA_NEW(arena, uint64_t, classes->count);
    for (uint32_t c = 0; c < classes->count; c++) {
        uint32_t model = classes->member[classes->first[c]];
        uint64_t size = classes->first[c + 1] - classes->first[c];
        for (uint32_t e = cloth->start[model]; e < cloth->start[model + 1]; e++) {
            sums[classes->of[cloth->edges[e].to]] += cloth->edges[e].gbps;
        }
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
    struct cloth_classes classes;
    if (cloth->switches == 0) {
        return 0;
    }
    cloth_classes_find(cloth, arena, from, to, &classes);
    if (!cloth_classes_fit(cloth, arena, from, to, &classes)) {
        cloth_classes_alone(cloth, arena, &classes);
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
