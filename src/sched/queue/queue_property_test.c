#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "myriad/sched/snapshot.h"
#include "rounds.h"

/*
 * Random clusters, trees of tenants, policies, services and events through the queue, beside a
 * model that knows only who has which GPU. After every decision: no GPU is with two jobs, a gang is
 * whole and on the nodes that its size asks for, nothing is on a lost or maintained node, nobody
 * waits while there is room in cells of its tenant or of those above it, who was stopped was
 * stopped by right, and services have taken back what they lent. In the end everything has run.
 */
enum {
    SEQUENCES = TEST_ROUNDS(4000), /* MYRIAD_SEQUENCES asks for more */
    ORDINARY_MAX = 48,             /* jobs, beside replicas */
    JOBS_MAX = 160,
    NODES_MAX = 24,
    GPUS_MAX = 8,
    TENANTS = 8,
    WINDOWS = 2,
    SERVICES = 2,
    REPLICAS_MAX = 4,
    SERVICE_PRIORITY = 2, /* above all jobs */
    WORK_MAX = 4000
};

struct mjob {
    struct myr_queue_job spec;
    int64_t left_s, from_s, end_s; /* of this run */
    uint32_t runs;
    uint32_t service;    /* that it is a replica of, or MYR_NONE */
    bool fresh;          /* no decision since it came */
    int64_t room_from_s; /* there could have been room for the replica since; -1: there is none */
    bool running, done;
    struct myr_share shares[NODES_MAX];
    uint32_t share_count;
};

struct model {
    uint64_t seed;
    struct myr_rng rng;
    struct myr_place_shape shape;
    struct myr_queue_policy policy;
    struct myr_tenant tenants[TENANTS];
    uint32_t tenant_count;
    struct myr_queue *queue;
    uint32_t owner[NODES_MAX][GPUS_MAX]; /* job + 1 */
    bool down[NODES_MAX];
    uint32_t down_count;
    struct myr_window windows[WINDOWS]; /* count 0: none */
    struct {
        struct myr_service spec;
        uint32_t id, jobs[REPLICAS_MAX], count;
    } services[SERVICES];
    uint32_t service_count, spares;
    bool whole_nodes; /* all jobs ask for whole nodes: room in cells is a count of nodes */
    struct mjob jobs[JOBS_MAX];
    uint32_t count, ordinary, done;
    int64_t now_s;
};

static void fail_if(const struct model *m, bool bad, const char *what, uint32_t job)
{
    if (bad) {
        fail_msg("seed %llu, time %lld, job %u: %s", (unsigned long long)m->seed,
                 (long long)m->now_s, job, what);
    }
}

static uint32_t below(struct model *m, uint32_t bound)
{
    return myr_rng_below(&m->rng, bound);
}

/* Whether a window is open on the node, or will be soon and lets nothing more in. */
static bool in_window(const struct model *m, uint32_t node, bool closing)
{
    for (uint32_t w = 0; w < WINDOWS; w++) {
        const struct myr_window *window = &m->windows[w];
        int64_t from_s = window->start_s - (closing ? window->drain_s : 0);
        if (node - window->first < window->count && m->now_s >= from_s &&
            m->now_s < window->end_s) {
            return true;
        }
    }
    return false;
}

static void take(struct model *m, uint32_t id)
{
    struct mjob *job = &m->jobs[id];
    const struct myr_gang *gang = myr_queue_gang(m->queue, id);
    uint32_t total = 0, partial = 0, per = m->shape.gpus_per_node;
    fail_if(m, gang->count > NODES_MAX, "more nodes than there are", id);
    for (uint32_t i = 0; i < gang->count; i++) {
        uint32_t here = 0, node = gang->shares[i].node;
        fail_if(m, m->down[node], "runs on a lost node", id);
        fail_if(m, in_window(m, node, false), "runs on a node under maintenance", id);
        for (uint32_t g = 0; g < per; g++) {
            if (gang->shares[i].gpus >> g & 1) {
                fail_if(m, m->owner[node][g] != 0, "a GPU is with two jobs", id);
                m->owner[node][g] = id + 1;
                here++;
            }
        }
        fail_if(m, here == 0 || gang->shares[i].gpus >> (per - 1) > 1, "GPUs that are not", id);
        partial += here < per;
        total += here;
        job->shares[i] = gang->shares[i];
    }
    job->share_count = gang->count;
    fail_if(m, total != job->spec.gpus, "a gang that is not whole", id);
    fail_if(m, gang->count != (total + per - 1) / per || partial > 1, "a gang of odd pieces", id);
}

