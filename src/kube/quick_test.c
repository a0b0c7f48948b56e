/* The quick way to a pod against the other one: whatever it takes is what that one would take. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "kube_test.h"
#include "leaks.h"
#include "myriad/base/rng.h"

/* As an API server of 1.20 writes it, with what nobody here looks at. */
static const char usual[] =
    "{'type':'MODIFIED','object':{'kind':'Pod','apiVersion':'v1','metadata':{'name':'g-x7k2',"
    "'generateName':'g-','namespace':'default','selfLink':'/api/v1/x','uid':'8d1c-4f','"
    "resourceVersion':'1234','creationTimestamp':'2026-11-16T18:48:24Z','labels':{'job-name':'g',"
    "'a':'{[\\\\\\'}'},'annotations':{'myriad/gang':'g','myriad/gang-size':'32','note':'a\\nb\\\\',"
    "'myriad/rank':'3','myriad/world-size':'32','myriad/node':'node-3','myriad/placement':'18f-2',"
    "'myriad/master-addr':'10.0.0.1'},'ownerReferences':[{'apiVersion':'v1','kind':'Thing','name':"
    "'t','uid':'z'},{'apiVersion':'batch/v1','kind':'Job','name':'g','uid':'77-a','controller':true"
    ",'blockOwnerDeletion':true}],'managedFields':[{'manager':'m','fields':{'f:a':{'.':{},'k:{"
    "\\\\'n\\\\'}':{}}}},[]]},'spec':{'volumes':[{'name':'tok'}],'containers':[{'name':'c','image':"
    "'x','resources':{'limits':{'nvidia.com/gpu':'8'},'requests':{'nvidia.com/gpu':'8','cpu':1}},"
    "'ports':[{'hostPort':80}],'command':['sh','-c','echo \\u00e9 ']},{'name':'d'}],"
    "'initContainers':[{'name':'i','restartPolicy':'Always','resources':{'requests':{'cpu':'2'}}}]"
    ",'restartPolicy':'Never','nodeName':'node-3','hostNetwork':true,'priority':7,'schedulerName':"
    "'myriad','tolerations':[{'key':'k','operator':'Exists','effect':'NoExecute',"
    "'tolerationSeconds':300}],'nodeSelector':{'a':'b'},'overhead':{'cpu':'1m'}},'status':{'phase'"
    ":'Running','conditions':[{'type':'PodScheduled','status':'True'}],'qosClass':null}}}";

static void put_quotes(const char *from, char *to)
{
    for (; *from; from++, to++) {
        *to = (char)(*from == '\'' ? '"' : *from);
    }
    *to = '\0';
}

struct way {
    struct kube_resources resources;
    struct myr_arena arena;
    struct myr_kube_policy policy;
};

static void set_up(struct way *way)
{
    *way = (struct way){.policy = myr_kube_policy_default()};
    myr_arena_init(&way->arena);
    myr_arena_init(&way->resources.arena);
}

static void tear_down(struct way *way)
{
    for (uint32_t i = 0; i < KUBE_ALIKE; i++) {
        assert_null(way->resources.alike[i]); /* the last pod takes them along */
    }
    myr_strmap_done(&way->resources.ids);
    myr_arena_done(&way->resources.arena);
    myr_arena_done(&way->arena);
}

/* NULL: that way does not take it. */
static struct kube_pod *by_tree(struct way *way, const char *line)
{
    static const struct myr_doc_part parts[] = {
        {"type", NULL}, {"object", kube_pod_parts}, {NULL, NULL}};
    const struct myr_doc *top;
    myr_arena_clear(&way->arena);
    return myr_doc_read_json_parts(&way->arena, "line", myr_str_from(line), parts, &top, NULL) ==
                   MYR_OK
               ? kube_pod_read(&way->resources, myr_doc_get(top, "object"), &way->policy, NULL)
               : NULL;
}

static struct kube_pod *quickly(struct way *way, const char *line)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct kube_pod_texts texts;
    struct myr_str type;
    if (!kube_quick(myr_str_from(line), &type, &texts, &text) || !kube_pod_named(&texts)) {
        return NULL;
    }
    struct kube_needs *needs =
        kube_needs_alike(&way->resources, (struct myr_str){text.data, text.len});
    return needs ? kube_pod_make(&texts, needs, &way->policy) : NULL;
}

/* True: it was taken quickly. */
static bool compare(struct way *way, const char *line)
{
    struct kube_pod *quick = quickly(way, line), *slow = by_tree(way, line);
    bool taken = quick != NULL;
    if (quick && (!slow || !are_same(slow, quick))) {
        fail_msg("%s: %s", slow ? "differ" : "taken by one way alone", line);
    }
    kube_pod_free(quick);
    kube_pod_free(slow);
    return taken;
}

