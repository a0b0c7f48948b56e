/*
 * reduce: values of several members into one, over a tree that depends on their number alone: of n
 * inputs the first half is the largest power of two below n. So the bits of the result do not
 * depend on who reduces, where a segment begins, or how long it is.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "myriad/ccl.h"

/* Bytes of one value; 0 when there is no such type. */
size_t ccl_type_bytes(enum myr_ccl_type type);
bool ccl_op_fits(enum myr_ccl_type type, enum myr_ccl_op op);

/* 'count' values from 'offset' (in values) of each of the inputs, into 'out' from its beginning. */
struct ccl_reduction {
    enum myr_ccl_type type;
    enum myr_ccl_op op;
    const void *const *inputs;
    uint32_t input_count;
    size_t offset, count;
};

void ccl_reduce(const struct ccl_reduction *reduction, void *out);
