#include "myriad/sched/why.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "myriad/text/amount.h"
#include "queue/state.h"

const char *myr_why_name(enum myr_why_kind kind)
{
    static const char *const names[] = {"nothing", "order",      "locality", "held",
                                        "closed",  "fragmented", "full",     "never"};
    MYR_ASSERT((size_t)kind < MYR_ARRAY_COUNT(names));
    return names[kind];
}

/*
 * Why a job waits. The cluster is looked at with more and more of the closed nodes opened: the
 * first look in which the job fits says what keeps it waiting.
 */

/* Whether so many whole nodes, and the largest remainder on another, hold the job. */
static bool holds_job(const struct myr_queue *q, uint32_t gpus, uint32_t whole, uint32_t largest)
{
    /* One whole node more holds any remainder. */
    uint32_t per = q->shape.gpus_per_node, rest = gpus % per;
    return whole > gpus / per || (whole == gpus / per && (rest == 0 || largest >= rest));
}

/* What is free on nodes whose closing is among the bits given. */
struct room {
    uint32_t gpus, whole, largest; /* free GPUs; whole free nodes; most on any other */
};

/*
 * With 0, what is open, or closed for nothing but that it is held for the job, which 'own' marks;
 * each bit adds nodes that are closed for that reason.
 */
static struct room room_with(const struct myr_queue *q, const uint8_t *own, uint32_t bits)
{
    struct room room = {};
    for (uint32_t n = 0; n < q->shape.nodes; n++) {
        if (q->closed[n] & ~(bits | (own[n] ? CLOSED_HOLD : 0))) {
            continue;
        }
        uint32_t count = gpu_count(myr_placer_free_mask(q->placer, n));
        room.gpus += count;
        room.whole += count == q->shape.gpus_per_node;
        if (count < q->shape.gpus_per_node && count > room.largest) {
            room.largest = count;
        }
    }
    return room;
}

/* Each room includes the one before, so the differences are what is held and what is closed. */
static enum myr_why_kind kind_of(const struct myr_queue *q, uint32_t id, struct myr_why *why)
{
    MYR_CLEANUP(myr_free_at) uint8_t *own = myr_xcalloc(q->shape.nodes, 1);
    const struct hold *hold = queue_hold_of(q, id);
    for (size_t i = 0; hold && i < hold->nodes.count; i++) {
        own[hold->nodes.items[i]] = 1;
    }
    struct room open = room_with(q, own, 0), held = room_with(q, own, CLOSED_HOLD);
    struct room all = room_with(q, own, CLOSED_HOLD | CLOSED_SPARE | CLOSED_BAD);
    /* Each look opens nodes, and closes none. */
    MYR_ASSERT(open.whole <= held.whole);
    MYR_ASSERT(held.whole <= all.whole);
    MYR_ASSERT(open.gpus <= all.gpus);
    why->gpus_free = open.gpus;
    why->nodes_free = open.whole;
    why->nodes_held = held.whole - open.whole;
    why->nodes_shut = all.whole - held.whole;
    if (holds_job(q, why->gpus, open.whole, open.largest)) {
        return queue_may_start(q, id) ? MYR_WHY_ORDER : MYR_WHY_LOCALITY;
    }
    if (holds_job(q, why->gpus, held.whole, held.largest)) {
        return MYR_WHY_HELD;
    }
    if (holds_job(q, why->gpus, all.whole, all.largest)) {
        return MYR_WHY_CLOSED;
    }
    /* Enough GPUs, but in pieces; or too few. */
    return open.gpus >= why->gpus ? MYR_WHY_FRAGMENTED : MYR_WHY_FULL;
}

/* Jobs before it in its own line, and all of the lines that go first. */
static uint32_t count_ahead(const struct myr_queue *q, uint32_t id)
{
    const struct line *own = &q->lines.items[queue_job(q, id)->line];
    uint32_t ahead = 0;
    for (uint32_t at = queue_job(q, id)->previous; at != MYR_NONE;
         at = queue_job(q, at)->previous) {
        ahead++;
    }
    for (uint32_t i = q->busy_first; i != MYR_NONE; i = q->lines.items[i].next_busy) {
        const struct line *line = &q->lines.items[i];
        if (line != own && queue_line_before(q, line, own)) {
            for (uint32_t at = line->first; at != MYR_NONE; at = queue_job(q, at)->next) {
                ahead++;
            }
        }
    }
    return ahead;
}

