#include "myriad/text/amount.h"
#include "myriad/text/csv.h"
#include "sweep/internal.h"

/* Rows of a sweep: from an answer to lines of a journal, back, and to the result. */

const char *const myr_sweep_columns[MYR_SWEEP_COLUMNS] = {
    [MYR_SWEEP_STATUS] = "status",
    [MYR_SWEEP_WORKLOAD] = "workload",
    [MYR_SWEEP_COLLECTIVE] = "collective",
    [MYR_SWEEP_BYTES] = "bytes",
    [MYR_SWEEP_RANKS] = "ranks",
    [MYR_SWEEP_ALGORITHM] = "algorithm",
    [MYR_SWEEP_SCHEDULE] = "schedule",
    [MYR_SWEEP_END_US] = "end_us",
    [MYR_SWEEP_ALONE_US] = "alone_us",
    [MYR_SWEEP_SLOWDOWN] = "slowdown",
    [MYR_SWEEP_BOUND_US] = "bound_us",
    [MYR_SWEEP_ALGBW] = "algbw_gbytes_per_s",
    [MYR_SWEEP_BUSBW] = "busbw_gbytes_per_s",
    [MYR_SWEEP_SIM_TIME_US] = "sim_time_us",
    [MYR_SWEEP_FLOWS] = "flows",
    [MYR_SWEEP_FCT_MEAN_US] = "fct_mean_us",
    [MYR_SWEEP_FCT_P50_US] = "fct_p50_us",
    [MYR_SWEEP_FCT_P99_US] = "fct_p99_us",
    [MYR_SWEEP_FCT_MAX_US] = "fct_max_us",
    [MYR_SWEEP_RATE_MEAN] = "rate_mean",
    [MYR_SWEEP_RATE_MIN] = "rate_min",
    [MYR_SWEEP_LOAD_MEAN] = "link_load_mean",
    [MYR_SWEEP_LOAD_MAX] = "link_load_max",
    [MYR_SWEEP_HASH] = "hash",
};

/* The hash is none: its sixteen digits are not decimal. */
bool myr_sweep_is_number(enum myr_sweep_column column)
{
    switch (column) {
    case MYR_SWEEP_STATUS:
    case MYR_SWEEP_WORKLOAD:
    case MYR_SWEEP_COLLECTIVE:
    case MYR_SWEEP_ALGORITHM:
    case MYR_SWEEP_SCHEDULE:
    case MYR_SWEEP_HASH:
        return false;
    default:
        return true;
    }
}

static void put_text(struct myr_buf *buf, const char *text)
{
    myr_buf_putc(buf, ',');
    myr_csv_put(buf, myr_str_from(text));
}

/* What is not known is an empty cell, not a 0. */
static void put_count(struct myr_buf *buf, bool known, uint64_t value)
{
    myr_buf_putc(buf, ',');
    if (known) {
        myr_buf_put_u64(buf, value);
    }
}

/* At most six digits behind the point, as in every answer. */
static void put_number(struct myr_buf *buf, bool known, double value)
{
    myr_buf_putc(buf, ',');
    if (!known) {
        return;
    }
    myr_buf_printf(buf, "%.6f", value);
    while (buf->data[buf->len - 1] == '0') {
        buf->len--;
    }
    /* "%.6f" always has a point, so the zeros end there at the latest. */
    buf->len -= buf->data[buf->len - 1] == '.';
}

static void put_us(struct myr_buf *buf, bool known, myr_ps time)
{
    put_number(buf, known, (double)time / (double)MYR_PS_PER_US);
}

