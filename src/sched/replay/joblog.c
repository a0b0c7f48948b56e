#include "myriad/sched/joblog.h"

#include <stdlib.h>

#include "myriad/text/amount.h"
#include "myriad/text/csv.h"
#include "myriad/text/kind.h"
#include "replay/joblog_impl.h"

#define MISSING UINT32_MAX /* no such column */

enum {
    ALIASES_MAX = 16,        /* names of one column */
    PIECE_BYTES = 1 << 20,   /* read at a time */
    JOBS_MAX = 1 << 28,      /* of a trace: 6 GB of rows */
    TENANTS_MAX = 1 << 20,   /* as many as the queue takes */
    ROW_BYTES_MAX = 1 << 20, /* a quote that is never closed must not eat the memory */
    ID_BYTES_MAX = 256       /* longer ones are cut */
};

enum column { SUBMIT, LENGTH, GPUS, TENANT, PRIORITY, START, END, TRES, JOB_ID, WAIT, COLUMNS };

/* Names of each column; of several in one file the first named here counts. */
static const char *const aliases[COLUMNS][ALIASES_MAX] = {
    [SUBMIT] = {"submit_s", "submit", "submit_time", "submitted_time", "submission_time",
                "submitted", "arrival_time", "arrival", "creation_time", "timestamp", "time"},
    [LENGTH] = {"duration_s", "duration", "elapsedraw", "elapsed", "run_time", "runtime",
                "runtime_s", "run_time_s", "length_s"},
    [GPUS] = {"num_gpus", "gpus", "gpu_num", "num_gpu", "gpu_count", "ngpus", "n_gpus",
              "gpu_request", "req_gpus", "gpu"},
    [TENANT] = {"vc", "virtual_cluster", "tenant", "account", "project", "group", "team", "user",
                "queue", "partition"},
    [PRIORITY] = {"priority"},
    [START] = {"start_s", "start", "start_time", "scheduled_time"},
    [END] = {"end_s", "end", "end_time", "deletion_time", "finish_time"},
    [TRES] = {"alloctres", "reqtres", "tres_alloc", "tres_req", "allocgres", "reqgres"},
    [JOB_ID] = {"jobid", "jobidraw", "job_id", "id", "job", "job_name"},
    [WAIT] = {"wait_s", "wait", "wait_time", "waiting_time", "queue_s", "queue_time", "queue_delay",
              "queuing_time", "pending_time", "planned", "reserved"},
};

/* A trace being read, piece by piece. */
struct reader {
    struct myr_csv *csv;
    struct myr_arena piece; /* of the piece of text at hand: fields that had quotes in them */
    char separator;         /* of fields: ',' has quotes, the others have not; 0: not known yet */
    bool has_header;        /* the first row was read */
    uint32_t at[COLUMNS];   /* field of each column, or MISSING */
    struct myr_strmap tenants; /* keys lie in the trace's arena */
    struct myr_joblog *trace;
};

static const char trace_expected[] = "a trace of jobs (CSV, or as sacct prints it)";

/*
 * A row by the text's own separator, into what the CSV reader would fill. Commas come with quotes,
 * as in CSV; sacct's bars, tabs and semicolons do not: quotes are letters like any other there.
 */
static int next_plain(struct reader *r, struct myr_err *err)
{
    struct myr_csv *csv = r->csv;
    const char *text = csv->text.data;
    /* Empty lines are no rows. */
    while (csv->at < csv->text.len && (text[csv->at] == '\n' || text[csv->at] == '\r')) {
        csv->next_line += text[csv->at++] == '\n';
    }
    if (csv->at >= csv->text.len) {
        return 0;
    }
    csv->row_start = csv->line_start = csv->at;
    csv->line = csv->next_line;
    csv->count = 0;
    size_t end = csv->at, start = csv->at;
    while (end < csv->text.len && text[end] != '\n') {
        end++;
    }
    csv->at = end;
    end -= end > start && text[end - 1] == '\r';
    /* One step beyond the end closes the last field. */
    for (size_t i = start; i <= end; i++) {
        if (i < end && text[i] != r->separator) {
            continue;
        }
        if (csv->count == MYR_CSV_FIELDS_MAX) {
            return myr_csv_error(err, csv, 0, "more than %d fields", MYR_CSV_FIELDS_MAX);
        }
        csv->fields[csv->count] = (struct myr_str){text + start, i - start};
        csv->lines[csv->count] = csv->line;
        csv->bytes[csv->count] = (uint32_t)(start - csv->line_start);
        csv->count++;
        start = i + 1;
    }
    MYR_TRY(myr_csv_check_row(csv, err));
    return 1;
}

