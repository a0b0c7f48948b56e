#include "myriad/text/csv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct myr_arena arena;

static int begin(void **state)
{
    (void)state;
    myr_arena_init(&arena);
    return 0;
}

static int end(void **state)
{
    (void)state;
    myr_arena_done(&arena);
    return 0;
}

static void expect_row(struct myr_csv *csv, uint32_t line, uint32_t count, const char *const *texts)
{
    struct myr_err err = {};
    if (myr_csv_next(csv, &err) != 1) {
        fail_msg("no row: %s", err.message);
    }
    assert_int_equal(csv->line, line);
    assert_int_equal(csv->count, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(myr_str_eq(csv->fields[i], myr_str_from(texts[i])));
    }
}

static void rows_are_read_with_and_without_quotes(void **state)
{
    (void)state;
    struct myr_csv csv;
    struct myr_err err = {};
    myr_csv_init(&csv, &arena, "a.csv",
                 MYR_STR("\xEF\xBB\xBFname,price\r\n\n\r\n\"a, b\",\"say \"\"x\"\"\"\n"
                         "\"two\nlines\",,\n\"\"\nlast,1"));
    expect_row(&csv, 1, 2, (const char *const[]){"name", "price"});
    expect_row(&csv, 4, 2, (const char *const[]){"a, b", "say \"x\""});
    assert_int_equal(myr_csv_column(&csv, 1), 8);
    expect_row(&csv, 5, 3, (const char *const[]){"two\nlines", "", ""});
    assert_int_equal(csv.lines[1], 6);
    assert_int_equal(myr_csv_column(&csv, 1), 8);
    expect_row(&csv, 7, 1, (const char *const[]){""});
    expect_row(&csv, 8, 2, (const char *const[]){"last", "1"});
    assert_int_equal(myr_csv_next(&csv, &err), 0);
    assert_int_equal(myr_csv_next(&csv, &err), 0);
}

/* As an editor and the readers of YAML and JSON count: characters, not bytes. */
static void columns_count_characters(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t field;
        const char *place;
    } rows[] = {{"机柜一号,nic0,leaf,1/1,abc\n", 4, "a.csv:1:20: x"},
                {"\xEF\xBB\xBFä,ö,ü\n", 2, "a.csv:1:5: x"},
                {"\"ä\nöö\",ü,3\n", 2, "a.csv:2:7: x"},
                {"plain,words,only\n", 2, "a.csv:1:13: x"}};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct myr_csv csv;
        struct myr_err err = {};
        myr_csv_init(&csv, &arena, "a.csv", myr_str_from(rows[i].text));
        assert_int_equal(myr_csv_next(&csv, &err), 1);
        assert_int_equal(myr_csv_error(&err, &csv, rows[i].field, "x"), MYR_EINVAL);
        assert_string_equal(err.message, rows[i].place);
    }
    struct myr_csv csv;
    struct myr_err err = {};
    myr_csv_init(&csv, &arena, "a.csv", MYR_STR("äöü,x\"y\n"));
    assert_int_equal(myr_csv_next(&csv, &err), MYR_EINVAL);
    assert_non_null(strstr(err.message, "a.csv:1:6: "));
    myr_csv_init(&csv, &arena, "a.csv", MYR_STR("äöü,\"x\n"));
    assert_int_equal(myr_csv_next(&csv, &err), MYR_EINVAL);
    assert_non_null(strstr(err.message, "a.csv:1:5: "));
}

static void fields_without_doubled_quotes_are_borrowed(void **state)
{
    (void)state;
    static const char text[] = "plain,\"quoted\",\"dou\"\"bled\"\n";
    struct myr_csv csv;
    myr_csv_init(&csv, &arena, "a.csv", MYR_STR(text));
    assert_int_equal(myr_csv_next(&csv, NULL), 1);
    assert_ptr_equal(csv.fields[0].data, text);
    assert_ptr_equal(csv.fields[1].data, text + 7);
    assert_false(csv.fields[2].data >= text && csv.fields[2].data < text + sizeof(text));
}

