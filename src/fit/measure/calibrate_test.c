#include "myriad/fit/calibrate.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "myriad/text/doc.h"

static const char published[] = MYR_SOURCE_DIR "/tests/data/published-runs.csv";

struct fixture {
    struct myr_arena arena;
    struct myr_profiles profiles;
    struct myr_runs runs;
    struct myr_calibration result;
};

static void set_up(struct fixture *f)
{
    struct myr_err err = {};
    myr_arena_init(&f->arena);
    assert_int_equal(myr_profiles_init(&f->profiles, &f->arena, &err), MYR_OK);
    assert_int_equal(myr_runs_read(&f->runs, &f->arena, &f->profiles, published, &err), MYR_OK);
}

/* Only runs of that family on that device (NULL: any), at most 'most'. */
static void keep(struct fixture *f, const char *family, const char *device, uint32_t most)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < f->runs.count && kept < most; i++) {
        struct myr_run *run = &f->runs.items[i];
        bool right = strncmp(run->source, family, strlen(family)) == 0 && !run->refused &&
                     run->measured_s > 0 && (!device || strcmp(run->it.device->name, device) == 0);
        if (right) {
            f->runs.items[kept] = *run;
            f->runs.items[kept].it.model = &f->runs.items[kept].model;
            kept++;
        }
    }
    f->runs.count = kept;
    assert_true(kept >= 4);
}

static uint32_t constant(const char *name)
{
    int at = myr_fit_constant_index(myr_str_from(name));
    assert_true(at >= 0);
    return (uint32_t)at;
}

static double moved(const struct fixture *f, const char *name)
{
    uint32_t at = constant(name);
    return f->result.constants[at] / f->profiles.constants[at];
}

/* Times as a machine would give them whose constants differ. */
static void measure_with(struct fixture *f, const double *constants)
{
    for (uint32_t i = 0; i < f->runs.count; i++) {
        struct myr_fit_cost cost;
        struct myr_run own = f->runs.items[i]; /* what it leaves open is what is best there */
        own.it.constants = constants;
        own.it.model = &own.model;
        own.it.recipes = own.recipes;
        myr_run_resolve(&own);
        myr_run_cost(&own, &cost);
        f->runs.items[i].measured_s = cost.step_s;
    }
}

static double time_with(struct myr_run *run, const double *constants)
{
    struct myr_fit_cost cost;
    run->it.constants = constants;
    myr_run_cost(run, &cost);
    return cost.step_s;
}

static void a_disturbed_machine_is_recovered(void **state)
{
    (void)state;
    struct fixture *f = test_calloc(1, sizeof(*f));
    struct myr_err err = {};
    double truth[MYR_FIT_CONSTANTS_MAX];
    set_up(f);
    keep(f, "DGXC", "h100", 60);
    assert_true(f->runs.count >= 20);
    memcpy(truth, f->profiles.constants, sizeof(truth));
    truth[constant("gemm.hopper")] *= 0.88;
    truth[constant("hbm.hopper")] *= 0.85;
    truth[constant("link.nic")] *= 0.8;
    measure_with(f, truth);
    for (uint32_t i = 1; i < f->runs.count; i += 2) {
        f->runs.items[i].measured_s = 0; /* calibration does not see these */
    }
    assert_int_equal(myr_calibrate(&f->profiles, &f->runs, NULL, 0, &f->arena, &f->result, &err),
                     MYR_OK);
    if (f->result.before.mean < 4 || f->result.after.mean > 1.6 || f->result.left_out.mean > 2.3) {
        fail_msg("mean error %.2f before, %.2f after, %.2f left out", f->result.before.mean,
                 f->result.after.mean, f->result.left_out.mean);
    }
    assert_true(f->result.worth_it);
    /* Which constants took it up is open where several do the same; what counts is that runs of
     * that machine which calibration never saw come out right. */
    double before = 0, after = 0;
    double unseen = (double)f->runs.count * 0.5;
    for (uint32_t i = 1; i < f->runs.count; i += 2) {
        double wrong = time_with(&f->runs.items[i], f->profiles.constants);
        double found = time_with(&f->runs.items[i], f->result.constants);
        double right = time_with(&f->runs.items[i], truth);
        before += fabs(wrong / right - 1) / unseen;
        after += fabs(found / right - 1) / unseen;
    }
    if (after > 0.016 || after > before / 5) {
        fail_msg("unseen runs: mean error %.4f before, %.4f after", before, after);
    }
    myr_arena_done(&f->arena);
    test_free(f);
}

