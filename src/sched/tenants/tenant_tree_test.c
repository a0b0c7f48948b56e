#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "myriad/sched.h"

static const char trace_text[] = "submit_s,duration_s,num_gpus,vc\n"
                                 "0,10,1,alone\n"
                                 "1,10,1,vision\n"
                                 "2,10,1,language\n"
                                 "3,10,1,vision\n";

static const char tree_text[] = "tenants:\n"
                                "  research:\n"
                                "    weight: 3\n"
                                "    cells: 1p,2g\n"
                                "    tenants:\n"
                                "      vision: {weight: 2, cells: {nodes: 4}}\n"
                                "      language:\n"
                                "  product: {}\n";

static void read_trace(struct myr_joblog *trace)
{
    struct myr_err err = {};
    assert_int_equal(myr_joblog_parse(trace, "jobs.csv", myr_str_from(trace_text), &err), MYR_OK);
}

static uint32_t find(const struct myr_joblog *trace, const char *name)
{
    for (uint32_t t = 0; t < trace->tenants; t++) {
        if (strcmp(trace->tenant_names[t], name) == 0) {
            return t;
        }
    }
    fail_msg("no tenant %s", name);
    return MYR_NONE;
}

static void a_file_gives_parents_weights_and_cells(void **state)
{
    (void)state;
    struct myr_tenant_tree tree;
    struct myr_joblog trace;
    struct myr_tenant *tenants;
    struct myr_err err = {};
    read_trace(&trace);
    myr_tenant_tree_init(&tree);
    assert_int_equal(myr_tenant_tree_parse(&tree, "t.yaml", myr_str_from(tree_text), &err), MYR_OK);
    assert_int_equal(myr_tenant_tree_join(&tree, &trace, &tenants, &err), MYR_OK);
    myr_tenant_tree_done(&tree);
    assert_int_equal(trace.tenants, 5);
    uint32_t research = find(&trace, "research"), vision = find(&trace, "vision");
    assert_int_equal(tenants[research].weight, 3);
    assert_int_equal(tenants[research].parent, MYR_NONE);
    assert_int_equal(tenants[research].cells[MYR_CELL_POD], 1);
    assert_int_equal(tenants[research].cells[MYR_CELL_GROUP], 2);
    assert_int_equal(tenants[vision].parent, research);
    assert_int_equal(tenants[vision].weight, 2);
    assert_int_equal(tenants[vision].cells[MYR_CELL_NODE], 4);
    assert_int_equal(tenants[find(&trace, "language")].parent, research);
    assert_int_equal(tenants[find(&trace, "alone")].parent, MYR_NONE);
    assert_int_equal(tenants[find(&trace, "product")].parent, MYR_NONE);
    for (uint32_t t = 0; t < trace.tenants; t++) {
        assert_true(tenants[t].parent == MYR_NONE || tenants[t].parent < t);
    }
    assert_int_equal(trace.jobs.items[0].tenant, find(&trace, "alone"));
    assert_int_equal(trace.jobs.items[1].tenant, vision);
    assert_int_equal(trace.jobs.items[3].tenant, vision);
    myr_joblog_done(&trace);
}

static void the_command_line_makes_trees_too(void **state)
{
    (void)state;
    struct myr_tenant_tree tree;
    struct myr_joblog trace;
    struct myr_tenant *tenants;
    struct myr_err err = {};
    read_trace(&trace);
    myr_tenant_tree_init(&tree);
    assert_int_equal(myr_tenant_tree_own(&tree, "org/research/vision=2n,5w", &err), MYR_OK);
    assert_int_equal(myr_tenant_tree_own(&tree, "org/research/language=1g", &err), MYR_OK);
    assert_int_equal(myr_tenant_tree_own(&tree, "vision=3n", &err), MYR_OK); /* as it stands */
    assert_int_equal(myr_tenant_tree_join(&tree, &trace, &tenants, &err), MYR_OK);
    myr_tenant_tree_done(&tree);
    uint32_t vision = find(&trace, "vision"), research = find(&trace, "research");
    assert_int_equal(tenants[vision].parent, research);
    assert_int_equal(tenants[vision].weight, 5);
    assert_int_equal(tenants[vision].cells[MYR_CELL_NODE], 3);
    assert_int_equal(tenants[research].parent, find(&trace, "org"));
    assert_int_equal(tenants[find(&trace, "language")].cells[MYR_CELL_GROUP], 1);
    myr_joblog_done(&trace);
}

