/*
 * design_file: a whole design on disk, in memory and as JSON.
 */
#pragma once

#include "myriad/model/design.h"

MYR_MUST_USE int myr_design_write(const struct myr_design *design, const char *path,
                                  struct myr_err *err);
/* The same into a file that is open; its commit tells whether all went well. */
void myr_design_put(const struct myr_design *design, struct myr_outfile *file);
/* "-" is standard input. */
MYR_MUST_USE int myr_design_open(struct myr_design *ret, const char *path, struct myr_err *err);
void myr_design_close(struct myr_design *design);
/* Checks and uses a file image in memory, which must stay and be 16-byte aligned. */
MYR_MUST_USE int myr_design_parse(struct myr_design *ret, void *image, size_t bytes,
                                  const char *name, struct myr_err *err);
/* Every index in range, every reference mutual. 'name' is for the message. */
MYR_MUST_USE int myr_design_check(const struct myr_design *design, const char *name,
                                  struct myr_err *err);

/* The whole design as JSON, written piece by piece. */
void myr_design_put_json(const struct myr_design *design, struct myr_outfile *file);
