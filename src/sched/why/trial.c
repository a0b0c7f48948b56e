#include "myriad/sched/trial.h"

#include <stdlib.h>

#include "myriad/sched/snapshot.h"
#include "queue/state.h"
#include "why/move.h"

/*
 * Changes are found by trying. Each is made in a copy of the queue, through the same functions that
 * events use, and the copy decides; what starts the job there is told. Copies share one piece of
 * memory, and the queue itself is never changed.
 *
 * A try is a copy and a decision of the whole queue: a fifth of a millisecond with ten thousand
 * jobs that wait. So of each kind the most is tried first, which mostly says that none of it helps;
 * then the least that does is found by halving, which takes it that more of the same helps as well.
 * What is told was tried in any case.
 */
enum {
    TRIES_SMALL = 600,   /* in all, in a small state, where all that may help can be tried */
    TRIES_LARGE = 48,    /* in all, however large the state is */
    TRIES_WORK = 800000, /* jobs and nodes that are copied in all, between those two */
    LADDERS = 8,         /* one part of the tries in so many may go into one kind */
    ENDS_ROUNDS = 4,     /* sets of jobs to end, each with those that the last one lacked */
    WEIGHT_DOUBLINGS = 12,
    FEWER_SHARE = 2, /* less than one part in so many of a job is another job */
};

struct search {
    const struct myr_queue *q;
    struct myr_queue *copy; /* its memory is used for every try */
    int64_t now_s;
    uint32_t id, found; /* the job; changes found so far */
    uint32_t tries;     /* that are left */
    struct myr_trial *ret;
};

/* A claim is a start as well: nobody else gets the GPUs any more. */
static bool has_started(const struct myr_queue *q, uint32_t id)
{
    return queue_is_on(queue_job(q, id)) || queue_job(q, id)->state == MYR_JOB_CLAIMS;
}

