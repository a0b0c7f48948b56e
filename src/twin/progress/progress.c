#include "progress/progress.h"

#include <stdlib.h>

#include "myriad/text/amount.h"
#include "progress/progress_books.h"

/*
 * The looks: what is free and who waits, once a minute. What happens in an event is judged in
 * duties.c, from the same books.
 */

struct progress *progress_create(struct check *check, const struct myr_scenario *scenario)
{
    struct progress *p = myr_xcalloc(1, sizeof(*p));
    MYR_ASSERT(check && scenario->shape.nodes > 0);
    p->check = check;
    p->scenario = scenario;
    p->per = scenario->shape.gpus_per_node;
    p->nodes = myr_xcalloc(scenario->shape.nodes, sizeof(*p->nodes));
    p->shares = myr_xcalloc((size_t)scenario->tenants * PRIORITIES, sizeof(*p->shares));
    p->last_ms = -1;
    return p;
}

void progress_free(struct progress *p)
{
    if (p) {
        for (size_t i = 0; i < p->jobs.count; i++) {
            free(p->jobs.items[i].parts);
        }
        myr_vec_done(&p->jobs);
        myr_vec_done(&p->open);
        myr_vec_done(&p->touched);
        myr_vec_done(&p->started);
        free(p->shares);
        free(p->nodes);
        free(p);
    }
}

uint64_t progress_idle_gpu_ms(const struct progress *p)
{
    return p->idle_gpu_ms;
}

void progress_job(struct progress *p, uint32_t id, const struct myr_job_spec *spec)
{
    while (p->jobs.count <= id) {
        myr_vec_push(&p->jobs, (struct pjob){});
    }
    struct pjob *job = pjob_at(p, id);
    if (job->gpus > 0) {
        return; /* accepted again: it is the same */
    }
    *job = (struct pjob){.gpus = spec->gpus,
                         .tenant = spec->tenant,
                         .priority = spec->priority,
                         .limit_s = spec->limit_s,
                         .date_ms = (int64_t)spec->date_min * 60000,
                         .held = spec->held,
                         .shaped = spec->wish.tp + spec->wish.within + spec->wish.leaf_max > 0,
                         .fixed = spec->fixed,
                         .least = spec->gpus_min ? spec->gpus_min : spec->gpus,
                         .within = spec->wish.within > MYR_LEVEL_LEAF
                                       ? spec->wish.within - (uint32_t)MYR_LEVEL_LEAF
                                       : 0,
                         .leaf_max = spec->wish.leaf_max,
                         .after = spec->after ? spec->after - 1 : MYR_NONE,
                         .ready_ms = -1,
                         .fit_ms = -1,
                         .first_ms = -1};
    MYR_ASSERT(job->tenant < p->scenario->tenants && job->gpus > 0);
    myr_vec_push(&p->open, id);
}

/* ---- nodes that may be used ---- */

/* Closed, or about to be, for whoever says nothing of his end; a controller's clock lags behind. */
static bool in_window(const struct progress *p, uint32_t node)
{
    for (uint32_t i = 0; i < p->scenario->window_count; i++) {
        const struct myr_scenario_window *w = &p->scenario->windows[i];
        int64_t from_ms = w->at_ms - w->drain_ms, to_ms = w->at_ms + w->length_ms;
        if (node - w->first < w->count && p->now_ms + p->ahead_ms >= from_ms &&
            p->now_ms <= to_ms + p->lag_ms + WINDOW_SLACK_MS) {
            return true;
        }
    }
    return false;
}

bool progress_usable(const struct progress *p, uint32_t node)
{
    const struct pnode *n = &p->nodes[node];
    return n->state == MYR_NODE_HEALTHY && !n->drained && !n->held && !n->doubted &&
           !in_window(p, node);
}

/*
 * Its own until its place is filled, or the time for that is over: nobody else's room. A bad one
 * too, for when it is well again.
 */
bool progress_is_kept(const struct progress *p, const struct pnode *n)
{
    return n->kept_for > 0 && pjob_at(p, n->kept_for - 1)->mends &&
           p->up_ms - n->kept_ms <= KEPT_MS + 3 * MINUTE_MS;
}

/* Counted by its free GPUs, from now on as it is now. */
void progress_count(struct progress *p, uint32_t node)
{
    struct pnode *n = &p->nodes[node];
    if (n->counted) {
        MYR_ASSERT(p->with_free[n->free] > 0);
        p->with_free[n->free]--;
    }
    p->usable -= n->usable;
    n->usable = progress_usable(p, node);
    p->usable += n->usable;
    n->counted = n->usable && !progress_is_kept(p, n);
    n->free = p->per - (uint32_t)__builtin_popcountll(check_owned(p->check, node));
    if (n->counted) {
        p->with_free[n->free]++;
    }
    MYR_ASSERT(p->usable <= p->scenario->shape.nodes && n->free <= p->per);
}

