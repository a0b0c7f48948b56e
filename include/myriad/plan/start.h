/*
 * start: a spec to begin with, from as little as a number of GPUs.
 *
 * The text is a whole spec with comments; planning it is what `myriad plan --gpus` does, so that
 * who writes it to a file starts from the plan that was shown. What nobody said is listed.
 */
#pragma once

#include "myriad/base.h"
#include "myriad/model.h"

struct myr_plan_start {
    uint64_t gpus;
    const char *server; /* NULL: the default */
    uint32_t fabric;    /* enum myr_fabric */
};

struct myr_start_text {
    struct myr_buf spec;
    MYR_VEC(const char *) assumed; /* in the arena */
    size_t network;                /* of these the one about the compute network */
};

MYR_MUST_USE int myr_start_write(struct myr_arena *arena, const struct myr_catalog *catalog,
                                 const struct myr_plan_start *start, struct myr_start_text *ret,
                                 struct myr_err *err);
/* Once it is planned: what was assumed of the compute network is what was built. */
void myr_start_built(const struct myr_design *design, struct myr_start_text *text);
void myr_start_done(struct myr_start_text *text);
