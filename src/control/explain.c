/*
 * explain: what is known about one job or node, as short facts for people. Asks only; what needs
 * the queue's scratch space is asked of a copy.
 */
#include "myriad/control/explain.h"
#include "myriad/sched/events.h"

#include <stdio.h>

#include "myriad/sched/events.h"
#include "myriad/sched/why.h"
#include "myriad/text/amount.h"
#include "state.h"

MYR_PRINTF(3, 4)
static void put(struct myr_explanation *e, const char *what, const char *fmt, ...)
{
    MYR_ASSERT(what && fmt);
    MYR_ASSERT(e->count <= MYR_EXPLAIN_FACTS);
    /* Facts beyond the room for them are left out, never cut in the middle. */
    if (e->count < MYR_EXPLAIN_FACTS) {
        struct myr_explain_fact *fact = &e->facts[e->count++];
        va_list args;
        snprintf(fact->what, sizeof(fact->what), "%s", what);
        va_start(args, fmt);
        vsnprintf(fact->is, sizeof(fact->is), fmt, args);
        va_end(args);
    }
}

/* As the queue hands facts out. */
static void put_fact(void *context, const char *label, const char *text)
{
    MYR_ASSERT(context && label && text);
    put(context, label, "%s", text);
}

/* The queue does not look at who waits for another job: of those it would say that nothing keeps
 * them. */
static bool waits_for_another(const struct myr_control *c, uint32_t id)
{
    uint32_t after = job_of(c, id)->spec.after;
    MYR_ASSERT(after <= id); /* jobs wait only for jobs that came before them */
    const struct job *before = after > 0 ? job_find(c, after - 1) : NULL;
    return before && before->state != MYR_CONTROL_DONE; /* one that is forgotten was done */
}

/* As the core itself calls them. */
static void put_node(const void *context, uint32_t node, struct myr_buf *ret)
{
    (void)context;
    myr_buf_printf(ret, "node/%05u", node);
}

/*
 * The core's own time, as far as it has come by now. Whether the clock has stepped since the last
 * event shows with the next one.
 */
static int64_t steady_at_ms(const struct myr_control *c, int64_t now_ms)
{
    int64_t passed_ms = now_ms - c->head.wall_ms;
    return c->head.steady_ms + (passed_ms > 0 ? passed_ms : 0);
}

static int64_t steady_now_ms(const struct myr_control *c, const struct myr_explain_asker *asker)
{
    return steady_at_ms(c, asker->now_ms);
}

bool myr_control_starts(const struct myr_control *c, int64_t now_ms, const uint32_t *ids,
                        uint32_t count, uint32_t steps, struct myr_start_time *ret)
{
    int64_t now_s = steady_at_ms(c, now_ms) / 1000;
    if (!myr_queue_starts(c->queue, now_s, ids, count, steps, ret)) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        int64_t *const moments[] = {&ret[i].low_s, &ret[i].likely_s, &ret[i].high_s};
        for (size_t m = 0; m < MYR_ARRAY_COUNT(moments); m++) {
            *moments[m] -= *moments[m] == INT64_MAX ? 0 : now_s;
            MYR_ASSERT(*moments[m] >= 0);
        }
    }
    return true;
}

/* Worked out before, or now, or not at all. */
static void put_start(const struct myr_control *c, uint32_t id,
                      const struct myr_explain_asker *asker, struct myr_explanation *e)
{
    struct myr_start_time start;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    if (!asker->start && asker->start_steps == 0) {
        return;
    }
    if (asker->start) {
        start = *asker->start;
    } else if (!myr_control_starts(c, asker->now_ms, &id, 1, asker->start_steps, &start)) {
        put(e, "starts", "nobody can tell yet: too few jobs have ended");
        return;
    }
    myr_start_text(&start, 0, &text);
    put(e, "starts", "%s", text.data);
}

/* Asked of a copy: the queue uses its own scratch space to answer. */
static void put_why(const struct myr_control *c, uint32_t id, const struct myr_explain_asker *asker,
                    struct myr_explanation *e)
{
    if (waits_for_another(c, id)) {
        put(e, "awaits", "job/%u to be done", job_of(c, id)->spec.after - 1);
        put_start(c, id, asker, e);
        return;
    }
    int64_t date_s = myr_queue_reserved_s(c->queue, id);
    if (date_s >= 0) {
        int64_t left_s = date_s - steady_now_ms(c, asker) / 1000;
        put(e, "waits", "for its time, in %s: nodes are reserved then",
            MYR_DURATION(left_s > 0 ? left_s : 0));
        return;
    }
    MYR_CLEANUP(myr_control_cleanup) struct myr_control *copy = myr_control_fork(c);
    struct myr_why why;
    MYR_ASSERT(job_of(c, id)->state == MYR_CONTROL_QUEUED);
    myr_queue_why(copy->queue, steady_now_ms(c, asker) / 1000, id, &why);
    put(e, "waits", "%s", myr_why_words(why.kind));
    put_start(c, id, asker, e);
    myr_why_facts(&why, &(struct myr_why_sink){put_fact, e, asker->names});
}

