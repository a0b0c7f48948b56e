#include "letter/message.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "myriad/text/doc.h"

static const char *repeated(char *room, const char *piece, size_t count)
{
    room[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        memcpy(room + i * strlen(piece), piece, strlen(piece) + 1);
    }
    return room;
}

static void an_excerpt_has_forty_characters_and_no_controls(void **state)
{
    (void)state;
    char room[512], wanted[512], ret[MYR_EXCERPT_MAX];
    assert_string_equal(myr_text_excerpt(MYR_STR(""), ret), "");
    assert_string_equal(myr_text_excerpt(MYR_STR("a\tb\x1B"), ret), "a?b?");
    repeated(room, "x", 40);
    assert_string_equal(myr_text_excerpt(myr_str_from(room), ret), room);
    repeated(room, "x", 41);
    snprintf(wanted, sizeof(wanted), "%.40s...", room);
    assert_string_equal(myr_text_excerpt(myr_str_from(room), ret), wanted);
    /* The longest characters that there are. */
    repeated(room, "\xF0\x9F\x98\x80", 41);
    snprintf(wanted, sizeof(wanted), "%.160s...", room);
    assert_string_equal(myr_text_excerpt(myr_str_from(room), ret), wanted);
}

static void an_error_is_one_clean_line_with_its_place(void **state)
{
    (void)state;
    struct myr_err err = {};
    struct text_place place = {12, 5};
    assert_int_equal(text_error_at(&err, "a\nfile", place, MYR_EINVAL, "'%s' is no %s", "\x1B[31m",
                                   "\xE4\xB8\x87"),
                     MYR_EINVAL);
    assert_string_equal(err.message, "a?file:12:5: '?[31m' is no \xE4\xB8\x87");
    assert_int_equal(err.code, MYR_EINVAL);
    /* A name longer than any message leaves what fits. */
    char room[2 * MYR_ERR_MESSAGE_MAX];
    repeated(room, "y", sizeof(room) - 1);
    text_error_at(&err, room, place, MYR_ERANGE, "never seen");
    assert_int_equal(strlen(err.message), strspn(err.message, "y."));
    text_error_at(&err, "f", place, MYR_ERANGE, "%s", room);
    assert_memory_equal(err.message, "f:12:5: yyyy", 12);
}

static void places_count_lines_and_characters(void **state)
{
    (void)state;
    static const char text[] = "a\xE4\xB8\x87z\nb\r\nc\rd\n\ne";
    static const struct text_place places[] = {
        {1, 1}, {1, 2}, {1, 3}, {1, 3}, {1, 3}, {1, 4}, /* the first line, to its end */
        {2, 1}, {2, 2}, {2, 3}, {3, 1}, {3, 2}, {4, 1}, {4, 2}, {5, 1}, {6, 1}, {6, 2}};
    struct text_cursor cursor;
    text_cursor_init(&cursor, MYR_STR(text));
    assert_int_equal(sizeof(text), MYR_ARRAY_COUNT(places));
    for (size_t i = 0; i < MYR_ARRAY_COUNT(places); i++) {
        struct text_place here = text_cursor_move(&cursor, i);
        if (here.line != places[i].line || here.column != places[i].column) {
            fail_msg("byte %zu is at %u:%u", i, here.line, here.column);
        }
    }
    /* All at once gives what step by step gives. */
    text_cursor_init(&cursor, MYR_STR(text));
    struct text_place end = text_cursor_move(&cursor, sizeof(text) - 1);
    assert_true(end.line == 6 && end.column == 2);
    text_cursor_init(&cursor, MYR_STR("a\r"));
    assert_int_equal(text_cursor_move(&cursor, 2).line, 2);
}

static void numbers_and_names_are_told_as_people_say_them(void **state)
{
    (void)state;
    char ret[MESSAGE_PHRASE_MAX];
    assert_string_equal(message_range(1, 20000, ret), "a whole number from 1 to 20,000");
    assert_string_equal(message_range(1000, UINT64_MAX, ret), "a whole number of at least 1,000");
    assert_string_equal(message_range(0, UINT64_MAX - 1, ret),
                        "a whole number from 0 to 18,446,744,073,709,551,614");
    static const char *const names[] = {"n00", "n01", "n02", "n03", "n04", "n05", "n06",
                                        "n07", "n08", "n09", "n10", "n11", "n12", "n13",
                                        "n14", "n15", "n16", "n17", "n18", "n19", "n20"};
    assert_string_equal(message_list(names, 0, ret), "");
    assert_string_equal(message_list(names, 1, ret), "n00");
    assert_string_equal(message_list(names, 3, ret), "n00, n01, n02");
    assert_int_equal(strlen(message_list(names, 20, ret)), 20 * 5 - 2);
    assert_string_equal(message_list(names, 21, ret), "");
    assert_string_equal(message_one_of(names, 1, ret), "n00");
    assert_string_equal(message_one_of(names, 2, ret), "one of n00, n01");
    assert_string_equal(message_one_of(names, 21, ret), "another word");
    assert_string_equal(message_one_of(names, 0, ret), "another word");
}

/* As long as fits: sixteen bytes are left for what goes in front. */
static void a_list_that_is_too_long_is_left_out_whole(void **state)
{
    (void)state;
    char ret[MESSAGE_PHRASE_MAX], one[MESSAGE_PHRASE_MAX], wanted[2 * MESSAGE_PHRASE_MAX];
    const char *names[] = {"ab", repeated(one, "x", MESSAGE_PHRASE_MAX - 16 - 3)};
    assert_string_equal(message_list(names + 1, 1, ret), one);
    assert_string_equal(message_list(names, 2, ret), ""); /* with "ab, " one byte too many */
    assert_string_equal(message_one_of(names, 2, ret), "another word");
    one[strlen(one) - 1] = '\0';
    snprintf(wanted, sizeof(wanted), "ab, %s", one);
    assert_string_equal(message_list(names, 2, ret), wanted);
    snprintf(wanted, sizeof(wanted), "one of ab, %s", one);
    assert_string_equal(message_one_of(names, 2, ret), wanted);
    repeated(one, "x", MESSAGE_PHRASE_MAX - 16);
    assert_string_equal(message_one_of(names + 1, 1, ret), one);
    repeated(one, "x", MESSAGE_PHRASE_MAX - 15);
    assert_string_equal(message_one_of(names + 1, 1, ret), "another word");
}

static void a_near_name_is_proposed(void **state)
{
    (void)state;
    static const char *const names[] = {"switch", "server", "cable"};
    char ret[MESSAGE_PHRASE_MAX], room[128];
    assert_string_equal(message_nearest(MYR_STR("swich"), names, 3, ret), "did you mean 'switch'?");
    assert_string_equal(message_nearest(MYR_STR("door"), names, 3, ret), "");
    const char *const long_names[] = {repeated(room, "n", 64)};
    char near[128];
    repeated(near, "n", 64);
    near[63] = 'm';
    assert_non_null(strstr(message_nearest(myr_str_from(near), long_names, 1, ret), room));
    repeated(near, "n", 65); /* longer than any name */
    assert_string_equal(message_nearest(myr_str_from(near), long_names, 1, ret), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_excerpt_has_forty_characters_and_no_controls),
        cmocka_unit_test(an_error_is_one_clean_line_with_its_place),
        cmocka_unit_test(places_count_lines_and_characters),
        cmocka_unit_test(numbers_and_names_are_told_as_people_say_them),
        cmocka_unit_test(a_list_that_is_too_long_is_left_out_whole),
        cmocka_unit_test(a_near_name_is_proposed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
