/* What people see, on screens of all widths, and which characters take how much room there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kept.h"
#include "letter/utf8.h"
#include "myriad/text/answer.h"
#include "yaml_plain.h"

static const struct myr_answer_column columns[] = {
    {"name", "NAME", 0, 0},
    {"gpus", "GPUS", MYR_COLUMN_NUMBER, 0},
    {"step_s", "STEP s", MYR_COLUMN_NUMBER, 2},
    {"mixed", "ANY", MYR_COLUMN_NUMBER | MYR_COLUMN_MIXED, 1},
    {"memory.total", "MEMORY GiB", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE, 1},
    {"fits", "FITS", 0, 0},
    {"order", "ORDER", MYR_COLUMN_WIDE, 0},
    {"note", "A NOTE OF WORDS", 0, 0},
};

static void add_row(struct myr_answer *a, const char *name, double value, const char *note)
{
    myr_answer_object(a, NULL);
    myr_answer_text(a, "name", name);
    myr_answer_u64(a, "gpus", (uint64_t)(value * 1000));
    myr_answer_double(a, "step_s", value, 5);
    myr_answer_double(a, "mixed", value * 8, 3);
    myr_answer_object(a, "memory");
    myr_answer_double(a, "total", value / 3, 4);
    myr_answer_end(a);
    if (value < 100) {
        myr_answer_bool(a, "fits", value > 1);
    }
    myr_answer_list(a, "order");
    for (double k = value; k >= 1; k /= 40) {
        myr_answer_i64(a, NULL, -(int64_t)k);
    }
    myr_answer_end(a);
    myr_answer_text(a, "note", note);
    myr_answer_end(a);
}

static void fill(struct myr_answer *a, struct myr_arena *arena)
{
    static const char words[] = "a paragraph of words that are broken where a screen ends, with "
                                "\xE4\xB8\x87\xE5\x8D\xA1 and an unbreakable_word_of_some_length";
    myr_answer_init(a, arena, "myriad.test", 3);
    struct myr_value *rows = myr_answer_list(a, "rows");
    add_row(a, "leaf", 0.5, "short");
    add_row(a, "spine-12", 12.125, "=1+1, \"quoted\"\tand a tab");
    add_row(a, "\xE4\xB8\x87\xE5\x8D\xA1", 1234.0625, NULL);
    add_row(a, "-", 4e12, "longer than the others by so many words that it has to be broken");
    myr_answer_end(a);
    struct myr_value *none = myr_answer_list(a, "none");
    myr_answer_end(a);
    myr_answer_timing(a, "wall_s", 1.5, 3);
    myr_answer_timing(a, "cpu_s", 2.25, 3);
    myr_answer_heading(a, "A heading that is %s than some screens", "longer");
    myr_answer_para(a, "%s", words);
    myr_answer_para(a, "another, directly below");
    myr_answer_fact(a, "one", "%s", words);
    myr_answer_fact(a, "a label of 28 columns wide..", "%d", 2);
    myr_answer_fact(a, "a label of 29 columns, which is too many", "%d", 3);
    myr_answer_table(a, rows, columns, MYR_ARRAY_COUNT(columns));
    myr_answer_table(a, none, columns, 2);
    myr_answer_heading(a, "Text");
    myr_answer_verbatim(a, MYR_STR("as it\nis\x01\n\nto the last line"));
    myr_answer_verbatim(a, MYR_STR("and more\n"));
    myr_answer_more(a, "the %d reasons behind all of this, in as many words as it takes", 7);
    myr_answer_para(a, "Reasons.");
    myr_answer_more(a, "nothing");
    myr_answer_next(a, NULL, "myriad a_command_that_is_never_broken --however narrow --the screen");
    myr_answer_next(a, "a reason that is broken where the screen ends", "myriad another");
    myr_answer_rows(a, rows);
}

static void pages_are_the_kept_ones(void **state)
{
    (void)state;
    static const uint32_t widths[] = {0, 160, 100, 79, 60, 40, 26, 12, 1};
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_answer a;
    struct myr_err err = {};
    myr_arena_init(&arena);
    fill(&a, &arena);
    for (size_t i = 0; i < 2 * MYR_ARRAY_COUNT(widths); i++) {
        struct myr_answer_form form = {.format = i % 2 ? MYR_FORMAT_WIDE : MYR_FORMAT_TABLE,
                                       .width = widths[i / 2],
                                       .colour = i % 3 == 2,
                                       .timing = i % 4 == 1};
        myr_buf_printf(&text, "--- %u%s\n", form.width, i % 2 ? " wide" : "");
        assert_int_equal(myr_answer_write(&a, &form, &text, &err), MYR_OK);
    }
    for (uint32_t format = MYR_FORMAT_JSON; format < MYR_FORMAT_COUNT; format++) {
        struct myr_answer_form form = {.format = (enum myr_format)format,
                                       .timing = format == MYR_FORMAT_YAML};
        myr_buf_printf(&text, "--- %s\n", myr_format_names[format]);
        assert_int_equal(myr_answer_write(&a, &form, &text, &err), MYR_OK);
    }
    assert_kept("screens.txt", &text);
}

static uint32_t width_of(uint32_t code)
{
    char bytes[4];
    return myr_text_width((struct myr_str){bytes, utf8_encode(code, bytes)});
}

/* Ranges of what is alike, over all of Unicode. */
static void characters_are_as_wide_as_they_were(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    uint32_t first = 0;
    for (uint32_t code = 0; code <= 0x10FFFF; code++) {
        uint32_t next = code + 1 == 0xD800 ? 0xE000 : code + 1; /* surrogates are no characters */
        if (next > 0x10FFFF || width_of(next) != width_of(code) ||
            utf8_is_hidden(next) != utf8_is_hidden(code)) {
            myr_buf_printf(&text, "%04X to %04X: %u%s\n", first, code, width_of(code),
                           utf8_is_hidden(code) ? ", hidden" : "");
            first = next;
        }
        code = next - 1;
    }
    assert_true(utf8_is_hidden(0x110000));
    assert_kept("characters.txt", &text);
}

