#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "myriad/fit/goodput.h"

struct fixture {
    struct myr_arena arena;
    struct myr_recovery recovery;
    struct myr_err err;
};

static struct fixture *set_up(void)
{
    struct fixture *f = test_calloc(1, sizeof(*f));
    myr_arena_init(&f->arena);
    assert_int_equal(myr_recovery_init(&f->recovery, &f->arena, &f->err), MYR_OK);
    return f;
}

static void tear_down(struct fixture *f)
{
    myr_recovery_done(&f->recovery);
    myr_arena_done(&f->arena);
    test_free(f);
}

static int add(struct fixture *f, const char *text)
{
    return myr_recovery_add(&f->recovery, &f->arena, "own.yaml", myr_str_from(text), &f->err);
}

static void rows_scale_by_their_rules(void **state)
{
    (void)state;
    struct fixture *f = set_up();
    const struct myr_recovery_row *power = myr_recovery_find(&f->recovery, "a.nccl_init");
    const struct myr_recovery_row *log2 = myr_recovery_find(&f->recovery, "b.rendezvous");
    const struct myr_recovery_row *flat = myr_recovery_find(&f->recovery, "a.diagnose");
    for (double gpus = 1; gpus < 2e6; gpus *= 1.7) {
        double grown = 90 * pow(gpus / 16384, 0.6), slow = 2 * log(gpus) / log(16384);
        assert_true(fabs(myr_recovery_value(power, gpus) / grown - 1) < 1e-9);
        assert_true(fabs(myr_recovery_value(log2, gpus) - slow) < 1e-9);
        assert_true(myr_recovery_value(flat, gpus) == 300);
    }
    tear_down(f);
}

static void every_row_has_a_rule_a_unit_and_a_source(void **state)
{
    (void)state;
    struct fixture *f = set_up();
    assert_int_equal(f->recovery.rows.count, 138);
    for (size_t i = 0; i < f->recovery.rows.count; i++) {
        const struct myr_recovery_row *row = &f->recovery.rows.items[i];
        assert_true(row->unit[0] && row->scales[0] && row->source[0] && row->confidence[0]);
        assert_true(row->low <= row->typical && row->typical <= row->high);
    }
    tear_down(f);
}

static void own_rows_take_the_place_of_shipped_ones(void **state)
{
    (void)state;
    struct fixture *f = set_up();
    double before, after;
    const enum myr_practice common = MYR_PRACTICE_COMMON;
    assert_int_equal(
        myr_recovery_seconds(&f->recovery, common, MYR_FAULT_CRASH, 4096, &before, &f->err),
        MYR_OK);
    assert_int_equal(add(f, "recovery:\n"
                            "  a.diagnose: {low: 1, typical: 60, high: 90, scales: gpus^0.5@1024}\n"
                            "  our.own: {unit: h, low: 1, typical: 2, high: 3}\n"),
                     MYR_OK);
    assert_int_equal(f->recovery.rows.count, 139);
    assert_string_equal(myr_recovery_find(&f->recovery, "a.diagnose")->unit, "s");
    assert_int_equal(
        myr_recovery_seconds(&f->recovery, common, MYR_FAULT_CRASH, 4096, &after, &f->err), MYR_OK);
    assert_true(fabs(before - after - (300 - 120)) < 1e-9);
    tear_down(f);
}

