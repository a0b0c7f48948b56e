#include "myriad/sched/trial.h"

#include <stdlib.h>

#include "myriad/sched/defrag.h"
#include "myriad/sched/snapshot.h"
#include "queue/state.h"

/* So many candidates of one kind are tried; more than that takes longer than anybody waits. */
enum { TRIES_MAX = 160, WEIGHT_DOUBLINGS = 12 };

/*
 * Changes are found by trying. Each is made in a copy of the queue, through the same functions that
 * events use, and the copy decides; what starts the job there is told. Copies share one piece of
 * memory, and the queue itself is never changed.
 */

struct search {
    const struct myr_queue *q;
    struct myr_queue *copy; /* its memory is used for every try */
    int64_t now_s;
    uint32_t id, found; /* the job; changes found so far */
    struct myr_trial *ret;
};

/* In a copy: whoever still leaves is gone at once. */
static void end_job(struct myr_queue *q, uint32_t id)
{
    const struct qjob *job = queue_job(q, id);
    MYR_ASSERT(id < q->job_count);
    if (job->state == MYR_JOB_STOPPING) {
        for (uint32_t at = 0; at < q->stakes.count && job->leaving > 0; at++) {
            const struct stake *stake = &q->stakes.items[at];
            if (stake->node != MYR_NONE && stake->job == id && stake->epoch) {
                queue_stake_gone(q, stake->node, at);
            }
        }
        MYR_ASSERT(job->leaving == 0);
        queue_settle(q, id);
        return;
    }
    /* A job with a claim cannot end: it gives the claim up first. */
    if (job->state == MYR_JOB_CLAIMS) {
        queue_claim_drop(q, id);
        queue_settle(q, id);
    }
    queue_end_job(q, id, MYR_RESULT_OK, MYR_STOP_NONE);
}

/* Whatever was wrong with it is over. */
static void open_node(struct myr_queue *q, uint32_t node)
{
    /* Only what makes a node bad: a hold or a spare is no fault of the node. */
    for (uint32_t bit = 1; bit <= CLOSED_AVOID; bit <<= 1) {
        if (q->closed[node] & bit & CLOSED_BAD) {
            queue_close_node(q, node, (uint8_t)bit, false);
        }
    }
    queue_cells_node(q, node);
}

/* Out of its line, changed, and back: what it may do has changed. */
static void change_request(struct myr_queue *q, uint32_t id, enum myr_trial_kind kind)
{
    struct qrequest *r = &q->requests.items[queue_job(q, id)->request];
    /* What was found not to fit may fit without the constraint. */
    r->failed = 0;
    if (kind == MYR_TRIAL_DROP_LIMIT) {
        r->limited = 0;
    } else if (kind == MYR_TRIAL_DROP_SPREAD) {
        r->leaf_max = 0;
        memset(r->zone_max, 0, sizeof(r->zone_max));
    } else if (kind == MYR_TRIAL_DROP_KIND) {
        r->kind_given = 0;
    } else if (r->exclude) {
        memset(r->exclude, 0, r->exclude_words * sizeof(uint64_t));
    }
}

/* As myr_queue_set_weight() does, for one tenant alone. */
static void set_weight(struct myr_queue *q, uint32_t tenant, uint32_t weight)
{
    struct brothers *b =
        &q->brothers[q->tenants[tenant].parent == MYR_NONE ? 0 : q->tenants[tenant].parent + 1];
    uint32_t was = q->tenants[tenant].weight ? q->tenants[tenant].weight : 1;
    /* Brothers share by the weight of those that have jobs. */
    MYR_ASSERT(weight > 0);
    MYR_ASSERT((!q->tenant_jobs[tenant] || b->weight >= was));
    b->weight += q->tenant_jobs[tenant] ? (uint64_t)weight - was : 0;
    q->tenants[tenant].weight = weight;
    q->shares++;
}

