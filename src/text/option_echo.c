/* option_echo: a question as it was understood, for its answer. */
#include <stdio.h>

#include "myriad/text/option_echo.h"
#include "option_words.h"

/* "dry_run" for "dry-run", as keys are spelt. */
static void spell_key(const struct myr_option *option, char ret[OPTION_NAME_MAX])
{
    snprintf(ret, OPTION_NAME_MAX, "%s", option->name);
    for (char *c = ret; *c; c++) {
        *c = *c == '-' ? '_' : *c;
    }
}

static void echo_list(struct myr_answer *answer, const char *key,
                      const struct myr_option_list *list)
{
    myr_answer_list(answer, key);
    for (uint32_t i = 0; i < list->count; i++) {
        myr_answer_text(answer, NULL, list->items[i]);
    }
    myr_answer_end(answer);
}

/* Every row, given or not: the answer says what was computed with, not what was typed. */
static void echo_row(struct myr_answer *answer, const struct myr_option *option, const void *place)
{
    char key[OPTION_NAME_MAX];
    spell_key(option, key);
    switch (option->type) {
    case MYR_OPTION_FLAG:
        myr_answer_bool(answer, key, *(const bool *)place);
        return;
    case MYR_OPTION_U64: {
        uint64_t value = *(const uint64_t *)place;
        if (value < option->min || value > option_max(option)) {
            myr_answer_null(answer, key); /* what nobody could give stands for "not given" */
        } else {
            myr_answer_u64(answer, key, value);
        }
        return;
    }
    case MYR_OPTION_CHOICE:
        MYR_ASSERT(*(const uint32_t *)place < option->choice_count);
        myr_answer_text(answer, key, option->choices[*(const uint32_t *)place]);
        return;
    case MYR_OPTION_TEXT:
    case MYR_OPTION_PATH:
        myr_answer_text(answer, key, *(const char *const *)place);
        return;
    case MYR_OPTION_LIST:
        echo_list(answer, key, place);
        return;
    }
}

/* Only the command's own options: the common ones say how to show an answer, not what it is. */
void myr_option_echo(const struct myr_command *command, const void *own,
                     const struct myr_operands *operands, struct myr_answer *answer)
{
    myr_answer_object(answer, "question");
    myr_answer_text(answer, "verb", command->name);
    myr_answer_list(answer, "operands");
    for (uint32_t i = 0; i < operands->count; i++) {
        myr_answer_text(answer, NULL, operands->items[i]);
    }
    myr_answer_end(answer);
    myr_answer_object(answer, "options");
    for (uint32_t i = 0; i < command->option_count; i++) {
        echo_row(answer, &command->options[i], option_seen(command, i, own, NULL));
    }
    myr_answer_end(answer);
    myr_answer_end(answer);
}

