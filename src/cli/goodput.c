#include "goodput.h"

#include <stdio.h>

static struct cli_goodput_options options = {.gpus_per_node = 8, .software = "NeMo 25.05"};

#define TEXT_OPTION(word, field, placeholder, text)                                \
    {                                                                              \
        .name = word, .type = MYR_OPTION_TEXT, .value = placeholder, .help = text, \
        .target = &options.field                                                   \
    }
#define PATH_OPTION(word, field, text)                                        \
    {                                                                         \
        .name = word, .type = MYR_OPTION_PATH, .value = "FILE", .help = text, \
        .target = &options.field                                              \
    }
#define COUNT_OPTION(word, field, least, most, text)                      \
    {                                                                     \
        .name = word, .type = MYR_OPTION_U64, .value = "N", .help = text, \
        .target = &options.field, .min = least, .max = most               \
    }

#define CHOICE_OPTION(word, field, names, text)                                            \
    {                                                                                      \
        .name = word, .type = MYR_OPTION_CHOICE, .value = "WORD", .help = text,            \
        .target = &options.field, .choices = names, .choice_count = MYR_ARRAY_COUNT(names) \
    }

static const char *const faults[] = {"crash", "hang", "node-lost"};
static const char *const shows[] = {"goodput", "classes", "parts", "data"};

static const struct myr_option option_rows[] = {
    CLI_OUTPUT_OPTION(options.format),
    COUNT_OPTION("gpus", gpus, 0, 1 << 24,
                 "GPUs of the job; those of the design, or 16,384, when absent"),
    COUNT_OPTION("gpus-per-node", gpus_per_node, 1, 1024, "GPUs of a node"),
    TEXT_OPTION("rate", rate, "R",
                "failures per 1,000 node-days, or llama3, rsc-1, rsc-2 (nodes of 8 GPUs), classes; "
                "llama3 and rsc-1 when absent"),
    CHOICE_OPTION("fault", fault, faults,
                  "how failures show themselves, which decides when they are noticed"),
    TEXT_OPTION("recovery", recovery, "S",
                "seconds from failure to training; by the recovery data when absent"),
    PATH_OPTION("data", data, "your own rows in place of those of catalog/recovery.yaml"),
    TEXT_OPTION("stall", stall, "S", "seconds that a checkpoint stops training"),
    TEXT_OPTION("interval", interval, "S",
                "seconds of work between checkpoints; the best one when absent"),
    TEXT_OPTION("target", target, "SHARE",
                "also the longest recovery that gives this goodput, such as 0.97"),
    COUNT_OPTION("play", play, 0, 100000000,
                 "also play the process out for so many failures, to compare"),
    TEXT_OPTION("model", model, "NAME", "plan a training run of this model"),
    TEXT_OPTION("device", device, "NAME", "h100, h200, b200, ..."),
    TEXT_OPTION("software", software, "NAME", "release of the trainer"),
    COUNT_OPTION("batch", batch, 0, 1 << 24, "sequences in one step"),
    COUNT_OPTION("seq", seq, 0, 1 << 24, "tokens of a sequence"),
    TEXT_OPTION("tokens", tokens, "T", "tokens to train, such as 15e12"),
    PATH_OPTION("design", design, "a planned cluster: its storage network, power and price"),
    TEXT_OPTION("spare-risk", spare_risk, "SHARE",
                "share of the time that nodes may be short; 0.001 when absent"),
    TEXT_OPTION("pue", pue, "X", "power of the building over that of the machines; 1.25"),
    TEXT_OPTION("kwh", kwh, "PRICE", "of electricity; 0.65 CNY when absent"),
    TEXT_OPTION("currency", currency, "WORD", "of the prices; the design's, or CNY"),
    TEXT_OPTION("years", years, "N", "life over which a design's price is spread; 4"),
    TEXT_OPTION("gpu-hour", gpu_hour, "PRICE", "of a GPU, in place of the design's price"),
    PATH_OPTION("profile", profile, "your own constants, as 'fit calibrate' writes them"),
    PATH_OPTION("report", report, "write a page with plots (with --model)"),
    CHOICE_OPTION("show", show, shows,
                  "classes: failures a day of each kind of part; parts: what a recovery consists "
                  "of; data: every row behind them, with its source"),
};

