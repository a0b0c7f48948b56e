#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "replay/joblog_impl.h"

enum { REFUSED = -1 };

typedef bool reads(struct myr_str text, int64_t *ret);

/* Each: a field, and its value or REFUSED. */
struct value {
    const char *text;
    int64_t value;
};

static void check_values(reads *read, const struct value *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int64_t value = 0;
        bool good = read(myr_str_from(cases[i].text), &value);
        if (good != (cases[i].value != REFUSED) || (good && value != cases[i].value)) {
            fail_msg("'%s' is %s, %lld", cases[i].text, good ? "taken" : "refused",
                     (long long)value);
        }
    }
}

/* Day by day, as a calendar on the wall has them. */
static int days_of_month(int year, int month)
{
    bool leap = year % 400 == 0 || (year % 4 == 0 && year % 100 != 0);
    return month == 2 ? 28 + leap : month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

static int64_t days_before(int year, int month)
{
    int64_t days = 0;
    for (int y = 1970; y <= year; y++) {
        for (int m = 1; m <= 12 && (y < year || m < month); m++) {
            days += days_of_month(y, m);
        }
    }
    return days;
}

static void time_stamps_are_those_of_the_calendar(void **state)
{
    (void)state;
    struct myr_rng rng;
    uint32_t seed = 11;
    print_message("seed %u\n", seed);
    myr_rng_init(&rng, seed, 0);
    for (uint32_t i = 0; i < 2000; i++) {
        int year = (int)myr_rng_below(&rng, 450) + 1970, month = (int)myr_rng_below(&rng, 12) + 1;
        int day = (int)myr_rng_below(&rng, 31) + 1, hour = (int)myr_rng_below(&rng, 24);
        int minute = (int)myr_rng_below(&rng, 60), second = (int)myr_rng_below(&rng, 60);
        int offset = (int)myr_rng_below(&rng, 29 * 4) - 14 * 4, away = abs(offset); /* quarters */
        char text[128], dash = i % 2 ? '-' : '/';
        snprintf(text, sizeof(text), "%04d%c%02d%c%02d%c%02d:%02d:%02d%s%c%02d%s%02d", year, dash,
                 month, dash, day, i % 3 ? 'T' : ' ', hour, minute, second, i % 5 ? "" : " ",
                 offset < 0 ? '-' : '+', away / 4, i % 7 ? ":" : "", away % 4 * 15);
        int64_t expected = (days_before(year, month) + day - 1) * 86400 + hour * 3600 +
                           minute * 60 + second - offset * 900;
        int64_t value = 0;
        bool good = day <= days_of_month(year, month);
        if (joblog_time(myr_str_from(text), &value) != good || (good && value != expected)) {
            fail_msg("'%s': %lld instead of %lld", text, (long long)value, (long long)expected);
        }
    }
}

static void times_end_where_they_say(void **state)
{
    (void)state;
    static const struct value cases[] = {
        {"0", 0},
        {"12.75", 12},
        {"1099511627776", INT64_C(1) << 40},
        {"1099511627777", REFUSED},
        {"10995116277760", REFUSED},
        {"-1", REFUSED},
        {"", REFUSED},
        {"1 ", REFUSED},
        {"1970-01-01T00:00:00", 0},
        {"1970-01-01T00:00", 0},
        {"1970-01-01T00:00:01.999", 1},
        {"1970-01-01T00:00:60", 60},
        {"1970-01-01T00:00:61", REFUSED},
        {"1970-01-01T00:60:00", REFUSED},
        {"1970-01-01T00:59:00", 3540},
        {"1970-01-01T23:00:00", 82800},
        {"1970-01-01T24:00:00", REFUSED},
        {"1969-12-31T23:59:59", REFUSED},
        {"1970-00-01T00:00:00", REFUSED},
        {"1970-12-01T00:00:00", 334 * 86400},
        {"1970-13-01T00:00:00", REFUSED},
        {"1970-01-00T00:00:00", REFUSED},
        {"1970-01-31T00:00:00", 30 * 86400},
        {"1970-01-32T00:00:00", REFUSED},
        {"1972-02-29T00:00:00", 789 * 86400},
        {"1973-02-29T00:00:00", REFUSED},
        {"2100-02-29T00:00:00", REFUSED},
        {"2000-02-29T00:00:00", INT64_C(951782400)},
        {"1970-01-01T00:00:", REFUSED},
        {"1970-01-01T00:00:00.", REFUSED},
        {"1970-01-01T00", REFUSED},
        {"1970-01-01x00:00:00", REFUSED},
        {"1970.01-01T00:00:00", REFUSED},
        {"1970-01.01T00:00:00", REFUSED},
    };
    check_values(joblog_time, cases, MYR_ARRAY_COUNT(cases));
}

static void offsets_are_those_of_places_on_earth(void **state)
{
    (void)state;
    static const struct value cases[] = {
        {"1970-01-02T00:00:00Z", 86400},
        {"1970-01-02T00:00:00 UTC", 86400},
        {"1970-01-02T00:00:00 GMT", 86400},
        {"1970-01-02T00:00:00 CET", REFUSED},
        {"1970-01-02T00:00:00UTC", REFUSED},
        {"1970-01-02T00:00:00ZZ", REFUSED},
        {"1970-01-02T00:00:00+02", 86400 - 7200},
        {"1970-01-02T00:00:00-02", 86400 + 7200},
        {"1970-01-02T00:00:00+0230", 86400 - 9000},
        {"1970-01-02T00:00:00 -02:30", 86400 + 9000},
        {"1970-01-02T00:00:00+14:59", 86400 - 14 * 3600 - 59 * 60},
        {"1970-01-02T00:00:00+15:00", REFUSED},
        {"1970-01-02T00:00:00+00:60", REFUSED},
        {"1970-01-02T00:00:00+02:x", REFUSED},
        {"1970-01-02T00:00:00+02:000", REFUSED},
        {"1970-01-02T00:00:00+", REFUSED},
        {"1970-01-02T00:00:00 ", REFUSED},
    };
    check_values(joblog_time, cases, MYR_ARRAY_COUNT(cases));
}

static void lengths_have_days_hours_minutes_and_seconds(void **state)
{
    (void)state;
    static const struct value cases[] = {
        {"0", 0},
        {"59.9", 59},
        {"8589934592", INT64_C(1) << 33},
        {"8589934593", REFUSED},
        {"1:02", 62},
        {"90:00", 5400},
        {"1:02:03", 3723},
        {"1:02:03.5", 3723},
        {"100:59:59", 360000 + 59 * 60 + 59},
        {"1:60:00", REFUSED},
        {"1:00:60", REFUSED},
        {"1:99:99", REFUSED},
        {"90:60", REFUSED},
        {"1-00:60", REFUSED},
        {"1-00:00", 86400},
        {"2-03:04:05", 2 * 86400 + 3 * 3600 + 4 * 60 + 5},
        {"99420-12:56:32", INT64_C(1) << 33},
        {"99420-12:56:33", REFUSED},
        {"1-5", REFUSED},
        {"-1:00", REFUSED},
        {"1-", REFUSED},
        {"1:", REFUSED},
        {":1", REFUSED},
        {"1:2:3:4", REFUSED},
        {"1:2:3 ", REFUSED},
        {"1-2-3:00", REFUSED},
        {"9999999:00", 9999999 * INT64_C(60)},
        {"10000000:00", REFUSED},
        {"", REFUSED},
    };
    check_values(joblog_length, cases, MYR_ARRAY_COUNT(cases));
}

static void counts_are_whole_but_for_a_share_of_one(void **state)
{
    (void)state;
    static const struct value cases[] = {
        {"0", 0},
        {"9", 9},
        {"8.0", 8},
        {"8.", 8},
        {"0.", 0},
        {"0.000", 0},
        {"0.001", 1},
        {"0.10", 1},
        {"1.1", REFUSED},
        {"1.01", REFUSED},
        {"1.0x", REFUSED},
        {".5", REFUSED},
        {"-1", REFUSED},
        {"0.5.5", REFUSED},
        {"", REFUSED},
        {"9999999999999", INT64_C(9999999999999)},
        {"99999999999990", REFUSED},
    };
    check_values(joblog_count, cases, MYR_ARRAY_COUNT(cases));
}

static void a_total_of_gpus_wins_over_their_kinds(void **state)
{
    (void)state;
    static const struct value cases[] = {
        {"", 0},
        {"cpu=8,mem=4G", 0},
        {"gpu", 0},
        {"gres/gpu", 0},
        {"gres/gpu=4", 4},
        {"cpu=8,gres/gpu=4", 4},
        {"gres/gpu=4,cpu=8", 4},
        {"gres/gpu:a=2", 2},
        {"gres/gpu:a=2,gres/gpu:b=3", 5},
        {"gres/gpu:a=2,gres/gpu=7,gres/gpu:b=3", 7},
        {"gres/gpu=0,gres/gpu:a=2", 0},
        {"gres/gpu:=2", 0}, /* a kind has a name */
        {"gres/gpus=2", 0},
        {"gres/gpumem=2", 0},
        {"gres/gpu=x", REFUSED},
        {"gres/gpu:a=", REFUSED},
        {"gres/gpu=1099511627776", INT64_C(1) << 40},
        {"gres/gpu=1099511627777", REFUSED},
        {"gres/gpu:a=1099511627775,gres/gpu:b=1", INT64_C(1) << 40},
        {"gres/gpu:a=1099511627775,gres/gpu:b=2", REFUSED},
    };
    check_values(joblog_tres_gpus, cases, MYR_ARRAY_COUNT(cases));
}

static void blanks_around_and_words_for_nothing_are_known(void **state)
{
    (void)state;
    static const char *const trimmed[][2] = {
        {"", ""},    {" ", ""},    {"\t \t", ""},      {"a", "a"},
        {" a", "a"}, {"a\t", "a"}, {"\t a b ", "a b"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(trimmed); i++) {
        struct myr_str got = joblog_trim(myr_str_from(trimmed[i][0]));
        assert_true(myr_str_eq(got, myr_str_from(trimmed[i][1])));
    }
    static const char *const none[] = {"", "None", "UNKNOWN", "n/a", "NULL", "NaN", "-"};
    static const char *const some[] = {"0", "no", "nones", "--", "n", " "};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(none); i++) {
        assert_true(joblog_is_none(myr_str_from(none[i])));
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(some); i++) {
        assert_false(joblog_is_none(myr_str_from(some[i])));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_stamps_are_those_of_the_calendar),
        cmocka_unit_test(times_end_where_they_say),
        cmocka_unit_test(offsets_are_those_of_places_on_earth),
        cmocka_unit_test(lengths_have_days_hours_minutes_and_seconds),
        cmocka_unit_test(counts_are_whole_but_for_a_share_of_one),
        cmocka_unit_test(a_total_of_gpus_wins_over_their_kinds),
        cmocka_unit_test(blanks_around_and_words_for_nothing_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
