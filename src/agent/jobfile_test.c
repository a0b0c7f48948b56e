/* What an agent takes from a job's file: a command, its variables and folders, and nothing else. */
#include "jobfile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* "word|word|", "NAME=value|"; what it lacks is "-". */
static void put_list(struct myr_buf *ret, const char *name, const char *const *words)
{
    myr_buf_printf(ret, "%s ", name);
    for (; *words; words++) {
        myr_buf_printf(ret, "%s|", *words);
    }
    myr_buf_puts(ret, "\n");
}

static void gives(const char *text, const char *expected)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf found = {};
    struct jobfile job;
    struct myr_err err = {};
    myr_arena_init(&arena);
    if (jobfile_read(&arena, myr_str_from(text), &job, &err) < 0) {
        fail_msg("%s: %s", text, err.message);
    }
    put_list(&found, "command", job.command);
    put_list(&found, "env", job.env);
    const char *rest[] = {job.directory, job.checkpoint, job.prolog,
                          job.epilog,    job.pattern,    job.image};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rest); i++) {
        myr_buf_printf(&found, "%s ", rest[i] ? rest[i] : "-");
    }
    assert_string_equal(found.data, expected);
}

static void fails_bytes(struct myr_str text, const char *message)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    struct jobfile job;
    struct myr_err err = {};
    myr_arena_init(&arena);
    assert_true(jobfile_read(&arena, text, &job, &err) < 0);
    if (!strstr(err.message, message)) {
        fail_msg("%.*s: '%s' is expected: %s", (int)text.len, text.data, message, err.message);
    }
}

static void fails(const char *text, const char *message)
{
    fails_bytes(myr_str_from(text), message);
}

static void what_is_there_is_taken(void **state)
{
    (void)state;
    gives("command: run me\n", "command /bin/sh|-c|run me|\nenv \n- - - - - - ");
    gives(" \t\r\n{\"command\": [\"a\", \"b c\", \"\"], \"env\": null, \"image\": null}",
          "command a|b c||\nenv \n- - - - - - ");
    gives("command: [x]\nenv: {A: b, _9: 'c d', Z_a: }\ndirectory: /d\ncheckpoint: /c\n"
          "prolog: p\nepilog: e\nimage: i\nprogress: {pattern: it}\nother: 1\n",
          "command x|\nenv A=b|_9=c d|Z_a=|\n/d /c p e it i ");
    gives("command: x\nprogress: null\n", "command /bin/sh|-c|x|\nenv \n- - - - - - ");
    gives("command: x\nprogress: {}\n", "command /bin/sh|-c|x|\nenv \n- - - - - - ");
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    static const char nul[] = "{\"command\": \"a\\u0000b\"}";
    fails("", "job file");
    fails("[]", "'job'");
    fails("{}", "'command'");
    fails("command: ''\n", "'command' is empty");
    fails("command: ['', a]\n", "'command' is empty");
    fails("command: []\n", "'command' has 0 words, 1 to 4096 are expected");
    fails("command: {a: b}\n", "'command'");
    fails("command: [[a]]\n", "'command'");
    fails_bytes(myr_str_from(nul), "'command' holds a NUL");
    fails("command: x\nenv: [a]\n", "'env'");
    fails("command: x\nenv: {A: [a]}\n", "'env'");
    fails("command: x\nenv: {9A: a}\n", "'9A' is no name of a variable");
    fails("command: x\nenv: {'': a}\n", "'' is no name of a variable");
    fails("command: x\nenv: {'a=b': a}\n", "'a=b' is no name of a variable");
    fails("command: x\nenv: {'a-b': a}\n", "'a-b' is no name of a variable");
    fails("command: x\nenv: {'a[': a}\n", "is no name of a variable");
    fails("command: x\nenv: {'a@': a}\n", "is no name of a variable");
    fails("command: x\nenv: {'a{': a}\n", "is no name of a variable");
    fails("command: x\nenv: {'a`': a}\n", "is no name of a variable");
    fails("command: x\nenv: {'a/': a}\n", "is no name of a variable");
    fails("command: x\nenv: {'a:': a}\n", "is no name of a variable");
    fails("command: x\ndirectory: ''\n", "'directory' is empty");
    fails("command: x\ncheckpoint: []\n", "'checkpoint'");
    fails("command: x\nprolog: {}\n", "'prolog'");
    fails("command: x\nepilog: ''\n", "'epilog' is empty");
    fails("command: x\nimage: ''\n", "'image' is empty");
    fails("command: x\nprogress: 1\n", "'progress'");
    fails("command: x\nprogress: {pattern: ''}\n", "'pattern' is empty");
}

static void names_of_variables(void **state)
{
    (void)state;
    gives("command: x\nenv: {a: 1, z: 2, A: 3, Z: 4, _: 5, a0: 6, a9: 7}\n",
          "command /bin/sh|-c|x|\nenv a=1|z=2|A=3|Z=4|_=5|a0=6|a9=7|\n- - - - - - ");
}

static void so_many_words_and_no_more(void **state)
{
    (void)state;
    for (uint32_t count = JOBFILE_WORDS_MAX; count <= JOBFILE_WORDS_MAX + 1; count++) {
        for (int env = 0; env < 2; env++) {
            MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
            MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
            struct jobfile job;
            struct myr_err err = {};
            myr_arena_init(&arena);
            myr_buf_puts(&text, env ? "{\"command\":\"x\",\"env\":{" : "{\"command\":[");
            for (uint32_t i = 0; i < count; i++) {
                myr_buf_printf(&text, env ? "%s\"a%u\":\"\"" : "%s\"a%u\"", i ? "," : "", i);
            }
            myr_buf_puts(&text, env ? "}}" : "]}");
            int rc = jobfile_read(&arena, (struct myr_str){text.data, text.len}, &job, &err);
            assert_int_equal(rc == MYR_OK, count == JOBFILE_WORDS_MAX);
            if (rc == MYR_OK) {
                const char *const *list = env ? job.env : job.command;
                assert_string_equal(list[count - 1], env ? "a4095=" : "a4095");
                assert_null(list[count]);
            } else {
                assert_non_null(strstr(err.message, env ? "'env' has 4097 names, at most 4096"
                                                        : "'command' has 4097 words, 1 to 4096"));
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_there_is_taken),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(names_of_variables),
        cmocka_unit_test(so_many_words_and_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
