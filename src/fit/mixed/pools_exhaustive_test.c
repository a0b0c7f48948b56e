/* A batch over pools, against every way to share it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "mixed/pools_test.h"
#include "rounds.h"
#include "search/space.h"

/* Two pools on one cut of the model without stages: every micro-batch and every split of it. */
struct naive {
    const struct myr_fit_query *query;
    const struct myr_fit_pool *pools;
    struct myr_layout layout; /* dp is that of both */
    double best;
};

/* What a pool needs for so many micro-batches; false: it does not fit. */
static bool naive_part(const struct naive *n, uint32_t i, uint32_t micro_batch, uint32_t count,
                       double ret[3])
{
    struct myr_fit_case it = n->query->it;
    struct myr_layout layout = n->layout;
    struct myr_fit_memory memory;
    struct myr_fit_cost cost;
    it.device = n->pools[i].device;
    it.nic_gbps = n->pools[0].device->nic_gbps < n->pools[1].device->nic_gbps
                      ? n->pools[0].device->nic_gbps
                      : n->pools[1].device->nic_gbps;
    layout.micro_batch = micro_batch;
    layout.global_batch = micro_batch * count * layout.dp;
    myr_fit_memory_of(&it, &layout, &memory);
    myr_fit_cost_of(&it, &layout, &cost);
    ret[1] = cost.terms_s[MYR_FIT_DATA] + cost.terms_s[MYR_FIT_OPTIMISER];
    ret[2] = cost.terms_s[MYR_FIT_STRAGGLER];
    ret[0] = cost.step_s - ret[1] - ret[2];
    ret[2] /= ret[0] + ret[1];
    return memory.sure;
}

static void naive_split(struct naive *n, uint32_t first_b, uint32_t second_b)
{
    uint32_t ranks = n->layout.tp * n->layout.cp, batch = n->query->batch;
    uint32_t units[2] = {first_b * n->pools[0].gpus / ranks, second_b * n->pools[1].gpus / ranks};
    for (uint32_t k = 1; k * units[0] < batch; k++) {
        uint32_t left = batch - k * units[0];
        double a[3], b[3];
        if (left % units[1] != 0 || !naive_part(n, 0, first_b, k, a) ||
            !naive_part(n, 1, second_b, left / units[1], b)) {
            continue;
        }
        double step = (fit_max(a[0], b[0]) + fit_max(a[1], b[1])) * (1 + fit_max(a[2], b[2]));
        n->best = fit_min(n->best, step);
    }
}

static double naive_batch(const struct myr_fit_query *query, const struct myr_fit_pool *pools)
{
    struct naive n = {.query = query, .pools = pools, .best = 1e30};
    struct myr_fit_query narrow = *query;
    struct fit_space space;
    bool started = false;
    narrow.it.device = pools[0].device;
    narrow.gpus = 8;
    fit_space_init(&space, &arena, &narrow, query->precision);
    while (fit_width_next(&space, &n.layout, &started)) {
        struct myr_layout width = n.layout;
        n.layout.dp = (pools[0].gpus + pools[1].gpus) / (n.layout.tp * n.layout.cp);
        n.layout.zero = (uint32_t)query->zero;
        n.layout.recompute = (enum myr_recompute)query->recompute;
        for (uint32_t a = 1; a <= FIT_MICRO_MAX; a++) {
            for (uint32_t b = 1; b <= FIT_MICRO_MAX; b++) {
                naive_split(&n, a, b);
            }
        }
        n.layout = width;
    }
    return n.best;
}

