#include <stdio.h>
#include <unistd.h>

#include "sched.h"

static void put_why(const struct myr_replay_result *result, uint32_t job, struct myr_json *json)
{
    const struct myr_why *why = &result->why;
    const struct myr_replay_job *rows = result->job_rows.items;
    myr_json_object(json, "explain");
    myr_json_u64(json, "line", result->submitted[job].line);
    myr_json_u64(json, "gpus", why->gpus);
    myr_json_double(json, "wait_h", (double)rows[job].wait_s / 3600, 4);
    myr_json_double(json, "asked_at_h", (double)why->now_s / 3600, 4);
    myr_json_text(json, "lacks", myr_why_name(why->kind));
    myr_json_u64(json, "nodes_needed", why->nodes);
    myr_json_u64(json, "nodes_free", why->nodes_free);
    myr_json_u64(json, "nodes_held", why->nodes_held);
    myr_json_u64(json, "gpus_free", why->gpus_free);
    myr_json_u64(json, "ahead", why->ahead);
    myr_json_list(json, "end_or_move_lines");
    for (uint32_t i = 0; i < why->stop_count && i < MYR_WHY_STOPS_MAX; i++) {
        myr_json_u64(json, NULL, result->submitted[why->stops[i]].line);
    }
    myr_json_end(json);
    myr_json_u64(json, "end_or_move_jobs", why->stop_count);
    myr_json_u64(json, "end_or_move_gpus", why->stop_gpus);
    myr_json_end(json);
}

static void put_replay(const struct cli_sched_question *question, const struct myr_joblog *trace,
                       const struct myr_replay_options *options,
                       const struct myr_replay_result *result, double wall_s, struct myr_buf *buf)
{
    struct myr_json json;
    char hash[20];
    snprintf(hash, sizeof(hash), "%016llx", (unsigned long long)result->hash);
    myr_json_init(&json, buf, MYR_JSON_PRETTY);
    myr_json_object(&json, NULL);
    myr_json_u64(&json, "jobs", result->jobs);
    myr_json_object(&json, "wait_h");
    myr_json_double(&json, "mean", result->wait_mean_h, 4);
    myr_json_double(&json, "p50", result->wait_p50_h, 4);
    myr_json_double(&json, "p99", result->wait_p99_h, 4);
    myr_json_double(&json, "max", result->wait_max_h, 4);
    myr_json_end(&json);
    myr_json_object(&json, "wait_h_multinode");
    myr_json_double(&json, "mean", result->multinode_wait_mean_h, 4);
    myr_json_double(&json, "max", result->multinode_wait_max_h, 4);
    myr_json_end(&json);
    myr_json_object(&json, "jct_h");
    myr_json_double(&json, "mean", result->jct_mean_h, 4);
    myr_json_end(&json);
    myr_json_double(&json, "leaf_span", result->leaf_span, 4);
    myr_json_double(&json, "gpu_utilisation", result->gpu_utilisation, 4);
    myr_json_u64(&json, "preemptions", result->preemptions);
    myr_json_double(&json, "lost_gpu_hours_percent", result->lost_gpu_hours_percent, 4);
    myr_json_double(&json, "wall_s", wall_s, 3);
    myr_json_text(&json, "hash", hash);
    if (question->own.count || question->tenants) {
        cli_sched_tenants(trace, options->tenants, &options->shape, result, &json, NULL);
    }
    if (options->explain != MYR_NONE) {
        put_why(result, options->explain, &json);
    }
    myr_json_end(&json);
    myr_buf_putc(buf, '\n');
}

static void put_replay_text(const struct myr_replay_result *result, double wall_s,
                            struct myr_buf *buf)
{
    char jobs[32];
    myr_buf_printf(buf, "jobs          %s\n", myr_u64_grouped(result->jobs, jobs));
    myr_buf_printf(buf, "wait h        mean %.3f  p50 %.3f  p99 %.2f  max %.1f\n",
                   result->wait_mean_h, result->wait_p50_h, result->wait_p99_h, result->wait_max_h);
    myr_buf_printf(buf, "multi-node    mean %.2f  max %.1f\n", result->multinode_wait_mean_h,
                   result->multinode_wait_max_h);
    myr_buf_printf(buf, "leaf span     %.3f\n", result->leaf_span);
    myr_buf_printf(buf, "utilisation   %.3f\n", result->gpu_utilisation);
    myr_buf_printf(buf, "preemptions   %llu, %.2f %% of the GPU hours lost\n",
                   (unsigned long long)result->preemptions, result->lost_gpu_hours_percent);
    myr_buf_printf(buf, "took          %.3f s\n", wall_s);
}

/* Jobs go by their line in the trace here: the queue's numbers mean nothing to the reader. */
static void put_why_text(const struct myr_replay_result *result, uint32_t job, struct myr_buf *buf)
{
    struct myr_why why = result->why;
    for (uint32_t i = 0; i < why.stop_count && i < MYR_WHY_STOPS_MAX; i++) {
        why.stops[i] = result->submitted[why.stops[i]].line;
    }
    why.held_for = why.held_for == MYR_NONE ? MYR_NONE : result->submitted[why.held_for].line;
    myr_buf_printf(buf, "\nAfter %.1f h of the trace (jobs by their line in it):\n",
                   (double)why.now_s / 3600);
    myr_why_text(&why, result->submitted[job].line, buf);
}

