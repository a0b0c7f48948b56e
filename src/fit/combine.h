/* combine: from blocks to a step. Private to the module. */
#pragma once

#include "block.h"

/* Both passes of one micro-batch through a stage. */
void fit_stage_of(const struct myr_fit_case *it, const struct myr_layout *layout,
                  const struct fit_blocks *blocks, uint32_t stage, struct fit_layer *ret);
/* The step, without the rates that only people read. */
void fit_combine(const struct myr_fit_case *it, const struct myr_layout *layout,
                 const struct fit_blocks *blocks, struct myr_fit_cost *ret);
void fit_rates(const struct myr_fit_case *it, const struct myr_layout *layout,
               struct myr_fit_cost *cost);
