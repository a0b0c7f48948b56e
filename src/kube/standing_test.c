/*
 * How gangs stand: what is kept of them while their pods come, change and go, against a model that
 * counts anew each time; and, by numbers of pods, whether one is bound, waits, is finished or is
 * made again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kube_test.h"
#include "leaks.h"
#include "myriad/base/rng.h"

enum { PODS = 320, GANGS = 4, STEPS = 500, NODES = 8 };

static const int64_t BEGIN_MS = 1794819600000; /* 2026-11-16T09:00:00Z */

struct drawn {
    bool there, deleting, bound, indexed;
    uint32_t number, gang, size, index, created_s;
    int32_t priority, own;
    const char *phase, *notes;
};

static void tell_pod(struct myr_kube_cluster *c, const char *type, const struct drawn *d)
{
    char index[80] = "", node[16] = "";
    if (d->bound) {
        snprintf(node, sizeof(node), "n%u", d->number);
    }
    if (d->indexed) {
        snprintf(index, sizeof(index), ",'batch.kubernetes.io/job-completion-index':'%u'",
                 d->index);
    }
    tell(c, MYR_KUBE_PODS, BEGIN_MS,
         "{'type':'%s','object':{'metadata':{'name':'p-%u','namespace':'d','uid':'u%u',"
         "'creationTimestamp':'2026-11-16T09:00:%02uZ'%s,'ownerReferences':[{'kind':'Job',"
         "'apiVersion':'batch/v1','name':'j','uid':'j','controller':true}],'annotations':{"
         "'myriad/gang':'g%u','myriad/gang-size':'%u','myriad/priority':'%d'%s%s}},'spec':{"
         "'schedulerName':'myriad','nodeName':'%s','priority':%d,'containers':[{'resources':{"
         "'requests':{'gpu':'8'}}}]},'status':{'phase':'%s'}}}",
         type, d->number, d->number, d->created_s,
         d->deleting ? ",'deletionTimestamp':'2026-11-16T09:00:00Z'" : "", d->gang, d->size, d->own,
         index, d->notes ? d->notes : "", node, d->priority, d->phase);
}

/* --- what is kept */

static int compare_ranks(const void *left, const void *right)
{
    const struct drawn *a = *(struct drawn *const *)left, *b = *(struct drawn *const *)right;
    uint64_t x = a->indexed ? a->index : MYR_NONE, y = b->indexed ? b->index : MYR_NONE;
    return x != y ? (x < y ? -1 : 1) : (a->number > b->number) - (a->number < b->number);
}

/* One that is known to be there; false: it has nothing that lives. */
static bool check_gang(const struct kube_gang *gang, const struct drawn *all, uint32_t number)
{
    const struct drawn *pods[PODS];
    uint32_t count = 0, waits = 0, bound = 0, done = 0, size = 0;
    int32_t priority = INT32_MIN;
    int64_t created_ms = INT64_MAX;
    bool agree = true;
    for (uint32_t i = 0; i < PODS; i++) {
        const struct drawn *d = &all[i];
        if (!d->there || d->gang != number) {
            continue;
        }
        pods[count++] = d;
        done += strcmp(d->phase, "Succeeded") == 0;
        if (!d->deleting &&
            (strcmp(d->phase, "Pending") == 0 || strcmp(d->phase, "Running") == 0)) {
            int64_t made_ms = BEGIN_MS + (int64_t)d->created_s * 1000;
            waits += !d->bound;
            bound += d->bound;
            agree = agree && d->size > 0 && (size == 0 || size == d->size);
            size = d->size;
            priority = d->priority > priority ? d->priority : priority;
            created_ms = made_ms < created_ms ? made_ms : created_ms;
        }
    }
    qsort(pods, count, sizeof(pods[0]), compare_ranks);
    assert_int_equal(gang->count, count);
    for (uint32_t i = 0; i < count; i++) {
        char uid[16];
        snprintf(uid, sizeof(uid), "u%u", pods[i]->number);
        assert_string_equal(gang->pods[i]->uid.data, uid);
        assert_true(gang->pods[i]->seat == i && gang->pods[i]->gang_of == gang);
    }
    assert_true(gang->first == gang->pods[0] && gang->own_priority == pods[0]->own);
    assert_true(gang->waits == waits && gang->bound == bound && gang->done == done);
    assert_int_equal(gang->size, agree ? size : 0);
    assert_true(gang->priority == priority && gang->created_ms == created_ms);
    return waits + bound > 0;
}

static bool is_before(const struct kube_gang *a, const struct kube_gang *b)
{
    return a->priority != b->priority           ? a->priority > b->priority
           : a->own_priority != b->own_priority ? a->own_priority > b->own_priority
           : a->created_ms != b->created_ms     ? a->created_ms < b->created_ms
                                                : strcmp(a->key, b->key) < 0;
}