/* Its place is kept: for it, though nodes of it are bad, or until others have left it. */
static bool put_place(const struct myr_control *c, uint32_t id,
                      const struct myr_explain_asker *asker, struct myr_explanation *e)
{
    struct myr_job_view view;
    if (myr_queue_view(c->queue, id, &view) < 0 || view.state != MYR_JOB_CLAIMS) {
        return false;
    }
    int64_t left_s = view.kept_until_s - steady_now_ms(c, asker) / 1000;
    if (view.bad > 0) {
        put(e, "keeps", "%u of its %s, for %s more", view.nodes - view.bad,
            MYR_COUNT(view.nodes, "node"), MYR_DURATION(left_s > 0 ? left_s : 0));
        put(e, "awaits", "%s in the place of bad ones, or these to be well again",
            MYR_COUNT(view.bad, "node"));
    } else {
        put(e, "awaits", "what still runs on its %s to end", MYR_COUNT(view.nodes, "node"));
    }
    return true;
}

/* By the asker's clock where it knows the moment; hours without a controller are in that. */
static int64_t since_submit_ms(const struct myr_control *c, const struct job *job,
                               const struct myr_explain_asker *asker)
{
    return asker->submitted_ms < 0 ? steady_now_ms(c, asker) - job->submitted_ms
                                   : asker->now_ms - asker->submitted_ms;
}

/* On how many nodes each of these is so; what none does is left out. */
static void put_ranks(const struct myr_control *c, uint32_t id, struct myr_explanation *e)
{
    static const struct {
        enum rank_state state;
        const char *is;
    } states[] = {{RANK_UP, "running"},
                  {RANK_GRANTED, "to be asked to start"},
                  {RANK_STARTING, "asked to start"},
                  {RANK_STOPPING, "asked to stop"},
                  {RANK_CLOSED, "ended"}};
    uint32_t counts[RANK_CLOSED + 1] = {}, silent = 0;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    const char *next = "; ";
    for (uint32_t r = job_of(c, id)->first_rank; r != MYR_NONE; r = slot_of(c, r)->next_in_job) {
        MYR_ASSERT(slot_of(c, r)->state <= RANK_CLOSED);
        counts[slot_of(c, r)->state]++;
        silent += rank_is_open(slot_of(c, r)) && node_of(c, slot_of(c, r)->node)->silent;
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(states); i++) {
        if (counts[states[i].state] > 0) {
            myr_buf_printf(&text, "%s%u %s", next, counts[states[i].state], states[i].is);
            next = ", ";
        }
    }
    if (silent > 0) {
        myr_buf_printf(&text, "; %u of these not heard now", silent);
    }
    put(e, "nodes", "%u%s", job_of(c, id)->ranks, text.data ? text.data : "");
}

/* From what it is to what it waits for. */
static void explain_job(const struct myr_control *c, uint32_t id,
                        const struct myr_explain_asker *asker, struct myr_explanation *e)
{
    const struct job *job = job_of(c, id);
    MYR_ASSERT(e->count == 0);
    put(e, "state", "%s", myr_control_job_state_name((enum myr_control_job_state)job->state));
    put(e, "asks for", "%s, priority %d, restart %s", MYR_COUNT(job->spec.gpus, "GPU"),
        job->spec.priority, job->spec.restart == MYR_RESTART_STRICT ? "strict" : "epoch");
    put(e, "submitted", "%s ago", MYR_DURATION(since_submit_ms(c, job, asker) / 1000));
    /* Without an epoch it has never started. */
    if (job->epoch > 0) {
        put(e, "incarnation", "%u, begun %s ago; %s of at most %u", job->epoch,
            MYR_DURATION((steady_now_ms(c, asker) - job->started_ms) / 1000),
            MYR_COUNT(job->failures, "failure"), job->spec.retries);
        if (job->state == MYR_CONTROL_DONE) {
            put(e, "progress", "all of its work; it last told of step %lld", (long long)job->step);
        } else {
            put(e, "progress", "step %lld, saved %lld", (long long)job->step,
                (long long)job->saved_step);
        }
    }
    if (job->ranks > 0) {
        put_ranks(c, id, e);
    }
    /* What it waits for, whoever has to do it. */
    if (job->suspects > 0) {
        put(e, "awaits", "tests of %s", MYR_COUNT(job->suspects, "node"));
    }
    if (job->after != AFTER_NONE && job->open > 0) {
        put(e, "awaits", "%s to end", MYR_COUNT(job->open, "rank"));
    }
    if (job->old_open > 0) {
        put(e, "left behind", "%s of older incarnations", MYR_COUNT(job->old_open, "rank"));
    }
    if (job->spec.held && !job_is_over(job)) {
        put(e, "held", "by a person: it starts when it is released, myriad job release %u", id);
    } else if (job->state == MYR_CONTROL_QUEUED && !put_place(c, id, asker, e)) {
        put_why(c, id, asker, e);
    }
}

