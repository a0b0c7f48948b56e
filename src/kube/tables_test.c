/*
 * What is kept of nodes and pods as they come and go: places that nobody has, lists that are told
 * anew, the fabric's order, what is taken of a node.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "kube_test.h"
#include "leaks.h"

static struct myr_kube_cluster *new_cluster(void)
{
    struct myr_kube_policy policy = myr_kube_policy_default();
    return myr_kube_cluster_create(&policy);
}

static void pod(struct myr_kube_cluster *c, const char *type, uint32_t i, const char *node)
{
    tell(c, MYR_KUBE_PODS, 1000,
         "{'type':'%s','object':{'metadata':{'name':'p-%u','namespace':'d','uid':'u-%u',"
         "'annotations':{}},'spec':{'schedulerName':'myriad','nodeName':'%s','containers':[{"
         "'resources':{'requests':{'gpu':'1'}}}]},'status':{'phase':'Pending'}}}",
         type, i, i, node);
}

static void node(struct myr_kube_cluster *c, const char *name, const char *labels)
{
    tell(c, MYR_KUBE_NODES, 1000,
         "{'type':'ADDED','object':{'metadata':{'name':'%s','uid':'%s','labels':{%s}},'status':{"
         "'allocatable':{'gpu':'8','pods':'99'},'conditions':[{'type':'Ready','status':'True'}]}}}",
         name, name, labels);
}

/* Each is found by its name, and what it was kept under is its own. */
static void check_tables(const struct myr_kube_cluster *c)
{
    uint32_t pods_gone = 0, gangs_gone = 0;
    assert_int_equal(c->pods.count, c->pod_keys.count);
    assert_int_equal(c->gangs.count, c->gang_keys.count);
    for (uint32_t i = 0; i < c->pods.count; i++) {
        const struct kube_pod *p = c->pods.items[i];
        pods_gone += !p;
        assert_int_equal(kube_pod_find(c, myr_str_from(c->pod_keys.items[i])), i);
        assert_true(!p || myr_str_eq(p->uid, myr_str_from(c->pod_keys.items[i])));
        assert_true(!p || p->gang_of->pods[p->seat] == p);
    }
    for (uint32_t i = 0; i < c->gangs.count; i++) {
        const struct kube_gang *g = c->gangs.items[i];
        gangs_gone += !g;
        assert_true(kube_gang_find(c, myr_str_from(c->gang_keys.items[i])) == g);
        assert_true(!g || (g->id == i && strcmp(g->key, c->gang_keys.items[i]) == 0));
    }
    assert_int_equal(c->pods_gone, pods_gone);
    assert_int_equal(c->gangs_gone, gangs_gone);
}

/* A thousand that are gone are forgotten, when they are half of all. */
static void places_that_nobody_has_are_given_back(void **state)
{
    (void)state;
    for (uint32_t stay = 0; stay < 3; stay++) {
        struct myr_kube_cluster *c = new_cluster();
        const uint32_t kept = stay == 0 ? 0 : stay == 1 ? 1023 : 1100, gone = 1024;
        uint32_t count;
        for (uint32_t i = 0; i < kept + gone; i++) {
            pod(c, "ADDED", i, "");
        }
        (void)myr_kube_decide(c, 1000, 1, &count);
        for (uint32_t i = 0; i < gone; i++) {
            assert_int_equal(c->pods.count, kept + gone);
            assert_int_equal(c->gangs.count, kept + gone);
            pod(c, "DELETED", 2 * i < kept ? 2 * i : i + kept / 2 + (kept % 2), "");
            if (i % 200 == 0 || i + 3 > gone) {
                check_tables(c);
            }
        }
        uint32_t after = kept < gone ? kept : kept + gone;
        assert_int_equal(c->pods.count, after);
        assert_int_equal(c->gangs.count, after);
        assert_int_equal(myr_kube_counts(c).pods, kept);
        pod(c, "ADDED", 0, ""); /* it has its place again, or another one */
        pod(c, "ADDED", 70000, "");
        check_tables(c);
        assert_int_equal(myr_kube_counts(c).pods, kept + 2);
        node(c, "n", "");
        const struct myr_kube_decision *d = myr_kube_decide(c, 1000, 1, &count);
        uint32_t bound = 0;
        for (uint32_t i = 0; i < count; i++) {
            bound += d[i].act == MYR_KUBE_BIND;
        }
        assert_int_equal(bound, kept + 2 < 8 ? kept + 2 : 8);
        myr_kube_cluster_free(c);
    }
}

