/*
 * What is said around a search: neighbours of the best layout, hardware that is a little faster,
 * layouts that do not fit, and what is advised where nothing works. Held against tests/kept.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "kept.h"
#include "mixed/answers_test.h"
#include "myriad/fit/advice.h"
#include "test_world.h"

/* A question; 0 leaves open, and words are one more than the enumerations. */
struct row {
    const char *model, *device, *stack;
    uint32_t gpus, batch, seq;
    uint32_t tp, pp, vp, dp, cp, ep, mbs;
    uint32_t zero, recompute, schedule;
    double memory; /* of the device, in GB, where it is not that of the sheet */
};

static struct myr_fit_query query_of(const struct row *row, const struct myr_model *model)
{
    struct myr_fit_query query = myr_fit_query_default();
    struct myr_device *device = MYR_ARENA_ONE(&arena, struct myr_device);
    const struct myr_device *sold;
    bool exact;
    assert_int_equal(myr_profiles_device(&profiles, myr_str_from(row->device), &sold, NULL),
                     MYR_OK);
    *device = *sold;
    device->memory_bytes = row->memory > 0 ? row->memory * 1e9 : device->memory_bytes;
    assert_int_equal(
        myr_profiles_stack(&profiles, myr_str_from(row->stack), &query.it.stack, &exact, NULL),
        MYR_OK);
    query.it.model = model;
    query.it.device = device;
    query.it.constants = profiles.constants;
    query.gpus = row->gpus;
    query.batch = row->batch;
    query.seq_tokens = row->seq;
    query.tp = row->tp;
    query.pp = row->pp;
    query.vp = row->vp;
    query.dp = row->dp;
    query.cp = row->cp;
    query.ep = row->ep;
    query.micro_batch = row->mbs;
    query.zero = (int)row->zero - 1;
    query.recompute = (int)row->recompute - 1;
    query.schedule = row->schedule ? (int)row->schedule - 1 : MYR_FIT_SCHEDULE_STACK;
    return query;
}

static void put_choices(struct myr_buf *out, const struct myr_fit_query *query,
                        const struct myr_layout *best)
{
    struct myr_fit_choices *choices = MYR_ARENA_ONE(&arena, struct myr_fit_choices);
    choices->count = 7; /* of another question */
    myr_fit_choices(query, best, &arena, choices);
    for (uint32_t i = 0; i < choices->count; i++) {
        const struct myr_fit_choice *choice = &choices->items[i];
        assert_true(choice->legal);
        myr_buf_printf(out, " %s %s%s%s:", choice->axis, choice->value,
                       choice->foreign ? ", foreign" : "", choice->found ? "" : ", does not fit\n");
        if (choice->found) {
            put_found(out, &choice->best);
        }
    }
}

static void put_refused(struct myr_buf *out, const struct myr_fit_query *query, double step_s)
{
    struct myr_fit_refusal *refused = MYR_ARENA_NEW(&arena, struct myr_fit_refusal, 4);
    for (uint32_t max = 0; max <= 4; max += 2) {
        uint32_t count = myr_fit_refused(query, &arena, step_s, refused, max);
        myr_buf_printf(out, " up to %u faster ones: %u\n", max, count);
        for (uint32_t i = 0; max == 4 && i < count; i++) {
            put_found(out, &refused[i].found);
            myr_buf_printf(out, "   needs %.6g of %.6g, most of it %s\n",
                           refused[i].memory.total_bytes, refused[i].memory.limit_bytes,
                           myr_fit_memory_term(&refused[i].memory));
        }
    }
}

static void put_knobs(struct myr_buf *out, const struct myr_fit_query *query,
                      const struct myr_layout *best)
{
    static const double nics[] = {0, 50};
    for (size_t n = 0; n < MYR_ARRAY_COUNT(nics); n++) {
        struct myr_fit_case it = query->it;
        it.nic_gbps = nics[n];
        myr_buf_printf(out, " nic %g:", it.nic_gbps);
        for (int k = 0; k < MYR_FIT_KNOB_COUNT; k++) {
            enum myr_fit_knob knob = (enum myr_fit_knob)k;
            myr_buf_printf(out, " %s %.6g %.6g", myr_fit_knob_name(knob),
                           myr_fit_turned_s(&it, best, knob, 0.5),
                           myr_fit_turned_s(&it, best, knob, 2));
        }
        myr_buf_putc(out, '\n');
    }
}

