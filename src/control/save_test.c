/* A state as bytes: what is kept, and what is refused because it cannot be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "control_fixture.h"
#include "sections.h"
#include "state.h"

/*
 * Two jobs of two nodes: job 0 is an epoch job that left a rank behind on node 1, which is lost,
 * and runs on nodes 0 and 2; job 1 is strict and waits for a test of node 3. Job 2 is over.
 */
static struct fixture busy(void)
{
    struct fixture f = fixture_of(8);
    uint32_t left = submit(&f, 16, MYR_RESTART_EPOCH);
    say(&f, MYR_EVENT_STARTED, 0, left, 1, 0);
    say(&f, MYR_EVENT_STARTED, 1, left, 1, 0);
    tell(&f, (struct myr_event){.kind = MYR_EVENT_SILENT, .node = 1});
    wait_ms(&f, 30000);
    say(&f, MYR_EVENT_STOPPED, 0, left, 1, 0);
    say(&f, MYR_EVENT_STARTED, 0, left, 2, 0);
    say(&f, MYR_EVENT_STARTED, 2, left, 2, 0);
    uint32_t blamed = submit(&f, 16, MYR_RESTART_STRICT);
    struct myr_control_rank ranks[2];
    assert_int_equal(myr_control_job_ranks(f.control, blamed, ranks, 2), 2);
    say(&f, MYR_EVENT_STARTED, ranks[0].node, blamed, 1, 0);
    say(&f, MYR_EVENT_STARTED, ranks[1].node, blamed, 1, 0);
    say(&f, MYR_EVENT_EXIT, ranks[0].node, blamed, 1, 1);
    uint32_t over = submit(&f, 8, MYR_RESTART_STRICT);
    assert_int_equal(myr_control_job_ranks(f.control, over, ranks, 1), 1);
    say(&f, MYR_EVENT_STARTED, ranks[0].node, over, 1, 0);
    say(&f, MYR_EVENT_EXIT, ranks[0].node, over, 1, 0);
    assert_true(f.control->head.rank_free != MYR_NONE);
    assert_int_equal(f.control->jobs.items[0].old_open, 1);
    assert_int_equal(f.control->jobs.items[1].suspects, 1);
    assert_true(f.control->timers.count > 0);
    return f;
}

static int reload(const struct myr_control *control, struct myr_err *err)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
    MYR_CLEANUP(myr_control_cleanup) struct myr_control *again = NULL;
    myr_control_save(control, &bytes);
    int rc = myr_control_load((struct myr_str){bytes.data, bytes.len}, &again, err);
    assert_true((rc == MYR_OK) == (again != NULL));
    if (again) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf second = {};
        myr_control_save(again, &second);
        assert_int_equal(second.len, bytes.len);
        assert_memory_equal(second.data, bytes.data, bytes.len);
        assert_memory_equal(&again->shape, &control->shape, sizeof(control->shape));
        assert_int_equal(again->tenants, control->tenants);
        assert_int_equal(again->bad_nodes, control->bad_nodes);
        for (uint32_t j = 0; j < myr_control_jobs(control); j++) {
            uint64_t token = myr_control_job(control, j).spec.token;
            assert_int_equal(myr_control_find(again, token), j);
        }
    }
    return rc;
}

static void what_was_saved_is_loaded(void **state)
{
    (void)state;
    struct fixture f = busy();
    assert_int_equal(reload(f.control, NULL), MYR_OK);
    tell(&f, (struct myr_event){
                 .kind = MYR_EVENT_SYMPTOM, .node = 7, .boot = 1, .code = MYR_SYMPTOM_FAILED});
    assert_int_equal(f.control->bad_nodes, 1); /* node 1 is the one that may be drained */
    assert_int_equal(reload(f.control, NULL), MYR_OK);
    myr_control_free(f.control);
}

