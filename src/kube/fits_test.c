/* Where a pod may go, field by field of its spec; and the small texts of objects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "kube_test.h"
#include "leaks.h"
#include "myriad/base/rng.h"

/* A node with eight GPUs, 4 cores, 2 Gi and the label pool=gpu, size=7; one pod runs there. */
static struct myr_kube_cluster *world(const char *spec, const char *running)
{
    struct myr_kube_policy policy = myr_kube_policy_default();
    struct myr_kube_cluster *c = myr_kube_cluster_create(&policy);
    tell(c, MYR_KUBE_NODES, 1000,
         "{'type':'ADDED','object':{'metadata':{'name':'n1','uid':'u1','resourceVersion':'1',"
         "'labels':{'pool':'gpu','size':'7'}},'spec':{%s},'status':{'allocatable':{'cpu':'4',"
         "'memory':'2Gi','pods':'3','nvidia.com/gpu':'8'},'conditions':[{'type':'DiskPressure',"
         "'status':'False'},{'type':'Ready','status':'True'}]}}}",
         spec);
    tell(c, MYR_KUBE_PODS, 1000,
         "{'type':'ADDED','object':{'metadata':{'name':'r','namespace':'d','uid':'ur',"
         "'resourceVersion':'2'},'spec':{'schedulerName':'other','nodeName':'n1','containers':[{%s}"
         "]},'status':{'phase':'Running'}}}",
         running);
    return c;
}

/* A pod with that spec is bound, or waits for that reason. */
static void expect(const char *node, const char *running, const char *spec, const char *why)
{
    struct myr_kube_cluster *c = world(node, running);
    uint32_t count;
    tell(c, MYR_KUBE_PODS, 1000,
         "{'type':'ADDED','object':{'metadata':{'name':'p','namespace':'d','uid':'up',"
         "'resourceVersion':'3','ownerReferences':[{'kind':'Job','apiVersion':'batch/v1','name':"
         "'j','uid':'uj','controller':true}]},'spec':{'schedulerName':'myriad',%s},'status':{"
         "'phase':'Pending'}}}",
         spec);
    const struct myr_kube_decision *d = myr_kube_decide(c, 1000, 1, &count);
    if (count != 1 || (d->act == MYR_KUBE_BIND) != !why || (why && !strstr(d->reason, why))) {
        fail_msg("%s: %s, expected %s", spec,
                 !count                    ? "nothing is decided"
                 : d->act == MYR_KUBE_BIND ? "bound"
                                           : d->reason,
                 why ? why : "bound");
    }
    myr_kube_cluster_free(c);
}

#define ASKS(requests) "'containers':[{'resources':{'requests':{" requests "}}}]"
#define USES(requests) "'resources':{'requests':{" requests "}}"

