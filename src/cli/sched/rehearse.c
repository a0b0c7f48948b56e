/*
 * sched rehearse: the same trace under several policies, side by side, before one switches. The
 * library plays it (myr_rehearse).
 */
#include <stdio.h>

#include "myriad/sched/rehearse.h"
#include "sched/sched.h"

struct options {
    const char *design;
    uint64_t nodes, gpus_per_node, leaf_nodes, pod_nodes;
    struct myr_option_list policy;
    uint64_t jitter_s, seed;
    struct myr_option_list own;
    const char *tenants;
};

static const struct options defaults = {.seed = 1};

static const struct myr_option rows[] = {
    CLI_LIST("policy", "POLICY", struct options, policy,
             "one to compare: fifo, first-fit, fair or preempt, twice or more; all when none is "
             "given"),
    SCHED_CLUSTER_ROWS(struct options),
    CLI_COUNT("jitter", struct options, jitter_s, 0, 1000000000,
              "move submit times by up to so many seconds either way, alike for all"),
    CLI_COUNT("seed", struct options, seed, 0, 0, "of the jitter"),
    CLI_LIST("own", "TENANT=CELLS", struct options, own,
             "cells that a tenant of the trace owns, as for sched replay"),
    CLI_PATH("tenants", "FILE", struct options, tenants,
             "YAML with the tree of tenants, their weights and cells"),
};

const struct myr_command sched_rehearse_command = {
    .name = "sched rehearse",
    .operands = "TRACE",
    .summary = "compare policies on a trace of jobs, before one switches",
    .details = "Waits by size, who waited longest, use of the GPUs and what stops cost, side by "
               "side. The trace is read as by sched replay; each figure is that of a replay with "
               "the one policy. CSV output lists the sizes.",
    .example = "myriad sched rehearse jobs.csv --nodes 96 --policy fifo --policy fair",
    CLI_OPTIONS(rows, defaults),
    .operand_min = 1,
    .operand_max = 1,
};

/* Who waited longest under a policy. */
static void put_longest(struct myr_answer *answer, const struct myr_replay_longest_row *row)
{
    myr_answer_object(answer, "longest_wait");
    myr_answer_u64(answer, "line", row->line);
    myr_answer_text(answer, "job", row->id);
    myr_answer_text(answer, "tenant", row->tenant);
    myr_answer_u64(answer, "gpus", row->gpus);
    myr_answer_double(answer, "wait_h", row->wait_h, 4);
    myr_answer_u64(answer, "stops", row->stops);
    myr_answer_end(answer);
}

static struct myr_value *put_policies(struct myr_answer *answer, const struct myr_rehearsal *r)
{
    struct myr_value *list = myr_answer_list(answer, "policies");
    for (uint32_t i = 0; i < r->run_count; i++) {
        const struct myr_rehearsal_run *run = &r->runs[i];
        const struct myr_replay_result *result = &run->result;
        char hash[20];
        snprintf(hash, sizeof(hash), "%016llx", (unsigned long long)result->hash);
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "policy", myr_replay_policy_names[run->policy]);
        myr_answer_object(answer, "wait_h");
        myr_answer_double(answer, "mean", result->wait_mean_h, 4);
        myr_answer_double(answer, "p50", result->wait_p50_h, 4);
        myr_answer_double(answer, "p99", result->wait_p99_h, 4);
        myr_answer_double(answer, "max", result->wait_max_h, 4);
        myr_answer_end(answer);
        put_longest(answer, &run->longest);
        myr_answer_double(answer, "gang_half_max_h", result->gang_half_max_h, 4);
        myr_answer_double(answer, "leaf_span", result->leaf_span, 4);
        myr_answer_double(answer, "gpu_utilisation", result->gpu_utilisation, 4);
        myr_answer_u64(answer, "preemptions", result->preemptions);
        myr_answer_double(answer, "lost_gpu_hours_percent", result->lost_gpu_hours_percent, 4);
        myr_answer_text(answer, "hash", hash);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    return list;
}

enum figure { FIGURE_MEAN, FIGURE_P99, FIGURE_MAX, FIGURES };
static const char *const figure_keys[FIGURES] = {"wait_mean_h", "wait_p99_h", "wait_max_h"};

static double figure_of(const struct myr_rehearsal_size *size, enum figure figure)
{
    return figure == FIGURE_MEAN ? size->mean_h : figure == FIGURE_P99 ? size->p99_h : size->max_h;
}

/* NULL: nobody asked for it. */
static const struct myr_rehearsal_run *run_of(const struct myr_rehearsal *r,
                                              enum myr_replay_policy policy)
{
    for (uint32_t i = 0; i < r->run_count; i++) {
        if (r->runs[i].policy == policy) {
            return &r->runs[i];
        }
    }
    return NULL;
}