/* Each in turn: the least and the most that it may be, and one beyond. */
static void every_field_of_the_policy_is_kept_and_bounded(void **state)
{
    (void)state;
    struct fixture f = busy();
    struct myr_control_policy *p = &f.control->policy;
    int64_t *const times[] = {&p->start_window_ms, &p->retry_ms,       &p->suspect_ms,
                              &p->reconnect_ms,    &p->hang_ms,        &p->test_ms,
                              &p->fence_retry_ms,  &p->clock_slack_ms, &p->first_step_ms};
    uint32_t *const counts[] = {&p->spares, &p->drain_permille, &p->restarts_in_place, &p->grace_s};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(times); i++) {
        *times[i] = 1000 + (int64_t)i;
    }
    for (size_t i = 0; i < MYR_ARRAY_COUNT(counts); i++) {
        *counts[i] = 10 + (uint32_t)i;
    }
    MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
    struct myr_control *again = NULL;
    myr_control_save(f.control, &bytes);
    assert_int_equal(myr_control_load((struct myr_str){bytes.data, bytes.len}, &again, NULL),
                     MYR_OK);
    const struct myr_control_policy *kept = &again->policy;
    assert_int_equal(kept->spares, p->spares);
    assert_int_equal(kept->start_window_ms, p->start_window_ms);
    assert_int_equal(kept->retry_ms, p->retry_ms);
    assert_int_equal(kept->suspect_ms, p->suspect_ms);
    assert_int_equal(kept->reconnect_ms, p->reconnect_ms);
    assert_int_equal(kept->first_step_ms, p->first_step_ms);
    assert_int_equal(kept->hang_ms, p->hang_ms);
    assert_int_equal(kept->test_ms, p->test_ms);
    assert_int_equal(kept->fence_retry_ms, p->fence_retry_ms);
    assert_int_equal(kept->clock_slack_ms, p->clock_slack_ms);
    assert_int_equal(kept->drain_permille, p->drain_permille);
    assert_int_equal(kept->restarts_in_place, p->restarts_in_place);
    assert_int_equal(kept->grace_s, p->grace_s);
    myr_control_free(again);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(times); i++) {
        int64_t was = *times[i];
        /* A retry without a pause would never let go; the other times may be 0. */
        bool pause = times[i] == &p->retry_ms || times[i] == &p->hang_ms ||
                     times[i] == &p->fence_retry_ms || times[i] == &p->first_step_ms;
        *times[i] = pause;
        assert_int_equal(reload(f.control, NULL), MYR_OK);
        *times[i] = pause ? 0 : -1;
        assert_int_equal(reload(f.control, NULL), MYR_ECORRUPT);
        *times[i] = UINT32_MAX;
        assert_int_equal(reload(f.control, NULL), MYR_OK);
        *times[i] = (int64_t)UINT32_MAX + 1;
        assert_int_equal(reload(f.control, NULL), MYR_ECORRUPT);
        *times[i] = was;
    }
    myr_control_free(f.control);
}

/* The first rank that stands for a sentence; there is one. */
static struct rank *a_rank(struct myr_control *c, uint32_t job, bool old)
{
    return &c->ranks.items[old ? c->jobs.items[job].first_old : c->jobs.items[job].first_rank];
}

static struct rank *a_free_rank(struct myr_control *c)
{
    return &c->ranks.items[c->head.rank_free];
}

#define WRONG(name, ...)                           \
    static void name(struct myr_control *c)        \
    {                                              \
        struct job *job = &c->jobs.items[0];       \
        struct rank *rank = a_rank(c, 0, false);   \
        struct node *node = &c->nodes[rank->node]; \
        (void)job, (void)rank, (void)node;         \
        __VA_ARGS__;                               \
    }

