#include "myriad/text/amount.h"
#include "myriad/text/csv.h"
#include "read/text.h"

/*
 * Our own list of flows, as --flows writes it: "id,after,from,to,bytes,compute_us,hops". Rows of
 * one id are flows of one transfer: whoever waits for it waits for all of them. Ids may be used
 * before the row that has them.
 */

enum { ID, AFTER, FROM, TO, BYTES, COMPUTE, HOPS, COLUMNS };
static const char *const names[COLUMNS] = {"id",    "after",      "from", "to",
                                           "bytes", "compute_us", "hops"};

/* What a row says about the order: looked up when all rows are read. */
struct wait {
    uint32_t op, line, column; /* who waits, and where the file says so */
    uint64_t id;
};

struct reader {
    struct myr_csv csv;
    struct myr_trace *trace;
    struct myr_u64map joins; /* id, to the operation that ends when all of its rows have */
    MYR_VEC(struct wait) waits;
};

static void reader_done(struct reader *reader)
{
    myr_u64map_done(&reader->joins);
    myr_vec_done(&reader->waits);
}

/* All columns, in this order: rows are read by place. */
static int read_header(struct reader *reader, struct myr_err *err)
{
    int rc = myr_csv_next(&reader->csv, err);
    if (rc < 0) {
        return rc;
    }
    for (uint32_t i = 0; i < COLUMNS; i++) {
        if (rc == 0 || i >= reader->csv.count ||
            !myr_str_eq(reader->csv.fields[i], myr_str_from(names[i]))) {
            return myr_err_set(err, MYR_EINVAL,
                               "%s:1:1: the columns id,after,from,to,bytes,compute_us,hops are "
                               "expected",
                               reader->csv.file);
        }
    }
    return MYR_OK;
}

/* By column, so that the complaint names it. */
static int number(struct reader *reader, uint32_t field, uint64_t least, uint64_t most,
                  uint64_t *ret, struct myr_err *err)
{
    if (!myr_str_to_u64(reader->csv.fields[field], ret) || *ret < least || *ret > most) {
        return myr_csv_error(err, &reader->csv, field, "'%s' must be a number from %llu to %llu",
                             names[field], (unsigned long long)least, (unsigned long long)most);
    }
    return MYR_OK;
}

/* Ids with blanks between them; each is remembered with its place, for a complaint later. */
static int read_waits(struct reader *reader, uint32_t op, struct myr_err *err)
{
    struct myr_str text = reader->csv.fields[AFTER];
    for (size_t at = 0; at < text.len;) {
        size_t end = at;
        while (end < text.len && text.data[end] != ' ') {
            end++;
        }
        struct wait wait = {.op = op,
                            .line = reader->csv.lines[AFTER],
                            /* The column of the id itself, inside the field. */
                            .column = myr_csv_column(&reader->csv, AFTER) + (uint32_t)at};
        struct myr_str word = {text.data + at, end - at};
        if (!myr_str_to_u64(word, &wait.id)) {
            return myr_csv_error(err, &reader->csv, AFTER,
                                 "'after' must be ids with blanks between them");
        }
        myr_vec_push(&reader->waits, wait);
        at = end + 1;
    }
    return MYR_OK;
}

