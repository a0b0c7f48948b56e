#include "question/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/internal.h"
#include "question/place.h"

static void sizes_and_times_have_units(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes;
    } sizes[] = {{"0", 0},
                 {"1", 1},
                 {"17B", 17},
                 {"1KB", 1000},
                 {"1k", 1000},
                 {"2.5MB", 2500000},
                 {"3gb", 3000000000},
                 {"1TB", 1000000000000},
                 {"1KiB", 1024},
                 {"1MiB", 1048576},
                 {"2GiB", UINT64_C(2147483648)}};
    static const struct {
        const char *text;
        myr_ps ps;
    } times[] = {{"1ps", 1},
                 {"1ns", 1000},
                 {"50us", 50 * MYR_PS_PER_US},
                 {"1.5ms", 1500 * MYR_PS_PER_US},
                 {"2S", 2 * MYR_PS_PER_S}};
    static const char *const neither[] = {"",    "B",    "-1",  "1 MB", "1MB ", "1XB",
                                          "1e3", "1..2", "nan", "1us1", "0x10", "99999999999TB"};
    uint64_t bytes;
    myr_ps ps;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(sizes); i++) {
        assert_true(myr_sim_parse_bytes(myr_str_from(sizes[i].text), &bytes));
        assert_int_equal(bytes, sizes[i].bytes);
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(times); i++) {
        assert_true(myr_sim_parse_time(myr_str_from(times[i].text), &ps));
        assert_int_equal(ps, times[i].ps);
    }
    static const char *const no_bytes[] = {"1Mb", "1Gb",      "16Kb",     "0.4",
                                           "0.5", "0.0001KB", "1.00005KB"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(no_bytes); i++) {
        assert_false(myr_sim_parse_bytes(myr_str_from(no_bytes[i]), &bytes));
    }
    /* What doubles lose is no part of a byte. */
    for (uint32_t tenth = 1; tenth < 1000; tenth++) {
        char text[16];
        snprintf(text, sizeof(text), "%u.%uTB", tenth / 10, tenth % 10);
        assert_true(myr_sim_parse_bytes(myr_str_from(text), &bytes));
        assert_int_equal(bytes, tenth * UINT64_C(100000000000));
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(neither); i++) {
        assert_false(myr_sim_parse_bytes(myr_str_from(neither[i]), &bytes));
        assert_false(myr_sim_parse_time(myr_str_from(neither[i]), &ps));
    }
    assert_false(myr_sim_parse_time(MYR_STR("5"), &ps)); /* of what? */
}

static void words_are_a_kind_and_its_parts(void **state)
{
    (void)state;
    struct sim_words words;
    struct myr_str value;
    struct myr_err err = {};
    assert_int_equal(sim_words_split("--x", "kind:a,b=2,c:d", &words, &err), MYR_OK);
    assert_true(myr_str_eq(words.kind, MYR_STR("kind")));
    assert_int_equal(words.count, 3);
    assert_true(myr_str_eq(words.items[2], MYR_STR("c:d")));
    assert_true(sim_words_keyed(&words, "b", &value));
    assert_true(myr_str_eq(value, MYR_STR("2")));
    assert_false(sim_words_keyed(&words, "a", &value));
    assert_int_equal(sim_words_split("--x", "alone", &words, &err), MYR_OK);
    assert_int_equal(words.count, 0);
    static const char *const empty[] = {"kind:", "kind:a,", "kind:,a", "kind:a,,b"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(empty); i++) {
        assert_int_equal(sim_words_split("--x", empty[i], &words, &err), MYR_EINVAL);
        assert_non_null(strstr(err.message, "--x: an empty word in 'kind:"));
    }
}