/* What the change says, made in a copy; refused changes change nothing. */
static void make_change(struct myr_queue *q, uint32_t id, const struct myr_trial *t)
{
    int rc = MYR_OK;
    switch (t->kind) {
    case MYR_TRIAL_RELEASE:
        rc = myr_queue_hold(q, q->now_s, id, false);
        break;
    case MYR_TRIAL_ANY_LEAVES:
        q->policy.locality_s = 0;
        break;
    case MYR_TRIAL_DROP_LIMIT:
    case MYR_TRIAL_DROP_SPREAD:
    case MYR_TRIAL_DROP_KIND:
    case MYR_TRIAL_DROP_EXCLUDE:
        change_request(q, id, t->kind);
        break;
    case MYR_TRIAL_FEWER_GPUS:
        rc = myr_queue_resize(q, q->now_s, id, t->gpus);
        break;
    case MYR_TRIAL_PRIORITY:
        rc = myr_queue_reprioritise(q, q->now_s, id, t->priority);
        break;
    case MYR_TRIAL_WEIGHT:
        set_weight(q, queue_job(q, id)->spec.tenant, t->weight);
        break;
    case MYR_TRIAL_NODE_BACK:
    case MYR_TRIAL_NODES_BACK:
        for (uint32_t node = t->node; node <= t->last && node < q->shape.nodes; node++) {
            open_node(q, node);
        }
        break;
    case MYR_TRIAL_NO_SPARES:
        myr_queue_keep_spares(q, 0);
        break;
    case MYR_TRIAL_MOVE:
        for (uint32_t i = 0; i < t->move_count; i++) {
            queue_move_share(q, t->moves[i].job, &t->moves[i].from, &t->moves[i].to);
        }
        break;
    default:
        for (uint32_t i = 0; i < t->job_count && i < MYR_TRIAL_JOBS_MAX; i++) {
            end_job(q, t->jobs[i]);
        }
    }
    (void)rc; /* what the queue refuses does not start the job */
}

void myr_queue_apply_trial(struct myr_queue *q, int64_t now_s, uint32_t id,
                           const struct myr_trial *trial)
{
    /* An older time is the queue's own: its clock never goes back. */
    if (id < q->job_count && queue_advance(q, now_s > q->now_s ? now_s : q->now_s) == MYR_OK) {
        make_change(q, id, trial);
    }
}

/* A claim is a start as well: nobody else gets the GPUs any more. */
static bool has_started(const struct myr_queue *q, uint32_t id)
{
    return queue_is_on(queue_job(q, id)) || queue_job(q, id)->state == MYR_JOB_CLAIMS;
}

/* Whether the job starts with the change; NULL: with none. */
static bool starts_with(struct search *s, const struct myr_trial *trial)
{
    uint32_t count;
    myr_queue_copy(s->q, &s->copy);
    if (trial) {
        myr_queue_apply_trial(s->copy, s->now_s, s->id, trial);
    }
    (void)myr_queue_decide(s->copy, s->now_s, &count);
    MYR_ASSERT(s->copy->now_s >= s->q->now_s);
    MYR_ASSERT(s->copy->job_count >= s->q->job_count);
    return has_started(s->copy, s->id);
}

/* Keeps what starts the job. */
static bool try_change(struct search *s, const struct myr_trial *trial)
{
    /* A full list ends every further try. */
    if (s->found == MYR_TRIALS_MAX || !starts_with(s, trial)) {
        return false;
    }
    s->ret[s->found++] = *trial;
    return true;
}

static const struct qjob *own(const struct search *s)
{
    return queue_job(s->q, s->id);
}

/* Each constraint alone. */
static void try_request(struct search *s)
{
    if (own(s)->request == MYR_NONE) {
        return;
    }
    const struct qrequest *r = &s->q->requests.items[own(s)->request];
    const bool given[] = {r->limited, r->leaf_max || r->zone_max[0] || r->zone_max[1],
                          r->kind_given, r->exclude != NULL};
    /* In the order of the kinds, which begin with the limit. */
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(given); i++) {
        struct myr_trial t = {.kind = (enum myr_trial_kind)(MYR_TRIAL_DROP_LIMIT + i)};
        if (given[i]) {
            (void)try_change(s, &t);
        }
    }
}

