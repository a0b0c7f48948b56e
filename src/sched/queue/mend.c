#include <stdlib.h>

#include "queue/state.h"

/*
 * A gang that has lost nodes keeps the others. Its place is a claim on all its nodes, the bad ones
 * too: it starts again when each of those is replaced, or is well again by itself. Losses, failed
 * starts, drains and windows come here alike, for gangs that run and for claims, the second loss as
 * the first. A place that is not filled within policy.mend_s is given up, and the job waits like
 * others, but spares still serve it.
 *
 * Why a claim, and not all or nothing in one step: with one node missing the gang used to give all
 * others back; spares were filled up from them, smaller jobs went there, and a gang of the size of
 * the cluster stood for weeks.
 */

/* Lost, or closed to what is placed anew. */
static bool is_bad(const struct myr_queue *q, uint32_t node)
{
    MYR_SLOW_ASSERT(node < q->shape.nodes);
    return q->closed[node] & CLOSED_BAD;
}

uint32_t queue_count_bad(const struct myr_queue *q, const struct myr_gang *gang)
{
    uint32_t bad = 0;
    for (uint32_t i = 0; i < gang->count; i++) {
        bad += is_bad(q, gang->shares[i].node);
    }
    MYR_ASSERT(bad <= gang->count);
    return bad;
}

static bool is_whole(const struct myr_queue *q, uint32_t node)
{
    MYR_SLOW_ASSERT(node < q->shape.nodes);
    return gpu_count(myr_placer_free_mask(q->placer, node)) == q->shape.gpus_per_node;
}

void queue_break(struct myr_queue *q, uint32_t id, enum myr_stop_reason reason)
{
    struct qjob *job = queue_job(q, id);
    MYR_ASSERT(queue_is_on(job));
    /* Owners find room in their cells again; who is to be held waits for its user. */
    if (!q->policy.confirm || job->owner != MYR_NONE || job->user_held) {
        queue_stop_job(q, id, reason, MYR_NONE);
        return;
    }
    uint32_t gpus = job->spec.gpus;
    queue_unload_job(q, id, reason, MYR_NONE);
    job->spec.gpus = gpus; /* as many as it had, if fewer than it wished for */
    job->pending = 0;
    for (uint32_t i = 0; i < job->gang.count; i++) {
        const struct myr_share *share = &job->gang.shares[i];
        uint64_t left = queue_left_gpus(q, share->node) & share->gpus, now = share->gpus & ~left;
        MYR_ASSERT((myr_placer_free_mask(q->placer, share->node) & share->gpus) == now);
        if (now) {
            myr_place_take(q->placer, share->node, now);
        }
        /* Only its own ranks are leaving; those of a job with epochs it need not wait for. */
        job->pending += job->spec.restart_epoch ? 0 : gpu_count(left);
    }
    queue_claim_gang(q, id);
    MYR_ASSERT(job->state == MYR_JOB_CLAIMS && job->pending <= gpus);
}

/* By node: whether the gang has it; by group: whether the gang has nodes there that are well. */
struct marks {
    uint8_t *in, *near;
};

/* How far a node lies from a bad one and from the nodes that stay, nearest first. */
static uint32_t distance(const struct myr_queue *q, const struct marks *marks, uint32_t bad,
                         uint32_t node)
{
    MYR_ASSERT(bad != node);
    /* Groups and pods are runs of node numbers. */
    uint32_t group = node / q->shape.group_nodes;
    return group == bad / q->shape.group_nodes                     ? 0
           : marks->near[group]                                    ? 1
           : node / q->shape.pod_nodes == bad / q->shape.pod_nodes ? 2
                                                                   : 3;
}

