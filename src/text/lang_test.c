#include "myriad/text/lang.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const char table[] = "switch: 交换机\n"
                            "leaves: 叶交换机\n"
                            "spines: 脊交换机\n"
                            "\"{} has no price\": \"{}没有价格\"\n"
                            "\"{} of {}\": \"{2}的{1}\"\n"
                            "\"{} to {} links between a pair\": \"每对之间{}到{}条链路\"\n"
                            "\"not counted: {}\": \"未计入：{}\"\n";

static struct myr_arena arena;
static struct myr_lang lang;

static int begin(void **state)
{
    struct myr_err err = {};
    (void)state;
    myr_arena_init(&arena);
    return myr_lang_read(&arena, "zh", "zh.yaml", MYR_STR(table), &lang, &err);
}

static int end(void **state)
{
    (void)state;
    myr_lang_done(&lang);
    myr_arena_done(&arena);
    return 0;
}

static void says(const char *english, const char *expected)
{
    assert_string_equal(myr_lang_say(&lang, english), expected);
}

static void sentences_keep_their_figures(void **state)
{
    (void)state;
    says("switch", "交换机");
    says("MQM9790 has no price", "MQM9790没有价格");
    says("switch has no price", "交换机没有价格"); /* a figure that is known */
    says("12 to 13 links between a pair", "每对之间12到13条链路");
    says("3 of 4", "4的3");
    says("3 of 4 of 5", "5的4的3"); /* the last figure is a sentence too */
}

static void lists_are_said_piece_by_piece_or_not_at_all(void **state)
{
    (void)state;
    says("not counted: leaves, spines, switch", "未计入：叶交换机、脊交换机、交换机");
    says("not counted: leaves, doors", "未计入：leaves, doors");
}

static void what_is_unknown_stays(void **state)
{
    (void)state;
    says("a door", "a door");
    says(" has no price", " has no price"); /* no figure is empty */
    says("", "");
    assert_true(myr_lang_knows(&lang, "x has no price"));
    assert_false(myr_lang_knows(&lang, "a door"));
    assert_string_equal(myr_lang_say(NULL, "a door"), "a door");
    assert_true(myr_lang_knows(NULL, "a door"));
}

static void fails(const char *text, const char *where)
{
    struct myr_err err = {};
    struct myr_lang bad;
    assert_true(myr_lang_read(&arena, "zh", "t", myr_str_from(text), &bad, &err) < 0);
    if (!strstr(err.message, where)) {
        fail_msg("'%s' is expected: %s", where, err.message);
    }
}

static void bad_tables_are_told_with_their_place(void **state)
{
    (void)state;
    fails("- a\n", "t:1:1");
    fails("a: [b]\n", "t:1:4");
    fails("a: b\n\"{} c\": \"{2} c\"\n", "t:2:9");
    fails("\"{} c\": \"{} {} c\"\n", "t:1:9");
    fails("a: \"{1}\"\n", "t:1:4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sentences_keep_their_figures, begin, end),
        cmocka_unit_test_setup_teardown(lists_are_said_piece_by_piece_or_not_at_all, begin, end),
        cmocka_unit_test_setup_teardown(what_is_unknown_stays, begin, end),
        cmocka_unit_test_setup_teardown(bad_tables_are_told_with_their_place, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
