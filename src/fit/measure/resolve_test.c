/*
 * A row is a question like any other: what it leaves open takes the best of all values, tried one
 * by one, and what it states is priced as whoever asks for it by axes or by a file is told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include <stdio.h>

#include "myriad/fit.h"
#include "rounds.h"
#include "test_world.h"

enum { GRID = MYR_RUN_OPEN_TP | MYR_RUN_OPEN_PP | MYR_RUN_OPEN_CP | MYR_RUN_OPEN_EP };

static uint32_t below(struct myr_rng *rng, uint32_t count)
{
    return (uint32_t)myr_rng_below(rng, count);
}

static struct myr_model draw_model(struct myr_rng *rng)
{
    struct myr_model model = {
        .name = "drawn",
        .layer_count = 4 + below(rng, 5),
        .head_count = 8U << below(rng, 2),
        .head_dim = 64,
        .causal = true,
        .vocab = 32000,
        .seq_tokens = 1024,
        .gated = true,
        .norms_per_layer = 2,
    };
    model.hidden = model.head_count * model.head_dim;
    model.kv_head_count = model.head_count;
    model.ffn_hidden = model.hidden * 4;
    model.moe.interval = 1;
    if (below(rng, 2)) {
        model.moe.expert_count = 8;
        model.moe.experts_per_token = 2;
        model.moe.expert_hidden = model.hidden;
        model.mtp_count = below(rng, 2);
    }
    return model;
}

/* Few axes are open at once, so that all values can be tried; little memory, so that it decides. */
static struct myr_run draw_run(struct myr_rng *rng, struct myr_device *device)
{
    struct myr_run run = {.model = draw_model(rng), .layout = myr_layout_default()};
    struct myr_layout *l = &run.layout;
    for (uint32_t i = 0; i < 3; i++) {
        run.open |= 1U << below(rng, 9);
    }
    *device = profiles.devices[below(rng, profiles.device_count)];
    run.it.device = device;
    run.it.stack = &profiles.stacks[below(rng, profiles.stack_count)];
    run.it.constants = profiles.constants;
    run.it.domain_gpus = below(rng, 2) ? 4 : 0;
    run.gpus = 8U << below(rng, 3);
    l->tp = 1U << below(rng, 3);
    l->pp = 1U << below(rng, 2);
    l->cp = 1U << below(rng, 2);
    l->ep = run.model.moe.expert_count ? 1U << below(rng, 3) : 1;
    l->dp = run.gpus / (l->tp * l->pp * l->cp);
    l->dp = l->dp ? l->dp : 1;
    l->sequence_parallel = l->tp > 1 && below(rng, 2);
    l->schedule = below(rng, 6) ? MYR_SCHEDULE_1F1B : MYR_SCHEDULE_DUALPIPE;
    l->global_batch = run.gpus * 4;
    run.dp = below(rng, 4) ? 0 : l->dp;
    run.etp = below(rng, 4) || run.open & MYR_RUN_OPEN_ETP ? 0 : 1;
    double share = 0.2 + below(rng, 40) / 10.0;
    device->memory_bytes =
        2.2e9 + (double)myr_model_params(&run.model).total * 16 / run.gpus * share;
    return run;
}

/* Returns whether there was a layout. */
static bool compare(uint64_t seed)
{
    struct myr_rng rng;
    struct myr_device device;
    struct myr_fit_answer *slow = MYR_ARENA_ONE(&arena, struct myr_fit_answer);
    struct myr_fit_cost cost;
    struct myr_fit_memory memory;
    struct myr_err err = {};
    myr_rng_init(&rng, seed, 0);
    struct myr_run run = draw_run(&rng, &device);
    run.it.model = &run.model;
    struct myr_fit_query query = myr_run_query(&run);
    query.exhaustive = true;
    bool fits = myr_fit_search(&query, &arena, slow, &err) == MYR_OK;
    struct myr_run asked = run;
    myr_run_resolve(&run);
    run.it.model = &run.model;
    if (run.refused) {
        assert_false(fits || run.fits);
        assert_string_equal(
            run.refused, myr_layout_rule_name(myr_layout_broken(&asked.layout, &asked.model, 0)));
        return false;
    }
    myr_run_cost(&run, &cost);
    myr_fit_memory_of(&run.it, &run.layout, &memory);
    if (run.fits != fits || memory.fits != fits || (fits && cost.step_s != slow->top[0].step_s)) {
        fail_msg("seed %llu, open %x: fits %d and %d, %.9g and %.9g s", (unsigned long long)seed,
                 run.open, run.fits, fits, cost.step_s, fits ? slow->top[0].step_s : 0);
    }
    assert_true(myr_layout_gpus(&run.layout) == run.gpus);
    return true;
}

