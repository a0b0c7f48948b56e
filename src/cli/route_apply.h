/* 'route apply' and 'route --tables': what the user sees of site/apply.h. */
#pragma once

#include "fabric_args.h"
#include "myriad/site.h"

struct route_apply {
    uint32_t target, hash;
    struct myr_apply_question question;
    const char *tables;
};

MYR_MUST_USE int route_apply(struct myr_fabric_case *input, const struct route_apply *wanted,
                             enum myr_format format, struct myr_buf *buf, struct myr_err *err);
MYR_MUST_USE int route_tables(struct myr_fabric_case *input, const struct route_apply *wanted,
                              enum myr_format format, struct myr_buf *buf, struct myr_err *err);