/* Fields point into the text, or into the arena of the piece where quotes were taken off. */
static int next_row(struct reader *r, struct myr_err *err)
{
    return r->separator == ',' ? myr_csv_next(r->csv, err) : next_plain(r, err);
}

/* What the first line separates its names by: sacct's bars, tabs, or as spreadsheets do. */
static char separator_of(struct myr_str text)
{
    /* Bars and commas decide at once; a tab or a semicolon only if none of them comes. */
    char found = ',';
    for (size_t i = 0; i < text.len && text.data[i] != '\n'; i++) {
        if (text.data[i] == '|' || text.data[i] == ',') {
            return text.data[i];
        }
        found = text.data[i] == '\t' || text.data[i] == ';' ? text.data[i] : found;
    }
    return found;
}

/* Whether a header's field is this name: in any case, blanks and dashes as underscores. */
static bool is_name(struct myr_str field, const char *name)
{
    size_t i = 0;
    field = joblog_trim(field);
    for (; i < field.len && name[i]; i++) {
        char c = field.data[i];
        c = c == ' ' || c == '-' ? '_' : c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
        if (c != name[i]) {
            return false;
        }
    }
    return i == field.len && !name[i];
}

/* The field of a column; MISSING where there is none, an error where two have its name. */
static int find_column(const struct myr_csv *csv, enum column column, uint32_t *ret,
                       struct myr_err *err)
{
    *ret = MISSING;
    for (uint32_t a = 0; a < ALIASES_MAX && aliases[column][a] && *ret == MISSING; a++) {
        for (uint32_t f = 0; f < csv->count; f++) {
            if (!is_name(csv->fields[f], aliases[column][a])) {
                continue;
            }
            if (*ret != MISSING) {
                return myr_csv_error(err, csv, f, "a second column '%s', the first is field %u",
                                     aliases[column][a], *ret + 1);
            }
            *ret = f;
        }
    }
    return MYR_OK;
}

/* Which columns there are; what a replay cannot do without must be among them. */
static int read_header(struct reader *r, struct myr_err *err)
{
    for (uint32_t c = 0; c < COLUMNS; c++) {
        int rc = find_column(r->csv, (enum column)c, &r->at[c], err);
        if (rc < 0) {
            return rc;
        }
    }
    const char *lacks =
        r->at[SUBMIT] == MISSING ? "when jobs came (submit_s, submit, submit_time)"
        : r->at[LENGTH] == MISSING && (r->at[START] == MISSING || r->at[END] == MISSING)
            ? "how long jobs ran (duration_s, elapsed, or start and end)"
        : r->at[GPUS] == MISSING && r->at[TRES] == MISSING
            ? "how many GPUs jobs had (num_gpus, gpus, or AllocTRES)"
            : NULL;
    if (lacks) {
        int rc = myr_csv_error(err, r->csv, 0, "no column says %s", lacks);
        myr_err_hint(err, "the first line names the columns; docs/sched.md lists the names known");
        return rc;
    }
    myr_csv_is_header(r->csv);
    if (r->separator == '|' || r->separator == '\t') {
        r->at[PRIORITY] = MISSING; /* Slurm's is of another scale */
    }
    return MYR_OK;
}

/* The field of a column; the row must have it. */
static int field_of(const struct reader *r, enum column column, struct myr_str *ret,
                    struct myr_err *err)
{
    if (r->at[column] >= r->csv->count) {
        return myr_csv_error(err, r->csv, 0, "%s, by the first line at least %u are expected",
                             MYR_COUNT(r->csv->count, "field"), r->at[column] + 1);
    }
    *ret = joblog_trim(r->csv->fields[r->at[column]]);
    return MYR_OK;
}

