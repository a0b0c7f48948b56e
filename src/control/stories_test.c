/*
 * Lives of clusters that nobody wrote down, as stories: policies with short deadlines, tenants,
 * services, windows, agents that answer late, twice, or for another boot, and a clock that steps.
 * Everything that the core wants done is put down with all its numbers, and so is what it says when
 * asked. Kept are the counts of each life and a digest of its story, and of the first lives what is
 * said at the end (tests/kept/control-stories.txt). The lives beside (lives_test.c) prove that the
 * promises hold; here a rule that goes missing shows where they hold without it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "control_fixture.h"
#include "kept.h"
#include "myriad/control/explain.h"
#include "myriad/control/whatif.h"

enum { NODES_MAX = 12, LIVES = 100, TOLD = 3, EVENTS = 250, TENANTS = 3 };

/* An agent: what it will say, in the order in which it was asked. */
struct agent {
    MYR_VEC(struct myr_event) says;
    uint32_t boot;
    bool silent;
};

struct life {
    struct fixture f;
    struct myr_rng rng;
    struct agent agents[NODES_MAX];
    uint32_t nodes;
    uint32_t effects[MYR_EFFECT_KINDS];
    struct myr_buf story;
};

static uint32_t below(struct life *l, uint32_t bound)
{
    return myr_rng_below(&l->rng, bound);
}

static bool one_in(struct life *l, uint32_t count)
{
    return below(l, count) == 0;
}

/* --- what the core wants */

static void will_say(struct life *l, const struct myr_effect *order, enum myr_event_kind kind,
                     uint32_t code)
{
    struct myr_event event = {.kind = (uint8_t)kind,
                              .code = (uint8_t)code,
                              .node = order->node,
                              .job = order->job,
                              .epoch = order->epoch,
                              .boot = order->boot};
    if (order->boot == l->agents[order->node].boot) {
        myr_vec_push(&l->agents[order->node].says, event);
    }
}

static void take_effect(struct life *l, const struct myr_effect *e)
{
    myr_buf_printf(&l->story, "  %s state %u reason %u node %d job %d.%u boot %u",
                   myr_effect_kind_name((enum myr_effect_kind)e->kind), e->state, e->reason,
                   (int)e->node, (int)e->job, e->epoch, e->boot);
    myr_buf_printf(&l->story, " ranks %u/%u grace %u gpus %llx\n", e->first_rank, e->world,
                   e->grace_s, (unsigned long long)e->gpus);
    l->effects[e->kind]++;
    if (e->kind == MYR_EFFECT_START) {
        will_say(l, e, MYR_EVENT_STARTED,
                 one_in(l, 12)   ? MYR_START_NODE
                 : one_in(l, 20) ? MYR_START_OWN_FAULT
                                 : MYR_START_OK);
    } else if (e->kind == MYR_EFFECT_STOP) {
        will_say(l, e, MYR_EVENT_STOPPED, 0);
    } else if (e->kind == MYR_EFFECT_TEST) {
        will_say(l, e, MYR_EVENT_TESTED, one_in(l, 10));
    }
}

static void happens(struct life *l, struct myr_event event)
{
    uint32_t count;
    myr_buf_printf(&l->story, "%lld %s code %u node %u job %u.%u\n", (long long)l->f.now_ms,
                   myr_event_kind_name((enum myr_event_kind)event.kind), event.code, event.node,
                   event.job, event.epoch);
    tell(&l->f, event);
    const struct myr_effect *effects = myr_control_effects(l->f.control, &count);
    for (uint32_t i = 0; i < count; i++) {
        take_effect(l, &effects[i]);
    }
    int64_t wake_ms = myr_control_wake_ms(l->f.control);
    myr_buf_printf(&l->story, "  wakes in %lld, %u free\n",
                   wake_ms == INT64_MAX ? -1LL : (long long)(wake_ms - l->f.now_ms),
                   myr_control_free_gpus(l->f.control));
    assert_int_equal(myr_control_refusals(l->f.control), 0);
}

static void to_node(struct life *l, enum myr_event_kind kind, uint32_t node, uint32_t code)
{
    happens(l, (struct myr_event){.kind = (uint8_t)kind,
                                  .code = (uint8_t)code,
                                  .node = node,
                                  .boot = l->agents[node].boot - one_in(l, 12)});
}

