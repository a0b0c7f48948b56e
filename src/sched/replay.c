#include <stdlib.h>

#include "myriad/sched/replay.h"

struct running {
    struct myr_gang gang;
    int64_t waited;
    uint32_t next, previous; /* in its line */
    bool runs;
};

/* Jobs of one tenant and one size wait in one line: the first of it stands for all. */
struct line {
    uint32_t tenant, gpus;
    uint32_t first, last; /* jobs; MYR_NONE: empty */
};

struct replay {
    const struct myr_joblog *trace;
    const struct myr_replay_options *options;
    struct myr_placer *placer;
    struct running *jobs;
    MYR_VEC(struct line) lines;
    struct myr_u64map line_of; /* tenant and size to line */
    uint64_t *tenant_gpus;     /* running */
    struct myr_heap ends;
    int64_t now;
    uint32_t held_for; /* job for which nodes are held, or MYR_NONE */
    MYR_VEC(uint32_t) held;
    int64_t *node_youngest; /* start of the latest job on each node */
    uint32_t waiting;
    struct myr_replay_result result;
};

struct myr_replay_options myr_replay_default(const struct myr_place_shape *shape)
{
    return (struct myr_replay_options){.shape = *shape,
                                       .order = MYR_ORDER_FAIR,
                                       .patience_s = 24 * 3600,
                                       .hold_s = 900,
                                       .locality_s = 3600};
}

static uint32_t line_for(struct replay *r, const struct myr_job_row *job)
{
    uint64_t key = (uint64_t)job->tenant << 32 | job->gpus;
    const uint32_t *known = myr_u64map_find(&r->line_of, key);
    if (known) {
        return *known;
    }
    struct line line = {job->tenant, job->gpus, MYR_NONE, MYR_NONE};
    myr_vec_push(&r->lines, line);
    myr_u64map_add(&r->line_of, key, (uint32_t)r->lines.count - 1);
    return (uint32_t)r->lines.count - 1;
}

static void enqueue(struct replay *r, uint32_t id)
{
    uint32_t at = line_for(r, &r->trace->jobs.items[id]); /* may move the lines */
    struct line *line = &r->lines.items[at];
    struct running *job = &r->jobs[id];
    job->next = MYR_NONE;
    job->previous = line->last;
    if (line->last != MYR_NONE) {
        r->jobs[line->last].next = id;
    } else {
        line->first = id;
    }
    line->last = id;
    r->waiting++;
}

static void dequeue(struct replay *r, uint32_t id)
{
    uint32_t at = line_for(r, &r->trace->jobs.items[id]); /* may move the lines */
    struct line *line = &r->lines.items[at];
    struct running *job = &r->jobs[id];
    if (job->previous != MYR_NONE) {
        r->jobs[job->previous].next = job->next;
    } else {
        line->first = job->next;
    }
    if (job->next != MYR_NONE) {
        r->jobs[job->next].previous = job->previous;
    } else {
        line->last = job->previous;
    }
    r->waiting--;
}

static void start_job(struct replay *r, uint32_t id)
{
    const struct myr_job_row *spec = &r->trace->jobs.items[id];
    const struct myr_place_shape *shape = &r->options->shape;
    struct running *job = &r->jobs[id];
    dequeue(r, id);
    job->waited = r->now - spec->submit_s;
    if (job->gang.count > 1) {
        uint32_t least = (job->gang.count + shape->group_nodes - 1) / shape->group_nodes;
        r->result.leaf_span += (double)myr_gang_groups(r->placer, &job->gang) / least;
    }
    job->runs = true;
    r->tenant_gpus[spec->tenant] += spec->gpus;
    for (uint32_t i = 0; i < job->gang.count; i++) {
        r->node_youngest[job->gang.shares[i].node] = r->now;
    }
    myr_heap_push(&r->ends, r->now + spec->duration_s, id);
    r->result.hash += myr_hash_u64((uint64_t)id << 32 ^ (uint64_t)r->now);
    r->result.decisions++;
}

