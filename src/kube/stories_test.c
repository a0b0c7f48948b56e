/*
 * What is decided for gangs of every kind, and why, word by word (tests/kept/kube-stories.txt):
 * sizes, room, waiting, ranks, what breaks them and what is finished.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "kept.h"
#include "kube_test.h"
#include "leaks.h"

static const int64_t BEGIN_MS = 1794819600000; /* 2026-11-16T09:00:00Z */

static struct myr_kube_cluster *c;
static struct myr_buf story;
static int64_t now_ms;

static void begin(const char *title)
{
    struct myr_kube_policy policy = myr_kube_policy_default();
    c = myr_kube_cluster_create(&policy);
    now_ms = BEGIN_MS;
    myr_buf_printf(&story, "== %s\n", title);
}

static void end(void)
{
    myr_kube_cluster_free(c);
}

static void put_decision(const struct myr_kube_decision *d)
{
    static const char *const acts[] = {"bind", "remake", "wait"};
    myr_buf_printf(
        &story,
        "  %s %s '%s' owner %s %s %s %s, placement %s of %u%s, plan %s, master %s:", acts[d->act],
        d->gang, d->reason, d->owner_api ? d->owner_api : "-", d->owner_kind ? d->owner_kind : "-",
        d->owner_name ? d->owner_name : "-", d->owner_uid ? d->owner_uid : "-",
        d->placement ? d->placement : "-", d->world, d->finishes ? " finishes" : "",
        d->plan ? d->plan : "-", d->master ? d->master : "-");
    for (uint32_t i = 0; i < d->seat_count; i++) {
        const struct myr_kube_seat *s = &d->seats[i];
        if (i < 8 || i + 1 == d->seat_count) {
            myr_buf_printf(&story, " %s/%s.%s@%s#%u%s", s->space, s->name, s->uid, s->node, s->rank,
                           s->bound ? "!" : "");
        }
    }
    myr_buf_printf(&story, " (%u)\n", d->seat_count);
}

/* What is to be done after so long; each that is to be bound or made again stays under way. */
static const struct myr_kube_decision *after(int64_t ms, uint32_t *ret_count)
{
    uint32_t count;
    bool changed = myr_kube_changed(c);
    now_ms = BEGIN_MS + ms;
    const struct myr_kube_decision *d = myr_kube_decide(c, now_ms, 15, &count);
    struct myr_kube_counts n = myr_kube_counts(c);
    int64_t wake_ms = myr_kube_wake_ms(c);
    myr_buf_printf(&story,
                   "%lld ms:%s%s %u missing, wakes %lld; nodes %u usable %u, pods %u ours %u "
                   "waiting %u bound %u, gangs waiting %u\n",
                   (long long)ms, changed ? " changed" : "", myr_kube_waits(c) ? " waits" : "",
                   myr_kube_missing(c),
                   wake_ms == INT64_MAX ? -1LL : (long long)(wake_ms - BEGIN_MS), n.nodes, n.usable,
                   n.pods, n.ours, n.waiting, n.bound, n.gangs_waiting);
    for (uint32_t i = 0; i < count; i++) {
        put_decision(&d[i]);
    }
    if (ret_count) {
        *ret_count = count;
    }
    return d;
}

static void node(const char *name, const char *meta, const char *spec, const char *has,
                 const char *ready)
{
    tell(c, MYR_KUBE_NODES, now_ms,
         "{'type':'MODIFIED','object':{'metadata':{'name':'%s','uid':'u-%s'%s},'spec':{%s},"
         "'status':{'allocatable':{'pods':'9'%s},'addresses':[{'type':'Hostname','address':'h'},{"
         "'type':'InternalIP','address':'10.0.0.%s'}],'conditions':[{'type':'Ready','status':'%s'}"
         "]}}}",
         name, name, meta, spec, has, name + 1, ready);
}

#define GPUS ",'gpu':'8'"

static void nodes(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof(name), "n%u", i);
        node(name, "", "", GPUS, "True");
    }
}

struct pod {
    const char *name, *uid, *gang, *size, *node, *phase, *notes, *spec, *meta, *type, *asks;
    bool alone; /* without an owner */
};

