#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "myriad/base.h"

static struct myr_str str(const char *text)
{
    return myr_str_from(text);
}

static void comparison_is_by_bytes_and_length(void **state)
{
    (void)state;
    assert_true(myr_str_eq(MYR_STR("leaf"), str("leaf")));
    assert_false(myr_str_eq(MYR_STR("leaf"), str("leaf1")));
    assert_true(myr_str_eq(str(NULL), MYR_STR("")));
    assert_true(myr_str_eq_nocase(MYR_STR("H100-SXM"), MYR_STR("h100-sxm")));
    assert_false(myr_str_eq_nocase(MYR_STR("h100"), MYR_STR("h200")));
    assert_false(myr_str_eq_nocase(MYR_STR("@"), MYR_STR("`"))); /* 32 apart, and no letters */
    assert_false(myr_str_eq_nocase(MYR_STR("["), MYR_STR("{")));
    assert_true(myr_str_eq_nocase(MYR_STR("AZaz"), MYR_STR("azAZ")));
    assert_false(myr_str_eq_nocase(MYR_STR("ab"), MYR_STR("abc")));
    assert_true(myr_str_cmp(MYR_STR("a"), MYR_STR("b")) < 0);
    assert_true(myr_str_cmp(MYR_STR("ab"), MYR_STR("a")) > 0);
    assert_true(myr_str_cmp(MYR_STR("\xff"), MYR_STR("a")) > 0);
    /* What stands behind the end is not of the text. */
    const struct myr_str ab = {"abz", 2}, abc = {"abc", 3};
    assert_int_equal(myr_str_cmp(ab, abc), -1);
    assert_int_equal(myr_str_cmp(abc, ab), 1);
    assert_int_equal(myr_str_cmp(ab, (struct myr_str){"aba", 2}), 0);
    assert_true(myr_str_eq(ab, (struct myr_str){"aba", 2}));
    assert_int_equal(myr_str_cmp(str(NULL), MYR_STR("")), 0);
}

static void numbers_are_taken_whole_or_not_at_all(void **state)
{
    (void)state;
    const char *const bad[] = {"",
                               " 1",
                               "1 ",
                               "+1",
                               "1x",
                               "0x10",
                               "1.0",
                               "1,0",
                               "1e3",
                               "-",
                               "--1",
                               "- 1",
                               "\xd9\xa1",
                               "1/",
                               "1:",
                               "18446744073709551616",
                               "99999999999999999999999"};
    uint64_t u = 7;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        assert_false(myr_str_to_u64(str(bad[i]), &u));
    }
    assert_false(myr_str_to_u64(MYR_STR("-1"), &u));
    assert_int_equal(u, 7); /* untouched on failure */
    assert_true(myr_str_to_u64(MYR_STR("18446744073709551615"), &u));
    assert_true(u == UINT64_MAX);
    assert_true(myr_str_to_u64(MYR_STR("0000000000000000000000042"), &u));
    assert_true(u == 42);
    assert_true(myr_str_to_u64((struct myr_str){"123456", 3}, &u));
    assert_true(u == 123);
}

static void signed_numbers_reach_both_ends(void **state)
{
    (void)state;
    int64_t i = 7;
    assert_true(myr_str_to_i64(MYR_STR("-9223372036854775808"), &i));
    assert_true(i == INT64_MIN);
    assert_true(myr_str_to_i64(MYR_STR("9223372036854775807"), &i));
    assert_true(i == INT64_MAX);
    assert_false(myr_str_to_i64(MYR_STR("9223372036854775808"), &i));
    assert_false(myr_str_to_i64(MYR_STR("-9223372036854775809"), &i));
    assert_false(myr_str_to_i64(MYR_STR("-"), &i));
    assert_false(myr_str_to_i64(MYR_STR("--1"), &i));
    assert_true(i == INT64_MAX);
}

