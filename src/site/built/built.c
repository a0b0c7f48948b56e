#include "myriad/site/built.h"

#include "built/hca_map.h"

/*
 * The fabric as built, for every verb that compares it with its design: what was found is read,
 * names are put to it, and the comparison is made.
 */

/* The cabling borrows from the files' texts, which it owns; the import itself is done with. */
static int import_files(struct myr_built *built, const struct myr_built_question *question,
                        struct myr_err *err)
{
    MYR_CLEANUP(myr_import_done) struct myr_import import;
    myr_import_init(&import, &built->cabling);
    import.partial = question->partial;
    for (uint32_t i = 0; i < question->speed_count; i++) {
        MYR_TRY(myr_speed_map_set(&import.speeds, myr_str_from(question->speeds[i]), err));
    }
    for (uint32_t i = 0; i < question->file_count; i++) {
        MYR_TRY(myr_import_file(&import, question->from, question->files[i], err));
    }
    myr_import_finish(&import);
    built->truncated = import.truncated_count;
    built->table_count = (uint32_t)import.tables.count;
    built->tables = MYR_ARENA_NEW(&built->arena, const char *, import.tables.count);
    for (uint32_t i = 0; i < built->table_count; i++) {
        built->tables[i] = import.tables.items[i];
    }
    return MYR_OK;
}

/*
 * The order matters: the design before what names its places, names of ports before files are read.
 * After an error, close it all the same.
 */
int myr_built_open(struct myr_built *built, const struct myr_built_question *question,
                   struct myr_err *err)
{
    MYR_ASSERT(question->net <= MYR_NET_COUNT);
    struct myr_verify_options judge = question->judge;
    *built = (struct myr_built){.design = {}};
    myr_arena_init(&built->arena);
    myr_cabling_init(&built->cabling, &built->arena);
    /* MYR_NET_COUNT asks for all networks. */
    judge.nets = question->net == MYR_NET_COUNT ? (1U << MYR_NET_COUNT) - 1 : 1U << question->net;
    MYR_TRY(myr_design_open(&built->design, question->design, err));
    if (question->net < MYR_NET_COUNT &&
        built->design.networks[question->net].topology == MYR_TOPOLOGY_DEFAULT) {
        return myr_err_set(err, MYR_ENOENT, "this design has no %s network",
                           myr_net_names[question->net]);
    }
    myr_binding_init(&built->binding, &built->arena, &built->design);
    /* An empty binding is left out of the judgement altogether. */
    if (question->binding) {
        MYR_TRY(myr_binding_read(&built->binding, question->binding, err));
        judge.binding = &built->binding;
    }
    MYR_TRY(myr_catalog_init(&built->catalog, &built->arena, err));
    MYR_TRY(myr_port_names_init(&built->port_names, &built->arena, err));
    if (question->port_names) {
        MYR_TRY(
            myr_port_names_add_file(&built->port_names, &built->arena, question->port_names, err));
    }
    for (uint32_t i = 0; i < question->hca_count; i++) {
        MYR_TRY(hca_map_add(built, question->hca_map[i], err));
    }
    MYR_TRY(import_files(built, question, err));
    judge.catalog = &built->catalog;
    judge.port_names = &built->port_names;
    judge.hcas = built->hcas.items;
    judge.hca_count = (uint32_t)built->hcas.count;
    judge.partial = question->partial;
    return myr_verify(&built->verify, &built->arena, &built->design, &built->cabling, &judge, err);
}

/* The arena last: all the others have something in it. */
void myr_built_close(struct myr_built *built)
{
    myr_vec_done(&built->hcas);
    myr_port_names_done(&built->port_names);
    myr_catalog_done(&built->catalog);
    myr_binding_done(&built->binding);
    myr_cabling_done(&built->cabling);
    myr_design_close(&built->design);
    myr_arena_done(&built->arena);
}
