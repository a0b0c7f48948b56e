#include "myriad/sched/replay.h"

#include <stdio.h>
#include <stdlib.h>

/*
 * A trace is played through a queue in virtual time: from one moment to the next at which a job
 * comes, a job ends or the queue asks to be called. Lengths are known here alone; the queue is told
 * of an end when it happens. Jobs are numbered in the order of submission, which is the queue's
 * order of ids too.
 */

/* Ends between two calls of who watches. */
enum { PROGRESS_STEP = 1024 };

/* What the replay knows of a job and the queue does not, while the job is there. */
struct progress {
    int64_t left_s;                 /* work from the last checkpoint on */
    int64_t started_s;              /* this run */
    int64_t work_from_s;            /* when its work goes on in this run */
    int64_t idle_since_s;           /* waits since then */
    struct myr_replay_wait longest; /* of its waits */
    uint32_t run;                   /* counts runs: the end of a stopped run is void */
    bool runs;
    struct myr_gang gang; /* of this run, where somebody listens: the queue forgets it */
};

/* A replay on its way. */
struct replay {
    const struct myr_job_row *rows; /* in the order of submission */
    size_t count;                   /* of rows */
    const char *file;
    const struct myr_replay_options *options;
    struct myr_queue *queue;
    /* Jobs that are over give their place to those that come. */
    MYR_VEC(struct progress) present;
    MYR_VEC(uint32_t) unused; /* places */
    uint32_t *place_of;       /* by job */
    struct myr_heap ends;     /* value: run << 32 | job */
    int64_t now_s;
    uint64_t done;                     /* jobs that are over */
    int64_t lost_gpu_s, drained_gpu_s; /* by restarts and work done twice; idle on held nodes */
    uint64_t busy_gpus, waiting_gpus;
    double jct_sum_s; /* from submission to end, of all */
    struct myr_replay_result *result;
};

/* Only while the job is there: its place is another's afterwards. */
static struct progress *progress_of(const struct replay *r, uint32_t id)
{
    MYR_SLOW_ASSERT(id < r->count);
    MYR_SLOW_ASSERT(r->place_of[id] < r->present.count);
    return &r->present.items[r->place_of[id]];
}

struct myr_replay_options myr_replay_default(const struct myr_place_shape *shape)
{
    return (struct myr_replay_options){
        .shape = *shape, .policy = myr_queue_policy_default(), .explain = MYR_NONE};
}

/* Tells of the begin of a run, and keeps its nodes for the end. */
static void tell_start(struct replay *r, uint32_t id)
{
    struct progress *job = progress_of(r, id);
    const struct myr_gang *gang = myr_queue_gang(r->queue, id);
    MYR_ASSERT(job->gang.count == 0);
    MYR_ASSERT(gang->count > 0);
    job->gang = (struct myr_gang){gang->count, myr_xcalloc(gang->count, sizeof(*gang->shares))};
    memcpy(job->gang.shares, gang->shares, gang->count * sizeof(*gang->shares));
    r->options->event(r->options->event_context,
                      &(struct myr_replay_event){MYR_REPLAY_START, id, r->now_s, &job->gang});
}

/* Called before the job leaves: its nodes are told with the end. */
static void tell_end(struct replay *r, uint32_t id, enum myr_replay_event_kind kind)
{
    struct progress *job = progress_of(r, id);
    if (job->gang.count) { /* none: nobody listens */
        MYR_ASSERT(r->options->event && job->runs);
        r->options->event(r->options->event_context,
                          &(struct myr_replay_event){kind, id, r->now_s, &job->gang});
        free(job->gang.shares);
        job->gang = (struct myr_gang){};
    }
}