/* --- what agents and ranks say */

static void restart_node(struct life *l, uint32_t node)
{
    struct agent *agent = &l->agents[node];
    agent->boot += 1 + one_in(l, 4);
    agent->silent = false;
    agent->says.count = 0;
    happens(l, (struct myr_event){.kind = MYR_EVENT_JOIN, .node = node, .boot = agent->boot});
}

static void hear(struct life *l, uint32_t node)
{
    struct agent *agent = &l->agents[node];
    if (agent->silent || agent->says.count == 0) {
        return;
    }
    struct myr_event event = agent->says.items[0];
    agent->says.count--;
    memmove(agent->says.items, agent->says.items + 1, agent->says.count * sizeof(event));
    happens(l, event);
    if (one_in(l, 10)) {
        happens(l, event);
    }
}

static void rank_does(struct life *l, enum myr_event_kind kind, uint32_t code)
{
    uint32_t slots = myr_control_ranks(l->f.control);
    for (uint32_t i = 0, at = slots ? below(l, slots) : 0; i < slots; i++) {
        struct myr_control_rank rank = myr_control_rank(l->f.control, (at + i) % slots);
        if (rank.used && !l->agents[rank.node].silent) {
            struct myr_control_job job = myr_control_job(l->f.control, rank.job);
            happens(l, (struct myr_event){.kind = (uint8_t)kind,
                                          .code = (uint8_t)code,
                                          .node = rank.node,
                                          .job = rank.job,
                                          .epoch = rank.epoch,
                                          .boot = l->agents[rank.node].boot,
                                          .value = job.step + 3 - below(l, 3),
                                          .saved = job.step - below(l, 2)});
            return;
        }
    }
}

/* --- what people and time do */

/* Some are of a layout, some of no layout that there is, some only want to lie together. */
static struct myr_job_wish wish_of(struct life *l, uint32_t gpus)
{
    struct myr_job_wish wish = {
        .order = {MYR_AXIS_TP, MYR_AXIS_CP, MYR_AXIS_EP, MYR_AXIS_DP, MYR_AXIS_PP}};
    wish.tp = one_in(l, 2) ? 8 : 1 + below(l, 4);
    wish.cp = wish.ep = 1;
    wish.pp = 1 + below(l, 3);
    wish.dp = gpus / (wish.tp * wish.pp) + one_in(l, 9);
    if (one_in(l, 2)) {
        wish = (struct myr_job_wish){.within = (uint8_t)below(l, MYR_LEVEL_COUNT + 2),
                                     .leaf_max = below(l, 4)};
    }
    return wish;
}

static void submit_some(struct life *l)
{
    uint32_t jobs = myr_control_jobs(l->f.control);
    bool after = jobs > 0 && one_in(l, 6), again = jobs > 0 && one_in(l, 12);
    struct myr_job_spec spec = {
        .token = 100 + (again ? below(l, jobs) : jobs),
        .tenant = below(l, TENANTS + one_in(l, 20)),
        .gpus = 1 + below(l, one_in(l, 5) ? 8 * l->nodes + 2 : 24),
        .priority = (int32_t)below(l, 5) - 2,
        .restart = (uint8_t)below(l, MYR_RESTARTS + one_in(l, 30)),
        .fixed = one_in(l, 6),
        .service = (uint8_t)(one_in(l, 6) + one_in(l, 60)),
        .retries = one_in(l, 40) ? MYR_JOB_RETRIES_MAX + below(l, 2) : below(l, 6),
        .lease_s = one_in(l, 40) ? MYR_LEASE_S_MAX + below(l, 2) : 20 + below(l, 60),
        .limit_s = below(l, 3) ? 0 : (int64_t)below(l, 400) - 2,
        .after = after ? 1 + below(l, jobs + one_in(l, 8)) : 0};
    spec.held = (uint8_t)(one_in(l, 9) + one_in(l, 60));
    spec.gpus_min = one_in(l, 6) ? 1 + below(l, spec.gpus + one_in(l, 9)) : 0;
    if (one_in(l, 5)) {
        spec.gpus = one_in(l, 2) ? 8 * (1 + below(l, l->nodes)) : spec.gpus;
        spec.wish = wish_of(l, spec.gpus);
    }
    happens(l, (struct myr_event){.kind = MYR_EVENT_SUBMIT, .spec = spec});
}

