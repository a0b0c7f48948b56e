#include "queue/queue_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "myriad/sched/why.h"

enum { A_DAY_S = 24 * 3600 };

static void higher_priority_goes_first_and_takes_the_place_of_lower(void **state)
{
    (void)state;
    struct myr_queue_policy policy = policy_of(true);
    struct myr_queue *queue = queue_with(&four, &policy, plain, 2);
    uint32_t low = submit(queue, 0, (struct myr_queue_job){.gpus = 32});
    decide(queue, 0, NULL);
    assert_true(runs(queue, low));
    uint32_t normal = submit(queue, 10, (struct myr_queue_job){.gpus = 16});
    uint32_t high = submit(queue, 10, (struct myr_queue_job){.gpus = 16, .priority = 5});
    uint32_t count;
    const struct myr_decision *d = decide(queue, 10, &count);
    assert_true(runs(queue, high));
    assert_int_equal(d[0].kind, MYR_DECIDE_STOP);
    assert_int_equal(d[0].reason, MYR_STOP_PRIORITY);
    assert_int_equal(d[0].by, high);
    assert_true(runs(queue, normal)); /* in what was left of the place */
    assert_false(runs(queue, low));
    myr_queue_free(queue);
}

static void fixed_jobs_stay_where_they_are(void **state)
{
    (void)state;
    struct myr_queue_policy policy = policy_of(true);
    struct myr_queue *queue = queue_with(&four, &policy, plain, 2);
    uint32_t fixed = submit(queue, 0, (struct myr_queue_job){.gpus = 32, .fixed = true});
    decide(queue, 0, NULL);
    uint32_t high = submit(queue, 10, (struct myr_queue_job){.gpus = 8, .priority = 100});
    decide(queue, 10, NULL);
    assert_true(runs(queue, fixed));
    assert_false(runs(queue, high));
    myr_queue_free(queue);
}

static void what_has_run_long_makes_room_just_after_a_checkpoint(void **state)
{
    (void)state;
    struct myr_queue_policy policy = policy_of(true);
    policy.loss_permille = 100; /* the cluster is small and new */
    static const struct myr_place_shape eight = {8, 8, 2, 8};
    struct myr_queue *queue = queue_with(&eight, &policy, plain, 2);
    (void)submit(queue, 0, (struct myr_queue_job){.gpus = 32, .fixed = true});
    /* The second began later: when the third comes it has just saved, the first has not. */
    uint32_t first = submit(queue, 0, (struct myr_queue_job){.gpus = 16});
    decide(queue, 0, NULL);
    uint32_t second = submit(queue, 900, (struct myr_queue_job){.gpus = 16});
    decide(queue, 900, NULL);
    uint32_t third = submit(queue, 900 + 4 * 1800 + 5, (struct myr_queue_job){.gpus = 16});
    uint32_t count;
    const struct myr_decision *d = decide(queue, 900 + 4 * 1800 + 5, &count);
    assert_int_equal(count, 2);
    assert_int_equal(d[0].job, second);
    assert_int_equal(d[0].reason, MYR_STOP_LEVEL);
    assert_true(runs(queue, third) && runs(queue, first));
    myr_queue_free(queue);
}

static void tenants_share_by_weight_where_their_families_part(void **state)
{
    (void)state;
    /* 0 and 1 are organisations, 1 counts double; 2 and 3 are teams of 0. */
    static const struct myr_tenant tenants[] = {{.parent = MYR_NONE, .weight = 1},
                                                {.parent = MYR_NONE, .weight = 2},
                                                {.parent = 0, .weight = 1},
                                                {.parent = 0, .weight = 1}};
    static const struct myr_place_shape one = {6, 1, 6, 6};
    struct myr_queue_policy policy = policy_of(false);
    struct myr_queue *queue = queue_with(&one, &policy, tenants, 4);
    uint32_t ran[4] = {}, ids[24];
    for (uint32_t i = 0; i < 24; i++) {
        ids[i] = submit(queue, 0, (struct myr_queue_job){.tenant = 1 + i % 3, .gpus = 1});
    }
    decide(queue, 0, NULL);
    for (uint32_t i = 0; i < 24; i++) {
        ran[1 + i % 3] += runs(queue, ids[i]);
    }
    assert_int_equal(ran[1], 4);
    assert_int_equal(ran[2], 1);
    assert_int_equal(ran[3], 1);
    myr_queue_free(queue);
}