static void check(struct myr_kube_cluster *c, const struct drawn *all)
{
    struct kube_gangs found;
    uint32_t live = 0;
    myr_arena_clear(&c->arena);
    kube_gangs_find(c, BEGIN_MS, &found);
    for (uint32_t i = 0; i < GANGS; i++) {
        char key[16];
        snprintf(key, sizeof(key), "d/g%u/j", i);
        struct kube_gang *gang = kube_gang_find(c, myr_str_from(key));
        bool there = false;
        for (uint32_t k = 0; k < PODS; k++) {
            there = there || (all[k].there && all[k].gang == i);
        }
        assert_int_equal(gang != NULL, there);
        live += there && check_gang(gang, all, i);
    }
    assert_int_equal(found.count, live);
    for (uint32_t i = 1; i < found.count; i++) {
        assert_true(is_before(found.items[i - 1], found.items[i]));
    }
}

/* One thing of a pod is another one now; most are of the first gang, so that it is a large one. */
static void change(struct myr_rng *rng, struct drawn *d)
{
    static const char *const phases[] = {"Pending", "Running", "Succeeded", "Failed"};
    uint32_t what = myr_rng_below(rng, 9);
    d->indexed = d->indexed != (what == 0);
    d->deleting = d->deleting != (what == 1);
    d->bound = d->bound != (what == 2);
    if (what == 3) {
        d->gang = myr_rng_below(rng, 8) ? 0 : 1 + myr_rng_below(rng, GANGS - 1);
    } else if (what == 4) {
        d->phase = phases[myr_rng_below(rng, 4)];
    } else if (what == 5) {
        d->size = myr_rng_below(rng, 12) ? 7 : myr_rng_below(rng, 3);
    } else if (what == 6) {
        d->priority = (int32_t)myr_rng_below(rng, 5) - 2;
        d->own = (int32_t)myr_rng_below(rng, 3) - 1;
        d->created_s = 1 + myr_rng_below(rng, 50);
    } else { /* most of all: it is what the order hangs on */
        d->index = myr_rng_below(rng, PODS);
    }
}

static void what_is_kept_of_a_gang_is_what_its_pods_come_to(void **state)
{
    struct drawn *all = calloc(PODS, sizeof(*all));
    struct myr_kube_policy policy = myr_kube_policy_default();
    struct myr_kube_cluster *c = myr_kube_cluster_create(&policy);
    struct myr_rng rng;
    (void)state;
    myr_rng_init(&rng, 92, 1);
    for (uint32_t i = 0; i < PODS; i++) {
        uint32_t gang = i < 12 ? 1 + i % (GANGS - 1) : 0;
        all[i] = (struct drawn){.there = true,
                                .number = i,
                                .gang = gang,
                                .size = 7,
                                .indexed = i % 3 > 0,
                                .index = PODS - i,
                                .phase = "Pending"};
        tell_pod(c, "ADDED", &all[i]);
    }
    check(c, all);
    for (uint32_t step = 0; step < STEPS; step++) {
        /* The few of the small gangs as often as all others, so that these come and go. */
        struct drawn *d = &all[myr_rng_below(&rng, step % 2 ? PODS : 12)];
        bool goes = d->there && myr_rng_below(&rng, 4) == 0;
        if (!goes) {
            change(&rng, d);
        }
        tell_pod(c, goes ? "DELETED" : d->there ? "MODIFIED" : "ADDED", d);
        d->there = !goes;
        if (step % 5 > 1) { /* now and then several of them at once */
            check(c, all);
        }
    }
    myr_kube_cluster_free(c);
    free(all);
}

/* --- what is decided by numbers */

static struct myr_kube_cluster *new_cluster(void)
{
    struct myr_kube_policy policy = myr_kube_policy_default();
    struct myr_kube_cluster *c = myr_kube_cluster_create(&policy);
    for (uint32_t i = 0; i < NODES; i++) {
        tell(c, MYR_KUBE_NODES, BEGIN_MS,
             "{'type':'ADDED','object':{'metadata':{'name':'n%u','uid':'n%u'},'status':{"
             "'allocatable':{'gpu':'8','pods':'9'},'conditions':[{'type':'Ready','status':'True'}]"
             "}}}",
             i, i);
    }
    return c;
}