static void amounts_are_added_and_held_against_the_node(void **state)
{
    (void)state;
    expect("", "", ASKS("'cpu':'4','memory':'2Gi','nvidia.com/gpu':'8'"), NULL);
    expect("", "", ASKS("'nvidia.com/gpu':'9'"), "short of nvidia.com/gpu");
    expect("", "", ASKS("'cpu':'4001m'"), "short of cpu");
    expect("", "", ASKS("'memory':'2097153Ki'"), "short of memory");
    expect("", "", ASKS("'memory':'2097152Ki'"), NULL);
    expect("", "", ASKS("'example.com/fpga':'1'"), "short of example.com/fpga");
    expect("", "", ASKS("'example.com/fpga':'0'"), NULL);
    expect("", USES("'cpu':'1500m'"), ASKS("'cpu':'2500m'"), NULL);
    expect("", USES("'cpu':'1500m'"), ASKS("'cpu':'2501m'"), "short of cpu");
    /* Containers run together; those before them one by one, unless they stay. */
    expect("", "", "'containers':[{" USES("'cpu':'2'") "},{" USES("'cpu':'2'") "}]", NULL);
    expect("", "", "'containers':[{" USES("'cpu':'2'") "},{" USES("'cpu':'2.001'") "}]",
           "short of cpu");
    expect("", "",
           ASKS("'cpu':'3'") ",'initContainers':[{" USES("'cpu':'4'") "},{" USES("'cpu':'4'") "}]",
           NULL);
    expect("", "", ASKS("'cpu':'1'") ",'initContainers':[{" USES("'cpu':'5'") "}]", "short of cpu");
    expect("", "",
           ASKS("'cpu':'3'") ",'initContainers':[{'restartPolicy':'Always'," USES("'cpu':'2'") "}]",
           "short of cpu");
    /* One that stays is there while those behind it run, not while those before it did. */
#define STAYS "{'restartPolicy':'Always'," USES("'cpu':'1'") "}"
    expect("", "", ASKS("'cpu':'1'") ",'initContainers':[" STAYS ",{" USES("'cpu':'4'") "}]",
           "short of cpu");
    expect("", "", ASKS("'cpu':'1'") ",'initContainers':[" STAYS ",{" USES("'cpu':'3'") "}]", NULL);
    expect("", "", ASKS("'cpu':'1'") ",'initContainers':[{" USES("'cpu':'4'") "}," STAYS "]", NULL);
    expect("", "", ASKS("'cpu':'3'") ",'initContainers':[{" USES("'cpu':'4'") "}," STAYS "]", NULL);
    expect("", "", ASKS("'cpu':'3001m'") ",'initContainers':[" STAYS "]", "short of cpu");
    /* What is asked for the pod as a whole counts instead, where it says something. */
    expect("", "", ASKS("'cpu':'1'") ",'resources':{'requests':{'cpu':'5'}}", "short of cpu");
    expect("", "", ASKS("'cpu':'9'") ",'resources':{'requests':{'cpu':'4'}}", NULL);
    expect("", "", ASKS("'cpu':'5'") ",'resources':{'requests':{'memory':'1Gi'}}", "short of cpu");
    expect("", "", ASKS("'cpu':'5'") ",'resources':null", "short of cpu");
    expect("", "", ASKS("'cpu':'3'") ",'overhead':{'cpu':'1'}", NULL);
    expect("", "", ASKS("'cpu':'3'") ",'overhead':{'cpu':'1001m'}", "short of cpu");
    expect("", "", ASKS("'cpu':'lots'"), "no quantity");
    expect("", "", ASKS("'cpu':['1']"), "no quantity");
}

static void ports_of_the_host_are_had_once(void **state)
{
    (void)state;
    const char *used = "'ports':[{'hostPort':80},{'hostPort':90,'protocol':'UDP'},{'x':1}]";
#define PORT(more) "'containers':[{'ports':[{" more "}]}]"
    expect("", used, PORT("'hostPort':81"), NULL);
    expect("", used, PORT("'hostPort':80"), "port");
    expect("", used, PORT("'hostPort':80,'protocol':'TCP'"), "port");
    expect("", used, PORT("'hostPort':80,'protocol':'UDP'"), NULL);
    expect("", used, PORT("'hostPort':90,'protocol':'UDP'"), "port");
    expect("", used, PORT("'hostPort':90"), NULL);
    expect("", used, PORT("'hostPort':0"), NULL);
    expect("", used, PORT("'containerPort':80"), NULL);
    expect("", "", PORT("'hostPort':65536"), "ports of the host");
    expect("", "", PORT("'hostPort':65535"), NULL);
    MYR_CLEANUP(myr_buf_done) struct myr_buf many = {};
    for (int count = 16; count <= 17; count++) { /* sixteen are taken */
        myr_buf_clear(&many);
        for (int i = 0; i < count; i++) {
            myr_buf_printf(&many, "%s{'hostPort':%d}", i ? "," : "'containers':[{'ports':[",
                           100 + i);
        }
        myr_buf_puts(&many, "]}]");
        expect("", "", many.data, count > 16 ? "more than 16 ports of the host" : NULL);
    }
}

