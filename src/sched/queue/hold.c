#include <stdlib.h>

#include "queue/state.h"

/*
 * Every node that is kept for somebody who waits is kept here: the places of gangs that have lost
 * nodes, and nodes for who has waited too long, on which nothing new starts.
 *
 * All holds stand in one order (goes_first()): by priority, then places before others, then by how
 * far the tenant is beyond its share, then by age. It is total, and age does not change while
 * a job waits. Who stands before another may use what is held for that one as if it were open, and
 * nobody the other way round. So no two can keep from each other what is enough for one, and who
 * waits at the head starts as soon as all but what runs, or is bad, is enough for it:
 *
 *   - nothing new starts on nodes that are held, so what runs there only ends; with a place, what
 *     runs there are guests, who are stopped when the rest is there;
 *   - nobody behind the head can take a node from it, and nobody new goes before it but those of
 *     higher priority, of a tenant less far beyond its share, or who lost nodes while they ran;
 *   - when the head starts the next is the head. A place gives what it used of the places behind
 *     it as many of its own nodes (hand_over()): together they are held as many as they need, and
 *     when all nodes are well each has what it needs;
 *   - who cannot have enough, whatever ends, has nothing held and is in nobody's way.
 *
 * Gangs and jobs of one node are served apart, or a flood of small ones that are due would stand
 * before every gang. Of each kind one job at a time has nodes held, and others beside it,
 * HOLDS_MAX in all, as long as one part of the cluster in HOLD_SHARE holds all of them.
 */
enum { HOLD_SHARE = 8, HOLDS_MAX = 8, SCAN_S = 60 };

bool queue_has_hold(const struct myr_queue *q, uint32_t id)
{
    MYR_ASSERT(id < q->job_count);
    for (size_t i = 0; i < q->holds.count; i++) {
        if (q->holds.items[i].job == id) {
            return true;
        }
    }
    return false;
}

/* Its nodes are open already. */
static void remove_hold(struct myr_queue *q, size_t at)
{
    MYR_ASSERT(at < q->holds.count);
    struct hold *hold = &q->holds.items[at];
    MYR_ASSERT(hold->job < q->job_count);
    myr_vec_done(&hold->nodes);
    memmove(hold, hold + 1, (q->holds.count - at - 1) * sizeof(*hold));
    q->holds.count--;
}

/* Where somebody stands among those for whom nodes are held; each beside the next. */
struct rank {
    int32_t priority;
    uint32_t excess;
    uint32_t no_place;
    int64_t since_s;
    uint32_t job; /* MYR_NONE: nobody */
};

static bool ranks_before(const struct rank *a, const struct rank *b)
{
    if (b->job == MYR_NONE || a->priority != b->priority) {
        return b->job == MYR_NONE || a->priority > b->priority;
    }
    if (a->no_place != b->no_place) {
        return a->no_place < b->no_place;
    }
    if (a->excess != b->excess) {
        return a->excess < b->excess;
    }
    return a->since_s != b->since_s ? a->since_s < b->since_s : a->job < b->job;
}

static struct rank rank_of(const struct myr_queue *q, uint32_t id)
{
    const struct qjob *job = queue_job(q, id);
    bool fair = q->policy.order == MYR_ORDER_FAIR;
    return (struct rank){job->spec.priority, fair ? queue_excess(q, job->spec.tenant) : 0,
                         !job->broken, job->since_s, id};
}

static bool goes_first(const struct myr_queue *q, uint32_t id, uint32_t other)
{
    struct rank a = rank_of(q, id), b = rank_of(q, other);
    return ranks_before(&a, &b);
}

/* There are few, and mostly in order. */
static void sort_holds(struct myr_queue *q)
{
    for (size_t i = 1; i < q->holds.count; i++) {
        struct hold moved = q->holds.items[i];
        size_t at = i;
        for (; at > 0 && goes_first(q, moved.job, q->holds.items[at - 1].job); at--) {
            q->holds.items[at] = q->holds.items[at - 1];
        }
        q->holds.items[at] = moved;
    }
}

/* Opens, or closes again, what is held for those behind a hold, but for places. */
static void lift_behind(struct myr_queue *q, size_t at, bool lifted)
{
    for (size_t i = at + 1; i < q->holds.count; i++) {
        if (!queue_job(q, q->holds.items[i].job)->broken) {
            queue_set_held(q, &q->holds.items[i], !lifted);
        }
    }
}

