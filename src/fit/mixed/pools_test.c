#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "cost/block.h"
#include "mixed/pools_test.h"

/* Twins */

/* May pools of half the GPUs each run this layout of all of them? */
static bool halves(const struct myr_layout *l, uint32_t gpus)
{
    uint32_t half = l->dp * l->cp / 2;
    bool cut = l->zero == 0 || l->shard == half || (myr_layout_shard(l) == 2 * half && l->zero < 2);
    return gpus % (l->tp * l->cp * l->pp) == 0 && cut && l->schedule != MYR_SCHEDULE_DUALPIPE;
}

static bool same_parts(const struct myr_fit_part *a, const struct myr_fit_part *b)
{
    return a->batch == b->batch && a->layout.micro_batch == b->layout.micro_batch &&
           a->layout.recompute == b->layout.recompute &&
           a->layout.recompute_layers == b->layout.recompute_layers;
}

static void expect_near(uint64_t seed, double value, double expected, double tolerance)
{
    if (value > expected * (1 + tolerance) || value < expected * (1 - tolerance)) {
        fail_msg("seed %llu: %.12g, expected %.12g", (unsigned long long)seed, value, expected);
    }
}

/* Bounds end the search over layouts: with an axis fixed there is less to leave out. */
static void open_axes_find_the_best_of_all_that_can_be_fixed(void **state)
{
    static const char *const models[] = {"llama3-8b", "gpt-oss-20b", "mixtral-8x7b"};
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct myr_rng rng;
        struct myr_model other;
        struct myr_fit_pools found, fixed;
        double batch = 1e30, layers = 1e30;
        myr_rng_init(&rng, seed, 7);
        assert_int_equal(myr_model_find(&arena, models[seed % 3], &other, NULL), MYR_OK);
        struct myr_fit_query query = question(32U << myr_rng_below(&rng, 3));
        struct myr_fit_pool pools[] = {draw_pool(&rng, 4), draw_pool(&rng, 4)};
        query.it.model = &other;
        query.seq_tokens = 4096;
        query.cp = 1;
        query.micro_batch = 1 + (uint32_t)myr_rng_below(&rng, 2);
        bool any = myr_fit_pools_search(&query, pools, 2, &arena, &found, NULL) == MYR_OK;
        for (query.tp = 1; query.tp <= 8; query.tp *= 2) {
            for (query.zero = 0; query.zero <= 3; query.zero++) {
                if (myr_fit_pools_search(&query, pools, 2, &arena, &fixed, NULL) == MYR_OK) {
                    batch = fixed.batch.found ? fit_min(batch, fixed.batch.step_s) : batch;
                    layers = fixed.layers.found ? fit_min(layers, fixed.layers.step_s) : layers;
                }
            }
        }
        if (!any) {
            assert_true(batch >= 1e30 && layers >= 1e30);
            continue;
        }
        expect_near(seed, found.batch.found ? found.batch.step_s : 1e30, batch, 1e-12);
        expect_near(seed, found.layers.found ? found.layers.step_s : 1e30, layers, 1e-12);
    }
}

static void twins_that_share_a_batch_are_as_fast_as_one_pool_of_both(void **state)
{
    (void)state;
    uint32_t equal_count = 0, bound_count = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct myr_rng rng;
        struct myr_fit_pools found;
        struct myr_fit_answer *answer = MYR_ARENA_ONE(&arena, struct myr_fit_answer);
        myr_rng_init(&rng, seed, 4);
        struct myr_fit_query query = question(32U << myr_rng_below(&rng, 4));
        struct myr_fit_pool one = draw_pool(&rng, 4), pools[] = {one, one};
        query.it.stack = &profiles.stacks[myr_rng_below(&rng, profiles.stack_count)];
        query.it.device = one.device;
        /* Early libraries' NICs go by members in a server, which halves of a job have fewer of. */
        if (query.it.stack->era == MYR_ERA_EAGER) {
            continue;
        }
        query.gpus = 2 * one.gpus;
        bool fits = myr_fit_search(&query, &arena, answer, NULL) == MYR_OK;
        if (myr_fit_pools_search(&query, pools, 2, &arena, &found, NULL) < 0 || !fits) {
            continue;
        }
        const struct myr_fit_found *plain = &answer->top[0];
        if (halves(&plain->layout, one.gpus)) {
            bound_count++;
            assert_true(found.batch.found);
            /* Where nothing hides the exchange it shows that a server of one pool holds fewer
             * members of a group than one of both would: seed 4, 0.1 %. */
            double slack = query.it.stack->overlap_data ? 1e-9 : 2e-3;
            if (found.batch.step_s > plain->step_s * (1 + slack)) {
                fail_msg("seed %llu, %s, %s: %.9g s shared, %.9g s as one pool",
                         (unsigned long long)seed, query.it.stack->name, one.device->name,
                         found.batch.step_s, plain->step_s);
            }
        }
        if (found.batch.found && same_parts(&found.batch.parts[0], &found.batch.parts[1])) {
            struct myr_layout both = found.batch.parts[0].layout;
            struct myr_fit_cost cost;
            struct myr_fit_memory memory;
            both.dp *= 2;
            both.global_batch = query.batch;
            myr_fit_cost_of(&query.it, &both, &cost);
            myr_fit_memory_of(&query.it, &both, &memory);
            expect_near(seed, found.batch.step_s, cost.step_s, 1e-9);
            expect_near(seed, found.batch.parts[0].memory_bytes, memory.total_bytes, 1e-12);
            /* A shard of the context alone is none of the search's, nor is any that the trainer
             * cannot be told. */
            bool apart = both.shard > 0 && !query.it.stack->shards;
            assert_true(both.shard == both.cp || apart ||
                        found.batch.step_s >= plain->step_s * (1 - 1e-9));
            equal_count++;
        }
    }
    assert_true(equal_count > 5 && bound_count > 5);
}