static void pod(const struct pod *p)
{
    tell(c, MYR_KUBE_PODS, now_ms,
         "{'type':'%s','object':{'metadata':{'name':'%s','namespace':'d','uid':'%s',"
         "'creationTimestamp':'2026-11-16T09:00:00Z'%s%s,'annotations':{'myriad/gang':'%s'%s%s%s%s}"
         "},'spec':{'schedulerName':'myriad','nodeName':'%s'%s,'containers':[{'resources':{"
         "'requests':{%s}}}]},'status':{'phase':'%s'}}}",
         p->type ? p->type : "ADDED", p->name, p->uid ? p->uid : p->name,
         p->alone ? ""
                  : ",'ownerReferences':[{'kind':'Job','apiVersion':'batch/v1','name':'j','uid':"
                    "'ju','controller':true}]",
         p->meta ? p->meta : "", p->gang, p->size ? ",'myriad/gang-size':'" : "",
         p->size ? p->size : "", p->size ? "'" : "", p->notes ? p->notes : "",
         p->node ? p->node : "", p->spec ? p->spec : "", p->asks ? p->asks : "'gpu':'8'",
         p->phase ? p->phase : "Pending");
}

static void gang(const char *name, uint32_t size, const char *asks)
{
    for (uint32_t i = 0; i < size; i++) {
        char pod_name[32], count[16];
        snprintf(pod_name, sizeof(pod_name), "%s-%u", name, i);
        snprintf(count, sizeof(count), "%u", size);
        pod(&(struct pod){.name = pod_name, .gang = name, .size = count, .asks = asks});
    }
}

/* --- sizes, and pods that come one by one */

static void sizes_are_numbers_that_all_agree_on(void **state)
{
    static const char *const sizes[] = {NULL, "0", "x", "-1", "65536", "65537", "2"};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(sizes); i++) {
        begin(sizes[i] ? sizes[i] : "no size");
        nodes(2);
        pod(&(struct pod){.name = "a", .gang = "g", .size = sizes[i]});
        after(0, NULL);
        after(4999, NULL);
        after(5000, NULL);
        end();
    }
    begin("sizes that differ, until one is over");
    nodes(3);
    pod(&(struct pod){.name = "a", .gang = "g", .size = "2"});
    pod(&(struct pod){.name = "b", .gang = "g", .size = "3"});
    after(0, NULL);
    pod(&(struct pod){.name = "b", .gang = "g", .size = "3", .phase = "Succeeded"});
    pod(&(struct pod){.name = "d", .gang = "g", .size = "2"});
    after(6000, NULL);
    end();
    begin("more pods than it says");
    nodes(4);
    gang("g", 2, NULL);
    pod(&(struct pod){.name = "g-3", .gang = "g", .size = "2"});
    after(0, NULL);
    end();
    begin("some are done already");
    nodes(4);
    for (uint32_t done = 0; done < 2; done++) {
        pod(&(struct pod){
            .name = done ? "b" : "a", .gang = "g", .size = "4", .phase = "Succeeded"});
        pod(&(struct pod){.name = done ? "w" : "x", .gang = "g", .size = "4"});
        after(6000 + done, NULL);
    }
    end();
}

/* --- why there is no room */

static void room_is_told_of(void **state)
{
    (void)state;
    begin("nodes that do not do, each for another reason");
    node("n0", "", "", GPUS, "False");
    node("n1", "", "'unschedulable':true", GPUS, "True");
    node("n2", ",'labels':{'a':'b'}", "'taints':[{'key':'k','effect':'NoSchedule'}]", GPUS, "True");
    node("n3", ",'labels':{'a':'c'}", "", GPUS, "True");
    node("n4", ",'labels':{'a':'b'}", "", ",'cpu':'1'", "True");
    node("n5", ",'labels':{'a':'b'}", "", ",'gpu':'4'", "True");
    node("n6", ",'labels':{'a':'b'}", "", ",'gpu':'4','cpu':'9'", "True");
    node("n7", ",'labels':{'a':'b'}", "", ",'gpu':'4','cpu':'9'", "True");
    tell(c, MYR_KUBE_PODS, now_ms,
         "{'type':'ADDED','object':{'metadata':{'name':'o','namespace':'d','uid':'o'},'spec':{"
         "'nodeName':'n7','containers':[{'ports':[{'hostPort':80}]}]},'status':{}}}");
    pod(&(struct pod){.name = "a",
                      .gang = "g",
                      .size = "2",
                      .spec = ",'nodeSelector':{'a':'b'},'initContainers':[{'restartPolicy':"
                              "'Always','ports':[{'hostPort':80}]}]",
                      .asks = "'gpu':'1','cpu':'2'"});
    pod(&(struct pod){.name = "b",
                      .gang = "g",
                      .size = "2",
                      .spec = ",'nodeSelector':{'a':'b'},'initContainers':[{'restartPolicy':"
                              "'Always','ports':[{'hostPort':80}]}]",
                      .asks = "'gpu':'1','cpu':'2'"});
    after(0, NULL);
    end();
    begin("many pods that wait");
    nodes(3);
    gang("g", 70, NULL);
    after(0, NULL);
    nodes(4);
    after(59999, NULL);
    after(60000, NULL);
    nodes(5);
    after(120001, NULL);
    end();
    begin("who has waited long enough keeps its nodes");
    nodes(4);
    node("m1", "", "", ",'cpu':'9'", "True");
    pod(&(struct pod){.name = "x", .uid = "x", .gang = "x", .size = "1", .node = "n0"});
    gang("big", 4, NULL);
    gang("never", 5, NULL);
    after(599999, NULL);
    gang("small", 1, NULL);
    gang("other", 1, "'cpu':'1'");
    after(600000, NULL);
    pod(&(struct pod){.name = "x", .gang = "x", .size = "1", .type = "DELETED"});
    after(600001, NULL);
    end();
    begin("kinds of pods that found no room are not tried again, smaller gangs are");
    nodes(2);
    gang("b", 3, "'gpu':'5'");
    gang("c", 4, "'gpu':'5'");
    gang("d", 2, "'gpu':'5'");
    gang("e", 1, "'gpu':'3'");
    after(0, NULL);
    end();
}