static bool try_start(struct replay *r, uint32_t id)
{
    const struct myr_job_row *spec = &r->trace->jobs.items[id];
    struct running *job = &r->jobs[id];
    if (!myr_place_fits(r->placer, spec->gpus)) {
        return false;
    }
    if (!job->gang.shares) {
        job->gang.shares =
            myr_xcalloc(myr_place_nodes(r->placer, spec->gpus), sizeof(*job->gang.shares));
    }
    bool placed = myr_place(r->placer, spec->gpus, &job->gang);
    MYR_ASSERT(placed);
    start_job(r, id);
    return true;
}

static void end_job(struct replay *r, uint32_t id)
{
    const struct myr_job_row *spec = &r->trace->jobs.items[id];
    myr_release(r->placer, &r->jobs[id].gang);
    r->tenant_gpus[spec->tenant] -= spec->gpus;
    r->jobs[id].runs = false;
}

static int64_t waited(const struct replay *r, uint32_t id)
{
    return r->now - r->trace->jobs.items[id].submit_s;
}

/* Whether the job may start now: it fits, and near enough or it has waited for that long enough. */
static bool may_start(const struct replay *r, uint32_t id)
{
    uint32_t gpus = r->trace->jobs.items[id].gpus;
    if (!myr_place_fits(r->placer, gpus)) {
        return false;
    }
    return gpus <= r->options->shape.gpus_per_node || waited(r, id) >= r->options->locality_s ||
           myr_place_fits_group(r->placer, gpus);
}

static bool overdue(const struct replay *r, uint32_t id)
{
    return r->options->patience_s > 0 && waited(r, id) >= r->options->patience_s;
}

/* The next job in the policy's order among those that fit; MYR_NONE when none does. */
static uint32_t next_job(const struct replay *r)
{
    uint32_t best = MYR_NONE;
    uint64_t best_use = 0;
    int64_t best_submit = 0;
    bool best_due = false;
    for (size_t i = 0; i < r->lines.count; i++) {
        const struct line *line = &r->lines.items[i];
        if (line->first == MYR_NONE) {
            continue;
        }
        bool fits = may_start(r, line->first);
        if (!fits && r->options->order != MYR_ORDER_FIFO) {
            continue;
        }
        int64_t submit = r->trace->jobs.items[line->first].submit_s;
        bool due = overdue(r, line->first);
        uint64_t use = r->options->order == MYR_ORDER_FAIR && !due
                           ? r->tenant_gpus[line->tenant] + line->gpus
                           : 0;
        bool better = best == MYR_NONE || (due != best_due   ? due
                                           : use != best_use ? use < best_use
                                                             : submit < best_submit);
        if (better) {
            best = line->first;
            best_use = use;
            best_submit = submit;
            best_due = due;
        }
    }
    if (best != MYR_NONE && !may_start(r, best)) {
        return MYR_NONE; /* first come, first served: it blocks */
    }
    return best;
}

static void let_go(struct replay *r)
{
    for (size_t i = 0; i < r->held.count; i++) {
        myr_placer_hold(r->placer, r->held.items[i], false);
    }
    r->held.count = 0;
    r->held_for = MYR_NONE;
}

/* The gang that has waited longest, beyond what it takes to have nodes held for it. */
static uint32_t most_overdue(const struct replay *r)
{
    uint32_t best = MYR_NONE;
    for (size_t i = 0; i < r->lines.count; i++) {
        const struct line *line = &r->lines.items[i];
        if (line->first == MYR_NONE || line->gpus <= r->options->shape.gpus_per_node ||
            waited(r, line->first) < r->options->hold_s) {
            continue;
        }
        if (best == MYR_NONE ||
            r->trace->jobs.items[line->first].submit_s < r->trace->jobs.items[best].submit_s) {
            best = line->first;
        }
    }
    return best;
}

/* When a node can be expected to be free: jobs that started lately end soonest. */
static int64_t node_age(const struct replay *r, uint32_t node)
{
    return r->now - r->node_youngest[node];
}

