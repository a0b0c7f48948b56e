/*
 * trainlog: a Megatron-LM log as it comes, piece by piece. Lines are told apart by their form
 * alone: iterations, timers in the forms of several releases, arguments as printed at the start.
 * What has no such form is passed over.
 */
#include "myriad/fit/trainlog.h"
#include "myriad/text/amount.h"
#include "myriad/text/kind.h"

#include <stdlib.h>

/* An iteration that a terminal broke goes on for a few lines at most. */
#define PENDING_LINES_MAX 6
/* Read at once; a log may come from a pipe that is still being written. */
#define PIECE_BYTES 65536
#define COUNT_MAX   4e9 /* a larger number is no size of anything */

static const char *const argument_names[] = {
#define ARGUMENT_NAME(name, text) text,
    MYR_LOG_ARGUMENTS(ARGUMENT_NAME)
#undef ARGUMENT_NAME
};

void myr_trainlog_init(struct myr_trainlog *log)
{
    *log = (struct myr_trainlog){};
}

void myr_trainlog_done(struct myr_trainlog *log)
{
    myr_vec_done(&log->elapsed_s.values);
    myr_vec_done(&log->tflops.values);
    for (uint32_t i = 0; i < log->timer_count; i++) {
        myr_vec_done(&log->timers[i].least.values);
        myr_vec_done(&log->timers[i].most.values);
    }
    myr_buf_done(&log->line);
    myr_buf_done(&log->pending);
}

/* Beyond the most that are kept the first ones stand for all. */
static void add_sample(struct myr_samples *samples, double value)
{
    if (samples->values.count < MYR_LOG_SAMPLES_MAX) {
        myr_vec_push(&samples->values, value);
    }
}

/* ---- pieces of text ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct myr_str trimmed(struct myr_str text)
{
    while (text.len && is_blank(text.data[0])) {
        text.data++;
        text.len--;
    }
    while (text.len && is_blank(text.data[text.len - 1])) {
        text.len--;
    }
    return text;
}

/* The part from one offset up to another. */
static struct myr_str cut(struct myr_str text, size_t from, size_t to)
{
    return (struct myr_str){text.data + from, to - from};
}