/* Whether eight GPUs and a port are to be had after a pod that had them was told of so. */
static void after(const char *type, const char *node, const char *phase, bool free)
{
    struct myr_kube_cluster *c =
        world("", "'ports':[{'hostPort':80}]," USES("'nvidia.com/gpu':'8','cpu':'4'"));
    uint32_t count;
    tell(c, MYR_KUBE_PODS, 1000,
         "{'type':'%s','object':{'metadata':{'name':'r','namespace':'d','uid':'ur',"
         "'resourceVersion':'5'},'spec':{'schedulerName':'other','nodeName':'%s','containers':[{"
         "'ports':[{'hostPort':80}]," USES(
             "'nvidia.com/gpu':'8','cpu':'4'") "}]},"
                                               "'status':{'phase':'%s'}}}",
         type, node, phase);
    tell(c, MYR_KUBE_PODS, 1000,
         "{'type':'ADDED','object':{'metadata':{'name':'p','namespace':'d','uid':'up',"
         "'resourceVersion':'6'},'spec':{'schedulerName':'myriad','containers':[{'ports':[{"
         "'hostPort':80}]," USES("'nvidia.com/gpu':'8','cpu':'4'") "}]},'status':{'phase':"
                                                                   "'Pending'}}}");
    const struct myr_kube_decision *d = myr_kube_decide(c, 1000, 1, &count);
    if (count != 1 || (d->act == MYR_KUBE_BIND) != free) {
        fail_msg("%s on '%s', %s: %s", type, node, phase, count ? d->reason : "nothing is decided");
    }
    myr_kube_cluster_free(c);
}

/* Who is over or gone has nothing any more; who begins or is not heard of has it still. */
static void what_a_pod_had_is_free_when_it_is_over(void **state)
{
    (void)state;
    after("MODIFIED", "n1", "Running", false);
    after("MODIFIED", "n1", "Pending", false);
    after("MODIFIED", "n1", "Unknown", false);
    after("MODIFIED", "n1", "Succeeded", true);
    after("MODIFIED", "n1", "Failed", true);
    after("MODIFIED", "elsewhere", "Running", true);
    after("DELETED", "n1", "Running", true);
}

/* Two pods of one gang with a port of the host do not share a node, whatever room it has. */
static void pods_with_a_port_need_a_node_each(void **state)
{
    (void)state;
    static const char *const ports[] = {"", "'ports':[{'hostPort':4000}],"};
    for (int i = 0; i < 2; i++) {
        struct myr_kube_cluster *c = world("", "");
        uint32_t count;
        for (int at = 0; at < 2; at++) {
            tell(c, MYR_KUBE_PODS, 1000,
                 "{'type':'ADDED','object':{'metadata':{'name':'g-%d','namespace':'d','uid':'ug%d',"
                 "'resourceVersion':'3','annotations':{'myriad/gang':'g','myriad/gang-size':'2'}},"
                 "'spec':{'schedulerName':'myriad','containers':[{%s" USES(
                     "'cpu':'1'") "}]},"
                                  "'status':{'phase':'Pending'}}}",
                 at, at, ports[i]);
        }
        const struct myr_kube_decision *d = myr_kube_decide(c, 1000, 1, &count);
        assert_int_equal(count, 1);
        assert_int_equal(d->act, i ? MYR_KUBE_WAIT : MYR_KUBE_BIND);
        myr_kube_cluster_free(c);
    }
}

/* Lines of a watch that are none. */
static void what_is_no_line_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"[]",
                                      "7",
                                      "\"x\"",
                                      "{",
                                      "{\"type\":\"ADDED\"}",
                                      "{\"type\":\"MOVED\",\"object\":{}}",
                                      "{\"object\":{}}"};
    struct myr_kube_policy policy = myr_kube_policy_default();
    struct myr_kube_cluster *c = myr_kube_cluster_create(&policy);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        struct myr_kube_said got;
        struct myr_err err = {};
        assert_true(myr_kube_line(c, MYR_KUBE_PODS, myr_str_from(bad[i]), 1, &got, &err) < 0);
        assert_true(err.message[0] != '\0');
    }
    myr_kube_cluster_free(c);
}

#define TERM(more)                                                                   \
    "'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{" \
    "'nodeSelectorTerms':[" more "]}}}"
