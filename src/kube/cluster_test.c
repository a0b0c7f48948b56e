/* Objects in, decisions out: gangs whole and in rank order, and what breaks them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "kube_test.h"
#include "leaks.h"
#include "myriad/base/rng.h"
#include "myriad/control.h"

enum { NOW = 1000000000 };

static struct myr_kube_cluster *new_cluster(void)
{
    struct myr_kube_policy policy = myr_kube_policy_default();
    return myr_kube_cluster_create(&policy);
}

static int64_t now_of(void)
{
    int64_t ms;
    assert_true(kube_time(MYR_STR("2026-11-16T09:00:00Z"), &ms));
    return ms;
}

static void node_as(struct myr_kube_cluster *c, const char *name, const char *spec,
                    const char *labels, const char *ready)
{
    tell(c, MYR_KUBE_NODES, now_of(),
         "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"%s\",\"uid\":\"u-%s\","
         "\"resourceVersion\":\"7\",\"labels\":{%s}},\"spec\":{%s},\"status\":{\"allocatable\":"
         "{\"cpu\":\"64\",\"memory\":\"1Ti\",\"pods\":\"110\",\"nvidia.com/gpu\":\"8\"},"
         "\"addresses\":[{\"type\":\"InternalIP\",\"address\":\"10.0.0.%s\"}],"
         "\"conditions\":[{\"type\":\"Ready\",\"status\":\"%s\"}]}}}",
         name, name, labels, spec, name + 1, ready);
}

static void nodes(struct myr_kube_cluster *c, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof(name), "n%u", i);
        node_as(c, name, "", "", "True");
    }
}

struct pod {
    const char *gang;
    uint32_t size, at, gpus;
    const char *node, *phase, *more_notes, *more_spec, *more_meta, *type, *scheduler, *uid;
};

static void put(struct myr_kube_cluster *c, const struct pod *p)
{
    char uid[64];
    snprintf(uid, sizeof(uid), "uid-%s-%u%s", p->gang, p->at, p->uid ? p->uid : "");
    tell(c, MYR_KUBE_PODS, now_of(),
         "{\"type\":\"%s\",\"object\":{\"metadata\":{\"name\":\"%s-%u\",\"namespace\":\"default\","
         "\"uid\":\"%s\",\"resourceVersion\":\"9\",\"creationTimestamp\":\"2026-11-16T08:59:58Z\","
         "%s\"ownerReferences\":[{\"kind\":\"Job\",\"apiVersion\":\"batch/v1\",\"name\":\"%s\","
         "\"uid\":\"job-%s\",\"controller\":true}],\"annotations\":{\"myriad/gang\":\"%s\","
         "\"myriad/gang-size\":\"%u\"%s}},\"spec\":{\"schedulerName\":\"%s\",\"hostNetwork\":true,"
         "\"nodeName\":\"%s\",%s\"containers\":[{\"resources\":{\"requests\":{\"nvidia.com/gpu\":"
         "\"%u\",\"cpu\":\"500m\"}}}]},\"status\":{\"phase\":\"%s\"}}}",
         p->type ? p->type : "MODIFIED", p->gang, p->at, uid, p->more_meta ? p->more_meta : "",
         p->gang, p->gang, p->gang, p->size, p->more_notes ? p->more_notes : "",
         p->scheduler ? p->scheduler : "myriad", p->node ? p->node : "",
         p->more_spec ? p->more_spec : "", p->gpus ? p->gpus : 8, p->phase ? p->phase : "Pending");
}

static void gang(struct myr_kube_cluster *c, const char *name, uint32_t size)
{
    for (uint32_t i = 0; i < size; i++) {
        put(c, &(struct pod){.gang = name, .size = size, .at = i});
    }
}

static const struct myr_kube_decision *decide(struct myr_kube_cluster *c, uint32_t *count)
{
    return myr_kube_decide(c, now_of(), 1, count);
}

/* As the API server would tell it when a binding has come true. */
static void carry_out(struct myr_kube_cluster *c, const struct myr_kube_decision *d,
                      const char *name, uint32_t size)
{
    char notes[8][256], where[8][32];
    uint32_t at[8];
    MYR_ASSERT(d->seat_count <= 8);
    for (uint32_t i = 0; i < d->seat_count; i++) {
        const struct myr_kube_seat *seat = &d->seats[i];
        snprintf(notes[i], sizeof(notes[i]),
                 ",\"myriad/rank\":\"%u\",\"myriad/world-size\":\"%u\",\"myriad/node\":\"%s\","
                 "\"myriad/placement\":\"%s\"",
                 seat->rank, d->seat_count, seat->node, d->placement);
        snprintf(where[i], sizeof(where[i]), "%s", seat->node);
        uint64_t number;
        assert_true(myr_str_to_u64(myr_str_from(strrchr(seat->name, '-') + 1), &number));
        at[i] = (uint32_t)number;
    }
    uint32_t count = d->seat_count;
    char key[200];
    snprintf(key, sizeof(key), "%s", d->gang);
    for (uint32_t i = 0; i < count; i++) {
        put(c, &(struct pod){.gang = name,
                             .size = size,
                             .at = at[i],
                             .node = where[i],
                             .phase = "Running",
                             .more_notes = notes[i]});
    }
    myr_kube_over(c, key, true);
}