/* The row must have it: a job without a time cannot be placed in the trace. */
static int read_time(const struct reader *r, enum column column, int64_t *ret, struct myr_err *err)
{
    struct myr_str field = {};
    int rc = field_of(r, column, &field, err);
    if (rc == MYR_OK && !joblog_time(field, ret)) {
        rc = myr_csv_error(err, r->csv, r->at[column],
                           "'%.*s' is no time; seconds or 2026-01-31T23:59:59 are expected",
                           (int)(field.len < 40 ? field.len : 40), field.data);
    }
    return rc;
}

/* From the column of GPUs, or out of a list of resources. */
static int read_gpus(const struct reader *r, uint32_t *ret, struct myr_err *err)
{
    /* A plain column of GPUs wins over a list of resources. */
    enum column column = r->at[GPUS] != MISSING ? GPUS : TRES;
    struct myr_str field = {};
    int64_t gpus = 0;
    int rc = field_of(r, column, &field, err);
    if (rc < 0) {
        return rc;
    }
    bool good = column == GPUS ? joblog_count(field, &gpus) : joblog_tres_gpus(field, &gpus);
    if (!good || gpus > MYR_JOB_GPUS_MAX) {
        return myr_csv_error(err, r->csv, r->at[column],
                             "'%.*s' is no number of GPUs; a whole number from 0 to %d is expected",
                             (int)(field.len < 40 ? field.len : 40), field.data, MYR_JOB_GPUS_MAX);
    }
    *ret = (uint32_t)gpus;
    return MYR_OK;
}

/* How long it ran; '*ret_never' when it did not, or has not ended. */
static int read_length(const struct reader *r, int64_t *ret, bool *ret_never, struct myr_err *err)
{
    struct myr_str field = {}, end = {};
    int64_t start_s = 0, end_s = 0;
    *ret_never = false;
    /* A length wins over start and end. */
    if (r->at[LENGTH] != MISSING) {
        int rc = field_of(r, LENGTH, &field, err);
        if (rc == MYR_OK && !joblog_length(field, ret)) {
            rc = myr_csv_error(
                err, r->csv, r->at[LENGTH],
                "'%.*s' is no length of time; seconds or [days-]hours:minutes:seconds are expected",
                (int)(field.len < 40 ? field.len : 40), field.data);
        }
        return rc;
    }
    MYR_TRY(field_of(r, START, &field, err));
    MYR_TRY(field_of(r, END, &end, err));
    /* Who has not ended yet has no length. */
    *ret_never = joblog_is_none(field) || joblog_is_none(end);
    if (*ret_never) {
        return MYR_OK;
    }
    MYR_TRY(read_time(r, START, &start_s, err));
    MYR_TRY(read_time(r, END, &end_s, err));
    if (end_s < start_s) {
        return myr_csv_error(err, r->csv, r->at[END], "the job ends before it starts");
    }
    if (end_s - start_s > JOBLOG_LENGTH_MAX_S) {
        return myr_csv_error(err, r->csv, r->at[END],
                             "the job ends %lld s after its start, at most "
                             "%lld are expected",
                             (long long)(end_s - start_s), (long long)JOBLOG_LENGTH_MAX_S);
    }
    *ret = end_s - start_s;
    return MYR_OK;
}

/* An empty field is 0. */
static int read_priority(const struct reader *r, int32_t *ret, struct myr_err *err)
{
    struct myr_str field = {};
    int64_t value = 0;
    int rc = field_of(r, PRIORITY, &field, err);
    if (rc == MYR_OK && field.len &&
        (!myr_str_to_i64(field, &value) || value < -100 || value > 100)) {
        rc = myr_csv_error(err, r->csv, r->at[PRIORITY],
                           "a priority is a whole number from -100 to 100");
    }
    *ret = (int32_t)value;
    return rc;
}

/* By name; an unknown one is added. */
static int tenant_of(struct reader *r, uint32_t *ret, struct myr_err *err)
{
    uint32_t f = r->at[TENANT];
    /* Jobs without a column for it, or with an empty field, belong to one tenant without a name. */
    struct myr_str name = f < r->csv->count ? joblog_trim(r->csv->fields[f]) : MYR_STR("");
    *ret = myr_strmap_get(&r->tenants, name);
    if (*ret != MYR_MAP_NONE) {
        return MYR_OK;
    }
    if (r->tenants.count == TENANTS_MAX) {
        return myr_csv_error(err, r->csv, f, "more than %d tenants", TENANTS_MAX);
    }
    /* Tenants are numbered as they are met. */
    *ret = r->tenants.count;
    name.data = myr_arena_strndup(&r->trace->arena, name.data, name.len);
    myr_strmap_add(&r->tenants, name, *ret);
    return MYR_OK;
}