static void a_date_is_a_day_of_the_calendar(void **state)
{
    (void)state;
    static const char *const good[] = {"2026-11-16", "2024-02-29", "2000-02-29", "2026-01-31",
                                       "2026-04-30", "2026-12-01", "0000-02-29"};
    static const char *const bad[] = {"",           "2026-13-45", "2026-00-10", "2026-01-00",
                                      "2026-01-32", "2026-04-31", "2025-02-29", "1900-02-29",
                                      "2024-02-30", "2026-1-01",  "2026-01-1",  "2026-01-011",
                                      "2026/01/01", "2026-01/01", "20260101",   "16.11.2026",
                                      "+026-01-01", "2026- 1-01", "2026-01-0x", "today"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(good); i++) {
        assert_true(myr_str_is_date(myr_str_from(good[i])));
    }
    static const uint32_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    for (uint32_t day = 1; day <= 12 * 40; day++) {
        char text[16];
        uint32_t month = day / 40, of_month = day % 40;
        (void)snprintf(text, sizeof(text), "2026-%02u-%02u", month + 1, of_month);
        bool is = month < 12 && of_month >= 1 && of_month <= days[month % 12];
        assert_int_equal(myr_str_is_date(myr_str_from(text)), is);
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        if (myr_str_is_date(myr_str_from(bad[i]))) {
            fail_msg("%s", bad[i]);
        }
    }
}

/* Random text over a small alphabet, long enough to overflow now and then. */
static struct myr_str random_text(struct myr_rng *rng, const char *alphabet, char *ret,
                                  uint32_t len_max)
{
    uint32_t len = myr_rng_below(rng, len_max + 1);
    uint32_t kinds = (uint32_t)strlen(alphabet);
    for (uint32_t i = 0; i < len; i++) {
        ret[i] = alphabet[myr_rng_below(rng, kinds)];
    }
    ret[len] = '\0';
    return (struct myr_str){ret, len};
}

/* libc takes signs and blanks that we do not; over digits and '-' alone the two must agree. */
static void integers_agree_with_libc(void **state)
{
    (void)state;
    struct myr_rng rng;
    myr_rng_init(&rng, 1, 0);
    for (uint32_t round = 0; round < 200000; round++) {
        char text[32];
        struct myr_str s = random_text(&rng, "0123456789-", text, 22);
        char *end;
        errno = 0;
        unsigned long long u_want = strtoull(text, &end, 10);
        bool u_good = s.len > 0 && *end == '\0' && errno == 0 && text[0] != '-';
        uint64_t u = 0;
        assert_int_equal(myr_str_to_u64(s, &u), u_good);
        assert_true(!u_good || u == u_want);
        errno = 0;
        long long i_want = strtoll(text, &end, 10);
        bool i_good = s.len > 0 && *end == '\0' && end != text && errno == 0;
        int64_t i = 0;
        assert_int_equal(myr_str_to_i64(s, &i), i_good);
        assert_true(!i_good || i == i_want);
    }
}

static void decimals_agree_with_libc_where_we_accept_them(void **state)
{
    (void)state;
    struct myr_rng rng;
    myr_rng_init(&rng, 2, 0);
    for (uint32_t round = 0; round < 200000; round++) {
        char text[32];
        struct myr_str s = random_text(&rng, "0123456789.-+eE", text, 12);
        char *end;
        errno = 0;
        double want = strtod(text, &end);
        bool good = s.len > 0 && *end == '\0' && errno == 0;
        double got = 0;
        assert_int_equal(myr_str_to_double(s, &got), good);
        assert_true(!good || (got == want && signbit(got) == signbit(want)));
    }
    const char *const bad[] = {"", " 1", "1 ", "inf", "nan", "0x1p3", "1e999", "1e-999", ".", "1e"};
    double got = 7;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        assert_false(myr_str_to_double(str(bad[i]), &got));
    }
    assert_false(myr_str_to_double((struct myr_str){"1\0002", 3}, &got));
    assert_true(got == 7);
    /* Zeros in front are part of a number, up to 63 characters of it. */
    char zeros[65];
    memset(zeros, '0', sizeof(zeros));
    zeros[62] = zeros[63] = '5';
    assert_false(myr_str_to_double((struct myr_str){zeros, 64}, &got));
    assert_true(got == 7);
    assert_true(myr_str_to_double((struct myr_str){zeros, 63}, &got));
    assert_true(got == 5);
}

