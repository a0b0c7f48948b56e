/*
 * words: what people write about a simulation, as tasks, faults and slow nodes of an engine.
 *
 * Workloads are "kind:word,word,key=value":
 *
 *   permutation:SIZE; incast:K:1,SIZE; alltoall:SIZE
 *   allreduce|reducescatter|allgather|broadcast:[ring|tree|halving|hier|in-network|auto,]SIZE
 *   step:MODEL,tflops=400,tp=8,pp=8,...      one training step
 *   checkpoint:SIZE and read:SIZE[,stripes=N]   between all nodes and the storage servers
 *   file:PATH[,format=NAME][,endless=SIZE]      another simulator's file (read.h)
 *
 * Collectives take schedule=full|collapsed and chunks=N, an all-to-all window=N.
 * Each but a file takes ranks=N, first=GPU, place=block|random|sorted, disorder=PERCENT and seed=N.
 * Sizes are bytes or 1KB, 1MB, 1GiB; times 500ns, 50us, 1ms. A word that is not understood gets one
 * line that begins with the option it came from.
 */
#pragma once

#include "myriad/sim/topology.h"
#include "myriad/sim/workload.h"

/* What a workload's words added to the engine. */
struct myr_sim_load {
    const char *words;               /* borrowed */
    uint32_t first_task, task_count; /* all that it added */
    uint32_t first_flow, flow_count; /* single flows: their tasks are consecutive */
    bool collective;
    enum myr_collective kind;
    uint32_t ranks;
    uint64_t bytes;
    enum myr_algorithm algorithm; /* of a collective: the one that was chosen */
    bool full;                    /* every send of it was played */
    struct myr_collective_shape shape;
    struct myr_collective_domains domains;
};

/* 'hosts' may be NULL; 'seed' is used where the words give none. */
MYR_MUST_USE int myr_sim_load_words(struct myr_sim *sim, const struct myr_graph *graph,
                                    const struct myr_sim_hosts *hosts, const char *words,
                                    uint64_t seed, struct myr_sim_load *ret, struct myr_err *err);

/*
 * "WHAT:down@TIME[,reroute=...]", "WHAT:up@TIME", "WHAT:degrade=0.5@TIME" or
 * "WHAT:flap@TIME,down=TIME,period=TIME,count=N"; WHAT is link/ID or a device. 'reroute' is how
 * long until paths avoid it: a time, or local, remote, convergence.
 */
MYR_MUST_USE int myr_sim_fault_words(struct myr_sim *sim, const struct myr_graph *graph,
                                     const char *words, struct myr_err *err);
/* "node/00042:0.8" */
MYR_MUST_USE int myr_sim_slow_words(struct myr_sim *sim, const struct myr_graph *graph,
                                    const char *words, struct myr_err *err);

/* "8GB", "100KB", "1MiB" in bytes; "1us", "500ns" in picoseconds. False for anything else. */
MYR_MUST_USE bool myr_sim_parse_bytes(struct myr_str text, uint64_t *ret);
MYR_MUST_USE bool myr_sim_parse_time(struct myr_str text, myr_ps *ret);
