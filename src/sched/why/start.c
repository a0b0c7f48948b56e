/* start: when waiting jobs are likely to start, by playing copies of the queue on. */
#include "myriad/sched/start.h"

#include <stdlib.h>

#include "myriad/sched/snapshot.h"
#include "myriad/text/amount.h"
#include "queue/state.h"

enum {
    RUNS = 24, /* of so many equal chances the first and the last enclose the next in 23 of 25 */
    AHEAD_S = 60 * 86400,
    ARRIVALS_MIN = 8, /* so many say how often jobs come */
};

/* One copy that is played on. */
struct flow {
    const struct myr_queue *origin;
    struct myr_queue *q;
    struct myr_rng rng;
    struct myr_heap ends;  /* value: epoch << 32 | job */
    int64_t now_s, next_s; /* when the next job comes; INT64_MAX: none will */
    int64_t gap_s1024;     /* mean time between two that come, in 1/1024 s; 0: nobody knows */
    uint32_t steps;        /* decisions that may still be made */
    const uint32_t *known; /* jobs that are there, as patterns of those that come */
    uint32_t known_count;
    struct myr_u64map asked; /* by job: its place in 'starts' */
    int64_t *starts;         /* in this copy; INT64_MAX: not yet */
    uint32_t open;           /* of them */
};

/* How long it works in all, by the length drawn and no longer than its limit; -1: nobody knows. */
static int64_t length_of(struct flow *f, const struct qjob *job, int64_t age_s)
{
    uint64_t chance = myr_rng_u64(&f->rng);
    int64_t limit_s = job->spec.limit_s;
    int64_t length_s = queue_lengths_draw(f->origin->lengths, job->spec.gpus, age_s, chance);
    if (length_s < 0 && limit_s > age_s) {
        /* Nothing but the limit is known: anywhere up to it. */
        length_s = age_s + 1 + (int64_t)((__int128)(limit_s - age_s) * (uint32_t)chance >> 32);
    }
    return limit_s > age_s && length_s > limit_s ? limit_s : length_s;
}

/* The first start counts: a job may be stopped again. */
static void note_start(struct flow *f, uint32_t id)
{
    const uint32_t *at = myr_u64map_find(&f->asked, id);
    if (at && f->starts[*at] == INT64_MAX) {
        MYR_ASSERT(f->open > 0);
        f->starts[*at] = f->now_s;
        f->open--;
    }
}

/* It runs from now on, after a restart where it did before. */
static void plan_end(struct flow *f, uint32_t id, int64_t done_s, int64_t restart_s)
{
    const struct qjob *job = queue_job(f->q, id);
    int64_t length_s = length_of(f, job, done_s);
    MYR_ASSERT(queue_is_on(job));
    if (length_s >= 0) {
        int64_t end_s = f->now_s + restart_s + (length_s > done_s ? length_s - done_s : 1);
        myr_heap_push(&f->ends, end_s, (uint64_t)job->epoch << 32 | id);
    }
}

