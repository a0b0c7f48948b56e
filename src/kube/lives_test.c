/*
 * A small cluster from its first node to its last pod: what is decided after each word of the API
 * server, as one text (tests/kept/kube-lives.txt). Each life is told twice: as the API server
 * writes objects, and with a blank more, which takes the other reader.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "kept.h"
#include "kube.h"
#include "leaks.h"

static struct myr_kube_cluster *c;
static struct myr_buf story;
static int64_t now_ms;
static const char *blank; /* behind the first bracket */

/* What is kept of each gang, and of each node that is in use. */
static void put_kept(void)
{
    for (size_t i = 0; i < c->gangs.count; i++) {
        const struct kube_gang *gang = c->gangs.items[i];
        if (gang) {
            myr_buf_printf(&story,
                           "  gang %s: %u pods of %u, %u wait, %u bound, %u done, %u assumed;%s%s "
                           "%zu broken\n",
                           gang->key, gang->count, gang->size, gang->waits, gang->bound, gang->done,
                           gang->assumed, gang->flying ? " flies" : "", gang->quiet ? " well" : "",
                           gang->broken.count);
        }
    }
    for (uint32_t i = 0; i < c->use_count; i++) {
        for (uint32_t k = 0; k < c->resources.ids.count; k++) {
            if (c->use[i].used[k] != 0) {
                myr_buf_printf(&story, "  node %u: %lld of resource %u\n", i,
                               (long long)c->use[i].used[k], k);
            }
        }
    }
}

static void put_state(void)
{
    static const char *const acts[] = {"bind", "remake", "wait"};
    struct myr_kube_counts n = myr_kube_counts(c);
    uint32_t count;
    bool changed = myr_kube_changed(c);
    const struct myr_kube_decision *d = myr_kube_decide(c, now_ms, 9, &count);
    for (uint32_t i = 0; i < count; i++) {
        myr_buf_printf(
            &story, "  %s %s of %u%s '%s' owner %s/%s plan %s master %s:", acts[d[i].act],
            d[i].gang, d[i].world, d[i].finishes ? " finishes" : "", d[i].reason ? d[i].reason : "",
            d[i].owner_kind ? d[i].owner_kind : "-", d[i].owner_name ? d[i].owner_name : "-",
            d[i].plan ? d[i].plan : "-", d[i].master ? d[i].master : "-");
        for (uint32_t k = 0; k < d[i].seat_count; k++) {
            const struct myr_kube_seat *s = &d[i].seats[k];
            myr_buf_printf(&story, " %s/%s@%s#%u%s", s->space, s->name, s->node ? s->node : "-",
                           s->rank, s->bound ? "!" : "");
        }
        myr_buf_puts(&story, "\n");
    }
    int64_t wake_ms = myr_kube_wake_ms(c);
    myr_buf_printf(&story,
                   "  changed %d, waits %d, wakes %lld; nodes %u usable %u pods %u ours %u waiting "
                   "%u bound %u gangs %u\n",
                   changed, myr_kube_waits(c),
                   wake_ms == INT64_MAX ? -1LL : (long long)(wake_ms - now_ms), n.nodes, n.usable,
                   n.pods, n.ours, n.waiting, n.bound, n.gangs_waiting);
    put_kept();
}

/* Single quotes stand for double ones. */
static void line(enum myr_kube_kind kind, const char *type, const char *object)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_kube_said said = {};
    struct myr_err err = {};
    myr_buf_printf(&text, "{%s'type':'%s','object':%s}", blank, type, object);
    for (size_t i = 0; i < text.len; i++) {
        text.data[i] = (char)(text.data[i] == '\'' ? '"' : text.data[i]);
    }
    int rc = myr_kube_line(c, kind, (struct myr_str){text.data, text.len}, now_ms, &said, &err);
    myr_buf_printf(&story, "%s %s: ", type, kind == MYR_KUBE_NODES ? "node" : "pod");
    if (rc < 0) {
        myr_buf_printf(&story, "%s\n", err.message);
    } else {
        myr_buf_printf(&story, "change %d version '%s' code %u '%s'\n", (int)said.change,
                       said.version, said.code, said.text);
    }
    put_state();
}

static const char *node(const char *name, const char *spec, const char *ready)
{
    static char text[600];
    snprintf(text, sizeof(text),
             "{'metadata':{'name':'%s','uid':'u-%s','resourceVersion':'5'},'spec':{%s},'status':{"
             "'allocatable':{'nvidia.com/gpu':'8','pods':'9'},'addresses':[{'type':'InternalIP',"
             "'address':'10.0.0.%c'}],'conditions':[{'type':'Ready','status':'%s'}]}}",
             name, name, spec, name[1], ready);
    return text;
}