/* The nearest spare or open node with as many free GPUs as the share has; spares first. */
static uint32_t nearest(const struct myr_queue *q, const struct qjob *job,
                        const struct myr_gang *gang, const struct marks *marks,
                        const struct myr_share *share)
{
    uint32_t best = MYR_NONE, best_far = UINT32_MAX, wanted = gpu_count(share->gpus);
    /* In a full cluster nobody is asked node by node: that took most of the time of a loss. */
    if (q->spares_kept == 0 && !myr_place_fits(q->placer, wanted)) {
        return MYR_NONE;
    }
    /* Nothing is nearer than a spare of the same group, so the search ends there. */
    for (uint32_t node = 0; node < q->shape.nodes && best_far > 0; node++) {
        if ((q->closed[node] & ~CLOSED_SPARE) || marks->in[node] || queue_in_pool(q, node) ||
            gpu_count(myr_placer_free_mask(q->placer, node)) < wanted) {
            continue;
        }
        /* Spares are kept for this: at the same distance one goes before an open node. */
        uint32_t far =
            2 * distance(q, marks, share->node, node) + !(q->closed[node] & CLOSED_SPARE);
        if (far < best_far && queue_may_join(q, job, gang, node)) {
            best_far = far;
            best = node;
        }
    }
    return best;
}

/* Another node for each that is bad, as far as there are any; returns how many stay bad. */
static uint32_t choose(const struct myr_queue *q, const struct qjob *job, struct marks *marks,
                       struct myr_gang *ret)
{
    uint32_t left = 0;
    MYR_ASSERT(ret->count == job->gang.count);
    for (uint32_t i = 0; i < ret->count; i++) {
        struct myr_share *share = &ret->shares[i];
        uint32_t node = is_bad(q, share->node) ? nearest(q, job, ret, marks, share) : MYR_NONE;
        if (node == MYR_NONE) {
            left += is_bad(q, share->node);
            continue;
        }
        /* Which GPUs of the new node does not matter, only how many. */
        uint64_t mask = myr_placer_free_mask(q->placer, node), taken = 0;
        MYR_ASSERT(gpu_count(mask) >= gpu_count(share->gpus) && !is_bad(q, node));
        for (uint32_t g = gpu_count(share->gpus); g > 0; g--) {
            taken |= mask & (0 - mask);
            mask &= mask - 1;
        }
        marks->in[node] = 1;
        marks->near[node / q->shape.group_nodes] = 1;
        *share = (struct myr_share){node, taken};
    }
    return left;
}

/* A spare that is used is no spare any more. */
static void take_node(struct myr_queue *q, const struct myr_share *share)
{
    MYR_ASSERT(share->gpus != 0);
    if (q->closed[share->node] & CLOSED_SPARE) {
        MYR_ASSERT(q->spares_kept > 0);
        queue_close_node(q, share->node, CLOSED_SPARE, false);
        q->spares_kept--;
    }
    MYR_ASSERT(!q->closed[share->node]);
    myr_place_take(q->placer, share->node, share->gpus);
}

/* Share by share; shares stay in the order of ranks: each new node stands where the bad one did. */
static void swap_shares(struct myr_queue *q, uint32_t id, const struct myr_gang *mended)
{
    struct qjob *job = queue_job(q, id);
    MYR_ASSERT(mended->count == job->gang.count && job->state == MYR_JOB_CLAIMS);
    for (uint32_t i = 0; i < mended->count; i++) {
        struct myr_share *share = &job->gang.shares[i];
        const struct myr_share *now = &mended->shares[i];
        if (share->node == now->node) {
            continue;
        }
        queue_claim_leave(q, id, share);
        MYR_PROBE("a bad node of a place is replaced");
        take_node(q, now);
        queue_stake_add(q, &(struct stake){.job = id, .node = now->node, .gpus = now->gpus});
        queue_decide_add(q, &(struct myr_decision){.kind = MYR_DECIDE_REPLACE,
                                                   .reason = MYR_STOP_NODE,
                                                   .job = id,
                                                   .epoch = job->epoch,
                                                   .by = MYR_NONE,
                                                   .node = share->node,
                                                   .spare = now->node});
        *share = *now;
    }
}

/*
 * Other nodes for the bad ones: for all of them, or with 'some' for as many as there are. Returns
 * whether the place is whole now.
 */