/* Rows of steps stand below their job in sacct's list: "123.batch". */
static bool is_step(const struct reader *r)
{
    uint32_t f = r->at[JOB_ID];
    return r->separator == '|' && f < r->csv->count &&
           memchr(r->csv->fields[f].data, '.', r->csv->fields[f].len) != NULL;
}

/*
 * What the log notes beside. A replay needs none of it, so what cannot be read is as good as not
 * recorded: a start before the submission (clocks differ), a word that is no time.
 */
static void note_job(struct reader *r, int64_t submit_s)
{
    const struct myr_csv *csv = r->csv;
    struct myr_joblog_note note = {.waited_s = -1};
    int64_t at_s;
    if (r->at[JOB_ID] < csv->count) {
        note.id = joblog_trim(csv->fields[r->at[JOB_ID]]);
        note.id.len = note.id.len < ID_BYTES_MAX ? note.id.len : ID_BYTES_MAX;
    }
    if (r->at[WAIT] < csv->count && joblog_length(joblog_trim(csv->fields[r->at[WAIT]]), &at_s)) {
        note.waited_s = at_s;
    } else if (r->at[WAIT] == MISSING && r->at[START] < csv->count &&
               joblog_time(joblog_trim(csv->fields[r->at[START]]), &at_s) && at_s >= submit_s) {
        note.waited_s = at_s - submit_s;
    }
    if (note.id.len || note.waited_s >= 0) {
        joblog_add_note(&r->trace->notes, csv->line, &note);
    }
}

/* A job without a start has never run, whatever stands for its length. */
static bool never_started(const struct reader *r)
{
    return r->at[START] < r->csv->count &&
           joblog_is_none(joblog_trim(r->csv->fields[r->at[START]]));
}

/* What there is to read of a job with GPUs; 'ret_never' as it comes out. */
static int read_rest(struct reader *r, int64_t *ret_submit_s, int64_t *ret_duration_s,
                     int32_t *ret_priority, bool *ret_never, struct myr_err *err)
{
    MYR_TRY(read_time(r, SUBMIT, ret_submit_s, err));
    *ret_never = never_started(r);
    MYR_TRY(*ret_never ? MYR_OK : read_length(r, ret_duration_s, ret_never, err));
    return r->at[PRIORITY] == MISSING ? MYR_OK : read_priority(r, ret_priority, err);
}

/* The next row into the trace, unless it holds no job for us. */
static int read_job(struct reader *r, struct myr_err *err)
{
    uint32_t gpus = 0, tenant = 0;
    int64_t submit_s = 0, duration_s = 0;
    int32_t priority = 0;
    /* Steps are part of their job and would count its GPUs twice. */
    bool never = is_step(r);
    MYR_TRY(never ? MYR_OK : read_gpus(r, &gpus, err));
    /* Jobs without GPUs are left out before anything else of them is read: it may be missing. */
    MYR_TRY(gpus ? read_rest(r, &submit_s, &duration_s, &priority, &never, err) : MYR_OK);
    if (never || gpus == 0) {
        r->trace->left_out++;
        return MYR_OK;
    }
    if (r->trace->jobs.count == JOBS_MAX) {
        return myr_csv_error(err, r->csv, 0, "more than %d jobs", JOBS_MAX);
    }
    MYR_TRY(tenant_of(r, &tenant, err));
    /* The masks are as wide as the fields; limits were checked above. */
    struct myr_job_row job = {.submit_s = submit_s,
                              .duration_s = (uint64_t)duration_s & 0xfffffffff,
                              .gpus = gpus & 0xfffffff,
                              .line = r->csv->line,
                              .tenant = tenant & 0xffffff,
                              .priority = (int8_t)priority};
    myr_vec_push(&r->trace->jobs, job);
    note_job(r, submit_s);
    return MYR_OK;
}

