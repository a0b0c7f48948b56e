#include <stdlib.h>

#include "myriad/sim/compare.h"
#include "myriad/text/amount.h"
#include "myriad/text/csv.h"
#include "myriad/text/doc.h"
#include "myriad/text/kind.h"

/* The three kinds of result files, as figures. */

enum { RESULTS_MAX = 1 << 30 }; /* bytes of a file */

const char *const myr_results_kinds[3] = {"an answer of 'sim' in JSON", "a list of flows (--fct)",
                                          "a result of 'sim sweep'"};

struct reader {
    struct myr_results *results;
    struct myr_arena *arena;
    const char *file;
    struct myr_strmap seen;  /* names to places in 'times': to number what is there twice */
    MYR_VEC(uint32_t) times; /* how often each name was met */
    struct myr_buf buf;
};

static void reader_done(struct reader *reader)
{
    myr_strmap_done(&reader->seen);
    myr_vec_done(&reader->times);
    myr_buf_done(&reader->buf);
}

static void add(struct reader *reader, enum myr_result_group group, const char *of,
                const char *name, double value)
{
    struct myr_result_figure figure = {group, of, name, value};
    myr_vec_push(&reader->results->figures, figure);
}

/* What the buffer holds as a name; the second of the same gets "#2" behind it, and so on. */
static const char *name_once(struct reader *reader)
{
    struct myr_str text = {reader->buf.len ? reader->buf.data : "", reader->buf.len};
    uint32_t at = myr_strmap_get(&reader->seen, text);
    if (at == MYR_MAP_NONE) {
        const char *copy = myr_arena_strndup(reader->arena, text.data, text.len);
        at = (uint32_t)reader->times.count;
        myr_vec_push(&reader->times, 1);
        bool fresh = myr_strmap_add(&reader->seen, (struct myr_str){copy, text.len}, at);
        MYR_ASSERT(fresh);
        return copy;
    }
    return myr_arena_printf(reader->arena, "%.*s #%u", (int)text.len, text.data,
                            ++reader->times.items[at]);
}

/* ---- an answer ---- */

/* 'map' may be NULL: a run that is no collective has no such map. */
static int add_number(struct reader *reader, enum myr_result_group group, const char *of,
                      const struct myr_doc *map, const char *key, const char *name,
                      struct myr_err *err)
{
    const struct myr_doc *node = myr_doc_get(map, key);
    double value;
    if (!node || node->kind == MYR_DOC_NULL) {
        return MYR_OK; /* a permutation has no bandwidth, a run with faults no bounds */
    }
    MYR_TRY(myr_doc_double(node, key, -1e300, 1e300, &value, err));
    add(reader, group, of, name, value);
    return MYR_OK;
}

/* A job is known by its words; two with the same words are numbered. */
static int read_job(struct reader *reader, const struct myr_doc *job, struct myr_err *err)
{
    static const char *const names[] = {"end_us", "alone_us", "slowdown", "bound_us"};
    static const char *const rates[] = {"algbw_gbytes_per_s", "busbw_gbytes_per_s"};
    const struct myr_doc *words;
    struct myr_str text;
    MYR_TRY(myr_doc_expect(job, MYR_DOC_MAP, "a job", err));
    MYR_TRY(myr_doc_need(job, "a job", "workload", &words, err));
    MYR_TRY(myr_doc_text(words, "workload", &text, err));
    myr_buf_clear(&reader->buf);
    myr_buf_put(&reader->buf, text.data, text.len);
    const char *of = name_once(reader);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        MYR_TRY(add_number(reader, MYR_RESULT_JOB, of, job, names[i], names[i], err));
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rates); i++) {
        MYR_TRY(add_number(reader, MYR_RESULT_JOB, of, myr_doc_get(job, "collective"), rates[i],
                           rates[i], err));
    }
    return MYR_OK;
}