static void an_owner_gets_its_cells_back_from_borrowers(void **state)
{
    (void)state;
    static const struct myr_tenant tenants[] = {
        {.parent = MYR_NONE, .cells = {[MYR_CELL_GROUP] = 1}}, {.parent = MYR_NONE}};
    struct myr_queue_policy policy = policy_of(false);
    struct myr_queue *queue = queue_with(&four, &policy, tenants, 2);
    uint32_t borrower = submit(queue, 0, (struct myr_queue_job){.tenant = 1, .gpus = 32});
    decide(queue, 0, NULL);
    assert_true(runs(queue, borrower));
    uint32_t own = submit(queue, 60, (struct myr_queue_job){.tenant = 0, .gpus = 16});
    uint32_t count;
    const struct myr_decision *d = decide(queue, 60, &count);
    assert_int_equal(d[0].reason, MYR_STOP_OWNER);
    assert_int_equal(d[0].job, borrower);
    assert_true(runs(queue, own));
    assert_int_equal(myr_queue_owner(queue, own), 0);
    /* More than its cells: it waits like anybody else. */
    uint32_t more = submit(queue, 61, (struct myr_queue_job){.tenant = 0, .gpus = 32});
    decide(queue, 61, NULL);
    assert_false(runs(queue, more));
    myr_queue_free(queue);
}

static void a_cell_goes_where_nobody_is_disturbed(void **state)
{
    (void)state;
    static const struct myr_tenant tenants[] = {
        {.parent = MYR_NONE, .cells = {[MYR_CELL_GROUP] = 1}},
        {.parent = MYR_NONE, .cells = {[MYR_CELL_GROUP] = 1}}};
    struct myr_queue_policy policy = policy_of(false);
    struct myr_queue *queue = queue_with(&four, &policy, tenants, 2);
    uint32_t a = submit(queue, 0, (struct myr_queue_job){.tenant = 0, .gpus = 16});
    decide(queue, 0, NULL);
    uint32_t b = submit(queue, 1, (struct myr_queue_job){.tenant = 1, .gpus = 16});
    uint32_t count;
    decide(queue, 1, &count);
    assert_int_equal(count, 1); /* nobody had to stop */
    assert_true(runs(queue, a) && runs(queue, b));
    myr_queue_free(queue);
}

static void lost_nodes_of_a_cell_are_avoided(void **state)
{
    (void)state;
    static const struct myr_tenant tenants[] = {
        {.parent = MYR_NONE, .cells = {[MYR_CELL_NODE] = 3}}, {.parent = MYR_NONE}};
    struct myr_queue_policy policy = policy_of(false);
    struct myr_queue *queue = queue_with(&four, &policy, tenants, 2);
    set_node(queue, 0, 0, false);
    uint32_t id = submit(queue, 0, (struct myr_queue_job){.tenant = 0, .gpus = 16});
    decide(queue, 0, NULL);
    assert_true(runs(queue, id));
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(myr_queue_gang(queue, id)->shares[i].node != 0);
    }
    /* One of its nodes is lost: it moves on, to what is left of the cells and the common node. */
    set_node(queue, 5, myr_queue_gang(queue, id)->shares[0].node, false);
    decide(queue, 5, NULL);
    assert_true(runs(queue, id));
    myr_queue_free(queue);
}

static void nobody_waits_for_ever_whatever_its_size(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {3, 8, 12, 16, 32};
    for (uint32_t s = 0; s < MYR_ARRAY_COUNT(sizes); s++) {
        /* One-GPU jobs of 1000 s come so fast that the cluster is never less than full. */
        struct myr_queue_policy policy = policy_of(false);
        policy.patience_s = 24 * 3600;
        struct myr_queue *queue = queue_with(&four, &policy, plain, 2);
        uint32_t small[8000], first = 0, count = 0, big = MYR_NONE;
        int64_t now_s = 0;
        for (; count < 8000 && (big == MYR_NONE || !runs(queue, big)); now_s += 31) {
            small[count++] = submit(queue, now_s, (struct myr_queue_job){.tenant = 1, .gpus = 1});
            if (count == 50) {
                big = submit(queue, now_s, (struct myr_queue_job){.gpus = sizes[s]});
            }
            while (first < count && runs(queue, small[first]) && count > 34 && count - first > 33) {
                finish(queue, now_s, small[first++]);
            }
            decide(queue, now_s, NULL);
        }
        assert_true(runs(queue, big));
        assert_true(myr_queue_waited_s(queue, now_s, big) <= 2 * policy.patience_s + 2000);
        myr_queue_free(queue);
    }
}

