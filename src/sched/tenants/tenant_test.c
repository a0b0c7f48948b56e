#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "myriad/sched/tenant_tree.h"

/* 10 nodes: two full groups of four and half a one. */
static const struct myr_place_shape shape = {10, 8, 4, 8};

static void cells_are_counted_in_nodes(void **state)
{
    (void)state;
    assert_int_equal(myr_cell_nodes(&shape, MYR_CELL_NODE), 1);
    assert_int_equal(myr_cell_nodes(&shape, MYR_CELL_GROUP), 4);
    assert_int_equal(myr_cell_nodes(&shape, MYR_CELL_POD), 8);
    struct myr_tenant tenant = {.parent = MYR_NONE, .cells = {3, 5, 7}};
    assert_int_equal(myr_tenant_nodes(&tenant, &shape), 3 + 5 * 4 + 7 * 8);
    tenant = (struct myr_tenant){.cells = {[MYR_CELL_POD] = 1000000}};
    struct myr_place_shape large = {1, 8, 1, 1U << 20};
    assert_int_equal(myr_tenant_nodes(&tenant, &large), UINT64_C(1000000) << 20);
}

/* Each: what the two tenants own, and whether the cluster has it. */
static void a_cluster_holds_the_cells_of_all_tenants(void **state)
{
    (void)state;
    static const struct {
        uint32_t first[MYR_CELL_LEVELS], second[MYR_CELL_LEVELS];
        const char *message;
    } cases[] = {
        {{0, 0, 0}, {0, 0, 0}, NULL},
        {{9, 0, 0}, {1, 0, 0}, NULL},
        {{9, 0, 0}, {2, 0, 0}, "the tenants own 11 nodes, the cluster has 10"},
        {{2, 1, 0}, {0, 1, 0}, NULL},
        {{3, 1, 0}, {0, 1, 0}, "the tenants own 11 nodes, the cluster has 10"},
        {{0, 2, 0}, {0, 0, 0}, NULL},
        {{0, 2, 0}, {0, 1, 0}, "the tenants own 12 nodes, the cluster has 10"},
        {{0, 0, 1}, {2, 0, 0}, NULL},
        {{0, 0, 1}, {0, 1, 0}, "the tenants own 12 nodes, the cluster has 10"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_tenant tenants[2] = {{.parent = MYR_NONE}, {.parent = 0}};
        struct myr_err err = {};
        memcpy(tenants[0].cells, cases[i].first, sizeof(tenants[0].cells));
        memcpy(tenants[1].cells, cases[i].second, sizeof(tenants[1].cells));
        int rc = myr_tenants_check(tenants, 2, &shape, &err);
        assert_int_equal(rc, cases[i].message ? MYR_EINVAL : MYR_OK);
        assert_string_equal(err.message, cases[i].message ? cases[i].message : "");
    }
    /* Eleven nodes hold ten as such, and not three groups of which one has three nodes. */
    struct myr_place_shape odd = {11, 8, 4, 4};
    struct myr_tenant tenant = {.parent = MYR_NONE, .cells = {3, 2, 0}};
    assert_int_equal(myr_tenants_check(&tenant, 1, &odd, NULL), MYR_OK);
    tenant = (struct myr_tenant){.parent = MYR_NONE, .cells = {0, 1, 2}};
    assert_int_equal(myr_tenants_check(&tenant, 1, &odd, NULL), MYR_EINVAL);
}

static void tenants_make_a_tree_of_four_levels_at_most(void **state)
{
    (void)state;
    struct myr_tenant chain[5];
    struct myr_err err = {};
    for (uint32_t i = 0; i < 5; i++) {
        chain[i] = (struct myr_tenant){.parent = i ? i - 1 : MYR_NONE};
    }
    assert_int_equal(myr_tenants_check(chain, 4, &shape, &err), MYR_OK);
    assert_int_equal(myr_tenants_check(chain, 5, &shape, &err), MYR_EINVAL);
    assert_string_equal(err.message, "tenant 4: more than 4 levels");
    chain[2].parent = 2;
    assert_int_equal(myr_tenants_check(chain, 4, &shape, &err), MYR_EINVAL);
    assert_string_equal(err.message, "tenant 2: its parent must come before it");
    chain[2].parent = 3;
    assert_int_equal(myr_tenants_check(chain, 4, &shape, &err), MYR_EINVAL);
    assert_string_equal(err.message, "tenant 2: its parent must come before it");
    assert_int_equal(myr_tenants_check(chain, 0, &shape, &err), MYR_ERANGE);
    assert_string_equal(err.message, "0 tenants, expected 1 to 1048576");
    assert_int_equal(myr_tenants_check(chain, MYR_TENANTS_MAX + 1, &shape, &err), MYR_ERANGE);
    assert_string_equal(err.message, "1048577 tenants, expected 1 to 1048576");
}

/* One after the other on one tree, as the command line gives them: names, cells and weight then. */
static void words_of_the_command_line_change_what_they_name_alone(void **state)
{
    (void)state;
    static const struct {
        const char *text, *name;
        uint32_t weight, cells[MYR_CELL_LEVELS];
    } cases[] = {
        {"a=1n", "a", 1, {1, 0, 0}},
        {"a=2g", "a", 1, {1, 2, 0}},
        {"a=3p,4w", "a", 4, {1, 2, 3}},
        {"a=0n", "a", 4, {0, 2, 3}},
        {"a=1w", "a", 1, {0, 2, 3}},
        {"a/b=1000000n,1000000g,1000000p,1000000w", "b", 1000000, {1000000, 1000000, 1000000}},
        {"b/c=5p,6g,7n", "c", 1, {7, 6, 5}},
        {"a/b/c/d=1n", "d", 1, {1, 0, 0}},
        {"x=y=1n", "x=y", 1, {1, 0, 0}}, /* the last sign counts */
    };
    struct myr_tenant_tree tree;
    struct myr_err err = {};
    myr_tenant_tree_init(&tree);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        assert_int_equal(myr_tenant_tree_own(&tree, cases[i].text, &err), MYR_OK);
        uint32_t at = myr_strmap_get(&tree.by_name, myr_str_from(cases[i].name));
        assert_int_not_equal(at, MYR_NONE);
        const struct myr_tenant_entry *entry = &tree.entries.items[at];
        assert_string_equal(entry->name, cases[i].name);
        assert_true(entry->wanted);
        assert_int_equal(entry->tenant.weight, cases[i].weight);
        assert_memory_equal(entry->tenant.cells, cases[i].cells, sizeof(cases[i].cells));
    }
    static const uint32_t parents[] = {MYR_NONE, 0, 1, 2, MYR_NONE};
    assert_int_equal(tree.entries.count, MYR_ARRAY_COUNT(parents));
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(parents); i++) {
        assert_int_equal(tree.entries.items[i].tenant.parent, parents[i]);
    }
    myr_tenant_tree_done(&tree);
}

