#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "test_world.h"

static struct myr_recovery recovery;

static int setup(void **state)
{
    MYR_TRY(open_world(state));
    return myr_recovery_read(&recovery, &arena, NULL, NULL);
}

static int teardown(void **state)
{
    myr_recovery_done(&recovery);
    return close_world(state);
}

static void assert_close(double found, double expected)
{
    if (fabs(found - expected) > 1e-9 * fabs(expected)) {
        fail_msg("%.15g, %.15g expected", found, expected);
    }
}

static void published_rates_follow_the_size_of_a_node(void **state)
{
    struct myr_job_rate rates[MYR_JOB_RATES_MAX];
    uint32_t count;
    (void)state;
    assert_int_equal(myr_job_rates(&recovery, NULL, 1024, 8, rates, &count, NULL), MYR_OK);
    assert_int_equal(count, 2);
    assert_string_equal(rates[0].name, "llama3");
    assert_close(rates[0].per_1000_node_days, 3.8);
    assert_string_equal(rates[1].name, "rsc-1");
    assert_close(rates[1].per_1000_node_days, 6.5);
    assert_int_equal(myr_job_rates(&recovery, "rsc-2", 1024, 72, rates, &count, NULL), MYR_OK);
    assert_int_equal(count, 1);
    assert_close(rates[0].per_1000_node_days, 2.34 * 9);
    assert_int_equal(myr_job_rates(&recovery, "12.5", 1024, 72, rates, &count, NULL), MYR_OK);
    assert_string_equal(rates[0].name, "given"); /* of the nodes at hand: not scaled */
    assert_close(rates[0].per_1000_node_days, 12.5);
}

static void a_rate_that_is_none_is_refused(void **state)
{
    static const char *const bad[] = {"rsc-9", "0", "-1", "1e7", "", "1e-7", "nan"};
    struct myr_job_rate rates[MYR_JOB_RATES_MAX];
    uint32_t count;
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(bad); i++) {
        struct myr_err err = {};
        assert_int_equal(myr_job_rates(&recovery, bad[i], 64, 8, rates, &count, &err), MYR_EINVAL);
        assert_non_null(strstr(err.message, "a number from 1e-06 to 1e+06 is expected"));
        assert_non_null(strstr(err.hint, "llama3, rsc-1, rsc-2, classes"));
    }
}

static void classes_sum_to_their_rate_and_keep_their_shares(void **state)
{
    struct myr_failure_share own[MYR_FAILURE_CLASSES_MAX], scaled[MYR_FAILURE_CLASSES_MAX];
    struct myr_job_rate rates[MYR_JOB_RATES_MAX];
    uint32_t unused;
    (void)state;
    uint32_t count = myr_failure_shares(&recovery, 16384, 8, 0, own);
    assert_true(count > 5);
    assert_int_equal(myr_failure_shares(&recovery, 16384, 8, 5, scaled), count);
    assert_int_equal(myr_job_rates(&recovery, "classes", 16384, 8, rates, &unused, NULL), MYR_OK);
    double own_sum = 0, scaled_sum = 0, share = 0;
    for (uint32_t i = 0; i < count; i++) {
        own_sum += own[i].per_day;
        scaled_sum += scaled[i].per_day;
        share += own[i].share;
        assert_close(own[i].share, scaled[i].share);
        assert_non_null(own[i].row);
    }
    assert_close(share, 1);
    assert_close(own_sum, rates[0].per_1000_node_days / 1000 * 2048);
    assert_close(scaled_sum, 5.0 / 1000 * 2048);
}

static struct myr_failure_question question(void)
{
    return (struct myr_failure_question){.gpus = 16384, .gpus_per_node = 8};
}

static void a_row_has_the_rate_of_all_nodes_and_the_datas_times(void **state)
{
    struct myr_failure_question q = question();
    struct myr_job_rate rate = {"given", 4};
    struct myr_failure_row common, best, hang;
    double seconds;
    (void)state;
    assert_int_equal(myr_failure_row(&q, &recovery, MYR_PRACTICE_COMMON, rate, &common, NULL),
                     MYR_OK);
    assert_int_equal(myr_failure_row(&q, &recovery, MYR_PRACTICE_BEST, rate, &best, NULL), MYR_OK);
    assert_close(common.renewal.durable.rate, 4.0 / 1000 / 86400 * 2048);
    assert_close(common.goodput.mean_time_between_s, 1 / common.renewal.durable.rate);
    assert_int_equal(myr_recovery_seconds(&recovery, MYR_PRACTICE_COMMON, MYR_FAULT_CRASH, 16384,
                                          &seconds, NULL),
                     MYR_OK);
    assert_close(common.renewal.durable.recovery, seconds);
    assert_true(best.goodput.goodput > common.goodput.goodput);
    assert_true(best.renewal.durable.stall < common.renewal.durable.stall);
    assert_string_equal(myr_practice_name(common.practice), "common");
    assert_string_equal(myr_practice_name(best.practice), "best");
    q.fault = MYR_FAULT_HANG;
    assert_int_equal(myr_failure_row(&q, &recovery, MYR_PRACTICE_COMMON, rate, &hang, NULL),
                     MYR_OK);
    assert_true(hang.renewal.durable.recovery > common.renewal.durable.recovery);
    assert_false(common.played.known);
    assert_true(common.needed_s == 0);
}

