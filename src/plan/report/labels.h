/* Labels of cables as sheets to print. */
#pragma once

#include "myriad/plan/report.h"

/* Which: all, a network, what stands in a rack, or one device. MYR_NONE: not by that. */
struct report_labels {
    bool all;
    uint32_t net, rack, device;
    uint64_t count; /* labels that this makes */
};

/* 'where' is "all", or the name of a network, rack or device. */
MYR_MUST_USE int report_labels_choose(const struct myr_design *design, const char *where,
                                      struct report_labels *ret, struct myr_err *err);
void report_labels_put(const struct myr_design *design, const struct myr_plan_about *about,
                       const struct report_labels *which, struct myr_buf *buf);
