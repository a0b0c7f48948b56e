/* What the fuzzers of the simulator's readers share: a file is refused in one line, or holds. */
#pragma once

#include "fuzz.h"
#include "myriad/sim/read.h"

static inline void fuzz_check_trace(const struct myr_trace *trace)
{
    uint32_t messages = 0;
    fuzz_note("%u ranks %u messages %u endless", trace->ranks, trace->messages,
              trace->endless_line);
    for (size_t i = 0; i < trace->ops.count; i++) {
        const struct myr_trace_op *op = &trace->ops.items[i];
        fuzz_note("%d%s %u %u %llu %lld %lld %u %u %u", (int)op->kind, op->endless ? "+" : "",
                  op->from, op->to, (unsigned long long)op->bytes, (long long)op->start,
                  (long long)op->duration, op->line, op->collective, op->hops);
        MYR_ASSERT(op->start >= 0 && op->start <= MYR_TRACE_TIME_MAX);
        MYR_ASSERT(op->duration >= 0 && op->duration <= MYR_TRACE_TIME_MAX);
        MYR_ASSERT(op->line > 0 && op->bytes <= MYR_TRACE_BYTES_MAX);
        if (op->kind == MYR_TRACE_MESSAGE) {
            messages++;
            MYR_ASSERT(op->from < trace->ranks && op->to < trace->ranks);
        } else if (op->kind == MYR_TRACE_COLLECTIVE) {
            MYR_ASSERT(op->from < trace->splits.count && trace->splits.items[op->from].size > 1);
        }
    }
    MYR_ASSERT(messages == trace->messages && trace->ranks <= MYR_TRACE_RANKS_MAX);
    for (size_t i = 0; i < trace->splits.count; i++) {
        const struct myr_trace_split *split = &trace->splits.items[i];
        fuzz_note("split %u %u %u%s", split->size, split->stride, split->first_member,
                  split->listed ? " listed" : "");
        if (split->listed) {
            MYR_ASSERT(split->first_member + split->size <= trace->members.count);
        } else {
            MYR_ASSERT(trace->ranks % ((uint64_t)split->size * split->stride) == 0);
        }
    }
    for (size_t i = 0; i < trace->members.count; i++) {
        fuzz_note("member %u", trace->members.items[i]);
        MYR_ASSERT(trace->members.items[i] < trace->ranks);
    }
    for (size_t i = 0; i < trace->edges.count; i++) {
        fuzz_note("%u %u", trace->edges.items[i].before, trace->edges.items[i].op);
        MYR_ASSERT(trace->edges.items[i].before < trace->ops.count);
        MYR_ASSERT(trace->edges.items[i].op < trace->ops.count);
    }
}

static inline void fuzz_trace(const char *file, enum myr_trace_format format, const uint8_t *data,
                              size_t size)
{
    struct myr_trace trace;
    struct myr_err err;
    struct myr_str text = {(const char *)data, size};
    int rc = myr_trace_read(file, text, format, &trace, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, file);
        return;
    }
    fuzz_check_trace(&trace);
    myr_trace_done(&trace);
}

static inline void fuzz_shape(const char *file, enum myr_shape_format format, const uint8_t *data,
                              size_t size)
{
    struct myr_clos_shape shape;
    struct myr_err err;
    struct myr_str text = {(const char *)data, size};
    int rc = myr_shape_read(file, text, format, &shape, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, file);
        return;
    }
    fuzz_note("%u tiers %u planes %u hosts %u pods %u leaves %u spines %u cores %u %u Gb/s",
              (unsigned)shape.tiers, (unsigned)shape.planes, (unsigned)shape.hosts,
              (unsigned)shape.pods, (unsigned)shape.pod_leaves, (unsigned)shape.pod_spines,
              (unsigned)shape.cores, (unsigned)shape.host_gbps, (unsigned)shape.fabric_gbps);
    fuzz_note(
        "leaf %u+%u spine %u core %u Gb/s server %u %u Gb/s%s delays %lld %lld %lld %lld %lld",
        shape.leaf_hosts, shape.leaf_up, shape.spine_up, shape.core_gbps, shape.gpus_per_node,
        shape.scale_up_gbps, shape.rails ? " rails" : "", (long long)shape.scale_up_ps,
        (long long)shape.delay_ps[0], (long long)shape.delay_ps[1], (long long)shape.delay_ps[2],
        (long long)shape.switch_ps);
    MYR_ASSERT(shape.tiers >= 1 && shape.tiers <= 3 && shape.host_gbps && shape.fabric_gbps);
    MYR_ASSERT(shape.planes >= 1 && shape.planes <= 2 && shape.gpus_per_node >= 1);
    MYR_ASSERT(shape.hosts % shape.gpus_per_node == 0);
    MYR_ASSERT((uint64_t)shape.pods * shape.pod_leaves * shape.leaf_hosts == shape.hosts);
    MYR_ASSERT((shape.pod_spines > 0) == (shape.tiers > 1));
    MYR_ASSERT((shape.cores > 0) == (shape.tiers > 2));
    uint32_t hosts = 0;
    for (uint32_t i = 0; i < shape.node_count; i++) {
        MYR_ASSERT(shape.gpu_of_node[i] == MYR_NONE || shape.gpu_of_node[i] < shape.hosts);
        hosts += shape.gpu_of_node[i] != MYR_NONE;
        fuzz_note("%d", (int)shape.gpu_of_node[i]);
    }
    MYR_ASSERT(hosts == (shape.gpu_of_node ? shape.hosts : 0));
    myr_shape_done(&shape);
}
