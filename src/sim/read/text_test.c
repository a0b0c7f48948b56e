#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "read/text.h"

/* Words, their places and the numbers in them, as every reader of other simulators' files uses. */

static void words_have_their_places(void **state)
{
    (void)state;
    static const char text[] = "\xEF\xBB\xBF  one\ttwo \r\n\n # no\n#no\n\t\r\nthree\n  four# \n#";
    static const struct {
        const char *word;
        uint32_t line, column;
    } words[] = {{"one", 1, 3}, {"two", 1, 7},   {"", 1, 12}, {"three", 6, 1},
                 {"", 6, 6},    {"four#", 7, 3}, {"", 7, 9}};
    struct scan scan;
    size_t at = 0;
    scan_init(&scan, "f", MYR_STR(text));
    while (scan_line(&scan)) {
        bool more;
        do {
            assert_true(at < MYR_ARRAY_COUNT(words));
            more = scan_word(&scan);
            assert_true(myr_str_eq(scan.word, myr_str_from(words[at].word)));
            assert_int_equal(scan_here(&scan).line, words[at].line);
            assert_int_equal(scan_here(&scan).column, words[at].column);
            assert_int_equal(more, words[at].word[0] != '\0');
            at++;
        } while (more);
    }
    assert_int_equal(at, MYR_ARRAY_COUNT(words));
    /* At the end a word is missing there, and another line is asked for in vain. */
    assert_int_equal(scan_here(&scan).line, 8);
    assert_int_equal(scan_here(&scan).column, 2);
    assert_false(scan_line(&scan));
    scan_init(&scan, "f", MYR_STR("\xEF\xBB"));
    assert_true(scan_line(&scan) && scan_word(&scan) && scan.word.len == 2);
    scan_init(&scan, "f", MYR_STR(""));
    assert_false(scan_line(&scan));
    assert_int_equal(scan_here(&scan).line, 1);
    assert_int_equal(scan_here(&scan).column, 1);
}

static void words_are_shown_short_and_plain(void **state)
{
    (void)state;
    static const struct {
        const char *word, *shown;
    } cases[] = {
        {"a", "a"},
        {"\x1f\x20", "?"}, /* up to the blank */
        {"!~\x7f\xc3\xa4", "!~???"},
        {"123456789012345678901234567890123456", "123456789012345678901234567890123456"},
        {"1234567890123456789012345678901234567", "123456789012345678901234567890123456..."},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct scan scan;
        char shown[SCAN_SHOWN];
        scan_init(&scan, "f", myr_str_from(cases[i].word));
        assert_true(scan_line(&scan) && scan_word(&scan));
        assert_string_equal(scan_shown(&scan, shown), cases[i].shown);
    }
}

static void decimals_are_exact(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int32_t digits;
        uint64_t most, value; /* UINT64_MAX: it is none */
    } cases[] = {
        {"0", 0, 10, 0},
        {"10", 0, 10, 10},
        {"11", 0, 10, UINT64_MAX},
        {"1.5", 0, 10, 1},
        {"1.5", 1, 15, 15},
        {"1.5", 1, 14, UINT64_MAX},
        {"2.000001", 6, UINT64_MAX - 1, 2000001},
        {".5", 3, 1000, 500},
        {"5.", 3, 5000, 5000},
        {".", 3, 1000, UINT64_MAX},
        {"", 3, 1000, UINT64_MAX},
        {"e1", 3, 1000, UINT64_MAX},
        {"1.2.3", 3, 1000, UINT64_MAX},
        {"1e-6", 12, 1000000, 1000000},
        {"1E+2", 0, 100, 100},
        {"1e2", 0, 99, UINT64_MAX},
        {"1e", 0, 99, UINT64_MAX},
        {"1e+", 0, 99, UINT64_MAX},
        {"1e+-2", 0, 99, UINT64_MAX},
        {"0e99", 0, 99, 0},
        {"0e100", 0, 99, UINT64_MAX},
        {"1e-99", 0, 99, 0},
        {"1e-100", 0, 99, UINT64_MAX},
        {"-1", 0, 99, UINT64_MAX},
        {"1x", 0, 99, UINT64_MAX},
        {"/", 0, 99, UINT64_MAX},
        {":", 0, 99, UINT64_MAX},
        {"9", 0, 99, 9},
        {"12345678901234567890123", -5, UINT64_MAX - 1, 123456789012345678},
        {"1.2345678901234567890123456789", 10, UINT64_MAX - 1, 12345678901},
        {"184467440737095516", 1, UINT64_MAX - 1, 1844674407370955160},
        {"99999999999999999999999999", 0, UINT64_MAX - 1, UINT64_MAX},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        uint64_t value = 7;
        bool known =
            scan_decimal(myr_str_from(cases[i].text), cases[i].digits, cases[i].most, &value);
        if (known != (cases[i].value != UINT64_MAX) || (known && value != cases[i].value)) {
            fail_msg("%s, %d: %d %llu", cases[i].text, (int)cases[i].digits, known,
                     (unsigned long long)value);
        }
    }
}