#define LABEL(key, is, values) \
    "{'matchExpressions':[{'key':'" key "','operator':'" is "','values':[" values "]}]}"

static void labels_choose(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        bool fits;
    } cases[] = {
        {"'nodeSelector':{'pool':'gpu'}", true},
        {"'nodeSelector':{'pool':'gpu','size':'7'}", true},
        {"'nodeSelector':{'pool':'gpu','size':'8'}", false},
        {"'nodeSelector':{'pool':'cpu'}", false},
        {"'nodeSelector':{'rack':''}", false},
        {TERM(LABEL("pool", "In", "'cpu','gpu'")), true},
        {TERM(LABEL("pool", "In", "'cpu'")), false},
        {TERM(LABEL("rack", "In", "''")), false},
        {TERM(LABEL("pool", "NotIn", "'cpu'")), true},
        {TERM(LABEL("pool", "NotIn", "'cpu','gpu'")), false},
        {TERM(LABEL("rack", "NotIn", "'x'")), true},
        {TERM(LABEL("pool", "Exists", "")), true},
        {TERM(LABEL("rack", "Exists", "")), false},
        {TERM(LABEL("rack", "DoesNotExist", "")), true},
        {TERM(LABEL("pool", "DoesNotExist", "")), false},
        {TERM(LABEL("size", "Gt", "'6'")), true},
        {TERM(LABEL("size", "Gt", "'7'")), false},
        {TERM(LABEL("size", "Lt", "'8'")), true},
        {TERM(LABEL("size", "Lt", "'7'")), false},
        {TERM(LABEL("size", "Gt", "'5','6'")), false},
        {TERM(LABEL("pool", "Gt", "'5'")), false},
        {TERM(LABEL("rack", "Lt", "'5'")), false},
        {TERM(LABEL("pool", "In", "'cpu'") "," LABEL("pool", "In", "'gpu'")), true}, /* either */
        {TERM(""), false},
        {TERM("{}"), false},
        {TERM("{'matchFields':[{'key':'metadata.name','operator':'In','values':['n1']}]}"), true},
        {TERM("{'matchFields':[{'key':'metadata.name','operator':'In','values':['n2']}]}"), false},
        {TERM("{'matchFields':[{'key':'metadata.name','operator':'NotIn','values':['n1']}]}"),
         false},
        {TERM("{'matchExpressions':[{'key':'pool','operator':'Exists'},{'key':'size','operator':"
              "'In','values':['8']}]}"),
         false}, /* all of a term */
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        expect("", "", cases[i].spec, cases[i].fits ? NULL : "not selected by the pods'");
    }
    expect("", "", TERM(LABEL("pool", "Near", "'x'")), "unknown operator or field");
    expect("", "", TERM("{'matchFields':[{'key':'metadata.uid','operator':'In','values':['n1']}]}"),
           "unknown operator or field");
}

static void taints_keep_away_who_does_not_tolerate_them(void **state)
{
    (void)state;
    static const char taint[] = "'taints':[{'key':'k','value':'v','effect':'NoSchedule'}]";
    static const char drive[] = "'taints':[{'key':'k','value':'v','effect':'NoExecute'}]";
    static const char soft[] = "'taints':[{'key':'k','value':'v','effect':'PreferNoSchedule'}]";
    static const char two[] = "'taints':[{'key':'k','value':'v','effect':'NoSchedule'},"
                              "{'key':'m','effect':'NoExecute'}]";
    static const char cordon[] = "'unschedulable':true";
#define BEARS(more) "'tolerations':[{" more "}]"
    expect(taint, "", "'x':1", "tainted");
    expect(soft, "", "'x':1", NULL);
    expect(drive, "", "'x':1", "tainted");
    expect(taint, "", BEARS("'key':'k','operator':'Exists'"), NULL);
    expect(taint, "", BEARS("'key':'k','value':'v'"), NULL);
    expect(taint, "", BEARS("'key':'k','operator':'Equal','value':'v','effect':'NoSchedule'"),
           NULL);
    expect(taint, "", BEARS("'key':'k','value':'w'"), "tainted");
    expect(taint, "", BEARS("'key':'m','operator':'Exists'"), "tainted");
    expect(taint, "", BEARS("'key':'k','operator':'Exists','effect':'NoExecute'"), "tainted");
    expect(drive, "", BEARS("'key':'k','operator':'Exists','effect':'NoExecute'"), NULL);
    expect(taint, "", BEARS("'operator':'Exists'"), NULL);
    expect(taint, "", BEARS("'value':'v'"), "tainted");
    expect(two, "", BEARS("'key':'k','operator':'Exists'"), "tainted");
    expect(two, "", BEARS("'key':'k','operator':'Exists'},{'key':'m'"), NULL);
    expect(cordon, "", "'x':1", "cordoned");
    expect(cordon, "", BEARS("'key':'node.kubernetes.io/unschedulable','operator':'Exists'"), NULL);
    expect("'unschedulable':false", "", "'x':1", NULL);
}

