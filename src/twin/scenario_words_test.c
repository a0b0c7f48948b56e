/*
 * Every number of a scenario at its limits, every word, and every place where something else
 * stands than is expected: what is written back of it, or what is said
 * (tests/kept/twin-words.txt).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "kept.h"
#include "myriad/twin/scenario.h"

#define CLUSTER "cluster: {nodes: 8}\n"
#define TIME    "hours: 2\n"
#define JOBS    "jobs:\n  - {gpus: 8, hours: 1}\n"

static int written(const char *text, struct myr_buf *ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    struct myr_scenario scenario = {};
    myr_arena_init(&arena);
    int rc = myr_scenario_parse(&scenario, &arena, "s", myr_str_from(text), err);
    if (rc == MYR_OK) {
        myr_scenario_write(&scenario, ret);
        myr_scenario_done(&scenario);
    }
    return rc;
}

/* The lines of 'now' that are not in 'before'. */
static void put_changed(struct myr_buf *story, const char *before, char *now)
{
    for (char *rest = now; rest && *rest;) {
        char *line = strsep(&rest, "\n");
        const char *at = *line ? strstr(before, line) : before;
        bool known = !*line;
        for (; at && !known; at = strstr(at + 1, line)) {
            known = (at == before || at[-1] == '\n') && at[strlen(line)] == '\n';
        }
        if (!known) {
            myr_buf_printf(story, "  %s\n", line);
        }
    }
}

static void one(const char *said, const char *text, struct myr_buf *story)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf before = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf now = {};
    struct myr_err err = {};
    assert_int_equal(written(CLUSTER TIME JOBS, &before, &err), MYR_OK);
    myr_buf_printf(story, "%s\n", said);
    if (written(text, &now, &err) < 0) {
        myr_buf_printf(story, "  %s%s%s\n", err.message, err.hint[0] ? " | " : "", err.hint);
    } else {
        put_changed(story, before.data, now.data);
    }
}

/* One line in place of, or beside, the three that every scenario has. */
static void with(const char *line, struct myr_buf *story)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    myr_buf_printf(&text, "%s%s%s%s\n", strncmp(line, "cluster:", 8) == 0 ? "" : CLUSTER,
                   strncmp(line, "hours:", 6) == 0 || strncmp(line, "days:", 5) == 0 ? "" : TIME,
                   strncmp(line, "jobs:", 5) == 0 ? "" : JOBS, line);
    one(line, text.data, story);
}

#define JOB(words) "jobs: [{gpus: 8, hours: 1, " words "}]"

static const struct {
    const char *line; /* "%s": the number */
    const char *below, *least, *most, *above;
} ranges[] = {
    {"cluster: {nodes: %s}", "0", "1", "200000", "200001"},
    {"cluster: {nodes: 9, gpus_per_node: %s}", "0", "8", "64", "65"},
    {"cluster: {nodes: 9, leaf_nodes: %s}", "0", "1", "9", "200001"},
    {"cluster: {nodes: 9, leaf_nodes: 3, pod_nodes: %s}", "0", "3", "9", "200001"},
    {"hours: %s", "0.0009", "0.001", "24000", "24000.1"},
    {"days: %s", "0", "0.001", "1000", "1001"},
    {"tenants: %s", "0", "1", "10000", "10001"},
    {"spares: %s", "-1", "0", "6", "200001"},
    {"report_s: %s", "9.9", "10", "3600", "3601"},
    {"step_s: %s", "0.009", "0.01", "3600", "3601"},
    {"fence_fails_ppm: %s", "-1", "0", "1000000", "1000001"},
    {"check_every: %s", "0", "1", "1000000000", "1000000001"},
    {"control: {start_window_s: %s}", "0.9", "1", "86400", "86401"},
    {"control: {retry_s: %s}", "0.9", "1", "3600", "3601"},
    {"control: {suspect_s: %s}", "0.09", "0.1", "86400", "86401"},
    {"control: {reconnect_s: %s}", "-1", "0", "86400", "86401"},
    {"control: {first_step_s: %s}", "0.9", "1", "864000", "864001"},
    {"control: {hang_s: %s}", "0.9", "1", "86400", "86401"},
    {"control: {test_s: %s}", "0.9", "1", "1000000", "1000001"},
    {"control: {fence_retry_s: %s}", "0.9", "1", "86400", "86401"},
    {"control: {clock_slack_s: %s}", "-1", "0", "86400", "86401"},
    {"control: {drain_permille: %s}", "-1", "0", "1000", "1001"},
    {"control: {restarts_in_place: %s}", "-1", "0", "1000000", "1000001"},
    {"control: {grace_s: %s}", "-1", "0", "86400", "86401"},
    {"messages: {lost_ppm: %s}", "-1", "0", "900000", "900001"},
    {"messages: {twice_ppm: %s}", "-1", "0", "1000000", "1000001"},
    {"messages: {late_ppm: %s}", "-1", "0", "1000000", "1000001"},
    {"messages: {late_s: %s}", "-1", "0", "86400", "86401"},
    {"partitions: {per_day: %s}", "-1", "0", "10000", "10001"},
    {"partitions: {per_day: 1, nodes: %s}", "0", "1", "8", "200001"},
    {"partitions: {per_day: 1, minutes: %s}", "-1", "0", "100000", "100001"},
    {"crashes: {per_day: %s}", "-1", "0", "10000", "10001"},
    {"crashes: {per_day: 1, seconds: %s}", "0.0009", "0.001", "86400", "86401"},
    {"crashes: {every_events: %s}", "-1", "0", "1000000000000", "1000000000001"},
    {"clock: {per_day: %s}", "-1", "0", "10000", "10001"},
    {"clock: {per_day: 1, seconds: %s}", "-1", "0", "1000000", "1000001"},
    {"clock: {drift_permille: %s}", "-1", "0", "90", "91"},
    {"drains: {per_day: %s}", "-1", "0", "100000", "100001"},
    {"drains: {per_day: 1, hours: %s}", "-1", "0", "10000", "10001"},
    {"maintenance: [{first: %s}]", "-1", "0", "7", "8"},
    {"maintenance: [{first: 2, count: %s}]", "0", "1", "6", "7"},
    {"maintenance: [{at_h: %s}]", "-1", "0", "24000", "24001"},
    {"maintenance: [{hours: %s}]", "0.009", "0.01", "24000", "24001"},
    {"maintenance: [{drain_h: %s}]", "-1", "0", "24000", "24001"},
    {"jobs: [{gpus: %s, hours: 1}]", "0", "1", "64", "65"},
    {"jobs: [{gpus: {%s: 1}, hours: 1}]", "0", "1", "64", "65"},
    {"jobs: [{gpus: {8: %s}, hours: 1}]", "0", "1", "1000000", "1000001"},
    {"jobs: [{gpus: 8, hours: %s}]", "0.0009", "0.001", "100000", "100001"},
    {"jobs: [{gpus: 8, hours: [1, %s, 3]}]", "0.9", "1", "3", "3.1"},
    {JOB("count: %s"), "0", "1", "10", "99999999"},
    {JOB("interval_s: %s"), "-1", "0", "1000000", "1000001"},
    {JOB("stall_s: %s"), "-1", "0", "100000", "100001"},
    {JOB("limit_s: %s"), "-1", "0", "1000000000", "1000000001"},
    {JOB("retries: %s"), "-1", "0", "1000000", "1000001"},
    {JOB("lease_s: %s"), "0", "1", "604800", "604801"},
    {JOB("tenant: %s"), "-1", "0", "0", "1"},
    {JOB("priority: %s"), "-101", "-100", "100", "101"},
    {JOB("cancel_ppm: %s"), "-1", "0", "1000000", "1000001"},
    {JOB("arrive_h: [1, %s]"), "0.9", "1", "24000", "24001"},
};