static bool fill(struct myr_queue *q, uint32_t id, bool some)
{
    const struct qjob *job = queue_job(q, id);
    const struct myr_gang *gang = &job->gang;
    struct myr_gang mended = {gang->count, myr_xcalloc(gang->count, sizeof(struct myr_share))};
    struct marks marks = {myr_xcalloc(q->shape.nodes, 1),
                          myr_xcalloc(q->shape.nodes / q->shape.group_nodes + UINT64_C(1), 1)};
    memcpy(mended.shares, gang->shares, gang->count * sizeof(struct myr_share));
    for (uint32_t i = 0; i < gang->count; i++) {
        uint32_t node = gang->shares[i].node;
        marks.in[node] = 1;
        marks.near[node / q->shape.group_nodes] |= !is_bad(q, node);
    }
    bool whole = choose(q, job, &marks, &mended) == 0;
    /*
     * A part of a gang that is to lie in one way could stand in the way of the rest: a new node in
     * another leaf, and then the bad one is well again.
     */
    if (whole || (some && job->request == MYR_NONE)) {
        swap_shares(q, id, &mended);
    }
    MYR_ASSERT(!whole || queue_count_bad(q, gang) == 0);
    free(mended.shares);
    free(marks.in);
    free(marks.near);
    return whole;
}

/* A job that also runs with fewer GPUs goes on without the nodes that nothing replaces. */
static bool shrink(struct myr_queue *q, uint32_t id)
{
    struct qjob *job = queue_job(q, id);
    bool shaped = job->request != MYR_NONE && q->requests.items[job->request].traffic;
    uint32_t gpus = 0, count = 0;
    for (uint32_t i = 0; i < job->gang.count; i++) {
        const struct myr_share *share = &job->gang.shares[i];
        gpus += is_bad(q, share->node) ? 0 : gpu_count(share->gpus);
    }
    if (job->spec.gpus_min == 0 || gpus < job->spec.gpus_min || shaped) {
        return false;
    }
    for (uint32_t i = 0; i < job->gang.count; i++) {
        struct myr_share share = job->gang.shares[i];
        if (is_bad(q, share.node)) {
            queue_claim_leave(q, id, &share);
        } else {
            job->gang.shares[count++] = share;
        }
    }
    MYR_ASSERT(count > 0 && count < job->gang.count && gpus <= job->spec.gpus);
    job->gang.count = count;
    job->spec.gpus = gpus;
    return true;
}

/*
 * It waits in its line again. The nodes of a gang are held for it, and guests run there until it
 * has the rest; 'broken' says in its line that spares serve it, and that it may stop those guests.
 * A guest has borrowed its nodes, and a job of one node has none left to keep.
 */
static void give_up(struct myr_queue *q, uint32_t id)
{
    struct qjob *job = queue_job(q, id);
    uint32_t count = job->gang.count;
    MYR_PROBE("a place is given up");
    MYR_ASSERT(job->state == MYR_JOB_CLAIMS);
    struct myr_share *place = myr_xcalloc(count, sizeof(*place));
    memcpy(place, job->gang.shares, count * sizeof(*place));
    job->broken = job->broken && count > 1 && job->guest_of == MYR_NONE;
    queue_claim_drop(q, id);
    queue_settle(q, id);
    if (job->state == MYR_JOB_WAITS && job->broken) {
        queue_hold_place(q, id, place, count);
    }
    free(place);
    MYR_ASSERT(job->state != MYR_JOB_CLAIMS);
}

/* Jobs of lower priority run, and it may stop them: that is faster than to wait for repairs. */
static bool may_make_room(const struct myr_queue *q, const struct qjob *job)
{
    bool any = false;
    for (int32_t p = -MYR_PRIORITY_MAX; p < job->spec.priority && !any; p++) {
        any = q->priority_runs[p + MYR_PRIORITY_MAX] > 0;
    }
    return any && (q->policy.preempt || job->spec.reclaims);
}