/* In the order of enum myr_sweep_column: readers go by place. */
static void put_job(struct myr_buf *buf, const struct myr_sim_answer *answer, uint32_t job)
{
    const struct myr_sim_job *it = &answer->jobs[job];
    const struct myr_sim_load *load = &it->load;
    const struct myr_times *times = &answer->times;
    /*
     * A job alone has nobody to be compared with; what is no collective has neither bytes nor
     * bandwidths.
     */
    bool collective = load->collective, several = answer->job_count > 1;
    put_text(buf, "ok");
    put_text(buf, load->words);
    put_text(buf, collective ? myr_collective_name(load->kind) : "");
    put_count(buf, collective, load->bytes);
    put_count(buf, collective, load->ranks);
    put_text(buf, collective ? myr_algorithm_names[load->algorithm] : "");
    put_text(buf, collective ? (load->full ? "full" : "collapsed") : "");
    put_us(buf, true, it->end);
    put_us(buf, several, it->alone);
    put_number(buf, several, it->slowdown);
    put_us(buf, collective, it->bound);
    put_number(buf, collective, it->algorithm_gbytes_per_s);
    put_number(buf, collective, it->bus_gbytes_per_s);
    put_us(buf, true, answer->result.end);
    put_count(buf, true, answer->result.flows);
    put_number(buf, true, myr_times_mean_us(times));
    put_us(buf, true, myr_times_percentile(times, 50));
    put_us(buf, true, myr_times_percentile(times, 99));
    put_us(buf, true, myr_times_percentile(times, 100));
    put_number(buf, answer->rates.count > 0, answer->rates.mean);
    put_number(buf, answer->rates.count > 0, answer->rates.least);
    put_number(buf, true, answer->load_mean);
    put_number(buf, true, answer->load_max);
    myr_buf_printf(buf, ",%016llx\n", (unsigned long long)answer->result.hash);
}

/* Point, job and how many jobs there are: by these a reader knows whether the point is whole. */
void sweep_put_answer(struct myr_buf *buf, uint32_t point, const struct myr_sim_answer *answer)
{
    for (uint32_t i = 0; i < answer->job_count; i++) {
        myr_buf_printf(buf, "%u,%u,%u", point, i, answer->job_count);
        put_job(buf, answer, i);
    }
}

/* As one job of one, so that the point is whole. */
void sweep_put_failure(struct myr_buf *buf, uint32_t point, const char *reason)
{
    myr_buf_printf(buf, "%u,0,1", point);
    put_text(buf, reason);
    for (uint32_t i = MYR_SWEEP_STATUS + 1; i < MYR_SWEEP_COLUMNS; i++) {
        myr_buf_putc(buf, ',');
    }
    myr_buf_putc(buf, '\n');
}

/*
 * The digest and the version: a journal of another sweep, or another program, is not gone on with.
 */
void sweep_put_title(struct myr_buf *buf, const struct myr_sweep *sweep, const char *version)
{
    myr_buf_printf(buf, "myriad sweep 1,%016llx,%u,", (unsigned long long)sweep->digest,
                   sweep->points);
    myr_csv_put(buf, myr_str_from(version));
    myr_buf_putc(buf, '\n');
}

/* Three numbers, and the cells, which must be numbers where they should. */
static int read_row(const struct myr_csv *csv, const struct myr_sweep *sweep,
                    struct myr_arena *arena, struct myr_sweep_row *ret, struct myr_err *err)
{
    uint32_t *const numbers[] = {&ret->point, &ret->job, &ret->jobs};
    if (csv->count != MYR_SWEEP_COLUMNS + 3) {
        return myr_csv_error(err, csv, 0, "%s, %u are expected", MYR_COUNT(csv->count, "field"),
                             MYR_SWEEP_COLUMNS + 3);
    }
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t value;
        if (!myr_str_to_u64(csv->fields[i], &value) || value > UINT32_MAX) {
            return myr_csv_error(err, csv, i, "a whole number is expected");
        }
        *numbers[i] = (uint32_t)value;
    }
    if (ret->point >= sweep->points || ret->job >= ret->jobs) {
        return myr_csv_error(err, csv, 0, "the sweep has %s", MYR_COUNT(sweep->points, "point"));
    }
    for (uint32_t i = 0; i < MYR_SWEEP_COLUMNS; i++) {
        struct myr_str field = csv->fields[i + 3];
        double value;
        if (field.len && myr_sweep_is_number((enum myr_sweep_column)i) &&
            !myr_str_to_double(field, &value)) {
            return myr_csv_error(err, csv, i + 3, "'%s' must be a number", myr_sweep_columns[i]);
        }
        ret->cells[i] =
            (struct myr_str){myr_arena_strndup(arena, field.data, field.len), field.len};
    }
    return MYR_OK;
}

