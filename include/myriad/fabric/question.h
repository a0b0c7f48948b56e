/*
 * question: a design, its network, what is dead in it, and the flows to look at, as one value.
 *
 * Whoever asks about paths asks this first: the command, and later the server. Flows come from a
 * file, from the groups of a parallel layout, or from a random permutation of all GPUs.
 */
#pragma once

#include "myriad/fabric/flows.h"

struct myr_fabric_question {
    const char *design; /* a file */
    enum myr_net_id net;
    const char *dead; /* links and devices (words.h), or NULL */
    /* Flows: the first of these that is given. */
    const char *flows;       /* a file */
    const char *permutation; /* its seed */
    const char *layout;      /* "tp=8,pp=8"; NULL with 'nodes': data parallel only */
    const char *nodes;       /* that the layout's ranks run on, in their order; NULL: all */
    const char *axis;        /* whose groups: tp, cp, dp, pp, ep or all */
    enum myr_traffic pattern;
    bool need_flows; /* without a word about flows: those of a layout of one axis, dp */
};

struct myr_fabric_case {
    struct myr_arena arena;
    struct myr_design design;
    struct myr_graph graph;
    struct myr_flows flows;
    const char *traffic; /* which flows these are, in words; NULL: none */
    uint32_t dead_count; /* links that 'dead' took */
};

/* Close it in any case; closing a zeroed struct does nothing. */
MYR_MUST_USE int myr_fabric_open(struct myr_fabric_case *ret,
                                 const struct myr_fabric_question *question, struct myr_err *err);
void myr_fabric_close(struct myr_fabric_case *fabric);
