/* The job file and its one reader: what it takes, what it refuses and where, key by key. */
#include "myriad/job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define START "gpus: 4\ncommand: run\n"

static struct myr_arena arena; /* of all that is read here */

static int read_job(struct myr_str text, struct myr_jobfile *ret, struct myr_err *err)
{
    const struct myr_jobfile_how how = {.file = "job", .gpus_per_node = 8};
    return myr_jobfile_read(&arena, &how, text, ret, err);
}

/* Whoever launches it takes what was queued. */
static struct myr_jobfile reads(const char *text)
{
    struct myr_jobfile file, launched;
    struct myr_err err = {};
    if (read_job(myr_str_from(text), &file, &err) < 0 ||
        myr_jobfile_read(&arena, MYR_JOBFILE_TAKEN("job"), myr_str_from(text), &launched, &err) <
            0) {
        fail_msg("%s: %s", text, err.message);
    }
    assert_int_equal(launched.command.count, file.command.count);
    assert_int_equal(launched.env.count, file.env.count);
    return file;
}

/* 'where' is line and column, as in "job:3:8". */
static void fails_bytes(struct myr_str text, const char *where, const char *words)
{
    struct myr_jobfile file;
    struct myr_err err = {};
    assert_true(read_job(text, &file, &err) < 0);
    if (strncmp(err.message, where, strlen(where)) != 0 || !strstr(err.message, words) ||
        strchr(err.message, '\n')) {
        fail_msg("%.*s: '%s ... %s' is expected: %s", (int)text.len, text.data, where, words,
                 err.message);
    }
}

static void fails(const char *text, const char *where, const char *words)
{
    fails_bytes(myr_str_from(text), where, words);
}

static void what_is_not_said(void **state)
{
    (void)state;
    struct myr_jobfile file = reads(START);
    assert_string_equal(file.name, "job");
    assert_string_equal(file.tenant, "default");
    assert_int_equal(file.gpus, 4);
    assert_int_equal(file.priority, 0);
    assert_int_equal(file.restart, 0);
    assert_int_equal(file.retries, 3);
    assert_int_equal(file.lease_s, 600);
    assert_int_equal(file.time_limit, 0);
    assert_false(file.service);
    assert_int_equal(file.array.count, 0);
    assert_int_equal(file.after.count, 0);
    assert_true(file.twin.hours == 1 && file.twin.step_s == 10);
}

static void every_key(void **state)
{
    (void)state;
    struct myr_jobfile file =
        reads("name: <b>ok</b>\ntenant: team a\npriority: -7\nnodes: 3\n"
              "gpus_per_node: 8\nlayout: {tp: 8}\ncommand: [python, x.py]\n"
              "image: i\nenv: {A: '1', B: \"two\\nlines\"}\ndirectory: /d\n"
              "checkpoint: /c\nretries: 0\ntime_limit: 12h\nrestart: epoch\nservice: true\n"
              "lease_s: 5\nprolog: p\nepilog: e\nafter: [1, 2]\n"
              "array: 3-9\nprogress: {pattern: '(it)'}\n"
              "twin: {hours: 2.5, step_s: 3}\n");
    assert_string_equal(file.name, "<b>ok</b>");
    assert_string_equal(file.tenant, "team a");
    assert_int_equal(file.priority, -7);
    assert_int_equal(file.gpus, 24);
    assert_int_equal(file.order.tp, 8);
    assert_int_equal(file.order.dp, 3);
    assert_false(file.hold);
    assert_int_equal(file.gpus_min, 0);
    assert_int_equal(file.retries, 0);
    assert_int_equal(file.time_limit, 12 * 3600);
    assert_true(file.service);
    assert_int_equal(file.restart, 1);
    assert_int_equal(file.lease_s, 5);
    assert_int_equal(file.after.count, 2);
    assert_int_equal(((const uint32_t *)file.after.at)[1], 2);
    assert_int_equal(file.array.first, 3);
    assert_int_equal(file.array.count, 7);
    assert_true(file.twin.hours == 2.5 && file.twin.step_s == 3);
    assert_int_equal(reads("{\"gpus\": 2, \"command\": \"a\\nb\"}").gpus, 2);
    assert_int_equal(*(const uint32_t *)reads(START "after: 5\n").after.at, 5);
    assert_int_equal(reads(START "array: 5\n").array.count, 1);
    assert_int_equal(reads("gpus: 1\ncommand: |\n  two\n  lines\n").gpus, 1);
}

