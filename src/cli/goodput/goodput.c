/*
 * goodput: the share of the time that ends up as kept work, with failures. Without a model failures
 * alone are answered here; with one a whole run is planned (training.c). Both have the same keys.
 */
#include "goodput/goodput.h"

/* Numbers that may be fractions are texts here: read_number() says what they may be. */
struct options {
    struct cli_failures job;
    struct cli_case of; /* a whole training run, where a model is given */
    uint64_t play;
    const char *recovery, *stall, *interval, *target;
    const char *tokens, *report, *spare_risk, *pue, *kwh, *currency, *years, *gpu_hour;
};

static const struct options defaults = {.job = {.gpus_per_node = 8}, .of = CLI_CASE_DEFAULTS};

static const struct myr_option rows[] = {
    CLI_FAILURES_SIZE_ROWS(struct options, job),
    CLI_FAILURES_RATE_ROW(struct options, job),
    CLI_FAILURES_FAULT_ROW(struct options, job),
    CLI_FAILURES_DATA_ROW(struct options, job),
    CLI_TEXT("recovery", "S", struct options, recovery,
             "seconds from failure to training; by the recovery data when absent"),
    CLI_TEXT("stall", "S", struct options, stall, "seconds that a checkpoint stops training"),
    CLI_TEXT("interval", "S", struct options, interval,
             "seconds of work between checkpoints; the best one when absent"),
    CLI_TEXT("target", "SHARE", struct options, target,
             "also the longest recovery that gives this goodput, such as 0.97"),
    CLI_COUNT("play", struct options, play, 0, 100000000,
              "also play the process out for so many failures, to compare"),
    CLI_CASE_MODEL_ROW(struct options, of),
    CLI_CASE_DEVICE_ROWS(struct options, of),
    CLI_CASE_BATCH_ROWS(struct options, of),
    CLI_PATH("design", "FILE", struct options, of.design,
             "a planned cluster: its fabric, storage network, power and price"),
    CLI_CASE_LAYOUT_ROW(struct options, of),
    CLI_TEXT("tokens", "T", struct options, tokens, "tokens to train, such as 15e12"),
    CLI_TEXT("spare-risk", "SHARE", struct options, spare_risk,
             "share of the time that nodes may be short; 0.001 when absent"),
    CLI_TEXT("pue", "X", struct options, pue,
             "power of the building over that of the machines; the design's, or 1.25"),
    CLI_TEXT("kwh", "PRICE", struct options, kwh,
             "of electricity; the design's tariff, or 0.65 CNY, when absent"),
    CLI_TEXT("currency", "WORD", struct options, currency, "of the prices; the design's, or CNY"),
    CLI_TEXT("years", "N", struct options, years,
             "life over which a design's price is spread; the design's, or 4"),
    CLI_TEXT("gpu-hour", "PRICE", struct options, gpu_hour,
             "of a GPU, in place of the design's price"),
    CLI_OUTPUT("report", "FILE", struct options, report, "write a page with plots (with --model)"),
};

/* Failures alone know of no model, and what is told of a model's run is of nobody else. */
static const struct myr_option_rule rules[] = {
    {"device software recipe profile batch seq design layout tokens spare-risk pue kwh currency "
     "years gpu-hour report",
     .needs = "model"},
    {"target", .against = "model"},
    {"years", .needs = "design", .against = "gpu-hour"},
};

static const struct myr_command *const subcommands[] = {
    &cli_goodput_classes_command,
    &cli_goodput_parts_command,
    &cli_goodput_data_command,
};

static const struct myr_command command = {
    .name = "goodput",
    .operands = "",
    .summary = "share of the time that ends up as kept work, with failures",
    .details = "Exact renewal model: Poisson failures, checkpoints that stall, recoveries that "
               "can be struck again. Two sets of recovery times are shown: today's common "
               "practice and best practice (catalog/recovery.yaml). With --model the whole "
               "run is planned: the layout with the most kept tokens a day (or that of --layout), "
               "checkpoints by its memory and the storage network, spares, days, energy and "
               "money. Exit status 1: no layout fits.",
    .example = "myriad goodput --model llama3-405b --gpus 16384 --device h100 --batch 2048 "
               "--tokens 15e12",
    CLI_OPTIONS(rows, defaults),
    CLI_RULES(rules),
    .subcommands = subcommands,
    .subcommand_count = MYR_ARRAY_COUNT(subcommands),
};

