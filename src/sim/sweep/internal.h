/* What the files of a sweep share. */
#pragma once

#include "myriad/sim/sweep.h"

/* The rows of a point that has been played, as lines of the journal. */
void sweep_put_answer(struct myr_buf *buf, uint32_t point, const struct myr_sim_answer *answer);
/* The one row of a point that could not be. */
void sweep_put_failure(struct myr_buf *buf, uint32_t point, const char *reason);

/* The first line of a journal. */
void sweep_put_title(struct myr_buf *buf, const struct myr_sweep *sweep, const char *version);

/* The result: settings and cells of all rows. */
void sweep_put_result(struct myr_buf *buf, const struct myr_sweep *sweep,
                      const struct myr_sweep_row *rows, uint32_t count);
