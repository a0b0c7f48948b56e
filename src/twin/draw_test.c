/* Draws without floating point, held against the same laws with it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "times.h"

enum { DRAWS = 20000 };

static void near(double found, double wanted, double within, const char *what)
{
    if (!(fabs(found - wanted) <= within)) {
        fail_msg("%s is %.9g, %.9g within %.3g is expected", what, found, wanted, within);
    }
}

static void logarithms_and_powers_are_those_of_libm(void **state)
{
    (void)state;
    struct myr_rng rng;
    myr_rng_init(&rng, 1, 1);
    for (int i = 0; i < 4000; i++) {
        uint64_t value = (myr_rng_u64(&rng) >> (i % 64)) | 1;
        double log = (double)draw_log2(value) / DRAW_ONE;
        near(log, log2((double)value), 2.0 / DRAW_ONE, "log2");
        assert_true(log <= log2((double)value) + 1e-9); /* rounded down */
    }
    for (int64_t at = -17 * DRAW_ONE; at < 47 * DRAW_ONE; at += 977) {
        double wanted =
            ldexp(exp2((double)(at & (DRAW_ONE - 1)) / DRAW_ONE), (int)(at >> 16)) * DRAW_ONE;
        double most = ldexp(1.0, 46) * DRAW_ONE;
        wanted = at >> 16 < -16 ? 0 : at >> 16 > 45 ? most : wanted;
        near((double)draw_exp2(at), wanted, 1.0 + wanted * 2e-8, "exp2");
    }
    assert_int_equal(draw_log2(1), 0);
    assert_int_equal(draw_exp2(0), DRAW_ONE);
    assert_int_equal(draw_exp2(DRAW_ONE), 2 * DRAW_ONE);
}

static void a_chance_comes_as_often_as_it_says(void **state)
{
    (void)state;
    static const uint32_t parts[] = {0, 1000, 50000, 500000, 999000, 1000000};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(parts); i++) {
        struct myr_rng rng;
        int hits = 0;
        draw_init(&rng, 7, DRAW_MESSAGE, i, 3);
        for (int n = 0; n < DRAWS; n++) {
            hits += draw_chance(&rng, parts[i]);
        }
        double part = parts[i] / 1e6;
        near((double)hits / DRAWS, part, 4 * sqrt(part * (1 - part) / DRAWS), "the share");
    }
}

/* Mean, and the share that is longer than the mean and than thrice of it. */
static void waits_are_exponential(void **state)
{
    (void)state;
    static const int64_t means[] = {1, 900, 65536, 3600000, INT64_C(86400000) * 400};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(means); i++) {
        struct myr_rng rng;
        double sum = 0;
        int above = 0, far = 0;
        draw_init(&rng, 9, DRAW_FAULT, i, 0);
        for (int n = 0; n < DRAWS; n++) {
            int64_t ms = draw_exponential_ms(&rng, means[i]);
            assert_true(ms >= 0);
            sum += (double)ms;
            above += ms > means[i];
            far += ms > 3 * means[i];
        }
        double mean = (double)means[i];
        near(sum / DRAWS / mean, 1, i ? 0.03 : 0.6, "the mean"); /* whole milliseconds */
        if (i > 0) {
            near((double)above / DRAWS, exp(-1), 0.015, "the share above the mean");
            near((double)far / DRAWS, exp(-3), 0.008, "the share above thrice the mean");
        }
    }
}

