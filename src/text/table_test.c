#include "myriad/text/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "myriad/text/csv.h"
#include "myriad/text/doc.h"

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
    myr_table_u64(table, 12345678);
    myr_table_double(table, 1234.5, 2);
    myr_table_text(table, "one a leaf");
    myr_table_text(table, "\xE4\xB8\x87\xE5\x8D\xA1");
    myr_table_i64(table, -1000);
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
    myr_table_write(&table, format, &buf);
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

static void programs_get_json(void **state)
{
    (void)state;
    expect_form(MYR_FORMAT_JSON, "[\n"
                                 "  {\n"
                                 "    \"part\": \"Quantum-2\",\n"
                                 "    \"quantity\": 12345678,\n"
                                 "    \"cost_cny\": 1234.5,\n"
                                 "    \"rule\": \"one a leaf\"\n"
                                 "  },\n"
                                 "  {\n"
                                 "    \"part\": \"\xE4\xB8\x87\xE5\x8D\xA1\",\n"
                                 "    \"quantity\": -1000,\n"
                                 "    \"cost_cny\": 0.25,\n"
                                 "    \"rule\": \"64\"\n"
                                 "  },\n"
                                 "  {\n"
                                 "    \"part\": \"a, \\\"b\\\"\\n\\u001b[31m\",\n"
                                 "    \"quantity\": \"n/a\",\n"
                                 "    \"cost_cny\": null,\n"
                                 "    \"rule\": \"\"\n"
                                 "  }\n"
                                 "]\n");
}

static void programs_get_yaml(void **state)
{
    (void)state;
    expect_form(MYR_FORMAT_YAML, "- part: Quantum-2\n"
                                 "  quantity: 12345678\n"
                                 "  cost_cny: 1234.5\n"
                                 "  rule: one a leaf\n"
                                 "- part: \"\xE4\xB8\x87\xE5\x8D\xA1\"\n"
                                 "  quantity: -1000\n"
                                 "  cost_cny: 0.25\n"
                                 "  rule: \"64\"\n"
                                 "- part: \"a, \\\"b\\\"\\n\\u001b[31m\"\n"
                                 "  quantity: n/a\n"
                                 "  cost_cny: null\n"
                                 "  rule: \"\"\n");
}

static void programs_get_csv(void **state)
{
    (void)state;
    expect_form(MYR_FORMAT_CSV, "part,quantity,cost_cny,rule\n"
                                "Quantum-2,12345678,1234.5,one a leaf\n"
                                "\xE4\xB8\x87\xE5\x8D\xA1,-1000,0.25,64\n"
                                "\"a, \"\"b\"\"\n\x1b[31m\",n/a,,\n");
}

