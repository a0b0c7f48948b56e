/*
 * nccl: what a rank's NCCL is doing, while it does it.
 *
 * A profiler plugin for NCCL (libnccl-profiler-myriad.so, versions 1 to 5 of its interface) keeps
 * one small file for each communicator of a process in the folder MYRIAD_NCCL_DIR: which operations
 * are open and since when, which have ended lately, how long transfers to each peer took. It writes
 * into mapped memory and makes no call into the system for an event; its memory is fixed, and what
 * finds no room in it is counted. Readers look at the file at any time, also after a process died.
 *
 *   state    one file, read and held to be damaged until proved otherwise
 *   verdict  from the states of a communicator's ranks: who keeps the others waiting
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "myriad/base/err.h"

#define MYR_NCCL_TEXT_MAX 24

struct myr_nccl_op {
    uint64_t
        number;     /* of the communicator's collectives, counted here from 1; 0 of send and recv */
    uint64_t seq;   /* NCCL's own, which counts each kind apart */
    uint64_t count; /* of values */
    char kind[MYR_NCCL_TEXT_MAX], type[MYR_NCCL_TEXT_MAX];
    int64_t begun_ns, ended_ns; /* CLOCK_MONOTONIC of that machine; 0: not ended */
};

struct myr_nccl_peer {
    int32_t rank;
    uint64_t transfers;
    int64_t total_ns, longest_ns;
};

#define MYR_NCCL_OPEN_MAX  64
#define MYR_NCCL_PEERS_MAX 64

struct myr_nccl_state {
    uint64_t comm; /* NCCL's number of the communicator */
    char name[MYR_NCCL_TEXT_MAX];
    uint32_t version; /* of the interface that NCCL loaded */
    uint32_t pid;
    int32_t rank, ranks, nodes; /* -1 where NCCL did not say */
    uint64_t begun, ended;      /* collectives */
    uint64_t lost;              /* events that found no room */
    struct myr_nccl_op last;    /* the collective that began last; number 0: none */
    struct myr_nccl_op oldest;  /* of those that are open; begun_ns 0: none is */
    uint32_t open_count, peer_count;
    struct myr_nccl_peer peers[MYR_NCCL_PEERS_MAX];
};

/* MYR_ECORRUPT when it is no such file, or a damaged one. */
MYR_MUST_USE int myr_nccl_read(const char *path, struct myr_nccl_state *ret, struct myr_err *err);

enum myr_nccl_blame {
    MYR_NCCL_WELL,        /* nothing is open for too long */
    MYR_NCCL_NOT_ENTERED, /* the others are in an operation that this rank has not begun */
    MYR_NCCL_DIFFERENT,   /* this rank is in another operation of that number than the most */
    MYR_NCCL_STUCK,       /* all that are seen are in it: no rank can be named */
    MYR_NCCL_UNSEEN       /* ranks are missing among the states: one of them may be it */
};

struct myr_nccl_verdict {
    enum myr_nccl_blame blame;
    int32_t rank;    /* -1: none can be named */
    uint64_t number; /* of the operation that hangs */
    int64_t open_ns; /* for how long it has */
};

/*
 * From the states of ranks of one communicator: 'now_ns' is the present on their clock, an
 * operation that is open for 'limit_ns' hangs. Evidence is weighed in this order: has not entered,
 * has entered another one, has not left.
 */
void myr_nccl_judge(const struct myr_nccl_state *states, uint32_t count, int64_t now_ns,
                    int64_t limit_ns, struct myr_nccl_verdict *ret);
