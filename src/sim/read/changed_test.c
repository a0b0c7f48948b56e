#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kept.h"
#include "myriad/sim/read.h"

/*
 * Other simulators' files with every word in turn cut off, left out, or made another one: what is
 * said of each, or which trace or fabric it then is. A limit that moves by one, a check that goes
 * and a word that is passed over show as another line.
 */

static void put_trace(struct myr_buf *out, const struct myr_trace *trace)
{
    myr_buf_printf(out, "%u ranks %u messages, endless %u\n", trace->ranks, trace->messages,
                   trace->endless_line);
    for (size_t i = 0; i < trace->ops.count; i++) {
        const struct myr_trace_op *op = &trace->ops.items[i];
        myr_buf_printf(out,
                       "    %zu: kind %u %u, endless %d, %u to %u, line %u, %" PRIu64
                       " bytes, %u hops, %" PRId64 " ps from %" PRId64 "\n",
                       i, op->kind, op->collective, op->endless, op->from, op->to, op->line,
                       op->bytes, op->hops, op->duration, op->start);
    }
    for (size_t i = 0; i < trace->edges.count; i++) {
        myr_buf_printf(out, "%s%u>%u", i ? " " : "    ", trace->edges.items[i].before,
                       trace->edges.items[i].op);
    }
    for (size_t i = 0; i < trace->splits.count; i++) {
        myr_buf_printf(out, " split %u by %u", trace->splits.items[i].size,
                       trace->splits.items[i].stride);
    }
}

static void put_shape(struct myr_buf *out, const struct myr_clos_shape *s)
{
    myr_buf_printf(out, "%u tiers, %u hosts, %u a leaf, %u up; pods %u of %u leaves, %u spines; ",
                   s->tiers, s->hosts, s->leaf_hosts, s->leaf_up, s->pods, s->pod_leaves,
                   s->pod_spines);
    myr_buf_printf(out, "%u up to %u cores; %u %u %u Gb/s; %u planes; %u GPUs by %u Gb/s, rails %d",
                   s->spine_up, s->cores, s->host_gbps, s->fabric_gbps, s->core_gbps, s->planes,
                   s->gpus_per_node, s->scale_up_gbps, s->rails);
    myr_buf_printf(out, "; %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " ps;",
                   s->scale_up_ps, s->delay_ps[0], s->delay_ps[1], s->delay_ps[2], s->switch_ps);
    for (uint32_t i = 0; s->gpu_of_node && i < s->node_count; i++) {
        myr_buf_printf(out, " %d", (int)s->gpu_of_node[i]);
    }
}

/* 'shape' false: a trace. What it is becomes a number where only a change is to be seen. */
static void put_read(struct myr_buf *out, struct myr_str text, bool shape, uint32_t format,
                     bool whole)
{
    struct myr_buf dump = {};
    struct myr_err err = {};
    struct myr_trace trace;
    struct myr_clos_shape clos = {};
    int rc = shape ? myr_shape_read("f", text, (enum myr_shape_format)format, &clos, &err)
                   : myr_trace_read("f", text, (enum myr_trace_format)format, &trace, &err);
    if (rc < 0) {
        myr_buf_printf(out, "%s%s%s\n", err.message, *err.hint ? "; hint: " : "", err.hint);
        return;
    }
    if (shape) {
        put_shape(&dump, &clos);
        myr_shape_done(&clos);
    } else {
        put_trace(&dump, &trace);
        myr_trace_done(&trace);
    }
    if (whole) {
        myr_buf_printf(out, "%s\n", dump.data);
    } else {
        myr_buf_printf(out, "read, %08x\n", (uint32_t)myr_hash_bytes(dump.data, dump.len));
    }
    myr_buf_done(&dump);
}

static void put_changed(struct myr_buf *out, const char *text, bool shape, uint32_t format)
{
    static const char *const words[] = {"", "0", "-1", "3", "x", "18446744073709551616"};
    static const char *const between = " ,\n";
    myr_buf_printf(out, "%s\n  ", text);
    put_read(out, myr_str_from(text), shape, format, true);
    for (const char *at = text + strspn(text, between); *at; at += strspn(at, between)) {
        size_t len = strcspn(at, between), front = (size_t)(at - text);
        myr_buf_printf(out, "byte %zu '%.*s', cut: ", front, (int)len, at);
        put_read(out, (struct myr_str){text, front}, shape, format, false);
        for (size_t w = 0; w < MYR_ARRAY_COUNT(words); w++) {
            struct myr_buf changed = {};
            myr_buf_printf(&changed, "%.*s%s%s", (int)front, text, words[w], at + len);
            myr_buf_printf(out, "  '%s': ", words[w]);
            put_read(out, (struct myr_str){changed.data, changed.len}, shape, format, false);
            myr_buf_done(&changed);
        }
        at += len;
    }
}

