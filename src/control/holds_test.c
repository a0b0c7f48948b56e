/*
 * The invariants themselves: each is broken by hand in a state that held, and must stop the
 * program; and what silence, limits and late words may not do, found where an invariant alone would
 * not tell.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control_fixture.h"
#include "state.h"

/* A job of two nodes that runs (nodes 0 and 1 of 3), and one that waits. */
static struct fixture running(void)
{
    struct fixture f = fixture_of(3);
    uint32_t job = submit(&f, 16, MYR_RESTART_STRICT);
    struct myr_control_rank ranks[2];
    assert_int_equal(myr_control_job_ranks(f.control, job, ranks, 2), 2);
    for (uint32_t i = 0; i < 2; i++) {
        say(&f, MYR_EVENT_STARTED, ranks[i].node, job, 1, 0);
    }
    (void)submit(&f, 24, MYR_RESTART_STRICT);
    return f;
}

static uint32_t node_of_rank(const struct myr_control *c)
{
    return c->ranks.items[c->jobs.items[0].first_rank].node;
}

#define BREAK(name, ...)                                      \
    static void name(struct myr_control *c)                   \
    {                                                         \
        struct job *job = &c->jobs.items[0];                  \
        struct node *node = &c->nodes[node_of_rank(c)];       \
        struct rank *rank = &c->ranks.items[job->first_rank]; \
        (void)job, (void)node, (void)rank;                    \
        __VA_ARGS__                                           \
    }

BREAK(rank_of_another_job, rank->job = 1;)
BREAK(rank_of_another_epoch, rank->epoch++;)
BREAK(rank_left_behind, rank->old = 1;)
BREAK(rank_without_gpus, rank->gpus = 0;)
BREAK(rank_out_of_order, rank->first = 1;)
BREAK(job_with_a_rank_too_few, job->ranks--;)
BREAK(job_with_a_rank_too_many_open, job->open++;)
BREAK(job_with_a_rank_too_many_up, job->up++;)
BREAK(job_with_a_suspect, job->suspects = 1;)
BREAK(job_with_old_ranks, job->old_open = 1;)
BREAK(job_that_nobody_watches, job->deadline_ms = -1;)
BREAK(job_that_runs_in_part, job->whole = 0;)
BREAK(job_that_is_stopped_and_runs, job->after = AFTER_RESTART;)
BREAK(job_that_waits_with_ranks, job->state = MYR_CONTROL_QUEUED;)
BREAK(job_that_is_over_with_ranks, job->state = MYR_CONTROL_DONE;)
BREAK(node_with_a_rank_too_many, node->rank_count++;)
BREAK(node_that_is_lost_and_heard, node->lost = 1;)
BREAK(node_that_is_fenced_and_there, node->fencing = 1;)
BREAK(node_that_is_tested_in_silence, node->testing = node->silent = 1; node->deadline_ms = 1;)
BREAK(node_that_is_tested_for_ever, node->testing = 1; node->deadline_ms = -1;)
BREAK(node_that_is_silent_for_ever, node->silent = 1; node->deadline_ms = -1;)
BREAK(node_in_repair_without_a_fault, node->repair = 1;)
BREAK(node_bad_beside_its_drain, node->bad = 1; node->drain = DRAIN_FAULT;)
BREAK(node_healthy_and_drained, node->drain = DRAIN_PERSON;)
BREAK(node_healthy_without_a_test, node->checked = 0;)
BREAK(node_that_may_be_used_and_may_not, node->state = MYR_NODE_SUSPECT;)

/* Of the whole alone. */
BREAK(silent_nodes_miscounted, c->head.silent_nodes++;)
BREAK(drained_nodes_miscounted, c->head.drained++;)
BREAK(bad_nodes_miscounted, c->bad_nodes++;)
BREAK(a_gpu_with_two_jobs, {
    uint32_t at =
        rank_add(c, &(struct rank){.job = 1, .node = rank->node, .state = RANK_GRANTED, .gpus = 1});
    (void)at;
})

struct broken {
    const char *name;
    void (*make)(struct myr_control *);
    bool whole; /* not of the job or node that an event names */
};

#define ROW(name)          \
    {                      \
#name, name, false \
    }
#define WHOLE(name)       \
    {                     \
#name, name, true \
    }

