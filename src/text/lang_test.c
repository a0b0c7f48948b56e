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
    assert_string_equal(myr_lang_say(NULL, "a door"), "a door");
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

static const char rules[] = "yes: 是\n"
                            "no: 否\n"
                            "\"a, b\": 甲和乙\n"
                            "\"{} GPUs\": \"若干：{}\"\n"
                            "\"{#} GPUs\": \"{}张卡\"\n"
                            "\"{} or {}\": \"{}或{}\"\n"
                            "\"x {}\": \"先{}\"\n"
                            "\"{} y\": \"后{}\"\n"
                            "\"It is {}.\": \"它是{}。\"\n"
                            "\"for {}; then {}\": \"为{2}，再{1}\"\n"
                            "\"not {}\": \"非{}\"\n"
                            "\"{} {x} }\": \"{1}{2\"\n"
                            "\"{}1{}2{}3{}4{}5{}6{}7{}8{}.\": \"{9}{8}{7}{6}{5}{4}{3}{2}{1}\"\n";

static void says_by(const char *english, const char *expected)
{
    struct myr_lang own;
    assert_int_equal(myr_lang_read(&arena, "zh", "t", MYR_STR(rules), &own, NULL), MYR_OK);
    assert_string_equal(myr_lang_say(&own, english), expected);
    myr_lang_done(&own);
}

static void the_line_that_says_most_itself_is_taken(void **state)
{
    (void)state;
    says_by("16 GPUs", "16张卡"); /* a number before anything, though it stands behind */
    says_by("1,024.5-2/3:4+1 GPUs", "1,024.5-2/3:4+1张卡");
    says_by("万 GPUs", "万张卡");
    says_by("many GPUs", "若干：many");
    says_by("1 2 GPUs", "若干：1 2"); /* no number has a blank */
    says_by("x a y", "先后a");        /* of equals the first of the file */
    says_by("x yes", "先是");
    says_by("yes y", "后是");
    says_by("a or b or c", "a或b或c");
}

static void figures_keep_their_places(void **state)
{
    (void)state;
    says_by("for yes; then no", "为否，再是");
    says_by("a1b2c3d4e5f6g7h8i.", "ihgfedcba");
    says_by("1 {x} }", "1{2");     /* braces that are no figure are text */
    says_by("x a, b", "先甲和乙"); /* known as a whole */
    says_by("x yes, no", "先是、否");
    says_by("x yes, no, yes", "先是、否、是");
    says_by("x yes, door", "先yes, door");
    says_by("x door, yes", "先door, yes");
}

static void a_figure_ends_with_its_clause(void **state)
{
    (void)state;
    says_by("x a\nyes", "先a\n是");
    says_by("x a; yes", "先a；是");
    says_by("It is yes. no", "它是是。否");
    says_by("door; yes", "door；是");
    says_by("yes; door; no", "是；door；否");
    says_by("door; wall", "door; wall");
    says_by("door\nwall\nno", "door\nwall\n否");
}

/* A figure is said too, and its figures, four deep: what is deeper stays. */
static void sentences_lie_in_each_other_four_deep(void **state)
{
    (void)state;
    says_by("not yes", "非是");
    says_by("not not not yes", "非非非是");
    says_by("not not not not yes", "非非非非是");
    says_by("not not not not not yes", "非非非非not yes");
}

static void a_hostile_text_is_given_up_on(void **state)
{
    (void)state;
    struct myr_lang own;
    static const char table_of_one[] = "\"{} {} {} {} {} {}!\": \"{}\"\n";
    char text[400];
    memset(text, ' ', sizeof(text));
    for (size_t i = 0; i < sizeof(text); i += 2) {
        text[i] = 'a';
    }
    text[sizeof(text) - 1] = '\0';
    assert_int_equal(myr_lang_read(&arena, "zh", "t", MYR_STR(table_of_one), &own, NULL), MYR_OK);
    assert_ptr_equal(myr_lang_say(&own, text), text);
    text[19] = '!';
    text[20] = '\0';
    assert_string_equal(myr_lang_say(&own, text), "a");
    myr_lang_done(&own);
}

static void figures_are_counted(void **state)
{
    (void)state;
    struct myr_lang own;
    static const char most[] = "\"{}a{}a{}a{}a{}a{}a{}a{}a{}\": b\n";
    assert_int_equal(myr_lang_read(&arena, "zh", "t", MYR_STR(most), &own, NULL), MYR_OK);
    myr_lang_done(&own);
    fails("\"{}a{}a{}a{}a{}a{}a{}a{}a{}a{}\": b\n", "t:1:34: the translation has other figures "
                                                    "than '{}a{}a{}a{}a{}a{}a{}a{}a{}a{}'");
    fails("\"{} c\": \"{0}\"\n", "t:1:9");
    fails("\"{} c\": \"a{2}\"\n", "t:1:9");
    fails("\"{} {#}\": \"{3}\"\n", "t:1:11");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sentences_keep_their_figures, begin, end),
        cmocka_unit_test_setup_teardown(lists_are_said_piece_by_piece_or_not_at_all, begin, end),
        cmocka_unit_test_setup_teardown(what_is_unknown_stays, begin, end),
        cmocka_unit_test_setup_teardown(bad_tables_are_told_with_their_place, begin, end),
        cmocka_unit_test_setup_teardown(the_line_that_says_most_itself_is_taken, begin, end),
        cmocka_unit_test_setup_teardown(figures_keep_their_places, begin, end),
        cmocka_unit_test_setup_teardown(a_figure_ends_with_its_clause, begin, end),
        cmocka_unit_test_setup_teardown(sentences_lie_in_each_other_four_deep, begin, end),
        cmocka_unit_test_setup_teardown(a_hostile_text_is_given_up_on, begin, end),
        cmocka_unit_test_setup_teardown(figures_are_counted, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
