/*
 * topology: a fabric from a few words, or from another simulator's file.
 *
 *   fat-tree:k=8,gbps=100,delay=1us,tiers=2|3
 *   file:PATH[,format=htsim|hpcc|simai]
 *
 * The planner builds it like any other, so that paths, policies and faults work on it as on a
 * planned cluster; what a file says and the planner cannot build switch for switch is refused.
 */
#pragma once

#include "myriad/model.h"

/* Where a topology file numbers its hosts: what the ranks of traffic files mean. */
struct myr_sim_hosts {
    const uint32_t *gpu_of_node; /* by the file's number, MYR_NONE of a switch; NULL: none */
    const uint32_t *gpu_of_rank; /* by the hosts' order in the file */
    uint32_t node_count;
};

struct myr_sim_topology {
    struct myr_arena arena;
    struct myr_catalog catalog;
    struct myr_spec spec;
    struct myr_design design;
    int64_t delay_ps;    /* per link; negative: by the lengths of the cables */
    int64_t switch_ps;   /* per switch */
    int64_t scale_up_ps; /* inside a scale-up domain; negative: as usual */
    struct myr_sim_hosts hosts;
};

/* Release in any case; also a zeroed struct. */
MYR_MUST_USE int myr_sim_topology_make(struct myr_sim_topology *ret, const char *words,
                                       struct myr_err *err);
void myr_sim_topology_done(struct myr_sim_topology *topology);

/* What a simulation runs on: a design from its file, or a topology; one of the two is named. */
struct myr_sim_fabric {
    const struct myr_design *design;
    struct myr_design opened;         /* from a file, or ... */
    struct myr_sim_topology topology; /* ... from words; zeroed where it is not */
    bool planned;                     /* it is the latter */
};

/* Close in any case; also a zeroed struct. */
MYR_MUST_USE int myr_sim_fabric_open(struct myr_sim_fabric *ret, const char *design,
                                     const char *topology, struct myr_err *err);
/* One that somebody else holds; 'name' is for messages. */
MYR_MUST_USE int myr_sim_fabric_borrow(struct myr_sim_fabric *ret, const struct myr_design *design,
                                       const char *name, struct myr_err *err);
void myr_sim_fabric_close(struct myr_sim_fabric *fabric);
