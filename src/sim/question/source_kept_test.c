#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "kept.h"
#include "myriad/sim.h"
#include "myriad/sim/question.h"

/*
 * Workloads and topologies that are files of other simulators, from the words that name them to the
 * last flow's end. The files are the fuzzers' seeds, in a folder of the test's own, so that what is
 * said names no folder.
 */

/* Name in the folder, seed, and whether the seed begins with a byte for its fuzzer. */
static const struct {
    const char *name, *seed;
    uint32_t skip;
} files[] = {
    {"all.goal", "goal/all", 0},
    {"flows.txt", "hpcc/flows_many", 1},
    {"few.txt", "hpcc/flows", 1},
    {"all.cm", "htsim/matrix_all", 1},
    {"barrier.cm", "htsim/barrier", 1},
    {"layers.txt", "simai/all", 0},
    {"plain.txt", "simai/plain", 0},
    {"many.csv", "sim_flows/many.csv", 0},
    {"every.0.et", "chakra/every", 2},
    {"ops.et", "chakra/ops", 2},
    {"shuffled", "hpcc/pods_shuffled", 1},
    {"wide", "hpcc/pods_wide", 1},
    {"star", "hpcc/star", 1},
    {"dual", "hpcc/dual_three", 1},
    {"two.topo", "htsim/topo_two", 1},
    {"over.topo", "htsim/topo_over", 1},
    {"rails", "simai_topology/rails_two_groups", 0},
    {"leaves", "simai_topology/leaves", 0},
    {"lossy", "hpcc/lossy", 1},
    {"a,b.goal", "goal/plain", 0},
    {"self.goal", "goal/self", 0},
    {"answer.json", "sim_results/answer", 0},
    {"latency.topo", "htsim/topo_two_latency", 1},
};

static char folder[] = "/tmp/myriad-source-XXXXXX";

static int write_files(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) {
        return -1;
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(files); i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf path = {}, text = {}, out = {};
        struct myr_err err = {};
        myr_buf_printf(&path, "%s/tests/fuzz/corpus/%s", MYR_SOURCE_DIR, files[i].seed);
        if (myr_file_read(path.data, 1 << 20, &text, &err) < 0) {
            return -1;
        }
        myr_buf_put(&out, text.data + files[i].skip, text.len - files[i].skip);
        myr_buf_clear(&path);
        myr_buf_printf(&path, "%s/%s", folder, files[i].name);
        if (myr_file_write(path.data, &out, &err) < 0) {
            return -1;
        }
    }
    return chdir(folder);
}

static int remove_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(files); i++) {
        unlink(files[i].name);
    }
    return chdir("/") | rmdir(folder);
}

/* On a topology; NULL: the usual tree. */
static const struct {
    const char *topology, *workload;
} questions[] = {
    {NULL, "file:all.goal"},
    {NULL, "file:a,b.goal"}, /* a name may have commas */
    {NULL, "file:a,b.goal,format=goal"},
    {NULL, "file:self.goal"},
    {NULL, "file:flows.txt"},
    {NULL, "file:flows.txt,format=hpcc"},
    {NULL, "file:flows.txt,format=goal"},
    {NULL, "file:flows.txt,format=door"},
    {NULL, "file:all.cm"},
    {NULL, "file:all.cm,endless=1B"},
    {NULL, "file:all.cm,endless=0"},
    {NULL, "file:all.cm,endless=1125899906842624"},
    {NULL, "file:all.cm,endless=1125899906842625"},
    {NULL, "file:all.cm,format=htsim,endless=10MB"},
    {NULL, "file:all.cm,endless=much"},
    {NULL, "file:barrier.cm"},
    {NULL, "file:layers.txt"},
    {NULL, "file:plain.txt"},
    {NULL, "file:plain.txt,ranks=8"},
    {NULL, "file:plain.txt,deps=both"},
    {NULL, "file:plain.txt,deps=data"},
    {NULL, "file:plain.txt,tflops=1"},
    {NULL, "file:many.csv"},
    {NULL, "file:every.0.et"},
    {NULL, "file:every.0.et,ranks=4"},
    {NULL, "file:every.0.et,ranks=4,tflops=0.001"},
    {NULL, "file:every.0.et,ranks=4,tflops=0.001,deps=both"},
    {NULL, "file:every.0.et,tflops=0.001,ranks=2"},
    {NULL, "file:every.0.et,ranks=1"},
    {NULL, "file:every.0.et,ranks=17,tflops=1"},
    {NULL, "file:every.0.et,ranks=1000001"},
    {NULL, "file:every.0.et,tflops=0,ranks=2"},
    {NULL, "file:every.0.et,tflops=1000000000,ranks=2"},
    {NULL, "file:every.0.et,tflops=1000000001,ranks=2"},
    {NULL, "file:every.0.et,deps=all"},
    {NULL, "file:ops.et"},
    {NULL, "file:ops.et,ranks=3,tflops=1"},
    {NULL, "file:none.goal"},
    {NULL, "file:"},
    {NULL, "file:,format=goal"},
    {NULL, "file:wide"},
    {"file:shuffled", "permutation:1MB"},
    {"file:shuffled", "file:few.txt"}, /* its hosts have numbers of their own */
    {"file:shuffled", "file:flows.txt"},
    {"file:shuffled", "file:all.goal"},
    {"file:wide,format=hpcc", "alltoall:100KB"},
    {"file:wide", "file:few.txt"},
    {"file:wide", "incast:3:1,1MB"},
    {"file:star", "file:few.txt"},
    {"file:star", "file:all.goal"},
    {"file:dual", "permutation:1MB"},
    {"file:two.topo", "permutation:1MB,ranks=9"},
    {"file:over.topo", "permutation:1MB,seed=3"},
    {"file:over.topo,format=simai", "permutation:1MB"},
    {"file:rails", "allreduce:hier,1MB"},
    {"file:rails", "file:layers.txt"},
    {"file:leaves,format=simai", "allgather:ring,1MB"},
    {"file:leaves,format=hpcc", "allgather:ring,1MB"},
    {"file:lossy", "permutation:1MB"},
    {"file:none", "permutation:1MB"},
    {"file:", "permutation:1MB"},
    {"file:star,format=none", "permutation:1MB"},
    {"file:all.goal", "permutation:1MB"},
    {"file:many.csv", "permutation:1MB"},
    {"file:many.csv,format=hpcc", "permutation:1MB"},
    {"file:answer.json", "permutation:1MB"},
    {"file:answer.json,format=htsim", "permutation:1MB"},
    {"file:latency.topo", "permutation:1MB,seed=2"},
    {NULL, "file:answer.json"},
    {NULL, "file:answer.json,format=goal"},
    {NULL, "file:answer.json,format=flows"},
};

