/* Rows with offsets, common rows, sub-verbs, and the names of their variables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "myriad/text/option_echo.h"

struct own {
    uint64_t gpus;
    const char *model;
    bool deep;
};

struct common {
    uint64_t width;
    bool timing;
};

static void put_models(struct myr_buf *buf)
{
    myr_buf_put_lit(buf, "gpt3 llama");
}

static const struct own own_defaults = {.gpus = 8, .model = "gpt3"};
static const struct common common_defaults = {.width = 80};
static const struct myr_option own_rows[] = {
    {.name = "gpus",
     .letter = 'g',
     .type = MYR_OPTION_U64,
     .help = "How many",
     .at = offsetof(struct own, gpus),
     .min = 1,
     .max = 64},
    {.name = "model",
     .type = MYR_OPTION_TEXT,
     .help = "Which",
     .at = offsetof(struct own, model),
     .words = put_models},
    {.name = "deep", .type = MYR_OPTION_FLAG, .help = "Deeper", .at = offsetof(struct own, deep)},
};
static const struct myr_option common_rows[] = {
    {.name = "width",
     .type = MYR_OPTION_U64,
     .help = "Columns",
     .at = offsetof(struct common, width)},
    {.name = "timing",
     .type = MYR_OPTION_FLAG,
     .help = "Times",
     .at = offsetof(struct common, timing)},
};
static const struct myr_option_table common_table = {common_rows, MYR_ARRAY_COUNT(common_rows),
                                                     &common_defaults};
static const struct myr_command curve = {.name = "fit curve",
                                         .summary = "Follow it",
                                         .options = own_rows,
                                         .option_count = MYR_ARRAY_COUNT(own_rows),
                                         .defaults = &own_defaults,
                                         .values_bytes = sizeof(own_defaults),
                                         .common = &common_table};
static const struct myr_command *const subs[] = {&curve};
static const struct myr_command fit = {.name = "fit",
                                       .operands = "",
                                       .summary = "Fit it",
                                       .options = own_rows,
                                       .option_count = 1,
                                       .defaults = &own_defaults,
                                       .values_bytes = sizeof(own_defaults),
                                       .common = &common_table,
                                       .subcommands = subs,
                                       .subcommand_count = 1};

static const char *env_name, *env_value;

static const char *one_env(const char *name)
{
    return env_name && strcmp(name, env_name) == 0 ? env_value : NULL;
}

static int parse(const struct myr_command *command, int argc, const char *const *argv,
                 struct own *own, struct common *common, struct myr_err *err)
{
    struct myr_operands operands;
    struct myr_option_values places = {own, common};
    *common = common_defaults;
    return myr_option_parse(command, argc, argv, one_env, &places, &operands, err);
}

static void values_start_from_the_defaults_each_time(void **state)
{
    (void)state;
    struct own own;
    struct common common;
    struct myr_err err = {};
    const char *const words[] = {"-g", "9", "--deep", "--width=100", "--timing"};
    env_name = NULL;
    assert_int_equal(parse(&curve, 5, words, &own, &common, &err), MYR_OK);
    assert_int_equal(own.gpus, 9);
    assert_true(own.deep && common.timing);
    assert_int_equal(common.width, 100);
    assert_int_equal(parse(&curve, 0, words, &own, &common, &err), MYR_OK);
    assert_int_equal(own.gpus, 8);
    assert_string_equal(own.model, "gpt3");
    assert_false(own.deep || common.timing);
    assert_int_equal(common.width, 80);
}

static void an_option_of_another_command_is_refused(void **state)
{
    (void)state;
    struct own own;
    struct common common;
    struct myr_err err = {};
    const char *const words[] = {"--model", "gpt3"};
    env_name = NULL;
    assert_int_equal(parse(&fit, 2, words, &own, &common, &err), MYR_EINVAL);
    assert_string_equal(err.message, "unknown option '--model' for 'myriad fit'");
    assert_int_equal(parse(&curve, 2, words, &own, &common, &err), MYR_OK);
}

/* A variable may stand for all calls: then it is not refused. */
static void what_would_be_ignored_is_refused_where_it_was_typed(void **state)
{
    (void)state;
    struct own own;
    struct common common;
    struct myr_option rows[MYR_ARRAY_COUNT(own_rows)];
    struct myr_command command = curve;
    memcpy(rows, own_rows, sizeof(rows));
    rows[0].needs = "model deep";
    rows[1].needs = "deep";
    rows[1].against = "gpus";
    command.options = rows;
    const struct {
        const char *words[4], *says; /* NULL: all is well */
    } cases[] = {
        {{"--gpus=9"}, "--gpus says nothing without --model or --deep"},
        {{"--gpus=8"}, NULL}, /* as it is anyway */
        {{"--gpus=9", "--deep"}, NULL},
        {{"--gpus=9", "--no-deep"}, "--gpus says nothing without --model or --deep"},
        {{"--model=x"}, "--model says nothing without --deep"},
        {{"--model=x", "--deep"}, NULL},
        {{"--model=x", "--deep", "--gpus=9"}, "--model does not go with --gpus"},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_err err = {};
        int argc = 0;
        while (argc < 4 && cases[i].words[argc]) {
            argc++;
        }
        env_name = NULL;
        int rc = parse(&command, argc, cases[i].words, &own, &common, &err);
        assert_int_equal(rc, cases[i].says ? MYR_EINVAL : MYR_OK);
        assert_string_equal(err.message, cases[i].says ? cases[i].says : "");
    }
    struct myr_err err = {};
    const char *const words[] = {"--model=x", "--deep"};
    env_name = "MYRIAD_FIT_CURVE_GPUS";
    env_value = "9";
    assert_int_equal(parse(&command, 0, words, &own, &common, &err), MYR_OK);
    assert_int_equal(own.gpus, 9);
    /* But it counts for others that are typed. */
    assert_int_equal(parse(&command, 2, words, &own, &common, &err), MYR_EINVAL);
    assert_string_equal(err.message, "--model does not go with --gpus");
}