static void a_gang_is_bound_whole_and_in_rank_order(void **state)
{
    (void)state;
    struct myr_kube_cluster *c = new_cluster();
    uint32_t count;
    nodes(c, 16);
    for (uint32_t i = 0; i < 11; i++) {
        put(c, &(struct pod){.gang = "a", .size = 12, .at = i});
        (void)decide(c, &count);
        assert_int_equal(count, 0); /* not before all are there */
    }
    put(c, &(struct pod){.gang = "a", .size = 12, .at = 11});
    const struct myr_kube_decision *d = decide(c, &count);
    assert_int_equal(count, 1);
    assert_int_equal(d->act, MYR_KUBE_BIND);
    assert_int_equal(d->seat_count, 12);
    for (uint32_t i = 0; i < 12; i++) {
        char pod[16], node[16];
        snprintf(pod, sizeof(pod), "a-%u", i); /* a-2 before a-10 */
        snprintf(node, sizeof(node), "n%u", i);
        assert_string_equal(d->seats[i].name, pod);
        assert_string_equal(d->seats[i].node, node);
        assert_int_equal(d->seats[i].rank, i);
    }
    assert_string_equal(d->master, "10.0.0.0");
    /* While it is under way nobody decides on it again, nor gives its nodes away. */
    gang(c, "b", 5);
    d = decide(c, &count);
    assert_int_equal(count, 1);
    assert_int_equal(d->act, MYR_KUBE_WAIT);
    assert_non_null(strstr(d->reason, "12 short of nvidia.com/gpu"));
    myr_kube_cluster_free(c);
}

/* The same nodes as the control core gives to the same job on agents. */
static void nodes_are_those_that_agents_would_get(void **state)
{
    enum { NODES = 40, LEAF = 8 };
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct myr_rng rng;
        myr_rng_init(&rng, seed, 0);
        struct myr_kube_cluster *c = new_cluster();
        struct myr_control *control;
        struct myr_err err = {};
        struct myr_control_policy policy = myr_control_policy_default();
        struct myr_place_shape shape = {NODES, 8, LEAF, NODES};
        assert_int_equal(myr_control_create(&shape, &policy, 1, &control, &err), MYR_OK);
        bool up[NODES];
        uint32_t free_nodes = 0, count;
        for (uint32_t i = 0; i < NODES; i++) {
            char name[16];
            up[i] = myr_rng_below(&rng, 3) != 0;
            free_nodes += up[i];
            snprintf(name, sizeof(name), "n%u", i);
            node_as(c, name, "", "", up[i] ? "True" : "False");
            if (up[i]) {
                struct myr_event join = {.kind = MYR_EVENT_JOIN, .node = i, .boot = 1};
                struct myr_event good = {
                    .kind = MYR_EVENT_TESTED, .node = i, .boot = 1, .epoch = 1};
                assert_int_equal(myr_control_step(control, NOW, &join, &err), MYR_OK);
                assert_int_equal(myr_control_step(control, NOW, &good, &err), MYR_OK);
            }
        }
        uint32_t size = 1 + (uint32_t)myr_rng_below(&rng, free_nodes < 20 ? free_nodes : 20);
        struct myr_event submit = {
            .kind = MYR_EVENT_SUBMIT,
            .spec = {.token = 1, .gpus = size * 8, .retries = 1, .lease_s = 600}};
        assert_int_equal(myr_control_step(control, NOW, &submit, &err), MYR_OK);
        struct myr_control_rank ranks[NODES];
        assert_int_equal(myr_control_job_ranks(control, 0, ranks, NODES), size);
        gang(c, "g", size);
        const struct myr_kube_decision *d = decide(c, &count);
        assert_int_equal(count, 1);
        assert_int_equal(d->seat_count, size);
        for (uint32_t i = 0; i < size; i++) {
            char name[16];
            snprintf(name, sizeof(name), "n%u", ranks[i].node);
            assert_string_equal(d->seats[i].node, name);
        }
        myr_control_free(control);
        myr_kube_cluster_free(c);
    }
}

