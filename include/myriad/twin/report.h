/*
 * report: what a run came to, drawn on one page: GPUs in use, waits, failures, recovery times. The
 * options must have asked for samples.
 */
#pragma once

#include "myriad/twin/run.h"

enum { MYR_TWIN_SAMPLES = 400 };

void myr_twin_page(const struct myr_scenario *scenario, const struct myr_twin_result *result,
                   struct myr_buf *buf);