static void keys_are_known_and_given_once(void **state)
{
    (void)state;
    static const char *const keys[] = {"seed", "ranks"};
    struct sim_words words;
    struct myr_err err = {};
    assert_int_equal(sim_words_split("--x", "k:1MB,seed=3,ranks=9", &words, &err), MYR_OK);
    assert_int_equal(sim_words_check(&words, 1, keys, 2, &err), MYR_OK);
    assert_int_equal(sim_words_check(&words, 0, keys, 2, &err), MYR_EINVAL);
    assert_string_equal(err.message, "--x: '1MB' is not understood");
    assert_string_equal(err.hint, "k takes seed=, ranks=");
    assert_int_equal(sim_words_check(&words, 1, keys, 1, &err), MYR_EINVAL);
    assert_string_equal(err.message, "--x: 'ranks=9' is not understood");
    assert_int_equal(sim_words_check(&words, 1, keys, 0, &err), MYR_EINVAL);
    assert_string_equal(err.hint, "k takes nothing more");
    assert_int_equal(sim_words_split("--x", "k:seed=3,seed=4", &words, &err), MYR_OK);
    assert_int_equal(sim_words_check(&words, 0, keys, 2, &err), MYR_EINVAL);
    assert_string_equal(err.message, "--x: 'seed' is given twice");
}

static void numbers_are_held_against_their_range(void **state)
{
    (void)state;
    struct sim_words words;
    struct myr_err err = {};
    uint64_t value = 77;
    myr_ps time = 5;
    assert_int_equal(sim_words_split("--x", "k:n=10,t=2us,u=soon", &words, &err), MYR_OK);
    assert_int_equal(sim_words_number(&words, "m", 0, 1, &value, &err), MYR_OK);
    assert_int_equal(value, 77); /* absent: untouched */
    assert_int_equal(sim_words_number(&words, "n", 10, 10, &value, &err), MYR_OK);
    assert_int_equal(value, 10);
    assert_int_equal(sim_words_number(&words, "n", 11, 20, &value, &err), MYR_EINVAL);
    assert_int_equal(sim_words_number(&words, "n", 0, 9, &value, &err), MYR_EINVAL);
    assert_string_equal(err.message, "--x: 'n' must be a whole number from 0 to 9, not '10'");
    assert_int_equal(sim_words_time(&words, "t", &time, &err), MYR_OK);
    assert_int_equal(time, 2 * MYR_PS_PER_US);
    assert_int_equal(sim_words_time(&words, "u", &time, &err), MYR_EINVAL);
    assert_int_equal(sim_words_bytes(&words, 7, &value, &err), MYR_EINVAL);
    assert_string_equal(err.message, "--x: a size such as 1MB is expected, not 'nothing'");
}

/* A fabric of 16 nodes with 4 GPUs each, as far as places care. */
static const struct myr_design_head sixteen = {.gpus = 64, .nodes = 16, .gpus_per_node = 4};

static int place(struct sim_place *ret, struct myr_arena *arena, const char *text,
                 struct myr_err *err)
{
    struct sim_words words;
    assert_int_equal(sim_words_split("--x", text, &words, err), MYR_OK);
    return sim_place_choose(ret, arena, &sixteen, &words, 7, err);
}

static void a_block_is_consecutive(void **state)
{
    (void)state;
    struct myr_arena arena;
    struct sim_place found;
    struct myr_err err = {};
    myr_arena_init(&arena);
    assert_int_equal(place(&found, &arena, "k", &err), MYR_OK);
    assert_int_equal(found.count, 64);
    assert_int_equal(found.seed, 7);
    assert_int_equal(place(&found, &arena, "k:first=5,ranks=6,seed=9,place=block", &err), MYR_OK);
    assert_int_equal(found.count, 6);
    assert_int_equal(found.seed, 9);
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(found.gpus[i], 5 + i);
    }
    assert_int_equal(place(&found, &arena, "k:first=60", &err), MYR_OK);
    assert_int_equal(found.count, 4); /* what is left */
    assert_int_equal(place(&found, &arena, "k:first=60,ranks=5", &err), MYR_EINVAL);
    assert_int_equal(place(&found, &arena, "k:first=64", &err), MYR_EINVAL);
    assert_int_equal(place(&found, &arena, "k:ranks=1", &err), MYR_EINVAL);
    assert_int_equal(place(&found, &arena, "k:place=middle", &err), MYR_EINVAL);
    assert_int_equal(place(&found, &arena, "k:place=random,ranks=6", &err), MYR_EINVAL);
    assert_int_equal(place(&found, &arena, "k:place=random,first=2,ranks=8", &err), MYR_EINVAL);
    assert_int_equal(place(&found, &arena, "k:place=random,disorder=5", &err), MYR_EINVAL);
    myr_arena_done(&arena);
}

