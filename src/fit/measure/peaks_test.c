/* Peak memory against what was published and measured, and runs that did take place. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>
#include <stdio.h>

#include "test_world.h"

static void read_runs(const char *name, struct myr_runs *runs, struct myr_validation *ret)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/tests/data/%s", MYR_SOURCE_DIR, name);
    assert_int_equal(myr_runs_read(runs, &arena, &profiles, path, NULL), MYR_OK);
    myr_runs_validate(runs, &profiles, &arena, ret);
}

/* Of the runs in that file whose peak is known. */
static void assert_peaks_within_eight_percent(const char *file)
{
    struct myr_runs runs;
    struct myr_validation result;
    uint32_t count = 0;
    read_runs(file, &runs, &result);
    for (uint32_t i = 0; i < runs.count; i++) {
        bool known = runs.items[i].peak_bytes > 0;
        count += known;
        if (known && fabs(result.rows[i].peak_error) > 8) {
            fail_msg("%s: peak off by %.1f %%", runs.items[i].id, result.rows[i].peak_error);
        }
    }
    assert_true(count >= 9);
}

/* Every one of them, not their mean: a GPU that is full stops a run. */
static void every_peak_is_told_within_eight_percent(void **state)
{
    (void)state;
    assert_peaks_within_eight_percent("published-runs.csv");
    assert_peaks_within_eight_percent("torch-h200.csv");
}

/*
 * Shapes that no fit has seen: predicted first, measured then, and never to be fitted to. Each step
 * and each peak, compiled or not.
 */
static void runs_that_were_kept_from_the_fit_are_told_within_eight_percent(void **state)
{
    struct myr_runs runs;
    struct myr_validation result;
    (void)state;
    read_runs("torch-h200-blind.csv", &runs, &result);
    assert_int_equal(runs.count, 24);
    for (uint32_t i = 0; i < runs.count; i++) {
        const struct myr_run *run = &runs.items[i];
        double step_error = 100 * (result.rows[i].predicted_s / run->measured_s - 1);
        if (fabs(step_error) > 8 || fabs(result.rows[i].peak_error) > 8) {
            fail_msg("%s: step off by %.1f %%, peak by %.1f %%", run->id, step_error,
                     result.rows[i].peak_error);
        }
    }
}

/* The least memory, to a MB, with which the search would take that layout. */
static double least_sure_memory(const struct myr_run *run)
{
    struct myr_fit_case it = run->it;
    struct myr_device device = *run->it.device;
    struct myr_fit_memory memory;
    uint64_t low = 0, high = 1U << 21;
    it.device = &device;
    while (high - low > 1) {
        uint64_t middle = (low + high) / 2;
        device.memory_bytes = 1e6 * (double)middle;
        myr_fit_memory_of(&it, &run->layout, &memory);
        *(memory.sure ? &high : &low) = middle;
    }
    device.memory_bytes = 1e6 * (double)high;
    myr_fit_memory_of(&it, &run->layout, &memory);
    assert_true(memory.probability >= 0.95 && memory.probability < 0.951);
    assert_true(memory.peak_high_bytes < device.memory_bytes);
    return device.memory_bytes;
}

static const char *const peak_files[] = {"published-runs.csv", "torch-h200.csv",
                                         "torch-h200-blind.csv"};

/*
 * A device with no more memory than the search asks for has room for what was measured, and for 2
 * GB of driver beside it: 19 times of 20 within each of the sources, not over all of them.
 */
static void what_is_sure_to_fit_fits_19_times_of_20_from_each_source(void **state)
{
    (void)state;
    for (size_t f = 0; f < MYR_ARRAY_COUNT(peak_files); f++) {
        struct myr_runs runs;
        struct myr_validation result;
        uint32_t known = 0, held = 0;
        read_runs(peak_files[f], &runs, &result);
        for (uint32_t i = 0; i < runs.count; i++) {
            const struct myr_run *run = &runs.items[i];
            if (run->peak_bytes > 0) {
                known++;
                held += run->peak_bytes + 2e9 <= least_sure_memory(run);
            }
        }
        if (known < 9 || 20 * held < 19 * known) {
            fail_msg("%s: %u of %u fit", peak_files[f], held, known);
        }
    }
}

