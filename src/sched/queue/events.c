#include "myriad/sched/events.h"

#include "queue/state.h"

/* One node in so many may be avoided at the same time: a bad job must not close the cluster. */
enum { AVOID_PART = 16 };

/* Whether an event of this incarnation can be about a job that has GPUs. */
static int check_on(const struct myr_queue *q, int64_t now_s, uint32_t id, uint32_t epoch)
{
    if (id >= q->job_count) {
        return MYR_ENOENT;
    }
    const struct qjob *job = queue_job(q, id);
    /* A job that is forgotten has no epoch to compare with: what comes for it is late. */
    if (now_s < q->now_s || (job->id == id && epoch > job->epoch) || epoch == 0) {
        return MYR_EINVAL;
    }
    return epoch == job->epoch && queue_is_on(job) && q->policy.confirm ? MYR_OK : MYR_ESTALE;
}

int myr_queue_started(struct myr_queue *q, int64_t now_s, uint32_t id, uint32_t epoch)
{
    int rc = check_on(q, now_s, id, epoch);
    if (rc < 0) {
        return rc;
    }
    if (queue_job(q, id)->state != MYR_JOB_STARTING) {
        return MYR_ESTALE;
    }
    rc = queue_advance(q, now_s);
    MYR_ASSERT(rc == MYR_OK);
    const struct qjob *job = queue_job(q, id);
    MYR_ASSERT(job->epoch == epoch);
    MYR_ASSERT(job->state == MYR_JOB_STARTING);
    queue_begin_work(q, id);
    /* A node starts ranks when those of older incarnations are gone. */
    for (uint32_t i = 0; job->leaving > 0 && i < job->gang.count; i++) {
        uint32_t node = job->gang.shares[i].node;
        /*
         * Nodes may hold ranks of any older epoch: a job with epochs starts
         * over several of them.
         */
        for (uint32_t old = 1; old < epoch; old++) {
            uint32_t at = queue_stake_find(q, node, id, old);
            if (at != MYR_NONE) {
                queue_stake_gone(q, node, at);
            }
        }
    }
    return MYR_OK;
}

/* A node where a start failed, for some time; at most a part of the cluster. */
static void avoid_node(struct myr_queue *q, uint32_t node)
{
    MYR_ASSERT(node < q->shape.nodes);
    bool known = q->closed[node] & CLOSED_AVOID;
    /* Closed once is enough, and a start that fails everywhere says more about the job. */
    if (q->policy.avoid_s <= 0 || known || q->avoids.count >= 1 + q->shape.nodes / AVOID_PART) {
        return;
    }
    struct avoid avoid;
    MYR_ASSERT(node < q->shape.nodes);
    memset(&avoid, 0, sizeof(avoid));
    avoid.node = node;
    avoid.until_s = queue_after_s(q->now_s, q->policy.avoid_s);
    myr_vec_push(&q->avoids, avoid);
    queue_close_node(q, node, CLOSED_AVOID, true);
    queue_cells_node(q, node);
    queue_wake_at(q, avoid.until_s);
    MYR_ASSERT(avoid.until_s > q->now_s);
    MYR_PROBE("a node is avoided after a start failed there");
}

static bool is_of_gang(const struct qjob *job, uint32_t node)
{
    MYR_ASSERT(queue_is_on(job) && job->gang.count > 0);
    for (uint32_t i = 0; i < job->gang.count; i++) {
        if (job->gang.shares[i].node == node) {
            return true;
        }
    }
    return false;
}

int myr_queue_mend(struct myr_queue *q, int64_t now_s, uint32_t id, uint32_t epoch,
                   const uint32_t *bad, uint32_t count)
{
    MYR_TRY(check_on(q, now_s, id, epoch));
    /* All of them are checked before the first one is avoided. */
    for (uint32_t i = 0; i < count; i++) {
        if (bad[i] >= q->shape.nodes) {
            return MYR_ERANGE;
        }
        if (!is_of_gang(queue_job(q, id), bad[i])) {
            return MYR_ESTALE; /* the word is late: the job has moved */
        }
    }
    int rc = queue_advance(q, now_s);
    MYR_ASSERT(rc == MYR_OK);
    MYR_ASSERT(queue_job(q, id)->epoch == epoch && queue_is_on(queue_job(q, id)));
    for (uint32_t i = 0; i < count; i++) {
        avoid_node(q, bad[i]);
    }
    queue_break(q, id, MYR_STOP_FAILED);
    MYR_ASSERT(!queue_is_on(queue_job(q, id)));
    return MYR_OK;
}

