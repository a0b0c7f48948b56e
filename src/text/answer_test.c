#include "myriad/text/answer.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "myriad/text/csv.h"
#include "myriad/text/doc.h"
#include "myriad/text/option_echo.h"

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

static const struct myr_answer_column columns[] = {
    {"gpus", "GPUS", MYR_COLUMN_NUMBER, 0},
    {"step_s", "STEP s", MYR_COLUMN_NUMBER, 2},
    {"memory.total_gib", "MEMORY GiB", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE, 1},
    {"note", "NOTE", 0, 0},
};

static void add_point(struct myr_answer *a, uint64_t gpus, double step_s, const char *note)
{
    myr_answer_object(a, NULL);
    myr_answer_u64(a, "gpus", gpus);
    myr_answer_double(a, "step_s", step_s, 6);
    myr_answer_object(a, "memory");
    myr_answer_double(a, "total_gib", 71.25, 3);
    myr_answer_end(a);
    myr_answer_list(a, "order");
    myr_answer_text(a, NULL, "tp");
    myr_answer_text(a, NULL, "dp");
    myr_answer_end(a);
    myr_answer_text(a, "note", note);
    myr_answer_end(a);
}

static void fill(struct myr_answer *a)
{
    myr_answer_init(a, &arena, "myriad.test", 1);
    myr_answer_bool(a, "fits", true);
    myr_answer_i64(a, "offset", -3);
    myr_answer_double(a, "not_a_number", NAN, 3);
    myr_answer_object(a, "empty");
    myr_answer_end(a);
    struct myr_value *points = myr_answer_list(a, "points");
    add_point(a, 8, 1.234567, "first");
    add_point(a, 16384, 2, NULL);
    add_point(a, 9, 3.5, "=cmd, \"quoted\"");
    myr_answer_end(a);
    myr_answer_timing(a, "wall_s", 0.25, 3);
    myr_answer_para(a, "Two words, and %d more.", 7);
    myr_answer_fact(a, "step", "%.1f s", 2.0);
    myr_answer_fact(a, "memory in use", "%s", "71 GiB");
    myr_answer_next(a, NULL, "myriad goodput");
    myr_answer_heading(a, "Points");
    myr_answer_table(a, points, columns, MYR_ARRAY_COUNT(columns));
    myr_answer_rows(a, points);
}

static const char *rendered(const struct myr_answer *a, struct myr_answer_form form)
{
    static struct myr_buf buf;
    struct myr_err err = {};
    myr_buf_clear(&buf);
    assert_int_equal(myr_answer_write(a, &form, &buf, &err), MYR_OK);
    const char *copy = myr_arena_strndup(&arena, buf.data, buf.len);
    myr_buf_done(&buf);
    buf = (struct myr_buf){};
    return copy;
}

static void json_holds_the_whole_tree(void **state)
{
    (void)state;
    struct myr_answer a;
    fill(&a);
    const char *text = rendered(&a, (struct myr_answer_form){.format = MYR_FORMAT_JSON});
    assert_string_equal(
        text,
        "{\n  \"schema\": \"myriad.test\",\n  \"version\": 1,\n  \"fits\": true,\n"
        "  \"offset\": -3,\n  \"not_a_number\": null,\n  \"empty\": {},\n  \"points\": [\n"
        "    {\n      \"gpus\": 8,\n      \"step_s\": 1.234567,\n      \"memory\": {\n"
        "        \"total_gib\": 71.25\n      },\n      \"order\": [\n        \"tp\",\n"
        "        \"dp\"\n      ],\n      \"note\": \"first\"\n    },\n"
        "    {\n      \"gpus\": 16384,\n      \"step_s\": 2,\n      \"memory\": {\n"
        "        \"total_gib\": 71.25\n      },\n      \"order\": [\n        \"tp\",\n"
        "        \"dp\"\n      ],\n      \"note\": null\n    },\n"
        "    {\n      \"gpus\": 9,\n      \"step_s\": 3.5,\n      \"memory\": {\n"
        "        \"total_gib\": 71.25\n      },\n      \"order\": [\n        \"tp\",\n"
        "        \"dp\"\n      ],\n      \"note\": \"=cmd, \\\"quoted\\\"\"\n    }\n  ]\n}\n");
}

