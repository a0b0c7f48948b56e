/* The keys of a scenario: what each is without a word, in which unit, and how far it may go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "myriad/twin.h"

#define S(field) offsetof(struct myr_scenario, field)
#define G(field) offsetof(struct myr_scenario, groups[0].field)
#define W(field) offsetof(struct myr_scenario, windows[0].field)

/* As docs/twin.md says it: 'low' and 'high' are the last values that are taken. */
static const struct key {
    const char *section, *key;
    size_t at, size;
    double unit; /* what 1 becomes */
    double low, high, otherwise;
} keys[] = {
    {"cluster", "gpus_per_node", S(shape.gpus_per_node), 4, 1, 1, 64, 8},
    {"cluster", "leaf_nodes", S(shape.group_nodes), 4, 1, 1, 200000, 16},
    {"", "hours", S(length_ms), 8, 3600e3, 0.001, 24000, 24},
    {"", "tenants", S(tenants), 4, 1, 1, 10000, 1},
    {"", "report_s", S(report_ms), 8, 1e3, 10, 3600, 60},
    {"", "step_s", S(step_ms), 8, 1e3, 0.01, 3600, 10},
    {"", "fence_fails_ppm", S(fence_fails_ppm), 4, 1, 0, 1e6, 50000},
    {"", "check_every", S(check_every), 8, 1, 1, 1e9, 1000},
    {"control", "start_window_s", S(policy.start_window_ms), 8, 1e3, 1, 86400, 1800},
    {"control", "retry_s", S(policy.retry_ms), 8, 1e3, 1, 3600, 30},
    {"control", "suspect_s", S(policy.suspect_ms), 8, 1e3, 0.1, 86400, 30},
    {"control", "reconnect_s", S(policy.reconnect_ms), 8, 1e3, 0, 86400, 120},
    {"control", "first_step_s", S(policy.first_step_ms), 8, 1e3, 1, 864000, 3600},
    {"control", "hang_s", S(policy.hang_ms), 8, 1e3, 1, 86400, -1},
    {"control", "test_s", S(policy.test_ms), 8, 1e3, 1, 1e6, 7200},
    {"control", "fence_retry_s", S(policy.fence_retry_ms), 8, 1e3, 1, 86400, 300},
    {"control", "clock_slack_s", S(policy.clock_slack_ms), 8, 1e3, 0, 86400, 60},
    {"control", "drain_permille", S(policy.drain_permille), 4, 1, 0, 1000, 100},
    {"control", "restarts_in_place", S(policy.restarts_in_place), 4, 1, 0, 1e6, 3},
    {"control", "grace_s", S(policy.grace_s), 4, 1, 0, 86400, 60},
    {"messages", "lost_ppm", S(messages.lost_ppm), 4, 1, 0, 900000, 0},
    {"messages", "twice_ppm", S(messages.twice_ppm), 4, 1, 0, 1e6, 0},
    {"messages", "late_ppm", S(messages.late_ppm), 4, 1, 0, 1e6, 0},
    {"messages", "late_s", S(messages.late_ms), 8, 1e3, 0, 86400, 30},
    {"partitions", "nodes", S(partitions.nodes), 4, 1, 1, 200000, 16},
    {"partitions", "minutes", S(partitions.length_ms), 8, 60e3, 0, 100000, 10},
    {"crashes", "seconds", S(crashes.length_ms), 8, 1e3, 0.001, 86400, 30},
    {"crashes", "every_events", S(crashes.every_events), 8, 1, 0, 1e12, 0},
    {"clock", "seconds", S(clock.step_ms), 8, 1e3, 0, 1e6, 3600},
    {"clock", "drift_permille", S(clock.drift_permille), 4, 1, 0, 90, 0},
    {"drains", "hours", S(drains.length_ms), 8, 3600e3, 0, 10000, 4},
    {"jobs", "count", G(count), 4, 1, 1, 1e6, 1},
    {"jobs", "interval_s", G(interval_ms), 8, 1e3, 0, 1e6, 1800},
    {"jobs", "stall_s", G(stall_ms), 8, 1e3, 0, 1e5, 30},
    {"jobs", "limit_s", G(limit_s), 8, 1, 0, 1e9, 0},
    {"jobs", "retries", G(retries), 4, 1, 0, MYR_JOB_RETRIES_MAX, 1000},
    {"jobs", "lease_s", G(lease_s), 4, 1, 1, MYR_LEASE_S_MAX, 600},
    {"jobs", "priority", G(priority), -4, 1, -MYR_PRIORITY_MAX, MYR_PRIORITY_MAX, 0},
    {"jobs", "cancel_ppm", G(cancel_ppm), 4, 1, 0, 1e6, 0},
    {"maintenance", "first", W(first), 4, 1, 0, 3, 0},
    {"maintenance", "count", W(count), 4, 1, 1, 4, 1},
    {"maintenance", "at_h", W(at_ms), 8, 3600e3, 0, 24000, 0},
    {"maintenance", "hours", W(length_ms), 8, 3600e3, 0.01, 24000, 1},
    {"maintenance", "drain_h", W(drain_ms), 8, 3600e3, 0, 24000, 0},
};

