/* A fabric from a few words, for --topology: the planner builds it like any other. */
#pragma once

#include "cli.h"

/* Where a topology file numbers its hosts: what the ranks of traffic files mean. */
struct sim_hosts {
    const uint32_t *gpu_of_node; /* by the file's number, MYR_NONE of a switch; NULL: none */
    const uint32_t *gpu_of_rank; /* by the hosts' order in the file */
    uint32_t node_count;
};

struct sim_topology {
    struct myr_arena arena;
    struct myr_catalog catalog;
    struct myr_spec spec;
    struct myr_design design;
    int64_t delay_ps;  /* per link; negative: by the lengths of the cables */
    int64_t switch_ps; /* per switch */
    struct sim_hosts hosts;
};

/* "fat-tree:k=8,gbps=100,delay=1us", "file:PATH" */
MYR_MUST_USE int sim_topology_make(struct sim_topology *topology, const char *text,
                                   struct myr_err *err);
void sim_topology_done(struct sim_topology *topology);

/* "8GB", "100KB", "1MiB" in bytes; "1us", "500ns" in picoseconds. */
MYR_MUST_USE bool sim_parse_bytes(struct myr_str text, uint64_t *ret);
MYR_MUST_USE bool sim_parse_time(struct myr_str text, int64_t *ret);
