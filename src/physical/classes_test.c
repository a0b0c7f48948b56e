/*
 * Classes of switches that look alike, on drawn cloths, against a plain refinement that compares
 * switches two by two. A flow does not show whether they are right: it falls back to single
 * switches, and is exact with finer classes too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "sample_test.h"

enum { UNIT = 50 }; /* cables are multiples of it, so that sums of speed and number are distinct */

struct sums {
    uint64_t gbps[SWITCHES_MAX];
    uint32_t edges[SWITCHES_MAX];
};

/* What a switch has to every class. */
static void sum_up(const struct sample *sample, const uint32_t *of, uint32_t at, struct sums *ret)
{
    *ret = (struct sums){};
    for (uint32_t to = 0; to < sample->switches; to++) {
        ret->gbps[of[to]] += sample->gbps[at][to];
        ret->edges[of[to]] += sample->gbps[at][to] > 0;
    }
}

static bool alike(const struct sample *sample, const uint32_t *of, uint32_t a, uint32_t b,
                  bool by_edges)
{
    struct sums left, right;
    sum_up(sample, of, a, &left);
    sum_up(sample, of, b, &right);
    return sample->from[a] == sample->from[b] && sample->to[a] == sample->to[b] &&
           memcmp(left.gbps, right.gbps, sizeof(left.gbps)) == 0 &&
           (!by_edges || memcmp(left.edges, right.edges, sizeof(left.edges)) == 0);
}

/* Each round asks of every switch which is the first that is like it. Returns how many classes. */
static uint32_t refine_plainly(const struct sample *sample, uint32_t *of)
{
    uint32_t count = 1, before = 0;
    memset(of, 0, SWITCHES_MAX * sizeof(*of));
    while (count > before) {
        uint32_t next[SWITCHES_MAX];
        before = count;
        count = 0;
        for (uint32_t i = 0; i < sample->switches; i++) {
            uint32_t first = 0;
            while (first < i && !(of[first] == of[i] && alike(sample, of, first, i, true))) {
                first++;
            }
            next[i] = first < i ? next[first] : count++;
        }
        memcpy(of, next, sample->switches * sizeof(*of));
    }
    return count;
}

static bool fits_plainly(const struct sample *sample, const uint32_t *of)
{
    for (uint32_t a = 0; a < sample->switches; a++) {
        for (uint32_t b = 0; b < a; b++) {
            if (of[a] == of[b] && !alike(sample, of, a, b, false)) {
                return false;
            }
        }
    }
    return true;
}

/* Rings, stars and pieces of both, so that there are alike ones; then some cables more. */
static void draw(struct sample *sample, uint64_t seed, struct myr_rng *rng)
{
    myr_rng_init(rng, seed, 4);
    *sample = (struct sample){.switches = 1 + myr_rng_below(rng, SWITCHES_MAX)};
    uint32_t step = 1 + myr_rng_below(rng, 4), more = myr_rng_below(rng, 3);
    bool still = myr_rng_below(rng, 4) == 0; /* then cables alone tell them apart */
    for (uint32_t i = 0; i < sample->switches; i++) {
        uint32_t to = myr_rng_below(rng, 2) ? (i + step) % sample->switches : i / step;
        if (to != i && !sample->gbps[i][to]) {
            sample_join(sample, i, to, UNIT << (i % step == 1));
        }
        sample->from[i] = !still && i % 2;
        sample->to[i] = !still && i % 3 == 1;
    }
    for (uint32_t i = 0; i < more; i++) {
        uint32_t a = myr_rng_below(rng, sample->switches), b = myr_rng_below(rng, sample->switches);
        if (a != b) {
            sample_join(sample, a, b, UNIT);
        }
    }
}

