/* Amounts, times and names of API objects, against naive readers of the same texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kube.h"
#include "myriad/base/rng.h"
#include "rounds.h"

static const uint64_t seed = 20261118;

/* In units of a thousandth of a thousandth of a thousandth, so that all suffixes are whole. */
static const struct {
    const char *text;
    __int128 nano;
} suffixes[] = {
    {"", 1000000000},
    {"n", 1},
    {"u", 1000},
    {"m", 1000000},
    {"k", (__int128)1000000000 * 1000},
    {"M", (__int128)1000000000 * 1000000},
    {"G", (__int128)1000000000 * 1000000000},
    {"T", (__int128)1000000000 * 1000000000000},
    {"P", (__int128)1000000000 * 1000000000000000},
    {"E", (__int128)1000000000 * 1000000000000000000},
    {"Ki", (__int128)1000000000 << 10},
    {"Mi", (__int128)1000000000 << 20},
    {"Gi", (__int128)1000000000 << 30},
    {"Ti", (__int128)1000000000 << 40},
    {"Pi", (__int128)1000000000 << 50},
    {"Ei", (__int128)1000000000 << 60},
    {"e0", 1000000000},
    {"e3", (__int128)1000000000 * 1000},
    {"E+3", (__int128)1000000000 * 1000},
    {"e+18", (__int128)1000000000 * 1000000000000000000},
    {"E18", (__int128)1000000000 * 1000000000000000000},
    {"e-1", 100000000},
    {"E-9", 1},
};

/* Whole thousandths, rounded up; what no number holds is the largest one. */
static int64_t to_milli(__int128 billionths)
{
    __int128 milli = (billionths + 999999) / 1000000;
    return milli > INT64_MAX ? INT64_MAX : (int64_t)milli;
}

static void an_amount_is_its_digits_times_its_suffix(void **state)
{
    struct myr_rng rng;
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    myr_rng_init(&rng, seed, 0);
    for (uint32_t round = 0; round < TEST_ROUNDS(8000); round++) {
        size_t suffix = myr_rng_below(&rng, MYR_ARRAY_COUNT(suffixes));
        uint64_t whole = myr_rng_u64(&rng) >> (40 + myr_rng_below(&rng, 24));
        uint32_t places = myr_rng_below(&rng, 4), digits = 0, tenths = 1;
        char text[80], fraction[8] = "";
        for (uint32_t i = 0; i < places; i++) {
            fraction[i] = (char)('0' + myr_rng_below(&rng, 10));
            digits = digits * 10 + (uint32_t)(fraction[i] - '0');
            tenths *= 10;
        }
        bool plus = myr_rng_below(&rng, 4) == 0, point = places || myr_rng_below(&rng, 2);
        snprintf(text, sizeof(text), "%s%llu%s%s%s", plus ? "+" : "", (unsigned long long)whole,
                 point ? "." : "", fraction, suffixes[suffix].text);
        /* The last places of a fraction may be below a billionth: they round up as well. */
        __int128 above = ((__int128)whole * tenths + digits) * suffixes[suffix].nano;
        int64_t got = -1;
        assert_true(kube_quantity(myr_str_from(text), &got));
        if (got != to_milli((above + tenths - 1) / tenths)) {
            fail_msg("%s is %lld", text, (long long)got);
        }
    }
}

static void amounts_at_their_limits(void **state)
{
    static const struct {
        const char *text;
        int64_t milli; /* -1: it is none */
    } rows[] = {
        {"9223372036854775.807", INT64_MAX},
        {"9223372036854775.806", INT64_MAX - 1},
        {"9223372036854775.8061", INT64_MAX},
        {"9223372036854776", INT64_MAX},
        {"99999999999999999999999999999999999999999999", INT64_MAX},
        {"99999999999999999999999999999999999999999999E", INT64_MAX},
        {"0.000000001", 1},
        {"0.0000000000", 0},
        {"0.00000000001", 1},
        {"1.0000000000", 1000},
        {"1.00000000001", 1001},
        {"0.001", 1},
        {"0.0010000001", 2},
        {"0000000000000000000000000000000000000000000001", 1000},
        {"5.", 5000},
        {".5", 500},
        {"+.5", 500},
        {"0E", 0},
        {"1e18", INT64_MAX},
        {"1e19", -1},
        {"1e-9", 1},
        {"1e-10", -1},
        {"1e+", -1},
        {"1e+-1", -1},
        {"1e++1", -1},
        {"1e--1", -1},
        {"1e+1", 10000},
        {"1f3", -1},
        {"1K", -1},
        {"1ki", -1},
        {"1kib", -1},
        {"1mi", -1},
        {"1.2.3", -1},
        {"+", -1},
        {"++1", -1},
        {"1+", -1},
        {"1 k", -1},
        {"/1", -1},
        {":", -1},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        int64_t got = 77;
        bool is = kube_quantity(myr_str_from(rows[i].text), &got);
        if (is != (rows[i].milli >= 0) || got != (is ? rows[i].milli : 77)) {
            fail_msg("%s: %d, %lld", rows[i].text, is, (long long)got);
        }
    }
}

/* Day by day over the centuries that have leap years and those that have none. */
static void days_follow_each_other(void **state)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t day = 0;
    (void)state;
    for (int year = 1970; year < 2110; year++) {
        bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
        for (int month = 1; month <= 12; month++) {
            int last = lengths[month - 1] + (month == 2 && leap);
            for (int of = 1; of <= last; of++, day++) {
                char text[64];
                int64_t got;
                int second = (int)(day * 7919 % 86400);
                snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:%02dZ", year, month, of,
                         second / 3600, second / 60 % 60, second % 60);
                assert_true(kube_time(myr_str_from(text), &got));
                assert_int_equal(got, (day * 86400 + second) * 1000);
            }
        }
    }
}