static void timing_is_there_only_when_asked_for(void **state)
{
    (void)state;
    struct myr_answer a;
    fill(&a);
    struct myr_answer_form form = {.format = MYR_FORMAT_JSON};
    const char *without = rendered(&a, form);
    assert_null(strstr(without, "timing"));
    form.timing = true;
    const char *with = rendered(&a, form);
    assert_non_null(strstr(with, "  ],\n  \"timing\": {\n    \"wall_s\": 0.25\n  }\n}\n"));
    form.format = MYR_FORMAT_TABLE;
    assert_non_null(strstr(rendered(&a, form), "timing: wall_s 0.25\n"));
    /* rendering with it leaves the answer as it was */
    assert_string_equal(rendered(&a, (struct myr_answer_form){.format = MYR_FORMAT_JSON}), without);
}

/* The two readers share nothing with the writer. */
static void same(const struct myr_doc *a, const struct myr_doc *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->count, b->count);
    if (a->kind == MYR_DOC_SCALAR) {
        assert_true(myr_str_eq(a->text, b->text));
    }
    for (uint32_t i = 0; i < a->count && a->kind == MYR_DOC_LIST; i++) {
        same(a->items[i], b->items[i]);
    }
    for (uint32_t i = 0; i < a->count && a->kind == MYR_DOC_MAP; i++) {
        assert_true(myr_str_eq(a->entries[i].key, b->entries[i].key));
        same(a->entries[i].value, b->entries[i].value);
    }
}

static void yaml_is_block_style_and_the_same_tree(void **state)
{
    (void)state;
    struct myr_answer a;
    struct myr_err err = {};
    const struct myr_doc *json_doc, *yaml_doc;
    fill(&a);
    struct myr_answer_form form = {.format = MYR_FORMAT_JSON};
    const char *json = rendered(&a, form);
    form.format = MYR_FORMAT_YAML;
    const char *yaml = rendered(&a, form);
    assert_non_null(strstr(yaml, "\npoints:\n  - gpus: 8\n    step_s: 1.234567\n    memory:\n"
                                 "      total_gib: 71.25\n    order:\n      - tp\n"));
    assert_non_null(strstr(yaml, "\nempty: {}\n"));
    assert_int_equal(myr_doc_read_json(&arena, "j", myr_str_from(json), &json_doc, &err), MYR_OK);
    assert_int_equal(myr_doc_read_yaml(&arena, "y", myr_str_from(yaml), &yaml_doc, &err), MYR_OK);
    same(json_doc, yaml_doc);
}

static void csv_is_the_named_list_with_nested_names(void **state)
{
    (void)state;
    struct myr_answer a;
    fill(&a);
    struct myr_answer_form form = {.format = MYR_FORMAT_CSV};
    assert_string_equal(rendered(&a, form),
                        "gpus,step_s,memory.total_gib,order,note\n"
                        "8,1.234567,71.25,\"[\"\"tp\"\",\"\"dp\"\"]\",first\n"
                        "16384,2,71.25,\"[\"\"tp\"\",\"\"dp\"\"]\",\n"
                        "9,3.5,71.25,\"[\"\"tp\"\",\"\"dp\"\"]\",\"'=cmd, \"\"quoted\"\"\"\n");
    form.excel = true;
    assert_memory_equal(rendered(&a, form), "\xEF\xBB\xBFgpus,", 8);
}

static void rows_with_other_keys_lose_nothing_in_csv(void **state)
{
    (void)state;
    struct myr_answer a;
    myr_answer_init(&a, &arena, "myriad.test", 1);
    struct myr_value *rows = myr_answer_list(&a, "rows");
    myr_answer_object(&a, NULL);
    myr_answer_u64(&a, "a", 1);
    myr_answer_end(&a);
    myr_answer_object(&a, NULL);
    myr_answer_u64(&a, "b", 2);
    myr_answer_end(&a);
    myr_answer_end(&a);
    myr_answer_rows(&a, rows);
    assert_string_equal(rendered(&a, (struct myr_answer_form){.format = MYR_FORMAT_CSV}),
                        "a,b\n1,\n,2\n");
}

