/*
 * Models whose layers come in an order of their own (experts in one of three, full attention in one
 * of five), cut into more stages than bounds look at one by one: the search finds what visiting
 * every layout finds, and prices as many of them as when somebody last looked
 * (tests/kept/fit-odd-models.txt).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "kept.h"
#include "mixed/answers_test.h"
#include "test_world.h"

static struct myr_model odd_model(struct myr_rng *rng)
{
    struct myr_model model = {
        .name = "odd",
        .layer_count = 17 + (uint32_t)myr_rng_below(rng, 20),
        .head_count = 8,
        .kv_head_count = 2,
        .head_dim = 64,
        .hidden = 512,
        .ffn_hidden = 2048,
        .causal = true,
        .vocab = 32000,
        .seq_tokens = 2048,
        .gated = true,
        .norms_per_layer = 2,
        .window_tokens = 256,
        .full_every = 2 + (uint32_t)myr_rng_below(rng, 5),
    };
    model.moe.interval = 2 + (uint32_t)myr_rng_below(rng, 2);
    model.moe.first_dense = (uint32_t)myr_rng_below(rng, 4);
    model.moe.expert_count = 8;
    model.moe.experts_per_token = 2;
    model.moe.expert_hidden = 768;
    model.mtp_count = (uint32_t)myr_rng_below(rng, 2);
    model.tied = myr_rng_below(rng, 2) == 0;
    return model;
}

static struct myr_fit_query odd_query(struct myr_rng *rng, const struct myr_model *model)
{
    static const int schedules[] = {MYR_SCHEDULE_1F1B, MYR_FIT_SCHEDULE_ANY,
                                    MYR_SCHEDULE_ZERO_BUBBLE, MYR_SCHEDULE_INTERLEAVED};
    struct myr_fit_query query = myr_fit_query_default();
    struct myr_device *device = MYR_ARENA_ONE(&arena, struct myr_device);
    double params = (double)myr_model_params(model).total;
    query.it.model = model;
    query.it.stack = &profiles.stacks[myr_rng_below(rng, profiles.stack_count)];
    query.it.constants = profiles.constants;
    query.pp = 8 + (uint32_t)myr_rng_below(rng, 9);
    query.gpus = query.pp * (1 + (uint32_t)myr_rng_below(rng, 2));
    *device = profiles.devices[myr_rng_below(rng, profiles.device_count)];
    device->memory_bytes = 3e9 + params * (double)(1 + myr_rng_below(rng, 20));
    query.it.device = device;
    query.batch = query.gpus * (1U << myr_rng_below(rng, 3));
    query.seq_tokens = model->seq_tokens;
    query.top = 2;
    query.tp = 1;
    query.cp = 1;
    query.micro_batch = 1 + (uint32_t)myr_rng_below(rng, 2);
    query.zero = myr_rng_below(rng, 2) ? -1 : (int)myr_rng_below(rng, 4);
    query.recompute = myr_rng_below(rng, 3) ? -1 : (int)myr_rng_below(rng, 3);
    query.schedule = schedules[myr_rng_below(rng, MYR_ARRAY_COUNT(schedules))];
    query.vp = query.schedule == MYR_SCHEDULE_INTERLEAVED ? 2 : 0;
    return query;
}

static void orders_of_layers_that_are_nobodys_are_searched_as_any(void **state)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    uint32_t solved = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 90; seed++) {
        struct myr_rng rng;
        struct myr_fit_answer *quick, *slow;
        struct myr_arena own;
        myr_arena_init(&own);
        quick = MYR_ARENA_ONE(&own, struct myr_fit_answer);
        slow = MYR_ARENA_ONE(&own, struct myr_fit_answer);
        myr_rng_init(&rng, seed, 41);
        struct myr_model model = odd_model(&rng);
        assert_int_equal(myr_model_check(&model, NULL), MYR_OK);
        struct myr_fit_query query = odd_query(&rng, &model);
        int rc = myr_fit_search(&query, &own, quick, NULL);
        query.exhaustive = true;
        assert_int_equal(myr_fit_search(&query, &own, slow, NULL), rc);
        put_question(&text, &query);
        myr_buf_printf(&text, "  %u layers, experts in one of %u from %u on, %llu covered, ",
                       model.layer_count, model.moe.interval, model.moe.first_dense,
                       (unsigned long long)quick->evaluated);
        myr_buf_printf(&text, "%llu priced\n", (unsigned long long)quick->costed);
        assert_int_equal(quick->evaluated, slow->evaluated);
        assert_int_equal(quick->top_count, slow->top_count);
        for (uint32_t i = 0; i < quick->top_count; i++) {
            put_found(&text, &quick->top[i]);
            assert_memory_equal(&quick->top[i].layout, &slow->top[i].layout,
                                sizeof(struct myr_layout));
            assert_true(quick->top[i].step_s >= slow->top[i].step_s &&
                        quick->top[i].step_s <= slow->top[i].step_s);
        }
        solved += rc == MYR_OK;
        myr_arena_done(&own);
    }
    assert_true(solved > 40);
    assert_kept("fit-odd-models.txt", &text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_of_layers_that_are_nobodys_are_searched_as_any),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
