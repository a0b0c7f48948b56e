/*
 * option_words: what a row of the table is called, where its value lies and what its default is.
 * All that show or read options ask here, so that they cannot disagree.
 */
#include "option_words.h"

#include <stdio.h>

bool option_names_word(const char *list, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = list; at && *at;) {
        size_t part = strcspn(at, " ");
        if (part == len && memcmp(at, word, len) == 0) {
            return true;
        }
        at += part + (at[part] == ' ');
    }
    return false;
}

uint32_t option_row_count(const struct myr_command *command)
{
    return command->option_count + (command->common ? command->common->count : 0);
}

/* Own rows first, then the common ones: the numbers go through both. */
const struct myr_option *option_row(const struct myr_command *command, uint32_t index)
{
    MYR_ASSERT(index < option_row_count(command));
    return index < command->option_count ? &command->options[index]
                                         : &command->common->rows[index - command->option_count];
}

/* Common rows lie in a struct of their own, which not every caller has. */
void *option_place(const struct myr_command *command, uint32_t index,
                   const struct myr_option_values *values)
{
    const struct myr_option *row = option_row(command, index);
    char *base = index < command->option_count ? values->own : values->common;
    return base ? base + row->at : NULL;
}

const void *option_seen(const struct myr_command *command, uint32_t index, const void *own,
                        const void *common)
{
    const struct myr_option *row = option_row(command, index);
    const char *base = index < command->option_count ? own : common;
    return base ? base + row->at : NULL;
}

/* Upper case, with '_' for what a shell takes for the end of a name. */
static void spell_variable(char *name)
{
    for (char *c = name; *c; c++) {
        if (*c == '-' || *c == ' ') {
            *c = '_';
        } else if (*c >= 'a' && *c <= 'z') {
            *c = (char)(*c - 'a' + 'A');
        }
    }
}

/* Also the name of a common row today: that one has no verb in it. */
void option_old_env_name(const struct myr_option *option, char ret[OPTION_NAME_MAX])
{
    int len = snprintf(ret, OPTION_NAME_MAX, "MYRIAD_%s", option->name);
    MYR_ASSERT(len > 0 && len < OPTION_NAME_MAX);
    spell_variable(ret);
}

/* The verb is part of the name: two verbs may have an option of one name. */
void option_env_name(const struct myr_command *command, uint32_t index, char ret[OPTION_NAME_MAX])
{
    const struct myr_option *row = option_row(command, index);
    if (index >= command->option_count) {
        option_old_env_name(row, ret);
        return;
    }
    /* Names are the program's own: one that does not fit is a mistake in a table. */
    int len = snprintf(ret, OPTION_NAME_MAX, "MYRIAD_%s_%s", command->name, row->name);
    MYR_ASSERT(len > 0 && len < OPTION_NAME_MAX);
    spell_variable(ret);
}

/* 0 in the table: no limit. */
uint64_t option_max(const struct myr_option *option)
{
    return option->max > 0 ? option->max : UINT64_MAX;
}

/* A row may name its own; else its type does. */
const char *option_placeholder(const struct myr_option *option)
{
    if (option->value && option->type != MYR_OPTION_FLAG) {
        return option->value;
    }
    switch (option->type) {
    case MYR_OPTION_FLAG:
        return NULL;
    case MYR_OPTION_U64:
        return "NUMBER";
    case MYR_OPTION_PATH:
        return "PATH";
    case MYR_OPTION_CHOICE:
        return "NAME";
    case MYR_OPTION_TEXT:
    case MYR_OPTION_LIST:
        break;
    }
    return "TEXT";
}

/* Read from the struct that every parse begins with: no second copy. */
void option_put_default(const struct myr_command *command, uint32_t index, struct myr_buf *buf)
{
    const struct myr_option *option = option_row(command, index);
    const void *common = command->common ? command->common->defaults : NULL;
    const void *place = option_seen(command, index, command->defaults, common);
    char number[32];
    if (!place) {
        return;
    }
    switch (option->type) {
    case MYR_OPTION_FLAG:
        myr_buf_puts(buf, *(const bool *)place ? "on" : "");
        return;
    case MYR_OPTION_U64: {
        uint64_t value = *(const uint64_t *)place;
        /* What nobody could give stands for "not given", which is no value to show. */
        if (value >= option->min && (option->max == 0 || value <= option->max)) {
            myr_buf_puts(buf, myr_u64_grouped(value, number));
        }
        return;
    }
    case MYR_OPTION_CHOICE:
        MYR_ASSERT(*(const uint32_t *)place < option->choice_count);
        myr_buf_puts(buf, option->choices[*(const uint32_t *)place]);
        return;
    case MYR_OPTION_TEXT:
    case MYR_OPTION_PATH: {
        const char *text = *(const char *const *)place;
        myr_buf_puts(buf, text ? text : "");
        return;
    }
    case MYR_OPTION_LIST: {
        const struct myr_option_list *list = place;
        for (uint32_t i = 0; i < list->count; i++) {
            myr_buf_puts(buf, i > 0 ? ", " : "");
            myr_buf_puts(buf, list->items[i]);
        }
        return;
    }
    }
}

void option_put_command(const struct myr_command *command, struct myr_buf *buf)
{
    myr_buf_puts(buf, OPTION_PROGRAM);
    if (command->name && command->name[0]) {
        myr_buf_putc(buf, ' ');
        myr_buf_puts(buf, command->name);
    }
}
