#include "read/text.h"

/*
 * HPCC's flow list: how many, then a line for each, "source destination priority port bytes
 * start_s". What follows the last of them is commentary in the files that come with it.
 */

/* Priority and port are read and checked, and have no effect. */
enum { PRIORITY_MAX = 255, PORT_MAX = 65535 };

/* One line; nothing may follow the start. */
static int read_flow(struct scan *scan, struct myr_trace *trace, struct myr_err *err)
{
    struct myr_trace_op op = {.kind = MYR_TRACE_MESSAGE, .line = scan->line};
    uint32_t ignored, id;
    MYR_TRY(scan_u32(scan, "the source", 0, MYR_TRACE_RANKS_MAX - 1, &op.from, err));
    MYR_TRY(scan_u32(scan, "the destination", 0, MYR_TRACE_RANKS_MAX - 1, &op.to, err));
    if (op.from == op.to) {
        return scan_error(err, scan, "host %u sends to itself", op.from);
    }
    MYR_TRY(scan_u32(scan, "the priority group", 0, PRIORITY_MAX, &ignored, err));
    MYR_TRY(scan_u32(scan, "the port", 0, PORT_MAX, &ignored, err));
    MYR_TRY(scan_number(scan, "the bytes", 1, MYR_TRACE_BYTES_MAX, &op.bytes, err));
    MYR_TRY(scan_time(scan, "the start", 0, &op.start, err));
    MYR_TRY(scan_end(scan, err));
    MYR_TRY(trace_add(trace, scan, op, &id, err));
    /*
     * Nodes are numbered through hosts and switches: which of them are hosts is seen with the
     * topology.
     */
    uint32_t most = op.from > op.to ? op.from : op.to;
    trace->ranks = most >= trace->ranks ? most + 1 : trace->ranks;
    return MYR_OK;
}

int read_hpcc_flows(struct scan *scan, struct myr_trace *ret, struct myr_err *err)
{
    uint32_t count = 0;
    if (!scan_line(scan)) {
        return scan_error(err, scan, "the file is empty; the number of flows is expected");
    }
    int rc = scan_u32(scan, "the number of flows", 0, MYR_TRACE_OPS_MAX, &count, err);
    if (rc < 0) {
        return rc;
    }
    rc = scan_end(scan, err);
    for (uint32_t i = 0; rc == MYR_OK && i < count; i++) {
        if (!scan_line(scan)) {
            return scan_error(err, scan, "the file ends after %u of %u flows", i, count);
        }
        rc = read_flow(scan, ret, err);
    }
    return rc;
}