/* A row that goes on where the one before it ended, or ends before it. */
static void rows_of_other_lengths_lose_nothing_in_csv(void **state)
{
    (void)state;
    static const uint32_t keys[] = {1, 2, 1, 3};
    struct myr_answer a;
    myr_answer_init(&a, &arena, "myriad.test", 1);
    struct myr_value *rows = myr_answer_list(&a, "rows");
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(keys); i++) {
        static const char *const names[] = {"a", "b", "c"};
        myr_answer_object(&a, NULL);
        for (uint32_t k = 0; k < keys[i]; k++) {
            myr_answer_u64(&a, names[k], i);
        }
        myr_answer_object(&a, "in");
        myr_answer_u64(&a, i == 3 ? "y" : "x", i);
        myr_answer_end(&a);
        myr_answer_end(&a);
    }
    myr_answer_object(&a, NULL); /* nothing at all is a row, too */
    myr_answer_end(&a);
    myr_answer_end(&a);
    myr_answer_rows(&a, rows);
    assert_string_equal(rendered(&a, (struct myr_answer_form){.format = MYR_FORMAT_CSV}),
                        "a,in.x,b,c,in.y\n0,0,,,\n1,1,1,,\n2,2,,,\n3,,3,3,3\n,,,,\n");
}

static void an_empty_list_still_has_a_header(void **state)
{
    (void)state;
    struct myr_answer a;
    myr_answer_init(&a, &arena, "myriad.test", 1);
    struct myr_value *rows = myr_answer_list(&a, "rows");
    myr_answer_end(&a);
    myr_answer_table(&a, rows, columns, MYR_ARRAY_COUNT(columns));
    myr_answer_rows(&a, rows);
    assert_string_equal(rendered(&a, (struct myr_answer_form){.format = MYR_FORMAT_CSV}),
                        "gpus,step_s,memory.total_gib,note\n");
    assert_string_equal(rendered(&a, (struct myr_answer_form){.format = MYR_FORMAT_YAML}),
                        "schema: myriad.test\nversion: 1\nrows: []\n");
}

/* Where no table shows the list, and in the same order where it has rows. */
static void a_header_is_the_same_of_an_empty_list(void **state)
{
    (void)state;
    struct myr_answer a;
    myr_answer_init(&a, &arena, "myriad.test", 1);
    struct myr_value *rows = myr_answer_list(&a, "rows");
    myr_answer_rows(&a, rows);
    myr_answer_header(&a, "name size.gib");
    assert_int_equal(a.depth, 2);
    myr_answer_end(&a);
    assert_string_equal(rendered(&a, (struct myr_answer_form){.format = MYR_FORMAT_CSV}),
                        "name,size.gib\n");
    myr_answer_init(&a, &arena, "myriad.test", 1);
    rows = myr_answer_list(&a, "rows");
    myr_answer_rows(&a, rows);
    myr_answer_header(&a, "name size.gib");
    myr_answer_object(&a, NULL);
    myr_answer_u64(&a, "more", 1);
    myr_answer_object(&a, "size");
    myr_answer_u64(&a, "gib", 2);
    myr_answer_end(&a);
    myr_answer_end(&a);
    myr_answer_end(&a);
    assert_string_equal(rendered(&a, (struct myr_answer_form){.format = MYR_FORMAT_CSV}),
                        "name,size.gib,more\n,2,1\n");
}

static void csv_of_an_answer_without_rows_is_refused(void **state)
{
    (void)state;
    struct myr_answer a;
    struct myr_buf buf = {};
    struct myr_err err = {};
    struct myr_answer_form form = {.format = MYR_FORMAT_CSV};
    myr_answer_init(&a, &arena, "myriad.test", 1);
    assert_int_equal(myr_answer_write(&a, &form, &buf, &err), MYR_EINVAL);
    assert_int_equal(buf.len, 0);
    assert_non_null(strstr(err.message, "no CSV form"));
    myr_buf_done(&buf);
}

static void people_get_a_page(void **state)
{
    (void)state;
    struct myr_answer a;
    fill(&a);
    struct myr_answer_form form = {.format = MYR_FORMAT_TABLE};
    assert_string_equal(rendered(&a, form), "Two words, and 7 more.\n\n"
                                            "step           2.0 s\nmemory in use  71 GiB\n\n"
                                            "Points\n"
                                            "  GPUS  STEP s  NOTE\n"
                                            "     8    1.23  first\n"
                                            "16,384    2.00  -\n"
                                            "     9    3.50  =cmd, \"quoted\"\n"
                                            "\nnext: myriad goodput\n");
    form.format = MYR_FORMAT_WIDE;
    assert_non_null(strstr(rendered(&a, form), "STEP s  MEMORY GiB  NOTE\n"));
    form.colour = true;
    assert_non_null(strstr(rendered(&a, form), "\x1b[1mPoints\x1b[0m\n\x1b[1m  GPUS"));
}

