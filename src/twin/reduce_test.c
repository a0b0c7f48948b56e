/*
 * Small worlds with a fault in their controller, and what is left of each case when it was made
 * small: which troubles went, which numbers are left out, how many nodes and seeds it took
 * (tests/kept/twin-reduced.txt). The worlds have everything that a case can be made smaller by;
 * the search beside this one has large ones, and says that each fault is found.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kept.h"
#include "myriad/twin.h"

#define JOBS                                                                   \
    "jobs:\n  - {count: 30, gpus: {1: 2, 8: 2, 16: 1}, hours: [0.1, 0.3, 1], " \
    "arrive_h: [0, 3], cancel_ppm: 100000}\n"

static const struct {
    const char *name;
    enum myr_planted planted;
    uint32_t tries; /* as many runs as the first one's length allows */
    const char *text;
} cases[] = {
    {"all troubles, two windows", MYR_PLANTED_DOUBLE_GRANT, 60,
     "cluster: {nodes: 16, leaf_nodes: 4}\nhours: 6\npractice: best\nfence_fails_ppm: 200000\n"
     "faults: {rate: 2000}\ndrains: {per_day: 20, hours: 1}\n"
     "messages: {lost_ppm: 20000, twice_ppm: 20000, late_ppm: 20000}\n"
     "partitions: {per_day: 40, nodes: 3, minutes: 10}\ncrashes: {per_day: 20}\n"
     "clock: {per_day: 10, seconds: 60, drift_permille: 20}\n"
     "maintenance:\n  - {first: 2, count: 3, at_h: 2, hours: 1}\n  - {first: 5, at_h: 1}\n" JOBS},
    {"a window far behind", MYR_PLANTED_LEAK, 60,
     "cluster: {nodes: 12, leaf_nodes: 3}\nhours: 5\nfaults: {rate: 3000, times: typical}\n"
     "maintenance:\n  - {first: 11, at_h: 4}\n" JOBS},
    {"spares", MYR_PLANTED_LEAK, 60,
     "cluster: {nodes: 12, leaf_nodes: 1}\nhours: 5\nspares: 6\nfaults: {rate: 3000}\n" JOBS},
    {"drains", MYR_PLANTED_FORGOTTEN_DRAIN, 60,
     "cluster: {nodes: 12, leaf_nodes: 5}\nhours: 8\ndrains: {per_day: 200, hours: 3}\n"
     "faults: {rate: 9000, shows: node-lost}\n"
     "crashes: {every_events: 40, seconds: 4}\nmessages: {late_ppm: 400000}\n" JOBS},
    {"messages lost", MYR_PLANTED_LATE_START, 40,
     "cluster: {nodes: 10}\nhours: 8\ncontrol: {start_window_s: 60}\n"
     "messages: {lost_ppm: 300000, twice_ppm: 350000}\npartitions: {per_day: 90, nodes: 2}\n" JOBS},
    {"crashes often", MYR_PLANTED_LOST_JOB, 40,
     "cluster: {nodes: 8, leaf_nodes: 2}\nhours: 4\ncrashes: {every_events: 30, seconds: 20}\n"
     "clock: {per_day: 20}\n" JOBS},
    {"cut off", MYR_PLANTED_DOUBLE_RUN, 60,
     "cluster: {nodes: 12, leaf_nodes: 4}\nhours: 6\nfence_fails_ppm: 500000\n"
     "partitions: {per_day: 2000, nodes: 4, minutes: 9}\nfaults: {rate: 4000, shows: node-lost}\n"
     "leave_out: {jobs: [3, 4], faults: [0]}\n" JOBS},
    {"a job as large as the cluster", MYR_PLANTED_DOUBLE_GRANT, 60,
     "cluster: {nodes: 16, leaf_nodes: 4}\nhours: 6\npractice: best\nfaults: {rate: 1500}\n"
     "messages: {lost_ppm: 20000}\npartitions: {per_day: 90, nodes: 3, minutes: 10}\n" JOBS
     "  - {count: 3, gpus: {1: 50, 72: 1}, hours: 0.2}\n"},
    {"two leaves and a window", MYR_PLANTED_DOUBLE_GRANT, 60,
     "cluster: {nodes: 10, gpus_per_node: 4, leaf_nodes: 5}\nhours: 6\npractice: best\n"
     "faults: {rate: 4000}\nclock: {drift_permille: 80}\ncrashes: {per_day: 100}\n"
     "drains: {per_day: 900, hours: 0.1}\nmessages: {twice_ppm: 310000, late_ppm: 900000}\n"
     "maintenance:\n  - {first: 3, count: 2, at_h: 5}\n"
     "jobs:\n  - {count: 40, gpus: {1: 1, 4: 1}, hours: 0.1, arrive_h: [0, 1]}\n"
     "  - {count: 9, gpus: 20, hours: 0.3, restart: epoch}\n"},
    {"nearly half of it spare", MYR_PLANTED_DOUBLE_GRANT, 60,
     "cluster: {nodes: 9, leaf_nodes: 2}\nhours: 6\nspares: 5\npractice: best\n"
     "faults: {rate: 4000}\npartitions: {per_day: 3000, nodes: 2, minutes: 4}\n" JOBS},
    {"half of it spare", MYR_PLANTED_DOUBLE_GRANT, 60,
     "cluster: {nodes: 9, leaf_nodes: 2}\nhours: 6\nspares: 6\npractice: best\n"
     "faults: {rate: 4000}\npartitions: {per_day: 3000, nodes: 2, minutes: 4}\n" JOBS},
    {"no tries", MYR_PLANTED_LEAK, 0,
     "cluster: {nodes: 12, leaf_nodes: 3}\nhours: 5\nfaults: {rate: 3000}\n" JOBS},
};

