/* pools_test: pools and questions for tests. */
#pragma once

#include "test_world.h"

static struct myr_model model;

static inline int setup(void **state)
{
    MYR_TRY(open_world(state));
    return myr_model_find(&arena, "llama3-8b", &model, NULL);
}

static inline struct myr_fit_pool pool(const char *device, uint32_t gpus)
{
    struct myr_fit_pool ret = {.gpus = gpus};
    assert_int_equal(myr_profiles_device(&profiles, myr_str_from(device), &ret.device, NULL),
                     MYR_OK);
    return ret;
}

static inline struct myr_fit_query question(uint32_t batch)
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

static const char *const eight[] = {"a100-40", "a100-80", "h100",        "h800",
                                    "h200",    "b200",    "ascend-910b", "mi300x"};

static inline struct myr_fit_pool draw_pool(struct myr_rng *rng, uint32_t domains_max)
{
    const char *name = eight[myr_rng_below(rng, MYR_ARRAY_COUNT(eight))];
    return pool(name, 8 * (1 + (uint32_t)myr_rng_below(rng, domains_max)));
}
