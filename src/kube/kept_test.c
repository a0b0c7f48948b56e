/*
 * What is kept between decisions (gangs, the use of nodes, where pods of a kind may go) against a
 * cluster that is told everything anew before each: the same gangs go to the same nodes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "kube.h"
#include "leaks.h"
#include "myriad/base/rng.h"

enum { NODES = 13, PODS = 160, STEPS = 200, GPUS = 8, TEXT = 1200 };

static const int64_t NOW = 1794819600000;

struct pod {
    bool there, ours;
    uint32_t gang, at, size, gpus, rank;
    char node[32], placement[40];
};

struct world {
    struct myr_rng rng;
    bool cordoned[NODES];
    uint32_t labelled[NODES];
    struct pod pods[PODS];
    uint32_t gangs;
    uint64_t binds;
};

static uint32_t draw(struct world *w, uint32_t below)
{
    return myr_rng_below(&w->rng, below);
}

/* Names with dots and numbers of several digits, as clouds give them. */
static void put_node(const struct world *w, uint32_t i, char *ret)
{
    snprintf(
        ret, TEXT,
        "{\"metadata\":{\"name\":\"ip-10.n%u.local\",\"uid\":\"u%u\",\"resourceVersion\":\"7\","
        "\"labels\":{\"zone\":\"z%u\"},\"managedFields\":[{\"f:x\":{\"}\":[]}}]},\"spec\":{"
        "\"unschedulable\":%s},\"status\":{\"images\":[{\"names\":[\"a\",\"b]\"]}],"
        "\"allocatable\":{\"cpu\":\"7900m\",\"memory\":\"64Gi\",\"pods\":\"110\","
        "\"nvidia.com/gpu\":\"8\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}",
        i, i, w->labelled[i], w->cordoned[i] ? "true" : "false");
}

static void put_pod(const struct world *w, uint32_t i, char *ret)
{
    const struct pod *p = &w->pods[i];
    char notes[300] = "";
    if (p->placement[0]) {
        snprintf(notes, sizeof(notes),
                 ",\"myriad/rank\":\"%u\",\"myriad/world-size\":\"%u\",\"myriad/node\":\"%s\","
                 "\"myriad/placement\":\"%s\"",
                 p->rank, p->size, p->node, p->placement);
    }
    snprintf(
        ret, TEXT,
        "{\"metadata\":{\"name\":\"g%u-%u\",\"namespace\":\"default\",\"uid\":\"p%u-%u\","
        "\"resourceVersion\":\"9\",\"creationTimestamp\":\"2026-11-16T08:59:58Z\","
        "\"ownerReferences\":[{\"kind\":\"Job\",\"apiVersion\":\"batch/v1\",\"name\":\"g%u\","
        "\"uid\":\"j%u\",\"controller\":true}],\"annotations\":{\"myriad/gang\":\"g%u\","
        "\"myriad/gang-size\":\"%u\"%s}},\"spec\":{\"schedulerName\":\"%s\",\"nodeName\":\"%s\","
        "%s\"initContainers\":[{\"resources\":{\"requests\":{\"cpu\":\"900m\"}}}],"
        "\"containers\":[{\"env\":[{\"name\":\"X\"}],\"resources\":{\"requests\":{"
        "\"nvidia.com/gpu\":\"%u\",\"cpu\":\"500m\",\"memory\":\"512Mi\"}}}]},"
        "\"status\":{\"phase\":\"%s\"}}",
        p->gang, p->at, p->gang, p->at, p->gang, p->gang, p->gang, p->size, notes,
        p->ours ? "myriad" : "default-scheduler", p->node,
        p->gang % 3 == 0 ? "\"nodeSelector\":{\"zone\":\"z0\"}," : "", p->gpus,
        p->node[0] ? "Running" : "Pending");
}

static void tell(struct myr_kube_cluster *c, enum myr_kube_kind kind, const char *type,
                 const char *object)
{
    char line[TEXT + 100];
    struct myr_kube_said said;
    struct myr_err err = {};
    snprintf(line, sizeof(line), "{\"type\":\"%s\",\"object\":%s}", type, object);
    if (myr_kube_line(c, kind, myr_str_from(line), NOW, &said, &err) < 0) {
        fail_msg("%s: %s", err.message, line);
    }
}

static struct myr_kube_cluster *anew(const struct world *w)
{
    struct myr_kube_policy policy = myr_kube_policy_default();
    struct myr_kube_cluster *c = myr_kube_cluster_create(&policy);
    char text[TEXT];
    for (uint32_t i = 0; i < NODES; i++) {
        put_node(w, i, text);
        tell(c, MYR_KUBE_NODES, "ADDED", text);
    }
    for (uint32_t i = 0; i < PODS; i++) {
        if (w->pods[i].there) {
            put_pod(w, i, text);
            tell(c, MYR_KUBE_PODS, "ADDED", text);
        }
    }
    return c;
}

/* --- what happens */

static void come(struct world *w, struct myr_kube_cluster *c, bool ours)
{
    static const uint32_t sizes[] = {1, 2, 3, 5, 8};
    uint32_t gang = w->gangs++, size = ours ? sizes[draw(w, 5)] : 1;
    uint32_t gpus = ours ? 1U << draw(w, 4) : 1 + draw(w, 3), made = 0;
    char text[TEXT];
    for (uint32_t i = 0; i < PODS && made < size; i++) {
        if (w->pods[i].there) {
            continue;
        }
        w->pods[i] = (struct pod){
            .there = true, .ours = ours, .gang = gang, .at = made++, .size = size, .gpus = gpus};
        if (!ours) {
            snprintf(w->pods[i].node, sizeof(w->pods[i].node), "ip-10.n%u.local", draw(w, NODES));
        }
        put_pod(w, i, text);
        tell(c, MYR_KUBE_PODS, "ADDED", text);
    }
}