static void give(struct model *m, uint32_t id)
{
    const struct mjob *job = &m->jobs[id];
    for (uint32_t i = 0; i < job->share_count; i++) {
        for (uint32_t g = 0; g < m->shape.gpus_per_node; g++) {
            if (job->shares[i].gpus >> g & 1) {
                m->owner[job->shares[i].node][g] = 0;
            }
        }
    }
}

static void begin(struct model *m, uint32_t id)
{
    struct mjob *job = &m->jobs[id];
    job->from_s = m->now_s + (job->runs++ ? m->policy.restart_s : 0);
    job->end_s = job->from_s + job->left_s;
    job->running = true;
}

static void halt(struct model *m, uint32_t id)
{
    struct mjob *job = &m->jobs[id];
    int64_t worked_s = m->now_s > job->from_s ? m->now_s - job->from_s : 0;
    job->left_s -= worked_s - worked_s % m->policy.checkpoint_s;
    job->running = false;
}

static bool above(const struct model *m, uint32_t ancestor, uint32_t tenant)
{
    while (tenant != MYR_NONE && tenant != ancestor) {
        tenant = m->tenants[tenant].parent;
    }
    return tenant != MYR_NONE;
}

/*
 * Nobody waits who has room in cells of its own, at any depth of the tree. Bad nodes may all lie in
 * the cells asked about.
 */
static void check_cells(const struct model *m)
{
    uint32_t bad = 0, per = m->shape.gpus_per_node;
    for (uint32_t n = 0; n < m->shape.nodes; n++) {
        bad += m->down[n] || in_window(m, n, true);
    }
    for (uint32_t t = 0; t < m->tenant_count; t++) {
        const uint32_t *cells = m->tenants[t].cells;
        uint32_t nodes = cells[MYR_CELL_NODE] + cells[MYR_CELL_GROUP] * m->shape.group_nodes +
                         cells[MYR_CELL_POD] * m->shape.pod_nodes;
        uint32_t used = 0;
        for (uint32_t i = 0; i < m->count; i++) {
            used += m->jobs[i].running && myr_queue_owner(m->queue, i) == t ? m->jobs[i].share_count
                                                                            : 0;
        }
        fail_if(m, m->whole_nodes && used > nodes, "an owner has more than its cells", t);
        for (uint32_t i = 0; i < m->count; i++) {
            const struct mjob *job = &m->jobs[i];
            uint32_t wanted = (job->spec.gpus + per - 1) / per + bad;
            bool room = m->whole_nodes ? used + wanted <= nodes : used == 0 && wanted <= nodes;
            fail_if(m, !job->done && !job->running && room && above(m, t, job->spec.tenant),
                    "waits although its tenants' cells have room", i);
        }
    }
}

/* Whether stopping jobs of lower priority would make room for a replica on one node. */
static bool could_reclaim(const struct model *m, uint32_t id)
{
    for (uint32_t n = 0; n < m->shape.nodes; n++) {
        uint32_t room = 0;
        for (uint32_t g = 0; g < m->shape.gpus_per_node; g++) {
            uint32_t other = m->owner[n][g];
            room += other == 0 || (!m->jobs[other - 1].spec.fixed &&
                                   m->jobs[other - 1].spec.priority < m->jobs[id].spec.priority &&
                                   myr_queue_owner(m->queue, other - 1) == MYR_NONE);
        }
        if (!m->down[n] && !in_window(m, n, true) && room >= m->jobs[id].spec.gpus) {
            return true;
        }
    }
    return false;
}

