/*
 * jobs: a job from its first start to its end.
 *
 * An incarnation starts whole or is taken back whole. Whatever ends it (a failure, the queue, a
 * person) goes the same way: every rank is ordered to stop, each must be known to be gone, and then
 * job_settle() does what is to come after.
 */
#include "state.h"

/* The queue gives it GPUs. */
static void placed(struct myr_control *c, const struct myr_decision *decision)
{
    MYR_ASSERT(decision->kind == MYR_DECIDE_START);
    struct job *job = job_of(c, decision->job);
    const struct myr_gang *gang = myr_queue_gang(c->queue, decision->job);
    if (job_is_over(job) || gang->count == 0) {
        return; /* decided before the queue heard what has happened since; a stop follows */
    }
    /* GPUs may have been kept for it since before their node was drained, or fell silent. */
    if (placing_fit(c, decision->job) != PLACE_FIT) {
        placing_mend(c, decision->job, decision->epoch);
        return;
    }
    /* Ranks of an earlier run that nobody heard of stay behind, and stop when they are heard. */
    leave_ranks(c, decision->job);
    emit_job(c, decision->job, MYR_CONTROL_PLACING);
    MYR_ASSERT(job->ranks == 0 && job->open == 0 && job->first_rank == MYR_NONE);
    /* The queue's own count: what it is told of this run must name it. */
    MYR_ASSERT(decision->epoch >= job->run);
    job->run = decision->epoch;
    job->taken = 0;
    job->confirmed = 0;
    uint32_t first = 0;
    for (uint32_t i = 0; i < gang->count; i++) {
        const struct myr_share *share = &gang->shares[i];
        uint32_t at = rank_add(c, &(struct rank){.job = decision->job,
                                                 .node = share->node,
                                                 .state = RANK_GRANTED,
                                                 .epoch = job->epoch + 1,
                                                 .first = first,
                                                 .gpus = share->gpus});
        if (job->last_rank == MYR_NONE) {
            job->first_rank = at;
        } else {
            slot_of(c, job->last_rank)->next_in_job = at;
        }
        job->last_rank = at;
        job->ranks++;
        /* Ranks of the job are numbered through its nodes, in the order of the gang. */
        first += (uint32_t)__builtin_popcountll(share->gpus);
    }
    MYR_ASSERT(job->ranks == gang->count);
    if (try_again_ms(job) > c->head.steady_ms) {
        try_later(c, decision->job);
    } else {
        launch(c, decision->job);
    }
    MYR_ASSERT(job->open == job->ranks || job->after == AFTER_RESTART);
}

/* It is over. Ranks that nobody heard of are still to be stopped when their nodes are back. */
static void end_one(struct myr_control *c, uint32_t id, enum myr_control_job_state state)
{
    MYR_ASSERT(state >= MYR_CONTROL_DONE);
    leave_ranks(c, id);
    watch(c, id, -1);
    emit_job(c, id, state);
    MYR_ASSERT(job_of(c, id)->first_rank == MYR_NONE && job_of(c, id)->ranks == 0);
    MYR_ASSERT(job_is_over(job_of(c, id)));
}

/*
 * Who waits for a job that did not end well never starts: it is over too, and so are those who wait
 * for it. They all came later, so one look over the jobs behind is enough.
 */
static void end(struct myr_control *c, uint32_t id, enum myr_control_job_state state)
{
    end_one(c, id, state);
    /* Jobs wait only for jobs that came before them. */
    size_t first = (size_t)(job_of(c, id) - c->jobs.items) + 1;
    for (size_t i = first; state != MYR_CONTROL_DONE && i < c->jobs.count; i++) {
        const struct job *job = &c->jobs.items[i];
        if (job->spec.after == 0 || job_is_over(job)) {
            continue;
        }
        MYR_ASSERT(job->spec.after <= job->id);
        const struct job *before = job_find(c, job->spec.after - 1);
        if (before &&
            (before->state == MYR_CONTROL_FAILED || before->state == MYR_CONTROL_CANCELLED)) {
            placing_cancel(c, job->id);
            end_one(c, job->id, MYR_CONTROL_CANCELLED);
        }
    }
}

/*
 * All ranks are gone: in place again when it is time and all its nodes are fit, or back to the
 * queue where that has taken its GPUs.
 */
