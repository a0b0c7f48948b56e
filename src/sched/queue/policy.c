#include <assert.h>

#include "queue/state.h"

/*
 * What the policy says of one job at this moment: its level, how long it may wait for what, what it
 * costs to stop it. Everything else in this folder asks here, so nothing here changes anything.
 */

struct myr_queue_policy myr_queue_policy_preset(enum myr_queue_preset preset)
{
    struct myr_queue_policy policy = {.order = MYR_ORDER_FAIR,
                                      .patience_s = 2 * 3600,
                                      .hold_s = 1800,
                                      .checkpoint_s = 1800,
                                      .restart_s = 120,
                                      .level_s = 3600,
                                      .run_min_s = 3600,
                                      .yield_s = 20 * 3600,
                                      .stop_after_s = 600,
                                      .loss_permille = 8,
                                      .plain = true,
                                      .mend_s = 900};
    /* The baselines hold nothing. */
    if (preset == MYR_QUEUE_FIFO || preset == MYR_QUEUE_FIRST_FIT) {
        policy.order = preset == MYR_QUEUE_FIFO ? MYR_ORDER_FIFO : MYR_ORDER_SKIP;
        policy.patience_s = policy.hold_s = 0;
    }
    policy.preempt = preset == MYR_QUEUE_PREEMPT;
    return policy;
}

struct myr_queue_policy myr_queue_policy_default(void)
{
    return myr_queue_policy_preset(MYR_QUEUE_FAIR);
}

uint32_t queue_level_of(const struct myr_queue *q, int64_t work_s)
{
    MYR_ASSERT(work_s >= 0);
    uint32_t level = 0;
    int64_t most = q->policy.level_s;
    if (!q->policy.preempt || most <= 0) {
        return 0; /* nobody is stopped for it, so what it has done does not count against it */
    }
    while (level + 1 < MYR_QUEUE_LEVELS && work_s >= most) {
        level++;
        /* Each level takes four times the work of the one above it. */
        most *= 4;
    }
    MYR_ASSERT(level < MYR_QUEUE_LEVELS);
    return level;
}

int64_t queue_worked_s(const struct myr_queue *q, const struct qjob *job)
{
    MYR_SLOW_ASSERT(queue_is_on(job) && job->start_s <= q->now_s);
    /* After a stop the first seconds of a run restore the checkpoint: they are no work. */
    int64_t ran = q->now_s - job->start_s - (job->stops ? q->policy.restart_s : 0);
    return ran > 0 ? ran : 0;
}

int64_t queue_unsaved_s(const struct myr_queue *q, const struct qjob *job)
{
    int64_t ran = queue_worked_s(q, job);
    /* Without checkpoints everything is lost, earlier runs included. */
    MYR_ASSERT(job->saved_s >= 0);
    return q->policy.checkpoint_s > 0 ? ran % q->policy.checkpoint_s : ran + job->saved_s;
}

int64_t queue_stop_cost(const struct myr_queue *q, const struct qjob *job)
{
    if (job->start_pass == q->pass && !q->handed) {
        return 0; /* its start is only being decided: it is taken back, and never was */
    }
    MYR_SLOW_ASSERT(queue_is_on(job) && job->spec.gpus > 0);
    return (int64_t)job->spec.gpus * (queue_unsaved_s(q, job) + q->policy.restart_s);
}

int64_t queue_locality_s(const struct myr_queue *q, uint32_t gpus, int64_t most_s)
{
    MYR_SLOW_ASSERT(gpus > 0);
    uint32_t nodes = myr_place_nodes(q->placer, gpus), per = q->shape.group_nodes;
    MYR_SLOW_ASSERT(nodes > 0);
    return most_s / ((nodes + per - 1) / per);
}

bool queue_is_large(const struct myr_queue *q, uint32_t gpus, uint32_t part)
{
    MYR_SLOW_ASSERT(gpus > 0 && part > 0);
    return queue_is_gang(q, gpus) && part * myr_place_nodes(q->placer, gpus) >= q->shape.nodes;
}

/* Of the mean wait, so that a few seconds are not rounded away. */
enum { USUAL_PART = 1024 };

void queue_note_wait(struct myr_queue *q, int64_t waited_s)
{
    enum { LATELY = 64 }; /* each start counts for one in so many */
    const int64_t most_s = INT64_C(1) << 40;
    MYR_ASSERT(waited_s >= 0);
    waited_s = waited_s < most_s ? waited_s : most_s;
    q->usual_wait += (waited_s * USUAL_PART - q->usual_wait) / LATELY;
    MYR_ASSERT(q->usual_wait >= 0);
}

