/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */

#include "myriad/base/maxflow.h"
#include "sample_test.h"

static uint64_t by_classes(struct sample *sample)
{
    struct cloth cloth = sample_cloth(sample);
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

static void expect_equal(struct sample *sample, const char *what, uint64_t seed)
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
                sample_join(&sample, a, b, 1 + myr_rng_below(&rng, 2));
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
                sample_join(&sample, leaf, leaves + spine, whole ? 4 : 3);
            }
            (leaf < leaves / 2 ? sample.from : sample.to)[leaf] = 16;
        }
        expect_equal(&sample, "clos", seed);
    }
}

/*
 * One cable of four units beside nine of one, three at each switch: by sums of hashes both look
 * alike, at either end, but they do not carry the same.
 */
static void switches_that_only_seem_alike_are_told_apart(void **state)
{
    struct sample sample = {.switches = 8};
    (void)state;
    sample_join(&sample, 0, 4, 4);
    for (uint32_t i = 0; i < 9; i++) {
        sample_join(&sample, 1 + i / 3, 5 + i % 3, 1);
    }
    for (uint32_t i = 0; i < 4; i++) {
        sample.from[i] = sample.to[4 + i] = 10;
    }
    assert_int_equal(by_classes(&sample), 4 + 9);
    expect_equal(&sample, "seeming", 0);
}

static void nothing_flows_where_nothing_is(void **state)
{
    struct sample none = {}, apart = {.switches = 2, .from = {5, 0}, .to = {0, 5}};
    (void)state;
    assert_int_equal(by_classes(&none), 0);
    assert_int_equal(by_classes(&apart), 0);
    apart.to[0] = 3; /* inside a switch it needs no cable */
    assert_int_equal(by_classes(&apart), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_carry_what_switches_carry),
        cmocka_unit_test(so_they_do_in_a_damaged_clos),
        cmocka_unit_test(switches_that_only_seem_alike_are_told_apart),
        cmocka_unit_test(nothing_flows_where_nothing_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