static void what_the_user_says_takes_the_datas_place(void **state)
{
    struct myr_failure_question q = question();
    struct myr_job_rate rate = {"given", 4};
    struct myr_failure_row row;
    (void)state;
    q.times = (struct myr_failure_times){true, true, 0, 7, 900};
    assert_int_equal(myr_failure_row(&q, &recovery, MYR_PRACTICE_BEST, rate, &row, NULL), MYR_OK);
    assert_true(row.renewal.durable.recovery == 0 && row.renewal.durable.stall == 7);
    assert_close(row.renewal.interval, 900);
}

static void a_target_names_the_recovery_that_reaches_it(void **state)
{
    struct myr_failure_question q = question();
    struct myr_job_rate rate = {"given", 3.8};
    struct myr_failure_row row, again;
    (void)state;
    q.target = 0.9;
    assert_int_equal(myr_failure_row(&q, &recovery, MYR_PRACTICE_BEST, rate, &row, NULL), MYR_OK);
    assert_true(row.needed_s > row.renewal.durable.recovery);
    q.times.has_recovery = true;
    q.times.recovery_s = row.needed_s;
    assert_int_equal(myr_failure_row(&q, &recovery, MYR_PRACTICE_BEST, rate, &again, NULL), MYR_OK);
    assert_true(fabs(again.goodput.goodput - 0.9) < 1e-3);
    q.target = 0.99999;
    assert_int_equal(myr_failure_row(&q, &recovery, MYR_PRACTICE_COMMON, rate, &row, NULL), MYR_OK);
    assert_true(row.needed_s < 0);
}

static void what_is_played_is_what_is_told(void **state)
{
    struct myr_failure_question q = question();
    struct myr_job_rate rate = {"given", 6.5};
    struct myr_failure_row row;
    (void)state;
    q.play = 20000;
    assert_int_equal(myr_failure_row(&q, &recovery, MYR_PRACTICE_COMMON, rate, &row, NULL), MYR_OK);
    assert_true(row.played.known && row.played.error > 0);
    assert_true(fabs(row.played.goodput - row.goodput.goodput) < 5 * row.played.error + 1e-4);
    /* A recovery of more than five mean times would be tried for ever. */
    q.times = (struct myr_failure_times){true, false, 6 * row.goodput.mean_time_between_s, 0, 0};
    assert_int_equal(myr_failure_row(&q, &recovery, MYR_PRACTICE_COMMON, rate, &row, NULL), MYR_OK);
    assert_false(row.played.known);
}

static void own_data_are_read_from_a_file(void **state)
{
    struct myr_recovery own = {};
    struct myr_job_rate rates[MYR_JOB_RATES_MAX];
    struct myr_err err = {};
    struct myr_buf text = {};
    uint32_t count;
    char path[64];
    (void)state;
    snprintf(path, sizeof(path), "/tmp/myriad-recovery-%d.yaml", (int)getpid());
    myr_buf_put_lit(&text, "recovery:\n  rate.job_stop_all_node: {low: 0, typical: 0, high: 9}\n");
    assert_int_equal(myr_file_write(path, &text, NULL), MYR_OK);
    assert_int_equal(myr_recovery_read(&own, &arena, path, &err), MYR_OK);
    assert_int_equal(myr_job_rates(&own, "rsc-1", 64, 8, rates, &count, &err), MYR_OK);
    assert_close(rates[0].per_1000_node_days, 9);
    assert_int_equal(myr_job_rates(&own, NULL, 64, 8, rates, &count, &err), MYR_EINVAL);
    assert_string_equal(err.message, "the recovery data have no failures (rate 'llama3' is 0)");
    myr_recovery_done(&own);
    assert_true(myr_recovery_read(&own, &arena, "/nowhere/own.yaml", &err) < 0);
    assert_non_null(strstr(err.message, "/nowhere/own.yaml"));
    myr_recovery_done(&own);
    unlink(path);
    myr_buf_done(&text);
}

/* The shipped data have all rows; other callers' may not. */
static void data_that_lack_a_row_are_refused_by_its_name(void **state)
{
    struct myr_failure_question question = {.gpus = 64, .gpus_per_node = 8};
    struct myr_job_rate rate = {.per_1000_node_days = 5}, rates[MYR_JOB_RATES_MAX];
    struct myr_recovery none = {};
    (void)state;
    for (int practice = MYR_PRACTICE_COMMON; practice <= MYR_PRACTICE_BEST; practice++) {
        struct myr_failure_row row = {.needed_s = 7};
        struct myr_err err = {};
        assert_int_equal(
            myr_failure_row(&question, &none, (enum myr_practice)practice, rate, &row, &err),
            MYR_ENOENT);
        assert_non_null(strstr(err.message, "the recovery data lack"));
        assert_non_null(strstr(err.message, "detect"));
        assert_true(row.needed_s == 7); /* nothing is written */
    }
    uint32_t count = 9;
    struct myr_err err = {};
    assert_int_equal(myr_job_rates(&none, "classes", 64, 8, rates, &count, &err), MYR_ENOENT);
    assert_non_null(strstr(err.message, "the recovery data lack"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_rates_follow_the_size_of_a_node),
        cmocka_unit_test(a_rate_that_is_none_is_refused),
        cmocka_unit_test(classes_sum_to_their_rate_and_keep_their_shares),
        cmocka_unit_test(a_row_has_the_rate_of_all_nodes_and_the_datas_times),
        cmocka_unit_test(what_the_user_says_takes_the_datas_place),
        cmocka_unit_test(a_target_names_the_recovery_that_reaches_it),
        cmocka_unit_test(what_is_played_is_what_is_told),
        cmocka_unit_test(own_data_are_read_from_a_file),
        cmocka_unit_test(data_that_lack_a_row_are_refused_by_its_name),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
