/* What decides where a pod may go, and what of a node decides: all of it is told apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "kept.h"
#include "kube.h"
#include "leaks.h"

enum { DIGESTS_MAX = 64 };

struct digests {
    const char *texts[DIGESTS_MAX];
    uint64_t of[DIGESTS_MAX];
    uint32_t count;
};

/* Another than all before. */
static void expect_new(struct digests *seen, const char *text, uint64_t digest)
{
    for (uint32_t i = 0; i < seen->count; i++) {
        if (seen->of[i] == digest) {
            fail_msg("the same digest: %s and %s", seen->texts[i], text);
        }
    }
    assert_true(seen->count < DIGESTS_MAX);
    seen->texts[seen->count] = text;
    seen->of[seen->count++] = digest;
}

/* Single quotes stand for double ones. */
static const struct myr_doc *read_json(struct myr_arena *arena, const char *text)
{
    const struct myr_doc *top;
    char *json = myr_arena_strndup(arena, text, strlen(text));
    for (char *at = json; *at; at++) {
        *at = (char)(*at == '\'' ? '"' : *at);
    }
    if (myr_doc_read_json(arena, "text", myr_str_from(json), &top, NULL) != MYR_OK) {
        fail_msg("no JSON: %s", text);
    }
    return top;
}

#define NODE_TERMS(terms)                                                 \
    "{'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuring" \
    "Execution':{'nodeSelectorTerms':[" terms "]}}}}"
#define LABEL(key, is, values) "{'key':'" key "','operator':'" is "','values':[" values "]}"
#define REQUESTS(amounts)      "{'containers':[{'resources':{'requests':{" amounts "}}}]}"

static void pods_that_ask_otherwise_are_told_apart(void **state)
{
    (void)state;
    static const char *const specs[] = {
        "{}",
        "{'nodeSelector':{'a':'b'}}",
        "{'nodeSelector':{'a':'c'}}",
        "{'nodeSelector':{'a':'b','c':'d'}}",
        "{'nodeSelector':{'a':'c','b':'d'}}",
        "{'nodeSelector':{'ab':''}}",
        "{'tolerations':[{'key':'a','value':'b','effect':'NoSchedule'}]}",
        "{'tolerations':[{'key':'a','value':'c','effect':'NoSchedule'}]}",
        "{'tolerations':[{'key':'a','value':'b','effect':'NoExecute'}]}",
        "{'tolerations':[{'key':'a','value':'b'}]}",
        "{'tolerations':[{'key':'a','operator':'Exists','effect':'NoSchedule'}]}",
        "{'tolerations':[{'operator':'Exists'}]}",
        NODE_TERMS(""),
        NODE_TERMS("{'matchExpressions':[" LABEL("a", "In", "'b'") "]}"),
        NODE_TERMS("{'matchExpressions':[" LABEL("a", "In", "'c'") "]}"),
        NODE_TERMS("{'matchExpressions':[" LABEL("a", "In", "'b','c'") "]}"),
        NODE_TERMS("{'matchExpressions':[" LABEL("a", "NotIn", "'b'") "]}"),
        NODE_TERMS("{'matchExpressions':[" LABEL("a", "Exists", "") "]}"),
        NODE_TERMS("{'matchExpressions':[" LABEL("a", "DoesNotExist", "") "]}"),
        NODE_TERMS("{'matchExpressions':[" LABEL("a", "Gt", "'7'") "]}"),
        NODE_TERMS("{'matchExpressions':[" LABEL("a", "Lt", "'7'") "]}"),
        NODE_TERMS("{'matchExpressions':[" LABEL("a", "In", "'b'") "," LABEL("c", "In", "") "]}"),
        NODE_TERMS(
            "{'matchExpressions':[" LABEL("a", "In", "'b'") "," LABEL("c", "In", "'d'") "]}"),
        NODE_TERMS("{'matchExpressions':[" LABEL("a", "In", "'b'") "]},"
                                                                   "{'matchExpressions':[" LABEL(
                                                                       "c", "In", "'d'") "]}"),
        NODE_TERMS("{'matchExpressions':[" LABEL("metadata.name", "In", "'b'") "]}"),
        NODE_TERMS("{'matchFields':[" LABEL("metadata.name", "In", "'b'") "]}"),
        REQUESTS("'cpu':'1'"),
        REQUESTS("'cpu':'2'"),
        REQUESTS("'memory':'1'"),
        REQUESTS("'cpu':'1','memory':'1'"),
        REQUESTS("'cpu':'lots'"),
        "{'hostNetwork':true,'containers':[{'ports':[{'containerPort':80,'hostPort':80}]}]}",
        "{'hostNetwork':true,'containers':[{'ports':[{'containerPort':81,'hostPort':81}]}]}",
        "{'schedulingGates':[{'name':'x'}]}",
        "{'resourceClaims':[{'name':'x'}]}",
    };
    struct digests seen = {};
    struct kube_resources resources = {};
    struct myr_arena arena;
    myr_arena_init(&arena);
    myr_arena_init(&resources.arena);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(specs); i++) {
        const struct myr_doc *spec = read_json(&arena, specs[i]);
        struct kube_needs needs = {}, again = {};
        kube_needs_read(&resources, &arena, spec, &needs);
        kube_needs_read(&resources, &arena, spec, &again);
        assert_true(needs.digest == again.digest);
        expect_new(&seen, specs[i], needs.digest);
    }
    myr_strmap_done(&resources.ids);
    myr_arena_done(&resources.arena);
    myr_arena_done(&arena);
}