static void labels_taints_and_others_pods_are_respected(void **state)
{
    (void)state;
    struct myr_kube_cluster *c = new_cluster();
    uint32_t count;
    node_as(c, "n0", "\"unschedulable\":true", "", "True");
    node_as(c, "n1", "\"taints\":[{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoSchedule\"}]", "",
            "True");
    node_as(c, "n2", "", "\"pool\":\"cpu\"", "True");
    node_as(c, "n3", "", "\"pool\":\"gpu\"", "Unknown");
    node_as(c, "n4", "", "\"pool\":\"gpu\"", "True");
    node_as(c, "n5", "", "\"pool\":\"gpu\"", "True");
    put(c, &(struct pod){.gang = "theirs",
                         .size = 1,
                         .gpus = 1,
                         .node = "n5",
                         .phase = "Running",
                         .scheduler = "default-scheduler"});
    struct pod pod = {.gang = "a", .size = 1, .more_spec = "\"nodeSelector\":{\"pool\":\"gpu\"},"};
    put(c, &pod);
    const struct myr_kube_decision *d = decide(c, &count);
    assert_int_equal(count, 1);
    assert_string_equal(d->seats[0].node, "n4");
    myr_kube_over(c, d->gang, false);
    pod.more_spec = "\"tolerations\":[{\"key\":\"k\",\"operator\":\"Exists\"}],\"affinity\":{"
                    "\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"
                    "\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"pool\","
                    "\"operator\":\"DoesNotExist\"}]}]}}},";
    put(c, &pod);
    d = decide(c, &count);
    assert_int_equal(count, 1);
    assert_string_equal(d->seats[0].node, "n1");
    myr_kube_over(c, d->gang, false);
    pod.more_spec = "\"affinity\":{\"podAntiAffinity\":{"
                    "\"requiredDuringSchedulingIgnoredDuringExecution\":[{}]}},";
    put(c, &pod);
    d = decide(c, &count);
    assert_int_equal(count, 1);
    assert_int_equal(d->act, MYR_KUBE_WAIT);
    assert_non_null(strstr(d->reason, "podAntiAffinity"));
    myr_kube_cluster_free(c);
}

static void a_lost_node_makes_the_whole_gang_anew(void **state)
{
    (void)state;
    struct myr_kube_cluster *c = new_cluster();
    uint32_t count;
    nodes(c, 8);
    gang(c, "a", 4);
    carry_out(c, decide(c, &count), "a", 4);
    (void)decide(c, &count);
    assert_int_equal(count, 0);
    node_as(c, "n2", "", "", "Unknown");
    (void)decide(c, &count);
    assert_int_equal(count, 0); /* it may be back in a moment */
    assert_true(myr_kube_wake_ms(c) > now_of() && myr_kube_wake_ms(c) <= now_of() + 5000);
    const struct myr_kube_decision *d = myr_kube_decide(c, now_of() + 6000, 1, &count);
    assert_int_equal(count, 1);
    assert_int_equal(d->act, MYR_KUBE_REMAKE);
    assert_int_equal(d->seat_count, 4);
    assert_string_equal(d->owner_name, "a");
    assert_non_null(strstr(d->reason, "node n2 was lost"));
    /* They go, new ones come, and nothing is placed on the lost node. */
    myr_kube_over(c, d->gang, true);
    for (uint32_t i = 0; i < 4; i++) {
        put(c, &(struct pod){.gang = "a", .size = 4, .at = i, .type = "DELETED"});
        put(c, &(struct pod){.gang = "a", .size = 4, .at = i, .uid = "x"});
    }
    d = decide(c, &count);
    assert_int_equal(count, 1);
    assert_int_equal(d->act, MYR_KUBE_BIND);
    for (uint32_t i = 0; i < 4; i++) {
        assert_string_not_equal(d->seats[i].node, "n2");
    }
    myr_kube_cluster_free(c);
}

