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
        MYR_PROBE("a start was decided for who is over");
        return; /* decided before the queue heard what has happened since; a stop follows */
    }
    /* GPUs may have been kept for it since before their node was drained, or fell silent. */
    if (placing_fit(c, decision->job) != PLACE_FIT &&
        c->head.planted != MYR_PLANTED_CLAIM_ON_DRAINED) {
        MYR_PROBE("a start was decided on a node that is shut by now");
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
        MYR_PROBE("a start in place waits for its pause");
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
            MYR_PROBE("who waits for a job that did not end well is over too");
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
    bool blind = c->head.planted == MYR_PLANTED_BESIDE_ITSELF;
    switch (blind ? PLACE_FIT : placing_fit(c, id)) {
    case PLACE_UNFIT:
        MYR_PROBE("a start in place finds its place unfit");
        placing_mend(c, id, job->run); /* the queue stops this run, and finds other nodes */
        return;
    case PLACE_UNHEARD: /* it is back before long, or lost: then the queue knows */
        MYR_PROBE("a start in place finds a node silent");
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
        const struct node *node = node_of(c, slot_of(c, at)->node);
        bool away = c->head.planted == MYR_PLANTED_BESIDE_ITSELF ? node->silent : node->lost;
        if (rank_is_open(slot_of(c, at)) && !away) {
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
        MYR_PROBE("an epoch job is to start in place beside ranks that may run");
        if (c->head.planted != MYR_PLANTED_BESIDE_ITSELF) {
            return;
        }
        planted_forget_open(c, id);
    }
    if (job->after == AFTER_RESTART && job->exits > 0 && job->whole) {
        MYR_PROBE("a gang that is to start again has ranks that are done");
        job->after = AFTER_DONE; /* what one rank of a whole gang has finished, all have */
    }
    switch ((enum after)job->after) {
    case AFTER_DONE:
        placing_done(c, id);
        end(c, id, MYR_CONTROL_DONE);
        break;
    case AFTER_FAILED:
    case AFTER_CANCELLED:
        placing_end(c, id);
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
    if (job->taken && job->run == decision->epoch) {
        return; /* the core knows, and may have ended the job meanwhile */
    }
    /* A run that is not the present one: it was never carried out, or is over. */
    if (job_is_over(job) || job->run != decision->epoch) {
        MYR_PROBE("a run is stopped that never came to be");
        job->unrun = decision->epoch;
        job_unrun(c, decision->job);
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
        MYR_PROBE("a gang loses a node that cannot save");
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
            MYR_PROBE("a node is given up while its test is awaited");
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
