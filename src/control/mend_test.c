/*
 * Gangs in a small world that breaks: nodes die, are cut off, started anew, reported, drained and
 * held, several of one gang in every order, while gangs start, run and recover; starts fail by bad
 * answers and by none; then all trouble ends. Agents are honest, and do as they are told after a
 * while. What holds:
 *
 *   - whoever has a gang that fits the nodes that are well has a start within a bound;
 *   - gangs that ran before the trouble run after it, whatever smaller jobs waited meanwhile;
 *   - the queue refuses nothing, and every state reads back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "control_fixture.h"
#include "myriad/sched/events.h"

enum { NODES_MAX = 40, JOBS_MAX = 64, SEEDS = 300 };

struct answer {
    int64_t at_ms;
    struct myr_event event;
};

struct machine {
    bool off, cut, broken;
    uint32_t boot;
};

struct world {
    struct fixture f;
    struct myr_rng rng;
    uint64_t seed;
    struct myr_place_shape shape;
    uint32_t spares;
    struct machine machines[NODES_MAX];
    MYR_VEC(struct answer) answers; /* to come, in no order */
    bool trouble, elastic;          /* some jobs also start with fewer GPUs */
    uint32_t gangs;                 /* jobs 0 to this one ran before the trouble */
    uint32_t need;                  /* nodes of the only gang; 0: there are others */
    int64_t lacks_ms; /* since when it could have a start and has none; -1: it has, or cannot */
    uint32_t faults;
};

static uint32_t below(struct world *w, uint32_t bound)
{
    return myr_rng_below(&w->rng, bound);
}

static void fail_seed(const struct world *w, const char *what, uint32_t job)
{
    fprintf(stderr, "seed %llu, %lld s, job %u: %s\n", (unsigned long long)w->seed,
            (long long)w->f.now_ms / 1000, job, what);
    fail();
}

static void later(struct world *w, int64_t after_ms, struct myr_event event)
{
    myr_vec_push(&w->answers, ((struct answer){w->f.now_ms + after_ms, event}));
}

/* What an agent answers to an order, and when. */
static void obey(struct world *w, const struct myr_effect *e)
{
    struct myr_event event = {.node = e->node, .job = e->job, .epoch = e->epoch, .boot = e->boot};
    int64_t after_ms = 1000 * (1 + below(w, 20));
    switch ((enum myr_effect_kind)e->kind) {
    case MYR_EFFECT_START:
        event.kind = MYR_EVENT_STARTED;
        event.code = w->trouble && below(w, 12) == 0 ? MYR_START_NODE : MYR_START_OK;
        if (w->trouble && below(w, 40) == 0) {
            return; /* late for ever */
        }
        break;
    case MYR_EFFECT_STOP:
        event.kind = MYR_EVENT_STOPPED;
        after_ms = below(w, 5000);
        break;
    case MYR_EFFECT_TEST:
        event.kind = MYR_EVENT_TESTED;
        event.code = w->machines[e->node].broken;
        after_ms = 60000;
        break;
    case MYR_EFFECT_FENCE:
        event.kind = MYR_EVENT_FENCED;
        event.code = w->trouble && below(w, 3) == 0;
        break;
    case MYR_EFFECT_REPAIR:
        event = (struct myr_event){.kind = MYR_EVENT_JOIN, .node = e->node};
        after_ms = 1000 * (int64_t)(300 + below(w, 6000));
        break;
    default:
        return;
    }
    later(w, after_ms, event);
}

/* Every state between two events is held together, and now and then read back. */
static void hear(struct world *w, struct myr_event event)
{
    uint32_t count;
    tell(&w->f, event);
    const struct myr_effect *effects = myr_control_effects(w->f.control, &count);
    struct myr_effect *kept = myr_xcalloc(count + 1, sizeof(*kept));
    memcpy(kept, effects, count * sizeof(*kept));
    for (uint32_t i = 0; i < count; i++) {
        obey(w, &kept[i]);
    }
    free(kept);
    if (myr_control_refusals(w->f.control) > 0) {
        fail_seed(w, "the queue refuses what it is told", event.job);
    }
    if (below(w, 200) == 0) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
        struct myr_control *again = NULL;
        struct myr_err err = {};
        myr_control_save(w->f.control, &bytes);
        if (myr_control_load((struct myr_str){bytes.data, bytes.len}, &again, &err) < 0 ||
            myr_control_hash(again) != myr_control_hash(w->f.control)) {
            fail_seed(w, "its state does not read back", MYR_NONE);
        }
        myr_control_free(w->f.control);
        w->f.control = again;
    }
}

