/*
 * Lives of live worlds, drawn at random, under a core that is driven by hand: jobs, every fault by
 * its name, cancels, servers that end and take over. Each event and each effect with its time, and
 * what nodes and jobs say in the end; the first life is kept in whole, of the others the counts
 * and a digest (tests/kept/twin-lives.txt).
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

enum { LIVES = 48, STEPS = 40, JOBS_MAX = 40, MINUTE_MS = 60000 };

static const char *const worlds[] = {
    "cluster: {nodes: 12, leaf_nodes: 4}\npractice: best\nfence_fails_ppm: 0\njobs: []\n",
    "cluster: {nodes: 8, gpus_per_node: 4, leaf_nodes: 4}\nfaults: {rate: 4000}\n"
    "fence_fails_ppm: 300000\njobs: []\n",
    "cluster: {nodes: 10}\npractice: best\nreport_s: 10\n"
    "messages: {lost_ppm: 80000, twice_ppm: 80000, late_ppm: 80000, late_s: 20}\njobs: []\n",
    "cluster: {nodes: 9, leaf_nodes: 3}\npartitions: {per_day: 80, nodes: 2, minutes: 9}\n"
    "faults: {rate: 3000, shows: hang}\njobs: []\n",
};

struct life {
    struct myr_arena arena;
    struct myr_scenario scenario;
    struct myr_live *live;
    struct myr_control *control;
    struct myr_rng rng;
    uint64_t seed;
    int64_t now_ms, began_ms;
    struct myr_job_spec specs[JOBS_MAX];
    struct myr_live_run runs[JOBS_MAX];
    uint32_t jobs, events, effects, faults, takeovers;
    struct myr_buf text;
};

static uint32_t below(struct life *l, uint32_t bound)
{
    return myr_rng_below(&l->rng, bound);
}

static void give(struct life *l, int64_t at_ms, const struct myr_event *event)
{
    struct myr_err err = {};
    uint32_t count;
    l->events++;
    myr_buf_printf(&l->text, "%lld event %u code %u node %d job %d epoch %u boot %u %lld %lld\n",
                   (long long)(at_ms - l->began_ms), event->kind, event->code, (int)event->node,
                   (int)event->job, event->epoch, event->boot, (long long)event->value,
                   (long long)event->saved);
    if (myr_control_step(l->control, at_ms, event, &err) < 0) {
        fail_msg("life %llu: %s", (unsigned long long)l->seed, err.message);
    }
    const struct myr_effect *effects = myr_control_effects(l->control, &count);
    l->effects += count;
    for (uint32_t i = 0; i < count; i++) {
        const struct myr_effect *e = &effects[i];
        myr_buf_printf(&l->text, "  effect %u state %u reason %u node %d job %d.%u %u/%u %u %llx\n",
                       e->kind, e->state, e->reason, (int)e->node, (int)e->job, e->epoch,
                       e->first_rank, e->world, e->grace_s, (unsigned long long)e->gpus);
        myr_live_effect(l->live, e);
    }
}

static void on_event(void *context, int64_t at_ms, const struct myr_event *event)
{
    struct life *l = context;
    l->now_ms = at_ms > l->now_ms ? at_ms : l->now_ms;
    give(l, l->now_ms, event);
}

static void pass(struct life *l, int64_t ms)
{
    int64_t until_ms = l->now_ms + ms;
    for (;;) {
        int64_t wake_ms = myr_control_wake_ms(l->control), next_ms = myr_live_next_ms(l->live);
        int64_t at_ms = wake_ms < next_ms ? wake_ms : next_ms;
        if (at_ms > until_ms) {
            break;
        }
        l->now_ms = at_ms > l->now_ms ? at_ms : l->now_ms;
        myr_live_advance(l->live, l->now_ms, on_event, l);
        if (wake_ms <= l->now_ms) {
            give(l, l->now_ms, &(struct myr_event){.kind = MYR_EVENT_TICK});
        }
    }
    l->now_ms = until_ms;
    myr_live_advance(l->live, until_ms, on_event, l);
}

static void open_world(struct life *l)
{
    struct myr_err err = {};
    if (myr_live_create(&l->scenario, l->seed, l->now_ms, &l->live, &err) < 0) {
        fail_msg("%s", err.message);
    }
}

static void submit(struct life *l)
{
    static const uint32_t gpus[] = {1, 4, 8, 16, 24};
    uint32_t at = l->jobs;
    if (at == JOBS_MAX) {
        return;
    }
    l->specs[at] = (struct myr_job_spec){.token = 100 + at,
                                         .gpus = gpus[below(l, 5)],
                                         .restart = (uint8_t)below(l, 2),
                                         .retries = (uint8_t)below(l, 5),
                                         .lease_s = 60 + below(l, 600)};
    l->runs[at] =
        (struct myr_live_run){.work_ms = (1 + (int64_t)below(l, 60)) * MINUTE_MS,
                              .step_ms = 500 + below(l, 5000),
                              .interval_ms = below(l, 3) ? (int64_t)below(l, 10) * MINUTE_MS : 0,
                              .stall_ms = below(l, 9000)};
    l->jobs++;
    struct myr_err err = {};
    int rc = myr_live_submit(l->live, &l->specs[at], &l->runs[at], &err);
    myr_buf_printf(&l->text, "submit %u: %s\n", at, rc < 0 ? err.message : "ok");
    give(l, l->now_ms, &(struct myr_event){.kind = MYR_EVENT_SUBMIT, .spec = l->specs[at]});
}

static void strike(struct life *l)
{
    struct myr_err err = {};
    uint32_t node = below(l, l->scenario.shape.nodes + 1);
    const char *fault = myr_live_fault(below(l, 8), NULL);
    int rc = myr_live_inject(l->live, node, fault ? fault : "thunder", &err);
    l->faults += rc == MYR_OK;
    myr_buf_printf(&l->text, "%s on %u: %s\n", fault ? fault : "thunder", node,
                   rc < 0 ? err.message : "ok");
}

/* The server ends and another begins: the state goes over, the world is new. */
static void take_over(struct life *l)
{
    struct myr_err err = {};
    myr_live_free(l->live);
    open_world(l);
    for (uint32_t i = 0; i < l->jobs; i++) {
        (void)!myr_live_submit(l->live, &l->specs[i], &l->runs[i], &err);
    }
    if (myr_live_adopt(l->live, l->control, &err) < 0) {
        fail_msg("%s", err.message);
    }
    l->takeovers++;
    give(l, l->now_ms, &(struct myr_event){.kind = MYR_EVENT_TAKEOVER});
}