/* Rows of a point stand together: those behind the last whole point are of a write that was cut. */
int myr_sweep_journal(const struct myr_sweep *sweep, const char *version, const char *file,
                      struct myr_str text, struct myr_arena *arena, struct myr_sweep_row **ret,
                      uint32_t *ret_count, size_t *ret_whole, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf title = {};
    MYR_CLEANUP(myr_vec_free_at) MYR_VEC(struct myr_sweep_row) rows = {};
    struct myr_csv csv;
    size_t whole_rows = 0;
    int rc;
    sweep_put_title(&title, sweep, version);
    *ret_whole = 0;
    *ret_count = 0;
    *ret = NULL;
    /* A line without its end was cut off by a kill: it is played again. */
    const char *last = text.len ? memrchr(text.data, '\n', text.len) : NULL;
    text.len = last ? (size_t)(last - text.data) + 1 : 0;
    if (text.len == 0) {
        return MYR_OK; /* not even the first line got there */
    }
    if (text.len < title.len || memcmp(text.data, title.data, title.len) != 0) {
        rc = myr_err_set(err, MYR_EINVAL,
                         "%s:1:1: is the journal of another sweep, or of another version", file);
        myr_err_hint(err, "remove it, or give another --out");
        return rc;
    }
    *ret_whole = title.len;
    myr_csv_init(&csv, arena, file, text);
    rc = myr_csv_next(&csv, err);
    while (rc > 0 && (rc = myr_csv_next(&csv, err)) > 0) {
        struct myr_sweep_row row = {};
        MYR_TRY(read_row(&csv, sweep, arena, &row, err));
        size_t before = rows.count - whole_rows; /* of this point */
        /* The first row of a point is job 0; each further one is the next job of the same point. */
        bool next = before == 0
                        ? row.job == 0
                        : row.job == before && row.point == rows.items[rows.count - 1].point &&
                              row.jobs == rows.items[rows.count - 1].jobs;
        /* Not cut but wrong: a journal is only ever appended to, point by point. */
        if (!next) {
            return myr_csv_error(err, &csv, 1, "the rows of a point are expected in their order");
        }
        myr_vec_push(&rows, row);
        if (row.job + 1 == row.jobs) {
            /* The point is complete: up to here nothing has to be played again. */
            whole_rows = rows.count;
            *ret_whole = csv.at;
        }
    }
    if (rc < 0) {
        return rc;
    }
    *ret = MYR_ARENA_NEW(arena, struct myr_sweep_row, whole_rows);
    if (whole_rows) {
        memcpy(*ret, rows.items, whole_rows * sizeof(**ret));
    }
    *ret_count = (uint32_t)whole_rows;
    return MYR_OK;
}

/* The workload is that of the row: a point has one for each of its jobs, with knobs put in. */
static bool is_workload(const struct myr_sweep_axis *axis)
{
    return strcmp(axis->name, "workload") == 0;
}

/* The words as the file has them, with blanks between. */
static void put_list(struct myr_buf *buf, const struct myr_sim_words *words)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf all = {};
    for (uint32_t i = 0; i < words->count; i++) {
        myr_buf_printf(&all, "%s%s", i ? " " : "", words->items[i]);
    }
    put_text(buf, all.len ? all.data : "");
}

/* Settings that every row has in common are in it too: a result names all that it comes from. */
void sweep_put_result(struct myr_buf *buf, const struct myr_sweep *sweep,
                      const struct myr_sweep_row *rows, uint32_t count)
{
    myr_buf_put_lit(buf, "point,job");
    for (uint32_t a = 0; a < sweep->axis_count; a++) {
        const struct myr_sweep_axis *axis = &sweep->axes[a];
        if (!is_workload(axis)) { /* in braces, a knob cannot be taken for a column behind it */
            myr_buf_printf(buf, axis->knob ? ",{%s}" : ",%s", axis->name);
        }
    }
    put_text(buf, "fault");
    put_text(buf, "slow");
    for (uint32_t i = 0; i < MYR_SWEEP_COLUMNS; i++) {
        put_text(buf, myr_sweep_columns[i]);
    }
    myr_buf_putc(buf, '\n');
    for (uint32_t r = 0; r < count; r++) {
        const struct myr_sweep_row *row = &rows[r];
        myr_buf_printf(buf, "%u,%u", row->point, row->job);
        for (uint32_t a = 0; a < sweep->axis_count; a++) {
            if (!is_workload(&sweep->axes[a])) {
                put_text(buf, myr_sweep_value(sweep, a, row->point));
            }
        }
        put_list(buf, &sweep->faults);
        put_list(buf, &sweep->slow);
        for (uint32_t i = 0; i < MYR_SWEEP_COLUMNS; i++) {
            myr_buf_putc(buf, ',');
            myr_csv_put(buf, row->cells[i]);
        }
        myr_buf_putc(buf, '\n');
    }
}
