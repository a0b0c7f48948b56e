#include <stdlib.h>

#include "queue/state.h"

/*
 * Nodes that are lost, kept as spares or maintained. A node is closed by bits, one for each reason,
 * and opens when the last of them is gone.
 */

static bool is_whole(const struct myr_queue *q, uint32_t node)
{
    MYR_SLOW_ASSERT(node < q->shape.nodes);
    return gpu_count(myr_placer_free_mask(q->placer, node)) == q->shape.gpus_per_node;
}

void myr_queue_keep_spares(struct myr_queue *q, uint32_t count)
{
    q->spares_wanted = count;
    /* Too many are kept: the first ones open. */
    for (uint32_t node = 0; node < q->shape.nodes && q->spares_kept > count; node++) {
        if (q->closed[node] & CLOSED_SPARE) {
            MYR_PROBE("a spare is lost");
            queue_close_node(q, node, CLOSED_SPARE, false);
            MYR_ASSERT(q->spares_kept > 0);
            q->spares_kept--;
        }
    }
    MYR_ASSERT(q->spares_kept <= count);
}

/* Free nodes that nobody owns become spares, each in the group that has the fewest. */
void queue_fill_spares(struct myr_queue *q)
{
    uint32_t per = q->shape.group_nodes;
    while (q->spares_kept < q->spares_wanted) {
        uint32_t best = MYR_NONE, best_count = UINT32_MAX;
        for (uint32_t first = 0; first < q->shape.nodes; first += per) {
            uint32_t candidate = MYR_NONE, count = 0;
            for (uint32_t n = first; n < first + per && n < q->shape.nodes; n++) {
                count += q->closed[n] & CLOSED_SPARE ? 1 : 0;
                if (!q->closed[n] && is_whole(q, n) && !queue_in_pool(q, n)) {
                    candidate = n;
                }
            }
            if (candidate != MYR_NONE && count < best_count) {
                best_count = count;
                best = candidate;
            }
        }
        if (best == MYR_NONE) {
            return; /* as soon as nodes are free */
        }
        MYR_ASSERT(!q->closed[best] && q->node_job_count[best] == 0);
        queue_close_node(q, best, CLOSED_SPARE, true);
        q->spares_kept++;
        MYR_ASSERT(q->spares_kept <= q->shape.nodes);
    }
}

/* The spare nearest to a node: in its group, its pod, anywhere. */
static uint32_t nearest_spare(const struct myr_queue *q, uint32_t node)
{
    MYR_ASSERT(node < q->shape.nodes);
    uint32_t best = MYR_NONE, best_far = UINT32_MAX;
    for (uint32_t n = 0; n < q->shape.nodes; n++) {
        uint32_t far = n / q->shape.group_nodes == node / q->shape.group_nodes ? 0
                       : n / q->shape.pod_nodes == node / q->shape.pod_nodes   ? 1
                                                                               : 2;
        /* Closed for no other reason: one that is lost or drained as well is no good. */
        if (q->closed[n] == CLOSED_SPARE && is_whole(q, n) && far < best_far) {
            best_far = far;
            best = n;
        }
    }
    MYR_ASSERT(best == MYR_NONE || (best != node && q->node_job_count[best] == 0));
    return best;
}

/* The job goes on with the spare in the node's place, from its last checkpoint. */
static void replace_node(struct myr_queue *q, uint32_t id, uint32_t node, uint32_t spare)
{
    MYR_ASSERT(node < q->shape.nodes && spare < q->shape.nodes);
    MYR_ASSERT(q->closed[spare] & CLOSED_SPARE);
    MYR_ASSERT(q->closed[node] & CLOSED_DOWN);
    MYR_ASSERT(queue_job(q, id)->owner == MYR_NONE && !q->policy.confirm);
    queue_swap_node(q, id, node, spare);
    queue_decide_add(q, &(struct myr_decision){.kind = MYR_DECIDE_REPLACE,
                                               .reason = MYR_STOP_NODE,
                                               .job = id,
                                               .by = MYR_NONE,
                                               .node = node,
                                               .spare = spare});
}

/* It is no spare and no cell of anybody's any more; who claims it is mended with the decision. */
static void close_lost(struct myr_queue *q, uint32_t node)
{
    if (q->closed[node] & CLOSED_SPARE) {
        MYR_ASSERT(q->spares_kept > 0);
        queue_close_node(q, node, CLOSED_SPARE, false);
        q->spares_kept--;
    }
    queue_close_node(q, node, CLOSED_DOWN, true);
    queue_cells_node(q, node);
    MYR_ASSERT(!(q->closed[node] & CLOSED_SPARE));
}

