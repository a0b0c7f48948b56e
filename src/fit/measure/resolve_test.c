/*
 * Axes that a row leaves open, against all of their values tried one by one; and what a step costs
 * where a share of it is recomputed.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "myriad/fit/runs.h"
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
    run.etp = below(rng, 4) ? 0 : 1;
    double share = 0.2 + below(rng, 40) / 10.0;
    device->memory_bytes =
        2.2e9 + (double)myr_model_params(&run.model).total * 16 / run.gpus * share;
    return run;
}

/* The naive model's best: what fits before what does not, then time, or else memory. */
struct best {
    bool found, fits;
    double step_s, bytes, share;
};

static void try_layout(const struct myr_run *run, struct myr_layout layout, struct best *best)
{
    struct myr_run one = *run;
    struct myr_fit_memory none, full, held;
    struct myr_fit_cost cost;
    double share = 0;
    if (myr_layout_broken(&layout, &run->model, 0) != MYR_LAYOUT_OK) {
        return;
    }
    if (run->open & MYR_RUN_OPEN_RECOMPUTE) {
        struct myr_layout again = layout;
        layout.recompute = MYR_RECOMPUTE_NONE;
        again.recompute = MYR_RECOMPUTE_FULL;
        myr_fit_memory_of(&run->it, &layout, &none);
        myr_fit_memory_of(&run->it, &again, &full);
        double freed = none.total_bytes - full.total_bytes;
        double over = none.total_bytes - none.limit_bytes;
        share = none.fits ? 0 : freed > 0 && over < freed ? over / freed : 1;
    }
    one.layout = layout;
    one.recompute_share = share;
    myr_run_cost(&one, &cost);
    layout.recompute = share > 0 ? MYR_RECOMPUTE_FULL : layout.recompute;
    myr_fit_memory_of(&run->it, &layout, &held);
    bool better = held.fits ? cost.step_s < best->step_s : held.total_bytes < best->bytes;
    if (!best->found || held.fits > best->fits || (held.fits == best->fits && better)) {
        *best = (struct best){true, held.fits, cost.step_s, held.total_bytes, share};
    }
}

/* Both ways to cut experts, stages of ZeRO, and ways to deal layers. */
static void try_rest(const struct myr_run *run, struct myr_layout layout, struct best *best)
{
    bool cut = run->open & MYR_RUN_OPEN_ETP, zero = run->open & MYR_RUN_OPEN_ZERO;
    for (uint32_t i = 0; i < 16; i++) {
        struct myr_layout l = layout;
        l.etp = cut ? i / 8 : layout.etp;
        l.zero = zero ? i / 2 % 4 : layout.zero;
        l.output_counts = i % 2;
        bool modules = run->model.mtp_count > 0 && l.pp > 1 && l.schedule != MYR_SCHEDULE_DUALPIPE;
        if ((cut || i < 8) && (zero || i / 2 % 4 == 0) && (modules || i % 2 == 0)) {
            try_layout(run, l, best);
        }
    }
}

static void try_batches(const struct myr_run *run, struct myr_layout layout, struct best *best)
{
    for (uint32_t b = 1; b <= 64; b++) {
        bool taken =
            run->open & MYR_RUN_OPEN_MICRO_BATCH ? (b & (b - 1)) == 0 : b == layout.micro_batch;
        for (uint32_t vp = 1; taken && vp <= 16; vp++) {
            struct myr_layout l = layout;
            bool open = run->open & MYR_RUN_OPEN_VP;
            l.micro_batch = b;
            l.vp = vp;
            if (l.schedule != MYR_SCHEDULE_DUALPIPE) {
                l.schedule = vp > 1 ? MYR_SCHEDULE_INTERLEAVED : MYR_SCHEDULE_1F1B;
            }
            if (open ? vp * l.pp <= run->model.layer_count + 2 : vp == layout.vp) {
                try_rest(run, l, best);
            }
        }
    }
}

static bool may_be(const struct myr_run *run, uint32_t axis, uint32_t value, uint32_t stated)
{
    return run->open & axis ? axis == MYR_RUN_OPEN_PP || (value & (value - 1)) == 0
                            : value == stated;
}

/* Every grid of up to 16 x 8 x 16 ranks, whose experts are cut up to eight ways. */
static void try_grids(const struct myr_run *run, uint32_t tp_most, struct best *best)
{
    uint32_t experts = run->model.moe.expert_count ? run->model.moe.expert_count : 1;
    uint32_t tp_last = run->open & MYR_RUN_OPEN_TP ? tp_most : run->layout.tp;
    uint32_t ep_last = run->open & MYR_RUN_OPEN_EP ? experts : run->layout.ep;
    uint32_t pp_last = run->open & MYR_RUN_OPEN_PP ? run->model.layer_count : run->layout.pp;
    for (uint32_t i = 0; i < 16 * 8 * 16 * 8; i++) {
        uint32_t tp = 1 + i % 16, pp = 1 + i / 16 % 8, cp = 1 + i / 128 % 16, ep = 1 + i / 2048;
        struct myr_layout l = run->layout;
        bool asked = may_be(run, MYR_RUN_OPEN_TP, tp, l.tp) && tp <= tp_last &&
                     may_be(run, MYR_RUN_OPEN_PP, pp, l.pp) && pp <= pp_last &&
                     may_be(run, MYR_RUN_OPEN_CP, cp, l.cp) &&
                     may_be(run, MYR_RUN_OPEN_EP, ep, l.ep) && ep <= ep_last;
        uint32_t replica = tp * pp * cp;
        if (!asked || run->gpus % replica || (run->dp && run->dp != run->gpus / replica)) {
            continue;
        }
        l.tp = tp;
        l.pp = pp;
        l.cp = cp;
        l.ep = ep;
        l.dp = run->gpus / replica;
        l.sequence_parallel =
            tp > 1 && (run->layout.sequence_parallel || run->it.stack->era != MYR_ERA_EAGER);
        /* Experts are cut as the rest is where the ranks can be dealt so. */
        bool uneven = tp > 1 && tp * cp * l.dp % (ep * tp) != 0;
        l.etp = run->etp ? run->etp : uneven;
        try_batches(run, l, best);
    }
}