/* Among its own; the common ones are not carried over to another command. */
static bool has_option(const struct myr_command *command, const char *name)
{
    for (uint32_t i = 0; i < command->option_count; i++) {
        if (strcmp(command->options[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

bool myr_option_may_read(const struct myr_option *option)
{
    return (option->type == MYR_OPTION_TEXT || option->type == MYR_OPTION_PATH ||
            option->type == MYR_OPTION_LIST) &&
           !option->writes;
}

/* "[PLAN] [PATH]", "DESIGN FILE...": the last word stands for all that follow too. */
bool myr_operand_may_read(const struct myr_command *command, uint32_t index)
{
    static const char names[] = "FAULT FORMAT ID NAME NAMES NODE PATH SHELL VERB WORD";
    const char *word = command->operands ? command->operands : "";
    for (const char *blank = strchr(word, ' '); blank && index > 0; blank = strchr(word, ' ')) {
        word = blank + 1;
        index--;
    }
    char bare[OPTION_NAME_MAX];
    word += strspn(word, "[");
    snprintf(bare, sizeof(bare), "%.*s", (int)strcspn(word, "]. "), word);
    return !option_names_word(names, bare);
}

/* A name that begins like an option has no spelling in front of further options. */
static void again_operand(const struct myr_answer *answer, const struct myr_command *to,
                          uint32_t index, const char *text, struct myr_buf *buf)
{
    const char *word = myr_operand_may_read(to, index) ? myr_answer_input(answer, text)
                       : text[0] == '-'                ? MYR_ANSWER_GONE
                                                       : myr_answer_word(answer, text);
    myr_buf_printf(buf, " %s", word);
}

static void again_text(const struct myr_answer *answer, const struct myr_option *option,
                       const char *value, struct myr_buf *buf)
{
    bool file = option->type == MYR_OPTION_PATH || strcmp(value, "-") == 0 || value[0] == '/';
    const char *word = file && myr_option_may_read(option) ? myr_answer_input(answer, value)
                                                           : myr_answer_word(answer, value);
    /* Of a text nobody knows here whether it is a file: behind the sign it can begin like this. */
    myr_buf_printf(buf, word[0] == '-' ? " --%s=%s" : " --%s %s", option->name, word);
}

/* The row as it would be typed, where it is not as it is when nobody types it. */
static void again_row(const struct myr_answer *answer, const struct myr_option *option,
                      const void *place, const void *usual, struct myr_buf *buf)
{
    switch (option->type) {
    case MYR_OPTION_FLAG:
        if (*(const bool *)place != *(const bool *)usual) {
            myr_buf_printf(buf, " --%s%s", *(const bool *)place ? "" : "no-", option->name);
        }
        return;
    case MYR_OPTION_U64:
        if (*(const uint64_t *)place != *(const uint64_t *)usual) {
            myr_buf_printf(buf, " --%s %llu", option->name,
                           (unsigned long long)*(const uint64_t *)place);
        }
        return;
    case MYR_OPTION_CHOICE:
        if (*(const uint32_t *)place != *(const uint32_t *)usual) {
            again_text(answer, option, option->choices[*(const uint32_t *)place], buf);
        }
        return;
    case MYR_OPTION_TEXT:
    case MYR_OPTION_PATH: {
        /* A text that is taken back to NULL has no spelling on a command line. */
        const char *given = *(const char *const *)place, *before = *(const char *const *)usual;
        if (given && (!before || strcmp(given, before) != 0)) {
            again_text(answer, option, given, buf);
        }
        return;
    }
    case MYR_OPTION_LIST: {
        const struct myr_option_list *list = place;
        for (uint32_t i = 0; i < list->count; i++) {
            again_text(answer, option, list->items[i], buf);
        }
        return;
    }
    }
}

/*
 * Words to paste that put the same question to 'to', with what was given and without the options
 * that 'without' names.
 */
const char *myr_option_again(const struct myr_command *command, const void *own,
                             const struct myr_operands *operands, const struct myr_command *to,
                             const char *without, struct myr_answer *answer)
{
    MYR_CLEANUP(myr_buf_done) struct myr_buf buf = {};
    option_put_command(to, &buf);
    for (uint32_t i = 0; i < operands->count; i++) {
        again_operand(answer, to, i, operands->items[i], &buf);
    }
    for (uint32_t i = 0; i < command->option_count; i++) {
        const struct myr_option *option = &command->options[i];
        /* The other command may not have the option, or the caller sets it itself. */
        if (has_option(to, option->name) && !option_names_word(without, option->name)) {
            /* What a row has when nobody says anything: only what differs is typed again. */
            const void *usual = option_seen(command, i, command->defaults, NULL);
            again_row(answer, option, option_seen(command, i, own, NULL), usual, &buf);
        }
    }
    return myr_arena_strndup(answer->arena, buf.data, buf.len);
}

/* By comparing with the default: a number typed as its default counts as not given. */
bool myr_option_given(const struct myr_command *command, const void *own, const char *name)
{
    for (uint32_t i = 0; i < command->option_count; i++) {
        const struct myr_option *option = &command->options[i];
        const void *a = option_seen(command, i, own, NULL);
        const void *b = option_seen(command, i, command->defaults, NULL);
        if (strcmp(option->name, name) != 0) {
            continue;
        }
        switch (option->type) {
        case MYR_OPTION_FLAG:
            return *(const bool *)a != *(const bool *)b;
        case MYR_OPTION_U64:
            return *(const uint64_t *)a != *(const uint64_t *)b;
        case MYR_OPTION_CHOICE:
            return *(const uint32_t *)a != *(const uint32_t *)b;
        case MYR_OPTION_TEXT:
        case MYR_OPTION_PATH: /* a text that was typed lies elsewhere, even when it is the same */
            return *(const char *const *)a != *(const char *const *)b;
        case MYR_OPTION_LIST:
            return ((const struct myr_option_list *)a)->count > 0;
        }
    }
    return false;
}

bool myr_option_typed(const struct myr_command *command, const void *own,
                      const struct myr_operands *operands, const char *name)
{
    for (uint32_t i = 0; i < command->option_count; i++) {
        if (strcmp(command->options[i].name, name) == 0) {
            return operands->typed >> i & 1 && myr_option_given(command, own, name);
        }
    }
    return false;
}

/* What --help says of a row, for programs. */
static void describe_row(const struct myr_command *command, uint32_t index,
                         struct myr_answer *answer)
{
    /* In the order of enum myr_option_type. */
    static const char *const types[] = {"flag", "text", "path", "number", "choice", "list"};
    const struct myr_option *option = option_row(command, index);
    MYR_CLEANUP(myr_buf_done) struct myr_buf value = {};
    char env[OPTION_NAME_MAX];
    char letter[2] = {option->letter, '\0'};
    option_env_name(command, index, env);
    option_put_default(command, index, &value);
    myr_answer_object(answer, NULL);
    myr_answer_text(answer, "name", option->name);
    myr_answer_text(answer, "letter", option->letter ? letter : NULL);
    myr_answer_text(answer, "type", types[option->type]);
    myr_answer_text(answer, "placeholder", option_placeholder(option));
    myr_answer_text(answer, "help", option->help);
    myr_answer_text(answer, "variable", env);
    myr_answer_text(answer, "default", value.len > 0 ? value.data : NULL);
    myr_answer_bool(answer, "common", index >= command->option_count);
    myr_answer_list(answer, "choices");
    for (uint32_t i = 0; option->type == MYR_OPTION_CHOICE && i < option->choice_count; i++) {
        myr_answer_text(answer, NULL, option->choices[i]);
    }
    myr_answer_end(answer);
    myr_answer_end(answer);
}

void myr_option_describe(const struct myr_command *command, struct myr_answer *answer)
{
    myr_answer_object(answer, NULL);
    myr_answer_text(answer, "name", command->name);
    myr_answer_text(answer, "operands", command->operands);
    myr_answer_text(answer, "summary", command->summary);
    myr_answer_text(answer, "example", command->example);
    /* Only commands that give answers have the common options. */
    myr_answer_bool(answer, "answers", command->common != NULL);
    myr_answer_list(answer, "options");
    for (uint32_t i = 0; i < option_row_count(command); i++) {
        describe_row(command, i, answer);
    }
    myr_answer_end(answer);
    myr_answer_end(answer);
}
