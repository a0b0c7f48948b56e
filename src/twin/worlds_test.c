/*
 * What came of a world still comes of it. A saved case holds the hash of its run, and people keep
 * cases for longer than they keep programs: whatever changes a draw, a time or a decision makes
 * them worthless. So worlds with every kind of trouble are held against what came of them when
 * somebody last looked (tests/kept/twin-worlds.txt); a change on purpose is a new version of the
 * core.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kept.h"
#include "myriad/twin.h"

/* Small ones, each with another trouble, and some with all of them. */
static const char *const worlds[] = {
    "cluster: {nodes: 8}\nhours: 6\njobs:\n  - {count: 9, gpus: 8, hours: 1}\n",
    "cluster: {nodes: 6, gpus_per_node: 4, leaf_nodes: 3}\nhours: 30\npolicy: fifo\n"
    "step_s: 3\nreport_s: 20\n"
    "jobs:\n  - {count: 6, gpus: {4: 2, 12: 1}, hours: [5, 9, 14], arrive_h: [1, 3]}\n"
    "  - {count: 2, gpus: 2, hours: 13, interval_s: 0}\n",
    "cluster: {nodes: 12, leaf_nodes: 4, pod_nodes: 8}\nhours: 20\npolicy: first-fit\nspares: 2\n"
    "faults: {rate: 2000, times: typical}\n"
    "jobs:\n  - {count: 12, gpus: {8: 1, 32: 1}, hours: 2, retries: 3}\n",
    "cluster: {nodes: 12, leaf_nodes: 4}\nhours: 24\npractice: best\n"
    "faults: {rate: 4000, shows: hang}\n"
    "jobs:\n  - {count: 10, gpus: {1: 3, 24: 1}, hours: [0.5, 1, 3], restart: epoch}\n",
    "cluster: {nodes: 10}\nhours: 24\npractice: best\nfaults: {rate: 5000, shows: node-lost}\n"
    "jobs:\n  - {count: 8, gpus: 16, hours: 2, restart: epoch, interval_s: 120, stall_s: 7}\n",
    "cluster: {nodes: 10}\nhours: 24\nfaults: {rate: 5000, shows: crash}\nfence_fails_ppm: 400000\n"
    "control: {restarts_in_place: 0, drain_permille: 300, suspect_s: 60, test_s: 900}\n"
    "jobs:\n  - {count: 8, gpus: {3: 1, 16: 1}, hours: 2, retries: 1}\n",
    "cluster: {nodes: 16, leaf_nodes: 4}\nhours: 12\n"
    "messages: {lost_ppm: 120000, twice_ppm: 90000, late_ppm: 150000, late_s: 45}\n"
    "jobs:\n  - {count: 20, gpus: {1: 1, 8: 1, 20: 1}, hours: 0.4, lease_s: 120}\n",
    "cluster: {nodes: 16, leaf_nodes: 4}\nhours: 12\npartitions: {per_day: 60, nodes: 3, "
    "minutes: 15}\n"
    "control: {reconnect_s: 30, start_window_s: 200, retry_s: 11, fence_retry_s: 40}\n"
    "jobs:\n  - {count: 20, gpus: {1: 1, 8: 1, 20: 1}, hours: 0.6, lease_s: 200}\n",
    "cluster: {nodes: 8}\nhours: 12\ncrashes: {per_day: 50, seconds: 200}\n"
    "faults: {rate: 1500}\n"
    "jobs:\n  - {count: 15, gpus: {4: 1, 16: 1}, hours: 0.5, cancel_ppm: 400000}\n",
    "cluster: {nodes: 8}\nhours: 12\ncrashes: {every_events: 37, seconds: 3}\n"
    "jobs:\n  - {count: 15, gpus: {4: 1, 16: 1}, hours: 0.5, limit_s: 1500}\n",
    "cluster: {nodes: 8}\nhours: 12\nclock: {per_day: 40, seconds: 1200, drift_permille: 60}\n"
    "partitions: {per_day: 30, nodes: 2}\n"
    "jobs:\n  - {count: 15, gpus: {4: 1, 16: 1}, hours: 0.5, lease_s: 90, limit_s: 4000}\n",
    "cluster: {nodes: 8}\nhours: 40\ndrains: {per_day: 12, hours: 1.5}\n"
    "maintenance:\n  - {first: 2, count: 3, at_h: 5, hours: 2, drain_h: 1}\n"
    "  - {first: 7, at_h: 9}\n"
    "jobs:\n  - {count: 12, gpus: {8: 1, 24: 1}, hours: 3, interval_s: 600}\n",
    "cluster: {nodes: 6}\nhours: 10\ntenants: 3\npolicy: preempt\n"
    "jobs:\n  - {count: 6, gpus: 24, hours: 1, tenant: 1, priority: -3, arrive_h: [0, 1]}\n"
    "  - {count: 6, gpus: 16, hours: 0.7, tenant: 2, priority: 4, arrive_h: [1, 4]}\n"
    "  - {count: 2, gpus: 8, hours: 1, service: true, cancel_ppm: 500000}\n",
    "cluster: {nodes: 6}\nhours: 10\ntenants: 3\npolicy: fair\nfaults: {rate: llama3}\n"
    "jobs:\n  - {count: 9, gpus: 24, hours: 1, tenant: 1}\n"
    "  - {count: 9, gpus: 16, hours: 0.7, tenant: 2}\n"
    "leave_out: {jobs: [0, 4, 5, 17], faults: [0]}\n",
    "cluster: {nodes: 14, leaf_nodes: 7, gpus_per_node: 3}\nhours: 36\npractice: best\n"
    "faults: {rate: 3000}\ncheck_every: 10\n"
    "messages: {lost_ppm: 60000, twice_ppm: 60000, late_ppm: 60000}\n"
    "partitions: {per_day: 20, nodes: 5}\ncrashes: {per_day: 20}\n"
    "clock: {per_day: 10, drift_permille: 30}\ndrains: {per_day: 8}\n"
    "maintenance:\n  - {first: 0, count: 4, at_h: 12, hours: 3, drain_h: 2}\n"
    "jobs:\n  - {count: 40, gpus: {1: 2, 3: 2, 12: 1}, hours: [0.2, 1, 4], restart: epoch}\n"
    "  - {count: 10, gpus: 21, hours: 3, priority: 2, retries: 0, cancel_ppm: 200000}\n"
    "leave_out: {partitions: [1], crashes: [0, 3], drains: [0], clock: [1]}\n",
};