/* 'where' is the node and what the binding has written, or nothing. */
static const char *pod(const char *name, const char *uid, int size, const char *where,
                       const char *phase)
{
    static char text[1200];
    char notes[300] = "", at[60] = "";
    if (where) {
        snprintf(at, sizeof(at), "'nodeName':'%s',", where);
        snprintf(notes, sizeof(notes),
                 ",'myriad/rank':'%c','myriad/world-size':'%d','myriad/node':'%s',"
                 "'myriad/placement':'p','myriad/master-addr':'m'",
                 name[2], size, where);
    }
    snprintf(text, sizeof(text),
             "{'metadata':{'name':'%s','namespace':'d','uid':'%s','resourceVersion':'6',"
             "'annotations':{'myriad/gang':'g','myriad/gang-size':'%d'%s},'ownerReferences':[{"
             "'apiVersion':'batch/v1','kind':'Job','name':'g','uid':'j','controller':true}]},"
             "'spec':{%s'schedulerName':'myriad','containers':[{'resources':{'requests':{"
             "'nvidia.com/gpu':'8'}}}]},'status':{'phase':'%s'}}",
             name, uid, size, notes, at, phase);
    return text;
}

static void nodes_come(void)
{
    line(MYR_KUBE_NODES, "ADDED", node("n1", "", "True"));
    line(MYR_KUBE_NODES, "ADDED", node("n2", "", "False"));
    line(MYR_KUBE_NODES, "MODIFIED", node("n2", "", "True"));
    line(MYR_KUBE_NODES, "MODIFIED", node("n2", "", "True")); /* nothing new */
    line(MYR_KUBE_NODES, "ADDED", node("n3", "'unschedulable':true", "True"));
    line(MYR_KUBE_NODES, "BOOKMARK", "{'metadata':{'resourceVersion':'77'}}");
    line(MYR_KUBE_NODES, "BOOKMARK", "{'metadata':{'resourceVersion':'7/7'}}");
    line(MYR_KUBE_NODES, "ERROR", "{'code':410,'message':'too old'}");
    line(MYR_KUBE_NODES, "GONE", "{}");
    line(MYR_KUBE_NODES, "ADDED", "{'metadata':{}}");
    line(MYR_KUBE_PODS, "ADDED", "{'metadata':{'name':'x'}}");
}

static void a_gang(void)
{
    line(MYR_KUBE_PODS, "ADDED", pod("g-0", "a0", 2, NULL, "Pending"));
    line(MYR_KUBE_PODS, "ADDED", pod("g-1", "a1", 2, NULL, "Pending"));
    myr_buf_puts(&story, "the binding fails\n");
    myr_kube_over(c, "d/g/j", false);
    put_state();
    line(MYR_KUBE_PODS, "DELETED", pod("g-1", "a1", 2, NULL, "Pending"));
    now_ms += 60000;
    myr_buf_puts(&story, "a minute later\n");
    put_state();
    line(MYR_KUBE_PODS, "ADDED", pod("g-1", "b1", 2, NULL, "Pending"));
    myr_buf_puts(&story, "it is bound\n");
    line(MYR_KUBE_PODS, "MODIFIED", pod("g-0", "a0", 2, "n1", "Pending"));
    line(MYR_KUBE_PODS, "MODIFIED", pod("g-1", "b1", 2, "n2", "Pending"));
    myr_kube_over(c, "d/g/j", true);
    put_state();
    line(MYR_KUBE_PODS, "MODIFIED", pod("g-0", "a0", 2, "n1", "Running"));
    line(MYR_KUBE_PODS, "DELETED", pod("g-1", "b1", 2, "n2", "Running"));
    line(MYR_KUBE_PODS, "ADDED", pod("g-1", "c1", 2, NULL, "Pending"));
    now_ms += 3600000;
    myr_buf_puts(&story, "an hour later\n");
    put_state();
    line(MYR_KUBE_NODES, "DELETED", node("n2", "", "True"));
    now_ms += 3600000;
    put_state();
    line(MYR_KUBE_PODS, "DELETED", pod("g-0", "a0", 2, "n1", "Running"));
    line(MYR_KUBE_PODS, "DELETED", pod("g-1", "c1", 2, NULL, "Pending"));
    myr_buf_puts(&story, "it was made again, and nothing of it is left\n");
    myr_kube_over(c, "d/g/j", true);
    put_state();
    line(MYR_KUBE_NODES, "DELETED", node("n9", "", "True")); /* nobody has it */
}

static void others(void)
{
    line(MYR_KUBE_PODS, "ADDED",
         "{'metadata':{'name':'o','namespace':'e','uid':'o1'},'spec':{'nodeName':'n1',"
         "'containers':[{'resources':{'requests':{'nvidia.com/gpu':'5'}}}]},'status':{'phase':"
         "'Running'}}");
    line(MYR_KUBE_PODS, "ADDED", pod("s-0", "s0", 1, NULL, "Pending"));
    line(MYR_KUBE_PODS, "DELETED", "{'metadata':{'name':'o','namespace':'e','uid':'o1'}}");
    now_ms += 60000;
    put_state();
}

static void lives(void **state)
{
    (void)state;
    static const char *const blanks[] = {"", " "};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(blanks); i++) {
        struct myr_kube_policy policy = myr_kube_policy_default();
        c = myr_kube_cluster_create(&policy);
        blank = blanks[i];
        now_ms = 1794819600000;
        myr_buf_printf(&story, "== %s\n", *blank ? "with a blank" : "as the API server writes");
        nodes_come();
        a_gang();
        others();
        myr_kube_cluster_free(c);
    }
    assert_kept("kube-lives.txt", &story);
    myr_buf_done(&story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
