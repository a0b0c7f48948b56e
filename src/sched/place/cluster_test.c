#include "myriad/sched/cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void what_is_not_given_is_marked_as_assumed(void **state)
{
    (void)state;
    struct myr_cluster cluster;
    struct myr_err err = {};
    assert_int_equal(myr_cluster_of(&(struct myr_cluster_question){.nodes = 20}, &cluster, &err),
                     MYR_OK);
    assert_int_equal(cluster.shape.nodes, 20);
    assert_int_equal(cluster.shape.gpus_per_node, 8);
    assert_int_equal(cluster.shape.group_nodes, 8);
    assert_int_equal(cluster.shape.pod_nodes, 24); /* one that holds all, in whole leaves */
    assert_true(cluster.assumed_gpus_per_node && cluster.assumed_leaf_nodes);
    assert_false(cluster.from_design);
    struct myr_cluster_question all = {
        .nodes = 20, .gpus_per_node = 4, .leaf_nodes = 5, .pod_nodes = 10};
    assert_int_equal(myr_cluster_of(&all, &cluster, &err), MYR_OK);
    assert_int_equal(cluster.shape.gpus_per_node, 4);
    assert_int_equal(cluster.shape.group_nodes, 5);
    assert_int_equal(cluster.shape.pod_nodes, 10);
    assert_false(cluster.assumed_gpus_per_node || cluster.assumed_leaf_nodes);
}

static void half_a_cluster_and_two_clusters_are_refused(void **state)
{
    (void)state;
    static const struct {
        struct myr_cluster_question question;
        const char *message;
    } cases[] = {
        {{}, "no cluster is given"},
        {{.gpus_per_node = 8}, "no cluster is given"},
        {{.design = "d.myr", .nodes = 4}, "the cluster is given twice"},
        {{.design = "d.myr", .leaf_nodes = 4}, "the cluster is given twice"},
        {{.nodes = 1000001}, "--nodes 1000001, expected at most 1000000"},
        {{.nodes = 8, .gpus_per_node = 65}, "--gpus-per-node 65, expected at most 64"},
        {{.nodes = 8, .leaf_nodes = 8, .pod_nodes = 12},
         "--pod-nodes 12 is not a multiple of --leaf-nodes 8"},
        {{.design = "/nowhere/d.myr"}, "/nowhere/d.myr: cannot open: No such file or directory"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_cluster cluster;
        struct myr_err err = {};
        assert_true(myr_cluster_of(&cases[i].question, &cluster, &err) < 0);
        assert_string_equal(err.message, cases[i].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_given_is_marked_as_assumed),
        cmocka_unit_test(half_a_cluster_and_two_clusters_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