/* Of the jobs that nodes are held for, but this one: who has most of them. */
static uint32_t most_held_for(const struct myr_queue *q, uint32_t id)
{
    uint32_t best = MYR_NONE;
    size_t most = 0;
    for (size_t i = 0; i < q->holds.count; i++) {
        if (q->holds.items[i].job != id && q->holds.items[i].nodes.count > most) {
            most = q->holds.items[i].nodes.count;
            best = q->holds.items[i].job;
        }
    }
    return best;
}

/* 0: the policy has no such moment. */
static int64_t after(const struct qjob *job, int64_t time_s)
{
    return time_s > 0 ? queue_after_s(job->since_s, time_s) : INT64_MAX;
}

/* As of q->now_s, which is the moment asked about. */
static void explain(struct myr_queue *q, int64_t now_s, uint32_t id, struct myr_why *ret)
{
    const struct qjob *job = queue_job(q, id);
    *ret = (struct myr_why){.gpus = job->spec.gpus,
                            .nodes = myr_place_nodes(q->placer, job->spec.gpus),
                            .held_for = MYR_NONE,
                            .now_s = now_s,
                            .waited_s = myr_queue_waited_s(q, now_s, id)};
    /* Who runs, is held or is over lacks nothing that a queue could give. */
    if (job->state != MYR_JOB_WAITS) {
        return;
    }
    bool gang = queue_is_gang(q, job->spec.gpus);
    ret->kind = kind_of(q, id, ret);
    ret->held_for = ret->nodes_held ? most_held_for(q, id) : MYR_NONE;
    ret->own_nodes = queue_own_nodes(q, job->spec.tenant, &ret->own_free);
    /* Lines are ranked as of now, with the tenants' shares as they are. */
    ret->ahead = count_ahead(q, id);
    struct node_ages ages;
    queue_count_ages(q, &ages);
    ret->hold_s =
        after(job, queue_hold_s(q, job->spec.gpus, queue_drain_s(&ages, queue_nodes_of(q, job))));
    ret->anywhere_s =
        gang ? after(job, queue_locality_s(q, job->spec.gpus, q->policy.locality_s)) : INT64_MAX;
}

/* The jobs whose end would start it, for those who read only that. */
static void sum_up(struct myr_why *why)
{
    for (uint32_t i = 0; i < why->trial_count; i++) {
        const struct myr_trial *t = &why->trials[i];
        if (t->kind != MYR_TRIAL_END_JOB && t->kind != MYR_TRIAL_END_JOBS) {
            continue;
        }
        /* The last of them counts: several are tried only where one was not enough. */
        why->stop_count = t->job_count;
        why->stop_gpus = t->gpus;
        for (uint32_t k = 0; k < t->job_count && k < MYR_WHY_STOPS_MAX; k++) {
            why->stops[k] = t->jobs[k];
        }
    }
}

void myr_queue_lacks(struct myr_queue *q, int64_t now_s, uint32_t id, struct myr_why *ret)
{
    *ret = (struct myr_why){.held_for = MYR_NONE};
    if (id >= q->job_count) {
        return;
    }
    /* Asked about a moment that no event has reached: the queue's own clock stays where it is. */
    int64_t clock_s = q->now_s;
    q->now_s = now_s > clock_s ? now_s : clock_s;
    explain(q, q->now_s, id, ret);
    q->now_s = clock_s;
}

void myr_queue_why(struct myr_queue *q, int64_t now_s, uint32_t id, struct myr_why *ret)
{
    myr_queue_lacks(q, now_s, id, ret);
    /* After the clock is back: trials take the time themselves. */
    ret->trial_count = myr_queue_trials(q, now_s, id, ret->trials);
    sum_up(ret);
}