/* From as many as possible down: whole nodes first, then parts of one. */
static void try_fewer(struct search *s)
{
    uint32_t per = queue_request_per_node(s->q, own(s)), tries = 0;
    uint32_t gpus = own(s)->spec.gpus;
    while (gpus > 1 && tries++ < TRIES_MAX) {
        uint32_t nodes = (gpus - 1) / per;
        if (gpus > per) {
            /* Past what the tries suffice for, in larger steps. */
            uint32_t step = 1 + nodes / (TRIES_MAX / 2);
            gpus = nodes > step ? (nodes - step + 1) * per : nodes * per;
        } else {
            gpus--;
        }
        struct myr_trial t = {.kind = MYR_TRIAL_FEWER_GPUS, .gpus = gpus};
        if (try_change(s, &t)) {
            return;
        }
    }
}

/* Priorities matter where they pass somebody's. */
static void try_priority(struct search *s)
{
    bool passes[2 * MYR_PRIORITY_MAX + 1] = {false};
    for (size_t i = 0; i < s->q->jobs.count; i++) {
        const struct qjob *job = &s->q->jobs.items[i];
        if (job->id != MYR_NONE && job->state != MYR_JOB_DONE &&
            job->spec.priority < MYR_PRIORITY_MAX) {
            /* Just above somebody: any priority between two of those changes nothing. */
            passes[job->spec.priority + 1 + MYR_PRIORITY_MAX] = true;
        }
    }
    /* The highest one is tried in any case. */
    passes[2 * MYR_PRIORITY_MAX] = true;
    for (int32_t p = own(s)->spec.priority + 1; p <= MYR_PRIORITY_MAX; p++) {
        struct myr_trial t = {.kind = MYR_TRIAL_PRIORITY, .priority = p};
        if (passes[p + MYR_PRIORITY_MAX] && try_change(s, &t)) {
            return;
        }
    }
}

/* Doubled each time: shares are compared in octaves. */
static void try_weight(struct search *s)
{
    uint32_t weight = s->q->tenants[own(s)->spec.tenant].weight;
    weight = weight ? weight : 1;
    /* With one tenant there is nobody to share with. */
    for (uint32_t i = 0; i < WEIGHT_DOUBLINGS && s->q->tenant_count > 1 && weight < 1U << 24; i++) {
        weight *= 2;
        struct myr_trial t = {.kind = MYR_TRIAL_WEIGHT, .weight = weight};
        if (try_change(s, &t)) {
            return;
        }
    }
}

/* Nodes that are not in use, in the order of numbers: neighbours lie under one leaf. */
struct bad_nodes {
    uint32_t *nodes, count;
};

static struct bad_nodes bad_nodes_of(const struct myr_queue *q)
{
    struct bad_nodes bad = {.nodes = myr_xcalloc(q->shape.nodes, sizeof(*bad.nodes))};
    for (uint32_t node = 0; node < q->shape.nodes; node++) {
        if (q->closed[node] & CLOSED_BAD) {
            bad.nodes[bad.count++] = node;
        }
    }
    return bad;
}

/* From the one at 'first' on, so many of them. */
static struct myr_trial nodes_back(const struct bad_nodes *bad, uint32_t first, uint32_t count)
{
    MYR_ASSERT(count > 0);
    MYR_ASSERT(first + count <= bad->count);
    return (struct myr_trial){.kind = count == 1 ? MYR_TRIAL_NODE_BACK : MYR_TRIAL_NODES_BACK,
                              .node = bad->nodes[first],
                              .last = bad->nodes[first + count - 1],
                              .nodes = count};
}

static bool starts_with_nodes(struct search *s, const struct bad_nodes *bad, uint32_t first,
                              uint32_t count)
{
    struct myr_trial t = nodes_back(bad, first, count);
    return starts_with(s, &t);
}

/*
 * The least number of the first ones that is enough; 0: none is. By doubling and halving: each try
 * is a decision of the whole queue, and a cluster may have thousands of nodes that never came.
 */
static uint32_t least_from_first(struct search *s, const struct bad_nodes *bad)
{
    uint32_t few = 1, enough = 2; /* one alone was tried */
    while (!starts_with_nodes(s, bad, 0, enough)) {
        if (enough == bad->count) {
            return 0;
        }
        few = enough;
        enough = enough > bad->count / 2 ? bad->count : 2 * enough;
    }
    while (enough - few > 1) {
        uint32_t middle = few + (enough - few) / 2;
        if (starts_with_nodes(s, bad, 0, middle)) {
            enough = middle;
        } else {
            few = middle;
        }
    }
    return enough;
}

