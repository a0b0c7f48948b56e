/*
 * The protocol in a world of its own: all members are contexts of one thread, time is a number, and
 * at every access to shared memory another one may go on, one may die, or be stopped for a while.
 * The same seed runs the same world. MYRIAD_WORLDS says how many are drawn.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "myriad/base/rng.h"

#include "group.h"
#include "jobs_test.h"

#define MEMBERS_MAX 10 /* processes of a world, those that come later included */
#define STACK_BYTES (256 << 10)
#define EPOCHS_MAX  64
#define CALLS_MAX   64
#define TIMEOUT_NS  50000000ll
#define SLACK_NS    1000000ll /* looks between two clocks, many others running in between */
#define TURNS_MAX   3000000

enum life { UNBORN, RUNS, SLEEPS, DEAD, DONE };

struct member {
    enum life life;
    ucontext_t context;
    uint8_t *stack;
    struct myr_ccl *ccl;
    uint32_t pid;
    int64_t born_ns, wakes_ns;
    _Atomic uint32_t *word; /* that it sleeps on */
    int64_t stopped_ns;     /* until when it is not scheduled */
    int64_t paused_ns;      /* how long it has not been, in all */
    uint32_t done;          /* calls completed since the last fault */
    uint64_t epoch;         /* it was told of last */
};

/* What was said of an epoch by whoever said it first. */
struct told {
    bool known, ended;
    uint32_t size;
    uint32_t pids[MEMBERS_MAX];
    uint64_t completed;       /* of this epoch, as told with the next */
    bool returned[CALLS_MAX]; /* with MYR_OK, at somebody who lives on or not */
};

static struct world {
    struct myr_rng rng;
    struct ccl_shared *shared;
    struct ccl_layout layout;
    struct myr_ccl_conf conf;
    struct member members[MEMBERS_MAX];
    uint32_t count, now_running;
    ucontext_t scheduler;
    int64_t now_ns;
    uint64_t points, turns;
    uint32_t faults_left;
    uint64_t next_fault; /* at which point */
    uint32_t span;       /* of points in which the next fault falls */
    bool stops;          /* some faults are stops */
    uint32_t goal;       /* calls that each must complete after the last fault */
    uint64_t seed, reforms, deaths;
    struct told told[EPOCHS_MAX];
} world;

static void fail_world(const char *what)
{
    print_error("world %llu: %s; time %lld, %u faults left, gate %llx\n",
                (unsigned long long)world.seed, what, (long long)world.now_ns, world.faults_left,
                (unsigned long long)atomic_load(&world.shared->gate));
    for (uint32_t i = 0; i < world.count; i++) {
        const struct member *member = &world.members[i];
        print_error("  process %u: life %d, epoch %llu, %u done, %llu calls, stopped until %lld\n",
                    member->pid, (int)member->life, (unsigned long long)member->epoch, member->done,
                    (unsigned long long)(member->ccl ? member->ccl->calls : 0),
                    (long long)member->stopped_ns);
    }
    for (uint32_t i = 0; i < world.conf.places; i++) {
        struct ccl_place *place =
            (struct ccl_place *)((uint8_t *)world.shared + world.layout.places) + i;
        print_error("  place %u: owner %llx, intent %lld\n", i,
                    (unsigned long long)atomic_load(&place->owner),
                    (long long)atomic_load(&place->intent));
    }
    fail();
}

static void expect(bool holds, const char *what)
{
    if (!holds) {
        fail_world(what);
    }
}

static struct member *self(void)
{
    return &world.members[world.now_running];
}

/* --- the world as the protocol sees it */

static void give_way(void)
{
    struct member *member = self();
    swapcontext(&member->context, &world.scheduler);
}

static int64_t sim_now(void *context)
{
    (void)context;
    return world.now_ns;
}

static void plan_fault(void)
{
    world.next_fault = world.points + 1 + myr_rng_below(&world.rng, world.span);
}

static void live(void);

/* Another process, which begins at that time. */
static void bear(int64_t at_ns)
{
    struct member *member = &world.members[world.count];
    member->pid = 100 + world.count++;
    member->life = UNBORN;
    member->born_ns = at_ns;
    member->stack = malloc(STACK_BYTES);
    getcontext(&member->context);
    member->context.uc_stack = (stack_t){.ss_sp = member->stack, .ss_size = STACK_BYTES};
    member->context.uc_link = NULL;
    makecontext(&member->context, live, 0);
}