static const struct row asked[] = {
    {"llama3-8b", "h100", "NeMo 25.05", .gpus = 16, .batch = 64},
    {"llama3-8b", "h100", "NeMo 25.05", .gpus = 16, .batch = 64, .recompute = 3, .vp = 1},
    {"llama3-8b", "h100", "NeMo 25.05", .gpus = 16, .batch = 64, .recompute = 1, .zero = 2},
    {"llama3-8b", "h100", "NeMo 25.05", .gpus = 16, .batch = 64, .tp = 2, .pp = 4, .mbs = 1},
    {"llama3-8b", "h100", "NeMo 25.05", .gpus = 16, .batch = 64, .schedule = 1, .cp = 1, .dp = 4},
    {"gpt3-13b", "a100-80", "Megatron-LM 2022", .gpus = 16, .batch = 32},
    {"gpt3-13b", "a100-80", "Megatron-LM 2022", .gpus = 16, .batch = 32, .memory = 28},
    {"mixtral-8x7b", "h100", "Megatron-Bridge 25.11", .gpus = 16, .batch = 32, .seq = 4096},
    {"mixtral-8x7b", "h100", "HAI-LLM", .gpus = 16, .batch = 32, .ep = 8, .seq = 4096},
    {"llama3-8b", "a100-40", "NeMo 25.05", .gpus = 8, .batch = 32, .memory = 30},
};

static void what_lies_around_the_best_is_what_was_kept(void **state)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf out = {};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(asked); i++) {
        struct myr_fit_answer *answer = MYR_ARENA_ONE(&arena, struct myr_fit_answer);
        struct myr_model model;
        struct myr_err err = {};
        assert_int_equal(myr_model_find(&arena, asked[i].model, &model, NULL), MYR_OK);
        struct myr_fit_query query = query_of(&asked[i], &model);
        put_question(&out, &query);
        if (myr_fit_search(&query, &arena, answer, &err) < 0) {
            fail_msg("row %zu: %s", i, err.message);
        }
        put_found(&out, &answer->top[0]);
        put_choices(&out, &query, &answer->top[0].layout);
        put_refused(&out, &query, answer->top[0].step_s);
        put_knobs(&out, &query, &answer->top[0].layout);
    }
    assert_kept("fit-advice.txt", &out);
}

