#include <stdlib.h>

#include "myriad/sched/events.h"
#include "myriad/text/amount.h"
#include "queue/state.h"

/*
 * A job at a stated time. It is held until then, and has a window like one of maintenance that ends
 * when it starts: for as long before as jobs mostly run only those are placed there that end in
 * time, in the last minutes nobody is, and who is still there is stopped. The nodes are chosen when
 * the first of that begins, by what is well then; the same decision that opens them starts the job.
 */
enum {
    EMPTY_S = 180, /* nobody runs there for so long before: ranks end, and nodes are looked at */
    DRAIN_LEAST_S = 3600,
    DRAIN_MOST_S = 24 * 3600,
};

/* What it says that it works. */
static int64_t length_of(const struct myr_queue *q, uint32_t id)
{
    return queue_job(q, id)->spec.limit_s;
}

/* When the nodes of a window are not used by its job, or maintained, any more. */
static int64_t until_s(const struct myr_queue *q, const struct window *w)
{
    return w->job ? queue_after_s(w->spec.end_s, length_of(q, w->job - 1)) : w->spec.end_s;
}

/* One job may have several windows: its nodes need not lie side by side. */
static bool is_first(const struct myr_queue *q, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (q->windows.items[i].job == q->windows.items[at].job) {
            return false;
        }
    }
    return true;
}

/* Nodes of all that have a date in this time; the most at any moment is no more than their sum. */
static uint64_t nodes_at(const struct myr_queue *q, int64_t start_s, int64_t end_s)
{
    uint64_t nodes = 0;
    for (size_t i = 0; i < q->windows.count; i++) {
        const struct window *w = &q->windows.items[i];
        if (w->job == 0 || w->cancelled || w->stage == 3 || !is_first(q, i)) {
            continue;
        }
        uint32_t id = w->job - 1;
        if (w->spec.start_s < end_s && start_s - EMPTY_S < until_s(q, w)) {
            nodes += queue_nodes_of(q, queue_job(q, id));
        }
    }
    return nodes;
}

/* Spares are nobody's. */
static uint32_t most_nodes(const struct myr_queue *q)
{
    return q->spares_wanted < q->shape.nodes ? q->shape.nodes - q->spares_wanted : 0;
}

/* So long before only who ends in time is placed there: nearly all that run now are over by then.
 */
static int64_t drain_of(struct myr_queue *q)
{
    int64_t drain_s = queue_lengths_end_s(q->lengths, 1);
    return drain_s < DRAIN_LEAST_S  ? DRAIN_LEAST_S
           : drain_s > DRAIN_MOST_S ? DRAIN_MOST_S
                                    : drain_s;
}

/* The queue must be called at each of its turns. */
static void set_times(struct myr_queue *q, struct window *w, int64_t start_s)
{
    w->spec.start_s = start_s - EMPTY_S;
    w->spec.end_s = start_s;
    queue_wake_at(q, w->spec.start_s - w->spec.drain_s);
    queue_wake_at(q, w->spec.start_s);
    queue_wake_at(q, w->spec.end_s);
}

bool myr_queue_may_reserve(const struct myr_queue *q, const struct myr_queue_job *job,
                           int64_t start_s)
{
    uint64_t nodes = job->request ? job->request->nodes : myr_place_nodes(q->placer, job->gpus);
    return nodes + nodes_at(q, start_s, queue_after_s(start_s, job->limit_s)) <= most_nodes(q);
}

int myr_queue_reserve(struct myr_queue *q, int64_t now_s, uint32_t id, int64_t start_s,
                      struct myr_err *err)
{
    if (id >= q->job_count || queue_job(q, id)->id != id ||
        queue_job(q, id)->state != MYR_JOB_HELD) {
        return myr_err_set(err, MYR_ESTALE, "job %u is not held, which one with a date is", id);
    }
    const struct qjob *job = queue_job(q, id);
    if (now_s < q->now_s || start_s <= now_s || job->spec.limit_s <= 0) {
        return myr_err_set(err, MYR_EINVAL,
                           "a date lies ahead, and the job has a limit of its time");
    }
    uint32_t nodes = queue_nodes_of(q, job);
    uint64_t taken = nodes_at(q, start_s, queue_after_s(start_s, job->spec.limit_s));
    if (taken + nodes > most_nodes(q)) {
        return myr_err_set(err, MYR_ERANGE, "%s of %u are reserved then, and it needs %u",
                           MYR_COUNT(taken, "node"), most_nodes(q), nodes);
    }
    MYR_TRY(queue_advance(q, now_s));
    struct window window;
    memset(&window, 0, sizeof(window));
    window.spec.drain_s = drain_of(q);
    window.id = q->window_count++;
    window.job = id + 1;
    set_times(q, &window, start_s);
    myr_vec_push(&q->windows, window);
    return MYR_OK;
}