static void assert_members(const struct cloth_classes *classes, uint32_t switches, uint64_t seed)
{
    uint32_t listed = 0;
    for (uint32_t c = 0; c < classes->count; c++) {
        for (uint32_t i = 0; i < switches; i++) {
            if (classes->of[i] == c && classes->member[listed++] != i) {
                fail_msg("seed %llu: a member of class %u is missing", (unsigned long long)seed, c);
            }
        }
        assert_int_equal(classes->first[c + 1], listed);
    }
    assert_int_equal(classes->first[0], 0);
    assert_int_equal(listed, switches);
}

static void classes_are_those_of_a_plain_refinement(void **state)
{
    uint32_t whole = 0, some = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct sample sample;
        struct myr_rng rng;
        struct myr_arena arena;
        struct cloth_classes classes;
        uint32_t of[SWITCHES_MAX];
        draw(&sample, seed, &rng);
        struct cloth cloth = sample_cloth(&sample);
        myr_arena_init(&arena);
        cloth_classes_find(&cloth, &arena, sample.from, sample.to, &classes);
        uint32_t count = refine_plainly(&sample, of);
        if (classes.count != count || memcmp(of, classes.of, sample.switches * sizeof(*of)) != 0) {
            fail_msg("seed %llu: %u classes, %u by plain refinement", (unsigned long long)seed,
                     classes.count, count);
        }
        assert_members(&classes, sample.switches, seed);
        assert_true(cloth_classes_fit(&cloth, &arena, sample.from, sample.to, &classes));
        whole += count == sample.switches;
        some += count < sample.switches;
        myr_arena_done(&arena);
    }
    assert_true(whole > 50 && some > 50); /* the draw has both */
}

/* Right ones, and such of which two became one. */
static void classes_fit_when_all_of_one_are_alike(void **state)
{
    uint32_t fit = 0, unfit = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct sample sample;
        struct myr_rng rng;
        struct myr_arena arena;
        uint32_t of[SWITCHES_MAX], first[SWITCHES_MAX + 1], member[SWITCHES_MAX], listed = 0;
        draw(&sample, seed, &rng);
        struct cloth cloth = sample_cloth(&sample);
        uint32_t count = refine_plainly(&sample, of);
        uint32_t a = myr_rng_below(&rng, count), b = myr_rng_below(&rng, count);
        for (uint32_t i = 0; i < sample.switches; i++) {
            of[i] = of[i] == a ? b : of[i]; /* class a goes, or nothing changes */
        }
        for (uint32_t c = 0; c < count; c++) {
            first[c] = listed;
            for (uint32_t i = 0; i < sample.switches; i++) {
                if (of[i] == c) {
                    member[listed++] = i;
                }
            }
        }
        first[count] = listed;
        struct cloth_classes classes = {of, count, first, member};
        myr_arena_init(&arena);
        bool fits = cloth_classes_fit(&cloth, &arena, sample.from, sample.to, &classes);
        if (fits != fits_plainly(&sample, of)) {
            fail_msg("seed %llu: they %s", (unsigned long long)seed, fits ? "fit" : "do not fit");
        }
        fit += fits;
        unfit += !fits;
        myr_arena_done(&arena);
    }
    assert_true(fit > 200 && unfit > 200); /* the draw has both */
}

static void every_switch_alone_is_a_class(void **state)
{
    struct sample sample;
    struct myr_rng rng;
    struct myr_arena arena;
    struct cloth_classes classes;
    (void)state;
    draw(&sample, 7, &rng);
    struct cloth cloth = sample_cloth(&sample);
    myr_arena_init(&arena);
    cloth_classes_find(&cloth, &arena, sample.from, sample.to, &classes);
    cloth_classes_alone(&cloth, &arena, &classes);
    assert_int_equal(classes.count, sample.switches);
    for (uint32_t i = 0; i < sample.switches; i++) {
        assert_int_equal(classes.of[i], i);
    }
    assert_members(&classes, sample.switches, 7);
    myr_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_are_those_of_a_plain_refinement),
        cmocka_unit_test(classes_fit_when_all_of_one_are_alike),
        cmocka_unit_test(every_switch_alone_is_a_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
