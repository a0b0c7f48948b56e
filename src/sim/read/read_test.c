#include "myriad/sim/read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "read/text.h"

static void read_ok(const char *text, enum myr_trace_format format, struct myr_trace *ret)
{
    struct myr_err err = {};
    if (myr_trace_read("file", myr_str_from(text), format, ret, &err) < 0) {
        fail_msg("%s", err.message);
    }
}

static void refused(const char *text, enum myr_trace_format format, const char *message)
{
    struct myr_trace trace;
    struct myr_err err = {};
    assert_int_equal(myr_trace_read("file", myr_str_from(text), format, &trace, &err), MYR_EINVAL);
    assert_string_equal(err.message, message);
    assert_null(trace.ops.items);
}

static bool has_edge(const struct myr_trace *trace, uint32_t before, uint32_t op)
{
    for (size_t i = 0; i < trace->edges.count; i++) {
        if (trace->edges.items[i].before == before && trace->edges.items[i].op == op) {
            return true;
        }
    }
    return false;
}

static void decimals_are_cut_to_whole_units(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
        int32_t digits;
        bool ok;
    } rows[] = {
        {"2", 2000000000000, 12, true},
        {"2.000001", 2000001000000, 12, true},
        {"1e-5", 10000000, 12, true},
        {"1.5E+2", 150, 0, true},
        {".5", 5, 1, true},
        {"0.0000000000009", 0, 12, true},
        {"123456789012345678901234567890e-20", 1234567890, 0, true},
        {"0.00000000000000000000000000001", 0, 12, true},
        {"0e99", 0, 12, true},
        {"1e99", 0, 0, false},
        {"", 0, 0, false},
        {".", 0, 0, false},
        {"1.2.3", 0, 0, false},
        {"-1", 0, 0, false},
        {"1e", 0, 0, false},
        {"0x10", 0, 0, false},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        uint64_t value = 0;
        bool ok = scan_decimal(myr_str_from(rows[i].text), rows[i].digits, UINT64_MAX / 2, &value);
        if (ok != rows[i].ok || (ok && value != rows[i].value)) {
            fail_msg("'%s': %d, %llu", rows[i].text, ok, (unsigned long long)value);
        }
    }
}

static void goal_operations_keep_their_order(void **state)
{
    (void)state;
    struct myr_trace trace;
    read_ok("num_ranks 2\n"
            "rank 0 {\n"
            "a: calc 100 cpu 1\n"
            "b: send 10b to 1 tag 3 cpu 0 nic 0\n"
            "b requires a\n"
            "}\n"
            "rank 1 { a: recv 10b from 0 tag 3; b: calc 7; b requires a }\n",
            MYR_TRACE_GOAL, &trace);
    assert_int_equal(trace.ranks, 2);
    assert_int_equal(trace.ops.count, 4);
    assert_int_equal(trace.messages, 1);
    assert_int_equal(trace.ops.items[0].duration, 100 * MYR_PS_PER_NS);
    assert_int_equal(trace.ops.items[1].bytes, 10);
    assert_int_equal(trace.ops.items[1].line, 4);
    assert_int_equal(trace.edges.count, 3);
    assert_true(has_edge(&trace, 0, 1));
    assert_true(has_edge(&trace, 1, 2)); /* the send and its receive */
    assert_true(has_edge(&trace, 2, 3));
    myr_trace_done(&trace);
}

static void goal_messages_of_one_tag_meet_in_order(void **state)
{
    (void)state;
    struct myr_trace trace;
    read_ok("num_ranks 2 rank 1 { recv 5b from 0 recv 9b from 0 tag 1 recv 7b from 0 }"
            "rank 0 { send 5b to 1 send 7b to 1 send 9b to 1 tag 1 }",
            MYR_TRACE_GOAL, &trace);
    assert_true(has_edge(&trace, 3, 0));
    assert_true(has_edge(&trace, 4, 2));
    assert_true(has_edge(&trace, 5, 1));
    myr_trace_done(&trace);
}