static void short_jobs_use_nodes_that_are_held(void **state)
{
    (void)state;
    struct myr_queue_policy policy = policy_of(false);
    policy.patience_s = 900;
    struct myr_queue *queue = queue_with(&four, &policy, plain, 2);
    uint32_t busy = submit(queue, 0, (struct myr_queue_job){.gpus = 8, .limit_s = 10000});
    decide(queue, 0, NULL);
    uint32_t gang = submit(queue, 1, (struct myr_queue_job){.gpus = 32});
    decide(queue, 1 + policy.patience_s, NULL); /* all nodes are held now */
    uint32_t unknown = submit(queue, 1000, (struct myr_queue_job){.gpus = 8});
    uint32_t late = submit(queue, 1000, (struct myr_queue_job){.gpus = 8, .limit_s = 9500});
    uint32_t early = submit(queue, 1000, (struct myr_queue_job){.gpus = 8, .limit_s = 8000});
    decide(queue, 1000, NULL);
    assert_true(runs(queue, busy) && runs(queue, early));
    assert_false(runs(queue, gang) || runs(queue, unknown) || runs(queue, late));
    finish(queue, 9000, early);
    finish(queue, 10000, busy);
    decide(queue, 10000, NULL);
    assert_true(runs(queue, gang));
    myr_queue_free(queue);
}

/* Nodes drain for a gang: nothing new starts there, however short jobs of its size were so far. */
static void nothing_starts_on_nodes_that_are_held(void **state)
{
    (void)state;
    for (uint32_t preempt = 0; preempt < 2; preempt++) {
        struct myr_queue_policy policy = policy_of(preempt);
        struct myr_queue *queue = queue_with(&four, &policy, plain, 2);
        uint32_t busy = submit(queue, 0, (struct myr_queue_job){.gpus = 8, .fixed = true});
        decide(queue, 0, NULL);
        uint32_t gang = submit(queue, 1, (struct myr_queue_job){.gpus = 32});
        uint32_t early = submit(queue, 2, (struct myr_queue_job){.gpus = 1});
        decide(queue, 2, NULL);
        assert_true(runs(queue, early));
        finish(queue, 60, early);
        int64_t now_s = 1 + policy.patience_s;
        uint32_t late = submit(queue, now_s, (struct myr_queue_job){.gpus = 1});
        decide(queue, now_s, NULL);
        assert_false(runs(queue, late) || runs(queue, gang));
        finish(queue, now_s + 600, busy);
        decide(queue, now_s + 600, NULL);
        assert_true(runs(queue, gang) && !runs(queue, late));
        myr_queue_free(queue);
    }
}

/*
 * A gang that has waited far too long takes its nodes: from who came later, and from who came
 * before if that is far smaller, however short it has run and whatever it costs; not from a gang
 * like itself that came before, nor from a higher priority.
 */
static void a_gang_that_has_waited_too_long_stops_others(void **state)
{
    (void)state;
    struct myr_queue_policy policy = policy_of(true);
    policy.loss_permille = 0; /* no price is right */
    static const struct {
        struct myr_queue_job before, later;
        bool stops;
    } cases[] = {{{.gpus = 4}, {.gpus = 16}, true},
                 {{.gpus = 8}, {.gpus = 8}, false},
                 {{.gpus = 4, .priority = 1}, {.gpus = 8}, false},
                 {{.gpus = 4}, {.gpus = 8, .fixed = true}, false},
                 {{.gpus = 2}, {.gpus = 24}, true}};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_queue *queue = queue_with(&four, &policy, plain, 2);
        uint32_t before = submit(queue, 0, cases[i].before);
        decide(queue, 0, NULL);
        uint32_t gang = submit(queue, 1, (struct myr_queue_job){.gpus = 32});
        uint32_t later = submit(queue, 2, cases[i].later);
        decide(queue, 2, NULL);
        assert_true(runs(queue, before) && runs(queue, later) && !runs(queue, gang));
        decide(queue, policy.patience_s + 1, NULL);
        assert_false(runs(queue, gang));
        decide(queue, policy.yield_s, NULL);
        assert_false(runs(queue, gang));
        decide(queue, policy.yield_s + policy.yield_s / 32, NULL);
        assert_int_equal(runs(queue, gang), cases[i].stops);
        myr_queue_free(queue);
    }
}

