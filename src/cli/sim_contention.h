/* `myriad sim contention`. */
#pragma once

#include "cli.h"
#include "myriad/sim.h"

/* "DIR/contention.json" for "DIR/design.myr". */
MYR_MUST_USE int sim_contention_path(const char *design, char *ret, size_t size,
                                     struct myr_err *err);

/* Computes the table, writes it to 'path', and puts what the user sees into 'buf'. */
MYR_MUST_USE int sim_contention_make(struct myr_graph *graph,
                                     const struct myr_balance_options *balance, const char *path,
                                     uint32_t format, struct myr_buf *buf, struct myr_err *err);
