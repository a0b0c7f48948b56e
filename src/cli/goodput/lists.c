/*
 * goodput classes, parts, data: what failures and recoveries are made of. Rows of
 * catalog/recovery.yaml, or of the user's own file, as they are and as they come out for a job of
 * one size.
 */
#include "goodput/goodput.h"

struct options {
    struct cli_failures job;
};

/* The job whose failures the table counts: 16,384 GPUs in nodes of 8. */
static const struct options defaults = {.job = {.gpus = CLI_FAILURES_GPUS, .gpus_per_node = 8}};

static const struct myr_option class_rows[] = {
    CLI_FAILURES_SIZE_ROWS(struct options, job),
    CLI_FAILURES_RATE_ROW(struct options, job),
    CLI_FAILURES_DATA_ROW(struct options, job),
};

/* What a list would not heed it does not take. */
static const struct myr_option part_rows[] = {
    CLI_COUNT("gpus", struct options, job.gpus, 1, 1 << 24, "GPUs of the job"),
    CLI_FAILURES_FAULT_ROW(struct options, job),
    CLI_FAILURES_DATA_ROW(struct options, job),
};

static const struct myr_option data_rows[] = {
    CLI_COUNT("gpus", struct options, job.gpus, 1, 1 << 24, "GPUs of the job"),
    CLI_FAILURES_DATA_ROW(struct options, job),
};

const struct myr_command cli_goodput_classes_command = {
    .name = "goodput classes",
    .operands = "",
    .summary = "failures a day of each kind of part",
    .details = "Llama 3's table for a job of this size. A rate that is given keeps the shares of "
               "the classes and sets their sum.",
    .example = "myriad goodput classes --gpus 16384 --rate rsc-1",
    CLI_OPTIONS(class_rows, defaults),
};

const struct myr_command cli_goodput_parts_command = {
    .name = "goodput parts",
    .operands = "",
    .summary = "what a recovery consists of, by practice",
    .example = "myriad goodput parts --gpus 100000 --fault hang",
    CLI_OPTIONS(part_rows, defaults),
};

const struct myr_command cli_goodput_data_command = {
    .name = "goodput data",
    .operands = "",
    .summary = "every row behind the answers, with its source",
    .example = "myriad goodput data -o csv",
    CLI_OPTIONS(data_rows, defaults),
};

static int run_classes(struct cli *cli, struct myr_err *err)
{
    static const struct myr_answer_column columns[] = {
        MYR_COLUMN("class", "CLASS", 0),
        {"per_day", "A DAY", MYR_COLUMN_NUMBER, 5},
        {"share_percent", "SHARE %", MYR_COLUMN_NUMBER, 2},
        {"low", "LOW", MYR_COLUMN_NUMBER, 3},
        {"typical", "TYPICAL", MYR_COLUMN_NUMBER, 3},
        {"high", "HIGH", MYR_COLUMN_NUMBER, 3},
        MYR_COLUMN("unit", "UNIT", MYR_COLUMN_WIDE),
        MYR_COLUMN("source", "SOURCE", MYR_COLUMN_WIDE),
    };
    const struct options *o = cli->options;
    struct myr_answer *answer = &cli->answer;
    struct myr_failure_share shares[MYR_FAILURE_CLASSES_MAX];
    struct myr_job_rate rates[MYR_JOB_RATES_MAX];
    MYR_CLEANUP(myr_recovery_done) struct myr_recovery recovery = {};
    double gpus = (double)o->job.gpus, per_node = (double)o->job.gpus_per_node;
    uint32_t unused;
    MYR_TRY(myr_recovery_read(&recovery, &cli->arena, o->job.data, err));
    /* A rate that is named is one; without a name these are not used. */
    MYR_TRY(myr_job_rates(&recovery, o->job.rate, gpus, per_node, rates, &unused, err));
    /* 0: the table's own rates; else their sum is set to it, and shares stay. */
    double rate = o->job.rate ? rates[0].per_1000_node_days : 0;
    uint32_t count = myr_failure_shares(&recovery, gpus, per_node, rate, shares);
    struct myr_value *list = myr_answer_list(answer, "classes");
    for (uint32_t i = 0; i < count; i++) {
        const struct myr_recovery_row *row = shares[i].row;
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "class", row->key);
        myr_answer_text(answer, "unit", row->unit);
        myr_answer_double(answer, "low", row->low, 3);
        myr_answer_double(answer, "typical", row->typical, 3);
        myr_answer_double(answer, "high", row->high, 3);
        myr_answer_double(answer, "per_day", shares[i].per_day, 5);
        myr_answer_double(answer, "share_percent", 100 * shares[i].share, 2);
        myr_answer_text(answer, "source", row->source);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    myr_answer_rows(answer, list);
    myr_answer_table(answer, list, columns, MYR_ARRAY_COUNT(columns));
    return MYR_OK;
}

const struct cli_verb cli_goodput_classes_verb = {&cli_goodput_classes_command, run_classes,
                                                  .group = NULL};

