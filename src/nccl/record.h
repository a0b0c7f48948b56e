/*
 * record: events into the state of a communicator. No system calls but for the time, no locks, no
 * memory taken; any thread of NCCL's.
 */
#pragma once

#include "state.h"

/* What an operation says of itself. Strings may be NULL. */
struct nccl_begin {
    const char *kind, *type;
    uint64_t seq, count;
    uint32_t channels; /* of its kernel, that will tell when they are done */
    bool collective, captured;
};

void nccl_state_init(struct nccl_state *state, uint32_t version, uint32_t pid);
/* A free slot of that kind, or NULL: then the loss is counted. */
struct nccl_slot *nccl_take(struct nccl_state *state, enum nccl_kind kind, int64_t now_ns);
void nccl_begin(struct nccl_state *state, struct nccl_slot *op, const struct nccl_begin *begin);
/* A transfer or a channel of the operation 'parent', which may be any address. */
void nccl_attach(struct nccl_state *state, struct nccl_slot *slot, const void *parent);
/* NCCL is done with the handle. */
void nccl_end(struct nccl_state *state, struct nccl_slot *slot, int64_t now_ns);
/* The slot of ours at that address, or NULL. */
struct nccl_slot *nccl_slot_at(struct nccl_state *state, const void *address);
/* The state that a slot belongs to. */
struct nccl_state *nccl_state_of(struct nccl_slot *slot);
