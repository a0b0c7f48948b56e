/* The part of 'route' that asks what is left when something dies. */
#pragma once

#include "fabric_args.h"

struct repair_args {
    bool failover, all, degraded;
    const char *link, *device, *blast;
};

bool repair_wanted(const struct repair_args *args);

/* 'balance' says how the flows, if there are any, go before the failure. */
MYR_MUST_USE int repair_report(struct myr_fabric_case *input, const struct repair_args *args,
                               const struct myr_balance_options *balance, enum myr_format format,
                               struct myr_buf *buf, struct myr_err *err);
