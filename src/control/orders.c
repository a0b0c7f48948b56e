/*
 * orders: what agents are told of one incarnation: start, stop; and its ranks from grant to end.
 */
#include "state.h"

void order_start(struct myr_control *c, uint32_t at)
{
    struct rank *rank = slot_of(c, at);
    struct node *node = node_of(c, rank->node);
    const struct job *job = job_of(c, rank->job);
    MYR_ASSERT(rank->epoch == job->epoch && !rank->old);
    /* One that is up, or is to stop, is never told to start. */
    MYR_ASSERT(rank->state == RANK_GRANTED || rank->state == RANK_STARTING);
    /* Counted with the first order; those that repeat it count nothing. */
    if (rank->state == RANK_GRANTED) {
        rank->state = RANK_STARTING;
        node->rank_count++;
        MYR_ASSERT(node->rank_count <= c->ranks.count);
    }
    if (!node->silent) {
        /* 'grace_s' carries the lease here: how long an agent may go without word. */
        emit(c, &(struct myr_effect){.kind = MYR_EFFECT_START,
                                     .node = rank->node,
                                     .job = rank->job,
                                     .epoch = rank->epoch,
                                     .boot = node->boot,
                                     .first_rank = rank->first,
                                     .world = job_gpus(c, job),
                                     .grace_s = job->spec.lease_s,
                                     .gpus = rank->gpus});
    }
}

void order_stop(struct myr_control *c, uint32_t at, uint32_t grace_s)
{
    struct rank *rank = slot_of(c, at);
    const struct node *node = node_of(c, rank->node);
    MYR_ASSERT(rank_is_open(rank));
    /* Left behind, it no longer counts for the job. */
    if (!rank->old) {
        MYR_ASSERT(rank->state != RANK_UP || job_of(c, rank->job)->up > 0);
        job_of(c, rank->job)->up -= rank->state == RANK_UP;
    }
    rank->state = RANK_STOPPING;
    MYR_ASSERT(node->rank_count > 0); /* it counts there until it is known to be gone */
    if (!node->silent) {
        emit(c, &(struct myr_effect){.kind = MYR_EFFECT_STOP,
                                     .node = rank->node,
                                     .job = rank->job,
                                     .epoch = rank->epoch,
                                     .boot = node->boot,
                                     .grace_s = grace_s});
    }
}

void watch(struct myr_control *c, uint32_t id, int64_t at_ms)
{
    /* No sooner than an order without an answer is repeated. */
    int64_t again_ms = c->head.steady_ms + c->policy.retry_ms;
    bool sooner = job_of(c, id)->old_open > 0 && (at_ms < 0 || again_ms < at_ms);
    timer_set(c, TIMER_JOB, id, sooner ? again_ms : at_ms);
    MYR_ASSERT(job_of(c, id)->old_open == 0 || job_of(c, id)->deadline_ms >= 0);
}

void launch(struct myr_control *c, uint32_t id)
{
    struct job *job = job_of(c, id);
    MYR_ASSERT(!job_is_over(job) && job->ranks > 0 && job->first_rank != MYR_NONE);
    /* No test is awaited, and the one before has nothing left that runs under this list. */
    MYR_ASSERT(job->suspects == 0);
    /* Every start is another incarnation, in place or not. */
    MYR_ASSERT(job->epoch < UINT32_MAX);
    job->epoch++;
    job->up = job->exits = job->whole = 0;
    job->open = job->ranks;
    /* Whatever was to come after the last incarnation has come. */
    job->after = AFTER_NONE;
    job->steps = 0;
    /* Progress is possible again. */
    job->stopped_ms = -1;
    job->started_ms = job->progress_ms = c->head.steady_ms;
    emit_job(c, id, MYR_CONTROL_STARTING);
    for (uint32_t at = job->first_rank; at != MYR_NONE; at = slot_of(c, at)->next_in_job) {
        struct rank *rank = slot_of(c, at);
        MYR_ASSERT(rank->state == RANK_GRANTED);
        /* In place the rank keeps its slot and its GPUs, under the new epoch. */
        rank->epoch = job->epoch;
        rank->run = job->run;
        rank->released = 0;
        order_start(c, at);
    }
    timer_set(c, TIMER_JOB, id, c->head.steady_ms + c->policy.retry_ms);
}

void leave_ranks(struct myr_control *c, uint32_t id)
{
    struct job *job = job_of(c, id);
    for (uint32_t at = job->first_rank, next; at != MYR_NONE; at = next) {
        struct rank *rank = slot_of(c, at);
        next = rank->next_in_job;
        /* A test of its node no longer matters to the job. */
        if (rank->suspect) {
            MYR_ASSERT(job->suspects > 0);
            rank->suspect = 0;
            job->suspects--;
        }
        if (rank_is_open(rank)) {
            MYR_ASSERT(job->open > 0 && !rank->old);
            MYR_ASSERT(job->first_old != at);
            rank->old = 1;
            /* To the front: nothing depends on the order of what was left behind. */
            rank->next_in_job = job->first_old;
            job->first_old = at;
            job->open--;
            job->old_open++;
            MYR_ASSERT(job->old_open <= c->ranks.count);
        } else {
            rank_free(c, at);
        }
    }
    MYR_ASSERT(job->open == 0 && job->suspects == 0);
    job->first_rank = job->last_rank = MYR_NONE;
    job->ranks = job->up = 0;
    MYR_ASSERT((job->old_open > 0) == (job->first_old != MYR_NONE));
}