static void nodes_held_for_lower_priority_are_free_to_higher(void **state)
{
    (void)state;
    struct myr_queue_policy policy = policy_of(false);
    policy.patience_s = 900;
    struct myr_place_shape many = {
        .nodes = 64, .gpus_per_node = 8, .group_nodes = 8, .pod_nodes = 64};
    struct myr_queue *queue = queue_with(&many, &policy, plain, 2);
    for (uint32_t i = 0; i < 63; i++) {
        (void)submit(queue, 0, (struct myr_queue_job){.gpus = 8});
    }
    decide(queue, 0, NULL);
    uint32_t gang = submit(queue, 1, (struct myr_queue_job){.gpus = 16});
    decide(queue, 1 + policy.patience_s, NULL); /* the free node is held now */
    uint32_t equal = submit(queue, 1000, (struct myr_queue_job){.gpus = 8});
    uint32_t high = submit(queue, 1000, (struct myr_queue_job){.gpus = 8, .priority = 1});
    decide(queue, 1000, NULL);
    assert_true(runs(queue, high));
    assert_false(runs(queue, gang) || runs(queue, equal));
    finish(queue, 1100, high);
    decide(queue, 1100, NULL);
    assert_false(runs(queue, equal)); /* held again */
    high = submit(queue, 5001, (struct myr_queue_job){.gpus = 8, .priority = 1});
    decide(queue, 5001, NULL);
    assert_true(runs(queue, high)); /* age never counts above priority, however long it is */
    myr_queue_free(queue);
}

static void bad_inputs_are_refused_with_a_reason(void **state)
{
    (void)state;
    struct myr_queue_policy policy = policy_of(false);
    struct myr_queue *queue = queue_with(&four, &policy, plain, 2), *none = NULL;
    static const struct myr_queue_job bad[] = {{.gpus = 0},
                                               {.gpus = 33},
                                               {.gpus = 1, .tenant = 2},
                                               {.gpus = 1, .priority = 101},
                                               {.gpus = 1, .priority = -101}};
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        struct myr_err err = {};
        uint32_t id;
        assert_true(myr_queue_submit(queue, 0, &bad[i], &id, &err) < 0);
        assert_true(err.message[0] != '\0');
    }
    static const struct myr_tenant wrong[][2] = {
        {{.parent = MYR_NONE, .cells = {5}}, {.parent = MYR_NONE}},
        {{.parent = MYR_NONE, .cells = {0, 2}}, {.parent = MYR_NONE, .cells = {1}}},
        {{.parent = 1}, {.parent = MYR_NONE}},
        {{.parent = 0}, {.parent = MYR_NONE}},
    };
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(wrong); i++) {
        struct myr_err err = {};
        assert_true(myr_queue_create(&four, &policy, wrong[i], 2, &none, &err) < 0);
        assert_true(err.message[0] != '\0' && !none);
    }
    /* Without pods a pod is a group of two: two of them are the cluster, three are too many. */
    const struct myr_place_shape no_pods = {4, 8, 2, 0};
    struct myr_tenant pods = {.parent = MYR_NONE, .cells = {[MYR_CELL_POD] = 3}};
    assert_true(myr_queue_create(&no_pods, &policy, &pods, 1, &none, NULL) < 0 && !none);
    pods.cells[MYR_CELL_POD] = 2;
    assert_int_equal(myr_queue_create(&no_pods, &policy, &pods, 1, &none, NULL), MYR_OK);
    myr_queue_free(none);
    myr_queue_free(queue);
}