static void times_have_a_form(void **state)
{
    static const struct {
        const char *text;
        int64_t ms; /* INT64_MIN: it is none */
    } rows[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"1969-12-31T23:59:59Z", -1000},
        {"1600-03-01T00:00:00Z", -11670912000000},
        {"0000-03-01T00:00:00Z", -62162035200000},
        {"0000-01-01T00:00:00Z", -62167219200000},
        {"9999-12-31T23:59:60Z", 253402300800000},
        {"2016-12-31T23:59:60Z", 1483228800000},
        {"2016-12-31T23:59:61Z", INT64_MIN},
        {"2016-12-31T23:60:00Z", INT64_MIN},
        {"2016-12-31T24:00:00Z", INT64_MIN},
        {"2016-12-32T00:00:00Z", INT64_MIN},
        {"2016-12-00T00:00:00Z", INT64_MIN},
        {"2016-00-01T00:00:00Z", INT64_MIN},
        {"2016-13-01T00:00:00Z", INT64_MIN},
        {"2016-12-31T00:00:00", INT64_MIN},
        {"2016-12-31 00:00:00Z", INT64_MIN},
        {"2016/12-31T00:00:00Z", INT64_MIN},
        {"2016-12-31T00-00:00Z", INT64_MIN},
        {"2016-12-31T00:00:0xZ", INT64_MIN},
        {"2016-12-31T00:00:0/Z", INT64_MIN},
        {"2:16-12-31T00:00:00Z", INT64_MIN},
        {"", INT64_MIN},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        int64_t got = 77;
        bool is = kube_time(myr_str_from(rows[i].text), &got);
        if (is != (rows[i].ms != INT64_MIN) || got != (is ? rows[i].ms : 77)) {
            fail_msg("%s: %d, %lld", rows[i].text, is, (long long)got);
        }
    }
}

/* Small letters, digits, dashes and points; the two last not at an end; 253 bytes. */
static void names_are_made_of_few_letters(void **state)
{
    char text[260];
    (void)state;
    for (int c = 0; c < 256; c++) {
        bool sign = c == '-' || c == '.';
        bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
        for (size_t at = 0; at < 3; at++) {
            memcpy(text, "abc", 4);
            text[at] = (char)c;
            assert_int_equal(kube_is_name((struct myr_str){text, 3}), plain || (sign && at == 1));
        }
        assert_int_equal(kube_is_name((struct myr_str){text + 2, 1}), plain);
    }
    memset(text, 'a', sizeof(text));
    for (size_t len = 0; len < sizeof(text); len++) {
        assert_int_equal(kube_is_name((struct myr_str){text, len}), len >= 1 && len <= 253);
    }
}

/* Runs of digits by their value, all else byte by byte; where that is the same, the bytes. */
static int naive_order(const char *a, const char *b)
{
    const char *x = a, *y = b;
    while (*x && *y) {
        bool left = *x >= '0' && *x <= '9', right = *y >= '0' && *y <= '9';
        if (left && right) {
            unsigned long long m = 0, n = 0;
            for (; *x >= '0' && *x <= '9'; x++) {
                m = m * 10 + (unsigned)(*x - '0');
            }
            for (; *y >= '0' && *y <= '9'; y++) {
                n = n * 10 + (unsigned)(*y - '0');
            }
            if (m != n) {
                return m < n ? -1 : 1;
            }
        } else if (*x != *y) {
            return (unsigned char)*x < (unsigned char)*y ? -1 : 1;
        } else {
            x++;
            y++;
        }
    }
    int bytes = strcmp(a, b);
    return *x ? 1 : *y ? -1 : (bytes > 0) - (bytes < 0);
}

static void names_are_ordered_as_people_count(void **state)
{
    static const char letters[] = "0019ab-";
    struct myr_rng rng;
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    myr_rng_init(&rng, seed, 1);
    for (uint32_t round = 0; round < TEST_ROUNDS(40000); round++) {
        char names[2][24] = {};
        uint32_t same = myr_rng_below(&rng, 12);
        for (uint32_t k = 0; k < 2; k++) {
            uint32_t len = same + myr_rng_below(&rng, 6);
            for (uint32_t i = 0; i < len; i++) {
                names[k][i] = k == 1 && i < same ? names[0][i] : letters[myr_rng_below(&rng, 7)];
            }
        }
        int got = kube_natural(myr_str_from(names[0]), myr_str_from(names[1]));
        if ((got > 0) - (got < 0) != naive_order(names[0], names[1])) {
            fail_msg("'%s' and '%s': %d", names[0], names[1], got);
        }
    }
    assert_true(kube_natural(MYR_STR("n99999999999999999999999"),
                             MYR_STR("n100000000000000000000000")) < 0);
    assert_true(kube_natural(MYR_STR("n\xc3"), MYR_STR("nz")) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_amount_is_its_digits_times_its_suffix),
        cmocka_unit_test(amounts_at_their_limits),
        cmocka_unit_test(days_follow_each_other),
        cmocka_unit_test(times_have_a_form),
        cmocka_unit_test(names_are_made_of_few_letters),
        cmocka_unit_test(names_are_ordered_as_people_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