static uint32_t out_of_order(const struct sim_place *found)
{
    uint32_t count = 0;
    for (uint32_t i = 4; i < found->count; i += 4) {
        count += found->gpus[i] < found->gpus[i - 4];
    }
    return count;
}

static void drawn_jobs_are_whole_nodes_and_share_none(void **state)
{
    (void)state;
    struct myr_arena arena;
    struct sim_place first, second, sorted, messy;
    struct myr_err err = {};
    uint8_t taken[64] = {};
    myr_arena_init(&arena);
    assert_int_equal(place(&first, &arena, "k:place=random,ranks=32", &err), MYR_OK);
    assert_int_equal(place(&second, &arena, "k:place=random,ranks=32,first=32", &err), MYR_OK);
    for (uint32_t i = 0; i < 32; i++) {
        taken[first.gpus[i]]++;
        taken[second.gpus[i]]++;
        assert_int_equal(first.gpus[i] % 4, i % 4);
        assert_int_equal(first.gpus[i] / 4, first.gpus[i - i % 4] / 4);
    }
    for (uint32_t gpu = 0; gpu < 64; gpu++) {
        assert_int_equal(taken[gpu], 1);
    }
    assert_true(out_of_order(&first) > 0);
    assert_int_equal(place(&sorted, &arena, "k:place=sorted,ranks=32", &err), MYR_OK);
    assert_int_equal(out_of_order(&sorted), 0);
    for (uint32_t i = 0; i < 32; i++) {
        bool known = false; /* the same nodes as when they are not sorted */
        for (uint32_t k = 0; k < 32; k++) {
            known = known || first.gpus[k] == sorted.gpus[i];
        }
        assert_true(known);
    }
    assert_int_equal(place(&messy, &arena, "k:place=sorted,ranks=64,disorder=100", &err), MYR_OK);
    assert_true(out_of_order(&messy) > 0);
    assert_int_equal(place(&messy, &arena, "k:place=sorted,ranks=64,disorder=0", &err), MYR_OK);
    assert_int_equal(out_of_order(&messy), 0);
    myr_arena_done(&arena);
}

/* An engine on a small fat tree of 16 hosts. */
struct tree {
    struct myr_sim_fabric fabric;
    struct myr_arena arena;
    struct myr_graph graph;
    struct myr_sim *sim;
};

static int make_tree(void **state)
{
    struct tree *tree = myr_xcalloc(1, sizeof(*tree));
    struct myr_sim_options options = myr_sim_default();
    struct myr_err err = {};
    myr_arena_init(&tree->arena);
    if (myr_sim_fabric_open(&tree->fabric, NULL, "fat-tree:k=4", &err) < 0 ||
        myr_graph_init(&tree->graph, &tree->arena, tree->fabric.design, MYR_NET_COMPUTE, &err) <
            0) {
        return 1;
    }
    tree->sim = myr_sim_create(&tree->graph, &options);
    *state = tree;
    return 0;
}

static int drop_tree(void **state)
{
    struct tree *tree = *state;
    myr_sim_free(tree->sim);
    myr_arena_done(&tree->arena);
    myr_sim_fabric_close(&tree->fabric);
    free(tree);
    return 0;
}