static void put_needs(const struct kube_resources *resources, const struct kube_needs *n,
                      struct myr_buf *ret)
{
    for (uint32_t i = 0; i < n->amounts.count; i++) {
        struct myr_str name = resources->ids.keys[n->amounts.items[i].resource];
        myr_buf_printf(ret, " %.*s=%lld", (int)name.len, name.data,
                       (long long)n->amounts.items[i].milli);
    }
    for (uint32_t i = 0; i < n->port_count; i++) {
        myr_buf_printf(ret, " port:%u%s", n->ports[i] & 0xffff, n->ports[i] >> 16 ? "/udp" : "");
    }
    for (uint32_t i = 0; i < n->selector.count; i++) {
        myr_buf_printf(ret, " selects:%.*s=%.*s", (int)n->selector.items[i].key.len,
                       n->selector.items[i].key.data, (int)n->selector.items[i].value.len,
                       n->selector.items[i].value.data);
    }
    for (uint32_t i = 0; i < n->toleration_count; i++) {
        const struct kube_toleration *t = &n->tolerations[i];
        myr_buf_printf(ret, " tolerates:%.*s=%.*s,%d,%d,%d", (int)t->key.len, t->key.data,
                       (int)t->value.len, t->value.data, t->exists, t->all_effects, (int)t->effect);
    }
    myr_buf_puts(ret, n->has_terms ? " terms" : "");
    for (uint32_t i = 0; i < n->term_count; i++) {
        for (uint32_t k = 0; k < n->terms[i].count; k++) {
            const struct kube_expression *e = &n->terms[i].items[k];
            myr_buf_printf(ret, " %u:%.*s%s,%d,%u", i, (int)e->key.len, e->key.data,
                           e->field ? "(field)" : "", (int)e->is, e->value_count);
        }
    }
    myr_buf_printf(ret, "%s%s %016llx\n", n->refused[0] ? " refused: " : "", n->refused,
                   (unsigned long long)n->digest);
}

#define PORTS(list)  "{'containers':[{'ports':[" list "]}]}"
#define PORT(number) "{'hostPort':" number "}"
#define BEFORE(list) \
    "{'initContainers':[" list "],'containers':[{'resources':{'requests':{'cpu':'3'}}}]}"
#define ASKS(amounts) "{'resources':{'requests':{" amounts "}}}"
#define SIDECAR(amounts) \
    "{'restartPolicy':'Always','ports':[{'hostPort':9}],'resources':{'requests':{" amounts "}}}"