static void put_figures(const struct myr_twin_result *r, struct myr_buf *text)
{
    myr_buf_printf(text, "  events %llu, effects %llu, until %lld ms\n",
                   (unsigned long long)r->events, (unsigned long long)r->effects,
                   (long long)r->end_ms);
    myr_buf_printf(text,
                   "  jobs: %u submitted, %u done, %u failed, %u cancelled, %u lost, "
                   "%u waiting, %u running\n",
                   r->submitted, r->done, r->failed, r->cancelled, r->lost, r->waiting, r->running);
    myr_buf_printf(text, "  wait %.6f, half %.6f, 99 of 100 %.6f h\n", r->wait_mean_h,
                   r->wait_p50_h, r->wait_p99_h);
    myr_buf_printf(text, "  in use %.6f, kept %.6f\n", r->gpu_utilisation, r->goodput);
    const struct {
        const char *name;
        uint64_t count;
    } counts[] = {{"failures", r->failures},     {"faults", r->faults},
                  {"crashes", r->crashes},       {"partitions", r->partitions},
                  {"fences", r->fences},         {"repairs", r->repairs},
                  {"drains", r->drains},         {"clock steps", r->clock_steps},
                  {"messages", r->messages},     {"lost", r->messages_lost},
                  {"twice", r->messages_twice},  {"late", r->messages_late},
                  {"recoveries", r->recoveries}, {"compared", r->compares},
                  {"violations", r->violations}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(counts); i++) {
        myr_buf_printf(text, "%s%s %llu", i ? ", " : "  ", counts[i].name,
                       (unsigned long long)counts[i].count);
    }
    myr_buf_put_lit(text, "\n  drawn");
    for (uint32_t i = 0; i < MYR_SCENARIO_LISTS; i++) {
        myr_buf_printf(text, " %llu", (unsigned long long)r->drawn[i]);
    }
    myr_buf_printf(text, "; recovered in %.3f, %.3f s\n", r->recovery_p50_s, r->recovery_p99_s);
    for (uint32_t i = 0; i < r->long_count; i++) {
        const struct myr_twin_long_job *job = &r->longest[i];
        myr_buf_printf(text, "  job %u: %u GPUs, %.6f h, %.6f useful, failed %u times\n", job->job,
                       job->gpus, job->hours, job->ettr, job->failures);
    }
    for (size_t i = 0; i < r->samples.count; i++) {
        const struct myr_twin_sample *s = &r->samples.items[i];
        myr_buf_printf(text, "  at %lld: %u busy, %u held, %u waiting, %u out, %llu failures\n",
                       (long long)s->now_ms, s->busy_gpus, s->held_gpus, s->waiting, s->nodes_out,
                       (unsigned long long)s->failures);
    }
    myr_buf_printf(text, "  hash %016llx, jobs %016llx\n", (unsigned long long)r->hash,
                   (unsigned long long)r->jobs_hash);
}