/* An optional number; *ret stays as it is where none is given. */
static int read_number(const char *text, const char *name, double low, double high, double *ret,
                       struct myr_err *err)
{
    double value;
    if (!text) {
        return MYR_OK;
    }
    if (!myr_str_to_double(myr_str_from(text), &value) || !(value >= low) || !(value <= high)) {
        return myr_err_set(err, MYR_EINVAL, "--%s is '%.40s', a number from %g to %g is expected",
                           name, text, low, high);
    }
    *ret = value;
    return MYR_OK;
}

/* An option that holds a number, what it may be, and where it goes. */
struct number {
    const char *text, *name;
    double low, high;
    double *ret;
};

static int read_numbers(const struct number *numbers, size_t count, struct myr_err *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct number *n = &numbers[i];
        MYR_TRY(read_number(n->text, n->name, n->low, n->high, n->ret, err));
    }
    return MYR_OK;
}

/* What is not given follows from the recovery data: 'has_' tells a 0 that is meant from none. */
static int read_times(const struct options *o, struct myr_failure_times *ret, struct myr_err *err)
{
    *ret = (struct myr_failure_times){.has_recovery = o->recovery, .has_stall = o->stall};
    const struct number numbers[] = {
        {o->recovery, "recovery", 0, 1e7, &ret->recovery_s},
        {o->stall, "stall", 0, 1e7, &ret->stall_s},
        {o->interval, "interval", 1e-3, 1e9, &ret->interval_s},
    };
    return read_numbers(numbers, MYR_ARRAY_COUNT(numbers), err);
}

/* Keys that only a whole run fills. */
static void put_no_training(struct myr_answer *answer)
{
    static const char *const keys[] = {"tiers",
                                       "write_s",
                                       "read_s",
                                       "write_gb_per_s",
                                       "read_gb_per_s",
                                       "layout",
                                       "layout_rank",
                                       "step_s",
                                       "layout_gap_percent",
                                       "checkpoint_gb_per_rank",
                                       "spares",
                                       "spares_in_design",
                                       "spares_out",
                                       "nodes_in_repair",
                                       "tokens_per_day",
                                       "days",
                                       "days_interval",
                                       "days_interval_failures",
                                       "energy_mwh",
                                       "money"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(keys); i++) {
        myr_answer_null(answer, keys[i]);
    }
}

/* Tables of what was asked besides stand apart: their columns would be empty for all others. */
static void show_rows(struct cli *cli, const struct myr_value *cases)
{
    const struct options *o = cli->options;
    struct myr_answer *answer = &cli->answer;
    static const struct myr_answer_column columns[] = {
        MYR_COLUMN("practice", "PRACTICE", 0),
        {"failures_per_1000_node_days", "PER 1000 NODE-DAYS", MYR_COLUMN_NUMBER, 2},
        {"mtbf_h", "MTBF h", MYR_COLUMN_NUMBER, 3},
        {"recovery_s", "RECOVERY s", MYR_COLUMN_NUMBER, 1},
        {"stall_s", "STALL s", MYR_COLUMN_NUMBER, 2},
        {"interval_s", "INTERVAL s", MYR_COLUMN_NUMBER, 1},
        {"goodput", "GOODPUT", MYR_COLUMN_NUMBER, 4},
        {"stalled", "STALLED", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE, 4},
        {"recovering", "RECOVERING", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE, 4},
        {"repeated", "REPEATED", MYR_COLUMN_NUMBER | MYR_COLUMN_WIDE, 4},
    };
    static const struct myr_answer_column played[] = {
        MYR_COLUMN("practice", "PRACTICE", 0),           MYR_COLUMN("rate", "RATE", 0),
        {"goodput", "GOODPUT", MYR_COLUMN_NUMBER, 4},    {"played", "PLAYED", MYR_COLUMN_NUMBER, 4},
        {"played_error", "ERROR", MYR_COLUMN_NUMBER, 4},
    };
    static const struct myr_answer_column needed[] = {
        MYR_COLUMN("practice", "PRACTICE", 0),
        MYR_COLUMN("rate", "RATE", 0),
        {"recovery_s", "RECOVERY s", MYR_COLUMN_NUMBER, 1},
        {"recovery_needed_s", "NEEDED s", MYR_COLUMN_NUMBER, 1},
    };
    myr_answer_table(answer, cases, columns, MYR_ARRAY_COUNT(columns));
    if (o->play > 0) {
        myr_answer_heading(answer, "Played out");
        myr_answer_table(answer, cases, played, MYR_ARRAY_COUNT(played));
    }
    if (o->target) {
        myr_answer_heading(answer, "Recovery that a goodput of %s needs", o->target);
        myr_answer_table(answer, cases, needed, MYR_ARRAY_COUNT(needed));
    }
    myr_answer_next(answer, "for what a recovery consists of", "%s",
                    cli_again(cli, &cli_goodput_parts_command, NULL));
}

