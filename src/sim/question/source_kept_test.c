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
        load->first_task, load->task_count, load->first_flow, load->flow_count);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_played_as_they_were),
    };
    return cmocka_run_group_tests(tests, write_files, remove_files);
}