static void broken_text_gets_one_line_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"a,\"never\nclosed", "a.csv:1:3: the quote opened here is never closed"},
        {"\"", "a.csv:1:1: the quote opened here is never closed"},
        {"\"\"\"", "a.csv:1:1: the quote opened here is never closed"},
        {"x,y\n\"a\"b\n",
         "a.csv:2:4: ',' or the end of the line is expected after the closing quote"},
        {"\"a\nb\"c\n",
         "a.csv:2:3: ',' or the end of the line is expected after the closing quote"},
        {"a\"b\n", "a.csv:1:2: a quote inside a field; quote the whole field and write the quote "
                   "twice"},
        {"a\rb\n", "a.csv:1:2: a carriage return without a line feed"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_csv csv;
        struct myr_err err = {};
        int rc;
        myr_csv_init(&csv, &arena, "a.csv", myr_str_from(cases[i].text));
        do {
            rc = myr_csv_next(&csv, &err);
        } while (rc == 1);
        assert_int_equal(rc, MYR_EINVAL);
        assert_string_equal(err.message, cases[i].message);
    }
}

static void the_number_of_fields_is_limited(void **state)
{
    (void)state;
    struct myr_buf text = {};
    struct myr_csv csv;
    struct myr_err err = {};
    for (int i = 1; i < MYR_CSV_FIELDS_MAX; i++) {
        myr_buf_puts(&text, "x,");
    }
    myr_csv_init(&csv, &arena, "a.csv", (struct myr_str){text.data, text.len});
    assert_int_equal(myr_csv_next(&csv, &err), 1);
    assert_int_equal(csv.count, MYR_CSV_FIELDS_MAX);
    myr_buf_puts(&text, ",");
    myr_csv_init(&csv, &arena, "a.csv", (struct myr_str){text.data, text.len});
    assert_int_equal(myr_csv_next(&csv, &err), MYR_EINVAL);
    assert_string_equal(err.message,
                        "a.csv:1:512: more than 256 fields in a row, the most allowed");
    myr_buf_done(&text);
}

static void a_complaint_points_at_the_field(void **state)
{
    (void)state;
    struct myr_csv csv;
    struct myr_err err = {};
    myr_csv_init(&csv, &arena, "a.csv", MYR_STR("a,b\n1,x\n"));
    assert_int_equal(myr_csv_next(&csv, &err), 1);
    assert_int_equal(myr_csv_next(&csv, &err), 1);
    assert_int_equal(myr_csv_error(&err, &csv, 1, "'%s' is no number\n", "x"), MYR_EINVAL);
    assert_string_equal(err.message, "a.csv:2:3: 'x' is no number?");
}

static void rows_have_nothing_behind_the_header(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *message; /* NULL: it is read to its end */
    } cases[] = {
        {"part,price\na,208,000\n", "a.csv:2:7: the row has 3 fields, the header 2"},
        {"a,b\n1,2\n1,2,,x\n", "a.csv:3:6: the row has 4 fields, the header 2"},
        {"a\n1,\"\n\"\n", "a.csv:2:3: the row has 2 fields, the header 1"},
        {"a,b,\n1,2,3\n", NULL},
        {"a,b\n1\n1,2,\n1,2,,, \t\n1,2,\"\"\n", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_csv csv;
        struct myr_err err = {};
        myr_csv_init(&csv, &arena, "a.csv", myr_str_from(cases[i].text));
        int rc = myr_csv_header(&csv, &err);
        assert_int_equal(csv.head_count, csv.count);
        while (rc == 1) {
            rc = myr_csv_next(&csv, &err);
        }
        assert_int_equal(rc, cases[i].message ? MYR_EINVAL : 0);
        if (cases[i].message) {
            assert_string_equal(err.message, cases[i].message);
            assert_string_equal(err.hint, "a field with a comma in it stands in quotes");
        }
    }
    /* Without a header rows are as long as they like. */
    struct myr_csv csv;
    myr_csv_init(&csv, &arena, "a.csv", MYR_STR("a\nb,c\nd,e,f\n"));
    assert_int_equal(myr_csv_next(&csv, NULL), 1);
    assert_int_equal(myr_csv_next(&csv, NULL), 1);
    assert_int_equal(csv.count, 2);
    /* A header may be known by what it says alone. */
    myr_csv_is_header(&csv);
    struct myr_err err = {};
    assert_int_equal(myr_csv_next(&csv, &err), MYR_EINVAL);
    assert_string_equal(err.message, "a.csv:3:5: the row has 3 fields, the header 2");
}