static void what_is_asked_less_often_waits_behind_wide(void **state)
{
    (void)state;
    struct myr_answer a;
    myr_answer_init(&a, &arena, "myriad.test", 1);
    myr_answer_para(&a, "The answer.");
    myr_answer_more(&a, "its %s", "reasons");
    myr_answer_para(&a, "The reasons.");
    myr_answer_next(&a, NULL, "myriad goodput");
    struct myr_answer_form form = {.format = MYR_FORMAT_TABLE};
    assert_string_equal(rendered(&a, form), "The answer.\n\nmore: -o wide, for its reasons\n\n"
                                            "next: myriad goodput\n");
    form.format = MYR_FORMAT_WIDE;
    assert_string_equal(rendered(&a, form), "The answer.\nThe reasons.\n\nnext: myriad goodput\n");
}

/* A line that is pasted is a command and nothing else. */
static void a_command_to_go_on_with_stands_alone(void **state)
{
    (void)state;
    struct myr_answer a;
    char word[80];
    struct myr_answer_form form = {.format = MYR_FORMAT_TABLE, .width = 40};
    memset(word, 'x', sizeof(word));
    myr_answer_init(&a, &arena, "myriad.test", 1);
    myr_answer_next(&a, "for what a dead link costs", "myriad %s", "route failover design.myr");
    myr_answer_next(&a, NULL, "%.74s", word);
    myr_answer_next(&a, NULL, "%.75s", word);
    char wanted[400];
    snprintf(wanted, sizeof(wanted),
             "next, for what a dead link costs:\n  myriad route failover design.myr\n"
             "next: %.74s\nnext:\n  %.75s\n",
             word, word);
    assert_string_equal(rendered(&a, form), wanted);
    /* Nothing stands in place of an input that is gone. */
    assert_false(myr_answer_next(&a, "and then", "myriad plan %s", myr_answer_input(&a, "-")));
    assert_string_equal(rendered(&a, form), wanted);
    assert_true(myr_answer_next(&a, "and then", "myriad plan %s", myr_answer_input(&a, "-s")));
    assert_non_null(strstr(rendered(&a, form), "  myriad plan ./-s\n"));
    form.colour = true;
    assert_int_equal(strncmp(rendered(&a, form), "\x1b[1mnext\x1b[0m, for what", 22), 0);
}

static uint32_t longest_line(const char *text)
{
    uint32_t longest = 0;
    while (*text) {
        size_t len = strcspn(text, "\n");
        uint32_t width = myr_text_width((struct myr_str){text, len});
        longest = width > longest ? width : longest;
        text += len + (text[len] == '\n');
    }
    return longest;
}

/* However narrow the screen: words then stand one under the other. Without one there are 80. */
static void the_least_width_is_kept(void **state)
{
    (void)state;
    for (uint32_t width = 1; width <= 3; width++) {
        struct myr_answer a;
        myr_answer_init(&a, &arena, "myriad.test", 1);
        myr_answer_para(&a, "a b c d");
        const char *page = rendered(&a, (struct myr_answer_form){.width = width});
        assert_string_equal(page, width < 3 ? "a\nb\nc\nd\n" : "a b\nc d\n");
    }
    struct myr_answer a;
    myr_answer_init(&a, &arena, "myriad.test", 1);
    myr_answer_para(&a, "%s",
                    "0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 "
                    "0123456789 01 34");
    const char *page = rendered(&a, (struct myr_answer_form){});
    assert_int_equal(longest_line(page), 79);
}

