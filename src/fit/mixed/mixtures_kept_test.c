/*
 * Mixtures that few people ask for, held against what was said when somebody last looked
 * (tests/kept/fit-rare-mixtures.txt): models with prediction modules, dense layers among experts
 * and windows, memory that is short, every ZeRO stage and recomputation, three and four pools,
 * twins among them. How many partitions were solved stands there too: a weaker bound shows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "kept.h"
#include "mixed/answers_test.h"
#include "test_world.h"

enum { MIXTURES = 90 };

/* Models of a few layers: what is asked is how layers of all kinds are dealt. */
static struct myr_model draw_model(struct myr_rng *rng)
{
    static const struct {
        const char *name;
        uint32_t layers, wide;
    } rows[] = {{"deepseek-v3", 5, 8}, {"deepseek-v2", 6, 16}, {"gpt-oss-20b", 8, 8},
                {"gpt3-175b", 8, 1},   {"mpt-7b", 6, 1},       {"llama4-maverick", 6, 8},
                {"bloom-176b", 5, 1},  {"kimi-k2", 4, 8},      {"grok-1", 6, 1}};
    struct myr_model model;
    size_t at = myr_rng_below(rng, MYR_ARRAY_COUNT(rows));
    assert_int_equal(myr_model_find(&arena, rows[at].name, &model, NULL), MYR_OK);
    model.layer_count = rows[at].layers;
    model.moe.expert_count /= rows[at].wide; /* of a size that a few GPUs hold */
    model.moe.first_dense = model.moe.first_dense > 2 ? 2 : model.moe.first_dense;
    if (model.mtp_count > 0 && myr_rng_below(rng, 2)) { /* the last layer may have no experts */
        model.moe.interval = 2;
        model.moe.first_dense = 0;
        model.ffn_hidden = model.ffn_hidden ? model.ffn_hidden : model.hidden;
    }
    model.dropout = myr_rng_below(rng, 3) == 0;
    return model;
}

static struct myr_fit_query draw_query(struct myr_rng *rng, const struct myr_model *model)
{
    struct myr_fit_query query = myr_fit_query_default();
    query.it.model = model;
    query.it.device = &profiles.devices[0];
    do {
        query.it.stack = &profiles.stacks[myr_rng_below(rng, profiles.stack_count)];
    } while (query.it.stack->era == MYR_ERA_TORCH);
    query.it.constants = profiles.constants;
    query.batch = 8U << myr_rng_below(rng, 2);
    query.seq_tokens = 1024U << myr_rng_below(rng, 4);
    query.micro_batch = 1 + (uint32_t)myr_rng_below(rng, 2);
    query.tp = 1U << myr_rng_below(rng, 2);
    query.cp = 1;
    query.zero = (int)myr_rng_below(rng, 5) - 1;
    query.recompute = myr_rng_below(rng, 2) ? -1 : (int)myr_rng_below(rng, 3);
    query.schedule = myr_rng_below(rng, 3) ? MYR_SCHEDULE_1F1B : MYR_FIT_SCHEDULE_STACK;
    query.any_precision = myr_rng_below(rng, 6) == 0;
    query.precision = myr_rng_below(rng, 3) ? MYR_PRECISION_BF16 : MYR_PRECISION_FP8;
    query.ep = myr_rng_below(rng, 2) ? 0 : 1;
    query.dp = myr_rng_below(rng, 6) ? 0 : 2;
    query.pp = myr_rng_below(rng, 8) ? 0 : 3;
    return query;
}

/* Half of them with less memory than they are sold with: layers are made again then, or not all. */
static const struct myr_device *draw_device(struct myr_rng *rng)
{
    struct myr_device *device = MYR_ARENA_ONE(&arena, struct myr_device);
    *device = profiles.devices[myr_rng_below(rng, profiles.device_count)];
    if (myr_rng_below(rng, 2)) {
        device->memory_bytes = (double)(24 + myr_rng_below(rng, 60)) * 1e9;
    }
    return device;
}

static void rare_mixtures_say_what_was_kept(void **state)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct myr_rng rng;
    uint32_t found = 0;
    (void)state;
    myr_rng_init(&rng, 20261117, 9);
    for (uint32_t i = 0; i < MIXTURES; i++) {
        struct myr_fit_pool pools[MYR_FIT_POOLS_MAX];
        struct myr_model model = draw_model(&rng);
        struct myr_fit_query query = draw_query(&rng, &model);
        uint32_t count =
            2 + (uint32_t)(myr_rng_below(&rng, 3) == 0) + (uint32_t)(myr_rng_below(&rng, 5) == 0);
        for (uint32_t p = 0; p < count; p++) {
            pools[p].device = draw_device(&rng);
            pools[p].gpus = 2 + 2 * (uint32_t)myr_rng_below(&rng, 3);
            if (p > 0 && myr_rng_below(&rng, 4) == 0) {
                pools[p] = pools[p - 1]; /* a twin */
            }
        }
        size_t before = text.len;
        put_mixture(&text, &query, pools, count);
        found += strstr(text.data + before, "none\n") == NULL;
    }
    assert_true(found > MIXTURES / 3);
    assert_kept("fit-rare-mixtures.txt", &text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rare_mixtures_say_what_was_kept)};
    return cmocka_run_group_tests(tests, open_world, close_world);
}
