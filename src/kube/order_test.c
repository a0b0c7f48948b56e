/*
 * Who goes first where there is room for one: gangs drawn at random, against a sort by hand of
 * class, annotation, age and name. And which pod of a gang has which rank.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kube_test.h"

enum { ROUNDS = 40, PODS = 9 };

struct drawn {
    char name[8];
    int32_t priority, own;
    uint32_t created_s;
    bool there;
};

static bool goes_before(const struct drawn *a, const struct drawn *b)
{
    if (a->priority != b->priority) {
        return a->priority > b->priority;
    }
    if (a->own != b->own) {
        return a->own > b->own;
    }
    return a->created_s != b->created_s ? a->created_s < b->created_s
                                        : strcmp(a->name, b->name) < 0;
}

static void tell_pod(struct myr_kube_cluster *c, const char *type, const struct drawn *d)
{
    tell(c, MYR_KUBE_PODS, 1000,
         "{'type':'%s','object':{'metadata':{'name':'%s','namespace':'d','uid':'u-%s',"
         "'resourceVersion':'3','creationTimestamp':'2026-11-16T08:00:%02uZ','annotations':{"
         "'myriad/gang':'%s','myriad/gang-size':'1','myriad/priority':'%d'}},'spec':{"
         "'schedulerName':'mine','priority':%d,'containers':[{'resources':{'requests':{"
         "'nvidia.com/gpu':'8'}}}]},'status':{'phase':'Pending'}}}",
         type, d->name, d->name, d->created_s, d->name, d->own, d->priority);
}

static void gangs_go_by_class_annotation_age_and_name(void **state)
{
    (void)state;
    struct myr_rng rng;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        char scheduler[8] = "mine";
        struct myr_kube_policy policy = myr_kube_policy_default();
        policy.scheduler = scheduler;
        struct myr_kube_cluster *c = myr_kube_cluster_create(&policy);
        memset(scheduler, 'x', sizeof(scheduler) - 1); /* it has a copy */
        tell(c, MYR_KUBE_NODES, 1000,
             "{'type':'ADDED','object':{'metadata':{'name':'n1','uid':'u1','resourceVersion':'1'},"
             "'spec':{},'status':{'allocatable':{'cpu':'4','pods':'30','nvidia.com/gpu':'8'},"
             "'conditions':[{'type':'Ready','status':'True'}]}}}");
        struct drawn all[PODS];
        myr_rng_init(&rng, 31, round);
        for (uint32_t i = 0; i < PODS; i++) {
            all[i] = (struct drawn){.priority = (int32_t)myr_rng_below(&rng, 3) - 1,
                                    .own = (int32_t)myr_rng_below(&rng, 3) - 1,
                                    .created_s = myr_rng_below(&rng, 3),
                                    .there = true};
            snprintf(all[i].name, sizeof(all[i].name), "g%u", (i * 4 + round) % PODS);
            tell_pod(c, "ADDED", &all[i]);
        }
        for (uint32_t left = PODS; left > 0; left--) {
            struct drawn *first = NULL;
            char key[40] = "";
            uint32_t count, bound = 0;
            for (uint32_t i = 0; i < PODS; i++) {
                if (all[i].there && (!first || goes_before(&all[i], first))) {
                    first = &all[i];
                }
            }
            const struct myr_kube_decision *d = myr_kube_decide(c, 1000, 20, &count);
            for (uint32_t i = 0; i < count; i++) {
                if (d[i].act == MYR_KUBE_BIND) {
                    assert_string_equal(d[i].seats[0].name, first->name);
                    snprintf(key, sizeof(key), "%s", d[i].gang);
                    bound++;
                }
            }
            assert_int_equal(bound, 1);
            struct kube_gang *gang = kube_gang_find(c, myr_str_from(key));
            assert_true(gang && gang->flying && gang->pods[0]->assumed != MYR_NONE);
            myr_kube_over(c, key, false); /* it came to nothing, and its pod goes */
            assert_true(!gang->flying && gang->pods[0]->assumed == MYR_NONE);
            first->there = false;
            tell_pod(c, "DELETED", first);
            assert_null(kube_gang_find(c, myr_str_from(key)));
        }
        myr_kube_cluster_free(c);
    }
}