/* The last rank of a job that was stopped is gone: it waits again, or is over. */
static void left(struct myr_queue *q, uint32_t id)
{
    MYR_ASSERT(id < q->job_count);
    const struct qjob *job = queue_job(q, id);
    /* A job with epochs may be anywhere else by now; only a strict one waits here. */
    if (job->leaving == 0 && job->state == MYR_JOB_STOPPING) {
        queue_settle(q, id);
    }
}

/* All stakes of one incarnation, wherever they are; returns how many. */
static uint32_t all_gone(struct myr_queue *q, uint32_t id, uint32_t epoch, bool really)
{
    MYR_ASSERT(epoch > 0); /* 0 is of claims */
    uint32_t count = 0;
    for (uint32_t at = 0; at < q->stakes.count; at++) {
        const struct stake *stake = &q->stakes.items[at];
        /* Entries not in use have no node. */
        if (stake->node != MYR_NONE && stake->job == id && stake->epoch == epoch) {
            MYR_ASSERT(stake->node < q->shape.nodes);
            count++;
            if (really) {
                queue_stake_gone(q, stake->node, at);
            }
        }
    }
    MYR_ASSERT(count <= q->shape.nodes);
    return count;
}

int myr_queue_stopped(struct myr_queue *q, int64_t now_s, uint32_t id, uint32_t epoch,
                      uint32_t node)
{
    if (id >= q->job_count) {
        return MYR_ENOENT;
    }
    if (node != MYR_NONE && node >= q->shape.nodes) {
        return MYR_ERANGE;
    }
    const struct qjob *job = queue_job(q, id);
    if (now_s < q->now_s || epoch == 0 || (job->id == id && epoch > job->epoch)) {
        return MYR_EINVAL;
    }
    /* A stop of one node, or of the whole incarnation where none is named. */
    uint32_t at = node == MYR_NONE ? MYR_NONE : queue_stake_find(q, node, id, epoch);
    if (node == MYR_NONE ? job->leaving == 0 || all_gone(q, id, epoch, false) == 0
                         : at == MYR_NONE) {
        return MYR_ESTALE;
    }
    int rc = queue_advance(q, now_s);
    /* Who is still leaving is not forgotten as time goes on, so both are what they were. */
    MYR_ASSERT(rc == MYR_OK);
    MYR_ASSERT(job->id == id);
    MYR_ASSERT(job->leaving > 0);
    MYR_ASSERT(node == MYR_NONE || q->stakes.items[at].job == id);
    uint32_t before = job->leaving;
    if (node == MYR_NONE) {
        (void)all_gone(q, id, epoch, true);
    } else {
        queue_stake_gone(q, node, at);
    }
    MYR_ASSERT(job->leaving < before);
    left(q, id);
    return MYR_OK;
}

int myr_queue_fenced(struct myr_queue *q, int64_t now_s, uint32_t node)
{
    if (node >= q->shape.nodes) {
        return MYR_ERANGE;
    }
    int rc = queue_advance(q, now_s);
    if (rc < 0) {
        return rc;
    }
    /* The next one is read first: the stake goes from the list. */
    for (uint32_t at = q->stake_first[node]; at != MYR_NONE;) {
        uint32_t next = q->stakes.items[at].next, id = q->stakes.items[at].job;
        /* A claim says nothing about what runs there. */
        if (q->stakes.items[at].epoch != 0) {
            queue_stake_gone(q, node, at);
            left(q, id);
        }
        at = next;
    }
    return MYR_OK;
}