/* The queue has decided it; the end is known at once, unless it is stopped before. */
static void start_job(struct replay *r, uint32_t id)
{
    const struct myr_place_shape *shape = &r->options->shape;
    struct progress *job = progress_of(r, id);
    struct myr_replay_job *row = &r->result->job_rows.items[id];
    uint32_t gpus = r->rows[id].gpus;
    MYR_ASSERT(!job->runs);
    MYR_ASSERT(r->waiting_gpus >= gpus);
    MYR_ASSERT(job->left_s >= 0);
    MYR_SLOW_ASSERT(job->idle_since_s <= r->now_s);
    /* The span counts at the first start alone. */
    if (job->run == 0) {
        const struct myr_gang *gang = myr_queue_gang(r->queue, id);
        row->groups = (uint16_t)myr_gang_groups(myr_queue_placer(r->queue), gang);
        row->groups_min = (uint16_t)((gang->count + shape->group_nodes - 1) / shape->group_nodes);
    }
    int64_t idle_s = r->now_s - job->idle_since_s;
    if (idle_s > job->longest.length_s) {
        job->longest = (struct myr_replay_wait){id, idle_s, r->now_s};
    }
    /* Restoring a checkpoint is time in which the job does not work: it waits. */
    int64_t restart_s = job->run ? r->options->policy.restart_s : 0;
    row->wait_s += idle_s + restart_s;
    r->lost_gpu_s += restart_s * gpus;
    job->started_s = r->now_s;
    job->work_from_s = r->now_s + restart_s;
    job->run++;
    job->runs = true;
    r->busy_gpus += gpus;
    r->waiting_gpus -= gpus;
    MYR_ASSERT(r->busy_gpus <= (uint64_t)shape->nodes * shape->gpus_per_node);
    /* The run is part of the entry: when it is stopped the entry stays, and is void. */
    myr_heap_push(&r->ends, job->work_from_s + job->left_s, (uint64_t)job->run << 32 | id);
}

/* It goes on from its last checkpoint when it is started again. */
static void stop_job(struct replay *r, uint32_t id)
{
    struct progress *job = progress_of(r, id);
    struct myr_replay_job *row = &r->result->job_rows.items[id];
    uint32_t gpus = r->rows[id].gpus;
    int64_t period_s = r->options->policy.checkpoint_s;
    int64_t worked_s = r->now_s - job->work_from_s;
    MYR_ASSERT(job->runs);
    MYR_ASSERT(r->now_s > job->started_s); /* a queue takes such a start back */
    MYR_ASSERT(r->busy_gpus >= gpus);
    MYR_ASSERT(worked_s <= job->left_s);
    tell_end(r, id, MYR_REPLAY_STOP);
    if (worked_s < 0) {
        row->wait_s += worked_s; /* it did not even restart in full */
        r->lost_gpu_s += worked_s * gpus;
        worked_s = 0;
    }
    /* Work since the last checkpoint is done again. */
    int64_t saved_s = period_s > 0 ? worked_s - worked_s % period_s : 0;
    MYR_ASSERT(saved_s >= 0 && saved_s <= worked_s);
    job->left_s -= saved_s;
    r->lost_gpu_s += (worked_s - saved_s) * gpus;
    job->idle_since_s = r->now_s;
    job->runs = false;
    MYR_ASSERT(job->left_s >= 0);
    row->stops++;
    r->busy_gpus -= gpus;
    r->waiting_gpus += gpus;
    r->result->preemptions++;
}

