/*
 * sim sweep: many simulations from one file, on all cores, gone on with after a kill. Here shards
 * are told from options or from a Slurm array, and the rows put into an answer; the points are
 * played by myr_sweep_run().
 */
#include <stdlib.h>

#include "myriad/sim/sweep.h"

#include "cli.h"
#include "sim/sim.h"

/* 'workers' 0: one for each core. */
struct options {
    const char *out, *shard, *plot;
    uint64_t workers;
};

static const struct options defaults;

static const struct myr_option rows[] = {
    CLI_OUTPUT("out", "FILE.csv", struct options, out,
               "the result, a row for each point; what is done is kept beside it"),
    CLI_TEXT("shard", "K/N", struct options, shard,
             "only every Nth point, from the Kth; a Slurm array's task without it"),
    CLI_COUNT("workers", struct options, workers, 0, 4096,
              "processes at a time; 0: one for each core"),
    CLI_OUTPUT("plot", "FILE.html", struct options, plot,
               "also draw completion time over size, for each collective"),
};

const struct myr_command cli_sim_sweep_command = {
    .name = "sim sweep",
    .operands = "FILE",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "every combination of a file's settings, on all cores",
    .details =
        "FILE is YAML: settings of 'sim' by their names (design or topology, workload, lb, seed, "
        "net, polarised, queue_pairs, efficiency, sharing_loss, pause, message_overhead), each a "
        "value or a list; seed: 0-19 is a list too. knobs: {size: [1MB, 64MB]} are names of your "
        "own, which stand in settings as {size}. jobs, fault and slow are lists that every point "
        "has.\n\n"
        "With --out a run that was killed goes on where it stopped: what is done lies in "
        "FILE.csv.part-K-of-N. Shards may run anywhere with the same folder; the one that ends "
        "last writes the result, as does a run without --shard. In a Slurm array K and N are "
        "SLURM_ARRAY_TASK_ID and _COUNT.\n\n"
        "A combination that cannot be is a row with the reason as its status, and the exit "
        "status is then 1.",
    .example = "myriad sim sweep sweep.yaml --out result.csv --plot result.html",
    CLI_OPTIONS(rows, defaults),
};

static int bad_shard(const char *text, struct myr_err *err)
{
    return myr_err_set(err, MYR_EINVAL, "--shard is '%.40s', K/N with K from 1 to N is expected",
                       text);
}

/* "3/16", from 1. */
static int read_shard(const char *text, struct myr_sweep_run *run, struct myr_err *err)
{
    const char *slash = strchr(text, '/');
    uint64_t shard, count;
    if (!slash || !myr_str_to_u64((struct myr_str){text, (size_t)(slash - text)}, &shard) ||
        !myr_str_to_u64(myr_str_from(slash + 1), &count) || shard < 1 || shard > count ||
        count > MYR_SWEEP_POINTS_MAX) {
        return bad_shard(text, err);
    }
    run->shard = (uint32_t)shard - 1;
    run->shard_count = (uint32_t)count;
    return MYR_OK;
}

/* False, and *ret as it was: not set, or no number. */
static bool variable(const char *name, uint64_t *ret)
{
    const char *text = getenv(name);
    return text && myr_str_to_u64(myr_str_from(text), ret);
}

/* A task of an array may have any numbers: 5, 8, 11 are the first, second and third of three. */
static int array_shard(struct cli *cli, struct myr_sweep_run *run, struct myr_err *err)
{
    uint64_t id, least = 0, step = 1, count = 1;
    if (!variable("SLURM_ARRAY_TASK_ID", &id) || !variable("SLURM_ARRAY_TASK_COUNT", &count)) {
        return MYR_OK;
    }
    variable("SLURM_ARRAY_TASK_MIN", &least);
    variable("SLURM_ARRAY_TASK_STEP", &step);
    /* 'count' is one past the last, and refused below. */
    uint64_t place = step && id >= least ? (id - least) / step : count;
    if (place >= count || count > MYR_SWEEP_POINTS_MAX) {
        return myr_err_set(err, MYR_EINVAL,
                           "SLURM_ARRAY_TASK_ID is %llu, which is none of the array's %llu tasks "
                           "from %llu in steps of %llu; give --shard K/N",
                           (unsigned long long)id, (unsigned long long)count,
                           (unsigned long long)least, (unsigned long long)step);
    }
    run->shard = (uint32_t)place;
    run->shard_count = (uint32_t)count;
    myr_answer_fact(&cli->answer, "array task", "%llu: shard %u of %u", (unsigned long long)id,
                    run->shard + 1, run->shard_count);
    return MYR_OK;
}

/* Rows come as the text of the result's file: a run that goes on has them from there. */
static void put_cell(struct myr_answer *answer, enum myr_sweep_column column, struct myr_str cell)
{
    double value;
    if (cell.len == 0) {
        myr_answer_null(answer, myr_sweep_columns[column]);
    } else if (myr_sweep_is_number(column) && myr_str_to_double(cell, &value)) {
        myr_answer_double(answer, myr_sweep_columns[column], value, 6);
    } else {
        myr_answer_str(answer, myr_sweep_columns[column], cell);
    }
}

/* What every point has: jobs beside the first, faults, slow nodes. */
static void put_words(struct myr_answer *answer, const char *key, const struct myr_sim_words *words)
{
    myr_answer_list(answer, key);
    for (uint32_t i = 0; i < words->count; i++) {
        myr_answer_text(answer, NULL, words->items[i]);
    }
    myr_answer_end(answer);
}

