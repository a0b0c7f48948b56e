/*
 * partition_batch: a batch over pools of different speed.
 *
 * For one way of each pool the end of the last pool is one of the times that some pool can end at.
 * They are gone through upwards, from a bound on: more time lets one pool take one step more, and
 * the first time at which parts can add up to the batch is the least one. That is exact without a
 * table over the batch, which may be long.
 */
#include "mixed/partition.h"

#define POOLS_MAX 8

/* One way of each pool, and how much each may take up to now. */
struct combination {
    const struct fit_batch *it;
    const struct fit_way *ways[POOLS_MAX]; /* by pool */
    uint32_t chosen[POOLS_MAX];            /* their indices */
    uint32_t order[POOLS_MAX];             /* pools by the size of their steps, the largest first */
    uint32_t cap[POOLS_MAX];               /* units */
    double next_s[POOLS_MAX];              /* with one step more */
    uint32_t taken[POOLS_MAX];             /* units that add up to the batch */
    double update_s;                       /* the longest of the ways' */
    double limit_s;                        /* the best so far */
    double others_most[POOLS_MAX]; /* sequences of the pools after this one, up to the limit */
    struct fit_share best[POOLS_MAX];
    bool found;
};

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The way that the combination at hand has for a pool. */
static const struct fit_way *way_of(const struct combination *c, uint32_t pool)
{
    const struct fit_way *way = c->ways[pool];
    MYR_ASSERT(way); /* choose_way() has been through all pools */
    return way;
}

/* In sequences, for pools have units of their own size. */
static uint64_t step_of(const struct combination *c, uint32_t pool)
{
    return (uint64_t)way_of(c, pool)->sequences * way_of(c, pool)->step;
}

/* Do parts below the caps add up to the batch? The coarsest pools choose first. */
static bool adds_up(struct combination *c, uint32_t at, uint64_t left)
{
    uint32_t pool = c->order[at];
    uint64_t step = step_of(c, pool), most = c->cap[pool] / way_of(c, pool)->step;
    if (at + 1 == c->it->pool_count) {
        c->taken[pool] = (uint32_t)(left / step * way_of(c, pool)->step);
        return left % step == 0 && left / step >= 1 && left / step <= most;
    }
    /* What the finer pools need at least and can take at most narrows the choice of this one. */
    uint64_t others_least = 0, others_most = 0;
    for (uint32_t i = at + 1; i < c->it->pool_count; i++) {
        uint32_t other = c->order[i];
        others_least += step_of(c, other);
        others_most += (uint64_t)c->cap[other] * way_of(c, other)->sequences;
    }
    if (left <= others_least) {
        return false;
    }
    uint64_t high = (left - others_least) / step;
    uint64_t low = left > others_most ? (left - others_most + step - 1) / step : 1;
    for (uint64_t k = high < most ? high : most; k >= (low < 1 ? 1 : low); k--) {
        c->taken[pool] = (uint32_t)(k * way_of(c, pool)->step);
        if (adds_up(c, at + 1, left - k * step)) {
            return true;
        }
    }
    return false;
}

static double units_s(const struct combination *c, uint32_t pool, uint32_t units)
{
    return c->it->units_s(c->it->context, pool, c->chosen[pool], units);
}

/* The most that a pool may take at all. */
static uint32_t most_of(const struct combination *c, uint32_t pool)
{
    const struct fit_way *way = way_of(c, pool);
    uint32_t most = c->it->batch / way->sequences;
    most = most < way->most ? most : way->most;
    return most - most % way->step;
}

/* When the pool could end with one step more; never, where it has no more to take. */
static void look_ahead(struct combination *c, uint32_t pool)
{
    uint32_t more = c->cap[pool] + way_of(c, pool)->step;
    c->next_s[pool] = more > most_of(c, pool) ? 1e30 : units_s(c, pool, more);
}

/* By insertion; there are a few of them. */
static void sort_pools(struct combination *c)
{
    for (uint32_t i = 0; i < c->it->pool_count; i++) {
        uint32_t at = i;
        for (; at > 0 && step_of(c, c->order[at - 1]) < step_of(c, i); at--) {
            c->order[at] = c->order[at - 1];
        }
        c->order[at] = i;
    }
}

/* All pools filled and then at their full speed: nothing is done sooner. */
static double floor_s(const struct combination *c)
{
    double rate = 0, filling = 0;
    for (uint32_t i = 0; i < c->it->pool_count; i++) {
        double own = way_of(c, i)->sequences / way_of(c, i)->unit_s;
        rate += own;
        filling += own * way_of(c, i)->fill_s;
    }
    return (c->it->batch + filling) / rate;
}