static void the_usual_word_is_taken_quickly(void **state)
{
    struct way way;
    char line[8192];
    (void)state;
    set_up(&way);
    put_quotes(usual, line);
    struct kube_pod *pod = quickly(&way, line);
    assert_non_null(pod);
    assert_true(myr_str_eq(pod->owner_name, MYR_STR("g")));
    assert_true(myr_str_eq(pod->node, MYR_STR("node-3")));
    assert_true(pod->ours && pod->host_network && pod->phase == KUBE_RUNNING);
    assert_int_equal(pod->priority, 7);
    assert_int_equal(pod->gang_size, 32);
    assert_int_equal(pod->planned_rank, 3);
    assert_int_equal(pod->needs->port_count, 1);
    assert_int_equal(pod->needs->toleration_count, 1);
    struct kube_pod *again = quickly(&way, line);
    assert_ptr_equal(again->needs, pod->needs); /* read once */
    kube_pod_free(pod);
    assert_int_equal(again->needs->uses, 1);
    kube_pod_free(again);
    assert_true(compare(&way, line));
    tear_down(&way);
}

/* One thing of it is written otherwise; 'quick': it is taken all the same. */
static const struct {
    const char *from, *to;
    bool quick;
} cases[] = {
    {"'priority':7", "'priority':-7", true},
    {"'priority':7", "'priority':99999999999", true},
    {"'priority':7", "'priority':null", true},
    {"'priority':7", "'priority':[7]", false},
    {"'priority':7", "'priority':7,'priority':8", false},
    {"'priority':7", "'priority':7,", false},
    {"'priority':7", "'priority':7 'x':1", false},
    {"'hostNetwork':true", "'hostNetwork':'true'", true},
    {"'nodeName':'node-3'", "'nodeName':''", true},
    {"'nodeName':'node-3'", "'nodeName':'node\\u002d3'", false},
    {"'nodeName':'node-3'", "'hostname':'h','subdomain':'s'", true},
    {"'name':'g-x7k2'", "'name':'g-x7k2.with.dots'", true},
    {"'name':'g-x7k2'", "'name':'../x'", false},
    {"'namespace':'default'", "'namespace':''", false},
    {"'uid':'8d1c-4f'", "'uid':''", false},
    {"'uid':'8d1c-4f'", "'uid':'8d1c-4f','deletionTimestamp':'2026-11-16T18:48:24Z'", true},
    {"'myriad/gang':'g'", "'myriad/gang':'\\u003e'", false},
    {"'myriad/gang':'g'", "'myriad/gang':'caf\xc3\xa9'", false},
    {"'myriad/gang-size':'32'", "'myriad/gang-size':'many'", true},
    {"'myriad/rank':'3'", "'batch.kubernetes.io/job-completion-index':'11'", true},
    {"'annotations':{", "'annotations':null,'x':{", true},
    {"'ownerReferences':[{", "'ownerReferences':null,'x':[{", true},
    {"'ownerReferences':[{", "'ownerReferences':[7,{", false},
    {"'controller':true", "'controller':false", true},
    {"'containers':[{", "'containers':[],'x':[{", true},
    {"'containers':[{", "'containers':null,'x':[{", true},
    {"'containers':[{", "'containers':['c',{", false},
    {"'containers':[{", "'containers':[{'resources':null},{", true},
    {"'containers':[{", "'containers':[{'resources':{'requests':{'cpu':'x'}}},{", true},
    {"'containers':[{", "'containers':[{'resources':{'requests':{'a':'1','a':'2'}}},{", false},
    {"'containers':[{", "'containers':[],'containers':[{", false},
    {"'overhead':{'cpu':'1m'}", "'schedulingGates':[{'name':'g'}]", true},
    {"'overhead':{'cpu':'1m'}", "'resourceClaims':[{'name':'g'}]", true},
    {"'overhead':{'cpu':'1m'}", "'overhead':[}", false},
    {"'overhead':{'cpu':'1m'}",
     "'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':"
     "{'nodeSelectorTerms':[{'matchExpressions':[{'key':'a','operator':'In','values':['b']}]}]"
     "}}}",
     true},
    {"'status':{", "'status':{'phase':'Failed'},'status':{", false},
    {"'status':{", "'Status':{", false},
    {"'spec':{", "'Spec':{", false},
    {"'phase':'Running'", "'phase':'Succeeded'", true},
    {"'qosClass':null", "'qosClass':nul", true},
    {"'qosClass':null", "'qosClass':", false},
    {"}}}", "}}", false},
    {"}}}", "}}}}", false},
    {"}}}", "}}} \n", true},
};

static void odd_words_are_the_same_both_ways(void **state)
{
    struct way way;
    char line[8192], text[8192];
    (void)state;
    set_up(&way);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        const char *at = strstr(usual, cases[i].from);
        for (const char *next = at; strcmp(cases[i].from, "}}}") == 0 && next;) {
            at = next; /* the last of them */
            next = strstr(next + 1, cases[i].from);
        }
        assert_non_null(at);
        snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - usual), usual, cases[i].to,
                 at + strlen(cases[i].from));
        put_quotes(text, line);
        if (compare(&way, line) != cases[i].quick) {
            fail_msg("%s: %s", cases[i].to, cases[i].quick ? "not taken" : "taken");
        }
    }
    tear_down(&way);
}