/* --- several kinds of pods in one gang */

static void kinds_are_placed_together_or_not_at_all(void **state)
{
    static const char *const workers[] = {"'gpu':'8'", "'gpu':'9'"};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(workers); i++) {
        begin(workers[i]);
        nodes(2);
        node("m0", "", "", ",'cpu':'4'", "True");
        pod(&(struct pod){.name = "g-0", .gang = "g", .size = "4", .asks = "'cpu':'3'"});
        pod(&(struct pod){.name = "g-1", .gang = "g", .size = "4", .asks = "'gpu':'8'"});
        pod(&(struct pod){.name = "g-2", .gang = "g", .size = "4", .asks = "'cpu':'1'"});
        pod(&(struct pod){.name = "g-3", .gang = "g", .size = "4", .asks = workers[i]});
        after(0, NULL);
        gang("h", 1, "'cpu':'4'"); /* whether anything was taken */
        after(1, NULL);
        end();
    }
    begin("one of them asks what is not understood");
    nodes(4);
    pod(&(struct pod){.name = "g-0", .gang = "g", .size = "2"});
    pod(&(struct pod){
        .name = "g-1", .gang = "g", .size = "2", .spec = ",'resourceClaims':[{'name':'x'}]"});
    after(0, NULL);
    end();
}

static void rank_0_has_an_address(void **state)
{
    static const char *const specs[] = {"",
                                        ",'hostNetwork':true",
                                        ",'hostname':'h','subdomain':'s'",
                                        ",'hostname':'h'",
                                        ",'subdomain':'s'",
                                        ",'hostname':'h','subdomain':'s','hostNetwork':true"};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(specs); i++) {
        begin(specs[i]);
        nodes(1);
        pod(&(struct pod){.name = "a", .gang = "", .spec = specs[i], .alone = true});
        after(0, NULL);
        end();
    }
    begin("a node without an address");
    tell(c, MYR_KUBE_NODES, now_ms,
         "{'type':'ADDED','object':{'metadata':{'name':'plain','uid':'u'},'status':{'capacity':{"
         "'gpu':'8','pods':'1'},'conditions':[{'type':'Ready','status':'True'}]}}}");
    gang("g", 1, NULL);
    after(0, NULL);
    end();
}

/* --- what is bound */

#define AT(rank, world, node, placement)                                             \
    ",'myriad/rank':'" rank "','myriad/world-size':'" world "','myriad/node':'" node \
    "','myriad/placement':'" placement "'"

struct bound {
    const char *node, *notes, *phase, *meta, *uid;
};

/* Two nodes more than pods; then so much later. */
static void look(const char *title, const struct bound *pods, uint32_t count, int64_t ms)
{
    begin(title);
    nodes(count + 2);
    for (uint32_t i = 0; i < count; i++) {
        char name[16], size[16];
        snprintf(name, sizeof(name), "g-%u", i);
        snprintf(size, sizeof(size), "%u", count);
        pod(&(struct pod){.name = name,
                          .uid = pods[i].uid,
                          .gang = "g",
                          .size = size,
                          .node = pods[i].node,
                          .notes = pods[i].notes,
                          .phase = pods[i].phase,
                          .meta = pods[i].meta});
    }
    after(0, NULL);
    after(ms - 1, NULL);
    after(ms, NULL);
    end();
}

