/*
 * message: the messages as plain structs, and tables that say what is in them.
 *
 * A table gives each field a number that never changes its meaning. A sender says once which fields
 * it will send, by number and type; a receiver takes those it knows, skips the others, and leaves
 * what was not sent at 0. So a newer side talks to an older one in both directions as long as
 * fields are only added. A number is never used again.
 *
 * Texts and lists that were received point into the receiver's buffer, until it reads on.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "myriad/base.h"
#include "myriad/wire/session.h"

enum myr_wire_type {
    MYR_WIRE_HELLO = 1, /* first of each side */
    MYR_WIRE_SCHEMA,    /* the fields of a type, before its first message */
    /* agent or relay to controller */
    MYR_WIRE_INVENTORY,
    MYR_WIRE_BEAT,   /* once a second to the server or relay, which makes edges of it: */
    MYR_WIRE_SILENT, /* a node was not heard for long enough */
    MYR_WIRE_BACK,   /* and is heard again */
    MYR_WIRE_STEP,   /* a job has made steps: one event a job, at most every 10 s */
    MYR_WIRE_EXIT,   /* a rank has ended */
    MYR_WIRE_SYMPTOM,
    MYR_WIRE_STARTED,
    MYR_WIRE_STOPPED,
    MYR_WIRE_TESTED,
    /* controller to agent */
    MYR_WIRE_START,
    MYR_WIRE_STOP,
    MYR_WIRE_TEST,
    MYR_WIRE_LEASE, /* the controller lives: leases run anew */
    /* later ones, either way */
    MYR_WIRE_WELCOME, /* controller: which node this is, after hello */
    MYR_WIRE_REFUSED, /* controller: why the connection ends */
    MYR_WIRE_ACK,     /* controller: reports up to this one are committed */
    MYR_WIRE_FETCH,   /* controller: what has this rank written? */
    MYR_WIRE_OUTPUT,  /* agent: this */
    MYR_WIRE_ENROL,   /* agent without a certificate: give me one */
    MYR_WIRE_CERT,    /* controller: here it is */
    MYR_WIRE_ATTACH,  /* relay: an agent has come */
    MYR_WIRE_DETACH,  /* relay: it is gone; controller: it is to go */
    MYR_WIRE_TYPE_COUNT,
};

/* What a field is in its struct. */
enum myr_wire_kind {
    MYR_WIRE_U32,
    MYR_WIRE_U64,
    MYR_WIRE_I64,
    MYR_WIRE_TEXT,     /* struct myr_str */
    MYR_WIRE_U32_LIST, /* struct myr_wire_list; at most one in a message */
    MYR_WIRE_KIND_COUNT,
};

#define MYR_WIRE_FIELDS_MAX 32
#define MYR_WIRE_TEXT_MAX   (64U << 10)
#define MYR_WIRE_LIST_MAX   (64U << 10)

struct myr_wire_list {
    const uint32_t *items; /* little-endian hosts only; checked at build time */
    uint32_t count;
};

struct myr_wire_field {
    uint16_t number; /* from 1 */
    uint16_t offset;
    enum myr_wire_kind kind;
    const char *name; /* for people */
};

struct myr_wire_table {
    const char *name;
    uint8_t type;
    uint16_t size; /* of the struct */
    uint16_t count;
    const struct myr_wire_field *fields;
};

struct myr_wire_hello {
    struct myr_str name;  /* host or program */
    uint32_t version_min; /* the oldest that it understands */
    uint64_t boot;        /* of the host: another one means that it was started anew */
};

struct myr_wire_inventory {
    struct myr_str host, gpu_kind, serial;
    uint32_t gpus, cpus;
    uint64_t memory_bytes;
    struct myr_str details; /* JSON: NUMA, PCIe, GPUs, NICs, disks */
};

struct myr_wire_beat {
    int64_t time_ns; /* the node's clock, for its skew alone */
};

struct myr_wire_silent {
    int64_t last_ns;  /* the clock of who tells it, when it was heard last */
    uint32_t channel; /* of a relay: whose */
};

struct myr_wire_step {
    uint64_t job, step;
    int64_t duration_ns; /* of the steps since the last such message, on average */
    uint64_t saved_step; /* that a checkpoint holds */
};

struct myr_wire_exit {
    uint64_t job;
    uint32_t rank, code, signal;
    struct myr_str line; /* the first that looks like an error */
};

struct myr_wire_symptom {
    struct myr_str id; /* of the fault catalogue */
    uint32_t gpu, port;
    uint64_t count;
    struct myr_str text;
};

/* Of all ranks of the job on this node. */
struct myr_wire_result {
    uint64_t job;
    uint32_t code; /* 0: done */
    struct myr_str text;
};

struct myr_wire_start {
    uint64_t job;
    uint32_t first_rank, world; /* of the node's ranks; of all */
    uint64_t gpus;              /* a bit each */
    struct myr_wire_list
        nodes;             /* in rank order; empty from a server: it would grow as its square */
    struct myr_str spec;   /* the job file */
    struct myr_str master; /* "host port" of the first rank's node */
    struct myr_str user;   /* Unix name of whose ranks they are */
    uint32_t lease_s;
    uint32_t node_rank, node_count; /* this node's place among the job's */
    uint32_t array_index;           /* and 1, of a job in an array; 0: of none */
};

struct myr_wire_stop {
    uint64_t job;
    uint32_t grace_s;
};

struct myr_wire_test {
    uint64_t id;
    struct myr_str name;
};

/* NULL for a type that has none. */
const struct myr_wire_table *myr_wire_table_of(uint8_t type);
const char *myr_wire_type_name(uint8_t type);