/* Bytes changed, taken out and doubled at random: never taken otherwise than by the tree. */
static void broken_words_are_the_same_both_ways(void **state)
{
    static const char bytes[] = "\"\\{}[]:,0a ntx/-'";
    struct way way;
    struct myr_rng rng;
    char whole[8192], line[8192];
    uint32_t taken = 0;
    (void)state;
    set_up(&way);
    myr_rng_init(&rng, 5, 7);
    put_quotes(usual, whole);
    size_t length = strlen(whole);
    for (uint32_t round = 0; round < 4000; round++) {
        size_t at = myr_rng_below(&rng, (uint32_t)length);
        size_t size = 1 + myr_rng_below(&rng, 12);
        size = at + size < length ? size : length - at;
        memcpy(line, whole, length + 1);
        switch (myr_rng_below(&rng, 3)) {
        case 0:
            line[at] = bytes[myr_rng_below(&rng, sizeof(bytes) - 1)];
            break;
        case 1:
            memmove(line + at, line + at + size, length - at - size + 1);
            break;
        default:
            memmove(line + at + size, line + at, length - at + 1);
            break;
        }
        taken += compare(&way, line);
    }
    assert_true(taken > 400 && taken < 3900); /* else nothing was compared */
    tear_down(&way);
}

/* Each byte of texts that are shorter and longer than a block of them; what is odd is left. */
static void a_text_is_taken_whole_or_not_at_all(void **state)
{
    static const char odd[] = {'\\', '\n', '\x1f', '\x7f', '\x80', '\xff'};
    (void)state;
    for (size_t length = 0; length < 50; length++) {
        char line[64];
        line[0] = '"';
        memset(line + 1, '~', length);
        snprintf(line + 1 + length, sizeof(line) - 1 - length, "\",");
        struct kube_walk w = {.at = line, .end = line + length + 3};
        struct myr_str text = {};
        assert_true(kube_walk_text(&w, &text));
        assert_true(text.data == line + 1 && text.len == length && *w.at == ',');
        for (size_t at = 0; at < length; at++) {
            for (size_t i = 0; i < sizeof(odd); i++) {
                line[1 + at] = odd[i];
                w = (struct kube_walk){.at = line, .end = line + length + 3};
                text = (struct myr_str){};
                assert_false(kube_walk_text(&w, &text));
                line[1 + at] = '~';
            }
        }
        w = (struct kube_walk){.at = line, .end = line + length + 1}; /* without its end */
        text = (struct myr_str){};
        assert_false(kube_walk_text(&w, &text));
    }
}

/* Brackets and quotes in every position against those of a block. */
static void a_value_is_passed_to_its_own_bracket(void **state)
{
    (void)state;
    for (size_t before = 0; before < 40; before++) {
        for (size_t inside = 0; inside < 40; inside++) {
            char line[160];
            int length = snprintf(line, sizeof(line), "{%*s\"%*s]}{[\":[{}],\"\":\"}\"},%20s",
                                  (int)before, "", (int)inside, "", "]}");
            const char *end = strstr(line, "},   ");
            struct kube_walk w = {.at = line, .end = line + length};
            struct myr_str value = kube_walk_pass(&w);
            assert_false(w.bad);
            assert_true(value.data == line && w.at == end + 1);
            *strstr(line, "[{}]") = '{';
            w = (struct kube_walk){.at = line, .end = line + length};
            (void)kube_walk_pass(&w);
            assert_true(w.bad);
        }
    }
}

static void of_a_pod_that_is_gone_the_names_are_enough(void **state)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf needs = {};
    char text[8192], line[8192];
    struct kube_pod_texts texts;
    struct myr_str type;
    (void)state;
    snprintf(text, sizeof(text), "%s", usual);
    put_quotes(text, line);
    char *at = strstr(line, "MODIFIED\"");
    memcpy(at, "DELETED\"", 9);
    at[8] = ' ';
    *strstr(line, "\"spec\"") = '?'; /* nobody comes so far */
    assert_true(kube_quick(myr_str_from(line), &type, &texts, &needs));
    assert_true(myr_str_eq(type, MYR_STR("DELETED")) && kube_pod_named(&texts));
    assert_true(myr_str_eq(texts.uid, MYR_STR("8d1c-4f")));
    assert_true(myr_str_eq(texts.version, MYR_STR("1234")));
    *strstr(line, "\"namespace\"") = '?';
    assert_false(kube_quick(myr_str_from(line), &type, &texts, &needs));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_usual_word_is_taken_quickly),
        cmocka_unit_test(odd_words_are_the_same_both_ways),
        cmocka_unit_test(broken_words_are_the_same_both_ways),
        cmocka_unit_test(a_text_is_taken_whole_or_not_at_all),
        cmocka_unit_test(a_value_is_passed_to_its_own_bracket),
        cmocka_unit_test(of_a_pod_that_is_gone_the_names_are_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
