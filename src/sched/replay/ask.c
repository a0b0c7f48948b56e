#include <stdlib.h>

#include "myriad/sched/replay_answer.h"
#include "replay/ask.h"
#include "replay/schedule.h"

const char *const myr_replay_policy_names[MYR_REPLAY_POLICIES] = {"fifo", "first-fit", "fair",
                                                                  "preempt"};

/*
 * A replay as a question and its answer: reads the trace and the tenants, plays it, and sums up by
 * tenant, by size and by the longest waits. To explain a job the trace is played a second time, up
 * to the middle of the wait that the first time found.
 */

/*
 * Tenants of the file, the command line and the trace, as one tree; they
 * lie in the trace's arena.
 */
static int read_tenants(const struct myr_replay_question *question, struct myr_joblog *trace,
                        struct myr_tenant **ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_tenant_tree_done) struct myr_tenant_tree tree;
    myr_tenant_tree_init(&tree);
    if (question->tenants) {
        int rc = myr_tenant_tree_read(&tree, question->tenants, err);
        if (rc < 0) {
            return rc;
        }
    }
    /* After the file: the command line changes what that says. */
    for (uint32_t i = 0; i < question->own_count; i++) {
        int rc = myr_tenant_tree_own(&tree, question->own[i], err);
        if (rc < 0) {
            return rc;
        }
    }
    return myr_tenant_tree_join(&tree, trace, ret, err);
}

/* What the replay's own calls lack: whom to tell, and of how many. */
struct progress {
    const struct myr_replay_question *question;
    uint64_t total;
};

static void tell_ended(void *context, uint64_t done)
{
    const struct progress *it = context;
    it->question->progress(it->question->context, "jobs ended", done, it->total);
}

static void tell_read(void *context, uint64_t rows)
{
    const struct myr_replay_question *question = context;
    if (question->progress) {
        question->progress(question->context, "rows read", rows, 0);
    }
}

/* What the queue and the replay are asked for; 'progress' must live as long as they do. */
static struct myr_replay_options options_of(const struct myr_replay_question *question,
                                            const struct myr_place_shape *shape,
                                            struct progress *progress)
{
    struct myr_replay_options options = myr_replay_default(shape);
    static const enum myr_queue_preset presets[MYR_REPLAY_POLICIES] = {
        [MYR_REPLAY_FIFO] = MYR_QUEUE_FIFO,
        [MYR_REPLAY_FIRST_FIT] = MYR_QUEUE_FIRST_FIT,
        [MYR_REPLAY_FAIR] = MYR_QUEUE_FAIR,
        [MYR_REPLAY_PREEMPT] = MYR_QUEUE_PREEMPT,
    };
    options.policy = myr_queue_policy_preset(presets[question->policy]);
    options.jitter_s = question->jitter_s;
    options.seed = question->seed;
    options.samples = question->samples;
    options.progress = question->progress ? tell_ended : NULL;
    options.context = progress;
    return options;
}

/* A job of the list of waits, by what the trace calls it. */
static struct myr_replay_longest_row row_of(struct myr_replay_answer *a, uint32_t job)
{
    const struct myr_job_row *asked = &a->result.submitted[job];
    const struct myr_replay_job *got = &a->result.job_rows.items[job];
    struct myr_joblog_note note;
    (void)myr_joblog_note(&a->trace, NULL, asked->line, &note);
    return (struct myr_replay_longest_row){
        .line = asked->line,
        .gpus = asked->gpus,
        .stops = got->stops,
        .tenant = a->trace.tenant_names[asked->tenant],
        .id = note.id.len ? myr_arena_strndup(&a->trace.arena, note.id.data, note.id.len) : NULL,
        .wait_h = (double)got->wait_s / 3600};
}

