#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include <stdio.h>
#include <unistd.h>

#include "test_world.h"

static char path[64];

static const char *log_of(const char *text)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    snprintf(path, sizeof(path), "/tmp/myriad-log-%d.log", (int)getpid());
    myr_buf_put(&buf, text, strlen(text));
    assert_int_equal(myr_file_write(path, &buf, NULL), MYR_OK);
    return path;
}

static struct myr_log_question question(const char *text)
{
    struct myr_log_question q = {myr_case_question_default(), log_of(text)};
    q.of.model = "llama3-70b";
    q.of.device = "h100";
    q.of.gpus = 64;
    return q;
}

#define ITERATION \
    "iteration 1/ 9 | elapsed time per iteration (ms): 14610 | global batch size: 128 |\n"

static struct myr_log_comparison *compare(const struct myr_log_question *q)
{
    struct myr_log_comparison *c = MYR_ARENA_ONE(&arena, struct myr_log_comparison);
    struct myr_err err = {};
    if (myr_compare_log(c, &arena, q, &err) < 0) {
        fail_msg("%s", err.message);
    }
    unlink(path);
    return c;
}

static void what_neither_says_takes_the_models_best(void **state)
{
    struct myr_log_question q = question(ITERATION);
    struct myr_fit_answer *answer = MYR_ARENA_ONE(&arena, struct myr_fit_answer);
    struct myr_case it;
    (void)state;
    q.of.tp = 4;
    struct myr_log_comparison *c = compare(&q);
    q.of.batch = 128; /* as the log says */
    assert_int_equal(myr_case_init(&it, &arena, &q.of, NULL), MYR_OK);
    assert_int_equal(myr_case_answer(&it, &arena, answer, NULL), MYR_OK);
    assert_true(c->fits && c->stack_exact && c->low_s < c->result.cost.step_s &&
                c->high_s > c->result.cost.step_s);
    assert_true(c->result.cost.step_s == answer->top[0].step_s);
    assert_true(c->result.measured_s == 14.61);
    assert_true(c->result.error == c->result.cost.step_s / 14.61 - 1);
    assert_int_equal(c->layout.tp, 4);
    myr_log_comparison_done(c);
}

static void what_ran_is_compared_as_it_ran(void **state)
{
    struct myr_log_question q = question(ITERATION);
    (void)state;
    q.of.tp = q.of.pp = 4;
    q.of.vp = 20; /* more chunks than are searched */
    q.of.micro_batch = 1;
    struct myr_log_comparison *c = compare(&q);
    assert_int_equal(c->layout.vp, 20);
    assert_int_equal(c->layout.schedule, MYR_SCHEDULE_INTERLEAVED);
    assert_int_equal(c->layout.micro_batch, 1);
    myr_log_comparison_done(c);
    q = question(ITERATION);
    q.of.gpus = 8; /* too few, as modelled: it ran all the same */
    q.of.tp = 8;
    c = compare(&q);
    assert_false(c->fits);
    assert_true(c->result.cost.step_s > 0);
    myr_log_comparison_done(c);
}

static void arguments_of_the_log_fix_axes_and_model(void **state)
{
    struct myr_log_question q = question("  tensor_model_parallel_size ....... 2\n"
                                         "  world_size ....................... 32\n"
                                         "  mtp_num_layers ................... 1\n" ITERATION);
    (void)state;
    q.of.gpus = 0;
    q.of.model = "llama3-8b";
    struct myr_log_comparison *c = compare(&q);
    assert_int_equal(c->layout.tp, 2);
    assert_int_equal(c->query.gpus, 32);
    assert_int_equal(c->model.mtp_count, 1);
    assert_int_equal(c->query.batch, 128);
    myr_log_comparison_done(c);
}

static void assert_refused(const struct myr_log_question *q, int code, const char *words)
{
    struct myr_log_comparison *c = MYR_ARENA_ONE(&arena, struct myr_log_comparison);
    struct myr_err err = {};
    assert_int_equal(myr_compare_log(c, &arena, q, &err), code);
    if (!strstr(err.message, words)) {
        fail_msg("'%s' does not say '%s'", err.message, words);
    }
}

static void what_is_missing_is_named(void **state)
{
    struct myr_log_question q = question(ITERATION);
    (void)state;
    q.of.device = NULL;
    assert_refused(&q, MYR_EINVAL, "give --device NAME");
    q = question(ITERATION);
    q.of.gpus = 0;
    assert_refused(&q, MYR_EINVAL, "how many GPUs: give --gpus N");
    q = question("iteration 1/ 9 | elapsed time per iteration (ms): 14610 |\n");
    assert_refused(&q, MYR_EINVAL, "the batch: give --batch SEQUENCES");
    q = question(ITERATION);
    q.of.model = NULL;
    assert_refused(&q, MYR_ENOENT, "--model");
    q = question(ITERATION);
    q.of.gpus = 60;
    q.of.tp = 8;
    assert_refused(&q, MYR_EINVAL, "does not divide");
    q = question("nothing\n");
    assert_refused(&q, MYR_EINVAL, "no 'elapsed time");
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_neither_says_takes_the_models_best),
        cmocka_unit_test(what_ran_is_compared_as_it_ran),
        cmocka_unit_test(arguments_of_the_log_fix_axes_and_model),
        cmocka_unit_test(what_is_missing_is_named),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