WRONG(rank_of_another_job, rank->job = 1)
WRONG(rank_of_no_job, rank->job = (uint32_t)c->jobs.count)
WRONG(rank_on_another_node, rank->node = 5)
WRONG(rank_on_no_node, rank->node = c->shape.nodes)
WRONG(rank_that_is_old, rank->old = 1)
WRONG(old_rank_that_is_not, a_rank(c, 0, true)->old = 0)
WRONG(old_rank_of_another, a_rank(c, 0, true)->job = 1)
WRONG(old_rank_that_is_closed, a_rank(c, 0, true)->state = RANK_CLOSED)
WRONG(rank_in_no_state, rank->state = RANK_CLOSED + 1)
WRONG(rank_that_is_free, rank->state = RANK_FREE)
WRONG(rank_not_up, rank->state = RANK_STARTING)
WRONG(rank_that_is_gone, rank->state = RANK_CLOSED)
WRONG(rank_suspected, rank->suspect = 1)
WRONG(rank_suspected_twice, rank->suspect = 2; job->suspects += 2)
WRONG(old_rank_suspected, a_rank(c, 0, true)->suspect = 1; job->suspects++)
WRONG(rank_of_a_later_run, rank->run = job->run + 1)
WRONG(rank_list_beyond_the_end, rank->next_in_job = (uint32_t)c->ranks.count)
WRONG(rank_list_in_a_circle, rank->next_in_job = job->first_rank)
WRONG(rank_list_cut_short, rank->next_in_job = MYR_NONE)
WRONG(node_list_beyond_the_end, rank->next_on_node = (uint32_t)c->ranks.count)
WRONG(node_list_in_a_circle, rank->next_on_node = node->first_rank)
WRONG(node_list_forgotten, node->first_rank = MYR_NONE)
WRONG(node_with_another_count, node->rank_count++)
WRONG(node_in_no_state, node->state = MYR_NODE_STATES)
WRONG(node_twice_silent, node->silent = 2)
WRONG(node_silent_uncounted, node->silent = 1)
WRONG(node_drained_uncounted, node->drain |= DRAIN_FAULT)
WRONG(node_twice_bad, node->bad = 2)
WRONG(node_deadline_too_late, node->deadline_ms = INT64_MAX / 4 + 1)
WRONG(free_list_beyond_the_end, a_free_rank(c)->next_in_job = (uint32_t)c->ranks.count)
WRONG(free_list_in_a_circle, a_free_rank(c)->next_in_job = c->head.rank_free)
WRONG(free_list_forgotten, c->head.rank_free = MYR_NONE)
WRONG(free_list_of_used, c->head.rank_free = job->first_rank)
WRONG(job_with_more_ranks, job->ranks++)
WRONG(job_with_more_open, job->open++)
WRONG(job_with_more_old, job->old_open++)
WRONG(job_with_more_suspects, job->suspects++)
WRONG(job_with_more_up, job->up++)
WRONG(job_with_another_last, job->last_rank = job->first_rank)
WRONG(job_without_old, job->first_old = MYR_NONE; job->old_open = 0)
WRONG(job_in_no_state, job->state = MYR_CONTROL_JOB_STATES)
WRONG(job_after_nothing, job->after = AFTER_CANCELLED + 1)
WRONG(job_over_with_ranks, job->state = MYR_CONTROL_DONE)
WRONG(job_that_ends_twice, job[2].state = MYR_CONTROL_DONE; job[2].after = AFTER_FAILED)
WRONG(job_again_without_ranks, job[2].state = MYR_CONTROL_QUEUED; job[2].after = AFTER_RESTART)
WRONG(job_of_a_later_run, job->run += 5)
WRONG(job_of_a_later_unrun, job->unrun = job->run + 5)
WRONG(job_of_other_gpus, job->spec.gpus++)
WRONG(job_of_another_tenant, job->spec.tenant++)
WRONG(job_of_the_same_token, job->spec.token = c->jobs.items[1].spec.token)
WRONG(job_list_beyond_the_end, job->first_rank = (uint32_t)c->ranks.count)
WRONG(job_the_queue_knows_not, c->jobs.count--; c->head.job_count--)
WRONG(job_twice, c->jobs.items[1].id = 0)
WRONG(job_never_given, c->head.job_count--)
WRONG(job_to_come, c->jobs.items[2].id = 3)
WRONG(job_that_only_the_queue_knows, c->jobs.items[0] = c->jobs.items[1];
      c->jobs.items[1] = c->jobs.items[2]; c->jobs.count--)