/* Messages of nodes that are off, cut off or of another boot do not arrive. */
static void deliver(struct world *w, struct myr_event event)
{
    struct machine *m = &w->machines[event.node];
    switch ((enum myr_event_kind)event.kind) {
    case MYR_EVENT_JOIN:
        *m = (struct machine){.boot = m->boot + 1};
        event.boot = m->boot;
        break;
    case MYR_EVENT_FENCED: /* off and on again, wherever it was by then */
        if (event.code == 0) {
            m->off = true;
            later(w, 5000, (struct myr_event){.kind = MYR_EVENT_SILENT, .node = event.node});
            later(w, 90000, (struct myr_event){.kind = MYR_EVENT_JOIN, .node = event.node});
        }
        break;
    case MYR_EVENT_BACK:
        if (m->off || !m->cut) {
            return;
        }
        m->cut = false;
        event.boot = m->boot;
        break;
    case MYR_EVENT_SILENT:
        if (!m->off && !m->cut) {
            return;
        }
        break;
    case MYR_EVENT_UNDRAIN:
    case MYR_EVENT_HOLD:
        break;
    default:
        if (m->off || m->cut || event.boot != m->boot) {
            return;
        }
    }
    hear(w, event);
}

/* Whether the only gang could have a start, and since when it has none. */
static void watch_gang(struct world *w)
{
    uint32_t healthy = 0;
    if (w->need == 0) {
        return;
    }
    struct myr_control_job job = myr_control_job(w->f.control, 0);
    for (uint32_t n = 0; n < w->shape.nodes; n++) {
        healthy += myr_control_node(w->f.control, n).usable;
    }
    bool started = job.state >= MYR_CONTROL_STARTING && job.state <= MYR_CONTROL_RUNNING;
    if (healthy < w->need || started || job.nodes_open > 0) {
        w->lacks_ms = -1;
    } else if (w->lacks_ms < 0) {
        w->lacks_ms = w->f.now_ms;
    } else if (w->f.now_ms - w->lacks_ms > 1000 * (MYR_AGAIN_S_MAX + 60)) {
        fail_seed(w, "has no start though enough nodes are well", 0);
    }
}

/* Until then, event by event. */
static void play(struct world *w, int64_t until_ms)
{
    for (;;) {
        int64_t wake_ms = myr_control_wake_ms(w->f.control), next_ms = until_ms;
        size_t first = SIZE_MAX;
        for (size_t i = 0; i < w->answers.count; i++) {
            if (w->answers.items[i].at_ms < next_ms) {
                next_ms = w->answers.items[i].at_ms;
                first = i;
            }
        }
        if (wake_ms < next_ms) {
            w->f.now_ms = wake_ms > w->f.now_ms ? wake_ms : w->f.now_ms;
            hear(w, (struct myr_event){.kind = MYR_EVENT_TICK});
        } else if (first != SIZE_MAX) {
            struct myr_event event = w->answers.items[first].event;
            w->answers.items[first] = w->answers.items[--w->answers.count];
            w->f.now_ms = next_ms > w->f.now_ms ? next_ms : w->f.now_ms;
            deliver(w, event);
        } else {
            break;
        }
        watch_gang(w);
    }
    w->f.now_ms = until_ms;
    hear(w, (struct myr_event){.kind = MYR_EVENT_TICK});
}

/* A node of some gang mostly: several of one gang are what matters. */
static uint32_t pick_node(struct world *w)
{
    struct myr_control_rank ranks[NODES_MAX];
    uint32_t job = below(w, w->gangs);
    uint32_t count = myr_control_job_ranks(w->f.control, job, ranks, NODES_MAX);
    return count && below(w, 4) ? ranks[below(w, count)].node : below(w, w->shape.nodes);
}

