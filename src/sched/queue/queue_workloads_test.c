/*
 * Workloads drawn at random, served to their end: jobs of heavy-tailed lengths come faster than a
 * small cluster can serve them, so that lines form, lengths are learned, nodes are held, guests run
 * on them, equals are stopped and nodes are lost. Every decision is put down with its time; kept
 * are the counts of each workload and a digest of its story (tests/kept/sched-workloads.txt). Other
 * tests prove that the promises hold; here a rule of the policy that goes missing shows where they
 * hold without it. Between decisions the state is held against itself (keep/sound.c).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kept.h"
#include "myriad/sched/events.h"
#include "myriad/sched/snapshot.h"
#include "myriad/sched/why.h"
#include "queue/state.h"

enum { WORKLOADS = 32, JOBS = 180, TENANTS = 4, SOUND_EVERY = 16 };

enum kind { COMES, ENDS, STARTED, STOPPED, LOST, BACK, WAKES };

struct event {
    enum kind kind;
    uint32_t job, epoch, node;
};

struct world {
    struct myr_rng rng;
    struct myr_queue *queue;
    struct myr_place_shape shape;
    struct myr_queue_policy policy;
    uint32_t tenants;
    int64_t now_s, long_s; /* 'long_s': the longest jobs */
    struct myr_heap events;
    MYR_VEC(struct event) said;
    int64_t length_s[JOBS];
    uint32_t starts, replaced, stops[MYR_STOP_FAILED + 1], done, decided;
    int64_t waited_s;
    struct myr_buf story;
};

static uint32_t below(struct world *w, uint32_t bound)
{
    return myr_rng_below(&w->rng, bound);
}

static bool one_in(struct world *w, uint32_t count)
{
    return below(w, count) == 0;
}

static void later(struct world *w, int64_t at_s, struct event event)
{
    myr_heap_push(&w->events, at_s, w->said.count);
    myr_vec_push(&w->said, event);
}

/* --- what is drawn */

static void draw_policy(struct world *w)
{
    static const enum myr_queue_preset presets[] = {MYR_QUEUE_PREEMPT, MYR_QUEUE_FAIR,
                                                    MYR_QUEUE_PREEMPT, MYR_QUEUE_FIRST_FIT,
                                                    MYR_QUEUE_FAIR,    MYR_QUEUE_FIFO};
    struct myr_queue_policy *p = &w->policy;
    *p = myr_queue_policy_preset(presets[below(w, MYR_ARRAY_COUNT(presets))]);
    p->plain = one_in(w, 2);
    p->confirm = one_in(w, 3);
    if (p->order == MYR_ORDER_FAIR && below(w, 4)) { /* so that all of it happens within days */
        p->patience_s = 3600 * (1 + below(w, 12));
        p->hold_s = below(w, 4000);
        p->locality_s = below(w, 4000);
        p->checkpoint_s = one_in(w, 4) ? 0 : 60 + below(w, 1800);
        p->restart_s = below(w, 300);
        p->level_s = 60 + below(w, 3600);
        p->run_min_s = below(w, 1800);
        p->yield_s = one_in(w, 3) ? 0 : below(w, 40000);
        p->stop_after_s = below(w, 1200);
        p->loss_permille = below(w, 200);
        p->keep_s = below(w, 4000);
    }
}

static void draw_world(struct world *w, struct myr_tenant *tenants)
{
    w->shape.nodes = 6 + below(w, 40);
    w->shape.gpus_per_node = one_in(w, 3) ? 4 : 8;
    w->shape.group_nodes = 1 + below(w, 6);
    w->shape.pod_nodes = w->shape.group_nodes * (1 + below(w, 6));
    w->tenants = 1 + below(w, TENANTS);
    for (uint32_t t = 0; t < w->tenants; t++) {
        tenants[t] = (struct myr_tenant){.parent = t && one_in(w, 3) ? below(w, t) : MYR_NONE,
                                         .weight = 1 + below(w, 4)};
        tenants[t].cells[MYR_CELL_NODE] = one_in(w, 4) ? 1 : 0;
    }
    draw_policy(w);
    w->long_s = 3600 << below(w, 5);
}