static void an_empty_table_is_valid_in_every_form(void **state)
{
    (void)state;
    static const char *const expected[] = {"PART  QTY  COST\n", "PART  QTY  COST  RULE\n", "[]\n",
                                           "[]\n", "part,quantity,cost_cny,rule\n"};
    for (int format = 0; format < MYR_FORMAT_COUNT; format++) {
        struct myr_table table;
        struct myr_buf buf = {};
        myr_table_init(&table, &arena, columns, MYR_ARRAY_COUNT(columns));
        myr_table_write(&table, (enum myr_format)format, &buf);
        assert_string_equal(buf.data, expected[format]);
        myr_buf_done(&buf);
        myr_table_done(&table);
    }
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

/* Awkward cells come back from YAML and CSV as the text that went in, never as something else. */
static void awkward_cells_come_back_as_text(void **state)
{
    (void)state;
    static const char *const cells[] = {
        "null",         "~",    "true",  "No",   "on",  "64",  "-1",  "1e5",        "0x10",
        "2024-06-07",   ".inf", "a: b",  "a #b", "- a", "[a]", "{a}", "*a",         "&a",
        "!a",           "%a",   "@a",    "a\nb", " a",  "a ",  "'a'", "\"",         "a\\b",
        "<<",           "=",    "e5",    "?",    "a:",  "#a",  "|",   "> a",        "a,b",
        "12:30",        "0o17", "1_000", "yes",  "-",   "---", "...", "plain text", "r1-n2/3.4_x+y",
        "\xE4\xB8\x87", "\t",   "NaN"};
    static const struct myr_column column[] = {{"v", "V", 0}};
    struct myr_table table;
    struct myr_buf buf = {};
    struct myr_err err = {};
    const struct myr_doc *root = NULL;
    myr_table_init(&table, &arena, column, 1);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cells); i++) {
        myr_table_text(&table, cells[i]);
    }
    myr_table_write(&table, MYR_FORMAT_YAML, &buf);
    if (myr_doc_read_yaml(&arena, "y", (struct myr_str){buf.data, buf.len}, &root, &err) < 0) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(root->count, MYR_ARRAY_COUNT(cells));
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cells); i++) {
        const struct myr_doc *value = myr_doc_get(root->items[i], "v");
        double number;
        bool truth;
        assert_int_equal(value->kind, MYR_DOC_SCALAR);
        assert_true(myr_str_eq(value->text, myr_str_from(cells[i])));
        assert_true(myr_doc_double(value, "v", -1e300, 1e300, &number, NULL) < 0);
        assert_true(myr_doc_bool(value, "v", &truth, NULL) < 0);
    }
    myr_buf_clear(&buf);
    myr_table_text(&table, NULL);
    myr_table_write(&table, MYR_FORMAT_CSV, &buf);
    struct myr_csv csv;
    myr_csv_init(&csv, &arena, "c", (struct myr_str){buf.data, buf.len});
    assert_int_equal(myr_csv_next(&csv, &err), 1);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cells); i++) {
        assert_int_equal(myr_csv_next(&csv, &err), 1);
        assert_true(myr_str_eq(myr_csv_text(csv.fields[0]), myr_str_from(cells[i])));
    }
    assert_int_equal(myr_csv_next(&csv, &err), 1); /* null is an empty field, not a blank line */
    assert_int_equal(csv.fields[0].len, 0);
    assert_int_equal(myr_csv_next(&csv, &err), 0);
    myr_buf_done(&buf);
    myr_table_done(&table);
}

static void only_numbers_are_bare_in_number_columns(void **state)
{
    (void)state;
    static const char *const cells[] = {"1",  "-0.5", "1e+15", "01",  "+1", ".5",
                                        "1.", "0x1",  "nan",   "1e5", "-",  "1.e5"};
    static const bool bare[] = {true,  true,  true,  false, false, false,
                                false, false, false, true,  false, false};
    static const struct myr_column column[] = {{"v", "V", MYR_COLUMN_NUMBER}};
    struct myr_table table;
    struct myr_buf buf = {};
    const struct myr_doc *root = NULL;
    myr_table_init(&table, &arena, column, 1);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cells); i++) {
        myr_table_text(&table, cells[i]);
    }
    myr_table_write(&table, MYR_FORMAT_JSON, &buf);
    struct myr_str text = {buf.data, buf.len};
    assert_int_equal(myr_doc_read_json(&arena, "j", text, &root, NULL), MYR_OK);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cells); i++) {
        assert_int_equal(myr_doc_get(root->items[i], "v")->quoted, !bare[i]);
    }
    myr_buf_done(&buf);
    myr_table_done(&table);
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
    myr_table_u64(&table, 10240);
    myr_table_text(&table, "step");
    myr_table_double(&table, 7.4378, 4);
    myr_table_write(&table, MYR_FORMAT_TABLE, &buf);
    assert_string_equal(buf.data, "WHAT   VALUE\nGPUs  10,240\nstep  7.4378\n");
    myr_table_done(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(people_get_aligned_columns),
        cmocka_unit_test(programs_get_json),
        cmocka_unit_test(programs_get_yaml),
        cmocka_unit_test(programs_get_csv),
        cmocka_unit_test(an_empty_table_is_valid_in_every_form),
        cmocka_unit_test(width_is_measured_in_terminal_columns),
        cmocka_unit_test(awkward_cells_come_back_as_text),
        cmocka_unit_test(only_numbers_are_bare_in_number_columns),
        cmocka_unit_test(figures_of_several_units_keep_their_own_digits),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