/* Of the first 'count', which are enough: how many in front are not needed. */
static uint32_t unneeded_in_front(struct search *s, const struct bad_nodes *bad, uint32_t count)
{
    uint32_t unneeded = 0, needed = count;
    while (needed - unneeded > 1) {
        uint32_t middle = unneeded + (needed - unneeded) / 2;
        if (starts_with_nodes(s, bad, middle, count - middle)) {
            unneeded = middle;
        } else {
            needed = middle;
        }
    }
    return unneeded;
}

/* One node alone, else as few neighbours as are enough. */
static void try_nodes(struct search *s)
{
    struct bad_nodes bad = bad_nodes_of(s->q);
    bool found = false;
    /* A large cluster may have more bad nodes than there is time to try. */
    for (uint32_t i = 0; i < bad.count && i < TRIES_MAX && !found; i++) {
        struct myr_trial one = nodes_back(&bad, i, 1);
        found = try_change(s, &one);
    }
    uint32_t count = found || bad.count < 2 ? 0 : least_from_first(s, &bad);
    if (count > 0) {
        uint32_t first = unneeded_in_front(s, &bad, count);
        struct myr_trial several = nodes_back(&bad, first, count - first);
        (void)try_change(s, &several);
    }
    free(bad.nodes);
}

/* The smallest first, so that the least is told that is enough; ids make the order total. */
static int by_gpus(const void *a, const void *b)
{
    const struct qjob *x = *(const struct qjob *const *)a, *y = *(const struct qjob *const *)b;
    if (x->spec.gpus != y->spec.gpus) {
        return x->spec.gpus < y->spec.gpus ? -1 : 1;
    }
    return x->id < y->id ? -1 : x->id > y->id;
}

/* The smallest job whose end is enough: one that runs, or one that stands before it. */
static bool try_end(struct search *s)
{
    const struct myr_queue *q = s->q;
    /* One entry more, so that an empty queue has an array. */
    const struct qjob **jobs = myr_xcalloc(q->jobs.count + 1, sizeof(*jobs));
    uint32_t count = 0, free_gpus = myr_placer_free_gpus(q->placer), tries = 0;
    for (size_t i = 0; i < q->jobs.count; i++) {
        const struct qjob *job = &q->jobs.items[i];
        bool counts = job->id != MYR_NONE && job->id != s->id && job->state != MYR_JOB_DONE &&
                      job->state != MYR_JOB_HELD && job->state != MYR_JOB_BLOCKED;
        /* Who frees too little cannot help, unless cells or holds are in the way instead. */
        bool enough = !queue_is_on(job) || q->cells || q->holds.count ||
                      (uint64_t)job->spec.gpus + free_gpus >= own(s)->spec.gpus;
        if (counts && enough) {
            jobs[count++] = job;
        }
    }
    qsort(jobs, count, sizeof(const struct qjob *), by_gpus);
    bool found = false;
    for (uint32_t i = 0; i < count && !found && tries++ < TRIES_MAX; i++) {
        struct myr_trial t = {.kind = MYR_TRIAL_END_JOB,
                              .gpus = jobs[i]->spec.gpus,
                              .job_count = 1,
                              .jobs = {jobs[i]->id}};
        found = try_change(s, &t);
    }
    free(jobs);
    return found;
}

/* Adds the jobs whose end would make room in the copy as it is; false when there are none. */
static bool add_stops(struct search *s, struct myr_trial *t)
{
    /* Nobody new means that the search goes in a circle. */
    uint32_t before = t->job_count;
    if (queue_job(s->copy, s->id)->state != MYR_JOB_WAITS ||
        !queue_find_stops(s->copy, s->id, own(s)->spec.priority, true)) {
        return false;
    }
    for (size_t i = 0; i < s->copy->victims.count && t->job_count < MYR_TRIAL_JOBS_MAX; i++) {
        uint32_t id = s->copy->victims.items[i];
        bool known = false;
        for (uint32_t k = 0; k < t->job_count && !known; k++) {
            known = t->jobs[k] == id;
        }
        if (!known) {
            t->jobs[t->job_count++] = id;
            t->gpus += queue_job(s->q, id)->spec.gpus;
        }
    }
    return t->job_count > before;
}

