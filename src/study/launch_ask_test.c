/* Questions about a launch as the library answers them; tests/golden asks through the command. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "launch_script.h"
#include "myriad/study.h"

struct fixture {
    struct myr_arena arena;
    struct myr_launch_question question;
    struct myr_launch_answer *answer;
    struct myr_err err;
};

/* One GPU and a small model: what is asked is what becomes of the answer. */
static void set_up(struct fixture *f)
{
    *f = (struct fixture){.question = {.of = myr_case_question_default(), .trainer = -1}};
    myr_arena_init(&f->arena);
    f->answer = MYR_ARENA_ONE(&f->arena, struct myr_launch_answer);
    f->question.of.model = "gpt3-125m";
    f->question.of.device = "h100";
    f->question.of.gpus = 1;
    f->question.of.batch = 1;
    f->question.of.micro_batch = 1;
}

static int ask(struct fixture *f)
{
    return myr_launch_ask(&f->question, &f->arena, f->answer, &f->err);
}

static void tear_down(struct fixture *f)
{
    myr_launch_answer_done(f->answer);
    myr_arena_done(&f->arena);
}

/* The same sizes in layers that every trainer has. */
static const struct myr_model *as_llama(struct myr_arena *in, struct myr_model *ret)
{
    assert_int_equal(myr_model_find(in, "gpt3-125m", ret, NULL), MYR_OK);
    ret->gated = true;
    ret->norm = MYR_NORM_RMS;
    ret->positions = MYR_POSITIONS_ROTARY;
    ret->qkv_bias = ret->out_bias = ret->ffn_bias = false;
    return ret;
}

/* Another model would train, or one priced for kernels that do not run. */
static void a_trainer_starts_only_what_it_has(void **state)
{
    static const enum myr_trainer trainers[] = {MYR_TRAINER_TORCHTITAN, MYR_TRAINER_DEEPSPEED};
    static const char *const models[] = {"gpt3-125m", "deepseek-v3"};
    struct fixture f;
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(trainers); i++) {
        set_up(&f);
        f.question.trainer = (int)trainers[i];
        f.question.of.model = models[i];
        assert_int_equal(ask(&f), MYR_OK);
        assert_false(f.answer->found);
        assert_int_equal(f.answer->script.len, 0);
        assert_non_null(strstr(f.answer->why.message, "has no model with"));
        tear_down(&f);
        set_up(&f);
        f.question.trainer = (int)trainers[i];
        f.question.of.software = "Megatron-Bridge 26.06";
        assert_int_equal(ask(&f), MYR_EINVAL);
        assert_non_null(strstr(f.err.message, "is a release of megatron-bridge"));
        tear_down(&f);
    }
    struct myr_model gated;
    for (int t = 0; t < MYR_TRAINER_COUNT; t++) {
        set_up(&f);
        f.question.trainer = t;
        f.question.of.model_read = as_llama(&f.arena, &gated);
        assert_int_equal(ask(&f), MYR_OK);
        assert_true(f.answer->found);
        const char *line = f.answer->it.query.it.stack->line;
        assert_non_null(strstr(t == MYR_TRAINER_MEGATRON     ? "Megatron-LM"
                               : t == MYR_TRAINER_DEEPSPEED  ? "Megatron-DeepSpeed"
                               : t == MYR_TRAINER_TORCHTITAN ? "torchtitan"
                                                             : "Megatron-Bridge",
                               line));
        tear_down(&f);
    }
}

static void a_release_belongs_to_its_trainer(void **state)
{
    static const struct {
        const char *software;
        enum myr_trainer trainer;
    } rows[] = {
        {"Megatron-Bridge 25.11", MYR_TRAINER_BRIDGE},
        {"NeMo 25.05", MYR_TRAINER_BRIDGE},
        {"torchtitan", MYR_TRAINER_TORCHTITAN},
        {"torch eager", MYR_TRAINER_TORCHTITAN},
        {"torch compile", MYR_TRAINER_TORCHTITAN},
        {"Meta internal", MYR_TRAINER_TORCHTITAN},
        {"llm-foundry FSDP", MYR_TRAINER_TORCHTITAN},
        {"GPT-NeoX", MYR_TRAINER_DEEPSPEED},
        {"DeepSpeed", MYR_TRAINER_DEEPSPEED},
        {"Megatron-DeepSpeed", MYR_TRAINER_DEEPSPEED},
        {"Megatron-LM 2024", MYR_TRAINER_MEGATRON},
        {"MegaScale", MYR_TRAINER_MEGATRON},
    };
    (void)state;
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct fixture f;
        set_up(&f);
        f.question.of.software = rows[i].software;
        struct myr_model gated;
        if (rows[i].trainer == MYR_TRAINER_TORCHTITAN) { /* it has no layers like GPT's */
            f.question.of.model_read = as_llama(&f.arena, &gated);
        }
        if (ask(&f) < 0 || !f.answer->found || !f.answer->placed) {
            fail_msg("%s: %s", rows[i].software, f.err.message);
        }
        assert_int_equal(f.answer->trainer, rows[i].trainer);
        assert_int_equal(f.answer->run.steps, 1000);
        assert_int_equal(f.answer->run.node_count, 1);
        assert_int_equal(f.answer->run.gpus_per_node, 1);
        assert_int_equal(f.answer->run.head_count, 5);
        assert_string_equal(f.answer->run.name, "gpt3-125m");
        tear_down(&f);
    }
}