/* Nodes of those behind a hold that it has by now are theirs no more. */
static void take_from_behind(struct myr_queue *q, size_t at)
{
    const struct hold *hold = &q->holds.items[at];
    for (size_t i = at + 1; i < q->holds.count; i++) {
        struct hold *other = &q->holds.items[i];
        size_t kept = 0;
        for (size_t k = 0; k < other->nodes.count; k++) {
            /* All of them are open but for those that were just taken. */
            if (queue_job(q, other->job)->broken ||
                !(q->closed[other->nodes.items[k]] & CLOSED_HOLD)) {
                other->nodes.items[kept++] = other->nodes.items[k];
            }
        }
        other->nodes.count = kept;
    }
    MYR_ASSERT(hold->nodes.count <= q->shape.nodes);
}

/*
 * Chosen once, by likely ends; then the nodes stay, or the likeliest ones might change for ever,
 * but for those that come free by luck, which count at once. What is held for those behind it is
 * as good as any. False: there are too few, whatever ends.
 */
static bool choose_nodes(struct myr_queue *q, size_t at)
{
    struct hold *hold = &q->holds.items[at];
    MYR_ASSERT(queue_job(q, hold->job)->state == MYR_JOB_WAITS);
    uint32_t wanted = queue_wanted_nodes(q, hold->job);
    /* Nothing has ended since, so the same nodes would be chosen again. */
    if (hold->chosen == q->ends && hold->nodes.count >= wanted) {
        queue_set_held(q, hold, true);
        return true;
    }
    hold->chosen = q->ends;
    if (!queue_keep_nodes(q, hold, wanted)) {
        queue_set_held(q, hold, false);
        lift_behind(q, at, true);
        hold->nodes.count = 0;
        queue_pick_nodes(q, hold, wanted);
        take_from_behind(q, at);
        lift_behind(q, at, false);
    }
    return hold->nodes.count >= queue_nodes_of(q, queue_job(q, hold->job));
}

enum hold_kind { HOLD_GANGS, HOLD_SMALL, HOLD_KINDS };

static enum hold_kind kind_of(const struct myr_queue *q, uint32_t gpus)
{
    return queue_is_gang(q, gpus) ? HOLD_GANGS : HOLD_SMALL;
}

/* The first of a line that has no nodes held and has waited since 'until_s'; or MYR_NONE. */
static uint32_t first_without(const struct myr_queue *q, const struct line *line, int64_t until_s)
{
    uint32_t id = line->first;
    while (id != MYR_NONE && queue_job(q, id)->since_s <= until_s && queue_has_hold(q, id)) {
        id = queue_job(q, id)->next;
    }
    return id != MYR_NONE && queue_job(q, id)->since_s <= until_s ? id : MYR_NONE;
}

/* When the first of a line is due. */
static int64_t due_s_of(const struct myr_queue *q, const struct line *line,
                        const struct node_ages *ages)
{
    uint32_t nodes = queue_nodes_of(q, queue_job(q, line->first));
    int64_t hold_s = queue_hold_s(q, line->gpus, queue_drain_s(ages, nodes));
    return queue_after_s(line->since_s, hold_s);
}

/*
 * Of each kind the job that is due before all others without nodes; or MYR_NONE. There may be ten
 * thousand lines: most are told by what stands in the line itself. What nodes take to be free, and
 * what is usual, changes, so somebody who waits is looked at again after SCAN_S.
 */
static void next_to_hold(struct myr_queue *q, uint32_t ret[HOLD_KINDS])
{
    struct rank best[HOLD_KINDS] = {{.job = MYR_NONE}, {.job = MYR_NONE}};
    bool fair = q->policy.order == MYR_ORDER_FAIR;
    int64_t soonest_s = INT64_MAX;
    uint32_t soonest = MYR_NONE;
    struct node_ages ages;
    queue_count_ages(q, &ages);
    for (uint32_t i = q->busy_first; i != MYR_NONE; i = q->lines.items[i].next_busy) {
        const struct line *line = &q->lines.items[i];
        struct rank *of = &best[kind_of(q, line->gpus)];
        struct rank rank = {line->priority, fair ? queue_excess(q, line->tenant) : 0, 1,
                            line->since_s, line->first};
        if (!ranks_before(&rank, of)) {
            continue;
        }
        int64_t due_s = due_s_of(q, line, &ages);
        if (due_s > q->now_s) {
            soonest = due_s < soonest_s ? line->first : soonest;
            soonest_s = due_s < soonest_s ? due_s : soonest_s;
            continue;
        }
        rank.job = first_without(q, line, q->now_s - (due_s - line->since_s));
        rank.since_s = rank.job == MYR_NONE ? 0 : queue_job(q, rank.job)->since_s;
        if (rank.job != MYR_NONE && ranks_before(&rank, of)) {
            *of = rank;
        }
    }
    ret[HOLD_GANGS] = best[HOLD_GANGS].job;
    ret[HOLD_SMALL] = best[HOLD_SMALL].job;
    if (soonest_s < INT64_MAX && (q->hold_wake_s <= q->now_s || soonest_s < q->hold_wake_s)) {
        myr_heap_push(&q->wakes, soonest_s, soonest); /* void when the job waits no longer */
        q->hold_wake_s = soonest_s;
    }
    soonest_s = soonest_s < q->now_s + SCAN_S ? soonest_s : q->now_s + SCAN_S;
    q->hold_scan_s = q->busy_first == MYR_NONE ? INT64_MAX : soonest_s;
}

