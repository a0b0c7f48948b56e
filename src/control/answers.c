/*
 * answers: what agents say of ranks: started, stopped, ended, a step made.
 */
#include "state.h"

/* The job's rank on a node, of one epoch; old ones too. */
static uint32_t find_rank(const struct myr_control *c, uint32_t node, uint32_t job, uint32_t epoch)
{
    MYR_ASSERT(job < c->head.job_count);
    uint32_t at = node_of(c, node)->first_rank;
    while (at != MYR_NONE && (slot_of(c, at)->job != job || slot_of(c, at)->epoch != epoch)) {
        at = slot_of(c, at)->next_on_node;
    }
    return at;
}

/*
 * A rank of the job on the node that an answer up to this epoch is about;
 * MYR_NONE: none is open.
 */
static uint32_t find_stopped(const struct myr_control *c, const struct myr_event *event)
{
    MYR_ASSERT(job_find(c, event->job));
    uint32_t at = node_of(c, event->node)->first_rank;
    for (; at != MYR_NONE; at = slot_of(c, at)->next_on_node) {
        const struct rank *rank = slot_of(c, at);
        /* Up to the epoch: an agent that has stopped one never starts those before it. */
        if (rank->job == event->job && rank->epoch <= event->epoch && rank_is_open(rank)) {
            return at;
        }
    }
    return MYR_NONE;
}

/*
 * An agent starts an incarnation when those before it are gone, and never starts them again. The
 * queue goes by that too once a gang is up, so the ranks must be known to be gone by then; that one
 * of them is over says as well that it was started.
 */
static void older_are_gone(struct myr_control *c, const struct myr_event *started)
{
    struct myr_event older = *started;
    /* Before the first epoch there is nothing. */
    if (older.epoch-- == 0) {
        return;
    }
    for (uint32_t at; (at = find_stopped(c, &older)) != MYR_NONE;) {
        MYR_PROBE("a start says that older ranks are gone");
        MYR_ASSERT(slot_of(c, at)->epoch < started->epoch && slot_of(c, at)->job == started->job);
        job_rank_gone(c, at);
    }
}

/* Its command, image or user is wrong: no other node would do better, and it tries again here. */
static void own_fault(struct myr_control *c, uint32_t id)
{
    struct job *job = job_of(c, id);
    MYR_ASSERT(job->after == AFTER_NONE && job->ranks > 0);
    try_failed(c, job);
    try_count(c, job);
    emit_job(c, id, MYR_CONTROL_RECOVERING);
    job_halt(c, id, job->failures > job->spec.retries ? AFTER_FAILED : AFTER_RESTART, 0);
    job_settle(c, id);
}

/* All of it is up, or was: ranks that were quick may be done before the last one comes. */
static void gang_may_be_up(struct myr_control *c, uint32_t id)
{
    struct job *job = job_of(c, id);
    MYR_ASSERT(!job_is_over(job) && job->after == AFTER_NONE);
    if (job->whole || job->up + job->exits != job->ranks) {
        return;
    }
    MYR_ASSERT(job->up == job->open); /* whoever is open is up: nobody is awaited */
    MYR_ASSERT(job->ranks > 0); /* one that was taken back meanwhile has exits, and no ranks */
    job->whole = 1;
    job->progress_ms = c->head.steady_ms;
    /* In place the queue knows of the run already. */
    if (!job->confirmed) {
        job->confirmed = 1;
        placing_started(c, id);
    }
    emit_job(c, id, job->exits ? MYR_CONTROL_FINISHING : MYR_CONTROL_RUNNING);
    watch(c, id, c->head.steady_ms + c->policy.hang_ms);
}