/* Each figure of each size, by policy. */
static struct myr_value *put_sizes(struct myr_answer *answer, const struct myr_rehearsal *r)
{
    struct myr_value *list = myr_answer_list(answer, "wait_h_by_size");
    for (uint32_t i = 0; i < r->size_count; i++) {
        myr_answer_object(answer, NULL);
        myr_answer_u64(answer, "gpus_most", r->sizes[i]);
        myr_answer_u64(answer, "jobs", r->runs[0].sizes[i].jobs);
        for (uint32_t f = 0; f < FIGURES; f++) {
            myr_answer_object(answer, figure_keys[f]);
            for (uint32_t policy = 0; policy < MYR_REPLAY_POLICIES; policy++) {
                const struct myr_rehearsal_run *run = run_of(r, (enum myr_replay_policy)policy);
                if (run) {
                    myr_answer_double(answer, myr_replay_policy_names[policy],
                                      figure_of(&run->sizes[i], (enum figure)f), 4);
                } else {
                    myr_answer_null(answer, myr_replay_policy_names[policy]);
                }
            }
            myr_answer_end(answer);
        }
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    return list;
}

/* One figure of all sizes, the policies side by side. */
static void show_sizes(struct cli *cli, const struct myr_rehearsal *r, struct myr_value *sizes,
                       enum figure figure)
{
    struct myr_answer_column *columns =
        MYR_ARENA_NEW(&cli->arena, struct myr_answer_column, 2 + MYR_REPLAY_POLICIES);
    columns[0] = (struct myr_answer_column)MYR_COLUMN("gpus_most", "UP TO GPUS", MYR_COLUMN_NUMBER);
    columns[1] = (struct myr_answer_column)MYR_COLUMN("jobs", "JOBS", MYR_COLUMN_NUMBER);
    for (uint32_t k = 0; k < r->run_count; k++) {
        const char *name = myr_replay_policy_names[r->runs[k].policy];
        columns[2 + k] = (struct myr_answer_column){
            .key = myr_arena_printf(&cli->arena, "%s.%s", figure_keys[figure], name),
            .title = name,
            .flags = MYR_COLUMN_NUMBER,
            .digits = 3};
    }
    myr_answer_table(&cli->answer, sizes, columns, 2 + r->run_count);
}

static void fill(struct cli *cli, const struct myr_rehearsal *r)
{
    static const struct myr_answer_column policy_columns[] = {
        MYR_COLUMN("policy", "POLICY", 0),
        {"wait_h.mean", "WAIT h MEAN", MYR_COLUMN_NUMBER, 3},
        {"wait_h.p99", "P99", MYR_COLUMN_NUMBER, 3},
        {"wait_h.max", "LONGEST", MYR_COLUMN_NUMBER, 3},
        MYR_COLUMN("longest_wait.gpus", "OF GPUS", MYR_COLUMN_NUMBER),
        {"gpu_utilisation", "USED", MYR_COLUMN_NUMBER, 3},
        MYR_COLUMN("preemptions", "STOPS", MYR_COLUMN_NUMBER),
        {"lost_gpu_hours_percent", "LOST %", MYR_COLUMN_NUMBER, 2},
    };
    struct myr_answer *answer = &cli->answer;
    int64_t took_ns = 0;
    sched_put_cluster(answer, &r->read.cluster);
    myr_answer_object(answer, "trace");
    myr_answer_text(answer, "file", r->read.trace.file);
    myr_answer_u64(answer, "rows_left_out", r->read.trace.left_out);
    myr_answer_u64(answer, "jobs_too_large", r->read.too_large);
    myr_answer_end(answer);
    myr_answer_u64(answer, "jobs", r->runs[0].result.jobs);
    struct myr_value *policies = put_policies(answer, r);
    struct myr_value *sizes = put_sizes(answer, r);
    myr_answer_rows(answer, sizes);
    for (uint32_t i = 0; i < r->run_count; i++) {
        took_ns += r->runs[i].took_ns;
    }
    myr_answer_timing(answer, "replays_s", (double)took_ns / 1e9, 6);
    sched_show_cluster(answer, &r->read.cluster);
    sched_show_trace(answer, &r->read, r->runs[0].result.jobs);
    myr_answer_table(answer, policies, policy_columns, MYR_ARRAY_COUNT(policy_columns));
    myr_answer_para(answer, "Mean wait in hours, by size:");
    show_sizes(cli, r, sizes, FIGURE_MEAN);
    myr_answer_para(answer, "Longest wait in hours, by size:");
    show_sizes(cli, r, sizes, FIGURE_MAX);
    myr_answer_more(answer, "the wait that one in a hundred exceeds");
    myr_answer_para(answer, "Wait in hours that one job in a hundred exceeds, by size:");
    show_sizes(cli, r, sizes, FIGURE_P99);
}

static int run(struct cli *cli, struct myr_err *err)
{
    const struct options *options = cli->options;
    MYR_CLEANUP(myr_progress_done) struct myr_progress progress = {};
    MYR_CLEANUP(myr_rehearsal_done) struct myr_rehearsal rehearsal = {};
    struct myr_rehearsal_question question = {
        .replay = {.trace = cli->operands.items[0],
                   .cluster = {options->design, options->nodes, options->gpus_per_node,
                               options->leaf_nodes, options->pod_nodes},
                   .jitter_s = (int64_t)options->jitter_s,
                   .seed = options->seed,
                   .tenants = options->tenants,
                   .own = options->own.items,
                   .own_count = options->own.count,
                   .progress = sched_show_progress,
                   .context = &progress,
                   .clock_ns = myr_clock_ns},
        .policies = options->policy.items,
        .count = options->policy.count,
    };
    /* A seed without jitter draws nothing: two of them would give one run. */
    if (!options->jitter_s && cli_given(cli, "seed")) {
        return myr_err_set(err, MYR_EINVAL, "--seed draws the jitter: --jitter is expected too");
    }
    MYR_TRY(myr_rehearse(&question, &cli->arena, &rehearsal, err));
    fill(cli, &rehearsal);
    return MYR_OK;
}

const struct cli_verb cli_sched_rehearse_verb = {.row = &sched_rehearse_command, .run = run};
