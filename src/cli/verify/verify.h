/*
 * What verify and its sub-verb ask alike: the files that say what was built, and how to read them.
 */
#pragma once

#include "cli.h"
#include "myriad/site.h"

/* 'net' is one behind the last network for all of them; 'partial' makes unseen no fault. */
struct cli_verify {
    uint32_t from, net; /* enum myr_import_format; a network, or all */
    bool equivalent, partial;
    uint64_t errors_max; /* symbol errors of a link that is still good */
    const char *binding, *port_names;
    struct myr_option_list speeds, hcas;
};

extern const char *const cli_verify_nets[MYR_NET_COUNT + 1];

#define CLI_VERIFY_ROWS(type, at)                                                                  \
    {CLI_ROW("from", MYR_OPTION_CHOICE, "FORMAT", type, at.from,                                   \
             "what the files are; auto looks at how they begin"),                                  \
     .choices = myr_import_names, .choice_count = MYR_IMPORT_FORMAT_COUNT},                        \
        CLI_CHOICE("net", "NETWORK", type, at.net, cli_verify_nets, "the network that is judged"), \
        CLI_FLAG("equivalent", type, at.equivalent,                                                \
                 "parallel links, equal spines and equal cores may stand for each other"),         \
        CLI_FLAG("partial", type, at.partial,                                                      \
                 "a fabric under construction: what the files do not list is unseen, and no "      \
                 "fault"),                                                                         \
        CLI_PATH("binding", "FILE", type, at.binding,                                              \
                 "binding.yaml: which GUID, host or address is which device"),                     \
        CLI_LIST("speed-map", "SPEED=GBPS", type, at.speeds,                                       \
                 "what a link of four lanes stands for, such as HDR=400 with ibsim"),              \
        CLI_LIST("hca-map", "NAME=PORT", type, at.hcas,                                            \
                 "what hosts call a port of the design, such as mlx5_3=nic1; or a file with the "  \
                 "columns port and hca-name"),                                                     \
        CLI_PATH("port-names", "FILE", type, at.port_names,                                        \
                 "your own rules of port names, as in catalog/port-names.csv"),                    \
        CLI_COUNT("errors-max", type, at.errors_max, 0, 0,                                         \
                  "symbol errors that a link may have before it is degraded")

/* The design and the files of the operands. Close 'ret' in any case. */
MYR_MUST_USE int cli_verify_open(struct cli *cli, const struct cli_verify *options,
                                 struct myr_built *ret, struct myr_err *err);

extern const struct myr_command cli_verify_orders_command;