static void goal_start_dependency_waits_for_what_the_other_waits_for(void **state)
{
    (void)state;
    struct myr_trace trace;
    read_ok("num_ranks 1 rank 0 { a: calc 1 b: calc 2 c: calc 3 c irequires b b requires a }",
            MYR_TRACE_GOAL, &trace);
    /* Operation 3 stands for the start of b. */
    assert_int_equal(trace.ops.count, 4);
    assert_int_equal(trace.ops.items[3].duration, 0);
    assert_true(has_edge(&trace, 0, 3));
    assert_true(has_edge(&trace, 3, 1));
    assert_true(has_edge(&trace, 3, 2));
    assert_false(has_edge(&trace, 1, 2));
    myr_trace_done(&trace);
}

static void goal_circles_are_refused(void **state)
{
    (void)state;
    /* Somewhere behind what can run; the complaint is about the first that cannot. */
    refused("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\nc: calc 1\nb requires c\nc requires b\n}",
            MYR_TRACE_GOAL,
            "file:4:1: this can never start: it waits, over others, for itself or for what waits "
            "for itself");
    refused("num_ranks 2\nrank 0 {\na: recv 1b from 1\nb: send 1b to 1\nb requires a\n}\n"
            "rank 1 {\na: recv 1b from 0\nb: send 1b to 0\nb requires a\n}\n",
            MYR_TRACE_GOAL,
            "file:3:1: this can never start: it waits, over others, for itself or for what waits "
            "for itself");
}

static void first_start_of_a_flow_file_is_time_zero(void **state)
{
    (void)state;
    struct myr_trace trace;
    read_ok("2\n0 1 3 100 5000 2.0000001\n1 0 3 100 6000 2\nnot read\n", MYR_TRACE_HPCC, &trace);
    assert_int_equal(trace.ranks, 2);
    assert_int_equal(trace.ops.items[0].start, 100000);
    assert_int_equal(trace.ops.items[1].start, 0);
    assert_int_equal(trace.ops.items[1].bytes, 6000);
    myr_trace_done(&trace);
}

static void triggers_join_what_fires_and_what_starts(void **state)
{
    (void)state;
    struct myr_trace trace;
    read_ok("Nodes 4\nConnections 3\nTriggers 1\n"
            "0->1 id 1 start 5 size 10 send_done_trigger 9\n"
            "1->2 id 2 start 5 size 10 recv_done_trigger 9\n"
            "2->3 id 3 trigger 9 size 10 prio 4\n"
            "trigger id 9 barrier count 2\n",
            MYR_TRACE_HTSIM, &trace);
    assert_int_equal(trace.ranks, 4);
    assert_int_equal(trace.ops.count, 4);
    assert_int_equal(trace.edges.count, 3);
    assert_true(has_edge(&trace, 0, 3));
    assert_true(has_edge(&trace, 1, 3));
    assert_true(has_edge(&trace, 3, 2));
    myr_trace_done(&trace);
}

static void a_size_of_zero_has_no_end_until_it_is_given_one(void **state)
{
    (void)state;
    struct myr_trace trace;
    read_ok("Nodes 4\nConnections 2\n0->1 start 0 size 8\n2->1 start 0 size 0\n", MYR_TRACE_HTSIM,
            &trace);
    assert_int_equal(trace.endless_line, 4);
    myr_trace_limit(&trace, 100);
    assert_int_equal(trace.endless_line, 0);
    assert_int_equal(trace.ops.items[0].bytes, 8);
    assert_int_equal(trace.ops.items[1].bytes, 100);
    myr_trace_done(&trace);
    refused("Nodes 4\nConnections 1\nTriggers 1\n0->1 start 0 size 0 send_done_trigger 1\n"
            "trigger id 1 oneshot\n",
            MYR_TRACE_HTSIM,
            "file:4:1: the connection has no end (size 0), so its trigger never fires");
    /* A message without bytes is one: it has an end. */
    read_ok(
        "num_ranks 2\nrank 0 {\na: send 0b to 1 tag 1\n}\nrank 1 {\na: recv 0b from 0 tag 1\n}\n",
        MYR_TRACE_GOAL, &trace);
    assert_int_equal(trace.endless_line, 0);
    myr_trace_done(&trace);
}

