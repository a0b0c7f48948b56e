#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "myriad/sched/queue.h"

/*
 * Random clusters, tenants, policies and events through the queue, beside a model that knows only
 * who has which GPU. After every decision: no GPU is with two jobs, a gang is whole and on the
 * nodes that its size asks for, nothing is on a lost or maintained node, nobody waits while there
 * is room in cells of its own. In the end everything has run.
 */
enum {
    SEQUENCES = 10000,
    JOBS_MAX = 48,
    NODES_MAX = 24,
    GPUS_MAX = 8,
    TENANTS = 5,
    WORK_MAX = 4000
};

struct mjob {
    struct myr_queue_job spec;
    int64_t left_s, from_s, end_s; /* of this run */
    uint32_t runs;
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
    struct myr_window window; /* count 0: none */
    bool whole_nodes;         /* all jobs ask for whole nodes: room in cells is a count of nodes */
    struct mjob jobs[JOBS_MAX];
    uint32_t count, done;
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

static void take(struct model *m, uint32_t id)
{
    struct mjob *job = &m->jobs[id];
    const struct myr_gang *gang = myr_queue_gang(m->queue, id);
    uint32_t total = 0, partial = 0, per = m->shape.gpus_per_node;
    fail_if(m, gang->count > NODES_MAX, "more nodes than there are", id);
    for (uint32_t i = 0; i < gang->count; i++) {
        uint32_t here = 0, node = gang->shares[i].node;
        fail_if(m, m->down[node], "runs on a lost node", id);
        fail_if(m,
                node - m->window.first < m->window.count && m->now_s >= m->window.start_s &&
                    m->now_s < m->window.end_s,
                "runs on a node under maintenance", id);
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

/* Nobody waits who has room in cells of its own. */
static void check_cells(const struct model *m)
{
    bool closing = m->window.count && m->now_s >= m->window.start_s - m->window.drain_s &&
                   m->now_s < m->window.end_s;
    for (uint32_t t = 0; t < m->tenant_count && m->down_count == 0 && !closing; t++) {
        const uint32_t *cells = m->tenants[t].cells;
        uint32_t nodes = cells[MYR_CELL_NODE] + cells[MYR_CELL_GROUP] * m->shape.group_nodes +
                         cells[MYR_CELL_POD] * m->shape.pod_nodes;
        uint32_t used = 0, per = m->shape.gpus_per_node;
        for (uint32_t i = 0; i < m->count; i++) {
            used += m->jobs[i].running && myr_queue_owner(m->queue, i) == t ? m->jobs[i].share_count
                                                                            : 0;
        }
        fail_if(m, m->whole_nodes && used > nodes, "an owner has more than its cells", t);
        for (uint32_t i = 0; i < m->count; i++) {
            const struct mjob *job = &m->jobs[i];
            uint32_t wanted = (job->spec.gpus + per - 1) / per;
            bool room = m->whole_nodes ? used + wanted <= nodes : used == 0 && wanted <= nodes;
            fail_if(m, !job->done && !job->running && job->spec.tenant == t && room,
                    "waits although its tenant's cells have room", i);
        }
    }
}

static void decide(struct model *m)
{
    uint32_t count;
    const struct myr_decision *d = myr_queue_decide(m->queue, m->now_s, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (d[i].kind == MYR_DECIDE_STOP) {
            fail_if(m, !m->jobs[d[i].job].running, "stopped but not running", d[i].job);
            give(m, d[i].job);
            halt(m, d[i].job);
        } else if (d[i].kind == MYR_DECIDE_REPLACE) {
            give(m, d[i].job);
            halt(m, d[i].job);
            begin(m, d[i].job);
        } else {
            fail_if(m, m->jobs[d[i].job].running, "started twice", d[i].job);
            begin(m, d[i].job);
        }
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
}

static void submit(struct model *m)
{
    uint32_t per = m->shape.gpus_per_node, all = m->shape.nodes * per;
    struct mjob *job = &m->jobs[m->count];
    uint32_t gpus = below(m, 3) ? 1 + below(m, per) : 1 + below(m, all);
    gpus = m->whole_nodes ? (gpus + per - 1) / per * per : gpus;
    *job = (struct mjob){.spec = {.tenant = below(m, m->tenant_count),
                                  .gpus = gpus,
                                  .priority = below(m, 4) ? 0 : (int32_t)below(m, 3) - 1,
                                  .fixed = below(m, 8) == 0,
                                  .reclaims = below(m, 8) == 0},
                         .left_s = 1 + below(m, WORK_MAX)};
    job->spec.limit_s = below(m, 2) ? job->left_s + below(m, 1000) : 0;
    uint32_t id;
    struct myr_err err = {0};
    assert_int_equal(myr_queue_submit(m->queue, m->now_s, &job->spec, &id, &err), MYR_OK);
    assert_int_equal(id, m->count);
    m->count++;
}

static void set_node(struct model *m, uint32_t node, bool usable)
{
    m->down_count += m->down[node] == usable ? (usable ? UINT32_MAX : 1) : 0;
    m->down[node] = !usable;
    myr_queue_node(m->queue, m->now_s, node, usable);
}

static void finish(struct model *m, uint32_t id)
{
    struct mjob *job = &m->jobs[id];
    give(m, id);
    job->share_count = 0;
    job->running = false;
    job->done = true;
    m->done++;
    myr_queue_finish(m->queue, m->now_s, id);
}

/* Time goes on to the next end, wake or 'until'. */
static void pass(struct model *m, int64_t until_s)
{
    int64_t next_s = until_s, wake_s = myr_queue_wake_s(m->queue);
    next_s = wake_s < next_s ? wake_s : next_s;
    for (uint32_t i = 0; i < m->count; i++) {
        next_s = m->jobs[i].running && m->jobs[i].end_s < next_s ? m->jobs[i].end_s : next_s;
    }
    m->now_s = next_s;
    for (uint32_t i = 0; i < m->count; i++) {
        if (m->jobs[i].running && m->jobs[i].end_s <= next_s) {
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
                                          .spread_s = below(m, 8000),
                                          .holds_max = 1 + below(m, 4),
                                          .preempt = below(m, 2),
                                          .checkpoint_s = 100 + below(m, 500),
                                          .restart_s = below(m, 60),
                                          .level_s = 100 + below(m, 1000),
                                          .loss_permille = 50,
                                          .run_min_s = below(m, 300)};
    m->tenant_count = 1 + below(m, TENANTS);
    m->whole_nodes = below(m, 2);
    uint32_t nodes_left = m->shape.nodes / m->shape.group_nodes * m->shape.group_nodes;
    for (uint32_t t = 0; t < m->tenant_count; t++) {
        m->tenants[t] = (struct myr_tenant){.parent = t && below(m, 3) == 0 ? 0 : MYR_NONE,
                                            .weight = below(m, 3)};
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
    struct myr_err err = {0};
    m->window.first = below(m, m->shape.nodes);
    m->window.count = 1 + below(m, m->shape.nodes - m->window.first);
    m->window.start_s = 500 + below(m, 8000);
    m->window.end_s = m->window.start_s + 1 + below(m, 4000);
    m->window.drain_s = below(m, 3000);
    assert_int_equal(myr_queue_maintain(m->queue, &m->window, &err), MYR_OK);
}

/* Everybody ran, and in no more time than one after the other would have taken. */
static void finish_all(struct model *m)
{
    int64_t bound_s = m->window.end_s + m->now_s + m->policy.patience_s + m->policy.locality_s +
                      m->policy.spread_s;
    for (uint32_t n = 0; n < m->shape.nodes; n++) {
        set_node(m, n, true);
    }
    for (uint32_t i = 0; i < m->count; i++) {
        bound_s += m->jobs[i].left_s * 2 + m->policy.patience_s / 10;
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
    uint32_t what = below(m, 16);
    if (what < 9 && m->count < JOBS_MAX) {
        submit(m);
    } else if (what == 9) {
        set_node(m, below(m, m->shape.nodes), false);
    } else if (what == 10 || what == 11) {
        set_node(m, below(m, m->shape.nodes), true);
    } else if (what == 12 && m->count) {
        uint32_t id = below(m, m->count);
        if (!m->jobs[id].done) {
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
    struct model *m = malloc(sizeof(*m));
    for (uint64_t seed = 0; seed < SEQUENCES; seed++) {
        struct myr_err err = {0};
        memset(m, 0, sizeof(*m));
        m->seed = seed;
        myr_rng_init(&m->rng, seed, 7);
        set_up(m);
        if (myr_queue_create(&m->shape, &m->policy, m->tenants, m->tenant_count, &m->queue, &err) <
            0) {
            fail_msg("seed %llu: %s", (unsigned long long)seed, err.message);
        }
        if (below(m, 4) == 0) {
            myr_queue_keep_spares(m->queue, below(m, 3));
        }
        if (below(m, 4) == 0) {
            plan_maintenance(m);
        }
        uint32_t events = 10 + below(m, 80);
        for (uint32_t i = 0; i < events; i++) {
            random_event(m);
        }
        myr_queue_keep_spares(m->queue, 0);
        finish_all(m);
        myr_queue_free(m->queue);
    }
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_sequences_keep_the_promises),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
