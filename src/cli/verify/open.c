/*
 * The files that say what was built, opened as the options ask: verify and its sub-verb read them
 * the same way.
 */
#include "verify/verify.h"

const char *const cli_verify_nets[MYR_NET_COUNT + 1] = {"compute", "storage", "service", "oob",
                                                        "all"};

int cli_verify_open(struct cli *cli, const struct cli_verify *options, struct myr_built *ret,
                    struct myr_err *err)
{
    struct myr_built_question question = {
        .design = cli->operands.items[0],
        .files = cli->operands.items + 1,
        .file_count = cli->operands.count - 1,
        .from = (enum myr_import_format)options->from,
        .net = options->net,
        .binding = options->binding,
        .speeds = options->speeds.items,
        .speed_count = options->speeds.count,
        .hca_map = options->hcas.items,
        .hca_count = options->hcas.count,
        .port_names = options->port_names,
        .partial = options->partial,
        .judge = {.equivalent = options->equivalent, .errors_max = options->errors_max}};
    return myr_built_open(ret, &question, err);
}