/* What is kept for a job that mends is so no longer than its time. */
static void count_kept(struct progress *p)
{
    bool keeps = false;
    for (uint32_t n = 0; p->keeps && n < p->scenario->shape.nodes; n++) {
        struct pnode *node = &p->nodes[n];
        if (node->kept_for > 0 && !node->counted && !progress_is_kept(p, node)) {
            /* It stays the host of guests until it runs again. */
            node->kept_for = pjob_at(p, node->kept_for - 1)->mends ? node->kept_for : 0;
            progress_count(p, n);
        }
        keeps = keeps || node->kept_for > 0;
    }
    p->keeps = keeps;
}

/* Windows begin and end without an event. */
static void count_windows(struct progress *p)
{
    for (uint32_t i = 0; i < p->scenario->window_count; i++) {
        const struct myr_scenario_window *w = &p->scenario->windows[i];
        for (uint32_t n = w->first; n < w->first + w->count; n++) {
            if (p->nodes[n].counted !=
                (progress_usable(p, n) && !progress_is_kept(p, &p->nodes[n]))) {
                progress_count(p, n);
            }
        }
    }
}

uint32_t progress_nodes_of(const struct progress *p, uint32_t gpus)
{
    return (gpus + p->per - 1) / p->per;
}

/* Nodes that are kept for the job and are sound. */
static uint32_t own_nodes(const struct progress *p, uint32_t id)
{
    uint32_t own = 0;
    for (uint32_t n = 0; pjob_at(p, id)->mends && n < p->scenario->shape.nodes; n++) {
        own += p->nodes[n].kept_for == id + 1 && !p->nodes[n].counted && progress_usable(p, n);
    }
    return own;
}

/* Whole free nodes that lie as near together as it asks, of the leaves or the pod with most. */
static uint32_t near_nodes(const struct progress *p, const struct pjob *job)
{
    const struct myr_place_shape *shape = &p->scenario->shape;
    uint32_t best = 0, sum = 0, leaf = 0;
    for (uint32_t n = 0; n < shape->nodes; n++) {
        bool leaf_begins = n % shape->group_nodes == 0;
        bool begins =
            job->within == 1 ? leaf_begins : job->within == 2 && n % shape->pod_nodes == 0;
        sum = begins ? 0 : sum;
        leaf = leaf_begins ? 0 : leaf;
        bool is_free = p->nodes[n].counted && p->nodes[n].free == p->per;
        leaf += is_free;
        sum += is_free && (job->leaf_max == 0 || leaf <= job->leaf_max);
        best = sum > best ? sum : best;
    }
    return best;
}

/* Whether so many GPUs are free together: on one node, or on whole ones. */
static bool fits(const struct progress *p, uint32_t id)
{
    uint32_t gpus = pjob_at(p, id)->gpus, own = own_nodes(p, id);
    uint32_t nodes = progress_nodes_of(p, gpus), spares = p->scenario->policy.spares;
    /* Spares serve gangs that mend, and who could never run without them. */
    uint32_t dated = progress_dated_nodes(p);
    uint32_t whole = p->with_free[p->per] > dated ? p->with_free[p->per] - dated : 0;
    spares = spares < whole ? spares : whole; /* as many of them as there are now */
    bool spared = (pjob_at(p, id)->mends && nodes > 1) || p->usable < nodes + spares;
    whole = spared ? whole : whole > spares ? whole - spares : 0;
    if (pjob_is_near(pjob_at(p, id))) { /* spares and nodes of a date may be just those */
        return near_nodes(p, pjob_at(p, id)) >= nodes + p->scenario->policy.spares + dated;
    }
    if (gpus >= p->per) {
        return whole + own >= nodes;
    }
    uint32_t some = whole + own; /* any of the others may be those of a date */
    for (uint32_t f = gpus; f < p->per; f++) {
        some += p->with_free[f];
    }
    return some > (whole + own > 0 ? 0 : dated);
}

/* ---- who waits ---- */

bool progress_is_ready(const struct progress *p, const struct pjob *job)
{
    bool alone = job->after == MYR_NONE || (job->after < p->jobs.count &&
                                            p->jobs.items[job->after].state == MYR_CONTROL_DONE);
    return job->state == MYR_CONTROL_QUEUED && alone && !job->held &&
           (job->date_ms == 0 || p->now_ms + p->step_ms >= job->date_ms);
}