static const struct broken all[] = {
    ROW(rank_of_another_job),
    ROW(rank_of_another_epoch),
    ROW(rank_left_behind),
    ROW(rank_without_gpus),
    ROW(rank_out_of_order),
    ROW(job_with_a_rank_too_few),
    ROW(job_with_a_rank_too_many_open),
    ROW(job_with_a_rank_too_many_up),
    ROW(job_with_a_suspect),
    ROW(job_with_old_ranks),
    ROW(job_that_nobody_watches),
    ROW(job_that_runs_in_part),
    ROW(job_that_is_stopped_and_runs),
    ROW(job_that_waits_with_ranks),
    ROW(job_that_is_over_with_ranks),
    ROW(node_with_a_rank_too_many),
    ROW(node_that_is_lost_and_heard),
    ROW(node_that_is_fenced_and_there),
    ROW(node_that_is_tested_in_silence),
    ROW(node_that_is_tested_for_ever),
    ROW(node_that_is_silent_for_ever),
    ROW(node_in_repair_without_a_fault),
    ROW(node_bad_beside_its_drain),
    ROW(node_healthy_and_drained),
    ROW(node_healthy_without_a_test),
    ROW(node_that_may_be_used_and_may_not),
    ROW(a_gpu_with_two_jobs),
    WHOLE(silent_nodes_miscounted),
    WHOLE(drained_nodes_miscounted),
    WHOLE(bad_nodes_miscounted),
};

/* Whether a process that looks at the state stops, as at any broken invariant. */
static bool stops(struct myr_control *c, const struct broken *broken, bool event_alone)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        (void)!freopen("/dev/null", "w", stderr);
        if (broken) {
            broken->make(c);
        }
        if (event_alone) {
            (void)control_assert_of(c, &(struct myr_event){.node = node_of_rank(c), .job = 0});
        } else {
            control_assert(c);
        }
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status != 0;
}

static void a_broken_state_stops_the_program(void **state)
{
    (void)state;
    struct fixture f = running();
    assert_false(stops(f.control, NULL, false));
    assert_false(stops(f.control, NULL, true));
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        bool whole = stops(f.control, &all[i], false), alone = stops(f.control, &all[i], true);
        if (!whole || alone == all[i].whole) {
            fail_msg("%s: %s by all, %s by its event", all[i].name, whole ? "found" : "passed",
                     alone ? "found" : "passed");
        }
    }
    /* A fault that was put there on purpose is for the twin to find. */
    myr_control_plant(f.control, MYR_PLANTED_LEAK);
    assert_false(stops(f.control, &all[0], true));
    myr_control_free(f.control);
}

/*
 * A rank that was told to stop and whose agent is heard may run on; the lease, after which it must
 * have ended by itself, begins with the silence and not with the order.
 */
static void a_lease_begins_with_the_silence(void **state)
{
    (void)state;
    struct fixture f = fixture_of(3);
    uint32_t job = submit(&f, 16, MYR_RESTART_STRICT);
    struct myr_control_rank ranks[2];
    assert_int_equal(myr_control_job_ranks(f.control, job, ranks, 2), 2);
    say(&f, MYR_EVENT_STARTED, ranks[0].node, job, 1, 0);
    say(&f, MYR_EVENT_STARTED, ranks[1].node, job, 1, 0);
    say(&f, MYR_EVENT_EXIT, ranks[0].node, job, 1, 1);
    wait_ms(&f, 3000000); /* it does not answer, and is heard */
    assert_int_equal(myr_control_job(f.control, job).epoch, 1);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_SILENT, .node = ranks[1].node});
    wait_ms(&f, 719000); /* 600 s, a tenth for its clock, and a minute */
    assert_int_equal(myr_control_job(f.control, job).epoch, 1);
    assert_int_equal(myr_control_job(f.control, job).nodes_open, 1);
    wait_ms(&f, 60000);
    assert_int_equal(myr_control_job(f.control, job).nodes_open, 0);
    myr_control_free(f.control);
}

/* With one node allowed to be drained, the next one waits for a person; forgiving the first frees
 * the place, and forgiving one that waits clears it of what was held against it. */