bool queue_drop_holds(struct myr_queue *q)
{
    size_t before = q->holds.count;
    for (size_t i = 0; i < q->holds.count;) {
        if (queue_job(q, q->holds.items[i].job)->state == MYR_JOB_WAITS) {
            i++;
            continue;
        }
        queue_set_held(q, &q->holds.items[i], false);
        remove_hold(q, i);
    }
    MYR_ASSERT(q->holds.count <= before);
    return q->holds.count < before;
}

void queue_hold_place(struct myr_queue *q, uint32_t id, const struct myr_share *shares,
                      uint32_t count)
{
    struct hold hold = {.job = id, .chosen = q->ends, .since_s = q->now_s};
    MYR_ASSERT(!queue_has_hold(q, id) && queue_job(q, id)->broken);
    for (uint32_t i = 0; i < count; i++) {
        /* Bad ones too, for when they are well; two holds never share a node. */
        if (queue_hold_leave(q, id, shares[i].node)) {
            myr_vec_push(&hold.nodes, shares[i].node);
        }
    }
    queue_set_held(q, &hold, true);
    myr_vec_push(&q->holds, hold);
    sort_holds(q);
}

const struct hold *queue_hold_of(const struct myr_queue *q, uint32_t id)
{
    for (size_t i = 0; i < q->holds.count; i++) {
        if (q->holds.items[i].job == id) {
            return &q->holds.items[i];
        }
    }
    return NULL;
}

/* The hold that has the node; there is one, where the node is closed for that. */
static struct hold *holder_of(struct myr_queue *q, uint32_t node, size_t *ret_at)
{
    for (size_t i = 0; i < q->holds.count; i++) {
        for (size_t k = 0; k < q->holds.items[i].nodes.count; k++) {
            if (q->holds.items[i].nodes.items[k] == node) {
                *ret_at = k;
                return &q->holds.items[i];
            }
        }
    }
    return NULL;
}

bool queue_hold_leave(struct myr_queue *q, uint32_t id, uint32_t node)
{
    size_t at = 0;
    struct hold *hold = q->closed[node] & CLOSED_HOLD ? holder_of(q, node, &at) : NULL;
    if (!hold || !goes_first(q, id, hold->job)) {
        return !hold;
    }
    hold->nodes.items[at] = hold->nodes.items[--hold->nodes.count];
    queue_close_node(q, node, CLOSED_HOLD, false);
    return true;
}

void queue_mark_held(const struct myr_queue *q, uint32_t id, uint8_t *marks)
{
    for (size_t i = 0; i < q->holds.count; i++) {
        const struct hold *hold = &q->holds.items[i];
        bool first = hold->job != id && !goes_first(q, id, hold->job);
        for (size_t k = 0; k < hold->nodes.count; k++) {
            marks[hold->nodes.items[k]] |= first;
        }
    }
}

void queue_hand_over(struct myr_queue *q, uint32_t id, const struct myr_gang *gang)
{
    MYR_CLEANUP(myr_free_at) uint8_t *used = myr_xcalloc(q->shape.nodes, 1);
    size_t mine = 0, left = 0;
    while (mine < q->holds.count && q->holds.items[mine].job != id) {
        mine++;
    }
    if (mine == q->holds.count) {
        return;
    }
    for (uint32_t i = 0; i < gang->count; i++) {
        used[gang->shares[i].node] = 1;
    }
    struct hold *hold = &q->holds.items[mine];
    for (size_t k = 0; k < hold->nodes.count; k++) {
        if (!used[hold->nodes.items[k]]) {
            hold->nodes.items[left++] = hold->nodes.items[k];
        }
        used[hold->nodes.items[k]] = 0;
    }
    for (size_t i = 0; i < q->holds.count; i++) {
        struct hold *other = &q->holds.items[i];
        bool place = queue_job(q, other->job)->broken;
        for (size_t k = 0; i != mine && k < other->nodes.count;) {
            if (!used[other->nodes.items[k]]) {
                k++;
            } else if (place && left > 0) {
                MYR_PROBE("a place gets other nodes for those that one before it took");
                other->nodes.items[k++] = hold->nodes.items[--left];
            } else {
                other->nodes.items[k] = other->nodes.items[--other->nodes.count];
            }
        }
    }
    remove_hold(q, mine);
}

