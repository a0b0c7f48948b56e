/* What 'route' and 'path' have in common: a design, its network, and the flows to look at. */
#pragma once

#include "cli.h"
#include "myriad/fabric.h"

struct fabric_args {
    struct myr_fabric_question question;
    uint32_t net, pattern;
};

/* The rows of an option table that fill 'args', a struct fabric_args. */
#define FABRIC_ARGS_ROWS(args)                                                                 \
    {.name = "design",                                                                         \
     .type = MYR_OPTION_PATH,                                                                  \
     .value = "FILE",                                                                          \
     .help = "the design, where it is not given as an operand",                                \
     .target = &(args).question.design},                                                       \
        {.name = "flows",                                                                      \
         .type = MYR_OPTION_PATH,                                                              \
         .value = "FILE",                                                                      \
         .help = "flows as CSV: from,to[,share[,source_port]]",                                \
         .target = &(args).question.flows},                                                    \
        {.name = "layout",                                                                     \
         .type = MYR_OPTION_TEXT,                                                              \
         .value = "AXES",                                                                      \
         .help = "flows of a parallel layout, such as tp=8,pp=8",                              \
         .target = &(args).question.layout},                                                   \
        {.name = "axis",                                                                       \
         .type = MYR_OPTION_TEXT,                                                              \
         .value = "AXIS",                                                                      \
         .help = "whose groups: tp, cp, dp, pp, ep or all",                                    \
         .target = &(args).question.axis},                                                     \
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
         .target = &(args).question.nodes},                                                    \
        {.name = "permutation",                                                                \
         .type = MYR_OPTION_TEXT,                                                              \
         .value = "SEED",                                                                      \
         .help = "a random permutation of all GPUs instead",                                   \
         .target = &(args).question.permutation},                                              \
        {.name = "dead",                                                                       \
         .type = MYR_OPTION_TEXT,                                                              \
         .value = "LIST",                                                                      \
         .help = "links and devices that are down: link/00000123,spine/p0-1",                  \
         .target = &(args).question.dead},                                                     \
    {                                                                                          \
        .name = "net", .type = MYR_OPTION_CHOICE, .value = "NETWORK", .help = "which network", \
        .target = &(args).net, .choices = myr_net_names, .choice_count = MYR_NET_COUNT         \
    }

/* The design's path: operand number 'first', or --design, and not both. */
MYR_MUST_USE int fabric_args_design(struct fabric_args *args, const struct myr_operands *operands,
                                    uint32_t first, struct myr_err *err);

/* Flows are needed, or optional. Close in any case. */
MYR_MUST_USE int fabric_args_open(struct fabric_args *args, bool need_flows,
                                  struct myr_fabric_case *ret, struct myr_err *err);
