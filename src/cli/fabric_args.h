/* What 'route' and 'path' have in common: a design, its network, and the flows to look at. */
#pragma once

#include "cli.h"
#include "myriad/fabric.h"

struct fabric_args {
    const char *design, *flows, *layout, *axis, *nodes, *dead;
    const char *seed; /* of a permutation */
    uint32_t net, pattern;
};

/* The rows of an option table that fill 'args', a struct fabric_args. */
#define FABRIC_ARGS_ROWS(args)                                                                 \
    {.name = "design",                                                                         \
     .type = MYR_OPTION_PATH,                                                                  \
     .value = "FILE",                                                                          \
     .help = "the design, where it is not given as an operand",                                \
     .target = &(args).design},                                                                \
        {.name = "flows",                                                                      \
         .type = MYR_OPTION_PATH,                                                              \
         .value = "FILE",                                                                      \
         .help = "flows as CSV: from,to[,share[,source_port]]",                                \
         .target = &(args).flows},                                                             \
        {.name = "layout",                                                                     \
         .type = MYR_OPTION_TEXT,                                                              \
         .value = "AXES",                                                                      \
         .help = "flows of a parallel layout, such as tp=8,pp=8",                              \
         .target = &(args).layout},                                                            \
        {.name = "axis",                                                                       \
         .type = MYR_OPTION_TEXT,                                                              \
         .value = "AXIS",                                                                      \
         .help = "whose groups: tp, cp, dp, pp, ep or all",                                    \
         .target = &(args).axis},                                                              \
        {.name = "pattern",                                                                    \
         .type = MYR_OPTION_CHOICE,                                                            \
         .value = "PATTERN",                                                                   \
         .help = "what the members of a group send each other",                                \
         .target = &(args).pattern,                                                            \
         .choices = myr_traffic_names,                                                         \
         .choice_count = MYR_TRAFFIC_COUNT},                                                   \
        {.name = "nodes",                                                                      \
         .type = MYR_OPTION_TEXT,                                                              \
         .value = "LIST",                                                                      \
         .help = "the layout's nodes in rank order: 0-31,node/00040; all when absent",         \
         .target = &(args).nodes},                                                             \
        {.name = "permutation",                                                                \
         .type = MYR_OPTION_TEXT,                                                              \
         .value = "SEED",                                                                      \
         .help = "a random permutation of all GPUs instead",                                   \
         .target = &(args).seed},                                                              \
        {.name = "dead",                                                                       \
         .type = MYR_OPTION_TEXT,                                                              \
         .value = "LIST",                                                                      \
         .help = "links and devices that are down: link/00000123,spine/p0-1",                  \
         .target = &(args).dead},                                                              \
    {                                                                                          \
        .name = "net", .type = MYR_OPTION_CHOICE, .value = "NETWORK", .help = "which network", \
        .target = &(args).net, .choices = myr_net_names, .choice_count = MYR_NET_COUNT         \
    }

struct fabric_input {
    struct myr_arena arena;
    struct myr_design design;
    struct myr_graph graph;
    struct myr_flows flows;
    uint32_t dead_count; /* links of this network that --dead took */
};

/* The design's path: operand number 'first', or --design, and not both. */
MYR_MUST_USE int fabric_args_design(struct fabric_args *args, const struct myr_operands *operands,
                                    uint32_t first, struct myr_err *err);

/*
 * Opens the design, marks what is dead, makes the flows. Without any word about flows there are
 * none, and 'need_flows' makes that an error. Call done in any case, also on a zeroed struct.
 */
MYR_MUST_USE int fabric_input_open(struct fabric_input *input, const struct fabric_args *args,
                                   bool need_flows, struct myr_err *err);
void fabric_input_done(struct fabric_input *input);

/* "tp=8,pp=4" as a layout over the GPUs of the nodes. */
MYR_MUST_USE int fabric_layout(const char *text, uint64_t gpus, struct myr_layout *ret,
                               struct myr_err *err);

/* Calls 'each' for every piece between commas. */
MYR_MUST_USE int fabric_for_each(const char *text,
                                 int (*each)(void *context, struct myr_str piece,
                                             struct myr_err *err),
                                 void *context, struct myr_err *err);
/* "link/00000123" of this network. */
MYR_MUST_USE int fabric_find_link(const struct myr_graph *graph, struct myr_str name, uint32_t *ret,
                                  struct myr_err *err);
MYR_MUST_USE int fabric_find_device(const struct myr_graph *graph, struct myr_str name,
                                    uint32_t *ret, struct myr_err *err);
/* A name in the arena: a device, "device:port", "link/00000123". */
const char *fabric_device_name(struct myr_arena *arena, const struct myr_design *design,
                               uint32_t device);
const char *fabric_port_name(struct myr_arena *arena, const struct myr_design *design,
                             uint32_t port);
const char *fabric_link_name(struct myr_arena *arena, uint32_t link);
