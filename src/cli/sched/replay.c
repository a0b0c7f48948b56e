/*
 * sched replay: a trace of jobs through the queue in virtual time. The library plays the trace
 * (myr_replay_ask); files are looked at before it and written behind it, since a replay can take
 * long.
 */
#include <stdio.h>

#include "myriad/sched/replay_report.h"
#include "sched/sched.h"

/* The cluster is a design, or the four numbers behind it. */
struct options {
    const char *design;
    uint64_t nodes, gpus_per_node, leaf_nodes, pod_nodes;
    uint32_t policy;
    uint64_t jitter_s, seed;
    struct myr_option_list own;
    const char *tenants, *explain, *plots, *report, *schedule;
};

static const struct options defaults = {.policy = MYR_REPLAY_FAIR, .seed = 1};

static const struct myr_option rows[] = {
    SCHED_CLUSTER_ROWS(struct options),
    CLI_CHOICE("policy", "POLICY", struct options, policy, myr_replay_policy_names,
               "fifo: first come, blocks; first-fit: first come that fits; fair: tenants in turn; "
               "preempt: fair, and jobs that have run long make room"),
    CLI_COUNT("jitter", struct options, jitter_s, 0, 1000000000,
              "move submit times by up to so many seconds either way"),
    CLI_COUNT("seed", struct options, seed, 0, 0, "of the jitter"),
    CLI_LIST("own", "TENANT=CELLS", struct options, own,
             "cells that a tenant of the trace owns, such as vc1=4n,2g,1p (nodes, leaf groups, "
             "pods) or org/vc1=4n,3w (below org, weight 3)"),
    CLI_PATH("tenants", "FILE", struct options, tenants,
             "YAML with the tree of tenants, their weights and cells"),
    CLI_TEXT("explain", "JOB", struct options, explain,
             "why this job waited: its id in the trace (without ids its line), line:N, or "
             "'longest'"),
    CLI_OUTPUT("schedule", "FILE", struct options, schedule,
               "CSV of every start, stop and end: time, job, line, GPUs, and which of which nodes"),
    CLI_OUTPUT_FOLDER("plots", "DIR", struct options, plots,
                      "draw wait by size, utilisation, span and fragmentation there, as SVG"),
    CLI_OUTPUT("report", "FILE", struct options, report,
               "figures, drawings and the longest waits on one HTML page"),
};

const struct myr_command sched_replay_command = {
    .name = "sched replay",
    .operands = "TRACE",
    .summary = "run a trace of jobs through the queue in virtual time",
    .details = "The trace is CSV with columns such as submit_s, duration_s, num_gpus and vc in any "
               "order, or what `sacct -P` prints; - is standard input. CSV output lists the "
               "tenants.",
    .example = "myriad sched replay jobs.csv --nodes 96 --leaf-nodes 8",
    CLI_OPTIONS(rows, defaults),
    .operand_min = 1,
    .operand_max = 1,
};

/* The waits that the log recorded; null where it has none. */
static void put_recorded(struct myr_answer *answer, const struct myr_replay_recorded *recorded)
{
    if (recorded->jobs == 0) {
        myr_answer_null(answer, "wait_h_recorded");
        return;
    }
    myr_answer_object(answer, "wait_h_recorded");
    myr_answer_u64(answer, "jobs", recorded->jobs);
    myr_answer_double(answer, "mean", recorded->mean_h, 4);
    myr_answer_double(answer, "p50", recorded->p50_h, 4);
    myr_answer_double(answer, "p99", recorded->p99_h, 4);
    myr_answer_double(answer, "max", recorded->max_h, 4);
    myr_answer_double(answer, "replayed_mean", recorded->replayed_mean_h, 4);
    myr_answer_end(answer);
}