/* Rows that commands share cannot say it themselves; the common ones are among them. */
static void a_command_has_rules_for_rows_that_it_shares(void **state)
{
    (void)state;
    struct own own;
    struct common common;
    static const struct myr_option_rule rules[] = {
        {"model gpus", .needs = "deep"},
        {"gpus", .against = "model"},
        {"width timing", .alone = true},
    };
    struct myr_command command = curve;
    command.rules = rules;
    command.rule_count = MYR_ARRAY_COUNT(rules);
    command.operand_max = 1;
    const struct {
        const char *words[4], *says; /* NULL: all is well */
    } cases[] = {
        {{"--gpus=9"}, "--gpus says nothing without --deep"},
        {{"--model=x"}, "--model says nothing without --deep"},
        {{"--model=x", "--deep", "--gpus=9"}, "--gpus does not go with --model"},
        {{"--deep", "--gpus=9"}, NULL},
        {{"--width=90"}, NULL},
        {{"--width=90", "state"}, "--width does not go with 'state'"},
        {{"state", "--timing"}, "--timing does not go with 'state'"},
        {{"state"}, NULL},
    };
    for (size_t i = 0; i < MYR_ARRAY_COUNT(cases); i++) {
        struct myr_err err = {};
        int argc = 0;
        while (argc < 4 && cases[i].words[argc]) {
            argc++;
        }
        env_name = NULL;
        int rc = parse(&command, argc, cases[i].words, &own, &common, &err);
        assert_string_equal(err.message, cases[i].says ? cases[i].says : "");
        assert_int_equal(rc, cases[i].says ? MYR_EINVAL : MYR_OK);
    }
}

/* For what depends on a value, which a verb looks at itself. */
static void what_was_typed_is_told_from_variables_and_defaults(void **state)
{
    (void)state;
    struct own own;
    struct common common;
    struct myr_option_values values = {&own, &common};
    struct myr_operands operands;
    const char *const words[] = {"--deep", "--gpus=8"};
    env_name = "MYRIAD_FIT_CURVE_MODEL";
    env_value = "x";
    assert_int_equal(myr_option_parse(&curve, 2, words, one_env, &values, &operands, NULL), MYR_OK);
    assert_true(myr_option_typed(&curve, &own, &operands, "deep"));
    assert_false(myr_option_typed(&curve, &own, &operands, "gpus")); /* as it is anyway */
    assert_true(myr_option_given(&curve, &own, "model"));
    assert_false(myr_option_typed(&curve, &own, &operands, "model"));
    assert_false(myr_option_typed(&curve, &own, &operands, "width")); /* none of its own */
}

static void variables_bear_the_name_of_their_command(void **state)
{
    (void)state;
    struct own own;
    struct common common;
    struct myr_err err = {};
    env_name = "MYRIAD_FIT_CURVE_GPUS";
    env_value = "11";
    assert_int_equal(parse(&curve, 0, NULL, &own, &common, &err), MYR_OK);
    assert_int_equal(own.gpus, 11);
    assert_int_equal(parse(&fit, 0, NULL, &own, &common, &err), MYR_OK);
    assert_int_equal(own.gpus, 8); /* another command's */
    env_name = "MYRIAD_FIT_GPUS";
    assert_int_equal(parse(&fit, 0, NULL, &own, &common, &err), MYR_OK);
    assert_int_equal(own.gpus, 11);
    env_name = "MYRIAD_WIDTH";
    assert_int_equal(parse(&fit, 0, NULL, &own, &common, &err), MYR_OK);
    assert_int_equal(common.width, 11);
}

