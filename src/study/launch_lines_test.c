#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "myriad/study.h"

/*
 * Whole lines, word by word: the property test beside this one sees that arguments go together,
 * this one that each says what the layout says.
 */
static const struct {
    const char *name, *model;
    struct myr_layout layout; /* what differs from the default */
} cases[] = {
    {"plain",
     "gpt3-175b",
     {.tp = 8,
      .pp = 8,
      .dp = 16,
      .global_batch = 1536,
      .sequence_parallel = true,
      .recompute = MYR_RECOMPUTE_SELECTIVE}},
    {"interleaved",
     "gpt3-175b",
     {.tp = 4,
      .pp = 6,
      .vp = 4,
      .dp = 2,
      .global_batch = 96,
      .schedule = MYR_SCHEDULE_INTERLEAVED,
      .zero = 2,
      .gradient_bytes = 4,
      .recompute = MYR_RECOMPUTE_FULL,
      .recompute_layers = 3}},
    {"uneven",
     "llama3-405b",
     {.tp = 8,
      .pp = 16,
      .vp = 4,
      .cp = 2,
      .dp = 3,
      .global_batch = 48,
      .schedule = MYR_SCHEDULE_INTERLEAVED,
      .precision = MYR_PRECISION_FP8,
      .recompute = MYR_RECOMPUTE_FULL}},
    {"outer",
     "llama3-405b",
     {.tp = 8,
      .pp = 16,
      .dp = 2,
      .first_layers = 7,
      .last_layers = 7,
      .global_batch = 64,
      .precision = MYR_PRECISION_MXFP8,
      .gradient_bytes = 2,
      .order = {MYR_AXIS_TP, MYR_AXIS_CP, MYR_AXIS_EP, MYR_AXIS_PP, MYR_AXIS_DP}}},
    {"sharded",
     "llama3-70b",
     {.tp = 1,
      .dp = 64,
      .zero = 3,
      .shard = 16,
      .global_batch = 128,
      .micro_batch = 2,
      .precision = MYR_PRECISION_FP16}},
    {"experts",
     "mixtral-8x7b",
     {.tp = 2,
      .pp = 2,
      .dp = 8,
      .ep = 4,
      .etp = 1,
      .global_batch = 32,
      .sequence_parallel = true,
      .precision = MYR_PRECISION_NVFP4,
      .zero = 1,
      .shard = 4}},
    {"dualpipe",
     "deepseek-v3",
     {.tp = 1,
      .pp = 16,
      .dp = 4,
      .ep = 4,
      .global_batch = 512,
      .first_layers = 4,
      .last_layers = 1,
      .schedule = MYR_SCHEDULE_DUALPIPE,
      .precision = MYR_PRECISION_FP32,
      .order = {MYR_AXIS_PP, MYR_AXIS_TP, MYR_AXIS_CP, MYR_AXIS_EP, MYR_AXIS_DP}}},
    {"single",
     "llama3-8b",
     {.tp = 2,
      .zero = 0,
      .global_batch = 4,
      .seq_tokens = 4096,
      .recompute = MYR_RECOMPUTE_SELECTIVE}},
};

static struct myr_layout whole(struct myr_layout given)
{
    struct myr_layout l = myr_layout_default();
    struct myr_layout merged = given;
    uint32_t *const fields[] = {&merged.tp, &merged.pp, &merged.vp,         &merged.dp,
                                &merged.cp, &merged.ep, &merged.micro_batch};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(fields); i++) {
        *fields[i] = *fields[i] ? *fields[i] : 1;
    }
    if (given.order[0] == given.order[1]) { /* none given */
        memcpy(merged.order, l.order, sizeof(l.order));
    }
    merged.flash_attention = true;
    return merged;
}

static void lines_are_those_of_the_file(void **state)
{
    (void)state;
    struct myr_arena arena = {};
    struct myr_buf said = {}, file = {};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_model model;
        struct myr_layout layout = whole(cases[i].layout);
        assert_int_equal(myr_model_find(&arena, cases[i].model, &model, NULL), MYR_OK);
        if (myr_layout_broken(&layout, &model, 0) != MYR_LAYOUT_OK) {
            fail_msg("%s: %s", cases[i].name,
                     myr_layout_rule_name(myr_layout_broken(&layout, &model, 0)));
        }
        for (uint32_t t = 0; t <= MYR_TRAINER_TORCHTITAN; t++) {
            myr_buf_printf(&said, "%s, %s: ", cases[i].name, myr_trainer_name((enum myr_trainer)t));
            struct myr_launch *launch = MYR_ARENA_ONE(&arena, struct myr_launch);
            struct myr_launch_case of = {.layout = &layout, .model = &model};
            myr_launch_of(&of, (enum myr_trainer)t, &arena, launch);
            myr_launch_write(launch, &said);
            myr_buf_putc(&said, '\n');
        }
    }
    const char *kept = getenv("MYRIAD_KEPT");
    if (kept && strcmp(kept, "write") == 0) {
        assert_int_equal(myr_file_write(MYR_SOURCE_DIR "/tests/data/launch-lines.txt", &said, NULL),
                         MYR_OK);
    }
    assert_int_equal(
        myr_file_read(MYR_SOURCE_DIR "/tests/data/launch-lines.txt", 1 << 20, &file, NULL), MYR_OK);
    const char *wanted = file.data, *line = said.data;
    while (*line) { /* one at a time, so that a failure shows the one */
        size_t wanted_len = strcspn(wanted, "\n"), len = strcspn(line, "\n");
        const char *left = myr_arena_strndup(&arena, wanted, wanted_len);
        assert_string_equal(myr_arena_strndup(&arena, line, len), left);
        wanted += wanted_len + (wanted[wanted_len] == '\n');
        line += len + 1;
    }
    assert_string_equal(wanted, "");
    myr_buf_done(&file);
    myr_buf_done(&said);
    myr_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines_are_those_of_the_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
