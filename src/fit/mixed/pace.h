/* pace: how fast a pool's pipeline takes micro-batches, as a line under their times. Private. */
#pragma once

#include "mixed/partition.h"
#include "myriad/fit/pools.h"
#include "search/space.h"

/* The line of a way, and of its slowest stage what an exchange can hide behind; see pipe.c. */
void fit_pace_of(const struct myr_fit_case *it, const struct myr_layout *layout,
                 const struct fit_blocks *blocks, double hop_s, struct fit_way *ret,
                 struct fit_pipe *ret_pipe);
/* The same for stages that a shape counts by kind, nothing recomputed: less to add up. */
void fit_shape_pace(const struct myr_fit_case *it, const struct myr_layout *layout,
                    const struct fit_shape *shape, const struct fit_blocks *blocks,
                    struct fit_way *ret);