#define SPREAD(when)     "{'topologySpreadConstraints':[{'whenUnsatisfiable':'" when "'}]}"
#define FOUR(a, b, c, d) PORT(a) "," PORT(b) "," PORT(c) "," PORT(d)
#define SIXTEEN              \
    FOUR("1", "2", "3", "4") \
    "," FOUR("5", "6", "7", "8") "," FOUR("9", "10", "11", "12") "," FOUR("13", "14", "15", "16")

/* Each need as it was understood, or what was not. */
static void what_a_pod_asks_is_understood(void **state)
{
    (void)state;
    static const char *const specs[] = {
        "{}",
        "[]",
        REQUESTS("'cpu':'1500m','memory':'2Gi','nvidia.com/gpu':'8'"),
        REQUESTS("'cpu':[1]"),
        "{'containers':[" ASKS("'cpu':'1'") "," ASKS("'cpu':'2','x':'1'") "]}",
        "{'containers':[" ASKS("'cpu':'9223372036854775'") "," ASKS(
            "'cpu':'9223372036854775'") "]}",
        BEFORE(ASKS("'cpu':'2'")),
        BEFORE(ASKS("'cpu':'4'")),
        BEFORE(ASKS("'cpu':'4'") "," ASKS("'cpu':'5'")),
        BEFORE(SIDECAR("'cpu':'2'")),
        BEFORE(SIDECAR("'cpu':'2'") "," ASKS("'cpu':'4'")),
        BEFORE(ASKS("'cpu':'4'") "," SIDECAR("'cpu':'2'")),
        "{'containers':[" ASKS("'cpu':'2','x':'7'") "],'resources':{'requests':{'cpu':'1'}},"
                                                    "'overhead':{'cpu':'250m'}}",
        PORTS(PORT("0") "," PORT("80")),
        PORTS("{'hostPort':53,'protocol':'UDP'},{'containerPort':5}"),
        PORTS(PORT("65535")),
        PORTS(PORT("65536") "," PORT("80")),
        PORTS(SIXTEEN),
        PORTS(SIXTEEN "," PORT("17") "," PORT("18")),
        "{'nodeSelector':{'a':'b','c':[]}}",
        "{'tolerations':[{'key':'a','value':'b','effect':'NoExecute'},{'operator':'Exists'},"
        "{'key':'k','effect':'PreferNoSchedule'}]}",
        NODE_TERMS("{'matchExpressions':[" LABEL(
            "a", "In", "'b',[],'c'") "]},{},"
                                     "{'matchFields':[" LABEL("metadata.name", "NotIn",
                                                              "'n'") "]}"),
        NODE_TERMS("{'matchExpressions':[" LABEL("a", "Near", "") "]}"),
        NODE_TERMS("{'matchFields':[" LABEL("metadata.uid", "In", "'n'") "]}"),
        "{'affinity':{'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{}]}}}",
        "{'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[]}}}",
        "{'affinity':{'podAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[{}]}}}",
        SPREAD("ScheduleAnyway"),
        SPREAD("DoNotSchedule"),
        "{'schedulingGates':[]}",
        "{'schedulingGates':[{'name':'x'}],'resourceClaims':[{'name':'x'}]}",
        "{'resourceClaims':[{'name':'x'}]}",
        "{'resourceClaims':[]}",
    };
    MYR_CLEANUP(myr_buf_done) struct myr_buf story = {};
    struct kube_resources resources = {};
    struct myr_arena arena;
    myr_arena_init(&arena);
    myr_arena_init(&resources.arena);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(specs); i++) {
        struct kube_needs needs = {};
        kube_needs_read(&resources, &arena, read_json(&arena, specs[i]), &needs);
        myr_buf_printf(&story, "%s\n ", specs[i]);
        put_needs(&resources, &needs, &story);
    }
    /* So many kinds are told apart, and one more is refused. */
    for (int more = 0; resources.ids.count < KUBE_RESOURCES || more < 2; more++) {
        struct kube_needs needs = {};
        const char *spec = myr_arena_printf(&arena, REQUESTS("'kind-%d':'1'"), more);
        bool room = resources.ids.count < KUBE_RESOURCES;
        kube_needs_read(&resources, &arena, read_json(&arena, spec), &needs);
        assert_string_equal(needs.refused,
                            room ? "" : "a resource beyond the 32 kinds that are told apart");
    }
    assert_kept("kube-needs.txt", &story);
    myr_strmap_done(&resources.ids);
    myr_arena_done(&resources.arena);
    myr_arena_done(&arena);
}