/* Chances are told for devices of drawn sizes: an even one or better is never more than holds. */
static void a_chance_to_fit_is_no_better_than_what_holds(void **state)
{
    enum { BINS = 5, DRAWS = 20 };
    double told[BINS] = {0};
    uint32_t count[BINS] = {0}, held[BINS] = {0};
    struct myr_rng rng;
    (void)state;
    myr_rng_init(&rng, 61, 0);
    for (size_t f = 0; f < MYR_ARRAY_COUNT(peak_files); f++) {
        struct myr_runs runs;
        struct myr_validation result;
        read_runs(peak_files[f], &runs, &result);
        for (uint32_t i = 0; i < DRAWS * runs.count; i++) {
            const struct myr_run *run = &runs.items[i / DRAWS];
            struct myr_fit_case it = run->it;
            struct myr_device device = *run->it.device;
            struct myr_fit_memory memory;
            if (run->peak_bytes <= 0) {
                continue;
            }
            myr_fit_memory_of(&it, &run->layout, &memory);
            double more = 1 + (double)myr_rng_below(&rng, 250) / 1000;
            device.memory_bytes = memory.peak_bytes * more + 2e9;
            it.device = &device;
            myr_fit_memory_of(&it, &run->layout, &memory);
            if (memory.probability >= 0.5) {
                int bin = (int)((memory.probability - 0.5) / 0.1);
                told[bin] += memory.probability;
                held[bin] += run->peak_bytes + 2e9 <= device.memory_bytes;
                count[bin]++;
            }
        }
    }
    for (int i = 0; i < BINS; i++) {
        if (count[i] < 30 || held[i] < told[i]) {
            fail_msg("from %d %%: %u of %u hold, %.1f were told", 50 + 10 * i, held[i], count[i],
                     told[i]);
        }
    }
}

/* What ran had room, whatever the model takes a row to leave open. */
static void no_published_run_is_refused(void **state)
{
    struct myr_runs runs;
    struct myr_validation result;
    (void)state;
    read_runs("published-runs.csv", &runs, &result);
    for (uint32_t i = 0; i < runs.count; i++) {
        const struct myr_run *run = &runs.items[i];
        if (!run->refused && !run->fits) {
            fail_msg("%s does not fit", run->id);
        }
    }
}

static bool holds(const struct myr_validation_row *row, double measured_s)
{
    return measured_s >= row->low_s && measured_s <= row->high_s;
}

/* A run that everybody knows, against its interval. */
static void assert_inside(const char *id)
{
    struct myr_runs runs;
    struct myr_validation result;
    read_runs("published-runs.csv", &runs, &result);
    for (uint32_t i = 0; i < runs.count; i++) {
        if (strcmp(runs.items[i].id, id) == 0) {
            assert_true(runs.items[i].measured_s > 0);
            assert_true(holds(&result.rows[i], runs.items[i].measured_s));
            return;
        }
    }
    fail_msg("no run %s", id);
}

static void llama3_405b_on_8192_gpus_lies_inside_its_interval(void **state)
{
    (void)state;
    assert_inside("T048");
}

static void llama3_405b_on_16384_gpus_lies_inside_its_interval(void **state)
{
    (void)state;
    assert_inside("T049");
}

/* 2.664 M hours for 14.8 T tokens: 180 thousand for each of them, which is the row's step. */
static void deepseek_v3s_h800_hours_lie_inside_their_interval(void **state)
{
    (void)state;
    assert_inside("T070");
}

/*
 * The one that is outside, as docs/fit.md says under Limits: both steps are told too slow, by as
 * much, so that twice the GPUs and twice the batch keep the 98.75 % of each one's throughput.
 */
static void the_seeds_130b_pair_keeps_its_ratio(void **state)
{
    static const char seeds[] =
        "id,source,software,hw,model,gpus,tp,pp,dp,vp,mbs,gbs,seq,sharding,recompute,precision,"
        "iter_s\n"
        "a,seed,Megatron-LM 2024,h100,seed-130b,1024,8,8,16,1,1,2048,4096,zero1,none,bf16,10.8004\n"
        "b,seed,Megatron-LM "
        "2024,h100,seed-130b,2048,8,8,32,1,1,4096,4096,zero1,none,bf16,10.9369\n";
    struct myr_runs pair;
    struct myr_validation result;
    struct myr_err err = {};
    (void)state;
    assert_int_equal(
        myr_runs_parse(&pair, &arena, &profiles, "seed.csv", myr_str_from(seeds), &err), MYR_OK);
    myr_runs_validate(&pair, &profiles, &arena, &result);
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(result.rows[i].signed_error < 40);
    }
    double ratio = result.rows[0].predicted_s / result.rows[1].predicted_s;
    assert_true(fabs(ratio - 10.8004 / 10.9369) < 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_peak_is_told_within_eight_percent),
        cmocka_unit_test(runs_that_were_kept_from_the_fit_are_told_within_eight_percent),
        cmocka_unit_test(what_is_sure_to_fit_fits_19_times_of_20_from_each_source),
        cmocka_unit_test(a_chance_to_fit_is_no_better_than_what_holds),
        cmocka_unit_test(no_published_run_is_refused),
        cmocka_unit_test(llama3_405b_on_8192_gpus_lies_inside_its_interval),
        cmocka_unit_test(llama3_405b_on_16384_gpus_lies_inside_its_interval),
        cmocka_unit_test(deepseek_v3s_h800_hours_lie_inside_their_interval),
        cmocka_unit_test(the_seeds_130b_pair_keeps_its_ratio),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