static void layers_go_forward_and_back(void **state)
{
    (void)state;
    struct myr_trace trace;
    read_ok("HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 2 pp: 2 all_gpus: 16\n2\n"
            "a -1 10 ALLREDUCE 100 20 NONE 0 30 ALLGATHER_DP_EP 300 40\n"
            "b -1 11 ALLTOALL_EP 200 0 NONE 0 0 NONE 0 0\n",
            MYR_TRACE_SIMAI, &trace);
    assert_int_equal(trace.ranks, 16);
    static const struct {
        uint8_t kind;
        uint32_t split;
        uint64_t amount; /* bytes or ns */
    } wanted[] = {
        {MYR_TRACE_COMPUTE, 0, 10},     {MYR_TRACE_COLLECTIVE, 0, 100}, {MYR_TRACE_COMPUTE, 0, 11},
        {MYR_TRACE_COLLECTIVE, 2, 200}, {MYR_TRACE_COMPUTE, 0, 20},     {MYR_TRACE_COMPUTE, 0, 30},
        {MYR_TRACE_COLLECTIVE, 3, 300}, {MYR_TRACE_COMPUTE, 0, 40},
    };
    assert_int_equal(trace.ops.count, MYR_ARRAY_COUNT(wanted));
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(wanted); i++) {
        const struct myr_trace_op *op = &trace.ops.items[i];
        assert_int_equal(op->kind, wanted[i].kind);
        assert_int_equal(op->from, wanted[i].split);
        assert_int_equal(op->kind == MYR_TRACE_COMPUTE ? (uint64_t)(op->duration / MYR_PS_PER_NS)
                                                       : op->bytes,
                         wanted[i].amount);
        assert_true(i == 0 || has_edge(&trace, i - 1, i));
    }
    /* Two pipeline stages of 8 GPUs: tensor 2, data 4 of which expert 2. */
    assert_int_equal(trace.splits.items[1].size, 4);
    assert_int_equal(trace.splits.items[1].stride, 2);
    assert_int_equal(trace.splits.items[3].size, 2);
    assert_int_equal(trace.splits.items[3].stride, 4);
    myr_trace_done(&trace);
}

