#include "myriad/text/json.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include <cmocka.h>

static void write_sample(struct myr_json *json)
{
    myr_json_object(json, NULL);
    myr_json_text(json, "name", "h100-64");
    myr_json_u64(json, "servers", UINT64_MAX);
    myr_json_i64(json, "offset", INT64_MIN);
    myr_json_bool(json, "dense", true);
    myr_json_null(json, "price");
    myr_json_text(json, "note", NULL);
    myr_json_list(json, "ratio");
    myr_json_u64(json, NULL, 1);
    myr_json_double(json, NULL, 2.5, 3);
    myr_json_end(json);
    myr_json_list(json, "empty");
    myr_json_end(json);
    myr_json_object(json, "none");
    myr_json_end(json);
    myr_json_raw(json, "raw", MYR_STR("[1]"));
    myr_json_end(json);
}

static void compact_has_no_blanks(void **state)
{
    (void)state;
    struct myr_buf buf = {};
    struct myr_json json;
    myr_json_init(&json, &buf, MYR_JSON_COMPACT);
    write_sample(&json);
    assert_string_equal(buf.data,
                        "{\"name\":\"h100-64\",\"servers\":18446744073709551615,"
                        "\"offset\":-9223372036854775808,\"dense\":true,\"price\":null,"
                        "\"note\":null,\"ratio\":[1,2.5],\"empty\":[],\"none\":{},\"raw\":[1]}");
    myr_buf_done(&buf);
}

static void pretty_is_one_item_a_line(void **state)
{
    (void)state;
    struct myr_buf buf = {};
    struct myr_json json;
    myr_json_init(&json, &buf, MYR_JSON_PRETTY);
    write_sample(&json);
    assert_string_equal(buf.data, "{\n"
                                  "  \"name\": \"h100-64\",\n"
                                  "  \"servers\": 18446744073709551615,\n"
                                  "  \"offset\": -9223372036854775808,\n"
                                  "  \"dense\": true,\n"
                                  "  \"price\": null,\n"
                                  "  \"note\": null,\n"
                                  "  \"ratio\": [\n"
                                  "    1,\n"
                                  "    2.5\n"
                                  "  ],\n"
                                  "  \"empty\": [],\n"
                                  "  \"none\": {},\n"
                                  "  \"raw\": [1]\n"
                                  "}");
    myr_buf_done(&buf);
}

static void text_is_escaped_and_damage_is_replaced(void **state)
{
    (void)state;
    static const struct {
        struct myr_str text;
        const char *quoted;
    } cases[] = {
        {MYR_STR(""), "\"\""},
        {MYR_STR("a\"b\\c/d"), "\"a\\\"b\\\\c/d\""},
        {MYR_STR("\n\r\t\b\x01"), "\"\\n\\r\\t\\u0008\\u0001\""},
        {MYR_STR("a\0b"), "\"a\\u0000b\""},
        {MYR_STR("\xE4\xB8\x87\xE5\x8D\xA1"), "\"\xE4\xB8\x87\xE5\x8D\xA1\""},
        {MYR_STR("x\xFFy\xE4\xB8"), "\"x\\ufffdy\\ufffd\\ufffd\""},
        {MYR_STR("\x7F\xC2\x85\xE2\x80\xA8"), "\"\\u007f\\u0085\\u2028\""},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_buf buf = {};
        myr_json_quote(&buf, cases[i].text);
        assert_string_equal(buf.data, cases[i].quoted);
        myr_buf_done(&buf);
    }
}