/* The hash is of all that was decided: two runs of it can be compared by one word. */
static void put_result(struct myr_answer *answer, const struct myr_replay_answer *a)
{
    const struct myr_replay_result *result = &a->result;
    char hash[20];
    snprintf(hash, sizeof(hash), "%016llx", (unsigned long long)result->hash);
    myr_answer_object(answer, "trace");
    myr_answer_text(answer, "file", a->trace.file);
    myr_answer_u64(answer, "rows_left_out", a->trace.left_out);
    myr_answer_u64(answer, "jobs_too_large", a->too_large);
    myr_answer_end(answer);
    myr_answer_u64(answer, "jobs", result->jobs);
    myr_answer_object(answer, "wait_h");
    myr_answer_double(answer, "mean", result->wait_mean_h, 4);
    myr_answer_double(answer, "p50", result->wait_p50_h, 4);
    myr_answer_double(answer, "p99", result->wait_p99_h, 4);
    myr_answer_double(answer, "max", result->wait_max_h, 4);
    myr_answer_end(answer);
    put_recorded(answer, &a->recorded);
    myr_answer_object(answer, "wait_h_multinode");
    myr_answer_u64(answer, "jobs", result->multinode_jobs);
    myr_answer_double(answer, "mean", result->multinode_wait_mean_h, 4);
    myr_answer_double(answer, "max", result->multinode_wait_max_h, 4);
    myr_answer_end(answer);
    myr_answer_object(answer, "jct_h");
    myr_answer_double(answer, "mean", result->jct_mean_h, 4);
    myr_answer_end(answer);
    myr_answer_double(answer, "leaf_span", result->leaf_span, 4);
    myr_answer_double(answer, "gpu_utilisation", result->gpu_utilisation, 4);
    myr_answer_u64(answer, "preemptions", result->preemptions);
    myr_answer_double(answer, "lost_gpu_hours_percent", result->lost_gpu_hours_percent, 4);
    myr_answer_double(answer, "wait_gpu_hours", result->wait_gpu_hours_h, 4);
    myr_answer_double(answer, "gang_half_max_h", result->gang_half_max_h, 4);
    myr_answer_double(answer, "drain_idle_percent", result->drain_idle_percent, 4);
    myr_answer_text(answer, "hash", hash);
}

/* What was left out comes first: the figures below are not about it. */
static void show_result(struct myr_answer *answer, const struct myr_replay_answer *a)
{
    const struct myr_replay_result *result = &a->result;
    char jobs[32];
    sched_show_trace(answer, a, result->jobs);
    myr_answer_fact(answer, "wait", "mean %.3f h, median %.3f h, p99 %.3f h, max %.3f h",
                    result->wait_mean_h, result->wait_p50_h, result->wait_p99_h,
                    result->wait_max_h);
    if (a->recorded.jobs) {
        myr_answer_fact(
            answer, "recorded",
            "mean %.3f h, median %.3f h, p99 %.3f h, max %.3f h in the log, of %s jobs; "
            "they wait %.3f h in the mean here",
            a->recorded.mean_h, a->recorded.p50_h, a->recorded.p99_h, a->recorded.max_h,
            myr_u64_grouped(a->recorded.jobs, jobs), a->recorded.replayed_mean_h);
    }
    if (result->multinode_jobs) {
        myr_answer_fact(answer, "multi-node", "%s job%s wait%s %.3f h in the mean, %.3f h at most",
                        myr_u64_grouped(result->multinode_jobs, jobs),
                        result->multinode_jobs == 1 ? "" : "s",
                        result->multinode_jobs == 1 ? "s" : "", result->multinode_wait_mean_h,
                        result->multinode_wait_max_h);
        myr_answer_fact(answer, "leaf span", "%.3f times the fewest leaves possible",
                        result->leaf_span);
    }
    myr_answer_fact(answer, "utilisation", "%.1f %% of the GPU hours",
                    100 * result->gpu_utilisation);
    myr_answer_fact(answer, "preemptions", "%s, %.2f %% of the GPU hours lost",
                    MYR_GROUPED(result->preemptions), result->lost_gpu_hours_percent);
}

