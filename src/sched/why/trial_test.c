#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "myriad/sched/events.h"
#include "myriad/sched/snapshot.h"
#include "myriad/sched/why.h"

/*
 * Random states with queues. Every change that is told for a waiting job is made in a copy through
 * the queue's own events, and the job must start; and where any single change of these kinds would
 * start it, found by making them all, one is told nearly always.
 */
enum { STATES = 1000, TENANTS = 3, SPARES = 2 };

struct scene {
    struct myr_rng rng;
    struct myr_place_shape shape;
    struct myr_tenant tenants[TENANTS];
    struct myr_queue *queue, *copy;
    int64_t now_s;
    uint32_t id; /* the job asked about */
    enum myr_queue_preset preset;
    bool confirm;
};

static uint32_t below(struct scene *s, uint32_t bound)
{
    return myr_rng_below(&s->rng, bound);
}

static void must(int rc)
{
    assert_int_equal(rc, MYR_OK);
}

/* Where decisions are wishes, agents obey them at once. */
static void decide(struct scene *s, struct myr_queue *queue)
{
    uint32_t count;
    const struct myr_decision *made = myr_queue_decide(queue, s->now_s, &count);
    while (s->confirm && count > 0) {
        struct myr_decision *all = myr_xcalloc(count, sizeof(*all));
        memcpy(all, made, count * sizeof(*all));
        for (uint32_t i = 0; i < count; i++) {
            /* Late where a later decision has taken it back. */
            int rc = MYR_OK;
            if (all[i].kind == MYR_DECIDE_START) {
                rc = myr_queue_started(queue, s->now_s, all[i].job, all[i].epoch);
            } else if (all[i].kind == MYR_DECIDE_STOP) {
                rc = myr_queue_stopped(queue, s->now_s, all[i].job, all[i].epoch, MYR_NONE);
            }
            assert_true(rc == MYR_OK || rc == MYR_ESTALE);
        }
        free(all);
        made = myr_queue_decide(queue, s->now_s, &count);
    }
}

static void fill(struct scene *s)
{
    uint32_t id, per = s->shape.gpus_per_node, jobs = 10 + below(s, 30);
    for (uint32_t i = 0; i < jobs; i++) {
        struct myr_queue_job job = {.tenant = below(s, TENANTS),
                                    .priority = (int32_t)below(s, 3) - 1,
                                    .fixed = below(s, 4) == 0};
        job.gpus = below(s, 2) ? 1 + below(s, per) : per * (1 + below(s, s->shape.nodes));
        must(myr_queue_submit(s->queue, s->now_s, &job, &id, NULL));
        s->now_s += below(s, 2) ? 0 : below(s, 900);
        decide(s, s->queue);
        if (below(s, 4) == 0) {
            must(myr_queue_finish(s->queue, s->now_s, below(s, id + 1)));
        }
        if (below(s, 12) == 0) {
            must(myr_queue_node(s->queue, s->now_s, below(s, s->shape.nodes), below(s, 3) == 0));
        }
        decide(s, s->queue);
    }
}

static void set_up(struct scene *s, uint64_t seed)
{
    *s = (struct scene){};
    myr_rng_init(&s->rng, seed, 13);
    s->shape = (struct myr_place_shape){3 + below(s, 8), below(s, 2) ? 4 : 8, 2, 4};
    for (uint32_t t = 0; t < TENANTS; t++) {
        s->tenants[t] = (struct myr_tenant){.parent = MYR_NONE, .weight = 1 + below(s, 4)};
    }
    s->tenants[0].cells[MYR_CELL_NODE] = below(s, 4) == 0;
    s->preset = (enum myr_queue_preset)below(s, 4);
    struct myr_queue_policy policy = myr_queue_policy_preset(s->preset);
    policy.patience_s = below(s, 2) ? policy.patience_s : 1800;
    policy.locality_s = below(s, 4) ? 0 : 7200;
    policy.confirm = s->confirm = below(s, 2);
    must(myr_queue_create(&s->shape, &policy, s->tenants, TENANTS, &s->queue, NULL));
    myr_queue_keep_spares(s->queue, below(s, 3) ? 0 : 1);
    fill(s);
}