/* Where nothing is confirmed: who runs there goes on with a spare at once, or waits again. */
static void leave_node(struct myr_queue *q, uint32_t node)
{
    MYR_ASSERT(!q->policy.confirm);
    /* One spare takes in all jobs of the node, on the same GPUs. */
    uint32_t spare = q->node_job_count[node] ? nearest_spare(q, node) : MYR_NONE;
    while (q->node_job_count[node]) {
        /* The list shrinks with each job, so its first entry is always the next one. */
        uint32_t id = q->node_jobs[(size_t)node * q->shape.gpus_per_node];
        MYR_ASSERT(queue_is_on(queue_job(q, id)));
        if (spare != MYR_NONE && queue_job(q, id)->owner == MYR_NONE) {
            replace_node(q, id, node, spare);
        } else {
            queue_stop_job(q, id, MYR_STOP_NODE, MYR_NONE); /* owners find room in their cells */
        }
    }
    /* It has jobs now: a spare is used up by the first of them. */
    if (spare != MYR_NONE && !is_whole(q, spare)) {
        MYR_ASSERT(q->spares_kept > 0);
        queue_close_node(q, spare, CLOSED_SPARE, false);
        q->spares_kept--;
    }
}

/* Where stops are confirmed: gangs keep their other nodes until the lost ones are replaced. */
static void break_on(struct myr_queue *q, uint32_t node, enum myr_stop_reason reason)
{
    while (q->node_job_count[node]) {
        uint32_t id = q->node_jobs[(size_t)node * q->shape.gpus_per_node];
        MYR_ASSERT(queue_is_on(queue_job(q, id)));
        queue_break(q, id, reason);
    }
}