/* The definition of the distance, without any cleverness. */
static uint32_t plain_distance(const char *a, const char *b)
{
    if (!*a || !*b) {
        return (uint32_t)(strlen(a) + strlen(b));
    }
    if (*a == *b) {
        return plain_distance(a + 1, b + 1);
    }
    uint32_t best = plain_distance(a + 1, b + 1);
    uint32_t shorter_a = plain_distance(a + 1, b);
    uint32_t shorter_b = plain_distance(a, b + 1);
    best = shorter_a < best ? shorter_a : best;
    best = shorter_b < best ? shorter_b : best;
    return best + 1;
}

static void distance_agrees_with_its_definition(void **state)
{
    (void)state;
    struct myr_rng rng;
    myr_rng_init(&rng, 3, 0);
    for (uint32_t round = 0; round < 20000; round++) {
        char a[8], b[8];
        struct myr_str sa = random_text(&rng, "abc", a, 6);
        struct myr_str sb = random_text(&rng, "abc", b, 6);
        uint32_t limit = myr_rng_below(&rng, 8);
        uint32_t want = plain_distance(a, b);
        want = want > limit ? limit + 1 : want;
        assert_int_equal(myr_str_distance(sa, sb, limit), want);
        assert_int_equal(myr_str_distance(sb, sa, limit), want);
    }
    assert_int_equal(myr_str_distance(MYR_STR("Servers"), MYR_STR("serverS"), 3), 0);
}

static void text_too_long_to_be_a_typing_error_is_far(void **state)
{
    (void)state;
    char text[80];
    memset(text, 'x', sizeof(text));
    struct myr_str longest = {text, 64}, longer = {text, 65};
    assert_int_equal(myr_str_distance(longest, longest, 3), 0);
    assert_int_equal(myr_str_distance(longer, longer, 3), 4);
}

static void nearest_names_at_most_two(void **state)
{
    (void)state;
    const char *const keys[] = {"servers", "server", "storage", "networks", "planes"};
    char near[128];
    myr_str_nearest(MYR_STR("servrs"), keys, 5, near, sizeof(near));
    assert_string_equal(near, "'servers' or 'server'");
    myr_str_nearest(MYR_STR("plane"), keys, 5, near, sizeof(near));
    assert_string_equal(near, "'planes'");
    myr_str_nearest(MYR_STR("NETWORK"), keys, 5, near, sizeof(near));
    assert_string_equal(near, "'networks'");
    myr_str_nearest(MYR_STR("quantity"), keys, 5, near, sizeof(near));
    assert_string_equal(near, "");
    const char *const parts[] = {"mqm9790-hs2f", "q3400-ra", "sn5600"};
    myr_str_nearest(MYR_STR("mqm9790"), parts, 3, near, sizeof(near));
    assert_string_equal(near, "'mqm9790-hs2f'"); /* contained, though many letters short */
    char tiny[6];
    myr_str_nearest(MYR_STR("servrs"), keys, 5, tiny, sizeof(tiny));
    assert_string_equal(tiny, "'serv");
}