static void strike(struct world *w)
{
    uint32_t node = pick_node(w);
    struct machine *m = &w->machines[node];
    struct myr_event event = {.node = node, .boot = m->boot};
    int64_t back_ms = 1000 * (int64_t)(10 + below(w, 1500));
    if (m->off || m->cut) {
        return;
    }
    w->faults++;
    switch (below(w, 8)) {
    case 0: /* for good */
        m->off = true;
        event.kind = MYR_EVENT_SILENT;
        break;
    case 1: /* and nothing has happened */
        m->cut = true;
        event.kind = MYR_EVENT_BACK;
        later(w, back_ms, event);
        event.kind = MYR_EVENT_SILENT;
        break;
    case 2: /* started anew: heard of again only then, or missed before */
        m->off = true;
        event.kind = MYR_EVENT_JOIN;
        if (below(w, 2)) {
            later(w, 20000, event);
            return;
        }
        later(w, back_ms, event);
        event.kind = MYR_EVENT_SILENT;
        break;
    case 3:
        m->broken = true;
        event.kind = MYR_EVENT_SYMPTOM;
        event.code = MYR_SYMPTOM_FAILED;
        break;
    case 4:
        event.kind = MYR_EVENT_SYMPTOM;
        /* A node in doubt is out until nobody is there, and jobs here go on for ever. */
        event.code = w->need && below(w, 2) ? MYR_SYMPTOM_DOUBT : MYR_SYMPTOM_FAILING;
        break;
    case 5:
        event.kind = MYR_EVENT_UNDRAIN;
        later(w, back_ms, event);
        event.kind = MYR_EVENT_DRAIN;
        break;
    case 6:
        event.kind = MYR_EVENT_HOLD;
        later(w, back_ms, event);
        event.code = 1 + (uint8_t)below(w, 2);
        break;
    default: { /* a rank ends badly, by itself or by its node */
        struct myr_control_rank rank;
        if (myr_control_node_ranks(w->f.control, node, &rank, 1) == 0 || !rank.up) {
            return;
        }
        m->broken = below(w, 2);
        event = (struct myr_event){.kind = MYR_EVENT_EXIT,
                                   .code = 1,
                                   .node = node,
                                   .job = rank.job,
                                   .epoch = rank.epoch,
                                   .boot = m->boot};
        break;
    }
    }
    hear(w, event);
}

static void ask_for(struct world *w, uint32_t gpus, enum myr_restart restart)
{
    uint32_t job = myr_control_jobs(w->f.control);
    bool small = w->elastic && w->need == 0, less = w->elastic && below(w, 4) == 0;
    struct myr_event event = {.kind = MYR_EVENT_SUBMIT,
                              .spec = {.token = job + 1,
                                       .gpus = gpus,
                                       .priority = small ? -(int32_t)below(w, 2) : 0,
                                       .gpus_min = less ? 1 + below(w, gpus) : 0,
                                       .restart = (uint8_t)restart,
                                       .service = 1, /* it need not tell of steps */
                                       .retries = MYR_JOB_RETRIES_MAX,
                                       .lease_s = 300}};
    hear(w, event);
}

static enum myr_restart any_restart(struct world *w)
{
    return below(w, 2) ? MYR_RESTART_STRICT : MYR_RESTART_EPOCH;
}

/* One gang alone, or several and smaller jobs, of which some wait. */
static void ask_for_jobs(struct world *w)
{
    uint32_t per = w->shape.gpus_per_node, left = w->shape.nodes - w->spares;
    if (below(w, 3) == 0) { /* up to the whole cluster, its spares too */
        uint32_t nodes = 2 + below(w, w->shape.nodes - 1);
        w->elastic = true;
        w->need = nodes;
        ask_for(w, nodes * per - below(w, per), any_restart(w));
        w->gangs = 1;
        return;
    }
    while (left >= 2 && w->gangs < 6) {
        uint32_t nodes = 2 + below(w, left - 1);
        ask_for(w, nodes * per,
                any_restart(w)); /* parts of nodes may lie so that others do not fit */
        left -= nodes;
        w->gangs++;
    }
    w->elastic = true; /* not of the gangs: who goes on with less has given nodes away */
    for (uint32_t i = below(w, 12); i > 0; i--) {
        ask_for(w, (1 + below(w, w->shape.nodes / 2)) * per, any_restart(w));
    }
}