/* Agents obey at once; whether any of them was told to stop something. */
static bool obey(struct search *s, const struct myr_decision *decisions, uint32_t count)
{
    bool any = false;
    /* What agents say may add to the list that is read. */
    struct myr_decision *made = myr_xcalloc(count + UINT64_C(1), sizeof(*made));
    for (uint32_t i = 0; i < count; i++) {
        made[i] = decisions[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct myr_decision *d = &made[i];
        /* Refused where a later decision has taken it back. */
        if (d->kind == MYR_DECIDE_START) {
            int rc = myr_queue_started(s->copy, s->now_s, d->job, d->epoch);
            MYR_ASSERT(rc <= 0);
        } else if (d->kind == MYR_DECIDE_STOP) {
            any |= myr_queue_stopped(s->copy, s->now_s, d->job, d->epoch, MYR_NONE) == MYR_OK;
        }
    }
    free(made);
    return any;
}

/* Whether the job starts with the change; NULL: with none. */
static bool starts_with(struct search *s, const struct myr_trial *trial)
{
    enum { ROUNDS = 4 }; /* stops that lead to further stops */
    uint32_t count;
    s->tries -= s->tries > 0;
    myr_queue_copy(s->q, &s->copy);
    if (trial) {
        myr_queue_apply_trial(s->copy, s->now_s, s->id, trial);
    }
    const struct myr_decision *made = myr_queue_decide(s->copy, s->now_s, &count);
    for (uint32_t i = 0; i < ROUNDS && s->copy->policy.confirm && count > 0 &&
                         !queue_is_on(queue_job(s->copy, s->id)) && obey(s, made, count);
         i++) {
        made = myr_queue_decide(s->copy, s->now_s, &count);
    }
    MYR_ASSERT(s->copy->now_s >= s->q->now_s);
    MYR_ASSERT(s->copy->job_count >= s->q->job_count);
    return has_started(s->copy, s->id);
}

/* It was tried, and starts the job. */
static void tell(struct search *s, const struct myr_trial *trial)
{
    MYR_ASSERT(trial->kind < MYR_TRIAL_COUNT);
    if (s->found < MYR_TRIALS_MAX) {
        s->ret[s->found++] = *trial;
    }
}

/* Keeps what starts the job. */
static bool try_change(struct search *s, const struct myr_trial *trial)
{
    bool starts = s->tries > 0 && starts_with(s, trial);
    if (starts) {
        tell(s, trial);
    }
    return starts;
}

static const struct qjob *own(const struct search *s)
{
    return queue_job(s->q, s->id);
}

/* Changes of one kind, from the least at 0 on to the most. */
typedef struct myr_trial (*ladder)(const struct search *s, const void *context, uint32_t step);

/* Between a step that does not start it and one that does; the least found is kept in 'best'. */
static void halve(struct search *s, ladder change, const void *context, uint32_t low, uint32_t high,
                  struct myr_trial *best)
{
    while (low < high && s->tries > 0) {
        uint32_t middle = low + (high - low) / 2;
        struct myr_trial t = change(s, context, middle);
        if (starts_with(s, &t)) {
            *best = t;
            high = middle;
        } else {
            low = middle + 1;
        }
    }
}

/*
 * The least of 'count' steps that starts the job. Where there is leave for it each is
 * tried. Else the last one says whether any helps, and then it goes up by doubling: more of a
 * change mostly helps as well, but more nodes may also let a gang in that stands before the job.
 */
static bool find_least(struct search *s, ladder change, const void *context, uint32_t count,
                       struct myr_trial *ret)
{
    bool found = false, all = count <= s->tries / LADDERS;
    uint32_t low = 0, at = 0;
    struct myr_trial best = change(s, context, count - 1);
    MYR_ASSERT(count > 0);
    if (s->tries == 0 || (!all && !starts_with(s, &best))) {
        return false;
    }
    for (; at < count && s->tries > 0 && !found; at += all ? 1 : at + 1) {
        struct myr_trial t = change(s, context, at);
        found = starts_with(s, &t);
        best = found ? t : best;
        low = found ? low : at + 1;
    }
    if (!found && all) {
        return false;
    }
    if (!all) {
        /* The last step doubled from the one before it; beyond the end it is the end. */
        uint32_t high = found ? (at - 1) / 2 : count - 1;
        halve(s, change, context, low, high, &best);
    }
    *ret = best;
    return true;
}

static void try_ladder(struct search *s, ladder change, const void *context, uint32_t count)
{
    struct myr_trial least;
    if (find_least(s, change, context, count, &least)) {
        tell(s, &least);
    }
}

/* Each constraint alone. */
static void try_request(struct search *s)
{
    if (own(s)->request == MYR_NONE) {
        return;
    }
    const struct qrequest *r = &s->q->requests.items[own(s)->request];
    const bool given[] = {r->limited, r->leaf_max || r->zone_max[0] || r->zone_max[1],
                          r->kind_given, r->exclude != NULL};
    /* In the order of the kinds, which begin with the limit. */
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(given); i++) {
        struct myr_trial t = {.kind = (enum myr_trial_kind)(MYR_TRIAL_DROP_LIMIT + i)};
        if (given[i]) {
            (void)try_change(s, &t);
        }
    }
}

/* GPUs less, whole nodes of a gang first; then, of what is left on one node, one by one. */
static struct myr_trial fewer(const struct search *s, const void *context, uint32_t step)
{
    const uint32_t *per = context;
    uint32_t gpus = own(s)->spec.gpus, whole = (gpus - 1) / *per;
    MYR_ASSERT(gpus > 1);
    gpus = step < whole ? (whole - step) * *per : gpus - 1 - (step - whole);
    if (whole > 0 && step >= whole) {
        gpus = *per - 1 - (step - whole);
    }
    return (struct myr_trial){.kind = MYR_TRIAL_FEWER_GPUS, .gpus = gpus};
}