/* Random words in paragraphs, facts and tables stay inside any screen that holds the longest. */
static void nothing_is_wider_than_the_screen(void **state)
{
    (void)state;
    static const char *const words[] = {
        "leaf", "a", "spine-12", "of", "\xE4\xB8\x87\xE5\x8D\xA1", "0123456789"};
    struct myr_rng rng;
    myr_rng_init(&rng, 7, 1);
    for (uint32_t round = 0; round < 300; round++) {
        struct myr_answer a;
        struct myr_buf text = {};
        myr_answer_init(&a, &arena, "myriad.test", 1);
        uint32_t count = 1 + (uint32_t)myr_rng_below(&rng, 40);
        for (uint32_t i = 0; i < count; i++) {
            myr_buf_printf(&text, "%s%s", i ? " " : "", words[myr_rng_below(&rng, 6)]);
        }
        struct myr_value *rows = myr_answer_list(&a, "rows");
        add_point(&a, 1000 * round, round, text.data);
        add_point(&a, round, round / 7.0, words[round % 6]);
        myr_answer_end(&a);
        myr_answer_heading(&a, "%s", text.data);
        myr_answer_para(&a, "%s", text.data);
        myr_answer_fact(&a, "label", "%s", text.data);
        myr_answer_table(&a, rows, columns, MYR_ARRAY_COUNT(columns));
        uint32_t width = 24 + (uint32_t)myr_rng_below(&rng, 90);
        const char *page = rendered(&a, (struct myr_answer_form){.width = width});
        if (longest_line(page) > width) {
            fail_msg("round %u: a line of %u on a screen of %u:\n%s", round, longest_line(page),
                     width, page);
        }
        /* nothing is lost on the way */
        uint32_t seen = 0;
        for (const char *p = page; (p = strstr(p, "0123456789")); p++) {
            seen++;
        }
        uint32_t meant = 0;
        for (const char *p = text.data; (p = strstr(p, "0123456789")); p++) {
            meant++;
        }
        assert_int_equal(seen, 4 * meant + (round % 6 == 5));
        myr_buf_done(&text);
    }
}

static void outside_text_cannot_drive_the_terminal(void **state)
{
    (void)state;
    struct myr_answer a;
    myr_answer_init(&a, &arena, "myriad.test", 1);
    myr_answer_para(&a, "%s", "red \x1b[31m");
    myr_answer_fact(&a, "x", "%s", "\x07");
    myr_answer_verbatim(&a, MYR_STR("line\r\nlast"));
    const char *page = rendered(&a, (struct myr_answer_form){});
    assert_string_equal(page, "red ?[31m\n\nx  ?\n\nline?\nlast\n");
}

struct values {
    uint64_t gpus, seed;
    const char *model;
    bool deep;
    uint32_t choice;
    struct myr_option_list list;
};

static void the_question_is_echoed_whole(void **state)
{
    (void)state;
    static const char *const names[] = {"fast", "slow"};
    static const struct myr_option rows[] = {
        {.name = "gpus",
         .type = MYR_OPTION_U64,
         .help = "h",
         .at = offsetof(struct values, gpus),
         .min = 1},
        {.name = "seed", .type = MYR_OPTION_U64, .help = "h", .at = offsetof(struct values, seed)},
        {.name = "model",
         .type = MYR_OPTION_TEXT,
         .help = "h",
         .at = offsetof(struct values, model)},
        {.name = "very-deep",
         .type = MYR_OPTION_FLAG,
         .help = "h",
         .at = offsetof(struct values, deep)},
        {.name = "choice",
         .type = MYR_OPTION_CHOICE,
         .help = "h",
         .at = offsetof(struct values, choice),
         .choices = names,
         .choice_count = 2},
        {.name = "own", .type = MYR_OPTION_LIST, .help = "h", .at = offsetof(struct values, list)},
    };
    const struct myr_command command = {
        .name = "fit curve", .options = rows, .option_count = MYR_ARRAY_COUNT(rows)};
    const struct values values = {
        .seed = 0, .deep = true, .choice = 1, .list = {.items = {"a", "b"}, .count = 2}};
    const struct myr_operands operands = {.items = {"x.csv"}, .count = 1};
    struct myr_answer a;
    myr_answer_init(&a, &arena, "myriad.fit.curve", 1);
    myr_option_echo(&command, &values, &operands, &a);
    assert_string_equal(rendered(&a, (struct myr_answer_form){.format = MYR_FORMAT_YAML}),
                        "schema: myriad.fit.curve\nversion: 1\nquestion:\n  verb: fit curve\n"
                        "  operands:\n    - x.csv\n  options:\n    gpus: null\n    seed: 0\n"
                        "    model: null\n    very_deep: true\n    choice: slow\n    own:\n"
                        "      - a\n      - b\n");
}