static void a_pod_that_fails_or_goes_takes_the_others_with_it(void **state)
{
    (void)state;
    for (uint32_t way = 0; way < 3; way++) {
        struct myr_kube_cluster *c = new_cluster();
        uint32_t count;
        nodes(c, 8);
        gang(c, "a", 3);
        const struct myr_kube_decision *d = decide(c, &count);
        char notes[200];
        snprintf(notes, sizeof(notes),
                 ",\"myriad/rank\":\"1\",\"myriad/world-size\":\"3\",\"myriad/node\":\"n1\","
                 "\"myriad/placement\":\"%s\"",
                 d->placement);
        carry_out(c, d, "a", 3);
        put(c, &(struct pod){.gang = "a",
                             .size = 3,
                             .at = 1,
                             .node = "n1",
                             .more_notes = notes,
                             .phase = way == 0 ? "Failed" : "Running",
                             .more_meta = way == 1 ? "\"deletionTimestamp\":\"x\"," : NULL,
                             .type = way == 2 ? "DELETED" : "MODIFIED"});
        d = decide(c, &count);
        if (way > 0) { /* the others may be deleted too, and all is well */
            assert_int_equal(count, 0);
            d = myr_kube_decide(c, now_of() + 2000, 1, &count);
        }
        assert_int_equal(count, 1);
        assert_int_equal(d->act, MYR_KUBE_REMAKE);
        assert_int_equal(d->seat_count, 2);
        myr_kube_cluster_free(c);
    }
}

static void pods_that_are_done_break_nothing(void **state)
{
    (void)state;
    struct myr_kube_cluster *c = new_cluster();
    uint32_t count;
    nodes(c, 8);
    gang(c, "a", 3);
    const struct myr_kube_decision *d = decide(c, &count);
    char notes[200];
    snprintf(notes, sizeof(notes),
             ",\"myriad/rank\":\"1\",\"myriad/world-size\":\"3\",\"myriad/node\":\"n1\","
             "\"myriad/placement\":\"%s\"",
             d->placement);
    carry_out(c, d, "a", 3);
    struct pod done = {
        .gang = "a", .size = 3, .at = 1, .node = "n1", .more_notes = notes, .phase = "Succeeded"};
    put(c, &done);
    (void)decide(c, &count);
    assert_int_equal(count, 0);
    done.type = "DELETED"; /* somebody tidies up */
    put(c, &done);
    (void)decide(c, &count);
    assert_int_equal(count, 0);
    myr_kube_cluster_free(c);
}

/* A scheduler died between two bindings: another one finishes what it finds. */
static void a_binding_that_was_begun_is_finished(void **state)
{
    (void)state;
    struct myr_kube_cluster *c = new_cluster();
    uint32_t count;
    nodes(c, 8);
    for (uint32_t i = 0; i < 3; i++) {
        char notes[200];
        snprintf(notes, sizeof(notes),
                 ",\"myriad/rank\":\"%u\",\"myriad/world-size\":\"3\",\"myriad/node\":\"n%u\","
                 "\"myriad/placement\":\"old-1\"",
                 i, i + 4);
        put(c, &(struct pod){.gang = "a",
                             .size = 3,
                             .at = i,
                             .more_notes = notes,
                             .node = i == 1 ? "n5" : NULL});
    }
    const struct myr_kube_decision *d = decide(c, &count);
    assert_int_equal(count, 1);
    assert_int_equal(d->act, MYR_KUBE_BIND);
    assert_true(d->finishes);
    assert_int_equal(d->seat_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        char node[8];
        snprintf(node, sizeof(node), "n%u", i + 4);
        assert_string_equal(d->seats[i].node, node);
        assert_int_equal(d->seats[i].bound, i == 1);
    }
    myr_kube_over(c, d->gang, false);
    /* Its node was given to another meanwhile: then all of it is made anew. */
    put(c, &(struct pod){.gang = "b", .size = 1, .node = "n6", .phase = "Running"});
    d = decide(c, &count);
    assert_int_equal(count, 1);
    assert_int_equal(d->act, MYR_KUBE_REMAKE);
    myr_kube_cluster_free(c);
}

