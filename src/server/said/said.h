/*
 * said: what is asked of the interface, and what it says, as structs: said.rec lists them.
 */
#pragma once

#include "myriad/record.h"

#define MYR_FORM "myriad/record/struct.def"
#include "said/said.rec"

/* The answer of a call, as its route says that it is. */
void api_give(const struct myr_record *record, const void *self, struct myr_buf *ret);
/* The body of a request, by the record that its route takes. */
MYR_MUST_USE int api_take(struct myr_str body, const struct myr_record *record,
                          struct myr_arena *arena, void *ret, struct myr_err *err);