int myr_queue_redate(struct myr_queue *q, uint32_t id, int64_t start_s)
{
    int rc = MYR_ENOENT;
    for (size_t i = 0; i < q->windows.count; i++) {
        struct window *w = &q->windows.items[i];
        if (w->job == id + 1 && !w->cancelled && w->stage < 3) {
            set_times(q, w, start_s);
            rc = MYR_OK;
        }
    }
    return rc;
}

int myr_queue_undate(struct myr_queue *q, int64_t now_s, uint32_t id)
{
    if (myr_queue_reserved_s(q, id) < 0) {
        return MYR_ENOENT;
    }
    MYR_TRY(queue_advance(q, now_s));
    for (size_t i = 0; i < q->windows.count; i++) {
        struct window *w = &q->windows.items[i];
        w->cancelled |= w->job == id + 1; /* its nodes open with the next decision */
    }
    MYR_ASSERT(myr_queue_reserved_s(q, id) < 0);
    return MYR_OK;
}

bool queue_is_reserved(const struct myr_queue *q, const struct window *w)
{
    MYR_ASSERT(w->job > 0);
    return queue_job(q, w->job - 1)->id == w->job - 1 &&
           queue_job(q, w->job - 1)->state == MYR_JOB_HELD;
}

/* Whether another window has the node at the same time; one after the other they may. */
static bool is_wanted(const struct myr_queue *q, const struct window *w, uint32_t node)
{
    for (size_t i = 0; i < q->windows.count; i++) {
        const struct window *o = &q->windows.items[i];
        /* Below 'first' the difference wraps and is larger than any count. */
        if (o->id != w->id && (o->job == 0 || o->job != w->job) && !o->cancelled && o->stage < 3 &&
            node - o->spec.first < o->spec.count && o->spec.start_s < until_s(q, w) &&
            w->spec.start_s < until_s(q, o)) {
            return true;
        }
    }
    return false;
}

/* Well, nobody's own, no spare, and of use to the job. */
static bool is_good(const struct myr_queue *q, const struct window *w, uint32_t node)
{
    const uint8_t bad = CLOSED_SPARE | (CLOSED_BAD & ~CLOSED_WINDOW);
    return !(q->closed[node] & bad) && !queue_in_pool(q, node) &&
           queue_suits(q, queue_job(q, w->job - 1), node) && !is_wanted(q, w, node);
}

/* What it costs to have the node: GPUs of jobs that are not known to be over in time. */
static uint64_t cost_of(const struct myr_queue *q, uint32_t node, int64_t start_s)
{
    uint64_t cost = 0;
    for (uint32_t k = 0; k < q->node_job_count[node]; k++) {
        const struct qjob *job =
            queue_job(q, q->node_jobs[(size_t)node * q->shape.gpus_per_node + k]);
        /* Whoever has outlived its limit is like one that has none. */
        int64_t end_s = job->start_s + job->spec.limit_s - job->saved_s;
        bool ends = job->spec.limit_s > 0 && end_s > q->now_s && end_s <= start_s;
        cost += ends ? 0 : job->spec.gpus;
    }
    return cost;
}

