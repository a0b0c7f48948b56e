#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "myriad/study.h"

static struct myr_arena arena;
static struct myr_model dense;

static int setup(void **state)
{
    (void)state;
    myr_arena_init(&arena);
    return myr_model_find(&arena, "gpt3-175b", &dense, NULL);
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

/* The line with its breaks taken out again. */
static void unwrap(const struct myr_buf *wrapped, const char *joint, struct myr_buf *ret)
{
    size_t len = strlen(joint);
    for (size_t i = 0; i < wrapped->len; i++) {
        if (strncmp(wrapped->data + i, joint, len) == 0) {
            myr_buf_putc(ret, ' ');
            i += len - 1;
        } else {
            myr_buf_putc(ret, wrapped->data[i]);
        }
    }
}

static void wrapped_arguments_are_the_same_words_in_short_lines(void **state)
{
    (void)state;
    for (int t = MYR_TRAINER_MEGATRON; t <= MYR_TRAINER_TORCHTITAN; t++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf line = {};
        MYR_CLEANUP(myr_buf_done) struct myr_buf wrapped = {};
        MYR_CLEANUP(myr_buf_done) struct myr_buf joined = {};
        bool json = t == MYR_TRAINER_DEEPSPEED;
        struct myr_layout layout = usual();
        struct myr_launch *launch = MYR_ARENA_ONE(&arena, struct myr_launch);
        struct myr_launch_case of = {.layout = &layout, .model = &dense};
        myr_launch_of(&of, (enum myr_trainer)t, &arena, launch);
        myr_launch_write(launch, &line);
        myr_launch_write_wrapped(launch, &wrapped);
        unwrap(&wrapped, json ? "\n    " : " \\\n    ", &joined);
        char *comment = strstr(line.data, " # ");
        size_t len = comment ? (size_t)(comment - line.data) : line.len;
        assert_memory_equal(joined.data, line.data, len);
        assert_int_equal(joined.data[len], '\n');
        assert_int_equal(joined.data[len + 1] == '#', comment != NULL);
        size_t column = 0, longest = 0;
        for (size_t i = 0; i < wrapped.len; i++) {
            column = wrapped.data[i] == '\n' ? 0 : column + 1;
            longest = column > longest ? column : longest;
        }
        assert_true(longest <= 76 && longest > 40);
    }
}

/* tests/fit/launch.py asks real shells; here, what stands in the script. */
static void words_with_a_meaning_to_a_shell_are_quoted(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"plain", "plain"},
        {"/srv/a-b_c.d:e,f=g+h@i%j", "/srv/a-b_c.d:e,f=g+h@i%j"},
        {"", "''"},
        {"two words", "'two words'"},
        {"it's", "'it'\\''s'"},
        {"$(exit 9)", "'$(exit 9)'"},
        {"`x`", "'`x`'"},
        {"~", "'~'"},
        {"a\\b", "'a\\b'"},
        {"*", "'*'"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(pairs); i++) {
        MYR_CLEANUP(myr_buf_done) struct myr_buf quoted = {};
        myr_launch_quote(&quoted, myr_str_from(pairs[i][0]));
        assert_string_equal(quoted.data, pairs[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrapped_arguments_are_the_same_words_in_short_lines),
        cmocka_unit_test(words_with_a_meaning_to_a_shell_are_quoted),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