static void who_waits_too_long_is_passed_over_no_more(void **state)
{
    (void)state;
    struct myr_kube_cluster *c = new_cluster();
    uint32_t count;
    nodes(c, 8);
    put(c, &(struct pod){.gang = "x", .size = 1, .node = "n0", .phase = "Running"});
    gang(c, "big", 8);
    gang(c, "small", 2);
    const struct myr_kube_decision *d = decide(c, &count);
    assert_int_equal(count, 2);
    assert_int_equal(d[0].act, MYR_KUBE_WAIT);
    assert_int_equal(d[1].act, MYR_KUBE_BIND);
    myr_kube_over(c, d[1].gang, false);
    d = myr_kube_decide(c, now_of() + 700000, 1, &count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(d[i].act, MYR_KUBE_WAIT);
    }
    myr_kube_cluster_free(c);
}

/* One that cannot fit on any day keeps nobody waiting. */
static void who_will_never_fit_holds_nothing(void **state)
{
    (void)state;
    struct myr_kube_cluster *c = new_cluster();
    uint32_t count, binds = 0;
    nodes(c, 8);
    gang(c, "huge", 9);
    gang(c, "small", 2);
    const struct myr_kube_decision *d = myr_kube_decide(c, now_of() + 700000, 1, &count);
    for (uint32_t i = 0; i < count; i++) {
        binds += d[i].act == MYR_KUBE_BIND;
        assert_true(d[i].act == MYR_KUBE_BIND || strstr(d[i].reason, "8 if nothing ran"));
    }
    assert_int_equal(binds, 1);
    myr_kube_cluster_free(c);
}

/* A binding of a scheduler that was replaced came late: the gang is not where its plan says. */
static void a_pod_elsewhere_makes_the_gang_anew(void **state)
{
    (void)state;
    struct myr_kube_cluster *c = new_cluster();
    uint32_t count;
    nodes(c, 8);
    for (uint32_t i = 0; i < 2; i++) {
        char notes[200], at[8];
        snprintf(notes, sizeof(notes),
                 ",\"myriad/rank\":\"%u\",\"myriad/world-size\":\"2\",\"myriad/node\":\"n%u\","
                 "\"myriad/placement\":\"p-2\"",
                 i, i);
        snprintf(at, sizeof(at), "n%u", i * 5);
        put(c, &(struct pod){.gang = "a", .size = 2, .at = i, .more_notes = notes, .node = at});
    }
    const struct myr_kube_decision *d = decide(c, &count);
    assert_int_equal(count, 1);
    assert_int_equal(d->act, MYR_KUBE_REMAKE);
    assert_non_null(strstr(d->reason, "not where it was to go"));
    myr_kube_cluster_free(c);
}

static void a_list_forgets_what_it_does_not_name(void **state)
{
    (void)state;
    struct myr_kube_cluster *c = new_cluster();
    struct myr_kube_page page = {};
    struct myr_err err = {};
    nodes(c, 3);
    assert_int_equal(myr_kube_counts(c).nodes, 3);
    static const char one[] = "{\"metadata\":{\"resourceVersion\":\"12\",\"continue\":\"abc\"},"
                              "\"items\":[{\"metadata\":{\"name\":\"n1\",\"uid\":\"u\"}}]}";
    static const char two[] = "{\"metadata\":{\"resourceVersion\":\"12\"},"
                              "\"items\":[{\"metadata\":{\"name\":\"n9\",\"uid\":\"u9\"}}]}";
    assert_int_equal(myr_kube_list(c, MYR_KUBE_NODES, true, myr_str_from(one), 0, &page, &err),
                     MYR_OK);
    assert_string_equal(page.more.data, "abc");
    assert_int_equal(myr_kube_counts(c).nodes, 3);
    assert_int_equal(myr_kube_list(c, MYR_KUBE_NODES, false, myr_str_from(two), 0, &page, &err),
                     MYR_OK);
    assert_int_equal(myr_kube_counts(c).nodes, 2);
    assert_string_equal(page.version, "12");
    myr_buf_done(&page.more);
    myr_kube_cluster_free(c);
}

static void what_is_no_watch_is_told(void **state)
{
    static const char *const lines[] = {
        "",
        "{",
        "[]",
        "{\"type\":\"ADDED\"}",
        "{\"type\":\"GONE\",\"object\":{}}",
        "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"../x\",\"uid\":\"u\"}}}",
        "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"n1\"}}}"};
    (void)state;
    struct myr_kube_cluster *c = new_cluster();
    struct myr_kube_said said;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(lines); i++) {
        struct myr_err err = {};
        assert_true(myr_kube_line(c, MYR_KUBE_NODES, myr_str_from(lines[i]), 0, &said, &err) < 0);
        assert_true(err.message[0]);
    }
    struct myr_err err = {};
    assert_int_equal(myr_kube_line(c, MYR_KUBE_PODS,
                                   MYR_STR("{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\","
                                           "\"code\":410,\"message\":\"too old\"}}"),
                                   0, &said, &err),
                     MYR_OK);
    assert_int_equal(said.code, 410);
    assert_int_equal(myr_kube_counts(c).nodes, 0);
    myr_kube_cluster_free(c);
}