/* Whether no replica of the same kind has waited longer: of those that are alike one is tried. */
static bool first_in_line(const struct model *m, uint32_t id)
{
    const struct mjob *job = &m->jobs[id];
    int64_t waited_s = myr_queue_waited_s(m->queue, m->now_s, id);
    for (uint32_t i = 0; i < m->count; i++) {
        const struct mjob *other = &m->jobs[i];
        int64_t other_s = other->done ? 0 : myr_queue_waited_s(m->queue, m->now_s, i);
        if (i != id && other->service != MYR_NONE && !other->done && !other->running &&
            other->spec.tenant == job->spec.tenant && other->spec.gpus == job->spec.gpus &&
            (other_s > waited_s || (other_s == waited_s && i < id))) {
            return false;
        }
    }
    return true;
}

/*
 * What a service has lent comes back at once when it is wanted; where that was not possible, no
 * later than the next try. Nodes kept as spares or held for overdue jobs are not to be had.
 */
static void check_services(struct model *m)
{
    bool kept = m->spares > 0;
    for (uint32_t i = 0; i < m->count; i++) {
        kept = kept || (!m->jobs[i].done && !m->jobs[i].running &&
                        myr_queue_waited_s(m->queue, m->now_s, i) >= m->policy.patience_s);
    }
    for (uint32_t i = 0; i < m->count; i++) {
        struct mjob *job = &m->jobs[i];
        bool waits = job->service != MYR_NONE && !job->done && !job->running;
        bool lacks = waits && !kept && first_in_line(m, i) && could_reclaim(m, i);
        int64_t retry_s = lacks ? myr_queue_waited_s(m->queue, m->now_s, i) / 16 : 0;
        retry_s = retry_s > 60 ? retry_s : 60;
        job->room_from_s = !lacks ? -1 : job->room_from_s < 0 ? m->now_s : job->room_from_s;
        fail_if(m, lacks && job->fresh, "a service did not get back what it lent", i);
        fail_if(m, lacks && m->now_s - job->room_from_s > retry_s,
                "a service does not try again in time", i);
        job->fresh = false;
    }
    for (uint32_t s = 0; s < m->service_count; s++) {
        uint32_t running = 0;
        for (uint32_t i = 0; i < m->services[s].count; i++) {
            running += m->jobs[m->services[s].jobs[i]].running;
        }
        fail_if(m, running != myr_queue_serving(m->queue, m->services[s].id),
                "replicas are counted wrongly", s);
    }
}

/* Nobody is stopped without a right to it. */
static void check_stop(const struct model *m, const struct myr_decision *d)
{
    const struct mjob *job = &m->jobs[d->job];
    bool by_job = d->reason == MYR_STOP_LEVEL || d->reason == MYR_STOP_PRIORITY;
    fail_if(m, !job->running, "stopped but not running", d->job);
    fail_if(m, by_job && job->spec.fixed, "stopped although it is fixed", d->job);
    fail_if(m, by_job && d->by >= m->count, "stopped for nobody", d->job);
    fail_if(m, d->reason == MYR_STOP_LEVEL && !m->policy.preempt, "preempted by level", d->job);
    fail_if(m,
            by_job &&
                (d->reason == MYR_STOP_LEVEL ? m->jobs[d->by].spec.priority != job->spec.priority
                                             : m->jobs[d->by].spec.priority <= job->spec.priority),
            "stopped for a job of no higher rank", d->job);
    fail_if(m, (d->reason == MYR_STOP_SERVICE) != (job->service != MYR_NONE && job->done),
            "a replica is stopped as what it is not", d->job);
}

static void apply(struct model *m, const struct myr_decision *d)
{
    if (d->kind == MYR_DECIDE_STOP) {
        check_stop(m, d);
        give(m, d->job);
        halt(m, d->job);
    } else if (d->kind == MYR_DECIDE_REPLACE) {
        give(m, d->job);
        halt(m, d->job);
        begin(m, d->job);
    } else {
        fail_if(m, m->jobs[d->job].running, "started twice", d->job);
        begin(m, d->job);
    }
}

/* The queue goes on from its stored state; nobody notices. */
static void restore(struct model *m)
{
    struct myr_buf bytes = {};
    struct myr_queue *back = NULL;
    myr_queue_save(m->queue, &bytes);
    int rc = myr_queue_load((struct myr_str){bytes.data, bytes.len}, &back, NULL);
    fail_if(m, rc < 0 || !myr_queue_equal(m->queue, back), "its own state is refused", MYR_NONE);
    myr_queue_free(m->queue);
    m->queue = back;
    myr_buf_done(&bytes);
}

