#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "myriad/sched/events.h"
#include "queue/queue_fixture.h"
#include "queue/state.h"

/* A queue that runs for years: what is over takes no memory some time after. */
enum { KEEP_S = 100, ROUNDS = 2000 };

static struct myr_queue *forgetful(bool preempt)
{
    struct myr_queue_policy policy = policy_of(preempt);
    policy.keep_s = KEEP_S;
    return queue_with(&four, &policy, plain, 2);
}

static void windows_are_forgotten(void **state)
{
    (void)state;
    struct myr_queue *q = forgetful(false);
    struct myr_window late = {.first = 3, .count = 1, .start_s = 1000000, .end_s = 2000000};
    assert_int_equal(myr_queue_maintain(q, &late, NULL), MYR_OK);
    for (int64_t i = 1; i <= ROUNDS; i++) {
        struct myr_window window = {.count = 1, .start_s = 20 * i, .end_s = 20 * i + 10};
        assert_int_equal(myr_queue_maintain(q, &window, NULL), MYR_OK);
        decide(q, 20 * i, NULL);
        decide(q, 20 * i + 10, NULL);
        assert_true(q->windows.count <= 2 + KEEP_S / 20 + 1);
    }
    /* Their numbers stay what they were. */
    assert_int_equal(myr_queue_cancel_window(q, 20 * ROUNDS + 10, 1), MYR_ESTALE);
    assert_int_equal(myr_queue_cancel_window(q, 20 * ROUNDS + 10, ROUNDS), MYR_ESTALE);
    assert_int_equal(myr_queue_cancel_window(q, 20 * ROUNDS + 10, ROUNDS + 1), MYR_ENOENT);
    assert_int_equal(myr_queue_cancel_window(q, 20 * ROUNDS + 10, 0), MYR_OK);
    myr_queue_free(q);
}

static void arrays_are_forgotten(void **state)
{
    (void)state;
    struct myr_queue *q = forgetful(false);
    struct myr_queue_job job = {.gpus = 8};
    for (int64_t i = 1; i <= ROUNDS; i++) {
        uint32_t first;
        assert_int_equal(myr_queue_submit_array(q, 20 * i, &job, 3, 2, &first, NULL), MYR_OK);
        decide(q, 20 * i, NULL);
        assert_true(runs(q, first) && runs(q, first + 1) && !runs(q, first + 2));
        finish(q, 20 * i + 1, first);
        decide(q, 20 * i + 1, NULL);
        assert_true(runs(q, first + 2));
        finish(q, 20 * i + 2, first + 1);
        finish(q, 20 * i + 2, first + 2);
        decide(q, 20 * i + 2, NULL);
        assert_true(q->arrays.count <= 2 + KEEP_S / 20 + 1);
    }
    myr_queue_free(q);
}

/* A priority for each round, and so a line for each; some jobs wait in theirs all the time. */
static void lines_without_jobs_are_forgotten(void **state)
{
    (void)state;
    for (uint32_t preempt = 0; preempt < 2; preempt++) {
        struct myr_queue *q = forgetful(preempt);
        uint32_t all = submit(q, 0, (struct myr_queue_job){.gpus = 32, .fixed = true});
        decide(q, 0, NULL);
        uint32_t last = submit(q, 1, (struct myr_queue_job){.gpus = 3, .priority = -100});
        uint32_t next = submit(q, 1, (struct myr_queue_job){.gpus = 5, .tenant = 1});
        for (int64_t i = 1; i <= ROUNDS; i++) {
            struct myr_queue_job job = {.gpus = 1 + (uint32_t)i % 8,
                                        .tenant = (uint32_t)i / 8 % 2,
                                        .priority = (int32_t)(i / 16 % 100)};
            uint32_t id = submit(q, i, job);
            decide(q, i, NULL);
            assert_false(runs(q, id));
            finish(q, i, id);
            assert_true(q->lines.count <= 256 + 1);
        }
        finish(q, ROUNDS + 1, all);
        decide(q, ROUNDS + 1, NULL);
        assert_true(runs(q, last) && runs(q, next));
        assert_int_equal(myr_queue_waiting(q), 0);
        myr_queue_free(q);
    }
}

/* An array that never comes is forgotten as it is told so; who stands behind it is told as well. */
static void who_waits_behind_an_array_that_never_comes_is_told(void **state)
{
    (void)state;
    struct myr_queue_policy policy = policy_of(false);
    struct myr_queue *q = queue_with(&four, &policy, plain, 2);
    struct myr_queue_job job = {.gpus = 8};
    uint32_t first = submit(q, 0, job), array, behind[3];
    job.after = first;
    job.after_kind = MYR_AFTER_OK;
    assert_int_equal(myr_queue_submit_array(q, 0, &job, 2, 2, &array, NULL), MYR_OK);
    job.after_kind = MYR_AFTER_ANY;
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(behind); i++) {
        behind[i] = submit(q, 0, job);
    }
    decide(q, 0, NULL);
    assert_int_equal(myr_queue_cancel(q, 1, first), MYR_OK);
    decide(q, 1, NULL);
    assert_int_equal(myr_queue_state(q, array), MYR_JOB_DONE);
    for (uint32_t i = 0; i < MYR_ARRAY_COUNT(behind); i++) {
        assert_true(runs(q, behind[i]));
    }
    assert_int_equal(q->dependants.count, 0);
    myr_queue_free(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_are_forgotten),
        cmocka_unit_test(arrays_are_forgotten),
        cmocka_unit_test(lines_without_jobs_are_forgotten),
        cmocka_unit_test(who_waits_behind_an_array_that_never_comes_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
