/* again: a controller or a node is there again, and orders with it. */
#include "state.h"

void job_node_back(struct myr_control *c, uint32_t node)
{
    MYR_ASSERT(!node_of(c, node)->silent && !node_of(c, node)->lost);
    /* Orders that it did not hear while it was silent. */
    for (uint32_t at = node_of(c, node)->first_rank; at != MYR_NONE;
         at = slot_of(c, at)->next_on_node) {
        const struct rank *rank = slot_of(c, at);
        if (rank_is_open(rank) && (rank->old || rank->state == RANK_STOPPING)) {
            MYR_PROBE("a node is back with ranks that are to stop");
            order_stop(c, at, 0);
            timer_set(c, TIMER_JOB, rank->job, c->head.steady_ms + c->policy.retry_ms);
        }
    }
}

void job_takeover(struct myr_control *c)
{
    MYR_ASSERT(c->head.reconnect_ms >= c->head.steady_ms); /* nodes were given their time before */
    for (size_t i = 0; i < c->jobs.count; i++) {
        struct job *job = &c->jobs.items[i];
        /* What is over and has left nothing behind has nothing to be told. */
        if (job_is_over(job) && job->old_open == 0) {
            continue;
        }
        MYR_ASSERT(job->progress_ms <= c->head.steady_ms);
        MYR_ASSERT(job->started_ms <= c->head.steady_ms);
        /* Nobody watched meanwhile: that it made no step says nothing. */
        job->progress_ms = c->head.steady_ms;
        if (job->after == AFTER_NONE && job->state == MYR_CONTROL_STARTING) {
            MYR_PROBE("a controller begins while a gang starts");
            job->started_ms = c->head.steady_ms;
        }
        /* Due at once: orders may be lost with the controller that gave them. */
        if (job->deadline_ms >= 0) {
            timer_set(c, TIMER_JOB, job->id, c->head.steady_ms);
        }
    }
}
