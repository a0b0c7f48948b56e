/*
 * Lives of queues, drawn at random: clusters, tenants, policies, jobs with all that they can ask
 * for, services, windows, lost nodes, users who change their minds, in both worlds. What each call
 * answers and all that is decided is put down; the first lives are kept in whole, of the others
 * the counts and a digest, of the state at the end too (tests/kept/sched-lives.txt). The property
 * tests beside prove that the promises hold; here a rule that goes missing shows where they hold
 * without it. Between decisions the state is held against itself (keep/sound.c).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include <cmocka.h>

#include "kept.h"
#include "myriad/sched/events.h"
#include "myriad/sched/snapshot.h"
#include "myriad/sched/why.h"
#include "queue/lengths.h"
#include "queue/state.h"

enum {
    LIVES = TEST_ROUNDS(200),
    WHOLE = 6,
    JOBS_MAX = 96,
    NODES_MAX = 40,
    TENANTS = 5,
    PENDING_MAX = 256,
    CHANGES = 100
};

struct pending {
    enum myr_decision_kind kind;
    uint32_t job, epoch;
};

struct life {
    struct myr_rng rng;
    struct myr_place_shape shape;
    struct myr_queue_policy policy;
    struct myr_tenant tenants[TENANTS];
    uint32_t tenant_count, services, windows;
    struct myr_queue *queue;
    uint64_t exclude[JOBS_MAX];
    struct myr_request requests[JOBS_MAX];
    struct pending pending[PENDING_MAX];
    uint32_t pending_count;
    uint32_t starts, stops, replaces, refused, contradicts, decided;
    uint64_t hash; /* of the state at the end */
    int64_t now_s;
    struct myr_buf text;
};

static uint32_t below(struct life *l, uint32_t bound)
{
    return myr_rng_below(&l->rng, bound);
}

static bool one_in(struct life *l, uint32_t count)
{
    return below(l, count) == 0;
}

/* The highest and the lowest, and beyond. */
static int32_t odd_priority(struct life *l)
{
    return (one_in(l, 2) ? 1 : -1) * (MYR_PRIORITY_MAX + (int32_t)below(l, 2));
}

/* Now, and at times a second ago, which is refused. */
static int64_t odd_time(struct life *l)
{
    return l->now_s - one_in(l, 25);
}

static void put_rc(struct life *l, int rc)
{
    l->refused += rc < 0;
    myr_buf_printf(&l->text, " %s\n", rc < 0 ? myr_err_name(rc) : "ok");
}

/* --- what is decided */

static void put_gang(struct life *l, uint32_t id)
{
    const struct myr_gang *gang = myr_queue_gang(l->queue, id);
    for (uint32_t i = 0; gang && i < gang->count; i++) {
        myr_buf_printf(&l->text, " %u:%llx", gang->shares[i].node,
                       (unsigned long long)gang->shares[i].gpus);
    }
}

static void put_decision(struct life *l, const struct myr_decision *d)
{
    static const char *const kinds[] = {"start", "stop", "replace"};
    myr_buf_printf(&l->text, "  %s %u.%u", kinds[d->kind], d->job, d->epoch);
    if (d->kind == MYR_DECIDE_STOP) {
        myr_buf_printf(&l->text, " reason %d by %d", (int)d->reason, (int)d->by);
        l->stops++;
    } else if (d->kind == MYR_DECIDE_REPLACE) {
        myr_buf_printf(&l->text, " node %u by %u", d->node, d->spare);
        l->replaces++;
    } else {
        put_gang(l, d->job);
        l->starts++;
    }
    myr_buf_putc(&l->text, '\n');
    if (l->pending_count < PENDING_MAX) {
        l->pending[l->pending_count++] = (struct pending){d->kind, d->job, d->epoch};
    }
}