const struct myr_command *cli_goodput_command(void)
{
    static const struct myr_command command = {
        .name = "goodput",
        .operands = "",
        .summary = "share of the time that ends up as kept work, with failures",
        .details = "Exact renewal model: Poisson failures, checkpoints that stall, recoveries that "
                   "can be struck again. Two sets of recovery times are shown: today's common "
                   "practice and best practice (catalog/recovery.yaml). With --model the whole "
                   "run is planned: the layout with the most kept tokens a day, checkpoints by its "
                   "memory and the storage network, spares, days, energy and money.",
        .example = "myriad goodput --model llama3-405b --gpus 16384 --device h100 --batch 2048 "
                   "--tokens 15e12",
        .options = option_rows,
        .option_count = MYR_ARRAY_COUNT(option_rows),
    };
    return &command;
}

int cli_goodput_number(const char *text, const char *name, double low, double high, double *ret,
                       struct myr_err *err)
{
    if (!text) {
        return MYR_OK;
    }
    if (!myr_str_to_double(myr_str_from(text), ret) || !(*ret >= low) || !(*ret <= high)) {
        return myr_err_set(err, MYR_EINVAL, "--%s is '%.40s', a number from %g to %g is expected",
                           name, text, low, high);
    }
    return MYR_OK;
}

int cli_goodput_data(const struct cli_goodput_options *asked, struct myr_arena *arena,
                     struct myr_recovery *ret, struct myr_err *err)
{
    enum { DATA_BYTES_MAX = 4 << 20 };
    struct myr_buf file = {0};
    int rc = myr_recovery_init(ret, arena, err);
    if (rc == MYR_OK && asked->data) {
        rc = myr_file_read(asked->data, DATA_BYTES_MAX, &file, err);
        struct myr_str text = {file.data, file.len};
        rc = rc < 0 ? rc : myr_recovery_add(ret, arena, asked->data, text, err);
    }
    myr_buf_done(&file);
    return rc;
}

double cli_goodput_classes(const struct myr_recovery *recovery,
                           const struct cli_goodput_options *asked,
                           struct myr_failure_class *classes, uint32_t *ret_count)
{
    double gpus = (double)asked->gpus, nodes = gpus / (double)asked->gpus_per_node, sum = 0;
    *ret_count = myr_failure_classes(recovery, gpus, nodes, classes);
    for (uint32_t i = 0; i < *ret_count; i++) {
        sum += classes[i].per_day;
    }
    return sum / nodes * 1000;
}

static int find_rates(const struct cli_goodput_options *asked, const struct myr_recovery *recovery,
                      struct cli_rates *ret, struct myr_err *err)
{
    static const char *const names[] = {"llama3", "rsc-1", "rsc-2"};
    const struct myr_recovery_row *row = myr_recovery_find(recovery, "rate.job_stop_all_node");
    if (!row) {
        return myr_err_set(err, MYR_ENOENT, "the recovery data lack 'rate.job_stop_all_node'");
    }
    /* Published of nodes with 8 GPUs: a larger node fails more often. */
    double size = (double)asked->gpus_per_node / 8;
    const double published[] = {row->typical * size, row->high * size, row->low * size};
    *ret = (struct cli_rates){{published[0], published[1]}, {names[0], names[1]}, 2};
    if (!asked->rate) {
        return MYR_OK;
    }
    ret->count = 1;
    ret->names[0] = asked->rate;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        if (strcmp(asked->rate, names[i]) == 0) {
            ret->values[0] = published[i];
            return MYR_OK;
        }
    }
    if (strcmp(asked->rate, "classes") == 0) {
        struct myr_failure_class classes[MYR_FAILURE_CLASSES_MAX];
        uint32_t count;
        ret->values[0] = cli_goodput_classes(recovery, asked, classes, &count);
        return MYR_OK;
    }
    ret->names[0] = "given";
    int rc = cli_goodput_number(asked->rate, "rate", 1e-6, 1e6, &ret->values[0], err);
    if (rc < 0) {
        myr_err_hint(err, "failures per 1,000 node-days, or one of llama3, rsc-1, rsc-2, classes");
    }
    return rc;
}

int cli_goodput_rates(const struct cli_goodput_options *asked, const struct myr_recovery *recovery,
                      struct cli_rates *ret, struct myr_err *err)
{
    int rc = find_rates(asked, recovery, ret, err);
    for (uint32_t i = 0; rc == MYR_OK && i < ret->count; i++) {
        if (!(ret->values[i] > 0)) { /* the user's own data may say so */
            rc = myr_err_set(err, MYR_EINVAL, "the recovery data have no failures (rate '%s' is 0)",
                             ret->names[i]);
            myr_err_hint(err, "--rate R gives failures per 1,000 node-days");
        }
    }
    return rc;
}

