#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include <stdio.h>
#include <unistd.h>

#include "test_world.h"

static struct myr_case_question question(void)
{
    struct myr_case_question q = myr_case_question_default();
    q.model = "llama3-8b";
    q.device = "h100";
    q.gpus = 64;
    q.batch = 128;
    return q;
}

/* A file of this process's own, with that text. */
static const char *file_of(const char *text)
{
    static char path[64];
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    snprintf(path, sizeof(path), "/tmp/myriad-case-%d.yaml", (int)getpid());
    myr_buf_put(&buf, text, strlen(text));
    assert_int_equal(myr_file_write(path, &buf, NULL), MYR_OK);
    return path;
}

static void assert_refused(const struct myr_case_question *q, const char *words)
{
    struct myr_case it;
    struct myr_err err = {};
    assert_true(myr_case_init(&it, &arena, q, &err) < 0);
    if (!strstr(err.message, words)) {
        fail_msg("'%s' does not say '%s'", err.message, words);
    }
}

static void what_is_missing_is_asked_for(void **state)
{
    struct myr_case_question q = question();
    (void)state;
    q.model = NULL;
    assert_refused(&q, "give --model NAME");
    q = question();
    q.device = NULL;
    assert_refused(&q, "give --device NAME");
    q = question();
    q.gpus = 0;
    assert_refused(&q, "give --gpus N");
    q = question();
    q.batch = 0;
    assert_refused(&q, "give --batch SEQUENCES");
    q = question();
    q.device = "h1000";
    assert_refused(&q, "h1000");
    q = question();
    q.software = "Emacs 29";
    assert_refused(&q, "Emacs");
    q = question();
    q.device = "a100-80";
    q.precision = MYR_PRECISION_FP8;
    assert_refused(&q, "a100-80 has no fp8");
}

static void an_open_case_is_answered_by_the_search(void **state)
{
    struct myr_case it;
    struct myr_case_question q = question();
    struct myr_fit_answer *answer = MYR_ARENA_ONE(&arena, struct myr_fit_answer);
    (void)state;
    q.top = 3;
    q.tp = 4;
    assert_int_equal(myr_case_init(&it, &arena, &q, NULL), MYR_OK);
    assert_true(it.stack_exact && !it.has_layout && !it.has_design);
    assert_int_equal(myr_case_answer(&it, &arena, answer, NULL), MYR_OK);
    assert_int_equal(answer->top_count, 3);
    for (uint32_t i = 0; i < answer->top_count; i++) {
        struct myr_case_price price;
        assert_int_equal(answer->top[i].layout.tp, 4);
        assert_int_equal(myr_case_price(&it, &answer->top[i].layout, NULL, &arena, &price, NULL),
                         MYR_OK);
        assert_true(price.memory.fits);
        assert_true(price.cost.step_s == answer->top[i].step_s); /* to the last bit */
    }
    myr_case_done(&it);
}

static void a_given_layout_is_the_answer(void **state)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    struct myr_case it, twin;
    struct myr_case_question q = question();
    struct myr_fit_answer *answer = MYR_ARENA_NEW(&arena, struct myr_fit_answer, 2);
    (void)state;
    assert_int_equal(myr_case_init(&it, &arena, &q, NULL), MYR_OK);
    assert_int_equal(myr_case_answer(&it, &arena, &answer[0], NULL), MYR_OK);
    myr_layout_file_write(&answer[0].top[0].layout, NULL, &buf);
    q.layout = file_of(buf.data);
    q.batch = q.gpus = 0; /* the file says both */
    assert_int_equal(myr_case_init(&twin, &arena, &q, NULL), MYR_OK);
    assert_true(twin.has_layout);
    assert_int_equal(twin.query.gpus, 64);
    assert_int_equal(twin.query.batch, 128);
    assert_int_equal(myr_case_answer(&twin, &arena, &answer[1], NULL), MYR_OK);
    assert_int_equal(answer[1].top_count, 1);
    assert_true(answer[0].top[0].step_s == answer[1].top[0].step_s);
    unlink(q.layout);
}

/* It was refused as a contradiction to what follows where the file is silent. */
static void a_batch_and_a_sequence_that_the_file_lacks_can_be_given(void **state)
{
    struct myr_case_question q = question();
    struct myr_case it;
    (void)state;
    q.layout = file_of("layout: {tp: 8, dp: 8, micro_batch: 1}\n");
    q.batch = 64;
    q.seq = 4096;
    q.gpus = 0;
    assert_int_equal(myr_case_init(&it, &arena, &q, NULL), MYR_OK);
    assert_int_equal(it.query.batch, 64);
    assert_int_equal(it.layout.global_batch, 64);
    assert_int_equal(it.query.seq_tokens, 4096);
    q.batch = q.seq = 0;
    assert_int_equal(myr_case_init(&it, &arena, &q, NULL), MYR_OK);
    assert_int_equal(it.query.batch, 8); /* a micro-batch for each replica */
    assert_int_equal(it.query.seq_tokens, 8192);
    q.batch = 60;
    assert_refused(&q, "a global batch of 60 is no multiple of micro_batch 1 x dp 8");
    unlink(q.layout);
}