static void numbers_are_short_and_without_exponent(void **state)
{
    (void)state;
    static const struct {
        double value;
        int digits;
        const char *text;
    } cases[] = {
        {0, 2, "0"},
        {-0.0, 2, "0"},
        {-0.001, 2, "0"},
        {1, 0, "1"},
        {100, 0, "100"},
        {100, 3, "100"},
        {2.5, 0, "2"}, /* ties go to even, as printf does */
        {0.1, 17, "0.1"},
        {0.1 + 0.2, 17, "0.30000000000000004"},
        {1.0 / 3, 4, "0.3333"},
        {1234567.125, 2, "1234567.12"},
        {999999999999999.0, 3, "999999999999999"},
        {123456789012345.67, 17, "123456789012345.67"},
        {1e15, 2, "1e+15"},
        {-1.5e300, 2, "-1.5e+300"},
        {1e-9, 3, "0"},
        {-99.995, 1, "-100"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_buf buf = {};
        myr_json_number(&buf, cases[i].value, cases[i].digits);
        assert_string_equal(buf.data, cases[i].text);
        myr_buf_done(&buf);
    }
}

/* Against the definition: among 0 to 'digits' decimals the first that reads back, else all. */
static void random_numbers_match_the_definition(void **state)
{
    (void)state;
    const uint64_t seed = 20240607;
    struct myr_rng rng;
    myr_rng_init(&rng, seed, 1);
    for (int round = 0; round < 20000; round++) {
        int digits = (int)myr_rng_below(&rng, 18);
        double divisor = (double)(1 + myr_rng_below(&rng, 100000));
        double value = (double)(int64_t)myr_rng_u64(&rng) / 16384 / divisor;
        char expected[64];
        for (int d = 0; d <= digits; d++) {
            snprintf(expected, sizeof(expected), "%.*f", d, value);
            if (strtod(expected, NULL) == value) {
                break;
            }
        }
        struct myr_buf buf = {};
        myr_json_number(&buf, value, digits);
        if (strtod(buf.data, NULL) != strtod(expected, NULL) ||
            strlen(buf.data) > strlen(expected) || strchr(buf.data, 'e')) {
            fail_msg("seed %llu round %d: %s is not %s", (unsigned long long)seed, round, buf.data,
                     expected);
        }
        myr_buf_done(&buf);
    }
}

static void another_reader_takes_what_is_written(void **state)
{
    (void)state;
    for (int style = 0; style < 2; style++) {
        struct myr_buf buf = {};
        struct myr_json json;
        myr_json_init(&json, &buf, (enum myr_json_style)style);
        write_sample(&json);
        json_error_t error;
        json_t *root = json_loadb(buf.data, buf.len, JSON_REJECT_DUPLICATES, &error);
        /* Out of jansson's range, and so the one thing that it may refuse. */
        assert_null(root);
        assert_int_equal(json_error_code(&error), json_error_numeric_overflow);
        char *large = strstr(buf.data, "18446744073709551615");
        memset(large, '1', 18);
        memset(large + 18, ' ', 2);
        root = json_loadb(buf.data, buf.len, JSON_REJECT_DUPLICATES, &error);
        assert_non_null(root);
        assert_string_equal(json_string_value(json_object_get(root, "name")), "h100-64");
        json_decref(root);
        myr_buf_done(&buf);
    }
}

static void write_nan(struct myr_json *json)
{
    myr_json_double(json, NULL, (double)NAN, 2);
}

static void write_key_in_list(struct myr_json *json)
{
    myr_json_list(json, NULL);
    myr_json_u64(json, "key", 1);
}

static void write_no_key_in_object(struct myr_json *json)
{
    myr_json_object(json, NULL);
    myr_json_u64(json, NULL, 1);
}

static void write_too_deep(struct myr_json *json)
{
    for (int i = 0; i <= MYR_JSON_DEPTH_MAX; i++) {
        myr_json_list(json, NULL);
    }
}

static void misuse_stops_the_program(void **state)
{
    (void)state;
    void (*const misuses[])(struct myr_json *) = {
        myr_json_end, write_nan, write_key_in_list, write_no_key_in_object, write_too_deep,
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(misuses); i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            struct rlimit none = {0, 0};
            struct myr_buf buf = {};
            struct myr_json json;
            setrlimit(RLIMIT_CORE, &none);
            dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
            signal(SIGABRT, SIG_DFL);
            myr_json_init(&json, &buf, MYR_JSON_COMPACT);
            misuses[i](&json);
            _exit(0);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compact_has_no_blanks),
        cmocka_unit_test(pretty_is_one_item_a_line),
        cmocka_unit_test(text_is_escaped_and_damage_is_replaced),
        cmocka_unit_test(numbers_are_short_and_without_exponent),
        cmocka_unit_test(random_numbers_match_the_definition),
        cmocka_unit_test(another_reader_takes_what_is_written),
        cmocka_unit_test(misuse_stops_the_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
