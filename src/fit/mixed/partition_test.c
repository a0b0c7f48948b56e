#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "mixed/partition.h"

/* Batch */

enum { WAYS = 3, POOLS = 4 };

/* Pipelines fill first: a unit more takes less at the start than later. */
struct pace {
    double base_s, first_s, unit_s;
    uint32_t filled;
};

struct batch_case {
    struct fit_way ways[POOLS][WAYS];
    struct pace paces[POOLS][WAYS];
    struct fit_ways pools[POOLS];
    struct fit_batch it;
};

/* How often the search asked: a bound that got weaker costs time, and changes no answer. */
static uint64_t asked;

static double pace_s(void *context, uint32_t pool, uint32_t way, uint32_t units)
{
    const struct batch_case *c = context;
    asked++;
    const struct pace *pace = &c->paces[pool][way];
    uint32_t first = units < pace->filled ? units : pace->filled;
    return pace->base_s + first * pace->first_s + units * pace->unit_s;
}

/* All ways to deal, one by one. */
static void try_all(const struct batch_case *c, uint32_t at, uint32_t left, double worst,
                    double update, double *best)
{
    if (at == c->it.pool_count) {
        *best = left == 0 && worst + update < *best ? worst + update : *best;
        return;
    }
    for (uint32_t i = 0; i < c->pools[at].count; i++) {
        const struct fit_way *way = &c->ways[at][i];
        for (uint32_t k = way->step; k * way->sequences <= left && k <= way->most; k += way->step) {
            double time = pace_s((void *)c, at, i, k);
            try_all(c, at + 1, left - k * way->sequences, time > worst ? time : worst,
                    way->update_s > update ? way->update_s : update, best);
        }
    }
}

static void draw_batch(struct myr_rng *rng, struct batch_case *c)
{
    c->it = (struct fit_batch){.pools = c->pools,
                               .pool_count = 2 + (uint32_t)myr_rng_below(rng, POOLS - 1),
                               .batch = 8 + (uint32_t)myr_rng_below(rng, 40),
                               .units_s = pace_s,
                               .context = c,
                               .limit_s = 1e30};
    for (uint32_t p = 0; p < c->it.pool_count; p++) {
        c->pools[p] = (struct fit_ways){c->ways[p], 1 + (uint32_t)myr_rng_below(rng, WAYS)};
        for (uint32_t i = 0; i < c->pools[p].count; i++) {
            bool wide = myr_rng_below(rng, 4) > 0;
            double unit = 0.01 + (double)myr_rng_below(rng, 100) / 100;
            c->paces[p][i] = (struct pace){(double)myr_rng_below(rng, 100) / 100,
                                           (double)myr_rng_below(rng, 20) / 100, unit,
                                           (uint32_t)myr_rng_below(rng, 5)};
            c->ways[p][i] =
                (struct fit_way){.sequences = 1 + (uint32_t)myr_rng_below(rng, 6),
                                 .step = 1 + (uint32_t)myr_rng_below(rng, 3),
                                 .most = wide ? 1000 : 1 + (uint32_t)myr_rng_below(rng, 6),
                                 .fill_s = c->paces[p][i].base_s / 2,
                                 .unit_s = unit,
                                 .update_s = (double)myr_rng_below(rng, 50) / 100};
        }
    }
}

static void a_batch_is_shared_as_trying_every_way_shares_it(void **state)
{
    (void)state;
    uint32_t found_count = 0;
    uint64_t asked_for_all = 0;
    for (uint64_t seed = 1; seed <= 600; seed++) {
        struct myr_rng rng;
        struct batch_case c;
        struct fit_share given[POOLS];
        double found_s = 1e30, best = 1e30;
        uint32_t sum = 0;
        myr_rng_init(&rng, seed, 1);
        draw_batch(&rng, &c);
        asked = 0;
        bool found = fit_partition_batch(&c.it, given, &found_s);
        asked_for_all += asked;
        try_all(&c, 0, c.it.batch, 0, 0, &best);
        if (found != (best < 1e30) || (found && (found_s < best || found_s > best))) {
            fail_msg("seed %llu: %.6g s dealt, %.6g s is the least", (unsigned long long)seed,
                     found_s, best);
        }
        for (uint32_t p = 0; found && p < c.it.pool_count; p++) {
            sum += given[p].units * c.ways[p][given[p].way].sequences;
            assert_true(given[p].units <= c.ways[p][given[p].way].most);
        }
        assert_int_equal(found ? sum : c.it.batch, c.it.batch);
        c.it.limit_s = best;
        assert_false(fit_partition_batch(&c.it, given, &found_s)); /* nothing is below the best */
        found_count += found;
    }
    assert_true(found_count > 300);
    assert_int_equal(asked_for_all, 41022);
}