static void put_jobs(struct life *l)
{
    static const char states[] = "wrdstchb";
    for (uint32_t id = 0; id < myr_queue_jobs(l->queue); id++) {
        struct myr_job_view view;
        int rc = myr_queue_view(l->queue, id, &view);
        if (rc < 0) {
            myr_buf_puts(&l->text, " -");
            continue;
        }
        myr_buf_printf(&l->text, " %c%d", states[view.state], (int)view.result);
        if (view.state != MYR_JOB_DONE) {
            myr_buf_printf(&l->text, "/%u/%d/%u/%u/%u/%lld/%lld/%d", view.gpus, view.priority,
                           view.epoch, view.attempts, view.leaving, (long long)view.saved_s,
                           (long long)myr_queue_waited_s(l->queue, l->now_s, id),
                           (int)myr_queue_owner(l->queue, id));
        }
    }
    myr_buf_puts(&l->text, "\n  closed");
    for (uint32_t node = 0; node < l->shape.nodes; node++) {
        if (myr_queue_closed(l->queue, node)) {
            myr_buf_printf(&l->text, " %u", node);
        }
    }
    myr_buf_printf(&l->text, "; waiting %u, drained %lld\n", myr_queue_waiting(l->queue),
                   (long long)myr_queue_drained_gpu_s(l->queue));
}

static void put_why(struct life *l)
{
    uint32_t id = below(l, myr_queue_jobs(l->queue) + 1);
    static struct myr_why why;
    myr_queue_why(l->queue, l->now_s, id, &why);
    myr_buf_printf(&l->text, "  why %u %s: ", id, myr_why_name(why.kind));
    if (why.kind != MYR_WHY_NOTHING) {
        myr_why_text(&why, id, &l->text);
    }
    myr_buf_putc(&l->text, '\n');
}

static void decide(struct life *l)
{
    uint32_t count = 0;
    const struct myr_decision *d = myr_queue_decide(l->queue, l->now_s, &count);
    for (uint32_t i = 0; i < count; i++) {
        put_decision(l, &d[i]);
    }
    myr_buf_printf(&l->text, "  wake %lld;", (long long)myr_queue_wake_s(l->queue));
    put_jobs(l);
    if (l->decided++ % 8 == 0) {
        assert_true(queue_is_sound(l->queue));
    }
    if (one_in(l, 4)) {
        put_why(l);
    }
}

/* --- jobs */

static struct myr_queue_job draw_job(struct life *l)
{
    uint32_t per = l->shape.gpus_per_node, all = l->shape.nodes * per;
    uint32_t known = myr_queue_jobs(l->queue);
    struct myr_queue_job job = {.tenant = below(l, l->tenant_count + (one_in(l, 40) ? 1 : 0)),
                                .gpus = below(l, 3) ? 1 + below(l, 2 * per) : 1 + below(l, all),
                                .priority = one_in(l, 30) ? odd_priority(l)
                                            : below(l, 3) ? 0
                                                          : (int32_t)below(l, 5) - 2,
                                .limit_s = below(l, 2) ? 100 + below(l, 4000) : 0,
                                .attempts_max = below(l, 4),
                                .fixed = one_in(l, 8),
                                .reclaims = one_in(l, 8),
                                .restart_epoch = one_in(l, 3),
                                .held = one_in(l, 12)};
    if (one_in(l, 6)) {
        job.gpus_min = 1 + below(l, job.gpus);
    }
    if (known > 0 && one_in(l, 6)) {
        job.after_kind = one_in(l, 2) ? MYR_AFTER_OK : MYR_AFTER_ANY;
        job.after = below(l, known + (one_in(l, 10) ? 2 : 0));
    }
    if (known < JOBS_MAX && one_in(l, 4)) {
        struct myr_request *request = &l->requests[known];
        *request = (struct myr_request){.nodes = 1 + below(l, 1 + l->shape.nodes / 2)};
        request->gpus_per_node = one_in(l, 3) ? 1 + below(l, per) : 0;
        request->limited = one_in(l, 3);
        request->within = (enum myr_level)below(l, MYR_LEVEL_COUNT);
        request->leaf_max = one_in(l, 4) ? 1 + below(l, 3) : 0;
        request->kind_given = one_in(l, 4);
        request->kind = (uint8_t)below(l, 2);
        if (one_in(l, 4)) {
            l->exclude[known] = (uint64_t)below(l, 1U << 20) & below(l, 1U << 20);
            request->exclude = &l->exclude[known];
        }
        job.request = request;
        job.gpus = request->nodes * (request->gpus_per_node ? request->gpus_per_node : per);
        job.gpus_min = 0;
    }
    return job;
}

