/* duties: what progress asks of single events: who was given what, although, and how soon. */
#include <stdlib.h>

#include "myriad/text/amount.h"
#include "progress/progress_books.h"

static void touch(struct progress *p, uint32_t node)
{
    MYR_ASSERT(node < p->scenario->shape.nodes);
    if (!p->nodes[node].touched) {
        p->nodes[node].touched = true;
        myr_vec_push(&p->touched, node);
    }
}

/* ---- what people say ---- */

/* Of itself the controller may have so many nodes in repair. */
static int64_t repairs_allowed(const struct progress *p)
{
    int64_t share = (int64_t)p->scenario->shape.nodes * p->scenario->policy.drain_permille / 1000;
    return (share > 0 ? share : 1) + p->approved_most;
}

/*
 * What was approved once counts until all that it was for are back: a node that was given up then
 * may be empty only now.
 */
static void set_out(struct progress *p, uint32_t node, uint8_t state)
{
    bool out = state == MYR_NODE_DRAINING || state == MYR_NODE_DRAINED || state == MYR_NODE_REPAIR;
    if (p->nodes[node].out != out) {
        p->nodes[node].out = out;
        p->out += out ? 1U : -1U;
    }
    p->approved_most = p->out == 0 ? p->approved : p->approved_most;
}

static void set_repair(struct progress *p, uint32_t node, bool repair)
{
    if (p->nodes[node].repair != repair) {
        p->nodes[node].repair = repair;
        p->repairs += repair ? 1U : -1U;
    }
}

static void note_refusal(struct progress *p, const struct myr_event *event)
{
    if (event->job < p->jobs.count && event->code == MYR_START_OWN_FAULT) {
        struct pjob *job = pjob_at(p, event->job);
        /* Each node of a gang says it of the same start; late, of one that had ended before. */
        if (event->epoch == job->epoch && job->fault_epoch < event->epoch &&
            job->state == MYR_CONTROL_STARTING) {
            job->own_faults++;
            job->fault_epoch = event->epoch;
            job->fault_ms = p->now_ms;
        }
    }
}

/* What a person asks of a job; it waits anew from then on. */
static void note_lever(struct progress *p, const struct myr_event *event)
{
    struct pjob *job = pjob_at(p, event->job);
    if (event->kind == MYR_EVENT_HOLD_JOB) {
        job->held = event->code != 0;
        job->date_ms = 0;                      /* which is given up, whatever is asked for */
        job->mends = job->mends && !job->held; /* it goes back to its line, and keeps no place */
    } else {
        job->priority = (int32_t)event->value;
        job->earlier = job->later = 0;
    }
    job->asked = true;
    job->ready_ms = job->fit_ms = job->first_ms = -1;
}

void progress_begin(struct progress *p, const struct myr_event *event, int64_t now_ms)
{
    p->now_ms = now_ms;
    /* Nobody knows how long it was since the last event, if nobody was there or the clock jumped.
     */
    p->lag_ms += p->jumped || event->kind == MYR_EVENT_TAKEOVER ? now_ms - p->event_ms : 0;
    p->jumped = false;
    p->event_ms = now_ms;
    MYR_ASSERT(p->touched.count == 0 && p->started.count == 0);
    switch ((enum myr_event_kind)event->kind) {
    case MYR_EVENT_DRAIN:
    case MYR_EVENT_UNDRAIN:
        p->nodes[event->node].drained = event->kind == MYR_EVENT_DRAIN;
        if (event->kind == MYR_EVENT_UNDRAIN) { /* a person takes it upon himself */
            set_repair(p, event->node, false);
        }
        touch(p, event->node);
        break;
    case MYR_EVENT_HOLD:
        p->nodes[event->node].held = event->code != MYR_HOLD_NONE;
        touch(p, event->node);
        break;
    case MYR_EVENT_SYMPTOM:
        p->nodes[event->node].doubted |= event->code == MYR_SYMPTOM_DOUBT;
        touch(p, event->node);
        break;
    case MYR_EVENT_TESTED:
        p->nodes[event->node].doubted = false;
        touch(p, event->node);
        break;
    case MYR_EVENT_JOIN:
        p->nodes[event->node].doubted = false;
        set_repair(p, event->node, false);
        touch(p, event->node);
        break;
    case MYR_EVENT_APPROVE:
        p->approved = event->value < 0 ? 0 : event->value;
        p->approved_most = p->approved > p->approved_most ? p->approved : p->approved_most;
        break;
    case MYR_EVENT_STARTED:
        note_refusal(p, event);
        break;
    case MYR_EVENT_HOLD_JOB:
    case MYR_EVENT_PRIORITY:
        note_lever(p, event);
        break;
    default:
        break;
    }
}