/* A waiting job, if there is one. */
static bool choose(struct scene *s)
{
    uint32_t count = myr_queue_jobs(s->queue), start = below(s, count);
    for (uint32_t i = 0; i < count; i++) {
        s->id = (start + i) % count;
        if (myr_queue_state(s->queue, s->id) == MYR_JOB_WAITS) {
            return true;
        }
    }
    return false;
}

static bool starts(struct scene *s)
{
    decide(s, s->copy);
    return myr_queue_state(s->copy, s->id) == MYR_JOB_RUNS;
}

static void set_weight(struct scene *s, uint32_t weight)
{
    struct myr_job_view view;
    struct myr_tenant tenants[TENANTS];
    must(myr_queue_view(s->copy, s->id, &view));
    memcpy(tenants, s->tenants, sizeof(tenants));
    tenants[view.tenant].weight = weight;
    must(myr_queue_set_tenants(s->copy, s->now_s, tenants, TENANTS, NULL));
}

/* Those that are in use stay so. */
static void nodes_back(struct scene *s, uint32_t first, uint32_t last)
{
    assert_true(first <= last && last < s->shape.nodes);
    for (uint32_t n = first; n <= last; n++) {
        must(myr_queue_node(s->copy, s->now_s, n, true));
    }
}

/* Through events; moves have none. */
static void apply(struct scene *s, const struct myr_trial *t)
{
    if (t->nodes > 0) {
        nodes_back(s, t->node, t->last);
    }
    if (t->raised) {
        must(myr_queue_reprioritise(s->copy, s->now_s, s->id, t->priority));
    }
    if (t->spareless) {
        myr_queue_keep_spares(s->copy, 0);
    }
    switch (t->kind) {
    case MYR_TRIAL_FEWER_GPUS:
        must(myr_queue_resize(s->copy, s->now_s, s->id, t->gpus));
        break;
    case MYR_TRIAL_PRIORITY:
        must(myr_queue_reprioritise(s->copy, s->now_s, s->id, t->priority));
        break;
    case MYR_TRIAL_WEIGHT:
        set_weight(s, t->weight);
        break;
    case MYR_TRIAL_NODE_BACK:
    case MYR_TRIAL_NODES_BACK:
        break;
    case MYR_TRIAL_NO_SPARES:
        myr_queue_keep_spares(s->copy, 0);
        break;
    case MYR_TRIAL_END_JOB:
    case MYR_TRIAL_END_JOBS:
        for (uint32_t i = 0; i < t->job_count; i++) {
            must(myr_queue_finish(s->copy, s->now_s, t->jobs[i]));
        }
        break;
    default:
        myr_queue_apply_trial(s->copy, s->now_s, s->id, t);
    }
}

static bool starts_with(struct scene *s, struct myr_trial t)
{
    myr_queue_copy(s->queue, &s->copy);
    apply(s, &t);
    return starts(s);
}

/* Every change of these kinds, one after the other. */
static bool any_would_do(struct scene *s)
{
    struct myr_job_view view;
    must(myr_queue_view(s->queue, s->id, &view));
    for (uint32_t gpus = 1; gpus < view.gpus; gpus++) {
        if (starts_with(s, (struct myr_trial){.kind = MYR_TRIAL_FEWER_GPUS, .gpus = gpus})) {
            return true;
        }
    }
    for (int32_t p = view.priority + 1; p <= 4; p++) {
        if (starts_with(s, (struct myr_trial){.kind = MYR_TRIAL_PRIORITY, .priority = p})) {
            return true;
        }
    }
    for (uint32_t weight = 1; weight < 4096; weight *= 2) {
        if (starts_with(s, (struct myr_trial){.kind = MYR_TRIAL_WEIGHT, .weight = weight})) {
            return true;
        }
    }
    for (uint32_t n = 0; n < s->shape.nodes; n++) {
        if (starts_with(s, (struct myr_trial){
                               .kind = MYR_TRIAL_NODE_BACK, .node = n, .last = n, .nodes = 1})) {
            return true;
        }
    }
    for (uint32_t id = 0; id < myr_queue_jobs(s->queue); id++) {
        struct myr_trial t = {.kind = MYR_TRIAL_END_JOB, .job_count = 1, .jobs = {id}};
        if (id != s->id && starts_with(s, t)) {
            return true;
        }
    }
    return starts_with(s, (struct myr_trial){.kind = MYR_TRIAL_NO_SPARES});
}