/* At each place of the eight bytes that are looked at together, and behind them. */
static void a_bad_byte_is_found_at_any_place(void **state)
{
    (void)state;
    char text[28];
    for (size_t len = 0; len <= sizeof(text); len++) {
        memset(text, 'a', sizeof(text));
        assert_int_equal(utf8_first_bad((struct myr_str){text, len}), len);
        for (size_t at = 0; at < len; at++) {
            text[at] = '\x80';
            assert_int_equal(utf8_first_bad((struct myr_str){text, len}), at);
            text[at] = 'a';
        }
    }
    static const struct {
        const char *text;
        uint32_t code;
        size_t len;
    } forms[] = {
        {"\x7F", 0x7F, 1},
        {"\xC1\xBF", UTF8_BAD, 1},
        {"\xC2\x80", 0x80, 2},
        {"\xDF\xBF", 0x7FF, 2},
        {"\xE0\x9F\xBF", UTF8_BAD, 1},
        {"\xE0\xA0\x80", 0x800, 3},
        {"\xED\x9F\xBF", 0xD7FF, 3},
        {"\xED\xA0\x80", UTF8_BAD, 1},
        {"\xED\xBF\xBF", UTF8_BAD, 1},
        {"\xEE\x80\x80", 0xE000, 3},
        {"\xEF\xBF\xBF", 0xFFFF, 3},
        {"\xF0\x8F\xBF\xBF", UTF8_BAD, 1},
        {"\xF0\x90\x80\x80", 0x10000, 4},
        {"\xF4\x8F\xBF\xBF", 0x10FFFF, 4},
        {"\xF4\x90\x80\x80", UTF8_BAD, 1},
        {"\xF5\x80\x80\x80", UTF8_BAD, 1},
        {"\xC2", UTF8_BAD, 1},
        {"\xC2\xC2", UTF8_BAD, 1},
        {"\xE1\x80", UTF8_BAD, 1},
        {"\xE1\x80z", UTF8_BAD, 1},
        {"\xF1\x80\x80", UTF8_BAD, 1},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(forms); i++) {
        size_t at = 0;
        assert_int_equal(utf8_next(myr_str_from(forms[i].text), &at), forms[i].code);
        assert_int_equal(at, forms[i].len);
    }
}

/* One letter in front, any character behind it, and the words that mean something in any case. */
static void plain_yaml_is_letters_digits_and_six_marks(void **state)
{
    (void)state;
    static const char inside[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                 "_-./+ ";
    for (uint32_t c = 0; c < 256; c++) {
        const char text[] = {'q', (char)c, 'q'}, last[] = {'q', (char)c}, first[] = {(char)c, 'q'};
        bool allowed = c && strchr(inside, (int)c);
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        assert_true(is_plain_yaml((struct myr_str){text, 3}) == allowed);
        assert_true(is_plain_yaml((struct myr_str){last, 2}) == (allowed && c != ' '));
        assert_true(is_plain_yaml((struct myr_str){first, 2}) == letter);
    }
    static const char *const words[] = {"null", "True", "FALSE", "yes", "No",  "on",
                                        "oFf",  "y",    "N",     "nan", "Inf", "infinity"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(words); i++) {
        assert_false(is_plain_yaml(myr_str_from(words[i])));
    }
    assert_false(is_plain_yaml(MYR_STR("")));
    assert_true(is_plain_yaml(MYR_STR("nulls")) && is_plain_yaml(MYR_STR("one word")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_are_the_kept_ones),
        cmocka_unit_test(characters_are_as_wide_as_they_were),
        cmocka_unit_test(a_bad_byte_is_found_at_any_place),
        cmocka_unit_test(plain_yaml_is_letters_digits_and_six_marks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