/* Whether the place is whole, or was made so; false: given up, or still 'broken'. */
static bool mend(struct myr_queue *q, uint32_t id)
{
    struct qjob *job = queue_job(q, id);
    if (queue_count_bad(q, &job->gang) == 0) {
        job->broken = 0;
        return true;
    }
    if (job->owner != MYR_NONE) {
        MYR_PROBE("a place in cells of its own is broken");
        give_up(q, id); /* its cells find other nodes */
        return false;
    }
    if (!job->broken) {
        job->broken = 1;
        job->held_s = q->now_s;
        if (q->policy.mend_s > 0) {
            myr_heap_push(&q->wakes, q->now_s + q->policy.mend_s, id);
        }
    }
    if (fill(q, id, false) || shrink(q, id)) {
        job->broken = 0;
    } else if ((q->now_s - job->held_s >= (int64_t)q->policy.mend_s || may_make_room(q, job) ||
                job->guest_of != MYR_NONE) && /* it keeps nothing of what it has borrowed */
               (job->leaving == 0 || job->spec.restart_epoch)) {
        give_up(q, id); /* not while it could start nowhere, for ranks that may be alive */
    }
    return job->state == MYR_JOB_CLAIMS && !job->broken;
}

/*
 * Places that can be whole are made so, in the order in which they were claimed. Of the rest the
 * one that has been broken for longest takes what comes free, node by node, so that smaller jobs do
 * not take it first; one alone, so that no two keep from each other what would be enough for one.
 */
void queue_mend_places(struct myr_queue *q)
{
    uint32_t oldest = MYR_NONE;
    for (size_t i = 0; i < q->claims.count;) {
        uint32_t id = q->claims.items[i];
        const struct qjob *job = queue_job(q, id);
        if (job->state == MYR_JOB_CLAIMS && !mend(q, id) && job->state == MYR_JOB_CLAIMS &&
            (oldest == MYR_NONE || job->held_s < queue_job(q, oldest)->held_s)) {
            oldest = id;
        }
        /* Who gave up has left the list here, and may stand at its end. */
        i += i < q->claims.count && q->claims.items[i] == id;
    }
    if (oldest != MYR_NONE) {
        MYR_PROBE("a place that stays broken takes what comes free");
        (void)fill(q, oldest, true);
    }
}

/* Starts the job if it may with the spares open to it; those that it leaves are spares again. */
static bool start_on_spares(struct myr_queue *q, uint32_t id)
{
    uint32_t *spares = myr_xcalloc(q->spares_kept, sizeof(*spares)), count = 0;
    uint64_t ends = q->ends;
    for (uint32_t node = 0; node < q->shape.nodes; node++) {
        if (q->closed[node] & CLOSED_SPARE) {
            MYR_ASSERT(count < q->spares_kept);
            spares[count++] = node;
            queue_close_node(q, node, CLOSED_SPARE, false);
        }
    }
    /* What is held for it is its own, and what is held for those behind it gives way. */
    int32_t priority = queue_job(q, id)->spec.priority;
    queue_lift_holds(q, id, priority, true);
    bool started = queue_may_start(q, id) && queue_start(q, id);
    if (started) {
        queue_hand_over(q, id, &queue_job(q, id)->gang);
    }
    queue_lift_holds(q, id, priority, false);
    for (uint32_t i = 0; i < count; i++) {
        if (is_whole(q, spares[i])) {
            queue_close_node(q, spares[i], CLOSED_SPARE, true);
        } else {
            q->spares_kept--;
        }
    }
    /* Nodes that were opened and closed again make no other choice of a hold better. */
    q->ends = started ? q->ends : ends;
    free(spares);
    return started;
}

/* Whether the job may stop a guest on a node; 'held': for it, or for who gives way to it. */
static bool may_send_away(const struct myr_queue *q, uint32_t id, uint32_t guest, bool held)
{
    const struct qjob *job = queue_job(q, guest);
    return !job->spec.fixed && (job->guest_of == id || (held && job->guest_of != MYR_NONE));
}