static void what_is_not_understood_waits(void **state)
{
    (void)state;
    static const char must[] = "'requiredDuringSchedulingIgnoredDuringExecution'";
    char spec[300];
    const char *kinds[] = {"podAffinity", "podAntiAffinity"};
    for (int i = 0; i < 2; i++) {
        snprintf(spec, sizeof(spec), "'affinity':{'%s':{%s:[{}]}}", kinds[i], must);
        expect("", "", spec, "a required podAffinity or podAntiAffinity");
        snprintf(spec, sizeof(spec), "'affinity':{'%s':{'preferred':[{}]}}", kinds[i]);
        expect("", "", spec, NULL);
    }
    expect("", "", "'topologySpreadConstraints':[{'whenUnsatisfiable':'DoNotSchedule'}]",
           "a topologySpreadConstraint that must hold");
    expect("", "", "'topologySpreadConstraints':[{}]", "must hold");
    expect("", "", "'topologySpreadConstraints':[{'whenUnsatisfiable':'ScheduleAnyway'}]", NULL);
    expect("", "", "'schedulingGates':[{'name':'g'}]", "a scheduling gate");
    expect("", "", "'schedulingGates':[]", NULL);
    expect("", "", "'resourceClaims':[{'name':'g'}]", "resourceClaims");
    expect("", "", "'resourceClaims':[]", NULL);
}

static int said(struct myr_kube_cluster *c, enum myr_kube_kind kind, const char *object,
                const char *change)
{
    char text[4096];
    struct myr_kube_said got;
    struct myr_err err = {};
    snprintf(text, sizeof(text), "{'type':'%s','object':{%s}}", change, object);
    for (char *at = text; *at; at++) {
        *at = (char)(*at == '\'' ? '"' : *at);
    }
    int rc = myr_kube_line(c, kind, myr_str_from(text), 1000, &got, &err);
    assert_true(rc == MYR_OK || err.message[0]);
    return rc;
}

/* Names and uids have 1 to 253 bytes; what has none is refused, and nothing is kept of it. */
static void objects_without_a_name_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "'metadata':[]",
                                      "'metadata':{}",
                                      "'metadata':{'name':'a','namespace':'d'}",
                                      "'metadata':{'uid':'u','namespace':'d'}",
                                      "'metadata':{'name':'A b','uid':'u','namespace':'d'}"};
    struct myr_kube_policy policy = myr_kube_policy_default();
    struct myr_kube_cluster *c = myr_kube_cluster_create(&policy);
    for (int kind = MYR_KUBE_NODES; kind <= MYR_KUBE_PODS; kind++) {
        for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
            assert_true(said(c, (enum myr_kube_kind)kind, bad[i], "ADDED") < 0);
        }
        char longest[255], object[900];
        memset(longest, 'a', sizeof(longest));
        for (int length = 253; length <= 254; length++) {
            snprintf(object, sizeof(object), "'metadata':{'name':'%.*s','uid':'u','namespace':'d'}",
                     length, longest);
            assert_int_equal(said(c, (enum myr_kube_kind)kind, object, "ADDED") == MYR_OK,
                             length == 253);
            snprintf(object, sizeof(object), "'metadata':{'name':'b','uid':'%.*s','namespace':'d'}",
                     length, longest);
            assert_int_equal(said(c, (enum myr_kube_kind)kind, object, "ADDED") == MYR_OK,
                             length == 253);
        }
    }
    assert_int_equal(myr_kube_counts(c).nodes, 2);
    assert_int_equal(myr_kube_counts(c).pods, 2);
    /* One that nobody has heard of goes. */
    static const char other[] = "'metadata':{'name':'x','uid':'ux','namespace':'d'}";
    assert_int_equal(said(c, MYR_KUBE_PODS, other, "DELETED"), MYR_OK);
    assert_int_equal(said(c, MYR_KUBE_NODES, other, "DELETED"), MYR_OK);
    assert_int_equal(myr_kube_counts(c).nodes, 2);
    assert_int_equal(myr_kube_counts(c).pods, 2);
    myr_kube_cluster_free(c);
}