/* Offset of a word, or SIZE_MAX. */
static size_t find(struct myr_str text, const char *word)
{
    size_t len = strlen(word);
    for (size_t i = 0; i + len <= text.len; i++) {
        if (memcmp(text.data + i, word, len) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

static bool starts(struct myr_str text, const char *word)
{
    size_t len = strlen(word);
    return text.len >= len && memcmp(text.data, word, len) == 0;
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
}

/* A measured number: finite, not negative, below a year in milliseconds. */
static bool number_of(struct myr_str text, double *ret)
{
    return myr_str_to_double(trimmed(text), ret) && *ret >= 0 && *ret < 4e10;
}

/* ---- timers ---- */

/* NULL for a name that is no name, or one too many: a log of nonsense must not fill the memory. */
static struct myr_log_timer *timer_of(struct myr_trainlog *log, struct myr_str name)
{
    if (name.len == 0 || name.len >= MYR_LOG_NAME_MAX) {
        return NULL;
    }
    for (uint32_t i = 0; i < log->timer_count; i++) {
        if (myr_str_eq(name, myr_str_from(log->timers[i].name))) {
            return &log->timers[i];
        }
    }
    if (log->timer_count == MYR_LOG_TIMERS_MAX) {
        return NULL;
    }
    struct myr_log_timer *timer = &log->timers[log->timer_count++];
    memcpy(timer->name, name.data, name.len);
    return timer;
}

static void add_timer(struct myr_trainlog *log, struct myr_str name, double least_ms,
                      double most_ms)
{
    struct myr_log_timer *timer = timer_of(log, name);
    if (timer) {
        add_sample(&timer->least, least_ms / 1e3);
        add_sample(&timer->most, most_ms / 1e3);
    }
}

/* Ranks listed one by one below a name make one report. */
static void close_ranks(struct myr_trainlog *log)
{
    if (log->rank_count) {
        add_timer(log, myr_str_from(log->by_rank), log->rank_least, log->rank_most);
    }
    log->rank_count = 0;
}

/* "(2717.14, 3328.97)" or "3328.97". */
static bool read_times(struct myr_str text, double *least, double *most)
{
    text = trimmed(text);
    /* The least and the most over the ranks. */
    if (text.len > 2 && text.data[0] == '(' && text.data[text.len - 1] == ')') {
        const char *comma = memchr(text.data, ',', text.len);
        if (!comma) {
            return false;
        }
        size_t at = (size_t)(comma - text.data);
        return number_of(cut(text, 1, at), least) &&
               number_of(cut(text, at + 1, text.len - 1), most) && *least <= *most;
    }
    if (!number_of(text, most)) {
        return false;
    }
    *least = *most;
    return true;
}

/* "time (ms) | forward-compute: 12.3 | ..." of early releases. */
static void read_flat_timers(struct myr_trainlog *log, struct myr_str text)
{
    size_t from = 0;
    for (size_t i = 0; i <= text.len; i++) {
        if (i < text.len && text.data[i] != '|') {
            continue;
        }
        struct myr_str part = trimmed(cut(text, from, i));
        const char *colon = memchr(part.data, ':', part.len);
        double ms;
        if (colon && number_of(cut(part, (size_t)(colon - part.data) + 1, part.len), &ms)) {
            add_timer(log, trimmed(cut(part, 0, (size_t)(colon - part.data))), ms, ms);
        }
        from = i + 1;
    }
}

/* ---- arguments ---- */

/* Words that some arguments have instead of numbers. */
static bool word_of(enum myr_log_argument at, struct myr_str value, double *ret)
{
    static const struct {
        const char *word;
        enum myr_log_argument only; /* MYR_LOG_ARGUMENT_COUNT: any */
        double value;
    } words[] = {
        {"True", MYR_LOG_ARGUMENT_COUNT, 1},
        {"None", MYR_LOG_ARGUMENT_COUNT, 0},
        {"False", MYR_LOG_ARGUMENT_COUNT, 0},
        {"selective", MYR_LOG_RECOMPUTE, 1},
        {"full", MYR_LOG_RECOMPUTE, 2},
        {"hybrid", MYR_LOG_FP8, 1},
        {"e4m3", MYR_LOG_FP8, 1},
        {"mxfp8", MYR_LOG_FP8_RECIPE, 1},
        {"e2m1", MYR_LOG_FP4, 1},
        {"no_shard", MYR_LOG_STRATEGY, 0},
        {"optim", MYR_LOG_STRATEGY, 1},
        {"optim_grads", MYR_LOG_STRATEGY, 2},
        {"optim_grads_params", MYR_LOG_STRATEGY, 3},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(words); i++) {
        bool meant = words[i].only == at || words[i].only == MYR_LOG_ARGUMENT_COUNT;
        if (meant && myr_str_eq(value, myr_str_from(words[i].word))) {
            *ret = words[i].value;
            return true;
        }
    }
    return false;
}

/* "[0, 0, 0, 1, 1, ...]": a layer with experts or without. */
static void read_pattern(struct myr_trainlog *log, struct myr_str list)
{
    log->first_dense = 0;
    log->odd_experts = false;
    bool any = false;
    for (size_t i = 0; i < list.len; i++) {
        char c = list.data[i];
        if (c == '1') {
            any = true;
        } else if (c == '0' && !any) {
            log->first_dense++;
        } else if (c != '[' && c != ']' && c != ',' && !is_blank(c)) {
            log->odd_experts = true;
        }
        log->odd_experts = log->odd_experts || (c == '0' && any);
    }
    log->arguments[MYR_LOG_MOE_INTERVAL] = 1;
    log->given[MYR_LOG_MOE_INTERVAL] = true;
}

/* The last one printed counts. */
static void set_argument(struct myr_trainlog *log, struct myr_str name, struct myr_str value)
{
    /* Arguments that nobody asks for are most of the list. */
    double number = 0;
    uint32_t at = 0;
    while (at < MYR_LOG_ARGUMENT_COUNT && !myr_str_eq(name, myr_str_from(argument_names[at]))) {
        at++;
    }
    value = trimmed(value);
    if (at == MYR_LOG_ARGUMENT_COUNT || value.len == 0) {
        return;
    }
    if (at == MYR_LOG_MOE_INTERVAL && value.data[0] == '[') {
        read_pattern(log, value);
        return;
    }
    if (!word_of((enum myr_log_argument)at, value, &number) &&
        (!number_of(value, &number) || number > COUNT_MAX)) {
        return;
    }
    log->arguments[at] = number;
    log->given[at] = true;
}

/* ---- lines ---- */

/* Megatron's field first, then NeMo's; both mean one step. */
static void read_field(struct myr_trainlog *log, struct myr_str key, struct myr_str value)
{
    double number;
    if (!number_of(value, &number)) {
        return;
    }
    if (starts(key, "elapsed time per iteration (ms)") && number > 0) {
        add_sample(&log->elapsed_s, number / 1e3);
    } else if (starts(key, "train_step_timing in s") && number > 0) {
        add_sample(&log->elapsed_s, number);
    } else if (starts(key, "throughput per GPU (TFLOP/s/GPU)") || starts(key, "TFLOPs (Model)") ||
               myr_str_eq(key, MYR_STR("TFLOPs"))) {
        add_sample(&log->tflops, number);
    }
}

/* While a batch grows, what was measured with the smaller one says nothing of the larger. */
static void read_batch(struct myr_trainlog *log, struct myr_str key, struct myr_str value)
{
    double batch;
    bool meant = starts(key, "global batch size") || myr_str_eq(key, MYR_STR("global_batch_size"));
    if (!meant || !number_of(value, &batch) || batch < 1 || batch > COUNT_MAX) {
        return;
    }
    if (log->batch > 0 && log->batch != batch) {
        log->elapsed_s.values.count = 0;
        log->tflops.values.count = 0;
        for (uint32_t i = 0; i < log->timer_count; i++) {
            log->timers[i].least.values.count = 0;
            log->timers[i].most.values.count = 0;
        }
    }
    log->batch = batch;
}

/* "key: value | key: value", each handed to 'read'. */
static void each_field(struct myr_trainlog *log, struct myr_str text,
                       void (*read)(struct myr_trainlog *, struct myr_str, struct myr_str))
{
    size_t from = 0;
    for (size_t i = 0; text.len && i <= text.len; i++) {
        if (i < text.len && text.data[i] != '|') {
            continue;
        }
        struct myr_str part = trimmed(cut(text, from, i));
        /* The last colon: some keys have one in them. */
        for (size_t at = part.len; at-- > 0;) {
            if (part.data[at] == ':') {
                read(log, trimmed(cut(part, 0, at)), cut(part, at + 1, part.len));
                break;
            }
        }
        from = i + 1;
    }
}

/* The batch before the times: they are this iteration's, and may be the first of a larger one. */
static void close_iteration(struct myr_trainlog *log)
{
    struct myr_str text = {log->pending.data, log->pending.len};
    each_field(log, text, read_batch);
    each_field(log, text, read_field);
    myr_buf_clear(&log->pending);
    log->pending_lines = 0;
}

/* "iteration 14/ 1192 |": a number, a slash, a number, and fields. */
static bool is_iteration(struct myr_str line)
{
    size_t at = find(line, "iteration"), slash;
    if (at == SIZE_MAX) {
        return false;
    }
    for (slash = at + 9; slash < line.len && is_blank(line.data[slash]); slash++) {
    }
    size_t digits = slash;
    while (slash < line.len && line.data[slash] >= '0' && line.data[slash] <= '9') {
        slash++;
    }
    return slash > digits && slash < line.len && line.data[slash] == '/' &&
           memchr(line.data, '|', line.len) != NULL;
}

/*
 * "name ....: time" is a timer, "name .... value" an argument. What a launcher wrote before the
 * name ends with a blank, a colon or a bracket.
 */
static bool read_dotted(struct myr_trainlog *log, struct myr_str line)
{
    size_t dots = find(line, " ...");
    if (dots == SIZE_MAX || dots == 0) {
        return false;
    }
    /* Back from the dots to where the name begins, on to where they end. */
    size_t name = dots, after = dots + 1;
    while (name > 0 && is_name(line.data[name - 1])) {
        name--;
    }
    while (after < line.len && line.data[after] == '.') {
        after++;
    }
    if (name == dots) {
        return false;
    }
    bool timer = after < line.len && line.data[after] == ':';
    double least, most;
    if (!timer) {
        set_argument(log, cut(line, name, dots), cut(line, after, line.len));
    } else if (read_times(cut(line, after + 1, line.len), &least, &most)) {
        add_timer(log, cut(line, name, dots), least, most);
    }
    return true;
}

/* A name alone, then "rank 3: 12.5" for each rank. */
static bool read_rank(struct myr_trainlog *log, struct myr_str line)
{
    line = trimmed(line);
    double ms;
    if (starts(line, "rank ") && log->by_rank[0]) {
        const char *colon = memchr(line.data, ':', line.len);
        if (!colon || !number_of(cut(line, (size_t)(colon - line.data) + 1, line.len), &ms)) {
            return false;
        }
        log->rank_least = log->rank_count && log->rank_least < ms ? log->rank_least : ms;
        log->rank_most = log->rank_count && log->rank_most > ms ? log->rank_most : ms;
        log->rank_count++;
        return true;
    }
    close_ranks(log);
    log->by_rank[0] = '\0';
    if (line.len < 2 || line.len > MYR_LOG_NAME_MAX || line.data[line.len - 1] != ':') {
        return false;
    }
    for (size_t i = 0; i + 1 < line.len; i++) {
        if (!is_name(line.data[i])) {
            return false;
        }
    }
    memcpy(log->by_rank, line.data, line.len - 1);
    log->by_rank[line.len - 1] = '\0';
    return true;
}

/* An iteration is held back until it is clear that no more of it comes. */
static void read_line(struct myr_trainlog *log, struct myr_str line)
{
    log->lines++;
    if (is_iteration(line)) {
        close_iteration(log);
        close_ranks(log);
        myr_buf_put(&log->pending, line.data, line.len);
        log->pending_lines = 1;
        return;
    }
    size_t flat = find(line, "time (ms) |");
    bool known = flat != SIZE_MAX;
    if (known) {
        read_flat_timers(log, cut(line, flat + 11, line.len));
    } else {
        known = read_dotted(log, line) || read_rank(log, line);
    }
    /* A line that is nothing else and has fields goes on with what the terminal broke. */
    bool goes_on = !known && log->pending_lines && log->pending_lines < PENDING_LINES_MAX &&
                   memchr(line.data, '|', line.len) != NULL;
    if (goes_on) {
        myr_buf_putc(&log->pending, ' ');
        myr_buf_put(&log->pending, line.data, line.len);
        log->pending_lines++;
    } else {
        close_iteration(log);
    }
}

/* What a profiler's trace has at its start; the rest of it may be one line. */
static bool is_traced(const struct myr_buf *line)
{
    static const char *const keys[] = {"\"traceEvents\"", "\"schemaVersion\""};
    bool found = false;
    for (size_t i = 0; line->len > 0 && i < MYR_ARRAY_COUNT(keys); i++) {
        found = found || memmem(line->data, line->len, keys[i], strlen(keys[i]));
    }
    return found;
}

static void end_line(struct myr_trainlog *log)
{
    log->traced = log->traced || is_traced(&log->line);
    if (!log->skipping) {
        static const char none[] = "";
        read_line(log, (struct myr_str){log->line.len ? log->line.data : none, log->line.len});
    }
    myr_buf_clear(&log->line);
    log->skipping = false;
}

/* A line may come in several pieces; it is read when its end is there. */
void myr_trainlog_feed(struct myr_trainlog *log, struct myr_str text)
{
    size_t from = 0;
    for (size_t i = 0; i < text.len; i++) {
        bool end = text.data[i] == '\n';
        if (!end && i + 1 < text.len) {
            continue;
        }
        size_t to = end ? i : i + 1;
        if (!log->skipping) {
            /* Of a line that is too long the beginning is read and the rest left out. */
            size_t room = MYR_LOG_LINE_MAX - log->line.len, more = to - from;
            myr_buf_put(&log->line, text.data + from, more < room ? more : room);
            if (more > room) {
                log->truncated++;
                read_line(log, (struct myr_str){log->line.data, log->line.len});
                myr_buf_clear(&log->line);
                log->skipping = true;
            }
        }
        if (end) {
            end_line(log);
        }
        from = i + 1;
    }
}

/* What is still held back counts; a log without a step is no log. */
int myr_trainlog_finish(struct myr_trainlog *log, const char *file, struct myr_err *err)
{
    if (log->line.len) {
        end_line(log);
    }
    close_iteration(log);
    close_ranks(log);
    if (log->elapsed_s.values.count == 0 && log->traced) {
        int rc = myr_err_set(err, MYR_EINVAL,
                             "%s: a trace of PyTorch's profiler (Kineto), which is not read; the "
                             "log of a trainer is expected",
                             file);
        myr_err_hint(err, "give the log of the same run: it has the time of each step");
        return rc;
    }
    if (log->elapsed_s.values.count == 0) {
        int rc = myr_err_set(err, MYR_EINVAL, "%s: no 'elapsed time per iteration (ms)' in %s",
                             file, MYR_COUNT(log->lines, "line"));
        myr_err_hint(err,
                     "expected the log of a Megatron-LM run; --timing-log-level 2 adds timers");
        return rc;
    }
    return MYR_OK;
}

/* Devices never end, and have no lines: what has been read and what of it is one line. */
static int check_size(const char *path, struct myr_str piece, uint64_t *total, uint64_t *line,
                      struct myr_err *err)
{
    const char *end = memrchr(piece.data, '\n', piece.len);
    *total += piece.len;
    *line = end ? (uint64_t)(piece.data + piece.len - end) - 1 : *line + piece.len;
    if (*total > MYR_LOG_BYTES_MAX) {
        return myr_err_set(err, MYR_ERANGE, "%s: larger than %llu bytes, the most of a log", path,
                           (unsigned long long)MYR_LOG_BYTES_MAX);
    }
    if (*line > MYR_LOG_ONE_LINE_MAX) {
        return myr_err_set(err, MYR_EINVAL,
                           "%s: no end of a line in %llu bytes, expected the text of a log", path,
                           (unsigned long long)MYR_LOG_ONE_LINE_MAX);
    }
    return MYR_OK;
}

/* A log may begin with anything that its run, or what the run started, printed. */
#define LOG_KINDS                                                                               \
    (MYR_KIND_BIT(PRINTED) | MYR_KIND_BIT(CSV) | MYR_KIND_BIT(SEPARATED) | MYR_KIND_BIT(JSON) | \
     MYR_KIND_BIT(YAML) | MYR_KIND_BIT(EMPTY))

int myr_trainlog_read(struct myr_trainlog *log, const char *path, struct myr_err *err)
{
    /*
     * Checked as it comes: neither a device without an end nor a file without lines fills the
     * memory.
     */
    MYR_CLEANUP(myr_infile_close) struct myr_infile file = {.fd = -1};
    MYR_CLEANUP(myr_buf_done) struct myr_buf piece = {};
    uint64_t total = 0, line = 0;
    int more = 1;
    MYR_TRY(myr_kind_open(&file, path, LOG_KINDS, "the log of a training run", &piece, err));
    path = myr_file_name(path);
    while (more > 0) {
        struct myr_str text = {piece.data, piece.len};
        myr_trainlog_feed(log, text);
        MYR_TRY(check_size(path, text, &total, &line, err));
        myr_buf_clear(&piece);
        more = myr_infile_read(&file, PIECE_BYTES, &piece, err);
        MYR_TRY(more);
    }
    return myr_trainlog_finish(log, path, err);
}

/* ---- what it says ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double myr_samples_typical(const struct myr_samples *samples)
{
    /* With enough samples the first two are left out: a run's first steps are slower. */
    size_t count = samples->values.count, skip = count >= 6 ? 2 : 0;
    if (count == 0) {
        return 0;
    }
    count -= skip;
    MYR_CLEANUP(myr_free_at) double *sorted = myr_xcalloc(count, sizeof(*sorted));
    memcpy(sorted, samples->values.items + skip, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), by_value);
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

const struct myr_log_timer *myr_trainlog_timer(const struct myr_trainlog *log, const char *name)
{
    for (uint32_t i = 0; i < log->timer_count; i++) {
        if (strcmp(log->timers[i].name, name) == 0) {
            return &log->timers[i];
        }
    }
    return NULL;
}

double myr_trainlog_seconds(const struct myr_trainlog *log, const char *name)
{
    const struct myr_log_timer *timer = myr_trainlog_timer(log, name);
    /* Halfway between the fastest and the slowest rank. */
    return timer ? (myr_samples_typical(&timer->least) + myr_samples_typical(&timer->most)) / 2 : 0;
}