/* The two that are nearest, in whatever order the names come; of equals the first. */
static void the_nearest_two_are_found_in_any_order(void **state)
{
    (void)state;
    /* Nothing, one, two and three letters wrong; a part of it; nothing like it. */
    static const char *const names[] = {"abcdefgh", "abcdefgx",     "abcdefxy",
                                        "abcdexyz", "wxyzabcdefgh", "nothing"};
    enum { COUNT = MYR_ARRAY_COUNT(names) };
    for (uint32_t first = 0; first < COUNT; first++) { /* the names from this one on */
        for (uint32_t turn = 0; turn < 720; turn++) {
            const char *order[COUNT];
            uint32_t count = COUNT - first, left = turn;
            memcpy(order, names + first, count * sizeof(*order));
            for (uint32_t i = count; i > 1; left /= i, i--) {
                const char *kept = order[i - 1];
                order[i - 1] = order[left % i];
                order[left % i] = kept;
            }
            char near[64], wanted[64];
            myr_str_nearest(MYR_STR("abcdefgh"), order, count, near, sizeof(near));
            wanted[0] = '\0'; /* the last is never near */
            for (uint32_t i = first; i < COUNT - 1 && i < first + 2; i++) {
                size_t len = strlen(wanted);
                (void)snprintf(wanted + len, sizeof(wanted) - len, "%s'%s'", len ? " or " : "",
                               names[i]);
            }
            assert_string_equal(near, wanted);
        }
    }
    static const char *const equals[] = {"abcdefgx", "abcdefgy", "abcdefgz"};
    char near[64];
    myr_str_nearest(MYR_STR("abcdefgh"), equals, 3, near, sizeof(near));
    assert_string_equal(near, "'abcdefgx' or 'abcdefgy'");
}

/* One letter of three may be wrong, two of seven, three of more; a part has three at least. */
static void how_near_depends_on_the_length(void **state)
{
    (void)state;
    static const struct {
        const char *text, *name;
        bool near;
    } cases[] = {
        {"abc", "abx", true},           {"abc", "axy", false},
        {"abcd", "abxy", true},         {"abcd", "axyz", false},
        {"abcdefg", "abcdexy", true},   {"abcdefg", "abcdxyz", false},
        {"abcdefgh", "abcdexyz", true}, {"abcdefgh", "abcdwxyz", false},
        {"mq", "mqm9790-hs2f", false},  {"mqm", "mqm9790-hs2f", true},
        {"mqm9790-hs2f", "HS2", true},  {"mqm9790-hs2f", "hs", false},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        char near[64];
        myr_str_nearest(str(cases[i].text), &cases[i].name, 1, near, sizeof(near));
        if ((near[0] != '\0') != cases[i].near) {
            fail_msg("'%s', '%s': %s", cases[i].text, cases[i].name, near);
        }
    }
}

static void buffers_agree_with_printf(void **state)
{
    (void)state;
    struct myr_buf buf = {};
    struct myr_rng rng;
    myr_rng_init(&rng, 4, 0);
    for (uint32_t round = 0; round < 50000; round++) {
        uint64_t value = myr_rng_u64(&rng) >> myr_rng_below(&rng, 64);
        uint32_t width = myr_rng_below(&rng, 21);
        char want[128];
        int len = snprintf(want, sizeof(want), "%" PRIu64 ",%" PRId64 ",%0*" PRIu64 ";", value,
                           (int64_t)(0 - value), (int)width, value);
        myr_buf_clear(&buf);
        myr_buf_put_u64(&buf, value);
        myr_buf_putc(&buf, ',');
        myr_buf_put_i64(&buf, (int64_t)(0 - value));
        myr_buf_put_lit(&buf, ",");
        myr_buf_put_u64_pad(&buf, value, width);
        myr_buf_printf(&buf, "%s", ";");
        assert_int_equal(buf.len, len);
        assert_string_equal(buf.data, want);
    }
    myr_buf_clear(&buf);
    myr_buf_put_i64(&buf, INT64_MIN);
    assert_string_equal(buf.data, "-9223372036854775808");
    myr_buf_done(&buf);
    assert_null(buf.data);
}