/* Neither end of what is told can be left out, nor is one node told of as several. */
static void expect_no_node_too_many(struct scene *s, const struct myr_trial *t)
{
    struct myr_trial less = *t;
    assert_int_equal(t->node < t->last, t->kind == MYR_TRIAL_NODES_BACK);
    assert_true(t->nodes >= 1 && t->nodes <= t->last - t->node + 1);
    if (t->kind == MYR_TRIAL_NODES_BACK) {
        less.last--;
        assert_false(starts_with(s, less));
        less = *t;
        less.node++;
        assert_false(starts_with(s, less));
    }
}

/* Less than half of a job is another job; and who waits is not told of as one that runs. */
static void expect_sense(struct scene *s, const struct myr_trial *t)
{
    struct myr_job_view view;
    must(myr_queue_view(s->queue, s->id, &view));
    if (t->kind == MYR_TRIAL_FEWER_GPUS) {
        assert_in_range(t->gpus, (view.gpus + 1) / 2, view.gpus - 1);
    }
    assert_true(t->kind != MYR_TRIAL_PRIORITY || t->priority > view.priority);
    assert_true(t->waiting <= t->job_count && (!t->raised || t->priority > view.priority));
    uint32_t gpus = 0;
    for (uint32_t i = 0; i < t->job_count; i++) {
        must(myr_queue_view(s->queue, t->jobs[i], &view));
        bool waits = i >= t->job_count - t->waiting;
        /* Who keeps its place until it is whole again waits as well. */
        assert_true(waits ? view.state == MYR_JOB_WAITS || view.state == MYR_JOB_CLAIMS
                          : view.state == MYR_JOB_RUNS);
        gpus += waits ? 0 : view.gpus;
    }
    assert_true(t->job_count == 0 || t->gpus == gpus);
}

static void expect_start(struct scene *s, uint64_t seed, const struct myr_trial *t)
{
    expect_sense(s, t);
    if (!starts_with(s, *t)) {
        fail_msg("seed %llu, job %u: %s does not start it", (unsigned long long)seed, s->id,
                 myr_trial_name(t->kind));
    }
    if (t->kind == MYR_TRIAL_NODE_BACK || t->kind == MYR_TRIAL_NODES_BACK) {
        expect_no_node_too_many(s, t);
    }
}

static void every_change_that_is_told_starts_the_job(void **state)
{
    (void)state;
    struct scene s;
    uint32_t states = 0, possible = 0, told = 0, changes = 0, kinds[MYR_TRIAL_COUNT] = {};
    uint32_t by_policy[4] = {}, helped[4] = {}, by_why[MYR_WHY_NEVER + 1] = {};
    uint32_t why_helped[MYR_WHY_NEVER + 1] = {};
    for (uint64_t seed = 0; states < STATES; seed++) {
        set_up(&s, seed);
        if (choose(&s)) {
            struct myr_trial trials[MYR_TRIALS_MAX];
            uint64_t before = myr_queue_hash(s.queue);
            uint32_t count = myr_queue_trials(s.queue, s.now_s, s.id, trials);
            assert_int_equal(myr_queue_hash(s.queue), before); /* asking changes nothing */
            for (uint32_t i = 0; i < count; i++) {
                kinds[trials[i].kind]++;
                changes++;
                expect_start(&s, seed, &trials[i]);
            }
            bool any = any_would_do(&s);
            struct myr_why why;
            states++;
            myr_queue_why(s.queue, s.now_s, s.id, &why);
            by_policy[s.preset]++;
            helped[s.preset] += count > 0;
            by_why[why.kind]++;
            why_helped[why.kind] += count > 0;
            possible += any;
            told += any && count > 0;
        }
        myr_queue_free(s.queue);
        myr_queue_free(s.copy);
    }
    print_message("%u states, %u with a change that helps, told in %u; %u changes\n", states,
                  possible, told, changes);
    /* Several changes together are told where no single one would do: hardly anybody is left. */
    for (uint32_t p = 0; p < MYR_ARRAY_COUNT(helped); p++) {
        print_message("policy %u: %u of %u\n", p, helped[p], by_policy[p]);
        assert_true(helped[p] * 100 >= by_policy[p] * 95);
    }
    for (uint32_t k = 0; k <= MYR_WHY_NEVER; k++) {
        print_message("%s: %u of %u\n", myr_why_name((enum myr_why_kind)k), why_helped[k],
                      by_why[k]);
        assert_true(why_helped[k] * 100 >= by_why[k] * 95);
    }
    assert_true(possible > STATES / 2);
    assert_true(told * 100 >= possible * 95);
    assert_true(kinds[MYR_TRIAL_FEWER_GPUS] && kinds[MYR_TRIAL_PRIORITY] &&
                kinds[MYR_TRIAL_NODE_BACK] && kinds[MYR_TRIAL_END_JOB] && kinds[MYR_TRIAL_MOVE] &&
                kinds[MYR_TRIAL_WEIGHT] && kinds[MYR_TRIAL_NODES_BACK]);
}