static void submit(struct life *l)
{
    struct myr_queue_job job = draw_job(l);
    struct myr_err err = {};
    uint32_t id = 0, count = one_in(l, 8) ? 1 + below(l, 5) : 0;
    int rc =
        count ? myr_queue_submit_array(l->queue, odd_time(l), &job, count, below(l, 3), &id, &err)
              : myr_queue_submit(l->queue, odd_time(l), &job, &id, &err);
    myr_buf_printf(&l->text, "%lld submit %u: tenant %u gpus %u-%u priority %d%s%s",
                   (long long)l->now_s, id, job.tenant, job.gpus_min, job.gpus, job.priority,
                   job.request ? " request" : "", count ? " array" : "");
    myr_buf_printf(&l->text, " %s", rc < 0 ? err.message : "");
    put_rc(l, rc);
}

/* What users ask, of any job, the right ones and others. */
static void ask(struct life *l)
{
    uint32_t id = below(l, myr_queue_jobs(l->queue) + 1), what = below(l, 6), number;
    myr_buf_printf(&l->text, "%lld ask %u of %u", (long long)l->now_s, what, id);
    switch (what) {
    case 0:
        put_rc(l, myr_queue_cancel(l->queue, odd_time(l), id));
        return;
    case 1:
        put_rc(l, myr_queue_hold(l->queue, odd_time(l), id, true));
        return;
    case 2:
        put_rc(l, myr_queue_hold(l->queue, odd_time(l), id, false));
        return;
    case 3:
        number = below(l, 210);
        myr_buf_printf(&l->text, " to %d", (int)number - 105);
        put_rc(l, myr_queue_reprioritise(l->queue, odd_time(l), id, (int32_t)number - 105));
        return;
    case 4:
        number = below(l, l->shape.nodes * l->shape.gpus_per_node + 2);
        myr_buf_printf(&l->text, " to %u", number);
        put_rc(l, myr_queue_resize(l->queue, odd_time(l), id, number));
        return;
    default:
        put_rc(l, one_in(l, 2) ? myr_queue_finish(l->queue, odd_time(l), id)
                               : myr_queue_succeeded(l->queue, odd_time(l), id));
        return;
    }
}

/* --- nodes, services, windows, tenants */

static void change_node(struct life *l)
{
    uint32_t node = below(l, l->shape.nodes + (one_in(l, 20) ? 1 : 0)), what = below(l, 7);
    uint32_t nodes[3] = {node, below(l, l->shape.nodes), below(l, l->shape.nodes)};
    myr_buf_printf(&l->text, "%lld node %u change %u", (long long)l->now_s, node, what);
    switch (what) {
    case 0:
        put_rc(l, myr_queue_lost(l->queue, odd_time(l), nodes, 1 + below(l, 3)));
        return;
    case 1:
        put_rc(l, myr_queue_fenced(l->queue, odd_time(l), node));
        return;
    case 2:
        put_rc(l, myr_queue_drain(l->queue, odd_time(l), node, one_in(l, 2)));
        return;
    case 3:
        put_rc(l, myr_queue_set_kind(l->queue, node, (uint8_t)below(l, 2)));
        return;
    case 4:
        put_rc(l, myr_queue_set_penalty(l->queue, node, below(l, 900)));
        return;
    default:
        put_rc(l, myr_queue_back(l->queue, odd_time(l), node));
        return;
    }
}

static void change_service(struct life *l)
{
    struct myr_err err = {};
    uint32_t id = below(l, l->services + 1);
    myr_buf_printf(&l->text, "%lld service %u", (long long)l->now_s, id);
    if (id == l->services && l->services < 3) {
        struct myr_service service = {.tenant = below(l, l->tenant_count + one_in(l, 8)),
                                      .gpus = below(l, l->shape.gpus_per_node + 2),
                                      .replicas_max = 1 + below(l, 4),
                                      .priority = one_in(l, 6) ? odd_priority(l) : 3};
        service.replicas_min = below(l, service.replicas_max + 2);
        int rc = myr_queue_serve(l->queue, odd_time(l), &service, &id, &err);
        l->services += rc == MYR_OK;
        myr_buf_printf(&l->text, " %s", rc < 0 ? err.message : "begins");
        put_rc(l, rc);
    } else if (one_in(l, 6)) {
        put_rc(l, myr_queue_unserve(l->queue, odd_time(l), id));
    } else {
        uint32_t wanted = below(l, 6);
        myr_buf_printf(&l->text, " to %u, %u run", wanted, myr_queue_serving(l->queue, id));
        put_rc(l, myr_queue_scale(l->queue, odd_time(l), id, wanted));
    }
}

