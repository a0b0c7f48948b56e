/* What 'route' and 'path' have in common: a design, its network, and the flows to look at. */
#pragma once

#include "cli.h"
#include "myriad/fabric.h"

struct fabric_args {
    const char *design, *flows, *layout, *axis, *nodes, *dead;
    uint32_t net;
    uint64_t permutation; /* seed + 1; 0: not wanted */
};

struct fabric_input {
    struct myr_arena arena;
    struct myr_design design;
    struct myr_graph graph;
    struct myr_flows flows;
};

/* Opens the design, marks dead links, makes the flows. Call fabric_input_done() in any case. */
MYR_MUST_USE int fabric_input_open(struct fabric_input *input, const struct fabric_args *args,
                                   struct myr_err *err);
void fabric_input_done(struct fabric_input *input);

/* "tp=8,pp=4" as a layout over the GPUs of the nodes. */
MYR_MUST_USE int fabric_layout(const char *text, uint64_t gpus, struct myr_layout *ret,
                               struct myr_err *err);
