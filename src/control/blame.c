/*
 * blame: nodes of a job that are looked at, since it is not up in time, or hangs.
 */
#include "state.h"

/* One part of a gang in so many, or one node, is late by itself; more are late for a reason. */
enum { LATE_PART = 16 };

/*
 * A start window is over. A late node has not said that it could not, as a bad answer does: an
 * image may be slow to come. All that are heard are tested, and so replaced if they can be; but
 * only few at a time are blamed, for a slow store must not cost a cluster its nodes.
 */
void node_blame_late(struct myr_control *c, uint32_t id)
{
    const struct job *job = job_of(c, id);
    MYR_CLEANUP(myr_free_at) uint32_t *late = myr_xcalloc(job->ranks, sizeof(*late));
    uint32_t count = 0, ranks = job->ranks;
    MYR_ASSERT(job->after == AFTER_NONE && job->state == MYR_CONTROL_STARTING);
    MYR_PROBE("nodes of a gang are late");
    for (uint32_t at = job->first_rank; at != MYR_NONE; at = slot_of(c, at)->next_in_job) {
        uint32_t node = slot_of(c, at)->node;
        if (slot_of(c, at)->state == RANK_STARTING && !node_of(c, node)->silent) {
            late[count++] = node;
        }
    }
    job_start_failed(c, id);
    for (uint32_t i = 0; i < count; i++) {
        if (count == 1 || count <= ranks / LATE_PART) {
            MYR_PROBE("few nodes of a gang are late");
            node_blame(c, late[i], id, true);
        } else {
            node_test(c, late[i]);
        }
    }
}

void node_blame_all(struct myr_control *c, uint32_t job)
{
    /* All were ordered to stop: nobody starts again before the tests are in. */
    MYR_ASSERT(!job_is_over(job_of(c, job)) && job_of(c, job)->after != AFTER_NONE);
    /* Nobody knows which of them holds up the others. */
    for (uint32_t at = job_of(c, job)->first_rank; at != MYR_NONE;
         at = slot_of(c, at)->next_in_job) {
        uint32_t id = slot_of(c, at)->node;
        job_suspect(c, at);
        MYR_ASSERT(slot_of(c, at)->suspect);
        if (!node_of(c, id)->silent) {
            node_test(c, id);
        }
    }
}