static void people_ask(struct life *l, uint32_t node)
{
    uint32_t jobs = myr_control_jobs(l->f.control);
    int64_t start_s = l->f.now_ms / 1000 + below(l, 200) - 20;
    switch (below(l, 8)) {
    case 0:
        to_node(l, one_in(l, 2) ? MYR_EVENT_DRAIN : MYR_EVENT_UNDRAIN, node, 0);
        return;
    case 1:
        if (jobs > 0 && one_in(l, 2)) {
            happens(l, (struct myr_event){.kind = MYR_EVENT_CANCEL, .job = below(l, jobs)});
        }
        return;
    case 2:
        happens(l,
                (struct myr_event){.kind = MYR_EVENT_APPROVE, .value = (int64_t)below(l, 20) - 2});
        return;
    case 3:
        happens(l, (struct myr_event){.kind = MYR_EVENT_WEIGHT,
                                      .count = below(l, TENANTS),
                                      .value = 1 + below(l, 9)});
        return;
    case 4:
        to_node(l, MYR_EVENT_HOLD, node, below(l, MYR_HOLDS));
        return;
    case 5:
        if (jobs > 0) {
            happens(l, (struct myr_event){.kind = MYR_EVENT_HOLD_JOB,
                                          .job = below(l, jobs),
                                          .code = one_in(l, 2)});
        }
        return;
    case 6:
        if (jobs > 0) {
            happens(l, (struct myr_event){.kind = MYR_EVENT_PRIORITY,
                                          .job = below(l, jobs),
                                          .value = (int64_t)below(l, 201) - 100});
        }
        return;
    default:
        happens(l, (struct myr_event){.kind = MYR_EVENT_MAINTAIN,
                                      .node = node,
                                      .count = 1 + below(l, l->nodes),
                                      .value = start_s,
                                      .end_s = start_s + below(l, 100),
                                      .saved = below(l, 60)});
    }
}

static void pass(struct life *l, int64_t ms)
{
    int64_t end_ms = l->f.now_ms + ms;
    for (int64_t wake_ms; (wake_ms = myr_control_wake_ms(l->f.control)) <= end_ms;) {
        l->f.now_ms = wake_ms > l->f.now_ms ? wake_ms : l->f.now_ms + 1;
        happens(l, (struct myr_event){.kind = MYR_EVENT_TICK});
    }
    l->f.now_ms = end_ms > l->f.now_ms ? end_ms : l->f.now_ms;
}

static void something_happens(struct life *l)
{
    uint32_t node = below(l, l->nodes);
    struct agent *agent = &l->agents[node];
    switch (below(l, 24)) {
    case 0:
    case 1:
        submit_some(l);
        break;
    case 2:
        rank_does(l, MYR_EVENT_EXIT, below(l, 2));
        break;
    case 3:
    case 4:
        rank_does(l, MYR_EVENT_STEP, 0);
        break;
    case 5:
        agent->silent = true;
        to_node(l, MYR_EVENT_SILENT, node, 0);
        break;
    case 6:
    case 7:
        agent->silent = false;
        to_node(l, MYR_EVENT_BACK, node, 0);
        break;
    case 8:
        restart_node(l, node);
        break;
    case 9:
        to_node(l, MYR_EVENT_SYMPTOM, node, below(l, MYR_SYMPTOMS));
        break;
    case 10:
        if (agent->silent) {
            to_node(l, MYR_EVENT_FENCED, node, one_in(l, 3));
        }
        break;
    case 11:
    case 12:
        people_ask(l, node);
        break;
    case 13:
        happens(l, (struct myr_event){.kind = one_in(l, 4) ? MYR_EVENT_TAKEOVER : MYR_EVENT_TICK});
        break;
    case 14:
        rank_does(l, MYR_EVENT_STOPPED, 0);
        break;
    case 15: /* a clock that steps, and a controller that stood still */
        l->f.now_ms += one_in(l, 3) ? (int64_t)below(l, 400000) : -(int64_t)below(l, 2);
        break;
    default:
        pass(l, 1 + (int64_t)below(l, one_in(l, 8) ? 90000 : 9000));
    }
    for (uint32_t i = 0; i < 3; i++) {
        hear(l, below(l, l->nodes));
    }
}