static void a_waiting_job_is_told_what_it_lacks(void **state)
{
    (void)state;
    struct myr_queue_policy policy = policy_of(false);
    struct myr_queue *queue = queue_with(&four, &policy, plain, 2);
    uint32_t ids[4];
    struct myr_why why;
    for (uint32_t i = 0; i < 4; i++) {
        ids[i] = submit(queue, 0, (struct myr_queue_job){.gpus = 5});
    }
    decide(queue, 0, NULL);
    uint32_t whole = submit(queue, 10, (struct myr_queue_job){.gpus = 8});
    decide(queue, 10, NULL);
    myr_queue_why(queue, 20, whole, &why);
    assert_int_equal(why.kind, MYR_WHY_FRAGMENTED);
    assert_int_equal(why.gpus_free, 12);
    assert_int_equal(why.stop_count, 1);
    assert_int_equal(why.waited_s, 10);
    uint32_t large = submit(queue, 30, (struct myr_queue_job){.gpus = 16});
    decide(queue, 30, NULL);
    myr_queue_why(queue, 30, large, &why);
    assert_int_equal(why.kind, MYR_WHY_FULL);
    /* The one before it takes a node, too: it has to go first, or another has to end. */
    assert_int_equal(why.stop_count, 2);
    assert_true(why.trials[why.trial_count - 1].raised);
    assert_int_equal(why.ahead, 1);
    struct myr_buf text = {};
    myr_why_text(&why, large, &text);
    assert_non_null(strstr(text.data, "too few GPUs are free"));
    assert_non_null(strstr(text.data, "priority 1, and jobs "));
    assert_non_null(strstr(text.data, " GPUs) over or stopped"));
    myr_buf_done(&text);
    finish(queue, 40, ids[0]);
    decide(queue, 40, NULL);
    myr_queue_why(queue, 40, whole, &why);
    assert_int_equal(why.kind, MYR_WHY_NOTHING);
    myr_queue_free(queue);
}

static void held_nodes_and_priorities_are_part_of_the_answer(void **state)
{
    (void)state;
    struct myr_queue_policy policy = policy_of(true);
    policy.patience_s = 900;
    struct myr_queue *queue = queue_with(&four, &policy, plain, 2);
    uint32_t busy = submit(queue, 0, (struct myr_queue_job){.gpus = 8, .priority = 3});
    decide(queue, 0, NULL);
    uint32_t gang = submit(queue, 1, (struct myr_queue_job){.gpus = 32});
    decide(queue, 1 + policy.patience_s, NULL);
    uint32_t small = submit(queue, 1000, (struct myr_queue_job){.gpus = 1, .fixed = true});
    decide(queue, 1000, NULL);
    struct myr_why why;
    myr_queue_why(queue, 1000, small, &why);
    assert_int_equal(why.kind, MYR_WHY_HELD);
    assert_int_equal(why.nodes_held, 3);
    assert_int_equal(why.held_for, gang);
    myr_queue_why(queue, 1000, gang, &why);
    assert_int_equal(why.trials[0].kind, MYR_TRIAL_FEWER_GPUS);
    assert_int_equal(why.trials[1].kind, MYR_TRIAL_PRIORITY);
    assert_int_equal(why.trials[1].priority, 4);
    assert_int_equal(why.stops[0], busy);
    myr_queue_free(queue);
}

static void an_explanation_is_a_sentence_and_facts(void **state)
{
    (void)state;
    struct myr_why why = {
        .kind = MYR_WHY_FRAGMENTED,
        .gpus = 8,
        .nodes = 1,
        .gpus_free = 73,
        .nodes_held = 2,
        .nodes_shut = 3,
        .held_for = 12,
        .own_nodes = 4,
        .own_free = 1,
        .ahead = 4,
        .now_s = 3600,
        .waited_s = 50400,
        .hold_s = 3600 + 36000,
        .anywhere_s = INT64_MAX,
        .trial_count = 2,
        .trials = {{.kind = MYR_TRIAL_PRIORITY, .priority = 7},
                   {.kind = MYR_TRIAL_END_JOBS, .job_count = 2, .jobs = {45, 46}, .gpus = 9}}};
    struct myr_buf text = {};
    myr_why_text(&why, 49, &text);
    assert_string_equal(
        text.data,
        "job 49 has waited 14 h: enough GPUs are free, but not on enough whole nodes\n"
        "  needs         8 GPUs on 1 node\n"
        "  free          73 GPUs, 0 whole nodes; held for others: 2 nodes; empty but not in "
        "use: 3 nodes\n"
        "  held for      job 12\n"
        "  own cells     4 nodes, 1 of them unused\n"
        "  before it     4 jobs\n"
        "  would start   priority 7\n"
        "  or            jobs 45, 46 (9 GPUs) over or stopped\n"
        "  in 10 h       nodes are held for it\n");
    myr_buf_clear(&text);
    why = (struct myr_why){.held_for = MYR_NONE, .gpus = 9, .nodes = 2, .stop_count = 1};
    myr_why_text(&why, 1, &text);
    assert_string_equal(text.data, "job 1 has waited 0 s: it does not wait\n"
                                   "  needs         9 GPUs on 2 nodes\n"
                                   "  free          0 GPUs, 0 whole nodes\n"
                                   "  before it     0 jobs\n");
    myr_buf_clear(&text);
    why = (struct myr_why){.kind = MYR_WHY_FULL, .held_for = MYR_NONE};
    myr_why_text(&why, 1, &text);
    assert_non_null(strstr(text.data, "no single change that was tried"));
    myr_buf_done(&text);
}