static void a_permutation_sends_nobody_to_itself(void **state)
{
    struct tree *tree = *state;
    struct myr_sim *sim = tree->sim;
    struct myr_sim_load load;
    uint8_t met[16] = {};
    assert_int_equal(
        myr_sim_load_words(sim, &tree->graph, NULL, "permutation:1MB,seed=5", 0, &load, NULL),
        MYR_OK);
    assert_int_equal(load.flow_count, 16);
    assert_int_equal(load.task_count, 16);
    assert_false(load.collective);
    for (uint32_t i = 0; i < 16; i++) {
        struct myr_message message = sim->messages.items[i];
        assert_int_equal(message.from, i);
        assert_int_not_equal(message.to, i);
        met[message.to]++;
        assert_int_equal(sim->tasks.items[i].bits, 8000000);
    }
    for (uint32_t i = 0; i < 16; i++) {
        assert_int_equal(met[i], 1);
    }
}

static void an_incast_has_senders_of_its_own(void **state)
{
    struct tree *tree = *state;
    struct myr_sim *sim = tree->sim;
    struct myr_sim_load load;
    assert_int_equal(
        myr_sim_load_words(sim, &tree->graph, NULL, "incast:5:1,3KB,first=2", 0, &load, NULL),
        MYR_OK);
    assert_int_equal(load.flow_count, 5);
    for (uint32_t i = 0; i < 5; i++) {
        struct myr_message message = sim->messages.items[i];
        assert_int_equal(message.to, 2);
        assert_true(message.from > 2 && message.from < 16);
        for (uint32_t k = 0; k < i; k++) {
            assert_int_not_equal(message.from, sim->messages.items[k].from);
        }
    }
}

static void a_collective_knows_its_kind_and_bytes(void **state)
{
    struct tree *tree = *state;
    struct myr_sim_load load;
    struct myr_err err = {};
    static const struct {
        const char *words;
        enum myr_collective kind;
        uint32_t tasks;
    } cases[] = {
        /* Every send, and one that ends with the last of them; or the rounds. */
        {"allreduce:ring,1MB", MYR_ALL_REDUCE, 16 * 30 + 1},
        {"allreduce:ring,1MB,schedule=collapsed", MYR_ALL_REDUCE, 30},
        {"allreduce:halving,1MB", MYR_ALL_REDUCE, 16 * 8 + 1},
        {"allreduce:halving,1MB,schedule=collapsed", MYR_ALL_REDUCE, 8},
        {"allgather:ring,1MB", MYR_ALL_GATHER, 16 * 15 + 1},
        {"reducescatter:ring,1MB", MYR_REDUCE_SCATTER, 16 * 15 + 1},
        {"alltoall:1MB", MYR_ALL_TO_ALL, 16 * 15 + 1},
        {"alltoall:1MB,schedule=collapsed", MYR_ALL_TO_ALL, 1},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        assert_int_equal(
            myr_sim_load_words(tree->sim, &tree->graph, NULL, cases[i].words, 0, &load, &err),
            MYR_OK);
        assert_true(load.collective && load.kind == cases[i].kind);
        assert_int_equal(load.bytes, 1000000);
        assert_int_equal(load.ranks, 16);
        assert_int_equal(load.task_count, cases[i].tasks);
        assert_int_equal(load.flow_count, 0);
        assert_string_equal(load.words, cases[i].words);
    }
}