/* From as many as possible down to the least that is still the same job. */
static void try_fewer(struct search *s)
{
    uint32_t per = queue_request_per_node(s->q, own(s)), gpus = own(s)->spec.gpus, count = 0;
    uint32_t least = (gpus + FEWER_SHARE - 1) / FEWER_SHARE;
    /* The ladder goes down step by step; it ends with the last that is no less than 'least'. */
    while (gpus > 1 && count < gpus && fewer(s, &per, count).gpus >= least &&
           fewer(s, &per, count).gpus < gpus) {
        count++;
    }
    if (count > 0) {
        try_ladder(s, fewer, &per, count);
    }
}

/* Priorities matter where they pass somebody's. */
struct priorities {
    int32_t values[2 * MYR_PRIORITY_MAX + 1];
    uint32_t count;
};

static struct priorities priorities_above(const struct search *s)
{
    bool passes[2 * MYR_PRIORITY_MAX + 1] = {false};
    struct priorities p = {};
    for (size_t i = 0; i < s->q->jobs.count; i++) {
        const struct qjob *job = &s->q->jobs.items[i];
        if (job->id != MYR_NONE && job->state != MYR_JOB_DONE &&
            job->spec.priority < MYR_PRIORITY_MAX) {
            /* Just above somebody: any priority between two of those changes nothing. */
            passes[job->spec.priority + 1 + MYR_PRIORITY_MAX] = true;
        }
    }
    for (int32_t v = own(s)->spec.priority + 1; v <= MYR_PRIORITY_MAX; v++) {
        if (passes[v + MYR_PRIORITY_MAX]) {
            p.values[p.count++] = v;
        }
    }
    return p;
}

static struct myr_trial raised(const struct search *s, const void *context, uint32_t step)
{
    const struct priorities *p = context;
    (void)s;
    MYR_ASSERT(step < p->count);
    return (struct myr_trial){.kind = MYR_TRIAL_PRIORITY, .priority = p->values[step]};
}

/* Doubled each time: shares are compared in octaves. */
static struct myr_trial heavier(const struct search *s, const void *context, uint32_t step)
{
    const uint32_t *weight = context;
    (void)s;
    return (struct myr_trial){.kind = MYR_TRIAL_WEIGHT, .weight = *weight << (step + 1)};
}

static void try_weight(struct search *s)
{
    uint32_t weight = s->q->tenants[own(s)->spec.tenant].weight, count = 0;
    weight = weight ? weight : 1;
    while (count < WEIGHT_DOUBLINGS && weight << count < 1U << 24) {
        count++;
    }
    /* With one tenant there is nobody to share with. */
    if (s->q->tenant_count > 1 && count > 0) {
        try_ladder(s, heavier, &weight, count);
    }
}

/* Nodes that are not in use, in the order of numbers: neighbours lie under one leaf. */
struct bad_nodes {
    uint32_t *nodes, count;
    uint32_t end;             /* the last one that counts, and 1 */
    struct myr_trial besides; /* what else changes */
};

static struct bad_nodes bad_nodes_of(const struct myr_queue *q)
{
    struct bad_nodes bad = {.nodes = myr_xcalloc(q->shape.nodes, sizeof(*bad.nodes))};
    for (uint32_t node = 0; node < q->shape.nodes; node++) {
        if (q->closed[node] & CLOSED_BAD) {
            bad.nodes[bad.count++] = node;
        }
    }
    bad.end = bad.count;
    return bad;
}

/* From the one at 'first' on, up to 'end'. */
static struct myr_trial nodes_back(const struct bad_nodes *bad, uint32_t first, uint32_t end)
{
    struct myr_trial t = bad->besides;
    MYR_ASSERT(first < end && end <= bad->count);
    t.kind = t.job_count > 0    ? t.kind
             : end - first == 1 ? MYR_TRIAL_NODE_BACK
                                : MYR_TRIAL_NODES_BACK;
    t.node = bad->nodes[first];
    t.last = bad->nodes[end - 1];
    t.nodes = end - first;
    return t;
}