/* One of each. */
static void one_is_not_told_as_many(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_why why = {.kind = MYR_WHY_CLOSED,
                          .gpus = 1,
                          .nodes = 1,
                          .gpus_free = 1,
                          .nodes_free = 1,
                          .held_for = MYR_NONE,
                          .own_nodes = 1,
                          .ahead = 1,
                          .waited_s = 1478,
                          .hold_s = INT64_MAX,
                          .anywhere_s = 90061,
                          .trial_count = 2,
                          .trials = {{.kind = MYR_TRIAL_FEWER_GPUS, .gpus = 1},
                                     {.kind = MYR_TRIAL_END_JOB, .job_count = 1, .gpus = 1}}};
    myr_why_text(&why, 1, &text);
    assert_string_equal(text.data,
                        "job 1 has waited 24 min 38 s: it fits only with nodes that are not in "
                        "use: spares, drained, in maintenance, lost or never seen\n"
                        "  needs         1 GPU on 1 node\n"
                        "  free          1 GPU, 1 whole node\n"
                        "  own cells     1 node, 0 of them unused\n"
                        "  before it     1 job\n"
                        "  would start   ask for 1 GPU\n"
                        "  or            job 0 (1 GPU) over or stopped\n"
                        "  in 1 day 1 h  it takes nodes anywhere\n");
}

static void jobs_that_are_over_are_forgotten_and_the_others_are_not(void **state)
{
    (void)state;
    enum { JOBS = 2000 };
    struct myr_queue_policy policy = policy_of(false);
    struct myr_queue *queue = queue_with(&four, &policy, plain, 2);
    uint32_t stays = submit(queue, 0, (struct myr_queue_job){.gpus = 8}), last = 0;
    decide(queue, 0, NULL);
    uint32_t node = myr_queue_gang(queue, stays)->shares[0].node;
    for (uint32_t i = 1; i < JOBS; i++) {
        last = submit(queue, i, (struct myr_queue_job){.gpus = 1});
        assert_int_equal(last, i);
        decide(queue, i, NULL);
        assert_true(runs(queue, last));
        finish(queue, i, last);
        finish(queue, i, last); /* once more does no harm */
    }
    for (uint32_t i = 1; i < JOBS; i++) {
        assert_int_equal(myr_queue_state(queue, i), MYR_JOB_DONE);
        assert_int_equal(myr_queue_owner(queue, i), MYR_NONE);
        assert_int_equal(myr_queue_gang(queue, i)->count, 0);
    }
    assert_true(runs(queue, stays));
    assert_int_equal(myr_queue_gang(queue, stays)->shares[0].node, node);
    assert_int_equal(myr_placer_free_gpus(myr_queue_placer(queue)), 24);
    myr_queue_free(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(higher_priority_goes_first_and_takes_the_place_of_lower),
        cmocka_unit_test(fixed_jobs_stay_where_they_are),
        cmocka_unit_test(what_has_run_long_makes_room_just_after_a_checkpoint),
        cmocka_unit_test(tenants_share_by_weight_where_their_families_part),
        cmocka_unit_test(an_owner_gets_its_cells_back_from_borrowers),
        cmocka_unit_test(a_cell_goes_where_nobody_is_disturbed),
        cmocka_unit_test(lost_nodes_of_a_cell_are_avoided),
        cmocka_unit_test(nobody_waits_for_ever_whatever_its_size),
        cmocka_unit_test(short_jobs_use_nodes_that_are_held),
        cmocka_unit_test(nothing_starts_on_nodes_that_are_held),
        cmocka_unit_test(a_gang_that_has_waited_too_long_stops_others),
        cmocka_unit_test(nodes_held_for_lower_priority_are_free_to_higher),
        cmocka_unit_test(bad_inputs_are_refused_with_a_reason),
        cmocka_unit_test(a_waiting_job_is_told_what_it_lacks),
        cmocka_unit_test(held_nodes_and_priorities_are_part_of_the_answer),
        cmocka_unit_test(an_explanation_is_a_sentence_and_facts),
        cmocka_unit_test(one_is_not_told_as_many),
        cmocka_unit_test(jobs_that_are_over_are_forgotten_and_the_others_are_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
