/* Help, manual and completion of a command with every kind of row, word by word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "kept.h"
#include "myriad/text/answer.h"
#include "myriad/text/option_echo.h"

struct own {
    uint64_t gpus, free;
    const char *model, *out, *none;
    bool deep, shallow;
    uint32_t colour, shape;
    struct myr_option_list tags;
};

struct common {
    uint32_t format;
    bool timing;
};

static void put_models(struct myr_buf *buf)
{
    myr_buf_put_lit(buf, "gpt3-175b llama3-8b");
}

static void put_kinds(struct myr_buf *buf)
{
    myr_buf_put_lit(buf, "p2p lldp");
}

static const char *const colours[] = {"red", "green"};
static const char *const formats[] = {"table", "json"};
static const struct own own_defaults = {
    .gpus = 8, .model = "gpt3-175b", .shallow = true, .colour = 1};
static const struct common common_defaults = {};
#define AT(member) .at = offsetof(struct own, member)
static const struct myr_option own_rows[] = {
    {"gpus", 'g', MYR_OPTION_U64, "N",
     "How many GPUs there are in the whole of the cluster, over "
     "all of its nodes and all of its pods, spare ones not counted",
     AT(gpus), .min = 1, .max = 64},
    {"free", 0, MYR_OPTION_U64, NULL, "How many are free", AT(free)},
    {"model", 'm', MYR_OPTION_TEXT, "NAME", "Which model's file [or name]: it's \"read\"",
     AT(model), .words = put_models},
    {"out", 0, MYR_OPTION_PATH, "DIR", "Where files go", AT(out)},
    {"none", 0, MYR_OPTION_PATH, NULL, "No placeholder", AT(none)},
    {"deep", 'd', MYR_OPTION_FLAG, NULL, "Look deeper", AT(deep)},
    {"shallow", 0, MYR_OPTION_FLAG, NULL, "Look at the surface", AT(shallow)},
    {"colour", 'c', MYR_OPTION_CHOICE, "COLOUR", "Of the lines", AT(colour), .choices = colours,
     .choice_count = 2},
    {"shape", 0, MYR_OPTION_CHOICE, NULL, "Of the points", AT(shape), .choices = colours,
     .choice_count = 2},
    {"tag", 't', MYR_OPTION_LIST, "TAG", "A word, may be given again", AT(tags)},
};
static const struct myr_option common_rows[] = {
    {"output", 'o', MYR_OPTION_CHOICE, "FORMAT", "How the answer looks",
     .at = offsetof(struct common, format), .choices = formats, .choice_count = 2},
    {"timing", 0, MYR_OPTION_FLAG, NULL, "Say how long it took",
     .at = offsetof(struct common, timing)},
};
static const struct myr_option_table common = {common_rows, MYR_ARRAY_COUNT(common_rows),
                                               &common_defaults};
static const struct myr_command curve = {.name = "fit curve",
                                         .operands = "KIND FILE...",
                                         .summary = "Follow it",
                                         .options = own_rows,
                                         .option_count = 2,
                                         .operand_min = 1,
                                         .operand_max = 3,
                                         .defaults = &own_defaults,
                                         .values_bytes = sizeof(own_defaults),
                                         .common = &common,
                                         .words = put_kinds};
static const struct myr_command *const subs[] = {&curve};
static const struct myr_command fit = {
    .name = "fit",
    .operands = "[FILE]",
    .summary = "Fit it",
    .details =
        "The first paragraph, which is longer than a line of a terminal, so that it has to "
        "be broken somewhere.\n\nThe second one: *not bold*, _not underlined_, a\\backslash.",
    .example = "myriad fit --gpus 8 x.yaml\n    fits it",
    .options = own_rows,
    .option_count = MYR_ARRAY_COUNT(own_rows),
    .operand_max = 1,
    .defaults = &own_defaults,
    .values_bytes = sizeof(own_defaults),
    .common = &common,
    .subcommands = subs,
    .subcommand_count = 1};
static const struct myr_command plain = {.name = "plain",
                                         .operands = "",
                                         .summary = "Nothing to choose; it's all there",
                                         .defaults = &own_defaults,
                                         .values_bytes = sizeof(own_defaults)};
static const struct myr_command *const commands[] = {&fit, &plain};

static void help_is_the_kept_one(void **state)
{
    (void)state;
    struct myr_buf buf = {};
    myr_option_help(&fit, &buf);
    myr_buf_puts(&buf, "----\n");
    myr_option_help(&curve, &buf);
    myr_buf_puts(&buf, "----\n");
    myr_option_help(&plain, &buf);
    assert_kept("option-help.txt", &buf);
    myr_buf_done(&buf);
}

static void the_manual_is_the_kept_one(void **state)
{
    (void)state;
    struct myr_buf buf = {};
    myr_option_man(&fit, &buf);
    myr_option_man(&curve, &buf);
    myr_option_man(&plain, &buf);
    assert_kept("option-man.scd", &buf);
    myr_buf_done(&buf);
}

static void completion_is_the_kept_one(void **state)
{
    (void)state;
    static const char *const names[] = {"option-completion.bash", "option-completion.zsh",
                                        "option-completion.fish"};
    for (uint32_t shell = 0; shell < MYR_ARRAY_COUNT(names); shell++) {
        struct myr_buf buf = {};
        myr_option_completion((enum myr_shell)shell, "myriad", commands, MYR_ARRAY_COUNT(commands),
                              &buf);
        assert_kept(names[shell], &buf);
        myr_buf_done(&buf);
    }
}

static void put_answer(struct myr_answer *answer, struct myr_buf *buf)
{
    struct myr_answer_form form = {.format = MYR_FORMAT_YAML};
    struct myr_err err = {};
    assert_int_equal(myr_answer_write(answer, &form, buf, &err), MYR_OK);
}

/* What was typed, or nothing of it: told to programs, as it would be typed again, and asked for. */
static void put_question(const struct own *values, const struct myr_operands *operands,
                         struct myr_buf *buf)
{
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    struct myr_answer answer;
    myr_arena_init(&arena);
    myr_answer_init(&answer, &arena, "myriad.test", 1);
    myr_option_echo(&fit, values, operands, &answer);
    put_answer(&answer, buf);
    static const char *const without[] = {NULL, "", "gpus", "gpu tag", "free tag model", "tags"};
    for (size_t i = 0; i < MYR_ARRAY_COUNT(without); i++) {
        myr_buf_printf(buf, "%s: %s\n", without[i] ? without[i] : "-",
                       myr_option_again(&fit, values, operands, &fit, without[i], &answer));
    }
    myr_buf_printf(buf, "to another: %s\n",
                   myr_option_again(&fit, values, operands, &curve, NULL, &answer));
    for (size_t i = 0; i < MYR_ARRAY_COUNT(own_rows); i++) {
        myr_buf_printf(buf, "%s %s, ", own_rows[i].name,
                       myr_option_given(&fit, values, own_rows[i].name) ? "given" : "not");
    }
    assert_false(myr_option_given(&fit, values, "door"));
    myr_buf_puts(buf, "\n----\n");
}