/* Why a gang waits is said when it is new, and other numbers of it once a minute. */
static void reasons_are_not_repeated(void **state)
{
    (void)state;
    struct myr_kube_cluster *c = world("", USES("'cpu':'1'"));
    static const char pod[] =
        "'metadata':{'name':'p','namespace':'d','uid':'up','resourceVersion':'3'},'spec':{"
        "'schedulerName':'myriad'," ASKS("'nvidia.com/gpu':'9'") "},'status':{'phase':'Pending'}";
    static const struct {
        int64_t at_ms;
        bool other, told;
    } rounds[] = {{1000, false, true},    {2000, false, false},  {3000, true, false},
                  {60999, true, false},   {61001, false, true},  {61002, true, false},
                  {121000, false, false}, {121002, false, true}, {121003, false, false}};
    assert_int_equal(said(c, MYR_KUBE_PODS, pod, "ADDED"), MYR_OK);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rounds); i++) {
        uint32_t count;
        /* A node more that is as small: another number in the same reason. */
        if (rounds[i].other) {
            char node[400];
            snprintf(node, sizeof(node),
                     "'metadata':{'name':'m%zu','uid':'um%zu','resourceVersion':'9'},'spec':{},"
                     "'status':{'allocatable':{'nvidia.com/gpu':'8','pods':'3'},'conditions':["
                     "{'type':'Ready','status':'True'}]}",
                     i, i);
            assert_int_equal(said(c, MYR_KUBE_NODES, node, "ADDED"), MYR_OK);
        }
        const struct myr_kube_decision *d = myr_kube_decide(c, rounds[i].at_ms, 1, &count);
        if (count != rounds[i].told) {
            fail_msg("round %zu: %u decisions, %s", i, count, count ? d->reason : "");
        }
    }
    myr_kube_cluster_free(c);
}

static bool is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* The day of the calendar, counted year by year and month by month. */
static void put_day(int64_t days, char ret[32])
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t year = 1970;
    int month = 0;
    for (; days >= 365 + is_leap(year); year++) {
        days -= 365 + is_leap(year);
    }
    for (; days >= lengths[month] + (month == 1 && is_leap(year)); month++) {
        days -= lengths[month] + (month == 1 && is_leap(year));
    }
    snprintf(ret, 32, "%04d-%02d-%02d", (int)year, month + 1, (int)days + 1);
}

static void times_are_those_of_the_calendar(void **state)
{
    (void)state;
    struct myr_rng rng;
    myr_rng_init(&rng, 1, 5);
    for (int i = 0; i < 5000; i++) {
        int64_t day = i < 1500 ? i : (int64_t)myr_rng_below(&rng, 2900000), ms;
        uint32_t h = myr_rng_below(&rng, 24), m = myr_rng_below(&rng, 60);
        uint32_t second = myr_rng_below(&rng, 60);
        char text[64], date[32];
        put_day(day, date);
        snprintf(text, sizeof(text), "%sT%02u:%02u:%02u%s", date, h, m, second,
                 i % 2 ? "Z" : ".123456Z");
        if (!kube_time(myr_str_from(text), &ms) ||
            ms != (((day * 24 + h) * 60 + m) * 60 + second) * 1000) {
            fail_msg("%s is day %lld", text, (long long)day);
        }
    }
    static const char *const bad[] = {
        "2026-00-01T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-00T00:00:00Z",
        "2026-01-32T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z",
        "2026-01-01T00:00:61Z", "2026-01-01 00:00:00Z", "2026-01-01T00:00:00",
        "2026-01-01T00:00:0aZ", "x026-01-01T00:00:00Z", ""};
    static const char *const good[] = {"2026-12-31T23:59:60Z", "2026-01-31T00:00:00Z"};
    int64_t ms;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        assert_false(kube_time(myr_str_from(bad[i]), &ms));
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(good); i++) {
        assert_true(kube_time(myr_str_from(good[i]), &ms));
    }
}