/* Waits by size of the job: the mean of all hides how large ones fare. */
static struct myr_value *put_sizes(struct myr_answer *answer, const struct myr_replay_answer *a)
{
    struct myr_value *list = myr_answer_list(answer, "wait_h_by_size");
    for (uint32_t i = 0; i < a->size_count; i++) {
        const struct myr_replay_size_row *row = &a->sizes[i];
        myr_answer_object(answer, NULL);
        myr_answer_u64(answer, "gpus_most", row->gpus);
        myr_answer_u64(answer, "jobs", row->jobs);
        myr_answer_double(answer, "wait_mean_h", row->wait_mean_h, 4);
        myr_answer_double(answer, "wait_p99_h", row->wait_p99_h, 4);
        myr_answer_double(answer, "leaf_span", row->span, 4);
        if (row->recorded_jobs) {
            myr_answer_double(answer, "recorded_mean_h", row->recorded_mean_h, 4);
        } else {
            myr_answer_null(answer, "recorded_mean_h");
        }
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    return list;
}

/* By line of the trace, since not every trace has ids. */
static struct myr_value *put_longest(struct myr_answer *answer, const struct myr_replay_answer *a)
{
    struct myr_value *list = myr_answer_list(answer, "longest_waits");
    for (uint32_t i = 0; i < a->longest_count; i++) {
        const struct myr_replay_longest_row *row = &a->longest[i];
        myr_answer_object(answer, NULL);
        myr_answer_u64(answer, "line", row->line);
        myr_answer_text(answer, "job", row->id);
        myr_answer_text(answer, "tenant", row->tenant);
        myr_answer_u64(answer, "gpus", row->gpus);
        myr_answer_double(answer, "wait_h", row->wait_h, 4);
        myr_answer_u64(answer, "stops", row->stops);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    return list;
}

/* There in any case, since it is what CSV lists; the page shows it only where tenants matter. */
static struct myr_value *put_tenants(struct myr_answer *answer, const struct myr_replay_answer *a)
{
    struct myr_value *list = myr_answer_list(answer, "tenants");
    for (uint32_t i = 0; i < a->tenant_count; i++) {
        const struct myr_replay_tenant_row *row = &a->tenants[i];
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "name", row->name);
        myr_answer_text(answer, "parent", row->parent);
        myr_answer_u64(answer, "weight", row->weight);
        myr_answer_u64(answer, "own_nodes", row->own_nodes);
        myr_answer_u64(answer, "jobs", row->jobs);
        myr_answer_double(answer, "gpu_hours", row->gpu_hours, 1);
        myr_answer_object(answer, "wait_h");
        myr_answer_double(answer, "mean", row->wait_mean_h, 4);
        myr_answer_double(answer, "max", row->wait_max_h, 4);
        myr_answer_end(answer);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    return list;
}

/* What would start it, each alone. */
static void put_trials(struct myr_answer *answer, const struct myr_why *why)
{
    myr_answer_list(answer, "changes");
    for (uint32_t i = 0; i < why->trial_count; i++) {
        struct myr_buf text = {};
        myr_trial_text(&why->trials[i], NULL, &text);
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "change", myr_trial_name(why->trials[i].kind));
        myr_answer_text(answer, "text", text.data);
        myr_answer_end(answer);
        myr_buf_done(&text);
    }
    myr_answer_end(answer);
}

/* 'end_or_move_lines' may be cut; 'end_or_move_jobs' says how many there are. */
static void put_why(struct myr_answer *answer, const struct myr_replay_answer *a)
{
    const struct myr_why *why = &a->why;
    if (!a->explained) {
        myr_answer_null(answer, "explain");
        return;
    }
    myr_answer_object(answer, "explain");
    myr_answer_u64(answer, "line", a->explained_job.line);
    myr_answer_text(answer, "job", a->explained_job.id);
    myr_answer_u64(answer, "gpus", a->explained_job.gpus);
    myr_answer_double(answer, "wait_h", a->explained_job.wait_h, 4);
    myr_answer_double(answer, "asked_at_h", (double)why->now_s / 3600, 4);
    myr_answer_text(answer, "lacks", myr_why_name(why->kind));
    myr_answer_u64(answer, "nodes_needed", why->nodes);
    myr_answer_u64(answer, "nodes_free", why->nodes_free);
    myr_answer_u64(answer, "nodes_held", why->nodes_held);
    myr_answer_u64(answer, "gpus_free", why->gpus_free);
    myr_answer_u64(answer, "ahead", why->ahead);
    myr_answer_list(answer, "end_or_move_lines");
    for (uint32_t i = 0; i < why->stop_count && i < MYR_WHY_STOPS_MAX; i++) {
        myr_answer_u64(answer, NULL, why->stops[i]);
    }
    myr_answer_end(answer);
    myr_answer_u64(answer, "end_or_move_jobs", why->stop_count);
    myr_answer_u64(answer, "end_or_move_gpus", why->stop_gpus);
    put_trials(answer, why);
    myr_answer_end(answer);
}

/* What myr_why_facts() says, line by line, goes onto the page. */
static void show_fact(void *context, const char *label, const char *text)
{
    myr_answer_fact(context, label, "%s", text);
}

static void show_why(struct myr_answer *answer, const struct myr_replay_answer *a)
{
    const struct myr_why *why = &a->why;
    if (a->explained_job.wait_h <= 0) {
        myr_answer_para(answer, "The job on line %u did not wait.", a->explained_job.line);
        return;
    }
    myr_answer_para(
        answer,
        "After %.1f h of the trace the job on line %u%s%s%s had waited %.2f h: %s. Jobs "
        "go by their line in the trace.",
        (double)why->now_s / 3600, a->explained_job.line, a->explained_job.id ? " (" : "",
        a->explained_job.id ? a->explained_job.id : "", a->explained_job.id ? ")" : "",
        (double)why->waited_s / 3600, myr_why_words(why->kind));
    myr_why_facts(why, &(struct myr_why_sink){.put = show_fact, .context = answer});
}

/* The tree first, in the order of its keys; then the page. */
static void fill(struct cli *cli, const struct myr_replay_answer *a)
{
    static const struct myr_answer_column size_columns[] = {
        MYR_COLUMN("gpus_most", "UP TO GPUS", MYR_COLUMN_NUMBER),
        MYR_COLUMN("jobs", "JOBS", MYR_COLUMN_NUMBER),
        {"wait_mean_h", "WAIT h MEAN", MYR_COLUMN_NUMBER, 3},
        {"wait_p99_h", "WAIT h P99", MYR_COLUMN_NUMBER, 3},
        {"leaf_span", "LEAF SPAN", MYR_COLUMN_NUMBER, 3},
        {"recorded_mean_h", "RECORDED h MEAN", MYR_COLUMN_NUMBER, 3},
    };
    static const struct myr_answer_column tenant_columns[] = {
        MYR_COLUMN("name", "TENANT", 0),
        MYR_COLUMN("parent", "BELOW", 0),
        MYR_COLUMN("weight", "WEIGHT", MYR_COLUMN_NUMBER),
        MYR_COLUMN("own_nodes", "OWN NODES", MYR_COLUMN_NUMBER),
        MYR_COLUMN("jobs", "JOBS", MYR_COLUMN_NUMBER),
        MYR_COLUMN("gpu_hours", "GPU HOURS", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE),
        {"wait_h.mean", "WAIT h MEAN", MYR_COLUMN_NUMBER, 3},
        {"wait_h.max", "WAIT h MAX", MYR_COLUMN_NUMBER, 3},
    };
    struct myr_answer *answer = &cli->answer;
    sched_put_cluster(answer, &a->cluster);
    put_result(answer, a);
    struct myr_value *sizes = put_sizes(answer, a);
    (void)put_longest(answer, a);
    struct myr_value *tenants = put_tenants(answer, a);
    put_why(answer, a);
    myr_answer_rows(answer, tenants);
    myr_answer_timing(answer, "replay_s", (double)a->took_ns / 1e9, 6);
    sched_show_cluster(answer, &a->cluster);
    show_result(answer, a);
    /* A trace without recorded waits would have an empty column. */
    uint32_t recorded = a->recorded.jobs ? 1 : 0; /* the last column */
    myr_answer_table(answer, sizes, size_columns, MYR_ARRAY_COUNT(size_columns) - 1 + recorded);
    if (a->has_tenants) {
        myr_answer_table(answer, tenants, tenant_columns, MYR_ARRAY_COUNT(tenant_columns));
    }
    if (a->explained) {
        show_why(answer, a);
    } else if (a->result.wait_max_h > 0) {
        myr_answer_next(answer, "for why the longest wait was", "%s --explain longest",
                        cli_again(cli, cli->command, "explain"));
    }
}

static int add_plots(struct myr_file_set *set, const char *folder,
                     const struct myr_replay_answer *a, struct myr_err *err)
{
    for (uint32_t i = 0; i < MYR_REPLAY_CHARTS; i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf chart = {};
        myr_replay_chart(a, i, MYR_CHART_WIDE, &chart);
        MYR_TRY(myr_file_set_add_in(set, folder, myr_replay_chart_names[i], &chart, err));
    }
    return MYR_OK;
}

/* Drawings, schedule and page are one set: where one cannot be written, the others are not. */
static int write_files(const struct options *options, const struct myr_replay_question *question,
                       const struct myr_replay_answer *a, struct myr_err *err)
{
    MYR_CLEANUP(myr_file_set_abandon) struct myr_file_set set = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf page = {};
    MYR_TRY(myr_file_set_begin(&set, NULL, err));
    if (options->plots) {
        MYR_TRY(add_plots(&set, options->plots, a, err));
    }
    if (options->schedule) {
        MYR_TRY(myr_file_set_add(&set, options->schedule, &a->schedule, err));
    }
    if (options->report) {
        myr_replay_page(question, a, &page);
        MYR_TRY(myr_file_set_add(&set, options->report, &page, err));
    }
    return myr_file_set_commit(&set, err);
}

/* A replay of an hour ends in nothing lost: each drawing is a file of its own in the folder. */
static int check_plots(struct cli *cli, struct myr_err *err)
{
    const struct options *options = cli->options;
    const struct {
        const char *what, *path;
    } others[] = {{"the trace", cli->operands.items[0]},
                  {"--design", options->design},
                  {"--tenants", options->tenants},
                  {"--schedule", options->schedule},
                  {"--report", options->report}};
    for (uint32_t i = 0; options->plots && i < MYR_REPLAY_CHARTS; i++) {
        const char *chart =
            myr_arena_printf(&cli->arena, "%s/%s", options->plots, myr_replay_chart_names[i]);
        for (uint32_t k = 0; k < MYR_ARRAY_COUNT(others); k++) {
            if (others[k].path && cli_same_file(chart, others[k].path)) {
                return myr_err_set(err, MYR_EINVAL,
                                   "--plots: '%.200s' would be written over %s, another folder "
                                   "is expected",
                                   chart, others[k].what);
            }
        }
    }
    return MYR_OK;
}

static int run(struct cli *cli, struct myr_err *err)
{
    const struct options *options = cli->options;
    MYR_CLEANUP(myr_progress_done) struct myr_progress progress = {};
    MYR_CLEANUP(myr_replay_answer_done) struct myr_replay_answer answer = {};
    struct myr_replay_question question = {
        .trace = cli->operands.items[0],
        .cluster = {options->design, options->nodes, options->gpus_per_node, options->leaf_nodes,
                    options->pod_nodes},
        .policy = (enum myr_replay_policy)options->policy,
        .jitter_s = (int64_t)options->jitter_s,
        .seed = options->seed,
        .tenants = options->tenants,
        .own = options->own.items,
        .own_count = options->own.count,
        .explain = options->explain,
        /* Every start and stop of every job is kept only for whoever wants it. */
        .schedule = options->schedule != NULL,
        /* Only drawings need them. */
        .samples = options->plots || options->report ? MYR_REPLAY_SAMPLES : 0,
        .progress = sched_show_progress,
        .context = &progress,
        .clock_ns = myr_clock_ns,
    };
    /* A seed without jitter draws nothing: two of them would give one run. */
    if (!options->jitter_s && cli_given(cli, "seed")) {
        return myr_err_set(err, MYR_EINVAL, "--seed draws the jitter: --jitter is expected too");
    }
    MYR_TRY(check_plots(cli, err));
    MYR_TRY(myr_replay_ask(&question, &cli->arena, &answer, err));
    MYR_TRY(write_files(options, &question, &answer, err));
    fill(cli, &answer);
    return MYR_OK;
}

const struct cli_verb cli_sched_replay_verb = {.row = &sched_replay_command, .run = run};