/* Four nodes, one job and one window, with the key in its section; 'word' NULL: without it. */
static int parse(struct myr_scenario *s, struct myr_arena *arena, const char *section,
                 const char *key, const char *word, struct myr_err *err)
{
    static const char *const inside[] = {"cluster", "jobs", "maintenance"};
    const char *more[] = {"", "", "", ""};
    if (word) {
        int to = 0;
        while (to < 3 && strcmp(section, inside[to]) != 0) {
            to++;
        }
        more[to] = to < 2     ? myr_arena_printf(arena, ", %s: %s", key, word)
                   : to == 2  ? myr_arena_printf(arena, "%s: %s", key, word)
                   : *section ? myr_arena_printf(arena, "%s: {%s: %s}\n", section, key, word)
                              : myr_arena_printf(arena, "%s: %s\n", key, word);
    }
    const char *text = myr_arena_printf(arena,
                                        "cluster: {nodes: 4%s}\n"
                                        "jobs:\n  - {gpus: 4, hours: 1%s}\n"
                                        "maintenance:\n  - {%s}\n%s",
                                        more[0], more[1], more[2], more[3]);
    return myr_scenario_parse(s, arena, "s.yaml", myr_str_from(text), err);
}

static double value_of(const struct myr_scenario *s, const struct key *key)
{
    const char *at = (const char *)s + key->at;
    return key->size == 8   ? (double)*(const int64_t *)at
           : key->size == 4 ? (double)*(const uint32_t *)at
                            : (double)*(const int32_t *)at;
}

static void expect_taken(const struct key *key, const char *word, double wanted)
{
    struct myr_arena arena;
    struct myr_scenario s;
    struct myr_err err = {};
    myr_arena_init(&arena);
    if (parse(&s, &arena, key->section, key->key, word, &err) < 0) {
        fail_msg("%s %s: %s: %s", key->section, key->key, word ? word : "", err.message);
    }
    if (value_of(&s, key) != wanted) {
        fail_msg("%s %s: %s is %.17g, %.17g is expected", key->section, key->key,
                 word ? word : "nothing", value_of(&s, key), wanted);
    }
    /* Written and read again it is the same. */
    struct myr_buf text = {};
    struct myr_scenario again;
    myr_scenario_write(&s, &text);
    assert_int_equal(myr_scenario_parse(&again, &arena, "again", myr_str_from(text.data), NULL),
                     MYR_OK);
    assert_true(value_of(&again, key) == wanted);
    myr_buf_done(&text);
    myr_scenario_done(&s);
    myr_scenario_done(&again);
    myr_arena_done(&arena);
}

static void expect_refused(const struct key *key, double value)
{
    struct myr_arena arena;
    struct myr_scenario s;
    struct myr_err err = {};
    char word[64];
    snprintf(word, sizeof(word), "%.15g", value);
    myr_arena_init(&arena);
    if (parse(&s, &arena, key->section, key->key, word, &err) == MYR_OK) {
        fail_msg("%s %s: %s is taken", key->section, key->key, word);
    }
    assert_non_null(strstr(err.message, "s.yaml:"));
    myr_arena_done(&arena);
}

static void keys_are_what_the_manual_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(keys); i++) {
        const struct key *key = &keys[i];
        char word[2][64];
        bool whole = key->unit == 1;
        snprintf(word[0], sizeof(word[0]), "%.15g", key->low);
        snprintf(word[1], sizeof(word[1]), "%.15g", key->high);
        if (key->otherwise >= 0) {
            expect_taken(key, NULL, key->otherwise * key->unit);
        }
        if (strcmp(key->key, "hang_s") == 0) { /* a timer below two reports is raised */
            continue;
        }
        expect_taken(key, word[0], key->low * key->unit);
        if (key->high < 1e9) { /* the cluster's own limits are beside these */
            expect_taken(key, word[1], key->high * key->unit);
        }
        expect_refused(key, whole ? key->high + 1 : key->high * 1.001);
        if (key->low > 0 || key->size == (size_t)-4) {
            expect_refused(key, whole ? key->low - 1 : key->low * 0.9);
        } else {
            expect_refused(key, -1);
        }
    }
}

