/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */

#include "cloth.h"
#include "myriad/base/maxflow.h"

enum { SWITCHES_MAX = 24, EDGES_MAX = SWITCHES_MAX * SWITCHES_MAX };

/* A cloth of the test's own: who is joined to whom with how much. */
struct sample {
    uint32_t switches;
    uint64_t gbps[SWITCHES_MAX][SWITCHES_MAX];
    uint64_t from[SWITCHES_MAX], to[SWITCHES_MAX];
};

static uint64_t by_classes(const struct sample *sample)
{
    uint32_t start[SWITCHES_MAX + 1] = {}, count = 0;
    struct cloth_edge edges[EDGES_MAX];
    for (uint32_t a = 0; a < sample->switches; a++) {
        for (uint32_t b = 0; b < sample->switches; b++) {
            if (sample->gbps[a][b]) {
                edges[count++] = (struct cloth_edge){b, sample->gbps[a][b]};
            }
        }
        start[a + 1] = count;
    }
    struct cloth cloth = {.switches = sample->switches, .start = start, .edges = edges};
    struct myr_arena arena;
    myr_arena_init(&arena);
    uint64_t flow = cloth_flow(&cloth, &arena, sample->from, sample->to);
    myr_arena_done(&arena);
    return flow;
}

static uint64_t by_switches(const struct sample *sample)
{
    struct myr_maxflow net;
    uint32_t source = sample->switches, sink = source + 1;
    myr_maxflow_init(&net, sink + 1);
    for (uint32_t a = 0; a < sample->switches; a++) {
        (void)myr_maxflow_arc(&net, source, a, sample->from[a]);
        (void)myr_maxflow_arc(&net, a, sink, sample->to[a]);
        for (uint32_t b = 0; b < sample->switches; b++) {
            (void)myr_maxflow_arc(&net, a, b, sample->gbps[a][b]);
        }
    }
    uint64_t flow = myr_maxflow_run(&net, source, sink);
    myr_maxflow_done(&net);
    return flow;
}

static void join(struct sample *sample, uint32_t a, uint32_t b, uint64_t gbps)
{
    sample->gbps[a][b] += gbps;
    sample->gbps[b][a] += gbps;
}

static void expect_equal(const struct sample *sample, const char *what, uint64_t seed)
{
    uint64_t classes = by_classes(sample), switches = by_switches(sample);
    if (classes != switches) {
        fail_msg("%s, seed %llu: %llu by classes, %llu by switches", what, (unsigned long long)seed,
                 (unsigned long long)classes, (unsigned long long)switches);
    }
}

/* Few values, so that many switches look alike without being so. */
static void classes_carry_what_switches_carry(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct myr_rng rng;
        myr_rng_init(&rng, seed, 1);
        struct sample sample = {.switches = 2 + myr_rng_below(&rng, SWITCHES_MAX - 1)};
        uint32_t edges = myr_rng_below(&rng, 3 * sample.switches);
        for (uint32_t i = 0; i < edges; i++) {
            uint32_t a = myr_rng_below(&rng, sample.switches);
            uint32_t b = myr_rng_below(&rng, sample.switches);
            if (a != b) {
                join(&sample, a, b, 1 + myr_rng_below(&rng, 2));
            }
        }
        for (uint32_t i = 0; i < sample.switches; i++) {
            sample.from[i] = myr_rng_below(&rng, 3);
            sample.to[i] = myr_rng_below(&rng, 3);
        }
        expect_equal(&sample, "any graph", seed);
    }
}

/* Leaves and spines, with some links taken out. */
static void so_they_do_in_a_damaged_clos(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct myr_rng rng;
        myr_rng_init(&rng, seed, 2);
        uint32_t leaves = 2 + myr_rng_below(&rng, 15);
        uint32_t spines = 1 + myr_rng_below(&rng, 8);
        struct sample sample = {.switches = leaves + spines};
        for (uint32_t leaf = 0; leaf < leaves; leaf++) {
            for (uint32_t spine = 0; spine < spines; spine++) {
                bool whole = myr_rng_below(&rng, 12) > 0;
                join(&sample, leaf, leaves + spine, whole ? 4 : 3);
            }
            (leaf < leaves / 2 ? sample.from : sample.to)[leaf] = 16;
        }
        expect_equal(&sample, "clos", seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_carry_what_switches_carry),
        cmocka_unit_test(so_they_do_in_a_damaged_clos),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