/* The first ones. */
static struct myr_trial first_back(const struct search *s, const void *context, uint32_t step)
{
    (void)s;
    return nodes_back(context, 0, step + 1);
}

/* The last ones of those up to 'end'. */
static struct myr_trial last_back(const struct search *s, const void *context, uint32_t step)
{
    const struct bad_nodes *bad = context;
    (void)s;
    return nodes_back(bad, bad->end - 1 - step, bad->end);
}

/* As few neighbours as are enough: so many of the first, then of those so many of the last. */
static bool find_neighbours(struct search *s, struct bad_nodes *bad, struct myr_trial *ret)
{
    MYR_ASSERT(bad->count > 0);
    if (!find_least(s, first_back, bad, bad->count, ret)) {
        return false;
    }
    bad->end = ret->nodes;
    (void)find_least(s, last_back, bad, bad->end, ret);
    bad->end = bad->count;
    return true;
}

/*
 * Where several ranges would do, another one than the first may be shorter: each node alone is
 * tried where there are few.
 */
static void try_nodes(struct search *s)
{
    enum { ALONE_MAX = 8 };
    struct bad_nodes bad = bad_nodes_of(s->q);
    struct myr_trial t;
    uint64_t most = (uint64_t)bad.count * s->q->shape.gpus_per_node;
    /* All of them together would not be enough. */
    bool few = myr_placer_free_gpus(s->q->placer) + most < own(s)->spec.gpus && !s->q->holds.count;
    bool done = bad.count == 0 || (few && !s->q->cells);
    for (uint32_t i = 0; i < bad.count && bad.count <= ALONE_MAX && !done; i++) {
        t = nodes_back(&bad, i, i + 1);
        done = try_change(s, &t);
    }
    if (!done && find_neighbours(s, &bad, &t)) {
        tell(s, &t);
    }
    free(bad.nodes);
}

