/* submit: a job that is asked for: taken, known already, or refused. */
#include "state.h"

/* For a job that is not over, or has ended well; of one that is forgotten nobody knows. */
static bool may_wait(const struct myr_control *c, uint32_t after)
{
    MYR_ASSERT(c->head.job_count < MYR_NONE); /* which is nobody's number */
    const struct job *before = after > 0 ? job_find(c, after - 1) : NULL;
    return after == 0 || (before && before->state <= MYR_CONTROL_DONE);
}

/* The queue refuses what no cluster could hold; what it takes has an id from then on. */
void job_submit(struct myr_control *c, const struct myr_job_spec *spec)
{
    /* The same token again is the same job, asked for by somebody who heard no answer. */
    const uint32_t *known = myr_u64map_find(&c->tokens, spec->token);
    uint32_t id = known ? *known : c->head.job_count;
    bool fits = spec->restart < MYR_RESTARTS && spec->retries <= MYR_JOB_RETRIES_MAX &&
                spec->lease_s <= MYR_LEASE_S_MAX && spec->limit_s >= 0 && spec->service <= 1 &&
                spec->held <= 1 && may_wait(c, spec->after) &&
                (spec->date_min == 0 || (spec->after == 0 && !spec->held));
    MYR_ASSERT(!known || job_of(c, id)->spec.token == spec->token);
    bool taken = known || (fits && placing_submit(c, spec));
    emit(c, &(struct myr_effect){.kind = MYR_EFFECT_ACCEPT,
                                 .state = taken,
                                 .node = MYR_NONE,
                                 .job = taken ? id : MYR_NONE,
                                 .gpus = spec->token});
    if (taken && !known) {
        struct job job = {.spec = *spec,
                          .id = id,
                          .first_rank = MYR_NONE,
                          .last_rank = MYR_NONE,
                          .first_old = MYR_NONE,
                          .submitted_ms = c->head.steady_ms,
                          .started_ms = -1,
                          .stopped_ms = -1,
                          .deadline_ms = -1};
        myr_vec_push(&c->jobs, job);
        c->head.job_count++;
        MYR_ASSERT(c->head.job_count == id + 1 && job_find(c, id));
        bool added = myr_u64map_add(&c->tokens, spec->token, id);
        MYR_ASSERT(added && c->tokens.count == c->jobs.count);
        MYR_ASSERT(spec->after <= id); /* so one look behind a job finds all who wait for it */
    }
}