WRONG(timer_of_no_kind, c->timers.items[0].kind = TIMER_JOB + 1)
WRONG(timer_of_no_node, c->timers.items[0].kind = TIMER_NODE; c->timers.items[0].id = 8)
WRONG(timer_of_no_job, c->timers.items[0].kind = TIMER_JOB; c->timers.items[0].id = 3)
WRONG(timers_all_gone, c->timers.count = 0)
WRONG(node_deadline_without_timer, node->deadline_ms = 123456789)
WRONG(job_deadline_without_timer, job->deadline_ms = 123456789)
WRONG(timers_in_disorder, c->timers.items[0].at_ms = INT64_MAX / 8)
WRONG(head_with_more_silent, c->head.silent_nodes++)
WRONG(head_with_more_drained, c->head.drained++)
WRONG(head_planted, c->head.planted = MYR_PLANTED_COUNT)
WRONG(head_before_time, c->head.steady_ms = -1)
WRONG(head_after_time, c->head.steady_ms = INT64_MAX / 4)
WRONG(head_before_the_queue, c->head.steady_ms = 0)
WRONG(head_before_the_clock, c->head.wall_ms = -1)
WRONG(head_after_the_clock, c->head.wall_ms = INT64_MAX / 4)
WRONG(rank_that_is_granted, rank->state = RANK_GRANTED; job->open--; job->up--; node->rank_count--)
WRONG(rank_of_another_epoch, rank->epoch++)
WRONG(rank_without_gpus, rank->gpus = 0)
WRONG(rank_numbered_otherwise, rank->first++)
WRONG(rank_twice_released, rank->released = 2)
WRONG(old_rank_of_a_later_epoch, a_rank(c, 0, true)->epoch = job->epoch + 1)
WRONG(old_rank_of_no_epoch, a_rank(c, 0, true)->epoch = 0)
WRONG(node_never_heard_with_ranks, node->boot = 0)
WRONG(node_lost_but_heard, node->lost = 1)
WRONG(node_tested_in_silence, c->nodes[1].testing = 1)
WRONG(node_fenced_but_heard, node->fencing = 1)
WRONG(node_in_repair_without_fault, node->repair = 1)
WRONG(node_bad_and_drained, c->nodes[1].bad = 1)
WRONG(node_drained_by_nobody, node->drain = 16)
WRONG(node_silent_since_the_future, node->since_ms = c->head.steady_ms + 1)
WRONG(node_of_too_many_tests, node->tests = (uint32_t)INT32_MAX + 1)
WRONG(node_usable_but_drained, node->drain = DRAIN_PERSON)
WRONG(node_usable_in_no_health, node->state = MYR_NODE_JOINING)
WRONG(node_with_an_odd_flag, node->checked = 2)
WRONG(job_waits_for_itself, job->spec.after = 1)
WRONG(job_waits_for_no_job, job->spec.after = 1000)
WRONG(job_of_no_restart, job->spec.restart = MYR_RESTARTS)
WRONG(job_running_without_ranks, job[2].state = MYR_CONTROL_RUNNING)
WRONG(job_queued_with_ranks, job->state = MYR_CONTROL_QUEUED)
WRONG(job_being_placed, job->state = MYR_CONTROL_PLACING)
WRONG(job_without_a_deadline, job->deadline_ms = -1)
WRONG(job_up_and_being_stopped, job->after = AFTER_RESTART)
WRONG(job_running_but_not_whole, job->whole = 0)
WRONG(job_of_more_exits_than_ranks, job->exits = 1)
WRONG(job_of_too_many_epochs, job[2].epoch = (uint32_t)INT32_MAX + 1)
WRONG(job_submitted_in_the_future, job->submitted_ms = c->head.steady_ms + 1)
WRONG(job_started_in_the_future, job->started_ms = c->head.steady_ms + 1)
WRONG(job_moved_in_the_future, job->progress_ms = c->head.steady_ms + 1)
WRONG(job_stopped_in_the_future, job->stopped_ms = c->head.steady_ms + 1)
WRONG(job_that_saves_for_ever, job->grace_ms = INT64_MAX / 4 + 1)
WRONG(job_with_an_odd_flag, job->taken = 2)
WRONG(timer_before_all_time, c->timers.items[0].at_ms = -1)
WRONG(head_that_approves_too_much, c->head.approved = c->shape.nodes + 1)
WRONG(head_that_waits_for_ever, c->head.reconnect_ms = INT64_MAX)
WRONG(no_nodes_at_all, c->shape.nodes = 0)
WRONG(fewer_nodes_than_the_queue, c->shape.nodes--)
WRONG(other_groups_than_the_queue, c->shape.group_nodes = 2)
WRONG(other_gpus_than_the_queue, c->shape.gpus_per_node = 4)
WRONG(last_node_shut, c->nodes[7].shut = 1)