/* The smallest first, so that the least is told that is enough; ids make the order total. */
static int by_gpus(const void *a, const void *b)
{
    const struct qjob *x = *(const struct qjob *const *)a, *y = *(const struct qjob *const *)b;
    if (x->spec.gpus != y->spec.gpus) {
        return x->spec.gpus < y->spec.gpus ? -1 : 1;
    }
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Whether somebody has ranks, or had them a moment ago: what ends it is not the same as for one
 * that waits. */
static bool is_running(const struct qjob *job)
{
    return queue_is_on(job) || job->state == MYR_JOB_STOPPING;
}

/* Those that run stand first. */
static void add_end(const struct search *s, struct myr_trial *t, uint32_t id)
{
    const struct qjob *job = queue_job(s->q, id);
    MYR_ASSERT(t->job_count < MYR_TRIAL_ENDS_MAX);
    uint32_t at = t->job_count++;
    if (is_running(job)) {
        uint32_t first_waiting = at - t->waiting;
        t->jobs[at] = t->jobs[first_waiting];
        at = first_waiting;
        t->gpus += job->spec.gpus;
    } else {
        t->waiting++;
    }
    t->jobs[at] = id;
    t->kind = t->job_count == 1 ? MYR_TRIAL_END_JOB : MYR_TRIAL_END_JOBS;
}

static void take_end(const struct search *s, struct myr_trial *t, uint32_t at)
{
    const struct qjob *job = queue_job(s->q, t->jobs[at]);
    MYR_ASSERT(at < t->job_count);
    t->waiting -= !is_running(job);
    t->gpus -= is_running(job) ? job->spec.gpus : 0;
    memmove(&t->jobs[at], &t->jobs[at + 1], (t->job_count - at - 1) * sizeof(t->jobs[0]));
    t->job_count--;
    t->kind = t->job_count == 1 ? MYR_TRIAL_END_JOB : MYR_TRIAL_END_JOBS;
}

static bool has_end(const struct myr_trial *t, uint32_t id)
{
    for (uint32_t i = 0; i < t->job_count; i++) {
        if (t->jobs[i] == id) {
            return true;
        }
    }
    return false;
}

/* The smallest job whose end is enough: one that runs, or one that stands before it. */
static bool try_end(struct search *s, uint32_t tries)
{
    const struct myr_queue *q = s->q;
    /* One entry more, so that an empty queue has an array. */
    const struct qjob **jobs = myr_xcalloc(q->jobs.count + 1, sizeof(*jobs));
    uint32_t count = 0, free_gpus = myr_placer_free_gpus(q->placer);
    for (size_t i = 0; i < q->jobs.count; i++) {
        const struct qjob *job = &q->jobs.items[i];
        bool counts = job->id != MYR_NONE && job->id != s->id && job->state != MYR_JOB_DONE &&
                      job->state != MYR_JOB_HELD && job->state != MYR_JOB_BLOCKED;
        /* Who frees too little cannot help, unless cells or holds are in the way instead. */
        bool enough = !queue_is_on(job) || q->cells || q->holds.count ||
                      (uint64_t)job->spec.gpus + free_gpus >= own(s)->spec.gpus;
        if (counts && enough) {
            jobs[count++] = job;
        }
    }
    qsort(jobs, count, sizeof(const struct qjob *), by_gpus);
    bool found = false;
    /* Where not all can be tried, they are drawn evenly from the smallest to the largest. */
    uint32_t step = tries < count && tries > 0 ? count / tries : 1;
    for (uint32_t i = step - 1; i < count && tries > 0 && s->tries > 0 && !found; i += step) {
        struct myr_trial t = {};
        add_end(s, &t, jobs[i]->id);
        found = try_change(s, &t);
        tries--;
    }
    free(jobs);
    return found;
}

/* Adds the jobs whose end would make room in the copy as it is; false when there are none. */
static bool add_stops(struct search *s, struct myr_trial *t)
{
    /* Nobody new means that the search goes in a circle. */
    uint32_t before = t->job_count;
    const struct qjob *job = queue_job(s->copy, s->id);
    if (job->state != MYR_JOB_WAITS ||
        !queue_find_stops(s->copy, s->id, job->spec.priority, true)) {
        return false;
    }
    for (size_t i = 0; i < s->copy->victims.count; i++) {
        uint32_t id = s->copy->victims.items[i];
        if (has_end(t, id)) {
            continue;
        }
        /* A list that nobody reads; or one that came only there, in the place of a replica. */
        if (t->job_count == MYR_TRIAL_ENDS_MAX || id >= s->q->job_count) {
            return false;
        }
        add_end(s, t, id);
    }
    return t->job_count > before;
}

/* As much as it says, with which 'add_stops' looks for those that would have to end. */
static bool starts_when_ended(struct search *s, struct myr_trial *t)
{
    bool starts = starts_with(s, t);
    for (uint32_t round = 0; !starts && round < ENDS_ROUNDS && s->tries > 0; round++) {
        if (!add_stops(s, t)) {
            return false;
        }
        starts = starts_with(s, t);
    }
    return starts;
}

/* Takes out of it what it starts without; the nodes last, whose number depends on the others. */
static void keep_needed(struct search *s, const struct priorities *p, struct bad_nodes *bad,
                        struct myr_trial *t)
{
    struct myr_trial less = *t;
    if (t->spareless) {
        less.spareless = false;
        *t = s->tries > 0 && starts_with(s, &less) ? less : *t;
    }
    for (uint32_t i = t->job_count; i-- > 0 && t->job_count > 1 && s->tries > LADDERS;) {
        less = *t;
        take_end(s, &less, i);
        *t = starts_with(s, &less) ? less : *t;
    }
    for (uint32_t low = 0, high = p->count - 1; t->raised && low < high && s->tries > 0;) {
        uint32_t middle = low + (high - low) / 2;
        less = *t;
        less.priority = p->values[middle];
        bool starts = starts_with(s, &less);
        *t = starts ? less : *t;
        low = starts ? low : middle + 1;
        high = starts ? middle : high;
    }
    if (t->nodes > 0) {
        bad->besides = *t;
        (void)find_neighbours(s, bad, t);
    }
}

/*
 * Several changes together, where no single one is enough: jobs over that lose the least by it, and
 * as long as others take the room that they leave, those that would have to go as well. Better than
 * to end those is to go before them ('first'); and where the nodes that are in use could not hold
 * it, others have to be in use too ('nodes').
 */
static bool try_together(struct search *s, const struct priorities *p, bool first, bool nodes)
{
    struct bad_nodes bad = bad_nodes_of(s->q);
    struct myr_trial t = {.kind = MYR_TRIAL_END_JOBS};
    if (nodes && bad.count > 0) {
        t = nodes_back(&bad, 0, bad.count);
    }
    t.raised = first && p->count > 0;
    t.priority = t.raised ? p->values[p->count - 1] : 0;
    t.spareless = nodes && s->q->spares_kept > 0;
    /* Else it is the same as was tried before. */
    bool found = nodes ? t.nodes > 0 || t.spareless : !first || t.raised;
    found = found && starts_when_ended(s, &t) && (t.job_count > 0 || t.nodes > 0);
    if (found) {
        keep_needed(s, p, &bad, &t);
        tell(s, &t);
    }
    free(bad.nodes);
    return found;
}

/* One job where one is enough; else what else has to be besides. */
static void try_ends(struct search *s, const struct priorities *p)
{
    /* Half of what is left: where many run, one alone hardly ever helps. */
    bool found = try_end(s, s->tries / 2);
    found = found || try_together(s, p, true, false) || try_together(s, p, false, false);
    if (s->found == 0) {
        (void)(try_together(s, p, true, true) || try_together(s, p, false, true));
    }
}

/* Each kind, from what costs nobody anything to what ends others' work. */
static void try_all(struct search *s)
{
    const struct myr_queue *q = s->q;
    struct priorities above = priorities_above(s);
    struct myr_trial release = {.kind = MYR_TRIAL_RELEASE};
    struct myr_trial leaves = {.kind = MYR_TRIAL_ANY_LEAVES};
    struct myr_trial spares = {.kind = MYR_TRIAL_NO_SPARES}, moves;
    if (own(s)->state == MYR_JOB_HELD) {
        (void)try_change(s, &release);
    }
    if (q->policy.locality_s > 0) {
        (void)try_change(s, &leaves);
    }
    try_request(s);
    try_fewer(s);
    if (above.count > 0) {
        try_ladder(s, raised, &above, above.count);
    }
    try_weight(s);
    try_nodes(s);
    if (q->spares_kept > 0) {
        (void)try_change(s, &spares);
    }
    if (trial_of_moves(q, s->id, &moves)) {
        (void)try_change(s, &moves);
    }
    try_ends(s, &above);
}

uint32_t myr_queue_trials(const struct myr_queue *q, int64_t now_s, uint32_t id,
                          struct myr_trial *ret)
{
    struct search s = {.q = q, .now_s = now_s > q->now_s ? now_s : q->now_s, .id = id, .ret = ret};
    if (id >= q->job_count ||
        (queue_job(q, id)->state != MYR_JOB_WAITS && queue_job(q, id)->state != MYR_JOB_HELD)) {
        return 0;
    }
    uint64_t size = q->jobs.count + q->shape.nodes + UINT64_C(1);
    uint64_t tries = TRIES_WORK / size;
    s.tries = tries > TRIES_SMALL   ? TRIES_SMALL
              : tries < TRIES_LARGE ? TRIES_LARGE
                                    : (uint32_t)tries;
    /* If it starts by itself with the next decision, nothing has to change. */
    if (!starts_with(&s, NULL)) {
        try_all(&s);
    }
    myr_queue_free(s.copy);
    return s.found;
}