/* GPUs of a node that the job can have: free ones, and those of guests. */
static uint32_t clearable(const struct myr_queue *q, uint32_t id, uint32_t node)
{
    uint32_t gpus = gpu_count(queue_claimable_gpus(q, node));
    bool held = q->closed[node] & CLOSED_HOLD;
    for (uint32_t i = 0; i < q->node_job_count[node]; i++) {
        size_t at = (size_t)node * q->shape.gpus_per_node + i;
        gpus += may_send_away(q, id, q->node_jobs[at], held) ? q->node_job_gpus[at] : 0;
    }
    return gpus;
}

/* Whether the job may have the node beside those in q->nodes; 'others': it is not held for it. */
static bool may_take(struct myr_queue *q, const struct qjob *job, uint32_t node, bool others)
{
    uint8_t closed = others ? (uint8_t) ~(CLOSED_SPARE | CLOSED_HOLD) : CLOSED_BAD;
    return !(q->closed[node] & closed) && (!others || !queue_in_pool(q, node)) &&
           queue_suits(q, job, node) &&
           queue_may_stand_with(q, job, q->nodes.items, (uint32_t)q->nodes.count, node);
}

/*
 * Nodes for the job into q->nodes: those held for it first, then open ones and spares, then those
 * held for who gives way to it. What is left beyond whole ones lies on the last. False: there are
 * too few.
 */
static bool find_place(struct myr_queue *q, uint32_t id, const struct hold *hold)
{
    const struct qjob *job = queue_job(q, id);
    uint32_t per = queue_request_per_node(q, job), rest = job->spec.gpus % per, n = q->shape.nodes;
    uint32_t whole = job->spec.gpus / per, last = MYR_NONE;
    MYR_CLEANUP(myr_free_at) uint8_t *seen = myr_xcalloc(n, 1);
    q->nodes.count = 0;
    queue_mark_held(q, id, seen); /* for who goes before it */
    for (size_t i = 0; i < hold->nodes.count + 2 * (size_t)n; i++) {
        bool own = i < hold->nodes.count, open = i < hold->nodes.count + n;
        uint32_t node = own ? hold->nodes.items[i] : (uint32_t)(i - hold->nodes.count) % n;
        if (seen[node] || (!own && open && q->closed[node] & CLOSED_HOLD) ||
            !may_take(q, job, node, !own)) {
            continue;
        }
        uint32_t gpus = clearable(q, id, node);
        seen[node] = 1;
        if (gpus >= per && q->nodes.count < whole) {
            myr_vec_push(&q->nodes, node);
        } else if (rest > 0 && gpus >= rest && last == MYR_NONE) {
            last = node;
        }
    }
    if (rest > 0 && last != MYR_NONE) {
        myr_vec_push(&q->nodes, last);
    }
    return q->nodes.count == whole + (rest > 0);
}

/* Its guests leave, as many as have to: what they borrowed is wanted back. */
static void stop_guests(struct myr_queue *q, uint32_t id, uint32_t node, uint32_t wanted)
{
    bool held = q->closed[node] & CLOSED_HOLD;
    while (gpu_count(queue_claimable_gpus(q, node)) < wanted) {
        uint32_t best = MYR_NONE;
        for (uint32_t i = 0; i < q->node_job_count[node]; i++) {
            uint32_t guest = q->node_jobs[(size_t)node * q->shape.gpus_per_node + i];
            const struct qjob *job = queue_job(q, guest);
            if (may_send_away(q, id, guest, held) &&
                (best == MYR_NONE ||
                 queue_stop_cost(q, job) < queue_stop_cost(q, queue_job(q, best)))) {
                best = guest;
            }
        }
        MYR_ASSERT(best != MYR_NONE && best != id);
        MYR_PROBE("a guest is stopped for its host");
        queue_stop_job(q, best, MYR_STOP_OWNER, id);
    }
}