bool job_started(struct myr_control *c, const struct myr_event *event)
{
    MYR_ASSERT(event->kind == MYR_EVENT_STARTED);
    if (event->code == 0) {
        older_are_gone(c, event);
    }
    uint32_t at = find_rank(c, event->node, event->job, event->epoch);
    /* What an agent did before it heard the order to stop changes nothing. */
    if (at == MYR_NONE || slot_of(c, at)->old) {
        MYR_PROBE("a start is confirmed that was taken back");
        return true; /* taken back since, and ordered to stop */
    }
    struct rank *rank = slot_of(c, at);
    struct job *job = job_of(c, event->job);
    MYR_ASSERT(rank->epoch == job->epoch && job->ranks > 0);
    if (event->code == MYR_START_OWN_FAULT && rank->state == RANK_STARTING) {
        MYR_PROBE("a job has a fault of its own");
        job_rank_gone(c, at);
        if (job->after == AFTER_NONE) {
            own_fault(c, event->job);
        }
        return true;
    }
    if (event->code != 0 && rank->state == RANK_STARTING) {
        MYR_PROBE("a node could not start its ranks");
        job_rank_gone(c, at);
        if (job->after == AFTER_NONE) {
            job_start_failed(c, event->job);
        }
        return false;
    }
    bool late = c->head.planted == MYR_PLANTED_LATE_START && rank->state == RANK_STOPPING;
    if (rank->state != RANK_STARTING && !late) {
        return true;
    }
    rank->state = RANK_UP;
    job->up++;
    MYR_ASSERT(job->up <= job->open && job->open <= job->ranks);
    if (job->after == AFTER_NONE || late) {
        job->after = AFTER_NONE;
        gang_may_be_up(c, event->job);
    }
    return true;
}

void job_stopped(struct myr_control *c, const struct myr_event *event)
{
    MYR_ASSERT(event->kind == MYR_EVENT_STOPPED);
    uint32_t at;
    while ((at = find_stopped(c, event)) != MYR_NONE) {
        bool asked = slot_of(c, at)->state == RANK_STOPPING;
        MYR_ASSERT(slot_of(c, at)->node == event->node);
        job_rank_gone(c, at); /* which may change the list */
        if (!asked) { /* nobody wanted that: the agent's lease ran out, or somebody killed it */
            MYR_PROBE("ranks stopped that nobody stopped");
            job_failed(c, event->job, true);
            job_settle(c, event->job);
        }
    }
}

bool job_exited(struct myr_control *c, const struct myr_event *event)
{
    MYR_ASSERT(event->kind == MYR_EVENT_EXIT);
    uint32_t at = find_rank(c, event->node, event->job, event->epoch);
    if (at == MYR_NONE || !rank_is_open(slot_of(c, at))) {
        return true;
    }
    /* That one of an epoch was started says that those before are gone. */
    older_are_gone(c, event);
    struct job *job = job_of(c, event->job);
    MYR_ASSERT(rank_is_open(slot_of(c, at))); /* it is not one of those */
    bool old = slot_of(c, at)->old, asked = slot_of(c, at)->state == RANK_STOPPING;
    bool done = event->code == 0 && !job->spec.service; /* a service is never done */
    if (!old && done) {
        MYR_ASSERT(job->exits < job->ranks); /* each rank ends once */
        job->exits++;
        if (job->after == AFTER_NONE && job->whole) {
            emit_job(c, event->job, MYR_CONTROL_FINISHING);
        }
        /* All have exited well, even if it was being restarted meanwhile. */
        if (job->exits == job->ranks && job->after <= AFTER_RESTART) {
            MYR_PROBE("all ranks of a gang have ended well");
            job->after = AFTER_DONE;
        }
    }
    bool up = slot_of(c, at)->state == RANK_UP;
    job_rank_gone(c, at);
    if (!old && !up && done && job->after == AFTER_NONE) {
        MYR_PROBE("a rank was done before it was up");
        gang_may_be_up(c, event->job); /* it was so quick that nobody said it was up */
    }
    if (old || asked || done) {
        return true;
    }
    job_failed(c, event->job, true);
    return event->code == 0;
}

void job_step(struct myr_control *c, const struct myr_event *event)
{
    MYR_ASSERT(event->kind == MYR_EVENT_STEP);
    struct job *job = job_of(c, event->job);
    /* Steps of an older incarnation, or while it is being stopped, are no progress. */
    if (event->epoch == job->epoch && job->state == MYR_CONTROL_RUNNING) {
        MYR_ASSERT(job->whole && job->ranks > 0 && job->after == AFTER_NONE);
        MYR_ASSERT(job->progress_ms <= c->head.steady_ms);
        job->progress_ms = c->head.steady_ms;
        if (!job->steps) {
            job->steps = 1;
            watch(c, event->job, c->head.steady_ms + c->policy.hang_ms);
        }
        job->step = event->value; /* lower than before where lost work is done again */
        /* A checkpoint stays, even where a later incarnation begins below it. */
        job->saved_step = event->saved > job->saved_step ? event->saved : job->saved_step;
    }
}