static void gangs_that_are_bound_are_looked_after(void **state)
{
#define GONE ",'deletionTimestamp':'2026-11-16T09:00:00Z'"
    static const struct bound well[] = {{.node = "n0", .notes = AT("0", "2", "n0", "p")},
                                        {.node = "n1", .notes = AT("1", "2", "n1", "p")}};
    static const struct bound others[] = {{.node = "n0", .notes = ""}, {.node = "n1", .notes = ""}};
    static const struct bound half[] = {{.node = "n0", .notes = ""}, {.node = "", .notes = ""}};
    static const struct bound mixed[] = {{.node = "n0", .notes = AT("0", "2", "n0", "p")},
                                         {.node = "n1", .notes = AT("1", "2", "n1", "q")}};
    static const struct bound moved[] = {{.node = "n0", .notes = AT("0", "2", "n0", "p")},
                                         {.node = "n2", .notes = AT("1", "2", "n1", "p")}};
    static const struct bound nowhere[] = {{.node = "n0", .notes = AT("0", "2", "n0", "p")},
                                           {.node = "n9", .notes = AT("1", "2", "n9", "p")}};
    static const struct bound failed[] = {
        {.node = "n0", .notes = AT("0", "2", "n0", "p")},
        {.node = "n1", .notes = AT("1", "2", "n1", "p"), .phase = "Failed"}};
    static const struct bound failed_before[] = {
        {.node = "n0", .notes = AT("0", "2", "n0", "p")},
        {.node = "n1", .notes = AT("1", "2", "n1", "q"), .phase = "Failed"}};
    static const struct bound done[] = {
        {.node = "n0", .notes = AT("0", "2", "n0", "p")},
        {.node = "n1", .notes = AT("1", "2", "n1", "p"), .phase = "Succeeded"}};
    static const struct bound going[] = {
        {.node = "n0", .notes = AT("0", "2", "n0", "p")},
        {.node = "n1", .notes = AT("1", "2", "n1", "p"), .phase = "Running", .meta = GONE}};
    static const struct bound fresh[] = {{.node = "n0", .notes = AT("0", "3", "n0", "p")},
                                         {.node = "n1", .notes = AT("1", "3", "n1", "p")},
                                         {.node = "", .notes = ""}};
    static const struct bound begun[] = {
        {.node = "n0", .notes = AT("0", "3", "n0", "p")},
        {.node = "", .notes = AT("1", "3", "n1", "p") ",'myriad/master-addr':'m'"},
        {.node = "n2", .notes = AT("2", "3", "n2", "p"), .phase = "Succeeded"}};
    static const struct bound twice[] = {{.node = "n0", .notes = AT("0", "2", "n0", "p")},
                                         {.node = "", .notes = AT("0", "2", "n1", "p")}};
    static const struct bound unranked[] = {{.node = "n0", .notes = AT("0", "2", "n0", "p")},
                                            {.node = "", .notes = AT("65536", "2", "n1", "p")}};
    static const struct bound unknown[] = {{.node = "n0", .notes = AT("0", "2", "n0", "p")},
                                           {.node = "", .notes = AT("1", "2", "n9", "p")}};
    static const struct bound crowded[] = {{.node = "n0", .notes = AT("0", "2", "n0", "p")},
                                           {.node = "", .notes = AT("1", "2", "n0", "p")}};
    static const struct bound swapped[] = {{.node = "n1", .notes = AT("1", "2", "n1", "p")},
                                           {.node = "", .notes = AT("0", "2", "n0", "p")}};
    (void)state;
    look("all is well", well, 2, 5000);
    look("somebody else has bound them", others, 2, 5000);
    look("somebody else has bound one", half, 2, 5000);
    look("two placements", mixed, 2, 5000);
    look("elsewhere", moved, 2, 5000);
    look("on a node that nobody knows", nowhere, 2, 5000);
    look("one failed", failed, 2, 5000);
    look("one failed of a placement before", failed_before, 2, 5000);
    look("one is done", done, 2, 5000);
    look("one goes", going, 2, 1500);
    look("one was made again", fresh, 3, 5000);
    look("a binding that was begun", begun, 3, 5000);
    look("one rank twice", twice, 2, 5000);
    look("no rank", unranked, 2, 5000);
    look("a node that is gone", unknown, 2, 5000);
    look("no room", crowded, 2, 5000);
    look("in the order of ranks", swapped, 2, 5000);
}

