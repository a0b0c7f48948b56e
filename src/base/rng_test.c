#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "myriad/base.h"

/* The known answers that the authors of Philox publish with their code. */
static void philox_gives_the_published_answers(void **state)
{
    (void)state;
    const struct {
        uint32_t counter[4], key[2], want[4];
    } cases[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX},
         {UINT32_MAX, UINT32_MAX},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        uint32_t got[4];
        myr_philox(cases[i].counter, cases[i].key, got);
        assert_memory_equal(got, cases[i].want, sizeof(got));
    }
}

static void a_stream_is_the_same_every_time(void **state)
{
    (void)state;
    struct myr_rng a, b;
    myr_rng_init(&a, 42, 7);
    myr_rng_init(&b, 42, 7);
    for (int i = 0; i < 1000; i++) {
        assert_true(myr_rng_u64(&a) == myr_rng_u64(&b));
    }
}

static void streams_and_seeds_do_not_repeat_each_other(void **state)
{
    (void)state;
    enum { STREAMS = 64, DRAWS = 256 };
    struct myr_u64map seen = {};
    for (uint64_t i = 0; i < STREAMS; i++) {
        struct myr_rng rng;
        myr_rng_init(&rng, i % 8, i / 8);
        for (uint32_t draw = 0; draw < DRAWS; draw++) {
            /* 16,384 draws of 64 bits: a repeat has odds of one in 10^11. */
            assert_true(myr_u64map_add(&seen, myr_rng_u64(&rng), draw));
        }
    }
    myr_u64map_done(&seen);
}

static void high_words_of_seed_and_stream_count(void **state)
{
    (void)state;
    struct myr_rng plain, seed, stream;
    myr_rng_init(&plain, 1, 1);
    myr_rng_init(&seed, 1 | UINT64_C(1) << 63, 1);
    myr_rng_init(&stream, 1, 1 | UINT64_C(1) << 63);
    uint64_t first = myr_rng_u64(&plain);
    assert_true(myr_rng_u64(&seed) != first);
    assert_true(myr_rng_u64(&stream) != first);
}

/* Chi-square of draws over 'bound' cells against what is expected. */
static double chi_square(struct myr_rng *rng, uint32_t bound, uint32_t draws)
{
    enum { CELLS_MAX = 256 };
    uint32_t cells[CELLS_MAX] = {};
    for (uint32_t i = 0; i < draws; i++) {
        uint32_t value = myr_rng_below(rng, bound);
        assert_true(value < bound);
        cells[value]++;
    }
    double expected = (double)draws / bound;
    double sum = 0;
    for (uint32_t i = 0; i < bound; i++) {
        double gap = cells[i] - expected;
        sum += gap * gap / expected;
    }
    return sum;
}

static void below_is_uniform(void **state)
{
    (void)state;
    struct myr_rng rng;
    myr_rng_init(&rng, 5, 0);
    for (uint32_t bound = 2; bound <= 200; bound += 9) {
        /*
         * Mean bound - 1, deviation sqrt(2 (bound - 1)): six deviations do not happen by chance,
         * and with few cells, where the tail is heavier, 20 above the mean does not either.
         */
        double freedom = bound - 1;
        double gap = chi_square(&rng, bound, 50000) - freedom;
        assert_true(gap < 20 || gap * gap < 36 * 2 * freedom);
    }
    assert_int_equal(myr_rng_below(&rng, 1), 0);
}

/* With this bound a third of the raw words would favour low results; they must be drawn again. */
static void below_has_no_bias_for_large_bounds(void **state)
{
    (void)state;
    struct myr_rng rng;
    myr_rng_init(&rng, 6, 0);
    const uint32_t bound = 3U << 30;
    uint32_t thirds[3] = {};
    for (int i = 0; i < 90000; i++) {
        uint32_t value = myr_rng_below(&rng, bound);
        assert_true(value < bound);
        thirds[value >> 30]++;
    }
    for (int i = 0; i < 3; i++) {
        assert_in_range(thirds[i], 29200, 30800); /* over five deviations of 141 */
    }
}

static void shuffles_keep_every_item_and_reach_every_order(void **state)
{
    (void)state;
    struct myr_rng rng;
    myr_rng_init(&rng, 8, 0);
    uint32_t orders[64] = {};
    for (int round = 0; round < 24000; round++) {
        uint32_t items[4] = {0, 1, 2, 3};
        myr_rng_shuffle(&rng, items, 4);
        assert_int_equal(1U << items[0] | 1U << items[1] | 1U << items[2] | 1U << items[3], 15);
        orders[items[0] << 4 | items[1] << 2 | items[2]]++;
    }
    uint32_t seen = 0;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(orders); i++) {
        if (orders[i] > 0) {
            assert_in_range(orders[i], 830, 1170); /* 1,000 with a deviation of 31 */
            seen++;
        }
    }
    assert_int_equal(seen, 24);
    myr_rng_shuffle(&rng, NULL, 0);
}

/* A drawing is a pure function of seed, stream and position: results of years ago replay. */
static void a_stream_is_its_blocks_from_the_last_word_to_the_first(void **state)
{
    (void)state;
    struct myr_rng rng;
    myr_rng_init(&rng, 0x123456789ABCDEF0, 0x0FEDCBA987654321);
    const uint32_t key[2] = {0x9ABCDEF0, 0x12345678};
    for (uint32_t block = 0; block < 100; block++) {
        const uint32_t counter[4] = {block, 0, 0x87654321, 0x0FEDCBA9};
        uint32_t words[4];
        myr_philox(counter, key, words);
        for (int i = 3; i >= 0; i--) {
            assert_int_equal(myr_rng_u32(&rng), words[i]);
        }
    }
    struct myr_rng twice;
    myr_rng_init(&rng, 7, 8);
    myr_rng_init(&twice, 7, 8);
    uint64_t high = myr_rng_u32(&rng), low = myr_rng_u32(&rng);
    assert_true(myr_rng_u64(&twice) == (high << 32 | low));
    /* The position has two words as well. */
    rng.position = UINT32_MAX;
    rng.left = 0;
    myr_rng_u32(&rng);
    for (int i = 0; i < 3; i++) {
        myr_rng_u32(&rng);
    }
    const uint32_t counter[4] = {0, 1, 8, 0}, small[2] = {7, 0};
    uint32_t words[4];
    myr_philox(counter, small, words);
    assert_int_equal(myr_rng_u32(&rng), words[3]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_gives_the_published_answers),
        cmocka_unit_test(a_stream_is_the_same_every_time),
        cmocka_unit_test(streams_and_seeds_do_not_repeat_each_other),
        cmocka_unit_test(high_words_of_seed_and_stream_count),
        cmocka_unit_test(a_stream_is_its_blocks_from_the_last_word_to_the_first),
        cmocka_unit_test(below_is_uniform),
        cmocka_unit_test(below_has_no_bias_for_large_bounds),
        cmocka_unit_test(shuffles_keep_every_item_and_reach_every_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