/* Sixteen million sequences: no table over the batch would end. */
static void a_huge_batch_is_shared_at_once(void **state)
{
    (void)state;
    struct batch_case c = {.it = {.pool_count = 3, .batch = (1U << 24) - 3, .limit_s = 1e30}};
    struct fit_share given[POOLS];
    double found_s;
    c.it.pools = c.pools;
    c.it.units_s = pace_s;
    c.it.context = &c;
    for (uint32_t p = 0; p < 3; p++) {
        c.ways[p][0] = (struct fit_way){.sequences = p == 0 ? 1 : 512 << p,
                                        .step = 1,
                                        .most = UINT32_MAX,
                                        .unit_s = 0.001 * (p + 1)};
        c.paces[p][0] = (struct pace){.unit_s = 0.001 * (p + 1)};
        c.pools[p] = (struct fit_ways){c.ways[p], 1};
    }
    assert_true(fit_partition_batch(&c.it, given, &found_s));
    assert_int_equal(given[0].units + given[1].units * 1024 + given[2].units * 2048, c.it.batch);
}

/* Layers */

enum { STAGES = 6, LAYERS = 12 };

struct layers_case {
    struct fit_partition it;
    double forward_s[STAGES][LAYERS], backward_s[STAGES][LAYERS]; /* by stage and layer */
    double ends_s[STAGES], beside_s[STAGES];
    double recompute_s[STAGES]; /* each layer beyond 'ample' is recomputed, up to 'most' of them */
    uint32_t ample[STAGES], most[STAGES], group[STAGES];
    double update_s[STAGES], update_layer_s[STAGES];
};

static struct fit_stage_price draw_price(const void *context, uint32_t stage, uint32_t first,
                                         uint32_t layers)
{
    const struct layers_case *c = context;
    asked++;
    struct fit_stage_price price = {.forward_s = c->beside_s[stage],
                                    .fits = layers <= c->most[stage]};
    price.backward_s = c->beside_s[stage] + c->ends_s[stage];
    for (uint32_t i = first; i < first + layers; i++) {
        price.forward_s += c->forward_s[stage][i];
        price.backward_s += c->backward_s[stage][i];
    }
    if (layers > c->ample[stage]) {
        price.backward_s += (layers - c->ample[stage]) * c->recompute_s[stage];
    }
    return price;
}

/* Weights to exchange, less what the backward pass hides. */
static double draw_update(const void *context, uint32_t stage, uint32_t first, uint32_t layers)
{
    const struct layers_case *c = context;
    double hidden = draw_price(context, stage, first, layers).backward_s / 16;
    double update = c->update_s[stage] + layers * c->update_layer_s[stage] - hidden;
    return update > 0 ? update : 0;
}