/* ---- what is decided ---- */

void progress_lent(struct progress *p, uint32_t id, bool lent)
{
    pjob_at(p, id)->lent = lent;
}

/* The nodes that a gang has are its own until it has its place again, unless they are borrowed. */
static void keep_place(struct progress *p, uint32_t id)
{
    struct pjob *job = pjob_at(p, id);
    job->broke_ms = job->mends ? job->broke_ms : p->up_ms;
    if (job->held) {
        return; /* it goes back to its line */
    }
    job->mends = true;
    p->keeps = true;
    if (progress_nodes_of(p, job->gpus) == 1) {
        return; /* without that one it has no place */
    }
    for (uint32_t n = 0; n < p->scenario->shape.nodes; n++) {
        uint64_t own = check_owned_by(p->check, n, id);
        uint32_t host = p->nodes[n].kept_for;
        bool guest = host > 0 && host != id + 1 && pjob_at(p, host - 1)->mends;
        /* A guest has nothing of its own there. */
        /* What an incarnation before this one has left behind is no part of its place. */
        bool now = p->nodes[n].started == id + 1 && p->nodes[n].started_epoch == job->epoch;
        if (own && now && !guest && !job->lent) {
            p->nodes[n].kept_for = id + 1;
            p->nodes[n].kept_gpus = p->nodes[n].state == MYR_NODE_HEALTHY ? own : 0;
            p->nodes[n].kept_ms = p->up_ms;
            p->nodes[n].kept_at_ms = p->now_ms + p->ahead_ms;
            touch(p, n);
        }
    }
}

/* Held, or before its date, a job stays in its line. */
static void look_at_turn(struct progress *p, const struct myr_effect *e)
{
    const struct pjob *job = pjob_at(p, e->job);
    bool starts = e->state == MYR_CONTROL_PLACING || e->state == MYR_CONTROL_STARTING;
    if (!starts || job->state != MYR_CONTROL_QUEUED) {
        return;
    }
    int64_t early_ms = job->date_ms - (p->now_ms + p->step_ms);
    if (job->held) {
        check_violated(p->check, RULE_HELD, "job %u is given its turn while a person holds it",
                       e->job);
    } else if (job->date_ms > 0 && early_ms > p->ahead_ms + DATE_SLACK_MS) {
        check_violated(p->check, RULE_HELD, "job %u is given its turn %lld s before its date",
                       e->job, (long long)early_ms / 1000);
    }
}

static void job_says(struct progress *p, const struct myr_effect *e)
{
    struct pjob *job = pjob_at(p, e->job);
    look_at_turn(p, e);
    job->at_once = job->state == MYR_CONTROL_QUEUED && e->state == MYR_CONTROL_PLACING
                       ? !job->mends
                       : job->at_once && e->state == MYR_CONTROL_STARTING;
    bool stood = job->state == MYR_CONTROL_STARTING || job->state == MYR_CONTROL_RUNNING ||
                 job->state == MYR_CONTROL_FINISHING;
    job->state = e->state;
    /* Who was given its turn between two looks waits anew from now on: it pauses first. */
    job->ready_ms = e->state == MYR_CONTROL_QUEUED ? p->up_ms : -1;
    job->fit_ms = job->first_ms = -1;
    bool runs = e->state == MYR_CONTROL_RUNNING || e->state == MYR_CONTROL_FINISHING;
    if (e->state == MYR_CONTROL_RECOVERING && stood) {
        keep_place(p, e->job);
    } else if (e->state != MYR_CONTROL_RECOVERING && e->state != MYR_CONTROL_QUEUED) {
        job->mended = e->state == MYR_CONTROL_PLACING ? job->mends : job->mended;
        job->mends = false;
    }
    if (runs) {
        job->own_faults = 0;
    }
}