/* Most are short and small, few are very long or large. */
static struct myr_queue_job draw_job(struct world *w, uint32_t number, struct myr_request *request)
{
    uint32_t per = w->shape.gpus_per_node, all = (w->shape.nodes - 4) * per;
    struct myr_queue_job job = {.tenant = one_in(w, 3) ? 0 : below(w, w->tenants),
                                .gpus = one_in(w, 12)  ? 1 + below(w, all)
                                        : one_in(w, 4) ? per * (1 + below(w, 4))
                                                       : 1 + below(w, per),
                                .priority = one_in(w, 8) ? (int32_t)below(w, 3) - 1 : 0,
                                .fixed = one_in(w, 12),
                                .reclaims = one_in(w, 30),
                                .restart_epoch = one_in(w, 3)};
    int64_t length_s = w->long_s >> below(w, 10);
    w->length_s[number] = 1 + length_s + below(w, (uint32_t)length_s + 2);
    job.limit_s = one_in(w, 2) ? w->length_s[number] + below(w, 600) : 0;
    job.gpus_min = one_in(w, 10) ? 1 + below(w, job.gpus) : 0;
    if (one_in(w, 12)) {
        *request = (struct myr_request){.nodes = 1 + below(w, 4),
                                        .gpus_per_node = one_in(w, 2) ? 0 : 1 + below(w, per),
                                        .limited = one_in(w, 2),
                                        .within = one_in(w, 2) ? MYR_LEVEL_LEAF : MYR_LEVEL_POD,
                                        .leaf_max = one_in(w, 3) ? 1 + below(w, 2) : 0};
        job.request = request;
        job.gpus = request->nodes * (request->gpus_per_node ? request->gpus_per_node : per);
        job.gpus_min = 0;
    }
    return job;
}

/* --- what is decided */

static void take_start(struct world *w, const struct myr_decision *d)
{
    const struct myr_gang *gang = myr_queue_gang(w->queue, d->job);
    struct myr_job_view view = {};
    assert_int_equal(myr_queue_view(w->queue, d->job, &view), MYR_OK);
    for (uint32_t i = 0; i < gang->count; i++) {
        myr_buf_printf(&w->story, " %u:%llx", gang->shares[i].node,
                       (unsigned long long)gang->shares[i].gpus);
    }
    w->starts++;
    w->waited_s += myr_queue_waited_s(w->queue, w->now_s, d->job);
    int64_t delay_s = w->policy.confirm ? 1 + below(w, 20) : 0;
    int64_t work_s = w->length_s[d->job] > view.saved_s ? w->length_s[d->job] - view.saved_s : 1;
    if (w->policy.confirm) {
        later(w, w->now_s + delay_s, (struct event){STARTED, d->job, d->epoch, 0});
    }
    work_s += d->epoch > 1 ? w->policy.restart_s : 0;
    later(w, w->now_s + delay_s + work_s, (struct event){ENDS, d->job, d->epoch, 0});
}

static void take_decision(struct world *w, const struct myr_decision *d)
{
    myr_buf_printf(&w->story, "%lld decided %d %u.%u", (long long)w->now_s, (int)d->kind, d->job,
                   d->epoch);
    if (d->kind == MYR_DECIDE_START) {
        take_start(w, d);
    } else if (d->kind == MYR_DECIDE_STOP) {
        myr_buf_printf(&w->story, " reason %d by %d", (int)d->reason, (int)d->by);
        w->stops[d->reason]++;
        if (w->policy.confirm) {
            later(w, w->now_s + 1 + below(w, 60), (struct event){STOPPED, d->job, d->epoch, 0});
        }
    } else {
        myr_buf_printf(&w->story, " node %u by %u", d->node, d->spare);
        w->replaced++;
    }
    myr_buf_putc(&w->story, '\n');
}

/* It says of every job that waits what it lacks, of one now and then in full. */
static void put_why(struct world *w)
{
    static struct myr_why why;
    uint32_t id = below(w, myr_queue_jobs(w->queue));
    myr_queue_why(w->queue, w->now_s, id, &why);
    myr_buf_printf(&w->story, "why %u %s ", id, myr_why_name(why.kind));
    if (why.kind != MYR_WHY_NOTHING) {
        myr_why_text(&why, id, &w->story);
    }
    myr_buf_putc(&w->story, '\n');
}