static void files_that_are_no_jobs(void **state)
{
    (void)state;
    static char large[(48 << 10) + 1];
    fails("", "job", "");
    fails("[1]", "job:1:1", "a job file");
    fails("{}", "job:1:1", "missing");
    fails("gpus: 1\n", "job:1:1", "command");
    fails("command: x\n", "job:1:1", "'gpus' or 'nodes' is missing");
    fails(START "bogus: 1\n", "job:3:1", "bogus");
    fails(START "gpus: 2\n", "job:3:1", "gpus");
    fails("{\"gpus\":1,\"gpus\":2,\"command\":\"x\"}", "job:1:", "gpus");
    fails("{\"gpus\":1", "job:1:", "");
    fails("gpus: \xff\n", "job:1:", "");
    fails_bytes((struct myr_str){"gpus: 1\0\ncommand: x\n", 20}, "job:1:", "");
    memset(large, '#', sizeof(large));
    fails_bytes((struct myr_str){large, sizeof(large)}, "job: ", "at most 49152");
}

static void sizes(void **state)
{
    (void)state;
    fails("gpus: 0\ncommand: x\n", "job:1:7", "gpus");
    fails("gpus: -1\ncommand: x\n", "job:1:7", "gpus");
    fails("gpus: 1.5\ncommand: x\n", "job:1:7", "gpus");
    fails("gpus: many\ncommand: x\n", "job:1:7", "gpus");
    fails("gpus: 99999999999999999999\ncommand: x\n", "job:1:7", "gpus");
    fails("gpus: [1]\ncommand: x\n", "job:1:7", "gpus");
    fails("nodes: 1\ngpus: 8\ncommand: x\n", "job:1:8", "one of them");
    fails("nodes: 2\ngpus_per_node: 4\ncommand: x\n", "job:2:16", "this cluster has 8");
    fails("nodes: 0\ncommand: x\n", "job:1:8", "nodes");
    fails("nodes: 1\ngpus_per_node: 65\ncommand: x\n", "job:2:16", "gpus_per_node");
}

static void commands_and_texts(void **state)
{
    (void)state;
    fails("gpus: 1\ncommand: ''\n", "job:2:10", "empty");
    fails("gpus: 1\ncommand: []\n", "job:2:10", "empty");
    fails("gpus: 1\ncommand: {a: b}\n", "job:2:10", "command");
    fails("gpus: 1\ncommand: [a, [b]]\n", "job:2:14", "a word of 'command'");
    fails("gpus: 1\ncommand: \"a\\0b\"\n", "job:2:10", "NUL");
    fails("{\"gpus\":1,\"command\":\"id\\u0000; x\"}", "job:1:21", "NUL");
    fails(START "env: [a]\n", "job:3:6", "env");
    fails(START "env: {A: [b]}\n", "job:3:10", "a value of 'env'");
    fails(START "env: {'A=B': c}\n", "job:3:", "'A=B' is no name of a variable");
    fails(START "env: {'': c}\n", "job:3:", "'' is no name of a variable");
    fails(START "env: {A: \"b\\0\"}\n", "job:3:10", "NUL");
    fails(START "env: {\"A\\0\": b}\n", "job:3:", "no name of a variable");
    fails(START "name: \"a\\nb\"\n", "job:3:7", "control character");
    fails(START "name: ''\n", "job:3:7", "empty");
    fails(START "tenant: \"\\e[2J\"\n", "job:3:9", "control character");
    fails(START "name: 123456789012345678901234567890123456789012345678901234567890"
                "123456789012345678901\n",
          "job:3:7", "at most 80");
    fails(START "image: [x]\n", "job:3:8", "image");
    fails(START "directory: ''\n", "job:3:12", "directory");
    fails(START "prolog: {}\n", "job:3:9", "prolog");
    fails(START "progress: x\n", "job:3:11", "progress");
    fails(START "progress: {other: x}\n", "job:3:12", "other");
    fails(START "progress: {pattern: [x]}\n", "job:3:21", "progress.pattern");
}

