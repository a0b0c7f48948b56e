#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>
#include <math.h>

#include "cost/combine.h"
#include "cost/schedule.h"

/* What the schedules take, against forms that can be written down. */
enum { STAGES = 16, CHUNKS = 8, BATCHES = 400 };

struct draw {
    struct fit_schedule it;
    double forward_s[STAGES * CHUNKS], backward_s[STAGES * CHUNKS], weight_s[STAGES * CHUNKS];
};

static void draw(struct draw *d, struct myr_rng *rng, enum myr_schedule kind, double uneven)
{
    struct fit_schedule *it = &d->it;
    it->kind = kind;
    it->pp = 2 * (1 + (uint32_t)myr_rng_below(rng, STAGES / 2));
    it->pp -= kind != MYR_SCHEDULE_DUALPIPE && myr_rng_below(rng, 2);
    it->vp = 1;
    it->micro_batches = 1 + (uint32_t)myr_rng_below(rng, BATCHES);
    if (kind == MYR_SCHEDULE_INTERLEAVED) {
        it->pp += it->pp < 2;
        it->vp = 2 + (uint32_t)myr_rng_below(rng, CHUNKS - 1);
        it->micro_batches = it->pp * (1 + it->micro_batches / STAGES);
    }
    if (kind == MYR_SCHEDULE_DUALPIPE) {
        it->micro_batches = 2 * (it->pp + it->micro_batches);
    }
    for (uint32_t i = 0; i < it->pp * it->vp; i++) {
        d->forward_s[i] = 1 + uneven * (double)myr_rng_below(rng, 1000) / 1000;
        d->backward_s[i] = 1 + uneven * (double)myr_rng_below(rng, 1000) / 1000;
        d->weight_s[i] = 1 + uneven * (double)myr_rng_below(rng, 1000) / 1000;
    }
    it->hop_s = 0;
    it->forward_s = d->forward_s;
    it->backward_s = d->backward_s;
    it->weight_s = d->weight_s;
}

static double chunk_s(const struct draw *d, uint32_t chunk)
{
    return d->forward_s[chunk] + d->backward_s[chunk] + d->weight_s[chunk];
}

static double stage_s(const struct draw *d, uint32_t stage)
{
    double time = 0;
    for (uint32_t i = 0; i < d->it.vp; i++) {
        time += chunk_s(d, stage + i * d->it.pp);
    }
    return time;
}

static void fail_with(const struct draw *d, uint64_t seed, double took, double told)
{
    fail_msg("seed %u, %s: pp %u vp %u m %u took %.12g, told %.12g", (unsigned)seed,
             myr_schedule_name(d->it.kind), d->it.pp, d->it.vp, d->it.micro_batches, took, told);
}

/* Bubbles of equal stages, as the papers have them; forward, backward and weights one second. */
static double closed(const struct fit_schedule *it)
{
    double pp = it->pp, vp = it->vp, work = 3 * vp * it->micro_batches;
    switch (it->kind) {
    case MYR_SCHEDULE_ZERO_BUBBLE:
        return work + (pp - 1); /* (p - 1) (F + B - W) */
    case MYR_SCHEDULE_DUALPIPE:
        return work + (pp / 2 - 1) * 2; /* (p/2 - 1) (F&B + B - 3 W) */
    case MYR_SCHEDULE_INTERLEAVED:
    case MYR_SCHEDULE_1F1B:
        break;
    }
    return work + 3 * (pp - 1); /* of one chunk */
}

static void equal_stages_take_what_the_papers_say(void **state)
{
    (void)state;
    struct draw d = {};
    for (uint64_t seed = 1; seed <= 1200; seed++) {
        struct myr_rng rng;
        myr_rng_init(&rng, seed, 0);
        draw(&d, &rng, (enum myr_schedule)(seed % 4), 0);
        bool short_run = d.it.kind == MYR_SCHEDULE_ZERO_BUBBLE && d.it.micro_batches < d.it.pp;
        double took = fit_schedule_s(&d.it), told = closed(&d.it);
        if (!short_run && fabs(took / told - 1) > 1e-9) {
            fail_with(&d, seed, took, told);
        }
    }
}

/* The outer stage with the vocabulary is the usual case. */
static void uneven_1f1b_with_the_slowest_last_is_the_slowest_and_once_the_others(void **state)
{
    (void)state;
    struct draw d = {};
    for (uint64_t seed = 1; seed <= 500; seed++) {
        struct myr_rng rng;
        double sum = 0;
        myr_rng_init(&rng, seed, 1);
        draw(&d, &rng, MYR_SCHEDULE_1F1B, 1);
        uint32_t last = d.it.pp - 1;
        for (uint32_t i = 0; i <= last; i++) {
            d.forward_s[last] = fmax(d.forward_s[last], d.forward_s[i]);
            d.backward_s[last] = fmax(d.backward_s[last], d.backward_s[i]);
            d.weight_s[last] = fmax(d.weight_s[last], d.weight_s[i]);
        }
        for (uint32_t i = 0; i < last; i++) {
            sum += stage_s(&d, i);
        }
        double took = fit_schedule_s(&d.it);
        double told = sum + d.it.micro_batches * stage_s(&d, last);
        if (fabs(took / told - 1) > 1e-9) {
            fail_with(&d, seed, took, told);
        }
    }
}