static void put_answer(struct myr_buf *text, const struct myr_sim_answer *answer)
{
    const struct myr_sim_load *load = &answer->jobs[0].load;
    const struct myr_design *design = answer->fabric.design;
    myr_buf_printf(
        text,
        "  %u GPUs, %u links; delays %lld, %lld, %lld ps\n"
        "  %lld ps, %llu transfers, %llu flows, %016llx; %u tasks from %u, %u flows from %u\n",
        design->head->gpus, design->link_count, (long long)answer->engine.link_ps,
        (long long)answer->engine.switch_ps, (long long)answer->engine.scale_up_ps,
        (long long)answer->result.end, (unsigned long long)answer->result.transfers,
        (unsigned long long)answer->result.flows, (unsigned long long)answer->result.hash,
        load->task_count, load->first_task, load->flow_count, load->first_flow);
    const struct myr_sim_rates *rates = &answer->rates;
    myr_buf_printf(text, "  %u rates, mean %.9g, slowdown %.9g, p1 %.9g, least %.9g, full %.9g\n",
                   rates->count, rates->mean, rates->mean_slowdown, rates->p1, rates->least,
                   rates->full_share);
    myr_buf_puts(text, "  bytes:");
    for (uint32_t c = 0; c < design->link_count * 2; c++) {
        uint64_t bytes = myr_sim_channel_bytes(answer->sim, c);
        if (bytes) {
            myr_buf_printf(text, " %u:%llu", c, (unsigned long long)bytes);
        }
    }
    myr_buf_puts(text, "\n");
}

static void files_are_played_as_they_were(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(questions); i++) {
        const char *topology = questions[i].topology;
        struct myr_sim_question question = {.topology = topology ? topology : "fat-tree:k=4",
                                            .workloads = {&questions[i].workload, 1},
                                            .queue_pairs = 1,
                                            .efficiency_permille = 1000};
        struct myr_sim_answer answer;
        struct myr_err err = {};
        myr_buf_printf(&text, "%s %s\n", question.topology, questions[i].workload);
        if (myr_sim_ask(&answer, &question, &err) < 0) {
            myr_buf_printf(&text, "  %s%s%s\n", err.message, err.hint[0] ? " | " : "", err.hint);
        } else {
            put_answer(&text, &answer);
        }
        myr_sim_answer_done(&answer);
    }
    assert_kept("sim-sources.txt", &text);
}

