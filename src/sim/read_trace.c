#include <stdlib.h>

#include "read_text.h"

const char *const myr_trace_format_names[MYR_TRACE_FORMAT_COUNT] = {
    [MYR_TRACE_GOAL] = "goal",
    [MYR_TRACE_HPCC] = "hpcc",
    [MYR_TRACE_HTSIM] = "htsim",
    [MYR_TRACE_SIMAI] = "simai",
};

const char *const myr_shape_format_names[MYR_SHAPE_FORMAT_COUNT] = {
    [MYR_SHAPE_HTSIM] = "htsim",
    [MYR_SHAPE_HPCC] = "hpcc",
};

static bool ends_in(const char *path, const char *ending)
{
    size_t length = strlen(path), tail = strlen(ending);
    return length >= tail && strcmp(path + length - tail, ending) == 0;
}

enum myr_trace_format myr_trace_guess(const char *path, struct myr_str text)
{
    if (ends_in(path, ".goal")) {
        return MYR_TRACE_GOAL;
    }
    if (ends_in(path, ".cm") || ends_in(path, ".tm")) {
        return MYR_TRACE_HTSIM;
    }
    struct scan scan;
    scan_init(&scan, path, text);
    if (!scan_line(&scan) || !scan_word(&scan)) {
        return MYR_TRACE_HPCC;
    }
    if (scan_is(&scan, "num_ranks")) {
        return MYR_TRACE_GOAL;
    }
    if (scan_is(&scan, "Nodes") || scan_is(&scan, "Connections")) {
        return MYR_TRACE_HTSIM;
    }
    return scan.word.data[0] >= '0' && scan.word.data[0] <= '9' ? MYR_TRACE_HPCC : MYR_TRACE_SIMAI;
}

enum myr_shape_format myr_shape_guess(const char *path)
{
    return ends_in(path, ".topo") ? MYR_SHAPE_HTSIM : MYR_SHAPE_HPCC;
}

void myr_trace_done(struct myr_trace *trace)
{
    myr_vec_done(&trace->ops);
    myr_vec_done(&trace->edges);
    myr_vec_done(&trace->splits);
    *trace = (struct myr_trace){0};
}

int trace_add(struct myr_trace *trace, const struct scan *scan, struct myr_trace_op op,
              uint32_t *ret, struct myr_err *err)
{
    if (trace->ops.count == MYR_TRACE_OPS_MAX) {
        return scan_error(err, scan, "more than %u operations", MYR_TRACE_OPS_MAX);
    }
    op.line = op.line ? op.line : scan->word_line;
    trace->messages += op.kind == MYR_TRACE_MESSAGE;
    if (op.endless && trace->endless_line == 0) {
        trace->endless_line = op.line;
    }
    *ret = (uint32_t)trace->ops.count;
    myr_vec_push(&trace->ops, op);
    return MYR_OK;
}

void trace_after(struct myr_trace *trace, uint32_t op, uint32_t before)
{
    struct myr_trace_edge edge = {before, op};
    myr_vec_push(&trace->edges, edge);
}

/* Takes away what waits for nothing until nothing more can go: what is left waits in a circle. */
int trace_check_order(const struct myr_trace *trace, const struct scan *scan, struct myr_err *err)
{
    size_t count = trace->ops.count, done = 0, ready = 0;
    uint32_t *start = myr_xcalloc(count + 2, sizeof(*start));
    uint32_t *next = myr_xcalloc(trace->edges.count + 1, sizeof(*next));
    uint32_t *waits = myr_xcalloc(count + 1, sizeof(*waits));
    uint32_t *queue = myr_xcalloc(count + 1, sizeof(*queue));
    for (size_t i = 0; i < trace->edges.count; i++) {
        start[trace->edges.items[i].before + 2]++;
        waits[trace->edges.items[i].op]++;
    }
    for (size_t i = 2; i < count + 2; i++) {
        start[i] += start[i - 1];
    }
    for (size_t i = 0; i < trace->edges.count; i++) {
        next[start[trace->edges.items[i].before + 1]++] = trace->edges.items[i].op;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (waits[i] == 0) {
            queue[ready++] = i;
        }
    }
    for (; done < ready; done++) {
        for (uint32_t e = start[queue[done]]; e < start[queue[done] + 1]; e++) {
            if (--waits[next[e]] == 0) {
                queue[ready++] = next[e];
            }
        }
    }
    int r = MYR_OK;
    for (uint32_t i = 0; i < count && r == MYR_OK && ready < count; i++) {
        if (waits[i] > 0) {
            struct scan_place place = {trace->ops.items[i].line, 1};
            r = scan_error_at(err, scan, place,
                              "this can never start: it waits, over others, for "
                              "itself or for what waits for itself");
        }
    }
    free(queue);
    free(waits);
    free(next);
    free(start);
    return r;
}

void myr_trace_limit(struct myr_trace *trace, uint64_t bytes)
{
    MYR_ASSERT(bytes > 0 && bytes <= MYR_TRACE_BYTES_MAX);
    for (size_t i = 0; i < trace->ops.count; i++) {
        struct myr_trace_op *op = &trace->ops.items[i];
        op->bytes = op->endless ? bytes : op->bytes;
        op->endless = false;
    }
    trace->endless_line = 0;
}

/* Files count from a time of their own (HPCC's from 2 s); here the first start is time 0. */
static void shift_starts(struct myr_trace *trace)
{
    myr_ps first = -1;
    for (size_t i = 0; i < trace->ops.count; i++) {
        const struct myr_trace_op *op = &trace->ops.items[i];
        if (op->start >= 0 && (first < 0 || op->start < first)) {
            first = op->start;
        }
    }
    for (size_t i = 0; i < trace->ops.count; i++) {
        struct myr_trace_op *op = &trace->ops.items[i];
        op->start = op->start < 0 ? 0 : op->start - first;
    }
}

int myr_trace_read(const char *file, struct myr_str text, enum myr_trace_format format,
                   struct myr_trace *ret, struct myr_err *err)
{
    static int (*const readers[])(struct scan *, struct myr_trace *, struct myr_err *) = {
        [MYR_TRACE_GOAL] = read_goal,
        [MYR_TRACE_HPCC] = read_hpcc_flows,
        [MYR_TRACE_HTSIM] = read_htsim_matrix,
        [MYR_TRACE_SIMAI] = read_simai,
    };
    struct scan scan;
    *ret = (struct myr_trace){0};
    scan_init(&scan, file, text);
    int r = readers[format](&scan, ret, err);
    r = r < 0 ? r : trace_check_order(ret, &scan, err);
    if (r < 0) {
        myr_trace_done(ret);
        return r;
    }
    shift_starts(ret);
    return MYR_OK;
}

int myr_shape_read(const char *file, struct myr_str text, enum myr_shape_format format,
                   struct myr_clos_shape *ret, struct myr_err *err)
{
    struct scan scan;
    *ret = (struct myr_clos_shape){0};
    scan_init(&scan, file, text);
    int r = format == MYR_SHAPE_HTSIM ? read_htsim_topology(&scan, ret, err)
                                      : read_hpcc_topology(&scan, ret, err);
    if (r < 0) {
        myr_shape_done(ret);
    }
    return r;
}

void myr_shape_done(struct myr_clos_shape *shape)
{
    free(shape->gpu_of_node);
    *shape = (struct myr_clos_shape){0};
}