static void change_rest(struct life *l)
{
    struct myr_err err = {};
    struct myr_window window = {.first = below(l, l->shape.nodes),
                                .count = 1 + below(l, 4),
                                .start_s = l->now_s + below(l, 3000),
                                .drain_s = below(l, 2000)};
    window.end_s = window.start_s + below(l, 3000);
    uint32_t what = below(l, 4);
    myr_buf_printf(&l->text, "%lld change %u", (long long)l->now_s, what);
    if (what == 0) {
        int rc = myr_queue_maintain(l->queue, &window, &err);
        myr_buf_printf(&l->text, " %s", rc < 0 ? err.message : "a window");
        put_rc(l, rc);
    } else if (what == 1) {
        put_rc(l, myr_queue_cancel_window(l->queue, odd_time(l), below(l, 4)));
    } else if (what == 2) {
        uint32_t tenant = below(l, l->tenant_count + 1), weight = below(l, 5);
        int rc = myr_queue_set_weight(l->queue, odd_time(l), tenant, weight, &err);
        myr_buf_printf(&l->text, " %s", rc < 0 ? err.message : "a weight");
        put_rc(l, rc);
    } else {
        uint32_t spares = below(l, 3);
        myr_queue_keep_spares(l->queue, spares);
        myr_buf_printf(&l->text, " %u spares", spares);
        put_rc(l, MYR_OK);
    }
}

/* --- what comes true */

static void confirm(struct life *l)
{
    if (l->pending_count == 0) {
        return;
    }
    uint32_t which = one_in(l, 2) ? 0 : below(l, l->pending_count), how = below(l, 12);
    struct pending p = l->pending[which];
    l->pending_count--;
    memmove(&l->pending[which], &l->pending[which + 1],
            (l->pending_count - which) * sizeof(struct pending));
    const struct myr_gang *gang = myr_queue_gang(l->queue, p.job);
    uint32_t node = gang && gang->count && one_in(l, 2) ? gang->shares[0].node : MYR_NONE;
    p.epoch += how == 11 ? (one_in(l, 2) ? 1 : UINT32_MAX) : 0;
    myr_buf_printf(&l->text, "%lld confirm %d %u.%u how %u", (long long)l->now_s, (int)p.kind,
                   p.job, p.epoch, how);
    if (p.kind == MYR_DECIDE_STOP) {
        put_rc(l, myr_queue_stopped(l->queue, odd_time(l), p.job, p.epoch, MYR_NONE));
    } else if (how == 0) {
        put_rc(l, myr_queue_mend(l->queue, odd_time(l), p.job, p.epoch, &node, node != MYR_NONE));
    } else {
        put_rc(l, myr_queue_started(l->queue, odd_time(l), p.job, p.epoch));
    }
}

static void job_exits(struct life *l)
{
    uint32_t id = 0;
    struct myr_job_view view = {};
    for (uint32_t tries = 0; tries < 12 && view.state != MYR_JOB_RUNS; tries++) {
        id = below(l, myr_queue_jobs(l->queue) + 1);
        view = (struct myr_job_view){};
        (void)!myr_queue_view(l->queue, id, &view);
    }
    enum myr_exit how = (enum myr_exit)(below(l, 5) < 3 ? 0 : 1 + below(l, 2));
    myr_buf_printf(&l->text, "%lld exit %u.%u as %d", (long long)l->now_s, id, view.epoch,
                   (int)how);
    put_rc(l, l->policy.confirm || one_in(l, 6)
                  ? myr_queue_exited(l->queue, odd_time(l), id, view.epoch, how)
                  : myr_queue_finish(l->queue, odd_time(l), id));
}