/* The layout that deals layers as a mixture does, if there is one. */
static bool as_layout(const struct myr_fit_mixed *mixed, const struct myr_model *of,
                      struct myr_layout *ret)
{
    *ret = mixed->parts[0].layout;
    ret->first_layers = mixed->stages[0].layers;
    ret->last_layers = mixed->stages[mixed->stage_count - 1].layers;
    for (uint32_t i = 0; i < mixed->stage_count; i++) {
        if (myr_layout_chunk_layers(ret, of, i).count != mixed->stages[i].layers) {
            return false;
        }
    }
    return myr_layout_broken(ret, of, 0) == MYR_LAYOUT_OK;
}

static void twins_along_a_pipeline_are_as_fast_as_one_pool_of_both(void **state)
{
    static const char *const models[] = {"llama3-8b", "gpt-oss-20b", "mixtral-8x7b", "deepseek-v3"};
    (void)state;
    uint32_t equal_count = 0, bound_count = 0;
    for (uint64_t seed = 1; seed <= 120; seed++) {
        struct myr_rng rng;
        struct myr_model other;
        struct myr_fit_pools found;
        struct myr_fit_answer *answer = MYR_ARENA_ONE(&arena, struct myr_fit_answer);
        myr_rng_init(&rng, seed, 5);
        assert_int_equal(myr_model_find(&arena, models[seed % 4], &other, NULL), MYR_OK);
        other.layer_count = other.mtp_count > 0 ? 8 : other.layer_count; /* it is for others */
        struct myr_fit_query query = question(32U << myr_rng_below(&rng, 4));
        struct myr_fit_pool one = draw_pool(&rng, 4), pools[] = {one, one};
        struct myr_layout both;
        query.it.stack = &profiles.stacks[myr_rng_below(&rng, profiles.stack_count)];
        query.it.device = one.device;
        query.it.model = &other;
        query.seq_tokens = 4096;
        query.gpus = 2 * one.gpus;
        query.recompute = myr_rng_below(&rng, 3) ? MYR_RECOMPUTE_NONE : MYR_RECOMPUTE_FULL;
        query.schedule = MYR_SCHEDULE_1F1B;
        query.zero = (int)myr_rng_below(&rng, 4);
        query.pp = 2U << myr_rng_below(&rng, 3);
        bool fits = myr_fit_search(&query, &arena, answer, NULL) == MYR_OK;
        if (myr_fit_pools_search(&query, pools, 2, &arena, &found, NULL) < 0) {
            continue;
        }
        const struct myr_layout *plain = &answer->top[0].layout;
        /* A last stage of output and prediction modules alone is none of a mixture's. */
        bool empty = fits && plain->output_counts &&
                     myr_layout_chunk_layers(plain, &other, plain->pp - 1).count == 0;
        if (fits && !empty && plain->order[MYR_LAYOUT_ORDER_COUNT - 1] == MYR_AXIS_PP &&
            (plain->zero == 0 || myr_layout_shard(plain) == plain->dp * plain->cp)) {
            bound_count++;
            assert_true(found.layers.found);
            assert_true(found.layers.step_s <= answer->top[0].step_s * (1 + 1e-9));
        }
        if (found.layers.found && as_layout(&found.layers, &other, &both)) {
            struct myr_fit_cost cost;
            struct myr_fit_memory memory;
            both.recompute = (enum myr_recompute)query.recompute;
            myr_fit_cost_of(&query.it, &both, &cost);
            myr_fit_memory_of(&query.it, &both, &memory);
            expect_near(seed, found.layers.step_s, cost.step_s, 1e-9);
            const struct myr_fit_part *parts = found.layers.parts;
            expect_near(seed, fit_max(parts[0].memory_bytes, parts[1].memory_bytes),
                        memory.total_bytes, 1e-8);
            equal_count++;
        }
    }
    assert_true(equal_count > 20 && bound_count > 20);
}