static void look(struct life *l)
{
    for (uint32_t n = 0; n < l->scenario.shape.nodes; n++) {
        struct myr_live_node view = myr_live_node(l->live, n);
        myr_buf_printf(&l->text, " %u:%d%d%d%d/%u/%u", n, view.up, view.cut, view.broken,
                       view.repairing, view.boot, view.ranks);
    }
    myr_buf_putc(&l->text, '\n');
    for (uint32_t id = 0; id < myr_control_jobs(l->control); id++) {
        struct myr_control_job job = myr_control_job(l->control, id);
        myr_buf_printf(&l->text, "  job %u state %u epoch %u step %lld saved %lld\n", id, job.state,
                       job.epoch, (long long)job.step, (long long)job.saved_step);
        uint64_t end = myr_live_log(l->live, id, below(l, 400), &l->text);
        myr_buf_printf(&l->text, "  log to %llu\n", (unsigned long long)end);
    }
}

static void step(struct life *l)
{
    uint32_t what = below(l, 16);
    if (what < 5) {
        submit(l);
    } else if (what < 8) {
        strike(l);
    } else if (what == 8 && l->jobs) {
        give(l, l->now_ms, &(struct myr_event){.kind = MYR_EVENT_CANCEL, .job = below(l, l->jobs)});
    } else if (what == 9) {
        take_over(l);
    } else if (what == 10) {
        look(l);
    }
    pass(l, (int64_t)below(l, 8) * MINUTE_MS);
}

static void live(struct life *l, uint64_t seed)
{
    const char *text = worlds[seed % MYR_ARRAY_COUNT(worlds)];
    struct myr_err err = {};
    *l = (struct life){.seed = seed};
    myr_rng_init(&l->rng, seed, 62);
    myr_arena_init(&l->arena);
    l->began_ms = l->now_ms = INT64_C(1800000000000);
    if (myr_scenario_parse(&l->scenario, &l->arena, "test.yaml", myr_str_from(text), &err) < 0 ||
        myr_control_create(&l->scenario.shape, &l->scenario.policy, 1, &l->control, &err) < 0) {
        fail_msg("%s", err.message);
    }
    open_world(l);
    for (uint32_t i = 0; i < (seed ? STEPS : STEPS / 8); i++) {
        step(l);
    }
    look(l);
    const char *first = NULL;
    if (myr_live_violations(l->live, &first) > 0) {
        fail_msg("life %llu: %s", (unsigned long long)seed, first);
    }
    myr_live_free(l->live);
    myr_control_free(l->control);
    myr_scenario_done(&l->scenario);
    myr_arena_done(&l->arena);
}

static uint64_t digest(const struct myr_buf *text)
{
    uint64_t hash = 14695981039346656037ULL;
    for (size_t i = 0; i < text->len; i++) {
        hash = (hash ^ (unsigned char)text->data[i]) * 1099511628211ULL;
    }
    return hash;
}

static void lives(void **state)
{
    (void)state;
    struct life *l = malloc(sizeof(*l));
    struct myr_buf all = {};
    for (uint64_t seed = 0; seed < LIVES; seed++) {
        live(l, seed);
        myr_buf_printf(&all, "life %llu: %u jobs, %u faults, %u takeovers, %u events, %u effects, ",
                       (unsigned long long)seed, l->jobs, l->faults, l->takeovers, l->events,
                       l->effects);
        myr_buf_printf(&all, "%016llx\n", (unsigned long long)digest(&l->text));
        if (seed == 0) {
            myr_buf_put(&all, l->text.data, l->text.len);
        }
        myr_buf_done(&l->text);
    }
    assert_kept("twin-lives.txt", &all);
    myr_buf_done(&all);
    free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