/*
 * Whether there is room for one more hold of this kind beside what is held for others, but for
 * those behind it: their nodes are its own to take.
 */
static bool has_room(const struct myr_queue *q, uint32_t id)
{
    enum hold_kind kind = kind_of(q, queue_job(q, id)->spec.gpus);
    size_t nodes = queue_wanted_nodes(q, id), count = 0;
    for (size_t i = 0; i < q->holds.count; i++) {
        const struct hold *hold = &q->holds.items[i];
        if (kind_of(q, queue_job(q, hold->job)->spec.gpus) == kind &&
            !queue_job(q, hold->job)->broken && goes_first(q, hold->job, id)) {
            nodes += hold->nodes.count;
            count++;
        }
    }
    return count == 0 || (count < HOLDS_MAX && nodes <= q->shape.nodes / HOLD_SHARE);
}

/* Its nodes are held for nobody any more. */
static void open_nodes(struct myr_queue *q, size_t at)
{
    queue_set_held(q, &q->holds.items[at], false);
    remove_hold(q, at);
}

static bool open_hold(struct myr_queue *q, uint32_t id)
{
    struct hold hold = {.job = id, .chosen = UINT64_MAX, .since_s = q->now_s};
    MYR_ASSERT(!queue_has_hold(q, id));
    myr_vec_push(&q->holds, hold);
    sort_holds(q);
    size_t at = 0;
    while (q->holds.items[at].job != id) {
        at++;
    }
    if (!choose_nodes(q, at)) {
        MYR_PROBE("there are too few nodes to hold");
        open_nodes(q, at);
        return false;
    }
    /* A gang may stop others from now on: it looks for them at once. */
    uint32_t line = queue_job(q, id)->line;
    bool gang = queue_is_gang(q, q->lines.items[line].gpus);
    queue_job(q, id)->retry_s = gang ? 0 : queue_job(q, id)->retry_s;
    if (gang && q->lines.items[line].first == id) {
        queue_first_changed(q, line);
    }
    return true;
}

/* Nodes are held for who has waited long enough; what is held stands idle as it drains. */
static void open_holds(struct myr_queue *q)
{
    bool more = q->now_s >= q->hold_scan_s;
    while (more) {
        uint32_t next[HOLD_KINDS];
        next_to_hold(q, next);
        more = false;
        for (uint32_t k = 0; k < HOLD_KINDS; k++) {
            /* Who may start now does so without nodes held for it. */
            if (next[k] != MYR_NONE && !queue_may_start(q, next[k]) && has_room(q, next[k])) {
                MYR_PROBE("nodes are to be held for a gang");
                more = open_hold(q, next[k]) || more;
            }
        }
    }
}

/*
 * Whether there may be as many whole free nodes as the job needs: open ones, its own and those of
 * the holds behind it. To open and close thousands of nodes takes far longer than to count them.
 */
static bool has_hope(const struct myr_queue *q, size_t at)
{
    const struct qjob *job = queue_job(q, q->holds.items[at].job);
    uint32_t per = q->shape.gpus_per_node, needed = job->spec.gpus / per;
    uint32_t idle = myr_placer_free_nodes(q->placer);
    if (job->request != MYR_NONE || !queue_is_gang(q, job->spec.gpus) || q->cells) {
        return true;
    }
    for (size_t i = at; i < q->holds.count && idle < needed; i++) {
        const struct hold *hold = &q->holds.items[i];
        for (size_t k = 0; k < hold->nodes.count && idle < needed; k++) {
            idle += q->node_job_count[hold->nodes.items[k]] == 0;
        }
    }
    return idle >= needed;
}

/* Whether anybody who waits goes before the job in any case; 'first' is the first of all lines. */
static bool is_outranked(const struct myr_queue *q, uint32_t first, uint32_t id)
{
    return first != MYR_NONE && queue_job(q, first)->state == MYR_JOB_WAITS &&
           queue_outranks(q, first, id);
}