static void a_variable_of_the_old_name_is_refused_with_the_new_one(void **state)
{
    (void)state;
    struct own own;
    struct common common;
    struct myr_err err = {};
    const char *const words[] = {"--gpus", "9"};
    env_name = "MYRIAD_GPUS";
    env_value = "11";
    /* even where the command line overrides it: the next call would not */
    assert_int_equal(parse(&curve, 2, words, &own, &common, &err), MYR_EINVAL);
    assert_string_equal(err.message,
                        "'MYRIAD_GPUS' is not read any more; its name is 'MYRIAD_FIT_CURVE_GPUS' "
                        "now");
    env_value = "";
    assert_int_equal(parse(&curve, 2, words, &own, &common, &err), MYR_OK);
}

static void help_and_manual_name_subverbs_defaults_and_variables(void **state)
{
    (void)state;
    struct myr_buf text = {};
    myr_option_help(&fit, &text);
    assert_non_null(strstr(text.data, "  fit curve             Follow it\n"));
    assert_non_null(strstr(text.data, "[default: 8; MYRIAD_FIT_GPUS]"));
    assert_non_null(strstr(text.data, "[default: 80; MYRIAD_WIDTH]"));
    myr_buf_clear(&text);
    myr_option_man(&curve, &text);
    assert_non_null(strstr(text.data, "## myriad fit curve\n"));
    assert_non_null(
        strstr(text.data, "Default: gpt3. Environment: *MYRIAD\\_FIT\\_CURVE\\_MODEL*"));
    assert_non_null(strstr(text.data, "Environment: *MYRIAD\\_TIMING*"));
    myr_buf_done(&text);
}

static void completion_knows_subverbs_names_and_common_rows(void **state)
{
    (void)state;
    const struct myr_command place = {.name = "sched place", .summary = "Place"};
    const struct myr_command *const commands[] = {&fit, &curve, &place};
    struct myr_buf text = {};
    myr_option_completion(MYR_SHELL_BASH, "myriad", commands, 3, &text);
    assert_non_null(strstr(text.data, "    '') names='fit sched' ;;\n"));
    assert_non_null(strstr(text.data, "'fit curve') command='fit curve' ;;\n"));
    assert_non_null(strstr(text.data, "((COMP_CWORD == 2)) && names='curve'\n"));
    assert_non_null(strstr(text.data, "--model) COMPREPLY=($(compgen -W 'gpt3 llama' -- "));
    assert_non_null(strstr(text.data, "words='--help --gpus --width --timing --no-timing'\n"));
    myr_buf_clear(&text);
    myr_option_completion(MYR_SHELL_FISH, "myriad", commands, 3, &text);
    assert_non_null(strstr(text.data, "complete -c myriad -n '__fish_seen_subcommand_from fit; and "
                                      "not __fish_seen_subcommand_from curve' -l gpus -s g -x"));
    assert_non_null(strstr(text.data, "complete -c myriad -n '__fish_seen_subcommand_from fit; and "
                                      "__fish_seen_subcommand_from curve' -l model -x -a "
                                      "'gpt3 llama' -d 'Which'\n"));
    assert_non_null(strstr(text.data, "-a sched -d 'place'\n"));
    myr_buf_clear(&text);
    myr_option_completion(MYR_SHELL_ZSH, "myriad", commands, 3, &text);
    assert_non_null(strstr(text.data, "'--model[Which]:TEXT:(gpt3 llama)'"));
    assert_non_null(
        strstr(text.data, "        curve)\n            command=\"$command $words[2]\"\n"));
    myr_buf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_start_from_the_defaults_each_time),
        cmocka_unit_test(an_option_of_another_command_is_refused),
        cmocka_unit_test(what_would_be_ignored_is_refused_where_it_was_typed),
        cmocka_unit_test(a_command_has_rules_for_rows_that_it_shares),
        cmocka_unit_test(what_was_typed_is_told_from_variables_and_defaults),
        cmocka_unit_test(variables_bear_the_name_of_their_command),
        cmocka_unit_test(a_variable_of_the_old_name_is_refused_with_the_new_one),
        cmocka_unit_test(help_and_manual_name_subverbs_defaults_and_variables),
        cmocka_unit_test(completion_knows_subverbs_names_and_common_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