/* --- what it says when asked */

static void put_explained(struct life *l, const char *name)
{
    static struct myr_explanation e;
    struct myr_err err = {};
    int rc = myr_control_explain(l->f.control, name, NULL, &e, &err);
    myr_buf_printf(&l->story, "%s: %s\n", name, rc < 0 ? err.message : "");
    for (uint32_t i = 0; i < e.count; i++) {
        myr_buf_printf(&l->story, "  %s: %s\n", e.facts[i].what, e.facts[i].is);
    }
}

static void put_all_explained(struct life *l)
{
    char name[32];
    for (uint32_t id = 0; id <= myr_control_jobs(l->f.control); id++) {
        snprintf(name, sizeof(name), "job/%u", id);
        put_explained(l, name);
        if (id < myr_control_jobs(l->f.control) &&
            myr_control_job(l->f.control, id).state == MYR_CONTROL_QUEUED) {
            myr_buf_printf(&l->story, "  %s\n", myr_control_waits(l->f.control, id));
        }
    }
    for (uint32_t id = 0; id <= l->nodes; id++) {
        snprintf(name, sizeof(name), "node/%05u", id);
        put_explained(l, name);
    }
}

/* Asked of a copy: the state stays as it is. */
static void put_whatif(struct life *l)
{
    char lose[48];
    static struct myr_whatif_answer a;
    struct myr_err err = {};
    uint32_t first = below(l, l->nodes);
    snprintf(lose, sizeof(lose), "node/%05u,%u-%u", below(l, l->nodes), first, first + below(l, 3));
    struct myr_whatif_question q = {.lose = one_in(l, 2) ? lose : NULL,
                                    .lose_leaf = one_in(l, 2) ? (int64_t)below(l, 4) : -1,
                                    .add_gpus = one_in(l, 2) ? below(l, 20) : 0,
                                    .submit_gpus =
                                        one_in(l, 2) ? 1 + below(l, 8 * l->nodes + 9) : 0,
                                    .priority = (int32_t)below(l, 5) - 2,
                                    .restart = below(l, 2)};
    uint64_t before = myr_control_hash(l->f.control);
    int rc = myr_whatif(l->f.control, &q, &a, &err);
    assert_true(myr_control_hash(l->f.control) == before);
    myr_buf_printf(&l->story, "what if %s, leaf %d, %u more, %u asked: %s\n", q.lose ? lose : "-",
                   (int)q.lose_leaf, q.add_gpus, q.submit_gpus, rc < 0 ? err.message : "");
    if (rc == MYR_OK) {
        myr_buf_printf(&l->story,
                       "  %u + %u - %u nodes, %u to %u free; %u move, %u wait, %u start\n", a.nodes,
                       a.nodes_added, a.nodes_lost, a.free_gpus_before, a.free_gpus_after, a.moves,
                       a.waits, a.starts);
        myr_buf_printf(&l->story, "  %u placed %u on %u in %u: %s\n", a.submitted, a.placed,
                       a.submit_nodes, a.submit_groups, myr_why_name(a.why.kind));
        for (uint32_t i = 0; i < a.job_count; i++) {
            myr_buf_printf(&l->story, "  job %u of %u %s\n", a.jobs[i].job, a.jobs[i].gpus,
                           myr_whatif_fate_name(a.jobs[i].fate));
        }
    }
}

/* Another core in its place, which knows nothing but what the first one handed on. */
static void replace(struct life *l, bool load)
{
    struct myr_control *other = NULL;
    if (load) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
        struct myr_err err = {};
        myr_control_save(l->f.control, &bytes);
        if (myr_control_load((struct myr_str){bytes.data, bytes.len}, &other, &err) < 0) {
            fail_msg("%s", err.message);
        }
    } else {
        other = myr_control_fork(l->f.control);
    }
    assert_true(myr_control_hash(other) == myr_control_hash(l->f.control));
    myr_control_free(l->f.control);
    l->f.control = other;
}