/* Those constants that the runs tell apart come out as they are. */
static void disturbed_constants_are_recovered(void **state)
{
    (void)state;
    struct fixture *f = test_calloc(1, sizeof(*f));
    struct myr_err err = {};
    double truth[MYR_FIT_CONSTANTS_MAX], factors[] = {1.15, 0.85};
    uint32_t chosen[2];
    set_up(f);
    keep(f, "MosaicML", NULL, 40);
    measure_with(f, f->profiles.constants);
    assert_int_equal(myr_calibrate(&f->profiles, &f->runs, NULL, 2, &f->arena, &f->result, &err),
                     MYR_OK);
    assert_int_equal(f->result.free_count, 2);
    memcpy(chosen, f->result.free, sizeof(chosen));
    memcpy(truth, f->profiles.constants, sizeof(truth));
    for (int i = 0; i < 2; i++) {
        const struct myr_constant *c = myr_fit_constant(chosen[i]);
        truth[chosen[i]] = fmin(fmax(truth[chosen[i]] * factors[i], c->min), c->max);
    }
    measure_with(f, truth);
    assert_int_equal(myr_calibrate(&f->profiles, &f->runs, NULL, 2, &f->arena, &f->result, &err),
                     MYR_OK);
    for (int i = 0; i < 2; i++) {
        double off = f->result.constants[chosen[i]] / truth[chosen[i]];
        if (fabs(off - 1) > 0.03) {
            fail_msg("%s: %.4f of the truth", myr_fit_constant(chosen[i])->name, off);
        }
    }
    myr_arena_done(&f->arena);
    test_free(f);
}

/* A profile that never saw these runs: the physical priors. */
static void a_family_improves_where_it_is_left_out(void **state)
{
    (void)state;
    static const char *const families[] = {"MosaicML", "Narayanan2021", "DGXC", "vTrain"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(families); i++) {
        struct fixture *f = test_calloc(1, sizeof(*f));
        struct myr_err err = {};
        set_up(f);
        for (uint32_t c = 0; c < myr_fit_constant_count(); c++) {
            f->profiles.constants[c] = myr_fit_constant(c)->prior;
        }
        keep(f, families[i], NULL, 60);
        assert_int_equal(
            myr_calibrate(&f->profiles, &f->runs, NULL, 0, &f->arena, &f->result, &err), MYR_OK);
        if (f->result.left_out.mean > 0.9 * f->result.before.mean || !f->result.worth_it) {
            fail_msg("%s: mean error %.2f before, %.2f left out", families[i],
                     f->result.before.mean, f->result.left_out.mean);
        }
        myr_arena_done(&f->arena);
        test_free(f);
    }
}

static void few_runs_move_little(void **state)
{
    (void)state;
    struct fixture *f = test_calloc(1, sizeof(*f));
    struct myr_err err = {};
    set_up(f);
    keep(f, "DGXC", "h100", 4);
    /* One odd run among four right ones. */
    measure_with(f, f->profiles.constants);
    f->runs.items[3].measured_s *= 1.6;
    assert_int_equal(myr_calibrate(&f->profiles, &f->runs, NULL, 0, &f->arena, &f->result, &err),
                     MYR_OK);
    assert_true(f->result.free_count <= 3);
    for (uint32_t i = 0; i < 3; i++) {
        double change = f->result.rows[i].after_s / f->result.rows[i].before_s;
        assert_true(fabs(change - 1) < 0.06);
    }
    assert_false(f->result.worth_it);
    myr_arena_done(&f->arena);
    test_free(f);
}

static void a_sweep_fixes_the_rates(void **state)
{
    (void)state;
    struct fixture *f = test_calloc(1, sizeof(*f));
    struct myr_err err = {};
    struct myr_kernels kernels = {};
    double truth[MYR_FIT_CONSTANTS_MAX];
    set_up(f);
    memcpy(truth, f->profiles.constants, sizeof(truth));
    truth[constant("gemm.hopper")] *= 0.93;
    truth[constant("gemm.hopper-fp8")] *= 1.06;
    truth[constant("depth")] *= 1.15;
    truth[constant("hbm.hopper")] *= 0.93;
    myr_kernels_sweep(&kernels, &f->arena, false);
    assert_int_equal(myr_profiles_device(&f->profiles, MYR_STR("h200"), &kernels.device, &err),
                     MYR_OK);
    for (uint32_t i = 0; i < kernels.count; i++) {
        kernels.items[i].seconds = myr_kernel_predict(&kernels.items[i], kernels.device, truth);
    }
    assert_int_equal(myr_calibrate(&f->profiles, NULL, &kernels, 0, &f->arena, &f->result, &err),
                     MYR_OK);
    const struct {
        const char *name;
        double truth;
    } expected[] = {
        {"gemm.hopper", 0.93}, {"gemm.hopper-fp8", 1.06}, {"depth", 1.15}, {"hbm.hopper", 0.93}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(expected); i++) {
        double found = moved(f, expected[i].name);
        if (fabs(found / expected[i].truth - 1) > 0.08) {
            fail_msg("%s: moved by %.3f, truth %.3f", expected[i].name, found, expected[i].truth);
        }
    }
    assert_true(f->result.kernels_after.mean < 2); /* priors measured on such a device hold back */
    myr_arena_done(&f->arena);
    test_free(f);
}

