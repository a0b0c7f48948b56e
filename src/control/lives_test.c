/*
 * Lives of a small cluster that nobody wrote down: nodes fall silent, restart, fail their tests and
 * are fenced, programs end well and badly, people submit, cancel and drain, all from a seed. The
 * agents keep their contract (event.h), and answer late. After every event the state must hold
 * (holds.h), no GPU may be given to two jobs, and the queue may not be told what it refuses. When
 * peace comes, every job ends and every GPU is free again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "control_fixture.h"

enum { NODES = 6, GPUS = 8, EVENTS = 600, ROUNDS = 600, LIVES = 800 };

/* An agent: what it will say, in the order in which it was asked. */
struct agent {
    MYR_VEC(struct myr_event) says;
    uint32_t boot;
    bool silent;
};

struct life {
    struct fixture f;
    struct myr_rng rng;
    struct agent agents[NODES];
    uint32_t owner[NODES][GPUS]; /* job and 1; 0: free */
    bool peace;                  /* everything goes well from now on */
    uint64_t seed;
};

/* In a troubled life, once in so many. */
static bool bad_luck(struct life *life, uint32_t once_in)
{
    return !life->peace && myr_rng_below(&life->rng, once_in) == 0;
}

static void give_or_take(struct life *life, const struct myr_effect *effect)
{
    bool give = effect->kind == MYR_EFFECT_GRANT;
    for (uint32_t gpu = 0; gpu < GPUS; gpu++) {
        uint32_t *owner = &life->owner[effect->node][gpu];
        if (effect->gpus >> gpu & 1) {
            uint32_t before = give ? 0 : effect->job + 1;
            if (*owner != before) {
                fail_msg("seed %llu: GPU %u of node %u is %s job %u, and is with %u",
                         (unsigned long long)life->seed, gpu, effect->node,
                         give ? "given to" : "taken from", effect->job, *owner - 1);
            }
            *owner = give ? effect->job + 1 : 0;
        }
    }
}

static void will_say(struct life *life, const struct myr_effect *order, enum myr_event_kind kind,
                     uint8_t code)
{
    struct agent *agent = &life->agents[order->node];
    struct myr_event event = {.kind = (uint8_t)kind,
                              .code = code,
                              .node = order->node,
                              .job = order->job,
                              .epoch = order->epoch,
                              .boot = order->boot};
    if (order->boot == agent->boot) { /* else it was started since, and never got the order */
        myr_vec_push(&agent->says, event);
    }
}

static void take_effects(struct life *life)
{
    uint32_t count;
    const struct myr_effect *effects = myr_control_effects(life->f.control, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct myr_effect *effect = &effects[i];
        switch ((enum myr_effect_kind)effect->kind) {
        case MYR_EFFECT_START:
            will_say(life, effect, MYR_EVENT_STARTED,
                     bad_luck(life, 12)   ? MYR_START_NODE
                     : bad_luck(life, 20) ? MYR_START_OWN_FAULT
                                          : MYR_START_OK);
            break;
        case MYR_EFFECT_STOP:
            will_say(life, effect, MYR_EVENT_STOPPED, 0);
            break;
        case MYR_EFFECT_TEST:
            will_say(life, effect, MYR_EVENT_TESTED, bad_luck(life, 8));
            break;
        case MYR_EFFECT_GRANT:
        case MYR_EFFECT_RELEASE:
            give_or_take(life, effect);
            break;
        default:
            break;
        }
    }
}

static void happens(struct life *life, struct myr_event event)
{
    tell(&life->f, event);
    take_effects(life);
    assert_int_equal(myr_control_refusals(life->f.control), 0);
}

static void happens_to(struct life *life, enum myr_event_kind kind, uint32_t node, int64_t value)
{
    happens(life, (struct myr_event){.kind = (uint8_t)kind,
                                     .code = (uint8_t)value,
                                     .node = node,
                                     .boot = life->agents[node].boot,
                                     .value = value});
}

static void restart_node(struct life *life, uint32_t node)
{
    struct agent *agent = &life->agents[node];
    agent->boot++;
    agent->silent = false;
    agent->says.count = 0; /* whatever ran there is gone */
    happens_to(life, MYR_EVENT_JOIN, node, 0);
}

