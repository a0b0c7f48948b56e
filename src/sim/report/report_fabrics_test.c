#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/internal.h"
#include "kept.h"
#include "myriad/sim.h"
#include "myriad/sim/question.h"
#include "question/built.h"

/*
 * What is reported of runs on planned fabrics: channels of links, scale-up domains and pools of
 * sprayed uplinks have names, loads and places in the drawing; lists and critical paths name them.
 */

struct run {
    const char *name, *spec;
    const char *jobs[2];
    enum myr_policy policy;
    enum myr_net_id net;
};

static const struct run runs[] = {
    {"pods",
     "{servers: 16, server: generic-1gpu, networks: {compute: {topology: clos, tiers: 3, "
     "switch: eth-51t2, leaf_down: 4, leaf_up: 2, pod_leaves: 2, length_m: 30}}}",
     {"permutation:3MB,seed=2", "incast:3:1,1MB"},
     MYR_POLICY_SPRAY,
     MYR_NET_COMPUTE},
    {"rail",
     "{servers: 3, server: h100-8gpu, networks: {compute: {topology: rail, tiers: 2, "
     "switch: mqm9790-ns2f}, storage: {}}, storage: {server: flash-22x15, capacity_pb: 1, "
     "copies: 2, rate: best}}",
     {"allreduce:hier,8MB"},
     MYR_POLICY_SPRAY,
     MYR_NET_COMPUTE},
    {"rail, its storage",
     "{servers: 3, server: h100-8gpu, networks: {compute: {topology: rail, tiers: 2, "
     "switch: mqm9790-ns2f}, storage: {}}, storage: {server: flash-22x15, capacity_pb: 1, "
     "copies: 2, rate: best}}",
     {"checkpoint:10MB,ranks=4", "read:10MB,stripes=2,ranks=3"},
     MYR_POLICY_ECMP_CRC,
     MYR_NET_STORAGE},
    {"planes",
     "{servers: 3, server: b300-8gpu, networks: {compute: {topology: clos, planes: 2, "
     "length_m: 20}}}",
     {"alltoall:1MB,ranks=12"},
     MYR_POLICY_ECMP_CRC,
     MYR_NET_COMPUTE},
    {"torus",
     "{servers: 6, server: generic-1gpu, networks: {compute: {topology: torus, dims: [3, 2], "
     "length_m: 5}}}",
     {"step:llama3-8b,tp=1,pp=6,micro_batch=1,global_batch=12,tflops=999999"},
     MYR_POLICY_ECMP_CRC,
     MYR_NET_COMPUTE},
    {"dragonfly",
     "{servers: 12, server: generic-1gpu, networks: {compute: {topology: dragonfly, "
     "group_switches: 2, hosts_per_switch: 2, global_ports: 1, length_m: 100}}}",
     {"permutation:3MB", "allgather:ring,1MB,ranks=9,first=2"},
     MYR_POLICY_ADAPTIVE,
     MYR_NET_COMPUTE},
};

/* Every channel of a small fabric; of a large one the first and last of each kind. */
static void put_channels(struct myr_buf *text, const struct myr_sim *sim)
{
    const uint32_t edges[] = {sim->link_channels, sim->scale_up_base, sim->pool_base,
                              sim->channel_count};
    for (uint32_t c = 0; c < sim->channel_count; c++) {
        bool shown = c < 2;
        for (size_t i = 0; i < MYR_ARRAY_COUNT(edges); i++) {
            shown = shown || (c + 2 >= edges[i] && c < edges[i] + 2);
        }
        double load = myr_report_load(sim, c);
        if (shown || (load > 0 && c % 3 == 0)) {
            myr_buf_printf(text, "  %u %.6f ", c, load);
            myr_report_channel_name(sim, c, text);
            myr_buf_putc(text, '\n');
        }
    }
    size_t before = text->len;
    myr_report_channel_name(sim, MYR_NONE, text);
    assert_int_equal(text->len, before);
}

/* A file of the run, from where its text is its own. */
static void put_file(struct myr_buf *text, const char *path, const char *from, size_t most)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf file = {};
    assert_int_equal(myr_file_read(path, 1 << 24, &file, NULL), MYR_OK);
    const char *at = from ? strstr(file.data, from) : file.data;
    assert_non_null(at);
    size_t len = strlen(at);
    if (len > most) { /* whole lines */
        len = most;
        while (at[len - 1] != '\n') {
            len--;
        }
    }
    myr_buf_put(text, at, len);
    assert_int_equal(unlink(path), 0);
}

static void put_answer(struct myr_buf *text, const struct run *run,
                       const struct myr_sim_answer *answer)
{
    char names[5][48];
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        snprintf(names[i], sizeof(names[i]), "/tmp/myriad-fabrics-%ld-%u", (long)getpid(), i);
    }
    struct myr_sim_files files = {.fct = names[0],
                                  .paths = names[1],
                                  .trace = names[2],
                                  .series = names[3],
                                  .report = names[4]};
    myr_buf_printf(text, "\n%s\n", run->name);
    put_channels(text, answer->sim);
    assert_int_equal(myr_sim_files_write(answer, &files, NULL), MYR_OK);
    for (uint32_t i = 0; i < 4; i++) {
        put_file(text, names[i], NULL, 3000);
    }
    put_file(text, names[4], "<h2>Network", SIZE_MAX);
}

static void reports_are_what_they_were(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {}, parts = {};
    myr_buf_puts(&parts, "{}");
    for (size_t i = 0; i < MYR_ARRAY_COUNT(runs); i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf spec = {};
        struct myr_sim_topology planned = {};
        struct myr_sim_answer answer;
        struct myr_err err = {};
        myr_arena_init(&planned.arena);
        myr_buf_puts(&spec, runs[i].spec);
        assert_int_equal(myr_catalog_init(&planned.catalog, &planned.arena, &err), MYR_OK);
        if (sim_built(&planned, runs[i].name, &parts, &spec, &err) < 0) {
            fail_msg("%s: %s", runs[i].name, err.message);
        }
        struct myr_sim_question question = {.planned = &planned.design,
                                            .net = runs[i].net,
                                            .workloads = {runs[i].jobs, runs[i].jobs[1] ? 2 : 1},
                                            .balance = {runs[i].policy, 3, false},
                                            .queue_pairs = 2,
                                            .efficiency_permille = 900,
                                            .series_step = "30us",
                                            .keep_paths = true};
        if (myr_sim_ask(&answer, &question, &err) < 0) {
            fail_msg("%s: %s", runs[i].name, err.message);
        }
        put_answer(&text, &runs[i], &answer);
        myr_sim_answer_done(&answer);
        myr_sim_topology_done(&planned);
    }
    assert_kept("sim-fabrics.txt", &text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_are_what_they_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
