#include "myriad/fit/goodput.h"

#include <stdio.h>

#include "cli.h"

static struct {
    uint32_t format;
    uint64_t gpus, gpus_per_node;
    const char *rate, *recovery, *stall, *interval;
} options = {.gpus = 16384, .gpus_per_node = 8};

const struct myr_command *cli_goodput_command(void)
{
    static const struct myr_option rows[] = {
        {.name = "output",
         .letter = 'o',
         .type = MYR_OPTION_CHOICE,
         .value = "FORMAT",
         .help = "how to print the result",
         .target = &options.format,
         .choices = myr_format_names,
         .choice_count = MYR_FORMAT_COUNT},
        {.name = "gpus",
         .type = MYR_OPTION_U64,
         .value = "N",
         .help = "GPUs of the job",
         .target = &options.gpus,
         .min = 1,
         .max = 100000000},
        {.name = "gpus-per-node",
         .type = MYR_OPTION_U64,
         .value = "N",
         .help = "GPUs of a node",
         .target = &options.gpus_per_node,
         .min = 1,
         .max = 1024},
        {.name = "rate",
         .type = MYR_OPTION_TEXT,
         .value = "R",
         .help = "failures per 1,000 node-days; 3.8 (Llama 3) and 6.5 (RSC-1) when absent",
         .target = &options.rate},
        {.name = "recovery",
         .type = MYR_OPTION_TEXT,
         .value = "S",
         .help = "seconds from failure to training; by the recovery data when absent",
         .target = &options.recovery},
        {.name = "stall",
         .type = MYR_OPTION_TEXT,
         .value = "S",
         .help = "seconds that a checkpoint stops training",
         .target = &options.stall},
        {.name = "interval",
         .type = MYR_OPTION_TEXT,
         .value = "S",
         .help = "seconds of work between checkpoints; the best one when absent",
         .target = &options.interval},
    };
    static const struct myr_command command = {
        .name = "goodput",
        .operands = "",
        .summary = "share of the time that ends up as kept work, with failures",
        .details = "Exact renewal model: Poisson failures, checkpoints that stall, recoveries that "
                   "can be struck again. Two sets of recovery times are shown: today's common "
                   "practice and best practice (catalog/recovery.yaml).",
        .example = "myriad goodput --gpus 100000",
        .options = rows,
        .option_count = MYR_ARRAY_COUNT(rows),
    };
    return &command;
}

/* An optional number above zero. */
static int number(const char *text, const char *name, double otherwise, double *ret,
                  struct myr_err *err)
{
    *ret = otherwise;
    if (text && (!myr_str_to_double(myr_str_from(text), ret) || *ret <= 0 || *ret > 1e9)) {
        return myr_err_set(err, MYR_EINVAL, "--%s is '%.40s', a number above 0 is expected", name,
                           text);
    }
    return MYR_OK;
}

struct row {
    const char *practice;
    double rate;
    bool chosen; /* the interval is the best one */
    struct myr_renewal renewal;
    struct myr_goodput goodput;
};

static int make_row(const struct myr_recovery *recovery, enum myr_practice practice, double rate,
                    struct row *row, struct myr_err *err)
{
    const char *stall_key = practice == MYR_PRACTICE_COMMON ? "a.ckpt_stall" : "b.ckpt_stall";
    const struct myr_recovery_row *stall_row = myr_recovery_find(recovery, stall_key);
    double seconds, interval, stall, gpus = (double)options.gpus;
    int r = myr_recovery_seconds(recovery, practice, gpus, &seconds, err);
    r = r < 0 ? r : number(options.recovery, "recovery", seconds, &seconds, err);
    r = r < 0 ? r
              : number(options.stall, "stall", stall_row ? stall_row->typical : 30, &stall, err);
    r = r < 0 ? r : number(options.interval, "interval", 0, &interval, err);
    if (r < 0) {
        return r;
    }
    double nodes = gpus / (double)options.gpus_per_node;
    row->practice = practice == MYR_PRACTICE_COMMON ? "common" : "best";
    row->rate = rate;
    row->renewal = (struct myr_renewal){
        .durable = {.rate = rate / 1000 / 86400 * nodes, .recovery = seconds, .stall = stall},
        .interval = interval,
        .per_period = 1};
    row->chosen = !options.interval;
    if (row->chosen) {
        row->renewal = myr_goodput_optimum(&row->renewal);
    }
    row->goodput = myr_goodput_of(&row->renewal);
    return MYR_OK;
}

static void print_rows(const struct row *rows, uint32_t count, struct myr_buf *buf)
{
    static const struct myr_column columns[] = {
        {"practice", "PRACTICE", 0},
        {"failures_per_1000_node_days", "PER 1000 NODE-DAYS", MYR_COLUMN_NUMBER},
        {"mtbf_h", "MTBF h", MYR_COLUMN_NUMBER},
        {"recovery_s", "RECOVERY s", MYR_COLUMN_NUMBER},
        {"stall_s", "STALL s", MYR_COLUMN_NUMBER},
        {"interval_s", "INTERVAL s", MYR_COLUMN_NUMBER},
        {"goodput", "GOODPUT", MYR_COLUMN_NUMBER},
        {"stalled", "STALLED", MYR_COLUMN_NUMBER},
        {"recovering", "RECOVERING", MYR_COLUMN_NUMBER},
        {"repeated", "REPEATED", MYR_COLUMN_NUMBER},
    };
    struct myr_arena arena;
    struct myr_table table;
    myr_arena_init(&arena);
    myr_table_init(&table, &arena, columns, MYR_ARRAY_COUNT(columns));
    for (uint32_t i = 0; i < count; i++) {
        myr_table_text(&table, rows[i].practice);
        myr_table_double(&table, rows[i].rate, 2);
        myr_table_double(&table, rows[i].goodput.mean_time_between_s / 3600, 3);
        myr_table_double(&table, rows[i].renewal.durable.recovery, 1);
        myr_table_double(&table, rows[i].renewal.durable.stall, 1);
        myr_table_double(&table, rows[i].renewal.interval, 1);
        myr_table_double(&table, rows[i].goodput.goodput, 4);
        myr_table_double(&table, rows[i].goodput.stalled, 4);
        myr_table_double(&table, rows[i].goodput.recovering, 4);
        myr_table_double(&table, rows[i].goodput.repeated, 4);
    }
    myr_table_write(&table, (enum myr_format)options.format, buf);
    myr_table_done(&table);
    myr_arena_done(&arena);
}

int cli_goodput(const struct myr_operands *operands)
{
    (void)operands;
    static const double rates[] = {3.8, 6.5};
    struct myr_arena arena;
    struct myr_recovery recovery = {0};
    struct myr_err err = {0};
    struct myr_buf buf = {0};
    struct row rows[4];
    uint32_t count = 0;
    double own = 0;
    myr_arena_init(&arena);
    int r = myr_recovery_init(&recovery, &arena, &err);
    r = r < 0 ? r : number(options.rate, "rate", 0, &own, &err);
    for (uint32_t i = 0; r == MYR_OK && i < (options.rate ? 1 : MYR_ARRAY_COUNT(rates)); i++) {
        for (uint32_t p = 0; r == MYR_OK && p < 2; p++) {
            r = make_row(&recovery, (enum myr_practice)p, options.rate ? own : rates[i],
                         &rows[count++], &err);
        }
    }
    if (r == MYR_OK) {
        print_rows(rows, count, &buf);
    }
    int code = r < 0 ? cli_error(&err) : cli_print(&buf);
    myr_buf_done(&buf);
    myr_recovery_done(&recovery);
    myr_arena_done(&arena);
    return code;
}