static void numbers_are_held_against_their_limits(void **state)
{
    (void)state;
    static const char head[] = "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 all_gpus: 8\n";
    static const struct {
        enum myr_trace_format format;
        const char *text, *limit; /* "from LEAST to MOST" */
    } rows[] = {
        {MYR_TRACE_HPCC, "20000001\n", "from 0 to 20000000,"},
        {MYR_TRACE_HPCC, "1\n1000000 1 3 100 5 2\n", "from 0 to 999999,"},
        {MYR_TRACE_HPCC, "1\n0 1000000 3 100 5 2\n", "from 0 to 999999,"},
        {MYR_TRACE_HPCC, "1\n0 1 256 100 5 2\n", "from 0 to 255,"},
        {MYR_TRACE_HPCC, "1\n0 1 3 65536 5 2\n", "from 0 to 65535,"},
        {MYR_TRACE_HPCC, "1\n0 1 3 100 0 2\n", "from 1 to 1125899906842624,"},
        {MYR_TRACE_HTSIM, "Nodes 1\n", "from 2 to 1000000,"},
        {MYR_TRACE_HTSIM, "Nodes 2\nConnections 20000001\n", "from 0 to 20000000,"},
        {MYR_TRACE_HTSIM, "Nodes 2\nTriggers 20000001\n", "from 0 to 20000000,"},
        {MYR_TRACE_HTSIM, "Nodes 2\nConnections 1\n0->1 id 0\n", "from 1 to 2147483647,"},
        {MYR_TRACE_HTSIM, "Nodes 2\nConnections 1\n0->1 id 1 trigger 0\n", "from 1 to 2147483647,"},
        {MYR_TRACE_HTSIM, "Nodes 2\nConnections 1\n0->1 id 1 prio 2147483648\n",
         "from 0 to 2147483647,"},
        {MYR_TRACE_HTSIM, "Nodes 2\nConnections 1\n0->1 id 1 size 1125899906842625\n",
         "from 0 to 1125899906842624,"},
        {MYR_TRACE_SIMAI, "HYBRID_TRANSFORMER all_gpus: 1\n", "from 2 to 1000000,"},
        {MYR_TRACE_SIMAI, "HYBRID_TRANSFORMER ep: 0\n", "from 1 to 1000000,"},
        {MYR_TRACE_SIMAI, "HYBRID_TRANSFORMER checkpoints: 1\n", "from 0 to 0,"},
    };
    struct myr_trace trace;
    struct myr_err err = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        assert_int_equal(
            myr_trace_read("file", myr_str_from(rows[i].text), rows[i].format, &trace, &err),
            MYR_EINVAL);
        if (!strstr(err.message, rows[i].limit)) {
            fail_msg("case %zu: %s", i, err.message);
        }
    }
    char text[128];
    snprintf(text, sizeof(text), "%s1 2\n", head);
    assert_int_equal(myr_trace_read("file", myr_str_from(text), MYR_TRACE_SIMAI, &trace, &err),
                     MYR_EINVAL);
    assert_non_null(strstr(err.message, "file:2:3: "));
    snprintf(text, sizeof(text), "%s1000001\n", head);
    assert_int_equal(myr_trace_read("file", myr_str_from(text), MYR_TRACE_SIMAI, &trace, &err),
                     MYR_EINVAL);
    assert_non_null(strstr(err.message, "from 1 to 1000000,"));
}

