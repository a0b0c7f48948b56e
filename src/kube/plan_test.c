/* A gang that was bound in part: rank 0 tells where the others were to go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "kube_test.h"
#include "leaks.h"

enum { SIZE = 4, NODES = 8 };

/* What a scheduler decided that died when only some of it was bound. */
static struct {
    char plan[400], placement[64], master[64], nodes[SIZE][16];
} left;

static void put_node(struct myr_kube_cluster *c, uint32_t i)
{
    tell(c, MYR_KUBE_NODES, 0,
         "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"n%u\",\"uid\":\"n%u\"},"
         "\"status\":{\"allocatable\":{\"nvidia.com/"
         "gpu\":\"8\",\"pods\":\"9\"},\"addresses\":[{\"type\":"
         "\"InternalIP\",\"address\":\"10.0.0.%u\"}],"
         "\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}}",
         i, i, i);
}

/* 'uid' tells a pod from one that has its name since. */
static void put_pod(struct myr_kube_cluster *c, uint32_t i, const char *uid, const char *node,
                    const char *notes)
{
    tell(c, MYR_KUBE_PODS, 0,
         "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"g-%u\",\"namespace\":\"d\","
         "\"uid\":\"%s-%u\",\"ownerReferences\":[{\"kind\":\"Job\",\"apiVersion\":\"batch/v1\","
         "\"name\":\"g\",\"uid\":\"j\",\"controller\":true}],\"annotations\":{\"myriad/gang\":\"g\""
         ",\"myriad/gang-size\":\"%d\"%s}},\"spec\":{\"schedulerName\":\"myriad\",\"hostNetwork\":"
         "true,\"nodeName\":\"%s\",\"containers\":[{\"resources\":{\"requests\":"
         "{\"nvidia.com/gpu\":\"8\"}}}]},\"status\":{\"phase\":\"Pending\"}}}",
         i, uid, i, SIZE, notes, node);
}

static struct myr_kube_cluster *new_cluster(void)
{
    struct myr_kube_policy policy = myr_kube_policy_default();
    struct myr_kube_cluster *c = myr_kube_cluster_create(&policy);
    for (uint32_t i = 0; i < NODES; i++) {
        put_node(c, i);
    }
    return c;
}

/* Bound, with what the binding of that rank wrote. */
static void put_bound(struct myr_kube_cluster *c, uint32_t rank, const char *plan)
{
    char notes[900];
    snprintf(notes, sizeof(notes),
             ",\"myriad/rank\":\"%u\",\"myriad/world-size\":\"%d\",\"myriad/node\":\"%s\","
             "\"myriad/placement\":\"%s\",\"myriad/master-addr\":\"%s\"%s%s%s",
             rank, SIZE, left.nodes[rank], left.placement, left.master,
             plan ? ",\"myriad/plan\":\"" : "", plan ? plan : "", plan ? "\"" : "");
    put_pod(c, rank, "u", left.nodes[rank], notes);
}

static int begin(void **state)
{
    struct myr_kube_cluster *c = new_cluster();
    uint32_t count;
    (void)state;
    for (uint32_t i = 0; i < SIZE; i++) {
        put_pod(c, i, "u", "", "");
    }
    const struct myr_kube_decision *d = myr_kube_decide(c, 0, 7, &count);
    assert_int_equal(count, 1);
    assert_true(d->act == MYR_KUBE_BIND && d->seat_count == SIZE && d->world == SIZE);
    assert_non_null(d->plan);
    snprintf(left.plan, sizeof(left.plan), "%s", d->plan);
    snprintf(left.placement, sizeof(left.placement), "%s", d->placement);
    snprintf(left.master, sizeof(left.master), "%s", d->master);
    for (uint32_t i = 0; i < SIZE; i++) {
        snprintf(left.nodes[i], sizeof(left.nodes[i]), "%s", d->seats[i].node);
    }
    myr_kube_cluster_free(c);
    return 0;
}