/* The line of the trace that is asked about; 0: the job that waited longest. */
static int find_line(const struct myr_joblog *trace, const char *which, uint32_t *ret,
                     struct myr_err *err)
{
    struct myr_str text = myr_str_from(which), number = text;
    bool by_line = text.len > 5 && memcmp(which, "line:", 5) == 0;
    char words[MYR_EXCERPT_MAX];
    uint64_t line = 0;
    uint32_t found[2] = {};
    *ret = 0;
    /* Ids first: one may be called 'longest', or look like a line. */
    uint64_t count = myr_joblog_find(trace, text, MYR_ARRAY_COUNT(found), found);
    if (count > 1) {
        return myr_err_set(err, MYR_EINVAL,
                           "--explain '%s': %llu rows of the trace have this id; line:%u or "
                           "line:%u says which is meant",
                           myr_text_excerpt(text, words), (unsigned long long)count, found[0],
                           found[1]);
    }
    if (count == 1 || myr_str_eq(text, MYR_STR("longest"))) {
        *ret = found[0];
        return MYR_OK;
    }
    number.data += by_line ? 5 : 0;
    number.len -= by_line ? 5 : 0;
    /* With ids in the log a bare number is an id that it does not have. */
    if ((!by_line && trace->notes.has_ids) || !myr_str_to_u64(number, &line) || line == 0 ||
        line > UINT32_MAX) {
        return myr_err_set(err, MYR_ENOENT,
                           "--explain '%s': the id of a job in the trace, line:N for the one on a "
                           "line, or 'longest', is expected",
                           myr_text_excerpt(text, words));
    }
    *ret = (uint32_t)line;
    return MYR_OK;
}

/* The job on this line, or where that is 0 the one that waited longest. */
static int find_job(const struct myr_replay_result *result, uint32_t line, uint32_t *ret,
                    struct myr_err *err)
{
    uint32_t best = MYR_NONE;
    for (size_t i = 0; i < result->job_rows.count; i++) {
        const struct myr_replay_job *row = &result->job_rows.items[i];
        /* Lines are not sorted by submission, so all are looked at. */
        if (line ? result->submitted[i].line == line
                 : best == MYR_NONE || row->wait_s > result->job_rows.items[best].wait_s) {
            best = (uint32_t)i;
        }
    }
    if (best == MYR_NONE) {
        return myr_err_set(err, MYR_ENOENT,
                           "--explain: line %u of the trace has no job that was "
                           "replayed",
                           line);
    }
    *ret = best;
    return MYR_OK;
}

/* The queue's numbers mean nothing to a reader: jobs go by their line in the trace. */
static void name_by_line(const struct myr_replay_result *result, struct myr_why *why)
{
    for (uint32_t i = 0; i < why->stop_count && i < MYR_WHY_STOPS_MAX; i++) {
        why->stops[i] = result->submitted[why->stops[i]].line;
    }
    for (uint32_t i = 0; i < why->trial_count; i++) {
        struct myr_trial *trial = &why->trials[i];
        for (uint32_t k = 0; k < trial->job_count; k++) {
            trial->jobs[k] = result->submitted[trial->jobs[k]].line;
        }
        for (uint32_t k = 0; k < trial->move_count; k++) {
            trial->moves[k].job = result->submitted[trial->moves[k].job].line;
        }
    }
    why->held_for = why->held_for == MYR_NONE ? MYR_NONE : result->submitted[why->held_for].line;
}

/* Plays it once more and asks in the middle of the job's longest wait. */
static int explain(const struct myr_replay_question *question, struct myr_replay_options *options,
                   struct myr_replay_answer *a, struct myr_err *err)
{
    uint32_t line = 0, job = 0;
    MYR_TRY(find_line(&a->trace, question->explain, &line, err));
    MYR_TRY(find_job(&a->result, line, &job, err));
    struct myr_replay_wait wait = myr_replay_longest(&a->result, job);
    options->explain = job;
    options->explain_at_s = wait.end_s - wait.length_s / 2 - (wait.length_s > 0);
    /* Drawn already. */
    options->samples = 0;
    options->event = NULL; /* all of it was told already */
    MYR_CLEANUP(myr_replay_result_done) struct myr_replay_result again = {};
    MYR_TRY(myr_replay(&a->trace, options, &again, err));
    a->explained = true;
    a->explained_job = row_of(a, job);
    a->why = again.why;
    name_by_line(&again, &a->why);
    return MYR_OK;
}