static void nodes_are_lost_when_their_time_is_over(void **state)
{
    (void)state;
    for (uint32_t alone = 0; alone < 2; alone++) {
        begin(alone ? "a lost node, and nobody would make the pods again" : "a lost node");
        nodes(3);
        for (uint32_t i = 0; i < 2; i++) {
            pod(&(struct pod){.name = i ? "g-1" : "g-0",
                              .gang = "g",
                              .size = "2",
                              .node = i ? "n1" : "n0",
                              .notes = i ? AT("1", "2", "n1", "p") : AT("0", "2", "n0", "p"),
                              .alone = alone});
        }
        after(0, NULL);
        now_ms = BEGIN_MS + 100;
        node("n1", "", "", GPUS, "Unknown");
        after(200, NULL);
        now_ms = BEGIN_MS + 300;
        node("n1", "", "", GPUS, "False"); /* not ready since then, however it is called */
        after(5099, NULL);
        node("n1", "", "", GPUS, "True");
        after(5100, NULL);
        node("n1", "", "", GPUS, "False");
        after(10099, NULL);
        after(10100, NULL);
        after(10200, NULL);
        end();
    }
    begin("a node that is deleted");
    nodes(3);
    pod(&(struct pod){
        .name = "g-0", .gang = "g", .size = "1", .node = "n1", .notes = AT("0", "1", "n1", "p")});
    after(0, NULL);
    tell(c, MYR_KUBE_NODES, now_ms,
         "{'type':'DELETED','object':{'metadata':{'name':'n1','uid':'u-n1'}}}");
    after(1, NULL);
    end();
}

/* What a binding that is finished takes is nobody else's. */
static void what_is_planned_is_taken(void **state)
{
    (void)state;
    begin("a gang is finished, another one comes");
    nodes(3);
    pod(&(struct pod){
        .name = "g-0", .gang = "g", .size = "2", .node = "n0", .notes = AT("0", "2", "n0", "p")});
    pod(&(struct pod){.name = "g-1", .gang = "g", .size = "2", .notes = AT("1", "2", "n1", "p")});
    gang("h", 1, NULL);
    gang("i", 1, NULL);
    after(0, NULL);
    end();
    begin("an index twice");
    nodes(3);
    for (uint32_t i = 3; i-- > 0;) {
        pod(&(struct pod){.name = i == 2 ? "c"
                                  : i    ? "b"
                                         : "a",
                          .gang = "g",
                          .size = "3",
                          .notes = i == 2 ? ",'batch.kubernetes.io/job-completion-index':'3'"
                                          : ",'batch.kubernetes.io/job-completion-index':'7'"});
    }
    after(0, NULL);
    end();
}

static void strict_gangs_wait_for_the_old_ones(void **state)
{
    static const char *const phases[] = {"Pending", "Running", "Succeeded", "Failed"};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(phases); i++) {
        begin(phases[i]);
        nodes(4);
        pod(&(struct pod){
            .name = "g-0", .gang = "g", .size = "2", .notes = ",'myriad/restart':'strict'"});
        pod(&(struct pod){.name = "g-1", .gang = "g", .size = "2"});
        for (uint32_t k = 0; k < 3; k++) {
            pod(&(struct pod){.name = k == 0 ? "g-2" : "g-3",
                              .uid = k == 0   ? "o0"
                                     : k == 1 ? "o1"
                                              : "o2",
                              .gang = "g",
                              .size = "2",
                              .phase = phases[i],
                              .meta = GONE,
                              .node = k == 2 ? ""
                                      : k    ? "n1"
                                             : "n0"});
        }
        after(0, NULL);
        end();
    }
}

/* A test of its own: the end of a group would count for nothing. */
static void all_of_it_is_as_it_was(void **state)
{
    (void)state;
    assert_kept("kube-stories.txt", &story);
    myr_buf_done(&story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_numbers_that_all_agree_on),
        cmocka_unit_test(room_is_told_of),
        cmocka_unit_test(kinds_are_placed_together_or_not_at_all),
        cmocka_unit_test(rank_0_has_an_address),
        cmocka_unit_test(gangs_that_are_bound_are_looked_after),
        cmocka_unit_test(nodes_are_lost_when_their_time_is_over),
        cmocka_unit_test(what_is_planned_is_taken),
        cmocka_unit_test(strict_gangs_wait_for_the_old_ones),
        cmocka_unit_test(all_of_it_is_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
