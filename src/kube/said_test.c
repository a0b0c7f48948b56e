/*
 * What a watch says and what of it is handed on: versions, errors, whether anything has changed.
 * And the policy that a cluster keeps for itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kube_test.h"
#include "leaks.h"
#include "word/put_test.h"

static struct myr_kube_cluster *new_cluster(void)
{
    struct myr_kube_policy policy = myr_kube_policy_default();
    return myr_kube_cluster_create(&policy);
}

/* Single quotes stand for double ones. */
static struct myr_str quoted(struct myr_buf *text)
{
    for (size_t i = 0; i < text->len; i++) {
        text->data[i] = (char)(text->data[i] == '\'' ? '"' : text->data[i]);
    }
    return (struct myr_str){text->data, text->len};
}

/* --- the policy */

static void texts_of_the_policy_are_the_clusters_own(void **state)
{
    char scheduler[] = "mine", labels[4][8] = {"l-0", "l-1", "l-2", "l-3"};
    struct myr_kube_policy policy = {.scheduler = scheduler, .nodes_per_leaf = 5, .lost_ms = 7};
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        policy.leaf_labels[i] = labels[i];
    }
    struct myr_kube_cluster *c = myr_kube_cluster_create(&policy);
    memset(scheduler, 'x', sizeof(scheduler) - 1);
    memset(labels, 'x', sizeof(labels));
    assert_string_equal(c->policy.scheduler, "mine");
    assert_int_equal(c->policy.nodes_per_leaf, 5);
    assert_int_equal(c->policy.lost_ms, 7);
    assert_int_equal(myr_kube_wake_ms(c), INT64_MAX);
    /* The first label that a node has names its leaf. */
    static const char *const nodes[][3] = {{"n0", "'l-3':'z','l-0':'a'", "a"},
                                           {"n1", "'l-3':'z','l-2':'y','l-1':'b'", "b"},
                                           {"n2", "'l-3':'z','l-2':'c'", "c"},
                                           {"n3", "'l-3':'d','l-4':'z'", "d"},
                                           {"n4", "'l-4':'z'", ""}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(nodes); i++) {
        tell(c, MYR_KUBE_NODES, 1,
             "{'type':'ADDED','object':{'metadata':{'name':'%s','uid':'u','labels':{%s}}}}",
             nodes[i][0], nodes[i][1]);
        const struct kube_node *node = c->nodes.items[kube_node_find(c, myr_str_from(nodes[i][0]))];
        assert_true(myr_str_eq(node->leaf, myr_str_from(nodes[i][2])));
    }
    tell(c, MYR_KUBE_PODS, 1,
         "{'type':'ADDED','object':{'metadata':{'name':'p','namespace':'d','uid':'p'},'spec':{"
         "'schedulerName':'mine'}}}");
    tell(c, MYR_KUBE_PODS, 1,
         "{'type':'ADDED','object':{'metadata':{'name':'q','namespace':'d','uid':'q'},'spec':{"
         "'schedulerName':'xxxx'}}}");
    assert_int_equal(myr_kube_counts(c).ours, 1);
    myr_kube_cluster_free(c);
    myr_kube_cluster_free(NULL);
}

static void the_policy_has_defaults(void **state)
{
    struct myr_kube_policy policy = myr_kube_policy_default();
    (void)state;
    assert_string_equal(policy.scheduler, "myriad");
    assert_string_equal(policy.leaf_labels[0], "myriad/leaf");
    assert_string_equal(policy.leaf_labels[1], "network.topology.nvidia.com/leaf");
    assert_null(policy.leaf_labels[2]);
    assert_null(policy.leaf_labels[3]);
    assert_int_equal(policy.nodes_per_leaf, 8);
    assert_int_equal(policy.hold_ms, 600000);
    assert_int_equal(policy.lost_ms, 5000);
    struct myr_kube_cluster *c = myr_kube_cluster_create(&policy);
    assert_null(c->policy.leaf_labels[2]);
    assert_true(c->policy.leaf_labels[1] != policy.leaf_labels[1]);
    assert_false(myr_kube_changed(c));
    assert_false(myr_kube_waits(c));
    assert_int_equal(myr_kube_missing(c), 0);
    myr_kube_cluster_free(c);
}