static void restart(struct myr_control *c, uint32_t id)
{
    struct job *job = job_of(c, id);
    MYR_ASSERT(!job_is_over(job) && job->suspects == 0);
    if (job->taken) { /* the queue gives it another place, or has it wait */
        leave_ranks(c, id);
        job->after = AFTER_NONE;
        watch(c, id, -1);
        emit_job(c, id, MYR_CONTROL_QUEUED);
        MYR_ASSERT(job->ranks == 0);
        return;
    }
    MYR_ASSERT(job->open == 0 && job->ranks > 0);
    if (try_again_ms(job) > c->head.steady_ms) {
        timer_set(c, TIMER_JOB, id, try_again_ms(job));
        return;
    }
    switch (placing_fit(c, id)) {
    case PLACE_UNFIT:
        placing_mend(c, id, job->run); /* the queue stops this run, and finds other nodes */
        return;
    case PLACE_UNHEARD: /* it is back before long, or lost: then the queue knows */
        return;
    case PLACE_FIT:
        break;
    }
    for (uint32_t at = job->first_rank; at != MYR_NONE; at = slot_of(c, at)->next_in_job) {
        MYR_ASSERT(slot_of(c, at)->state == RANK_CLOSED);
        slot_of(c, at)->state = RANK_GRANTED;
    }
    launch(c, id);
}

/* Whether ranks of a list are open on nodes that are not lost. */
static bool is_stopping(const struct myr_control *c, uint32_t at)
{
    for (; at != MYR_NONE; at = slot_of(c, at)->next_in_job) {
        MYR_ASSERT(slot_of(c, at)->state != RANK_FREE);
        if (rank_is_open(slot_of(c, at)) && !node_of(c, slot_of(c, at)->node)->lost) {
            return true;
        }
    }
    return false;
}

/* An epoch job does not wait for what may run on nodes that were lost. */
static bool may_leave(const struct myr_control *c, const struct job *job)
{
    MYR_ASSERT(job->open > 0 && !job_is_over(job));
    return job->spec.restart == MYR_RESTART_EPOCH && !is_stopping(c, job->first_rank);
}

void job_settle(struct myr_control *c, uint32_t id)
{
    struct job *job = job_of(c, id);
    /* A test decides where it starts again; a job that ends does not wait for it. */
    if (job->after == AFTER_NONE || (job->after == AFTER_RESTART && job->suspects > 0) ||
        (job->open > 0 && (job->open > c->head.silent_nodes || !may_leave(c, job)))) {
        return;
    }
    /* In place it would run twice: beside ranks that may run it only starts elsewhere. */
    if (job->after == AFTER_RESTART && job->open > 0 && !job->taken) {
        return;
    }
    if (job->after == AFTER_RESTART && job->exits > 0 && job->whole) {
        job->after = AFTER_DONE; /* what one rank of a whole gang has finished, all have */
    }
    switch ((enum after)job->after) {
    case AFTER_DONE:
        placing_done(c, id);
        end(c, id, MYR_CONTROL_DONE);
        break;
    case AFTER_FAILED:
    case AFTER_CANCELLED:
        placing_cancel(c, id);
        end(c, id, job->after == AFTER_FAILED ? MYR_CONTROL_FAILED : MYR_CONTROL_CANCELLED);
        break;
    case AFTER_RESTART:
    case AFTER_NONE:
        restart(c, id);
        break;
    }
    /* What was to come has come, or has a time at which it is tried again. */
    MYR_ASSERT(job_is_over(job) || job->after == AFTER_NONE ||
               (job->after == AFTER_RESTART && job->ranks > 0 && job->deadline_ms >= 0));
    MYR_ASSERT(!job_is_over(job) || (job->ranks == 0 && job->open == 0));
}

/* Every rank is ordered to stop; 'after' says what for, and the more final one wins. */
void job_halt(struct myr_control *c, uint32_t id, enum after after, uint32_t grace_s)
{
    struct job *job = job_of(c, id);
    int64_t until_ms = c->head.steady_ms + 1000 * (int64_t)grace_s;
    MYR_ASSERT(!job_is_over(job) && after != AFTER_NONE);
    /* The first order sets the time to save; a later one may only shorten it. */
    if (job->after == AFTER_NONE || until_ms < job->grace_ms) {
        job->grace_ms = until_ms;
    }
    job->after = after > job->after ? (uint8_t)after : job->after;
    for (uint32_t at = job->first_rank; at != MYR_NONE; at = slot_of(c, at)->next_in_job) {
        const struct rank *rank = slot_of(c, at);
        if (rank_is_open(rank) && rank->state != RANK_STOPPING) {
            order_stop(c, at, grace_s);
        }
    }
    timer_set(c, TIMER_JOB, id, c->head.steady_ms + c->policy.retry_ms);
    MYR_ASSERT(job->up == 0 && job->after >= after);
    MYR_ASSERT(job->grace_ms <= until_ms);
}