static int read_answer(struct reader *reader, const struct myr_doc *doc, struct myr_err *err)
{
    static const struct {
        const char *map, *key, *name;
        /*
         * The map in which a figure lies, NULL for the answer itself; its key; its name in the
         * comparison.
         */
    } figures[] = {
        {NULL, "sim_time_us", "sim_time_us"},    {NULL, "flows", "flows"},
        {"fct_us", "mean", "fct mean us"},       {"fct_us", "p50", "fct p50 us"},
        {"fct_us", "p99", "fct p99 us"},         {"fct_us", "max", "fct max us"},
        {"bounds_us", "best", "lower bound us"}, {"rate", "mean", "fair rate mean"},
        {"rate", "min", "fair rate least"},      {"link_load", "mean", "link load mean"},
        {"link_load", "max", "link load max"},
    };
    const struct myr_doc *jobs, *schema;
    struct myr_str name;
    MYR_TRY(myr_doc_need(doc, "the answer", "schema", &schema, err));
    MYR_TRY(myr_doc_text(schema, "schema", &name, err));
    /* The second is that of a whole run too, the rest of which was played later. */
    if (!myr_str_eq(name, MYR_STR("myriad.sim")) &&
        !myr_str_eq(name, MYR_STR("myriad.sim.resume"))) {
        return myr_doc_error(err, schema, MYR_EINVAL,
                             "'schema' is '%.*s', an answer of 'myriad sim' is expected",
                             name.len > 40 ? 40 : (int)name.len, name.data);
    }
    MYR_TRY(myr_doc_need(doc, "the answer", "jobs", &jobs, err));
    MYR_TRY(myr_doc_expect(jobs, MYR_DOC_LIST, "jobs", err));
    for (uint32_t i = 0; i < jobs->count; i++) {
        MYR_TRY(read_job(reader, jobs->items[i], err));
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(figures); i++) {
        const struct myr_doc *map = figures[i].map ? myr_doc_get(doc, figures[i].map) : doc;
        MYR_TRY(add_number(reader, MYR_RESULT_RUN, "the run", map, figures[i].key, figures[i].name,
                           err));
    }
    return MYR_OK;
}

/* ---- flows ---- */

/* Columns of what --fct writes. */
enum { TASK, FROM, TO, BYTES, START, END, BOTTLENECK, FLOW_COLUMNS };

/* Percentiles need the times in order. */
static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return left < right ? -1 : left > right;
}

/* The nearest rank, as in the answers. */
static void add_percentiles(struct reader *reader, double *values, size_t count)
{
    static const struct {
        const char *name;
        uint32_t percent;
    } parts[] = {{"fct p50 us", 50}, {"fct p90 us", 90}, {"fct p99 us", 99}, {"fct max us", 100}};
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += values[i];
    }
    if (count == 0) {
        return;
    }
    qsort(values, count, sizeof(*values), by_value);
    add(reader, MYR_RESULT_RUN, "all flows", "fct mean us", sum / (double)count);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(parts); i++) {
        /* Rounded up, from 1. */
        size_t rank = (count * parts[i].percent + 99) / 100;
        add(reader, MYR_RESULT_RUN, "all flows", parts[i].name, values[rank - 1]);
    }
}

/* Flows have no names: the nth from one GPU to another of so many bytes is the same in both. */
static int read_flows(struct reader *reader, struct myr_csv *csv, struct myr_err *err)
{
    MYR_CLEANUP(myr_vec_free_at) MYR_VEC(double) times = {};
    int rc;
    while ((rc = myr_csv_next(csv, err)) > 0) {
        double start, end;
        if (csv->count != FLOW_COLUMNS) {
            return myr_csv_error(err, csv, 0, "%s, %u are expected", MYR_COUNT(csv->count, "field"),
                                 FLOW_COLUMNS);
        }
        for (uint32_t i = START; i <= END; i++) {
            if (!myr_str_to_double(csv->fields[i], i == START ? &start : &end)) {
                return myr_csv_error(err, csv, i, "a time in microseconds is expected");
            }
        }
        myr_buf_clear(&reader->buf);
        myr_buf_printf(&reader->buf, "%.*s to %.*s, %.*s bytes", (int)csv->fields[FROM].len,
                       csv->fields[FROM].data, (int)csv->fields[TO].len, csv->fields[TO].data,
                       (int)csv->fields[BYTES].len, csv->fields[BYTES].data);
        add(reader, MYR_RESULT_FLOW, name_once(reader), "fct_us", end - start);
        myr_vec_push(&times, end - start);
    }
    if (rc == MYR_OK) {
        add_percentiles(reader, times.items, times.count);
    }
    return rc;
}

/* ---- a sweep ---- */

/* Columns in front of "status" are settings; of those behind it these are figures. */
static bool is_figure(struct myr_str name)
{
    static const char *const names[] = {"end_us",     "busbw_gbytes_per_s", "fct_mean_us",
                                        "fct_p50_us", "fct_p99_us",         "fct_max_us"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        if (myr_str_eq(name, myr_str_from(names[i]))) {
            return true;
        }
    }
    return false;
}

/*
 * A point is known by its settings and its workload, not by its number. The first two columns are
 * no settings.
 */
