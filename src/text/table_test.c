#include "myriad/text/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct myr_column columns[] = {
    {"part", "PART", 0},
    {"quantity", "QTY", MYR_COLUMN_NUMBER},
    {"cost_cny", "COST", MYR_COLUMN_NUMBER},
    {"rule", "RULE", MYR_COLUMN_WIDE},
};

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

static void fill(struct myr_table *table)
{
    myr_table_init(table, &arena, columns, MYR_ARRAY_COUNT(columns));
    myr_table_text(table, "Quantum-2");
    myr_table_double(table, 12345678, 0);
    myr_table_double(table, 1234.5, 2);
    myr_table_text(table, "one a leaf");
    myr_table_text(table, "\xE4\xB8\x87\xE5\x8D\xA1");
    myr_table_double(table, -1000, 0);
    myr_table_double(table, 0.25, 2);
    myr_table_text(table, "64");
    myr_table_text(table, "a, \"b\"\n\x1b[31m");
    myr_table_text(table, "n/a");
    myr_table_text(table, NULL);
    myr_table_text(table, "");
}

static void expect_form(enum myr_format format, const char *text)
{
    struct myr_table table;
    struct myr_buf buf = {};
    fill(&table);
    myr_table_write(&table, format, &(struct myr_screen){}, &buf);
    assert_string_equal(buf.data, text);
    myr_buf_done(&buf);
    myr_table_done(&table);
}

static void people_get_aligned_columns(void **state)
{
    (void)state;
    expect_form(MYR_FORMAT_TABLE, "PART                 QTY      COST\n"
                                  "Quantum-2     12,345,678  1,234.50\n"
                                  "\xE4\xB8\x87\xE5\x8D\xA1              -1,000      0.25\n"
                                  "a, \"b\"??[31m         n/a         -\n");
    expect_form(MYR_FORMAT_WIDE, "PART                 QTY      COST  RULE\n"
                                 "Quantum-2     12,345,678  1,234.50  one a leaf\n"
                                 "\xE4\xB8\x87\xE5\x8D\xA1              -1,000      0.25  64\n"
                                 "a, \"b\"??[31m         n/a         -\n");
}

static void an_empty_table_has_its_titles(void **state)
{
    (void)state;
    struct myr_table table;
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    myr_table_init(&table, &arena, columns, MYR_ARRAY_COUNT(columns));
    myr_table_write(&table, MYR_FORMAT_TABLE, &(struct myr_screen){}, &buf);
    assert_string_equal(buf.data, "PART  QTY  COST\n");
    myr_table_done(&table);
}

/* What only looks like a number is a word, and is shown as it is. */
static void only_numbers_are_grouped(void **state)
{
    (void)state;
    static const char *const cells[] = {"1000", "-1000.5", "01000", "+1000", "1000.", "0x1000"};
    static const struct myr_column column[] = {{"v", "V", MYR_COLUMN_NUMBER}};
    struct myr_table table;
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    myr_table_init(&table, &arena, column, 1);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cells); i++) {
        myr_table_text(&table, cells[i]);
    }
    myr_table_write(&table, MYR_FORMAT_TABLE, &(struct myr_screen){}, &buf);
    assert_string_equal(buf.data, "       V\n 1,000.0\n-1,000.5\n   01000\n   +1000\n   1000.\n"
                                  "  0x1000\n");
    myr_table_done(&table);
}

static void width_is_measured_in_terminal_columns(void **state)
{
    (void)state;
    assert_int_equal(myr_text_width(MYR_STR("")), 0);
    assert_int_equal(myr_text_width(MYR_STR("abc")), 3);
    assert_int_equal(myr_text_width(MYR_STR("\xC3\xA9")), 1);
    assert_int_equal(myr_text_width(MYR_STR("e\xCC\x81")), 1);                /* combining */
    assert_int_equal(myr_text_width(MYR_STR("\xE4\xB8\x87\xE5\x8D\xA1")), 4); /* CJK */
    assert_int_equal(myr_text_width(MYR_STR("\xEF\xBC\xA1")), 2);             /* fullwidth A */
    assert_int_equal(myr_text_width(MYR_STR("\xED\x95\x9C")), 2);             /* Hangul */
    assert_int_equal(myr_text_width(MYR_STR("\xF0\x9F\x98\x80")), 2);         /* emoji */
    assert_int_equal(myr_text_width(MYR_STR("a\xFF")), 2);
}

/* Rows of several units: what has no digits behind the point gets none. */
static void figures_of_several_units_keep_their_own_digits(void **state)
{
    (void)state;
    static const struct myr_column mixed[] = {
        {"what", "WHAT", 0}, {"value", "VALUE", MYR_COLUMN_NUMBER | MYR_COLUMN_MIXED}};
    struct myr_table table;
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    myr_table_init(&table, &arena, mixed, MYR_ARRAY_COUNT(mixed));
    myr_table_text(&table, "GPUs");
    myr_table_double(&table, 10240, 0);
    myr_table_text(&table, "step");
    myr_table_double(&table, 7.4378, 4);
    myr_table_write(&table, MYR_FORMAT_TABLE, &(struct myr_screen){}, &buf);
    assert_string_equal(buf.data, "WHAT   VALUE\nGPUs  10,240\nstep  7.4378\n");
    myr_table_done(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(people_get_aligned_columns),
        cmocka_unit_test(an_empty_table_has_its_titles),
        cmocka_unit_test(only_numbers_are_grouped),
        cmocka_unit_test(width_is_measured_in_terminal_columns),
        cmocka_unit_test(figures_of_several_units_keep_their_own_digits),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