static void what_came_of_a_world_still_comes_of_it(void **state)
{
    (void)state;
    struct myr_buf text = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(worlds); i++) {
        struct myr_arena arena;
        struct myr_scenario scenario;
        struct myr_twin_result result;
        struct myr_buf snapshot = {};
        struct myr_err err = {};
        myr_arena_init(&arena);
        struct myr_twin_options options = {.seed = i + 1, .samples = 4, .snapshot = &snapshot};
        if (myr_scenario_parse(&scenario, &arena, "world", myr_str_from(worlds[i]), &err) < 0 ||
            myr_twin_run(&scenario, &options, &result, &err) < 0) {
            fail_msg("world %zu: %s", i, err.message);
        }
        myr_buf_printf(&text, "world %zu\n", i);
        put_figures(&result, &text);
        assert_true(snapshot.len > 0);
        assert_int_equal(result.violations, 0);
        myr_buf_done(&snapshot);
        myr_twin_result_done(&result);
        myr_scenario_done(&scenario);
        myr_arena_done(&arena);
    }
    assert_kept("twin-worlds.txt", &text);
    myr_buf_done(&text);
}

/* --- worlds that nobody thought of */

static uint32_t one_of(struct myr_rng *rng, uint32_t least, uint32_t most)
{
    return least + myr_rng_below(rng, most - least + 1);
}

static void put_jobs(struct myr_rng *rng, uint32_t nodes, uint32_t tenants, struct myr_buf *text)
{
    myr_buf_puts(text, "jobs:\n");
    for (uint32_t i = one_of(rng, 1, 3); i > 0; i--) {
        myr_buf_printf(text, "  - {count: %u, gpus: {%u: 2, %u: 1}, hours: [0.%u, 1, %u]",
                       one_of(rng, 2, 9), one_of(rng, 1, 8), one_of(rng, 9, 8 * nodes),
                       one_of(rng, 1, 9), one_of(rng, 2, 5));
        myr_buf_printf(text, ", restart: %s, tenant: %u, priority: %d, retries: %u, lease_s: %u",
                       one_of(rng, 0, 1) ? "epoch" : "strict", one_of(rng, 0, tenants - 1),
                       (int)one_of(rng, 0, 4) - 2, one_of(rng, 0, 6), one_of(rng, 60, 900));
        myr_buf_printf(text, ", interval_s: %u, stall_s: %u, cancel_ppm: %u, arrive_h: [0, %u]",
                       one_of(rng, 0, 1) * one_of(rng, 60, 900), one_of(rng, 0, 20),
                       one_of(rng, 0, 1) * one_of(rng, 0, 500000), one_of(rng, 1, 6));
        myr_buf_printf(text, ", limit_s: %u, service: %s}\n",
                       one_of(rng, 0, 1) * one_of(rng, 600, 9000),
                       one_of(rng, 0, 5) ? "false" : "true");
    }
}

