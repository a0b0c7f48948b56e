/*
 * expr: whole-number arithmetic of the rules for port names: + - * / % ( ) == != < <= > >= &.
 *
 * '&' is "and"; comparisons give 1 or 0. Variables are single words whose values the caller has. A
 * division by zero, or a value beyond a thousand million, makes the whole expression have no value:
 * the rule then does not fit, which is an answer and no error.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "myriad/base.h"

struct expr_variable {
    const char *name;
    int64_t value; /* below 0: not known */
};

struct expr_scope {
    const struct expr_variable *items;
    uint32_t count;
};

/* False when the text has no value in this scope. */
bool expr_value(struct myr_str text, const struct expr_scope *scope, int64_t *ret);
/* Whether the text is an expression over these names: what is wrong, or NULL. */
const char *expr_fault(struct myr_str text, const struct expr_scope *scope);