static void a_question_is_told_as_kept(void **state)
{
    (void)state;
    struct own others = {.gpus = 9,
                         .free = 3,
                         .model = "it's",
                         .out = "a dir/x",
                         .none = "y",
                         .deep = true,
                         .colour = 0,
                         .shape = 1,
                         .tags = {.items = {"a", "b c"}, .count = 2}};
    struct own same = own_defaults;
    char model[] = "gpt3-175b"; /* typed: the same words elsewhere */
    struct myr_operands operands = {.items = {"x.yaml", "an other"}, .count = 2}, none = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    put_question(&own_defaults, &none, &buf);
    put_question(&others, &operands, &buf);
    same.model = model;
    put_question(&same, &none, &buf);
    assert_kept("option-question.txt", &buf);
}

static void commands_are_described_as_kept(void **state)
{
    (void)state;
    MYR_CLEANUP(myr_arena_done) struct myr_arena arena = {};
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    const struct myr_command *const all[] = {&fit, &curve, &plain};
    struct myr_answer answer;
    myr_arena_init(&arena);
    myr_answer_init(&answer, &arena, "myriad.test", 1);
    myr_answer_list(&answer, "commands");
    for (size_t i = 0; i < MYR_ARRAY_COUNT(all); i++) {
        myr_option_describe(all[i], &answer);
    }
    myr_answer_end(&answer);
    put_answer(&answer, &buf);
    assert_kept("option-commands.txt", &buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_is_the_kept_one),
        cmocka_unit_test(the_manual_is_the_kept_one),
        cmocka_unit_test(completion_is_the_kept_one),
        cmocka_unit_test(a_question_is_told_as_kept),
        cmocka_unit_test(commands_are_described_as_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