/* Speeds and delays of each layer are the file's: of hosts, of leaves and of links to cores. */
static void fabrics_of_files_have_their_speeds_by_layer(void **state)
{
    (void)state;
    for (uint32_t way = 0; way < 6; way++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
        MYR_CLEANUP(myr_sim_topology_done) struct myr_sim_topology topology = {};
        struct myr_err err = {};
        const uint32_t gbps[] = {way & 1 ? 100 : 200, 400, way & 2 ? 800 : 400};
        const uint32_t delay_ns[] = {500, 500, way > 3 ? 900 : 500};
        myr_buf_puts(&text, "Nodes 64\nTiers 3\nPodsize 16\n");
        for (uint32_t tier = 0; tier < 3; tier++) {
            myr_buf_printf(&text,
                           "Tier %u\nDownlink_speed_Gbps %u\nRadix_Down 4\n"
                           "Downlink_Latency_ns %u\nSwitch_Latency_ns 300\n",
                           tier, gbps[tier], delay_ns[tier]);
            myr_buf_puts(&text, tier < 2 ? "Radix_Up 4\n" : "");
        }
        assert_int_equal(myr_file_write("speeds.topo", &text, &err), MYR_OK);
        if (myr_sim_topology_make(&topology, "file:speeds.topo", &err) < 0) {
            fail_msg("way %u: %s", way, err.message);
        }
        uint32_t seen = 0;
        for (uint32_t i = 0; i < topology.design.cabletype_count; i++) {
            uint32_t layer = topology.design.cabletypes[i].layer;
            uint32_t tier = layer == MYR_LAYER_CORE ? 2 : layer == MYR_LAYER_FABRIC;
            assert_int_equal(topology.design.cabletypes[i].gbps, gbps[tier]);
            seen |= 1U << tier;
        }
        assert_int_equal(seen, 7);
        assert_int_equal(topology.delay_ps, way > 3 ? -1 : 500 * MYR_PS_PER_NS);
        assert_int_equal(topology.switch_ps, 300 * MYR_PS_PER_NS);
        assert_int_equal(topology.scale_up_ps, -1);
        unlink("speeds.topo");
    }
}

/* Words that are no question, and some that just are: one line each. */
static const char *const workloads[] = {
    "",
    "step",
    "incast",
    "checkpoint",
    "step:",
    "step:llama3-8b,tp=16",
    "step:none,tp=1",
    "step:llama3-8b,tp=1,tflops=0",
    "step:llama3-8b,tp=1,tflops=1e9",
    "step:llama3-8b,tp=1,tflops=x",
    "step:llama3-8b,tp=1,micro_batch=1,global_batch=16,tflops=999999999",
    "step:llama3-8b,tp=1,first=16",
    "step:llama3-8b,tp=3,ranks=2",
    "permutation:",
    "permutation:1MB,ranks=1",
    "permutation:1MB,ranks=2",
    "permutation:1MB,ranks=17",
    "permutation:1MB,first=15",
    "permutation:1MB,first=14",
    "permutation:1MB,first=16",
    "permutation:1MB,seed=18446744073709551615",
    "permutation:1MB,seed=-1",
    "permutation:1MB,place=there",
    "permutation:1MB,disorder=1",
    "permutation:1MB,place=sorted,disorder=101",
    "permutation:1MB,place=sorted,disorder=100",
    "permutation:1MB,place=random,disorder=1",
    "permutation:1MB,door=1",
    "permutation:1MB,2MB",
    "incast:1MB",
    "incast:0:1,1MB",
    "incast:15:1,1MB",
    "incast:16:1,1MB",
    "incast:3:2,1MB",
    "incast:3,1MB",
    "incast:x:1,1MB",
    "incast:3:1",
    "incast:3:11,1MB",
    "incast:1:1,1MB,ranks=2",
    "allreduce:1MB,ranks=2",
    "allreduce:rong,1MB",
    "allreduce:pairwise,1MB",
    "alltoall:ring,1MB",
    "allreduce:halving,1MB,ranks=12",
    "allreduce:ring,1MB,chunks=2",
    "allreduce:ring,1MB,chunks=1",
    "allreduce:hier,1MB,chunks=0",
    "allreduce:hier,1MB,chunks=1024",
    "allreduce:tree,1MB,chunks=1025",
    "allgather:tree,1MB,chunks=2",
    "broadcast:ring,1MB,chunks=4",
    "broadcast:halving,1MB",
    "alltoall:1MB,chunks=2",
    "alltoall:1MB,window=0",
    "alltoall:1MB,window=4096",
    "alltoall:1MB,window=4097",
    "allreduce:ring,1MB,window=1",
    "alltoall:1MB,window=2,schedule=collapsed",
    "alltoall:1MB,window=2,schedule=full",
    "alltoall:1MB,schedule=some",
    "alltoall:1MB,schedule=auto",
    "checkpoint:1MB",
    "read:1MB",
    "checkpoint:1MB,stripes=0",
    "checkpoint:1MB,stripes=1025",
    "nothing:1MB",
    "allreduce",
    "permutation:1MB,seed=1,seed=2",
    "permutation:0",
    "permutation:1B",
    "permutation:9EB",
};