static const char *const lines[] = {
    "policy: fifo",
    "policy: first-fit",
    "policy: fair",
    "policy: preempt",
    "policy: best",
    "practice: common",
    "practice: best",
    "practice: usual",
    "name: a",
    "name: [a]",
    "days: 1",
    "hours: 1\ndays: 1",
    "bogus: 1",
    "cluster: 4",
    "cluster: {}",
    "cluster: {nodes: 4, bogus: 1}",
    "cluster: {nodes: 8, leaf_nodes: 4, pod_nodes: 6}",
    "control: [1]",
    "control: {bogus: 1}",
    "messages: 1",
    "partitions: []",
    "crashes: {per_day: x}",
    "clock: []",
    "drains: 3",
    "maintenance: {}",
    "maintenance: [1]",
    "maintenance: [{bogus: 1}]",
    "maintenance: [{first: 1, count: 2, at_h: 3, hours: 4, drain_h: 5}, {}]",
    "faults: 1",
    "faults: {rate: rsc-1}",
    "faults: {rate: rsc-1, times: typical, shows: hang}",
    "faults: {rate: rsc-1, shows: crash}",
    "faults: {rate: rsc-1, shows: node-lost}",
    "faults: {rate: rsc-1, shows: by-class}",
    "faults: {rate: rsc-1, shows: never}",
    "faults: {rate: none, times: typical}",
    "faults: {rate: nobody}",
    "faults: {rate: [1]}",
    "faults: {times: often}",
    "jobs: 1",
    "jobs: []",
    "jobs: [1]",
    "jobs: [{hours: 1}]",
    "jobs: [{gpus: 8}]",
    "jobs: [{gpus: [8], hours: 1}]",
    "jobs: [{gpus: {}, hours: 1}]",
    "jobs: [{gpus: {x: 1}, hours: 1}]",
    "jobs: [{gpus: {8: x}, hours: 1}]",
    "jobs: [{gpus: {8: 3, 16: 4, 1: 5}, hours: [1, 2, 4]}]",
    "jobs: [{gpus: 8, hours: [1, 2]}]",
    "jobs: [{gpus: 8, hours: {a: 1}}]",
    (JOB("arrive_h: 1")),
    (JOB("arrive_h: [1]")),
    (JOB("arrive_h: [1, 2, 3]")),
    (JOB("arrive_h: [0.5, 1.5], restart: epoch, service: true, limit_s: 5")),
    (JOB("restart: never")),
    (JOB("service: maybe")),
    (JOB("bogus: 1")),
    (JOB("count: 2") "\ntenants: 3"),
    "spares: 8",
    "omit: {}",
};

static void words_and_numbers(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf story = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(ranges); i++) {
        const char *const numbers[] = {ranges[i].below, ranges[i].least, ranges[i].most,
                                       ranges[i].above};
        const char *at = strstr(ranges[i].line, "%s");
        for (size_t k = 0; k < MYR_ARRAY_COUNT(numbers); k++) {
            MYR_CLEANUP(myr_buf_done) struct myr_buf line = {};
            myr_buf_printf(&line, "%.*s%s%s", (int)(at - ranges[i].line), ranges[i].line,
                           numbers[k], at + 2);
            with(line.data, &story);
        }
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(lines); i++) {
        with(lines[i], &story);
    }
    one("no cluster", TIME JOBS, &story);
    one("no time", CLUSTER JOBS, &story);
    one("no jobs", CLUSTER TIME, &story);
    one("a list", "[]\n", &story);
    one("nothing", "", &story);
    assert_kept("twin-words.txt", &story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_and_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