/* So many a day become the time between two, and come back as so many a day. */
static void rates_a_day_are_times_between(void **state)
{
    (void)state;
    static const struct key rows[] = {
        {"partitions", "per_day", S(partitions.every_ms), 8, 0, 0, 10000, 0},
        {"crashes", "per_day", S(crashes.every_ms), 8, 0, 0, 10000, 0},
        {"clock", "per_day", S(clock.every_ms), 8, 0, 0, 10000, 0},
        {"drains", "per_day", S(drains.every_ms), 8, 0, 0, 100000, 0},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        expect_taken(&rows[i], NULL, 0);
        expect_taken(&rows[i], "0", 0);
        expect_taken(&rows[i], "1", 86400001);
        expect_taken(&rows[i], "0.5", 172800001);
        expect_taken(&rows[i], "7", 12342858);
        expect_taken(&rows[i], "10000", 8641);
        expect_refused(&rows[i], rows[i].high * 1.001);
        expect_refused(&rows[i], -0.5);
    }
}

static void expect(const char *text, const char *says)
{
    struct myr_arena arena;
    struct myr_scenario s;
    struct myr_err err = {};
    myr_arena_init(&arena);
    int rc = myr_scenario_parse(&s, &arena, "s.yaml", myr_str_from(text), &err);
    if (!says && rc < 0) {
        fail_msg("%s", err.message);
    } else if (says && (rc == MYR_OK || !strstr(err.message, says))) {
        fail_msg("'%s' is not in '%s'", says, rc == MYR_OK ? "(taken)" : err.message);
    }
    if (rc == MYR_OK) {
        myr_scenario_done(&s);
    }
    myr_arena_done(&arena);
}

#define FOUR "cluster: {nodes: 4, gpus_per_node: 2}\n"

static void keys_that_belong_together_are_held_against_each_other(void **state)
{
    (void)state;
    expect("cluster: {nodes: 12, leaf_nodes: 3, pod_nodes: 6}\njobs: []\n", NULL);
    expect("cluster: {nodes: 12, leaf_nodes: 4, pod_nodes: 6}\njobs: []\n", "a multiple of");
    expect("cluster: {nodes: 12, leaf_nodes: 4, pod_nodes: 13}\njobs: []\n", NULL);
    expect(FOUR "spares: 3\njobs: []\n", NULL);
    expect(FOUR "spares: 4\njobs: []\n", "below 'nodes' (4)");
    expect(FOUR "jobs:\n  - {gpus: 8, hours: 1}\n", NULL);
    expect(FOUR "jobs:\n  - {gpus: 9, hours: 1}\n", "gpus");
    expect(FOUR "jobs:\n  - {gpus: {8: 1, 1: 1000000}, hours: 1}\n", NULL);
    expect(FOUR "jobs:\n  - {gpus: {9: 1}, hours: 1}\n", "from 1 to 8 is expected");
    expect(FOUR "jobs:\n  - {gpus: {0: 1}, hours: 1}\n", "from 1 to 8 is expected");
    expect(FOUR "jobs:\n  - {gpus: {1: 0}, hours: 1}\n", "part of the jobs");
    expect(FOUR "jobs:\n  - {gpus: {}, hours: 1}\n", "has 0 sizes, 1 to 32");
    expect(FOUR "jobs:\n  - {gpus: 1, hours: [1, 2]}\n", "has 2 numbers, 3 to 3");
    expect(FOUR "jobs:\n  - {gpus: 1, hours: [1, 2, 1.5]}\n", "rising");
    expect(FOUR "jobs:\n  - {gpus: 1, hours: [2, 1, 3]}\n", "rising");
    expect(FOUR "jobs:\n  - {gpus: 1, hours: [1, 1, 1]}\n", NULL);
    expect(FOUR "jobs:\n  - {gpus: 1, hours: 0.0009}\n", "hours");
    expect(FOUR "jobs:\n  - {gpus: 1, hours: 100001}\n", "hours");
    expect(FOUR "jobs:\n  - {gpus: 1, hours: 1, arrive_h: [2, 1]}\n",
           "'arrive_h' is not in rising");
    expect(FOUR "jobs:\n  - {gpus: 1, hours: 1, arrive_h: [1, 1]}\n", NULL);
    expect(FOUR "jobs:\n  - {gpus: 1, hours: 1, arrive_h: [1]}\n", "has 1 number, 2 to 2");
    expect(FOUR "tenants: 2\njobs:\n  - {gpus: 1, hours: 1, tenant: 1}\n", NULL);
    expect(FOUR "tenants: 2\njobs:\n  - {gpus: 1, hours: 1, tenant: 2}\n", "below 'tenants' (2)");
    expect(FOUR "jobs:\n  - {gpus: 1, hours: 1, count: 1000000}\n  - {gpus: 1, hours: 1}\n",
           "more than 1000000 jobs in all");
    expect(FOUR "maintenance:\n  - {first: 3}\njobs: []\n", NULL);
    expect(FOUR "maintenance:\n  - {first: 4}\njobs: []\n", "nodes 4 to 4, below 4");
    expect(FOUR "maintenance:\n  - {first: 2, count: 3}\njobs: []\n", "nodes 2 to 4, below 4");
    expect(FOUR "leave_out: {jobs: [3, 1]}\njobs: []\n", NULL);
    expect(FOUR "leave_out: {jobs: [-1]}\njobs: []\n", "jobs");
    expect(FOUR "leave_out: {job: [1]}\njobs: []\n", "unknown key 'job'");
    expect(FOUR "leave_out: [1]\njobs: []\n", "'leave_out' is a list, a map of keys is expected");
    expect(FOUR "leave_out: {jobs: 3}\njobs: []\n",
           "s.yaml:2:19: 'jobs' is '3', a list is expected");
    expect(FOUR "leave_out: {jobs: [], clock: [1, x]}\njobs: []\n", "'clock' is 'x'");
    expect(FOUR "leave_out: {drains: [4294967294]}\njobs: []\n", NULL);
    expect(FOUR "leave_out: {drains: [4294967295]}\njobs: []\n", "4294967295");
    expect(FOUR "faults: {rate: none, times: typical}\njobs: []\n", NULL);
    expect(FOUR "faults: {rate: 1, times: guessed}\njobs: []\n", "times");
    expect(FOUR "days: 0.0001\njobs: []\n", "days");
    expect(FOUR "days: 1001\njobs: []\n", "days");
}