/* The sweep of a real H200: half the error of the shipped constants. */
static void a_measured_sweep_is_taken_in(void **state)
{
    (void)state;
    struct fixture *f = test_calloc(1, sizeof(*f));
    struct myr_err err = {};
    struct myr_kernels kernels;
    set_up(f);
    assert_int_equal(myr_kernels_read(&kernels, &f->arena, &f->profiles,
                                      MYR_SOURCE_DIR "/tests/data/h200-kernels.csv", &err),
                     MYR_OK);
    assert_true(kernels.count > 300);
    assert_int_equal(myr_calibrate(&f->profiles, NULL, &kernels, 0, &f->arena, &f->result, &err),
                     MYR_OK);
    assert_true(f->result.kernels_after.mean < 10);
    assert_true(f->result.kernels_after.median < 5);
    assert_true(f->result.kernels_after.mean <= f->result.kernels_before.mean);
    myr_arena_done(&f->arena);
    test_free(f);
}

static void a_profile_written_and_read_is_the_same(void **state)
{
    (void)state;
    struct fixture *f = test_calloc(1, sizeof(*f));
    struct myr_err err = {};
    struct myr_buf buf = {};
    const struct myr_doc *doc;
    set_up(f);
    keep(f, "MosaicML", NULL, 12);
    assert_int_equal(myr_calibrate(&f->profiles, &f->runs, NULL, 0, &f->arena, &f->result, &err),
                     MYR_OK);
    myr_calibration_write(&f->result, &f->profiles, &buf);
    struct myr_profiles own = f->profiles;
    assert_int_equal(
        myr_doc_read_yaml(&f->arena, "p.yaml", (struct myr_str){buf.data, buf.len}, &doc, &err),
        MYR_OK);
    assert_int_equal(myr_profiles_parse(&own, doc, &err), MYR_OK);
    for (uint32_t c = 0; c < myr_fit_constant_count(); c++) {
        assert_true(fabs(own.constants[c] - f->result.constants[c]) <=
                    1e-6 * f->result.constants[c] + 1e-9);
    }
    assert_true(fabs(own.intervals[MYR_INTERVAL_DENSE] - f->result.interval_near) < 1e-4);
    myr_buf_done(&buf);
    myr_arena_done(&f->arena);
    test_free(f);
}

static void bad_profiles_are_refused_with_a_place(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        {"constants: {gemm.hoper: 0.7}\n", "unknown constant 'gemm.hoper'; did you mean"},
        {"constants: {gemm.hopper: 7}\n", "gemm.hopper"},
        {"constants: {gemm.hopper: fast}\n", "gemm.hopper"},
        {"constants: [1, 2]\n", "constants"},
        {"constant: {gemm.hopper: 0.7}\n", "constant"},
        {"interval: {near: 0}\n", "near"},
        {"interval: {nearly: 0.1}\n", "nearly"},
        {"- 1\n", "profile"},
    };
    struct fixture *f = test_calloc(1, sizeof(*f));
    struct myr_err err = {};
    set_up(f);
    for (size_t i = 0; i < MYR_ARRAY_COUNT(texts); i++) {
        struct myr_profiles own = f->profiles;
        const struct myr_doc *doc;
        assert_int_equal(
            myr_doc_read_yaml(&f->arena, "p.yaml", myr_str_from(texts[i][0]), &doc, &err), MYR_OK);
        assert_true(myr_profiles_parse(&own, doc, &err) < 0);
        if (strncmp(err.message, "p.yaml:", 7) != 0 || !strstr(err.message, texts[i][1])) {
            fail_msg("'%s': %s", texts[i][0], err.message);
        }
    }
    myr_arena_done(&f->arena);
    test_free(f);
}

static void without_measurements_there_is_nothing_to_do(void **state)
{
    (void)state;
    struct fixture *f = test_calloc(1, sizeof(*f));
    struct myr_err err = {};
    set_up(f);
    keep(f, "DGXC", "h100", 4);
    for (uint32_t i = 0; i < f->runs.count; i++) {
        f->runs.items[i].measured_s = 0;
    }
    assert_int_equal(myr_calibrate(&f->profiles, &f->runs, NULL, 0, &f->arena, &f->result, &err),
                     MYR_EINVAL);
    myr_arena_done(&f->arena);
    test_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_disturbed_machine_is_recovered),
        cmocka_unit_test(disturbed_constants_are_recovered),
        cmocka_unit_test(a_family_improves_where_it_is_left_out),
        cmocka_unit_test(few_runs_move_little),
        cmocka_unit_test(a_sweep_fixes_the_rates),
        cmocka_unit_test(a_measured_sweep_is_taken_in),
        cmocka_unit_test(a_profile_written_and_read_is_the_same),
        cmocka_unit_test(bad_profiles_are_refused_with_a_place),
        cmocka_unit_test(without_measurements_there_is_nothing_to_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