void myr_joblog_sort(struct myr_joblog *trace)
{
    size_t count = trace->jobs.count;
    struct myr_job_row *jobs = trace->jobs.items;
    bool sorted = true;
    for (size_t i = 1; i < count; i++) {
        sorted = sorted && jobs[i - 1].submit_s <= jobs[i].submit_s;
    }
    if (sorted) {
        return;
    }
    /* By merging: qsort does not keep equal ones in order. */
    struct myr_job_row *other = myr_xcalloc(count, sizeof(*other));
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t first = 0; first < count; first += 2 * width) {
            size_t middle = first + width < count ? first + width : count;
            size_t end = first + 2 * width < count ? first + 2 * width : count;
            size_t a = first, b = middle;
            for (size_t k = first; k < end; k++) {
                bool left = a < middle && (b == end || jobs[a].submit_s <= jobs[b].submit_s);
                other[k] = left ? jobs[a++] : jobs[b++];
            }
        }
        memcpy(jobs, other, count * sizeof(*jobs));
    }
    free(other);
}

/* All rows of a piece that ends where a row ends. */
static int read_piece(struct reader *r, struct myr_str piece, struct myr_err *err)
{
    struct myr_csv *csv = r->csv;
    if (!r->separator) {
        myr_csv_init(csv, &r->piece, r->trace->file, piece); /* skips a byte-order mark */
        r->separator = separator_of(csv->text);
    } else {
        csv->text = piece;
        csv->at = csv->line_start = 0;
    }
    int rc;
    while ((rc = next_row(r, err)) > 0) {
        rc = r->has_header ? read_job(r, err) : read_header(r, err);
        if (rc < 0) {
            return rc;
        }
        r->has_header = true;
    }
    myr_arena_done(&r->piece);
    return rc;
}

/*
 * The bytes of whole rows at the front of 'text', which starts with a row; 0 when not even one is
 * whole. A line end inside quotes ends no row.
 */
static size_t whole_rows(const struct reader *r, struct myr_str text)
{
    bool has_quotes = (r->separator ? r->separator : separator_of(text)) == ',', quoted = false;
    size_t end = 0;
    /* Line ends inside quotes belong to a field. */
    for (size_t i = 0; i < text.len; i++) {
        quoted ^= has_quotes && text.data[i] == '"';
        end = text.data[i] == '\n' && !quoted ? i + 1 : end;
    }
    return end;
}

/* Names of the tenants, the order of the jobs, and times that count from the first of them. */
static int finish(struct reader *r, struct myr_err *err)
{
    struct myr_joblog *trace = r->trace;
    if (!r->has_header) {
        return myr_err_set(err, MYR_EINVAL, "%s:1:1: the file is empty, %s is expected",
                           trace->file, trace_expected);
    }
    if (trace->jobs.count == 0) {
        return myr_err_set(err, MYR_EINVAL, "%s:1:1: the trace has no job that had GPUs and ended",
                           trace->file);
    }
    trace->tenants = r->tenants.count;
    trace->tenant_names = MYR_ARENA_NEW(&trace->arena, const char *, r->tenants.count);
    for (uint32_t t = 0; t < r->tenants.count; t++) {
        trace->tenant_names[t] = r->tenants.keys[t].data; /* ended by 0, by its copy */
    }
    /* Jobs may stand in any order in the file. */
    myr_joblog_sort(trace);
    int64_t first_s = trace->jobs.items[0].submit_s;
    for (size_t i = 0; i < trace->jobs.count; i++) {
        trace->jobs.items[i].submit_s -= first_s;
    }
    return MYR_OK;
}

static void reader_init(struct reader *r, struct myr_joblog *trace, const char *file)
{
    *trace = (struct myr_joblog){.file = file};
    *r = (struct reader){.trace = trace, .csv = myr_xcalloc(1, sizeof(*r->csv))};
    myr_arena_init(&trace->arena);
    myr_arena_init(&r->piece);
}

static void reader_done(struct reader *r)
{
    free(r->csv);
    myr_strmap_done(&r->tenants);
    myr_arena_done(&r->piece);
}