/* What an agent refuses by the same rule (myriad/wire/pattern.h) is no job that could run. */
static void patterns_that_no_agent_takes_are_refused(void **state)
{
    (void)state;
    fails(START "progress: {pattern: 'step'}\n", "job:3:21", "no group that is the step");
    fails(START "progress: {pattern: 'step ([0-9]+'}\n", "job:3:21", "Unmatched");
    fails(START "progress: {pattern: '(a)\\1'}\n", "job:3:21", "no '\\1' here");
    fails(START "progress: {pattern: '((a{200}){200}){200}'}\n", "job:3:21", "written out");
    fails(START "progress: {pattern: \"([0-9]+)\\0\"}\n", "job:3:21", "control character");
    fails(START "progress:\n  pattern: '[0-9'\n", "job:4:12", "progress.pattern");
    fails("{\"command\": \"x\", \"gpus\": 1,\n \"progress\": {\"pattern\": \"(\"}}",
          "job:2:", "progress.pattern");
}

static void numbers_and_choices(void **state)
{
    (void)state;
    fails(START "priority: 101\n", "job:3:11", "-100 to 100");
    fails(START "priority: high\n", "job:3:11", "-100 to 100");
    fails(START "retries: -1\n", "job:3:10", "retries");
    fails(START "retries: 1000001\n", "job:3:10", "retries");
    fails(START "lease_s: 0\n", "job:3:10", "lease_s");
    fails(START "restart: never\n", "job:3:10", "restart");
    fails(START "time_limit: 0\n", "job:3:13", "is no time");
    fails(START "time_limit: 0d\n", "job:3:13", "is no time");
    fails(START "time_limit: h\n", "job:3:13", "is no time");
    fails(START "time_limit: 5w\n", "job:3:13", "is no time");
    fails(START "time_limit: 99999999999\n", "job:3:13", "is no time");
    fails(START "time_limit: [1h]\n", "job:3:13", "time_limit");
    fails(START "array: 9-3\n", "job:3:8", "runs backwards: 3-9 is expected");
    fails(START "array: 0-10000\n", "job:3:8", "more than 10000 jobs");
    fails(START "array: x\n", "job:3:8", "is no range");
    fails(START "array: ''\n", "job:3:8", "is no range");
    fails(START "after: x\n", "job:3:8", "after");
    fails(START "after: [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]\n", "job:3:8", "at most 16");
    fails(START "twin: 1\n", "job:3:7", "twin");
    fails(START "twin: {days: 1}\n", "job:3:8", "days");
    fails(START "twin: {hours: 0}\n", "job:3:15", "twin.hours");
    fails(START "twin: {step_s: nan}\n", "job:3:16", "twin.step_s");
}

