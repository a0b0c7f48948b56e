/*
 * tries: how often a job is started again, and when.
 */
#include "state.h"

/*
 * When it may start again: a second after an incarnation that came to nothing, two after the next,
 * then four, so that what comes late, as a mount does, is still waited for when retries are few.
 */
int64_t try_again_ms(const struct job *job)
{
    if (job->tries == 0 || job->stopped_ms < 0) {
        return 0;
    }
    int64_t wait_ms = job->tries <= 16 ? INT64_C(1000) << (job->tries - 1) : INT64_MAX;
    int64_t most_ms = 1000 * (int64_t)MYR_AGAIN_S_MAX;
    return job->stopped_ms + (wait_ms < most_ms ? wait_ms : most_ms);
}

/* All its ranks are its own and run nowhere: they are started when it is time. */
void try_later(struct myr_control *c, uint32_t id)
{
    struct job *job = job_of(c, id);
    MYR_ASSERT(job->open == 0 && job->epoch > 0 && try_again_ms(job) > c->head.steady_ms);
    for (uint32_t at = job->first_rank; at != MYR_NONE; at = slot_of(c, at)->next_in_job) {
        slot_of(c, at)->state = RANK_CLOSED;
        slot_of(c, at)->epoch = job->epoch;
        slot_of(c, at)->run = job->run;
    }
    job->up = job->exits = job->whole = 0;
    job->after = AFTER_RESTART;
    emit_job(c, id, MYR_CONTROL_RECOVERING);
    timer_set(c, TIMER_JOB, id, try_again_ms(job));
}

/* A service is given up when it fails again and again, not because it failed now and then. */
void try_failed(struct myr_control *c, struct job *job)
{
    int64_t up_ms = c->head.steady_ms - job->started_ms;
    MYR_ASSERT(up_ms >= 0 && !job_is_over(job));
    MYR_ASSERT(job->failures < UINT32_MAX);
    /* It was up for long enough that this failure says nothing about the ones before. */
    if (job->spec.service && job->whole && up_ms >= c->policy.first_step_ms) {
        MYR_PROBE("a service fails after a long time");
        job->failures = 0;
    }
    job->failures++;
}

/* An incarnation that made a step, or was up for long, says that the next one need not wait. */
void try_count(struct myr_control *c, struct job *job)
{
    int64_t up_ms = c->head.steady_ms - job->started_ms;
    MYR_ASSERT(up_ms >= 0 && job->after == AFTER_NONE);
    bool worked = job->steps || (job->whole && up_ms >= 1000 * (int64_t)MYR_AGAIN_S_MAX);
    job->tries = worked ? 0 : job->tries < UINT8_MAX ? job->tries + 1 : UINT8_MAX;
}