static void decide(struct model *m)
{
    uint32_t count;
    const struct myr_decision *d = myr_queue_decide(m->queue, m->now_s, &count);
    for (uint32_t i = 0; i < count; i++) {
        apply(m, &d[i]);
    }
    /* A job may start and stop in one go; in the end the queue and the model agree. */
    for (uint32_t i = 0; i < m->count; i++) {
        give(m, i);
        m->jobs[i].share_count = 0;
    }
    for (uint32_t i = 0; i < m->count; i++) {
        bool runs = myr_queue_state(m->queue, i) == MYR_JOB_RUNS;
        fail_if(m, runs != m->jobs[i].running, "the decisions do not lead to the state", i);
        if (runs) {
            take(m, i);
        }
    }
    check_cells(m);
    check_services(m);
    below(m, 64) == 0 ? restore(m) : (void)0;
}

static void submit(struct model *m)
{
    uint32_t per = m->shape.gpus_per_node, all = m->shape.nodes * per;
    struct mjob *job = &m->jobs[m->count];
    uint32_t gpus = below(m, 3) ? 1 + below(m, per) : 1 + below(m, all);
    gpus = m->whole_nodes ? (gpus + per - 1) / per * per : gpus;
    *job = (struct mjob){.service = MYR_NONE,
                         .spec = {.tenant = below(m, m->tenant_count),
                                  .gpus = gpus,
                                  .priority = below(m, 4) ? 0 : (int32_t)below(m, 3) - 1,
                                  .fixed = below(m, 8) == 0,
                                  .reclaims = below(m, 8) == 0},
                         .left_s = 1 + below(m, WORK_MAX)};
    job->spec.limit_s = below(m, 2) ? job->left_s + below(m, 1000) : 0;
    uint32_t id;
    struct myr_err err = {};
    assert_int_equal(myr_queue_submit(m->queue, m->now_s, &job->spec, &id, &err), MYR_OK);
    assert_int_equal(id, m->count);
    m->count++;
    m->ordinary++;
}

/* The queue has added a replica: its job has the next number. */
static void add_replica(struct model *m, uint32_t service)
{
    const struct myr_service *spec = &m->services[service].spec;
    m->services[service].jobs[m->services[service].count++] = m->count;
    m->jobs[m->count++] = (struct mjob){.spec = {.tenant = spec->tenant,
                                                 .gpus = spec->gpus,
                                                 .priority = spec->priority,
                                                 .fixed = true,
                                                 .reclaims = true},
                                        .service = service,
                                        .fresh = true,
                                        .room_from_s = -1,
                                        .left_s = INT64_C(1) << 40};
}

static void serve(struct model *m)
{
    uint32_t s = m->service_count, per = m->shape.gpus_per_node;
    struct myr_service *spec = &m->services[s].spec;
    uint32_t most = m->shape.nodes < REPLICAS_MAX ? m->shape.nodes : REPLICAS_MAX;
    *spec = (struct myr_service){.tenant = below(m, m->tenant_count),
                                 .gpus = m->whole_nodes ? per : 1 + below(m, per),
                                 .replicas_max = 1 + below(m, most),
                                 .priority = SERVICE_PRIORITY};
    spec->replicas_min = below(m, spec->replicas_max + 1);
    struct myr_err err = {};
    assert_int_equal(myr_queue_serve(m->queue, m->now_s, spec, &m->services[s].id, &err), MYR_OK);
    m->service_count++;
    while (m->services[s].count < spec->replicas_min) {
        add_replica(m, s);
    }
}

/* To so many replicas; 'over' ends the service. Those who go are the ones that came last. */
static void scale(struct model *m, uint32_t s, uint32_t replicas, bool over)
{
    const struct myr_service *spec = &m->services[s].spec;
    if (over) {
        replicas = 0;
        assert_int_equal(myr_queue_unserve(m->queue, m->now_s, m->services[s].id), MYR_OK);
    } else {
        assert_int_equal(myr_queue_scale(m->queue, m->now_s, m->services[s].id, replicas), MYR_OK);
        replicas = replicas < spec->replicas_min ? spec->replicas_min : replicas;
        replicas = replicas > spec->replicas_max ? spec->replicas_max : replicas;
    }
    while (m->services[s].count > replicas) {
        struct mjob *job = &m->jobs[m->services[s].jobs[--m->services[s].count]];
        job->done = true; /* one that runs is stopped by the next decision */
        m->done++;
    }
    while (m->services[s].count < replicas) {
        add_replica(m, s);
    }
}