/* The head of both answers has the same keys; those of a model are null here. */
static void put_job(struct myr_answer *answer, const struct myr_failure_question *question)
{
    cli_fit_put_found(answer, NULL); /* failures alone ask for no layout */
    cli_case_put_names(answer, NULL, false);
    myr_answer_u64(answer, "gpus", (uint64_t)question->gpus);
    myr_answer_null(answer, "batch");
    myr_answer_null(answer, "sequence");
    myr_answer_u64(answer, "gpus_per_node", (uint64_t)question->gpus_per_node);
    /* Keys of a run, behind those of the job: the order is that of training.c. */
    static const char *const after[] = {"tokens",  "spare_risk", "checkpoint_tb",
                                        "storage", "power_mw",   "facility"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(after); i++) {
        myr_answer_null(answer, after[i]);
    }
}

/* Failures alone: every rate with both practices, the common one first. */
static int run_plain(struct cli *cli, struct myr_failure_question *question, struct myr_err *err)
{
    const struct options *o = cli->options;
    struct myr_answer *answer = &cli->answer;
    struct myr_job_rate rates[MYR_JOB_RATES_MAX];
    MYR_CLEANUP(myr_recovery_done) struct myr_recovery recovery = {};
    uint32_t count;
    question->gpus = (double)(o->job.gpus ? o->job.gpus : CLI_FAILURES_GPUS);
    question->gpus_per_node = (double)o->job.gpus_per_node;
    MYR_TRY(myr_recovery_read(&recovery, &cli->arena, o->job.data, err));
    MYR_TRY(myr_job_rates(&recovery, o->job.rate, question->gpus, question->gpus_per_node, rates,
                          &count, err));
    put_job(answer, question);
    struct myr_value *cases = myr_answer_list(answer, "cases");
    for (uint32_t i = 0; i < 2 * count; i++) {
        struct myr_failure_row row;
        /* The two practices of one rate stand below each other. */
        enum myr_practice practice = i % 2 ? MYR_PRACTICE_BEST : MYR_PRACTICE_COMMON;
        MYR_TRY(myr_failure_row(question, &recovery, practice, rates[i / 2], &row, err));
        myr_answer_object(answer, NULL);
        cli_goodput_put_renewal(answer, practice, row.rate, &row.renewal, &row.goodput,
                                &row.played);
        /* Null: not asked, or no recovery is short enough. */
        cli_put_known(answer, "recovery_needed_s", question->target > 0 && row.needed_s >= 0,
                      row.needed_s, 6);
        put_no_training(answer);
        myr_answer_end(answer);
    }
    myr_answer_end(answer);
    myr_answer_rows(answer, cases);
    myr_answer_null(answer, "failures_per_day_by_class");
    show_rows(cli, cases);
    return MYR_OK;
}

/* A whole run. Numbers come as texts so that 15e12 can be typed; each has its own range. */
static int run_training(struct cli *cli, const struct myr_failure_question *job,
                        struct myr_err *err)
{
    const struct options *o = cli->options;
    struct myr_training_question question = myr_training_question_default();
    question.of = cli_case_question(&o->of);
    question.of.gpus = o->job.gpus;
    question.data = o->job.data;
    question.rate = o->job.rate;
    question.gpus_per_node = (uint32_t)o->job.gpus_per_node;
    question.fault = job->fault;
    question.times = job->times;
    question.play = o->play;
    question.currency = o->currency;
    const struct number numbers[] = {
        {o->tokens, "tokens", 1, 1e18, &question.tokens},
        {o->spare_risk, "spare-risk", 1e-9, 0.5, &question.spare_risk},
        {o->pue, "pue", 1, 10, &question.pue},
        {o->kwh, "kwh", 0, 1e6, &question.kwh},
        {o->years, "years", 0.01, 100, &question.years},
        {o->gpu_hour, "gpu-hour", 0, 1e6, &question.gpu_hour},
    };
    MYR_TRY(read_numbers(numbers, MYR_ARRAY_COUNT(numbers), err));
    return cli_goodput_training(cli, &question, o->report, err);
}

static int run(struct cli *cli, struct myr_err *err)
{
    const struct options *o = cli->options;
    struct myr_failure_question question = {.fault = (enum myr_fault)o->job.fault, .play = o->play};
    MYR_TRY(read_times(o, &question.times, err));
    MYR_TRY(read_number(o->target, "target", 1e-6, 0.999999, &question.target, err));
    return o->of.model ? run_training(cli, &question, err) : run_plain(cli, &question, err);
}

const struct cli_verb cli_goodput_verb = {&command, run, .group = CLI_PROVE_GROUP};