/* Why it is used or not, then what is on it. */
static void explain_node(const struct myr_control *c, uint32_t id, struct myr_explanation *e)
{
    const struct node *node = node_of(c, id);
    MYR_ASSERT(e->count == 0);
    uint32_t drawn = 0;
    put(e, "state", "%s", myr_node_state_name(myr_control_node(c, id).state));
    if (node->boot == 0) {
        put(e, "heard", "never");
    } else {
        put(e, "heard", "%s, boot %u", node->silent ? "not now" : "yes", node->boot);
    }
    put(e, "used", "%s",
        node->drain & DRAIN_PERSON  ? "no: a person drains it"
        : node->drain & DRAIN_FAULT ? "no: it failed and is drained"
        : node->drain & DRAIN_HELD  ? "no: the scheduler below has it for others, or drains it"
        : node->bad                 ? "no: it failed, and the limit of drains leaves it to a person"
        : node->lost                ? "no: it was not heard for too long"
        : node->silent              ? "nothing new: it is silent"
        : node->testing             ? "nothing new: it is under test"
        : !node->checked            ? "no: it was never tested"
                                    : "yes");
    put(e, "blamed", "%s for failures, though tests were good", MYR_COUNT(node->blamed, "time"));
    /* A node may have many ranks of short jobs: some of them tell enough. */
    for (uint32_t at = node->first_rank; at != MYR_NONE && drawn < 16; drawn++) {
        const struct rank *rank = slot_of(c, at);
        MYR_ASSERT(rank->node == id && rank->state != RANK_FREE);
        put(e, "job", "job/%u, incarnation %u, %s%s", rank->job, rank->epoch,
            MYR_COUNT((uint64_t)__builtin_popcountll(rank->gpus), "GPU"),
            rank_is_open(rank) ? rank->old ? ", left behind" : "" : ", not running");
        at = rank->next_on_node;
    }
}

int myr_control_explain(const struct myr_control *c, const char *name,
                        const struct myr_explain_asker *asker, struct myr_explanation *ret,
                        struct myr_err *err)
{
    struct myr_explain_asker known =
        asker ? *asker : (struct myr_explain_asker){.now_ms = c->head.wall_ms, .submitted_ms = -1};
    /* Names as they are printed; leading zeros of a node's number do no harm. */
    bool job = strncmp(name, "job/", 4) == 0, node = strncmp(name, "node/", 5) == 0;
    uint64_t id = 0, count = job ? c->head.job_count : c->shape.nodes;
    *ret = (struct myr_explanation){};
    if ((!job && !node) || !myr_str_to_u64(myr_str_from(name + (job ? 4 : 5)), &id)) {
        return myr_err_set(err, MYR_EINVAL, "'%.40s' is no name, job/42 or node/00012 is expected",
                           name);
    }
    if (id >= count) {
        return myr_err_set(err, MYR_ENOENT, "there is no %s %llu, the state has %llu",
                           job ? "job" : "node", (unsigned long long)id, (unsigned long long)count);
    }
    if (job && !job_find(c, (uint32_t)id)) {
        put(ret, "state", "over, and forgotten here");
        return MYR_OK;
    }
    known.names.put = known.names.put ? known.names.put : put_node;
    if (job) {
        explain_job(c, (uint32_t)id, &known, ret);
    } else {
        explain_node(c, (uint32_t)id, ret);
    }
    MYR_ASSERT(ret->count > 0 && ret->count <= MYR_EXPLAIN_FACTS);
    return MYR_OK;
}

/* Short, for lists: asked of the queue itself, whose scratch space the caller lends. */
const char *myr_control_waits(struct myr_control *c, uint32_t id)
{
    struct myr_why why;
    if (waits_for_another(c, id)) {
        return "another job is to be done before";
    }
    if (job_of(c, id)->spec.held) {
        return "a person holds it";
    }
    if (myr_queue_reserved_s(c->queue, id) >= 0) {
        return "its time has not come: nodes are reserved then";
    }
    myr_queue_lacks(c->queue, c->head.steady_ms / 1000, id, &why);
    return myr_why_words(why.kind);
}