static void list(struct myr_kube_cluster *c, enum myr_kube_kind kind, bool first, bool more,
                 uint32_t from, uint32_t until)
{
    struct myr_kube_page page = {};
    struct myr_buf text = {};
    myr_buf_printf(&text,
                   "{\"metadata\":{\"resourceVersion\":\"7\",\"continue\":\"%s\"},\"items\":[",
                   more ? "x" : "");
    for (uint32_t i = from; i < until; i++) {
        myr_buf_printf(&text,
                       "%s{\"metadata\":{\"name\":\"p-%u\",\"namespace\":\"d\",\"uid\":\"u-%u\"},"
                       "\"spec\":{\"schedulerName\":\"myriad\"}}",
                       i > from ? "," : "", i, i);
    }
    myr_buf_puts(&text, "]}");
    assert_int_equal(
        myr_kube_list(c, kind, first, (struct myr_str){text.data, text.len}, 1000, &page, NULL),
        MYR_OK);
    assert_int_equal(page.items, until - from);
    assert_int_equal(page.more.len, more);
    myr_buf_done(&page.more);
    myr_buf_done(&text);
}

/* What no page names is gone, also where places are given back meanwhile. */
static void lists_are_whole_with_their_last_page(void **state)
{
    (void)state;
    for (uint32_t kind = 0; kind < MYR_KUBE_KINDS; kind++) {
        struct myr_kube_cluster *c = new_cluster();
        enum myr_kube_kind k = (enum myr_kube_kind)kind;
        for (uint32_t round = 0; round < 3; round++) {
            uint32_t from = 700 * round, until = from + 1500;
            list(c, k, true, true, from, from + 600);
            struct myr_kube_counts n = myr_kube_counts(c);
            assert_int_equal(k == MYR_KUBE_PODS ? n.pods : n.nodes, round ? 1500 : 600);
            list(c, k, false, false, from + 600, until);
            n = myr_kube_counts(c);
            assert_int_equal(k == MYR_KUBE_PODS ? n.pods : n.nodes, 1500);
            assert_int_equal(k == MYR_KUBE_PODS ? n.nodes : n.pods, 0);
            check_tables(c);
        }
        list(c, k, true, false, 0, 0);
        struct myr_kube_counts n = myr_kube_counts(c);
        assert_int_equal(n.pods + n.nodes, 0);
        check_tables(c);
        myr_kube_cluster_free(c);
    }
}

/* One that is under way is kept until it is over, though none of its pods is left. */
static void a_gang_goes_with_its_last_pod(void **state)
{
    struct myr_kube_cluster *c = new_cluster();
    uint32_t count;
    (void)state;
    node(c, "n", "");
    pod(c, "ADDED", 1, "");
    const struct myr_kube_decision *d = myr_kube_decide(c, 1000, 1, &count);
    assert_true(count == 1 && d->act == MYR_KUBE_BIND);
    pod(c, "DELETED", 1, "");
    assert_non_null(c->gangs.items[0]);
    assert_int_equal(c->gangs_gone, 0);
    myr_kube_over(c, "d/p-1/u-1", true);
    assert_null(c->gangs.items[0]);
    assert_int_equal(c->gangs_gone, 1);
    myr_kube_over(c, "d/p-1/u-1", true); /* nobody knows it any more */
    myr_kube_over(c, "d/p-2/u-2", true);
    check_tables(c);
    myr_kube_cluster_free(c);
}

/* The quick way is as strict. */
static void pods_without_a_name_are_refused(void **state)
{
    static const char *const metas[] = {"'name':'../x','namespace':'d','uid':'u'",
                                        "'name':'x','namespace':'d/e','uid':'u'",
                                        "'name':'x','namespace':'d','uid':''"};
    struct myr_kube_cluster *c = new_cluster();
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(metas); i++) {
        char line[300];
        struct myr_kube_said said;
        struct myr_err err = {};
        snprintf(line, sizeof(line),
                 "{'type':'ADDED','object':{'metadata':{%s},'spec':{'containers':[]},'status':{}}}",
                 metas[i]);
        for (char *at = line; *at; at++) {
            *at = (char)(*at == '\'' ? '"' : *at);
        }
        assert_int_equal(myr_kube_line(c, MYR_KUBE_PODS, myr_str_from(line), 1, &said, &err),
                         MYR_EINVAL);
        assert_non_null(strstr(err.message, "a pod without a proper name and uid"));
    }
    assert_int_equal(myr_kube_counts(c).pods, 0);
    myr_kube_cluster_free(c);
}

/* --- the fabric's order */