static void each_load_knows_its_own_tasks(void **state)
{
    struct tree *tree = *state;
    struct myr_sim_load first, second, third;
    char words[64] = "file:/tmp/myriad-words-XXXXXX", *path = words + 5;
    static const char flows[] = "2\n0 1 3 100 500 2\n1 0 3 100 500 2.5\n";
    int fd = mkstemp(path);
    assert_int_equal(write(fd, flows, sizeof(flows) - 1), sizeof(flows) - 1);
    close(fd);
    assert_int_equal(
        myr_sim_load_words(tree->sim, &tree->graph, NULL, "permutation:1KB", 0, &first, NULL),
        MYR_OK);
    assert_int_equal(
        myr_sim_load_words(tree->sim, &tree->graph, NULL, "incast:3:1,1KB", 0, &second, NULL),
        MYR_OK);
    assert_int_equal(myr_sim_load_words(tree->sim, &tree->graph, NULL, words, 0, &third, NULL),
                     MYR_OK);
    unlink(path);
    assert_int_equal(first.first_task, 0);
    assert_int_equal(second.first_task, 16);
    assert_int_equal(second.first_flow, 16);
    assert_int_equal(second.flow_count, 3);
    assert_int_equal(third.first_task, 19);
    assert_int_equal(third.first_flow, 19);
    assert_int_equal(third.flow_count, 2);
    assert_int_equal(third.task_count, 3); /* and the wait for the later start */
    assert_int_equal(myr_sim_task_count(tree->sim), 22);
}

static void faults_become_events(void **state)
{
    struct tree *tree = *state;
    struct myr_sim *sim = tree->sim;
    struct myr_err err = {};
    static const char *const words[] = {
        "link/3:down@1ms", "link/4:up@2ms,reroute=remote", "link/5:degrade=0.25@5us,reroute=7us",
        "link/6:flap@1ms,down=2us,period=10us,count=2,reroute=convergence"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(words); i++) {
        assert_int_equal(myr_sim_fault_words(sim, &tree->graph, words[i], &err), MYR_OK);
    }
    const struct myr_sim_fault *faults = sim->faults.items;
    assert_int_equal(sim->faults.count, 7);
    assert_true(faults[0].kind == MYR_FAULT_DOWN && faults[0].link == 3 &&
                faults[0].at == 1000 * MYR_PS_PER_US && faults[0].reroute == 50 * MYR_PS_PER_US &&
                faults[0].device == MYR_NONE);
    assert_true(faults[1].kind == MYR_FAULT_UP && faults[1].reroute == 1000 * MYR_PS_PER_US);
    assert_true(faults[2].kind == MYR_FAULT_DEGRADE && faults[2].capacity_permille == 250 &&
                faults[2].reroute == 7 * MYR_PS_PER_US);
    assert_true(faults[3].kind == MYR_FAULT_DOWN && faults[4].kind == MYR_FAULT_UP);
    assert_int_equal(faults[4].at - faults[3].at, 2 * MYR_PS_PER_US);
    assert_int_equal(faults[5].at - faults[3].at, 10 * MYR_PS_PER_US);
    assert_int_equal(faults[6].reroute, MYR_PS_PER_S);
}

static void wrong_faults_get_one_line(void **state)
{
    struct tree *tree = *state;
    static const char *const words[] = {"link/9999:down@1ms",
                                        "nothing:down@1ms",
                                        "link/3",
                                        "link/3:down",
                                        "link/3:down@",
                                        "link/3:down@5",
                                        "link/3:degrade@1ms",
                                        "link/3:degrade=0@1ms",
                                        "link/3:degrade=1.5@1ms",
                                        "link/3:down@1ms,count=2",
                                        "link/3:flap@1ms,down=0us",
                                        "link/3:flap@1ms,down=9us,period=9us",
                                        "link/3:flap@1ms,count=0",
                                        "link/3:down@8000000s",
                                        "link/3:down@1ms,reroute=8000000s",
                                        "link/3:up@4000000s,reroute=4000000s",
                                        "link/3:flap@8000000s,period=460s,count=10000",
                                        "link/3:down@1ms,reroute=never"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(words); i++) {
        struct myr_err err = {};
        assert_int_equal(myr_sim_fault_words(tree->sim, &tree->graph, words[i], &err), MYR_EINVAL);
        assert_int_equal(strncmp(err.message, "--fault: ", 9), 0);
    }
    assert_int_equal(tree->sim->faults.count, 0);
}

