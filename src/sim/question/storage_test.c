#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/internal.h"
#include "myriad/sim.h"
#include "myriad/sim/question.h"
#include "question/built.h"

/*
 * Reading and writing of files uses all ports that there are, of servers and of nodes, whatever the
 * numbers of them have in common.
 */

struct counts {
    uint32_t nodes, gpus, nics; /* of GPU servers; GPUs and storage NICs of one */
    uint32_t servers, ports;    /* of storage; ports of one */
};

static void plan(const struct counts *c, struct myr_sim_topology *ret)
{
    struct myr_err err = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf parts = {}, spec = {};
    myr_arena_init(&ret->arena);
    myr_buf_printf(&parts,
                   "{servers: {box: {order: B, title: b, source: t, gpu: h100-sxm, "
                   "gpus_per_node: %u, scale_up_gpus: %u, scale_up_gbps: 3600, nics: "
                   "{compute: {nic: cx7-400g-osfp, count: 1}, storage: {nic: cx7-200g-qsfp112, "
                   "count: %u}}, watts: 1, rack_units: 1, weight_kg: 1}}, storage: {shelf: "
                   "{order: S, title: s, source: t, disks: 1, disk_gb: 1000, nic: "
                   "cx7-200g-qsfp112, nic_ports: %u, watts: 1, rack_units: 1, weight_kg: 1}}}",
                   c->gpus, c->gpus, c->nics, c->ports);
    myr_buf_printf(&spec,
                   "{servers: %u, server: box, networks: {compute: {switch: mqm9790-ns2f, "
                   "length_m: 10}, storage: {switch: mqm9790-ns2f, length_m: 10}}, "
                   "storage: {server: shelf, servers: %u}}",
                   c->nodes, c->servers);
    int rc = myr_catalog_init(&ret->catalog, &ret->arena, &err);
    if (rc == MYR_OK) {
        rc = sim_built(ret, "counts", &parts, &spec, &err);
    }
    if (rc < 0) {
        fail_msg("%s", err.message);
    }
}

/* Flows through each port of one host: how many its fullest has more than its emptiest. */
static uint32_t spread(const struct myr_sim_answer *answer, uint32_t device, uint32_t nics,
                       uint32_t *ret_most)
{
    const struct myr_sim *sim = answer->sim;
    uint32_t least = UINT32_MAX, most = 0;
    for (uint32_t nic = 0; nic < nics; nic++) {
        uint32_t link =
            answer->fabric.design->port_link[myr_host_port(&answer->graph, device, nic)];
        uint32_t flows = 0;
        for (size_t i = 0; i < sim->paths.count; i++) {
            const struct sim_path *path = &sim->paths.items[i];
            for (uint32_t k = 0; k < path->count; k++) {
                flows += sim->path_channels.items[path->first + k] / 2 == link;
            }
        }
        least = flows < least ? flows : least;
        most = flows > most ? flows : most;
    }
    *ret_most = most;
    return most - least;
}

/* When it ends; on the way there each host's ports, and all servers, are held against others. */
static myr_ps play(const struct counts *c, const char *words)
{
    struct myr_sim_topology fabric = {};
    MYR_CLEANUP(myr_sim_answer_done) struct myr_sim_answer answer = {};
    struct myr_err err = {};
    plan(c, &fabric);
    const struct myr_sim_question question = {.planned = &fabric.design,
                                              .net = MYR_NET_STORAGE,
                                              .workloads = {&words, 1},
                                              .balance = {MYR_POLICY_PLANNED, 1, false},
                                              .queue_pairs = 1,
                                              .efficiency_permille = 1000,
                                              .keep_paths = true};
    assert_int_equal(myr_sim_ask(&answer, &question, &err), 0);
    const struct myr_design_head *head = fabric.design.head;
    uint32_t least = UINT32_MAX, all = 0, most;
    for (uint32_t i = 0; i < c->servers; i++) {
        assert_int_equal(myr_host_nics(&answer.graph, head->first_storage + i), c->ports);
        assert_in_range(spread(&answer, head->first_storage + i, c->ports, &most), 0, 1);
        least = most < least ? most : least;
        all = most > all ? most : all;
    }
    assert_in_range(all - least, 0, 1);
    for (uint32_t i = 0; i < c->nodes; i++) {
        assert_int_equal(myr_host_nics(&answer.graph, head->first_node + i), c->nics);
        assert_in_range(spread(&answer, head->first_node + i, c->nics, &most), 0, 1);
    }
    myr_ps end = answer.result.end;
    myr_sim_topology_done(&fabric);
    return end;
}

static void all_ports_of_both_sides_carry_the_same_share(void **state)
{
    (void)state;
    static const char *const words[] = {"read:1GB", "checkpoint:1GB", "read:1GB,stripes=3",
                                        "checkpoint:1GB,stripes=1", "read:1GB,stripes=12"};
    uint32_t at = 0;
    for (uint32_t servers = 1; servers <= 12; servers++) {
        for (uint32_t ports = 1; ports <= 4; ports++) {
            for (uint32_t nics = 1; nics <= 4; nics++) {
                struct counts c = {3 + at % 6, nics + at % 5, nics, servers, ports};
                play(&c, words[at % MYR_ARRAY_COUNT(words)]);
                at++;
            }
        }
    }
}

static void assert_each_server_helps(const char *words, uint32_t ports)
{
    myr_ps last = INT64_MAX;
    for (uint32_t servers = 1; servers <= 16; servers++) {
        struct counts c = {8, 8, 2, servers, ports};
        myr_ps end = play(&c, words);
        if (end > last) {
            fail_msg("%s: %u servers of %u ports are slower than one less: %lld, %lld ps", words,
                     servers, ports, (long long)end, (long long)last);
        }
        last = end;
    }
}

static void more_servers_are_never_slower(void **state)
{
    (void)state;
    static const char *const words[] = {"read:10GB", "checkpoint:10GB", "read:10GB,stripes=3"};
    for (uint32_t w = 0; w < MYR_ARRAY_COUNT(words); w++) {
        for (uint32_t ports = 1; ports <= 3; ports++) {
            assert_each_server_helps(words[w], ports);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_ports_of_both_sides_carry_the_same_share),
        cmocka_unit_test(more_servers_are_never_slower),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