/* What is held for a gang is closed to all others, whoever was let in and started meanwhile. */
static void check_holds(const struct myr_queue *q)
{
    for (size_t h = 0; h < q->holds.count; h++) {
        for (size_t i = 0; i < q->holds.items[h].nodes.count; i++) {
            assert_true(q->closed[q->holds.items[h].nodes.items[i]] & CLOSED_HOLD);
        }
    }
}

static void decide(struct world *w)
{
    uint32_t count = 0;
    const struct myr_decision *d = myr_queue_decide(w->queue, w->now_s, &count);
    for (uint32_t i = 0; i < count; i++) {
        take_decision(w, &d[i]);
    }
    int64_t wake_s = myr_queue_wake_s(w->queue);
    myr_buf_printf(&w->story, "  %u wait, %lld drained, wakes %lld\n", myr_queue_waiting(w->queue),
                   (long long)myr_queue_drained_gpu_s(w->queue), (long long)wake_s);
    if (w->decided++ % SOUND_EVERY == 0) {
        assert_true(queue_is_sound(w->queue));
    }
    check_holds(w->queue);
    if (myr_queue_jobs(w->queue) > 0 && one_in(w, 40)) {
        put_why(w);
    }
    if (wake_s != INT64_MAX) {
        later(w, wake_s > w->now_s ? wake_s : w->now_s + 1, (struct event){WAKES, 0, 0, 0});
    }
}

/* --- what happens */

static void job_comes(struct world *w, uint32_t number)
{
    struct myr_request request;
    struct myr_err err = {};
    uint32_t id = 0;
    struct myr_queue_job job = draw_job(w, number, &request);
    int rc = myr_queue_submit(w->queue, w->now_s, &job, &id, &err);
    if (rc < 0) { /* its number is the next one's, so it asks for less */
        job = (struct myr_queue_job){.gpus = 1};
        rc = myr_queue_submit(w->queue, w->now_s, &job, &id, NULL);
    }
    assert_int_equal(rc, MYR_OK);
    assert_int_equal(id, number);
}

static void job_ends(struct world *w, const struct event *e)
{
    struct myr_job_view view;
    if (myr_queue_view(w->queue, e->job, &view) < 0 || view.epoch != e->epoch ||
        (view.state != MYR_JOB_RUNS && view.state != MYR_JOB_STARTING)) {
        return; /* it was stopped before */
    }
    enum myr_exit how = w->policy.confirm && one_in(w, 20) ? MYR_EXIT_FAILED : MYR_EXIT_OK;
    int rc = w->policy.confirm ? myr_queue_exited(w->queue, w->now_s, e->job, e->epoch, how)
                               : myr_queue_finish(w->queue, w->now_s, e->job);
    myr_buf_printf(&w->story, "%lld ends %u.%u as %d: %d\n", (long long)w->now_s, e->job, e->epoch,
                   (int)how, rc);
    w->done += rc == MYR_OK && how == MYR_EXIT_OK;
}

static void happens(struct world *w, const struct event *e)
{
    int rc = MYR_OK;
    switch (e->kind) {
    case COMES:
        job_comes(w, e->job);
        break;
    case ENDS:
        job_ends(w, e);
        break;
    case STARTED:
        rc = one_in(w, 30) ? myr_queue_mend(w->queue, w->now_s, e->job, e->epoch, NULL, 0)
                           : myr_queue_started(w->queue, w->now_s, e->job, e->epoch);
        break;
    case STOPPED:
        rc = myr_queue_stopped(w->queue, w->now_s, e->job, e->epoch, MYR_NONE);
        break;
    case LOST:
        rc = myr_queue_lost(w->queue, w->now_s, &e->node, 1);
        break;
    case BACK: /* it was fenced, or is started again: what was left there is gone */
        rc = myr_queue_fenced(w->queue, w->now_s, e->node);
        rc = rc < 0 ? rc : myr_queue_back(w->queue, w->now_s, e->node);
        break;
    case WAKES:
        break;
    }
    myr_buf_printf(&w->story, "%lld event %d: %d\n", (long long)w->now_s, (int)e->kind, rc);
}