/* Two at once now and then. */
static void strike(void)
{
    struct member *member = self();
    world.faults_left--;
    if (world.stops && myr_rng_below(&world.rng, 2)) {
        int64_t length = (int64_t)myr_rng_below(&world.rng, 4 * TIMEOUT_NS);
        member->stopped_ns = world.now_ns + length;
        member->paused_ns += length;
    } else {
        member->life = DEAD;
        world.deaths++;
        if (world.count < MEMBERS_MAX) {
            bear(world.now_ns + myr_rng_below(&world.rng, 2 * TIMEOUT_NS));
        }
    }
    for (uint32_t i = 0; i < world.count; i++) {
        world.members[i].done = 0;
    }
    if (myr_rng_below(&world.rng, 4) == 0) {
        world.next_fault = world.points + 1;
    } else {
        plan_fault();
    }
    give_way();
}

static void sim_point(void *context)
{
    (void)context;
    world.points++;
    world.now_ns += 20;
    if (world.faults_left > 0 && world.points >= world.next_fault) {
        strike();
    } else if (myr_rng_below(&world.rng, 3) == 0) {
        give_way();
    }
}

static void sim_relax(void *context, uint32_t looks, bool crowded)
{
    (void)context, (void)looks, (void)crowded;
    give_way();
}

static void sim_sleep(void *context, _Atomic uint32_t *word, uint32_t seen, int64_t timeout_ns)
{
    (void)context;
    struct member *member = self();
    if (atomic_load(word) == seen) {
        member->life = SLEEPS;
        member->word = word;
        member->wakes_ns = world.now_ns + timeout_ns;
        give_way();
    }
}

static void sim_wake(void *context, _Atomic uint32_t *word)
{
    (void)context;
    for (uint32_t i = 0; i < world.count; i++) {
        if (world.members[i].life == SLEEPS && world.members[i].word == word) {
            world.members[i].life = RUNS;
        }
    }
}

static bool sim_gone(void *context, uint32_t place, uint64_t owner, uint32_t pid, uint64_t start)
{
    (void)context, (void)place, (void)owner, (void)start;
    sim_point(NULL);
    for (uint32_t i = 0; i < world.count; i++) {
        if (world.members[i].pid == pid) {
            return world.members[i].life == DEAD;
        }
    }
    return true;
}

/* --- a process: makes the calls that its epoch and their number ask for */

static void hear(struct member *member, uint64_t before, uint64_t calls_before)
{
    struct myr_ccl_view view;
    myr_ccl_view(member->ccl, &view);
    expect(view.epoch < EPOCHS_MAX, "too many epochs");
    expect(view.epoch > before, "an epoch came twice");
    struct told *told = &world.told[view.epoch];
    expect(!told->known || told->size == view.size, "two sizes of one epoch");
    for (uint32_t i = 0; i < view.size; i++) {
        struct myr_ccl_member other;
        expect(myr_ccl_member(member->ccl, i, &other, NULL) == MYR_OK, "no such rank");
        expect(!told->known || told->pids[i] == other.pid, "two views of one epoch");
        told->pids[i] = other.pid;
    }
    told->known = true;
    told->size = view.size;
    expect(told->pids[view.rank] == member->pid, "a rank is another one's");
    if (before != 0 && before + 1 == view.epoch) {
        struct told *old = &world.told[before];
        expect(!old->ended || old->completed == view.completed, "two counts of what completed");
        expect(view.completed <= calls_before && calls_before <= view.completed + 1,
               "what completed is not what was called");
        old->ended = true;
        old->completed = view.completed;
    }
    member->epoch = view.epoch;
    world.reforms++;
}

static void in_time(const struct member *member, int64_t begun, int64_t paused, int64_t limit)
{
    int64_t took = world.now_ns - begun - (member->paused_ns - paused);
    expect(took <= limit + SLACK_NS, "a call went on beyond its time");
}

static struct job job_now(const struct member *member, uint64_t epoch, uint64_t call)
{
    const struct told *told = &world.told[epoch];
    uint32_t rank = 0;
    while (rank < told->size && told->pids[rank] != member->pid) {
        rank++;
    }
    return job_of(epoch + (world.seed << 8), call, told->pids, told->size, rank);
}