int cli_goodput_times(const struct cli_goodput_options *asked, struct cli_times *ret,
                      struct myr_err *err)
{
    *ret = (struct cli_times){.has_recovery = asked->recovery, .has_stall = asked->stall};
    int rc = cli_goodput_number(asked->recovery, "recovery", 0, 1e7, &ret->recovery_s, err);
    rc = rc < 0 ? rc : cli_goodput_number(asked->stall, "stall", 0, 1e7, &ret->stall_s, err);
    return rc < 0
               ? rc
               : cli_goodput_number(asked->interval, "interval", 1e-3, 1e9, &ret->interval_s, err);
}

void cli_goodput_optional(struct myr_table *table, bool known, double value, int digits)
{
    if (known) {
        myr_table_double(table, value, digits);
    } else {
        myr_table_text(table, NULL);
    }
}

bool cli_goodput_play(const struct cli_goodput_options *asked, const struct myr_renewal *renewal,
                      double *ret, double *ret_error)
{
    double rate = renewal->quick.rate + renewal->durable.rate;
    double longest = renewal->quick.recovery > renewal->durable.recovery
                         ? renewal->quick.recovery
                         : renewal->durable.recovery;
    if (asked->play == 0 || rate * longest > 5) {
        return false; /* a recovery would be tried for ever */
    }
    *ret = myr_goodput_play(renewal, asked->play, 1, ret_error);
    return true;
}

struct row {
    const char *practice;
    double rate;
    double target, needed_s;
    bool has_played;
    double played, played_error;
    struct myr_renewal renewal;
    struct myr_goodput goodput;
};

static int make_row(const struct myr_recovery *recovery, enum myr_practice practice, double rate,
                    struct row *row, struct myr_err *err)
{
    const char *stall_key = practice == MYR_PRACTICE_COMMON ? "a.ckpt_stall" : "b.ckpt_stall";
    const struct myr_recovery_row *stall = myr_recovery_find(recovery, stall_key);
    double gpus = (double)options.gpus, seconds;
    struct cli_times times;
    int r = cli_goodput_times(&options, &times, err);
    r = r < 0 ? r
              : myr_recovery_seconds(recovery, practice, (enum myr_fault)options.fault, gpus,
                                     &seconds, err);
    r = r < 0 ? r : cli_goodput_number(options.target, "target", 1e-6, 0.999999, &row->target, err);
    if (r == MYR_OK && !stall) {
        r = myr_err_set(err, MYR_ENOENT, "the recovery data lack '%s'", stall_key);
    }
    if (r < 0) {
        return r;
    }
    double nodes = gpus / (double)options.gpus_per_node;
    MYR_ASSERT(stall || times.has_stall);
    row->practice = practice == MYR_PRACTICE_COMMON ? "common" : "best";
    row->rate = rate;
    row->renewal = (struct myr_renewal){
        .durable = {.rate = rate / 1000 / 86400 * nodes,
                    .recovery = times.has_recovery ? times.recovery_s : seconds,
                    .stall = times.has_stall ? times.stall_s : stall->typical},
        .per_period = 1};
    struct myr_limits limits = {.interval = times.interval_s};
    row->renewal = myr_goodput_optimum_within(&row->renewal, &limits);
    row->goodput = myr_goodput_of(&row->renewal);
    row->has_played = cli_goodput_play(&options, &row->renewal, &row->played, &row->played_error);
    if (row->target > 0) {
        row->needed_s = myr_goodput_recovery_for(&row->renewal, &limits, row->target);
    }
    return MYR_OK;
}