static int by_ms(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void a_time_lies_between_its_ends_around_its_middle(void **state)
{
    (void)state;
    static const struct draw_time times[] = {
        {1000, 5000, 60000}, {60000, 3600000, 7200000}, {0, 400, 900}, {10, 10, 30}};
    const size_t half = DRAWS / 2;
    int64_t *drawn = calloc(DRAWS, sizeof(*drawn));
    for (size_t i = 0; i < MYR_ARRAY_COUNT(times); i++) {
        const struct draw_time *time = &times[i];
        struct myr_rng rng;
        draw_init(&rng, 4, DRAW_REPAIR, i, 0);
        for (int n = 0; n < DRAWS; n++) {
            drawn[n] = draw_time_ms(&rng, time);
        }
        qsort(drawn, DRAWS, sizeof(*drawn), by_ms);
        double low = time->low_ms > 0 ? (double)time->low_ms : 1, high = (double)time->high_ms;
        double middle = (double)time->typical_ms;
        assert_true(drawn[0] >= time->low_ms && drawn[DRAWS - 1] <= time->high_ms);
        near((double)drawn[half], middle, 0.04 * middle + 1, "the median");
        /* One sigma below and above: 1.645 of them reach the ends. */
        near((double)drawn[(int)(DRAWS * 0.1587)], middle * pow(low / middle, 1 / 1.645),
             0.06 * middle + 1, "a sigma below");
        near((double)drawn[(int)(DRAWS * 0.8413)], middle * pow(high / middle, 1 / 1.645),
             0.06 * high + 1, "a sigma above");
        /* What would lie beyond an end is at it: five of a hundred. */
        near((double)drawn[(int)(DRAWS * 0.96)], high, 1, "the upper end");
        near((double)drawn[(int)(DRAWS * 0.04)], (double)time->low_ms, 1, "the lower end");
    }
    free(drawn);
    struct myr_rng rng;
    draw_init(&rng, 4, DRAW_REPAIR, 0, 0);
    assert_int_equal(draw_time_ms(&rng, &(struct draw_time){5, 7, 5}), 7); /* no span: its middle */
    assert_int_equal(draw_time_ms(&rng, &(struct draw_time){0, 0, 9}), 0);
    assert_int_equal(draw_time_ms(&rng, &(struct draw_time){0, -3, 9}), 0);
}

/* Whom a draw is about, what it is for and the seed each give another stream. */
static void streams_do_not_meet(void **state)
{
    (void)state;
    uint64_t seen[4 * 14 * 8];
    size_t count = 0;
    for (uint64_t seed = 0; seed < 4; seed++) {
        for (int use = DRAW_JOB; use <= DRAW_DETECT; use++) {
            for (uint64_t who = 0; who < 8; who++) {
                struct myr_rng rng;
                draw_init(&rng, seed, (enum draw_use)use, who / 2, who % 2);
                seen[count] = myr_rng_u64(&rng);
                for (size_t i = 0; i < count; i++) {
                    assert_true(seen[i] != seen[count]);
                }
                count++;
            }
        }
    }
}

/* Every part of a start or repair against its row of the recovery data, scaled with libm. */
static void parts_take_what_the_recovery_data_say(void **state)
{
    (void)state;
    static const char *const rows[TIME_PARTS][2] = {
        {"a.detect.crash", "b.detect.crash"},
        {"a.detect.hang", "b.detect.hang"},
        {"a.detect.node_lost", "b.detect.node_lost"},
        {"a.diagnose", "b.diagnose"},
        {"a.replace_node", "b.replace_node"},
        {"a.image_pull", NULL},
        {"a.process_import", "b.process_import"},
        {"a.cuda_context", NULL},
        {"a.rendezvous", "b.rendezvous"},
        {"a.nccl_init", "b.comm_reform"},
        {"a.state_load", "b.state_restore"},
        {"a.dataloader", "b.dataloader"},
        {"a.first_step", "b.first_step"},
        {NULL, "b.comm_teardown"},
        {"time.validate.quick", "time.validate.quick"},
        {"time.node_reboot", "time.node_reboot"},
        {"time.gpu_stack_after_boot", "time.gpu_stack_after_boot"},
        {"time.validate.return", "time.validate.return"},
        {"repair.gpu_rma", "repair.gpu_with_onsite_spare"},
    };
    static const uint32_t gpus[] = {1, 8, 100, 16384, 100000};
    struct myr_arena arena;
    struct myr_recovery recovery;
    myr_arena_init(&arena);
    assert_int_equal(myr_recovery_init(&recovery, &arena, NULL), MYR_OK);
    for (int practice = 0; practice < 2; practice++) {
        struct times times, drawn;
        enum myr_practice as = practice ? MYR_PRACTICE_BEST : MYR_PRACTICE_COMMON;
        assert_int_equal(times_init(&times, &recovery, as, false, NULL), MYR_OK);
        assert_int_equal(times_init(&drawn, &recovery, as, true, NULL), MYR_OK);
        for (uint32_t i = 0; i < TIME_PARTS * MYR_ARRAY_COUNT(gpus); i++) {
            enum time_part part = (enum time_part)(i % TIME_PARTS);
            uint32_t count = gpus[i / TIME_PARTS];
            const char *key = rows[part][practice];
            const struct myr_recovery_row *row = key ? myr_recovery_find(&recovery, key) : NULL;
            assert_true(!key || row);
            double ms = row ? row->typical * (row->unit[0] == 'h' ? 3600e3 : 1e3) : 0;
            double scaled = !row || row->scaling == MYR_SCALING_CONST ? 1
                            : row->scaling == MYR_SCALING_LOG2
                                ? log2(count) / log2((double)row->at_gpus)
                                : pow(count / (double)row->at_gpus, row->power);
            struct myr_rng rng;
            draw_init(&rng, 3, DRAW_START, i, 0);
            near((double)times_typical_ms(&times, part, count), ms * scaled, 2 + 1e-4 * ms * scaled,
                 key ? key : "nothing");
            assert_int_equal(times_draw_ms(&times, part, count, &rng),
                             times_typical_ms(&times, part, count));
            int64_t other = times_draw_ms(&drawn, part, count, &rng);
            /* Factors far below one have few bits left. */
            double least = row && row->typical > 0 ? row->low / row->typical : 0;
            double most = row && row->typical > 0 ? row->high / row->typical : 0;
            if ((double)other < ms * scaled * least * 0.99 - 5 ||
                (double)other > ms * scaled * most * 1.01 + 5) {
                fail_msg("%s of %u GPUs: %lld is not in %.0f x %.3f to %.3f", key ? key : "nothing",
                         count, (long long)other, ms * scaled, least, most);
            }
        }
    }
    myr_recovery_done(&recovery);
    myr_arena_done(&arena);
}

/* Data may be of any size above one GPU: it is what the time is divided by. */
static void a_size_that_is_no_whole_number_scales_too(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    struct myr_recovery recovery;
    myr_arena_init(&arena);
    assert_int_equal(myr_recovery_init(&recovery, &arena, NULL), MYR_OK);
    struct myr_recovery_row *row =
        (struct myr_recovery_row *)myr_recovery_find(&recovery, "a.rendezvous");
    assert_non_null(row);
    row->scaling = MYR_SCALING_LOG2;
    for (uint32_t i = 0; i < 3; i++) {
        struct times times;
        row->at_gpus = i == 0 ? 1.5 : i == 1 ? 2 : 1.0000001;
        assert_int_equal(times_init(&times, &recovery, MYR_PRACTICE_COMMON, false, NULL), MYR_OK);
        int64_t ms = times_typical_ms(&times, TIME_RENDEZVOUS, 8);
        double scaled = row->typical * 1e3 * 3 / log2((double)row->at_gpus);
        assert_true(ms > 0);
        if (i < 2) { /* the last is cut off where no more bits are */
            near((double)ms, scaled, 2 + 1e-3 * scaled, "a size between two");
        }
    }
    myr_recovery_done(&recovery);
}

/* Once in millions of years is never, and no number is too large for that. */
static void the_longest_wait_can_be_drawn(void **state)
{
    (void)state;
    struct myr_rng rng;
    draw_init(&rng, 1, DRAW_FAULT, 0, 0);
    for (uint32_t i = 0; i < 1000; i++) {
        int64_t ms = draw_exponential_ms(&rng, DRAW_MEAN_MAX_MS);
        assert_true(ms >= 0 && ms < INT64_MAX / 2);
    }
}

/* To the last bit: what is drawn in one world is drawn in it for ever. */
static void roots_of_two_are_exact(void **state)
{
    (void)state;
    for (int bit = 0; bit < 16; bit++) {
        long double root = exp2l(1.0L / (long double)(2 << bit)) * 2147483648.0L;
        assert_int_equal(draw_exp2((INT64_C(15) << 16) + (1 << (15 - bit))), (int64_t)root);
    }
    assert_int_equal(draw_exp2(-16 * INT64_C(65536)), 1);
    assert_int_equal(draw_exp2((-16 * INT64_C(65536)) - 1), 0);
    assert_int_equal(draw_exp2(INT64_C(45) << 16), INT64_C(1) << 61);
    assert_int_equal(draw_exp2(INT64_C(46) << 16), INT64_C(1) << 62);
    assert_int_equal(draw_exp2(INT64_C(99) << 16), INT64_C(1) << 62);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logarithms_and_powers_are_those_of_libm),
        cmocka_unit_test(roots_of_two_are_exact),
        cmocka_unit_test(a_size_that_is_no_whole_number_scales_too),
        cmocka_unit_test(the_longest_wait_can_be_drawn),
        cmocka_unit_test(a_chance_comes_as_often_as_it_says),
        cmocka_unit_test(waits_are_exponential),
        cmocka_unit_test(a_time_lies_between_its_ends_around_its_middle),
        cmocka_unit_test(streams_do_not_meet),
        cmocka_unit_test(parts_take_what_the_recovery_data_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