/* A row without a sender is computing. The trace has as many ranks as its largest number needs. */
static int read_row(struct reader *reader, struct myr_trace_op *op, struct myr_err *err)
{
    const struct myr_str *fields = reader->csv.fields;
    uint64_t from, to, hops = 1;
    bool computing = fields[FROM].len == 0;
    op->line = reader->csv.line;
    if (computing) {
        uint64_t ps;
        op->kind = MYR_TRACE_COMPUTE;
        if (!scan_decimal(fields[COMPUTE], 6, MYR_TRACE_TIME_MAX, &ps)) {
            return myr_csv_error(err, &reader->csv, COMPUTE,
                                 "'compute_us' must be a time in microseconds, at most %lld s",
                                 (long long)(MYR_TRACE_TIME_MAX / MYR_PS_PER_S));
        }
        op->duration = (myr_ps)ps;
        return MYR_OK;
    }
    op->kind = MYR_TRACE_MESSAGE;
    MYR_TRY(number(reader, FROM, 0, MYR_TRACE_RANKS_MAX - 1, &from, err));
    MYR_TRY(number(reader, TO, 0, MYR_TRACE_RANKS_MAX - 1, &to, err));
    MYR_TRY(number(reader, BYTES, 0, MYR_TRACE_BYTES_MAX, &op->bytes, err));
    if (fields[HOPS].len) {
        MYR_TRY(number(reader, HOPS, 1, UINT32_MAX, &hops, err));
    }
    op->from = (uint32_t)from;
    op->to = (uint32_t)to;
    op->hops = (uint32_t)hops;
    uint32_t most = op->from > op->to ? op->from : op->to;
    struct myr_trace *trace = reader->trace;
    trace->ranks = most >= trace->ranks ? most + 1 : trace->ranks;
    return MYR_OK;
}

/* The join of an id's rows; made with the first of them. */
static uint32_t join_of(struct reader *reader, uint64_t id)
{
    uint32_t *known = myr_u64map_find(&reader->joins, id);
    if (known) {
        return *known;
    }
    struct myr_trace_op join = {.kind = MYR_TRACE_COMPUTE, .line = reader->csv.line, .start = -1};
    uint32_t op = (uint32_t)reader->trace->ops.count;
    myr_vec_push(&reader->trace->ops, join);
    myr_u64map_add(&reader->joins, id, op);
    return op;
}

/* A row is an operation; the id's join waits for it, and others wait for the join. */
static int read_rows(struct reader *reader, struct myr_err *err)
{
    struct myr_trace *trace = reader->trace;
    int rc;
    while ((rc = myr_csv_next(&reader->csv, err)) > 0) {
        struct myr_trace_op op = {.start = -1};
        uint64_t id;
        if (reader->csv.count != COLUMNS) {
            return myr_csv_error(err, &reader->csv, 0, "%s, %u are expected",
                                 MYR_COUNT(reader->csv.count, "field"), COLUMNS);
        }
        MYR_TRY(number(reader, ID, 0, UINT64_MAX - 1, &id, err));
        MYR_TRY(read_row(reader, &op, err));
        /* Two: the row's own operation, and a join where its id is new. */
        if (trace->ops.count + 2 > MYR_TRACE_OPS_MAX) {
            return myr_csv_error(err, &reader->csv, 0, "more than %u operations",
                                 MYR_TRACE_OPS_MAX);
        }
        uint32_t own = (uint32_t)trace->ops.count;
        myr_vec_push(&trace->ops, op);
        trace->messages += op.kind == MYR_TRACE_MESSAGE;
        /* The join is made with the first row, and waits for every row. */
        trace_after(trace, join_of(reader, id), own);
        MYR_TRY(read_waits(reader, own, err));
    }
    return rc;
}

/* Waits are looked up at the end: an id may come later in the file than who waits for it. */
int read_flows(struct scan *scan, struct myr_trace *ret, struct myr_err *err)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena scratch = {};
    MYR_CLEANUP(reader_done) struct reader reader = {.trace = ret};
    myr_arena_init(&scratch);
    myr_csv_init(&reader.csv, &scratch, scan->file, scan->text);
    MYR_TRY(read_header(&reader, err));
    MYR_TRY(read_rows(&reader, err));
    for (size_t i = 0; i < reader.waits.count; i++) {
        const struct wait *wait = &reader.waits.items[i];
        uint32_t *join = myr_u64map_find(&reader.joins, wait->id);
        if (!join) {
            return scan_error_at(err, scan, (struct scan_place){wait->line, wait->column},
                                 "no row has the id %llu", (unsigned long long)wait->id);
        }
        trace_after(ret, wait->op, *join);
    }
    return MYR_OK;
}