static void twins_share_the_batch_in_halves(void **state)
{
    (void)state;
    struct myr_fit_query query = question(256);
    struct myr_fit_pool pools[] = {pool("h100", 32), pool("h100", 32)};
    struct myr_fit_pools found;
    assert_int_equal(myr_fit_pools_search(&query, pools, 2, &arena, &found, NULL), MYR_OK);
    assert_int_equal(found.verdict, MYR_FIT_MIX_BATCH);
    assert_int_equal(found.batch.parts[0].batch, 128);
    assert_int_equal(found.batch.parts[1].batch, 128);
    assert_true(found.gain > 0.8 && found.gain < 1.01);
    assert_true(found.efficiency > 0.9 && found.efficiency <= 1.01);
}

static void a_faster_pool_gets_more_of_both(void **state)
{
    (void)state;
    struct myr_fit_query query = question(512);
    struct myr_fit_pool pools[] = {pool("h800", 64), pool("a100-80", 64)};
    struct myr_fit_pools found;
    uint32_t layers = 0;
    assert_int_equal(myr_fit_pools_search(&query, pools, 2, &arena, &found, NULL), MYR_OK);
    assert_int_not_equal(found.verdict, MYR_FIT_MIX_NONE);
    const struct myr_fit_part *parts = found.batch.parts;
    assert_int_equal(parts[0].batch + parts[1].batch, 512);
    assert_true(parts[0].batch > parts[1].batch);
    assert_true(found.layers.found);
    for (uint32_t i = 0; i < found.layers.stage_count; i++) {
        layers += found.layers.stages[i].layers;
    }
    assert_int_equal(layers, model.layer_count);
    const struct myr_fit_part *ours = &found.layers.parts[0], *theirs = &found.layers.parts[1];
    assert_int_equal(ours->stages + theirs->stages, found.layers.stage_count);
    assert_true(found.layers.stages[ours->first_stage].layers >
                found.layers.stages[theirs->first_stage + theirs->stages - 1].layers);
}

static void a_few_slow_gpus_are_better_left_out(void **state)
{
    (void)state;
    struct myr_fit_query query = question(256);
    struct myr_fit_pool pools[] = {pool("h100", 64), pool("ascend-910b", 8)};
    struct myr_fit_pools found;
    assert_int_equal(myr_fit_pools_search(&query, pools, 2, &arena, &found, NULL), MYR_OK);
    assert_int_equal(found.verdict, MYR_FIT_MIX_NONE);
    assert_int_equal(found.fastest, 0);
    assert_true(found.step_s <= found.batch.step_s && found.step_s <= found.layers.step_s);
}

/* 7 and 5 have no width in common: to share gains next to nothing, two jobs a third. */
static void a_small_gain_is_no_reason_to_share_where_jobs_of_their_own_do_more(void **state)
{
    static const struct {
        uint32_t h100, a100;
    } sizes[] = {{7, 5}, {7, 3}, {5, 3}, {11, 7}};
    uint32_t apart = 0;
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(sizes); i++) {
        struct myr_fit_query query = question(64);
        struct myr_fit_pool pools[] = {pool("h100", sizes[i].h100), pool("a100-80", sizes[i].a100)};
        struct myr_fit_pools found;
        assert_int_equal(myr_fit_pools_search(&query, pools, 2, &arena, &found, NULL), MYR_OK);
        double alone = found.alone[found.fastest].step_s;
        double best = fit_min(found.batch.found ? found.batch.step_s : 1e30,
                              found.layers.found ? found.layers.step_s : 1e30);
        bool small = alone / best < 1.05 && found.jobs_gain > 2 * (alone / best - 1);
        assert_true((found.verdict == MYR_FIT_MIX_NONE) == (small || best >= alone));
        apart += found.verdict == MYR_FIT_MIX_NONE && found.jobs_gain > 0.15;
    }
    assert_true(apart > 0);
}