/* Pieces of every length land one after the other, through every growth of the buffer. */
static void buffers_grow_without_losing_text(void **state)
{
    (void)state;
    struct myr_buf buf = {};
    size_t total = 0;
    for (int len = 0; len < 1500; len++) {
        myr_buf_printf(&buf, "%*d|", len + 1, len % 10);
        total += (size_t)len + 2;
        assert_int_equal(buf.len, total);
        assert_int_equal(buf.data[buf.len], '\0');
        assert_int_equal(buf.data[buf.len - 1], '|');
        assert_int_equal(buf.data[buf.len - 2], '0' + len % 10);
    }
    assert_memory_equal(buf.data, "0| 1|  2|", 9);
    myr_buf_clear(&buf);
    assert_string_equal(buf.data, "");
    myr_buf_put(&buf, NULL, 0);
    myr_buf_puts(&buf, "again");
    assert_string_equal(buf.data, "again");
    myr_buf_done(&buf);
}

/* A text that is put letter by letter costs no more than its length. */
static void buffers_at_least_double(void **state)
{
    (void)state;
    struct myr_buf buf = {};
    size_t last = 0;
    for (uint32_t i = 0; i < 5000; i++) {
        myr_buf_putc(&buf, 'x');
        assert_true(buf.capacity > buf.len); /* with room for the NUL */
        assert_true(buf.capacity == last || buf.capacity == (last ? 2 * last : 256));
        last = buf.capacity;
    }
    assert_int_equal(last, 8192);
    myr_buf_reserve(&buf, 100000);
    assert_int_equal(buf.capacity, 5000 + 100000 + 1);
    myr_buf_done(&buf);
}

static void an_empty_put_makes_the_text_usable(void **state)
{
    (void)state;
    struct myr_buf buf = {};
    myr_buf_clear(&buf);
    myr_buf_put(&buf, NULL, 0);
    assert_string_equal(buf.data, "");
    myr_buf_done(&buf);
    myr_buf_done(&buf);
}

static void thousands_are_grouped_for_people(void **state)
{
    (void)state;
    char text[32];
    assert_string_equal(myr_u64_grouped(0, text), "0");
    assert_string_equal(myr_u64_grouped(999, text), "999");
    assert_string_equal(myr_u64_grouped(1000, text), "1,000");
    assert_string_equal(myr_u64_grouped(301056, text), "301,056");
    assert_string_equal(myr_u64_grouped(UINT64_MAX, text), "18,446,744,073,709,551,615");
}

static void a_put_text_ends_in_nul_and_may_be_nowhere(void **state)
{
    char room[] = "abcdef";
    (void)state;
    myr_str_put((struct myr_str){"xyz", 2}, room);
    assert_memory_equal(room, "xy\0def", 7);
    myr_str_put((struct myr_str){NULL, 0},
                room); /* a trap under the sanitizers if it were copied */
    assert_memory_equal(room, "\0y\0def", 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_date_is_a_day_of_the_calendar),
        cmocka_unit_test(a_put_text_ends_in_nul_and_may_be_nowhere),
        cmocka_unit_test(comparison_is_by_bytes_and_length),
        cmocka_unit_test(numbers_are_taken_whole_or_not_at_all),
        cmocka_unit_test(signed_numbers_reach_both_ends),
        cmocka_unit_test(integers_agree_with_libc),
        cmocka_unit_test(decimals_agree_with_libc_where_we_accept_them),
        cmocka_unit_test(distance_agrees_with_its_definition),
        cmocka_unit_test(text_too_long_to_be_a_typing_error_is_far),
        cmocka_unit_test(nearest_names_at_most_two),
        cmocka_unit_test(the_nearest_two_are_found_in_any_order),
        cmocka_unit_test(how_near_depends_on_the_length),
        cmocka_unit_test(buffers_agree_with_printf),
        cmocka_unit_test(buffers_grow_without_losing_text),
        cmocka_unit_test(buffers_at_least_double),
        cmocka_unit_test(an_empty_put_makes_the_text_usable),
        cmocka_unit_test(thousands_are_grouped_for_people),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
