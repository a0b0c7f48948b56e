/* What the parts of the report share. */
#pragma once

#include "engine/internal.h"
#include "myriad/sim/report.h"
#include "myriad/sim/times.h"
#include "myriad/text/svg.h"

/* The number of a GPU, or "storage-N". */
void report_put_rank(struct myr_buf *buf, uint32_t rank);
/* Picoseconds as microseconds, exactly. */
void report_put_us(struct myr_buf *buf, myr_ps ps);

/* A time for people, in the unit of its size: "812 ns", "1.947 us", "8.121 ms". */
void report_put_time(struct myr_buf *buf, myr_ps ps);

/* Completion times of a job's flows, as an element of a page. */
void report_draw_times(const struct myr_times *times, struct myr_buf *buf);