/* A constraint that can be dropped is named; what is dropped is the request's alone. */
static void constraints_are_tried_too(void **state)
{
    (void)state;
    static const struct myr_place_shape shape = {4, 8, 2, 4};
    static const struct myr_tenant tenant = {.parent = MYR_NONE};
    struct myr_queue_policy policy = myr_queue_policy_default();
    struct myr_queue *queue = NULL;
    uint32_t id, other, count;
    must(myr_queue_create(&shape, &policy, &tenant, 1, &queue, NULL));
    for (uint32_t node = 0; node < 2; node++) {
        must(myr_queue_set_kind(queue, node, 1));
    }
    struct myr_queue_job busy = {.gpus = 8};
    must(myr_queue_submit(queue, 0, &busy, &other, NULL));
    (void)myr_queue_decide(queue, 0, &count);
    uint32_t node = myr_queue_gang(queue, other)->shares[0].node;
    struct myr_request request = {.nodes = 2, .kind_given = true, .kind = node < 2 ? 1 : 0};
    struct myr_queue_job job = {.gpus = 16, .request = &request};
    must(myr_queue_submit(queue, 1, &job, &id, NULL));
    (void)myr_queue_decide(queue, 1, &count);
    assert_int_equal(myr_queue_state(queue, id), MYR_JOB_WAITS);
    struct myr_trial trials[MYR_TRIALS_MAX];
    count = myr_queue_trials(queue, 1, id, trials);
    assert_true(count >= 3);
    assert_int_equal(trials[0].kind, MYR_TRIAL_DROP_KIND);
    assert_int_equal(trials[1].kind, MYR_TRIAL_FEWER_GPUS);
    assert_int_equal(trials[1].gpus, 8);
    must(myr_queue_finish(queue, 2, other));
    (void)myr_queue_decide(queue, 2, &count);
    assert_int_equal(myr_queue_state(queue, id), MYR_JOB_RUNS);
    for (uint32_t i = 0; i < 2; i++) { /* on its kind, ranks in order */
        assert_int_equal(myr_queue_gang(queue, id)->shares[i].node / 2, node / 2);
    }
    myr_queue_free(queue);
}

/* A queue over nodes that are all lost, or never came. */
static struct myr_queue *queue_of_none(const struct myr_place_shape *shape)
{
    static const struct myr_tenant tenant = {.parent = MYR_NONE};
    struct myr_queue_policy policy = myr_queue_policy_default();
    struct myr_queue *queue = NULL;
    must(myr_queue_create(shape, &policy, &tenant, 1, &queue, NULL));
    for (uint32_t node = 0; node < shape->nodes; node++) {
        must(myr_queue_node(queue, 0, node, false));
    }
    return queue;
}

/* The nodes that are told of for this job, which is the last change but those that end jobs. */
static struct myr_trial nodes_told(const struct myr_queue *queue, uint32_t id)
{
    struct myr_trial trials[MYR_TRIALS_MAX];
    uint32_t count = myr_queue_trials(queue, 1, id, trials);
    for (uint32_t i = 0; i < count; i++) {
        if (trials[i].kind == MYR_TRIAL_NODE_BACK || trials[i].kind == MYR_TRIAL_NODES_BACK) {
            return trials[i];
        }
    }
    fail_msg("no node would start job %u", id);
    return trials[0];
}