/* --- errors */

static void put_status_word(uint64_t code, const char *message, struct myr_buf *ret)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf status = {}, unknown = {}, kind = {}, raw = {};
    put_words(&status, 3, message);
    put_value(&status, 6, code);
    put_words(&kind, 1, "v1");
    put_words(&kind, 2, "Status");
    put_in(&unknown, 1, &kind);
    put_in(&unknown, 2, &status);
    myr_buf_put(&raw, "k8s", 4);
    myr_buf_put(&raw, unknown.data, unknown.len);
    myr_buf_clear(&unknown);
    put_in(&unknown, 1, &raw);
    put_words(ret, 1, "ERROR");
    put_in(ret, 2, &unknown);
}

/* In JSON and in protobuf alike: codes have three digits at most, else they are none. */
static void an_error_has_a_code_and_a_text(void **state)
{
    static const uint64_t codes[] = {0, 1, 410, 999, 1000, 1410, UINT32_MAX, UINT64_MAX};
    struct myr_kube_cluster *c = new_cluster();
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(codes); i++) {
        for (size_t len = 248; len < 253; len++) {
            MYR_CLEANUP(myr_buf_done) struct myr_buf line = {}, word = {};
            struct myr_kube_said said[2] = {};
            char text[260] = "";
            memset(text, 'w', len);
            put_status_word(codes[i], text, &word);
            myr_buf_printf(&line, "{'type':'ERROR','object':{'code':%llu,'message':'%s'}}",
                           (unsigned long long)codes[i], text);
            assert_int_equal(myr_kube_line(c, MYR_KUBE_PODS, quoted(&line), 1, &said[0], NULL),
                             MYR_OK);
            assert_int_equal(myr_kube_word(c, text_of(&word), 1, &said[1], NULL), MYR_OK);
            text[len < 250 ? len : 250] = '\0';
            for (uint32_t k = 0; k < 2; k++) {
                assert_int_equal(said[k].change, MYR_KUBE_ERROR);
                assert_int_equal(said[k].code, codes[i] < 1000 ? codes[i] : 0);
                assert_string_equal(said[k].text, text);
                assert_string_equal(said[k].version, "");
            }
        }
    }
    assert_false(myr_kube_changed(c));
    myr_kube_cluster_free(c);
}

static void an_error_may_lack_either(void **state)
{
    static const struct {
        const char *object, *text;
        uint32_t code;
    } rows[] = {
        {"{}", "", 0},
        {"{'code':410}", "", 410},
        {"{'message':'too old'}", "too old", 0},
        {"{'code':'410','message':'x'}", "x", 410},
        {"{'code':'4x0','message':'x'}", "x", 0},
        {"{'code':-1}", "", 0},
        {"{'code':{},'message':[]}", "", 0},
    };
    struct myr_kube_cluster *c = new_cluster();
    (void)state;
    for (uint32_t kind = 0; kind < MYR_KUBE_KINDS; kind++) {
        for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
            MYR_CLEANUP(myr_buf_done) struct myr_buf line = {};
            struct myr_kube_said said = {};
            myr_buf_printf(&line, "{'type':'ERROR','object':%s}", rows[i].object);
            assert_int_equal(
                myr_kube_line(c, (enum myr_kube_kind)kind, quoted(&line), 1, &said, NULL), MYR_OK);
            assert_int_equal(said.change, MYR_KUBE_ERROR);
            assert_int_equal(said.code, rows[i].code);
            assert_string_equal(said.text, rows[i].text);
        }
    }
    myr_kube_cluster_free(c);
}

/* --- versions */

/* Digits alone, 63 of them at most: it goes into a path. */
static bool is_version(const char *text)
{
    return strspn(text, "0123456789") == strlen(text) && strlen(text) < 64;
}

