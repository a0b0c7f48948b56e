/* trace: what all readers fill: operations, and which of them wait for which. */
#include "read/text.h"

void myr_trace_done(struct myr_trace *trace)
{
    myr_vec_done(&trace->ops);
    myr_vec_done(&trace->edges);
    myr_vec_done(&trace->splits);
    myr_vec_done(&trace->members);
    *trace = (struct myr_trace){};
}

/* 'ret' is the operation's number, by which others wait for it. */
int trace_add(struct myr_trace *trace, const struct scan *scan, struct myr_trace_op op,
              uint32_t *ret, struct myr_err *err)
{
    if (trace->ops.count == MYR_TRACE_OPS_MAX) {
        return scan_error(err, scan, "more than %u operations", MYR_TRACE_OPS_MAX);
    }
    op.line = op.line ? op.line : scan->word_line;
    trace->messages += op.kind == MYR_TRACE_MESSAGE;
    MYR_ASSERT(trace->messages <= trace->ops.count + 1);
    /* The first of them is enough for the complaint. */
    if (op.endless && trace->endless_line == 0) {
        trace->endless_line = op.line;
    }
    *ret = (uint32_t)trace->ops.count;
    myr_vec_push(&trace->ops, op);
    return MYR_OK;
}

/* The same pair may be said twice: it is then counted twice, and taken off twice. */
void trace_after(struct myr_trace *trace, uint32_t op, uint32_t before)
{
    struct myr_trace_edge edge = {before, op};
    MYR_ASSERT(before < trace->ops.count && op < trace->ops.count);
    myr_vec_push(&trace->edges, edge);
}

/* Takes away what waits for nothing until nothing more can go: what is left waits in a circle. */
int trace_check_order(const struct myr_trace *trace, const struct scan *scan, struct myr_err *err)
{
    size_t count = trace->ops.count, done = 0, ready = 0;
    MYR_CLEANUP(myr_arena_done) struct myr_arena scratch = {};
    myr_arena_init(&scratch);
    uint32_t *start = MYR_ARENA_NEW(&scratch, uint32_t, count + 2);
    uint32_t *next = MYR_ARENA_NEW(&scratch, uint32_t, trace->edges.count);
    uint32_t *waits = MYR_ARENA_NEW(&scratch, uint32_t, count);
    uint32_t *queue = MYR_ARENA_NEW(&scratch, uint32_t, count);
    for (size_t i = 0; i < trace->edges.count; i++) {
        /* Sorted by counting: who waits for an operation lies side by side in 'next'. */
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
    /* 'queue' holds what has nothing left to wait for; each is taken once. */
    for (; done < ready; done++) {
        for (uint32_t e = start[queue[done]]; e < start[queue[done] + 1]; e++) {
            if (--waits[next[e]] == 0) {
                queue[ready++] = next[e];
            }
        }
    }
    MYR_ASSERT(ready <= count); /* each was taken once */
    /* Where all were taken there is nothing to look for. */
    for (uint32_t i = 0; i < count && ready < count; i++) {
        if (waits[i] > 0) {
            struct scan_place place = {trace->ops.items[i].line, 1};
            return scan_error_at(err, scan, place,
                                 "this can never start: it waits, over others, for "
                                 "itself or for what waits for itself");
        }
    }
    return MYR_OK;
}

/* Those without end become messages like any other. */
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