/* The youngest 'count' nodes of a group that are not held; returns the sum of their ages. */
static int64_t pick_in_group(const struct replay *r, uint32_t group, uint32_t count,
                             uint32_t *ret_nodes, uint32_t *ret_count)
{
    uint32_t first = group * r->options->shape.group_nodes;
    uint32_t end = first + r->options->shape.group_nodes;
    end = end < r->options->shape.nodes ? end : r->options->shape.nodes;
    int64_t sum = 0;
    *ret_count = 0;
    for (uint32_t node = first; node < end; node++) {
        /* Insertion by age; the list is as long as a group at most. */
        uint32_t at = *ret_count;
        while (at > 0 && node_age(r, ret_nodes[at - 1]) > node_age(r, node)) {
            if (at < count) {
                ret_nodes[at] = ret_nodes[at - 1];
            }
            at--;
        }
        if (at < count) {
            ret_nodes[at] = node;
            *ret_count += *ret_count < count;
        }
    }
    for (uint32_t i = 0; i < *ret_count; i++) {
        sum += node_age(r, ret_nodes[i]);
    }
    return sum;
}

/* Holds nodes for a job group by group: each time the group that is likely to be free first. */
static void hold_for(struct replay *r, uint32_t id)
{
    uint32_t per = r->options->shape.group_nodes;
    uint32_t groups = (r->options->shape.nodes + per - 1) / per;
    uint32_t needed = myr_place_nodes(r->placer, r->trace->jobs.items[id].gpus);
    uint32_t *nodes = myr_xcalloc(per, sizeof(*nodes)), *best = myr_xcalloc(per, sizeof(*best));
    uint8_t *used = myr_xcalloc(groups, 1);
    while (needed > 0) {
        uint32_t wanted = needed < per ? needed : per, best_group = MYR_NONE, best_count = 0;
        int64_t best_age = INT64_MAX;
        for (uint32_t g = 0; g < groups; g++) {
            uint32_t count;
            int64_t age = used[g] ? 0 : pick_in_group(r, g, wanted, nodes, &count);
            if (!used[g] && count == wanted && age < best_age) {
                best_age = age;
                best_group = g;
                best_count = count;
                memcpy(best, nodes, count * sizeof(*best));
            }
        }
        if (best_group == MYR_NONE) {
            break;
        }
        used[best_group] = 1;
        for (uint32_t i = 0; i < best_count; i++) {
            myr_placer_hold(r->placer, best[i], true);
            myr_vec_push(&r->held, best[i]);
        }
        needed -= best_count;
    }
    r->held_for = id;
    free(nodes);
    free(best);
    free(used);
}

/* Starts the job that nodes are held for as soon as it fits with them. */
static void serve_held(struct replay *r)
{
    if (r->held_for == MYR_NONE) {
        uint32_t due = most_overdue(r);
        if (due != MYR_NONE && r->options->hold_s > 0 && !may_start(r, due)) {
            hold_for(r, due);
        }
        return;
    }
    uint32_t id = r->held_for;
    for (size_t i = 0; i < r->held.count; i++) {
        myr_placer_hold(r->placer, r->held.items[i], false);
    }
    bool fits = r->jobs[id].runs || may_start(r, id);
    if (fits) {
        if (!r->jobs[id].runs) {
            (void)try_start(r, id);
        }
        let_go(r);
        return;
    }
    for (size_t i = 0; i < r->held.count; i++) {
        myr_placer_hold(r->placer, r->held.items[i], true);
    }
}

static void schedule(struct replay *r)
{
    serve_held(r);
    for (uint32_t id = next_job(r); id != MYR_NONE; id = next_job(r)) {
        if (!try_start(r, id)) {
            break;
        }
    }
}