static void amounts_of_every_suffix(void **state)
{
    (void)state;
    static const struct {
        const char *suffix;
        double factor;
    } rows[] = {{"", 1},        {"n", 1e-9},    {"u", 1e-6},    {"m", 1e-3},    {"k", 1e3},
                {"M", 1e6},     {"G", 1e9},     {"T", 1e12},    {"P", 1e15},    {"Ki", 0x1p10},
                {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"Pi", 0x1p50}, {"e2", 1e2},
                {"E+3", 1e3},   {"e-9", 1e-9},  {"E15", 1e15}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        for (int n = 0; n < 12; n += 3) {
            char text[32];
            int64_t milli;
            snprintf(text, sizeof(text), "%s%d%s", n == 9 ? "+" : "", n, rows[i].suffix);
            if (!kube_quantity(myr_str_from(text), &milli)) {
                fail_msg("'%s' is not read", text);
            }
            double wanted = n * rows[i].factor * 1000; /* what is finer is rounded up */
            wanted = wanted > 0 && wanted < 1 ? 1 : wanted > 0x1p63 ? 0x1p63 : wanted;
            if ((double)milli < wanted * (1 - 1e-12) || (double)milli > wanted * (1 + 1e-12)) {
                fail_msg("'%s' is %lld thousandths, %.17g expected", text, (long long)milli,
                         wanted);
            }
        }
    }
    static const struct {
        const char *text;
        int64_t milli;
    } exact[] = {{"0.001T", 1000000000000},
                 {"0.000001P", 1000000000000},
                 {"0.000000001E", 1000000000000},
                 {"0.5Ki", 512000},
                 {"0.5Mi", 524288000},
                 {"0.5Gi", 536870912000},
                 {"0.5Ti", 549755813888000},
                 {"0.5Pi", 562949953421312000},
                 {"3000u", 3},
                 {"0.001953125Ei", 2251799813685248000}};
    int64_t milli;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(exact); i++) {
        assert_true(kube_quantity(myr_str_from(exact[i].text), &milli));
        assert_true(milli == exact[i].milli);
    }
    assert_true(kube_quantity(MYR_STR("1E"), &milli) && milli == INT64_MAX);
    assert_true(kube_quantity(MYR_STR("9223372036854775.807"), &milli) && milli == INT64_MAX);
    assert_true(kube_quantity(MYR_STR("9223372036854775"), &milli));
    assert_true(milli == INT64_C(9223372036854775000));
    assert_true(kube_quantity(MYR_STR("0.1234567891"), &milli) && milli == 124);
    assert_true(kube_quantity(MYR_STR("0.1230000000"), &milli) && milli == 123);
    assert_true(kube_quantity(MYR_STR("0.12300000001"), &milli) && milli == 124);
    assert_false(kube_quantity(MYR_STR("1e19"), &milli));
    assert_false(kube_quantity(MYR_STR("1e-10"), &milli));
}