static void expect_order(struct myr_kube_cluster *c, uint32_t size, const char *wanted)
{
    struct myr_buf text = {};
    kube_order(c);
    assert_int_equal(c->shape.group_nodes, size);
    assert_int_equal(c->shape.nodes % size, 0);
    assert_int_equal(c->shape.pod_nodes, c->shape.nodes);
    assert_int_equal(c->shape.gpus_per_node, 1);
    for (uint32_t i = 0; i < c->shape.nodes; i++) {
        uint32_t id = c->node_at[i];
        myr_buf_printf(&text, "%s%s", i ? i % size ? " " : "|" : "",
                       id == MYR_NONE ? "-" : c->nodes.items[id]->name.data);
        assert_true(id == MYR_NONE || c->nodes.items[id]->place == i);
    }
    assert_string_equal(text.len ? text.data : "", wanted);
    myr_buf_done(&text);
}

static void nodes_stand_by_their_leaves(void **state)
{
    struct myr_kube_policy policy = myr_kube_policy_default();
    (void)state;
    policy.nodes_per_leaf = 3;
    policy.leaf_labels[2] = "third";
    policy.leaf_labels[3] = "last";
    struct myr_kube_cluster *c = myr_kube_cluster_create(&policy);
    expect_order(c, 3, "");
    for (uint32_t i = 12; i-- > 8;) {
        char name[16];
        snprintf(name, sizeof(name), "n%u", i);
        node(c, name, "");
    }
    expect_order(c, 3, "n8 n9 n10|n11 - -");
    node(c, "a2", "'myriad/leaf':'l10'");
    node(c, "a1", "'myriad/leaf':'l10','third':'l2'");
    expect_order(c, 2, "n8 n9|n10 n11|a1 a2");
    node(c, "b1", "'third':'l2','last':'x'");
    expect_order(c, 2, "n8 n9|n10 n11|b1 -|a1 a2");
    node(c, "b2", "'last':'l2'");
    node(c, "b3", "'network.topology.nvidia.com/leaf':'l2','last':'l10'");
    expect_order(c, 3, "n8 n9 n10|n11 - -|b1 b2 b3|a1 a2 -");
    tell(c, MYR_KUBE_NODES, 1, "{'type':'DELETED','object':{'metadata':{'name':'b2','uid':'b2'}}}");
    node(c, "a2", "'myriad/leaf':'l2'"); /* moved to another */
    expect_order(c, 3, "n8 n9 n10|n11 - -|a2 b1 b3|a1 - -");
    node(c, "n9", "'other':'x'"); /* another label says nothing of it */
    assert_false(c->order_stale);
    expect_order(c, 3, "n8 n9 n10|n11 - -|a2 b1 b3|a1 - -");
    myr_kube_cluster_free(c);
    policy.nodes_per_leaf = 0;
    c = myr_kube_cluster_create(&policy);
    node(c, "n1", "");
    expect_order(c, 8, "n1 - - - - - - -");
    myr_kube_cluster_free(c);
}

/* --- what is taken of a node */

static void with_ports(struct myr_kube_cluster *c, const char *type, uint32_t i, uint32_t from,
                       uint32_t count)
{
    char ports[600] = "";
    for (uint32_t k = 0; k < count; k++) {
        size_t used = strlen(ports);
        snprintf(ports + used, sizeof(ports) - used, "%s{'hostPort':%u}", k ? "," : "", from + k);
    }
    tell(c, MYR_KUBE_PODS, 1000,
         "{'type':'%s','object':{'metadata':{'name':'o-%u','namespace':'d','uid':'o-%u'},'spec':{"
         "'nodeName':'n','containers':[{'ports':[%s]}]},'status':{'phase':'Running'}}}",
         type, i, i, ports);
}

static bool is_port_free(struct myr_kube_cluster *c, uint32_t port)
{
    struct kube_needs needs = {.ports = {port}, .port_count = 1};
    kube_use_ready(c);
    return kube_fits(c, &needs, 0);
}

/* Sixty-four are known one by one; where there are more all others are taken to be. */
static void ports_are_counted_as_pods_come_and_go(void **state)
{
    struct myr_kube_cluster *c = new_cluster();
    (void)state;
    node(c, "n", "");
    for (uint32_t i = 0; i < 4; i++) {
        with_ports(c, "ADDED", i, 100 * i + 1, 16);
        for (uint32_t k = 0; k < 17; k++) {
            assert_int_equal(is_port_free(c, 100 * i + 1 + k), k == 16);
        }
    }
    assert_int_equal(c->use[0].port_count, 64);
    const struct kube_needs last = {.ports = {5000, 5001, 316}, .port_count = 3};
    const struct kube_needs none = {.ports = {5000, 5001, 317}, .port_count = 3};
    assert_false(kube_fits(c, &last, 0)); /* each of them counts */
    assert_true(kube_fits(c, &none, 0));
    with_ports(c, "ADDED", 4, 1000, 1);
    assert_false(is_port_free(c, 999));
    assert_int_equal(c->use[0].port_count, 65);
    with_ports(c, "ADDED", 5, 2000, 1);
    assert_false(is_port_free(c, 999));
    with_ports(c, "DELETED", 2, 201, 16); /* which are left is counted anew */
    assert_int_equal(is_port_free(c, 1000), false);
    assert_int_equal(c->use[0].port_count, 50);
    for (uint32_t i = 0; i < 6; i++) {
        uint32_t first = i < 4 ? 100 * i + 1 : i == 4 ? 1000 : 2000;
        assert_int_equal(is_port_free(c, first), i == 2);
        if (i != 2) {
            with_ports(c, "DELETED", i, first, i < 4 ? 16 : 1);
            assert_true(is_port_free(c, first));
        }
    }
    assert_int_equal(c->use[0].port_count, 0);
    myr_kube_cluster_free(c);
}