static void look_at_place(struct progress *p, const struct myr_effect *e)
{
    struct pnode *n = &p->nodes[e->node];
    if (n->kept_for == 0 || n->kept_for == e->job + 1 || !(n->kept_gpus & e->gpus)) {
        return;
    }
    const struct pjob *owner = pjob_at(p, n->kept_for - 1), *guest = pjob_at(p, e->job);
    /* Under preempt whoever has run less may stop it, and leaves the rest of its nodes to others.
     */
    bool excused = p->scenario->queue_policy == MYR_QUEUE_PREEMPT || guest->date_ms > 0 ||
                   (guest->mended && guest->broke_ms < owner->broke_ms); /* it was the host */
    /* A controller may count an absence, or a step of its clock, as time that has passed. */
    int64_t passed_ms = p->now_ms + p->ahead_ms - n->kept_at_ms;
    if (owner->mends && passed_ms <= KEPT_MS && !excused && guest->priority <= owner->priority) {
        check_violated(p->check, RULE_DISPLACED,
                       "node/%05u goes to job %u, %lld s after job %u of %s failed there", e->node,
                       e->job, (long long)passed_ms / 1000, n->kept_for - 1,
                       MYR_COUNT(owner->gpus, "GPU"));
    }
    n->kept_for = owner->mends ? n->kept_for : 0; /* the host of who comes as a guest */
}

/* A controller's clock is behind by all of its absences: what it may think to be early is. */
static void look_at_window(struct progress *p, const struct myr_effect *e)
{
    const struct pjob *job = pjob_at(p, e->job);
    for (uint32_t i = 0; i < p->scenario->window_count; i++) {
        const struct myr_scenario_window *w = &p->scenario->windows[i];
        int64_t early_ms = p->now_ms - p->lag_ms - WINDOW_SLACK_MS;
        bool over = p->now_ms + p->ahead_ms >= w->at_ms + w->length_ms;
        bool ends = job->limit_s > 0 && early_ms + job->limit_s * 1000 <= w->at_ms;
        /* Until it begins a gang starts again in its place, and what is left of a limit counts. */
        bool before = early_ms < w->at_ms && (job->mended || (job->epoch > 1 && job->limit_s > 0));
        if (e->node - w->first < w->count && !over && early_ms >= w->at_ms - w->drain_ms && !ends &&
            !before) {
            check_violated(p->check, RULE_WINDOW,
                           "job %u is placed on node/%05u, %lld s before its window ends", e->job,
                           e->node, (long long)(w->at_ms + w->length_ms - p->now_ms) / 1000);
        }
    }
}

static void granted(struct progress *p, const struct myr_effect *e)
{
    touch(p, e->node);
    look_at_place(p, e);
    look_at_window(p, e);
    if (p->started.count == 0 || p->started.items[p->started.count - 1] != e->job) {
        myr_vec_push(&p->started, e->job);
        pjob_at(p, e->job)->granted = 0;
    }
    pjob_at(p, e->job)->granted += (uint32_t)__builtin_popcountll(e->gpus);
}

/* The first order of an epoch. */
static void ordered(struct progress *p, const struct myr_effect *e)
{
    struct pjob *job = pjob_at(p, e->job);
    placed_order(p, e);
    p->nodes[e->node].started = e->job + 1;
    p->nodes[e->node].started_epoch = e->epoch;
    if (e->epoch <= job->epoch) {
        return;
    }
    job->epoch = e->epoch;
    int64_t pause_ms = RETRY_MS;
    for (uint32_t i = 1; i < job->own_faults && pause_ms < RETRY_MOST_MS / 2; i++) {
        pause_ms *= 2;
    }
    if (job->own_faults > 0 && p->now_ms - job->fault_ms < pause_ms) {
        check_violated(p->check, RULE_RETRY,
                       "job %u is started %lld ms after its own fault number %u in a row", e->job,
                       (long long)(p->now_ms - job->fault_ms), job->own_faults);
    }
}