/* A point of several jobs has a row for each; 'point_words' is what tells the points apart. */
static const struct myr_value *put_rows(struct cli *cli, const struct myr_sweep *sweep,
                                        const struct myr_sweep_result *result)
{
    struct myr_answer *answer = &cli->answer;
    const struct myr_value *list = myr_answer_list(answer, "rows");
    for (uint32_t r = 0; r < result->row_count; r++) {
        const struct myr_sweep_row *row = &result->rows[r];
        MYR_CLEANUP(myr_buf_done) struct myr_buf words = {};
        myr_answer_object(answer, NULL);
        myr_answer_u64(answer, "point", row->point);
        myr_answer_u64(answer, "job", row->job);
        myr_answer_object(answer, "settings");
        for (uint32_t a = 0; a < sweep->axis_count; a++) {
            const char *value = myr_sweep_value(sweep, a, row->point);
            myr_answer_text(answer, sweep->axes[a].name, value);
            /* Settings that all points share tell them apart from nothing. */
            if (sweep->axes[a].count > 1) {
                myr_buf_printf(&words, "%s%s", words.len ? ", " : "", value);
            }
        }
        myr_answer_end(answer);
        myr_answer_text(answer, "point_words", words.len ? words.data : "all alike");
        for (uint32_t i = 0; i < MYR_SWEEP_COLUMNS; i++) {
            put_cell(answer, (enum myr_sweep_column)i, row->cells[i]);
        }
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    return list;
}

static void put_answer(struct cli *cli, const struct myr_sweep *sweep,
                       const struct myr_sweep_run *run, const struct myr_sweep_result *result)
{
    static const struct myr_answer_column columns[] = {
        MYR_COLUMN("point", "POINT", MYR_COLUMN_NUMBER),
        MYR_COLUMN("point_words", "WHAT DIFFERS", 0),
        {"end_us", "END us", MYR_COLUMN_NUMBER, 3},
        {"bound_us", "BOUND us", MYR_COLUMN_NUMBER, 3},
        {"busbw_gbytes_per_s", "BUS GB/s", MYR_COLUMN_NUMBER, 2},
        {"fct_p99_us", "P99 us", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE, 3},
        MYR_COLUMN("workload", "WORKLOAD", MYR_COLUMN_WIDE),
        MYR_COLUMN("status", "STATUS", 0),
    };
    struct myr_answer *answer = &cli->answer;
    put_words(answer, "jobs", &sweep->jobs);
    put_words(answer, "fault", &sweep->faults);
    put_words(answer, "slow", &sweep->slow);
    myr_answer_u64(answer, "points", sweep->points);
    /* From 1, as --shard takes it; inside it counts from 0. */
    myr_answer_u64(answer, "shard", run->shard + UINT64_C(1));
    myr_answer_u64(answer, "shards", run->shard_count);
    myr_answer_u64(answer, "done", result->done);
    myr_answer_u64(answer, "failed", result->failed);
    myr_answer_text(answer, "written", result->written ? run->out : NULL);
    const struct myr_value *list = put_rows(cli, sweep, result);
    myr_answer_fact(answer, "points", "%s of %s%s", MYR_GROUPED(result->done),
                    MYR_GROUPED(sweep->points),
                    run->shard_count > 1 ? ", the others are other shards'" : "");
    myr_answer_timing(answer, "resumed", result->resumed, 0); /* depends on what was before */
    if (result->failed) {
        myr_answer_fact(answer, "without result", "%s; STATUS says why",
                        MYR_GROUPED(result->failed));
    }
    if (run->out) {
        myr_answer_fact(answer, "result", "%s%s", run->out,
                        result->written ? "" : " is written when no shard is missing");
    }
    myr_answer_table(answer, list, columns, MYR_ARRAY_COUNT(columns));
    myr_answer_rows(answer, list);
}

static int run(struct cli *cli, struct myr_err *err)
{
    MYR_CLEANUP(myr_progress_done) struct myr_progress progress;
    const struct options *options = cli->options;
    struct myr_sweep sweep;
    struct myr_sweep_result result;
    struct myr_sweep_run how = {.out = options->out,
                                .plot = options->plot,
                                .version = cli_version,
                                .shard_count = 1,
                                .workers = (uint32_t)options->workers,
                                .progress = cli_sim_points,
                                .progress_context = &progress};
    cli_progress(&progress, "points", 0);
    /* What is said goes before what Slurm says. */
    MYR_TRY(options->shard ? read_shard(options->shard, &how, err) : array_shard(cli, &how, err));
    /* A shard by itself is no result: the others must find what it has done. */
    if (how.shard_count > 1 && !options->out) {
        return myr_err_set(err, MYR_EINVAL, "shards meet in a file: give --out FILE.csv");
    }
    if (how.shard_count > 1 && options->plot) {
        return myr_err_set(err, MYR_EINVAL,
                           "--plot: a shard has not all points; draw with a run "
                           "without --shard, which plays what is missing");
    }
    MYR_TRY(myr_sweep_read(&sweep, &cli->arena, cli->operands.items[0], err));
    MYR_TRY(myr_sweep_run(&sweep, &how, &cli->arena, &result, err));
    put_answer(cli, &sweep, &how, &result);
    if (result.written) {
        /* Of all points, as the file is that is compared with it. */
        const char *after = cli_again(cli, cli->command, "out plot shard");
        if (myr_answer_next(&cli->answer, "after a change", "%s --out after.csv", after)) {
            myr_answer_next(&cli->answer, "and then", "myriad sim compare %s after.csv",
                            myr_answer_input(&cli->answer, options->out));
        }
    }
    cli->no = result.failed > 0;
    return MYR_OK;
}

const struct cli_verb cli_sim_sweep_verb = {.row = &cli_sim_sweep_command, .run = run};