/* 'preempt' is 'fair' with preemption; the others name the order. */
static struct myr_replay_options options_of(const struct cli_sched_question *question,
                                            const struct myr_place_shape *shape)
{
    struct myr_replay_options options = myr_replay_default(shape);
    options.policy.preempt = question->policy > MYR_ORDER_FAIR;
    options.policy.order =
        options.policy.preempt ? MYR_ORDER_FAIR : (enum myr_order)question->policy;
    options.jitter_s = (int64_t)question->jitter_s;
    options.seed = question->seed;
    return options;
}

static void show_progress(void *context, uint64_t done)
{
    myr_progress_update(context, done, myr_clock_ns());
}

static int run_replay(const struct myr_joblog *trace, struct myr_replay_options *options,
                      struct myr_replay_result *ret, struct myr_err *err)
{
    struct myr_progress progress;
    myr_progress_init(&progress, "jobs ended", trace->jobs.count, isatty(STDERR_FILENO),
                      myr_clock_ns());
    options->progress = show_progress;
    options->context = &progress;
    int r = myr_replay(trace, options, ret, err);
    myr_progress_done(&progress);
    return r;
}

/* The job on this line of the trace, or the one that waited longest; MYR_NONE: there is none. */
static uint32_t find_job(const struct myr_replay_result *result, struct myr_str which)
{
    uint64_t line = 0;
    if (!myr_str_eq(which, MYR_STR("longest")) && (!myr_str_to_u64(which, &line) || line == 0)) {
        return MYR_NONE;
    }
    uint32_t best = MYR_NONE;
    for (size_t i = 0; i < result->job_rows.count; i++) {
        const struct myr_replay_job *row = &result->job_rows.items[i];
        if (line ? result->submitted[i].line == line
                 : best == MYR_NONE || row->wait_s > result->job_rows.items[best].wait_s) {
            best = (uint32_t)i;
        }
    }
    return best;
}

/* Plays it once more and asks in the middle of the job's longest wait. */
static int explain(const struct cli_sched_question *question, const struct myr_joblog *trace,
                   struct myr_replay_options *options, struct myr_replay_result *result,
                   struct myr_err *err)
{
    options->explain = find_job(result, myr_str_from(question->explain));
    if (options->explain == MYR_NONE) {
        return myr_err_set(err, MYR_ENOENT,
                           "--explain '%.20s': a line of the trace with a job, or 'longest', is "
                           "expected",
                           question->explain);
    }
    struct myr_replay_wait wait = myr_replay_longest(result, options->explain);
    options->explain_at_s = wait.end_s - wait.length_s / 2 - (wait.length_s > 0);
    options->samples = 0;
    struct myr_replay_result again;
    int r = run_replay(trace, options, &again, err);
    result->why = again.why;
    myr_replay_result_done(&again);
    return r;
}

static void put_result(const struct cli_sched_question *question, const struct myr_joblog *trace,
                       const struct myr_replay_options *options,
                       const struct myr_replay_result *result, double wall_s, struct myr_buf *buf)
{
    bool explained = options->explain != MYR_NONE;
    if (question->format == MYR_FORMAT_JSON) {
        put_replay(question, trace, options, result, wall_s, buf);
        return;
    }
    put_replay_text(result, wall_s, buf);
    if (question->own.count || question->tenants) {
        cli_sched_tenants(trace, options->tenants, &options->shape, result, NULL, buf);
    }
    if (explained && result->job_rows.items[options->explain].wait_s > 0) {
        put_why_text(result, options->explain, buf);
    } else if (explained) {
        myr_buf_printf(buf, "\nThe job on line %u did not wait.\n",
                       result->submitted[options->explain].line);
    }
}

int cli_sched_replay(const struct cli_sched_question *question, const char *path,
                     struct myr_buf *buf, struct myr_err *err)
{
    enum { SAMPLES = 800 };
    struct myr_joblog trace = {0};
    struct myr_place_shape shape;
    struct myr_replay_result result = {0};
    int r = cli_sched_shape(question, &shape, err);
    r = r < 0 ? r : myr_joblog_read(&trace, path, err);
    if (r < 0) {
        return r;
    }
    struct myr_replay_options options = options_of(question, &shape);
    struct myr_tenant *tenants = NULL;
    r = cli_sched_own(question, &trace, &tenants, err);
    if (r < 0) {
        myr_joblog_done(&trace);
        return r;
    }
    options.tenants = tenants;
    options.samples = question->plots || question->report ? SAMPLES : 0;
    int64_t start_ns = myr_clock_ns();
    r = run_replay(&trace, &options, &result, err);
    double wall_s = (double)(myr_clock_ns() - start_ns) / 1e9;
    if (r == MYR_OK && question->plots) {
        r = cli_sched_plot(question->plots, &shape, &result, err);
    }
    if (r == MYR_OK && question->report) {
        r = cli_sched_report(question->report, cli_sched_policies[question->policy], &trace, &shape,
                             &result, err);
    }
    if (r == MYR_OK && question->explain) {
        r = explain(question, &trace, &options, &result, err);
    }
    if (r == MYR_OK) {
        put_result(question, &trace, &options, &result, wall_s, buf);
    }
    myr_replay_result_done(&result);
    myr_joblog_done(&trace);
    return r;
}
