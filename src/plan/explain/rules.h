/* rules: the rules of numbers that are counted rather than computed. Private to the planner. */
#pragma once

#include "myriad/base.h"

/*
 * '*' stands for any one word of a path, '%' for a name, which may have dots. 'inputs' are paths of
 * the same tree, by spaces; a leading dot is the object that the number is in.
 */
struct explain_rule {
    const char *path, *rule, *inputs;
};

/* NULL: no row fits. */
const struct explain_rule *explain_rule_of(const char *path);
/* A sum; the units of other numbers are in their paths. */
bool explain_rule_is_money(const struct explain_rule *rule);