static void set_up(struct world *w, uint64_t seed)
{
    *w = (struct world){.seed = seed, .lacks_ms = -1};
    myr_rng_init(&w->rng, seed, 31);
    static const uint32_t sizes[] = {1, 2, 4, 8};
    uint32_t leaf = 1 + below(w, 6);
    w->shape = (struct myr_place_shape){.nodes = 3 + below(w, NODES_MAX - 3),
                                        .gpus_per_node = sizes[below(w, 4)],
                                        .group_nodes = leaf,
                                        .pod_nodes = leaf * (1 + below(w, 4))};
    struct myr_control_policy policy = myr_control_policy_default();
    policy.queue = myr_queue_policy_preset((enum myr_queue_preset)below(w, 4));
    policy.queue.stop_after_s = 1 << 30; /* equals do not take turns here */
    policy.queue.mend_s = below(w, 3) * 450;
    w->spares = policy.spares = below(w, w->shape.nodes < 8 ? 2 : 4);
    policy.drain_permille = 1000;
    assert_int_equal(myr_control_create(&w->shape, &policy, 1, &w->f.control, NULL), MYR_OK);
    for (uint32_t n = 0; n < w->shape.nodes; n++) {
        w->machines[n].boot = 1;
        hear(w, (struct myr_event){.kind = MYR_EVENT_JOIN, .node = n, .boot = 1});
    }
    play(w, 100000);
    ask_for_jobs(w);
    play(w, 400000);
}

/* They ran, or found no place among the others from the beginning. */
static void expect_gangs(const struct world *w, const bool *ran)
{
    for (uint32_t id = 0; id < w->gangs; id++) {
        enum myr_control_job_state state = myr_control_job(w->f.control, id).state;
        if (ran[id] && state != MYR_CONTROL_RUNNING) {
            fail_seed(w, myr_control_job_state_name(state), id);
        }
    }
}

static void gangs_run_again_whatever_breaks(void **state)
{
    (void)state;
    const char *only = getenv("MYRIAD_SEED"), *more = getenv("MYRIAD_SEQUENCES");
    uint64_t first = only ? strtoull(only, NULL, 10) : 0, faults = 0, starts = 0;
    uint64_t end = only ? first + 1 : more ? strtoull(more, NULL, 10) : SEEDS;
    for (uint64_t seed = first; seed < end; seed++) {
        struct world w;
        bool ran[JOBS_MAX] = {};
        set_up(&w, seed);
        for (uint32_t id = 0; id < w.gangs; id++) {
            ran[id] = myr_control_job(w.f.control, id).state == MYR_CONTROL_RUNNING;
        }
        if (w.need) {
            assert_true(ran[0]); /* the whole cluster too, its spares with it */
        }
        w.trouble = true;
        int64_t every_ms = 1000 * (int64_t)(20 + below(&w, 1200));
        for (uint32_t i = 5 + below(&w, 60); i > 0; i--) {
            for (uint32_t k = 1 + below(&w, 3); k > 0; k--) {
                strike(&w); /* several at one moment */
            }
            play(&w, w.f.now_ms + below(&w, (uint32_t)every_ms * 2));
        }
        w.trouble = false;
        play(&w, w.f.now_ms + 6 * 3600 * INT64_C(1000));
        expect_gangs(&w, ran);
        faults += w.faults;
        for (uint32_t id = 0; id < w.gangs; id++) {
            starts += myr_control_job(w.f.control, id).epoch;
        }
        myr_vec_done(&w.answers);
        myr_control_free(w.f.control);
    }
    assert_true(only || (faults > 10 * (end - first) && starts > 5 * (end - first)));
}

/* --- a job that starts again, and a smaller one that waits */

enum trouble { REBOOT, DEATH, CUT_OFF, DRAIN, TROUBLES };

