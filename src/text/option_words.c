#include "option_words.h"

#include <stdio.h>

void option_env_name(const struct myr_option *option, char ret[OPTION_NAME_MAX])
{
    int len = snprintf(ret, OPTION_NAME_MAX, "MYRIAD_%s", option->name);
    MYR_ASSERT(len > 0 && len < OPTION_NAME_MAX);
    for (char *c = ret; *c; c++) {
        if (*c == '-') {
            *c = '_';
        } else if (*c >= 'a' && *c <= 'z') {
            *c = (char)(*c - 'a' + 'A');
        }
    }
}

uint64_t option_max(const struct myr_option *option)
{
    return option->max > 0 ? option->max : UINT64_MAX;
}

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

/* Read from the target, which holds the default until something is parsed: no second copy. */
void option_put_default(const struct myr_option *option, struct myr_buf *buf)
{
    char number[32];
    if (!option->target) {
        return;
    }
    switch (option->type) {
    case MYR_OPTION_FLAG:
        myr_buf_puts(buf, *(const bool *)option->target ? "on" : "");
        return;
    case MYR_OPTION_U64: {
        uint64_t value = *(const uint64_t *)option->target;
        /* What nobody could give stands for "not given", which is no value to show. */
        if (value >= option->min && (option->max == 0 || value <= option->max)) {
            myr_buf_puts(buf, myr_u64_grouped(value, number));
        }
        return;
    }
    case MYR_OPTION_CHOICE:
        MYR_ASSERT(*(const uint32_t *)option->target < option->choice_count);
        myr_buf_puts(buf, option->choices[*(const uint32_t *)option->target]);
        return;
    case MYR_OPTION_TEXT:
    case MYR_OPTION_PATH: {
        const char *text = *(const char *const *)option->target;
        myr_buf_puts(buf, text ? text : "");
        return;
    }
    case MYR_OPTION_LIST: {
        const struct myr_option_list *list = option->target;
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