void job_failed(struct myr_control *c, uint32_t id, bool own)
{
    struct job *job = job_of(c, id);
    if (job_is_over(job) || job->after != AFTER_NONE || job->ranks == 0) {
        return; /* it is being stopped already, or has nothing to stop */
    }
    MYR_ASSERT(job->epoch > 0 && job->open <= job->ranks);
    try_failed(c, job);
    if (own) {
        try_count(c, job);
    }
    emit_job(c, id, MYR_CONTROL_RECOVERING);
    /* No time to save: a gang that has lost a rank makes no progress. */
    job_halt(c, id, job->failures > job->spec.retries ? AFTER_FAILED : AFTER_RESTART, 0);
}

void job_cancel(struct myr_control *c, uint32_t id)
{
    struct job *job = job_of(c, id);
    if (job_is_over(job)) {
        return;
    }
    /* Without ranks there is nothing to save: it only leaves the queue. */
    if (job->ranks > 0) {
        emit_job(c, id, MYR_CONTROL_SAVING);
    }
    placing_cancel(c, id);
    job_halt(c, id, AFTER_CANCELLED, c->policy.grace_s);
    job_settle(c, id);
    /* Over at once, unless there is somebody to wait for. */
    MYR_ASSERT(job_is_over(job) || job->open > 0);
    MYR_ASSERT(job->ending && job->after == AFTER_CANCELLED);
}

/*
 * A run that the queue decided but that never came to be: its GPUs are free, unless ranks that an
 * epoch job has left behind are still being stopped there. Where nobody is heard it has none.
 */
void job_unrun(struct myr_control *c, uint32_t id)
{
    struct job *job = job_of(c, id);
    if (job->unrun == 0) {
        return;
    }
    if (is_stopping(c, job->first_old) || is_stopping(c, job->first_rank)) {
        return;
    }
    placing_over(c, id, job->unrun);
    job->unrun = 0;
}

/* Every rank is up and its node is heard: there is something to save, and somebody to do it. */
static bool can_save(const struct myr_control *c, const struct job *job)
{
    bool can = job->state == MYR_CONTROL_RUNNING;
    for (uint32_t at = job->first_rank; at != MYR_NONE; at = slot_of(c, at)->next_in_job) {
        const struct rank *rank = slot_of(c, at);
        can = can && rank->state == RANK_UP && !rank->suspect && !c->nodes[rank->node].silent;
    }
    MYR_ASSERT(!can || job->up == job->ranks);
    return can;
}

/* A scheduler below gave one of its nodes to others before it was up. */
static bool is_crowded_out(const struct myr_control *c, const struct job *job)
{
    bool away = false;
    for (uint32_t at = job->first_rank; at != MYR_NONE; at = slot_of(c, at)->next_in_job) {
        MYR_ASSERT(job_of(c, slot_of(c, at)->job) == job && !slot_of(c, at)->old);
        away = away || node_of(c, slot_of(c, at)->node)->drain & DRAIN_AWAY;
    }
    return away && !job->whole;
}

/* The queue takes its GPUs away. Those of ranks that are gone can be had at once. */
static void taken(struct myr_control *c, const struct myr_decision *decision)
{
    MYR_ASSERT(decision->kind == MYR_DECIDE_STOP);
    struct job *job = job_of(c, decision->job);
    /* A run that is not the present one: it was never carried out, or is over. */
    if (job_is_over(job) || job->run != decision->epoch) {
        job->unrun = decision->epoch;
        job_unrun(c, decision->job);
        return;
    }
    if (job->taken) {
        return;
    }
    /* A node that is given away before it fails is no failure of the job: it saves, and moves. */
    bool crowded = is_crowded_out(c, job);
    bool lost = decision->reason == MYR_STOP_NODE && !can_save(c, job) && !crowded;
    bool broken = lost || crowded || decision->reason == MYR_STOP_FAILED ||
                  job->state == MYR_CONTROL_RECOVERING;
    /* From now on ranks that are gone give their GPUs back at once. */
    job->taken = 1;
    /* Being stopped for another reason already, it has been counted. */
    if (lost && job->after == AFTER_NONE) {
        try_failed(c, job);
    }
    emit_job(c, decision->job, broken ? MYR_CONTROL_RECOVERING : MYR_CONTROL_SAVING);
    job_halt(c, decision->job, job->failures > job->spec.retries ? AFTER_FAILED : AFTER_RESTART,
             broken ? 0 : c->policy.grace_s);
    for (uint32_t at = job->first_rank; at != MYR_NONE; at = slot_of(c, at)->next_in_job) {
        struct rank *rank = slot_of(c, at);
        if (!rank_is_open(rank) || c->head.planted == MYR_PLANTED_DOUBLE_GRANT) {
            placing_gone(c, at);
        }
        if (rank->suspect && node_of(c, rank->node)->gone) { /* the verdict is in */
            MYR_ASSERT(job->suspects > 0);
            rank->suspect = 0;
            job->suspects--;
        }
    }
    job_settle(c, decision->job);
    MYR_ASSERT(job->up == 0); /* nobody of it goes on as if nothing were */
}