/* As the search sees the stages; every one its own kind. */
static double floor_s(const struct draw *d)
{
    struct myr_layout layout = myr_layout_default();
    struct fit_stage_s stages[STAGES];
    struct fit_stages all = {.stages = stages};
    layout.pp = d->it.pp;
    layout.vp = d->it.vp;
    layout.schedule = d->it.kind;
    for (uint32_t i = 0; i < d->it.pp; i++) {
        struct fit_stage_s stage = {
            .total_s = stage_s(d, i), .chunk_s = chunk_s(d, i), .count = 1, .first = i, .last = i};
        for (uint32_t c = i; c < d->it.pp * d->it.vp; c += d->it.pp) {
            stage.forward_s += d->forward_s[c];
            stage.weight_s += d->weight_s[c];
        }
        fit_add_stage(&all, stage);
    }
    return fit_pipe_floor_s(&layout, d->it.micro_batches, &all);
}

static void no_schedule_is_faster_than_its_bound_and_equal_stages_come_near(void **state)
{
    (void)state;
    struct draw d = {};
    double loosest = 0;
    for (uint64_t seed = 1; seed <= 8000; seed++) {
        struct myr_rng rng;
        myr_rng_init(&rng, seed, 2);
        draw(&d, &rng, (enum myr_schedule)(seed % 4), seed % 3 ? 1 : 0);
        double took = fit_schedule_s(&d.it), told = floor_s(&d);
        if (took < told * (1 - 1e-9)) {
            fail_with(&d, seed, took, told);
        }
        bool exact = seed % 3 == 0 && d.it.kind != MYR_SCHEDULE_DUALPIPE;
        if (exact && d.it.micro_batches >= d.it.pp) {
            loosest = fmax(loosest, took / told - 1);
        }
    }
    assert_true(loosest < 1e-9);
}

/* First stage, inner ones all alike, last stage: as the search counts them. */
static double three_kinds_floor_s(const struct draw *d)
{
    struct myr_layout layout = myr_layout_default();
    struct fit_stage_s stages[3];
    struct fit_stages all = {.stages = stages};
    uint32_t pp = d->it.pp, starts[] = {0, 1, pp - 1}, counts[] = {1, pp - 2, 1};
    layout.pp = pp;
    layout.vp = d->it.vp;
    layout.schedule = d->it.kind;
    for (int k = 0; k < 3; k++) {
        uint32_t i = starts[k];
        struct fit_stage_s stage = {.total_s = stage_s(d, i),
                                    .chunk_s = chunk_s(d, i),
                                    .count = counts[k],
                                    .first = i,
                                    .last = i + counts[k] - 1};
        for (uint32_t c = i; c < pp * d->it.vp; c += pp) {
            stage.forward_s += d->forward_s[c];
            stage.weight_s += d->weight_s[c];
        }
        fit_add_stage(&all, stage);
    }
    return fit_pipe_floor_s(&layout, d->it.micro_batches, &all);
}

static void bounds_by_kind_of_stage_hold_and_are_near(void **state)
{
    (void)state;
    struct draw d = {};
    double loose[4] = {};
    for (uint64_t seed = 1; seed <= 8000; seed++) {
        struct myr_rng rng;
        myr_rng_init(&rng, seed, 4);
        draw(&d, &rng, (enum myr_schedule)(seed % 4), 1);
        double *times[] = {d.forward_s, d.backward_s, d.weight_s};
        for (uint32_t c = 0; d.it.pp > 2 && c < d.it.pp * d.it.vp; c++) {
            uint32_t stage = c % d.it.pp, inner = stage > 0 && stage + 1 < d.it.pp;
            for (int k = 0; inner && k < 3; k++) {
                times[k][c] = times[k][1];
            }
        }
        if (d.it.pp < 3) {
            continue;
        }
        double took = fit_schedule_s(&d.it), told = three_kinds_floor_s(&d);
        if (took < told * (1 - 1e-9)) {
            fail_with(&d, seed, took, told);
        }
        loose[seed % 4] += (took / told - 1) / 2000;
    }
    for (int i = 0; i < 4; i++) {
        assert_true(loose[i] < 0.05); /* on average */
    }
}

static void more_time_anywhere_never_makes_a_step_shorter(void **state)
{
    (void)state;
    struct draw d = {};
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        struct myr_rng rng;
        myr_rng_init(&rng, seed, 3);
        draw(&d, &rng, (enum myr_schedule)(seed % 4), 1);
        double before = fit_schedule_s(&d.it);
        double *which[] = {d.forward_s, d.backward_s, d.weight_s};
        which[myr_rng_below(&rng, 3)][myr_rng_below(&rng, d.it.pp * d.it.vp)] += 0.5;
        double after = fit_schedule_s(&d.it);
        if (after < before * (1 - 1e-9)) {
            fail_with(&d, seed, after, before);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_stages_take_what_the_papers_say),
        cmocka_unit_test(uneven_1f1b_with_the_slowest_last_is_the_slowest_and_once_the_others),
        cmocka_unit_test(no_schedule_is_faster_than_its_bound_and_equal_stages_come_near),
        cmocka_unit_test(bounds_by_kind_of_stage_hold_and_are_near),
        cmocka_unit_test(more_time_anywhere_never_makes_a_step_shorter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