static int call_once(struct member *member, uint32_t *in, uint32_t *out)
{
    uint64_t epoch = member->epoch, call = myr_ccl_calls(member->ccl) + 1;
    int64_t begun = world.now_ns, paused = member->paused_ns;
    struct job job = job_now(member, epoch, call);
    int rc = job_call(&job, member->ccl, in, out, (struct myr_ccl_bound){epoch, TIMEOUT_NS});
    in_time(member, begun, paused, TIMEOUT_NS);
    expect(rc == MYR_OK || rc == MYR_EREFORM, "another code than agreed on");
    if (rc == MYR_OK) {
        expect(job_right(&job, out), "a wrong result");
        expect(!world.told[epoch].ended || call <= world.told[epoch].completed,
               "a call completed that others were told had not");
        world.told[epoch].returned[call] = true;
        member->done++;
    }
    return rc;
}

static int join_group(struct member *member)
{
    struct ccl_world sim = {
        .now_ns = sim_now,
        .point = sim_point,
        .relax = sim_relax,
        .sleep = sim_sleep,
        .wake = sim_wake,
        .gone = sim_gone,
        .pid = member->pid,
        .start = member->pid,
        .cores = 1,
    };
    int64_t begun = world.now_ns, paused = member->paused_ns;
    if (!member->ccl) {
        expect(ccl_create(&world.conf, &sim, &member->ccl, NULL) == MYR_OK, "no memory");
    }
    member->ccl->shared = world.shared;
    int rc = ccl_join_in(member->ccl, &world.conf, 20 * TIMEOUT_NS, NULL);
    in_time(member, begun, paused, 20 * TIMEOUT_NS);
    if (rc == MYR_OK) {
        hear(member, 0, 0);
    }
    return rc;
}

/* After MYR_EREFORM, or because somebody wants to come in. */
static int reform_group(struct member *member, const uint32_t *out, int last)
{
    static const struct myr_ccl_reform how = {.least = 1, .grace_ns = TIMEOUT_NS};
    uint64_t epoch = member->epoch, calls = myr_ccl_calls(member->ccl);
    int64_t begun = world.now_ns, paused = member->paused_ns;
    int rc = myr_ccl_reform(member->ccl, &how, 4 * TIMEOUT_NS, NULL, NULL);
    in_time(member, begun, paused, 4 * TIMEOUT_NS);
    if (rc == MYR_OK) {
        hear(member, epoch, calls);
        struct told *old = &world.told[epoch];
        if (old->ended && last == MYR_EREFORM && calls <= old->completed) {
            struct job job = job_now(member, epoch, calls);
            expect(job_right(&job, out), "what completed is not in place");
        }
        for (uint64_t call = 1; old->ended && call < CALLS_MAX; call++) {
            expect(!old->returned[call] || call <= old->completed, "a completed call was lost");
        }
    }
    return rc;
}

static void run_calls(struct member *member)
{
    static uint32_t ins[MEMBERS_MAX][JOB_VALUES_MAX], outs[MEMBERS_MAX][JOB_VALUES_MAX];
    uint32_t *in = ins[world.now_running], *out = outs[world.now_running];
    while (member->done < world.goal || world.faults_left > 0) {
        int rc = MYR_OK;
        if (myr_ccl_calls(member->ccl) + 2 < CALLS_MAX && myr_ccl_joiners(member->ccl) == 0) {
            rc = call_once(member, in, out);
            if (rc == MYR_OK) {
                continue;
            }
        }
        rc = reform_group(member, out, rc);
        expect(rc == MYR_OK || rc == MYR_ESTALLED || rc == MYR_ESTALE, "another code of reform");
        if (rc == MYR_ESTALE) {
            return;
        }
    }
}

/* Whether there are too few left for a group that has nobody in it. */
static bool is_alone(void)
{
    uint32_t others = 0;
    for (uint32_t i = 0; i < world.count; i++) {
        others += world.members[i].life != DEAD && world.members[i].life != DONE;
    }
    return others < world.conf.members;
}

static void live(void)
{
    struct member *member = self();
    while (member->done < world.goal || world.faults_left > 0) {
        if (join_group(member) == MYR_OK) {
            run_calls(member);
            ccl_place_free(member->ccl);
            ccl_revoke(member->ccl, member->ccl->epoch);
        } else if (is_alone()) {
            break;
        }
        member->ccl->epoch = 0;
    }
    member->life = DONE;
    give_way();
}

/* --- running a world */

static bool can_run(struct member *member)
{
    if (member->life == UNBORN && world.now_ns >= member->born_ns) {
        member->life = RUNS;
    }
    if (member->life == SLEEPS && world.now_ns >= member->wakes_ns) {
        member->life = RUNS;
    }
    return member->life == RUNS && world.now_ns >= member->stopped_ns;
}