static void step(struct life *l)
{
    uint32_t what = below(l, 24);
    int64_t wake_s = myr_queue_wake_s(l->queue);
    if (what < 7 && myr_queue_jobs(l->queue) + 8 < JOBS_MAX) {
        submit(l);
    } else if (what < 12 && (l->policy.confirm || one_in(l, 8))) {
        confirm(l);
    } else if (what < 14) {
        job_exits(l);
    } else if (what < 16) {
        ask(l);
    } else if (what < 18) {
        change_node(l);
    } else if (what == 18) {
        change_service(l);
    } else if (what == 19) {
        change_rest(l);
    } else if (what == 20 && wake_s < INT64_MAX) {
        l->now_s = wake_s > l->now_s ? wake_s : l->now_s;
        myr_buf_printf(&l->text, "%lld woken\n", (long long)l->now_s);
    } else {
        l->now_s += 1 + below(l, 1500);
        myr_buf_printf(&l->text, "%lld later\n", (long long)l->now_s);
    }
    decide(l);
}

/* --- lives */

static void draw_world(struct life *l)
{
    l->shape.nodes = 3 + below(l, NODES_MAX - 3);
    l->shape.gpus_per_node = 1U << below(l, 4);
    l->shape.group_nodes = 1 + below(l, 6);
    uint32_t groups = (l->shape.nodes + l->shape.group_nodes - 1) / l->shape.group_nodes;
    l->shape.pod_nodes = l->shape.group_nodes * (1 + below(l, groups));
    l->policy = myr_queue_policy_preset((enum myr_queue_preset)below(l, 4));
    if (one_in(l, 2)) { /* quicker than in life, so that more happens */
        l->policy.patience_s = 2000;
        l->policy.hold_s = 1 + below(l, 500);
        l->policy.locality_s = below(l, 2000);
        l->policy.stop_after_s = below(l, 300);
        l->policy.level_s = 100 + below(l, 1000);
        l->policy.run_min_s = below(l, 300);
        l->policy.keep_s = below(l, 3000);
        l->policy.avoid_s = below(l, 1000);
    }
    l->policy.confirm = one_in(l, 2);
    l->tenant_count = 1 + below(l, TENANTS);
    for (uint32_t t = 0; t < l->tenant_count; t++) {
        l->tenants[t] = (struct myr_tenant){.parent = t && one_in(l, 3) ? below(l, t) : MYR_NONE,
                                            .weight = below(l, 3)};
        l->tenants[t].cells[MYR_CELL_NODE] = one_in(l, 3) ? below(l, 2) : 0;
        l->tenants[t].cells[MYR_CELL_GROUP] = one_in(l, 6) ? 1 : 0;
    }
}

/* --- what is left of it, stored */

/*
 * A word of the stored state becomes another, under a checksum that is right. Not of the lengths of
 * jobs that were seen: they are most of the state, and say nothing of the rest.
 */
static void change_word(struct life *l, struct myr_buf *bytes, size_t lengths_at)
{
    const size_t crc_at = 32, body = 48; /* behind the head and the section's own */
    const size_t left_out = sizeof(struct lengths) & ~(size_t)3;
    size_t at = 4 * (size_t)below(l, (uint32_t)(bytes->len - body - left_out) / 4);
    at += body + at < lengths_at ? 0 : left_out;
    char *place = bytes->data + body + at;
    uint32_t word;
    memcpy(&word, place, sizeof(word));
    const uint32_t other[] = {word + 1, word - 1, word ^ 1U << below(l, 32), 0, MYR_NONE};
    word = other[below(l, MYR_ARRAY_COUNT(other))];
    memcpy(place, &word, sizeof(word));
    uint32_t crc = (uint32_t)crc32_z(0, (const Bytef *)bytes->data + body, bytes->len - body);
    memcpy(bytes->data + crc_at, &crc, sizeof(crc));
}

/*
 * It comes back as it was. How many of the states that were made up contradict themselves: a rule
 * that is not looked at any more lets some of them in.
 */