/* All of it, or what is missing beside those that are done; told after five seconds. */
static void check_start(uint32_t size, uint32_t waits, uint32_t done)
{
    struct myr_kube_cluster *c = new_cluster();
    uint32_t count, rest = size - done % size;
    uint32_t placed = waits >= size ? size : rest < size && waits == rest ? waits : 0;
    char text[80];
    for (uint32_t i = 0; i < waits + done; i++) {
        tell_pod(c, "ADDED",
                 &(struct drawn){
                     .number = i, .size = size, .phase = i < waits ? "Pending" : "Succeeded"});
    }
    const struct myr_kube_decision *d = myr_kube_decide(c, BEGIN_MS + 4999, 1, &count);
    assert_int_equal(count, placed > 0);
    if (placed) {
        assert_true(d->act == MYR_KUBE_BIND && d->seat_count == placed && d->world == placed);
    } else {
        assert_int_equal(myr_kube_missing(c), size - waits);
        assert_int_equal(myr_kube_wake_ms(c), BEGIN_MS + 5000);
        d = myr_kube_decide(c, BEGIN_MS + 5000, 1, &count);
        assert_int_equal(count, 1);
        snprintf(text, sizeof(text), "%u of %u pods are there; none is bound before all are", waits,
                 size);
        assert_true(d->act == MYR_KUBE_WAIT && d->seat_count == waits);
        assert_string_equal(d->reason, text);
        assert_true(myr_kube_missing(c) == 0 && myr_kube_wake_ms(c) == INT64_MAX);
    }
    myr_kube_cluster_free(c);
}

/* Of one placement so many are bound, planned and done; others were made anew. */
static void check_bound(uint32_t world, uint32_t bound, uint32_t planned, uint32_t done, bool fresh)
{
    struct myr_kube_cluster *c = new_cluster();
    uint32_t count, there = bound + planned + done;
    char text[120] = "a binding that was begun is finished", notes[200];
    for (uint32_t i = 0; i < there + fresh; i++) {
        snprintf(notes, sizeof(notes),
                 ",'myriad/rank':'%u','myriad/world-size':'%u','myriad/node':'n%u',"
                 "'myriad/placement':'p'",
                 i, world, i);
        tell_pod(
            c, "ADDED",
            &(struct drawn){.number = i,
                            .size = world,
                            .bound = i < bound,
                            .phase = i < bound + planned || i == there ? "Pending" : "Succeeded",
                            .notes = i < there ? notes : ""});
    }
    bool remakes = fresh && there<world, finishes = planned> 0 && there == world;
    const struct myr_kube_decision *d = myr_kube_decide(c, BEGIN_MS, 1, &count);
    assert_int_equal(count, remakes || finishes);
    if (remakes) {
        snprintf(text, sizeof(text),
                 "%u of its %u pods are gone: all %u pods of the gang are made again",
                 world - there, world, bound + planned);
    }
    if (count) {
        assert_int_equal(d->act, remakes ? MYR_KUBE_REMAKE : MYR_KUBE_BIND);
        assert_string_equal(d->reason, text);
        assert_int_equal(d->seat_count, bound + planned);
        assert_int_equal(d->finishes, finishes);
        assert_int_equal(d->world, finishes ? world : 0);
    }
    myr_kube_cluster_free(c);
}

static void numbers_of_pods_decide(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4 * 5 * 5; i++) {
        check_start(1 + i % 4, 1 + i / 4 % 5, i / 20);
    }
    for (uint32_t world = 1; world <= 5; world++) {
        for (uint32_t i = 0; i < 5 * 5 * 5 * 2; i++) {
            uint32_t bound = 1 + i / 2 % 5, planned = i / 10 % 5, done = i / 50;
            if (bound + planned + done <= world) {
                check_bound(world, bound, planned, done, i % 2);
            }
        }
    }
}

/* Two of two pods by their annotations, which anybody may have written. */
static void ranks_beyond_the_world_are_made_again(void **state)
{
    (void)state;
    static const uint32_t ranks[] = {1, 2, 7, 65535, 65536};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(ranks); i++) {
        struct myr_kube_cluster *c = new_cluster();
        char notes[2][160];
        uint32_t count;
        for (uint32_t k = 0; k < 2; k++) {
            snprintf(notes[k], sizeof(notes[k]),
                     ",'myriad/rank':'%u','myriad/world-size':'2','myriad/node':'n%u',"
                     "'myriad/placement':'p'",
                     k ? ranks[i] : 0, k);
            tell_pod(c, "ADDED",
                     &(struct drawn){.number = k,
                                     .size = 2,
                                     .bound = k == 0,
                                     .phase = "Pending",
                                     .notes = notes[k]});
        }
        const struct myr_kube_decision *d = myr_kube_decide(c, BEGIN_MS, 1, &count);
        assert_int_equal(count, 1);
        assert_int_equal(d->act, ranks[i] < 2 ? MYR_KUBE_BIND : MYR_KUBE_REMAKE);
        myr_kube_cluster_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_of_a_gang_is_what_its_pods_come_to),
        cmocka_unit_test(numbers_of_pods_decide),
        cmocka_unit_test(ranks_beyond_the_world_are_made_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