static void words_that_are_refused_are_told_why(void **state)
{
    (void)state;
    static const char path[] = "TENANT=CELLS is expected";
    static const char cells[] = "cells are numbers of n (nodes), g (leaf groups) or p (pods), such "
                                "as 4n,2g; and 3w is a weight";
    static const struct {
        const char *text, *why;
        int rc;
    } cases[] = {
        {"a", path, MYR_EINVAL},
        {"=1n", path, MYR_EINVAL},
        {"a/=1n", path, MYR_EINVAL},
        {"a//b=1n", path, MYR_EINVAL},
        {"a=", cells, MYR_EINVAL},
        {"a=n", cells, MYR_EINVAL},
        {"a=1n,", cells, MYR_EINVAL},
        {"a=1n,1n", cells, MYR_EINVAL},
        {"a=1w,1w", cells, MYR_EINVAL},
        {"a=0w", cells, MYR_EINVAL},
        {"a=1000001n", cells, MYR_EINVAL},
        {"a=1000001w", cells, MYR_EINVAL},
        {"x/c=1n", "a tenant of it stands elsewhere in the tree", MYR_EINVAL},
        {"a/c=1n", "a tenant of it stands elsewhere in the tree", MYR_EINVAL},
        {"b/c/d/e=1n", "tenants are at most four deep", MYR_ERANGE},
        {"a/b/c/d/e=1n", "tenants are at most four deep", MYR_ERANGE},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_tenant_tree tree;
        struct myr_err err = {};
        char message[256];
        myr_tenant_tree_init(&tree);
        assert_int_equal(myr_tenant_tree_own(&tree, "a/b/c=1n", &err), MYR_OK);
        assert_int_equal(myr_tenant_tree_own(&tree, cases[i].text, &err), cases[i].rc);
        snprintf(message, sizeof(message), "--own '%s': %s", cases[i].text, cases[i].why);
        assert_string_equal(err.message, message);
        myr_tenant_tree_done(&tree);
    }
}