static void a_batch_is_shared_as_trying_every_split_of_every_layout_shares_it(void **state)
{
    (void)state;
    uint32_t found_count = 0;
    for (uint64_t seed = 1; seed <= TEST_ROUNDS(200); seed++) {
        struct myr_rng rng;
        struct myr_fit_pools found;
        myr_rng_init(&rng, seed, 3);
        struct myr_fit_query query = question(16 + (uint32_t)myr_rng_below(&rng, 60));
        struct myr_fit_pool pools[] = {draw_pool(&rng, 3), draw_pool(&rng, 3)};
        query.seq_tokens = 1024U << myr_rng_below(&rng, 4);
        query.it.stack = &profiles.stacks[myr_rng_below(&rng, profiles.stack_count)];
        query.recompute = myr_rng_below(&rng, 2) ? MYR_RECOMPUTE_FULL : MYR_RECOMPUTE_NONE;
        query.zero = 0;
        query.pp = 1;
        query.cp = 1;
        if (query.it.stack->era == MYR_ERA_TORCH) { /* refused, and nothing is told as found */
            assert_int_equal(myr_fit_pools_search(&query, pools, 2, &arena, &found, NULL),
                             MYR_EINVAL);
            assert_false(found.batch.found);
            continue;
        }
        double best = naive_batch(&query, pools);
        bool any = myr_fit_pools_search(&query, pools, 2, &arena, &found, NULL) == MYR_OK;
        bool same =
            found.batch.step_s < best * (1 + 1e-12) && found.batch.step_s > best * (1 - 1e-12);
        if (found.batch.found != (best < 1e30) || (found.batch.found && (!any || !same))) {
            fail_msg("seed %llu: %.12g s found, %.12g s is the least", (unsigned long long)seed,
                     found.batch.step_s, best);
        }
        found_count += found.batch.found;
    }
    assert_true(found_count > TEST_ROUNDS(50));
}

/* The same for pipelines: each part priced by itself, nothing left out by a bound. */
struct piped {
    const struct fit_space *space;
    const struct myr_fit_query *query;
    const struct myr_fit_pool *pools;
    double nic_gbps, best;
    bool inside;
};

static struct myr_layout piped_job(const struct piped *p, uint32_t i, struct myr_layout layout)
{
    uint32_t ranks = layout.tp * layout.cp * layout.pp;
    uint32_t own = p->pools[i].gpus / ranks, all = own + p->pools[1 - i].gpus / ranks;
    layout.dp = p->inside ? 2 * own : all;
    layout.shard = p->inside ? own * layout.cp : 0;
    return layout;
}

/* Seconds of the pipeline and of what follows it; false: not possible. */
static bool piped_part(const struct piped *p, uint32_t i, struct myr_layout layout, double ret[3])
{
    struct myr_fit_case it = p->query->it;
    struct fit_blocks blocks;
    struct fit_pipe pipe;
    struct fit_exchanges exchanges = {};
    struct myr_fit_cost cost;
    struct myr_fit_memory memory;
    struct myr_layout job = piped_job(p, i, layout);
    it.device = p->pools[i].device;
    job.global_batch = job.dp * job.micro_batch * myr_layout_micro_batches(&layout);
    myr_fit_memory_of(&it, &job, &memory);
    if (myr_layout_broken(&layout, it.model, 0) != MYR_LAYOUT_OK || !memory.sure) {
        return false;
    }
    struct fit_places places = fit_places_of(&it, &layout);
    fit_blocks_of(&it, &layout, &blocks);
    fit_pipe_of(&it, &layout, &blocks, &pipe);
    ret[0] = fit_pipe_s(&it, &layout, &blocks, fit_hop_s(&it, &layout, places.pp_near));
    memset(pipe.terms, 0, sizeof(pipe.terms));
    it.nic_gbps = p->nic_gbps;
    fit_exchanges_of(&it, &job, &places, NULL, &exchanges);
    fit_close_with(&it, &job, &pipe, &exchanges, 0, &cost);
    ret[1] = cost.step_s;
    job.dp = (p->pools[0].gpus + p->pools[1].gpus) / (layout.tp * layout.cp * layout.pp);
    ret[2] = fit_straggler_share(&it, &job);
    return true;
}

static void piped_splits(struct piped *p, struct myr_layout layout)
{
    enum { BATCH = 64 };
    static double parts[2][BATCH][3]; /* by sequences: the ways that are best in some respect */
    uint32_t ranks = layout.tp * layout.cp * layout.pp, batch = p->query->batch;
    for (uint32_t a = 1; a < batch; a++) {
        uint32_t size[2] = {a, batch - a}, count[2] = {0, 0};
        for (uint32_t i = 0; i < 2; i++) {
            layout.dp = p->pools[i].gpus / ranks;
            for (uint32_t b = 1; b <= FIT_MICRO_MAX && size[i] % layout.dp == 0; b++) {
                layout.micro_batch = b;
                layout.global_batch = size[i];
                if (size[i] % (b * layout.dp) == 0 && count[i] < BATCH) {
                    count[i] += piped_part(p, i, layout, parts[i][count[i]]);
                }
            }
        }
        for (uint32_t k = 0; k < count[0] * count[1]; k++) {
            const double *one = parts[0][k / count[1]], *two = parts[1][k % count[1]];
            double step =
                (fit_max(one[0], two[0]) + fit_max(one[1], two[1])) * (1 + fit_max(one[2], two[2]));
            p->best = fit_min(p->best, step);
        }
    }
}