static struct best naive(const struct myr_run *run)
{
    struct best best = {};
    uint32_t domain = run->it.domain_gpus ? run->it.domain_gpus : run->it.device->domain_gpus;
    if (!(run->open & GRID)) {
        try_batches(run, run->layout, &best);
        return best;
    }
    try_grids(run, domain < 16 ? domain : 16, &best);
    if (!best.found) { /* across servers, as far as heads go */
        try_grids(run, run->model.head_count, &best);
    }
    return best;
}

static bool same_number(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fabs(b);
}

/* Returns whether there was a layout. */
static bool compare(uint64_t seed)
{
    struct myr_rng rng;
    struct myr_device device;
    struct myr_fit_cost cost;
    struct myr_fit_memory memory;
    myr_rng_init(&rng, seed, 0);
    struct myr_run run = draw_run(&rng, &device);
    run.it.model = &run.model;
    struct best best = naive(&run);
    struct myr_run asked = run;
    myr_run_resolve(&run);
    run.it.model = &run.model;
    if (!best.found) {
        enum myr_layout_rule rule = myr_layout_broken(&asked.layout, &asked.model, 0);
        assert_non_null(run.refused);
        assert_string_equal(run.refused, myr_layout_rule_name(rule));
        return false;
    }
    myr_run_cost(&run, &cost);
    struct myr_layout held = run.layout;
    held.recompute = run.recompute_share > 0 ? MYR_RECOMPUTE_FULL : held.recompute;
    myr_fit_memory_of(&run.it, &held, &memory);
    bool as_good = best.fits ? same_number(cost.step_s, best.step_s)
                             : same_number(memory.total_bytes, best.bytes);
    if (run.refused || run.fits != best.fits || memory.fits != best.fits || !as_good) {
        fail_msg("seed %llu, open %x: %s, fits %d and %d, %.9g and %.9g s, %.9g and %.9g bytes",
                 (unsigned long long)seed, run.open, run.refused ? run.refused : "taken", run.fits,
                 best.fits, cost.step_s, best.step_s, memory.total_bytes, best.bytes);
    }
    assert_true(!best.fits || same_number(run.recompute_share, best.share));
    assert_true(!(run.open & GRID) || myr_layout_gpus(&run.layout) == run.gpus);
    return true;
}

static void open_axes_take_the_best_of_all_values(void **state)
{
    uint32_t found = 0, rounds = TEST_ROUNDS(400);
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

/* Cheap parts first, which move memory alone and end at two fifths; then whole layers. */
static void recomputing_costs_memory_traffic_first_and_then_everything(void **state)
{
    static const struct {
        double share, memory, others;
    } rows[] = {{0, 0, 0},      {0.1, 0.25, 0}, {0.2, 0.5, 0},  {0.4, 1, 0},
                {0.55, 1, .25}, {0.7, 1, 0.5},  {0.85, 1, .75}, {1, 1, 1}};
    struct myr_run run = {.layout = myr_layout_default(), .it.stack = &profiles.stacks[0]};
    struct myr_fit_cost none, full, cost;
    (void)state;
    assert_int_equal(myr_model_find(&arena, "llama3-8b", &run.model, NULL), MYR_OK);
    run.it.model = &run.model;
    run.it.device = &profiles.devices[0];
    run.it.constants = profiles.constants;
    run.layout.tp = 2;
    struct myr_layout again = run.layout;
    again.recompute = MYR_RECOMPUTE_FULL;
    myr_fit_cost_of(&run.it, &run.layout, &none);
    myr_fit_cost_of(&run.it, &again, &full);
    assert_true(full.step_s > none.step_s);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        double sum = 0;
        run.recompute_share = rows[i].share;
        myr_run_cost(&run, &cost);
        for (int t = 0; t < MYR_FIT_TERM_COUNT; t++) {
            double part = t == MYR_FIT_MEMORY ? rows[i].memory : rows[i].others;
            double want = none.terms_s[t] + part * (full.terms_s[t] - none.terms_s[t]);
            assert_true(fabs(cost.terms_s[t] - want) <= 1e-12 * full.step_s);
            sum += cost.terms_s[t];
        }
        assert_true(same_number(cost.step_s, sum));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_axes_take_the_best_of_all_values),
        cmocka_unit_test(a_row_that_is_refused_stays_as_it_is),
        cmocka_unit_test(recomputing_costs_memory_traffic_first_and_then_everything),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