static int by_wait(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void summarise(struct replay *r)
{
    size_t count = r->trace->jobs.count;
    int64_t *waits = myr_xcalloc(count, sizeof(*waits));
    double sum = 0, jct = 0, multi = 0, multi_max = 0;
    uint64_t multi_count = 0, gpu_s = 0;
    for (size_t i = 0; i < count; i++) {
        const struct running *job = &r->jobs[i];
        const struct myr_job_row *spec = &r->trace->jobs.items[i];
        waits[i] = job->waited;
        sum += (double)job->waited;
        jct += (double)(job->waited + spec->duration_s);
        gpu_s += (uint64_t)spec->duration_s * spec->gpus;
        if (spec->gpus > r->options->shape.gpus_per_node) {
            multi_count++;
            multi += (double)job->waited;
            multi_max = (double)job->waited > multi_max ? (double)job->waited : multi_max;
        }
    }
    qsort(waits, count, sizeof(*waits), by_wait);
    struct myr_replay_result *result = &r->result;
    double capacity =
        (double)r->options->shape.nodes * r->options->shape.gpus_per_node * (double)r->now;
    result->jobs = count;
    result->multinode_jobs = multi_count;
    result->wait_mean_h = sum / (double)count / 3600;
    result->wait_p50_h = (double)waits[count / 2] / 3600;
    result->wait_p99_h = (double)waits[(size_t)((double)count * 0.99)] / 3600;
    result->wait_max_h = (double)waits[count - 1] / 3600;
    result->multinode_wait_mean_h = multi_count ? multi / (double)multi_count / 3600 : 0;
    result->multinode_wait_max_h = multi_max / 3600;
    result->jct_mean_h = jct / (double)count / 3600;
    result->leaf_span = multi_count ? result->leaf_span / (double)multi_count : 1;
    result->gpu_utilisation = capacity > 0 ? (double)gpu_s / capacity : 0;
    free(waits);
}

static int check_sizes(const struct replay *r, struct myr_err *err)
{
    uint64_t all = (uint64_t)r->options->shape.nodes * r->options->shape.gpus_per_node;
    for (size_t i = 0; i < r->trace->jobs.count; i++) {
        if (r->trace->jobs.items[i].gpus > all) {
            return myr_err_set(err, MYR_EINVAL, "job %zu needs %u GPUs, the cluster has %llu", i,
                               r->trace->jobs.items[i].gpus, (unsigned long long)all);
        }
    }
    return r->trace->jobs.count ? MYR_OK : myr_err_set(err, MYR_EINVAL, "the trace has no jobs");
}

/* The next moment at which something happens. */
static bool advance(struct replay *r, size_t *arrived)
{
    bool more = *arrived < r->trace->jobs.count;
    int64_t arrival = more ? r->trace->jobs.items[*arrived].submit_s : INT64_MAX;
    int64_t end = r->ends.count ? r->ends.items[0].key : INT64_MAX;
    if (arrival == INT64_MAX && end == INT64_MAX) {
        return false;
    }
    r->now = arrival < end ? arrival : end;
    struct myr_heap_item item;
    while (r->ends.count && r->ends.items[0].key == r->now && myr_heap_pop(&r->ends, &item)) {
        uint32_t id = (uint32_t)item.value;
        end_job(r, id);
    }
    while (*arrived < r->trace->jobs.count && r->trace->jobs.items[*arrived].submit_s == r->now) {
        enqueue(r, (uint32_t)*arrived);
        (*arrived)++;
    }
    return true;
}

int myr_replay(const struct myr_joblog *trace, const struct myr_replay_options *options,
               struct myr_replay_result *ret, struct myr_err *err)
{
    struct replay r = {.trace = trace, .options = options, .held_for = MYR_NONE};
    int code = check_sizes(&r, err);
    if (code < 0) {
        return code;
    }
    r.placer = myr_placer_create(&options->shape);
    r.jobs = myr_xcalloc(trace->jobs.count, sizeof(*r.jobs));
    r.tenant_gpus = myr_xcalloc(trace->tenants, sizeof(*r.tenant_gpus));
    r.node_youngest = myr_xcalloc(options->shape.nodes, sizeof(*r.node_youngest));
    size_t arrived = 0;
    while (advance(&r, &arrived)) {
        schedule(&r);
    }
    MYR_ASSERT(r.waiting == 0);
    summarise(&r);
    *ret = r.result;
    for (size_t i = 0; i < trace->jobs.count; i++) {
        free(r.jobs[i].gang.shares);
    }
    free(r.jobs);
    free(r.tenant_gpus);
    free(r.node_youngest);
    myr_vec_done(&r.lines);
    myr_vec_done(&r.held);
    myr_u64map_done(&r.line_of);
    myr_heap_done(&r.ends);
    myr_placer_free(r.placer);
    return MYR_OK;
}