static void own_rows_that_cannot_be_counted_with_are_refused(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"recovery:\n  a.diagnose: {low: 1, typical: 2}\n", "own.yaml:2:15: the row lacks 'high'"},
        {"recovery:\n  a.diagnose: {low: 5, typical: 2, high: 3}\n", "rising order"},
        {"recovery:\n  a.diagnose: {low: -1, typical: 2, high: 3}\n", "low"},
        {"recovery:\n  a.diagnose: {low: 1, typical: 2, high: .inf}\n", "high"},
        {"recovery:\n  a.diagnose: {unit: min, low: 1, typical: 2, high: 3}\n", "is in 'min', 's'"},
        {"recovery:\n  a.diagnose: {low: 1, typical: 2, high: 3, scales: twice}\n", "'twice'"},
        {"recovery:\n  a.diagnose: {low: 1, typical: 2, high: 3, scales: gpus^99@8}\n",
         "gpus^99@8"},
        {"recovery:\n  a.diagnose: {low: 1, typical: 2, high: 3, scales: log2gpus@1}\n",
         "log2gpus"},
        {"recovery:\n  rate.save.shared: {low: 0, typical: 0, high: 0}\n", "rates above 0"},
        {"recovery:\n  share.handled_by_automation: {low: 1, typical: 1, high: 2}\n", "up to 1"},
        {"recovery:\n  a.diagnose: {low: 1, typical: 2, high: 3, lo: 4}\n", "lo"},
        {"recovery: 7\n", "a map 'recovery'"},
        {"rows: {}\n", "rows"},
        {"recovery: {", "own.yaml:"}};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        struct fixture *f = set_up();
        assert_true(add(f, bad[i][0]) < 0);
        if (!strstr(f->err.message, bad[i][1])) {
            fail_msg("%s: %s", bad[i][0], f->err.message);
        }
        tear_down(f);
    }
}

/* At the last value that is taken, and past it; what a row is worth with 64 GPUs. */
static void rules_of_scaling_have_bounds(void **state)
{
    (void)state;
    static const struct {
        const char *unit, *high, *scales;
        double worth; /* of a typical 2; 0: refused */
    } rows[] = {
        {"s", "3", "gpus^4@32", 32},
        {"s", "3", "gpus^4.01@32", 0},
        {"s", "3", "gpus^-4@32", 0.125},
        {"s", "3", "gpus^-4.01@32", 0},
        {"s", "3", "gpus^1@1e12", 1.28e-10},
        {"s", "3", "gpus^1@1.1e12", 0},
        {"s", "3", "gpus^1@1", 0},
        {"s", "3", "gpus^2@2", 2048},
        {"s", "3", "gpus^@8", 0},
        {"s", "3", "gpu^1@8", 0},
        {"s", "3", "gpus^1@x", 0},
        {"s", "3", "gpus^1@", 0},
        {"s", "3", "gpus^x@8", 0},
        {"s", "3", "gpus^1", 0},
        {"s", "3", "@8", 0},
        {"s", "3", "log2gpus@8", 4},
        {"s", "3", "log2gpus@1", 0},
        {"s", "3", "log2gpus@1e13", 0},
        {"s", "3", "log3gpus@8", 0},
        {"s", "3", "const", 2},
        {"s", "3", "timer", 2},
        {"s", "3", "bytes/rate", 2},
        {"s", "3", "min(nodes*x;system)", 2},
        {"s", "3", "poisson", 2},
        {"s", "3", "per_job", 2},
        {"s", "3", "clustered", 2},
        {"s", "3", "policy", 2},
        {"s", "3", "design", 2},
        {"s", "3", "exp_decay_30d", 2},
        {"s", "3", "lognormal", 2},
        {"s", "3", "result", 2},
        {"s", "3", "const@8", 0},
        {"s", "1e9", "const", 2},
        {"s", "1.1e9", "const", 0},
        {"s", "2", "const", 2},
        {"s", "1.9", "const", 0},
        {"fraction", "2", "const", 0},
        {"GB/s", "3", "const", 2},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct fixture *f = set_up();
        const char *text = myr_arena_printf(
            &f->arena,
            "recovery:\n  our.own: {unit: %s, low: 1, typical: 2, high: %s, scales: '%s'}\n",
            rows[i].unit, rows[i].high, rows[i].scales);
        int rc = add(f, text);
        const struct myr_recovery_row *row = myr_recovery_find(&f->recovery, "our.own");
        double worth = row ? myr_recovery_value(row, 64) : 0;
        if ((rc == MYR_OK) != (rows[i].worth > 0) || (rc == MYR_OK) != (row != NULL) ||
            fabs(worth - rows[i].worth) > 1e-9 * rows[i].worth) {
            fail_msg("%s: %d, %.9g, %s", text, rc, worth, f->err.message);
        }
        tear_down(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_scale_by_their_rules),
        cmocka_unit_test(every_row_has_a_rule_a_unit_and_a_source),
        cmocka_unit_test(own_rows_take_the_place_of_shipped_ones),
        cmocka_unit_test(own_rows_that_cannot_be_counted_with_are_refused),
        cmocka_unit_test(rules_of_scaling_have_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