static void hear(struct life *life, uint32_t node)
{
    struct agent *agent = &life->agents[node];
    if (agent->silent || agent->says.count == 0) {
        return;
    }
    struct myr_event event = agent->says.items[0];
    bool twice = bad_luck(life, 10);
    agent->says.count--;
    memmove(agent->says.items, agent->says.items + 1, agent->says.count * sizeof(event));
    happens(life, event);
    if (twice) {
        happens(life, event);
    }
}

static void pass(struct life *life, int64_t ms)
{
    int64_t end_ms = life->f.now_ms + ms;
    for (int64_t wake_ms; (wake_ms = myr_control_wake_ms(life->f.control)) <= end_ms;) {
        life->f.now_ms = wake_ms > life->f.now_ms ? wake_ms : life->f.now_ms + 1;
        happens(life, (struct myr_event){.kind = MYR_EVENT_TICK});
    }
    life->f.now_ms = end_ms > life->f.now_ms ? end_ms : life->f.now_ms;
}

/* A rank that is up says something of itself. */
static void rank_does(struct life *life, enum myr_event_kind kind, uint8_t code)
{
    uint32_t slots = myr_control_ranks(life->f.control);
    for (uint32_t i = 0, at = slots ? myr_rng_below(&life->rng, slots) : 0; i < slots; i++) {
        struct myr_control_rank rank = myr_control_rank(life->f.control, (at + i) % slots);
        if (rank.used && rank.up && !rank.old && !life->agents[rank.node].silent) {
            struct myr_control_job job = myr_control_job(life->f.control, rank.job);
            happens(life, (struct myr_event){.kind = (uint8_t)kind,
                                             .code = code,
                                             .node = rank.node,
                                             .job = rank.job,
                                             .epoch = rank.epoch,
                                             .boot = life->agents[rank.node].boot,
                                             .value = job.step + 1,
                                             .saved = job.step});
            return;
        }
    }
}

static void submit_some(struct life *life)
{
    uint32_t jobs = myr_control_jobs(life->f.control);
    bool after = jobs > 0 && myr_rng_below(&life->rng, 6) == 0;
    happens(life,
            (struct myr_event){.kind = MYR_EVENT_SUBMIT,
                               .spec = {.token = 100 + jobs,
                                        .gpus = 1 + myr_rng_below(&life->rng, 3 * GPUS),
                                        .restart = (uint8_t)myr_rng_below(&life->rng, MYR_RESTARTS),
                                        .priority = (int32_t)myr_rng_below(&life->rng, 3),
                                        .held = myr_rng_below(&life->rng, 12) == 0,
                                        .gpus_min = myr_rng_below(&life->rng, 6) == 0,
                                        .retries = 2 + myr_rng_below(&life->rng, 20),
                                        .after = after ? 1 + myr_rng_below(&life->rng, jobs) : 0,
                                        .lease_s = 300}});
}

/* Holds, or another place in the queue; in peace all are let go. */
static void change_some(struct life *life, uint32_t jobs)
{
    if (jobs > 0) {
        bool hold = bad_luck(life, 3);
        happens(life, (struct myr_event){.kind = hold || bad_luck(life, 2) ? MYR_EVENT_HOLD_JOB
                                                                           : MYR_EVENT_PRIORITY,
                                         .job = myr_rng_below(&life->rng, jobs),
                                         .code = hold,
                                         .value = (int64_t)myr_rng_below(&life->rng, 9) - 4});
    }
}