#define BOTH(name)  \
    {               \
#name, name \
    }

static const struct {
    const char *name;
    void (*change)(struct myr_control *);
} wrong[] = {
    BOTH(rank_of_another_job),
    BOTH(rank_of_no_job),
    BOTH(rank_on_another_node),
    BOTH(rank_on_no_node),
    BOTH(rank_that_is_old),
    BOTH(old_rank_that_is_not),
    BOTH(old_rank_of_another),
    BOTH(old_rank_that_is_closed),
    BOTH(rank_in_no_state),
    BOTH(rank_that_is_free),
    BOTH(rank_not_up),
    BOTH(rank_that_is_gone),
    BOTH(rank_suspected),
    BOTH(rank_suspected_twice),
    BOTH(old_rank_suspected),
    BOTH(rank_of_a_later_run),
    BOTH(rank_list_beyond_the_end),
    BOTH(rank_list_in_a_circle),
    BOTH(rank_list_cut_short),
    BOTH(node_list_beyond_the_end),
    BOTH(node_list_in_a_circle),
    BOTH(node_list_forgotten),
    BOTH(node_with_another_count),
    BOTH(node_in_no_state),
    BOTH(node_twice_silent),
    BOTH(node_silent_uncounted),
    BOTH(node_drained_uncounted),
    BOTH(node_twice_bad),
    BOTH(node_deadline_too_late),
    BOTH(free_list_beyond_the_end),
    BOTH(free_list_in_a_circle),
    BOTH(free_list_forgotten),
    BOTH(free_list_of_used),
    BOTH(job_with_more_ranks),
    BOTH(job_with_more_open),
    BOTH(job_with_more_old),
    BOTH(job_with_more_suspects),
    BOTH(job_with_more_up),
    BOTH(job_with_another_last),
    BOTH(job_without_old),
    BOTH(job_in_no_state),
    BOTH(job_after_nothing),
    BOTH(job_over_with_ranks),
    BOTH(job_that_ends_twice),
    BOTH(job_again_without_ranks),
    BOTH(job_of_a_later_run),
    BOTH(job_of_a_later_unrun),
    BOTH(job_of_other_gpus),
    BOTH(job_of_another_tenant),
    BOTH(job_of_the_same_token),
    BOTH(job_list_beyond_the_end),
    BOTH(job_the_queue_knows_not),
    BOTH(job_twice),
    BOTH(job_never_given),
    BOTH(job_to_come),
    BOTH(job_that_only_the_queue_knows),
    BOTH(timer_of_no_kind),
    BOTH(timer_of_no_node),
    BOTH(timer_of_no_job),
    BOTH(timers_all_gone),
    BOTH(node_deadline_without_timer),
    BOTH(job_deadline_without_timer),
    BOTH(timers_in_disorder),
    BOTH(head_with_more_silent),
    BOTH(head_with_more_drained),
    BOTH(head_planted),
    BOTH(head_before_time),
    BOTH(head_after_time),
    BOTH(head_before_the_queue),
    BOTH(head_before_the_clock),
    BOTH(head_after_the_clock),
    BOTH(rank_that_is_granted),
    BOTH(rank_of_another_epoch),
    BOTH(rank_without_gpus),
    BOTH(rank_numbered_otherwise),
    BOTH(rank_twice_released),
    BOTH(old_rank_of_a_later_epoch),
    BOTH(old_rank_of_no_epoch),
    BOTH(node_never_heard_with_ranks),
    BOTH(node_lost_but_heard),
    BOTH(node_tested_in_silence),
    BOTH(node_fenced_but_heard),
    BOTH(node_in_repair_without_fault),
    BOTH(node_bad_and_drained),
    BOTH(node_drained_by_nobody),
    BOTH(node_silent_since_the_future),
    BOTH(node_of_too_many_tests),
    BOTH(node_usable_but_drained),
    BOTH(node_usable_in_no_health),
    BOTH(node_with_an_odd_flag),
    BOTH(job_waits_for_itself),
    BOTH(job_waits_for_no_job),
    BOTH(job_of_no_restart),
    BOTH(job_running_without_ranks),
    BOTH(job_queued_with_ranks),
    BOTH(job_being_placed),
    BOTH(job_without_a_deadline),
    BOTH(job_up_and_being_stopped),
    BOTH(job_running_but_not_whole),
    BOTH(job_of_more_exits_than_ranks),
    BOTH(job_of_too_many_epochs),
    BOTH(job_submitted_in_the_future),
    BOTH(job_started_in_the_future),
    BOTH(job_moved_in_the_future),
    BOTH(job_stopped_in_the_future),
    BOTH(job_that_saves_for_ever),
    BOTH(job_with_an_odd_flag),
    BOTH(timer_before_all_time),
    BOTH(head_that_approves_too_much),
    BOTH(head_that_waits_for_ever),
    BOTH(no_nodes_at_all),
    BOTH(fewer_nodes_than_the_queue),
    BOTH(other_groups_than_the_queue),
    BOTH(other_gpus_than_the_queue),
    BOTH(last_node_shut),
};

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    struct fixture f = busy();
    for (size_t i = 0; i < MYR_ARRAY_COUNT(wrong); i++) {
        struct myr_control *copy = myr_control_fork(f.control);
        struct myr_err err = {};
        wrong[i].change(copy);
        MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
        struct myr_control *none = NULL;
        myr_control_save(copy, &bytes);
        int rc = myr_control_load((struct myr_str){bytes.data, bytes.len}, &none, &err);
        if (rc != MYR_ECORRUPT || none || !strstr(err.message, "the snapshot")) {
            fail_msg("%s: %d, %s", wrong[i].name, rc, err.message);
        }
        myr_control_free(copy);
    }
    myr_control_free(f.control);
}