/* Numbers of the tenants in the order of their tree: children behind their parent. */
static uint32_t *tree_order(const struct myr_tenant *tenants, uint32_t count,
                            struct myr_arena *arena)
{
    uint32_t *first = MYR_ARENA_NEW(arena, uint32_t, count + 1); /* child; the last one: root */
    uint32_t *next = MYR_ARENA_NEW(arena, uint32_t, count);      /* brother */
    uint32_t *order = MYR_ARENA_NEW(arena, uint32_t, count);
    for (uint32_t t = 0; t <= count; t++) {
        first[t] = MYR_NONE;
    }
    for (uint32_t t = count; t-- > 0;) { /* backwards, so that lists run forwards */
        uint32_t parent = tenants[t].parent == MYR_NONE ? count : tenants[t].parent;
        next[t] = first[parent];
        first[parent] = t;
    }
    uint32_t used = 0;
    /* Depth first: a tenant, then its children, then its next brother or an uncle. */
    for (uint32_t t = first[count]; t != MYR_NONE;) {
        order[used++] = t;
        if (first[t] != MYR_NONE) {
            t = first[t];
            continue;
        }
        while (t != MYR_NONE && next[t] == MYR_NONE) {
            t = tenants[t].parent;
        }
        t = t == MYR_NONE ? MYR_NONE : next[t];
    }
    MYR_ASSERT(used == count);
    return order;
}

/* Rows in the order of the tree; jobs count for their own tenant, not for those above it. */
static void sum_tenants(struct myr_replay_answer *a, const struct myr_tenant *tenants,
                        struct myr_arena *arena)
{
    const struct myr_joblog *trace = &a->trace;
    uint32_t *order = tree_order(tenants, trace->tenants, arena);
    uint32_t *row_of_tenant = MYR_ARENA_NEW(arena, uint32_t, trace->tenants);
    a->tenant_count = trace->tenants;
    a->tenants = MYR_ARENA_NEW(arena, struct myr_replay_tenant_row, trace->tenants);
    for (uint32_t i = 0; i < trace->tenants; i++) {
        const struct myr_tenant *tenant = &tenants[order[i]];
        struct myr_replay_tenant_row *row = &a->tenants[i];
        bool is_root = tenant->parent == MYR_NONE;
        row->name = trace->tenant_names[order[i]];
        row->parent = is_root ? NULL : trace->tenant_names[tenant->parent];
        /* Parents come first in this order, so their depth is known. */
        row->depth = is_root ? 0 : a->tenants[row_of_tenant[tenant->parent]].depth + 1;
        row->weight = tenant->weight;
        row->own_nodes = myr_tenant_nodes(tenant, &a->cluster.shape);
        row_of_tenant[order[i]] = i;
    }
    for (size_t i = 0; i < a->result.job_rows.count; i++) {
        const struct myr_job_row *job = &a->result.submitted[i];
        struct myr_replay_tenant_row *row = &a->tenants[row_of_tenant[job->tenant]];
        double wait_h = (double)a->result.job_rows.items[i].wait_s / 3600;
        row->jobs++;
        row->gpu_hours += (double)job->duration_s * (double)job->gpus / 3600;
        row->wait_mean_h += wait_h; /* the sum, until all are counted */
        row->wait_max_h = wait_h > row->wait_max_h ? wait_h : row->wait_max_h;
    }
    for (uint32_t i = 0; i < a->tenant_count; i++) {
        a->tenants[i].wait_mean_h /= a->tenants[i].jobs ? (double)a->tenants[i].jobs : 1;
    }
}

/* The least power of two that holds it; the last class takes all larger ones. */
static uint32_t size_class(uint32_t gpus)
{
    uint32_t log = 0;
    while (log < MYR_REPLAY_SIZES_MAX - 1 && (UINT32_C(1) << log) < gpus) {
        log++;
    }
    return log;
}