static void set_node(struct model *m, uint32_t node, bool usable)
{
    m->down_count += m->down[node] == usable ? (usable ? UINT32_MAX : 1) : 0;
    m->down[node] = !usable;
    assert_int_equal(myr_queue_node(m->queue, m->now_s, node, usable), MYR_OK);
}

/* It ends; in a replica's place comes another. */
static void finish(struct model *m, uint32_t id)
{
    struct mjob *job = &m->jobs[id];
    give(m, id);
    job->share_count = 0;
    job->running = false;
    job->done = true;
    m->done++;
    assert_int_equal(myr_queue_finish(m->queue, m->now_s, id), MYR_OK);
    if (job->service != MYR_NONE) {
        uint32_t service = job->service, last = m->services[service].count - 1, at = 0;
        while (m->services[service].jobs[at] != id) {
            at++;
        }
        job->service = MYR_NONE;
        m->services[service].jobs[at] = m->services[service].jobs[last];
        m->services[service].count--;
        add_replica(m, service);
        uint32_t added = m->services[service].jobs[last];
        m->services[service].jobs[last] = m->services[service].jobs[at];
        m->services[service].jobs[at] = added;
    }
}

/* Time goes on to the next end, wake or 'until'. */
static void pass(struct model *m, int64_t until_s)
{
    int64_t next_s = until_s, wake_s = myr_queue_wake_s(m->queue);
    next_s = wake_s < next_s ? wake_s : next_s;
    for (uint32_t i = 0; i < m->count; i++) {
        next_s = m->jobs[i].running && m->jobs[i].end_s < next_s ? m->jobs[i].end_s : next_s;
    }
    m->now_s = next_s > m->now_s ? next_s : m->now_s;
    for (uint32_t i = 0; i < m->count; i++) {
        if (m->jobs[i].running && m->jobs[i].end_s <= m->now_s) {
            finish(m, i);
        }
    }
}

static void set_up(struct model *m)
{
    m->shape.nodes = 2 + below(m, NODES_MAX - 1);
    m->shape.gpus_per_node = 1U << below(m, 4);
    m->shape.group_nodes = 1 + below(m, 6);
    uint32_t groups = (m->shape.nodes + m->shape.group_nodes - 1) / m->shape.group_nodes;
    m->shape.pod_nodes = m->shape.group_nodes * (1 + below(m, groups));
    m->policy = (struct myr_queue_policy){.order = (enum myr_order)below(m, 3),
                                          .patience_s = 5000,
                                          .hold_s = below(m, 500) + 1,
                                          .locality_s = below(m, 4000),
                                          .yield_s = below(m, 2) ? 5000 : 0,
                                          .stop_after_s = below(m, 300),
                                          .preempt = below(m, 2),
                                          .checkpoint_s = 100 + below(m, 500),
                                          .restart_s = below(m, 60),
                                          .level_s = 100 + below(m, 1000),
                                          .loss_permille = 50,
                                          .run_min_s = below(m, 300)};
    m->tenant_count = 1 + below(m, TENANTS);
    m->whole_nodes = below(m, 2);
    uint32_t depth[TENANTS],
        nodes_left = m->shape.nodes / m->shape.group_nodes * m->shape.group_nodes;
    for (uint32_t t = 0; t < m->tenant_count; t++) {
        uint32_t parent = t && below(m, 3) ? below(m, t) : MYR_NONE;
        parent = parent != MYR_NONE && depth[parent] < MYR_TENANT_DEPTH_MAX ? parent : MYR_NONE;
        depth[t] = parent == MYR_NONE ? 1 : depth[parent] + 1;
        m->tenants[t] = (struct myr_tenant){.parent = parent, .weight = below(m, 3)};
        for (uint32_t level = 0; level < MYR_CELL_LEVELS && below(m, 2); level++) {
            uint32_t size = level == MYR_CELL_POD     ? m->shape.pod_nodes
                            : level == MYR_CELL_GROUP ? m->shape.group_nodes
                                                      : 1;
            if (nodes_left >= size && m->shape.nodes / size > 0) {
                m->tenants[t].cells[level] = 1 + below(m, 2) * (nodes_left >= 2 * size);
                nodes_left -= m->tenants[t].cells[level] * size;
            }
        }
    }
}

