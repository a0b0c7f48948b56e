/* 'route apply' and 'route --tables': planned paths into a fabric, and a fabric's tables back. */
#pragma once

#include "fabric_args.h"

enum route_target { ROUTE_TARGET_OPENSM, ROUTE_TARGET_ROCE, ROUTE_TARGET_COUNT };

extern const char *const route_target_names[ROUTE_TARGET_COUNT];

struct route_apply {
    uint32_t target, hash;
    bool keep_static; /* only the per-destination paths: no flow is laid over them */
    uint64_t seed;
    const char *out, *seeds, *order, *binding, *tables;
};

/* Writes the file and puts what became of the flows into 'buf'. */
MYR_MUST_USE int route_apply(struct fabric_input *input, const struct route_apply *wanted,
                             enum myr_format format, struct myr_buf *buf, struct myr_err *err);
/* The load that the flows put on the links by the tables of a running subnet. */
MYR_MUST_USE int route_tables(struct fabric_input *input, const struct route_apply *wanted,
                              enum myr_format format, struct myr_buf *buf, struct myr_err *err);