/* 175 billion parameters need more memory than either pool has. */
static void two_pools_hold_what_neither_does(void **state)
{
    (void)state;
    struct myr_fit_query query = question(64);
    struct myr_model large;
    assert_int_equal(myr_model_find(&arena, "gpt3-175b", &large, NULL), MYR_OK);
    query.it.model = &large;
    query.seq_tokens = large.seq_tokens;
    struct myr_fit_pool pools[] = {pool("h100", 24), pool("a100-80", 24)};
    struct myr_fit_pools found;
    uint32_t layers = 0, recomputed = 0;
    assert_int_equal(myr_fit_pools_search(&query, pools, 2, &arena, &found, NULL), MYR_OK);
    assert_false(found.any_alone);
    assert_int_not_equal(found.verdict, MYR_FIT_MIX_NONE);
    assert_true(found.layers.found);
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(found.layers.parts[i].memory_bytes <= pools[i].device->memory_bytes);
    }
    assert_true(found.layers.parts[0].memory_bytes > 0.9 * pools[0].device->memory_bytes);
    for (uint32_t i = 0; i < found.layers.stage_count; i++) {
        layers += found.layers.stages[i].layers;
        recomputed += found.layers.stages[i].recompute_layers;
    }
    assert_int_equal(layers, large.layer_count);
    assert_true(recomputed > 0);
    assert_true(found.layers.floor_s <= found.layers.step_s);
}

static void a_third_pool_is_left_out_where_it_only_slows_the_others(void **state)
{
    (void)state;
    struct myr_fit_query query = question(256);
    struct myr_fit_pool pools[] = {pool("h100", 32), pool("ascend-910b", 8), pool("h100", 32)};
    struct myr_fit_pools found;
    assert_int_equal(myr_fit_pools_search(&query, pools, 3, &arena, &found, NULL), MYR_OK);
    assert_int_equal(found.verdict, MYR_FIT_MIX_BATCH);
    assert_true(found.batch.parts[0].used && found.batch.parts[2].used);
    assert_false(found.batch.parts[1].used);
    assert_int_equal(found.batch.parts[0].batch, 128);
}

static void each_pool_multiplies_in_the_precision_that_it_has(void **state)
{
    (void)state;
    struct myr_fit_query query = question(128);
    struct myr_fit_pool pools[] = {pool("a100-80", 16), pool("h100", 16)};
    struct myr_fit_pools found;
    query.precision = MYR_PRECISION_FP8;
    assert_int_equal(myr_fit_pools_search(&query, pools, 2, &arena, &found, NULL), MYR_OK);
    assert_true(found.batch.found && found.layers.found);
    assert_int_equal(found.alone[0].layout.precision, MYR_PRECISION_BF16);
    assert_int_equal(found.batch.parts[0].layout.precision, MYR_PRECISION_BF16);
    assert_int_equal(found.batch.parts[1].layout.precision, MYR_PRECISION_FP8);
    assert_int_equal(found.layers.parts[1].layout.precision, MYR_PRECISION_FP8);
}

static void pools_that_hold_nothing_together_say_so(void **state)
{
    (void)state;
    struct myr_fit_query query = question(64);
    struct myr_model large;
    struct myr_err err = {};
    struct myr_fit_pools found;
    assert_int_equal(myr_model_find(&arena, "gpt3-175b", &large, NULL), MYR_OK);
    query.it.model = &large;
    query.seq_tokens = large.seq_tokens;
    struct myr_fit_pool pools[] = {pool("h100", 8), pool("a100-40", 8)};
    assert_int_equal(myr_fit_pools_search(&query, pools, 2, &arena, &found, &err), MYR_EINFEASIBLE);
    assert_non_null(strstr(err.message, "no mixture works"));
    assert_non_null(strstr(err.message, "h100"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(twins_that_share_a_batch_are_as_fast_as_one_pool_of_both),
        cmocka_unit_test(open_axes_find_the_best_of_all_that_can_be_fixed),
        cmocka_unit_test(twins_along_a_pipeline_are_as_fast_as_one_pool_of_both),
        cmocka_unit_test(twins_share_the_batch_in_halves),
        cmocka_unit_test(a_faster_pool_gets_more_of_both),
        cmocka_unit_test(a_few_slow_gpus_are_better_left_out),
        cmocka_unit_test(a_small_gain_is_no_reason_to_share_where_jobs_of_their_own_do_more),
        cmocka_unit_test(two_pools_hold_what_neither_does),
        cmocka_unit_test(a_third_pool_is_left_out_where_it_only_slows_the_others),
        cmocka_unit_test(each_pool_multiplies_in_the_precision_that_it_has),
        cmocka_unit_test(pools_that_hold_nothing_together_say_so),
    };
    return cmocka_run_group_tests(tests, setup, close_world);
}
