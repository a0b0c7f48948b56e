/* reading: one rule against one name, and what a cage and a lane are on a box. */
#pragma once

#include "myriad/site/port_names.h"

/* What is wrong with a pattern or an expression; NULL: nothing. */
const char *reading_pattern_fault(struct myr_str pattern);
const char *reading_expr_fault(struct myr_str expr);

/* The port's index, MYR_PORT_SPARE, or MYR_NONE where the rule does not read the name. */
uint32_t reading_by_rule(const struct myr_name_rule *rule, const struct myr_box *box,
                         struct myr_str name);
/* Whether the rule is about boxes of this kind. */
bool reading_rule_fits(const struct myr_name_rule *rule, const struct myr_box *box);