/* Of all that wait: nobody outranks it. */
static uint32_t first_of_lines(const struct myr_queue *q)
{
    uint32_t best = MYR_NONE;
    for (uint32_t i = q->busy_first; i != MYR_NONE; i = q->lines.items[i].next_busy) {
        uint32_t id = q->lines.items[i].first;
        best = best == MYR_NONE || queue_outranks(q, id, best) ? id : best;
    }
    return best;
}

/*
 * The job starts if it may on open nodes and on its own, or with what is held for those behind it;
 * its own are open. With 'above' somebody outranks it, who goes before it on those nodes too.
 */
static bool start_held(struct myr_queue *q, size_t at, bool above)
{
    uint32_t id = q->holds.items[at].job;
    if (queue_may_start(q, id) && queue_start(q, id)) {
        remove_hold(q, at);
        return true;
    }
    if (at + 1 == q->holds.count) {
        return false;
    }
    int32_t priority = queue_job(q, id)->spec.priority;
    queue_lift_holds(q, id, priority, true);
    if (above) {
        queue_start_above(q, id);
    }
    bool started =
        queue_job(q, id)->state == MYR_JOB_WAITS && queue_may_start(q, id) && queue_start(q, id);
    if (started) {
        MYR_PROBE("a job starts on what was held for one behind it");
        queue_hand_over(q, id, &queue_job(q, id)->gang);
    }
    queue_lift_holds(q, id, priority, false);
    return started;
}

/* Serves one of them; whether it is over. */
static bool serve(struct myr_queue *q, size_t at, uint32_t *first)
{
    uint32_t id = q->holds.items[at].job;
    if (queue_job(q, id)->state != MYR_JOB_WAITS) { /* since a moment ago */
        open_nodes(q, at);
        return true;
    }
    bool above = is_outranked(q, *first, id);
    /* Open while this is decided: the gang, and who goes before it, may use them. */
    if (above || has_hope(q, at)) {
        queue_set_held(q, &q->holds.items[at], false);
        if (above) {
            queue_start_above(q, id); /* what is held gives way to those */
            *first = first_of_lines(q);
        }
        MYR_ASSERT(q->holds.items[at].job == id);
        if (queue_job(q, id)->state != MYR_JOB_WAITS) {
            remove_hold(q, at);
            return true;
        }
        bool started = start_held(q, at, above);
        *first = started || above ? first_of_lines(q) : *first;
        if (started) {
            return true;
        }
        queue_set_held(q, &q->holds.items[at], true);
    }
    if (!queue_job(q, id)->broken && !choose_nodes(q, at)) {
        MYR_PROBE("there are too few nodes to hold");
        open_nodes(q, at);
        return true;
    }
    return false;
}

void queue_serve_holds(struct myr_queue *q)
{
    (void)queue_drop_holds(q);
    sort_holds(q);
    uint32_t first = q->holds.count ? first_of_lines(q) : MYR_NONE;
    for (size_t i = 0; i < q->holds.count;) {
        i += !serve(q, i, &first);
    }
    if (q->policy.patience_s > 0) {
        open_holds(q);
    }
}

/* Whether what is held for a job is open to another that asks with this priority. */
static bool gives_way(const struct myr_queue *q, uint32_t held, uint32_t id, int32_t priority)
{
    const struct myr_queue_job *spec = &queue_job(q, id)->spec, *other = &queue_job(q, held)->spec;
    if (held == id || other->priority != priority) {
        return held == id || other->priority < priority;
    }
    if (spec->priority != priority) {
        return false; /* a trial, by priority alone */
    }
    /* Age counts among those who have nodes held alone. */
    return queue_has_hold(q, id) ? goes_first(q, id, held) : queue_outranks(q, id, held);
}

void queue_lift_holds(struct myr_queue *q, uint32_t id, int32_t priority, bool lifted)
{
    MYR_ASSERT(id < q->job_count);
    MYR_ASSERT(priority >= -MYR_PRIORITY_MAX);
    for (size_t i = 0; i < q->holds.count; i++) {
        /* All are closed again: who gives way to whom may have changed with what was started. */
        if (!lifted || gives_way(q, q->holds.items[i].job, id, priority)) {
            queue_set_held(q, &q->holds.items[i], !lifted);
        }
    }
}

bool queue_may_use_held(const struct myr_queue *q, uint32_t id)
{
    for (size_t i = 0; i < q->holds.count; i++) {
        if (gives_way(q, q->holds.items[i].job, id, queue_job(q, id)->spec.priority)) {
            return true;
        }
    }
    return false;
}
