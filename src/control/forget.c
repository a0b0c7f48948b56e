/*
 * forget: a job that is over is known for a while, so that whoever asks hears how it ended; then it
 * goes, and what is kept of it is the shell's business. So a state is as large as what goes on in
 * it, however long it lives.
 */
#include "myriad/sched/events.h"
#include "state.h"

/* Kept beside as many as there are jobs that go on: below it nothing is looked for. */
enum { ENDED_KEPT = 1024 };

/* Nothing of it runs or may run, nobody waits for it, and the queue does not know it any more. */
static bool may_go(const struct myr_control *c, const struct job *job)
{
    struct myr_job_view view;
    bool left = job->first_rank != MYR_NONE || job->first_old != MYR_NONE || job->unrun != 0 ||
                job->deadline_ms >= 0;
    return job_is_over(job) && !left && myr_queue_view(c->queue, job->id, &view) == MYR_ENOENT;
}

/*
 * When those that go on are the smaller half: so each search takes out as many as it looks at, but
 * for jobs of which something is left on nodes that nobody hears.
 */
void jobs_forget(struct myr_control *c)
{
    uint64_t stay = (uint64_t)myr_queue_jobs_most(c->queue) + c->ranks.count;
    size_t kept = 0;
    if (c->jobs.count <= ENDED_KEPT + 2 * stay) {
        return;
    }
    myr_u64map_done(&c->tokens);
    for (size_t i = 0; i < c->jobs.count; i++) {
        const struct job *job = &c->jobs.items[i];
        if (!may_go(c, job)) {
            bool added = myr_u64map_add(&c->tokens, job->spec.token, job->id);
            MYR_ASSERT(added);
            c->jobs.items[kept++] = *job;
        }
    }
    c->jobs.count = kept;
    MYR_ASSERT(kept <= stay + c->head.job_count && c->tokens.count == kept);
}