struct ranked {
    char name[16];
    uint32_t number; /* in it */
    uint32_t index;  /* MYR_NONE: its pod has none */
};

/* Those with an index go first, by it; the others by name, in which 10 comes behind 9. */
static bool is_before(const struct ranked *a, const struct ranked *b)
{
    return a->index != b->index ? a->index < b->index : a->number < b->number;
}

/* Pods that come in any order, with names that say nothing of their ranks. */
static void ranks_go_by_index_then_name(void **state)
{
    (void)state;
    struct myr_rng rng;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct myr_kube_policy policy = myr_kube_policy_default();
        policy.scheduler = "mine";
        struct myr_kube_cluster *c = myr_kube_cluster_create(&policy);
        struct ranked all[2 * PODS];
        uint32_t count, bound = 0, with = round % 3 == 0 ? 0 : round % 3 == 1 ? 2 * PODS : PODS;
        for (uint32_t i = 0; i < 2 * PODS; i++) {
            tell(c, MYR_KUBE_NODES, 1000,
                 "{'type':'ADDED','object':{'metadata':{'name':'n%u','uid':'v%u',"
                 "'resourceVersion':'1'},'spec':{},'status':{'allocatable':{'cpu':'4','pods':'30',"
                 "'nvidia.com/gpu':'8'},'conditions':[{'type':'Ready','status':'True'}]}}}",
                 i, i);
        }
        myr_rng_init(&rng, 32, round);
        for (uint32_t i = 0; i < 2 * PODS;
             i++) { /* any order, none twice: 7 and 18 share nothing */
            uint32_t at = (7 * i + round) % (2 * PODS);
            char index[80] = "";
            all[i].index = i < with ? (5 * at + round) % (2 * PODS) : MYR_NONE;
            all[i].number = at;
            snprintf(all[i].name, sizeof(all[i].name), "p-%u", at);
            if (i < with) {
                snprintf(index, sizeof(index), ",'batch.kubernetes.io/job-completion-index':'%u'",
                         all[i].index);
            }
            tell(c, MYR_KUBE_PODS, 1000,
                 "{'type':'ADDED','object':{'metadata':{'name':'%s','namespace':'d','uid':'u-%s',"
                 "'resourceVersion':'3','creationTimestamp':'2026-11-16T08:00:%02uZ','annotations':"
                 "{'myriad/gang':'g','myriad/gang-size':'%d'%s}},'spec':{'schedulerName':'mine',"
                 "'containers':[{'resources':{'requests':{'nvidia.com/gpu':'8'}}}]},'status':{"
                 "'phase':'Pending'}}}",
                 all[i].name, all[i].name, myr_rng_below(&rng, 60), 2 * PODS, index);
        }
        for (uint32_t i = 1; i < 2 * PODS; i++) { /* sorted by hand */
            for (uint32_t k = i; k > 0 && is_before(&all[k], &all[k - 1]); k--) {
                struct ranked swapped = all[k];
                all[k] = all[k - 1];
                all[k - 1] = swapped;
            }
        }
        const struct myr_kube_decision *d = myr_kube_decide(c, 1000, 20, &count);
        for (uint32_t i = 0; i < count; i++) {
            if (d[i].act == MYR_KUBE_BIND) {
                bound++;
                assert_int_equal(d[i].seat_count, 2 * PODS);
                for (uint32_t k = 0; k < d[i].seat_count; k++) {
                    assert_true(d[i].seats[k].rank < 2 * PODS);
                    assert_string_equal(d[i].seats[k].name, all[d[i].seats[k].rank].name);
                }
            }
        }
        assert_int_equal(bound, 1);
        myr_kube_cluster_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gangs_go_by_class_annotation_age_and_name),
        cmocka_unit_test(ranks_go_by_index_then_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