static void the_rest_goes_where_it_was_to_go(void **state)
{
    uint32_t count;
    (void)state;
    for (uint32_t bound = 1; bound < SIZE; bound++) { /* those before it, and the last pod not */
        struct myr_kube_cluster *c = new_cluster();
        for (uint32_t i = 0; i < bound; i++) {
            put_bound(c, i, i == 0 ? left.plan : NULL);
        }
        for (uint32_t i = SIZE; i-- > bound;) { /* in whatever order they are told */
            put_pod(c, i, "u", "", "");
        }
        const struct myr_kube_decision *d = myr_kube_decide(c, 0, 8, &count);
        assert_int_equal(count, 1);
        assert_true(d->act == MYR_KUBE_BIND && d->finishes && d->seat_count == SIZE);
        assert_int_equal(d->world, SIZE);
        assert_string_equal(d->placement, left.placement);
        assert_string_equal(d->master, left.master);
        for (uint32_t i = 0; i < SIZE; i++) {
            assert_int_equal(d->seats[i].rank, i);
            assert_string_equal(d->seats[i].node, left.nodes[i]);
            assert_int_equal(d->seats[i].bound, i < bound);
        }
        myr_kube_cluster_free(c);
    }
}

static void a_plan_that_holds_no_more_is_none(void **state)
{
    char other_digest[400], fewer[400], unknown[400];
    (void)state;
    memcpy(other_digest, left.plan, sizeof(other_digest));
    other_digest[0] = left.plan[0] == '0' ? '1' : '0';
    snprintf(fewer, sizeof(fewer), "%.17s%s,%s", left.plan, left.nodes[0], left.nodes[1]);
    snprintf(unknown, sizeof(unknown), "%.17sx1,x2,x3,x4", left.plan);
    const struct {
        const char *plan, *uid; /* uid: of the last pod */
        bool taken;             /* the last pod's node, by somebody else */
    } cases[] = {{left.plan, "again", false}, {left.plan, "u", true}, {other_digest, "u", false},
                 {fewer, "u", false},         {unknown, "u", false},  {"", "u", false},
                 {";", "u", false},           {NULL, "u", false}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_kube_cluster *c = new_cluster();
        uint32_t count;
        put_bound(c, 0, cases[i].plan);
        put_pod(c, 1, "u", "", "");
        put_pod(c, 2, "u", "", "");
        put_pod(c, 3, cases[i].uid, "", "");
        if (cases[i].taken) {
            tell(c, MYR_KUBE_PODS, 0,
                 "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"x\",\"namespace\":\"d\","
                 "\"uid\":\"x\"},\"spec\":{\"nodeName\":\"%s\",\"containers\":[{\"resources\":"
                 "{\"requests\":{\"nvidia.com/gpu\":\"1\"}}}]}}}",
                 left.nodes[3]);
        }
        const struct myr_kube_decision *d = myr_kube_decide(c, 0, 8, &count);
        assert_int_equal(count, 1);
        assert_int_equal(d->act, MYR_KUBE_REMAKE);
        myr_kube_cluster_free(c);
    }
}

/* All annotations of an object may have 262,144 bytes: a plan has less than 160,000. */
static void a_plan_is_so_long_at_most(void **state)
{
    static char names[2][80000];
    (void)state;
    for (size_t length = 159998; length <= 160001; length++) {
        MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
        size_t nodes = length - 16 - 2; /* the digest, and a mark before each */
        memset(names, 0, sizeof(names));
        memset(names[0], 'n', nodes / 2);
        memset(names[1], 'm', nodes - nodes / 2);
        const struct myr_kube_seat seats[] = {{.uid = "a", .node = names[0], .rank = 0},
                                              {.uid = "b", .node = names[1], .rank = 1}};
        const char *plan = kube_plan_make(&arena, seats, 2);
        assert_int_equal(plan != NULL, length < 160000);
        assert_true(!plan || strlen(plan) == length);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rest_goes_where_it_was_to_go),
        cmocka_unit_test(a_plan_that_holds_no_more_is_none),
        cmocka_unit_test(a_plan_is_so_long_at_most),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