/* The job takes its place back from its guests, with other nodes for those that are still bad. */
static bool take_back(struct myr_queue *q, uint32_t id)
{
    const struct hold *hold = queue_hold_of(q, id);
    if (!hold || queue_job(q, id)->state != MYR_JOB_WAITS || !find_place(q, id, hold)) {
        return false;
    }
    struct qjob *job = queue_job(q, id);
    uint32_t left = job->spec.gpus, per = queue_request_per_node(q, job);
    int32_t priority = job->spec.priority;
    MYR_PROBE("a gang takes its place back");
    for (size_t i = 0; i < q->nodes.count; i++) { /* while they are known to be held */
        uint32_t node = q->nodes.items[i], here = left < per ? left : per;
        stop_guests(q, id, node, here);
        left -= here;
    }
    left = job->spec.gpus;
    queue_lift_holds(q, id, priority, true);
    queue_claim_begin(q, id);
    for (size_t i = 0; i < q->nodes.count; i++) {
        uint32_t node = q->nodes.items[i], here = left < per ? left : per;
        if (q->closed[node] & CLOSED_SPARE) {
            q->spares_kept--;
            queue_close_node(q, node, CLOSED_SPARE, false);
        }
        queue_claim_share(q, id, node, here);
        left -= here;
    }
    MYR_ASSERT(left == 0);
    queue_hand_over(q, id, &job->gang);
    queue_claim_end(q, id);
    queue_lift_holds(q, id, priority, false);
    queue_job(q, id)->broken = 0;
    return true;
}

/*
 * Guests leave nodes of a place that are to be empty: a node in doubt is tested when nobody is
 * there any more, and the gang waits for that.
 */
static bool clear_drained(struct myr_queue *q, uint32_t id)
{
    const struct hold *hold = queue_hold_of(q, id);
    for (size_t i = 0; hold && i < hold->nodes.count; i++) {
        uint32_t node = hold->nodes.items[i];
        for (uint32_t k = 0; q->closed[node] & CLOSED_DRAIN && k < q->node_job_count[node]; k++) {
            uint32_t guest = q->node_jobs[(size_t)node * q->shape.gpus_per_node + k];
            if (may_send_away(q, id, guest, true)) {
                MYR_PROBE("a guest leaves a node that is to be empty");
                queue_break(q, guest, MYR_STOP_OWNER);
                return true;
            }
        }
    }
    return false;
}

/* A job whose place was given up, in their order. */
static bool start_broken(struct myr_queue *q)
{
    for (size_t i = 0; i < q->holds.count; i++) {
        uint32_t id = q->holds.items[i].job;
        if (queue_job(q, id)->state == MYR_JOB_WAITS && queue_job(q, id)->broken &&
            ((q->spares_kept > 0 && start_on_spares(q, id)) || take_back(q, id) ||
             clear_drained(q, id))) {
            return true;
        }
    }
    return false;
}

/* A job for which all nodes that are well are too few, were they empty, without the spares. */
static bool start_largest(struct myr_queue *q)
{
    uint32_t usable = 0;
    for (uint32_t node = 0; node < q->shape.nodes; node++) {
        usable += !(q->closed[node] & (CLOSED_BAD | CLOSED_SPARE));
    }
    /* Largest first; below the first that needs no spares only requests spread over more nodes. */
    for (size_t s = q->sizes.count; s-- > 0;) {
        if (q->shaped == 0 && myr_place_nodes(q->placer, q->sizes.items[s].gpus) <= usable) {
            return false;
        }
        for (uint32_t at = q->sizes.items[s].first; at != MYR_NONE;
             at = q->lines.items[at].next_alike) {
            uint32_t id = q->lines.items[at].first, nodes = queue_nodes_of(q, queue_job(q, id));
            if (nodes > usable && nodes <= usable + q->spares_kept && start_on_spares(q, id)) {
                MYR_PROBE("a job starts that needs the spares");
                return true;
            }
        }
    }
    return false;
}

void queue_start_on_spares(struct myr_queue *q)
{
    while (start_broken(q) || (q->spares_kept > 0 && q->waiting > 0 && start_largest(q))) {
    }
}
