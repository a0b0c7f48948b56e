#include "letter/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void every_character_survives_encoding_and_decoding(void **state)
{
    (void)state;
    for (uint32_t code = 0; code <= 0x10FFFF; code++) {
        if (code >= 0xD800 && code <= 0xDFFF) {
            continue; /* surrogates are no characters */
        }
        char bytes[4];
        size_t len = utf8_encode(code, bytes);
        size_t at = 0;
        uint32_t read = utf8_next((struct myr_str){bytes, len}, &at);
        if (read != code || at != len) {
            fail_msg("U+%04X came back as U+%04X", code, read);
        }
    }
}

static void forms_that_are_not_utf8_are_found_where_they_begin(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t bad;
    } cases[] = {
        {"plain", 5},
        {"\xE4\xB8\x87\xF0\x9F\x98\x80", 7},
        {"a\x80", 1},             /* continuation without a lead */
        {"a\xC0\xAF", 1},         /* overlong */
        {"a\xE0\x80\xAF", 1},     /* overlong */
        {"a\xF0\x80\x80\xAF", 1}, /* overlong */
        {"a\xED\xA0\x80", 1},     /* surrogate */
        {"a\xF4\x90\x80\x80", 1}, /* beyond U+10FFFF */
        {"a\xFF", 1},
        {"ab\xE4\xB8", 2}, /* cut */
        {"ab\xE4\xB8z", 2},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        assert_int_equal(utf8_first_bad(myr_str_from(cases[i].text)), cases[i].bad);
    }
}

static void a_byte_order_mark_is_skipped_once(void **state)
{
    (void)state;
    struct myr_str text = utf8_skip_mark(MYR_STR("\xEF\xBB\xBF\xEF\xBB\xBFx"));
    assert_int_equal(text.len, 4);
    assert_int_equal(utf8_skip_mark(MYR_STR("\xEF\xBB")).len, 2);
}

static void controls_breaks_and_direction_marks_are_hidden(void **state)
{
    (void)state;
    static const uint32_t hidden[] = {0,      0x1F,   0x7F,   0x85,   0x2028,  0x2029,
                                      0x202E, 0x2066, 0xFEFF, 0xFFFF, UTF8_BAD};
    static const uint32_t shown[] = {' ', '~', 0xA0, 0xE9, 0x4E07, 0x1F600, 0x10FFFF};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(hidden); i++) {
        assert_true(utf8_is_hidden(hidden[i]));
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(shown); i++) {
        assert_false(utf8_is_hidden(shown[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_character_survives_encoding_and_decoding),
        cmocka_unit_test(forms_that_are_not_utf8_are_found_where_they_begin),
        cmocka_unit_test(a_byte_order_mark_is_skipped_once),
        cmocka_unit_test(controls_breaks_and_direction_marks_are_hidden),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
