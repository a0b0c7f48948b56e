/* --report, --heatmap and --fct: files about a run. */
#pragma once

#include "sim_print.h"

struct sim_report_paths {
    const char *report, *heatmap, *fct; /* NULL: not wanted */
    const char *policy;
};

MYR_MUST_USE int sim_report_write(const struct sim_run *run, const struct sim_report_paths *paths,
                                  struct myr_err *err);
