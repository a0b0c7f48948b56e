/* What decides where a pod may go, and what of a node decides: all of it is told apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

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
    struct digests seen = {0};
    struct kube_resources resources = {0};
    struct myr_arena arena;
    myr_arena_init(&arena);
    myr_arena_init(&resources.arena);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(specs); i++) {
        const struct myr_doc *spec = read_json(&arena, specs[i]);
        struct kube_needs needs = {0}, again = {0};
        kube_needs_read(&resources, &arena, spec, &needs);
        kube_needs_read(&resources, &arena, spec, &again);
        assert_true(needs.digest == again.digest);
        expect_new(&seen, specs[i], needs.digest);
    }
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
    struct digests seen = {0};
    struct kube_resources resources = {0};
    struct myr_kube_policy policy = myr_kube_policy_default();
    struct myr_arena arena;
    myr_arena_init(&arena);
    myr_arena_init(&resources.arena);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(nodes); i++) {
        struct myr_err err = {0};
        struct kube_node *node =
            kube_node_read(&resources, read_json(&arena, nodes[i]), &policy, &err);
        if (!node) {
            fail_msg("%s: %s", err.message, nodes[i]);
        }
        expect_new(&seen, nodes[i], node->digest);
        kube_node_free(node);
    }
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
        cmocka_unit_test(changes_of_a_node_that_decide_are_seen),
        cmocka_unit_test(names_are_those_of_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