static void a_trainer_and_steps_that_are_named_are_taken(void **state)
{
    struct fixture f;
    (void)state;
    set_up(&f);
    f.question.trainer = MYR_TRAINER_DEEPSPEED;
    f.question.run.steps = 7;
    f.question.run.name = "mine";
    assert_int_equal(ask(&f), MYR_OK);
    assert_int_equal(f.answer->trainer, MYR_TRAINER_DEEPSPEED);
    assert_int_equal(f.answer->run.steps, 7);
    assert_string_equal(f.answer->run.name, "mine");
    tear_down(&f);
}

static void what_cannot_be_asked_is_an_error_and_what_does_not_fit_an_answer(void **state)
{
    static const char *const pools[] = {"h100:1", "a100-80:1"};
    char path[] = "/tmp/myriad-layout-XXXXXX";
    MYR_CLEANUP(myr_buf_done) struct myr_buf text = {};
    struct fixture f;
    (void)state;
    set_up(&f);
    f.question.of.tp = 5;
    assert_int_equal(ask(&f), MYR_EINVAL);
    assert_non_null(strstr(f.err.message, "tp 5"));
    tear_down(&f);

    set_up(&f);
    f.question.of.model = "llama3-70b";
    assert_int_equal(ask(&f), MYR_OK);
    assert_false(f.answer->found);
    assert_int_equal(f.answer->script.len, 0);
    assert_non_null(strstr(f.answer->why.message, "does not fit"));
    tear_down(&f);

    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    myr_buf_puts(&text, "layout: {tp: 8, pp: 1, dp: 1, micro_batch: 1, global_batch: 4}\n");
    assert_int_equal(myr_file_write(path, &text, NULL), MYR_OK);
    set_up(&f);
    f.question.of.model = "llama3-70b";
    f.question.of.gpus = f.question.of.batch = f.question.of.micro_batch = 0;
    f.question.of.layout = path;
    assert_int_equal(ask(&f), MYR_OK);
    assert_false(f.answer->found);
    assert_non_null(strstr(f.answer->why.message, "the layout needs"));
    assert_int_equal(f.answer->why.code, MYR_EINFEASIBLE);
    tear_down(&f);
    unlink(path);

    set_up(&f);
    f.question.of.device = NULL;
    f.question.of.gpus = 0;
    f.question.of.software = "torch eager";
    f.question.pools = pools;
    f.question.pool_count = 2;
    assert_int_equal(ask(&f), MYR_EINVAL);
    assert_non_null(strstr(f.err.message, "one kind of GPUs"));
    tear_down(&f);
}

static void strings_of_files_are_quoted_byte_by_byte(void **state)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    (void)state;
    launch_put_string(&buf, "a\"b\\c\nd\te\x01\x1f \x7f\xc3\xa9");
    assert_string_equal(buf.data, "\"a\\\"b\\\\c\\nd\\u0009e\\u0001\\u001f \x7f\xc3\xa9\"");
}

/* On devices of others nothing is started that asks for CUDA, and no trainer that has no script. */
static void a_device_is_trained_with_its_own_trainer(void **state)
{
    (void)state;
    static const struct {
        const char *device;
        int trainer; /* -1: the device's */
        const char *why;
    } rows[] = {
        {"mi300x", -1, NULL},
        {"mi355x", MYR_TRAINER_MEGATRON, NULL},
        {"mi325x", MYR_TRAINER_BRIDGE, "mi325x trains with Primus, and not with megatron-bridge"},
        {"ascend-910c", -1, NULL},
        {"ascend-910b", MYR_TRAINER_BRIDGE,
         "ascend-910b trains with MindSpeed-LLM, and not with megatron-bridge"},
        {"tpu-v6e", -1, "tpu-v6e trains with MaxText, and not with megatron-lm"},
        {"gaudi2", -1, "gaudi2 trains with SynapseAI, and not with megatron-lm"},
        {"trainium1", MYR_TRAINER_MEGATRON, "trainium1 trains with NxD, and not with megatron-lm"},
        {"h20", -1, NULL},
        {"b300", -1, NULL},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(rows); i++) {
        struct fixture f;
        set_up(&f);
        f.question.of.device = rows[i].device;
        f.question.trainer = rows[i].trainer;
        assert_int_equal(ask(&f), MYR_OK);
        assert_int_equal(f.answer->why.code, rows[i].why ? MYR_EINFEASIBLE : MYR_OK);
        if (rows[i].why) {
            assert_string_equal(f.answer->why.message, rows[i].why);
        } else if (rows[i].device[0] == 'm' || rows[i].device[0] == 'a') {
            assert_int_equal(f.answer->trainer, MYR_TRAINER_MEGATRON);
        }
        tear_down(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trainer_starts_only_what_it_has),
        cmocka_unit_test(a_device_is_trained_with_its_own_trainer),
        cmocka_unit_test(a_release_belongs_to_its_trainer),
        cmocka_unit_test(a_trainer_and_steps_that_are_named_are_taken),
        cmocka_unit_test(what_cannot_be_asked_is_an_error_and_what_does_not_fit_an_answer),
        cmocka_unit_test(strings_of_files_are_quoted_byte_by_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