/* The cheapest neighbours of which so many are good; false: there are not so many. */
static bool find_range(const struct myr_queue *q, const struct window *w, uint32_t needed,
                       uint32_t *ret_first, uint32_t *ret_end)
{
    enum { EXTRA_COST = 64 }; /* of a node in between that the job does not get */
    uint32_t good = 0, first = 0;
    uint64_t cost = 0, best_cost = UINT64_MAX;
    for (uint32_t end = 0; end < q->shape.nodes; end++) {
        bool end_good = is_good(q, w, end);
        good += end_good;
        cost += end_good ? cost_of(q, end, w->spec.start_s) : EXTRA_COST;
        while (first <= end && (good > needed || !is_good(q, w, first))) {
            bool first_good = is_good(q, w, first);
            good -= first_good;
            cost -= first_good ? cost_of(q, first, w->spec.start_s) : EXTRA_COST;
            first++;
        }
        if (good == needed && cost < best_cost) {
            best_cost = cost;
            *ret_first = first;
            *ret_end = end + 1;
        }
    }
    return best_cost < UINT64_MAX;
}

/* None where not so many are well: they are looked for again with the next decision. */
void queue_reserve_nodes(struct myr_queue *q, size_t at)
{
    struct window w = q->windows.items[at];
    uint32_t needed = queue_nodes_of(q, queue_job(q, w.job - 1)), first = 0, end = 0;
    MYR_ASSERT(w.spec.count == 0 && needed > 0);
    if (!find_range(q, &w, needed, &first, &end)) {
        return;
    }
    /* Each run of good ones is a window; what lies between is left to others. */
    for (uint32_t node = first, run = first; node <= end; node++) {
        if (node < end && is_good(q, &w, node)) {
            continue;
        }
        if (node > run) {
            struct window *own = &q->windows.items[at];
            if (own->spec.count > 0) {
                struct window more = w;
                more.id = q->window_count++;
                myr_vec_push(&q->windows, more);
                own = &q->windows.items[q->windows.count - 1];
            }
            own->spec.first = run;
            own->spec.count = node - run;
        }
        run = node + 1;
    }
}

/* On the nodes in q->nodes, whole ones and the remainder on the last. */
static void start_there(struct myr_queue *q, uint32_t id)
{
    uint32_t per = queue_request_per_node(q, queue_job(q, id)), left = queue_job(q, id)->spec.gpus;
    if (queue_job(q, id)->request != MYR_NONE &&
        queue_request_start_on(q, id, q->nodes.items, (uint32_t)q->nodes.count)) {
        return;
    }
    queue_claim_begin(q, id);
    for (size_t i = 0; i < q->nodes.count; i++) {
        uint32_t here = left < per ? left : per;
        queue_claim_share(q, id, q->nodes.items[i], here);
        left -= here;
    }
    MYR_ASSERT(left == 0);
    queue_claim_end(q, id);
}

void queue_start_reserved(struct myr_queue *q, uint32_t id)
{
    struct qjob *job = queue_job(q, id);
    uint32_t needed = queue_nodes_of(q, job), per = queue_request_per_node(q, job);
    MYR_ASSERT(job->state == MYR_JOB_HELD && job->user_held);
    /* It waits from now on, wherever it starts. */
    job->user_held = false;
    job->since_s += q->now_s - job->held_s;
    queue_settle(q, id);
    if (job->state != MYR_JOB_WAITS) {
        return; /* it waits for another job as well */
    }
    q->nodes.count = 0;
    for (size_t i = 0; i < q->windows.count; i++) {
        const struct window *w = &q->windows.items[i];
        for (uint32_t k = 0; w->job == id + 1 && k < w->spec.count; k++) {
            uint32_t node = w->spec.first + k;
            if (q->nodes.count < needed && is_good(q, w, node) &&
                gpu_count(queue_claimable_gpus(q, node)) >= per &&
                queue_may_stand_with(q, job, q->nodes.items, (uint32_t)q->nodes.count, node)) {
                myr_vec_push(&q->nodes, node);
            }
        }
    }
    /* Nodes were lost: it stands in the order like any other. */
    if (q->nodes.count == needed) {
        start_there(q, id);
    }
}

int64_t myr_queue_reserved_s(const struct myr_queue *q, uint32_t id)
{
    for (size_t i = 0; i < q->windows.count; i++) {
        const struct window *w = &q->windows.items[i];
        if (w->job == id + 1 && !w->cancelled && w->stage < 3) {
            return w->spec.end_s;
        }
    }
    return -1;
}