static void bad_words_on_the_command_line_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "a",     "a=",    "a=x",     "a=1",         "a=1n,",        "=1n",
        "a/=1n", "/a=1n", "a//b=1n", "a=1n,2n",     "a=0w",         "a=-1n",
        "a=n",   "a=,1n", "a=1n;2g", "b/vision=1n", "a/b/c/d/e=1n", "a=9999999n"};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        struct myr_tenant_tree tree;
        struct myr_err err = {};
        myr_tenant_tree_init(&tree);
        assert_int_equal(myr_tenant_tree_own(&tree, "a/vision=1n", &err), MYR_OK);
        if (myr_tenant_tree_own(&tree, bad[i], &err) == MYR_OK) {
            fail_msg("'%s' is taken", bad[i]);
        }
        assert_non_null(strstr(err.message, "--own"));
        myr_tenant_tree_done(&tree);
    }
    struct myr_tenant_tree tree;
    struct myr_joblog trace;
    struct myr_tenant *tenants;
    struct myr_err err = {};
    read_trace(&trace);
    myr_tenant_tree_init(&tree);
    assert_int_equal(myr_tenant_tree_own(&tree, "visoin=1n", &err), MYR_OK);
    assert_int_equal(myr_tenant_tree_join(&tree, &trace, &tenants, &err), MYR_ENOENT);
    assert_non_null(strstr(err.hint, "vision"));
    myr_tenant_tree_done(&tree);
    myr_joblog_done(&trace);
}

static void bad_files_are_named_by_line_and_column(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"", "t.yaml:1:1: "},
        {"tenant: {}\n", "t.yaml:1:1: "},
        {"tenants: 3\n", "t.yaml:1:10: "},
        {"tenants:\n  a: 3\n", "t.yaml:2:6: "},
        {"tenants:\n  a: {wight: 3}\n", "t.yaml:2:7: "},
        {"tenants:\n  a: {weight: 0}\n", "t.yaml:2:15: "},
        {"tenants:\n  a: {weight: much}\n", "t.yaml:2:15: "},
        {"tenants:\n  a: {cells: 3}\n", "t.yaml:2:14: "},
        {"tenants:\n  a: {cells: 3w}\n", "t.yaml:2:14: 'cells' is '3w', numbers of n"},
        {"tenants:\n  a: {cells: [1]}\n", "t.yaml:2:14: 'cells' is a list, text is expected"},
        {"tenants:\n  a: {cells: {nodes: 1000001}}\n", "t.yaml:2:22: "},
        {"tenants:\n  a: {cells: {racks: 3}}\n", "t.yaml:2:15: "},
        {"tenants:\n  a: {cells: {nodes: -1}}\n", "t.yaml:2:22: "},
        {"tenants:\n  a: {tenants: {b: {tenants: {a: }}}}\n", "t.yaml:2:31: "},
        {"tenants: {a: {tenants: {b: {tenants: {c: {tenants: {d: {tenants: {e: }}}}}}}}}\n",
         "t.yaml:1:67: "},
        {"tenants:\n  \"a\\0b\": {}\n", "t.yaml:2:3: "},
        {"tenants:\n  \"\": {}\n", "t.yaml:2:3: "},
    };
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        struct myr_tenant_tree tree;
        struct myr_err err = {};
        myr_tenant_tree_init(&tree);
        if (myr_tenant_tree_parse(&tree, "t.yaml", myr_str_from(bad[i].text), &err) == MYR_OK ||
            strncmp(err.message, bad[i].message, strlen(bad[i].message)) != 0) {
            fail_msg("case %u: '%s'", i, err.message);
        }
        myr_tenant_tree_done(&tree);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_gives_parents_weights_and_cells),
        cmocka_unit_test(the_command_line_makes_trees_too),
        cmocka_unit_test(bad_words_on_the_command_line_are_refused),
        cmocka_unit_test(bad_files_are_named_by_line_and_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