static void something_happens(struct life *life)
{
    uint32_t node = myr_rng_below(&life->rng, NODES), jobs = myr_control_jobs(life->f.control);
    struct agent *agent = &life->agents[node];
    switch (myr_rng_below(&life->rng, 20)) {
    case 0:
        submit_some(life);
        break;
    case 1:
        rank_does(life, MYR_EVENT_EXIT, 0);
        break;
    case 2:
        rank_does(life, MYR_EVENT_EXIT, 1);
        break;
    case 3:
    case 4:
        rank_does(life, MYR_EVENT_STEP, 0);
        break;
    case 5:
        agent->silent = true;
        happens_to(life, MYR_EVENT_SILENT, node, 0);
        break;
    case 6:
    case 7:
        agent->silent = false;
        happens_to(life, MYR_EVENT_BACK, node, 0);
        break;
    case 8:
        restart_node(life, node);
        break;
    case 9:
        happens_to(life, MYR_EVENT_SYMPTOM, node, myr_rng_below(&life->rng, MYR_SYMPTOMS));
        break;
    case 10:
        if (agent->silent) { /* the rack says that its power was off */
            happens_to(life, MYR_EVENT_FENCED, node, 0);
            agent->says.count = 0;
        }
        break;
    case 11:
        happens_to(life, bad_luck(life, 2) ? MYR_EVENT_DRAIN : MYR_EVENT_UNDRAIN, node, 0);
        break;
    case 12:
        if (jobs > 0 && bad_luck(life, 4)) {
            happens(life, (struct myr_event){.kind = MYR_EVENT_CANCEL,
                                             .job = myr_rng_below(&life->rng, jobs)});
        }
        break;
    case 13:
        happens(life, (struct myr_event){.kind = MYR_EVENT_APPROVE,
                                         .value = myr_rng_below(&life->rng, 3)});
        break;
    case 14:
        happens(life, (struct myr_event){.kind = MYR_EVENT_TAKEOVER});
        break;
    case 16:
        change_some(life, jobs);
        break;
    case 15:
        happens_to(life, MYR_EVENT_HOLD, node, myr_rng_below(&life->rng, MYR_HOLDS));
        break;
    default:
        pass(life, 1 + (int64_t)myr_rng_below(&life->rng, 40000));
    }
    for (uint32_t i = 0; i < 2; i++) {
        hear(life, myr_rng_below(&life->rng, NODES));
    }
}

static uint32_t jobs_left(const struct life *life)
{
    uint32_t left = 0;
    for (uint32_t id = 0; id < myr_control_jobs(life->f.control); id++) {
        left += myr_control_job(life->f.control, id).state < MYR_CONTROL_DONE;
    }
    return left;
}

/* One round of a life without faults: who was away is there, who is asked answers. */
static void heal(struct life *life)
{
    for (uint32_t node = 0; node < NODES; node++) {
        struct myr_control_node seen = myr_control_node(life->f.control, node);
        if (seen.state == MYR_NODE_REPAIR || seen.silent || seen.boot == 0) {
            restart_node(life, node);
        }
        while (life->agents[node].says.count > 0) {
            hear(life, node);
        }
        happens_to(life, MYR_EVENT_HOLD, node, MYR_HOLD_NONE);
        if (seen.state != MYR_NODE_HEALTHY && seen.state != MYR_NODE_CHECKING) {
            happens_to(life, MYR_EVENT_UNDRAIN, node, 0);
        }
    }
    for (uint32_t id = 0; id < myr_control_jobs(life->f.control); id++) {
        if (myr_control_job(life->f.control, id).spec.held) {
            happens(life, (struct myr_event){.kind = MYR_EVENT_HOLD_JOB, .job = id});
        }
    }
    rank_does(life, MYR_EVENT_STEP, 0);
    for (uint32_t i = 0; i < 4; i++) {
        rank_does(life, MYR_EVENT_EXIT, 0);
    }
    pass(life, 5000);
}

static void live(uint64_t seed)
{
    struct life life = {.f = fixture_of(NODES), .seed = seed};
    myr_rng_init(&life.rng, seed, 7);
    for (uint32_t node = 0; node < NODES; node++) {
        life.agents[node].boot = 1;
    }
    for (uint32_t i = 0; i < EVENTS; i++) {
        something_happens(&life);
    }
    life.peace = true;
    for (uint32_t i = 0; i < ROUNDS && jobs_left(&life) > 0; i++) {
        heal(&life);
    }
    for (uint32_t i = 0; i < 3; i++) { /* what ended last is answered for, tests too */
        heal(&life);
    }
    if (jobs_left(&life) > 0 || myr_control_free_gpus(life.f.control) != NODES * GPUS) {
        fail_msg("seed %llu: %u jobs never end, %u GPUs are free", (unsigned long long)seed,
                 jobs_left(&life), myr_control_free_gpus(life.f.control));
    }
    for (uint32_t node = 0; node < NODES; node++) {
        for (uint32_t gpu = 0; gpu < GPUS; gpu++) {
            assert_int_equal(life.owner[node][gpu], 0);
        }
        myr_vec_done(&life.agents[node].says);
    }
    myr_control_free(life.f.control);
}

static void every_life_holds_and_every_job_ends(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= LIVES; seed++) {
        live(seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_life_holds_and_every_job_ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
