/*
 * grid: the two mixed-radix grids of a layout, as digits with strides. Private.
 *
 * A digit is one axis; a rank is the sum of digit times stride. Splitting a digit in two (HSDP cuts
 * the data-parallel axis) gives two digits, so every group is a choice of digits.
 */
#pragma once

#include "myriad/work/layout.h"

/* Does the expert grid give every rank the same stage as the dense one? */
bool myr_work_grid_stages_align(const struct myr_layout *layout);
/* Can the dp-cp digits be split at the layout's shard size? */
bool myr_work_grid_shards_align(const struct myr_layout *layout);