static int64_t used(const struct myr_kube_cluster *c, uint32_t at, const char *what)
{
    return c->use[at].used[myr_strmap_get(&c->resources.ids, myr_str_from(what))];
}

/* Pods that are told of before their node, move, are over, or ask for more than a number holds. */
static void amounts_are_counted_as_pods_come_and_go(void **state)
{
    struct myr_kube_cluster *c = new_cluster();
    (void)state;
    pod(c, "ADDED", 1, "n");
    node(c, "n", "");
    node(c, "m", "");
    kube_use_ready(c);
    assert_int_equal(used(c, 0, "gpu"), 1000);
    assert_int_equal(used(c, 0, "pods"), 1000);
    pod(c, "ADDED", 2, "n");
    pod(c, "ADDED", 3, "m");
    assert_int_equal(used(c, 0, "gpu"), 2000);
    assert_int_equal(used(c, 1, "gpu"), 1000);
    uint64_t stamp = c->stamp_of[0], other = c->stamp_of[1];
    pod(c, "MODIFIED", 2, "n"); /* as it was */
    assert_int_equal(c->stamp_of[0], stamp);
    pod(c, "MODIFIED", 2, "m");
    assert_true(c->stamp_of[0] != stamp && c->stamp_of[1] != other);
    assert_int_equal(used(c, 0, "gpu"), 1000);
    assert_int_equal(used(c, 1, "gpu"), 2000);
    pod(c, "DELETED", 1, "n");
    assert_int_equal(used(c, 0, "gpu"), 0);
    for (uint32_t i = 0; i < 3; i++) {
        tell(c, MYR_KUBE_PODS, 1000,
             "{'type':'ADDED','object':{'metadata':{'name':'b-%u','namespace':'d','uid':'b-%u'},"
             "'spec':{'nodeName':'n','containers':[{'resources':{'requests':{'gpu':'5P'}}}]},"
             "'status':{'phase':'Running'}}}",
             i, i);
        assert_int_equal(used(c, 0, "gpu"), i ? INT64_MAX : 5000000000000000000);
    }
    assert_true(c->use_stale);
    tell(c, MYR_KUBE_PODS, 1000,
         "{'type':'DELETED','object':{'metadata':{'name':'b-0','namespace':'d','uid':'b-0'}}}");
    tell(c, MYR_KUBE_PODS, 1000,
         "{'type':'DELETED','object':{'metadata':{'name':'b-1','namespace':'d','uid':'b-1'}}}");
    kube_use_ready(c);
    assert_int_equal(used(c, 0, "gpu"), 5000000000000000000);
    assert_false(c->use_stale);
    myr_kube_cluster_free(c);
}

/* Not into a number, wherever it stands. */
static void numbers_are_whole_in_names(void **state)
{
    static const char *const pairs[][2] = {{"1x", "12"},     {"a1x", "a12"},
                                           {"ab1x", "ab12"}, {"abc1x", "abc12"},
                                           {"1", "1x"},      {"1-9", "12"},
                                           {"9", "10"},      {"109", "1000"},
                                           {"n01x", "n012"}, {"12345678x", "123456789"}};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(pairs); i++) {
        struct myr_str a = myr_str_from(pairs[i][0]), b = myr_str_from(pairs[i][1]);
        assert_true(kube_natural(a, b) < 0 && kube_natural(b, a) > 0 && kube_natural(a, a) == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_that_nobody_has_are_given_back),
        cmocka_unit_test(lists_are_whole_with_their_last_page),
        cmocka_unit_test(a_gang_goes_with_its_last_pod),
        cmocka_unit_test(pods_without_a_name_are_refused),
        cmocka_unit_test(numbers_are_whole_in_names),
        cmocka_unit_test(nodes_stand_by_their_leaves),
        cmocka_unit_test(ports_are_counted_as_pods_come_and_go),
        cmocka_unit_test(amounts_are_counted_as_pods_come_and_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