int64_t queue_hold_s(const struct myr_queue *q, uint32_t gpus, int64_t drain_s)
{
    enum { USUAL_TIMES = 2 };
    int64_t usual_s = q->usual_wait / USUAL_PART * USUAL_TIMES, hold_s = q->policy.patience_s;
    if (hold_s <= 0) {
        return INT64_MAX;
    }
    bool gang = queue_is_gang(q, gpus);
    hold_s = gang && q->policy.hold_s < hold_s ? q->policy.hold_s : hold_s;
    if (q->policy.preempt) {
        return hold_s; /* others can be stopped: it does not depend on them */
    }
    hold_s = gang && drain_s > hold_s && drain_s < INT64_MAX ? drain_s : hold_s;
    return usual_s > hold_s ? usual_s : hold_s;
}

/*
 * Whether a tenant has more jobs than chance gives it: by five standard deviations of drawing the
 * tenant of each job by weight. Equals who come and go are never told apart by that, whatever they
 * run at a moment, so they are served as they come; who floods is, as soon as it matters. With
 * share s = w / W of N jobs: (n - s N)² >= 25 s (1 - s) N, times W².
 */
static bool has_too_many(const struct myr_queue *q, uint32_t tenant, const struct brothers *b,
                         uint64_t weight)
{
    MYR_SLOW_ASSERT(tenant < q->tenant_count && weight > 0);
    enum { DEVIATIONS = 5 };
    __extension__ typedef unsigned __int128 wide;
    wide mine = (wide)q->tenant_jobs[tenant] * b->weight, due = (wide)b->jobs * weight;
    if (mine <= due) {
        return false;
    }
    MYR_ASSERT(b->weight >= weight); /* it has jobs, so its weight is among its brothers' */
    wide over = mine - due, spread = (wide)(b->weight - weight) * weight;
    /* (over / 5)² without overflow: weights and counts have 32 bits, sums of weights some more */
    wide limit = spread * b->jobs * DEVIATIONS * DEVIATIONS;
    return over >> 63 || over * over >= limit;
}

/* Octaves beyond its share among its brothers; integers in doubles, so exact everywhere. */
static uint32_t octaves(const struct myr_queue *q, uint32_t tenant)
{
    /* By brothers: twice the share is everything there is for one of two, so a little less. */
    static const double least[] = {0, 0, 1448, 1774, 2048};
    uint32_t parent = q->tenants[tenant].parent;
    const struct brothers *b = &q->brothers[parent == MYR_NONE ? 0 : parent + 1];
    MYR_SLOW_ASSERT(q->tenant_gpus[tenant] <= q->busy_gpus);
    uint64_t all = parent == MYR_NONE ? q->busy_gpus : q->tenant_gpus[parent];
    uint64_t weight = q->tenants[tenant].weight ? q->tenants[tenant].weight : 1;
    if (b->count < 2 || q->tenant_gpus[tenant] == 0 || !has_too_many(q, tenant, b, weight)) {
        /* An only child has no brothers to take from, and who runs nothing has taken nothing. */
        return 0;
    }
    /* Shares in parts of 1024, as in 'least': √2, √3 and twice what the weight gives. */
    MYR_ASSERT(all >= q->tenant_gpus[tenant]); /* its parent has what it has */
    double runs = (double)q->tenant_gpus[tenant] * (double)b->weight * 1024;
    double step = (double)all * (double)weight * least[b->count < 4 ? b->count : 4];
    uint32_t count = 0;
    for (; runs >= step && count < UINT8_MAX; step *= 2) {
        count++;
    }
    return count;
}

uint32_t queue_excess(const struct myr_queue *q, uint32_t tenant)
{
    MYR_SLOW_ASSERT(tenant < q->tenant_count && q->shares > 0);
    static_assert(MYR_TENANT_DEPTH_MAX <= sizeof(uint32_t), "a byte for each level");
    struct excess *known = &q->excess[tenant];
    /* Asked with every comparison of lines, so it is kept until somebody's share changes. */
    if (known->shares == q->shares) {
        return known->octaves;
    }
    uint32_t excess = 0, shift = 0;
    /* The root comes last and ends in the highest byte: it counts most in a plain comparison. */
    for (uint32_t t = tenant; t != MYR_NONE; t = q->tenants[t].parent) {
        excess = excess >> 8 | octaves(q, t) << 24;
        shift++;
    }
    MYR_ASSERT(shift <= MYR_TENANT_DEPTH_MAX);
    *known = (struct excess){q->shares, excess};
    return excess;
}