/* Told to the queue last: it may forget the job with that. */
static void end_job(struct replay *r, uint32_t id)
{
    struct progress *job = progress_of(r, id);
    struct myr_replay_job *row = &r->result->job_rows.items[id];
    MYR_ASSERT(job->runs);
    MYR_ASSERT(r->busy_gpus >= r->rows[id].gpus);
    MYR_ASSERT(r->now_s == job->work_from_s + job->left_s); /* all of its work is done */
    tell_end(r, id, MYR_REPLAY_END);
    job->runs = false;
    MYR_ASSERT(r->now_s >= r->rows[id].submit_s);
    row->end_s = r->now_s;
    r->jct_sum_s += (double)(row->end_s - r->rows[id].submit_s);
    r->busy_gpus -= r->rows[id].gpus;
    /* Who was never stopped waited once, and that can be found from its row. */
    if (row->stops) {
        myr_vec_push(&r->result->longest, job->longest);
    }
    myr_vec_push(&r->unused, r->place_of[id]);
    MYR_ASSERT(r->unused.count <= r->present.count);
    r->place_of[id] = MYR_NONE;
    int rc = myr_queue_finish(r->queue, r->now_s, id);
    MYR_ASSERT(rc == MYR_OK);
    r->done++;
    MYR_SLOW_ASSERT(r->done <= r->result->job_rows.count);
    if (r->done % PROGRESS_STEP == 0 && r->options->progress) {
        r->options->progress(r->options->context, r->done);
    }
}