static void names_are_ordered_as_people_count(void **state)
{
    (void)state;
    static const char *const rising[] = {"",    "a",   "a0",  "a00",  "a1",    "a01",
                                         "a2",  "a09", "a10", "a10b", "a10b2", "a10b10",
                                         "a11", "b",   "b1",  "b1-1", "b1-2",  "b1-10"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rising); i++) {
        for (size_t k = 0; k < MYR_ARRAY_COUNT(rising); k++) {
            int order = kube_natural(myr_str_from(rising[i]), myr_str_from(rising[k]));
            bool alike = (i == 2 && k == 3) || (i == 3 && k == 2) || (i == 4 && k == 5) ||
                         (i == 5 && k == 4); /* two names, whichever is first */
            if (alike ? order == 0 : (order > 0) - (order < 0) != (i > k) - (i < k)) {
                fail_msg("'%s' and '%s': %d", rising[i], rising[k], order);
            }
        }
    }
    char name[260];
    memset(name, 'a', sizeof(name));
    assert_true(kube_is_name((struct myr_str){name, 253}));
    assert_false(kube_is_name((struct myr_str){name, 254}));
    static const char *const bad[] = {"", "-a", "a-", ".a", "a.", "A", "a_b", "a/b", "a b"};
    static const char *const good[] = {"a", "0", "z9", "a-b", "a.b", "a--b", "9-a"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        assert_false(kube_is_name(myr_str_from(bad[i])));
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(good); i++) {
        assert_true(kube_is_name(myr_str_from(good[i])));
    }
}

/* Pods of others on the node, each with twelve ports of the host, or with so many GPUs. */
static struct myr_kube_cluster *crowded(uint32_t pods, const char *asks)
{
    struct myr_kube_cluster *c = world("", "");
    for (uint32_t i = 0; i < pods; i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf ports = {};
        for (uint32_t k = 0; k < 12; k++) {
            myr_buf_printf(&ports, "%s{'hostPort':%u}", k ? "," : "", 1000 + 12 * i + k);
        }
        tell(c, MYR_KUBE_PODS, 1000,
             "{'type':'ADDED','object':{'metadata':{'name':'o%u','namespace':'d','uid':'uo%u',"
             "'resourceVersion':'9'},'spec':{'schedulerName':'other','nodeName':'n1','containers':"
             "[{'ports':[%s]%s}]},'status':{'phase':'Running'}}}",
             i, i, ports.data, asks);
    }
    return c;
}

/* What is more than can be counted is counted anew each time, and stops nobody from deciding. */
static void a_node_may_have_more_than_is_counted(void **state)
{
    (void)state;
    static const char *const asks[] = {"", ",'resources':{'requests':{'memory':'8e15'}}"};
    for (uint32_t i = 0; i < 4; i++) {
        struct myr_kube_cluster *c = crowded(i < 2 ? 6 : 3, asks[i / 2]);
        uint32_t count;
        tell(c, MYR_KUBE_PODS, 1000,
             "{'type':'ADDED','object':{'metadata':{'name':'p','namespace':'d','uid':'up',"
             "'resourceVersion':'3'},'spec':{'schedulerName':'myriad','containers':[{'ports':[%s],"
             "'resources':{'requests':{'memory':'1'}}}]},'status':{'phase':'Pending'}}}",
             i % 2 ? "{'hostPort':80}" : "");
        const struct myr_kube_decision *d = myr_kube_decide(c, 1000, 1, &count);
        assert_true(count == 1 && d->act == MYR_KUBE_WAIT);
        myr_kube_cluster_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(amounts_are_added_and_held_against_the_node),
        cmocka_unit_test(ports_of_the_host_are_had_once),
        cmocka_unit_test(what_a_pod_had_is_free_when_it_is_over),
        cmocka_unit_test(pods_with_a_port_need_a_node_each),
        cmocka_unit_test(what_is_no_line_is_refused),
        cmocka_unit_test(labels_choose),
        cmocka_unit_test(taints_keep_away_who_does_not_tolerate_them),
        cmocka_unit_test(what_is_not_understood_waits),
        cmocka_unit_test(objects_without_a_name_are_refused),
        cmocka_unit_test(reasons_are_not_repeated),
        cmocka_unit_test(times_are_those_of_the_calendar),
        cmocka_unit_test(amounts_of_every_suffix),
        cmocka_unit_test(names_are_ordered_as_people_count),
        cmocka_unit_test(a_node_may_have_more_than_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