/* Every trouble in one world of three, and all times and limits drawn. */
static void put_world(struct myr_rng *rng, struct myr_buf *text)
{
    static const char *const policies[] = {"fifo", "first-fit", "fair", "preempt"};
    static const char *const shows[] = {"by-class", "crash", "hang", "node-lost"};
    static const char *const practices[] = {"best", "common"};
    uint32_t nodes = one_of(rng, 2, 12), tenants = one_of(rng, 1, 3);
    myr_buf_printf(text, "cluster: {nodes: %u, leaf_nodes: %u}\nhours: %u\n", nodes,
                   one_of(rng, 1, nodes), one_of(rng, 4, 16));
    myr_buf_printf(text, "policy: %s\npractice: %s\ntenants: %u\nspares: %u\ncheck_every: %u\n",
                   policies[one_of(rng, 0, 3)], practices[one_of(rng, 0, 1)], tenants,
                   one_of(rng, 0, 1), one_of(rng, 20, 200));
    myr_buf_printf(text, "step_s: %u\nreport_s: %u\nfence_fails_ppm: %u\n", one_of(rng, 1, 20),
                   one_of(rng, 10, 120), one_of(rng, 0, 1) * one_of(rng, 0, 700000));
    myr_buf_printf(text, "faults: {rate: %u, shows: %s, times: %s}\n", one_of(rng, 100, 9000),
                   shows[one_of(rng, 0, 3)], one_of(rng, 0, 1) ? "drawn" : "typical");
    myr_buf_printf(text,
                   "control: {restarts_in_place: %u, drain_permille: %u, suspect_s: %u, test_s: %u,"
                   " reconnect_s: %u, start_window_s: %u, retry_s: %u, fence_retry_s: %u,"
                   " hang_s: %u, first_step_s: %u, clock_slack_s: %u, grace_s: %u}\n",
                   one_of(rng, 0, 3), one_of(rng, 0, 500), one_of(rng, 5, 90),
                   one_of(rng, 600, 9000), one_of(rng, 10, 200), one_of(rng, 100, 3000),
                   one_of(rng, 5, 60), one_of(rng, 20, 400), one_of(rng, 120, 900),
                   one_of(rng, 900, 5000), one_of(rng, 10, 90), one_of(rng, 0, 90));
    if (one_of(rng, 0, 2) == 0) {
        myr_buf_printf(text, "messages: {lost_ppm: %u, twice_ppm: %u, late_ppm: %u, late_s: %u}\n",
                       one_of(rng, 0, 150000), one_of(rng, 0, 150000), one_of(rng, 0, 150000),
                       one_of(rng, 1, 60));
    }
    if (one_of(rng, 0, 2) == 0) {
        myr_buf_printf(text, "partitions: {per_day: %u, nodes: %u, minutes: %u}\n",
                       one_of(rng, 5, 80), one_of(rng, 1, nodes), one_of(rng, 1, 40));
    }
    if (one_of(rng, 0, 2) == 0) {
        myr_buf_printf(text, "crashes: {per_day: %u, seconds: %u}\n", one_of(rng, 5, 60),
                       one_of(rng, 1, 900));
    }
    if (one_of(rng, 0, 2) == 0) {
        myr_buf_printf(text, "clock: {per_day: %u, seconds: %u, drift_permille: %u}\n",
                       one_of(rng, 1, 60), one_of(rng, 10, 2000), one_of(rng, 0, 80));
    }
    if (one_of(rng, 0, 2) == 0) {
        myr_buf_printf(text, "drains: {per_day: %u, hours: %u}\n", one_of(rng, 1, 30),
                       one_of(rng, 1, 4));
    }
    put_jobs(rng, nodes, tenants, text);
}

static void worlds_that_nobody_thought_of_stay_as_they_were(void **state)
{
    (void)state;
    enum { DRAWN = 60 };
    struct myr_buf all = {};
    for (uint64_t seed = 0; seed < DRAWN; seed++) {
        struct myr_arena arena;
        struct myr_scenario scenario;
        struct myr_twin_result r;
        struct myr_buf text = {};
        struct myr_err err = {};
        struct myr_rng rng;
        myr_arena_init(&arena);
        myr_rng_init(&rng, seed, 31);
        put_world(&rng, &text);
        struct myr_twin_options options = {.seed = seed, .samples = 3};
        if (myr_scenario_parse(&scenario, &arena, "drawn", (struct myr_str){text.data, text.len},
                               &err) < 0 ||
            myr_twin_run(&scenario, &options, &r, &err) < 0) {
            fail_msg("world %llu: %s\n%s", (unsigned long long)seed, err.message, text.data);
        }
        if (r.violations > 0) {
            fail_msg("world %llu breaks %s\n%s", (unsigned long long)seed, r.first_rule, text.data);
        }
        myr_buf_printf(&all, "drawn %llu of %u nodes\n", (unsigned long long)seed,
                       scenario.shape.nodes);
        put_figures(&r, &all);
        myr_buf_done(&text);
        myr_twin_result_done(&r);
        myr_scenario_done(&scenario);
        myr_arena_done(&arena);
    }
    assert_kept("twin-drawn.txt", &all);
    myr_buf_done(&all);
}

/* The page shows what the run came to: whole, for a world with long jobs and failures. */
static void the_page_of_a_run_is_as_it_was(void **state)
{
    (void)state;
    struct myr_arena arena;
    struct myr_scenario scenario;
    struct myr_twin_result result;
    struct myr_buf page = {};
    struct myr_err err = {};
    myr_arena_init(&arena);
    struct myr_twin_options options = {.seed = 5, .samples = 12};
    const char *world = worlds[MYR_ARRAY_COUNT(worlds) - 1];
    assert_int_equal(myr_scenario_parse(&scenario, &arena, "world", myr_str_from(world), &err),
                     MYR_OK);
    assert_int_equal(myr_twin_run(&scenario, &options, &result, &err), MYR_OK);
    myr_twin_page(&scenario, &result, &page);
    assert_kept("twin-page.html", &page);
    myr_buf_done(&page);
    myr_twin_result_done(&result);
    myr_scenario_done(&scenario);
    myr_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_came_of_a_world_still_comes_of_it),
        cmocka_unit_test(worlds_that_nobody_thought_of_stay_as_they_were),
        cmocka_unit_test(the_page_of_a_run_is_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