/* --- lives */

static void draw_cluster(struct life *l)
{
    l->nodes = 2 + below(l, NODES_MAX - 1);
    struct myr_place_shape shape = {l->nodes, 8, 1 + below(l, 4), l->nodes};
    struct myr_control_policy p = myr_control_policy_default();
    p.queue = myr_queue_policy_preset(one_in(l, 2) ? MYR_QUEUE_PREEMPT : MYR_QUEUE_FAIR);
    p.spares = below(l, 2);
    p.start_window_ms = 20000 + below(l, 40000);
    p.first_step_ms = 30000 + below(l, 60000);
    p.retry_ms = 2000 + below(l, 6000);
    p.suspect_ms = 3000 + below(l, 9000);
    p.reconnect_ms = below(l, 20000);
    p.hang_ms = 20000 + below(l, 40000);
    p.test_ms = 5000 + below(l, 20000);
    p.fence_retry_ms = 4000 + below(l, 9000);
    p.clock_slack_ms = below(l, 60000);
    p.drain_permille = below(l, 600);
    p.restarts_in_place = below(l, 4);
    p.grace_s = below(l, 60);
    assert_int_equal(myr_control_create(&shape, &p, TENANTS, &l->f.control, NULL), MYR_OK);
    l->f.now_ms = 1000000;
    for (uint32_t node = 0; node < l->nodes; node++) {
        l->agents[node].boot = 1;
        restart_node(l, node);
    }
}

static void live(struct life *l, uint64_t seed)
{
    *l = (struct life){};
    myr_rng_init(&l->rng, seed, 17);
    draw_cluster(l);
    for (uint32_t i = 0; i < EVENTS; i++) {
        something_happens(l);
        if (i % 100 == 50) {
            put_whatif(l);
        }
        if (i % 200 == 99) {
            replace(l, i > 200);
        }
    }
}

static uint64_t digest(const struct myr_buf *text)
{
    uint64_t hash = 14695981039346656037ULL;
    for (size_t i = 0; i < text->len; i++) {
        hash = (hash ^ (unsigned char)text->data[i]) * 1099511628211ULL;
    }
    return hash;
}

static void put_life(struct life *l, uint64_t seed, struct myr_buf *all)
{
    uint32_t ends[3] = {0, 0, 0};
    size_t until = l->story.len;
    for (uint32_t id = 0; id < myr_control_jobs(l->f.control); id++) {
        uint32_t state = myr_control_job(l->f.control, id).state;
        if (state >= MYR_CONTROL_DONE) {
            ends[state - MYR_CONTROL_DONE]++;
        }
    }
    put_all_explained(l);
    put_whatif(l);
    myr_buf_printf(all, "life %llu: %u nodes, %u done, %u failed, %u cancelled;",
                   (unsigned long long)seed, l->nodes, ends[0], ends[1], ends[2]);
    for (uint32_t kind = 0; kind < MYR_EFFECT_KINDS; kind++) {
        myr_buf_printf(all, " %s %u", myr_effect_kind_name((enum myr_effect_kind)kind),
                       l->effects[kind]);
    }
    myr_buf_printf(all, "; %016llx, state %016llx\n", (unsigned long long)digest(&l->story),
                   (unsigned long long)myr_control_hash(l->f.control));
    if (seed < TOLD) {
        myr_buf_put(all, l->story.data + until, l->story.len - until);
    }
}

static void every_story_is_told_again(void **state)
{
    (void)state;
    struct life *l = malloc(sizeof(*l));
    struct myr_buf all = {};
    for (uint64_t seed = 0; seed < TEST_ROUNDS(LIVES); seed++) {
        live(l, seed);
        put_life(l, seed, &all);
        for (uint32_t node = 0; node < l->nodes; node++) {
            myr_vec_done(&l->agents[node].says);
        }
        myr_buf_done(&l->story);
        myr_control_free(l->f.control);
    }
    assert_kept_rounds("control-stories.txt", &all);
    myr_buf_done(&all);
    free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_story_is_told_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