static void shapes_are_held_against_their_limits(void **state)
{
    (void)state;
    static const char top[] = "Nodes 8\nTiers 2\nPodsize 8\nTier 0\n";
    static const struct {
        enum myr_shape_format format;
        const char *text, *limit;
    } rows[] = {
        {MYR_SHAPE_HPCC, "250001 1 1\n", "from 2 to 250000,"},
        {MYR_SHAPE_HPCC, "1 1 1\n", "from 2 to 250000,"},
        {MYR_SHAPE_HPCC, "9 50001 1\n", "from 1 to 50000,"},
        {MYR_SHAPE_HPCC, "9 1 2000001\n", "from 1 to 2000000,"},
        {MYR_SHAPE_HTSIM, "Nodes 200001\n", "from 2 to 200000,"},
        {MYR_SHAPE_HTSIM, "Tiers 4\n", "from 2 to 3,"},
        {MYR_SHAPE_HTSIM, "Podsize 200001\n", "from 1 to 200000,"},
        {MYR_SHAPE_HTSIM, "Radix_Up 4097\n", "from 1 to 4096,"},
        {MYR_SHAPE_HTSIM, "Radix_Down 4097\n", "from 1 to 4096,"},
        {MYR_SHAPE_HTSIM, "Bundle 1025\n", "from 1 to 1024,"},
        {MYR_SHAPE_HTSIM, "Oversubscribed 4097\n", "from 1 to 4096,"},
        {MYR_SHAPE_HTSIM, "Downlink_Latency_ns 1000000001\n", "from 0 to 1000000000,"},
        {MYR_SHAPE_HTSIM, "Switch_Latency_ns 1000000001\n", "from 0 to 1000000000,"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct myr_clos_shape shape;
        struct myr_err err = {};
        char text[128];
        bool inside = rows[i].format == MYR_SHAPE_HTSIM && strncmp(rows[i].text, "Nodes", 5) != 0 &&
                      strncmp(rows[i].text, "Tiers", 5) != 0 &&
                      strncmp(rows[i].text, "Podsize", 7) != 0;
        snprintf(text, sizeof(text), "%s%s", inside ? top : "", rows[i].text);
        assert_int_equal(myr_shape_read("file", myr_str_from(text), rows[i].format, &shape, &err),
                         MYR_EINVAL);
        if (!strstr(err.message, rows[i].limit)) {
            fail_msg("case %zu: %s", i, err.message);
        }
    }
}

static void comments_of_a_schedule_are_skipped_whole(void **state)
{
    (void)state;
    struct myr_trace trace;
    read_ok("num_ranks 1 /*/ not yet over */ rank 0 { # to the end\ncalc 5; // and here\n"
            "/**/ calc 6 /* two\nlines **/ }",
            MYR_TRACE_GOAL, &trace);
    assert_int_equal(trace.ops.count, 2);
    assert_int_equal(trace.ops.items[0].duration, 5000);
    assert_int_equal(trace.ops.items[1].duration, 6000);
    assert_int_equal(trace.ops.items[1].line, 3);
    myr_trace_done(&trace);
    assert_true(trace.ranks == 0 && trace.ops.count == 0 && !trace.ops.items); /* ready again */
    refused("num_ranks 1\nrank 0 {\ncalc 5 cpu 256\n}\n", MYR_TRACE_GOAL,
            "file:3:12: a number of a cpu or NIC is larger than 255");
    refused("num_ranks 1\nrank 0 {\ncalc 1000000000000001\n}\n", MYR_TRACE_GOAL,
            "file:3:6: a number of nanoseconds is larger than 1000000000000000");
}

static void formats_are_guessed_by_name_then_by_first_word(void **state)
{
    (void)state;
    assert_int_equal(myr_trace_guess("a.goal", MYR_STR("")), MYR_TRACE_GOAL);
    assert_int_equal(myr_trace_guess("a.cm", MYR_STR("")), MYR_TRACE_HTSIM);
    assert_int_equal(myr_trace_guess("a.txt", MYR_STR("12\n")), MYR_TRACE_HPCC);
    assert_int_equal(myr_trace_guess("a.txt", MYR_STR("# x\nNodes 4\n")), MYR_TRACE_HTSIM);
    assert_int_equal(myr_trace_guess("a", MYR_STR("num_ranks 4\n")), MYR_TRACE_GOAL);
    assert_int_equal(myr_trace_guess("a.txt", MYR_STR("HYBRID_TRANSFORMER x\n")), MYR_TRACE_SIMAI);
    assert_int_equal(myr_trace_guess("a.0.et", MYR_STR("")), MYR_TRACE_CHAKRA);
    assert_int_equal(myr_shape_guess("a.topo", MYR_STR("")), MYR_SHAPE_HTSIM);
    assert_int_equal(myr_shape_guess("topology.txt", MYR_STR("3 1 2\n2\n")), MYR_SHAPE_HPCC);
    assert_int_equal(myr_shape_guess("HPN", MYR_STR("3 1 1 1 2 H100\n2\n")), MYR_SHAPE_SIMAI);
}

/*
 * A Clos as an HPCC topology file, with hosts and switches numbered by the seed. Where the fabric
 * has host i, the file says number ids[i].
 */
static void write_clos(struct myr_buf *buf, const struct myr_clos_shape *shape, uint64_t seed,
                       uint32_t *host_ids)
{
    uint32_t leaves = shape->pods * shape->pod_leaves, spines = shape->pods * shape->pod_spines;
    uint32_t switches = leaves + spines + shape->cores;
    uint32_t wide = shape->leaf_up / shape->pod_spines;
    uint32_t group = shape->cores ? shape->cores / shape->pod_spines : 0;
    uint32_t core_wide = group ? shape->spine_up / group : 0;
    MYR_ASSERT(wide > 0 && (core_wide > 0) == (shape->cores > 0));
    uint32_t *all = myr_xcalloc(shape->hosts + switches, sizeof(*all));
    const uint32_t *ids = all + shape->hosts; /* of the switches */
    struct myr_rng rng;
    for (uint32_t i = 0; i < shape->hosts + switches; i++) {
        all[i] = i;
    }
    myr_rng_init(&rng, seed, 1);
    myr_rng_shuffle(&rng, all, shape->hosts + switches);
    memcpy(host_ids, all, shape->hosts * sizeof(*all));
    myr_buf_printf(buf, "%u %u %u\n", shape->hosts + switches, switches,
                   shape->hosts + leaves * shape->leaf_up + spines * shape->spine_up);
    for (uint32_t i = 0; i < switches; i++) {
        myr_buf_printf(buf, "%u ", ids[i]);
    }
    myr_buf_putc(buf, '\n');
    for (uint32_t i = 0; i < shape->hosts; i++) {
        myr_buf_printf(buf, "%u %u 100Gbps 1us 0\n", ids[i / shape->leaf_hosts], all[i]);
    }
    for (uint32_t i = 0; i < leaves * shape->leaf_up; i++) {
        uint32_t leaf = i / shape->leaf_up, spine = i % shape->leaf_up / wide;
        spine += leaf / shape->pod_leaves * shape->pod_spines;
        myr_buf_printf(buf, "%u %u 400Gbps 2us 0\n", ids[leaf], ids[leaves + spine]);
    }
    for (uint32_t i = 0; core_wide > 0 && i < spines * shape->spine_up; i++) {
        uint32_t spine = i / shape->spine_up;
        uint32_t core = spine % shape->pod_spines * group + i % shape->spine_up / core_wide;
        myr_buf_printf(buf, "%u %u 400Gbps 3us 0\n", ids[leaves + spines + core],
                       ids[leaves + spine]);
    }
    free(all);
}

/* Whether hosts that share a leaf in the file share one in the fabric, and the same for pods. */
static bool same_places(const struct myr_clos_shape *found, const uint32_t *host_ids)
{
    uint32_t leaf = found->leaf_hosts, pod = leaf * found->pod_leaves;
    for (uint32_t i = 1; i < found->hosts; i++) {
        uint32_t here = found->gpu_of_node[host_ids[i]];
        uint32_t before = found->gpu_of_node[host_ids[i - 1]];
        if (here >= found->hosts || (here / leaf == before / leaf) != (i % leaf != 0) ||
            (here / pod == before / pod) != (i % pod != 0)) {
            return false;
        }
    }
    return true;
}

static struct myr_clos_shape random_shape(struct myr_rng *rng)
{
    uint32_t tiers = 2 + myr_rng_below(rng, 2);
    struct myr_clos_shape shape = {.tiers = tiers,
                                   .leaf_hosts = 1 + myr_rng_below(rng, 4),
                                   .pods = 1,
                                   .pod_leaves = 2 + myr_rng_below(rng, 3),
                                   .pod_spines = 1 + myr_rng_below(rng, 3),
                                   .host_gbps = 100,
                                   .fabric_gbps = 400,
                                   .delay_ps = {1000000, 2000000, tiers == 3 ? 3000000 : 0}};
    shape.leaf_up = shape.pod_spines * (1 + myr_rng_below(rng, 2));
    if (tiers == 3) {
        uint32_t group = 1 + myr_rng_below(rng, 3);
        shape.pods = 2 + myr_rng_below(rng, 3);
        shape.cores = shape.pod_spines * group;
        shape.spine_up = group * (1 + myr_rng_below(rng, 2));
    }
    shape.hosts = shape.pods * shape.pod_leaves * shape.leaf_hosts;
    return shape;
}

static bool same_shape(const struct myr_clos_shape *a, const struct myr_clos_shape *b)
{
    return a->tiers == b->tiers && a->hosts == b->hosts && a->leaf_hosts == b->leaf_hosts &&
           a->leaf_up == b->leaf_up && a->pods == b->pods && a->pod_leaves == b->pod_leaves &&
           a->pod_spines == b->pod_spines && a->spine_up == b->spine_up && a->cores == b->cores &&
           a->host_gbps == b->host_gbps && a->fabric_gbps == b->fabric_gbps &&
           a->delay_ps[0] == b->delay_ps[0] && a->delay_ps[1] == b->delay_ps[1] &&
           a->delay_ps[2] == b->delay_ps[2] && a->switch_ps == b->switch_ps;
}

static void any_clos_is_found_whatever_its_nodes_are_called(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct myr_rng rng;
        struct myr_buf buf = {};
        struct myr_clos_shape found;
        struct myr_err err = {};
        myr_rng_init(&rng, seed, 2);
        struct myr_clos_shape shape = random_shape(&rng);
        uint32_t *host_ids = myr_xcalloc(shape.hosts, sizeof(*host_ids));
        write_clos(&buf, &shape, seed, host_ids);
        struct myr_str text = {buf.data, buf.len};
        if (myr_shape_read("file", text, MYR_SHAPE_HPCC, &found, &err) < 0 ||
            !same_shape(&found, &shape) || !same_places(&found, host_ids)) {
            fail_msg("seed %llu: %s\n%s", (unsigned long long)seed, err.message, buf.data);
        }
        myr_shape_done(&found);
        free(host_ids);
        myr_buf_done(&buf);
    }
}

