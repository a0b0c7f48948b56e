#include <stdlib.h>

#include "read/text.h"

/* The one place that knows every format: guesses which one a file is in, and reads it. */

const char *const myr_trace_format_names[MYR_TRACE_FORMAT_COUNT] = {
    [MYR_TRACE_GOAL] = "goal",   [MYR_TRACE_HPCC] = "hpcc",   [MYR_TRACE_HTSIM] = "htsim",
    [MYR_TRACE_SIMAI] = "simai", [MYR_TRACE_FLOWS] = "flows", [MYR_TRACE_CHAKRA] = "chakra",
};

const char *const myr_shape_format_names[MYR_SHAPE_FORMAT_COUNT] = {
    [MYR_SHAPE_HTSIM] = "htsim",
    [MYR_SHAPE_HPCC] = "hpcc",
    [MYR_SHAPE_SIMAI] = "simai",
};

/* By the end of the name, in this spelling only. */
static bool ends_in(const char *path, const char *ending)
{
    size_t length = strlen(path), tail = strlen(ending);
    return length >= tail && strcmp(path + length - tail, ending) == 0;
}

/*
 * By the name first, then by the first word; a number is HPCC's count of flows. A wrong guess ends
 * in a complaint of that reader: format= says otherwise.
 */
enum myr_trace_format myr_trace_guess(const char *path, struct myr_str text)
{
    if (ends_in(path, ".goal")) {
        return MYR_TRACE_GOAL;
    }
    if (ends_in(path, ".cm") || ends_in(path, ".tm")) {
        return MYR_TRACE_HTSIM;
    }
    if (ends_in(path, ".et")) {
        return MYR_TRACE_CHAKRA;
    }
    struct scan scan;
    scan_init(&scan, path, text);
    if (!scan_line(&scan) || !scan_word(&scan)) {
        return MYR_TRACE_HPCC;
    }
    if (scan.word.len > 9 && memcmp(scan.word.data, "id,after,", 9) == 0) {
        return MYR_TRACE_FLOWS;
    }
    if (scan_is(&scan, "num_ranks")) {
        return MYR_TRACE_GOAL;
    }
    if (scan_is(&scan, "Nodes") || scan_is(&scan, "Connections")) {
        return MYR_TRACE_HTSIM;
    }
    return scan.word.data[0] >= '0' && scan.word.data[0] <= '9' ? MYR_TRACE_HPCC : MYR_TRACE_SIMAI;
}

/* HPCC's first line has three numbers, SimAI's five and the name of a GPU. */
enum myr_shape_format myr_shape_guess(const char *path, struct myr_str text)
{
    struct scan scan;
    uint32_t words = 0;
    if (ends_in(path, ".topo")) {
        return MYR_SHAPE_HTSIM;
    }
    scan_init(&scan, path, text);
    /* Six words are enough to tell; the rest of the file is not looked at. */
    while (words < 6 && (words || scan_line(&scan)) && scan_word(&scan)) {
        words++;
    }
    return words >= 5 ? MYR_SHAPE_SIMAI : MYR_SHAPE_HPCC;
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

/* On failure the trace is empty again: the caller has nothing to free. */
int myr_trace_read(const char *file, struct myr_str text, enum myr_trace_format format,
                   struct myr_trace *ret, struct myr_err *err)
{
    static const char *const expected[] = {
        [MYR_TRACE_GOAL] = "a GOAL schedule",
        [MYR_TRACE_HPCC] = "an HPCC flow list",
        [MYR_TRACE_HTSIM] = "an htsim connection matrix",
        [MYR_TRACE_SIMAI] = "a SimAI workload",
        [MYR_TRACE_FLOWS] = "a list of flows",
    };
    /* Chakra is not among them: it has a file for each rank. */
    static int (*const readers[])(struct scan *, struct myr_trace *, struct myr_err *) = {
        [MYR_TRACE_GOAL] = read_goal,          [MYR_TRACE_HPCC] = read_hpcc_flows,
        [MYR_TRACE_HTSIM] = read_htsim_matrix, [MYR_TRACE_SIMAI] = read_simai,
        [MYR_TRACE_FLOWS] = read_flows,
    };
    struct scan scan;
    *ret = (struct myr_trace){};
    if (format == MYR_TRACE_CHAKRA) {
        struct myr_trace_file one = {file, text};
        return myr_trace_read_chakra(&one, 1, &(struct myr_chakra_options){}, ret, err);
    }
    MYR_TRY(myr_kind_check(file, text, format == MYR_TRACE_FLOWS ? FLOW_KINDS : TRACE_KINDS,
                           expected[format], err));
    scan_init(&scan, file, text);
    int rc = readers[format](&scan, ret, err);
    /*
     * Whoever waits for itself, over whatever detour, would never start: no reader checks that
     * itself.
     */
    if (rc == MYR_OK) {
        rc = trace_check_order(ret, &scan, err);
    }
    if (rc < 0) {
        myr_trace_done(ret);
        return rc;
    }
    shift_starts(ret);
    return MYR_OK;
}

/* As myr_trace_read(): a shape that failed holds nothing. */
int myr_shape_read(const char *file, struct myr_str text, enum myr_shape_format format,
                   struct myr_clos_shape *ret, struct myr_err *err)
{
    struct scan scan;
    *ret = (struct myr_clos_shape){};
    static const struct {
        const char *expected;
        int (*read)(struct scan *, struct myr_clos_shape *, struct myr_err *);
    } formats[MYR_SHAPE_FORMAT_COUNT] = {
        [MYR_SHAPE_HTSIM] = {"an htsim topology", read_htsim_topology},
        [MYR_SHAPE_HPCC] = {"an HPCC topology", read_hpcc_topology},
        [MYR_SHAPE_SIMAI] = {"a SimAI topology", read_simai_topology},
    };
    MYR_TRY(myr_kind_check(file, text, TRACE_KINDS, formats[format].expected, err));
    scan_init(&scan, file, text);
    int rc = formats[format].read(&scan, ret, err);
    if (rc < 0) {
        myr_shape_done(ret);
    }
    return rc;
}

void myr_shape_done(struct myr_clos_shape *shape)
{
    free(shape->gpu_of_node);
    *shape = (struct myr_clos_shape){};
}
