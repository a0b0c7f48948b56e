#include "built.h"

#include <stdio.h>

const char *const cli_built_nets[CLI_BUILT_NETS] = {"compute", "storage", "service", "oob", "all"};

static int import_files(struct myr_cabling *cabling, const struct myr_operands *operands,
                        const struct cli_built_question *question, struct myr_err *err)
{
    const struct myr_option_list *speeds = question->speeds;
    struct myr_import import;
    myr_import_init(&import, cabling);
    import.partial = question->partial;
    int r = MYR_OK;
    for (uint32_t i = 0; r == MYR_OK && speeds && i < speeds->count; i++) {
        r = myr_speed_map_set(&import.speeds, myr_str_from(speeds->items[i]), err);
    }
    for (uint32_t i = 1; r == MYR_OK && i < operands->count; i++) {
        r = myr_import_file(&import, (enum myr_import_format)question->from, operands->items[i],
                            err);
    }
    if (r == MYR_OK && import.truncated_count) {
        fprintf(stderr, "%u LLDP texts end early: what they do not list is unseen\n",
                import.truncated_count);
    }
    myr_import_done(&import);
    return r;
}

int cli_built_open(struct cli_built *built, const struct myr_operands *operands,
                   const struct cli_built_question *question, struct myr_err *err)
{
    struct myr_verify_options judge = question->judge;
    *built = (struct cli_built){.design = {0}};
    myr_arena_init(&built->arena);
    myr_cabling_init(&built->cabling, &built->arena);
    judge.nets = question->net == MYR_NET_COUNT ? (1U << MYR_NET_COUNT) - 1 : 1U << question->net;
    int r = myr_design_open(&built->design, operands->items[0], err);
    myr_binding_init(&built->binding, &built->arena, &built->design);
    if (r == MYR_OK && question->binding) {
        r = myr_binding_read(&built->binding, question->binding, err);
        judge.binding = &built->binding;
    }
    r = r < 0 ? r : import_files(&built->cabling, operands, question, err);
    return r < 0 ? r
                 : myr_verify(&built->verify, &built->arena, &built->design, &built->cabling,
                              &judge, err);
}

void cli_built_close(struct cli_built *built)
{
    myr_binding_done(&built->binding);
    myr_cabling_done(&built->cabling);
    myr_design_close(&built->design);
    myr_arena_done(&built->arena);
}