static void htsim_radixes_give_the_numbers_of_switches(void **state)
{
    (void)state;
    struct myr_clos_shape shape;
    struct myr_err err = {};
    static const char text[] =
        "Nodes 1024\nTiers 3\nPodsize 64\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 8\n"
        "Radix_Up 8\nDownlink_Latency_ns 1000\nTier 1\nDownlink_speed_Gbps 100\nRadix_Down 8\n"
        "Radix_Up 8\nDownlink_Latency_ns 1000\nTier 2\nDownlink_speed_Gbps 100\nRadix_Down 32\n"
        "Downlink_Latency_ns 2000\nBundle 2\n";
    assert_int_equal(myr_shape_read("file", MYR_STR(text), MYR_SHAPE_HTSIM, &shape, &err), MYR_OK);
    assert_int_equal(shape.pods, 16);
    assert_int_equal(shape.pod_leaves, 8);
    assert_int_equal(shape.pod_spines, 8);
    assert_int_equal(shape.cores, 32);
    assert_int_equal(shape.delay_ps[2], 2 * MYR_PS_PER_US);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decimals_are_cut_to_whole_units),
        cmocka_unit_test(goal_operations_keep_their_order),
        cmocka_unit_test(goal_messages_of_one_tag_meet_in_order),
        cmocka_unit_test(goal_start_dependency_waits_for_what_the_other_waits_for),
        cmocka_unit_test(goal_circles_are_refused),
        cmocka_unit_test(first_start_of_a_flow_file_is_time_zero),
        cmocka_unit_test(triggers_join_what_fires_and_what_starts),
        cmocka_unit_test(a_size_of_zero_has_no_end_until_it_is_given_one),
        cmocka_unit_test(layers_go_forward_and_back),
        cmocka_unit_test(numbers_are_held_against_their_limits),
        cmocka_unit_test(shapes_are_held_against_their_limits),
        cmocka_unit_test(comments_of_a_schedule_are_skipped_whole),
        cmocka_unit_test(formats_are_guessed_by_name_then_by_first_word),
        cmocka_unit_test(any_clos_is_found_whatever_its_nodes_are_called),
        cmocka_unit_test(htsim_radixes_give_the_numbers_of_switches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