static void amounts_and_times_are_read(void **state)
{
    static const struct {
        const char *text;
        int64_t milli;
    } good[] = {{"8", 8000},
                {"500m", 500},
                {"0.5", 500},
                {"1Ki", 1024000},
                {"1.5Gi", 1610612736000},
                {"2k", 2000000},
                {"1e3", 1000000},
                {"1E-1", 100},
                {"100n", 1},
                {"0", 0},
                {"16Ei", INT64_MAX},
                {"12e0", 12000},
                {"0.0000000001", 1}};
    static const char *const bad[] = {"", "x", "1x", "-1", "1..2", ".", "1e", "e3", "1 ", "1e99"};
    int64_t got;
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(good); i++) {
        assert_true(kube_quantity(myr_str_from(good[i].text), &got));
        assert_int_equal(got, good[i].milli);
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        assert_false(kube_quantity(myr_str_from(bad[i]), &got));
    }
    assert_true(kube_time(MYR_STR("1970-01-02T00:00:01Z"), &got));
    assert_int_equal(got, 86401000);
    assert_true(kube_time(MYR_STR("2000-02-29T12:00:00.5Z"), &got));
    assert_int_equal(got, 951825600000);
    assert_false(kube_time(MYR_STR("2000-13-01T12:00:00Z"), &got));
    assert_true(kube_natural(MYR_STR("n2"), MYR_STR("n10")) < 0);
    assert_true(kube_natural(MYR_STR("n02"), MYR_STR("n2")) != 0);
    assert_true(kube_natural(MYR_STR("a9z"), MYR_STR("a10")) < 0);
}

/* Pods from before whose node does not answer: only who asks for it waits for their end. */
static void a_strict_gang_waits_for_pods_from_before(void **state)
{
    (void)state;
    for (int strict = 0; strict < 2; strict++) {
        const char *notes = strict ? ",\"myriad/restart\":\"strict\"" : "";
        struct pod old = {.gang = "g",
                          .size = 1,
                          .node = "n0",
                          .phase = "Running",
                          .uid = "-old",
                          .more_notes = notes,
                          .more_meta = "\"deletionTimestamp\":\"2026-11-16T08:59:59Z\","};
        struct myr_kube_cluster *c = new_cluster();
        uint32_t count;
        nodes(c, 2);
        put(c, &old);
        put(c, &(struct pod){.gang = "g", .size = 1, .more_notes = notes});
        const struct myr_kube_decision *d = decide(c, &count);
        assert_int_equal(count, 1);
        assert_int_equal(d->act, strict ? MYR_KUBE_WAIT : MYR_KUBE_BIND);
        if (strict) {
            assert_non_null(strstr(d->reason, "1 pods from before may still run, g-0 on n0"));
            old.type = "DELETED"; /* its kubelet has answered, or its node is gone */
            put(c, &old);
            d = decide(c, &count);
            assert_int_equal(count, 1);
            assert_int_equal(d->act, MYR_KUBE_BIND);
        }
        myr_kube_cluster_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_strict_gang_waits_for_pods_from_before),
        cmocka_unit_test(a_gang_is_bound_whole_and_in_rank_order),
        cmocka_unit_test(nodes_are_those_that_agents_would_get),
        cmocka_unit_test(labels_taints_and_others_pods_are_respected),
        cmocka_unit_test(a_lost_node_makes_the_whole_gang_anew),
        cmocka_unit_test(a_pod_that_fails_or_goes_takes_the_others_with_it),
        cmocka_unit_test(pods_that_are_done_break_nothing),
        cmocka_unit_test(a_binding_that_was_begun_is_finished),
        cmocka_unit_test(who_waits_too_long_is_passed_over_no_more),
        cmocka_unit_test(who_will_never_fit_holds_nothing),
        cmocka_unit_test(a_pod_elsewhere_makes_the_gang_anew),
        cmocka_unit_test(a_list_forgets_what_it_does_not_name),
        cmocka_unit_test(what_is_no_watch_is_told),
        cmocka_unit_test(amounts_and_times_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
