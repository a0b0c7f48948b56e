/*
 * order: an incarnation that is to run here, as it lies on disk, and how one ended.
 */
#pragma once

#include "disk/files.h"

#define AGENT_RANKS_MAX 64 /* a node's: a bit each in the mask of GPUs */

struct order {
    uint64_t job, gpus;
    uint32_t epoch, first_rank, world, node_rank, node_count, lease_s;
    uint32_t array_index; /* and 1; 0: of no array */
    struct myr_str master, user, boot, tag, socket, state, spec;
};

void order_write(const struct order *order, struct myr_buf *buf);
/* Points into 'text'. 'file' is the name for messages. */
MYR_MUST_USE int order_read(const char *file, struct myr_str text, struct order *ret,
                            struct myr_err *err);
uint32_t order_ranks(const struct order *order);

enum ending_kind {
    ENDING_EXIT,    /* by themselves: code and signal say how */
    ENDING_START,   /* they never ran; the line says why */
    ENDING_STOPPED, /* by an order, or because the lease ran out */
    ENDING_KINDS,
};

struct ending {
    enum ending_kind kind;
    uint32_t rank, code, signal;
    struct myr_str line;
};

void ending_write(const struct ending *ending, struct myr_buf *buf);
MYR_MUST_USE int ending_read(const char *file, struct myr_str text, struct ending *ret,
                             struct myr_err *err);