static void a_copy_grows_by_nodes_that_nobody_has_heard_of(void **state)
{
    (void)state;
    struct fixture f = busy();
    struct myr_err err = {};
    uint32_t free_gpus = myr_control_free_gpus(f.control);
    assert_int_equal(myr_control_grow(f.control, 7, &err), MYR_EINVAL);
    assert_non_null(strstr(err.message, "7 nodes, at least the present 8"));
    assert_int_equal(myr_control_nodes(f.control), 8);
    assert_int_equal(myr_control_grow(f.control, 8, NULL), MYR_OK);
    assert_int_equal(myr_control_grow(f.control, 300, NULL), MYR_OK);
    assert_int_equal(myr_control_nodes(f.control), 300);
    struct myr_place_shape shape = myr_control_shape(f.control);
    assert_int_equal(shape.pod_nodes, 300); /* one pod before, and one after */
    assert_int_equal(shape.group_nodes, 4);
    assert_int_equal(myr_control_free_gpus(f.control), free_gpus);
    struct node unknown = {.first_rank = MYR_NONE, .deadline_ms = -1, .gone = 1};
    for (uint32_t n = 8; n < 300; n++) {
        assert_memory_equal(&f.control->nodes[n], &unknown, sizeof(unknown));
    }
    tell(&f, (struct myr_event){.kind = MYR_EVENT_JOIN, .node = 299, .boot = 1});
    tell(&f, (struct myr_event){.kind = MYR_EVENT_TESTED, .node = 299, .boot = 1, .epoch = 1});
    assert_int_equal(myr_control_free_gpus(f.control), free_gpus + 8);
    assert_int_equal(reload(f.control, NULL), MYR_OK);
    myr_control_free(f.control);
}