/* Agents obey at once. False: nothing was stopped, so there is nothing more to decide. */
static bool carry_out(struct flow *f, const struct myr_decision *decisions, uint32_t count)
{
    bool stopped = false;
    struct myr_decision *made = myr_xcalloc(count + UINT64_C(1), sizeof(*made));
    for (uint32_t i = 0; i < count; i++) {
        made[i] = decisions[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct myr_decision *d = &made[i];
        const struct qjob *job = queue_job(f->q, d->job);
        if (d->kind == MYR_DECIDE_STOP && f->q->policy.confirm) {
            stopped |= myr_queue_stopped(f->q, f->now_s, d->job, d->epoch, MYR_NONE) == MYR_OK;
        } else if (d->kind == MYR_DECIDE_START && job->epoch == d->epoch && queue_is_on(job)) {
            int rc = f->q->policy.confirm ? myr_queue_started(f->q, f->now_s, d->job, d->epoch) : 0;
            MYR_ASSERT(rc <= 0);
            note_start(f, d->job);
            plan_end(f, d->job, job->saved_s, job->stops ? f->q->policy.restart_s : 0);
        }
    }
    free(made);
    return stopped;
}

static void decide(struct flow *f)
{
    enum { ROUNDS = 8 }; /* stops that lead to further stops */
    uint32_t count;
    for (uint32_t i = 0; i < ROUNDS && f->steps > 0; i++) {
        f->steps--;
        const struct myr_decision *made = myr_queue_decide(f->q, f->now_s, &count);
        if (count == 0 || !carry_out(f, made, count)) {
            return;
        }
    }
}

/* What runs, and what was about to. */
static void begin(struct flow *f)
{
    for (size_t i = 0; i < f->origin->jobs.count; i++) {
        const struct qjob *was = &f->origin->jobs.items[i];
        int rc = MYR_OK;
        if (was->id == MYR_NONE) {
            continue;
        }
        if (was->state == MYR_JOB_STOPPING) {
            rc = myr_queue_stopped(f->q, f->now_s, was->id, was->epoch, MYR_NONE);
        } else if (was->state == MYR_JOB_STARTING) {
            rc = myr_queue_started(f->q, f->now_s, was->id, was->epoch);
        }
        MYR_ASSERT(rc <= 0);
        if (queue_is_on(queue_job(f->q, was->id))) {
            const struct qjob *job = queue_job(f->q, was->id);
            plan_end(f, was->id, job->saved_s + queue_worked_s(f->q, job), 0);
        }
    }
}

/* Uniform up to twice the mean. */
static void plan_arrival(struct flow *f)
{
    uint64_t twice = (uint64_t)f->gap_s1024 * 2;
    f->next_s = f->gap_s1024 == 0
                    ? INT64_MAX
                    : f->now_s + (int64_t)((twice * (myr_rng_u32(&f->rng) >> 12) >> 20) >> 10);
}

/* Of a size that ended, and else like one that is there; of its class where there is one. */
static void come(struct flow *f)
{
    enum { LOOKS = 32 };
    uint32_t class = queue_lengths_class(f->origin->lengths, myr_rng_u64(&f->rng)), id;
    const struct qjob *like = NULL;
    for (uint32_t i = 0; i < LOOKS; i++) {
        like = queue_job(f->origin, f->known[myr_rng_below(&f->rng, f->known_count)]);
        if (class == MYR_NONE || 31U - (uint32_t)__builtin_clz(like->spec.gpus) == class) {
            break;
        }
    }
    struct myr_queue_job spec = {.tenant = like->spec.tenant,
                                 .priority = like->spec.priority,
                                 .limit_s = like->spec.limit_s,
                                 .gpus = like->spec.gpus,
                                 .fixed = like->spec.fixed};
    if (class != MYR_NONE && 31U - (uint32_t)__builtin_clz(spec.gpus) != class) {
        spec.gpus = 1U << class;
    }
    int rc = myr_queue_submit(f->q, f->now_s, &spec, &id, NULL);
    MYR_ASSERT(rc <= 0); /* one that the cluster cannot hold any more does not come */
    plan_arrival(f);
}

/* What happens next: a job ends, one comes, or the queue asks to be called. False: nothing. */
static bool advance(struct flow *f, int64_t until_s)
{
    int64_t end_s = f->ends.count ? f->ends.items[0].key : INT64_MAX;
    int64_t wake_s = myr_queue_wake_s(f->q);
    int64_t at_s = end_s < f->next_s ? end_s : f->next_s;
    at_s = wake_s < at_s ? wake_s : at_s;
    if (at_s > until_s || f->steps == 0) {
        return false;
    }
    f->now_s = at_s > f->now_s ? at_s : f->now_s;
    struct myr_heap_item item;
    while (f->ends.count && f->ends.items[0].key <= f->now_s && myr_heap_pop(&f->ends, &item)) {
        uint32_t id = (uint32_t)item.value, epoch = (uint32_t)(item.value >> 32);
        const struct qjob *job = queue_job(f->q, id);
        /* Stopped since, or started again: that end is void. */
        if (job->id == id && job->epoch == epoch && queue_is_on(job)) {
            int rc = f->q->policy.confirm ? myr_queue_exited(f->q, f->now_s, id, epoch, MYR_EXIT_OK)
                                          : myr_queue_finish(f->q, f->now_s, id);
            MYR_ASSERT(rc <= 0);
        }
    }
    if (f->next_s <= f->now_s) {
        come(f);
    }
    decide(f);
    return true;
}

/* When each has started in this copy; INT64_MAX: not by the end. */
static void play(struct flow *f, const uint32_t *ids, uint32_t count)
{
    int64_t until_s = f->now_s + AHEAD_S;
    f->open = count;
    for (uint32_t i = 0; i < count; i++) {
        f->starts[i] = INT64_MAX;
    }
    begin(f);
    plan_arrival(f);
    for (uint32_t i = 0; i < count; i++) {
        const struct qjob *job = queue_job(f->q, ids[i]);
        if (queue_is_on(job) || job->state == MYR_JOB_DONE) {
            note_start(f, ids[i]);
        }
    }
    decide(f);
    while (f->open > 0 && advance(f, until_s)) {
        MYR_ASSERT(f->open <= count);
    }
}

/* How often jobs came: those that are there tell when they did, and their numbers how many. */
static int64_t mean_gap(const struct myr_queue *q, int64_t now_s)
{
    uint32_t first = MYR_NONE;
    int64_t came_s = now_s;
    for (size_t i = 0; i < q->jobs.count; i++) {
        const struct qjob *job = &q->jobs.items[i];
        /* Of one that was stopped before it is not known. */
        bool waits = job->state == MYR_JOB_WAITS && job->epoch == 0;
        bool runs = job->state == MYR_JOB_RUNS && job->epoch == 1;
        if (job->id < first && (waits || runs)) {
            first = job->id;
            came_s = waits ? job->since_s : job->start_s - job->since_s;
        }
    }
    if (first == MYR_NONE || q->job_count - first < ARRIVALS_MIN || came_s >= now_s) {
        return 0;
    }
    int64_t gap = (now_s - came_s) * 1024 / (q->job_count - first);
    return gap > 0 ? gap : 1;
}

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Whether the ends of all that run can be guessed at. */
static bool is_known(const struct myr_queue *q)
{
    for (size_t i = 0; i < q->jobs.count; i++) {
        const struct qjob *job = &q->jobs.items[i];
        if (job->id != MYR_NONE && queue_is_on(job) && job->spec.limit_s == 0) {
            return queue_lengths_draw(q->lengths, job->spec.gpus, 0, 0) >= 0;
        }
    }
    return true;
}

/* Jobs that are there, as patterns. */
static uint32_t known_jobs(const struct myr_queue *q, uint32_t *ret)
{
    uint32_t count = 0;
    for (size_t i = 0; i < q->jobs.count; i++) {
        const struct qjob *job = &q->jobs.items[i];
        if (job->id != MYR_NONE && job->state != MYR_JOB_DONE && job->request == MYR_NONE) {
            ret[count++] = job->id;
        }
    }
    return count;
}

bool myr_queue_starts(const struct myr_queue *q, int64_t now_s, const uint32_t *ids, uint32_t count,
                      uint32_t steps, struct myr_start_time *ret)
{
    struct flow f = {.origin = q, .now_s = now_s > q->now_s ? now_s : q->now_s};
    if (!is_known(q)) {
        return false;
    }
    uint32_t *known = myr_xcalloc(q->jobs.count + 1, sizeof(*known));
    int64_t *times = myr_xcalloc((size_t)count * RUNS + 1, sizeof(*times));
    f.starts = myr_xcalloc((size_t)count + 1, sizeof(*f.starts));
    for (uint32_t i = 0; i < count; i++) {
        bool added = myr_u64map_add(&f.asked, ids[i], i);
        MYR_ASSERT(added); /* nobody is asked about twice */
    }
    f.known = known;
    f.known_count = known_jobs(q, known);
    f.gap_s1024 = f.known_count ? mean_gap(q, f.now_s) : 0;
    int64_t begun_s = f.now_s;
    for (uint32_t run = 0; run < RUNS; run++) {
        myr_queue_copy(q, &f.q);
        myr_rng_init(&f.rng, run + UINT64_C(1), 77);
        f.now_s = begun_s;
        f.steps = steps / RUNS;
        f.ends.count = 0;
        play(&f, ids, count);
        for (uint32_t i = 0; i < count; i++) {
            times[(size_t)i * RUNS + run] = f.starts[i];
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        int64_t *all = &times[(size_t)i * RUNS];
        qsort(all, RUNS, sizeof(*all), by_time);
        ret[i] = (struct myr_start_time){all[0], all[RUNS / 2], all[RUNS - 1]};
    }
    myr_queue_free(f.q);
    myr_heap_done(&f.ends);
    free(known);
    free(times);
    free(f.starts);
    myr_u64map_done(&f.asked);
    return true;
}

void myr_start_text(const struct myr_start_time *s, int64_t now_s, struct myr_buf *ret)
{
    const int64_t soon_s = 60;
    if (s->likely_s == INT64_MAX) {
        myr_buf_puts(ret, "not within what can be looked ahead");
    } else if (s->likely_s - now_s < soon_s) {
        myr_buf_puts(ret, "within a minute");
    } else {
        myr_buf_printf(ret, "in %s", MYR_DURATION(s->likely_s - now_s));
    }
    if (s->low_s < INT64_MAX && s->low_s < s->high_s) {
        myr_buf_printf(ret, "; nine times in ten in %s",
                       MYR_DURATION(s->low_s > now_s ? s->low_s - now_s : 0));
        if (s->high_s < INT64_MAX) {
            myr_buf_printf(ret, " to %s", MYR_DURATION(s->high_s - now_s));
        } else {
            myr_buf_puts(ret, " or later");
        }
    }
}