void queue_lose_nodes(struct myr_queue *q, const uint32_t *nodes, uint32_t count)
{
    MYR_ASSERT(count > 0 && count <= q->shape.nodes);
    /* All are closed before anybody is moved, so that no lost node is chosen to replace another. */
    for (uint32_t i = 0; i < count; i++) {
        MYR_ASSERT(nodes[i] < q->shape.nodes);
        MYR_ASSERT(!(q->closed[nodes[i]] & CLOSED_DOWN));
        close_lost(q, nodes[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (q->policy.confirm) {
            break_on(q, nodes[i], MYR_STOP_NODE);
        } else {
            leave_node(q, nodes[i]);
        }
        MYR_ASSERT(q->node_job_count[nodes[i]] == 0); /* nobody runs on what is lost */
    }
}

int myr_queue_node(struct myr_queue *q, int64_t now_s, uint32_t node, bool usable)
{
    if (node >= q->shape.nodes) {
        return MYR_ERANGE;
    }
    int rc = queue_advance(q, now_s);
    if (rc < 0) {
        return rc;
    }
    /* Back, or lost already: only the bit changes. */
    if (usable || q->closed[node] & CLOSED_DOWN) {
        queue_close_node(q, node, CLOSED_DOWN, !usable);
        queue_cells_node(q, node);
    } else {
        queue_lose_nodes(q, &node, 1);
    }
    MYR_ASSERT(!(q->closed[node] & CLOSED_DOWN) == usable);
    return MYR_OK;
}

void queue_end_avoids(struct myr_queue *q)
{
    size_t kept = 0;
    for (size_t i = 0; i < q->avoids.count; i++) {
        struct avoid avoid = q->avoids.items[i];
        if (avoid.until_s > q->now_s) {
            q->avoids.items[kept++] = avoid;
            continue;
        }
        queue_close_node(q, avoid.node, CLOSED_AVOID, false);
        queue_cells_node(q, avoid.node);
    }
    MYR_ASSERT(kept <= q->avoids.count);
    q->avoids.count = kept;
}

int myr_queue_maintain(struct myr_queue *q, const struct myr_window *spec, struct myr_err *err)
{
    if (spec->count == 0 || spec->first >= q->shape.nodes ||
        spec->count > q->shape.nodes - spec->first) {
        return myr_err_set(err, MYR_ERANGE, "window of nodes %u to %llu, the cluster has %u",
                           spec->first, (unsigned long long)spec->first + spec->count,
                           q->shape.nodes);
    }
    if (spec->end_s <= spec->start_s || spec->drain_s < 0) {
        return myr_err_set(err, MYR_EINVAL, "the window ends at %lld, before it begins at %lld",
                           (long long)spec->end_s, (long long)spec->start_s);
    }
    struct window window;
    /* Gaps are zero too: states are compared byte by byte. */
    memset(&window, 0, sizeof(window));
    window.spec = *spec;
    window.id = q->window_count++;
    MYR_ASSERT(q->windows.count == 0 || q->windows.items[q->windows.count - 1].id < window.id);
    myr_vec_push(&q->windows, window);
    /* The queue must be called at each of its turns. */
    queue_wake_at(q, spec->start_s - spec->drain_s);
    queue_wake_at(q, spec->start_s);
    queue_wake_at(q, spec->end_s);
    return MYR_OK;
}

/* Whether any window that drains or is open has the node. */
static bool in_open_window(const struct myr_queue *q, uint32_t node)
{
    MYR_SLOW_ASSERT(node < q->shape.nodes);
    for (size_t i = 0; i < q->windows.count; i++) {
        const struct window *w = &q->windows.items[i];
        /* Below 'first' the difference wraps and is larger than any count. */
        MYR_SLOW_ASSERT(w->stage <= 3);
        if (w->stage > 0 && w->stage < 3 && node - w->spec.first < w->spec.count) {
            return true;
        }
    }
    return false;
}

/* For another job: who has a place there gives it up, and is not mended around it. */
static void empty(struct myr_queue *q, uint32_t node)
{
    while (q->node_job_count[node]) {
        uint32_t id = q->node_jobs[(size_t)node * q->shape.gpus_per_node];
        queue_stop_job(q, id, MYR_STOP_MAINTENANCE, MYR_NONE);
    }
    queue_claims_drop_on(q, node);
}

/* To its next stage: closes, stops or opens, node by node. */
static void turn_window(struct myr_queue *q, struct window *window, uint32_t stage)
{
    MYR_ASSERT(stage <= 3);
    MYR_ASSERT(stage != window->stage);
    MYR_ASSERT(window->spec.count <= q->shape.nodes - window->spec.first);
    MYR_ASSERT(window->stage <= 3 && window->spec.first < q->shape.nodes);
    window->stage = stage;
    for (uint32_t i = 0; i < window->spec.count; i++) {
        uint32_t node = window->spec.first + i;
        /* Windows may overlap: a node stays closed while any of them needs it. */
        queue_close_node(q, node, CLOSED_WINDOW, in_open_window(q, node));
        if (stage == 2 && window->job > 0) {
            empty(q, node);
        } else if (stage == 2) {
            MYR_PROBE("a window begins");
            break_on(q, node, MYR_STOP_MAINTENANCE);
        }
        MYR_ASSERT(stage != 2 || q->node_job_count[node] == 0);
        queue_cells_node(q, node);
    }
}

/* Those that are over are kept for as long as jobs are. */
static void forget_windows(struct myr_queue *q)
{
    size_t kept = 0;
    for (size_t i = 0; i < q->windows.count; i++) {
        const struct window *w = &q->windows.items[i];
        int64_t keep_s = q->policy.keep_s > 0 ? q->policy.keep_s : 0;
        /* Kept for a while: somebody may still ask about it. */
        if (w->stage < 3 || queue_after_s(w->spec.end_s, keep_s) > q->now_s) {
            q->windows.items[kept++] = *w;
        }
    }
    MYR_ASSERT(kept <= q->windows.count);
    q->windows.count = kept;
}

/* By time alone; from the last stage back, so that a late call skips what it has missed. */
static uint32_t stage_of(const struct myr_queue *q, const struct window *w)
{
    return w->cancelled || q->now_s >= w->spec.end_s       ? 3
           : q->now_s >= w->spec.start_s                   ? 2
           : q->now_s >= w->spec.start_s - w->spec.drain_s ? 1
                                                           : 0;
}

void queue_turn_windows(struct myr_queue *q)
{
    bool due = false;
    /* The list may grow: a reservation whose nodes are chosen may need several. */
    for (size_t i = 0; i < q->windows.count; i++) {
        struct window *w = &q->windows.items[i];
        /* Its user has let it go, or it was cancelled: it is kept for nobody. */
        w->cancelled |= w->job > 0 && w->stage < 3 && !queue_is_reserved(q, w);
        uint32_t stage = stage_of(q, w);
        MYR_ASSERT(w->stage <= 3 && stage <= 3);
        if (w->job > 0 && w->spec.count == 0 && stage > 0 && stage < 3) {
            queue_reserve_nodes(q, i);
            w = &q->windows.items[i];
        }
        due |= w->job > 0 && stage == 3 && w->stage < 3 && !w->cancelled;
        if (stage != w->stage) {
            turn_window(q, w, stage);
        }
    }
    /* When all of them are open: a job may have several. */
    for (size_t i = 0; i < q->windows.count && due; i++) {
        const struct window *w = &q->windows.items[i];
        if (w->job > 0 && w->stage == 3 && !w->cancelled && queue_is_reserved(q, w)) {
            queue_start_reserved(q, w->job - 1);
        }
    }
    forget_windows(q);
}

int myr_queue_cancel_window(struct myr_queue *q, int64_t now_s, uint32_t window)
{
    if (window >= q->window_count) {
        return MYR_ENOENT;
    }
    struct window *w = NULL;
    /* Ids are not positions: windows that are over have been forgotten. */
    for (size_t i = 0; i < q->windows.count; i++) {
        w = q->windows.items[i].id == window ? &q->windows.items[i] : w;
    }
    if (!w || w->cancelled || w->stage == 3) {
        return MYR_ESTALE; /* over, and maybe forgotten */
    }
    int rc = queue_advance(q, now_s);
    if (rc == MYR_OK) {
        MYR_ASSERT(w->id == window && w->stage < 3);
        w->cancelled = true; /* its nodes open with the next decision */
    }
    return rc;
}
