/* A Chakra file as nodes: what is read of the wire format, and nothing of what it means. */
#pragma once

#include "read/text.h"

struct chakra_node {
    uint64_t id, duration_us, num_ops;
    uint64_t comm_type, comm_size, src, dst, tag; /* valid where 'has_' says so */
    uint32_t type;
    bool is_cpu, has_comm_type, has_size, has_src, has_dst;
    bool part_of_dims;       /* some dimensions of a topology are not involved */
    struct myr_str group;    /* 'pg_name', borrowed from the file; empty: all ranks */
    MYR_VEC(uint64_t) deps;  /* ids */
    struct scan_place place; /* number of the message, byte in it */
};

/* What a node waits for, until all ids are known. */
struct chakra_wait {
    uint32_t node; /* by its place in the rank's list */
    uint64_t id;   /* of the one that is waited for */
    struct scan_place place;
};

struct chakra_reader {
    struct scan *scan;
    bool callers;     /* their ids are read too */
    size_t at;        /* next byte of the file */
    uint32_t message; /* the one at hand, from 1 */
    size_t message_at;
};

void chakra_begin(struct chakra_reader *reader, struct scan *scan, bool callers);
/* 1 when there is a node, 0 at the end of the file, negative on error. */
MYR_MUST_USE int chakra_next(struct chakra_reader *reader, struct chakra_node *ret,
                             struct myr_err *err);
void chakra_node_done(struct chakra_node *node);
