#include "cloth.h"

/*
 * Switches that look alike: classes are found by refining until nothing changes, with sums of
 * hashes. What they are for is said in flow.c.
 */

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
                   const uint64_t *to, struct cloth_classes *classes)
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
             * cloth_classes_fit() is for.
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
                         struct cloth_classes *classes)
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

void cloth_classes_find(const struct cloth *cloth, struct myr_arena *arena, const uint64_t *from,
                        const uint64_t *to, struct cloth_classes *ret)
{
    refine(cloth, arena, from, to, ret);
    list_members(cloth, arena, ret);
}

/*
 * Adds (or takes away) the switch's capacity to every class; false when one is then not zero.
 * 'sums' is all zero before and after the two calls on switches that are alike.
 */
static bool add_edges(const struct cloth *cloth, const struct cloth_classes *classes, uint32_t at,
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
bool cloth_classes_fit(const struct cloth *cloth, struct myr_arena *arena, const uint64_t *from,
                       const uint64_t *to, const struct cloth_classes *classes)
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
void cloth_classes_alone(const struct cloth *cloth, struct myr_arena *arena,
                         struct cloth_classes *classes)
{
    classes->count = cloth->switches;
    for (uint32_t i = 0; i < cloth->switches; i++) {
        classes->of[i] = i;
    }
    list_members(cloth, arena, classes);
}