/* The earliest time at which somebody can go on. */
static int64_t next_time(void)
{
    int64_t next = INT64_MAX;
    for (uint32_t i = 0; i < world.count; i++) {
        const struct member *member = &world.members[i];
        int64_t at = member->life == UNBORN   ? member->born_ns
                     : member->life == SLEEPS ? member->wakes_ns
                     : member->life == RUNS   ? member->stopped_ns
                                              : INT64_MAX;
        at = at < member->stopped_ns && at != INT64_MAX ? member->stopped_ns : at;
        next = at < next ? at : next;
    }
    return next;
}

static bool turn(void)
{
    uint32_t able[MEMBERS_MAX], count = 0;
    for (uint32_t i = 0; i < world.count; i++) {
        if (can_run(&world.members[i])) {
            able[count++] = i;
        }
    }
    if (count == 0) {
        int64_t next = next_time();
        world.now_ns = next > world.now_ns ? next : world.now_ns;
        return next != INT64_MAX;
    }
    world.now_running = able[myr_rng_below(&world.rng, count)];
    swapcontext(&world.scheduler, &self()->context);
    return true;
}

static void begin_world(uint64_t seed, uint32_t members, uint32_t later)
{
    world.seed = seed;
    myr_rng_init(&world.rng, seed, 1);
    world.conf = (struct myr_ccl_conf){.members = members, .places = 12, .stage_bytes = 4096};
    ccl_layout(world.conf.places, world.conf.stage_bytes, &world.layout);
    world.shared = aligned_alloc(4096, (world.layout.total + 4095) / 4096 * 4096);
    memset(world.shared, 0, world.layout.total);
    ccl_shared_init(world.shared, &world.conf);
    for (uint32_t i = 0; i < members + later; i++) {
        bear(myr_rng_below(&world.rng, i < members ? 100000 : 3 * TIMEOUT_NS));
    }
}

static void end_world(void)
{
    for (uint32_t i = 0; i < world.count; i++) {
        free(world.members[i].stack);
        ccl_free(world.members[i].ccl);
    }
    free(world.shared);
}

/* Runs until all that live have made their calls after the last fault. */
static void run_world(void)
{
    while (turn()) {
        if (++world.turns > TURNS_MAX) {
            fail_world("does not come to an end");
        }
    }
    for (uint32_t i = 0; i < world.count; i++) {
        expect(world.members[i].life == DEAD || world.members[i].life == DONE,
               "somebody hangs for good");
    }
    end_world();
}

static uint64_t worlds_to_draw(uint64_t usual)
{
    const char *text = getenv("MYRIAD_WORLDS");
    return text ? strtoull(text, NULL, 10) : usual;
}

static uint64_t worlds_from(void)
{
    const char *text = getenv("MYRIAD_WORLDS_FROM");
    return text ? strtoull(text, NULL, 10) : 1;
}

/* --- tests */

static void random_faults_break_no_promise(void **state)
{
    (void)state;
    uint64_t reforms = 0, deaths = 0, worlds = worlds_to_draw(1000);
    for (uint64_t seed = worlds_from(); seed < worlds_from() + worlds; seed++) {
        memset(&world, 0, sizeof(world));
        struct myr_rng draw;
        myr_rng_init(&draw, seed, 2);
        uint32_t members = 2 + myr_rng_below(&draw, 4);
        world.faults_left = 1 + myr_rng_below(&draw, 4);
        world.stops = myr_rng_below(&draw, 2);
        world.span = 20 + myr_rng_below(&draw, 3000);
        world.goal = 3;
        begin_world(seed, members, myr_rng_below(&draw, 1 + MEMBERS_MAX - members));
        plan_fault();
        run_world();
        reforms += world.reforms;
        deaths += world.deaths;
    }
    print_message("%llu worlds: %llu deaths, %llu views\n", (unsigned long long)worlds,
                  (unsigned long long)deaths, (unsigned long long)reforms);
}

/* Three members, one of which dies at the n-th access of all: every n until none is left to hit. */
static void a_death_at_every_access_breaks_no_promise(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 2; seed++) {
        bool struck = true;
        for (uint64_t at = 1; struck && at < 900; at++) {
            memset(&world, 0, sizeof(world));
            world.faults_left = 1;
            world.span = 1;
            world.goal = 2;
            begin_world(seed, 3, 1);
            world.next_fault = at;
            run_world();
            struck = world.deaths > 0;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_faults_break_no_promise),
        cmocka_unit_test(a_death_at_every_access_breaks_no_promise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