/* Several pods stay as large as they are. */
static void pods_stay_as_they_are(void **state)
{
    (void)state;
    struct myr_place_shape shape = {16, 8, 4, 8};
    struct myr_control_policy policy = myr_control_policy_default();
    MYR_CLEANUP(myr_control_cleanup) struct myr_control *control = NULL;
    assert_int_equal(myr_control_create(&shape, &policy, 0, &control, NULL), MYR_OK);
    assert_int_equal(control->tenants, 1);
    assert_true(control->policy.queue.confirm);
    assert_int_equal(myr_control_grow(control, 24, NULL), MYR_OK);
    assert_int_equal(myr_control_shape(control).pod_nodes, 8);
}

/* Nothing is known of anybody: the bytes of a fresh state are these. */
static void a_new_state_knows_nobody(void **state)
{
    (void)state;
    struct myr_place_shape shape = {3, 8, 4, 3};
    struct myr_control_policy policy = myr_control_policy_default();
    MYR_CLEANUP(myr_control_cleanup) struct myr_control *control = NULL;
    assert_int_equal(myr_control_create(&shape, &policy, 2, &control, NULL), MYR_OK);
    const struct node unknown = {.first_rank = MYR_NONE, .deadline_ms = -1, .gone = 1};
    for (uint32_t n = 0; n < 3; n++) {
        assert_memory_equal(&control->nodes[n], &unknown, sizeof(unknown));
    }
    const struct control_head head = {.rank_free = MYR_NONE};
    assert_memory_equal(&control->head, &head, sizeof(head));
    assert_int_equal(control->tenants, 2);
    assert_int_equal(control->timers.count + control->ranks.count + control->effects.count, 0);
    const struct myr_event event = {.kind = MYR_EVENT_SUBMIT,
                                    .spec = {.token = 5, .tenant = 1, .gpus = 8, .retries = 3}};
    assert_int_equal(myr_control_step(control, 4000, &event, NULL), MYR_OK);
    const struct job waits = {.spec = event.spec,
                              .first_rank = MYR_NONE,
                              .last_rank = MYR_NONE,
                              .first_old = MYR_NONE,
                              .submitted_ms = 4000,
                              .started_ms = -1,
                              .stopped_ms = -1,
                              .deadline_ms = -1};
    assert_memory_equal(&control->jobs.items[0], &waits, sizeof(waits));
}

static void the_default_policy_is_the_one_that_is_documented(void **state)
{
    (void)state;
    const struct myr_control_policy p = myr_control_policy_default();
    const struct myr_queue_policy queue = myr_queue_policy_default();
    assert_memory_equal(&p.queue, &queue, sizeof(queue));
    assert_int_equal(p.spares, 0);
    assert_int_equal(p.start_window_ms, 30 * 60 * 1000);
    assert_int_equal(p.first_step_ms, 60 * 60 * 1000);
    assert_int_equal(p.retry_ms, 30 * 1000);
    assert_int_equal(p.suspect_ms, 30 * 1000);
    assert_int_equal(p.reconnect_ms, 2 * 60 * 1000);
    assert_int_equal(p.hang_ms, 10 * 60 * 1000);
    assert_int_equal(p.test_ms, 2 * 60 * 60 * 1000);
    assert_int_equal(p.fence_retry_ms, 5 * 60 * 1000);
    assert_int_equal(p.clock_slack_ms, 60 * 1000);
    assert_int_equal(p.drain_permille, 100);
    assert_int_equal(p.restarts_in_place, 3);
    assert_int_equal(p.grace_s, 60);
}