static void a_version_is_handed_on_where_it_is_one(void **state)
{
    static const char digits[] = "1234567890123456789012345678901234567890123456789012345678901234";
    const char *const versions[] = {"7",   "0",    "007", digits + 1, digits, "",    "7a", "a7",
                                    "7/8", "7&x=", "-7",  " 7",       "7 ",   "7:9", "9"};
    static const char *const types[] = {"ADDED", "MODIFIED", "BOOKMARK", "DELETED"};
    struct myr_kube_cluster *c = new_cluster();
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(versions); i++) {
        const char *wanted = is_version(versions[i]) ? versions[i] : "";
        for (uint32_t k = 0; k < 2 * MYR_ARRAY_COUNT(types); k++) {
            MYR_CLEANUP(myr_buf_done) struct myr_buf line = {};
            struct myr_kube_said said = {};
            enum myr_kube_kind kind = k % 2 ? MYR_KUBE_PODS : MYR_KUBE_NODES;
            myr_buf_printf(&line,
                           "{'type':'%s','object':{'metadata':{'name':'p','namespace':'d','uid':"
                           "'u','resourceVersion':'%s'},'spec':{'containers':[]},'status':{}}}",
                           types[k / 2], versions[i]);
            assert_int_equal(myr_kube_line(c, kind, quoted(&line), 1, &said, NULL), MYR_OK);
            assert_string_equal(said.version, wanted);
            assert_int_equal(said.change, k / 2 == 2   ? MYR_KUBE_BOOKMARK
                                          : k / 2 == 3 ? MYR_KUBE_DELETED
                                                       : (enum myr_kube_change)(k / 2));
            assert_true(said.code == 0 && said.text[0] == '\0');
        }
        MYR_CLEANUP(myr_buf_done) struct myr_buf page = {};
        struct myr_kube_page ret = {};
        struct myr_err err = {};
        myr_buf_printf(&page, "{'metadata':{'resourceVersion':'%s'},'items':null}", versions[i]);
        int rc = myr_kube_list(c, MYR_KUBE_PODS, true, quoted(&page), 1, &ret, &err);
        assert_int_equal(rc, wanted[0] ? MYR_OK : MYR_EINVAL);
        assert_string_equal(ret.version, wanted);
        assert_string_equal(err.message,
                            wanted[0] ? "" : "list:1:1: a list without a resourceVersion");
        myr_buf_done(&ret.more);
    }
    myr_kube_cluster_free(c);
}

/* The token of the next page is handed on as it is; a last page has none. */
static void a_page_says_whether_more_follow(void **state)
{
    struct myr_kube_cluster *c = new_cluster();
    struct myr_kube_page page = {};
    struct myr_err err = {};
    static const char first[] = "{'metadata':{'resourceVersion':'5','continue':'a=/b'},'items':[{"
                                "'metadata':{'name':'n','uid':'n'}}]}";
    static const char last[] = "{'metadata':{'resourceVersion':'6'},'items':[]}";
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    (void)state;
    myr_buf_puts(&text, first);
    assert_int_equal(myr_kube_list(c, MYR_KUBE_NODES, true, quoted(&text), 1, &page, NULL), MYR_OK);
    assert_int_equal(page.items, 1);
    assert_int_equal(page.more.len, 4);
    assert_memory_equal(page.more.data, "a=/b", 4);
    assert_string_equal(page.version, "5");
    myr_buf_clear(&text);
    myr_buf_puts(&text, last);
    assert_int_equal(myr_kube_list(c, MYR_KUBE_NODES, false, quoted(&text), 1, &page, NULL),
                     MYR_OK);
    assert_int_equal(page.items, 0);
    assert_int_equal(page.more.len, 0);
    assert_int_equal(myr_kube_counts(c).nodes, 1);
    /* What is no list is an error, and what was known stays. */
    assert_true(myr_kube_list(c, MYR_KUBE_NODES, true, MYR_STR("[]"), 1, &page, &err) < 0);
    assert_string_equal(err.message, "list:1:1: 'a list' is a list, a map of keys is expected");
    assert_true(myr_kube_list(c, MYR_KUBE_NODES, true, MYR_STR("{"), 1, &page, &err) < 0);
    assert_int_equal(myr_kube_counts(c).nodes, 1);
    myr_buf_done(&page.more);
    myr_kube_cluster_free(c);
}

