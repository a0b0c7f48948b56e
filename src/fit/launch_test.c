#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "myriad/fit.h"

static struct myr_arena arena;
static struct myr_model dense, experts;

static int setup(void **state)
{
    (void)state;
    myr_arena_init(&arena);
    int rc = myr_model_find(&arena, "gpt3-175b", &dense, NULL);
    return rc < 0 ? rc : myr_model_find(&arena, "mixtral-8x7b", &experts, NULL);
}

static int teardown(void **state)
{
    (void)state;
    myr_arena_done(&arena);
    return 0;
}

static struct myr_layout usual(void)
{
    struct myr_layout layout = myr_layout_default();
    layout.tp = 8;
    layout.pp = 8;
    layout.dp = 16;
    layout.global_batch = 512;
    layout.sequence_parallel = true;
    return layout;
}

static void assert_says(enum myr_trainer trainer, const struct myr_layout *layout,
                        const struct myr_model *model, const char *words, bool wanted)
{
    struct myr_buf buf = {0};
    myr_launch_write(&buf, trainer, layout, model);
    myr_buf_putc(&buf, '\0');
    if ((strstr(buf.data, words) != NULL) != wanted) {
        fail_msg("%s '%s' in: %s", wanted ? "no" : "there is", words, buf.data);
    }
    myr_buf_done(&buf);
}

static void megatron_is_told_every_axis(void **state)
{
    (void)state;
    struct myr_layout l = usual();
    assert_says(MYR_TRAINER_MEGATRON, &l, &dense, "--tensor-model-parallel-size 8", true);
    assert_says(MYR_TRAINER_MEGATRON, &l, &dense, "--pipeline-model-parallel-size 8", true);
    assert_says(MYR_TRAINER_MEGATRON, &l, &dense, "--use-distributed-optimizer", true);
    assert_says(MYR_TRAINER_MEGATRON, &l, &dense, "expert", false);
    assert_says(MYR_TRAINER_MEGATRON, &l, &dense, "#", false);
    l.vp = 4;
    l.schedule = MYR_SCHEDULE_INTERLEAVED;
    assert_says(MYR_TRAINER_MEGATRON, &l, &dense, "--num-layers-per-virtual-pipeline-stage 3",
                true);
    l.vp = 1;
    l.schedule = MYR_SCHEDULE_1F1B;
    l.first_layers = 10;
    l.last_layers = 14;
    assert_says(MYR_TRAINER_MEGATRON, &l, &dense,
                "--decoder-first-pipeline-num-layers 10 --decoder-last-pipeline-num-layers 14",
                true);
    l.recompute = MYR_RECOMPUTE_FULL;
    assert_says(MYR_TRAINER_MEGATRON, &l, &dense, "--recompute-method uniform", true);
    l.recompute_layers = 5;
    assert_says(MYR_TRAINER_MEGATRON, &l, &dense,
                "--recompute-method block --recompute-num-layers 5", true);
    l.zero = 3;
    l.shard = 8;
    assert_says(MYR_TRAINER_MEGATRON, &l, &dense, "optim_grads_params", true);
    assert_says(MYR_TRAINER_MEGATRON, &l, &dense, "--num-distributed-optimizer-instances 2", true);
    l.ep = 4;
    assert_says(MYR_TRAINER_MEGATRON, &l, &experts, "--expert-model-parallel-size 4", true);
}

static void what_a_trainer_cannot_do_stands_behind_a_hash(void **state)
{
    (void)state;
    static const enum myr_axis swapped[] = {MYR_AXIS_TP, MYR_AXIS_CP, MYR_AXIS_PP, MYR_AXIS_EP,
                                            MYR_AXIS_DP};
    static const enum myr_axis odd[] = {MYR_AXIS_TP, MYR_AXIS_PP, MYR_AXIS_CP, MYR_AXIS_EP,
                                        MYR_AXIS_DP};
    struct myr_layout l = usual();
    memcpy(l.order, swapped, sizeof(l.order));
    assert_says(MYR_TRAINER_MEGATRON, &l, &dense, "--use-tp-pp-dp-mapping", true);
    assert_says(MYR_TRAINER_MEGATRON, &l, &dense, "#", false);
    memcpy(l.order, odd, sizeof(l.order));
    assert_says(MYR_TRAINER_MEGATRON, &l, &dense, "--bf16 # ranks in the order", true);
    l.schedule = MYR_SCHEDULE_ZERO_BUBBLE;
    assert_says(MYR_TRAINER_MEGATRON, &l, &dense, "# this trainer has no schedule 'zero-bubble'",
                true);
    assert_says(MYR_TRAINER_TORCHTITAN, &l, &dense, "InterleavedZeroBubble", true);
    assert_says(MYR_TRAINER_DEEPSPEED, &l, &dense, "# with Megatron-DeepSpeed", true);
}

static void deepspeed_and_torchtitan_get_their_own_words(void **state)
{
    (void)state;
    struct myr_layout l = usual();
    l.tp = 1;
    l.pp = 1;
    l.dp = 1024;
    l.zero = 3;
    l.shard = 64;
    assert_says(MYR_TRAINER_DEEPSPEED, &l, &dense, "\"stage\": 3, \"mics_shard_size\": 64", true);
    assert_says(MYR_TRAINER_TORCHTITAN, &l, &dense,
                "--parallelism.data_parallel_shard_degree 64 "
                "--parallelism.data_parallel_replicate_degree 16",
                true);
    assert_says(MYR_TRAINER_TORCHTITAN, &l, &dense, "fsdp_reshard_after_forward always", true);
    l.precision = MYR_PRECISION_FP16;
    assert_says(MYR_TRAINER_DEEPSPEED, &l, &dense, "\"fp16\": {\"enabled\": true}", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(megatron_is_told_every_axis),
        cmocka_unit_test(what_a_trainer_cannot_do_stands_behind_a_hash),
        cmocka_unit_test(deepspeed_and_torchtitan_get_their_own_words),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
