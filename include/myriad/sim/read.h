/*
 * read: other simulators' input files, in one small form.
 *
 * A trace is a list of operations of ranks and the order between them. Readers turn GOAL schedules,
 * HPCC flow files, htsim connection matrices, SimAI workloads, Chakra's execution traces and our
 * own flow lists into it; myr_load_trace() turns it into tasks of the engine. A Clos shape is what
 * htsim and HPCC topology files say about a fabric.
 *
 * Whatever is wrong with a file is one line, "file:line:column: what". Sizes that come from a file
 * are held against the limits below before anything is allocated for them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "myriad/sim/workload.h"

#define MYR_TRACE_FILE_MAX  (UINT32_C(1) << 30) /* bytes */
#define MYR_TRACE_RANKS_MAX UINT32_C(1000000)
#define MYR_TRACE_OPS_MAX   UINT32_C(20000000)
#define MYR_TRACE_BYTES_MAX (UINT64_C(1) << 50)               /* of one message */
#define MYR_TRACE_TIME_MAX  (INT64_C(1000000) * MYR_PS_PER_S) /* start, computing */

enum myr_trace_format {
    MYR_TRACE_GOAL,   /* LogGOPSim's schedule text */
    MYR_TRACE_HPCC,   /* flow list */
    MYR_TRACE_HTSIM,  /* connection matrix with triggers */
    MYR_TRACE_SIMAI,  /* layers with collectives */
    MYR_TRACE_FLOWS,  /* our own: flows and what they wait for */
    MYR_TRACE_CHAKRA, /* execution traces: a binary file for each rank */
    MYR_TRACE_FORMAT_COUNT,
};

extern const char *const myr_trace_format_names[MYR_TRACE_FORMAT_COUNT];

enum myr_trace_kind {
    MYR_TRACE_COMPUTE,    /* 'from' is busy for 'duration'; a join of others when that is 0 */
    MYR_TRACE_MESSAGE,    /* 'bytes' from one rank to another */
    MYR_TRACE_COLLECTIVE, /* 'bytes' in every group of a split, all groups in step */
};

struct myr_trace_op {
    uint8_t kind, collective;
    bool endless;      /* a message without end, see myr_trace.endless_line */
    uint32_t from, to; /* ranks; of a collective 'from' is the split */
    uint32_t line;     /* where the file says it */
    uint64_t bytes;
    uint32_t hops; /* of a message: times that its latency is waited for; 0: once */
    myr_ps duration;
    myr_ps start; /* not before; time 0 is the first start of the file */
};

struct myr_trace_edge {
    uint32_t before, op;
};

/*
 * All ranks in groups of 'size', whose members lie 'stride' ranks apart: tensor parallel groups
 * have stride 1, data parallel groups the stride of what lies inside them. Or one group whose ranks
 * are listed.
 */
struct myr_trace_split {
    uint32_t size, stride;
    uint32_t first_member; /* in myr_trace.members, where they are listed */
    bool listed;
};

struct myr_trace {
    uint32_t ranks;
    MYR_VEC(struct myr_trace_op) ops;
    MYR_VEC(struct myr_trace_edge) edges;
    MYR_VEC(struct myr_trace_split) splits;
    MYR_VEC(uint32_t) members; /* ranks of listed groups */
    uint32_t messages;         /* among the ops */
    /*
     * The first message without end (htsim's size 0), or 0. Such a trace cannot be loaded before
     * myr_trace_limit() has given these messages a size.
     */
    uint32_t endless_line;
};

/* By the ending of the name; where that says nothing (.txt), by the first word. */
enum myr_trace_format myr_trace_guess(const char *path, struct myr_str text);

/* 'file' is for messages. On failure nothing is held. */
MYR_MUST_USE int myr_trace_read(const char *file, struct myr_str text, enum myr_trace_format format,
                                struct myr_trace *ret, struct myr_err *err);
/* A file of a trace that has several: name for messages, bytes. */
struct myr_trace_file {
    const char *name;
    struct myr_str text;
};
struct myr_chakra_options {
    uint32_t ranks;     /* all of them do what the one file says; 0: a file for each rank */
    double flops_per_s; /* of nodes that say operations but no time; 0: such are refused */
    bool callers;       /* nodes wait for who called them too (ctrl_deps) */
};
MYR_MUST_USE int myr_trace_read_chakra(const struct myr_trace_file *files, uint32_t count,
                                       const struct myr_chakra_options *options,
                                       struct myr_trace *ret, struct myr_err *err);
void myr_trace_done(struct myr_trace *trace);
void myr_trace_limit(struct myr_trace *trace, uint64_t bytes);

struct myr_trace_tasks {
    uint32_t first_message, message_count; /* tasks of the messages, in the file's order */
    uint32_t collectives;
};

/*
 * Adds the trace to the engine; rank r runs on GPU gpus[r], or r where 'gpus' is NULL. 'local' is
 * the number of GPUs of a node. Messages are single flows; messages between the same ranks take
 * the same path.
 */
MYR_MUST_USE int myr_load_trace(struct myr_sim *sim, const struct myr_trace *trace,
                                const uint32_t *gpus, uint32_t local, struct myr_trace_tasks *ret,
                                struct myr_err *err);

/* Leaf, spine and core with equal bundles; what a tier above the top would have is 0. */
struct myr_clos_shape {
    uint32_t tiers, hosts;
    uint32_t leaf_hosts, leaf_up; /* links of a leaf */
    uint32_t pods, pod_leaves, pod_spines;
    uint32_t spine_up, cores;
    uint32_t host_gbps, fabric_gbps;
    uint32_t core_gbps; /* of links to cores; 0: as between leaf and spine */
    uint32_t planes;    /* as many links as a host has; spines that planes share are in each */
    uint32_t gpus_per_node, scale_up_gbps; /* hosts of a server, what joins them; or 1 and 0 */
    bool rails;                            /* GPU k of every server of a group is on leaf k of it */
    myr_ps scale_up_ps;
    myr_ps delay_ps[3]; /* host to leaf, leaf to spine, spine to core */
    myr_ps switch_ps;
    /*
     * HPCC's hosts have numbers of their own: by the file's number the place in the fabric, or
     * MYR_NONE of a switch. NULL where the file has no numbers.
     */
    uint32_t *gpu_of_node, node_count;
};

#define MYR_CLOS_HOSTS_MAX    UINT32_C(200000)
#define MYR_CLOS_SWITCHES_MAX UINT32_C(50000)
#define MYR_CLOS_LINKS_MAX    UINT32_C(2000000)

enum myr_shape_format {
    MYR_SHAPE_HTSIM,
    MYR_SHAPE_HPCC,
    MYR_SHAPE_SIMAI, /* as HPCC's, with GPUs, servers and their scale-up switches */
    MYR_SHAPE_FORMAT_COUNT,
};

extern const char *const myr_shape_format_names[MYR_SHAPE_FORMAT_COUNT];

enum myr_shape_format myr_shape_guess(const char *path, struct myr_str text);
/* Refuses graphs that are no Clos of one to three tiers with equal bundles, saying why. */
MYR_MUST_USE int myr_shape_read(const char *file, struct myr_str text, enum myr_shape_format format,
                                struct myr_clos_shape *ret, struct myr_err *err);
void myr_shape_done(struct myr_clos_shape *shape);