/* False when some pool cannot take a single step, or parts never add up. */
static bool start(struct combination *c, double from_s)
{
    uint64_t grain = 0;
    c->update_s = 0;
    for (uint32_t i = 0; i < c->it->pool_count; i++) {
        const struct fit_way *way = way_of(c, i);
        double units = (from_s - way->fill_s) / way->unit_s * (1 + 1e-9);
        uint32_t most = most_of(c, i);
        grain = gcd(grain, step_of(c, i));
        if (most == 0) {
            return false;
        }
        c->cap[i] = units < 0 ? 0 : units < most ? (uint32_t)units : most;
        c->cap[i] -= c->cap[i] % way->step;
        c->update_s = way->update_s > c->update_s ? way->update_s : c->update_s;
    }
    MYR_ASSERT(grain > 0); /* some pool has been looked at */
    return c->it->batch % grain == 0;
}

/* Upwards from the bound, step by step in the order in which pools could take one more. */
static bool share_batch(struct combination *c, double *ret_s)
{
    double from_s = floor_s(c), now_s = 0;
    if (!start(c, from_s) || from_s + c->update_s >= c->limit_s) {
        return false;
    }
    sort_pools(c);
    /* Bounds let pools take more than they can in this time: down first. */
    for (uint32_t i = 0; i < c->it->pool_count; i++) {
        while (c->cap[i] > 0 && units_s(c, i, c->cap[i]) > from_s) {
            c->cap[i] -= way_of(c, i)->step;
        }
        look_ahead(c, i);
    }
    while (!adds_up(c, 0, c->it->batch)) {
        uint32_t first = 0;
        for (uint32_t i = 1; i < c->it->pool_count; i++) {
            first = c->next_s[i] < c->next_s[first] ? i : first;
        }
        now_s = c->next_s[first];
        if (now_s + c->update_s >= c->limit_s || now_s >= 1e30) {
            return false;
        }
        c->cap[first] += way_of(c, first)->step;
        look_ahead(c, first);
    }
    double end_s = 0;
    for (uint32_t i = 0; i < c->it->pool_count; i++) {
        double time = units_s(c, i, c->taken[i]);
        end_s = time > end_s ? time : end_s;
    }
    *ret_s = end_s + c->update_s;
    return *ret_s < c->limit_s;
}

/* Sequences that a way can take up to the limit, at most. */
static double most_sequences(const struct combination *c, const struct fit_way *way)
{
    double time = c->limit_s - way->update_s - way->fill_s;
    return time > 0 ? time / way->unit_s * way->sequences * (1 + 1e-9) : 0;
}

/* Asked again whenever the limit falls: ways that cannot make up the batch are then passed over. */
static void set_others(struct combination *c)
{
    double sum = 0;
    for (uint32_t i = c->it->pool_count; i-- > 0;) {
        double most = 0;
        c->others_most[i] = sum;
        for (uint32_t k = 0; k < c->it->pools[i].count; k++) {
            double here = most_sequences(c, &c->it->pools[i].items[k]);
            most = here > most ? here : most;
        }
        sum += most;
    }
}

/* Every way of this pool with what the pools before it have chosen and could take. */
static void choose_way(struct combination *c, uint32_t pool, double before)
{
    double time_s;
    if (pool == c->it->pool_count) {
        if (share_batch(c, &time_s)) {
            c->found = true;
            c->limit_s = time_s;
            uint64_t dealt = 0;
            for (uint32_t i = 0; i < pool; i++) {
                c->best[i] = (struct fit_share){c->chosen[i], c->taken[i]};
                dealt += (uint64_t)c->taken[i] * way_of(c, i)->sequences;
                MYR_ASSERT(c->taken[i] > 0 && c->taken[i] <= most_of(c, i));
            }
            MYR_ASSERT(dealt == c->it->batch);
            set_others(c);
        }
        return;
    }
    for (uint32_t k = 0; k < c->it->pools[pool].count; k++) {
        const struct fit_way *way = &c->it->pools[pool].items[k];
        double sequences = before + most_sequences(c, way);
        if (sequences + c->others_most[pool] >= c->it->batch) {
            c->chosen[pool] = k;
            c->ways[pool] = way;
            choose_way(c, pool + 1, sequences);
        }
    }
}

bool fit_partition_batch(const struct fit_batch *it, struct fit_share *ret, double *ret_s)
{
    struct combination c = {.it = it, .limit_s = it->limit_s};
    MYR_ASSERT(it->pool_count > 0 && it->pool_count <= POOLS_MAX);
    set_others(&c);
    choose_way(&c, 0, 0);
    if (c.found) {
        *ret_s = c.limit_s;
        memcpy(ret, c.best, it->pool_count * sizeof(*ret));
    }
    return c.found;
}