/* --- workloads */

static void draw_events(struct world *w)
{
    int64_t at_s = 0;
    uint32_t pace_s = 1 + (uint32_t)(w->long_s / 16 / (1 + w->shape.nodes / 4));
    for (uint32_t i = 0; i < JOBS; i++) {
        at_s += below(w, 2 * pace_s);
        later(w, at_s, (struct event){COMES, i, 0, 0});
    }
    for (uint32_t i = 0; i < 6; i++) {
        int64_t lost_s = below(w, (uint32_t)at_s);
        uint32_t node = below(w, w->shape.nodes);
        later(w, lost_s, (struct event){LOST, 0, 0, node});
        later(w, lost_s + 600 + below(w, 7200), (struct event){BACK, 0, 0, node});
    }
    struct myr_window window = {.first = below(w, w->shape.nodes - 1),
                                .count = 2,
                                .start_s = 3600 + below(w, (uint32_t)at_s),
                                .drain_s = below(w, 3600)};
    window.end_s = window.start_s + 1800;
    assert_int_equal(myr_queue_maintain(w->queue, &window, NULL), MYR_OK);
    myr_queue_keep_spares(w->queue, below(w, 3));
}

static void serve(struct world *w, uint64_t seed)
{
    const int64_t until_s = INT64_C(90) * 86400; /* some wait for what never comes */
    struct myr_tenant tenants[TENANTS];
    struct myr_heap_item item;
    *w = (struct world){};
    myr_rng_init(&w->rng, seed, 23);
    draw_world(w, tenants);
    assert_int_equal(myr_queue_create(&w->shape, &w->policy, tenants, w->tenants, &w->queue, NULL),
                     MYR_OK);
    draw_events(w);
    while (myr_heap_pop(&w->events, &item) && item.key < until_s) {
        struct event e = w->said.items[item.value];
        w->now_s = item.key;
        if (e.kind == WAKES && myr_queue_wake_s(w->queue) > w->now_s) {
            continue;
        }
        happens(w, &e);
        decide(w);
    }
    assert_true(queue_is_sound(w->queue));
}

static uint64_t digest(const struct myr_buf *text)
{
    uint64_t hash = 14695981039346656037ULL;
    for (size_t i = 0; i < text->len; i++) {
        hash = (hash ^ (unsigned char)text->data[i]) * 1099511628211ULL;
    }
    return hash;
}

static void put_world(struct world *w, uint64_t seed, struct myr_buf *all)
{
    myr_buf_printf(
        all, "workload %llu: %u nodes of %u by %u by %u, %u tenants, order %d%s%s: %u starts",
        (unsigned long long)seed, w->shape.nodes, w->shape.gpus_per_node, w->shape.group_nodes,
        w->shape.pod_nodes, w->tenants, (int)w->policy.order, w->policy.preempt ? " preempts" : "",
        w->policy.confirm ? " confirms" : "", w->starts);
    myr_buf_puts(all, ", stops");
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(w->stops); i++) {
        myr_buf_printf(all, " %u", w->stops[i]);
    }
    myr_buf_printf(all, ", %u replaced, %u done, %lld s waited, %lld drained, %u left, %016llx\n",
                   w->replaced, w->done, (long long)w->waited_s,
                   (long long)myr_queue_drained_gpu_s(w->queue), myr_queue_waiting(w->queue),
                   (unsigned long long)(digest(&w->story) ^ myr_queue_hash(w->queue)));
}

static void every_workload_is_served_as_before(void **state)
{
    (void)state;
    struct world *w = malloc(sizeof(*w));
    struct myr_buf all = {};
    for (uint64_t seed = 0; seed < TEST_ROUNDS(WORKLOADS); seed++) {
        serve(w, seed);
        put_world(w, seed, &all);
        myr_heap_done(&w->events);
        myr_vec_done(&w->said);
        myr_buf_done(&w->story);
        myr_queue_free(w->queue);
    }
    assert_kept_rounds("sched-workloads.txt", &all);
    myr_buf_done(&all);
    free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_workload_is_served_as_before)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