static void open_axes_take_the_best_of_all_values(void **state)
{
    uint32_t found = 0, rounds = TEST_ROUNDS(300);
    (void)state;
    for (uint32_t seed = 1; seed <= rounds; seed++) {
        found += compare(seed);
    }
    assert_true(found > rounds / 3 && found < rounds);
}

static void a_row_that_is_refused_stays_as_it_is(void **state)
{
    struct myr_run run = {.refused = "gpus", .open = GRID, .layout = myr_layout_default()};
    struct myr_run before = run;
    (void)state;
    myr_run_resolve(&run);
    assert_string_equal(run.refused, "gpus");
    assert_memory_equal(&run.layout, &before.layout, sizeof(run.layout));
    assert_false(run.fits);
}

/* What a row says, as options say it. */
static struct myr_case_question question_of(const struct myr_run *run, char recipe[256])
{
    const struct myr_layout *l = &run->layout;
    struct myr_case_question q = myr_case_question_default();
    size_t at = 0;
    for (int i = 0; i < MYR_CAPABILITY_COUNT; i++) {
        char word[64];
        at += (size_t)snprintf(
            recipe + at, 256 - at, "%s%s=%s", i ? "," : "",
            myr_capability_name((enum myr_capability)i),
            myr_capability_word((enum myr_capability)i, run->recipes[l->precision].of[i], word));
    }
    q.model = run->model.name;
    q.model_read = &run->model;
    q.device = run->it.device->name;
    q.software = run->it.stack->name;
    q.recipe = recipe;
    q.nic_gbps = (uint64_t)run->it.nic_gbps;
    q.gpus = run->gpus;
    q.batch = l->global_batch;
    q.seq = myr_layout_seq(l, &run->model);
    q.tp = l->tp;
    q.pp = l->pp;
    q.vp = l->vp;
    q.cp = l->cp;
    q.ep = l->ep;
    q.etp = l->etp;
    q.micro_batch = l->micro_batch;
    q.zero = (int)l->zero;
    q.shard = l->shard;
    q.recompute = (int)l->recompute;
    q.recompute_layers = l->recompute_layers;
    q.offload_layers = l->offload_layers;
    q.sequence_parallel = l->sequence_parallel;
    q.precision = (int)l->precision;
    return q;
}

static double asked_s(const struct myr_run *run, const struct myr_case_question *q)
{
    struct myr_case *it = MYR_ARENA_ONE(&arena, struct myr_case);
    struct myr_fit_answer *answer = MYR_ARENA_ONE(&arena, struct myr_fit_answer);
    struct myr_err err = {};
    if (myr_case_init(it, &arena, q, &err) < 0 || myr_case_answer(it, &arena, answer, &err) < 0) {
        fail_msg("%s: %s", run->id, err.message);
    }
    myr_case_done(it);
    return answer->top[0].step_s;
}

/* Through the axes, and through a layout's file, which also says what no option does. */
static uint32_t compare_rows(const char *name)
{
    char path[512], recipe[256];
    struct myr_runs runs;
    uint32_t count = 0;
    snprintf(path, sizeof(path), "%s/tests/data/%s", MYR_SOURCE_DIR, name);
    assert_int_equal(myr_runs_read(&runs, &arena, &profiles, path, NULL), MYR_OK);
    for (uint32_t i = 0; i < runs.count; i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf file = {};
        const struct myr_run *run = &runs.items[i];
        struct myr_fit_cost cost;
        struct myr_err err = {};
        if (run->refused || !run->fits) {
            continue;
        }
        myr_run_cost(run, &cost);
        struct myr_case_question q = question_of(run, recipe);
        bool usual = run->layout.weights != MYR_WEIGHTS_FP32; /* of autocast, which no axis is */
        if (usual && asked_s(run, &q) != cost.step_s) {
            fail_msg("%s: %.17g s asked for, %.17g s as a row", run->id, asked_s(run, &q),
                     cost.step_s);
        }
        myr_layout_file_write(&run->layout, NULL, &file);
        struct myr_str text = {file.data, file.len};
        assert_int_equal(myr_doc_read_yaml(&arena, "layout", text, &q.layout_doc, &err), MYR_OK);
        q.layout = "layout";
        if (asked_s(run, &q) != cost.step_s) {
            fail_msg("%s: %.17g s by its file, %.17g s as a row", run->id, asked_s(run, &q),
                     cost.step_s);
        }
        count++;
    }
    return count;
}

static void a_row_that_states_its_layout_is_priced_as_that_layout_is(void **state)
{
    (void)state;
    assert_true(compare_rows("published-runs.csv") > 420);
    assert_true(compare_rows("torch-h200.csv") > 80);
    assert_true(compare_rows("torch-h200-blind.csv") > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_axes_take_the_best_of_all_values),
        cmocka_unit_test(a_row_that_is_refused_stays_as_it_is),
        cmocka_unit_test(a_row_that_states_its_layout_is_priced_as_that_layout_is),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