static void as_few_nodes_are_told_as_are_enough(void **state)
{
    (void)state;
    static const struct myr_place_shape shape = {1280, 8, 4, 32};
    static const uint32_t gpus[] = {8, 8, 1, 16, 24, 8};
    static const uint32_t nodes[] = {1, 2, 3, 5, 8, 4}; /* the last one passes the gangs */
    struct myr_queue *queue = queue_of_none(&shape);
    uint32_t id, count;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(gpus); i++) {
        struct myr_queue_job job = {.gpus = gpus[i]};
        must(myr_queue_submit(queue, 1, &job, &id, NULL));
        (void)myr_queue_decide(queue, 1, &count);
    }
    /* Who is behind others needs the nodes that they would take as well. */
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(nodes); i++) {
        struct myr_trial t = nodes_told(queue, i);
        assert_int_equal(t.nodes, nodes[i]);
        assert_int_equal(t.last - t.node + 1, nodes[i]);
    }
    myr_queue_free(queue);
}

/* Two under one leaf: those in front do not help, wherever they are. */
static void nodes_that_do_not_help_are_not_told(void **state)
{
    (void)state;
    static const struct myr_place_shape shape = {16, 8, 2, 16};
    struct myr_queue *queue = queue_of_none(&shape);
    uint32_t id, count;
    for (uint32_t node = 1; node < 9; node += 2) { /* half of each leaf is lost for good */
        struct myr_queue_job busy = {.gpus = 8};
        must(myr_queue_node(queue, 0, node, true));
        must(myr_queue_submit(queue, 0, &busy, &id, NULL));
        (void)myr_queue_decide(queue, 0, &count);
    }
    struct myr_request request = {.nodes = 2, .limited = true, .within = MYR_LEVEL_LEAF};
    struct myr_queue_job job = {.gpus = 16, .request = &request};
    must(myr_queue_submit(queue, 1, &job, &id, NULL));
    (void)myr_queue_decide(queue, 1, &count);
    struct myr_trial t = nodes_told(queue, id);
    assert_int_equal(t.nodes, 2);
    assert_int_equal(t.node, 8);
    assert_int_equal(t.last, 9);
    myr_queue_free(queue);
}

static void call(const void *context, uint32_t node, struct myr_buf *ret)
{
    myr_buf_printf(ret, "%s-%02u", (const char *)context, node);
}

static void expect_text(const struct myr_trial *t, const char *plain, const char *named)
{
    static const struct myr_node_names names = {call, "gpu"};
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    myr_trial_text(t, NULL, &text);
    assert_string_equal(text.data, plain);
    myr_buf_clear(&text);
    myr_trial_text(t, &names, &text);
    assert_string_equal(text.data, named);
}

static void nodes_are_called_as_the_reader_calls_them(void **state)
{
    (void)state;
    struct myr_trial t = {.kind = MYR_TRIAL_NODE_BACK, .node = 1, .last = 1, .nodes = 1};
    expect_text(&t, "node 1 in use", "gpu-01 in use");
    t = (struct myr_trial){.kind = MYR_TRIAL_NODES_BACK, .node = 1, .last = 3, .nodes = 2};
    expect_text(&t, "node 1 and node 3 in use", "gpu-01 and gpu-03 in use");
    t.nodes = 3;
    expect_text(&t, "3 more nodes in use, node 1 to node 3",
                "3 more nodes in use, gpu-01 to gpu-03");
    t = (struct myr_trial){.kind = MYR_TRIAL_MOVE,
                           .move_count = 2,
                           .moves = {{4, {.node = 7, .gpus = 1}, {.node = 2, .gpus = 2}},
                                     {5, {.node = 8, .gpus = 0xFF}, {.node = 9, .gpus = 0xFF}}}};
    expect_text(&t, "move job 4: 1 GPU from node 7 to node 2; job 5: 8 GPUs from node 8 to node 9",
                "move job 4: 1 GPU from gpu-07 to gpu-02; job 5: 8 GPUs from gpu-08 to gpu-09");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_change_that_is_told_starts_the_job),
        cmocka_unit_test(constraints_are_tried_too),
        cmocka_unit_test(as_few_nodes_are_told_as_are_enough),
        cmocka_unit_test(nodes_that_do_not_help_are_not_told),
        cmocka_unit_test(nodes_are_called_as_the_reader_calls_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