static void what_is_said_beside_a_layout_must_agree_with_it(void **state)
{
    struct myr_case_question q = question();
    (void)state;
    q.layout =
        file_of("layout: {tp: 8, dp: 8, micro_batch: 1, global_batch: 128, sequence: 8192}\n");
    q.tp = 4;
    assert_refused(&q, ":1:14: tp is 8, and 4 is asked for");
    q.tp = 8;
    q.batch = 64;
    assert_refused(&q, ":1:54: global_batch is 128, and 64 is asked for");
    q.batch = 0;
    q.gpus = 72;
    assert_refused(&q, ":1:9: the number of GPUs is 64, and 72 is asked for");
    q.gpus = 64;
    q.zero = 3;
    assert_refused(&q, ":1:9: zero 1, recompute none");
    q.zero = 1;
    q.seq = 100;
    assert_refused(&q, ":1:69: sequence is 8192, and 100 is asked for");
    q.seq = 0;
    q.schedule = MYR_FIT_SCHEDULE_ANY;
    assert_refused(&q, "something else is asked for");
    q.schedule = MYR_FIT_SCHEDULE_STACK;
    q.exhaustive = true;
    assert_refused(&q, "--exhaustive does not go with --layout");
    q.exhaustive = false;
    struct myr_case it;
    assert_int_equal(myr_case_init(&it, &arena, &q, NULL), MYR_OK);
    q.layout = file_of("layout: {tp: 64, micro_batch: 1, global_batch: 128}\n");
    q.tp = 0;
    assert_refused(&q, ".yaml:1:14: layout rule 'heads'");
    unlink(q.layout);
}

static void a_given_layout_that_does_not_fit_is_no_answer(void **state)
{
    struct myr_case it;
    struct myr_err err = {};
    struct myr_case_question q = question();
    struct myr_case_price price;
    struct myr_fit_answer *answer = MYR_ARENA_ONE(&arena, struct myr_fit_answer);
    (void)state;
    q.model = "llama3-70b";
    q.gpus = 0;
    q.layout = file_of("layout: {tp: 2, dp: 8, micro_batch: 1, global_batch: 128}\n");
    assert_int_equal(myr_case_init(&it, &arena, &q, NULL), MYR_OK);
    assert_int_equal(myr_case_answer(&it, &arena, answer, &err), MYR_EINFEASIBLE);
    assert_true(answer->has_nearest && answer->nearest.tp == 2 && answer->top_count == 0);
    assert_non_null(strstr(err.message, "GiB a GPU, h100 has"));
    /* It has a price all the same. */
    assert_int_equal(myr_case_price(&it, &it.layout, NULL, &arena, &price, NULL), MYR_OK);
    assert_true(!price.memory.fits && price.cost.step_s > 0);
    unlink(q.layout);
}

/* What a device has no units for is refused, with the finest numbers that it has. */
static void a_device_runs_the_precisions_that_it_has(void **state)
{
    static const struct {
        const char *device;
        enum myr_precision precision;
        const char *hint; /* NULL: it runs */
    } rows[] = {
        {"a100-80", MYR_PRECISION_BF16, NULL},    {"a100-80", MYR_PRECISION_FP16, NULL},
        {"a100-80", MYR_PRECISION_FP32, NULL},    {"a100-80", MYR_PRECISION_FP8, "bf16"},
        {"a100-80", MYR_PRECISION_MXFP8, "bf16"}, {"a100-80", MYR_PRECISION_NVFP4, "bf16"},
        {"h100", MYR_PRECISION_FP8, NULL},        {"h100", MYR_PRECISION_MXFP8, "fp8"},
        {"h100", MYR_PRECISION_NVFP4, "fp8"},     {"h100", MYR_PRECISION_FP16, NULL},
        {"b200", MYR_PRECISION_FP8, NULL},        {"b200", MYR_PRECISION_MXFP8, NULL},
        {"b200", MYR_PRECISION_NVFP4, NULL},      {"b200", MYR_PRECISION_FP32, NULL},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct myr_case_question q = question();
        struct myr_case it;
        struct myr_err err = {};
        char words[64];
        q.device = rows[i].device;
        q.precision = (int)rows[i].precision;
        int rc = myr_case_init(&it, &arena, &q, &err);
        assert_int_equal(rc, rows[i].hint ? MYR_EINVAL : MYR_OK);
        if (rows[i].hint) {
            snprintf(words, sizeof(words), "%s has no %s", rows[i].device,
                     myr_precision_name(rows[i].precision));
            assert_string_equal(err.message, words);
            snprintf(words, sizeof(words), "--precision %s would work", rows[i].hint);
            assert_string_equal(err.hint, words);
            q.any_precision = true; /* then it is one of those that there are */
            assert_int_equal(myr_case_init(&it, &arena, &q, &err), MYR_OK);
        }
        assert_int_equal(it.query.precision, rows[i].hint ? MYR_PRECISION_BF16 : rows[i].precision);
        myr_case_done(&it);
    }
    /* Of a user's own device, which may lack some of them. */
    struct myr_device own = {
        .generation = MYR_GENERATION_BLACKWELL, .bf16_flops = 2, .fp8_flops = 2, .fp4_flops = 2};
    enum myr_precision list[4] = {};
    assert_int_equal(myr_fit_precisions(&own, list), 1);
    own.fp4_flops = 3;
    assert_int_equal(myr_fit_precisions(&own, list), 2);
    assert_int_equal(list[1], MYR_PRECISION_NVFP4);
    own.fp8_flops = 3;
    assert_int_equal(myr_fit_precisions(&own, list), 4);
    assert_int_equal(list[2], MYR_PRECISION_MXFP8);
    own.generation = MYR_GENERATION_HOPPER;
    assert_int_equal(myr_fit_precisions(&own, list), 2);
    assert_int_equal(list[1], MYR_PRECISION_FP8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_missing_is_asked_for),
        cmocka_unit_test(an_open_case_is_answered_by_the_search),
        cmocka_unit_test(a_given_layout_is_the_answer),
        cmocka_unit_test(a_batch_and_a_sequence_that_the_file_lacks_can_be_given),
        cmocka_unit_test(what_is_said_beside_a_layout_must_agree_with_it),
        cmocka_unit_test(a_given_layout_that_does_not_fit_is_no_answer),
        cmocka_unit_test(a_device_runs_the_precisions_that_it_has),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
