/*
 * Orders to a live world, given by hand: what each agent, rack and crew answers, and when. Orders
 * come twice, late, for another boot, while something else is there (tests/kept/twin-orders.txt).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kept.h"
#include "myriad/twin.h"

/* Times as they are typical: nothing but orders makes a difference. */
static const char quiet[] = "cluster: {nodes: 4, gpus_per_node: 4, leaf_nodes: 2}\n"
                            "practice: best\nfence_fails_ppm: 0\nfaults: {times: typical}\n"
                            "step_s: 10\nreport_s: 10\njobs: []\n";

struct story {
    struct myr_arena arena;
    struct myr_scenario scenario;
    struct myr_live *live;
    int64_t now_ms;
    uint32_t owner[4]; /* by node: the job that was granted its GPUs last, plus 1 */
    struct myr_buf text;
};

static void heard(void *context, int64_t at_ms, const struct myr_event *e)
{
    struct story *s = context;
    myr_buf_printf(&s->text, "  %8lld %s", (long long)at_ms,
                   myr_event_kind_name((enum myr_event_kind)e->kind));
    if (e->kind == MYR_EVENT_STEP) {
        myr_buf_printf(&s->text, " %lld, saved %lld", (long long)e->value, (long long)e->saved);
    }
    myr_buf_printf(&s->text, " code %u node %u", e->code, e->node);
    if (e->kind >= MYR_EVENT_STARTED && e->kind <= MYR_EVENT_STEP) {
        myr_buf_printf(&s->text, " job %u.%u", e->job, e->epoch);
    }
    myr_buf_printf(&s->text, " boot %u\n", e->boot);
}

static void pass(struct story *s, int64_t ms)
{
    s->now_ms += ms;
    myr_live_advance(s->live, s->now_ms, heard, s);
}

static void tell(struct story *s, const char *what)
{
    myr_buf_printf(&s->text, "%lld %s\n", (long long)s->now_ms, what);
}

static void begin(struct story *s, const char *text, const char *name)
{
    struct myr_err err = {};
    myr_arena_init(&s->arena);
    s->now_ms = 0;
    memset(s->owner, 0, sizeof(s->owner));
    if (myr_scenario_parse(&s->scenario, &s->arena, "s", myr_str_from(text), &err) < 0 ||
        myr_live_create(&s->scenario, 4, 0, &s->live, &err) < 0) {
        fail_msg("%s", err.message);
    }
    myr_buf_printf(&s->text, "==== %s\n", name);
    pass(s, 2000);
}

static void end(struct story *s)
{
    const char *first = NULL;
    uint64_t broken = myr_live_violations(s->live, &first);
    for (uint32_t n = 0; n < s->scenario.shape.nodes; n++) {
        struct myr_live_node view = myr_live_node(s->live, n);
        myr_buf_printf(&s->text, "node %u:%s%s%s%s boot %u, %u ranks\n", n,
                       view.up ? " up" : " down", view.cut ? ", cut off" : "",
                       view.broken ? ", broken" : "", view.repairing ? ", in repair" : "",
                       view.boot, view.ranks);
    }
    myr_buf_printf(&s->text, "broken %llu: %s\n", (unsigned long long)broken, first ? first : "-");
    myr_live_free(s->live);
    myr_scenario_done(&s->scenario);
    myr_arena_done(&s->arena);
}

/* A job of four steps of ten seconds a minute, that saves each minute for five seconds. */
static void submit(struct story *s, uint64_t token, uint32_t gpus, uint32_t id)
{
    struct myr_job_spec spec = {
        .token = token, .gpus = gpus, .restart = MYR_RESTART_EPOCH, .lease_s = 120};
    struct myr_live_run run = {200000, 10000, 60000, 5000};
    assert_int_equal(myr_live_submit(s->live, &spec, &run, NULL), MYR_OK);
    myr_live_effect(
        s->live,
        &(struct myr_effect){
            .kind = MYR_EFFECT_ACCEPT, .state = 1, .node = MYR_NONE, .job = id, .gpus = token});
}

static void start(struct story *s, uint32_t node, uint32_t job, uint32_t epoch, uint64_t gpus,
                  uint32_t world)
{
    char words[80];
    snprintf(words, sizeof(words), "start %u.%u on node %u, GPUs %llx of %u", job, epoch, node,
             (unsigned long long)gpus, world);
    tell(s, words);
    const enum myr_effect_kind kinds[] = {MYR_EFFECT_GRANT, MYR_EFFECT_START};
    for (size_t i = s->owner[node] == job + 1; i < MYR_ARRAY_COUNT(kinds); i++) {
        myr_live_effect(s->live, &(struct myr_effect){.kind = (uint8_t)kinds[i],
                                                      .node = node,
                                                      .job = job,
                                                      .epoch = epoch,
                                                      .boot = 1,
                                                      .world = world,
                                                      .gpus = gpus});
    }
    s->owner[node] = job + 1;
}

static void order(struct story *s, enum myr_effect_kind kind, uint32_t node, uint32_t job,
                  uint32_t number, uint32_t boot, uint32_t grace_s)
{
    static const char *const names[] = {[MYR_EFFECT_STOP] = "stop",
                                        [MYR_EFFECT_TEST] = "test",
                                        [MYR_EFFECT_FENCE] = "fence",
                                        [MYR_EFFECT_REPAIR] = "repair"};
    char words[80];
    snprintf(words, sizeof(words), "%s node %u, job %d, number %u, boot %u, grace %u", names[kind],
             node, (int)job, number, boot, grace_s);
    tell(s, words);
    myr_live_effect(s->live, &(struct myr_effect){.kind = (uint8_t)kind,
                                                  .reason = number % 2,
                                                  .node = node,
                                                  .job = job,
                                                  .epoch = number,
                                                  .boot = boot,
                                                  .world = 4,
                                                  .grace_s = grace_s});
}