/*
 * Several: those that lose the least; and as long as others take the room that they leave, those
 * that would have to go as well.
 */
static void try_end_several(struct search *s)
{
    struct myr_trial t = {.kind = MYR_TRIAL_END_JOBS};
    /* The copy as it decides by itself: what is missing is looked for there. */
    (void)starts_with(s, NULL);
    while (add_stops(s, &t)) {
        if (try_change(s, &t)) {
            return;
        }
    }
}

/* Running jobs that can be moved, for a plan. */
static void try_move(struct search *s)
{
    const struct myr_queue *q = s->q;
    struct myr_running *jobs = myr_xcalloc(q->jobs.count + 1, sizeof(*jobs));
    uint32_t *ids = myr_xcalloc(q->jobs.count + 1, sizeof(*ids)), count = 0;
    for (size_t i = 0; i < q->jobs.count; i++) {
        struct qjob *job = &q->jobs.items[i];
        if (job->id != MYR_NONE && queue_is_on(job)) {
            /* What cannot be moved without breaking a promise counts as fixed to its nodes. */
            bool pinned = job->state != MYR_JOB_RUNS || job->owner != MYR_NONE || job->spec.fixed ||
                          job->request != MYR_NONE || job->leaving;
            jobs[count] = (struct myr_running){&job->gang, (uint32_t)q->policy.restart_s, pinned};
            ids[count++] = job->id;
        }
    }
    /* A small job needs some GPUs of one node. */
    struct myr_request request = {.nodes = queue_nodes_of(q, own(s))};
    if (own(s)->request != MYR_NONE) {
        request = queue_request_of(q, own(s));
    } else if (!queue_is_gang(q, own(s)->spec.gpus)) {
        request.gpus_per_node = own(s)->spec.gpus;
    }
    struct myr_defrag_plan plan = {};
    struct myr_trial t = {.kind = MYR_TRIAL_MOVE};
    if (myr_defrag(q->placer, &request, jobs, count, &plan, NULL) == MYR_OK) {
        for (size_t i = 0; i < plan.moves.count && i < MYR_TRIAL_JOBS_MAX; i++) {
            const struct myr_migration *m = &plan.moves.items[i];
            t.moves[t.move_count++] = (struct myr_trial_move){ids[m->job], m->from, m->to};
            t.gpus += gpu_count(m->from.gpus);
        }
        /* A plan that is cut off would not free what it promises. */
        if (t.move_count && t.move_count == plan.moves.count) {
            (void)try_change(s, &t);
        }
        myr_defrag_done(&plan);
    }
    free(jobs);
    free(ids);
}

uint32_t myr_queue_trials(const struct myr_queue *q, int64_t now_s, uint32_t id,
                          struct myr_trial *ret)
{
    struct search s = {.q = q, .now_s = now_s > q->now_s ? now_s : q->now_s, .id = id, .ret = ret};
    if (id >= q->job_count ||
        (queue_job(q, id)->state != MYR_JOB_WAITS && queue_job(q, id)->state != MYR_JOB_HELD)) {
        return 0;
    }
    /* If it starts by itself with the next decision, nothing has to change. */
    if (!starts_with(&s, NULL)) {
        struct myr_trial release = {.kind = MYR_TRIAL_RELEASE};
        struct myr_trial leaves = {.kind = MYR_TRIAL_ANY_LEAVES};
        struct myr_trial spares = {.kind = MYR_TRIAL_NO_SPARES};
        if (queue_job(q, id)->state == MYR_JOB_HELD) {
            (void)try_change(&s, &release);
        }
        if (q->policy.locality_s > 0) {
            (void)try_change(&s, &leaves);
        }
        try_request(&s);
        try_fewer(&s);
        try_priority(&s);
        try_weight(&s);
        try_nodes(&s);
        if (q->spares_kept > 0) {
            (void)try_change(&s, &spares);
        }
        try_move(&s);
        /* Several only where no single one is enough. */
        if (!try_end(&s)) {
            try_end_several(&s);
        }
    }
    myr_queue_free(s.copy);
    return s.found;
}