int myr_queue_exited(struct myr_queue *q, int64_t now_s, uint32_t id, uint32_t epoch,
                     enum myr_exit how)
{
    MYR_TRY(check_on(q, now_s, id, epoch));
    if ((uint32_t)how > MYR_EXIT_REQUEUE) {
        return MYR_EINVAL;
    }
    int rc = queue_advance(q, now_s);
    MYR_ASSERT(rc == MYR_OK);
    struct qjob *job = queue_job(q, id);
    MYR_ASSERT(job->epoch == epoch);
    MYR_ASSERT(queue_is_on(job));
    uint32_t service = job->service;
    MYR_ASSERT(service == MYR_NONE || service < q->services.count);
    /* A node that asks for the job to be queued again has not failed it. */
    job->attempts += how == MYR_EXIT_FAILED;
    if (how == MYR_EXIT_OK) {
        queue_end_job(q, id, MYR_RESULT_OK, MYR_STOP_NONE);
    } else if (job->spec.attempts_max && job->attempts >= job->spec.attempts_max) {
        MYR_PROBE("a job has used up its attempts");
        queue_end_job(q, id, MYR_RESULT_FAILED, MYR_STOP_FAILED);
    } else {
        /* The same replica waits again, so no other one is needed. */
        queue_stop_job(q, id, MYR_STOP_FAILED, MYR_NONE);
        service = MYR_NONE;
    }
    MYR_ASSERT(!queue_is_on(queue_job(q, id)));
    if (service != MYR_NONE) {
        queue_replace_replica(q, service, id);
    }
    return MYR_OK;
}

/* Each there, up, and named once. Marks, since a whole cluster may be lost at once. */
static int check_lost(const struct myr_queue *q, const uint32_t *nodes, uint32_t count)
{
    MYR_CLEANUP(myr_free_at) uint8_t *named = myr_xcalloc(q->shape.nodes / 8 + 1, 1);
    for (uint32_t i = 0; i < count; i++) {
        if (nodes[i] >= q->shape.nodes) {
            return MYR_ERANGE;
        }
        uint8_t *mark = &named[nodes[i] / 8], bit = (uint8_t)(1U << nodes[i] % 8);
        if (q->closed[nodes[i]] & CLOSED_DOWN || *mark & bit) {
            return MYR_ESTALE;
        }
        *mark |= bit;
    }
    return MYR_OK;
}

int myr_queue_lost(struct myr_queue *q, int64_t now_s, const uint32_t *nodes, uint32_t count)
{
    /* All of them are checked before the first one is lost. */
    MYR_TRY(check_lost(q, nodes, count));
    int rc = count ? queue_advance(q, now_s) : MYR_EINVAL;
    if (rc == MYR_OK) {
        queue_lose_nodes(q, nodes, count);
    }
    return rc;
}

/* Opens or closes a node for one reason; MYR_ESTALE when it is so already. */
static int turn_node(struct myr_queue *q, int64_t now_s, uint32_t node, uint8_t bit, bool closed)
{
    MYR_ASSERT(bit && !(bit & (bit - 1)));
    if (node >= q->shape.nodes) {
        return MYR_ERANGE;
    }
    /* Said twice: nothing changes, and the caller is told so. */
    if (!(q->closed[node] & bit) == !closed) {
        return MYR_ESTALE;
    }
    int rc = queue_advance(q, now_s);
    if (rc == MYR_OK) {
        queue_close_node(q, node, bit, closed);
        MYR_ASSERT(!(q->closed[node] & bit) == !closed);
        queue_cells_node(q, node);
    }
    return rc;
}

int myr_queue_back(struct myr_queue *q, int64_t now_s, uint32_t node)
{
    return turn_node(q, now_s, node, CLOSED_DOWN, false);
}

int myr_queue_drain(struct myr_queue *q, int64_t now_s, uint32_t node, bool drain)
{
    /* Checked here as well: what is refused below must not have changed anything. */
    if (drain && node < q->shape.nodes && now_s >= q->now_s && q->closed[node] & CLOSED_SPARE) {
        MYR_ASSERT(q->spares_kept > 0);
        queue_close_node(q, node, CLOSED_SPARE, false); /* a spare must be good for use */
        q->spares_kept--;
        MYR_ASSERT(!(q->closed[node] & CLOSED_SPARE));
    }
    return turn_node(q, now_s, node, CLOSED_DRAIN, drain);
}