/* Each number and text at its limits, below and above. */
static void limits(void **state)
{
    (void)state;
    static const struct {
        const char *text; /* "%s" is the value */
        const char *below, *least, *most, *above;
    } cases[] = {
        {"gpus: %s\ncommand: x\n", "0", "1", "16777216", "16777217"},
        {"nodes: %s\ncommand: x\n", "0", "1", "1048576", "1048577"},
        {START "gpus_per_node: %s\n", "0", "1", "64", "65"},
        {START "priority: %s\n", "-101", "-100", "100", "101"},
        {START "retries: %s\n", "-1", "0", "1000000", "1000001"},
        {START "lease_s: %s\n", "0", "1", "604800", "604801"},
        {START "array: %s\n", "-1", "0", "4294967295", "4294967296"},
        {START "array: %s\n", "1-0", "0-0", "0-9999", "0-10000"},
        {START "after: %s\n", "-1", "0", "4294967294", "4294967295"},
        {START "twin: {hours: %s}\n", "0.00009", "0.0001", "10000", "10000.1"},
        {START "twin: {step_s: %s}\n", "0.009", "0.01", "3600", "3600.1"},
        {START "time_limit: %s\n", "0s", "1s", "3153600000", "3153600001"},
        {START "service: %s\n", "2", "true", "false", "on 1"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        const char *values[] = {cases[i].below, cases[i].least, cases[i].most, cases[i].above};
        for (size_t v = 0; v < 4; v++) {
            MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
            struct myr_jobfile file;
            struct myr_err err = {};
            const char *at = strstr(cases[i].text, "%s");
            myr_buf_printf(&text, "%.*s%s%s", (int)(at - cases[i].text), cases[i].text, values[v],
                           at + 2);
            int rc = read_job((struct myr_str){text.data, text.len}, &file, &err);
            if ((rc == MYR_OK) != (v == 1 || v == 2)) {
                fail_msg("%s gives %d %s", text.data, rc, err.message);
            }
        }
    }
    char text[200];
    for (size_t len = 80; len <= 81; len++) { /* a name; 63 for a tenant */
        struct myr_jobfile file;
        snprintf(
            text, sizeof(text), START "name: %.*s\n", (int)len,
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
        assert_int_equal(read_job(myr_str_from(text), &file, NULL) == MYR_OK, len == 80);
        snprintf(
            text, sizeof(text), START "tenant: %.*s\n", (int)(len - 17),
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
        assert_int_equal(read_job(myr_str_from(text), &file, NULL) == MYR_OK, len == 80);
    }
}

/* A layout in whatever form says the same; a path or a name says nothing. */
static void how_it_may_lie(void **state)
{
    (void)state;
    const char *const forms[] = {"layout: tp=8,pp=2\n", "layout: {tp: 8, pp: 2}\n",
                                 "layout: 'tp=8,pp=2,dp=2'\n"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(forms); i++) {
        char text[128];
        snprintf(text, sizeof(text), "gpus: 32\ncommand: run\n%s", forms[i]);
        struct myr_layout wish = reads(text).order;
        assert_int_equal(wish.tp, 8);
        assert_int_equal(wish.pp, 2);
        assert_int_equal(wish.dp, 2);
        assert_int_equal(wish.order[0], MYR_AXIS_TP);
        assert_int_equal(wish.order[4], MYR_AXIS_PP);
    }
    const char *const unread[] = {START "layout: /srv/layout.yaml\n", START "layout: a/tp=8\n",
                                  START "layout: big\n", START};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(unread); i++) {
        assert_false(reads(unread[i]).ordered);
    }
    struct myr_jobfile file =
        reads("nodes: 4\ncommand: run\nwithin: leaf\nleaf_max: 2\ngpus_min: 16\nhold: true\n");
    assert_int_equal(file.within, MYR_JOB_WITHIN_LEAF);
    assert_int_equal(file.leaf_max, 2);
    assert_int_equal(file.gpus_min, 16);
    assert_true(file.hold);
    fails("gpus: 32\ncommand: run\nlayout: tp=8,pp=3\n", "job:3:9", "layout");
    fails("gpus: 32\ncommand: run\nlayout: tp=8,dp=2\n", "job:3:9", "32 GPUs");
    fails("gpus: 32\ncommand: run\nlayout: tp=8,xy=2\n", "job:3:9", "xy");
    fails("gpus: 32\ncommand: run\nlayout: [8]\n", "job:3:9", "list");
    fails("gpus: 32\ncommand: run\nlayout: {tp: 0}\n", "job:3:14", "tp");
    fails("gpus: 32\ncommand: run\nlayout: tp=8\ngpus_min: 8\n", "job:3:9", "gpus_min");
    fails("gpus: 20\ncommand: run\nlayout: tp=4\n", "job:1:1", "whole nodes");
    fails("gpus: 20\ncommand: run\nleaf_max: 1\n", "job:1:1", "whole nodes");
    fails("gpus: 20\ncommand: run\ngpus_min: 21\n", "job:3:11", "gpus_min");
    fails("gpus: 20\ncommand: run\ngpus_min: 0\n", "job:3:11", "gpus_min");
    fails("gpus: 8\ncommand: run\nwithin: rack\n", "job:3:9", "leaf");
    fails("gpus: 8\ncommand: run\nleaf_max: 0\n", "job:3:11", "leaf_max");
    fails("gpus: 8\ncommand: run\nhold: maybe\n", "job:3:7", "hold");
}

static void what_is_not_heeded(void **state)
{
    (void)state;
    static const char *const expected[MYR_JOB_WORLDS] = {
        [MYR_JOB_AGENTS] = " twin",
        [MYR_JOB_SLURM] = " lease_s progress twin",
        [MYR_JOB_KUBERNETES] = " lease_s progress twin gpus_min within leaf_max hold",
    };
    static const char all[] = "gpus: 8\ncommand: x\nlease_s: 9\nretries: 1\ngpus_min: 4\n"
                              "within: leaf\nleaf_max: 1\nhold: true\ntwin: {hours: 1}\n"
                              "progress: {pattern: '(a)'}\nprolog: p\n";
    struct myr_jobfile file = reads(all), few = reads(START);
    for (int world = 0; world < MYR_JOB_WORLDS; world++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf said = {};
        const char *keys[MYR_RECORD_ROWS_MAX];
        struct myr_err err = {};
        uint32_t count = myr_jobfile_unheeded(&file, (enum myr_job_world)world, keys);
        for (uint32_t i = 0; i < count; i++) {
            myr_buf_printf(&said, " %s", keys[i]);
        }
        assert_string_equal(said.data, expected[world]);
        assert_int_equal(myr_jobfile_unheeded(&few, (enum myr_job_world)world, keys), 0);
        assert_int_equal(myr_jobfile_refuse(&few, (enum myr_job_world)world, &err), MYR_OK);
        int rc = myr_jobfile_refuse(&file, (enum myr_job_world)world, &err);
        assert_int_equal(rc, world == MYR_JOB_KUBERNETES ? MYR_EINVAL : MYR_OK);
        assert_string_equal(err.message,
                            rc < 0 ? "job:11:9: 'prolog' is not to be had on Kubernetes" : "");
    }
}

/* Where two readers once disagreed: what a node would refuse is not queued, and nothing else is. */
static void what_all_roads_take(void **state)
{
    (void)state;
    struct myr_jobfile file =
        reads("gpus: 1\ncommand: [python3, '', -c, \"import x\\nprint(1)\"]\n"
              "env: {a: 1, z: 2, A: 3, Z: 4, _: 5, a0: '', A9_z: \"two\\nlines\"}\n"
              "prolog: |\n  one\n  two\nepilog: e\n");
    assert_int_equal(file.command.count, 4);
    assert_false(file.command.shell);
    assert_string_equal(file.command.argv[1], "");
    assert_string_equal(file.command.argv[3], "import x\nprint(1)");
    assert_null(file.command.argv[4]);
    assert_string_equal(file.env.words[5], "a0=");
    assert_string_equal(file.env.words[6], "A9_z=two\nlines");
    assert_string_equal(file.prolog, "one\ntwo\n");
    file = reads(" \n {\"gpus\": 1, \"command\": \"a\\nb\"}");
    assert_true(file.command.shell && file.command.count == 3 && file.env.count == 0);
    assert_string_equal(file.command.argv[2], "a\nb");
    assert_null(file.env.words[0]);
    static const char *const names[] = {"a-b", "9A", "a=b", "a[", "a@",
                                        "a{",  "a`", "a/",  "a:", "a "};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        char text[80], words[80];
        snprintf(text, sizeof(text), START "env: {'%s': 1}\n", names[i]);
        snprintf(words, sizeof(words), "'%s' is no name of a variable", names[i]);
        fails(text, "job:3:", words);
    }
    fails("gpus: 1\ncommand: ['', a]\n", "job:2:10", "'command' is empty");
    fails(START "env: {A: }\n", "job:3:", "a value of 'env'");
    fails(START "env:\n", "job:3:", "'env' is empty");
    fails(START "image:\n", "job:3:", "'image' is empty");
    fails(START "image: ''\n", "job:3:8", "'image' is empty");
    fails(START "prolog: ''\n", "job:3:9", "'prolog' is empty");
    fails(START "epilog: \"a\\0\"\n", "job:3:9", "'epilog' has a NUL in it");
    fails(START "directory: \"a\\nb\"\n", "job:3:12", "control character");
}

static void so_many_words_and_no_more(void **state)
{
    (void)state;
    for (uint32_t count = MYR_JOB_WORDS_MAX; count <= MYR_JOB_WORDS_MAX + 1; count++) {
        for (int env = 0; env < 2; env++) {
            MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
            struct myr_jobfile file;
            struct myr_err err = {};
            myr_buf_puts(&text, env ? "{\"gpus\":1,\"command\":\"x\",\"env\":{"
                                    : "{\"gpus\":1,\"command\":[");
            for (uint32_t i = 0; i < count; i++) {
                myr_buf_printf(&text, env ? "%s\"a%x\":\"\"" : "%s\"%x\"", i ? "," : "", i);
            }
            myr_buf_puts(&text, env ? "}}" : "]}");
            int rc = read_job((struct myr_str){text.data, text.len}, &file, &err);
            assert_int_equal(rc == MYR_OK, count == MYR_JOB_WORDS_MAX);
            if (rc < 0) {
                assert_non_null(strstr(err.message, env ? "'env' has 4097 names, at most 4096"
                                                        : "'command' has 4097 words, at most"));
            }
        }
    }
}

/* A newer server may know more keys than whoever launches its jobs; a size was checked before. */
static void what_was_taken_is_launched(void **state)
{
    (void)state;
    struct myr_jobfile file;
    struct myr_err err = {};
    static const char text[] = "command: x\nnew: 1\nprogress: {pattern: '(a)', often: 1}\n";
    assert_int_equal(
        myr_jobfile_read(&arena, MYR_JOBFILE_TAKEN("f"), myr_str_from(text), &file, &err), MYR_OK);
    assert_string_equal(file.progress.pattern, "(a)");
    assert_int_equal(
        myr_jobfile_read(&arena, MYR_JOBFILE_TAKEN("f"), MYR_STR("gpus: 1\n"), &file, &err),
        MYR_EINVAL);
    assert_string_equal(err.message, "f:1:1: 'command' is missing in a job file");
}

static int gone(void **state)
{
    (void)state;
    myr_arena_done(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_said),
        cmocka_unit_test(every_key),
        cmocka_unit_test(files_that_are_no_jobs),
        cmocka_unit_test(sizes),
        cmocka_unit_test(commands_and_texts),
        cmocka_unit_test(patterns_that_no_agent_takes_are_refused),
        cmocka_unit_test(numbers_and_choices),
        cmocka_unit_test(limits),
        cmocka_unit_test(how_it_may_lie),
        cmocka_unit_test(what_is_not_heeded),
        cmocka_unit_test(what_all_roads_take),
        cmocka_unit_test(so_many_words_and_no_more),
        cmocka_unit_test(what_was_taken_is_launched),
    };
    return cmocka_run_group_tests(tests, NULL, gone);
}