/* A list of so many, each with its number, for the limits of lists. */
static void expect_many(const char *head, const char *one, uint32_t count, const char *tail,
                        const char *says)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    const char *number = strchr(one, '#');
    myr_buf_puts(&text, head);
    for (uint32_t i = 1; i <= count; i++) {
        myr_buf_printf(&text, "%.*s%u%s", (int)(number - one), one, i, number + 1);
    }
    myr_buf_puts(&text, tail);
    expect(text.data, says);
}

static void lists_have_their_most(void **state)
{
    (void)state;
    const char *groups = "cluster: {nodes: 9}\njobs:\n";
    const char *sizes = "cluster: {nodes: 8}\njobs:\n  - {hours: 1, gpus: {64: 1";
    const char *windows = "cluster: {nodes: 100}\njobs: []\nmaintenance:\n";
    expect_many(groups, "  - {gpus: #, hours: 1}\n", 64, "", NULL);
    expect_many(groups, "  - {gpus: #, hours: 1}\n", 65, "", "65 groups of jobs, up to 64");
    expect_many(sizes, ", #: 1", 31, "}}\n", NULL);
    expect_many(sizes, ", #: 1", 32, "}}\n", "has 33 sizes, 1 to 32");
    expect_many(windows, "  - {first: #}\n", 64, "", NULL);
    expect_many(windows, "  - {first: #}\n", 65, "", "65 windows, up to 64");
}

/* What is left out is kept in order, whatever order it was said in, each kind by itself. */
static void numbers_that_are_left_out_are_sorted(void **state)
{
    (void)state;
    struct myr_arena arena;
    struct myr_scenario s;
    struct myr_buf text = {};
    myr_arena_init(&arena);
    struct myr_str given =
        MYR_STR(FOUR "leave_out: {clock: [7], drains: [3, 1, 2], crashes: [9, 8],\n"
                     "  partitions: [5, 4294967294, 6, 0], faults: [], jobs: [2, 1]}\njobs: []\n");
    assert_int_equal(myr_scenario_parse(&s, &arena, "s", given, NULL), MYR_OK);
    myr_scenario_write(&s, &text);
    assert_string_equal(strstr(text.data, "leave_out:"),
                        "leave_out:\n  jobs: [1, 2]\n  partitions: [0, 5, 6, 4294967294]\n"
                        "  crashes: [8, 9]\n  drains: [1, 2, 3]\n  clock: [7]\n");
    myr_buf_done(&text);
    myr_scenario_done(&s);
    myr_arena_done(&arena);
}

