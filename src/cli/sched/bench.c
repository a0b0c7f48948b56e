/*
 * sched bench: the CPU time of placement decisions on a full, churned cluster. Placement alone is
 * measured, in processor time of the thread: what else the machine does makes no difference.
 */
#include "myriad/sched/bench.h"

#include "sched/sched.h"

/* 0: as the help of the option says; the module fills it in. */
struct options {
    const char *design;
    uint64_t nodes, gpus_per_node, leaf_nodes, pod_nodes;
    uint64_t seed;
    const char *events;
};

static const struct options defaults = {.seed = 1};

static const struct myr_option rows[] = {
    CLI_PATH("design", "FILE", struct options, design,
             "the cluster; or say it with --nodes and the next three"),
    CLI_COUNT("nodes", struct options, nodes, 1, MYR_CLUSTER_NODES_MAX,
              "nodes of the cluster, else 12,500"),
    CLI_COUNT("gpus-per-node", struct options, gpus_per_node, 1, MYR_SCHED_GPUS_MAX,
              "GPUs of a node, else 8"),
    CLI_COUNT("leaf-nodes", struct options, leaf_nodes, 1, MYR_CLUSTER_NODES_MAX,
              "nodes under one set of leaves, else 32"),
    CLI_COUNT("pod-nodes", struct options, pod_nodes, 1, MYR_CLUSTER_NODES_MAX,
              "nodes of a pod, else 16 leaves"),
    CLI_COUNT("seed", struct options, seed, 0, 0, "of the churn"),
    CLI_PATH("events", "FILE", struct options, events,
             "lines 'place,JOB,NODES', 'release,JOB', 'measure' instead of its own churn"),
};

const struct myr_command sched_bench_command = {
    .name = "sched bench",
    .operands = "",
    .summary = "measure placement decisions",
    .details = "Fills the cluster to 95 % with churn and times gangs of several sizes, with and "
               "without a layout. Times are CPU time; everything else follows from the seed.",
    .example = "myriad sched bench --nodes 1280",
    CLI_OPTIONS(rows, defaults),
};

/* A row without a size of gangs is about something else than placing one. */
static struct myr_value *put_rows(struct myr_answer *answer, const struct myr_bench_answer *a)
{
    struct myr_value *list = myr_answer_list(answer, "rows");
    for (uint32_t i = 0; i < a->row_count; i++) {
        const struct myr_bench_row *row = &a->rows[i];
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "what", myr_bench_kind_name(row->kind));
        myr_answer_text(answer, "layout", row->layout);
        if (row->gang_nodes) {
            myr_answer_u64(answer, "gang_nodes", row->gang_nodes);
        } else {
            myr_answer_null(answer, "gang_nodes");
        }
        myr_answer_u64(answer, "decisions", row->decisions);
        myr_answer_u64(answer, "placed", row->placed);
        myr_answer_double(answer, "p50_us", row->p50_us, 2);
        myr_answer_double(answer, "p99_us", row->p99_us, 2);
        myr_answer_double(answer, "max_us", row->max_us, 2);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    return list;
}

static void fill(struct myr_answer *answer, const struct myr_bench_answer *a)
{
    static const struct myr_answer_column columns[] = {
        MYR_COLUMN("what", "WHAT", 0),
        MYR_COLUMN("layout", "LAYOUT", 0),
        MYR_COLUMN("gang_nodes", "NODES", MYR_COLUMN_NUMBER),
        MYR_COLUMN("decisions", "DECISIONS", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE),
        MYR_COLUMN("placed", "PLACED", MYR_COLUMN_NUMBER),
        {"p50_us", "P50 us", MYR_COLUMN_NUMBER, 2},
        {"p99_us", "P99 us", MYR_COLUMN_NUMBER, 2},
        {"max_us", "MAX us", MYR_COLUMN_NUMBER, 2},
    };
    char rate[32];
    sched_put_cluster(answer, &a->cluster);
    /* A key, so that nobody compares it with times of the wall. */
    myr_answer_text(answer, "clock", "thread CPU time");
    myr_answer_double(answer, "fill_percent", a->fill_percent, 1);
    myr_answer_double(answer, "decisions_per_s", a->decisions_per_s, 0);
    struct myr_value *list = put_rows(answer, a);
    if (a->has_defrag) {
        myr_answer_object(answer, "defragmentation");
        myr_answer_u64(answer, "gpus_moved", a->defrag_gpus_moved);
        myr_answer_u64(answer, "gpus_least", a->defrag_gpus_least);
        myr_answer_end(answer);
    } else {
        myr_answer_null(answer, "defragmentation");
    }
    myr_answer_rows(answer, list);
    sched_show_cluster(answer, &a->cluster);
    myr_answer_fact(answer, "full", "%.1f %%", a->fill_percent);
    myr_answer_fact(answer, "decisions", "%s a second of CPU time",
                    myr_u64_grouped((uint64_t)a->decisions_per_s, rate));
    if (a->has_defrag) {
        myr_answer_fact(answer, "defragmentation", "moves %s, no plan less than %s",
                        MYR_COUNT(a->defrag_gpus_moved, "GPU"), MYR_GROUPED(a->defrag_gpus_least));
    }
    myr_answer_table(answer, list, columns, MYR_ARRAY_COUNT(columns));
}

/* How many there will be is known only when it has begun. */
static void show_progress(void *context, uint64_t done, uint64_t total)
{
    struct myr_progress *progress = context;
    if (progress->total != total) {
        cli_progress(progress, "measurements", total);
    }
    cli_progress_step(progress, done);
}

static int run(struct cli *cli, struct myr_err *err)
{
    const struct options *options = cli->options;
    MYR_CLEANUP(myr_progress_done) struct myr_progress progress = {};
    struct myr_bench_answer answer;
    struct myr_bench_question question = {
        .cluster = {options->design, options->nodes, options->gpus_per_node, options->leaf_nodes,
                    options->pod_nodes},
        .events = options->events,
        .seed = options->seed,
        .progress = show_progress,
        .context = &progress,
    };
    int rc = myr_bench_ask(&question, &cli->arena, &answer, err);
    if (rc == MYR_OK) {
        fill(&cli->answer, &answer);
    }
    return rc;
}

const struct cli_verb cli_sched_bench_verb = {.row = &sched_bench_command, .run = run};