/* One practice: the times that follow each other from failure to training, at this size. */
static int put_parts(struct cli *cli, const struct myr_recovery *recovery,
                     enum myr_practice practice, struct myr_err *err)
{
    const struct options *o = cli->options;
    struct myr_answer *answer = &cli->answer;
    struct myr_recovery_part parts[MYR_RECOVERY_PARTS_MAX];
    uint32_t count;
    int rc = myr_recovery_parts(recovery, practice, (enum myr_fault)o->job.fault,
                                (double)o->job.gpus, parts, &count, err);
    for (uint32_t i = 0; rc == MYR_OK && i < count; i++) {
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "practice", myr_practice_name(practice));
        myr_answer_text(answer, "part", parts[i].row->key);
        myr_answer_double(answer, "seconds", parts[i].seconds, 3);
        myr_answer_text(answer, "scales", parts[i].row->scales);
        myr_answer_text(answer, "confidence", parts[i].row->confidence);
        myr_answer_text(answer, "source", parts[i].row->source);
        myr_answer_end(answer);
    }
    return rc;
}

/* Both practices in one list: what is to be learnt lies in the difference. */
static int run_parts(struct cli *cli, struct myr_err *err)
{
    static const struct myr_answer_column columns[] = {
        MYR_COLUMN("practice", "PRACTICE", 0),     MYR_COLUMN("part", "PART", 0),
        {"seconds", "s", MYR_COLUMN_NUMBER, 3},    MYR_COLUMN("scales", "SCALES", 0),
        MYR_COLUMN("confidence", "CONFIDENCE", 0), MYR_COLUMN("source", "SOURCE", MYR_COLUMN_WIDE),
    };
    const struct options *o = cli->options;
    MYR_CLEANUP(myr_recovery_done) struct myr_recovery recovery = {};
    MYR_TRY(myr_recovery_read(&recovery, &cli->arena, o->job.data, err));
    struct myr_value *list = myr_answer_list(&cli->answer, "parts");
    MYR_TRY(put_parts(cli, &recovery, MYR_PRACTICE_COMMON, err));
    MYR_TRY(put_parts(cli, &recovery, MYR_PRACTICE_BEST, err));
    myr_answer_end(&cli->answer);
    myr_answer_rows(&cli->answer, list);
    myr_answer_table(&cli->answer, list, columns, MYR_ARRAY_COUNT(columns));
    return MYR_OK;
}

const struct cli_verb cli_goodput_parts_verb = {&cli_goodput_parts_command, run_parts,
                                                .group = NULL};

/* Every row as it was read, and 'here' what it comes to for a job of this size. */
static int run_data(struct cli *cli, struct myr_err *err)
{
    static const struct myr_answer_column columns[] = {
        MYR_COLUMN("key", "KEY", 0),
        {"low", "LOW", MYR_COLUMN_NUMBER, 4},
        {"typical", "TYPICAL", MYR_COLUMN_NUMBER, 4},
        {"high", "HIGH", MYR_COLUMN_NUMBER, 4},
        {"here", "HERE", MYR_COLUMN_NUMBER, 4},
        MYR_COLUMN("unit", "UNIT", 0),
        MYR_COLUMN("scales", "SCALES", MYR_COLUMN_WIDE),
        MYR_COLUMN("confidence", "CONFIDENCE", MYR_COLUMN_WIDE),
        MYR_COLUMN("when", "WHEN", MYR_COLUMN_WIDE),
        MYR_COLUMN("source", "SOURCE", MYR_COLUMN_WIDE),
    };
    const struct options *o = cli->options;
    struct myr_answer *answer = &cli->answer;
    MYR_CLEANUP(myr_recovery_done) struct myr_recovery recovery = {};
    MYR_TRY(myr_recovery_read(&recovery, &cli->arena, o->job.data, err));
    struct myr_value *list = myr_answer_list(answer, "data");
    for (size_t i = 0; i < recovery.rows.count; i++) {
        const struct myr_recovery_row *row = &recovery.rows.items[i];
        myr_answer_object(answer, NULL);
        myr_answer_text(answer, "key", row->key);
        myr_answer_text(answer, "unit", row->unit);
        myr_answer_double(answer, "low", row->low, 4);
        myr_answer_double(answer, "typical", row->typical, 4);
        myr_answer_double(answer, "high", row->high, 4);
        myr_answer_double(answer, "here", myr_recovery_value(row, (double)o->job.gpus), 4);
        myr_answer_text(answer, "scales", row->scales);
        myr_answer_text(answer, "confidence", row->confidence);
        myr_answer_text(answer, "when", row->when);
        myr_answer_text(answer, "source", row->source);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    myr_answer_rows(answer, list);
    myr_answer_table(answer, list, columns, MYR_ARRAY_COUNT(columns));
    return MYR_OK;
}

const struct cli_verb cli_goodput_data_verb = {&cli_goodput_data_command, run_data, .group = NULL};