/* --- changes */

/* Two clusters' worth of words: the first is known, then the second comes. */
static bool changes(enum myr_kube_kind kind, const char *before, const char *after)
{
    struct myr_kube_cluster *c = new_cluster();
    uint32_t count;
    tell(c, kind, 1000, "{'type':'ADDED','object':{%s}}", before);
    assert_true(myr_kube_changed(c));
    (void)myr_kube_decide(c, 1000, 1, &count);
    assert_false(myr_kube_changed(c));
    uint64_t nodes = c->node_changes;
    tell(c, kind, 1000, "{'type':'MODIFIED','object':{%s}}", before);
    assert_false(myr_kube_changed(c)); /* as it was */
    assert_int_equal(c->node_changes, nodes);
    tell(c, kind, 1000, "{'type':'MODIFIED','object':{%s}}", after);
    bool changed = myr_kube_changed(c);
    assert_int_equal(c->node_changes, nodes + (kind == MYR_KUBE_NODES && changed));
    myr_kube_cluster_free(c);
    return changed;
}

#define POD(notes, meta, spec, status)                                                \
    "'metadata':{'name':'p','namespace':'d','uid':'u','annotations':{" notes "}" meta \
    "},'spec':{'schedulerName':'myriad'" spec "},'status':{" status "}"

static void what_decides_on_a_pod_is_a_change(void **state)
{
    static const char plain[] = POD("'myriad/gang':'g','myriad/gang-size':'2'", "",
                                    ",'containers':[]", "'phase':'Pending'");
    static const struct {
        const char *after;
        bool changed;
    } rows[] = {
#define GANG "'myriad/gang':'g','myriad/gang-size':'2'"
        {POD(GANG, "", ",'containers':[]", "'phase':'Running'"), true},
        {POD(GANG, ",'deletionTimestamp':'2026-01-01T00:00:00Z'", ",'containers':[]",
             "'phase':'Pending'"),
         true},
        {POD(GANG, "", ",'containers':[],'nodeName':'n'", "'phase':'Pending'"), true},
        {POD("'myriad/gang':'h','myriad/gang-size':'2'", "", ",'containers':[]",
             "'phase':'Pending'"),
         true},
        {POD("'myriad/gang':'g','myriad/gang-size':'3'", "", ",'containers':[]",
             "'phase':'Pending'"),
         true},
        {POD(GANG ",'myriad/placement':'x'", "", ",'containers':[]", "'phase':'Pending'"), true},
        {POD(GANG, "", ",'containers':[{'resources':{'requests':{'gpu':'1'}}}]",
             "'phase':'Pending'"),
         true},
        {POD(GANG, "", ",'containers':[],'nodeSelector':{'a':'b'}", "'phase':'Pending'"), true},
        {POD(GANG, ",'resourceVersion':'9'", ",'containers':[]",
             "'phase':'Pending','containerStatuses':[]"),
         false},
        {POD(GANG ",'other':'x'", ",'labels':{'a':'b'}", ",'containers':[]", "'phase':'Unknown'"),
         false},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        if (changes(MYR_KUBE_PODS, plain, rows[i].after) != rows[i].changed) {
            fail_msg("%s", rows[i].after);
        }
    }
}

#define NODE(labels, spec, has, ready, address)                                          \
    "'metadata':{'name':'n','uid':'n','labels':{" labels "}},'spec':{" spec              \
    "},'status':{'allocatable':{" has "},'conditions':[{'type':'Ready','status':'" ready \
    "'}],'addresses':[{'type':'InternalIP','address':'" address "'}]}"
#define TAINT(key, value, effect) \
    "'taints':[{'key':'" key "','value':'" value "','effect':'" effect "'}]"

