/*
 * state: the file of one communicator of one process, as the plugin keeps it in mapped memory.
 *
 * Events are taken from a fixed pool and given back; a handle that NCCL holds is the address of
 * one. An operation counts what it waits for (itself, its transfers, the channels of its kernel)
 * and is over when nothing is left.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "myriad/nccl.h"

#define NCCL_MAGIC       0x316c63636e72796dull /* "myrnccl1" */
#define NCCL_EVENTS      1024
#define NCCL_ENDED       256 /* operations that are kept after they ended */
#define NCCL_STATE_BYTES sizeof(struct nccl_state)

enum nccl_kind { NCCL_FREE, NCCL_OP, NCCL_TRANSFER, NCCL_CHANNEL, NCCL_API, NCCL_OTHER };

struct nccl_op {
    uint64_t number, seq, count;
    int64_t begun_ns, ended_ns;
    char kind[MYR_NCCL_TEXT_MAX], type[MYR_NCCL_TEXT_MAX];
};

struct nccl_slot {
    _Atomic uint32_t kind;
    uint32_t index;
    _Atomic uint32_t next;    /* free one after this one, plus 1 */
    _Atomic int32_t waits;    /* of an operation: for how much it has to wait still, */
    _Atomic int32_t channels; /* and how many channels are among that */
    uint32_t parent;          /* of a transfer or channel: its operation, plus 1 */
    uint32_t parent_generation;
    _Atomic uint32_t generation;
    int32_t peer;
    uint32_t captured; /* of an API call: into a graph */
    int64_t begun_ns;
    struct nccl_op op;
    void *chained; /* the second profiler's handle; of this process alone */
};

struct nccl_peer {
    _Atomic int32_t rank; /* plus 1; 0: free */
    _Atomic uint64_t transfers;
    _Atomic int64_t total_ns, longest_ns;
};

struct nccl_state {
    _Atomic uint64_t magic;
    uint32_t bytes, version, pid;
    int32_t rank, ranks, nodes;
    _Atomic uint64_t comm;
    char name[MYR_NCCL_TEXT_MAX];
    _Atomic uint64_t begun, ended, lost;
    _Atomic uint32_t channels_seen; /* kernels tell of themselves: they can be waited for */
    _Atomic uint64_t free;          /* first free slot plus 1; a count above, against reuse */
    _Atomic uint64_t ended_next;
    struct nccl_op last;
    struct nccl_op ended_ops[NCCL_ENDED];
    struct nccl_peer peers[MYR_NCCL_PEERS_MAX];
    struct nccl_slot slots[NCCL_EVENTS];
    void *own; /* the plugin's, in its process */
};
