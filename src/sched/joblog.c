#include <stdlib.h>

#include "myriad/sched/replay.h"
#include "myriad/text/csv.h"

enum { TRACE_BYTES_MAX = 1 << 30, TRACE_COLUMNS = 4 };

static const char *const column_names[TRACE_COLUMNS] = {"submit_s", "duration_s", "num_gpus", "vc"};

struct columns {
    uint32_t at[TRACE_COLUMNS];
};

static int read_header(const struct myr_csv *csv, struct columns *ret, struct myr_err *err)
{
    for (uint32_t c = 0; c < TRACE_COLUMNS; c++) {
        ret->at[c] = UINT32_MAX;
        for (uint32_t f = 0; f < csv->count; f++) {
            if (myr_str_eq(csv->fields[f], myr_str_from(column_names[c]))) {
                ret->at[c] = f;
            }
        }
        if (ret->at[c] == UINT32_MAX && c < 3) {
            return myr_csv_error(err, csv, 0, "the header lacks '%s'", column_names[c]);
        }
    }
    return MYR_OK;
}

static int read_number(const struct myr_csv *csv, const struct columns *columns, uint32_t column,
                       int64_t least, int64_t most, int64_t *ret, struct myr_err *err)
{
    uint32_t f = columns->at[column];
    if (f >= csv->count || !myr_str_to_i64(csv->fields[f], ret) || *ret < least || *ret > most) {
        return myr_csv_error(err, csv, f < csv->count ? f : 0,
                             "'%s' must be a whole number from %lld to %lld", column_names[column],
                             (long long)least, (long long)most);
    }
    return MYR_OK;
}

static int by_submit(const void *a, const void *b)
{
    const struct myr_job_row *x = a, *y = b;
    return x->submit_s < y->submit_s ? -1 : x->submit_s > y->submit_s;
}

/* A stable order: qsort is not, so equal times keep their place by a merge on the index. */
void myr_joblog_sort(struct myr_joblog *trace)
{
    bool sorted = true;
    for (size_t i = 1; i < trace->jobs.count; i++) {
        sorted = sorted && trace->jobs.items[i - 1].submit_s <= trace->jobs.items[i].submit_s;
    }
    if (!sorted) {
        struct myr_job_row *jobs = trace->jobs.items;
        size_t count = trace->jobs.count;
        struct myr_job_row *other = myr_xcalloc(count, sizeof(*other));
        for (size_t width = 1; width < count; width *= 2) {
            for (size_t first = 0; first < count; first += 2 * width) {
                size_t middle = first + width < count ? first + width : count;
                size_t end = first + 2 * width < count ? first + 2 * width : count;
                size_t a = first, b = middle;
                for (size_t k = first; k < end; k++) {
                    bool left = a < middle && (b == end || by_submit(&jobs[a], &jobs[b]) <= 0);
                    other[k] = left ? jobs[a++] : jobs[b++];
                }
            }
            memcpy(jobs, other, count * sizeof(*jobs));
        }
        free(other);
    }
}

int myr_joblog_parse(struct myr_joblog *trace, const char *file, struct myr_str text,
                     struct myr_err *err)
{
    struct myr_arena arena;
    struct myr_strmap tenants = {0};
    struct columns columns = {0};
    bool header = true;
    *trace = (struct myr_joblog){0};
    myr_arena_init(&arena);
    struct myr_csv *csv = MYR_ARENA_NEW(&arena, struct myr_csv, 1);
    myr_csv_init(csv, &arena, file, text);
    int r;
    while ((r = myr_csv_next(csv, err)) > 0) {
        if (header) {
            r = read_header(csv, &columns, err);
            header = false;
            if (r < 0) {
                break;
            }
            continue;
        }
        struct myr_job_row job = {0};
        int64_t gpus = 0;
        r = read_number(csv, &columns, 0, 0, INT64_C(1) << 40, &job.submit_s, err);
        r = r < 0 ? r : read_number(csv, &columns, 1, 0, INT64_C(1) << 40, &job.duration_s, err);
        r = r < 0 ? r : read_number(csv, &columns, 2, 0, 1 << 24, &gpus, err);
        if (r < 0) {
            break;
        }
        struct myr_str vc = columns.at[3] < csv->count ? csv->fields[columns.at[3]] : MYR_STR("");
        job.tenant = myr_strmap_get(&tenants, vc);
        if (job.tenant == MYR_MAP_NONE) {
            job.tenant = tenants.count;
            myr_strmap_add(&tenants, vc, job.tenant);
        }
        job.gpus = (uint32_t)gpus;
        if (job.gpus > 0) {
            myr_vec_push(&trace->jobs, job); /* jobs without a GPU need no place */
        }
    }
    trace->tenants = tenants.count ? tenants.count : 1;
    if (r == 0 && header) {
        r = myr_err_set(err, MYR_EINVAL, "%s:1:1: the trace is empty", file);
    }
    if (r == 0) {
        myr_joblog_sort(trace);
    } else {
        myr_joblog_done(trace);
    }
    myr_strmap_done(&tenants);
    myr_arena_done(&arena);
    return r;
}

int myr_joblog_read(struct myr_joblog *trace, const char *path, struct myr_err *err)
{
    struct myr_buf text = {0};
    int r = myr_file_read(path, TRACE_BYTES_MAX, &text, err);
    r = r < 0 ? r : myr_joblog_parse(trace, path, (struct myr_str){text.data, text.len}, err);
    myr_buf_done(&text);
    return r;
}

void myr_joblog_done(struct myr_joblog *trace)
{
    myr_vec_done(&trace->jobs);
}