static void what_decides_on_a_node_is_a_change(void **state)
{
    static const char plain[] =
        NODE("'a':'b'", TAINT("k", "v", "NoSchedule"), "'gpu':'8'", "True", "10.0.0.1");
    static const struct {
        const char *after;
        bool changed;
    } rows[] = {
#define OLD TAINT("k", "v", "NoSchedule")
        {NODE("'a':'b'", OLD, "'gpu':'8'", "False", "10.0.0.1"), true},
        {NODE("'a':'b'", OLD, "'gpu':'7'", "True", "10.0.0.1"), true},
        {NODE("'a':'b'", OLD, "'gpv':'8'", "True", "10.0.0.1"), true},
        {NODE("'a':'b'", OLD, "'gpu':'8','x':'1'", "True", "10.0.0.1"), true},
        {NODE("'a':'b'", OLD, "'gpu':'8'", "True", "10.0.0.2"), true},
        {NODE("'a':'c'", OLD, "'gpu':'8'", "True", "10.0.0.1"), true},
        {NODE("'c':'b'", OLD, "'gpu':'8'", "True", "10.0.0.1"), true},
        {NODE("'a':'b','c':''", OLD, "'gpu':'8'", "True", "10.0.0.1"), true},
        {NODE("", OLD, "'gpu':'8'", "True", "10.0.0.1"), true},
        {NODE("'a':'b'", "", "'gpu':'8'", "True", "10.0.0.1"), true},
        {NODE("'a':'b'", TAINT("l", "v", "NoSchedule"), "'gpu':'8'", "True", "10.0.0.1"), true},
        {NODE("'a':'b'", TAINT("k", "w", "NoSchedule"), "'gpu':'8'", "True", "10.0.0.1"), true},
        {NODE("'a':'b'", TAINT("k", "v", "NoExecute"), "'gpu':'8'", "True", "10.0.0.1"), true},
        {NODE("'a':'b'", OLD ",'unschedulable':true", "'gpu':'8'", "True", "10.0.0.1"), true},
        {NODE("'a':'b'", OLD ",'podCIDR':'x'", "'gpu':'8000m'", "True", "10.0.0.1"), false},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        if (changes(MYR_KUBE_NODES, plain, rows[i].after) != rows[i].changed) {
            fail_msg("%s", rows[i].after);
        }
    }
}

/* From when it was first heard that it is not ready, by our clock; one that is gone is lost. */
static void a_node_is_lost_after_a_while(void **state)
{
    static const struct {
        int64_t at_ms;
        const char *ready;
        int64_t since_ms; /* -1: it is well */
    } rows[] = {{1000, "True", -1},    {2000, "False", 2000}, {3000, "Unknown", 2000},
                {9000, "False", 2000}, {9500, "True", -1},    {9600, "Unknown", 9600},
                {9700, "False", 9600}, {9800, "True", -1}};
    struct myr_kube_cluster *c = new_cluster();
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        tell(c, MYR_KUBE_NODES, rows[i].at_ms,
             "{'type':'MODIFIED','object':{'metadata':{'name':'n','uid':'n'},'status':{"
             "'conditions':[{'type':'Other','status':'True'},{'type':'Ready','status':'%s'}]}}}",
             rows[i].ready);
        const struct kube_node *node = c->nodes.items[0];
        assert_int_equal(node->lost_ms, rows[i].since_ms);
        assert_int_equal(myr_kube_counts(c).usable, rows[i].since_ms < 0);
        assert_int_equal(kube_node_lost(c, node, rows[i].since_ms + 4999), false);
        assert_int_equal(kube_node_lost(c, node, rows[i].since_ms + 5000), rows[i].since_ms >= 0);
    }
    assert_true(kube_node_lost(c, NULL, 0));
    myr_kube_cluster_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_of_the_policy_are_the_clusters_own),
        cmocka_unit_test(the_policy_has_defaults),
        cmocka_unit_test(an_error_has_a_code_and_a_text),
        cmocka_unit_test(an_error_may_lack_either),
        cmocka_unit_test(a_version_is_handed_on_where_it_is_one),
        cmocka_unit_test(a_page_says_whether_more_follow),
        cmocka_unit_test(what_decides_on_a_pod_is_a_change),
        cmocka_unit_test(what_decides_on_a_node_is_a_change),
        cmocka_unit_test(a_node_is_lost_after_a_while),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