static int by_wait(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Waits of one size, sorted, so that sums do not depend on who asks. */
static struct myr_replay_size_row size_row(uint32_t gpus, int64_t *waits, size_t count, double span)
{
    struct myr_replay_size_row row = {.gpus = gpus, .jobs = count, .span = span / (double)count};
    size_t late = (count * 99 + 99) / 100 - 1; /* by nearest rank */
    qsort(waits, count, sizeof(*waits), by_wait);
    for (size_t i = 0; i < count; i++) {
        row.wait_mean_h += (double)waits[i] / 3600;
    }
    row.wait_mean_h /= (double)count;
    row.wait_p99_h = (double)waits[late] / 3600;
    row.wait_max_h = (double)waits[count - 1] / 3600;
    return row;
}

/* Recorded waits of one size. */
struct recorded_size {
    uint32_t jobs;
    double sum_h;
};

/* What the log recorded, over all jobs of which it says so, and by size. */
static void sum_recorded(struct myr_replay_answer *a, struct recorded_size *ret)
{
    size_t count = a->result.job_rows.count, known = 0;
    struct myr_joblog_cursor cursor = {};
    if (!a->trace.notes.has_waits) {
        return;
    }
    int64_t *waits = myr_xcalloc(count, sizeof(*waits));
    for (size_t i = 0; i < count; i++) {
        struct myr_joblog_note note;
        const struct myr_job_row *job = &a->result.submitted[i];
        if (!myr_joblog_note(&a->trace, &cursor, job->line, &note) || note.waited_s < 0) {
            continue;
        }
        waits[known++] = note.waited_s;
        ret[size_class(job->gpus)].jobs++;
        ret[size_class(job->gpus)].sum_h += (double)note.waited_s / 3600;
        a->recorded.mean_h += (double)note.waited_s / 3600; /* the sum, until all are counted */
        a->recorded.replayed_mean_h += (double)a->result.job_rows.items[i].wait_s / 3600;
    }
    if (known) {
        qsort(waits, known, sizeof(*waits), by_wait);
        size_t p50 = (known * 50 + 99) / 100, p99 = (known * 99 + 99) / 100; /* by rank, from 1 */
        a->recorded.jobs = known;
        a->recorded.mean_h /= (double)known;
        a->recorded.replayed_mean_h /= (double)known;
        a->recorded.p50_h = (double)waits[p50 - 1] / 3600;
        a->recorded.p99_h = (double)waits[p99 - 1] / 3600;
        a->recorded.max_h = (double)waits[known - 1] / 3600;
    }
    free(waits);
}

/* By powers of two; sizes that no job has are left out. */
static void sum_sizes(struct myr_replay_answer *a)
{
    size_t count = a->result.job_rows.count, start[MYR_REPLAY_SIZES_MAX + 1] = {};
    size_t fill[MYR_REPLAY_SIZES_MAX];
    double span[MYR_REPLAY_SIZES_MAX] = {};
    /* A counting sort: the waits of one size lie together then. */
    for (size_t i = 0; i < count; i++) {
        start[size_class(a->result.submitted[i].gpus) + 1]++;
    }
    for (uint32_t c = 0; c < MYR_REPLAY_SIZES_MAX; c++) {
        fill[c] = start[c];
        start[c + 1] += start[c];
    }
    int64_t *waits = myr_xcalloc(count, sizeof(*waits));
    struct recorded_size recorded[MYR_REPLAY_SIZES_MAX] = {};
    sum_recorded(a, recorded);
    for (size_t i = 0; i < count; i++) {
        const struct myr_replay_job *job = &a->result.job_rows.items[i];
        uint32_t c = size_class(a->result.submitted[i].gpus);
        waits[fill[c]++] = job->wait_s;
        span[c] += (double)job->groups / job->groups_min;
    }
    for (uint32_t c = 0; c < MYR_REPLAY_SIZES_MAX; c++) {
        if (start[c + 1] > start[c]) {
            struct myr_replay_size_row *row = &a->sizes[a->size_count++];
            *row = size_row(UINT32_C(1) << c, waits + start[c], start[c + 1] - start[c], span[c]);
            row->recorded_jobs = recorded[c].jobs;
            row->recorded_mean_h = recorded[c].jobs ? recorded[c].sum_h / recorded[c].jobs : 0;
        }
    }
    free(waits);
}

/* Longest first; of equal ones the earlier. */
static void find_longest(struct myr_replay_answer *a)
{
    uint32_t jobs[MYR_REPLAY_LONGEST_ROWS], count = 0;
    const struct myr_replay_job *rows = a->result.job_rows.items;
    for (size_t i = 0; i < a->result.job_rows.count; i++) {
        /* Of equal waits the earlier job stands first. */
        uint32_t at = count;
        for (; at > 0 && rows[jobs[at - 1]].wait_s < rows[i].wait_s; at--) {
            if (at < MYR_REPLAY_LONGEST_ROWS) {
                jobs[at] = jobs[at - 1];
            }
        }
        if (at < MYR_REPLAY_LONGEST_ROWS) {
            jobs[at] = (uint32_t)i;
            count += count < MYR_REPLAY_LONGEST_ROWS;
        }
    }
    a->longest_count = count;
    for (uint32_t i = 0; i < count; i++) {
        a->longest[i] = row_of(a, jobs[i]);
    }
}

/* Only where a schedule was asked for. */
static void note_event(void *context, const struct myr_replay_event *event)
{
    struct myr_replay_answer *a = context;
    replay_schedule_row(&a->schedule, &a->trace, &a->result.submitted[event->job], event);
}

/* Jobs that no state of the cluster can hold are counted; where there are no others, an error. */
static int drop_too_large(struct myr_replay_answer *a, struct myr_err *err)
{
    const struct myr_place_shape *shape = &a->cluster.shape;
    uint64_t all = (uint64_t)shape->nodes * shape->gpus_per_node;
    a->too_large = myr_joblog_drop_larger(&a->trace, all, &a->too_large_line);
    if (a->trace.jobs.count == 0) {
        return myr_err_set(err, MYR_EINVAL,
                           "%.200s:%u:1: this job and all others need more GPUs than the cluster "
                           "has, %llu",
                           a->trace.file, a->too_large_line, (unsigned long long)all);
    }
    return MYR_OK;
}

int replay_ask_read(const struct myr_replay_question *question, struct myr_replay_answer *ret,
                    struct myr_tenant **ret_tenants, struct myr_err *err)
{
    MYR_TRY(myr_cluster_of(&question->cluster, &ret->cluster, err));
    /* Reading a long trace takes time: who watches is told of rows. */
    struct myr_joblog_listener listener = {tell_read, (void *)question};
    MYR_TRY(myr_joblog_read_telling(&ret->trace, question->trace, &listener, err));
    /* Before the tenants: those of dropped jobs alone stay, with no jobs. */
    MYR_TRY(drop_too_large(ret, err));
    return read_tenants(question, &ret->trace, ret_tenants, err);
}

int replay_ask_play(const struct myr_replay_question *question, const struct myr_tenant *tenants,
                    struct myr_arena *arena, struct myr_replay_answer *ret, struct myr_err *err)
{
    struct progress progress = {question, ret->trace.jobs.count};
    struct myr_replay_options options = options_of(question, &ret->cluster.shape, &progress);
    options.tenants = tenants;
    if (question->schedule) {
        options.event = note_event;
        options.event_context = ret;
        replay_schedule_head(&ret->schedule);
    }
    /* The replay alone is timed, not the reading. */
    int64_t start_ns = question->clock_ns ? question->clock_ns() : 0;
    MYR_TRY(myr_replay(&ret->trace, &options, &ret->result, err));
    ret->took_ns = question->clock_ns ? question->clock_ns() - start_ns : 0;
    /* Waits by tenant are told only where somebody said what tenants own. */
    ret->has_tenants = question->own_count > 0 || question->tenants != NULL;
    sum_tenants(ret, tenants, arena);
    sum_sizes(ret);
    find_longest(ret);
    return question->explain ? explain(question, &options, ret, err) : MYR_OK;
}

/* From the cluster to the explanation; what fails leaves 'ret' to be freed by the caller. */
static int answer(const struct myr_replay_question *question, struct myr_arena *arena,
                  struct myr_replay_answer *ret, struct myr_err *err)
{
    struct myr_tenant *tenants = NULL;
    MYR_TRY(replay_ask_read(question, ret, &tenants, err));
    return replay_ask_play(question, tenants, arena, ret, err);
}

int myr_replay_ask(const struct myr_replay_question *question, struct myr_arena *arena,
                   struct myr_replay_answer *ret, struct myr_err *err)
{
    *ret = (struct myr_replay_answer){};
    int rc = answer(question, arena, ret, err);
    if (rc < 0) {
        myr_replay_answer_done(ret);
    }
    return rc;
}

void myr_replay_answer_done(struct myr_replay_answer *answer)
{
    myr_replay_result_done(&answer->result);
    myr_buf_done(&answer->schedule);
    myr_joblog_done(&answer->trace);
}