/* Decisions of one moment, in their order. */
static void carry_out(struct replay *r)
{
    uint32_t count;
    const struct myr_decision *decisions = myr_queue_decide(r->queue, r->now_s, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct myr_decision *d = &decisions[i];
        MYR_ASSERT(d->job < r->result->job_rows.count);
        if (d->kind == MYR_DECIDE_START) {
            start_job(r, d->job);
            if (r->options->event) {
                tell_start(r, d->job);
            }
        } else if (d->kind == MYR_DECIDE_STOP) {
            stop_job(r, d->job);
        }
        /* A sum: it does not depend on the order of the decisions of one moment. */
        r->result->hash +=
            myr_hash_u64((uint64_t)d->job << 34 ^ (uint64_t)d->kind << 62 ^ (uint64_t)r->now_s);
        r->result->decisions++;
    }
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Waits weighted by what the jobs use, and of those who ask for most. */
static void summarise_work(struct replay *r)
{
    struct myr_replay_result *result = r->result;
    const struct myr_place_shape *shape = &r->options->shape;
    uint64_t half = ((uint64_t)shape->nodes * shape->gpus_per_node + 1) / 2;
    double weighted = 0, weights = 0;
    for (size_t i = 0; i < result->job_rows.count; i++) {
        double wait_h = (double)result->job_rows.items[i].wait_s / 3600;
        /* By what the trace asks for, whatever a replay made of it. */
        double weight = (double)r->rows[i].gpus * (double)r->rows[i].duration_s;
        weighted += weight * wait_h;
        weights += weight;
        if (r->rows[i].gpus >= half && wait_h > result->gang_half_max_h) {
            result->gang_half_max_h = wait_h;
        }
    }
    result->wait_gpu_hours_h = weights > 0 ? weighted / weights : 0;
}

/* Over all jobs, which have ended by now. */
static void summarise(struct replay *r)
{
    struct myr_replay_result *result = r->result;
    size_t count = result->job_rows.count;
    int64_t *waits = myr_xcalloc(count, sizeof(*waits));
    double sum = 0, multi = 0, multi_max = 0, gpu_s = 0, span = 0;
    for (size_t i = 0; i < count; i++) {
        const struct myr_replay_job *row = &result->job_rows.items[i];
        waits[i] = row->wait_s;
        sum += (double)row->wait_s;
        gpu_s += (double)r->rows[i].duration_s * (double)r->rows[i].gpus;
        if (r->rows[i].gpus > r->options->shape.gpus_per_node) {
            result->multinode_jobs++;
            multi += (double)row->wait_s;
            multi_max = (double)row->wait_s > multi_max ? (double)row->wait_s : multi_max;
            span += (double)row->groups / row->groups_min;
        }
    }
    qsort(waits, count, sizeof(*waits), by_value);
    double n = (double)count, multi_n = (double)result->multinode_jobs;
    /* The first row is the earliest: they are sorted. */
    int64_t from_s = r->rows[0].submit_s;
    double capacity = (double)r->options->shape.nodes * r->options->shape.gpus_per_node *
                      (double)(r->now_s - from_s);
    result->jobs = count;
    result->wait_mean_h = sum / n / 3600;
    /* By nearest rank: so many of a hundred have waited no longer. */
    size_t middle = (count * 50 + 99) / 100 - 1, late = (count * 99 + 99) / 100 - 1;
    result->wait_p50_h = (double)waits[middle] / 3600;
    result->wait_p99_h = (double)waits[late] / 3600;
    result->wait_max_h = (double)waits[count - 1] / 3600;
    result->multinode_wait_mean_h = multi_n > 0 ? multi / multi_n / 3600 : 0;
    result->multinode_wait_max_h = multi_max / 3600;
    result->jct_mean_h = r->jct_sum_s / n / 3600;
    result->leaf_span = multi_n > 0 ? span / multi_n : 1;
    result->gpu_utilisation = capacity > 0 ? gpu_s / capacity : 0;
    result->lost_gpu_hours_percent = gpu_s > 0 ? 100 * (double)r->lost_gpu_s / gpu_s : 0;
    result->drain_idle_percent = capacity > 0 ? 100 * (double)r->drained_gpu_s / capacity : 0;
    free(waits);
    summarise_work(r);
}

/* The state of the cluster at equal steps of time. */
static void sample(struct replay *r, int64_t until_s)
{
    uint32_t most = r->options->samples;
    int64_t from_s = r->rows[0].submit_s;
    int64_t last_s = r->rows[r->count - 1].submit_s;
    /* Steps divide the time up to the last submission. */
    int64_t step_s = most > 1 ? (last_s - from_s) / (most - 1) : 0;
    const struct myr_placer *placer = myr_queue_placer(r->queue);
    while (r->result->samples.count < most) {
        int64_t at_s = from_s + step_s * (int64_t)r->result->samples.count;
        /* What happens at this very moment is not in the sample. */
        if (at_s >= until_s) {
            return;
        }
        struct myr_replay_sample s = {.time_s = at_s,
                                      .busy_gpus = (uint32_t)r->busy_gpus,
                                      .waiting_gpus = (uint32_t)r->waiting_gpus,
                                      .free_nodes = myr_placer_free_nodes(placer)};
        const struct myr_place_shape *shape = &r->options->shape;
        uint64_t whole = UINT64_MAX >> (64 - shape->gpus_per_node);
        for (uint32_t first = 0; first < shape->nodes; first += shape->group_nodes) {
            uint32_t n = first, end = first + shape->group_nodes;
            end = end < shape->nodes ? end : shape->nodes;
            while (n < end && myr_placer_free_mask(placer, n) == whole) {
                n++;
            }
            s.free_nodes_in_whole_groups += n == end ? end - first : 0;
        }
        MYR_ASSERT(s.free_nodes_in_whole_groups <= shape->nodes);
        myr_vec_push(&r->result->samples, s);
    }
}

/* Its progress takes a place that a job which is over has left. */
static void add_job(struct replay *r, uint32_t id)
{
    MYR_SLOW_ASSERT(id == r->result->job_rows.count);
    MYR_SLOW_ASSERT(r->rows[id].submit_s == r->now_s);
    struct progress job = {.left_s = r->rows[id].duration_s, .idle_since_s = r->now_s};
    if (r->unused.count) {
        r->place_of[id] = r->unused.items[--r->unused.count];
        *progress_of(r, id) = job;
    } else {
        r->place_of[id] = (uint32_t)r->present.count;
        myr_vec_push(&r->present, job);
    }
    MYR_ASSERT(r->place_of[id] < r->present.count);
    r->waiting_gpus += r->rows[id].gpus;
    myr_vec_push(&r->result->job_rows, (struct myr_replay_job){});
}

/* Everything that comes at this moment. */
static int submit_arrivals(struct replay *r, size_t *arrived, struct myr_err *err)
{
    for (; *arrived < r->count && r->rows[*arrived].submit_s == r->now_s; (*arrived)++) {
        const struct myr_job_row *row = &r->rows[*arrived];
        struct myr_queue_job spec = {
            .tenant = row->tenant, .gpus = row->gpus, .priority = row->priority};
        uint32_t id;
        /* A job that can never fit is the trace's fault: the message names its line. */
        int rc = myr_queue_submit(r->queue, r->now_s, &spec, &id, err);
        if (rc < 0) {
            char message[MYR_ERR_MESSAGE_MAX];
            snprintf(message, sizeof(message), "%s", err ? err->message : "");
            return myr_err_set(err, rc, "%.200s:%u:1: %.250s", r->file, row->line, message);
        }
        MYR_ASSERT(id == *arrived);
        add_job(r, id);
    }
    return MYR_OK;
}

/* Goes to the next moment at which something happens; false when nothing does any more. */
static int advance(struct replay *r, size_t *arrived, bool *ret_more, struct myr_err *err)
{
    int64_t next_s = *arrived < r->count ? r->rows[*arrived].submit_s : INT64_MAX;
    int64_t end_s = r->ends.count ? r->ends.items[0].key : INT64_MAX;
    int64_t wake_s = myr_queue_wake_s(r->queue);
    next_s = end_s < next_s ? end_s : next_s;
    next_s = wake_s < next_s ? wake_s : next_s;
    /* Wakes alone do not keep it going once all jobs are over. */
    *ret_more = next_s != INT64_MAX && r->done < r->count;
    if (!*ret_more) {
        return MYR_OK;
    }
    MYR_ASSERT(next_s >= r->now_s || r->result->job_rows.count == 0);
    sample(r, next_s);
    const struct myr_replay_options *options = r->options;
    /* The queue is asked as it stands between two events. */
    if (options->explain < *arrived && options->explain_at_s >= r->now_s &&
        options->explain_at_s < next_s) {
        myr_queue_why(r->queue, options->explain_at_s, options->explain, &r->result->why);
    }
    MYR_ASSERT(r->done <= *arrived && *arrived <= r->count);
    r->now_s = next_s;
    struct myr_heap_item item;
    while (r->ends.count && r->ends.items[0].key == next_s && myr_heap_pop(&r->ends, &item)) {
        /* A run that was stopped has left its end behind; the job may even be over since. */
        uint32_t id = (uint32_t)item.value;
        if (r->place_of[id] != MYR_NONE && progress_of(r, id)->runs &&
            progress_of(r, id)->run == item.value >> 32) {
            MYR_ASSERT(id < *arrived);
            end_job(r, id);
        }
    }
    return submit_arrivals(r, arrived, err);
}

/* From moment to moment until every job is over. */
static int run(struct replay *r, struct myr_err *err)
{
    size_t arrived = 0;
    for (bool more = true; more;) {
        int rc = advance(r, &arrived, &more, err);
        if (rc < 0) {
            return rc;
        }
        if (more) {
            carry_out(r);
        }
    }
    MYR_ASSERT(r->done == r->count);
    MYR_ASSERT(r->busy_gpus == 0);
    MYR_ASSERT(r->waiting_gpus == 0);
    r->drained_gpu_s = myr_queue_drained_gpu_s(r->queue);
    sample(r, INT64_MAX);
    return MYR_OK;
}

/* Everything but the result, and may be called twice. */
static void replay_done(struct replay *r)
{
    free(r->place_of);
    r->place_of = NULL;
    for (size_t i = 0; i < r->present.count; i++) {
        free(r->present.items[i].gang.shares);
    }
    myr_vec_done(&r->present);
    myr_vec_done(&r->unused);
    myr_heap_done(&r->ends);
    myr_queue_free(r->queue);
    r->queue = NULL;
}

/* A copy of the trace's rows that come a little earlier or later. */
static void jitter(struct myr_replay_result *ret, const struct myr_joblog *trace,
                   const struct myr_replay_options *options)
{
    struct myr_rng rng;
    struct myr_joblog moved = {};
    myr_rng_init(&rng, options->seed, 0);
    myr_vec_reserve(&moved.jobs, trace->jobs.count);
    for (size_t i = 0; i < trace->jobs.count; i++) {
        struct myr_job_row row = trace->jobs.items[i];
        /* Evenly, as much earlier as later. */
        row.submit_s += myr_rng_below(&rng, (uint32_t)(2 * options->jitter_s + 1));
        row.submit_s -= options->jitter_s;
        myr_vec_push(&moved.jobs, row);
    }
    myr_joblog_sort(&moved);
    ret->moved.items = moved.jobs.items;
    ret->moved.count = moved.jobs.count;
    ret->moved.capacity = moved.jobs.capacity;
    ret->submitted = ret->moved.items;
}

/* Without tenants given all are equal. */
static int create_queue(const struct myr_joblog *trace, const struct myr_replay_options *options,
                        struct myr_queue **ret, struct myr_err *err)
{
    if (options->tenants) {
        return myr_queue_create(&options->shape, &options->policy, options->tenants, trace->tenants,
                                ret, err);
    }
    struct myr_tenant *equal = myr_xcalloc(trace->tenants, sizeof(*equal));
    for (uint32_t t = 0; t < trace->tenants; t++) {
        equal[t] = (struct myr_tenant){.parent = MYR_NONE, .weight = 1};
    }
    int rc = myr_queue_create(&options->shape, &options->policy, equal, trace->tenants, ret, err);
    free(equal);
    return rc;
}

/* Pushed as jobs end; looked up by job. */
static int by_job(const void *a, const void *b)
{
    const struct myr_replay_wait *x = a, *y = b;
    return x->job < y->job ? -1 : x->job > y->job;
}

int myr_replay(const struct myr_joblog *trace, const struct myr_replay_options *options,
               struct myr_replay_result *ret, struct myr_err *err)
{
    *ret = (struct myr_replay_result){.submitted = trace->jobs.items};
    if (trace->jobs.count == 0) {
        return myr_err_set(err, MYR_EINVAL, "the trace has no jobs that need GPUs");
    }
    if (options->jitter_s > 0) {
        jitter(ret, trace, options);
    }
    MYR_CLEANUP(replay_done)
    struct replay r = {.rows = ret->submitted,
                       .count = trace->jobs.count,
                       .file = trace->file,
                       .options = options,
                       .result = ret};
    int rc = create_queue(trace, options, &r.queue, err);
    if (rc == MYR_OK) {
        r.place_of = myr_xcalloc(r.count, sizeof(*r.place_of));
        rc = run(&r, err);
    }
    if (rc < 0) {
        myr_replay_result_done(ret);
        return rc;
    }
    replay_done(&r); /* summing up takes memory too: not both at once */
    summarise(&r);
    if (ret->longest.count) {
        qsort(ret->longest.items, ret->longest.count, sizeof(*ret->longest.items), by_job);
    }
    return MYR_OK;
}

struct myr_replay_wait myr_replay_longest(const struct myr_replay_result *result, uint32_t job)
{
    struct myr_replay_wait key = {.job = job};
    const struct myr_replay_wait *known =
        result->longest.count
            ? bsearch(&key, result->longest.items, result->longest.count, sizeof(key), by_job)
            : NULL;
    if (known) {
        return *known;
    }
    /* It ran in one piece: it waited once, from the start. */
    key.length_s = result->job_rows.items[job].wait_s;
    key.end_s = result->submitted[job].submit_s + key.length_s;
    return key;
}

void myr_replay_result_done(struct myr_replay_result *result)
{
    myr_vec_done(&result->job_rows);
    myr_vec_done(&result->moved);
    myr_vec_done(&result->longest);
    myr_vec_done(&result->samples);
}
