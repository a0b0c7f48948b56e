/*
 * inventory: what a node has. Collected by a process of its own, which ends: the libraries that
 * know about hardware are large, and the agent is not.
 */
#pragma once

#include "myriad/text/answer.h"
#include "myriad/wire/message.h"

#define INVENTORY_BYTES_MAX (60U << 10)

/* Of 'myriad-agent inventory': fills the answer with what is found here. */
void inventory_collect(struct myr_answer *answer);
/* Made-up GPUs in the place of those found. */
struct pretended {
    uint64_t gpus;
    char gpu_kind[64], serial[64];
    bool broken; /* tests fail */
};
MYR_MUST_USE int inventory_pretend(const char *path, struct pretended *ret, struct myr_err *err);
/* What such an answer said, for the message; texts lie in the arena. */
MYR_MUST_USE int inventory_read(struct myr_arena *arena, struct myr_str json,
                                struct myr_wire_inventory *ret, struct myr_err *err);