uint32_t progress_dated_nodes(const struct progress *p)
{
    uint32_t nodes = 0;
    for (size_t i = 0; i < p->open.count; i++) {
        const struct pjob *job = pjob_at(p, p->open.items[i]);
        bool waits = job->date_ms > 0 && job->state <= MYR_CONTROL_PLACING;
        nodes += waits ? progress_nodes_of(p, job->gpus) : 0;
    }
    return nodes;
}

/* Those that are over are left out from now on; the others stay in the order of their numbers. */
static void drop_over(struct progress *p)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->open.count; i++) {
        if (pjob_at(p, p->open.items[i])->state < MYR_CONTROL_DONE) {
            p->open.items[kept++] = p->open.items[i];
        }
    }
    p->open.count = kept;
}

/* Of those that wait: whom all others may be kept waiting for. */
static const struct pjob *first_of_all(const struct progress *p)
{
    const struct pjob *best = NULL;
    for (size_t i = 0; i < p->open.count; i++) {
        const struct pjob *job = pjob_at(p, p->open.items[i]);
        if (progress_is_ready(p, job) && (!best || job->gpus > best->gpus)) {
            best = job;
        }
    }
    return best;
}

/* For how long it has waited in sight of room, and longer than it may. */
static int64_t too_long_ms(struct progress *p, struct pjob *job, const struct pjob *first)
{
    /* What it could have may be kept for a larger one. */
    bool excused = job->gpus < first->gpus, fifo = p->scenario->queue_policy == MYR_QUEUE_FIFO;
    job->fit_ms = job->fit_ms < 0 ? p->up_ms : job->fit_ms;
    job->first_ms = excused ? -1 : job->first_ms < 0 ? p->up_ms : job->first_ms;
    if (!excused && p->up_ms - job->first_ms > IDLE_MS) {
        return p->up_ms - job->first_ms;
    }
    return !fifo && p->up_ms - job->fit_ms > HELD_MS ? p->up_ms - job->fit_ms : 0;
}

static void look_at_waiting(struct progress *p, int64_t passed_ms)
{
    const struct pjob *first = first_of_all(p);
    uint64_t wanted = 0, idle = 0;
    for (size_t i = 0; i < p->open.count; i++) {
        struct pjob *job = pjob_at(p, p->open.items[i]);
        bool ready = progress_is_ready(p, job);
        job->ready_ms = !ready ? -1 : job->ready_ms < 0 ? p->up_ms : job->ready_ms;
        if (!ready || !fits(p, p->open.items[i])) {
            job->fit_ms = job->first_ms = -1;
            continue;
        }
        wanted += job->gpus;
        int64_t ms = too_long_ms(p, job, first);
        if (ms > 0) {
            check_violated(p->check, RULE_IDLE,
                           "job %u of %s waits for %lld s in sight of %s whole and free",
                           p->open.items[i], MYR_COUNT(job->gpus, "GPU"), (long long)ms / 1000,
                           MYR_COUNT(p->with_free[p->per], "node"));
            job->fit_ms = job->first_ms = p->up_ms; /* told once */
        }
    }
    for (uint32_t f = 1; f <= p->per; f++) {
        idle += (uint64_t)f * p->with_free[f];
    }
    p->idle_gpu_ms += (wanted < idle ? wanted : idle) * (uint64_t)passed_ms;
}

/* ---- who was overtaken ---- */

/* GPUs of those that run, by tenant and priority, summed over the jobs behind. */
static uint64_t *share_of(struct progress *p, const struct pjob *job)
{
    return &p->shares[(size_t)job->tenant * PRIORITIES + (size_t)(job->priority + PRIORITIES / 2)];
}

static bool has_gpus(const struct pjob *job)
{
    return job->state > MYR_CONTROL_QUEUED && job->state < MYR_CONTROL_DONE;
}

/* Of its own tenant and priority: shares and priorities may go before whoever came first. */
static void look_at_order(struct progress *p, int64_t passed_ms)
{
    uint64_t cluster = (uint64_t)p->scenario->shape.nodes * p->per;
    for (size_t i = 0; i < p->open.count; i++) {
        struct pjob *job = pjob_at(p, p->open.items[i]);
        if (has_gpus(job)) {
            *share_of(p, job) += job->gpus;
        } else if (progress_is_ready(p, job)) {
            job->earlier += *share_of(p, job) * (uint64_t)passed_ms;
        }
    }
    for (size_t i = 0; i < p->open.count; i++) {
        *share_of(p, pjob_at(p, p->open.items[i])) = 0;
    }
    for (size_t i = p->open.count; i > 0; i--) {
        struct pjob *job = pjob_at(p, p->open.items[i - 1]);
        if (has_gpus(job)) {
            *share_of(p, job) += job->gpus;
            job->earlier = job->later = 0;
        } else if (progress_is_ready(p, job) &&
                   p->usable >= progress_nodes_of(p, job->gpus) + progress_dated_nodes(p)) {
            job->later += *share_of(p, job) * (uint64_t)passed_ms;
            if (job->later > cluster * OVERTAKEN_MS + 2 * job->earlier) {
                check_violated(p->check, RULE_OVERTAKEN,
                               "job %u of %s waits while jobs that came later had %llu GPU hours",
                               p->open.items[i - 1], MYR_COUNT(job->gpus, "GPU"),
                               (unsigned long long)(job->later / 3600000));
                job->later = 0; /* told once */
            }
        }
    }
    for (size_t i = 0; i < p->open.count; i++) {
        *share_of(p, pjob_at(p, p->open.items[i])) = 0;
    }
}