static void count_seeds(void *context, uint64_t seeds)
{
    uint64_t *last = context;
    assert_int_equal(seeds, *last + 1); /* each is told once */
    *last = seeds;
}

/* Lines of the scenario as it is now that were not in it before. */
static void put_changed(const struct myr_buf *before, const struct myr_buf *now,
                        struct myr_buf *story)
{
    for (const char *line = now->data; *line;) {
        size_t len = strcspn(line, "\n") + 1;
        if (!memmem(before->data, before->len, line, len)) {
            myr_buf_printf(story, "  %.*s", (int)len, line);
        }
        line += len;
    }
}

static void put_case(size_t at, uint64_t first_seed, struct myr_buf *story)
{
    struct myr_arena arena;
    struct myr_scenario scenario;
    struct myr_search_result r;
    struct myr_err err = {};
    uint64_t told = 0;
    MYR_CLEANUP(myr_buf_done) struct myr_buf before = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf now = {};
    struct myr_search_options options = {.first_seed = first_seed,
                                         .seeds = 1000,
                                         .tries_most = cases[at].tries,
                                         .planted = cases[at].planted,
                                         .progress = count_seeds,
                                         .context = &told};
    myr_arena_init(&arena);
    struct myr_str text = myr_str_from(cases[at].text);
    if (myr_scenario_parse(&scenario, &arena, cases[at].name, text, &err) < 0) {
        fail_msg("%s: %s", cases[at].name, err.message);
    }
    myr_scenario_write(&scenario, &before);
    if (myr_twin_search(&scenario, &options, &r, &err) < 0) {
        fail_msg("%s: %s", cases[at].name, err.message);
    }
    if (!r.found) {
        fail_msg("%s: nothing is found from seed %llu on", cases[at].name,
                 (unsigned long long)first_seed);
    }
    assert_int_equal(told, r.seeds);
    assert_int_equal(r.found_seed, options.first_seed + r.seeds - 1);
    myr_buf_printf(story, "== %s: found at seed %llu with %llu events, %llu of all seeds\n",
                   cases[at].name, (unsigned long long)r.found_seed,
                   (unsigned long long)r.events_before, (unsigned long long)r.events);
    myr_buf_printf(story, "after %u tries: seed %llu, %llu events, %u jobs, %u windows\n%s: %s\n",
                   r.tries, (unsigned long long)r.broken.seed, (unsigned long long)r.broken.events,
                   r.jobs_left, scenario.window_count, r.broken.first_rule,
                   r.broken.first_violation);
    myr_scenario_write(&scenario, &now);
    put_changed(&before, &now, story);
    myr_search_result_done(&r);
    myr_scenario_done(&scenario);
    myr_arena_done(&arena);
}

static void cases_are_made_small_as_they_were(void **state)
{
    (void)state;
    struct myr_buf story = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        static const uint64_t seeds[] = {3, 100};
        for (size_t k = 0; k < MYR_ARRAY_COUNT(seeds); k++) {
            put_case(i, seeds[k], &story);
        }
    }
    assert_kept("twin-reduced.txt", &story);
    myr_buf_done(&story);
}

/* A search that finds nothing has looked at every seed, and says how much that was. */
static void a_search_without_a_find_counts_what_it_played(void **state)
{
    (void)state;
    struct myr_arena arena;
    struct myr_scenario scenario;
    struct myr_search_result r;
    uint64_t told = 0, events = 0;
    struct myr_search_options options = {
        .first_seed = 7, .seeds = 3, .progress = count_seeds, .context = &told};
    myr_arena_init(&arena);
    struct myr_str text = MYR_STR("cluster: {nodes: 4}\nhours: 2\n" JOBS);
    assert_int_equal(myr_scenario_parse(&scenario, &arena, "quiet", text, NULL), MYR_OK);
    assert_int_equal(myr_twin_search(&scenario, &options, &r, NULL), MYR_OK);
    for (uint64_t seed = 7; seed < 10; seed++) {
        struct myr_twin_result one;
        struct myr_twin_options of_one = {.seed = seed};
        assert_int_equal(myr_twin_run(&scenario, &of_one, &one, NULL), MYR_OK);
        events += one.events;
        myr_twin_result_done(&one);
    }
    assert_false(r.found);
    assert_int_equal(r.seeds, 3);
    assert_int_equal(told, 3);
    assert_int_equal(r.events, events);
    assert_int_equal(r.tries, 0);
    myr_search_result_done(&r);
    /* A world that cannot begin ends the search at once. */
    const struct myr_recovery *known = scenario.recovery, empty = {};
    struct myr_err err = {};
    scenario.recovery = &empty;
    told = 0;
    assert_int_equal(myr_twin_search(&scenario, &options, &r, &err), MYR_ENOENT);
    assert_string_equal(err.message, "the recovery data lack 'a.detect.crash'");
    assert_int_equal(told + r.seeds, 0);
    scenario.recovery = known;
    myr_search_result_done(&r);
    myr_scenario_done(&scenario);
    myr_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cases_are_made_small_as_they_were),
        cmocka_unit_test(a_search_without_a_find_counts_what_it_played),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
