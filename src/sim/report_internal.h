/* What the parts of the report share. */
#pragma once

#include "myriad/sim/report.h"
#include "myriad/text/svg.h"
#include "sim_internal.h"

double report_us(myr_ps ps);
void report_put_rank(struct myr_buf *buf, uint32_t rank);

/* Completion times of a job's flows (or transfers), sorted; the caller frees them. */
uint32_t report_times(const struct myr_report *report, uint32_t job, myr_ps **ret);

/* Drawings as elements of a page. */
void report_draw_heatmap(const struct myr_report *report, struct myr_buf *buf);
void report_draw_times(const struct myr_report *report, uint32_t job, struct myr_buf *buf);