/* Rates of the classes add up to the rate that was asked for, for every cluster. */
static void classes_add_up_to_the_rate(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        double per_1000_node_days;
    } rates[] = {{"24", 24}, {"1e6", 1e6}, {"0.5", 0.5}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rates); i++) {
        struct myr_arena arena;
        struct myr_scenario s;
        myr_arena_init(&arena);
        const char *text = myr_arena_printf(
            &arena, "cluster: {nodes: 40}\nfaults: {rate: %s}\njobs: []\n", rates[i].word);
        assert_int_equal(myr_scenario_parse(&s, &arena, "s", myr_str_from(text), NULL), MYR_OK);
        double sum = 0;
        uint32_t shows[3] = {}, breaks = 0;
        for (uint32_t k = 0; k < s.class_count; k++) {
            sum += (double)s.classes[k].per_1e12_node_h;
            shows[s.classes[k].shows]++;
            breaks += s.classes[k].breaks;
            bool soft = strcmp(s.classes[k].key, "rate.software") == 0 ||
                        strcmp(s.classes[k].key, "rate.unknown_watchdog") == 0;
            assert_int_equal(s.classes[k].breaks, !soft); /* a new process heals those alone */
            bool host = strncmp(s.classes[k].key, "rate.host_", 10) == 0 ||
                        strcmp(s.classes[k].key, "rate.psu_visible") == 0;
            assert_int_equal(s.classes[k].shows == MYR_FAULT_NODE_LOST, host);
        }
        assert_true(s.class_count > 10 && breaks == s.class_count - 2);
        assert_true(shows[MYR_FAULT_CRASH] > 3 && shows[MYR_FAULT_HANG] == 3);
        double wanted = rates[i].per_1000_node_days / 1000 / 24 * 1e12;
        assert_true(sum > wanted - s.class_count && sum < wanted + s.class_count);
        myr_scenario_done(&s);
        myr_arena_done(&arena);
    }
}

/* The timer that finds hangs is the practice's own, and never shorter than two reports. */
static void hangs_are_told_from_late_reports(void **state)
{
    (void)state;
    struct myr_arena arena;
    struct myr_scenario s;
    myr_arena_init(&arena);
    const char *slow = "cluster: {nodes: 2}\nreport_s: 3600\njobs: []\n";
    assert_int_equal(myr_scenario_parse(&s, &arena, "s", myr_str_from(slow), NULL), MYR_OK);
    assert_int_equal(s.policy.hang_ms, 7200000);
    myr_scenario_done(&s);
    for (int best = 0; best < 2; best++) {
        const char *text = best ? "cluster: {nodes: 2}\nreport_s: 10\npractice: best\njobs: []\n"
                                : "cluster: {nodes: 2}\nreport_s: 10\njobs: []\n";
        assert_int_equal(myr_scenario_parse(&s, &arena, "s", myr_str_from(text), NULL), MYR_OK);
        const struct myr_recovery_row *row =
            myr_recovery_find(s.recovery, best ? "b.detect.hang" : "a.detect.hang");
        int64_t own_ms = (int64_t)(row->typical * 1000 + 0.5);
        assert_int_equal(s.policy.hang_ms, own_ms > 20000 ? own_ms : 20000);
        myr_scenario_done(&s);
    }
    const char *own = "cluster: {nodes: 2}\ncontrol: {hang_s: 5}\njobs: []\n";
    assert_int_equal(myr_scenario_parse(&s, &arena, "s", myr_str_from(own), NULL), MYR_OK);
    assert_int_equal(s.policy.hang_ms, 5000);
    myr_scenario_done(&s);
    /* Comparisons of large states are rarer. */
    const char *large = "cluster: {nodes: 20000}\njobs: []\n";
    assert_int_equal(myr_scenario_parse(&s, &arena, "s", myr_str_from(large), NULL), MYR_OK);
    assert_int_equal(s.check_every, 2000);
    assert_int_equal(s.shape.pod_nodes, 20000);
    myr_scenario_done(&s);
    myr_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_what_the_manual_says),
        cmocka_unit_test(rates_a_day_are_times_between),
        cmocka_unit_test(keys_that_belong_together_are_held_against_each_other),
        cmocka_unit_test(lists_have_their_most),
        cmocka_unit_test(numbers_that_are_left_out_are_sorted),
        cmocka_unit_test(classes_add_up_to_the_rate),
        cmocka_unit_test(hangs_are_told_from_late_reports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
