/*
 * fuzz_site: what the fuzzers of cabling formats share. A text is refused in one line, or read;
 * what was read is verified against a small design, and written and read again where the format
 * is one that is written.
 */
#pragma once

#include "fuzz.h"
#include "myriad/plan.h"
#include "myriad/site.h"

/* The readers are what is fuzzed; what follows takes ten times as long, and is tried now and then.
 */
enum { FUZZ_VERIFIED_EVERY = 8, FUZZ_WRITTEN_EVERY = 4, FUZZ_PRINTED_EVERY = 4 };

/* The laboratory of tests/real: four leaves, two spines, eight hosts. Planned once. */
static inline const struct myr_design *fuzz_lab(void)
{
    static struct myr_arena arena;
    static struct myr_catalog catalog;
    static struct myr_spec spec;
    static struct myr_design design;
    if (design.device_count == 0) {
        struct myr_err err;
        const struct myr_doc *doc;
        myr_arena_init(&arena);
        int rc = myr_catalog_init(&catalog, &arena, &err);
        rc = rc < 0 ? rc
                    : myr_catalog_add_file(&catalog, MYR_SOURCE_DIR "/tests/real/lab-parts.yaml",
                                           &err);
        rc = rc < 0 ? rc
                    : myr_doc_read_file(&arena, MYR_SOURCE_DIR "/tests/real/lab.yaml", &doc, &err);
        rc = rc < 0 ? rc : myr_spec_read(&arena, &catalog, doc, &spec, &err);
        rc = rc < 0 ? rc : myr_plan(&arena, &catalog, &spec, &design, &err);
        MYR_ASSERT(rc == MYR_OK);
    }
    return &design;
}

/* The rules of port names: read once too, nine tenths of the time of a verification otherwise. */
static inline const struct myr_port_names *fuzz_port_names(void)
{
    static struct myr_arena arena;
    static struct myr_port_names names;
    if (names.systems.count == 0) {
        struct myr_err err;
        myr_arena_init(&arena);
        int rc = myr_port_names_init(&names, &arena, &err);
        MYR_ASSERT(rc == MYR_OK);
    }
    return &names;
}

static inline void fuzz_check_verify(const struct myr_verify *verify)
{
    for (uint32_t v = 0; v < verify->vertex_count; v++) {
        uint32_t found = verify->found[v], plan = verify->plan[v];
        MYR_ASSERT(found == MYR_NONE ||
                   (found < verify->vertex_count && verify->found[found] == v));
        MYR_ASSERT(plan == MYR_NONE || verify->plan[plan] == v);
    }
    const struct myr_repair *labelled = &verify->labelled, *equivalent = &verify->equivalent;
    MYR_ASSERT(labelled->step_count == labelled->moves + labelled->adds + labelled->removes);
    MYR_ASSERT(equivalent->moves + equivalent->adds + equivalent->removes <= labelled->step_count);
    MYR_ASSERT(equivalent->lower_bound <= equivalent->moves);
    if (!fuzz_heard && verify->cabling->devices.count % FUZZ_PRINTED_EVERY) {
        return;
    }
    struct myr_buf text = {};
    struct myr_arena arena;
    struct myr_answer answer;
    struct myr_verify_lists lists;
    struct myr_answer_form form = {.format = MYR_FORMAT_JSON};
    myr_arena_init(&arena);
    myr_answer_init(&answer, &arena, "myriad.verify", 1);
    myr_verify_answer(verify, true, &answer, &lists);
    MYR_ASSERT(myr_answer_write(&answer, &form, &text, NULL) == MYR_OK);
    fuzz_note_text("verified", &text);
    myr_verify_page(verify, &answer);
    myr_verify_page_list(&lists, MYR_VERIFY_PORTS, &answer);
    form.format = MYR_FORMAT_TABLE;
    MYR_ASSERT(myr_answer_write(&answer, &form, &text, NULL) == MYR_OK);
    MYR_ASSERT(text.len > 0);
    fuzz_note_text("page", &text);
    myr_arena_done(&arena);
    myr_buf_done(&text);
}