/* Each: a tree, and what is said of it. */
static void files_that_are_refused_are_told_why(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"tenants:\n  a: {}\n  b: {tenants: {a: }}\n",
         "t.yaml:3:17: tenant 'a' stands in the tree twice"},
        {"tenants:\n  \"\": {}\n", "t.yaml:2:3: '' is no name of a tenant"},
        {"tenants: {a: {tenants: {b: {tenants: {c: {tenants: {d: {tenants: {e: }}}}}}}}}\n",
         "t.yaml:1:67: tenant 'e' is below 4 others, at most 3"},
        {"tenants:\n  a: {cells: 1000001n}\n",
         "t.yaml:2:14: 'cells' is '1000001n', numbers of n (nodes), g (leaf groups) or p (pods) "
         "such as 4n,2g are expected"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_tenant_tree tree;
        struct myr_err err = {};
        myr_tenant_tree_init(&tree);
        assert_true(myr_tenant_tree_parse(&tree, "t.yaml", myr_str_from(cases[i].text), &err) < 0);
        assert_string_equal(err.message, cases[i].message);
        myr_tenant_tree_done(&tree);
    }
}

/* Only who was named on the command line, and has nobody below it, must be in the trace. */
static void a_tenant_with_others_below_it_needs_no_jobs(void **state)
{
    (void)state;
    static const struct {
        const char *own;
        int rc;
    } cases[] = {{"vision=1n", MYR_OK},       {"org/vision=1n", MYR_OK},
                 {"org=1n", MYR_ENOENT},      {"vision/org=1n", MYR_ENOENT},
                 {"research=1n", MYR_ENOENT}, {"org/other/vision=1w", MYR_OK}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_tenant_tree tree;
        struct myr_joblog trace;
        struct myr_tenant *tenants = NULL;
        struct myr_err err = {};
        struct myr_str text = MYR_STR("submit_s,duration_s,gpus,vc\n1,2,3,vision\n1,2,3,z\n");
        struct myr_str file = MYR_STR("tenants: {research: {}}\n");
        assert_int_equal(myr_joblog_parse(&trace, "j.csv", text, &err), MYR_OK);
        myr_tenant_tree_init(&tree);
        assert_int_equal(myr_tenant_tree_parse(&tree, "t.yaml", file, &err), MYR_OK);
        assert_int_equal(myr_tenant_tree_own(&tree, cases[i].own, &err), MYR_OK);
        assert_int_equal(myr_tenant_tree_join(&tree, &trace, &tenants, &err), cases[i].rc);
        if (cases[i].rc == MYR_OK) {
            assert_string_equal(trace.tenant_names[trace.jobs.items[0].tenant], "vision");
            assert_int_equal(trace.jobs.items[1].tenant, trace.tenants - 1);
            assert_int_equal(tenants[trace.tenants - 1].weight, 1);
        } else {
            assert_int_equal(trace.tenants, 2); /* untouched */
        }
        myr_tenant_tree_done(&tree);
        myr_joblog_done(&trace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_counted_in_nodes),
        cmocka_unit_test(a_cluster_holds_the_cells_of_all_tenants),
        cmocka_unit_test(tenants_make_a_tree_of_four_levels_at_most),
        cmocka_unit_test(words_of_the_command_line_change_what_they_name_alone),
        cmocka_unit_test(words_that_are_refused_are_told_why),
        cmocka_unit_test(files_that_are_refused_are_told_why),
        cmocka_unit_test(a_tenant_with_others_below_it_needs_no_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