/* A text that is all there. */
static int read_whole(struct reader *r, struct myr_str text, struct myr_err *err)
{
    MYR_TRY(read_piece(r, text, err));
    return finish(r, err);
}

int myr_joblog_parse(struct myr_joblog *trace, const char *file, struct myr_str text,
                     struct myr_err *err)
{
    MYR_CLEANUP(reader_done) struct reader r;
    reader_init(&r, trace, file);
    int rc = read_whole(&r, text, err);
    if (rc < 0) {
        myr_joblog_done(trace);
    }
    return rc;
}

/* A row without an end: as if the file ended here, which says where a quote was left open. */
static int refuse_long_row(struct reader *r, struct myr_str row, struct myr_err *err)
{
    uint32_t line = r->separator ? r->csv->next_line : 1;
    MYR_TRY(read_piece(r, row, err));
    return myr_err_set(err, MYR_ERANGE, "%s:%u:1: a row of more than %d bytes", r->trace->file,
                       line, ROW_BYTES_MAX);
}

/* A file piece by piece: first the beginning, which was looked at, then the rest. */
struct pieces {
    struct myr_infile file;
    struct myr_buf first;
    size_t at, bytes; /* how much of 'first' was handed on; of a piece at most */
};

static void pieces_done(struct pieces *from)
{
    myr_infile_close(&from->file);
    myr_buf_done(&from->first);
}

static int next_piece(struct pieces *from, struct myr_buf *text, struct myr_err *err)
{
    size_t left = from->first.len - from->at, take = left < from->bytes ? left : from->bytes;
    if (take == 0) {
        return myr_infile_read(&from->file, from->bytes, text, err);
    }
    myr_buf_put(text, from->first.data + from->at, take);
    from->at += take;
    return 1;
}

/* Reads on until the end; what is left of a piece behind its last whole row goes to the next. */
static int read_pieces(struct reader *r, struct pieces *from,
                       const struct myr_joblog_listener *listener, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    for (int more = 1; more;) {
        more = next_piece(from, &text, err);
        if (more < 0) {
            return more;
        }
        /* The last piece has all the rest, with or without a line end. */
        size_t whole = more ? whole_rows(r, (struct myr_str){text.data, text.len}) : text.len;
        MYR_TRY(whole || !more ? read_piece(r, (struct myr_str){text.data, whole}, err) : MYR_OK);
        if (listener) {
            listener->tell(listener->context, r->trace->jobs.count + r->trace->left_out);
        }
        text.len -= whole;
        memmove(text.data, text.data + whole, text.len);
        if (text.len > ROW_BYTES_MAX) {
            return refuse_long_row(r, (struct myr_str){text.data, text.len}, err);
        }
    }
    return finish(r, err);
}

int joblog_read_pieces(struct myr_joblog *trace, const char *path, size_t piece_bytes,
                       const struct myr_joblog_listener *listener, struct myr_err *err)
{
    MYR_CLEANUP(pieces_done) struct pieces from = {.file.fd = -1, .bytes = piece_bytes};
    MYR_TRY(myr_kind_open(&from.file, path,
                          MYR_KINDS_CSV | MYR_KIND_BIT(SEPARATED) | MYR_KIND_BIT(EMPTY),
                          trace_expected, &from.first, err));
    MYR_CLEANUP(reader_done) struct reader r;
    reader_init(&r, trace, myr_file_name(path));
    int rc = read_pieces(&r, &from, listener, err);
    if (rc < 0) {
        myr_joblog_done(trace);
    }
    return rc;
}

int myr_joblog_read(struct myr_joblog *trace, const char *path, struct myr_err *err)
{
    return joblog_read_pieces(trace, path, PIECE_BYTES, NULL, err);
}

int myr_joblog_read_telling(struct myr_joblog *trace, const char *path,
                            const struct myr_joblog_listener *listener, struct myr_err *err)
{
    return joblog_read_pieces(trace, path, PIECE_BYTES, listener, err);
}

void myr_joblog_done(struct myr_joblog *trace)
{
    myr_vec_done(&trace->jobs);
    myr_vec_done(&trace->notes.bytes);
    myr_vec_done(&trace->notes.marks);
    myr_arena_done(&trace->arena);
    trace->tenant_names = NULL;
}