static inline void fuzz_verify(const struct myr_cabling *cabling, struct myr_arena *arena,
                               const char *file)
{
    struct myr_verify verify;
    struct myr_err err;
    struct myr_verify_options options = {.equivalent = cabling->links.count % 2,
                                         .port_names = fuzz_port_names()};
    int rc = myr_verify(&verify, arena, fuzz_lab(), cabling, &options, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, file);
    } else {
        fuzz_check_verify(&verify);
    }
}

/* What was read, as a list of cables. */
static inline void fuzz_note_cabling(const struct myr_cabling *cabling)
{
    struct myr_buf text = {};
    if (fuzz_heard) {
        myr_write_p2p(cabling, &text);
        fuzz_note("%zu devices, %zu links", (size_t)cabling->devices.count,
                  (size_t)cabling->links.count);
        fuzz_note_text("cables", &text);
    }
    myr_buf_done(&text);
}

/* Writes the cabling as its format; false when the format cannot say all of it. */
static inline bool fuzz_write(const struct myr_cabling *cabling, enum myr_import_format format,
                              struct myr_buf *ret)
{
    struct myr_u64map guids = {};
    bool can = true;
    switch (format) {
    case MYR_IMPORT_P2P:
        myr_write_p2p(cabling, ret);
        break;
    case MYR_IMPORT_NETBOX:
        myr_write_netbox_cables(cabling, ret);
        break;
    case MYR_IMPORT_IBNETDISCOVER:
        for (size_t i = 0; i < cabling->devices.count && can; i++) {
            uint64_t guid = cabling->devices.items[i].guid;
            can = guid && myr_u64map_add(&guids, guid, 0);
        }
        can = can && myr_write_ibnetdiscover(cabling, MYR_NETLIST_IBNETDISCOVER, ret, NULL) == 0;
        break;
    default:
        can = false;
        break;
    }
    myr_u64map_done(&guids);
    return can;
}

static inline void fuzz_round_trip(const struct myr_cabling *cabling, enum myr_import_format format)
{
    struct myr_buf first = {}, second = {};
    /*
     * Names of a few stray bytes are read; a text that is mostly such is refused as binary, or as
     * what its words say that it is ("Permission denied").
     */
    bool written = fuzz_write(cabling, format, &first);
    enum myr_kind kind =
        written ? myr_kind_of((struct myr_str){first.data, first.len}) : MYR_KIND_BINARY;
    if (kind != MYR_KIND_BINARY && kind != MYR_KIND_OTHER) {
        struct myr_arena arena;
        struct myr_cabling again;
        struct myr_import import;
        struct myr_err err;
        myr_arena_init(&arena);
        myr_cabling_init(&again, &arena);
        myr_import_init(&import, &again);
        int rc = myr_import_text(&import, format, "again", (struct myr_str){first.data, first.len},
                                 &err);
        MYR_ASSERT(rc == MYR_OK);
        bool can = fuzz_write(&again, format, &second);
        MYR_ASSERT(can && first.len == second.len);
        MYR_ASSERT(memcmp(first.data, second.data, first.len) == 0);
        myr_import_done(&import);
        myr_cabling_done(&again);
        myr_arena_done(&arena);
    }
    myr_buf_done(&first);
    myr_buf_done(&second);
}

static inline void fuzz_import(enum myr_import_format format, const char *file, const uint8_t *data,
                               size_t size)
{
    struct myr_arena arena;
    struct myr_cabling cabling;
    struct myr_import import;
    struct myr_err err;
    myr_arena_init(&arena);
    myr_cabling_init(&cabling, &arena);
    myr_import_init(&import, &cabling);
    int rc =
        myr_import_text(&import, format, file, (struct myr_str){(const char *)data, size}, &err);
    if (rc < 0) {
        fuzz_check_error(&err, rc, file);
    } else if (fuzz_heard || size % FUZZ_VERIFIED_EVERY == 0) {
        fuzz_note_cabling(&cabling);
        myr_import_finish(&import);
        fuzz_verify(&cabling, &arena, file);
    } else if (size % FUZZ_WRITTEN_EVERY == 1) {
        fuzz_round_trip(&cabling, format);
    }
    myr_import_done(&import);
    myr_cabling_done(&cabling);
    myr_arena_done(&arena);
}