static void put_stored(struct life *l)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf changed = {};
    struct myr_queue *back = NULL;
    struct myr_err err = {};
    uint32_t refused = 0;
    myr_queue_save(l->queue, &bytes);
    assert_int_equal(myr_queue_load((struct myr_str){bytes.data, bytes.len}, &back, &err), MYR_OK);
    assert_true(myr_queue_equal(l->queue, back));
    myr_queue_free(back);
    const char *lengths = memmem(bytes.data, bytes.len, l->queue->lengths, sizeof(struct lengths));
    assert_non_null(lengths);
    for (uint32_t i = 0; i < CHANGES; i++) {
        myr_buf_clear(&changed);
        myr_buf_put(&changed, bytes.data, bytes.len);
        change_word(l, &changed, (size_t)(lengths - bytes.data));
        if (myr_queue_load((struct myr_str){changed.data, changed.len}, &back, &err) < 0) {
            refused++;
        } else {
            myr_queue_free(back);
        }
    }
    myr_buf_printf(&l->text, "of %u words that changed %u are refused\n", CHANGES, refused);
    l->contradicts = refused;
}

/* A life of so many steps; what lies in l->text is its story. */
static void live(struct life *l, uint64_t seed, uint32_t steps)
{
    struct myr_err err = {};
    *l = (struct life){};
    myr_rng_init(&l->rng, seed, 61);
    draw_world(l);
    int rc = myr_queue_create(&l->shape, &l->policy, l->tenants, l->tenant_count, &l->queue, &err);
    myr_buf_printf(&l->text, "%u nodes of %u in %u in %u, %u tenants, %s\n", l->shape.nodes,
                   l->shape.gpus_per_node, l->shape.group_nodes, l->shape.pod_nodes,
                   l->tenant_count,
                   rc < 0              ? err.message
                   : l->policy.confirm ? "confirmed"
                                       : "");
    for (uint32_t i = 0; rc == MYR_OK && i < steps; i++) {
        step(l);
    }
    if (rc == MYR_OK) {
        l->hash = myr_queue_hash(l->queue);
        put_stored(l);
        myr_queue_free(l->queue);
    }
}

static uint64_t digest(const struct myr_buf *text)
{
    uint64_t hash = 14695981039346656037ULL;
    for (size_t i = 0; i < text->len; i++) {
        hash = (hash ^ (unsigned char)text->data[i]) * 1099511628211ULL;
    }
    return hash;
}

/* Every number of the policies that users name. */
static void put_presets(struct myr_buf *ret)
{
    for (uint32_t i = MYR_QUEUE_FIFO; i <= MYR_QUEUE_PREEMPT; i++) {
        struct myr_queue_policy p = myr_queue_policy_preset((enum myr_queue_preset)i);
        const int64_t numbers[] = {p.loss_permille, p.patience_s,   p.hold_s,  p.locality_s,
                                   p.checkpoint_s,  p.restart_s,    p.level_s, p.run_min_s,
                                   p.yield_s,       p.stop_after_s, p.keep_s,  p.avoid_s};
        myr_buf_printf(ret, "preset %u: order %d%s%s%s:", i, (int)p.order, p.plain ? " plain" : "",
                       p.preempt ? " preempts" : "", p.confirm ? " confirms" : "");
        for (size_t k = 0; k < MYR_ARRAY_COUNT(numbers); k++) {
            myr_buf_printf(ret, " %lld", (long long)numbers[k]);
        }
        myr_buf_putc(ret, '\n');
    }
}

static void lives(void **state)
{
    (void)state;
    struct life *l = malloc(sizeof(*l));
    struct myr_buf all = {};
    put_presets(&all);
    for (uint64_t seed = 0; seed < LIVES; seed++) {
        live(l, seed, seed < WHOLE ? 30 : 120);
        myr_buf_printf(
            &all,
            "life %llu: %u starts, %u stops, %u replaced, %u refused, %u of %u changes, %016llx\n",
            (unsigned long long)seed, l->starts, l->stops, l->replaces, l->refused, l->contradicts,
            CHANGES, (unsigned long long)(digest(&l->text) ^ l->hash));
        if (seed < WHOLE) {
            myr_buf_put(&all, l->text.data, l->text.len);
        }
        myr_buf_done(&l->text);
    }
    assert_kept_rounds("sched-lives.txt", &all);
    myr_buf_done(&all);
    free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