static void random_fields_come_back(void **state)
{
    (void)state;
    const uint64_t seed = 20240610;
    static const char bytes[] = "ab,\"\n\r ;\xEF\xBB\xBF";
    struct myr_rng rng;
    myr_rng_init(&rng, seed, 1);
    for (int round = 0; round < 5000; round++) {
        char fields[5][8];
        size_t lens[5];
        uint32_t count = 2 + myr_rng_below(&rng, 4);
        struct myr_buf text = {};
        for (uint32_t i = 0; i < count; i++) {
            lens[i] = myr_rng_below(&rng, 8);
            for (size_t k = 0; k < lens[i]; k++) {
                fields[i][k] = bytes[myr_rng_below(&rng, sizeof(bytes) - 1)];
            }
            myr_csv_put(&text, (struct myr_str){fields[i], lens[i]});
            myr_buf_puts(&text, i + 1 < count ? "," : round % 2 ? "\n" : "\r\n");
        }
        struct myr_csv csv;
        struct myr_err err = {};
        myr_csv_init(&csv, &arena, "a.csv", (struct myr_str){text.data, text.len});
        bool same = myr_csv_next(&csv, &err) == 1 && csv.count == count;
        for (uint32_t i = 0; same && i < count; i++) {
            same = myr_str_eq(csv.fields[i], (struct myr_str){fields[i], lens[i]});
        }
        if (!same || myr_csv_next(&csv, &err) != 0) {
            fail_msg("seed %llu round %d: %s %s", (unsigned long long)seed, round, err.message,
                     text.data);
        }
        myr_buf_done(&text);
    }
}

static void put_text(const char *text, const char *expected)
{
    struct myr_buf buf = {};
    myr_csv_put_text(&buf, myr_str_from(text));
    assert_string_equal(buf.data ? buf.data : "", expected);
    myr_buf_done(&buf);
}

static void what_a_spreadsheet_would_run_is_escaped(void **state)
{
    (void)state;
    put_text("=1+1", "'=1+1");
    put_text("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0");
    put_text("-x,y", "\"'-x,y\"");
    put_text("@SUM(A1)", "'@SUM(A1)");
    put_text("\t=1", "'\t=1");
    put_text("\r=1", "\"'\r=1\"");
    put_text("\xEF\xBC\x9D"
             "1+1",
             "'\xEF\xBC\x9D"
             "1+1");
    put_text("\xEF\xBC\xA0x", "'\xEF\xBC\xA0x");
    put_text("'=1", "''=1");
}

static void numbers_and_plain_text_are_left_alone(void **state)
{
    (void)state;
    static const char *const same[] = {"",
                                       "-",
                                       "-5",
                                       "+3.5",
                                       "-1e9",
                                       "a=b",
                                       "node/00042",
                                       "'",
                                       "'name'",
                                       "O'Hara",
                                       "\xE4\xBA\xA4\xE6\x8D\xA2\xE6\x9C\xBA"};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(same); i++) {
        put_text(same[i], same[i]);
    }
}

/* Random texts over the characters that matter, through a whole file and back. */
static void every_escaped_text_comes_back(void **state)
{
    (void)state;
    static const char letters[] = "=+-@'\t\r\n\",5a\xEF\xBC\x9D";
    struct myr_rng rng;
    myr_rng_init(&rng, 20261115, 1);
    for (uint32_t round = 0; round < 20000; round++) {
        char text[8];
        size_t len = 1 + myr_rng_below(&rng, sizeof(text) - 1);
        for (size_t i = 0; i < len; i++) {
            text[i] = letters[myr_rng_below(&rng, sizeof(letters) - 1)];
        }
        struct myr_buf buf = {};
        struct myr_csv csv;
        myr_buf_put_lit(&buf, "x,"); /* no mark at the start */
        myr_csv_put_text(&buf, (struct myr_str){text, len});
        myr_csv_init(&csv, &arena, "t", (struct myr_str){buf.data, buf.len});
        assert_int_equal(myr_csv_next(&csv, NULL), 1);
        assert_int_equal(csv.count, 2);
        assert_true(myr_str_eq(myr_csv_text(csv.fields[1]), (struct myr_str){text, len}));
        myr_buf_done(&buf);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_read_with_and_without_quotes),
        cmocka_unit_test(columns_count_characters),
        cmocka_unit_test(fields_without_doubled_quotes_are_borrowed),
        cmocka_unit_test(broken_text_gets_one_line_with_its_place),
        cmocka_unit_test(the_number_of_fields_is_limited),
        cmocka_unit_test(a_complaint_points_at_the_field),
        cmocka_unit_test(rows_have_nothing_behind_the_header),
        cmocka_unit_test(random_fields_come_back),
        cmocka_unit_test(what_a_spreadsheet_would_run_is_escaped),
        cmocka_unit_test(numbers_and_plain_text_are_left_alone),
        cmocka_unit_test(every_escaped_text_comes_back),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