/* Every cut, schedule, way to keep the optimiser's state and order of ranks. */
static void piped_shape(struct piped *p, struct myr_layout layout, const struct fit_shape *shape)
{
    enum myr_axis orders[FIT_ORDERS_MAX][MYR_LAYOUT_ORDER_COUNT];
    layout.pp = shape->pp;
    layout.vp = shape->vp;
    layout.first_layers = shape->first_layers;
    layout.last_layers = shape->last_layers;
    layout.dp = 8;
    uint32_t count = fit_orders(p->space, &layout, orders);
    for (int s = MYR_SCHEDULE_1F1B; s <= MYR_SCHEDULE_ZERO_BUBBLE; s++) {
        layout.schedule = (enum myr_schedule)s;
        if ((shape->vp > 1) != (s == MYR_SCHEDULE_INTERLEAVED) ||
            !fit_schedule_allowed(p->query, layout.schedule, layout.pp)) {
            continue;
        }
        for (uint32_t i = 0; i < count; i++) {
            memcpy(layout.order, orders[i], sizeof(layout.order));
            for (int inside = 0; inside <= (p->query->zero > 0); inside++) {
                p->inside = inside != 0;
                piped_splits(p, layout);
            }
        }
    }
}

static double piped_batch(const struct myr_fit_query *query, const struct myr_fit_pool *pools)
{
    double nics[2] = {pools[0].device->nic_gbps, pools[1].device->nic_gbps};
    struct fit_space space;
    struct piped p = {&space, query, pools, fit_min(nics[0], nics[1]), 1e30, false};
    struct myr_fit_query narrow = *query;
    struct myr_layout width;
    bool started = false;
    narrow.it.device = pools[0].device;
    narrow.gpus = 8;
    fit_space_init(&space, &arena, &narrow, query->precision);
    while (fit_width_next(&space, &width, &started)) {
        struct myr_layout layout = width;
        layout.zero = (uint32_t)query->zero;
        layout.recompute = (enum myr_recompute)query->recompute;
        for (uint32_t i = 0; i < space.shape_count && layout.tp * query->pp <= 8; i++) {
            piped_shape(&p, layout, &space.shapes[i]);
        }
    }
    return p.best;
}

static void a_batch_over_pipelines_is_shared_as_trying_everything_shares_it(void **state)
{
    (void)state;
    uint32_t found_count = 0;
    for (uint64_t seed = 1; seed <= TEST_ROUNDS(100); seed++) {
        struct myr_rng rng;
        struct myr_fit_pools found;
        myr_rng_init(&rng, seed, 6);
        struct myr_fit_query query = question(8 * (1 + (uint32_t)myr_rng_below(&rng, 5)));
        struct myr_fit_pool pools[] = {draw_pool(&rng, 2), draw_pool(&rng, 2)};
        query.seq_tokens = 1024U << myr_rng_below(&rng, 4);
        query.recompute = myr_rng_below(&rng, 2) ? MYR_RECOMPUTE_FULL : MYR_RECOMPUTE_NONE;
        query.schedule = MYR_FIT_SCHEDULE_ANY;
        query.zero = (int)myr_rng_below(&rng, 2);
        query.pp = 2U << myr_rng_below(&rng, 2);
        query.tp = 1U << myr_rng_below(&rng, 2);
        query.vp = 1U + (uint32_t)myr_rng_below(&rng, 2);
        query.cp = 1;
        double best = piped_batch(&query, pools);
        int rc = myr_fit_pools_search(&query, pools, 2, &arena, &found, NULL);
        bool same = rc == MYR_OK && found.batch.step_s < best * (1 + 1e-12) &&
                    found.batch.step_s > best * (1 - 1e-12);
        if (found.batch.found != (best < 1e30) || (found.batch.found && !same)) {
            fail_msg("seed %llu: %.12g s found, %.12g s is the least", (unsigned long long)seed,
                     found.batch.step_s, best);
        }
        found_count += found.batch.found;
    }
    assert_true(found_count > TEST_ROUNDS(30));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_is_shared_as_trying_every_split_of_every_layout_shares_it),
        cmocka_unit_test(a_batch_over_pipelines_is_shared_as_trying_everything_shares_it),
    };
    return cmocka_run_group_tests(tests, setup, close_world);
}