/* The bytes of a state with one of their sections left out, one byte longer, or cut to nothing. */
static void put_sections(struct myr_str bytes, size_t which, int32_t more, struct myr_buf *ret)
{
    size_t at = 0;
    for (size_t i = 0; at < bytes.len; i++) {
        struct section section;
        struct myr_str data, rest = {bytes.data + at, bytes.len - at};
        assert_int_equal(section_get(rest, &section, &data), SECTION_WHOLE);
        MYR_CLEANUP(myr_buf_done) struct myr_buf copy = {};
        myr_buf_put(&copy, data.data, data.len);
        myr_buf_putc(&copy, '\0');
        if (i != which) {
            section_put(ret, section.tag, section.version, data.data, data.len);
        } else if (more >= 0) {
            section_put(ret, section.tag, section.version, copy.data, more ? data.len + 1 : 0);
        }
        at += sizeof(section) + data.len;
    }
}

static void a_part_that_is_missing_or_too_long_is_named(void **state)
{
    (void)state;
    static const char *const names[] = {"about", "policy", "head",   "nodes",
                                        "jobs",  "ranks",  "timers", "queue"};
    struct fixture f = busy();
    MYR_CLEANUP(myr_buf_done) struct myr_buf bytes = {};
    myr_control_save(f.control, &bytes);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(names); i++) {
        for (int32_t more = -1; more < 2; more++) {
            if ((more == 0 && strcmp(names[i], "timers") == 0) || (more == 1 && i == 7)) {
                continue; /* there may be no timers; the queue reads its part by itself */
            }
            MYR_CLEANUP(myr_buf_done) struct myr_buf changed = {};
            struct myr_control *none = NULL;
            struct myr_err err = {};
            put_sections((struct myr_str){bytes.data, bytes.len}, i, more, &changed);
            int rc = myr_control_load((struct myr_str){changed.data, changed.len}, &none, &err);
            if (rc != MYR_ECORRUPT || none) {
                fail_msg("%s, %d: %d, %s", names[i], more, rc, err.message);
            }
            if (more < 0) {
                char words[40];
                snprintf(words, sizeof(words), "it has no %s", names[i]);
                assert_non_null(strstr(err.message, words));
            }
        }
    }
    myr_control_free(f.control);
}

/* Gangs that run, wait and are left beside nodes that are lost, as core version 8 has written. */
static void a_state_of_an_older_core_is_read_and_lives_on(void **state)
{
    (void)state;
    static char bytes[1 << 16];
    gzFile file = gzopen(MYR_SOURCE_DIR "/tests/data/control-state-8.myr.gz", "rb");
    int len = gzread(file, bytes, sizeof(bytes));
    struct fixture f = {};
    struct myr_err err = {};
    assert_in_range(len, 40000, sizeof(bytes) - 1);
    assert_int_equal(gzclose(file), Z_OK);
    assert_int_equal(myr_control_load((struct myr_str){bytes, (size_t)len}, &f.control, &err),
                     MYR_OK);
    assert_int_equal(myr_control_jobs(f.control), 8);
    f.now_ms = myr_control_now_ms(f.control);
    wait_ms(&f, 4 * 3600000);
    assert_int_equal(reload(f.control, &err), MYR_OK);
    assert_int_equal(myr_control_refusals(f.control), 0);
    myr_control_free(f.control);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_of_an_older_core_is_read_and_lives_on),
        cmocka_unit_test(a_new_state_knows_nobody),
        cmocka_unit_test(the_default_policy_is_the_one_that_is_documented),
        cmocka_unit_test(a_part_that_is_missing_or_too_long_is_named),
        cmocka_unit_test(what_was_saved_is_loaded),
        cmocka_unit_test(every_field_of_the_policy_is_kept_and_bounded),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(a_copy_grows_by_nodes_that_nobody_has_heard_of),
        cmocka_unit_test(pods_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