/* The next word of 'text' as a number from 3 to 9, as a time in microseconds, or nothing. */
static void words_that_do_not_fit_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } numbers[] =
        {
            {" 3", NULL},
            {"9 10", NULL},
            {" 2", "f:1:2: size must be a whole number from 3 to 9, not '2'"},
            {"10", "f:1:1: size must be a whole number from 3 to 9, not '10'"},
            {"3.0", "f:1:1: size must be a whole number from 3 to 9, not '3.0'"},
        },
      times[] = {
          {"0", NULL},
          {"1e12", NULL},
          {"1.000001e12", "f:1:1: start must be a time of 0 to 1000000 seconds, not '1.000001e12'"},
          {"-1", "f:1:1: start must be a time of 0 to 1000000 seconds, not '-1'"},
      };
    struct scan scan;
    struct myr_err err = {};
    uint32_t small = 1;
    uint64_t value;
    myr_ps time;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(numbers); i++) {
        bool good = !numbers[i].message;
        scan_init(&scan, "f", myr_str_from(numbers[i].text));
        assert_true(scan_line(&scan));
        struct scan again = scan;
        assert_int_equal(scan_number(&scan, "size", 3, 9, &value, &err), good ? 0 : MYR_EINVAL);
        assert_true(good || strcmp(err.message, numbers[i].message) == 0);
        assert_int_equal(scan_u32(&again, "size", 3, 9, &small, NULL), good ? 0 : MYR_EINVAL);
        assert_true(!good || small == value);
        assert_true(good || small == 0);
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(times); i++) {
        scan_init(&scan, "f", myr_str_from(times[i].text));
        assert_true(scan_line(&scan));
        int rc = scan_time(&scan, "start", 6, &time, &err);
        assert_int_equal(rc, times[i].message ? MYR_EINVAL : MYR_OK);
        assert_true(rc == 0 ? time == (i ? MYR_TRACE_TIME_MAX : 0)
                            : strcmp(err.message, times[i].message) == 0);
    }
    scan_init(&scan, "f", MYR_STR("Word\n"));
    assert_true(scan_line(&scan) && scan_word(&scan));
    assert_true(scan_is(&scan, "wORD") && !scan_is(&scan, "word2"));
    assert_int_equal(scan_end(&scan, &err), MYR_OK);
    assert_int_equal(scan_need(&scan, "a name", &err), MYR_EINVAL);
    assert_string_equal(err.message, "f:1:5: the line ends where a name is expected");
    assert_int_equal(scan_error_at(&err, &scan, (struct scan_place){3, 4}, "no %d", 5), MYR_EINVAL);
    assert_string_equal(err.message, "f:3:4: no 5");
    scan_init(&scan, "f", MYR_STR("one more"));
    assert_true(scan_line(&scan) && scan_word(&scan));
    assert_int_equal(scan_end(&scan, &err), MYR_EINVAL);
    assert_string_equal(err.message, "f:1:5: 'more' is too much: the line should have ended");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_have_their_places),
        cmocka_unit_test(words_are_shown_short_and_plain),
        cmocka_unit_test(decimals_are_exact),
        cmocka_unit_test(words_that_do_not_fit_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