static int read_point(struct reader *reader, const struct myr_csv *csv, const struct myr_str *heads,
                      uint32_t status, struct myr_err *err)
{
    myr_buf_clear(&reader->buf);
    for (uint32_t i = 2; i < status; i++) {
        myr_buf_printf(&reader->buf, "%.*s=%.*s ", (int)heads[i].len, heads[i].data,
                       (int)csv->fields[i].len, csv->fields[i].data);
    }
    struct myr_str words = csv->fields[status + 1]; /* the workload */
    myr_buf_put(&reader->buf, words.data, words.len);
    const char *of = name_once(reader);
    for (uint32_t i = status + 1; i < csv->count; i++) {
        double value;
        /* A point that could not be played has empty cells; they are no figures of 0. */
        if (csv->fields[i].len == 0 || !is_figure(heads[i])) {
            continue;
        }
        if (!myr_str_to_double(csv->fields[i], &value)) {
            return myr_csv_error(err, csv, i, "a number is expected");
        }
        add(reader, MYR_RESULT_POINT, of,
            myr_arena_strndup(reader->arena, heads[i].data, heads[i].len), value);
    }
    return MYR_OK;
}

/* 'heads' is a copy: the reader's fields change with every row. */
static int read_sweep(struct reader *reader, struct myr_csv *csv, struct myr_err *err)
{
    uint32_t count = csv->count, status = 0;
    struct myr_str *heads = MYR_ARENA_NEW(reader->arena, struct myr_str, count);
    memcpy(heads, csv->fields, count * sizeof(*heads));
    while (status < count && !myr_str_eq(heads[status], MYR_STR("status"))) {
        status++;
    }
    if (status + 1 >= count) {
        return myr_csv_error(err, csv, 0, "the columns 'status' and 'workload' are missing");
    }
    int rc;
    while ((rc = myr_csv_next(csv, err)) > 0) {
        if (csv->count != count) {
            return myr_csv_error(err, csv, 0, "%s, %u are expected", MYR_COUNT(csv->count, "field"),
                                 count);
        }
        MYR_TRY(read_point(reader, csv, heads, status, err));
    }
    return rc;
}

/* The header tells the two lists apart; nothing else of them is looked at before. */
static int read_csv(struct reader *reader, struct myr_str text, struct myr_err *err)
{
    struct myr_csv csv;
    myr_csv_init(&csv, reader->arena, reader->file, text);
    int rc = myr_csv_next(&csv, err);
    if (rc < 0) {
        return rc;
    }
    if (rc > 0 && csv.count == FLOW_COLUMNS && myr_str_eq(csv.fields[0], MYR_STR("task")) &&
        myr_str_eq(csv.fields[END], MYR_STR("end_us"))) {
        reader->results->kind = MYR_RESULTS_FLOWS;
        return read_flows(reader, &csv, err);
    }
    if (rc > 0 && csv.count > 2 && myr_str_eq(csv.fields[0], MYR_STR("point"))) {
        reader->results->kind = MYR_RESULTS_SWEEP;
        return read_sweep(reader, &csv, err);
    }
    return myr_err_set(err, MYR_EINVAL, "%s:1:1: %s, %s or %s is expected", reader->file,
                       myr_results_kinds[0], myr_results_kinds[1], myr_results_kinds[2]);
}

/* JSON begins with a brace, CSV never does. */
int myr_results_parse(struct myr_results *ret, struct myr_arena *arena, const char *file,
                      struct myr_str text, struct myr_err *err)
{
    MYR_CLEANUP(reader_done)
    struct reader reader = {.results = ret, .arena = arena, .file = file};
    size_t at = 0;
    *ret = (struct myr_results){};
    /* Blanks in front of JSON mean nothing. */
    while (at < text.len && (text.data[at] == ' ' || text.data[at] == '\n')) {
        at++;
    }
    if (at < text.len && text.data[at] == '{') {
        const struct myr_doc *doc;
        MYR_TRY(myr_doc_read_json(arena, file, text, &doc, err));
        return read_answer(&reader, doc, err);
    }
    return read_csv(&reader, text, err);
}

int myr_results_read(struct myr_results *ret, struct myr_arena *arena, const char *path,
                     struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    *ret = (struct myr_results){};
    MYR_TRY(myr_kind_read(
        path, RESULTS_MAX, MYR_KINDS_CSV | MYR_KIND_BIT(JSON) | MYR_KIND_BIT(ANSWER),
        "an answer of sim (-o json), a list of its --fct or the result of a sweep", &text, err));
    /* What is read borrows from the text. */
    struct myr_str content = {myr_arena_strndup(arena, text.len ? text.data : "", text.len),
                              text.len};
    return myr_results_parse(ret, arena, myr_file_name(path), content, err);
}