/* Shares for people have four digits, for programs all that mean something. */
static int digits(int people, int programs)
{
    return options.format == MYR_FORMAT_TABLE || options.format == MYR_FORMAT_WIDE ? people
                                                                                   : programs;
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
        {"played", "PLAYED", MYR_COLUMN_NUMBER},
        {"played_error", "ERROR", MYR_COLUMN_NUMBER},
        {"recovery_needed_s", "NEEDED s", MYR_COLUMN_NUMBER},
    };
    enum { FIXED = 10, PLAYED = 2 }; /* the others where they are asked for */
    struct myr_column shown[MYR_ARRAY_COUNT(columns)];
    uint32_t column_count = 0;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(columns); i++) {
        if (i < FIXED || (i < FIXED + PLAYED ? options.play > 0 : options.target != NULL)) {
            shown[column_count++] = columns[i];
        }
    }
    struct myr_arena arena;
    struct myr_table table;
    myr_arena_init(&arena);
    myr_table_init(&table, &arena, shown, column_count);
    for (uint32_t i = 0; i < count; i++) {
        myr_table_text(&table, rows[i].practice);
        myr_table_double(&table, rows[i].rate, digits(2, 6));
        myr_table_double(&table, rows[i].goodput.mean_time_between_s / 3600, digits(3, 6));
        myr_table_double(&table, rows[i].renewal.durable.recovery, digits(1, 6));
        myr_table_double(&table, rows[i].renewal.durable.stall, digits(2, 6));
        myr_table_double(&table, rows[i].renewal.interval, digits(1, 6));
        myr_table_double(&table, rows[i].goodput.goodput, digits(4, 8));
        myr_table_double(&table, rows[i].goodput.stalled, digits(4, 8));
        myr_table_double(&table, rows[i].goodput.recovering, digits(4, 8));
        myr_table_double(&table, rows[i].goodput.repeated, digits(4, 8));
        if (options.play > 0) {
            cli_goodput_optional(&table, rows[i].has_played, rows[i].played, digits(4, 8));
            cli_goodput_optional(&table, rows[i].has_played, rows[i].played_error, digits(4, 8));
        }
        if (options.target) { /* null: no recovery is short enough */
            cli_goodput_optional(&table, rows[i].needed_s >= 0, rows[i].needed_s, digits(1, 6));
        }
    }
    myr_table_write(&table, (enum myr_format)options.format, buf);
    myr_table_done(&table);
    myr_arena_done(&arena);
}

/* The first option that only a whole run has a use for. */
static const char *run_only(void)
{
    const struct {
        const char *name;
        bool given;
    } all[] = {{"design", options.design},     {"tokens", options.tokens},
               {"report", options.report},     {"device", options.device},
               {"profile", options.profile},   {"spare-risk", options.spare_risk},
               {"pue", options.pue},           {"kwh", options.kwh},
               {"years", options.years},       {"gpu-hour", options.gpu_hour},
               {"currency", options.currency}, {"batch", options.batch > 0},
               {"seq", options.seq > 0}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        if (all[i].given) {
            return all[i].name;
        }
    }
    return NULL;
}

static int answer(const struct myr_recovery *recovery, struct myr_buf *buf, struct myr_err *err)
{
    struct cli_rates rates = {0};
    struct row rows[4] = {0};
    uint32_t count = 0;
    if (run_only()) {
        int rc = myr_err_set(err, MYR_EINVAL, "--%s goes with --model", run_only());
        myr_err_hint(err, "%s", cli_goodput_command()->example);
        return rc;
    }
    int r = cli_goodput_rates(&options, recovery, &rates, err);
    if (r == MYR_OK && options.show != CLI_SHOW_GOODPUT) {
        return cli_goodput_show(&options, recovery, &rates, buf, err);
    }
    for (uint32_t i = 0; r == MYR_OK && i < rates.count; i++) {
        for (uint32_t p = 0; r == MYR_OK && p < 2; p++) {
            r = make_row(recovery, (enum myr_practice)p, rates.values[i], &rows[count++], err);
        }
    }
    if (r == MYR_OK) {
        print_rows(rows, count, buf);
    }
    return r;
}

int cli_goodput(const struct myr_operands *operands)
{
    (void)operands;
    struct myr_arena arena;
    struct myr_recovery recovery = {0};
    struct myr_err err = {0};
    struct myr_buf buf = {0};
    if (options.model) {
        return cli_goodput_run(&options);
    }
    options.gpus = options.gpus ? options.gpus : 16384;
    myr_arena_init(&arena);
    int r = cli_goodput_data(&options, &arena, &recovery, &err);
    r = r < 0 ? r : answer(&recovery, &buf, &err);
    int code = r < 0 ? cli_error(&err) : cli_print(&buf);
    myr_buf_done(&buf);
    myr_recovery_done(&recovery);
    myr_arena_done(&arena);
    return code;
}