static const char *const faults[] = {
    "",
    "link/3",
    "link/3:down",
    "link/3:down@",
    "link/3:down@x",
    "link/48:down@1us",
    "link/47:down@1us",
    "link/:down@1us",
    "door/3:down@1us",
    "link/3:dawn@1us",
    "link/3:up@1us",
    "link/3:degrade=0@1us",
    "link/3:degrade=1@1us",
    "link/3:degrade=1.001@1us",
    "link/3:degrade=0.0004@1us",
    "link/3:degrade=0.0005@1us",
    "link/3:degrade=@1us",
    "link/3:down@1us,reroute=local",
    "link/3:down@1us,reroute=remote",
    "link/3:down@1us,reroute=convergence",
    "link/3:down@1us,reroute=7us",
    "link/3:down@1us,reroute=soon",
    "link/3:down@1us,count=2",
    "link/3:flap@1us",
    "link/3:flap@1us,down=0us",
    "link/3:flap@1us,down=5us,period=5us",
    "link/3:flap@1us,down=5us,period=6us",
    "link/3:flap@1us,count=0",
    "link/3:flap@1us,count=10001",
    "link/3:flap@1us,down=5us,period=6us,count=10000",
    "link/3:flap@1us,period=461s",
    "link/3:flap@1us,period=462s",
    "spine/p0-0:degrade=0.5@1us,door=1",
};

static const char *const slow[] = {"",
                                   "node/00003",
                                   "node/00003:",
                                   "node/00003:0",
                                   "node/00003:1",
                                   "node/00003:1.1",
                                   "node/00003:0.5,2",
                                   "node/00016:0.5",
                                   "leaf/p0-0:0.5",
                                   "node/00003:0.0005",
                                   "node/00003:0.0004"};

static const char *const topologies[] = {
    "",
    "tree",
    "fat-tree:",
    "fat-tree:k=0",
    "fat-tree:k=2",
    "fat-tree:k=3",
    "fat-tree:k=130",
    "fat-tree:k=4,gbps=0",
    "fat-tree:k=4,gbps=1",
    "fat-tree:k=4,gbps=100000",
    "fat-tree:k=4,gbps=100001",
    "fat-tree:k=4,tiers=1",
    "fat-tree:k=4,tiers=2",
    "fat-tree:k=4,tiers=4",
    "fat-tree:k=4,delay=0ns",
    "fat-tree:k=4,delay=x",
    "fat-tree:k=4,",
    "fat-tree:k=4,,",
    "fat-tree:k",
    "fat-tree:k=4,door=1",
};

static void put_said(struct myr_buf *text, const char *words,
                     const struct myr_sim_question *question)
{
    struct myr_sim_answer answer;
    struct myr_err err = {};
    myr_buf_printf(text, "%s\n", words);
    if (myr_sim_ask(&answer, question, &err) < 0) {
        myr_buf_printf(text, "  %s%s%s\n", err.message, err.hint[0] ? " | " : "", err.hint);
    } else {
        myr_buf_printf(text, "  %lld ps, %llu events, %016llx\n", (long long)answer.result.end,
                       (unsigned long long)answer.result.events,
                       (unsigned long long)answer.result.hash);
    }
    myr_sim_answer_done(&answer);
}

static void words_are_taken_or_refused_as_they_were(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    static const char *const usual = "permutation:10MB";
    const struct myr_sim_question plain = {.topology = "fat-tree:k=4",
                                           .workloads = {&usual, 1},
                                           .queue_pairs = 1,
                                           .efficiency_permille = 1000};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(workloads); i++) {
        struct myr_sim_question question = plain;
        question.workloads.items = &workloads[i];
        put_said(&text, workloads[i], &question);
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(faults); i++) {
        struct myr_sim_question question = plain;
        question.faults = (struct myr_sim_words){&faults[i], 1};
        put_said(&text, faults[i], &question);
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(slow); i++) {
        struct myr_sim_question question = plain;
        question.slow = (struct myr_sim_words){&slow[i], 1};
        put_said(&text, slow[i], &question);
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(topologies); i++) {
        struct myr_sim_question question = plain;
        question.topology = topologies[i];
        put_said(&text, topologies[i], &question);
    }
    assert_kept("sim-refused.txt", &text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fabrics_of_files_have_their_speeds_by_layer),
        cmocka_unit_test(files_are_played_as_they_were),
        cmocka_unit_test(words_are_taken_or_refused_as_they_were),
    };
    return cmocka_run_group_tests(tests, write_files, remove_files);
}
