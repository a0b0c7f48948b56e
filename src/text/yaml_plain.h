/* Which text may stand in YAML without quotes. */
#pragma once

#include <stdbool.h>

#include "myriad/base.h"

bool is_plain_yaml(struct myr_str text);