void job_carry_out(struct myr_control *c, const struct myr_decision *decision)
{
    MYR_ASSERT(job_find(c, decision->job));
    if (decision->kind == MYR_DECIDE_START) {
        placed(c, decision);
    } else if (decision->kind == MYR_DECIDE_STOP) {
        taken(c, decision);
    } /* a replacement shows in the gang of the start that follows */
}

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

/* Not whole in time: taken back, without counting against the job. */
void job_start_failed(struct myr_control *c, uint32_t id)
{
    MYR_ASSERT(job_of(c, id)->after == AFTER_NONE && job_of(c, id)->ranks > 0);
    try_count(c, job_of(c, id));
    emit_job(c, id, MYR_CONTROL_RECOVERING);
    job_halt(c, id, AFTER_RESTART, 0);
    job_settle(c, id);
}

/* A rank of an old incarnation is gone: out of the job's list. */
static void drop_old(struct myr_control *c, uint32_t at)
{
    struct job *job = job_of(c, slot_of(c, at)->job);
    uint32_t *link = &job->first_old;
    MYR_ASSERT(slot_of(c, at)->old && slot_of(c, at)->state == RANK_CLOSED);
    while (*link != at) {
        MYR_ASSERT(*link != MYR_NONE);
        link = &slot_of(c, *link)->next_in_job;
    }
    *link = slot_of(c, at)->next_in_job;
    rank_free(c, at);
    MYR_ASSERT(job->first_old != at);
    MYR_ASSERT((job->old_open > 0) == (job->first_old != MYR_NONE));
}

void job_rank_gone(struct myr_control *c, uint32_t at)
{
    uint32_t id = slot_of(c, at)->job;
    bool old = slot_of(c, at)->old;
    /* First it is known to be gone, then the queue may have its GPUs, then the job may go on. */
    rank_close(c, at);
    placing_gone(c, at);
    MYR_ASSERT(!rank_is_open(slot_of(c, at)));
    if (old) {
        drop_old(c, at);
    }
    job_unrun(c, id);
    if (!old) {
        job_settle(c, id);
    }
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
        return true; /* taken back since, and ordered to stop */
    }
    struct rank *rank = slot_of(c, at);
    struct job *job = job_of(c, event->job);
    MYR_ASSERT(rank->epoch == job->epoch && job->ranks > 0);
    if (event->code == MYR_START_OWN_FAULT && rank->state == RANK_STARTING) {
        job_rank_gone(c, at);
        if (job->after == AFTER_NONE) {
            own_fault(c, event->job);
        }
        return true;
    }
    if (event->code != 0 && rank->state == RANK_STARTING) {
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
            job->after = AFTER_DONE;
        }
    }
    bool up = slot_of(c, at)->state == RANK_UP;
    job_rank_gone(c, at);
    if (!old && !up && done && job->after == AFTER_NONE) {
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

void job_suspect(struct myr_control *c, uint32_t at)
{
    struct rank *rank = slot_of(c, at);
    MYR_ASSERT(rank->state != RANK_FREE);
    if (!rank->suspect && !rank->old) {
        struct job *job = job_of(c, rank->job);
        rank->suspect = 1;
        job->suspects++;
        MYR_ASSERT(job->suspects <= job->ranks);
    }
}

void job_cleared(struct myr_control *c, uint32_t at)
{
    struct rank *rank = slot_of(c, at);
    MYR_ASSERT(rank->state != RANK_FREE);
    if (rank->suspect) {
        struct job *job = job_of(c, rank->job);
        MYR_ASSERT(job->suspects > 0 && !rank->old);
        rank->suspect = 0;
        job->suspects--;
        job_settle(c, rank->job);
    }
}