/* Two or three kinds of GPUs in a row, or, now and then, stages that have nothing in common. */
static void draw_layers(struct myr_rng *rng, struct layers_case *c)
{
    bool wild = myr_rng_below(rng, 4) == 0, updates = myr_rng_below(rng, 2) == 0;
    double forward = 0, backward = 0, recomputed = 0, update = 0;
    uint32_t kinds[LAYERS], group = 0;
    *c = (struct layers_case){};
    c->it = (struct fit_partition){.stages = 1 + (uint32_t)myr_rng_below(rng, STAGES),
                                   .micro_batches = 1 + (uint32_t)myr_rng_below(rng, 24),
                                   .alike = myr_rng_below(rng, 2) == 0,
                                   .price_of = draw_price,
                                   .update_of = draw_update,
                                   .context = c,
                                   .group = c->group,
                                   .limit_s = 1e30};
    c->it.layers = c->it.stages + (uint32_t)myr_rng_below(rng, LAYERS - c->it.stages + 1);
    for (uint32_t i = 0; i < LAYERS; i++) {
        kinds[i] = c->it.alike ? 1 : 1 + (uint32_t)myr_rng_below(rng, 3);
    }
    for (uint32_t s = 0; s < c->it.stages; s++) {
        if (s == 0 || wild || myr_rng_below(rng, 3) == 0) {
            forward = 0.1 + (double)myr_rng_below(rng, 100) / 100;
            backward = forward * (1.5 + (double)myr_rng_below(rng, 100) / 100);
            recomputed = forward * (double)myr_rng_below(rng, 2);
            update = updates ? (double)myr_rng_below(rng, 100) / 100 : 0;
            group = s == 0 ? 0 : group < 3 ? group + 1 : 3;
        }
        for (uint32_t i = 0; i < LAYERS; i++) {
            c->forward_s[s][i] = forward * kinds[i];
            c->backward_s[s][i] = backward * kinds[i];
        }
        bool outer = s == 0 || s + 1 == c->it.stages;
        c->ends_s[s] = outer ? (double)myr_rng_below(rng, 100) / 50 : 0;
        c->beside_s[s] = 0.01;
        c->recompute_s[s] = recomputed;
        c->ample[s] = 2 + (uint32_t)myr_rng_below(rng, 4);
        c->most[s] = 2 + (uint32_t)myr_rng_below(rng, LAYERS);
        c->group[s] = group;
        c->update_s[s] = update;
        c->update_layer_s[s] = update / 4;
    }
}

/* Every dealing, played. */
static void every_partition(const struct layers_case *c, uint32_t *given, uint32_t stage,
                            uint32_t left, double *best)
{
    double pipe_s, step_s;
    if (stage + 1 == c->it.stages) {
        given[stage] = left;
        if (fit_layers_s(&c->it, given, &pipe_s, &step_s) && step_s < *best) {
            *best = step_s;
        }
        return;
    }
    for (uint32_t n = 1; n + (c->it.stages - stage - 1) <= left; n++) {
        given[stage] = n;
        every_partition(c, given, stage + 1, left - n, best);
    }
}

static void layers_are_cut_as_playing_every_partition_cuts_them(void **state)
{
    (void)state;
    uint32_t found_count = 0, played = 0;
    uint64_t asked_for_all = 0;
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        struct myr_rng rng;
        struct myr_arena arena;
        struct layers_case c;
        struct fit_partitioned given = {.step_s = 1e30};
        uint32_t tried[STAGES], layers[STAGES], sum = 0;
        double best = 1e30, pipe_s, step_s;
        myr_rng_init(&rng, seed, 2);
        myr_arena_init(&arena);
        draw_layers(&rng, &c);
        asked = 0;
        bool found = fit_partition_layers(&c.it, &arena, layers, &given);
        asked_for_all += asked;
        played += given.played;
        every_partition(&c, tried, 0, c.it.layers, &best);
        bool same = given.step_s <= best * (1 + 1e-12) && given.step_s >= best * (1 - 1e-12);
        if (found != (best < 1e30) || !given.proven || (found && !same)) {
            fail_msg("seed %llu: %.12g s dealt, %.12g s is the least", (unsigned long long)seed,
                     given.step_s, best);
        }
        for (uint32_t i = 0; found && i < c.it.stages; i++) {
            sum += layers[i];
        }
        assert_int_equal(found ? sum : c.it.layers, c.it.layers);
        if (found) {
            assert_true(fit_layers_s(&c.it, layers, &pipe_s, &step_s));
            assert_true(step_s >= given.step_s && step_s <= given.step_s);
            assert_true(pipe_s >= given.pipe_s && pipe_s <= given.pipe_s);
            assert_true(given.floor_s <= given.step_s && given.floor_s >= given.step_s);
            c.it.limit_s = best;
            assert_false(fit_partition_layers(&c.it, &arena, layers, &given) &&
                         given.step_s < best * (1 - 1e-12));
        }
        found_count += found;
        myr_arena_done(&arena);
    }
    assert_true(found_count > 500);
    assert_int_equal(played, 8303);
    assert_int_equal(asked_for_all, 149281);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_is_shared_as_trying_every_way_shares_it),
        cmocka_unit_test(a_huge_batch_is_shared_at_once),
        cmocka_unit_test(layers_are_cut_as_playing_every_partition_cuts_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
