#include "myriad/sched.h"
#include "myriad/server/jobfile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define START "gpus: 4\ncommand: run\n"

static struct myr_jobfile reads(const char *text)
{
    struct myr_jobfile file;
    struct myr_err err = {};
    if (myr_jobfile_read("job", myr_str_from(text), 8, &file, &err) < 0) {
        fail_msg("%s: %s", text, err.message);
    }
    return file;
}

/* 'where' is line and column, as in "job:3:8". */
static void fails_bytes(struct myr_str text, const char *where, const char *words)
{
    struct myr_jobfile file;
    struct myr_err err = {};
    assert_true(myr_jobfile_read("job", text, 8, &file, &err) < 0);
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
    assert_int_equal(file.restart, MYR_RESTART_STRICT);
    assert_int_equal(file.retries, 3);
    assert_int_equal(file.lease_s, 600);
    assert_int_equal(file.time_limit_s, 0);
    assert_false(file.service);
    assert_int_equal(file.array_count, 0);
    assert_int_equal(file.after_count, 0);
    assert_true(file.twin_hours == 1 && file.twin_step_s == 10);
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
    assert_int_equal(file.wish.tp, 8);
    assert_int_equal(file.wish.dp, 3);
    assert_false(file.hold);
    assert_int_equal(file.gpus_min, 0);
    assert_int_equal(file.retries, 0);
    assert_int_equal(file.time_limit_s, 12 * 3600);
    assert_true(file.service);
    assert_int_equal(file.restart, MYR_RESTART_EPOCH);
    assert_int_equal(file.lease_s, 5);
    assert_int_equal(file.after_count, 2);
    assert_int_equal(file.after[1], 2);
    assert_int_equal(file.array_first, 3);
    assert_int_equal(file.array_count, 7);
    assert_true(file.twin_hours == 2.5 && file.twin_step_s == 3);
    assert_int_equal(reads("{\"gpus\": 2, \"command\": \"a\\nb\"}").gpus, 2);
    assert_int_equal(reads(START "after: 5\n").after[0], 5);
    assert_int_equal(reads(START "array: 5\n").array_count, 1);
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
    fails(START "env: {'A=B': c}\n", "job:3:", "'='");
    fails(START "env: {'': c}\n", "job:3:", "empty");
    fails(START "env: {A: \"b\\0\"}\n", "job:3:10", "NUL");
    fails(START "env: {\"A\\0\": b}\n", "job:3:", "NUL");
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
            int rc = myr_jobfile_read("job", (struct myr_str){text.data, text.len}, 8, &file, &err);
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
        assert_int_equal(myr_jobfile_read("job", myr_str_from(text), 8, &file, NULL) == MYR_OK,
                         len == 80);
        snprintf(
            text, sizeof(text), START "tenant: %.*s\n", (int)(len - 17),
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
        assert_int_equal(myr_jobfile_read("job", myr_str_from(text), 8, &file, NULL) == MYR_OK,
                         len == 80);
    }
}

/* As docs/server.md says of each key. */
/* A layout in whatever form says the same; a path or a name says nothing. */
static void how_it_may_lie(void **state)
{
    (void)state;
    static const struct myr_job_wish none;
    const char *const forms[] = {"layout: tp=8,pp=2\n", "layout: {tp: 8, pp: 2}\n",
                                 "layout: 'tp=8,pp=2,dp=2'\n"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(forms); i++) {
        char text[128];
        snprintf(text, sizeof(text), "gpus: 32\ncommand: run\n%s", forms[i]);
        struct myr_job_wish wish = reads(text).wish;
        assert_int_equal(wish.tp, 8);
        assert_int_equal(wish.pp, 2);
        assert_int_equal(wish.dp, 2);
        assert_int_equal(wish.order[0], MYR_AXIS_TP);
        assert_int_equal(wish.order[4], MYR_AXIS_PP);
    }
    const char *const unread[] = {START "layout: /srv/layout.yaml\n", START "layout: a/tp=8\n",
                                  START "layout: big\n", START};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(unread); i++) {
        struct myr_job_wish wish = reads(unread[i]).wish;
        assert_memory_equal(&wish, &none, sizeof(none));
    }
    struct myr_jobfile file =
        reads("nodes: 4\ncommand: run\nwithin: leaf\nleaf_max: 2\ngpus_min: 16\nhold: true\n");
    assert_int_equal(file.wish.within, MYR_LEVEL_LEAF + 1);
    assert_int_equal(file.wish.leaf_max, 2);
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
        [MYR_JOB_KUBERNETES] = " lease_s gpus_min within leaf_max hold progress twin",
    };
    MYR_CLEANUP(myr_buf_done) struct myr_buf all = {};
    const char *keys[MYR_JOBFILE_KEYS];
    for (size_t i = 0; i < MYR_JOBFILE_KEYS; i++) {
        myr_buf_printf(&all, "%s: 1\n", myr_jobfile_keys[i]);
    }
    for (int world = 0; world < MYR_JOB_WORLDS; world++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf said = {};
        uint32_t count = myr_jobfile_unheeded((struct myr_str){all.data, all.len},
                                              (enum myr_job_world)world, keys);
        for (uint32_t i = 0; i < count; i++) {
            myr_buf_printf(&said, " %s", keys[i]);
        }
        assert_string_equal(said.data, expected[world]);
        assert_int_equal(
            myr_jobfile_unheeded(MYR_STR("gpus: 1\n"), (enum myr_job_world)world, keys), 0);
        assert_int_equal(myr_jobfile_unheeded(MYR_STR("["), (enum myr_job_world)world, keys), 0);
    }
    assert_int_equal(myr_jobfile_unheeded(MYR_STR("{\"twin\": 1}"), MYR_JOB_AGENTS, keys), 1);
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