static void a_slow_node_has_slower_links(void **state)
{
    struct tree *tree = *state;
    struct myr_err err = {};
    assert_int_equal(myr_sim_slow_words(tree->sim, &tree->graph, "node/00002:0.8", &err), MYR_OK);
    assert_int_equal(myr_sim_node_permille(tree->sim, 2), 800);
    assert_int_equal(myr_sim_node_permille(tree->sim, 3), 1000);
    static const char *const bad[] = {"node/00099:0.5", "leaf/p0-0:0.5",  "node/00002",
                                      "node/00002:0",   "node/00002:1.1", "node/00002:0.5,x"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        assert_int_equal(myr_sim_slow_words(tree->sim, &tree->graph, bad[i], &err), MYR_EINVAL);
        assert_int_equal(strncmp(err.message, "--slow: ", 8), 0);
    }
}

static void topologies_are_what_their_words_say(void **state)
{
    (void)state;
    static const struct {
        const char *words;
        uint32_t hosts, leaf, spine, core, gbps;
        int64_t delay_ps;
    } cases[] = {
        {"fat-tree:k=4", 16, 8, 8, 4, 100, 1000000},
        {"fat-tree:k=6,gbps=25,delay=500ns", 54, 18, 18, 9, 25, 500000},
        {"fat-tree:k=8,tiers=2", 32, 8, 4, 0, 100, 1000000},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_sim_topology topology;
        assert_int_equal(myr_sim_topology_make(&topology, cases[i].words, NULL), MYR_OK);
        const struct myr_network *net = &topology.design.networks[MYR_NET_COMPUTE];
        assert_int_equal(topology.design.head->gpus, cases[i].hosts);
        assert_int_equal(net->leaf, cases[i].leaf);
        assert_int_equal(net->spine, cases[i].spine);
        assert_int_equal(net->core, cases[i].core);
        assert_int_equal(net->host_gbps, cases[i].gbps);
        assert_int_equal(topology.delay_ps, cases[i].delay_ps);
        assert_int_equal(topology.switch_ps, 0);
        myr_sim_topology_done(&topology);
    }
    static const char *const bad[] = {"torus",
                                      "fat-tree",
                                      "fat-tree:k=7",
                                      "fat-tree:k=130",
                                      "fat-tree:k=0",
                                      "fat-tree:gbps=0",
                                      "fat-tree:k",
                                      "fat-tree:tiers=1",
                                      "fat-tree:tiers=4",
                                      "fat-tree:delay=5",
                                      "fat-tree:x=1",
                                      "fat-tree:gbps=100001"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        struct myr_sim_topology topology;
        struct myr_err err = {};
        assert_int_equal(myr_sim_topology_make(&topology, bad[i], &err), MYR_EINVAL);
        assert_int_equal(strncmp(err.message, "--topology", 10), 0);
        myr_sim_topology_done(&topology);
    }
}

#define ON_TREE(test) cmocka_unit_test_setup_teardown(test, make_tree, drop_tree)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_and_times_have_units),
        cmocka_unit_test(words_are_a_kind_and_its_parts),
        cmocka_unit_test(keys_are_known_and_given_once),
        cmocka_unit_test(numbers_are_held_against_their_range),
        cmocka_unit_test(a_block_is_consecutive),
        cmocka_unit_test(drawn_jobs_are_whole_nodes_and_share_none),
        ON_TREE(a_permutation_sends_nobody_to_itself),
        ON_TREE(an_incast_has_senders_of_its_own),
        ON_TREE(a_collective_knows_its_kind_and_bytes),
        ON_TREE(each_load_knows_its_own_tasks),
        ON_TREE(faults_become_events),
        ON_TREE(wrong_faults_get_one_line),
        ON_TREE(a_slow_node_has_slower_links),
        cmocka_unit_test(topologies_are_what_their_words_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