/* ---- a look ---- */

/* Ranks that a window should have found gone; who is not heard cannot be stopped. */
static void look_at_windows(struct progress *p)
{
    for (uint32_t i = 0; i < p->scenario->window_count; i++) {
        const struct myr_scenario_window *w = &p->scenario->windows[i];
        bool open = p->now_ms - p->lag_ms >= w->at_ms + WINDOW_EMPTY_MS &&
                    p->now_ms + p->ahead_ms < w->at_ms + w->length_ms;
        for (uint32_t n = w->first; open && n < w->first + w->count; n++) {
            if (p->nodes[n].state == MYR_NODE_HEALTHY && check_node_live(p->check, n) > 0) {
                check_violated(p->check, RULE_WINDOW,
                               "ranks run on node/%05u, %lld s after its window began", n,
                               (long long)(p->now_ms - w->at_ms) / 1000);
                return; /* one is enough for a look */
            }
        }
    }
}

static void look_at_end(struct progress *p)
{
    if (p->end_ms > 0 && p->up_ms > p->end_ms && p->open.count > 0) {
        uint32_t id = p->open.items[0];
        check_violated(
            p->check, RULE_ENDLESS, "job %u is still %s, with %s beside it, in peace", id,
            myr_control_job_state_name((enum myr_control_job_state)pjob_at(p, id)->state),
            MYR_COUNT(p->open.count - 1, "job"));
        p->end_ms = 0; /* told once */
    }
}

void progress_look(struct progress *p, int64_t now_ms, bool up)
{
    int64_t passed_ms = p->last_ms < 0 ? 0 : now_ms - p->last_ms;
    MYR_ASSERT(passed_ms >= 0);
    p->now_ms = p->last_ms = now_ms;
    if (!up) {
        return;
    }
    p->up_ms += passed_ms;
    drop_over(p);
    count_windows(p);
    count_kept(p);
    look_at_waiting(p, passed_ms);
    look_at_windows(p);
    p->order_ms += passed_ms;
    bool fair = p->scenario->queue_policy == MYR_QUEUE_FAIR ||
                p->scenario->queue_policy == MYR_QUEUE_PREEMPT;
    if (fair && p->order_ms >= ORDER_MS) { /* costs more, and needs no better resolution */
        look_at_order(p, p->order_ms);
        p->order_ms = 0;
    }
    look_at_end(p);
}

void progress_clock(struct progress *p, int64_t step_ms)
{
    p->ahead_ms += step_ms > 0 ? step_ms : 0;
    p->step_ms += step_ms;
    p->jumped = true;
}

/* ---- calms ---- */

void progress_calm(struct progress *p, bool calm)
{
    p->calm = calm;
    for (uint32_t i = 0; i < p->scenario->shape.nodes; i++) {
        p->nodes[i].calm_ms = p->up_ms;
    }
}

void progress_node(struct progress *p, uint32_t node, bool sound)
{
    struct pnode *n = &p->nodes[node];
    MYR_ASSERT(node < p->scenario->shape.nodes && p->calm);
    if (!sound || n->drained || n->held || n->state == MYR_NODE_HEALTHY) {
        n->calm_ms = p->up_ms;
    } else if (p->up_ms - n->calm_ms > UNMENDED_MS) {
        check_violated(p->check, RULE_UNMENDED, "node/%05u is sound, and %s for %lld s of peace",
                       node, myr_node_state_name((enum myr_node_state)n->state),
                       (long long)(p->up_ms - n->calm_ms) / 1000);
        n->calm_ms = p->up_ms; /* told once */
    }
}

void progress_last(struct progress *p, uint64_t gpu_ms)
{
    uint64_t cluster = (uint64_t)p->scenario->shape.nodes * p->per;
    p->end_ms = p->up_ms + END_MS + (int64_t)(3 * gpu_ms / cluster);
}