/* One label and what stands behind it. */
MYR_PRINTF(3, 4)
static void put(const struct myr_why_sink *sink, const char *label, const char *fmt, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, fmt);
    vsnprintf(text, sizeof(text), fmt, arguments);
    va_end(arguments);
    sink->put(sink->context, label, text);
}

/* What it needs, what there is, and who is before it. */
static void put_room(const struct myr_why *why, const struct myr_why_sink *sink)
{
    put(sink, "needs", "%s on %s", MYR_COUNT(why->gpus, "GPU"), MYR_COUNT(why->nodes, "node"));
    put(sink, "free", "%s, %s%s%s%s%s", MYR_COUNT(why->gpus_free, "GPU"),
        MYR_COUNT(why->nodes_free, "whole node"), why->nodes_held ? "; held for others: " : "",
        why->nodes_held ? MYR_COUNT(why->nodes_held, "node") : "",
        why->nodes_shut ? "; empty but not in use: " : "",
        why->nodes_shut ? MYR_COUNT(why->nodes_shut, "node") : "");
    if (why->held_for != MYR_NONE) {
        put(sink, "held for", "job %u", why->held_for);
    }
    if (why->own_nodes) {
        put(sink, "own cells", "%s, %u of them unused", MYR_COUNT(why->own_nodes, "node"),
            why->own_free);
    }
    put(sink, "before it", "%s", MYR_COUNT(why->ahead, "job"));
}

/* In the order in which they were tried. */
static void put_changes(const struct myr_why *why, const struct myr_why_sink *sink)
{
    for (uint32_t i = 0; i < why->trial_count; i++) {
        struct myr_buf text = {};
        myr_trial_text(&why->trials[i], &sink->names, &text);
        sink->put(sink->context, i == 0 ? "would start" : "or", text.data);
        myr_buf_done(&text);
    }
    if (why->trial_count == 0) {
        put(sink, "would start", "no single change that was tried");
    }
}

/* A moment that is past or never comes is not told. */
static void put_time(const struct myr_why_sink *sink, const char *what, int64_t time_s,
                     int64_t now_s)
{
    char label[MYR_AMOUNT_BYTES + 8];
    if (time_s != INT64_MAX && time_s > now_s) {
        snprintf(label, sizeof(label), "in %s", MYR_DURATION(time_s - now_s));
        put(sink, label, "%s", what);
    }
}

const char *myr_why_words(enum myr_why_kind kind)
{
    static const char *const words[] = {
        [MYR_WHY_NOTHING] = "it does not wait",
        [MYR_WHY_ORDER] = "it fits and starts when its turn comes",
        [MYR_WHY_LOCALITY] = "it fits, but only spread over more leaves than it needs",
        [MYR_WHY_HELD] = "enough is free, but held for gangs that came before",
        [MYR_WHY_CLOSED] = ("it fits only with nodes that are not in use: spares, drained, in "
                            "maintenance, lost or never seen"),
        [MYR_WHY_FRAGMENTED] = "enough GPUs are free, but not on enough whole nodes",
        [MYR_WHY_FULL] = "too few GPUs are free",
        [MYR_WHY_NEVER] = "all of the cluster would not hold it",
    };
    MYR_ASSERT((size_t)kind < MYR_ARRAY_COUNT(words));
    MYR_ASSERT(words[kind]);
    return words[kind];
}

void myr_why_facts(const struct myr_why *why, const struct myr_why_sink *sink)
{
    put_room(why, sink);
    if (why->kind == MYR_WHY_NOTHING) {
        return;
    }
    put_changes(why, sink);
    put_time(sink, "nodes are held for it", why->hold_s, why->now_s);
    put_time(sink, "it takes nodes anywhere", why->anywhere_s, why->now_s);
}

static void put_line(void *context, const char *label, const char *text)
{
    myr_buf_printf(context, "  %-12s  %s\n", label, text);
}

void myr_why_text(const struct myr_why *why, uint32_t id, struct myr_buf *buf)
{
    myr_buf_printf(buf, "job %u has waited %s: %s\n", id, MYR_DURATION(why->waited_s),
                   myr_why_words(why->kind));
    myr_why_facts(why, &(struct myr_why_sink){.put = put_line, .context = buf});
}