static void who_is_forgiven_makes_room_for_the_next(void **state)
{
    (void)state;
    struct fixture f = fixture_of(5);
    for (uint32_t node = 0; node < 3; node++) {
        tell(&f,
             (struct myr_event){
                 .kind = MYR_EVENT_SYMPTOM, .node = node, .boot = 1, .code = MYR_SYMPTOM_FAILED});
    }
    assert_int_equal(myr_control_node(f.control, 0).state, MYR_NODE_REPAIR);
    assert_int_equal(myr_control_node(f.control, 1).state, MYR_NODE_SUSPECT);
    assert_int_equal(myr_control_node(f.control, 2).state, MYR_NODE_SUSPECT);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_UNDRAIN, .node = 2});
    assert_int_equal(myr_control_node(f.control, 2).state, MYR_NODE_CHECKING);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_TESTED, .node = 2, .boot = 1, .epoch = 2});
    assert_int_equal(myr_control_node(f.control, 2).state, MYR_NODE_HEALTHY);
    assert_int_equal(myr_control_node(f.control, 1).state, MYR_NODE_SUSPECT);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_UNDRAIN, .node = 0});
    assert_int_equal(myr_control_node(f.control, 0).state, MYR_NODE_CHECKING);
    assert_int_equal(myr_control_node(f.control, 1).state, MYR_NODE_REPAIR);
    assert_int_equal(count_effects(&f, MYR_EFFECT_REPAIR), 1);
    myr_control_free(f.control);
}

/*
 * The word of a fence comes when the node is long back, and silent again: it is lost in its time,
 * and goes to repair as soon as a person allows one more.
 */
static void a_late_fence_does_not_hide_a_silence(void **state)
{
    (void)state;
    struct fixture f = fixture_of(5);
    uint32_t job = submit(&f, 8, MYR_RESTART_STRICT);
    struct myr_control_rank rank;
    assert_int_equal(myr_control_job_ranks(f.control, job, &rank, 1), 1);
    say(&f, MYR_EVENT_STARTED, rank.node, job, 1, 0);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_SYMPTOM, /* the one that may be drained */
                                .node = (rank.node + 1) % 5,
                                .boot = 1,
                                .code = MYR_SYMPTOM_FAILED});
    tell(&f, (struct myr_event){.kind = MYR_EVENT_SILENT, .node = rank.node});
    wait_ms(&f, 31000);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_BACK, .node = rank.node, .boot = 1});
    tell(&f, (struct myr_event){.kind = MYR_EVENT_SILENT, .node = rank.node});
    tell(&f, (struct myr_event){.kind = MYR_EVENT_FENCED, .node = rank.node, .boot = 1});
    wait_ms(&f, 31000);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_APPROVE, .value = 1});
    assert_int_equal(myr_control_node(f.control, rank.node).state, MYR_NODE_REPAIR);
    myr_control_free(f.control);
}

/* A job that ends well while the queue is about to move it has ended well for those who wait. */
static void who_waits_for_a_job_that_is_moved_starts_when_it_is_done(void **state)
{
    (void)state;
    struct fixture f = fixture_of(4);
    uint32_t first = submit(&f, 16, MYR_RESTART_STRICT);
    struct myr_control_rank ranks[2];
    assert_int_equal(myr_control_job_ranks(f.control, first, ranks, 2), 2);
    tell(&f,
         (struct myr_event){.kind = MYR_EVENT_SUBMIT,
                            .spec = {.token = 9, .gpus = 8, .lease_s = 600, .after = first + 1}});
    uint32_t second = myr_control_find(f.control, 9);
    say(&f, MYR_EVENT_STARTED, ranks[0].node, first, 1, 0);
    say(&f, MYR_EVENT_STARTED, ranks[1].node, first, 1, 0);
    say(&f, MYR_EVENT_EXIT, ranks[0].node, first, 1, 0);
    /* The other node fails: the queue takes the job's place away, but its work is done. */
    tell(&f, (struct myr_event){.kind = MYR_EVENT_SYMPTOM,
                                .node = ranks[1].node,
                                .boot = 1,
                                .code = MYR_SYMPTOM_FAILED});
    say(&f, MYR_EVENT_STOPPED, ranks[1].node, first, 1, 0);
    wait_ms(&f, 5000);
    assert_int_equal(myr_control_job(f.control, first).state, MYR_CONTROL_DONE);
    assert_int_equal(myr_control_job(f.control, second).state, MYR_CONTROL_STARTING);
    myr_control_free(f.control);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_broken_state_stops_the_program),
        cmocka_unit_test(a_lease_begins_with_the_silence),
        cmocka_unit_test(who_is_forgiven_makes_room_for_the_next),
        cmocka_unit_test(a_late_fence_does_not_hide_a_silence),
        cmocka_unit_test(who_waits_for_a_job_that_is_moved_starts_when_it_is_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