#define NODE(labels, rest) "{'metadata':{'name':'n','uid':'u','labels':{" labels "}}," rest "}"

/* A node of the same digest is not looked at again. */
static void changes_of_a_node_that_decide_are_seen(void **state)
{
    (void)state;
    static const char ready[] = "{'metadata':{'name':'n','uid':'u'},'status':{'conditions':"
                                "[{'type':'Ready','status':'True'}]}}";
    static const char *const nodes[] = {
        ready,
        NODE("", "'spec':{}"),
        NODE("", "'spec':{'unschedulable':true}"),
        NODE("'a':'b'", "'spec':{}"),
        NODE("'a':'c'", "'spec':{}"),
        NODE("'a':'b','c':'d'", "'spec':{}"),
        NODE("'a':'c','b':'d'", "'spec':{}"),
        NODE("", "'spec':{'taints':[{'key':'a','value':'b','effect':'NoSchedule'}]}"),
        NODE("", "'spec':{'taints':[{'key':'a','value':'c','effect':'NoSchedule'}]}"),
        NODE("", "'spec':{'taints':[{'key':'a','value':'b','effect':'NoExecute'}]}"),
        NODE("", "'status':{'allocatable':{'cpu':'1'}}"),
        NODE("", "'status':{'allocatable':{'cpu':'2'}}"),
        NODE("", "'status':{'allocatable':{'memory':'1'}}"),
        NODE("", "'status':{'addresses':[{'type':'InternalIP','address':'10.0.0.1'}]}"),
        NODE("", "'status':{'addresses':[{'type':'InternalIP','address':'10.0.0.2'}]}"),
    };
    MYR_CLEANUP(myr_buf_done) struct myr_buf story = {};
    struct digests seen = {};
    struct kube_resources resources = {};
    struct myr_kube_policy policy = myr_kube_policy_default();
    struct myr_arena arena;
    myr_arena_init(&arena);
    myr_arena_init(&resources.arena);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(nodes); i++) {
        struct myr_err err = {};
        struct kube_node *node =
            kube_node_read(&resources, read_json(&arena, nodes[i]), &policy, &err);
        if (!node) {
            fail_msg("%s: %s", err.message, nodes[i]);
        }
        expect_new(&seen, nodes[i], node->digest);
        myr_buf_printf(&story, "%s\n  %016llx\n", nodes[i], (unsigned long long)node->digest);
        kube_node_free(node);
    }
    assert_kept("kube-nodes.txt", &story);
    myr_strmap_done(&resources.ids);
    myr_arena_done(&resources.arena);
    myr_arena_done(&arena);
}

/* They go into paths of requests. */
static void names_are_those_of_objects(void **state)
{
    (void)state;
    static const char *const good[] = {"a", "0", "a-b", "a.b", "node-01.pool", "9z"};
    static const char *const bad[] = {"",   "-a",  "a-",  ".a",   "a.", "A", "aB", "a/b",
                                      "..", "a b", "a_b", "a%2f", "é",  "`", "{"};
    char longest[255];
    memset(longest, 'x', sizeof(longest));
    for (size_t i = 0; i < MYR_ARRAY_COUNT(good); i++) {
        assert_true(kube_is_name(myr_str_from(good[i])));
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        assert_false(kube_is_name(myr_str_from(bad[i])));
    }
    assert_true(kube_is_name((struct myr_str){longest, 253}));
    assert_false(kube_is_name((struct myr_str){longest, 254}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_that_ask_otherwise_are_told_apart),
        cmocka_unit_test(what_a_pod_asks_is_understood),
        cmocka_unit_test(changes_of_a_node_that_decide_are_seen),
        cmocka_unit_test(names_are_those_of_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