/* Something happens to the first node of job 0; when it is over there is a node for it again. */
static void trouble_for(struct world *w, enum trouble trouble)
{
    struct myr_control_rank rank;
    assert_in_range(myr_control_job_ranks(w->f.control, 0, &rank, 1), 1, NODES_MAX);
    struct machine *m = &w->machines[rank.node];
    struct myr_event event = {.kind = MYR_EVENT_SILENT, .node = rank.node, .boot = m->boot};
    struct myr_event back = {.kind = MYR_EVENT_JOIN, .node = rank.node};
    if (trouble == DRAIN) { /* what runs stays, but it fails, and its place is not whole then */
        event.kind = MYR_EVENT_DRAIN;
        hear(w, event);
        back.kind = MYR_EVENT_UNDRAIN;
        later(w, 700000, back);
        event = (struct myr_event){.kind = MYR_EVENT_EXIT,
                                   .code = 1,
                                   .node = rank.node,
                                   .epoch = rank.epoch,
                                   .boot = m->boot};
    } else if (trouble == CUT_OFF) {
        m->cut = true;
        back.kind = MYR_EVENT_BACK;
        later(w, 200000, back);
    } else {
        m->off = true;
        if (trouble == REBOOT) {
            later(w, 100000, back);
        } /* else it is back after its repair */
    }
    hear(w, event);
}

/* A cluster of 20 nodes: job 0 has 8 of them, job 1 has 12, and job 2 waits for 6. */
static void small_ones_wait(uint64_t seed, enum myr_queue_preset preset, enum trouble trouble,
                            enum myr_restart restart)
{
    struct world w = {.seed = seed, .lacks_ms = -1};
    const uint32_t sizes[] = {8, 12, 6};
    myr_rng_init(&w.rng, seed, 32);
    w.shape = (struct myr_place_shape){20, 8, 4, 20};
    struct myr_control_policy policy = myr_control_policy_default();
    policy.queue = myr_queue_policy_preset(preset);
    policy.queue.stop_after_s = 1 << 30; /* equals do not take turns here */
    assert_int_equal(myr_control_create(&w.shape, &policy, 1, &w.f.control, NULL), MYR_OK);
    for (uint32_t n = 0; n < w.shape.nodes; n++) {
        w.machines[n].boot = 1;
        hear(&w, (struct myr_event){.kind = MYR_EVENT_JOIN, .node = n, .boot = 1});
    }
    play(&w, 100000);
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(sizes); i++) {
        ask_for(&w, 8 * sizes[i], restart);
        play(&w, w.f.now_ms + 60000);
    }
    assert_int_equal(myr_control_job(w.f.control, 0).state, MYR_CONTROL_RUNNING);
    trouble_for(&w, trouble);
    /* Until its place is given up nobody else gets it. */
    for (int64_t end_ms = w.f.now_ms + 900000; w.f.now_ms < end_ms;) {
        play(&w, w.f.now_ms + 10000);
        if (myr_control_job(w.f.control, 2).epoch > 0) {
            fail_seed(&w, "starts on nodes of the one that starts again", 2);
        }
    }
    /* And by then, or when the node is repaired, it runs again; what was lent has come back. */
    play(&w, w.f.now_ms + 8000000);
    if (myr_control_job(w.f.control, 0).epoch < 2) {
        fail_seed(&w, "did not start again", 0);
    }
    for (uint32_t id = 0; id < 3; id++) {
        bool runs = myr_control_job(w.f.control, id).state == MYR_CONTROL_RUNNING;
        if (runs != (id < 2)) {
            fail_seed(&w, myr_control_job_state_name(myr_control_job(w.f.control, id).state), id);
        }
    }
    myr_vec_done(&w.answers);
    myr_control_free(w.f.control);
}

static void a_smaller_job_never_takes_the_nodes_of_one_that_starts_again(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 64; seed++) {
        small_ones_wait(seed, (enum myr_queue_preset)(seed % 4),
                        (enum trouble)(seed / 4 % TROUBLES),
                        (enum myr_restart)(seed / 16 % MYR_RESTARTS));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gangs_run_again_whatever_breaks),
        cmocka_unit_test(a_smaller_job_never_takes_the_nodes_of_one_that_starts_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