static void node_says(struct progress *p, const struct myr_effect *e)
{
    struct pnode *n = &p->nodes[e->node];
    n->state = e->state;
    set_out(p, e->node, e->state);
    /* What is not to be used, though for a moment, may have been replaced meanwhile. */
    if (e->state != MYR_NODE_HEALTHY) {
        n->kept_gpus = 0;
    }
    touch(p, e->node);
}

void progress_effect(struct progress *p, const struct myr_effect *e)
{
    switch ((enum myr_effect_kind)e->kind) {
    case MYR_EFFECT_GRANT:
        granted(p, e);
        break;
    case MYR_EFFECT_RELEASE:
        touch(p, e->node);
        break;
    case MYR_EFFECT_START:
        ordered(p, e);
        break;
    case MYR_EFFECT_JOB:
        job_says(p, e);
        break;
    case MYR_EFFECT_NODE:
        node_says(p, e);
        break;
    case MYR_EFFECT_REPAIR:
        set_repair(p, e->node, true);
        if (p->repairs > repairs_allowed(p)) {
            check_violated(p->check, RULE_DRAIN_LIMIT,
                           "node/%05u is given to repair as number %u, %lld may be", e->node,
                           p->repairs, (long long)repairs_allowed(p));
        }
        break;
    default:
        break;
    }
}

/* ---- when all of it is known ---- */

/* A gang whose place was given up waits for its nodes, as guest of another it would have two. */
static bool is_host(const struct progress *p, uint32_t id)
{
    for (uint32_t n = 0; p->keeps && n < p->scenario->shape.nodes; n++) {
        if (p->nodes[n].kept_for == id + 1) {
            return true;
        }
    }
    return false;
}

/* Somebody who counts more, is no larger and has long been waiting still waits. */
static void look_at_priority(struct progress *p, uint32_t id)
{
    const struct pjob *job = pjob_at(p, id);
    uint32_t spares = p->scenario->policy.spares;
    /* Spares serve who could never run without them, whatever others count. */
    bool spared = spares > 0 && p->usable < progress_nodes_of(p, job->gpus) + spares;
    /* Nodes may have been held for it before a person asked for less. */
    spared = spared || job->asked;
    spared = spared || job->date_ms > 0 || progress_dated_nodes(p) > 0;
    for (size_t i = 0; i < p->open.count && job->epoch == 1 && !spared; i++) {
        const struct pjob *other = pjob_at(p, p->open.items[i]);
        /* With a limit a job may go where one without may not. */
        bool alike = other->gpus <= job->granted && !(other->fixed && p->keeps) &&
                     (job->limit_s == 0 || p->scenario->window_count == 0);
        if (other->priority > job->priority && alike && !pjob_is_near(other) &&
            progress_is_ready(p, other) && other->ready_ms >= 0 &&
            p->up_ms - other->ready_ms > PRIORITY_MS && !is_host(p, p->open.items[i])) {
            check_violated(
                p->check, RULE_PRIORITY,
                "job %u (%u of %u GPUs) of priority %d is placed before job %u (%u GPUs) "
                "of priority %d, which has waited for %lld s",
                id, job->granted, job->gpus, job->priority, p->open.items[i], other->gpus,
                other->priority, (long long)(p->up_ms - other->ready_ms) / 1000);
            return;
        }
    }
}

void progress_end(struct progress *p)
{
    for (size_t i = 0; i < p->touched.count; i++) {
        progress_count(p, p->touched.items[i]);
    }
    for (size_t i = 0; i < p->started.count; i++) {
        look_at_priority(p, p->started.items[i]);
    }
    placed_end(p);
    for (size_t i = 0; i < p->touched.count; i++) {
        p->nodes[p->touched.items[i]].touched = false;
    }
    p->touched.count = p->started.count = 0;
}
