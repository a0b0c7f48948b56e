#include "cost/dates.h"

#include <string.h>

/* Of the C locale, whatever the user's is. */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

double fit_release_order(struct myr_str version)
{
    double value = 0, order = 1e9; /* no release named: the latest */
    for (size_t i = 0; i < version.len; i++) {
        if (!is_digit(version.data[i]) || (i > 0 && is_digit(version.data[i - 1]))) {
            continue;
        }
        uint64_t part = 0;
        for (size_t at = i; at < version.len && is_digit(version.data[at]) && part < 100000; at++) {
            part = 10 * part + (uint64_t)(version.data[at] - '0');
        }
        /*
         * A number that is not joined to the one before begins a new release: the last one counts.
         */
        bool joined = i > 1 && is_digit(version.data[i - 2]) &&
                      (version.data[i - 1] == '.' || version.data[i - 1] == '-');
        if (!joined) {
            value = (double)part;
            order = 1;
        } else if (part < 100) {
            order /= 100;
            value += (double)part * order;
        }
    }
    return order > 1 ? order : value;
}

/* Four digits that no digit stands before; more may follow, as in 202506. */
uint32_t fit_word_year(struct myr_str text)
{
    for (size_t i = 0; i + 4 <= text.len; i++) {
        uint64_t year;
        bool starts = i == 0 || text.data[i - 1] < '0' || text.data[i - 1] > '9';
        if (starts && myr_str_to_u64((struct myr_str){text.data + i, 4}, &year) && year >= 2000 &&
            year < 2100) {
            return (uint32_t)year;
        }
    }
    return 0;
}

/* Six digits, or four and two, with no further digit on either side. */
uint32_t fit_word_month(struct myr_str text)
{
    for (size_t i = 0; i + 6 <= text.len; i++) {
        /* A dash or a point may stand between the two. */
        uint64_t year, month;
        size_t gap = text.data[i + 4] == '-' || text.data[i + 4] == '.';
        size_t end = i + 6 + gap;
        bool starts = i == 0 || text.data[i - 1] < '0' || text.data[i - 1] > '9';
        bool ends =
            end <= text.len && (end == text.len || text.data[end] < '0' || text.data[end] > '9');
        if (starts && ends && myr_str_to_u64((struct myr_str){text.data + i, 4}, &year) &&
            myr_str_to_u64((struct myr_str){text.data + i + 4 + gap, 2}, &month) && year >= 2000 &&
            year < 2100 && month >= 1 && month <= 12) {
            return (uint32_t)(100 * year + month);
        }
    }
    return 0;
}

const struct myr_stack *fit_stack_then(const struct myr_profiles *profiles,
                                       const struct myr_stack *stack, uint32_t month)
{
    for (uint32_t i = 0; i < profiles->stack_count; i++) {
        const struct myr_stack *other = &profiles->stacks[i];
        bool line = strcmp(other->line, stack->line) == 0;
        bool back = stack->since > month && other->order < stack->order;
        bool on = other->since && other->since <= month && other->order > stack->order;
        stack = line && (back || on) ? other : stack;
    }
    return stack;
}

const struct myr_stack *fit_stack_dated(const struct myr_profiles *profiles,
                                        const struct myr_stack *stack, struct myr_str name)
{
    uint32_t month = fit_word_month(name), year = fit_word_year(name);
    month = month ? month : 100 * year + 1;
    return year ? fit_stack_then(profiles, stack, month) : stack;
}

bool myr_stack_undated(const struct myr_profiles *profiles, const struct myr_stack *stack)
{
    for (uint32_t i = 0; i < profiles->stack_count; i++) {
        const struct myr_stack *other = &profiles->stacks[i];
        if (other->since && strcmp(other->line, stack->line) == 0) {
            return strcmp(stack->name, stack->line) == 0;
        }
    }
    return false;
}