static void go(struct world *w, struct myr_kube_cluster *c)
{
    uint32_t gang = w->pods[draw(w, PODS)].gang; /* one that is there, or was */
    char text[TEXT];
    for (uint32_t i = 0; i < PODS; i++) {
        if (w->pods[i].there && w->pods[i].gang == gang) {
            put_pod(w, i, text);
            tell(c, MYR_KUBE_PODS, "DELETED", text);
            w->pods[i].there = false;
        }
    }
}

static void change_node(struct world *w, struct myr_kube_cluster *c)
{
    uint32_t i = draw(w, NODES);
    char text[TEXT];
    if (draw(w, 2)) {
        w->cordoned[i] = !w->cordoned[i];
    } else {
        w->labelled[i] = draw(w, 2);
    }
    put_node(w, i, text);
    tell(c, MYR_KUBE_NODES, "MODIFIED", text);
}

static struct pod *pod_of(struct world *w, const char *uid, uint32_t *ret)
{
    for (uint32_t i = 0; i < PODS; i++) {
        char name[40];
        snprintf(name, sizeof(name), "p%u-%u", w->pods[i].gang, w->pods[i].at);
        if (w->pods[i].there && strcmp(name, uid) == 0) {
            *ret = i;
            return &w->pods[i];
        }
    }
    fail_msg("no pod %s", uid);
    return NULL;
}

/* Bound, and the watch tells of it before or after it is over; or given up. */
static void carry_out(struct world *w, struct myr_kube_cluster *c,
                      const struct myr_kube_decision *d)
{
    char key[200], text[TEXT];
    uint32_t at[16], count = d->seat_count;
    bool done = draw(w, 4) > 0, late = draw(w, 2);
    snprintf(key, sizeof(key), "%s", d->gang);
    assert_true(count <= 16);
    for (uint32_t i = 0; i < count; i++) {
        struct pod *pod = pod_of(w, d->seats[i].uid, &at[i]);
        if (done) {
            pod->rank = d->seats[i].rank;
            snprintf(pod->node, sizeof(pod->node), "%s", d->seats[i].node);
            snprintf(pod->placement, sizeof(pod->placement), "%s", d->placement);
        }
    }
    if (late) {
        myr_kube_over(c, key, done);
    }
    for (uint32_t i = 0; i < count && done; i++) {
        put_pod(w, at[i], text);
        tell(c, MYR_KUBE_PODS, "MODIFIED", text);
    }
    if (!late) {
        myr_kube_over(c, key, done);
    }
    w->binds += done;
}

static void compare(struct world *w, const struct myr_kube_decision *kept, uint32_t kept_count)
{
    struct myr_kube_cluster *fresh = anew(w);
    uint32_t count, at = 0;
    const struct myr_kube_decision *d = myr_kube_decide(fresh, NOW, 1, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (d[i].act == MYR_KUBE_WAIT) {
            continue;
        }
        while (at < kept_count && kept[at].act == MYR_KUBE_WAIT) {
            at++;
        }
        assert_true(at < kept_count);
        assert_string_equal(kept[at].gang, d[i].gang);
        assert_int_equal(kept[at].act, d[i].act);
        assert_int_equal(kept[at].seat_count, d[i].seat_count);
        for (uint32_t k = 0; k < d[i].seat_count; k++) {
            assert_string_equal(kept[at].seats[k].node, d[i].seats[k].node);
            assert_string_equal(kept[at].seats[k].uid, d[i].seats[k].uid);
        }
        at++;
    }
    while (at < kept_count && kept[at].act == MYR_KUBE_WAIT) {
        at++;
    }
    assert_int_equal(at, kept_count);
    myr_kube_cluster_free(fresh);
}

/* No node has more GPUs asked for than it has, whatever others put there. */
static void check_room(const struct world *w)
{
    for (uint32_t n = 0; n < NODES; n++) {
        uint32_t ours = 0, others = 0;
        char name[32];
        snprintf(name, sizeof(name), "ip-10.n%u.local", n);
        for (uint32_t i = 0; i < PODS; i++) {
            if (w->pods[i].there && strcmp(w->pods[i].node, name) == 0) {
                ours += w->pods[i].ours ? w->pods[i].gpus : 0;
                others += w->pods[i].ours ? 0 : w->pods[i].gpus;
            }
        }
        assert_true(ours <= GPUS && (ours == 0 || others > GPUS || ours + others <= 2 * GPUS));
    }
}

static void run(uint64_t seed)
{
    struct world w = {};
    myr_rng_init(&w.rng, seed, 1);
    struct myr_kube_cluster *c = anew(&w);
    for (uint32_t step = 0; step < STEPS; step++) {
        for (uint32_t i = 0; i < 1 + draw(&w, 3); i++) {
            uint32_t what = draw(&w, 10);
            if (what < 4) {
                come(&w, c, true);
            } else if (what == 4) {
                come(&w, c, false);
            } else if (what < 8) {
                go(&w, c);
            } else {
                change_node(&w, c);
            }
        }
        uint32_t count;
        const struct myr_kube_decision *d = myr_kube_decide(c, NOW, 1, &count);
        compare(&w, d, count);
        /* Texts live until the next decision: all of this one are carried out before it. */
        for (uint32_t i = 0; i < count; i++) {
            if (d[i].act == MYR_KUBE_BIND) {
                carry_out(&w, c, &d[i]);
            }
        }
        check_room(&w);
    }
    assert_true(w.binds > STEPS / 8);
    myr_kube_cluster_free(c);
}

static void what_is_kept_decides_like_what_is_told_anew(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        print_message("seed %llu\n", (unsigned long long)seed);
        run(seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_decides_like_what_is_told_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
