#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "test_world.h"

static struct myr_model model;

static int setup(void **state)
{
    int rc = open_world(state);
    return rc < 0 ? rc : myr_model_find(&arena, "llama3-8b", &model, NULL);
}

static struct myr_fit_pool pool(const char *device, uint32_t gpus)
{
    struct myr_fit_pool ret = {.gpus = gpus};
    assert_int_equal(myr_profiles_device(&profiles, myr_str_from(device), &ret.device, NULL),
                     MYR_OK);
    return ret;
}

static struct myr_fit_query question(uint32_t batch)
{
    struct myr_fit_query query = myr_fit_query_default();
    bool exact;
    query.it.model = &model;
    query.it.constants = profiles.constants;
    assert_int_equal(
        myr_profiles_stack(&profiles, MYR_STR("NeMo 25.05"), &query.it.stack, &exact, NULL),
        MYR_OK);
    query.batch = batch;
    query.seq_tokens = model.seq_tokens;
    return query;
}

/* Dealing a batch rests on it: a step is a fixed part and one for each micro-batch. */
static void a_step_grows_by_the_same_for_each_micro_batch(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct myr_rng rng;
        struct myr_fit_cost cost;
        double times[4];
        myr_rng_init(&rng, seed, 0);
        struct myr_fit_query query = question(1);
        query.it.device = &profiles.devices[myr_rng_below(&rng, profiles.device_count)];
        query.it.stack = &profiles.stacks[myr_rng_below(&rng, profiles.stack_count)];
        struct myr_layout layout = myr_layout_default();
        layout.tp = 1U << myr_rng_below(&rng, 4);
        layout.pp = 1U << myr_rng_below(&rng, 3);
        layout.dp = 1U << myr_rng_below(&rng, 6);
        layout.zero = (uint32_t)myr_rng_below(&rng, 4);
        layout.recompute = (enum myr_recompute)myr_rng_below(&rng, 3);
        for (uint32_t m = 1; m <= 4; m++) {
            layout.global_batch = layout.dp * m;
            myr_fit_cost_of(&query.it, &layout, &cost);
            times[m - 1] = cost.step_s;
        }
        double one = times[1] - times[0], later = (times[3] - times[1]) / 2;
        if (one < later * (1 - 1e-9) || one > later * (1 + 1e-9)) {
            fail_msg("seed %llu: %.12g and then %.12g s", (unsigned long long)seed, one, later);
        }
    }
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
        layers += found.layers.stage_layers[i];
    }
    assert_int_equal(layers, model.layer_count);
    const struct myr_fit_part *ours = &found.layers.parts[0], *theirs = &found.layers.parts[1];
    assert_int_equal(ours->stages + theirs->stages, found.layers.stage_count);
    assert_true(found.layers.stage_layers[ours->first_stage] >
                found.layers.stage_layers[theirs->first_stage + theirs->stages - 1]);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_grows_by_the_same_for_each_micro_batch),
        cmocka_unit_test(twins_share_the_batch_in_halves),
        cmocka_unit_test(a_faster_pool_gets_more_of_both),
        cmocka_unit_test(a_few_slow_gpus_are_better_left_out),
    };
    return cmocka_run_group_tests(tests, setup, close_world);
}