static void starts_and_stops(struct story *s)
{
    begin(s, quiet, "starts and stops");
    submit(s, 70, 4, 0);
    submit(s, 71, 2, 1);
    start(s, 0, 0, 1, 0xf, 4);
    pass(s, 5);
    start(s, 0, 0, 1, 0xf, 4); /* told twice before it is up */
    start(s, 0, 1, 1, 0x3, 2); /* and somebody else on the same GPUs */
    pass(s, 100000);
    start(s, 0, 0, 1, 0xf, 4); /* told again when it is */
    pass(s, 30000);
    order(s, MYR_EFFECT_STOP, 0, 0, 1, 2, 0); /* of another boot: not heard */
    pass(s, 5000);
    order(s, MYR_EFFECT_STOP, 0, 0, 1, 1, 60); /* with time to save */
    start(s, 0, 0, 1, 0xf, 4);                 /* late: it is never started again */
    pass(s, 200);
    start(s, 0, 0, 1, 0xf, 4); /* while it is stopping there is no answer */
    order(s, MYR_EFFECT_STOP, 0, 0, 1, 1, 0);
    pass(s, 60000);
    start(s, 0, 0, 1, 0xf, 4);
    order(s, MYR_EFFECT_STOP, 1, 0, 7, 1, 0); /* nothing is there */
    pass(s, 1000);
    start(s, 1, 0, 7, 0xf, 4); /* stopped before it began */
    start(s, 1, 0, 8, 0xf, 4); /* the next epoch may, from its checkpoint */
    pass(s, 60000);
    start(s, 1, 0, 9, 0xf, 4); /* a newer one takes its place */
    pass(s, 20);
    start(s, 1, 0, 8, 0xf, 4); /* and the older one is over for good */
    pass(s, 400000);
    start(s, 1, 0, 9, 0xf, 4); /* it has ended by itself */
    pass(s, 1000);
    end(s);
}

static void tests_fences_and_repairs(struct story *s)
{
    begin(s, quiet, "tests, fences and repairs");
    submit(s, 70, 4, 0);
    order(s, MYR_EFFECT_TEST, 2, MYR_NONE, 1, 1, 0); /* odd: a diagnosis */
    order(s, MYR_EFFECT_TEST, 2, MYR_NONE, 1, 1, 0);
    pass(s, 1000000);
    order(s, MYR_EFFECT_TEST, 2, MYR_NONE, 2, 1, 0); /* even: a quick check */
    assert_int_equal(myr_live_inject(s->live, 3, "gpu-fault", NULL), MYR_OK);
    order(s, MYR_EFFECT_TEST, 3, MYR_NONE, 4, 1, 0);
    order(s, MYR_EFFECT_TEST, 3, MYR_NONE, 3, 1, 0); /* an older one */
    start(s, 3, 0, 1, 0xf, 4);                       /* nothing starts on a broken node */
    pass(s, 1000000);
    start(s, 0, 0, 2, 0xf, 4);
    pass(s, 50000);
    order(s, MYR_EFFECT_FENCE, 0, MYR_NONE, 0, 1, 0);
    pass(s, 10000);
    order(s, MYR_EFFECT_FENCE, 0, MYR_NONE, 0, 1, 0); /* one is under way */
    pass(s, 2000000);
    order(s, MYR_EFFECT_FENCE, 0, MYR_NONE, 0, 1, 0); /* of a boot that is over */
    order(s, MYR_EFFECT_REPAIR, 3, MYR_NONE, 0, 1, 0);
    order(s, MYR_EFFECT_REPAIR, 3, MYR_NONE, 0, 1, 0);
    pass(s, 30000);
    order(s, MYR_EFFECT_FENCE, 3, MYR_NONE, 0, 1, 0); /* it is off already, and stays so */
    pass(s, 20000000);
    assert_int_equal(myr_live_inject(s->live, 1, "node-dies", NULL), MYR_OK);
    pass(s, 1000000);
    order(s, MYR_EFFECT_REPAIR, 1, MYR_NONE, 0, 1, 0);
    pass(s, INT64_C(1000000000));
    end(s);
}

/* Cut off: orders do not come, words are kept, a lease runs out where nobody makes progress. */
static void out_of_reach(struct story *s)
{
    begin(s, quiet, "out of reach");
    submit(s, 70, 8, 0);
    submit(s, 71, 1, 1);
    start(s, 0, 0, 1, 0xf, 8);
    start(s, 1, 0, 1, 0xf, 8);
    start(s, 2, 1, 1, 0x8, 1);
    pass(s, 50000);
    for (uint32_t node = 0; node < 3; node++) {
        assert_int_equal(myr_live_inject(s->live, node, "cut-off", NULL), MYR_OK);
    }
    assert_int_equal(myr_live_inject(s->live, 1, "rank-crash", NULL), MYR_OK);
    assert_int_equal(myr_live_inject(s->live, 2, "cut-off", NULL), MYR_OK);
    tell(s, "three nodes are cut off, a rank of job 0 dies");
    order(s, MYR_EFFECT_STOP, 0, 0, 1, 1, 0);
    pass(s, 200000);
    tell(s, "later");
    pass(s, 400000);
    start(s, 3, 5, 1, 0x1, 3); /* nobody said what it does */
    pass(s, 3000000);
    end(s);
}

static void orders_are_answered_as_they_were(void **state)
{
    (void)state;
    struct story s = {};
    starts_and_stops(&s);
    tests_fences_and_repairs(&s);
    out_of_reach(&s);
    assert_kept("twin-orders.txt", &s.text);
    myr_buf_done(&s.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_are_answered_as_they_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