static void values_are_found_by_path(void **state)
{
    (void)state;
    struct myr_answer a;
    fill(&a);
    const struct myr_value *first = myr_value_get(&a.root, "points")->first;
    assert_true(myr_str_eq(myr_value_get(first, "memory.total_gib")->text, MYR_STR("71.25")));
    assert_null(myr_value_get(first, "memory.total"));
    assert_null(myr_value_get(first, "memory.total_gib.deeper"));
    assert_null(myr_value_get(first, "gp"));
}

static void words_of_a_command_can_be_pasted(void **state)
{
    (void)state;
    struct myr_answer a;
    myr_answer_init(&a, &arena, "myriad.test", 1);
    assert_string_equal(myr_answer_word(&a, "out/h100-64.myr"), "out/h100-64.myr");
    assert_string_equal(myr_answer_word(&a, "out dir/a.csv"), "'out dir/a.csv'");
    assert_string_equal(myr_answer_word(&a, "it's $HOME"), "'it'\\''s $HOME'");
    assert_string_equal(myr_answer_word(&a, ""), "''");
}

/* Awkward texts come back from YAML and CSV as the text that went in, never as something else. */
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
    struct myr_answer a;
    struct myr_err err = {};
    const struct myr_doc *root = NULL;
    struct myr_csv csv;
    myr_answer_init(&a, &arena, "myriad.test", 1);
    struct myr_value *rows = myr_answer_list(&a, "rows");
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cells); i++) {
        myr_answer_object(&a, NULL);
        myr_answer_text(&a, "v", cells[i]);
        myr_answer_end(&a);
    }
    myr_answer_end(&a);
    myr_answer_rows(&a, rows);
    struct myr_str text =
        myr_str_from(rendered(&a, (struct myr_answer_form){.format = MYR_FORMAT_YAML}));
    assert_int_equal(myr_doc_read_yaml(&arena, "y", text, &root, &err), MYR_OK);
    const struct myr_doc *list = myr_doc_get(root, "rows");
    assert_int_equal(list->count, MYR_ARRAY_COUNT(cells));
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cells); i++) {
        const struct myr_doc *value = myr_doc_get(list->items[i], "v");
        double number;
        bool truth;
        assert_int_equal(value->kind, MYR_DOC_SCALAR);
        assert_true(myr_str_eq(value->text, myr_str_from(cells[i])));
        assert_true(myr_doc_double(value, "v", -1e300, 1e300, &number, NULL) < 0);
        assert_true(myr_doc_bool(value, "v", &truth, NULL) < 0);
    }
    text = myr_str_from(rendered(&a, (struct myr_answer_form){.format = MYR_FORMAT_CSV}));
    myr_csv_init(&csv, &arena, "c", text);
    assert_int_equal(myr_csv_next(&csv, &err), 1);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cells); i++) {
        assert_int_equal(myr_csv_next(&csv, &err), 1);
        assert_true(myr_str_eq(myr_csv_text(csv.fields[0]), myr_str_from(cells[i])));
    }
    assert_int_equal(myr_csv_next(&csv, &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(awkward_cells_come_back_as_text),
        cmocka_unit_test(json_holds_the_whole_tree),
        cmocka_unit_test(what_is_asked_less_often_waits_behind_wide),
        cmocka_unit_test(a_command_to_go_on_with_stands_alone),
        cmocka_unit_test(timing_is_there_only_when_asked_for),
        cmocka_unit_test(yaml_is_block_style_and_the_same_tree),
        cmocka_unit_test(csv_is_the_named_list_with_nested_names),
        cmocka_unit_test(rows_with_other_keys_lose_nothing_in_csv),
        cmocka_unit_test(rows_of_other_lengths_lose_nothing_in_csv),
        cmocka_unit_test(an_empty_list_still_has_a_header),
        cmocka_unit_test(a_header_is_the_same_of_an_empty_list),
        cmocka_unit_test(csv_of_an_answer_without_rows_is_refused),
        cmocka_unit_test(people_get_a_page),
        cmocka_unit_test(the_least_width_is_kept),
        cmocka_unit_test(nothing_is_wider_than_the_screen),
        cmocka_unit_test(outside_text_cannot_drive_the_terminal),
        cmocka_unit_test(the_question_is_echoed_whole),
        cmocka_unit_test(values_are_found_by_path),
        cmocka_unit_test(words_of_a_command_can_be_pasted),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