/* "mine" is a model of two huge layers and two heads: few GPUs can share one of them. */
static const struct row refused[] = {
    {"llama3-8b", "h100", "NeMo 25.05", .gpus = 37, .batch = 8, .tp = 4},
    {"llama3-8b", "h100", "NeMo 25.05", .gpus = 37, .batch = 8, .tp = 2, .pp = 2},
    {"llama3-8b", "h100", "NeMo 25.05", .gpus = 37, .batch = 8, .tp = 8, .pp = 8},
    {"llama3-8b", "h100", "NeMo 25.05", .gpus = 37, .batch = 8},
    {"llama3-8b", "h100", "NeMo 25.05", .gpus = 1000, .batch = 1024},
    {"llama3-8b", "h100", "NeMo 25.05", .gpus = 8, .batch = 8, .vp = 17},
    {"llama3-8b", "h100", "NeMo 25.05", .gpus = 8, .batch = 8, .vp = 16},
    {"llama3-8b", "h100", "NeMo 25.05", .gpus = 8, .batch = 64, .mbs = 65},
    {"llama3-8b", "h100", "NeMo 25.05", .gpus = 8, .batch = 64, .mbs = 3},
    {"llama3-8b", "h100", "NeMo 25.05", .gpus = 8, .batch = 8, .tp = 3},
    {"llama3-8b", "h100", "NeMo 25.05", .gpus = 8, .batch = 8, .tp = 16},
    {"llama3-8b", "h100", "NeMo 25.05", .gpus = 8, .batch = 8, .cp = 3},
    {"llama3-8b", "h100", "NeMo 25.05", .gpus = 8, .batch = 8, .pp = 33},
    {"llama3-8b", "h100", "NeMo 25.05", .gpus = 8, .batch = 8, .pp = 3},
    {"llama3-8b", "h100", "NeMo 25.05", .gpus = 8, .batch = 8, .ep = 2},
    {"llama3-8b", "h100", "NeMo 25.05", .gpus = 8, .batch = 8, .dp = 3},
    {"llama3-8b", "h100", "NeMo 25.05", .gpus = 8, .batch = 7, .dp = 8},
    {"llama3-8b", "h100", "NeMo 25.05", .gpus = 8, .batch = 8, .tp = 4, .pp = 4},
    {"llama3-8b", "h100", "NeMo 25.05", .gpus = 8, .batch = 8, .seq = 8191, .cp = 2},
    {"mixtral-8x7b", "h100", "NeMo 25.05", .gpus = 16, .batch = 16, .ep = 3},
    {"mixtral-8x7b", "h100", "NeMo 25.05", .gpus = 16, .batch = 16, .ep = 16},
    {"gpt3-13b", "h100", "NeMo 25.05", .gpus = 8, .batch = 8, .seq = 4096},
    {"llama3-70b", "h100", "NeMo 25.05", .gpus = 8, .batch = 8},
    {"llama3-70b", "h100", "NeMo 25.05", .gpus = 8, .batch = 8, .zero = 1},
    {"llama3-70b", "h100", "NeMo 25.05", .gpus = 32, .batch = 32, .zero = 1, .recompute = 1},
    {"llama3-70b", "h100", "NeMo 25.05", .gpus = 32, .batch = 32, .tp = 1, .pp = 1},
    {"llama3-8b", "h100", "NeMo 25.05", .gpus = 8, .batch = 8, .seq = 2000000},
    {"llama3-8b", "h100", "NeMo 25.05", .gpus = 1, .batch = 1, .seq = 100000},
    {"llama3-8b", "h100", "NeMo 25.05", .gpus = 8, .batch = 8, .seq = 1999993, .tp = 3},
    {"llama3-8b", "h100", "NeMo 25.05", .gpus = 9, .batch = 7, .seq = 1999993, .tp = 3},
    {"mine", "h100", "NeMo 25.05", .gpus = 8, .batch = 8, .seq = 100003, .tp = 3},
    {"llama3-405b", "h100", "NeMo 25.05", .gpus = 16, .batch = 4},
    {"mine", "h100", "NeMo 25.05", .gpus = 2, .batch = 1, .seq = 16},
    {"mine", "h100", "NeMo 25.05", .gpus = 2, .batch = 1, .seq = 2},
    {"mine", "h100", "NeMo 25.05", .gpus = 6, .batch = 3, .seq = 2, .tp = 2, .pp = 1},
    {"mine", "h100", "NeMo 25.05", .gpus = 64, .batch = 64, .seq = 16, .memory = 20},
    {"mine", "h100", "NeMo 25.05", .gpus = 4, .batch = 4, .seq = 16, .memory = 1},
};

static struct myr_model find_model(const char *name)
{
    struct myr_model model;
    bool mine = strcmp(name, "mine") == 0;
    assert_int_equal(myr_model_find(&arena, mine ? "llama3-8b" : name, &model, NULL), MYR_OK);
    if (mine) {
        model.name = "mine";
        model.layer_count = 2;
        model.hidden = 8192;
        model.head_count = model.kv_head_count = 2;
        model.head_dim = 128;
        model.ffn_hidden = 1U << 20;
    }
    return model;
}

static void what_is_advised_where_nothing_works_is_what_was_kept(void **state)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf out = {};
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(refused); i++) {
        struct myr_fit_answer *answer = MYR_ARENA_ONE(&arena, struct myr_fit_answer);
        struct myr_model model = find_model(refused[i].model);
        struct myr_fit_query query = query_of(&refused[i], &model);
        struct myr_err err = {};
        struct myr_arena own;
        myr_arena_init(&own);
        int rc = myr_fit_search(&query, &own, answer, &err), bare;
        put_question(&out, &query);
        myr_buf_printf(&out, "  %d: %s\n  hint: %s\n", rc, err.message, err.hint);
        if (rc < 0 && answer->has_nearest) {
            put_found(&out, &(struct myr_fit_found){answer->nearest, answer->nearest_bytes});
        }
        bare = myr_fit_search(&query, &own, answer, NULL); /* nobody reads it: the same code */
        assert_int_equal(bare, rc);
        myr_arena_done(&own);
    }
    assert_kept("fit-refusals.txt", &out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_lies_around_the_best_is_what_was_kept),
        cmocka_unit_test(what_is_advised_where_nothing_works_is_what_was_kept),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