static void traces_are_read_or_refused_word_by_word_as_they_were(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum myr_trace_format format;
    } rows[] = {
        {"num_ranks 4\nrank 0 {\nl1: calc 100 cpu 1\nl2: send 10b to 1 tag 3 nic 1\n"
         "l2 irequires l1\n}\nrank 1 { /* a */ a: recv 10b from 0 tag 3\nb: send 5b to 3\n"
         "b requires a }\nrank 3 { recv 5b from 1 }\n",
         MYR_TRACE_GOAL},
        {"3\n0 1 3 100 5000 2\n1 0 4 200 6000 2.000001\n2 0 3 100 1 3\nbehind\n", MYR_TRACE_HPCC},
        {"Nodes 6\nConnections 5\nTriggers 3\n\n"
         "0->1 id 1 start 100 size 1000 send_done_trigger 1 prio 2\n"
         "1->2 id 2 trigger 1 size 2000 recv_done_trigger 2\n"
         "2->3 id 3 trigger 1 size 3000 recv_done_trigger 2\n"
         "4->5 id 5 start 50 size 0\n3->4 id 4 trigger 2 size 600 send_done_trigger 3\n"
         "trigger id 1 oneshot\ntrigger id 2 barrier count 2\ntrigger id 3 oneshot\n",
         MYR_TRACE_HTSIM},
        {"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 2 vpp: 1 ga: 3 "
         "all_gpus: 16 checkpoints: 0 checkpoint_initiates: 0 pp_comm: 64\n3\n"
         "grad_gather -1 1 NONE 0 2 NONE 0 3 ALLGATHER 629 100\n"
         "moe -1 17 ALLTOALL_EP 25 18 ALLTOALL_EP 26 19 REDUCESCATTER_DP_EP 27 103\n"
         "last -1 20 ALLTOALL 28 0 NONE 0 0 ALLREDUCE 29 0\n",
         MYR_TRACE_SIMAI},
        {"id,after,from,to,bytes,compute_us,hops\n10,,0,5,1000000,,1\n10,,1,4,2000000,,3\n"
         "11,10,,,,12.5,\n12,10 11,5,0,500,,2\n13,14,2,3,1,,1\n14,12 10,3,2,7,,1\n",
         MYR_TRACE_FLOWS},
    };
    struct myr_buf out = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        put_changed(&out, rows[i].text, false, rows[i].format);
    }
    assert_kept("sim-changed-traces.txt", &out);
    myr_buf_done(&out);
}

static void fabrics_are_read_or_refused_word_by_word_as_they_were(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum myr_shape_format format;
    } rows[] = {
        {"Nodes 64\nTiers 3\nPodsize 16\nTier 0\nDownlink_speed_Gbps 200\nRadix_Down 4\n"
         "Radix_Up 2\nDownlink_Latency_ns 500\nSwitch_Latency_ns 300\nOversubscribed 2\nTier 1\n"
         "Downlink_speed_Gbps 400\nRadix_Down 4\nRadix_Up 2\nDownlink_Latency_ns 700\n"
         "Switch_Latency_ns 300\nBundle 1\nTier 2\nDownlink_speed_Gbps 400\nRadix_Down 4\n"
         "Downlink_Latency_ns 900\nSwitch_Latency_ns 300\nBundle 1\n",
         MYR_SHAPE_HTSIM},
        {"3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n", MYR_SHAPE_HPCC},
        {"8 4 8\n4 5 6 7\n0 4 100Gbps 1us 0\n1 4 100Gbps 1us 0\n2 5 100Gbps 1us 0\n"
         "3 5 100Gbps 1us 0\n4 6 200Gbps 2us 0\n4 7 200Gbps 2us 0\n5 6 200Gbps 2us 0\n"
         "5 7 200Gbps 2us 0\n",
         MYR_SHAPE_HPCC},
        {"9 2 2 3 10 H100\n4 5 6 7 8\n0 4 900Gbps 25ns 0\n1 4 900Gbps 25ns 0\n"
         "2 5 900Gbps 25ns 0\n3 5 900Gbps 25ns 0\n0 6 200Gbps 500ns 0\n2 6 200Gbps 500ns 0\n"
         "1 7 200Gbps 500ns 0\n3 7 200Gbps 500ns 0\n6 8 400Gbps 600ns 0\n7 8 400Gbps 600ns 0\n",
         MYR_SHAPE_SIMAI},
    };
    struct myr_buf out = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        put_changed(&out, rows[i].text, true, rows[i].format);
    }
    assert_kept("sim-changed-fabrics.txt", &out);
    myr_buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traces_are_read_or_refused_word_by_word_as_they_were),
        cmocka_unit_test(fabrics_are_read_or_refused_word_by_word_as_they_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