static void plan_maintenance(struct model *m)
{
    struct myr_err err = {};
    for (uint32_t w = 0; w < 1 + below(m, WINDOWS); w++) {
        struct myr_window *window = &m->windows[w];
        window->first = below(m, m->shape.nodes);
        window->count = 1 + below(m, m->shape.nodes - window->first);
        window->start_s = 500 + below(m, 8000);
        window->end_s = window->start_s + 1 + below(m, 4000);
        window->drain_s = below(m, 3000);
        assert_int_equal(myr_queue_maintain(m->queue, window, &err), MYR_OK);
    }
}

/* Everybody ran, and in no more time than one after the other would have taken. */
static void finish_all(struct model *m)
{
    int64_t bound_s = m->windows[0].end_s + m->windows[1].end_s + m->now_s + m->policy.patience_s +
                      m->policy.locality_s;
    for (uint32_t s = 0; s < m->service_count; s++) {
        scale(m, s, 0, true);
    }
    for (uint32_t n = 0; n < m->shape.nodes; n++) {
        set_node(m, n, true);
    }
    for (uint32_t i = 0; i < m->count; i++) {
        bound_s += m->jobs[i].done ? 0 : m->jobs[i].left_s * 2 + m->policy.patience_s / 10;
    }
    decide(m);
    for (uint32_t step = 0; m->done < m->count && step < 100000; step++) {
        pass(m, INT64_MAX);
        decide(m);
        fail_if(m, m->now_s > bound_s, "waits beyond the bound", m->count);
    }
    fail_if(m, m->done != m->count, "does not end", m->count);
}

static void random_event(struct model *m)
{
    uint32_t what = below(m, 20);
    if (what < 9 && m->ordinary < ORDINARY_MAX) {
        submit(m);
    } else if (what >= 16 && m->count + 2 * REPLICAS_MAX <= JOBS_MAX) {
        uint32_t s = below(m, SERVICES);
        if (s < m->service_count) {
            scale(m, s, below(m, REPLICAS_MAX + 2), false);
        } else if (m->service_count < SERVICES && m->seed % 2) {
            serve(m);
        }
    } else if (what == 9) {
        set_node(m, below(m, m->shape.nodes), false);
    } else if (what == 10 || what == 11) {
        set_node(m, below(m, m->shape.nodes), true);
    } else if (what == 12 && m->count) {
        uint32_t id = below(m, m->count);
        if (!m->jobs[id].done && m->count < JOBS_MAX) {
            finish(m, id);
        }
    } else {
        pass(m, m->now_s + 1 + below(m, 3000));
    }
    decide(m);
}

static void random_sequences_keep_the_promises(void **state)
{
    (void)state;
    const char *more = getenv("MYRIAD_SEQUENCES");
    uint64_t end_seed = more ? strtoull(more, NULL, 10) : SEQUENCES;
    struct model *m = malloc(sizeof(*m));
    for (uint64_t seed = 0; seed < end_seed; seed++) {
        struct myr_err err = {};
        memset(m, 0, sizeof(*m));
        m->seed = seed;
        myr_rng_init(&m->rng, seed, 7);
        set_up(m);
        if (myr_queue_create(&m->shape, &m->policy, m->tenants, m->tenant_count, &m->queue, &err) <
            0) {
            fail_msg("seed %llu: %s", (unsigned long long)seed, err.message);
        }
        m->spares = below(m, 4) == 0 ? below(m, 3) : 0;
        myr_queue_keep_spares(m->queue, m->spares);
        if (below(m, 4) == 0) {
            plan_maintenance(m);
        }
        uint32_t events = 10 + below(m, 80);
        for (uint32_t i = 0; i < events; i++) {
            random_event(m);
        }
        m->spares = 0;
        myr_queue_keep_spares(m->queue, 0);
        finish_all(m);
        myr_queue_free(m->queue);
    }
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_sequences_keep_the_promises)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
